// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instances: see instance.h.
 */
#include <linux/anon_inodes.h>
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cdev.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/random.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "compat.h"
#include "core/domain.h"
#include "core/event.h"
#include "core/ioctl.h"
#include "core/leave.h"
#include "core/list.h"
#include "core/sink.h"
#include "core/subscriber.h"
#include "core/thread.h"
#include "core/user.h"
#include "memory.h"
#include "user/file.h"
#include "user/instance.h"
#include "user/leave.h"
#include "user/shard.h"

/* All minors of the major number. */
#define EVENTLOG_MINORS (1U << MINORBITS)

/* The first id is at most so large; it and those after it are used once. */
#define EVENTLOG_INSTANCES_FIRST (1U << 31)

/**
 * struct eventlog_node - the device of an instance
 * @device: freed by its last reference, which sysfs may have
 * @owner: owner of the device node; constant
 * @group: its group; constant
 * @mode: its permissions; constant
 */
struct eventlog_node {
	struct device device;
	kuid_t owner;
	kgid_t group;
	umode_t mode;
};

/**
 * struct eventlog_instance - an instance
 * @domain: its domain
 * @users: the table's reference and those of files
 * @minor: number of its device node
 * @group: group of the node
 * @mode: permissions of the node
 * @namespace: the user namespace that it belongs to, or NULL; under the lock, like
 *	@owner_files
 * @owner_files: how many files keep it so
 * @node: its device, with a reference; NULL: it is being created or deleted; under the lock
 * @name: its name
 * @trace_group: see struct eventlog_domain
 */
struct eventlog_instance {
	struct eventlog_domain domain;
	refcount_t users;
	u32 minor;
	kgid_t group;
	umode_t mode;
	struct user_namespace *namespace;
	unsigned int owner_files;
	struct eventlog_node *node;
	char name[EVENTLOG_INSTANCE_NAME_MAX];
	char trace_group[EVENTLOG_INSTANCE_NAME_MAX + sizeof("eventlog_")];
};

static struct class eventlog_instance_class = { .name = "eventlog" };
static struct eventlog_domain *eventlog_instances_root;
static unsigned int eventlog_instances_max;
static void (*eventlog_instances_empty)(struct eventlog_domain *domain);
static dev_t eventlog_instances_first;
static struct cdev eventlog_instances_cdev;

/* Number of struct eventlog_node.  Others may keep one for a while after its instance. */
static atomic_t eventlog_nodes = ATOMIC_INIT(0);

static DEFINE_MUTEX(eventlog_instances_lock);
/* struct eventlog_instance by id, and by minor. */
static DEFINE_XARRAY(eventlog_instances);
static DEFINE_XARRAY_ALLOC(eventlog_minors);
static unsigned int eventlog_instances_count;
static u32 eventlog_instances_last;
/* EVENTLOG_LEAVE_*, who is asked to leave; under the lock. */
static u32 eventlog_instances_leaving;
/* Where the search for the next minor begins. */
static u32 eventlog_minor_next;

static struct eventlog_instance *eventlog_instance_of(struct eventlog_domain *domain)
{
	return container_of(domain, struct eventlog_instance, domain);
}

/* ---- references ---- */

static void eventlog_instance_free(struct eventlog_instance *instance)
{
	struct eventlog_domain *domain = &instance->domain;

	eventlog_instances_empty(domain);
	eventlog_shards_exit(domain);
	/* Who has found a thread of the instance may look its events up: eventlog_thread_owns(). */
	synchronize_rcu();
	eventlog_domain_destroy(domain);
	eventlog_user_put(domain->user);
	eventlog_free(instance);
}

static void eventlog_instance_put(struct eventlog_instance *instance)
{
	if (refcount_dec_and_test(&instance->users))
		eventlog_instance_free(instance);
}

void eventlog_domain_put(struct eventlog_domain *domain)
{
	if (domain != eventlog_instances_root)
		eventlog_instance_put(eventlog_instance_of(domain));
}

/*
 * Does an instance let someone open its node?  The permissions of the inode do not say so: a
 * container may have kept the node of an earlier instance, or have made one.
 */
