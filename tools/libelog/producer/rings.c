// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The rings of a producer: see rings.h.
 *
 * A block has two pages. The first one has a slot for each ring. The second one has what
 * the threads use, and the kernel clears it in the child of a fork, however the child was
 * made: the child then finds no room and no ring.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "elog.h"
#include "producer/rings.h"
#include "util/port.h"
#include "util/util.h"

/* Bytes of data. A ring grows and shrinks by this factor. */
#define DATA_BYTES_MAX	(256U << 10)
#define FACTOR		4
/* Grow when a ring was full so often since it was last idle. */
#define FULL_MAX	2
/* Shrink when it was idle so often in a row, with little traffic in between. */
#define QUIET_MAX	8
/* Bytes of all rings of the process. Rings do not grow beyond the half of it. */
#define PROCESS_BYTES_MAX (16UL << 20)
/* Rings of ended threads that are kept for new threads. */
#define FREE_MAX	16
#define RETRY_NS	1000000000ULL
#define PAUSE_NS	1000000
/* An emission that was left is at most so far down the stack. */
#define STACK_DISTANCE_MAX (64UL << 10)

/**
 * struct ring_slot - what the library knows about a ring
 * @next: of the same producer
 * @ring: what its thread uses
 * @place: where its thread finds @ring; NULL: it has no thread
 * @header: the mapping; NULL: none
 * @length: of the mapping
 * @offset: of the file that was mapped
 * @busy: the thread that forks is in an emission
 * @abandoned: in the child of a fork: an emission still uses @ring
 */
struct ring_slot {
	struct ring_slot *next;
	struct elog_mapped_ring *ring;
	struct elog_mapped_ring **place;
	struct eventlog_mapped_header *header;
	size_t length;
	uint64_t offset;
	bool busy;
	bool abandoned;
};

struct ring_block {
	struct ring_block *next;
	size_t bytes;
	struct ring_slot slots[];
};

__thread struct elog_thread_rings elog_thread_rings ELOG_RINGS_MODEL;

uint32_t elog_rings_epoch;		/* atomic */

/* Of all producers. */
static size_t process_bytes;		/* atomic */

static struct elog_mapped_ring **place_of_thread(const struct elog_rings *rings)
{
	return &elog_thread_rings.rings[rings->place];
}

/* ------------------------------------------------------------------------
 * Memory
 */

static bool add_block(struct elog_rings *rings)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t fits = (page - sizeof(struct ring_block)) / sizeof(struct ring_slot);
	const size_t count = page / sizeof(struct elog_mapped_ring);
	struct ring_block *block;
	size_t i;

	block = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (block == MAP_FAILED)
		return false;
	if (madvise((char *)block + page, page, MADV_WIPEONFORK)) {
		munmap(block, 2 * page);
		return false;
	}
	block->next = rings->blocks;
	block->bytes = 2 * page;
	rings->blocks = block;
	for (i = 0; i < count && i < fits; i++) {
		block->slots[i].ring = (struct elog_mapped_ring *)(void *)
				       ((char *)block + page) + i;
		block->slots[i].next = rings->slots;
		rings->slots = &block->slots[i];
	}
	return true;
}

/* A slot without a thread: if possible one with a ring, which is quicker to take over. */
static struct ring_slot *free_slot(struct elog_rings *rings)
{
	struct ring_slot *slot, *found = NULL;

	for (slot = rings->slots; slot; slot = slot->next)
		if (!slot->place && !slot->abandoned && (!found || slot->header))
			found = slot;
	if (!found && add_block(rings))
		found = rings->slots;
	return found;
}

static struct ring_slot *slot_of(struct elog_rings *rings, const struct elog_mapped_ring *ring)
{
	struct ring_slot *slot = rings->slots;

	while (slot && slot->ring != ring)
		slot = slot->next;
	return slot;
}

static struct ring_slot *slot_of_thread(struct elog_rings *rings)
{
	struct elog_mapped_ring *ring = *place_of_thread(rings);

	return ring ? slot_of(rings, ring) : NULL;
}

