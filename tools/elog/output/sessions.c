// SPDX-License-Identifier: GPL-2.0-only
/*
 * A summary of sessions: see sessions.h. The number, the provider's name and the boot identify
 * a session. Memory grows with the number of sessions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libelog/util/map.h"
#include "output/row.h"
#include "output/sessions.h"

struct session {
	uint64_t number;
	char *provider;
	char boot[40];			/* empty: not known */
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
static struct session *find_session(struct sessions *sessions, const struct entry *entry,
				    const char *provider, uint64_t number)
{
	const char *boot = entry->boot_id ? entry->boot_id : "";
	const uint64_t of_boot = elog_map_name(boot, number).words[0];
	const struct elog_map_key key = elog_map_name(provider, of_boot);
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
	snprintf(session->boot, sizeof(session->boot), "%s", boot);
	session->worst = UINT64_MAX;
	return session;
}

int sessions_add(struct sessions *sessions, const struct entry *entry)
{
	const struct elog_schema_event *event = entry->cached->event;
	const char *provider = event ? event->provider->name : "?";
	int64_t time = wall_time(entry->item.time, entry->wall_offset);
	struct session *session;

	session = find_session(sessions, entry, provider, entry->item.session);
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

static void put_session(struct row *row, const struct session *session,
			enum time_format format)
{
	const uint64_t duration = (uint64_t)session->last - (uint64_t)session->first;
	const char *level = elog_level_name((unsigned int)session->worst);
	struct elog_text *text;

	row_begin(row);
	text = row_cell(row, NULL, "START", -16);
	if (text && time_is_wall(format))
		put_wall(text, format, session->first, false);
	else if (text)
		put_seconds(text, session->start, 1);
	row_seconds(row, "start", NULL, 0, session->start);
	row_wall(row, "start_wall", session->first);
	row_seconds(row, "duration", NULL, 0, duration);
	row_name(row, "provider", "PROVIDER", -16, session->provider);
	row_session(row, "session", "SESSION", -18, session->number);
	row_seconds(row, NULL, "SECONDS", -14, duration);
	row_number(row, "events", "EVENTS", 8, session->events);
	row_number(row, "bytes", "BYTES", 10, session->bytes);
	row_string(row, "worst_level", "WORST", -7, level);
	row_string(row, "first_event", NULL, 0, session->first_event);
	row_string(row, "last_event", NULL, 0, session->last_event);
	row_string(row, "boot_id", NULL, 0, *session->boot ? session->boot : NULL);
	text = row_cell(row, NULL, "FIRST .. LAST EVENT", 0);
	if (text) {
		put_quotable(text, session->first_event);
		elog_text_string(text, " .. ");
		put_quotable(text, session->last_event);
	}
	row_end(row);
}

int sessions_print(struct sessions *sessions, struct output *output)
{
	static const struct session none;
	const enum time_format time = sessions->settings->time;
	struct session **sorted = calloc(sessions->map.count + 1, sizeof(*sorted)), *session;
	struct row row = { .format = sessions->settings->format, .text = &output->text };
	size_t count = 0, i;

	if (!sorted)
		return -ENOMEM;
	elog_map_for_each(&sessions->map, session)
		sorted[count++] = session;
	qsort(sorted, count, sizeof(*sorted), compare);
	row.heading = row.format != FORMAT_JSON;
	if (row.heading)
		put_session(&row, &none, time);
	row.heading = false;
	for (i = 0; i < count && !output->closed; i++) {
		put_session(&row, sorted[i], time);
		output_check(output);
	}
	free(sorted);
	return 0;
}
