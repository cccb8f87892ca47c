// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a table of the cost of an event of a process, system call included: what a
 * program pays that calls libelog, LTTng-UST, or the kernel.  scripts/bench/process
 * runs it as root in a guest that counts instructions, where the time stamp counter
 * goes up by one for each instruction.
 *
 * Batches of all rows run alternately.  The fewest instructions of a row count, minus
 * those of an empty loop.  One process and one thread, on one CPU.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <elog.h>
#include <elog_marker.h>
#include "producer/mapped_ring.h"

#ifdef USER_EVENTS_HEADER
#include USER_EVENTS_HEADER
#endif
#include "kernel_common.h"
#include "lttng_loop.h"

#define PROVIDER "process_bench"
#define MARKERS "markers_process_bench"
#define BATCH_EVENTS 500
#define PAYLOAD_BYTES 32
/* Events in one write of several. */
#define WRITE_EVENTS 16
/* A payload of another size is an event that no LTTng session records. */
#define LTTNG_OFF_BYTES 64

/* An empty iteration is an addition, a comparison and a jump. */
#define LOOP_INSTRUCTIONS_MAX 4

static unsigned int batches = 100;
/* One that programs must call write() for, and one that takes events from threads' rings. */
static struct subscriber subscriber, mapped_subscriber;
static unsigned char payload[PAYLOAD_BYTES];

/* An index, as write() expects it before the payload, and the payload. */
struct message {
	__u32 index;
	unsigned char payload[PAYLOAD_BYTES];
};

static void write_or_fail(int fd, const void *data, size_t bytes)
{
	if (write(fd, data, bytes) != (ssize_t)bytes)
		fail("a write failed: %s", strerror(errno));
}

/* ---- rows ---- */

static void run_nothing(unsigned int count)
{
	for (; count; count--)
		asm volatile("" : : : "memory");
}

static void run_getppid(unsigned int count)
{
	for (; count; count--)
		syscall(SYS_getppid);
}

static int null_fd, marker_fd, device_fd, user_events_fd;

static const char *open_null(void)
{
	null_fd = open_or_fail("/dev/null", O_WRONLY);
	return NULL;
}

static void run_null(unsigned int count)
{
	for (; count; count--)
		write_or_fail(null_fd, payload, sizeof(payload));
}

static const char *open_trace_marker(void)
{
	marker_fd = open(TRACING "trace_marker", O_WRONLY | O_CLOEXEC);
	return marker_fd < 0 ? "this kernel has no trace_marker" : NULL;
}

static void run_trace_marker(unsigned int count)
{
	for (; count; count--)
		write_or_fail(marker_fd, payload, sizeof(payload));
}

static struct elog_producer *producer;
static struct elog_event *event_off, *event_on, *event_fields, *event_mapped, *fields_mapped;

static struct elog_event *event_of(const char *command)
{
	struct elog_event *event;
	int error = elog_event_register(producer, PROVIDER, command, 0, 0, 0, &event);

	if (!error)
		error = elog_event_error(event);
	if (error)
		fail("%s: %s", command, strerror(-error));
	return event;
}

static const char *open_libelog(void)
{
	int error = elog_producer_open(&producer, NULL);

	if (!error)
		error = elog_producer_connect(producer);
	if (error)
		fail("/dev/eventlog: %s", strerror(-error));
	event_off = event_of("off unsigned char[32] bytes");
	event_on = event_of("on_written unsigned char[32] bytes");
	event_fields = event_of("on_fields u64 a; u64 b; u64 c; u64 d");
	event_mapped = event_of("mapped_written unsigned char[32] bytes");
	fields_mapped = event_of("mapped_fields u64 a; u64 b; u64 c; u64 d");
	return NULL;
}

static void run_event_off(unsigned int count)
{
	struct iovec iov = { payload, sizeof(payload) };

	for (; count; count--) {
		if (elog_event_enabled(event_off))
			elog_event_write(event_off, 0, &iov, 1);
	}
}

