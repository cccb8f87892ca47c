// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Giving the device up: see leave.h.
 *
 * registered_event.awaited and missed belong together: what is not emitted while the producer is
 * away counts if the event had a listener when it left. Both are atomic; the rest is protected by
 * the producer's lock.
 *
 * When the producer is back, a subscriber may not be back yet. Then the count waits for one, and
 * threads get no rings meanwhile, so that their next event comes here.
 */
#include <time.h>
#include <unistd.h>

#include "producer/leave.h"
#include "util/port.h"

/* The device is usually back within a second. After so many tries, look less often. */
#define RETRY_NS	100000000ULL
#define RETRIES		600
/* A subscriber as well. Later ones have not asked for these events. */
#define REPORT_NS	100000000ULL
#define REPORT_UNTIL_NS	10000000000ULL

static unsigned int status_of(const struct registered_event *event)
{
	const unsigned char *status = __atomic_load_n(&event->event.status, __ATOMIC_ACQUIRE);

	return __atomic_load_n(status, __ATOMIC_RELAXED);
}

void elog_leave_miss(struct registered_event *event)
{
	__atomic_fetch_add(&event->missed, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&event->producer->missed, true, __ATOMIC_RELEASE);
}

void elog_leave_count_awaited(struct registered_event *event)
{
	if (__atomic_load_n(&event->awaited, __ATOMIC_RELAXED))
		elog_leave_miss(event);
}

bool elog_leave_count(struct registered_event *event)
{
	if (elog_connection(event->producer) != ELOG_AWAY)
		return false;
	elog_leave_count_awaited(event);
	return true;
}

uint64_t elog_leave_delay(struct elog_producer *producer, uint64_t normal)
{
	if (!producer->away || !producer->retries)
		return normal;
	producer->retries--;
	return RETRY_NS;
}

void elog_leave_locked(struct elog_producer *producer)
{
	/* Subscribers may not be back from the last time. */
	const bool again = elog_clock_read(CLOCK_MONOTONIC_COARSE) < producer->report_until;
	struct registered_event *event;
	unsigned int bits;

	for (event = producer->events; event; event = event->next) {
		bits = status_of(event);
		/* An event that could not be registered keeps what is known of it. */
		if (elog_leave_is_asked(bits) && bits & EVENTLOG_STATUS_SYNC)
			__atomic_store_n(&event->awaited, true, __ATOMIC_RELAXED);
		else if (!(bits & ELOG_STATUS_UNKNOWN) && !again)
			__atomic_store_n(&event->awaited, false, __ATOMIC_RELAXED);
	}
	if (!producer->away)
		producer->retries = RETRIES;
	/* Before events are disabled: from then on threads count. */
	producer->away = true;
	__atomic_store_n(&producer->next_try, elog_clock_read(CLOCK_MONOTONIC_COARSE) +
			 elog_leave_delay(producer, RETRY_NS), __ATOMIC_RELAXED);
	if (!elog_producer_disconnect(producer, false))
		producer->away = false;
}

void elog_leave_lost(struct elog_producer *producer)
{
	struct registered_event *event;
	unsigned int bits;

	for (event = producer->events; event; event = event->next) {
		bits = status_of(event);
		if (!(bits & ELOG_STATUS_UNKNOWN))
			__atomic_store_n(&event->awaited, bits & EVENTLOG_STATUS_ENABLED,
					 __ATOMIC_RELAXED);
	}
	producer->retries = RETRIES;
	producer->away = true;
	__atomic_store_n(&producer->next_try, 0, __ATOMIC_RELAXED);
	if (!elog_producer_disconnect(producer, false))
		producer->away = false;
}

void elog_leave(struct registered_event *event, unsigned int bits)
{
	struct elog_producer *producer = event->producer;
	struct elog_held before;

	if (bits & EVENTLOG_STATUS_SYNC)
		elog_leave_miss(event);
	/* A handler that has interrupted an emission leaves it to the next event. */
	if (!elog_producer_may_disconnect(producer) || elog_rings_interrupted(&producer->rings) ||
	    !elog_producer_trylock(producer, &before))
		return;
	/* Another thread may have left, or the kernel may not ask any more. */
	if (is_connected(producer) && elog_leave_is_asked(status_of(event)))
		elog_leave_locked(producer);
	elog_producer_unlock(producer, &before);
}

/* Return: false if no one listens to the event. */
static bool report(struct elog_producer *producer, struct registered_event *event)
{
	struct eventlog_missed request = { .size = sizeof(request) };
	const unsigned int bits = status_of(event);
	const int fd = producer_file(producer);
	unsigned long missed;
	int ret;

	if (fd < 0 || bits & (ELOG_STATUS_UNKNOWN | EVENTLOG_STATUS_LEAVE) ||
	    !(bits & EVENTLOG_STATUS_ENABLED))
		return false;
	missed = __atomic_exchange_n(&event->missed, 0, __ATOMIC_RELAXED);
	request.write_index = event->write_index;
	request.count = missed < UINT32_MAX ? (uint32_t)missed : UINT32_MAX;
	ret = elog_port_call(fd, EVENTLOG_IOC_MISSED, &request);
	/* An older module has no such call. An engine that does not answer did not get it. */
	if (ret ? ret != -EAGAIN : request.subscribers)
		return true;
	__atomic_fetch_add(&event->missed, missed, __ATOMIC_RELAXED);
	return false;
}

/* Reports what can be reported. After a while, drops the rest. */
static void report_all(struct elog_producer *producer)
{
	const uint64_t now = elog_clock_read(CLOCK_MONOTONIC_COARSE);
	struct registered_event *event;
	bool waits = false;

	if (now < producer->next_report)
		return;
	producer->next_report = now + REPORT_NS;
	/* First: a thread that counts later sets it again. */
	__atomic_store_n(&producer->missed, false, __ATOMIC_SEQ_CST);
	for (event = producer->events; event; event = event->next) {
		if (!__atomic_load_n(&event->missed, __ATOMIC_SEQ_CST) || report(producer, event))
			continue;
		if (now < producer->report_until)
			waits = true;
		else
			__atomic_store_n(&event->missed, 0, __ATOMIC_RELAXED);
	}
	if (waits)
		__atomic_store_n(&producer->missed, true, __ATOMIC_RELEASE);
}

void elog_leave_returned(struct elog_producer *producer)
{
	producer->away = false;
	producer->next_report = 0;
	producer->report_until = elog_clock_read(CLOCK_MONOTONIC_COARSE) + REPORT_UNTIL_NS;
	if (__atomic_load_n(&producer->missed, __ATOMIC_ACQUIRE))
		report_all(producer);
	/* The next event looks again, and then from time to time. */
	producer->next_report = 0;
}

bool elog_leave_gives_way(struct elog_producer *producer)
{
	if (!producer->away || !producer->gone ||
	    access(producer->device ? producer->device : EVENTLOG_DEVICE, F_OK))
		return false;
	producer->gone = false;
	__atomic_store_n(&producer->next_try, elog_clock_read(CLOCK_MONOTONIC_COARSE) + RETRY_NS,
			 __ATOMIC_RELAXED);
	return true;
}

void elog_leave_report(struct elog_producer *producer)
{
	struct elog_held before;

	if (!elog_producer_trylock(producer, &before))
		return;
	if (is_connected(producer))
		report_all(producer);
	elog_producer_unlock(producer, &before);
}

void elog_leave_forget(struct elog_producer *producer)
{
	struct registered_event *event;

	producer->missed = false;
	for (event = producer->events; event; event = event->next)
		event->missed = 0;
}
