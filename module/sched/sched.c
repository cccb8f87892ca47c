// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_sched.ko: a provider of events for threads that work on a session and do not run.
 *
 * Probes on the tracepoints of the scheduler note when a thread with a session is switched out,
 * who wakes it, and when it is switched in.  Then an interval of min_us and more becomes an event;
 * shorter ones are summed by cause, see the schema.  Nothing is hooked while no one listens, and
 * threads without a producer ring, or without a session, cost a look-up in core/thread.h.
 *
 * The probes of context switches and of the exit run on the thread's CPU, with the lock of the run
 * queue or by the thread itself: they never run twice at the same time for a thread, and so its
 * struct eventlog_interval needs no lock.  They emit, so they must not wake a task; eventlog wakes
 * readers by irq_work.  The probe of wake-ups writes members that tolerate races.
 *
 * So the rules of all subscribers to these events are evaluated with the lock of the run queue.
 * Only those who have the capability to subscribe in the root can add them, and all rules together
 * have at most EVENTLOG_LOCKED_TERMS_MAX terms for each event.
 */
#define pr_fmt(format) "eventlog_sched: " format

#include <linux/cpumask.h>
#include <linux/hardirq.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "compat.h"
#include "core/thread.h"
#include "providers/hook.h"
#include "ring/ring_platform.h"
#include "sched/cause.h"
#include "sched/stack.h"

#define EVENTLOG_SCHED_DEFINE
#include "sched_eventlog.h"

#define SCHED_MIN_US_LEAST 10
/* Short intervals of one session become an event when they are so many times min_us in all. */
#define SCHED_SUMS_FACTOR 64

/* A user whose events exceed the budget still has so many sums. */
#define SCHED_SUMS_MAX 1000

static unsigned int sched_min_us = 100;
/* The same in nanoseconds, for the probes. */
static u32 sched_min_ns = 100 * NSEC_PER_USEC;

static int sched_min_us_set(const char *text, const struct kernel_param *parameter)
{
	unsigned int value;
	int ret = kstrtouint(text, 0, &value);

	if (ret)
		return ret;
	if (value < SCHED_MIN_US_LEAST || value > USEC_PER_SEC)
		return -EINVAL;
	WRITE_ONCE(sched_min_us, value);
	WRITE_ONCE(sched_min_ns, value * NSEC_PER_USEC);
	return 0;
}

static const struct kernel_param_ops sched_min_us_ops = {
	.set = sched_min_us_set,
	.get = param_get_uint,
};

module_param_cb(min_us, &sched_min_us_ops, &sched_min_us, 0644);
MODULE_PARM_DESC(min_us, "shorter intervals, in microseconds, have no event of their own");

/* Number of the current period in which there is a listener; written by sched_enable(). */
static u32 sched_run = 1;

/* ---- sums ---- */

static void sched_sums_clear(struct eventlog_interval *interval)
{
	memset(interval->sums, 0, sizeof(interval->sums));
	interval->total = 0;
	interval->count = 0;
}

