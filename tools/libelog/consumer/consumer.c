// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Subscribing, and reading the rings in global time order.
 *
 * A batch has three steps. FLUSH returns a time, and records that appear after the FLUSH
 * are not older than this time. Then the committed position of each ring is read once.
 * Then all records before the time are merged. Records are read in place. The consumer
 * returns their space to the kernel after every eighth of a ring, not after every
 * record. So a batch may be long, and writers are rarely disturbed.
 *
 * Losses come from three places:
 * - records of type EVENTLOG_RECORD_LOST in the rings;
 * - the counts in the header of a ring, when the ring was read to its end and no later
 *   record holds them yet;
 * - STAT, for CPUs that have no ring.
 * Counts only grow. Each increase of a count is reported once.
 *
 * With a backlog, a thread copies the records to chunks of memory, and the consumer reads
 * the chunks: see backlog.c.
 *
 * A consumer belongs to one thread. It uses no locks and no global data.
 *
 * Longer than 900 lines because batches, raw reading and losses share the state of rings.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "elog.h"
#include "consumer/backlog.h"
#include "consumer/ring.h"
#include "format/definition.h"
#include "format/merge.h"
#include "util/map.h"
#include "util/struct.h"
#include "util/util.h"

#define DEFAULT_RING_BYTES	(1U << 20)

/*
 * All known schemas are freed when their texts reach this size, because processes can
 * register new events without end. The parsed form of a schema takes up to thirty times
 * the memory of its text.
 */
#define DESCRIBED_BYTES_MAX	(4U << 20)

struct ring {
	struct elog_ring_reader reader;	/* with a backlog: over @chunk, from 0 */
	struct elog_chunk *chunk;
	const struct eventlog_ring_header *header;	/* NULL: not mapped */
	struct eventlog_ring_consumer *consumer;
	uint64_t released;	/* the position that the kernel knows */
};

enum batch_state {
	BATCH_NONE,
	BATCH_RECORDS,
	BATCH_LOSSES,
};

struct elog_consumer {
	int fd;
	struct eventlog_subscribe subscribed;
	uint32_t generation;		/* of the mapped rings */
	struct ring *rings;		/* subscribed.rings of them */

	enum batch_state state;
	uint64_t time;			/* of the last flush */
	uint64_t before;		/* the batch has the records before this */
	struct elog_merge merge;
	struct ring *pending;		/* the caller uses its last record */
	bool damaged;			/* to be reported by the next call */
	int error;			/* to be returned by the next call */
	struct elog_backlog *backlog;	/* NULL: there is no backlog */
	struct elog_chunk *spent;	/* to be freed by the next call */
	unsigned int next_cpu;		/* BATCH_LOSSES: to be read next */
	struct elog_ring_reader no_ring; /* losses of CPUs without ring */

	struct elog_map described;	/* descriptor to schema; NULL: it has an error */
	uint64_t described_generation;	/* number of calls of forget_described() */
	size_t described_bytes;
};

static struct ring *ring_of(struct elog_ring_reader *reader)
{
	return elog_container_of(reader, struct ring, reader);
}

static int check_header(const struct elog_consumer *consumer,
			const struct eventlog_ring_header *header)
{
	uint64_t bytes = header->data_bytes, sub = header->sub_buffer_bytes;

	if (header->magic != EVENTLOG_RING_MAGIC)
		return -EPROTO;
	if (!bytes || bytes & (bytes - 1) || bytes > EVENTLOG_RING_BYTES_MAX ||
	    !sub || sub & (sub - 1) || sub > bytes)
		return -EPROTO;
	if (header->data_offset > consumer->subscribed.ring_stride ||
	    bytes > consumer->subscribed.ring_stride - header->data_offset)
		return -EPROTO;
	return 0;
}

