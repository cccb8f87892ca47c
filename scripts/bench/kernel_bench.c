// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a table of the cost of a write to the device inside the kernel.  Run as root
 * in a kernel with eventlog.ko and eventlog_bench.ko loaded; scripts/bench/kernel
 * boots one.  eventlog_bench.ko writes a batch for each ioctl.  This program opens,
 * registers and enables everything, and runs batches of all rows alternately.  The
 * fastest batch of a row counts.
 *
 * A child is the idle consumer that waits in poll().  One process does everything
 * else.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/eventlog.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include USER_EVENTS_HEADER
#include "eventlog_bench.h"
#include "kernel_common.h"

#define BATCH_WRITES 500

/* The bar, and the size it is measured with. */
#define BAR_SIZE 0
#define BAR_RATIO 0.6

/* The limit for an event that only ftrace enables, relative to user_events. */
#define TRACED_RATIO 1.0

static const unsigned int sizes[] = { 12, 32, 256 };

static unsigned int batches = 200;
static int bench_fd;

/* ---- contestants ---- */

/**
 * struct target - what a contestant writes for one payload
 * @fd: file written to
 * @message: written each time
 * @bytes: of the message
 * @result: what each write returns
 */
struct target {
	int fd;
	unsigned char message[EVENTLOG_BENCH_MESSAGE_MAX];
	unsigned int bytes;
	long long result;
};

struct contestant;

/**
 * struct contestant - a row of the table
 * @name: for the JSON
 * @text: for the table
 * @method: how the kernel is made to write
 * @open: fills in a target for a payload
 * @subscriber: reads its rings after each batch; NULL: none
 * @minimum: by size: ns
 * @median: by size: ns
 */
struct contestant {
	const char *name;
	const char *text;
	enum eventlog_bench_method method;
	void (*open)(struct contestant *row, struct target *target, unsigned int size);
	struct subscriber *subscriber;
	double minimum[ARRAY_SIZE(sizes)];
	double median[ARRAY_SIZE(sizes)];
};

static struct subscriber discard, overwrite, idle;

static void target_payload(struct target *target, const void *prefix, unsigned int prefix_bytes,
			   unsigned int size)
{
	memcpy(target->message, prefix, prefix_bytes);
	memset(target->message + prefix_bytes, 'x', size);
	target->bytes = prefix_bytes + size;
	target->result = target->bytes;
}

/* The floors write messages of the same length. */
static void open_file(struct target *target, const char *path, unsigned int size)
{
	static const __u32 index;

	target->fd = open_or_fail(path, O_RDWR);
	target_payload(target, &index, sizeof(index), size);
}

static void open_nothing(struct contestant *row, struct target *target, unsigned int size)
{
	(void)row;
	open_file(target, "/dev/eventlog_bench", size);
}

static void open_copy(struct contestant *row, struct target *target, unsigned int size)
{
	(void)row;
	open_file(target, "/dev/eventlog_bench_copy", size);
}

static void open_marker(struct contestant *row, struct target *target, unsigned int size)
{
	(void)row;
	target->fd = open_or_fail(TRACING "trace_marker", O_WRONLY);
	target_payload(target, "", 0, size);
}

static void event_name(char *name, size_t room, const struct contestant *row, unsigned int size)
{
	snprintf(name, room, "%s_%u", row->name, size);
}

/* Rules are globs: they exist before the event is registered. */
static void open_eventlog_of(const char *provider, struct contestant *row,
			     struct target *target, unsigned int size)
{
	struct eventlog_register request = { .size = sizeof(request) };
	char command[128], name[64];

	event_name(name, sizeof(name), row, size);
	snprintf(command, sizeof(command), "%s unsigned char[%u] bytes", name, size);
	target->fd = open_or_fail("/dev/eventlog", O_RDWR);
	request.command = (uintptr_t)command;
	request.provider = (uintptr_t)provider;
	ioctl_or_fail(target->fd, EVENTLOG_IOC_REGISTER, &request, command);
	target_payload(target, &request.write_index, sizeof(request.write_index), size);
}

static void open_eventlog(struct contestant *row, struct target *target, unsigned int size)
{
	open_eventlog_of("bench", row, target, size);
}

