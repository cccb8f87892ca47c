// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading definitions: see describe.h.
 */
#include <linux/align.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>

#include "core/domain.h"
#include "core/enable.h"
#include "core/ioctl.h"
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

/*
 * Finds the definition of a request that the opener may see, and locks the domain, which
 * stays locked if there is none.
 *
 * Return: the definition; ERR_PTR(-ENOENT) or ERR_PTR(-EINTR).
 */
static struct eventlog_event *eventlog_describe_find(struct eventlog_domain *domain,
						     const struct eventlog_describe *request,
						     const struct eventlog_viewer *viewer)
{
	unsigned long descriptor = request->descriptor;
	struct eventlog_event *event;
	unsigned int live = 0;
	int ret;

	if (!(request->flags & EVENTLOG_DESCRIBE_NEXT)) {
		eventlog_domain_lock(domain);
		event = xa_load(&domain->definitions, descriptor);
		return event && eventlog_event_visible(event, viewer) ? event : ERR_PTR(-ENOENT);
	}
	for (;;) {
		ret = eventlog_hidden_skip(domain, &descriptor, viewer, eventlog_event_visible,
					   UINT_MAX, &live);
		eventlog_domain_lock(domain);
		if (ret < 0)
			return ERR_PTR(ret);
		event = xa_find_after(&domain->definitions, &descriptor, U32_MAX, XA_PRESENT);
		if (!event)
			return ERR_PTR(-ENOENT);
		if (eventlog_event_visible(event, viewer))
			return event;
		eventlog_domain_unlock(domain);
	}
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

	if (request->flags & ~EVENTLOG_DESCRIBE_NEXT || request->reserved)
		return -EINVAL;

	viewer = eventlog_viewer_of(domain, filp);
	event = eventlog_describe_find(domain, request, &viewer);
	if (IS_ERR(event)) {
		eventlog_domain_unlock(domain);
		return PTR_ERR(event);
	}
	text = eventlog_schema_text(event, &text_bytes);
	if (text && request->text_size >= text_bytes) {
		request->descriptor = event->descriptor;
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

/* ---- many definitions ---- */

/* Definitions that one call looks at, and those while the domain is locked. */
#define EVENTLOG_DEFINITIONS_CALL 1024
#define EVENTLOG_DEFINITIONS_LOCKED 16

/* The size of a batch, unless its only definition needs more. */
#define EVENTLOG_DEFINITIONS_BYTES 32768

/**
 * struct eventlog_batch - definitions for one call of DEFINITIONS
 * @buffer: zeroed; has struct eventlog_definition, each followed by its text
 * @room: size of @buffer
 * @bytes: bytes used
 * @count: number of definitions
 * @needed: bytes that the next one needs, if it does not fit
 * @descriptor: the position: the last definition that was looked at
 */
struct eventlog_batch {
	char *buffer;
	size_t room;
	size_t bytes;
	u32 count;
	size_t needed;
	unsigned long descriptor;
};

/* Appends a definition, or sets @needed and returns false.  The domain is locked. */
static bool eventlog_batch_put(struct eventlog_batch *batch, const struct eventlog_event *event,
			       const struct eventlog_viewer *viewer)
{
	struct eventlog_definition *definition = (void *)(batch->buffer + batch->bytes);
	size_t text_at = batch->bytes + sizeof(*definition), end;
	struct eventlog_text text = {
		.buffer = batch->buffer, .room = batch->room, .bytes = text_at,
	};

	eventlog_schema_write(&text, event);
	end = ALIGN(text.bytes + 1, EVENTLOG_DEFINITION_ALIGN);
	if (end > batch->room) {
		batch->needed = end - batch->bytes;
		return false;
	}
	definition->size = end - batch->bytes;
	definition->descriptor = event->descriptor;
	definition->state = eventlog_event_state(event, viewer);
	definition->provider_id = event->provider->id;
	definition->instance = event->domain->id;
	definition->sync = eventlog_describe_sync(event, viewer, &definition->sync_pid);
	definition->text_offset = sizeof(*definition);
	definition->text_size = text.bytes + 1 - text_at;
	batch->bytes = end;
	batch->count++;
	return true;
}

/*
 * Adds definitions until the batch is full, the call has looked at enough of them, or there
 * are no more.
 *
 * Return: 0; -ENOENT: there are no more; -EINTR: a fatal signal arrived.
 */
static int eventlog_batch_fill(struct eventlog_batch *batch, struct eventlog_domain *domain,
			       const struct eventlog_viewer *viewer)
{
	unsigned int looked_at = 0, live = 0, locked;
	const struct eventlog_event *event;
	unsigned long descriptor;
	int ret;

	while (looked_at < EVENTLOG_DEFINITIONS_CALL) {
		ret = eventlog_hidden_skip(domain, &batch->descriptor, viewer,
					   eventlog_event_visible,
					   EVENTLOG_DEFINITIONS_CALL - looked_at, &live);
		if (ret < 0)
			return ret;
		looked_at += ret;
		descriptor = batch->descriptor;
		eventlog_domain_lock(domain);
		for (locked = 0; locked < EVENTLOG_DEFINITIONS_LOCKED; locked++) {
			event = xa_find_after(&domain->definitions, &descriptor, U32_MAX,
					      XA_PRESENT);
			if (!event || (eventlog_event_visible(event, viewer) &&
				       !eventlog_batch_put(batch, event, viewer)))
				break;
			batch->descriptor = descriptor;
		}
		eventlog_domain_unlock(domain);
		if (locked < EVENTLOG_DEFINITIONS_LOCKED)
			return event ? 0 : -ENOENT;
		looked_at += locked;
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

/*
 * Makes a batch, for eventlog_free().  Its first definition may need more than the usual
 * size, and more again if it has changed meanwhile.
 *
 * Return: 0; -ENOENT: there are no more; -EMSGSIZE: @most bytes are too few for one;
 * -EINTR; -ENOMEM.
 */
static int eventlog_batch_make(struct eventlog_batch *batch, struct eventlog_domain *domain,
			       const struct eventlog_viewer *viewer, u32 most)
{
	int ret;

	batch->needed = min_t(u32, most, EVENTLOG_DEFINITIONS_BYTES);
	do {
		eventlog_free(batch->buffer);
		batch->room = batch->needed;
		batch->needed = 0;
		batch->buffer = batch->room ? eventlog_alloc(batch->room) : NULL;
		if (batch->room && !batch->buffer)
			return -ENOMEM;
		ret = eventlog_batch_fill(batch, domain, viewer);
		if (ret == -EINTR || batch->count)
			return ret == -EINTR ? ret : 0;
	} while (batch->needed && batch->needed <= most);
	return batch->needed ? -EMSGSIZE : ret;
}

int eventlog_ioctl_definitions(struct eventlog_domain *domain, struct file *filp, void *argument,
			       void __user *user)
{
	struct eventlog_definitions *request = argument;
	struct eventlog_batch batch = { .descriptor = request->descriptor };
	struct eventlog_viewer viewer;
	int ret;

	if (request->flags || request->reserved)
		return -EINVAL;
	viewer = eventlog_viewer_of(domain, filp);
	ret = eventlog_batch_make(&batch, domain, &viewer, request->buffer_size);
	if (!ret)
		ret = eventlog_text_put(request->buffer, batch.buffer, batch.bytes);
	eventlog_free(batch.buffer);
	if (ret && ret != -EMSGSIZE)
		return ret;
	if (ret) {
		request->buffer_size = min_t(size_t, batch.needed, U32_MAX);
	} else {
		request->descriptor = batch.descriptor;
		request->count = batch.count;
		request->buffer_size = batch.bytes;
	}
	return eventlog_argument_put(user, request, sizeof(*request)) ?: ret;
}
