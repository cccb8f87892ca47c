/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers of modules: found when their module is loaded, made the events of a
 * provider, switched, and forgotten when it goes.  The public side is
 * include/linux/eventlog_marker.h.
 *
 * eventlog_markers_lock, a mutex inside marker.c, is held while modules with
 * markers and probes come and go, and while handlers are switched.  It is taken
 * before domain->update_lock, which is held, too, while handlers change: what
 * keeps static keys as they ought to be reads them under either.
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
 * Beside the handlers in a marker's active: a hit has to look at its predicate.  One
 * word says both, so that no hit sees handlers that are on without it.
 */
#define EVENTLOG_MARKER_GUARDED	(1U << 7)

/**
 * struct eventlog_markers - the markers of a module
 * @provider: what they are events of
 * @node: in the list of modules with markers
 * @module: the module
 * @error: why they are not registered; then there is no more than this
 * @count: their number
 * @markers: the markers, by place
 * @by_id: the same, by id
 * @events: their events, in the order of @markers
 * @fields: of all events
 * @names: strings that all these refer to
 * @name: the provider's
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
	char name[EVENTLOG_NAME_MAX];
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
 * eventlog_markers_init() - begin to look at modules
 *
 * Return: 0 or what register_module_notifier() failed with.
 */
int eventlog_markers_init(void);

/**
 * eventlog_markers_exit() - cease to
 *
 * No module with markers is loaded: each depends on this one.
 */
void eventlog_markers_exit(void);

/**
 * eventlog_marker_update() - find out what a hit of a marker has to call
 * @source: a marker's event; domain->update_lock is held
 * @wanted: somebody subscribes to the event
 *
 * Return: its static key has to be on.
 */
bool eventlog_marker_update(struct eventlog_provider_event *source, bool wanted);

/**
 * eventlog_markers_switch() - switch handlers of all markers that match
 * @module: glob over names of modules
 * @marker: glob over tags and places
 * @expression: of their predicates, valid, or NULL
 * @request: the rest; valid; the counts are set
 *
 * Process context, sleeps.
 *
 * Return: 0; -ENOENT: none matches; -ENOMEM.  Then nothing has changed.
 */
int eventlog_markers_switch(const char *module, const char *marker,
			    struct eventlog_expression *expression,
			    struct eventlog_marker_set *request);

/**
 * eventlog_marker_guard() - what is known of a marker's predicate
 * @marker: it; domain->update_lock and domain->lock are held
 * @text: room for EVENTLOG_PREDICATE_MAX bytes, or NULL
 * @rejected: set to how often it was false
 *
 * Return: the size of its text, NUL included; 0: it has none.
 */
u32 eventlog_marker_guard(const struct eventlog_marker *marker, char *text, u64 *rejected);

/**
 * eventlog_marker_matches() - does a marker match a pattern
 * @marker: it, named
 * @pattern: glob over tags and places
 */
bool eventlog_marker_matches(const struct eventlog_marker *marker, const char *pattern);

/* ---- marker_names.c ---- */

/**
 * eventlog_markers_name() - give a module's markers places, ids, names, and fields names
 * @markers: with module, count, and markers in any order; by_id, events and
 *	fields have room.  Sorted afterwards, and complete
 *
 * Process context.
 *
 * Return: 0; -EEXIST: two places have the same id; -ENOMEM.
 */
int eventlog_markers_name(struct eventlog_markers *markers);

/**
 * eventlog_marker_find() - find markers by id
 * @markers: named
 * @id: the id
 *
 * Return: the first one of that id, or NULL.
 */
struct eventlog_marker *eventlog_marker_find(const struct eventlog_markers *markers, u64 id);

/* ---- marker_hit.c ---- */

/**
 * struct eventlog_marker_kind - what a type of fields is
 * @name: in the schema language
 * @bytes: it has in the fixed part
 * @is_signed: a number below 0 is possible
 */
struct eventlog_marker_kind {
	const char *name;
	u8 bytes;
	bool is_signed;
};

/* By enum eventlog_marker_type. */
extern const struct eventlog_marker_kind eventlog_marker_kinds[EVENTLOG_MARKER_TYPES];

/**
 * eventlog_value_of() - what a field's type makes of a value
 * @type: enum eventlog_marker_type
 * @value: whose upper bits may be anything
 *
 * Any context.
 */
u64 eventlog_value_of(u8 type, u64 value);

#endif /* EVENTLOG_MARKER_INTERNAL_H */
