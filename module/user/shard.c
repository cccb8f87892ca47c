// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shards: see shard.h.
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "compat.h"
#include "core/event.h"
#include "core/types.h"
#include "core/thread.h"
#include "core/user.h"
#include "memory.h"
#include "user/file.h"
#include "user/producer.h"
#include "user/shard.h"

/* How often the worker looks at active rings. */
#define EVENTLOG_SHARD_PERIOD msecs_to_jiffies(10)

/*
 * How long a ring stays active after its thread was asked to kick, in nanoseconds: a store
 * of the thread before that is visible by then.
 */
#define EVENTLOG_SHARD_SETTLE 5000000ULL

/*
 * Rings looked at and records delivered, at most, without giving up the lock.  A record counts once
 * more for so many bytes that are copied of it, and all that again for each subscriber's copy.
 */
#define EVENTLOG_SHARD_BUDGET 4096
#define EVENTLOG_SHARD_STEP_BYTES 256

/* The key of a ring whose next record is not for this pass. */
#define EVENTLOG_KEY_NONE U64_MAX

/* ---- references ---- */

static void eventlog_mapped_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_mapped, rcu));
}

static void eventlog_mapped_free(struct eventlog_mapped *ring)
{
	eventlog_user_uncharge_ring(ring->user, PAGE_SIZE + ring->data_bytes);
	/* Before the user goes: who finds the thread under RCU also finds the user. */
	eventlog_thread_drop(ring->running);
	eventlog_user_put(ring->user);
	eventlog_pages_free(&ring->pages);
	put_pid(ring->emitter.process);
	put_pid(ring->emitter.thread);
	mmdrop(ring->mm);
	call_rcu(&ring->rcu, eventlog_mapped_free_rcu);
}

void eventlog_mapped_put(struct eventlog_mapped *ring)
{
	if (refcount_dec_and_test(&ring->users))
		eventlog_mapped_free(ring);
}

/* ---- the lock ---- */

void eventlog_shard_lock(struct eventlog_shard *shard)
{
	mutex_lock(&shard->lock);
	eventlog_steps_begin(&shard->steps);
}

void eventlog_shard_unlock(struct eventlog_shard *shard)
{
	struct eventlog_mapped *ring, *next;
	LIST_HEAD(finished);

	list_splice_init(&shard->finished, &finished);
	eventlog_steps_end(&shard->steps, EVENTLOG_STEPS_SHARD);
	mutex_unlock(&shard->lock);
	/* Their memory is not freed with the lock. */
	list_for_each_entry_safe(ring, next, &finished, node) {
		eventlog_mapped_put(ring);
		cond_resched();
	}
}

/* ---- one ring ---- */

/* What the kernel asks the thread for. */
static void eventlog_mapped_ask(struct eventlog_mapped *ring, u32 ask)
{
	if (ring->leave)
		ask |= EVENTLOG_MAPPED_ASK_LEAVE;
	if (ring->dead || ring->ended)
		ask |= EVENTLOG_MAPPED_ASK_ENDED;
	WRITE_ONCE(ring->header->ask, ask);
	/* Pairs with the barrier in eventlog_thread_close(): the later of both sees the other. */
	smp_mb();
	if (READ_ONCE(ring->running->left))
		WRITE_ONCE(ring->header->ask,
			   ask | EVENTLOG_MAPPED_ASK_LEAVE | EVENTLOG_MAPPED_ASK_ENDED);
}

/* Ends the use of a ring that contains something invalid. */
static void eventlog_mapped_kill(struct eventlog_mapped *ring)
{
	ring->dead = true;
	ring->leave = true;
	ring->tail = ring->end;
	eventlog_mapped_ask(ring, 0);
}

/* The rest of a dead ring is lost; false: that was counted. */
static bool eventlog_mapped_counting(const struct eventlog_mapped *ring)
{
	return ring->dead && ring->counted < EVENTLOG_FIRST_INDICES;
}

/*
 * Counts one loss for the next event of the file.  The rest of the ring could be of any of
 * them: each that is enabled gets one, of the first ones.
 */
static void eventlog_mapped_count(struct eventlog_mapped *ring)
{
	unsigned long target;

	rcu_read_lock();
	target = eventlog_target_find(ring->file, ring->counted++);
	if (target)
		eventlog_emit_invalid(eventlog_target_event(target), &ring->emitter);
	rcu_read_unlock();
}

