/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * eventlog: structured event logging, the ABI of /dev/eventlog.
 *
 * This file is the whole contract between eventlog.ko and user space, in both
 * directions.  It includes nothing but fixed-size types, compiles as C89 with
 * GNU extensions, C11 and C++11, and lays out every struct the same on 32- and
 * 64-bit.  eventlog(4) documents every call and errno.
 *
 * Rules common to all ioctls:
 *  - The argument is a struct whose first member is its size in bytes as the
 *    caller knows it.  A shorter struct than the kernel's is taken as if
 *    zero-filled; a longer one is accepted when its tail is zero (E2BIG
 *    otherwise).  Results are written up to the caller's size; what a longer
 *    caller asks beyond the kernel's struct reads as zero.
 *  - Reserved members and unknown flags must be zero (EINVAL).
 *  - Pointers are carried as __u64.
 *  - A call that fails changes nothing.
 *
 * A file takes its role from its first REGISTER (producer) or SUBSCRIBE
 * (subscriber); the other call then fails with EBUSY.  A file with neither
 * role reads as the status listing.
 */
#ifndef _UAPI_LINUX_EVENTLOG_H
#define _UAPI_LINUX_EVENTLOG_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EVENTLOG_DEVICE			"/dev/eventlog"
#define EVENTLOG_ABI_VERSION		1

/* Limits that are part of the ABI; VERSION reports the configurable ones. */
#define EVENTLOG_PAYLOAD_MAX		65536	/* bytes of one event */
#define EVENTLOG_COMMAND_MAX		4096	/* bytes, NUL included */
#define EVENTLOG_NAME_MAX		64	/* provider, event, field; NUL included */
#define EVENTLOG_GLOB_MAX		256	/* provider and event glob; NUL included */
#define EVENTLOG_FIELDS_MAX		256	/* fields of one event */
#define EVENTLOG_RING_BYTES_MAX		(1U << 30) /* data bytes of one CPU's ring */
#define EVENTLOG_SUB_BUFFERS_MAX	256

/* The provider of a process that names none. */
#define EVENTLOG_DEFAULT_PROVIDER	"user_events"

/* Severity; a smaller number is more severe.  0 is "not given". */
enum eventlog_level {
	EVENTLOG_LEVEL_ERROR	= 1,
	EVENTLOG_LEVEL_WARNING	= 2,
	EVENTLOG_LEVEL_NOTICE	= 3,
	EVENTLOG_LEVEL_INFO	= 4,
	EVENTLOG_LEVEL_DEBUG	= 5,
	EVENTLOG_LEVEL_VERBOSE	= 6,
};

/* ------------------------------------------------------------------------
 * nr 0, any role: what this kernel module is and can do
 */
#define EVENTLOG_FEATURE_OVERWRITE	(1ULL << 0) /* flight-recorder rings */
#define EVENTLOG_FEATURE_PAUSE		(1ULL << 1) /* PAUSE */
#define EVENTLOG_FEATURE_MARKERS	(1ULL << 3) /* MARKER_NEXT, MARKER_SET */

struct eventlog_version {
	__u32 size;
	__u32 abi;		/* out: EVENTLOG_ABI_VERSION */
	__u64 features;		/* out: EVENTLOG_FEATURE_* */
	__u64 ring_bytes_max;	/* out: SUBSCRIBE.ring_bytes */
	__u32 payload_max;	/* out: bytes of one event's payload */
	__u32 command_max;	/* out: bytes of a command, NUL included */
	__u32 events_max;	/* out: definitions alive in this domain */
	__u32 subscribers_max;	/* out: subscribers of this domain */
	__u32 rules_max;	/* out: rules of one subscriber */
	__u32 registrations_max; /* out: registrations of one file */
	char  release[16];	/* out: the module's version, NUL-terminated */
};

/* ------------------------------------------------------------------------
 * nr 1, producer: register an event
 *
 * command: "name [type field[;type field...]]", types
 *	u8 u16 u32 u64 s8 s16 s32 s64
 *	char, unsigned char, short, unsigned short, int, unsigned int
 *	char[N], unsigned char[N]
 *	__data_loc char[], __rel_loc char[]		(strings)
 *	__data_loc unsigned char[], __rel_loc unsigned char[]	(bytes)
 *	struct NAME field SIZE
 * The payload holds them packed, in order.  A __data_loc or __rel_loc field is
 * a __u32, size << 16 | offset, of bytes behind the fixed part: the offset
 * counts from the payload's first byte (__data_loc) or from the byte behind
 * the word (__rel_loc).  A string's size includes its NUL.
 *
 * Registrations of one provider, name, fields, level and keywords share one
 * definition; any difference makes another definition.
 */
