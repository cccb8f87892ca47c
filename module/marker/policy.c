// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies for markers of programs: see policy.h.
 */
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "common/field_type.h"
#include "core/domain.h"
#include "core/event.h"
#include "core/filter.h"
#include "core/glob.h"
#include "core/ops.h"
#include "core/schema.h"
#include "memory.h"
#include "marker/policy.h"

static struct eventlog_policy *eventlog_policy_new(const char *program, const char *marker,
						   struct eventlog_expression *expression,
						   const struct eventlog_marker_set *request)
{
	size_t program_bytes = strlen(program) + 1, marker_bytes = strlen(marker) + 1;
	struct eventlog_policy *policy;

	policy = eventlog_alloc(sizeof(*policy) + program_bytes + marker_bytes);
	if (!policy)
		return NULL;
	if (expression) {
		refcount_inc(&expression->users);
		policy->expression = expression;
	}
	policy->operation = request->operation;
	policy->handlers = request->handlers;
	memcpy(policy->program, program, program_bytes);
	memcpy(policy->program + program_bytes, marker, marker_bytes);
	policy->marker = policy->program + program_bytes;
	return policy;
}

static void eventlog_policy_free(struct eventlog_policy *policy)
{
	eventlog_expression_put(policy->expression);
	eventlog_free(policy);
}

/* The program of an event that is a marker of a program, or NULL. */
static const char *eventlog_event_program(const struct eventlog_event *event)
{
	const char *name = event->provider->name;
	size_t length = strlen(EVENTLOG_PROGRAM_PREFIX);

	/* Markers are registered without a schema. */
	if (event->provider->kernel || event->source || event->tables ||
	    strncmp(name, EVENTLOG_PROGRAM_PREFIX, length))
		return NULL;
	return name + length;
}

static bool eventlog_policy_matches(const struct eventlog_policy *policy,
				    const struct eventlog_event *event)
{
	const char *program = eventlog_event_program(event);

	return program && eventlog_glob_match(event->domain, policy->program, program) &&
	       eventlog_glob_match(event->domain, policy->marker, event->name);
}

/* ---- fields ---- */

static bool eventlog_is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(text, word, length);
}

/* See struct eventlog_subject. */
static int eventlog_program_field(const void *of, const char *name,
				  struct eventlog_operand *operand)
{
	const struct eventlog_event *event = of;
	const char *next = event->fields_text;
	struct eventlog_field_line line;
	unsigned int index, field;

	for (field = 0; field < EVENTLOG_MARKER_FIELDS_MAX; field++) {
		next = eventlog_field_line_next(next, &line);
		if (!next)
			break;
		if (!eventlog_is_word(line.name, line.name_length, name))
			continue;
		index = eventlog_field_type_find(line.type, line.type_length);
		if (!index || index >= EVENTLOG_MARKER_TYPES)
			return -EINVAL;
		eventlog_operand_value(operand, index, field);
		return 0;
	}
	return -ENOENT;
}

static struct eventlog_subject eventlog_program_subject(const struct eventlog_event *event)
{
	return (struct eventlog_subject){ .find = eventlog_program_field, .of = event };
}

static bool eventlog_policy_fits(const struct eventlog_policy *policy,
				 const struct eventlog_event *event)
{
	struct eventlog_subject subject = eventlog_program_subject(event);

	if (!policy->expression)
		return true;
	eventlog_domain_work(event->domain, policy->expression->terms.count);
	return eventlog_terms_fit(&policy->expression->terms, &subject);
}

/* ---- handlers of an event ---- */

static u32 eventlog_filter_version_next(struct eventlog_domain *domain)
{
	/* 0 is no filter. */
	if (!++domain->filter_version)
		domain->filter_version++;
	return domain->filter_version;
}

/* Sets handlers and filter; without handlers there is no filter. */
static bool eventlog_event_switch(struct eventlog_event *event, u8 handlers,
				  struct eventlog_expression *filter)
{
	struct eventlog_event_policy *state = &event->policy;

	if (handlers == state->handlers && filter == state->filter)
		return false;
	if (filter)
		refcount_inc(&filter->users);
	eventlog_expression_put(state->filter);
	state->filter = filter;
	state->handlers = handlers;
	state->version = filter ? eventlog_filter_version_next(event->domain) : 0;
	state->incompatible = false;
	eventlog_domain_handlers_set(event->domain, event->slot, handlers, filter);
	return true;
}

