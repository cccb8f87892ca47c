/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The ABI of /dev/eventlog (eventlog: structured event logging).
 *
 * This file defines the whole interface between eventlog.ko and user space.  It
 * uses only fixed-size types, compiles as C89 with GNU extensions, C11 and C++11,
 * and every struct has the same layout on 32-bit and 64-bit machines.  See
 * eventlog(4) for a description of every call and errno.
 *
 * Rules common to all ioctls:
 *  - The request is EVENTLOG_IOC(number).  Any other encoding of the number fails
 *    with ENOTTY, except for INFO, which ignores direction and size: a program of
 *    another ABI version can always find out which version the module has.
 *  - The argument is a struct.  The caller sets its first member to the size of
 *    the struct in bytes, as the caller was compiled.  A struct shorter than the
 *    kernel's is treated as zero-filled at the end.  A longer one is accepted if
 *    the additional bytes are zero (E2BIG otherwise).  Results are written up to
 *    the caller's size; bytes beyond the kernel's struct are set to zero.
 *  - The struct must have all members of the first release of ABI version 3, except
 *    reserved ones at its end (EINVAL otherwise).  INFO needs only size and abi.
 *  - Pointers are passed as __u64.
 *  - A call that fails changes nothing.
 *
 * What this version of the kernel does not know, or only reserves, fails with one errno
 * for each place: an unknown call with ENOTTY; an unknown flag, an unknown value of an
 * enum, a reserved member that is not zero, and a reserved write_index with EINVAL; a
 * member beyond the kernel's struct that is not zero with E2BIG.  Each errno has other
 * causes too: use the FEATURE bits and limits of INFO to find out what works.
 *
 * From version 3 on, EVENTLOG_ABI_VERSION changes only if a program that works with the
 * previous version could fail or misread something.  It does not change if calls, kinds of
 * lists, flags, members at the end of a struct, causes of loss, quotas, record types or ring
 * flags are added.  Numbers of calls, flags and other constants never get another meaning.  A
 * program can find additions by FEATURE bits, and by the size of a result: a kernel that does
 * not know a member leaves it zero.  See "Changes after version 3" in eventlog(4).
 *
 * What a program must do with values that it does not know, because the kernel is newer:
 *  - Ignore bits of a status byte, of DESCRIBE.state, of a ring's flags and of a record's
 *    size_flags.  They never change how the rest is read.
 *  - Skip a record of an unknown type, by its size.  Only its size_flags are defined.
 *  - Add losses of an unknown cause to the sum, and show them with the cause's number.
 *  - Do not write to reserved bytes of a producer ring: they may get a meaning.
 *
 * The first REGISTER makes an open file a producer, the first SUBSCRIBE makes it a
 * subscriber; after that the other call fails with EBUSY.  Reading a file that has
 * neither role returns the status listing.  What it contains depends on the rights of the
 * opener, as with DESCRIBE.
 *
 * Longer than 900 lines because it is one file for every program: the whole ABI.
 */
#ifndef _UAPI_LINUX_EVENTLOG_H
#define _UAPI_LINUX_EVENTLOG_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EVENTLOG_DEVICE			"/dev/eventlog"
#define EVENTLOG_ABI_VERSION		3

/* Fixed limits.  INFO reports the configurable limits. */
#define EVENTLOG_PAYLOAD_MAX		65536	/* bytes of one event */
#define EVENTLOG_COMMAND_MAX		4096	/* bytes, NUL included */
#define EVENTLOG_SCHEMA_MAX		32768	/* bytes of a schema in REGISTER, NUL included */
#define EVENTLOG_NAME_MAX		256	/* provider, event; NUL included */
#define EVENTLOG_FIELD_NAME_MAX		256	/* field; NUL included */
#define EVENTLOG_GLOB_MAX		1024	/* provider and event glob; NUL included */
#define EVENTLOG_FIELDS_MAX		256	/* fields of one event */
#define EVENTLOG_RING_BYTES_MAX		(1U << 30) /* data bytes of one CPU's ring */
#define EVENTLOG_SUB_BUFFERS_MAX	256
#define EVENTLOG_NAMES_MAX		256	/* threads whose names a ring keeps */

/* The provider of a process that does not name one. */
#define EVENTLOG_DEFAULT_PROVIDER	"user"

/* Severity: a smaller number is more severe.  0 means "not specified". */
enum eventlog_level {
	EVENTLOG_LEVEL_CRITICAL	= 1,
	EVENTLOG_LEVEL_ERROR	= 2,
	EVENTLOG_LEVEL_WARNING	= 3,
	EVENTLOG_LEVEL_NOTICE	= 4,
	EVENTLOG_LEVEL_INFO	= 5,
	EVENTLOG_LEVEL_DEBUG	= 6,
	EVENTLOG_LEVEL_VERBOSE	= 7,
};

/* What an event is to its session: a schema has the words, see elog_schema(5).  0: neither. */
enum eventlog_attribute {
	EVENTLOG_ATTRIBUTE_START	= 1,
	EVENTLOG_ATTRIBUTE_END		= 2,
};

/*
 * The number alone identifies a request: the encoded size is that of the first member,
 * so that the request stays the same when a struct grows.
 */
#define EVENTLOG_IOC_TYPE	0xE7
#define EVENTLOG_IOC(nr)	_IOWR(EVENTLOG_IOC_TYPE, nr, __u32)

#define EVENTLOG_IOC_INFO	EVENTLOG_IOC(0)
#define EVENTLOG_IOC_REGISTER	EVENTLOG_IOC(1)
#define EVENTLOG_IOC_UNREGISTER	EVENTLOG_IOC(2)
#define EVENTLOG_IOC_DELETE	EVENTLOG_IOC(3)
#define EVENTLOG_IOC_LIST	EVENTLOG_IOC(5)
#define EVENTLOG_IOC_SUBSCRIBE	EVENTLOG_IOC(8)
#define EVENTLOG_IOC_RULE_ADD	EVENTLOG_IOC(9)
#define EVENTLOG_IOC_RULE_DEL	EVENTLOG_IOC(10)
#define EVENTLOG_IOC_FLUSH	EVENTLOG_IOC(11)
#define EVENTLOG_IOC_STAT	EVENTLOG_IOC(12)
#define EVENTLOG_IOC_DESCRIBE	EVENTLOG_IOC(13)
#define EVENTLOG_IOC_PAUSE	EVENTLOG_IOC(14)
#define EVENTLOG_IOC_MARKER_SET	EVENTLOG_IOC(17)
#define EVENTLOG_IOC_FILTER_GET	EVENTLOG_IOC(20)
#define EVENTLOG_IOC_MARKER_HANDLERS EVENTLOG_IOC(21)
#define EVENTLOG_IOC_ATTACH	EVENTLOG_IOC(24)
#define EVENTLOG_IOC_DETACH	EVENTLOG_IOC(25)
#define EVENTLOG_IOC_INSTANCE_CREATE EVENTLOG_IOC(26)
#define EVENTLOG_IOC_INSTANCE_DELETE EVENTLOG_IOC(27)
#define EVENTLOG_IOC_INSTANCE_OPEN EVENTLOG_IOC(29)
#define EVENTLOG_IOC_LEAVE	EVENTLOG_IOC(30)
#define EVENTLOG_IOC_MISSED	EVENTLOG_IOC(31)

/* ------------------------------------------------------------------------
 * nr 0, any role: the version and the limits of the module, what exists in the domain, and what
 * the file's user may make the kernel keep.  The struct may end behind any member.  size, abi and
 * release are the same in all versions of the ABI from 3 on.
 *
 * The user is the opener of the file; all uids of a user namespace count for its owner.  Calls
 * that would exceed a limit fail with EDQUOT.  Openers with CAP_SYS_RESOURCE have no limits.
 * All openers of an instance are one user, see INSTANCE_CREATE.
 */
#define EVENTLOG_FEATURE_TRACE		(1ULL << 0) /* events are trace events of ftrace */
#define EVENTLOG_FEATURE_INSTANCES	(1ULL << 1) /* instances can be created */
#define EVENTLOG_FEATURE_SESSIONS	(1ULL << 2) /* threads tell their session, see below */
#define EVENTLOG_FEATURE_LEAVE		(1ULL << 3) /* LEAVE and MISSED */
#define EVENTLOG_FEATURE_CGROUP		(1ULL << 4) /* EVENTLOG_RULE_CGROUP */

enum eventlog_quota {
	EVENTLOG_QUOTA_EVENTS		= 0,	/* live definitions */
	EVENTLOG_QUOTA_DEFINITIONS	= 1,	/* new definitions in a second */
	EVENTLOG_QUOTA_REGISTRATIONS	= 2,
	EVENTLOG_QUOTA_TRACE_BYTES	= 3,	/* beyond it, events are not in tracefs */
	EVENTLOG_QUOTA_RETAINED_BYTES	= 4,	/* beyond it, the oldest texts go */
	EVENTLOG_QUOTA_RING_BYTES	= 5,	/* rings of subscribers and of producers */
	EVENTLOG_QUOTA_RINGS		= 6,	/* rings of producers; threads with a session only */
};
#define EVENTLOG_QUOTAS		7
#define EVENTLOG_QUOTAS_MAX	16	/* room for quotas in INFO and INSTANCE_CREATE */

struct eventlog_user_quota {
	__u64 limit;		/* ~0: there is none; 0 as well: an unknown quota */
	__u64 use;
	__u64 denied;		/* how often the limit was reached */
};

