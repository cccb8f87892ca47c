// SPDX-License-Identifier: GPL-2.0-only
/*
 * The consumer of ring_stress: see ring_test.h.
 *
 * It reads as the comment on the mapped ring in <linux/eventlog.h> requires and
 * assumes nothing: every byte of every record is compared with what its writer
 * must have written, or must be zero.
 *
 * In discard mode the data is read by plain loads: they must be ordered with the
 * writer's stores, and ThreadSanitizer checks that.  Overwrite mode has no such
 * order by design: a record is copied while it may be overwritten, and head tells
 * afterwards whether the copy is valid.  The copying loads are relaxed atomics;
 * the writer's stores are not, so ThreadSanitizer would report a race.  Under it
 * such rings are read only while their writer pauses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring_test.h"

void checker_restart(struct checker *checker)
{
	const struct test_ring *test = checker->test;
	u64 *copy = checker->copy;

	memset(checker, 0, sizeof(*checker));
	checker->test = test;
	checker->copy = copy;
	checker->header = (void *)test->mapping;
	checker->consumer = (void *)(test->mapping + test->geometry.page_bytes);
	checker->data = test->mapping + checker->header->data_offset;
	checker->position = test->geometry.start;
}

void checker_open(struct checker *checker, const struct test_ring *test)
{
	checker->test = test;
	checker->copy = malloc(test->geometry.sub_buffer_bytes);
	if (!checker->copy)
		test_fail("out of memory");
	checker_restart(checker);
}

void checker_close(struct checker *checker)
{
	free(checker->copy);
}

static u32 ring_bytes(const struct checker *checker)
{
	return checker->test->geometry.sub_buffer_bytes * checker->test->geometry.sub_buffers;
}

static const char *where(const struct checker *checker)
{
	static __thread char text[96];

	snprintf(text, sizeof(text), "ring %u, position %#llx, event %llu", checker->test->number,
		 (unsigned long long)checker->position, (unsigned long long)checker->events);
	return text;
}

/* Times do not decrease and are not before the time that a flush returned. */
static void check_time(struct checker *checker, u64 time)
{
	if (time < checker->time)
		test_fail("%s: the time decreases by %llu", where(checker),
			  (unsigned long long)(checker->time - time));
	checker->time = time;
	if (time < checker->promised_time &&
	    (long long)(checker->position - checker->promised_position) >= 0)
		test_fail("%s: %llu before the time that a flush returned", where(checker),
			  (unsigned long long)(checker->promised_time - time));
}

static void check_marker(struct checker *checker, const struct eventlog_record *record, u32 bytes)
{
	const struct eventlog_lost_counts *counts = (const void *)(record + 1);
	unsigned int cause;

	if (bytes != EVENTLOG_RING_MARKER_BYTES)
		test_fail("%s: a lost record of %u bytes", where(checker), bytes);
	if (record->size_flags & EVENTLOG_RECORD_CONTEXT_MASK || record->descriptor ||
	    record->session || record->pid || record->tid)
		test_fail("%s: a lost record's header is not zero", where(checker));
	check_time(checker, record->time);
	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++) {
		u64 count = counts->lost[cause];

		/* Both only grow, and the header is written before the record. */
		u64 known = eventlog_word_read(&checker->header->lost[cause],
					       &checker->header->lost_upper[cause]);

		if (count > known)
			test_fail("%s: %llu events lost by cause %u, a lost record says %llu",
				  where(checker), (unsigned long long)known, cause,
				  (unsigned long long)count);
		if (count && !test_may_lose(checker->test, cause))
			test_fail("%s: %llu events lost by cause %u", where(checker),
				  (unsigned long long)count, cause);
		if (count <= checker->reported[cause])
			continue;
		checker->reported_total += count - checker->reported[cause];
		checker->reported[cause] = count;
	}
	checker->markers++;
}

