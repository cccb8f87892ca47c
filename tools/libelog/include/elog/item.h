/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: what consumers and readers of files return.
 */
#ifndef ELOG_ITEM_H
#define ELOG_ITEM_H

#include <stddef.h>
#include <stdint.h>

#include <linux/eventlog.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum elog_item_type - type of an item; consumers return the first two only */
enum elog_item_type {
	ELOG_ITEM_EVENT,
	ELOG_ITEM_LOST,
	ELOG_ITEM_PART,		/* the next part of a file begins */
	ELOG_ITEM_SYNC,		/* everything before its time was returned */
	ELOG_ITEM_DAMAGE,	/* a file is damaged */
};

/** enum elog_damage - kinds of damage to a file */
enum elog_damage {
	ELOG_DAMAGE_BYTES,	/* bytes are not blocks, or have changed */
	ELOG_DAMAGE_CUT,	/* the file ends inside a block */
	ELOG_DAMAGE_NO_END,	/* a part has no END block */
	ELOG_DAMAGE_RECORDS,	/* bytes of a ring are not records */
	ELOG_DAMAGE_MISSING,	/* bytes of a ring, or records, are missing */
	ELOG_DAMAGE_ORDER,	/* too much data between two SYNC blocks to sort it */
	ELOG_DAMAGE_UNKNOWN,	/* this library cannot read a block of this kind */
	ELOG_DAMAGES,
};

/* No file and no record counts more causes of loss. */
#define ELOG_LOST_CAUSES_MAX	64

/* elog_item.stream of a loss that belongs to no stream. */
#define ELOG_STREAM_NONE	UINT32_MAX

/**
 * struct elog_item - an event, a loss, or a message about a file
 * @type: which of them
 * @cpu: the CPU; EVENTLOG_CPU_UNKNOWN: not known
 * @context: enum eventlog_context
 * @descriptor: the event's definition
 * @time: CLOCK_MONOTONIC, ns; a loss did not happen later than this
 * @session: 0: none
 * @pid: process
 * @tid: thread
 * @payload: the event's payload, in the ring; valid until the next call of a function
 *	on the consumer or reader
 * @payload_size: bytes of it, with up to 7 zeros of padding
 * @lost: losses only: number of lost events by cause, since the previous report. NULL
 *	for other items; valid as long as @payload
 * @lost_count: elements of @lost, at most ELOG_LOST_CAUSES_MAX; a cause may be unknown
 *	to this library
 * @stream: the ring or the file's stream that this was in. The CPU of a stream may be
 *	unknown, and streams may share a CPU. ELOG_STREAM_NONE: a loss on CPUs that have
 *	no ring
 * @damage: ELOG_ITEM_DAMAGE only: the kind of damage
 * @flags: of an event: EVENTLOG_RECORD_FLAG_MAPPED: it is from a producer ring, and its CPU
 *	is not known; EVENTLOG_RECORD_FLAG_ADJUSTED: its time was changed, too. Otherwise 0
 * @offset: ELOG_ITEM_DAMAGE only: where it begins in the file, in bytes from where
 *	reading began
 * @size: ELOG_ITEM_DAMAGE only: bytes that were skipped or are missing; 0: not known
 * @instance: the name of the instance that this is from; NULL: the root, or not known. Readers of
 *	files set it; a consumer has one instance, which its opener knows. Valid as long as
 *	@payload
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
	const uint64_t *lost;
	uint32_t lost_count;
	uint32_t stream;
	enum elog_damage damage;
	uint32_t flags;
	uint64_t offset;
	uint64_t size;
	const char *instance;
	uint64_t reserved[3];
};

/*
 * Causes of loss besides those of the kernel: a capture could not write the event to its file,
 * or the file was removed before a reader that follows the capture has read it.
 */
#define ELOG_LOST_NOT_WRITTEN	EVENTLOG_LOST_CAUSES
#define ELOG_LOST_REMOVED	(EVENTLOG_LOST_CAUSES + 1)

/** elog_lost_name() - the name of a cause of loss, or NULL */
const char *elog_lost_name(unsigned int cause);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_ITEM_H */
