// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Producers and their connection to the kernel. registration.c registers events, and emit.c
 * writes them.
 *
 * A producer is connected or not. If it is, it has a file, where all events are
 * registered. If it is not, the status of all events points to a byte with all bits
 * set. The kernel never sets ELOG_STATUS_UNKNOWN, so the test of an event leaves the fast
 * path, and the slow path tries to connect once a second. The same byte and path serve an
 * event that the kernel denied because a limit was reached: the slow path tries to register
 * it once a second.
 *
 * elog_producer.lock protects everything that is not marked "atomic". Testing and
 * writing an event may happen in a signal handler, so they never wait for the lock. Neither
 * are they cancellation points: a thread that is cancelled would keep the lock.
 * Writers are counted, and a file is closed only when none is using it. The same is true for
 * a thread that emits to a ring (rings.h): it uses the ring only between two stores to
 * &elog_mapped_ring.busy, and only if the event is enabled in between.
 *
 * The program may close the file, for example if it becomes a daemon, and use its number for
 * another one. So each call that uses the number looks first whether it is still that of the file.
 * If it is not, the producer connects again.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "producer/leave.h"
#include "producer/process.h"
#include "producer/registration.h"
#include "producer/state.h"
#include "producer/status_map.h"
#include "util/abi.h"
#include "util/port.h"
#include "util/struct.h"
#include "util/util.h"

#define RETRY_NS	1000000000ULL
#define STOPPED_NS	10000000000ULL
#define DISCONNECT_AGAIN_NS 100000000ULL
#define NEVER		UINT64_MAX
/* An engine gives room back within a millisecond, unless it has no CPU. */
#define WAIT_MS		5
#define WAIT_MS_MAX	1000

/* Is this not a child that shares the memory of the producer's process? */
static bool is_own(const struct elog_producer *producer)
{
	return getpid() == producer->process;
}

static void set_next_try(struct elog_producer *producer, uint64_t delay)
{
	__atomic_store_n(&producer->next_try, elog_clock_read(CLOCK_MONOTONIC_COARSE) + delay,
			 __ATOMIC_RELAXED);
}

static void set_connection(struct elog_producer *producer, enum elog_connection connection)
{
	__atomic_store_n(&producer->connection, connection, __ATOMIC_SEQ_CST);
}

/*
 * Opens a file for the producer. A process whose user or root directory is another one by now can
 * not open the device, but gets a file from the one that it has inherited.
 */
static int open_file(struct elog_producer *producer)
{
	/* While the module is being replaced, an engine does not take its place. */
	const bool waits = producer->away && producer->retries && !has_engine(producer);
	int fd = elog_node_open(waits && !producer->device ? EVENTLOG_DEVICE : producer->device);
	int inherited, other;

	producer->gone = fd < 0;
	inherited = fd < 0 ? elog_file_fd(&producer->inherited) : -1;
	if (inherited < 0)
		return fd;
	other = elog_instance_open(inherited, 0);
	return other < 0 ? fd : other;
}

/* The lock is held. Signal handlers may call this: it makes only system calls. */
static int connect_locked(struct elog_producer *producer)
{
	struct registered_event *event;
	int fd, ret;

	if (is_connected(producer))
		return 0;
	if (!is_own(producer))
		return -ENOTCONN;
	set_next_try(producer, elog_leave_delay(producer, RETRY_NS));
	fd = open_file(producer);
	/* An engine was stopped: do not wait for it each second. */
	if (fd == -ETIMEDOUT)
		set_next_try(producer, STOPPED_NS);
	if (fd < 0)
		return fd;
	elog_file_close(&producer->inherited);
	ret = elog_device_check(fd);
	if (ret) {
		elog_port_close(fd);
		return ret;
	}
	producer->file = elog_file_own(fd);
	__atomic_store_n(&producer->engine, elog_port_maybe(fd), __ATOMIC_RELAXED);
	for (event = producer->events; event && ret != -ESHUTDOWN; event = event->next)
		ret = elog_event_register_locked(producer, event);
	/* A thread that found it connected, but the event not registered, would count nothing. */
	if (ret == -ESHUTDOWN) {
		elog_leave_locked(producer);
		return ret;
	}
	elog_rings_connect(&producer->rings);
	set_connection(producer, ELOG_CONNECTED);
	elog_leave_returned(producer);
	return 0;
}

