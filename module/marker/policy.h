/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wishes: what markers of programs are to do beside tracing, kept for those that are
 * there and those that come. All under domain->lock, but for a hit that asks, which
 * looks at its event's handlers and predicate under RCU.
 */
#ifndef EVENTLOG_WISH_H
#define EVENTLOG_WISH_H

#include <linux/list.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_domain;
struct eventlog_event;
struct eventlog_expression;

/* Handlers that can be wished for. */
#define EVENTLOG_WISH_HANDLERS (EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_PROBE)

/**
 * struct eventlog_program_wish - one of them; constant
 * @node: in the domain's wishes
 * @expression: of the predicate it gives markers, or NULL; a user of it
 * @operation: EVENTLOG_MARKER_ADD or EVENTLOG_MARKER_REMOVE
 * @handlers: EVENTLOG_MARKER_*
 * @marker: glob over names of events, behind @program in the same allocation
 * @program: glob over names of providers behind the prefix
 */
struct eventlog_program_wish {
	struct list_head node;
	struct eventlog_expression *expression;
	u8 operation;
	u8 handlers;
	const char *marker;
	char program[];
};

/**
 * eventlog_wish_add() - wish for something
 * @domain: unlocked
 * @program: glob
 * @marker: glob
 * @expression: valid, or NULL; the caller's
 * @request: the rest; valid; the counts are set
 *
 * Process context.  Where memory is too short for an event's predicate the event has
 * no handlers.
 *
 * Return: 0; -ENOSPC; -ENOMEM.  Then nothing is changed.
 */
int eventlog_wish_add(struct eventlog_domain *domain, const char *program, const char *marker,
		      struct eventlog_expression *expression,
		      struct eventlog_marker_wish *request);

/**
 * eventlog_wish_find() - find a wish
 * @domain: the domain, locked
 * @index: 0 is the earliest
 *
 * Return: the wish, or NULL.
 */
const struct eventlog_program_wish *eventlog_wish_find(struct eventlog_domain *domain, u32 index);

/**
 * eventlog_wish_text() - what is written in a wish
 * @wish: its domain locked
 * @text: room for 2 * EVENTLOG_GLOB_MAX + EVENTLOG_PREDICATE_MAX bytes; set to the
 *	globs and the predicate, each with a NUL
 *
 * Return: the size of that.
 */
u32 eventlog_wish_text(const struct eventlog_program_wish *wish, char *text);

/**
 * eventlog_wishes_follow() - have an event that comes to life do what is wished
 * @event: with a slot, its domain locked
 */
void eventlog_wishes_follow(struct eventlog_event *event);

/**
 * eventlog_wishes_state() - what an event does, subject to a predicate or not
 * @event: its domain locked
 *
 * Return: EVENTLOG_MARKER_*.
 */
u8 eventlog_wishes_state(const struct eventlog_event *event);

/**
 * eventlog_wish_strings() - which values of a hit have to be at hand as strings
 * @event: the marker
 *
 * RCU read side.
 *
 * Return: a bit for each.
 */
u16 eventlog_wish_strings(const struct eventlog_event *event);

/**
 * eventlog_wish_ask() - what is a hit to do
 * @event: the marker
 * @values: what it was hit with, EVENTLOG_ASK_VALUES_MAX of them
 * @count: of those that there are
 * @strings: those of these that are strings, at addresses in the kernel
 *
 * RCU read side, preemption off.
 *
 * Return: EVENTLOG_MARKER_*; -EINVAL: @count is too small for what is wished;
 * -EAGAIN: other strings are needed by now.
 */
int eventlog_wish_ask(const struct eventlog_event *event, const u64 *values, unsigned int count,
		      u16 strings);

/**
 * eventlog_wishes_leave() - an event ends
 * @event: with a slot, its domain locked
 */
void eventlog_wishes_leave(struct eventlog_event *event);

/**
 * eventlog_wishes_drop_all() - end of a domain
 * @domain: the domain, locked, without events
 */
void eventlog_wishes_drop_all(struct eventlog_domain *domain);

#endif /* EVENTLOG_WISH_H */
