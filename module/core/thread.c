// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that can say which session they work on: see thread.h.
 */
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "core/domain.h"
#include "core/ops.h"
#include "core/thread.h"
#include "core/user.h"
#include "memory.h"

struct hlist_head eventlog_threads[1 << EVENTLOG_THREADS_BITS];
EVENTLOG_EXPORT_TO(eventlog_threads, EVENTLOG_SCHED);

DEFINE_PER_CPU(bool, eventlog_thread_runs);

static DEFINE_SPINLOCK(eventlog_threads_lock);
/* Set by eventlog_sched.ko; called with preemption off. */
static eventlog_thread_hidden_function *eventlog_thread_hidden;

/* Events of sched for each CPU and user in a tenth of a second. */
#define EVENTLOG_INTERVALS_MAX 1000

struct eventlog_thread *eventlog_thread_new(struct page *page, struct eventlog_domain *domain,
					    struct eventlog_user *user)
{
	struct eventlog_thread *thread = eventlog_alloc(sizeof(*thread));

	if (!thread)
		return NULL;
	INIT_HLIST_NODE(&thread->node);
	thread->pid = get_task_pid(current, PIDTYPE_PID);
	thread->process = get_task_pid(current, PIDTYPE_TGID);
	get_page(page);
	thread->page = page;
	thread->header = page_address(page);
	thread->instance = domain == &eventlog_root_domain ? NULL : domain;
	thread->user = user;
	return thread;
}

static void eventlog_thread_finish(struct eventlog_thread *thread)
{
	eventlog_thread_hidden_function *hidden;

	preempt_disable_notrace();
	hidden = READ_ONCE(eventlog_thread_hidden);
	if (hidden)
		hidden(thread);
	preempt_enable_notrace();
}

void eventlog_thread_publish(struct eventlog_thread *thread)
{
	struct eventlog_thread *old;

	spin_lock(&eventlog_threads_lock);
	old = eventlog_thread_find(thread->pid);
	if (old)
		hlist_del_init_rcu(&old->node);
	hlist_add_head_rcu(&thread->node,
			   &eventlog_threads[hash_ptr(thread->pid, EVENTLOG_THREADS_BITS)]);
	this_cpu_write(eventlog_thread_runs, true);
	spin_unlock(&eventlog_threads_lock);
	if (old)
		eventlog_thread_finish(old);
}
/* Behind its use: sparse takes what this declares for a variable that is not per CPU. */
EVENTLOG_EXPORT_TO(eventlog_thread_runs, EVENTLOG_SCHED);

void eventlog_thread_hide(struct eventlog_thread *thread)
{
	bool found;

	if (!thread)
		return;
	spin_lock(&eventlog_threads_lock);
	found = !hlist_unhashed(&thread->node);
	hlist_del_init_rcu(&thread->node);
	spin_unlock(&eventlog_threads_lock);
	if (found)
		eventlog_thread_finish(thread);
}

static void eventlog_thread_free_rcu(struct rcu_head *rcu)
{
	struct eventlog_thread *thread = container_of(rcu, struct eventlog_thread, rcu);

	put_page(thread->page);
	put_pid(thread->process);
	put_pid(thread->pid);
	eventlog_free(thread);
}

void eventlog_thread_drop(struct eventlog_thread *thread)
{
	if (!thread)
		return;
	eventlog_thread_hide(thread);
	call_rcu(&thread->rcu, eventlog_thread_free_rcu);
}

/* Descriptors are not used again, so one that was found needs no other look-up. */
notrace bool eventlog_thread_owns(struct eventlog_thread *thread, u32 of)
{
	if (READ_ONCE(thread->instance->dead))
		return false;
	if (likely(of == READ_ONCE(thread->known)))
		return of;
	if (!xa_load(&thread->instance->definitions, of))
		return false;
	WRITE_ONCE(thread->known, of);
	return true;
}
EVENTLOG_EXPORT_TO(eventlog_thread_owns, EVENTLOG_SCHED);

void eventlog_threads_tell(struct eventlog_domain *domain)
{
	eventlog_domain_lock(domain);
	eventlog_domain_status_session(domain, READ_ONCE(eventlog_thread_hidden));
	eventlog_domain_unlock(domain);
}

void eventlog_threads_listen(eventlog_thread_hidden_function *hidden)
{
	WRITE_ONCE(eventlog_thread_hidden, hidden);
	eventlog_threads_tell(&eventlog_root_domain);
	eventlog_mapped_ops->sessions();
}
EVENTLOG_EXPORT_TO(eventlog_threads_listen, EVENTLOG_SCHED);

/* The budget is filled up each tenth of a second, by who comes first. */
bool eventlog_thread_may_emit(const struct eventlog_thread *thread, int least)
{
	struct eventlog_user *user = thread->user;
	unsigned long now = jiffies, since;

	if (!user)
		return true;
	since = READ_ONCE(user->intervals_since);
	if (now - since >= HZ / 10 && cmpxchg(&user->intervals_since, since, now) == since)
		atomic_set(&user->intervals, EVENTLOG_INTERVALS_MAX * num_online_cpus());
	/* An event that is refused must not use up what is left for those with a lower limit. */
	return atomic_read(&user->intervals) > least && atomic_dec_return(&user->intervals) >= least;
}
EVENTLOG_EXPORT_TO(eventlog_thread_may_emit, EVENTLOG_SCHED);

u32 eventlog_stack_numbers(u32 count)
{
	static u32 next = 1;
	u32 first;

	if (next > U32_MAX - count)
		next = 1;
	first = next;
	next += count;
	return first;
}
EVENTLOG_EXPORT_TO(eventlog_stack_numbers, EVENTLOG_SCHED);
