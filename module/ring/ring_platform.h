/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The primitives that the ring buffer is built on: those of the kernel, or compiler
 * builtins in user space, where the same ring.h and ring.c are tested and
 * benchmarked.  ring.h and ring.c use no other primitives.
 *
 * eventlog_local_*() operate on words that only one CPU writes, possibly from nested
 * contexts.  They are atomic with respect to interrupts and NMIs on that CPU, but not
 * with respect to other CPUs.
 */
#ifndef EVENTLOG_RING_PLATFORM_H
#define EVENTLOG_RING_PLATFORM_H

#ifdef __KERNEL__

#include <asm/local.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

/*
 * 1 if the machine has a 64-bit compare-and-exchange that is atomic with respect to
 * interrupts.  If 0, all rings are locked, and 64-bit words are stored in halves.
 */
#ifdef CONFIG_64BIT
#define EVENTLOG_RING_LOCKLESS 1
#else
#define EVENTLOG_RING_LOCKLESS 0
#endif

/*
 * The lock of a locked ring, and the number of writers that failed to take it.  It is
 * not a spinlock: only the ring's CPU takes it and never spins, and on a kernel
 * without SMP a spinlock would not exclude nested contexts.
 */
struct eventlog_ring_lock {
	atomic_t held;
	atomic_t refused;
};

static inline void eventlog_ring_lock_init(struct eventlog_ring_lock *lock)
{
	atomic_set(&lock->held, 0);
	atomic_set(&lock->refused, 0);
}

/* Holds off interrupts while locked.  Contexts that still interrupt must not wait. */
static __always_inline bool eventlog_ring_trylock(struct eventlog_ring_lock *lock,
						  unsigned long *flags)
{
	local_irq_save(*flags);
	if (likely(!atomic_cmpxchg_acquire(&lock->held, 0, 1)))
		return true;
	local_irq_restore(*flags);
	return false;
}

static __always_inline void eventlog_ring_unlock(struct eventlog_ring_lock *lock,
						 unsigned long flags)
{
	atomic_set_release(&lock->held, 0);
	local_irq_restore(flags);
}

static __always_inline void eventlog_ring_refuse(struct eventlog_ring_lock *lock)
{
	atomic_inc(&lock->refused);
}

static __always_inline bool eventlog_ring_has_refused(struct eventlog_ring_lock *lock)
{
	return atomic_read(&lock->refused);
}

static __always_inline u32 eventlog_ring_take_refused(struct eventlog_ring_lock *lock)
{
	return atomic_xchg(&lock->refused, 0);
}

#if EVENTLOG_RING_LOCKLESS
static __always_inline u64 eventlog_local_cmpxchg(u64 *word, u64 expected, u64 value)
{
	return cmpxchg_local(word, expected, value);
}

static __always_inline u32 eventlog_local_cmpxchg_u32(u32 *word, u32 expected, u32 value)
{
	return cmpxchg_local(word, expected, value);
}

static __always_inline void eventlog_local_add(u64 *word, u64 value)
{
	BUILD_BUG_ON(sizeof(local_t) != sizeof(*word));
	local_add((long)value, (local_t *)word);
}
#endif

/* Only test builds look. */
#ifdef EVENTLOG_COUNT_STEPS
#define eventlog_ring_assert(condition) WARN_ON_ONCE(!(condition))
#else
#define eventlog_ring_assert(condition) do { } while (0)
#endif

/* 1: smp_wmb() is free, because the machine does not reorder stores. */
#define EVENTLOG_RING_STORES_ORDERED IS_ENABLED(CONFIG_X86)

static __always_inline u64 eventlog_ring_clock(void)
{
	return ktime_get_mono_fast_ns();
}

#else /* user space */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <linux/eventlog.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;

/* Tests define this as 0 to build locked rings on a 64-bit machine. */
#ifndef EVENTLOG_RING_LOCKLESS
#define EVENTLOG_RING_LOCKLESS (__SIZEOF_POINTER__ >= 8)
#endif

