// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options: one table, so that an option has the same meaning in every verb, and every
 * --help describes it.
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

/*
 * struct option_definition - an option
 * @option: its letter, or enum long_option
 * @name: its long name
 * @argument: NULL: takes none; an argument in brackets is optional
 * @help: NULL: the verb has it
 * @flag: offset of a bool in struct options that it sets; 0: none
 * @text: offset of a string that it sets to its argument, which must not be empty
 * @must: what the argument must be, for an error; NULL: see error_argument()
 */
struct option_definition {
	int option;
	const char *name;
	const char *argument;
	const char *help;
	size_t flag;
	size_t text;
	const char *must;
};

#define FLAG(member)	offsetof(struct options, member), 0, NULL
#define TEXT(member)	0, offsetof(struct options, member), "must not be empty"
#define PARSED(must)	0, 0, must	/* by take_option() */

#define MUST_BE_EVENT	"must be PROVIDER or PROVIDER/EVENT"
#define MUST_BE_TIME	"must be a date, a time of day, @SECONDS, -SPAN, +SPAN or SECONDS"
#define MUST_BE_SECONDS	"must be a number, more than 0"
#define MUST_BE_POSITIVE "must be a number from 1"

static const struct option_definition definitions[] = {
	{ 'e', "event", "PROVIDER[/EVENT]", "only these events; globs; may be repeated",
	  PARSED(MUST_BE_EVENT) },
	{ 'k', "keywords", "KEYWORDS", "only events that have one of these keywords: names or\n"
	  "masks, separated by commas", PARSED("must be names or masks, separated by commas") },
	{ 'l', "level", "LEVEL", "only this level or more severe: critical, error,\n"
	  "warning, notice, info, debug, verbose, or 1 to 7", PARSED(NULL) },
	{ 's', "session", "SESSION", "only this session; may be repeated",
	  PARSED("must be a number of at most 64 bits") },
	{ 'p', "pid", "PID", "only this process; may be repeated", PARSED(MUST_BE_POSITIVE) },
	{ 't', "tid", "TID", "only this thread; may be repeated", PARSED("must be a number") },
	{ 'C', "cpu", "CPU", "only events of this CPU; may be repeated",
	  PARSED("must be a number") },
	{ 'n', "count", "COUNT", "end after this number of events", PARSED(MUST_BE_POSITIVE) },
	{ 'd', "duration", "SECONDS", "end after this time; may have fractions",
	  PARSED(MUST_BE_SECONDS) },
	{ OPTION_SAMPLE, "sample", "N", "only the first of every N events that match",
	  PARSED(MUST_BE_POSITIVE) },
	{ OPTION_PER_CPU_BYTES, "per-cpu-bytes", "SIZE",
	  "size of each CPU's ring: a power of two, with an optional\n"
	  "suffix K, M or G; default 1M", PARSED("must be a power of two, at most 1G") },
	{ OPTION_TIME, "time", "mono|wall|delta",
	  "show seconds of the monotonic clock (default), local time,\n"
	  "or seconds since the previous event", PARSED(NULL) },
	{ OPTION_IDS, "ids", "hex|decimal",
	  "in text, show the thread in hexadecimal (default), or process\n"
	  "and thread in decimal, as ps does; ELOG_IDS sets the default", PARSED(NULL) },
	{ OPTION_WAIT, "wait", NULL, "wait until the event is enabled", FLAG(wait) },
	{ OPTION_OVERWRITE, "overwrite", NULL,
	  "keep the newest events in the rings; print them at the end,\n"
	  "on SIGUSR1, and when a trigger is emitted", FLAG(overwrite) },
	{ OPTION_TRIGGER, "trigger", "PROVIDER[/EVENT]",
	  "with --overwrite: print when this is emitted; may be repeated",
	  PARSED(MUST_BE_EVENT) },
	{ 'o', "output", "FILE", "write events to FILE, for elog show, instead of printing\n"
	  "them; -: stdout", TEXT(output) },
	{ OPTION_APPEND, "append", NULL, "with -o: append to FILE", FLAG(append) },
	{ 'f', "filter", "EXPR", "only events for which this is true, see elog_filter(7):\n"
	  "'bytes > 1000 && path ~ \"/api\"'; may be repeated", PARSED(NULL) },
	{ OPTION_SINCE, "since", "TIME",
	  "only events since then: a date, a time of day, @SECONDS\n"
	  "since 1970, -SPAN before now, +SPAN after the start, or\n"
	  "SECONDS as shown without --time", PARSED(MUST_BE_TIME) },
	{ OPTION_UNTIL, "until", "TIME", "only events before then", PARSED(MUST_BE_TIME) },
	{ OPTION_AROUND, "around", "TIME+-SPAN",
	  "only events at most SPAN before or after", PARSED(MUST_BE_TIME " with +-SPAN") },
	{ OPTION_FORMAT, "format", "FORMAT", NULL, PARSED(NULL) },
	{ OPTION_FIELDS, "fields", "NAME[,NAME...]",
	  "only these fields; also time, cpu, pid, tid, comm, provider,\n"
	  "session, event, level, keywords, instance, record_flags, host;\n"
	  "\"fields\" means all fields of the event", TEXT(fields) },
	{ OPTION_COLOR, "color", "auto|always|never",
	  "colours; auto: on a terminal, unless NO_COLOR is set", PARSED(NULL) },
	{ OPTION_NO_PAGER, "no-pager", NULL, "do not start ELOG_PAGER, PAGER or less on a terminal",
	  FLAG(no_pager) },
	{ OPTION_FOLLOW, "follow", NULL, "at the end wait for more events", FLAG(follow) },
	{ OPTION_HOST, "host", "GLOB",
	  "of a stream, only hosts with this name or machine id", TEXT(host) },
	{ OPTION_SESSION_SUMMARY, "session-summary", NULL,
	  "one line per session instead of its events", FLAG(session_summary) },
	{ OPTION_INTERVAL, "interval", "SECONDS", "print in this interval",
	  PARSED(MUST_BE_SECONDS) },
	{ OPTION_BY, "by", "NAME", NULL, TEXT(by) },
	{ OPTION_SORT, "sort", "NAME", NULL, TEXT(sort) },
	{ OPTION_COMPRESS, "compress", "[=LEVEL]",
	  "with -o: compress with zstd, level 1 to 19; default 3",
	  PARSED("must be a number from 1 to 19") },
	{ OPTION_ROTATE, "rotate", "SIZE[,KEEP]",
	  "with -o: start a new file at this size, and rename the old\n"
	  "one to FILE.1; keep KEEP old files, default 9",
	  PARSED("must be a size from 64K, and KEEP from 1 to 9999") },
	{ OPTION_WRITERS, "writers", "N",
	  "with -o: N threads write N files, FILE, FILE-w1 and so on;\n"
	  "auto: one for each CPU; default 1",
	  PARSED("must be a number from 1 to 1024, or auto") },
	{ OPTION_SPLIT, "split", "DIR", "write a file for each session to this directory",
	  TEXT(split) },
	{ OPTION_BACKGROUND, "background", NULL,
	  "with -o or --split: run in the background until elog stop", FLAG(background) },
	{ OPTION_GROUP, "group", "FIELD", "also one line per value of this field of END, or of\n"
	  "provider, event, session, pid, tid, cpu, comm", TEXT(group) },
	{ OPTION_SLOWEST, "slowest", "N",
	  "also the N slowest pairs, with session and time", PARSED(MUST_BE_POSITIVE) },
	{ OPTION_PENDING, "pending", "N", "keep at most N STARTs that wait for their END; default\n"
	  "1048576", PARSED(MUST_BE_POSITIVE) },
	{ OPTION_SPAN, "span", "START:END",
	  "a span is the time from START to the next END, globs,\n"
	  "[PROVIDER/]EVENT; default: from X_start or X_begin to X_end,\n"
	  "and from X_open to X_close; may be repeated", PARSED("must be START:END") },
	{ OPTION_OTLP, "otlp", "URL", NULL, TEXT(otlp) },
	{ OPTION_TREE, "tree", NULL, "print a tree of providers, events and fields, with their\n"
	  "descriptions", FLAG(tree) },
	{ OPTION_PROVIDER, "provider", "PROVIDER", "the event's provider; default user",
	  TEXT(provider) },
	{ OPTION_BPF, "bpf", NULL, "count in the kernel with a BPF program: no event is copied",
	  FLAG(bpf) },
	{ OPTION_MODULE, "module", "GLOB", "only markers of these modules",
	  PARSED("must be a glob") },
	{ OPTION_HANDLER, "handler", "HANDLER[,HANDLER...]",
	  "print (a line in the kernel log), trace (an event), probe;\n"
	  "default of enable: trace, of disable: all", PARSED(NULL) },
	{ OPTION_PROGRAM, "program", "GLOB",
	  "markers of these programs: running ones, and those that\n"
	  "start later", PARSED("must be a glob") },
	{ OPTION_IF, "if", "PREDICATE",
	  "enable: only when this is true, see elog_filter(7)", PARSED(NULL) },
	{ OPTION_FROM, "from", "TIME",
	  "send again from the first file that was written at TIME or\n"
	  "later: a date, a time of day, @SECONDS since 1970, or -SPAN",
	  PARSED("must be a date, a time of day, @SECONDS or -SPAN") },
	{ OPTION_ONCE, "once", NULL, "end when everything in the files is stored", FLAG(once) },
	{ OPTION_REPLICAS, "replicas", "N",
	  "create the stream ELOG with N replicas, unless it exists",
	  PARSED("must be a number from 1 to 5") },
	{ OPTION_STATE, "state", "DIR",
	  "keep positions in DIR; default: beside each file, in\n"
	  ".FILE.shipped", TEXT(state) },
	{ 'D', "device", "DEVICE", "the device, for example /dev/eventlog-web of the instance\n"
	  "web; default ELOG_DEVICE, or else /dev/eventlog", TEXT(device) },
	{ OPTION_INSTANCE, "instance", "NAME", NULL, TEXT(instance) },
	{ OPTION_INSTANCES, "instances", NULL, "list instances instead of events",
	  FLAG(instances) },
	{ OPTION_OF_INSTANCES, "instances", "GLOB",
	  "also events of the instances whose names match", TEXT(of_instances) },
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
	{ 'h', "help", NULL, "print this help", PARSED(NULL) },
	{ 'V', "version", NULL, "print the version", PARSED(NULL) },
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

static bool parse_seconds(const char *text, uint64_t *nanoseconds)
{
	double seconds;
	char *end;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	errno = 0;
	seconds = strtod(text, &end);
	if (errno || *end || !(seconds > 0) || seconds > 1e9)
		return false;
	*nanoseconds = (uint64_t)(seconds * 1e9);
	return *nanoseconds != 0;
}

static bool add_value(struct number_list *list, uint64_t value)
{
	uint64_t *larger;

	larger = array_grow(list->values, list->count, sizeof(*larger));
	if (!larger)
		return false;
	larger[list->count++] = value;
	list->values = larger;
	return true;
}

static bool add_number(struct number_list *list, const char *text, uint64_t most)
{
	uint64_t value;

	return parse_unsigned(text, most, &value) && add_value(list, value);
}

static bool add_session(struct number_list *list, const char *text)
{
	uint64_t session;

	return session_parse(text, &session) && add_value(list, session);
}

static bool add_string(const char ***strings, size_t *count, const char *text)
{
	const char **larger = array_grow(*strings, *count, sizeof(*larger));

	if (!larger)
		return false;
	larger[(*count)++] = text;
	*strings = larger;
	return true;
}

/* A glob names a provider, and is not longer than the kernel allows. */
static bool add_glob(const char ***globs, size_t *count, const char *text)
{
	const char *slash = find_slash(text);

	if (event_glob_error(text))
		return false;
	if (slash == text || slash - text >= EVENTLOG_GLOB_MAX)
		return false;
	if (*slash && (!slash[1] || *find_slash(slash + 1) ||
		       strlen(slash + 1) >= EVENTLOG_GLOB_MAX))
		return false;
	return add_string(globs, count, text);
}

static bool parse_level(struct options *options, const char *text)
{
	uint64_t number;

	options->level = elog_level_parse(text);
	if (options->level)
		return true;
	if (!parse_unsigned(text, EVENTLOG_LEVEL_VERBOSE, &number) || !number)
		return false;
	options->level = (unsigned int)number;
	return true;
}

/* In the order of the enum. */
static const char *const formats[FORMATS] = { "text", "json", "csv", "prometheus", "jsonl",
					     "perfetto", "parquet" };

/* Set @value to the index of a word in a list of @count. Return: false if it is not there. */
static bool parse_word(const char *text, const char *const *words, size_t count,
		       unsigned int *value)
{
	int found = choice_find(words, count, text);

	*value = found < 0 ? 0 : (unsigned int)found;
	return found >= 0;
}

static bool parse_rotate(struct options *options, const char *text)
{
	const char *comma = strchrnul(text, ',');
	char size[32];
	uint64_t keep = ROTATE_KEEP;

	if ((size_t)(comma - text) >= sizeof(size))
		return false;
	memcpy(size, text, (size_t)(comma - text));
	size[comma - text] = '\0';
	if (*comma && (!parse_unsigned(comma + 1, ROTATE_KEEP_MAX, &keep) || !keep))
		return false;
	options->rotate_keep = (unsigned int)keep;
	return parse_size(size, &options->rotate_size) &&
	       options->rotate_size >= ROTATE_SIZE_MIN;
}

static bool parse_positive(const char *text, uint32_t *value)
{
	uint64_t number;

	if (!parse_unsigned(text, UINT32_MAX, &number) || !number)
		return false;
	*value = (uint32_t)number;
	return true;
}

/* In the order of the enum; the default has no word. */
static const char *const ids_formats[] = { "", "hex", "decimal" };

/* Return: false if the argument is not valid. */
static bool take_option(const struct verb *verb, struct options *options,
			int option, const char *argument)
{
	/* In the order of the enums. */
	static const char *const times[] = { "mono", "wall", "delta" };
	static const char *const colors[] = { "auto", "always", "never" };
	const struct option_definition *definition = find_definition(option);
	uint64_t number;

	if (definition->flag) {
		*(bool *)((char *)options + definition->flag) = true;
		return true;
	}
	if (definition->text) {
		*(const char **)((char *)options + definition->text) = argument;
		return *argument;
	}
	switch (option) {
	case 'e':
		return add_glob(&options->globs, &options->glob_count, argument);
	case OPTION_TRIGGER:
		return add_glob(&options->triggers, &options->trigger_count, argument);
	case 'k':
		return keywords_parse(options, argument);
	case 'l':
		return parse_level(options, argument);
	case 's':
		return add_session(&options->sessions, argument);
	case 'p':
		return add_number(&options->pids, argument, INT32_MAX) &&
		       options->pids.values[options->pids.count - 1];
	case 't':
		return add_number(&options->tids, argument, INT32_MAX);
	case 'C':
		return add_number(&options->cpus, argument, INT32_MAX);
	case 'n':
		return parse_unsigned(argument, UINT64_MAX, &options->count) &&
		       options->count;
	case 'd':
		return parse_seconds(argument, &options->duration);
	case OPTION_SAMPLE:
		return parse_positive(argument, &options->sample);
	case OPTION_PER_CPU_BYTES:
		return parse_size(argument, &options->per_cpu_bytes) &&
		       options->per_cpu_bytes &&
		       options->per_cpu_bytes <= EVENTLOG_RING_BYTES_MAX &&
		       !(options->per_cpu_bytes & (options->per_cpu_bytes - 1));
	case OPTION_TIME:
		return parse_word(argument, times, ARRAY_SIZE(times), &options->time);
	case OPTION_IDS:
		return parse_word(argument, ids_formats, ARRAY_SIZE(ids_formats), &options->ids) &&
		       options->ids != IDS_DEFAULT;
	case 'f':
		return add_string(&options->expressions, &options->expression_count, argument);
	case OPTION_SINCE:
		return time_spec_parse(argument, &options->since);
	case OPTION_UNTIL:
		return time_spec_parse(argument, &options->until);
	case OPTION_AROUND:
		return time_spec_parse_around(argument, &options->since,
					      &options->until);
	case OPTION_FORMAT:
		return parse_word(argument, formats, ARRAY_SIZE(formats), &options->format) &&
		       verb->formats & 1U << options->format;
	case OPTION_COLOR:
		return parse_word(argument, colors, ARRAY_SIZE(colors), &options->color);
	case OPTION_INTERVAL:
		return parse_seconds(argument, &options->interval);
	case OPTION_COMPRESS:
		number = COMPRESS_LEVEL;
		if (argument && (!parse_unsigned(argument, COMPRESS_LEVEL_MAX,
						 &number) || !number))
			return false;
		options->compress = (unsigned int)number;
		return true;
	case OPTION_ROTATE:
		return parse_rotate(options, argument);
	case OPTION_WRITERS:
		number = WRITERS_AUTO;
		if (strcmp(argument, "auto") &&
		    (!parse_unsigned(argument, ELOG_WRITER_FILES_MAX, &number) || !number))
			return false;
		options->writers = (unsigned int)number;
		return true;
	case OPTION_SLOWEST:
		return parse_positive(argument, &options->slowest);
	case OPTION_SPAN:
		return add_string(&options->spans, &options->span_count, argument);
	case OPTION_FROM:
		return time_spec_parse(argument, &options->from);
	case OPTION_REPLICAS:
		return parse_positive(argument, &options->replicas) && options->replicas <= 5;
	case OPTION_PENDING:
		return parse_positive(argument, &options->pending);
	/* The kernel or the parser of expressions judges an empty text. */
	case OPTION_MODULE:
		options->module = argument;
		return !glob_error(argument);
	case OPTION_HANDLER:
		options->handlers = argument;
		return true;
	case OPTION_IF:
		options->predicate = argument;
		return true;
	case OPTION_PROGRAM:
		options->program = argument;
		return !glob_error(argument);
	default:
		return false;
	}
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

	if (!ids || !*ids || options->ids != IDS_DEFAULT || !has_option(verb, OPTION_IDS) ||
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
	free(before);
	return ret;
}

void free_options(struct options *options)
{
	free(options->globs);
	free(options->triggers);
	free(options->spans);
	free(options->expressions);
	free(options->sessions.values);
	free(options->pids.values);
	free(options->tids.values);
	free(options->cpus.values);
	memset(options, 0, sizeof(*options));
}