struct eventlog_info {
	__u32 size;
	__u32 abi;		/* out: EVENTLOG_ABI_VERSION */
	char  release[16];	/* out: the module's version, NUL-terminated */
	__u64 features;		/* out: EVENTLOG_FEATURE_* */
	__u64 ring_bytes_max;	/* out: SUBSCRIBE.ring_bytes */
	__u32 payload_max;	/* out: bytes of one event's payload */
	__u32 command_max;	/* out: bytes of a command, NUL included */
	__u32 events_max;	/* out: live definitions in this domain */
	__u32 subscribers_max;	/* out: subscribers in this domain */
	__u32 rules_max;	/* out: rules per subscriber */
	__u32 registrations_max; /* out: registrations per file */
	__u32 policies_max;	/* out: marker policies in this domain */
	__u32 terms_max;	/* out: terms of one filter */
	__u32 events;		/* out: live definitions */
	__u32 enabled;		/* out: of these, with a listener */
	__u32 retained;		/* out: ended definitions whose text is kept */
	__u32 providers;	/* out: kernel providers */
	__u32 subscribers;	/* out: subscribers, those in the kernel included */
	__u32 policies;		/* out: marker policies */
	__u32 restricted;	/* out: 1: DESCRIBE and the status listing leave out others' events */
	__u32 instance;		/* out: id of the file's instance; 0: the root */
	struct eventlog_user_quota quotas[EVENTLOG_QUOTAS_MAX]; /* out: by enum eventlog_quota */
};

/* ------------------------------------------------------------------------
 * nr 1, producer: register an event
 *
 * command: "name ["description"] [type field[;type field...]]", types
 *	u8 u16 u32 u64 s8 s16 s32 s64
 *	char, unsigned char, short, unsigned short, int, unsigned int
 *	char[N], unsigned char[N]
 *	__data_loc char[], __rel_loc char[]		(strings)
 *	__data_loc unsigned char[], __rel_loc unsigned char[]	(bytes)
 *	struct NAME field SIZE
 * The payload contains the fields in this order, packed.  A __data_loc or __rel_loc
 * field is a __u32 word, size << 16 | offset, that refers to bytes behind the fixed
 * part.  The offset is relative to the start of the payload (__data_loc) or to the
 * end of the word (__rel_loc).  The size of a string includes its NUL.
 *
 * The description is a string as in elog_schema(5), in printable ASCII, and is not empty.
 *
 * Registrations with the same provider, name, description, fields, level and keywords share
 * one definition.  If any of these differs, another definition is created.
 *
 * With EVENTLOG_REGISTER_SCHEMA, command is a schema text in canonical form, see
 * elog_schema(5), that describes one event, which is the last statement.  The schema
 * contains provider, level and keywords; these members are 0.  DESCRIBE returns the same
 * text.  Filters know the types of its fields and the names of its enums and flags.
 */
#define EVENTLOG_REGISTER_PERSIST	(1U << 0) /* outlives its producers; CAP_PERFMON */
#define EVENTLOG_REGISTER_SESSION	(1U << 1) /* a __u64 session precedes the payload */
#define EVENTLOG_REGISTER_SCHEMA	(1U << 2) /* command is a schema; see below */

struct eventlog_register {
	__u32 size;
	__u32 flags;		/* EVENTLOG_REGISTER_* */
	__u64 command;		/* const char *, NUL-terminated */
	__u64 provider;		/* const char *, 0: EVENTLOG_DEFAULT_PROVIDER */
	__u64 keywords;		/* mask of up to 64 keywords */
	__u32 level;		/* enum eventlog_level, 0: INFO */
	__u32 write_index;	/* out: written before the payload; never 0 */
	__u32 descriptor;	/* out: id of the definition, as in its records */
	__u32 status_offset;	/* out: offset of its status byte in the status map; at least 4 */
	__u64 map_offset;	/* out: offset to mmap */
	__u32 map_size;		/* out: length to mmap, in bytes */
	__u32 reserved;
};

/*
 * The status map tells a producer what to do when it reaches an event.  It has one
 * byte for each event.  Map it read-only; read the byte with one load.  Ignore bits
 * that are not defined here.  The highest bit is never set: libraries may set it in
 * bytes of their own.  The first 4 bytes of the map are a __u32, the generation,
 * which changes whenever a marker policy changes, and when no one is interested in sessions of
 * threads any more.
 */
#define EVENTLOG_STATUS_ENABLED	(1U << 0) /* the event has a listener */
#define EVENTLOG_STATUS_SYNC	(1U << 1) /* a listener is synchronous: use write() */
#define EVENTLOG_STATUS_PRINT	(1U << 2) /* program marker: PRINT is on */
#define EVENTLOG_STATUS_PROBE	(1U << 3) /* program marker: PROBE is on */
#define EVENTLOG_STATUS_FILTER	(1U << 4) /* program marker: a filter applies, call FILTER_GET */
#define EVENTLOG_STATUS_SESSION	(1U << 5) /* threads' sessions are of interest, see below */
#define EVENTLOG_STATUS_LEAVE	(1U << 6) /* give the device up, see LEAVE */

/* nr 2, producer: remove a registration */
struct eventlog_unregister {
	__u32 size;
	__u32 write_index;
};

/* nr 3, any role, CAP_PERFMON: delete persistent events by name; EBUSY: one is in use */
struct eventlog_delete {
	__u32 size;
	__u32 flags;		/* 0 */
	__u64 provider;		/* const char *, 0: EVENTLOG_DEFAULT_PROVIDER */
	__u64 event;		/* const char * */
};

/*
 * nr 5: list definitions, names of threads, instances, markers, policies or
 * registrations.  All lists have the same rules.
 *
 * The call fills the buffer with elements, in the order of their keys, from the first one whose
 * key is greater than cursor, and sets cursor to the key where the next call continues, or to 0
 * if that was all.  So begin with 0, and repeat the call until cursor is 0 again:
 *
 *	do {
 *		list.buffer_size = sizeof(buffer);
 *		ioctl(fd, EVENTLOG_IOC_LIST, &list);
 *		... count elements, each size bytes behind the previous one ...
 *	} while (list.cursor);
 *
 * A call looks at a limited number of elements, also of those that the opener may not see.  So
 * it may return few of them, and even none: that is not the end.  An element that is made or
 * ends meanwhile may be missing.
 *
 * An element begins with struct eventlog_element.  text_offset is also the size of the
 * element's struct, as the kernel knows it: take members that are not in front of it as 0.
 *
 * EMSGSIZE: buffer_size is too small for the next element and was set to the size needed;
 * nothing else was set.  EINVAL: an unknown kind, or a member that is not for this kind and not
 * 0.  EPERM: the opener needs CAP_PERFMON.  EINTR: a fatal signal arrived.
 */
enum eventlog_list_kind {
	/* any role: struct eventlog_definition, key: descriptor, text: the schema */
	EVENTLOG_LIST_DEFINITIONS	= 0,
	/* subscriber: struct eventlog_name, key: opaque.  ENXIO: no such ring */
	EVENTLOG_LIST_NAMES		= 1,
	/*
	 * any role: struct eventlog_instance_info, key: id, text: the name.  A file of the root
	 * needs CAP_PERFMON.  A file of an instance lists only this instance.
	 */
	EVENTLOG_LIST_INSTANCES		= 2,
	/*
	 * any role, CAP_PERFMON: struct eventlog_marker_info, key: descriptor of its event, text:
	 * module, tag, path, function, source text of the filter, empty if there is none
	 */
	EVENTLOG_LIST_MARKERS		= 3,
	/*
	 * any role, CAP_PERFMON: struct eventlog_policy_info, key: id, newer policies have greater
	 * ones, text: program, marker, source text of the filter, empty if there is none
	 */
	EVENTLOG_LIST_POLICIES		= 4,
	/*
	 * any role: struct eventlog_registration_info, key: opaque.  An opener without CAP_PERFMON
	 * and CAP_SYS_ADMIN only finds registrations of files that its effective uid has opened
	 */
	EVENTLOG_LIST_REGISTRATIONS	= 5,
};

#define EVENTLOG_LIST_ALIGN	8	/* sizes of elements are multiples of it */

struct eventlog_list {
	__u32 size;
	__u32 kind;		/* enum eventlog_list_kind */
	__u64 cursor;		/* in: 0 for the first call; out: for the next one, 0: the end */
	__u64 buffer;		/* where the elements go */
	__u32 buffer_size;	/* in: bytes at buffer; out: bytes used */
	__u32 count;		/* out: number of elements */
	__u64 since;		/* NAMES: only names whose time is not before this; 0: all */
	__u32 ring;		/* NAMES: index of the ring */
	__u32 flags;		/* 0 */
};

struct eventlog_element {
	__u32 size;		/* bytes, with the text, to the next element */
	__u32 text_offset;	/* bytes to the text: strings, each with its NUL */
};

struct eventlog_definition {
	__u32 size;
	__u32 text_offset;
	__u32 descriptor;
	__u32 state;		/* EVENTLOG_DESCRIBED_*; this and the rest: as in DESCRIBE */
	__u32 provider_id;
	__u32 instance;
	__u32 sync;
	__u32 sync_pid;
};

/*
 * The name of a thread that has written records to the ring.  A thread that writes a record
 * leaves its name until another thread, whose tid has the same lowest bits, writes a record
 * there.  So there are at most EVENTLOG_NAMES_MAX names.  A thread that is not in the
 * subscriber's pid namespace has no name.
 */
struct eventlog_name {
	__u32 size;
	__u32 text_offset;
	__u64 time;		/* of the thread's first record with this name */
	__u32 pid;		/* process (tgid), in the subscriber's pid namespace */
	__u32 tid;		/* thread, in the subscriber's pid namespace */
	char  comm[16];		/* NUL-terminated; there is no text */
};

