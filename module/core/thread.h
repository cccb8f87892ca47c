/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that can say which session they work on: those with a producer ring, whose header has the
 * session, see session_of in <uapi/linux/eventlog.h>; and those without a ring that have written
 * EVENTLOG_WRITE_SESSION.  eventlog_sched.ko finds a thread here at each context switch.
 *
 * The provider sched belongs to the root, so listeners of an instance get nothing about other
 * threads.  A thread whose ring belongs to an instance has a session only if that is of a provider
 * of the instance: it cannot add its time to a session of its neighbours.
 *
 * The key of the table is the task.  Its entries go when it exits or executes another program, see
 * user/watch.h, so another task never has them.  The table has one entry of a thread, the latest:
 * no one can make a chain of it long.  Those of the thread's older rings are in a list behind it,
 * and say nothing about sessions any more.
 *
 * eventlog_threads_lock, a raw spin lock that is taken by tasks only, also in probes, protects the
 * chains and the lists of files; what is done with it takes a constant time, besides the walk
 * along a chain.  Readers use RCU.  An entry belongs to its ring or to the list of a file, and is
 * freed an RCU grace period after it was dropped.  That of a ring has a reference to the page of
 * the header, which hostile threads write; the other one has a header of its own.
 *
 * What eventlog_sched.ko keeps about a thread is in the entry, too.  Only the CPU that switches
 * the thread in or out writes it, with the lock of the run queue, except for the members of struct
 * eventlog_waking.
 */
#ifndef EVENTLOG_THREAD_H
#define EVENTLOG_THREAD_H

#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_domain;
struct eventlog_provider_event;
struct eventlog_user;
struct page;
struct pid;

/**
 * struct eventlog_session - a session as a thread states it
 * @number: the session
 * @of: descriptor of an event of its provider; 0: there is no session
 */
struct eventlog_session {
	u64 number;
	u32 of;
};

/**
 * struct eventlog_waking - who wakes a thread, or gets its CPU
 * @time: when it woke it; 0: all is unknown.  Not set by who gets its CPU
 * @session: of the waker
 * @comm: name of the waker
 * @tid: the waker, in the initial pid namespace; 0: none, then @session and @comm are not set
 * @how: flags of the schema
 */
struct eventlog_waking {
	u64 time;
	struct eventlog_session session;
	char comm[TASK_COMM_LEN];
	u32 tid;
	u8 how;
};

#define EVENTLOG_CAUSES	14

/**
 * struct eventlog_interval - what eventlog_sched.ko knows about a thread
 * @out: when it was switched out; 0: it was not, or without a session
 * @session: of the thread at that time; also that of the sums
 * @run: number of the period with a listener in which that was
 * @state: what it waited in, TASK_*; 0: for a CPU only
 * @count: number of short intervals
 * @iowait: it waits for a block device
 * @throttled: it was throttled, or its CPU became idle; only if it waits for a CPU
 * @migrations: how often it had moved to another CPU; only if it waits for one
 * @idles: how often its CPU had become idle; the same
 * @waking: who woke it; written by that task, on any CPU, before the thread is switched in.  In
 *	rare cases two write it at the same time: then each member is of one of them
 * @taker: who got its CPU; only if it waits for one
 * @total: time in short intervals
 * @sums: the same by cause; [0]: woken and not running
 */
struct eventlog_interval {
	u64 out;
	struct eventlog_session session;
	u32 run;
	u32 state;
	u32 count;
	bool iowait;
	bool throttled;
	u32 migrations;
	u32 idles;
	struct eventlog_waking waking;
	struct eventlog_waking taker;
	u64 total;
	u64 sums[EVENTLOG_CAUSES];
};

/**
 * struct eventlog_thread - a thread that can say what it works on
 * @node: in eventlog_threads, if it is the first one of @of_task; eventlog_threads_lock
 * @task: the thread, to compare with, while the entry can be found
 * @header: of its ring, through the kernel's own mapping of @page; otherwise the kernel's memory.
 *	One that is always 0 if the thread has got a later entry
 * @instance: the domain of the ring, valid while the entry can be found; NULL: the root
 * @known: a descriptor of an event of @instance, or 0
 * @interval: for eventlog_sched.ko
 * @pid: the thread, with a reference
 * @process: its process, with a reference
 * @page: of its ring, with a reference; NULL: it has no ring
 * @user: of the ring or the file, which keeps it while the entry can be found; NULL: a user
 *	without limits
 * @of_file: in the list of the file by which it has written its session; empty: it has a ring;
 *	eventlog_threads_lock
 * @file: the head of that list, to compare with; NULL: it has a ring.  Only the thread changes it
 * @of_task: the entries of the thread, the latest first; there is no head; eventlog_threads_lock
 * @others: how many follow the first one; eventlog_threads_lock
 * @left: since it got the ring, the thread has exited, or was about to execute another program
 * @replaced: the latter
 * @final: what it had committed then
 * @rcu: frees it
 *
 * What a context switch needs of a thread without a session comes first.
 */
