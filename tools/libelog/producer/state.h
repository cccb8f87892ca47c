/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A producer and its events, as producer.c, which connects, registration.c, which registers, and
 * emit.c, which emits, know them. producer.c says what protects them.
 */
#ifndef LIBELOG_PRODUCER_STATE_H
#define LIBELOG_PRODUCER_STATE_H

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "producer/producer.h"
#include "producer/rings.h"
#include "util/own_file.h"
#include "util/util.h"

#define WRITER_SLOTS	16
#define CACHE_LINE	64

struct registered_event {
	struct elog_event event;	/* atomic */
	uint32_t write_index;		/* atomic */
	uint32_t place;			/* of the producer, see struct elog_rings */
	struct elog_producer *producer;
	struct registered_event *next;
	char *provider;			/* NULL: the kernel's default */
	char *command;			/* or schema, with EVENTLOG_REGISTER_SCHEMA */
	char *plain;			/* the schema without attribute; NULL: it has none */
	const unsigned char **follower;	/* a copy of the status; or NULL */
	struct elog_typed_event *typed;	/* that the follower is in; or NULL */
	uint64_t keywords;
	uint32_t level;
	uint32_t flags;
	uint32_t handlers;		/* of a marker, see elog_event_report_handlers(); or 0 */
	uint32_t attribute;		/* EVENTLOG_ATTRIBUTE_* of its schema; or 0 */
	uint32_t schema_provider;	/* a hash of the provider's name, if there is an attribute */
	uint32_t status_offset;		/* in the status map */
	uint32_t descriptor;		/* atomic */
	uint32_t incarnation;		/* atomic; counts its registrations */
	bool awaited;			/* atomic; see leave.c */
	unsigned long missed;		/* atomic; likewise */
	const uint32_t *generation;	/* atomic; in the status map, see elog_event_filter_key() */
	int error;			/* atomic */
};

/* Of a producer, in one word: a thread that looks once knows what to do with an event. */
enum elog_connection {
	ELOG_NOT_CONNECTED,	/* what is not emitted is not counted */
	ELOG_CONNECTED,
	ELOG_AWAY,		/* it has left the device, and counts, see leave.h */
};

struct writer_slot {
	unsigned long count;		/* atomic */
} __attribute__((aligned(CACHE_LINE)));

struct elog_producer {
	struct writer_slot writers[WRITER_SLOTS];
	pthread_mutex_t lock;
	struct elog_producer *next;	/* see process.c */
	pid_t process;			/* whose file and rings it has */
	char *device;			/* NULL: the default, or an engine */
	struct registered_event *events;
	unsigned char *status_map;		/* or the page that replaces it */
	size_t map_size;
	bool is_mapped;			/* it is the kernel's memory */
	struct elog_own_file file;	/* changes only while there is no writer */
	struct elog_own_file inherited;	/* in the child of a fork: the parent's, until it connects */
	unsigned int connection;	/* atomic; enum elog_connection */
	struct elog_rings rings;
	uint64_t next_try;		/* atomic; to connect or to register; coarse clock, ns */
	bool away;			/* it has left the device, and is not back */
	bool missed;			/* atomic; an event has counted something */
	bool gone;			/* the device was not there */
	bool engine;			/* atomic; what was opened last is an engine */
	uint64_t wait;			/* for room in a ring that an engine drains, ns */
	uint64_t next_disconnect;	/* atomic; after a failure; coarse clock, ns */
	unsigned int retries;		/* to connect soon */
	uint64_t next_report;		/* of @missed; coarse clock, ns */
	uint64_t report_until;		/* likewise */
};

static inline struct registered_event *registered(const struct elog_event *event)
{
	return elog_container_of((uintptr_t)event, struct registered_event,
				 event);
}

static inline enum elog_connection elog_connection(const struct elog_producer *producer)
{
	return __atomic_load_n(&producer->connection, __ATOMIC_SEQ_CST);
}

/* Is it connected to an engine, or was it? */
static inline bool has_engine(const struct elog_producer *producer)
{
	return __atomic_load_n(&producer->engine, __ATOMIC_RELAXED);
}

static inline bool is_connected(const struct elog_producer *producer)
{
	return elog_connection(producer) == ELOG_CONNECTED;
}

/* Choose by the address of the thread's data, so threads rarely share a slot. */
static inline struct writer_slot *writer_slot(struct elog_producer *producer)
{
	uint64_t mixed = (uintptr_t)&elog_thread_rings * 0x9e3779b97f4a7c15ULL;

	return &producer->writers[mixed >> 60];
}

/* The file stays open until end_call(). Make only system calls in between. */
static inline struct writer_slot *begin_call(struct elog_producer *producer)
{
	struct writer_slot *slot = writer_slot(producer);

	__atomic_fetch_add(&slot->count, 1, __ATOMIC_SEQ_CST);
	return slot;
}

