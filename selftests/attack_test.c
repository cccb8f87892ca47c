// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attacks by users without rights on a device that everyone may open.  Each attack tries to
 * use up what others need, and must fail.  quota_test.c tests the exact limits, and
 * visible_test.c what a user may see.
 *
 * No test measures time.  If an attack costs time, the test counts the work instead.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_common.h"
#include "filter_common.h"
#include "instance_common.h"
#include "mapped_common.h"
#include "module_common.h"

static int try_register_of(int fd, const char *provider, const char *command)
{
	struct eventlog_register request = register_request(command);

	request.provider = PTR(provider);
	return ioctl(fd, EVENTLOG_IOC_REGISTER, &request);
}

static int try_register_schema(int fd, const char *schema)
{
	struct eventlog_register request = register_request(schema);

	request.flags = EVENTLOG_REGISTER_SCHEMA;
	return ioctl(fd, EVENTLOG_IOC_REGISTER, &request);
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

/* Tells the parent that the attack is in place, and waits until the parent has checked. */
static int ready[2], looked[2];

static void pipes_open(void)
{
	CHECK_OK(pipe(ready));
	CHECK_OK(pipe(looked));
}

static void in_place(void)
{
	char byte;

	CHECK_EQ(write(ready[1], "", 1), 1);
	CHECK_EQ(read(looked[0], &byte, 1), 1);
}

static void wait_in_place(void)
{
	char byte;

	CHECK_EQ(read(ready[0], &byte, 1), 1);
}

static void let_go(pid_t child)
{
	CHECK_EQ(write(looked[1], "", 1), 1);
	test_join(child);
}

/* ------------------------------------------------------------------------
 * Names
 */

/* Groups and events that the kernel, its modules and root use. */
static const char *const groups[][2] = {
	{ "sched", "sched_switch" }, { "sched", "x" }, { "cfg80211", "rdev_suspend" },
	{ "mykprobes", "openat" }, { "kprobes", "p_vfs_read_0" }, { "eventlog", "eventlog_emit" },
};

static void take_names(void)
{
	int fd = device_open();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		char command[64];

		snprintf(command, sizeof(command), "%s u32 x", groups[i][1]);
		CHECK_OK(try_register_of(fd, groups[i][0], command));
	}
	CHECK_ERRNO(try_register_of(fd, "user_events", "x"), EPERM);
	CHECK_ERRNO(try_register_of(fd, "user_events_multi", "x"), EPERM);
	in_place();
	close(fd);
}

TEST(names_of_trace_events)
{
	char path[256];
	unsigned int i;
	pid_t child;

	load_open("");
	if (!trace_events_exist())
		SKIP("no trace events");
	pipes_open();
	child = fork_user(USER, take_names);
	wait_in_place();
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		snprintf(path, sizeof(path), TRACE_EVENTS "/eventlog_%s/%s/format", groups[i][0],
			 groups[i][1]);
		WAIT_FOR(exists(path));
	}
	/* The kernel's groups are as before, and root can use the other names. */
	CHECK(!exists(TRACE_EVENTS "/sched/x"));
	CHECK(!exists(TRACE_EVENTS "/cfg80211/rdev_suspend"));
	CHECK(exists(TRACE_EVENTS "/sched/sched_switch/format"));
	if (exists(TRACEFS "/kprobe_events")) {
		CHECK_OK(file_write(TRACEFS "/kprobe_events", "p:mykprobes/openat vfs_read\n"));
		CHECK(exists(TRACE_EVENTS "/mykprobes/openat/format"));
		CHECK_OK(file_write(TRACEFS "/kprobe_events", "-:mykprobes/openat\n"));
	}
	let_go(child);
}

/* A module with a schema: markers do not exist everywhere. */
#define MODULE "eventlog_proc"
#define MODULE_FILE "module/providers/" MODULE ".ko"
#define MODULE_PROVIDER "proc"

static void take_provider(void)
{
	int fd = device_open();
	struct eventlog_register request = register_request("exec u32 x");
	__u32 state;

	request.provider = PTR(MODULE_PROVIDER);
	register_with(fd, &request);
	in_place();
	/* The module has got its name; the event that was there is not the kernel's. */
	CHECK_ERRNO(try_register_of(fd, MODULE_PROVIDER, "other u32 x"), EPERM);
	free(describe(fd, request.descriptor, &state));
	CHECK_EQ(state, EVENTLOG_DESCRIBED_LIVE);
	close(fd);
	/* Nor can it come back. */
	fd = device_open();
	CHECK_ERRNO(try_register_of(fd, MODULE_PROVIDER, "exec u32 x"), EPERM);
	close(fd);
}

