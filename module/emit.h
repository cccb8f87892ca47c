/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Emission: the hot path.  No lock, no allocation, no sleep, no printk.
 */
#ifndef EVENTLOG_EMIT_H
#define EVENTLOG_EMIT_H

#include <linux/types.h>

struct eventlog_event;

/**
 * eventlog_emit() - give an event to every subscriber that wants it
 * @event: a definition the caller keeps alive, by RCU or otherwise
 * @session: chosen by the provider, 0: none
 * @payload: kernel memory that will not fault, valid for the event's layout
 * @bytes: its size, at most EVENTLOG_PAYLOAD_MAX
 *
 * Any context.  A subscriber that cannot take the event has the loss counted.
 */
void eventlog_emit(const struct eventlog_event *event, u64 session, const void *payload,
		   u32 bytes);

#endif /* EVENTLOG_EMIT_H */
