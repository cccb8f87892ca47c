// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers: see marker.h.
 *
 * The jump table of a module lists the static keys that the module tests.  A key
 * belongs to a marker if a marker's magic number follows it.  The table and the
 * markers are complete when the module notifiers are called.
 */
#define pr_fmt(format) "eventlog: " format

#include <linux/err.h>
#include <linux/glob.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "core/domain.h"
#include "core/event.h"
#include "marker/marker.h"
#include "memory.h"
#include "core/filter.h"
#include "core/provider.h"

/* See marker.h. */
static DEFINE_MUTEX(eventlog_markers_lock);
static LIST_HEAD(eventlog_marker_modules);
static LIST_HEAD(eventlog_marker_probes);

/* ---- switching ---- */

bool eventlog_marker_update(struct eventlog_provider_event *source, bool enabled)
{
	struct eventlog_marker *marker = container_of(source, struct eventlog_marker, event);
	u8 active = marker->handlers;

	lockdep_assert_held(&eventlog_root_domain.update_lock);
	if (!enabled)
		active &= ~EVENTLOG_MARKER_TRACE;
	if (!hlist_empty(&marker->probes))
		active |= EVENTLOG_MARKER_PROBE;
	if (marker->has_predicate)
		active |= EVENTLOG_MARKER_CONDITIONAL;
	/* Publish the predicate before the bit that announces it. */
	smp_store_release(&marker->active, active);
	return active & EVENTLOG_MARKER_HANDLERS;
}

/* Has eventlog_update_end() call eventlog_marker_update() for all markers of a module. */
static void eventlog_markers_mark_dirty(struct eventlog_markers *markers)
{
	struct eventlog_domain *domain = &eventlog_root_domain;
	struct eventlog_provider_info *info = markers->provider.info;

	lockdep_assert_held(&domain->update_lock);
	eventlog_domain_lock(domain);
	if (list_empty(&info->dirty_node))
		list_add_tail(&info->dirty_node, &domain->dirty_providers);
	eventlog_domain_unlock(domain);
}

bool eventlog_marker_matches(const struct eventlog_marker *marker, const char *pattern)
{
	return glob_match(pattern, marker->tag) ||
	       glob_match(pattern, marker->event.description);
}

static bool eventlog_marker_selected(const struct eventlog_marker *marker, const char *pattern,
				  const struct eventlog_marker_set *request)
{
	const struct eventlog_event *event =
		rcu_dereference_protected(marker->event.event,
					  lockdep_is_held(&eventlog_root_domain.update_lock));

	if (request->flags & EVENTLOG_MARKER_SET_ID && marker->id != request->id)
		return false;
	if (request->descriptor && event->descriptor != request->descriptor)
		return false;
	return eventlog_marker_matches(marker, pattern);
}

static u8 eventlog_marker_switched(const struct eventlog_marker *marker,
				   const struct eventlog_marker_set *request)
{
	switch (request->operation) {
	case EVENTLOG_MARKER_OP_ADD:
		return marker->handlers | request->handlers;
	case EVENTLOG_MARKER_OP_REMOVE:
		return marker->handlers & ~request->handlers;
	default:
		return request->handlers;
	}
}

/* Replaces a marker's predicate by another one or by none; returns the old one. */
static struct eventlog_predicate *eventlog_marker_replace(struct eventlog_marker *marker,
							  struct eventlog_predicate *predicate)
{
	struct eventlog_predicate *old = NULL;

	if (marker->has_predicate)
		old = rcu_dereference_protected(marker->predicate, true);
	/*
	 * Without a new predicate the pointer to the old one stays.  A CPU that has
	 * seen EVENTLOG_MARKER_CONDITIONAL still reads it, under RCU, which frees it.
	 */
	if (predicate)
		rcu_assign_pointer(marker->predicate, predicate);
	marker->has_predicate = predicate;
	return old;
}

/**
 * struct eventlog_switch - a MARKER_SET that is being carried out
 * @pattern: glob over tags and places
 * @expression: the predicate to set, or NULL
 * @bound: predicates for markers that were not switched yet, in the order of the markers
 * @last: end of @bound
 * @old: predicates that markers had before
 * @request: the rest of the request, and its results
 */
struct eventlog_switch {
	const char *pattern;
	struct eventlog_expression *expression;
	struct eventlog_predicate *bound;
	struct eventlog_predicate **last;
	struct eventlog_predicate *old;
	struct eventlog_marker_set *request;
};