#define EVENTLOG_REGISTER_PERSIST	(1U << 0) /* outlives its users; CAP_PERFMON */
#define EVENTLOG_REGISTER_SESSION	(1U << 1) /* a __u64 session precedes the payload */

struct eventlog_register {
	__u32 size;
	__u32 flags;		/* EVENTLOG_REGISTER_* */
	__u64 command;		/* const char *, NUL-terminated */
	__u64 provider;		/* const char *, 0: EVENTLOG_DEFAULT_PROVIDER */
	__u64 keywords;		/* mask of up to 64 keywords */
	__u32 level;		/* enum eventlog_level, 0: INFO */
	__u32 write_index;	/* out: goes before the payload; never 0 */
	__u32 status_bit;	/* out: somebody wants the event; never 0 */
	__u32 sync_bit;		/* out: somebody wants it synchronously; never 0 */
	__u32 descriptor;	/* out: what records of this event carry */
	__u32 bitmap_size;	/* out: bytes, the length to mmap */
	__u64 bitmap_offset;	/* out: the offset to mmap */
	__u32 handlers_bit;	/* out: of a marker, PRINT is wished for; the next one: PROBE */
	__u32 asking_bit;	/* out: of a marker, MARKER_ASK says what is wished for */
};

/* nr 2, producer: give a registration up */
struct eventlog_unregister {
	__u32 size;
	__u32 write_index;
};

/* nr 3, any role, CAP_PERFMON: delete persistent events by name; EBUSY while one is in use */
struct eventlog_delete {
	__u32 size;
	__u32 flags;		/* 0 */
	__u64 provider;		/* const char *, 0: EVENTLOG_DEFAULT_PROVIDER */
	__u64 event;		/* const char * */
};

/* ------------------------------------------------------------------------
 * Writing: writev() or write() of
 *	__u32 write_index; [__u64 session;] payload
 * One call is one event.  The two integers are in host order and unaligned.
 */
#define EVENTLOG_WRITE_BATCH	0xfffffffeU	/* reserved: several events in one call */

/* ------------------------------------------------------------------------
 * nr 8, subscriber: take the role; opener needs CAP_PERFMON or CAP_SYS_ADMIN
 */
#define EVENTLOG_SUBSCRIBE_OVERWRITE	(1U << 0) /* keep the newest, not the oldest */

struct eventlog_subscribe {
	__u32 size;
	__u32 flags;		/* EVENTLOG_SUBSCRIBE_* */
	__u64 ring_bytes;	/* data bytes per CPU, a power of two; 0: no rings */
	__u64 watermark;	/* bytes in one ring that make poll() say readable; 0: any */
	__u32 sub_buffers;	/* a power of two, 2 to 256; 0: 2; each at least a page */
	__u32 cpus;		/* out: rings are numbered 0 to cpus - 1, by CPU */
	__u64 ring_offset;	/* out: mmap offset of ring 0 */
	__u64 ring_stride;	/* out: from one ring to the next; the length to mmap */
	__u32 generation;	/* out: changes when a CPU gets its first ring */
	__u32 reserved;
};

/* nr 9, subscriber: ask for events; matching any one rule delivers an event once */
#define EVENTLOG_RULE_SESSION		(1U << 0) /* only this session */
#define EVENTLOG_RULE_PID		(1U << 1) /* only this process */

struct eventlog_rule {
	__u32 size;
	__u32 flags;		/* EVENTLOG_RULE_* */
	__u64 provider;		/* const char *, a glob over provider names; 0: all */
	__u64 event;		/* const char *, a glob over event names; 0: all */
	__u64 keywords_any;	/* the event has one of these; 0: not tested */
	__u64 keywords_all;	/* the event has all of these */
	__u64 session;		/* with EVENTLOG_RULE_SESSION */
	__u32 pid;		/* with EVENTLOG_RULE_PID, in the subscriber's pid namespace */
	__u32 level;		/* at most this verbose; 0: every level */
	__u32 sample;		/* deliver the 1st of every N that match; 0 and 1: all */
	__u32 rule_id;		/* out: for RULE_DEL; never 0 */
	__u64 predicate;	/* reserved for a field predicate: 0 */
	__u32 predicate_size;	/* 0 */
	__u32 reserved;
};

/* nr 10, subscriber: take a rule back */
struct eventlog_rule_delete {
	__u32 size;
	__u32 rule_id;
};

/*
 * nr 11, subscriber: no record whose time is before the returned one will
 * appear in any ring later (in overwrite mode: or it is counted as lost).
 */
