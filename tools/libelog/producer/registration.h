/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The events of a producer, and their registrations with the kernel.
 *
 * The status of an event is the kernel's byte in the status map while the event is registered.
 * Otherwise it is a byte of the library, which says whether the event may be registered later.
 *
 * The producer's lock protects everything that is not marked "atomic" in state.h. producer.c
 * calls the functions below; the rest of registration.c is the public API.
 */
#ifndef LIBELOG_REGISTRATION_H
#define LIBELOG_REGISTRATION_H

#include "producer/state.h"
#include "producer/status_map.h"

/* Is the event not registered, but may be registered later? */
static inline bool elog_event_is_pending(const struct registered_event *event)
{
	return __atomic_load_n(&event->event.status, __ATOMIC_ACQUIRE) == &elog_status_maybe;
}

/**
 * elog_event_register_locked() - register an event with the kernel
 * @producer: locked; it has a file
 * @event: one of its events
 *
 * Makes only system calls.
 *
 * Return: 0 or a negative errno.
 */
int elog_event_register_locked(struct elog_producer *producer, struct registered_event *event);

/** elog_events_disable() - let the status of all events be "may be registered later" */
void elog_events_disable(struct elog_producer *producer);

/** elog_events_forget() - forget the registrations: events are disabled, and no thread emits one */
void elog_events_forget(struct elog_producer *producer);

/** elog_events_free() - free all events; no thread uses the producer */
void elog_events_free(struct elog_producer *producer);

#endif /* LIBELOG_REGISTRATION_H */