struct eventlog_instance_info {
	__u32 size;
	__u32 text_offset;
	__u32 id;
	__u32 owner;		/* uid in the caller's user namespace, or the overflow uid */
	__u32 group;		/* gid, likewise */
	__u32 mode;		/* permissions that the node got */
	__u32 events;		/* live definitions */
	__u32 subscribers;
	__u32 files;		/* open files */
	__u32 reserved;
};

/* A registration of an event by a program. */
struct eventlog_registration_info {
	__u32 size;
	__u32 text_offset;	/* there is no text */
	__u32 descriptor;	/* of the event */
	/*
	 * The process that has registered the first event of the file, in the caller's pid
	 * namespace; 0: it is not in the namespace, or has ended.
	 */
	__u32 pid;
	__u32 handlers;		/* of MARKER_HANDLERS */
	__u32 defaults;		/* of MARKER_HANDLERS */
};

struct eventlog_marker_info {
	__u32 size;
	__u32 text_offset;
	__u32 descriptor;	/* of the marker's event */
	__u32 handlers;		/* EVENTLOG_MARKER_*: switched on */
	__u32 defaults;		/* EVENTLOG_MARKER_*: on when the module was loaded */
	__u32 allowed;		/* EVENTLOG_MARKER_*: may be switched on */
	__u32 active;		/* EVENTLOG_MARKER_*: on and, for TRACE, with a listener */
	__u32 line;		/* line in the source file */
	__u32 ordinal;		/* number of markers before it in the function */
	__u32 filtered;		/* 1: it has a filter, whose text may be empty */
	__u64 id;
	__u64 rejected;		/* how often the filter was false */
	__u64 suppressed;	/* lines suppressed, by the rate limit or the context */
};

struct eventlog_policy_info {
	__u32 size;
	__u32 text_offset;
	__u32 id;
	__u32 handlers;		/* EVENTLOG_MARKER_* */
	__u32 operation;	/* EVENTLOG_MARKER_OP_ADD or _REMOVE */
	__u32 reserved;
};

/* ------------------------------------------------------------------------
 * Writing: each writev() or write() emits one event and contains
 *	__u32 write_index; [__u64 session;] payload
 * The two integers are in host byte order and need not be aligned.  REGISTER returns
 * no write_index above 0x7fffffff; EINVAL: the index is reserved.
 */
#define EVENTLOG_WRITE_BATCH	0xfffffffeU	/* several events in one call, see below */
#define EVENTLOG_WRITE_KICK	0xfffffffdU	/* drain a producer ring, see below */
#define EVENTLOG_WRITE_SESSION	0xfffffffcU	/* what the thread works on, see below */

/*
 * write() of EVENTLOG_WRITE_BATCH: __u32 EVENTLOG_WRITE_BATCH; then for each event __u32
 * bytes; message, of so many bytes.  Emits the events in this order, each whole or not at
 * all, up to the first one that fails.  Returns the size up to that event; or its errno, if
 * it is the first one.  To go on after an event, write EVENTLOG_WRITE_BATCH over the last
 * four bytes before the rest.  An event that no one listens to is skipped, where write() of
 * its message alone fails with EBADF.
 */

/* ------------------------------------------------------------------------
 * Producer rings: emitting without a system call.
 *
 * A thread of a producer gets a ring with ATTACH, maps it and writes records to it.  The
 * kernel copies and checks the records, and delivers them as if the thread had written
 * them.  The kernel does that
 *	- about 100 times a second while there are records
 *	- when the thread calls write() with EVENTLOG_WRITE_KICK
 *	- in FLUSH, PAUSE, RULE_ADD and RULE_DEL of a subscriber
 *	- in UNREGISTER and DETACH, and in ATTACH of a ring that another thread had
 *	- soon after the ring was unmapped; thus also after execve() and exit, whatever the
 *	  cause.  FLUSH and the like wait for it, and so does the last close() of the file
 * What is committed after the thread has exited, or has begun another program, is not its own: a
 * process that shares its memory can still write there.  So ask becomes LEAVE and ENDED, and KICK
 * fails with ENOENT, until another thread takes the ring over.
 *
 * A ring consists of a page with struct eventlog_mapped_header and of data_bytes of data
 * at data_offset.  The thread may use it for an event while EVENTLOG_STATUS_ENABLED is set
 * and EVENTLOG_STATUS_SYNC is not.  To emit an event
 *	1. load position (acquire).  The ring has room for data_bytes - (head - position)
 *	   bytes, where head is the end of the thread's last record.
 *	2. A record starts at a multiple of 8 and does not wrap.  If the rest of the ring is
 *	   too short, fill it with padding: size and a write_index of 0 are sufficient.
 *	3. Write the record, then store its end, rounded up to 8, to committed (release).
 *	4. Load ask.  EVENTLOG_MAPPED_ASK_KICK: call write() with EVENTLOG_WRITE_KICK.
 *	   EVENTLOG_MAPPED_ASK_LEAVE: stop using the ring.  EVENTLOG_MAPPED_ASK_ENDED: the
 *	   kernel does not take this record: emit the event with write().
 * A record that is not committed has no effect, so a thread may be killed at any time.
 * Positions are 32 bits, start at 0 and wrap.  The kernel reads only committed and the
 * records before it.  A record outside of the rules above ends the ring: ask becomes
 * LEAVE and ENDED.
 *
 * write() of EVENTLOG_WRITE_KICK: __u32 EVENTLOG_WRITE_KICK; __u32 ring; [message].  Drains
 * the ring, then emits the event of the message, if there is one, as write() of the message
 * alone does.  Use it if ask says so, if the ring has no room for the message, and for each
 * event that the thread cannot put into its ring: then the event's time is after those of
 * the thread's earlier records, and before those of its later ones.  After it the ring may
 * still have no room, if other rings contain many older records.
 */
/*
 * EVENTLOG_FEATURE_SESSIONS: a thread can say which session it works on.  Then the provider sched
 * (eventlog_sched.ko) can tell when and why the thread did not run.  To begin with a session, to
 * end it, or to go on with another one
 *	1. store 0 to session_of
 *	2. store the session and session_flags
 *	3. store the descriptor of an event of the session's provider to session_of
 * Only the thread itself does so, without barriers of the CPU.  ATTACH sets session_of to 0.
 * The kernel does not interpret the two numbers, it copies them to events.  In an instance, a
 * descriptor that is not of an event of the instance means that there is no session.  Of the rings
 * of a thread, that of its last ATTACH counts.  While there is a listener to the provider sched,
 * EVENTLOG_STATUS_SESSION of all events of programs is set, and a thread without a ring that
 * begins with a session should get one.
 *
 * When the last such listener goes, the kernel stores 0 to session_of where session_flags has
 * EVENTLOG_SESSION_LISTENED, forgets what was written with EVENTLOG_WRITE_SESSION, and changes the
 * generation in the status map.  So a program that says what its threads work on only while the bit
 * is set need not say when that ends after the bit was cleared.
 */
#define EVENTLOG_SESSION_LISTENED	(1U << 0)

/*
 * write() of EVENTLOG_WRITE_SESSION, on any file of a producer: the same for the calling thread,
 * with a system call.  If the thread has a ring, the kernel does the three stores to the header of
 * the ring that counts.  Otherwise it keeps the session for the thread until the next such write,
 * or until the thread gets a ring, exits or calls execve(), or the file is closed.  Of the files by
 * which a thread without a ring has said so, the last one counts.  The child of a fork has no
 * session.  Not part of a batch.
 *
 * EINVAL: the size is not that of the struct; EOPNOTSUPP: the file belongs to an instance; or the
 * thread has a ring of an instance, and session_of is not an event of that instance (0 is allowed);
 * or the caller is a worker of io_uring; EDQUOT: the user has too many rings or too much memory in
 * them, for the session of a thread counts as a ring; ENOMEM.  What fails changes nothing.
 */
struct eventlog_write_session {
	__u32 write_index;	/* EVENTLOG_WRITE_SESSION */
	__u32 session_of;	/* descriptor of an event of the session's provider; 0: no session */
	__u64 session;
};

#define EVENTLOG_MAPPED_MAGIC	0x4d474c45U	/* "ELGM" as little-endian bytes */
#define EVENTLOG_MAPPED_BYTES_MIN 8192U		/* of ATTACH.data_bytes; at least a page */
#define EVENTLOG_MAPPED_BYTES_MAX (1U << 20)
/* Of one file.  The offset of the last one is below 4 GiB, the limit of 32-bit kernels. */
#define EVENTLOG_MAPPED_RINGS_MAX 2047

#define EVENTLOG_ATTACH_CYCLES		(1U << 0) /* times are values of the cycle counter */

#define EVENTLOG_MAPPED_ASK_KICK	1U	/* the kernel waits: kick after the next event */
#define EVENTLOG_MAPPED_ASK_LEAVE	2U	/* use the ring no more: end it, get another one */
#define EVENTLOG_MAPPED_ASK_ENDED	4U	/* with LEAVE: the kernel takes no more records */

struct eventlog_mapped_header {
	__u32 magic;		/* the kernel's: EVENTLOG_MAPPED_MAGIC */
	__u32 data_offset;	/* bytes from this header to the data */
	__u32 data_bytes;	/* a power of two */
	__u32 ring;		/* number of the ring in its file */
	__u32 late_max;		/* elements of the table of late events, see below; 0: none */
	__u8  reserved0[108];

	__u32 committed;	/* the thread's: end of the complete records */
	__u32 session_of;	/* the thread's: descriptor of an event, see below; 0: no session */
	__u64 session;		/* the thread's: what it works on */
	__u32 session_flags;	/* the thread's: EVENTLOG_SESSION_*; others are 0 */
	__u32 late;		/* the thread's: the sum of its late events */
	__u8  reserved1[104];

