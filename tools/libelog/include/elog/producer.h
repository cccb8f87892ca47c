/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: producing events.
 */
#ifndef ELOG_PRODUCER_H
#define ELOG_PRODUCER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <linux/eventlog.h>

#ifdef __cplusplus
extern "C" {
#endif

struct elog_producer;

/**
 * struct elog_event - an event registered by this process
 * @status: the event's status byte, of EVENTLOG_STATUS_*; never NULL
 * @reserved: 0
 *
 * Only elog_event_enabled() reads the members. The library may change @status at any
 * time. It may allocate further members behind these.
 */
struct elog_event {
	const unsigned char *status;
	unsigned int reserved[2];
};

/*
 * In a status byte of the library: the event is not registered. elog_event_enabled_slow()
 * may try to connect or to register it.
 */
#define ELOG_STATUS_UNKNOWN	0x80U

/*
 * Tests bits of a status byte. On x86, a test and a jump are two instructions. Without the
 * assembly, the compiler would load the byte first.
 */
#if defined(__GCC_ASM_FLAG_OUTPUTS__) && (defined(__x86_64__) || defined(__i386__))
#define ELOG_STATUS_TEST(status, bits)	__extension__ ({			\
	bool elog_is_set_;							\
										\
	__asm__ __volatile__("testb %2, %1" : "=@ccnz"(elog_is_set_) :		\
			     "m"(*(status)), "i"(bits));			\
	elog_is_set_;								\
})
#else
#define ELOG_STATUS_TEST(status, bits)						\
	((__atomic_load_n((status), __ATOMIC_RELAXED) & (bits)) != 0)
#endif

/*
 * The producer's threads emit each event with a system call, write(2). For programs that
 * later forbid themselves ioctl(2) or mmap(2), for example with seccomp(2). They need lseek(2)
 * as well: see elog_producer_open().
 */
#define ELOG_PRODUCER_NO_RINGS	(1U << 0)

/**
 * struct elog_producer_options - how to open a producer
 * @size: sizeof(struct elog_producer_options); elog.h says how such structs grow
 * @flags: 0 or ELOG_PRODUCER_NO_RINGS
 * @device: path of the device, or NULL for $ELOG_DEVICE, else EVENTLOG_DEVICE or an engine
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
 * Succeeds even if the kernel module is not loaded or the device cannot be opened.
 * All events are then disabled. The library tries to connect again when an event is
 * tested, at most once a second. A try costs an open(2); between two tries, testing a
 * disabled event costs a read of the coarse clock. Nothing runs in the background.
 * elog_producer_connect() returns the reason for a failure.
 *
 * An open device pins the kernel module: see elog_producer_release(). When the kernel asks
 * for the device, as for "elog upgrade", the next event that is tested or emitted gives it up.
 * Until the device is back, events that had a subscriber are counted, and then reported to it as
 * lost.
 *
 * In the child of a fork() the producer is disconnected. It connects to a file of its
 * own in the same way, but at once. The child's events are independent of its
 * parent's. A process created by a bare clone(2) or by _Fork(3), which run no
 * pthread_atfork() handlers, must not use the producer.
 *
 * Return: 0, -EINVAL or -E2BIG for unknown options, -ENOMEM.
 */
int elog_producer_open(struct elog_producer **producer,
		       const struct elog_producer_options *options);

/**
 * elog_producer_close() - unregister all events and free everything
 * @producer: may be NULL; no other thread may be using it or its events
 */
void elog_producer_close(struct elog_producer *producer);

/**
 * elog_producer_connect() - connect now, unless connected
 * @producer: the producer
 *
 * Return: 0 when connected, or a negative errno of open(2) or of the ioctls (-ENOENT,
 * -ENXIO, -ENODEV: no module; -EACCES: no permission; -ESHUTDOWN: the module is being replaced);
 * -ENOTCONN: in a child of vfork(), which has other files.
 */
int elog_producer_connect(struct elog_producer *producer);

/**
 * elog_producer_release() - close the device for a while
 * @producer: the producer
 * @seconds: do not connect for this time; UINT_MAX: until elog_producer_connect()
 *	is called
 *
 * Waits for writers that are in the kernel. Then closes the device and unmaps the
 * status bits, so that the kernel module can be removed. All events are disabled, but
 * stay registered with the library, and are registered with the kernel again when the
 * producer connects.
 *
 * Do not call this from a signal handler, which may have interrupted a write: set a
 * flag, and call it from the program's main loop.
 */
void elog_producer_release(struct elog_producer *producer,
			   unsigned int seconds);

