/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of the threads that have events in a ring, so that a consumer knows the name
 * of a thread that has exited, and the descriptors of these events.  What the tables do
 * not have is new in the ring: the metadata of the sub-buffer says so, see
 * eventlog_ring_news().
 *
 * Each ring has a table of its own, with ids as in its records.  So a subscriber learns
 * only names of threads whose events it gets.  A thread's id selects its place, and a
 * later thread replaces an earlier one.  Likewise for descriptors: one that was replaced
 * is new again.
 *
 * No lock.  Only the ring's CPU writes, with preemption off, and all contexts that are
 * nested there have the same current task.  The ring of a shard has one writer at a time.
 * Readers on other CPUs retry by @sequence.
 */
#ifndef EVENTLOG_COMMS_H
#define EVENTLOG_COMMS_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

#include "compat.h"

/**
 * struct eventlog_comm - the name of a thread
 * @sequence: odd while the other members change
 * @tid: the thread, in the subscriber's pid namespace; 0: unknown there
 * @pid: its process
 * @time: of the event that set the name
 * @comm: the name, as two words
 */
struct eventlog_comm {
	u32 sequence;
	u32 tid;
	u32 pid;
	u64 time;
	u64 comm[2];
};

#define EVENTLOG_DESCRIPTORS_MAX 256

/**
 * struct eventlog_comms - the threads and events of one ring
 * @comms: by the lowest bits of the thread id
 * @descriptors: by their lowest bits; 0: none
 */
struct eventlog_comms {
	struct eventlog_comm comms[EVENTLOG_NAMES_MAX];
	u32 descriptors[EVENTLOG_DESCRIPTORS_MAX];
};

/* Half of the name of a task; another task may be changing it. */
static __always_inline u64 eventlog_comm_word(const char *name, unsigned int half)
{
	BUILD_BUG_ON(TASK_COMM_LEN < 2 * sizeof(u64));
	return data_race(get_unaligned((const u64 *)name + half));
}

/* The rest of eventlog_comms_keep(). */
void eventlog_comms_set(struct eventlog_comms *comms, const struct eventlog_record *record,
			const char *name);

/**
 * eventlog_comms_keep() - keep the name of a task, and the descriptor of a record
 * @comms: of the ring that gets the record
 * @record: the record; its time, pid and tid are set
 * @tid: its tid
 * @name: of the current task, or of the one whose record is delivered later
 * @descriptor: its descriptor
 *
 * Any context, preemption off.  Mostly the tables have both already.
 *
 * Return: true if they did not: this is news in the ring.
 */
static __always_inline bool eventlog_comms_keep(struct eventlog_comms *comms,
						const struct eventlog_record *record, u32 tid,
						const char *name, u32 descriptor)
{
	const struct eventlog_comm *comm = &comms->comms[tid % EVENTLOG_NAMES_MAX];

	if (likely(!((comm->tid ^ tid) | (comm->pid ^ record->pid) |
		     (comm->comm[0] ^ eventlog_comm_word(name, 0)) |
		     (comm->comm[1] ^ eventlog_comm_word(name, 1)) |
		     (comms->descriptors[descriptor % EVENTLOG_DESCRIPTORS_MAX] ^ descriptor))))
		return false;
	eventlog_comms_set(comms, record, name);
	return true;
}

/**
 * eventlog_comms_read() - copy a name
 * @comms: the table, which may change meanwhile
 * @index: of the name, below EVENTLOG_NAMES_MAX
 * @name: set
 *
 * Any context, any CPU.
 *
 * Return: false: there is none.
 */
bool eventlog_comms_read(const struct eventlog_comms *comms, unsigned int index,
			 struct eventlog_name *name);

#endif /* EVENTLOG_COMMS_H */
