/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Markers in programs: one line of code that is a typed event.
 *
 *	ELOG_MARKER(opened, FIELD(string, path), FIELD(auto, flags));
 *	ELOG_MARKER_SESSION(file->session, closed, FIELD(auto, file->bytes));
 *
 * No other code is needed. The markers of a program, and of each library that it
 * loads, are registered when it starts, as events of the provider markers_PROGRAM. A
 * marker that is off tests one bit and evaluates nothing. Without the kernel module, or
 * without permission to use it, all markers are off, except those that the environment
 * variable ELOG_MARKERS or elog_markers_switch() makes print.
 *
 * These macros may be defined before the header is included:
 *
 *	ELOG_NO_MARKERS			compile this file without markers
 *	ELOG_MARKERS_EXPLICIT		register markers by ELOG_MARKERS_REGISTER(), not
 *					by a constructor; define it in all files of a
 *					program or library, or in none
 *	ELOG_ENABLE_LOCAL_MARKERS	this file's markers print from the start
 *	ELOG_LOCAL_MARKERS_HANDLER	a function, elog_marker_function, that this
 *					file's markers call instead
 *	ELOG_MARKER_USDT		this file's markers are static probes, too:
 *					elog:TAG, for perf, bpftrace, gdb
 *
 * Works with gcc and clang, in C since gnu89 and in C++ since C++11.
 */
#ifndef ELOG_MARKER_H
#define ELOG_MARKER_H

#include <elog.h>

#if defined(ELOG_MARKER_USDT) && !defined(ELOG_NO_MARKERS)
/* Either all probes of a file have semaphores, which count tracers, or none has. */
#ifndef _SDT_HAS_SEMAPHORES
#ifdef _SYS_SDT_H
#error "_SDT_HAS_SEMAPHORES has to be defined before <sys/sdt.h> is included"
#endif
#define _SDT_HAS_SEMAPHORES 1
#endif
#include <sys/sdt.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ELOG_MARKER_FIELDS_MAX	16

/* Handlers, a set of bits. */
#define ELOG_MARKER_PRINT	1U	/* a line on stderr, rate-limited */
#define ELOG_MARKER_TRACE	2U	/* the event, for its subscribers */
#define ELOG_MARKER_PROBE	4U	/* the function of elog_markers_probe() */

/* Types of fields. */
enum elog_marker_type {
	ELOG_MARKER_U8 = 1,
	ELOG_MARKER_U16,
	ELOG_MARKER_U32,
	ELOG_MARKER_U64,
	ELOG_MARKER_S8,
	ELOG_MARKER_S16,
	ELOG_MARKER_S32,
	ELOG_MARKER_S64,
	ELOG_MARKER_BOOL,
	ELOG_MARKER_PTR,
	ELOG_MARKER_STRING,
	ELOG_MARKER_TYPES
};

#define ELOG_MARKER_MAGIC	0x656c6f676d6b7232ULL

struct elog_marker_state;

/**
 * struct elog_marker - a marker
 * @magic: ELOG_MARKER_MAGIC: the layout of the struct
 * @status: the byte whose bits ELOG_MARKER_BITS are tested
 * @text: tag and fields, as written
 * @path: its source file, as compiled
 * @function: the function that contains it
 * @unit: an address, the same for all markers of one translation unit
 * @line: its line
 * @sequence: orders the markers of one line
 * @types: the number of fields, then enum elog_marker_type of each
 * @handlers: ELOG_MARKER_*: the enabled handlers
 * @flags: ELOG_MARKER_HAS_SESSION
 * @reserved: 0
 * @state: set while the marker is registered
 *
 * The members belong to the library. The struct is part of programs: its layout never
 * changes, and it has no padding.
 */
struct elog_marker {
	uint64_t magic;
	const unsigned char *status;
	const char *text;
	const char *path;
	const char *function;
	const void *unit;
	uint32_t line;
	uint32_t sequence;
	unsigned char types[1 + ELOG_MARKER_FIELDS_MAX];
	unsigned char handlers;
	unsigned char flags;
	unsigned char reserved[5];
	struct elog_marker_state *state;
};

#ifdef __cplusplus
#define ELOG_MARKER_ASSERT(condition) static_assert(condition, #condition)
#else
#define ELOG_MARKER_ASSERT(condition) _Static_assert(condition, #condition)
#endif
ELOG_MARKER_ASSERT(offsetof(struct elog_marker, status) == 8);
ELOG_MARKER_ASSERT(offsetof(struct elog_marker, line) == 8 + 5 * sizeof(void *));
ELOG_MARKER_ASSERT(offsetof(struct elog_marker, types) == 16 + 5 * sizeof(void *));
ELOG_MARKER_ASSERT(offsetof(struct elog_marker, state) == 40 + 5 * sizeof(void *));
ELOG_MARKER_ASSERT(sizeof(struct elog_marker) == 40 + 6 * sizeof(void *));
#undef ELOG_MARKER_ASSERT

#define ELOG_MARKER_HAS_SESSION	1U	/* the session is passed before the fields */

/**
 * elog_marker_function - a function that markers call
 * @marker: the marker
 * @values: one for each field, an integer or a pointer; see elog_marker_session()
 * @context: of elog_markers_probe(); NULL for ELOG_LOCAL_MARKERS_HANDLER
 */
typedef void elog_marker_function(const struct elog_marker *marker,
				  const uint64_t *values, void *context);

/**
 * elog_markers_register() - register markers; see ELOG_MARKERS_REGISTER()
 * @begin: pointers to them
 * @end: the end of these pointers
 *
 * Registers the markers from elog_marker_add(), too. Markers that are registered
 * already are skipped. If memory is short, markers stay off.
 */
void elog_markers_register(struct elog_marker **begin, struct elog_marker **end);

/**
 * elog_markers_unregister() - unregister markers before their memory is unmapped
 * @begin: as given to elog_markers_register(); no thread may be passing these markers
 */
void elog_markers_unregister(struct elog_marker **begin);

/**
 * elog_marker_add() - add a single marker of C++
 * @marker: registered by the next elog_markers_register()
 */
