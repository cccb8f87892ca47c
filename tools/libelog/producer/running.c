// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which session a thread works on: see elog_session_enter(), and elog_session_begin() for events
 * whose schema has the attribute start or end.
 *
 * The thread's own storage has the session. The kernel reads it in the header of one of the
 * thread's rings, of the one that was attached last: struct elog_thread_rings.counted. A
 * thread enters a session with an event, and uses the ring of the event's producer. If
 * another ring counts, the thread attaches this one again: while EVENTLOG_STATUS_SESSION says
 * that there is a listener, or if the other one shows a session. A ring that takes the place of
 * another one gets the session: see carry_on() in rings.c. If the thread cannot have a ring, it
 * writes the session to the producer's file; if it has one of another producer, the kernel puts
 * the session there.
 *
 * The header is used between elog_mapped_begin() and elog_mapped_end(), and only if the
 * rings are connected in between: see elog_rings_quiesce(). A signal handler that has
 * interrupted an emission is between them, too.
 *
 * A signal handler leaves the session as it found it, so the function that it has interrupted
 * finishes as if it had not run.
 *
 * Events begin a session only while there is a listener, because otherwise they must not cost
 * anything, and neither do they end it then: the kernel does, see EVENTLOG_SESSION_LISTENED. What
 * is left of it here has an old generation.
 */
#include <errno.h>
#include <string.h>

#include "producer/state.h"
#include "util/port.h"

/* Return: false if the thread has no ring of the producer that the kernel looks at. */
static inline bool store(struct elog_mapped_ring *ring, const struct elog_producer *producer)
{
	const struct elog_running *running = &elog_thread_rings.running;
	struct eventlog_mapped_header *header;
	bool began, stored = false;

	if (!ring || ring != elog_thread_rings.counted)
		return false;
	began = elog_mapped_begin(ring);
	header = __atomic_load_n(&ring->header, __ATOMIC_RELAXED);
	if (header && __atomic_load_n(&producer->rings.connected, __ATOMIC_RELAXED)) {
		elog_mapped_run(header, running->of, running->session,
				elog_running_flags(running));
		elog_thread_rings.shown = running->of != 0;
		stored = true;
	}
	if (began)
		elog_mapped_end(ring);
	return stored;
}

static bool write_session(struct elog_producer *producer, uint32_t of, uint64_t session)
{
	const struct eventlog_write_session message = {
		.write_index = EVENTLOG_WRITE_SESSION, .session_of = of, .session = session,
	};
	struct writer_slot *slot = begin_call(producer);
	bool written = false;

	if (is_connected(producer))
		written = elog_port_write(producer_file(producer), &message, sizeof(message)) ==
			  sizeof(message);
	end_call(slot);
	if (written)
		elog_thread_rings.shown = of != 0;
	return written;
}

/* Has the kernel see the session of a thread that has no ring for it. */
static __attribute__((noinline)) void show(struct elog_producer *producer)
{
	const unsigned int place = producer->rings.place;
	const struct elog_running *running = &elog_thread_rings.running;
	int error = errno;

	if (place != ELOG_RING_PLACES && elog_rings_may_get(&producer->rings))
		elog_producer_manage(producer, elog_rings_run);
	/* It may have got one. */
	if (!store(elog_rings_of_thread(place), producer) &&
	    !write_session(producer, running->of, running->session) && running->of &&
	    elog_thread_rings.shown)
		/* There is no room for it: at least, what is over must not go on. */
		write_session(producer, 0, 0);
	errno = error;
}

static void change(const struct elog_event *event, struct elog_running running)
{
	struct elog_running *current = &elog_thread_rings.running;
	struct elog_producer *producer = registered(event)->producer;

	__atomic_store_n(&current->of, 0, __ATOMIC_RELAXED);
	elog_mapped_fence();
	current->session = running.session;
	current->epoch = running.epoch;
	elog_mapped_fence();
	__atomic_store_n(&current->of, running.of, __ATOMIC_RELAXED);
	elog_mapped_fence();
	if (store(elog_rings_of_thread(registered(event)->place), producer))
		return;
	/* What another producer has shown must not go on when it is over. */
	if (elog_thread_rings.shown ||
	    (running.of && elog_event_status(event) & EVENTLOG_STATUS_SESSION))
		show(producer);
}

