// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which session a thread works on: see elog_session_enter().
 *
 * The thread's own storage has the session. The kernel reads it in the header of one of the
 * thread's rings, of the one that was attached last: struct elog_thread_rings.counted. A
 * thread enters a session with an event, and uses the ring of the event's producer. If
 * another ring counts, the thread attaches this one again: while EVENTLOG_STATUS_SESSION says
 * that there is a listener, or if the other one shows a session. A ring that takes the place of
 * another one gets the session: see carry_on() in rings.c.
 *
 * The header is used between elog_mapped_begin() and elog_mapped_end(), and only if the
 * rings are connected in between: see elog_rings_quiesce(). A signal handler that has
 * interrupted an emission is between them, too.
 *
 * A signal handler leaves the session as it found it, so the function that it has interrupted
 * finishes as if it had not run.
 */
#include "producer/state.h"

/* The session of a thread ends where its descriptors may become wrong. */
static bool is_valid(const struct elog_running *running)
{
	return running->epoch == __atomic_load_n(&elog_rings_epoch, __ATOMIC_RELAXED);
}

/* Return: false if the thread has no ring of the producer that the kernel looks at. */
static inline bool store(struct elog_mapped_ring *ring, const struct elog_producer *producer)
{
	struct eventlog_mapped_header *header;
	bool began, stored = false;

	if (!ring || ring != elog_thread_rings.counted)
		return false;
	began = elog_mapped_begin(ring);
	header = __atomic_load_n(&ring->header, __ATOMIC_RELAXED);
	if (header && __atomic_load_n(&producer->rings.connected, __ATOMIC_RELAXED)) {
		elog_mapped_run(header, elog_thread_rings.running.of,
				elog_thread_rings.running.session);
		elog_thread_rings.shown = elog_thread_rings.running.of != 0;
		stored = true;
	}
	if (began)
		elog_mapped_end(ring);
	return stored;
}

/* Gets a ring for the thread, which stores the session. */
static __attribute__((noinline)) void get_ring(struct elog_producer *producer)
{
	if (elog_rings_may_get(&producer->rings))
		elog_producer_manage(producer, elog_rings_run);
}

static void change(const struct elog_event *event, struct elog_running running)
{
	struct elog_running *current = &elog_thread_rings.running;
	const unsigned int place = registered(event)->place;
	struct elog_producer *producer = registered(event)->producer;

	__atomic_store_n(&current->of, 0, __ATOMIC_RELAXED);
	elog_mapped_fence();
	current->session = running.session;
	current->epoch = running.epoch;
	elog_mapped_fence();
	__atomic_store_n(&current->of, running.of, __ATOMIC_RELAXED);
	elog_mapped_fence();
	if (store(elog_rings_of_thread(place), producer) || place == ELOG_RING_PLACES)
		return;
	/* The ring of another producer must not go on to show what is over. */
	if (elog_thread_rings.shown ||
	    (running.of && elog_event_status(event) & EVENTLOG_STATUS_SESSION))
		get_ring(producer);
}

struct elog_running elog_session_enter(const struct elog_event *event, uint64_t session)
{
	const struct elog_running before = elog_thread_rings.running;
	struct elog_running running = {
		.epoch = __atomic_load_n(&elog_rings_epoch, __ATOMIC_RELAXED),
	};

	if (!event)
		return before;
	if (session)
		running.of = elog_event_descriptor(event);
	if (running.of)
		running.session = session;
	change(event, running);
	return before;
}

void elog_session_leave(const struct elog_event *event, struct elog_running before)
{
	if (!event)
		return;
	/* A handler may have found the rest of it half set. */
	if (!is_valid(&before))
		before.of = 0;
	change(event, before);
}
