// SPDX-License-Identifier: GPL-2.0-only
/*
 * New definitions: see draft.h.
 */
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "core/domain.h"
#include "core/draft.h"
#include "core/enable.h"
#include "core/event.h"
#include "core/expression.h"
#include "core/ops.h"
#include "core/sink.h"
#include "core/user.h"
#include "memory.h"

/* The last descriptor.  Tests use up most of them at once. */
static atomic_t eventlog_descriptors = ATOMIC_INIT(0);
#ifdef EVENTLOG_COUNT_STEPS
module_param_named(descriptors, eventlog_descriptors.counter, int, 0444);
MODULE_PARM_DESC(descriptors, "descriptors that count as used, as a signed number (0)");
#endif

/*
 * A descriptor that no domain has used, or 0: all u32 ids are used up.  The last ones are for
 * the kernel and for users without limits.
 */
static u32 eventlog_descriptor_new(const struct eventlog_user *user)
{
	u32 most = user ? U32_MAX - U32_MAX / EVENTLOG_EVENTS_RESERVED : U32_MAX;
	int old = atomic_read(&eventlog_descriptors);

	do {
		if ((u32)old >= most)
			return 0;
	} while (!atomic_try_cmpxchg(&eventlog_descriptors, &old, old + 1));
	return old + 1;
}

