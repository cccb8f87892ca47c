// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of events as trace events: what tracefs shows, recording by ftrace and
 * perf, group and event names, and size limits.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "eventlog_common.h"

#define EVENTS TRACE_EVENTS

/* Skips the case on a kernel without trace events; every case starts with it. */
static void need_trace_events(void)
{
	if (!trace_events_exist())
		SKIP("this kernel has no trace events for modules");
	CHECK(file_write(TRACEFS "/trace", "\n") >= 0);
}

/* The path is not freed: the process of a case ends soon. */
static const char *event_path(const char *group, const char *name, const char *file)
{
	char *path;

	CHECK_OK(asprintf(&path, EVENTS "/%s/%s/%s", group, name, file));
	return path;
}

static const char *user_path(const char *name, const char *file)
{
	return event_path(trace_group(), name, file);
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

/* An event has ended: its trace event goes, or stays if that is what the kernel needs. */
static void await_end(const char *path)
{
	if (trace_events_stay())
		CHECK(exists(path));
	else
		WAIT_FOR(!exists(path));
}

/* ftrace creates an event's files one by one; "format" comes late. */
static bool made(const char *group, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), EVENTS "/%s/%s/format", group, name);
	return exists(path);
}

/* Reads a whole file; an empty one reads as "". */
static char *file_read(const char *path)
{
	size_t room = 1 << 20, bytes = 0;
	char *text = malloc(room + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = 0;

	CHECK(text);
	test_note("%s", path);
	CHECK_OK(fd);
	while (bytes < room && (got = read(fd, text + bytes, room - bytes)) > 0)
		bytes += got;
	close(fd);
	text[bytes] = '\0';
	return text;
}

static bool file_has(const char *path, const char *words)
{
	char *text = file_read(path);
	bool found = strstr(text, words);

	free(text);
	return found;
}

static void check_has(const char *path, const char *words)
{
	char *text = file_read(path);

	if (!strstr(text, words))
		test_fail(__FILE__, __LINE__, "\"%s\" missing in %s: %s", words, path, text);
	free(text);
}

static void set(const char *path, const char *text)
{
	test_note("writing %s to %s", text, path);
	CHECK_OK(file_write(path, text));
}

/* The event's line of the status listing contains these words. */
static void check_status(const char *event, const char *words)
{
	char *text = status_read(), *line = text ? strstr(text, event) : NULL, *end;

	CHECK(line);
	end = strchr(line, '\n');
	CHECK(end);
	*end = '\0';
	if (!strstr(line, words))
		test_fail(__FILE__, __LINE__, "\"%s\" missing in: %s", words, line);
	free(text);
}

/* Registers an event and waits for its trace event. */
static struct eventlog_register traced_event(int fd, const char *command, const char *name)
{
	struct eventlog_register event = register_event(fd, command);

	WAIT_FOR(made(trace_group(), name));
	return event;
}

TEST(format_of_an_event)
{
	struct eventlog_register event;
	int fd;

	need_trace_events();
	fd = device_open();
	event = traced_event(fd, "trace_format u8 a; s16 b; unsigned int c; s64 d; char[7] e; "
			     "unsigned char[3] f;"
			     "struct pair g 8; __data_loc char[] h; __rel_loc unsigned char[] i",
			     "trace_format");
	check_has(user_path("trace_format", "format"), "name: trace_format\n");
	check_has(user_path("trace_format", "format"),
		  "\tfield:u8 a;\toffset:8;\tsize:1;\tsigned:0;\n"
		  "\tfield:s16 b;\toffset:9;\tsize:2;\tsigned:1;\n"
		  "\tfield:u32 c;\toffset:11;\tsize:4;\tsigned:0;\n"
		  "\tfield:s64 d;\toffset:15;\tsize:8;\tsigned:1;\n"
		  "\tfield:char e[7];\toffset:23;\tsize:7;\tsigned:1;\n"
		  "\tfield:u8 f[3];\toffset:30;\tsize:3;\tsigned:0;\n"
		  "\tfield:struct pair g;\toffset:33;\tsize:8;\tsigned:0;\n"
		  "\tfield:__data_loc char[] h;\toffset:41;\tsize:4;\tsigned:0;\n"
		  /* Then "u8[] i" or, on 6.1, "u8 i[]". */
		  "\tfield:__rel_loc u8");
	check_has(user_path("trace_format", "format"), ";\toffset:45;\tsize:4;\tsigned:0;\n");
	check_has(user_path("trace_format", "format"),
		  "print fmt: \"a=%u b=%hd c=%u d=%lld e=%s f=%s h=%s i=%s\", "
		  "REC->a, REC->b, REC->c, "
		  "REC->d, REC->e, __print_hex(REC->f, 3), __get_str(h), "
		  "__print_hex(__get_rel_dynamic_array(i), __get_rel_dynamic_array_len(i))\n");
	CHECK_OK(try_unregister(fd, event.write_index));
	await_end(user_path("trace_format", "enable"));
	close(fd);
}

/* The producer sees that ftrace enables the event; the trace shows what it writes. */
TEST(ftrace_records_events)
{
	static const struct {
		__u32 id;
		char path[8];
		__u32 text;
		__u32 more;
		char dynamic[14];
	} __attribute__((packed)) payload = {
		42, "12345678", 6 << 16 | 20, 4 << 16 | 6, "a\nb\"c\0\1\2\3\4",
	};
	struct eventlog_register event;
	struct status_map map;
	int fd;

	need_trace_events();
	fd = device_open();
	event = traced_event(fd, "trace_recorded u32 id; char[8] path; __data_loc char[] text; "
			     "__rel_loc unsigned char[] more", "trace_recorded");
	map = status_map(fd, &event);
	CHECK(!status_enabled(&map, &event));
	CHECK_ERRNO(emit(fd, event.write_index, &payload, sizeof(payload)), EBADF);
	set(user_path("trace_recorded", "enable"), "1");
	CHECK(status_enabled(&map, &event));
	CHECK(status_get(&map, &event) & EVENTLOG_STATUS_SYNC);
	check_status("/trace_recorded", "Used by ftrace");
	CHECK_OK(emit(fd, event.write_index, &payload, sizeof(payload)));
	check_has(TRACEFS "/trace",
		  ": trace_recorded: id=42 path=12345678 text=a\\nb\"c more=01020304\n");
	/* A bad payload is rejected as always. */
	CHECK_ERRNO(emit(fd, event.write_index, &payload, 8), EINVAL);
	CHECK_ERRNO(emit(fd, event.write_index, &payload, 22), EBADMSG);
	set(user_path("trace_recorded", "enable"), "0");
	CHECK(!status_enabled(&map, &event));
	CHECK(!(status_get(&map, &event) & EVENTLOG_STATUS_SYNC));
	CHECK_ERRNO(emit(fd, event.write_index, &payload, sizeof(payload)), EBADF);
	close(fd);
}

TEST(ftrace_filters_events)
{
	static const char *const filters[] = {
		"value == 7", "value > 6 && name == \"seven\"", "name ~ \"sev*\"",
		"text == \"SEVEN\"",
		"text ~ \"*EVE*\" && value < 8",
	};
	struct {
		__u32 value;
		char name[8];
		__u32 text;
		char dynamic[6];
	} __attribute__((packed)) payload = { 7, "seven", 6 << 16 | 16, "SEVEN" }, other = {
		9, "nine", 5 << 16 | 16, "NINE",
	};
	struct eventlog_register event;
	unsigned int i;
	char *text;
	int fd;

	need_trace_events();
	fd = device_open();
	event = traced_event(fd, "trace_filter u32 value; char[8] name; __data_loc char[] text",
			     "trace_filter");
	CHECK_ERRNO(file_write(user_path("trace_filter", "filter"), "nothing == 1"), EINVAL);
	set(user_path("trace_filter", "enable"), "1");
	for (i = 0; i < ARRAY_SIZE(filters); i++) {
		set(user_path("trace_filter", "filter"), filters[i]);
		CHECK(file_write(TRACEFS "/trace", "\n") >= 0);
		CHECK_OK(emit(fd, event.write_index, &payload, sizeof(payload)));
		CHECK_OK(emit(fd, event.write_index, &other, sizeof(other)));
		check_has(TRACEFS "/trace", "value=7 name=seven text=SEVEN\n");
		text = file_read(TRACEFS "/trace");
		test_note("%s: %s", filters[i], text);
		CHECK(!strstr(text, "value=9"));
		free(text);
	}
	set(user_path("trace_filter", "enable"), "0");
	close(fd);
}

TEST(histogram_trigger)
{
	struct eventlog_register event;
	__u64 values[2] = { 5, 30 };
	int fd;

	need_trace_events();
	fd = device_open();
	event = traced_event(fd, "trace_trigger u64 key; u64 value", "trace_trigger");
	if (file_write(user_path("trace_trigger", "trigger"), "hist:keys=key:vals=value") < 0)
		SKIP("this kernel lacks histograms");
	check_status("/trace_trigger", "Used by ftrace");
	CHECK_OK(emit(fd, event.write_index, values, sizeof(values)));
	values[1] = 12;
	CHECK_OK(emit(fd, event.write_index, values, sizeof(values)));
	check_has(user_path("trace_trigger", "hist"),
		  "{ key:          5 } hitcount:          2  value:         42");
	set(user_path("trace_trigger", "trigger"), "!hist:keys=key:vals=value");
	CHECK_ERRNO(emit(fd, event.write_index, values, sizeof(values)), EBADF);
	close(fd);
}

TEST(tracing_instance)
{
	static const char instance[] = TRACEFS "/instances/eventlog_test";
	char enable[200], trace[200];
	struct eventlog_register event;
	struct status_map map;
	__u32 value = 4711;
	int fd;

	need_trace_events();
	rmdir(instance);
	fd = device_open();
	event = traced_event(fd, "trace_instance u32 value", "trace_instance");
	map = status_map(fd, &event);
	CHECK_OK(mkdir(instance, 0700));
	snprintf(enable, sizeof(enable), "%s/events/%s/trace_instance/enable", instance,
		 trace_group());
	snprintf(trace, sizeof(trace), "%s/trace", instance);
	set(enable, "1");
	CHECK_OK(emit(fd, event.write_index, &value, sizeof(value)));
	check_has(trace, ": trace_instance: value=4711\n");
	CHECK(!file_has(TRACEFS "/trace", "value=4711"));
	/* Enabled in both, then in one, then in none. */
	set(user_path("trace_instance", "enable"), "1");
	set(enable, "0");
	CHECK(status_enabled(&map, &event));
	value = 4712;
	CHECK_OK(emit(fd, event.write_index, &value, sizeof(value)));
	check_has(TRACEFS "/trace", ": trace_instance: value=4712\n");
	CHECK(!file_has(trace, "value=4712"));
	set(enable, "1");
	set(user_path("trace_instance", "enable"), "0");
	CHECK(status_enabled(&map, &event));
	/* Removing an instance disables its events. */
	CHECK_OK(rmdir(instance));
	CHECK(!status_enabled(&map, &event));
	close(fd);
}

/* An event too large for ftrace is counted and still reaches the subscriber. */
TEST(event_too_large_for_ftrace)
{
	static char payload[9000];
	struct eventlog_register event;
	struct consumer consumer;
	struct record record;
	int fd;

	need_trace_events();
	fd = device_open();
	event = traced_event(fd, "trace_too_large u64 value", "trace_too_large");
	set(user_path("trace_too_large", "enable"), "1");
	/* The header of a trace record is 8 bytes. */
	CHECK_OK(emit(fd, event.write_index, payload, 4064 - 8));
	check_has(TRACEFS "/trace", ": trace_too_large: value=0\n");
	CHECK_OK(emit(fd, event.write_index, payload, 4064 - 7));
	check_status("/trace_too_large", "lost 1 too large for ftrace");
	consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, "trace_too_large");
	CHECK_OK(emit(fd, event.write_index, payload, sizeof(payload)));
	CHECK(consumer_next(&consumer, &record));
	CHECK_EQ(record.bytes, sizeof(payload));
	check_status("/trace_too_large", "lost 2 too large for ftrace");
	consumer_close(&consumer);
	set(user_path("trace_too_large", "enable"), "0");
	check_status("/trace_too_large", "# lost 2 too large for ftrace");
	close(fd);
}