/* What a policy that applies to an event makes of its handlers and filter. */
static void eventlog_policy_fold(const struct eventlog_policy *policy, u8 *handlers,
				 struct eventlog_expression **filter)
{
	if (policy->operation == EVENTLOG_MARKER_OP_ADD) {
		*handlers |= policy->handlers;
		*filter = policy->expression;
	} else {
		*handlers &= ~policy->handlers;
	}
	if (!*handlers)
		*filter = NULL;
}

/*
 * Applies the policies to a draft, in their order, until a batch is done.
 *
 * Return: the last one; NULL: there are no more.
 */
static const struct eventlog_policy *
eventlog_policies_fold(const struct eventlog_event *event, struct eventlog_policy_draft *draft,
		       const struct eventlog_policy *policy)
{
	struct eventlog_domain *domain = event->domain;

	list_for_each_entry_continue(policy, &domain->policies, node) {
		if (eventlog_policy_matches(policy, event) && eventlog_policy_fits(policy, event))
			eventlog_policy_fold(policy, &draft->handlers, &draft->filter);
		if (domain->work >= EVENTLOG_BATCH_STEPS)
			return policy;
	}
	return NULL;
}

static int eventlog_policies_prepare(const struct eventlog_event *event,
				     struct eventlog_policy_draft *draft)
{
	struct eventlog_domain *domain = event->domain;
	const struct eventlog_policy *policy = NULL;
	int ret = 0;

	eventlog_expression_put(draft->filter);
	draft->filter = NULL;
	draft->version = U64_MAX;
	eventlog_domain_lock(domain);
	do {
		/* As long as the version is the same, all policies exist. */
		if (draft->version != domain->policy_version) {
			*draft = (struct eventlog_policy_draft){
				.version = domain->policy_version,
			};
			policy = list_entry(&domain->policies, struct eventlog_policy, node);
		}
		policy = eventlog_policies_fold(event, draft, policy);
		if (policy && eventlog_domain_pause(domain) && fatal_signal_pending(current))
			ret = -EINTR;
	} while (policy && !ret);
	if (ret)
		draft->filter = NULL;
	if (draft->filter)
		refcount_inc(&draft->filter->users);
	eventlog_domain_unlock(domain);
	return ret;
}

/*
 * Does not change the generation: no program has a filter of an event that comes to life
 * or ends.
 */
static void eventlog_policies_apply(struct eventlog_event *event,
				    const struct eventlog_policy_draft *draft)
{
	lockdep_assert_held(&event->domain->lock);
	eventlog_event_switch(event, draft->handlers, draft->filter);
}

static void eventlog_policies_remove(struct eventlog_event *event)
{
	eventlog_event_switch(event, 0, NULL);
	event->policy.tested = 0;
}

/* ---- what programs get ---- */

static u32 eventlog_policies_state(const struct eventlog_event *event)
{
	const struct eventlog_event_policy *state = &event->policy;

	return (state->handlers & EVENTLOG_MARKER_PRINT ? EVENTLOG_DESCRIBED_PRINT : 0) |
	       (state->handlers & EVENTLOG_MARKER_PROBE ? EVENTLOG_DESCRIBED_PROBE : 0) |
	       (state->incompatible ? EVENTLOG_DESCRIBED_INCOMPATIBLE : 0);
}

/* Does a term compare a pid or tid with a number, and not a field of that name? */
static bool eventlog_term_is_pid(const struct eventlog_event *event,
				 const struct eventlog_expression *expression,
				 const struct eventlog_term *term)
{
	const char *name = eventlog_term_name(&expression->terms, term);
	struct eventlog_operand operand;

	if (!(term->flags & EVENTLOG_TERM_NUMBER) || term->flags & EVENTLOG_TERM_NEGATIVE ||
	    (strcmp(name, "pid") && strcmp(name, "tid")))
		return false;
	return term->flags & EVENTLOG_TERM_COMMON ||
	       eventlog_program_field(event, name, &operand) == -ENOENT;
}

static void eventlog_policies_filter(const struct eventlog_event *event,
				     struct eventlog_policy_filter *filter)
{
	struct eventlog_expression *expression = event->policy.filter;
	unsigned int i;

