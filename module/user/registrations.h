/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Listing who has registered which events: EVENTLOG_LIST_REGISTRATIONS.
 *
 * The producers of a domain are in an xarray, by a number that each gets with its first
 * registration.  A reader looks at a producer while it holds the lock of the xarray, a
 * spinlock, which a producer takes when it ends.  It is held for a limited number of
 * producers.
 */
#ifndef EVENTLOG_REGISTRATIONS_H
#define EVENTLOG_REGISTRATIONS_H

struct eventlog_domain;
struct eventlog_file;
struct eventlog_list_ops;

/* EVENTLOG_LIST_REGISTRATIONS. */
extern const struct eventlog_list_ops eventlog_registrations_list;

/**
 * eventlog_producer_enlist() - add a file to the producers of its domain, once
 * @file: locked; its registrations are those of the calling process
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_producer_enlist(struct eventlog_file *file);

/**
 * eventlog_producer_delist() - remove a file from the producers of its domain
 * @file: to which there is no other reference; its registrations still exist
 */
void eventlog_producer_delist(struct eventlog_file *file);

#endif /* EVENTLOG_REGISTRATIONS_H */