struct eventlog_flush {
	__u32 size;
	__u32 flags;		/* 0 */
	__u64 time;		/* out: CLOCK_MONOTONIC, ns */
	__u32 generation;	/* out: as in SUBSCRIBE */
	__u32 reserved;
};

/* Why an event did not reach a subscriber: indices of all lost[] arrays. */
enum eventlog_lost {
	EVENTLOG_LOST_NO_ROOM	= 0,	/* the ring was full of unread records */
	EVENTLOG_LOST_GUARD	= 1,	/* nested writers would have lapped an unfinished record */
	EVENTLOG_LOST_NESTED	= 2,	/* the locked ring was busy on this CPU */
	EVENTLOG_LOST_DEPTH	= 3,	/* writers nested too deeply, or RCU was not watching */
	EVENTLOG_LOST_TOO_LARGE	= 4,	/* the record does not fit a sub-buffer */
	EVENTLOG_LOST_ABORTED	= 5,	/* reserved, then given up by its writer */
	EVENTLOG_LOST_NO_MEMORY	= 6,	/* this CPU has no ring */
	EVENTLOG_LOST_PAUSED	= 7,	/* the subscriber had paused its rings */
	EVENTLOG_LOST_CAUSES	= 8,
};

/*
 * nr 12, subscriber: what was delivered and lost so far.  With a descriptor,
 * of that event alone: cpu must be EVENTLOG_CPU_ALL, and only event_lost is set.
 */
#define EVENTLOG_CPU_ALL	0xffffffffU

struct eventlog_stat {
	__u32 size;
	__u32 flags;		/* 0 */
	__u32 cpu;		/* in: one ring, or EVENTLOG_CPU_ALL; ENXIO: has no ring */
	__u32 descriptor;	/* in: one event, or 0 */
	__u64 records;		/* out: events placed in rings */
	__u64 bytes;		/* out: bytes of the rings used, padding included */
	__u64 event_lost;	/* out: losses of the event, all causes */
	__u32 generation;	/* out: as in SUBSCRIBE */
	__u32 reserved;
	__u64 lost[EVENTLOG_LOST_CAUSES]; /* out: cumulative, by cause */
};

/*
 * nr 13, any role: the schema text of a definition; ENOENT: there is none.
 * EMSGSIZE: text_size is too small; it then holds the size needed.
 */
#define EVENTLOG_DESCRIBE_NEXT	(1U << 0) /* the first one after descriptor */

#define EVENTLOG_DESCRIBED_LIVE		(1U << 0) /* has a producer or is persistent */
#define EVENTLOG_DESCRIBED_ENABLED	(1U << 1) /* somebody wants it */
#define EVENTLOG_DESCRIBED_PERSIST	(1U << 2)
#define EVENTLOG_DESCRIBED_PRINT	(1U << 3) /* a program's marker is to print */
#define EVENTLOG_DESCRIBED_PROBE	(1U << 4) /* to call its program's probe */

struct eventlog_describe {
	__u32 size;
	__u32 flags;		/* EVENTLOG_DESCRIBE_* */
	__u32 descriptor;	/* in; out: the one described */
	__u32 text_size;	/* in: bytes at text; out: bytes of the text, NUL included */
	__u64 text;		/* char * */
	__u32 state;		/* out: EVENTLOG_DESCRIBED_* */
	__u32 provider_id;	/* out: unique among living providers, 1 to 65535 */
};

/*
 * nr 14, subscriber: stop or resume writing to the rings.  When it has returned
 * nothing is written any more, so that overwriting rings can be read at leisure;
 * what is emitted meanwhile is counted as lost.
 */
struct eventlog_pause {
	__u32 size;
	__u32 paused;		/* 1: stop, 0: resume */
};

/* ------------------------------------------------------------------------
 * Markers of kernel modules, eventlog_marker(9).
 *
 * A marker is known by its place, "path:function:ordinal": the source file as
 * seen from the top of its tree, the function, and how many markers there are
 * before it in the function. Its id is the FNV-1a hash of 64 bits of that string.
 */
#define EVENTLOG_MARKER_PRINT	(1U << 0) /* a line of the kernel log, rate-limited */
#define EVENTLOG_MARKER_TRACE	(1U << 1) /* the event, for subscribers that want it */
#define EVENTLOG_MARKER_PROBE	(1U << 2) /* functions of modules, the static tracepoint */

