/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests that create and delete instances.
 */
#ifndef INSTANCE_COMMON_H
#define INSTANCE_COMMON_H

#include "eventlog_common.h"

/** create_request() - a request for an instance that only root may open */
struct eventlog_instance_create create_request(const char *name);

/** try_create() - INSTANCE_CREATE; returns as ioctl(2) */
int try_create(int fd, struct eventlog_instance_create *request);

/** create_with() - create an instance; @id may be NULL; returns a file of it */
int create_with(struct eventlog_instance_create *request, __u32 *id);

/** create() - the same, with create_request() */
int create(const char *name, __u32 *id);

/** try_delete_instance() - INSTANCE_DELETE; returns as ioctl(2) */
int try_delete_instance(int fd, __u32 id);

/** delete_instance() - delete an instance */
void delete_instance(__u32 id);

/** try_open_instance() - get another file of instance @id by @fd; -1 with errno on failure */
int try_open_instance(int fd, __u32 id);

/** open_instance() - get another file of an instance by one of its files */
int open_instance(int fd);

#endif /* INSTANCE_COMMON_H */
