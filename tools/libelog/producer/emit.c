// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Emitting events: to the thread's ring if it has one, otherwise with write(2).
 *
 * Events go to write(2) if the thread has emitted few so far, if a subscriber needs them at
 * once (EVENTLOG_STATUS_SYNC), if the ring has no room, and in a signal handler that has
 * interrupted an emission. If the ring has events then, the message tells the kernel to
 * deliver them first, so the order of a thread's events does not change.
 *
 * A thread uses its ring between elog_mapped_begin() and elog_mapped_end(), and only if the
 * event is enabled in between: see elog_rings_quiesce().
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "producer/leave.h"
#include "producer/state.h"
#include "util/port.h"

/* Writes of smaller payloads copy them: write(2) takes fewer instructions than writev(2). */
#define SMALL_PAYLOAD	256
/* A thread that emits fewer events gets no ring, which costs as much as several writes. */
#define RING_AFTER	16
/* Looks for room in a ring that an engine drains; and for the engine after so many late events. */
#define PAUSE_NS	50000
#define LATE_LOOK	64

/* ------------------------------------------------------------------------
 * With a system call
 */

/* The start of a message. */
struct head {
	uint32_t write_index;
	uint64_t session;
} __attribute__((packed));

/* What precedes it if a ring must be drained first. */
struct kick {
	uint32_t kick;
	uint32_t ring;
	struct head head;
} __attribute__((packed));

#define HEAD_OFFSET(ring) ((ring) ? 0 : offsetof(struct kick, head))

/**
 * struct emission - an event on its way to write(2)
 * @event: the event
 * @session: session, 0 for none
 * @parts: the payload
 * @count: elements of @parts
 * @with_head: element before @parts that is free for the message's head; or NULL
 * @ring: number of the thread's ring if the kernel must drain it first, or 0
 * @stack: the stack pointer of the function that emits
 */
struct emission {
	const struct elog_event *event;
	uint64_t session;
	const struct iovec *parts;
	unsigned int count;
	struct iovec *with_head;
	uint32_t ring;
	uintptr_t stack;
};

/*
 * The first of @parts, the only one or one of several, starts in @kick.
 *
 * Return: as elog_event_write(); -ESTALE: the program has closed the file.
 */
static int send_message(const struct emission *emission, struct kick *kick,
			const struct iovec *parts, unsigned int count)
{
	struct elog_producer *producer = registered(emission->event)->producer;
	int error = errno, ret = -EBADF, fd;
	enum elog_connection connection;
	struct writer_slot *slot;
	ssize_t written;

	kick->kick = EVENTLOG_WRITE_KICK;
	kick->ring = emission->ring;
	kick->head.session = emission->session;
	slot = begin_call(producer);
	connection = elog_connection(producer);
	kick->head.write_index = __atomic_load_n(&registered(emission->event)->write_index,
						 __ATOMIC_RELAXED);
	if (connection == ELOG_CONNECTED && kick->head.write_index) {
		fd = producer_file(producer);
		written = count == 1 ? elog_port_write(fd, parts->iov_base, parts->iov_len) :
				       elog_port_writev(fd, parts, count);
		ret = written >= 0 ? 0 : fd < 0 ? -ESTALE : -errno;
		/* An engine that was stopped does not get it. */
		if (ret == -EAGAIN)
			elog_leave_miss(registered(emission->event));
	} else if (connection != ELOG_NOT_CONNECTED) {
		/* Another thread has given the device up since, and the event is not back yet. */
		elog_leave_count_awaited(registered(emission->event));
	}
	end_call(slot);
	errno = error;
	return ret;
}

/*
 * Copies and writes a payload in parts.
 *
 * Return: as elog_event_write(); 1: it is too large, or not readable.
 */
