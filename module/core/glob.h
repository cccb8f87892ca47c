/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Matching of names with the globs of rules and of marker policies, which users choose.
 */
#ifndef EVENTLOG_GLOB_H
#define EVENTLOG_GLOB_H

#include <linux/glob.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "core/types.h"

/* Comparisons of characters that count as one step of domain->lock. */
#define EVENTLOG_GLOB_STEP 256

/**
 * eventlog_glob_match() - match a name with a glob
 * @domain: locked
 * @glob: the glob
 * @name: the name
 *
 * After a '*', glob_match() compares the rest of the glob at each place of the name:
 * counts as many steps as that may take.
 *
 * Return: whether it matches.
 */
static inline bool eventlog_glob_match(struct eventlog_domain *domain, const char *glob,
				       const char *name)
{
	size_t length = strlen(name);

	eventlog_domain_work(domain, 1 + min(strlen(glob), length) * length / EVENTLOG_GLOB_STEP);
	return glob_match(glob, name);
}

#endif /* EVENTLOG_GLOB_H */