void elog_marker_add(struct elog_marker *marker);

/**
 * elog_marker_remove() - remove a marker of elog_marker_add()
 * @marker: no thread may be passing it
 */
void elog_marker_remove(struct elog_marker *marker);

/**
 * elog_marker_enabled_slow() - the rest of the test, for when the bit is set
 * @marker: the marker
 */
bool elog_marker_enabled_slow(const struct elog_marker *marker);

/**
 * elog_marker_fire() - run the handlers of a marker
 * @marker: the marker
 * @...: with ELOG_MARKER_HAS_SESSION, the session; a uint64_t for each field; a pointer
 *	for a string
 *
 * May be called by threads and signal handlers. Preserves errno.
 */
void elog_marker_fire(const struct elog_marker *marker, ...);

/**
 * elog_marker_override() - call the function of ELOG_LOCAL_MARKERS_HANDLER
 * @function: called with the values
 * @marker: as for elog_marker_fire()
 * @...: as for elog_marker_fire()
 *
 * Does not call it if the marker is on only because of a predicate, see
 * elog-marker(1), and the predicate is false.
 */
void elog_marker_override(elog_marker_function *function,
			  const struct elog_marker *marker, ...);

/**
 * elog_markers_switch() - set the handlers of this process's markers
 * @pattern: glob that is matched with tags and with places, "path:function:ordinal"
 * @handlers: ELOG_MARKER_*: the handlers to enable; all others are disabled
 *
 * Markers that are registered later use the latest pattern that matches them.
 *
 * Return: the number of markers that match, which may be 0; -EINVAL: unknown
 * handlers; -ENOMEM.
 */
int elog_markers_switch(const char *pattern, unsigned int handlers);

/**
 * elog_markers_probe() - set the function that ELOG_MARKER_PROBE calls
 * @function: the function, or NULL. Other threads may still call the previous
 *	function for a short time, with its own context
 * @context: argument of @function
 *
 * The function must return. Markers that it passes do not call it again. Each new pair
 * of function and context needs a few bytes of memory, once. If there are none, no
 * function is called.
 */
void elog_markers_probe(elog_marker_function *function, void *context);

/**
 * elog_marker_place() - get a marker's place, "path:function:ordinal"
 * @marker: the marker
 *
 * Return: the place, valid while the marker is registered; NULL: it is not registered.
 */
const char *elog_marker_place(const struct elog_marker *marker);

/**
 * elog_marker_id() - get the hash of a marker's place
 * @marker: the marker
 *
 * Return: the 64-bit FNV-1a hash of elog_marker_place(); 0: it is not registered.
 */
uint64_t elog_marker_id(const struct elog_marker *marker);

/**
 * elog_marker_session() - get the session with which a marker fires
 * @marker: as the function got it
 * @values: as the function got them
 *
 * For functions of elog_markers_probe() and ELOG_LOCAL_MARKERS_HANDLER.
 *
 * Return: the session; 0: none.
 */
static inline uint64_t elog_marker_session(const struct elog_marker *marker,
					   const uint64_t *values)
{
	return values[marker->types[0]];
}

/* ---- implementation of the macros ---- */

static const unsigned char elog_marker_never __attribute__((__unused__)) = 0;

/* Bits of a status byte: a marker with one of them is on, or has a filter. */
#define ELOG_MARKER_BITS	(EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_PRINT |	\
				 EVENTLOG_STATUS_PROBE | EVENTLOG_STATUS_FILTER)

#ifdef ELOG_ENABLE_LOCAL_MARKERS
#define ELOG_MARKER_HANDLERS	(ELOG_MARKER_TRACE | ELOG_MARKER_PRINT)
#else
#define ELOG_MARKER_HANDLERS	ELOG_MARKER_TRACE
#endif

#ifdef ELOG_LOCAL_MARKERS_HANDLER
#define ELOG_MARKER_CALL(marker)						\
	elog_marker_override(ELOG_LOCAL_MARKERS_HANDLER, marker
#else
#define ELOG_MARKER_CALL(marker) elog_marker_fire(marker
#endif

/* Tests a byte. If a bit is set, call elog_marker_enabled_slow(), too. */
static inline bool elog_marker_enabled(const struct elog_marker *marker)
{
	const unsigned char *status = __atomic_load_n(&marker->status, __ATOMIC_RELAXED);

	return __builtin_expect(ELOG_STATUS_TEST(status, ELOG_MARKER_BITS), 0);
}

/* Apply a macro to each field behind the tag: , macro(field) ... */
#define ELOG_MARKER_CAT_(a, b)	a##b
#define ELOG_MARKER_CAT(a, b)	ELOG_MARKER_CAT_(a, b)
#define ELOG_MARKER_COUNT_(							\
	tag, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15,	\
	_16, _17, count, ...) count
#define ELOG_MARKER_COUNT(...)							\
	ELOG_MARKER_COUNT_(__VA_ARGS__, more_than_16_fields, 16, 15, 14, 13,	\
	12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define ELOG_MARKER_EACH_0(macro, tag)
#define ELOG_MARKER_EACH_1(macro, tag,						\
		f1)								\
	ELOG_MARKER_EACH_0(macro, tag) , macro(f1)
#define ELOG_MARKER_EACH_2(macro, tag,						\
		f1, f2)								\
	ELOG_MARKER_EACH_1(macro, tag, f1) , macro(f2)
#define ELOG_MARKER_EACH_3(macro, tag,						\
		f1, f2, f3)							\
	ELOG_MARKER_EACH_2(macro, tag, f1, f2) , macro(f3)
#define ELOG_MARKER_EACH_4(macro, tag,						\
		f1, f2, f3, f4)							\
	ELOG_MARKER_EACH_3(macro, tag, f1, f2, f3) , macro(f4)
#define ELOG_MARKER_EACH_5(macro, tag,						\
		f1, f2, f3, f4, f5)						\
	ELOG_MARKER_EACH_4(macro, tag, f1, f2, f3, f4) , macro(f5)
#define ELOG_MARKER_EACH_6(macro, tag,						\
		f1, f2, f3, f4, f5, f6)						\
	ELOG_MARKER_EACH_5(macro, tag, f1, f2, f3, f4, f5) , macro(f6)
