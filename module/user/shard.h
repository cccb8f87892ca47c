/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Producer rings and shards.
 *
 * A thread of a producer maps a ring of its own and emits into it without a system call;
 * see struct eventlog_mapped_header in <uapi/linux/eventlog.h>.  A shard is a set of such
 * rings that are drained together: a pass merges their records by time, and delivers them
 * to one ring of each subscriber, the subscriber's shard ring.
 *
 * The pages of a ring are hostile.  The kernel has a tail of its own, takes one snapshot
 * of committed in each pass, reads each length once, and checks and delivers copies.
 *
 * shard->lock, a mutex, protects all rings of the shard and excludes other writers of
 * the shard rings.  It is taken with mmap_lock held, so its holder must not access user
 * memory.  It is never held together with eventlog_file.lock or domain->lock.  Users share
 * it: the longest thing that is done with it is to look at EVENTLOG_SHARD_BUDGET rings, or to
 * deliver so many records or count so many losses, where a long record counts as several, and each
 * subscriber's copy of a record as one more.  With mmap_lock, nothing is delivered.
 *
 * So a pass can outlast a hold of the lock.  The next thread that takes the lock goes on with
 * it: the worker, a thread that kicks its ring, or one that waits until the ring or the shard
 * is drained.  Passes have numbers.  Who waits for what was emitted so far waits for the end
 * of the next pass: it takes no more records than there are when it begins, so neither busy
 * nor hostile threads can prolong it, and many threads can wait for the same pass.
 *
 * A ring that ends is drained by passes like all others, up to where it was.  The pass that
 * has taken its last record removes it.
 *
 * A ring is found by its number under RCU, and freed an RCU grace period after the last
 * reference is dropped: the file has one until the ring is removed, and each mapping has one.
 */
#ifndef EVENTLOG_SHARD_H
#define EVENTLOG_SHARD_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/linux/eventlog.h>

#include "core/emit.h"
#include "core/pages.h"
#include "core/steps.h"
#include "user/cycles.h"

struct eventlog_domain;
struct eventlog_file;
struct eventlog_mapped;
struct eventlog_thread;
struct eventlog_user;
struct mm_struct;

/**
 * struct eventlog_pass - a pass
 * @cutoff: records after this time stay
 * @now: the clock after the snapshots: a record in them with a later time is forged
 * @cycles_now: likewise, of the cycle counter
 * @of_worker: the worker has begun it: rings without records may go to sleep
 * @leave_cycles: threads are asked to leave rings with cycles
 */
struct eventlog_pass {
	u64 cutoff;
	u64 now;
	u64 cycles_now;
	bool of_worker;
	bool leave_cycles;
};

/**
 * struct eventlog_shard - see the top of the file
 * @lock: see the top of the file; eventlog_shard_lock() takes it
 * @steps: of the current hold of @lock
 * @index: its number in the domain
 * @rings: struct eventlog_mapped, all rings; sorted by their looked
 * @active: those that passes look at
 * @finished: rings that were removed in the current hold of @lock
 * @looks: number of the latest look at sleeping rings
 * @begun: number of the latest pass
 * @passing: it has not ended
 * @pass: the pass
 * @count: number of @rings
 * @unlimited: of these, rings of users without limits, who count as one user
 * @heap: rings with records in @pass, the one with the oldest record first
 * @heap_count: their number
 * @heap_room: number of rings that @heap has room for, at least @count
 * @cycles: how to convert times of rings with cycles
 * @cycles_count: number of @rings with cycles
 * @payload: the copy of a payload, EVENTLOG_PAYLOAD_MAX bytes; allocated with the first ring
 * @work: the worker: runs while there are active rings
 */
struct eventlog_shard {
	struct mutex lock;
	struct eventlog_steps steps;
	unsigned int index;
	struct list_head rings;
	struct list_head active;
	struct list_head finished;
	u64 looks;
	u64 begun;
	bool passing;
	struct eventlog_pass pass;
	unsigned int count;
	unsigned int unlimited;
	struct eventlog_mapped **heap;
	unsigned int heap_count;
	unsigned int heap_room;
	struct eventlog_cycles cycles;
	unsigned int cycles_count;
	u8 *payload;
	struct delayed_work work;
};

