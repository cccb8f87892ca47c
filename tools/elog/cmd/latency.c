// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog latency: measures the time from one event to another. The pairs are found by
 * output/latency_pairs.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/verb.h"
#include "input/missing.h"
#include "input/names.h"
#include "input/source.h"
#include "output/latency_pairs.h"
#include "output/progress.h"
#include "util/signals.h"

#define SLOWEST_MAX	10000
#define BATCH_MS	100

/* What a definition's events are, as struct cached_event.row points to. */
struct role {
	bool start;
	bool end;
};

struct latency {
	const struct options *options;
	struct selection_spec select;	/* with START and END as -e */
	const char *start;		/* as they were given */
	const char *end;
	char *globs[2];
	int files;			/* 0: live */
	struct live live;
	struct source *source;
	struct output output;
	struct progress progress;

	struct latency_pairs pairs;
	struct histogram *total;	/* of the intervals before */
	struct pair_counts reported;	/* in the intervals before */
	uint64_t lost_reported;
	uint64_t interval_start;

	uint64_t last_time;		/* of the last event */
	int64_t last_wall_offset;
	int64_t first_wall;
	bool any;
	uint64_t lost[ELOG_LOST_CAUSES_MAX];	/* of files */
	bool enough;			/* -n is reached */
	bool damaged;			/* a ring was damaged */
	bool failed;
	int error;
};

static bool is_going(const struct latency *latency)
{
	return !latency->enough && !latency->error && !latency->output.closed &&
	       !latency->output.error;
}

/* ------------------------------------------------------------------------
 * Events
 */

/* A START that is also an END has the fields of a START. */
static void see_fields(struct latency *latency, const struct elog_schema_event *event,
		       const struct role *role)
{
	struct latency_pairs *pairs = &latency->pairs;
	size_t i;

	for (i = 0; i < pairs->key.count; i++)
		latency_name_see(&pairs->key.names[i], event, !role->start);
	if (pairs->group.name && role->end)
		latency_name_see(&pairs->group, event, true);
}

/* Find the role of a definition, and note which fields it has. */
static struct role *role_of(struct latency *latency, const struct elog_schema_event *event)
{
	static struct role roles[4] = {
		{ false, false }, { false, true }, { true, false }, { true, true },
	};
	unsigned int index = 0;

	if (event && glob_matches(latency->globs[0], event))
		index |= 2;
	if (event && glob_matches(latency->globs[1], event))
		index |= 1;
	if (index)
		see_fields(latency, event, &roles[index]);
	return &roles[index];
}

static const struct role *find_role(struct latency *latency, struct cached_event *cached)
{
	if (!cached->row)
		cached->row = role_of(latency, cached->event);
	return cached->row;
}

static void pair_event(struct latency *latency, const struct entry *entry,
		       const struct role *role)
{
	struct latency_pairs *pairs = &latency->pairs;
	const uint64_t most = latency->options->count;
	struct elog_map_key key;
	int ret;

	ret = latency_key_make(&pairs->key, entry, &key);
	if (!ret)
		pairs->pairing.counts.unkeyed++;
	if (ret <= 0) {
		latency->error = ret;
		return;
	}
	ret = role->end ? latency_pairs_end(pairs, entry, role->start, key) : 0;
	latency->enough = most && most <= latency->total->count + pairs->recent->count;
	if (!ret && role->start && !latency->enough)
		ret = latency_pairs_start(pairs, entry, key);
	latency->error = ret;
}

static void take_event(struct latency *latency, const struct entry *entry)
{
	const struct role *role = find_role(latency, entry->cached);
	int64_t wall = wall_time(entry->item.time, entry->wall_offset);

	pairing_pass_time(&latency->pairs.pairing, wall);
	if (!latency->any)
		latency->first_wall = wall;
	latency->any = true;
	latency->last_time = entry->item.time;
	latency->last_wall_offset = entry->wall_offset;
	latency->pairs.pairing.counts.starts += role->start;
	latency->pairs.pairing.counts.ends += role->end;
	if (role->start || role->end)
		pair_event(latency, entry, role);
}