/*
 * nr 16, any role, CAP_PERFMON: the first marker whose event's descriptor is
 * greater than the one given; ENOENT: there is none.  The text is four strings,
 * each NUL-terminated: module, tag, path, function.  EMSGSIZE: text_size is too
 * small; it then holds the size needed.
 */
struct eventlog_marker_next {
	__u32 size;
	__u32 flags;		/* 0 */
	__u32 descriptor;	/* in: 0 to begin with; out: of the marker's event */
	__u32 text_size;	/* in: bytes at text; out: bytes of the text */
	__u64 text;		/* char * */
	__u64 id;		/* out */
	__u32 handlers;		/* out: EVENTLOG_MARKER_*: switched on */
	__u32 defaults;		/* out: when its module was loaded */
	__u32 allowed;		/* out: may be switched on */
	__u32 active;		/* out: at work: what is traced is wanted, too */
	__u32 line;		/* out: in the source file */
	__u32 ordinal;		/* out */
	__u64 predicate;	/* char *, of EVENTLOG_PREDICATE_MAX bytes; 0: not asked for */
	__u32 predicate_size;	/* out: bytes of its text, NUL included; 0: there is none */
	__u32 reserved;		/* 0 */
	__u64 rejected;		/* out: hits that the predicate was false of */
	__u64 unprinted;	/* out: lines dropped, by the rate limit or where none can be */
};

/*
 * A predicate is an array of terms.  The first one is looked at first; each says
 * which one comes next if it is true and if it is not, always one behind it, or
 * what the whole comes to.  A term compares a field of the marker with a value;
 * it is the field's type that says what the value means, so a term has all that
 * its value may be.
 */
#define EVENTLOG_TERMS_MAX	16
#define EVENTLOG_TERM_TEXT_MAX	64	/* bytes, NUL included */
#define EVENTLOG_PREDICATE_MAX	1024	/* bytes of its text, NUL included */

enum eventlog_term_operation {
	EVENTLOG_TERM_SET	= 0,	/* not 0, not empty; without a value */
	EVENTLOG_TERM_EQUAL	= 1,
	EVENTLOG_TERM_NOT_EQUAL	= 2,
	EVENTLOG_TERM_LESS	= 3,	/* from here on: integers */
	EVENTLOG_TERM_LESS_EQUAL = 4,
	EVENTLOG_TERM_GREATER	= 5,
	EVENTLOG_TERM_GREATER_EQUAL = 6,
	EVENTLOG_TERM_BITS	= 7,	/* at least one bit of number is set */
	EVENTLOG_TERM_BEGINS	= 8,	/* strings: with text */
	EVENTLOG_TERM_BEGINS_NOT = 9,
};

#define EVENTLOG_TERM_COMMON	(1U << 0) /* name is one of cpu, pid, tid, comm: no field */
#define EVENTLOG_TERM_NUMBER	(1U << 1) /* number is the value of an integer */
#define EVENTLOG_TERM_NEGATIVE	(1U << 2) /* which is 0 - number */
#define EVENTLOG_TERM_BOOL	(1U << 3) /* number, 0 or 1, is that of a bool */
#define EVENTLOG_TERM_ADDRESS	(1U << 4) /* address, mask: of an ipv4 */
#define EVENTLOG_TERM_TEXT	(1U << 5) /* text: of a string */

/* Instead of the index of a term. */
#define EVENTLOG_TERM_REJECT	0xfe	/* the predicate is false */
#define EVENTLOG_TERM_ACCEPT	0xff	/* true */

struct eventlog_term {
	char  name[EVENTLOG_NAME_MAX];	/* of a field; if there is none: cpu, pid, tid, comm */
	char  text[EVENTLOG_TERM_TEXT_MAX]; /* NUL-terminated */
	__u64 number;
	__u32 address;		/* as the network has it; no bit that mask has not */
	__u32 mask;		/* likewise: the bits that count */
	__u32 flags;		/* EVENTLOG_TERM_*; the values it has not are 0 */
	__u8  operation;	/* enum eventlog_term_operation */
	__u8  on_true;		/* index of a later term, or EVENTLOG_TERM_REJECT, _ACCEPT */
	__u8  on_false;		/* likewise */
	__u8  reserved;		/* 0 */
};

enum eventlog_marker_operation {
	EVENTLOG_MARKER_ADD	= 0,	/* switch handlers on */
	EVENTLOG_MARKER_REMOVE	= 1,	/* off */
	EVENTLOG_MARKER_REPLACE	= 2,	/* these on, others off */
};

