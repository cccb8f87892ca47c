// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer of ring_stress: see ring_test.h.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ring_test.h"

/* A byte that valid records do not contain by accident. */
#define FILLER 0xa5

u8 test_pool[TEST_POOL_BYTES];
__thread struct test_ring *test_current;

void test_fail(const char *format, ...)
{
	char text[512];
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(text + 2, sizeof(text) - 3, format, arguments);
	va_end(arguments);
	text[0] = '#';
	text[1] = ' ';
	if (bytes > (int)sizeof(text) - 4)
		bytes = sizeof(text) - 4;
	text[2 + bytes] = '\n';
	if (write(STDOUT_FILENO, text, bytes + 3) < 0)
		_exit(2);
	_exit(1);
}

u64 test_machine_clock(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + now.tv_nsec;
#endif
}

u64 eventlog_ring_clock(void)
{
	struct test_ring *test = test_current;
	u64 time = 0;

	/* A nested writer may read the clock in between, so count first. */
	eventlog_local_add(&test->ticks, 1);
	if (test->in_clock)
		test->in_clock(test);
	switch (test->clock) {
	case TEST_CLOCK_COUNTS:
		time = 1000 + READ_ONCE(test->ticks);
		break;
	case TEST_CLOCK_STUMBLES:
		time = 1000 + READ_ONCE(test->ticks) * 2;
		/* ktime_get_mono_fast_ns() may do so while the clock is updated. */
		if (READ_ONCE(test->ticks) % 3 == 0)
			time -= 25;
		break;
	case TEST_CLOCK_RUNS:
		time = test_machine_clock();
		if (READ_ONCE(test->ticks) % 8 == 0)
			time -= READ_ONCE(test->ticks) % 1024;
		break;
	}
	return time;
}

void test_ring_restart(struct test_ring *test, u64 start)
{
	const struct test_geometry *geometry = &test->geometry;
	u32 data_bytes = geometry->sub_buffer_bytes * geometry->sub_buffers;
	struct eventlog_ring_header *header = (void *)test->mapping;
	unsigned int depth, i;

	test->geometry.start = start;
	memset(test->mapping, 0, 2 * geometry->page_bytes);
	memset(test->mapping + 2 * geometry->page_bytes, FILLER, data_bytes);
	eventlog_ring_init(&test->ring, test->mapping, geometry->page_bytes, data_bytes,
			   geometry->sub_buffer_bytes, test->number, geometry->overwrite,
			   geometry->locked);
	eventlog_word_write(&header->head, &header->head_upper, start);
	eventlog_word_write(&header->committed, &header->committed_upper, start);
	test->ring.consumer_position = start;
	for (i = 0; test->ring.meta && i < geometry->sub_buffers; i++)
		test->ring.meta[i].news = start - EVENTLOG_RECORD_ALIGN;
	((struct eventlog_ring_consumer *)(test->mapping + geometry->page_bytes))->position = start;

	test->depth = 0;
	for (depth = 0; depth < TEST_DEPTHS; depth++) {
		test->in_flight[depth].bytes = 0;
		test->attempted[depth] = 0;
		test->rejected[depth] = 0;
		test->placed[depth] = 0;
	}
	test->nested = 0;
	test->kind = 0;
	test->known = TEST_KINDS;
	test->floor = 0;
	test->section = 0;
}

void test_ring_open(struct test_ring *test, unsigned int number,
		    const struct test_geometry *geometry, u32 seed)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t bytes = 2 * geometry->page_bytes +
		       (size_t)geometry->sub_buffer_bytes * geometry->sub_buffers;
	size_t rounded = (bytes + page - 1) / page * page;
	unsigned int depth;
	u8 *address;

	memset(test, 0, sizeof(*test));
	address = mmap(NULL, rounded + page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (address == MAP_FAILED)
		test_fail("mmap of %zu bytes failed", rounded + page);
	if (mprotect(address + rounded, page, PROT_NONE))
		test_fail("mprotect failed");
	/* The inaccessible page follows the last byte of the data. */
	test->mapping = address + rounded - bytes;
	test->mapping_bytes = bytes;
	test->geometry = *geometry;
	test->number = number;
	for (depth = 0; depth < TEST_DEPTHS; depth++)
		test->random[depth] = seed * 2654435761U + depth + 1;
	test_ring_restart(test, geometry->start);
}

