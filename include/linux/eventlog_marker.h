/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers, see eventlog_marker(9): one-line instrumentation points in kernel
 * modules that can be listed and switched on at run time.
 *
 *	eventlog_marker(opened, EVENTLOG_MARKER_TRACE, FIELD(string, name),
 *			FIELD(auto, inode->i_size));
 *
 * A marker needs no declaration and no schema.  When a module is loaded, eventlog
 * finds its markers, names their fields after the expressions, and registers them
 * as the events of a provider named markers_MODULE.
 *
 * A marker that is off costs one no-op; its expressions are not evaluated.
 * Markers are compiled in only if EVENTLOG_MARKERS is defined (ccflags-y +=
 * -DEVENTLOG_MARKERS).  A source file may define the following before it includes
 * this header:
 *
 *	EVENTLOG_ENABLE_LOCAL_MARKERS	compile in the markers of this file and
 *					switch on PRINT and TRACE from the start
 *
 * A marker's struct begins with its static key, and the jump table of a module
 * refers to all keys that the module tests; eventlog finds the markers there.
 * This requires CONFIG_JUMP_LABEL, but no linker script and no change to the
 * module's Makefile.
 *
 * eventlog owns the members of struct eventlog_marker once the module is loaded.
 */
#ifndef _LINUX_EVENTLOG_MARKER_H
#define _LINUX_EVENTLOG_MARKER_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/eventlog.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/ratelimit.h>
#include <linux/types.h>

#define EVENTLOG_MARKER_FIELDS_MAX	16

/* Restricts the handlers a marker allows; ORed to its default handlers. */
#define EVENTLOG_MARKER_ALLOW(handlers)	((handlers) << 8)

/* Type of a field; 0: no field. */
enum eventlog_marker_type {
	EVENTLOG_MARKER_U8 = 1,
	EVENTLOG_MARKER_U16,
	EVENTLOG_MARKER_U32,
	EVENTLOG_MARKER_U64,
	EVENTLOG_MARKER_S8,
	EVENTLOG_MARKER_S16,
	EVENTLOG_MARKER_S32,
	EVENTLOG_MARKER_S64,
	EVENTLOG_MARKER_BOOL,
	EVENTLOG_MARKER_PTR,
	EVENTLOG_MARKER_TIME,
	EVENTLOG_MARKER_DURATION,
	EVENTLOG_MARKER_IPV4,
	EVENTLOG_MARKER_PORT,
	EVENTLOG_MARKER_STRING,
	EVENTLOG_MARKER_TYPES
};

/* Identifies the layout of struct eventlog_marker.  Change it with the layout. */
#define EVENTLOG_MARKER_MAGIC	((unsigned long)0x4d6b724c67e87a9cULL)

struct eventlog_predicate;

/**
 * struct eventlog_marker - a marker
 * @event: its event; the static key of the event is also the marker's
 * @magic: EVENTLOG_MARKER_MAGIC
 * @self: address of this struct; @magic and @self distinguish it from other static keys
 * @fire: eventlog_marker_fire(); makes a module with markers depend on eventlog.ko
 * @tag: the tag, as written
 * @text: the fields, as written
 * @path: source file: as compiled; after registration, relative to the top of the tree
 * @module: directory and name of the module, as kbuild passes them
 * @function: the function that contains the marker
 * @unit: identical for all markers of one translation unit
 * @line: line in the source file
 * @sequence: orders markers on the same line
 * @ordinal: number of markers before this one in the function
 * @id: hash of the place
 * @types: number of fields, then the enum eventlog_marker_type of each
 * @defaults: EVENTLOG_MARKER_*: handlers that are on by default
 * @allowed: EVENTLOG_MARKER_*: handlers that may be switched on
 * @handlers: EVENTLOG_MARKER_*: handlers that are switched on
 * @active: EVENTLOG_MARKER_*: handlers to call when the marker fires, and a bit
 *	that says whether to evaluate @predicate; the static key is enabled while
 *	any handler is active
 * @has_predicate: the marker has a predicate
 * @limit: rate limit of printing
 * @probes: probes attached by eventlog_marker_probe_register(); RCU
 * @predicate: filter on the fields; RCU; valid only if @active has its bit
 * @suppressed: number of suppressed lines
 *
 * Probes may read the members up to @types; the others are private to eventlog.
 */
