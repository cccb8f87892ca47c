/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the parts of libelog share and users of the library do not see.
 */
#ifndef ELOG_INTERNAL_H
#define ELOG_INTERNAL_H

#include <string.h>

#include "elog.h"

#define ELOG_ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define elog_container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

/* The fixed part of an event of ELOG_IOV_MAX strings, and these. */
#define ELOG_PARTS_MAX	(ELOG_IOV_MAX + 1)

/* elog_event_write() with up to ELOG_PARTS_MAX parts. */
int elog_event_write_parts(const struct elog_event *event, uint64_t session,
			   const struct iovec *iov, unsigned int count);

/**
 * elog_event_retire() - elog_event_unregister() that frees nothing
 * @event: registered. Threads may be using it: it is off from then on
 */
void elog_event_retire(struct elog_event *event);

/**
 * elog_event_revive() - register an event that has retired
 * @event: what it was registered with holds again
 *
 * Return: as of elog_event_register(); when it fails the event stays retired.
 */
int elog_event_revive(struct elog_event *event);

/**
 * elog_event_is_marker() - an event is enabled, too, when handlers are wished for
 * @event: registered
 */
void elog_event_is_marker(struct elog_event *event);

/**
 * elog_event_handlers() - what the kernel wants a marker to do
 * @event: a marker's
 *
 * While there is no connection, an attempt is made as elog_event_wanted() makes it.
 * Callable from signal handlers.
 *
 * Return: ELOG_MARKER_*, or ELOG_EVENT_ASKING instead of what is beside TRACE.
 */
unsigned int elog_event_handlers(const struct elog_event *event);

/* Beside ELOG_MARKER_*: which ones is to be asked at each hit. */
#define ELOG_EVENT_ASKING	(1U << 7)

/**
 * elog_event_ask() - what the kernel wants a hit of a marker to do
 * @event: the marker's
 * @values: of its fields; those of strings are addresses
 * @count: of @values, at most EVENTLOG_ASK_VALUES_MAX
 *
 * Callable from signal handlers; a system call.
 *
 * Return: ELOG_MARKER_PRINT and ELOG_MARKER_PROBE; nothing if the kernel cannot tell.
 */
unsigned int elog_event_ask(const struct elog_event *event, const uint64_t *values,
			    unsigned int count);

/**
 * elog_load_word() - read a word that a kernel may be writing, with acquire
 * @header: of the ring
 * @word: a word of the header, which only grows
 * @upper: its copy in the header
 *
 * A 32-bit process cannot read 64 bits at once, nor can a 32-bit kernel write
 * them: see EVENTLOG_RING_SPLIT.
 */
static inline uint64_t elog_load_word(const struct eventlog_ring_header *header,
				      const __u64 *word, const __u32 *upper)
{
#if __SIZEOF_POINTER__ >= 8
	(void)header;
	(void)upper;
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#else
	const uint32_t *half = (const uint32_t *)(const void *)word;
	const int high = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	uint32_t copy, low;

	if (!(header->flags & EVENTLOG_RING_SPLIT))
		upper = &half[high];
	do {
		copy = __atomic_load_n(upper, __ATOMIC_ACQUIRE);
		low = __atomic_load_n(&half[!high], __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&half[high], __ATOMIC_ACQUIRE) != copy);
	return (uint64_t)copy << 32 | low;
#endif
}

/**
 * elog_load_position() - read the low half of a position, with acquire
 * @address: the position
 *
 * That half is all a discarding ring's reader needs: a ring is smaller than 2 GiB.
 */
static inline uint32_t elog_load_position(const __u64 *address)
{
#if __SIZEOF_POINTER__ >= 8
	return (uint32_t)__atomic_load_n(address, __ATOMIC_ACQUIRE);
#else
	const uint32_t *half = (const uint32_t *)(const void *)address;

	return __atomic_load_n(&half[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__],
			       __ATOMIC_ACQUIRE);
#endif
}

/**
 * elog_header_committed() - how far a discarding ring is whole
 * @header: the ring's
 * @before: how far it was, at most 2 GiB ago
 *
 * A position behind that is one that stepped back for an instant.
 */
static inline uint64_t elog_header_committed(const struct eventlog_ring_header *header,
					     uint64_t before)
{
	uint32_t low = elog_load_position(&header->committed);
	int32_t ahead = (int32_t)(low - (uint32_t)before);

	return ahead > 0 ? before + (uint32_t)ahead : before;
}