#define ELOG_MARKER_EACH_7(macro, tag,						\
		f1, f2, f3, f4, f5, f6, f7)					\
	ELOG_MARKER_EACH_6(macro, tag, f1, f2, f3, f4, f5, f6) , macro(f7)
#define ELOG_MARKER_EACH_8(macro, tag,						\
		f1, f2, f3, f4, f5, f6, f7, f8)					\
	ELOG_MARKER_EACH_7(macro, tag, f1, f2, f3, f4, f5, f6, f7) ,		\
	macro(f8)
#define ELOG_MARKER_EACH_9(macro, tag,						\
		f1, f2, f3, f4, f5, f6, f7, f8, f9)				\
	ELOG_MARKER_EACH_8(macro, tag, f1, f2, f3, f4, f5, f6, f7, f8) ,	\
	macro(f9)
#define ELOG_MARKER_EACH_10(macro, tag,						\
		f1, f2, f3, f4, f5, f6, f7, f8, f9, f10)			\
	ELOG_MARKER_EACH_9(macro, tag, f1, f2, f3, f4, f5, f6, f7, f8, f9)	\
	, macro(f10)
#define ELOG_MARKER_EACH_11(macro, tag,						\
		f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11)			\
	ELOG_MARKER_EACH_10(macro, tag, f1, f2, f3, f4, f5, f6, f7, f8,		\
	f9, f10) , macro(f11)
#define ELOG_MARKER_EACH_12(macro, tag,						\
		f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12)		\
	ELOG_MARKER_EACH_11(macro, tag, f1, f2, f3, f4, f5, f6, f7, f8,		\
	f9, f10, f11) , macro(f12)
#define ELOG_MARKER_EACH_13(macro, tag,						\
		f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13)		\
	ELOG_MARKER_EACH_12(macro, tag, f1, f2, f3, f4, f5, f6, f7, f8,		\
	f9, f10, f11, f12) , macro(f13)
#define ELOG_MARKER_EACH_14(macro, tag,						\
		f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14)	\
	ELOG_MARKER_EACH_13(macro, tag, f1, f2, f3, f4, f5, f6, f7, f8,		\
	f9, f10, f11, f12, f13) , macro(f14)
#define ELOG_MARKER_EACH_15(macro, tag,						\
		f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14,	\
		f15)								\
	ELOG_MARKER_EACH_14(macro, tag, f1, f2, f3, f4, f5, f6, f7, f8,		\
	f9, f10, f11, f12, f13, f14) , macro(f15)
#define ELOG_MARKER_EACH_16(macro, tag,						\
		f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14,	\
		f15, f16)							\
	ELOG_MARKER_EACH_15(macro, tag, f1, f2, f3, f4, f5, f6, f7, f8,		\
	f9, f10, f11, f12, f13, f14, f15) , macro(f16)
#define ELOG_MARKER_EACH(macro, ...)						\
	ELOG_MARKER_CAT(ELOG_MARKER_EACH_,					\
			ELOG_MARKER_COUNT(__VA_ARGS__))(macro, __VA_ARGS__)

/* FIELD(type, expression), or FIELD_NAMED(type, name, expression): type and value. */
#define ELOG_MARKER_TYPE(field)	ELOG_MARKER_TYPE_##field
#define ELOG_MARKER_TYPE_FIELD(type, ...) ELOG_MARKER_IS_##type(__VA_ARGS__)
#define ELOG_MARKER_TYPE_FIELD_NAMED(type, name, ...) ELOG_MARKER_IS_##type(__VA_ARGS__)
#define ELOG_MARKER_VALUE(field) ELOG_MARKER_VALUE_##field
#define ELOG_MARKER_VALUE_FIELD(type, ...) ELOG_MARKER_AS_##type(__VA_ARGS__)
#define ELOG_MARKER_VALUE_FIELD_NAMED(type, name, ...) ELOG_MARKER_AS_##type(__VA_ARGS__)

#define ELOG_MARKER_IS_u8(x)	ELOG_MARKER_U8
#define ELOG_MARKER_IS_u16(x)	ELOG_MARKER_U16
#define ELOG_MARKER_IS_u32(x)	ELOG_MARKER_U32
#define ELOG_MARKER_IS_u64(x)	ELOG_MARKER_U64
#define ELOG_MARKER_IS_s8(x)	ELOG_MARKER_S8
#define ELOG_MARKER_IS_s16(x)	ELOG_MARKER_S16
#define ELOG_MARKER_IS_s32(x)	ELOG_MARKER_S32
#define ELOG_MARKER_IS_s64(x)	ELOG_MARKER_S64
#define ELOG_MARKER_IS_bool(x)	ELOG_MARKER_BOOL
#define ELOG_MARKER_IS__Bool(x)	ELOG_MARKER_BOOL
#define ELOG_MARKER_IS_ptr(x)	ELOG_MARKER_PTR
#define ELOG_MARKER_IS_string(x) ELOG_MARKER_STRING

#ifdef __cplusplus
}

/* The type of an expression. */
template <class T> struct elog_marker_type_of {
	static_assert(__is_enum(T), "neither an integer nor a pointer");
	typedef __underlying_type(T) integer;
	static const bool is_signed = static_cast<integer>(-1) < static_cast<integer>(0);
	static const unsigned char value = sizeof(T) == 1 ?
		(is_signed ? ELOG_MARKER_S8 : ELOG_MARKER_U8) : sizeof(T) == 2 ?
		(is_signed ? ELOG_MARKER_S16 : ELOG_MARKER_U16) : sizeof(T) == 4 ?
		(is_signed ? ELOG_MARKER_S32 : ELOG_MARKER_U32) :
		(is_signed ? ELOG_MARKER_S64 : ELOG_MARKER_U64);
};
template <class T> struct elog_marker_type_of<T &> : elog_marker_type_of<T> {};
template <class T> struct elog_marker_type_of<T &&> : elog_marker_type_of<T> {};
template <class T> struct elog_marker_type_of<const T> : elog_marker_type_of<T> {};
template <class T> struct elog_marker_type_of<volatile T> : elog_marker_type_of<T> {};
template <class T> struct elog_marker_type_of<const volatile T> : elog_marker_type_of<T> {};
template <unsigned char code> struct elog_marker_type_is {
	static const unsigned char value = code;
};
template <class T> struct elog_marker_type_of<T *> : elog_marker_type_is<ELOG_MARKER_PTR> {};
template <> struct elog_marker_type_of<char *> : elog_marker_type_is<ELOG_MARKER_STRING> {};
template <> struct elog_marker_type_of<const char *> :
	elog_marker_type_is<ELOG_MARKER_STRING> {};