static void check_event(struct checker *checker, const struct eventlog_record *record, u32 bytes)
{
	u32 payload = record->pid, depth = TEST_DEPTH(record->descriptor);
	u32 sequence = record->session, known = record->session >> 32;
	u32 offset = TEST_OFFSET(record->descriptor);
	const u8 *tail;
	u32 step, i;

	if (record->tid != test_header_sum(record))
		test_fail("%s: torn header", where(checker));
	if (bytes != ALIGN((u32)sizeof(*record) + payload, EVENTLOG_RECORD_ALIGN) ||
	    depth >= TEST_DEPTHS || TEST_NUMBER(record->descriptor) != checker->test->number ||
	    (record->size_flags & EVENTLOG_RECORD_CONTEXT_MASK) >>
		    EVENTLOG_RECORD_CONTEXT_SHIFT != (depth & 3))
		test_fail("%s: not a record of this ring", where(checker));
	if (memcmp(record + 1, test_pool + offset, payload))
		test_fail("%s: torn payload of %u bytes", where(checker), payload);
	tail = (const u8 *)(record + 1) + payload;
	for (i = 0; i < bytes - sizeof(*record) - payload; i++) {
		if (tail[i])
			test_fail("%s: the tail after a payload of %u bytes is not zero",
				  where(checker), payload);
	}
	check_time(checker, record->time);

	/* 1 if no event is missing; 0 or huge if events are duplicated or reordered. */
	step = sequence - (u32)checker->sequence[depth];
	if (!step || step > 1U << 31)
		test_fail("%s: number %u of depth %u follows number %u", where(checker), sequence,
			  depth, (u32)checker->sequence[depth]);
	/* After an overrun the events before the first one are unknown. */
	if (checker->sequence[depth] || !checker->lapped)
		checker->missing += step - 1;
	checker->sequence[depth] += step;
	checker->events++;
	if (checker->lapped)
		return;
	/* All losses before this event must be reported before it. */
	if ((int)((u32)checker->reported_total - known) < 0)
		test_fail("%s: %u events were lost before, %llu reported", where(checker), known,
			  (unsigned long long)checker->reported_total);
	if (!checker->test->geometry.overwrite && checker->missing > checker->reported_total)
		test_fail("%s: %llu events are missing, %llu reported", where(checker),
			  (unsigned long long)checker->missing,
			  (unsigned long long)checker->reported_total);
}

static const struct eventlog_sub_buffer *meta_at(const struct checker *checker, u32 position)
{
	const struct eventlog_sub_buffer *meta;

	if (!checker->header->meta_bytes)
		return NULL;
	meta = (const void *)(checker->test->mapping + checker->header->meta_offset);
	return meta + (position & (ring_bytes(checker) - 1)) /
		      checker->test->geometry.sub_buffer_bytes;
}

/* Copy the metadata of the sub-buffer.  Without any, all records are news. */
static struct eventlog_sub_buffer copy_meta(const struct checker *checker)
{
	const struct eventlog_sub_buffer *meta = meta_at(checker, checker->position);
	struct eventlog_sub_buffer copy = {
		.position = EVENTLOG_SUB_BUFFER_UNCOUNTED, .news = checker->position,
	};

	if (!meta)
		return copy;
	copy.position = smp_load_acquire(&meta->position);
	copy.records = READ_ONCE(meta->records);
	copy.news = READ_ONCE(meta->news);
	return copy;
}

/* At the start of a sub-buffer: has the previous one as many events as the metadata says? */
static void check_count(struct checker *checker, const struct eventlog_sub_buffer *meta)
{
	bool known = meta->position == (u32)checker->position;

	if (known && !checker->lapped && meta->records != (u32)checker->events)
		test_fail("%s: %u events precede, the metadata says", where(checker),
			  meta->records);
	if (known && checker->based) {
		checker->counted++;
		if (meta->records - checker->base.records !=
		    (u32)(checker->events - checker->base.events))
			test_fail("%s: %u events in the sub-buffer, the metadata says",
				  where(checker), meta->records - checker->base.records);
	}
	checker->based = known;
	checker->base.records = meta->records;
	checker->base.events = checker->events;
}

/* Is the record a loss, marked as news, or the first of its kind? */
static bool is_news(struct checker *checker, const struct eventlog_record *record)
{
	u32 type = record->size_flags & EVENTLOG_RECORD_TYPE_MASK, kind = checker->kind;

	if (type == EVENTLOG_RECORD_LOST << EVENTLOG_RECORD_TYPE_SHIFT)
		return true;
	if (type != EVENTLOG_RECORD_EVENT << EVENTLOG_RECORD_TYPE_SHIFT)
		return false;
	checker->kind = 1 + TEST_KIND(record->descriptor);
	return record->descriptor & TEST_NEWS || (kind && kind != checker->kind);
}

static void check_news(struct checker *checker, const struct eventlog_record *record,
		       const struct eventlog_sub_buffer *meta)
{
	if (!is_news(checker, record))
		return;
	checker->news++;
	if ((int)(meta->news - (u32)checker->position) < 0)
		test_fail("%s: the metadata does not tell of news here", where(checker));
}

/*
 * Checks a record and moves past it.  @record points to its bytes, in the ring or in
 * a copy.
 */