static struct eventlog_register register_of(int fd, const char *provider, const char *command)
{
	struct eventlog_register request = register_request(command);

	request.provider = PTR(provider);
	register_with(fd, &request);
	return request;
}

/* Events of a named provider are in a group of their own and show their session. */
TEST(provider_is_the_group)
{
	struct eventlog_register event;
	__u32 value = 3;
	char name[100];
	int fd;

	need_trace_events();
	fd = device_open();
	event = register_request("trace_group u32 value");
	event.provider = PTR("trace.test-x");
	event.flags = EVENTLOG_REGISTER_SESSION;
	register_with(fd, &event);
	WAIT_FOR(made("eventlog_trace_test_x", "trace_group"));
	check_has(EVENTS "/eventlog_trace_test_x/trace_group/format",
		  "\tfield:u64 session;\toffset:8;\tsize:8;\tsigned:0;\n"
		  "\tfield:u32 value;\toffset:16;\tsize:4;\tsigned:0;\n");
	set(EVENTS "/eventlog_trace_test_x/trace_group/enable", "1");
	CHECK_OK(emit_session(fd, event.write_index, 77, &value, sizeof(value)));
	check_has(TRACEFS "/trace", ": trace_group: value=3 session=77\n");
	set(EVENTS "/eventlog_trace_test_x/trace_group/enable", "0");
	/* A field called session replaces the session. */
	register_of(fd, "trace.test-x", "trace_session u16 session");
	WAIT_FOR(made("eventlog_trace_test_x", "trace_session"));
	check_has(EVENTS "/eventlog_trace_test_x/trace_session/format",
		  "\tfield:u16 session;\toffset:8;\tsize:2;\tsigned:0;\n");
	/* Names that the kernel uses are not special: no group is one of its groups. */
	register_of(fd, "ftrace", "trace_group");
	WAIT_FOR(made("eventlog_ftrace", "trace_group"));
	register_of(fd, "eventlog", "eventlog_lock");
	WAIT_FOR(made("eventlog_eventlog", "eventlog_lock"));
	register_of(fd, "TRACE_SYSTEM", "trace_group");
	register_of(fd, "enable", "trace_group");
	register_of(fd, "header_page", "trace_group");
	WAIT_FOR(made("eventlog_TRACE_SYSTEM", "trace_group"));
	WAIT_FOR(made("eventlog_enable", "trace_group"));
	WAIT_FOR(made("eventlog_header_page", "trace_group"));
	register_of(fd, "header-page", "trace_other");
	WAIT_FOR(made("eventlog_header_page", "trace_other"));
	event = register_of(fd, "trace.test-x", "enable");
	snprintf(name, sizeof(name), "enable.%x", event.descriptor);
	WAIT_FOR(made("eventlog_trace_test_x", name));
	set(EVENTS "/eventlog_trace_test_x/enable", "0");
	close(fd);
	await_end(EVENTS "/eventlog_trace_test_x");
}

