/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ioctls of the device have in common: the table that user/file.c dispatches
 * by, and the exchange of arguments with user space.  No state; no lock may be held
 * around functions that access user memory.
 */
#ifndef EVENTLOG_IOCTL_H
#define EVENTLOG_IOCTL_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_domain;
struct eventlog_list_ops;
struct file;

/* Number of enum eventlog_list_kind. */
#define EVENTLOG_LIST_KINDS (EVENTLOG_LIST_REGISTRATIONS + 1)

/* The argument of any ioctl. */
union eventlog_argument {
	struct eventlog_info info;
	struct eventlog_register registration;
	struct eventlog_unregister unregister;
	struct eventlog_delete delete;
	struct eventlog_list list;
	struct eventlog_subscribe subscribe;
	struct eventlog_rule rule;
	struct eventlog_rule_delete rule_delete;
	struct eventlog_flush flush;
	struct eventlog_stat stat;
	struct eventlog_describe describe;
	struct eventlog_pause pause;
	struct eventlog_marker_set marker_set;
	struct eventlog_filter_get filter_get;
	struct eventlog_marker_handlers marker_handlers;
	struct eventlog_instance_create instance_create;
	struct eventlog_instance_delete instance_delete;
	struct eventlog_instance_open instance_open;
	struct eventlog_leave leave;
	struct eventlog_missed missed;
};

/**
 * struct eventlog_ioctl - one ioctl
 * @bytes: size of its argument, a struct that begins with its own size
 * @least_bytes: the least size that a caller may give: the members that the first release
 *	of the ABI version had, except reserved ones at the end; it never changes
 * @call: @argument is the copy of the caller's struct at @user, which may be of
 *	another size; results go back with eventlog_argument_put()
 */
struct eventlog_ioctl {
	size_t bytes;
	size_t least_bytes;
	int (*call)(struct eventlog_domain *domain, struct file *filp, void *argument,
		    void __user *user);
};

/**
 * struct eventlog_ioctls - a table of ioctls
 * @ioctls: by number; those without a function do not exist
 * @count: number of @ioctls
 * @kinds: of LIST, by enum eventlog_list_kind; those that are NULL are not of this table
 */
struct eventlog_ioctls {
	const struct eventlog_ioctl *ioctls;
	unsigned int count;
	const struct eventlog_list_ops *kinds[EVENTLOG_LIST_KINDS];
};

/*
 * An entry of a table.  @last is the last member that the caller's struct must have.
 * Does not compile if the struct is larger than union eventlog_argument.
 */
#define EVENTLOG_IOCTL(name, type, last, function) \
	[_IOC_NR(EVENTLOG_IOC_##name)] = { \
		.bytes = sizeof(struct type) + \
			 BUILD_BUG_ON_ZERO(sizeof(struct type) > sizeof(union eventlog_argument)), \
		.least_bytes = offsetofend(struct type, last), \
		.call = function, \
	}

/**
 * struct eventlog_opener - what a file of the device begins with
 * @foreign: the opener is in a user namespace to which the instance does not belong, so that
 *	it has no rights as its owner; see user/instance.h
 * @hands_on: INSTANCE_CREATE has made the file, for programs of the instance: they do not get the
 *	opener's rights with it
 */
struct eventlog_opener {
	bool foreign;
	bool hands_on;
};

/**
 * eventlog_capable() - may the opener of a file trace all processes of its domain
 * @domain: the file's domain
 * @filp: the file; the rights of its opener count, since an open file can be handed on; but the
 *	capabilities of the caller if INSTANCE_CREATE has made it
 */
bool eventlog_capable(const struct eventlog_domain *domain, struct file *filp);

/**
 * eventlog_argument_get() - copy in an ioctl's argument
 * @argument: room for @bytes
 * @bytes: size of the struct as the kernel knows it
 * @least_bytes: the least size that the caller may give
 * @user: the caller's struct, which begins with its size
 *
 * Return: 0; -EFAULT; -EINVAL: too small; -E2BIG: too large, or something is set
 * that the kernel does not know.
 */
int eventlog_argument_get(void *argument, size_t bytes, size_t least_bytes,
			  const void __user *user);

/**
 * eventlog_argument_put() - copy an ioctl's results out
 * @user: the caller's struct
 * @argument: begins with the size the caller gave, up to which it is copied; what
 *	the caller has beyond that is zeroed
 * @bytes: size of the struct as the kernel knows it
 *
 * Return: 0 or -EFAULT.
 */
int eventlog_argument_put(void __user *user, const void *argument, size_t bytes);

/**
 * eventlog_string_get() - copy in a string
 * @user: its address
 * @room: limit of its size, NUL included
 *
 * Return: the string, for kfree(); or ERR_PTR: -EFAULT, -E2BIG, -ENOMEM.
 */
char *eventlog_string_get(u64 user, size_t room);

/**
 * eventlog_string_get_or() - copy in a string that the caller may leave out
 * @user: its address, or 0
 * @room: limit of its size, NUL included
 * @otherwise: the string for an address of 0
 *
 * Return: as eventlog_string_get().
 */
char *eventlog_string_get_or(u64 user, size_t room, const char *otherwise);

/**
 * eventlog_array_get() - copy in bytes
 * @to: room for them
 * @user: their address, which may have more bits than an address of this kernel
 * @bytes: how many
 *
 * Return: 0 or -EFAULT.
 */
int eventlog_array_get(void *to, u64 user, size_t bytes);

/**
 * eventlog_text_put() - copy bytes out
 * @user: the caller's address, as for eventlog_array_get()
 * @text: the bytes
 * @bytes: how many
 *
 * Return: 0 or -EFAULT.
 */
int eventlog_text_put(u64 user, const char *text, u32 bytes);

#endif /* EVENTLOG_IOCTL_H */