/* The number of the file: between begin_call() and end_call(), or with the lock; -1: it is lost. */
static inline int producer_file(const struct elog_producer *producer)
{
	return elog_file_fd(&producer->file);
}

static inline void end_call(struct writer_slot *slot)
{
	__atomic_fetch_sub(&slot->count, 1, __ATOMIC_SEQ_CST);
}

/**
 * struct elog_held - what a thread had before it took a producer's lock
 * @signals: its signal mask
 * @cancel: its cancellation state
 * @error: errno
 */
struct elog_held {
	sigset_t signals;
	int cancel;
	int error;
};

/**
 * elog_producer_lock() - wait for a producer's lock
 * @producer: the producer
 *
 * The thread is not cancelled meanwhile: with the lock, it may come to open(), close() and
 * nanosleep(), which are cancellation points. Not for signal handlers.
 *
 * Return: its cancellation state before, for elog_producer_lock_end().
 */
int elog_producer_lock(struct elog_producer *producer);

/** elog_producer_lock_end() - release the lock of elog_producer_lock() */
void elog_producer_lock_end(struct elog_producer *producer, int cancel);

/**
 * elog_producer_trylock() - take a producer's lock where a signal handler may run
 * @producer: the producer
 * @before: set, for elog_producer_unlock()
 *
 * Until the lock is released, no handler runs and the thread is not cancelled, so it cannot
 * go away with the lock.
 *
 * A child that shares the memory, as after vfork(), does not get the lock: it has other files, and
 * a new file or ring would be the child's.
 *
 * Return: false if the lock is taken.
 */
bool elog_producer_trylock(struct elog_producer *producer, struct elog_held *before);

/** elog_producer_unlock() - release the lock. Restores errno */
void elog_producer_unlock(struct elog_producer *producer, const struct elog_held *before);

/**
 * elog_producer_manage() - change this thread's ring
 * @producer: the producer
 * @change: called with the lock, while the producer is connected. All signals are blocked,
 *	so that no handler finds a half-made ring
 *
 * Does nothing if the lock is taken. Preserves errno.
 */
void elog_producer_manage(struct elog_producer *producer,
			  void (*change)(struct elog_rings *rings, int fd));

/**
 * elog_session_begin() - the calling thread works on the session of an event that begins it
 * @event: its attribute is START
 * @session: the session
 *
 * Does nothing unless there is a listener to the provider sched. May be called by any thread and
 * in signal handlers. Preserves errno.
 */
void elog_session_begin(const struct elog_event *event, uint64_t session);

/**
 * elog_session_end() - the thread goes on with what it worked on before elog_session_begin()
 * @event: its attribute is END
 * @session: the session; does nothing if no event of the same provider has begun it in this thread
 *
 * Also ends the sessions that were begun later in this thread.
 */
void elog_session_end(const struct elog_event *event, uint64_t session);

/**
 * elog_producer_disconnect() - end all registrations and close the file
 * @producer: locked
 * @is_patient: wait for threads that are in the kernel, forever, and for those that emit to a
 *	ring, 2 s; otherwise, because signals are blocked, for 10 and 100 ms
 *
 * Return: false if a thread does not leave the kernel: the producer stays connected.
 */
bool elog_producer_disconnect(struct elog_producer *producer, bool is_patient);

/* After a failure, wait before the next try: each one waits, and there may be many events. */
static inline bool elog_producer_may_disconnect(const struct elog_producer *producer)
{
	return elog_clock_read(CLOCK_MONOTONIC_COARSE) >=
	       __atomic_load_n(&producer->next_disconnect, __ATOMIC_RELAXED);
}

/**
 * elog_producer_gone() - connect again, because the device's instance was deleted
 * @producer: a write has failed with ENODEV
 *	or with ETIMEDOUT or EAGAIN, because an engine does not answer
 *
 * The next test of an event opens the device, which may be that of a new instance. An engine that
 * was stopped is asked again after ten seconds; until then, events that had a listener count. Does
 * nothing if the lock is taken. Preserves errno.
 */
void elog_producer_gone(struct elog_producer *producer);

/**
 * elog_producer_check() - connect again, if the program has closed the producer's file
 * @producer: locked. No emission of this thread was interrupted
 *
 * What threads have put in rings is delivered. If the device cannot be opened, what is not
 * emitted until then is counted.
 */
void elog_producer_check(struct elog_producer *producer);

/**
 * elog_producer_lost() - elog_producer_check(), where a signal handler may run
 * @producer: producer_file() has returned -1
 *
 * Does nothing if the lock is taken, or if a signal handler has interrupted an emission. Preserves
 * errno.
 */
void elog_producer_lost(struct elog_producer *producer);

/**
 * elog_producer_after_fork() - in the child of a fork: forget the connection
 * @producer: locked
 */
void elog_producer_after_fork(struct elog_producer *producer);

#endif /* LIBELOG_PRODUCER_STATE_H */
