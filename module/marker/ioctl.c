// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of markers: see ioctl.h.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/domain.h"
#include "core/filter.h"
#include "core/ioctl.h"
#include "marker/ioctl.h"
#include "marker/marker.h"
#include "marker/policy.h"
#include "memory.h"

/* The marker with the lowest descriptor above @descriptor; the domain is locked. */
static struct eventlog_marker *eventlog_marker_after(struct eventlog_domain *domain,
						     struct eventlog_event **event,
						     unsigned long descriptor)
{
	while ((*event = xa_find_after(&domain->definitions, &descriptor, U32_MAX, XA_PRESENT))) {
		if ((*event)->source && (*event)->provider->kernel &&
		    (*event)->provider->kernel->update == eventlog_marker_update)
			return container_of((*event)->source, struct eventlog_marker, event);
		cond_resched();
	}
	return NULL;
}

/* The marker's four strings, for eventlog_free(); sets @bytes to their size. */
static char *eventlog_marker_strings(const struct eventlog_event *event,
				     const struct eventlog_marker *marker, u32 *bytes)
{
	const char *strings[] = {
		event->provider->kernel->owner->name, marker->tag, marker->path, marker->function,
	};
	unsigned int i;
	char *text, *to;

	*bytes = 0;
	for (i = 0; i < ARRAY_SIZE(strings); i++)
		*bytes += strlen(strings[i]) + 1;
	text = eventlog_alloc(*bytes);
	if (!text)
		return NULL;
	for (to = text, i = 0; i < ARRAY_SIZE(strings); i++)
		to += sprintf(to, "%s", strings[i]) + 1;
	return text;
}

static void eventlog_marker_describe(const struct eventlog_event *event,
				     const struct eventlog_marker *marker,
				     struct eventlog_marker_next *request)
{
	request->descriptor = event->descriptor;
	request->id = marker->id;
	request->handlers = READ_ONCE(marker->handlers);
	request->defaults = marker->defaults;
	request->allowed = marker->allowed;
	request->active = READ_ONCE(marker->active) & EVENTLOG_MARKER_HANDLERS;
	request->line = marker->line;
	request->ordinal = marker->ordinal;
	request->suppressed = (unsigned long)atomic_long_read(&marker->suppressed);
}

/* Copies out the strings, and the text of the filter if it was requested. */
static int eventlog_marker_strings_put(const struct eventlog_marker_next *request,
				       const char *text,
				       const struct eventlog_expression *expression)
{
	int ret = eventlog_text_put(request->text, text, request->text_size);

	if (!ret && expression && request->filter_text)
		ret = eventlog_text_put(request->filter_text, expression->text,
					request->filter_text_size);
	return ret;
}

static int eventlog_ioctl_marker_next(struct eventlog_domain *domain, struct file *filp,
				      void *argument, void __user *user)
{
	struct eventlog_marker_next *request = argument;
	u32 room = request->text_size, filter_room = request->filter_text_size;
	struct eventlog_expression *expression = NULL;
	struct eventlog_marker_next found = *request;
	struct eventlog_marker *marker;
	struct eventlog_event *event;
	char *text = NULL;
	int ret;

	if (request->flags || request->reserved)
		return -EINVAL;
	if (!eventlog_capable(domain, filp))
		return -EPERM;
	/* With update_lock, handlers and filter belong together. */
	mutex_lock(&domain->update_lock);
	eventlog_domain_lock(domain);
	marker = eventlog_marker_after(domain, &event, request->descriptor);
	if (marker) {
		text = eventlog_marker_strings(event, marker, &request->text_size);
		expression = eventlog_marker_filter(marker, &found.rejected);
		eventlog_marker_describe(event, marker, &found);
	}
	eventlog_domain_unlock(domain);
	mutex_unlock(&domain->update_lock);
	if (!marker)
		return -ENOENT;
	ret = -ENOMEM;
	if (!text)
		goto out;

	request->filter_text_size = expression ? strlen(expression->text) + 1 : 0;
	ret = -EMSGSIZE;
	if (room >= request->text_size &&
	    (!request->filter_text || filter_room >= request->filter_text_size)) {
		found.text_size = request->text_size;
		found.filter_text_size = request->filter_text_size;
		*request = found;
		ret = eventlog_marker_strings_put(request, text, expression);
	}
	if (ret != -EFAULT)
		ret = eventlog_argument_put(user, request, sizeof(*request)) ?: ret;
out:
	eventlog_free(text);
	eventlog_expression_put(expression);
	return ret;
}

static bool eventlog_marker_set_valid(const struct eventlog_marker_set *request)
{
	if (request->flags & ~EVENTLOG_MARKER_SET_ID ||
	    request->handlers & ~EVENTLOG_MARKER_HANDLERS ||
	    request->operation > EVENTLOG_MARKER_OP_REPLACE || request->reserved ||
	    (request->id && !(request->flags & EVENTLOG_MARKER_SET_ID)))
		return false;
	/* A filter makes sense only for handlers that are switched on. */
	return !request->filter || request->operation == EVENTLOG_MARKER_OP_ADD ||
	       (request->operation == EVENTLOG_MARKER_OP_REPLACE && request->handlers);
}