struct eventlog_marker {
	struct eventlog_provider_event event;
	unsigned long magic;
	const struct eventlog_marker *self;
	void (*fire)(struct eventlog_marker *marker, ...);
	const char *tag;
	const char *text;
	const char *path;
	const char *module;
	const char *function;
	const void *unit;
	u32 line;
	u32 sequence;
	u32 ordinal;
	u64 id;
	u8 types[1 + EVENTLOG_MARKER_FIELDS_MAX];
	u8 defaults;
	u8 allowed;
	u8 handlers;
	u8 active;
	bool has_predicate;
	struct ratelimit_state limit;
	struct hlist_head probes;
	struct eventlog_predicate __rcu *predicate;
	atomic_long_t suppressed;
};

/**
 * eventlog_marker_fire() - fire a marker; called by the macro if the marker is on
 * @marker: the marker
 * @...: a u64 for each field: the low bytes hold an integer or a pointer; a string
 *	is passed as a pointer
 *
 * The values are variable arguments and not an array: an array would be on the
 * stack of the marker's function, which would then need a frame and a stack
 * protector even while the marker is off.
 *
 * Context: any for TRACE and PROBE.  PRINT: contexts that may call printk();
 * nothing is printed in NMI context.
 */
void eventlog_marker_fire(struct eventlog_marker *marker, ...);

typedef void eventlog_marker_function(const struct eventlog_marker *marker, const u64 *values);

/**
 * eventlog_marker_override() - fire a marker with EVENTLOG_LOCAL_MARKERS_HANDLER()
 * @function: the override, called with the values
 * @marker: as for eventlog_marker_fire()
 * @...: as for eventlog_marker_fire()
 */
void eventlog_marker_override(eventlog_marker_function *function,
			      struct eventlog_marker *marker, ...);

/**
 * eventlog_marker_value() - get the value of a field
 * @marker: the marker
 * @values: as passed to a probe
 * @field: index of the field, from 0
 *
 * Context: any.
 *
 * Return: the value, sign- or zero-extended according to its type; for a string,
 * the pointer; 0 if there is no such field.
 */
u64 eventlog_marker_value(const struct eventlog_marker *marker, const u64 *values,
			  unsigned int field);

/**
 * eventlog_markers_status() - test whether the markers of a module are registered
 * @module: the module
 *
 * Context: process context, from the module's init function on.
 *
 * Return: 0: they are registered, or the module has none; otherwise the reason:
 * -EINVAL: a marker is malformed; -EEXIST: two places have the same id; -ENOSPC:
 * as for eventlog_provider_register(); -ENOMEM.  The kernel log has the details.
 */
int eventlog_markers_status(const struct module *module);

/**
 * struct eventlog_marker_probe - a function that markers call
 * @module: glob over module names; NULL: all
 * @marker: glob over tags and places; NULL: all
 * @fire: called each time a marker fires, in the marker's context, with preemption
 *	disabled; must not sleep.  Not called where RCU is not watching.
 * @private: for the owner's use
 * @node: private to eventlog
 */
struct eventlog_marker_probe {
	const char *module;
	const char *marker;
	void (*fire)(struct eventlog_marker_probe *probe, const struct eventlog_marker *marker,
		     const u64 *values);
	void *private;
	struct list_head node;
};

/**
 * eventlog_marker_probe_register() - attach a probe to markers
 * @probe: filled in, not registered; must stay valid until it is unregistered
 *
 * Attaches the probe to all matching markers that allow EVENTLOG_MARKER_PROBE,
 * including markers of modules that are loaded later.  The probe is called even
 * if EVENTLOG_MARKER_PROBE is not switched on, but not while the marker has a
 * predicate that is false.
 *
 * Context: process context, may sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_marker_probe_register(struct eventlog_marker_probe *probe);

/**
 * eventlog_marker_probe_unregister() - detach a probe from all markers
 * @probe: registered
 *
 * On return, the probe is not running and will not be called again.
 *
 * Context: process context, may sleep.
 */
void eventlog_marker_probe_unregister(struct eventlog_marker_probe *probe);

/* ---- implementation of the macro ---- */

/* Only its address is used: it identifies the translation unit. */
static const char eventlog_marker_unit __maybe_unused;

