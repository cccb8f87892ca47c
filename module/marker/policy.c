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

#include "core/domain.h"
#include "core/event.h"
#include "memory.h"
#include "core/filter.h"
#include "marker/policy.h"

static struct eventlog_program_wish *
eventlog_wish_new(const char *program, const char *marker, struct eventlog_expression *expression,
		  const struct eventlog_marker_wish *request)
{
	size_t program_bytes = strlen(program) + 1, marker_bytes = strlen(marker) + 1;
	struct eventlog_program_wish *wish;

	wish = eventlog_alloc(sizeof(*wish) + program_bytes + marker_bytes);
	if (!wish)
		return NULL;
	if (expression) {
		refcount_inc(&expression->users);
		wish->expression = expression;
	}
	wish->operation = request->operation;
	wish->handlers = request->handlers;
	memcpy(wish->program, program, program_bytes);
	memcpy(wish->program + program_bytes, marker, marker_bytes);
	wish->marker = wish->program + program_bytes;
	return wish;
}

static void eventlog_wish_free(struct eventlog_program_wish *wish)
{
	eventlog_expression_put(wish->expression);
	eventlog_free(wish);
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

/* ---- what a predicate can be about ---- */

/* Types of fields, as fields.c writes them, that markers of programs have. */
static const struct {
	const char *name;
	u8 type;
} eventlog_field_types[] = {
	{ "u8", EVENTLOG_MARKER_U8 },		{ "s8", EVENTLOG_MARKER_S8 },
	{ "u16", EVENTLOG_MARKER_U16 },		{ "s16", EVENTLOG_MARKER_S16 },
	{ "u32", EVENTLOG_MARKER_U32 },		{ "s32", EVENTLOG_MARKER_S32 },
	{ "u64", EVENTLOG_MARKER_U64 },		{ "s64", EVENTLOG_MARKER_S64 },
	{ "string", EVENTLOG_MARKER_STRING },
};

static bool eventlog_is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(text, word, length);
}

/* Looks through lines of the form "\tTYPE NAME\n". */
static int eventlog_program_field(const void *of, const char *name, u8 *type)
{
	const struct eventlog_event *event = of;
	const char *line, *space, *end;
	unsigned int i, field = 0;

	for (line = event->fields_text; *line && field < EVENTLOG_ASK_VALUES_MAX; field++) {
		line++;
		space = strchr(line, ' ');
		end = strchr(line, '\n');
		if (eventlog_is_word(space + 1, end - space - 1, name)) {
			for (i = 0; i < ARRAY_SIZE(eventlog_field_types); i++) {
				if (!eventlog_is_word(line, space - line,
						      eventlog_field_types[i].name))
					continue;
				*type = eventlog_field_types[i].type;
				return field;
			}
			return -EINVAL;
		}
		line = end + 1;
	}
	return -ENOENT;
}

static struct eventlog_subject eventlog_program_subject(const struct eventlog_event *event)
{
	BUILD_BUG_ON(EVENTLOG_ASK_VALUES_MAX > EVENTLOG_MARKER_FIELDS_MAX);
	return (struct eventlog_subject){ .find = eventlog_program_field, .of = event };
}

static bool eventlog_wish_fits(const struct eventlog_program_wish *wish,
			       const struct eventlog_event *event)
{
	struct eventlog_subject subject = eventlog_program_subject(event);

	return !wish->expression || eventlog_predicate_fits(wish->expression, &subject);
}

/* ---- following ---- */

static struct eventlog_predicate *eventlog_event_predicate(const struct eventlog_event *event)
{
	return rcu_dereference_protected(event->predicate,
					 lockdep_is_held(&event->domain->lock));
}

/* What an event does, and which predicate that is subject to. */
static u8 eventlog_event_handlers(const struct eventlog_event *event,
				  struct eventlog_expression **expression)
{
	const struct eventlog_predicate *predicate = eventlog_event_predicate(event);

	*expression = predicate ? predicate->expression : NULL;
	return predicate ? predicate->handlers : event->handlers;
}

/* Has an event do this; without handlers there is no predicate. */
static bool eventlog_event_switch(struct eventlog_event *event, u8 handlers,
				  struct eventlog_expression *expression)
{
	struct eventlog_predicate *predicate = NULL, *old = eventlog_event_predicate(event);
	struct eventlog_subject subject = eventlog_program_subject(event);
	struct eventlog_expression *before;

	if (handlers == eventlog_event_handlers(event, &before) && expression == before)
		return false;
	if (expression) {
		predicate = eventlog_predicate_bind(expression, &subject);
		if (IS_ERR_OR_NULL(predicate))
			predicate = NULL;
		else
			predicate->handlers = handlers;
		handlers = 0;
	}
	/* Never are there handlers here that are subject to a predicate. */
	WRITE_ONCE(event->handlers, handlers);
	rcu_assign_pointer(event->predicate, predicate);
	eventlog_domain_handlers_set(event->domain, event->slot, handlers, predicate);
	if (old) {
		old->next = NULL;
		eventlog_predicates_free(old);
	}
	return true;
}

u8 eventlog_wishes_state(const struct eventlog_event *event)
{
	struct eventlog_expression *expression;

	return eventlog_event_handlers(event, &expression);
}

/* Carries all wishes out. */
static bool eventlog_event_follow(struct eventlog_event *event)
{
	struct eventlog_expression *expression = NULL;
	const struct eventlog_program_wish *wish;
	u8 handlers = 0;

	list_for_each_entry(wish, &event->domain->wishes, node) {
		if (!eventlog_wish_matches(wish, event) || !eventlog_wish_fits(wish, event))
			continue;
		if (wish->operation == EVENTLOG_MARKER_ADD) {
			handlers |= wish->handlers;
			expression = wish->expression;
		} else {
			handlers &= ~wish->handlers;
		}
		if (!handlers)
			expression = NULL;
	}
	return eventlog_event_switch(event, handlers, expression);
}

