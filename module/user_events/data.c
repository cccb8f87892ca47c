// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files user_events_data: see data.h.
 */
#include <linux/compat.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/xarray.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/emit.h"
#include "core/user.h"
#include "memory.h"
#include "user_events/abi.h"
#include "user_events/data.h"
#include "user_events/enabler.h"
#include "user_events/event.h"
#include "user_events/set.h"

/* Payloads up to this are copied to the stack. */
#define UE_STACK_PAYLOAD 512

/**
 * struct ue_registration - an event that a file may write
 * @event: live until the file is released
 * @watch: the same event
 * @use: of the file
 */
struct ue_registration {
	struct eventlog_event *event;
	struct eventlog_watch *watch;
	struct eventlog_event_use use;
};

/**
 * struct ue_file - an open user_events_data
 * @lock: see data.h
 * @user: its opener, with a reference; NULL: one without limits
 * @registrations: &struct ue_registration by index
 * @indices: their indices by the event's descriptor
 * @count: their number
 */
struct ue_file {
	struct mutex lock;
	struct eventlog_user *user;
	struct xarray registrations;
	struct xarray indices;
	u32 count;
};

static int ue_open(struct inode *inode, struct file *filp)
{
	struct ue_file *file = eventlog_alloc(sizeof(*file));

	if (!file)
		return -ENOMEM;
	file->user = eventlog_user_open(filp->f_cred);
	if (IS_ERR(file->user)) {
		int ret = PTR_ERR(file->user);

		eventlog_free(file);
		return ret;
	}
	mutex_init(&file->lock);
	xa_init_flags(&file->registrations, XA_FLAGS_ACCOUNT);
	xa_init_flags(&file->indices, XA_FLAGS_ACCOUNT);
	filp->private_data = file;
	return 0;
}

static void ue_registration_free(struct ue_file *file, struct ue_registration *registration)
{
	ue_event_put(registration->watch, &registration->use);
	eventlog_user_uncharge(file->user, EVENTLOG_QUOTA_REGISTRATIONS, 1);
	eventlog_free(registration);
}

static int ue_release(struct inode *inode, struct file *filp)
{
	struct ue_file *file = filp->private_data;
	struct ue_registration *registration;
	unsigned long index;

	xa_for_each(&file->registrations, index, registration) {
		ue_registration_free(file, registration);
		cond_resched();
	}
	xa_destroy(&file->registrations);
	xa_destroy(&file->indices);
	eventlog_user_put(file->user);
	eventlog_free(file);
	return 0;
}

/* ---- register ---- */

/* The index of a registration's event in the file; adds it if it is new and sets *@added. */
static int ue_file_index(struct ue_file *file, struct ue_registration *registration, bool *added)
{
	u32 descriptor = registration->event->descriptor;
	void *index = xa_load(&file->indices, descriptor);
	int ret;

	if (index)
		return xa_to_value(index);
	ret = xa_err(xa_store(&file->indices, descriptor, xa_mk_value(file->count),
			      GFP_KERNEL_ACCOUNT));
	if (ret)
		return ret;
	ret = xa_err(xa_store(&file->registrations, file->count, registration, GFP_KERNEL_ACCOUNT));
	if (ret) {
		xa_erase(&file->indices, descriptor);
		return ret;
	}
	*added = true;
	return file->count++;
}

/* Finds or makes an event, and sets the caller's bit.  Returns the index or an errno. */
static int ue_file_register(struct ue_file *file, const char *command,
			    unsigned int flags, const struct ue_bit *bit)
{
	struct ue_registration *registration;
	struct eventlog_watch *watch;
	bool added = false;
	int index;

	registration = eventlog_alloc(sizeof(*registration));
	if (!registration)
		return -ENOMEM;
	index = -EMFILE;
	if (!eventlog_user_charge(file->user, EVENTLOG_QUOTA_REGISTRATIONS, 1))
		goto err_free;
	registration->use.user = file->user;
	watch = ue_event_get(command, flags, &registration->use);
	if (IS_ERR(watch)) {
		index = PTR_ERR(watch);
		eventlog_user_uncharge(file->user, EVENTLOG_QUOTA_REGISTRATIONS, 1);
		goto err_free;
	}
	registration->watch = watch;
	registration->event = watch->event;
	mutex_lock(&file->lock);
	index = ue_file_index(file, registration, &added);
	mutex_unlock(&file->lock);
	/* Another one of the file keeps the event. */
	if (!added)
		ue_registration_free(file, registration);
	if (index < 0)
		return index;
	/* The event stays in the file, even if the bit cannot be set. */
	return ue_enabler_add(watch, file->user, bit) ?: index;

err_free:
	eventlog_free(registration);
	return index;
}

