// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of all options, and how their arguments are read: see option_table.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/option_table.h"
#include "cmd/verb.h"
#include "input/keywords.h"
#include "util/array.h"
#include "util/session_number.h"

#define COMPRESS_LEVEL		3
#define COMPRESS_LEVEL_MAX	19
#define REPLICAS_MAX		5

/* ------------------------------------------------------------------------
 * Arguments: each function sets the member of struct options that @member points to, and
 * returns false if the argument is not valid
 */

static bool take_flag(void *member, const char *argument)
{
	(void)argument;
	*(bool *)member = true;
	return true;
}

/* The kernel or the parser of expressions judges the text. */
static bool take_any(void *member, const char *argument)
{
	*(const char **)member = argument;
	return true;
}

static bool take_text(void *member, const char *argument)
{
	return take_any(member, argument) && *argument;
}

/* Without an argument, all. */
static bool take_instances(void *member, const char *argument)
{
	return take_text(member, argument ? argument : "*");
}

static bool take_glob(void *member, const char *argument)
{
	return take_any(member, argument) && !glob_error(argument);
}

static bool take_string(void *member, const char *argument)
{
	struct string_list *list = member;
	const char **larger = array_grow(list->strings, list->count, sizeof(*larger));

	if (!larger)
		return false;
	larger[list->count++] = argument;
	list->strings = larger;
	return true;
}

static bool take_name(void *member, const char *argument)
{
	return *argument && take_string(member, argument);
}

/* A glob names a provider, and is not longer than the kernel allows. */
static bool take_event(void *member, const char *argument)
{
	const char *slash = find_slash(argument);

	if (event_glob_error(argument))
		return false;
	if (slash == argument || slash - argument >= EVENTLOG_GLOB_MAX)
		return false;
	if (*slash && (!slash[1] || *find_slash(slash + 1) ||
		       strlen(slash + 1) >= EVENTLOG_GLOB_MAX))
		return false;
	return take_string(member, argument);
}

static bool take_keywords(void *member, const char *argument)
{
	return keywords_parse(member, argument);
}

static bool take_level(void *member, const char *argument)
{
	unsigned int *level = member;
	uint64_t number;

	*level = elog_level_parse(argument);
	if (*level)
		return true;
	if (!parse_unsigned(argument, EVENTLOG_LEVEL_VERBOSE, &number) || !number)
		return false;
	*level = (unsigned int)number;
	return true;
}

static bool add_value(struct number_list *list, uint64_t value)
{
	uint64_t *larger = array_grow(list->values, list->count, sizeof(*larger));

	if (!larger)
		return false;
	larger[list->count++] = value;
	list->values = larger;
	return true;
}

static bool take_session(void *member, const char *argument)
{
	uint64_t session;

	return session_parse(argument, &session) && add_value(member, session);
}

static bool take_id(void *member, const char *argument)
{
	uint64_t id;

	return parse_unsigned(argument, INT32_MAX, &id) && add_value(member, id);
}

static bool take_pid(void *member, const char *argument)
{
	uint64_t pid;

	return parse_unsigned(argument, INT32_MAX, &pid) && pid && add_value(member, pid);
}

static bool take_count(void *member, const char *argument)
{
	uint64_t *count = member;

	return parse_unsigned(argument, UINT64_MAX, count) && *count;
}

static bool take_tail(void *member, const char *argument)
{
	uint64_t *tail = member;

	return parse_unsigned(argument, UINT64_MAX - 1, tail) && ++*tail;
}

static bool take_positive(void *member, const char *argument)
{
	uint32_t *value = member;
	uint64_t number;

	if (!parse_unsigned(argument, UINT32_MAX, &number) || !number)
		return false;
	*value = (uint32_t)number;
	return true;
}

/* Set option_column. @wrong: where in @argument it is wrong; NULL: it is right. */
static bool is_right(const char *argument, const char *wrong)
{
	option_column = wrong ? (unsigned int)(wrong - argument) + 1 : 0;
	return !wrong;
}

