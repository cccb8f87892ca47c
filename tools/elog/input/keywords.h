/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keywords: the names that providers give to bits, in options and in output.
 */
#ifndef KEYWORDS_H
#define KEYWORDS_H

#include "util/tool.h"

/**
 * keywords_parse() - take the argument of -k
 * @options: keywords and keyword_names are set
 * @argument: names and numbers with commas between; kept
 *
 * Return: false when it is not that.
 */
bool keywords_parse(struct options *options, const char *argument);

/**
 * struct keyword_rules - what -k means to the providers there are
 * @count: of @rules
 * @rules: a provider or a glob, and the mask asked of its events, 0: any
 */
struct keyword_rules {
	size_t count;
	struct keyword_rule {
		char provider[EVENTLOG_GLOB_MAX];
		uint64_t mask;
	} *rules;
};

/**
 * keywords_resolve() - find out what -k means
 * @options: the options
 * @glob: PROVIDER or PROVIDER/EVENT
 * @rules: filled in; the caller frees its rules, also after an error
 *
 * Return: 0; -ENOENT: no provider that the glob matches has one of the names;
 * or what opening the device fails with.
 */
int keywords_resolve(const struct options *options, const char *glob,
		     struct keyword_rules *rules);

/**
 * put_keywords() - append an event's keywords, with commas between
 * @text: where
 * @event: by name where its provider has one, the rest as a mask; none: nothing
 */
void put_keywords(struct elog_text *text, const struct elog_schema_event *event);

/**
 * keywords_match() - has an event one of the keywords of -k?
 * @options: with -k
 * @event: its schema names its provider's keywords
 */
bool keywords_match(const struct options *options,
		    const struct elog_schema_event *event);

#endif /* KEYWORDS_H */