static int write_small(const struct emission *emission)
{
	struct {
		struct kick kick;
		unsigned char payload[SMALL_PAYLOAD];
	} message;
	const size_t offset = HEAD_OFFSET(emission->ring);
	struct iovec whole = { .iov_base = (char *)&message + offset };
	unsigned char *to = message.payload;
	unsigned int i;

	for (i = 0; i < emission->count; i++) {
		size_t size = emission->parts[i].iov_len;

		if (size > (size_t)(message.payload + sizeof(message.payload) - to))
			return 1;
		if (!size)
			continue;
		if (!emission->parts[i].iov_base)
			return 1;
		memcpy(to, emission->parts[i].iov_base, size);
		to += size;
	}
	whole.iov_len = (size_t)(to - (unsigned char *)whole.iov_base);
	return send_message(emission, &message.kick, &whole, 1);
}

/* Writes a payload from where it is; the first of @parts is for the message's head. */
static int write_large(const struct emission *emission, struct iovec *parts)
{
	struct kick kick;

	parts[0].iov_base = (char *)&kick + HEAD_OFFSET(emission->ring);
	parts[0].iov_len = sizeof(kick) - HEAD_OFFSET(emission->ring);
	return send_message(emission, &kick, parts, emission->count + 1);
}

/* Not inlined: most events do not need this stack. */
static __attribute__((noinline)) int write_parts(const struct emission *emission)
{
	struct iovec parts[ELOG_PARTS_MAX + 1];

	memcpy(&parts[1], emission->parts, emission->count * sizeof(*parts));
	return write_large(emission, parts);
}

static int write_emission(const struct emission *emission)
{
	int ret = write_small(emission);

	if (ret <= 0)
		return ret;
	return emission->with_head ? write_large(emission, emission->with_head) :
				     write_parts(emission);
}

/* ------------------------------------------------------------------------
 * To a ring
 */

/* Test the status between elog_mapped_begin() and elog_mapped_end(). */
static inline bool has_status(const struct elog_event *event, unsigned int mask)
{
	const unsigned char *status = __atomic_load_n(&event->status, __ATOMIC_ACQUIRE);

	return (__atomic_load_n(status, __ATOMIC_RELAXED) & mask) == EVENTLOG_STATUS_ENABLED;
}

/* May the event be put in a ring? */
static inline bool is_for_ring(const struct elog_event *event)
{
	return has_status(event, EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_SYNC |
			  EVENTLOG_STATUS_LEAVE | ELOG_STATUS_UNKNOWN);
}

static inline uint64_t ring_clock(const struct elog_mapped_ring *ring)
{
#ifdef __x86_64__
	if (__builtin_expect(ring->cycles, 1))
		return __builtin_ia32_rdtsc();
#endif
	return elog_clock_read(CLOCK_MONOTONIC) + (uint64_t)ring->time_offset;
}

/* Drains the ring, which the kernel does not look at, and wakes up its drain. */
static void kick_ring(struct elog_producer *producer, uint32_t number)
{
	const uint32_t message[2] = { EVENTLOG_WRITE_KICK, number };
	struct writer_slot *slot = begin_call(producer);
	const bool connected = is_connected(producer);
	const int error = errno, fd = connected ? producer_file(producer) : -1;

	if (fd >= 0)
		elog_port_send(fd, message, sizeof(message));
	end_call(slot);
	errno = error;
	/* Then the kernel delivers what is in the ring as well. */
	if (connected && fd < 0)
		elog_producer_lost(producer);
}

/*
 * Does what the kernel asks for after an event was committed.
 *
 * Return: false if the kernel did not take the event.
 */
static __attribute__((noinline)) bool answer(struct elog_producer *producer,
					     struct elog_mapped_ring *ring, uint32_t ask)
{
	/* Also if the ring is to be left, because that does nothing while the lock is taken. */
	if (ask & EVENTLOG_MAPPED_ASK_KICK)
		kick_ring(producer, ring->number);
	if (ask & EVENTLOG_MAPPED_ASK_LEAVE) {
		elog_producer_manage(producer, elog_rings_leave);
		return !(ask & EVENTLOG_MAPPED_ASK_ENDED);
	}
	/* An engine that was stopped still asks, and would not answer. */
	if (ask & EVENTLOG_MAPPED_ASK_KICK && !has_engine(producer) &&
	    elog_rings_resizes(ring, true))
		elog_producer_manage(producer, elog_rings_rung);
	return true;
}

