// SPDX-License-Identifier: GPL-2.0-only
/*
 * A summary of sessions: see sessions.h. The number and the provider's name identify
 * a session. Memory grows with the number of sessions.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libelog/util/map.h"
#include "output/sessions.h"

struct session {
	uint64_t number;
	char *provider;
	uint64_t events;
	uint64_t bytes;			/* of payloads */
	uint64_t worst;			/* the most severe level: 1 is an error */
	int64_t first;			/* CLOCK_REALTIME ns */
	int64_t last;
	uint64_t start;			/* time of the first event, CLOCK_MONOTONIC ns */
	char first_event[EVENTLOG_NAME_MAX];
	char last_event[EVENTLOG_NAME_MAX];
};

struct sessions {
	const struct print_settings *settings;
	struct elog_map map;		/* struct session */
};

int sessions_open(struct sessions **result, const struct print_settings *settings)
{
	struct sessions *sessions = calloc(1, sizeof(*sessions));

	if (!sessions) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	elog_map_init(&sessions->map, sizeof(struct session));
	sessions->settings = settings;
	*result = sessions;
	return 0;
}

void sessions_close(struct sessions *sessions)
{
	struct session *session;

	if (!sessions)
		return;
	elog_map_for_each(&sessions->map, session)
		free(session->provider);
	elog_map_free(&sessions->map);
	free(sessions);
}

/* Return: the session, perhaps a new one without events; NULL: no memory. */
static struct session *find_session(struct sessions *sessions, const char *provider,
				    uint64_t number)
{
	const struct elog_map_key key = elog_map_name(provider, number);
	struct session *session = elog_map_find(&sessions->map, key);
	char *copy;

	if (session)
		return session;
	copy = strdup(provider);
	session = copy ? elog_map_insert(&sessions->map, key) : NULL;
	if (!session) {
		free(copy);
		return NULL;
	}
	session->number = number;
	session->provider = copy;
	session->worst = UINT64_MAX;
	return session;
}

int sessions_add(struct sessions *sessions, const struct entry *entry)
{
	const struct elog_schema_event *event = entry->cached->event;
	const char *provider = event ? event->provider->name : "?";
	int64_t time = wall_time(entry->item.time, entry->wall_offset);
	struct session *session;

	session = find_session(sessions, provider, entry->item.session);
	if (!session)
		return -ENOMEM;
	if (!session->events || time < session->first) {
		session->first = time;
		session->start = entry->item.time;
		snprintf(session->first_event, sizeof(session->first_event),
			 "%s", event ? event->name : "?");
	}
	if (!session->events || time >= session->last) {
		session->last = time;
		snprintf(session->last_event, sizeof(session->last_event), "%s",
			 event ? event->name : "?");
	}
	session->events++;
	session->bytes += entry_size(entry);
	if (event && event->level < session->worst)
		session->worst = event->level;
	return 0;
}

