// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timed loops: see ring_loop.h.  The Makefile defines BENCH_CLOCK, BENCH_LOOPS
 * (the name of this build's struct bench_loops) and, for a LOCKed
 * compare-and-exchange, EVENTLOG_LOCAL_LOCKED.
 */
#include "ring_loop.h"

/* Fills records as eventlog_emit() does. */
static u64 emit(struct eventlog_ring *ring, struct eventlog_ring_consumer *consumer,
		const struct bench_source *source, u32 count, u32 release)
{
	struct eventlog_ring_slot slot;
	u32 left = release, i;
	u64 placed = 0;

	for (i = 0; i < count; i++) {
		if (eventlog_ring_reserve(ring, source->bytes, 0, 0, &slot)) {
			slot.record->descriptor = source->descriptor;
			slot.record->session = source->session;
			slot.record->pid = source->pid;
			slot.record->tid = source->tid;
			memcpy(slot.record + 1, source->payload, source->bytes);
			placed += eventlog_ring_commit(ring, &slot);
		}
		if (release && !--left) {
			left = release;
			smp_store_release(&consumer->position, (u32)ring->header->committed);
		}
	}
	if (release)
		smp_store_release(&consumer->position, (u32)ring->header->committed);
	return placed;
}

static u32 copy(u8 *data, u32 size, u32 position, const struct bench_source *source, u32 count)
{
	const u32 bytes = eventlog_ring_record_bytes(source->bytes);
	u32 i;

	for (i = 0; i < count; i++) {
		struct eventlog_record *record;

		if (unlikely(position + bytes > size))
			position = 0;
		record = (void *)(data + position);
		record->size_flags = bytes;
		record->time = eventlog_ring_clock();
		record->descriptor = source->descriptor;
		record->session = source->session;
		record->pid = source->pid;
		record->tid = source->tid;
		memcpy(record + 1, source->payload, source->bytes);
		position += bytes;
		/* Do not combine stores of two iterations. */
		barrier();
	}
	return position;
}

/* The same operation that moves head. */
static __always_inline u32 exchange_word(u64 *word)
{
	u64 value = READ_ONCE(*word);

	return eventlog_local_cmpxchg(word, value, value + 64) != value;
}

static u32 exchange(u64 *line, u32 count)
{
	u32 failed = 0, i;

	for (i = 0; i < count; i++)
		failed += exchange_word(&line[i % BENCH_LINE_WORDS]);
	return failed;
}

static u32 exchange_chain(u64 *word, u32 count)
{
	u32 failed = 0, i;

	for (i = 0; i < count; i++)
		failed += exchange_word(word);
	return failed;
}

const struct bench_loops BENCH_LOOPS = { emit, copy, exchange, exchange_chain };