void eventlog_mapped_advance(struct eventlog_mapped *ring, u64 time)
{
	ring->last_time = max(ring->last_time, time + 1);
}

/*
 * The time of the record at the tail, for order.  A time in the future is changed, because
 * it would keep the ring from being drained.
 */
static u64 eventlog_mapped_time(struct eventlog_mapped *ring)
{
	const struct eventlog_pass *pass = &ring->shard->pass;
	const struct eventlog_cycles *cycles = &ring->shard->cycles;
	u64 time = ring->next.time, number = ring->shard->begun;
	bool whole = ring->whole_first <= number && number <= ring->whole_last;
	bool forged = time > pass->now;

	if (ring->has_cycles) {
		forged = time > pass->cycles_now;
		/* Convert a value after the latest anchor in the next pass. */
		time = time > cycles->newest.cycles ? EVENTLOG_KEY_NONE :
		       eventlog_cycles_time(cycles, time);
	}
	ring->emitter.claimed = forged ? 0 : time;
	if (time <= pass->cutoff)
		return time;
	return forged || whole ? pass->cutoff : EVENTLOG_KEY_NONE;
}

/*
 * Finds the record at the tail.  The process may change everything at any time: all
 * decisions are made on copies.
 *
 * Return: false if there is none before the end of the snapshot, or the ring is dead.
 */
static bool eventlog_mapped_peek(struct eventlog_mapped *ring)
{
	while (ring->tail != ring->end) {
		const u32 offset = ring->tail & (ring->data_bytes - 1);
		const u32 left = ring->end - ring->tail, to_end = ring->data_bytes - offset;
		const struct eventlog_mapped_record *record = (void *)(ring->data + offset);

		/* Padding may be as short as this. */
		ring->next.size = READ_ONCE(record->size);
		ring->next.write_index = READ_ONCE(record->write_index);
		if (!ring->next.write_index) {
			if (ring->next.size != to_end || to_end > left)
				break;
			ring->tail += to_end;
			ring->taken = true;
			continue;
		}
		if (ring->next.size < sizeof(*record) || ring->next.size > to_end ||
		    ALIGN(ring->next.size, EVENTLOG_RECORD_ALIGN) > left)
			break;
		memcpy(&ring->next.time, &record->time, sizeof(ring->next.time));
		memcpy(&ring->next.session, &record->session, sizeof(ring->next.session));
		barrier();
		/* @last_time may be after the cutoff, by as much as clocks differ. */
		ring->key = max(eventlog_mapped_time(ring), ring->last_time);
		return true;
	}
	if (ring->tail != ring->end)
		eventlog_mapped_kill(ring);
	return false;
}

/* The end of the records that the thread has committed, or had when it left, or the ring ended. */
static u32 eventlog_mapped_committed(const struct eventlog_mapped *ring)
{
	u32 committed, final;

	if (ring->ended)
		return ring->final;
	/* Pairs with the release of the producer: the records are complete. */
	committed = smp_load_acquire(&ring->header->committed);
	if (likely(!eventlog_thread_left(ring->running, &final)))
		return committed;
	/* A snapshot may have been taken while the thread left. */
	return (s32)(final - ring->end) < 0 ? ring->end : final;
}

bool eventlog_mapped_is_empty(const struct eventlog_mapped *ring)
{
	return ring->dead || ring->tail == eventlog_mapped_committed(ring);
}

/* Takes the snapshot of a pass. */
static void eventlog_mapped_snapshot(struct eventlog_mapped *ring)
{
	u32 committed = eventlog_mapped_committed(ring);

	ring->pass = ring->shard->begun;
	ring->end = committed;
	if (committed - ring->tail > ring->data_bytes || committed % EVENTLOG_RECORD_ALIGN)
		eventlog_mapped_kill(ring);
}

/* Gives room back.  What was copied must have been read before. */
static void eventlog_mapped_release(struct eventlog_mapped *ring)
{
	smp_store_release(&ring->header->position, ring->tail);
}

/*
 * Keeps the name of the ring's thread, which may have exited.  Not the name of another program that
 * it executes: execve() changes the memory first.
 */
