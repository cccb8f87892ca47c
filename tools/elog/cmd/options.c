// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options: one table, so that an option has the same meaning in every verb, and every
 * --help describes it: see options.h.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/verb.h"
#include "input/keywords.h"
#include "util/array.h"
#include "util/nearest.h"
#include "util/session_number.h"

#define COMPRESS_LEVEL		3
#define COMPRESS_LEVEL_MAX	19
#define ROTATE_KEEP		9
#define ROTATE_KEEP_MAX		9999
#define ROTATE_SIZE_MIN		65536
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

static bool take_positive(void *member, const char *argument)
{
	uint32_t *value = member;
	uint64_t number;

	if (!parse_unsigned(argument, UINT32_MAX, &number) || !number)
		return false;
	*value = (uint32_t)number;
	return true;
}

static bool take_replicas(void *member, const char *argument)
{
	return take_positive(member, argument) && *(uint32_t *)member <= REPLICAS_MAX;
}

static bool take_seconds(void *member, const char *argument)
{
	uint64_t *nanoseconds = member;
	double seconds;
	char *end;

	if (!isdigit((unsigned char)*argument) && *argument != '.')
		return false;
	errno = 0;
	seconds = strtod(argument, &end);
	if (errno || *end || !(seconds > 0) || seconds > 1e9)
		return false;
	*nanoseconds = (uint64_t)(seconds * 1e9);
	return *nanoseconds != 0;
}

static bool take_ring_bytes(void *member, const char *argument)
{
	uint64_t *bytes = member;

	return parse_size(argument, bytes) && *bytes && *bytes <= EVENTLOG_RING_BYTES_MAX &&
	       !(*bytes & (*bytes - 1));
}

static bool take_time(void *member, const char *argument)
{
	return time_spec_parse(argument, member);
}

/* @member: struct selection_spec */
static bool take_around(void *member, const char *argument)
{
	struct selection_spec *spec = member;

	return time_spec_parse_around(argument, &spec->since, &spec->until);
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
	static const char *const times[] = { "mono", "wall", "delta" };

	return take_word(member, argument, times, ARRAY_SIZE(times));
}

static bool take_ids(void *member, const char *argument)
{
	/* The default has no word. */
	static const char *const ids[] = { "", "hex", "decimal" };
	unsigned int *value = member;

	return take_word(value, argument, ids, ARRAY_SIZE(ids)) && *value != IDS_DEFAULT;
}

static bool take_color(void *member, const char *argument)
{
	static const char *const colors[] = { "auto", "always", "never" };

	return take_word(member, argument, colors, ARRAY_SIZE(colors));
}

static const char *const formats[FORMATS] = { "text", "json", "csv", "prometheus", "jsonl",
					     "perfetto", "parquet" };