/** elog_header_lost() - how many a ring has lost so far, for one of the causes */
static inline uint64_t elog_header_lost(const struct eventlog_ring_header *header,
					unsigned int cause)
{
	return elog_load_word(header, &header->lost[cause],
			      &header->lost_upper[cause]);
}

/**
 * elog_header_see_losses() - read what a ring has lost, and let poll() be quiet
 * @header: the ring's
 * @consumer: the ring's, where it is told
 * @counts: filled in, by cause
 *
 * poll() is to be quiet about what is known, and not about what is not. That is
 * the counts' sum: lost_total may be behind them, and would then be ahead of
 * lost_seen for as long as there is nothing new to read.
 */
static inline void elog_header_see_losses(const struct eventlog_ring_header *header,
					  struct eventlog_ring_consumer *consumer,
					  uint64_t *counts)
{
	uint32_t total = 0;
	unsigned int i;

	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++) {
		counts[i] = elog_header_lost(header, i);
		total += (uint32_t)counts[i];
	}
	__atomic_store_n(&consumer->lost_seen, total, __ATOMIC_RELAXED);
}

/* In the first reserved member of a text: it is not the heap's, and does not grow. */
#define ELOG_TEXT_FIXED	1

/** elog_text_grow() - what elog_text_room() does when there is none */
char *elog_text_grow(struct elog_text *text, size_t size);

/**
 * elog_text_room() - room for characters to be appended, and a NUL
 * @text: the text
 * @size: how many at most
 *
 * Return: where they belong, for elog_text_advance(); NULL once memory was short.
 */
static inline char *elog_text_room(struct elog_text *text, size_t size)
{
	if (text->error || text->capacity - text->size <= size)
		return elog_text_grow(text, size);
	return text->data + text->size;
}

/** elog_text_advance() - what is before @end was appended */
static inline void elog_text_advance(struct elog_text *text, char *end)
{
	*end = '\0';
	text->size = (size_t)(end - text->data);
}

/**
 * elog_copy() - memcpy(), for what is mostly short
 * @to: room for @size bytes
 * @from: that many
 * @size: how many
 *
 * Of a name or a word a call takes longer than the copying: up to 32 bytes are
 * copied as two pieces, which may have bytes in common.
 *
 * Return: the end of the copy.
 */
static inline char *elog_copy(char *to, const void *from, size_t size)
{
	const char *bytes = from;
	char pieces[2][16];
	uint64_t words[2];
	uint32_t halves[2];

	if (size > 32) {
		memcpy(to, from, size);
	} else if (size >= 16) {
		memcpy(pieces[0], bytes, 16);
		memcpy(pieces[1], bytes + size - 16, 16);
		memcpy(to, pieces[0], 16);
		memcpy(to + size - 16, pieces[1], 16);
	} else if (size >= 8) {
		memcpy(&words[0], bytes, 8);
		memcpy(&words[1], bytes + size - 8, 8);
		memcpy(to, &words[0], 8);
		memcpy(to + size - 8, &words[1], 8);
	} else if (size >= 4) {
		memcpy(&halves[0], bytes, 4);
		memcpy(&halves[1], bytes + size - 4, 4);
		memcpy(to, &halves[0], 4);
		memcpy(to + size - 4, &halves[1], 4);
	} else if (size) {
		to[0] = bytes[0];
		to[size / 2] = bytes[size / 2];
		to[size - 1] = bytes[size - 1];
	}
	return to + size;
}

static inline void elog_text_character(struct elog_text *text, char character)
{
	char *room = elog_text_room(text, 1);

	if (!room)
		return;
	*room = character;
	elog_text_advance(text, room + 1);
}

/* Digits of the largest number of 64 bits. */
#define ELOG_DECIMAL_MAX	20
#define ELOG_HEX_MAX		16

/** elog_put_decimal() - write digits; return the end of them */
char *elog_put_decimal(char *to, uint64_t value);

/**
 * elog_put_number() - write the value of an integer field
 * @to: room for 1 + ELOG_DECIMAL_MAX characters
 * @field: signed or not
 * @value: sign-extended if signed
 *
 * Return: the end of it.
 */
static inline char *elog_put_number(char *to, const struct elog_schema_field *field,
				    uint64_t value)
{
	if (field->is_signed && (int64_t)value < 0) {
		*to++ = '-';
		value = 0 - value;
	}
	return elog_put_decimal(to, value);
}

/** elog_put_hex() - likewise, hexadecimal */
char *elog_put_hex(char *to, uint64_t value);