/* Copies in a struct that begins with its size, which may be larger than the kernel's. */
static int ue_argument_get(void *argument, size_t bytes, const void __user *user)
{
	u32 size;

	if (get_user(size, (const u32 __user *)user))
		return -EFAULT;
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size < bytes)
		return -EINVAL;
	return copy_struct_from_user(argument, bytes, user, size);
}

static bool ue_bit_valid(const struct ue_reg *reg)
{
	if (reg->enable_size != sizeof(u32) &&
	    !(reg->enable_size == sizeof(u64) && sizeof(long) == sizeof(u64)))
		return false;
	return !(reg->enable_addr & (reg->enable_size - 1)) &&
	       reg->enable_bit < 8 * reg->enable_size;
}

static long ue_ioctl_register(struct ue_file *file, struct ue_reg __user *user)
{
	struct ue_bit bit;
	struct ue_reg reg;
	char *command;
	int ret;

	ret = ue_argument_get(&reg, sizeof(reg), user);
	if (ret)
		return ret;
	if (reg.flags & ~(UE_PERSIST | UE_MULTI) || !ue_bit_valid(&reg))
		return -EINVAL;
	if (reg.enable_addr > ULONG_MAX || reg.name_args > ULONG_MAX ||
	    !access_ok((void __user *)(unsigned long)reg.enable_addr, reg.enable_size))
		return -EFAULT;
	bit.address = reg.enable_addr;
	bit.bytes = reg.enable_size;
	bit.bit = reg.enable_bit;
	if (ue_enabler_exists(&bit))
		return -EADDRINUSE;
	command = strndup_user((void __user *)(unsigned long)reg.name_args, UE_COMMAND_MAX);
	if (IS_ERR(command))
		return PTR_ERR(command);
	ret = ue_file_register(file, command, reg.flags, &bit);
	kfree(command);
	if (ret < 0)
		return ret;
	return put_user((u32)ret, &user->write_index);
}

static long ue_ioctl_delete(const char __user *user)
{
	char *name = strndup_user(user, UE_COMMAND_MAX);
	int ret;

	if (IS_ERR(name))
		return PTR_ERR(name);
	ret = ue_event_delete(name);
	kfree(name);
	return ret;
}

static long ue_ioctl_unregister(const struct ue_unreg __user *user)
{
	struct ue_unreg unreg;
	struct ue_bit bit = {};
	int ret;

	ret = ue_argument_get(&unreg, sizeof(unreg), user);
	if (ret)
		return ret;
	if (unreg.reserved || unreg.reserved2)
		return -EINVAL;
	if (unreg.disable_addr > ULONG_MAX)
		return -ENOENT;
	bit.address = unreg.disable_addr;
	bit.bit = unreg.disable_bit;
	return ue_enabler_remove(&bit);
}