/* Characters that identifiers do not have are replaced, and long names are cut. */
TEST(group_and_name_fit_tracefs)
{
	char provider[EVENTLOG_NAME_MAX], name[EVENTLOG_NAME_MAX], path[4096];
	struct dirent *entry;
	unsigned int cut = 0;
	size_t length;
	DIR *directory;
	int fd;

	need_trace_events();
	fd = device_open();
	register_of(fd, "a b/c\"$", "odd/name#1 u32 value");
	WAIT_FOR(made("eventlog_a_b_c__", "odd_name_1"));
	memset(provider, 'p', sizeof(provider) - 1);
	provider[sizeof(provider) - 1] = '\0';
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	register_of(fd, provider, name);
	name[sizeof(name) - 2] = 'm';
	register_of(fd, provider, name);
	/* Two names that differ in their last character get different hashes. */
	memcpy(path, EVENTS "/eventlog_", sizeof(EVENTS "/eventlog_"));
	length = strlen(path);
	memset(path + length, 'p', 246 - strlen("eventlog_") - 9);
	path[length + 246 - strlen("eventlog_") - 9] = '\0';
	directory = opendir(EVENTS);
	CHECK(directory);
	WAIT_FOR(({
		rewinddir(directory);
		while ((entry = readdir(directory)))
			if (!strncmp(entry->d_name, path + strlen(EVENTS "/"),
				     strlen(path) - strlen(EVENTS "/")))
				break;
		entry;
	}));
	CHECK_EQ(strlen(entry->d_name), 246);
	snprintf(path, sizeof(path), EVENTS "/%s", entry->d_name);
	closedir(directory);
	directory = opendir(path);
	CHECK(directory);
	WAIT_FOR(({
		rewinddir(directory);
		for (cut = 0; (entry = readdir(directory));)
			cut += strlen(entry->d_name) == 246 && !strchr(entry->d_name, '.');
		cut == 2;
	}));
	closedir(directory);
	close(fd);
	await_end(path);
}