/** elog_put_octets() - two hexadecimal digits each, @between the octets unless NUL */
char *elog_put_octets(char *to, const unsigned char *bytes, size_t size,
		      char between);

/**
 * elog_put_address() - write an address
 * @to: room for ELOG_ADDRESS_MAX characters
 * @bytes: in network byte order
 * @size: 4 or 16
 *
 * Return: the end of it.
 */
char *elog_put_address(char *to, const unsigned char *bytes, size_t size);

#define ELOG_ADDRESS_MAX	48

/**
 * elog_text_between_quotes() - append a string in double quotes
 * @text: where
 * @data: the string
 * @size: bytes of it
 * @put_other: appends what is not to be shown as it is and begins at @from, and
 *	returns the end of that
 */
void elog_text_between_quotes(struct elog_text *text, const char *data, size_t size,
			      const unsigned char *(*put_other)(struct elog_text *text,
								const unsigned char *from,
								const unsigned char *end));

/** elog_text_decimal() - append the value of an integer field */
void elog_text_decimal(struct elog_text *text, const struct elog_schema_field *field,
		       uint64_t value);

/** elog_hex_bits() - of a negative number as many bits as the field has */
static inline uint64_t elog_hex_bits(const struct elog_schema_field *field,
				     uint64_t value)
{
	return field->size < 8 ? value & ((1ULL << field->size * 8) - 1) : value;
}

/** elog_load_integer() - an integer of 1, 2, 4 or 8 bytes, in this machine's order */
static inline uint64_t elog_load_integer(const unsigned char *bytes, size_t size,
					 bool is_signed)
{
	uint8_t byte;
	uint16_t half;
	uint32_t word;
	uint64_t whole;

	switch (size) {
	case 1:
		memcpy(&byte, bytes, sizeof(byte));
		return is_signed ? (uint64_t)(int8_t)byte : byte;
	case 2:
		memcpy(&half, bytes, sizeof(half));
		return is_signed ? (uint64_t)(int16_t)half : half;
	case 4:
		memcpy(&word, bytes, sizeof(word));
		return is_signed ? (uint64_t)(int32_t)word : word;
	default:
		memcpy(&whole, bytes, sizeof(whole));
		return whole;
	}
}

/**
 * elog_plain_number() - the value of the commonest kind of field
 * @field: which
 * @payload: the payload, trusted in nothing
 * @size: bytes of it
 * @value: set, sign-extended if signed
 *
 * Return: false if it is not an integer that is shown in decimal, or not inside:
 * then it is for elog_decode().
 */
static inline bool elog_plain_number(const struct elog_schema_field *field,
				     const void *payload, size_t size,
				     uint64_t *value)
{
	if (field->type > ELOG_TYPE_SIGNED || field->display == ELOG_DISPLAY_HEX ||
	    field->offset > size || field->size > size - field->offset)
		return false;
	*value = elog_load_integer((const unsigned char *)payload + field->offset,
				   field->size, field->is_signed);
	return true;
}

/** elog_enum_name() - the name of an enum's value, or NULL */
const char *elog_enum_name(const struct elog_schema_field *field, uint64_t value);

/** elog_flag_is_set() - is it, in a value? One without bits, if that has none */
static inline bool elog_flag_is_set(const struct elog_schema_name *flag,
				    uint64_t value)
{
	return flag->value ? (value & flag->value) == flag->value : !value;
}

/** elog_plain_end() - the first byte that is not ASCII to be shown as it is, or @end */
const unsigned char *elog_plain_end(const unsigned char *from,
				    const unsigned char *end);

/**
 * elog_utf8_size() - bytes of a character that may be shown
 * @from: its first byte
 * @end: behind the last byte there is, above @from
 *
 * Return: 2 to 4; 0: there is none: ASCII, overlong forms, surrogates, what is
 * beyond Unicode, and the control characters U+0080 to U+009F.
 */
size_t elog_utf8_size(const unsigned char *from, const unsigned char *end);

/**
 * struct elog_ring_reader - reads records that are in place
 * @data: the ring's bytes
 * @data_bytes: how many, a power of two
 * @sub_buffer_bytes: records do not straddle multiples of these, a power of two
 * @position: of the record to read next; counts up for ever
 * @end: whole up to here; @end - @position <= @data_bytes
 * @cpu: for struct elog_item
 * @swapped: its records are in the other byte order
 * @key: what the record at @position is sorted by, once elog_ring_peek() said
 *	that there is one: its time, but never less than the record's before it
 * @size: bytes from it to the next one
 * @lost: the counts reported so far
 *
 * Knows nothing of mappings, kernels and positions that others write.
 */