/*
 * Wait until no thread is in the kernel, but for so many pauses only, unless they are
 * UINT_MAX. If that is not enough, the producer stays connected.
 */
static bool stop_writers(struct elog_producer *producer, unsigned int pauses)
{
	const struct timespec delay = { .tv_nsec = 100000 };
	const bool had_writers = is_connected(producer);
	unsigned int i;

	set_connection(producer, producer->away ? ELOG_AWAY : ELOG_NOT_CONNECTED);
	for (i = 0; had_writers && i < WRITER_SLOTS; i++)
		while (__atomic_load_n(&producer->writers[i].count,
				       __ATOMIC_SEQ_CST)) {
			if (!pauses) {
				set_connection(producer, ELOG_CONNECTED);
				return false;
			}
			pauses -= pauses != UINT_MAX;
			nanosleep(&delay, NULL);
		}
	return true;
}

bool elog_producer_disconnect(struct elog_producer *producer, bool is_patient)
{
	unsigned int pauses = is_patient ? 2000 : 100;

	/* While it connects, it has a file before it is connected. */
	if (producer->file.fd < 0)
		return true;
	if (!stop_writers(producer, is_patient ? UINT_MAX : 100)) {
		__atomic_store_n(&producer->next_disconnect,
				 elog_clock_read(CLOCK_MONOTONIC_COARSE) + DISCONNECT_AGAIN_NS,
				 __ATOMIC_RELAXED);
		return false;
	}
	elog_events_disable(producer);
	/*
	 * A thread that ends its emission later finds that the event is disabled. If the producer
	 * has left or will connect again at once, the event is not lost. But if the thread stops
	 * between the event and looking for that, the event is counted as well.
	 */
	elog_rings_disconnect(&producer->rings,
			      elog_rings_interrupted(&producer->rings) ? 0 : pauses);
	elog_events_forget(producer);
	elog_status_unmap(producer);
	elog_file_close(&producer->file);
	return true;
}

/*
 * The child has a copy of the parent's file, and no mapping of the status map. It has one
 * thread, so no thread can use an old address, and there is no writer to wait for. It keeps the
 * file until it has its own one, because it may drop rights before.
 */
void elog_producer_after_fork(struct elog_producer *producer)
{
	memset(producer->writers, 0, sizeof(producer->writers));
	producer->process = getpid();
	elog_rings_after_fork(&producer->rings);
	elog_leave_forget(producer);
	if (!is_connected(producer))
		return;
	producer->connection = ELOG_NOT_CONNECTED;
	producer->next_try = 0;
	elog_events_disable(producer);
	elog_events_forget(producer);
	if (producer->is_mapped) {
		producer->status_map = NULL;
		producer->map_size = 0;
		producer->is_mapped = false;
	}
	producer->inherited = producer->file;
	producer->file.fd = -1;
}

static void restore(const struct elog_held *before)
{
	int ignored;

	pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
	pthread_setcancelstate(before->cancel, &ignored);
	errno = before->error;
}

bool elog_producer_trylock(struct elog_producer *producer, struct elog_held *before)
{
	sigset_t all;

	if (!is_own(producer))
		return false;
	before->error = errno;
	sigfillset(&all);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancel);
	pthread_sigmask(SIG_SETMASK, &all, &before->signals);
	if (!pthread_mutex_trylock(&producer->lock))
		return true;
	restore(before);
	return false;
}

