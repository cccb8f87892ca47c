// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of loading and unloading the module: when rmmod is denied, parameters, and
 * what unloading leaves behind.  $EVENTLOG_KO, else $EVENTLOG_MODULE, is the module's
 * file.  No other test loads the module; this one leaves it loaded.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mapped_common.h"
#include "module_common.h"

/* The module is in use: rmmod is denied and the device still works. */
static void check_busy(void)
{
	CHECK_ERRNO2(try_unload(), EWOULDBLOCK, EBUSY);
	CHECK(is_loaded());
	CHECK(status_now("Max: ") > 0);
}

TEST(open_file_pins_the_module)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	unsigned int i;
	int fd, copy;

	load("");
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		fd = device_open_for(modes[i]);
		check_busy();
		copy = CHECK_OK(dup(fd));
		close(fd);
		check_busy();
		close(copy);
		CHECK_OK(try_unload());
		CHECK(!is_loaded());
		CHECK_ERRNO2(open(EVENTLOG_DEVICE, O_RDONLY), ENOENT, ENXIO);
		load("");
	}
}

/* The mapping of a producer ring uses the file after that was closed. */
TEST(mapped_ring_pins_the_module)
{
	struct mapped ring;
	unsigned int i;
	int fd, copy;

	load("");
	for (i = 0; i < 3; i++) {
		fd = device_open();
		register_event(fd, "event u64 value");
		mapped_attach(&ring, fd, mapped_least_bytes());
		/* A file may be closed before its rings, and the other way round. */
		copy = i == 1 ? CHECK_OK(dup(fd)) : -1;
		close(fd);
		check_busy();
		mapped_unmap(&ring);
		if (i == 1) {
			check_busy();
			close(copy);
		}
		CHECK_OK(try_unload());
		CHECK(!is_loaded());
		load("");
	}
}

TEST(used_file_pins_the_module)
{
	struct eventlog_register event;
	struct consumer consumer;
	int fd;

	load("");
	fd = device_open();
	event = register_event(fd, "event u64 value");
	check_busy();
	consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, NULL);
	CHECK_OK(emit(fd, event.write_index, "12345678", 8));
	close(fd);
	check_busy();
	CHECK_EQ(consumer_skip(&consumer), 1);
	consumer_close(&consumer);
	CHECK_OK(try_unload());
	load("");
}

/*
 * A package manager replaces the module while a subscriber and a producer have the device
 * open: neither rmmod nor insmod has an effect, and both files go on working.  After they
 * are closed, the other module can be loaded.
 */
TEST(upgrade_with_the_device_open)
{
	struct eventlog_register event, other;
	struct consumer consumer;
	struct status_map map;
	int fd;

	load("");
	fd = device_open();
	event = register_event(fd, "event u64 value");
	map = status_map(fd, &event);
	consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, NULL);
	CHECK(status_enabled(&map, &event));
	CHECK_OK(emit(fd, event.write_index, "12345678", 8));

	check_busy();
	CHECK_ERRNO(try_load(""), EEXIST);
	check_busy();
	CHECK(status_enabled(&map, &event));
	CHECK_OK(emit(fd, event.write_index, "12345678", 8));
	other = register_event(fd, "other u64 value");
	CHECK_OK(emit(fd, other.write_index, "12345678", 8));
	CHECK_EQ(consumer_skip(&consumer), 3);
	rule_add(consumer.fd, NULL, "no_such");

	CHECK_OK(munmap((void *)map.bytes, map.size));
	close(fd);
	check_busy();
	consumer_close(&consumer);
	CHECK_OK(try_unload());
	load("");
	fd = device_open();
	register_event(fd, "event u64 value");
	close(fd);
}

