// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog latency: measures the time from one event to another, or of the spans that the schemas of
 * files name. The pairs are found by output/latency_pairs.c, and what is a START or an END of a
 * span by export/spans.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/verb.h"
#include "export/report_page.h"
#include "input/missing.h"
#include "input/names.h"
#include "output/event_text.h"
#include "output/latency_pairs.h"
#include "util/signals.h"

#define SLOWEST_MAX	10000
#define BATCH_MS	100

struct latency {
	const struct options *options;
	struct selection_spec select;	/* with START and END as -e */
	struct visit_settings settings;
	struct visit *visit;
	char *globs[4];			/* of START, END and sched; none: spans */
	char *const *names;
	int files;			/* of @names; 0: live */
	struct live live;
	struct output output;

	struct latency_pairs pairs;
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
		       const struct latency_role *role)
{
	struct latency_pairs *pairs = &latency->pairs;
	size_t i;

	for (i = 0; i < pairs->key.count; i++)
		latency_name_see(&pairs->key.names[i], event, !role->start);
	if (pairs->group.name && role->end)
		latency_name_see(&pairs->group, event, true);
}

/* Find the role of a definition for spans, whose schemas know it. Return: NULL: no memory. */
static const struct latency_role *span_role_of(struct latency *latency,
					       const struct elog_schema_event *event)
{
	static const struct latency_role none;
	static const struct spans no_rules;
	const struct latency_role *role;
	struct elog_text name = { 0 };
	struct span_role found;
	const struct span_kind *span = &found.start;

	spans_find_role(&no_rules, event, &found);
	if (!found.is_start && !found.is_end)
		return &none;
	put_event_name(&name, event);
	if (name.error)
		elog_text_free(&name);
	if (found.is_end)
		span = &found.end;
	role = latency_pairs_role(&latency->pairs, &(struct latency_role){
		.start = found.is_start, .end = found.is_end, .event = name.data,
		/* A quoted name is whole. */
		.suffix = name.data && !strchr(name.data, '"') ?
			  strlen(event->name) - span->name_size : 0,
		.hash = span->hash,
	});
	if (role && !role->left_out)
		see_fields(latency, event, role);
	return role;
}

/* Find the role of a definition, and note which fields it has. Return: NULL: no memory. */
static const struct latency_role *role_of(struct latency *latency,
					  const struct elog_schema_event *event)
{
	static const struct latency_role roles[4] = {
		{ .start = false }, { .end = true }, { .start = true },
		{ .start = true, .end = true },
	};
	static const struct latency_role interval = { .interval = true };
	bool is_start, is_end;
	unsigned int index;

	if (latency->pairs.settings.spans)
		return latency->options->why && interval_is_event(event) ? &interval :
		       span_role_of(latency, event);
	pairing_match(latency->globs, event, &is_start, &is_end);
	index = 2 * is_start + is_end;
	if (index)
		see_fields(latency, event, &roles[index]);
	else if (latency->options->why && interval_is_event(event))
		return &interval;
	return &roles[index];
}

static const struct latency_role *find_role(struct latency *latency, struct cached_event *cached)
{
	if (!cached->row)
		cached->row = (void *)(uintptr_t)role_of(latency, cached->event);
	return cached->row;
}

static int pair_event(struct latency *latency, const struct entry *entry,
		      const struct latency_role *role)
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
	key = latency_key_span(key, role->hash);
	ret = role->end ? latency_pairs_end(pairs, entry, role, key) : 0;
	latency->visit->enough |= most && most <= pairs->pairs;
	if (!ret && role->start && !latency->visit->enough)
		ret = latency_pairs_start(pairs, entry, role, key);
	return ret;
}