struct eventlog_thread {
	struct hlist_node node;
	const struct task_struct *task;
	struct eventlog_mapped_header *header;
	struct eventlog_domain *instance;
	u32 known;
	struct eventlog_interval interval;
	struct pid *pid;
	struct pid *process;
	struct page *page;
	struct eventlog_user *user;
	struct list_head of_file;
	const struct list_head *file;
	struct list_head of_task;
	unsigned int others;
	bool left;
	bool replaced;
	u32 final;
	struct rcu_head rcu;
};

#define EVENTLOG_THREADS_BITS 12

extern struct hlist_head eventlog_threads[1 << EVENTLOG_THREADS_BITS];

/* The thread that runs on the CPU may have an entry.  eventlog_sched.ko and publishing write it. */
DECLARE_PER_CPU(bool, eventlog_thread_runs);

/**
 * eventlog_thread_find() - find the entry of a thread
 * @task: the thread
 *
 * Any context but NMI, preemption off; RCU watches the CPU.  The entry is valid until preemption
 * is on again.
 *
 * Return: the entry, or NULL.
 */
static __always_inline struct eventlog_thread *eventlog_thread_find(const struct task_struct *task)
{
	struct hlist_head *chain = &eventlog_threads[hash_ptr(task, EVENTLOG_THREADS_BITS)];
	struct eventlog_thread *thread;

	hlist_for_each_entry_rcu_notrace(thread, chain, node)
		if (thread->task == task)
			return thread;
	return NULL;
}

/**
 * eventlog_thread_owns() - is an event one of the instance of a thread
 * @thread: found, of an instance
 * @of: descriptor of any event, or any other number
 *
 * Any context but NMI, preemption off.
 *
 * Return: false as well after the instance was deleted.
 */
bool eventlog_thread_owns(struct eventlog_thread *thread, u32 of);

/**
 * eventlog_thread_session() - what a thread works on
 * @thread: the current thread, one that is not running, or any other one: then the result may be
 *	half of one session and half of another
 *
 * Any context but NMI, preemption off.
 *
 * Return: the session; of is 0: none.
 */
static __always_inline struct eventlog_session
eventlog_thread_session(struct eventlog_thread *thread)
{
	struct eventlog_session session = { .of = READ_ONCE(thread->header->session_of) };

	if (unlikely(thread->instance) && !eventlog_thread_owns(thread, session.of))
		session.of = 0;
	if (session.of)
		session.number = READ_ONCE(thread->header->session);
	return session;
}

/**
 * eventlog_thread_new() - make an entry for the current thread
 * @page: the first page of its ring, in memory that the kernel always maps; NULL: it has no ring
 * @domain: of the ring, or the root.  The caller hides the entry before it puts the domain
 * @user: of the ring; the caller has a reference until it has dropped the entry
 *
 * Process context, sleeps.  The memory is charged to the process.
 *
 * Return: the entry, which no one can find yet; NULL: there is no memory.
 */
struct eventlog_thread *eventlog_thread_new(struct page *page, struct eventlog_domain *domain,
					    struct eventlog_user *user);

/**
 * eventlog_thread_full() - has the current thread as many rings as it may have
 *
 * Only the thread itself gets another one.  Process context.
 */
bool eventlog_thread_full(void);

/**
 * eventlog_thread_publish() - have the current thread found
 * @thread: of the current thread, with a ring.  Takes the place of another entry of it
 *
 * Process context; eventlog_watch() has returned 0, and eventlog_thread_full() false.
 */
void eventlog_thread_publish(struct eventlog_thread *thread);

/**
 * eventlog_thread_hide() - have a thread not found any more
 * @thread: published or not, or NULL
 *
 * Process context.
 */
void eventlog_thread_hide(struct eventlog_thread *thread);

/**
 * eventlog_thread_drop() - hide an entry, and free it after an RCU grace period
 * @thread: published or not, or NULL
 *
 * Process context.
 */
void eventlog_thread_drop(struct eventlog_thread *thread);

/**
 * eventlog_thread_state() - let the current thread's entry have another session
 * @file: the list of the file by which it says so
 * @session: the session
 *
 * The entry may be that of a ring: then the session is in its header, as if the thread had stored
 * it there.
 *
 * Process context.
 *
 * Return: 0; -ENOENT: the thread has no entry, or it is in the list of another file, and there is a
 * session: call eventlog_thread_enlist(); -EOPNOTSUPP: the ring is of an instance, of which the
 * session is not, and nothing was changed.
 */
int eventlog_thread_state(const struct list_head *file, const struct eventlog_session *session);

/**
 * eventlog_thread_enlist() - make an entry with a session for the current thread, without a ring
 * @file: the list of the file, which stays until eventlog_threads_release()
 * @user: of the file, which has a reference as long
 * @session: the session
 *
 * An entry that is in the list of another file of @user is moved.  Otherwise a new one takes the
 * place of what the thread has, and its memory is charged to the process, and to @user as that of
 * rings is.
 *
 * Process context, sleeps; eventlog_watch() has returned 0.
 *
 * Return: 0, -EDQUOT or -ENOMEM.
 */
