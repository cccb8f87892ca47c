// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that the tests share: see eventlog_common.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "eventlog_common.h"

/* ------------------------------------------------------------------------
 * Hooks of the harness
 */
const char *test_before_all(void)
{
	if (geteuid())
		return "must be run as root";
	if (access(EVENTLOG_DEVICE, F_OK))
		return "no " EVENTLOG_DEVICE ": is the module loaded?";
	return NULL;
}

/*
 * A case must leave no definitions behind.  Killed processes and callbacks of the
 * kernel may take a moment to release them.
 */
bool test_after_each(char *text, size_t bytes)
{
	unsigned int attempts = 10000;
	char *status = NULL;
	long active;

	for (;;) {
		free(status);
		status = status_read();
		if (!status) {
			if (errno == ENOENT || errno == ENXIO)
				return true;
			snprintf(text, bytes, "no status listing: %s", test_errno_name(errno));
			return false;
		}
		active = status_number(status, "Active: ");
		if (!active || !attempts--)
			break;
		test_pause();
	}
	snprintf(text, bytes, "%ld definitions, first %.*s", active,
		 (int)strcspn(status, "\n"), status);
	free(status);
	return !active;
}

/* ------------------------------------------------------------------------
 * The device
 */
int device_open_for(int flags)
{
	return CHECK_OK(open(EVENTLOG_DEVICE, flags | O_CLOEXEC));
}

int device_open(void)
{
	return device_open_for(O_RDWR);
}

struct eventlog_list list_request(__u32 kind, void *buffer, __u32 bytes)
{
	return (struct eventlog_list){
		.size = sizeof(struct eventlog_list), .kind = kind,
		.buffer = PTR(buffer), .buffer_size = bytes,
	};
}

unsigned int list_count(int fd, __u32 kind)
{
	__u64 buffer[2048];
	struct eventlog_list list = list_request(kind, buffer, 0);
	unsigned int count = 0;

	do {
		list.buffer_size = sizeof(buffer);
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_LIST, &list));
		count += list.count;
	} while (list.cursor);
	return count;
}

struct eventlog_info info_of(int fd)
{
	struct eventlog_info info = { .size = sizeof(info) };

	CHECK_OK(ioctl(fd, EVENTLOG_IOC_INFO, &info));
	return info;
}

struct eventlog_info device_info(void)
{
	int fd = device_open();
	struct eventlog_info info = info_of(fd);

	close(fd);
	return info;
}

struct eventlog_register register_request(const char *command)
{
	struct eventlog_register request = {
		.size = sizeof(request), .command = PTR(command),
	};

	return request;
}

int try_register(int fd, const char *command)
{
	struct eventlog_register request = register_request(command);

	return ioctl(fd, EVENTLOG_IOC_REGISTER, &request);
}

void register_with(int fd, struct eventlog_register *request)
{
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_REGISTER, request));
	CHECK(request->write_index && !(request->write_index & 1U << 31));
	CHECK(request->descriptor);
	CHECK(request->map_size);
	CHECK_EQ(request->map_size % page_size(), 0);
	CHECK_EQ(request->map_offset % page_size(), 0);
	CHECK(request->status_offset >= 4);
	CHECK(request->status_offset < request->map_size);
	CHECK_EQ(request->reserved, 0);
}

struct eventlog_register register_event(int fd, const char *command)
{
	struct eventlog_register request = register_request(command);

	register_with(fd, &request);
	return request;
}

struct eventlog_register register_persistent(int fd, const char *provider, const char *command)
{
	struct eventlog_register request = register_request(command);

	request.provider = PTR(provider);
	request.flags = EVENTLOG_REGISTER_PERSIST;
	register_with(fd, &request);
	return request;
}

int try_unregister(int fd, __u32 write_index)
{
	struct eventlog_unregister request = {
		.size = sizeof(request), .write_index = write_index,
	};

	return ioctl(fd, EVENTLOG_IOC_UNREGISTER, &request);
}

int try_delete(int fd, const char *provider, const char *event)
{
	struct eventlog_delete request = {
		.size = sizeof(request), .provider = PTR(provider), .event = PTR(event),
	};

	return ioctl(fd, EVENTLOG_IOC_DELETE, &request);
}

ssize_t emit(int fd, __u32 write_index, const void *payload, size_t bytes)
{
	struct iovec vector[] = {
		{ &write_index, sizeof(write_index) },
		{ (void *)payload, bytes },
	};

	return writev(fd, vector, ARRAY_SIZE(vector));
}

