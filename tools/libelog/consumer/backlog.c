// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Records that were taken from the rings and have not been read yet.
 *
 * A thread sleeps until a ring is at its watermark, or for a tenth of a second. Then it
 * copies the contents of the rings, in chunks of whole records, to queues in memory,
 * one for each ring. If a queue has no room, records stay in the ring, and the kernel
 * counts the events that do not fit any more. The reader takes chunks from a queue and,
 * when that is empty, from the ring itself. So a queue only makes its ring longer. To
 * find everything that a ring had at the time of a flush, the reader reads until both
 * are empty.
 *
 * When a record is taken, the thread gets the definition of its event and the name of
 * its thread, unless they are known. Definitions are the kernel's answers, kept while a
 * record that needs them waits. Names are passed to the reader's table when the reader
 * calls.
 *
 * The lock protects everything except the contents of rings and what is marked as the
 * thread's own. It is held while a chunk is copied. All functions belong to the reader,
 * except run().
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "elog.h"
#include "consumer/backlog.h"
#include "consumer/names.h"
#include "consumer/ring.h"
#include "format/definition.h"
#include "format/merge.h"
#include "util/map.h"
#include "util/port.h"
#include "util/process.h"
#include "util/struct.h"
#include "util/thread.h"
#include "util/util.h"

#define CHUNK_BYTES	(64U << 10)
#define CHUNK_BYTES_MIN	4096U
#define CHUNKS		8U		/* of a small queue */
#define SPARE_CHUNKS	16		/* kept after they were read */
#define TAKE_MS		100
#define FULL_MS		2		/* until the next try, while a ring must stay full */
#define DEFINITIONS_BYTES (4U << 20)	/* of schema text; more than this is cleaned up */
#define NAMES_MAX	16384		/* that wait for the reader */

struct queue {
	struct elog_ring_reader ring;	/* @position is behind the taken records */
	const struct eventlog_ring_header *header;	/* NULL: there is no ring */
	struct eventlog_ring_consumer *consumer;
	struct elog_chunk *first;
	struct elog_chunk *last;
	size_t bytes;			/* capacities of all chunks */
	uint64_t named;			/* time of the newest name of a thread */
	uint64_t unreported;		/* bytes taken since the reader was last woken */
	uint64_t lost;			/* losses for which the reader was woken */
	bool damaged;			/* to be reported */
	uint64_t reading;		/* serial of the reader's chunk; 0: it has none */
	uint64_t pending;		/* the chunk before, whose last record is in use */
};

/* By descriptor. */
struct definition {
	uint64_t serial;		/* of the newest chunk that needs it */
	struct eventlog_describe answer;
	char *text;			/* NULL: the kernel has no definition */
};

struct name {
	struct eventlog_name name;
	bool of_kernel;			/* the kernel kept it; else it is from /proc */
	bool guessed;
};

struct elog_backlog {
	pthread_mutex_t lock;
	pthread_t thread;
	struct elog_own_file file;
	int wake;			/* wakes the thread */
	int ready;			/* wakes the reader */
	bool stop;
	bool full;			/* the thread waits for room */
	int error;			/* of the thread, which has ended then */
	size_t limit;			/* of each queue */
	uint64_t watermark;		/* taken bytes that wake the reader */
	size_t chunk_bytes;
	uint64_t serial;		/* of the last chunk */

	struct elog_chunk *spare;
	size_t spare_count;

	uint32_t last_descriptor;	/* needed by the chunk ... */
	uint64_t last_serial;		/* ... with this serial */
	struct elog_map definitions;
	size_t definition_bytes;

	struct elog_processes *processes;	/* the reader's */
	uint32_t last_tid;
	uint64_t last_tid_when;
	struct elog_processes *asked;	/* when names were read */
	struct name *names;
	size_t name_count;
	size_t name_room;

	unsigned int rings;
	struct queue queues[];
};

/* @event: of this backlog */
static void notify(const struct elog_backlog *backlog, int event)
{
	const uint64_t one = 1;

	/* It fails only if the counter is at its maximum, so the reader is awake. */
	if (elog_file_fd(&backlog->file) >= 0)
		(void)!write(event, &one, sizeof(one));
}

static bool was_notified(int event)
{
	uint64_t count;

	return read(event, &count, sizeof(count)) == sizeof(count);
}

