/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Definitions and their trace events: what core/ calls, and definitions that have no trace
 * event for want of room.  Within trace/ only; for locks see trace.h.
 */
#ifndef EVENTLOG_TRACE_DEFINITION_H
#define EVENTLOG_TRACE_DEFINITION_H

#include "core/ops.h"

struct eventlog_trace_event;
struct eventlog_user;

/* The functions that core/ calls. */
extern const struct eventlog_trace_ops eventlog_trace_definition_ops;

/**
 * eventlog_trace_definitions_init() - once, at load
 */
void eventlog_trace_definitions_init(void);

/**
 * eventlog_trace_forget_event() - take a trace event from its definition
 * @trace: could not be made; the table is locked
 *
 * The definition has no trace event then, until there is room for one.
 */
void eventlog_trace_forget_event(struct eventlog_trace_event *trace);

/**
 * eventlog_trace_user_set() - count a trace event for another user
 * @trace: the table is locked
 * @user: its bytes are charged to that user; NULL: they need not be
 *
 * They are taken from the last user.
 */
void eventlog_trace_user_set(struct eventlog_trace_event *trace, struct eventlog_user *user);

/**
 * eventlog_trace_make_up() - make trace events for which there was no room
 *
 * The table is locked, and no domain.  Tries a limited number of definitions.  One that
 * still cannot get one goes to the end of the list.  Each one is tried once after a trace
 * event has become free: the first ones may be of users that have reached their limit.
 */
void eventlog_trace_make_up(void);

#endif /* EVENTLOG_TRACE_DEFINITION_H */