static int take_event(void *context, struct visit_event *event)
{
	struct latency *latency = context;
	const struct entry *entry = event->entry;
	const struct latency_role *role = find_role(latency, entry->cached);
	int64_t wall = wall_time(entry->item.time, entry->wall_offset);

	if (!role)
		return -ENOMEM;
	pairing_pass_time(&latency->pairs.pairing, wall);
	latency->pairs.left_out |= role->left_out;
	/* Without names of events, all are visited. */
	if (latency->pairs.settings.spans && !role->start && !role->end && !role->interval)
		return 0;
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

/* @kind: NULL: all. */
static struct latency_report new_report(const struct latency *latency,
					const struct latency_kind *kind)
{
	static const struct histogram empty;

	return (struct latency_report){
		.settings = &latency->options->print,
		.repeated = latency->options->interval,
		.spans = latency->pairs.settings.spans,
		.kind = kind,
		.kinds = latency->pairs.kind_count,
		.several = latency->pairs.kind_count > 1 ||
			   (latency->pairs.settings.spans && latency->pairs.role_count > 2),
		.by = latency->pairs.key.words,
		.time = latency->last_time,
		.wall_offset = latency->last_wall_offset,
		.counts = latency->pairs.pairing.counts,
		.histogram = kind ? &kind->total : &empty,
		.group_name = latency->pairs.group.name,
		.why = latency->options->why,
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

/* Not of spans: a line has no room for their kind. */
static int report_interval(struct latency *latency)
{
	struct latency_kind *kind = latency->pairs.kinds[0];
	const struct pair_counts *before = &latency->reported;
	struct latency_report report;
	uint64_t now = monotonic(), lost;

	if (latency->files)
		lost = sum_causes(latency->visit->lost, ELOG_LOST_CAUSES_MAX);
	else if (lost_live(latency, &lost))
		return -EIO;
	else
		pass_time(latency, now);
	report = new_report(latency, kind);
	report.elapsed = now - latency->interval_start;
	report.histogram = &kind->recent;
	report.lost = lost - latency->lost_reported;
	report.counts.unpaired_starts -= before->unpaired_starts;
	report.counts.unpaired_ends -= before->unpaired_ends;
	report.counts.restarted -= before->restarted;
	report.counts.forgotten -= before->forgotten;
	report.counts.unkeyed -= before->unkeyed;
	report.counts.dropped -= before->dropped;
	latency_print_interval(&report, &latency->output);
	output_flush(&latency->output);
	histogram_merge(&kind->total, &kind->recent);
	histogram_clear(&kind->recent);
	latency->reported = latency->pairs.pairing.counts;
	latency->lost_reported = lost;
	latency->interval_start = now;
	return latency->output.closed ? -EPIPE : latency->output.error;
}

static void print_kinds(struct latency *latency, struct latency_report *report)
{
	struct latency_pairs *pairs = &latency->pairs;
	const struct slow_pair *slowest = NULL;
	struct latency_kind *kind;
	char verb[32];
	size_t i;

	if (report->several)
		latency_print_all(report, pairs->pairs, &latency->output);
	for (i = 0; i < pairs->kind_count; i++) {
		kind = pairs->kinds[i];
		histogram_merge(&kind->total, &kind->recent);
		report->kind = kind;
		report->histogram = &kind->total;
		if (report->why)
			report->slowest_shares = shares_slowest(kind->bucket_shares,
								kind->shares.pairs);
		latency_print(report, &latency->output);
		if (kind->slowest_count && (!slowest || kind->slowest->latency > slowest->latency))
			slowest = kind->slowest;
	}
	if (!slowest || !slowest->start.session || !latency->files ||
	    latency->options->print.format != FORMAT_TEXT)
		return;
	/* A session may have several spans; of a file, elog why finds the same one. */
	if (report->spans)
		snprintf(verb, sizeof(verb), "why");
	else
		snprintf(verb, sizeof(verb), "why 0x%" PRIx64, slowest->start.session);
	output_flush(&latency->output);
	report_next(&latency->settings, verb);
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
	report = new_report(latency, NULL);
	report.lost = *lost;
	last = wall_time(latency->last_time, latency->last_wall_offset);
	if (!latency->files)
		report.elapsed = latency->live.ended - latency->live.started;
	else if (latency->any && last > latency->first_wall)
		report.elapsed = (uint64_t)last - (uint64_t)latency->first_wall;
	if (!visit_is_unreadable(visit))
		print_kinds(latency, &report);
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
	if (latency->pairs.left_out)
		fprintf(stderr, "elog: more than %d kinds of spans: others are left out\n",
			LATENCY_KINDS_MAX);
	if (visit_is_unreadable(latency->visit) || latency->pairs.settings.spans)
		return;
	if (!counts->starts)
		fprintf(stderr, "elog: no event matched START '%s'\n",
			latency->pairs.roles[0].event);
	if (!counts->ends)
		fprintf(stderr, "elog: no event matched END '%s'\n",
			latency->pairs.roles[1].event);
}

/* Return: true, after an error message, if there is no span. */
static bool has_no_spans(const struct latency *latency)
{
	const struct pair_counts *counts = &latency->pairs.pairing.counts;

	if (!latency->pairs.settings.spans || latency->pairs.pairs ||
	    visit_is_unreadable(latency->visit))
		return false;
	spans_explain_none(counts->starts, counts->ends);
	return true;
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

/* Where FILEs begin: there are START and END, unless these are files, too. */
static int first_file(const struct options *options)
{
	const int count = options->argument_count - options->command_count;

	return count && source_is_file(options->arguments[0]) &&
	       (count == 1 || source_is_file(options->arguments[1])) ? 0 : 2;
}

static int check_arguments(const struct options *options)
{
	const int count = options->argument_count - options->command_count;
	const int globs = first_file(options);
	int i;

	if (count < globs) {
		if (count && !options->separated)
			elog_error("END is missing, or there is no file '%s'",
				   options->arguments[0]);
		else
			elog_error("%s is missing", count ? "END" : "START");
		elog_hint("try: elog latency --help");
		return -EINVAL;
	}
	for (i = 0; i < globs; i++) {
		/* One of both is a file, and this looks like one. */
		if (count >= globs && strchr(options->arguments[i], '.') &&
		    !source_is_file(options->arguments[i]) &&
		    source_is_file(options->arguments[!i])) {
			elog_error("there is no file '%s'", options->arguments[i]);
			return -EINVAL;
		}
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

static int check_options(const struct options *options)
{
	const int first = first_file(options);
	const int files = options->argument_count - options->command_count - first;

	if (files && options->separated) {
		elog_error("'%s': FILE and COMMAND exclude each other",
			   options->arguments[first]);
		return -EINVAL;
	}
	if (options->source.follow && files != 1) {
		elog_error("--follow needs exactly one FILE");
		return -EINVAL;
	}
	if (!first && (options->interval || options->print.format == FORMAT_CSV)) {
		elog_error("%s needs START and END: its lines do not name a kind of spans",
			   options->interval ? "--interval" : "--format csv");
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
	const int first = first_file(options);
	const struct pair_settings settings = {
		.by = options->by, .group = options->group, .slowest = options->slowest,
		.pending = options->spans.pending, .format = options->print.format,
		.why = options->why, .spans = !first,
	};
	char *const *globs = options->arguments;
	int ret;

	latency->options = options;
	latency->select = options->select;
	latency->select.globs = (struct string_list){ 0 };
	latency->names = options->arguments + first;
	latency->files = options->argument_count - options->command_count - first;
	ret = latency_pairs_open(&latency->pairs, &settings,
				 settings.spans || is_one_provider(globs[0], globs[1]),
				 latency->files > 1);
	if (!ret && !settings.spans)
		ret = make_globs(latency, globs) ? :
		      latency_pairs_globs(&latency->pairs, globs[0], globs[1]);
	if (ret && ret != -EINVAL)
		elog_error("out of memory");
	return ret;
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

static int open_visit(struct latency *latency)
{
	int ret;

	latency->settings = (struct visit_settings){
		.select = &latency->select, .source = &latency->options->source,
		.names = latency->names, .name_count = latency->files,
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
	return visit_status(latency->visit, has_unknown_names(latency, "") ||
			    has_no_spans(latency) || ret || error, lost);
}

/* Return: the exit status. */
static int run(struct latency *latency)
{
	struct latency_report report = new_report(latency, latency->pairs.kinds[0]);
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

	if (check_arguments(options) || check_options(options))
		return STATUS_ERROR;
	latency = calloc(1, sizeof(*latency));
	if (!latency) {
		elog_error("out of memory");
		return STATUS_ERROR;
	}
	output_open(&latency->output, options->color, options->separated);
	if (!prepare(latency, options) && !open_visit(latency))
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
	.usage = "[OPTION...] [START END] [FILE...] [-- COMMAND [ARGUMENT...]]",
	.description =
	"Pairs each event START with the next event END of the same provider and session,\n"
	"and prints percentiles and a histogram of the time between them. START and END are\n"
	"globs, [PROVIDER/]EVENT. The events are those in FILEs, which elog capture -o wrote,\n"
	"or live ones, until Ctrl-C or while COMMAND runs. With --follow, the events that a\n"
	"FILE, or the stream nats://HOST, gets later are used, too.\n"
	"\n"
	"Without START and END, it measures the spans of FILEs: from each event with the\n"
	"attribute start to the next one with the attribute end, and from X_start to X_end,\n"
	"X_begin to X_end and X_open to X_close. Each kind of spans has a table of its own.\n"
	"\n"
	"Percentiles and the histogram are exact to three digits.\n"
	"\n"
	"Exit status: 0 success; 1 an error, or a FILE was damaged; 2 events were\n"
	"lost; if COMMAND failed, its status.\n",
	.options = latency_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
	.run = run_latency,
};
