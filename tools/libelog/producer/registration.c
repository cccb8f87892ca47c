// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The registrations of a producer's events: see registration.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "elog_marker.h"
#include "producer/leave.h"
#include "producer/registration.h"
#include "producer/status_map.h"
#include "util/port.h"
#include "util/struct.h"
#include "util/util.h"

/* The status of other events that are not registered. */
static const unsigned char never_byte;
static const uint32_t no_generation;

static void point_to(struct registered_event *event, const unsigned char *status)
{
	__atomic_store_n(&event->event.status, status, __ATOMIC_RELEASE);
	if (event->follower)
		__atomic_store_n(event->follower, status, __ATOMIC_RELEASE);
}

/* ---- with the kernel ---- */

/* What the kernel assumes of the handlers of a marker, now and at first. */
#define HANDLERS(now, first) ((uint32_t)((now) | (first) << 8))
#define HANDLERS_ASSUMED HANDLERS(ELOG_MARKER_TRACE, ELOG_MARKER_TRACE)

static void report_handlers(int fd, const struct registered_event *event)
{
	struct eventlog_marker_handlers request = {
		.size = sizeof(request),
		.write_index = event->write_index,
		.handlers = event->handlers & 0xff,
		.defaults = event->handlers >> 8,
	};

	/* Only listings need it. */
	elog_port_call(fd, EVENTLOG_IOC_MARKER_HANDLERS, &request);
}

static int request_event(int fd, const struct registered_event *event, const char *command,
			 struct eventlog_register *request)
{
	memset(request, 0, sizeof(*request));
	request->size = sizeof(*request);
	request->flags = event->flags | EVENTLOG_REGISTER_SESSION;
	request->command = (uintptr_t)command;
	request->provider = (uintptr_t)event->provider;
	request->keywords = event->keywords;
	request->level = event->level;
	return elog_port_call(fd, EVENTLOG_IOC_REGISTER, request);
}

static int register_event(int fd, struct registered_event *event,
			  struct eventlog_register *request)
{
	int ret = request_event(fd, event, event->command, request);

	/* A kernel that does not know the attribute refuses the schema. */
	if (ret == -EINVAL && event->plain)
		ret = request_event(fd, event, event->plain, request);
	if (ret)
		return ret;
	event->status_offset = request->status_offset;
	__atomic_store_n(&event->write_index, request->write_index,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&event->descriptor, request->descriptor,
			 __ATOMIC_RELAXED);
	/* After the index: see elog_event_filter_key(). */
	__atomic_fetch_add(&event->incarnation, 1, __ATOMIC_RELEASE);
	if (event->handlers && event->handlers != HANDLERS_ASSUMED)
		report_handlers(fd, event);
	return 0;
}

static void unregister_event(int fd, uint32_t write_index)
{
	struct eventlog_unregister request = {
		.size = sizeof(request),
		.write_index = write_index,
	};

	/* This fails only for an event that is not registered. */
	elog_port_call(fd, EVENTLOG_IOC_UNREGISTER, &request);
}

/* Let the event's status point to the byte that the kernel returned. */
static int publish(struct elog_producer *producer, int fd,
		   struct registered_event *event,
		   const struct eventlog_register *request)
{
	int ret = elog_status_map(producer, fd, request);

	if (!ret && event->status_offset >= producer->map_size)
		ret = -EPROTO;
	if (ret)
		return ret;
	/* The map is page-aligned and starts with the generation. */
	__atomic_store_n(&event->generation, (const uint32_t *)(void *)producer->status_map,
			 __ATOMIC_RELEASE);
	point_to(event, producer->status_map + event->status_offset);
	return 0;
}

/* May the kernel register the event later, when others have ended, or the device is back? */
static bool is_temporary(const struct registered_event *event, int error)
{
	/* The maker of a persistent event may exit at once, so report the error. */
	return (error == -EDQUOT || error == -ENOSPC || error == -ESHUTDOWN) &&
	       !(event->flags & EVENTLOG_REGISTER_PERSIST);
}

int elog_event_register_locked(struct elog_producer *producer, struct registered_event *event)
{
	struct eventlog_register request;
	const int fd = producer_file(producer);
	int ret = register_event(fd, event, &request);

	if (!ret) {
		ret = publish(producer, fd, event, &request);
		if (ret)
			unregister_event(fd, event->write_index);
	}
	/* An engine that has ended, as a module that is being replaced. */
	if ((ret == -ENODEV || ret == -ETIMEDOUT || ret == -EAGAIN) && elog_port_gone(fd))
		ret = -ESHUTDOWN;
	if (ret)
		point_to(event, is_temporary(event, ret) ? &elog_status_maybe : &never_byte);
	__atomic_store_n(&event->error, ret, __ATOMIC_RELAXED);
	return ret;
}

void elog_events_disable(struct elog_producer *producer)
{
	struct registered_event *event;

	for (event = producer->events; event; event = event->next)
		point_to(event, &elog_status_maybe);
}