struct elog_ring_reader {
	const unsigned char *data;
	uint64_t data_bytes;
	uint64_t sub_buffer_bytes;
	uint64_t position;
	uint64_t end;
	unsigned int cpu;
	bool swapped;
	uint64_t key;
	uint32_t size;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
};

/**
 * elog_ring_peek() - step to the next event or lost record
 * @ring: its padding, and records of types unknown, are skipped
 *
 * Return: 1 there is one at @ring->position, 0 nothing before @ring->end,
 * -EBADMSG the bytes are not records: everything before @ring->end was skipped.
 */
int elog_ring_peek(struct elog_ring_reader *ring);

/**
 * elog_ring_take() - decode the record that elog_ring_peek() found, and step on
 * @ring: the ring
 * @item: filled in; the payload stays in the ring, as it is
 *
 * Return: true, or false for a lost record that tells nothing new.
 */
bool elog_ring_take(struct elog_ring_reader *ring, struct elog_item *item);

/**
 * elog_ring_lost() - report counts that came from elsewhere than a record
 * @ring: the ring
 * @counts: cumulative, by cause
 * @item: filled in but for the time
 *
 * Return: true if they tell something new.
 */
bool elog_ring_lost(struct elog_ring_reader *ring, const uint64_t *counts,
		    struct elog_item *item);

/**
 * elog_ring_span() - how many bytes of whole records lie in one piece
 * @ring: its record at @ring->position is the first of them
 *
 * Return: bytes, padding and lost records included; 0 nothing before
 * @ring->end; -EBADMSG that cannot be.
 */
ssize_t elog_ring_span(const struct elog_ring_reader *ring);

/**
 * struct elog_merge - rings by the key of their next record, smallest first
 * @rings: a heap; room for all rings, owned by the caller
 * @count: rings in it, which are the ones that have a record
 */
struct elog_merge {
	struct elog_ring_reader **rings;
	size_t count;
};

/**
 * elog_merge_add() - let a ring take part
 * @merge: the merge, not containing @ring
 * @ring: the ring
 * @before: records whose key is not smaller stay where they are
 *
 * Return: 1 or 0, whether it has such a record; -EBADMSG as elog_ring_peek().
 */
int elog_merge_add(struct elog_merge *merge, struct elog_ring_reader *ring,
		   uint64_t before);

/**
 * elog_merge_first() - the ring that has the oldest record
 * @merge: the merge
 *
 * Return: the ring, whose record is for elog_ring_take(); NULL: none is left.
 */
struct elog_ring_reader *elog_merge_first(const struct elog_merge *merge);

/**
 * elog_merge_update() - go on after the first ring's record was taken
 * @merge: the merge
 * @before: as given to elog_merge_add()
 *
 * Return: 0, or -EBADMSG: the ring's remainder was damaged, it takes part no
 * more.
 */
int elog_merge_update(struct elog_merge *merge, uint64_t before);

/* ------------------------------------------------------------------------
 * Records that were taken off the rings and are not read yet
 */

/**
 * struct elog_piece - records of one CPU, one behind the other
 * @next: of those that wait; for who has it, to use
 * @serial: those made later have larger ones
 * @size: bytes of records
 * @capacity: of @data
 * @data: the records
 */
struct elog_piece {
	struct elog_piece *next;
	uint64_t serial;
	size_t size;
	size_t capacity;
	unsigned char data[] __attribute__((aligned(8)));
};

struct elog_backlog;

/**
 * elog_backlog_open() - begin to take records off rings
 * @backlog: set to the new backlog, whose thread runs
 * @fd: the subscriber
 * @cpus: the rings that there may be
 * @bytes: how many of each may wait
 * @watermark: so many bytes of one end elog_backlog_wait()
 * @processes: told the names of threads, by elog_backlog_next(); or NULL
 *
 * The reader's functions are all others but those that say otherwise.
 *
 * Return: 0, or a negative errno.
 */
int elog_backlog_open(struct elog_backlog **backlog, int fd, unsigned int cpus,
		      uint64_t bytes, uint64_t watermark,
		      struct elog_processes *processes);

/** elog_backlog_close() - end its thread, free everything; NULL is fine */
void elog_backlog_close(struct elog_backlog *backlog);

/**
 * elog_backlog_add() - there is a ring
 * @backlog: the backlog
 * @ring: over it; copied
 * @header: mapped until the backlog is closed, as is
 * @consumer: what the kernel is told there
 */