#undef __always_inline /* libc has one */
#define __always_inline inline __attribute__((always_inline))
#define ____cacheline_aligned __attribute__((aligned(64)))
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define ALIGN(value, to) (((value) + ((to) - 1)) & ~((typeof(value))(to) - 1))
#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)
#define READ_ONCE(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define WRITE_ONCE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#define smp_load_acquire(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define smp_store_release(word, value) __atomic_store_n((word), (value), __ATOMIC_RELEASE)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define eventlog_ring_assert(condition) assert(condition)

/*
 * On x86, use instructions without a LOCK prefix, as the kernel does.  ThreadSanitizer
 * does not understand inline assembly; with it, use the builtins, which have the
 * prefix.
 */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define EVENTLOG_LOCAL_ASM 1
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef EVENTLOG_LOCAL_ASM
#endif
#endif
#endif

#ifdef EVENTLOG_LOCAL_ASM
#define EVENTLOG_RING_STORES_ORDERED 1
#else
#define EVENTLOG_RING_STORES_ORDERED 0
#endif

/* The benchmark defines EVENTLOG_LOCAL_LOCKED to measure the cost of the prefix. */
#ifdef EVENTLOG_LOCAL_LOCKED
#define EVENTLOG_LOCAL_PREFIX "lock; "
#else
#define EVENTLOG_LOCAL_PREFIX ""
#endif

static __always_inline u64 eventlog_local_cmpxchg(u64 *word, u64 expected, u64 value)
{
#ifdef EVENTLOG_LOCAL_ASM
	u64 seen;

	/* Like the kernel's cmpxchg_local(). */
	asm volatile(EVENTLOG_LOCAL_PREFIX "cmpxchgq %2, %1"
		     : "=a"(seen), "+m"(*word)
		     : "r"(value), "0"(expected)
		     : "memory");
	return seen;
#else
	__atomic_compare_exchange_n(word, &expected, value, 0, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	return expected;
#endif
}

static __always_inline u32 eventlog_local_cmpxchg_u32(u32 *word, u32 expected, u32 value)
{
	__atomic_compare_exchange_n(word, &expected, value, 0, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	return expected;
}

static __always_inline void eventlog_local_add(u64 *word, u64 value)
{
#ifdef EVENTLOG_LOCAL_ASM
	asm volatile("addq %1, %0" : "+m"(*word) : "er"(value) : "memory");
#else
	__atomic_fetch_add(word, value, __ATOMIC_RELAXED);
#endif
}

/* In user space a locked ring has one writer thread and the signal handlers nested in it. */
struct eventlog_ring_lock {
	u32 held;
	u32 refused;
};

static inline void eventlog_ring_lock_init(struct eventlog_ring_lock *lock)
{
	lock->held = 0;
	lock->refused = 0;
}

static __always_inline bool eventlog_ring_trylock(struct eventlog_ring_lock *lock,
						  unsigned long *flags)
{
	*flags = 0;
	return !__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE);
}

static __always_inline void eventlog_ring_unlock(struct eventlog_ring_lock *lock,
						 unsigned long flags)
{
	(void)flags;
	__atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}

static __always_inline void eventlog_ring_refuse(struct eventlog_ring_lock *lock)
{
	__atomic_fetch_add(&lock->refused, 1, __ATOMIC_RELAXED);
}

static __always_inline bool eventlog_ring_has_refused(struct eventlog_ring_lock *lock)
{
	return __atomic_load_n(&lock->refused, __ATOMIC_RELAXED);
}

static __always_inline u32 eventlog_ring_take_refused(struct eventlog_ring_lock *lock)
{
	return __atomic_exchange_n(&lock->refused, 0, __ATOMIC_RELAXED);
}

/* A user-space build provides the clock: as a function, or inline in a header. */
#ifdef EVENTLOG_RING_CLOCK_HEADER
#include EVENTLOG_RING_CLOCK_HEADER
#else
u64 eventlog_ring_clock(void);
#endif

#endif /* __KERNEL__ */

#endif /* EVENTLOG_RING_PLATFORM_H */