int eventlog_thread_enlist(struct list_head *file, struct eventlog_user *user,
			   const struct eventlog_session *session);

/**
 * eventlog_thread_leave() - the current thread exits, or is about to execute another program
 * @executes: the latter
 *
 * Drops its entry if that is in the list of a file.  Hides those of its rings, and notes what was
 * committed to them: another process may share the memory and go on with it.
 *
 * Task context; preemption may be off.
 */
void eventlog_thread_leave(bool executes);

/**
 * eventlog_thread_left() - has the thread of a ring left it so
 * @thread: of a ring
 * @final: set to what it had committed, if true is returned.  What was read from the ring's header
 *	before the call, if false is returned, was committed before the thread left
 *
 * Any context.
 */
bool eventlog_thread_left(const struct eventlog_thread *thread, u32 *final);

/**
 * eventlog_threads_release() - drop all entries that are in the list of a file
 * @file: the list, to which nothing can be added any more
 *
 * Process context, sleeps.
 */
void eventlog_threads_release(struct list_head *file);

/*
 * What to do with an entry that was just hidden: of the current thread, or of any other one, which
 * may be running.  Preemption is off.
 */
typedef void eventlog_thread_hidden_function(struct eventlog_thread *thread);

/**
 * eventlog_threads_listen() - say to programs whether sessions of threads are of interest
 * @hidden: called from now on; NULL: they are not of interest.  A function that was replaced may
 *	run until an RCU grace period has ended
 *
 * Sets or clears EVENTLOG_STATUS_SESSION of all events of the root, and soon after that of those of
 * instances.  If they are not of interest, ends those that threads state only for that time: see
 * EVENTLOG_SESSION_LISTENED.
 *
 * Process context, sleeps; the root domain is not locked.
 */
void eventlog_threads_listen(eventlog_thread_hidden_function *hidden);

/**
 * eventlog_threads_tell() - set EVENTLOG_STATUS_SESSION of the events of a domain
 * @domain: the domain, not locked
 *
 * Process context, sleeps.  Each time that the value changes, the function sessions of struct
 * eventlog_mapped_ops has this called for all instances.
 */
void eventlog_threads_tell(struct eventlog_domain *domain);

/**
 * eventlog_threads_forget() - end the sessions that threads state only while someone listens
 *
 * Those with EVENTLOG_SESSION_LISTENED; a thread that states one meanwhile may keep it.  If someone
 * listens, nothing is done.
 *
 * Process context, sleeps.
 */
void eventlog_threads_forget(void);

/**
 * eventlog_thread_may_emit() - take one event from the budget of a thread's user
 * @thread: found
 * @least: how low the budget may be afterwards, at most 0: what is more urgent may overdraw it
 *
 * A user without rights can cause so many events in all as one CPU could deliver on each CPU.
 * Any context but NMI, preemption off.
 */
bool eventlog_thread_may_emit(const struct eventlog_thread *thread, int least);

/**
 * eventlog_thread_may_add_stack() - take one from the budget of new stacks of a thread's user
 * @thread: found
 * @generation: when it changes, stacks have been forgotten: the budget begins again, if the last
 *	period has lasted for a second
 * @most: what a user may add in EVENTLOG_STACKS_PERIOD; all users without limits count as one, and
 *	so do the instances of an owner who is not root, of which one may add half as many
 *
 * Any context but NMI, preemption off.
 */
bool eventlog_thread_may_add_stack(const struct eventlog_thread *thread, u32 generation, int most);

/**
 * eventlog_stack_number() - get a number for a stack
 *
 * No one else gets the same one, even if eventlog_sched.ko is loaded again meanwhile: a capture may
 * outlive it.  Any context.
 *
 * Return: the number, which is not 0.
 */
u32 eventlog_stack_number(void);

/**
 * eventlog_provider_lose() - count an event of a provider as lost
 * @event: an event of a provider, registered or not
 * @thread: whose event it would have been
 * @session: its session
 * @cause: why
 *
 * For each subscriber with rings that has a rule for the event, the thread and the session,
 * whatever its filter is.
 *
 * Context: any but NMI, preemption off.
 */
void eventlog_provider_lose(struct eventlog_provider_event *event,
			    const struct eventlog_thread *thread, u64 session,
			    enum eventlog_lost cause);

/**
 * eventlog_provider_emit_for() - deliver an event of another thread than the current one
 * @event: an event of a provider, registered or not
 * @thread: whose event it is
 * @task: the thread
 * @session: the session; 0: none
 * @time: eventlog_ring_clock() of a moment ago; 0: it is read
 * @fields: the fixed part, which is the whole payload
 * @bytes: size of @fields
 *
 * As eventlog_provider_emit(), which would attribute the event to the current thread: in the
 * middle of a context switch that is still the previous one.  Tracers of the kernel see that one.
 *
 * Context: any but NMI, preemption off.
 */
void eventlog_provider_emit_for(struct eventlog_provider_event *event,
				const struct eventlog_thread *thread,
				const struct task_struct *task, u64 session, u64 time,
				const void *fields, u32 bytes);

#endif /* EVENTLOG_THREAD_H */