	BUILD_BUG_ON(EVENTLOG_TERMS_MAX > BITS_PER_LONG_LONG);
	lockdep_assert_held(&event->domain->lock);
	*filter = (struct eventlog_policy_filter){
		.expression = expression,
		.version = event->policy.version,
		.handlers = event->policy.handlers,
	};
	if (!expression)
		return;
	refcount_inc(&expression->users);
	for (i = 0; i < expression->terms.count; i++)
		if (eventlog_term_is_pid(event, expression, &expression->array[i]))
			filter->pids |= 1ULL << i;
}

static int eventlog_policies_incompatible(struct eventlog_event *event, u32 version)
{
	lockdep_assert_held(&event->domain->lock);
	if (version != event->policy.version)
		return -ESTALE;
	event->policy.incompatible = true;
	return 0;
}

/* ---- the list of policies ---- */

static void eventlog_policy_remove(struct eventlog_domain *domain,
				   struct eventlog_policy *policy)
{
	list_del(&policy->node);
	domain->policy_count--;
	eventlog_policy_free(policy);
}

static bool eventlog_glob_covers(const char *glob, const char *other)
{
	return !strcmp(glob, "*") || !strcmp(glob, other);
}

/* Does @policy make the earlier policy @old useless? */
static bool eventlog_policy_replaces(const struct eventlog_policy *policy,
				     const struct eventlog_policy *old)
{
	bool fewer = !(old->handlers & ~policy->handlers);

	if (!eventlog_glob_covers(policy->program, old->program) ||
	    !eventlog_glob_covers(policy->marker, old->marker))
		return false;
	if (policy->operation == EVENTLOG_MARKER_OP_REMOVE)
		return policy->handlers == EVENTLOG_POLICY_HANDLERS ||
		       (fewer && old->operation == EVENTLOG_MARKER_OP_REMOVE);
	if (!policy->expression)
		return fewer;
	/* The old one did not apply to any marker that the new filter does not fit. */
	return fewer && old->expression &&
	       eventlog_expression_fits_where(policy->expression, old->expression);
}

/*
 * Adds a policy and removes those it makes useless.
 *
 * Return: 1; 0: the policy itself has no effect and was not added; or -ENOSPC.
 */
static int eventlog_policy_insert(struct eventlog_domain *domain,
				  struct eventlog_policy *policy)
{
	struct eventlog_policy *old, *next;
	unsigned int replaced = 0;
	bool kept;

	list_for_each_entry(old, &domain->policies, node)
		replaced += eventlog_policy_replaces(policy, old);
	kept = policy->operation == EVENTLOG_MARKER_OP_ADD || domain->policy_count > replaced;
	/* Also if all ids are used up. */
	if (kept && (domain->policy_count - replaced >= EVENTLOG_POLICIES_MAX ||
		     domain->policy_id == U32_MAX))
		return -ENOSPC;
	list_for_each_entry_safe(old, next, &domain->policies, node)
		if (eventlog_policy_replaces(policy, old))
			eventlog_policy_remove(domain, old);
	domain->policy_version++;
	if (!kept)
		return 0;
	policy->id = ++domain->policy_id;
	list_add_tail(&policy->node, &domain->policies);
	domain->policy_count++;
	return 1;
}

/* What a test of an event with a policy finds. */
enum eventlog_policy_fit {
	EVENTLOG_POLICY_OTHER,		/* the policy is for other markers */
	EVENTLOG_POLICY_INCOMPATIBLE,	/* the marker lacks a field of the filter */
	EVENTLOG_POLICY_FITS,
};

static void eventlog_policy_test(const struct eventlog_policy *policy, struct eventlog_event *event)
{
	struct eventlog_event_policy *state = &event->policy;

	state->tested = event->domain->policy_tests;
	state->fit = EVENTLOG_POLICY_OTHER;
	if (eventlog_policy_matches(policy, event))
		state->fit = eventlog_policy_fits(policy, event) ? EVENTLOG_POLICY_FITS :
								   EVENTLOG_POLICY_INCOMPATIBLE;
}

/*
 * Tests all events with a new policy before anything is changed: this takes long, so a
 * fatal signal ends it.
 */
static int eventlog_policy_test_all(struct eventlog_domain *domain,
				    const struct eventlog_policy *policy)
{
	struct eventlog_event *event;
	unsigned long descriptor;
	int ret = 0;

	lockdep_assert_held(&domain->policy_lock);
	eventlog_domain_lock(domain);
	domain->policy_tests++;
	xa_for_each(&domain->definitions, descriptor, event) {
		eventlog_domain_work(domain, 1);
		if (event->slot)
			eventlog_policy_test(policy, event);
		if (eventlog_domain_pause(domain) && fatal_signal_pending(current)) {
			ret = -EINTR;
			break;
		}
	}
	eventlog_domain_unlock(domain);
	return ret;
}

