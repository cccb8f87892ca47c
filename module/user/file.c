// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device and its files: see file.h.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "core/cgroup.h"
#include "core/domain.h"
#include "core/event.h"
#include "core/ioctl.h"
#include "core/list.h"
#include "core/sink.h"
#include "core/subscriber.h"
#include "core/thread.h"
#include "core/user.h"
#include "memory.h"
#include "user/describe.h"
#include "user/file.h"
#include "user/instance.h"
#include "user/leave.h"
#include "user/mapped.h"
#include "user/producer.h"
#include "user/registrations.h"
#include "user/status.h"
#include "user/subscribe.h"
#include "user/visible.h"
#include "user/watch.h"

static unsigned int eventlog_rules_limit;
static unsigned int eventlog_registrations_limit;

/* ---- ioctls of all files ---- */

char *eventlog_name_get(u64 user)
{
	char *name = eventlog_string_get_or(user, EVENTLOG_NAME_MAX, EVENTLOG_DEFAULT_PROVIDER);

	return name == ERR_PTR(-E2BIG) ? ERR_PTR(-EINVAL) : name;
}

/* What exists in the domain, and what the file's user uses. */
static void eventlog_info_counts(struct eventlog_info *info, struct eventlog_domain *domain,
				 struct file *filp)
{
	struct eventlog_file *file = filp->private_data;
	unsigned int i;

	eventlog_domain_lock(domain);
	info->events = domain->live;
	info->enabled = domain->busy;
	info->retained = domain->retained_count;
	info->providers = domain->kernel_provider_count;
	info->subscribers = domain->subscriber_count;
	info->policies = domain->policy_count;
	eventlog_domain_unlock(domain);
	info->restricted = !eventlog_capable(domain, filp);
	info->instance = domain->id;
	for (i = 0; i < EVENTLOG_QUOTAS; i++)
		eventlog_user_report(file->user, i, &info->quotas[i]);
}

static int eventlog_ioctl_info(struct eventlog_domain *domain, struct file *filp, void *argument,
			       void __user *user)
{
	struct eventlog_info *info = argument;
	const u32 bytes = info->size;

	memset(info, 0, sizeof(*info));
	info->size = bytes;
	info->abi = EVENTLOG_ABI_VERSION;
	info->features = (domain->trace_group ? EVENTLOG_FEATURE_TRACE : 0) |
			 (eventlog_instances_possible(domain) ? EVENTLOG_FEATURE_INSTANCES : 0) |
			 EVENTLOG_FEATURE_SESSIONS | EVENTLOG_FEATURE_LEAVE |
			 (EVENTLOG_CGROUPS ? EVENTLOG_FEATURE_CGROUP : 0);
	info->ring_bytes_max = EVENTLOG_RING_BYTES_MAX;
	info->payload_max = EVENTLOG_PAYLOAD_MAX;
	info->command_max = EVENTLOG_COMMAND_MAX;
	info->events_max = domain->events_max;
	info->subscribers_max = domain->subscribers_max;
	info->rules_max = eventlog_rules_limit;
	info->registrations_max = eventlog_registrations_limit;
	info->policies_max = EVENTLOG_POLICIES_MAX;
	info->terms_max = EVENTLOG_TERMS_MAX;
	strscpy(info->release, EVENTLOG_RELEASE, sizeof(info->release));
	/* Who asks only for the version does not wait for the domain. */
	if (bytes > offsetof(struct eventlog_info, events))
		eventlog_info_counts(info, domain, filp);
	return eventlog_argument_put(user, info, sizeof(*info));
}

static int eventlog_ioctl_delete(struct eventlog_domain *domain, struct file *filp,
				 void *argument, void __user *user)
{
	struct eventlog_delete *request = argument;
	char *provider, *event;
	int ret;

	if (request->flags)
		return -EINVAL;
	if (!eventlog_capable(domain, filp))
		return -EPERM;
	provider = eventlog_name_get(request->provider);
	if (IS_ERR(provider))
		return PTR_ERR(provider);
	event = eventlog_string_get(request->event, EVENTLOG_NAME_MAX);
	if (IS_ERR(event)) {
		ret = event == ERR_PTR(-E2BIG) ? -EINVAL : PTR_ERR(event);
		goto out;
	}
	ret = -EINVAL;
	if (eventlog_name_valid(provider) && eventlog_name_valid(event))
		ret = eventlog_event_delete(domain, provider, NULL, event);
	kfree(event);
out:
	kfree(provider);
	return ret;
}

/* ---- file operations ---- */

static int eventlog_ioctl_list(struct eventlog_domain *domain, struct file *filp, void *argument,
			       void __user *user);

