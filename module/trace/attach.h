/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is attached to a trace event, and the delivery of events to it.  Within
 * trace/ only; for locks see trace.h.
 */
#ifndef EVENTLOG_TRACE_ATTACH_H
#define EVENTLOG_TRACE_ATTACH_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

struct eventlog_domain;
struct eventlog_emission;
struct eventlog_event;
struct eventlog_text;
struct eventlog_trace_layout;

/**
 * struct eventlog_tracers - what is attached to a trace event
 * @rcu: frees it
 * @trace: the trace event; constant
 * @perf: perf is attached, perhaps on behalf of BPF
 * @slots: number of @files; constant
 * @used: how many of them are not NULL; under the table's lock
 * @files: one for each instance of ftrace that records the event; NULL: none
 *
 * Emission reads @perf and @files without a lock; they change under the table's.
 */
struct eventlog_tracers {
	struct rcu_head rcu;
	struct eventlog_trace_event *trace;
	bool perf;
	unsigned int slots;
	unsigned int used;
	struct trace_event_file *files[];
};

/**
 * struct eventlog_trace_event - a trace event, or the memory for one
 * @call: ftrace's struct
 * @class: likewise
 * @tracepoint: has only a name, which BPF asks for
 * @layout: its fields while ftrace knows it; the worker changes it under event_mutex
 * @tracers: what is attached; RCU, under the table's lock; NULL: nothing
 * @lost_ftrace: events too large for ftrace
 * @lost_perf: events too large for perf
 * @event: the definition; NULL: it has ended; under domain->lock and the table's
 * @domain: the definition's, likewise; also read without locks, see trace/enable.c
 * @changed_node: in a list of trace/enable.c
 * @prepared: the layout that it will be added with
 * @user: the user that it counts for, with a reference; NULL: one without limits
 * @bytes: what is charged to @user
 * @of_instance: it counts for an instance
 * @key: identifies the definition it was made for
 * @key_node: in the table of keys, while it has no definition and is not free
 * @group_hash: of the name of its group
 * @group_node: in the table of groups
 * @all_node: in the list of all
 * @node: in the worker's list, that of free ones, or a batch; else empty
 * @busy: it is in a batch
 * @stays: its definition has ended, but it stays for the time when that comes back
 * @attached_pin: it pins the module because a tracer is attached
 * @pinned: it pins the module because something may attach without a call of reg()
 * @needed: in a batch: it should exist
 * @uses: how often it got a definition
 * @suffix: in a batch: makes its name unique
 * @uses_seen: in a batch: @uses before the grace period that precedes a removal
 * @foreign: in a batch: its name is taken by an event of someone else
 * @failed: in a batch: ftrace failed to add it
 * @in_use: in a batch: it was not removed, because something uses it or one of its files
 * @closed: how often its removal was tried since its files were closed; 0: they are open; the
 *	worker's
 * @added: ftrace knows it; the worker's
 * @name_node: in the table of names while @added; the worker's
 */
struct eventlog_trace_event {
	struct trace_event_call call;
	struct trace_event_class class;
	struct tracepoint tracepoint;
	struct eventlog_trace_layout *layout;
	struct eventlog_tracers __rcu *tracers;
	atomic_long_t lost_ftrace;
	atomic_long_t lost_perf;
	struct eventlog_event *event;
	struct eventlog_domain *domain;
	struct list_head changed_node;
	struct eventlog_trace_layout *prepared;
	struct eventlog_user *user;
	size_t bytes;
	bool of_instance;
	u64 key;
	struct hlist_node key_node;
	u64 group_hash;
	struct hlist_node group_node;
	struct list_head all_node;
	struct list_head node;
	bool busy;
	bool stays;
	bool attached_pin;
	bool pinned;
	bool needed;
	unsigned int uses;
	u32 suffix;
	unsigned int uses_seen;
	bool foreign;
	bool failed;
	bool in_use;
	u8 closed;
	bool added;
	struct hlist_node name_node;
};

/**
 * eventlog_trace_reg() - reg() of a trace event's class
 * @call: the trace event's
 * @type: only attaching and detaching do something: all other calls may come from
 *	the scheduler with its locks held, since perf's counters move with their tasks
 * @data: ftrace's file, for ftrace
 *
 * Called under event_mutex.
 *
 * Return: 0, -ENOMEM, or -ENODEV: the module is being unloaded.
 */
int eventlog_trace_reg(struct trace_event_call *call, enum trace_reg type, void *data);

/**
 * eventlog_tracers_get() - what is attached to a trace event
 * @trace: the table is locked
 */
struct eventlog_tracers *eventlog_tracers_get(const struct eventlog_trace_event *trace);

/**
 * eventlog_trace_held() - does something hold a trace event that reg() does not know
 * @trace: the trace event; an eprobe, or a trigger of another event, may hold it
 *
 * Return: false for a trace event that is removed only at unload: ftrace counts what holds it
 * as users of the module.
 */
bool eventlog_trace_held(const struct eventlog_trace_event *trace);

/**
 * eventlog_trace_pin() - pin or unpin the module
 * @pinned: the state, which is updated
 * @pin: pin it
 */
void eventlog_trace_pin(bool *pinned, bool pin);

/**
 * eventlog_trace_emit() - deliver an event to its tracers
 * @emission: the event
 *
 * Any context, preemption off.
 */
void eventlog_trace_emit(const struct eventlog_emission *emission);

/* See struct eventlog_trace_ops. */
void eventlog_trace_status(struct eventlog_text *text, const struct eventlog_event *event);
void eventlog_trace_lost(const struct eventlog_event *event, u64 *ftrace, u64 *perf);

#endif /* EVENTLOG_TRACE_EVENTS */

#endif /* EVENTLOG_TRACE_ATTACH_H */
