/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instances: what elog create, delete and list do with --instance and --instances, and the
 * names of quotas. Only for these verbs and elog info.
 */
#ifndef INSTANCE_H
#define INSTANCE_H

#include "cmd/options.h"

/* Names of quotas in JSON and for --quota, by enum eventlog_quota. */
extern const char *const quota_names[EVENTLOG_QUOTAS];

/** instance_create() - create the instance that --instance names; an exit status */
int instance_create(const struct options *options);

/** instance_delete() - delete the instance that --instance names; an exit status */
int instance_delete(const struct options *options);

/** instance_list() - list the instances that the opener of the device may see; an exit status */
int instance_list(const struct options *options);

#endif /* INSTANCE_H */