void eventlog_wishes_follow(struct eventlog_event *event)
{
	lockdep_assert_held(&event->domain->lock);
	eventlog_event_follow(event);
}

void eventlog_wishes_leave(struct eventlog_event *event)
{
	eventlog_event_switch(event, 0, NULL);
}

/* ---- asking ---- */

u16 eventlog_wish_strings(const struct eventlog_event *event)
{
	const struct eventlog_predicate *predicate = rcu_dereference(event->predicate);

	return predicate ? predicate->strings : 0;
}

int eventlog_wish_ask(const struct eventlog_event *event, const u64 *values, unsigned int count,
		      u16 strings)
{
	const struct eventlog_predicate *predicate = rcu_dereference(event->predicate);
	u16 sources;

	if (!predicate)
		return READ_ONCE(event->handlers);
	sources = predicate->strings | predicate->numbers;
	if (sources >> count)
		return -EINVAL;
	if (predicate->strings & ~strings || predicate->numbers & strings)
		return -EAGAIN;
	return eventlog_predicate_holds(predicate, values) ? predicate->handlers : 0;
}

/* ---- wishing ---- */

static void eventlog_wish_remove(struct eventlog_domain *domain, struct eventlog_program_wish *wish)
{
	list_del(&wish->node);
	domain->wish_count--;
	eventlog_wish_free(wish);
}

static bool eventlog_glob_covers(const char *glob, const char *other)
{
	return !strcmp(glob, "*") || !strcmp(glob, other);
}

/* Does an earlier wish make no difference any more? */
static bool eventlog_wish_replaces(const struct eventlog_program_wish *wish,
				   const struct eventlog_program_wish *old)
{
	bool fewer = !(old->handlers & ~wish->handlers);

	if (!eventlog_glob_covers(wish->program, old->program) ||
	    !eventlog_glob_covers(wish->marker, old->marker))
		return false;
	if (wish->operation == EVENTLOG_MARKER_REMOVE)
		return wish->handlers == EVENTLOG_WISH_HANDLERS ||
		       (fewer && old->operation == EVENTLOG_MARKER_REMOVE);
	if (!wish->expression)
		return fewer;
	/* What the new predicate does not fit has been left alone by the old one, too. */
	return fewer && old->expression &&
	       eventlog_expression_fits_where(wish->expression, old->expression);
}

/* Return: whether it has been kept, or -ENOSPC. */
static int eventlog_wish_enlist(struct eventlog_domain *domain, struct eventlog_program_wish *wish)
{
	struct eventlog_program_wish *old, *next;
	unsigned int replaced = 0;
	bool kept;

	list_for_each_entry(old, &domain->wishes, node)
		replaced += eventlog_wish_replaces(wish, old);
	kept = wish->operation == EVENTLOG_MARKER_ADD || domain->wish_count > replaced;
	if (kept && domain->wish_count - replaced >= EVENTLOG_WISHES_MAX)
		return -ENOSPC;
	list_for_each_entry_safe(old, next, &domain->wishes, node)
		if (eventlog_wish_replaces(wish, old))
			eventlog_wish_remove(domain, old);
	if (!kept)
		return 0;
	list_add_tail(&wish->node, &domain->wishes);
	domain->wish_count++;
	return 1;
}

static void eventlog_wish_apply(struct eventlog_domain *domain,
				const struct eventlog_program_wish *wish,
				struct eventlog_marker_wish *request)
{
	struct eventlog_event *event;
	unsigned long descriptor;

	xa_for_each(&domain->definitions, descriptor, event) {
		cond_resched();
		if (!event->slot || !eventlog_wish_matches(wish, event))
			continue;
		request->matched++;
		request->unfit += !eventlog_wish_fits(wish, event);
		request->changed += eventlog_event_follow(event);
	}
}

int eventlog_wish_add(struct eventlog_domain *domain, const char *program, const char *marker,
		      struct eventlog_expression *expression,
		      struct eventlog_marker_wish *request)
{
	struct eventlog_program_wish *wish;
	int ret;

	request->matched = 0;
	request->changed = 0;
	request->unfit = 0;
	wish = eventlog_wish_new(program, marker, expression, request);
	if (!wish)
		return -ENOMEM;
	mutex_lock(&domain->lock);
	ret = eventlog_wish_enlist(domain, wish);
	/* One that is not kept has its events follow what is left. */
	if (ret >= 0)
		eventlog_wish_apply(domain, wish, request);
	mutex_unlock(&domain->lock);
	if (ret <= 0)
		eventlog_wish_free(wish);
	return ret < 0 ? ret : 0;
}

const struct eventlog_program_wish *eventlog_wish_find(struct eventlog_domain *domain, u32 index)
{
	const struct eventlog_program_wish *wish;

	lockdep_assert_held(&domain->lock);
	list_for_each_entry(wish, &domain->wishes, node)
		if (!index--)
			return wish;
	return NULL;
}

u32 eventlog_wish_text(const struct eventlog_program_wish *wish, char *text)
{
	/* The globs are one behind the other already. */
	u32 globs = wish->marker - wish->program + strlen(wish->marker) + 1;
	const char *predicate = wish->expression ? wish->expression->text : "";

	memcpy(text, wish->program, globs);
	memcpy(text + globs, predicate, strlen(predicate) + 1);
	return globs + strlen(predicate) + 1;
}

void eventlog_wishes_drop_all(struct eventlog_domain *domain)
{
	struct eventlog_program_wish *wish, *next;

	list_for_each_entry_safe(wish, next, &domain->wishes, node)
		eventlog_wish_remove(domain, wish);
}
