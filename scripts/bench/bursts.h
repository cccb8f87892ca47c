/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Percentiles of what an event costs in a program that mostly does something else: threads emit
 * short bursts and sleep between them.
 */
#ifndef BENCH_BURSTS_H
#define BENCH_BURSTS_H

#include <stdint.h>

#define BURST_EVENTS 20
#define BURST_THREADS 4
#define BURST_PERCENTILES 3

/* 50, 95 and 99.9, as parts of a thousand. */
extern const unsigned int burst_percentiles[BURST_PERCENTILES];

/* A log: its threads get a context of their own. */
struct burst_log {
	void *(*open)(void);
	void (*emit)(void *context, uint32_t count);
	void (*after)(void *context);	/* a burst, not timed; may be NULL */
};

/**
 * bursts_measure() - let threads emit bursts, and find percentiles
 * @log: what emits
 * @threads: at most BURST_THREADS
 * @bursts: of each thread
 * @result: ns of an event: the time of a burst, divided by its events
 *
 * The reads of the clock before and after a burst are in the result.
 */
void bursts_measure(const struct burst_log *log, unsigned int threads, unsigned int bursts,
		    double result[BURST_PERCENTILES]);

/**
 * spdlog_burst() - the asynchronous logger of spdlog, to a file in memory
 *
 * Return: the log, or NULL if spdlog is not installed.
 */
const struct burst_log *spdlog_burst(void);

#endif /* BENCH_BURSTS_H */