ssize_t emit_session(int fd, __u32 write_index, __u64 session, const void *payload, size_t bytes)
{
	struct iovec vector[] = {
		{ &write_index, sizeof(write_index) },
		{ &session, sizeof(session) },
		{ (void *)payload, bytes },
	};

	return writev(fd, vector, ARRAY_SIZE(vector));
}

char *describe(int fd, __u32 descriptor, __u32 *state)
{
	struct eventlog_describe request = {
		.size = sizeof(request), .descriptor = descriptor,
	};
	char *text;

	if (ioctl(fd, EVENTLOG_IOC_DESCRIBE, &request) != -1)
		test_fail(__FILE__, __LINE__, "DESCRIBE without a buffer succeeded");
	if (errno != EMSGSIZE)
		return NULL;
	text = malloc(request.text_size);
	CHECK(text);
	request.text = PTR(text);
	if (ioctl(fd, EVENTLOG_IOC_DESCRIBE, &request)) {
		free(text);
		return NULL;
	}
	CHECK_EQ(request.descriptor, descriptor);
	CHECK_EQ(strnlen(text, request.text_size) + 1, request.text_size);
	CHECK(request.provider_id >= 1 && request.provider_id <= 65535);
	if (state)
		*state = request.state;
	return text;
}

const char *trace_group(void)
{
	return "eventlog_" EVENTLOG_DEFAULT_PROVIDER;
}

int compare_words(const void *left, const void *right)
{
	const __u32 a = *(const __u32 *)left, b = *(const __u32 *)right;

	return a < b ? -1 : a > b;
}

struct status_map status_map(int fd, const struct eventlog_register *registration)
{
	struct status_map map = { .size = registration->map_size };

	map.bytes = mmap(NULL, map.size, PROT_READ, MAP_SHARED, fd, registration->map_offset);
	if (map.bytes == MAP_FAILED)
		test_fail(__FILE__, __LINE__, "cannot map the status map: %s",
			  test_errno_name(errno));
	return map;
}

__u8 status_get(const struct status_map *map, const struct eventlog_register *registration)
{
	CHECK(registration->status_offset < map->size);
	return __atomic_load_n(&map->bytes[registration->status_offset], __ATOMIC_ACQUIRE);
}

bool status_enabled(const struct status_map *map, const struct eventlog_register *registration)
{
	return status_get(map, registration) & EVENTLOG_STATUS_ENABLED;
}

__u32 status_generation(const struct status_map *map)
{
	return __atomic_load_n((const __u32 *)map->bytes, __ATOMIC_ACQUIRE);
}

/* ------------------------------------------------------------------------
 * The status listing
 */
char *status_read(void)
{
	int fd = open(EVENTLOG_DEVICE, O_RDONLY | O_CLOEXEC);
	size_t used = 0, room = 0;
	char *text = NULL;
	ssize_t bytes;

	if (fd < 0)
		return NULL;
	do {
		if (room - used < 4096) {
			room += 65536;
			text = realloc(text, room);
			if (!text)
				abort();
		}
		bytes = read(fd, text + used, room - used - 1);
		if (bytes < 0) {
			int error = errno;

			free(text);
			close(fd);
			errno = error;
			return NULL;
		}
		used += bytes;
	} while (bytes);
	close(fd);
	text[used] = '\0';
	return text;
}

long status_number(const char *text, const char *word)
{
	const char *line = text;

	for (; line && *line; line = strchr(line, '\n'), line += !!line)
		if (!strncmp(line, word, strlen(word)))
			return strtol(line + strlen(word), NULL, 10);
	return -1;
}

long status_now(const char *word)
{
	char *text = status_read();
	long number;

	if (!text)
		return -1;
	number = status_number(text, word);
	free(text);
	return number;
}

/* ------------------------------------------------------------------------
 * A consumer
 */
struct eventlog_subscribe subscribe_request(__u64 ring_bytes)
{
	struct eventlog_subscribe request = {
		.size = sizeof(request), .ring_bytes = ring_bytes,
	};

	return request;
}

static bool is_zero(const void *memory, size_t bytes)
{
	const unsigned char *byte = memory;

	while (bytes--)
		if (*byte++)
			return false;
	return true;
}