/* Enabled by ftrace only, in the provider of processes. */
static void open_eventlog_traced(struct contestant *row, struct target *target,
				 unsigned int size)
{
	char path[200], name[64];
	const struct timespec pause = { .tv_nsec = 1000000 };

	open_eventlog_of(EVENTLOG_DEFAULT_PROVIDER, row, target, size);
	event_name(name, sizeof(name), row, size);
	snprintf(path, sizeof(path), TRACING "events/eventlog_user/%s/format", name);
	while (access(path, F_OK))
		nanosleep(&pause, NULL);
	snprintf(path, sizeof(path), TRACING "events/eventlog_user/%s/enable", name);
	write_text(path, "1");
}

static void open_eventlog_off(struct contestant *row, struct target *target, unsigned int size)
{
	open_eventlog(row, target, size);
	target->result = -EBADF;
}

/* The kernel sets a bit of this word while the event is enabled. */
static void open_user_events(struct contestant *row, struct target *target, unsigned int size)
{
	struct user_reg request = { .size = sizeof(request), .enable_size = sizeof(__u32) };
	__u32 *enabled = calloc(1, sizeof(*enabled));
	char command[128], name[64];

	if (!enabled)
		fail("no memory");
	event_name(name, sizeof(name), row, size);
	snprintf(command, sizeof(command), "%s unsigned char[%u] bytes", name, size);
	target->fd = open_or_fail(TRACING "user_events_data", O_RDWR);
	request.enable_addr = (uintptr_t)enabled;
	request.name_args = (uintptr_t)command;
	ioctl_or_fail(target->fd, DIAG_IOCSREG, &request, command);
	target_payload(target, &request.write_index, sizeof(request.write_index), size);
	/* write() to a disabled event fails so. */
	target->result = -EBADF;
}

static void enable_user_event(struct contestant *row, struct target *target, unsigned int size,
			      const char *tracing)
{
	char path[200], name[64];

	open_user_events(row, target, size);
	event_name(name, sizeof(name), row, size);
	snprintf(path, sizeof(path), "%sevents/user_events/%s/enable", tracing, name);
	write_text(path, "1");
	target->result = target->bytes;
}

static void open_user_events_on(struct contestant *row, struct target *target, unsigned int size)
{
	enable_user_event(row, target, size, TRACING);
}

static void open_user_events_mono(struct contestant *row, struct target *target, unsigned int size)
{
	enable_user_event(row, target, size, MONO_TRACING);
}

static struct contestant rows[] = {
	{ "nothing", "nothing", EVENTLOG_BENCH_KVEC, open_nothing },
	{ "clock", "the clock alone", EVENTLOG_BENCH_CLOCK, open_nothing },
	{ "copy", "copy only", EVENTLOG_BENCH_KVEC, open_copy },
	{ "off", "eventlog, not wanted", EVENTLOG_BENCH_KVEC, open_eventlog_off },
	{ "discard", "eventlog, discard ring", EVENTLOG_BENCH_KVEC, open_eventlog, &discard },
	{ "overwrite", "eventlog, overwrite ring", EVENTLOG_BENCH_KVEC, open_eventlog,
	  &overwrite },
	{ "idle", "eventlog, discard, idle poller", EVENTLOG_BENCH_KVEC, open_eventlog, &idle },
	{ "ue_off", "user_events, not wanted", EVENTLOG_BENCH_KVEC, open_user_events },
	{ "ue_on", "user_events into ftrace", EVENTLOG_BENCH_KVEC, open_user_events_on },
	{ "traced", "eventlog into ftrace", EVENTLOG_BENCH_KVEC, open_eventlog_traced },
	{ "ue_mono", "user_events, same clock", EVENTLOG_BENCH_KVEC, open_user_events_mono },
	{ "user_nothing", "nothing", EVENTLOG_BENCH_UBUF, open_nothing },
	{ "user_copy", "copy only", EVENTLOG_BENCH_UBUF, open_copy },
	{ "user_off", "eventlog, not wanted", EVENTLOG_BENCH_UBUF, open_eventlog_off },
	{ "user_discard", "eventlog, discard ring", EVENTLOG_BENCH_UBUF, open_eventlog, &discard },
	{ "user_ue_off", "user_events, not wanted", EVENTLOG_BENCH_UBUF, open_user_events },
	{ "user_ue_on", "user_events into ftrace", EVENTLOG_BENCH_UBUF, open_user_events_on },
	{ "user_traced", "eventlog into ftrace", EVENTLOG_BENCH_UBUF, open_eventlog_traced },
	{ "user_ue_mono", "user_events, same clock", EVENTLOG_BENCH_UBUF, open_user_events_mono },
	{ "user_marker", "trace_marker", EVENTLOG_BENCH_WRITE, open_marker },
};