	__u32 position;		/* the kernel's: end of the records that it has taken */
	__u32 ask;		/* EVENTLOG_MAPPED_ASK_*; ignore other bits */
	__u8  reserved2[120];
};

/*
 * A thread that finds no room, and does not wait for it, counts the event in the table at
 * EVENTLOG_MAPPED_LATE, bytes from the header.  To do so
 *	1. find the element of the event, or store write_index to the first one that has none
 *	2. add 1 to its count
 *	3. add 1 to late (release)
 * When the kernel drains the ring, also that of a thread which was killed, it counts what is new as
 * lost, EVENTLOG_LOST_LATE, as MISSED does.
 */
#define EVENTLOG_MAPPED_LATE	1024U
#define EVENTLOG_MAPPED_LATE_MAX 192U	/* elements, up to the end of the smallest page */

struct eventlog_mapped_late {
	__u32 write_index;	/* the thread's; 0: this element and the following ones are free */
	__u32 count;		/* the thread's */
	__u32 taken;		/* the kernel's: how many of these it has counted */
	__u32 reserved;
};

struct eventlog_mapped_record {
	__u32 size;		/* bytes, this header included; without padding at the end */
	__u32 write_index;	/* 0: padding up to the end of the ring */
	__u64 time;		/* CLOCK_MONOTONIC of the initial time namespace, ns; or cycles */
	__u64 session;		/* ignored if the registration has no session */
};

/*
 * nr 24, producer: get a ring for the calling thread.  With ring, take over a ring that
 * another thread of the process used; its records are delivered first.  The mapping must
 * be shared, readable and writable, and of the whole ring.  Only the process that called
 * ATTACH can map it, and once only.  When it is unmapped, the ring ends.
 *
 * With EVENTLOG_ATTACH_CYCLES, the time of a record is the counter that the x86 instruction
 * RDTSC reads, and the kernel converts it.  If the counter stops being the kernel's clock,
 * ask becomes LEAVE; what the ring contains is still delivered.
 *
 * EMFILE: the file or the thread has EVENTLOG_MAPPED_RINGS_MAX rings; EDQUOT: the user has too
 * many rings or too much memory in them; ENOENT: there is no such ring to take over; EPERM: it
 * belongs to another process; EINVAL: it has other flags; EOPNOTSUPP: CYCLES, and the counter is
 * not the kernel's clock.
 */
struct eventlog_attach {
	__u32 size;
	__u32 flags;		/* EVENTLOG_ATTACH_CYCLES */
	__u32 ring;		/* in: 0: a new ring, or a ring to take over; out: its number */
	__u32 data_bytes;	/* in: of a new ring, a power of two; out */
	__u64 offset;		/* out: offset to mmap */
	__u64 length;		/* out: length to mmap, in bytes */
	__s64 time_offset;	/* out: add it to the caller's CLOCK_MONOTONIC */
};

/* nr 25, producer: deliver the records of a ring and end it.  ENOENT: no such ring. */
struct eventlog_detach {
	__u32 size;
	__u32 ring;
};

/* ------------------------------------------------------------------------
 * Filters, of rules and of markers.
 *
 * A filter is an array of terms.  Evaluation starts with the first term.  Each term
 * names the term to evaluate next if it is true and if it is false, which is always a
 * later one, or the result of the filter.  A term compares a field of the event with a
 * value.  The field's type decides how the value is interpreted, therefore a term
 * carries the value in every form that it may have.
 *
 * A term is false, also with EVENTLOG_TERM_OP_NOT_EQUAL, if the event lacks the field, or
 * if the type of the field does not support the operation or the values.
 *
 * An IPv4 address, of a field or of a term, is compared as ::ffff:a.b.c.d if the other
 * one is an IPv6 address.  A string is also the value for bytes, u8[N] and struct fields
 * (pairs of hexadecimal digits), for a mac field (aa:bb:cc:dd:ee:ff), and for an enum or
 * flags field (a name, or names separated by '|'); for those with operations 1 to 7.
 *
 * Names, strings and addresses are in a pool of bytes that the terms refer to by
 * offset.  The kernel copies terms, pool and text once, and checks the copy.
 *
 * term_size is the size of struct eventlog_term as the caller was compiled, and the
 * distance from one term to the next.  In both directions, with RULE_ADD and MARKER_SET
 * and with FILTER_GET, members that only one side knows are zero, or the
 * call fails with E2BIG.  A term_size below EVENTLOG_TERM_SIZE_MIN is EINVAL.
 */
#define EVENTLOG_TERMS_MAX	64
#define EVENTLOG_FILTER_POOL_MAX 8192	/* bytes */
#define EVENTLOG_FILTER_TEXT_MAX 1024	/* bytes of the source text, NUL included */
#define EVENTLOG_TERM_STRING_MAX 256	/* bytes of a string value, NUL included */
#define EVENTLOG_TERM_SIZE_MIN	24	/* bytes: the members that every term needs */

struct eventlog_filter {
	__u32 size;
	__u32 flags;		/* 0 */
	__u32 term_count;	/* 1 to EVENTLOG_TERMS_MAX */
	__u32 term_size;	/* sizeof(struct eventlog_term), as the caller was compiled */
	__u64 terms;		/* const struct eventlog_term *, term_size bytes apart */
	__u64 pool;		/* const void *: what terms refer to */
	__u32 pool_size;	/* bytes at pool */
	__u32 text_size;	/* bytes at text, NUL included; 0: no text */
	__u64 text;		/* const char *, the source text, printable, for listings */
};

enum eventlog_term_operation {
	EVENTLOG_TERM_OP_SET		= 0,	/* not 0, not empty; takes no value */
	EVENTLOG_TERM_OP_EQUAL		= 1,
	EVENTLOG_TERM_OP_NOT_EQUAL	= 2,
	EVENTLOG_TERM_OP_LESS		= 3,	/* 3 to 7: integers, enum and flags only */
	EVENTLOG_TERM_OP_LESS_EQUAL	= 4,
	EVENTLOG_TERM_OP_GREATER	= 5,
	EVENTLOG_TERM_OP_GREATER_EQUAL	= 6,
	EVENTLOG_TERM_OP_BITS		= 7,	/* at least one bit of the value is set */
	EVENTLOG_TERM_OP_BEGINS		= 8,	/* 8 and 9: strings only; the prefix is string */
	EVENTLOG_TERM_OP_BEGINS_NOT	= 9,
};

#define EVENTLOG_TERM_COMMON	(1U << 0) /* name is cpu, pid, tid, comm or session, no field */
#define EVENTLOG_TERM_NUMBER	(1U << 1) /* number is the value for an integer field */
#define EVENTLOG_TERM_NEGATIVE	(1U << 2) /* that value is 0 - number */
#define EVENTLOG_TERM_BOOL	(1U << 3) /* number, 0 or 1, is the value for a bool field */
#define EVENTLOG_TERM_STRING	(1U << 4) /* string is the value for a string field */
#define EVENTLOG_TERM_IPV4	(1U << 5) /* address, of 4 bytes, is the value for an address */
#define EVENTLOG_TERM_IPV6	(1U << 6) /* address, of 16 bytes, is the value for an address */

/* Results, in place of the index of a term. */
#define EVENTLOG_FILTER_REJECT	0xfffe	/* the filter is false */
#define EVENTLOG_FILTER_ACCEPT	0xffff	/* the filter is true */

struct eventlog_term {
	__u32 name;		/* in the pool: a field; else cpu, pid, tid, comm or session */
	__u32 flags;		/* EVENTLOG_TERM_*; values that flags does not name are 0 */
	__u16 operation;	/* enum eventlog_term_operation, EVENTLOG_TERM_OP_* */
	__u16 on_true;		/* index of a later term, or EVENTLOG_FILTER_REJECT, _ACCEPT */
	__u16 on_false;		/* index of a later term, or EVENTLOG_FILTER_REJECT, _ACCEPT */
	__u16 reserved;		/* 0 */
	__u32 string;		/* in the pool, NUL-terminated */
	__u32 address;		/* in the pool: the address, then a mask of the same length */
	__u64 number;		/* here and below: beyond EVENTLOG_TERM_SIZE_MIN */
	__u64 reserved2;	/* 0 */
};

/* ------------------------------------------------------------------------
 * nr 8, subscriber: make the file a subscriber; the process that opened it needs
 * CAP_PERFMON or CAP_SYS_ADMIN
 *
 * Calls and mmap() name a ring by its index, 0 to rings - 1.  The header of the ring says
 * which CPU writes to it.  Today the index equals the number of the CPU; do not rely on
 * that, because several rings may belong to one CPU later.  A CPU that has never been
 * online has no ring.
 *
 * With EVENTLOG_SUBSCRIBE_MAPPED, the last rings are shard rings, which receive the events
 * from producer rings.  Their header.cpu is EVENTLOG_CPU_UNKNOWN.  While a subscriber with
 * rings but without the flag listens to an event, EVENTLOG_STATUS_SYNC of the event is set,
 * so that its producers call write().
 */
#define EVENTLOG_SUBSCRIBE_OVERWRITE	(1U << 0) /* a full ring overwrites the oldest records */
#define EVENTLOG_SUBSCRIBE_MAPPED	(1U << 1) /* events from producer rings, in shard rings */

