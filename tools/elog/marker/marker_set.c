// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saved sets of markers: see marker_change.h.
 *
 * A set is a file of commands, one a line, with the quotes of a shell. Lines that start with
 * '#' are comments. The last line is END, so that a truncated file is detected.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "marker/marker.h"
#include "marker/marker_change.h"
#include "marker/marker_policy.h"
#include "output/output.h"
#include "util/array.h"

#define END	"# end"

/* Append a word in quotes; @glob: so that it matches only itself. */
static void put_word(struct elog_text *text, const char *word, bool glob)
{
	elog_text_string(text, " '");
	for (; *word; word++) {
		if (glob && strchr("*?[\\", *word))
			elog_text_string(text, "\\");
		if (*word == '\'')
			elog_text_string(text, "'\\'");
		elog_text_put(text, word, 1);
	}
	elog_text_string(text, "'");
}

static void put_predicate(struct elog_text *text, const char *predicate)
{
	if (!predicate)
		return;
	elog_text_string(text, " --if");
	put_word(text, predicate, false);
}

static bool same_function(const struct marker *a, const struct marker *b)
{
	return !strcmp(a->function, b->function) && !strcmp(a->path, b->path) &&
	       !strcmp(a->module, b->module);
}

/*
 * A marker in a header exists once for each file that includes it, all with one place, and
 * next to each other in the list. Return: its number, from 1; 0: it is the only one.
 */
static unsigned int number_of(const struct marker_list *list, size_t index)
{
	const struct marker *marker = &list->markers[index];
	unsigned int number = 1;
	bool alone = true;
	size_t i;

	for (i = index; i-- > 0 && same_function(&list->markers[i], marker);)
		number += list->markers[i].next.ordinal == marker->next.ordinal;
	for (i = index + 1; i < list->count && same_function(&list->markers[i], marker); i++)
		alone &= list->markers[i].next.ordinal != marker->next.ordinal;
	return alone && number == 1 ? 0 : number;
}

static void put_marker(struct elog_text *text, const struct marker *marker, unsigned int number)
{
	elog_text_string(text, "elog marker set -q --handler ");
	markers_handlers_put(text, marker->next.handlers);
	put_predicate(text, marker->predicate);
	elog_text_string(text, " --module");
	put_word(text, marker->module, true);
	put_word(text, marker->place, true);
	if (number)
		elog_text_printf(text, "@%u", number);
	elog_text_string(text, "\n");
}

static void put_policy(struct elog_text *text, const struct marker_policy *policy)
{
	/* Other programs may have added policies that match nothing. */
	if (!policy_is_possible(policy->program, policy->marker) ||
	    glob_error(policy->program) || glob_error(policy->marker))
		return;
	elog_text_printf(text, "elog marker %s -q --handler ",
			 policy->operation == EVENTLOG_MARKER_OP_ADD ? "enable" : "disable");
	markers_handlers_put(text, policy->handlers);
	put_predicate(text, policy->predicate);
	elog_text_string(text, " --program");
	put_word(text, policy->program, false);
	/* The pattern may begin with a dash. */
	elog_text_string(text, " --");
	put_word(text, policy->marker, false);
	elog_text_string(text, "\n");
}

int marker_set_save(const struct marker_list *list, const struct policy_list *policies,
		    const char *name)
{
	struct elog_text text = { 0 };
	size_t i;
	int ret;

	elog_text_string(&text, "# Saved by elog marker save, for elog marker restore or a shell.\n"
			 "elog marker disable -q --program '*' '*'\n");
	for (i = 0; i < policies->count; i++)
		put_policy(&text, &policies->policies[i]);
	for (i = 0; i < list->count; i++)
		put_marker(&text, &list->markers[i], number_of(list, i));
	elog_text_string(&text, END "\n");
	ret = text.error;
	/* It must survive a crash: it is for the next boot. */
	if (!ret)
		ret = output_replace(name, &text, true);
	elog_text_free(&text);
	return ret;
}

/*
 * Would a shell replace something in a line? Then its meaning depends on the directory or on the
 * environment, which at boot are not those of the author.
 */
static bool has_expansion(const char *text)
{
	char quote = 0;

	for (; *text; text++) {
		if (quote == '\'') {
			if (*text == '\'')
				quote = 0;
		} else if (*text == '\\') {
			if (!*++text)
				return false;
		} else if (*text == '$' || *text == '`') {
			return true;
		} else if (quote) {
			if (*text == '"')
				quote = 0;
		} else if (*text == '\'' || *text == '"') {
			quote = *text;
		} else if (strchr("*?[~{", *text)) {
			return true;
		}
	}
	return false;
}

static int take_command(struct marker_set *set, const char *text, unsigned int line)
{
	struct marker_command *command, *larger;

	if (has_expansion(text))
		return -EINVAL;
	larger = array_grow(set->commands, set->count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	set->commands = larger;
	command = &larger[set->count];
	command->line = line;
	switch (wordexp(text, &command->words, WRDE_NOCMD)) {
	case 0:
		break;
	case WRDE_NOSPACE:
		wordfree(&command->words);
		return -ENOMEM;
	default:
		return -EINVAL;
	}
	set->count++;
	return command->words.we_wordc > 1 && !strcmp(command->words.we_wordv[0], "elog") &&
	       !strcmp(command->words.we_wordv[1], "marker") ? 0 : -EINVAL;
}

int marker_set_read(struct marker_set *set, const char *name, unsigned int *number)
{
	FILE *file = fopen(name, "re");
	bool is_complete = false;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int ret = 0;

	*number = 0;
	if (!file)
		return -errno;
	while (!ret && (length = getline(&line, &size, file)) > 0) {
		++*number;
		ret = line[length - 1] == '\n' ? 0 : -EINVAL;
		line[length - 1] = '\0';
		/* A NUL would hide the rest of a line, for example of a predicate. */
		if (strlen(line) != (size_t)length - 1)
			ret = -EINVAL;
		is_complete = !strcmp(line, END);
		if (!ret && line[strspn(line, " \t")] && *line != '#')
			ret = take_command(set, line, *number);
	}
	if (ferror(file))
		ret = -EIO;
	free(line);
	fclose(file);
	return ret || is_complete ? ret : -EINVAL;
}

void marker_set_free(struct marker_set *set)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		wordfree(&set->commands[i].words);
	free(set->commands);
	memset(set, 0, sizeof(*set));
}