static void eventlog_mapped_name(struct eventlog_mapped *ring)
{
	const struct task_struct *task;
	const struct mm_struct *mm;
	char comm[TASK_COMM_LEN];

	rcu_read_lock();
	task = pid_task(ring->emitter.thread, PIDTYPE_PID);
	if (task) {
		data_race(memcpy(comm, task->comm, TASK_COMM_LEN));
		smp_rmb();
		mm = READ_ONCE(task->mm);
		smp_rmb();
		/* Without memory it exits. */
		if (mm == ring->mm || (!mm && !READ_ONCE(ring->running->replaced)))
			memcpy(ring->comm, comm, TASK_COMM_LEN - 1);
	}
	rcu_read_unlock();
}

/*
 * Delivers the record that eventlog_mapped_peek() has found, or counts a loss.  The payload is
 * copied only if someone listens: who fills a ring must not have the shard copy it for no one.
 *
 * Return: what that took of the budget.
 */
static unsigned int eventlog_mapped_deliver(struct eventlog_mapped *ring)
{
	const u32 offset = ring->tail & (ring->data_bytes - 1);
	const u32 bytes = ring->next.size - sizeof(ring->next);
	struct eventlog_emitter *emitter = &ring->emitter;
	u8 *payload = ring->shard->payload;
	const struct eventlog_listeners *listeners;
	const struct eventlog_event *event;
	unsigned int taken = 1;
	unsigned long target;
	u64 session = 0;

	if (ring->dead) {
		eventlog_mapped_count(ring);
		return taken;
	}
	emitter->time = ring->key;

	rcu_read_lock();
	target = eventlog_target_find(ring->file, ring->next.write_index);
	if (!target)
		goto out;
	event = eventlog_target_event(target);
	listeners = rcu_dereference(event->listeners);
	if (!listeners)
		goto out;
	if (target & EVENTLOG_TARGET_SESSION)
		session = ring->next.session;
	if (bytes <= EVENTLOG_PAYLOAD_MAX) {
		memcpy(payload, ring->data + offset + sizeof(ring->next), bytes);
		taken += bytes / EVENTLOG_SHARD_STEP_BYTES;
	}
	taken *= 1 + listeners->count;
	if (bytes > EVENTLOG_PAYLOAD_MAX ||
	    eventlog_layout_validate(event->layout, payload, bytes))
		eventlog_emit_invalid(event, emitter);
	else
		eventlog_emit_later(event, session, payload, bytes, emitter);
out:
	rcu_read_unlock();
	ring->last_time = ring->key;
	ring->tail += ALIGN(ring->next.size, EVENTLOG_RECORD_ALIGN);
	ring->taken = true;
	return taken;
}

/* ---- rest and removal of a ring ---- */

/*
 * Puts a ring to sleep after two looks in a row have found nothing.  The first one sets
 * ask.  A producer has no barrier between its store to committed and its load of ask, so
 * it may miss ask, and the ring stays active until a look some time later.  By then, such a
 * store is visible.
 */
static void eventlog_mapped_rest(struct eventlog_mapped *ring)
{
	u64 now = ring->shard->pass.now;

	if (ring->taken || eventlog_late_is_new(ring)) {
		ring->taken = false;
		if (ring->asked)
			eventlog_mapped_ask(ring, 0);
		ring->asked = false;
	} else if (!ring->asked) {
		ring->asked = true;
		ring->asked_at = now;
		eventlog_mapped_ask(ring, EVENTLOG_MAPPED_ASK_KICK);
	} else if (now - ring->asked_at >= EVENTLOG_SHARD_SETTLE) {
		list_del_init(&ring->active_node);
	}
}

/*
 * Has the next pass, and others up to @last, take all of a ring.  Not the current one: it may
 * have begun long ago, and would change the times of later records to that of its beginning.
 */
static void eventlog_mapped_whole(struct eventlog_mapped *ring, u64 last)
{
	u64 begun = ring->shard->begun;

	if (ring->whole_last < begun)
		ring->whole_first = begun + 1;
	ring->whole_last = last;
}

/* How many rings a user has in a shard. */
static unsigned int *eventlog_shard_share(struct eventlog_shard *shard, struct eventlog_user *user)
{
	return user ? &user->mapped[shard->index] : &shard->unlimited;
}

static void eventlog_shard_count(struct eventlog_shard *shard, struct eventlog_user *user,
				 int change)
{
	unsigned int *share = eventlog_shard_share(shard, user);

	lockdep_assert_held(&shard->lock);
	WRITE_ONCE(shard->count, shard->count + change);
	WRITE_ONCE(*share, *share + change);
}