void test_ring_close(struct test_ring *test)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t rounded = (test->mapping_bytes + page - 1) / page * page;

	munmap(test->mapping + test->mapping_bytes - rounded, rounded + page);
}

static void check_zero(const void *bytes, size_t count, const char *what)
{
	static const u8 zeroes[4096];

	if (memcmp(bytes, zeroes, count))
		test_fail("%s was written to", what);
}

void test_ring_intact(const struct test_ring *test)
{
	const struct test_geometry *geometry = &test->geometry;
	const struct eventlog_ring_header *header = (const void *)test->mapping;
	const u8 *consumer = test->mapping + geometry->page_bytes;
	size_t meta_end;

	if (header->magic != EVENTLOG_RING_MAGIC || header->cpu != test->number ||
	    header->flags != ((geometry->overwrite ? EVENTLOG_RING_OVERWRITE : 0) |
			      (EVENTLOG_RING_LOCKLESS ? 0 : EVENTLOG_RING_SPLIT)) ||
	    header->data_offset != 2 * geometry->page_bytes ||
	    header->data_bytes != (u64)geometry->sub_buffer_bytes * geometry->sub_buffers ||
	    header->sub_buffer_bytes != geometry->sub_buffer_bytes)
		test_fail("the ring's geometry was overwritten");
	check_zero(header->reserved0, sizeof(header->reserved0), "reserved0 of the header");
	check_zero(header->reserved1, sizeof(header->reserved1), "reserved1 of the header");
	check_zero(header->reserved2, sizeof(header->reserved2), "reserved2 of the header");
	if (header->meta_bytes * geometry->sub_buffers > geometry->page_bytes - sizeof(*header) ||
	    header->meta_offset != (header->meta_bytes ? sizeof(*header) : 0))
		test_fail("metadata of sub-buffers is in the wrong place");
	meta_end = sizeof(*header) + header->meta_bytes * geometry->sub_buffers;
	check_zero(test->mapping + meta_end, geometry->page_bytes - meta_end,
		   "the header's page");
	check_zero(consumer + sizeof(struct eventlog_ring_consumer),
		   geometry->page_bytes - sizeof(struct eventlog_ring_consumer),
		   "the consumer's page");
}

/*
 * The writer at @depth got a record: it must not overlap another writer's record.
 * An outer writer that has already restored nest is done with its record; a writer
 * nested in it then finds the same nest as the outer one did.
 */
static void claim(struct test_ring *test, u32 depth, const struct eventlog_record *record)
{
	u32 data_bytes = test->geometry.sub_buffer_bytes * test->geometry.sub_buffers;
	u64 offset = (u64)((const u8 *)record - test->ring.data);
	u32 bytes = record->size_flags & EVENTLOG_RECORD_SIZE_MASK;
	u32 nest = test->in_flight[depth].nest, outer;

	if (offset % EVENTLOG_RECORD_ALIGN || offset + bytes > data_bytes)
		test_fail("a record of %u bytes at %llu leaves the ring's %u bytes", bytes,
			  (unsigned long long)offset, data_bytes);
	for (outer = depth; outer--;) {
		u32 its_bytes = test->in_flight[outer].bytes;
		u32 begin = test->in_flight[outer].offset;

		if (test->in_flight[outer].nest >= nest)
			continue;
		nest = test->in_flight[outer].nest;
		if (its_bytes && offset < begin + its_bytes && begin < offset + bytes)
			test_fail("the record at %llu, depth %u, overlaps the one at %u, depth %u",
				  (unsigned long long)offset, depth, begin, outer);
	}
	test->in_flight[depth].offset = offset;
	barrier();
	WRITE_ONCE(test->in_flight[depth].bytes, bytes);
	barrier();
}