static struct contestant *row_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	}
	fail("no row %s", name);
}

/* ---- subscribers ---- */

/* Whether the process sleeps. */
static bool asleep(pid_t pid)
{
	char path[64], line[256], *state;
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open_or_fail(path, O_RDONLY);
	bytes = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (bytes <= 0)
		fail("%s: %s", path, strerror(errno));
	line[bytes] = '\0';
	state = strrchr(line, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

/* A child that waits in poll() and must not wake up: it ends if it does. */
static pid_t poller_start(const struct subscriber *subscriber)
{
	struct pollfd descriptor = { .fd = subscriber->fd, .events = POLLIN };
	int channel[2];
	pid_t pid;
	char byte;

	if (pipe(channel))
		fail("pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(channel[1], "", 1) != 1)
			_exit(2);
		poll(&descriptor, 1, -1);
		_exit(0);
	}
	if (read(channel[0], &byte, 1) != 1)
		fail("the poller is gone");
	/* After the write the child can only sleep in poll(). */
	while (!asleep(pid))
		usleep(1000);
	close(channel[0]);
	close(channel[1]);
	return pid;
}

static void poller_stop(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, WNOHANG))
		fail("the idle poller was woken: it was not idle");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* ---- measuring ---- */

static double batch(const struct contestant *row, const struct target *target)
{
	struct eventlog_bench_batch request = {
		.method = row->method,
		.fd = target->fd,
		.message = (uintptr_t)target->message,
		.bytes = target->bytes,
		.count = BATCH_WRITES,
		.result = target->result,
	};

	ioctl_or_fail(bench_fd, EVENTLOG_BENCH_IOC_BATCH, &request, row->name);
	if (row->subscriber)
		subscriber_read(row->subscriber);
	return (double)request.nanoseconds / BATCH_WRITES;
}

static void measure(unsigned int index)
{
	struct target *targets = calloc(ARRAY_SIZE(rows), sizeof(*targets));
	double *values[ARRAY_SIZE(rows)];
	unsigned int i, row;

	if (!targets)
		fail("no memory");
	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		values[row] = calloc(batches, sizeof(double));
		if (!values[row])
			fail("no memory");
		rows[row].open(&rows[row], &targets[row], sizes[index]);
	}
	for (i = 0; i < WARM_UP_BATCHES + batches; i++) {
		for (row = 0; row < ARRAY_SIZE(rows); row++) {
			double value = batch(&rows[row], &targets[row]);

			if (i >= WARM_UP_BATCHES)
				values[row][i - WARM_UP_BATCHES] = value;
		}
	}
	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		qsort(values[row], batches, sizeof(double), compare_doubles);
		rows[row].minimum[index] = values[row][0];
		rows[row].median[index] = values[row][batches / 2];
		free(values[row]);
		close(targets[row].fd);
	}
	free(targets);
}

/* All subscribers got all events. */
static void check_delivered(void)
{
	const __u64 writes = (__u64)ARRAY_SIZE(sizes) * (WARM_UP_BATCHES + batches) * BATCH_WRITES;

	subscriber_check(&discard, "discard", 2 * writes);
	subscriber_check(&overwrite, "overwrite", writes);
	subscriber_check(&idle, "idle", writes);
	/*
	 * write() does not report losses.  The events are those from kernel and from
	 * user memory of both interfaces, and those of trace_marker.
	 */
	tracing_check(TRACING, 5 * writes);
	tracing_check(MONO_TRACING, 2 * writes);
}

/* ---- the table ---- */

static bool from_user(const struct contestant *row)
{
	return row->method == EVENTLOG_BENCH_UBUF || row->method == EVENTLOG_BENCH_WRITE;
}