static void take_entry(struct latency *latency, const struct entry *entry)
{
	switch (entry->item.type) {
	case ELOG_ITEM_EVENT:
		take_event(latency, entry);
		break;
	case ELOG_ITEM_LOST:
		if (add_causes(latency->lost, &entry->item))
			pairing_forget(&latency->pairs.pairing);
		break;
	case ELOG_ITEM_PART:
		pairing_begin_segment(&latency->pairs.pairing, entry);
		break;
	case ELOG_ITEM_SYNC:
		progress_update(&latency->progress, latency->source,
				latency->pairs.pairing.counts.starts +
				latency->pairs.pairing.counts.ends);
		break;
	case ELOG_ITEM_DAMAGE:
		progress_clear(&latency->progress);
		source_print_damage(entry);
		if (!entry->unfinished)
			pairing_forget(&latency->pairs.pairing);
		break;
	}
}

/* ------------------------------------------------------------------------
 * Reports
 */

static struct latency_report new_report(const struct latency *latency)
{
	return (struct latency_report){
		.settings = &latency->options->print,
		.repeated = latency->options->interval,
		.start = latency->start,
		.end = latency->end,
		.by = latency->pairs.key.words,
		.time = latency->last_time,
		.wall_offset = latency->last_wall_offset,
		.counts = latency->pairs.pairing.counts,
		.histogram = latency->total,
		.groups = latency->pairs.groups,
		.group_count = latency->pairs.group_count,
		.group_name = latency->pairs.group.name,
		.slowest = latency->pairs.slowest,
		.slowest_count = latency->pairs.slowest_count,
	};
}

static uint64_t lost_live(struct latency *latency)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	uint64_t lost;
	unsigned int i;

	if (live_lost(&latency->live, &stat, &lost)) {
		latency->error = -EIO;
		return 0;
	}
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		latency->lost[i] = stat.lost[i];
	return lost;
}

/* A live report is about the current time, even without events. */
static void pass_time(struct latency *latency, uint64_t now)
{
	latency->last_time = record_time(now);
	latency->last_wall_offset = wall_offset();
}

static void report_interval(struct latency *latency)
{
	const struct pair_counts *before = &latency->reported;
	struct latency_report report;
	uint64_t now = monotonic(), lost = lost_live(latency);

	pass_time(latency, now);
	report = new_report(latency);
	report.elapsed = now - latency->interval_start;
	report.histogram = latency->pairs.recent;
	report.lost = lost - latency->lost_reported;
	report.counts.unpaired_starts -= before->unpaired_starts;
	report.counts.unpaired_ends -= before->unpaired_ends;
	report.counts.restarted -= before->restarted;
	report.counts.forgotten -= before->forgotten;
	report.counts.unkeyed -= before->unkeyed;
	report.counts.dropped -= before->dropped;
	latency_print_interval(&report, &latency->output);
	output_flush(&latency->output);
	histogram_merge(latency->total, latency->pairs.recent);
	histogram_clear(latency->pairs.recent);
	latency->reported = latency->pairs.pairing.counts;
	latency->lost_reported = lost;
	latency->interval_start = now;
}

static uint64_t report_total(struct latency *latency)
{
	struct latency_report report;
	uint64_t lost = latency->files ? sum_causes(latency->lost, ELOG_LOST_CAUSES_MAX) :
					 lost_live(latency);
	int64_t last;

	histogram_merge(latency->total, latency->pairs.recent);
	pairing_finish(&latency->pairs.pairing);
	if (!latency->files)
		pass_time(latency, latency->live.ended);
	report = new_report(latency);
	report.lost = lost;
	last = wall_time(latency->last_time, latency->last_wall_offset);
	if (!latency->files)
		report.elapsed = latency->live.ended - latency->live.started;
	else if (latency->any && last > latency->first_wall)
		report.elapsed = (uint64_t)last - (uint64_t)latency->first_wall;
	if (!source_is_unreadable(latency->source))
		latency_print(&report, &latency->output);
	return lost;
}

/* Losses may explain why there are few pairs. */
static void print_lost(struct latency *latency, uint64_t lost)
{
	struct elog_text causes = { 0 };

	if (!lost || latency->options->quiet)
		return;
	put_causes(latency->lost, ELOG_LOST_CAUSES_MAX, &causes);
	fprintf(stderr, "elog: lost %" PRIu64 " event%s%s; pairs may be missing\n",
		lost, lost == 1 ? "" : "s", causes.data ? causes.data : "");
	elog_text_free(&causes);
	if (!latency->files)
		live_print_lost(&latency->live);
}

