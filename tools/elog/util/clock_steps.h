/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When CLOCK_REALTIME was set, so that each event gets the wall-clock time that was valid
 * when it was emitted.
 *
 * The kernel reports that the clock was set, but not when. So a thread waits for it. The
 * functions may be called by any thread; a mutex protects the list.
 */
#ifndef CLOCK_STEPS_H
#define CLOCK_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock_steps;

/** struct clock_step - since @time, CLOCK_REALTIME is @offset ns ahead of the clock of records */
struct clock_step {
	uint64_t time;
	int64_t offset;
};

/**
 * clock_steps_new() - start to watch the clock
 * @sample: reads the clock of records and the offset
 *
 * Return: NULL if that is not possible.
 */
struct clock_steps *clock_steps_new(struct clock_step (*sample)(void));

/** clock_steps_free() - stop; NULL is allowed */
void clock_steps_free(struct clock_steps *steps);

/** clock_steps_offset() - the offset at a time of the clock of records */
int64_t clock_steps_offset(struct clock_steps *steps, uint64_t time);

/**
 * clock_steps_next() - find when the clock was set
 * @steps: a list, or NULL
 * @after: a time
 * @until: a later time
 * @step: filled in with the first one after @after, and at or before @until
 *
 * Return: false if there is none.
 */
bool clock_steps_next(struct clock_steps *steps, uint64_t after, uint64_t until,
		      struct clock_step *step);

#endif /* CLOCK_STEPS_H */