static void print_table(void)
{
	unsigned int row, size;

	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		bool user = from_user(&rows[row]);

		if (!row || user != from_user(&rows[row - 1])) {
			printf("%s%-32s", row ? "\n" : "",
			       user ? "from user memory" : "from kernel memory");
			for (size = 0; size < ARRAY_SIZE(sizes); size++)
				printf(" %5u bytes (median)", sizes[size]);
			putchar('\n');
		}
		printf("%-32s", rows[row].text);
		for (size = 0; size < ARRAY_SIZE(sizes); size++)
			printf(" %11.1f (%6.1f)", rows[row].minimum[size], rows[row].median[size]);
		putchar('\n');
	}
}

static const char *row_key(unsigned int row, unsigned int size)
{
	static char key[64];

	snprintf(key, sizeof(key), "%s_%u", rows[row].name, sizes[size]);
	return key;
}

static void declare_rows(void)
{
	unsigned int row, size;

	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		for (size = 0; size < ARRAY_SIZE(sizes); size++)
			rows_declare(row_key(row, size), "ns",
				     "write without system call, from %s memory, %s, %u bytes",
				     from_user(&rows[row]) ? "user" : "kernel", rows[row].text,
				     sizes[size]);
	}
}

static void add_results(void)
{
	unsigned int row, size;

	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		for (size = 0; size < ARRAY_SIZE(sizes); size++)
			rows_value(row_key(row, size), rows[row].minimum[size],
				   rows[row].median[size]);
	}
}

/*
 * The bar uses the same clock for both.  ftrace's own clock is the CPU's counter
 * elsewhere, but under User Mode Linux it counts jiffies and costs nothing, while
 * CLOCK_MONOTONIC is a call to the host.
 */
static void add_bars(void)
{
	double event = row_named("discard")->minimum[BAR_SIZE];
	double other = row_named("ue_mono")->minimum[BAR_SIZE];
	double clock = row_named("clock")->minimum[BAR_SIZE];
	double own_clock = row_named("ue_on")->minimum[BAR_SIZE];
	double waited = row_named("idle")->minimum[BAR_SIZE];
	double traced = row_named("traced")->minimum[BAR_SIZE];

	printf("\nan idle poller adds %.1f ns to an event of %u bytes\n", waited - event,
	       sizes[BAR_SIZE]);
	printf("without the clock, %.1f, on either side: %.1f / %.1f = %.2f\n", clock,
	       event - clock, other - clock, (event - clock) / (other - clock));
	printf("with ftrace's own clock: %.1f / %.1f = %.2f\n", event, own_clock,
	       event / own_clock);
	rows_bar("user_events", "at-most", BAR_RATIO, event / other,
		 "write, 12 bytes: eventlog / user_events into ftrace with the same clock");
	rows_bar("into_ftrace", "at-most", TRACED_RATIO, traced / own_clock,
		 "write, 12 bytes into ftrace alone: eventlog / user_events");
}

static const char help[] =
	"usage: kernel_bench [--batches N] [--rows FILE]\n"
	"\n"
	"Times writes inside the kernel, with eventlog.ko and eventlog_bench.ko loaded, and\n"
	"prints a table: ns a write, the fastest of N batches (default 200).\n"
	"\n"
	"  --batches N    batches of each row\n"
	"  --rows FILE    append the results to FILE, for scripts/bench/rows.sh\n";

int main(int argc, char **argv)
{
	static const struct option options[] = {
		ROWS_OPTIONS,
		{ 0 },
	};
	unsigned int size;
	pid_t poller;
	int option;

	while ((option = getopt_long(argc, argv, ROWS_LETTERS, options, NULL)) != -1)
		rows_option(option, help, &batches);
	declare_rows();
	bench_fd = open_or_fail("/dev/eventlog_bench", O_RDWR);
	subscriber_open(&discard, 0, "bench", "discard_*");
	subscriber_rule(&discard, "bench", "user_discard_*");
	subscriber_open(&overwrite, EVENTLOG_SUBSCRIBE_OVERWRITE, "bench", "overwrite_*");
	subscriber_open(&idle, 0, "bench", "idle_*");
	poller = poller_start(&idle);
	tracing_open();

	printf("ns a write, fastest of %u batches of %u\n\n", batches, BATCH_WRITES);
	for (size = 0; size < ARRAY_SIZE(sizes); size++)
		measure(size);
	poller_stop(poller);
	check_delivered();
	print_table();
	add_results();
	add_bars();
	rows_close();
	return 0;
}
