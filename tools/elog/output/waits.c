// SPDX-License-Identifier: GPL-2.0-only
/*
 * What threads waited for in a span: see waits.h.
 */
#include "output/waits.h"

static struct waits_thread *get_thread(struct waits *waits, uint32_t tid)
{
	struct waits_thread *thread;
	unsigned int i;

	for (i = 0; i < waits->thread_count; i++)
		if (waits->threads[i].tid == tid)
			return &waits->threads[i];
	if (i == WAITS_THREADS)
		return &waits->threads[WAITS_THREADS - 1];
	waits->thread_count++;
	thread = &waits->threads[i];
	*thread = (struct waits_thread){ .tid = tid, .first = UINT64_MAX };
	return thread;
}

static void see(struct waits_thread *thread, uint64_t from, uint64_t to)
{
	thread->first = from < thread->first ? from : thread->first;
	thread->last = to > thread->last ? to : thread->last;
}

void waits_see(struct waits *waits, uint32_t tid, uint64_t time)
{
	if (tid)
		see(get_thread(waits, tid), time, time);
}

void waits_clip(struct interval *interval, uint64_t most)
{
	if (interval->runnable > most)
		interval->runnable = most;
	if (interval->blocked > most - interval->runnable)
		interval->blocked = most - interval->runnable;
}

void waits_add(struct waits *waits, const struct interval *interval, uint64_t end)
{
	struct waits_thread *thread = get_thread(waits, interval->tid);
	const uint64_t time = interval_time(interval);

	see(thread, end - (time < end ? time : end), end);
	thread->off += time;
	waits->times[interval_waits(interval) ? INTERVAL_RUNNABLE : interval->cause] +=
		interval->runnable;
	waits->times[interval->cause] += interval->blocked;
}

/* The part of a time; the numbers are up to 2^60, so their product needs more than 64 bits. */
static uint64_t part_of(uint64_t time, uint64_t part, uint64_t whole)
{
	return (uint64_t)((long double)time * (long double)part / (long double)whole);
}

bool waits_take(struct waits *waits, struct interval_sum *sum, uint64_t duration)
{
	struct waits_thread *thread;
	uint64_t total = 0, left, time;
	unsigned int i;

	for (i = 0; i < INTERVAL_CAUSES; i++)
		total += sum->times[i];
	if (!total)
		return false;
	thread = get_thread(waits, sum->tid);
	left = duration > thread->off ? duration - thread->off : 0;
	for (i = 0; i < INTERVAL_CAUSES; i++) {
		time = total <= left ? sum->times[i] : part_of(sum->times[i], left, total);
		sum->times[i] -= time;
		waits->times[i] += time;
		thread->off += time;
	}
	return true;
}

static uint64_t thread_time(const struct waits_thread *thread)
{
	const uint64_t seen = thread->last > thread->first ? thread->last - thread->first : 0;

	return seen > thread->off ? seen : thread->off;
}

uint64_t waits_whole(const struct waits *waits, uint64_t duration)
{
	uint64_t whole = 0;
	unsigned int i;

	for (i = 0; i < waits->thread_count; i++)
		whole += thread_time(&waits->threads[i]);
	return whole > duration ? whole : duration;
}

uint64_t waits_on_cpu(const struct waits *waits, uint64_t duration)
{
	uint64_t left = waits_whole(waits, duration);
	unsigned int i;

	for (i = 0; i < INTERVAL_CAUSES; i++)
		left -= waits->times[i] < left ? waits->times[i] : left;
	return left;
}