/* Memory for a definition; its descriptor is reserved. */
static struct eventlog_event *eventlog_event_alloc(struct eventlog_domain *domain,
						   struct eventlog_user *user,
						   const struct eventlog_fields *fields, u8 level,
						   u64 keywords)
{
	size_t name_bytes = strlen(fields->name) + 1;
	struct eventlog_event *event;
	int ret;

	event = eventlog_alloc(sizeof(*event) + name_bytes);
	if (!event)
		return ERR_PTR(-ENOMEM);
	event->descriptor = eventlog_descriptor_new(user);
	ret = -ENOSPC;
	if (!event->descriptor)
		goto err_free;
	ret = xa_reserve(&domain->definitions, event->descriptor, GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_free;
	refcount_set(&event->holders, 1);
	INIT_LIST_HEAD(&event->user_node);
	INIT_LIST_HEAD(&event->uses);
	INIT_LIST_HEAD(&event->sinks);
	INIT_LIST_HEAD(&event->stats);
	eventlog_event_users_get(event, user);
	event->domain = domain;
	event->level = level;
	event->keywords = keywords;
	event->trace.flags = fields->trace_flags;
	event->name = memcpy(event + 1, fields->name, name_bytes);
	return event;

err_free:
	eventlog_free(event);
	return ERR_PTR(ret);
}

/* Lends a draft what @fields owns, to match it with rules. */
static void eventlog_draft_fill(struct eventlog_draft *draft, struct eventlog_event *event,
				const struct eventlog_fields *fields)
{
	event->layout = fields->layout;
	event->fields_text = fields->text;
	event->tables = fields->tables;
	event->types = fields->types;
	draft->event = event;
}

/* Matches a draft with rules and policies that are new, without the lock. */
static int eventlog_draft_prepare(struct eventlog_draft *draft)
{
	return eventlog_enable_prepare(draft->event, &draft->place) ?:
	       eventlog_policy_ops->prepare(draft->event, &draft->policy);
}

/* Makes what a new definition needs, without the lock. */
static int eventlog_draft_make(struct eventlog_draft *draft,
			       const struct eventlog_event_request *request,
			       struct eventlog_user *user)
{
	struct eventlog_domain *domain = request->domain;
	struct eventlog_event *event;
	int ret;

	memset(draft, 0, sizeof(*draft));
	INIT_LIST_HEAD(&draft->place.node);
	/*
	 * Look for room before making anything; eventlog_event_get() looks again.  In an instance,
	 * its quota is reached first.
	 */
	if (!domain->user && READ_ONCE(domain->live) >= domain->events_max)
		return -ENOSPC;
	if (!eventlog_user_define(user))
		return -EDQUOT;
	draft->provider = eventlog_provider_alloc(request->provider);
	if (!draft->provider)
		return -ENOMEM;
	event = eventlog_event_alloc(domain, user, request->fields, request->level,
				     request->keywords);
	if (IS_ERR(event)) {
		eventlog_free(draft->provider);
		return PTR_ERR(event);
	}
	event->provider = draft->provider;
	eventlog_draft_fill(draft, event, request->fields);
	ret = eventlog_draft_prepare(draft);
	if (ret) {
		eventlog_draft_free(draft, domain);
		return ret;
	}
	if (eventlog_trace_ops)
		draft->layout = eventlog_trace_ops->prepare(event);
	return 0;
}

int eventlog_draft_make_kernel(struct eventlog_draft *draft, struct eventlog_domain *domain,
			       struct eventlog_provider_info *info,
			       const struct eventlog_fields *fields,
			       struct eventlog_provider_event *source)
{
	struct eventlog_event *event;
	int ret;

	memset(draft, 0, sizeof(*draft));
	INIT_LIST_HEAD(&draft->place.node);
	event = eventlog_event_alloc(domain, NULL, fields, source->level, source->keywords);
	if (IS_ERR(event))
		return PTR_ERR(event);
	event->source = source;
	event->id = source->id;
	event->state_dump = info->kernel->rundown_keywords & source->keywords;
	event->registrations = 1;
	event->provider = info;
	eventlog_draft_fill(draft, event, fields);
	ret = eventlog_draft_prepare(draft);
	if (ret)
		eventlog_draft_free(draft, domain);
	return ret;
}

bool eventlog_draft_is_prepared(struct eventlog_domain *domain,
				const struct eventlog_draft *draft)
{
	return eventlog_enable_is_prepared(domain, &draft->place) &&
	       draft->policy.version == domain->policy_version;
}

static void eventlog_draft_unbind(struct eventlog_draft *draft, struct eventlog_domain *domain)
{
	eventlog_domain_lock(domain);
	eventlog_enable_prepared(&draft->place);
	if (draft->event) {
		eventlog_sinks_end(draft->event);
		eventlog_event_stats_drop(draft->event);
	}
	eventlog_domain_unlock(domain);
}

void eventlog_draft_free(struct eventlog_draft *draft, struct eventlog_domain *domain)
{
	if (draft->event || (draft->place.node.next && !list_empty(&draft->place.node)))
		eventlog_draft_unbind(draft, domain);
	eventlog_sinks_reap(domain);
	if (draft->event) {
		xa_release(&domain->definitions, draft->event->descriptor);
		eventlog_event_users_put(draft->event);
		eventlog_free(draft->event);
	}
	eventlog_expression_put(draft->policy.filter);
	eventlog_free(draft->provider);
	if (draft->layout)
		eventlog_trace_ops->layout_free(draft->layout);
	/* Callers that make several drafts free all of them, also those that failed. */
	memset(draft, 0, sizeof(*draft));
}

/* As eventlog_event_register(), with or without a draft. */
static struct eventlog_event *
eventlog_event_try_register(struct eventlog_event_request *request,
			    struct eventlog_draft *draft, struct eventlog_event_use *use)
{
	struct eventlog_event *event;
	int ret;

	eventlog_domain_lock(request->domain);
	ret = request->admit ? request->admit(request) : 0;
	event = ret ? ERR_PTR(ret) : eventlog_event_get(request, draft);
	if (!IS_ERR(event)) {
		eventlog_event_use(event, use);
		if (request->registered)
			request->registered(request, event);
	}
	eventlog_domain_unlock(request->domain);
	return event;
}

struct eventlog_event *eventlog_event_register(struct eventlog_event_request *request,
					       struct eventlog_event_use *use)
{
	struct eventlog_event *event;
	struct eventlog_draft draft;
	int ret;

	event = eventlog_event_try_register(request, NULL, use);
	if (event != ERR_PTR(-ENOENT))
		return event;
	ret = eventlog_draft_make(&draft, request, use->user);
	if (ret)
		return ERR_PTR(ret);
	do {
		event = eventlog_event_try_register(request, &draft, use);
		ret = event == ERR_PTR(-EAGAIN) ? eventlog_draft_prepare(&draft) : 0;
		if (ret)
			event = ERR_PTR(ret);
	} while (event == ERR_PTR(-EAGAIN));
	eventlog_draft_free(&draft, request->domain);
	return event;
}
