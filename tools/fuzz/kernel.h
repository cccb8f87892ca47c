/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parsers of module/core need of the kernel, for fuzzing them in user space.  It is
 * included before everything else; the kernel's headers are empty files then.
 *
 * The classes of characters are those of the kernel, where bytes from 160 on are letters and
 * signs, and not those of the C library.
 */
#ifndef FUZZ_KERNEL_H
#define FUZZ_KERNEL_H

#include <asm/types.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
struct static_key_false { int key; };
typedef struct { long counter; } atomic_long_t;

#define __must_check __attribute__((warn_unused_result))
#define __printf(text, first) __attribute__((format(printf, text, first)))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __rcu
#define __force
#define notrace
#define fallthrough __attribute__((fallthrough))
#define unlikely(condition) (condition)
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define READ_ONCE(word) (*(const volatile __typeof__(word) *)&(word))
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define min(a, b) min_t(__typeof__(a), a, b)
#define max(a, b) ((a) > (b) ? (a) : (b))
#define swap(a, b) do { __typeof__(a) kept = (a); (a) = (b); (b) = kept; } while (0)
#define struct_size(pointer, member, count) \
	(sizeof(*(pointer)) + sizeof((pointer)->member[0]) * (count))
#define check_add_overflow(a, b, sum) __builtin_add_overflow(a, b, sum)
#define check_mul_overflow(a, b, product) __builtin_mul_overflow(a, b, product)
#define pr_err(...) do { if (0) printf(__VA_ARGS__); } while (0)
/* What the kernel would warn about is a fault. */
#define WARN_ON_ONCE(condition) ({ if (condition) abort(); false; })
#define ERR_PTR(error) ((void *)(long)(error))
#define PTR_ERR(pointer) ((long)(pointer))
#define IS_ERR(pointer) ((unsigned long)(pointer) >= (unsigned long)-4095)
#define get_unaligned(pointer) ({						\
	const struct {								\
		__typeof__(*(pointer)) word;					\
	} __attribute__((packed)) *unaligned = (const void *)(pointer);		\
										\
	unaligned->word;							\
})

static inline bool kernel_isdigit(u8 c) { return c >= '0' && c <= '9'; }
static inline bool kernel_isalpha(u8 c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c >= 192 && c != 215 && c != 247);
}
static inline bool kernel_isspace(u8 c) { return (c >= 9 && c <= 13) || c == 32 || c == 160; }
static inline bool kernel_iscntrl(u8 c) { return c < 32 || c == 127; }
static inline bool kernel_isgraph(u8 c) { return (c > 32 && c < 127) || c > 160; }

#define isascii(c) ((u8)(c) < 128)
#define isdigit(c) kernel_isdigit(c)
#define isalpha(c) kernel_isalpha(c)
#define isalnum(c) (kernel_isalpha(c) || kernel_isdigit(c))
#define isspace(c) kernel_isspace(c)
#define iscntrl(c) kernel_iscntrl(c)
#define isgraph(c) kernel_isgraph(c)
#define isprint(c) (kernel_isgraph(c) || (u8)(c) == 32 || (u8)(c) == 160)
#define isupper(c) ((c) >= 'A' && (c) <= 'Z')
#define islower(c) ((c) >= 'a' && (c) <= 'z')
#define isxdigit(c) (kernel_isdigit(c) || ((c) >= 'a' && (c) <= 'f') || ((c) >= 'A' && (c) <= 'F'))

static inline bool strstarts(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static inline char *skip_spaces(const char *text)
{
	while (isspace(*text))
		text++;
	return (char *)(uintptr_t)text;
}

static inline int kstrtoull(const char *text, unsigned int base, unsigned long long *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, (int)base);
	if (errno)
		return -ERANGE;
	return end == text || *text == '-' || (*end && (*end != '\n' || end[1])) ? -EINVAL : 0;
}

static inline u32 jhash(const void *data, u32 bytes, u32 key)
{
	const u8 *at = data;

	while (bytes--)
		key = (key ^ *at++) * 16777619U;
	return key;
}

static inline u32 get_random_u32(void) { return 4; }

static inline const void *memchr_inv(const void *from, int byte, size_t bytes)
{
	const u8 *at = from;

	for (; bytes; at++, bytes--)
		if (*at != byte)
			return at;
	return NULL;
}

static inline void sort_r(void *array, size_t count, size_t bytes,
			  int (*compare)(const void *, const void *, const void *),
			  void (*swap_elements)(void *, void *, int), const void *context)
{
	(void)swap_elements;
	qsort_r(array, count, bytes, (int (*)(const void *, const void *, void *))compare,
		(void *)(uintptr_t)context);
}

/* The members of a definition that its listing reads. */
struct eventlog_event {
	const struct eventlog_provider *provider;
	const char *name;
	const char *fields_text;
	const char *preamble;
	u32 id;
	u32 level;
	u64 keywords;
};

static inline const char *eventlog_event_preamble(const struct eventlog_event *event)
{
	return event->preamble;
}

#endif /* FUZZ_KERNEL_H */
