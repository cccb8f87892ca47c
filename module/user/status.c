// SPDX-License-Identifier: GPL-2.0-only
/*
 * The status listing: see status.h.
 */
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "core/domain.h"
#include "core/enable.h"
#include "core/ops.h"
#include "core/sink.h"
#include "core/subscriber.h"
#include "core/text.h"
#include "memory.h"
#include "user/status.h"
#include "user/visible.h"

/* Events that are looked at while the domain is locked. */
#define EVENTLOG_STATUS_EVENTS 8

/*
 * A process outside of the reader's pid namespace has neither a pid nor a name in it.
 * Processes choose their names: replace what could forge lines of the listing.
 */
static void eventlog_status_subscriber(struct eventlog_text *text,
				       const struct eventlog_subscriber *subscriber)
{
	pid_t pid = pid_nr_ns(subscriber->pid, task_active_pid_ns(current));
	char comm[TASK_COMM_LEN];
	char *c;

	if (!subscriber->callback && !pid) {
		eventlog_text_print(text, " ?");
		return;
	}
	strscpy(comm, subscriber->comm, sizeof(comm));
	for (c = comm; *c; c++)
		if (*c <= ' ' || *c > '~')
			*c = '?';
	if (subscriber->callback)
		eventlog_text_print(text, " %s", comm);
	else
		eventlog_text_print(text, " %s[%d]", comm, pid);
}

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

/* Appends who listens to an event. */
static void eventlog_status_users(struct eventlog_text *text, const struct eventlog_event *event,
				  const struct eventlog_listeners *listeners,
				  const struct eventlog_viewer *viewer)
{
	unsigned int i;

	eventlog_text_print(text, " # Used by");
	if (!viewer->capable) {
		eventlog_text_print(text, " ?");
		return;
	}
	for (i = 0; i < listeners->listed; i++) {
		if (listeners->entries[i].dead)
			continue;
		eventlog_status_subscriber(text, listeners->entries[i].subscriber);
		if (i < listeners->count && !event->provider->preamble &&
		    listeners->entries[i].sync)
			eventlog_text_print(text, "(sync)");
	}
	if (listeners->traced)
		eventlog_trace_ops->status(text, event);
}

/* Appends the line of a live event. */
static void eventlog_status_event(struct eventlog_text *text, const struct eventlog_event *event,
				  const struct eventlog_viewer *viewer)
{
	const struct eventlog_listeners *listeners =
		rcu_dereference_protected(event->listeners, lockdep_is_held(&event->domain->lock));

	eventlog_text_print(text, "%u:", event->slot);
	eventlog_text_name(text, event->provider->name, EVENTLOG_PROVIDER_PLAIN);
	eventlog_text_print(text, "/");
	eventlog_text_name(text, event->name, EVENTLOG_EVENT_PLAIN);
	if (listeners)
		eventlog_status_users(text, event, listeners, viewer);
	eventlog_status_losses(text, event, listeners);
	eventlog_text_print(text, "\n");
}

/* @hidden: number of events that are not listed */
static void eventlog_status_totals(struct eventlog_text *text, const struct eventlog_domain *domain,
				   unsigned int hidden)
{
	unsigned int unmade = READ_ONCE(domain->trace_unmade);

	eventlog_text_print(text, "\nActive: %u\nBusy: %u\nMax: %u\n", domain->live, domain->busy,
			    domain->events_max);
	if (unmade)
		eventlog_text_print(text, "Not in tracefs: %u\n", unmade);
	if (hidden)
		eventlog_text_print(text, "Not listed: %u\n", hidden);
}

/* Without the capability, do not show who uses the events of the kernel. */
static bool eventlog_status_lists(const struct eventlog_event *event,
				  const struct eventlog_viewer *viewer)
{
	return viewer->capable || eventlog_event_registered_by(event, viewer->uid);
}

/*
 * Writes the next lines into the buffer.  A line that does not fit is left to the next
 * part; if it is the first one, the part stays empty.
 *
 * Return: how many bytes of buffer that first line needs, NUL included, or 0.
 */
static size_t eventlog_status_fill(struct eventlog_status *status, struct eventlog_domain *domain,
				   const struct eventlog_viewer *viewer)
{
	struct eventlog_text text = { .buffer = status->text, .room = status->room };
	unsigned long descriptor = status->descriptor;
	const struct eventlog_event *event;
	unsigned int looked_at;
	size_t needed = 0;

	eventlog_domain_lock(domain);
	for (looked_at = 0; looked_at < EVENTLOG_STATUS_EVENTS; looked_at++) {
		event = xa_find_after(&domain->definitions, &descriptor, U32_MAX, XA_PRESENT);
		status->bytes = text.bytes;
		if (!event)
			eventlog_status_totals(&text, domain, status->hidden);
		else if (event->slot && eventlog_status_lists(event, viewer))
			eventlog_status_event(&text, event, viewer);
		else if (event->slot)
			status->hidden++;
		if (text.bytes >= text.room) {
			needed = status->bytes ? 0 : text.bytes + 1;
			break;
		}
		status->bytes = text.bytes;
		status->complete = !event;
		if (!event)
			break;
		status->descriptor = descriptor;
	}
	eventlog_domain_unlock(domain);
	return needed;
}

/* Replaces the part by the next one, which is not empty unless the listing is complete. */
static int eventlog_status_next(struct eventlog_status *status, struct eventlog_domain *domain,
				const struct eventlog_viewer *viewer)
{
	size_t needed = status->room ? 0 : PAGE_SIZE;

	status->start += status->bytes;
	status->bytes = 0;
	while (!status->bytes && !status->complete) {
		if (eventlog_hidden_skip(domain, &status->descriptor, viewer, eventlog_status_lists,
					 UINT_MAX, &status->hidden) < 0)
			return -EINTR;
		if (needed) {
			eventlog_free(status->text);
			status->room = 0;
			status->text = eventlog_alloc(needed);
			if (!status->text)
				return -ENOMEM;
			status->room = needed;
		}
		needed = eventlog_status_fill(status, domain, viewer);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

ssize_t eventlog_status_read(struct eventlog_status *status, struct eventlog_domain *domain,
			     const struct eventlog_viewer *viewer, char *buffer, size_t bytes,
			     loff_t position)
{
	size_t offset;
	int ret;

	if (!position || position < status->start) {
		status->start = 0;
		status->bytes = 0;
		status->descriptor = 0;
		status->hidden = 0;
		status->complete = false;
	}
	while (position >= status->start + status->bytes) {
		if (status->complete)
			return 0;
		ret = eventlog_status_next(status, domain, viewer);
		if (ret)
			return ret;
	}
	offset = position - status->start;
	bytes = min(bytes, status->bytes - offset);
	memcpy(buffer, status->text + offset, bytes);
	return bytes;
}

void eventlog_status_free(struct eventlog_status *status)
{
	eventlog_free(status->text);
}
