// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of user_events: see event.h.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/siphash.h>
#include <linux/string.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/ops.h"
#include "memory.h"
#include "user_events/abi.h"
#include "user_events/command.h"
#include "user_events/event.h"

static DEFINE_HASHTABLE(ue_names, 10);
LIST_HEAD(ue_events);
/* Secret, or processes could choose names that all hash to one bucket. */
static siphash_key_t ue_names_key;

/* Names that may have several formats apart: a look-up must not visit all of these. */
static u64 ue_name_hash(const char *name, bool multi)
{
	return siphash(name, strlen(name), &ue_names_key) + multi;
}

/* An event of the name, under domain->lock, or NULL. */
static struct eventlog_watch *ue_name_find(const char *name, bool multi)
{
	struct eventlog_watch *watch;

	hash_for_each_possible(ue_names, watch, name_node, ue_name_hash(name, multi))
		if (watch->multi == multi && !strcmp(watch->event->name, name))
			return watch;
	return NULL;
}

static const char *ue_provider(bool multi)
{
	return multi ? UE_PROVIDER_MULTI : UE_PROVIDER;
}

void ue_events_init(void)
{
	get_random_bytes(&ue_names_key, sizeof(ue_names_key));
}

void ue_watch_put(struct eventlog_watch *watch)
{
	if (refcount_dec_and_test(&watch->holders))
		eventlog_free(watch);
}

void ue_watch_pin(struct eventlog_watch *watch)
{
	const struct eventlog_event *event = watch->event;
	bool pin = event->watch && (event->persistent || ue_wanted(watch));

	lockdep_assert_held(&event->domain->lock);
	if (pin == watch->pinned)
		return;
	/* Unloading may have begun.  It ends the event. */
	watch->pinned = pin && try_module_get(THIS_MODULE);
	/* The module stays until the lock is released: it must be unregistered, see front_end.h. */
	if (!pin)
		module_put(THIS_MODULE);
}

void ue_event_ended(struct eventlog_watch *watch)
{
	ue_watch_pin(watch);
	hash_del(&watch->name_node);
	list_del(&watch->all_node);
	ue_watch_put(watch);
}

/* ---- make ---- */

/**
 * struct ue_event_request - a registration
 * @base: what eventlog.ko needs
 * @multi: the name may have several formats
 * @persist: the event outlives its registrations
 * @spare: memory for the watch of a new event; NULL: it was used
 */
struct ue_event_request {
	struct eventlog_event_request base;
	bool multi;
	bool persist;
	struct eventlog_watch *spare;
};

/* -EADDRINUSE: the name belongs to an event with one format, which is another one. */
static int ue_event_admit(struct eventlog_event_request *base)
{
	const struct ue_event_request *request =
		container_of(base, struct ue_event_request, base);
	const struct eventlog_fields *fields = base->fields;
	const struct eventlog_watch *watch = ue_name_find(fields->name, false);

	if (request->multi || !watch || (!strcmp(watch->event->fields_text, fields->text) &&
					 !strcmp(watch->event->types, fields->types)))
		return 0;
	return -EADDRINUSE;
}

/* Gives an event its watch, unless it has one. */
static void ue_event_watch(struct ue_event_request *request, struct eventlog_event *event)
{
	struct eventlog_watch *watch = request->spare;

	if (event->watch)
		return;
	request->spare = NULL;
	watch->event = event;
	watch->multi = request->multi;
	INIT_LIST_HEAD(&watch->enablers);
	INIT_LIST_HEAD(&watch->dirty_node);
	refcount_set(&watch->holders, 1);
	hash_add(ue_names, &watch->name_node, ue_name_hash(event->name, request->multi));
	list_add_tail(&watch->all_node, &ue_events);
	event->watch = watch;
}

static void ue_event_registered(struct eventlog_event_request *base, struct eventlog_event *event)
{
	struct ue_event_request *request = container_of(base, struct ue_event_request, base);

	ue_event_watch(request, event);
	if (request->persist)
		eventlog_event_persist(event);
	ue_watch_pin(event->watch);
}

static struct eventlog_event *ue_event_register(struct ue_command *command,
						unsigned int flags, struct eventlog_event_use *use)
{
	bool multi = flags & UE_MULTI;
	struct ue_event_request request = {
		.base = {
			.domain = ue_domain(),
			.provider = ue_provider(multi),
			.fields = &command->fields,
			.level = command->level,
			.keywords = command->keywords,
			.admit = ue_event_admit,
			.registered = ue_event_registered,
		},
		.multi = multi,
		.persist = flags & UE_PERSIST,
		.spare = eventlog_alloc(sizeof(*request.spare)),
	};
	struct eventlog_event *event = ERR_PTR(-ENOMEM);

	if (request.spare)
		event = eventlog_event_register(&request.base, use);
	eventlog_free(request.spare);
	return event;
}

struct eventlog_watch *ue_event_get(const char *text, unsigned int flags,
				    struct eventlog_event_use *use)
{
	struct ue_command command;
	struct eventlog_event *event;
	int ret;

	if (flags & UE_PERSIST && !perfmon_capable())
		return ERR_PTR(-EPERM);
	ret = ue_command_parse(&command, text, flags & UE_MULTI);
	if (ret)
		return ERR_PTR(ret);
	event = ue_event_register(&command, flags, use);
	ue_command_free(&command);
	/* Programs know one errno for all limits. */
	if (event == ERR_PTR(-ENOSPC) || event == ERR_PTR(-EDQUOT))
		event = ERR_PTR(-EMFILE);
	if (IS_ERR(event))
		return ERR_CAST(event);
	/* Programs look for it in tracefs at once. */
	if (eventlog_trace_ops)
		eventlog_trace_ops->wait(event);
	return event->watch;
}

/* ---- use and end ---- */

void ue_event_use(struct eventlog_watch *watch, struct eventlog_event_use *use)
{
	struct eventlog_domain *domain = ue_domain();

	eventlog_domain_lock(domain);
	eventlog_event_use(watch->event, use);
	eventlog_domain_unlock(domain);
}

void ue_event_put(struct eventlog_watch *watch, struct eventlog_event_use *use)
{
	eventlog_event_unregister(watch->event, use);
}

/* Why the caller cannot delete events of a name: 0: it can; -ENOENT, -EBUSY, -EPERM. */
static int ue_event_delete_denied(const char *name)
{
	struct eventlog_domain *domain = ue_domain();
	const struct eventlog_watch *watch;
	int ret = -ENOENT;

	eventlog_domain_lock(domain);
	watch = ue_name_find(name, false) ?: ue_name_find(name, true);
	if (watch)
		ret = watch->event->registrations ? -EBUSY : perfmon_capable() ? 0 : -EPERM;
	eventlog_domain_unlock(domain);
	return ret;
}

/* An event may be left that is registered and not persistent: the next call finds it. */
int ue_event_delete(const char *name)
{
	int ret = ue_event_delete_denied(name) ?:
		  eventlog_event_delete(ue_domain(), ue_provider(false), ue_provider(true), name);

	/* Programs expect it to be gone. */
	if (!ret && eventlog_trace_ops)
		eventlog_trace_ops->wait(NULL);
	return ret;
}

#endif /* EVENTLOG_TRACE_EVENTS */
