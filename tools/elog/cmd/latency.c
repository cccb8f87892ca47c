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
#include "export/visit.h"
#include "input/missing.h"
#include "input/names.h"
#include "output/latency_pairs.h"
#include "util/signals.h"

#define SLOWEST_MAX	10000
#define BATCH_MS	100

/* What a definition's events are, as struct cached_event.row points to. */
struct role {
	bool start;
	bool end;
	bool interval;		/* of the provider sched, with --why */
};

struct latency {
	const struct options *options;
	struct selection_spec select;	/* with START and END as -e */
	struct visit_settings settings;
	struct visit *visit;
	const char *start;		/* as they were given */
	const char *end;
	char *globs[4];			/* and those of sched */
	int files;			/* 0: live */
	struct live live;
	struct output output;

	struct latency_pairs pairs;
	struct histogram *total;	/* of the intervals before */
	struct pair_counts reported;	/* in the intervals before */
	uint64_t lost_reported;
	uint64_t interval_start;

	uint64_t last_time;		/* of the last event */
	int64_t last_wall_offset;
	int64_t first_wall;
	bool any;
	uint64_t lost[EVENTLOG_LOST_CAUSES];	/* live */
};

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
		{ .start = false }, { .end = true }, { .start = true },
		{ .start = true, .end = true },
	};
	static struct role interval = { .interval = true };
	bool is_start, is_end;
	unsigned int index;

	pairing_match(latency->globs, event, &is_start, &is_end);
	index = 2 * is_start + is_end;
	if (index)
		see_fields(latency, event, &roles[index]);
	else if (latency->options->why && interval_is_event(event))
		return &interval;
	return &roles[index];
}

static const struct role *find_role(struct latency *latency, struct cached_event *cached)
{
	if (!cached->row)
		cached->row = role_of(latency, cached->event);
	return cached->row;
}

static int pair_event(struct latency *latency, const struct entry *entry,
		      const struct role *role)
{
	struct latency_pairs *pairs = &latency->pairs;
	const uint64_t most = latency->options->count;
	struct elog_map_key key;
	int ret;

	ret = latency_key_make(&pairs->key, entry, &key);
	if (!ret)
		pairs->pairing.counts.unkeyed++;
	if (ret <= 0)
		return ret;
	ret = role->end ? latency_pairs_end(pairs, entry, role->start, key) : 0;
	latency->visit->enough |= most && most <= latency->total->count + pairs->recent->count;
	if (!ret && role->start && !latency->visit->enough)
		ret = latency_pairs_start(pairs, entry, key);
	return ret;
}

static int take_event(void *context, struct visit_event *event)
{
	struct latency *latency = context;
	const struct entry *entry = event->entry;
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
	if (role->interval)
		return latency_pairs_interval(&latency->pairs, entry, latency->files ? NULL :
					      &latency->live);
	return role->start || role->end ? pair_event(latency, entry, role) : 0;
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
		.why = latency->options->why,
		.slowest = latency->pairs.slowest,
		.slowest_count = latency->pairs.slowest_count,
	};
}

static int lost_live(struct latency *latency, uint64_t *lost)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	unsigned int i;

	if (live_lost(&latency->live, &stat, lost))
		return -EIO;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		latency->lost[i] = stat.lost[i];
	return 0;
}

/* A live report is about the current time, even without events. */
static void pass_time(struct latency *latency, uint64_t now)
{
	latency->last_time = record_time(now);
	latency->last_wall_offset = wall_offset();
}

static int report_interval(struct latency *latency)
{
	const struct pair_counts *before = &latency->reported;
	struct latency_report report;
	uint64_t now = monotonic(), lost;

	if (latency->files)
		lost = sum_causes(latency->visit->lost, ELOG_LOST_CAUSES_MAX);
	else if (lost_live(latency, &lost))
		return -EIO;
	else
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
	return latency->output.closed ? -EPIPE : latency->output.error;
}