TEST(names_of_kernel_providers)
{
	pid_t child;

	load_open("");
	pipes_open();
	child = fork_user(USER, take_provider);
	wait_in_place();
	module_insert_built(MODULE_FILE, "");
	let_go(child);
	CHECK_OK(module_unload(MODULE));
}

/* ------------------------------------------------------------------------
 * Memory
 */
#define CGROUP_BYTES (64 << 20)

/* A longer description does not fit in a schema. */
#define TEXT_BYTES 32000

/* Runs an attack in the cgroup, which may kill it. */
static void as_user_in_cgroup(void (*attack)(void))
{
	pid_t child = test_fork();
	int status;

	if (!child) {
		cgroup_enter();
		CHECK_OK(setgid(USER));
		CHECK_OK(setuid(USER));
		attack();
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK((WIFEXITED(status) && !WEXITSTATUS(status)) ||
	      (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
}

/* The numbers of registrations that an attack has made; shared with it. */
static volatile unsigned int *made;

static void made_share(void)
{
	made = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(made != MAP_FAILED);
}

/* Registers an event with as much text as possible; returns as ioctl(2). */
static int try_register_long(int fd, unsigned int number)
{
	static char schema[TEXT_BYTES + 200];
	int bytes;

	bytes = sprintf(schema, "eventlog 1\nprovider long\nevent 1 number_%u info - \"", number);
	memset(schema + bytes, 'x', TEXT_BYTES);
	strcpy(schema + bytes + TEXT_BYTES, "\"\n");
	return try_register_schema(fd, schema);
}

static void fill_memory(void)
{
	int fd = device_open();

	while (!try_register_long(fd, *made))
		++*made;
	CHECK_ERRNO2(try_register_long(fd, *made), ENOMEM, EDQUOT);
}

#define PRODUCER_RING_BYTES (1 << 18)

/* Producer rings, mapped, so that their memory belongs to the process. */
static void fill_producer_rings(void)
{
	struct eventlog_attach attach;
	int fd = device_open();

	CHECK_OK(try_register_long(fd, 0));
	for (;; ++*made) {
		attach = attach_request(PRODUCER_RING_BYTES);
		if (ioctl(fd, EVENTLOG_IOC_ATTACH, &attach))
			break;
		if (try_map(fd, &attach) == MAP_FAILED)
			break;
	}
	CHECK(errno == ENOMEM || errno == EDQUOT || errno == EMFILE);
}

/* Ended events, whose texts are kept because a subscriber lives. */
static void fill_retained(void)
{
	unsigned int i;
	int fd;

	while (*made < 1500) {
		fd = device_open();
		for (i = 0; i < 50; i++, ++*made)
			if (try_register_long(fd, *made))
				return;
		close(fd);
	}
}

/* More than the cgroup's memory. */
#define RING_MEMORY (128 << 20)

TEST(memory_of_a_cgroup)
{
	struct consumer consumer;
	char parameters[50];
	int fd;

	snprintf(parameters, sizeof(parameters), "user_ring_memory_max=%d", RING_MEMORY);
	load_open(parameters);
	cgroup_make(CGROUP_BYTES);
	made_share();
	consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, NULL);

	/* More texts than the cgroup's memory can hold would not be charged to it. */
	as_user_in_cgroup(fill_memory);
	CHECK(*made > 100);
	CHECK((__u64)*made * TEXT_BYTES <= CGROUP_BYTES);
	*made = 0;
	/* The kernel frees some memory later. */
	WAIT_FOR(cgroup_number("memory.current") < CGROUP_BYTES / 4 * 3);
	as_user_in_cgroup(fill_retained);
	CHECK(*made > 20);
	CHECK((__u64)info_of(consumer.fd).retained * TEXT_BYTES <= 16 << 20);
	*made = 0;
	as_user_in_cgroup(fill_producer_rings);
	CHECK(*made > 10);
	/* Before 5.11, pages that are mapped are not charged: see EVENTLOG_GFP_MAPPED. */
	if (kernel_before(5, 11))
		CHECK((__u64)*made * PRODUCER_RING_BYTES <= RING_MEMORY);
	else
		CHECK((__u64)*made * PRODUCER_RING_BYTES <= CGROUP_BYTES);
	/* Others are not affected. */
	fd = device_open();
	CHECK_OK(try_register_long(fd, 0));
	close(fd);
	consumer_close(&consumer);
	cgroup_remove();
}

#define INSTANCE_DEVICE "/dev/eventlog-attack"
#define FILTERED_EVENTS 256

/* What the kernel needs at least for a filter with all terms that is bound to an event. */
#define BOUND_BYTES (EVENTLOG_TERMS_MAX * 40)

/* Many rules, each with a filter for many events. */
static void fill_filters(void)
{
	struct filter_term terms[EVENTLOG_TERMS_MAX] = { 0 };
	static struct filter filter;
	struct eventlog_subscribe setup = subscribe_request(0);
	struct eventlog_rule rule = rule_request(NULL, NULL);
	int producer = CHECK_OK(open(INSTANCE_DEVICE, O_RDWR | O_CLOEXEC));
	int subscriber = CHECK_OK(open(INSTANCE_DEVICE, O_RDWR | O_CLOEXEC));
	unsigned int i;

	for (i = 0; i < EVENTLOG_TERMS_MAX; i++)
		terms[i] = (struct filter_term){
			.name = "x", .flags = EVENTLOG_TERM_NUMBER,
			.operation = EVENTLOG_TERM_OP_EQUAL, .number = i,
			.on_false = i + 1 < EVENTLOG_TERMS_MAX ? i + 1 : 0,
		};
	rule.filter = filter_fill(&filter, terms, EVENTLOG_TERMS_MAX, NULL);
	for (i = 0; i < FILTERED_EVENTS; i++)
		CHECK_OK(try_register_number(producer, "filtered", i));
	CHECK_OK(ioctl(subscriber, EVENTLOG_IOC_SUBSCRIBE, &setup));
	while (!ioctl(subscriber, EVENTLOG_IOC_RULE_ADD, &rule))
		++*made;
	CHECK(ioctl(subscriber, EVENTLOG_IOC_RULE_ADD, &rule) < 0);
	/* Which limit is the first depends on what the kernel charges to the cgroup. */
	CHECK(errno == ENOMEM || errno == EMFILE || errno == EDQUOT);
}

/* The owner of an instance needs no capability to subscribe. */
TEST(filters_of_an_owner)
{
	struct eventlog_instance_create request = create_request("attack");
	__u32 id;

	cgroup_make(CGROUP_BYTES);
	made_share();
	request.owner = USER;
	close(create_with(&request, &id));
	as_user_in_cgroup(fill_filters);
	printf("# %u rules\n", *made);
	CHECK(*made > 10);
	CHECK((__u64)*made * FILTERED_EVENTS * BOUND_BYTES <= CGROUP_BYTES);
	delete_instance(id);
	cgroup_remove();
}

/* ------------------------------------------------------------------------
 * Wide events
 */

/* The function that compares names and values of a schema, to find duplicates. */
#define COMPARISON "eventlog:eventlog_place_compare"

/*
 * Counts the calls of that function by this thread.  Not on i386, where the kernel's code
 * is patched while another emulated CPU may run it: see scripts/vm.
 */
static int calls_open(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attributes),
	};

#ifdef __i386__
	SKIP("only where one thread emulates all CPUs");
#endif
	if (!trace_events_exist() ||
	    file_write(TRACEFS "/kprobe_events", "p:attack/compared " COMPARISON "\n") < 0)
		SKIP("no kprobes");
	attributes.config = file_number(TRACE_EVENTS "/attack/compared/id");
	return CHECK_OK(syscall(SYS_perf_event_open, &attributes, 0, -1, -1,
				PERF_FLAG_FD_CLOEXEC));
}