/* ------------------------------------------------------------------------
 * Definitions
 */

/* All chunks that wait or are being read have this serial or a larger one. */
static uint64_t oldest_serial(const struct elog_backlog *backlog)
{
	uint64_t oldest = UINT64_MAX, serial;
	const struct queue *queue;
	unsigned int i;

	for (i = 0; i < backlog->rings; i++) {
		queue = &backlog->queues[i];
		serial = queue->pending ? queue->pending :
			 queue->reading ? queue->reading :
			 queue->first ? queue->first->serial : UINT64_MAX;
		if (serial < oldest)
			oldest = serial;
	}
	return oldest;
}

static size_t definition_cost(const struct definition *definition)
{
	return ELOG_DEFINITION_OVERHEAD +
	       (definition->text ? strlen(definition->text) : 0);
}

/* Free the definitions that no chunk from this serial on needs. */
static void forget_definitions(struct elog_backlog *backlog, uint64_t serial)
{
	struct definition *definition, *next;

	for (definition = elog_map_first(&backlog->definitions); definition; definition = next) {
		next = elog_map_next(&backlog->definitions, definition);
		if (definition->serial >= serial)
			continue;
		backlog->definition_bytes -= definition_cost(definition);
		free(definition->text);
		elog_map_remove(&backlog->definitions, definition);
	}
}

/*
 * Limit the memory: a process may register new events all the time. When all known
 * definitions belong to waiting records, the thread takes no records that need more.
 * The reader itself does, because it can get definitions later. Return: 0, -ENOBUFS,
 * -ENOMEM.
 */
static int add_definition(struct elog_backlog *backlog, uint32_t descriptor,
			  struct definition **definition)
{
	if (backlog->definition_bytes >= DEFINITIONS_BYTES) {
		forget_definitions(backlog, oldest_serial(backlog));
		if (backlog->definition_bytes >= DEFINITIONS_BYTES)
			return -ENOBUFS;
	}
	*definition = elog_map_insert(&backlog->definitions, elog_map_integer(descriptor));
	if (!*definition)
		return -ENOMEM;
	(*definition)->answer.size = sizeof((*definition)->answer);
	(*definition)->answer.descriptor = descriptor;
	if (elog_device_describe(elog_file_fd(&backlog->file), &(*definition)->answer,
				 &(*definition)->text))
		(*definition)->text = NULL;
	backlog->definition_bytes += definition_cost(*definition);
	return 0;
}

static int require_definition(struct elog_backlog *backlog, uint32_t descriptor,
			      uint64_t serial)
{
	struct definition *definition;
	int ret;

	if (!descriptor)
		return 0;
	definition = elog_map_find_integer(&backlog->definitions, descriptor);
	if (!definition) {
		ret = add_definition(backlog, descriptor, &definition);
		if (ret)
			return ret;
	}
	/* An older chunk may be filled after a newer one was started. */
	if (serial > definition->serial)
		definition->serial = serial;
	return 0;
}

int elog_backlog_definition(struct elog_backlog *backlog,
			    struct eventlog_describe *request, char **text)
{
	const struct definition *definition;
	int ret = -ENOENT;

	pthread_mutex_lock(&backlog->lock);
	definition = elog_map_find_integer(&backlog->definitions, request->descriptor);
	if (definition && definition->text) {
		*text = strdup(definition->text);
		ret = *text ? 0 : -ENOMEM;
		if (!ret)
			elog_struct_put(request, &definition->answer,
					sizeof(definition->answer));
	}
	pthread_mutex_unlock(&backlog->lock);
	return ret;
}

/* ------------------------------------------------------------------------
 * Names of threads
 */

static struct name *new_name(struct elog_backlog *backlog)
{
	size_t room = backlog->name_room ? 2 * backlog->name_room : 64;
	struct name *larger;

	if (backlog->name_count < backlog->name_room)
		return &backlog->names[backlog->name_count];
	if (room > NAMES_MAX)
		return NULL;
	larger = realloc(backlog->names, room * sizeof(*larger));
	if (!larger)
		return NULL;
	backlog->names = larger;
	backlog->name_room = room;
	return &larger[backlog->name_count];
}