void elog_events_forget(struct elog_producer *producer)
{
	struct registered_event *event;

	for (event = producer->events; event; event = event->next) {
		__atomic_store_n(&event->generation, &no_generation, __ATOMIC_RELEASE);
		/* On another file, another event may have this number. */
		__atomic_store_n(&event->write_index, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&event->descriptor, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&event->error, -ENOTCONN, __ATOMIC_RELAXED);
	}
}

/* ---- the list ---- */

static void free_event(struct registered_event *event)
{
	free(event->provider);
	free(event->command);
	free(event->plain);
	free(event);
}

void elog_events_free(struct elog_producer *producer)
{
	struct registered_event *event, *next;

	for (event = producer->events; event; event = next) {
		next = event->next;
		if (event->typed) {
			point_to(event, &never_byte);
			event->typed->event = NULL;
		}
		free_event(event);
	}
}

/*
 * An event that fails is disabled and in no list. An event that may be registered later does
 * not fail.
 */
static int enlist(struct registered_event *event)
{
	struct elog_producer *producer = event->producer;
	int cancel = elog_producer_lock(producer), ret = 0;

	elog_producer_check(producer);
	if (is_connected(producer)) {
		ret = elog_event_register_locked(producer, event);
		if (ret == -ESHUTDOWN)
			elog_leave_locked(producer);
		if (is_temporary(event, ret))
			ret = 0;
	} else {
		__atomic_store_n(&event->error, -ENOTCONN, __ATOMIC_RELAXED);
		point_to(event, &elog_status_maybe);
	}
	if (!ret) {
		event->next = producer->events;
		producer->events = event;
	}
	elog_producer_lock_end(producer, cancel);
	return ret;
}

static const char *const attributes[] = {
	[EVENTLOG_ATTRIBUTE_START] = " start",
	[EVENTLOG_ATTRIBUTE_END] = " end",
};

/*
 * Where the attribute of a schema's event is, with the space before it; NULL: there is none.
 * @number: set to EVENTLOG_ATTRIBUTE_*
 */
static const char *find_attribute(const char *schema, unsigned int *number)
{
	const char *at = strstr(schema, "\nevent ");
	unsigned int words, i;
	size_t size;

	/* "event", id, name, level, keywords */
	for (words = 0; at && words < 5; words++)
		at = *at == ' ' || *at == '\n' ? at + 1 + strcspn(at + 1, " \n") : NULL;
	for (i = 1; at && i < ELOG_ARRAY_SIZE(attributes); i++) {
		size = strlen(attributes[i]);
		*number = i;
		/* Only a description may follow, or the kernel has another reason. */
		if (!strncmp(at, attributes[i], size) &&
		    (at[size] == '\n' || !strncmp(at + size, " \"", 2)))
			return at;
	}
	return NULL;
}

/* The providers of a few sessions in one thread rarely have the same. */
static uint32_t hash_provider(const char *schema)
{
	const char *at = strstr(schema, "\nprovider ");
	uint32_t hash = 2166136261U;

	for (at = at ? at + strlen("\nprovider ") : ""; *at && *at != '\n' && *at != ' '; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619U;
	return hash;
}

/*
 * Looks for an attribute. Prepares what old kernels take then: a signal handler that registers
 * cannot allocate.
 */
static int read_attribute(struct registered_event *event)
{
	const char *attribute = find_attribute(event->command, &event->attribute);
	size_t size;
	char *at;

	if (!attribute) {
		event->attribute = 0;
		return 0;
	}
	event->schema_provider = hash_provider(event->command);
	size = strlen(attributes[event->attribute]);
	event->plain = strdup(event->command);
	if (!event->plain)
		return -ENOMEM;
	at = event->plain + (attribute - event->command);
	memmove(at, at + size, strlen(at + size) + 1);
	return 0;
}

static struct registered_event *new_event(struct elog_producer *producer, const char *provider,
					  const char *command, unsigned int flags)
{
	struct registered_event *event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	event->producer = producer;
	event->place = producer->rings.place;
	event->generation = &no_generation;
	event->flags = flags;
	event->command = strdup(command);
	if (provider)
		event->provider = strdup(provider);
	if (!event->command || (provider && !event->provider) ||
	    (flags & EVENTLOG_REGISTER_SCHEMA && read_attribute(event))) {
		free_event(event);
		return NULL;
	}
	return event;
}

/* A new event that fails is freed. */
static int enlist_new(struct registered_event *event, struct elog_event **result)
{
	int ret = enlist(event);

	if (ret) {
		free_event(event);
		return ret;
	}
	*result = &event->event;
	return 0;
}

int elog_event_register(struct elog_producer *producer, const char *provider,
			const char *command, unsigned int level,
			uint64_t keywords, unsigned int flags,
			struct elog_event **result)
{
	struct registered_event *event;

	/* The other function is for schemas. */
	if (flags & EVENTLOG_REGISTER_SCHEMA)
		return -EINVAL;
	event = new_event(producer, provider, command, flags);
	if (!event)
		return -ENOMEM;
	event->keywords = keywords;
	event->level = level;
	return enlist_new(event, result);
}

int elog_event_register_schema(struct elog_producer *producer, const char *schema,
			       unsigned int flags, struct elog_event **result)
{
	struct registered_event *event;

	event = new_event(producer, NULL, schema, flags | EVENTLOG_REGISTER_SCHEMA);
	return event ? enlist_new(event, result) : -ENOMEM;
}

static int register_typed(struct elog_producer *producer, struct elog_typed_event *typed)
{
	struct registered_event *event;
	struct elog_event *result;
	int ret;

	if (typed->event)
		return -EBUSY;
	event = new_event(producer, NULL, typed->schema, EVENTLOG_REGISTER_SCHEMA);
	if (!event)
		return -ENOMEM;
	/* First: who sees that the event is enabled uses it. */
	__atomic_store_n(&typed->event, &event->event, __ATOMIC_RELEASE);
	event->typed = typed;
	event->follower = &typed->status;
	ret = enlist_new(event, &result);
	if (ret)
		__atomic_store_n(&typed->event, NULL, __ATOMIC_RELAXED);
	return ret;
}

int elog_typed_events_register(struct elog_producer *producer,
			       struct elog_typed_event *const *events, unsigned int count)
{
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = register_typed(producer, events[i]);
		if (ret) {
			elog_typed_events_unregister(events, i);
			return ret;
		}
	}
	return 0;
}