/*
 * nr 17, any role, CAP_PERFMON: switch handlers of all markers that match.
 * ENOENT: none does.  One that does not allow a handler is left as it is.
 *
 * With a predicate a marker's handlers, and functions that modules have attached,
 * run only when it is true of the marker's fields.  ADD and REPLACE put it, or
 * none, in the place of that which the marker had; a marker of which all handlers
 * are off has none.  One that lacks a field of the predicate, or has it with a
 * type that does not go with the comparison, is left as it is.
 */
#define EVENTLOG_MARKER_SET_ID	(1U << 0) /* only with this id */

struct eventlog_marker_set {
	__u32 size;
	__u32 flags;		/* EVENTLOG_MARKER_SET_* */
	__u64 module;		/* const char *, a glob over module names; 0: all */
	__u64 marker;		/* const char *, a glob over tags and places; 0: all */
	__u64 id;		/* with EVENTLOG_MARKER_SET_ID */
	__u32 handlers;		/* EVENTLOG_MARKER_* */
	__u32 operation;	/* enum eventlog_marker_operation */
	__u32 matched;		/* out: markers that match */
	__u32 changed;		/* out: of these, whose handlers or predicate are others now */
	__u32 refused;		/* out: of these, that do not allow it */
	__u32 descriptor;	/* only the one whose event has it; 0: all */
	__u64 terms;		/* const struct eventlog_term * */
	__u64 predicate;	/* const char *, how it was written: for MARKER_NEXT */
	__u32 term_count;	/* of terms; 0: no predicate, and no pointers */
	__u32 unfit;		/* out: of these, that do not have its fields */
};

/*
 * Markers of programs, elog_marker(3), are events of processes, of providers whose
 * names begin with "markers_".  What they do beside tracing is up to the program,
 * and to wishes, which the kernel keeps until it is unloaded, and carries out one
 * after the other for each event that they match, now or whenever it is registered.
 * Bits of the bitmap tell the outcome, which are in the same byte as the status bit.
 * Where it has a predicate only asking_bit is set, and each hit has to ask.
 *
 * nr 18, any role, CAP_PERFMON: wish.  Predicates are as in MARKER_SET, and so is
 * what becomes of them.  Earlier wishes that make no difference any more are dropped,
 * as is one that makes none.  ENOSPC: there are EVENTLOG_WISHES_MAX.
 */
#define EVENTLOG_PROGRAM_PREFIX	"markers_"
#define EVENTLOG_WISHES_MAX	256

struct eventlog_marker_wish {
	__u32 size;
	__u32 flags;		/* 0 */
	__u64 program;		/* const char *, a glob over names behind "markers_"; 0: all */
	__u64 marker;		/* const char *, a glob over event names; 0: all */
	__u32 handlers;		/* EVENTLOG_MARKER_PRINT, EVENTLOG_MARKER_PROBE: at least one */
	__u32 matched;		/* out: events that live and match */
	__u32 changed;		/* out: of these, whose handlers or predicate are others now */
	__u32 operation;	/* EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_REMOVE */
	__u64 terms;		/* const struct eventlog_term *, with ADD */
	__u64 predicate;	/* const char *, how it was written: for MARKER_WISH_NEXT */
	__u32 term_count;	/* of terms; 0: no predicate, and no pointers */
	__u32 unfit;		/* out: of these, that do not have the predicate's fields */
};

/*
 * nr 19, any role, CAP_PERFMON: a wish; ENOENT: there are not so many.  The text is
 * three strings, each NUL-terminated: program, marker, predicate, which is empty if
 * there is none.  EMSGSIZE: text_size is too small; it then holds the size needed.
 */
struct eventlog_marker_wish_next {
	__u32 size;
	__u32 index;		/* in: 0: the earliest */
	__u64 text;		/* char * */
	__u32 text_size;	/* in: bytes at text; out: bytes of the text */
	__u32 handlers;		/* out: EVENTLOG_MARKER_* */
	__u32 operation;	/* out: EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_REMOVE */
	__u32 reserved;		/* 0 */
};

/*
 * nr 20, producer: what is a hit to do?  ENOENT: no such write_index; EINVAL: there
 * is a predicate on fields that values does not reach.  Of a string at most
 * EVENTLOG_TERM_TEXT_MAX bytes are read.
 */
struct eventlog_marker_ask {
	__u32 size;
	__u32 write_index;
	__u64 values;		/* const __u64 *, of the fields, in order; of strings const char * */
	__u32 value_count;	/* at most EVENTLOG_ASK_VALUES_MAX */
	__u32 handlers;		/* out: EVENTLOG_MARKER_PRINT, EVENTLOG_MARKER_PROBE */
};

#define EVENTLOG_ASK_VALUES_MAX	16