/*
 * Bytes of a payload in parts; more than EVENTLOG_PAYLOAD_MAX: it is too large, or not
 * readable.
 */
static inline size_t payload_bytes(const struct iovec *parts, unsigned int count)
{
	size_t bytes = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (parts[i].iov_len > EVENTLOG_PAYLOAD_MAX - bytes ||
		    (!parts[i].iov_base && parts[i].iov_len))
			return SIZE_MAX;
		bytes += parts[i].iov_len;
	}
	return bytes;
}

/* ELOG_MAPPED_BUSY stands for all reasons other than a full ring. */
static inline __attribute__((always_inline)) enum elog_mapped_result
put_in_ring(struct elog_mapped_ring *ring, const struct elog_event *event, uint64_t session,
	    const struct iovec *parts, unsigned int count)
{
	const size_t bytes = payload_bytes(parts, count);
	struct elog_mapped_slot slot;
	unsigned char *to;
	unsigned int i;
	uint64_t time;
	uint32_t ask;

	if (bytes > EVENTLOG_PAYLOAD_MAX || !elog_mapped_begin(ring))
		return ELOG_MAPPED_BUSY;
	if (!is_for_ring(event)) {
		elog_mapped_end(ring);
		return ELOG_MAPPED_BUSY;
	}
	/* Before other values occupy registers: the clock may be a function. */
	time = ring_clock(ring);
	if (!elog_mapped_reserve(ring, (uint32_t)bytes, &slot)) {
		elog_mapped_end(ring);
		return ELOG_MAPPED_FULL;
	}
	slot.record->write_index = __atomic_load_n(&registered(event)->write_index,
						   __ATOMIC_RELAXED);
	slot.record->time = time;
	slot.record->session = session;
	to = (unsigned char *)(slot.record + 1);
	for (i = 0; i < count; i++) {
		elog_mapped_copy(to, parts[i].iov_base, parts[i].iov_len);
		to += parts[i].iov_len;
	}
	elog_mapped_commit(ring, &slot);
	ask = elog_mapped_ask(slot.header);
	elog_mapped_end(ring);
	if (__builtin_expect(ask != 0, 0) && !answer(registered(event)->producer, ring, ask))
		return ELOG_MAPPED_BUSY;
	return ELOG_MAPPED_DONE;
}

/* ------------------------------------------------------------------------
 * Choosing
 */

/*
 * The number of the ring if it has events that were not delivered, otherwise 0. In a signal
 * handler, the emission that was interrupted protects the header.
 */
static uint32_t ring_with_events(struct elog_mapped_ring *ring, const struct elog_event *event)
{
	const struct eventlog_mapped_header *header;
	bool began = elog_mapped_begin(ring);
	uint32_t number = 0;

	header = ring->header;
	if (header && has_status(event, EVENTLOG_STATUS_ENABLED | ELOG_STATUS_UNKNOWN) &&
	    __atomic_load_n(&header->position, __ATOMIC_RELAXED) !=
	    __atomic_load_n(&header->committed, __ATOMIC_RELAXED))
		number = ring->number;
	if (began)
		elog_mapped_end(ring);
	return number;
}

/* Has the engine of a ring that is not drained ended? Then the next event connects again. */
static void look_for_engine(struct elog_producer *producer)
{
	struct writer_slot *slot = begin_call(producer);
	const int error = errno;
	const bool gone = is_connected(producer) && elog_port_gone(producer_file(producer));

	end_call(slot);
	errno = error;
	if (gone)
		elog_producer_gone(producer);
}

enum late {
	LATE_COUNTED,
	LATE_WAITS,		/* the thread has not waited at this position yet */
	LATE_ELSEWHERE,		/* the ring cannot be used: emit the event in another way */
};