/* Emits the sums of a thread, unless they are small.  @task is perhaps not the current one. */
static noinline void sched_sums_emit(struct eventlog_thread *thread, struct task_struct *task)
{
	struct eventlog_interval *interval = &thread->interval;
	const u64 *sums = interval->sums;
	struct eventlog_sched_sum_fields fields;

	if (eventlog_sched_sum_enabled() && interval->total >= READ_ONCE(sched_min_ns) &&
	    !eventlog_thread_may_emit(thread, -SCHED_SUMS_MAX)) {
		eventlog_provider_lose(&eventlog_sched_sum_event, thread,
				       interval->session.number, EVENTLOG_LOST_QUOTA);
	} else if (eventlog_sched_sum_enabled() && interval->total >= READ_ONCE(sched_min_ns)) {
		fields = (struct eventlog_sched_sum_fields){
			.of_ = interval->session.of,
			.count_ = interval->count,
			.runnable_ = sums[0],
			.preempted_ = sums[EVENTLOG_SCHED_CAUSE_PREEMPTED],
			.throttled_ = sums[EVENTLOG_SCHED_CAUSE_THROTTLED],
			.yield_ = sums[EVENTLOG_SCHED_CAUSE_YIELD],
			.futex_ = sums[EVENTLOG_SCHED_CAUSE_FUTEX],
			.disk_ = sums[EVENTLOG_SCHED_CAUSE_DISK],
			.file_ = sums[EVENTLOG_SCHED_CAUSE_FILE],
			.socket_ = sums[EVENTLOG_SCHED_CAUSE_SOCKET],
			.pipe_ = sums[EVENTLOG_SCHED_CAUSE_PIPE],
			.fault_ = sums[EVENTLOG_SCHED_CAUSE_FAULT],
			.sleep_ = sums[EVENTLOG_SCHED_CAUSE_SLEEP],
			.poll_ = sums[EVENTLOG_SCHED_CAUSE_POLL],
			.stopped_ = sums[EVENTLOG_SCHED_CAUSE_STOPPED],
			.other_ = sums[EVENTLOG_SCHED_CAUSE_OTHER],
		};
		eventlog_provider_emit_for(&eventlog_sched_sum_event, thread, task,
					   interval->session.number, 0, &fields,
					   sizeof(fields));
	}
	sched_sums_clear(interval);
}

/* Adds an interval that has no event of its own to the sums. */
static __always_inline void sched_sums_add(struct eventlog_thread *thread,
					   struct task_struct *task, u8 cause, u64 out,
					   u64 woken, u64 now)
{
	struct eventlog_interval *interval = &thread->interval;

	if (interval->state) {
		interval->sums[cause] += woken - out;
		interval->sums[0] += now - woken;
		/* The next wake-up may come while no one listens. */
		interval->waking.time = 0;
	} else {
		interval->sums[cause] += now - out;
	}
	interval->total += now - out;
	interval->count++;
	if (unlikely(interval->total >= SCHED_SUMS_FACTOR * (u64)READ_ONCE(sched_min_ns)))
		sched_sums_emit(thread, task);
}

/* ---- switches ---- */

/* The session of a thread of the root, which may state any: no call, so few registers are saved. */
static __always_inline struct eventlog_session
sched_session_stated(const struct eventlog_thread *thread)
{
	const struct eventlog_mapped_header *header = thread->header;

	return (struct eventlog_session){
		.number = READ_ONCE(header->session), .of = READ_ONCE(header->session_of),
	};
}

/* What the event says about the task that wakes a thread or gets its CPU. */
static __always_inline void sched_waking_note(struct eventlog_waking *waking,
					      struct task_struct *task, u8 how,
					      struct eventlog_session session)
{
	WRITE_ONCE(waking->session.of, session.of);
	WRITE_ONCE(waking->session.number, session.number);
	WRITE_ONCE(waking->tid, task->pid);
	WRITE_ONCE(waking->how, how);
	/* The task may be changing its name. */
	data_race(memcpy(waking->comm, task->comm, sizeof(waking->comm)));
}

/* The same for any task. */
static noinline void sched_waking_set(struct eventlog_waking *waking, struct task_struct *task,
				      u8 how)
{
	struct eventlog_session session = {};
	struct eventlog_thread *thread = NULL;

	if (task->flags & PF_KTHREAD)
		how |= task->pid ? EVENTLOG_SCHED_HOW_KTHREAD : 0;
	else
		thread = eventlog_thread_find(task);
	if (thread)
		session = eventlog_thread_session(thread);
	sched_waking_note(waking, task, how, session);
}

static __always_inline bool sched_session_same(const struct eventlog_session *one,
					       const struct eventlog_session *other)
{
	return one->number == other->number && one->of == other->of;
}

