// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of threads: see comms.h.
 */
#include <linux/string.h>

#include "core/comms.h"

/* A writer that finds an odd sequence has interrupted one that sets the same name. */
static notrace void eventlog_comm_set(struct eventlog_comm *comm,
				      const struct eventlog_record *record, const char *name)
{
	u32 sequence = READ_ONCE(comm->sequence);

	if (sequence & 1)
		return;
	WRITE_ONCE(comm->sequence, sequence + 1);
	smp_wmb();
	WRITE_ONCE(comm->tid, record->tid);
	WRITE_ONCE(comm->pid, record->pid);
	WRITE_ONCE(comm->time, record->time);
	WRITE_ONCE(comm->comm[0], eventlog_comm_word(name, 0));
	WRITE_ONCE(comm->comm[1], eventlog_comm_word(name, 1));
	smp_wmb();
	WRITE_ONCE(comm->sequence, sequence + 2);
}

noinline notrace void eventlog_comms_set(struct eventlog_comms *comms,
					 const struct eventlog_record *record, const char *name)
{
	WRITE_ONCE(comms->descriptors[record->descriptor % EVENTLOG_DESCRIPTORS_MAX],
		   record->descriptor);
	eventlog_comm_set(&comms->comms[record->tid % EVENTLOG_NAMES_MAX], record, name);
}

/* Return: false while a writer changes the name, which does not take long. */
static bool eventlog_comm_read(const struct eventlog_comm *comm, struct eventlog_name *name)
{
	u32 sequence = READ_ONCE(comm->sequence);
	u64 words[2];

	if (sequence & 1)
		return false;
	smp_rmb();
	name->tid = READ_ONCE(comm->tid);
	name->pid = READ_ONCE(comm->pid);
	name->time = READ_ONCE(comm->time);
	words[0] = READ_ONCE(comm->comm[0]);
	words[1] = READ_ONCE(comm->comm[1]);
	smp_rmb();
	if (READ_ONCE(comm->sequence) != sequence)
		return false;
	memcpy(name->comm, words, sizeof(name->comm));
	name->comm[sizeof(name->comm) - 1] = '\0';
	return true;
}

bool eventlog_comms_read(const struct eventlog_comms *comms, unsigned int index,
			 struct eventlog_name *name)
{
	/* The writer has preemption off, so it cannot wait for this task. */
	while (!eventlog_comm_read(&comms->comms[index], name))
		cpu_relax();
	return name->tid;
}