static bool take_max_age(void *member, const char *argument)
{
	return is_right(argument, stream_parse_age(argument, member));
}

static bool take_max_bytes(void *member, const char *argument)
{
	return stream_parse_bytes(argument, member);
}

static bool take_replicas(void *member, const char *argument)
{
	return take_positive(member, argument) && *(uint32_t *)member <= REPLICAS_MAX;
}

static bool take_span(void *member, const char *argument)
{
	uint64_t *nanoseconds = member;
	int64_t span = 0;
	const char *wrong = time_span_parse(argument, &span);

	*nanoseconds = (uint64_t)span;
	return is_right(argument, wrong || span ? wrong : argument);
}

static bool take_ring_bytes(void *member, const char *argument)
{
	uint64_t *bytes = member;

	return parse_size(argument, bytes) && *bytes && *bytes <= EVENTLOG_RING_BYTES_MAX &&
	       !(*bytes & (*bytes - 1));
}

static bool take_time(void *member, const char *argument)
{
	return is_right(argument, time_spec_parse(argument, member));
}

static bool take_wall(void *member, const char *argument)
{
	const struct time_spec *spec = member;

	return take_time(member, argument) &&
	       is_right(argument, spec->kind == TIME_SPEC_WALL ? NULL : argument);
}

/* @member: struct selection_spec */
static bool take_around(void *member, const char *argument)
{
	struct selection_spec *spec = member;

	return is_right(argument, time_spec_parse_around(argument, &spec->since, &spec->until));
}

/* Set an enum to the index of a word in a list of @count. */
static bool take_word(unsigned int *value, const char *argument, const char *const *words,
		      size_t count)
{
	int found = choice_find(words, count, argument);

	*value = found < 0 ? 0 : (unsigned int)found;
	return found >= 0;
}

static bool take_time_format(void *member, const char *argument)
{
	/* The default has no word. */
	static const char *const times[] = { "", "mono", "wall", "delta", "utc" };

	return *argument && take_word(member, argument, times, ARRAY_SIZE(times));
}

static bool take_zone(void *member, const char *argument)
{
	enum time_format *format = member;

	return take_time_format(member, argument) && time_is_wall(*format);
}

static bool take_ids(void *member, const char *argument)
{
	/* The default has no word. */
	static const char *const ids[] = { "", "hex", "decimal" };
	unsigned int *value = member;

	return take_word(value, argument, ids, ARRAY_SIZE(ids)) && *value != IDS_DEFAULT;
}

static bool take_lines(void *member, const char *argument)
{
	static const char *const lines[] = { "", "text", "json" };
	unsigned int *value = member;

	return take_word(value, argument ? argument : "text", lines, ARRAY_SIZE(lines)) &&
	       *value != LINES_NONE;
}

static bool take_color(void *member, const char *argument)
{
	static const char *const colors[] = { "auto", "always", "never" };

	return take_word(member, argument, colors, ARRAY_SIZE(colors));
}

unsigned int option_column;

const char *const option_formats[FORMATS] = { "text", "json", "csv", "prometheus", "jsonl",
					     "perfetto", "parquet" };

/* Which of them a verb has is checked by the caller. */
static bool take_format(void *member, const char *argument)
{
	return take_word(member, argument, option_formats, FORMATS);
}

static bool take_compress(void *member, const char *argument)
{
	uint64_t level = COMPRESS_LEVEL;

	if (argument && (!parse_unsigned(argument, COMPRESS_LEVEL_MAX, &level) || !level))
		return false;
	*(unsigned int *)member = (unsigned int)level;
	return true;
}

/* @member: struct record_settings */
static bool take_rotate(void *member, const char *argument)
{
	return is_right(argument, rotation_parse(member, argument));
}