static void eventlog_marker_switch(struct eventlog_marker *marker, struct eventlog_switch *to)
{
	struct eventlog_marker_set *request = to->request;
	u8 handlers = eventlog_marker_switched(marker, request);
	struct eventlog_predicate *predicate = NULL, *old;
	bool changed = handlers != marker->handlers;

	request->matched++;
	if (handlers & ~marker->allowed) {
		request->denied++;
		return;
	}
	if (to->bound && to->bound->of == marker) {
		predicate = to->bound;
		to->bound = predicate->next;
	} else if (to->expression && handlers) {
		request->incompatible++;
		return;
	}
	if (predicate || !handlers || request->operation != EVENTLOG_MARKER_OP_REMOVE) {
		old = eventlog_marker_replace(marker, predicate);
		changed |= predicate || old;
		if (old) {
			old->next = to->old;
			to->old = old;
		}
	}
	request->changed += changed;
	WRITE_ONCE(marker->handlers, handlers);
}

static int eventlog_marker_field(const void *of, const char *name,
				 struct eventlog_operand *operand)
{
	const struct eventlog_marker *marker = of;
	unsigned int i;

	for (i = 0; i < marker->event.field_count; i++) {
		if (strcmp(marker->event.fields[i].name, name))
			continue;
		eventlog_operand_value(operand, marker->types[1 + i], i);
		return 0;
	}
	return -ENOENT;
}

/* Makes the predicate of a marker, which may fail, before anything is changed. */
static int eventlog_marker_bind(struct eventlog_marker *marker, struct eventlog_switch *to)
{
	const struct eventlog_subject subject = {
		.find = eventlog_marker_field, .of = marker,
	};
	u8 handlers = eventlog_marker_switched(marker, to->request);
	struct eventlog_predicate *predicate;

	if (!handlers || handlers & ~marker->allowed)
		return 0;
	if (!eventlog_terms_fit(&to->expression->terms, &subject))
		return 0;
	predicate = eventlog_predicate_bind(to->expression, &subject, true,
					    EVENTLOG_CHARGE_NONE);
	if (!predicate)
		return -ENOMEM;
	*to->last = predicate;
	to->last = &predicate->next;
	return 0;
}

static int eventlog_module_bind(struct eventlog_markers *markers, struct eventlog_switch *to)
{
	unsigned int i;
	int ret = 0;

	eventlog_update_begin(&eventlog_root_domain);
	for (i = 0; i < markers->count && !ret; i++) {
		if (eventlog_marker_selected(markers->markers[i], to->pattern, to->request))
			ret = eventlog_marker_bind(markers->markers[i], to);
		cond_resched();
	}
	eventlog_update_end(&eventlog_root_domain, NULL, NULL);
	return ret;
}

static void eventlog_module_switch(struct eventlog_markers *markers, struct eventlog_switch *to)
{
	unsigned int i, changed = to->request->changed;

	eventlog_update_begin(&eventlog_root_domain);
	for (i = 0; i < markers->count; i++) {
		if (eventlog_marker_selected(markers->markers[i], to->pattern, to->request))
			eventlog_marker_switch(markers->markers[i], to);
		cond_resched();
	}
	if (to->request->changed != changed)
		eventlog_markers_mark_dirty(markers);
	eventlog_update_end(&eventlog_root_domain, NULL, NULL);
	/* Only CPUs in an RCU read-side section can still see them. */
	eventlog_predicates_free(to->old);
	to->old = NULL;
}

int eventlog_markers_switch(const char *module, const char *marker,
			    struct eventlog_expression *expression,
			    struct eventlog_marker_set *request)
{
	struct eventlog_switch to = {
		.pattern = marker, .expression = expression, .request = request,
	};
	struct eventlog_markers *markers;
	int ret = 0;

	to.last = &to.bound;
	request->matched = 0;
	request->changed = 0;
	request->denied = 0;
	request->incompatible = 0;
	/* Held throughout, so that no marker changes between binding and switching. */
	mutex_lock(&eventlog_markers_lock);
	if (expression) {
		list_for_each_entry(markers, &eventlog_marker_modules, node) {
			if (!ret && glob_match(module, markers->module->name))
				ret = eventlog_module_bind(markers, &to);
		}
	}
	if (!ret) {
		list_for_each_entry(markers, &eventlog_marker_modules, node)
			if (glob_match(module, markers->module->name))
				eventlog_module_switch(markers, &to);
	}
	mutex_unlock(&eventlog_markers_lock);
	/* On an error: the predicates that were made before it. */
	eventlog_predicates_free(to.bound);
	if (ret)
		return ret;
	return request->matched ? 0 : -ENOENT;
}

