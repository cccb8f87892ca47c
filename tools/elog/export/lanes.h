/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lanes on which a viewer draws spans. On one lane, spans follow each other or are
 * within each other. A session has a lane as long as one of its spans is open; then
 * another session gets it, so there are as few lanes as possible.
 */
#ifndef LANES_H
#define LANES_H

#include <stdbool.h>

#include "libelog/util/map.h"

#define LANES_FREE_TRIES	64	/* free lanes that are tried */
#define LANES_DEPTH		8	/* open spans of a session that are known */

/**
 * struct lane_session - a session with spans that are open
 * @lane: its lane
 * @open: number of its spans that are open
 * @known: number of @starts
 * @crossing: mask: an earlier span has ended while this one was open
 * @starts: when open spans began, the earliest first
 * @changed: when something on its lane last began or ended
 */
struct lane_session {
	uint32_t lane;
	uint32_t open;
	uint32_t known;
	uint32_t crossing;
	uint64_t starts[LANES_DEPTH];
	uint64_t changed;
};

/** struct free_lane - a lane without an open span, since this time */
struct free_lane {
	uint32_t lane;
	uint64_t since;
};

/**
 * struct lanes - the lanes of a group of sessions
 * @sessions: those with open spans
 * @free: lanes that are free
 * @free_count: number of @free
 * @count: lanes so far
 * @room: how many @free may have
 * @open: spans that are open
 */
struct lanes {
	struct elog_map sessions;	/* struct lane_session */
	struct free_lane *free;
	uint32_t free_count;
	uint32_t count;
	uint32_t room;
	uint32_t open;
};

/** lanes_init() - no lanes */
void lanes_init(struct lanes *lanes);

/** lanes_free() - free the memory */
void lanes_free(struct lanes *lanes);

/** lanes_start() - a span of a session begins now; return: 0 or -ENOMEM */
int lanes_start(struct lanes *lanes, struct elog_map_key session, uint64_t start);

/**
 * lanes_end() - a span ends
 * @lanes: the lanes
 * @session: its session; lanes_start() was called for the span
 * @start: when it began
 * @end: now
 *
 * Return: the lane where it is drawn.
 */
uint32_t lanes_end(struct lanes *lanes, struct elog_map_key session, uint64_t start,
		   uint64_t end);

/** lanes_drop() - a span that began at @start is not drawn: it has no end by now */
void lanes_drop(struct lanes *lanes, struct elog_map_key session, uint64_t start,
		uint64_t now);

/**
 * lanes_find() - the lane of a session
 * @lanes: the lanes
 * @session: a session that has an open span
 */
uint32_t lanes_find(const struct lanes *lanes, struct elog_map_key session);

/**
 * lanes_fit() - draw something on the lane of a session that ends now, if there is room
 * @lanes: the lanes
 * @session: a session that has an open span
 * @start: when it began
 * @end: now
 *
 * Return: false: something on the lane began or ended since @start, so that it would not be inside
 * of the spans that are open.
 */
bool lanes_fit(struct lanes *lanes, struct elog_map_key session, uint64_t start, uint64_t end);

#endif /* LANES_H */