/* An event whose name is taken gets its descriptor as a suffix. */
TEST(taken_names_get_a_suffix)
{
	const bool probes = !access(TRACEFS "/kprobe_events", F_OK);
	struct eventlog_register first, second, third, foreign;
	char name[100], other[100];
	int fd;

	need_trace_events();
	fd = device_open();
	first = traced_event(fd, "trace_name u32 value", "trace_name");
	second = register_event(fd, "trace_name u64 value");
	snprintf(name, sizeof(name), "trace_name.%x", second.descriptor);
	WAIT_FOR(made(trace_group(), name));
	check_has(user_path(name, "format"), "field:u64 value;");
	check_has(user_path("trace_name", "format"), "field:u32 value;");
	/* The name of a probe that an administrator has put into the group; UML has no probes. */
	if (probes)
		file_write(TRACEFS "/kprobe_events", "p:eventlog_sched/sched_probe vfs_read\n");
	foreign = register_of(fd, "sched", "sched_probe u8 mine");
	snprintf(name, sizeof(name), probes ? "sched_probe.%x" : "sched_probe", foreign.descriptor);
	WAIT_FOR(made("eventlog_sched", name));
	register_of(fd, "sched", "sched_switch u8 mine");
	WAIT_FOR(made("eventlog_sched", "sched_switch"));
	check_has(EVENTS "/sched/sched_switch/format", "prev_comm");
	check_has(EVENTS "/eventlog_sched/sched_switch/format", "field:u8 mine;");
	CHECK_OK(try_unregister(fd, first.write_index));
	await_end(user_path("trace_name", "enable"));
	/* The name can be used again, unless its trace event stays. */
	third = register_event(fd, "trace_name u16 value");
	snprintf(other, sizeof(other), "trace_name.%x", third.descriptor);
	if (!trace_events_stay())
		strcpy(other, "trace_name");
	WAIT_FOR(made(trace_group(), other));
	check_has(user_path(other, "format"), "field:u16 value;");
	close(fd);
	await_end(event_path("eventlog_sched", "sched_switch", "enable"));
	await_end(event_path("eventlog_sched", name, "enable"));
	CHECK_EQ(exists(EVENTS "/eventlog_sched/sched_probe/enable"), probes);
	if (probes)
		file_write(TRACEFS "/kprobe_events", "-:eventlog_sched/sched_probe\n");
	CHECK(exists(EVENTS "/sched/sched_switch/enable"));
}

