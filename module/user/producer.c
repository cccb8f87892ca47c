// SPDX-License-Identifier: GPL-2.0-only
/*
 * Producers: see producer.h.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "compat.h"
#include "core/domain.h"
#include "core/emit.h"
#include "core/event.h"
#include "core/expression.h"
#include "core/ioctl.h"
#include "core/leave.h"
#include "core/ops.h"
#include "core/tables.h"
#include "core/user.h"
#include "memory.h"
#include "user/file.h"
#include "user/mapped.h"
#include "user/producer.h"
#include "user/registrations.h"
#include "user/session.h"
#include "user/visible.h"

/* Messages up to this are copied to the stack. */
#define EVENTLOG_STACK_MESSAGE 512

/* Publishes the registration of an index to writers, or NULL; the lock is held. */
static void eventlog_registration_publish(struct eventlog_file *file, u32 write_index,
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

static unsigned int eventlog_registrations_max;

void eventlog_producer_init(unsigned int registrations_max)
{
	eventlog_registrations_max = registrations_max;
}

/* ---- registrations ---- */

static void eventlog_registration_free(struct eventlog_file *file,
				       struct eventlog_registration *registration)
{
	eventlog_registrant_put(registration->registrant);
	eventlog_event_unregister(registration->event, &registration->use);
	eventlog_user_uncharge(file->user, EVENTLOG_QUOTA_REGISTRATIONS, 1);
	call_rcu(&registration->rcu, eventlog_registration_free_rcu);
}

/*
 * Makes a registration of a parsed command: gets the event and reserves an index,
 * which no writer can use yet.
 */
static struct eventlog_registration *
eventlog_registration_new(struct eventlog_file *file, struct eventlog_register *request,
			  const char *provider, struct eventlog_fields *fields)
{
	struct eventlog_event_request event_request = {
		.domain = file->domain, .provider = provider, .fields = fields,
		.level = request->level, .keywords = request->keywords,
	};
	struct eventlog_registration *registration;
	struct eventlog_registrant *registrant;
	struct eventlog_event *event;
	int ret;

	registration = eventlog_alloc(sizeof(*registration));
	registrant = eventlog_alloc(sizeof(*registrant));
	ret = -ENOMEM;
	if (!registration || !registrant)
		goto err_free;
	registration->session = request->flags & EVENTLOG_REGISTER_SESSION;
	registration->handlers = EVENTLOG_MARKER_TRACE;
	registration->defaults = EVENTLOG_MARKER_TRACE;
	registration->use.user = file->user;

	mutex_lock(&file->lock);
	ret = -EBUSY;
	if (file->role == EVENTLOG_ROLE_SUBSCRIBER)
		goto err_unlock;
	ret = -EMFILE;
	if (file->registration_count >= eventlog_registrations_max)
		goto err_unlock;
	ret = eventlog_producer_enlist(file);
	if (ret)
		goto err_unlock;
	ret = -EDQUOT;
	if (!eventlog_user_charge(file->user, EVENTLOG_QUOTA_REGISTRATIONS, 1))
		goto err_unlock;
	ret = xa_alloc(&file->registrations, &request->write_index, NULL, XA_LIMIT(1, S32_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_uncharge;

	event = eventlog_event_register(&event_request, &registration->use);
	if (IS_ERR(event)) {
		ret = PTR_ERR(event);
		goto err_release;
	}
	registration->event = event;
	registration->registrant = eventlog_registrant_get(registrant, event, file->uid);
	file->registration_count++;
	request->descriptor = event->descriptor;
	request->status_offset = event->slot;
	request->map_offset = 0;
	request->map_size = file->domain->status_map_bytes;
	mutex_unlock(&file->lock);
	return registration;

err_release:
	xa_release(&file->registrations, request->write_index);
err_uncharge:
	eventlog_user_uncharge(file->user, EVENTLOG_QUOTA_REGISTRATIONS, 1);
err_unlock:
	mutex_unlock(&file->lock);
err_free:
	eventlog_free(registrant);
	eventlog_free(registration);
	return ERR_PTR(ret);
}

/* Publishes a registration after its index was copied out; the file is a producer now. */
static int eventlog_registration_confirm(struct eventlog_file *file,
					 struct eventlog_registration *registration,
					 const struct eventlog_register *request)
{
	int ret;

	mutex_lock(&file->lock);
	ret = eventlog_file_role_set(file, EVENTLOG_ROLE_PRODUCER);
	if (!ret) {
		/* Cannot fail: the index is reserved. */
		xa_store(&file->registrations, request->write_index, registration, GFP_KERNEL);
		eventlog_registration_publish(file, request->write_index, registration);
		if (request->flags & EVENTLOG_REGISTER_PERSIST) {
			eventlog_domain_lock(file->domain);
			eventlog_event_persist(registration->event);
			eventlog_domain_unlock(file->domain);
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

/* Providers that belong to the kernel's user_events. */
static bool eventlog_provider_is_reserved(const char *name)
{
	return !strcmp(name, "user_events") || !strcmp(name, "user_events_multi");
}

/* Makes a registration of the schema that is the request's command. */
static struct eventlog_registration *
eventlog_schema_register(struct eventlog_file *file, struct eventlog_register *request)
{
	struct eventlog_registration *registration;
	const struct eventlog_tables *tables;
	struct eventlog_fields fields;
	char *text;
	int ret;

	text = eventlog_string_get(request->command, EVENTLOG_SCHEMA_MAX);
	if (IS_ERR(text))
		return ERR_CAST(text);
	ret = eventlog_tables_parse(text, &fields);
	kfree(text);
	if (ret)
		return ERR_PTR(ret);
	tables = fields.tables;
	registration = ERR_PTR(-EPERM);
	if (!eventlog_provider_is_reserved(tables->provider.name)) {
		request->level = tables->event.level;
		request->keywords = tables->event.keywords;
		registration = eventlog_registration_new(file, request, tables->provider.name,
							 &fields);
	}
	eventlog_fields_free(&fields);
	return registration;
}

/* Makes a registration of a command. */
static struct eventlog_registration *
eventlog_command_register(struct eventlog_file *file, struct eventlog_register *request)
{
	struct eventlog_registration *registration;
	struct eventlog_fields fields;
	char *command, *provider;
	int ret;

	command = eventlog_string_get(request->command, EVENTLOG_COMMAND_MAX);
	if (IS_ERR(command))
		return ERR_CAST(command);
	provider = eventlog_name_get(request->provider);
	if (IS_ERR(provider)) {
		registration = ERR_CAST(provider);
		goto out_command;
	}
	registration = ERR_PTR(-EINVAL);
	if (!eventlog_name_valid(provider))
		goto out_provider;
	registration = ERR_PTR(-EPERM);
	if (eventlog_provider_is_reserved(provider))
		goto out_provider;
	ret = eventlog_fields_parse(command, true, &fields);
	registration = ERR_PTR(ret);
	if (ret)
		goto out_provider;
	registration = eventlog_registration_new(file, request, provider, &fields);
	eventlog_fields_free(&fields);
out_provider:
	kfree(provider);
out_command:
	kfree(command);
	return registration;
}

static bool eventlog_register_valid(const struct eventlog_register *request)
{
	if (request->flags & ~(EVENTLOG_REGISTER_PERSIST | EVENTLOG_REGISTER_SESSION |
			       EVENTLOG_REGISTER_SCHEMA) ||
	    request->level > EVENTLOG_LEVEL_VERBOSE || request->reserved)
		return false;
	return !(request->flags & EVENTLOG_REGISTER_SCHEMA) ||
	       !(request->provider || request->keywords || request->level);
}

static int eventlog_ioctl_register(struct eventlog_domain *domain, struct file *filp,
				   void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_registration *registration;
	struct eventlog_register *request = argument;
	int ret;

	if (!eventlog_register_valid(request))
		return -EINVAL;
	if (!eventlog_file_read_write(filp))
		return -EBADF;
	if (eventlog_file_role(file) == EVENTLOG_ROLE_SUBSCRIBER)
		return -EBUSY;
	if (request->flags & EVENTLOG_REGISTER_PERSIST && !eventlog_capable(domain, filp))
		return -EPERM;
	if (eventlog_domain_asks(domain, EVENTLOG_LEAVE_PRODUCERS))
		return -ESHUTDOWN;
	if (!request->level)
		request->level = EVENTLOG_LEVEL_INFO;

	if (request->flags & EVENTLOG_REGISTER_SCHEMA)
		registration = eventlog_schema_register(file, request);
	else
		registration = eventlog_command_register(file, request);
	if (IS_ERR(registration))
		return PTR_ERR(registration);
	ret = eventlog_argument_put(user, request, sizeof(*request)) ?:
	      eventlog_registration_confirm(file, registration, request);
	if (ret)
		eventlog_registration_cancel(file, registration, request->write_index);
	return ret;
}

static int eventlog_ioctl_unregister(struct eventlog_domain *domain, struct file *filp,
				     void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_registration *registration;
	struct eventlog_unregister *request = argument;

	if (eventlog_file_role(file) == EVENTLOG_ROLE_SUBSCRIBER)
		return -EBUSY;
	/* What was emitted with the index so far is still delivered. */
	if (eventlog_mapped_drain(file))
		return -EINTR;
	mutex_lock(&file->lock);
	/* Without a registration, a REGISTER in progress may have reserved the index. */
	registration = xa_load(&file->registrations, request->write_index);
	if (registration) {
		eventlog_registration_publish(file, request->write_index, NULL);
		xa_erase(&file->registrations, request->write_index);
		file->registration_count--;
	}
	mutex_unlock(&file->lock);
	if (!registration)
		return -ENOENT;
	eventlog_registration_free(file, registration);
	return 0;
}

/* ---- FILTER_GET ---- */

/* Bytes from one term to the next that a caller may choose. */
#define EVENTLOG_TERM_STRIDE_MAX 256

/* A pid or tid of the namespace @from, as the caller would compare it. */
static u64 eventlog_pid_translate(u64 number, struct pid_namespace *from)
{
	struct pid_namespace *namespace = task_active_pid_ns(current);
	pid_t translated = 0;

	if (namespace == from)
		return number;
	if (number <= INT_MAX) {
		rcu_read_lock();
		translated = pid_nr_ns(find_pid_ns(number, from), namespace);
		rcu_read_unlock();
	}
	return translated ?: U32_MAX;
}

/*
 * Copies a filter to the caller, whose sizes are in @room.  Fills longer terms with zeroes.
 * -E2BIG: a shorter term would lack something that is set.
 */
static int eventlog_filter_put(const struct eventlog_filter_get *room,
			       const struct eventlog_policy_filter *filter)
{
	static const u8 zeroes[EVENTLOG_TERM_STRIDE_MAX];
	const struct eventlog_expression *expression = filter->expression;
	size_t bytes = min_t(size_t, room->term_size, sizeof(struct eventlog_term));
	unsigned int i;
	int ret;

	if (room->terms_size < expression->terms.count * room->term_size ||
	    room->pool_size < expression->terms.pool_size)
		return -EMSGSIZE;
	for (i = 0; i < expression->terms.count; i++) {
		struct eventlog_term term = expression->array[i];
		u64 user = room->terms + (u64)i * room->term_size;

		if (filter->pids & 1ULL << i) {
			term.number = eventlog_pid_translate(term.number, expression->pids);
			/* The other number may not be 0 or 1, which a bool must be. */
			term.flags &= ~EVENTLOG_TERM_BOOL;
		}
		if (memchr_inv((const u8 *)&term + bytes, 0, sizeof(term) - bytes))
			return -E2BIG;
		ret = eventlog_text_put(user, (const char *)&term, bytes) ?:
		      eventlog_text_put(user + bytes, zeroes, room->term_size - bytes);
		if (ret)
			return ret;
	}
	return eventlog_text_put(room->pool, expression->terms.pool, expression->terms.pool_size);
}

/* Gets the filter of an index, or marks it as incompatible. */
static int eventlog_filter_find(struct eventlog_file *file, struct eventlog_filter_get *request,
				struct eventlog_policy_filter *filter)
{
	struct eventlog_domain *domain = file->domain;
	struct eventlog_registration *registration;
	int ret = -ENOENT;

	mutex_lock(&file->lock);
	registration = xa_load(&file->registrations, request->write_index);
	if (registration) {
		eventlog_domain_lock(domain);
		ret = 0;
		if (request->flags & EVENTLOG_FILTER_GET_INCOMPATIBLE)
			ret = eventlog_policy_ops->incompatible(registration->event,
								request->version);
		else
			eventlog_policy_ops->filter(registration->event, filter);
		request->generation = eventlog_domain_generation(domain);
		eventlog_domain_unlock(domain);
	}
	mutex_unlock(&file->lock);
	return ret;
}

static bool eventlog_filter_get_valid(const struct eventlog_filter_get *request)
{
	if (request->flags)
		return request->flags == EVENTLOG_FILTER_GET_INCOMPATIBLE && request->version;
	return request->term_size >= EVENTLOG_TERM_SIZE_MIN &&
	       request->term_size <= EVENTLOG_TERM_STRIDE_MAX;
}

static int eventlog_ioctl_filter_get(struct eventlog_domain *domain, struct file *filp,
				     void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_filter_get *request = argument;
	const struct eventlog_filter_get room = *request;
	struct eventlog_policy_filter filter = {};
	int ret;

	if (!eventlog_filter_get_valid(request))
		return -EINVAL;
	if (eventlog_file_role(file) == EVENTLOG_ROLE_SUBSCRIBER)
		return -EBUSY;
	ret = eventlog_filter_find(file, request, &filter);
	if (ret || request->flags)
		return ret;
	request->version = filter.version;
	request->handlers = filter.handlers;
	request->term_count = filter.expression ? filter.expression->terms.count : 0;
	request->terms_size = request->term_count * room.term_size;
	request->pool_size = filter.expression ? filter.expression->terms.pool_size : 0;
	if (filter.expression)
		ret = eventlog_filter_put(&room, &filter);
	if (ret != -EFAULT)
		ret = eventlog_argument_put(user, request, sizeof(*request)) ?: ret;
	eventlog_expression_put(filter.expression);
	return ret;
}

/* ---- MARKER_HANDLERS ---- */

#define EVENTLOG_REGISTRATION_HANDLERS \
	(EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_TRACE | EVENTLOG_MARKER_PROBE)

static int eventlog_ioctl_marker_handlers(struct eventlog_domain *domain, struct file *filp,
					  void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_registration *registration;
	struct eventlog_marker_handlers *request = argument;

	if ((request->handlers | request->defaults) & ~EVENTLOG_REGISTRATION_HANDLERS)
		return -EINVAL;
	if (eventlog_file_role(file) == EVENTLOG_ROLE_SUBSCRIBER)
		return -EBUSY;
	mutex_lock(&file->lock);
	registration = xa_load(&file->registrations, request->write_index);
	if (registration) {
		WRITE_ONCE(registration->handlers, request->handlers);
		WRITE_ONCE(registration->defaults, request->defaults);
	}
	mutex_unlock(&file->lock);
	return registration ? 0 : -ENOENT;
}

static const struct eventlog_ioctl eventlog_producer_table[] = {
	EVENTLOG_IOCTL(REGISTER, eventlog_register, map_size, eventlog_ioctl_register),
	EVENTLOG_IOCTL(UNREGISTER, eventlog_unregister, write_index, eventlog_ioctl_unregister),
	EVENTLOG_IOCTL(FILTER_GET, eventlog_filter_get, generation, eventlog_ioctl_filter_get),
	EVENTLOG_IOCTL(MARKER_HANDLERS, eventlog_marker_handlers, defaults,
		       eventlog_ioctl_marker_handlers),
};

const struct eventlog_ioctls eventlog_producer_ioctls = {
	.ioctls = eventlog_producer_table,
	.count = ARRAY_SIZE(eventlog_producer_table),
};

void eventlog_producer_release(struct eventlog_file *file)
{
	struct eventlog_registration *registration;
	unsigned long write_index;

	eventlog_producer_delist(file);
	xa_for_each(&file->registrations, write_index, registration) {
		eventlog_registration_free(file, registration);
		cond_resched();
	}
	xa_destroy(&file->registrations);
}

/* ---- write() ---- */

/* Counts an event whose payload is not valid, for @error.  Under RCU. */
static noinline int eventlog_message_invalid(const struct eventlog_event *event, int error)
{
	eventlog_emit_invalid(event, NULL);
	return error;
}

/*
 * Finds the target of a write_index, and checks that it is enabled and that a message
 * of @bytes may be that long.  Counts a message that may not.  Under RCU.
 *
 * Return: 0, or the errno that write() returns.
 */
static __always_inline int eventlog_message_target(struct eventlog_file *file, u32 write_index,
						   size_t bytes, unsigned long *target)
{
	size_t payload_bytes = bytes - sizeof(write_index);
	const struct eventlog_event *event;

	if (write_index > S32_MAX)
		return -EINVAL;
	*target = eventlog_target_find(file, write_index);
	if (!*target)
		return -ENOENT;
	event = eventlog_target_event(*target);
	if (!rcu_access_pointer(event->listeners))
		return READ_ONCE(file->domain->dead) ? -ENODEV : -EBADF;
	if (*target & EVENTLOG_TARGET_SESSION) {
		if (payload_bytes < sizeof(u64))
			return eventlog_message_invalid(event, -EINVAL);
		payload_bytes -= sizeof(u64);
	}
	if (payload_bytes > EVENTLOG_PAYLOAD_MAX)
		return eventlog_message_invalid(event, -E2BIG);
	return 0;
}

/* Emits the event of a message, a copy in kernel memory, after @latest unless it is NULL. */
static __always_inline int eventlog_message_emit(struct eventlog_file *file, const u8 *message,
						 size_t bytes, u64 *latest)
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
	if (unlikely(ret))
		ret = eventlog_message_invalid(event, ret);
	else if (latest)
		eventlog_emit_after(event, session, payload, bytes, latest);
	else
		eventlog_emit(event, session, payload, bytes);
out:
	rcu_read_unlock();
	return ret;
}

int eventlog_producer_emit(struct eventlog_file *file, const u8 *message, size_t bytes,
			   u64 *latest)
{
	return eventlog_message_emit(file, message, bytes, latest);
}

/* Emits the event of a message, drains a ring, or sets the thread's session. */
static __always_inline int eventlog_message_handle(struct eventlog_file *file, const u8 *message,
						   size_t bytes)
{
	const u32 write_index = get_unaligned((const u32 *)message);

	if (unlikely(write_index == EVENTLOG_WRITE_KICK))
		return eventlog_mapped_kick(file, message, bytes);
	if (unlikely(write_index == EVENTLOG_WRITE_SESSION))
		return eventlog_session_write(file, message, bytes);
	return eventlog_message_emit(file, message, bytes, NULL);
}

/*
 * Checks a message of @bytes, of which only the index was copied, before memory is
 * allocated for it.
 *
 * Return: 0, or the errno that write() returns.
 */
static int eventlog_message_check(struct eventlog_file *file, u32 write_index, size_t bytes)
{
	unsigned long target;
	int ret;

	if (write_index == EVENTLOG_WRITE_KICK)
		return bytes > EVENTLOG_KICK_MAX ? -E2BIG : 0;
	if (write_index == EVENTLOG_WRITE_SESSION)
		return bytes != sizeof(struct eventlog_write_session) ? -EINVAL : 0;
	rcu_read_lock();
	ret = eventlog_message_target(file, write_index, bytes, &target);
	rcu_read_unlock();
	return ret;
}

/* Handles a message of @bytes that is large, or cannot be read, except for its index. */
static int eventlog_message_copy(struct eventlog_file *file, u32 write_index, size_t bytes,
				 struct iov_iter *from)
{
	u8 *message;
	int ret;

	/* Check that the event is enabled before copying. */
	ret = eventlog_message_check(file, write_index, bytes);
	if (ret)
		return ret;
	message = kvmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!message)
		return -ENOMEM;
	memcpy(message, &write_index, sizeof(write_index));
	ret = -EFAULT;
	if (copy_from_iter_full(message + sizeof(write_index), bytes - sizeof(write_index), from))
		ret = eventlog_message_handle(file, message, bytes);
	kvfree(message);
	return ret;
}

/* Emits the next event of a batch.  @small: memory for EVENTLOG_STACK_MESSAGE bytes. */
static int eventlog_batch_next(struct eventlog_file *file, struct iov_iter *from, u8 *small,
			       u32 *bytes)
{
	u32 write_index;
	int ret;

	if (iov_iter_count(from) < sizeof(*bytes) + sizeof(write_index))
		return -EINVAL;
	if (!copy_from_iter_full(bytes, sizeof(*bytes), from) ||
	    !copy_from_iter_full(&write_index, sizeof(write_index), from))
		return -EFAULT;
	if (*bytes < sizeof(write_index) ||
	    *bytes - sizeof(write_index) > iov_iter_count(from) || write_index > S32_MAX)
		return -EINVAL;
	if (*bytes > EVENTLOG_STACK_MESSAGE) {
		ret = eventlog_message_copy(file, write_index, *bytes, from);
	} else {
		memcpy(small, &write_index, sizeof(write_index));
		if (!copy_from_iter_full(small + sizeof(write_index),
					 *bytes - sizeof(write_index), from))
			return -EFAULT;
		ret = eventlog_message_emit(file, small, *bytes, NULL);
	}
	return ret;
}

/*
 * Emits the events of a batch, each of them whole or not at all, up to the first one that
 * fails.  An event that is not enabled is skipped: the program cannot know it in advance.
 * @from is after EVENTLOG_WRITE_BATCH.
 *
 * Return: the size of what was handled, with EVENTLOG_WRITE_BATCH; or the errno of the
 * first event.
 */
static noinline ssize_t eventlog_batch_emit(struct eventlog_file *file, struct iov_iter *from,
					    u8 *small)
{
	size_t done = sizeof(u32);
	u32 bytes;
	int ret;

	do {
		const size_t left = iov_iter_count(from);

		ret = eventlog_batch_next(file, from, small, &bytes);
		if (ret == -EBADF) {
			iov_iter_advance(from, sizeof(bytes) + bytes -
					       (left - iov_iter_count(from)));
			ret = 0;
		}
		if (ret)
			break;
		done += sizeof(bytes) + bytes;
		cond_resched();
	} while (iov_iter_count(from) && !fatal_signal_pending(current));
	return done > sizeof(u32) ? done : ret;
}

ssize_t eventlog_producer_write_iter(struct kiocb *kiocb, struct iov_iter *from)
{
	struct eventlog_file *file = kiocb->ki_filp->private_data;
	size_t bytes = iov_iter_count(from);
	/* Not initialized, which takes longer than copying; only copied bytes are read. */
	u8 small[EVENTLOG_STACK_MESSAGE] __uninitialized;
	u32 write_index;

	if (eventlog_file_role(file) != EVENTLOG_ROLE_PRODUCER || bytes < sizeof(write_index))
		return -EINVAL;
	if (bytes <= sizeof(small) && copy_from_iter_full(small, bytes, from)) {
		write_index = get_unaligned((const u32 *)small);
		if (likely(write_index != EVENTLOG_WRITE_BATCH))
			return eventlog_message_handle(file, small, bytes) ?: bytes;
		iov_iter_revert(from, bytes - sizeof(write_index));
	} else if (!copy_from_iter_full(&write_index, sizeof(write_index), from)) {
		return -EFAULT;
	}
	if (write_index == EVENTLOG_WRITE_BATCH)
		return eventlog_batch_emit(file, from, small);
	return eventlog_message_copy(file, write_index, bytes, from) ?: bytes;
}