static bool eventlog_instance_permits(const struct eventlog_instance *instance, struct file *filp)
{
	umode_t wanted = (filp->f_mode & FMODE_READ ? MAY_READ : 0) |
			 (filp->f_mode & FMODE_WRITE ? MAY_WRITE : 0);
	umode_t mode = instance->mode;

	if (uid_eq(filp->f_cred->euid, instance->domain.owner))
		mode >>= 6;
	else if (in_group_p(instance->group))
		mode >>= 3;
	return !(wanted & ~mode) || file_ns_capable(filp, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(filp, &init_user_ns, CAP_SYS_ADMIN);
}

struct eventlog_domain *eventlog_domain_open(const struct inode *inode, struct file *filp)
{
	struct eventlog_instance *instance;

	if (imajor(inode) != MAJOR(eventlog_instances_first))
		return eventlog_instances_root;
	mutex_lock(&eventlog_instances_lock);
	instance = xa_load(&eventlog_minors, iminor(inode) - MINOR(eventlog_instances_first));
	if (instance)
		refcount_inc(&instance->users);
	mutex_unlock(&eventlog_instances_lock);
	if (!instance)
		return ERR_PTR(-ENODEV);
	if (!eventlog_instance_permits(instance, filp)) {
		eventlog_instance_put(instance);
		return ERR_PTR(-EACCES);
	}
	return &instance->domain;
}

/* ---- owners ---- */

/* Is a user namespace another one, or does it contain that one? */
static bool eventlog_namespace_has(const struct user_namespace *outer,
				   const struct user_namespace *inner)
{
	while (inner && inner != outer)
		inner = inner->parent;
	return inner;
}

bool eventlog_owner_enter(struct eventlog_domain *domain, const struct cred *cred, bool *foreign)
{
	struct eventlog_instance *instance = eventlog_instance_of(domain);
	struct user_namespace *namespace = cred->user_ns;

	if (!uid_eq(cred->euid, domain->owner) || namespace == &init_user_ns)
		return false;
	mutex_lock(&eventlog_instances_lock);
	if (!instance->namespace)
		instance->namespace = get_user_ns(namespace);
	/* A namespace around it keeps its rights, and gives none to others that it contains. */
	*foreign = !eventlog_namespace_has(instance->namespace, namespace) &&
		   !eventlog_namespace_has(namespace, instance->namespace);
	/* A file with rights counts, so that it never sees an instance of another namespace. */
	instance->owner_files += !*foreign;
	mutex_unlock(&eventlog_instances_lock);
	return !*foreign;
}

void eventlog_owner_leave(struct eventlog_domain *domain)
{
	struct eventlog_instance *instance = eventlog_instance_of(domain);
	struct user_namespace *left = NULL;

	mutex_lock(&eventlog_instances_lock);
	if (!--instance->owner_files)
		swap(left, instance->namespace);
	mutex_unlock(&eventlog_instances_lock);
	if (left)
		put_user_ns(left);
}

/* ---- device nodes ---- */

static struct eventlog_node *eventlog_node_of(const struct device *device)
{
	return container_of(device, struct eventlog_node, device);
}

static char *eventlog_node_properties(eventlog_devnode_device *device, umode_t *mode, kuid_t *uid,
				      kgid_t *gid)
{
	const struct eventlog_node *node = eventlog_node_of(device);

	if (mode)
		*mode = node->mode;
	if (uid)
		*uid = node->owner;
	if (gid)
		*gid = node->group;
	return NULL;
}

static const struct device_type eventlog_node_type = {
	.name = "eventlog_instance",
	.devnode = eventlog_node_properties,
};

static void eventlog_node_release(struct device *device)
{
	eventlog_free(eventlog_node_of(device));
	if (atomic_dec_and_test(&eventlog_nodes))
		wake_up_var(&eventlog_nodes);
}

/* Makes the device of an instance, and with it the node. */
static struct eventlog_node *eventlog_node_new(const struct eventlog_instance *instance)
{
	struct eventlog_node *node = eventlog_alloc(sizeof(*node));
	int ret;

	if (!node)
		return ERR_PTR(-ENOMEM);
	atomic_inc(&eventlog_nodes);
	node->owner = instance->domain.owner;
	node->group = instance->group;
	node->mode = instance->mode;
	device_initialize(&node->device);
	node->device.class = &eventlog_instance_class;
	node->device.type = &eventlog_node_type;
	node->device.devt = MKDEV(MAJOR(eventlog_instances_first),
				  MINOR(eventlog_instances_first) + instance->minor);
	node->device.release = eventlog_node_release;
	ret = dev_set_name(&node->device, "eventlog-%s", instance->name) ?:
	      device_add(&node->device);
	if (ret) {
		put_device(&node->device);
		return ERR_PTR(ret);
	}
	return node;
}

/* ---- the table ---- */

static bool eventlog_instance_name_valid(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!isascii(*c) || (!isalnum(*c) && (c == name || !strchr("_.-", *c))))
			return false;
	return c != name;
}