/**
 * struct eventlog_marker_change - what MARKER_SET and POLICY_ADD copy in
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

/* The arguments are user addresses; 0 stands for all owners, all markers, no filter. */
static int eventlog_marker_change_get(struct eventlog_marker_change *change, u64 owner, u64 marker,
				      u64 filter)
{
	int ret;

	change->owner = eventlog_string_get_or(owner, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(change->owner))
		return PTR_ERR(change->owner);
	change->marker = eventlog_string_get_or(marker, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(change->marker)) {
		ret = PTR_ERR(change->marker);
		goto err_owner;
	}
	change->expression = eventlog_expression_get(filter);
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
	ret = eventlog_marker_change_get(&change, request->module, request->marker,
					 request->filter);
	if (ret)
		return ret;
	/* Check first that results can be copied out: otherwise nothing is changed. */
	ret = eventlog_argument_put(user, request, sizeof(*request)) ?:
	      (domain->id ? -ENOENT : 0) ?:
	      eventlog_markers_switch(change.owner, change.marker, change.expression, request) ?:
	      eventlog_argument_put(user, request, sizeof(*request));
	eventlog_marker_change_free(&change);
	return ret;
}

static bool eventlog_policy_valid(const struct eventlog_marker_policy *request)
{
	if (request->flags || !request->handlers || request->handlers & ~EVENTLOG_POLICY_HANDLERS ||
	    request->operation > EVENTLOG_MARKER_OP_REMOVE || request->reserved)
		return false;
	/* A filter makes sense only for handlers that are switched on. */
	return !request->filter || request->operation == EVENTLOG_MARKER_OP_ADD;
}

static int eventlog_ioctl_policy_add(struct eventlog_domain *domain, struct file *filp,
				     void *argument, void __user *user)
{
	struct eventlog_marker_policy *request = argument;
	struct eventlog_marker_change change;
	int ret;

	if (!eventlog_policy_valid(request))
		return -EINVAL;
	if (!eventlog_capable(domain, filp))
		return -EPERM;
	ret = eventlog_marker_change_get(&change, request->program, request->marker,
					 request->filter);
	if (ret)
		return ret;
	/* Check first that results can be copied out: otherwise nothing is changed. */
	ret = eventlog_argument_put(user, request, sizeof(*request)) ?:
	      eventlog_policy_add(domain, change.owner, change.marker, change.expression,
				  request) ?:
	      eventlog_argument_put(user, request, sizeof(*request));
	eventlog_marker_change_free(&change);
	return ret;
}

static int eventlog_ioctl_policy_next(struct eventlog_domain *domain, struct file *filp,
				      void *argument, void __user *user)
{
	struct eventlog_marker_policy_next *request = argument;
	const struct eventlog_policy *policy;
	u32 room = request->text_size;
	char *text;
	int ret;

	if (request->reserved)
		return -EINVAL;
	if (!eventlog_capable(domain, filp))
		return -EPERM;
	text = eventlog_alloc(2 * EVENTLOG_GLOB_MAX + EVENTLOG_FILTER_TEXT_MAX);
	if (!text)
		return -ENOMEM;
	eventlog_domain_lock(domain);
	policy = eventlog_policy_after(domain, request->id);
	if (policy)
		request->text_size = eventlog_policy_text(policy, text);
	/* Otherwise the id stays, so that the caller can try again. */
	if (policy && room >= request->text_size) {
		request->id = policy->id;
		request->handlers = policy->handlers;
		request->operation = policy->operation;
	}
	eventlog_domain_unlock(domain);
	ret = -ENOENT;
	if (!policy)
		goto out;

	if (room < request->text_size)
		ret = -EMSGSIZE;
	else
		ret = eventlog_text_put(request->text, text, request->text_size);
	if (ret != -EFAULT)
		ret = eventlog_argument_put(user, request, sizeof(*request)) ?: ret;
out:
	eventlog_free(text);
	return ret;
}

static const struct eventlog_ioctl eventlog_marker_ioctl_table[] = {
	EVENTLOG_IOCTL(MARKER_NEXT, eventlog_marker_next, suppressed, eventlog_ioctl_marker_next),
	EVENTLOG_IOCTL(MARKER_SET, eventlog_marker_set, incompatible, eventlog_ioctl_marker_set),
	EVENTLOG_IOCTL(POLICY_ADD, eventlog_marker_policy, id, eventlog_ioctl_policy_add),
	EVENTLOG_IOCTL(POLICY_NEXT, eventlog_marker_policy_next, operation,
		       eventlog_ioctl_policy_next),
};

const struct eventlog_ioctls eventlog_marker_ioctls = {
	.ioctls = eventlog_marker_ioctl_table,
	.count = ARRAY_SIZE(eventlog_marker_ioctl_table),
};