void elog_typed_events_unregister(struct elog_typed_event *const *events, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		elog_event_unregister(events[i]->event);
		__atomic_store_n(&events[i]->event, NULL, __ATOMIC_RELAXED);
	}
}

void elog_event_retire(struct elog_event *event)
{
	struct registered_event *gone = registered(event), **link;
	struct elog_producer *producer = gone->producer;
	uint32_t write_index;
	int cancel;

	cancel = elog_producer_lock(producer);
	for (link = &producer->events; *link != gone; link = &(*link)->next)
		;
	*link = gone->next;
	point_to(gone, &never_byte);
	gone->follower = NULL;
	__atomic_store_n(&gone->descriptor, 0, __ATOMIC_RELAXED);
	/*
	 * Another event may get this number. If a thread does not leave its emission, the
	 * event stays registered until the file is closed.
	 */
	if (is_connected(producer) && !gone->error && elog_rings_quiesce(&producer->rings, 100)) {
		write_index = __atomic_exchange_n(&gone->write_index, 0, __ATOMIC_SEQ_CST);
		unregister_event(producer_file(producer), write_index);
	}
	__atomic_store_n(&gone->error, -ENOTCONN, __ATOMIC_RELAXED);
	elog_producer_lock_end(producer, cancel);
}

int elog_event_revive(struct elog_event *event)
{
	return enlist(registered(event));
}

void elog_event_unregister(struct elog_event *event)
{
	if (!event)
		return;
	elog_event_retire(event);
	free_event(registered(event));
}

int elog_event_error(const struct elog_event *event)
{
	return __atomic_load_n(&registered(event)->error, __ATOMIC_RELAXED);
}

uint32_t elog_event_descriptor(const struct elog_event *event)
{
	return __atomic_load_n(&registered(event)->descriptor,
			       __ATOMIC_RELAXED);
}

/* ---- markers ---- */

void elog_event_follow(struct elog_event *event, const unsigned char **follower)
{
	struct elog_producer *producer = registered(event)->producer;

	pthread_mutex_lock(&producer->lock);
	registered(event)->follower = follower;
	point_to(registered(event), event->status);
	pthread_mutex_unlock(&producer->lock);
}

void elog_event_report_handlers(struct elog_event *event, unsigned int handlers,
				unsigned int defaults)
{
	struct registered_event *marker = registered(event);
	uint32_t new = HANDLERS(handlers, defaults);
	bool changed;

	pthread_mutex_lock(&marker->producer->lock);
	changed = new != (marker->handlers ? marker->handlers : HANDLERS_ASSUMED);
	marker->handlers = new;
	if (changed && is_connected(marker->producer) && !marker->error)
		report_handlers(producer_file(marker->producer), marker);
	pthread_mutex_unlock(&marker->producer->lock);
}

uint64_t elog_event_filter_key(const struct elog_event *event)
{
	const struct registered_event *marker = registered(event);
	const uint32_t *generation = __atomic_load_n(&marker->generation, __ATOMIC_ACQUIRE);

	/* Who sees the new number asks the kernel with the new index. */
	return (uint64_t)__atomic_load_n(&marker->incarnation, __ATOMIC_ACQUIRE) << 32 |
	       __atomic_load_n(generation, __ATOMIC_RELAXED);
}

int elog_event_filter_get(const struct elog_event *event, struct eventlog_filter_get *request)
{
	struct elog_producer *producer = registered(event)->producer;
	int error = errno, ret = -ENOTCONN, fd = -1;
	struct writer_slot *slot;

	request->size = sizeof(*request);
	slot = begin_call(producer);
	if (is_connected(producer)) {
		request->write_index = __atomic_load_n(&registered(event)->write_index,
						       __ATOMIC_RELAXED);
		fd = producer_file(producer);
		ret = elog_port_call(fd, EVENTLOG_IOC_FILTER_GET, request);
	}
	end_call(slot);
	if (ret == -EBADF && fd < 0)
		elog_producer_lost(producer);
	errno = error;
	return ret;
}