static void calls_close(int calls)
{
	close(calls);
	WAIT_FOR(file_write(TRACEFS "/kprobe_events", "-:attack/compared\n") > 0);
}

static __u64 calls_now(int calls)
{
	__u64 count;

	CHECK_EQ(read(calls, &count, sizeof(count)), sizeof(count));
	return count;
}

static int try_register_fields(int fd, unsigned int count)
{
	static char command[EVENTLOG_COMMAND_MAX];
	unsigned int i;
	int bytes;

	bytes = sprintf(command, "fields_%u", count);
	for (i = 0; i < count; i++)
		bytes += sprintf(command + bytes, "%s u8 f%u", i ? ";" : "", i);
	return try_register(fd, command);
}

/* An enum with @count values. */
static int try_register_values(int fd, unsigned int count)
{
	static char schema[EVENTLOG_SCHEMA_MAX];
	unsigned int i;
	int bytes;

	bytes = sprintf(schema, "eventlog 1\nprovider wide\nenum wide\n");
	for (i = 0; i < count; i++)
		bytes += sprintf(schema + bytes, "\t%u V%u\n", i, i);
	sprintf(schema + bytes, "event 1 values_%u info -\n\tenum:wide:u32 x\n", count);
	return try_register_schema(fd, schema);
}

/* @count enums, which all fields refer to. */
static int try_register_enums(int fd, unsigned int count)
{
	static char schema[EVENTLOG_SCHEMA_MAX];
	unsigned int i;
	int bytes;

	bytes = sprintf(schema, "eventlog 1\nprovider wide\n");
	for (i = 0; i < count; i++)
		bytes += sprintf(schema + bytes, "enum e%u\n\t0 V\n", i);
	bytes += sprintf(schema + bytes, "event 1 enums_%u info -\n", count);
	for (i = 0; i < count; i++)
		bytes += sprintf(schema + bytes, "\tenum:e%u:u8 f%u\n", i, i);
	return try_register_schema(fd, schema);
}