void elog_backlog_add(struct elog_backlog *backlog,
		      const struct elog_ring_reader *ring,
		      const struct eventlog_ring_header *header,
		      struct eventlog_ring_consumer *consumer);

/**
 * elog_backlog_next() - go on to the next records of a ring
 * @backlog: the backlog
 * @cpu: the ring's; all that was got of it before was read
 * @piece: set to them, for elog_backlog_free()
 *
 * If none wait they come from the ring itself.
 *
 * Return: 1; 0 there are none; -EBADMSG the ring was damaged, go on; -ENOMEM.
 */
int elog_backlog_next(struct elog_backlog *backlog, unsigned int cpu,
		      struct elog_piece **piece);

/** elog_backlog_free() - give back pieces: @pieces and all that are ->next */
void elog_backlog_free(struct elog_backlog *backlog, struct elog_piece *pieces);

/** elog_backlog_pending() - has elog_backlog_next() anything to say? */
bool elog_backlog_pending(struct elog_backlog *backlog, unsigned int cpu);

/**
 * elog_backlog_wait() - sleep until a ring was at its watermark, or something lost
 * @backlog: the backlog
 * @limit: how long; NULL: for ever
 * @mask: as for ppoll(2)
 *
 * Return: 1, 0, or a negative errno, as elog_consumer_wait().
 */
int elog_backlog_wait(struct elog_backlog *backlog, const struct timespec *limit,
		      const sigset_t *mask);

/**
 * elog_backlog_definition() - the definition of an event that was read or waits
 * @backlog: the backlog
 * @request: the descriptor; filled in
 * @text: set to its schema, which the caller frees
 *
 * Return: 0; -ENOENT there was none, or nobody looked; -ENOMEM.
 */
int elog_backlog_definition(struct elog_backlog *backlog,
			    struct eventlog_describe *request, char **text);

/* ------------------------------------------------------------------------
 * Files: see elog(5). All numbers are little-endian, but for what records hold.
 */
#define ELOG_FILE_MAGIC		"\x89" "ELOG\r\n\x1a"
#define ELOG_FILE_VERSION	1
#define ELOG_BLOCK_ALIGN	8
#define ELOG_BLOCK_MAX		(64U << 20)	/* bytes of a block's body */
#define ELOG_FILE_CPUS_MAX	4096

#define ELOG_ZSTD_RATIO		1024	/* a body is at most so many times what is stored */

#define ELOG_BLOCK_ZSTD		(1U << 0)	/* the body is compressed */
#define ELOG_BLOCK_BIG_ENDIAN	(1U << 1)	/* the records of a DATA block are */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ELOG_BLOCK_NATIVE	ELOG_BLOCK_BIG_ENDIAN
#else
#define ELOG_BLOCK_NATIVE	0
#endif

enum elog_block_type {
	ELOG_BLOCK_FILE		= 1,
	ELOG_BLOCK_SCHEMA	= 2,
	ELOG_BLOCK_PROCESSES	= 3,
	ELOG_BLOCK_DATA		= 4,
	ELOG_BLOCK_SYNC		= 5,
	ELOG_BLOCK_INDEX	= 6,
	ELOG_BLOCK_END		= 7,
};

struct elog_block_header {
	uint8_t  magic[8];
	uint32_t type;
	uint32_t flags;
	uint32_t size;		/* of the body as it is stored, without padding */
	uint32_t raw_size;	/* of the body as it is meant */
	uint32_t body_crc;
	uint32_t header_crc;	/* of the members above */
};

struct elog_block_schema {
	uint32_t descriptor;
	uint32_t provider_id;
	/* the text */
};

struct elog_block_process {
	uint32_t pid;
	uint32_t tid;
	char name[16];
};

struct elog_block_data {
	uint32_t cpu;
	uint32_t reserved;
	uint64_t position;
	/* the records */
};

struct elog_block_loss {
	uint32_t cpu;		/* EVENTLOG_CPU_ALL: those without ring */
	uint32_t reserved;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
};

struct elog_block_sync {
	uint64_t time;
	uint64_t monotonic;
	uint64_t boottime;
	uint64_t realtime;
	uint32_t count;		/* of struct elog_block_loss, which follow */
	uint32_t reserved;
};

struct elog_block_end {
	uint64_t records;
	uint64_t lost;
	/* What follows may be missing. Offsets are from the part's FILE block. */
	uint64_t part;		/* of this block */
	uint64_t index;		/* of the last INDEX block; 0: there is none */
	uint64_t latest;	/* CLOCK_REALTIME ns: nothing in the part is later */
};