/**
 * struct eventlog_mapped - a producer ring
 * @shard: its shard; constant, like everything down to @has_cycles
 * @file: the file that it belongs to, valid until the ring is removed
 * @user: the user that its memory counts for, with a reference, or NULL
 * @mm: the process that may map it, with a reference to the struct only
 * @number: in the file
 * @pages: its memory
 * @header: the first page
 * @data: the data
 * @data_bytes: size of @data, a power of two
 * @has_cycles: times in its records are values of the cycle counter
 * @users: references, see the top of the file
 * @rcu: frees it
 * @node: in the shard's rings, until it is removed
 * @active_node: in the shard's active rings, or empty
 * @looked: number of the last look at it while it slept
 * @pass: number of the last pass that has looked at it, or of the last one that had begun
 *	when it was added
 * @whole_first: number of the first pass that takes all of it, because its thread waits for
 *	that
 * @whole_last: likewise, the last one
 * @mappings: how often it is mapped: at most once, except for a moment in mremap()
 * @ended: what comes after @final is not taken, and its file does not find it; read without
 *	the lock
 * @final: committed when it ended
 * @dead: it contained something invalid and is not drained any more
 * @counted: of a dead ring: for how many indices of its file a loss was counted
 * @leave: the thread is asked to leave it
 * @asked: ask is set, and the worker has yet to look a last time
 * @asked_at: when ask was set
 * @taken: something was taken since the worker looked
 * @tail: end of the records taken
 * @end: committed, in this pass
 * @late: the sum in the header when late events were counted last
 * @late_over: it has ended, and they were counted a last time
 * @last_time: the earliest time of the next record: not before the last one, and after
 *	what the thread has written
 * @next: copy of the header of the record at @tail, in a pass
 * @key: the time of that record, not before @last_time; U64_MAX: it is after the cutoff
 * @comm: name of the thread
 * @emitter: the thread
 * @running: what others find of the thread
 */
struct eventlog_mapped {
	struct eventlog_shard *shard;
	struct eventlog_file *file;
	struct eventlog_user *user;
	struct mm_struct *mm;
	u32 number;
	struct eventlog_pages pages;
	struct eventlog_mapped_header *header;
	const u8 *data;
	u32 data_bytes;
	bool has_cycles;
	refcount_t users;
	struct rcu_head rcu;

	struct list_head node;
	struct list_head active_node;
	u64 looked;
	u64 pass;
	u64 whole_first;
	u64 whole_last;
	unsigned int mappings;
	bool ended;
	u32 final;
	bool dead;
	u8 counted;
	bool leave;
	bool asked;
	u64 asked_at;
	bool taken;
	u32 tail;
	u32 end;
	u32 late;
	bool late_over;
	u64 last_time;
	struct eventlog_mapped_record next;
	u64 key;
	char comm[TASK_COMM_LEN];
	struct eventlog_emitter emitter;
	struct eventlog_thread *running;
};

/**
 * eventlog_mapped_advance() - have the next records of a ring after a time
 * @ring: the ring; the shard is locked, or does not know the ring yet
 * @time: the time of an event that the thread has emitted, not with the ring
 */
void eventlog_mapped_advance(struct eventlog_mapped *ring, u64 time);

/**
 * eventlog_shards_init() - make the shards of a domain, at load
 * @domain: without shards
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_shards_init(struct eventlog_domain *domain);

/**
 * eventlog_shards_exit() - free the shards of a domain, at unload
 * @domain: without rings; its shards may be missing
 */
void eventlog_shards_exit(struct eventlog_domain *domain);

/**
 * eventlog_shard_lock() - take the lock of a shard
 * @shard: the shard
 */
void eventlog_shard_lock(struct eventlog_shard *shard);

/**
 * eventlog_shard_unlock() - release the lock, and free what was removed
 * @shard: the shard
 */
void eventlog_shard_unlock(struct eventlog_shard *shard);