static int map_ring(struct elog_consumer *consumer, unsigned int cpu)
{
	const struct eventlog_subscribe *subscribed = &consumer->subscribed;
	uint64_t offset = subscribed->ring_offset + cpu * subscribed->ring_stride;
	long page_size = sysconf(_SC_PAGESIZE);
	struct ring *ring = &consumer->rings[cpu];
	const struct eventlog_ring_header *header;
	void *data, *page;
	int ret;

	data = mmap(NULL, subscribed->ring_stride, PROT_READ, MAP_SHARED,
		    consumer->fd, (off_t)offset);
	if (data == MAP_FAILED)
		return errno == ENXIO ? 0 : -errno;
	header = data;
	ret = check_header(consumer, header);
	if (ret)
		goto unmap;
	page = mmap(NULL, (size_t)page_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    consumer->fd, (off_t)offset + page_size);
	if (page == MAP_FAILED) {
		ret = -errno;
		goto unmap;
	}
	ring->header = header;
	ring->consumer = page;
	ring->reader.data = (const unsigned char *)data + header->data_offset;
	ring->reader.data_bytes = header->data_bytes;
	ring->reader.sub_buffer_bytes = header->sub_buffer_bytes;
	ring->reader.cpu = header->cpu;
	ring->reader.stream = cpu;
	ring->reader.position = ring->consumer->position;
	ring->reader.end = ring->reader.position;
	ring->released = ring->reader.position;
	if (consumer->backlog) {
		elog_backlog_add(consumer->backlog, &ring->reader, ring->header,
				 ring->consumer);
		/* A chunk is like a ring that is read once, from its beginning. */
		ring->reader.data_bytes = 1ULL << 63;
		ring->reader.sub_buffer_bytes = 1ULL << 63;
		ring->reader.position = 0;
		ring->reader.end = 0;
	}
	return 0;

unmap:
	munmap(data, subscribed->ring_stride);
	return ret;
}

/* Map new rings. */
static int map_rings(struct elog_consumer *consumer)
{
	unsigned int cpu;
	int ret;

	for (cpu = 0; cpu < consumer->subscribed.rings; cpu++) {
		if (consumer->rings[cpu].header)
			continue;
		ret = map_ring(consumer, cpu);
		if (ret)
			return ret;
	}
	return 0;
}

/* Without rings, the sizes of rings must be 0: the kernel has the same rule. */
static bool options_good(const struct elog_consumer_options *options)
{
	if (options->reserved ||
	    options->flags & ~(ELOG_CONSUMER_OVERWRITE | ELOG_CONSUMER_NO_RINGS) ||
	    options->backlog_bytes > ELOG_BACKLOG_MAX ||
	    (options->backlog_bytes && options->flags))
		return false;
	return !(options->flags & ELOG_CONSUMER_NO_RINGS) ||
	       (options->flags == ELOG_CONSUMER_NO_RINGS && !options->ring_bytes &&
		!options->watermark && !options->sub_buffers);
}

int elog_consumer_open(struct elog_consumer **result,
		       const struct elog_consumer_options *given)
{
	struct elog_consumer_options options = { 0 };
	struct eventlog_subscribe *subscribed;
	struct elog_consumer *consumer;
	bool rings;
	int ret;

	if (given) {
		ret = elog_struct_get(&options, sizeof(options), given);
		if (ret)
			return ret;
		if (!options_good(&options))
			return -EINVAL;
	}
	consumer = calloc(1, sizeof(*consumer));
	if (!consumer)
		return -ENOMEM;
	elog_map_init(&consumer->described, sizeof(struct elog_schema *));
	ret = elog_device_open(options.device);
	if (ret < 0)
		goto free_consumer;
	consumer->fd = ret;
	consumer->no_ring.cpu = EVENTLOG_CPU_UNKNOWN;
	consumer->no_ring.stream = ELOG_STREAM_NONE;

	subscribed = &consumer->subscribed;
	subscribed->size = sizeof(*subscribed);
	subscribed->ring_bytes = options.ring_bytes ? options.ring_bytes : DEFAULT_RING_BYTES;
	if (options.flags & ELOG_CONSUMER_OVERWRITE)
		subscribed->flags |= EVENTLOG_SUBSCRIBE_OVERWRITE;
	subscribed->watermark = options.watermark;
	subscribed->sub_buffers = options.sub_buffers;
	rings = !(options.flags & ELOG_CONSUMER_NO_RINGS);
	if (!rings)
		subscribed->ring_bytes = 0;
	else if (!subscribed->watermark)
		subscribed->watermark = subscribed->ring_bytes / 2;
	if (ioctl(consumer->fd, EVENTLOG_IOC_SUBSCRIBE, subscribed)) {
		ret = -errno;
		goto close_file;
	}
	consumer->generation = subscribed->generation;
	if (!rings) {
		subscribed->rings = 0;
		*result = consumer;
		return 0;
	}
	ret = -ENOMEM;
	consumer->rings = calloc(subscribed->rings, sizeof(*consumer->rings));
	consumer->merge.rings = calloc(subscribed->rings,
				       sizeof(*consumer->merge.rings));
	if (!consumer->rings || !consumer->merge.rings)
		goto close_consumer;
	if (options.backlog_bytes) {
		ret = elog_backlog_open(&consumer->backlog, consumer->fd,
					subscribed->rings, options.backlog_bytes,
					subscribed->watermark,
					options.processes);
		if (ret)
			goto close_consumer;
	}
	ret = map_rings(consumer);
	if (ret)
		goto close_consumer;
	*result = consumer;
	return 0;

close_consumer:
	elog_consumer_close(consumer);
	return ret;
close_file:
	close(consumer->fd);
free_consumer:
	free(consumer);
	return ret;
}