static int compare(const void *one, const void *other)
{
	const struct session *a = *(struct session *const *)one;
	const struct session *b = *(struct session *const *)other;
	int by_name;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	by_name = strcmp(a->provider, b->provider);
	if (by_name)
		return by_name;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void print_text(const struct sessions *sessions,
		       const struct session *session, struct elog_text *text)
{
	const char *level = elog_level_name((unsigned int)session->worst);
	char number[24] = "-";
	size_t from = text->size;

	if (session->number)
		snprintf(number, sizeof(number), "0x%" PRIx64, session->number);
	if (sessions->settings->time == TIME_WALL)
		put_local_time(text, session->first, false);
	else
		put_seconds(text, session->start, 1);
	fill_column(text, from, 16);
	elog_text_put(text, " ", 1);
	from = text->size;
	put_quotable(text, session->provider);
	fill_column(text, from, 16);
	elog_text_printf(text, " %-18s ", number);
	from = text->size;
	put_seconds(text, (uint64_t)session->last - (uint64_t)session->first, 1);
	fill_column(text, from, 14);
	elog_text_printf(text, " %8" PRIu64 " %10" PRIu64 " %-7s ", session->events,
			 session->bytes, level ? level : "?");
	put_quotable(text, session->first_event);
	elog_text_string(text, " .. ");
	put_quotable(text, session->last_event);
	elog_text_put(text, "\n", 1);
}

static void put_json_name(struct elog_text *text, const char *key,
			  const char *value)
{
	elog_text_put(text, ",", 1);
	json_member(text, key, value);
}

static void print_json(const struct session *session, struct elog_text *text)
{
	const char *level = elog_level_name((unsigned int)session->worst);

	elog_text_string(text, "{\"start\":");
	put_seconds(text, session->start, 1);
	elog_text_string(text, ",\"start_wall\":");
	put_seconds(text, (uint64_t)session->first, 1);
	elog_text_string(text, ",\"duration\":");
	put_seconds(text, (uint64_t)session->last - (uint64_t)session->first, 1);
	put_json_name(text, "provider", session->provider);
	if (session->number)
		elog_text_printf(text, ",\"session\":\"0x%" PRIx64 "\"",
				 session->number);
	else
		elog_text_string(text, ",\"session\":null");
	elog_text_printf(text, ",\"events\":%" PRIu64 ",\"bytes\":%" PRIu64,
			 session->events, session->bytes);
	if (level)
		put_json_name(text, "worst_level", level);
	else
		elog_text_string(text, ",\"worst_level\":null");
	put_json_name(text, "first_event", session->first_event);
	put_json_name(text, "last_event", session->last_event);
	elog_text_string(text, "}\n");
}

static void print_csv(const struct session *session, struct elog_text *text)
{
	const char *level = elog_level_name((unsigned int)session->worst);

	put_seconds(text, session->start, 1);
	elog_text_put(text, ",", 1);
	put_seconds(text, (uint64_t)session->first, 1);
	elog_text_put(text, ",", 1);
	put_seconds(text, (uint64_t)session->last - (uint64_t)session->first, 1);
	elog_text_put(text, ",", 1);
	put_cell(text, session->provider, strlen(session->provider));
	elog_text_put(text, ",", 1);
	if (session->number)
		elog_text_printf(text, "0x%" PRIx64, session->number);
	elog_text_printf(text, ",%" PRIu64 ",%" PRIu64 ",%s,", session->events, session->bytes,
			 level ? level : "?");
	put_cell(text, session->first_event, strlen(session->first_event));
	elog_text_put(text, ",", 1);
	put_cell(text, session->last_event, strlen(session->last_event));
	elog_text_put(text, "\n", 1);
}

int sessions_print(struct sessions *sessions, struct output *output)
{
	struct session **sorted = calloc(sessions->map.count + 1, sizeof(*sorted));
	struct elog_text *text = &output->text;
	struct session *session;
	size_t count = 0, i;

	if (!sorted)
		return -ENOMEM;
	elog_map_for_each(&sessions->map, session)
		sorted[count++] = session;
	qsort(sorted, count, sizeof(*sorted), compare);
	if (sessions->settings->format == FORMAT_CSV)
		elog_text_string(text, "start,start_wall,duration,provider,session,"
				 "events,bytes,worst_level,first_event,last_event\n");
	else if (sessions->settings->format == FORMAT_TEXT)
		elog_text_printf(text, "%-16s %-16s %-18s %-14s %8s %10s %-7s %s\n",
				 "START", "PROVIDER", "SESSION", "SECONDS",
				 "EVENTS", "BYTES", "WORST", "FIRST .. LAST EVENT");
	for (i = 0; i < count && !output->closed; i++) {
		if (sessions->settings->format == FORMAT_JSON)
			print_json(sorted[i], text);
		else if (sessions->settings->format == FORMAT_CSV)
			print_csv(sorted[i], text);
		else
			print_text(sessions, sorted[i], text);
		output_check(output);
	}
	free(sorted);
	return 0;
}