struct eventlog_subscribe {
	__u32 size;
	__u32 flags;		/* EVENTLOG_SUBSCRIBE_* */
	__u64 ring_bytes;	/* data bytes of each ring, a power of two; 0: no rings */
	__u64 watermark;	/* poll() reports readable at so many bytes in one ring; 0: any */
	__u32 sub_buffers;	/* a power of two, 2 to 256; 0: 2; each at least a page */
	__u32 rings;		/* out: number of rings; some may not exist yet */
	__u64 ring_offset;	/* out: mmap offset of ring 0 */
	__u64 ring_stride;	/* out: offset between rings, and the length to mmap */
	__u32 generation;	/* out: changes when a ring is added */
	__u32 shards;		/* out: with MAPPED, so many of the rings are shard rings */
};

/*
 * nr 9, subscriber: add a rule; an event that matches several rules is delivered once.
 * EDQUOT: the memory for the rules of an instance that match its events is used up; or the rules
 * of all subscribers would have more than EVENTLOG_LOCKED_TERMS_MAX terms for an event of the
 * provider sched, which the kernel tests in context switches.  A rule with a session, pid, cgroup,
 * sample or filter counts as one term, plus one for each term of its filter.
 */
#define EVENTLOG_RULE_SESSION		(1U << 0) /* only this session */
#define EVENTLOG_RULE_PID		(1U << 1) /* only this process */
#define EVENTLOG_RULE_CGROUP		(1U << 2) /* only threads of this cgroup, and below it */

#define EVENTLOG_LOCKED_TERMS_MAX	1024

struct eventlog_rule {
	__u32 size;
	__u32 flags;		/* EVENTLOG_RULE_* */
	__u64 provider;		/* const char *, a glob over provider names; 0: all */
	__u64 event;		/* const char *, a glob over event names; 0: all */
	__u64 keywords_any;	/* the event has at least one of these; 0: not tested */
	__u64 keywords_all;	/* the event has all of these */
	__u64 session;		/* with EVENTLOG_RULE_SESSION */
	__u32 pid;		/* with EVENTLOG_RULE_PID, in the subscriber's pid namespace */
	__u32 level;		/* maximum level; 0: every level */
	__u32 sample;		/* deliver the first of every N matching events; 0 and 1: all */
	__u32 rule_id;		/* out: for RULE_DEL; never 0 */
	__u64 filter;		/* const struct eventlog_filter *, 0: none */
	__u32 cgroup;		/* with EVENTLOG_RULE_CGROUP, an open directory of cgroup2; EBADF */
	__u32 reserved;		/* 0 */
};

/* nr 10, subscriber: delete a rule */
struct eventlog_rule_delete {
	__u32 size;
	__u32 rule_id;
};

/*
 * nr 11, subscriber: get a time such that no record with an earlier time appears in
 * any ring after this call.  (In overwrite mode, an earlier record may be missing; it
 * is then counted as lost.)
 */
struct eventlog_flush {
	__u32 size;
	__u32 flags;		/* 0 */
	__u64 time;		/* out: CLOCK_MONOTONIC of the initial time namespace, ns */
	__u32 generation;	/* out: as in SUBSCRIBE */
	__u32 reserved;
};

/* Causes of loss: why a subscriber did not receive an event.  Indices of all lost[] arrays. */
enum eventlog_lost {
	EVENTLOG_LOST_NO_ROOM	= 0,	/* the ring was full of unread records */
	EVENTLOG_LOST_GUARD	= 1,	/* nested writers would have lapped an unfinished record */
	EVENTLOG_LOST_NESTED	= 2,	/* it interrupted a writer that held the ring's lock */
	EVENTLOG_LOST_DEPTH	= 3,	/* writers nested too deeply, or RCU was not watching */
	EVENTLOG_LOST_TOO_LARGE	= 4,	/* the record does not fit into a sub-buffer */
	EVENTLOG_LOST_ABORTED	= 5,	/* the program's payload was not valid: no loss */
	EVENTLOG_LOST_NO_MEMORY	= 6,	/* there was no memory for the CPU's ring, or for a rule */
	EVENTLOG_LOST_PAUSED	= 7,	/* the subscriber had paused its rings */
	EVENTLOG_LOST_AWAY	= 8,	/* its program had given the device up, see MISSED */
	EVENTLOG_LOST_QUOTA	= 9,	/* its user has too many events of the provider sched */
	EVENTLOG_LOST_LATE	= 10,	/* its thread did not wait for room in its producer ring */
	EVENTLOG_LOST_UNMAPPED	= 11,	/* of sched: another thread has ended its thread's ring */
	/* 12 to 15: reserved for other causes; today 0 */
	EVENTLOG_LOST_CAUSES	= 16,
};

/*
 * nr 12, subscriber: number of delivered, lost and rejected events so far.  With a
 * descriptor, ring must be EVENTLOG_RINGS_ALL, and only event_lost is set, the losses of
 * that event, and lost[EVENTLOG_LOST_ABORTED], which are part of them.  With a rule_id,
 * ring must be EVENTLOG_RINGS_ALL and descriptor 0, and only rejected and incompatible are
 * set: those of that rule.  ENOENT: there is none.
 * Otherwise they are the sums over all rules that the subscriber has or had, and 0 if
 * ring is not EVENTLOG_RINGS_ALL.
 */
#define EVENTLOG_RINGS_ALL	0xffffffffU

struct eventlog_stat {
	__u32 size;
	__u32 flags;		/* 0 */
	__u32 ring;		/* in: index, or EVENTLOG_RINGS_ALL; ENXIO: no such ring */
	__u32 descriptor;	/* in: one event, or 0 */
	__u32 rule_id;		/* in: one rule, or 0: all rules */
	__u32 generation;	/* out: as in SUBSCRIBE */
	__u64 records;		/* out: events written to rings */
	__u64 bytes;		/* out: bytes written to rings, padding included */
	__u64 event_lost;	/* out: losses of the event, all causes */
	__u64 rejected;		/* out: events for which the filter of a rule was false */
	__u64 incompatible;	/* out: of these, a field was missing or had another type */
	__u64 reserved;
	__u64 lost[EVENTLOG_LOST_CAUSES]; /* out: cumulative, by cause */
};

/*
 * nr 13, any role: get the schema text of a definition.  ENOENT: there is no such
 * definition.  EMSGSIZE: text_size is too small and was set to the size needed.
 *
 * An opener without CAP_PERFMON and CAP_SYS_ADMIN only finds definitions of which its
 * effective uid has a registration, and those of kernel providers.  For the latter, state
 * has no bits but LIVE and KERNEL.
 */
#define EVENTLOG_DESCRIBED_LIVE		(1U << 0) /* it has a producer or is persistent */
#define EVENTLOG_DESCRIBED_ENABLED	(1U << 1) /* it has a listener */
#define EVENTLOG_DESCRIBED_PERSIST	(1U << 2) /* it is persistent */
#define EVENTLOG_DESCRIBED_PRINT	(1U << 3) /* program marker: PRINT is on */
#define EVENTLOG_DESCRIBED_PROBE	(1U << 4) /* program marker: PROBE is on */
#define EVENTLOG_DESCRIBED_INCOMPATIBLE	(1U << 5) /* its program cannot evaluate its filter */
#define EVENTLOG_DESCRIBED_KERNEL	(1U << 6) /* its provider is the kernel's */

/* Why EVENTLOG_STATUS_SYNC of an event is set, so that its producers call write() */
#define EVENTLOG_SYNC_TRACER	(1U << 0) /* a tracer: ftrace, perf or a BPF program */
#define EVENTLOG_SYNC_CALLBACK	(1U << 1) /* a subscriber in the kernel */
#define EVENTLOG_SYNC_RINGS	(1U << 2) /* a subscriber without SUBSCRIBE_MAPPED */
#define EVENTLOG_SYNC_FILTER	(1U << 3) /* a rule compares cpu or comm by a filter, or a cgroup */

struct eventlog_describe {
	__u32 size;
	__u32 flags;		/* 0 */
	__u32 descriptor;	/* in */
	__u32 text_size;	/* in: bytes at text; out: bytes of the text, NUL included */
	__u64 text;		/* char * */
	__u32 state;		/* out: EVENTLOG_DESCRIBED_* */
	__u32 provider_id;	/* out: unique among registered providers, 1 to 65535 */
	__u32 instance;		/* out: the instance it belongs to; 0: the root */
	__u32 reserved;
	__u32 sync;		/* out: EVENTLOG_SYNC_* */
	__u32 sync_pid;		/* out: a subscriber of _RINGS or _FILTER; 0: none, or hidden */
};

/*
 * nr 14, subscriber: pause or resume writing to the rings.  When a call that pauses has
 * returned, no writer is active any more: each record in the rings is complete, and the
 * data does not change until another call resumes, so that a ring in overwrite mode can be
 * read without being overwritten.  Each event that was emitted before the
 * call is in its ring or counted as lost.  An event that is emitted during the call may be
 * either; later ones are counted as lost, with EVENTLOG_LOST_PAUSED, so these counts still
 * grow.  Call FLUSH after PAUSE for the time up to which the rings are complete, and for
 * the generation.
 */
struct eventlog_pause {
	__u32 size;
	__u32 paused;		/* 1: pause, 0: resume */
};

/* ------------------------------------------------------------------------
 * Markers of kernel modules, eventlog_marker(9).
 *
 * A marker is identified by its place, "path:function:ordinal": the source file
 * relative to the top of its tree, the function, and the number of markers before
 * it in the function.  Its id is the 64-bit FNV-1a hash of that string.
 *
 * A marker fires when control reaches it while it is on.
 */
#define EVENTLOG_MARKER_PRINT	(1U << 0) /* print a line to the kernel log, rate-limited */
#define EVENTLOG_MARKER_TRACE	(1U << 1) /* emit the event to its listeners */
#define EVENTLOG_MARKER_PROBE	(1U << 2) /* call attached functions, the static tracepoint */

