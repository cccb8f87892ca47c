/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cgroups of --cgroup and --unit, by their names in the file system of cgroup2. A rule of
 * the kernel gets an open directory: see rules.c.
 */
#ifndef CGROUPS_H
#define CGROUPS_H

#include "input/select.h"

/**
 * cgroup_open() - open one of the cgroups of a selection
 * @spec: the selection
 * @index: less than @spec->cgroups.count + @spec->units.count
 *
 * Return: a file descriptor, which the caller closes; or a negative errno; the reason was
 * printed.
 */
int cgroup_open(const struct selection_spec *spec, size_t index);

#endif /* CGROUPS_H */