static void write_events(struct elog_event *event, unsigned int count)
{
	struct iovec iov = { payload, sizeof(payload) };

	for (; count; count--) {
		if (!elog_event_enabled(event) || elog_event_write(event, 0, &iov, 1))
			fail("an event was not written");
	}
}

static void run_event_on(unsigned int count)
{
	write_events(event_on, count);
}

static void run_event_mapped(unsigned int count)
{
	write_events(event_mapped, count);
}

static void emit_fields(struct elog_event *event, unsigned int count)
{
	struct elog_payload composed;
	unsigned char buffer[64];

	for (; count; count--) {
		if (!elog_event_enabled(event))
			fail("an event is not enabled");
		elog_payload_init(&composed, buffer, sizeof(buffer));
		elog_payload_u64(&composed, count);
		elog_payload_u64(&composed, 2);
		elog_payload_u64(&composed, 3);
		elog_payload_u64(&composed, 4);
		if (elog_event_emit(event, 0, &composed))
			fail("an event was not written");
	}
}

static void run_event_fields(unsigned int count)
{
	emit_fields(event_fields, count);
}

static void run_fields_mapped(unsigned int count)
{
	emit_fields(fields_mapped, count);
}

/* Delivers the events of threads' rings, and reads them. */
static void flush_mapped(void)
{
	struct eventlog_flush request = { .size = sizeof(request) };

	ioctl_or_fail(mapped_subscriber.fd, EVENTLOG_IOC_FLUSH, &request, "FLUSH");
	subscriber_read(&mapped_subscriber);
}

static struct message device_message;

static const char *open_device(void)
{
	struct eventlog_register request = {
		.size = sizeof(request),
		.provider = (uintptr_t)PROVIDER,
		.command = (uintptr_t)"on_device unsigned char[32] bytes",
	};

	device_fd = open_or_fail("/dev/eventlog", O_RDWR);
	ioctl_or_fail(device_fd, EVENTLOG_IOC_REGISTER, &request, "REGISTER");
	device_message.index = request.write_index;
	return NULL;
}

static void run_device(unsigned int count)
{
	for (; count; count--)
		write_or_fail(device_fd, &device_message, sizeof(device_message));
}

static void run_device_writev(unsigned int count)
{
	const struct iovec parts[] = {
		{ &device_message.index, sizeof(device_message.index) },
		{ payload, sizeof(payload) },
	};

	for (; count; count--)
		if (writev(device_fd, parts, 2) != (ssize_t)sizeof(device_message))
			fail("a write failed: %s", strerror(errno));
}

static struct {
	__u32 index;
	struct {
		__u32 bytes;
		struct message message;
	} events[WRITE_EVENTS];
} several;

static const char *open_several(void)
{
	unsigned int i;

	several.index = EVENTLOG_WRITE_BATCH;
	for (i = 0; i < WRITE_EVENTS; i++) {
		several.events[i].bytes = sizeof(several.events[i].message);
		several.events[i].message = device_message;
	}
	return NULL;
}

static void run_several(unsigned int count)
{
	unsigned int events;

	for (; count; count -= events) {
		events = count < WRITE_EVENTS ? count : WRITE_EVENTS;
		write_or_fail(device_fd, &several,
			      sizeof(several.index) + events * sizeof(several.events[0]));
	}
}

/*
 * A ring of this program's own, without libelog's rules of when to call the kernel.  It
 * sleeps between batches, so the kernel delivers its events in the call that is measured;
 * if not, the batch does not count.
 */
static struct elog_mapped_ring drained;
static __u32 drained_index, drained_position;
static bool drained_early;

