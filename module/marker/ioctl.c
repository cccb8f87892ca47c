// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of markers: see ioctl.h.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/domain.h"
#include "core/filter.h"
#include "core/ioctl.h"
#include "core/list.h"
#include "marker/ioctl.h"
#include "marker/marker.h"
#include "marker/policy.h"
#include "memory.h"

/* The marker of an event, or NULL. */
static struct eventlog_marker *eventlog_marker_of(const struct eventlog_event *event)
{
	const struct eventlog_provider *provider = event->provider->kernel;

	if (!event->source || !provider || provider->update != eventlog_marker_update)
		return NULL;
	return container_of(event->source, struct eventlog_marker, event);
}

/* Adds a marker.  The domain is locked, and update_lock is held. */
static bool eventlog_marker_put(struct eventlog_batch *batch, const struct eventlog_event *event,
				const struct eventlog_marker *marker)
{
	struct eventlog_expression *expression;
	struct eventlog_marker_info info = {
		.descriptor = event->descriptor,
		.handlers = READ_ONCE(marker->handlers),
		.defaults = marker->defaults,
		.allowed = marker->allowed,
		.active = READ_ONCE(marker->active) & EVENTLOG_MARKER_HANDLERS,
		.line = marker->line,
		.ordinal = marker->ordinal,
		.id = marker->id,
		.suppressed = (unsigned long)atomic_long_read(&marker->suppressed),
	};
	struct eventlog_text text = eventlog_batch_text(batch, sizeof(info));

	expression = eventlog_marker_filter(marker, &info.rejected);
	info.filtered = !!expression;
	eventlog_batch_string(&text, event->provider->kernel->owner->name);
	eventlog_batch_string(&text, marker->tag);
	eventlog_batch_string(&text, marker->path);
	eventlog_batch_string(&text, marker->function);
	eventlog_batch_string(&text, expression ? expression->text : NULL);
	eventlog_expression_put(expression);
	return eventlog_batch_put(batch, &info, sizeof(info), &text);
}

/*
 * Adds the markers among the next definitions, of which users may have made many.
 *
 * Return: 1; 0: there are no more definitions; -ENOSPC: there is no room for a marker.
 */
static int eventlog_markers_put(struct eventlog_batch *batch, struct eventlog_domain *domain)
{
	unsigned long descriptor = batch->cursor;
	const struct eventlog_marker *marker;
	const struct eventlog_event *event;
	unsigned int locked;
	int ret = 1;

	/* With update_lock, handlers and filter belong together. */
	mutex_lock(&domain->update_lock);
	eventlog_domain_lock(domain);
	for (locked = 0; ret > 0 && locked < EVENTLOG_LIST_LOCKED; locked++) {
		event = xa_find_after(&domain->definitions, &descriptor, U32_MAX, XA_PRESENT);
		marker = event ? eventlog_marker_of(event) : NULL;
		if (!event)
			ret = 0;
		else if (marker && !eventlog_marker_put(batch, event, marker))
			ret = -ENOSPC;
		else
			batch->cursor = descriptor;
	}
	eventlog_steps_add(&domain->steps, locked);
	eventlog_domain_unlock(domain);
	mutex_unlock(&domain->update_lock);
	return ret;
}

static int eventlog_markers_fill(struct eventlog_batch *batch, struct eventlog_domain *domain,
				 struct file *filp, const struct eventlog_list *request)
{
	unsigned int looked_at;
	int ret = batch->cursor <= U32_MAX;

