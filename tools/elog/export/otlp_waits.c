// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the threads of a span waited for, for OTLP: see otlp_waits.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/otlp_waits.h"
#include "export/protobuf.h"

#define EVENTS_MAX	128	/* as SDKs of OpenTelemetry limit them */
#define LINKS_MAX	32
#define TRACE_BYTES	16
#define SPAN_BYTES	8

/* Numbers of fields of a span, and of the messages in it. */
enum {
	SPAN_EVENT = 11,
	SPAN_DROPPED_EVENTS = 12,
	SPAN_LINK = 13,
	EVENT_TIME = 1,
	EVENT_NAME = 2,
	EVENT_ATTRIBUTE = 3,
	LINK_TRACE = 1,
	LINK_SPAN = 2,
	LINK_ATTRIBUTE = 4,
};

void otlp_waits_event(struct otlp_waits *waits, struct otlp_batch *batch,
		      const struct interval *interval, const char *provider)
{
	struct elog_text *text = &waits->events;
	char by[EVENTLOG_NAME_MAX + 24];
	size_t message;

	if (waits->event_count == EVENTS_MAX) {
		waits->dropped++;
		return;
	}
	waits->event_count++;
	message = pb_open(text, SPAN_EVENT);
	pb_fixed64(text, EVENT_TIME, otlp_time(interval_begin(interval)));
	pb_string(text, EVENT_NAME, interval_cause_name(interval->cause));
	otlp_put_number(text, EVENT_ATTRIBUTE, "elog.wait.blocked_ns", interval->blocked);
	otlp_put_number(text, EVENT_ATTRIBUTE, "elog.wait.runnable_ns", interval->runnable);
	if (interval->call >= 0)
		otlp_put_number(text, EVENT_ATTRIBUTE, "elog.wait.call",
				(uint64_t)interval->call);
	if (interval->by_tid) {
		otlp_put_number(text, EVENT_ATTRIBUTE, "elog.wait.by.thread.id",
				interval->by_tid);
		otlp_put_string(batch, text, EVENT_ATTRIBUTE, "elog.wait.by.thread.name",
				interval->by);
	}
	if (interval->by_session) {
		snprintf(by, sizeof(by), "%s:0x%llx", provider,
			 (unsigned long long)interval->by_session);
		otlp_put_string(batch, text, EVENT_ATTRIBUTE, "elog.wait.by.session", by);
	}
	pb_close(text, message);
}

void otlp_waits_link(struct otlp_waits *waits, struct otlp_batch *batch,
		     const struct interval *interval, const char *trace, const char *span)
{
	struct elog_text *text = &waits->links;
	size_t message;

	/* Several waits in a row may have been ended in the same span. */
	if (waits->link_count == LINKS_MAX ||
	    (waits->link_count && !memcmp(waits->last, span, SPAN_BYTES)))
		return;
	waits->link_count++;
	memcpy(waits->last, span, SPAN_BYTES);
	message = pb_open(text, SPAN_LINK);
	pb_bytes(text, LINK_TRACE, trace, TRACE_BYTES);
	pb_bytes(text, LINK_SPAN, span, SPAN_BYTES);
	otlp_put_string(batch, text, LINK_ATTRIBUTE, "elog.wait",
			interval_cause_name(interval->cause));
	pb_close(text, message);
}

static void put_times(const struct otlp_waits *waits, uint64_t duration, struct elog_text *text)
{
	uint64_t whole;
	char key[48];
	unsigned int i;

	for (i = 0; i < INTERVAL_CAUSES; i++) {
		if (!waits->all.times[i])
			continue;
		snprintf(key, sizeof(key), "elog.why.%s_ns", interval_cause_name(i));
		otlp_put_number(text, SPAN_ATTRIBUTE, key, waits->all.times[i]);
	}
	otlp_put_number(text, SPAN_ATTRIBUTE, "elog.why.on_cpu_ns",
			waits_on_cpu(&waits->all, duration));
	whole = waits_whole(&waits->all, duration);
	if (whole > duration)
		otlp_put_number(text, SPAN_ATTRIBUTE, "elog.why.thread_time_ns", whole);
}

void otlp_waits_put(const struct otlp_waits *waits, bool times, uint64_t duration,
		    struct elog_text *text)
{
	if (!waits)
		return;
	if (times)
		put_times(waits, duration, text);
	elog_text_put(text, waits->events.data, waits->events.size);
	elog_text_put(text, waits->links.data, waits->links.size);
	if (waits->dropped)
		pb_uint(text, SPAN_DROPPED_EVENTS, waits->dropped < UINT32_MAX ?
			waits->dropped : UINT32_MAX);
	if (waits->events.error || waits->links.error)
		text->error = waits->events.error ? : waits->links.error;
}

void otlp_waits_free(struct otlp_waits *waits)
{
	if (!waits)
		return;
	elog_text_free(&waits->events);
	elog_text_free(&waits->links);
	free(waits);
}