static const char *open_drained(void)
{
	struct eventlog_attach attach = { .size = sizeof(attach), .data_bytes = 256 << 10 };
	struct eventlog_register request = {
		.size = sizeof(request),
		.provider = (uintptr_t)PROVIDER,
		.command = (uintptr_t)"mapped_drained unsigned char[32] bytes",
	};
	void *ring;

	ioctl_or_fail(device_fd, EVENTLOG_IOC_REGISTER, &request, "REGISTER");
	ioctl_or_fail(device_fd, EVENTLOG_IOC_ATTACH, &attach, "ATTACH");
	ring = mmap(NULL, attach.length, PROT_READ | PROT_WRITE, MAP_SHARED, device_fd,
		    (off_t)attach.offset);
	if (ring == MAP_FAILED)
		fail("cannot map a ring: %s", strerror(errno));
	drained_index = request.write_index;
	drained.header = ring;
	drained.mask = attach.data_bytes - 1;
	drained.data_offset = drained.header->data_offset;
	drained.number = attach.ring;
	return NULL;
}

static uint64_t monotonic(const struct elog_mapped_ring *ring)
{
	struct timespec now;

	(void)ring;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void fill_drained(unsigned int count)
{
	drained_position = __atomic_load_n(&drained.header->position, __ATOMIC_RELAXED);
	for (; count; count--)
		if (elog_mapped_emit(&drained, drained_index, 0, payload, sizeof(payload),
				     monotonic) > ELOG_MAPPED_ASKED)
			fail("a ring is full");
}

static void run_drained(unsigned int count)
{
	const __u32 message[] = { EVENTLOG_WRITE_KICK, drained.number };

	(void)count;
	drained_early = __atomic_load_n(&drained.header->position, __ATOMIC_RELAXED) !=
			drained_position;
	write_or_fail(device_fd, message, sizeof(message));
}

static void run_marker_off(unsigned int count)
{
	for (; count; count--) {
		asm volatile("" : : : "memory");
		ELOG_MARKER(off_marker, FIELD(auto, count));
	}
}

static void run_marker_on(unsigned int count)
{
	for (; count; count--)
		ELOG_MARKER(on_marker, FIELD(u64, count), FIELD(u64, 2), FIELD(u32, 3),
			    FIELD(u32, 4), FIELD(u64, 5));
}

static void run_marker_mapped(unsigned int count)
{
	for (; count; count--)
		ELOG_MARKER(mapped_marker, FIELD(u64, count), FIELD(u64, 2), FIELD(u32, 3),
			    FIELD(u32, 4), FIELD(u64, 5));
}

static const char *open_lttng(void)
{
	return lttng_loop_missing(PAYLOAD_BYTES);
}

static void run_lttng(unsigned int count)
{
	lttng_loop(PAYLOAD_BYTES, payload, count);
}

static void run_lttng_off(unsigned int count)
{
	lttng_loop(LTTNG_OFF_BYTES, payload, count);
}

#ifdef USER_EVENTS_HEADER

static struct message user_events_message;
static volatile __u32 user_events_enabled;

static const char *open_user_events(void)
{
	struct user_reg request = {
		.size = sizeof(request),
		.enable_size = sizeof(user_events_enabled),
		.enable_addr = (uintptr_t)&user_events_enabled,
		.name_args = (uintptr_t)"process_bench unsigned char[32] bytes",
	};

	user_events_fd = open(TRACING "user_events_data", O_RDWR | O_CLOEXEC);
	if (user_events_fd < 0)
		return errno == ENOENT ? "this kernel has no user_events" : strerror(errno);
	ioctl_or_fail(user_events_fd, DIAG_IOCSREG, &request, "user_events");
	user_events_message.index = request.write_index;
	write_text(TRACING "events/user_events/process_bench/enable", "1");
	return NULL;
}

static void run_user_events(unsigned int count)
{
	for (; count; count--) {
		if (!user_events_enabled)
			fail("user_events is not enabled");
		write_or_fail(user_events_fd, &user_events_message, sizeof(user_events_message));
	}
}

#else

static const char *open_user_events(void)
{
	(void)user_events_fd;
	return access(TRACING "user_events_data", F_OK) ? "this kernel has no user_events" :
							  "built without linux/user_events.h";
}

static void run_user_events(unsigned int count)
{
	(void)count;
}

#endif

/**
 * struct contestant - a row of the table
 * @name: for the JSON
 * @text: for the table
 * @run: emits events
 * @open: prepares; returns the reason if it cannot run here.  NULL: nothing to prepare
 * @records: the subscriber that gets each event as a record
 * @prepare: called before @run, and is not measured.  NULL: nothing to prepare
 * @reason: returned by @open
 * @minimum: cost of an event
 * @median: the same
 */
static struct contestant {
	const char *name;
	const char *text;
	void (*run)(unsigned int count);
	const char *(*open)(void);
	struct subscriber *records;
	void (*prepare)(unsigned int count);
	const char *reason;
	double minimum;
	double median;
} rows[] = {
	{ "nothing", "the loop alone", run_nothing, NULL },
	{ "getppid", "getppid(), the shortest system call", run_getppid, NULL },
	{ "null", "write of 32 bytes to /dev/null", run_null, open_null },
	{ "event_off", "libelog, event not enabled", run_event_off, open_libelog },
	{ "marker_off", "libelog, marker not enabled", run_marker_off, NULL },
	{ "lttng_off", "LTTng-UST, tracepoint not enabled", run_lttng_off, open_lttng },
	{ "device", "write() to /dev/eventlog, no library", run_device, open_device,
	  &subscriber },
	{ "device_writev", "writev() to /dev/eventlog, index and payload", run_device_writev, NULL,
	  &subscriber },
	{ "several", "write() to /dev/eventlog of 16 events, each", run_several, open_several,
	  &subscriber },
	{ "event", "libelog, elog_event_write() of 32 bytes", run_event_on, NULL,
	  &subscriber },
	{ "fields", "libelog, elog_event_emit() of four fields", run_event_fields, NULL,
	  &subscriber },
	{ "marker", "libelog, marker with five fields", run_marker_on, NULL,
	  &subscriber },
	{ "mapped", "libelog, 32 bytes into the thread's ring", run_event_mapped, NULL,
	  &mapped_subscriber },
	{ "mapped_fields", "libelog, four fields into the thread's ring", run_fields_mapped, NULL,
	  &mapped_subscriber },
	{ "mapped_marker", "libelog, marker into the thread's ring", run_marker_mapped, NULL,
	  &mapped_subscriber },
	{ "mapped_drain", "kernel, delivering 32 bytes of a ring", run_drained, open_drained,
	  &mapped_subscriber, fill_drained },
	{ "trace_marker", "write of 32 bytes to trace_marker", run_trace_marker,
	  open_trace_marker },
	{ "user_events", "user_events into ftrace, 32 bytes", run_user_events, open_user_events },
	{ "lttng", "LTTng-UST, tracepoint of 32 bytes", run_lttng, open_lttng },
};

/* ---- measuring ---- */

static double batch(const struct contestant *row, unsigned int count)
{
	uint64_t begin, end;

	if (row->prepare)
		row->prepare(count);
	begin = __builtin_ia32_rdtsc();
	row->run(count);
	end = __builtin_ia32_rdtsc();
	subscriber_read(&subscriber);
	if (row->records == &mapped_subscriber)
		flush_mapped();
	if (drained_early) {
		drained_early = false;
		return HUGE_VAL;
	}
	return (double)(end - begin);
}

/* A batch of one event gives the fixed cost of a batch. */
static void measure(void)
{
	double *values[ARRAY_SIZE(rows)], single[ARRAY_SIZE(rows)];
	unsigned int i, row;

	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		values[row] = calloc(batches, sizeof(double));
		if (!values[row])
			fail("no memory");
	}
	for (i = 0; i < WARM_UP_BATCHES + batches; i++) {
		for (row = 0; row < ARRAY_SIZE(rows); row++) {
			double first, value;

			if (rows[row].reason)
				continue;
			first = batch(&rows[row], 1);
			value = batch(&rows[row], 1 + BATCH_EVENTS);
			if (i < WARM_UP_BATCHES)
				continue;
			values[row][i - WARM_UP_BATCHES] = value;
			if (i == WARM_UP_BATCHES || first < single[row])
				single[row] = first;
		}
	}
	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		double loop = row ? rows[0].minimum : 0;

		if (!rows[row].reason) {
			qsort(values[row], batches, sizeof(double), compare_doubles);
			rows[row].minimum = (values[row][0] - single[row]) / BATCH_EVENTS - loop;
			rows[row].median = (values[row][batches / 2] - single[row]) / BATCH_EVENTS -
					   loop;
		}
		free(values[row]);
	}
	if (rows[0].minimum < 1 || rows[0].minimum > LOOP_INSTRUCTIONS_MAX)
		fail("an empty loop takes %.2f a turn: the counter does not count instructions",
		     rows[0].minimum);
}