/* A 32-bit program may run on a 64-bit kernel. */
static bool kernel_is_64_bit(void)
{
	struct utsname name;

	if (sizeof(long) == 8)
		return true;
	CHECK_OK(uname(&name));
	return strstr(name.machine, "64");
}

__u64 ring_load(const struct eventlog_ring_header *header, const __u64 *word,
		const __u32 *upper)
{
	const int high = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	const __u32 *half = (const void *)word;
	__u32 copy, low;

	if (sizeof(long) == 8)
		return __atomic_load_n(word, __ATOMIC_ACQUIRE);
	if (!(header->flags & EVENTLOG_RING_SPLIT))
		upper = &half[high];
	do {
		copy = __atomic_load_n(upper, __ATOMIC_ACQUIRE);
		low = __atomic_load_n(&half[!high], __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&half[high], __ATOMIC_ACQUIRE) != copy);
	return (__u64)copy << 32 | low;
}

bool consumer_map(struct consumer *consumer, unsigned int cpu)
{
	const struct eventlog_subscribe *setup = &consumer->setup;
	struct ring *ring = &consumer->rings[cpu];
	const off_t offset = setup->ring_offset + cpu * setup->ring_stride;
	const struct eventlog_ring_header *header;
	void *page;

	if (ring->header)
		return true;
	header = mmap(NULL, setup->ring_stride, PROT_READ, MAP_SHARED, consumer->fd, offset);
	if (header == MAP_FAILED) {
		if (errno == ENXIO)
			return false;
		test_fail(__FILE__, __LINE__, "cannot map ring %u: %s", cpu,
			  test_errno_name(errno));
	}
	page = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, consumer->fd,
		    offset + page_size());
	if (page == MAP_FAILED)
		test_fail(__FILE__, __LINE__, "cannot map consumer page %u: %s", cpu,
			  test_errno_name(errno));

	CHECK_EQ(header->magic, EVENTLOG_RING_MAGIC);
	CHECK_EQ(header->cpu,
		 cpu < setup->rings - setup->shards ? cpu : EVENTLOG_CPU_UNKNOWN);
	CHECK_EQ(header->data_bytes, setup->ring_bytes);
	CHECK_EQ(header->sub_buffer_bytes,
		 setup->ring_bytes / (setup->sub_buffers ? setup->sub_buffers : 2));
	CHECK_EQ(header->flags,
		 (setup->flags & EVENTLOG_SUBSCRIBE_OVERWRITE ? EVENTLOG_RING_OVERWRITE : 0) |
		 (kernel_is_64_bit() ? 0 : EVENTLOG_RING_SPLIT));
	CHECK_EQ(header->data_offset % page_size(), 0);
	CHECK(header->data_offset >= 2 * page_size());
	CHECK(header->data_offset + header->data_bytes <= setup->ring_stride);
	CHECK(is_zero(header->reserved0, sizeof(header->reserved0)));
	CHECK(is_zero(header->reserved1, sizeof(header->reserved1)));
	CHECK(is_zero(header->reserved2, sizeof(header->reserved2)));
	ring->consumer = page;
	ring->data = (const unsigned char *)header + header->data_offset;
	ring->header = header;
	return true;
}

void consumer_open_file(struct consumer *consumer, int fd,
			const struct eventlog_subscribe *request)
{
	unsigned int cpu, mapped = 0;

	memset(consumer, 0, sizeof(*consumer));
	consumer->fd = fd;
	consumer->setup = *request;
	CHECK_OK(ioctl(consumer->fd, EVENTLOG_IOC_SUBSCRIBE, &consumer->setup));
	if (!request->ring_bytes)
		return;
	CHECK(consumer->setup.rings);
	CHECK_EQ(consumer->setup.ring_offset % page_size(), 0);
	CHECK_EQ(consumer->setup.ring_stride % page_size(), 0);
	CHECK(consumer->setup.ring_stride >= consumer->setup.ring_bytes + 2 * page_size());
	consumer->rings = calloc(consumer->setup.rings, sizeof(*consumer->rings));
	CHECK(consumer->rings);
	for (cpu = 0; cpu < consumer->setup.rings; cpu++)
		mapped += consumer_map(consumer, cpu);
	CHECK(mapped);
}

void consumer_open_with(struct consumer *consumer, const struct eventlog_subscribe *request)
{
	consumer_open_file(consumer, device_open(), request);
}

