// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of threads from the kernel: see names.h.
 */
#include <string.h>

#include "consumer/names.h"
#include "util/port.h"
#include "util/process.h"

unsigned int elog_names_read(int fd, unsigned int ring, uint64_t *since,
			     struct eventlog_name *names)
{
	uint64_t buffer[EVENTLOG_NAMES_MAX * sizeof(*names) / sizeof(uint64_t)];
	struct eventlog_list request = {
		.size = sizeof(request),
		.kind = EVENTLOG_LIST_NAMES,
		.ring = ring,
		.since = *since,
		.buffer = (uintptr_t)buffer,
	};
	const struct eventlog_element *next;
	unsigned int count = 0, i;

	do {
		request.buffer_size = sizeof(buffer);
		if (elog_port_call(fd, EVENTLOG_IOC_LIST, &request))
			return count;
		next = (const void *)buffer;
		for (i = 0; i < request.count && count < EVENTLOG_NAMES_MAX; i++, count++) {
			memcpy(&names[count], next, sizeof(*names));
			names[count].comm[sizeof(names->comm) - 1] = '\0';
			if (names[count].time > *since)
				*since = names[count].time;
			next = (const void *)((const char *)next + next->size);
		}
	} while (request.cursor);
	return count;
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