/* @pointer: the size of a pointer of the caller, which the commands contain */
static long ue_ioctl(struct file *filp, unsigned int command, void __user *user, size_t pointer)
{
	switch (command) {
	case _IOC(_IOC_READ | _IOC_WRITE, UE_IOC_TYPE, UE_IOC_REG, 8):
	case _IOC(_IOC_READ | _IOC_WRITE, UE_IOC_TYPE, UE_IOC_REG, 4):
	case _IOC(_IOC_WRITE, UE_IOC_TYPE, UE_IOC_DEL, 8):
	case _IOC(_IOC_WRITE, UE_IOC_TYPE, UE_IOC_DEL, 4):
	case _IOC(_IOC_WRITE, UE_IOC_TYPE, UE_IOC_UNREG, 8):
	case _IOC(_IOC_WRITE, UE_IOC_TYPE, UE_IOC_UNREG, 4):
		if (_IOC_SIZE(command) == pointer)
			break;
		fallthrough;
	default:
		return -ENOTTY;
	}
	/* A kernel thread has no memory of its own. */
	if (!current->mm)
		return -EINVAL;
	if (_IOC_NR(command) == UE_IOC_REG)
		return ue_ioctl_register(filp->private_data, user);
	if (_IOC_NR(command) == UE_IOC_DEL)
		return ue_ioctl_delete(user);
	return ue_ioctl_unregister(user);
}

static long ue_ioctl_native(struct file *filp, unsigned int command, unsigned long argument)
{
	return ue_ioctl(filp, command, (void __user *)argument, sizeof(long));
}

#ifdef CONFIG_COMPAT
static long ue_ioctl_compat(struct file *filp, unsigned int command, unsigned long argument)
{
	return ue_ioctl(filp, command, compat_ptr(argument), sizeof(compat_uptr_t));
}
#endif

/* ---- write ---- */

/* Makes offsets of __data_loc words count from the payload. */
static int ue_payload_rebase(const struct eventlog_layout *layout, u8 *payload)
{
	u32 i;

	for (i = 0; i < layout->dynamic_count; i++) {
		u32 *at = (u32 *)(payload + layout->dynamic[i].position);
		u32 word = get_unaligned(at);

		if (layout->dynamic[i].base)
			continue;
		if ((word & 0xffff) < UE_HEADER_BYTES)
			return -EFAULT;
		put_unaligned(word - UE_HEADER_BYTES, at);
	}
	return 0;
}

static int ue_payload_emit(const struct eventlog_event *event, u8 *payload, size_t bytes,
			   struct iov_iter *from)
{
	if (!copy_from_iter_full(payload, bytes, from) ||
	    ue_payload_rebase(event->layout, payload) ||
	    eventlog_layout_validate(event->layout, payload, bytes))
		return -EFAULT;
	eventlog_emit(event, 0, payload, bytes);
	return 0;
}

/* The checks are in the order of the kernel's user_events, because programs may see it. */
static ssize_t ue_write_iter(struct kiocb *kiocb, struct iov_iter *from)
{
	struct ue_file *file = kiocb->ki_filp->private_data;
	/* Not initialized, which takes longer than copying; only copied bytes are read. */
	u8 small[UE_STACK_PAYLOAD] __uninitialized, *payload = small;
	const struct ue_registration *registration;
	const struct eventlog_event *event;
	size_t bytes;
	u32 index;
	int ret;

	if (!copy_from_iter_full(&index, sizeof(index), from))
		return -EFAULT;
	if (index > S32_MAX)
		return -EINVAL;
	registration = xa_load(&file->registrations, index);
	if (!registration)
		return -ENOENT;
	event = registration->event;
	bytes = iov_iter_count(from);
	if (bytes < event->layout->fixed_bytes)
		return -EINVAL;
	if (!rcu_access_pointer(event->listeners))
		return -EBADF;
	if (bytes > EVENTLOG_PAYLOAD_MAX)
		return -E2BIG;
	if (bytes > sizeof(small)) {
		payload = kvmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!payload)
			return -ENOMEM;
	}
	ret = ue_payload_emit(event, payload, bytes, from);
	if (payload != small)
		kvfree(payload);
	return ret ?: bytes + sizeof(index);
}

const struct file_operations ue_data_operations = {
	.owner = THIS_MODULE,
	.open = ue_open,
	.release = ue_release,
	.write_iter = ue_write_iter,
	.unlocked_ioctl = ue_ioctl_native,
#ifdef CONFIG_COMPAT
	.compat_ioctl = ue_ioctl_compat,
#endif
	.llseek = noop_llseek,
};

#endif /* EVENTLOG_TRACE_EVENTS */
