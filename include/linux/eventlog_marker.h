/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers, eventlog_marker(9): one line of code that can be browsed and switched
 * on while the kernel runs.
 *
 *	eventlog_marker(opened, EVENTLOG_MARKER_TRACE, FIELD(string, name),
 *			FIELD(auto, inode->i_size));
 *
 * There is nothing else to write: no declaration, no schema, no list. eventlog
 * finds the markers of a module when the module is loaded, names their fields
 * after the expressions, and makes them the events of a provider that is called
 * markers_MODULE.
 *
 * A marker that is off is one no-op; its expressions are not evaluated.  Without
 * EVENTLOG_MARKERS defined (ccflags-y += -DEVENTLOG_MARKERS) it is nothing at
 * all.  What a source file defines before it includes this header:
 *
 *	EVENTLOG_ENABLE_LOCAL_MARKERS	this file's markers are in, and on: they
 *					print from the start, and trace
 *
 * How eventlog finds them: a marker's descriptor begins with its static key, and
 * a module's table of jumps has the keys it tests.  So this needs
 * CONFIG_JUMP_LABEL, and neither a linker script nor anything in the module's
 * Makefile.
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

/*
 * The handlers a marker allows, when these are not all: to be ORed to those it
 * has from the start.
 */
#define EVENTLOG_MARKER_ALLOW(handlers)	((handlers) << 8)

/* What a field is; 0: there is none. */
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

/* Another one whenever the descriptor below becomes another: for elog marker list, too. */
#define EVENTLOG_MARKER_MAGIC	((unsigned long)0x4d6b724c67e87a9cULL)

struct eventlog_predicate;

/**
 * struct eventlog_marker - a marker
 * @event: its event; the static key in it is the marker's
 * @magic: EVENTLOG_MARKER_MAGIC
 * @self: where it is: with @magic, how it is known from other keys
 * @hit: eventlog_marker_hit(): a module that has markers needs eventlog.ko
 * @tag: as written
 * @text: its fields, as written
 * @path: its source file: as compiled, then as seen from the top of the tree
 * @module: its module's directory and name, as the kernel's build has them
 * @function: where it is
 * @unit: the same for all of one translation unit
 * @line: in the source file
 * @sequence: orders those of a line
 * @ordinal: how many there are before it in the function
 * @id: hash of its place
 * @types: how many fields there are, then enum eventlog_marker_type of each
 * @defaults: EVENTLOG_MARKER_*: handlers from the start
 * @allowed: likewise: those that may be switched on
 * @handlers: likewise: those that are
 * @active: likewise: those that a hit calls; no others need the key.  And
 *	whether it looks at @predicate
 * @guarded: there is a predicate
 * @limit: of printing
 * @probes: what eventlog_marker_probe_register() attached; RCU
 * @predicate: what has to be true; RCU; means nothing unless @active says so
 * @unprinted: lines that were dropped
 *
 * Probes may read all up to @types; the rest is eventlog's.
 */
struct eventlog_marker {
	struct eventlog_provider_event event;
	unsigned long magic;
	const struct eventlog_marker *self;
	void (*hit)(struct eventlog_marker *marker, ...);
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
	bool guarded;
	struct ratelimit_state limit;
	struct hlist_head probes;
	struct eventlog_predicate __rcu *predicate;
	atomic_long_t unprinted;
};

/**
 * eventlog_marker_hit() - what a marker that is on calls
 * @marker: it
 * @...: a u64 for each of its fields: an integer or a pointer, of which the low
 *	bytes count; a string is a pointer to it
 *
 * Arguments rather than an array, which would be on the stack of the marker's
 * function, and that would have a frame and a stack protector for it all the time.
 *
 * Tracing and probing: any context.  Printing: where printk() may be called;
 * there is no line in NMI context.
 */
void eventlog_marker_hit(struct eventlog_marker *marker, ...);

typedef void eventlog_marker_function(const struct eventlog_marker *marker, const u64 *values);

/**
 * eventlog_marker_redirect() - what it calls with EVENTLOG_LOCAL_MARKERS_HANDLER()
 * @function: to be called with the values
 * @marker: as for eventlog_marker_hit()
 * @...: likewise
 */
void eventlog_marker_redirect(eventlog_marker_function *function,
			      struct eventlog_marker *marker, ...);

/**
 * eventlog_marker_value() - a field's value
 * @marker: the marker
 * @values: as given to a probe
 * @field: its number, from 0
 *
 * Any context.
 *
 * Return: the value, sign- or zero-extended from its type; of a string, the
 * pointer; 0: there is no such field.
 */
u64 eventlog_marker_value(const struct eventlog_marker *marker, const u64 *values,
			  unsigned int field);

/**
 * eventlog_markers_status() - what has become of a module's markers
 * @module: the module
 *
 * Process context, from the module's init function on.
 *
 * Return: 0: they are known, or there are none; otherwise why they are not:
 * -EINVAL: one is malformed; -EEXIST: two places have one id; -ENOSPC: as for
 * eventlog_provider_register(); -ENOMEM.  The kernel log says more.
 */
int eventlog_markers_status(const struct module *module);

/**
 * struct eventlog_marker_probe - a function that markers call
 * @module: glob over names of modules, NULL: all
 * @marker: glob over tags and places, NULL: all
 * @hit: called at each hit, in the marker's context, preemption off.  It must not
 *	sleep.  Where RCU does not watch it is not called.
 * @private: the owner's
 * @node: eventlog's
 */
struct eventlog_marker_probe {
	const char *module;
	const char *marker;
	void (*hit)(struct eventlog_marker_probe *probe, const struct eventlog_marker *marker,
		    const u64 *values);
	void *private;
	struct list_head node;
};

