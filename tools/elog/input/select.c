// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events are selected: see select.h.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "input/keywords.h"
#include "input/rule_filter.h"
#include "input/select.h"

struct selection {
	const struct selection_spec *spec;
	bool live;
	bool decided;			/* the kernel has decided -f */
	bool by_definition;		/* nothing else is to be checked for an event */
	struct time_spec since;
	struct time_spec until;
	bool started;
	bool settled;			/* the start was used and must not change */
	bool starved;			/* -f lacked memory for an event */
	int64_t start;			/* CLOCK_REALTIME ns */
	struct elog_expression **expressions;
	struct elog_expression_error *misfits;	/* why an expression did not fit */
	bool *fitted;			/* the expression fitted an event */
};

int selection_open(struct selection **result, const struct selection_spec *spec,
		   bool live, bool decided)
{
	struct selection *selection = calloc(1, sizeof(*selection));
	size_t count = spec->expressions.count;
	int ret = -ENOMEM;

	if (!selection)
		goto no_memory;
	if (!live && (spec->cgroups.count || spec->units.count)) {
		elog_error("--cgroup and --unit are for live events: files do not state cgroups");
		ret = -EINVAL;
		goto fail;
	}
	selection->spec = spec;
	selection->live = live;
	selection->decided = decided;
	selection->since = spec->since;
	selection->until = spec->until;
	selection->by_definition = !spec->cpus.count && !spec->tids.count && !count &&
		(live || (!spec->pids.count && !spec->sessions.count)) &&
		spec->since.kind == TIME_SPEC_NONE && spec->until.kind == TIME_SPEC_NONE;
	selection->expressions = calloc(count + 1, sizeof(*selection->expressions));
	selection->misfits = calloc(count + 1, sizeof(*selection->misfits));
	selection->fitted = calloc(count + 1, sizeof(*selection->fitted));
	if (!selection->expressions || !selection->misfits || !selection->fitted)
		goto no_memory;
	ret = rule_filter_parse(spec, selection->expressions);
	if (ret)
		goto fail;
	*result = selection;
	return 0;

no_memory:
	elog_error("out of memory");
fail:
	selection_close(selection);
	return ret;
}

void selection_close(struct selection *selection)
{
	size_t i;

	if (!selection)
		return;
	for (i = 0; selection->expressions &&
		    i < selection->spec->expressions.count; i++)
		elog_expression_free(selection->expressions[i]);
	free(selection->expressions);
	free(selection->misfits);
	free(selection->fitted);
	free(selection);
}

/* The starts of several files are known before their events. */
void selection_start(struct selection *selection, int64_t realtime)
{
	if (selection->started &&
	    (selection->settled || selection->start <= realtime))
		return;
	selection->started = true;
	selection->start = realtime;
}

bool selection_since(const struct selection *selection, uint64_t *realtime)
{
	if (selection->since.kind != TIME_SPEC_WALL || selection->since.time < 0)
		return false;
	*realtime = (uint64_t)selection->since.time;
	return true;
}

const struct elog_schema_field *find_field(const struct elog_schema_event *event,
					   const char *name)
{
	size_t i;

	for (i = 0; event && i < event->field_count; i++)
		if (!strcmp(event->fields[i]->name, name))
			return event->fields[i];
	return NULL;
}

bool glob_matches(const char *glob, const struct elog_schema_event *event)
{
	const char *slash = find_slash(glob);
	char provider[EVENTLOG_GLOB_MAX];

	if (slash - glob >= EVENTLOG_GLOB_MAX)
		return false;
	memcpy(provider, glob, (size_t)(slash - glob));
	provider[slash - glob] = '\0';
	if (fnmatch(provider, event->provider->name, 0))
		return false;
	return !*slash || !fnmatch(slash + 1, event->name, 0);
}

bool spec_matches_globs(const struct selection_spec *spec, const struct elog_schema_event *event)
{
	size_t i;

	for (i = 0; i < spec->globs.count; i++)
		if (glob_matches(spec->globs.strings[i], event))
			return true;
	return !spec->globs.count;
}

bool spec_matches_definition(const struct selection_spec *spec,
			     const struct elog_schema_event *event)
{
	if (!event)
		return !spec->level && !spec->keywords && !spec->keyword_names &&
		       !spec->globs.count;
	if (spec->level && event->level > spec->level)
		return false;
	if ((spec->keywords || spec->keyword_names) && !keywords_match(spec, event))
		return false;
	return spec_matches_globs(spec, event);
}