/* A mapping pins the module like an open file. */
TEST(mapping_pins_the_module)
{
	struct eventlog_subscribe request;
	struct eventlog_register event;
	struct status_map map;
	void *ring;
	int fd;

	load("");
	fd = device_open();
	event = register_event(fd, "event");
	map = status_map(fd, &event);
	close(fd);
	check_busy();
	status_enabled(&map, &event);
	CHECK_OK(munmap((void *)map.bytes, map.size));
	CHECK_OK(try_unload());

	load("");
	fd = device_open();
	request = subscribe_request(1 << 16);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request));
	ring = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    request.ring_offset + page_size());
	CHECK(ring != MAP_FAILED);
	close(fd);
	check_busy();
	memset(ring, 1, page_size());
	CHECK_OK(munmap(ring, page_size()));
	CHECK_OK(try_unload());
	load("");
}

/* Killed processes release the module. */
TEST(killed_process_releases_the_module)
{
	struct eventlog_register event;
	int ready[2], fd;
	pid_t child;
	char byte;

	load("");
	CHECK_OK(pipe(ready));
	child = test_fork();
	if (!child) {
		struct consumer consumer;

		fd = device_open();
		event = register_event(fd, "event u64 value");
		status_map(fd, &event);
		consumer_open(&consumer, 1 << 16);
		rule_add(consumer.fd, NULL, NULL);
		CHECK_EQ(write(ready[1], "", 1), 1);
		for (;;)
			CHECK_OK(emit(fd, event.write_index, "12345678", 8));
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	check_busy();
	CHECK_OK(kill(child, SIGKILL));
	test_join_signal(child, SIGKILL);
	WAIT_FOR(!try_unload());
	load("");
}

/* Path of a file of the trace event "stays", valid until the next call. */
static const char *stays(const char *file)
{
	static char path[200];

	snprintf(path, sizeof(path), TRACE_EVENTS "/%s/stays%s", trace_group(), file);
	return path;
}

/* Persistent events do not pin the module; they go with it. */
TEST(persistent_events_do_not_pin)
{
	int fd;

	load("trace_events_max=0");
	fd = device_open();
	register_persistent(fd, NULL, "stays u32 value");
	close(fd);
	CHECK_EQ(status_now("Active: "), 1);
	CHECK_OK(try_unload());
	load("");
	CHECK_EQ(status_now("Active: "), 0);
}

/* A persistent trace event pins the module: a tracer could attach at any time. */
TEST(persistent_trace_event_pins_the_module)
{
	int fd;

	load("");
	if (!trace_events_exist())
		SKIP("this kernel has no trace events for modules");
	fd = device_open();
	register_persistent(fd, NULL, "stays u32 value");
	close(fd);
	check_busy();
	fd = device_open();
	CHECK_OK(try_delete(fd, NULL, "stays"));
	close(fd);
	CHECK_OK(try_unload());
	load("");
	CHECK(access(stays(""), F_OK));
}

/* An attached tracer pins the module after the program and its definition are gone. */
TEST(tracer_pins_the_module)
{
	int fd, i;

	load("");
	if (!trace_events_exist())
		SKIP("this kernel has no trace events for modules");
	for (i = 0; i < 5; i++) {
		fd = device_open();
		register_event(fd, "stays u32 value");
		WAIT_FOR(!access(stays("/format"), F_OK));
		CHECK_OK(file_write(stays("/enable"), "1"));
		close(fd);
		check_busy();
		CHECK_EQ(status_now("Active: "), 0);
		CHECK_OK(file_write(stays("/enable"), "0"));
		CHECK_OK(try_unload());
		CHECK(access(stays(""), F_OK));
		load("");
	}
}

/* An eprobe pins the module too, although ftrace does not report it to the module. */
TEST(eprobe_pins_the_module)
{
	char probe[200];
	int fd;

	load("");
	if (!trace_events_exist())
		SKIP("this kernel has no trace events for modules");
	fd = device_open();
	register_event(fd, "stays u32 value");
	WAIT_FOR(!access(stays("/format"), F_OK));
	snprintf(probe, sizeof(probe), "e:eventlog_stays/probe %s.stays x=$value:u32\n",
		 trace_group());
	if (file_write(TRACEFS "/dynamic_events", probe) < 0)
		SKIP("this kernel lacks eprobes");
	close(fd);
	check_busy();
	fd = device_open();
	register_persistent(fd, NULL, "stays u32 value");
	CHECK_OK(file_write(TRACE_EVENTS "/eventlog_stays/probe/enable", "1"));
	CHECK_OK(file_write(TRACE_EVENTS "/eventlog_stays/probe/enable", "0"));
	close(fd);
	fd = device_open();
	/* Where the trace event stays, the event may end. */
	if (trace_events_stay()) {
		CHECK_OK(try_delete(fd, NULL, "stays"));
		close(fd);
		check_busy();
		CHECK_OK(file_write(TRACEFS "/dynamic_events", "-:eventlog_stays/probe\n"));
	} else {
		CHECK_ERRNO(try_delete(fd, NULL, "stays"), EBUSY);
		CHECK_OK(file_write(TRACEFS "/dynamic_events", "-:eventlog_stays/probe\n"));
		CHECK_OK(try_delete(fd, NULL, "stays"));
		close(fd);
	}
	CHECK_OK(try_unload());
	load("");
}

/* The module is unloaded while files of trace events are open, also of those that had ended. */
TEST(unload_with_open_files)
{
	static const char *const files[] = { "/format", "/enable", "/filter", "/id", "/hist",
					     "/trigger" };
	unsigned int count = ARRAY_SIZE(files), i;
	int fds[ARRAY_SIZE(files)], fd;
	char text[100];

	load("");
	if (!trace_events_exist())
		SKIP("this kernel has no trace events for modules");
	/* These kernels use freed memory when a trace event of any module is removed. */
	if (!kernel_before(6, 6) && kernel_before(6, 11))
		count -= 2;
	fd = device_open();
	register_event(fd, "stays u32 value");
	WAIT_FOR(!access(stays("/format"), F_OK));
	for (i = 0; i < count; i++) {
		fds[i] = open(stays(files[i]), O_RDONLY | O_CLOEXEC);
		CHECK(fds[i] >= 0 || (i && errno == ENOENT));
		CHECK(fds[i] < 0 || read(fds[i], text, 1) >= 0);
	}
	close(fd);
	CHECK_OK(try_unload());
	CHECK(access(stays(""), F_OK));
	for (i = 0; i < count; i++) {
		if (fds[i] < 0)
			continue;
		CHECK_OK(lseek(fds[i], 0, SEEK_SET));
		while (read(fds[i], text, sizeof(text)) > 0)
			;
		close(fds[i]);
	}
	load("");
}

/* Events beyond the limit get no trace event. */
TEST(parameter_trace_events_max)
{
	struct eventlog_register event;
	char path[200];
	int fd;

	load("trace_events_max=2");
	if (!trace_events_exist())
		SKIP("this kernel has no trace events for modules");
	fd = device_open();
	register_event(fd, "one");
	event = register_event(fd, "two");
	CHECK_EQ(status_now("Not in tracefs: "), -1);
	register_event(fd, "three");
	CHECK_EQ(status_now("Not in tracefs: "), 1);
	snprintf(path, sizeof(path), TRACE_EVENTS "/%s/two", trace_group());
	WAIT_FOR(!access(path, F_OK));
	CHECK_OK(try_unregister(fd, event.write_index));
	if (trace_events_stay()) {
		/* Its place is kept for it. */
		CHECK_EQ(status_now("Not in tracefs: "), 1);
		register_event(fd, "two");
		CHECK_EQ(status_now("Not in tracefs: "), 1);
		CHECK_OK(access(path, F_OK));
	} else {
		WAIT_FOR(access(path, F_OK));
		/* A waiting event takes the free place. */
		snprintf(path, sizeof(path), TRACE_EVENTS "/%s/three/format", trace_group());
		WAIT_FOR(!access(path, F_OK));
		CHECK_EQ(status_now("Not in tracefs: "), -1);
		register_event(fd, "four u8 field");
		CHECK_EQ(status_now("Not in tracefs: "), 1);
	}
	close(fd);
	CHECK_EQ(status_now("Not in tracefs: "), -1);
	load("trace_events_max=0");
	fd = device_open();
	register_event(fd, "one");
	CHECK_EQ(status_now("Not in tracefs: "), -1);
	close(fd);
	load("");
}

/* ------------------------------------------------------------------------
 * Parameters
 */
TEST(parameter_events_max)
{
	struct consumer consumer;
	struct eventlog_register last = { 0 };
	unsigned int i;
	char command[32];
	int fd;

	load("events_max=4");
	CHECK_EQ(device_info().events_max, 4);
	CHECK_EQ(status_now("Max: "), 4);
	fd = device_open();
	for (i = 0; i < 4; i++) {
		snprintf(command, sizeof(command), "event_%u", i);
		last = register_event(fd, command);
	}
	CHECK_ERRNO(try_register(fd, "event_4"), ENOSPC);
	CHECK_OK(try_register(fd, "event_0"));
	consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, NULL);
	CHECK_OK(emit(fd, last.write_index, "", 0));
	CHECK_EQ(consumer_skip(&consumer), 1);
	CHECK_OK(try_unregister(fd, last.write_index));
	WAIT_FOR(!try_register(fd, "event_4"));
	CHECK_ERRNO(try_register(fd, "event_5"), ENOSPC);
	consumer_close(&consumer);
	close(fd);
	load("");
}

