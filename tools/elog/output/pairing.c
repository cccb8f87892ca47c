// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rule that makes pairs of events: see pairing.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/pairing.h"

void pairing_init(struct pairing *pairing, size_t value_size, uint32_t pending_max,
		  bool many_files)
{
	elog_map_init(&pairing->pending, value_size);
	pairing->pending_max = pending_max;
	pairing->many_files = many_files;
}

static void drop_all(struct pairing *pairing)
{
	void *start;

	if (pairing->drop)
		elog_map_for_each(&pairing->pending, start)
			pairing->drop(pairing->context, start);
	elog_map_clear(&pairing->pending);
}

void pairing_free(struct pairing *pairing)
{
	drop_all(pairing);
	elog_map_free(&pairing->pending);
}

void pairing_forget(struct pairing *pairing)
{
	pairing->counts.forgotten += pairing->pending.count;
	drop_all(pairing);
}

void pairing_finish(struct pairing *pairing)
{
	pairing->counts.unpaired_starts += pairing->pending.count;
	drop_all(pairing);
}

static void remove_start(struct pairing *pairing, void *start)
{
	if (pairing->drop)
		pairing->drop(pairing->context, start);
	elog_map_remove(&pairing->pending, start);
}

void *pairing_start(struct pairing *pairing, struct elog_map_key key, uint64_t time)
{
	uint64_t *start = elog_map_find(&pairing->pending, key);

	if (start) {
		pairing->counts.restarted++;
		if (pairing->drop)
			pairing->drop(pairing->context, start);
		elog_map_touch(&pairing->pending, start);
	} else {
		if (pairing->pending.count == pairing->pending_max) {
			pairing->counts.dropped++;
			remove_start(pairing, elog_map_first(&pairing->pending));
		}
		start = elog_map_insert(&pairing->pending, key);
		if (!start)
			return NULL;
	}
	*start = time;
	return start;
}

void *pairing_end(struct pairing *pairing, struct elog_map_key key, uint64_t time,
		  bool is_start)
{
	uint64_t *start = elog_map_find(&pairing->pending, key);

	if (!start) {
		/* An event that is both may be the first START. */
		pairing->counts.unpaired_ends += !is_start;
		return NULL;
	}
	/* The clocks of several files of one boot may differ. */
	if (time < *start) {
		pairing->counts.unpaired_starts++;
		pairing->counts.unpaired_ends += !is_start;
		remove_start(pairing, start);
		return NULL;
	}
	/* It stays readable until the next one is inserted. */
	elog_map_remove(&pairing->pending, start);
	return start;
}

/* ------------------------------------------------------------------------
 * What is a START or an END
 */

static bool is_literal(const char *glob, const struct elog_schema_event *event)
{
	const char *slash = find_slash(glob);

	return !strcmp(*slash ? slash + 1 : glob, event->name);
}

void pairing_match(char *const *globs, const struct elog_schema_event *event, bool *is_start,
		   bool *is_end)
{
	*is_start = event && glob_matches(globs[0], event);
	*is_end = event && glob_matches(globs[1], event);
	if (!*is_start || !*is_end)
		return;
	if (event->attribute == EVENTLOG_ATTRIBUTE_START)
		*is_end = is_literal(globs[1], event);
	else if (event->attribute == EVENTLOG_ATTRIBUTE_END)
		*is_start = is_literal(globs[0], event);
}

/* ------------------------------------------------------------------------
 * Where captures begin
 */

void pairing_pass_time(struct pairing *pairing, int64_t wall)
{
	bool passed = false;

	while (pairing->gap_count && pairing->gaps[pairing->gap_count - 1] <= wall) {
		pairing->gap_count--;
		passed = true;
	}
	if (passed)
		pairing_forget(pairing);
}

static void add_gap(struct pairing *pairing, int64_t wall)
{
	size_t at = pairing->gap_count;

	/* There is no room for it: act as if it were now. */
	if (at == PAIRING_GAPS_MAX) {
		pairing_forget(pairing);
		return;
	}
	pairing->gap_count++;
	for (; at && pairing->gaps[at - 1] < wall; at--)
		pairing->gaps[at] = pairing->gaps[at - 1];
	pairing->gaps[at] = wall;
}

/* Has another segment of this capture been seen? */
static bool is_known_capture(struct pairing *pairing, const struct entry *entry)
{
	const char *capture = elog_reader_info(entry->reader, "capture");
	size_t i;

	if (!capture || strlen(capture) >= PAIRING_CAPTURE_SIZE)
		return false;
	for (i = 0; i < pairing->capture_count && i < PAIRING_CAPTURES; i++)
		if (!strcmp(pairing->captures[i], capture))
			return true;
	snprintf(pairing->captures[pairing->capture_count++ % PAIRING_CAPTURES],
		 PAIRING_CAPTURE_SIZE, "%s", capture);
	return false;
}

/*
 * A segment that does not continue another one knows nothing of what was before it.
 * Several files all yield their first item before any event, so there the time of the
 * segment's beginning counts. A capture that has several files at once has seen
 * everything since its first file began.
 */
void pairing_begin_segment(struct pairing *pairing, const struct entry *entry)
{
	const char *start = elog_reader_info(entry->reader, "start");
	uint64_t realtime;

	if (elog_reader_info(entry->reader, "continues") || is_known_capture(pairing, entry))
		return;
	/* In a single file everything before it is older, and of another capture. */
	if (pairing->many_files && start &&
	    sscanf(start, "%*u %*u %" SCNu64, &realtime) == 1 && realtime <= INT64_MAX)
		add_gap(pairing, (int64_t)realtime);
	else
		pairing_forget(pairing);
}
