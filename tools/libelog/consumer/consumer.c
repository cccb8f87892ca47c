// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Subscribing: the rings and their memory, rules, counts, definitions.
 *
 * A consumer belongs to one thread, unless elog/consumer.h says otherwise. It uses no
 * locks and no global data.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "consumer/state.h"
#include "format/definition.h"
#include "util/port.h"
#include "util/struct.h"

#define DEFAULT_RING_BYTES	(1U << 20)

/*
 * All known schemas are freed when their texts reach this size, because processes can
 * register new events without end. The parsed form of a schema takes up to thirty times
 * the memory of its text.
 */
#define DESCRIBED_BYTES_MAX	(4U << 20)

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

/* The metadata of the ring's sub-buffers, or NULL. */
static const unsigned char *find_meta(const struct elog_consumer *consumer,
				      const struct eventlog_ring_header *header)
{
	const uint64_t count = header->data_bytes / header->sub_buffer_bytes;

	if (header->meta_bytes < sizeof(struct eventlog_sub_buffer) ||
	    header->meta_bytes % sizeof(uint32_t) || header->meta_offset % sizeof(uint32_t) ||
	    header->meta_offset > consumer->subscribed.ring_stride ||
	    count * header->meta_bytes > consumer->subscribed.ring_stride - header->meta_offset)
		return NULL;
	return (const unsigned char *)header + header->meta_offset;
}

static int map_ring(struct elog_consumer *consumer, unsigned int index)
{
	const struct eventlog_subscribe *subscribed = &consumer->subscribed;
	uint64_t offset = subscribed->ring_offset + index * subscribed->ring_stride;
	long page_size = sysconf(_SC_PAGESIZE);
	struct ring *ring = &consumer->rings[index];
	const struct eventlog_ring_header *header;
	void *data, *page;
	int ret;

	data = elog_port_map(NULL, subscribed->ring_stride, PROT_READ, consumer_file(consumer),
			     offset);
	if (data == MAP_FAILED)
		return errno == ENXIO ? 0 : -errno;
	header = data;
	ret = check_header(consumer, header);
	if (ret)
		goto unmap;
	page = elog_port_map(NULL, (size_t)page_size, PROT_READ | PROT_WRITE,
			     consumer_file(consumer), offset + (uint64_t)page_size);
	if (page == MAP_FAILED) {
		ret = -errno;
		goto unmap;
	}
	ring->header = header;
	ring->consumer = page;
	ring->meta = find_meta(consumer, header);
	ring->reader.data = (const unsigned char *)data + header->data_offset;
	ring->reader.data_bytes = header->data_bytes;
	ring->reader.sub_buffer_bytes = header->sub_buffer_bytes;
	ring->reader.cpu = header->cpu;
	ring->reader.stream = index;
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
	elog_port_unmap(data, subscribed->ring_stride);
	return ret;
}

int elog_consumer_map(struct elog_consumer *consumer)
{
	unsigned int index;
	int ret;

	for (index = 0; index < consumer->subscribed.rings; index++) {
		if (consumer->rings[index].header ||
		    index % consumer->parts != consumer->part)
			continue;
		ret = map_ring(consumer, index);
		if (ret)
			return ret;
	}
	return 0;
}

/* Without rings, the sizes of rings must be 0: the kernel has the same rule. */
static bool options_good(const struct elog_consumer_options *options)
{
	const uint32_t flags = options->flags & ~ELOG_CONSUMER_FILE;

	if (options->flags & ELOG_CONSUMER_FILE ? options->file < 0 || options->device :
						  options->file != 0)
		return false;
	if (flags & ~(ELOG_CONSUMER_OVERWRITE | ELOG_CONSUMER_NO_RINGS |
		      ELOG_CONSUMER_NO_SHARDS) ||
	    options->backlog_bytes > ELOG_BACKLOG_MAX ||
	    (options->backlog_bytes && flags & ~ELOG_CONSUMER_NO_SHARDS))
		return false;
	return !(flags & ELOG_CONSUMER_NO_RINGS) ||
	       (flags == ELOG_CONSUMER_NO_RINGS && !options->ring_bytes &&
		!options->watermark && !options->sub_buffers);
}

/*
 * Subscribe, with rings for events from producer rings if the kernel has memory for them.
 * Without them, programs write the events. Return: 0 or a negative errno.
 */