/* The subscribers got all events; write() does not report losses. */
static void check_recorded(struct subscriber *by)
{
	__u64 events = 0;
	unsigned int row;

	for (row = 0; row < ARRAY_SIZE(rows); row++)
		if (rows[row].records == by)
			events += (WARM_UP_BATCHES + batches) * (2 + BATCH_EVENTS);
	subscriber_check(by, "events of this process", events);
}

static void declare_rows(void)
{
	unsigned int row;

	for (row = 0; row < ARRAY_SIZE(rows); row++)
		rows_declare(rows[row].name, "instructions", "process: %s",
			     rows[row].text);
}

static void add_results(void)
{
	unsigned int row;

	printf("instructions an event, fewest of %u batches of %u, the loop subtracted\n\n",
	       batches, BATCH_EVENTS);
	printf("%-44s %10s   (median)\n", "an event of a process, with its system call", "");
	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		if (rows[row].reason) {
			printf("%-44s not run: %s\n", rows[row].text, rows[row].reason);
			rows_not_run(rows[row].name, rows[row].reason);
			continue;
		}
		printf("%-44s %10.1f (%8.1f)\n", rows[row].text, rows[row].minimum,
		       rows[row].median);
		rows_value(rows[row].name, rows[row].minimum, rows[row].median);
	}
}