/* The idle task has no entry in /proc, and its name is known. */
static void require_name(struct elog_backlog *backlog, uint32_t pid, uint32_t tid,
			 uint64_t now)
{
	struct name *name;

	if (!backlog->processes || !tid)
		return;
	name = new_name(backlog);
	if (!name || !elog_processes_due(backlog->asked, pid, tid, now))
		return;
	name->name.pid = pid;
	name->name.tid = tid;
	name->of_kernel = false;
	if (elog_process_read_name(pid, tid, name->name.comm, &name->guessed))
		backlog->name_count++;
}

/* Get the names that the kernel has kept, before the records of these threads. */
static void require_kept_names(struct elog_backlog *backlog, struct queue *queue)
{
	struct eventlog_name names[EVENTLOG_NAMES_MAX];
	unsigned int count, i;
	struct name *name;

	if (!backlog->processes)
		return;
	count = elog_names_read(elog_file_fd(&backlog->file), queue->ring.stream, &queue->named,
				names);
	for (i = 0; i < count; i++) {
		name = new_name(backlog);
		if (!name)
			return;
		name->name = names[i];
		name->of_kernel = true;
		backlog->name_count++;
		elog_processes_keep(backlog->asked, &names[i]);
	}
}

static void update_names(struct elog_backlog *backlog)
{
	const struct name *name;
	size_t i;

	for (i = 0; i < backlog->name_count; i++) {
		name = &backlog->names[i];
		if (name->of_kernel)
			elog_processes_keep(backlog->processes, &name->name);
		else
			elog_processes_update(backlog->processes, name->name.pid,
					      name->name.tid, name->name.comm, name->guessed);
	}
	backlog->name_count = 0;
}

/* ------------------------------------------------------------------------
 * Taking records
 */

/*
 * Padding may have only 8 bytes, of which the first 4 are valid. It is skipped, like
 * records of unknown types. Return: bytes; 0: this is not a record.
 */
static size_t record_bytes(const unsigned char *at, const unsigned char *end,
			   bool *wanted)
{
	const struct eventlog_record *record = (const void *)at;
	enum eventlog_record_type type = elog_record_type(record->size_flags);
	uint32_t size = record->size_flags & EVENTLOG_RECORD_SIZE_MASK;
	size_t bytes = elog_record_bytes(record->size_flags);

	*wanted = type == EVENTLOG_RECORD_EVENT || type == EVENTLOG_RECORD_LOST;
	if (bytes < EVENTLOG_RECORD_ALIGN || bytes > (size_t)(end - at) ||
	    (*wanted && size < sizeof(*record)))
		return 0;
	return bytes;
}

/* Make room for a record of this size in the last chunk. Return: 0, -ENOBUFS or -ENOMEM. */
static int find_chunk(struct elog_backlog *backlog, struct queue *queue,
		      size_t bytes)
{
	size_t capacity = bytes > backlog->chunk_bytes ? bytes :
							 backlog->chunk_bytes;
	struct elog_chunk *chunk = queue->last;

	if (queue->first && chunk->capacity - chunk->size >= bytes)
		return 0;
	if (queue->first && queue->bytes + capacity > backlog->limit)
		return -ENOBUFS;
	if (backlog->spare && capacity == backlog->chunk_bytes) {
		chunk = backlog->spare;
		backlog->spare = chunk->next;
		backlog->spare_count--;
	} else {
		chunk = malloc(sizeof(*chunk) + capacity);
		if (!chunk)
			return -ENOMEM;
	}
	chunk->next = NULL;
	chunk->serial = ++backlog->serial;
	chunk->size = 0;
	chunk->capacity = capacity;
	if (queue->first)
		queue->last->next = chunk;
	else
		queue->first = chunk;
	queue->last = chunk;
	queue->bytes += capacity;
	return 0;
}

/* Get the definition and the thread name of a record. Return: 0, -ENOBUFS or -ENOMEM. */
static int require_record(struct elog_backlog *backlog, uint64_t serial,
			  const struct eventlog_record *record, uint64_t now)
{
	int ret;

	if (record->descriptor != backlog->last_descriptor ||
	    serial != backlog->last_serial) {
		ret = require_definition(backlog, record->descriptor, serial);
		if (ret)
			return ret;
		backlog->last_descriptor = record->descriptor;
		backlog->last_serial = serial;
	}
	if (record->tid != backlog->last_tid || now != backlog->last_tid_when) {
		require_name(backlog, record->pid, record->tid, now);
		backlog->last_tid = record->tid;
		backlog->last_tid_when = now;
	}
	return 0;
}