enum eventlog_marker_operation {
	EVENTLOG_MARKER_OP_ADD		= 0,	/* switch these handlers on */
	EVENTLOG_MARKER_OP_REMOVE	= 1,	/* switch these handlers off */
	EVENTLOG_MARKER_OP_REPLACE	= 2,	/* switch these handlers on and all others off */
};

/*
 * nr 17, any role, CAP_PERFMON: switch handlers of all matching markers of modules, or, with
 * EVENTLOG_MARKER_SET_PROGRAMS, of programs.
 *
 * Of modules: ENOENT: no marker matches.  A marker that does not allow one of the handlers is
 * not changed.  With a filter, the handlers of a marker and the functions that modules have
 * attached to it run only if the filter is true for the marker's fields.  ADD and REPLACE
 * replace the marker's previous filter, also if there is no new one.  A marker has no filter
 * while all its handlers are off.  A marker is not changed if it lacks a field of the
 * filter or if the type of a field does not support the comparison.
 *
 * Of programs, see elog_marker(3): these are events of processes whose provider name begins
 * with "markers_".  The program's own settings and the marker policies decide which handlers
 * other than TRACE they have.  The call adds a policy, which the kernel keeps until the module is
 * unloaded.  It applies all policies, in order, to each event that they match: to live events
 * immediately, to others when they are registered.  The result is EVENTLOG_STATUS_PRINT and
 * EVENTLOG_STATUS_PROBE in the event's status byte.  If a policy has a filter, only
 * EVENTLOG_STATUS_FILTER is set.  The program gets the filter with FILTER_GET, keeps it until the
 * generation changes, and evaluates it each time the marker fires.  Filters work as for
 * modules.  Earlier policies that no longer have an effect are dropped, and so is a new
 * policy without an effect.  ENOSPC: there are already EVENTLOG_POLICIES_MAX.  Only PRINT and
 * PROBE, at least one of them, and only ADD and REMOVE are possible, and id and descriptor
 * are 0.
 */
#define EVENTLOG_MARKER_SET_ID		(1U << 0) /* only markers with this id */
#define EVENTLOG_MARKER_SET_PROGRAMS	(1U << 1) /* of programs: add a policy */

#define EVENTLOG_PROGRAM_PREFIX	"markers_"
#define EVENTLOG_POLICIES_MAX	256

struct eventlog_marker_set {
	__u32 size;
	__u32 flags;		/* EVENTLOG_MARKER_SET_* */
	__u64 owner;		/* const char *, a glob over modules or programs; 0: all */
	__u64 marker;		/* const char *, a glob over tags and places, or events; 0: all */
	__u64 id;		/* with EVENTLOG_MARKER_SET_ID */
	__u64 filter;		/* const struct eventlog_filter *; 0: none */
	__u32 handlers;		/* EVENTLOG_MARKER_* */
	__u32 operation;	/* enum eventlog_marker_operation */
	__u32 descriptor;	/* only the marker whose event has this descriptor; 0: all */
	__u32 matched;		/* out: number of matching markers; of programs: live events */
	__u32 changed;		/* out: of these, handlers or filter changed */
	__u32 denied;		/* out: of these, a handler is not allowed */
	__u32 incompatible;	/* out: of these, incompatible with the filter */
	__u32 policy;		/* out: id of the policy; 0: it had no effect and was dropped */
};

/*
 * nr 20, producer: get the filter of a program marker.  ENOENT: no such write_index.
 * EMSGSIZE: terms_size or pool_size is too small.  E2BIG: a term has a member beyond the
 * caller's term_size that is not zero, so the caller must report INCOMPATIBLE.  In both
 * cases all results were set, and terms and pool are not valid.  The values of terms named
 * pid and tid, which are numbers in the pid namespace of the process that added the policy,
 * are translated to the caller's pid namespace: a number that names no process or thread
 * there becomes 0xffffffff.  Only == and != of such numbers are meaningful if the two
 * namespaces differ.
 *
 * With EVENTLOG_FILTER_GET_INCOMPATIBLE, the caller reports that it cannot evaluate the
 * filter of the given version; DESCRIBE returns EVENTLOG_DESCRIBED_INCOMPATIBLE until
 * the filter changes.  Nothing is returned.  ESTALE: the version is not the current one.
 */
#define EVENTLOG_FILTER_GET_INCOMPATIBLE (1U << 0) /* the caller cannot evaluate this version */

struct eventlog_filter_get {
	__u32 size;
	__u32 write_index;
	__u32 flags;		/* EVENTLOG_FILTER_GET_* */
	__u32 version;		/* out: changes with the filter; 0: none; in: with INCOMPATIBLE */
	__u32 handlers;		/* out: EVENTLOG_MARKER_* that run if the filter is true */
	__u32 term_count;	/* out: 0: there is no filter */
	__u32 term_size;	/* sizeof(struct eventlog_term), as the caller was compiled */
	__u32 terms_size;	/* in: bytes at terms; out: term_count * term_size */
	__u64 terms;		/* struct eventlog_term * */
	__u64 pool;		/* void * */
	__u32 pool_size;	/* in: bytes at pool; out: bytes needed */
	__u32 generation;	/* out: of the status map, when the results were taken */
};

/*
 * nr 21, producer: say which handlers the program itself has enabled for a marker, for
 * EVENTLOG_LIST_REGISTRATIONS.  Until then these are TRACE.  ENOENT: no such write_index.
 */
struct eventlog_marker_handlers {
	__u32 size;
	__u32 write_index;
	__u32 handlers;		/* EVENTLOG_MARKER_*: enabled now */
	__u32 defaults;		/* EVENTLOG_MARKER_*: enabled at first */
};

/* ------------------------------------------------------------------------
 * Instances.
 *
 * An instance is an event log of its own, for a container.  Its files work as those of
 * /dev/eventlog, which is the root, with these differences:
 *  - Definitions, names, the status map, marker policies and subscribers are those of the
 *    instance.  Descriptors are unique in the root and all instances.
 *  - An opener whose effective uid is the owner needs no capability.
 *  - All openers count as one user, with the limits of INSTANCE_CREATE.  CAP_SYS_RESOURCE
 *    makes no difference.
 *  - Kernel providers, markers of kernel modules, the tracepoint eventlog_emit and user_events
 *    belong to the root.
 *  - It has trace events only with EVENTLOG_INSTANCE_TRACE.
 *
 * INSTANCE_CREATE makes the device node /dev/eventlog-NAME and returns a file of the
 * instance.  A container runtime bind-mounts the node as the container's /dev/eventlog, or
 * passes the file on.  With that file nobody has the rights of the runtime: what needs a
 * capability fails, unless the caller has it, and all rings count for the instance.  The holder of
 * one file gets more of them with INSTANCE_OPEN, each with the rights of its opener.
 *
 * After INSTANCE_DELETE there is no node, and the files that are still open are of no use:
 *  - REGISTER, ATTACH, SUBSCRIBE, RULE_ADD, MARKER_SET, INSTANCE_OPEN, and write() of an
 *    event, fail with ENODEV.  So that producers call write(), EVENTLOG_STATUS_ENABLED and
 *    EVENTLOG_STATUS_SYNC of all events are set.
 *  - poll() reports POLLHUP.  The rings of a subscriber contain, or count as lost, all that
 *    was emitted before, and do not change any more.
 *  - All other calls work until the file is closed.
 * A producer that gets ENODEV opens the device again.  It may be that of a new instance.  A
 * node that a container has kept stays unusable: its number is used again only after about a
 * million others, which begin at a random one when the module is loaded.
 *
 * open() of any node with the number of an instance checks owner, group and mode of
 * INSTANCE_CREATE besides those of the node, which the container may have kept or made.  The
 * effective uid counts; CAP_PERFMON and CAP_SYS_ADMIN in the initial user namespace permit all.
 */
#define EVENTLOG_INSTANCE_NAME_MAX	128	/* bytes, NUL included */
#define EVENTLOG_INSTANCES_MAX		1024	/* the module may be loaded with a lower limit */

/*
 * nr 26, a file of the root, CAP_SYS_ADMIN: create an instance.  The name has letters,
 * digits, '_', '.' and '-', and starts with a letter or a digit.  Owner and group are ids in
 * the caller's user namespace.
 *
 * limits[] has the limits of enum eventlog_quota; limits_set says which of them are set, the
 * others are 0 and stand for the limit of a user of the root.  EVENTLOG_QUOTA_TRACE_BYTES can
 * be set only with EVENTLOG_INSTANCE_TRACE.  EVENTLOG_QUOTA_EVENTS is also the instance's
 * events_max, and is at most that of the root.
 *
 * With EVENTLOG_INSTANCE_TRACE, the instance has trace events, in the groups
 * eventlog_NAME_PROVIDER: the host's ftrace, perf and BPF programs can attach to them.  In the
 * names of groups, '_' stands for '.' and '-'.  No two instances with the flag may have the same
 * name after this change, nor one the name of the other, a '_' and more: their groups could
 * be the same.
 *
 * EINVAL: the name, the mode, the owner or the group is not valid, or a limit is 0 or too
 * large.  EEXIST: there is an instance of this name, or, with TRACE, one whose groups could be
 * the same.  EOPNOTSUPP: TRACE, and the module has no trace events.  ENOSPC: there are already
 * as many as the module allows.  EPERM: no capability, or the file belongs to an instance.
 */
#define EVENTLOG_INSTANCE_TRACE		(1U << 0) /* the instance has trace events */

