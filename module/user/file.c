// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device: files, their roles, and what user space may ask of them.
 *
 * A file's role is set once, under eventlog_file.lock, and read with an acquire
 * load; what belongs to the role is complete before it is set and stays until
 * the file is released.  Registrations are an xarray: changed under the lock,
 * read by writers under RCU.  The lock is never held where user memory is
 * touched by an ioctl: mmap() comes here with mmap_lock held.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/user_namespace.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "user/file.h"
#include "core/domain.h"
#include "core/emit.h"
#include "core/enable.h"
#include "core/event.h"
#include "marker/marker.h"
#include "memory.h"
#include "core/filter.h"
#include "core/schema.h"
#include "user/status.h"
#include "core/subscriber.h"
#include "marker/policy.h"

/* Messages up to this are copied to the stack. */
#define EVENTLOG_STACK_MESSAGE 512

/* Write indices below this are found without a look into the xarray. */
#define EVENTLOG_FIRST_INDICES 32

enum eventlog_role {
	ROLE_NONE,
	ROLE_PRODUCER,
	ROLE_SUBSCRIBER,
};

/**
 * struct eventlog_file - an open /dev/eventlog
 * @domain: what it opens
 * @lock: see the top of the file
 * @role: enum eventlog_role
 * @registrations: of a producer, by write_index
 * @first: what writers look at for the lowest indices, which most producers' all
 *	are: their targets, 0: none; RCU
 * @registration_count: their number
 * @subscriber: of a subscriber
 * @status: snapshot that read() goes through
 * @status_bytes: its size
 */
struct eventlog_file {
	struct eventlog_domain *domain;
	struct mutex lock;
	int role;
	struct xarray registrations;
	unsigned long first[EVENTLOG_FIRST_INDICES];
	unsigned int registration_count;
	struct eventlog_subscriber *subscriber;
	char *status;
	size_t status_bytes;
};

/**
 * struct eventlog_registration - what a write_index stands for
 * @event: alive while the registration is, and an RCU grace period longer
 * @session: a session precedes the payload
 * @rcu: frees it
 */
struct eventlog_registration {
	struct eventlog_event *event;
	bool session;
	struct rcu_head rcu;
};

/*
 * A target: what a write_index stands for in one word, so that a writer is at the
 * event in one load.  A pointer to that and, in the lowest bit, whether a session
 * precedes the payload.
 */
#define EVENTLOG_TARGET_SESSION 1UL

static unsigned long eventlog_registration_target(const struct eventlog_registration *registration)
{
	return (unsigned long)registration->event |
	       (registration->session ? EVENTLOG_TARGET_SESSION : 0);
}

static __always_inline struct eventlog_event *eventlog_target_event(unsigned long target)
{
	return (struct eventlog_event *)(target & ~EVENTLOG_TARGET_SESSION);
}

/* The target of an index, or 0; under RCU, as the event then is. */
static __always_inline unsigned long eventlog_target_find(struct eventlog_file *file,
							  u32 write_index)
{
	struct eventlog_registration *registration;

	/* Ordered by the dependency, as rcu_dereference() is. */
	if (likely(write_index < EVENTLOG_FIRST_INDICES))
		return READ_ONCE(file->first[array_index_nospec(write_index,
								EVENTLOG_FIRST_INDICES)]);
	registration = xa_load(&file->registrations, write_index);
	return registration ? eventlog_registration_target(registration) : 0;
}

/* Lets writers find a registration by its index, or, if NULL, none; the lock is held. */
static void eventlog_registration_show(struct eventlog_file *file, u32 write_index,
				       struct eventlog_registration *registration)
{
	lockdep_assert_held(&file->lock);
	if (write_index < EVENTLOG_FIRST_INDICES)
		smp_store_release(&file->first[write_index],
				  registration ? eventlog_registration_target(registration) : 0);
}

static void eventlog_registration_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_registration, rcu));
}

static struct eventlog_domain *eventlog_root;
static unsigned int eventlog_rules_limit;
static unsigned int eventlog_registrations_limit;

static enum eventlog_role eventlog_file_role(const struct eventlog_file *file)
{
	return smp_load_acquire(&file->role);
}

static struct eventlog_subscriber *eventlog_file_subscriber(const struct eventlog_file *file)
{
	return eventlog_file_role(file) == ROLE_SUBSCRIBER ? file->subscriber : NULL;
}

