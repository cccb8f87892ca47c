/* SPDX-License-Identifier: LGPL-2.1-only OR GPL-2.0-only */
/*
 * The producer's side of a ring that the kernel drains: what a thread does to emit an
 * event without a system call. linux/eventlog.h has the layout and the rules.
 *
 * Only the thread that owns a ring calls these functions; its signal handlers may call
 * them at any instruction. There are no locks and no atomic read-modify-write
 * instructions. A record is private until elog_mapped_commit() stores its end, so a thread
 * that is killed leaves nothing behind. A signal handler that interrupts an emission finds
 * @busy set and must emit its event in another way.
 *
 * The file depends only on the layout, not on the module: benchmarks and tests run it on
 * ordinary memory.
 */
#ifndef LIBELOG_MAPPED_RING_H
#define LIBELOG_MAPPED_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <linux/eventlog.h>

/**
 * struct elog_mapped_ring - a ring as its thread sees it
 * @busy: the stack pointer during an emission, otherwise 0
 * @head: end of the last record
 * @limit: the thread may write up to here without looking at the header
 * @mask: bytes of the data - 1
 * @data_offset: from the header to the data
 * @header: NULL: there is no ring
 * @time_offset: ns to add to the clock
 * @number: of the ring in its file
 * @cycles: times are values of the cycle counter, not of the clock
 * @full: how often it was full since the last doorbell
 * @quiet: how many doorbells in a row followed little traffic
 * @rung: @head at the last doorbell
 * @late: there was no room at the position @late_at, and the thread does not wait there again
 * @late_at: see @late
 *
 * If all members are 0, elog_mapped_reserve() fails. The library keeps it in memory that
 * the kernel clears in the child of a fork. The fork may happen in a signal handler during
 * an emission: the emission then goes on in the child and writes to the memory that is at
 * the address of the header, which it loads only once.
 */
struct elog_mapped_ring {
	uintptr_t busy;
	uint32_t head;
	uint32_t limit;
	uint32_t mask;
	uint32_t data_offset;
	struct eventlog_mapped_header *header;
	int64_t time_offset;
	uint32_t number;
	uint32_t cycles;
	uint32_t full;
	uint32_t quiet;
	uint32_t rung;
	uint32_t late;
	uint32_t late_at;
} __attribute__((aligned(128)));

#define ELOG_MAPPED_INLINE static inline __attribute__((always_inline))

/* Orders the accesses of a thread as its own signal handlers see them. */
#define elog_mapped_fence()	__atomic_signal_fence(__ATOMIC_SEQ_CST)

/* A lower value means a deeper call on the same stack. */
ELOG_MAPPED_INLINE uintptr_t elog_mapped_stack_pointer(void)
{
	uintptr_t pointer;

#if defined(__x86_64__)
	__asm__ volatile("movq %%rsp, %0" : "=r"(pointer));
#elif defined(__i386__)
	__asm__ volatile("movl %%esp, %0" : "=r"(pointer));
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ volatile("mov %0, sp" : "=r"(pointer));
#else
	pointer = (uintptr_t)__builtin_frame_address(0);
#endif
	return pointer;
}

/**
 * elog_mapped_begin() - start an emission
 * @ring: the thread's ring
 *
 * Test afterwards whether the ring may be used for the event: who waits for @busy to be 0
 * relies on that order.
 *
 * Return: false if the thread is in an emission: the caller is a signal handler.
 */
ELOG_MAPPED_INLINE bool elog_mapped_begin(struct elog_mapped_ring *ring)
{
	if (__builtin_expect(__atomic_load_n(&ring->busy, __ATOMIC_RELAXED) != 0, 0))
		return false;
#ifdef __x86_64__
	/* One instruction instead of two. */
	__asm__ volatile("movq %%rsp, %0" : "=m"(ring->busy));
#else
	__atomic_store_n(&ring->busy, elog_mapped_stack_pointer(), __ATOMIC_RELAXED);
#endif
	elog_mapped_fence();
	return true;
}

/** elog_mapped_end() - end an emission */
ELOG_MAPPED_INLINE void elog_mapped_end(struct elog_mapped_ring *ring)
{
	elog_mapped_fence();
	__atomic_store_n(&ring->busy, 0, __ATOMIC_RELEASE);
}

/* The place of the next record. If a fork has cleared @ring, it is the header itself. */
ELOG_MAPPED_INLINE unsigned char *elog_mapped_place(const struct elog_mapped_ring *ring,
						    struct eventlog_mapped_header *header)
{
	return (unsigned char *)header + ring->data_offset + (ring->head & ring->mask);
}

/* Bytes of a record in the ring. */
ELOG_MAPPED_INLINE uint32_t elog_mapped_need(uint32_t bytes)
{
	const uint32_t align = EVENTLOG_RECORD_ALIGN;

	return ((uint32_t)sizeof(struct eventlog_mapped_record) + bytes + align - 1) & ~(align - 1);
}