struct elog_block_index {
	uint64_t part;		/* offset of this block, as all from FILE */
	uint64_t previous;	/* of the INDEX block before; 0: there is none */
	uint64_t position;	/* where to read on */
	uint64_t sync;		/* of the SYNC block right before @position */
	uint64_t time;		/* what that says */
	uint64_t latest;	/* CLOCK_REALTIME ns: nothing before @position is later */
	uint32_t blocks;	/* offsets, which follow, ascending */
	uint32_t cpus;		/* struct elog_block_cpu, which follow those */
};

struct elog_block_cpu {
	uint32_t cpu;		/* EVENTLOG_CPU_ALL: those without ring */
	uint32_t reserved;
	uint64_t position;	/* in the ring, behind its last DATA block; ~0: none */
	uint64_t lost[EVENTLOG_LOST_CAUSES];
};

#define ELOG_INDEX_BLOCKS_MAX	65536

/**
 * elog_crc32c() - go on with a CRC-32C
 * @crc: of what is before; 0 at the beginning
 * @data: the bytes
 * @size: how many
 */
uint32_t elog_crc32c(uint32_t crc, const void *data, size_t size);

/** elog_crc32c_tables() - the same without the CPU's instruction */
uint32_t elog_crc32c_tables(uint32_t crc, const void *data, size_t size);

/** elog_block_decode() - check a header, make it this machine's; false: it is none */
bool elog_block_decode(struct elog_block_header *header);

/**
 * struct elog_file_input - where a reader gets its blocks from
 * @fd: the file
 * @bytes: read from it
 * @room: for @bytes
 * @start: of what is not used yet
 * @filled: bytes at @bytes
 * @offset: of @start, from where reading began
 * @bytes_read: in all
 * @follow: the end may be none
 * @end: there is no more to read
 * @padding: bytes that may be there before @start
 * @wrong: bytes whose checksum turned out wrong
 * @skipped: bytes right before @start
 * @torn: they begin as a block does
 * @waiting: the @offset of a block that is not whole yet
 * @searched: bytes from there in which no part of a file begins
 * @begun: since when one does, CLOCK_MONOTONIC_COARSE ns; 0: there is none
 */
struct elog_file_input {
	int fd;
	unsigned char *bytes;
	size_t room;
	size_t start;
	size_t filled;
	uint64_t offset;
	uint64_t bytes_read;
	bool follow;
	bool end;
	size_t padding;
	uint64_t wrong;
	uint64_t skipped;
	bool torn;
	uint64_t waiting;
	size_t searched;
	uint64_t begun;
};

/**
 * struct elog_input_gap - bytes that are no blocks
 * @size: how many; 0: there are none
 * @offset: of the first
 * @cut: the file ends within a block
 */
struct elog_input_gap {
	uint64_t size;
	uint64_t offset;
	bool cut;
};

/* Bytes that may be looked at in vain: so many, and for each byte read. */
#define ELOG_INPUT_ALLOWANCE		(256ULL << 20)
#define ELOG_INPUT_ALLOWANCE_PER_BYTE	8

/** elog_input_open() - begin with an input that is all zeroes; 0 or -ENOMEM */
int elog_input_open(struct elog_file_input *input, int fd);

/** elog_input_close() - free what it has */
void elog_input_close(struct elog_file_input *input);

/** elog_input_allowance() - bytes that a file may have made us look at in vain */
uint64_t elog_input_allowance(const struct elog_file_input *input);

/**
 * elog_input_next() - find the next block
 * @input: the input
 * @header: filled in, in this machine's order
 * @body: set to what is stored of the body, until elog_input_leave() is called,
 *	which has to be before the next call
 * @gap: filled in with what was skipped, unless an error is returned
 *
 * Return: 1; 0 the end; -EAGAIN for now, and nothing is lost; another negative
 * errno.
 */
int elog_input_next(struct elog_file_input *input,
		    struct elog_block_header *header,
		    const unsigned char **body, struct elog_input_gap *gap);

/** elog_input_leave() - go behind the block, of whose body @size bytes are stored */
void elog_input_leave(struct elog_file_input *input, size_t size);

struct elog_index_cpu {
	bool there;
	uint64_t position;	/* UINT64_MAX: not known */
	uint64_t lost[EVENTLOG_LOST_CAUSES];
};