void elog_producer_unlock(struct elog_producer *producer, const struct elog_held *before)
{
	pthread_mutex_unlock(&producer->lock);
	restore(before);
}

int elog_producer_lock(struct elog_producer *producer)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&producer->lock);
	return cancel;
}

void elog_producer_lock_end(struct elog_producer *producer, int cancel)
{
	pthread_mutex_unlock(&producer->lock);
	pthread_setcancelstate(cancel, &cancel);
}

void elog_producer_manage(struct elog_producer *producer,
			  void (*change)(struct elog_rings *rings, int fd))
{
	struct elog_held before;
	int fd;

	if (!elog_producer_trylock(producer, &before))
		return;
	fd = is_connected(producer) ? producer_file(producer) : -1;
	if (fd >= 0)
		change(&producer->rings, fd);
	elog_producer_unlock(producer, &before);
	if (fd < 0)
		elog_producer_lost(producer);
}

void elog_producer_gone(struct elog_producer *producer)
{
	struct elog_held before;
	bool stopped;

	if (!elog_producer_may_disconnect(producer) || !elog_producer_trylock(producer, &before))
		return;
	/*
	 * If a signal handler has interrupted a thread in the kernel, waiting does not help:
	 * then a later event tries again.
	 */
	stopped = is_connected(producer) && elog_port_stopped(producer_file(producer));
	if (stopped)
		elog_leave_lost(producer);
	else
		elog_producer_disconnect(producer, false);
	if (!is_connected(producer))
		set_next_try(producer, stopped ? STOPPED_NS : 0);
	elog_producer_unlock(producer, &before);
}

void elog_producer_check(struct elog_producer *producer)
{
	if (!is_connected(producer) || producer_file(producer) >= 0)
		return;
	elog_leave_lost(producer);
	connect_locked(producer);
}

void elog_producer_lost(struct elog_producer *producer)
{
	struct elog_held before;

	if (!elog_producer_may_disconnect(producer) ||
	    elog_rings_interrupted(&producer->rings) || !elog_producer_trylock(producer, &before))
		return;
	elog_producer_check(producer);
	elog_producer_unlock(producer, &before);
}

static bool is_on(const char *variable, bool by_default)
{
	const char *value = secure_getenv(variable);

	return value && *value ? strcmp(value, "0") != 0 : by_default;
}

/* The user may turn rings off, or want the result of each emission. */
static bool may_have_rings(const struct elog_producer_options *options)
{
	return !(options->flags & ELOG_PRODUCER_NO_RINGS) && is_on("ELOG_RINGS", true) &&
	       !is_on("ELOG_STRICT", false);
}

static uint64_t wait_for_engine(void)
{
	const char *value = secure_getenv("ELOG_WAIT");
	unsigned long ms = value && isdigit(*value) ? strtoul(value, NULL, 10) : WAIT_MS;

	return (ms < WAIT_MS_MAX ? ms : WAIT_MS_MAX) * 1000000ULL;
}

int elog_producer_open(struct elog_producer **result,
		       const struct elog_producer_options *given)
{
	struct elog_producer_options options = { 0 };
	struct elog_producer *producer;
	const char *device;
	int ret;

	if (given) {
		ret = elog_struct_get(&options, sizeof(options), given);
		if (ret)
			return ret;
		if (options.flags & ~ELOG_PRODUCER_NO_RINGS)
			return -EINVAL;
	}
	producer = aligned_alloc(CACHE_LINE, sizeof(*producer));
	if (!producer)
		return -ENOMEM;
	memset(producer, 0, sizeof(*producer));
	producer->file.fd = -1;
	producer->inherited.fd = -1;
	producer->process = getpid();
	producer->wait = wait_for_engine();
	device = elog_device_chosen(options.device);
	producer->device = device ? strdup(device) : NULL;
	if (device && !producer->device) {
		free(producer);
		return -ENOMEM;
	}
	pthread_mutex_init(&producer->lock, NULL);
	elog_process_add(producer, may_have_rings(&options));
	elog_producer_connect(producer);
	*result = producer;
	return 0;
}