int selection_bind(struct selection *selection, const struct elog_schema_event *recorded,
		   const struct elog_schema_event *event, struct cached_event *cached)
{
	const struct selection_spec *spec = selection->spec;
	struct elog_expression_error error;
	size_t i;
	int ret;

	cached->event = event;
	cached->is_eventheader = elog_is_eventheader(event);
	cached->undecided = recorded && !fnmatch(DECODED_GLOB, recorded->name, 0);
	cached->selected = (selection->live && !keywords_are_late(spec)) ||
			   spec_matches_definition(spec, recorded) ||
			   (event != recorded && spec_matches_definition(spec, event));
	if (!cached->selected || cached->is_eventheader || !spec->expressions.count)
		return 0;
	cached->selected = event != NULL;
	if (!event)
		return 0;
	cached->predicates = calloc(spec->expressions.count,
				   sizeof(*cached->predicates));
	if (!cached->predicates)
		return -ENOMEM;
	for (i = 0; i < spec->expressions.count; i++) {
		ret = elog_expression_bind(selection->expressions[i], event,
					   &cached->predicates[i], &error);
		if (ret == -ENOMEM)
			return ret;
		if (ret == -EINVAL)
			selection->misfits[i] = error;
		else if (!ret)
			selection->fitted[i] = true;
		if (ret)
			cached->selected = false;
	}
	return 0;
}

void selection_unbind(struct selection *selection, struct cached_event *cached)
{
	size_t i;

	if (!cached->predicates)
		return;
	for (i = 0; i < selection->spec->expressions.count; i++)
		elog_predicate_free(cached->predicates[i]);
	free(cached->predicates);
	cached->predicates = NULL;
}

int selection_cache(struct selection *selection, struct elog_map *cache, uint64_t key,
		    const struct elog_schema_event *recorded,
		    const struct elog_schema_event *event, struct cached_event **result)
{
	struct cached_event *cached = elog_map_insert(cache, elog_map_integer(key));
	int ret;

	if (!cached)
		return -ENOMEM;
	ret = selection_bind(selection, recorded, event, cached);
	if (ret) {
		selection_unbind(selection, cached);
		elog_map_remove(cache, cached);
		return ret;
	}
	*result = cached;
	return 0;
}

void selection_clear(struct selection *selection, struct elog_map *cache)
{
	struct cached_event *cached;

	elog_map_for_each(cache, cached)
		selection_unbind(selection, cached);
	elog_map_free(cache);
}

int selection_try(struct selection *selection, const struct elog_schema_event *event)
{
	struct cached_event cached = { 0 };
	int ret;

	if (!spec_matches_definition(selection->spec, event))
		return 0;
	ret = selection_bind(selection, event, event, &cached);
	selection_unbind(selection, &cached);
	return ret;
}

/* Is @item not before @spec? */
static bool is_since(const struct selection *selection,
		     const struct time_spec *spec, const struct elog_item *item,
		     int64_t wall_offset)
{
	const int64_t wall = wall_time(item->time, wall_offset);

	switch (spec->kind) {
	case TIME_SPEC_WALL:
		return wall >= spec->time;
	case TIME_SPEC_START:
		/* Values in a file may be anything: use unsigned numbers, which wrap. */
		return (int64_t)((uint64_t)wall - (uint64_t)selection->start) >= spec->time;
	default:
		return (int64_t)item->time >= spec->time;
	}
}

bool selection_in_time(const struct selection *selection,
		       const struct elog_item *item, int64_t wall_offset)
{
	if (selection->since.kind != TIME_SPEC_NONE &&
	    !is_since(selection, &selection->since, item, wall_offset))
		return false;
	if (selection->until.kind != TIME_SPEC_NONE &&
	    is_since(selection, &selection->until, item, wall_offset))
		return false;
	return true;
}

/* -C selects no event whose CPU is not known. */
static bool cpu_matches(const struct selection_spec *spec, unsigned int cpu)
{
	return !spec->cpus.count ||
	       (cpu != EVENTLOG_CPU_UNKNOWN && number_matches(&spec->cpus, cpu));
}

bool selection_match(struct selection *selection,
		     const struct cached_event *cached, const struct elog_item *item,
		     int64_t wall_offset, struct elog_processes *processes)
{
	const struct selection_spec *spec = selection->spec;
	const char *comm = NULL;
	size_t i;

	selection->settled = true;
	if (selection->by_definition)
		return cached->selected;
	if (!cached->selected || !cpu_matches(spec, item->cpu) ||
	    !number_matches(&spec->tids, item->tid))
		return false;
	if (!selection->live &&
	    (!number_matches(&spec->pids, item->pid) ||
	     !number_matches(&spec->sessions, item->session)))
		return false;
	if (!selection_in_time(selection, item, wall_offset))
		return false;
	if (selection->decided && !cached->undecided)
		return true;
	for (i = 0; cached->predicates && i < spec->expressions.count; i++) {
		if (!comm && elog_predicate_needs_comm(cached->predicates[i]))
			comm = elog_processes_name(processes, item->pid, item->tid);
		errno = 0;
		if (!elog_predicate_match(cached->predicates[i], item, comm)) {
			selection->starved |= errno == ENOMEM;
			return false;
		}
	}
	return true;
}

bool selection_finish(const struct selection *selection)
{
	bool any = selection->starved;
	size_t i;

	if (any)
		elog_error("-f: events are missing: out of memory");
	for (i = 0; i < selection->spec->expressions.count; i++) {
		if (selection->fitted[i] || !selection->misfits[i].column)
			continue;
		elog_error("-f '%s': column %u: %s",
			   selection->spec->expressions.strings[i],
			   selection->misfits[i].column,
			   selection->misfits[i].message);
		any = true;
	}
	return any;
}