static void check_record(struct checker *checker, const struct eventlog_record *record, u32 bytes,
			 const struct eventlog_sub_buffer *meta)
{
	u32 left = checker->test->geometry.sub_buffer_bytes -
		   ((u32)checker->position & (checker->test->geometry.sub_buffer_bytes - 1));
	u32 flags = record->size_flags;

	if (left == checker->test->geometry.sub_buffer_bytes)
		check_count(checker, meta);
	check_news(checker, record, meta);
	if (flags & ~(EVENTLOG_RECORD_SIZE_MASK | EVENTLOG_RECORD_CONTEXT_MASK |
		      EVENTLOG_RECORD_TYPE_MASK))
		test_fail("%s: size_flags is %#x", where(checker), flags);
	switch ((flags & EVENTLOG_RECORD_TYPE_MASK) >> EVENTLOG_RECORD_TYPE_SHIFT) {
	case EVENTLOG_RECORD_EVENT:
		check_event(checker, record, bytes);
		break;
	case EVENTLOG_RECORD_LOST:
		check_marker(checker, record, bytes);
		break;
	case EVENTLOG_RECORD_PADDING:
		if (bytes != left || record->descriptor ||
		    flags & EVENTLOG_RECORD_CONTEXT_MASK)
			test_fail("%s: a padding record of %u bytes with %u bytes left",
				  where(checker), bytes, left);
		checker->paddings++;
		break;
	default:
		test_fail("%s: size_flags is %#x", where(checker), flags);
	}
	checker->position += bytes;
}

/* Whether the layout permits a record of this size here. */
static bool fits(const struct checker *checker, u32 bytes, u32 flags)
{
	u32 sub_buffer = checker->test->geometry.sub_buffer_bytes;
	u32 type = (flags & EVENTLOG_RECORD_TYPE_MASK) >> EVENTLOG_RECORD_TYPE_SHIFT;
	u32 least = type == EVENTLOG_RECORD_PADDING ? 8 : sizeof(struct eventlog_record);

	return bytes >= least && !(bytes % EVENTLOG_RECORD_ALIGN) &&
	       bytes <= sub_buffer - ((u32)checker->position & (sub_buffer - 1));
}

static u64 checker_committed(const struct checker *checker)
{
	return eventlog_word_read(&checker->header->committed, &checker->header->committed_upper);
}

static unsigned int take_discard(struct checker *checker, unsigned int records, bool release)
{
	u32 mask = ring_bytes(checker) - 1, begin = checker->position;
	u64 committed = checker_committed(checker);
	unsigned int taken = 0;

	/* committed may step back for an instant. */
	while (taken < records && (long long)(committed - checker->position) > 0) {
		const struct eventlog_record *record =
			(const void *)(checker->data + ((u32)checker->position & mask));
		u32 bytes = record->size_flags & EVENTLOG_RECORD_SIZE_MASK;
		struct eventlog_sub_buffer meta = copy_meta(checker);

		if (committed - checker->position > ring_bytes(checker))
			test_fail("%s: committed is %#llx, more than a ring ahead", where(checker),
				  (unsigned long long)committed);
		if (!fits(checker, bytes, record->size_flags) ||
		    bytes > committed - checker->position)
			test_fail("%s: invalid record: size_flags is %#x", where(checker),
				  record->size_flags);
		check_record(checker, record, bytes, &meta);
		taken++;
	}
	if (release && (u32)checker->position != begin)
		smp_store_release(&checker->consumer->position, (u32)checker->position);
	return taken;
}

static void copy_words(u64 *to, const u8 *from, u32 bytes)
{
	const u64 *words = (const void *)from;
	u32 i;

	for (i = 0; i < bytes / 8; i++)
		to[i] = READ_ONCE(words[i]);
}

/* After an overrun: continue at a record that will stay for a while. */
static void resume(struct checker *checker, u64 head)
{
	u32 sub_buffer = checker->test->geometry.sub_buffer_bytes;

	checker->position = (head - ring_bytes(checker) / 2 + sub_buffer - 1) &
			    ~(u64)(sub_buffer - 1);
	checker->lapped++;
	checker->based = false;
	checker->kind = 0;
}

static unsigned int take_overwrite(struct checker *checker, unsigned int records)
{
	u32 size = ring_bytes(checker);
	u64 committed = checker_committed(checker);
	unsigned int taken = 0;

	while (taken < records && (long long)(committed - checker->position) > 0) {
		const u8 *bytes_at = checker->data + ((u32)checker->position & (size - 1));
		u64 word = READ_ONCE(*(const u64 *)bytes_at), head;
		u32 bytes = (u32)word & EVENTLOG_RECORD_SIZE_MASK;
		bool padding = ((u32)word & EVENTLOG_RECORD_TYPE_MASK) ==
			       EVENTLOG_RECORD_PADDING << EVENTLOG_RECORD_TYPE_SHIFT;
		bool whole = fits(checker, bytes, (u32)word) &&
			     bytes <= committed - checker->position;
		struct eventlog_sub_buffer meta = copy_meta(checker);

		checker->copy[0] = word;
		if (whole && !padding)
			copy_words(checker->copy + 1, bytes_at + 8, bytes - 8);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		head = eventlog_word_read(&checker->header->head, &checker->header->head_upper);
		if (head - checker->position > size) {
			resume(checker, head);
			continue;
		}
		if (!whole)
			test_fail("%s: invalid record: size_flags is %#x", where(checker),
				  (u32)word);
		check_record(checker, (const void *)checker->copy, bytes, &meta);
		taken++;
	}
	return taken;
}