/* The limit also applies to texts of ended definitions; the newest are kept. */
TEST(parameter_events_max_and_texts)
{
	struct consumer witness;
	__u32 descriptors[10];
	char command[32], *text;
	unsigned int i;
	int fd;

	load("events_max=4");
	consumer_open(&witness, 0);
	fd = device_open();
	for (i = 0; i < ARRAY_SIZE(descriptors); i++) {
		struct eventlog_register event;

		snprintf(command, sizeof(command), "dead_%u", i);
		event = register_event(fd, command);
		descriptors[i] = event.descriptor;
		CHECK_OK(try_unregister(fd, event.write_index));
	}
	for (i = 0; i < ARRAY_SIZE(descriptors); i++) {
		text = describe(fd, descriptors[i], NULL);
		CHECK_EQ(!!text, i >= ARRAY_SIZE(descriptors) - 4);
		free(text);
	}
	close(fd);
	consumer_close(&witness);
	load("");
}

/* DELETE removes all definitions of a name while texts of ended ones are dropped. */
TEST(parameter_events_max_and_delete)
{
	static const char *const commands[] = {
		"deleted u8 a", "deleted u16 a", "deleted u32 a", "deleted u64 a",
	};
	struct eventlog_register event;
	struct consumer witness;
	unsigned int round, i;
	int fd;

	load("events_max=2");
	consumer_open(&witness, 0);
	fd = device_open();
	for (round = 0; round < 20; round++) {
		/* Register two persistent definitions, with ended ones around them. */
		for (i = 0; i < ARRAY_SIZE(commands); i++) {
			event = register_request(commands[(i + round) % ARRAY_SIZE(commands)]);
			if (i % 2 == round % 2)
				event.flags = EVENTLOG_REGISTER_PERSIST;
			register_with(fd, &event);
			CHECK_OK(try_unregister(fd, event.write_index));
			if (status_now("Active: ") == 2)
				break;
		}
		CHECK_OK(try_delete(fd, NULL, "deleted"));
		CHECK_EQ(status_now("Active: "), 0);
		CHECK_ERRNO(try_delete(fd, NULL, "deleted"), ENOENT);
	}
	close(fd);
	consumer_close(&witness);
	load("");
}

