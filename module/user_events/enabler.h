/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers and unregisters bits, and writes them when their events are enabled or disabled.
 *
 * A change of an event is noted under domain->lock.  Who made it then writes a limited number
 * of bits; a work item writes the others, and has the work items of address spaces (see
 * space.h) look at theirs.
 *
 * Locks: see set.h; ue_dirty_lock, a spin lock that is taken last, protects the list of
 * events that have changed.
 */
#ifndef EVENTLOG_USER_EVENTS_ENABLER_H
#define EVENTLOG_USER_EVENTS_ENABLER_H

#include <linux/types.h>

struct ue_bit;
struct eventlog_user;
struct eventlog_watch;

/**
 * ue_enabler_exists() - does the caller's address space have an enabler for a bit
 * @bit: its size does not matter
 *
 * Process context; no lock is held.
 */
bool ue_enabler_exists(const struct ue_bit *bit);

/**
 * ue_enabler_add() - make an enabler in the caller's address space and set its bit
 * @watch: the event; the caller has a registration
 * @user: who registers
 * @bit: valid
 *
 * Process context; no lock is held.
 *
 * Return: 0; -EADDRINUSE: the bit has an enabler; -EFAULT: it cannot be written; -EMFILE:
 * the user has too many registrations; -ENOMEM; -EINTR: a fatal signal.
 */
int ue_enabler_add(struct eventlog_watch *watch, struct eventlog_user *user,
		   const struct ue_bit *bit);

/**
 * ue_enabler_remove() - remove an enabler of the caller's address space, clear its bit
 * @bit: its size is not used
 *
 * Process context; no lock is held.
 *
 * Return: 0; -ENOENT; -EFAULT: removed, but the bit cannot be written; -EINTR.
 */
int ue_enabler_remove(const struct ue_bit *bit);

/* For &struct eventlog_watch_ops. */
void ue_enablers_changed(struct eventlog_watch *watch);

/**
 * ue_enablers_forget() - the event ends: forget that it changed
 * @watch: the event; domain->lock is held
 */
void ue_enablers_forget(struct eventlog_watch *watch);

/**
 * ue_enablers_settle() - write bits of events that have changed
 *
 * A limited number of them, those of the last change first; a work item writes the others.
 *
 * Process context; event_mutex may be held.
 */
void ue_enablers_settle(void);

/* ue_work_queue() - have the work item look for work; any context but NMI */
void ue_work_queue(void);

/**
 * ue_enablers_exit() - clear all bits and drop all address spaces, at unload
 *
 * No lock is held, no file is open, and no probe or work item of an address space runs.  May
 * wait for a process; a fatal signal ends that.
 */
void ue_enablers_exit(void);

#endif /* EVENTLOG_USER_EVENTS_ENABLER_H */