void consumer_open(struct consumer *consumer, __u64 ring_bytes)
{
	const struct eventlog_subscribe request = subscribe_request(ring_bytes);

	consumer_open_with(consumer, &request);
}

void consumer_close(struct consumer *consumer)
{
	unsigned int cpu;

	for (cpu = 0; consumer->rings && cpu < consumer->setup.rings; cpu++) {
		struct ring *ring = &consumer->rings[cpu];

		if (!ring->header)
			continue;
		CHECK_OK(munmap(ring->consumer, page_size()));
		CHECK_OK(munmap((void *)ring->header, consumer->setup.ring_stride));
	}
	free(consumer->rings);
	CHECK_OK(close(consumer->fd));
	memset(consumer, 0, sizeof(*consumer));
	consumer->fd = -1;
}

struct eventlog_rule rule_request(const char *provider, const char *event)
{
	struct eventlog_rule rule = {
		.size = sizeof(rule), .provider = PTR(provider), .event = PTR(event),
	};

	return rule;
}

__u32 rule_add_with(int fd, struct eventlog_rule *rule)
{
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_RULE_ADD, rule));
	CHECK(rule->rule_id);
	return rule->rule_id;
}

__u32 rule_add(int fd, const char *provider, const char *event)
{
	struct eventlog_rule rule = rule_request(provider, event);

	return rule_add_with(fd, &rule);
}

int try_rule_delete(int fd, __u32 rule_id)
{
	struct eventlog_rule_delete request = {
		.size = sizeof(request), .rule_id = rule_id,
	};

	return ioctl(fd, EVENTLOG_IOC_RULE_DEL, &request);
}

__u64 flush(int fd)
{
	struct eventlog_flush request = { .size = sizeof(request) };

	CHECK_OK(ioctl(fd, EVENTLOG_IOC_FLUSH, &request));
	return request.time;
}

struct eventlog_stat stat_all(int fd)
{
	struct eventlog_stat request = { .size = sizeof(request), .ring = EVENTLOG_RINGS_ALL };

	CHECK_OK(ioctl(fd, EVENTLOG_IOC_STAT, &request));
	return request;
}

__u64 stat_event_lost(int fd, __u32 descriptor)
{
	struct eventlog_stat request = {
		.size = sizeof(request), .ring = EVENTLOG_RINGS_ALL, .descriptor = descriptor,
	};

	CHECK_OK(ioctl(fd, EVENTLOG_IOC_STAT, &request));
	return request.event_lost;
}

__u64 lost_sum(const __u64 lost[EVENTLOG_LOST_CAUSES])
{
	__u64 sum = 0;
	unsigned int cause;

	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
		sum += lost[cause];
	return sum;
}

static void ring_release(struct ring *ring)
{
	__atomic_store_n(&ring->consumer->position, (__u32)ring->position, __ATOMIC_RELEASE);
}

/* Fails with the check that did not hold and the state of the ring. */
static void __attribute__((noreturn)) ring_fail(const struct ring *ring, int line,
						const char *promise)
{
	const __u64 mask = ring->header->data_bytes - 1;
	const struct eventlog_record *record =
		(const void *)(ring->data + (ring->position & mask));

	test_fail(__FILE__, line, "%s: ring %u, position %llu, limit %llu, size_flags 0x%x",
		  promise, ring->header->cpu, (unsigned long long)ring->position,
		  (unsigned long long)ring->limit, record->size_flags);
}