/**
 * elog_event_register() - register an event
 * @producer: the producer
 * @provider: the provider's name, or NULL for EVENTLOG_DEFAULT_PROVIDER
 * @command: "name ["description"] [type field[;type field...]]", as linux/eventlog.h says
 * @level: enum eventlog_level, 0 for EVENTLOG_LEVEL_INFO
 * @keywords: mask of keywords
 * @flags: 0 or EVENTLOG_REGISTER_PERSIST
 * @event: set to the event, which belongs to the producer
 *
 * Nothing is checked while the producer is disconnected. The event is registered when
 * the producer connects; elog_event_error() then returns the kernel's answer.
 *
 * If a limit of events is reached (-EDQUOT, -ENOSPC), the function succeeds without
 * EVENTLOG_REGISTER_PERSIST. The event is disabled, and elog_event_error() returns the
 * limit. When the event is tested, the library tries to register it again, at most once a
 * second for all events of the producer. Each test reads the coarse clock until the event
 * is registered.
 *
 * Return: 0, -ENOMEM, or a negative errno of EVENTLOG_IOC_REGISTER, for example
 * -EINVAL for a malformed command.
 */
int elog_event_register(struct elog_producer *producer, const char *provider,
			const char *command, unsigned int level,
			uint64_t keywords, unsigned int flags,
			struct elog_event **event);

/**
 * elog_event_register_schema() - register an event that a schema describes
 * @producer: the producer
 * @schema: a schema in canonical form, see elog_schema(5), with one event, which is the
 *	last statement
 * @flags: 0 or EVENTLOG_REGISTER_PERSIST
 * @event: set to the event, which belongs to the producer
 *
 * The same as elog_event_register(), but fields have all types of the schema language,
 * and enums, flags, keywords and descriptions have names for subscribers and in filters.
 *
 * Return: as elog_event_register(); -EINVAL the schema has an error.
 */
int elog_event_register_schema(struct elog_producer *producer, const char *schema,
			       unsigned int flags, struct elog_event **event);

/**
 * elog_event_unregister() - unregister and free an event
 * @event: freed; no thread may be using it. May be NULL
 */
void elog_event_unregister(struct elog_event *event);

/**
 * elog_event_error() - get the result of registering with the kernel
 * @event: the event
 *
 * Return: 0 registered; -ENOTCONN not tried, because the producer is disconnected;
 * -EDQUOT, -ENOSPC a limit is reached, -ESHUTDOWN the module is being replaced, the library will
 * try again; otherwise the negative
 * errno of EVENTLOG_IOC_REGISTER.
 */
int elog_event_error(const struct elog_event *event);

/**
 * elog_event_descriptor() - get the id that records of the event have
 * @event: the event
 *
 * The id may change when the producer connects again.
 *
 * Return: the descriptor, for elog_device_describe(); 0 when not registered.
 */
uint32_t elog_event_descriptor(const struct elog_event *event);

/*
 * The rest of elog_event_enabled(), for when the producer may not be connected. Bindings of other
 * languages call it, too.
 */
bool elog_event_enabled_slow(const struct elog_event *event);

/**
 * elog_event_enabled() - test whether the event has a subscriber
 * @event: the event
 *
 * Tests one bit if it has none, and two bits if it has one. May be called from anywhere,
 * signal handlers included.
 *
 * Return: true if the program should write the event.
 */
static inline bool elog_event_enabled(const struct elog_event *event)
{
	const unsigned char *status = __atomic_load_n(&event->status, __ATOMIC_RELAXED);

	if (__builtin_expect(!ELOG_STATUS_TEST(status, EVENTLOG_STATUS_ENABLED), 1))
		return false;
	return !ELOG_STATUS_TEST(status, ELOG_STATUS_UNKNOWN) || elog_event_enabled_slow(event);
}

/* The most elements of @iov that elog_event_write() takes. */
#define ELOG_IOV_MAX	16