static void print_unpaired(const struct latency *latency)
{
	const struct pair_counts *counts = &latency->pairs.pairing.counts;

	if (latency->options->quiet)
		return;
	if (counts->unkeyed && !latency->options->by)
		fprintf(stderr, "elog: %" PRIu64 " event%s no session; "
			"use --by to pair by something else\n", counts->unkeyed,
			counts->unkeyed == 1 ? " has" : "s have");
	if (counts->dropped)
		fprintf(stderr, "elog: dropped %" PRIu64 " START%s, as more than %" PRIu32
			" were pending: pairs may be missing; see --pending\n", counts->dropped,
			counts->dropped == 1 ? "" : "s", latency->pairs.pairing.pending_max);
	if (source_is_unreadable(latency->source))
		return;
	if (!counts->starts)
		fprintf(stderr, "elog: no event matched START '%s'\n", latency->start);
	if (!counts->ends)
		fprintf(stderr, "elog: no event matched END '%s'\n", latency->end);
}

static bool is_unknown(struct latency_name *name, const char *option, bool end, const char *when)
{
	if (!name->sought[end] || name->found[end])
		return false;
	nearest_error(&name->nearest, "--%s: no %s has a field '%s'%s", option,
		      end ? "END" : "START", name->name, when);
	return true;
}

/* Return: true, after error messages, if no event has a field of some name. */
static bool has_unknown_names(struct latency *latency, const char *when)
{
	struct latency_key *key = &latency->pairs.key;
	bool any = false;
	size_t i;

	for (i = 0; i < key->count; i++) {
		any |= is_unknown(&key->names[i], "by", false, when);
		any |= is_unknown(&key->names[i], "by", true, when);
	}
	if (latency->pairs.group.name)
		any |= is_unknown(&latency->pairs.group, "group", true, when);
	return any;
}

/* ------------------------------------------------------------------------
 * The loops
 */

/* Take all events of the files, or of a live batch. */
static void take_all(struct latency *latency)
{
	struct entry entry;
	int ret;

	while (is_going(latency)) {
		ret = source_next(latency->source, &entry);
		if (!ret)
			return;
		if (ret > 0) {
			take_entry(latency, &entry);
		} else if (ret == -EBADMSG) {
			latency->damaged = true;
			pairing_forget(&latency->pairs.pairing);
		} else {
			latency->error = ret;
		}
	}
}

static void take_batch(struct latency *latency)
{
	int ret = live_flush(&latency->live);

	if (ret)
		latency->error = ret;
	take_all(latency);
}

/* Milliseconds to sleep at most. */
static int batch_milliseconds(const struct latency *latency)
{
	const uint64_t interval = latency->options->interval;
	uint64_t passed, left;

	if (!interval)
		return BATCH_MS;
	passed = monotonic() - latency->interval_start;
	left = passed < interval ? (interval - passed + 999999) / 1000000 : 0;
	return left < BATCH_MS ? (int)left : BATCH_MS;
}

static void run_live(struct latency *latency)
{
	const uint64_t interval = latency->options->interval;
	bool over = false, due;
	int ret;

	while (!over && is_going(latency)) {
		ret = live_wait(&latency->live, batch_milliseconds(latency), &over);
		if (ret < 0) {
			latency->error = ret;
			return;
		}
		due = interval &&
		      monotonic() - latency->interval_start >= interval;
		if (ret || over || due)
			take_batch(latency);
		if (due && is_going(latency))
			report_interval(latency);
	}
}

/* ------------------------------------------------------------------------
 * The beginning
 */

static bool is_event(const char *text)
{
	const char *slash = find_slash(text);
	const char *event = *slash ? slash + 1 : text;

	return *event && !event_glob_error(text) && !*find_slash(event) &&
	       strlen(event) < EVENTLOG_GLOB_MAX &&
	       (!*slash || (slash != text && slash - text < EVENTLOG_GLOB_MAX));
}

static int check_arguments(const struct options *options)
{
	int i;

	if (options->argument_count - options->command_count < 2) {
		elog_error("%s is missing", options->argument_count -
			   options->command_count ? "END" : "START");
		elog_hint("try: elog latency --help");
		return -EINVAL;
	}
	for (i = 0; i < 2; i++) {
		if (is_event(options->arguments[i]))
			continue;
		elog_error("invalid [PROVIDER/]EVENT '%s': %s", options->arguments[i],
			   event_glob_error(options->arguments[i]) ?
			   event_glob_error(options->arguments[i]) : "must be a name or a glob");
		return -EINVAL;
	}
	if (options->separated && !options->command_count) {
		elog_error("no command follows --");
		return -EINVAL;
	}
	return 0;
}