/* Looks at what the kernel has taken, and skips the rest of the data if it is too short. */
static __attribute__((noinline, unused)) bool
elog_mapped_refill(struct elog_mapped_ring *ring, struct eventlog_mapped_header *header,
		   uint32_t need)
{
	const uint32_t size = ring->mask + 1, to_end = size - (ring->head & ring->mask);
	uint32_t room, padding[2] = { to_end, 0 };

	if (!header || need > size / 2)
		return false;
	/* Pairs with the kernel's release: it has copied what was there. */
	room = size - (ring->head - __atomic_load_n(&header->position, __ATOMIC_ACQUIRE));
	/* The program has overwritten the header. */
	if (room > size)
		return false;
	if (need > to_end) {
		if (room < to_end)
			return false;
		/* At least 8 bytes are left, which is all that the kernel reads of padding. */
		memcpy(elog_mapped_place(ring, header), padding, sizeof(padding));
		elog_mapped_fence();
		ring->head += to_end;
		ring->limit = ring->head;
		__atomic_store_n(&header->committed, ring->head, __ATOMIC_RELEASE);
		room -= to_end;
		if (room > size - to_end)
			return false;
	} else if (room > to_end) {
		room = to_end;
	}
	ring->limit = ring->head + room;
	return need <= room;
}

/**
 * elog_mapped_run() - tell the kernel which session the thread works on
 * @header: of the thread's ring
 * @of: descriptor of an event of the session's provider; 0: there is no session
 * @session: the session
 * @flags: EVENTLOG_SESSION_*
 */
ELOG_MAPPED_INLINE void elog_mapped_run(struct eventlog_mapped_header *header, uint32_t of,
					uint64_t session, uint32_t flags)
{
	__atomic_store_n(&header->session_of, 0, __ATOMIC_RELAXED);
	elog_mapped_fence();
	/* Perhaps in two halves, which the kernel does not look at now. */
	*(volatile __u64 *)&header->session = session;
	__atomic_store_n(&header->session_flags, flags, __ATOMIC_RELAXED);
	elog_mapped_fence();
	__atomic_store_n(&header->session_of, of, __ATOMIC_RELAXED);
}

/**
 * struct elog_mapped_slot - room for a record
 * @header: of the ring, loaded once
 * @record: the record, to be filled in; the payload follows it
 * @end: where it ends
 */
struct elog_mapped_slot {
	struct eventlog_mapped_header *header;
	struct eventlog_mapped_record *record;
	uint32_t end;
};

/**
 * elog_mapped_reserve() - find room for a record
 * @ring: between elog_mapped_begin() and elog_mapped_end()
 * @bytes: of the payload, at most EVENTLOG_PAYLOAD_MAX
 * @slot: set
 *
 * Return: false if there is no ring, or it has no room.
 */
ELOG_MAPPED_INLINE bool elog_mapped_reserve(struct elog_mapped_ring *ring, uint32_t bytes,
					    struct elog_mapped_slot *slot)
{
	const uint32_t need = elog_mapped_need(bytes);

	slot->header = __atomic_load_n(&ring->header, __ATOMIC_RELAXED);
	/* Signed: a ring that a fork has cleared has no room, whatever head is. */
	if (__builtin_expect((int32_t)(ring->limit - ring->head) < (int32_t)need, 0) &&
	    !elog_mapped_refill(ring, slot->header, need))
		return false;
	slot->record = (struct eventlog_mapped_record *)
		       (void *)elog_mapped_place(ring, slot->header);
	slot->end = ring->head + need;
	slot->record->size = (uint32_t)sizeof(*slot->record) + bytes;
	return true;
}

/**
 * elog_mapped_commit() - hand a record to the kernel
 * @ring: between elog_mapped_begin() and elog_mapped_end()
 * @slot: from elog_mapped_reserve()
 */
ELOG_MAPPED_INLINE void elog_mapped_commit(struct elog_mapped_ring *ring,
					   const struct elog_mapped_slot *slot)
{
	ring->head = slot->end;
	__atomic_store_n(&slot->header->committed, slot->end, __ATOMIC_RELEASE);
	/* The compiler must not load ask before: the kernel waits only for the CPU's buffers. */
	elog_mapped_fence();
}

/**
 * elog_mapped_count_late() - count an event that is not put in the ring
 * @header: of the ring; between elog_mapped_begin() and elog_mapped_end()
 * @write_index: of the event
 *
 * Return: false if there is no place for its count.
 */
static __attribute__((unused)) bool
elog_mapped_count_late(struct eventlog_mapped_header *header, uint32_t write_index)
{
	const uint32_t most = EVENTLOG_MAPPED_LATE_MAX;
	struct eventlog_mapped_late *late =
		(struct eventlog_mapped_late *)(void *)((char *)header + EVENTLOG_MAPPED_LATE);
	uint32_t left = header->late_max < most ? header->late_max : most;

	if (!write_index)
		return false;
	for (; left && late->write_index != write_index && late->write_index; left--)
		late++;
	if (!left)
		return false;
	late->write_index = write_index;
	late->count++;
	__atomic_store_n(&header->late, header->late + 1, __ATOMIC_RELEASE);
	return true;
}