TEST(parameter_subscribers_max)
{
	struct eventlog_subscribe request = subscribe_request(0);
	int fds[3];
	unsigned int i;

	load("subscribers_max=2");
	CHECK_EQ(device_info().subscribers_max, 2);
	for (i = 0; i < 3; i++) {
		fds[i] = device_open();
		request = subscribe_request(0);
		if (i < 2)
			CHECK_OK(ioctl(fds[i], EVENTLOG_IOC_SUBSCRIBE, &request));
		else
			CHECK_ERRNO(ioctl(fds[i], EVENTLOG_IOC_SUBSCRIBE, &request), EMFILE);
	}
	for (i = 0; i < 3; i++)
		close(fds[i]);
	load("");
}

TEST(parameter_rules_max)
{
	struct eventlog_rule rule = rule_request(NULL, NULL);
	struct consumer consumer;

	load("rules_max=3");
	CHECK_EQ(device_info().rules_max, 3);
	consumer_open(&consumer, 0);
	rule_add(consumer.fd, NULL, NULL);
	rule_add(consumer.fd, NULL, NULL);
	rule_add(consumer.fd, NULL, NULL);
	CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_RULE_ADD, &rule), EMFILE);
	consumer_close(&consumer);
	load("");
}

TEST(parameter_registrations_max)
{
	struct eventlog_register event;
	int fd, other;

	load("registrations_max=2");
	CHECK_EQ(device_info().registrations_max, 2);
	fd = device_open();
	other = device_open();
	register_event(fd, "event");
	event = register_event(fd, "event");
	CHECK_ERRNO(try_register(fd, "event"), EMFILE);
	register_event(other, "event");
	CHECK_OK(try_unregister(fd, event.write_index));
	register_event(fd, "event");
	close(fd);
	close(other);
	load("");
}

