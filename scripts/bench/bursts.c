// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that emit bursts: see bursts.h.  All threads of a measurement begin together.  Between
 * two bursts a thread sleeps, so caches and branch predictors are as in a program that does
 * other work, and a log that has a thread of its own gets a CPU.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "bench_rows.h"
#include "bursts.h"

#define WARM_UP_BURSTS 100
#define PAUSE_NS 200000

const unsigned int burst_percentiles[BURST_PERCENTILES] = { 500, 950, 999 };

struct thread {
	const struct burst_log *log;
	pthread_barrier_t *begin;
	unsigned int bursts;
	double *values;		/* of each burst, ns of an event */
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void *emit_bursts(void *argument)
{
	static const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const struct thread *thread = argument;
	void *context = thread->log->open();
	unsigned int i;

	pthread_barrier_wait(thread->begin);
	for (i = 0; i < WARM_UP_BURSTS + thread->bursts; i++) {
		uint64_t before = now(), after;

		thread->log->emit(context, BURST_EVENTS);
		after = now();
		if (i >= WARM_UP_BURSTS)
			thread->values[i - WARM_UP_BURSTS] =
				(double)(after - before) / BURST_EVENTS;
		if (thread->log->after)
			thread->log->after(context);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static int compare(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;

	return (difference > 0) - (difference < 0);
}

void bursts_measure(const struct burst_log *log, unsigned int threads, unsigned int bursts,
		    double result[BURST_PERCENTILES])
{
	const size_t count = (size_t)threads * bursts;
	double *values = calloc(count, sizeof(*values));
	struct thread states[BURST_THREADS];
	pthread_t ids[BURST_THREADS];
	pthread_barrier_t begin;
	unsigned int i;

	if (!values || pthread_barrier_init(&begin, NULL, threads))
		fail("no memory");
	for (i = 0; i < threads; i++) {
		states[i] = (struct thread){ log, &begin, bursts, values + (size_t)i * bursts };
		if (pthread_create(&ids[i], NULL, emit_bursts, &states[i]))
			fail("cannot create a thread");
	}
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	qsort(values, count, sizeof(*values), compare);
	/* Nearest rank, rounded up. */
	for (i = 0; i < BURST_PERCENTILES; i++)
		result[i] = values[(count * burst_percentiles[i] + 999) / 1000 - 1];
	pthread_barrier_destroy(&begin);
	free(values);
}
