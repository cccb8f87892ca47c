/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: what consumers and readers of files yield.
 */
#ifndef ELOG_ITEM_H
#define ELOG_ITEM_H

#include <stddef.h>
#include <stdint.h>

#include <linux/eventlog.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum elog_item_type - what was found; consumers find the first two only */
enum elog_item_type {
	ELOG_ITEM_EVENT,
	ELOG_ITEM_LOST,
	ELOG_ITEM_PART,		/* a file's next capture begins */
	ELOG_ITEM_SYNC,		/* all before its time was yielded */
	ELOG_ITEM_DAMAGE,	/* a file is not whole */
};

/** enum elog_damage - in what way a file is not whole */
enum elog_damage {
	ELOG_DAMAGE_BYTES,	/* bytes are not blocks, or have changed */
	ELOG_DAMAGE_CUT,	/* it ends within a block */
	ELOG_DAMAGE_NO_END,	/* a capture in it has no end */
	ELOG_DAMAGE_RECORDS,	/* bytes of a ring are not records */
	ELOG_DAMAGE_MISSING,	/* bytes of a ring, or records, are not there */
	ELOG_DAMAGE_ORDER,	/* too much was between two SYNC blocks to sort it */
	ELOG_DAMAGE_UNKNOWN,	/* a block is of a kind that this library cannot read */
	ELOG_DAMAGES,
};

/**
 * struct elog_item - an event, or a loss, or something about a file
 * @type: which
 * @cpu: the CPU it happened on; EVENTLOG_CPU_ALL: of a loss on CPUs that have
 *	no ring
 * @context: enum eventlog_context
 * @descriptor: the event's definition
 * @time: CLOCK_MONOTONIC, ns; of a loss: not later than that
 * @session: 0: none
 * @pid: process
 * @tid: thread
 * @payload: the event's payload, in the ring: valid until the next call of a
 *	function on the consumer
 * @payload_size: bytes of it, up to 7 zeroes behind it included
 * @lost: of a loss: how many by cause, since the one reported before
 * @damage: of ELOG_ITEM_DAMAGE: which
 * @offset: likewise, where it begins in the file, in bytes from where reading
 *	began
 * @size: likewise, how many bytes were skipped, or are missing; 0: not known
 * @reserved: 0
 */
struct elog_item {
	enum elog_item_type type;
	unsigned int cpu;
	enum eventlog_context context;
	uint32_t descriptor;
	uint64_t time;
	uint64_t session;
	uint32_t pid;
	uint32_t tid;
	const void *payload;
	size_t payload_size;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
	enum elog_damage damage;
	uint64_t offset;
	uint64_t size;
	uint64_t reserved[4];
};

/** elog_lost_name() - the name of a cause of loss, or NULL */
const char *elog_lost_name(unsigned int cause);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_ITEM_H */
