/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which events the options ask for. What only depends on the definition is
 * decided once for each; the rest for each event.
 */
#ifndef SELECT_H
#define SELECT_H

#include "util/tool.h"

struct selection;

/**
 * struct cached_event - a definition that was seen, and what is known of it
 * @wanted: its events may be what is asked for
 * @event: its schema; NULL: unknown
 * @predicates: of -f, in order; NULL: there are none
 * @row: for the verb's own use, NULL at first
 * @row_serial: likewise, 0 at first
 */
struct cached_event {
	bool wanted;
	const struct elog_schema_event *event;
	struct elog_predicate **predicates;
	void *row;
	uint64_t row_serial;
};

/**
 * selection_open() - understand what is asked for
 * @selection: set to the new selection
 * @options: outlive it
 * @live: what rules in the kernel see to is not looked at
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int selection_open(struct selection **selection, const struct options *options,
		   bool live);

/** selection_close() - free it; NULL is fine */
void selection_close(struct selection *selection);

/**
 * selection_start() - where "+SPAN" counts from
 * @selection: the selection
 * @realtime: ns; the earliest of those told before the first event counts
 */
void selection_start(struct selection *selection, int64_t realtime);

/**
 * selection_since() - the time of --since, if it does not depend on the file
 * @selection: the selection
 * @realtime: set, ns
 *
 * Return: false if there is none, or it counts by another clock.
 */
bool selection_since(const struct selection *selection, uint64_t *realtime);

/**
 * selection_bind() - decide about a definition
 * @selection: the selection
 * @event: its schema; NULL: unknown
 * @cached: event, wanted and predicates are set
 *
 * Return: 0, -ENOMEM.
 */
int selection_bind(struct selection *selection,
		   const struct elog_schema_event *event, struct cached_event *cached);

/** selection_unbind() - free what selection_bind() allocated */
void selection_unbind(struct selection *selection, struct cached_event *cached);

/** selection_in_time() - is it between --since and --until? Of losses, too */
bool selection_in_time(const struct selection *selection,
		       const struct elog_item *item, int64_t wall_offset);

/**
 * selection_match() - is it what is asked for?
 * @selection: the selection
 * @cached: its definition
 * @item: the event
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC there, ns
 * @processes: names of threads
 */
bool selection_match(struct selection *selection,
		     const struct cached_event *cached, const struct elog_item *item,
		     int64_t wall_offset, struct elog_processes *processes);

/**
 * selection_finish() - say what of -f never fitted any event
 * @selection: at the end
 *
 * Return: true if there was something.
 */
bool selection_finish(const struct selection *selection);

/** find_field() - a field by its name; NULL: there is none, or no @event */
const struct elog_schema_field *find_field(const struct elog_schema_event *event,
					   const char *name);

/** glob_matches() - PROVIDER[/EVENT], globs, against an event's names */
bool glob_matches(const char *glob, const struct elog_schema_event *event);

#endif /* SELECT_H */