/*
 * Could two instances have trace events in one group?  So it is if one beginning of groups is
 * the beginning of the other: "a" has a provider "b_c", and "a_b" has a provider "c".
 */
static bool eventlog_instances_share_groups(const struct eventlog_instance *one,
					    const struct eventlog_instance *other)
{
	const char *group = one->domain.trace_group, *others = other->domain.trace_group;

	return group && others && !strncmp(group, others, min(strlen(group), strlen(others)));
}

/*
 * Chooses a minor.  Containers may keep the node of a deleted instance, so its minor is used
 * again only when all others have been used: otherwise they would open another instance.
 */
static int eventlog_instance_minor_get(struct eventlog_instance *instance)
{
	int ret;

	lockdep_assert_held(&eventlog_instances_lock);
	if (eventlog_instances_count >= eventlog_instances_max)
		return -ENOSPC;
	/* 1: the search has started again at 0. */
	ret = xa_alloc_cyclic(&eventlog_minors, &instance->minor, instance,
			      XA_LIMIT(0, EVENTLOG_MINORS - 1), &eventlog_minor_next, GFP_KERNEL);
	return min(ret, 0);
}

/* Enters an instance into the table, which gets the caller's reference. */
static int eventlog_instance_enter(struct eventlog_instance *instance)
{
	struct eventlog_instance *other;
	unsigned long id;
	int ret;

	mutex_lock(&eventlog_instances_lock);
	ret = -EEXIST;
	xa_for_each(&eventlog_instances, id, other)
		if (!strcmp(other->name, instance->name) ||
		    eventlog_instances_share_groups(other, instance))
			goto out;
	ret = -ENOSPC;
	/* Not covered: an id is used once, and there are 2^31. */
	if (eventlog_instances_last == U32_MAX)
		goto out;
	ret = eventlog_instance_minor_get(instance);
	if (ret)
		goto out;
	instance->domain.id = eventlog_instances_last + 1;
	/* Memory is not charged: others wait for the lock. */
	ret = xa_insert(&eventlog_instances, instance->domain.id, instance, GFP_KERNEL);
	if (ret) {
		xa_erase(&eventlog_minors, instance->minor);
		goto out;
	}
	eventlog_instances_last++;
	eventlog_instances_count++;
out:
	mutex_unlock(&eventlog_instances_lock);
	return ret;
}

/*
 * Removes an instance from the table, and ends all use of it.  The caller gets the table's
 * reference.
 */
static void eventlog_instance_leave(struct eventlog_instance *instance)
{
	mutex_lock(&eventlog_instances_lock);
	xa_erase(&eventlog_minors, instance->minor);
	xa_erase(&eventlog_instances, instance->domain.id);
	eventlog_instances_count--;
	mutex_unlock(&eventlog_instances_lock);

	/* What was emitted so far is delivered. */
	eventlog_shards_drain(&instance->domain, false);
	eventlog_events_kill(&instance->domain);
	eventlog_subscribers_end(&instance->domain);
}

/* Deletes an instance; -ENOENT: there is none, or another task deletes it. */
static int eventlog_instance_delete(u32 id)
{
	struct eventlog_instance *instance;
	struct eventlog_node *node = NULL;

	mutex_lock(&eventlog_instances_lock);
	instance = xa_load(&eventlog_instances, id);
	if (instance)
		swap(node, instance->node);
	mutex_unlock(&eventlog_instances_lock);
	if (!node)
		return -ENOENT;
	/* The name stays taken until sysfs has forgotten it. */
	device_unregister(&node->device);
	eventlog_instance_leave(instance);
	eventlog_instance_put(instance);
	return 0;
}

/* Finds an instance that has its node, and takes a reference; NULL: there is none. */
static struct eventlog_instance *eventlog_instance_get(u32 id)
{
	struct eventlog_instance *instance;

	mutex_lock(&eventlog_instances_lock);
	instance = xa_load(&eventlog_instances, id);
	if (instance && instance->node)
		refcount_inc(&instance->users);
	else
		instance = NULL;
	mutex_unlock(&eventlog_instances_lock);
	return instance;
}

/* ---- creation ---- */