/**
 * eventlog_marker_probe_register() - attach a function to markers
 * @probe: filled in, not registered; stays until unregistered
 *
 * Process context, may sleep.  Attached to all markers that match and allow
 * EVENTLOG_MARKER_PROBE, those of modules loaded later included.  It is called
 * whether EVENTLOG_MARKER_PROBE is switched on or not, unless the marker has been
 * given a predicate that is false.
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_marker_probe_register(struct eventlog_marker_probe *probe);

/**
 * eventlog_marker_probe_unregister() - detach it
 * @probe: registered
 *
 * Process context, may sleep.  On return it is not being called and will not be.
 */
void eventlog_marker_probe_unregister(struct eventlog_marker_probe *probe);

/* ---- how the macro does it ---- */

/* Its address tells translation units apart. */
static const char eventlog_marker_unit __maybe_unused;

/*
 * EVENTLOG_LOCAL_MARKERS_HANDLER(function) - what this file's markers call instead
 *
 * Stands once in the file, anywhere outside functions; @function is an
 * eventlog_marker_function, declared before.  The file's markers are switched as
 * any, but whichever handler is on, @function is what is called.
 */
static eventlog_marker_function *eventlog_marker_local __maybe_unused;
#define EVENTLOG_LOCAL_MARKERS_HANDLER(function)				\
	static eventlog_marker_function *eventlog_marker_local __maybe_unused = (function)

/* Fields, one by one: EVENTLOG_MARKER_EACH(macro, fields...) is , macro(field) ... */
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

/* FIELD(type, expression), or FIELD_NAMED(type, name, expression): type and value. */
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
#define EVENTLOG_MARKER_AS_string(x)	({ const char *string_ = (x); (u64)(unsigned long)string_; })

/*
 * The type of an expression.  What is none of these has to be a pointer: a
 * bit-field, whose type has no name, must be stated.
 */
#define EVENTLOG_MARKER_GENERIC(x, bool_, char_, schar, uchar, short_, ushort, int_,	\
				uint, long_, ulong, llong, ullong, string, other)	\
	_Generic((x), bool: bool_, char: char_, signed char: schar, unsigned char: uchar,	\
		 short: short_, unsigned short: ushort, int: int_, unsigned int: uint,	\
		 long: long_, unsigned long: ulong, long long: llong,			\
		 unsigned long long: ullong, char *: string, const char *: string,	\
		 default: other)
#define EVENTLOG_MARKER_POINTER_CLASS	5 /* as compilers number classes of types */
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

/* What newer kernels make of the keyword. */
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

/**
 * eventlog_marker() - a marker
 * @name: its tag, an identifier: what its event is called
 * @handlers_: EVENTLOG_MARKER_*, ORed: those it has from the start, 0: none;
 *	EVENTLOG_MARKER_ALLOW() of those it may have, when these are not all
 * @...: 0 to 16 fields, FIELD(type, expression) or FIELD_NAMED(type, name,
 *	expression).  type: u8 to u64, s8 to s64, bool, string, ptr, time, duration,
 *	ipv4, port, or auto: that of the expression, a char * being a string
 *
 * A statement.  Wherever printk() may be called, but NMI, where it does not print;
 * where that is not so, as under the scheduler's locks, PRINT must not be among the
 * handlers that it may have.  What pointers to strings point to must not
 * fault; a string of NULL is "(null)".
 */
#if defined(EVENTLOG_MARKERS) || defined(EVENTLOG_ENABLE_LOCAL_MARKERS)
#define eventlog_marker(name, handlers_, ...)						\
do {											\
	static struct eventlog_marker eventlog_marker_					\
		__section("eventlog_markers") __aligned(8) = {			\
		.event.enabled = STATIC_KEY_FALSE_INIT,					\
		.magic = EVENTLOG_MARKER_MAGIC,						\
		.self = &eventlog_marker_,						\
		.hit = eventlog_marker_hit,						\
		.tag = #name,								\
		.text = #__VA_ARGS__,							\
		.path = __FILE__,							\
		.module = EVENTLOG_MARKER_MODULE,					\
		.function = __func__,							\
		.unit = &eventlog_marker_unit,						\
		.line = __LINE__,							\
		.sequence = __COUNTER__,						\
		.types = { EVENTLOG_MARKER_COUNT(__VA_ARGS__)				\
			   EVENTLOG_MARKER_EACH(EVENTLOG_MARKER_TYPE, ##__VA_ARGS__) },	\
		.defaults = (handlers_) & 0xff,						\
		.allowed = (handlers_) >> 8 ?: 0xff,					\
		.handlers = EVENTLOG_MARKER_FORCED,					\
	};										\
											\
	if (static_branch_unlikely(&eventlog_marker_.event.enabled)) {			\
		if (eventlog_marker_local)						\
			eventlog_marker_redirect(eventlog_marker_local, &eventlog_marker_	\
				EVENTLOG_MARKER_EACH(EVENTLOG_MARKER_VALUE, ##__VA_ARGS__));	\
		else									\
			eventlog_marker_hit(&eventlog_marker_				\
				EVENTLOG_MARKER_EACH(EVENTLOG_MARKER_VALUE, ##__VA_ARGS__));	\
	}										\
} while (0)

/**
 * eventlog_module_markers() - are this module's markers there
 *
 * One line of the module's init function, if it cares: eventlog has registered
 * the markers before that is called.
 *
 * Return: as eventlog_markers_status().
 */
#define eventlog_module_markers()	eventlog_markers_status(THIS_MODULE)

#else

/* What is not used otherwise counts as used; no code comes of it. */
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