struct eventlog_instance_create {
	__u32 size;
	__u32 flags;		/* EVENTLOG_INSTANCE_* */
	__u64 name;		/* const char * */
	__u32 owner;		/* uid: owner of the node, who needs no capability */
	__u32 group;		/* gid: group of the node */
	__u32 mode;		/* permissions, up to 0777; see above */
	__u32 limits_set;	/* 1 << enum eventlog_quota */
	__u64 limits[EVENTLOG_QUOTAS_MAX];
	__u32 id;		/* out: never 0; not used again.  The first one is random */
	__s32 fd;		/* out: a file of the instance, close-on-exec */
};

/*
 * nr 27, a file of the root, CAP_SYS_ADMIN: delete an instance.  ENOENT: there is none.
 * EPERM: as with INSTANCE_CREATE.
 */
struct eventlog_instance_delete {
	__u32 size;
	__u32 id;
};

/*
 * nr 29: get another file, with the rights of the caller.  The id 0 is for a file of the same
 * instance, or of the root, which anyone may get who has one: also a process that cannot open the
 * device any more.  A module before this rule refuses it for the root.  Other ids, on a file of
 * the root: CAP_PERFMON; on a file of an instance: only its own id.
 * ENOENT: there is no such instance.  EBADF: the file is not open for reading and writing.
 * ESHUTDOWN: the module is about to be unloaded.
 */
struct eventlog_instance_open {
	__u32 size;
	__u32 flags;		/* 0 */
	__u32 id;
	__s32 fd;		/* out: close-on-exec */
};

/* ------------------------------------------------------------------------
 * nr 30, a file of the root, whose opener has CAP_SYS_MODULE: ask programs to give the device up,
 * so that the module can be unloaded, and replaced by another version.
 *
 * flags say who is asked, in the root and in all instances, until another LEAVE of the same file
 * says otherwise, or the file is closed.  Then whoever has not left goes on as if nothing had
 * happened.  Since an open file pins the module, EVENTLOG_LEAVE_LINGER lets the request go on for
 * a second after the file is closed, or until another open file asks.  Meanwhile open() fails with
 * ESHUTDOWN, so the module can be unloaded before anyone is back.
 *
 * EVENTLOG_LEAVE_PRODUCERS: the status byte of each event has EVENTLOG_STATUS_LEAVE.  So that
 * programs look at it, EVENTLOG_STATUS_ENABLED is set as well, and EVENTLOG_STATUS_SYNC says
 * whether the event has a listener.  A producer that finds LEAVE stops using its rings, puts
 * private memory in place of its mappings, closes its files, and looks from time to time whether
 * it can register again.  REGISTER fails with ESHUTDOWN meanwhile.
 *
 * EVENTLOG_LEAVE_SUBSCRIBERS: poll() reports POLLRDHUP to subscribers that ask for it.  A
 * subscriber then reads its rings to the end, and closes its file.  SUBSCRIBE fails with
 * ESHUTDOWN meanwhile, without allocating rings.  Ask producers first: what is in their rings is
 * still delivered.
 *
 * If both were asked, producers are asked for some time more, however the request ends: until as
 * many rules have been added in each domain, the root or an instance, as were removed in it, but
 * for 10 seconds at most.  Otherwise subscribers that are not back would miss events that no one
 * counts.  Another file may ask meanwhile.
 *
 * Whoever does not know LEAVE keeps the device: events are delivered as before.  While a file
 * asks for something, or producers still are, INSTANCE_CREATE fails with ESHUTDOWN.
 *
 * EBUSY: another file asks already.  EINVAL: an unknown flag, or only LINGER.  EPERM: no
 * capability, or the file belongs to an instance.
 */
#define EVENTLOG_LEAVE_PRODUCERS	(1U << 0)
#define EVENTLOG_LEAVE_SUBSCRIBERS	(1U << 1)
#define EVENTLOG_LEAVE_LINGER		(1U << 2) /* a second longer than the file is open */

struct eventlog_leave {
	__u32 size;
	__u32 flags;		/* EVENTLOG_LEAVE_*; 0: the caller asks for nothing any more */
};

/*
 * nr 31, producer or subscriber: say how many events of a registration could not be emitted, because the program
 * had given the device up.  Each subscriber with rings that listens to the event counts them as
 * lost, EVENTLOG_LOST_AWAY, if one of its rules selects the caller: its pid and cgroup are tested,
 * filters are not, and a rule for a session does not select it.  If there is no such subscriber,
 * nothing is counted; the program may call again later.  For each registration 2^31 - 1 events are
 * counted at most, those beyond are ignored.  ENOENT: there is no such registration.  ENODATA: it
 * has reached this limit.
 *
 * A subscriber that has left and is back calls it, too, once it has added its rules, with
 * write_index and count 0: if producers did not wait for it, it has missed an unknown number of
 * events, and one is counted as lost for it alone, EVENTLOG_LOST_AWAY.  subscribers is 1 then.
 * A rule that it has added since producers are back counts as such a loss, too.
 * EBUSY: write_index is not 0; EINVAL: count is not 0.
 */
struct eventlog_missed {
	__u32 size;
	__u32 write_index;
	__u32 count;
	__u32 subscribers;	/* out: how many have counted them */
};

/* ------------------------------------------------------------------------
 * Layout of a mapped ring: page 0 (struct eventlog_ring_header, written by the
 * kernel), page 1 (struct eventlog_ring_consumer, written by the consumer), the
 * data.  Map the whole ring read-only (ring_stride bytes), and map page 1 alone a
 * second time, writable.
 *
 * Positions count bytes and are never reset; the byte at position p is at offset
 * p & (data_bytes - 1) of the data.  Compare positions by their difference only.
 * Records start at multiples of 8.  A record starts at the start of each sub-buffer.
 *
 * Discard mode: load committed (acquire), read the records below it, then store the
 * new position (release).  Only the low 32 bits of the position exist, so that a
 * 32-bit consumer needs no wider store; it likewise needs only the low half of
 * committed.  committed may briefly step back: ignore a value that is behind the
 * position already read.
 *
 * Overwrite mode: copy a record, bounded by its sub-buffer, issue a read barrier,
 * and load head.  The copy is valid if head - start <= data_bytes.  The oldest
 * record is at the start of the first sub-buffer at or after head - data_bytes.
 * After PAUSE the ring does not change.
 *
 * If meta_bytes is at least the size of struct eventlog_sub_buffer, there is one such
 * struct for each sub-buffer, in the order of the data, meta_bytes apart.  With it, a
 * consumer can count and copy records without reading each of them: see there.
 *
 * The 64-bit words behind the geometry only grow.  A 32-bit kernel sets
 * EVENTLOG_RING_SPLIT and stores each word in halves: the upper half, the lower half,
 * then a copy of the upper half, each with release semantics.  A 32-bit consumer
 * reads words in halves: it loads the copy, the lower half and the upper half, each
 * with acquire semantics, and retries unless copy and upper half are equal.  Without
 * EVENTLOG_RING_SPLIT there is no copy; the consumer loads the upper half before and
 * after the lower half instead.  A 64-bit consumer loads the whole word; it never
 * runs on a 32-bit kernel.
 */
#define EVENTLOG_RING_MAGIC	0x31474c45U	/* "ELG1" as little-endian bytes */
#define EVENTLOG_RING_OVERWRITE	(1U << 0)
#define EVENTLOG_RING_SPLIT	(1U << 1) /* a 32-bit kernel stores the words in halves */

/* In place of a CPU's number: in the headers of shard rings, which several CPUs write. */
#define EVENTLOG_CPU_UNKNOWN	0xffffffffU

struct eventlog_ring_header {
	__u32 magic;		/* EVENTLOG_RING_MAGIC */
	__u32 flags;		/* EVENTLOG_RING_*; ignore others */
	__u32 cpu;		/* the CPU that writes to the ring, or EVENTLOG_CPU_UNKNOWN */
	__u32 data_offset;	/* bytes from this header to the data */
	__u64 data_bytes;
	__u64 sub_buffer_bytes;
	__u32 meta_offset;	/* bytes from this header to metadata of sub-buffers; 0: none */
	__u32 meta_bytes;	/* of one sub-buffer; 0: there is no metadata */
	__u8  reserved0[88];	/* ignore */

	__u64 head;		/* end of the reserved space */
	__u64 committed;	/* end of the complete records */
	__u64 records;		/* number of events written, without padding and lost records */
	__u32 head_upper;	/* EVENTLOG_RING_SPLIT: copies of the upper halves */
	__u32 committed_upper;
	__u32 records_upper;
	__u8  reserved1[92];

	__u64 lost_total;	/* cumulative, all causes */
	__u64 lost[EVENTLOG_LOST_CAUSES]; /* cumulative, by cause */
	__u32 lost_total_upper;
	__u32 lost_upper[EVENTLOG_LOST_CAUSES];
	__u8  reserved2[52];
};

struct eventlog_ring_consumer {
	__u32 position;		/* end of the records read: low 32 bits */
	__u32 lost_seen;	/* low 32 bits of lost_total; poll() reports only later losses */
};

/*
 * Metadata of a sub-buffer, for consumers that copy records without reading each of them.
 * Read it when committed was loaded (acquire) and has reached the end of the sub-buffer.
 *
 * records is the number of events in the ring before the sub-buffer.  So the number of
 * events in a sub-buffer is records of the next one minus its own records.  First load
 * position (acquire).  If it is not the position of that sub-buffer, records is not valid,
 * and the consumer must count the events itself: there is no record after the start of the
 * sub-buffer yet, or a writer that had interrupted another one wrote the first record
 * (EVENTLOG_SUB_BUFFER_UNCOUNTED).
 *
 * news is the position of the last record that has something new: a lost record, or an
 * event whose descriptor, or whose thread or its name, may be new in this ring.  If news is
 * before the first unread record of the sub-buffer, nothing in the rest is new.  Otherwise
 * read the records up to the one at news; if news is after the sub-buffer, read all.
 *
 * Compare positions by their difference only.  In overwrite mode, load all words that are
 * needed, issue a read barrier, and test head as for a record at the start of the
 * sub-buffer.
 */