static const char help[] =
	"usage: process_bench [--batches N] [--rows FILE]\n"
	"\n"
	"Counts the instructions of an event of a process, with eventlog.ko loaded, and prints\n"
	"a table: the fewest of N batches (default 100).\n"
	"\n"
	"  --batches N    batches of each row\n"
	"  --rows FILE    append the results to FILE, for scripts/bench/rows.sh\n";

int main(int argc, char **argv)
{
	static const struct option options[] = {
		ROWS_OPTIONS,
		{ 0 },
	};
	unsigned int row;
	int option;

	while ((option = getopt_long(argc, argv, ROWS_LETTERS, options, NULL)) != -1)
		rows_option(option, help, &batches);
	declare_rows();
	memset(payload, 'x', sizeof(payload));
	subscriber_open(&subscriber, 0, PROVIDER, "on_*");
	subscriber_rule(&subscriber, MARKERS, "on_*");
	subscriber_open(&mapped_subscriber, EVENTLOG_SUBSCRIBE_MAPPED, PROVIDER, "mapped_*");
	subscriber_rule(&mapped_subscriber, MARKERS, "mapped_*");
	for (row = 0; row < ARRAY_SIZE(rows); row++)
		rows[row].reason = rows[row].open ? rows[row].open() : NULL;
	measure();
	check_recorded(&subscriber);
	check_recorded(&mapped_subscriber);
	add_results();
	rows_close();
	return 0;
}
