/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Listing who has registered which events: REGISTRATION_NEXT.
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
struct file;

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

/**
 * eventlog_ioctl_registration_next() - EVENTLOG_IOC_REGISTRATION_NEXT
 * @domain: the domain
 * @filp: the file
 * @argument: struct eventlog_registration_next
 * @user: the caller's struct
 *
 * Return: 0 or a negative errno.
 */
int eventlog_ioctl_registration_next(struct eventlog_domain *domain, struct file *filp,
				     void *argument, void __user *user);

#endif /* EVENTLOG_REGISTRATIONS_H */
