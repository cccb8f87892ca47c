// SPDX-License-Identifier: GPL-2.0-only
/*
 * The status listing: see status.h.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "domain.h"
#include "enable.h"
#include "event.h"
#include "memory.h"
#include "status.h"
#include "subscriber.h"

/* A text that is written twice: once without a buffer, to learn its size. */
struct eventlog_text {
	char *buffer;
	size_t room;
	size_t bytes;
};

__printf(2, 3)
static void eventlog_text_print(struct eventlog_text *text, const char *format, ...)
{
	size_t room = text->room > text->bytes ? text->room - text->bytes : 0;
	va_list args;

	va_start(args, format);
	text->bytes += vsnprintf(room ? text->buffer + text->bytes : NULL, room, format, args);
	va_end(args);
}

/* A process chooses its own name: it must not forge lines of the listing. */
static void eventlog_status_user(struct eventlog_text *text,
				 const struct eventlog_subscriber *subscriber)
{
	char comm[TASK_COMM_LEN];
	char *c;

	strscpy(comm, subscriber->comm, sizeof(comm));
	for (c = comm; *c; c++)
		if (*c <= ' ' || *c > '~')
			*c = '?';
	eventlog_text_print(text, " %s[%d]", comm, subscriber->pid);
}

static void eventlog_status_write(struct eventlog_domain *domain, struct eventlog_event **events,
				  struct eventlog_text *text)
{
	unsigned int slot, i;

	for (slot = 1; slot <= domain->events_max; slot++) {
		const struct eventlog_event *event = events[slot];
		const struct eventlog_wanted *wanted;

		cond_resched();
		if (!event)
			continue;
		wanted = rcu_dereference_protected(event->wanted,
						   lockdep_is_held(&domain->lock));
		eventlog_text_print(text, "%u:%s/%s%s", eventlog_slot_status_bit(slot),
				    event->provider->name, event->name,
				    wanted ? " # Used by" : "");
		for (i = 0; wanted && i < wanted->listed; i++)
			eventlog_status_user(text, wanted->entries[i].subscriber);
		eventlog_text_print(text, "\n");
	}
	eventlog_text_print(text, "\nActive: %u\nBusy: %u\nMax: %u\n", domain->live, domain->busy,
			    domain->events_max);
}

char *eventlog_status_text(struct eventlog_domain *domain, size_t *bytes)
{
	struct eventlog_text text = {};
	struct eventlog_event **events, *event;
	unsigned long descriptor;

	events = eventlog_alloc((domain->events_max + 1) * sizeof(*events));
	if (!events)
		return NULL;

	mutex_lock(&domain->lock);
	xa_for_each(&domain->definitions, descriptor, event) {
		if (event->slot)
			events[event->slot] = event;
	}
	eventlog_status_write(domain, events, &text);
	text.room = text.bytes + 1;
	text.bytes = 0;
	text.buffer = eventlog_alloc(text.room);
	if (text.buffer)
		eventlog_status_write(domain, events, &text);
	mutex_unlock(&domain->lock);

	eventlog_free(events);
	*bytes = text.bytes;
	return text.buffer;
}