/*
 * Applies a policy, which is the newest one, to an event.  Older policies have been applied
 * before.  Those that it has replaced would not make a difference.
 */
static bool eventlog_policy_apply(const struct eventlog_policy *policy,
				  struct eventlog_event *event,
				  struct eventlog_marker_set *request)
{
	struct eventlog_event_policy *state = &event->policy;
	struct eventlog_expression *filter = state->filter;
	u8 handlers = state->handlers;
	bool changed;

	/* The event has come to life since. */
	if (state->tested != event->domain->policy_tests)
		eventlog_policy_test(policy, event);
	if (state->fit == EVENTLOG_POLICY_OTHER)
		return false;
	request->matched++;
	if (state->fit == EVENTLOG_POLICY_INCOMPATIBLE) {
		request->incompatible++;
		return false;
	}
	eventlog_policy_fold(policy, &handlers, &filter);
	changed = eventlog_event_switch(event, handlers, filter);
	request->changed += changed;
	return changed;
}

/* Changes the generation after each batch, so that no program uses an old filter for long. */
static void eventlog_policy_apply_all(struct eventlog_domain *domain,
				      const struct eventlog_policy *policy, bool changed,
				      struct eventlog_marker_set *request)
{
	struct eventlog_event *event;
	unsigned long descriptor;

	xa_for_each(&domain->definitions, descriptor, event) {
		eventlog_domain_work(domain, 1);
		if (event->slot)
			changed |= eventlog_policy_apply(policy, event, request);
		if (domain->work < EVENTLOG_BATCH_STEPS)
			continue;
		if (changed)
			eventlog_domain_generation_bump(domain);
		changed = false;
		eventlog_domain_pause(domain);
		if (domain->dead)
			return;
	}
	if (changed)
		eventlog_domain_generation_bump(domain);
}

/*
 * Adds a tested policy to the list, and applies it.
 *
 * Return: as eventlog_policy_insert().
 */
static int eventlog_policy_add_tested(struct eventlog_domain *domain,
				      struct eventlog_policy *policy,
				      struct eventlog_marker_set *request)
{
	unsigned int count;
	int ret;

	eventlog_domain_lock(domain);
	count = domain->policy_count;
	ret = domain->dead ? -ENODEV : eventlog_policy_insert(domain, policy);
	if (ret >= 0) {
		request->policy = policy->id;
		eventlog_policy_apply_all(domain, policy, ret || domain->policy_count != count,
					  request);
	}
	eventlog_domain_unlock(domain);
	return ret;
}

int eventlog_policy_add(struct eventlog_domain *domain, const char *program, const char *marker,
			struct eventlog_expression *expression,
			struct eventlog_marker_set *request)
{
	struct eventlog_policy *policy;
	int ret;

	request->matched = 0;
	request->changed = 0;
	request->incompatible = 0;
	request->denied = 0;
	request->policy = 0;
	policy = eventlog_policy_new(program, marker, expression, request);
	if (!policy)
		return -ENOMEM;
	ret = mutex_lock_killable(&domain->policy_lock);
	if (ret)
		goto out;
	ret = eventlog_policy_test_all(domain, policy);
	if (!ret)
		ret = eventlog_policy_add_tested(domain, policy, request);
	mutex_unlock(&domain->policy_lock);
out:
	if (ret <= 0)
		eventlog_policy_free(policy);
	return ret < 0 ? ret : 0;
}

void eventlog_policies_drop_all(struct eventlog_domain *domain)
{
	struct eventlog_policy *policy, *next;

	list_for_each_entry_safe(policy, next, &domain->policies, node)
		eventlog_policy_remove(domain, policy);
}

static const struct eventlog_policy_ops eventlog_policies_ops = {
	.prepare = eventlog_policies_prepare,
	.apply = eventlog_policies_apply,
	.remove = eventlog_policies_remove,
	.state = eventlog_policies_state,
	.filter = eventlog_policies_filter,
	.incompatible = eventlog_policies_incompatible,
};

void eventlog_policies_init(void)
{
	eventlog_policy_ops = &eventlog_policies_ops;
}