/* Which of them a verb has is checked by the caller. */
static bool take_format(void *member, const char *argument)
{
	return take_word(member, argument, formats, ARRAY_SIZE(formats));
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
	struct record_settings *settings = member;
	const char *comma = strchrnul(argument, ',');
	char size[32];
	uint64_t keep = ROTATE_KEEP;

	if ((size_t)(comma - argument) >= sizeof(size))
		return false;
	memcpy(size, argument, (size_t)(comma - argument));
	size[comma - argument] = '\0';
	if (*comma && (!parse_unsigned(comma + 1, ROTATE_KEEP_MAX, &keep) || !keep))
		return false;
	settings->rotate_keep = (unsigned int)keep;
	return parse_size(size, &settings->rotate_size) &&
	       settings->rotate_size >= ROTATE_SIZE_MIN;
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

/*
 * struct option_definition - an option
 * @option: its letter, or enum long_option
 * @name: its long name
 * @argument: NULL: takes none; an argument in brackets is optional
 * @help: NULL: the verb has it
 * @take: takes the argument; NULL: the caller does
 * @member: offset in struct options of what it sets
 * @must: what the argument must be, for an error; NULL: see error_argument()
 */
struct option_definition {
	int option;
	const char *name;
	const char *argument;
	const char *help;
	bool (*take)(void *member, const char *argument);
	size_t member;
	const char *must;
};

#define TAKE(type, member)	take_##type, offsetof(struct options, member)
#define FLAG(member)		TAKE(flag, member), NULL
#define TEXT(member)		TAKE(text, member), "must not be empty"

#define MUST_BE_EVENT	"must be PROVIDER or PROVIDER/EVENT"
#define MUST_BE_TIME	"must be a date, a time of day, @SECONDS, -SPAN, +SPAN or SECONDS"
#define MUST_BE_SECONDS	"must be a number, more than 0"
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
	{ 't', "tid", "TID", "only this thread; may be repeated",
	  TAKE(id, select.tids), "must be a number" },
	{ 'C', "cpu", "CPU", "only events of this CPU; may be repeated",
	  TAKE(id, select.cpus), "must be a number" },
	{ 'n', "count", "COUNT", "end after this number of events",
	  TAKE(count, count), MUST_BE_POSITIVE },
	{ 'd', "duration", "SECONDS", "end after this time; may have fractions",
	  TAKE(seconds, live.duration), MUST_BE_SECONDS },
	{ OPTION_SAMPLE, "sample", "N", "only the first of every N events that match",
	  TAKE(positive, select.sample), MUST_BE_POSITIVE },
	{ OPTION_PER_CPU_BYTES, "per-cpu-bytes", "SIZE",
	  "size of each CPU's ring: a power of two, with an optional\n"
	  "suffix K, M or G; default 1M",
	  TAKE(ring_bytes, live.ring_bytes), "must be a power of two, at most 1G" },
	{ OPTION_TIME, "time", "mono|wall|delta",
	  "show seconds of the monotonic clock (default), local time,\n"
	  "or seconds since the previous event", TAKE(time_format, print.time), NULL },
	{ OPTION_IDS, "ids", "hex|decimal",
	  "in text, show the thread in hexadecimal (default), or process\n"
	  "and thread in decimal, as ps does; ELOG_IDS sets the default",
	  TAKE(ids, print.ids), NULL },
	{ OPTION_WAIT, "wait", NULL, "wait until the event is enabled", FLAG(wait) },
	{ OPTION_OVERWRITE, "overwrite", NULL,
	  "keep the newest events in the rings; print them at the end,\n"
	  "on SIGUSR1, and when a trigger is emitted", FLAG(record.overwrite) },
	{ OPTION_TRIGGER, "trigger", "PROVIDER[/EVENT]",
	  "with --overwrite: print when this is emitted; may be repeated",
	  TAKE(event, live.triggers), MUST_BE_EVENT },
	{ 'o', "output", "FILE", "write events to FILE, for elog show, instead of printing\n"
	  "them; -: stdout", TEXT(output) },
	{ OPTION_APPEND, "append", NULL, "with -o: append to FILE", FLAG(record.append) },
	{ 'f', "filter", "EXPR", "only events for which this is true, see elog_filter(7):\n"
	  "'bytes > 1000 && path ~ \"/api\"'; may be repeated",
	  TAKE(string, select.expressions), NULL },
	{ OPTION_SINCE, "since", "TIME",
	  "only events since then: a date, a time of day, @SECONDS\n"
	  "since 1970, -SPAN before now, +SPAN after the start, or\n"
	  "SECONDS as shown without --time", TAKE(time, select.since), MUST_BE_TIME },
	{ OPTION_UNTIL, "until", "TIME", "only events before then",
	  TAKE(time, select.until), MUST_BE_TIME },
	{ OPTION_AROUND, "around", "TIME+-SPAN",
	  "only events at most SPAN before or after",
	  TAKE(around, select), MUST_BE_TIME " with +-SPAN" },
	{ OPTION_FORMAT, "format", "FORMAT", NULL, TAKE(format, print.format), NULL },
	{ OPTION_FIELDS, "fields", "NAME[,NAME...]",
	  "only these fields; also time, cpu, pid, tid, comm, provider,\n"
	  "session, event, level, keywords, instance, record_flags, host;\n"
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
	{ OPTION_INTERVAL, "interval", "SECONDS", "print in this interval",
	  TAKE(seconds, interval), MUST_BE_SECONDS },
	{ OPTION_BY, "by", "NAME", NULL, TEXT(by) },
	{ OPTION_SORT, "sort", "NAME", NULL, TEXT(sort) },
	{ OPTION_COMPRESS, "compress", "[=LEVEL]",
	  "with -o: compress with zstd, level 1 to 19; default 3",
	  TAKE(compress, record.compress), "must be a number from 1 to 19" },
	{ OPTION_ROTATE, "rotate", "SIZE[,KEEP]",
	  "with -o: start a new file at this size, and rename the old\n"
	  "one to FILE.1; keep KEEP old files, default 9",
	  TAKE(rotate, record), "must be a size from 64K, and KEEP from 1 to 9999" },
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
	  "later: a date, a time of day, @SECONDS since 1970, or -SPAN",
	  TAKE(time, from), "must be a date, a time of day, @SECONDS or -SPAN" },
	{ OPTION_ONCE, "once", NULL, "end when everything in the files is stored", FLAG(once) },
	{ OPTION_REPLICAS, "replicas", "N",
	  "create the stream ELOG with N replicas, unless it exists",
	  TAKE(replicas, replicas), "must be a number from 1 to 5" },
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
	{ OPTION_OWNER, "owner", "USER[:GROUP]", "with --instance: owner of the device node, who\n"
	  "may capture, and its group; default root", TEXT(owner) },
	{ OPTION_MODE, "mode", "MODE", "with --instance: permissions of the device node, octal;\n"
	  "default 600, or 660 with GROUP", TEXT(mode) },
	{ OPTION_QUOTA, "quota", "NAME=N[,NAME=N...]",
	  "with --instance: limits of the instance: events, definitions\n"
	  "(a second), registrations, trace_bytes (with --trace),\n"
	  "retained_bytes, ring_bytes; N may have a suffix K, M or G;\n"
	  "default: those of a user", TEXT(quota) },
	{ OPTION_TRACE, "trace", NULL, "with --instance: its events are trace events, too, in\n"
	  "groups eventlog_NAME_PROVIDER", FLAG(trace) },
	{ 'q', "quiet", NULL, "no summary, no header", FLAG(quiet) },
	{ 'v', "verbose", NULL, "print more", FLAG(verbose) },
	{ 'h', "help", NULL, "print this help", NULL, 0, NULL },
	{ 'V', "version", NULL, "print the version", NULL, 0, NULL },
};

