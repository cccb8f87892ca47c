/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading definitions: the ioctl DESCRIBE, of one definition, and LIST, of many.
 *
 * Both unlock the domain after every few definitions, and copy to user space without
 * locks.  The state of a call is its position, a descriptor.  Called by file.c.
 */
#ifndef EVENTLOG_DESCRIBE_H
#define EVENTLOG_DESCRIBE_H

struct eventlog_domain;
struct eventlog_list_ops;
struct file;

/* EVENTLOG_LIST_DEFINITIONS. */
extern const struct eventlog_list_ops eventlog_definitions_list;

/**
 * eventlog_ioctl_describe() - EVENTLOG_IOC_DESCRIBE
 * @domain: the domain
 * @filp: the file
 * @argument: struct eventlog_describe
 * @user: the caller's struct
 *
 * Return: 0 or a negative errno.
 */
int eventlog_ioctl_describe(struct eventlog_domain *domain, struct file *filp, void *argument,
			    void __user *user);

#endif /* EVENTLOG_DESCRIBE_H */