static __u64 comparisons(int calls, int (*try_register_wide)(int, unsigned int),
			 unsigned int count)
{
	int fd = device_open();
	__u64 before = calls_now(calls), after;

	CHECK_OK(try_register_wide(fd, count));
	after = calls_now(calls);
	close(fd);
	test_print("%u: %llu comparisons", count, (unsigned long long)(after - before));
	return after - before;
}

/* Four times as much text: n log n work is five times as much, n * n sixteen times. */
static void check_work(int calls, int (*try_register_wide)(int, unsigned int),
		       unsigned int count)
{
	__u64 narrow = comparisons(calls, try_register_wide, count);
	__u64 wide = comparisons(calls, try_register_wide, 4 * count);

	CHECK(narrow >= count);
	CHECK(wide <= 7 * narrow);
}

TEST(work_of_wide_events)
{
	int calls;

	load_open("");
	calls = calls_open();
	check_work(calls, try_register_values, 500);
	check_work(calls, try_register_enums, 64);
	calls_close(calls);
}

/* ------------------------------------------------------------------------
 * Churn
 */
static void churn(void)
{
	__u64 begin = clock_now(), most;
	unsigned int i, count = 0;
	int fd;

	for (i = 0; i < 500; i++) {
		fd = device_open();
		if (!try_register_number(fd, "churned", i))
			count++;
		else
			CHECK_EQ(errno, EDQUOT);
		close(fd);
	}
	/* As many as in four seconds at once, then the limit for each second. */
	most = 4 * 20 + 20 * ((clock_now() - begin) / 1000000000 + 2);
	test_print("%u of at most %llu", count, (unsigned long long)most);
	CHECK(count >= 80);
	CHECK(count <= most);
}

/* Checks that calls which take the lock of all trace events make progress. */
TEST(churn_of_definitions)
{
	struct eventlog_register last;
	pid_t children[2];
	unsigned int i;
	__u32 first;
	int fd;

	load_open("user_definitions_max=20");
	fd = device_open();
	first = register_event(fd, "first").descriptor;
	children[0] = fork_user(USER, churn);
	children[1] = fork_user(OTHER, churn);
	for (i = 0; i < 20 && trace_events_exist(); i++) {
		/* Code that is patched here seldom runs. */
		CHECK_OK(file_write(TRACE_EVENTS "/module/enable", "1"));
		CHECK_OK(file_write(TRACE_EVENTS "/module/enable", "0"));
		CHECK_OK(try_register_number(fd, "of_root", i));
	}
	for (i = 0; i < 2; i++)
		test_join(children[i]);
	/* Calls that fail use up no descriptors. */
	last = register_event(fd, "last");
	CHECK(last.descriptor - first <= 2 * 500 + 21);
	close(fd);
}

static void fail_to_define(void)
{
	int fd = device_open();
	unsigned int i;

	register_many(fd, "defined", EDQUOT);
	for (i = 0; i < 2000; i++) {
		try_register_number(fd, "failing", i);
		CHECK_ERRNO(try_register(fd, "bad u33 x"), EINVAL);
		CHECK_ERRNO(try_register_of(fd, "user_events", "x"), EPERM);
	}
	close(fd);
}