/**
 * eventlog_mapped_put() - drop a reference to a ring
 * @ring: the ring; its shard is not locked
 */
void eventlog_mapped_put(struct eventlog_mapped *ring);

/** eventlog_late_is_new() - has a ring late events that were not counted so far? */
static inline bool eventlog_late_is_new(const struct eventlog_mapped *ring)
{
	return READ_ONCE(ring->header->late) != ring->late;
}

/** eventlog_late_count() - what eventlog_late_take() does if there are any */
unsigned int eventlog_late_count(struct eventlog_mapped *ring);

/**
 * eventlog_late_take() - count the late events of a ring that were not counted so far
 * @ring: the ring; its shard is locked
 *
 * Return: what that took of the shard's budget.
 */
static inline unsigned int eventlog_late_take(struct eventlog_mapped *ring)
{
	return likely(!eventlog_late_is_new(ring)) ? 0 : eventlog_late_count(ring);
}

/**
 * eventlog_mapped_is_empty() - has a ring no records that were not taken
 * @ring: the ring; its shard is locked.  If its thread does not wait in the kernel, it may
 *	be emitting
 */
bool eventlog_mapped_is_empty(const struct eventlog_mapped *ring);

/**
 * eventlog_shards_drain() - deliver what was emitted to all rings of a domain so far
 * @domain: the domain
 * @killable: a fatal signal ends the wait
 *
 * Looks at every ring, also at those that sleep.  Process context, sleeps.
 *
 * Return: 0 or -EINTR.
 */
int eventlog_shards_drain(struct eventlog_domain *domain, bool killable);

/**
 * eventlog_shard_choose() - choose a shard for a new ring
 * @domain: the domain
 * @user: the ring's user
 *
 * Rings of one user share a shard rather than rings of different users, because a thread
 * that drains its ring may have to wait for the others of the shard.
 *
 * Return: a shard.
 */
struct eventlog_shard *eventlog_shard_choose(struct eventlog_domain *domain,
					     struct eventlog_user *user);

/**
 * eventlog_shard_add() - add a ring, which is asleep, to its shard
 * @ring: complete, in no shard yet
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_shard_add(struct eventlog_mapped *ring);

/**
 * eventlog_shard_end() - end a ring, unless it has ended
 * @ring: the ring; the shard is locked, and the caller has a reference
 *
 * Delivers nothing.  The next pass does, and then removes the ring.
 */
void eventlog_shard_end(struct eventlog_mapped *ring);

/**
 * eventlog_shard_wake() - wake up a ring that sleeps, if it has records
 * @ring: the ring, which may have ended; the shard is locked
 *
 * Its thread is about to kick it, but may be preempted or stopped before.
 */
void eventlog_shard_wake(struct eventlog_mapped *ring);

/**
 * eventlog_shard_want() - have the next pass take all that a ring contains
 * @ring: a ring that has not ended; the shard is locked
 *
 * The ring is active afterwards.
 */
void eventlog_shard_want(struct eventlog_mapped *ring);

/**
 * eventlog_shard_resume() - have a ring used again that another thread has left
 * @ring: eventlog_shard_want() was called, and its @running was replaced; the shard is locked
 */
void eventlog_shard_resume(struct eventlog_mapped *ring);

/**
 * eventlog_shard_take() - deliver what a ring contains
 * @ring: a ring that has not ended; the shard is locked
 *
 * Stops after a limited number of records, which may all be of other rings.
 */
void eventlog_shard_take(struct eventlog_mapped *ring);

/**
 * eventlog_shard_next() - the number of the pass that begins next
 * @shard: locked
 */
u64 eventlog_shard_next(const struct eventlog_shard *shard);

/**
 * eventlog_shard_wait() - wait for the end of a pass, and help with it
 * @shard: not locked
 * @number: of the pass, at most eventlog_shard_next()
 * @killable: a fatal signal ends the wait
 *
 * Process context, sleeps.
 *
 * Return: 0 or -EINTR.
 */
int eventlog_shard_wait(struct eventlog_shard *shard, u64 number, bool killable);

#endif /* EVENTLOG_SHARD_H */