/*
 * Counts an event for which an engine has made no room.
 *
 * @waited: the thread has waited long enough
 */
static enum late count_late(const struct elog_event *event, struct elog_mapped_ring *ring,
			    bool waited)
{
	const struct eventlog_mapped_header *header;
	enum late result = LATE_ELSEWHERE;
	bool counted = true, again = false;
	uint32_t position;

	if (!elog_mapped_begin(ring))
		return LATE_ELSEWHERE;
	header = ring->header;
	if (header && is_for_ring(event) &&
	    !(elog_mapped_ask(header) & EVENTLOG_MAPPED_ASK_LEAVE)) {
		position = __atomic_load_n(&header->position, __ATOMIC_RELAXED);
		again = ring->late && ring->late_at == position;
		result = waited || again ? LATE_COUNTED : LATE_WAITS;
	}
	if (result == LATE_COUNTED) {
		counted = elog_mapped_count_late(ring->header,
						 __atomic_load_n(&registered(event)->write_index,
								 __ATOMIC_RELAXED));
		again = again && header->late % LATE_LOOK;
		ring->late = true;
		ring->late_at = position;
	}
	elog_mapped_end(ring);
	/* There is no place for its count: tell the engine later, see leave.h. */
	if (!counted)
		elog_leave_miss(registered(event));
	if (result == LATE_COUNTED && !again)
		look_for_engine(registered(event)->producer);
	return result;
}

/*
 * An engine drains the ring in a process of its own, which may have no CPU, or be stopped. The
 * program waits for room, but not for long, and only once at a position.
 *
 * Return: false: the ring cannot take the event, or count it: emit it in another way.
 */
static bool put_when_drained(const struct emission *emission, struct elog_mapped_ring *ring)
{
	/* As the call has it, whatever time_t is. */
	const long pause[2] = { 0, PAUSE_NS };
	const struct elog_event *event = emission->event;
	struct elog_producer *producer = registered(event)->producer;
	const size_t bytes = payload_bytes(emission->parts, emission->count);
	/* It is drained: otherwise the event is counted at once. */
	const bool drained = ring->late;
	const int error = errno;
	enum elog_mapped_result result;
	enum late late;
	uint64_t end;

	if (bytes > EVENTLOG_PAYLOAD_MAX ||
	    elog_mapped_need((uint32_t)bytes) > (ring->mask + 1) / 2)
		return false;
	late = count_late(event, ring, false);
	if (late != LATE_WAITS)
		return late == LATE_COUNTED;
	kick_ring(producer, ring->number);
	end = elog_clock_read(CLOCK_MONOTONIC) + producer->wait;
	for (;;) {
		result = put_in_ring(ring, event, emission->session, emission->parts,
				     emission->count);
		if (result != ELOG_MAPPED_FULL || elog_clock_read(CLOCK_MONOTONIC) >= end)
			break;
		/* Not nanosleep(), which is a cancellation point. */
		syscall(SYS_nanosleep, pause, NULL);
	}
	errno = error;
	if (result == ELOG_MAPPED_DONE)
		ring->late = false;
	else if (result == ELOG_MAPPED_FULL)
		late = count_late(event, ring, true);
	if ((result == ELOG_MAPPED_DONE || drained) && elog_rings_resizes(ring, false))
		elog_producer_manage(producer, elog_rings_full);
	return result == ELOG_MAPPED_DONE || late == LATE_COUNTED;
}

/* The program has closed the file: connects again first, or counts the event. */
static int emit_again(struct emission *emission)
{
	const struct elog_event *event = emission->event;
	int ret;

	elog_producer_lost(registered(event)->producer);
	/* What was in the ring was delivered. */
	emission->ring = 0;
	/* This counts it if there is no device. */
	if (!(elog_event_status(event) & EVENTLOG_STATUS_ENABLED))
		return -EBADF;
	ret = write_emission(emission);
	if (ret != -ESTALE)
		return ret;
	elog_leave_miss(registered(event));
	return -EBADF;
}

