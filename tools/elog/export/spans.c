// SPDX-License-Identifier: GPL-2.0-only
/*
 * The spans of an export or a report: see spans.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/spans.h"

/*
 * struct span_rule - an argument of --span
 * @text: the argument
 * @globs: START and END, PROVIDER/EVENT
 * @by_provider: both name the same provider, or none
 */
struct span_rule {
	const char *text;
	char *globs[2];
	bool by_provider;
};

/* ------------------------------------------------------------------------
 * Rules
 */

/* Return: the colon that is not escaped, or the end. */
static const char *find_colon(const char *text)
{
	for (; *text && *text != ':'; text++)
		if (*text == '\\' && text[1])
			text++;
	return text;
}

/* Return: the length of the provider in PROVIDER/EVENT; 0: there is none. */
static size_t provider_size(const char *glob, size_t size)
{
	size_t slash = (size_t)(find_slash(glob) - glob);

	return slash < size ? slash : 0;
}

static char *copy_glob(const char *text, size_t size)
{
	char *glob;

	if (asprintf(&glob, "%s%.*s", provider_size(text, size) ? "" : "*/", (int)size, text) < 0)
		return NULL;
	return glob;
}

static int parse_rule(struct span_rule *rule, const char *text)
{
	const char *colon = find_colon(text), *end = colon + 1;
	size_t of_start, of_end, i;

	rule->text = text;
	if (!*colon || colon == text || !*end || *find_colon(end)) {
		elog_error("--span: invalid argument '%s': must be START:END", text);
		return -EINVAL;
	}
	rule->globs[0] = copy_glob(text, (size_t)(colon - text));
	rule->globs[1] = copy_glob(end, strlen(end));
	for (i = 0; i < 2; i++) {
		if (!rule->globs[i])
			return -ENOMEM;
		if (!event_glob_error(rule->globs[i]))
			continue;
		elog_error("--span: invalid argument '%s': %s", text,
			   event_glob_error(rule->globs[i]));
		return -EINVAL;
	}
	of_start = provider_size(text, (size_t)(colon - text));
	of_end = provider_size(end, strlen(end));
	rule->by_provider = !of_start || !of_end ||
			    (of_start == of_end && !memcmp(text, end, of_start));
	return 0;
}

int spans_open(struct spans *spans, const struct span_settings *settings, bool many_files)
{
	size_t i;
	int ret;

	pairing_init(&spans->pairing, sizeof(struct span),
		     settings->pending ? settings->pending : SPANS_PENDING, many_files);
	for (i = 0; i < 2; i++) {
		ret = latency_key_open(&spans->keys[i], settings->by, i);
		if (ret)
			return ret;
	}
	spans->rules = calloc(settings->rules.count + 1, sizeof(*spans->rules));
	if (!spans->rules)
		return -ENOMEM;
	for (i = 0; i < settings->rules.count; i++) {
		spans->rule_count++;
		ret = parse_rule(&spans->rules[i], settings->rules.strings[i]);
		if (ret)
			return ret;
	}
	return 0;
}

void spans_close(struct spans *spans)
{
	size_t i;

	pairing_free(&spans->pairing);
	for (i = 0; i < spans->rule_count; i++) {
		free(spans->rules[i].globs[0]);
		free(spans->rules[i].globs[1]);
	}
	free(spans->rules);
	for (i = 0; i < 2; i++)
		latency_key_close(&spans->keys[i]);
}

/* ------------------------------------------------------------------------
 * Roles
 */

/* Return: the length of @name before the suffix; 0: it has another one. */
static size_t stem_size(const char *name, const char *suffix)
{
	size_t size = strlen(name), suffix_size = strlen(suffix);

	return size > suffix_size && !strcmp(name + size - suffix_size, suffix) ?
	       size - suffix_size : 0;
}

static const struct suffix {
	const char *text;
	bool is_end;
	char kind;	/* START and END of one kind are a pair */
} suffixes[] = {
	{ "_start", false, 'e' }, { "_begin", false, 'e' }, { "_end", true, 'e' },
	{ "_open", false, 'c' }, { "_close", true, 'c' },
};

/* Find the suffix that a name has. @size: set to the length of what is before it. */
static const struct suffix *find_suffix(const char *name, size_t *size)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(suffixes); i++) {
		*size = stem_size(name, suffixes[i].text);
		if (*size && *size < EVENTLOG_NAME_MAX)
			return &suffixes[i];
	}
	*size = strlen(name);
	return NULL;
}

/*
 * An attribute tells which events are the pair of a session. Spans have the name of their
 * START, without suffix.
 */
static void find_role_alone(const struct elog_schema_event *event, struct span_role *role)
{
	char pair[EVENTLOG_NAME_MAX + 1] = "";
	const struct suffix *suffix;
	struct span_kind *kind;
	size_t size;

	suffix = find_suffix(event->name, &size);
	if (!suffix && !event->attribute)
		return;
	role->is_end = event->attribute ? event->attribute == EVENTLOG_ATTRIBUTE_END :
		       suffix->is_end;
	role->is_start = !role->is_end;
	kind = role->is_end ? &role->end : &role->start;
	kind->name = event->name;
	kind->name_size = size;
	kind->by_provider = true;
	if (event->attribute) {
		kind->hash = elog_map_bytes(pair, 1);
		return;
	}
	pair[0] = suffix->kind;
	memcpy(pair + 1, event->name, size);
	kind->hash = elog_map_bytes(pair, size + 1);
}

