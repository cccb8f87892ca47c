// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the same events for two readers to compare: with libelog to a .elog file, or
 * through LTTng-UST to its session.
 *
 *	show_events elog COUNT FILE
 *	show_events lttng COUNT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <elog.h>

#define BLOCK_BYTES	(256U << 10)
#define SYNC_EVENTS	20000	/* between two sync blocks, as on a busy machine */

static const char schema[] =
	"eventlog 1\n"
	"provider eventlog_show\n"
	"event 1 request_end info -\n"
	"\tu64 connection\n"
	"\tu32 status\n"
	"\tu64 bytes\n"
	"\tstring path\n";

struct request {
	uint64_t connection;
	uint32_t status;
	uint64_t bytes;
	char path[32];
};

/* Numbers are the same in each run. */
static void make_request(uint64_t number, struct request *request)
{
	uint64_t mixed = number * 0x9e3779b97f4a7c15ULL;

	request->connection = number / 7;
	request->status = mixed >> 60 ? 200 : 404;
	request->bytes = mixed >> 44;
	snprintf(request->path, sizeof(request->path), "/item/%u",
		 (unsigned int)(mixed >> 50));
}

static void fail(const char *what, int error)
{
	fprintf(stderr, "show_events: %s: %s\n", what, strerror(error));
	exit(1);
}

static uint64_t monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Appends a record to @block; returns its bytes. */
static size_t put_record(unsigned char *block, uint64_t time,
			 const struct request *request)
{
	struct eventlog_record record = {
		.descriptor = 1,
		.time = time,
		.session = request->connection + 1,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
	};
	unsigned char payload[128];
	struct elog_payload fields;
	ssize_t size;
	size_t bytes;

	elog_payload_init(&fields, payload, sizeof(payload));
	elog_payload_u64(&fields, request->connection);
	elog_payload_u32(&fields, request->status);
	elog_payload_u64(&fields, request->bytes);
	elog_payload_string(&fields, request->path);
	size = elog_payload_end(&fields);
	if (size < 0)
		fail("a payload", (int)-size);
	record.size_flags = (uint32_t)(sizeof(record) + (size_t)size) |
		EVENTLOG_RECORD_EVENT << EVENTLOG_RECORD_TYPE_SHIFT;
	bytes = (sizeof(record) + (size_t)size + 7) & ~(size_t)7;
	memset(block, 0, bytes);
	memcpy(block, &record, sizeof(record));
	memcpy(block + sizeof(record), payload, (size_t)size);
	return bytes;
}

static int write_block(struct elog_writer *writer, unsigned int cpu,
		       const unsigned char *block, size_t size, uint64_t position)
{
	ssize_t some;
	size_t at;

	for (at = 0; at < size; at += (size_t)some) {
		some = elog_writer_raw(writer, cpu, cpu, block + at, size - at, position + at);
		if (some < 0)
			return (int)some;
	}
	return 0;
}

static int write_elog(uint64_t count, const char *path)
{
	static unsigned char blocks[2][BLOCK_BYTES];
	const struct elog_writer_options options = {
		.size = sizeof(options), .program = "show_events", .cpus = 2,
	};
	size_t filled[2] = { 0 };
	uint64_t position[2] = { 0 }, number, time = monotonic();
	struct elog_writer *writer;
	struct request request;
	unsigned int cpu;
	int fd, ret;

	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		fail(path, errno);
	ret = elog_writer_open(&writer, fd, &options);
	if (!ret)
		ret = elog_writer_schema(writer, 1, 1, schema);
	if (!ret)
		ret = elog_writer_process(writer, (uint32_t)getpid(),
					  (uint32_t)getpid(), "show_events");
	for (number = 0; !ret && number < count; number++) {
		make_request(number, &request);
		/* Two CPUs alternate. */
		cpu = number / 100 % 2;
		filled[cpu] += put_record(blocks[cpu] + filled[cpu], ++time, &request);
		if (filled[cpu] > BLOCK_BYTES - 256 || number % SYNC_EVENTS == 0 ||
		    number + 1 == count) {
			for (cpu = 0; !ret && cpu < 2; cpu++) {
				ret = write_block(writer, cpu, blocks[cpu], filled[cpu],
						  position[cpu]);
				position[cpu] += filled[cpu];
				filled[cpu] = 0;
			}
		}
		if (!ret && (number % SYNC_EVENTS == 0 || number + 1 == count))
			ret = elog_writer_sync(writer, time + 1, NULL, 0);
	}
	if (!ret)
		ret = elog_writer_end(writer, 0);
	elog_writer_close(writer);
	if (ret)
		fail(path, -ret);
	return close(fd) ? 1 : 0;
}

#if __has_include(<lttng/tracepoint.h>)

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "show_provider.h"

static int emit_lttng(uint64_t count)
{
	struct request request;
	uint64_t number;

	if (!lttng_ust_tracepoint_enabled(eventlog_show, request_end)) {
		fputs("show_events: no LTTng session records its events\n", stderr);
		return 1;
	}
	for (number = 0; number < count; number++) {
		make_request(number, &request);
		lttng_ust_tracepoint(eventlog_show, request_end, request.connection,
				     request.status, request.bytes, request.path);
	}
	return 0;
}

#else

static int emit_lttng(uint64_t count)
{
	(void)count;
	fputs("show_events: built without LTTng's headers (liblttng-ust-dev)\n", stderr);
	return 1;
}

#endif

int main(int count, char **arguments)
{
	uint64_t events = count > 2 ? strtoull(arguments[2], NULL, 10) : 0;

	if (count == 4 && !strcmp(arguments[1], "elog"))
		return write_elog(events, arguments[3]);
	if (count == 3 && !strcmp(arguments[1], "lttng"))
		return emit_lttng(events);
	fputs("usage: show_events elog COUNT FILE | lttng COUNT\n", stderr);
	return 2;
}