/*
 * Ends a ring. When it is unmapped, the kernel delivers what is in it. @fd: its file; -1: that is
 * closed next, or is closed.
 */
static void end_ring(struct ring_slot *slot, int fd)
{
	struct elog_mapped_ring *ring = slot->ring;

	if (!slot->header)
		return;
	elog_port_unmap(slot->header, slot->length);
	elog_port_unmapped(fd, slot->offset);
	__atomic_fetch_sub(&process_bytes, slot->length, __ATOMIC_RELAXED);
	slot->header = NULL;
	*ring = (struct elog_mapped_ring){ 0 };
}

/*
 * Puts ordinary memory in place of a mapping, for an emission that is still under way. In one
 * step: it must not find that memory before @ask is set.
 */
static void put_stand_in(struct ring_slot *slot, uint32_t ask)
{
	struct eventlog_mapped_header *header;

	header = mmap(NULL, slot->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (header == MAP_FAILED)
		return;
	header->ask = ask;
	elog_port_replace(slot->header, slot->length, header);
}

/* ------------------------------------------------------------------------
 * Getting a ring
 */

static void detach(int fd, uint32_t number)
{
	struct eventlog_detach request = { .size = sizeof(request), .ring = number };

	elog_port_call(fd, EVENTLOG_IOC_DETACH, &request);
}

static bool map_ring(struct ring_slot *slot, int fd, const struct eventlog_attach *attach)
{
	struct eventlog_mapped_header *header;

	header = elog_port_map(NULL, attach->length, PROT_READ | PROT_WRITE, fd, attach->offset);
	if (header == MAP_FAILED)
		return false;
	if (header->magic != EVENTLOG_MAPPED_MAGIC ||
	    (uint64_t)header->data_offset + attach->data_bytes != attach->length) {
		elog_port_unmap(header, attach->length);
		elog_port_unmapped(fd, attach->offset);
		return false;
	}
	slot->header = header;
	slot->length = attach->length;
	slot->offset = attach->offset;
	*slot->ring = (struct elog_mapped_ring){
		.mask = attach->data_bytes - 1,
		.data_offset = header->data_offset,
		.header = header,
		.time_offset = attach->time_offset,
		.number = attach->ring,
		.cycles = attach->flags & EVENTLOG_ATTACH_CYCLES,
	};
	return true;
}

/* May this thread read the cycle counter? The clock takes more instructions. */
static bool may_read_cycles(void)
{
#ifdef __x86_64__
	int mode = 0;

	return !prctl(PR_GET_TSC, &mode) && mode == PR_TSC_ENABLE;
#else
	return false;
#endif
}

static bool attach_new(int fd, struct eventlog_attach *attach)
{
	struct eventlog_attach request = *attach;
	int ret;

	if (may_read_cycles()) {
		attach->flags = EVENTLOG_ATTACH_CYCLES;
		ret = elog_port_call(fd, EVENTLOG_IOC_ATTACH, attach);
		if (!ret)
			return true;
		*attach = request;
		if (ret != -EOPNOTSUPP && ret != -EINVAL)
			return false;
	}
	return !elog_port_call(fd, EVENTLOG_IOC_ATTACH, attach);
}

/* Makes a ring, in place of the slot's. If this fails, the slot does not change. */
static bool make_ring(struct ring_slot *slot, int fd, uint32_t data_bytes, size_t bytes_max)
{
	struct eventlog_attach attach = { .size = sizeof(attach), .data_bytes = data_bytes };
	struct eventlog_mapped_header *old = slot->header;
	const uint32_t old_number = slot->ring->number;
	const size_t old_length = slot->length;
	const uint64_t old_offset = slot->offset;

	if (__atomic_load_n(&process_bytes, __ATOMIC_RELAXED) + data_bytes > bytes_max)
		return false;
	if (!attach_new(fd, &attach))
		return false;
	if (!map_ring(slot, fd, &attach)) {
		detach(fd, attach.ring);
		return false;
	}
	__atomic_fetch_add(&process_bytes, slot->length, __ATOMIC_RELAXED);
	if (!old)
		return true;
	/* Before the first event in the new ring, the old one's are delivered. */
	detach(fd, old_number);
	elog_port_unmap(old, old_length);
	elog_port_unmapped(fd, old_offset);
	__atomic_fetch_sub(&process_bytes, old_length, __ATOMIC_RELAXED);
	return true;
}

/* The ring of a thread that has ended. The kernel delivers first what that one emitted. */
static bool take_over(struct ring_slot *slot, int fd)
{
	struct eventlog_attach attach = {
		.size = sizeof(attach),
		.flags = slot->ring->cycles ? EVENTLOG_ATTACH_CYCLES : 0,
		.ring = slot->ring->number,
	};

	/* Number 0 would be a new ring. */
	if (!attach.ring || (attach.flags && !may_read_cycles()) ||
	    elog_port_call(fd, EVENTLOG_IOC_ATTACH, &attach))
		return false;
	slot->ring->time_offset = attach.time_offset;
	return true;
}

/* The ring was just attached: the kernel looks for the thread's session there. */
static void carry_on(const struct elog_rings *rings, const struct ring_slot *slot)
{
	const struct elog_running *running = &elog_thread_rings.running;
	const uint32_t *generation = rings->generation;

	elog_thread_rings.counted = slot->ring;
	elog_thread_rings.shown =
		elog_running_valid(running) && generation &&
		!elog_running_old(running, __atomic_load_n(generation, __ATOMIC_RELAXED));
	if (elog_thread_rings.shown)
		elog_mapped_run(slot->header, running->of, running->session,
				elog_running_flags(running));
}

static uint32_t data_bytes_min(void)
{
	const uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

	return page > EVENTLOG_MAPPED_BYTES_MIN ? page : EVENTLOG_MAPPED_BYTES_MIN;
}

static void retry_later(struct elog_rings *rings)
{
	__atomic_store_n(&rings->next_try, elog_clock_read(CLOCK_MONOTONIC_COARSE) + RETRY_NS,
			 __ATOMIC_RELAXED);
}

bool elog_rings_may_get(const struct elog_rings *rings)
{
	return __atomic_load_n(&rings->usable, __ATOMIC_RELAXED) && !elog_thread_rings.ended &&
	       elog_clock_read(CLOCK_MONOTONIC_COARSE) >=
	       __atomic_load_n(&rings->next_try, __ATOMIC_RELAXED);
}

void elog_rings_get(struct elog_rings *rings, int fd)
{
	struct elog_mapped_ring **place = place_of_thread(rings);
	struct ring_slot *slot;

	if (!elog_rings_may_get(rings) || (*place && (*place)->busy))
		return;
	slot = *place ? slot_of(rings, *place) : free_slot(rings);
	if (!slot || (slot->header && slot->place))
		return;
	if (slot->header && !take_over(slot, fd))
		end_ring(slot, fd);
	if (!slot->header && !make_ring(slot, fd, data_bytes_min(), PROCESS_BYTES_MAX)) {
		retry_later(rings);
		return;
	}
	if (elog_rings_watch_thread()) {
		slot->place = place;
		__atomic_store_n(place, slot->ring, __ATOMIC_RELEASE);
		carry_on(rings, slot);
	} else {
		end_ring(slot, fd);
		__atomic_store_n(&rings->usable, false, __ATOMIC_RELAXED);
	}
}

void elog_rings_run(struct elog_rings *rings, int fd)
{
	struct ring_slot *slot = slot_of_thread(rings);

	if (!slot || !slot->header)
		elog_rings_get(rings, fd);
	else if (slot->ring->busy)
		return;
	else if (take_over(slot, fd))
		carry_on(rings, slot);
	else
		retry_later(rings);
}

/* ------------------------------------------------------------------------
 * Size
 */

/* Exchanges the thread's ring for one of another size, if that is possible. */
static void resize(const struct elog_rings *rings, struct ring_slot *slot, int fd,
		   uint32_t data_bytes, size_t bytes_max)
{
	if (make_ring(slot, fd, data_bytes, bytes_max))
		carry_on(rings, slot);
}

bool elog_rings_resizes(struct elog_mapped_ring *ring, bool rung)
{
	const uint32_t size = ring->mask + 1, traffic = ring->head - ring->rung;

	if (!rung)
		return ++ring->full >= FULL_MAX && size < DATA_BYTES_MAX;
	ring->rung = ring->head;
	ring->full = 0;
	ring->quiet = traffic < size / (2 * FACTOR) ? ring->quiet + 1 : 0;
	return ring->quiet >= QUIET_MAX && size > EVENTLOG_MAPPED_BYTES_MIN;
}

void elog_rings_full(struct elog_rings *rings, int fd)
{
	struct ring_slot *slot = slot_of_thread(rings);
	uint32_t size;

	if (!slot || !slot->header)
		return;
	size = slot->ring->mask + 1;
	slot->ring->full = 0;
	if (size < DATA_BYTES_MAX)
		resize(rings, slot, fd,
		       size * FACTOR < DATA_BYTES_MAX ? size * FACTOR : DATA_BYTES_MAX,
		       PROCESS_BYTES_MAX / 2);
}

void elog_rings_rung(struct elog_rings *rings, int fd)
{
	struct ring_slot *slot = slot_of_thread(rings);
	uint32_t size, least = data_bytes_min();

	if (!slot || !slot->header)
		return;
	size = slot->ring->mask + 1;
	slot->ring->quiet = 0;
	if (size > least)
		resize(rings, slot, fd, size / FACTOR > least ? size / FACTOR : least,
		       PROCESS_BYTES_MAX);
}

void elog_rings_leave(struct elog_rings *rings, int fd)
{
	struct ring_slot *slot = slot_of_thread(rings);

	if (!slot || !slot->header || !(elog_mapped_ask(slot->header) & EVENTLOG_MAPPED_ASK_LEAVE))
		return;
	end_ring(slot, fd);
	/* The ring was broken, or the kernel has another clock. Both are rare. */
	retry_later(rings);
}

/* ------------------------------------------------------------------------
 * Emissions that are under way
 */

bool elog_rings_left(struct elog_mapped_ring *ring, uintptr_t now)
{
	const uintptr_t then = __atomic_load_n(&ring->busy, __ATOMIC_RELAXED);
	uintptr_t alternate, end;
	stack_t stack;

	if (!then || sigaltstack(NULL, &stack))
		return false;
	alternate = (uintptr_t)stack.ss_sp;
	end = stack.ss_flags & SS_DISABLE ? alternate : alternate + stack.ss_size;
	if (then >= alternate && then < end) {
		/* On the other stack nothing can have interrupted it. */
		if (stack.ss_flags & SS_ONSTACK && now < then)
			return false;
	} else if (stack.ss_flags & SS_ONSTACK || now < then || now - then > STACK_DISTANCE_MAX) {
		return false;
	}
	elog_mapped_recover(ring);
	return true;
}

static bool is_any_busy(const struct elog_rings *rings)
{
	const struct ring_slot *slot;

	for (slot = rings->slots; slot; slot = slot->next)
		if (slot->place && __atomic_load_n(&slot->ring->busy, __ATOMIC_ACQUIRE))
			return true;
	return false;
}

static bool has_rings(const struct elog_rings *rings)
{
	const struct ring_slot *slot;

	for (slot = rings->slots; slot; slot = slot->next)
		if (slot->header)
			return true;
	return false;
}

bool elog_rings_quiesce(struct elog_rings *rings, unsigned int pauses)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	if (!has_rings(rings))
		return true;
	/*
	 * A thread sets busy, and then tests whether the event is enabled, without a barrier
	 * in between. After this either the thread finds it disabled, or busy is seen. If the
	 * kernel lacks the call, its store is visible after a while.
	 */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		nanosleep(&(struct timespec){ .tv_nsec = 10 * PAUSE_NS }, NULL);
	while (is_any_busy(rings)) {
		if (!pauses--)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* ------------------------------------------------------------------------
 * Registering and removing producers, threads and processes
 */

void elog_rings_open(struct elog_rings *rings, bool used, unsigned int taken)
{
	rings->place = 0;
	while (rings->place < ELOG_RING_PLACES && taken >> rings->place & 1)
		rings->place++;
	if (!used)
		rings->place = ELOG_RING_PLACES;
}

void elog_rings_connect(struct elog_rings *rings)
{
	const bool usable = rings->place != ELOG_RING_PLACES;

	__atomic_store_n(&rings->next_try, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&rings->usable, usable, __ATOMIC_RELAXED);
	__atomic_store_n(&rings->connected, true, __ATOMIC_RELAXED);
	if (usable)
		syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

void elog_rings_disconnect(struct elog_rings *rings, unsigned int pauses)
{
	struct ring_slot *slot;

	__atomic_store_n(&rings->connected, false, __ATOMIC_RELAXED);
	rings->generation = NULL;
	elog_rings_quiesce(rings, pauses);
	__atomic_store_n(&rings->usable, false, __ATOMIC_RELAXED);
	__atomic_fetch_add(&elog_rings_epoch, 1, __ATOMIC_RELAXED);
	for (slot = rings->slots; slot; slot = slot->next) {
		if (!slot->header)
			continue;
		if (__atomic_load_n(&slot->ring->busy, __ATOMIC_ACQUIRE)) {
			put_stand_in(slot, EVENTLOG_MAPPED_ASK_LEAVE | EVENTLOG_MAPPED_ASK_ENDED);
			/* In the next file, another thread's ring has the number. */
			__atomic_store_n(&slot->ring->number, 0, __ATOMIC_RELAXED);
		} else {
			end_ring(slot, -1);
		}
	}
}

void elog_rings_close(struct elog_rings *rings)
{
	struct ring_block *block, *next;
	struct ring_slot *slot;

	for (slot = rings->slots; slot; slot = slot->next) {
		end_ring(slot, -1);
		if (slot->place)
			__atomic_store_n(slot->place, NULL, __ATOMIC_RELAXED);
	}
	for (block = rings->blocks; block; block = next) {
		next = block->next;
		munmap(block, block->bytes);
	}
	rings->blocks = NULL;
	rings->slots = NULL;
}

void elog_rings_thread_ended(struct elog_rings *rings, int fd)
{
	struct ring_slot *slot = slot_of_thread(rings), *other;
	unsigned int count = 0;

	if (!slot)
		return;
	*place_of_thread(rings) = NULL;
	elog_mapped_fence();
	slot->place = NULL;
	if (slot->ring->busy)
		elog_mapped_recover(slot->ring);
	for (other = rings->slots; other; other = other->next)
		count += !other->place && other->header;
	if (count > FREE_MAX || slot->ring->mask >= data_bytes_min())
		end_ring(slot, fd);
}

void elog_rings_before_fork(struct elog_rings *rings)
{
	struct ring_slot *slot = slot_of_thread(rings);

	if (slot)
		slot->busy = slot->ring->busy != 0;
}

void elog_rings_after_fork(struct elog_rings *rings)
{
	struct elog_mapped_ring **place = place_of_thread(rings);
	struct ring_slot *slot;

	__atomic_store_n(&rings->usable, false, __ATOMIC_RELAXED);
	__atomic_store_n(&rings->connected, false, __ATOMIC_RELAXED);
	__atomic_fetch_add(&elog_rings_epoch, 1, __ATOMIC_RELAXED);
	rings->generation = NULL;
	elog_thread_rings.written = 0;
	elog_thread_rings.shown = false;
	elog_thread_rings.begun_count = 0;
	for (slot = rings->slots; slot; slot = slot->next) {
		if (slot->header)
			__atomic_fetch_sub(&process_bytes, slot->length, __ATOMIC_RELAXED);
		if (slot->header && slot->place == place && slot->busy) {
			put_stand_in(slot, 0);
			slot->abandoned = true;
		}
		slot->header = NULL;
		slot->place = NULL;
		slot->busy = false;
	}
	*place = NULL;
}