bool eventlog_instances_possible(const struct eventlog_domain *domain)
{
	return !domain->id && eventlog_instances_max;
}

/* Takes over the limits of a request: the others are those of users of the root. */
static int eventlog_instance_limits(const struct eventlog_instance_create *request,
				    unsigned long *limits)
{
	const unsigned long most[EVENTLOG_QUOTAS] = {
		[EVENTLOG_QUOTA_EVENTS] = eventlog_instances_root->events_max,
		[EVENTLOG_QUOTA_DEFINITIONS] = min_t(unsigned long, LONG_MAX, U32_MAX),
		[EVENTLOG_QUOTA_REGISTRATIONS] = LONG_MAX,
		[EVENTLOG_QUOTA_TRACE_BYTES] =
			request->flags & EVENTLOG_INSTANCE_TRACE ? LONG_MAX : 0,
		[EVENTLOG_QUOTA_RETAINED_BYTES] = LONG_MAX,
		[EVENTLOG_QUOTA_RING_BYTES] = LONG_MAX,
		[EVENTLOG_QUOTA_RINGS] = LONG_MAX,
	};
	unsigned int i;

	BUILD_BUG_ON(EVENTLOG_QUOTAS > EVENTLOG_QUOTAS_MAX);
	for (i = 0; i < EVENTLOG_QUOTAS_MAX; i++) {
		bool is_set = request->limits_set & (1U << i);

		if (!request->limits[i] != !is_set)
			return -EINVAL;
		if (is_set && (i >= EVENTLOG_QUOTAS || request->limits[i] > most[i]))
			return -EINVAL;
	}
	for (i = 0; i < EVENTLOG_QUOTAS; i++)
		limits[i] = min(most[i], request->limits_set & (1U << i) ?
					 (unsigned long)request->limits[i] :
					 eventlog_user_default_limits()[i]);
	return request->limits_set >> EVENTLOG_QUOTAS_MAX ? -EINVAL : 0;
}

/* Makes the domain of an instance. */
static int eventlog_instance_domain_init(struct eventlog_instance *instance,
					 const unsigned long *limits, kuid_t owner)
{
	struct eventlog_domain *domain = &instance->domain;
	int ret;

	ret = eventlog_domain_init(domain, max(limits[EVENTLOG_QUOTA_EVENTS], 1UL),
				   eventlog_instances_root->subscribers_max);
	if (ret)
		return ret;
	domain->owner = owner;
	/* No other user of the instance can take what is reserved. */
	domain->events_reserved = 0;
	domain->sink_bytes_max = EVENTLOG_SINK_BYTES_MAX;
	ret = -ENOMEM;
	domain->user = eventlog_user_of_instance(limits, domain->owner);
	if (!domain->user)
		goto err_domain;
	ret = eventlog_shards_init(domain);
	if (ret)
		goto err_user;
	return 0;

err_user:
	eventlog_user_put(domain->user);
err_domain:
	eventlog_domain_destroy(domain);
	return ret;
}

/* Gives an instance trace events, in groups with its name. */
static void eventlog_instance_trace(struct eventlog_instance *instance)
{
	char *c = instance->trace_group;

	snprintf(c, sizeof(instance->trace_group), "%s%s_", eventlog_instances_root->trace_group,
		 instance->name);
	/* Groups are identifiers. */
	for (; *c; c++)
		if (!isalnum(*c))
			*c = '_';
	instance->domain.trace_group = instance->trace_group;
}

/* Makes an instance that is not in the table. */
static struct eventlog_instance *
eventlog_instance_new(const struct eventlog_instance_create *request, const char *name)
{
	struct eventlog_instance *instance = eventlog_alloc(sizeof(*instance));
	kuid_t owner = make_kuid(current_user_ns(), request->owner);
	unsigned long limits[EVENTLOG_QUOTAS];
	int ret;

	if (!instance)
		return ERR_PTR(-ENOMEM);
	instance->group = make_kgid(current_user_ns(), request->group);
	instance->mode = request->mode;
	strscpy(instance->name, name, sizeof(instance->name));
	refcount_set(&instance->users, 1);
	ret = -EINVAL;
	if (!uid_valid(owner) || !gid_valid(instance->group))
		goto err_free;
	ret = eventlog_instance_limits(request, limits) ?:
	      eventlog_instance_domain_init(instance, limits, owner);
	if (ret)
		goto err_free;
	if (request->flags & EVENTLOG_INSTANCE_TRACE)
		eventlog_instance_trace(instance);
	return instance;

err_free:
	eventlog_free(instance);
	return ERR_PTR(ret);
}