static bool take_writers(void *member, const char *argument)
{
	uint64_t number = WRITERS_AUTO;

	if (strcmp(argument, "auto") &&
	    (!parse_unsigned(argument, ELOG_WRITER_FILES_MAX, &number) || !number))
		return false;
	*(unsigned int *)member = (unsigned int)number;
	return true;
}

/* ------------------------------------------------------------------------
 * The table
 */

#define TAKE(type, member)	take_##type, offsetof(struct options, member)
#define FLAG(member)		TAKE(flag, member), NULL
#define TEXT(member)		TAKE(text, member), "must not be empty"

#define MUST_BE_EVENT	"must be PROVIDER or PROVIDER/EVENT"
#define MUST_BE_SPAN	"must be like 5m, 1h30m, 100ms, 1.5s, '2 hours', or seconds; not 0"
#define LIKE_TIME	"must be like -5m, '5 minutes ago', yesterday, 12:30, '2026-11-29 12:30'"
#define MUST_BE_WALL	LIKE_TIME " or @SECONDS since 1970"
#define MUST_BE_TIME	LIKE_TIME ", @SECONDS since 1970, +10s after the start, or SECONDS as shown"
#define MUST_BE_POSITIVE "must be a number from 1"

static const struct option_definition definitions[] = {
	{ 'e', "event", "PROVIDER[/EVENT]", "only these events; globs; may be repeated",
	  TAKE(event, select.globs), MUST_BE_EVENT },
	{ 'k', "keywords", "KEYWORDS", "only events that have one of these keywords: names or\n"
	  "masks, separated by commas",
	  TAKE(keywords, select), "must be names or masks, separated by commas" },
	{ 'l', "level", "LEVEL", "only this level or more severe: critical, error,\n"
	  "warning, notice, info, debug, verbose, or 1 to 7", TAKE(level, select.level), NULL },
	{ 's', "session", "SESSION", "only this session; may be repeated",
	  TAKE(session, select.sessions), "must be a number of at most 64 bits" },
	{ 'p', "pid", "PID", "only this process; may be repeated",
	  TAKE(pid, select.pids), MUST_BE_POSITIVE },
	{ OPTION_UNIT, "unit", "UNIT",
	  "only threads of this unit of systemd: nginx is\n"
	  "nginx.service; may be repeated",
	  TAKE(name, select.units), "must be the name of a unit" },
	{ OPTION_CGROUP, "cgroup", "PATH",
	  "only threads of this cgroup, and of those below it, in\n"
	  "/sys/fs/cgroup; may be repeated",
	  TAKE(name, select.cgroups), "must not be empty" },
	{ 't', "tid", "TID", "only this thread; may be repeated",
	  TAKE(id, select.tids), "must be a number" },
	{ 'C', "cpu", "CPU", "only events of this CPU; may be repeated",
	  TAKE(id, select.cpus), "must be a number" },
	{ 'n', "count", "COUNT", "end after this number of events",
	  TAKE(count, count), MUST_BE_POSITIVE },
	{ OPTION_TAIL, "tail", "N", "only the last N events; with --follow, and those that follow",
	  TAKE(tail, tail), "must be a number" },
	{ 'd', "duration", "SPAN", "end after this time: 5m, 1h30m, 100ms, or seconds",
	  TAKE(span, live.duration), MUST_BE_SPAN },
	{ OPTION_SAMPLE, "sample", "N", "only the first of every N events that match",
	  TAKE(positive, select.sample), MUST_BE_POSITIVE },
	{ OPTION_PER_CPU_BYTES, "per-cpu-bytes", "SIZE",
	  "size of each CPU's ring: a power of two, with an optional\n"
	  "suffix K, M or G; default 1M",
	  TAKE(ring_bytes, live.ring_bytes), "must be a power of two, at most 1G" },
	{ OPTION_TIME, "time", "mono|wall|delta|utc",
	  "show seconds of the monotonic clock (default), local time,\n"
	  "seconds since the previous event, or UTC", TAKE(time_format, print.time), NULL },
	{ OPTION_ZONE, "time", "wall|utc", "show local time (default), or UTC",
	  TAKE(zone, print.time), NULL },
	{ OPTION_IDS, "ids", "hex|decimal",
	  "in text, show the thread in hexadecimal (default), or process\n"
	  "and thread in decimal, as ps does; ELOG_IDS sets the default",
	  TAKE(ids, print.ids), NULL },
	{ OPTION_WAIT, "wait", NULL, "wait until the event is enabled", FLAG(wait) },
	{ OPTION_STRICT, "strict", NULL, "fail if the event cannot be emitted", FLAG(strict) },
	{ OPTION_STDIN, "stdin", "[=text|json]", "emit each line of stdin, until its end",
	  TAKE(lines, lines), NULL },
	{ OPTION_OVERWRITE, "overwrite", NULL,
	  "keep the newest events in the rings; print them at the end,\n"
	  "on SIGUSR1, and when a trigger is emitted", FLAG(record.overwrite) },
	{ OPTION_TRIGGER, "trigger", "PROVIDER[/EVENT]",
	  "with --overwrite: print when this is emitted; may be repeated",
	  TAKE(event, live.triggers), MUST_BE_EVENT },
	{ 'o', "output", "FILE", "write events to FILE, for elog show, instead of printing\n"
	  "them; -: stdout", TEXT(output) },
	{ OPTION_APPEND, "append", NULL,
	  "with -o: append to FILE, instead of renaming it to FILE.old,\n"
	  "or with --rotate to FILE.1", FLAG(record.append) },
	{ 'f', "filter", "EXPR", "only events for which this is true, see elog_filter(7):\n"
	  "'bytes > 1000 && path ~ \"/api\"'; may be repeated",
	  TAKE(string, select.expressions), NULL },
	{ OPTION_SINCE, "since", "TIME",
	  "only events since then: 'YYYY-MM-DD HH:MM', HH:MM, today,\n"
	  "yesterday, @SECONDS since 1970, -SPAN before now or 'SPAN\n"
	  "ago', +SPAN after the start, or SECONDS as shown without\n"
	  "--time; see elog(1)", TAKE(time, select.since), MUST_BE_TIME },
	{ OPTION_UNTIL, "until", "TIME", "only events before then",
	  TAKE(time, select.until), MUST_BE_TIME },
	{ OPTION_AROUND, "around", "TIME+-SPAN",
	  "only events at most SPAN before or after",
	  TAKE(around, select), MUST_BE_TIME " with +-SPAN" },
	{ OPTION_FORMAT, "format", "FORMAT", NULL, TAKE(format, print.format), NULL },
	{ OPTION_FIELDS, "fields", "NAME[,NAME...]",
	  "only these fields; also time, cpu, pid, tid, comm, provider,\n"
	  "session, event, level, keywords, instance, record_flags, host,\n"
	  "machine_id, boot_id;\n"
	  "\"fields\" means all fields of the event", TEXT(print.fields) },
	{ OPTION_COLOR, "color", "auto|always|never",
	  "colours; auto: on a terminal, unless NO_COLOR is set", TAKE(color, color), NULL },
	{ OPTION_NO_PAGER, "no-pager", NULL, "do not start ELOG_PAGER, PAGER or less on a terminal",
	  FLAG(no_pager) },
	{ OPTION_FOLLOW, "follow", NULL, "at the end wait for more events", FLAG(source.follow) },
	{ OPTION_HOST, "host", "GLOB",
	  "of a stream, only hosts with this name or machine id", TEXT(source.host) },
	{ OPTION_SESSION_SUMMARY, "session-summary", NULL,
	  "one line per session instead of its events", FLAG(session_summary) },
	{ OPTION_INTERVAL, "interval", "SPAN", "print in this interval",
	  TAKE(span, interval), MUST_BE_SPAN },
	{ OPTION_BY, "by", "NAME", NULL, TEXT(by) },
	{ OPTION_SORT, "sort", "NAME", NULL, TEXT(sort) },
	{ OPTION_COMPRESS, "compress", "[=LEVEL]",
	  "with -o: compress with zstd, level 1 to 19; default 3",
	  TAKE(compress, record.compress), "must be a number from 1 to 19" },
	{ OPTION_ROTATE, "rotate", "SIZE[,KEEP][,AGE]",
	  "with -o: start a new file at this size, and rename the old\n"
	  "one to FILE.1; keep KEEP old files, default 9; with AGE, as in\n"
	  "64M,7d or 7d (or 12h, 30min), remove those that are older",
	  TAKE(rotate, record),
	  "must be a size from 64K, KEEP from 1 to 9999, an age from 1s as in 7d" },
	{ OPTION_WRITERS, "writers", "N",
	  "with -o: N threads write N files, FILE, FILE-w1 and so on;\n"
	  "auto: one for each CPU; default 1",
	  TAKE(writers, record.writers), "must be a number from 1 to 1024, or auto" },
	{ OPTION_SPLIT, "split", "DIR", "write a file for each session to this directory",
	  TEXT(record.split) },
	{ OPTION_BACKGROUND, "background", NULL,
	  "with -o or --split: run in the background until elog stop", FLAG(background) },
	{ OPTION_GROUP, "group", "FIELD", "also one line per value of this field of END, or of\n"
	  "provider, event, session, pid, tid, cpu, comm", TEXT(group) },
	{ OPTION_SLOWEST, "slowest", "N",
	  "also the N slowest pairs, with session and time",
	  TAKE(positive, slowest), MUST_BE_POSITIVE },
	{ OPTION_WHY, "why", NULL, "also the shares that waits have of the time, from the events of\n"
	  "eventlog_sched", FLAG(why) },
	{ OPTION_PENDING, "pending", "N", "keep at most N STARTs that wait for their END; default\n"
	  "1048576", TAKE(positive, spans.pending), MUST_BE_POSITIVE },
	{ OPTION_SPAN, "span", "START:END",
	  "a span is the time from START to the next END, globs,\n"
	  "[PROVIDER/]EVENT; default: what schemas say, else from X_start\n"
	  "or X_begin to X_end, and X_open to X_close; may be repeated",
	  TAKE(string, spans.rules), "must be START:END" },
	{ OPTION_OTLP, "otlp", "URL", NULL, TEXT(otlp) },
	{ OPTION_TREE, "tree", NULL, "print a tree of providers, events and fields, with their\n"
	  "descriptions", FLAG(tree) },
	{ OPTION_PROVIDER, "provider", "PROVIDER", "the event's provider; default user",
	  TEXT(provider) },
	{ OPTION_BPF, "bpf", NULL, "count in the kernel with a BPF program: no event is copied",
	  FLAG(bpf) },
	{ OPTION_MODULE, "module", "GLOB", "only markers of these modules",
	  TAKE(glob, module), "must be a glob" },
	{ OPTION_HANDLER, "handler", "HANDLER[,HANDLER...]",
	  "print (a line in the kernel log), trace (an event), probe;\n"
	  "default of enable: trace, of disable: all", TAKE(any, handlers), NULL },
	{ OPTION_PROGRAM, "program", "GLOB",
	  "markers of these programs: running ones, and those that\n"
	  "start later", TAKE(glob, program), "must be a glob" },
	{ OPTION_IF, "if", "PREDICATE",
	  "enable: only when this is true, see elog_filter(7)", TAKE(any, predicate), NULL },
	{ OPTION_FROM, "from", "TIME",
	  "send again from the first file that was written at TIME or\n"
	  "later: as for elog show --since, but no +SPAN or SECONDS",
	  TAKE(wall, from), MUST_BE_WALL },
	{ OPTION_ONCE, "once", NULL, "end when everything in the files is stored", FLAG(once) },
	{ OPTION_CREATE_STREAM, "create-stream", NULL,
	  "create the stream ELOG, unless it exists", FLAG(stream.report) },
	{ OPTION_MAX_AGE, "max-age", "SPAN",
	  "create it; it removes older messages: 12h, 7d, none; default 7d",
	  TAKE(max_age, stream.max_age), "must be a span from 1s like 12h or 7d, or none" },
	{ OPTION_MAX_BYTES, "max-bytes", "SIZE",
	  "create it; it removes the oldest messages when a server\n"
	  "stores more: 800G; default none",
	  TAKE(max_bytes, stream.max_bytes), "must be a size, for example 800G, or none" },
	{ OPTION_REPLICAS, "replicas", "N",
	  "create it; N servers store it; default 3, or 1 if the URL\n"
	  "has less than three servers",
	  TAKE(replicas, stream.replicas), "must be a number from 1 to 5" },
	{ OPTION_STATUS, "status", NULL,
	  "print what the stream has of each host; with --from, only\n"
	  "what it has stored since then", FLAG(status) },
	{ OPTION_STATE, "state", "DIR",
	  "keep positions in DIR; default: beside each file, in\n"
	  ".FILE.shipped", TEXT(state) },
	{ 'D', "device", "DEVICE", "the device, for example /dev/eventlog-web of the instance\n"
	  "web; default ELOG_DEVICE, or else /dev/eventlog", TEXT(device) },
	{ OPTION_INSTANCE, "instance", "NAME", NULL, TEXT(instance) },
	{ OPTION_INSTANCES, "instances", NULL, "list instances instead of events",
	  FLAG(instances) },
	{ OPTION_OF_INSTANCES, "instances", "GLOB",
	  "also events of the instances whose names match", TEXT(live.instances) },
	{ OPTION_BY_INSTANCES, "instances", "[=GLOB]",
	  "count by instance; only those whose names match",
	  TAKE(instances, live.instances), "must not be empty" },
	{ OPTION_OWNER, "owner", "USER[:GROUP]", "with --instance: owner of the device node, who\n"
	  "may capture, and its group; default root", TEXT(owner) },
	{ OPTION_MODE, "mode", "MODE", "with --instance: permissions of the device node, octal;\n"
	  "default 600, or 660 with GROUP", TEXT(mode) },
	{ OPTION_QUOTA, "quota", "NAME=N[,NAME=N...]",
	  "with --instance: limits of the instance: events, definitions\n"
	  "(a second), registrations, trace_bytes (with --trace),\n"
	  "retained_bytes, ring_bytes, rings; N may have a suffix K, M\n"
	  "or G; default: those of a user", TEXT(quota) },
	{ OPTION_TRACE, "trace", NULL, "with --instance: its events are trace events, too, in\n"
	  "groups eventlog_NAME_PROVIDER", FLAG(trace) },
	{ OPTION_DRY_RUN, "dry-run", NULL, "print who and what is concerned, and change nothing",
	  FLAG(dry_run) },
	{ OPTION_TIMEOUT, "timeout", "SPAN", "wait so long for each step; default 10s",
	  TAKE(span, timeout), MUST_BE_SPAN },
	{ OPTION_FORCE, "force", NULL, "also if instances are deleted", FLAG(force) },
	{ 'q', "quiet", NULL, "no summary, no header", FLAG(quiet) },
	{ 'v', "verbose", NULL, "print more", FLAG(verbose) },
	{ 'h', "help", NULL, "print this help", NULL, 0, NULL },
	{ 'V', "version", NULL, "print the version", NULL, 0, NULL },
};

const struct option_definition *option_find(int option)
{
	size_t i;

	_Static_assert(ARRAY_SIZE(definitions) <= OPTIONS_MAX, "OPTIONS_MAX is too small");

	for (i = 0; i < ARRAY_SIZE(definitions); i++)
		if (definitions[i].option == option)
			return &definitions[i];
	return NULL;
}