static const struct eventlog_ioctl eventlog_file_table[] = {
	EVENTLOG_IOCTL(INFO, eventlog_info, abi, eventlog_ioctl_info),
	EVENTLOG_IOCTL(DELETE, eventlog_delete, event, eventlog_ioctl_delete),
	EVENTLOG_IOCTL(LIST, eventlog_list, ring, eventlog_ioctl_list),
	EVENTLOG_IOCTL(DESCRIBE, eventlog_describe, instance, eventlog_ioctl_describe),
};

static const struct eventlog_ioctls eventlog_file_ioctls = {
	.ioctls = eventlog_file_table,
	.count = ARRAY_SIZE(eventlog_file_table),
	.kinds = {
		[EVENTLOG_LIST_DEFINITIONS] = &eventlog_definitions_list,
		[EVENTLOG_LIST_REGISTRATIONS] = &eventlog_registrations_list,
	},
};

/* No number is in two of them. */
static const struct eventlog_ioctls *eventlog_tables[] = {
	&eventlog_file_ioctls, &eventlog_producer_ioctls, &eventlog_mapped_ioctls,
	&eventlog_subscribe_ioctls, &eventlog_instance_ioctls, &eventlog_leave_ioctls,
	NULL,	/* markers: set by eventlog_device_init() */
};

/* The ioctl of a number, which user space chose; or NULL. */
static const struct eventlog_ioctl *eventlog_ioctl_find(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(eventlog_tables); i++) {
		const struct eventlog_ioctls *table = eventlog_tables[i];

		if (number >= table->count)
			continue;
		number = array_index_nospec(number, table->count);
		if (table->ioctls[number].call)
			return &table->ioctls[number];
	}
	return NULL;
}

static int eventlog_ioctl_list(struct eventlog_domain *domain, struct file *filp, void *argument,
			       void __user *user)
{
	struct eventlog_list *request = argument;
	const struct eventlog_list_ops *kind = NULL;
	unsigned int i;
	u32 number;

	if (request->flags || request->kind >= EVENTLOG_LIST_KINDS)
		return -EINVAL;
	if (request->kind != EVENTLOG_LIST_NAMES && (request->ring || request->since))
		return -EINVAL;
	number = array_index_nospec(request->kind, EVENTLOG_LIST_KINDS);
	for (i = 0; !kind && i < ARRAY_SIZE(eventlog_tables); i++)
		kind = eventlog_tables[i]->kinds[number];
	return kind ? eventlog_list(kind, domain, filp, request, user) : -EINVAL;
}

static long eventlog_ioctl(struct file *filp, unsigned int command, unsigned long user_address)
{
	void __user *user = (void __user *)user_address;
	struct eventlog_file *file = filp->private_data;
	const struct eventlog_ioctl *ioctl;
	union eventlog_argument argument;
	int ret;

	if (_IOC_TYPE(command) != EVENTLOG_IOC_TYPE)
		return -ENOTTY;
	/* INFO answers programs of every ABI version, however they encode it. */
	if (command != EVENTLOG_IOC(_IOC_NR(command)) &&
	    _IOC_NR(command) != _IOC_NR(EVENTLOG_IOC_INFO))
		return -ENOTTY;
	ioctl = eventlog_ioctl_find(_IOC_NR(command));
	if (!ioctl)
		return -ENOTTY;
	ret = eventlog_argument_get(&argument, ioctl->bytes, ioctl->least_bytes, user);
	return ret ?: ioctl->call(file->domain, filp, &argument, user);
}

/*
 * Reads the status listing.  It is copied in pieces without the lock: an access to user memory
 * can take as long as the process likes.
 */
static ssize_t eventlog_read(struct file *filp, char __user *user, size_t bytes, loff_t *position)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_viewer viewer;
	ssize_t ret = 0;
	size_t done = 0;
	char *piece;

	if (eventlog_file_role(file) != EVENTLOG_ROLE_NONE || *position < 0)
		return -EINVAL;
	viewer = eventlog_viewer_of(file->domain, filp);
	piece = eventlog_alloc(PAGE_SIZE);
	if (!piece)
		return -ENOMEM;
	while (done < bytes) {
		mutex_lock(&file->lock);
		ret = eventlog_status_read(&file->status, file->domain, &viewer, piece,
					   min_t(size_t, bytes - done, PAGE_SIZE), *position);
		mutex_unlock(&file->lock);
		if (ret > 0 && copy_to_user(user + done, piece, ret))
			ret = -EFAULT;
		if (ret <= 0)
			break;
		done += ret;
		*position += ret;
	}
	eventlog_free(piece);
	return done ?: ret;
}