static void free_spent(struct elog_consumer *consumer)
{
	if (consumer->spent)
		elog_backlog_free(consumer->backlog, consumer->spent);
	consumer->spent = NULL;
}

static void leave_chunk(struct elog_consumer *consumer, struct ring *ring)
{
	if (!ring->chunk)
		return;
	ring->chunk->next = consumer->spent;
	consumer->spent = ring->chunk;
	ring->chunk = NULL;
}

static void forget_described(struct elog_consumer *consumer)
{
	struct elog_schema **schema;

	consumer->described_generation++;
	elog_map_for_each(&consumer->described, schema)
		elog_schema_free(*schema);
	elog_map_free(&consumer->described);
	consumer->described_bytes = 0;
}

void elog_consumer_close(struct elog_consumer *consumer)
{
	struct ring *ring;
	unsigned int cpu;

	if (!consumer)
		return;
	for (cpu = 0; consumer->rings && cpu < consumer->subscribed.rings; cpu++)
		leave_chunk(consumer, &consumer->rings[cpu]);
	free_spent(consumer);
	elog_backlog_close(consumer->backlog);
	for (cpu = 0; consumer->rings && cpu < consumer->subscribed.rings; cpu++) {
		ring = &consumer->rings[cpu];
		if (!ring->header)
			continue;
		munmap((void *)ring->header, consumer->subscribed.ring_stride);
		munmap(ring->consumer, (size_t)sysconf(_SC_PAGESIZE));
	}
	forget_described(consumer);
	free(consumer->merge.rings);
	free(consumer->rings);
	close(consumer->fd);
	free(consumer);
}

int elog_consumer_fd(const struct elog_consumer *consumer)
{
	return consumer->fd;
}

uint64_t elog_consumer_time(const struct elog_consumer *consumer)
{
	return consumer->time;
}

int elog_consumer_rule_add(struct elog_consumer *consumer,
			   const struct elog_rule *given, uint32_t *rule_id)
{
	struct eventlog_rule request = { .size = sizeof(request) };
	struct elog_rule rule;
	int ret;

	ret = elog_struct_get(&rule, sizeof(rule), given);
	if (ret)
		return ret;
	if (rule.reserved)
		return -EINVAL;
	request.flags = rule.flags;
	request.provider = (uintptr_t)rule.provider;
	request.event = (uintptr_t)rule.event;
	request.keywords_any = rule.keywords_any;
	request.keywords_all = rule.keywords_all;
	request.session = rule.session;
	request.pid = rule.pid;
	request.level = rule.level;
	request.sample = rule.sample;
	request.filter = (uintptr_t)rule.filter;
	if (ioctl(consumer->fd, EVENTLOG_IOC_RULE_ADD, &request))
		return -errno;
	if (rule_id)
		*rule_id = request.rule_id;
	return 0;
}

int elog_consumer_rule_delete(struct elog_consumer *consumer, uint32_t rule_id)
{
	struct eventlog_rule_delete request = {
		.size = sizeof(request),
		.rule_id = rule_id,
	};

	return ioctl(consumer->fd, EVENTLOG_IOC_RULE_DEL, &request) ? -errno : 0;
}

