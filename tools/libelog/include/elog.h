/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: the user-space side of eventlog.
 *
 * Producers: struct elog_producer, struct elog_event, struct elog_payload.
 * Consumers: struct elog_consumer, which yields records in global time order.
 * Files: struct elog_file_writer, which stores what a consumer yields raw, and
 * struct elog_file_reader, which yields it in global time order again.
 * All: struct elog_schema (what an event looks like), struct elog_value (one
 * field of one record), struct elog_predicate (which records are wanted),
 * struct elog_text (formatting), struct elog_processes (names of threads).
 *
 * Functions that can fail return 0, or a count, or a negative errno value.
 * Objects are created by *_open() or *_new() and belong to the caller until
 * handed to *_close() or *_free(), which accept NULL. Options begin with their
 * size, so that they can grow; other structs that are the caller's memory have
 * reserved members, which are 0 whoever fills them in, and get a meaning of which 0
 * says nothing new; structs that the library hands out are read-only and may have
 * more members than this header knows.
 *
 * Threads: a producer and its events may be used by any number of threads at
 * once, but for what elog_producer_close() and elog_event_unregister() free. A
 * consumer, or anything else here, belongs to one thread at a time; one with a
 * backlog has a thread of its own besides, and is of no use in the child of a fork(). Nothing on
 * the consumer side is global.
 */
#ifndef ELOG_H
#define ELOG_H

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>		/* sigset_t, in strict ISO C too */
#include <sys/types.h>
#include <sys/uio.h>

#include <linux/eventlog.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------
 * The device
 */

/**
 * elog_device_open() - open the device for questions
 * @device: path, or NULL for EVENTLOG_DEVICE
 *
 * The file has no role and wants none: it is for elog_device_version(),
 * elog_device_describe() and for reading the status listing. While it is open
 * the kernel module cannot be removed.
 *
 * Return: a file descriptor (close-on-exec), or what open(2) fails with;
 * -ENOENT, -ENXIO and -ENODEV mean that the module is not loaded.
 */
int elog_device_open(const char *device);

/**
 * elog_device_version() - ask what the kernel module is and can do
 * @fd: the device
 * @version: filled in
 *
 * Return: 0, or -ENOTTY when @fd is something else.
 */
int elog_device_version(int fd, struct eventlog_version *version);

/**
 * elog_device_describe() - get a definition's schema text
 * @fd: the device, in any role
 * @request: flags and descriptor as for EVENTLOG_IOC_DESCRIBE; on success all
 *	other members but text are filled in
 * @text: set to the text, NUL-terminated, which the caller frees
 *
 * To walk all definitions start with descriptor 0 and EVENTLOG_DESCRIBE_NEXT,
 * and call again with what came back until -ENOENT.
 *
 * Return: 0; -ENOENT when there is no (further) definition; -ENOMEM.
 */
int elog_device_describe(int fd, struct eventlog_describe *request,
			 char **text);

/**
 * elog_device_delete() - delete persistent events
 * @fd: the device, in any role
 * @provider: the provider's name, or NULL for EVENTLOG_DEFAULT_PROVIDER
 * @event: the event's name: all definitions of it are deleted, or none
 *
 * Return: 0; -ENOENT there is no such persistent event; -EBUSY a process has it
 * registered, or a tracer is attached to it; -EPERM CAP_PERFMON or CAP_SYS_ADMIN
 * is needed; -EINVAL these are no names.
 */
int elog_device_delete(int fd, const char *provider, const char *event);

/* ------------------------------------------------------------------------
 * Producing events
 */

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
bool elog_event_wanted(const struct elog_event *event);

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
	return elog_event_wanted(event);
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

/* ------------------------------------------------------------------------
 * Text: a string that grows
 */

/**
 * struct elog_text - a string that grows
 * @data: the characters, always NUL-terminated once there are any
 * @size: how many, without the NUL
 * @capacity: bytes allocated
 * @error: 0, or -ENOMEM once memory was short: then @data is incomplete
 * @reserved: 0
 *
 * Start with all zeroes; free with elog_text_free(); set @size to 0 to start
 * over.
 */
struct elog_text {
	char *data;
	size_t size;
	size_t capacity;
	int error;
	uint64_t reserved[2];
};

/** elog_text_free() - free the memory and make @text empty again */
void elog_text_free(struct elog_text *text);

/** elog_text_put() - append @size bytes of @data as they are */
void elog_text_put(struct elog_text *text, const void *data, size_t size);

/** elog_text_string() - append a string as it is */
void elog_text_string(struct elog_text *text, const char *string);

/** elog_text_unsigned() - append @value in decimal, padded to @width by @fill */
void elog_text_unsigned(struct elog_text *text, uint64_t value,
			unsigned int width, char fill);

/** elog_text_hex() - append @value in hexadecimal, with at least @width digits */
void elog_text_hex(struct elog_text *text, uint64_t value, unsigned int width);

