/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clocks, and functions that are called later: work items, timers, irq_work. The functions are in
 * later.c.
 */
#ifndef KLINUX_LATER_H
#define KLINUX_LATER_H

#include <time.h>

#include "kernel/klinux/list.h"
#include "kernel/klinux/types.h"

/* ---- clocks; a jiffy is a millisecond ---- */

#define HZ 1000
#define NSEC_PER_SEC 1000000000L
#define jiffies ((unsigned long)get_jiffies_64())
#define INITIAL_JIFFIES 0UL
#define msecs_to_jiffies(milliseconds) (milliseconds)
#define time_before(a, b) ((long)((a) - (b)) < 0)
#define ktime_get_mono_fast_ns() ktime_get_ns()
#define timespec64 timespec
#define timespec64_to_ns(time) ((time)->tv_sec * NSEC_PER_SEC + (time)->tv_nsec)
/* Callers in another time namespace are not supported. */
#define timens_add_monotonic(time) ((void)(time))

u64 ktime_get_ns(void);
u64 get_jiffies_64(void);

struct system_time_snapshot {
	u64 cycles;
};

extern u32 tsc_khz;

u64 rdtsc_ordered(void);

/** ktime_get_snapshot_id() - sets cycles to 0 if the time stamp counter is not the clock */
void ktime_get_snapshot_id(int clock, struct system_time_snapshot *snapshot);

/** klinux_clock_init() - measure how fast the counter counts; sleeps for a moment */
void klinux_clock_init(void);

/* ---- later ---- */

/**
 * struct klinux_later - a function to call at a time
 * @node: in a list, if @pending
 * @at: when, jiffies
 * @pending: it is to be called
 * @run: the function
 */
struct klinux_later {
	struct list_head node;
	u64 at;
	bool pending;
	void (*run)(struct klinux_later *later);
};

/** klinux_later() - call it in @delay jiffies, whenever it was to be called before */
void klinux_later(struct klinux_later *later, u64 delay);

/** klinux_later_once() - the same, unless it is to be called already */
void klinux_later_once(struct klinux_later *later, u64 delay);

/** klinux_cancel() - do not call it; return whether it was to be called */
bool klinux_cancel(struct klinux_later *later);

/**
 * klinux_run() - between two calls: call what is due
 *
 * Return: milliseconds until something else is due; -1: there is nothing.
 */
int klinux_run(void);

/** klinux_settle() - call what call_rcu() and irq_work_queue() have put off */
void klinux_settle(void);

struct work_struct {
	struct klinux_later later;
	void (*function)(struct work_struct *work);
};

struct delayed_work {
	struct work_struct work;
};

void klinux_work_run(struct klinux_later *later);

#define __WORK(function) { .later = { .run = klinux_work_run }, function }
#define DECLARE_WORK(name, function) struct work_struct name = __WORK(function)
#define DECLARE_DELAYED_WORK(name, function) struct delayed_work name = { __WORK(function) }
#define INIT_WORK(item, run) ((void)(*(item) = (struct work_struct)__WORK(run)))
#define INIT_DELAYED_WORK(item, run) INIT_WORK(&(item)->work, run)
#define to_delayed_work(item) container_of(item, struct delayed_work, work)
#define system_wq 0
#define schedule_work(item) klinux_later_once(&(item)->later, 0)
#define schedule_delayed_work(item, delay) klinux_later_once(&(item)->work.later, delay)
#define mod_delayed_work(queue, item, delay) klinux_later(&(item)->work.later, delay)
#define cancel_work_sync(item) klinux_cancel(&(item)->later)
#define cancel_delayed_work_sync(item) klinux_cancel(&(item)->work.later)

struct timer_list {
	struct klinux_later later;
	void (*function)(struct timer_list *timer);
};

void klinux_timer_run(struct klinux_later *later);

#define timer_setup(timer, run_function, flags) ((void)(*(timer) = (struct timer_list){ \
	.later = { .run = klinux_timer_run }, .function = (run_function) }))
#define mod_timer(timer, when) klinux_timer_set(timer, when)
#define timer_delete_sync(timer) klinux_cancel(&(timer)->later)
#define timer_container_of(container, timer, member) \
	container_of(timer, __typeof__(*container), member)

void klinux_timer_set(struct timer_list *timer, unsigned long when);

struct irq_work {
	struct irq_work *next;
	bool pending;
	void (*function)(struct irq_work *work);
};

#define init_irq_work(work, run) ((void)(*(work) = (struct irq_work){ .function = (run) }))
#define irq_work_sync(work) klinux_settle()

void irq_work_queue(struct irq_work *work);

/* Who waits finds that it is complete: what completes it was only put off. */
struct completion {
	bool done;
};

#define init_completion(completion) ((void)((completion)->done = false))
#define complete(completion) ((void)((completion)->done = true))

static inline int wait_for_completion_killable(struct completion *completion)
{
	klinux_settle();
	assert(completion->done);
	return 0;
}

#endif /* KLINUX_LATER_H */