static void set_kind(const struct spans *spans, size_t rule, struct span_kind *kind)
{
	kind->name = spans->rules[rule].text;
	kind->name_size = strlen(kind->name);
	kind->by_provider = spans->rules[rule].by_provider;
	kind->hash = elog_map_bytes(&rule, sizeof(rule));
}

void spans_find_role(const struct spans *spans, const struct elog_schema_event *event,
		     struct span_role *role)
{
	bool is_start, is_end;
	size_t i;

	memset(role, 0, sizeof(*role));
	if (event && !spans->rule_count)
		find_role_alone(event, role);
	for (i = 0; event && i < spans->rule_count; i++) {
		pairing_match(spans->rules[i].globs, event, &is_start, &is_end);
		/* With a:b and b:c, b ends a span and starts another one. */
		if (!role->is_start && is_start) {
			role->is_start = true;
			set_kind(spans, i, &role->start);
		}
		if (!role->is_end && is_end) {
			role->is_end = true;
			set_kind(spans, i, &role->end);
		}
	}
}

void spans_explain_none(uint64_t starts, uint64_t ends)
{
	elog_error("no spans: two events of a session make one, with the attributes start and end "
		   "or names like X_start and X_end, see elog_schema(5); %" PRIu64 " START%s and %"
		   PRIu64 " END%s were read", starts, plural(starts), ends, plural(ends));
}

/* ------------------------------------------------------------------------
 * Events
 */

/*
 * Make the key of a pair. @session: what pairs with any name have in common. Return: 1; 0: the
 * event lacks what is paired by; or a negative errno.
 */
static int make_key(struct spans *spans, const struct entry *entry,
		    const struct span_kind *kind, struct elog_map_key *session,
		    struct elog_map_key *key)
{
	int ret = latency_key_make(&spans->keys[kind->by_provider], entry, session);

	*key = latency_key_span(*session, kind->hash);
	spans->pairing.counts.unkeyed += !ret;
	return ret;
}

static int start_span(struct spans *spans, const struct entry *entry,
		      const struct span_role *role, struct span_match *match)
{
	const struct elog_item *item = &entry->item;
	struct elog_map_key key;
	struct span *start;
	int ret;

	spans->pairing.counts.starts++;
	ret = make_key(spans, entry, &role->start, &match->key, &key);
	if (ret <= 0)
		return ret;
	start = pairing_start(&spans->pairing, key, item->time);
	if (!start)
		return -ENOMEM;
	*start = (struct span){
		.time = item->time,
		.wall = wall_time(item->time, entry->wall_offset),
		.number = spans->pairing.counts.starts,
		.session = item->session,
		.pid = item->pid,
		.tid = item->tid,
		.cpu = item->cpu,
		.role = role,
	};
	/* When the span ends, another thread or process may have the number. */
	memccpy(start->thread, thread_name(entry), '\0', sizeof(start->thread) - 1);
	memccpy(start->process, process_name(entry), '\0', sizeof(start->process) - 1);
	match->start = start;
	return 0;
}

static int end_span(struct spans *spans, const struct entry *entry,
		    const struct span_role *role, struct span_match *match)
{
	/* Only then it may be the first START of the same spans. */
	const bool is_both = role->is_start && role->start.name == role->end.name;
	struct elog_map_key key;
	struct span *span;
	int ret;

	spans->pairing.counts.ends++;
	ret = make_key(spans, entry, &role->end, &match->key, &key);
	if (ret <= 0)
		return ret;
	span = pairing_end(&spans->pairing, key, entry->item.time, is_both);
	if (span) {
		match->ended = true;
		match->span = *span;
		match->span.duration = entry->item.time - span->time;
	}
	return 0;
}

int spans_take(struct spans *spans, const struct entry *entry, const struct span_role *role,
	       struct span_match *match)
{
	int ret = 0;

	pairing_pass_time(&spans->pairing, wall_time(entry->item.time, entry->wall_offset));
	match->ended = false;
	match->start = NULL;
	if (role->is_end)
		ret = end_span(spans, entry, role, match);
	if (!ret && role->is_start)
		ret = start_span(spans, entry, role, match);
	return ret;
}

int spans_session(struct spans *spans, const struct entry *entry, struct elog_map_key *key)
{
	return latency_key_make(&spans->keys[true], entry, key);
}

int spans_session_of(struct spans *spans, const struct entry *entry, const char *provider,
		     uint64_t session, struct elog_map_key *key)
{
	struct latency_key *names = &spans->keys[true];

	if (names->count != 1 || names->names[0].property != LATENCY_SESSION || !session)
		return 0;
	return latency_key_session(names, entry, provider, session, key) ? : 1;
}
