// SPDX-License-Identifier: GPL-2.0-only
/*
 * Late events: what threads have not put into their producer rings, because these had no room, and
 * count in a table there.  No state of its own; the caller holds the lock of the ring's shard.
 *
 * The table can change at any time, as the rest of a ring can.  Its process decides only how many
 * of its own events are counted as lost.
 */
#include "compat.h"
#include "core/event.h"
#include "core/emit.h"
#include "user/file.h"
#include "user/producer.h"
#include "user/shard.h"

/* In one look at a ring: what counters of 32 bits take. */
#define EVENTLOG_LATE_EVENTS_MAX S32_MAX

static unsigned int eventlog_late_emit(struct eventlog_mapped *ring, u32 write_index, u32 count)
{
	const struct eventlog_listeners *listeners = NULL;
	unsigned int steps = 0;
	unsigned long target;

	rcu_read_lock();
	target = eventlog_target_find(ring->file, write_index);
	if (target)
		listeners = rcu_dereference(eventlog_target_event(target)->listeners);
	if (listeners) {
		steps = listeners->count;
		eventlog_emit_late(eventlog_target_event(target), count, &ring->emitter);
	}
	rcu_read_unlock();
	return steps;
}

unsigned int eventlog_late_count(struct eventlog_mapped *ring)
{
	struct eventlog_mapped_late *late = (void *)ring->header + EVENTLOG_MAPPED_LATE;
	u32 left = EVENTLOG_LATE_EVENTS_MAX, write_index, taken, count;
	unsigned int steps = 0, i;

	/* Pairs with the release of the thread: the counts are complete. */
	ring->late = smp_load_acquire(&ring->header->late);
	for (i = 0; i < EVENTLOG_MAPPED_LATE_MAX; i++, late++) {
		write_index = READ_ONCE(late->write_index);
		if (!write_index)
			break;
		steps++;
		taken = READ_ONCE(late->taken);
		count = min(READ_ONCE(late->count) - taken, left);
		if (!count)
			continue;
		left -= count;
		WRITE_ONCE(late->taken, taken + count);
		steps += eventlog_late_emit(ring, write_index, count);
	}
	/* The next look takes the rest. */
	if (!left)
		ring->late--;
	return steps;
}
