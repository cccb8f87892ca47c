/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: producing events.
 */
#ifndef ELOG_PRODUCER_H
#define ELOG_PRODUCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <linux/eventlog.h>

#ifdef __cplusplus
extern "C" {
#endif

struct elog_producer;

/**
 * struct elog_event - an event registered by this process
 * @status: the byte that holds the event's bit
 * @mask: the bit in it
 *
 * Only elog_event_enabled() looks inside; the library may change both members
 * at any time.
 */
struct elog_event {
	const unsigned char *status;
	unsigned int mask;
};

/**
 * struct elog_producer_options - how to open a producer
 * @size: sizeof(struct elog_producer_options)
 * @flags: 0
 * @device: path of the device, or NULL for EVENTLOG_DEVICE
 */
struct elog_producer_options {
	uint32_t size;
	uint32_t flags;
	const char *device;
};

/**
 * elog_producer_open() - prepare to register and write events
 * @producer: set to the new producer
 * @options: NULL for the defaults
 *
 * Succeeds even when the kernel module is not there, or the device may not be
 * opened: every event then is disabled, and once a second at most, when one
 * of them is asked for, the library tries again (which costs an open(2); in
 * between a disabled event costs a read of the coarse clock). Nothing runs in
 * the background. elog_producer_connect() tells what is wrong.
 *
 * An open device pins the kernel module: see elog_producer_release().
 *
 * In the child of a fork() the producer is disconnected, and connects by
 * itself in the same way, at once, to a file of its own: what the child
 * registers, unregisters and writes does not touch its parent's. Processes
 * made by a bare clone(2) or _Fork(3), which run no pthread_atfork() handlers,
 * must not touch the producer at all.
 *
 * Return: 0, -EINVAL for unknown options, -ENOMEM.
 */
int elog_producer_open(struct elog_producer **producer,
		       const struct elog_producer_options *options);

/**
 * elog_producer_close() - unregister all events and free everything
 * @producer: may be NULL; neither it nor its events may be in use elsewhere
 */
void elog_producer_close(struct elog_producer *producer);

/**
 * elog_producer_connect() - connect now unless connected
 * @producer: the producer
 *
 * Return: 0 when connected, or what open(2) or the ioctls failed with (-ENOENT,
 * -ENXIO, -ENODEV: no module; -EACCES: no permission).
 */
int elog_producer_connect(struct elog_producer *producer);

/**
 * elog_producer_release() - give the device up for a while
 * @producer: the producer
 * @seconds: do not try to connect for that long; UINT_MAX: until
 *	elog_producer_connect() is called
 *
 * Waits for writers that are in the kernel, then closes the device and the
 * mapping of the status bits, so that the kernel module can be removed. All
 * events stay registered with the library, are disabled, and get registered
 * with the kernel again when the producer connects.
 *
 * Not for signal handlers, and not from inside one that interrupted a write:
 * set a flag and call it from the program's loop.
 */
void elog_producer_release(struct elog_producer *producer,
			   unsigned int seconds);

/**
 * elog_event_register() - register an event
 * @producer: the producer
 * @provider: the provider's name, or NULL for EVENTLOG_DEFAULT_PROVIDER
 * @command: "name [type field[;type field...]]", as linux/eventlog.h says
 * @level: enum eventlog_level, 0 for EVENTLOG_LEVEL_INFO
 * @keywords: mask of keywords
 * @flags: 0 or EVENTLOG_REGISTER_PERSIST
 * @event: set to the event, which belongs to the producer
 *
 * While the producer is disconnected nothing can be verified: the event is
 * kept and registered on connection, and elog_event_error() tells what the
 * kernel then said.
 *
 * Return: 0, -ENOMEM, or what EVENTLOG_IOC_REGISTER fails with, -EINVAL for a
 * malformed command above all.
 */
int elog_event_register(struct elog_producer *producer, const char *provider,
			const char *command, unsigned int level,
			uint64_t keywords, unsigned int flags,
			struct elog_event **event);

/**
 * elog_event_unregister() - give an event up
 * @event: freed; no thread may be using it. May be NULL
 */
void elog_event_unregister(struct elog_event *event);

/**
 * elog_event_error() - whether the kernel took the registration
 * @event: the event
 *
 * Return: 0 registered; -ENOTCONN not tried, for the producer is disconnected;
 * otherwise what EVENTLOG_IOC_REGISTER failed with.
 */
int elog_event_error(const struct elog_event *event);

/**
 * elog_event_descriptor() - the id that records of the event carry
 * @event: the event
 *
 * Return: the descriptor, for elog_device_describe(); 0 when unregistered.
 * Another one may hold after the producer has connected anew.
 */
uint32_t elog_event_descriptor(const struct elog_event *event);

/* The part of elog_event_enabled() that is not worth being inline. */
bool elog_event_enabled_slow(const struct elog_event *event);

/**
 * elog_event_enabled() - does anybody want the event?
 * @event: the event
 *
 * One test of one bit when nobody does. Callable from anywhere, signal
 * handlers included.
 *
 * Return: true when the event is worth composing.
 */
static inline bool elog_event_enabled(const struct elog_event *event)
{
	const unsigned char *status;
	unsigned int mask;

	status = __atomic_load_n(&event->status, __ATOMIC_RELAXED);
	mask = __atomic_load_n(&event->mask, __ATOMIC_RELAXED);
	if (__builtin_expect(!(__atomic_load_n(status, __ATOMIC_RELAXED) & mask), 1))
		return false;
	return elog_event_enabled_slow(event);
}

/* The most parts elog_event_write() takes. */
#define ELOG_IOV_MAX	16

/**
 * elog_event_write() - write one event
 * @event: the event
 * @session: session, 0 for none
 * @iov: the payload, laid out as the event's command says
 * @count: parts of it, at most ELOG_IOV_MAX; 0 for an event without fields
 *
 * Tests the bit itself: call it without elog_event_enabled() when there is
 * nothing to compose. Callable from signal handlers; errno is preserved.
 *
 * Return: 0 when the kernel took the event (which then was delivered, or
 * counted as lost, for each subscriber). -EBADF when nobody wants it, no
 * module included: not an error for most callers. -EINVAL: too many parts, or
 * a payload shorter than the fields. -EBADMSG: a dynamic field's size or
 * offset is wrong, or a string is not terminated. -E2BIG: more than
 * EVENTLOG_PAYLOAD_MAX bytes. -EFAULT, -ENOMEM, -EINTR as writev(2).
 */
int elog_event_write(const struct elog_event *event, uint64_t session,
		     const struct iovec *iov, unsigned int count);

/**
 * struct elog_payload - composes a payload, field by field
 * @data: the caller's buffer, from which the payload starts in the end
 * @capacity: bytes of it
 * @fixed: bytes of the fixed part so far
 * @parked: bytes of dynamic parts, kept at the end of the buffer meanwhile
 * @error: the first failure, reported by elog_payload_end()
 * @reserved: set by elog_payload_init()
 *
 * Call one function for each field in the order of the command, then
 * elog_payload_end(), or elog_event_emit() which includes it. Each string or
 * bytes field needs 8 bytes more of the buffer than it has in the payload.
 * The members are the library's.
 */
struct elog_payload {
	unsigned char *data;
	size_t capacity;
	size_t fixed;
	size_t parked;
	int error;
	uint64_t reserved[2];
};

/**
 * elog_payload_init() - start a payload
 * @payload: initialized
 * @buffer: memory for it, kept in use until elog_payload_end()
 * @capacity: bytes of @buffer
 */
void elog_payload_init(struct elog_payload *payload, void *buffer,
		       size_t capacity);

/**
 * elog_payload_integer() - append an integer field
 * @payload: the payload
 * @value: the value; a negative one converted, as C does
 * @size: 1, 2, 4 or 8 bytes; higher bits of @value are dropped
 */
void elog_payload_integer(struct elog_payload *payload, uint64_t value,
			  unsigned int size);

static inline void elog_payload_u8(struct elog_payload *payload, uint8_t value)
{
	elog_payload_integer(payload, value, 1);
}

static inline void elog_payload_u16(struct elog_payload *payload, uint16_t value)
{
	elog_payload_integer(payload, value, 2);
}

static inline void elog_payload_u32(struct elog_payload *payload, uint32_t value)
{
	elog_payload_integer(payload, value, 4);
}

static inline void elog_payload_u64(struct elog_payload *payload, uint64_t value)
{
	elog_payload_integer(payload, value, 8);
}

/**
 * elog_payload_raw() - append a field as it is: a struct, an array of bytes
 * @payload: the payload
 * @data: the bytes
 * @size: how many, which must be the field's size
 */
void elog_payload_raw(struct elog_payload *payload, const void *data,
		      size_t size);

/**
 * elog_payload_chars() - append a char[@size] field
 * @payload: the payload
 * @string: a string, cut to @size bytes or filled up with NULs
 * @size: the field's size
 */
void elog_payload_chars(struct elog_payload *payload, const char *string,
			size_t size);

/**
 * elog_payload_string() - append a "__data_loc char[]" field
 * @payload: the payload
 * @string: copied, with its NUL
 */
void elog_payload_string(struct elog_payload *payload, const char *string);

/**
 * elog_payload_string_rel() - append a "__rel_loc char[]" field
 * @payload: the payload
 * @string: copied, with its NUL
 */
void elog_payload_string_rel(struct elog_payload *payload, const char *string);

/**
 * elog_payload_bytes() - append a "__data_loc unsigned char[]" field
 * @payload: the payload
 * @data: copied
 * @size: bytes of @data
 */
void elog_payload_bytes(struct elog_payload *payload, const void *data,
			size_t size);

/**
 * elog_payload_bytes_rel() - append a "__rel_loc unsigned char[]" field
 * @payload: the payload
 * @data: copied
 * @size: bytes of @data
 */
void elog_payload_bytes_rel(struct elog_payload *payload, const void *data,
			    size_t size);

/**
 * elog_payload_end() - put the dynamic parts behind the fixed part
 * @payload: the payload; nothing may be appended afterwards
 *
 * Return: bytes of the payload, which starts at the buffer's first byte;
 * -ENOBUFS when the buffer was too small, -E2BIG when the payload or a field
 * of it is too large for an event.
 */
ssize_t elog_payload_end(struct elog_payload *payload);

/**
 * elog_event_emit() - end a payload and write it
 * @event: the event
 * @session: session, 0 for none
 * @payload: the payload
 *
 * Return: as elog_payload_end() when that fails, else as elog_event_write().
 */
int elog_event_emit(const struct elog_event *event, uint64_t session,
		    struct elog_payload *payload);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_PRODUCER_H */
