// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring's core, the parts off the hot path: see ring.h.
 */
#include "ring.h"

void eventlog_ring_init(struct eventlog_ring *ring, void *pages, u32 page_bytes,
			u32 data_bytes, u32 sub_buffer_bytes, u32 cpu, bool overwrite)
{
	struct eventlog_ring_header *header = pages;

	memset(ring, 0, sizeof(*ring));
	ring->header = header;
	ring->consumer = (void *)((u8 *)pages + page_bytes);
	ring->data = (u8 *)pages + 2 * page_bytes;
	ring->data_bytes = data_bytes;
	ring->sub_buffer_bytes = sub_buffer_bytes;
	ring->overwrite = overwrite;

	header->magic = EVENTLOG_RING_MAGIC;
	header->flags = overwrite ? EVENTLOG_RING_OVERWRITE : 0;
	header->cpu = cpu;
	header->data_offset = 2 * page_bytes;
	header->data_bytes = data_bytes;
	header->sub_buffer_bytes = sub_buffer_bytes;
}

void eventlog_ring_write_marker(struct eventlog_ring *ring, u64 position, u64 time)
{
	struct eventlog_ring_header *header = ring->header;
	struct eventlog_record *record =
		(void *)(ring->data + ((u32)position & (ring->data_bytes - 1)));
	struct eventlog_lost_counts *counts = (void *)(record + 1);
	u64 total = READ_ONCE(header->lost_total);
	unsigned int cause;

	/*
	 * The total is read before the counts, and losing counts them in the
	 * other order: the counts below cover at least the total reported.
	 */
	barrier();
	memset(record, 0, sizeof(*record));
	record->size_flags = EVENTLOG_RING_MARKER_BYTES |
			     EVENTLOG_RECORD_LOST << EVENTLOG_RECORD_TYPE_SHIFT;
	record->time = time;
	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
		counts->lost[cause] = READ_ONCE(header->lost[cause]);
	WRITE_ONCE(ring->reported, total);
}