/* The thread could go on, but its CPU runs @next.  A thread that may run leaves no CPU idle. */
static noinline void sched_taken(struct eventlog_interval *interval, struct task_struct *prev,
				 struct task_struct *next)
{
	interval->throttled = !next->pid || eventlog_task_throttled(prev);
	interval->migrations = prev->se.nr_migrations;
	interval->idles = this_cpu_read(sched_idles);
	sched_waking_set(&interval->taker, next, 0);
}

static u64 sched_out_again(struct eventlog_thread *thread, struct task_struct *prev,
			   struct task_struct *next, unsigned int state);

static __always_inline u64 sched_out_of(struct eventlog_thread *thread, struct task_struct *prev,
					struct task_struct *next, unsigned int state,
					struct eventlog_session session)
{
	struct eventlog_interval *interval = &thread->interval;
	const u32 run = READ_ONCE(sched_run);

	if (interval->count) {
		if (interval->run != run || !sched_session_same(&session, &interval->session))
			return sched_out_again(thread, prev, next, state);
	} else {
		if (!session.of)
			return 0;
		interval->session = session;
		interval->run = run;
	}
	interval->state = state;
	interval->iowait = prev->in_iowait;
	if (!state)
		sched_taken(interval, prev, next);
	return interval->out = eventlog_ring_clock();
}

static noinline u64 sched_out_inside(struct eventlog_thread *thread, struct task_struct *prev,
				     struct task_struct *next, unsigned int state)
{
	return sched_out_of(thread, prev, next, state, eventlog_thread_session(thread));
}

/* Returns the time, or 0 if it was not needed. */
static noinline u64 sched_out(struct eventlog_thread *thread, struct task_struct *prev,
			      struct task_struct *next, unsigned int state)
{
	if (unlikely(thread->instance))
		return sched_out_inside(thread, prev, next, state);
	return sched_out_of(thread, prev, next, state, sched_session_stated(thread));
}

/* The sums are of another session, or of an earlier period: now they end. */
static noinline u64 sched_out_again(struct eventlog_thread *thread, struct task_struct *prev,
				    struct task_struct *next, unsigned int state)
{
	if (thread->interval.run == READ_ONCE(sched_run))
		sched_sums_emit(thread, prev);
	else
		sched_sums_clear(&thread->interval);
	return sched_out(thread, prev, next, state);
}

static void sched_off_emit(struct eventlog_thread *thread, struct task_struct *task, u8 cause,
			   u64 out, u64 woken, u64 now)
{
	struct eventlog_interval *interval = &thread->interval;
	const struct eventlog_waking *by = interval->state ? &interval->waking : &interval->taker;
	const bool known = !interval->state || by->time;
	/* Each byte of it is set. */
	struct eventlog_sched_off_fields fields __uninitialized;

	fields.of_ = interval->session.of;
	fields.blocked_ = woken - out;
	fields.runnable_ = now - woken;
	fields.cause_ = cause;
	fields.how_ = interval->iowait ? EVENTLOG_SCHED_HOW_IOWAIT : 0;
	if (known)
		fields.how_ |= by->how;
	if (known && by->tid) {
		fields.by_tid_ = by->tid;
		memcpy(fields.by_, by->comm, sizeof(fields.by_));
		fields.by_of_ = by->session.of;
		fields.by_session_ = by->session.of ? by->session.number : 0;
	} else {
		fields.by_tid_ = 0;
		memset(fields.by_, 0, sizeof(fields.by_));
		fields.by_of_ = 0;
		fields.by_session_ = 0;
	}
	fields.arg_ = sched_argument(task, interval, cause, &fields.call_);
	fields.stack_ = interval->state ? sched_stack(thread, task, now - out) : 0;
	eventlog_provider_emit_for(&eventlog_sched_off_event, thread, task,
				   interval->session.number, now, &fields, sizeof(fields));
}