#define EVENTLOG_IOC_TYPE	0xE7
#define EVENTLOG_IOC_VERSION	_IOWR(EVENTLOG_IOC_TYPE, 0, struct eventlog_version)
#define EVENTLOG_IOC_REGISTER	_IOWR(EVENTLOG_IOC_TYPE, 1, struct eventlog_register)
#define EVENTLOG_IOC_UNREGISTER	_IOW(EVENTLOG_IOC_TYPE, 2, struct eventlog_unregister)
#define EVENTLOG_IOC_DELETE	_IOW(EVENTLOG_IOC_TYPE, 3, struct eventlog_delete)
#define EVENTLOG_IOC_SUBSCRIBE	_IOWR(EVENTLOG_IOC_TYPE, 8, struct eventlog_subscribe)
#define EVENTLOG_IOC_RULE_ADD	_IOWR(EVENTLOG_IOC_TYPE, 9, struct eventlog_rule)
#define EVENTLOG_IOC_RULE_DEL	_IOW(EVENTLOG_IOC_TYPE, 10, struct eventlog_rule_delete)
#define EVENTLOG_IOC_FLUSH	_IOWR(EVENTLOG_IOC_TYPE, 11, struct eventlog_flush)
#define EVENTLOG_IOC_STAT	_IOWR(EVENTLOG_IOC_TYPE, 12, struct eventlog_stat)
#define EVENTLOG_IOC_DESCRIBE	_IOWR(EVENTLOG_IOC_TYPE, 13, struct eventlog_describe)
#define EVENTLOG_IOC_PAUSE	_IOW(EVENTLOG_IOC_TYPE, 14, struct eventlog_pause)
#define EVENTLOG_IOC_MARKER_NEXT _IOWR(EVENTLOG_IOC_TYPE, 16, struct eventlog_marker_next)
#define EVENTLOG_IOC_MARKER_SET	_IOWR(EVENTLOG_IOC_TYPE, 17, struct eventlog_marker_set)
#define EVENTLOG_IOC_MARKER_WISH _IOWR(EVENTLOG_IOC_TYPE, 18, struct eventlog_marker_wish)
#define EVENTLOG_IOC_MARKER_WISH_NEXT \
	_IOWR(EVENTLOG_IOC_TYPE, 19, struct eventlog_marker_wish_next)
#define EVENTLOG_IOC_MARKER_ASK	_IOWR(EVENTLOG_IOC_TYPE, 20, struct eventlog_marker_ask)
/* nr 21 and up: reserved for markers, mapped producers and instances. */

/* ------------------------------------------------------------------------
 * A ring as mapped: page 0 (struct eventlog_ring_header, written by the
 * kernel), page 1 (struct eventlog_ring_consumer), the data.  Map the whole
 * ring read-only (ring_stride bytes), and page 1 once more, alone, writable.
 *
 * Positions count bytes and never wrap back; the byte of position p is at
 * p & (data_bytes - 1) of the data.  Compare them by their difference only.
 * Records start at multiples of 8; the first record of a sub-buffer starts
 * where the sub-buffer does.
 *
 * Discard mode: load committed (acquire), read the records below it, then
 * store the new position (release).  Only the position's low 32 bits exist, so
 * that a 32-bit consumer needs no wider store; a 32-bit consumer likewise
 * needs the low half of committed only.  committed may step back for an
 * instant: ignore a value behind the one already read to.
 *
 * Overwrite mode: copy a record bounded by its sub-buffer, issue a read
 * barrier, load head; the copy is good if head - start <= data_bytes.  The
 * oldest record there is starts at the first sub-buffer at or behind
 * head - data_bytes.  PAUSE makes the ring stand still.
 *
 * The 64-bit words behind the geometry only grow.  A 32-bit kernel stores them
 * in halves, upper half, lower half, then a copy of the upper half (release
 * each), and says EVENTLOG_RING_SPLIT; a 32-bit consumer reads them in halves.
 * Either is safe thus: load the copy, the lower half, the upper half (acquire
 * each) and start again unless copy and upper half are equal.  Without SPLIT
 * there is no copy: load the upper half twice.  A 64-bit consumer loads the
 * word; the kernel below it is never a 32-bit one.
 */
#define EVENTLOG_RING_MAGIC	0x31474c45U	/* "ELG1" as little-endian bytes */
#define EVENTLOG_RING_OVERWRITE	(1U << 0)
#define EVENTLOG_RING_SPLIT	(1U << 1) /* the kernel is a 32-bit one */