TEST(parameter_ring_memory_max)
{
	struct eventlog_subscribe request;
	char parameters[64];
	int fd, other;

	/* The limit allows one subscriber with rings of 256 KiB, not two. */
	load("");
	fd = device_open();
	request = subscribe_request(1 << 18);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request));
	snprintf(parameters, sizeof(parameters), "ring_memory_max=%llu",
		 (unsigned long long)request.rings * request.ring_stride * 3 / 2);
	close(fd);

	load(parameters);
	fd = device_open();
	other = device_open();
	request = subscribe_request(1 << 18);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request));
	request = subscribe_request(1 << 20);
	CHECK_ERRNO(ioctl(other, EVENTLOG_IOC_SUBSCRIBE, &request), ENOMEM);
	close(fd);
	request = subscribe_request(1 << 18);
	WAIT_FOR(!ioctl(other, EVENTLOG_IOC_SUBSCRIBE, &request));
	close(other);
	load("");
}

/*
 * A CPU comes online without memory for its ring: its events are counted as lost.
 * @keep: capabilities
 */
static void hotplug_without_memory(const char *parameter, __u64 keep)
{
	struct eventlog_register event;
	struct eventlog_stat counts;
	struct consumer consumer;
	struct record record;
	unsigned int cpus[256], count, cpu, i;
	char path[64], parameters[64];
	int fd;

	count = cpus_allowed(cpus, ARRAY_SIZE(cpus));
	if (count < 2)
		SKIP("needs two CPUs");
	cpu = cpus[count - 1];
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	if (file_number(path) != 1)
		SKIP("CPU %u cannot be taken offline", cpu);
	snprintf(parameters, sizeof(parameters), "%s=%llu", parameter,
		 (unsigned long long)(count - 1) * (16 + 2) * page_size());
	load(parameters);
	capabilities_keep(keep);
	fd = device_open();
	event = register_event(fd, "event");
	cpu_pin(cpus[0]);
	CHECK_EQ(file_write(path, "0"), 1);
	consumer_open(&consumer, 16 * page_size());
	rule_add(consumer.fd, NULL, NULL);
	CHECK_EQ(file_write(path, "1"), 1);
	CHECK(!consumer_map(&consumer, cpu));
	for (i = 1; i <= 10; i++) {
		cpu_pin(cpu);
		CHECK_EQ(emit(fd, event.write_index, "", 0), 4);
		cpu_pin(cpus[0]);
		CHECK_EQ(emit(fd, event.write_index, "", 0), 4);
		consumer_one(&consumer, &record);
		CHECK_EQ(record.cpu, cpus[0]);
		counts = stat_all(consumer.fd);
		CHECK_EQ(counts.lost[EVENTLOG_LOST_NO_MEMORY], i);
		CHECK_EQ(lost_sum(counts.lost), i);
		CHECK_EQ(counts.records, i);
		CHECK_EQ(stat_event_lost(consumer.fd, event.descriptor), i);
	}
	counts = (struct eventlog_stat){ .size = sizeof(counts), .ring = cpu };
	CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_STAT, &counts), ENXIO);
	consumer_close(&consumer);
	close(fd);
	load("");
}

