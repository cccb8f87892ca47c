// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Producers and the registrations of their events. emit.c writes them.
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
 * A thread that tests an event may have loaded the address of a status map that is about to
 * be unmapped. Therefore this address stays readable forever: an anonymous page
 * replaces the mapping, and the next mapping replaces the page.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "elog_marker.h"
#include "producer/leave.h"
#include "producer/process.h"
#include "producer/state.h"
#include "util/abi.h"
#include "util/struct.h"
#include "util/util.h"

#define RETRY_NS	1000000000ULL
#define DISCONNECT_AGAIN_NS 100000000ULL
#define NEVER		UINT64_MAX

/* The status of events that may be registered later. */
static const unsigned char maybe_byte = 0xff;
/* The status of other events that are not registered. */
static const unsigned char never_byte;
static const uint32_t no_generation;

static void point_to(struct registered_event *event, const unsigned char *status)
{
	__atomic_store_n(&event->event.status, status, __ATOMIC_RELEASE);
	if (event->follower)
		__atomic_store_n(event->follower, status, __ATOMIC_RELEASE);
}

/* Is the event not registered, but may be registered later? */
static bool is_pending(const struct registered_event *event)
{
	return __atomic_load_n(&event->event.status, __ATOMIC_ACQUIRE) == &maybe_byte;
}

/* What the kernel assumes of the handlers of a marker, now and at first. */
#define HANDLERS(now, first) ((uint32_t)((now) | (first) << 8))
#define HANDLERS_ASSUMED HANDLERS(ELOG_MARKER_TRACE, ELOG_MARKER_TRACE)

static void report_handlers(int fd, const struct registered_event *event)
{
	struct eventlog_marker_handlers request = {
		.size = sizeof(request),
		.write_index = event->write_index,
		.handlers = event->handlers & 0xff,
		.defaults = event->handlers >> 8,
	};

	/* Only listings need it. */
	(void)!ioctl(fd, EVENTLOG_IOC_MARKER_HANDLERS, &request);
}

static int request_event(int fd, const struct registered_event *event, const char *command,
			 struct eventlog_register *request)
{
	memset(request, 0, sizeof(*request));
	request->size = sizeof(*request);
	request->flags = event->flags | EVENTLOG_REGISTER_SESSION;
	request->command = (uintptr_t)command;
	request->provider = (uintptr_t)event->provider;
	request->keywords = event->keywords;
	request->level = event->level;
	return ioctl(fd, EVENTLOG_IOC_REGISTER, request) ? -errno : 0;
}

static int register_event(int fd, struct registered_event *event,
			  struct eventlog_register *request)
{
	int ret = request_event(fd, event, event->command, request);

	/* A kernel that does not know the attribute refuses the schema. */
	if (ret == -EINVAL && event->plain)
		ret = request_event(fd, event, event->plain, request);
	if (ret)
		return ret;
	event->status_offset = request->status_offset;
	__atomic_store_n(&event->write_index, request->write_index,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&event->descriptor, request->descriptor,
			 __ATOMIC_RELAXED);
	/* After the index: see elog_event_filter_key(). */
	__atomic_fetch_add(&event->incarnation, 1, __ATOMIC_RELEASE);
	if (event->handlers && event->handlers != HANDLERS_ASSUMED)
		report_handlers(fd, event);
	return 0;
}

static void unregister_event(int fd, uint32_t write_index)
{
	struct eventlog_unregister request = {
		.size = sizeof(request),
		.write_index = write_index,
	};

	/* This fails only for an event that is not registered. */
	(void)!ioctl(fd, EVENTLOG_IOC_UNREGISTER, &request);
}

/* Pages with the status of events that may be registered later, or NULL. */
static void *make_stand_in(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	memset(pages, maybe_byte, size);
	if (!mprotect(pages, size, PROT_READ))
		return pages;
	munmap(pages, size);
	return NULL;
}

/*
 * Replace the status map, at its address, in one step: a thread that still looks at it takes the
 * slow path, or, if there is no memory, finds that events are disabled.
 */