/**
 * struct elog_index - what a writer remembers for INDEX blocks
 * @interval: bytes of the file between two checkpoints
 * @due: size of the file from which on there is to be one
 * @given_up: there are to be none any more
 * @last: offset of the last INDEX block, 0: none
 * @latest: CLOCK_REALTIME ns: nothing that was written is later
 * @newest: of the times of records, CLOCK_MONOTONIC ns
 * @wall_offset: what the last SYNC block, or FILE, says
 * @blocks: offsets of SCHEMA and PROCESSES blocks since the last checkpoint, as
 *	they are stored
 * @block_count: of @blocks
 * @block_room: for @blocks
 * @cpus: the first is EVENTLOG_CPU_ALL
 * @cpu_room: of @cpus
 * @body: of the INDEX block that is to be written; NULL: none
 * @body_size: bytes of @body
 * @body_newest: @newest at the checkpoint
 * @body_latest: as @latest, of what is before the checkpoint
 */
struct elog_index {
	uint64_t interval;
	uint64_t due;
	bool given_up;
	uint64_t last;
	uint64_t latest;
	uint64_t newest;
	int64_t wall_offset;
	uint64_t *blocks;
	size_t block_count;
	size_t block_room;
	struct elog_index_cpu *cpus;
	size_t cpu_room;
	unsigned char *body;
	size_t body_size;
	uint64_t body_newest;
	uint64_t body_latest;
};

/** elog_index_init() - nothing was written but FILE, which says @wall_offset */
void elog_index_init(struct elog_index *index, int64_t wall_offset);

/** elog_index_free() - free what it remembers */
void elog_index_free(struct elog_index *index);

/** elog_index_block() - a SCHEMA or PROCESSES block was written at @offset */
void elog_index_block(struct elog_index *index, uint64_t offset);

/** elog_index_records() - @size bytes of a CPU's ring at @position were written */
void elog_index_records(struct elog_index *index, uint32_t cpu,
			const void *data, size_t size, uint64_t position,
			const struct elog_file_raw_info *info);

/** elog_index_losses() - these were written in a SYNC block */
void elog_index_losses(struct elog_index *index,
		       const struct elog_file_loss *losses, size_t count);

/**
 * elog_index_sync() - a SYNC block was written
 * @index: the index
 * @sync: its offset
 * @position: the offset behind it
 * @time: what it says
 * @wall_offset: likewise
 *
 * Return: true if an INDEX block is to be written now.
 */
bool elog_index_sync(struct elog_index *index, uint64_t sync, uint64_t position,
		     uint64_t time, int64_t wall_offset);

/**
 * elog_index_finish() - the body of the INDEX block that is to be written
 * @index: the index
 * @offset: where the block will be
 * @size: set to bytes of the body
 *
 * Return: the body, valid until elog_index_written().
 */
const void *elog_index_finish(struct elog_index *index, uint64_t offset,
			      size_t *size);

/** elog_index_written() - that block was written at @offset */
void elog_index_written(struct elog_index *index, uint64_t offset);

/** elog_index_end() - fill in what END, which will be at @offset, says of the part */
void elog_index_end(const struct elog_index *index, uint64_t offset,
		    struct elog_block_end *end);

/** elog_wall_time() - @time + @offset, or the least or most there is */
uint64_t elog_wall_time(uint64_t time, int64_t offset);

/** elog_file_writer_interval() - for tests: take checkpoints so many bytes apart */
void elog_file_writer_interval(struct elog_file_writer *writer, uint64_t bytes);

/**
 * elog_file_block_at() - read a block from where it is said to be
 * @fd: the file
 * @offset: in it
 * @most: bytes of the body as it is stored
 * @header: filled in, in this machine's order
 * @body: set to the body, which the caller frees; NULL after an error
 *
 * Return: 0; -EBADMSG there is none whose checksums are right, or a larger one;
 * -ENOMEM; a negative errno of pread(2).
 */
int elog_file_block_at(int fd, uint64_t offset, uint32_t most,
		       struct elog_block_header *header, unsigned char **body);

/**
 * struct elog_seek_plan - how to begin to read in the middle
 * @base: where the file begins for the reader; all other offsets are from there
 * @part: of the FILE block of the part to begin with
 * @position: where to read on behind the SYNC block that says @wall_offset;
 *	0: from @part on
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC there, ns
 * @blocks: of what is to be read before, SCHEMA and PROCESSES blocks, ascending
 * @block_count: of @blocks
 * @cpus: where their rings are, and what was lost: struct elog_block_cpu as they
 *	are stored
 * @cpu_count: of @cpus
 * @bytes_read: to find this out
 */