static int subscribe(int fd, struct eventlog_subscribe *request, bool shards)
{
	int ret;

	if (shards) {
		request->flags |= EVENTLOG_SUBSCRIBE_MAPPED;
		ret = elog_port_call(fd, EVENTLOG_IOC_SUBSCRIBE, request);
		if (ret != -ENOMEM && ret != -EDQUOT)
			return ret;
		request->flags &= ~EVENTLOG_SUBSCRIBE_MAPPED;
	}
	return elog_port_call(fd, EVENTLOG_IOC_SUBSCRIBE, request);
}

/* Return: a file of the device, or a negative errno. */
static int open_file(const struct elog_consumer_options *options)
{
	int fd;

	if (!(options->flags & ELOG_CONSUMER_FILE))
		return elog_device_open(options->device);
	fd = elog_port_dup(options->file);
	return fd < 0 ? -errno : fd;
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
	ret = open_file(&options);
	if (ret < 0)
		goto free_consumer;
	consumer->file = elog_file_own(ret);
	consumer->parts = 1;
	consumer->wake = elog_file_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (consumer->wake < 0) {
		ret = -errno;
		goto close_file;
	}
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
	ret = subscribe(consumer->file.fd, subscribed,
			rings && !(options.flags & ELOG_CONSUMER_NO_SHARDS));
	if (ret)
		goto close_wake;
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
	consumer->processes = options.processes;
	if (options.backlog_bytes) {
		ret = elog_backlog_open(&consumer->backlog, &consumer->file,
					subscribed->rings, options.backlog_bytes,
					subscribed->watermark,
					options.processes);
		if (ret)
			goto close_consumer;
	}
	ret = elog_consumer_map(consumer);
	if (ret)
		goto close_consumer;
	*result = consumer;
	return 0;

close_consumer:
	elog_consumer_close(consumer);
	return ret;
close_wake:
	close(consumer->wake);
close_file:
	elog_file_close(&consumer->file);
free_consumer:
	free(consumer);
	return ret;
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
	unsigned int index;

	if (!consumer)
		return;
	elog_flusher_close(consumer->flusher);
	elog_ordered_free(consumer);
	elog_backlog_close(consumer->backlog);
	for (index = 0; consumer->rings && index < consumer->subscribed.rings; index++) {
		ring = &consumer->rings[index];
		if (!ring->header)
			continue;
		elog_port_unmap(ring->header, consumer->subscribed.ring_stride);
		elog_port_unmap(ring->consumer, (size_t)sysconf(_SC_PAGESIZE));
	}
	forget_described(consumer);
	free(consumer->merge.rings);
	free(consumer->rings);
	/* Who has closed one of them has closed them all. */
	if (consumer_file(consumer) >= 0)
		close(consumer->wake);
	elog_file_close(&consumer->file);
	free(consumer);
}

int elog_consumer_fd(const struct elog_consumer *consumer)
{
	return consumer->file.fd;
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
	/* A kernel that does not know the flag would say that the struct is too large. */
	if (!(rule.flags & EVENTLOG_RULE_CGROUP) && rule.cgroup)
		return -EINVAL;
	if (rule.flags & EVENTLOG_RULE_CGROUP)
		request.cgroup = (uint32_t)rule.cgroup;
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
	ret = elog_port_call(consumer_file(consumer), EVENTLOG_IOC_RULE_ADD, &request);
	if (!ret && rule_id)
		*rule_id = request.rule_id;
	return ret;
}

int elog_consumer_rule_delete(struct elog_consumer *consumer, uint32_t rule_id)
{
	struct eventlog_rule_delete request = {
		.size = sizeof(request),
		.rule_id = rule_id,
	};

	return elog_port_call(consumer_file(consumer), EVENTLOG_IOC_RULE_DEL, &request);
}

int elog_wait_once(struct elog_consumer *consumer, int milliseconds, const sigset_t *mask,
		   bool *woken)
{
	struct pollfd polls[] = {
		{ .fd = consumer_file(consumer), .events = POLLIN },
		{ .fd = consumer->wake, .events = POLLIN },
	};
	uint64_t count;
	int ret;

	if (polls[0].fd < 0)
		return -EBADF;
	ret = elog_port_poll(polls, 2, milliseconds, mask);
	if (ret < 0)
		return -errno;
	if (polls[0].revents & (POLLERR | POLLHUP | POLLNVAL))
		return polls[0].revents & POLLHUP ? -ENODEV : -EIO;
	*woken = polls[1].revents &&
		 read(consumer->wake, &count, sizeof(count)) == sizeof(count);
	return ret > 0;
}