struct eventlog_ring_header {
	__u32 magic;		/* EVENTLOG_RING_MAGIC */
	__u32 flags;		/* EVENTLOG_RING_* */
	__u32 cpu;
	__u32 data_offset;	/* bytes from this header to the data */
	__u64 data_bytes;
	__u64 sub_buffer_bytes;
	__u8  reserved0[96];

	__u64 head;		/* reserved up to here */
	__u64 committed;	/* whole up to here */
	__u64 records;		/* events placed, without padding and lost records */
	__u32 head_upper;	/* EVENTLOG_RING_SPLIT: the upper half once more, so below */
	__u32 committed_upper;
	__u32 records_upper;
	__u8  reserved1[92];

	__u64 lost_total;	/* all causes */
	__u64 lost[EVENTLOG_LOST_CAUSES]; /* cumulative */
	__u32 lost_total_upper;
	__u32 lost_upper[EVENTLOG_LOST_CAUSES];
	__u8  reserved2[20];
};

struct eventlog_ring_consumer {
	__u32 position;		/* read up to here: low 32 bits */
	__u32 lost_seen;	/* low 32 bits of the lost_total last seen: poll() is quiet about it */
};

/* ------------------------------------------------------------------------
 * A record: header, payload, zeroes up to a multiple of 8.
 *
 * Padding records have the first 8 bytes of the header only, and may be no
 * longer: test the type before reading on.  A lost record's payload is struct
 * eventlog_lost_counts; counts only grow, take the maximum of each.
 */
struct eventlog_record {
	__u32 size_flags;
	__u32 descriptor;
	__u64 time;		/* CLOCK_MONOTONIC, ns */
	__u64 session;		/* 0: none */
	__u32 pid;		/* process (tgid), as the subscriber's pid namespace sees it */
	__u32 tid;		/* thread, likewise */
};

#define EVENTLOG_RECORD_SIZE_MASK	0x000fffffU	/* header included */
#define EVENTLOG_RECORD_CONTEXT_SHIFT	20
#define EVENTLOG_RECORD_CONTEXT_MASK	0x00300000U
#define EVENTLOG_RECORD_TYPE_SHIFT	24
#define EVENTLOG_RECORD_TYPE_MASK	0x0f000000U
#define EVENTLOG_RECORD_ALIGN		8

enum eventlog_context {
	EVENTLOG_CONTEXT_TASK		= 0,
	EVENTLOG_CONTEXT_SOFTIRQ	= 1,
	EVENTLOG_CONTEXT_HARDIRQ	= 2,
	EVENTLOG_CONTEXT_NMI		= 3,
};

enum eventlog_record_type {
	EVENTLOG_RECORD_EVENT	= 0,
	EVENTLOG_RECORD_PADDING	= 1,
	EVENTLOG_RECORD_LOST	= 2,
};

struct eventlog_lost_counts {
	__u64 lost[EVENTLOG_LOST_CAUSES];
};

/* ------------------------------------------------------------------------
 * BPF programs: the tracepoint eventlog_emit, hit once by every event that
 * somebody wants, whatever sessions or processes the rules ask for.  As
 * SEC("raw_tp/eventlog_emit"): args[0] points to this struct, args[1] to the
 * payload (the kernel's copy), args[2] says how much of it is there, which is
 * less than bytes for a payload of several pieces and more than 4096 bytes.
 * Both are valid until the program ends.  Attaching makes no event wanted.
 */
struct eventlog_emitted {
	__u64 time;		/* CLOCK_MONOTONIC, ns */
	__u64 session;		/* 0: none */
	__u64 keywords;
	__u32 descriptor;	/* for DESCRIBE */
	__u32 event_id;		/* unique within the provider */
	__u32 pid;		/* process (tgid), as init sees it */
	__u32 tid;		/* thread, likewise */
	__u32 bytes;		/* of the whole payload */
	__u16 provider_id;
	__u8  level;		/* enum eventlog_level */
	__u8  context;		/* enum eventlog_context */
	__u64 reserved[2];	/* 0 */
};