int elog_consumer_wait(struct elog_consumer *consumer, int milliseconds,
		       const sigset_t *mask)
{
	struct pollfd poll = { .fd = consumer->fd, .events = POLLIN };
	const struct timespec time = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};
	const struct timespec *limit = milliseconds < 0 ? NULL : &time;
	int ret;

	if (consumer->backlog)
		return elog_backlog_wait(consumer->backlog, limit, mask);
	ret = ppoll(&poll, 1, limit, mask);
	if (ret < 0)
		return -errno;
	if (poll.revents & (POLLERR | POLLHUP | POLLNVAL))
		return -EIO;
	return ret;
}

static int get_stat(const struct elog_consumer *consumer, uint32_t ring, uint32_t descriptor,
		    uint32_t rule_id, struct eventlog_stat *stat)
{
	int ret = elog_struct_clear(stat, ELOG_SIZE_TO(struct eventlog_stat, lost));

	if (ret)
		return ret;
	stat->ring = ring;
	stat->descriptor = descriptor;
	stat->rule_id = rule_id;
	return ioctl(consumer->fd, EVENTLOG_IOC_STAT, stat) ? -errno : 0;
}

int elog_consumer_stat(struct elog_consumer *consumer, uint32_t ring,
		       uint32_t descriptor, struct eventlog_stat *stat)
{
	return get_stat(consumer, ring, descriptor, 0, stat);
}

int elog_consumer_rule_stat(struct elog_consumer *consumer, uint32_t rule_id,
			    struct eventlog_stat *stat)
{
	if (!rule_id)
		return -ENOENT;
	return get_stat(consumer, EVENTLOG_RINGS_ALL, 0, rule_id, stat);
}

/* The position up to which the ring is complete. */
static uint64_t committed(const struct ring *ring)
{
	return elog_header_committed(ring->header, ring->reader.end);
}

static bool has_unread(const struct elog_consumer *consumer,
		       const struct ring *ring)
{
	if (!consumer->backlog)
		return committed(ring) != ring->reader.position;
	return ring->reader.position != ring->reader.end ||
	       elog_backlog_pending(consumer->backlog, ring->reader.stream);
}

static bool has_unreported(const struct elog_consumer *consumer,
		     const struct ring *ring)
{
	unsigned int i;

	if (has_unread(consumer, ring))
		return true;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		if (elog_header_lost(ring->header, i) > ring->reader.lost[i])
			return true;
	return false;
}

int elog_consumer_pending(struct elog_consumer *consumer)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	unsigned int cpu;
	int ret;

	for (cpu = 0; cpu < consumer->subscribed.rings; cpu++)
		if (consumer->rings[cpu].header &&
		    has_unreported(consumer, &consumer->rings[cpu]))
			return 1;
	ret = elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat);
	if (ret)
		return ret;
	return stat.generation != consumer->generation ||
	       stat.lost[EVENTLOG_LOST_NO_MEMORY] >
	       consumer->no_ring.lost[EVENTLOG_LOST_NO_MEMORY];
}

static void release(struct ring *ring)
{
	if (ring->released == ring->reader.position)
		return;
	ring->released = ring->reader.position;
	__atomic_store_n(&ring->consumer->position, (uint32_t)ring->released,
			 __ATOMIC_RELEASE);
}

static int begin_batch(struct elog_consumer *consumer)
{
	struct eventlog_flush flush = { .size = sizeof(flush) };
	int ret;

	if (consumer->subscribed.flags & EVENTLOG_SUBSCRIBE_OVERWRITE)
		return -EINVAL;
	consumer->pending = NULL;
	if (ioctl(consumer->fd, EVENTLOG_IOC_FLUSH, &flush))
		return -errno;
	if (flush.generation != consumer->generation) {
		ret = map_rings(consumer);
		if (ret)
			return ret;
		consumer->generation = flush.generation;
	}
	consumer->time = flush.time;
	consumer->state = BATCH_NONE;
	return 0;
}

int elog_consumer_raw_flush(struct elog_consumer *consumer)
{
	return consumer->backlog ? -EINVAL : begin_batch(consumer);
}

/*
 * Continue with the ring's next chunk. The caller may use the last record of the
 * previous chunk until the next call. Return: false if there is no next chunk, or after
 * an error.
 */
static bool next_chunk(struct elog_consumer *consumer, struct ring *ring)
{
	int ret;

	do {
		leave_chunk(consumer, ring);
		ring->reader.position = 0;
		ring->reader.end = 0;
		ret = elog_backlog_next(consumer->backlog, ring->reader.stream,
					&ring->chunk);
		if (ret == -EBADMSG)
			consumer->damaged = true;
	} while (ret == -EBADMSG);
	if (ret < 0)
		consumer->error = ret;
	if (ret <= 0)
		return false;
	ring->reader.data = ring->chunk->data;
	ring->reader.end = ring->chunk->size;
	return true;
}

