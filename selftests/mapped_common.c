// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer ring, for tests: see mapped_common.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mapped_common.h"

__u32 mapped_least_bytes(void)
{
	return page_size() > EVENTLOG_MAPPED_BYTES_MIN ? page_size() : EVENTLOG_MAPPED_BYTES_MIN;
}

void mapped_consumer_open(struct consumer *consumer, __u64 ring_bytes)
{
	struct eventlog_subscribe request = subscribe_request(ring_bytes);

	request.flags = EVENTLOG_SUBSCRIBE_MAPPED;
	consumer_open_with(consumer, &request);
	CHECK(consumer->setup.shards >= 1 && consumer->setup.shards <= 8);
	CHECK(consumer->setup.rings > consumer->setup.shards);
}

struct eventlog_attach attach_request(__u32 data_bytes)
{
	struct eventlog_attach request = { .size = sizeof(request), .data_bytes = data_bytes };

	return request;
}

int try_detach(int fd, __u32 ring)
{
	struct eventlog_detach request = { .size = sizeof(request), .ring = ring };

	return ioctl(fd, EVENTLOG_IOC_DETACH, &request);
}

void *try_map(int fd, const struct eventlog_attach *attach)
{
	return mmap(NULL, attach->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, attach->offset);
}

static void mapped_map(struct mapped *mapped, __u32 data_bytes)
{
	const int fd = mapped->fd;

	CHECK(mapped->attach.ring);
	CHECK_EQ(mapped->attach.data_bytes, data_bytes);
	mapped->header = try_map(fd, &mapped->attach);
	CHECK(mapped->header != MAP_FAILED);
	CHECK_EQ(mapped->header->magic, EVENTLOG_MAPPED_MAGIC);
	CHECK_EQ(mapped->header->data_bytes, data_bytes);
	CHECK_EQ(mapped->header->ring, mapped->attach.ring);
	CHECK_EQ(mapped->header->data_offset + data_bytes, mapped->attach.length);
	CHECK_EQ(mapped->header->committed, 0);
	CHECK_EQ(mapped->header->position, 0);
	CHECK_EQ(mapped_ask(mapped), EVENTLOG_MAPPED_ASK_KICK);
	mapped->data = (unsigned char *)mapped->header + mapped->header->data_offset;
}

void mapped_attach(struct mapped *mapped, int fd, __u32 data_bytes)
{
	memset(mapped, 0, sizeof(*mapped));
	mapped->fd = fd;
	mapped->attach = attach_request(data_bytes);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_ATTACH, &mapped->attach));
	mapped_map(mapped, data_bytes);
}

bool mapped_attach_cycles(struct mapped *mapped, int fd, __u32 data_bytes)
{
	memset(mapped, 0, sizeof(*mapped));
	mapped->fd = fd;
	mapped->attach = attach_request(data_bytes);
	mapped->attach.flags = EVENTLOG_ATTACH_CYCLES;
	if (ioctl(fd, EVENTLOG_IOC_ATTACH, &mapped->attach)) {
		CHECK_EQ(errno, EOPNOTSUPP);
		return false;
	}
	mapped_map(mapped, data_bytes);
	return true;
}

void mapped_unmap(struct mapped *mapped)
{
	CHECK_OK(munmap(mapped->header, mapped->attach.length));
	mapped->header = NULL;
}

__u32 mapped_ask(const struct mapped *mapped)
{
	return __atomic_load_n(&mapped->header->ask, __ATOMIC_RELAXED);
}

bool mapped_taken(const struct mapped *mapped)
{
	return __atomic_load_n(&mapped->header->position, __ATOMIC_ACQUIRE) == mapped->head;
}

__u64 cycles_now(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

__u64 mapped_time(const struct mapped *mapped)
{
	if (mapped->attach.flags & EVENTLOG_ATTACH_CYCLES)
		return cycles_now();
	return clock_now() + mapped->attach.time_offset;
}

bool mapped_put(struct mapped *mapped, struct eventlog_mapped_record record,
		const void *payload, __u32 bytes)
{
	const __u32 data_bytes = mapped->attach.data_bytes;
	const __u32 need = ALIGN_UP(sizeof(record) + bytes, EVENTLOG_RECORD_ALIGN);
	__u32 room = data_bytes - (mapped->head -
		__atomic_load_n(&mapped->header->position, __ATOMIC_ACQUIRE));
	__u32 offset = mapped->head & (data_bytes - 1), to_end = data_bytes - offset;
	__u32 padding[2] = { to_end, 0 };

	if (need > to_end) {
		if (room < to_end + need)
			return false;
		memcpy(mapped->data + offset, padding, sizeof(padding));
		mapped->head += to_end;
		offset = 0;
	} else if (room < need) {
		return false;
	}
	record.size = sizeof(record) + bytes;
	memcpy(mapped->data + offset, &record, sizeof(record));
	if (bytes)
		memcpy(mapped->data + offset + sizeof(record), payload, bytes);
	mapped->head += need;
	__atomic_store_n(&mapped->header->committed, mapped->head, __ATOMIC_RELEASE);
	return true;
}

ssize_t mapped_kick(const struct mapped *mapped)
{
	const __u32 message[2] = { EVENTLOG_WRITE_KICK, mapped->attach.ring };

	return write(mapped->fd, message, sizeof(message));
}

ssize_t mapped_kick_with(const struct mapped *mapped, __u32 write_index, const void *payload,
			 __u32 bytes)
{
	const __u32 message[3] = { EVENTLOG_WRITE_KICK, mapped->attach.ring, write_index };
	const struct iovec parts[2] = {
		{ (void *)message, sizeof(message) }, { (void *)payload, bytes },
	};

	return writev(mapped->fd, parts, 2);
}

ssize_t mapped_kick_session(const struct mapped *mapped, __u32 write_index, __u64 session,
			    const void *payload, __u32 bytes)
{
	const __u32 message[3] = { EVENTLOG_WRITE_KICK, mapped->attach.ring, write_index };
	const struct iovec parts[3] = {
		{ (void *)message, sizeof(message) }, { &session, sizeof(session) },
		{ (void *)payload, bytes },
	};

	return writev(mapped->fd, parts, 3);
}

ssize_t session_write(int fd, __u32 of, __u64 session)
{
	const struct eventlog_write_session message = {
		.write_index = EVENTLOG_WRITE_SESSION, .session_of = of, .session = session,
	};

	return write(fd, &message, sizeof(message));
}

void mapped_emit(struct mapped *mapped, __u32 write_index, const void *payload, __u32 bytes)
{
	const struct eventlog_mapped_record record = {
		.write_index = write_index, .time = mapped_time(mapped),
	};

	if (!mapped_put(mapped, record, payload, bytes))
		CHECK_EQ(mapped_kick_with(mapped, write_index, payload, bytes), 12 + bytes);
	else if (mapped_ask(mapped) & EVENTLOG_MAPPED_ASK_KICK)
		CHECK_EQ(mapped_kick(mapped), 8);
}
