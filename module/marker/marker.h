/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers of modules.  They are found when their module is loaded, and become events
 * of a provider until it is unloaded; handlers can be switched meanwhile.  The public
 * side is include/linux/eventlog_marker.h.
 *
 * eventlog_markers_lock, a mutex in marker.c, is held while modules with markers are
 * loaded and unloaded, while probes are registered and unregistered, and while
 * handlers are switched.  It is taken before domain->update_lock.  Handlers change
 * under both locks; eventlog_marker_update() reads them under update_lock alone.
 */
#ifndef EVENTLOG_MARKER_INTERNAL_H
#define EVENTLOG_MARKER_INTERNAL_H

#include <linux/eventlog.h>
#include <linux/eventlog_marker.h>
#include <linux/list.h>

struct eventlog_expression;
struct module;

#define EVENTLOG_MARKER_HANDLERS \
	(EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_TRACE | EVENTLOG_MARKER_PROBE)

/*
 * A bit beside the handlers in a marker's active: the predicate must be evaluated.
 * Both are in one word, so that no one sees the handlers without this bit.
 */
#define EVENTLOG_MARKER_CONDITIONAL (1U << 7)

/**
 * struct eventlog_markers - the markers of a module
 * @provider: the provider of their events
 * @node: in the list of modules with markers
 * @module: the module
 * @error: why they are not registered; the members below are empty then
 * @count: number of markers
 * @markers: the markers, sorted by place
 * @by_id: the same, sorted by id
 * @events: their events, in the order of @markers
 * @fields: fields of all events
 * @names: the strings of markers, events and fields
 * @name: name of the provider
 */
struct eventlog_markers {
	struct eventlog_provider provider;
	struct list_head node;
	const struct module *module;
	int error;
	unsigned int count;
	struct eventlog_marker **markers;
	struct eventlog_marker **by_id;
	struct eventlog_provider_event **events;
	struct eventlog_field *fields;
	char *names;
	char name[EVENTLOG_FIELD_NAME_MAX];
};

/**
 * struct eventlog_marker_link - a probe attached to a marker
 * @node: in the marker's probes; RCU
 * @probe: the probe
 * @rcu: frees it
 */
struct eventlog_marker_link {
	struct hlist_node node;
	struct eventlog_marker_probe *probe;
	struct rcu_head rcu;
};

/**
 * eventlog_markers_init() - start looking for markers in modules that are loaded
 *
 * Return: 0 or an error of register_module_notifier().
 */
int eventlog_markers_init(void);

/**
 * eventlog_markers_exit() - stop looking for markers
 *
 * No module with markers is loaded, since each depends on this one.
 */
void eventlog_markers_exit(void);

/**
 * eventlog_marker_update() - compute what a marker does when it fires
 * @source: the marker's event; domain->update_lock is held
 * @enabled: the event is enabled
 *
 * Return: whether its static key must be on.
 */
bool eventlog_marker_update(struct eventlog_provider_event *source, bool enabled);

/**
 * eventlog_markers_switch() - switch handlers of all markers that match
 * @module: glob over names of modules
 * @marker: glob over tags and places
 * @expression: the predicate to set, valid, or NULL
 * @request: the rest of the request; valid; its counts are set
 *
 * Process context, sleeps.
 *
 * Return: 0; -ENOENT: no marker matches; -ENOMEM.  Nothing is changed on errors.
 */
int eventlog_markers_switch(const char *module, const char *marker,
			    struct eventlog_expression *expression,
			    struct eventlog_marker_set *request);

/**
 * eventlog_marker_filter() - a marker's filter and its counter
 * @marker: the marker; domain->update_lock is held
 * @rejected: set to how often the filter was false
 *
 * Return: the filter, with a reference for the caller; NULL: there is none.
 */
struct eventlog_expression *eventlog_marker_filter(const struct eventlog_marker *marker,
						   u64 *rejected);

/**
 * eventlog_marker_matches() - does a marker match a pattern
 * @marker: the marker; it has its names
 * @pattern: glob over tags and places
 */
bool eventlog_marker_matches(const struct eventlog_marker *marker, const char *pattern);

/* ---- names.c ---- */

/**
 * eventlog_markers_name() - give a module's markers their places, ids, names and fields
 * @markers: module, count and the unsorted markers are set; by_id and events are
 *	allocated.  Sets the rest and sorts the markers
 *
 * Process context.
 *
 * Return: 0; -EEXIST: two places have the same id; -ENOMEM.
 */
int eventlog_markers_name(struct eventlog_markers *markers);

/**
 * eventlog_marker_find() - find a marker by id
 * @markers: a module's; they have their names
 * @id: the id
 *
 * Return: the first marker with that id, or NULL.
 */
struct eventlog_marker *eventlog_marker_find(const struct eventlog_markers *markers, u64 id);

#endif /* EVENTLOG_MARKER_INTERNAL_H */