static const struct verb_option common[] = {
	{ 'h', NULL }, { 'V', NULL }, { 0, NULL },
};

static const struct option_definition *find_definition(int option)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(definitions); i++)
		if (definitions[i].option == option)
			return &definitions[i];
	return NULL;
}

static void print_option(const struct verb_option *option)
{
	const struct option_definition *definition;
	const char *help, *end;
	char left[64];
	int width;

	definition = find_definition(option->option);
	help = option->help ? option->help : definition->help;
	if (option->option < OPTION_SAMPLE)
		width = snprintf(left, sizeof(left), "-%c, --%s%s%s",
				 option->option, definition->name,
				 definition->argument ? " " : "",
				 definition->argument ? definition->argument : "");
	else
		width = snprintf(left, sizeof(left), "    --%s%s%s",
				 definition->name, !definition->argument ? "" :
				 *definition->argument == '[' ? "" : " ",
				 definition->argument ? definition->argument : "");
	printf("  %s", left);
	if (width > 22) {
		putchar('\n');
		width = -2;
	}
	for (;;) {
		end = strchrnul(help, '\n');
		printf("%*s%.*s\n", 24 - width, "", (int)(end - help), help);
		if (!*end)
			break;
		help = end + 1;
		width = -2;
	}
}

void print_help(const struct verb *verb)
{
	const struct verb_option *option;

	printf("usage: elog %s %s\n\n%s\n", verb->name, verb->usage,
	       verb->description);
	for (option = verb->options; option->option; option++)
		print_option(option);
	for (option = common; option->option; option++)
		print_option(option);
}

/* Return: false if the argument is not valid. */
static bool take_option(const struct verb *verb, struct options *options,
			int option, const char *argument)
{
	const struct option_definition *definition = find_definition(option);

	if (!definition->take((char *)options + definition->member, argument))
		return false;
	return option != OPTION_FORMAT || verb->formats & 1U << options->print.format;
}

/* Room for all options: letters and colons, and a "+"; long names. */
struct getopt_tables {
	char letters[2 * ARRAY_SIZE(definitions) + 3];
	struct option names[ARRAY_SIZE(definitions) + 1];
};

static void add_to_tables(struct getopt_tables *tables,
			  const struct verb_option *list)
{
	const struct option_definition *definition;
	size_t letter = strlen(tables->letters), name = 0;

	while (tables->names[name].name)
		name++;
	for (; list->option; list++) {
		definition = find_definition(list->option);
		if (list->option < OPTION_SAMPLE) {
			tables->letters[letter++] = (char)list->option;
			if (definition->argument)
				tables->letters[letter++] = ':';
		}
		tables->names[name].name = definition->name;
		tables->names[name].has_arg = !definition->argument ?
			no_argument : *definition->argument == '[' ?
			optional_argument : required_argument;
		tables->names[name++].val = list->option;
	}
}

/* What the argument of an option is, as a word: "level" for LEVEL. */
static void put_noun(struct elog_text *text, const char *argument)
{
	const char *c;

	argument += strspn(argument, "[=");
	for (c = argument; isupper((unsigned char)*c); c++)
		;
	/* Names like N and SIZE[,KEEP] are those of the help. */
	if (c - argument < 3 || (*c && strcmp(c, "]"))) {
		elog_text_string(text, strpbrk(argument, "|") ? "argument" : argument);
		return;
	}
	for (c = argument; isupper((unsigned char)*c); c++)
		elog_text_printf(text, "%c", tolower((unsigned char)*c));
}

