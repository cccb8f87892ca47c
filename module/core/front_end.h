/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Front ends: modules of their own that offer programs another interface, and whose events are
 * events of the root.  There is one, eventlog_user_events.ko.
 *
 * A front end registers here.  It makes, emits and ends events with these functions, which are
 * exported for front ends only, in a namespace of their own (front_end.c has the list):
 *
 *	memory.h	counted memory; what a front end has not freed is reported when
 *			eventlog.ko is unloaded
 *	core/user.h	users and their quotas
 *	core/fields.h	parses the fields of an event, and validates payloads
 *	core/event.h	eventlog_event_register() and _unregister(), _use(), _persist(), _delete()
 *	core/emit.h	eventlog_emit()
 *	core/ops.h	eventlog_trace_ops: what is attached to the trace event of an event
 *
 * It also locks the root domain, to read its events and to keep lists of its own.
 *
 * An event of a front end has a watch, a struct of the front end, whose functions in struct
 * eventlog_watch_ops are called until the event ends.  The symbols keep eventlog.ko loaded while
 * the front end is.  The front end can be unloaded while eventlog.ko stays: it ends all its events
 * before it unregisters.
 */
#ifndef EVENTLOG_FRONT_END_H
#define EVENTLOG_FRONT_END_H

struct eventlog_watch_ops;

/**
 * eventlog_front_end_register() - register a front end, before it makes an event
 * @ops: called from now on; constant
 *
 * Process context; the root domain is not locked.
 *
 * Return: 0, for eventlog_front_end_unregister(); -EBUSY: there is one.
 */
int eventlog_front_end_register(const struct eventlog_watch_ops *ops);

/**
 * eventlog_front_end_unregister() - forget the front end, which has no events any more
 *
 * When it returns, nothing calls its functions.  Process context, sleeps; no lock is held under
 * which settle() is called.
 */
void eventlog_front_end_unregister(void);

#endif /* EVENTLOG_FRONT_END_H */