void elog_producer_close(struct elog_producer *producer)
{
	if (!producer)
		return;
	elog_producer_release(producer, UINT_MAX);
	elog_process_remove(producer);
	if (producer->status_map)
		elog_port_unmap(producer->status_map, producer->map_size);
	elog_events_free(producer);
	pthread_mutex_destroy(&producer->lock);
	free(producer->device);
	free(producer);
}

int elog_producer_connect(struct elog_producer *producer)
{
	int cancel = elog_producer_lock(producer), ret;

	elog_producer_check(producer);
	ret = connect_locked(producer);
	elog_producer_lock_end(producer, cancel);
	return ret;
}

void elog_producer_release(struct elog_producer *producer,
			   unsigned int seconds)
{
	int cancel = elog_producer_lock(producer);

	/* What is not emitted from now on is what the program wants. */
	producer->away = false;
	elog_producer_disconnect(producer, true);
	set_connection(producer, ELOG_NOT_CONNECTED);
	elog_file_close(&producer->inherited);
	if (seconds != UINT_MAX)
		set_next_try(producer, seconds * 1000000000ULL);
	else
		__atomic_store_n(&producer->next_try, NEVER, __ATOMIC_RELAXED);
	elog_producer_lock_end(producer, cancel);
}
/* Try to register an event for which a limit was reached. */
static void try_again_locked(struct elog_producer *producer, struct registered_event *event)
{
	int ret = elog_event_register_locked(producer, event);

	set_next_try(producer, ret ? RETRY_NS : 0);
	/* A handler that has interrupted an emission leaves it to the next event. */
	if (ret == -ESHUTDOWN && !elog_rings_interrupted(&producer->rings))
		elog_leave_locked(producer);
}

/*
 * Try to connect, or to register the event if the producer is connected. Do nothing if it
 * is too early or the lock is taken. If the event was registered, other events may be tried
 * at once.
 */
static void try_to_register(struct registered_event *event)
{
	struct elog_producer *producer = event->producer;
	struct elog_held before;

	if (elog_clock_read(CLOCK_MONOTONIC_COARSE) < __atomic_load_n(&producer->next_try,
					    __ATOMIC_RELAXED))
		return;
	if (!elog_producer_trylock(producer, &before))
		return;
	/* Another thread may have tried, or have released the producer, in between. */
	if (elog_clock_read(CLOCK_MONOTONIC_COARSE) >= producer->next_try) {
		if (!elog_rings_interrupted(&producer->rings))
			elog_producer_check(producer);
		if (!is_connected(producer) && !elog_leave_gives_way(producer))
			connect_locked(producer);
		else if (is_connected(producer) && elog_event_is_pending(event))
			try_again_locked(producer, event);
	}
	elog_producer_unlock(producer, &before);
}

static unsigned int load_status(const struct elog_event *event)
{
	const unsigned char *status = __atomic_load_n(&event->status, __ATOMIC_ACQUIRE);

	return __atomic_load_n(status, __ATOMIC_RELAXED);
}

unsigned int elog_event_status_slow(const struct elog_event *event)
{
	unsigned int bits = load_status(event), tries;

	if (!elog_leave_is_asked(bits))
		try_to_register(registered(event));
	/* Another thread may connect, and leave again, meanwhile. */
	for (tries = 0; tries < 2; tries++) {
		bits = load_status(event);
		if (elog_leave_is_asked(bits)) {
			elog_leave(registered(event), bits);
			return 0;
		}
		if (!(bits & ELOG_STATUS_UNKNOWN))
			return bits;
		if (elog_leave_count(registered(event)))
			return 0;
	}
	return 0;
}

bool elog_event_enabled_slow(const struct elog_event *event)
{
	return elog_event_status(event) & EVENTLOG_STATUS_ENABLED;
}
