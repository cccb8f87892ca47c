/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keywords: names that each provider defines for bits of a mask.
 */
#ifndef KEYWORDS_H
#define KEYWORDS_H

#include "input/select.h"

/**
 * keywords_parse() - parse the argument of -k
 * @spec: keywords and keyword_names are set
 * @argument: names and numbers, separated by commas; outlives @spec
 *
 * Return: false if it is not valid.
 */
bool keywords_parse(struct selection_spec *spec, const char *argument);

/**
 * struct keyword_rules - the masks that -k means for each provider
 * @count: of @rules
 * @rules: a provider or a glob, and the mask to match, 0: any
 */
struct keyword_rules {
	size_t count;
	struct keyword_rule {
		char provider[EVENTLOG_GLOB_MAX];
		uint64_t mask;
	} *rules;
};

/**
 * keywords_resolve() - look up the names of -k in all providers
 * @spec: with or without -k
 * @glob: PROVIDER or PROVIDER/EVENT
 * @rules: filled in; the caller frees its rules, also after an error
 *
 * Return: 0; -ENOENT: no provider that matches the glob has one of the names; or an
 * error of opening the device.
 */
int keywords_resolve(const struct selection_spec *spec, const char *glob,
		     struct keyword_rules *rules);

/**
 * keywords_are_late() - must elog select by -k, because COMMAND may define its names?
 * @spec: with or without -k
 *
 * The kernel compares bits, which only the provider defines. So if no known provider that -e
 * selects has one of the names, the rules are without keywords. Looks at the providers the
 * first time only.
 */
bool keywords_are_late(const struct selection_spec *spec);

/**
 * put_keywords() - append an event's keywords, separated by commas
 * @text: to append to
 * @event: bits without a name are appended as a mask
 */
void put_keywords(struct elog_text *text, const struct elog_schema_event *event);

/**
 * keywords_match() - does an event have one of the keywords of -k?
 * @spec: with -k
 * @event: the event
 */
bool keywords_match(const struct selection_spec *spec,
		    const struct elog_schema_event *event);

#endif /* KEYWORDS_H */