/* An interval that is long enough for an event, if the user has one left. */
static noinline void sched_in_long(struct eventlog_thread *thread, struct task_struct *task,
				   u8 cause, u64 out, u64 woken, u64 now)
{
	if (eventlog_sched_off_enabled()) {
		if (!eventlog_thread_may_emit(thread, 0)) {
			sched_sums_add(thread, task, cause, out, woken, now);
			return;
		}
		sched_off_emit(thread, task, cause, out, woken, now);
	}
	/* As for short ones. */
	if (thread->interval.state)
		thread->interval.waking.time = 0;
}

/* @now is 0 if the clock was not read yet. */
static noinline void sched_in(struct eventlog_thread *thread, struct task_struct *task, u64 now)
{
	struct eventlog_interval *interval = &thread->interval;
	u64 out, woken;
	u8 cause;

	if (!now)
		now = eventlog_ring_clock();
	cause = sched_cause(task, interval);
	out = interval->out;
	interval->out = 0;
	if (unlikely(interval->run != READ_ONCE(sched_run)))
		return;
	/* The clocks of CPUs may differ for a moment: no time is negative. */
	now = max(out, now);
	woken = interval->state ? clamp(interval->waking.time, out, now) : out;
	if (likely(now - out < READ_ONCE(sched_min_ns)))
		sched_sums_add(thread, task, cause, out, woken, now);
	else
		sched_in_long(thread, task, cause, out, woken, now);
}

/* @state is 0 if the thread could go on. */
static __always_inline void sched_switch(struct task_struct *prev, struct task_struct *next,
					 unsigned int state)
{
	struct eventlog_thread *thread;
	u64 now = 0;

	if (this_cpu_read(eventlog_thread_runs)) {
		thread = eventlog_thread_find(prev);
		if (thread &&
		    (READ_ONCE(thread->header->session_of) || thread->interval.count))
			now = sched_out(thread, prev, next, state);
	}
	thread = eventlog_thread_find(next);
	this_cpu_write(eventlog_thread_runs, !!thread);
	if (unlikely(thread)) {
		if (thread->interval.out)
			sched_in(thread, next, now);
	} else if (!next->pid) {
		this_cpu_inc(sched_idles);
	}
}

static void __maybe_unused sched_on_switch(void *unused, bool preempt, struct task_struct *prev,
					   struct task_struct *next, unsigned int state)
{
	sched_switch(prev, next, preempt ? 0 : state);
}

/* Before 5.18. */
static void __maybe_unused sched_on_switch_old(void *unused, bool preempt,
					       struct task_struct *prev, struct task_struct *next)
{
	sched_switch(prev, next, preempt ? 0 : eventlog_task_state(prev));
}

/* By an interrupt, or by a thread of an instance or without a ring. */
static noinline void sched_waking_rarely(struct eventlog_waking *waking)
{
	if (in_hardirq()) {
		WRITE_ONCE(waking->tid, 0);
		WRITE_ONCE(waking->how, EVENTLOG_SCHED_HOW_IRQ);
	} else {
		sched_waking_set(waking, current,
				 in_serving_softirq() ? EVENTLOG_SCHED_HOW_SOFTIRQ : 0);
	}
	WRITE_ONCE(waking->time, eventlog_ring_clock());
}

/*
 * The task's pi_lock is held, unless an interrupt wakes the current task.  This may be before the
 * probe of the switch, which therefore does not clear the time.
 */
static noinline void sched_waking(struct eventlog_thread *thread)
{
	struct eventlog_waking *waking = &thread->interval.waking;
	const struct eventlog_thread *by = eventlog_thread_find(current);

	if (!by || by->instance || in_hardirq()) {
		sched_waking_rarely(waking);
		return;
	}
	sched_waking_note(waking, current, in_serving_softirq() ? EVENTLOG_SCHED_HOW_SOFTIRQ : 0,
			  sched_session_stated(by));
	WRITE_ONCE(waking->time, eventlog_ring_clock());
}