/* The layout is the ABI: the same on every architecture and in every language. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define EVENTLOG_ASSERT(condition, text) static_assert(condition, text)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L || defined(__KERNEL__)
#define EVENTLOG_ASSERT(condition, text) _Static_assert(condition, text)
#else
#define EVENTLOG_ASSERT(condition, text)
#endif
#define EVENTLOG_ASSERT_SIZE(name, bytes) \
	EVENTLOG_ASSERT(sizeof(struct name) == (bytes), "size of struct " #name)
#define EVENTLOG_ASSERT_AT(name, member, bytes) \
	EVENTLOG_ASSERT(__builtin_offsetof(struct name, member) == (bytes), \
			"offset of " #member " in struct " #name)

EVENTLOG_ASSERT_SIZE(eventlog_version, 64);
EVENTLOG_ASSERT_AT(eventlog_version, release, 48);
EVENTLOG_ASSERT_SIZE(eventlog_register, 72);
EVENTLOG_ASSERT_AT(eventlog_register, level, 32);
EVENTLOG_ASSERT_AT(eventlog_register, bitmap_offset, 56);
EVENTLOG_ASSERT_AT(eventlog_register, handlers_bit, 64);
EVENTLOG_ASSERT_SIZE(eventlog_unregister, 8);
EVENTLOG_ASSERT_SIZE(eventlog_delete, 24);
EVENTLOG_ASSERT_SIZE(eventlog_subscribe, 56);
EVENTLOG_ASSERT_AT(eventlog_subscribe, sub_buffers, 24);
EVENTLOG_ASSERT_AT(eventlog_subscribe, generation, 48);
EVENTLOG_ASSERT_SIZE(eventlog_rule, 80);
EVENTLOG_ASSERT_AT(eventlog_rule, pid, 48);
EVENTLOG_ASSERT_AT(eventlog_rule, predicate, 64);
EVENTLOG_ASSERT_SIZE(eventlog_rule_delete, 8);
EVENTLOG_ASSERT_SIZE(eventlog_flush, 24);
EVENTLOG_ASSERT_SIZE(eventlog_stat, 112);
EVENTLOG_ASSERT_AT(eventlog_stat, lost, 48);
EVENTLOG_ASSERT_SIZE(eventlog_describe, 32);
EVENTLOG_ASSERT_AT(eventlog_describe, text, 16);
EVENTLOG_ASSERT_SIZE(eventlog_pause, 8);
EVENTLOG_ASSERT_SIZE(eventlog_marker_next, 88);
EVENTLOG_ASSERT_AT(eventlog_marker_next, id, 24);
EVENTLOG_ASSERT_AT(eventlog_marker_next, line, 48);
EVENTLOG_ASSERT_AT(eventlog_marker_next, predicate, 56);
EVENTLOG_ASSERT_SIZE(eventlog_term, 152);
EVENTLOG_ASSERT_AT(eventlog_term, number, 128);
EVENTLOG_ASSERT_AT(eventlog_term, operation, 148);
EVENTLOG_ASSERT_SIZE(eventlog_marker_set, 80);
EVENTLOG_ASSERT_AT(eventlog_marker_set, handlers, 32);
EVENTLOG_ASSERT_SIZE(eventlog_marker_wish, 64);
EVENTLOG_ASSERT_AT(eventlog_marker_wish, handlers, 24);
EVENTLOG_ASSERT_AT(eventlog_marker_wish, operation, 36);
EVENTLOG_ASSERT_AT(eventlog_marker_wish, term_count, 56);
EVENTLOG_ASSERT_SIZE(eventlog_marker_wish_next, 32);
EVENTLOG_ASSERT_AT(eventlog_marker_wish_next, text_size, 16);
EVENTLOG_ASSERT_SIZE(eventlog_marker_ask, 24);
EVENTLOG_ASSERT_AT(eventlog_marker_ask, value_count, 16);
EVENTLOG_ASSERT_AT(eventlog_marker_set, terms, 56);
EVENTLOG_ASSERT_SIZE(eventlog_ring_header, 384);
EVENTLOG_ASSERT_AT(eventlog_ring_header, head, 128);
EVENTLOG_ASSERT_AT(eventlog_ring_header, head_upper, 152);
EVENTLOG_ASSERT_AT(eventlog_ring_header, lost_total, 256);
EVENTLOG_ASSERT_AT(eventlog_ring_header, lost_total_upper, 328);
EVENTLOG_ASSERT_SIZE(eventlog_ring_consumer, 8);
EVENTLOG_ASSERT_SIZE(eventlog_record, 32);
EVENTLOG_ASSERT_AT(eventlog_record, pid, 24);
EVENTLOG_ASSERT_SIZE(eventlog_lost_counts, 64);
EVENTLOG_ASSERT_SIZE(eventlog_emitted, 64);
EVENTLOG_ASSERT_AT(eventlog_emitted, bytes, 40);
EVENTLOG_ASSERT_AT(eventlog_emitted, context, 47);

#undef EVENTLOG_ASSERT_AT
#undef EVENTLOG_ASSERT_SIZE
#undef EVENTLOG_ASSERT

#endif /* _UAPI_LINUX_EVENTLOG_H */