static bool may_get_ring(const struct elog_event *event)
{
	struct elog_producer *producer = registered(event)->producer;

	return registered(event)->place != ELOG_RING_PLACES &&
	       !__atomic_load_n(&producer->missed, __ATOMIC_RELAXED) &&
	       elog_rings_may_get(&producer->rings);
}

/* Emits an event that is not in the ring; @result says why. */
static __attribute__((noinline)) int emit_slowly(struct emission *emission,
						 struct elog_mapped_ring *ring,
						 enum elog_mapped_result result)
{
	const struct elog_event *event = emission->event;
	struct elog_producer *producer = registered(event)->producer;
	bool left = ring && ring->busy && elog_rings_left(ring, emission->stack);
	int ret;

	/* This may give the device up, but not while the thread is in an emission. */
	if (!(elog_event_status(event) & EVENTLOG_STATUS_ENABLED))
		return -EBADF;
	if (__builtin_expect(__atomic_load_n(&producer->missed, __ATOMIC_RELAXED), 0))
		elog_leave_report(producer);
	if (left &&
	    put_in_ring(ring, event, emission->session, emission->parts, emission->count) ==
	    ELOG_MAPPED_DONE)
		return 0;
	if (has_engine(producer) && result == ELOG_MAPPED_FULL && is_for_ring(event)) {
		/* A message to an engine takes longer than the ring. */
		if ((!ring || !ring->header) && may_get_ring(event)) {
			elog_producer_manage(producer, elog_rings_get);
			ring = elog_rings_of_thread(registered(event)->place);
		}
		if (ring && ring->header && put_when_drained(emission, ring))
			return 0;
	}
	/* The kernel counts an event that is too large only in a message of its own. */
	if (ring && payload_bytes(emission->parts, emission->count) <= EVENTLOG_PAYLOAD_MAX)
		emission->ring = ring_with_events(ring, event);
	ret = write_emission(emission);
	if (ret == -ENOENT && emission->ring) {
		emission->ring = 0;
		ret = write_emission(emission);
	}
	if (ret == -ESTALE)
		return emit_again(emission);
	/* A handler that has interrupted an emission would wait for it. */
	if ((ret == -ENODEV || ret == -ETIMEDOUT || ret == -EAGAIN) && !(ring && ring->busy))
		elog_producer_gone(producer);
	if (ret || registered(event)->place == ELOG_RING_PLACES || !is_for_ring(event))
		return ret;
	if (!ring || !ring->header) {
		if (++elog_thread_rings.written >= RING_AFTER && may_get_ring(event))
			elog_producer_manage(producer, elog_rings_get);
	} else if (result == ELOG_MAPPED_FULL && elog_rings_resizes(ring, false)) {
		elog_producer_manage(producer, elog_rings_full);
	}
	return 0;
}

static inline __attribute__((always_inline)) int
emit(const struct elog_event *event, uint64_t session, const struct iovec *parts,
     unsigned int count, struct iovec *with_head)
{
	struct elog_mapped_ring *ring = elog_rings_of_thread(registered(event)->place);
	enum elog_mapped_result result = ELOG_MAPPED_FULL;
	struct emission emission;

	if (__builtin_expect(ring != NULL, 1)) {
		result = put_in_ring(ring, event, session, parts, count);
		if (__builtin_expect(result == ELOG_MAPPED_DONE, 1))
			return 0;
	}
	emission = (struct emission){
		.event = event,
		.session = session,
		.parts = parts,
		.count = count,
		.with_head = with_head,
		.stack = elog_mapped_stack_pointer(),
	};
	return emit_slowly(&emission, ring, result);
}

/*
 * Sends the index alone: a message that is too short for the session, which the kernel
 * therefore rejects, and counts, for each event.
 */
