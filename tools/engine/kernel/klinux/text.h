/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings, bytes, hashes, sorting, random numbers. The functions are in text.c.
 *
 * The classes of characters are those of the kernel, where bytes from 160 on are letters and
 * signs, and not those of the C library.
 */
#ifndef KLINUX_TEXT_H
#define KLINUX_TEXT_H

#include "kernel/klinux/types.h"

#define be16_to_cpu(number) be16toh(number)

#define get_unaligned(pointer) ({						\
	const struct {								\
		__typeof__(*(pointer)) word;					\
	} __attribute__((packed)) *unaligned = (const void *)(pointer);		\
										\
	unaligned->word;							\
})
#define put_unaligned(value, pointer) do {					\
	struct {								\
		__typeof__(*(pointer)) word;					\
	} __attribute__((packed)) *unaligned = (void *)(pointer);		\
										\
	unaligned->word = (value);						\
} while (0)

static inline bool klinux_isdigit(u8 c)
{
	return c >= '0' && c <= '9';
}

static inline bool klinux_isalpha(u8 c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c >= 192 && c != 215 && c != 247);
}

static inline bool klinux_isspace(u8 c)
{
	return (c >= 9 && c <= 13) || c == 32 || c == 160;
}

static inline bool klinux_iscntrl(u8 c)
{
	return c < 32 || c == 127;
}

static inline bool klinux_isgraph(u8 c)
{
	return (c > 32 && c < 127) || c > 160;
}

static inline bool klinux_isprint(u8 c)
{
	return klinux_isgraph(c) || c == 32 || c == 160;
}

static inline bool klinux_isalnum(u8 c)
{
	return klinux_isalpha(c) || klinux_isdigit(c);
}

static inline bool klinux_isascii(u8 c)
{
	return c < 128;
}

#define isdigit(c) klinux_isdigit(c)
#define isalpha(c) klinux_isalpha(c)
#define isspace(c) klinux_isspace(c)
#define iscntrl(c) klinux_iscntrl(c)
#define isgraph(c) klinux_isgraph(c)
#define isprint(c) klinux_isprint(c)
#define isalnum(c) klinux_isalnum(c)
#define isascii(c) klinux_isascii(c)

static inline bool strstarts(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static inline char *skip_spaces(const char *text)
{
	while (isspace(*text))
		text++;
	return (char *)text;
}

/* As in <linux/string.h> and its neighbours. */
const void *memchr_inv(const void *from, int byte, size_t bytes);
ssize_t strscpy(char *to, const char *from, size_t room);
int kstrtoull(const char *text, unsigned int base, unsigned long long *value);
bool glob_match(const char *glob, const char *name);

u32 jhash(const void *key, u32 bytes, u32 initial);

typedef struct {
	u64 key[2];
} siphash_key_t;

u64 siphash(const void *data, size_t bytes, const siphash_key_t *key);
u64 siphash_4u64(u64 a, u64 b, u64 c, u64 d, const siphash_key_t *key);

#define hash_ptr(pointer, bits) \
	((unsigned int)((u64)(uintptr_t)(pointer) * 0x9e3779b97f4a7c15ULL >> (64 - (bits))))

void get_random_bytes(void *to, size_t bytes);

static inline u32 get_random_u32(void)
{
	u32 number;

	get_random_bytes(&number, sizeof(number));
	return number;
}

#define sort(base, count, size, compare, swap_function) qsort(base, count, size, compare)
#define sort_r(base, count, size, compare, swap_function, context) \
	klinux_sort(base, count, size, compare, context)

/** klinux_sort() - qsort_r(3), whose types for the context are others */
void klinux_sort(void *base, size_t count, size_t size,
		 int (*compare)(const void *left, const void *right, const void *context),
		 const void *context);

#endif /* KLINUX_TEXT_H */
