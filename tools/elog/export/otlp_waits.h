/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the threads of a span waited for, for OTLP: attributes elog.why.CAUSE_ns, an event of the
 * span for each wait, and links to the spans in which the threads that ended the waits worked.
 */
#ifndef OTLP_WAITS_H
#define OTLP_WAITS_H

#include "export/otlp_batch.h"
#include "output/waits.h"

/**
 * struct otlp_waits - the waits of a span
 * @all: of its threads
 * @events: encoded events of the span
 * @links: encoded links
 * @event_count: in @events
 * @link_count: in @links
 * @dropped: waits that are no events, because there are too many
 * @last: the span of the last link
 */
struct otlp_waits {
	struct waits all;
	struct elog_text events;
	struct elog_text links;
	unsigned int event_count;
	unsigned int link_count;
	uint64_t dropped;
	char last[8];
};

/**
 * otlp_waits_event() - add an event of the span
 * @waits: of the span
 * @batch: for its buffer
 * @interval: the wait, clipped
 * @provider: of the session of the thread that ended it
 */
void otlp_waits_event(struct otlp_waits *waits, struct otlp_batch *batch,
		      const struct interval *interval, const char *provider);

/**
 * otlp_waits_link() - add a link, unless it is there
 * @waits: of the span
 * @batch: for its buffer
 * @interval: the wait
 * @trace: of the span in which the thread that ended it worked, 16 bytes
 * @span: that span, 8 bytes
 */
void otlp_waits_link(struct otlp_waits *waits, struct otlp_batch *batch,
		     const struct interval *interval, const char *trace, const char *span);

/**
 * otlp_waits_put() - append all of it to a span
 * @waits: of the span; NULL: none
 * @times: with the times: no wait was left out
 * @duration: of the span, ns
 * @text: to append to
 */
void otlp_waits_put(const struct otlp_waits *waits, bool times, uint64_t duration,
		    struct elog_text *text);

/** otlp_waits_size() - bytes of it, with the events and links; @waits may be NULL */
static inline size_t otlp_waits_size(const struct otlp_waits *waits)
{
	return waits ? sizeof(*waits) + waits->events.size + waits->links.size : 0;
}

/** otlp_waits_free() - free them; NULL is allowed */
void otlp_waits_free(struct otlp_waits *waits);

#endif /* OTLP_WAITS_H */
