// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wishes: see wish.h.
 */
#include <linux/errno.h>
#include <linux/glob.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "domain.h"
#include "event.h"
#include "memory.h"
#include "wish.h"

static struct eventlog_program_wish *eventlog_wish_new(const char *program, const char *marker,
					       u8 handlers)
{
	size_t program_bytes = strlen(program) + 1, marker_bytes = strlen(marker) + 1;
	struct eventlog_program_wish *wish;

	wish = eventlog_alloc(sizeof(*wish) + program_bytes + marker_bytes);
	if (!wish)
		return NULL;
	wish->handlers = handlers;
	memcpy(wish->program, program, program_bytes);
	memcpy(wish->program + program_bytes, marker, marker_bytes);
	wish->marker = wish->program + program_bytes;
	return wish;
}

/* The name of an event's program, if it is a marker of one, or NULL. */
static const char *eventlog_event_program(const struct eventlog_event *event)
{
	const char *name = event->provider->name;
	size_t length = strlen(EVENTLOG_PROGRAM_PREFIX);

	if (event->provider->kernel || event->source ||
	    strncmp(name, EVENTLOG_PROGRAM_PREFIX, length))
		return NULL;
	return name + length;
}

static bool eventlog_wish_matches(const struct eventlog_program_wish *wish,
				  const struct eventlog_event *event)
{
	const char *program = eventlog_event_program(event);

	return program && glob_match(wish->program, program) &&
	       glob_match(wish->marker, event->name);
}

void eventlog_wishes_follow(struct eventlog_event *event)
{
	struct eventlog_domain *domain = event->domain;
	const struct eventlog_program_wish *wish;
	u8 handlers = 0;

	lockdep_assert_held(&domain->lock);
	list_for_each_entry(wish, &domain->wishes, node) {
		if (!eventlog_wish_matches(wish, event))
			continue;
		handlers = wish->handlers;
		break;
	}
	if (handlers == event->handlers)
		return;
	event->handlers = handlers;
	eventlog_domain_handlers_set(domain, event->slot, handlers);
}

void eventlog_wishes_leave(struct eventlog_event *event)
{
	if (!event->handlers)
		return;
	event->handlers = 0;
	eventlog_domain_handlers_set(event->domain, event->slot, 0);
}

static void eventlog_wish_remove(struct eventlog_domain *domain, struct eventlog_program_wish *wish)
{
	list_del(&wish->node);
	domain->wish_count--;
	eventlog_free(wish);
}

static bool eventlog_glob_covers(const char *glob, const char *other)
{
	return !strcmp(glob, "*") || !strcmp(glob, other);
}

/* Does nothing remain of an earlier wish? */
static bool eventlog_wish_replaces(const struct eventlog_program_wish *wish,
				   const struct eventlog_program_wish *old)
{
	return eventlog_glob_covers(wish->program, old->program) &&
	       eventlog_glob_covers(wish->marker, old->marker);
}

/* Return: whether it has been kept, or -ENOSPC. */
static int eventlog_wish_enlist(struct eventlog_domain *domain, struct eventlog_program_wish *wish)
{
	struct eventlog_program_wish *old, *next;
	unsigned int replaced = 0;
	bool kept;

	list_for_each_entry(old, &domain->wishes, node)
		replaced += eventlog_wish_replaces(wish, old);
	kept = wish->handlers || domain->wish_count > replaced;
	if (kept && domain->wish_count - replaced >= EVENTLOG_WISHES_MAX)
		return -ENOSPC;
	list_for_each_entry_safe(old, next, &domain->wishes, node)
		if (eventlog_wish_replaces(wish, old))
			eventlog_wish_remove(domain, old);
	if (!kept)
		return 0;
	list_add(&wish->node, &domain->wishes);
	domain->wish_count++;
	return 1;
}

static void eventlog_wish_apply(struct eventlog_domain *domain,
				const struct eventlog_program_wish *wish,
				struct eventlog_marker_wish *request)
{
	struct eventlog_event *event;
	unsigned long descriptor;
	u8 before;

	xa_for_each(&domain->definitions, descriptor, event) {
		cond_resched();
		if (!event->slot || !eventlog_wish_matches(wish, event))
			continue;
		before = event->handlers;
		eventlog_wishes_follow(event);
		request->matched++;
		request->changed += event->handlers != before;
	}
}

int eventlog_wish_add(struct eventlog_domain *domain, const char *program, const char *marker,
		      struct eventlog_marker_wish *request)
{
	struct eventlog_program_wish *wish = eventlog_wish_new(program, marker, request->handlers);
	int ret;

	request->matched = 0;
	request->changed = 0;
	if (!wish)
		return -ENOMEM;
	mutex_lock(&domain->lock);
	ret = eventlog_wish_enlist(domain, wish);
	/* One that is not kept has its events follow what is left: nothing. */
	if (ret >= 0)
		eventlog_wish_apply(domain, wish, request);
	mutex_unlock(&domain->lock);
	if (ret <= 0)
		eventlog_free(wish);
	return ret < 0 ? ret : 0;
}

const struct eventlog_program_wish *eventlog_wish_find(struct eventlog_domain *domain, u32 index)
{
	const struct eventlog_program_wish *wish;

	lockdep_assert_held(&domain->lock);
	list_for_each_entry_reverse(wish, &domain->wishes, node)
		if (!index--)
			return wish;
	return NULL;
}

void eventlog_wishes_drop_all(struct eventlog_domain *domain)
{
	struct eventlog_program_wish *wish, *next;

	list_for_each_entry_safe(wish, next, &domain->wishes, node)
		eventlog_wish_remove(domain, wish);
}
