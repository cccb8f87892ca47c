// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the same events for two readers to compare: with libelog to a .elog file, or
 * through LTTng-UST to its session. Or writes sessions for elog latency: each of them ends
 * after OPEN others have started; the last OPEN sessions do not end.
 *
 *	show_events elog COUNT FILE
 *	show_events sessions COUNT OPEN FILE
 *	show_events lttng COUNT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <elog.h>

#include "unexported/writer.h"

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

static const char start_schema[] =
	"eventlog 1\n"
	"provider eventlog_show\n"
	"event 2 request_start info -\n";

#define START	2	/* its descriptor */
#define END	1

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

/* The file, and the records of two CPUs that are not in it yet. */
struct file {
	struct elog_writer *writer;
	unsigned char blocks[2][BLOCK_BYTES];
	size_t filled[2];
	uint64_t position[2];
	uint64_t time;
	uint64_t events;
	uint64_t count;		/* of events, at the end */
};

static int write_block(struct file *file, unsigned int cpu)
{
	size_t size = file->filled[cpu], at;
	ssize_t some;

	for (at = 0; at < size; at += (size_t)some) {
		some = elog_writer_raw(file->writer, cpu, cpu, file->blocks[cpu] + at, size - at,
				       file->position[cpu] + at);
		if (some < 0)
			return (int)some;
	}
	file->position[cpu] += size;
	file->filled[cpu] = 0;
	return 0;
}

/* Adds an event, and writes blocks that are full. */
static int put_event(struct file *file, uint32_t descriptor, uint64_t session,
		     const unsigned char *payload, size_t size)
{
	struct eventlog_record record = {
		.size_flags = (uint32_t)(sizeof(record) + size) |
			EVENTLOG_RECORD_EVENT << EVENTLOG_RECORD_TYPE_SHIFT,
		.descriptor = descriptor,
		.time = ++file->time,
		.session = session,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
	};
	const uint64_t number = file->events++;
	/* Two CPUs alternate. */
	unsigned int cpu = number / 100 % 2;
	bool sync = number % SYNC_EVENTS == 0 || file->events == file->count;
	unsigned char *to = file->blocks[cpu] + file->filled[cpu];
	int ret = 0;

	memcpy(to, &record, sizeof(record));
	if (size)
		memcpy(to + sizeof(record), payload, size);
	while ((sizeof(record) + size) % 8)
		to[sizeof(record) + size++] = 0;
	file->filled[cpu] += sizeof(record) + size;
	if (!sync && file->filled[cpu] <= BLOCK_BYTES - 256)
		return 0;
	for (cpu = 0; !ret && cpu < 2; cpu++)
		ret = write_block(file, cpu);
	return ret || !sync ? ret : elog_writer_sync(file->writer, file->time + 1, NULL, 0);
}

static int put_request(struct file *file, uint64_t number)
{
	unsigned char payload[128];
	struct elog_payload fields;
	struct request request;
	ssize_t size;

	make_request(number, &request);
	elog_payload_init(&fields, payload, sizeof(payload));
	elog_payload_u64(&fields, request.connection);
	elog_payload_u32(&fields, request.status);
	elog_payload_u64(&fields, request.bytes);
	elog_payload_string(&fields, request.path);
	size = elog_payload_end(&fields);
	if (size < 0)
		fail("a payload", (int)-size);
	return put_event(file, END, request.connection + 1, payload, (size_t)size);
}

static int put_requests(struct file *file, uint64_t count)
{
	uint64_t number;
	int ret = 0;

	file->count = count;
	for (number = 0; !ret && number < count; number++)
		ret = put_request(file, number);
	return ret;
}

/* The ENDs of sessions have no fields: reading the file is then cheaper than pairing. */
static int put_sessions(struct file *file, uint64_t count, uint64_t pending)
{
	uint64_t number;
	int ret = 0;

	file->count = count > pending ? 2 * count - pending : count;
	for (number = 1; !ret && number <= count; number++) {
		ret = put_event(file, START, number, NULL, 0);
		if (!ret && number > pending)
			ret = put_event(file, END, number - pending, NULL, 0);
	}
	return ret;
}

static int write_elog(uint64_t count, bool sessions, uint64_t pending, const char *path)
{
	static struct file file;
	const struct elog_writer_options options = {
		.size = sizeof(options), .program = "show_events", .cpus = 2,
	};
	int fd, ret;

	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		fail(path, errno);
	file.time = monotonic();
	ret = elog_writer_open(&file.writer, fd, &options);
	if (!ret)
		ret = elog_writer_schema(file.writer, END, 1, schema);
	if (!ret && sessions)
		ret = elog_writer_schema(file.writer, START, 1, start_schema);
	if (!ret)
		ret = elog_writer_process(file.writer, (uint32_t)getpid(), (uint32_t)getpid(),
					  "show_events");
	if (!ret)
		ret = sessions ? put_sessions(&file, count, pending) : put_requests(&file, count);
	if (!ret)
		ret = elog_writer_end(file.writer, 0);
	elog_writer_close(file.writer);
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
		return write_elog(events, false, 0, arguments[3]);
	if (count == 5 && !strcmp(arguments[1], "sessions"))
		return write_elog(events, true, strtoull(arguments[3], NULL, 10), arguments[4]);
	if (count == 3 && !strcmp(arguments[1], "lttng"))
		return emit_lttng(events);
	fputs("usage: show_events elog COUNT FILE | sessions COUNT OPEN FILE | lttng COUNT\n",
	      stderr);
	return 2;
}