template <class T, size_t n> struct elog_marker_type_of<T[n]> : elog_marker_type_of<T *> {};
template <class T, size_t n> struct elog_marker_type_of<const T[n]> :
	elog_marker_type_of<const T *> {};
template <bool is_signed, size_t bytes> struct elog_marker_integer : elog_marker_type_is<
	static_cast<unsigned char>((is_signed ? ELOG_MARKER_S8 : ELOG_MARKER_U8) +
		(bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3))> {};
template <> struct elog_marker_type_of<bool> : elog_marker_type_is<ELOG_MARKER_BOOL> {};
template <> struct elog_marker_type_of<char> :
	elog_marker_integer<(static_cast<char>(-1) < 0), 1> {};
template <> struct elog_marker_type_of<signed char> : elog_marker_integer<true, 1> {};
template <> struct elog_marker_type_of<unsigned char> : elog_marker_integer<false, 1> {};
template <> struct elog_marker_type_of<short> : elog_marker_integer<true, sizeof(short)> {};
template <> struct elog_marker_type_of<unsigned short> :
	elog_marker_integer<false, sizeof(short)> {};
template <> struct elog_marker_type_of<int> : elog_marker_integer<true, sizeof(int)> {};
template <> struct elog_marker_type_of<unsigned int> :
	elog_marker_integer<false, sizeof(int)> {};
template <> struct elog_marker_type_of<long> : elog_marker_integer<true, sizeof(long)> {};
template <> struct elog_marker_type_of<unsigned long> :
	elog_marker_integer<false, sizeof(long)> {};
template <> struct elog_marker_type_of<long long> : elog_marker_integer<true, 8> {};
template <> struct elog_marker_type_of<unsigned long long> : elog_marker_integer<false, 8> {};

template <class T> inline uint64_t elog_marker_value(T value)
{
	return static_cast<uint64_t>(value);
}

template <class T> inline uint64_t elog_marker_value(T *value)
{
	return reinterpret_cast<uintptr_t>(value);
}

#define ELOG_MARKER_IS_auto(...) elog_marker_type_of<decltype((__VA_ARGS__))>::value
#define ELOG_MARKER_AS_auto(...) elog_marker_value(__VA_ARGS__)

#define ELOG_MARKER_AS_u8(...) static_cast<uint64_t>(static_cast<uint8_t>(__VA_ARGS__))
#define ELOG_MARKER_AS_u16(...) static_cast<uint64_t>(static_cast<uint16_t>(__VA_ARGS__))
#define ELOG_MARKER_AS_u32(...) static_cast<uint64_t>(static_cast<uint32_t>(__VA_ARGS__))
#define ELOG_MARKER_AS_u64(...) static_cast<uint64_t>(static_cast<uint64_t>(__VA_ARGS__))
#define ELOG_MARKER_AS_s8(...) static_cast<uint64_t>(static_cast<int8_t>(__VA_ARGS__))
#define ELOG_MARKER_AS_s16(...) static_cast<uint64_t>(static_cast<int16_t>(__VA_ARGS__))
#define ELOG_MARKER_AS_s32(...) static_cast<uint64_t>(static_cast<int32_t>(__VA_ARGS__))
#define ELOG_MARKER_AS_s64(...) static_cast<uint64_t>(static_cast<int64_t>(__VA_ARGS__))
#define ELOG_MARKER_AS_bool(...) static_cast<uint64_t>(static_cast<bool>(__VA_ARGS__))
#define ELOG_MARKER_AS_ptr(...) elog_marker_value(static_cast<const volatile void *>(__VA_ARGS__))
#define ELOG_MARKER_AS_string(...) elog_marker_value(static_cast<const char *>(__VA_ARGS__))

/*
 * The compiler does not put static variables of inline functions and templates into a
 * chosen section. So each marker has a type of its own, and a template with this type
 * has a static member that adds the marker. It is initialized when the program starts,
 * before variables without priority.
 */
struct elog_marker_entry {
	struct elog_marker *marker;

	explicit elog_marker_entry(struct elog_marker *own) : marker(own)
	{
		elog_marker_add(marker);
	}
	~elog_marker_entry()
	{
		elog_marker_remove(marker);
	}
};

template <class Own> struct elog_marker_enlisted {
	static elog_marker_entry entry;
};
template <class Own> __attribute__((__init_priority__(65000)))
elog_marker_entry elog_marker_enlisted<Own>::entry(Own::get());

#define ELOG_MARKERS_REGISTER()		elog_markers_register(NULL, NULL)
#define ELOG_MARKERS_UNREGISTER()	static_cast<void>(0)

#define ELOG_MARKER_ENLIST							\
		struct elog_marker_own_ {					\
			static constexpr struct elog_marker *get()		\
			{							\
				return &elog_marker_;				\
			}							\
		};								\
		static_cast<void>(&elog_marker_enlisted<elog_marker_own_>::entry)

#else

/* Other types must be pointers; the type of a bit-field must be given. */
#define ELOG_MARKER_GENERIC(x, bool_, char_, schar, uchar, short_, ushort,	\
			    int_, uint_, long_, ulong_, llong, ullong, string, other)	\
	_Generic((x), _Bool: bool_, char: char_, signed char: schar,		\
		 unsigned char: uchar, short: short_, unsigned short: ushort,	\
		 int: int_, unsigned int: uint_, long: long_,			\
		 unsigned long: ulong_, long long: llong,			\
		 unsigned long long: ullong, char *: string,			\
		 const char *: string, default: other)