/**
 * elog_event_write() - write one event
 * @event: the event
 * @session: session, 0 for none
 * @iov: the payload, laid out as the event's command says
 * @count: elements of @iov, at most ELOG_IOV_MAX; 0 for an event without fields
 *
 * Tests the bit itself: a program that has nothing to compose need not call
 * elog_event_enabled() before. May be called from signal handlers. Preserves errno.
 *
 * Return: 0 the kernel took the event and, for each subscriber, delivered it or
 * counted it as lost. -EBADF the event has no subscriber, or there is no module; most
 * callers ignore this. -EINVAL @count is too large, or the payload is shorter than the
 * fields. -EBADMSG the size or the offset of a dynamic field is wrong, or a string is
 * not terminated. -E2BIG more than EVENTLOG_PAYLOAD_MAX bytes. -EFAULT, -ENOMEM,
 * -EINTR as writev(2). The library itself copies payloads of up to 256 bytes, and those that
 * it puts in a ring: if they are not readable, the process gets SIGSEGV. For a NULL address,
 * the result is -EFAULT.
 *
 * Never waits for a subscriber. An event that fails with -EINVAL, -EBADMSG or -E2BIG counts
 * as invalid for its subscribers: see elog_event_invalid().
 *
 * A thread that emits often gets a ring, see elog_producer(3): the kernel then takes the
 * event later, and the result is 0 even if the payload is not valid. ELOG_STRICT=1 in the
 * environment turns rings off, so that each call has its own result.
 */
int elog_event_write(const struct elog_event *event, uint64_t session,
		     const struct iovec *iov, unsigned int count);

/**
 * elog_event_invalid() - count an event that was dropped because its values are wrong
 * @event: the event
 *
 * For bindings of other languages, which find wrong values before there is a payload: an
 * emission must not fail because it is recorded. "elog stat" shows the count. Does nothing
 * while the event is disabled. May be called from signal handlers. Preserves errno.
 */
void elog_event_invalid(const struct elog_event *event);

/**
 * struct elog_payload - composes a payload, field by field
 * @data: the caller's buffer; the finished payload starts at its first byte
 * @capacity: bytes of @data
 * @fixed: bytes of the fixed part so far
 * @parked: bytes of dynamic data, which stay at the end of the buffer until
 *	elog_payload_end()
 * @error: the first failure, returned by elog_payload_end()
 * @reserved: set by elog_payload_init()
 *
 * Call one function for each field, in the order of the command. Then call
 * elog_payload_end(), or elog_event_emit(), which includes it. Each string or bytes
 * field needs 8 bytes more of the buffer than of the payload. The members belong to
 * the library.
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
 * @buffer: memory for it, in use until elog_payload_end()
 * @capacity: bytes of @buffer
 */
void elog_payload_init(struct elog_payload *payload, void *buffer,
		       size_t capacity);

/**
 * elog_payload_raw() - append a field of a fixed size
 * @payload: the payload
 * @data: the bytes
 * @size: bytes of @data, which must be the field's size
 */
void elog_payload_raw(struct elog_payload *payload, const void *data,
		      size_t size);

static inline void elog_payload_u8(struct elog_payload *payload, uint8_t value)
{
	elog_payload_raw(payload, &value, sizeof(value));
}

static inline void elog_payload_u16(struct elog_payload *payload, uint16_t value)
{
	elog_payload_raw(payload, &value, sizeof(value));
}

static inline void elog_payload_u32(struct elog_payload *payload, uint32_t value)
{
	elog_payload_raw(payload, &value, sizeof(value));
}

static inline void elog_payload_u64(struct elog_payload *payload, uint64_t value)
{
	elog_payload_raw(payload, &value, sizeof(value));
}

/**
 * elog_payload_integer() - append an integer field
 * @payload: the payload
 * @value: the value; negative values are converted as in C
 * @size: 1, 2, 4 or 8 bytes; higher bits of @value are dropped
 */
static inline void elog_payload_integer(struct elog_payload *payload, uint64_t value,
					unsigned int size)
{
	if (size == 8)
		elog_payload_u64(payload, value);
	else if (size == 4)
		elog_payload_u32(payload, value & 0xffffffffU);
	else if (size == 2)
		elog_payload_u16(payload, value & 0xffffU);
	else if (size == 1)
		elog_payload_u8(payload, value & 0xffU);
	else if (!payload->error)
		payload->error = -EINVAL;
}

/**
 * elog_payload_chars() - append a char[@size] field
 * @payload: the payload
 * @string: a string; truncated to @size bytes, or padded with NULs
 * @size: the field's size
 */
static inline void elog_payload_chars(struct elog_payload *payload, const char *string,
				      size_t size)
{
	static const char zeros[32] = { 0 };
	size_t length, some;

	for (length = 0; length < size && string[length]; length++)
		;
	elog_payload_raw(payload, string, length);
	for (; length < size; length += some) {
		some = size - length < sizeof(zeros) ? size - length : sizeof(zeros);
		elog_payload_raw(payload, zeros, some);
	}
}

/**
 * elog_payload_dynamic() - append a string or bytes
 * @payload: the payload
 * @data: copied
 * @size: bytes of @data; of a string, with its NUL
 * @relative: the field is __rel_loc instead of __data_loc
 */
