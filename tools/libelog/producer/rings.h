/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The rings in which threads of a producer emit events without a system call: who has which
 * ring, and what happens to it when threads and processes start and end. mapped_ring.h is
 * what a thread does with its ring.
 *
 * A ring belongs to one thread and to one connection of one producer. The thread finds it
 * in a table in its thread-local storage, which has a place for each of the first
 * ELOG_RING_PLACES producers of the process; other producers have no rings. A ring stays the
 * thread's until the thread ends or the producer is closed: then another thread can take it
 * over. While a producer is not connected, its rings have no memory.
 *
 * The producer's lock protects everything; the functions are called with the lock, unless
 * they say otherwise. They make only system calls, so signal handlers may call them.
 */
#ifndef LIBELOG_RINGS_H
#define LIBELOG_RINGS_H

#include "elog.h"
#include "producer/mapped_ring.h"

/* Sessions that events have begun in a thread and not ended, and that are kept. */
#define ELOG_BEGUN_MAX	4

/* In elog_running.epoch: an event has begun the session, see running.c. */
#define ELOG_RUNNING_BEGUN	(1U << 31)

/**
 * struct elog_begun - a session that an event has begun in a thread
 * @before: what the thread worked on before
 * @session: its number; 0: none, or not complete yet
 * @provider: schema_provider of struct registered_event
 * @generation: of the status map then
 */
struct elog_begun {
	struct elog_running before;
	uint64_t session;
	uint32_t provider;
	uint32_t generation;
};

/* The last place of the table is always empty: of producers that have no rings. */
#define ELOG_RING_PLACES	7

struct ring_block;
struct ring_slot;

/**
 * struct elog_rings - the rings of a producer
 * @place: of the producer in the tables of threads; ELOG_RING_PLACES: it has no rings
 * @connected: atomic; threads may use the headers of their rings. It stays set while the producer
 *	waits for threads in the kernel, because then it may stay connected
 * @usable: the producer is connected to a kernel that has rings; atomic
 * @generation: of the status map, while the producer is connected and has an event
 * @next_try: atomic; coarse clock, ns: no attempt to get a ring before that, after a failure
 * @slots: one for each ring, also for those without memory
 * @blocks: their memory
 */
struct elog_rings {
	unsigned int place;
	bool connected;
	bool usable;
	const uint32_t *generation;
	uint64_t next_try;
	struct ring_slot *slots;
	struct ring_block *blocks;
};

/**
 * struct elog_thread_rings - a thread's rings, by the places of producers
 * @rings: NULL: the thread emits with write(2)
 * @running: the session that the thread works on, see running.c
 * @counted: the ring in which the kernel looks for it, if it is still the thread's; never used
 *	except to compare it
 * @shown: the kernel has a session of the thread, in the header of @counted or by write(2)
 * @begun: sessions that events have begun, the outermost first
 * @begun_count: their number
 * @written: events that it emitted with write(2) and could have put in a ring
 * @ended: the thread is about to end and gets no rings any more
 */
struct elog_thread_rings {
	struct elog_mapped_ring *rings[ELOG_RING_PLACES + 1];
	struct elog_running running;
	const struct elog_mapped_ring *counted;
	struct elog_begun begun[ELOG_BEGUN_MAX];
	unsigned int begun_count;
	bool shown;
	unsigned int written;
	bool ended;
};

/*
 * At a fixed distance from the thread pointer: a signal handler must not allocate memory for
 * it. musl allows that only for libraries that programs are linked with, but it allocates
 * all memory when a thread starts.
 */
#ifdef __GLIBC__
#define ELOG_RINGS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define ELOG_RINGS_MODEL
#endif
extern __thread struct elog_thread_rings elog_thread_rings ELOG_RINGS_MODEL
	__attribute__((visibility("hidden")));

/* Counts the disconnections of producers, and forks. After one, descriptors may be wrong. */
extern uint32_t elog_rings_epoch __attribute__((visibility("hidden")));

/* The session of a thread ends where its descriptors may become wrong. */
static inline bool elog_running_valid(const struct elog_running *running)
{
	return running->of && !((running->epoch ^
				 __atomic_load_n(&elog_rings_epoch, __ATOMIC_RELAXED)) &
				~ELOG_RUNNING_BEGUN);
}

/* Has an event begun the session in an earlier time with a listener? See running.c. */
static inline bool elog_running_old(const struct elog_running *running, uint32_t generation)
{
	const struct elog_thread_rings *thread = &elog_thread_rings;

	return running->epoch & ELOG_RUNNING_BEGUN &&
	       (!thread->begun_count ||
		thread->begun[thread->begun_count - 1].generation != generation);
}

/* EVENTLOG_SESSION_* for the header. */
static inline uint32_t elog_running_flags(const struct elog_running *running)
{
	return running->epoch & ELOG_RUNNING_BEGUN ? EVENTLOG_SESSION_LISTENED : 0;
}