/* A tracer stays attached when the program ends and starts again. */
TEST(tracer_survives_a_restart)
{
	struct eventlog_register event;
	struct status_map map;
	__u32 value = 1;
	int fd;

	need_trace_events();
	fd = device_open();
	event = traced_event(fd, "trace_restarted u32 value", "trace_restarted");
	set(user_path("trace_restarted", "enable"), "1");
	CHECK_OK(emit(fd, event.write_index, &value, sizeof(value)));
	close(fd);

	fd = device_open();
	/* The trace event stays; another definition of the name does not get the tracer. */
	CHECK(exists(user_path("trace_restarted", "enable")));
	event = register_event(fd, "trace_restarted u64 value");
	map = status_map(fd, &event);
	CHECK(!status_enabled(&map, &event));
	event = register_event(fd, "trace_restarted u32 value");
	CHECK(status_enabled(&map, &event));
	value = 2;
	CHECK_OK(emit(fd, event.write_index, &value, sizeof(value)));
	check_has(TRACEFS "/trace", ": trace_restarted: value=1\n");
	check_has(TRACEFS "/trace", ": trace_restarted: value=2\n");
	set(user_path("trace_restarted", "enable"), "0");
	CHECK(!status_enabled(&map, &event));
	/* A mapping keeps the event like an open file, so unmap it. */
	CHECK_OK(munmap((void *)map.bytes, map.size));
	close(fd);
	await_end(user_path("trace_restarted", "enable"));
}