/* What the kernel asks for, EVENTLOG_MAPPED_ASK_*. Between commit and end. */
ELOG_MAPPED_INLINE uint32_t elog_mapped_ask(const struct eventlog_mapped_header *header)
{
	return __atomic_load_n(&header->ask, __ATOMIC_RELAXED);
}

/**
 * elog_mapped_copy() - copy a part of a payload
 * @to: in the record
 * @from: the bytes
 * @bytes: their number
 *
 * Copies 4 to 64 bytes without a call and without a loop: the first and the last words,
 * which may overlap.
 */
ELOG_MAPPED_INLINE void elog_mapped_copy(unsigned char *to, const void *from, size_t bytes)
{
	const unsigned char *first = (const unsigned char *)from, *last = first + bytes;
	unsigned char words[4][16];

	if (__builtin_constant_p(bytes)) {
		memcpy(to, from, bytes);
	} else if (__builtin_expect(bytes - 16 <= 16, 1)) {
		memcpy(words[0], first, 16);
		memcpy(words[1], last - 16, 16);
		memcpy(to, words[0], 16);
		memcpy(to + bytes - 16, words[1], 16);
	} else if (bytes - 8 < 8) {
		memcpy(words[0], first, 8);
		memcpy(words[1], last - 8, 8);
		memcpy(to, words[0], 8);
		memcpy(to + bytes - 8, words[1], 8);
	} else if (bytes - 32 <= 32) {
		memcpy(words[0], first, 16);
		memcpy(words[1], first + 16, 16);
		memcpy(words[2], last - 32, 16);
		memcpy(words[3], last - 16, 16);
		memcpy(to, words[0], 16);
		memcpy(to + 16, words[1], 16);
		memcpy(to + bytes - 32, words[2], 16);
		memcpy(to + bytes - 16, words[3], 16);
	} else if (bytes - 4 < 4) {
		memcpy(words[0], first, 4);
		memcpy(words[1], last - 4, 4);
		memcpy(to, words[0], 4);
		memcpy(to + bytes - 4, words[1], 4);
	} else if (bytes) {
		memcpy(to, from, bytes);
	}
}

/**
 * elog_mapped_recover() - forget an emission that will never end
 * @ring: its thread left an emission by siglongjmp() or pthread_exit()
 *
 * What was committed stays valid. The record that was not yet committed is lost.
 */
static inline void elog_mapped_recover(struct elog_mapped_ring *ring)
{
	if (ring->header)
		ring->head = __atomic_load_n(&ring->header->committed, __ATOMIC_RELAXED);
	ring->limit = ring->head;
	elog_mapped_end(ring);
}

enum elog_mapped_result {
	ELOG_MAPPED_DONE,	/* the kernel will take it */
	ELOG_MAPPED_ASKED,	/* the same, and elog_mapped_ask() is not 0 */
	ELOG_MAPPED_FULL,	/* not emitted: there is no room, or no ring */
	ELOG_MAPPED_BUSY,	/* not emitted: a signal handler in an emission */
};

/**
 * elog_mapped_emit() - emit an event with one part
 * @ring: the thread's ring
 * @write_index: of the event's registration
 * @session: session, 0 for none
 * @payload: the payload
 * @bytes: its size, at most EVENTLOG_PAYLOAD_MAX
 * @clock: returns the time. It is called when no signal handler can emit an event with an
 *	earlier place and a later time
 *
 * Return: enum elog_mapped_result.
 */
ELOG_MAPPED_INLINE enum elog_mapped_result
elog_mapped_emit(struct elog_mapped_ring *ring, uint32_t write_index, uint64_t session,
		 const void *payload, uint32_t bytes,
		 uint64_t (*clock)(const struct elog_mapped_ring *ring))
{
	struct elog_mapped_slot slot;
	uint64_t time;
	uint32_t ask;

	if (!elog_mapped_begin(ring))
		return ELOG_MAPPED_BUSY;
	time = clock(ring);
	if (!elog_mapped_reserve(ring, bytes, &slot)) {
		elog_mapped_end(ring);
		return ELOG_MAPPED_FULL;
	}
	slot.record->write_index = write_index;
	slot.record->time = time;
	slot.record->session = session;
	elog_mapped_copy((unsigned char *)(slot.record + 1), payload, bytes);
	elog_mapped_commit(ring, &slot);
	ask = elog_mapped_ask(slot.header);
	elog_mapped_end(ring);
	return __builtin_expect(ask != 0, 0) ? ELOG_MAPPED_ASKED : ELOG_MAPPED_DONE;
}

#endif /* LIBELOG_MAPPED_RING_H */