/* An event's ring in this thread, or NULL. */
static inline struct elog_mapped_ring *elog_rings_of_thread(unsigned int place)
{
	return elog_thread_rings.rings[place];
}

/**
 * elog_rings_open() - choose a place for a new producer
 * @rings: set
 * @used: whether it may have rings at all
 * @taken: bit mask of the places of other producers
 */
void elog_rings_open(struct elog_rings *rings, bool used, unsigned int taken);

/** elog_rings_close() - free everything; no thread uses the producer */
void elog_rings_close(struct elog_rings *rings);

/** elog_rings_connect() - the producer has a new file: threads may get rings of it */
void elog_rings_connect(struct elog_rings *rings);

/**
 * elog_rings_quiesce() - wait until threads have left their emissions
 * @rings: no event that they emit is enabled any more
 * @pauses: how many milliseconds to wait at most: a thread that is stopped by a debugger, or
 *	that left an emission by siglongjmp(), does not leave it
 *
 * Return: false if a thread is still in an emission.
 */
bool elog_rings_quiesce(struct elog_rings *rings, unsigned int pauses);

/**
 * elog_rings_disconnect() - end all rings; what is in them is delivered
 * @rings: no event that threads emit is enabled any more
 * @pauses: as for elog_rings_quiesce(). What a thread emits later is not delivered
 */
void elog_rings_disconnect(struct elog_rings *rings, unsigned int pauses);

/**
 * elog_rings_may_get() - whether elog_rings_get() would try to get a ring
 * @rings: of any producer
 *
 * Without the lock, so the answer may be out of date.
 */
bool elog_rings_may_get(const struct elog_rings *rings);

/**
 * elog_rings_get() - get a ring for this thread, unless it has one
 * @rings: of a producer that is connected to @fd
 */
void elog_rings_get(struct elog_rings *rings, int fd);

/**
 * elog_rings_run() - get a ring for this thread, in which the kernel looks for its session
 * @rings: of a producer that is connected to @fd
 */
void elog_rings_run(struct elog_rings *rings, int fd);

/**
 * elog_rings_full() - make this thread's ring larger if it is often full
 * @rings: of a producer that is connected to @fd
 */
void elog_rings_full(struct elog_rings *rings, int fd);

/**
 * elog_rings_rung() - make this thread's ring smaller if it is mostly unused
 * @rings: of a producer that is connected to @fd
 */
void elog_rings_rung(struct elog_rings *rings, int fd);

/** elog_rings_leave() - end this thread's ring if the kernel asks for it */
void elog_rings_leave(struct elog_rings *rings, int fd);

/**
 * elog_rings_resizes() - whether elog_rings_full() and elog_rings_rung() have something to do
 * @ring: this thread's
 * @rung: the kernel asked for a KICK; otherwise the ring was full
 *
 * Without the lock.
 */
bool elog_rings_resizes(struct elog_mapped_ring *ring, bool rung);

/**
 * elog_rings_left() - whether an emission was left by siglongjmp()
 * @ring: this thread's; it is in an emission
 * @stack: the stack pointer of the function that wants to emit now
 *
 * If so, the ring is usable again. An emission that is still under way was interrupted by
 * the caller, so it is farther up on the stack. Signal handlers must not switch to another
 * stack and emit there. Without the lock.
 */
bool elog_rings_left(struct elog_mapped_ring *ring, uintptr_t stack);

/*
 * Has a signal handler interrupted an emission of this thread? Then it must not wait until all
 * emissions have ended.
 */
static inline bool elog_rings_interrupted(const struct elog_rings *rings)
{
	struct elog_mapped_ring *ring = elog_rings_of_thread(rings->place);

	return ring && ring->busy && !elog_rings_left(ring, elog_mapped_stack_pointer());
}

/**
 * elog_rings_watch_thread() - call elog_rings_thread_ended() when this thread ends
 *
 * process.c has it, because it knows all producers. Without the lock.
 *
 * Return: false if that is not possible.
 */
bool elog_rings_watch_thread(void);

/**
 * elog_rings_thread_ended() - this thread ends: give its ring to others
 * @rings: the rings
 * @fd: the producer's file, if it is a connection to an engine
 */
void elog_rings_thread_ended(struct elog_rings *rings, int fd);

/** elog_rings_before_fork() - remember whether this thread is in an emission */
void elog_rings_before_fork(struct elog_rings *rings);

/**
 * elog_rings_after_fork() - in the child: forget all rings
 *
 * The kernel has cleared the state of rings, and their memory is not mapped. If this thread
 * is in an emission, ordinary memory takes the ring's place.
 */
void elog_rings_after_fork(struct elog_rings *rings);

#endif /* LIBELOG_RINGS_H */