/* Makes an instance with its node; the caller gets a reference. */
static struct eventlog_instance *
eventlog_instance_make(const struct eventlog_instance_create *request, const char *name)
{
	struct eventlog_instance *instance = eventlog_instance_new(request, name);
	struct eventlog_node *node;
	int ret;

	if (IS_ERR(instance))
		return instance;
	ret = eventlog_instance_enter(instance);
	if (ret) {
		eventlog_instance_put(instance);
		return ERR_PTR(ret);
	}
	/* Not with the lock.  Until the node is published, the instance cannot be deleted. */
	node = eventlog_node_new(instance);
	if (IS_ERR(node)) {
		eventlog_instance_leave(instance);
		eventlog_instance_put(instance);
		return ERR_CAST(node);
	}
	/* Now LEAVE finds it, if it comes later. */
	mutex_lock(&eventlog_instances_lock);
	ret = eventlog_instances_leaving ? -ESHUTDOWN : 0;
	if (!ret) {
		refcount_inc(&instance->users);
		instance->node = node;
	}
	mutex_unlock(&eventlog_instances_lock);
	if (ret) {
		device_unregister(&node->device);
		eventlog_instance_leave(instance);
		eventlog_instance_put(instance);
		return ERR_PTR(ret);
	}
	/* Later changes find it. */
	eventlog_threads_tell(&instance->domain);
	return instance;
}

/* ---- ioctls ---- */

/*
 * Opens a file of the root or of an instance, by a file of @by, for the caller; NULL: for others
 * than the caller.
 */
static struct file *eventlog_instance_file(struct eventlog_domain *domain,
					   const struct eventlog_domain *by)
{
	struct eventlog_file *file;
	struct file *filp;

	if (domain->id)
		refcount_inc(&eventlog_instance_of(domain)->users);
	file = eventlog_file_new(domain, current_cred());
	if (IS_ERR(file)) {
		eventlog_domain_put(domain);
		return ERR_CAST(file);
	}
	file->by_root = by && by != domain && !by->id;
	file->opener.hands_on = !by;
	filp = anon_inode_getfile("[eventlog]", &eventlog_file_operations, file, O_RDWR);
	if (IS_ERR(filp))
		eventlog_file_free(file);
	else
		filp->f_mode |= FMODE_LSEEK | FMODE_PREAD | FMODE_PWRITE;
	return filp;
}

/*
 * Puts a file of a domain, which is closed on exec, into @fd, and returns the caller's
 * struct.
 */
static int eventlog_instance_install(struct eventlog_domain *domain,
				     const struct eventlog_domain *by, void __user *user,
				     const void *argument, size_t bytes, s32 *fd)
{
	struct file *filp;
	int ret;

	ret = get_unused_fd_flags(O_CLOEXEC);
	if (ret < 0)
		return ret;
	*fd = ret;
	filp = eventlog_instance_file(domain, by);
	ret = PTR_ERR_OR_ZERO(filp);
	if (ret)
		goto err_fd;
	ret = eventlog_argument_put(user, argument, bytes);
	if (ret)
		goto err_file;
	fd_install(*fd, filp);
	return 0;

err_file:
	fput(filp);
err_fd:
	put_unused_fd(*fd);
	return ret;
}

/* May the file's opener create and delete instances? */
static bool eventlog_instances_managed_by(const struct eventlog_domain *domain, struct file *filp)
{
	return !domain->id && file_ns_capable(filp, &init_user_ns, CAP_SYS_ADMIN);
}

static int eventlog_ioctl_instance_create(struct eventlog_domain *domain, struct file *filp,
					  void *argument, void __user *user)
{
	struct eventlog_instance_create *request = argument;
	struct eventlog_instance *instance;
	char *name;
	int ret;

	if (request->flags & ~EVENTLOG_INSTANCE_TRACE || !request->mode || request->mode & ~0777)
		return -EINVAL;
	if (!eventlog_instances_managed_by(domain, filp))
		return -EPERM;
	if (request->flags & EVENTLOG_INSTANCE_TRACE && !eventlog_instances_root->trace_group)
		return -EOPNOTSUPP;
	name = eventlog_string_get(request->name, EVENTLOG_INSTANCE_NAME_MAX);
	if (IS_ERR(name))
		return name == ERR_PTR(-E2BIG) ? -EINVAL : PTR_ERR(name);
	instance = eventlog_instance_name_valid(name) ? eventlog_instance_make(request, name) :
							ERR_PTR(-EINVAL);
	kfree(name);
	if (IS_ERR(instance))
		return PTR_ERR(instance);
	request->id = instance->domain.id;
	/* A file for the programs of the instance. */
	ret = eventlog_instance_install(&instance->domain, NULL, user, request, sizeof(*request),
					&request->fd);
	if (ret)
		eventlog_instance_delete(request->id);
	eventlog_instance_put(instance);
	return ret;
}

