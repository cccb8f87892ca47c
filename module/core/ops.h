/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How core/ calls what is above it: the tracer (trace/), the marker policy (marker/),
 * producer rings (user/) and a front end that watches its events (front_end.h).  Each
 * table but the last is set once, at load, before there is an event, and is never changed.
 * Emission does not go through a table: see emit.h.
 *
 * All functions are called in process context with the event's domain locked,
 * unless said otherwise.
 */
#ifndef EVENTLOG_OPS_H
#define EVENTLOG_OPS_H

#include <linux/types.h>

struct eventlog_domain;
struct eventlog_event;
struct eventlog_expression;
struct eventlog_text;
struct eventlog_trace_layout;
struct eventlog_watch;

/**
 * struct eventlog_trace_ops - what the tracer does for core/ and the status listing
 * @prepare: return the layout of the trace event that an event will get, or NULL: none is
 *	needed, or there is no room or no memory.  The domain is not locked; the event is not
 *	published yet
 * @add: an event comes to life, before its listeners are known: make its trace event and
 *	set event->trace.tracers if something is attached to that already.  @layout is that
 *	of @prepare, which it sets to NULL if it keeps it; NULL: it makes one if necessary
 * @layout_free: free what @prepare returned, or NULL; in any process context
 * @remove: an event ends: its trace event goes; tracers get nothing more after an
 *	RCU grace period
 * @abandon: the domain is dead, and all its live events were removed: their trace events do not
 *	stay for definitions that come back.  When it returns, nothing uses the domain.  The
 *	domain is not locked; sleeps
 * @recharge: an event counts for another user
 * @persist: an event is persistent now; the module is pinned by the caller's file
 * @busy: is ftrace, perf or BPF attached, or does an eprobe or a trigger hold it
 * @lost: set the numbers of events that were too large for ftrace, and for perf and BPF
 * @status: append what is attached to an event, for the status listing
 * @wait: wait until ftrace knows the trace event of a live event; NULL: until ftrace has
 *	forgotten those of ended events, unless they must stay.  The domain is not locked,
 *	event_mutex is not held
 */
struct eventlog_trace_ops {
	struct eventlog_trace_layout *(*prepare)(const struct eventlog_event *event);
	void (*add)(struct eventlog_event *event, struct eventlog_trace_layout **layout);
	void (*layout_free)(struct eventlog_trace_layout *layout);
	void (*remove)(struct eventlog_event *event);
	void (*abandon)(const struct eventlog_domain *domain);
	void (*recharge)(struct eventlog_event *event);
	void (*persist)(struct eventlog_event *event);
	bool (*busy)(const struct eventlog_event *event);
	void (*lost)(const struct eventlog_event *event, u64 *ftrace, u64 *perf);
	void (*status)(struct eventlog_text *text, const struct eventlog_event *event);
	void (*wait)(const struct eventlog_event *event);
};

/* NULL on a kernel without trace events for modules. */
extern const struct eventlog_trace_ops *eventlog_trace_ops;

/**
 * struct eventlog_policy_filter - the filter of a program's marker
 * @expression: the filter; NULL: there is none
 * @pids: its terms that compare a pid or tid with a number, a bit each
 * @version: changes when the filter does; 0: there is none
 * @handlers: EVENTLOG_MARKER_*, subject to the filter or not
 */
struct eventlog_policy_filter {
	struct eventlog_expression *expression;
	u64 pids;
	u32 version;
	u32 handlers;
};

/**
 * struct eventlog_policy_draft - what the policies say about an event that is being made
 * @version: of the domain's policies
 * @handlers: EVENTLOG_MARKER_*
 * @filter: the condition, with a reference, or NULL
 */
struct eventlog_policy_draft {
	u64 version;
	u8 handlers;
	struct eventlog_expression *filter;
};

/**
 * struct eventlog_policy_ops - what the marker policy does for core/ and for producers
 * @prepare: fill in a draft, which is zeroed or was filled in before, for an event that is
 *	not published; the domain is not locked.  Returns 0 or -EINTR
 * @apply: an event with a slot comes to life: set its handlers as a draft says whose version
 *	is that of the domain
 * @remove: an event with a slot ends: take its handlers back
 * @state: return an event's handlers and whether its program can evaluate the filter,
 *	EVENTLOG_DESCRIBED_*
 * @filter: fill in &eventlog_policy_filter for an event; the filter gets a reference
 * @incompatible: a program cannot evaluate an event's filter; returns 0, or -ESTALE if
 *	the filter has another version
 */
struct eventlog_policy_ops {
	int (*prepare)(const struct eventlog_event *event, struct eventlog_policy_draft *draft);
	void (*apply)(struct eventlog_event *event, const struct eventlog_policy_draft *draft);
	void (*remove)(struct eventlog_event *event);
	u32 (*state)(const struct eventlog_event *event);
	void (*filter)(const struct eventlog_event *event, struct eventlog_policy_filter *filter);
	int (*incompatible)(struct eventlog_event *event, u32 version);
};

extern const struct eventlog_policy_ops *eventlog_policy_ops;

/**
 * struct eventlog_mapped_ops - what producer rings do for core/
 * @drain: deliver the events that were emitted to the rings of a domain before the call;
 *	the domain is not locked; sleeps; 0, or -EINTR: a fatal signal arrived
 * @sessions: have eventlog_threads_tell() called for all instances, soon; no domain is locked
 */
struct eventlog_mapped_ops {
	int (*drain)(struct eventlog_domain *domain);
	void (*sessions)(void);
};

extern const struct eventlog_mapped_ops *eventlog_mapped_ops;

/**
 * struct eventlog_watch_ops - what a front end does when an event with a watch changes
 * @changed: the event was enabled or disabled
 * @ended: the event is disabled and ends; event->watch is NULL now
 * @settle: carry out what @changed has noted, in process context.  The domain is not
 *	locked; ftrace's event_mutex may be held
 */
struct eventlog_watch_ops {
	void (*changed)(struct eventlog_watch *watch);
	void (*ended)(struct eventlog_watch *watch);
	void (*settle)(void);
};

/* NULL: there is no front end, and no event has a watch.  Under the lock of the root. */
extern const struct eventlog_watch_ops *eventlog_watch_ops;

/**
 * eventlog_watch_settle() - have the front end carry out all changes
 *
 * Process context.  The domain is not locked; ftrace's event_mutex may be held.
 */
void eventlog_watch_settle(void);

#endif /* EVENTLOG_OPS_H */