static void put_stand_in(struct elog_producer *producer)
{
	void *page = make_stand_in(producer->map_size);

	producer->is_mapped = false;
	if (page && mremap(page, producer->map_size, producer->map_size,
			   MREMAP_MAYMOVE | MREMAP_FIXED, producer->status_map) != MAP_FAILED)
		return;
	if (page)
		munmap(page, producer->map_size);
	page = mmap(producer->status_map, producer->map_size, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (page == MAP_FAILED) {
		producer->status_map = NULL;
		producer->map_size = 0;
	}
}

static int map_status(struct elog_producer *producer, int fd,
		      const struct eventlog_register *request)
{
	int fixed = 0, error;
	void *address = NULL;

	if (producer->is_mapped)
		return 0;
	if (request->map_offset > INT64_MAX || !request->map_size)
		return -EPROTO;
	/* A page of another size stays mapped: threads may still read it. */
	if (producer->status_map && producer->map_size == request->map_size) {
		address = producer->status_map;
		fixed = MAP_FIXED;
	}
	address = mmap(address, request->map_size, PROT_READ,
		       MAP_SHARED | fixed, fd, (off_t)request->map_offset);
	if (address == MAP_FAILED) {
		error = errno;
		if (fixed)
			put_stand_in(producer);
		return -error;
	}
	producer->status_map = address;
	producer->map_size = request->map_size;
	producer->is_mapped = true;
	return 0;
}

/* Let the event's status point to the byte that the kernel returned. */
static int publish(struct elog_producer *producer, int fd,
		   struct registered_event *event,
		   const struct eventlog_register *request)
{
	int ret = map_status(producer, fd, request);

	if (!ret && event->status_offset >= producer->map_size)
		ret = -EPROTO;
	if (ret)
		return ret;
	/* The map is page-aligned and starts with the generation. */
	__atomic_store_n(&event->generation, (const uint32_t *)(void *)producer->status_map,
			 __ATOMIC_RELEASE);
	point_to(event, producer->status_map + event->status_offset);
	return 0;
}

/* May the kernel register the event later, when others have ended, or the device is back? */
static bool is_temporary(const struct registered_event *event, int error)
{
	/* The maker of a persistent event may exit at once, so report the error. */
	return (error == -EDQUOT || error == -ENOSPC || error == -ESHUTDOWN) &&
	       !(event->flags & EVENTLOG_REGISTER_PERSIST);
}

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

/* Register an event with the kernel. The lock is held. */
static int register_locked(struct elog_producer *producer, struct registered_event *event)
{
	struct eventlog_register request;
	int ret = register_event(producer->fd, event, &request);

	if (!ret) {
		ret = publish(producer, producer->fd, event, &request);
		if (ret)
			unregister_event(producer->fd, event->write_index);
	}
	if (ret)
		point_to(event, is_temporary(event, ret) ? &maybe_byte : &never_byte);
	__atomic_store_n(&event->error, ret, __ATOMIC_RELAXED);
	return ret;
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
	fd = elog_node_open(producer->device);
	producer->gone = fd < 0;
	if (fd < 0)
		return fd;
	ret = elog_device_check(fd);
	if (ret) {
		close(fd);
		return ret;
	}
	producer->fd = fd;
	for (event = producer->events; event && ret != -ESHUTDOWN; event = event->next)
		ret = register_locked(producer, event);
	elog_rings_connect(&producer->rings);
	__atomic_store_n(&producer->connected, true, __ATOMIC_SEQ_CST);
	if (ret == -ESHUTDOWN) {
		elog_leave_locked(producer);
		return ret;
	}
	elog_leave_returned(producer);
	return 0;
}

static void disable_events(struct elog_producer *producer)
{
	struct registered_event *event;

	for (event = producer->events; event; event = event->next)
		point_to(event, &maybe_byte);
}

/* All events are disabled, and no thread emits one of them. */
static void forget_registrations(struct elog_producer *producer)
{
	struct registered_event *event;

	for (event = producer->events; event; event = event->next) {
		__atomic_store_n(&event->generation, &no_generation, __ATOMIC_RELEASE);
		/* On another file, another event may have this number. */
		__atomic_store_n(&event->write_index, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&event->descriptor, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&event->error, -ENOTCONN, __ATOMIC_RELAXED);
	}
}

/*
 * Wait until no thread is in the kernel, but for so many pauses only, unless they are
 * UINT_MAX. If that is not enough, the producer stays connected.
 */
static bool stop_writers(struct elog_producer *producer, unsigned int pauses)
{
	const struct timespec delay = { .tv_nsec = 100000 };
	unsigned int i;

	__atomic_store_n(&producer->connected, false, __ATOMIC_SEQ_CST);
	for (i = 0; i < WRITER_SLOTS; i++)
		while (__atomic_load_n(&producer->writers[i].count,
				       __ATOMIC_SEQ_CST)) {
			if (!pauses) {
				__atomic_store_n(&producer->connected, true, __ATOMIC_SEQ_CST);
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

	if (!is_connected(producer))
		return true;
	if (!stop_writers(producer, is_patient ? UINT_MAX : 100)) {
		__atomic_store_n(&producer->next_disconnect,
				 elog_clock_read(CLOCK_MONOTONIC_COARSE) + DISCONNECT_AGAIN_NS,
				 __ATOMIC_RELAXED);
		return false;
	}
	disable_events(producer);
	/*
	 * A thread that ends its emission later finds that the event is disabled. If the producer
	 * has left or will connect again at once, the event is not lost. But if the thread stops
	 * between the event and looking for that, the event is counted as well.
	 */
	elog_rings_disconnect(&producer->rings,
			      elog_rings_interrupted(&producer->rings) ? 0 : pauses);
	forget_registrations(producer);
	if (producer->is_mapped)
		put_stand_in(producer);
	close(producer->fd);
	producer->fd = -1;
	return true;
}

/*
 * The child has a copy of the parent's file, and no mapping of the status map. It has one
 * thread, so no thread can use an old address, and there is no writer to wait for.
 */
void elog_producer_after_fork(struct elog_producer *producer)
{
	memset(producer->writers, 0, sizeof(producer->writers));
	producer->process = getpid();
	elog_rings_after_fork(&producer->rings);
	elog_leave_forget(producer);
	if (!producer->connected)
		return;
	producer->connected = false;
	producer->next_try = 0;
	disable_events(producer);
	forget_registrations(producer);
	if (producer->is_mapped) {
		producer->status_map = NULL;
		producer->map_size = 0;
		producer->is_mapped = false;
	}
	close(producer->fd);
	producer->fd = -1;
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

/*
 * Waits for the lock. The thread is not cancelled either: with the lock, it may come to open(),
 * close() and nanosleep(), which are cancellation points.
 *
 * Return: its cancellation state before, for unlock().
 */
static int lock(struct elog_producer *producer)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&producer->lock);
	return cancel;
}

static void unlock(struct elog_producer *producer, int cancel)
{
	pthread_mutex_unlock(&producer->lock);
	pthread_setcancelstate(cancel, &cancel);
}

void elog_producer_manage(struct elog_producer *producer,
			  void (*change)(struct elog_rings *rings, int fd))
{
	struct elog_held before;

	if (!elog_producer_trylock(producer, &before))
		return;
	if (is_connected(producer))
		change(&producer->rings, producer->fd);
	elog_producer_unlock(producer, &before);
}

void elog_producer_gone(struct elog_producer *producer)
{
	struct elog_held before;

	if (!elog_producer_may_disconnect(producer) || !elog_producer_trylock(producer, &before))
		return;
	/*
	 * If a signal handler has interrupted a thread in the kernel, waiting does not help:
	 * then a later event tries again.
	 */
	elog_producer_disconnect(producer, false);
	if (!is_connected(producer))
		set_next_try(producer, 0);
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

int elog_producer_open(struct elog_producer **result,
		       const struct elog_producer_options *given)
{
	struct elog_producer_options options = { 0 };
	struct elog_producer *producer;
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
	producer->fd = -1;
	producer->process = getpid();
	producer->device = strdup(elog_device_path(options.device));
	if (!producer->device) {
		free(producer);
		return -ENOMEM;
	}
	pthread_mutex_init(&producer->lock, NULL);
	elog_process_add(producer, may_have_rings(&options));
	elog_producer_connect(producer);
	*result = producer;
	return 0;
}

static void free_event(struct registered_event *event)
{
	free(event->provider);
	free(event->command);
	free(event->plain);
	free(event);
}

void elog_producer_close(struct elog_producer *producer)
{
	struct registered_event *event, *next;

	if (!producer)
		return;
	elog_producer_release(producer, UINT_MAX);
	elog_process_remove(producer);
	if (producer->status_map)
		munmap(producer->status_map, producer->map_size);
	for (event = producer->events; event; event = next) {
		next = event->next;
		if (event->typed) {
			point_to(event, &never_byte);
			event->typed->event = NULL;
		}
		free_event(event);
	}
	pthread_mutex_destroy(&producer->lock);
	free(producer->device);
	free(producer);
}

int elog_producer_connect(struct elog_producer *producer)
{
	int cancel = lock(producer), ret;

	ret = connect_locked(producer);
	unlock(producer, cancel);
	return ret;
}

void elog_producer_release(struct elog_producer *producer,
			   unsigned int seconds)
{
	int cancel = lock(producer);

	elog_producer_disconnect(producer, true);
	/* What is not emitted now is what the program wants. */
	__atomic_store_n(&producer->away, false, __ATOMIC_RELEASE);
	if (seconds != UINT_MAX)
		set_next_try(producer, seconds * 1000000000ULL);
	else
		__atomic_store_n(&producer->next_try, NEVER, __ATOMIC_RELAXED);
	unlock(producer, cancel);
}

/*
 * An event that fails is disabled and in no list. An event that may be registered later does
 * not fail.
 */
static int enlist(struct registered_event *event)
{
	struct elog_producer *producer = event->producer;
	int cancel = lock(producer), ret = 0;

	if (is_connected(producer)) {
		ret = register_locked(producer, event);
		if (ret == -ESHUTDOWN)
			elog_leave_locked(producer);
		if (is_temporary(event, ret))
			ret = 0;
	} else {
		__atomic_store_n(&event->error, -ENOTCONN, __ATOMIC_RELAXED);
		point_to(event, &maybe_byte);
	}
	if (!ret) {
		event->next = producer->events;
		producer->events = event;
	}
	unlock(producer, cancel);
	return ret;
}

/* Where the attribute of a schema's event is, with the space before it; NULL: there is none. */
static const char *find_attribute(const char *schema, size_t *size)
{
	static const char *const attributes[] = { " start", " end" };
	const char *at = strstr(schema, "\nevent ");
	unsigned int words, i;

	/* "event", id, name, level, keywords */
	for (words = 0; at && words < 5; words++)
		at = *at == ' ' || *at == '\n' ? at + 1 + strcspn(at + 1, " \n") : NULL;
	for (i = 0; at && i < ELOG_ARRAY_SIZE(attributes); i++) {
		*size = strlen(attributes[i]);
		/* Only a description may follow, or the kernel has another reason. */
		if (!strncmp(at, attributes[i], *size) &&
		    (at[*size] == '\n' || !strncmp(at + *size, " \"", 2)))
			return at;
	}
	return NULL;
}

/* Prepare what old kernels take: a signal handler that registers cannot allocate. */
static int make_plain(struct registered_event *event)
{
	size_t size;
	const char *attribute;
	char *at;

	attribute = event->command ? find_attribute(event->command, &size) : NULL;
	if (!attribute)
		return 0;
	event->plain = strdup(event->command);
	if (!event->plain)
		return -ENOMEM;
	at = event->plain + (attribute - event->command);
	memmove(at, at + size, strlen(at + size) + 1);
	return 0;
}

static struct registered_event *new_event(struct elog_producer *producer, const char *provider,
					  const char *command, unsigned int flags)
{
	struct registered_event *event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	event->producer = producer;
	event->place = producer->rings.place;
	event->generation = &no_generation;
	event->flags = flags;
	event->command = strdup(command);
	if (provider)
		event->provider = strdup(provider);
	if (!event->command || (provider && !event->provider) ||
	    (flags & EVENTLOG_REGISTER_SCHEMA && make_plain(event))) {
		free_event(event);
		return NULL;
	}
	return event;
}

/* A new event that fails is freed. */
static int enlist_new(struct registered_event *event, struct elog_event **result)
{
	int ret = enlist(event);

	if (ret) {
		free_event(event);
		return ret;
	}
	*result = &event->event;
	return 0;
}

int elog_event_register(struct elog_producer *producer, const char *provider,
			const char *command, unsigned int level,
			uint64_t keywords, unsigned int flags,
			struct elog_event **result)
{
	struct registered_event *event;

	/* The other function is for schemas. */
	if (flags & EVENTLOG_REGISTER_SCHEMA)
		return -EINVAL;
	event = new_event(producer, provider, command, flags);
	if (!event)
		return -ENOMEM;
	event->keywords = keywords;
	event->level = level;
	return enlist_new(event, result);
}

int elog_event_register_schema(struct elog_producer *producer, const char *schema,
			       unsigned int flags, struct elog_event **result)
{
	struct registered_event *event;

	event = new_event(producer, NULL, schema, flags | EVENTLOG_REGISTER_SCHEMA);
	return event ? enlist_new(event, result) : -ENOMEM;
}

static int register_typed(struct elog_producer *producer, struct elog_typed_event *typed)
{
	struct registered_event *event;
	struct elog_event *result;
	int ret;

	if (typed->event)
		return -EBUSY;
	event = new_event(producer, NULL, typed->schema, EVENTLOG_REGISTER_SCHEMA);
	if (!event)
		return -ENOMEM;
	/* First: who sees that the event is enabled uses it. */
	__atomic_store_n(&typed->event, &event->event, __ATOMIC_RELEASE);
	event->typed = typed;
	event->follower = &typed->status;
	ret = enlist_new(event, &result);
	if (ret)
		__atomic_store_n(&typed->event, NULL, __ATOMIC_RELAXED);
	return ret;
}

int elog_typed_events_register(struct elog_producer *producer,
			       struct elog_typed_event *const *events, unsigned int count)
{
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = register_typed(producer, events[i]);
		if (ret) {
			elog_typed_events_unregister(events, i);
			return ret;
		}
	}
	return 0;
}

void elog_typed_events_unregister(struct elog_typed_event *const *events, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		elog_event_unregister(events[i]->event);
		__atomic_store_n(&events[i]->event, NULL, __ATOMIC_RELAXED);
	}
}

void elog_event_retire(struct elog_event *event)
{
	struct registered_event *gone = registered(event), **link;
	struct elog_producer *producer = gone->producer;
	uint32_t write_index;
	int cancel;

	cancel = lock(producer);
	for (link = &producer->events; *link != gone; link = &(*link)->next)
		;
	*link = gone->next;
	point_to(gone, &never_byte);
	gone->follower = NULL;
	__atomic_store_n(&gone->descriptor, 0, __ATOMIC_RELAXED);
	/*
	 * Another event may get this number. If a thread does not leave its emission, the
	 * event stays registered until the file is closed.
	 */
	if (is_connected(producer) && !gone->error && elog_rings_quiesce(&producer->rings, 100)) {
		write_index = __atomic_exchange_n(&gone->write_index, 0, __ATOMIC_SEQ_CST);
		unregister_event(producer->fd, write_index);
	}
	__atomic_store_n(&gone->error, -ENOTCONN, __ATOMIC_RELAXED);
	unlock(producer, cancel);
}

int elog_event_revive(struct elog_event *event)
{
	return enlist(registered(event));
}

void elog_event_unregister(struct elog_event *event)
{
	if (!event)
		return;
	elog_event_retire(event);
	free_event(registered(event));
}

int elog_event_error(const struct elog_event *event)
{
	return __atomic_load_n(&registered(event)->error, __ATOMIC_RELAXED);
}

uint32_t elog_event_descriptor(const struct elog_event *event)
{
	return __atomic_load_n(&registered(event)->descriptor,
			       __ATOMIC_RELAXED);
}

/* Try to register an event for which a limit was reached. */
static void try_again_locked(struct elog_producer *producer, struct registered_event *event)
{
	int ret = register_locked(producer, event);

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
		if (!is_connected(producer) && !elog_leave_gives_way(producer))
			connect_locked(producer);
		else if (is_connected(producer) && is_pending(event))
			try_again_locked(producer, event);
	}
	elog_producer_unlock(producer, &before);
}