/* The opener's rights count, not the caller's: an open file can be handed on. */
static bool eventlog_file_capable(struct file *filp)
{
	return file_ns_capable(filp, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(filp, &init_user_ns, CAP_SYS_ADMIN);
}

static bool eventlog_file_read_write(const struct file *filp)
{
	return (filp->f_mode & (FMODE_READ | FMODE_WRITE)) == (FMODE_READ | FMODE_WRITE);
}

/* ---- arguments ---- */

/* Copies in an ioctl struct that begins with its own size. */
static int eventlog_argument_get(void *argument, size_t bytes, const void __user *user)
{
	u32 user_bytes;
	int ret;

	if (get_user(user_bytes, (const u32 __user *)user))
		return -EFAULT;
	if (user_bytes < 2 * sizeof(u32))
		return -EINVAL;
	if (user_bytes > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(argument, bytes, user, user_bytes);
	/* The size that was checked, whatever another thread has written there since. */
	*(u32 *)argument = user_bytes;
	return ret;
}

/*
 * Copies results out, up to the size the caller gave and with that size as
 * first member; what it has beyond ours reads as zero.
 */
static int eventlog_argument_put(void __user *user, const void *argument, size_t bytes)
{
	u32 user_bytes = *(const u32 *)argument;

	if (copy_to_user(user, argument, min_t(size_t, bytes, user_bytes)))
		return -EFAULT;
	if (user_bytes > bytes && clear_user(user + bytes, user_bytes - bytes))
		return -EFAULT;
	return 0;
}

/* A string of the caller's, of at most @room bytes with its NUL; E2BIG when longer. */
static char *eventlog_string_get(u64 user, size_t room)
{
	char *text;

	/* On a 32-bit kernel, or for a 32-bit process, no address is that high. */
	if (user != (unsigned long)user)
		return ERR_PTR(-EFAULT);
	text = strndup_user(u64_to_user_ptr(user), room);
	return text == ERR_PTR(-EINVAL) ? ERR_PTR(-E2BIG) : text;
}

/* Likewise, with a text of ours for a pointer of 0. */
static char *eventlog_string_get_or(u64 user, size_t room, const char *otherwise)
{
	char *text;

	if (user)
		return eventlog_string_get(user, room);
	text = kstrdup(otherwise, GFP_KERNEL_ACCOUNT);
	return text ?: ERR_PTR(-ENOMEM);
}

/* A name that is too long is a bad name. */
static char *eventlog_name_get(u64 user)
{
	char *name = eventlog_string_get_or(user, EVENTLOG_NAME_MAX, EVENTLOG_DEFAULT_PROVIDER);

	return name == ERR_PTR(-E2BIG) ? ERR_PTR(-EINVAL) : name;
}

/* ---- ioctls of any file ---- */

static int eventlog_ioctl_version(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_version *version = argument;

	version->abi = EVENTLOG_ABI_VERSION;
	version->features = EVENTLOG_FEATURE_OVERWRITE | EVENTLOG_FEATURE_PAUSE |
			    EVENTLOG_FEATURE_MARKERS;
	version->ring_bytes_max = EVENTLOG_RING_BYTES_MAX;
	version->payload_max = EVENTLOG_PAYLOAD_MAX;
	version->command_max = EVENTLOG_COMMAND_MAX;
	version->events_max = file->domain->events_max;
	version->subscribers_max = file->domain->subscribers_max;
	version->rules_max = eventlog_rules_limit;
	version->registrations_max = eventlog_registrations_limit;
	memset(version->release, 0, sizeof(version->release));
	strscpy(version->release, EVENTLOG_RELEASE, sizeof(version->release));
	return eventlog_argument_put(user, version, sizeof(*version));
}

static int eventlog_ioctl_delete(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_delete *request = argument;
	char *provider, *event;
	int ret;

	if (request->flags)
		return -EINVAL;
	if (!eventlog_file_capable(filp))
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
	if (eventlog_provider_name_valid(provider) && eventlog_fields_name_valid(event)) {
		mutex_lock(&file->domain->lock);
		ret = eventlog_event_delete(file->domain, provider, event);
		mutex_unlock(&file->domain->lock);
	}
	kfree(event);
out:
	kfree(provider);
	return ret;
}

static u32 eventlog_event_state(const struct eventlog_event *event)
{
	u32 state = 0;
	u8 handlers;

	if (event->slot)
		state |= EVENTLOG_DESCRIBED_LIVE;
	if (rcu_access_pointer(event->wanted))
		state |= EVENTLOG_DESCRIBED_ENABLED;
	if (event->persistent)
		state |= EVENTLOG_DESCRIBED_PERSIST;
	handlers = eventlog_wishes_state(event);
	if (handlers & EVENTLOG_MARKER_PRINT)
		state |= EVENTLOG_DESCRIBED_PRINT;
	if (handlers & EVENTLOG_MARKER_PROBE)
		state |= EVENTLOG_DESCRIBED_PROBE;
	return state;
}

/* A pointer of user space's may have more bits than this kernel's have. */
static int eventlog_array_get(void *to, u64 user, size_t bytes)
{
	if (user != (unsigned long)user || copy_from_user(to, u64_to_user_ptr(user), bytes))
		return -EFAULT;
	return 0;
}

static int eventlog_text_put(u64 user, const char *text, u32 bytes)
{
	if (user != (unsigned long)user || copy_to_user(u64_to_user_ptr(user), text, bytes))
		return -EFAULT;
	return 0;
}

static int eventlog_ioctl_describe(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_domain *domain = file->domain;
	struct eventlog_describe *request = argument;
	struct eventlog_event *event;
	unsigned long descriptor;
	u32 text_bytes;
	char *text;
	int ret;

	if (request->flags & ~EVENTLOG_DESCRIBE_NEXT)
		return -EINVAL;

	mutex_lock(&domain->lock);
	descriptor = request->descriptor;
	if (request->flags & EVENTLOG_DESCRIBE_NEXT)
		event = xa_find_after(&domain->definitions, &descriptor, U32_MAX, XA_PRESENT);
	else
		event = xa_load(&domain->definitions, descriptor);
	if (!event) {
		mutex_unlock(&domain->lock);
		return -ENOENT;
	}
	text = eventlog_schema_text(event, &text_bytes);
	if (text && request->text_size >= text_bytes) {
		request->descriptor = event->descriptor;
		request->state = eventlog_event_state(event);
		request->provider_id = event->provider->id;
	}
	mutex_unlock(&domain->lock);
	if (!text)
		return -ENOMEM;

	ret = 0;
	if (request->text_size < text_bytes)
		ret = -EMSGSIZE;
	else
		ret = eventlog_text_put(request->text, text, text_bytes);
	eventlog_free(text);
	if (ret == -EFAULT)
		return ret;
	request->text_size = text_bytes;
	return eventlog_argument_put(user, request, sizeof(*request)) ?: ret;
}

/* The marker whose event has the lowest descriptor above one; the domain is locked. */
static struct eventlog_marker *eventlog_marker_after(struct eventlog_domain *domain,
						     struct eventlog_event **event,
						     unsigned long descriptor)
{
	while ((*event = xa_find_after(&domain->definitions, &descriptor, U32_MAX, XA_PRESENT))) {
		if ((*event)->source && (*event)->provider->kernel &&
		    (*event)->provider->kernel->markers)
			return container_of((*event)->source, struct eventlog_marker, event);
		cond_resched();
	}
	return NULL;
}

/*
 * The marker as MARKER_NEXT says it, and the four strings, for eventlog_free().
 * @predicate: room for that text, or NULL.
 */
static char *eventlog_marker_describe(const struct eventlog_event *event,
				      const struct eventlog_marker *marker,
				      struct eventlog_marker_next *request, char *predicate)
{
	const char *strings[] = {
		event->provider->kernel->owner->name, marker->tag, marker->path, marker->function,
	};
	size_t bytes = 0;
	unsigned int i;
	char *text, *to;

	for (i = 0; i < ARRAY_SIZE(strings); i++)
		bytes += strlen(strings[i]) + 1;
	text = eventlog_alloc(bytes);
	if (!text)
		return NULL;
	for (to = text, i = 0; i < ARRAY_SIZE(strings); i++)
		to += sprintf(to, "%s", strings[i]) + 1;
	if (request->text_size >= bytes) {
		request->descriptor = event->descriptor;
		request->id = marker->id;
		request->handlers = READ_ONCE(marker->handlers);
		request->defaults = marker->defaults;
		request->allowed = marker->allowed;
		request->active = READ_ONCE(marker->active) & EVENTLOG_MARKER_HANDLERS;
		request->line = marker->line;
		request->ordinal = marker->ordinal;
		request->unprinted = (unsigned long)atomic_long_read(&marker->unprinted);
		request->predicate_size = eventlog_marker_guard(marker, predicate,
								&request->rejected);
	}
	request->text_size = bytes;
	return text;
}

/* What the caller has given room for. */
static int eventlog_marker_tell(const struct eventlog_marker_next *request, const char *text,
				const char *predicate)
{
	int ret = eventlog_text_put(request->text, text, request->text_size);

	if (!ret && predicate)
		ret = eventlog_text_put(request->predicate, predicate, request->predicate_size);
	return ret;
}

static int eventlog_ioctl_marker_next(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_marker_next *request = argument;
	char *text = NULL, *predicate = NULL;
	u32 room = request->text_size;
	struct eventlog_marker *marker;
	struct eventlog_event *event;
	int ret;

	if (request->flags || request->reserved)
		return -EINVAL;
	if (!eventlog_file_capable(filp))
		return -EPERM;
	if (request->predicate) {
		predicate = eventlog_alloc(EVENTLOG_PREDICATE_MAX);
		if (!predicate)
			return -ENOMEM;
	}
	/* A marker whose handlers and predicate are being switched is not told half. */
	mutex_lock(&file->domain->update_lock);
	mutex_lock(&file->domain->lock);
	marker = eventlog_marker_after(file->domain, &event, request->descriptor);
	if (marker)
		text = eventlog_marker_describe(event, marker, request, predicate);
	mutex_unlock(&file->domain->lock);
	mutex_unlock(&file->domain->update_lock);
	ret = -ENOENT;
	if (!marker)
		goto out;
	ret = -ENOMEM;
	if (!text)
		goto out;

	ret = -EMSGSIZE;
	if (room >= request->text_size)
		ret = eventlog_marker_tell(request, text, predicate);
	if (ret != -EFAULT)
		ret = eventlog_argument_put(user, request, sizeof(*request)) ?: ret;
out:
	eventlog_free(text);
	eventlog_free(predicate);
	return ret;
}

/* A predicate of the caller's; NULL: there is none. */
static struct eventlog_expression *eventlog_expression_get(u64 terms, u32 count, u64 predicate)
{
	struct eventlog_expression *expression;
	char *text;
	int ret;

	if (!count)
		return terms || predicate ? ERR_PTR(-EINVAL) : NULL;
	if (count > EVENTLOG_TERMS_MAX)
		return ERR_PTR(-E2BIG);
	text = eventlog_string_get(predicate, EVENTLOG_PREDICATE_MAX);
	if (IS_ERR(text))
		return ERR_CAST(text);
	ret = -ENOMEM;
	expression = eventlog_expression_new();
	if (!expression)
		goto out;
	strscpy(expression->text, text, sizeof(expression->text));
	expression->count = count;
	ret = eventlog_array_get(expression->terms, terms, count * sizeof(*expression->terms)) ?:
	      eventlog_expression_check(expression);
out:
	kfree(text);
	if (!ret)
		return expression;
	eventlog_expression_put(expression);
	return ERR_PTR(ret);
}

static bool eventlog_marker_set_valid(const struct eventlog_marker_set *request)
{
	if (request->flags & ~EVENTLOG_MARKER_SET_ID ||
	    request->handlers & ~EVENTLOG_MARKER_HANDLERS ||
	    request->operation > EVENTLOG_MARKER_REPLACE ||
	    (request->id && !(request->flags & EVENTLOG_MARKER_SET_ID)))
		return false;
	/* A predicate of what is off. */
	return !request->term_count || request->operation == EVENTLOG_MARKER_ADD ||
	       (request->operation == EVENTLOG_MARKER_REPLACE && request->handlers);
}

static int eventlog_ioctl_marker_set(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_marker_set *request = argument;
	struct eventlog_expression *expression;
	char *module, *marker;
	int ret;

	if (!eventlog_marker_set_valid(request))
		return -EINVAL;
	if (!eventlog_file_capable(filp))
		return -EPERM;
	module = eventlog_string_get_or(request->module, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(module))
		return PTR_ERR(module);
	marker = eventlog_string_get_or(request->marker, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(marker)) {
		ret = PTR_ERR(marker);
		goto out_module;
	}
	expression = eventlog_expression_get(request->terms, request->term_count,
					     request->predicate);
	if (IS_ERR(expression)) {
		ret = PTR_ERR(expression);
		goto out_marker;
	}
	/* A caller that cannot be told changes nothing. */
	ret = eventlog_argument_put(user, request, sizeof(*request)) ?:
	      eventlog_markers_switch(module, marker, expression, request) ?:
	      eventlog_argument_put(user, request, sizeof(*request));
	eventlog_expression_put(expression);
out_marker:
	kfree(marker);
out_module:
	kfree(module);
	return ret;
}

static bool eventlog_marker_wish_valid(const struct eventlog_marker_wish *request)
{
	if (request->flags || !request->handlers ||
	    request->handlers & ~EVENTLOG_WISH_HANDLERS ||
	    request->operation > EVENTLOG_MARKER_REMOVE)
		return false;
	/* A predicate of what is off. */
	return !request->term_count || request->operation == EVENTLOG_MARKER_ADD;
}

static int eventlog_ioctl_marker_wish(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_marker_wish *request = argument;
	struct eventlog_expression *expression;
	char *program, *marker;
	int ret;

	if (!eventlog_marker_wish_valid(request))
		return -EINVAL;
	if (!eventlog_file_capable(filp))
		return -EPERM;
	program = eventlog_string_get_or(request->program, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(program))
		return PTR_ERR(program);
	marker = eventlog_string_get_or(request->marker, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(marker)) {
		ret = PTR_ERR(marker);
		goto out_program;
	}
	expression = eventlog_expression_get(request->terms, request->term_count,
					     request->predicate);
	if (IS_ERR(expression)) {
		ret = PTR_ERR(expression);
		goto out_marker;
	}
	/* A caller that cannot be told changes nothing. */
	ret = eventlog_argument_put(user, request, sizeof(*request)) ?:
	      eventlog_wish_add(file->domain, program, marker, expression, request) ?:
	      eventlog_argument_put(user, request, sizeof(*request));
	eventlog_expression_put(expression);
out_marker:
	kfree(marker);
out_program:
	kfree(program);
	return ret;
}

static int eventlog_ioctl_marker_wish_next(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_marker_wish_next *request = argument;
	const struct eventlog_program_wish *wish;
	u32 room = request->text_size;
	char *text;
	int ret;

	if (request->reserved)
		return -EINVAL;
	if (!eventlog_file_capable(filp))
		return -EPERM;
	text = eventlog_alloc(2 * EVENTLOG_GLOB_MAX + EVENTLOG_PREDICATE_MAX);
	if (!text)
		return -ENOMEM;
	mutex_lock(&file->domain->lock);
	wish = eventlog_wish_find(file->domain, request->index);
	if (wish) {
		request->handlers = wish->handlers;
		request->operation = wish->operation;
		request->text_size = eventlog_wish_text(wish, text);
	}
	mutex_unlock(&file->domain->lock);
	ret = -ENOENT;
	if (!wish)
		goto out;

	if (room < request->text_size)
		ret = -EMSGSIZE;
	else
		ret = eventlog_text_put(request->text, text, request->text_size);
	if (ret != -EFAULT)
		ret = eventlog_argument_put(user, request, sizeof(*request)) ?: ret;
out:
	eventlog_free(text);
	return ret;
}

/* ---- ioctls of producers ---- */

/*
 * Takes a role, the last step of REGISTER and SUBSCRIBE: nothing after it fails.
 * The lock is held; what belongs to the role is complete.
 */
static int eventlog_file_role_take(struct eventlog_file *file, enum eventlog_role role)
{
	if (file->role != ROLE_NONE && (file->role != role || role == ROLE_SUBSCRIBER))
		return -EBUSY;
	smp_store_release(&file->role, role);
	return 0;
}

static void eventlog_registration_free(struct eventlog_file *file,
				       struct eventlog_registration *registration)
{
	mutex_lock(&file->domain->lock);
	eventlog_event_put(registration->event);
	mutex_unlock(&file->domain->lock);
	call_rcu(&registration->rcu, eventlog_registration_free_rcu);
}

/*
 * Prepares a registration of a parsed command: the event is there, and an index
 * reserved that nobody can use yet.
 */
static struct eventlog_registration *
eventlog_registration_new(struct eventlog_file *file, struct eventlog_register *request,
			  const char *provider, struct eventlog_fields *fields)
{
	struct eventlog_domain *domain = file->domain;
	struct eventlog_registration *registration;
	struct eventlog_event *event;
	int ret;

	registration = eventlog_alloc(sizeof(*registration));
	if (!registration)
		return ERR_PTR(-ENOMEM);
	registration->session = request->flags & EVENTLOG_REGISTER_SESSION;

	mutex_lock(&file->lock);
	ret = -EBUSY;
	if (file->role == ROLE_SUBSCRIBER)
		goto err_unlock;
	ret = -EMFILE;
	if (file->registration_count >= eventlog_registrations_limit)
		goto err_unlock;
	ret = xa_alloc(&file->registrations, &request->write_index, NULL, XA_LIMIT(1, S32_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_unlock;

	mutex_lock(&domain->lock);
	event = eventlog_event_get(domain, provider, fields, request->level, request->keywords);
	mutex_unlock(&domain->lock);
	if (IS_ERR(event)) {
		ret = PTR_ERR(event);
		goto err_release;
	}
	registration->event = event;
	file->registration_count++;
	request->status_bit = eventlog_slot_status_bit(event->slot);
	request->sync_bit = eventlog_slot_sync_bit(event->slot);
	request->handlers_bit = eventlog_slot_handlers_bit(event->slot);
	request->asking_bit = eventlog_slot_asking_bit(event->slot);
	request->descriptor = event->descriptor;
	request->bitmap_size = domain->bitmap_bytes;
	request->bitmap_offset = 0;
	mutex_unlock(&file->lock);
	return registration;

err_release:
	xa_release(&file->registrations, request->write_index);
err_unlock:
	mutex_unlock(&file->lock);
	eventlog_free(registration);
	return ERR_PTR(ret);
}

/* A registration its user was told of comes into force, and the file is a producer. */
static int eventlog_registration_confirm(struct eventlog_file *file,
					 struct eventlog_registration *registration,
					 const struct eventlog_register *request)
{
	int ret;

	mutex_lock(&file->lock);
	ret = eventlog_file_role_take(file, ROLE_PRODUCER);
	if (!ret) {
		/* Needs no memory: the index is reserved. */
		xa_store(&file->registrations, request->write_index, registration, GFP_KERNEL);
		eventlog_registration_show(file, request->write_index, registration);
		if (request->flags & EVENTLOG_REGISTER_PERSIST) {
			mutex_lock(&file->domain->lock);
			eventlog_event_persist(registration->event);
			mutex_unlock(&file->domain->lock);
		}
	}
	mutex_unlock(&file->lock);
	return ret;
}

static void eventlog_registration_cancel(struct eventlog_file *file,
					 struct eventlog_registration *registration,
					 u32 write_index)
{
	mutex_lock(&file->lock);
	xa_release(&file->registrations, write_index);
	file->registration_count--;
	mutex_unlock(&file->lock);
	eventlog_registration_free(file, registration);
}

static int eventlog_ioctl_register(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_registration *registration;
	struct eventlog_register *request = argument;
	struct eventlog_fields fields;
	char *command, *provider;
	int ret;

	if (request->flags & ~(EVENTLOG_REGISTER_PERSIST | EVENTLOG_REGISTER_SESSION) ||
	    request->level > EVENTLOG_LEVEL_VERBOSE)
		return -EINVAL;
	if (!eventlog_file_read_write(filp))
		return -EBADF;
	if (eventlog_file_role(file) == ROLE_SUBSCRIBER)
		return -EBUSY;
	if (request->flags & EVENTLOG_REGISTER_PERSIST && !eventlog_file_capable(filp))
		return -EPERM;
	if (!request->level)
		request->level = EVENTLOG_LEVEL_INFO;

	command = eventlog_string_get(request->command, EVENTLOG_COMMAND_MAX);
	if (IS_ERR(command))
		return PTR_ERR(command);
	provider = eventlog_name_get(request->provider);
	if (IS_ERR(provider)) {
		ret = PTR_ERR(provider);
		goto out_command;
	}
	ret = -EINVAL;
	if (!eventlog_provider_name_valid(provider))
		goto out_provider;
	ret = eventlog_fields_parse(command, &fields);
	if (ret)
		goto out_provider;
	registration = eventlog_registration_new(file, request, provider, &fields);
	eventlog_fields_free(&fields);
	if (IS_ERR(registration)) {
		ret = PTR_ERR(registration);
		goto out_provider;
	}
	ret = eventlog_argument_put(user, request, sizeof(*request)) ?:
	      eventlog_registration_confirm(file, registration, request);
	if (ret)
		eventlog_registration_cancel(file, registration, request->write_index);
out_provider:
	kfree(provider);
out_command:
	kfree(command);
	return ret;
}

static int eventlog_ioctl_unregister(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_registration *registration;
	struct eventlog_unregister *request = argument;

	if (eventlog_file_role(file) == ROLE_SUBSCRIBER)
		return -EBUSY;
	mutex_lock(&file->lock);
	/* Not erased unseen: the index may be reserved by a REGISTER under way. */
	registration = xa_load(&file->registrations, request->write_index);
	if (registration) {
		eventlog_registration_show(file, request->write_index, NULL);
		xa_erase(&file->registrations, request->write_index);
		file->registration_count--;
	}
	mutex_unlock(&file->lock);
	if (!registration)
		return -ENOENT;
	eventlog_registration_free(file, registration);
	return 0;
}

/* Puts copies of these values, of the caller's strings, in their place. */
static int eventlog_ask_strings(u64 *values, u16 strings, char *texts)
{
	unsigned int i;

	for (i = 0; i < EVENTLOG_ASK_VALUES_MAX; i++) {
		char *text = texts + i * EVENTLOG_TERM_TEXT_MAX;

		if (!(strings & 1U << i) || !values[i])
			continue;
		/* Without a NUL it is longer than what it is compared with. */
		if (values[i] != (unsigned long)values[i] ||
		    strncpy_from_user(text, u64_to_user_ptr(values[i]),
				      EVENTLOG_TERM_TEXT_MAX) < 0)
			return -EFAULT;
		values[i] = (unsigned long)text;
	}
	return 0;
}

/* Asks for what the write_index stands for now; @strings: set to those it needs. */
static int eventlog_ask_target(struct eventlog_file *file, const struct eventlog_marker_ask *request,
			       const u64 *values, u16 *strings)
{
	const struct eventlog_event *event;
	unsigned long target = 0;
	int ret = -ENOENT;

	rcu_read_lock();
	preempt_disable();
	if (request->write_index <= S32_MAX)
		target = eventlog_target_find(file, request->write_index);
	if (target) {
		event = eventlog_target_event(target);
		ret = eventlog_wish_ask(event, values, request->value_count, *strings);
		*strings = eventlog_wish_strings(event);
	}
	preempt_enable();
	rcu_read_unlock();
	return ret;
}

static int eventlog_ioctl_marker_ask(struct file *filp, void *argument, void __user *user)
{
	u64 given[EVENTLOG_ASK_VALUES_MAX] = {}, values[EVENTLOG_ASK_VALUES_MAX];
	struct eventlog_file *file = filp->private_data;
	struct eventlog_marker_ask *request = argument;
	char *texts = NULL;
	u16 strings = 0;
	int ret;

	if (request->value_count > EVENTLOG_ASK_VALUES_MAX)
		return -EINVAL;
	if (eventlog_file_role(file) == ROLE_SUBSCRIBER)
		return -EBUSY;
	ret = eventlog_array_get(given, request->values, request->value_count * sizeof(*given));
	if (ret)
		return ret;
	/* Again when another predicate has come, or when the strings are not here yet. */
	do {
		memcpy(values, given, sizeof(values));
		if (strings && !texts)
			texts = eventlog_alloc(EVENTLOG_ASK_VALUES_MAX * EVENTLOG_TERM_TEXT_MAX);
		ret = strings && !texts ? -ENOMEM : eventlog_ask_strings(values, strings, texts);
		if (!ret)
			ret = eventlog_ask_target(file, request, values, &strings);
	} while (ret == -EAGAIN);
	eventlog_free(texts);
	if (ret < 0)
		return ret;
	request->handlers = ret;
	return eventlog_argument_put(user, request, sizeof(*request));
}

/* ---- ioctls of subscribers ---- */

static int eventlog_ioctl_subscribe(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_subscriber *subscriber;
	struct eventlog_subscribe *request = argument;
	int ret;

	if (!eventlog_file_read_write(filp))
		return -EBADF;
	if (!eventlog_file_capable(filp))
		return -EPERM;
	if (eventlog_file_role(file) != ROLE_NONE)
		return -EBUSY;
	subscriber = eventlog_subscriber_new(file->domain, request);
	if (IS_ERR(subscriber))
		return PTR_ERR(subscriber);

	/* Told before it is so: the role, once taken, cannot be given back. */
	ret = eventlog_argument_put(user, request, sizeof(*request));
	if (ret)
		goto err_free;
	mutex_lock(&file->lock);
	/* A REGISTER under way may still come to be: see its confirmation. */
	if (file->role == ROLE_NONE)
		file->subscriber = subscriber;
	ret = eventlog_file_role_take(file, ROLE_SUBSCRIBER);
	mutex_unlock(&file->lock);
	if (!ret)
		return 0;

err_free:
	eventlog_subscriber_free(subscriber);
	return ret;
}

static int eventlog_ioctl_rule_add(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);
	struct eventlog_rule *request = argument;
	char *provider, *event;
	int ret;

	if (!subscriber)
		return -EINVAL;
	provider = eventlog_string_get_or(request->provider, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(provider))
		return PTR_ERR(provider);
	event = eventlog_string_get_or(request->event, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(event)) {
		ret = PTR_ERR(event);
		goto out_provider;
	}
	ret = eventlog_subscriber_rule_add(subscriber, request, provider, event);
	if (ret)
		goto out_event;
	ret = eventlog_argument_put(user, request, sizeof(*request));
	if (ret)
		eventlog_subscriber_rule_delete(subscriber, request->rule_id);
out_event:
	kfree(event);
out_provider:
	kfree(provider);
	return ret;
}

static int eventlog_ioctl_rule_delete(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);
	struct eventlog_rule_delete *request = argument;

	if (!subscriber)
		return -EINVAL;
	return eventlog_subscriber_rule_delete(subscriber, request->rule_id);
}

static int eventlog_ioctl_flush(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);
	struct eventlog_flush *request = argument;
	u64 time;
	int ret;

	if (!subscriber || request->flags || request->reserved)
		return -EINVAL;
	ret = eventlog_subscriber_flush(subscriber, &time);
	if (ret)
		return ret;
	request->time = time;
	request->generation = READ_ONCE(subscriber->generation);
	return eventlog_argument_put(user, request, sizeof(*request));
}

static int eventlog_ioctl_pause(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);
	struct eventlog_pause *request = argument;

	if (!subscriber || request->paused > 1)
		return -EINVAL;
	eventlog_subscriber_pause(subscriber, request->paused);
	return 0;
}