TEST(delete_while_attached_is_ebusy)
{
	struct eventlog_register event;
	int fd;

	need_trace_events();
	fd = device_open();
	event = register_request("trace_deleted u32 value");
	event.flags = EVENTLOG_REGISTER_PERSIST;
	register_with(fd, &event);
	WAIT_FOR(made(trace_group(), "trace_deleted"));
	CHECK_OK(try_unregister(fd, event.write_index));
	set(user_path("trace_deleted", "enable"), "1");
	CHECK_ERRNO(try_delete(fd, NULL, "trace_deleted"), EBUSY);
	CHECK(exists(user_path("trace_deleted", "enable")));
	set(user_path("trace_deleted", "enable"), "0");
	CHECK_OK(try_delete(fd, NULL, "trace_deleted"));
	await_end(user_path("trace_deleted", "enable"));
	close(fd);
}

static int perf_over;

static bool has_perf(void)
{
	return exists("/proc/sys/kernel/perf_event_paranoid");
}

/* Counts events of every process on the first CPU. */
static int perf_open(const char *name)
{
	return perf_open_id(file_number(user_path(name, "id")), -1, 0);
}

/* Counts events of the calling thread on every CPU. */
static int perf_open_task(const char *name)
{
	return perf_open_id(file_number(user_path(name, "id")), 0, -1);
}

TEST(perf_counts_events)
{
	static char payload[9000];
	struct eventlog_register event;
	__u64 count, value = 5;
	int fd, counter;

	need_trace_events();
	cpu_pin(0);
	fd = device_open();
	event = traced_event(fd, "trace_perf u64 value", "trace_perf");
	if (!has_perf())
		SKIP("this kernel lacks perf");
	counter = CHECK_OK(perf_open("trace_perf"));
	check_status("/trace_perf", "Used by perf");
	CHECK_OK(emit(fd, event.write_index, &value, sizeof(value)));
	CHECK_OK(emit(fd, event.write_index, &value, sizeof(value)));
	/* perf allows 8192 bytes for the header, the payload and a size. */
	CHECK_OK(emit(fd, event.write_index, payload, 8192 - 4 - 8));
	CHECK_OK(emit(fd, event.write_index, payload, 8192 - 4 - 7));
	CHECK_EQ(read(counter, &count, sizeof(count)), sizeof(count));
	CHECK_EQ(count, 3);
	check_status("/trace_perf", "lost 1 too large for perf");
	/* The producer closes its file before the counter. */
	close(fd);
	CHECK(exists(user_path("trace_perf", "enable")));
	close(counter);
	await_end(user_path("trace_perf", "enable"));
}

/* Registers events and reads the listing while counters are opened and closed. */
static void *perf_look(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&perf_over, __ATOMIC_RELAXED)) {
		int fd = device_open();

		register_event(fd, "trace_perf_other u8 value");
		close(fd);
		free(status_read());
	}
	return NULL;
}

