// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shards: see shard.h.
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#include <asm/tsc.h>
#endif

#include "compat.h"
#include "core/event.h"
#include "core/types.h"
#include "core/user.h"
#include "memory.h"
#include "user/file.h"
#include "user/producer.h"
#include "user/shard.h"

/* How often the worker looks at active rings. */
#define EVENTLOG_SHARD_PERIOD msecs_to_jiffies(10)

/*
 * Records that a thread delivers at most when it drains its ring, and the worker without
 * giving up the lock.
 */
#define EVENTLOG_SHARD_BUDGET 4096

/* The key of a ring whose next record is not for this pass. */
#define EVENTLOG_KEY_NONE U64_MAX

/**
 * struct eventlog_pass - one pass
 * @cutoff: records after this time stay
 * @now: the clock after the snapshots: no honest record in them is later
 * @cycles_now: likewise, of the cycle counter
 * @whole: a ring of which all is taken, because its thread waits for that; or NULL
 */
struct eventlog_pass {
	u64 cutoff;
	u64 now;
	u64 cycles_now;
	const struct eventlog_mapped *whole;
};

/* ---- the cycle counter ---- */

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)

bool eventlog_cycles_usable(void)
{
	struct system_time_snapshot snapshot;
	u64 before, after;

	/* The values of the clocksource are those of the counter. */
	before = rdtsc_ordered();
	ktime_get_snapshot_id(CLOCK_MONOTONIC, &snapshot);
	after = rdtsc_ordered();
	return tsc_khz && snapshot.cycles >= before && snapshot.cycles <= after;
}

/* Reads both clocks.  Tries again if it was interrupted in between. */
static struct eventlog_anchor eventlog_anchor_take(void)
{
	struct eventlog_anchor anchor = {};
	u64 before, after, time, least = U64_MAX;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		before = rdtsc_ordered();
		time = ktime_get_ns();
		after = rdtsc_ordered();
		if (after - before >= least)
			continue;
		least = after - before;
		anchor.cycles = before + least / 2;
		anchor.time = time;
	}
	return anchor;
}

static u64 eventlog_cycles_now(void)
{
	return rdtsc_ordered();
}

static u32 eventlog_cycles_khz(void)
{
	return tsc_khz;
}

#else

bool eventlog_cycles_usable(void)
{
	return false;
}

static struct eventlog_anchor eventlog_anchor_take(void)
{
	return (struct eventlog_anchor){};
}

static u64 eventlog_cycles_now(void)
{
	return 0;
}

static u32 eventlog_cycles_khz(void)
{
	return 1;
}

#endif

/* ---- one ring ---- */

/* What the kernel asks the thread for. */
static void eventlog_mapped_ask(struct eventlog_mapped *ring, u32 ask)
{
	if (ring->leave)
		ask |= EVENTLOG_MAPPED_ASK_LEAVE;
	if (ring->dead || ring->ended)
		ask |= EVENTLOG_MAPPED_ASK_ENDED;
	WRITE_ONCE(ring->header->ask, ask);
}

/* Ends the use of a ring that contains something invalid. */
static void eventlog_mapped_kill(struct eventlog_mapped *ring)
{
	ring->dead = true;
	ring->leave = true;
	ring->tail = ring->end;
	list_del_init(&ring->active_node);
	eventlog_mapped_ask(ring, 0);
}

void eventlog_mapped_advance(struct eventlog_mapped *ring, u64 time)
{
	ring->last_time = max(ring->last_time, time + 1);
}

/*
 * The time of the record at the tail, for order.  A time in the future is changed, because
 * it would keep the ring from being drained.
 */
static u64 eventlog_mapped_time(struct eventlog_mapped *ring, const struct eventlog_pass *pass)
{
	const struct eventlog_cycles *cycles = &ring->shard->cycles;
	u64 time = ring->next.time;
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
	return forged || ring == pass->whole ? pass->cutoff : EVENTLOG_KEY_NONE;
}

/*
 * Finds the record at the tail.  The process may change everything at any time: all
 * decisions are made on copies.
 *
 * Return: false if there is none before the end of the snapshot, or the ring is dead.
 */
static bool eventlog_mapped_peek(struct eventlog_mapped *ring, const struct eventlog_pass *pass)
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
		ring->key = max(eventlog_mapped_time(ring, pass), ring->last_time);
		return true;
	}
	if (ring->tail != ring->end)
		eventlog_mapped_kill(ring);
	return false;
}

/* Takes the snapshot of a pass. */
static void eventlog_mapped_snapshot(struct eventlog_mapped *ring)
{
	/* Pairs with the release of the producer: the records are complete. */
	u32 committed = smp_load_acquire(&ring->header->committed);

	ring->end = committed;
	if (committed - ring->tail > ring->data_bytes || committed % EVENTLOG_RECORD_ALIGN)
		eventlog_mapped_kill(ring);
}