/** elog_text_printf() - append what printf() would print */
void elog_text_printf(struct elog_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * elog_text_quoted() - append a string in double quotes
 * @text: where
 * @data: the string
 * @size: bytes of it, NULs among them allowed
 *
 * Quotes, backslashes, control characters and what is not UTF-8 become
 * backslash sequences, so that the string ends where it seems to end and
 * cannot operate the terminal.
 */
void elog_text_quoted(struct elog_text *text, const char *data, size_t size);

/* ------------------------------------------------------------------------
 * Schemas: what events look like
 */

/** enum elog_type - types of fields */
enum elog_type {
	ELOG_TYPE_UNSIGNED,	/* 1, 2, 4 or 8 bytes */
	ELOG_TYPE_SIGNED,	/* likewise */
	ELOG_TYPE_BOOL,		/* 1 byte */
	ELOG_TYPE_CHARS,	/* char[N]: text, up to the first NUL */
	ELOG_TYPE_OCTETS,	/* u8[N] */
	ELOG_TYPE_STRING,	/* a __u32 size << 16 | offset; text with its NUL */
	ELOG_TYPE_BYTES,	/* the same; any bytes */
	ELOG_TYPE_IPV4,		/* 4 bytes, network order */
	ELOG_TYPE_IPV6,		/* 16 bytes, network order */
	ELOG_TYPE_PORT,		/* 2 bytes, network order */
	ELOG_TYPE_MAC,		/* 6 bytes */
	ELOG_TYPE_TIME,		/* u64, ns of CLOCK_MONOTONIC, as records have */
	ELOG_TYPE_DURATION,	/* u64, ns */
	ELOG_TYPE_PTR,		/* u64, an address */
	ELOG_TYPE_ENUM,		/* an integer that has names */
	ELOG_TYPE_FLAGS,	/* an integer whose bits have names */
	ELOG_TYPE_STRUCT,	/* N bytes that only their owner can read */
};

/** enum elog_display - how a field wants to be shown */
enum elog_display {
	ELOG_DISPLAY_DEFAULT,
	ELOG_DISPLAY_DEC,
	ELOG_DISPLAY_HEX,
};

/**
 * struct elog_schema_name - a value that has a name: a keyword, an enumerator,
 *	a flag
 * @value: the value; of signed enums sign-extended
 * @name: its name
 * @description: may be empty, never NULL
 */
struct elog_schema_name {
	uint64_t value;
	const char *name;
	const char *description;
};

/**
 * struct elog_schema_set - an enum or flags type
 * @name: its name
 * @description: may be empty
 * @flags: it is a flags type
 * @count: of @names
 * @names: in the order of the schema
 */
struct elog_schema_set {
	const char *name;
	const char *description;
	bool flags;
	size_t count;
	struct elog_schema_name **names;
};

/**
 * struct elog_schema_field - a field of an event
 * @name: its name
 * @type_name: the type as written in the schema
 * @description: may be empty
 * @type: what it is
 * @display: how it wants to be shown
 * @offset: bytes from the start of the payload
 * @size: bytes in the fixed part (4 for strings and bytes)
 * @is_signed: of enums: the integer is signed
 * @relative: of strings and bytes: the offset counts from behind the word
 * @set: of enums and flags: the names, else NULL
 */
struct elog_schema_field {
	const char *name;
	const char *type_name;
	const char *description;
	enum elog_type type;
	enum elog_display display;
	size_t offset;
	size_t size;
	bool is_signed;
	bool relative;
	const struct elog_schema_set *set;
};

struct elog_schema_provider;

/**
 * struct elog_schema_event - an event
 * @provider: the provider it belongs to
 * @name: its name
 * @description: may be empty
 * @id: number in the provider
 * @level: enum eventlog_level
 * @keywords: mask
 * @fixed_size: bytes of the payload's fixed part
 * @field_count: of @fields
 * @fields: in the order of the payload
 */
struct elog_schema_event {
	const struct elog_schema_provider *provider;
	const char *name;
	const char *description;
	uint32_t id;
	unsigned int level;
	uint64_t keywords;
	size_t fixed_size;
	size_t field_count;
	struct elog_schema_field **fields;
};

/**
 * struct elog_schema_provider - a provider
 * @name: its name
 * @description: may be empty
 * @keyword_count: of @keywords
 * @keywords: named bits
 * @set_count: of @sets
 * @sets: enum and flags types
 * @event_count: of @events
 * @events: in the order of the schema
 */
struct elog_schema_provider {
	const char *name;
	const char *description;
	size_t keyword_count;
	struct elog_schema_name **keywords;
	size_t set_count;
	struct elog_schema_set **sets;
	size_t event_count;
	struct elog_schema_event **events;
};

/**
 * struct elog_schema - a schema
 * @provider_count: of @providers
 * @providers: in the order of the text
 */
struct elog_schema {
	size_t provider_count;
	struct elog_schema_provider **providers;
};

/**
 * struct elog_schema_error - where and why a schema text is wrong
 * @line: line number, from 1
 * @message: what is wrong there
 * @reserved: 0
 */
struct elog_schema_error {
	unsigned int line;
	char message[160];
	unsigned int reserved[3];
};

/**
 * elog_schema_parse() - parse a schema text
 * @text: the text
 * @size: bytes of it
 * @schema: set to the result
 * @error: filled in on -EINVAL and -EPROTONOSUPPORT; may be NULL
 *
 * Return: 0, -EINVAL for a wrong text, -EPROTONOSUPPORT for one in a newer
 * language, -ENOMEM.
 */
int elog_schema_parse(const char *text, size_t size,
		      struct elog_schema **schema,
		      struct elog_schema_error *error);

/** elog_schema_free() - free a schema; NULL is fine */
void elog_schema_free(struct elog_schema *schema);

/**
 * elog_level_name() - the name of a level
 * @level: enum eventlog_level
 *
 * Return: "error" ... "verbose", or NULL when there is no such level.
 */
const char *elog_level_name(unsigned int level);

/**
 * elog_level_parse() - a level by its name
 * @name: "error", "warning", "notice", "info", "debug", "verbose"
 *
 * Return: enum eventlog_level, or 0 when there is none of that name.
 */
unsigned int elog_level_parse(const char *name);

/* ------------------------------------------------------------------------
 * Decoding
 */

/**
 * struct elog_value - a field of a record
 * @error: 0; -ENODATA the payload ends before the field does; -EBADMSG a
 *	dynamic part is outside of the payload, or a string has no NUL
 * @integer: of all types that are integers, sign-extended if signed
 * @data: of chars, octets, strings, bytes, addresses and structs: the bytes,
 *	inside the payload
 * @size: how many; of chars and strings up to the NUL
 * @claimed_offset: with -EBADMSG: where the dynamic part claims to be
 * @claimed_size: with -EBADMSG: how large it claims to be
 * @reserved: 0
 */
struct elog_value {
	int error;
	uint64_t integer;
	const void *data;
	size_t size;
	size_t claimed_offset;
	size_t claimed_size;
	uint64_t reserved[2];
};

/**
 * elog_decode() - take a field out of a payload
 * @field: which
 * @payload: the payload, trusted in nothing
 * @size: bytes of it; no byte beyond is read
 * @value: filled in
 *
 * Return: @value->error.
 */
int elog_decode(const struct elog_schema_field *field, const void *payload,
		size_t size, struct elog_value *value);

/** elog_format_value() - append a value as text, an undecodable one as such */
void elog_format_value(struct elog_text *text,
		       const struct elog_schema_field *field,
		       const struct elog_value *value);

/**
 * elog_format_fields() - append "field=value field=value..."
 * @text: where
 * @event: the event's schema
 * @payload: the payload, trusted in nothing
 * @size: bytes of it
 */
void elog_format_fields(struct elog_text *text,
			const struct elog_schema_event *event,
			const void *payload, size_t size);

/**
 * elog_text_json_string() - append a string as JSON, with its quotes
 * @text: where
 * @data: the string
 * @size: bytes of it, NULs among them allowed
 *
 * Always valid JSON in UTF-8: control characters, U+0080 to U+009F among them,
 * are escaped, and each byte that is not UTF-8 becomes U+FFFD.
 */
void elog_text_json_string(struct elog_text *text, const char *data, size_t size);

/**
 * elog_text_csv() - append a cell of comma-separated values, as RFC 4180 says
 * @text: where
 * @data: the cell
 * @size: bytes of it
 *
 * In quotes only when it holds a quote, a comma or a line's end; nothing else is
 * changed. What a spreadsheet makes of a cell that begins with "=" is not
 * guarded against.
 */
void elog_text_csv(struct elog_text *text, const char *data, size_t size);

/**
 * elog_format_json_value() - append a value as JSON
 * @text: where
 * @field: what it is
 * @value: the value; null when it is undecodable
 *
 * Integers, ports, times and durations (ns) are numbers with all their digits,
 * which may be more than a double holds; bools true or false; pointers and what
 * wants hexadecimal strings "0x..."; enums the name, or a number that has none;
 * flags an array of names, and of a last "0x..." for bits that have none; what
 * wants decimal is a number. Text and addresses are strings, other bytes strings
 * of hexadecimal digits.
 */
void elog_format_json_value(struct elog_text *text,
			    const struct elog_schema_field *field,
			    const struct elog_value *value);

/**
 * elog_format_json_fields() - append "field":value,"field":value...
 * @text: where; the braces are the caller's
 * @event: the event's schema
 * @payload: the payload, trusted in nothing
 * @size: bytes of it
 */
void elog_format_json_fields(struct elog_text *text,
			     const struct elog_schema_event *event,
			     const void *payload, size_t size);

/* ------------------------------------------------------------------------
 * Predicates: elog_filter(7) describes their language
 */

struct elog_item;
struct elog_expression;
struct elog_predicate;

/* The longest text of an expression, and what is nested deepest in one. */
#define ELOG_EXPRESSION_MAX	65536
#define ELOG_EXPRESSION_DEPTH	64

/**
 * struct elog_expression_error - where and why an expression is wrong
 * @column: byte of the text, from 1
 * @message: what is wrong there; printable
 * @reserved: 0
 */
struct elog_expression_error {
	unsigned int column;
	char message[160];
	unsigned int reserved[3];
};

/**
 * elog_expression_parse() - parse an expression
 * @text: the text
 * @expression: set to the result, which never changes: any number of threads
 *	may use it
 * @error: filled in on -EINVAL; may be NULL
 *
 * Memory grows linearly with the text.
 *
 * Return: 0, -EINVAL for a wrong text, -ENOMEM.
 */
int elog_expression_parse(const char *text, struct elog_expression **expression,
			  struct elog_expression_error *error);

/** elog_expression_free() - free an expression no predicate of which is left; NULL is fine */
void elog_expression_free(struct elog_expression *expression);

/**
 * elog_expression_bind() - make a predicate on the records of one event
 * @expression: which must outlive the predicate
 * @event: the event's schema; not needed any more afterwards
 * @predicate: set to the result, or to NULL
 * @error: filled in on -EINVAL; may be NULL
 *
 * All names are looked up here. What cannot matter for this event, as in
 * "provider == tcp && state == LISTEN" for one of another provider, need not fit
 * it.
 *
 * Return: 0; -ENOENT no record of the event can match, for it lacks fields, or
 * is of another provider, name or level; -EINVAL the expression does not fit
 * the types of the event's fields; -ENOMEM.
 */
int elog_expression_bind(const struct elog_expression *expression,
			 const struct elog_schema_event *event,
			 struct elog_predicate **predicate,
			 struct elog_expression_error *error);

/**
 * elog_expression_terms() - what the kernel takes for an expression
 * @expression: not needed any more afterwards
 * @terms: room for EVENTLOG_TERMS_MAX
 * @count: set to how many there are
 * @error: filled in on -EINVAL; may be NULL
 *
 * For EVENTLOG_IOC_MARKER_SET, which see for what a marker has to have. The kernel
 * makes EVENTLOG_TERMS_MAX comparisons at most, knows no regular expressions but
 * plain text behind "^", and besides fields only cpu, pid, tid and comm.
 *
 * Return: 0; -EINVAL the expression has what the kernel does not do.
 */
int elog_expression_terms(const struct elog_expression *expression,
			  struct eventlog_term *terms, uint32_t *count,
			  struct elog_expression_error *error);

/** elog_predicate_free() - free a predicate; NULL is fine */
void elog_predicate_free(struct elog_predicate *predicate);

/**
 * elog_predicate_match() - does a record match?
 * @predicate: of the record's event; any number of threads may use it
 * @item: the record, an ELOG_ITEM_EVENT; its payload is trusted in nothing
 * @comm: the thread's name; may be NULL without elog_predicate_needs_comm()
 *
 * Looks at no more than it takes. Only regular expressions that are more than
 * plain text, with "^" or "$" at most, allocate memory.
 */
bool elog_predicate_match(const struct elog_predicate *predicate,
			  const struct elog_item *item, const char *comm);

/** elog_predicate_needs_comm() - does the thread's name matter? */
bool elog_predicate_needs_comm(const struct elog_predicate *predicate);

/* ------------------------------------------------------------------------
 * Consuming events
 */

struct elog_consumer;
struct elog_processes;

/* Full rings lose the oldest events, not the newest; read by freezing them. */
#define ELOG_CONSUMER_OVERWRITE	(1U << 0)
#define ELOG_CONSUMER_NO_RINGS	(1U << 1) /* only keeps events enabled */

/**
 * struct elog_consumer_options - how to subscribe
 * @size: sizeof(struct elog_consumer_options)
 * @flags: ELOG_CONSUMER_OVERWRITE, or ELOG_CONSUMER_NO_RINGS, or 0
 * @ring_bytes: data bytes of each CPU's ring, a power of two; 0: 1 MiB
 * @watermark: unread bytes in one ring that end elog_consumer_wait(); 0: half
 *	of the ring
 * @sub_buffers: parts of a ring, a power of two; 0: 2. A record cannot be
 *	larger than one
 * @reserved: 0
 * @device: path of the device, or NULL for EVENTLOG_DEVICE
 * @backlog_bytes: of each CPU's records that many may wait in memory, besides
 *	those in its ring; 0: none. At most ELOG_BACKLOG_MAX, and not with
 *	ELOG_CONSUMER_OVERWRITE
 * @processes: with @backlog_bytes: told the names of threads; or NULL. Outlives the
 *	consumer, and belongs to the same thread
 *
 * With a backlog a thread of the library's, which handles no signals, takes records
 * off the rings as they fill up: whoever is slow to read, or stops for a while, loses
 * nothing until the backlog and a ring are full. That thread also asks for the
 * definitions of events, and for the names of threads, while these exist. All else
 * is as without; but elog_consumer_fd() is not for poll(2) then.
 */
struct elog_consumer_options {
	uint32_t size;
	uint32_t flags;
	uint64_t ring_bytes;
	uint64_t watermark;
	uint32_t sub_buffers;
	uint32_t reserved;
	const char *device;
	uint64_t backlog_bytes;
	struct elog_processes *processes;
};

#define ELOG_BACKLOG_MAX	(512ULL << 20)

/**
 * elog_consumer_open() - subscribe
 * @consumer: set to the new consumer
 * @options: NULL for the defaults
 *
 * Nothing is delivered until a rule is added. Without ELOG_CONSUMER_OVERWRITE
 * full rings keep what they have, and count what they lose.
 *
 * With ELOG_CONSUMER_NO_RINGS nothing is delivered at all: its rules keep events
 * enabled, for those who look at them by other ways. @options has nothing else
 * then but a device.
 *
 * Return: 0; -ENOENT, -ENXIO, -ENODEV: no module; -EACCES: the device's mode
 * forbids; -EPERM: CAP_PERFMON or CAP_SYS_ADMIN is needed; -EINVAL; -E2BIG and
 * -ENOMEM: rings of that size are not to be had; -EMFILE: too many
 * subscribers; -EAGAIN: too many threads; -EPROTO: the kernel's rings are not what
 * this library knows.
 */
int elog_consumer_open(struct elog_consumer **consumer,
		       const struct elog_consumer_options *options);

/** elog_consumer_close() - unsubscribe and free everything; NULL is fine */
void elog_consumer_close(struct elog_consumer *consumer);

/**
 * elog_consumer_fd() - the file, for one's own poll(2)
 * @consumer: the consumer
 *
 * Readable at the watermark, or after loss; with a backlog only
 * elog_consumer_wait() tells.
 */
int elog_consumer_fd(const struct elog_consumer *consumer);

/**
 * struct elog_rule - what to deliver; all members that are given must match
 * @size: sizeof(struct elog_rule)
 * @flags: EVENTLOG_RULE_SESSION, EVENTLOG_RULE_PID: those members count
 * @provider: glob, NULL for all
 * @event: glob, NULL for all
 * @keywords_any: has one of these; 0: not tested
 * @keywords_all: has all of these
 * @session: the session
 * @pid: the process
 * @level: at most this verbose; 0: all
 * @sample: the first of every so many; 0 and 1: all
 * @reserved: 0
 */
struct elog_rule {
	uint32_t size;
	uint32_t flags;
	const char *provider;
	const char *event;
	uint64_t keywords_any;
	uint64_t keywords_all;
	uint64_t session;
	uint32_t pid;
	uint32_t level;
	uint32_t sample;
	uint32_t reserved;
};

/**
 * elog_consumer_rule_add() - ask for events
 * @consumer: the consumer
 * @rule: which
 * @rule_id: set to the rule's id; may be NULL
 *
 * An event is delivered once if any rule matches. When this returns, events
 * written from then on are delivered.
 *
 * Return: 0, or what EVENTLOG_IOC_RULE_ADD fails with.
 */
int elog_consumer_rule_add(struct elog_consumer *consumer,
			   const struct elog_rule *rule, uint32_t *rule_id);

/** elog_consumer_rule_delete() - take a rule back; -ENOENT: there is none */
int elog_consumer_rule_delete(struct elog_consumer *consumer, uint32_t rule_id);

/**
 * elog_consumer_wait() - sleep until there is enough to read
 * @consumer: the consumer
 * @milliseconds: at most; -1: no limit
 * @mask: signal mask while sleeping, as for ppoll(2); NULL: unchanged
 *
 * For lively output wait 100 ms or so, then, whatever the result, ask
 * elog_consumer_pending().
 *
 * Return: 1 watermark or loss, 0 time over, -EINTR a signal, -EIO.
 */
int elog_consumer_wait(struct elog_consumer *consumer, int milliseconds,
		       const sigset_t *mask);

/**
 * elog_consumer_pending() - is there anything to read?
 * @consumer: the consumer
 *
 * Cheap: looks at the mapped rings, and asks the kernel whether there are new
 * ones.
 *
 * Return: 1 there are records or losses not yet read, 0 there are none, or
 * what EVENTLOG_IOC_STAT fails with.
 */
int elog_consumer_pending(struct elog_consumer *consumer);

/**
 * elog_consumer_flush() - start a batch: everything older than now
 * @consumer: the consumer
 *
 * Asks the kernel for a time before which no record can appear any more, maps
 * rings that are new, and makes elog_consumer_next() yield all records older
 * than that, in the order of their times. A batch not read to its end goes on
 * in the next one.
 *
 * Return: 0, -EINTR, -ENOMEM, -EPROTO.
 */
int elog_consumer_flush(struct elog_consumer *consumer);

/** elog_consumer_time() - the time of the last flush, CLOCK_MONOTONIC ns */
uint64_t elog_consumer_time(const struct elog_consumer *consumer);

/**
 * elog_time_offset() - what our CLOCK_MONOTONIC is ahead of that of records, ns
 *
 * Records have the one of the initial time namespace. In another namespace, as a
 * container may be in, clock_gettime(2) tells another time. Asks /proc; callable by
 * any thread.
 *
 * Return: 0 but in a time namespace.
 */
int64_t elog_time_offset(void);

/** enum elog_item_type - what was found; consumers find the first two only */
enum elog_item_type {
	ELOG_ITEM_EVENT,
	ELOG_ITEM_LOST,
	ELOG_ITEM_PART,		/* a file's next capture begins */
	ELOG_ITEM_SYNC,		/* all before its time was yielded */
	ELOG_ITEM_DAMAGE,	/* a file is not whole */
};

/** enum elog_damage - in what way a file is not whole */
enum elog_damage {
	ELOG_DAMAGE_BYTES,	/* bytes are not blocks, or have changed */
	ELOG_DAMAGE_CUT,	/* it ends within a block */
	ELOG_DAMAGE_NO_END,	/* a capture in it has no end */
	ELOG_DAMAGE_RECORDS,	/* bytes of a ring are not records */
	ELOG_DAMAGE_MISSING,	/* bytes of a ring, or records, are not there */
	ELOG_DAMAGE_ORDER,	/* too much was between two SYNC blocks to sort it */
	ELOG_DAMAGE_UNKNOWN,	/* a block is of a kind that this library cannot read */
	ELOG_DAMAGES,
};

/**
 * struct elog_item - an event, or a loss, or something about a file
 * @type: which
 * @cpu: the CPU it happened on; EVENTLOG_CPU_ALL: of a loss on CPUs that have
 *	no ring
 * @context: enum eventlog_context
 * @descriptor: the event's definition
 * @time: CLOCK_MONOTONIC, ns; of a loss: not later than that
 * @session: 0: none
 * @pid: process
 * @tid: thread
 * @payload: the event's payload, in the ring: valid until the next call of a
 *	function on the consumer
 * @payload_size: bytes of it, up to 7 zeroes behind it included
 * @lost: of a loss: how many by cause, since the one reported before
 * @damage: of ELOG_ITEM_DAMAGE: which
 * @offset: likewise, where it begins in the file, in bytes from where reading
 *	began
 * @size: likewise, how many bytes were skipped, or are missing; 0: not known
 * @reserved: 0
 */
struct elog_item {
	enum elog_item_type type;
	unsigned int cpu;
	enum eventlog_context context;
	uint32_t descriptor;
	uint64_t time;
	uint64_t session;
	uint32_t pid;
	uint32_t tid;
	const void *payload;
	size_t payload_size;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
	enum elog_damage damage;
	uint64_t offset;
	uint64_t size;
	uint64_t reserved[4];
};

/**
 * elog_consumer_freeze() - begin a batch of what overwriting rings hold
 * @consumer: opened with ELOG_CONSUMER_OVERWRITE
 *
 * Nothing is written to the rings until elog_consumer_thaw(); what is emitted
 * meanwhile is counted as lost. elog_consumer_next() then returns what the
 * rings hold and no earlier batch had, in order. Takes an RCU grace period.
 *
 * Return: 0, -EINVAL (not an overwriting consumer), or what mapping a new
 * CPU's ring failed with; then the rings are not frozen.
 */
int elog_consumer_freeze(struct elog_consumer *consumer);

/**
 * elog_consumer_thaw() - go on writing to frozen rings
 * @consumer: the consumer; the batch is over
 *
 * Return: 0 or a negative errno.
 */
int elog_consumer_thaw(struct elog_consumer *consumer);

/**
 * elog_consumer_next() - the next record of the batch
 * @consumer: the consumer
 * @item: filled in
 *
 * Gives the record before it back to the kernel, soon: ring positions are
 * written every eighth of a ring, and at the end of the batch.
 *
 * Return: 1 there is one; 0 the batch is over; -EBADMSG a ring was damaged:
 * what was in it is skipped, and the call may be repeated; with a backlog -ENOMEM.
 */
int elog_consumer_next(struct elog_consumer *consumer, struct elog_item *item);

/**
 * elog_consumer_describe() - the schema of an event
 * @consumer: the consumer
 * @descriptor: struct elog_item.descriptor
 * @event: set; belongs to the consumer, and is valid as long as
 *	elog_consumer_generation() says the same
 *
 * What the kernel answered is remembered as long as it is not too much.
 *
 * Return: 0, -ENOENT there is none, -EINVAL the text is not understood,
 * -ENOMEM.
 */
int elog_consumer_describe(struct elog_consumer *consumer, uint32_t descriptor,
			   const struct elog_schema_event **event);

/**
 * elog_consumer_definition() - get the schema text of an event
 * @consumer: the consumer
 * @request: its descriptor is that of an event that was yielded; flags are 0
 * @text: set to the text, NUL-terminated, which the caller frees
 *
 * As elog_device_describe(), but with a backlog also of a definition that is gone by
 * now.
 *
 * Return: as elog_device_describe().
 */
int elog_consumer_definition(struct elog_consumer *consumer,
			     struct eventlog_describe *request, char **text);

/**
 * elog_consumer_generation() - whether descriptions are still what they were
 * @consumer: the consumer
 *
 * For who keeps what elog_consumer_describe() gave, by descriptor. Failures are
 * not to be kept.
 *
 * Return: a count that is another one as soon as any of them has become invalid,
 * which only elog_consumer_describe() makes them.
 */
uint64_t elog_consumer_generation(const struct elog_consumer *consumer);

/**
 * elog_consumer_stat() - what was delivered and lost so far
 * @consumer: the consumer
 * @cpu: one, or EVENTLOG_CPU_ALL
 * @descriptor: one event, with EVENTLOG_CPU_ALL, or 0
 * @stat: filled in
 *
 * Return: 0; -ENXIO the CPU has no ring; -ENOENT the event never matched.
 */
int elog_consumer_stat(struct elog_consumer *consumer, uint32_t cpu,
		       uint32_t descriptor, struct eventlog_stat *stat);

/**
 * elog_consumer_cpus() - one more than the highest number of a ring
 * @consumer: the consumer
 *
 * 0 with ELOG_CONSUMER_NO_RINGS.
 */
unsigned int elog_consumer_cpus(const struct elog_consumer *consumer);

/**
 * elog_consumer_raw() - what a ring holds, as it is
 * @consumer: opened without ELOG_CONSUMER_OVERWRITE and without backlog, and not
 *	used with elog_consumer_next()
 * @cpu: the ring's
 * @data: set to whole records, padding and lost records among them, in the ring
 *	itself; valid until they are released
 * @size: set to bytes at @data: up to the end of what is written, or of the
 *	ring's memory
 * @position: set to the ring position of the first one
 *
 * There may be more behind it: ask again after elog_consumer_raw_release(), which
 * may be given a part of it.
 *
 * Return: 1 there is something; 0 there is nothing; -EINVAL; -EBADMSG the ring
 * was damaged: what was in it is skipped.
 */
int elog_consumer_raw(struct elog_consumer *consumer, unsigned int cpu,
		      const void **data, size_t *size, uint64_t *position);

/**
 * elog_consumer_raw_release() - give records back to the kernel
 * @consumer: the consumer
 * @cpu: the ring's
 * @size: bytes, at most what elog_consumer_raw() said
 *
 * Return: 0 or -EINVAL.
 */
int elog_consumer_raw_release(struct elog_consumer *consumer, unsigned int cpu,
			      size_t size);

/**
 * elog_consumer_raw_flush() - ask for a time, and map rings that are new
 * @consumer: as for elog_consumer_raw()
 *
 * When all rings have been read once more after this, nothing that is older
 * than elog_consumer_time() will come any more.
 *
 * Return: as elog_consumer_flush().
 */
int elog_consumer_raw_flush(struct elog_consumer *consumer);

/**
 * elog_consumer_raw_lost() - what a ring has lost so far
 * @consumer: as for elog_consumer_raw()
 * @cpu: the ring's, or EVENTLOG_CPU_ALL: CPUs that have no ring
 * @lost: EVENTLOG_LOST_CAUSES counts, filled in
 *
 * Return: 1; 0 the ring has unread records, which may tell better where it was;
 * or what EVENTLOG_IOC_STAT fails with.
 */
int elog_consumer_raw_lost(struct elog_consumer *consumer, unsigned int cpu,
			   uint64_t *lost);

/** elog_lost_name() - the name of a cause of loss, or NULL */
const char *elog_lost_name(unsigned int cause);

/* ------------------------------------------------------------------------
 * Names of threads
 */

struct elog_processes;

/** elog_processes_new() - an empty table of threads; NULL: no memory */
struct elog_processes *elog_processes_new(void);

/** elog_processes_free() - free the table; NULL is fine */
void elog_processes_free(struct elog_processes *processes);

/**
 * elog_processes_name() - the name ("comm") of a thread
 * @processes: the table
 * @pid: its process
 * @tid: the thread
 *
 * Read from /proc when the thread is first asked for, and again when that is
 * more than a second ago; of a thread that is gone the last known name, or
 * ":tid".
 *
 * Return: the name, valid until the next call.
 */
const char *elog_processes_name(struct elog_processes *processes, uint32_t pid,
				uint32_t tid);

/**
 * elog_processes_learn() - what to call a thread if /proc can no longer tell
 * @processes: the table
 * @pid: its process
 * @tid: the thread
 * @name: its name
 */
void elog_processes_learn(struct elog_processes *processes, uint32_t pid,
			  uint32_t tid, const char *name);

/* ------------------------------------------------------------------------
 * Files: elog(5) says what is in them
 */

struct elog_file_writer;

/* The first SYNC block tells losses that another file has told already. */
#define ELOG_FILE_CONTINUES	(1U << 0)

/**
 * struct elog_file_options - how to write a file
 * @size: sizeof(struct elog_file_options)
 * @flags: ELOG_FILE_CONTINUES, or 0
 * @program: what writes it, with its version; NULL: not told
 * @command: what was captured; NULL: not told
 * @capture: what all files of one capture that each of its losses is told by say,
 *	and no others: whoever reads them together knows by it; NULL: no others do
 * @cpus: as elog_consumer_cpus() says
 * @compression: of schemas and records; 0: none; 1, fast, to 19, small: as zstd(1)
 *	has them
 * @interrupted: called when a signal has interrupted writing; to give up, return
 *	true. NULL: never
 * @context: for @interrupted
 * @start: since when there may be records, in the time that they have, ns; 0: from
 *	now on
 */
struct elog_file_options {
	uint32_t size;
	uint32_t flags;
	const char *program;
	const char *command;
	const char *capture;
	uint32_t cpus;
	uint32_t compression;
	bool (*interrupted)(void *context);
	void *context;
	uint64_t start;
};

/**
 * elog_file_writer_open() - begin a file, or a further part of one
 * @writer: set to the new writer
 * @fd: where to write, from where it stands; stays the caller's. It is never
 *	sought on
 * @options: how
 *
 * This and all that write return a negative errno of write(2), or -EINTR when
 * they were to give up, and then all that follow return the same. If @fd is a
 * regular file, and nobody else has written to its end, it is cut back to the last
 * whole block then.
 *
 * Return: 0, -EINVAL, -ENOMEM, -EOPNOTSUPP compression is not built in, or as
 * said.
 */
int elog_file_writer_open(struct elog_file_writer **writer, int fd,
			  const struct elog_file_options *options);

/** elog_file_writer_close() - free a writer, write nothing; NULL is fine */
void elog_file_writer_close(struct elog_file_writer *writer);

/** elog_file_writer_size() - bytes of whole blocks written so far */
uint64_t elog_file_writer_size(const struct elog_file_writer *writer);

/**
 * struct elog_file_raw_info - what is known of records without looking at them
 * @newest: none of them is later than that, CLOCK_MONOTONIC ns
 * @lost: by cause, what the CPU's records tell so far, these included
 * @reserved: 0
 */
struct elog_file_raw_info {
	uint64_t newest;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
	uint64_t reserved[2];
};

/**
 * elog_file_write_raw() - store records
 * @writer: the writer
 * @cpu: whose ring they are from
 * @data: what elog_consumer_raw() gave; not copied
 * @size: bytes of it
 * @position: likewise
 * @info: what is known of them; NULL: each record is looked at to find out. If it
 *	is wrong, events may be missing when a reader begins in the middle
 *
 * Their schemas and the names of their threads are to be written before.
 *
 * Return: 0, -EINVAL, or a negative errno as elog_file_writer_open() says.
 */
int elog_file_write_raw(struct elog_file_writer *writer, unsigned int cpu,
			const void *data, size_t size, uint64_t position,
			const struct elog_file_raw_info *info);

/**
 * elog_file_write_schema() - store a definition, once
 * @writer: the writer
 * @descriptor: its descriptor
 * @provider_id: as EVENTLOG_IOC_DESCRIBE tells
 * @text: its schema
 *
 * Return: 0, or a negative errno as elog_file_writer_open() says.
 */
int elog_file_write_schema(struct elog_file_writer *writer, uint32_t descriptor,
			   uint32_t provider_id, const char *text);

/**
 * elog_file_write_process() - store a thread's name
 * @writer: the writer, which stores it together with others, before the next
 *	records
 * @pid: its process
 * @tid: the thread
 * @name: its name, of which 15 bytes count
 *
 * Return: 0, or a negative errno as elog_file_writer_open() says.
 */
int elog_file_write_process(struct elog_file_writer *writer, uint32_t pid,
			    uint32_t tid, const char *name);

/**
 * struct elog_file_loss - what a CPU has lost so far
 * @cpu: the CPU, or EVENTLOG_CPU_ALL: those that have no ring
 * @reserved: 0
 * @lost: by cause, cumulative
 */
struct elog_file_loss {
	uint32_t cpu;
	uint32_t reserved;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
};

/**
 * elog_file_write_sync() - state that nothing older follows
 * @writer: the writer
 * @time: than this, CLOCK_MONOTONIC ns
 * @losses: of CPUs that have lost anything
 * @count: of @losses, at most 4097
 *
 * A reader holds what it has read until it finds this: write it several times a
 * second, and at the end.
 *
 * Return: 0, -EINVAL, or a negative errno as elog_file_writer_open() says.
 */
int elog_file_write_sync(struct elog_file_writer *writer, uint64_t time,
			 const struct elog_file_loss *losses, size_t count);

/**
 * elog_file_write_end() - state that the capture has ended as it should
 * @writer: the writer
 * @records: events that were written
 * @lost: events that were lost
 *
 * Return: 0, or a negative errno as elog_file_writer_open() says.
 */
int elog_file_write_end(struct elog_file_writer *writer, uint64_t records,
			uint64_t lost);

struct elog_file_reader;

/**
 * elog_file_reader_open() - begin to read a file
 * @reader: set to the new reader
 * @fd: what to read, from where it stands: a file or a pipe; stays the caller's
 *
 * Nothing is read yet.
 *
 * Return: 0 or -ENOMEM.
 */
int elog_file_reader_open(struct elog_file_reader **reader, int fd);

/** elog_file_reader_close() - free a reader and everything it yielded; NULL is fine */
void elog_file_reader_close(struct elog_file_reader *reader);

/**
 * elog_file_next() - the next event, in the order of their times, or whatever
 * @reader: the reader
 * @item: filled in; a payload is valid until the next call for the reader
 *
 * All is in this machine's byte order, also of a machine of the other one; but a
 * payload whose schema the file does not have is as it was there.
 *
 * A file may be anything: what is not whole is reported as ELOG_ITEM_DAMAGE,
 * and reading goes on behind it. Memory does not grow with the file, nor time more
 * than it does, whatever compressed blocks claim to become. Built without zstd the
 * library reports these as ELOG_DAMAGE_UNKNOWN.
 *
 * Return: 1 there is one; 0 the end; a negative errno of read(2); -ENOMEM;
 * -EBADMSG this is no .elog file; -EPROTONOSUPPORT it is of a version, or
 * -EOPNOTSUPP of a byte order, that this library cannot read. After an error
 * every call returns the same, but for -EAGAIN: there is nothing more to read for
 * now, of a file that is followed or of a pipe that does not block; nothing is
 * lost.
 */
int elog_file_next(struct elog_file_reader *reader, struct elog_item *item);

/**
 * elog_file_describe() - the schema of an event of the file
 * @reader: the reader
 * @descriptor: struct elog_item.descriptor
 * @event: set; valid as long as elog_file_generation() says the same
 *
 * Return: 0, -ENOENT there is none, -EINVAL the text is not understood,
 * -ENOMEM.
 */
int elog_file_describe(struct elog_file_reader *reader, uint32_t descriptor,
		       const struct elog_schema_event **event);

/**
 * elog_file_generation() - whether descriptions are still what they were
 * @reader: the reader
 *
 * For who keeps what elog_file_describe() gave, by descriptor. Failures are not
 * to be kept: a schema may come late in a damaged file.
 *
 * Return: a count that is another one as soon as any of them has become invalid,
 * or a descriptor may have another meaning. elog_file_describe() and
 * elog_file_next() change it.
 */
uint64_t elog_file_generation(const struct elog_file_reader *reader);

/**
 * elog_file_progress() - how much was read
 * @reader: the reader
 * @done: set to bytes read so far
 * @total: set to bytes that will have been read at the end of the file as it is
 *	now: what elog_file_seek() passed over is in neither; 0: not known, this
 *	is no regular file
 *
 * Return: 0 or a negative errno of fstat(2).
 */
int elog_file_progress(const struct elog_file_reader *reader, uint64_t *done,
		       uint64_t *total);

/**
 * elog_file_follow() - read on when the file grows
 * @reader: the reader
 * @on: whether
 *
 * While it is on, elog_file_next() returns -EAGAIN where the file ends, and the
 * next call tries to read on; that a block is not whole yet is no damage, unless
 * another part has begun in it for a second. Off: the end is the end, as it is at
 * first.
 *
 * What no SYNC block has released is held as ever. Wait between calls: there is
 * nothing to poll(2) for in a file.
 *
 * Return: 0; -EINVAL the end was found already.
 */
int elog_file_follow(struct elog_file_reader *reader, bool on);

/**
 * elog_file_seek() - leave out what is earlier than a time
 * @reader: the reader, of which nothing was read yet
 * @from: the time, CLOCK_REALTIME in nanoseconds
 *
 * Of events and losses that are earlier some, or all, are left out; none is
 * that is at that time or later. Damages in what was left out are not told.
 *
 * What the file says of itself is verified, so that damages leave out nothing;
 * only who made checksums for what is wrong is believed, as in all else. A file
 * that is not regular is read from its beginning.
 *
 * Return: 0; -EINVAL something was read already; -ENOMEM, or a negative errno of
 * pread(2), which then elog_file_next() returns, too.
 */
int elog_file_seek(struct elog_file_reader *reader, uint64_t from);

/**
 * elog_file_processes() - the names of threads in the file
 * @reader: owns the table
 */
struct elog_processes *elog_file_processes(struct elog_file_reader *reader);

/**
 * elog_file_info() - what the file says of itself
 * @reader: the reader
 * @key: version, host, kernel, machine, elog, command, ...: see elog(5)
 *
 * Return: of the part being read, the text, which may hold anything but a line's
 * end, valid until the next part begins; NULL: it does not say.
 */
const char *elog_file_info(const struct elog_file_reader *reader, const char *key);

/**
 * elog_file_wall_offset() - CLOCK_REALTIME - CLOCK_MONOTONIC, ns
 * @reader: the reader
 *
 * Return: as it was when the events that are being yielded were written.
 */
int64_t elog_file_wall_offset(const struct elog_file_reader *reader);

struct elog_file_set;

/**
 * elog_file_set_open() - begin to read several files as one
 * @set: set to the new set
 *
 * Return: 0 or -ENOMEM.
 */
int elog_file_set_open(struct elog_file_set **set);

/** elog_file_set_close() - free a set and its readers; NULL is fine */
void elog_file_set_close(struct elog_file_set *set);

/**
 * elog_file_set_add() - read one more file
 * @set: the set
 * @fd: as for elog_file_reader_open()
 * @reader: set to its reader, which belongs to the set, and is for every
 *	function but elog_file_next() and elog_file_reader_close()
 *
 * Return: 0 or -ENOMEM.
 */
int elog_file_set_add(struct elog_file_set *set, int fd,
		      struct elog_file_reader **reader);

/**
 * elog_file_set_next() - the next event of all files, or whatever
 * @set: the set
 * @item: filled in; a payload is valid until the next call for the set
 * @reader: set to the reader of the file that it is of, whose functions tell of
 *	the item as after elog_file_next(); NULL: of none
 *
 * Events and losses are in the order of their times of day, which are
 * @item->time + elog_file_wall_offset(@reader), files of equal ones in the order
 * of adding; the order within a file is kept, even where its clock was set back.
 * Among files of one boot of one machine it is that of @item->time: what they say
 * of the time of day differs by what reading clocks takes.
 * Everything else passes as it comes. A file that is followed and has nothing for
 * now is not waited for, and is asked again once -EAGAIN was returned.
 *
 * Memory does not grow with the files.
 *
 * Return: 1 there is one; 0 the end of all; -EAGAIN no file has anything for now;
 * or what elog_file_next() returned for @reader, which is told once: the others
 * go on.
 */
int elog_file_set_next(struct elog_file_set *set, struct elog_item *item,
		       struct elog_file_reader **reader);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_H */