static __attribute__((noinline)) void count_invalid(const struct elog_event *event)
{
	struct elog_producer *producer = registered(event)->producer;
	struct writer_slot *slot = begin_call(producer);
	uint32_t write_index;
	int error = errno;

	if (is_connected(producer)) {
		write_index = __atomic_load_n(&registered(event)->write_index, __ATOMIC_RELAXED);
		(void)!elog_port_write(producer_file(producer), &write_index,
				       sizeof(write_index));
	}
	end_call(slot);
	errno = error;
}

void elog_event_invalid(const struct elog_event *event)
{
	if (elog_event_enabled(event) && elog_event_enabled_slow(event))
		count_invalid(event);
}

/* Counts an event that cannot be a message, for @error. */
static __attribute__((noinline)) int invalid(const struct elog_event *event, int error)
{
	elog_event_invalid(event);
	return error;
}

int elog_event_write_parts(const struct elog_event *event, uint64_t session,
			   const struct iovec *iov, unsigned int count)
{
	return emit(event, session, iov, count, NULL);
}

bool elog_typed_event_ready(const struct elog_typed_event *event)
{
	const struct elog_event *target = __atomic_load_n(&event->event, __ATOMIC_ACQUIRE);

	return target && elog_event_enabled_slow(target);
}

int elog_typed_event_write(const struct elog_typed_event *event, uint64_t session,
			   struct iovec *iov, unsigned int count, size_t size)
{
	const struct elog_event *target = __atomic_load_n(&event->event, __ATOMIC_ACQUIRE);

	if (!target)
		return -EBADF;
	if (!count || count > IOV_MAX)
		return invalid(target, -EINVAL);
	/* The words of the fields cannot say so much. */
	if (size > EVENTLOG_PAYLOAD_MAX)
		return invalid(target, -E2BIG);
	return emit(target, session, iov + 1, count - 1, iov);
}

/* The first part of what an attribute does, before the event is emitted. */
static inline void begin_session(const struct elog_event *event, uint64_t session)
{
	if (__builtin_expect(registered(event)->attribute == EVENTLOG_ATTRIBUTE_START, 0))
		elog_session_begin(event, session);
}

/* The second part, also if it was not emitted. */
static inline int end_session(const struct elog_event *event, uint64_t session, int result)
{
	if (__builtin_expect(registered(event)->attribute == EVENTLOG_ATTRIBUTE_END, 0))
		elog_session_end(event, session);
	return result;
}

void elog_typed_event_begin(const struct elog_typed_event *event, uint64_t session)
{
	const struct elog_event *target = __atomic_load_n(&event->event, __ATOMIC_ACQUIRE);

	if (target)
		elog_session_begin(target, session);
}

void elog_typed_event_end(const struct elog_typed_event *event, uint64_t session)
{
	const struct elog_event *target = __atomic_load_n(&event->event, __ATOMIC_ACQUIRE);

	if (target)
		elog_session_end(target, session);
}

static __attribute__((noinline)) int write_with_attribute(const struct elog_event *event,
							  uint64_t session,
							  const struct iovec *iov,
							  unsigned int count)
{
	begin_session(event, session);
	return end_session(event, session, count > ELOG_IOV_MAX ? invalid(event, -EINVAL) :
			   emit(event, session, iov, count, NULL));
}

int elog_event_write(const struct elog_event *event, uint64_t session,
		     const struct iovec *iov, unsigned int count)
{
	if (__builtin_expect(registered(event)->attribute, 0))
		return write_with_attribute(event, session, iov, count);
	if (count > ELOG_IOV_MAX)
		return invalid(event, -EINVAL);
	return emit(event, session, iov, count, NULL);
}

int elog_event_emit(const struct elog_event *event, uint64_t session,
		    struct elog_payload *payload)
{
	ssize_t size = elog_payload_end(payload);
	struct iovec part = {
		.iov_base = payload->data,
		.iov_len = size > 0 ? (size_t)size : 0,
	};

	if (size < 0) {
		begin_session(event, session);
		return end_session(event, session, invalid(event, (int)size));
	}
	return elog_event_write(event, session, &part, size > 0);
}