/* @lost: set. Return: 0 or a negative errno. */
static int report_total(struct latency *latency, uint64_t *lost)
{
	const struct visit *visit = latency->visit;
	struct latency_report report;
	int64_t last;
	int ret = 0;

	*lost = sum_causes(visit->lost, ELOG_LOST_CAUSES_MAX);
	if (!latency->files) {
		ret = lost_live(latency, lost);
		pass_time(latency, latency->live.ended);
	}
	histogram_merge(latency->total, latency->pairs.recent);
	report = new_report(latency);
	report.lost = *lost;
	if (report.why) {
		report.shares = latency->pairs.shares;
		report.slowest_shares = shares_slowest(latency->pairs.bucket_shares,
						       latency->pairs.shares.pairs);
	}
	last = wall_time(latency->last_time, latency->last_wall_offset);
	if (!latency->files)
		report.elapsed = latency->live.ended - latency->live.started;
	else if (latency->any && last > latency->first_wall)
		report.elapsed = (uint64_t)last - (uint64_t)latency->first_wall;
	if (!visit_is_unreadable(visit))
		latency_print(&report, &latency->output);
	return ret;
}

/* Losses may explain why there are few pairs. */
static void print_lost(struct latency *latency, uint64_t lost)
{
	struct elog_text causes = { 0 };

	if (!lost || latency->options->quiet)
		return;
	if (latency->files)
		put_causes(latency->visit->lost, ELOG_LOST_CAUSES_MAX, &causes);
	else
		put_causes(latency->lost, EVENTLOG_LOST_CAUSES, &causes);
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
	if (visit_is_unreadable(latency->visit))
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
 * Intervals
 */

static int look_at_interval(void *context, bool over)
{
	struct latency *latency = context;
	const uint64_t interval = latency->options->interval;

	return !over && interval && monotonic() - latency->interval_start >= interval ?
	       report_interval(latency) : 0;
}

/* Milliseconds to sleep at most. */
static int left(void *context)
{
	const struct latency *latency = context;
	const uint64_t interval = latency->options->interval;

	return interval ? time_left(latency->interval_start, interval, BATCH_MS) : BATCH_MS;
}

static int look_while_reading(void *context, const struct entry *entry)
{
	(void)entry;
	return look_at_interval(context, false);
}

static const struct visit_ops latency_ops = {
	.event = take_event,
	.sync = look_while_reading,
	.idle = look_at_interval,
	.left = left,
};

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
	if (options->source.follow &&
	    options->argument_count - options->command_count != 3) {
		elog_error("--follow needs exactly one FILE");
		return -EINVAL;
	}
	if (files && !options->source.follow && (options->live.duration || options->interval)) {
		elog_error("%s is for live events, not for those of a FILE",
			   options->live.duration ? "-d" : "--interval");
		elog_hint("add --follow to wait for more events of the FILE");
		return -EINVAL;
	}
	if (files && (options->live.ring_bytes || options->live.instances)) {
		elog_error("%s is for live events, not for those of a FILE",
			   options->live.ring_bytes ? "--per-cpu-bytes" : "--instances");
		return -EINVAL;
	}
	if (!files && (options->select.since.kind != TIME_SPEC_NONE ||
		       options->select.until.kind != TIME_SPEC_NONE)) {
		elog_error("--since, --until and --around are for the events of a FILE");
		return -EINVAL;
	}
	if (options->print.time == TIME_DELTA) {
		elog_error("--time must be mono, wall or utc; delta is for events");
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
	if (options->why && options->by) {
		elog_error("--why is for pairs by session, not --by");
		return -EINVAL;
	}
	if (options->why && options->select.expressions.count) {
		elog_error("--why does not go with -f, which would also drop the events of sched");
		return -EINVAL;
	}
	return 0;
}

/* START and END as arguments of -e. */
static int make_globs(struct latency *latency, char *const *arguments)
{
	const char **globs;
	int i;

	globs = calloc(ARRAY_SIZE(latency->globs), sizeof(*globs));
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
	if (!latency->options->why)
		return 0;
	/* A file may have one of the events only; live, others of sched would cost something. */
	for (i = 2; i < (latency->files ? 3 : 4); i++) {
		latency->globs[i] = strdup(latency->files ? "sched/*" : i == 2 ? "sched/off" :
					   "sched/sum");
		if (!latency->globs[i])
			return -ENOMEM;
		globs[latency->select.globs.count++] = latency->globs[i];
	}
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
		.why = options->why,
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

static bool see_definition(void *context, const struct eventlog_definition *describe,
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

static int open_visit(struct latency *latency, char *const *files)
{
	int ret;

	latency->settings = (struct visit_settings){
		.select = &latency->select, .source = &latency->options->source,
		.names = files, .name_count = latency->files,
		.duration = latency->options->live.duration,
		.quiet = latency->options->quiet,
	};
	if (latency->files) {
		ret = visit_open(&latency->visit, &latency->settings, &latency_ops, latency);
	} else {
		signals_catch(0);
		ret = live_open(&latency->live, &latency->select, &latency->options->live, NULL);
		if (!ret)
			warn_unknown_names(latency);
		if (!ret)
			ret = visit_open_live(&latency->visit, &latency->settings,
					      &latency->live, &latency_ops, latency);
	}
	if (!ret)
		latency->visit->pairing = &latency->pairs.pairing;
	return ret;
}

static int finish(struct latency *latency, int error)
{
	uint64_t lost;
	int ret = report_total(latency, &lost);

	if (!error || error == -EPIPE)
		error = ret;
	ret = output_close(&latency->output);
	if (ret)
		elog_error("cannot write to stdout: %s", strerror(-ret));
	print_lost(latency, lost);
	print_unpaired(latency);
	live_print_rejected(&latency->live);
	if (!latency->files && latency->live.ended)
		missing_report(&latency->live, latency->pairs.pairing.counts.starts +
			       latency->pairs.pairing.counts.ends);
	if (error && error != latency->output.error)
		elog_error("%s", strerror(-error));
	return visit_status(latency->visit, has_unknown_names(latency, "") || ret || error, lost);
}

/* Return: the exit status. */
static int run(struct latency *latency)
{
	struct latency_report report = new_report(latency);
	int ret;

	latency_print_header(&report, &latency->output);
	latency->interval_start = monotonic();
	if (latency->files && latency->options->interval)
		output_flush(&latency->output);
	if (latency->files)
		return finish(latency, visit_run(latency->visit));
	ret = live_start(&latency->live);
	if (ret)
		return ret;
	if (!latency->options->separated && latency->options->verbose)
		fputs("elog: capturing\n", stderr);
	latency->interval_start = latency->live.started;
	if (latency->options->interval)
		output_flush(&latency->output);
	ret = visit_run(latency->visit);
	latency->live.failed = ret && ret != -EPIPE;
	live_end(&latency->live);
	return finish(latency, ret);
}

static void close_latency(struct latency *latency)
{
	visit_close(latency->visit);
	live_close(&latency->live);
	output_close(&latency->output);
	latency_pairs_close(&latency->pairs);
	free(latency->total);
	free(latency->select.globs.strings);
	free(latency->globs[0]);
	free(latency->globs[1]);
	free(latency->globs[2]);
	free(latency->globs[3]);
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
	    !open_visit(latency, options->arguments + 2))
		ret = run(latency);
	close_latency(latency);
	ret = live_outlast(&latency->live, ret);
	free(latency);
	return ret;
}

static const struct verb_option latency_options[] = {
	{ OPTION_BY, "pair by these instead of the session: names of fields that both\n"
	  "have, session, pid, tid, cpu, separated by commas" },
	{ OPTION_GROUP, NULL }, { OPTION_SLOWEST, NULL }, { OPTION_WHY, NULL },
	{ OPTION_PENDING, NULL },
	{ OPTION_INTERVAL, "print a line about the new pairs at this interval; with FILE:\n"
	  "needs --follow" },
	{ OPTION_FOLLOW, NULL },
	{ 's', NULL }, { 'p', NULL }, { OPTION_UNIT, NULL }, { OPTION_CGROUP, NULL },
	{ 't', NULL }, { 'C', NULL }, { 'f', NULL },
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
	"or live ones, until Ctrl-C or while COMMAND runs. With --follow, the events that a\n"
	"FILE, or the stream nats://HOST, gets later are used, too.\n"
	"\n"
	"Percentiles and the histogram are exact to three digits.\n"
	"\n"
	"Exit status: 0 success; 1 an error, or a FILE was damaged; 2 events were\n"
	"lost; if COMMAND failed, its status.\n",
	.options = latency_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
	.run = run_latency,
};