static void fill(struct test_ring *test, u32 depth, const struct eventlog_ring_slot *slot,
		 u32 payload, u64 session, u32 kind)
{
	struct eventlog_record *record = slot->record;
	u32 offset = test_random(&test->random[depth]) % (TEST_POOL_BYTES - EVENTLOG_PAYLOAD_MAX);
	struct eventlog_record expected;
	bool news;

	offset &= ~7U;
	news = !test->quiet && !(test_random(&test->random[depth]) % 8);
	if ((record->size_flags & EVENTLOG_RECORD_SIZE_MASK) !=
	    ALIGN((u32)sizeof(*record) + payload, EVENTLOG_RECORD_ALIGN))
		test_fail("a record of %u bytes for a payload of %u",
			  record->size_flags & EVENTLOG_RECORD_SIZE_MASK, payload);
	record->size_flags |= (depth & 3) << EVENTLOG_RECORD_CONTEXT_SHIFT;
	record->descriptor = depth | test->number << 4 | offset / 8 << 9 |
			     kind << TEST_KIND_SHIFT | (news ? TEST_NEWS : 0);
	record->session = session;
	record->pid = payload;
	expected = *record;
	expected.tid = test_header_sum(&expected);
	record->tid = expected.tid;
	memcpy(record + 1, test_pool + offset, payload);
	if (unlikely(interrupts_tracing))
		interrupts_trace(true);
	/* As the module does: the first writer to find a new kind marks its record. */
	if (READ_ONCE(test->known) != kind) {
		WRITE_ONCE(test->known, kind);
		eventlog_ring_news(&test->ring, record, slot->nest);
	} else if (news) {
		eventlog_ring_news(&test->ring, record, 0);
	}
	if (unlikely(interrupts_tracing))
		interrupts_trace(false);
	/* Interrupts may happen here too. */
	barrier();
	if (memcmp(record, &expected, sizeof(expected)) ||
	    memcmp(record + 1, test_pool + offset, payload))
		test_fail("a record was changed while depth %u was writing it", depth);
}

__attribute__((noinline)) bool test_emit(struct test_ring *test, u32 payload)
{
	struct eventlog_ring_header *header = test->ring.header;
	u32 depth = READ_ONCE(test->depth);
	struct eventlog_ring_slot slot;
	u64 section, session, head, floor, time = 0;
	bool placed, outermost = false;
	u32 kind;

	if (depth >= TEST_DEPTHS)
		test_fail("%u nested writers", depth);
	section = READ_ONCE(test->section);
	if (test->sections && !(section & 1)) {
		WRITE_ONCE(test->section, section + 1);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
	WRITE_ONCE(test->depth, depth + 1);
	barrier();
	WRITE_ONCE(test->in_flight[depth].bytes, 0);
	WRITE_ONCE(test->in_flight[depth].nest, READ_ONCE(test->ring.nest));
	barrier();
	WRITE_ONCE(test->attempted[depth], test->attempted[depth] + 1);
	session = (u32)test->attempted[depth] | READ_ONCE(header->lost_total) << 32;

	/* A writer and those nested in it emit events of the same kind. */
	if (!depth && !test->quiet && !(test_random(&test->random[depth]) % 4))
		WRITE_ONCE(test->kind, (test->kind + 1) % TEST_KINDS);
	kind = READ_ONCE(test->kind);

	/* Every other time, as if the event had been placed in another ring before. */
	if (test->attempted[depth] % 2 == 0)
		time = eventlog_ring_clock();
	floor = READ_ONCE(test->floor);
	if (unlikely(interrupts_tracing))
		interrupts_trace(true);
	placed = eventlog_ring_reserve(&test->ring, payload, floor, time, &slot);
	if (unlikely(interrupts_tracing))
		interrupts_trace(false);
	if (placed) {
		claim(test, depth, slot.record);
		fill(test, depth, &slot, payload, session, kind);
		WRITE_ONCE(test->placed[depth], test->placed[depth] + 1);
		if (depth)
			eventlog_local_add(&test->nested, 1);
		if (unlikely(interrupts_tracing))
			interrupts_trace(true);
		outermost = eventlog_ring_commit(&test->ring, &slot);
		if (unlikely(interrupts_tracing))
			interrupts_trace(false);
		WRITE_ONCE(test->in_flight[depth].bytes, 0);
	} else {
		WRITE_ONCE(test->rejected[depth], test->rejected[depth] + 1);
	}

	barrier();
	test->outermost = outermost;
	WRITE_ONCE(test->depth, depth);
	if (test->sections && !(section & 1))
		__atomic_store_n(&test->section, section + 2, __ATOMIC_RELEASE);
	if (depth)
		return placed;
	if (placed && !outermost)
		test_fail("the outermost writer is not reported as such");
	if (eventlog_ring_has_refused(&test->ring.lock))
		test_fail("the outermost writer left rejected ones uncounted");
	/* There is no other writer: all reserved records are whole and must be visible. */
	head = READ_ONCE(header->head);
	barrier();
	if ((long long)(READ_ONCE(header->committed) - head) < 0)
		test_fail("the outermost writer left %llu whole bytes unpublished",
			  (unsigned long long)(head - READ_ONCE(header->committed)));
	return placed;
}