/* Add a ring to the batch. With a backlog, its next record may be in a later chunk. */
static void join(struct elog_consumer *consumer, struct ring *ring)
{
	int ret;

	do {
		ret = elog_merge_add(&consumer->merge, &ring->reader,
				     consumer->before);
		if (ret < 0)
			consumer->damaged = true;
	} while (consumer->backlog && ret <= 0 &&
		 ring->reader.position == ring->reader.end &&
		 next_chunk(consumer, ring));
}

/* Continue after the first ring's record was taken. */
static void update_merge(struct elog_consumer *consumer, struct ring *ring)
{
	size_t count = consumer->merge.count;

	if (elog_merge_update(&consumer->merge, consumer->before))
		consumer->damaged = true;
	if (consumer->backlog && consumer->merge.count < count &&
	    ring->reader.position == ring->reader.end &&
	    next_chunk(consumer, ring))
		join(consumer, ring);
}

int elog_consumer_flush(struct elog_consumer *consumer)
{
	struct ring *ring;
	unsigned int cpu;
	int ret = begin_batch(consumer);

	if (ret)
		return ret;
	free_spent(consumer);
	consumer->before = consumer->time;
	consumer->merge.count = 0;
	for (cpu = 0; cpu < consumer->subscribed.rings; cpu++) {
		ring = &consumer->rings[cpu];
		if (!ring->header)
			continue;
		if (!consumer->backlog)
			ring->reader.end = committed(ring);
		join(consumer, ring);
	}
	consumer->state = BATCH_RECORDS;
	return 0;
}

static int pause_rings(const struct elog_consumer *consumer, bool paused)
{
	struct eventlog_pause request = {
		.size = sizeof(request),
		.paused = paused,
	};

	return ioctl(consumer->fd, EVENTLOG_IOC_PAUSE, &request) ? -errno : 0;
}

/*
 * Go to the oldest complete record of the ring that was not read yet. This function
 * compares positions in 64 bits, because any number of bytes may have been written since
 * the last read.
 */
static void rewind_ring(struct ring *ring)
{
	const struct eventlog_ring_header *header = ring->header;
	uint64_t end = elog_load_word(header, &header->committed,
				      &header->committed_upper);
	uint64_t start = 0;

	if (end > header->data_bytes)
		start = (end - header->data_bytes + header->sub_buffer_bytes - 1) &
			~(header->sub_buffer_bytes - 1);
	if (ring->reader.position < start)
		ring->reader.position = start;
	ring->reader.end = end;
}

int elog_consumer_pause(struct elog_consumer *consumer)
{
	struct ring *ring;
	unsigned int cpu;
	int ret;

	if (!(consumer->subscribed.flags & EVENTLOG_SUBSCRIBE_OVERWRITE))
		return -EINVAL;
	consumer->pending = NULL;
	ret = pause_rings(consumer, true);
	if (ret)
		return ret;
	/*
	 * PAUSE returns no generation to compare. So map_rings() makes a system call for
	 * each CPU without a ring.
	 */
	ret = map_rings(consumer);
	if (ret) {
		pause_rings(consumer, false);
		return ret;
	}
	consumer->time = elog_clock_read(CLOCK_MONOTONIC) - (uint64_t)elog_time_offset();
	consumer->before = UINT64_MAX;
	consumer->merge.count = 0;
	for (cpu = 0; cpu < consumer->subscribed.rings; cpu++) {
		ring = &consumer->rings[cpu];
		if (!ring->header)
			continue;
		rewind_ring(ring);
		join(consumer, ring);
	}
	consumer->state = BATCH_RECORDS;
	return 0;
}

int elog_consumer_resume(struct elog_consumer *consumer)
{
	consumer->pending = NULL;
	consumer->state = BATCH_NONE;
	return pause_rings(consumer, false);
}

/*
 * Read the counts of lost events of a ring, then test whether the ring has unread
 * records. If it has none, no record follows these losses, because a record that was
 * written after them would be unread. Otherwise a later record holds the counts.
 * Return: true if no record follows the losses.
 */
