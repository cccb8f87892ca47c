/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which events the options select. Conditions that depend only on the definition are
 * checked once for each definition, the others for each event.
 */
#ifndef SELECT_H
#define SELECT_H

#include "libelog/util/map.h"
#include "util/tool.h"

struct selection;

/* The names of events whose records describe their fields match this. */
#define DECODED_GLOB "*_L*K*"

/**
 * struct cached_event - a definition that has occurred
 * @selected: its events may match the options
 * @is_eventheader: its records describe their fields: see input/decoded.h
 * @undecided: a filter in the kernel does not apply to its events
 * @event: its schema; NULL: unknown
 * @predicates: of -f, in order; NULL: none
 * @row: for the verb; initially NULL
 * @row_serial: for the verb; initially 0
 */
struct cached_event {
	bool selected;
	bool is_eventheader;
	bool undecided;
	const struct elog_schema_event *event;
	struct elog_predicate **predicates;
	void *row;
	uint64_t row_serial;
};

/**
 * selection_open() - parse the options that select events
 * @selection: set to the new selection
 * @options: outlive the selection
 * @live: do not check conditions that rules in the kernel check
 * @decided: the filter of these rules has decided -f
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int selection_open(struct selection **selection, const struct options *options,
		   bool live, bool decided);

/** selection_close() - free it; NULL is allowed */
void selection_close(struct selection *selection);

/**
 * selection_start() - set the start that "+SPAN" counts from
 * @selection: the selection
 * @realtime: ns; the earliest start before the first event is used
 */
void selection_start(struct selection *selection, int64_t realtime);

/**
 * selection_since() - the time of --since, if it is wall-clock time
 * @selection: the selection
 * @realtime: set, ns
 *
 * Return: false if there is no such time.
 */
bool selection_since(const struct selection *selection, uint64_t *realtime);

/**
 * selection_bind() - check the conditions on a definition
 * @selection: the selection
 * @recorded: the schema that its records were written with; NULL: unknown
 * @event: its schema: @recorded, or what a record says; -e, -k and -l may match either
 * @cached: all but row and row_serial are set
 *
 * Return: 0, -ENOMEM.
 */
int selection_bind(struct selection *selection, const struct elog_schema_event *recorded,
		   const struct elog_schema_event *event, struct cached_event *cached);

/**
 * selection_cache() - bind a definition that is not in a cache yet, and add it
 * @selection: the selection
 * @cache: struct cached_event, by a number
 * @key: the number
 * @recorded: as for selection_bind()
 * @event: likewise
 * @result: set
 *
 * Return: 0, -ENOMEM.
 */
int selection_cache(struct selection *selection, struct elog_map *cache, uint64_t key,
		    const struct elog_schema_event *recorded,
		    const struct elog_schema_event *event, struct cached_event **result);

/** selection_clear() - unbind all definitions of a cache, and empty it */
void selection_clear(struct selection *selection, struct elog_map *cache);

/** selection_unbind() - free what selection_bind() allocated */
void selection_unbind(struct selection *selection, struct cached_event *cached);

/**
 * selection_try() - check whether -f fits a definition whose events the kernel rejects
 * @selection: remembers the result for selection_finish()
 * @event: its schema
 *
 * Return: 0, -ENOMEM.
 */
int selection_try(struct selection *selection, const struct elog_schema_event *event);

/** selection_in_time() - is an event or a loss between --since and --until? */
bool selection_in_time(const struct selection *selection,
		       const struct elog_item *item, int64_t wall_offset);

/**
 * selection_match() - do the options select an event?
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
 * selection_finish() - print errors of -f expressions that fitted no event
 * @selection: at the end
 *
 * Return: true if there were any.
 */
bool selection_finish(const struct selection *selection);

/** find_field() - find a field by its name; NULL: not found, or @event is NULL */
const struct elog_schema_field *find_field(const struct elog_schema_event *event,
					   const char *name);

/** options_match_globs() - does a definition match -e? */
bool options_match_globs(const struct options *options, const struct elog_schema_event *event);

/** options_match_definition() - does it match -e, -k and -l? NULL, unknown: matches none */
bool options_match_definition(const struct options *options,
			      const struct elog_schema_event *event);

/** glob_matches() - does PROVIDER[/EVENT] match the event? Both are globs */
bool glob_matches(const char *glob, const struct elog_schema_event *event);

#endif /* SELECT_H */