int elog_consumer_wait(struct elog_consumer *consumer, int milliseconds,
		       const sigset_t *mask)
{
	bool woken;

	if (consumer->backlog)
		return elog_backlog_wait(consumer->backlog, milliseconds, mask);
	if (consumer->parts > 1)
		return elog_part_wait(consumer, milliseconds, mask);
	return elog_wait_once(consumer, milliseconds, mask, &woken);
}

void elog_consumer_wake(struct elog_consumer *consumer)
{
	const uint64_t one = 1;

	if (consumer->backlog)
		elog_backlog_wake(consumer->backlog);
	else if (consumer_file(consumer) >= 0)
		/* It fails only if the counter is at its maximum: the reader is awake. */
		(void)!write(consumer->wake, &one, sizeof(one));
}

/* What the rings themselves say. */
static void count_lost(const struct elog_consumer *consumer, struct eventlog_stat *stat)
{
	unsigned int index, cause;

	for (index = 0; index < consumer->subscribed.rings; index++)
		for (cause = 0; consumer->rings[index].header && cause < EVENTLOG_LOST_CAUSES;
		     cause++)
			stat->lost[cause] += elog_header_lost(consumer->rings[index].header, cause);
}

static int get_stat(const struct elog_consumer *consumer, uint32_t ring, uint32_t descriptor,
		    uint32_t rule_id, struct eventlog_stat *stat)
{
	int ret = elog_struct_clear(stat, ELOG_SIZE_TO(struct eventlog_stat, lost));
	int fd;

	if (ret)
		return ret;
	stat->ring = ring;
	stat->descriptor = descriptor;
	stat->rule_id = rule_id;
	fd = consumer_file(consumer);
	ret = elog_port_call(fd, EVENTLOG_IOC_STAT, stat);
	if (!ret || ring != EVENTLOG_RINGS_ALL || descriptor || rule_id || !elog_port_gone(fd))
		return ret;
	count_lost(consumer, stat);
	stat->generation = consumer->generation;
	return 0;
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

static bool has_unreported(const struct elog_consumer *consumer,
		     const struct ring *ring)
{
	unsigned int i;

	if (elog_ring_unread(consumer, ring))
		return true;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		if (elog_header_lost(ring->header, i) > ring->reader.lost[i])
			return true;
	return false;
}

int elog_consumer_pending(struct elog_consumer *consumer)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	unsigned int index;
	int ret;

	if (consumer->flusher && elog_flusher_over(consumer->flusher))
		return 1;
	for (index = 0; index < consumer->subscribed.rings; index++)
		if (consumer->rings[index].header &&
		    has_unreported(consumer, &consumer->rings[index]))
			return 1;
	ret = elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat);
	if (ret)
		return ret;
	return stat.generation != consumer->generation ||
	       (!consumer->part && stat.lost[EVENTLOG_LOST_NO_MEMORY] >
				   consumer->no_ring.lost[EVENTLOG_LOST_NO_MEMORY]);
}

unsigned int elog_consumer_rings(const struct elog_consumer *consumer)
{
	return consumer->subscribed.rings;
}

unsigned int elog_consumer_shards(const struct elog_consumer *consumer)
{
	return consumer->subscribed.rings ? consumer->subscribed.shards : 0;
}

unsigned int elog_consumer_ring_cpu(const struct elog_consumer *consumer, unsigned int ring)
{
	if (ring >= consumer->subscribed.rings || !consumer->rings[ring].header)
		return EVENTLOG_CPU_UNKNOWN;
	return consumer->rings[ring].reader.cpu;
}

int elog_consumer_definition(struct elog_consumer *consumer,
			     struct eventlog_describe *request, char **text)
{
	int ret = -ENOENT;

	if (consumer->backlog && !request->flags)
		ret = elog_backlog_definition(consumer->backlog, request, text);
	if (ret != -ENOENT)
		return ret;
	ret = elog_device_describe(consumer_file(consumer), request, text);
	return ret && elog_port_gone(consumer_file(consumer)) ? -ENOENT : ret;
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
