/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: events whose functions eventlog-gen makes from a schema.
 *
 * Programs call the generated functions. These call what is here.
 */
#ifndef ELOG_TYPED_H
#define ELOG_TYPED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "elog/producer.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct elog_typed_event - an event in the memory of the program
 * @status: the byte whose lowest bit is set if the event may be enabled; never NULL
 * @event: the registered event, or NULL
 * @schema: the schema that describes the event
 *
 * The generated header defines it. The library changes @status and @event.
 */
struct elog_typed_event {
	const unsigned char *status;
	struct elog_event *event;
	const char *schema;
};

/**
 * elog_typed_event_enabled() - test whether the event has a subscriber
 * @event: the event
 *
 * Loads the address of the byte, and the byte, and tests it. May be called from anywhere,
 * signal handlers included, and before the event is registered.
 *
 * Return: true if the program should write the event. True also if the library should
 * try to connect; elog_typed_event_ready() does that.
 */
static inline bool elog_typed_event_enabled(const struct elog_typed_event *event)
{
	const unsigned char *status = __atomic_load_n(&event->status, __ATOMIC_RELAXED);

	return __builtin_expect(ELOG_STATUS_TEST(status, EVENTLOG_STATUS_ENABLED), 0);
}

/**
 * elog_typed_event_noticed() - test whether an event with attribute has anything to do
 * @event: the event; its attribute is start or end
 *
 * The same test as elog_typed_event_enabled(), of two bits: also true while there is a listener
 * to the provider sched, because the event then begins or ends a session of the thread.
 *
 * Return: true if the program should call the rest of the event's function.
 */
static inline bool elog_typed_event_noticed(const struct elog_typed_event *event)
{
	const unsigned char *status = __atomic_load_n(&event->status, __ATOMIC_RELAXED);

	return __builtin_expect(ELOG_STATUS_TEST(status, EVENTLOG_STATUS_ENABLED |
						 EVENTLOG_STATUS_SESSION), 0);
}

/**
 * elog_typed_event_ready() - the rest of the test, for an event that is enabled
 * @event: the event
 *
 * Tries to connect if the producer is not connected, or to register the event if a limit
 * was reached, at most once a second.
 *
 * Return: true if the program should write the event.
 */
bool elog_typed_event_ready(const struct elog_typed_event *event);

/**
 * elog_typed_events_register() - register events
 * @producer: the producer
 * @events: the events
 * @count: elements of @events
 *
 * If one of them fails, none is registered. An event for which a limit is reached does not
 * fail, see elog_event_register().
 *
 * Return: 0 or as elog_event_register_schema(); -EBUSY an event is registered already.
 */
int elog_typed_events_register(struct elog_producer *producer,
			       struct elog_typed_event *const *events, unsigned int count);

/**
 * elog_typed_events_unregister() - unregister events
 * @events: the events; no thread may be writing one of them
 * @count: elements of @events
 *
 * The events may be tested during this call and afterwards. Call it before
 * elog_producer_close().
 */
void elog_typed_events_unregister(struct elog_typed_event *const *events, unsigned int count);

/**
 * elog_typed_event_write() - write an event
 * @event: the event
 * @session: session, 0 for none
 * @iov: the payload, from the second element on; the library uses the first one
 * @count: elements of @iov, at most 1024
 * @size: bytes of the payload, from elog_part_string() and elog_part_bytes()
 *
 * Return: as elog_event_write().
 */
int elog_typed_event_write(const struct elog_typed_event *event, uint64_t session,
			   struct iovec *iov, unsigned int count, size_t size);

/**
 * elog_typed_event_begin() - the thread works on a session from now on
 * @event: an event with the attribute start, enabled or not
 * @session: the session; 0: does nothing
 *
 * For generated functions; elog_event(3) says when events do so. Does nothing unless there is a
 * listener to the provider sched. May be called in signal handlers. Preserves errno.
 */
void elog_typed_event_begin(const struct elog_typed_event *event, uint64_t session);

/**
 * elog_typed_event_end() - the thread goes on with what it worked on before
 * @event: an event with the attribute end, enabled or not
 * @session: that of elog_typed_event_begin(); does nothing if it was not in this thread
 */
void elog_typed_event_end(const struct elog_typed_event *event, uint64_t session);

/**
 * elog_part_bytes() - let a part of a payload refer to bytes
 * @part: set
 * @data: the bytes; may be NULL if @size is 0
 * @size: bytes of @data
 * @end: bytes of the payload so far; advanced by @size
 *
 * Return: the field's word in the fixed part.
 */
static inline uint32_t elog_part_bytes(struct iovec *part, const void *data, size_t size,
				       size_t *end)
{
	uint32_t offset = *end & 0xffff, bytes = EVENTLOG_PAYLOAD_MAX + 1;

	/* A larger size is too large for an event, like this one. */
	if (size < bytes)
		bytes = size & 0xffffffffU;
	/* Without a cast, of which C++ compilers warn. */
	memcpy(&part->iov_base, &data, sizeof(data));
	part->iov_len = bytes;
	*end += bytes;
	return bytes << 16 | offset;
}

/**
 * elog_part_string() - let a part of a payload refer to a string
 * @part: set
 * @string: a string; NULL is shown as (null)
 * @end: bytes of the payload so far; advanced by the string with its NUL
 *
 * Return: the field's word in the fixed part.
 */
static inline uint32_t elog_part_string(struct iovec *part, const char *string, size_t *end)
{
	if (!string)
		string = "(null)";
	return elog_part_bytes(part, string, strlen(string) + 1, end);
}

/**
 * elog_part_chars() - fill a char[@size] field
 * @to: the field
 * @string: a string, truncated to @size bytes, or padded with NULs; NULL is empty
 * @size: the field's size
 */
static inline void elog_part_chars(char *to, const char *string, size_t size)
{
	size_t length = string ? strlen(string) : 0;

	if (length > size)
		length = size;
	if (length)
		memcpy(to, string, length);
	memset(to + length, 0, size - length);
}

#ifdef __cplusplus
}
#endif

#endif /* ELOG_TYPED_H */
