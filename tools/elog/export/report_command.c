// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command lines in the page of elog report: see report_page.h. They can be pasted into a
 * shell, whatever files and events are called.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/report_page.h"

void report_word(struct elog_text *text, const char *word)
{
	const unsigned char *c = (const unsigned char *)word;
	bool plain = *c, printable = true;

	for (; *c; c++) {
		plain = plain && (isalnum(*c) || strchr("_-./:,@%+=", *c));
		printable = printable && *c >= ' ' && *c < 0x7f;
	}
	if (plain) {
		elog_text_string(text, word);
		return;
	}
	/* bash, zsh and ksh know $'...'. */
	elog_text_string(text, printable ? "'" : "$'");
	for (c = (const unsigned char *)word; *c; c++) {
		if (printable && *c == '\'')
			elog_text_string(text, "'\\''");
		else if (!printable && (*c < ' ' || *c >= 0x7f))
			elog_text_printf(text, "\\%03o", *c);
		else if (!printable && (*c == '\'' || *c == '\\'))
			elog_text_printf(text, "\\%c", *c);
		else
			elog_text_put(text, c, 1);
	}
	elog_text_string(text, "'");
}

static void put_numbers(struct elog_text *text, const char *option,
			const struct number_list *list, bool hex)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		elog_text_printf(text, hex ? " %s 0x%" PRIx64 : " %s %" PRIu64, option,
				 list->values[i]);
}

static void put_word(struct elog_text *text, const char *option, const char *word)
{
	elog_text_printf(text, " %s ", option);
	report_word(text, word);
}

static void put_words(struct elog_text *text, const char *option, const struct string_list *words)
{
	size_t i;

	for (i = 0; i < words->count; i++)
		put_word(text, option, words->strings[i]);
}

/* Write the absolute time: tomorrow, "yesterday" will mean another day. */
static void put_time(struct elog_text *text, const char *option, const struct time_spec *spec)
{
	const bool before = spec->time < 0;
	const uint64_t time = before ? -(uint64_t)spec->time : (uint64_t)spec->time;

	if (spec->kind == TIME_SPEC_NONE)
		return;
	elog_text_printf(text, " %s %s%s", option, spec->kind == TIME_SPEC_WALL ? "@" :
			 spec->kind == TIME_SPEC_START ? "+" : "", before ? "-" : "");
	put_seconds(text, time, 1);
	if (spec->kind == TIME_SPEC_START)
		elog_text_string(text, "s");
}

void report_selection(const struct selection_spec *spec, bool definitions, bool sessions,
		      struct elog_text *text)
{
	if (definitions) {
		put_words(text, "-e", &spec->globs);
		if (spec->keyword_names)
			put_word(text, "-k", spec->keyword_names);
		else if (spec->keywords)
			elog_text_printf(text, " -k 0x%" PRIx64, spec->keywords);
		if (spec->level)
			elog_text_printf(text, " -l %s", elog_level_name(spec->level));
	}
	if (sessions)
		put_numbers(text, "-s", &spec->sessions, true);
	put_numbers(text, "-p", &spec->pids, false);
	put_numbers(text, "-t", &spec->tids, false);
	put_numbers(text, "-C", &spec->cpus, false);
	put_words(text, "-f", &spec->expressions);
	put_time(text, "--since", &spec->since);
	put_time(text, "--until", &spec->until);
}

static void put_files(const struct visit_settings *settings, struct elog_text *text)
{
	int i;

	for (i = 0; i < settings->name_count; i++) {
		elog_text_string(text, " ");
		/* A name may look like an option. */
		if (*settings->names[i] == '-' && settings->names[i][1])
			elog_text_string(text, "./");
		report_word(text, settings->names[i]);
	}
}

void report_command(const struct report_data *data, const char *verb, bool definitions,
		    uint64_t session, struct elog_text *text)
{
	const struct visit_settings *settings = data->settings;

	elog_text_printf(text, "elog %s", verb);
	report_selection(settings->select, definitions, !session, text);
	if (session)
		elog_text_printf(text, " --session 0x%" PRIx64, session);
	put_files(settings, text);
}

void report_next(const struct visit_settings *settings, const char *verb)
{
	const struct selection_spec times = {
		.since = settings->select->since, .until = settings->select->until,
	};
	struct elog_text text = { 0 };

	if (settings->quiet || !report_lists(settings))
		return;
	report_selection(&times, false, false, &text);
	if (settings->source->host)
		put_word(&text, "--host", settings->source->host);
	put_files(settings, &text);
	if (!text.error)
		fprintf(stderr, "elog: next: elog %s%s\n", verb, text.data);
	elog_text_free(&text);
}