/* Removes a ring that has ended.  eventlog_shard_unlock() drops the file's reference. */
static void eventlog_mapped_finish(struct eventlog_mapped *ring)
{
	struct eventlog_shard *shard = ring->shard;

	list_del_init(&ring->active_node);
	list_move(&ring->node, &shard->finished);
	eventlog_shard_count(shard, ring->user, -1);
	shard->cycles_count -= ring->has_cycles;
	/* The last use of the file, which may be gone once the shard is unlocked. */
	atomic_dec(&ring->file->ending);
	xa_erase(&ring->file->mapped, ring->number);
}

/*
 * Finds what the pass does next with a ring, a step: it delivers a record, or counts a loss.
 * False: nothing.
 */
static bool eventlog_mapped_look(struct eventlog_mapped *ring)
{
	struct eventlog_shard *shard = ring->shard;

	if (!ring->dead && eventlog_mapped_peek(ring))
		return true;
	if (eventlog_mapped_counting(ring)) {
		ring->key = ring->last_time;
		return true;
	}
	eventlog_mapped_release(ring);
	/* One that ended after the snapshot may contain more. */
	if (ring->ended && eventlog_mapped_is_empty(ring)) {
		/* The next pass takes late events, as part of its budget. */
		if (ring->late_over || !eventlog_late_is_new(ring))
			eventlog_mapped_finish(ring);
	} else if (ring->dead) {
		list_del_init(&ring->active_node);
	} else if (shard->pass.of_worker && !ring->ended) {
		eventlog_mapped_rest(ring);
	}
	return false;
}

/* ---- passes ---- */