static int eventlog_ioctl_instance_delete(struct eventlog_domain *domain, struct file *filp,
					  void *argument, void __user *user)
{
	const struct eventlog_instance_delete *request = argument;

	if (!eventlog_instances_managed_by(domain, filp))
		return -EPERM;
	return eventlog_instance_delete(request->id);
}

/* The instance with the next id that a file may see, with a reference; or NULL. */
static struct eventlog_instance *eventlog_instance_after(struct eventlog_domain *domain, u32 id)
{
	struct eventlog_instance *instance;
	unsigned long index = id;

	if (domain->id && id >= domain->id)
		return NULL;
	if (domain->id)
		return eventlog_instance_get(domain->id);
	mutex_lock(&eventlog_instances_lock);
	do {
		instance = xa_find_after(&eventlog_instances, &index, U32_MAX, XA_PRESENT);
	} while (instance && !instance->node);
	if (instance)
		refcount_inc(&instance->users);
	mutex_unlock(&eventlog_instances_lock);
	return instance;
}

static bool eventlog_instance_put_info(struct eventlog_batch *batch,
				       struct eventlog_instance *instance)
{
	struct eventlog_instance_info info = {
		.id = instance->domain.id,
		.owner = from_kuid_munged(current_user_ns(), instance->domain.owner),
		.group = from_kgid_munged(current_user_ns(), instance->group),
		.mode = instance->mode,
		/* Not the table's reference, and not that of the caller. */
		.files = max_t(int, refcount_read(&instance->users) - 2, 0),
	};
	struct eventlog_text text = eventlog_batch_text(batch, sizeof(info));

	eventlog_domain_lock(&instance->domain);
	info.events = instance->domain.live;
	info.subscribers = instance->domain.subscriber_count;
	eventlog_domain_unlock(&instance->domain);
	eventlog_batch_string(&text, instance->name);
	return eventlog_batch_put(batch, &info, sizeof(info), &text);
}

static int eventlog_instances_fill(struct eventlog_batch *batch, struct eventlog_domain *domain,
				   struct file *filp, const struct eventlog_list *request)
{
	struct eventlog_instance *instance;
	bool fits = true;