static int eventlog_ioctl_stat(struct file *filp, void *argument, void __user *user)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);
	struct eventlog_stat *request = argument, stat = {};
	int ret;

	if (!subscriber || request->flags || request->reserved)
		return -EINVAL;
	stat.size = request->size;
	stat.cpu = request->cpu;
	stat.descriptor = request->descriptor;
	ret = eventlog_subscriber_stat(subscriber, &stat);
	if (ret)
		return ret;
	return eventlog_argument_put(user, &stat, sizeof(stat));
}

/* ---- file operations ---- */

/* Every ioctl's argument, as copied in and out. */
union eventlog_argument {
	struct eventlog_version version;
	struct eventlog_register registration;
	struct eventlog_unregister unregister;
	struct eventlog_delete delete;
	struct eventlog_subscribe subscribe;
	struct eventlog_rule rule;
	struct eventlog_rule_delete rule_delete;
	struct eventlog_flush flush;
	struct eventlog_stat stat;
	struct eventlog_describe describe;
	struct eventlog_pause pause;
	struct eventlog_marker_next marker_next;
	struct eventlog_marker_set marker_set;
	struct eventlog_marker_wish marker_wish;
	struct eventlog_marker_wish_next marker_wish_next;
	struct eventlog_marker_ask marker_ask;
};

