// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that can say which session they work on: see thread.h.
 */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "core/domain.h"
#include "core/thread.h"
#include "memory.h"

struct hlist_head eventlog_threads[1 << EVENTLOG_THREADS_BITS];
EVENTLOG_EXPORT_TO(eventlog_threads, EVENTLOG_SCHED);

DEFINE_PER_CPU(bool, eventlog_thread_runs);
EVENTLOG_EXPORT_TO(eventlog_thread_runs, EVENTLOG_SCHED);

static DEFINE_SPINLOCK(eventlog_threads_lock);

struct eventlog_thread *eventlog_thread_new(struct page *page)
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
	return thread;
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
}

void eventlog_thread_hide(struct eventlog_thread *thread)
{
	if (!thread)
		return;
	spin_lock(&eventlog_threads_lock);
	hlist_del_init_rcu(&thread->node);
	spin_unlock(&eventlog_threads_lock);
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

void eventlog_threads_listen(bool listens)
{
	struct eventlog_domain *domain = &eventlog_root_domain;

	eventlog_domain_lock(domain);
	eventlog_domain_status_session(domain, listens);
	eventlog_domain_unlock(domain);
}
EVENTLOG_EXPORT_TO(eventlog_threads_listen, EVENTLOG_SCHED);