static void error_level(const char *what, const char *argument)
{
	const char *names[EVENTLOG_LEVEL_VERBOSE + 1];
	unsigned int level;

	for (level = EVENTLOG_LEVEL_CRITICAL; level <= EVENTLOG_LEVEL_VERBOSE; level++)
		names[level - 1] = elog_level_name(level);
	names[level - 1] = "warn";
	choice_error(names, ARRAY_SIZE(names), argument, ", or a number from 1 to 7", "%s '%s'",
		     what, argument);
}

static void error_format(const struct verb *verb, const char *what, const char *argument)
{
	const char *names[FORMATS];
	unsigned int format;

	for (format = 0; format < FORMATS; format++)
		names[format] = verb->formats & 1U << format ? formats[format] : NULL;
	choice_error(names, FORMATS, argument, NULL, "%s '%s'", what, argument);
}

/* The argument must be one of the words in the help: "mono|wall|delta". */
static void error_word(const struct option_definition *definition, const char *what,
		       const char *argument)
{
	char copy[64], *rest = copy;
	const char *words[8];
	size_t count = 0;

	snprintf(copy, sizeof(copy), "%s", definition->argument);
	while (rest && count < ARRAY_SIZE(words))
		words[count++] = strsep(&rest, "|");
	choice_error(words, count, argument, NULL, "%s '%s'", what, argument);
}

static const char *explain_argument(const struct option_definition *definition,
				    const char *argument)
{
	const char *error = NULL;

	switch (definition->option) {
	case 'e':
	case OPTION_TRIGGER:
		error = event_glob_error(argument);
		break;
	case OPTION_MODULE:
	case OPTION_PROGRAM:
		error = glob_error(argument);
		break;
	}
	if (error)
		return error;
	/* Only a lack of memory makes the other ones invalid. */
	return definition->must ? definition->must : "out of memory";
}

static void error_argument(const struct verb *verb, int option, const char *argument)
{
	const struct option_definition *definition = find_definition(option);
	struct elog_text what = { 0 };

	if (option < OPTION_SAMPLE)
		elog_text_printf(&what, "-%c: invalid ", option);
	else
		elog_text_printf(&what, "--%s: invalid ", definition->name);
	put_noun(&what, definition->argument);
	if (what.error)
		elog_error("out of memory");
	else if (option == 'l')
		error_level(what.data, argument);
	else if (option == OPTION_FORMAT)
		error_format(verb, what.data, argument);
	else if (strchr(definition->argument, '|'))
		error_word(definition, what.data, argument);
	else
		elog_error("%s '%s': %s", what.data, argument,
			   explain_argument(definition, argument));
	elog_text_free(&what);
}

/* Print that an option is not known, or that its abbreviation is not unique. */
static void error_option(const struct verb *verb, const char *argument)
{
	const size_t size = strcspn(argument, "=");
	char *word = strndup(argument, size);
	struct nearest nearest = { .sought = word };
	const struct verb_option *lists[] = { verb->options, common }, *option;
	struct elog_text matches = { 0 };
	unsigned int i;
	char name[64];

	if (!word) {
		elog_error("out of memory");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		for (option = lists[i]; option->option; option++) {
			snprintf(name, sizeof(name), "--%s",
				 find_definition(option->option)->name);
			if (!strncmp(name, word, size))
				elog_text_printf(&matches, "%s%s", matches.size ? ", " : "",
						 name);
			nearest_offer(&nearest, name);
			if (option->option >= OPTION_SAMPLE)
				continue;
			snprintf(name, sizeof(name), "-%c", option->option);
			nearest_offer(&nearest, name);
		}
	}
	if (matches.size && !matches.error)
		elog_error("the option '%s' is ambiguous: %s", word, matches.data);
	else
		nearest_error(&nearest, "no option '%s'", word);
	nearest_free(&nearest);
	elog_text_free(&matches);
	free(word);
}

/* As parse_options(). */
static int read_options(const struct verb *verb, int count, char **arguments,
			struct options *options)
{
	struct getopt_tables tables = { 0 };
	char letter[] = "-?";
	int option;

