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

static DEFINE_RAW_SPINLOCK(eventlog_threads_lock);
/* Set by eventlog_sched.ko; called with preemption off. */
static eventlog_thread_hidden_function *eventlog_thread_hidden;

/* Events of sched for each CPU and user in a tenth of a second. */
#define EVENTLOG_INTERVALS_MAX 1000

/* Rings of a thread: its exit takes a step for each, with preemption off. */
#define EVENTLOG_THREAD_RINGS_MAX EVENTLOG_MAPPED_RINGS_MAX

/* What entries that do not count have for a header: no session. */
static struct eventlog_mapped_header eventlog_thread_silent;

struct eventlog_thread *eventlog_thread_new(struct page *page, struct eventlog_domain *domain,
					    struct eventlog_user *user)
{
	struct eventlog_thread *thread;

	thread = eventlog_alloc(sizeof(*thread) + (page ? 0 : sizeof(*thread->header)));
	if (!thread)
		return NULL;
	INIT_HLIST_NODE(&thread->node);
	INIT_LIST_HEAD(&thread->of_file);
	INIT_LIST_HEAD(&thread->of_task);
	thread->task = current;
	thread->pid = get_task_pid(current, PIDTYPE_PID);
	thread->process = get_task_pid(current, PIDTYPE_TGID);
	if (page)
		get_page(page);
	thread->page = page;
	thread->header = page ? page_address(page) : (void *)(thread + 1);
	thread->instance = domain == &eventlog_root_domain ? NULL : domain;
	thread->user = user;
	return thread;
}