static int check_options(const struct options *options, bool files)
{
	if (files && options->separated) {
		elog_error("'%s': FILE and COMMAND exclude each other",
			   options->arguments[2]);
		return -EINVAL;
	}
	if (files && (options->live.duration || options->interval ||
		      options->live.ring_bytes || options->live.instances)) {
		elog_error("%s is for live events, not for those of a FILE",
			   options->live.duration ? "-d" : options->interval ?
			   "--interval" : options->live.ring_bytes ?
			   "--per-cpu-bytes" : "--instances");
		return -EINVAL;
	}
	if (!files && (options->select.since.kind != TIME_SPEC_NONE ||
		       options->select.until.kind != TIME_SPEC_NONE)) {
		elog_error("--since, --until and --around are for the events of a FILE");
		return -EINVAL;
	}
	if (options->print.time == TIME_DELTA) {
		elog_error("--time must be mono or wall; delta is for events");
		return -EINVAL;
	}
	if (options->slowest > SLOWEST_MAX) {
		elog_error("--slowest: %u at most", SLOWEST_MAX);
		return -EINVAL;
	}
	if (options->spans.pending > LATENCY_PENDING_MAX) {
		elog_error("--pending: %u at most", LATENCY_PENDING_MAX);
		return -EINVAL;
	}
	if (options->slowest && options->print.format == FORMAT_CSV) {
		elog_error("--slowest does not go with --format csv");
		return -EINVAL;
	}
	return 0;
}

/* START and END as arguments of -e. */
static int make_globs(struct latency *latency, char *const *arguments)
{
	const char **globs;
	int i;

	globs = calloc(2, sizeof(*globs));
	if (!globs)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		if (asprintf(&latency->globs[i], "%s%s", *find_slash(arguments[i]) ?
			     "" : "*/", arguments[i]) < 0) {
			latency->globs[i] = NULL;
			free(globs);
			return -ENOMEM;
		}
		globs[i] = latency->globs[i];
	}
	latency->select.globs = (struct string_list){ .count = 2, .strings = globs };
	return 0;
}

/* Sessions belong to a provider, unless START and END name different providers. */
static bool is_one_provider(const char *start, const char *end)
{
	const char *slash = find_slash(start), *other = find_slash(end);

	return !*slash || !*other || (slash - start == other - end &&
				      !memcmp(start, end, (size_t)(slash - start)));
}

static int prepare(struct latency *latency, const struct options *options)
{
	const struct pair_settings settings = {
		.by = options->by, .group = options->group, .slowest = options->slowest,
		.pending = options->spans.pending, .format = options->print.format,
	};
	int ret;

	latency->options = options;
	latency->select = options->select;
	latency->select.globs = (struct string_list){ 0 };
	latency->start = options->arguments[0];
	latency->end = options->arguments[1];
	latency->files = options->argument_count - options->command_count - 2;
	ret = make_globs(latency, options->arguments);
	if (!ret)
		ret = latency_pairs_open(&latency->pairs, &settings,
					 is_one_provider(latency->start, latency->end),
					 latency->files > 1);
	if (ret == -EINVAL)
		return ret;
	latency->total = calloc(1, sizeof(*latency->total));
	if (ret || !latency->total) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	return 0;
}

static bool see_definition(void *context, const struct eventlog_describe *describe,
			   const struct elog_schema_event *event)
{
	(void)describe;
	role_of(context, event);
	return true;
}

/* The events that the device lists are those known now. */
static void warn_unknown_names(struct latency *latency)
{
	const struct options *options = latency->options;

	if (options->quiet || (!options->by && !options->group))
		return;
	/* Without memory there is no warning. */
	definitions_each(elog_consumer_fd(latency->live.consumer), see_definition, latency);
	has_unknown_names(latency, " yet");
}

static int open_source(struct latency *latency, char *const *files)
{
	const struct output none = { 0 };
	int ret;

	if (latency->files) {
		ret = source_open_files(&latency->source, &latency->select,
					&latency->options->source, files, latency->files);
		/* All output comes at the end. */
		if (!ret)
			progress_start(&latency->progress, !latency->options->quiet, &none);
		return ret;
	}
	signals_catch(0);
	ret = live_open(&latency->live, &latency->select, &latency->options->live, NULL);
	if (!ret)
		warn_unknown_names(latency);
	if (!ret)
		ret = source_open_live(&latency->source, &latency->live);
	return ret;
}

