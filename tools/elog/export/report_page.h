/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page of elog report: HTML with the data as JSON. See elog/page for its scripts.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "export/report_data.h"

/**
 * report_page() - append the page
 * @data: complete
 * @visit: ended
 * @text: to append to
 *
 * Whatever the files contain, it is text in the page: it cannot end the JSON.
 */
void report_page(struct report_data *data, const struct visit *visit, struct elog_text *text);

/** report_json() - append the data as JSON; sorts it */
void report_json(struct report_data *data, const struct visit *visit, struct elog_text *text);

/**
 * report_command() - append a command line for a shell
 * @data: has the options and the files
 * @verb: the verb and its own arguments
 * @definitions: with the options that select definitions: -e, -k and -l
 * @session: with this session, instead of -s; 0: none
 * @text: to append to
 */
void report_command(const struct report_data *data, const char *verb, bool definitions,
		    uint64_t session, struct elog_text *text);

/** report_selection() - append the options that select events; nothing if there are none */
void report_selection(const struct selection_spec *spec, bool definitions, bool sessions,
		      struct elog_text *text);

/**
 * report_next() - print on stderr which command says more
 * @settings: has the files and times; if @quiet or stdin is read, nothing is printed
 * @verb: the verb and its own arguments, as the shell needs them
 */
void report_next(const struct visit_settings *settings, const char *verb);

/** report_word() - append a word for a shell, quoted if it must be */
void report_word(struct elog_text *text, const char *word);

#endif /* REPORT_PAGE_H */