#define EVENTLOG_CALL(name, type, function) \
	[_IOC_NR(EVENTLOG_IOC_##name)] = { sizeof(struct type), function }

static const struct {
	size_t bytes;
	int (*call)(struct file *filp, void *argument, void __user *user);
} eventlog_calls[] = {
	EVENTLOG_CALL(VERSION, eventlog_version, eventlog_ioctl_version),
	EVENTLOG_CALL(REGISTER, eventlog_register, eventlog_ioctl_register),
	EVENTLOG_CALL(UNREGISTER, eventlog_unregister, eventlog_ioctl_unregister),
	EVENTLOG_CALL(DELETE, eventlog_delete, eventlog_ioctl_delete),
	EVENTLOG_CALL(SUBSCRIBE, eventlog_subscribe, eventlog_ioctl_subscribe),
	EVENTLOG_CALL(RULE_ADD, eventlog_rule, eventlog_ioctl_rule_add),
	EVENTLOG_CALL(RULE_DEL, eventlog_rule_delete, eventlog_ioctl_rule_delete),
	EVENTLOG_CALL(FLUSH, eventlog_flush, eventlog_ioctl_flush),
	EVENTLOG_CALL(STAT, eventlog_stat, eventlog_ioctl_stat),
	EVENTLOG_CALL(DESCRIBE, eventlog_describe, eventlog_ioctl_describe),
	EVENTLOG_CALL(PAUSE, eventlog_pause, eventlog_ioctl_pause),
	EVENTLOG_CALL(MARKER_NEXT, eventlog_marker_next, eventlog_ioctl_marker_next),
	EVENTLOG_CALL(MARKER_SET, eventlog_marker_set, eventlog_ioctl_marker_set),
	EVENTLOG_CALL(MARKER_WISH, eventlog_marker_wish, eventlog_ioctl_marker_wish),
	EVENTLOG_CALL(MARKER_WISH_NEXT, eventlog_marker_wish_next,
		      eventlog_ioctl_marker_wish_next),
	EVENTLOG_CALL(MARKER_ASK, eventlog_marker_ask, eventlog_ioctl_marker_ask),
};

static long eventlog_ioctl(struct file *filp, unsigned int command, unsigned long user_address)
{
	void __user *user = (void __user *)user_address;
	union eventlog_argument argument;
	unsigned int number;
	int ret;

	/* The struct's own size counts, not the one in the number. */
	number = _IOC_NR(command);
	if (_IOC_TYPE(command) != EVENTLOG_IOC_TYPE || number >= ARRAY_SIZE(eventlog_calls))
		return -ENOTTY;
	number = array_index_nospec(number, ARRAY_SIZE(eventlog_calls));
	if (!eventlog_calls[number].call)
		return -ENOTTY;
	ret = eventlog_argument_get(&argument, eventlog_calls[number].bytes, user);
	return ret ?: eventlog_calls[number].call(filp, &argument, user);
}

/*
 * Finds what the write_index in front of a message of @bytes stands for, and
 * whether it may be that long.  Under RCU.
 *
 * Return: 0, or the errno that write() returns.
 */
static __always_inline int eventlog_message_target(struct eventlog_file *file, u32 write_index,
						   size_t bytes, unsigned long *target)
{
	size_t payload_bytes = bytes - sizeof(write_index);

	if (write_index > S32_MAX)
		return write_index == EVENTLOG_WRITE_BATCH ? -EOPNOTSUPP : -EINVAL;
	*target = eventlog_target_find(file, write_index);
	if (!*target)
		return -ENOENT;
	if (!rcu_access_pointer(eventlog_target_event(*target)->wanted))
		return -EBADF;
	if (*target & EVENTLOG_TARGET_SESSION) {
		if (payload_bytes < sizeof(u64))
			return -EINVAL;
		payload_bytes -= sizeof(u64);
	}
	return payload_bytes > EVENTLOG_PAYLOAD_MAX ? -E2BIG : 0;
}

/* Emits what the kernel's copy of a message says: write_index, session if any, payload. */
static __always_inline int eventlog_message_emit(struct eventlog_file *file, const u8 *message, size_t bytes)
{
	u32 write_index = get_unaligned((const u32 *)message);
	const u8 *payload = message + sizeof(write_index);
	const struct eventlog_event *event;
	unsigned long target;
	u64 session = 0;
	int ret;

	rcu_read_lock();
	ret = eventlog_message_target(file, write_index, bytes, &target);
	if (ret)
		goto out;
	event = eventlog_target_event(target);
	if (target & EVENTLOG_TARGET_SESSION) {
		session = get_unaligned((const u64 *)payload);
		payload += sizeof(session);
	}
	bytes -= payload - message;
	ret = eventlog_layout_validate(event->layout, payload, bytes);
	if (!ret)
		eventlog_emit(event, session, payload, bytes);
out:
	rcu_read_unlock();
	return ret;
}

static ssize_t eventlog_write_iter(struct kiocb *kiocb, struct iov_iter *from)
{
	struct eventlog_file *file = kiocb->ki_filp->private_data;
	size_t bytes = iov_iter_count(from);
	/* Clearing it first costs more than copying; only what was copied is looked at. */
	u8 small[EVENTLOG_STACK_MESSAGE] __uninitialized;
	unsigned long target;
	u32 write_index;
	u8 *message;
	int ret;

	if (eventlog_file_role(file) != ROLE_PRODUCER || bytes < sizeof(write_index))
		return -EINVAL;
	if (bytes <= sizeof(small) && copy_from_iter_full(small, bytes, from))
		return eventlog_message_emit(file, small, bytes) ?: bytes;

	/* Large, or not all of it readable: nothing is copied that is not wanted. */
	if (!copy_from_iter_full(&write_index, sizeof(write_index), from))
		return -EFAULT;
	rcu_read_lock();
	ret = eventlog_message_target(file, write_index, bytes, &target);
	rcu_read_unlock();
	if (ret)
		return ret;
	message = kvmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!message)
		return -ENOMEM;
	memcpy(message, &write_index, sizeof(write_index));
	ret = -EFAULT;
	if (copy_from_iter_full(message + sizeof(write_index), bytes - sizeof(write_index), from))
		ret = eventlog_message_emit(file, message, bytes);
	kvfree(message);
	return ret ?: bytes;
}

static ssize_t eventlog_read(struct file *filp, char __user *user, size_t bytes, loff_t *position)
{
	struct eventlog_file *file = filp->private_data;
	ssize_t ret;

	if (eventlog_file_role(file) != ROLE_NONE)
		return -EINVAL;
	mutex_lock(&file->lock);
	/* From the start: as things are now.  Further on: the text begun. */
	if (!*position || !file->status) {
		eventlog_free(file->status);
		file->status = eventlog_status_text(file->domain, &file->status_bytes);
	}
	ret = -ENOMEM;
	if (file->status)
		ret = simple_read_from_buffer(user, bytes, position, file->status,
					      file->status_bytes);
	mutex_unlock(&file->lock);
	return ret;
}

static __poll_t eventlog_poll(struct file *filp, struct poll_table_struct *table)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);

	return subscriber ? eventlog_subscriber_poll(subscriber, filp, table) : EPOLLERR;
}

