// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages about a writer whose disk is full or fails: see stall.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record/stall.h"

#define REPORT_NS	10000000000ULL	/* from one message to the next of its kind */

static uint64_t lost_so_far(const struct writer *writer)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	uint64_t lost;

	return live_lost(writer->live, &stat, &lost) ? 0 : lost + writer->missed;
}

static const char *target(const struct writer *writer)
{
	return writer->settings->split ? writer->settings->split : writer->settings->output;
}

static void print_end(struct stall *stall, const struct writer *writer, uint64_t now)
{
	uint64_t lost = lost_so_far(writer), elapsed = now - stall->since;

	lost = lost > stall->before ? lost - stall->before : 0;
	fprintf(stderr, "elog: %s: written again after %" PRIu64 ".%03" PRIu64 " s; %" PRIu64
		" event%s lost meanwhile\n", target(writer), elapsed / 1000000000,
		elapsed / 1000000 % 1000, lost, lost == 1 ? " was" : "s were");
	stall->open = false;
}

static void report_wait(struct stall *stall, const struct writer *writer, bool over)
{
	const int error = writer->wait.error;
	uint64_t now = monotonic();

	if (error && !stall->since) {
		stall->since = now;
		if (!stall->open)
			stall->before = lost_so_far(writer);
	}
	if (error && !over && (!stall->open || stall->error != error) &&
	    (!stall->printed || now - stall->printed >= REPORT_NS)) {
		fprintf(stderr, "elog: %s: %s: events wait in memory; trying again every second\n",
			target(writer), strerror(error));
		stall->open = true;
		stall->error = error;
		stall->printed = now;
	}
	if (!error && stall->since) {
		if (stall->open)
			print_end(stall, writer, now);
		stall->since = 0;
	}
}

static void report_removed(struct stall *stall, const struct writer *writer, bool over)
{
	const uint64_t more = writer->wait.removed - stall->removed;
	uint64_t now = monotonic();

	if (!more || (!over && stall->removed && now - stall->removed_printed < REPORT_NS))
		return;
	fprintf(stderr, "elog: %s: the disk is full: %" PRIu64 " old segment%s removed\n",
		target(writer), more, more == 1 ? " was" : "s were");
	stall->removed = writer->wait.removed;
	stall->removed_printed = now;
}

/* The file of the background capture is written only if something has changed. */
static void state(struct stall *stall, const struct writer *writer,
		  struct background *background)
{
	struct background_state state = {
		.error = writer->wait.error,
		.failures = writer->wait.failures,
		.removed = writer->wait.removed,
		.expired = writer->age.expired,
		.lost = stall->state.lost,
	};

	if (!background || !memcmp(&state, &stall->state, sizeof(state)))
		return;
	state.lost = lost_so_far(writer);
	stall->state = state;
	background_set_state(background, &state);
}

void stall_report(struct stall *stall, const struct writer *writer,
		  struct background *background, bool over)
{
	report_wait(stall, writer, over);
	report_removed(stall, writer, over);
	state(stall, writer, background);
}