struct eventlog_expression *eventlog_marker_filter(const struct eventlog_marker *marker,
						   u64 *rejected)
{
	const struct eventlog_predicate *predicate;

	lockdep_assert_held(&eventlog_root_domain.update_lock);
	*rejected = 0;
	if (!marker->has_predicate)
		return NULL;
	predicate = rcu_dereference_protected(marker->predicate, true);
	*rejected = eventlog_predicate_rejected(predicate);
	refcount_inc(&predicate->expression->users);
	return predicate->expression;
}

/* ---- probes ---- */

static bool eventlog_marker_probed(const struct eventlog_markers *markers,
				   const struct eventlog_marker *marker,
				   const struct eventlog_marker_probe *probe)
{
	return marker->allowed & EVENTLOG_MARKER_PROBE &&
	       (!probe->module || glob_match(probe->module, markers->module->name)) &&
	       (!probe->marker || eventlog_marker_matches(marker, probe->marker));
}

static int eventlog_marker_attach(struct eventlog_marker *marker,
				  struct eventlog_marker_probe *probe)
{
	struct eventlog_marker_link *link = eventlog_alloc(sizeof(*link));

	if (!link)
		return -ENOMEM;
	link->probe = probe;
	hlist_add_head_rcu(&link->node, &marker->probes);
	return 0;
}

static void eventlog_marker_link_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_marker_link, rcu));
}

static void eventlog_markers_drop_predicates(struct eventlog_markers *markers)
{
	struct eventlog_predicate *old;
	unsigned int i;

	for (i = 0; i < markers->count; i++) {
		old = eventlog_marker_replace(markers->markers[i], NULL);
		if (old)
			old->next = NULL;
		eventlog_predicates_free(old);
	}
}

/* Detaches @probe, or all probes if it is NULL. */
static void eventlog_marker_detach(struct eventlog_marker *marker,
				   const struct eventlog_marker_probe *probe)
{
	struct eventlog_marker_link *link;
	struct hlist_node *next;

	hlist_for_each_entry_safe(link, next, &marker->probes, node) {
		if (probe && link->probe != probe)
			continue;
		hlist_del_rcu(&link->node);
		call_rcu(&link->rcu, eventlog_marker_link_free_rcu);
	}
}

/* Under update_lock if the markers are registered. */
static int eventlog_markers_attach(struct eventlog_markers *markers,
				   struct eventlog_marker_probe *probe)
{
	unsigned int i;
	int ret;

	for (i = 0; i < markers->count; i++) {
		if (!eventlog_marker_probed(markers, markers->markers[i], probe))
			continue;
		ret = eventlog_marker_attach(markers->markers[i], probe);
		if (ret)
			return ret;
	}
	return 0;
}

static void eventlog_markers_detach(struct eventlog_markers *markers,
				    const struct eventlog_marker_probe *probe)
{
	unsigned int i;

	for (i = 0; i < markers->count; i++)
		eventlog_marker_detach(markers->markers[i], probe);
}

static void eventlog_probe_remove(struct eventlog_marker_probe *probe)
{
	struct eventlog_markers *markers;

	lockdep_assert_held(&eventlog_markers_lock);
	list_del_init(&probe->node);
	list_for_each_entry(markers, &eventlog_marker_modules, node) {
		if (markers->error)
			continue;
		eventlog_update_begin(&eventlog_root_domain);
		eventlog_markers_detach(markers, probe);
		eventlog_markers_mark_dirty(markers);
		eventlog_update_end(&eventlog_root_domain, NULL, NULL);
	}
}

int eventlog_marker_probe_register(struct eventlog_marker_probe *probe)
{
	struct eventlog_markers *markers;
	int ret = 0;

	mutex_lock(&eventlog_markers_lock);
	list_add_tail(&probe->node, &eventlog_marker_probes);
	list_for_each_entry(markers, &eventlog_marker_modules, node) {
		if (markers->error)
			continue;
		eventlog_update_begin(&eventlog_root_domain);
		ret = eventlog_markers_attach(markers, probe);
		if (!ret)
			eventlog_markers_mark_dirty(markers);
		eventlog_update_end(&eventlog_root_domain, NULL, NULL);
		if (ret)
			break;
	}
	if (ret)
		eventlog_probe_remove(probe);
	mutex_unlock(&eventlog_markers_lock);
	if (ret)
		synchronize_rcu();
	return ret;
}
EXPORT_SYMBOL_GPL(eventlog_marker_probe_register);