static void eventlog_thread_free_rcu(struct rcu_head *rcu)
{
	struct eventlog_thread *thread = container_of(rcu, struct eventlog_thread, rcu);

	if (thread->page)
		put_page(thread->page);
	put_pid(thread->process);
	put_pid(thread->pid);
	eventlog_free(thread);
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

/* The memory of an entry without a ring, which counts as that of a ring. */
static unsigned long eventlog_thread_bytes(void)
{
	return eventlog_alloc_bytes(sizeof(struct eventlog_thread) +
				    sizeof(struct eventlog_mapped_header));
}

static struct hlist_head *eventlog_thread_chain(const struct eventlog_thread *thread)
{
	return &eventlog_threads[hash_ptr(thread->task, EVENTLOG_THREADS_BITS)];
}

/* Does an entry say what its thread works on?  An older one of the thread does not. */
static bool eventlog_thread_counts(const struct eventlog_thread *thread)
{
	return thread->header != &eventlog_thread_silent;
}

/*
 * Takes an entry out of the table, in which the next older one of its thread takes its place.
 *
 * Return: whether it counted, and was not hidden before.
 */
static bool eventlog_thread_unhash(struct eventlog_thread *thread)
{
	struct eventlog_thread *first = thread;

	lockdep_assert_held(&eventlog_threads_lock);
	if (list_empty(&thread->of_task) && hlist_unhashed(&thread->node))
		return false;
	if (hlist_unhashed(&thread->node)) {
		first = eventlog_thread_find(thread->task);
		first->others--;
	} else if (thread->others) {
		first = list_next_entry(thread, of_task);
		first->others = thread->others - 1;
		thread->others = 0;
		hlist_add_head_rcu(&first->node, eventlog_thread_chain(first));
	}
	hlist_del_init_rcu(&thread->node);
	list_del_init(&thread->of_task);
	return eventlog_thread_counts(thread);
}

/*
 * Takes an entry out of the list of its file, which may go away as soon as the lock is free.
 *
 * Return: @thread, for eventlog_thread_end(); NULL: there is none, or it has a ring.
 */
static struct eventlog_thread *eventlog_thread_unlist(struct eventlog_thread *thread)
{
	lockdep_assert_held(&eventlog_threads_lock);
	if (!thread || list_empty(&thread->of_file))
		return NULL;
	list_del_init(&thread->of_file);
	eventlog_thread_unhash(thread);
	eventlog_user_uncharge_ring(thread->user, eventlog_thread_bytes());
	return thread;
}

/* Frees what eventlog_thread_unlist() has returned. */
static void eventlog_thread_end(struct eventlog_thread *thread)
{
	if (!thread)
		return;
	eventlog_thread_finish(thread);
	call_rcu(&thread->rcu, eventlog_thread_free_rcu);
}

/* @file: the list that the entry gets into; NULL: it has a ring. */
static void eventlog_thread_add(struct eventlog_thread *thread, struct list_head *file)
{
	struct eventlog_thread *old, *listed, *counted = NULL;

	/* Of an entry that has a ring, which another thread may unmap. */
	rcu_read_lock();
	raw_spin_lock(&eventlog_threads_lock);
	listed = eventlog_thread_unlist(eventlog_thread_find(current));
	old = eventlog_thread_find(current);
	if (old) {
		thread->others = old->others + 1;
		list_add_tail(&thread->of_task, &old->of_task);
		counted = eventlog_thread_counts(old) ? old : NULL;
		WRITE_ONCE(old->header, &eventlog_thread_silent);
		old->others = 0;
		hlist_del_init_rcu(&old->node);
	}
	hlist_add_head_rcu(&thread->node, eventlog_thread_chain(thread));
	if (file)
		list_add_tail(&thread->of_file, file);
	this_cpu_write(eventlog_thread_runs, true);
	raw_spin_unlock(&eventlog_threads_lock);
	eventlog_thread_end(listed);
	if (counted)
		eventlog_thread_finish(counted);
	rcu_read_unlock();
}

bool eventlog_thread_full(void)
{
	const struct eventlog_thread *thread;
	bool full;

	preempt_disable_notrace();
	thread = eventlog_thread_find(current);
	full = thread && READ_ONCE(thread->others) >= EVENTLOG_THREAD_RINGS_MAX - 1;
	preempt_enable_notrace();
	return full;
}

void eventlog_thread_publish(struct eventlog_thread *thread)
{
	eventlog_thread_add(thread, NULL);
}
/* Behind its use: sparse takes what this declares for a variable that is not per CPU. */
EVENTLOG_EXPORT_TO(eventlog_thread_runs, EVENTLOG_SCHED);

void eventlog_thread_hide(struct eventlog_thread *thread)
{
	bool counted;

	if (!thread)
		return;
	raw_spin_lock(&eventlog_threads_lock);
	counted = eventlog_thread_unhash(thread);
	raw_spin_unlock(&eventlog_threads_lock);
	if (counted)
		eventlog_thread_finish(thread);
}

void eventlog_thread_drop(struct eventlog_thread *thread)
{
	if (!thread)
		return;
	eventlog_thread_hide(thread);
	call_rcu(&thread->rcu, eventlog_thread_free_rcu);
}

/* Notes what the thread has committed.  Others may share its memory, and should not go on. */
static void eventlog_thread_close(struct eventlog_thread *thread, bool executes)
{
	struct eventlog_mapped_header *header = page_address(thread->page);

	WRITE_ONCE(thread->final, READ_ONCE(header->committed));
	WRITE_ONCE(thread->replaced, executes);
	smp_store_release(&thread->left, true);
	/* Pairs with the barrier in eventlog_mapped_ask(): the later of both sees the other. */
	smp_mb();
	WRITE_ONCE(header->ask, EVENTLOG_MAPPED_ASK_LEAVE | EVENTLOG_MAPPED_ASK_ENDED);
}

void eventlog_thread_leave(bool executes)
{
	struct eventlog_thread *thread, *listed;
	bool counted;

	preempt_disable_notrace();
	while ((thread = eventlog_thread_find(current))) {
		raw_spin_lock(&eventlog_threads_lock);
		/*
		 * Another thread that has taken the ring over has hidden the entry, and the header
		 * is that of its own.  Note it before it is hidden: when the entry is not found
		 * any more, its pid may be used again.
		 */
		if (thread->page && !hlist_unhashed(&thread->node))
			eventlog_thread_close(thread, executes);
		listed = eventlog_thread_unlist(thread);
		counted = !listed && eventlog_thread_unhash(thread);
		raw_spin_unlock(&eventlog_threads_lock);
		if (counted)
			eventlog_thread_finish(thread);
		eventlog_thread_end(listed);
	}
	preempt_enable_notrace();
}

bool eventlog_thread_left(const struct eventlog_thread *thread, u32 *final)
{
	/* Pairs with the release in eventlog_thread_close(). */
	if (!smp_load_acquire(&thread->left))
		return false;
	*final = READ_ONCE(thread->final);
	return true;
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
	bool listened;

	eventlog_domain_lock(domain);
	/* Not before: the last one that has the lock sets the newest value. */
	listened = READ_ONCE(eventlog_thread_hidden);
	eventlog_domain_status_session(domain, listened);
	if (!listened)
		eventlog_domain_generation_bump(domain);
	eventlog_domain_unlock(domain);
}

/* ---- without a ring ---- */

/* In the order of a thread that stores it, so that others do not find one that is half set. */
static void eventlog_thread_set(struct eventlog_thread *thread,
				const struct eventlog_session *session)
{
	WRITE_ONCE(thread->header->session_of, 0);
	barrier();
	WRITE_ONCE(thread->header->session, session->number);
	WRITE_ONCE(thread->header->session_flags, EVENTLOG_SESSION_LISTENED);
	barrier();
	WRITE_ONCE(thread->header->session_of, session->of);
}

int eventlog_thread_state(const struct list_head *file, const struct eventlog_session *session)
{
	struct eventlog_thread *thread;
	int ret = 0;

	/* No lock: only this thread gets itself an entry, and one that is dropped is not freed. */
	preempt_disable_notrace();
	thread = eventlog_thread_find(current);
	if (thread && !eventlog_thread_counts(thread))
		thread = NULL;
	if (session->of && (!thread || (thread->file && thread->file != file)))
		ret = -ENOENT;
	else if (session->of && thread->instance && !eventlog_thread_owns(thread, session->of))
		ret = -EOPNOTSUPP;
	else if (thread)
		eventlog_thread_set(thread, session);
	preempt_enable_notrace();
	return ret;
}

/*
 * Puts the current thread's entry from the list of another file into this one.  Nothing is charged,
 * so a user at the limit can use any of its files.
 *
 * Return: false: it has no entry in a list, or that is of another user.
 */
static bool eventlog_thread_move(struct list_head *file, const struct eventlog_user *user,
				 const struct eventlog_session *session)
{
	struct eventlog_thread *thread;
	bool moved;

	raw_spin_lock(&eventlog_threads_lock);
	thread = eventlog_thread_find(current);
	moved = thread && !list_empty(&thread->of_file) && thread->user == user;
	if (moved) {
		list_move_tail(&thread->of_file, file);
		thread->file = file;
		eventlog_thread_set(thread, session);
	}
	raw_spin_unlock(&eventlog_threads_lock);
	return moved;
}

int eventlog_thread_enlist(struct list_head *file, struct eventlog_user *user,
			   const struct eventlog_session *session)
{
	struct eventlog_thread *thread;

	if (eventlog_thread_move(file, user, session))
		return 0;
	if (!eventlog_user_charge_ring(user, eventlog_thread_bytes()))
		return -EDQUOT;
	thread = eventlog_thread_new(NULL, &eventlog_root_domain, user);
	if (!thread) {
		eventlog_user_uncharge_ring(user, eventlog_thread_bytes());
		return -ENOMEM;
	}
	thread->file = file;
	eventlog_thread_set(thread, session);
	eventlog_thread_add(thread, file);
	return 0;
}

void eventlog_threads_release(struct list_head *file)
{
	struct eventlog_thread *thread;

	do {
		raw_spin_lock(&eventlog_threads_lock);
		thread = list_first_entry_or_null(file, struct eventlog_thread, of_file);
		thread = eventlog_thread_unlist(thread);
		raw_spin_unlock(&eventlog_threads_lock);
		eventlog_thread_end(thread);
		cond_resched();
	} while (thread);
}

/* ---- what eventlog_sched.ko needs ---- */

void eventlog_threads_forget(void)
{
	struct eventlog_thread *thread;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(eventlog_threads) && !READ_ONCE(eventlog_thread_hidden); i++) {
		rcu_read_lock();
		hlist_for_each_entry_rcu(thread, &eventlog_threads[i], node)
			if (READ_ONCE(thread->header->session_flags) & EVENTLOG_SESSION_LISTENED)
				WRITE_ONCE(thread->header->session_of, 0);
		rcu_read_unlock();
		cond_resched();
	}
}

