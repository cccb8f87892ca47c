// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments of ioctls: see ioctl.h.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "core/ioctl.h"
#include "core/types.h"

bool eventlog_capable(const struct eventlog_domain *domain, struct file *filp)
{
	const struct eventlog_opener *opener = filp->private_data;

	if (opener->hands_on)
		return capable(CAP_PERFMON) || capable(CAP_SYS_ADMIN);
	return (uid_eq(filp->f_cred->euid, domain->owner) && !opener->foreign) ||
	       file_ns_capable(filp, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(filp, &init_user_ns, CAP_SYS_ADMIN);
}

int eventlog_argument_get(void *argument, size_t bytes, size_t least_bytes,
			  const void __user *user)
{
	u32 user_bytes;
	int ret;

	if (get_user(user_bytes, (const u32 __user *)user))
		return -EFAULT;
	if (user_bytes < least_bytes)
		return -EINVAL;
	if (user_bytes > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(argument, bytes, user, user_bytes);
	/* The checked size, even if another thread has changed the caller's struct since. */
	*(u32 *)argument = user_bytes;
	return ret;
}

int eventlog_argument_put(void __user *user, const void *argument, size_t bytes)
{
	u32 user_bytes = *(const u32 *)argument;

	if (copy_to_user(user, argument, min_t(size_t, bytes, user_bytes)))
		return -EFAULT;
	if (user_bytes > bytes && clear_user(user + bytes, user_bytes - bytes))
		return -EFAULT;
	return 0;
}

char *eventlog_string_get(u64 user, size_t room)
{
	char *text;

	/* A 32-bit kernel, and a 32-bit process, have no such address. */
	if (user != (unsigned long)user)
		return ERR_PTR(-EFAULT);
	text = strndup_user(u64_to_user_ptr(user), room);
	return text == ERR_PTR(-EINVAL) ? ERR_PTR(-E2BIG) : text;
}

char *eventlog_string_get_or(u64 user, size_t room, const char *otherwise)
{
	char *text;

	if (user)
		return eventlog_string_get(user, room);
	text = kstrdup(otherwise, GFP_KERNEL_ACCOUNT);
	return text ?: ERR_PTR(-ENOMEM);
}

int eventlog_array_get(void *to, u64 user, size_t bytes)
{
	if (user != (unsigned long)user || copy_from_user(to, u64_to_user_ptr(user), bytes))
		return -EFAULT;
	return 0;
}

int eventlog_text_put(u64 user, const char *text, u32 bytes)
{
	if (user != (unsigned long)user || copy_to_user(u64_to_user_ptr(user), text, bytes))
		return -EFAULT;
	return 0;
}