#define ELOG_MARKER_POINTER_CLASS 5 /* as compilers number classes of types */
#define ELOG_MARKER_IS_auto(x)							\
	(ELOG_MARKER_GENERIC(x, ELOG_MARKER_BOOL,				\
		(char)-1 < 0 ? ELOG_MARKER_S8 : ELOG_MARKER_U8, ELOG_MARKER_S8,	\
		ELOG_MARKER_U8, ELOG_MARKER_S16, ELOG_MARKER_U16,		\
		ELOG_MARKER_S32, ELOG_MARKER_U32,				\
		sizeof(long) == 8 ? ELOG_MARKER_S64 : ELOG_MARKER_S32,		\
		sizeof(long) == 8 ? ELOG_MARKER_U64 : ELOG_MARKER_U32,		\
		ELOG_MARKER_S64, ELOG_MARKER_U64, ELOG_MARKER_STRING,		\
		ELOG_MARKER_PTR) +						\
	 0 * sizeof(char[ELOG_MARKER_GENERIC(x, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,	\
		1, 1, __builtin_classify_type(x) == ELOG_MARKER_POINTER_CLASS ?	\
			1 : -1)]))
#define ELOG_MARKER_AS_auto(x)							\
	((uint64_t)ELOG_MARKER_GENERIC(x, (x), (x), (x), (x), (x), (x), (x),	\
		(x), (x), (x), (x), (x), (uintptr_t)(x), (uintptr_t)(x)))
#define ELOG_MARKER_AS_u8(x)	((uint64_t)(uint8_t)(x))
#define ELOG_MARKER_AS_u16(x)	((uint64_t)(uint16_t)(x))
#define ELOG_MARKER_AS_u32(x)	((uint64_t)(uint32_t)(x))
#define ELOG_MARKER_AS_u64(x)	((uint64_t)(uint64_t)(x))
#define ELOG_MARKER_AS_s8(x)	((uint64_t)(int8_t)(x))
#define ELOG_MARKER_AS_s16(x)	((uint64_t)(int16_t)(x))
#define ELOG_MARKER_AS_s32(x)	((uint64_t)(int32_t)(x))
#define ELOG_MARKER_AS_s64(x)	((uint64_t)(int64_t)(x))
#define ELOG_MARKER_AS__Bool(x)	((uint64_t)(_Bool)(x))
#define ELOG_MARKER_AS_bool(x)	((uint64_t)(_Bool)(x))
#define ELOG_MARKER_AS_ptr(x)	((uint64_t)(uintptr_t)(const volatile void *)(x))
#define ELOG_MARKER_AS_string(x) ((uint64_t)(uintptr_t)(1 ? (x) : (const char *)NULL))

/* The linker collects the markers of this program or library here. */
extern struct elog_marker *__start_elog_markers[]
	__attribute__((__weak__, __visibility__("hidden")));
extern struct elog_marker *__stop_elog_markers[]
	__attribute__((__weak__, __visibility__("hidden")));

#define ELOG_MARKERS_REGISTER()							\
	elog_markers_register(__start_elog_markers, __stop_elog_markers)
#define ELOG_MARKERS_UNREGISTER()						\
	elog_markers_unregister(__start_elog_markers)

/* Only the section's ends refer to the entries, and they are weak. */
#ifdef __has_attribute
#if __has_attribute(__retain__)
#define ELOG_MARKER_RETAIN	, __retain__
#endif
#endif
#ifndef ELOG_MARKER_RETAIN
#define ELOG_MARKER_RETAIN
#endif

#define ELOG_MARKER_ENLIST							\
		static struct elog_marker *elog_marker_entry_			\
			__attribute__((__used__ ELOG_MARKER_RETAIN,		\
				       __section__("elog_markers"))) =		\
			&elog_marker_

#endif

#if !defined(ELOG_MARKERS_EXPLICIT) && !defined(ELOG_NO_MARKERS)
static void __attribute__((__constructor__, __unused__)) elog_markers_begin(void)
{
	ELOG_MARKERS_REGISTER();
}

static void __attribute__((__destructor__, __unused__)) elog_markers_end(void)
{
	ELOG_MARKERS_UNREGISTER();
}
#endif

/*
 * A marker leaves an ELF note of the owner "eventlog", type 1, in the section
 * .note.eventlog, so that elog finds it in files. The section is not loaded. The note has
 * addresses, which the linker resolves, and no strings: for the assembler, the name of
 * the function is not a constant, and a string in its template must not contain "%".
 *
 *	of the marker; text in the marker; of text and path; handlers in the marker; of
 *	function and unit		each as large as a pointer; "in" is an offset
 *	line, sequence, types of fields 1 to 8 and 9 to 16, others	each 32 bits
 *
 * A type has 4 bits, the first one the lowest. The others have 8 bits each, from the
 * lowest: number of fields, initially enabled handlers, allowed handlers,
 * ELOG_MARKER_NOTE_*.
 *
 * The note is written where the code of an enabled marker is, so the code of a disabled
 * marker is the same as without a note. If the compiler copies this code, there are
 * several notes of a marker. "?" puts the note into the group of sections of this code,
 * and the linker discards both together.
 */
#define ELOG_MARKER_NOTE_CPLUSPLUS	1	/* registered by elog_marker_add() */
#define ELOG_MARKER_NOTE_POINTER	2	/* a pointer to the marker is at the address */
#define ELOG_MARKER_NOTE_STRUCT		4	/* the other addresses are in the marker */
#define ELOG_MARKER_NOTE_SESSION	8	/* ELOG_MARKER_SESSION() */

#define ELOG_MARKER_PACK_8(a, b, c, d, e, f, g, h)				\
	((0U + (a)) | (0U + (b)) << 4 | (0U + (c)) << 8 | (0U + (d)) << 12 |	\
	 (0U + (e)) << 16 | (0U + (f)) << 20 | (0U + (g)) << 24 | (0U + (h)) << 28)
#define ELOG_MARKER_LOW_(none, a, b, c, d, e, f, g, h, ...)			\
	ELOG_MARKER_PACK_8(a, b, c, d, e, f, g, h)