static bool read_losses(const struct elog_consumer *consumer, struct ring *ring,
			uint64_t *counts)
{
	elog_header_see_losses(ring->header, ring->consumer, counts);
	return !has_unread(consumer, ring);
}

static bool next_loss(struct elog_consumer *consumer, struct elog_item *item)
{
	uint64_t counts[EVENTLOG_LOST_CAUSES];
	struct ring *ring;

	while (consumer->next_cpu < consumer->subscribed.rings) {
		ring = &consumer->rings[consumer->next_cpu++];
		if (!ring->header)
			continue;
		if (!read_losses(consumer, ring, counts))
			continue;
		item->time = consumer->time;
		if (elog_ring_lost(&ring->reader, counts, EVENTLOG_LOST_CAUSES, item))
			return true;
	}
	return false;
}

/* The kernel has one count for all CPUs without a ring. */
static bool next_loss_without_ring(struct elog_consumer *consumer,
				   struct elog_item *item)
{
	uint64_t counts[EVENTLOG_LOST_CAUSES] = { 0 };
	struct eventlog_stat stat = { .size = sizeof(stat) };

	if (elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat))
		return false;
	counts[EVENTLOG_LOST_NO_MEMORY] = stat.lost[EVENTLOG_LOST_NO_MEMORY];
	item->time = consumer->time;
	return elog_ring_lost(&consumer->no_ring, counts, EVENTLOG_LOST_CAUSES, item);
}

int elog_consumer_next(struct elog_consumer *consumer, struct elog_item *item)
{
	struct elog_ring_reader *reader;
	struct ring *ring;
	unsigned int cpu;
	bool news;
	int ret;

	free_spent(consumer);
	/* Clear the members that records do not set. */
	memset(&item->damage, 0, sizeof(*item) - offsetof(struct elog_item, damage));
	ring = consumer->pending;
	if (ring) {
		consumer->pending = NULL;
		if (ring->reader.position - ring->released >=
		    ring->reader.data_bytes / 8)
			release(ring);
	}
	if (consumer->damaged) {
		consumer->damaged = false;
		return -EBADMSG;
	}
	if (consumer->error) {
		ret = consumer->error;
		consumer->error = 0;
		return ret;
	}
	while (consumer->state == BATCH_RECORDS) {
		reader = elog_merge_first(&consumer->merge);
		if (!reader) {
			for (cpu = 0; cpu < consumer->subscribed.rings; cpu++)
				if (consumer->rings[cpu].header && !consumer->backlog)
					release(&consumer->rings[cpu]);
			consumer->next_cpu = 0;
			consumer->state = BATCH_LOSSES;
			break;
		}
		news = elog_ring_take(reader, item);
		update_merge(consumer, ring_of(reader));
		if (news) {
			/* With a backlog, the last record stays in its chunk. */
			consumer->pending = consumer->backlog ? NULL : ring_of(reader);
			return 1;
		}
	}
	if (consumer->state == BATCH_LOSSES) {
		if (next_loss(consumer, item))
			return 1;
		consumer->state = BATCH_NONE;
		if (next_loss_without_ring(consumer, item))
			return 1;
	}
	return 0;
}

unsigned int elog_consumer_cpus(const struct elog_consumer *consumer)
{
	return consumer->subscribed.rings;
}

unsigned int elog_consumer_rings(const struct elog_consumer *consumer)
{
	return consumer->subscribed.rings;
}

unsigned int elog_consumer_ring_cpu(const struct elog_consumer *consumer, unsigned int ring)
{
	if (ring >= consumer->subscribed.rings || !consumer->rings[ring].header)
		return EVENTLOG_CPU_UNKNOWN;
	return consumer->rings[ring].reader.cpu;
}

static struct ring *raw_ring(struct elog_consumer *consumer, unsigned int index)
{
	if (index >= consumer->subscribed.rings || consumer->backlog ||
	    consumer->subscribed.flags & EVENTLOG_SUBSCRIBE_OVERWRITE)
		return NULL;
	return &consumer->rings[index];
}