struct elog_seek_plan {
	uint64_t base;
	uint64_t part;
	uint64_t position;
	int64_t wall_offset;
	uint64_t *blocks;
	size_t block_count;
	void *cpus;
	size_t cpu_count;
	uint64_t bytes_read;
};

/**
 * elog_seek_plan() - find where to begin
 * @plan: filled in, for elog_seek_plan_free() in any case
 * @fd: the file, from where it stands on, where it is left
 * @from: CLOCK_REALTIME ns: what is earlier may be left out
 *
 * Return: 0, also for what cannot be sought in: then at its beginning; -ENOMEM; a
 * negative errno of pread(2).
 */
int elog_seek_plan(struct elog_seek_plan *plan, int fd, uint64_t from);

/** elog_seek_plan_free() - free what it has */
void elog_seek_plan_free(struct elog_seek_plan *plan);

struct elog_compressor;

/**
 * elog_compressor_new() - what a writer compresses with
 * @compressor: set
 * @level: 1 to 19
 *
 * Return: 0; -ENOMEM; -EOPNOTSUPP the library was built without zstd.
 */
int elog_compressor_new(struct elog_compressor **compressor, unsigned int level);

/** elog_compressor_free() - NULL is fine */
void elog_compressor_free(struct elog_compressor *compressor);

/**
 * elog_compress() - compress a body
 * @compressor: the state
 * @parts: of the body
 * @count: of @parts
 * @stored: set to what is to be stored, valid until the next call
 *
 * Return: bytes of it; 0: it would not be less, or memory is short.
 */
size_t elog_compress(struct elog_compressor *compressor,
		     const struct iovec *parts, int count, const void **stored);

struct elog_decompressor;

/**
 * elog_decompress() - get a body back
 * @state: made when first needed; start with NULL
 * @stored: what is stored, trusted in nothing
 * @size: bytes of it
 * @body_size: what the body has to have
 * @body: set, valid until the next call
 *
 * Return: 0; -EBADMSG; -ENOMEM; -EOPNOTSUPP built without zstd.
 */
int elog_decompress(struct elog_decompressor **state, const void *stored,
		    size_t size, size_t body_size, const unsigned char **body);

/** elog_decompressor_free() - NULL is fine */
void elog_decompressor_free(struct elog_decompressor *decompressor);

/**
 * elog_swap_payload() - give a payload the other byte order
 * @event: its schema
 * @payload: changed in place
 * @size: bytes of it; fields that are not inside stay as they are
 */
void elog_swap_payload(const struct elog_schema_event *event,
		       unsigned char *payload, size_t size);

/**
 * struct elog_clock_offsets - what our clocks are ahead of the kernel's, ns
 * @monotonic: CLOCK_MONOTONIC
 * @boottime: CLOCK_BOOTTIME
 */
struct elog_clock_offsets {
	int64_t monotonic;
	int64_t boottime;
};

/** elog_clock_offsets() - ask for them; all 0 but in a time namespace */
struct elog_clock_offsets elog_clock_offsets(void);

#define ELOG_COMM_SIZE	16

/**
 * elog_process_ask() - ask /proc for the name of a thread
 * @pid: its process
 * @tid: the thread
 * @name: ELOG_COMM_SIZE bytes, set to it
 * @guessed: set to whether it is the process's, for the thread is gone
 *
 * Return: false: both are gone.
 */
bool elog_process_ask(uint32_t pid, uint32_t tid, char *name, bool *guessed);

/**
 * elog_processes_tell() - what /proc has said just now
 * @processes: the table
 * @pid: as for elog_process_ask(), as are the others
 * @tid: the thread
 * @name: its name
 * @guessed: of no use if there was a name before
 */
void elog_processes_tell(struct elog_processes *processes, uint32_t pid,
			 uint32_t tid, const char *name, bool guessed);

/**
 * elog_processes_due() - is it time to ask for the name of a thread?
 * @processes: a table that is used for nothing else: it learns no names
 * @pid: its process
 * @tid: the thread
 * @now: CLOCK_MONOTONIC_COARSE, ns
 *
 * However many threads take turns, and whatever their ids are: as long as the table
 * has room for them each is due once in a second.
 *
 * Return: true if it was not due before in the last second.
 */
bool elog_processes_due(struct elog_processes *processes, uint32_t pid,
			uint32_t tid, uint64_t now);

/** elog_processes_new_offline() - a table that knows what it was told, and not /proc */
struct elog_processes *elog_processes_new_offline(void);

#endif /* ELOG_INTERNAL_H */
