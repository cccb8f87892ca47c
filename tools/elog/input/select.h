/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which events are selected. Conditions that depend only on the definition are
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
 * struct selection_spec - which events to select; zero: all
 * @globs: PROVIDER[/EVENT], any of them
 * @keywords: one of these bits, or of the bits that @keyword_names mean
 * @keyword_names: names and numbers, separated by commas, if there are names; else NULL.
 *	See keywords.h
 * @level: this one or a more severe one; 0: any
 * @sessions: any of them
 * @pids: likewise
 * @tids: likewise
 * @cpus: likewise
 * @cgroups: the thread is in one of them, or in one of @units; only the kernel knows. Names below
 *	the place where cgroup2 is mounted
 * @units: of systemd
 * @sample: only the first of so many that match, which only the kernel can count; 0: all
 * @expressions: all of them are true
 * @since: not before this
 * @until: before this
 * @late: a COMMAND may define the @keyword_names
 */
struct selection_spec {
	struct string_list globs;
	uint64_t keywords;
	const char *keyword_names;
	unsigned int level;
	struct number_list sessions;
	struct number_list pids;
	struct number_list tids;
	struct number_list cpus;
	struct string_list cgroups;
	struct string_list units;
	uint32_t sample;
	struct string_list expressions;
	struct time_spec since;
	struct time_spec until;
	bool late;
};

/**
 * struct cached_event - a definition that has occurred
 * @selected: its events may be selected
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
 * selection_open() - parse the expressions
 * @selection: set to the new selection
 * @spec: outlives the selection
 * @live: do not check conditions that rules in the kernel check
 * @decided: the filter of these rules has decided -f
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int selection_open(struct selection **selection, const struct selection_spec *spec,
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
 * selection_match() - is an event selected?
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
 * selection_finish() - print errors of -f expressions that fitted no event, or lacked memory
 * @selection: at the end
 *
 * Return: true if there were any.
 */
bool selection_finish(const struct selection *selection);

/** find_field() - find a field by its name; NULL: not found, or @event is NULL */
const struct elog_schema_field *find_field(const struct elog_schema_event *event,
					   const char *name);

/** spec_matches_globs() - does a definition match -e? */
bool spec_matches_globs(const struct selection_spec *spec, const struct elog_schema_event *event);

/** spec_matches_definition() - does it match -e, -k and -l? NULL, unknown: matches none */
bool spec_matches_definition(const struct selection_spec *spec,
			     const struct elog_schema_event *event);

/** glob_matches() - does PROVIDER[/EVENT] match the event? Both are globs */
bool glob_matches(const char *glob, const struct elog_schema_event *event);

#endif /* SELECT_H */
