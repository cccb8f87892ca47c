// SPDX-License-Identifier: GPL-2.0-only
/*
 * The status listing: see status.h.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "core/domain.h"
#include "core/ops.h"
#include "core/sink.h"
#include "core/subscriber.h"
#include "core/text.h"
#include "memory.h"
#include "user/status.h"

/* Processes choose their names: replace what could forge lines of the listing. */
static void eventlog_status_user(struct eventlog_text *text,
				 const struct eventlog_subscriber *subscriber)
{
	char comm[TASK_COMM_LEN];
	char *c;

	strscpy(comm, subscriber->comm, sizeof(comm));
	for (c = comm; *c; c++)
		if (*c <= ' ' || *c > '~')
			*c = '?';
	if (subscriber->callback)
		eventlog_text_print(text, " %s", comm);
	else
		eventlog_text_print(text, " %s[%d]", comm, subscriber->pid);
}

/* Input of the listing: the live events by slot. */
struct eventlog_status {
	const struct eventlog_domain *domain;
	struct eventlog_event **events;
};

/* Appends a loss to an event's comment; @behind: there is a comment already. */
static void eventlog_status_loss(struct eventlog_text *text, bool *behind, u64 lost,
				 const char *where)
{
	if (!lost)
		return;
	eventlog_text_print(text, "%s lost %llu %s", *behind ? "," : " #", lost, where);
	*behind = true;
}

/* Appends the losses that no subscriber's counters show. */
static void eventlog_status_losses(struct eventlog_text *text, const struct eventlog_event *event,
				   bool behind)
{
	u64 ftrace, perf;

	eventlog_status_loss(text, &behind, eventlog_event_lost_rcu_idle(event),
			     "where RCU does not watch");
	if (!eventlog_trace_ops)
		return;
	eventlog_trace_ops->lost(event, &ftrace, &perf);
	eventlog_status_loss(text, &behind, ftrace, "too large for ftrace");
	eventlog_status_loss(text, &behind, perf, "too large for perf");
}

static void eventlog_status_write(struct eventlog_text *text, const void *context)
{
	const struct eventlog_status *status = context;
	const struct eventlog_domain *domain = status->domain;
	unsigned int slot, i;

	for (slot = EVENTLOG_SLOT_FIRST; slot < EVENTLOG_SLOT_FIRST + domain->events_max; slot++) {
		const struct eventlog_event *event = status->events[slot];
		const struct eventlog_listeners *listeners;

		cond_resched();
		if (!event)
			continue;
		listeners =
			rcu_dereference_protected(event->listeners, lockdep_is_held(&domain->lock));
		eventlog_text_print(text, "%u:", slot);
		eventlog_text_name(text, event->provider->name, EVENTLOG_PROVIDER_PLAIN);
		eventlog_text_print(text, "/");
		eventlog_text_name(text, event->name, EVENTLOG_EVENT_PLAIN);
		if (listeners)
			eventlog_text_print(text, " # Used by");
		for (i = 0; listeners && i < listeners->listed; i++)
			eventlog_status_user(text, listeners->entries[i].subscriber);
		if (listeners && listeners->traced)
			eventlog_trace_ops->status(text, event);
		eventlog_status_losses(text, event, listeners);
		eventlog_text_print(text, "\n");
	}
	eventlog_text_print(text, "\nActive: %u\nBusy: %u\nMax: %u\n", domain->live, domain->busy,
			    domain->events_max);
	if (eventlog_trace_ops && eventlog_trace_ops->unmade())
		eventlog_text_print(text, "Not in tracefs: %u\n", eventlog_trace_ops->unmade());
}

char *eventlog_status_text(struct eventlog_domain *domain, size_t *bytes)
{
	struct eventlog_status status = { .domain = domain };
	struct eventlog_event *event;
	unsigned long descriptor;
	char *text;

	status.events = eventlog_alloc((EVENTLOG_SLOT_FIRST + domain->events_max) *
				       sizeof(*status.events));
	if (!status.events)
		return NULL;

	mutex_lock(&domain->lock);
	xa_for_each(&domain->definitions, descriptor, event) {
		if (event->slot)
			status.events[event->slot] = event;
	}
	text = eventlog_text_make(eventlog_status_write, &status, bytes);
	mutex_unlock(&domain->lock);

	eventlog_free(status.events);
	return text;
}