TEST(perf_counts_events_of_a_task)
{
	struct eventlog_register event;
	pthread_t threads[2];
	unsigned int i, j;
	__u64 value = 5;
	pid_t child;
	int fd;

	need_trace_events();
	fd = device_open();
	event = traced_event(fd, "trace_perf_task u64 value", "trace_perf_task");
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK(!pthread_create(&threads[i], NULL, perf_look, NULL));
	for (i = 0; i < 20; i++) {
		child = test_fork();
		if (!child) {
			__u64 count;
			int counter = perf_open_task("trace_perf_task");

			if (counter < 0)
				_exit(has_perf() ? 1 : 0);
			for (j = 0; j < 50; j++) {
				CHECK_OK(emit(fd, event.write_index, &value, sizeof(value)));
				sched_yield();
				test_pause();
			}
			CHECK_EQ(read(counter, &count, sizeof(count)), sizeof(count));
			CHECK_EQ(count, 50);
			_exit(0);
		}
		test_join(child);
	}
	__atomic_store_n(&perf_over, 1, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK(!pthread_join(threads[i], NULL));
	close(fd);
}

/* A type's name does not change how ftrace treats the field. */
TEST(type_names_have_no_effect)
{
	int fd;

	need_trace_events();
	fd = device_open();
	traced_event(fd, "trace_tags struct __data_loc_char a 4; struct x__rel_loc_char b 4; "
		     "struct fine c 4",
		     "trace_tags");
	check_has(user_path("trace_tags", "format"), "\tfield:u8 a[4];\t");
	check_has(user_path("trace_tags", "format"), "\tfield:u8 b[4];\t");
	check_has(user_path("trace_tags", "format"), "\tfield:struct fine c;\t");
	CHECK_ERRNO(file_write(user_path("trace_tags", "filter"), "a ~ \"*x*\""), EINVAL);
	close(fd);
}

/* Nothing can attach to the event that the module uses to take ftrace's mutex. */
TEST(lock_event_is_private)
{
	static const char lock[] = EVENTS "/eventlog/eventlog_lock";
	int fd;

	need_trace_events();
	if (exists(EVENTS "/eventlog/eventlog_lock/enable"))
		SKIP("this kernel lacks perf");
	CHECK(!exists(EVENTS "/eventlog/eventlog_lock/trigger"));
	CHECK_ERRNO(perf_open_id(file_number(EVENTS "/eventlog/eventlog_lock/id"), -1, 0), EPERM);
	CHECK(file_write(TRACEFS "/dynamic_events",
			 "e:eventlog_bad/lock eventlog.eventlog_lock\n") < 0);
	CHECK(exists(lock));
	/* Enabling the whole group works. */
	set(EVENTS "/eventlog/enable", "1");
	fd = device_open();
	traced_event(fd, "trace_lock", "trace_lock");
	set(EVENTS "/eventlog/enable", "0");
	close(fd);
}

/* Names and types cannot forge lines of a format file. */
TEST(names_cannot_forge_formats)
{
	static const char *const commands[] = {
		"trace_bad u32 a\nb", "trace_bad u32 a%s", "trace_bad struct a;b c 4",
		"trace_bad u32 \"a\"",
		"trace_\033bad u32 a", "trace_b\303\244d u32 a", "trace_bad char[4]x a",
		"trace_bad u32 REC->a",
	};
	unsigned int i;
	int fd;

	need_trace_events();
	fd = device_open();
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		test_note("%s", commands[i]);
		CHECK_ERRNO(try_register(fd, commands[i]), EINVAL);
	}
	/* tracefs gets identifiers only. */
	traced_event(fd, "trace/%s\"REC->a u32 a", "trace__s_REC__a");
	check_has(user_path("trace__s_REC__a", "format"), "name: trace__s_REC__a\n");
	/* A field may have the name of a common field. */
	traced_event(fd, "trace_common u8 common_pid; u8 common_type", "trace_common");
	check_has(user_path("trace_common", "format"),
		  "field:unsigned short common_type;\toffset:0;");
	check_has(user_path("trace_common", "format"), "field:u8 common_type;\toffset:9;");
	close(fd);
}

/* ------------------------------------------------------------------------
 * Everything at once
 */

/* In make check; with KASAN, make check-sanitizers runs it for two minutes. */
#define CHURN_ROUNDS 20
#define CHURN_EVENTS 12

/*
 * Is there an event with a name that begins with @begin?  With a newline at its end,
 * an event with exactly this name?  Do not read the group's directory: with eventfs,
 * Linux 6.12 and others follow pointers of an event that is being removed.
 */
static bool churn_exists(const char *begin)
{
	char words[200];

	snprintf(words, sizeof(words), "%s:%s", trace_group(), begin);
	return file_has(TRACEFS "/available_events", words);
}

static int churn_over;

static void *churn_register(void *seed_of)
{
	__u64 seed = *(__u64 *)seed_of;
	unsigned int round, i;
	char command[100];

	for (round = 0; round < CHURN_ROUNDS || test_has_time(); round++) {
		int fd = device_open();
		__u32 indices[CHURN_EVENTS];
		__u64 payload[2] = { round, 0 };

		/* Reuse the same names, mostly with the same definitions. */
		for (i = 0; i < CHURN_EVENTS; i++) {
			snprintf(command, sizeof(command), "trace_churn_%u u64 value%s", i,
				 test_random(&seed) % 4 ? "" : "; u64 more");
			indices[i] = register_event(fd, command).write_index;
		}
		for (i = 0; i < 200; i++)
			emit(fd, indices[test_random(&seed) % CHURN_EVENTS], payload,
			     sizeof(payload));
		if (test_random(&seed) % 2)
			/* While one definition is traced, others with its name get a suffix. */
			WAIT_FOR(churn_exists("trace_churn_0\n") || churn_exists("trace_churn_0."));
		close(fd);
	}
	return NULL;
}