void elog_payload_dynamic(struct elog_payload *payload, const void *data, size_t size,
			  bool relative);

/**
 * elog_payload_string() - append a "__data_loc char[]" field
 * @payload: the payload
 * @string: copied, with its NUL
 */
static inline void elog_payload_string(struct elog_payload *payload, const char *string)
{
	elog_payload_dynamic(payload, string, strlen(string) + 1, false);
}

/**
 * elog_payload_string_rel() - append a "__rel_loc char[]" field
 * @payload: the payload
 * @string: copied, with its NUL
 */
static inline void elog_payload_string_rel(struct elog_payload *payload, const char *string)
{
	elog_payload_dynamic(payload, string, strlen(string) + 1, true);
}

/**
 * elog_payload_bytes() - append a "__data_loc unsigned char[]" field
 * @payload: the payload
 * @data: copied
 * @size: bytes of @data
 */
static inline void elog_payload_bytes(struct elog_payload *payload, const void *data,
				      size_t size)
{
	elog_payload_dynamic(payload, data, size, false);
}

/**
 * elog_payload_bytes_rel() - append a "__rel_loc unsigned char[]" field
 * @payload: the payload
 * @data: copied
 * @size: bytes of @data
 */
static inline void elog_payload_bytes_rel(struct elog_payload *payload, const void *data,
					  size_t size)
{
	elog_payload_dynamic(payload, data, size, true);
}

/**
 * elog_payload_end() - move the dynamic data behind the fixed part
 * @payload: the payload; nothing may be appended afterwards
 *
 * Return: bytes of the payload, which starts at the buffer's first byte; -ENOBUFS the
 * buffer is too small; -E2BIG the payload or one of its fields is too large for an
 * event.
 */
ssize_t elog_payload_end(struct elog_payload *payload);

/**
 * elog_event_emit() - end a payload and write it
 * @event: the event
 * @session: session, 0 for none
 * @payload: the payload
 *
 * Return: as elog_payload_end() when that fails, else as elog_event_write(). When
 * elog_payload_end() fails, the event counts as invalid.
 */
int elog_event_emit(const struct elog_event *event, uint64_t session,
		    struct elog_payload *payload);

/**
 * elog_session_new() - get a number for a new session
 *
 * No other call on this machine returns it, in any process, with the probability that
 * libelog(3) states. It is not secret. Its highest bit is set, so it differs from numbers
 * such as pids and counters. Only the first call in a process makes system calls. May be
 * called by any thread and in signal handlers. Preserves errno.
 *
 * Return: the number, never 0.
 */
uint64_t elog_session_new(void);

/**
 * struct elog_running - the session that a thread works on
 *
 * The members belong to the library.
 */
struct elog_running {
	uint64_t session;
	uint32_t of;
	uint32_t epoch;
};

/**
 * elog_session_enter() - the calling thread works on a session from now on
 * @event: any event of the session's provider; NULL: the call does nothing
 * @session: the session; 0: the thread works on none, for example because it waits for
 *	events of many sessions
 *
 * The kernel module eventlog_sched tells when and why a thread that works on a session does
 * not run, see elog-why(1). Then this takes a few stores if the thread has a ring; without a
 * ring, it gets one at its first call, unless no one listens to the provider sched. May be
 * called by any thread and in signal handlers. Preserves errno.
 *
 * In the child of a fork(), and when a producer is disconnected, the thread works on no
 * session.
 *
 * Return: what the thread worked on before, for elog_session_leave().
 */
struct elog_running elog_session_enter(const struct elog_event *event, uint64_t session);

/**
 * elog_session_leave() - the calling thread goes on with what it worked on before
 * @event: that of elog_session_enter(), which is still registered; NULL: does nothing
 * @before: the result of elog_session_enter() in this thread
 */
void elog_session_leave(const struct elog_event *event, struct elog_running before);

#ifdef __cplusplus
}

/* elog_session_enter(), until the end of the block. */
class elog_session_guard {
public:
	elog_session_guard(const struct elog_event *event, uint64_t session)
		: event_(event), before_(elog_session_enter(event, session))
	{
	}
	~elog_session_guard()
	{
		elog_session_leave(event_, before_);
	}
	elog_session_guard(const elog_session_guard &) = delete;
	elog_session_guard &operator=(const elog_session_guard &) = delete;

private:
	const struct elog_event *event_;
	struct elog_running before_;
};
#endif

#endif /* ELOG_PRODUCER_H */