#define ELOG_MARKER_HIGH_(none, _1, _2, _3, _4, _5, _6, _7, _8, a, b, c, d, e, f, g, h,	\
			  ...)							\
	ELOG_MARKER_PACK_8(a, b, c, d, e, f, g, h)
#define ELOG_MARKER_LOW(...)							\
	ELOG_MARKER_LOW_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define ELOG_MARKER_HIGH(...)							\
	ELOG_MARKER_HIGH_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

#if __SIZEOF_POINTER__ == 8
#define ELOG_MARKER_NOTE_BYTES	"76"
#else
#define ELOG_MARKER_NOTE_BYTES	"48"
#endif

/* Let the compiler inline as if there were no note. */
#if defined(__clang__) || __GNUC__ >= 9
#define ELOG_MARKER_ASM		__asm__ __volatile__ __inline__
#else
#define ELOG_MARKER_ASM		__asm__ __volatile__
#endif

/* A constraint for the address of a static variable, also in PIC. */
#if defined(__aarch64__) || defined(__riscv)
#define ELOG_MARKER_SYMBOL	"S"
#elif defined(__clang__) && (defined(__x86_64__) || defined(__i386__) || defined(__arm__))
#define ELOG_MARKER_SYMBOL	"s"
#elif !defined(__PIC__) || defined(__x86_64__) || defined(__clang__)
#define ELOG_MARKER_SYMBOL	"i"
#endif

#define ELOG_MARKER_NOTE_AS(sequence, flags, addresses, operands, ...)		\
		ELOG_MARKER_ASM(".pushsection .note.eventlog,\"?\",\"note\"\n"	\
				".balign 4\n"					\
				".4byte 9, " ELOG_MARKER_NOTE_BYTES ", 1\n"	\
				".asciz \"eventlog\"\n"				\
				".balign 4\n"					\
				".dc.a " addresses "\n"				\
				".4byte %c0, %c1, %c2, %c3, %c4\n"		\
				".popsection\n" : :				\
				"i"(__LINE__), "i"(sequence),			\
				"i"(ELOG_MARKER_LOW(0				\
					ELOG_MARKER_EACH(ELOG_MARKER_TYPE, __VA_ARGS__))),	\
				"i"(ELOG_MARKER_HIGH(0				\
					ELOG_MARKER_EACH(ELOG_MARKER_TYPE, __VA_ARGS__))),	\
				"i"(ELOG_MARKER_COUNT(__VA_ARGS__) |		\
				    ELOG_MARKER_HANDLERS << 8 | 7 << 16 | (flags) << 24),	\
				"i"(__builtin_offsetof(struct elog_marker, text)),	\
				"i"(__builtin_offsetof(struct elog_marker, handlers))	\
				operands);
#define ELOG_MARKER_COMMA	,

#ifdef ELOG_MARKER_SYMBOL
#define ELOG_MARKER_NAME(sequence)
#if defined(__cplusplus) && defined(__PIC__) && !defined(__PIE__) && !defined(__clang__)
/*
 * In code for libraries, gcc does not accept the address of a variable that another
 * library may define, too, such as a static one of an inline function. But it accepts
 * that of a hidden pointer to it.
 */
template <class Own> struct __attribute__((__visibility__("hidden"))) elog_marker_pointer {
	static struct elog_marker *pointer;
};
template <class Own> struct elog_marker *elog_marker_pointer<Own>::pointer = Own::get();
#define ELOG_MARKER_NOTE_SELF	&elog_marker_pointer<elog_marker_own_>::pointer
#define ELOG_MARKER_NOTE_FLAGS	(ELOG_MARKER_NOTE_CPLUSPLUS | ELOG_MARKER_NOTE_POINTER)
#else
#define ELOG_MARKER_NOTE_SELF	&elog_marker_
#ifdef __cplusplus
#define ELOG_MARKER_NOTE_FLAGS	ELOG_MARKER_NOTE_CPLUSPLUS
#else
#define ELOG_MARKER_NOTE_FLAGS	0
#endif
#endif
#define ELOG_MARKER_NOTE(sequence, text, flags, ...)				\
		ELOG_MARKER_NOTE_AS(sequence, ELOG_MARKER_NOTE_FLAGS | (flags),	\
			"%c7, %c5, %c8, %c9, %c6, %c10, %c11",			\
			ELOG_MARKER_COMMA ELOG_MARKER_SYMBOL(ELOG_MARKER_NOTE_SELF)	\
			ELOG_MARKER_COMMA ELOG_MARKER_SYMBOL(text)		\
			ELOG_MARKER_COMMA ELOG_MARKER_SYMBOL(__FILE__)		\
			ELOG_MARKER_COMMA ELOG_MARKER_SYMBOL(__func__)		\
			ELOG_MARKER_COMMA ELOG_MARKER_SYMBOL(&elog_marker_never),	\
			__VA_ARGS__)
#elif !defined(__cplusplus)
/*
 * Here gcc accepts no address at all in PIC, but the marker can have a name that the
 * template contains. Such machines store addresses in place, so elog can read the
 * marker in the file.
 */
#define ELOG_MARKER_NAME_(sequence)	".Lelog_marker_" #sequence
#define ELOG_MARKER_NAME(sequence)	__asm__(ELOG_MARKER_NAME_(sequence))
#define ELOG_MARKER_NOTE(sequence, text, flags, ...)				\
		ELOG_MARKER_NOTE_AS(sequence, ELOG_MARKER_NOTE_STRUCT | (flags),	\
			ELOG_MARKER_NAME_(sequence) ", %c5, 0, 0, %c6, 0, 0", , __VA_ARGS__)
#else
/* There is no way for C++: elog does not find these markers in files. */
#define ELOG_MARKER_NAME(sequence)
#define ELOG_MARKER_NOTE(sequence, text, flags, ...)
#endif

/*
 * The code at the marker: it evaluates the session and the fields once if the marker is
 * on. give(session) is a comma and the session, or nothing.
 *
 * A static probe has the first 12 fields, each as large as a register. Probes with the
 * same tag share a semaphore in a program or library. The assembler makes it, because
 * the compiler would make a variable for each function.
 */
