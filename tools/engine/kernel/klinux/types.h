/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types, words of the compiler, barriers, errors, small arithmetic.
 */
#ifndef KLINUX_TYPES_H
#define KLINUX_TYPES_H

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <linux/ioctl.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned short umode_t;
typedef unsigned int gfp_t;

#define CONFIG_64BIT 1
#define CONFIG_X86 1
#define CONFIG_X86_64 1

#define U8_MAX UINT8_MAX
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define S32_MAX INT32_MAX
#define U64_MAX UINT64_MAX
#define S64_MAX INT64_MAX
#define BITS_PER_BYTE 8
#define BITS_PER_LONG 64
#define BITS_PER_LONG_LONG 64
#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE - 1))
#define PAGE_ALIGN(size) (((size) + PAGE_SIZE - 1) & PAGE_MASK)

/* ---- the compiler ---- */

#define __user
#define __rcu
#define __percpu
#define __force
#define __init
#define __exit
#define __ro_after_init
#define __read_mostly
#define __uninitialized
#define notrace
#define noinline __attribute__((noinline))
#define fallthrough __attribute__((fallthrough))
#define __used __attribute__((used))
#define __maybe_unused __attribute__((unused))
#define __must_check __attribute__((warn_unused_result))
#define __printf(text, first) __attribute__((format(printf, text, first)))
#define ____cacheline_aligned __attribute__((aligned(64)))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define static_assert _Static_assert

/* ---- words that others see; programs read and write the pages of rings ---- */

#define READ_ONCE(word) (*(const volatile __typeof__(word) *)&(word))
#define WRITE_ONCE(word, value) (*(volatile __typeof__(word) *)&(word) = (value))
#define data_race(expression) (expression)
#define barrier() __asm__ volatile("" : : : "memory")
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_mb__before_atomic() smp_mb()
#define smp_mb__after_atomic() smp_mb()
#define smp_load_acquire(word) __atomic_load_n(word, __ATOMIC_ACQUIRE)
#define smp_store_release(word, value) __atomic_store_n(word, value, __ATOMIC_RELEASE)
#define cpu_relax() barrier()

/* ---- sizes and numbers ---- */

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))
#define offsetofend(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define struct_size(pointer, member, count) \
	(sizeof(*(pointer)) + sizeof((pointer)->member[0]) * (count))
#define array_size(a, b) ((size_t)(a) * (size_t)(b))
#define check_add_overflow(a, b, sum) __builtin_add_overflow(a, b, sum)
#define check_mul_overflow(a, b, product) __builtin_mul_overflow(a, b, product)

#define min_t(type, a, b) ({							\
	type min_a = (a);							\
	type min_b = (b);							\
										\
	min_a < min_b ? min_a : min_b;						\
})
#define max_t(type, a, b) ({							\
	type max_a = (a);							\
	type max_b = (b);							\
										\
	max_a > max_b ? max_a : max_b;						\
})
#define min(a, b) min_t(__typeof__((a) + (b)), a, b)
#define max(a, b) max_t(__typeof__((a) + (b)), a, b)
#define swap(a, b) do {								\
	__typeof__(a) swapped = (a);						\
										\
	(a) = (b);								\
	(b) = swapped;								\
} while (0)

#define ALIGN(number, to) \
	(((number) + ((__typeof__(number))(to) - 1)) & ~((__typeof__(number))(to) - 1))
#define round_up(number, to) ALIGN(number, to)
#define DIV_ROUND_UP(a, b) (((a) + (b) - 1) / (b))
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define ilog2(number) (63 - __builtin_clzll(number))
#define is_power_of_2(number) ((number) && !((number) & ((number) - 1)))
#define array_index_nospec(index, count) (index)
#define div_u64(a, b) ((u64)(a) / (u32)(b))
#define div64_u64(a, b) ((u64)(a) / (u64)(b))
#define mul_u64_u64_shr(a, b, shift) ((u64)((unsigned __int128)(a) * (b) >> (shift)))

static inline unsigned long roundup_pow_of_two(unsigned long number)
{
	return number <= 1 ? 1 : 1UL << (64 - __builtin_clzl(number - 1));
}

/* ---- what must not be ---- */

#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)
#define BUILD_BUG_ON_ZERO(condition) (sizeof(struct { int : (-!!(condition)); }))
#define BUG_ON(condition) assert(!(condition))

/* What the kernel would warn about is a fault of the module. */
#define WARN_ON(condition) ({							\
	bool warned = !!(condition);						\
										\
	if (warned)								\
		klinux_warn(__FILE__, __LINE__, #condition);			\
	warned;									\
})
#define WARN_ON_ONCE(condition) WARN_ON(condition)
#define WARN(condition, ...) ({							\
	bool warned = !!(condition);						\
										\
	if (warned) {								\
		pr_err(__VA_ARGS__);						\
		klinux_warnings++;						\
	}									\
	warned;									\
})

/* How often the module has warned. */
extern unsigned int klinux_warnings;

/** klinux_warn() - the module warns: print where */
void klinux_warn(const char *file, int line, const char *condition);

#define pr_err(...) fprintf(stderr, "engine: " __VA_ARGS__)
#define pr_warn(...) pr_err(__VA_ARGS__)
#define pr_info(...) ((void)0)

#define MAX_ERRNO 4095

static inline void *ERR_PTR(long error)
{
	return (void *)error;
}

static inline long PTR_ERR(const void *pointer)
{
	return (long)pointer;
}

static inline bool IS_ERR(const void *pointer)
{
	return (unsigned long)pointer >= (unsigned long)-MAX_ERRNO;
}

static inline bool IS_ERR_OR_NULL(const void *pointer)
{
	return !pointer || IS_ERR(pointer);
}

static inline void *ERR_CAST(const void *pointer)
{
	return (void *)pointer;
}

static inline int PTR_ERR_OR_ZERO(const void *pointer)
{
	return IS_ERR(pointer) ? (int)PTR_ERR(pointer) : 0;
}

#endif /* KLINUX_TYPES_H */