static void *churn_enable(void *unused)
{
	char path[200], filter[200];

	(void)unused;
	snprintf(path, sizeof(path), EVENTS "/%s/enable", trace_group());
	/* The group's filter: ftrace locks it and removes the group with its last event. */
	snprintf(filter, sizeof(filter), EVENTS "/%s/filter", trace_group());
	while (!__atomic_load_n(&churn_over, __ATOMIC_RELAXED)) {
		file_write(path, "1");
		file_write(filter, "value > 3");
		file_write(user_path("trace_churn_1", "filter"), "value > 4");
		file_write(user_path("trace_churn_2", "trigger"), "hist:keys=value");
		file_write(path, "0");
		file_write(user_path("trace_churn_2", "trigger"), "!hist:keys=value");
	}
	return NULL;
}

static void churn_read(const char *path, int flags)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC | flags), i;

	if (fd < 0)
		return;
	for (i = 0; i < 20 && read(fd, text, sizeof(text)) > 0; i++)
		;
	close(fd);
}

static void *churn_look(void *unused)
{

	(void)unused;
	while (!__atomic_load_n(&churn_over, __ATOMIC_RELAXED)) {
		churn_read(TRACEFS "/trace", 0);
		churn_read(TRACEFS "/trace_pipe", O_NONBLOCK);
		churn_read(user_path("trace_churn_3", "format"), 0);
		churn_read(user_path("trace_churn_2", "hist"), 0);
		churn_read(TRACEFS "/available_events", 0);
		churn_read(EVENTLOG_DEVICE, 0);
	}
	return NULL;
}

static void *churn_instance(void *unused)
{
	static const char instance[] = TRACEFS "/instances/eventlog_churn";
	char path[200];

	(void)unused;
	while (!__atomic_load_n(&churn_over, __ATOMIC_RELAXED)) {
		mkdir(instance, 0700);
		snprintf(path, sizeof(path), "%s/events/%s/enable", instance, trace_group());
		file_write(path, "1");
		snprintf(path, sizeof(path), "%s/trace_pipe", instance);
		churn_read(path, O_NONBLOCK);
		rmdir(instance);
	}
	rmdir(instance);
	return NULL;
}

static void *churn_perf(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&churn_over, __ATOMIC_RELAXED)) {
		int counter = -1;

		if (exists(user_path("trace_churn_4", "id")))
			counter = perf_open("trace_churn_4");
		if (counter >= 0)
			close(counter);
		test_pause();
	}
	return NULL;
}

static void *churn_eprobe(void *unused)
{
	char probe[200];

	(void)unused;
	snprintf(probe, sizeof(probe), "e:eventlog_churn/probe %s.trace_churn_5 x=$value:u64\n",
		 trace_group());
	while (!__atomic_load_n(&churn_over, __ATOMIC_RELAXED)) {
		if (file_write(TRACEFS "/dynamic_events", probe) < 0)
			test_pause();
		file_write(EVENTS "/eventlog_churn/probe/enable", "1");
		file_write(EVENTS "/eventlog_churn/probe/enable", "0");
		file_write(TRACEFS "/dynamic_events", "-:eventlog_churn/probe\n");
	}
	file_write(TRACEFS "/dynamic_events", "-:eventlog_churn/probe\n");
	return NULL;
}

TEST_WITHIN(churn, 2 * TEST_SECONDS)
{
	static void *(*const others[])(void *) = {
		churn_enable, churn_look, churn_instance, churn_perf, churn_eprobe,
	};
	pthread_t producers[2], threads[ARRAY_SIZE(others)];
	__u64 seeds[ARRAY_SIZE(producers)];
	unsigned int i;
	char path[200];

	need_trace_events();
	for (i = 0; i < ARRAY_SIZE(producers); i++) {
		seeds[i] = test_seed() + i;
		CHECK(!pthread_create(&producers[i], NULL, churn_register, &seeds[i]));
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		CHECK(!pthread_create(&threads[i], NULL, others[i], NULL));
	for (i = 0; i < ARRAY_SIZE(producers); i++)
		CHECK(!pthread_join(producers[i], NULL));
	__atomic_store_n(&churn_over, 1, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		CHECK(!pthread_join(threads[i], NULL));
	/* When all have detached no event is left. */
	snprintf(path, sizeof(path), EVENTS "/%s/enable", trace_group());
	file_write(path, "0");
	if (!trace_events_stay())
		WAIT_FOR(!churn_exists("trace_churn"));
	CHECK(file_write(TRACEFS "/trace", "\n") >= 0);
}
