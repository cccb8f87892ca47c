// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of threads from the kernel: see names.h.
 */
#include <sys/ioctl.h>

#include "consumer/names.h"
#include "util/process.h"

unsigned int elog_names_read(int fd, unsigned int ring, uint64_t *since,
			     struct eventlog_name *names)
{
	struct eventlog_names request = {
		.size = sizeof(request),
		.ring = ring,
		.count = EVENTLOG_NAMES_MAX,
		.since = *since,
		.names = (uintptr_t)names,
		.name_size = sizeof(*names),
	};
	unsigned int i;

	if (ioctl(fd, EVENTLOG_IOC_NAMES, &request))
		return 0;
	for (i = 0; i < request.count; i++) {
		names[i].comm[sizeof(names[i].comm) - 1] = '\0';
		if (names[i].time > *since)
			*since = names[i].time;
	}
	return request.count;
}

void elog_names_learn(int fd, unsigned int ring, uint64_t *since,
		      struct elog_processes *processes)
{
	struct eventlog_name names[EVENTLOG_NAMES_MAX];
	unsigned int count, i;

	if (!processes)
		return;
	count = elog_names_read(fd, ring, since, names);
	for (i = 0; i < count; i++)
		elog_processes_keep(processes, &names[i]);
}
