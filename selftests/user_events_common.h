/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of user_events for programs, as linux/user_events.h of newer kernels defines
 * it, which this machine may not have; calls of it; and what its tests share.
 * There are no locks.
 */
#ifndef USER_EVENTS_COMMON_H
#define USER_EVENTS_COMMON_H

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "eventlog_common.h"
#include "module_common.h"

#define USER_EVENTS_GROUP TRACE_EVENTS "/user_events"
#define USER_EVENTS_DATA TRACEFS "/user_events_data"
#define USER_EVENTS_STATUS TRACEFS "/user_events_status"

struct user_reg {
	__u32 size;
	__u8 enable_bit;
	__u8 enable_size;
	__u16 flags;
	__u64 enable_addr;
	__u64 name_args;
	__u32 write_index;
} __attribute__((packed));

struct user_unreg {
	__u32 size;
	__u8 disable_bit;
	__u8 reserved;
	__u16 reserved2;
	__u64 disable_addr;
} __attribute__((packed));

#define USER_EVENTS_REG _IOWR('*', 0, struct user_reg *)
#define USER_EVENTS_DEL _IOW('*', 1, char *)
#define USER_EVENTS_UNREG _IOW('*', 2, struct user_unreg *)

/* Flags of a registration. */
#define USER_EVENTS_PERSIST 1
#define USER_EVENTS_MULTI 2

/**
 * reg_request() - a request to register
 * @command: the event's name and fields
 * @address: of the word that shows whether the event is enabled
 * @bytes: of the word
 * @bit: in the word
 */
static inline struct user_reg reg_request(const char *command, void *address, unsigned int bytes,
					  unsigned int bit)
{
	return (struct user_reg){
		.size = sizeof(struct user_reg), .enable_bit = bit, .enable_size = bytes,
		.enable_addr = PTR(address), .name_args = PTR(command),
	};
}

/** try_reg() - register; returns as ioctl(2) */
static inline int try_reg(int fd, const char *command, void *address, unsigned int bytes,
			  unsigned int bit)
{
	struct user_reg request = reg_request(command, address, bytes, bit);

	return ioctl(fd, USER_EVENTS_REG, &request);
}

/** reg() - register; returns the index for writing */
static inline __u32 reg(int fd, const char *command, void *address, unsigned int bytes,
			unsigned int bit)
{
	struct user_reg request = reg_request(command, address, bytes, bit);

	CHECK_OK(ioctl(fd, USER_EVENTS_REG, &request));
	return request.write_index;
}

/** try_unreg() - unregister; returns as ioctl(2) */
static inline int try_unreg(int fd, void *address, unsigned int bit)
{
	struct user_unreg request = {
		.size = sizeof(request), .disable_bit = bit, .disable_addr = PTR(address),
	};

	return ioctl(fd, USER_EVENTS_UNREG, &request);
}

/** user_events_try_open() - open user_events_data; returns as open(2) */
static inline int user_events_try_open(void)
{
	return open(USER_EVENTS_DATA, O_RDWR | O_CLOEXEC);
}

/** user_events_open() - the same, and load the module that makes it; skips where it is not needed */
static inline int user_events_open(void)
{
	if (!trace_events_exist())
		SKIP("this kernel has no trace events for modules");
	user_events_load();
	return CHECK_OK(user_events_try_open());
}

/** file_has() - do the first 4 KiB of a file have these words */
static inline bool file_has(const char *path, const char *words)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return strstr(text, words);
}

/** file_exists() - is there a file */
static inline bool file_exists(const char *path)
{
	return !access(path, F_OK);
}

/**
 * struct switcher - a subscriber that enables and disables events of user_events
 * @consumer: the subscriber
 * @rule: its rule, while it enables them
 */
struct switcher {
	struct consumer consumer;
	__u32 rule;
};

/** switcher_open() - subscribe; for consumer_close() of its consumer */
static inline void switcher_open(struct switcher *switcher)
{
	consumer_open(&switcher->consumer, 1 << 16);
}

/** switch_on() - enable all events of user_events */
static inline void switch_on(struct switcher *switcher)
{
	switcher->rule = rule_add(switcher->consumer.fd, "user_events*", "*");
}

/** switch_off() - disable them */
static inline void switch_off(struct switcher *switcher)
{
	CHECK_OK(try_rule_delete(switcher->consumer.fd, switcher->rule));
}

#endif /* USER_EVENTS_COMMON_H */