void eventlog_threads_listen(eventlog_thread_hidden_function *hidden)
{
	WRITE_ONCE(eventlog_thread_hidden, hidden);
	eventlog_threads_tell(&eventlog_root_domain);
	eventlog_mapped_ops->sessions();
	eventlog_threads_forget();
}
EVENTLOG_EXPORT_TO(eventlog_threads_listen, EVENTLOG_SCHED);

/*
 * Takes one of @most, if at least @least are left then.  A period also ends when @generation
 * changes, but lasts for a second at least.
 */
static bool eventlog_budget_take(struct eventlog_budget *budget, unsigned long period,
				 u32 generation, int most, int least)
{
	unsigned long now = jiffies, since = READ_ONCE(budget->since), elapsed = now - since;

	if ((elapsed >= period ||
	     (elapsed >= HZ && READ_ONCE(budget->generation) != generation)) &&
	    cmpxchg(&budget->since, since, now) == since) {
		WRITE_ONCE(budget->generation, generation);
		atomic_set(&budget->left, most);
	}
	/* What is refused must not use up what is left for those with a lower limit. */
	return atomic_read(&budget->left) > least && atomic_dec_return(&budget->left) >= least;
}

bool eventlog_thread_may_emit(const struct eventlog_thread *thread, int least)
{
	struct eventlog_user *user = thread->user;

	return !user || eventlog_budget_take(&user->intervals, HZ / 10, 0,
					     EVENTLOG_INTERVALS_MAX * num_online_cpus(), least);
}
EVENTLOG_EXPORT_TO(eventlog_thread_may_emit, EVENTLOG_SCHED);