/*
 * Copy records to the last chunk until it is full.
 *
 * Return: bytes copied; if there are none, -EBADMSG, -ENOBUFS or -ENOMEM.
 */
static ssize_t copy_records(struct elog_backlog *backlog, struct queue *queue,
			    const unsigned char *data, const unsigned char *end,
			    bool for_reader)
{
	const unsigned char *at = data, *run = data;
	const struct eventlog_record *record;
	struct elog_chunk *chunk = NULL;
	uint64_t now = elog_clock_read(CLOCK_MONOTONIC_COARSE);
	size_t bytes, room = 0;
	bool wanted;
	int ret = 0;

	while (at < end) {
		bytes = record_bytes(at, end, &wanted);
		if (!bytes) {
			ret = -EBADMSG;
			break;
		}
		if (!wanted) {
			if (chunk) {
				memcpy(chunk->data + chunk->size, run, (size_t)(at - run));
				chunk->size += (size_t)(at - run);
			}
			at += bytes;
			run = at;
			continue;
		}
		if (!chunk) {
			ret = find_chunk(backlog, queue, bytes);
			if (ret)
				break;
			chunk = queue->last;
			room = chunk->capacity - chunk->size;
		}
		if (bytes > room)
			break;
		record = (const void *)at;
		if (elog_record_type(record->size_flags) == EVENTLOG_RECORD_EVENT) {
			ret = require_record(backlog, chunk->serial, record, now);
			if (ret && !for_reader)
				break;
			ret = 0;
		}
		room -= bytes;
		at += bytes;
	}
	if (chunk && at > run) {
		memcpy(chunk->data + chunk->size, run, (size_t)(at - run));
		chunk->size += (size_t)(at - run);
	}
	return at > data ? at - data : ret;
}

static void release(struct queue *queue)
{
	__atomic_store_n(&queue->consumer->position,
			 (uint32_t)queue->ring.position, __ATOMIC_RELEASE);
}

/*
 * Take records from a ring.
 *
 * Return: 1; 0 the ring is empty; -ENOBUFS there is no room in the queue, which cannot
 * happen for the reader if the queue is empty; -ENOMEM.
 */
static int take(struct elog_backlog *backlog, struct queue *queue,
		bool for_reader)
{
	struct elog_ring_reader *ring = &queue->ring;
	const unsigned char *data;
	ssize_t size;

	if (!queue->header)
		return 0;
	ring->end = elog_header_committed(queue->header, ring->position);
	size = elog_ring_span(ring);
	if (!size)
		return 0;
	if (size > 0) {
		require_kept_names(backlog, queue);
		data = ring->data + (ring->position & (ring->data_bytes - 1));
		size = copy_records(backlog, queue, data, data + size, for_reader);
	}
	if (size == -EBADMSG) {
		queue->damaged = true;
		ring->position = ring->end;
	} else if (size < 0) {
		return (int)size;
	} else {
		ring->position += (uint64_t)size;
	}
	release(queue);
	return 1;
}

/* The result of reading all rings once. */
struct round {
	bool took;			/* took records */
	bool full;			/* had no room for some */
	bool wake;			/* wake the reader: watermark or loss */
};

/* Is there a reason to wake the reader of a queue? The lock is held. */
static bool should_wake_reader(struct elog_backlog *backlog, struct queue *queue,
			       const uint64_t *counts)
{
	uint64_t lost = 0;
	unsigned int i;

	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		lost += counts[i];
	if (lost == queue->lost && queue->unreported < backlog->watermark)
		return false;
	queue->lost = lost;
	queue->unreported = 0;
	return true;
}

static void take_ring(struct elog_backlog *backlog, struct queue *queue,
		      struct round *round)
{
	uint64_t counts[EVENTLOG_LOST_CAUSES], from, taken = 0;
	bool more;
	int ret;

	/* Take at most one ring's size, because other rings wait. */
	do {
		pthread_mutex_lock(&backlog->lock);
		from = queue->ring.position;
		ret = take(backlog, queue, false);
		taken += queue->ring.position - from;
		queue->unreported += queue->ring.position - from;
		if (queue->header) {
			elog_header_see_losses(queue->header, queue->consumer,
					       counts);
			round->wake |= should_wake_reader(backlog, queue, counts);
		}
		more = ret > 0 && taken < queue->ring.data_bytes;
		pthread_mutex_unlock(&backlog->lock);
	} while (more);
	round->took |= taken;
	round->full |= ret < 0;
}