	for (looked_at = 0; ret > 0 && looked_at < EVENTLOG_LIST_CALL;
	     looked_at += EVENTLOG_LIST_LOCKED) {
		ret = eventlog_markers_put(batch, domain);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return ret == -ENOSPC ? 1 : ret;
}

static const struct eventlog_list_ops eventlog_markers_list = {
	.fill = eventlog_markers_fill, .capable = true,
};

static bool eventlog_policy_valid(const struct eventlog_marker_set *request)
{
	if (request->flags != EVENTLOG_MARKER_SET_PROGRAMS || request->id ||
	    request->descriptor || !request->handlers ||
	    request->handlers & ~EVENTLOG_POLICY_HANDLERS ||
	    request->operation > EVENTLOG_MARKER_OP_REMOVE)
		return false;
	/* A filter makes sense only for handlers that are switched on. */
	return !request->filter || request->operation == EVENTLOG_MARKER_OP_ADD;
}

static bool eventlog_marker_set_valid(const struct eventlog_marker_set *request)
{
	if (request->flags & EVENTLOG_MARKER_SET_PROGRAMS)
		return eventlog_policy_valid(request);
	if (request->flags & ~EVENTLOG_MARKER_SET_ID ||
	    request->handlers & ~EVENTLOG_MARKER_HANDLERS ||
	    request->operation > EVENTLOG_MARKER_OP_REPLACE ||
	    (request->id && !(request->flags & EVENTLOG_MARKER_SET_ID)))
		return false;
	/* A filter makes sense only for handlers that are switched on. */
	return !request->filter || request->operation == EVENTLOG_MARKER_OP_ADD ||
	       (request->operation == EVENTLOG_MARKER_OP_REPLACE && request->handlers);
}

/**
 * struct eventlog_marker_change - what MARKER_SET copies in
 * @owner: glob over modules or programs
 * @marker: glob over markers
 * @expression: the filter, or NULL
 */
struct eventlog_marker_change {
	char *owner;
	char *marker;
	struct eventlog_expression *expression;
};

static void eventlog_marker_change_free(struct eventlog_marker_change *change)
{
	eventlog_expression_put(change->expression);
	kfree(change->marker);
	kfree(change->owner);
}

/* Addresses of 0 stand for all owners, all markers, no filter. */
static int eventlog_marker_change_get(struct eventlog_marker_change *change,
				      const struct eventlog_marker_set *request)
{
	int ret;

	change->owner = eventlog_string_get_or(request->owner, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(change->owner))
		return PTR_ERR(change->owner);
	change->marker = eventlog_string_get_or(request->marker, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(change->marker)) {
		ret = PTR_ERR(change->marker);
		goto err_owner;
	}
	change->expression = eventlog_expression_get(request->filter);
	if (IS_ERR(change->expression)) {
		ret = PTR_ERR(change->expression);
		goto err_marker;
	}
	return 0;

err_marker:
	kfree(change->marker);
err_owner:
	kfree(change->owner);
	return ret;
}

/* Markers of modules belong to the root. */
static int eventlog_marker_change_make(const struct eventlog_marker_change *change,
				       struct eventlog_domain *domain,
				       struct eventlog_marker_set *request)
{
	request->policy = 0;
	if (request->flags & EVENTLOG_MARKER_SET_PROGRAMS)
		return eventlog_policy_add(domain, change->owner, change->marker,
					   change->expression, request);
	if (domain->id)
		return -ENOENT;
	return eventlog_markers_switch(change->owner, change->marker, change->expression, request);
}

static int eventlog_ioctl_marker_set(struct eventlog_domain *domain, struct file *filp,
				     void *argument, void __user *user)
{
	struct eventlog_marker_set *request = argument;
	struct eventlog_marker_change change;
	int ret;

	if (!eventlog_marker_set_valid(request))
		return -EINVAL;
	if (!eventlog_capable(domain, filp))
		return -EPERM;
	ret = eventlog_marker_change_get(&change, request);
	if (ret)
		return ret;
	/* Check first that results can be copied out: otherwise nothing is changed. */
	ret = eventlog_argument_put(user, request, sizeof(*request)) ?:
	      eventlog_marker_change_make(&change, domain, request);
	/* A caller that has lost the memory meanwhile does not get the results. */
	if (!ret)
		eventlog_argument_put(user, request, sizeof(*request));
	eventlog_marker_change_free(&change);
	return ret;
}

/* There are at most EVENTLOG_POLICIES_MAX. */
static int eventlog_policies_fill(struct eventlog_batch *batch, struct eventlog_domain *domain,
				  struct file *filp, const struct eventlog_list *request)
{
	const struct eventlog_policy *policy;
	struct eventlog_policy_info info;
	struct eventlog_text text;
	int ret = 0;

	if (batch->cursor > U32_MAX)
		return 0;
	eventlog_domain_lock(domain);
	list_for_each_entry(policy, &domain->policies, node) {
		if (policy->id <= batch->cursor)
			continue;
		info = (struct eventlog_policy_info){
			.id = policy->id, .handlers = policy->handlers,
			.operation = policy->operation,
		};
		text = eventlog_batch_text(batch, sizeof(info));
		eventlog_batch_string(&text, policy->program);
		eventlog_batch_string(&text, policy->marker);
		eventlog_batch_string(&text, policy->expression ? policy->expression->text : NULL);
		ret = !eventlog_batch_put(batch, &info, sizeof(info), &text);
		if (ret)
			break;
		batch->cursor = policy->id;
	}
	eventlog_domain_unlock(domain);
	return ret;
}

static const struct eventlog_list_ops eventlog_policies_list = {
	.fill = eventlog_policies_fill, .capable = true,
};

static const struct eventlog_ioctl eventlog_marker_ioctl_table[] = {
	EVENTLOG_IOCTL(MARKER_SET, eventlog_marker_set, policy, eventlog_ioctl_marker_set),
};

const struct eventlog_ioctls eventlog_marker_ioctls = {
	.ioctls = eventlog_marker_ioctl_table,
	.count = ARRAY_SIZE(eventlog_marker_ioctl_table),
	.kinds = {
		[EVENTLOG_LIST_MARKERS] = &eventlog_markers_list,
		[EVENTLOG_LIST_POLICIES] = &eventlog_policies_list,
	},
};