unsigned int checker_take(struct checker *checker, unsigned int records, bool release)
{
	if (checker->test->geometry.overwrite)
		return take_overwrite(checker, records);
	return take_discard(checker, records, release);
}

void checker_skip(struct checker *checker)
{
	checker->position = checker_committed(checker);
	checker->lapped++;
	checker->based = false;
	checker->kind = 0;
	smp_store_release(&checker->consumer->position, (u32)checker->position);
}

/* Number of missing events: in gaps and after the last event. */
static u64 missing(const struct checker *checker, const struct test_ring *test)
{
	return checker->missing + test_sum(test->attempted) - test_sum(checker->sequence);
}

/* A ring without a writer holds every event since its oldest sub-buffer. */
static void check_snapshot(const struct checker *checker, struct test_ring *test)
{
	u32 sub_buffer = test->geometry.sub_buffer_bytes, size = ring_bytes(checker);
	u64 head = READ_ONCE(checker->header->head);
	u64 rejected = test_sum(test->rejected);
	struct checker snapshot;

	checker_open(&snapshot, test);
	if (head - test->geometry.start > size) {
		snapshot.position = (head - size + sub_buffer - 1) & ~(u64)(sub_buffer - 1);
		snapshot.lapped = 1;
	}
	checker_take(&snapshot, ~0U, false);
	if (snapshot.position != head || snapshot.lapped > 1)
		test_fail("a snapshot of a quiet ring ends at %#llx, not at %#llx",
			  (unsigned long long)snapshot.position, (unsigned long long)head);
	if (snapshot.lapped ? snapshot.missing > rejected : missing(&snapshot, test) != rejected)
		test_fail("a snapshot misses %llu events by gaps, %llu were rejected",
			  (unsigned long long)snapshot.missing, (unsigned long long)rejected);
	checker_close(&snapshot);
}

void checker_finish(struct checker *checker, struct test_ring *test)
{
	const struct eventlog_ring_header *header = checker->header;
	u64 attempted, placed, rejected, lost = 0;
	unsigned int cause;

	test_current = test;
	checker_take(checker, ~0U, true);
	if (!test_emit(test, 0))
		test_fail("no room for an event in a ring that was read to the end");
	checker_take(checker, ~0U, true);
	if (checker->position != header->head)
		test_fail("read to %#llx, head is %#llx", (unsigned long long)checker->position,
			  (unsigned long long)header->head);
	test_ring_intact(test);

	attempted = test_sum(test->attempted);
	placed = test_sum(test->placed);
	rejected = test_sum(test->rejected);
	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
		lost += header->lost[cause];
	if (attempted != placed + rejected)
		test_fail("%llu events attempted, %llu placed, %llu rejected",
			  (unsigned long long)attempted, (unsigned long long)placed,
			  (unsigned long long)rejected);
	if (header->records != placed)
		test_fail("%llu events placed, the ring counts %llu", (unsigned long long)placed,
			  (unsigned long long)header->records);
	if (header->lost_total != rejected || lost != rejected)
		test_fail("%llu events rejected, the ring counts %llu, by cause %llu",
			  (unsigned long long)rejected, (unsigned long long)header->lost_total,
			  (unsigned long long)lost);
	if (test->geometry.overwrite) {
		check_snapshot(checker, test);
	} else if (!checker->lapped) {
		if (checker->events != placed || missing(checker, test) != rejected)
			test_fail("%llu events placed, %llu read; %llu rejected, %llu missing",
				  (unsigned long long)placed, (unsigned long long)checker->events,
				  (unsigned long long)rejected,
				  (unsigned long long)missing(checker, test));
	}
	if (!checker->lapped && checker->reported_total != rejected)
		test_fail("%llu events rejected, %llu reported", (unsigned long long)rejected,
			  (unsigned long long)checker->reported_total);
	if (eventlog_ring_unread(&test->ring) && !test->geometry.overwrite)
		test_fail("%u bytes unread in a ring that was read to the end",
			  eventlog_ring_unread(&test->ring));
	if (eventlog_ring_unseen_loss(&test->ring) != !!rejected)
		test_fail("an unseen loss is not reported");
	WRITE_ONCE(checker->consumer->lost_seen, (u32)header->lost_total);
	if (eventlog_ring_unseen_loss(&test->ring))
		test_fail("a seen loss is reported as unseen");
}
