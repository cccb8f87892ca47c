// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of the ring buffer at module load: see selftest.h.
 *
 * The test has a ring of its own, which only the loading task writes and reads.  It
 * simulates a nested writer by reserving a record while another one is reserved.
 */
#define pr_fmt(format) "eventlog: " format

#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "memory.h"
#include "ring/ring.h"
#include "ring/selftest.h"

/* Enough records to fill the ring several times. */
#define SELFTEST_RECORDS 1000

struct eventlog_selftest {
	struct eventlog_ring ring;
	u64 position;
	u32 written;
	u32 read;
	u64 refused;
	u64 reported;
};

/* Reserves and fills a record.  Size and content of the payload depend on its number. */
static bool eventlog_selftest_reserve(struct eventlog_selftest *test,
				      struct eventlog_ring_slot *slot)
{
	u32 bytes = test->written * 7 % 300;

	if (!eventlog_ring_reserve(&test->ring, bytes, 0, 0, slot)) {
		test->refused++;
		return false;
	}
	slot->record->descriptor = bytes;
	slot->record->session = test->written;
	memset(slot->record + 1, test->written, bytes);
	test->written++;
	return true;
}

/*
 * Two writers, the second nested in the first.  Their records become visible only when
 * the first one commits.  In a locked ring the second one fails to take the lock.
 */
static bool eventlog_selftest_write(struct eventlog_selftest *test)
{
	const u64 *committed = &test->ring.header->committed;
	struct eventlog_ring_slot outer, nested;
	u64 before = READ_ONCE(*committed);

	if (!eventlog_selftest_reserve(test, &outer))
		return READ_ONCE(*committed) == before;
	if (eventlog_selftest_reserve(test, &nested) &&
	    (test->ring.locked || eventlog_ring_commit(&test->ring, &nested)))
		return false;
	if (READ_ONCE(*committed) != before || !eventlog_ring_commit(&test->ring, &outer))
		return false;
	return READ_ONCE(*committed) == READ_ONCE(test->ring.header->head);
}

static bool eventlog_selftest_read(struct eventlog_selftest *test)
{
	struct eventlog_ring *ring = &test->ring;

	while (test->position != ring->header->committed) {
		const struct eventlog_record *record =
			(void *)(ring->data + ((u32)test->position & (ring->data_bytes - 1)));
		u32 type = record->size_flags >> EVENTLOG_RECORD_TYPE_SHIFT;
		u32 bytes = record->size_flags & EVENTLOG_RECORD_SIZE_MASK;

		if (bytes < 8 || bytes % 8 || bytes > ring->header->committed - test->position)
			return false;
		test->position += bytes;
		if (type == EVENTLOG_RECORD_PADDING)
			continue;
		if (type == EVENTLOG_RECORD_LOST) {
			const struct eventlog_lost_counts *counts = (const void *)(record + 1);

			test->reported = counts->lost[EVENTLOG_LOST_NO_ROOM] +
				     counts->lost[EVENTLOG_LOST_NESTED];
			continue;
		}
		if (record->session != test->read || record->descriptor != test->read * 7 % 300 ||
		    bytes != ALIGN(sizeof(*record) + record->descriptor, EVENTLOG_RECORD_ALIGN) ||
		    memchr_inv(record + 1, test->read, record->descriptor))
			return false;
		test->read++;
	}
	((struct eventlog_ring_consumer *)ring->consumer)->position = test->position;
	return true;
}

static const char *eventlog_selftest_run(struct eventlog_selftest *test)
{
	const struct eventlog_ring_header *header = test->ring.header;
	struct eventlog_ring_slot slot;

	while (test->written < SELFTEST_RECORDS) {
		u64 full = header->lost[EVENTLOG_LOST_NO_ROOM];

		/* Fill the ring, so that each pass loses an event and writes a lost record. */
		while (header->lost[EVENTLOG_LOST_NO_ROOM] == full) {
			if (!eventlog_selftest_write(test))
				return "nested writers";
		}
		if (!eventlog_selftest_read(test))
			return "invalid record";
	}
	if (test->read != test->written || header->records != test->written)
		return "wrong number of records";
	if (header->lost_total != test->refused || !test->reported ||
	    test->reported > test->refused)
		return "wrong number of lost events";
	if (eventlog_ring_reserve(&test->ring, test->ring.sub_buffer_bytes, 0, 0, &slot) ||
	    header->lost[EVENTLOG_LOST_TOO_LARGE] != 1)
		return "record larger than a sub-buffer accepted";
	return NULL;
}

static int eventlog_ring_selftest_one(struct eventlog_selftest *test, void *pages, bool locked)
{
	const char *wrong;

	memset(test, 0, sizeof(*test));
	memset(pages, 0, 4 * PAGE_SIZE);
	eventlog_ring_init(&test->ring, pages, PAGE_SIZE, 2 * PAGE_SIZE, PAGE_SIZE, 0, false,
			   locked);
	preempt_disable();
	wrong = eventlog_selftest_run(test);
	preempt_enable();
	if (wrong)
		pr_err("self-test of the %sring failed: %s; not loading\n",
		       locked ? "locked " : "", wrong);
	return wrong ? -EIO : 0;
}

int eventlog_ring_selftest(void)
{
	struct eventlog_selftest *test = eventlog_alloc(sizeof(*test));
	void *pages = eventlog_alloc(4 * PAGE_SIZE);
	int ret = -ENOMEM;

	if (test && pages)
		ret = (EVENTLOG_RING_LOCKLESS ?
		       eventlog_ring_selftest_one(test, pages, false) : 0) ?:
		      eventlog_ring_selftest_one(test, pages, true);
	eventlog_free(pages);
	eventlog_free(test);
	return ret;
}