TEST(parameter_ring_memory_max_and_hotplug)
{
	hotplug_without_memory("ring_memory_max", CAPABILITY_ALL);
}

TEST(parameter_user_ring_memory_max_and_hotplug)
{
	hotplug_without_memory("user_ring_memory_max", CAPABILITY_ALL & ~CAPABILITY_SYS_RESOURCE);
}

static mode_t device_mode(void)
{
	struct stat status;

	CHECK_OK(stat(EVENTLOG_DEVICE, &status));
	CHECK(S_ISCHR(status.st_mode));
	return status.st_mode & 07777;
}

TEST(parameter_mode)
{
	struct eventlog_subscribe request;
	struct eventlog_register event;
	struct status_map map;
	struct consumer consumer;
	pid_t child;
	int fd;

	load("");
	CHECK_EQ(device_mode(), 0600);
	load("mode=0666");
	CHECK_EQ(device_mode(), 0666);
	consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, "public");
	child = test_fork();
	if (!child) {
		/* Any user may produce events but not subscribe. */
		CHECK_OK(setgid(65534));
		CHECK_OK(setuid(65534));
		fd = device_open();
		request = subscribe_request(1 << 16);
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request), EPERM);
		event = register_event(fd, "public u64 value");
		map = status_map(fd, &event);
		CHECK(status_enabled(&map, &event));
		CHECK_OK(emit(fd, event.write_index, "12345678", 8));
		event = register_request("kept");
		event.flags = EVENTLOG_REGISTER_PERSIST;
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &event), EPERM);
		CHECK_ERRNO(try_delete(fd, NULL, "public"), EPERM);
		_exit(0);
	}
	test_join(child);
	CHECK_EQ(consumer_skip(&consumer), 1);
	consumer_close(&consumer);
	load("mode=0640");
	CHECK_EQ(device_mode(), 0640);
	load("");
}

/* The rings use the spin lock of kernels without a suitable compare-and-exchange. */
TEST(parameter_spinlock)
{
	struct eventlog_register event;
	struct consumer consumer;
	struct record record;
	__u64 number, next = 0, lost;
	unsigned int cpus[1];
	int fd;

	load("spinlock=1");
	fd = device_open();
	event = register_event(fd, "event u64 number");
	consumer_open(&consumer, 2 * page_size());
	rule_add(consumer.fd, NULL, NULL);
	CHECK(cpus_allowed(cpus, 1));
	cpu_pin(cpus[0]);
	for (number = 0; number < 5000; number++) {
		CHECK_EQ(emit(fd, event.write_index, &number, sizeof(number)), 12);
		/* The consumer keeps up at first, then loses events. */
		if (number >= 2500 && number % 500)
			continue;
		while (consumer_next(&consumer, &record)) {
			CHECK(!memcmp(record.payload, &next, sizeof(next)) || number >= 2500);
			next++;
		}
	}
	next += consumer_skip(&consumer);
	lost = lost_sum(stat_all(consumer.fd).lost);
	CHECK(lost);
	CHECK_EQ(next + lost, 5000);
	CHECK_EQ(stat_event_lost(consumer.fd, event.descriptor), lost);
	consumer_close(&consumer);
	close(fd);
	load("");
}