static struct round take_all(struct elog_backlog *backlog)
{
	struct round round = { false };
	unsigned int i;

	for (i = 0; i < backlog->rings; i++)
		take_ring(backlog, &backlog->queues[i], &round);
	pthread_mutex_lock(&backlog->lock);
	/* Wake the reader once, to make room. */
	round.wake |= round.full && !backlog->full;
	backlog->full = round.full;
	pthread_mutex_unlock(&backlog->lock);
	return round;
}

/*
 * Sleep. If @blind, ignore the rings: poll() would return at once while a ring must
 * stay full, or is one that the reader does not know yet.
 *
 * Return: whether a ring is at its watermark or has lost events; or a negative errno.
 */
static int sleep_for_rings(struct elog_backlog *backlog, bool blind)
{
	struct pollfd polls[] = {
		{ .fd = backlog->wake, .events = POLLIN },
		{ .fd = elog_file_fd(&backlog->file), .events = POLLIN },
	};

	if (polls[1].fd < 0)
		return -EBADF;
	if (elog_port_poll(polls, blind ? 1 : 2, blind ? FULL_MS : TAKE_MS, NULL) < 0)
		return errno == EINTR ? 0 : -errno;
	if (polls[0].revents)
		was_notified(backlog->wake);
	if (polls[1].revents & (POLLERR | POLLHUP | POLLNVAL))
		return polls[1].revents & POLLHUP ? -ENODEV : -EIO;
	return polls[1].revents != 0;
}

static void *run(void *context)
{
	struct elog_backlog *backlog = context;
	bool stop = false, blind = false;
	int ret;

	while (!stop) {
		struct round round = { .wake = true };

		ret = sleep_for_rings(backlog, blind);
		if (ret >= 0)
			round = take_all(backlog);
		blind = round.full || (ret > 0 && !round.took);
		pthread_mutex_lock(&backlog->lock);
		if (ret < 0)
			backlog->error = ret;
		stop = backlog->stop || ret < 0;
		pthread_mutex_unlock(&backlog->lock);
		if (round.wake)
			notify(backlog, backlog->ready);
	}
	return NULL;
}

/* ------------------------------------------------------------------------
 * For the reader
 */

int elog_backlog_next(struct elog_backlog *backlog, unsigned int ring,
		      struct elog_chunk **chunk)
{
	struct queue *queue = &backlog->queues[ring];
	bool room = false;
	int ret = 0;

	pthread_mutex_lock(&backlog->lock);
	update_names(backlog);
	queue->pending = queue->reading;
	queue->reading = 0;
	while (!queue->first && ret >= 0 && !queue->damaged) {
		ret = take(backlog, queue, true);
		if (!ret)
			break;
	}
	*chunk = queue->first;
	if (*chunk) {
		ret = 1;
		queue->first = (*chunk)->next;
		queue->bytes -= (*chunk)->capacity;
		queue->reading = (*chunk)->serial;
		(*chunk)->next = NULL;
	} else if (queue->damaged) {
		queue->damaged = false;
		ret = -EBADMSG;
	}
	if (backlog->full && queue->bytes <= backlog->limit / 2) {
		backlog->full = false;
		room = true;
	}
	pthread_mutex_unlock(&backlog->lock);
	if (room)
		notify(backlog, backlog->wake);
	return ret;
}

void elog_backlog_free(struct elog_backlog *backlog, struct elog_chunk *chunks)
{
	struct elog_chunk *chunk;

	pthread_mutex_lock(&backlog->lock);
	while ((chunk = chunks)) {
		chunks = chunk->next;
		if (backlog->spare_count == SPARE_CHUNKS ||
		    chunk->capacity != backlog->chunk_bytes) {
			free(chunk);
			continue;
		}
		chunk->next = backlog->spare;
		backlog->spare = chunk;
		backlog->spare_count++;
	}
	pthread_mutex_unlock(&backlog->lock);
}

