// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parsing the command line, --help, and errors in options: see options.h. What the options are
 * is in option_table.c: one table, so that an option has the same meaning in every verb, and
 * every --help describes it.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/option_table.h"
#include "cmd/verb.h"
#include "util/nearest.h"

static const struct verb_option common[] = {
	{ 'h', NULL }, { 'V', NULL }, { 0, NULL },
};

static void print_option(const struct verb_option *option)
{
	const struct option_definition *definition;
	const char *help, *end;
	char left[64];
	int width;

	definition = option_find(option->option);
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
	const struct option_definition *definition = option_find(option);

	if (!definition->take((char *)options + definition->member, argument))
		return false;
	return option != OPTION_FORMAT || verb->formats & 1U << options->print.format;
}

/* Room for all options: letters and colons, and a "+"; long names. */
struct getopt_tables {
	char letters[2 * OPTIONS_MAX + 3];
	struct option names[OPTIONS_MAX + 1];
};

static void add_to_tables(struct getopt_tables *tables,
			  const struct verb_option *list)
{
	const struct option_definition *definition;
	size_t letter = strlen(tables->letters), name = 0;

	while (tables->names[name].name)
		name++;
	for (; list->option; list++) {
		definition = option_find(list->option);
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
		names[format] = verb->formats & 1U << format ? option_formats[format] : NULL;
	choice_error(names, FORMATS, argument, NULL, "%s '%s'", what, argument);
}

/* The argument must be one of the words in the help: "mono|wall|delta", "[=text|json]". */
static void error_word(const struct option_definition *definition, const char *what,
		       const char *argument)
{
	char copy[64], *rest = copy;
	const char *words[8];
	size_t count = 0;

	snprintf(copy, sizeof(copy), "%s", definition->argument + strspn(definition->argument, "[="));
	copy[strcspn(copy, "]")] = '\0';
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
	const struct option_definition *definition = option_find(option);
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
	else if (option_column)
		elog_error("%s '%s': column %u: %s", what.data, argument, option_column,
			   explain_argument(definition, argument));
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
				 option_find(option->option)->name);
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
			errno = 0;
			if (take_option(verb, options, option, optarg))
				continue;
			if (errno == ENOMEM)
				elog_error("out of memory");
			else
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
	/* Opened by this name it would be emptied, although >> has appended to it. */
	if (options->output && !strcmp(options->output, "/dev/stdout"))
		options->output = "-";
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
	free(options->select.cgroups.strings);
	free(options->select.units.strings);
	free(options->select.pids.values);
	free(options->select.tids.values);
	free(options->select.cpus.values);
	free(options->live.triggers.strings);
	free(options->spans.rules.strings);
	memset(options, 0, sizeof(*options));
}