/* A descriptor is not reused, so no user may be able to use up all of them quickly. */
TEST(event_descriptors)
{
	__u64 begin, seconds;
	__u32 first;
	int fd;

	load_open("user_events_max=10 user_definitions_max=50");
	fd = device_open();
	begin = clock_now();
	first = register_event(fd, "first").descriptor;
	as_user(USER, fail_to_define);
	seconds = (clock_now() - begin) / 1000000000 + 2;
	CHECK(register_event(fd, "last").descriptor - first <= 4 * 50 + 50 * seconds + 1);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Slots
 */
static void take_slots(void)
{
	int fd = device_open();
	char prefix[16];
	unsigned int i = 0;

	snprintf(prefix, sizeof(prefix), "user_%u", getuid());
	while (!try_register_number(fd, prefix, i))
		i++;
	CHECK_ERRNO2(try_register_number(fd, prefix, i), EDQUOT, ENOSPC);
	in_place();
	close(fd);
}

/* Several users together use up all slots that are not reserved. */
TEST(slots_of_events)
{
	pid_t children[5];
	unsigned int i;
	int fd;

	load_open("events_max=512 trace_events_max=512");
	pipes_open();
	for (i = 0; i < ARRAY_SIZE(children); i++) {
		children[i] = fork_user(USER + i, take_slots);
		wait_in_place();
	}
	CHECK_EQ(status_now("Active: "), 512 - 512 / 16);
	fd = device_open();
	for (i = 0; i < 8; i++)
		CHECK_OK(try_register_number(fd, "of_root", i));
	module_insert_built(MODULE_FILE, "");
	if (trace_events_exist()) {
		WAIT_FOR(exists(TRACE_EVENTS "/eventlog_user/of_root_7/format"));
		WAIT_FOR(exists(TRACE_EVENTS "/eventlog_" MODULE_PROVIDER "/exec/format"));
	}
	for (i = 0; i < ARRAY_SIZE(children); i++)
		CHECK_EQ(write(looked[1], "", 1), 1);
	for (i = 0; i < ARRAY_SIZE(children); i++)
		test_join(children[i]);
	close(fd);
	CHECK_OK(module_unload(MODULE));
}

/* ------------------------------------------------------------------------
 * Open files
 */
static void take_files(void)
{
	struct rlimit limit = { 1000, 1000 };
	int fd, last = -1;

	CHECK_OK(setrlimit(RLIMIT_NOFILE, &limit));
	while ((fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC)) >= 0) {
		last = fd;
		CHECK_OK(try_register(fd, "shared u32 x"));
	}
	CHECK_EQ(errno, EMFILE);
	CHECK_EQ(quota(last, EVENTLOG_QUOTA_EVENTS).use, 1);
	CHECK(quota(last, EVENTLOG_QUOTA_REGISTRATIONS).use > 900);
	in_place();
}

TEST(open_files)
{
	struct consumer consumer;
	pid_t child;

	load_open("");
	pipes_open();
	child = fork_user(USER, take_files);
	wait_in_place();
	/* Root can subscribe and read the one event. */
	consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, NULL);
	CHECK_EQ(status_now("Busy: "), 1);
	consumer_close(&consumer);
	let_go(child);
	CHECK_EQ(status_now("Active: "), 0);
}

/* ------------------------------------------------------------------------
 * All of it, then the module goes
 */
static void attack(void)
{
	char prefix[16];
	struct eventlog_list request = list_request(EVENTLOG_LIST_DEFINITIONS, NULL, 0);
	struct eventlog_subscribe subscribe = subscribe_request(1 << 16);
	unsigned int i;
	int fd;

	snprintf(prefix, sizeof(prefix), "user_%u", getuid());
	for (i = 0; i < 20; i++) {
		fd = device_open();
		register_many(fd, prefix, EDQUOT);
		try_register_long(fd, i);
		try_register_fields(fd, 256);
		try_register_of(fd, MODULE_PROVIDER, "exec u32 x");
		CHECK_ERRNO(try_delete(fd, NULL, "of_root"), EPERM);
		free(status_read());
		ioctl(fd, EVENTLOG_IOC_LIST, &request);
		CHECK_ERRNO2(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EPERM, EBUSY);
		/* The last ones leave it to the kernel to close the file. */
		if (i < 18)
			close(fd);
	}
}

TEST(unload_after_all_attacks)
{
	struct eventlog_register event;
	struct consumer consumer;
	struct record record;
	pid_t children[3];
	unsigned int i;
	int fd;

	load_open("user_events_max=16 user_definitions_max=100 user_retained_bytes_max=100000");
	fd = device_open();
	event = register_event(fd, "of_root");
	for (i = 0; i < ARRAY_SIZE(children); i++)
		children[i] = fork_user(USER + i, attack);
	for (i = 0; i < 10; i++) {
		consumer_open(&consumer, 1 << 16);
		rule_add(consumer.fd, NULL, NULL);
		CHECK_OK(emit(fd, event.write_index, "", 0));
		consumer_one(&consumer, &record);
		CHECK_EQ(record.header->descriptor, event.descriptor);
		consumer_close(&consumer);
		CHECK_OK(try_register_number(fd, "of_root", i));
	}
	for (i = 0; i < ARRAY_SIZE(children); i++)
		test_join(children[i]);
	close(fd);
	WAIT_FOR(status_now("Active: ") == 0);
	CHECK_OK(try_unload());
	CHECK(!is_loaded());
}