/* From 0 downwards, because eventlog_sched.ko may be loaded with another size meanwhile. */
static bool eventlog_stacks_take(struct eventlog_budget *budget, u32 generation, int most)
{
	return eventlog_budget_take(budget, EVENTLOG_STACKS_PERIOD, generation, 0, -most);
}

bool eventlog_thread_may_add_stack(const struct eventlog_thread *thread, u32 generation, int most)
{
	static struct eventlog_budget unlimited = {
		.since = INITIAL_JIFFIES - EVENTLOG_STACKS_PERIOD,
	};
	struct eventlog_user *user = thread->user, *owner = user ? user->owner : NULL;

	if (!user)
		return eventlog_stacks_take(&unlimited, generation, most);
	if (!owner || uid_eq(owner->uid, GLOBAL_ROOT_UID))
		return eventlog_stacks_take(&user->stacks, generation, most);
	/*
	 * Others than root could make one instance after the other, so those of an owner share a
	 * budget.  One of them cannot use up more than half of it.
	 */
	return eventlog_stacks_take(&user->stacks, generation, most / 2) &&
	       eventlog_stacks_take(&owner->stacks_of_instances, generation, most);
}
EVENTLOG_EXPORT_TO(eventlog_thread_may_add_stack, EVENTLOG_SCHED);

u32 eventlog_stack_number(void)
{
	static atomic_t last;

	return (u32)atomic_inc_return(&last) ?: (u32)atomic_inc_return(&last);
}
EVENTLOG_EXPORT_TO(eventlog_stack_number, EVENTLOG_SCHED);