int elog_consumer_raw(struct elog_consumer *consumer, unsigned int index,
		      const void **data, size_t *size, uint64_t *position)
{
	struct ring *ring = raw_ring(consumer, index);
	uint64_t counts[EVENTLOG_LOST_CAUSES];
	struct elog_ring_reader *reader;
	ssize_t span;

	if (!ring)
		return -EINVAL;
	if (!ring->header)
		return 0;
	reader = &ring->reader;
	reader->end = committed(ring);
	span = elog_ring_span(reader);
	if (span < 0) {
		reader->position = reader->end;
		release(ring);
		return (int)span;
	}
	/* Mark the losses as seen: poll() need not report them before the next flush. */
	if (!span)
		read_losses(consumer, ring, counts);
	*data = reader->data + (reader->position & (reader->data_bytes - 1));
	*size = (size_t)span;
	*position = reader->position;
	return span > 0;
}

int elog_consumer_raw_release(struct elog_consumer *consumer, unsigned int index,
			      size_t size)
{
	struct ring *ring = raw_ring(consumer, index);

	if (!ring || !ring->header ||
	    size > ring->reader.end - ring->reader.position)
		return -EINVAL;
	ring->reader.position += size;
	release(ring);
	return 0;
}

int elog_consumer_raw_lost(struct elog_consumer *consumer, unsigned int index,
			   uint64_t *lost, size_t count)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	uint64_t counts[EVENTLOG_LOST_CAUSES] = { 0 };
	struct ring *ring = NULL;
	int ret = 1;

	if (index == ELOG_STREAM_NONE) {
		ret = elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat);
		if (ret)
			return ret;
		counts[EVENTLOG_LOST_NO_MEMORY] = stat.lost[EVENTLOG_LOST_NO_MEMORY];
		/* elog_consumer_pending() compares the count with this one. */
		consumer->no_ring.lost[EVENTLOG_LOST_NO_MEMORY] =
			stat.lost[EVENTLOG_LOST_NO_MEMORY];
		ret = 1;
	} else {
		ring = raw_ring(consumer, index);
		if (!ring)
			return -EINVAL;
		if (ring->header)
			ret = read_losses(consumer, ring, counts);
	}
	if (ret && ring)
		memcpy(ring->reader.lost, counts, sizeof(counts));
	memset(lost, 0, count * sizeof(*lost));
	memcpy(lost, counts, (count < EVENTLOG_LOST_CAUSES ? count : EVENTLOG_LOST_CAUSES) *
	       sizeof(*lost));
	return ret;
}

int elog_consumer_definition(struct elog_consumer *consumer,
			     struct eventlog_describe *request, char **text)
{
	int ret = -ENOENT;

	if (consumer->backlog && !request->flags)
		ret = elog_backlog_definition(consumer->backlog, request, text);
	return ret == -ENOENT ?
	       elog_device_describe(consumer->fd, request, text) : ret;
}

/* Get a definition that @described does not hold yet. Return: 0 or a negative errno. */
static int add_described(struct elog_consumer *consumer, uint32_t descriptor)
{
	struct eventlog_describe request = {
		.size = sizeof(request), .descriptor = descriptor,
	};
	struct elog_schema *schema = NULL, **slot;
	size_t size;
	char *text;
	int ret;

	ret = elog_consumer_definition(consumer, &request, &text);
	if (ret)
		return ret;
	if (consumer->described_bytes >= DESCRIBED_BYTES_MAX)
		forget_described(consumer);
	size = strlen(text);
	ret = elog_schema_parse(text, size, &schema, NULL);
	free(text);
	if (ret == -ENOMEM)
		return ret;
	slot = elog_map_insert(&consumer->described, elog_map_integer(descriptor));
	if (!slot) {
		elog_schema_free(schema);
		return -ENOMEM;
	}
	/* Keep NULL for a text with an error: parsing it again would fail again. */
	*slot = schema;
	consumer->described_bytes += size + ELOG_DEFINITION_OVERHEAD;
	return 0;
}

int elog_consumer_describe(struct elog_consumer *consumer, uint32_t descriptor,
			   const struct elog_schema_event **event)
{
	struct elog_schema **schema;
	int ret;

	if (!descriptor)
		return -ENOENT;
	schema = elog_map_find_integer(&consumer->described, descriptor);
	if (!schema) {
		ret = add_described(consumer, descriptor);
		if (ret)
			return ret;
		schema = elog_map_find_integer(&consumer->described, descriptor);
	}
	return elog_definition_event(*schema, event);
}

uint64_t elog_consumer_generation(const struct elog_consumer *consumer)
{
	return consumer->described_generation;
}
