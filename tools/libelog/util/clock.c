// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Clocks in time namespaces: there, CLOCK_MONOTONIC and CLOCK_BOOTTIME differ from the
 * clocks of the kernel's records, see time_namespaces(7). No state: any thread may call
 * this.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "elog.h"
#include "util/util.h"

/* /proc has the offsets of the namespace that children will be in. */
static bool is_in_namespace_of_children(void)
{
	char own[64], of_children[64];
	ssize_t size, other;

	size = readlink("/proc/self/ns/time", own, sizeof(own));
	other = readlink("/proc/self/ns/time_for_children", of_children,
			 sizeof(of_children));
	return size > 0 && size == other && !memcmp(own, of_children, (size_t)size);
}

struct elog_clock_offsets elog_clock_offsets(void)
{
	struct elog_clock_offsets offsets = { 0 };
	int64_t seconds, nanoseconds;
	char line[128], name[16];
	FILE *file;

	if (!is_in_namespace_of_children())
		return offsets;
	file = fopen("/proc/self/timens_offsets", "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%15s %" SCNd64 " %" SCNd64, name, &seconds,
			   &nanoseconds) != 3)
			continue;
		if (!strcmp(name, "monotonic"))
			offsets.monotonic = seconds * 1000000000 + nanoseconds;
		if (!strcmp(name, "boottime"))
			offsets.boottime = seconds * 1000000000 + nanoseconds;
	}
	if (file)
		fclose(file);
	return offsets;
}

int64_t elog_time_offset(void)
{
	return elog_clock_offsets().monotonic;
}