/* Bad values are rejected or do no harm. */
TEST(bad_parameters_do_no_harm)
{
	static const char *const values[] = {
		"events_max=0", "events_max=-1", "events_max=4294967295", "events_max=1000000000",
		"events_max=x", "events_max=", "subscribers_max=0", "subscribers_max=4294967295",
		"rules_max=0", "rules_max=4294967295", "registrations_max=0",
		"registrations_max=4294967295", "mode=0", "mode=0777777", "mode=99999", "mode=-1",
		"ring_memory_max=0", "ring_memory_max=18446744073709551615", "ring_memory_max=1",
	};
	struct eventlog_subscribe request;
	struct eventlog_rule rule;
	unsigned int i;
	int fd;

	load("");
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		test_note("%s", values[i]);
		CHECK_OK(try_unload());
		if (try_load(values[i])) {
			CHECK(errno == EINVAL || errno == ERANGE || errno == ENOMEM ||
			      errno == ENOENT || errno == E2BIG);
			CHECK(!is_loaded());
			CHECK_OK(try_load(""));
			continue;
		}
		device_info();
		fd = device_open();
		try_register(fd, "event u32 value");
		close(fd);
		fd = device_open();
		request = subscribe_request(1 << 16);
		if (!ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request)) {
			rule = rule_request(NULL, NULL);
			ioctl(fd, EVENTLOG_IOC_RULE_ADD, &rule);
		}
		close(fd);
	}
	load("");
}

/* ------------------------------------------------------------------------
 * Repeated and concurrent loading
 */
TEST(load_twenty_times)
{
	struct eventlog_register event;
	struct consumer consumer;
	struct status_map map;
	unsigned int round, i;
	int fd;

	load("");
	for (round = 0; round < 20; round++) {
		CHECK_OK(try_unload());
		CHECK_OK(try_load(""));
		WAIT_FOR(!access(EVENTLOG_DEVICE, F_OK));
		fd = device_open();
		event = register_event(fd, "event u64 value");
		map = status_map(fd, &event);
		consumer_open(&consumer, 1 << 16);
		rule_add(consumer.fd, NULL, NULL);
		for (i = 0; i < 500; i++)
			CHECK_OK(emit(fd, event.write_index, "12345678", 8));
		CHECK_EQ(consumer_skip(&consumer), 500);
		flush(consumer.fd);
		/* Release the resources in both orders. */
		if (round % 2)
			consumer_close(&consumer);
		CHECK_OK(munmap((void *)map.bytes, map.size));
		close(fd);
		if (!(round % 2))
			consumer_close(&consumer);
	}
}

/* Opens the device repeatedly while the module is loaded and unloaded. */
struct visitor {
	bool stop;
	__u64 visits;
};

static void *visit(void *argument)
{
	struct visitor *visitor = argument;

	while (!__atomic_load_n(&visitor->stop, __ATOMIC_ACQUIRE)) {
		int fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC);

		if (fd < 0) {
			CHECK(errno == ENOENT || errno == ENXIO || errno == ENODEV);
			sched_yield();
			continue;
		}
		register_event(fd, "event u64 value");
		CHECK_OK(close(fd));
		/* Pause now and then, so that the module is unused for a moment. */
		if (__atomic_fetch_add(&visitor->visits, 1, __ATOMIC_RELEASE) % 4 == 0)
			test_pause();
	}
	return NULL;
}

TEST(unload_races_with_open)
{
	struct visitor visitor = { .stop = false };
	pthread_t threads[2];
	unsigned int round, i, denied = 0;
	__u64 visits;

	load("");
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, visit, &visitor), 0);
	for (round = 0; round < 20; round++) {
		visits = __atomic_load_n(&visitor.visits, __ATOMIC_ACQUIRE);
		WAIT_FOR(__atomic_load_n(&visitor.visits, __ATOMIC_ACQUIRE) > visits + 3);
		while (try_unload()) {
			CHECK(errno == EWOULDBLOCK || errno == EBUSY);
			denied++;
			sched_yield();
		}
		CHECK_OK(try_load(""));
	}
	__atomic_store_n(&visitor.stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	test_print("rmmod denied %u times", denied);
}