/* Return: 0, or an exit status. */
static int run(struct latency *latency)
{
	struct latency_report report;
	int ret;

	report = new_report(latency);
	latency_print_header(&report, &latency->output);
	if (latency->files) {
		take_all(latency);
		progress_clear(&latency->progress);
		return 0;
	}
	ret = live_start(&latency->live);
	if (ret)
		return ret;
	if (!latency->options->separated && latency->options->verbose)
		fputs("elog: capturing\n", stderr);
	latency->interval_start = latency->live.started;
	if (latency->options->interval)
		output_flush(&latency->output);
	run_live(latency);
	live_end(&latency->live);
	return 0;
}

static int finish(struct latency *latency)
{
	uint64_t lost = report_total(latency);
	int ret, error;

	error = output_close(&latency->output);
	if (error) {
		elog_error("cannot write to stdout: %s", strerror(-error));
		latency->failed = true;
	}
	print_lost(latency, lost);
	print_unpaired(latency);
	live_print_rejected(&latency->live);
	if (!latency->files && latency->live.ended)
		missing_report(&latency->live, latency->pairs.pairing.counts.starts +
			       latency->pairs.pairing.counts.ends);
	latency->failed |= has_unknown_names(latency, "");
	latency->failed |= source_finish(latency->source);
	latency->failed |= latency->files && source_failed(latency->source);
	if (latency->error) {
		elog_error("%s", strerror(-latency->error));
		latency->failed = true;
	} else {
		latency->failed |= live_deleted(&latency->live) || live_failed(&latency->live);
	}
	ret = command_status(&latency->live.command, latency->options->quiet);
	if (latency->failed)
		return STATUS_ERROR;
	if (!ret && (lost || latency->damaged))
		ret = STATUS_LOST;
	return ret;
}

static void free_latency(struct latency *latency)
{
	source_close(latency->source);
	live_close(&latency->live);
	output_close(&latency->output);
	latency_pairs_close(&latency->pairs);
	free(latency->total);
	free(latency->select.globs.strings);
	free(latency->globs[0]);
	free(latency->globs[1]);
	free(latency);
}

static int run_latency(const struct options *options)
{
	struct latency *latency;
	int ret = STATUS_ERROR;

	if (check_arguments(options) ||
	    check_options(options, options->argument_count -
			  options->command_count > 2))
		return STATUS_ERROR;
	latency = calloc(1, sizeof(*latency));
	if (!latency) {
		elog_error("out of memory");
		return STATUS_ERROR;
	}
	output_open(&latency->output, options->color, options->separated);
	if (!prepare(latency, options) &&
	    !open_source(latency, options->arguments + 2)) {
		ret = run(latency);
		if (!ret)
			ret = finish(latency);
	}
	free_latency(latency);
	return ret;
}

static const struct verb_option latency_options[] = {
	{ OPTION_BY, "pair by these instead of the session: names of fields that both\n"
	  "have, session, pid, tid, cpu, separated by commas" },
	{ OPTION_GROUP, NULL }, { OPTION_SLOWEST, NULL },
	{ OPTION_PENDING, NULL },
	{ OPTION_INTERVAL, "print a line about the new pairs at this interval" },
	{ 's', NULL }, { 'p', NULL }, { 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_HOST, NULL }, { OPTION_SINCE, NULL }, { OPTION_UNTIL, NULL }, { OPTION_AROUND, NULL },
	{ 'n', "end after this number of pairs" }, { 'd', NULL },
	{ OPTION_PER_CPU_BYTES, NULL }, { OPTION_TIME, NULL },
	{ OPTION_FORMAT, "text (default), json: one object per line, or csv" },
	{ 'D', NULL }, { OPTION_OF_INSTANCES, NULL },
	{ 'q', "no histogram, no hints" },
	{ 'v', "print a line when capturing begins, and what the kernel\n"
	  "decides of -f" },
	{ 0, NULL },
};

const struct verb verb_latency = {
	.name = "latency",
	.summary = "measure the time from one event to another",
	.usage = "[OPTION...] START END [FILE...] [-- COMMAND [ARGUMENT...]]",
	.description =
	"Pairs each event START with the next event END of the same provider and session,\n"
	"and prints percentiles and a histogram of the time between them. START and END are\n"
	"globs, [PROVIDER/]EVENT. The events are those in FILEs, which elog capture -o wrote,\n"
	"or live ones, until Ctrl-C or while COMMAND runs.\n"
	"\n"
	"Percentiles and the histogram are exact to three digits.\n"
	"\n"
	"Exit status: 0 success; 1 an error, or a FILE was damaged; 2 events were\n"
	"lost; if COMMAND failed, its status.\n",
	.options = latency_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
	.run = run_latency,
};
