// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks, and functions that are called later: see klinux/later.h.
 */
#include <fcntl.h>
#include <unistd.h>

#include "kernel/klinux.h"

/* ---- clocks ---- */

u32 tsc_khz;

u64 ktime_get_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

u64 get_jiffies_64(void)
{
	return ktime_get_ns() / (NSEC_PER_SEC / HZ);
}

#ifdef __x86_64__

u64 rdtsc_ordered(void)
{
	__builtin_ia32_lfence();
	return __builtin_ia32_rdtsc();
}

void klinux_clock_init(void)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	u64 cycles = rdtsc_ordered(), time = ktime_get_ns();

	/* pause: what passes meanwhile is measured. */
	nanosleep(&pause, NULL);
	cycles = rdtsc_ordered() - cycles;
	time = ktime_get_ns() - time;
	tsc_khz = (u32)(cycles * 1000000 / time);
}

/* Is the counter the clock? The kernel changes it if the counter is not reliable. */
static bool is_clock(void)
{
	char name[8] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		      O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, name, sizeof(name) - 1) > 0 && !strcmp(name, "tsc\n");

	if (fd >= 0)
		close(fd);
	return is;
}

#else

u64 rdtsc_ordered(void)
{
	return 0;
}

void klinux_clock_init(void)
{
}

static bool is_clock(void)
{
	return false;
}

#endif

void ktime_get_snapshot_id(int clock, struct system_time_snapshot *snapshot)
{
	static u64 looked_at;
	static bool is;
	const u64 now = ktime_get_ns();

	/* Once a second suffices. */
	if (!looked_at || now - looked_at > NSEC_PER_SEC) {
		looked_at = now;
		is = tsc_khz && is_clock();
	}
	snapshot->cycles = is ? rdtsc_ordered() : 0;
}

/* ---- at a time ---- */

static LIST_HEAD(laters);

void klinux_later(struct klinux_later *later, u64 delay)
{
	klinux_cancel(later);
	later->at = get_jiffies_64() + delay;
	later->pending = true;
	list_add_tail(&later->node, &laters);
}

void klinux_later_once(struct klinux_later *later, u64 delay)
{
	if (!later->pending)
		klinux_later(later, delay);
}

bool klinux_cancel(struct klinux_later *later)
{
	const bool pending = later->pending;

	if (pending)
		list_del(&later->node);
	later->pending = false;
	return pending;
}

int klinux_run(void)
{
	const u64 now = get_jiffies_64();
	struct klinux_later *later, *following;
	u64 next = U64_MAX;
	LIST_HEAD(due);

	list_for_each_entry_safe(later, following, &laters, node)
		if (later->at <= now)
			list_move_tail(&later->node, &due);
	while (!list_empty(&due)) {
		later = list_first_entry(&due, struct klinux_later, node);
		klinux_cancel(later);
		later->run(later);
	}
	klinux_settle();
	list_for_each_entry(later, &laters, node)
		next = min(next, later->at);
	if (next == U64_MAX)
		return -1;
	return next <= now ? 0 : (int)(next - now);
}

void klinux_work_run(struct klinux_later *later)
{
	struct work_struct *work = container_of(later, struct work_struct, later);

	work->function(work);
}

void klinux_timer_run(struct klinux_later *later)
{
	struct timer_list *timer = container_of(later, struct timer_list, later);

	timer->function(timer);
}

void klinux_timer_set(struct timer_list *timer, unsigned long when)
{
	const unsigned long now = jiffies;

	klinux_later(&timer->later, when > now ? when - now : 0);
}

/* ---- after a call ---- */

static struct rcu_head *ended;
static struct irq_work *woken;

void call_rcu(struct rcu_head *head, void (*function)(struct rcu_head *head))
{
	head->function = function;
	head->next = ended;
	ended = head;
}

void irq_work_queue(struct irq_work *work)
{
	if (work->pending)
		return;
	work->pending = true;
	work->next = woken;
	woken = work;
}

void klinux_settle(void)
{
	struct irq_work *work;
	struct rcu_head *head;

	while (woken || ended) {
		work = woken;
		head = ended;
		if (work) {
			woken = work->next;
			work->pending = false;
			work->function(work);
		} else {
			ended = head->next;
			head->function(head);
		}
	}
}