unsigned int elog_event_status_slow(const struct elog_event *event)
{
	const unsigned char *status = __atomic_load_n(&event->status, __ATOMIC_ACQUIRE);
	unsigned int bits = __atomic_load_n(status, __ATOMIC_RELAXED);

	if (!elog_leave_is_asked(bits)) {
		try_to_register(registered(event));
		status = __atomic_load_n(&event->status, __ATOMIC_ACQUIRE);
		bits = __atomic_load_n(status, __ATOMIC_RELAXED);
	}
	if (elog_leave_is_asked(bits)) {
		elog_leave(registered(event), bits);
	} else if (!(bits & ELOG_STATUS_UNKNOWN)) {
		return bits;
	} else if (!elog_leave_count(registered(event))) {
		/* Another thread may have connected since. */
		status = __atomic_load_n(&event->status, __ATOMIC_ACQUIRE);
		bits = __atomic_load_n(status, __ATOMIC_RELAXED);
		return bits & (ELOG_STATUS_UNKNOWN | EVENTLOG_STATUS_LEAVE) ? 0 : bits;
	}
	return 0;
}

bool elog_event_enabled_slow(const struct elog_event *event)
{
	return elog_event_status(event) & EVENTLOG_STATUS_ENABLED;
}

void elog_event_follow(struct elog_event *event, const unsigned char **follower)
{
	struct elog_producer *producer = registered(event)->producer;

	pthread_mutex_lock(&producer->lock);
	registered(event)->follower = follower;
	point_to(registered(event), event->status);
	pthread_mutex_unlock(&producer->lock);
}

