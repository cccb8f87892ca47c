// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lanes on which a viewer draws spans: see lanes.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/lanes.h"

void lanes_init(struct lanes *lanes)
{
	elog_map_init(&lanes->sessions, sizeof(struct lane_session));
	lanes->free = NULL;
	lanes->free_count = 0;
	lanes->count = 0;
	lanes->room = 0;
	lanes->open = 0;
}

void lanes_free(struct lanes *lanes)
{
	elog_map_free(&lanes->sessions);
	free(lanes->free);
}

/*
 * All lanes have room in the list of free ones, so freeing one cannot fail. So have those that a
 * span that starts now, and the ends of all that are open, may need.
 */
static int reserve(struct lanes *lanes)
{
	const uint32_t needed = lanes->count + lanes->open + 2;
	struct free_lane *larger;

	if (needed <= lanes->room)
		return 0;
	larger = reallocarray(lanes->free, 2 * (size_t)needed, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	lanes->free = larger;
	lanes->room = 2 * needed;
	return 0;
}

static void release(struct lanes *lanes, uint32_t lane, uint64_t since)
{
	lanes->free[lanes->free_count++] = (struct free_lane){ .lane = lane, .since = since };
}

/*
 * Take a lane from the list of free ones that was free since @start at the latest, or make
 * one: times may go back where another capture begins. Return: its place.
 */
static struct free_lane *find_free(struct lanes *lanes, uint64_t start)
{
	struct free_lane *free = lanes->free + lanes->free_count;
	uint32_t tries = lanes->free_count;

	if (tries > LANES_FREE_TRIES)
		tries = LANES_FREE_TRIES;
	for (; tries; tries--)
		if ((--free)->since <= start)
			return free;
	free = lanes->free + lanes->free_count++;
	*free = (struct free_lane){ .lane = lanes->count++ };
	return free;
}

int lanes_start(struct lanes *lanes, struct elog_map_key key, uint64_t start)
{
	struct lane_session *session = elog_map_find(&lanes->sessions, key);
	struct free_lane *free;

	if (reserve(lanes))
		return -ENOMEM;
	if (!session) {
		session = elog_map_insert(&lanes->sessions, key);
		if (!session)
			return -ENOMEM;
		free = find_free(lanes, start);
		session->lane = free->lane;
		*free = lanes->free[--lanes->free_count];
	}
	/* Of more than these, the ends get extra lanes. */
	if (session->known < LANES_DEPTH)
		session->starts[session->known++] = start;
	session->changed = start;
	session->open++;
	lanes->open++;
	return 0;
}

/* Forget the open span that began at @start. Return: its place, or LANES_DEPTH. */
static uint32_t take_start(struct lane_session *session, uint64_t start, bool *crossing)
{
	uint32_t i = session->known, above;

	while (i && session->starts[i - 1] != start)
		i--;
	*crossing = !i;
	if (!i)
		return LANES_DEPTH;
	i--;
	*crossing = session->crossing >> i & 1;
	above = session->crossing >> (i + 1);
	session->crossing = (session->crossing & ((1U << i) - 1)) | above << i;
	session->known--;
	memmove(session->starts + i, session->starts + i + 1,
		(session->known - i) * sizeof(*session->starts));
	return i;
}

static void leave(struct lanes *lanes, struct lane_session *session, uint64_t now)
{
	lanes->open--;
	if (--session->open)
		return;
	release(lanes, session->lane, now);
	elog_map_remove(&lanes->sessions, session);
}

/* A lane that was free all the time. */
static uint32_t extra_lane(struct lanes *lanes, uint64_t start, uint64_t end)
{
	struct free_lane *free = find_free(lanes, start);

	free->since = end;
	return free->lane;
}

uint32_t lanes_end(struct lanes *lanes, struct elog_map_key key, uint64_t start, uint64_t end)
{
	struct lane_session *session = elog_map_find(&lanes->sessions, key);
	uint32_t lane = session->lane, place;
	bool crossing;

	place = take_start(session, start, &crossing);
	if (crossing)
		lane = extra_lane(lanes, start, end);
	else
		session->crossing |= ((1U << session->known) - 1) & ~((1U << place) - 1);
	session->changed = end;
	leave(lanes, session, end);
	return lane;
}

void lanes_drop(struct lanes *lanes, struct elog_map_key key, uint64_t start, uint64_t now)
{
	struct lane_session *session = elog_map_find(&lanes->sessions, key);
	bool crossing;

	take_start(session, start, &crossing);
	leave(lanes, session, now);
}

uint32_t lanes_find(const struct lanes *lanes, struct elog_map_key key)
{
	const struct lane_session *session = elog_map_find(&lanes->sessions, key);

	return session->lane;
}

bool lanes_fit(struct lanes *lanes, struct elog_map_key key, uint64_t start, uint64_t end)
{
	struct lane_session *session = elog_map_find(&lanes->sessions, key);

	if (start <= session->changed)
		return false;
	session->changed = end;
	return true;
}
