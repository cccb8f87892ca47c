/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wishes: what markers of programs are to do beside tracing, kept for those that are
 * there and those that come. All under domain->lock.
 */
#ifndef EVENTLOG_WISH_H
#define EVENTLOG_WISH_H

#include <linux/list.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_domain;
struct eventlog_event;

/* Handlers that can be wished for. */
#define EVENTLOG_WISH_HANDLERS (EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_PROBE)

/**
 * struct eventlog_program_wish - one of them; constant
 * @node: in the domain's wishes
 * @handlers: EVENTLOG_MARKER_*
 * @marker: glob over names of events, behind @program in the same allocation
 * @program: glob over names of providers behind the prefix
 */
struct eventlog_program_wish {
	struct list_head node;
	u8 handlers;
	const char *marker;
	char program[];
};

/**
 * eventlog_wish_add() - wish for something
 * @domain: unlocked
 * @program: glob
 * @marker: glob
 * @request: the rest; valid; the counts are set
 *
 * Process context.
 *
 * Return: 0; -ENOSPC; -ENOMEM.  Then nothing is changed.
 */
int eventlog_wish_add(struct eventlog_domain *domain, const char *program, const char *marker,
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
 * eventlog_wishes_follow() - have an event that comes to life do what is wished
 * @event: with a slot, its domain locked
 */
void eventlog_wishes_follow(struct eventlog_event *event);

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