void elog_event_report_handlers(struct elog_event *event, unsigned int handlers,
				unsigned int defaults)
{
	struct registered_event *marker = registered(event);
	uint32_t new = HANDLERS(handlers, defaults);
	bool changed;

	pthread_mutex_lock(&marker->producer->lock);
	changed = new != (marker->handlers ? marker->handlers : HANDLERS_ASSUMED);
	marker->handlers = new;
	if (changed && is_connected(marker->producer) && !marker->error)
		report_handlers(marker->producer->fd, marker);
	pthread_mutex_unlock(&marker->producer->lock);
}

uint64_t elog_event_filter_key(const struct elog_event *event)
{
	const struct registered_event *marker = registered(event);
	const uint32_t *generation = __atomic_load_n(&marker->generation, __ATOMIC_ACQUIRE);

	/* Who sees the new number asks the kernel with the new index. */
	return (uint64_t)__atomic_load_n(&marker->incarnation, __ATOMIC_ACQUIRE) << 32 |
	       __atomic_load_n(generation, __ATOMIC_RELAXED);
}

int elog_event_filter_get(const struct elog_event *event, struct eventlog_filter_get *request)
{
	struct elog_producer *producer = registered(event)->producer;
	int error = errno, ret = -ENOTCONN;
	struct writer_slot *slot;

	request->size = sizeof(*request);
	slot = begin_call(producer);
	if (is_connected(producer)) {
		request->write_index = __atomic_load_n(&registered(event)->write_index,
						       __ATOMIC_RELAXED);
		ret = ioctl(producer->fd, EVENTLOG_IOC_FILTER_GET, request) ? -errno : 0;
	}
	end_call(slot);
	errno = error;
	return ret;
}
