// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading definitions: see describe.h.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>

#include "core/domain.h"
#include "core/enable.h"
#include "core/ioctl.h"
#include "core/list.h"
#include "core/ops.h"
#include "core/schema.h"
#include "core/subscriber.h"
#include "core/text.h"
#include "memory.h"
#include "user/describe.h"
#include "user/visible.h"

static u32 eventlog_event_state(const struct eventlog_event *event,
				const struct eventlog_viewer *viewer)
{
	u32 state = eventlog_policy_ops->state(event);

	if (event->slot)
		state |= EVENTLOG_DESCRIBED_LIVE;
	if (rcu_access_pointer(event->listeners))
		state |= EVENTLOG_DESCRIBED_ENABLED;
	if (event->persistent)
		state |= EVENTLOG_DESCRIBED_PERSIST;
	if (event->provider->preamble)
		state |= EVENTLOG_DESCRIBED_KERNEL;
	/* Without the capability, do not show which events of the kernel are traced. */
	if (event->provider->preamble && !viewer->capable)
		state &= EVENTLOG_DESCRIBED_LIVE | EVENTLOG_DESCRIBED_KERNEL;
	return state;
}

/* Says why producers must call write() for an event, and which subscriber is a reason. */
static u32 eventlog_describe_sync(const struct eventlog_event *event,
				  const struct eventlog_viewer *viewer, u32 *pid)
{
	const struct eventlog_subscriber *subscriber;
	const u32 sync = eventlog_event_sync(event, &subscriber);

	*pid = subscriber && viewer->capable ?
	       pid_nr_ns(subscriber->pid, task_active_pid_ns(current)) : 0;
	return sync;
}

int eventlog_ioctl_describe(struct eventlog_domain *domain, struct file *filp, void *argument,
			    void __user *user)
{
	struct eventlog_describe *request = argument;
	struct eventlog_viewer viewer;
	struct eventlog_event *event;
	u32 text_bytes;
	char *text;
	int ret;

	if (request->flags || request->reserved)
		return -EINVAL;

	viewer = eventlog_viewer_of(domain, filp);
	eventlog_domain_lock(domain);
	event = xa_load(&domain->definitions, request->descriptor);
	if (!event || !eventlog_event_visible(event, &viewer)) {
		eventlog_domain_unlock(domain);
		return -ENOENT;
	}
	text = eventlog_schema_text(event, &text_bytes);
	if (text && request->text_size >= text_bytes) {
		request->state = eventlog_event_state(event, &viewer);
		request->provider_id = event->provider->id;
		request->instance = domain->id;
		request->sync = eventlog_describe_sync(event, &viewer, &request->sync_pid);
	}
	eventlog_domain_unlock(domain);
	if (!text)
		return -ENOMEM;

	ret = 0;
	if (request->text_size < text_bytes)
		ret = -EMSGSIZE;
	else
		ret = eventlog_text_put(request->text, text, text_bytes);
	eventlog_free(text);
	if (ret == -EFAULT)
		return ret;
	request->text_size = text_bytes;
	return eventlog_argument_put(user, request, sizeof(*request)) ?: ret;
}

/* ---- the list ---- */

/* Adds a definition.  The domain is locked. */
static bool eventlog_definition_put(struct eventlog_batch *batch,
				    const struct eventlog_event *event,
				    const struct eventlog_viewer *viewer)
{
	struct eventlog_definition definition = {
		.descriptor = event->descriptor,
		.state = eventlog_event_state(event, viewer),
		.provider_id = event->provider->id,
		.instance = event->domain->id,
	};
	struct eventlog_text text = eventlog_batch_text(batch, sizeof(definition));

	definition.sync = eventlog_describe_sync(event, viewer, &definition.sync_pid);
	eventlog_schema_write(&text, event);
	eventlog_batch_string(&text, NULL);
	return eventlog_batch_put(batch, &definition, sizeof(definition), &text);
}

static int eventlog_definitions_fill(struct eventlog_batch *batch, struct eventlog_domain *domain,
				     struct file *filp, const struct eventlog_list *request)
{
	const struct eventlog_viewer viewer = eventlog_viewer_of(domain, filp);
	unsigned int looked_at = 0, live = 0, locked;
	const struct eventlog_event *event;
	unsigned long descriptor;
	int ret;

	if (batch->cursor > U32_MAX)
		return 0;
	descriptor = batch->cursor;
	while (looked_at < EVENTLOG_LIST_CALL) {
		ret = eventlog_hidden_skip(domain, &descriptor, &viewer, eventlog_event_visible,
					   EVENTLOG_LIST_CALL - looked_at, &live);
		if (ret < 0)
			return ret;
		looked_at += ret;
		batch->cursor = descriptor;
		eventlog_domain_lock(domain);
		for (locked = 0; locked < EVENTLOG_LIST_LOCKED; locked++) {
			event = xa_find_after(&domain->definitions, &descriptor, U32_MAX,
					      XA_PRESENT);
			if (!event || (eventlog_event_visible(event, &viewer) &&
				       !eventlog_definition_put(batch, event, &viewer)))
				break;
			batch->cursor = descriptor;
		}
		eventlog_domain_unlock(domain);
		if (locked < EVENTLOG_LIST_LOCKED)
			return event ? 1 : 0;
		looked_at += locked;
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 1;
}

const struct eventlog_list_ops eventlog_definitions_list = { .fill = eventlog_definitions_fill };