#ifdef ELOG_MARKER_USDT
#define ELOG_MARKER_WITH(macro, ...)	macro(__VA_ARGS__)
#define ELOG_MARKER_TAG_(tag, ...)	tag
#define ELOG_MARKER_TAG(...)	ELOG_MARKER_TAG_(__VA_ARGS__, 0)
#define ELOG_MARKER_SEMAPHORE_(tag)	elog_##tag##_semaphore
#define ELOG_MARKER_SEMAPHORE(tag)	ELOG_MARKER_SEMAPHORE_(tag)
#define ELOG_MARKER_TEXT_(text)	#text
#define ELOG_MARKER_TEXT(text)	ELOG_MARKER_TEXT_(text)
#define ELOG_MARKER_SEMAPHORE_MAKE(name)					\
		__asm__ volatile (".ifndef " name "\n"				\
				  ".pushsection .probes,\"aw\",\"progbits\"\n"	\
				  ".balign 2\n"					\
				  ".weak " name "\n"				\
				  ".hidden " name "\n"				\
				  name ": .2byte 0\n"				\
				  ".size " name ", 2\n"				\
				  ".popsection\n"				\
				  ".endif\n")
#define ELOG_MARKER_TAKEN_0
#define ELOG_MARKER_TAKEN_1	ELOG_MARKER_TAKEN_0 , elog_marker_values_[1]
#define ELOG_MARKER_TAKEN_2	ELOG_MARKER_TAKEN_1 , elog_marker_values_[2]
#define ELOG_MARKER_TAKEN_3	ELOG_MARKER_TAKEN_2 , elog_marker_values_[3]
#define ELOG_MARKER_TAKEN_4	ELOG_MARKER_TAKEN_3 , elog_marker_values_[4]
#define ELOG_MARKER_TAKEN_5	ELOG_MARKER_TAKEN_4 , elog_marker_values_[5]
#define ELOG_MARKER_TAKEN_6	ELOG_MARKER_TAKEN_5 , elog_marker_values_[6]
#define ELOG_MARKER_TAKEN_7	ELOG_MARKER_TAKEN_6 , elog_marker_values_[7]
#define ELOG_MARKER_TAKEN_8	ELOG_MARKER_TAKEN_7 , elog_marker_values_[8]
#define ELOG_MARKER_TAKEN_9	ELOG_MARKER_TAKEN_8 , elog_marker_values_[9]
#define ELOG_MARKER_TAKEN_10	ELOG_MARKER_TAKEN_9 , elog_marker_values_[10]
#define ELOG_MARKER_TAKEN_11	ELOG_MARKER_TAKEN_10 , elog_marker_values_[11]
#define ELOG_MARKER_TAKEN_12	ELOG_MARKER_TAKEN_11 , elog_marker_values_[12]
#define ELOG_MARKER_TAKEN_13	ELOG_MARKER_TAKEN_12 , elog_marker_values_[13]
#define ELOG_MARKER_TAKEN_14	ELOG_MARKER_TAKEN_13 , elog_marker_values_[14]
#define ELOG_MARKER_TAKEN_15	ELOG_MARKER_TAKEN_14 , elog_marker_values_[15]
#define ELOG_MARKER_TAKEN_16	ELOG_MARKER_TAKEN_15 , elog_marker_values_[16]
#define ELOG_MARKER_GIVEN_0
#define ELOG_MARKER_GIVEN_1	ELOG_MARKER_GIVEN_0 ,					\
					(unsigned long)elog_marker_values_[1]
#define ELOG_MARKER_GIVEN_2	ELOG_MARKER_GIVEN_1 ,					\
					(unsigned long)elog_marker_values_[2]
#define ELOG_MARKER_GIVEN_3	ELOG_MARKER_GIVEN_2 ,					\
					(unsigned long)elog_marker_values_[3]
#define ELOG_MARKER_GIVEN_4	ELOG_MARKER_GIVEN_3 ,					\
					(unsigned long)elog_marker_values_[4]
#define ELOG_MARKER_GIVEN_5	ELOG_MARKER_GIVEN_4 ,					\
					(unsigned long)elog_marker_values_[5]
#define ELOG_MARKER_GIVEN_6	ELOG_MARKER_GIVEN_5 ,					\
					(unsigned long)elog_marker_values_[6]
#define ELOG_MARKER_GIVEN_7	ELOG_MARKER_GIVEN_6 ,					\
					(unsigned long)elog_marker_values_[7]
#define ELOG_MARKER_GIVEN_8	ELOG_MARKER_GIVEN_7 ,					\
					(unsigned long)elog_marker_values_[8]
#define ELOG_MARKER_GIVEN_9	ELOG_MARKER_GIVEN_8 ,					\
					(unsigned long)elog_marker_values_[9]
#define ELOG_MARKER_GIVEN_10	ELOG_MARKER_GIVEN_9 ,					\
					(unsigned long)elog_marker_values_[10]
#define ELOG_MARKER_GIVEN_11	ELOG_MARKER_GIVEN_10 ,					\
					(unsigned long)elog_marker_values_[11]
#define ELOG_MARKER_GIVEN_12	ELOG_MARKER_GIVEN_11 ,					\
					(unsigned long)elog_marker_values_[12]
