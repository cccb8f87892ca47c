/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps: how much work is done during one hold of a lock.  Tests compare these counts,
 * because they do not depend on the speed of the machine.  Only test builds
 * (EVENTLOG_TEST_MODULE=1) count; elsewhere the functions are empty.
 *
 * A step is one element of something whose length a user can choose: a rule that is
 * matched, an event that is visited, a record that is delivered.  Who holds the lock
 * counts, so struct eventlog_steps needs no lock of its own.  The longest counts of all
 * locks of a kind are in the module's parameter "steps", in the order of enum
 * eventlog_steps_kind; writing zeroes to it starts again.
 */
#ifndef EVENTLOG_STEPS_H
#define EVENTLOG_STEPS_H

#include <linux/atomic.h>
#include <linux/types.h>

enum eventlog_steps_kind {
	EVENTLOG_STEPS_DOMAIN,		/* domain->lock */
	EVENTLOG_STEPS_EVENT_MUTEX,	/* ftrace's event_mutex, or waiting for a lock under it */
	EVENTLOG_STEPS_TRACES,		/* eventlog_traces.lock */
	EVENTLOG_STEPS_USER_EVENTS,	/* ue_lock */
	EVENTLOG_STEPS_MMAP,		/* mmap_lock of a process */
	EVENTLOG_STEPS_SHARD,		/* the lock of a shard */
	EVENTLOG_STEPS_VISIBLE,		/* the lock of the trees of registrants */
	EVENTLOG_STEPS_KINDS,
};

#ifdef EVENTLOG_COUNT_STEPS

/**
 * struct eventlog_steps - the steps of the current hold of a lock
 * @count: their number
 */
struct eventlog_steps {
	unsigned long count;
};

/* By enum eventlog_steps_kind. */
extern unsigned long eventlog_steps_most[EVENTLOG_STEPS_KINDS];

/**
 * eventlog_steps_begin() - a lock has been taken
 * @steps: belongs to the lock
 */
static inline void eventlog_steps_begin(struct eventlog_steps *steps)
{
	steps->count = 0;
}

/**
 * eventlog_steps_add() - count steps
 * @steps: belongs to a lock that the caller holds
 * @count: how many
 */
static inline void eventlog_steps_add(struct eventlog_steps *steps, unsigned long count)
{
	steps->count += count;
}

/**
 * eventlog_steps_add_all() - count the steps of another lock, too
 * @steps: belongs to a lock that the caller holds
 * @inner: belongs to a lock that was taken under it, and is still held
 */
static inline void eventlog_steps_add_all(struct eventlog_steps *steps,
					  const struct eventlog_steps *inner)
{
	steps->count += inner->count;
}

/**
 * eventlog_steps_end() - the lock is about to be released
 * @steps: belongs to the lock
 * @kind: its kind
 */
static inline void eventlog_steps_end(struct eventlog_steps *steps, enum eventlog_steps_kind kind)
{
	unsigned long most = READ_ONCE(eventlog_steps_most[kind]);

	/* Two holders of different locks of one kind may race: the larger count stays. */
	while (steps->count > most &&
	       !try_cmpxchg(&eventlog_steps_most[kind], &most, steps->count))
		;
}

#else

struct eventlog_steps { };

static inline void eventlog_steps_begin(struct eventlog_steps *steps) { }
static inline void eventlog_steps_add(struct eventlog_steps *steps, unsigned long count) { }
static inline void eventlog_steps_add_all(struct eventlog_steps *steps,
					  const struct eventlog_steps *inner) { }
static inline void eventlog_steps_end(struct eventlog_steps *steps,
				      enum eventlog_steps_kind kind) { }

#endif /* EVENTLOG_COUNT_STEPS */

#endif /* EVENTLOG_STEPS_H */