static void sched_on_waking(void *unused, struct task_struct *task)
{
	struct eventlog_thread *thread = eventlog_thread_find(task);

	if (unlikely(thread) && READ_ONCE(thread->header->session_of))
		sched_waking(thread);
}

/*
 * The sums of the current thread are emitted, also when it exits; those of another one, which may
 * be running and change them, are lost, and so is an interval that has not ended.
 */
static void sched_hidden(struct eventlog_thread *thread)
{
	struct eventlog_interval *interval = &thread->interval;
	const u32 least = READ_ONCE(sched_min_ns);
	u64 session, out;

	if (data_race(interval->run) != READ_ONCE(sched_run))
		return;
	if (thread->task == current) {
		if (interval->count)
			sched_sums_emit(thread, current);
		return;
	}
	session = data_race(interval->session.number);
	if (data_race(interval->count) && data_race(interval->total) >= least)
		eventlog_provider_lose(&eventlog_sched_sum_event, thread, session,
				       EVENTLOG_LOST_UNMAPPED);
	out = data_race(interval->out);
	if (out && eventlog_ring_clock() >= out + least)
		eventlog_provider_lose(&eventlog_sched_off_event, thread, session,
				       EVENTLOG_LOST_UNMAPPED);
}

/* ---- the module ---- */

enum {
	HOOK_SWITCH,
	HOOK_WAKING,
};

static struct eventlog_hook sched_hooks[] = {
	[HOOK_SWITCH] = EVENTLOG_HOOK_EITHER(sched_switch, sched_on_switch, sched_on_switch_old),
	[HOOK_WAKING] = EVENTLOG_HOOK(sched_waking, sched_on_waking),
	{},
};

static void sched_enable(struct eventlog_provider *provider, u64 keywords, u32 level)
{
	const bool listens = eventlog_sched_off_enabled() || eventlog_sched_sum_enabled();
	const bool takes_stacks = eventlog_sched_off_enabled() && eventlog_sched_stack_enabled();
	unsigned int cpu;

	if (takes_stacks)
		sched_stacks_listen(true);
	/* What was noted in an earlier period is of no use in this one. */
	if (listens && !sched_hooks[HOOK_SWITCH].hooked) {
		WRITE_ONCE(sched_run, sched_run + 1);
		for_each_possible_cpu(cpu)
			WRITE_ONCE(per_cpu(eventlog_thread_runs, cpu), true);
	}
	eventlog_hook_set(&sched_hooks[HOOK_WAKING], listens);
	eventlog_hook_set(&sched_hooks[HOOK_SWITCH], listens);
	if (!takes_stacks)
		sched_stacks_listen(false);
	eventlog_threads_listen(listens ? sched_hidden : NULL);
}

/* For a subscriber that has just begun to listen to stacks: it does not know those of others. */
static void sched_rundown(struct eventlog_provider *provider)
{
	sched_stacks_again();
}

static int __init eventlog_sched_init(void)
{
	int ret = sched_stacks_init();

	if (ret)
		return ret;
	eventlog_hooks_find(sched_hooks);
	eventlog_sched.rundown_keywords = EVENTLOG_SCHED_KEYWORD_STACK;
	eventlog_sched.enable = sched_enable;
	eventlog_sched.locked = true;
	eventlog_sched.rundown = sched_rundown;
	ret = eventlog_provider_register(&eventlog_sched);
	if (ret)
		sched_stacks_exit();
	return ret;
}

static void __exit eventlog_sched_exit(void)
{
	/* This calls sched_enable(), which removes all hooks. */
	eventlog_provider_unregister(&eventlog_sched);
	tracepoint_synchronize_unregister();
	sched_stacks_exit();
}

module_init(eventlog_sched_init);
module_exit(eventlog_sched_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The eventlog developers");
MODULE_DESCRIPTION("eventlog provider: where the time of sessions goes");
MODULE_VERSION(EVENTLOG_RELEASE);
EVENTLOG_IMPORT_FROM(EVENTLOG_SCHED);