static int eventlog_bitmap_mmap(struct eventlog_domain *domain, struct vm_area_struct *vma)
{
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != domain->bitmap_bytes)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	vm_flags_clear(vma, VM_MAYWRITE);
	return remap_vmalloc_range(vma, domain->bitmap, 0);
}

static int eventlog_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct eventlog_file *file = filp->private_data;
	enum eventlog_role role = eventlog_file_role(file);

	if (role == ROLE_NONE || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	vm_flags_clear(vma, VM_MAYEXEC);
	/* A child would keep pages mapped whose meaning is its parent's. */
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &eventlog_vm_ops;
	if (role == ROLE_PRODUCER)
		return eventlog_bitmap_mmap(file->domain, vma);
	return eventlog_subscriber_mmap(file->subscriber, vma);
}

static int eventlog_open(struct inode *inode, struct file *filp)
{
	struct eventlog_file *file = eventlog_alloc(sizeof(*file));

	if (!file)
		return -ENOMEM;
	file->domain = eventlog_root;
	mutex_init(&file->lock);
	xa_init_flags(&file->registrations, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	filp->private_data = file;
	return 0;
}

static int eventlog_release(struct inode *inode, struct file *filp)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_registration *registration;
	unsigned long write_index;

	if (file->subscriber)
		eventlog_subscriber_free(file->subscriber);
	xa_for_each(&file->registrations, write_index, registration) {
		eventlog_registration_free(file, registration);
		cond_resched();
	}
	xa_destroy(&file->registrations);
	eventlog_free(file->status);
	eventlog_free(file);
	return 0;
}

static const struct file_operations eventlog_file_operations = {
	.owner = THIS_MODULE,
	.open = eventlog_open,
	.release = eventlog_release,
	.read = eventlog_read,
	.write_iter = eventlog_write_iter,
	.poll = eventlog_poll,
	.unlocked_ioctl = eventlog_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = eventlog_mmap,
	.llseek = default_llseek,
};

static struct miscdevice eventlog_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "eventlog",
	.fops = &eventlog_file_operations,
};

int eventlog_device_init(struct eventlog_domain *domain, umode_t mode, unsigned int rules_max,
			 unsigned int registrations_max)
{
	eventlog_root = domain;
	eventlog_rules_limit = rules_max;
	eventlog_registrations_limit = registrations_max;
	eventlog_device.mode = mode;
	return misc_register(&eventlog_device);
}

void eventlog_device_exit(void)
{
	misc_deregister(&eventlog_device);
}