void eventlog_marker_probe_unregister(struct eventlog_marker_probe *probe)
{
	mutex_lock(&eventlog_markers_lock);
	eventlog_probe_remove(probe);
	mutex_unlock(&eventlog_markers_lock);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(eventlog_marker_probe_unregister);

/* ---- modules ---- */

#ifdef CONFIG_JUMP_LABEL
static bool eventlog_key_within(const struct module *module, unsigned long key)
{
	return within_module(key, module) &&
	       within_module(key + sizeof(struct eventlog_marker) - 1, module);
}

/* The marker that a key of the module belongs to; or NULL: anything may follow a key. */
static struct eventlog_marker *eventlog_key_marker(const struct module *module,
						   const struct jump_entry *entry)
{
	unsigned long key = (unsigned long)jump_entry_key(entry);
	struct eventlog_marker *marker;

	BUILD_BUG_ON(offsetof(struct eventlog_marker, event.enabled.key));
	if (!eventlog_key_within(module, key) || !IS_ALIGNED(key, __alignof__(*marker)))
		return NULL;
	marker = (struct eventlog_marker *)key;
	if (READ_ONCE_NOCHECK(marker->magic) != EVENTLOG_MARKER_MAGIC ||
	    READ_ONCE_NOCHECK(marker->self) != marker ||
	    READ_ONCE_NOCHECK(marker->fire) != eventlog_marker_fire)
		return NULL;
	return marker;
}

/* The table is sorted by key.  With @markers NULL only counts. */
static unsigned int eventlog_module_scan(const struct module *module,
					 struct eventlog_marker **markers)
{
	struct eventlog_marker *marker, *before = NULL;
	unsigned int i, count = 0;

	for (i = 0; i < module->num_jump_entries; i++) {
		marker = eventlog_key_marker(module, &module->jump_entries[i]);
		if (!marker || marker == before)
			continue;
		if (markers)
			markers[count] = marker;
		count++;
		before = marker;
	}
	return count;
}
#else
static unsigned int eventlog_module_scan(const struct module *module,
					 struct eventlog_marker **markers)
{
	return 0;
}
#endif

static struct eventlog_markers *eventlog_markers_find(const struct module *module)
{
	struct eventlog_markers *markers;

	list_for_each_entry(markers, &eventlog_marker_modules, node)
		if (markers->module == module)
			return markers;
	return NULL;
}

/* Checks that no place in another module has the id of one of these markers. */
static int eventlog_markers_compare(const struct eventlog_markers *markers)
{
	const struct eventlog_marker *marker, *found;
	const struct eventlog_markers *other;
	unsigned int i;

	list_for_each_entry(other, &eventlog_marker_modules, node) {
		for (i = 0; i < markers->count; i++) {
			marker = markers->markers[i];
			found = eventlog_marker_find(other, marker->id);
			if (!found ||
			    !strcmp(found->event.description, marker->event.description))
				continue;
			pr_err("markers of %s and %s: %s and %s have the id %016llx\n",
			       markers->module->name, other->module->name,
			       marker->event.description, found->event.description, found->id);
			return -EEXIST;
		}
	}
	return 0;
}

static void eventlog_markers_prepare(struct eventlog_markers *markers)
{
	unsigned int i;

	for (i = 0; i < markers->count; i++) {
		struct eventlog_marker *marker = markers->markers[i];
		u8 forced = marker->handlers;

		marker->allowed &= EVENTLOG_MARKER_HANDLERS;
		marker->defaults = (marker->defaults | forced) & marker->allowed;
		marker->handlers = marker->defaults;
		INIT_HLIST_HEAD(&marker->probes);
		ratelimit_state_init(&marker->limit, DEFAULT_RATELIMIT_INTERVAL,
				     DEFAULT_RATELIMIT_BURST);
		/* Do not print "callbacks suppressed": markers count these lines. */
		ratelimit_set_flags(&marker->limit, RATELIMIT_MSG_ON_RELEASE);
	}
}

static void eventlog_markers_empty(struct eventlog_markers *markers)
{
	eventlog_free(markers->names);
	eventlog_free(markers->fields);
	eventlog_free(markers->events);
	eventlog_free(markers->by_id);
	eventlog_free(markers->markers);
	markers->names = NULL;
	markers->fields = NULL;
	markers->events = NULL;
	markers->by_id = NULL;
	markers->markers = NULL;
	markers->count = 0;
}

static int eventlog_markers_fill(struct eventlog_markers *markers)
{
	markers->markers = eventlog_alloc(markers->count * sizeof(*markers->markers));
	markers->by_id = eventlog_alloc(markers->count * sizeof(*markers->by_id));
	markers->events = eventlog_alloc(markers->count * sizeof(*markers->events));
	if (!markers->markers || !markers->by_id || !markers->events)
		return -ENOMEM;
	eventlog_module_scan(markers->module, markers->markers);
	eventlog_markers_prepare(markers);
	return eventlog_markers_name(markers) ?: eventlog_markers_compare(markers);
}

/* Registers the provider, then switches on what is on by default. */
static int eventlog_markers_register(struct eventlog_markers *markers)
{
	struct eventlog_provider *provider = &markers->provider;
	int ret;

	scnprintf(markers->name, sizeof(markers->name), "markers_%s", markers->module->name);
	provider->name = markers->name;
	provider->description = "markers, eventlog_marker(9)";
	provider->owner = (struct module *)markers->module;
	provider->events = markers->events;
	provider->event_count = markers->count;
	provider->update = eventlog_marker_update;
	ret = eventlog_provider_register(provider);
	if (ret)
		return ret;
	eventlog_update_begin(&eventlog_root_domain);
	eventlog_markers_mark_dirty(markers);
	eventlog_update_end(&eventlog_root_domain, NULL, NULL);
	return 0;
}

/*
 * Registers the markers of a module that is being loaded.  If that fails, the module is loaded
 * without them.  But a task that is being killed loads nothing.
 *
 * Return: 0 or -EINTR.
 */
static int eventlog_markers_add(const struct module *module)
{
	unsigned int count = eventlog_module_scan(module, NULL);
	struct eventlog_marker_probe *probe;
	struct eventlog_markers *markers;
	bool killed;

	if (!count)
		return 0;
	markers = eventlog_alloc(sizeof(*markers));
	if (!markers) {
		pr_err("markers of %s: out of memory\n", module->name);
		return 0;
	}
	markers->module = module;
	markers->count = count;
	INIT_LIST_HEAD(&markers->node);
	mutex_lock(&eventlog_markers_lock);
	markers->error = eventlog_markers_fill(markers);
	list_for_each_entry(probe, &eventlog_marker_probes, node)
		if (!markers->error)
			markers->error = eventlog_markers_attach(markers, probe);
	if (!markers->error)
		markers->error = eventlog_markers_register(markers);
	killed = markers->error == -EINTR;
	if (markers->error) {
		if (!killed)
			pr_err("markers of %s: failed to register: %d\n", module->name,
			       markers->error);
		if (markers->names)
			eventlog_markers_detach(markers, NULL);
		eventlog_markers_empty(markers);
	}
	if (killed)
		eventlog_free(markers);
	else
		list_add_tail(&markers->node, &eventlog_marker_modules);
	mutex_unlock(&eventlog_markers_lock);
	return killed ? -EINTR : 0;
}

static void eventlog_markers_remove(const struct module *module)
{
	struct eventlog_markers *markers;

	mutex_lock(&eventlog_markers_lock);
	markers = eventlog_markers_find(module);
	if (markers)
		list_del(&markers->node);
	if (markers && !markers->error) {
		eventlog_provider_unregister(&markers->provider);
		eventlog_markers_detach(markers, NULL);
		eventlog_markers_drop_predicates(markers);
	}
	mutex_unlock(&eventlog_markers_lock);
	if (!markers)
		return;
	eventlog_markers_empty(markers);
	eventlog_free(markers);
}

int eventlog_markers_status(const struct module *module)
{
	struct eventlog_markers *markers;
	int ret;

	mutex_lock(&eventlog_markers_lock);
	markers = eventlog_markers_find(module);
	ret = markers ? markers->error : eventlog_module_scan(module, NULL) ? -ENOMEM : 0;
	mutex_unlock(&eventlog_markers_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(eventlog_markers_status);

static int eventlog_markers_notify(struct notifier_block *block, unsigned long state, void *data)
{
	if (state == MODULE_STATE_COMING)
		return notifier_from_errno(eventlog_markers_add(data));
	if (state == MODULE_STATE_GOING)
		eventlog_markers_remove(data);
	return NOTIFY_OK;
}

/* Default priority: after the jump label code, which sorts the table. */
static struct notifier_block eventlog_markers_notifier = {
	.notifier_call = eventlog_markers_notify,
};

int eventlog_markers_init(void)
{
	return register_module_notifier(&eventlog_markers_notifier);
}

void eventlog_markers_exit(void)
{
	unregister_module_notifier(&eventlog_markers_notifier);
}