	if (!domain->id && !eventlog_capable(domain, filp))
		return -EPERM;
	if (batch->cursor > U32_MAX)
		return 0;
	while (fits) {
		instance = eventlog_instance_after(domain, batch->cursor);
		if (!instance)
			return 0;
		fits = eventlog_instance_put_info(batch, instance);
		if (fits)
			batch->cursor = instance->domain.id;
		eventlog_instance_put(instance);
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 1;
}

static const struct eventlog_list_ops eventlog_instances_list = {
	.fill = eventlog_instances_fill,
};

static int eventlog_ioctl_instance_open(struct eventlog_domain *domain, struct file *filp,
					void *argument, void __user *user)
{
	struct eventlog_instance_open *request = argument;
	struct eventlog_instance *instance;
	int ret;

	if (request->flags)
		return -EINVAL;
	if (!domain->id && request->id && !eventlog_capable(domain, filp))
		return -EPERM;
	if (!eventlog_file_read_write(filp))
		return -EBADF;
	if (eventlog_leave_lingers())
		return -ESHUTDOWN;
	if (!domain->id && !request->id)
		return eventlog_instance_install(domain, domain, user, request, sizeof(*request),
						 &request->fd);
	if (domain->id && request->id && request->id != domain->id)
		return -ENOENT;
	instance = eventlog_instance_get(domain->id ?: request->id);
	if (!instance)
		return domain->id ? -ENODEV : -ENOENT;
	ret = eventlog_instance_install(&instance->domain, domain, user, request,
					sizeof(*request), &request->fd);
	eventlog_instance_put(instance);
	return ret;
}

static const struct eventlog_ioctl eventlog_instance_table[] = {
	EVENTLOG_IOCTL(INSTANCE_CREATE, eventlog_instance_create, fd,
		       eventlog_ioctl_instance_create),
	EVENTLOG_IOCTL(INSTANCE_DELETE, eventlog_instance_delete, id,
		       eventlog_ioctl_instance_delete),
	EVENTLOG_IOCTL(INSTANCE_OPEN, eventlog_instance_open, fd, eventlog_ioctl_instance_open),
};

const struct eventlog_ioctls eventlog_instance_ioctls = {
	.ioctls = eventlog_instance_table,
	.count = ARRAY_SIZE(eventlog_instance_table),
	.kinds = { [EVENTLOG_LIST_INSTANCES] = &eventlog_instances_list },
};

/* ---- leaving ---- */

void eventlog_instances_leave(u32 flags)
{
	struct eventlog_instance *instance;
	u32 id = 0;

	mutex_lock(&eventlog_instances_lock);
	eventlog_instances_leaving = flags;
	mutex_unlock(&eventlog_instances_lock);
	while ((instance = eventlog_instance_after(eventlog_instances_root, id))) {
		id = instance->domain.id;
		eventlog_domain_leave(&instance->domain, flags);
		eventlog_instance_put(instance);
		cond_resched();
	}
}

bool eventlog_instances_await(void)
{
	struct eventlog_instance *instance;
	bool await = false;
	u32 id = 0;

	while (!await && (instance = eventlog_instance_after(eventlog_instances_root, id))) {
		id = instance->domain.id;
		await = eventlog_domain_awaits(&instance->domain);
		eventlog_instance_put(instance);
		cond_resched();
	}
	return await;
}

/* ---- sessions ---- */

static void eventlog_instances_tell(struct work_struct *work)
{
	struct eventlog_instance *instance;
	u32 id = 0;

	while ((instance = eventlog_instance_after(eventlog_instances_root, id))) {
		id = instance->domain.id;
		eventlog_threads_tell(&instance->domain);
		eventlog_instance_put(instance);
		cond_resched();
	}
	/* Those of instances that still had the bit. */
	eventlog_threads_forget();
}

static DECLARE_WORK(eventlog_instances_tell_work, eventlog_instances_tell);

void eventlog_instances_sessions(void)
{
	queue_work(system_unbound_wq, &eventlog_instances_tell_work);
}

/* ---- life ---- */

int eventlog_instances_init(struct eventlog_domain *root, unsigned int instances_max,
			    void (*empty)(struct eventlog_domain *domain))
{
	int ret;

	eventlog_instances_root = root;
	eventlog_instances_max = instances_max;
	eventlog_instances_empty = empty;
	/* What others have kept of instances of an earlier load does not fit those of this one. */
	eventlog_minor_next = get_random_u32() % EVENTLOG_MINORS;
	eventlog_instances_last = get_random_u32() % EVENTLOG_INSTANCES_FIRST;
	ret = alloc_chrdev_region(&eventlog_instances_first, 0, EVENTLOG_MINORS, "eventlog");
	if (ret)
		return ret;
	ret = class_register(&eventlog_instance_class);
	if (ret)
		goto err_region;
	cdev_init(&eventlog_instances_cdev, &eventlog_file_operations);
	eventlog_instances_cdev.owner = THIS_MODULE;
	ret = cdev_add(&eventlog_instances_cdev, eventlog_instances_first, EVENTLOG_MINORS);
	if (ret)
		goto err_class;
	return 0;

err_class:
	class_unregister(&eventlog_instance_class);
err_region:
	unregister_chrdev_region(eventlog_instances_first, EVENTLOG_MINORS);
	return ret;
}

void eventlog_instances_exit(void)
{
	struct eventlog_instance *instance;
	unsigned long id;

	cancel_work_sync(&eventlog_instances_tell_work);
	xa_for_each(&eventlog_instances, id, instance)
		eventlog_instance_delete(id);
	/* eventlog_node_release() is part of the module. */
	wait_var_event(&eventlog_nodes, !atomic_read(&eventlog_nodes));
	xa_destroy(&eventlog_instances);
	xa_destroy(&eventlog_minors);
	cdev_del(&eventlog_instances_cdev);
	class_unregister(&eventlog_instance_class);
	unregister_chrdev_region(eventlog_instances_first, EVENTLOG_MINORS);
}