/*
 * EVENTLOG_LOCAL_MARKERS_HANDLER(function) - override the handlers of this file's markers
 *
 * Use it at most once in a file, outside functions.  @function is an
 * eventlog_marker_function and must be declared before.  The markers of the file
 * are switched like any others, but with any handler switched on they call
 * @function instead of the handlers.
 */
static eventlog_marker_function *eventlog_marker_local __maybe_unused;
#define EVENTLOG_LOCAL_MARKERS_HANDLER(function)				\
	static eventlog_marker_function *eventlog_marker_local __maybe_unused = (function)

/* EVENTLOG_MARKER_EACH(macro, fields...) expands to ", macro(field)" for each field. */
#define EVENTLOG_MARKER_CAT_(a, b)	a##b
#define EVENTLOG_MARKER_CAT(a, b)	EVENTLOG_MARKER_CAT_(a, b)
#define EVENTLOG_MARKER_COUNT_(								\
	_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16,	\
	_17, count, ...) count
#define EVENTLOG_MARKER_COUNT(...)							\
	EVENTLOG_MARKER_COUNT_(0, ##__VA_ARGS__, more_than_16_fields, 16, 15, 14, 13,	\
	12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define EVENTLOG_MARKER_EACH_0(macro)
#define EVENTLOG_MARKER_EACH_1(macro, field) , macro(field)
#define EVENTLOG_MARKER_EACH_2(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_1(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_3(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_2(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_4(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_3(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_5(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_4(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_6(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_5(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_7(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_6(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_8(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_7(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_9(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_8(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_10(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_9(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_11(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_10(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_12(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_11(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_13(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_12(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_14(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_13(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_15(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_14(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH_16(macro, field, ...)					\
	, macro(field) EVENTLOG_MARKER_EACH_15(macro, __VA_ARGS__)
#define EVENTLOG_MARKER_EACH(macro, ...)						\
	EVENTLOG_MARKER_CAT(EVENTLOG_MARKER_EACH_,					\
			    EVENTLOG_MARKER_COUNT(__VA_ARGS__))(macro, ##__VA_ARGS__)

/* The type and the value of FIELD(type, expression) and FIELD_NAMED(type, name, expression). */
#define EVENTLOG_MARKER_TYPE(field)	EVENTLOG_MARKER_TYPE_##field
#define EVENTLOG_MARKER_TYPE_FIELD(type, ...) EVENTLOG_MARKER_IS_##type(__VA_ARGS__)
#define EVENTLOG_MARKER_TYPE_FIELD_NAMED(type, name, ...) EVENTLOG_MARKER_IS_##type(__VA_ARGS__)
#define EVENTLOG_MARKER_VALUE(field)	EVENTLOG_MARKER_VALUE_##field
#define EVENTLOG_MARKER_VALUE_FIELD(type, ...) EVENTLOG_MARKER_AS_##type(__VA_ARGS__)
#define EVENTLOG_MARKER_VALUE_FIELD_NAMED(type, name, ...) EVENTLOG_MARKER_AS_##type(__VA_ARGS__)

#define EVENTLOG_MARKER_IS_u8(x)	EVENTLOG_MARKER_U8
#define EVENTLOG_MARKER_IS_u16(x)	EVENTLOG_MARKER_U16
#define EVENTLOG_MARKER_IS_u32(x)	EVENTLOG_MARKER_U32
#define EVENTLOG_MARKER_IS_u64(x)	EVENTLOG_MARKER_U64
#define EVENTLOG_MARKER_IS_s8(x)	EVENTLOG_MARKER_S8
#define EVENTLOG_MARKER_IS_s16(x)	EVENTLOG_MARKER_S16
#define EVENTLOG_MARKER_IS_s32(x)	EVENTLOG_MARKER_S32
#define EVENTLOG_MARKER_IS_s64(x)	EVENTLOG_MARKER_S64
#define EVENTLOG_MARKER_IS_bool(x)	EVENTLOG_MARKER_BOOL
#define EVENTLOG_MARKER_IS_ptr(x)	EVENTLOG_MARKER_PTR
#define EVENTLOG_MARKER_IS_time(x)	EVENTLOG_MARKER_TIME
#define EVENTLOG_MARKER_IS_duration(x)	EVENTLOG_MARKER_DURATION
#define EVENTLOG_MARKER_IS_ipv4(x)	EVENTLOG_MARKER_IPV4
#define EVENTLOG_MARKER_IS_port(x)	EVENTLOG_MARKER_PORT
#define EVENTLOG_MARKER_IS_string(x)	EVENTLOG_MARKER_STRING

#define EVENTLOG_MARKER_AS_u8(x)	(u64)(u8)(x)
#define EVENTLOG_MARKER_AS_u16(x)	(u64)(u16)(x)
#define EVENTLOG_MARKER_AS_u32(x)	(u64)(u32)(x)
#define EVENTLOG_MARKER_AS_u64(x)	(u64)(u64)(x)
#define EVENTLOG_MARKER_AS_s8(x)	(u64)(s8)(x)
#define EVENTLOG_MARKER_AS_s16(x)	(u64)(s16)(x)
#define EVENTLOG_MARKER_AS_s32(x)	(u64)(s32)(x)
#define EVENTLOG_MARKER_AS_s64(x)	(u64)(s64)(x)
#define EVENTLOG_MARKER_AS_bool(x)	(u64)(bool)(x)
#define EVENTLOG_MARKER_AS_time(x)	(u64)(x)
#define EVENTLOG_MARKER_AS_duration(x)	(u64)(x)
#define EVENTLOG_MARKER_AS_ipv4(x)	(u64)(__force u32)(__be32)(x)
#define EVENTLOG_MARKER_AS_port(x)	(u64)(u16)(x)
#define EVENTLOG_MARKER_AS_ptr(x)	(u64)(unsigned long)(const volatile void *)(x)
#define EVENTLOG_MARKER_AS_string(x)						\
	({ const char *string_ = (x); (u64)(unsigned long)string_; })

/*
 * Deduces the type of an expression.  An expression of no listed type must be a
 * pointer.  A bit-field has no type that _Generic can select: its marker must state
 * the type.
 */
#define EVENTLOG_MARKER_GENERIC(x, bool_, char_, schar, uchar, short_, ushort, int_,	\
				uint, long_, ulong, llong, ullong, string, other)	\
	_Generic((x), bool: bool_, char: char_, signed char: schar, unsigned char: uchar,	\
		 short: short_, unsigned short: ushort, int: int_, unsigned int: uint,	\
		 long: long_, unsigned long: ulong, long long: llong,			\
		 unsigned long long: ullong, char *: string, const char *: string,	\
		 default: other)
#define EVENTLOG_MARKER_POINTER_CLASS	5 /* of __builtin_classify_type() */
#define EVENTLOG_MARKER_IS_auto(x)							\
	(EVENTLOG_MARKER_GENERIC(x, EVENTLOG_MARKER_BOOL,				\
		(char)-1 < 0 ? EVENTLOG_MARKER_S8 : EVENTLOG_MARKER_U8,			\
		EVENTLOG_MARKER_S8, EVENTLOG_MARKER_U8, EVENTLOG_MARKER_S16,		\
		EVENTLOG_MARKER_U16, EVENTLOG_MARKER_S32, EVENTLOG_MARKER_U32,		\
		sizeof(long) == 8 ? EVENTLOG_MARKER_S64 : EVENTLOG_MARKER_S32,		\
		sizeof(long) == 8 ? EVENTLOG_MARKER_U64 : EVENTLOG_MARKER_U32,		\
		EVENTLOG_MARKER_S64, EVENTLOG_MARKER_U64, EVENTLOG_MARKER_STRING,	\
		EVENTLOG_MARKER_PTR) +							\
	 BUILD_BUG_ON_ZERO(EVENTLOG_MARKER_GENERIC(x, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,	\
		__builtin_classify_type(x) != EVENTLOG_MARKER_POINTER_CLASS)))
#define EVENTLOG_MARKER_AS_auto(x)							\
	((u64)EVENTLOG_MARKER_GENERIC(x, (x), (x), (x), (x), (x), (x), (x), (x), (x), (x), (x),	\
		(x), (unsigned long)(x), (unsigned long)(x)))

/* Newer kernels define "auto" as __auto_type. */
#define EVENTLOG_MARKER_IS___auto_type(x) EVENTLOG_MARKER_IS_auto(x)
#define EVENTLOG_MARKER_AS___auto_type(x) EVENTLOG_MARKER_AS_auto(x)

#ifdef KBUILD_MODFILE
#define EVENTLOG_MARKER_MODULE		KBUILD_MODFILE
#else
#define EVENTLOG_MARKER_MODULE		NULL
#endif

#ifdef EVENTLOG_ENABLE_LOCAL_MARKERS
#define EVENTLOG_MARKER_FORCED		(EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_TRACE)
#else
#define EVENTLOG_MARKER_FORCED		0
#endif

/* Packs eight types of four bits each; the first one is the lowest. */
#define EVENTLOG_MARKER_PACK_8(a, b, c, d, e, f, g, h)					\
	((u32)(a) | (u32)(b) << 4 | (u32)(c) << 8 | (u32)(d) << 12 |			\
	 (u32)(e) << 16 | (u32)(f) << 20 | (u32)(g) << 24 | (u32)(h) << 28)
#define EVENTLOG_MARKER_LOW_(none, a, b, c, d, e, f, g, h, ...)				\
	EVENTLOG_MARKER_PACK_8(a, b, c, d, e, f, g, h)
#define EVENTLOG_MARKER_HIGH_(none, _1, _2, _3, _4, _5, _6, _7, _8, a, b, c, d, e, f, g, h, ...)	\
	EVENTLOG_MARKER_PACK_8(a, b, c, d, e, f, g, h)
#define EVENTLOG_MARKER_LOW(...)							\
	EVENTLOG_MARKER_LOW_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define EVENTLOG_MARKER_HIGH(...)							\
	EVENTLOG_MARKER_HIGH_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

#ifdef CONFIG_64BIT
#define EVENTLOG_MARKER_NOTE_BYTES	"76"
#else
#define EVENTLOG_MARKER_NOTE_BYTES	"48"
#endif

/*
 * Operands without the punctuation of immediate ones.  User Mode Linux is built with
 * -mcmodel=large, where %c does not accept symbols; %p does, but only on x86.
 */
#ifdef CONFIG_UML
#define EVENTLOG_MARKER_OPERANDS_1	"%p0, %p1, %p2, %p3, %p4, %p5, %p6"
#define EVENTLOG_MARKER_OPERANDS_2	"%p7, %p8, %p9, %p10, %p11"
#else
#define EVENTLOG_MARKER_OPERANDS_1	"%c0, %c1, %c2, %c3, %c4, %c5, %c6"
#define EVENTLOG_MARKER_OPERANDS_2	"%c7, %c8, %c9, %c10, %c11"
#endif

/*
 * A marker leaves an ELF note of the owner "eventlog", type 2, in the section
 * .note.eventlog, which is not loaded, so that "elog marker list FILE" finds it.  It
 * has the addresses of the marker and of its tag, text, path, module, function and
 * unit, and then 32 bits each: line, sequence, the types of fields 1 to 8 and 9 to 16,
 * and in 8 bits each, from the lowest: number of fields, enabled handlers, allowed
 * handlers, 0.  The module loader does not relocate the addresses; elog uses the
 * relocations in the file.  The strings are not in the note itself: the name of a
 * function is no constant for the assembler.
 */
#define EVENTLOG_MARKER_NOTE(tag_, text_, handlers_, ...)				\
	asm_inline volatile(".pushsection .note.eventlog,\"?\",\"note\"\n"		\
			    ".balign 4\n"						\
			    ".4byte 9, " EVENTLOG_MARKER_NOTE_BYTES ", 2\n"		\
			    ".asciz \"eventlog\"\n"					\
			    ".balign 4\n"						\
			    ".dc.a " EVENTLOG_MARKER_OPERANDS_1 "\n"			\
			    ".4byte " EVENTLOG_MARKER_OPERANDS_2 "\n"			\
			    ".popsection\n" : :						\
			    "i" (&eventlog_marker_), "i" (tag_), "i" (text_),		\
			    "i" (__FILE__), "i" (EVENTLOG_MARKER_MODULE),		\
			    "i" (__func__), "i" (&eventlog_marker_unit), "i" (__LINE__),	\
			    "i" (eventlog_marker_sequence_),				\
			    "i" (EVENTLOG_MARKER_LOW(0					\
				EVENTLOG_MARKER_EACH(EVENTLOG_MARKER_TYPE, ##__VA_ARGS__))),	\
			    "i" (EVENTLOG_MARKER_HIGH(0					\
				EVENTLOG_MARKER_EACH(EVENTLOG_MARKER_TYPE, ##__VA_ARGS__))),	\
			    "i" ((u32)EVENTLOG_MARKER_COUNT(__VA_ARGS__) |		\
				 (u32)(((handlers_) & 0xff) | EVENTLOG_MARKER_FORCED) << 8 |	\
				 (u32)((handlers_) >> 8 ?: 0xff) << 16))

/**
 * eventlog_marker() - define a marker; a statement
 * @name: its tag, an identifier; also the name of its event
 * @handlers_: EVENTLOG_MARKER_*, ORed: the default handlers, 0: none; optionally
 *	ORed with EVENTLOG_MARKER_ALLOW() to restrict the handlers it allows
 * @...: 0 to 16 fields, FIELD(type, expression) or FIELD_NAMED(type, name,
 *	expression).  type: u8 to u64, s8 to s64, bool, string, ptr, time, duration,
 *	ipv4, port, or auto for the type of the expression (char * is a string)
 *
 * The memory of a string must not fault; a NULL string is recorded as "(null)".
 *
 * Context: any context that may call printk(); in NMI context it does not print.
 * A marker in code that must not call printk(), for example under a scheduler
 * lock, must exclude EVENTLOG_MARKER_PRINT with EVENTLOG_MARKER_ALLOW().
 */
#if defined(EVENTLOG_MARKERS) || defined(EVENTLOG_ENABLE_LOCAL_MARKERS)
#define eventlog_marker(name, handlers_, ...)						\
do {											\
	enum { eventlog_marker_sequence_ = __COUNTER__ };				\
	static struct eventlog_marker eventlog_marker_					\
		__section("eventlog_markers") __aligned(8) = {			\
		.event.enabled = STATIC_KEY_FALSE_INIT,					\
		.magic = EVENTLOG_MARKER_MAGIC,						\
		.self = &eventlog_marker_,						\
		.fire = eventlog_marker_fire,						\
		.tag = #name,								\
		.text = #__VA_ARGS__,							\
		.path = __FILE__,							\
		.module = EVENTLOG_MARKER_MODULE,					\
		.function = __func__,							\
		.unit = &eventlog_marker_unit,						\
		.line = __LINE__,							\
		.sequence = eventlog_marker_sequence_,					\
		.types = { EVENTLOG_MARKER_COUNT(__VA_ARGS__)				\
			   EVENTLOG_MARKER_EACH(EVENTLOG_MARKER_TYPE, ##__VA_ARGS__) },	\
		.defaults = (handlers_) & 0xff,						\
		.allowed = (handlers_) >> 8 ?: 0xff,					\
		.handlers = EVENTLOG_MARKER_FORCED,					\
	};										\
											\
	if (static_branch_unlikely(&eventlog_marker_.event.enabled)) {			\
		EVENTLOG_MARKER_NOTE(#name, #__VA_ARGS__, handlers_, ##__VA_ARGS__);	\
		if (eventlog_marker_local)						\
			eventlog_marker_override(eventlog_marker_local, &eventlog_marker_	\
				EVENTLOG_MARKER_EACH(EVENTLOG_MARKER_VALUE, ##__VA_ARGS__));	\
		else									\
			eventlog_marker_fire(&eventlog_marker_				\
				EVENTLOG_MARKER_EACH(EVENTLOG_MARKER_VALUE, ##__VA_ARGS__));	\
	}										\
} while (0)

/**
 * eventlog_module_markers() - test whether the markers of this module are registered
 *
 * eventlog registers the markers before the kernel calls the module's init
 * function.  The init function may call this to find out whether that succeeded.
 *
 * Return: as for eventlog_markers_status().
 */
#define eventlog_module_markers()	eventlog_markers_status(THIS_MODULE)

#else

/* Uses the values, so that the compiler does not warn; generates no code. */
static inline void eventlog_marker_nothing(int nothing, ...)
{
}

#define eventlog_marker(name, handlers_, ...)						\
do {											\
	if (0)										\
		eventlog_marker_nothing(0						\
			EVENTLOG_MARKER_EACH(EVENTLOG_MARKER_VALUE, ##__VA_ARGS__));	\
} while (0)

#define eventlog_module_markers()	0

#endif

#endif /* _LINUX_EVENTLOG_MARKER_H */