#define RING_CHECK(ring, promise)						\
	do {									\
		if (!(promise))							\
			ring_fail(ring, __LINE__, #promise);			\
	} while (0)

static void read_lost(struct ring *ring, const struct eventlog_record *record, __u32 size)
{
	const struct eventlog_lost_counts *counts = (const void *)(record + 1);
	unsigned int cause;

	RING_CHECK(ring, size == sizeof(*record) + sizeof(*counts));
	RING_CHECK(ring, record->descriptor == 0);
	RING_CHECK(ring, record->session == 0);
	RING_CHECK(ring, lost_sum(counts->lost));
	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
		if (counts->lost[cause] > ring->lost[cause])
			ring->lost[cause] = counts->lost[cause];
}

/* Reads the next event of a ring; a record never crosses the end of its sub-buffer. */
static bool ring_next(struct ring *ring, struct record *result)
{
	const __u64 data_bytes = ring->header->data_bytes;
	const __u64 sub_buffer = ring->header->sub_buffer_bytes;
	const struct eventlog_record *record;
	__u64 committed, left;
	__u32 size, type, flags = 0;

	if (ring->header->cpu == EVENTLOG_CPU_UNKNOWN)
		flags = EVENTLOG_RECORD_FLAG_MAPPED | EVENTLOG_RECORD_FLAG_ADJUSTED;
	for (;;) {
		if (ring->position == ring->limit) {
			committed = RING_LOAD(ring->header, committed);
			if ((__s64)(committed - ring->limit) <= 0)
				return false;
			ring->limit = committed;
			RING_CHECK(ring, committed % EVENTLOG_RECORD_ALIGN == 0);
			RING_CHECK(ring, ring->limit - ring->position <= data_bytes);
		}
		record = (const void *)(ring->data + (ring->position & (data_bytes - 1)));
		size = record->size_flags & EVENTLOG_RECORD_SIZE_MASK;
		type = (record->size_flags & EVENTLOG_RECORD_TYPE_MASK) >>
			EVENTLOG_RECORD_TYPE_SHIFT;
		left = sub_buffer - (ring->position & (sub_buffer - 1));
		RING_CHECK(ring, !(record->size_flags & ~(EVENTLOG_RECORD_SIZE_MASK |
							  EVENTLOG_RECORD_CONTEXT_MASK |
							  EVENTLOG_RECORD_TYPE_MASK | flags)));
		RING_CHECK(ring, size >= 8);
		RING_CHECK(ring, size % EVENTLOG_RECORD_ALIGN == 0);
		RING_CHECK(ring, size <= left);
		RING_CHECK(ring, size <= ring->limit - ring->position);
		RING_CHECK(ring, type <= EVENTLOG_RECORD_LOST);
		if (type == EVENTLOG_RECORD_PADDING) {
			RING_CHECK(ring, size == left);
			ring->position += size;
			continue;
		}

		RING_CHECK(ring, size >= sizeof(*record));
		RING_CHECK(ring, record->time >= ring->last_time);
		RING_CHECK(ring, record->time >= ring->earlier_time);
		RING_CHECK(ring, record->time >= ring->held_time ||
				 (__s64)(ring->position - ring->held_position) < 0);
		ring->last_time = record->time;
		if (type == EVENTLOG_RECORD_LOST) {
			read_lost(ring, record, size);
			ring->position += size;
			continue;
		}
		RING_CHECK(ring, record->descriptor);
		ring->position += size;
		ring->records++;
		result->header = record;
		result->payload = (const unsigned char *)(record + 1);
		result->bytes = size - sizeof(*record);
		result->cpu = ring->header->cpu;
		return true;
	}
}

bool consumer_next(struct consumer *consumer, struct record *record)
{
	unsigned int left;

	for (left = consumer->setup.rings; left; left--) {
		struct ring *ring = &consumer->rings[consumer->turn];

		if (ring->header) {
			if (ring_next(ring, record))
				return true;
			ring_release(ring);
		}
		consumer->turn = (consumer->turn + 1) % consumer->setup.rings;
	}
	return false;
}

void consumer_hold(struct consumer *consumer, __u64 time)
{
	unsigned int cpu;

	for (cpu = 0; cpu < consumer->setup.rings; cpu++) {
		struct ring *ring = &consumer->rings[cpu];
		__u64 committed;

		if (!ring->header)
			continue;
		CHECK((__s64)(ring->position - ring->held_position) >= 0);
		committed = RING_LOAD(ring->header, committed);
		/* committed may step back for an instant; use the value already seen. */
		if ((__s64)(committed - ring->limit) < 0)
			committed = ring->limit;
		ring->earlier_time = ring->held_time;
		ring->held_position = committed;
		ring->held_time = time;
	}
}

void consumer_release(struct consumer *consumer)
{
	unsigned int cpu;

	for (cpu = 0; cpu < consumer->setup.rings; cpu++)
		if (consumer->rings[cpu].header)
			ring_release(&consumer->rings[cpu]);
}

unsigned int consumer_skip(struct consumer *consumer)
{
	unsigned int count = 0;
	struct record record;

	while (consumer_next(consumer, &record))
		count++;
	return count;
}

void consumer_one(struct consumer *consumer, struct record *record)
{
	struct record other;

	CHECK(consumer_next(consumer, record));
	CHECK(!consumer_next(consumer, &other));
}
