// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keywords: see keywords.h. A name is defined by a provider, so -k NAME becomes one
 * rule for each provider that defines it.
 */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/keywords.h"
#include "util/array.h"

bool keywords_parse(struct selection_spec *spec, const char *argument)
{
	char *names, *rest, *word;
	bool good = true;

	names = strdup(argument);
	if (!names)
		return false;
	for (rest = names; good && (word = strsep(&rest, ","));) {
		uint64_t mask;

		if (isdigit((unsigned char)*word)) {
			good = parse_unsigned(word, UINT64_MAX, &mask) && mask;
			if (good)
				spec->keywords |= mask;
			continue;
		}
		good = *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
			"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
		if (good)
			spec->keyword_names = argument;
	}
	free(names);
	return good;
}

/* The bits of all names that a provider defines. */
static uint64_t provider_mask(const struct elog_schema_provider *provider, const char *names)
{
	uint64_t mask = 0;
	size_t length, i;

	for (; *names; names += length + (names[length] == ',')) {
		length = strcspn(names, ",");
		for (i = 0; i < provider->keyword_count; i++) {
			const char *name = provider->keywords[i]->name;

			if (strlen(name) == length && !strncmp(name, names, length))
				mask |= provider->keywords[i]->value;
		}
	}
	return mask;
}

void put_keywords(struct elog_text *text, const struct elog_schema_event *event)
{
	const struct elog_schema_provider *provider = event->provider;
	const struct elog_schema_name *keyword;
	uint64_t left = event->keywords;
	const char *between = "";
	size_t i;

	for (i = 0; i < provider->keyword_count; i++) {
		keyword = provider->keywords[i];
		if (!keyword->value || (left & keyword->value) != keyword->value)
			continue;
		left &= ~keyword->value;
		elog_text_string(text, between);
		elog_text_string(text, keyword->name);
		between = ",";
	}
	if (left) {
		elog_text_string(text, between);
		elog_text_string(text, "0x");
		elog_text_hex(text, left, 1);
	}
}

bool keywords_match(const struct selection_spec *spec,
		    const struct elog_schema_event *event)
{
	uint64_t mask = spec->keywords;

	if (spec->keyword_names)
		mask |= provider_mask(event->provider, spec->keyword_names);
	return (event->keywords & mask) != 0;
}

static int add_provider(struct keyword_rules *rules, const char *name, uint64_t mask)
{
	struct keyword_rule *larger;
	size_t i;

	for (i = 0; i < rules->count; i++) {
		if (!strcmp(rules->rules[i].provider, name)) {
			rules->rules[i].mask |= mask;
			return 0;
		}
	}
	larger = array_grow(rules->rules, rules->count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	rules->rules = larger;
	strcpy(larger[rules->count].provider, name);
	larger[rules->count++].mask = mask;
	return 0;
}

/* The glob that matches a name and nothing else. */
static const char *escaped(const char *name, char glob[2 * EVENTLOG_NAME_MAX])
{
	char *to = glob;

	for (; *name; name++) {
		if (strchr("*?[]\\", *name))
			*to++ = '\\';
		*to++ = *name;
	}
	*to = '\0';
	return glob;
}

/* Add the rule of one definition; ignore schemas that cannot be parsed. */
static int add_definition(struct keyword_rules *rules, const char *text, const char *glob,
			  const char *names)
{
	const struct elog_schema_provider *provider;
	char name[2 * EVENTLOG_NAME_MAX];
	struct elog_schema *schema;
	uint64_t mask;
	int ret = 0;

	ret = elog_schema_parse(text, strlen(text), &schema, NULL);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	if (schema->provider_count) {
		provider = schema->providers[0];
		mask = provider_mask(provider, names);
		if (mask && !fnmatch(glob, provider->name, 0))
			ret = add_provider(rules, escaped(provider->name, name), mask);
	}
	elog_schema_free(schema);
	return ret;
}

int keywords_resolve(const struct selection_spec *spec, const char *glob,
		     struct keyword_rules *rules)
{
	struct eventlog_definition describe = { .size = sizeof(describe) };
	char provider[EVENTLOG_GLOB_MAX];
	size_t length = (size_t)(find_slash(glob) - glob);
	struct elog_list *definitions = NULL;
	const char *text;
	int fd, ret = 0;

	memset(rules, 0, sizeof(*rules));
	memcpy(provider, glob, length);
	provider[length] = '\0';
	if (spec->keywords || !spec->keyword_names)
		ret = add_provider(rules, provider, spec->keywords);
	if (ret || !spec->keyword_names)
		return ret;

	fd = elog_device_open(NULL);
	if (fd < 0)
		return fd;
	ret = elog_list_open(fd, EVENTLOG_LIST_DEFINITIONS, 0, &definitions);
	while (!ret) {
		ret = elog_list_next(definitions, &describe, &text);
		if (!ret)
			ret = add_definition(rules, text, provider, spec->keyword_names);
	}
	elog_list_close(definitions);
	close(fd);
	if (ret != -ENOENT)
		return ret;
	return rules->count ? 0 : -ENOENT;
}

bool keywords_are_late(const struct selection_spec *spec)
{
	static int known = -1;
	struct keyword_rules rules;
	struct selection_spec names;
	size_t i;

	if (!spec->keyword_names || !spec->late || spec->sample)
		return false;
	if (known >= 0)
		return !known;
	names = *spec;
	names.keywords = 0;
	known = 1;
	for (i = 0; known && i < (names.globs.count ? names.globs.count : 1); i++) {
		known = keywords_resolve(&names, names.globs.count ? names.globs.strings[i] : "*",
					 &rules) != -ENOENT;
		free(rules.rules);
	}
	return !known;
}