bool elog_backlog_pending(struct elog_backlog *backlog, unsigned int ring)
{
	struct queue *queue = &backlog->queues[ring];
	bool pending;

	pthread_mutex_lock(&backlog->lock);
	pending = queue->first || queue->damaged ||
		  (queue->header &&
		   elog_header_committed(queue->header, queue->ring.position) !=
		   queue->ring.position);
	pthread_mutex_unlock(&backlog->lock);
	return pending;
}

int elog_backlog_wait(struct elog_backlog *backlog, int milliseconds, const sigset_t *mask)
{
	struct pollfd poll = { .fd = backlog->ready, .events = POLLIN };
	int ret, error;

	ret = elog_port_poll(&poll, 1, milliseconds, mask);
	if (ret < 0)
		return -errno;
	pthread_mutex_lock(&backlog->lock);
	error = backlog->error;
	pthread_mutex_unlock(&backlog->lock);
	if (error)
		return error;
	if (elog_file_fd(&backlog->file) < 0)
		return -EBADF;
	return ret > 0 && was_notified(backlog->ready);
}

void elog_backlog_wake(struct elog_backlog *backlog)
{
	notify(backlog, backlog->ready);
}

void elog_backlog_add(struct elog_backlog *backlog,
		      const struct elog_ring_reader *ring,
		      const struct eventlog_ring_header *header,
		      struct eventlog_ring_consumer *consumer)
{
	struct queue *queue = &backlog->queues[ring->stream];

	pthread_mutex_lock(&backlog->lock);
	queue->ring = *ring;
	queue->header = header;
	queue->consumer = consumer;
	pthread_mutex_unlock(&backlog->lock);
}

static void free_backlog(struct elog_backlog *backlog)
{
	struct definition *definition;
	struct elog_chunk *chunk;
	unsigned int i;

	for (i = 0; i < backlog->rings; i++) {
		while ((chunk = backlog->queues[i].first)) {
			backlog->queues[i].first = chunk->next;
			free(chunk);
		}
	}
	while ((chunk = backlog->spare)) {
		backlog->spare = chunk->next;
		free(chunk);
	}
	elog_map_for_each(&backlog->definitions, definition)
		free(definition->text);
	elog_map_free(&backlog->definitions);
	elog_processes_free(backlog->asked);
	free(backlog->names);
	if (elog_file_fd(&backlog->file) >= 0) {
		close(backlog->wake);
		close(backlog->ready);
	}
	pthread_mutex_destroy(&backlog->lock);
	free(backlog);
}

int elog_backlog_open(struct elog_backlog **result, const struct elog_own_file *file,
		      unsigned int rings, uint64_t bytes, uint64_t watermark,
		      struct elog_processes *processes)
{
	struct elog_backlog *backlog;
	int ret = 0;

	backlog = calloc(1, sizeof(*backlog) + rings * sizeof(backlog->queues[0]));
	if (!backlog)
		return -ENOMEM;
	pthread_mutex_init(&backlog->lock, NULL);
	elog_map_init(&backlog->definitions, sizeof(struct definition));
	backlog->file = *file;
	backlog->rings = rings;
	backlog->processes = processes;
	backlog->asked = elog_processes_new();
	backlog->limit = (size_t)bytes;
	backlog->watermark = watermark;
	backlog->chunk_bytes = (size_t)bytes / CHUNKS & ~(size_t)7;
	if (backlog->chunk_bytes > CHUNK_BYTES)
		backlog->chunk_bytes = CHUNK_BYTES;
	if (backlog->chunk_bytes < CHUNK_BYTES_MIN)
		backlog->chunk_bytes = CHUNK_BYTES_MIN;
	backlog->wake = elog_file_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	backlog->ready = elog_file_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (backlog->wake < 0 || backlog->ready < 0)
		ret = -errno;
	if (!backlog->asked)
		ret = -ENOMEM;
	if (!ret)
		ret = elog_thread_start(&backlog->thread, run, backlog);
	if (ret) {
		free_backlog(backlog);
		return ret;
	}
	*result = backlog;
	return 0;
}

void elog_backlog_close(struct elog_backlog *backlog)
{
	if (!backlog)
		return;
	pthread_mutex_lock(&backlog->lock);
	backlog->stop = true;
	pthread_mutex_unlock(&backlog->lock);
	notify(backlog, backlog->wake);
	pthread_join(backlog->thread, NULL);
	free_backlog(backlog);
}