	strcpy(tables.letters, verb->options_first ? "+:" : ":");
	add_to_tables(&tables, verb->options);
	add_to_tables(&tables, common);
	opterr = 0;
	while ((option = getopt_long(count, arguments, tables.letters,
				     tables.names, NULL)) != -1) {
		switch (option) {
		case 'h':
			print_help(verb);
			return STATUS_OK;
		case 'V':
			print_version();
			return STATUS_OK;
		case '?':
			if (optopt && optopt < OPTION_SAMPLE &&
			    !strchr(tables.letters, optopt)) {
				letter[1] = (char)optopt;
				error_option(verb, letter);
			} else if (optopt) {
				elog_error("'%s' takes no argument",
					   arguments[optind - 1]);
			} else {
				error_option(verb, arguments[optind - 1]);
			}
			break;
		case ':':
			elog_error("'%s' needs an argument", arguments[optind - 1]);
			break;
		default:
			if (take_option(verb, options, option, optarg))
				continue;
			error_argument(verb, option, optarg);
			break;
		}
		elog_hint("try: elog %s --help", verb->name);
		return STATUS_ERROR;
	}
	options->separated = optind > 1 && !strcmp(arguments[optind - 1], "--");
	options->arguments = arguments + optind;
	options->argument_count = count - optind;
	return -1;
}

static bool has_option(const struct verb *verb, int option)
{
	const struct verb_option *list = verb->options;

	while (list->option && list->option != option)
		list++;
	return list->option;
}

/*
 * Let the library, and COMMAND, use the device of -D. The library ignores the variable in a
 * program with additional privileges. As parse_options().
 */
static int set_device(const struct options *options)
{
	if (!options->device)
		return -1;
	if (setenv("ELOG_DEVICE", options->device, 1)) {
		elog_error("out of memory");
		return STATUS_ERROR;
	}
	if (secure_getenv("ELOG_DEVICE"))
		return -1;
	elog_error("-D: an elog with capabilities of its own uses only %s", EVENTLOG_DEVICE);
	return STATUS_ERROR;
}

/* Options that the environment sets, unless the command line did. As parse_options(). */
static int read_environment(const struct verb *verb, struct options *options)
{
	const char *ids = getenv("ELOG_IDS");

	if (!ids || !*ids || options->print.ids != IDS_DEFAULT || !has_option(verb, OPTION_IDS) ||
	    take_option(verb, options, OPTION_IDS, ids))
		return -1;
	elog_error("ELOG_IDS: '%s' is not one of hex, decimal", ids);
	return STATUS_ERROR;
}

/*
 * How many arguments followed the "--" that ended the options. getopt_long() has
 * reordered the arguments, but not changed the strings.
 */
static int count_behind(char *const *before, int count, const char *separator)
{
	int i;

	for (i = 0; i < count; i++)
		if (before[i] == separator)
			return count - i - 1;
	return 0;
}

/* Copy the options that several parts need into each of these parts. */
static void share(struct options *options)
{
	char **command = options->separated ? options->arguments + options->argument_count -
			 options->command_count : NULL;

	options->select.late = command;
	options->source.fields = options->print.fields;
	options->source.quiet = options->quiet;
	options->live.fields = options->print.fields;
	options->live.command = command;
	options->live.owns_stdout = options->output && !strcmp(options->output, "-");
	options->live.quiet = options->quiet;
	options->live.verbose = options->verbose;
	options->print.hosts = source_is_stream(options->arguments, options->argument_count);
	options->print.instances = options->live.instances;
	options->print.quiet = options->quiet;
	options->print.verbose = options->verbose;
	options->record.output = options->output;
	options->spans.by = options->by;
	options->visit = (struct visit_settings){
		.select = &options->select, .source = &options->source, .spans = &options->spans,
		.names = options->arguments, .name_count = options->argument_count,
		.count = options->count,
		.to_stdout = options->live.owns_stdout, .whole = true,
		.quiet = options->quiet,
	};
}

int parse_options(const struct verb *verb, int count, char **arguments,
		  struct options *options)
{
	size_t size = (size_t)count * sizeof(*arguments);
	char **before;
	int ret;

	before = malloc(size);
	if (!before) {
		elog_error("out of memory");
		return STATUS_ERROR;
	}
	memcpy(before, arguments, size);
	ret = read_options(verb, count, arguments, options);
	if (ret < 0)
		ret = read_environment(verb, options);
	if (ret < 0)
		ret = set_device(options);
	if (options->separated)
		options->command_count =
			count_behind(before, count, options->arguments[-1]);
	share(options);
	free(before);
	return ret;
}

void free_options(struct options *options)
{
	free(options->select.globs.strings);
	free(options->select.expressions.strings);
	free(options->select.sessions.values);
	free(options->select.pids.values);
	free(options->select.tids.values);
	free(options->select.cpus.values);
	free(options->live.triggers.strings);
	free(options->spans.rules.strings);
	memset(options, 0, sizeof(*options));
}