#define EVENTLOG_SUB_BUFFER_UNCOUNTED (1U << 0) /* in position: records is not valid */

struct eventlog_sub_buffer {
	__u32 position;		/* of its start: low 32 bits, and EVENTLOG_SUB_BUFFER_* */
	__u32 records;		/* number of events before it: low 32 bits */
	__u32 news;		/* position of a record: low 32 bits */
};

/* ------------------------------------------------------------------------
 * A record: header, payload, zeroes up to a multiple of 8.
 *
 * A padding record has only the first 8 bytes of the header and may be as short as
 * that, and so may a record of an unknown type: test the type before reading further.
 * The next record is at the size, rounded up to EVENTLOG_RECORD_ALIGN, whatever the type.
 * The payload of a lost record is struct eventlog_lost_counts.  The counts only grow; use
 * the maximum of each.
 */
struct eventlog_record {
	__u32 size_flags;	/* size, context, flags, type; ignore bits 28 to 31 */
	__u32 descriptor;
	__u64 time;		/* CLOCK_MONOTONIC of the initial time namespace, ns */
	__u64 session;		/* 0: none */
	__u32 pid;		/* process (tgid), in the subscriber's pid namespace */
	__u32 tid;		/* thread, in the subscriber's pid namespace */
};

#define EVENTLOG_RECORD_SIZE_MASK	0x000fffffU	/* bytes, header included */
#define EVENTLOG_RECORD_CONTEXT_SHIFT	20
#define EVENTLOG_RECORD_CONTEXT_MASK	0x00300000U
#define EVENTLOG_RECORD_FLAG_MAPPED	(1U << 22) /* its time is from a producer ring */
#define EVENTLOG_RECORD_FLAG_ADJUSTED	(1U << 23) /* ... and was changed: it was out of order */
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
 * BPF programs: every enabled event hits the tracepoint eventlog_emit once,
 * regardless of the sessions and processes that the rules select.  For
 * SEC("raw_tp/eventlog_emit"), args[0] points to this struct, args[1] to the payload
 * (the kernel's copy), and args[2] is the number of payload bytes available.  It is
 * less than bytes if the payload consists of several parts and exceeds 4096 bytes.
 * Both pointers are valid until the program returns.  Attaching to the tracepoint
 * does not enable any event.
 */
struct eventlog_emitted {
	__u64 time;		/* CLOCK_MONOTONIC of the initial time namespace, ns */
	__u64 session;		/* 0: none */
	__u64 keywords;
	__u32 descriptor;	/* for DESCRIBE */
	__u32 event_id;		/* unique within the provider */
	__u32 pid;		/* process (tgid), in the initial pid namespace */
	__u32 tid;		/* thread, in the initial pid namespace */
	__u32 bytes;		/* size of the whole payload */
	__u16 provider_id;
	__u8  level;		/* enum eventlog_level */
	__u8  context;		/* enum eventlog_context */
	__u64 reserved[2];	/* 0 */
};

/* The layout must be the same on every architecture and in every language. */
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

EVENTLOG_ASSERT_SIZE(eventlog_info, 488);
EVENTLOG_ASSERT_AT(eventlog_info, release, 8);
EVENTLOG_ASSERT_AT(eventlog_info, quotas, 104);
EVENTLOG_ASSERT_SIZE(eventlog_register, 64);
EVENTLOG_ASSERT_AT(eventlog_register, level, 32);
EVENTLOG_ASSERT_AT(eventlog_register, map_offset, 48);
EVENTLOG_ASSERT_SIZE(eventlog_unregister, 8);
EVENTLOG_ASSERT_SIZE(eventlog_delete, 24);
EVENTLOG_ASSERT_SIZE(eventlog_list, 48);
EVENTLOG_ASSERT_AT(eventlog_list, buffer_size, 24);
EVENTLOG_ASSERT_SIZE(eventlog_element, 8);
EVENTLOG_ASSERT_SIZE(eventlog_definition, 32);
EVENTLOG_ASSERT_SIZE(eventlog_name, 40);
EVENTLOG_ASSERT_SIZE(eventlog_instance_info, 40);
EVENTLOG_ASSERT_SIZE(eventlog_mapped_header, 384);
EVENTLOG_ASSERT_AT(eventlog_mapped_header, committed, 128);
EVENTLOG_ASSERT_AT(eventlog_mapped_header, position, 256);
EVENTLOG_ASSERT_SIZE(eventlog_mapped_record, 24);
EVENTLOG_ASSERT_SIZE(eventlog_attach, 40);
EVENTLOG_ASSERT_AT(eventlog_attach, offset, 16);
EVENTLOG_ASSERT_SIZE(eventlog_detach, 8);
EVENTLOG_ASSERT_SIZE(eventlog_subscribe, 56);
EVENTLOG_ASSERT_AT(eventlog_subscribe, sub_buffers, 24);
EVENTLOG_ASSERT_AT(eventlog_subscribe, generation, 48);
EVENTLOG_ASSERT_SIZE(eventlog_rule, 80);
EVENTLOG_ASSERT_AT(eventlog_rule, pid, 48);
EVENTLOG_ASSERT_AT(eventlog_rule, filter, 64);
EVENTLOG_ASSERT_AT(eventlog_rule, cgroup, 72);
EVENTLOG_ASSERT_SIZE(eventlog_rule_delete, 8);
EVENTLOG_ASSERT_SIZE(eventlog_flush, 24);
EVENTLOG_ASSERT_SIZE(eventlog_stat, 200);
EVENTLOG_ASSERT_AT(eventlog_stat, rejected, 48);
EVENTLOG_ASSERT_AT(eventlog_stat, lost, 72);
EVENTLOG_ASSERT_SIZE(eventlog_describe, 48);
EVENTLOG_ASSERT_AT(eventlog_describe, text, 16);
EVENTLOG_ASSERT_AT(eventlog_describe, instance, 32);
EVENTLOG_ASSERT_AT(eventlog_describe, sync, 40);
EVENTLOG_ASSERT_SIZE(eventlog_pause, 8);
EVENTLOG_ASSERT_SIZE(eventlog_marker_info, 64);
EVENTLOG_ASSERT_AT(eventlog_marker_info, id, 40);
EVENTLOG_ASSERT_SIZE(eventlog_policy_info, 24);
EVENTLOG_ASSERT_SIZE(eventlog_filter, 48);
EVENTLOG_ASSERT_AT(eventlog_filter, pool_size, 32);
EVENTLOG_ASSERT_SIZE(eventlog_term, 40);
EVENTLOG_ASSERT_AT(eventlog_term, string, 16);
EVENTLOG_ASSERT_AT(eventlog_term, number, 24);
EVENTLOG_ASSERT_SIZE(eventlog_marker_set, 72);
EVENTLOG_ASSERT_AT(eventlog_marker_set, handlers, 40);
EVENTLOG_ASSERT_SIZE(eventlog_filter_get, 56);
EVENTLOG_ASSERT_AT(eventlog_filter_get, terms, 32);
EVENTLOG_ASSERT_AT(eventlog_filter_get, generation, 52);
EVENTLOG_ASSERT_SIZE(eventlog_marker_handlers, 16);
EVENTLOG_ASSERT_SIZE(eventlog_registration_info, 24);
EVENTLOG_ASSERT_SIZE(eventlog_instance_create, 168);
EVENTLOG_ASSERT_AT(eventlog_instance_create, limits, 32);
EVENTLOG_ASSERT_AT(eventlog_instance_create, fd, 164);
EVENTLOG_ASSERT_SIZE(eventlog_instance_delete, 8);
EVENTLOG_ASSERT_SIZE(eventlog_instance_open, 16);
EVENTLOG_ASSERT_SIZE(eventlog_leave, 8);
EVENTLOG_ASSERT_SIZE(eventlog_missed, 16);
EVENTLOG_ASSERT_SIZE(eventlog_ring_header, 512);
EVENTLOG_ASSERT_AT(eventlog_ring_header, meta_offset, 32);
EVENTLOG_ASSERT_AT(eventlog_ring_header, head, 128);
EVENTLOG_ASSERT_AT(eventlog_ring_header, head_upper, 152);
EVENTLOG_ASSERT_AT(eventlog_ring_header, lost_total, 256);
EVENTLOG_ASSERT_AT(eventlog_ring_header, lost_total_upper, 392);
EVENTLOG_ASSERT_SIZE(eventlog_ring_consumer, 8);
EVENTLOG_ASSERT_SIZE(eventlog_sub_buffer, 12);
EVENTLOG_ASSERT_SIZE(eventlog_record, 32);
EVENTLOG_ASSERT_AT(eventlog_record, pid, 24);
EVENTLOG_ASSERT_SIZE(eventlog_lost_counts, 128);
EVENTLOG_ASSERT_SIZE(eventlog_emitted, 64);
EVENTLOG_ASSERT_AT(eventlog_emitted, bytes, 40);
EVENTLOG_ASSERT_AT(eventlog_emitted, context, 47);

#undef EVENTLOG_ASSERT_AT
#undef EVENTLOG_ASSERT_SIZE
#undef EVENTLOG_ASSERT

#endif /* _UAPI_LINUX_EVENTLOG_H */