/* Gives room back.  What was copied must have been read before. */
static void eventlog_mapped_release(struct eventlog_mapped *ring)
{
	smp_store_release(&ring->header->position, ring->tail);
}

/* Keeps the name of the ring's thread, which may have exited. */
static void eventlog_mapped_name(struct eventlog_mapped *ring)
{
	const struct task_struct *task;

	rcu_read_lock();
	task = pid_task(ring->emitter.thread, PIDTYPE_PID);
	if (task)
		data_race(memcpy(ring->emitter.comm, task->comm, TASK_COMM_LEN));
	rcu_read_unlock();
	ring->emitter.comm[TASK_COMM_LEN - 1] = '\0';
}

/* Delivers the record that eventlog_mapped_peek() has found. */
static void eventlog_mapped_deliver(struct eventlog_mapped *ring)
{
	const u32 offset = ring->tail & (ring->data_bytes - 1);
	const u32 bytes = ring->next.size - sizeof(ring->next);
	struct eventlog_emitter *emitter = &ring->emitter;
	u8 *payload = ring->shard->payload;
	const struct eventlog_event *event;
	unsigned long target;
	u64 session = 0;

	emitter->time = ring->key;
	if (bytes <= EVENTLOG_PAYLOAD_MAX)
		memcpy(payload, ring->data + offset + sizeof(ring->next), bytes);

	rcu_read_lock();
	target = eventlog_target_find(ring->file, ring->next.write_index);
	if (!target)
		goto out;
	event = eventlog_target_event(target);
	if (!rcu_access_pointer(event->listeners))
		goto out;
	if (target & EVENTLOG_TARGET_SESSION)
		session = ring->next.session;
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

/* Reads the clocks before the snapshots of a pass. */
static void eventlog_shard_cutoff(struct eventlog_shard *shard, struct eventlog_pass *pass)
{
	struct eventlog_anchor anchor;

	if (!shard->cycles_count) {
		pass->cutoff = ktime_get_ns();
		return;
	}
	anchor = eventlog_anchor_take();
	eventlog_cycles_update(&shard->cycles, anchor);
	pass->cutoff = anchor.time;
}

/* Takes the snapshots of a pass, and fills the heap with the rings that have records. */
static unsigned int eventlog_shard_begin(struct eventlog_shard *shard, struct eventlog_pass *pass)
{
	struct eventlog_mapped *ring, *next;
	unsigned int count = 0, i;

	eventlog_shard_cutoff(shard, pass);
	list_for_each_entry_safe(ring, next, &shard->active, active_node)
		eventlog_mapped_snapshot(ring);
	/* After the snapshots: a record in one of them cannot honestly have a later time. */
	pass->now = ktime_get_ns();
	pass->cycles_now = eventlog_cycles_now();
	list_for_each_entry_safe(ring, next, &shard->active, active_node) {
		if (!eventlog_mapped_peek(ring, pass)) {
			eventlog_mapped_release(ring);
			continue;
		}
		if (ring->key == EVENTLOG_KEY_NONE)
			continue;
		eventlog_mapped_name(ring);
		shard->heap[count++] = ring;
	}
	for (i = count / 2; i--;)
		eventlog_heap_down(shard->heap, count, i);
	return count;
}

/*
 * Delivers the records of all active rings up to now, in the order of time, and at most
 * @budget.  Records after the cutoff stay: a ring whose snapshot was taken before may have
 * an older one by now.  Of @whole, everything is taken.
 *
 * The ring with the oldest record is served until another one has an older record.  Threads
 * take turns on a CPU, so that is after many records, and the heap is rarely changed.
 *
 * Return: false if the budget ended first.
 */
static bool eventlog_shard_pass(struct eventlog_shard *shard, const struct eventlog_mapped *whole,
				unsigned int budget)
{
	struct eventlog_mapped **heap = shard->heap;
	struct eventlog_pass pass = { .whole = whole };
	unsigned int count;

	lockdep_assert_held(&shard->lock);
	count = eventlog_shard_begin(shard, &pass);
	while (count && budget) {
		struct eventlog_mapped *ring = heap[0];
		u64 until = EVENTLOG_KEY_NONE - 1;
		bool more;

		if (count > 1)
			until = min(until, heap[1]->key);
		if (count > 2)
			until = min(until, heap[2]->key);
		do {
			eventlog_mapped_deliver(ring);
			more = eventlog_mapped_peek(ring, &pass);
		} while (--budget && more && ring->key <= until);
		eventlog_mapped_release(ring);
		if (!more || ring->key == EVENTLOG_KEY_NONE)
			heap[0] = heap[--count];
		if (count)
			eventlog_heap_down(heap, count, 0);
		cond_resched();
	}
	return !count;
}

static void eventlog_shard_start(struct eventlog_shard *shard, unsigned long delay)
{
	schedule_delayed_work(&shard->work, delay);
}

void eventlog_shard_take(struct eventlog_mapped *ring, bool all)
{
	struct eventlog_shard *shard = ring->shard;

	lockdep_assert_held(&shard->lock);
	if (ring->dead)
		return;
	ring->asked = false;
	ring->taken = true;
	eventlog_mapped_ask(ring, 0);
	if (list_empty(&ring->active_node))
		list_add_tail(&ring->active_node, &shard->active);
	eventlog_shard_pass(shard, ring, all ? UINT_MAX : EVENTLOG_SHARD_BUDGET);
	eventlog_shard_start(shard, EVENTLOG_SHARD_PERIOD);
}

/*
 * Wakes up the rings that have records and sleep.  Their threads are about to kick them, but
 * may be preempted or stopped before.
 */
static void eventlog_shard_wake(struct eventlog_shard *shard)
{
	struct eventlog_mapped *ring;

	list_for_each_entry(ring, &shard->rings, node) {
		if (ring->dead || !list_empty(&ring->active_node) ||
		    READ_ONCE(ring->header->committed) == ring->tail)
			continue;
		list_add_tail(&ring->active_node, &shard->active);
		eventlog_shard_start(shard, EVENTLOG_SHARD_PERIOD);
	}
}

void eventlog_shards_drain(struct eventlog_domain *domain, unsigned long which)
{
	struct eventlog_shard *shard;

	for (shard = domain->shards; shard < domain->shards + domain->shard_count; shard++) {
		if (!(which & BIT(shard->index)))
			continue;
		mutex_lock(&shard->lock);
		eventlog_shard_wake(shard);
		eventlog_shard_pass(shard, NULL, UINT_MAX);
		mutex_unlock(&shard->lock);
	}
}

/* ---- the worker ---- */

/*
 * Puts a ring to sleep after two looks in a row have found nothing.  The first one sets
 * ask.  A producer has no barrier between its store to committed and its load of ask, so
 * it may miss ask, and the ring stays active until the second look.  By then, a period
 * later, such a store is visible.
 */
static void eventlog_mapped_rest(struct eventlog_mapped *ring)
{
	if (ring->taken || ring->tail != ring->end) {
		ring->taken = false;
		if (ring->asked)
			eventlog_mapped_ask(ring, 0);
		ring->asked = false;
		return;
	}
	if (ring->asked) {
		list_del_init(&ring->active_node);
		return;
	}
	ring->asked = true;
	eventlog_mapped_ask(ring, EVENTLOG_MAPPED_ASK_KICK);
}

/* The clocksource has changed: the counter is not good enough any more. */
static void eventlog_shard_leave_cycles(struct eventlog_shard *shard)
{
	struct eventlog_mapped *ring;

	list_for_each_entry(ring, &shard->rings, node) {
		if (!ring->has_cycles || ring->leave)
			continue;
		ring->leave = true;
		eventlog_mapped_ask(ring, ring->asked ? EVENTLOG_MAPPED_ASK_KICK : 0);
	}
}

static void eventlog_shard_work(struct work_struct *work)
{
	struct eventlog_shard *shard = container_of(to_delayed_work(work), struct eventlog_shard,
						    work);
	struct eventlog_mapped *ring, *next;
	bool finished;

	mutex_lock(&shard->lock);
	finished = eventlog_shard_pass(shard, NULL, EVENTLOG_SHARD_BUDGET);
	if (shard->cycles_count && !eventlog_cycles_usable())
		eventlog_shard_leave_cycles(shard);
	if (finished) {
		list_for_each_entry_safe(ring, next, &shard->active, active_node)
			eventlog_mapped_rest(ring);
	}
	if (!list_empty(&shard->active))
		eventlog_shard_start(shard, finished ? EVENTLOG_SHARD_PERIOD : 0);
	mutex_unlock(&shard->lock);
}

/* ---- adding and removing rings ---- */

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
	/* The heap is empty between passes. */
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
	mutex_lock(&shard->lock);
	ret = eventlog_shard_grow(shard);
	if (!ret) {
		list_add_tail(&ring->node, &shard->rings);
		eventlog_shard_count(shard, ring->user, 1);
		if (ring->has_cycles && !shard->cycles_count++)
			eventlog_cycles_init(&shard->cycles, eventlog_cycles_khz(),
					     eventlog_anchor_take());
	}
	mutex_unlock(&shard->lock);
	return ret;
}

void eventlog_shard_remove(struct eventlog_mapped *ring)
{
	struct eventlog_shard *shard = ring->shard;

	eventlog_shard_take(ring, true);
	list_del_init(&ring->active_node);
	list_del(&ring->node);
	eventlog_shard_count(shard, ring->user, -1);
	shard->cycles_count -= ring->has_cycles;
	ring->ended = true;
	ring->leave = true;
	eventlog_mapped_ask(ring, 0);
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