static __poll_t eventlog_poll(struct file *filp, struct poll_table_struct *table)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);

	return subscriber ? eventlog_subscriber_poll(subscriber, filp, table) : EPOLLERR;
}

static int eventlog_producer_mmap(struct eventlog_file *file, struct vm_area_struct *vma)
{
	struct eventlog_domain *domain = file->domain;

	if (vma->vm_pgoff >= EVENTLOG_MAPPED_STRIDE >> PAGE_SHIFT)
		return eventlog_mapped_mmap(file, vma);
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != domain->status_map_bytes)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	vm_flags_clear(vma, VM_MAYWRITE);
	return remap_vmalloc_range(vma, domain->status_map, 0);
}

static int eventlog_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct eventlog_file *file = filp->private_data;
	enum eventlog_role role = eventlog_file_role(file);

	if (role == EVENTLOG_ROLE_NONE || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	vm_flags_clear(vma, VM_MAYEXEC);
	/* The pages belong to this process's file: a child must not inherit them. */
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &eventlog_vm_ops;
	if (role == EVENTLOG_ROLE_PRODUCER)
		return eventlog_producer_mmap(file, vma);
	return eventlog_subscriber_mmap(file->subscriber, vma);
}

struct eventlog_file *eventlog_file_new(struct eventlog_domain *domain, const struct cred *cred)
{
	struct eventlog_file *file = eventlog_alloc(sizeof(*file));
	struct eventlog_user *user;

	if (!file)
		return ERR_PTR(-ENOMEM);
	user = domain->user ? eventlog_user_get(domain->user) : eventlog_user_open(cred);
	if (IS_ERR(user)) {
		eventlog_free(file);
		return ERR_CAST(user);
	}
	file->user = user;
	file->uid = cred->euid;
	file->domain = domain;
	file->of_owner = eventlog_owner_enter(domain, cred, &file->opener.foreign);
	mutex_init(&file->lock);
	xa_init_flags(&file->registrations, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&file->mapped, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&file->threads);
	return file;
}

void eventlog_file_free(struct eventlog_file *file)
{
	struct eventlog_domain *domain = file->domain;

	eventlog_leave_release(file);
	if (file->subscriber)
		eventlog_subscriber_free(file->subscriber);
	eventlog_threads_release(&file->threads);
	/* Rings refer to registrations. */
	eventlog_mapped_release(file);
	eventlog_producer_release(file);
	eventlog_status_free(&file->status);
	eventlog_user_put(file->user);
	if (file->of_owner)
		eventlog_owner_leave(domain);
	eventlog_free(file);
	eventlog_domain_put(domain);
}

static int eventlog_open(struct inode *inode, struct file *filp)
{
	struct eventlog_domain *domain = eventlog_domain_open(inode, filp);
	struct eventlog_file *file;

	if (IS_ERR(domain))
		return PTR_ERR(domain);
	if (eventlog_leave_lingers()) {
		eventlog_domain_put(domain);
		return -ESHUTDOWN;
	}
	file = eventlog_file_new(domain, filp->f_cred);
	if (IS_ERR(file)) {
		eventlog_domain_put(domain);
		return PTR_ERR(file);
	}
	filp->private_data = file;
	return 0;
}

static int eventlog_release(struct inode *inode, struct file *filp)
{
	eventlog_file_free(filp->private_data);
	return 0;
}

const struct file_operations eventlog_file_operations = {
	.owner = THIS_MODULE,
	.open = eventlog_open,
	.release = eventlog_release,
	.read = eventlog_read,
	.write_iter = eventlog_producer_write_iter,
	.poll = eventlog_poll,
	.unlocked_ioctl = eventlog_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = eventlog_mmap,
	/* Without a lock. The position has no meaning: programs may mark their files with it. */
	.llseek = no_seek_end_llseek,
};

static struct miscdevice eventlog_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "eventlog",
	.fops = &eventlog_file_operations,
};

int eventlog_device_init(umode_t mode, unsigned int rules_max, unsigned int registrations_max,
			 const struct eventlog_ioctls *marker_ioctls)
{
	eventlog_rules_limit = rules_max;
	eventlog_registrations_limit = registrations_max;
	eventlog_producer_init(registrations_max);
	eventlog_watch_init();
	eventlog_tables[ARRAY_SIZE(eventlog_tables) - 1] = marker_ioctls;
	eventlog_device.mode = mode;
	return misc_register(&eventlog_device);
}

void eventlog_device_exit(void)
{
	misc_deregister(&eventlog_device);
	eventlog_watch_exit();
}