static void enter(const struct elog_event *event, uint64_t session, uint32_t flag)
{
	struct elog_running running = {
		.epoch = (__atomic_load_n(&elog_rings_epoch, __ATOMIC_RELAXED) &
			  ~ELOG_RUNNING_BEGUN) | flag,
	};

	if (session)
		running.of = elog_event_descriptor(event);
	if (running.of)
		running.session = session;
	change(event, running);
}

struct elog_running elog_session_enter(const struct elog_event *event, uint64_t session)
{
	const struct elog_running before = elog_thread_rings.running;

	if (event)
		enter(event, session, 0);
	return before;
}

static uint32_t generation_of(const struct elog_event *event)
{
	const uint32_t *generation = __atomic_load_n(&registered(event)->generation,
						     __ATOMIC_ACQUIRE);

	return __atomic_load_n(generation, __ATOMIC_RELAXED);
}

void elog_session_leave(const struct elog_event *event, struct elog_running before)
{
	if (!event)
		return;
	/* A handler may have found the rest of it half set. */
	if (!elog_running_valid(&before) || elog_running_old(&before, generation_of(event)))
		before.of = 0;
	change(event, before);
}

/* ------------------------------------------------------------------------
 * Sessions that events begin
 */

/*
 * Forgets what events have begun before the last listener went, or before a marker policy changed,
 * which is rare. The thread goes on with what it had entered itself before, or with nothing.
 */
static void forget_old(const struct elog_event *event, uint32_t generation)
{
	struct elog_thread_rings *thread = &elog_thread_rings;
	struct elog_running before;

	if (!thread->begun_count ||
	    thread->begun[thread->begun_count - 1].generation == generation)
		return;
	before = thread->begun[0].before;
	elog_mapped_fence();
	thread->begun_count = 0;
	if (thread->running.epoch & ELOG_RUNNING_BEGUN)
		elog_session_leave(event, before);
}

/* Place of a session in what the thread has begun; begun_count: it is not there. */
static unsigned int find_begun(const struct elog_event *event, uint64_t session)
{
	const struct elog_thread_rings *thread = &elog_thread_rings;
	unsigned int i = thread->begun_count;

	while (i--)
		if (thread->begun[i].session == session &&
		    thread->begun[i].provider == registered(event)->schema_provider)
			return i;
	return thread->begun_count;
}

void elog_session_begin(const struct elog_event *event, uint64_t session)
{
	struct elog_thread_rings *thread = &elog_thread_rings;
	uint32_t generation;
	struct elog_begun *begun;
	unsigned int place;

	if (!session || !(elog_event_status(event) & EVENTLOG_STATUS_SESSION))
		return;
	generation = generation_of(event);
	forget_old(event, generation);
	place = find_begun(event, session);
	begun = &thread->begun[place];
	if (place < thread->begun_count) {
		/* It begins again; what was begun in it is over. */
		thread->begun_count = place + 1;
		elog_mapped_fence();
		/* The program has entered another one, as its end was in another thread. */
		if (!(thread->running.epoch & ELOG_RUNNING_BEGUN))
			begun->before = thread->running;
	} else {
		if (place == ELOG_BEGUN_MAX) {
			memmove(thread->begun, thread->begun + 1,
				(ELOG_BEGUN_MAX - 1) * sizeof(*begun));
			begun--;
		}
		/* A handler that begins and ends another one in between changes none of it. */
		begun->session = 0;
		begun->generation = generation;
		elog_mapped_fence();
		thread->begun_count = (unsigned int)(begun - thread->begun) + 1;
		elog_mapped_fence();
		begun->before = thread->running;
		begun->provider = registered(event)->schema_provider;
		elog_mapped_fence();
		begun->session = session;
	}
	enter(event, session, ELOG_RUNNING_BEGUN);
}

void elog_session_end(const struct elog_event *event, uint64_t session)
{
	struct elog_thread_rings *thread = &elog_thread_rings;
	struct elog_running before;
	unsigned int place;

	if (!thread->begun_count || !session)
		return;
	forget_old(event, generation_of(event));
	place = find_begun(event, session);
	if (place == thread->begun_count)
		return;
	before = thread->begun[place].before;
	elog_mapped_fence();
	thread->begun_count = place;
	/* What the program itself has entered or left meanwhile counts. */
	if (thread->running.epoch & ELOG_RUNNING_BEGUN)
		elog_session_leave(event, before);
}