/* Moves the ring at place @i down until no ring below has an older record. */
static void eventlog_heap_down(struct eventlog_mapped **heap, unsigned int count, unsigned int i)
{
	struct eventlog_mapped *ring = heap[i];
	unsigned int child;

	while ((child = 2 * i + 1) < count) {
		if (child + 1 < count && heap[child + 1]->key < heap[child]->key)
			child++;
		if (heap[child]->key >= ring->key)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = ring;
}

/* Looks at a ring whose snapshot was taken, and adds it to the heap if it has a record. */
static void eventlog_heap_add(struct eventlog_shard *shard, struct eventlog_mapped *ring)
{
	struct eventlog_mapped **heap = shard->heap;
	unsigned int i, parent;

	if (!eventlog_mapped_look(ring) || ring->key == EVENTLOG_KEY_NONE)
		return;
	eventlog_mapped_name(ring);
	for (i = shard->heap_count++; i; i = parent) {
		parent = (i - 1) / 2;
		if (heap[parent]->key <= ring->key)
			break;
		heap[i] = heap[parent];
	}
	heap[i] = ring;
}

/* Reads the clocks before the snapshots of a pass. */
static void eventlog_shard_cutoff(struct eventlog_shard *shard)
{
	struct eventlog_anchor anchor;

	if (!shard->cycles_count) {
		shard->pass.cutoff = ktime_get_ns();
		return;
	}
	anchor = eventlog_anchor_take();
	eventlog_cycles_update(&shard->cycles, anchor);
	shard->pass.cutoff = anchor.time;
}

/* After snapshots: a record in one of them cannot honestly have a later time. */
static void eventlog_shard_now(struct eventlog_shard *shard)
{
	shard->pass.now = ktime_get_ns();
	shard->pass.cycles_now = eventlog_cycles_now();
}

/*
 * Takes snapshots of active rings, and adds those with records to the heap, until the pass
 * has looked at all.  Those that it has looked at are at the end of the list.
 *
 * Return: what is left of @budget; 0: there may be more rings.
 */
static unsigned int eventlog_pass_open(struct eventlog_shard *shard, unsigned int budget)
{
	struct eventlog_mapped *ring, *next;
	unsigned int steps;
	LIST_HEAD(batch);

	for (; budget && !list_empty(&shard->active); budget -= min(budget, steps)) {
		ring = list_first_entry(&shard->active, struct eventlog_mapped, active_node);
		if (ring->pass == shard->begun)
			break;
		if (shard->pass.leave_cycles && ring->has_cycles && !ring->leave) {
			/* The clocksource has changed: the counter is not good enough any more. */
			ring->leave = true;
			eventlog_mapped_ask(ring, ring->asked ? EVENTLOG_MAPPED_ASK_KICK : 0);
		}
		eventlog_mapped_snapshot(ring);
		list_move_tail(&ring->active_node, &batch);
		steps = 1 + eventlog_late_take(ring);
		ring->late_over = ring->ended;
		eventlog_steps_add(&shard->steps, steps);
	}
	eventlog_shard_now(shard);
	list_for_each_entry_safe(ring, next, &batch, active_node)
		eventlog_heap_add(shard, ring);
	list_splice_tail(&batch, &shard->active);
	return budget;
}

/*
 * Delivers records of the heap in the order of time.  Records after the cutoff stay: a ring
 * whose snapshot was taken before may have an older one by now.
 *
 * The ring with the oldest record is served until another one has an older record.  Threads
 * take turns on a CPU, so that is after many records, and the heap is rarely changed.
 *
 * Return: what is left of @budget; 0: there may be more records.
 */
static unsigned int eventlog_pass_deliver(struct eventlog_shard *shard, unsigned int budget)
{
	struct eventlog_mapped **heap = shard->heap;

	while (shard->heap_count && budget) {
		struct eventlog_mapped *ring = heap[0];
		unsigned int before = budget;
		u64 until = EVENTLOG_KEY_NONE - 1;
		bool more;

		if (shard->heap_count > 1)
			until = min(until, heap[1]->key);
		if (shard->heap_count > 2)
			until = min(until, heap[2]->key);
		do {
			budget -= min(budget, eventlog_mapped_deliver(ring));
			more = eventlog_mapped_look(ring);
		} while (budget && more && ring->key <= until);
		eventlog_steps_add(&shard->steps, before - budget);
		if (more)
			eventlog_mapped_release(ring);
		if (!more || ring->key == EVENTLOG_KEY_NONE)
			heap[0] = heap[--shard->heap_count];
		if (shard->heap_count)
			eventlog_heap_down(heap, shard->heap_count, 0);
		cond_resched();
	}
	return budget;
}

/* The number of the last pass that has ended. */
static u64 eventlog_shard_ended(const struct eventlog_shard *shard)
{
	return shard->begun - shard->passing;
}

/*
 * Goes on with the current pass, and begins others, until pass @number has ended, or @budget
 * rings and records have been handled.
 *
 * Return: whether that pass has ended.
 */
static bool eventlog_shard_run(struct eventlog_shard *shard, u64 number, bool of_worker,
			       unsigned int budget)
{
	lockdep_assert_held(&shard->lock);
	while (budget && eventlog_shard_ended(shard) < number) {
		if (!shard->passing) {
			shard->passing = true;
			shard->begun++;
			shard->pass.of_worker = of_worker;
			shard->pass.leave_cycles = of_worker && shard->cycles_count &&
						   !eventlog_cycles_usable();
			eventlog_shard_cutoff(shard);
		}
		budget = eventlog_pass_open(shard, budget);
		budget = eventlog_pass_deliver(shard, budget);
		if (budget && !shard->heap_count)
			shard->passing = false;
	}
	return eventlog_shard_ended(shard) >= number;
}

u64 eventlog_shard_next(const struct eventlog_shard *shard)
{
	lockdep_assert_held(&shard->lock);
	return shard->begun + 1;
}

int eventlog_shard_wait(struct eventlog_shard *shard, u64 number, bool killable)
{
	bool ended;

	for (;;) {
		eventlog_shard_lock(shard);
		ended = eventlog_shard_run(shard, number, false, EVENTLOG_SHARD_BUDGET);
		eventlog_shard_unlock(shard);
		if (ended)
			return 0;
		if (killable && fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
}

static void eventlog_shard_start(struct eventlog_shard *shard, unsigned long delay)
{
	schedule_delayed_work(&shard->work, delay);
}

/*
 * Has passes look at a ring; the current one, too, so that its records are in order.  A pass
 * takes one snapshot of a ring, and none of a ring that is newer than the pass: otherwise
 * threads could prolong the pass with ever more rings.
 */
static void eventlog_shard_activate(struct eventlog_shard *shard, struct eventlog_mapped *ring)
{
	if (!list_empty(&ring->active_node))
		return;
	list_add_tail(&ring->active_node, &shard->active);
	if (!shard->passing || ring->pass == shard->begun)
		return;
	eventlog_mapped_snapshot(ring);
	eventlog_shard_now(shard);
	eventlog_heap_add(shard, ring);
}

void eventlog_shard_want(struct eventlog_mapped *ring)
{
	struct eventlog_shard *shard = ring->shard;

	lockdep_assert_held(&shard->lock);
	if (ring->dead)
		return;
	eventlog_mapped_whole(ring, eventlog_shard_next(shard));
	ring->asked = false;
	ring->taken = true;
	eventlog_mapped_ask(ring, 0);
	eventlog_shard_activate(shard, ring);
	eventlog_shard_start(shard, EVENTLOG_SHARD_PERIOD);
}

void eventlog_shard_resume(struct eventlog_mapped *ring)
{
	lockdep_assert_held(&ring->shard->lock);
	eventlog_mapped_ask(ring, ring->asked ? EVENTLOG_MAPPED_ASK_KICK : 0);
}

void eventlog_shard_take(struct eventlog_mapped *ring)
{
	eventlog_shard_want(ring);
	eventlog_shard_run(ring->shard, eventlog_shard_next(ring->shard), false,
			   EVENTLOG_SHARD_BUDGET);
}

void eventlog_shard_wake(struct eventlog_mapped *ring)
{
	struct eventlog_shard *shard = ring->shard;

	lockdep_assert_held(&shard->lock);
	/* One that has ended is active, until the pass that takes the last record removes it. */
	if (ring->ended || (eventlog_mapped_is_empty(ring) && !eventlog_late_is_new(ring)))
		return;
	eventlog_shard_activate(shard, ring);
	eventlog_shard_start(shard, EVENTLOG_SHARD_PERIOD);
}

/*
 * Wakes up all rings that have records and sleep.  Those that were looked at are at the end of the
 * list.
 *
 * Return: whether all have been looked at since look @number.
 */
static bool eventlog_shard_wake_all(struct eventlog_shard *shard, u64 number)
{
	unsigned int budget = EVENTLOG_SHARD_BUDGET;
	struct eventlog_mapped *ring;

	for (; budget && !list_empty(&shard->rings); budget--) {
		ring = list_first_entry(&shard->rings, struct eventlog_mapped, node);
		if (ring->looked >= number)
			break;
		/* The latest number, so that the list is sorted by it. */
		ring->looked = shard->looks;
		list_move_tail(&ring->node, &shard->rings);
		eventlog_steps_add(&shard->steps, 1);
		eventlog_shard_wake(ring);
	}
	return budget;
}

/* Waits for the end of the pass that begins next, so for what is in rings that do not sleep. */
static int eventlog_shard_settle(struct eventlog_shard *shard, bool killable)
{
	u64 pass;

	eventlog_shard_lock(shard);
	pass = eventlog_shard_next(shard);
	eventlog_shard_unlock(shard);
	return eventlog_shard_wait(shard, pass, killable);
}

static int eventlog_shard_drain(struct eventlog_shard *shard, bool killable)
{
	u64 look = 0;
	bool awake;

	do {
		eventlog_shard_lock(shard);
		look = look ?: ++shard->looks;
		awake = eventlog_shard_wake_all(shard, look);
		eventlog_shard_unlock(shard);
		if (killable && fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	} while (!awake);
	return eventlog_shard_settle(shard, killable);
}

int eventlog_shards_drain(struct eventlog_domain *domain, bool killable)
{
	struct eventlog_shard *shard;
	int ret = 0;

	for (shard = domain->shards; shard < domain->shards + domain->shard_count; shard++)
		ret = ret ?: eventlog_shard_drain(shard, killable);
	return ret;
}

static void eventlog_shard_work(struct work_struct *work)
{
	struct eventlog_shard *shard = container_of(to_delayed_work(work), struct eventlog_shard,
						    work);
	bool ended;

	eventlog_shard_lock(shard);
	ended = eventlog_shard_run(shard, eventlog_shard_next(shard), true, EVENTLOG_SHARD_BUDGET);
	if (!list_empty(&shard->active))
		eventlog_shard_start(shard, ended ? EVENTLOG_SHARD_PERIOD : 0);
	eventlog_shard_unlock(shard);
}

/* ---- adding and removing rings ---- */

/* Counts may change meanwhile; the choice is good enough. */
struct eventlog_shard *eventlog_shard_choose(struct eventlog_domain *domain,
					     struct eventlog_user *user)
{
	struct eventlog_shard *shard, *chosen = domain->shards;
	unsigned int count, others, least_others = UINT_MAX, least = UINT_MAX;

	for (shard = domain->shards; shard < domain->shards + domain->shard_count; shard++) {
		count = READ_ONCE(shard->count);
		others = count - READ_ONCE(*eventlog_shard_share(shard, user));
		if (others < least_others || (others == least_others && count < least)) {
			chosen = shard;
			least_others = others;
			least = count;
		}
	}
	return chosen;
}

/* Makes sure that a pass needs no memory for one more ring. */
static int eventlog_shard_grow(struct eventlog_shard *shard)
{
	unsigned int room = max(2 * shard->heap_room, 16U);
	struct eventlog_mapped **heap;

	if (!shard->payload)
		shard->payload = eventlog_alloc_locked(EVENTLOG_PAYLOAD_MAX);
	if (!shard->payload)
		return -ENOMEM;
	if (shard->count < shard->heap_room)
		return 0;
	heap = eventlog_alloc_locked(room * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	/* A pass may be in progress. */
	if (shard->heap_count)
		memcpy(heap, shard->heap, shard->heap_count * sizeof(*heap));
	eventlog_free(shard->heap);
	shard->heap = heap;
	shard->heap_room = room;
	return 0;
}

int eventlog_shard_add(struct eventlog_mapped *ring)
{
	struct eventlog_shard *shard = ring->shard;
	int ret;

	ring->emitter.shard = shard->index;
	INIT_LIST_HEAD(&ring->active_node);
	eventlog_mapped_ask(ring, EVENTLOG_MAPPED_ASK_KICK);
	eventlog_shard_lock(shard);
	ret = eventlog_shard_grow(shard);
	if (!ret) {
		ring->looked = shard->looks;
		ring->pass = shard->begun;
		list_add_tail(&ring->node, &shard->rings);
		eventlog_shard_count(shard, ring->user, 1);
		if (ring->has_cycles && !shard->cycles_count++)
			eventlog_cycles_init(&shard->cycles, eventlog_cycles_khz(),
					     eventlog_anchor_take());
	}
	eventlog_shard_unlock(shard);
	return ret;
}

void eventlog_shard_end(struct eventlog_mapped *ring)
{
	struct eventlog_shard *shard = ring->shard;

	lockdep_assert_held(&shard->lock);
	if (ring->ended)
		return;
	ring->final = eventlog_mapped_committed(ring);
	WRITE_ONCE(ring->ended, true);
	eventlog_thread_hide(ring->running);
	atomic_inc(&ring->file->ending);
	ring->leave = true;
	eventlog_mapped_whole(ring, U64_MAX);
	eventlog_mapped_ask(ring, 0);
	if (ring->dead && !eventlog_mapped_counting(ring) && !eventlog_late_is_new(ring))
		eventlog_mapped_finish(ring);
	else
		eventlog_shard_activate(shard, ring);
	if (!list_empty(&shard->active))
		eventlog_shard_start(shard, 0);
}

int eventlog_shards_init(struct eventlog_domain *domain)
{
	unsigned int count = min(num_online_cpus(), (unsigned int)EVENTLOG_SHARDS_MAX), i;
	struct eventlog_shard *shard;

	domain->shards = eventlog_alloc(count * sizeof(*domain->shards));
	if (!domain->shards)
		return -ENOMEM;
	domain->shard_count = count;
	for (i = 0; i < count; i++) {
		shard = &domain->shards[i];
		mutex_init(&shard->lock);
		shard->index = i;
		INIT_LIST_HEAD(&shard->rings);
		INIT_LIST_HEAD(&shard->active);
		INIT_LIST_HEAD(&shard->finished);
		INIT_DELAYED_WORK(&shard->work, eventlog_shard_work);
	}
	return 0;
}

void eventlog_shards_exit(struct eventlog_domain *domain)
{
	struct eventlog_shard *shard;

	for (shard = domain->shards; shard < domain->shards + domain->shard_count; shard++) {
		WARN_ON(!list_empty(&shard->rings));
		cancel_delayed_work_sync(&shard->work);
		eventlog_free(shard->heap);
		eventlog_free(shard->payload);
	}
	eventlog_free(domain->shards);
}
