/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that are producers: their registrations and what they write.  For locks
 * see file.h.
 */
#ifndef EVENTLOG_PRODUCER_H
#define EVENTLOG_PRODUCER_H

#include <linux/nospec.h>
#include <linux/types.h>

#include "core/event.h"
#include "user/file.h"
struct iov_iter;
struct kiocb;

/**
 * struct eventlog_registration - what a write_index refers to
 * @event: live until the registration ends; freed an RCU grace period later
 * @registrant: the event and the user, for listings
 * @use: the event's list has it
 * @missed: how many events MISSED has counted; under the file's lock
 * @session: messages have a session before the payload
 * @handlers: EVENTLOG_MARKER_*: those that the program has enabled, for listings
 * @defaults: likewise, at first
 * @rcu: frees it
 */
struct eventlog_registration {
	struct eventlog_event *event;
	struct eventlog_registrant *registrant;
	struct eventlog_event_use use;
	u32 missed;
	bool session;
	u8 handlers;
	u8 defaults;
	struct rcu_head rcu;
};

/*
 * A target is a registration in one word, so that a writer finds the event with one
 * load: a pointer to the event, with the lowest bit set if messages have a session.
 */
#define EVENTLOG_TARGET_SESSION 1UL

static inline unsigned long
eventlog_registration_target(const struct eventlog_registration *registration)
{
	return (unsigned long)registration->event |
	       (registration->session ? EVENTLOG_TARGET_SESSION : 0);
}

/* The event of a target. */
static __always_inline struct eventlog_event *eventlog_target_event(unsigned long target)
{
	return (struct eventlog_event *)(target & ~EVENTLOG_TARGET_SESSION);
}

/**
 * eventlog_target_find() - find what an index refers to
 * @file: a producer
 * @write_index: any number
 *
 * Under RCU, which also protects the event.
 *
 * Return: the target, or 0.
 */
static __always_inline unsigned long eventlog_target_find(struct eventlog_file *file,
							  u32 write_index)
{
	struct eventlog_registration *registration;

	/* Ordered by the address dependency, like rcu_dereference(). */
	if (likely(write_index < EVENTLOG_FIRST_INDICES))
		return READ_ONCE(file->first[array_index_nospec(write_index,
								EVENTLOG_FIRST_INDICES)]);
	registration = xa_load(&file->registrations, write_index);
	return registration ? eventlog_registration_target(registration) : 0;
}

/* REGISTER, UNREGISTER, FILTER_GET and MARKER_HANDLERS. */
extern const struct eventlog_ioctls eventlog_producer_ioctls;

/**
 * eventlog_producer_init() - once, at load, before a file is opened
 * @registrations_max: limit of one file's registrations
 */
void eventlog_producer_init(unsigned int registrations_max);

/**
 * eventlog_producer_write_iter() - write(): emit an event
 * @kiocb: of a file of the device
 * @from: a message: write_index, session if the registration has one, payload; or
 *	EVENTLOG_WRITE_BATCH and several messages; or EVENTLOG_WRITE_KICK, or
 *	EVENTLOG_WRITE_SESSION
 *
 * Return: the size of the message, or an errno as eventlog(4) lists them.
 */
ssize_t eventlog_producer_write_iter(struct kiocb *kiocb, struct iov_iter *from);

/**
 * eventlog_producer_emit() - emit the event of a message after those of a producer ring
 * @file: a producer
 * @message: a copy in kernel memory, of a part of a call of write()
 * @bytes: its size, at least that of an index
 * @latest: see eventlog_emit_after()
 *
 * Return: 0, or the errno that write() of the message returns.
 */
int eventlog_producer_emit(struct eventlog_file *file, const u8 *message, size_t bytes,
			   u64 *latest);

/**
 * eventlog_producer_release() - end all registrations of a file
 * @file: to which there is no other reference
 */
void eventlog_producer_release(struct eventlog_file *file);

#endif /* EVENTLOG_PRODUCER_H */