#define ELOG_MARKER_GIVEN_13	ELOG_MARKER_GIVEN_12
#define ELOG_MARKER_GIVEN_14	ELOG_MARKER_GIVEN_12
#define ELOG_MARKER_GIVEN_15	ELOG_MARKER_GIVEN_12
#define ELOG_MARKER_GIVEN_16	ELOG_MARKER_GIVEN_12
#define ELOG_MARKER_USDT_0	STAP_PROBE
#define ELOG_MARKER_USDT_1	STAP_PROBE1
#define ELOG_MARKER_USDT_2	STAP_PROBE2
#define ELOG_MARKER_USDT_3	STAP_PROBE3
#define ELOG_MARKER_USDT_4	STAP_PROBE4
#define ELOG_MARKER_USDT_5	STAP_PROBE5
#define ELOG_MARKER_USDT_6	STAP_PROBE6
#define ELOG_MARKER_USDT_7	STAP_PROBE7
#define ELOG_MARKER_USDT_8	STAP_PROBE8
#define ELOG_MARKER_USDT_9	STAP_PROBE9
#define ELOG_MARKER_USDT_10	STAP_PROBE10
#define ELOG_MARKER_USDT_11	STAP_PROBE11
#define ELOG_MARKER_USDT_12	STAP_PROBE12
#define ELOG_MARKER_USDT_13	STAP_PROBE12
#define ELOG_MARKER_USDT_14	STAP_PROBE12
#define ELOG_MARKER_USDT_15	STAP_PROBE12
#define ELOG_MARKER_USDT_16	STAP_PROBE12
#define ELOG_MARKER_PASS_AS(note, give, session, count, tag, semaphore, ...)	\
		extern volatile unsigned short semaphore			\
			__asm__(ELOG_MARKER_TEXT(semaphore))			\
			__attribute__((__visibility__("hidden")));		\
		bool elog_marker_on_;						\
										\
		ELOG_MARKER_SEMAPHORE_MAKE(ELOG_MARKER_TEXT(semaphore));	\
		elog_marker_on_ = elog_marker_enabled(&elog_marker_) &&		\
				  elog_marker_enabled_slow(&elog_marker_);	\
		if (elog_marker_on_ || __builtin_expect(semaphore, 0)) {	\
			const uint64_t elog_marker_values_[] = {		\
				0 ELOG_MARKER_EACH(ELOG_MARKER_VALUE, __VA_ARGS__)	\
			};							\
										\
			(void)elog_marker_values_;				\
			if (semaphore)						\
				ELOG_MARKER_WITH(ELOG_MARKER_CAT(ELOG_MARKER_USDT_, count),	\
					elog, tag				\
					ELOG_MARKER_CAT(ELOG_MARKER_GIVEN_, count));	\
			note							\
			if (elog_marker_on_)					\
				ELOG_MARKER_CALL(&elog_marker_) give(session)	\
					ELOG_MARKER_CAT(ELOG_MARKER_TAKEN_, count));	\
		}
#define ELOG_MARKER_PASS_COUNTED(note, give, session, count, tag, ...)		\
	ELOG_MARKER_PASS_AS(note, give, session, count, tag, ELOG_MARKER_SEMAPHORE(tag),	\
			    __VA_ARGS__)
#define ELOG_MARKER_PASS(note, give, session, ...)				\
	ELOG_MARKER_PASS_COUNTED(note, give, session, ELOG_MARKER_COUNT(__VA_ARGS__),	\
				 ELOG_MARKER_TAG(__VA_ARGS__), __VA_ARGS__)
#else
#define ELOG_MARKER_PASS(note, give, session, ...)				\
		if (elog_marker_enabled(&elog_marker_) &&			\
		    elog_marker_enabled_slow(&elog_marker_)) {			\
			note							\
			ELOG_MARKER_CALL(&elog_marker_) give(session)		\
				ELOG_MARKER_EACH(ELOG_MARKER_VALUE, __VA_ARGS__));	\
		}
#endif
#define ELOG_MARKER_GIVE(session)	, ELOG_MARKER_AS_u64(session)
#define ELOG_MARKER_GIVE_NONE(session)

/**
 * ELOG_MARKER() - a marker
 * @...: its tag, an identifier; then 0 to 16 fields, FIELD(type, expression) or
 *	FIELD_NAMED(type, name, expression). type: u8 to u64, s8 to s64, bool,
 *	string, ptr, or auto: the type of the expression; char * is a string
 *
 * A statement. The event is named after the tag, its fields are named after the
 * expressions. The expressions are evaluated only while the marker is on.
 */
/**
 * ELOG_MARKER_SESSION() - a marker whose events belong to a session
 * @session: an expression, the session, as from elog_session_new(); 0: none
 * @...: as for ELOG_MARKER()
 */
#ifndef ELOG_NO_MARKERS
#define ELOG_MARKER(...)							\
	ELOG_MARKER_MAKE(__COUNTER__, #__VA_ARGS__, 0, 0,			\
			 ELOG_MARKER_GIVE_NONE, 0, __VA_ARGS__)
#define ELOG_MARKER_SESSION(session, ...)					\
	ELOG_MARKER_MAKE(__COUNTER__, #__VA_ARGS__, ELOG_MARKER_HAS_SESSION,	\
			 ELOG_MARKER_NOTE_SESSION, ELOG_MARKER_GIVE, session, __VA_ARGS__)
#define ELOG_MARKER_MAKE(sequence, text, flags, note, give, session, ...)	\
	do {									\
		static struct elog_marker elog_marker_ ELOG_MARKER_NAME(sequence) = {	\
			ELOG_MARKER_MAGIC, &elog_marker_never, text, __FILE__,	\
			__func__, &elog_marker_never, __LINE__, sequence,	\
			{ ELOG_MARKER_COUNT(__VA_ARGS__)			\
			  ELOG_MARKER_EACH(ELOG_MARKER_TYPE, __VA_ARGS__) },	\
			ELOG_MARKER_HANDLERS, flags, { 0 }, NULL		\
		};								\
		ELOG_MARKER_ENLIST;						\
		ELOG_MARKER_PASS(ELOG_MARKER_NOTE(sequence, text, note, __VA_ARGS__),	\
				 give, session, __VA_ARGS__)			\
	} while (0)
#else
#define ELOG_MARKER(...)							\
	do {									\
		if (0)								\
			elog_marker_fire(NULL					\
				ELOG_MARKER_EACH(ELOG_MARKER_VALUE, __VA_ARGS__));	\
	} while (0)
#define ELOG_MARKER_SESSION(session, ...)					\
	do {									\
		if (0)								\
			elog_marker_fire(NULL, ELOG_MARKER_AS_u64(session)	\
				ELOG_MARKER_EACH(ELOG_MARKER_VALUE, __VA_ARGS__));	\
	} while (0)
#endif

#endif /* ELOG_MARKER_H */
