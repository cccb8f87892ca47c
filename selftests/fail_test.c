// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failing allocations and accesses to user memory.  Each call of the device is repeated until
 * every allocation in it has failed once.  fail_instance_test does that with instances,
 * fail_module_test with modules, and with what these make.
 * Needs a kernel with fault injection (fail-nth in /proc).  A failed call changes nothing, so
 * a correct producer and its subscriber still work after each call.  A call that only removes
 * something does not fail.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail_common.h"
#include "hostile_common.h"
#include "mapped_common.h"

#define EXAMPLE "eventlog_marker_example"

/* What the calls use; made before failures are injected. */
static struct {
	int producer;		/* has a registration of "scarce" and one with a session */
	__u32 index;
	__u32 descriptor;
	__u32 session_index;
	struct consumer consumer;
	__u32 program_index;	/* of a program's marker */
	__u32 filter_version;	/* of its filter */
	struct mapped ring;	/* of the producer */
	struct filter filter;
	bool no_markers;	/* of modules */
	int cgroup;		/* a directory of cgroup2; -1: there is none */
	char text[4096];
	unsigned char payload[2000];
} made;

/* ------------------------------------------------------------------------
 * Calls.  Each returns 0, or a negative number and errno.
 */
static int open_file(void)
{
	return open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC);
}

static int call_open(void)
{
	int fd = open_file();

	return fd < 0 ? -1 : close(fd);
}

static int call_info(void)
{
	struct eventlog_info request = { .size = sizeof(request) };

	return ioctl(made.producer, EVENTLOG_IOC_INFO, &request);
}

/* Registers on a new file. */
static int register_new(__u32 flags, const char *definition)
{
	struct eventlog_register request = register_request(definition);
	int fd = open_file(), result = -1;

	if (fd < 0)
		return -1;
	request.flags = flags;
	result = ioctl(fd, EVENTLOG_IOC_REGISTER, &request);
	close(fd);
	return result;
}

static int call_register(void)
{
	return register_new(0, "scarce_new u32 value; __data_loc char[] text");
}

static int call_register_schema(void)
{
	return register_new(EVENTLOG_REGISTER_SCHEMA,
			    "eventlog 1\nprovider scarce\nevent 1 scarce_new info 0x1\n"
			    "\tu32 value\n\tstring text\n");
}

/* A definition that exists. */
static int call_register_again(void)
{
	return register_new(0, "scarce u32 value");
}

static int call_unregister(void)
{
	struct eventlog_register event = register_request("scarce u32 value");
	struct eventlog_unregister request = { .size = sizeof(request) };

	if (ioctl(made.producer, EVENTLOG_IOC_REGISTER, &event))
		return -1;
	request.write_index = event.write_index;
	return fail_undo(made.producer, EVENTLOG_IOC_UNREGISTER, &request);
}

/* A persistent definition.  Deleting it may fail, as it needs memory for the names. */
static int call_delete(void)
{
	int error;

	if (register_new(EVENTLOG_REGISTER_PERSIST, "scarce_kept u32 value"))
		return -1;
	if (!try_delete(made.producer, NULL, "scarce_kept"))
		return 0;
	error = errno;
	CHECK_OK(try_delete(made.producer, NULL, "scarce_kept"));
	errno = error;
	return -1;
}

static int subscribe(__u32 flags)
{
	struct eventlog_subscribe request = subscribe_request(2 * page_size());
	struct eventlog_rule rule = rule_request("user*", "scarce*");
	int fd = open_file(), result = -1;

	if (fd < 0)
		return -1;
	request.flags = flags;
	if (!ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request))
		result = ioctl(fd, EVENTLOG_IOC_RULE_ADD, &rule);
	close(fd);
	return result;
}

static int call_subscribe(void)
{
	return subscribe(0);
}

static int call_subscribe_overwrite(void)
{
	return subscribe(EVENTLOG_SUBSCRIBE_OVERWRITE);
}

static int call_subscribe_mapped(void)
{
	return subscribe(EVENTLOG_SUBSCRIBE_MAPPED);
}

static int add_and_delete(struct eventlog_rule *rule)
{
	struct eventlog_rule_delete request = { .size = sizeof(request) };

	if (ioctl(made.consumer.fd, EVENTLOG_IOC_RULE_ADD, rule))
		return -1;
	request.rule_id = rule->rule_id;
	return fail_undo(made.consumer.fd, EVENTLOG_IOC_RULE_DEL, &request);
}

static int call_rule(void)
{
	struct eventlog_rule rule = rule_request(NULL, "scarce");

	rule.filter = PTR(&made.filter.filter);
	return add_and_delete(&rule);
}

static int call_rule_of_session(void)
{
	struct eventlog_rule rule = rule_request(NULL, NULL);

	rule.flags = EVENTLOG_RULE_SESSION | EVENTLOG_RULE_PID;
	rule.session = 7;
	rule.pid = getpid();
	rule.sample = 2;
	return add_and_delete(&rule);
}

static int call_rule_of_cgroup(void)
{
	struct eventlog_rule rule = rule_request(NULL, "scarce");

	/* This kernel has no cgroup2. */
	if (made.cgroup < 0)
		return 0;
	rule.flags = EVENTLOG_RULE_CGROUP;
	rule.cgroup = made.cgroup;
	return add_and_delete(&rule);
}

static int call_flush(void)
{
	struct eventlog_flush request = { .size = sizeof(request) };

	return ioctl(made.consumer.fd, EVENTLOG_IOC_FLUSH, &request);
}

static int call_stat(void)
{
	struct eventlog_stat request = { .size = sizeof(request), .ring = EVENTLOG_RINGS_ALL };

	return ioctl(made.consumer.fd, EVENTLOG_IOC_STAT, &request);
}

static int call_describe(void)
{
	struct eventlog_describe request = {
		.size = sizeof(request), .descriptor = made.descriptor,
		.text = PTR(made.text), .text_size = sizeof(made.text),
	};

	return ioctl(made.producer, EVENTLOG_IOC_DESCRIBE, &request);
}

static int call_list(int fd, __u32 kind)
{
	struct eventlog_list request = list_request(kind, made.text, sizeof(made.text));

	return ioctl(fd, EVENTLOG_IOC_LIST, &request);
}

static int call_definitions(void)
{
	return call_list(made.producer, EVENTLOG_LIST_DEFINITIONS);
}

static int call_names(void)
{
	return call_list(made.consumer.fd, EVENTLOG_LIST_NAMES);
}

/* The witness writes after each call, so the rings must not stay paused. */
static int call_pause(void)
{
	struct eventlog_pause request = { .size = sizeof(request), .paused = 1 };

	if (ioctl(made.consumer.fd, EVENTLOG_IOC_PAUSE, &request))
		return -1;
	request.paused = 0;
	return fail_undo(made.consumer.fd, EVENTLOG_IOC_PAUSE, &request);
}

static int call_markers(void)
{
	return call_list(made.producer, EVENTLOG_LIST_MARKERS);
}

static int call_instances(void)
{
	return call_list(made.producer, EVENTLOG_LIST_INSTANCES);
}

static int call_policies(void)
{
	return call_list(made.producer, EVENTLOG_LIST_POLICIES);
}

static int call_registrations(void)
{
	return call_list(made.producer, EVENTLOG_LIST_REGISTRATIONS);
}

/* Switches handlers on and off. */
static int set_and_reset(struct eventlog_marker_set *request)
{
	int error;

	if (ioctl(made.producer, EVENTLOG_IOC_MARKER_SET, request))
		return -1;
	request->filter = 0;
	request->operation = EVENTLOG_MARKER_OP_REMOVE;
	if (!ioctl(made.producer, EVENTLOG_IOC_MARKER_SET, request))
		return 0;
	error = errno;
	CHECK_OK(ioctl(made.producer, EVENTLOG_IOC_MARKER_SET, request));
	errno = error;
	return -1;
}

static int call_marker_set(void)
{
	struct eventlog_marker_set request = {
		.size = sizeof(request), .owner = PTR(EXAMPLE), .filter = PTR(&made.filter.filter),
		.handlers = EVENTLOG_MARKER_PRINT, .operation = EVENTLOG_MARKER_OP_ADD,
	};

	/* Without jump labels there are no markers. */
	if (made.no_markers)
		return 0;
	return set_and_reset(&request);
}

/* A policy stays until the one that removes its handler makes it superfluous. */
static int call_policy(void)
{
	struct eventlog_marker_set request = {
		.size = sizeof(request), .flags = EVENTLOG_MARKER_SET_PROGRAMS,
		.owner = PTR("scarce"), .marker = PTR("scarce"),
		.filter = PTR(&made.filter.filter), .handlers = EVENTLOG_MARKER_PROBE,
		.operation = EVENTLOG_MARKER_OP_ADD,
	};

	return set_and_reset(&request);
}

static int call_filter_get(void)
{
	struct eventlog_filter_get request = {
		.size = sizeof(request), .write_index = made.program_index,
		.term_size = sizeof(struct eventlog_term), .terms = PTR(made.text),
		.terms_size = 2048, .pool = PTR(made.text + 2048), .pool_size = 2048,
	};

	return ioctl(made.producer, EVENTLOG_IOC_FILTER_GET, &request);
}

static int call_marker_handlers(void)
{
	struct eventlog_marker_handlers request = {
		.size = sizeof(request), .write_index = made.program_index,
	};

	return ioctl(made.producer, EVENTLOG_IOC_MARKER_HANDLERS, &request);
}

static int call_incompatible(void)
{
	struct eventlog_filter_get request = {
		.size = sizeof(request), .write_index = made.program_index,
		.flags = EVENTLOG_FILTER_GET_INCOMPATIBLE, .version = made.filter_version,
	};

	return ioctl(made.producer, EVENTLOG_IOC_FILTER_GET, &request);
}

static int call_leave(void)
{
	struct eventlog_leave request = {
		.size = sizeof(request),
		.flags = EVENTLOG_LEAVE_PRODUCERS | EVENTLOG_LEAVE_SUBSCRIBERS,
	};
	int fd = open_file(), result = -1;

	if (fd < 0)
		return -1;
	if (!ioctl(fd, EVENTLOG_IOC_LEAVE, &request)) {
		request.flags = 0;
		result = ioctl(fd, EVENTLOG_IOC_LEAVE, &request);
	}
	close(fd);
	return result;
}

static int call_map_ring(void)
{
	struct eventlog_subscribe request = subscribe_request(2 * page_size());
	int fd = open_file(), result = -1;
	void *address;

	if (fd < 0)
		return -1;
	if (!ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request)) {
		address = mmap(NULL, request.ring_stride, PROT_READ, MAP_SHARED, fd,
			       request.ring_offset);
		if (address != MAP_FAILED)
			result = munmap(address, request.ring_stride);
	}
	close(fd);
	return result;
}

static int call_map_status(void)
{
	struct eventlog_register request = register_request("scarce u32 value");
	int fd = open_file(), result = -1;
	void *address;

	if (fd < 0)
		return -1;
	if (!ioctl(fd, EVENTLOG_IOC_REGISTER, &request)) {
		address = mmap(NULL, request.map_size, PROT_READ, MAP_SHARED, fd, 0);
		if (address != MAP_FAILED)
			result = munmap(address, request.map_size);
	}
	close(fd);
	return result;
}

/* Gets a producer ring, maps it, and ends it. */
static int call_attach(void)
{
	struct eventlog_register event = register_request("scarce u32 value");
	struct eventlog_attach attach = attach_request(mapped_least_bytes());
	int fd = open_file(), result = -1;
	void *address;

	if (fd < 0)
		return -1;
	if (!ioctl(fd, EVENTLOG_IOC_REGISTER, &event) && !ioctl(fd, EVENTLOG_IOC_ATTACH, &attach)) {
		address = try_map(fd, &attach);
		if (address != MAP_FAILED)
			result = munmap(address, attach.length);
	}
	close(fd);
	return result;
}

static int call_take_over(void)
{
	struct eventlog_attach attach = attach_request(0);

	attach.ring = made.ring.attach.ring;
	return ioctl(made.producer, EVENTLOG_IOC_ATTACH, &attach);
}

static int call_detach(void)
{
	struct eventlog_attach attach = attach_request(mapped_least_bytes());
	struct eventlog_detach detach = { .size = sizeof(detach) };

	if (ioctl(made.producer, EVENTLOG_IOC_ATTACH, &attach))
		return -1;
	detach.ring = attach.ring;
	return fail_undo(made.producer, EVENTLOG_IOC_DETACH, &detach);
}

static int call_poll(void)
{
	struct pollfd request = { made.consumer.fd, POLLIN, 0 };

	return poll(&request, 1, 0) < 0 ? -1 : 0;
}

static int call_read(void)
{
	int fd = open_file(), result;

	if (fd < 0)
		return -1;
	result = read(fd, made.text, sizeof(made.text)) < 0 ? -1 : 0;
	close(fd);
	return result;
}

static const struct fail_call calls[] = {
	{ "open", call_open }, { "INFO", call_info }, { "REGISTER", call_register },
	{ "REGISTER with a schema", call_register_schema },
	{ "REGISTER again", call_register_again }, { "UNREGISTER", call_unregister },
	{ "DELETE", call_delete },
	{ "SUBSCRIBE", call_subscribe }, { "SUBSCRIBE, overwrite", call_subscribe_overwrite },
	{ "SUBSCRIBE, mapped", call_subscribe_mapped },
	{ "RULE_ADD", call_rule }, { "RULE_ADD of a session", call_rule_of_session },
	{ "RULE_ADD of a cgroup", call_rule_of_cgroup },
	{ "FLUSH", call_flush }, { "STAT", call_stat },
	{ "DESCRIBE", call_describe }, { "LIST of definitions", call_definitions },
	{ "PAUSE", call_pause }, { "LIST of names", call_names },
	{ "LIST of instances", call_instances },
	{ "LIST of markers", call_markers }, { "MARKER_SET", call_marker_set },
	{ "MARKER_SET of programs", call_policy }, { "LIST of policies", call_policies },
	{ "FILTER_GET", call_filter_get }, { "FILTER_GET, incompatible", call_incompatible },
	{ "MARKER_HANDLERS", call_marker_handlers },
	{ "LIST of registrations", call_registrations }, { "LEAVE", call_leave },
	{ "mmap of a ring", call_map_ring },
	{ "mmap of the status map", call_map_status }, { "ATTACH", call_attach },
	{ "ATTACH to take over", call_take_over }, { "DETACH", call_detach },
	{ "poll", call_poll },
	{ "read", call_read },
};

/* Makes what the calls use. */
static void make(void)
{
	static const struct filter_term term = {
		"value", EVENTLOG_TERM_NUMBER, .operation = EVENTLOG_TERM_OP_EQUAL, .number = 1,
	};
	struct eventlog_marker_set policy = {
		.size = sizeof(policy), .flags = EVENTLOG_MARKER_SET_PROGRAMS,
		.owner = PTR("scarce_kept"),
		.filter = filter_fill(&made.filter, &term, 1, "value == 1"),
		.handlers = EVENTLOG_MARKER_PROBE,
	};
	struct eventlog_filter_get filter_get = {
		.size = sizeof(filter_get), .term_size = sizeof(struct eventlog_term),
		.terms = PTR(made.text), .terms_size = 2048, .pool = PTR(made.text + 2048),
		.pool_size = 2048,
	};
	struct eventlog_register event;

	made.no_markers = user_mode_linux();
	made.cgroup = open("/sys/fs/cgroup/cgroup.controllers", O_RDONLY | O_CLOEXEC);
	if (made.cgroup >= 0) {
		close(made.cgroup);
		made.cgroup = CHECK_OK(open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	}
	made.producer = device_open();
	event = register_event(made.producer, "scarce u32 value");
	made.index = event.write_index;
	made.descriptor = event.descriptor;
	event = register_request("scarce_session u32 value");
	event.flags = EVENTLOG_REGISTER_SESSION;
	register_with(made.producer, &event);
	made.session_index = event.write_index;
	event = register_request("scarce u32 value");
	event.provider = PTR(EVENTLOG_PROGRAM_PREFIX "scarce_kept");
	register_with(made.producer, &event);
	made.program_index = event.write_index;
	CHECK_OK(ioctl(made.producer, EVENTLOG_IOC_MARKER_SET, &policy));
	filter_get.write_index = made.program_index;
	CHECK_OK(ioctl(made.producer, EVENTLOG_IOC_FILTER_GET, &filter_get));
	made.filter_version = filter_get.version;
	mapped_attach(&made.ring, made.producer, mapped_least_bytes());
	mapped_consumer_open(&made.consumer, 16 * page_size());
	rule_add(made.consumer.fd, NULL, "scarce*");
}

static void ring_put(void)
{
	const struct eventlog_mapped_record record = {
		.write_index = made.index, .time = mapped_time(&made.ring),
	};

	CHECK(mapped_put(&made.ring, record, "1234", 4));
}

/* A correct producer and its subscriber work. */
static void check_witness(void)
{
	CHECK_EQ(emit(made.producer, made.index, "1234", 4), 8);
	ring_put();
	CHECK_EQ(mapped_kick(&made.ring), 8);
	CHECK_EQ(consumer_skip(&made.consumer), 2);
}

static void unmake(void)
{
	mapped_unmap(&made.ring);
	consumer_close(&made.consumer);
	close(made.producer);
	if (made.cgroup >= 0)
		close(made.cgroup);
}

TEST(calls)
{
	unsigned int i;

	fail_prepare();
	/* A case that failed has left it loaded. */
	module_unload(EXAMPLE);
	CHECK_OK(module_load(EXAMPLE));
	make();
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		fail_each(&calls[i], &made.producer, 1, check_witness);
	unmake();
	CHECK_OK(module_unload(EXAMPLE));
	check_working();
}

/* The first producer, registration of a file, and of 64 definitions needs a node of a tree. */
TEST(tree_nodes)
{
	unsigned int i, failed = 0;
	char command[32];

	fail_prepare();
	fail_tree_nodes(true);
	CHECK_ERRNO(call_register(), ENOMEM);
	fail_tree_nodes(false);
	make();
	fail_tree_nodes(true);
	CHECK_ERRNO(call_register(), ENOMEM);
	for (i = 0; i < 64; i++) {
		sprintf(command, "scarce_%u u32 value", i);
		if (!try_register(made.producer, command))
			continue;
		CHECK_EQ(errno, ENOMEM);
		failed++;
	}
	fail_tree_nodes(false);
	CHECK(failed);
	check_witness();
	for (i = 0; i < failed; i++) {
		sprintf(command, "scarce_%u u32 value", 63 - i);
		CHECK_OK(try_register(made.producer, command));
	}
	unmake();
	check_working();
}

/* ------------------------------------------------------------------------
 * What only removes something succeeds without memory for smaller arrays
 */
static unsigned int removal_failure;

static void remove_rule(int fd, __u32 id)
{
	int result, error;

	CHECK(fail_at(removal_failure));
	result = try_rule_delete(fd, id);
	error = errno;
	fail_at(0);
	/* The request could not be read. */
	if (result) {
		CHECK_EQ(error, EFAULT);
		CHECK_OK(try_rule_delete(fd, id));
	}
}

/* Emits events of the sessions 1 to 4; those arrive whose bits are set. */
static void check_sessions(unsigned int expected)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		ssize_t written = emit_session(made.producer, made.session_index, i + 1, "1234", 4);

		/* Without any rule the event is disabled. */
		CHECK(written > 0 || (!expected && errno == EBADF));
		CHECK_EQ(consumer_skip(&made.consumer), expected >> i & 1);
	}
}

static __u32 session_rule(int fd, __u64 session)
{
	struct eventlog_rule request = rule_request(NULL, NULL);

	request.flags = EVENTLOG_RULE_SESSION;
	request.session = session;
	return rule_add_with(fd, &request);
}

/* Closes a subscriber while the others are listed and get events. */
static void close_other(int fd, unsigned int expected)
{
	char *status;

	CHECK(fail_at(removal_failure));
	close(fd);
	fail_at(0);
	check_sessions(expected);
	status = status_read();
	CHECK(status && strstr(status, "scarce_session"));
	free(status);
}

static int subscribe_other(void)
{
	struct eventlog_subscribe request = subscribe_request(16 * page_size());
	int fd = device_open();

	CHECK_OK(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request));
	return fd;
}

TEST(removals)
{
	struct eventlog_register event = register_request("scarce_session u32 value");
	__u32 plain, ids[3];
	int others[2], i;

	fail_prepare();
	made.producer = device_open();
	event.flags = EVENTLOG_REGISTER_SESSION;
	register_with(made.producer, &event);
	made.session_index = event.write_index;
	consumer_open(&made.consumer, 16 * page_size());
	for (removal_failure = 1; removal_failure <= 12; removal_failure++) {
		test_note("failure %u", removal_failure);
		plain = rule_add(made.consumer.fd, NULL, NULL);
		for (i = 0; i < 3; i++)
			ids[i] = session_rule(made.consumer.fd, i + 1);
		others[0] = subscribe_other();
		rule_add(others[0], NULL, NULL);
		others[1] = subscribe_other();
		session_rule(others[1], 4);
		check_sessions(0xf);
		/* The conditions of the other rules are tested again. */
		remove_rule(made.consumer.fd, plain);
		check_sessions(0x7);
		remove_rule(made.consumer.fd, ids[1]);
		check_sessions(0x5);
		close_other(others[0], 0x5);
		remove_rule(made.consumer.fd, ids[0]);
		check_sessions(0x4);
		close_other(others[1], 0x4);
		remove_rule(made.consumer.fd, ids[2]);
		check_sessions(0);
		CHECK_EQ(info_of(made.producer).enabled, 0);
	}
	consumer_close(&made.consumer);
	close(made.producer);
}

/* A write is in the ring if it succeeds, even if something in it failed; otherwise not. */
static void fail_each_write(__u32 index, bool session, size_t bytes)
{
	unsigned int number;

	for (number = 1; number < FAILURES_MAX; number++) {
		ssize_t written;
		bool injected;
		int error;

		test_note("payload of %zu bytes, failure %u", bytes, number);
		CHECK(fail_at(number));
		written = session ? emit_session(made.producer, index, 1, made.payload, bytes) :
			  emit(made.producer, index, made.payload, bytes);
		error = errno;
		injected = failed_by_injection();
		CHECK(written > 0 || (injected && (error == ENOMEM || error == EFAULT)));
		CHECK_EQ(consumer_skip(&made.consumer), written > 0);
		if (!injected)
			break;
	}
	CHECK(number > 1 && number < FAILURES_MAX);
}

TEST(writes)
{
	fail_prepare();
	make();
	fail_each_write(made.index, false, 4);
	fail_each_write(made.session_index, true, 4);
	/* Too large for the stack: copied to allocated memory. */
	fail_each_write(made.index, false, sizeof(made.payload));
	unmake();
}

/* The ring's records are delivered once, whatever fails; the message, if write() succeeds. */
TEST(kicks)
{
	unsigned int number;

	fail_prepare();
	make();
	for (number = 1; number < FAILURES_MAX; number++) {
		ssize_t written;
		bool injected;
		int error;

		test_note("failure %u", number);
		ring_put();
		CHECK(fail_at(number));
		written = mapped_kick_with(&made.ring, made.index, "1234", 4);
		error = errno;
		injected = failed_by_injection();
		CHECK(written == 16 || (injected && (error == ENOMEM || error == EFAULT)));
		CHECK_EQ(mapped_kick(&made.ring), 8);
		CHECK_EQ(consumer_skip(&made.consumer), 1 + (written == 16));
		if (!injected)
			break;
	}
	CHECK(number > 1 && number < FAILURES_MAX);
	unmake();
}

/* The session of a thread without a ring. */
TEST(sessions)
{
	unsigned int number;

	fail_prepare();
	for (number = 1; number < FAILURES_MAX; number++) {
		int fd = device_open(), error;
		ssize_t written;
		bool injected;

		register_event(fd, "scarce u32 value");
		test_note("failure %u", number);
		CHECK(fail_at(number));
		written = session_write(fd, 1, 1);
		error = errno;
		injected = failed_by_injection();
		CHECK(written == 16 || (injected && (error == ENOMEM || error == EFAULT)));
		CHECK_EQ(session_write(fd, 1, 2), 16);
		close(fd);
		if (!injected)
			break;
	}
	CHECK(number > 1 && number < FAILURES_MAX);
}

/* Events are counted as lost only if MISSED succeeds. */
TEST(missed)
{
	struct eventlog_missed request = { .size = sizeof(request), .count = 1 };
	unsigned int number;
	bool injected = true;

	fail_prepare();
	make();
	request.write_index = made.index;
	for (number = 1; injected; number++) {
		const __u64 before = stat_event_lost(made.consumer.fd, made.descriptor);
		int result;

		test_note("failure %u", number);
		CHECK(fail_at(number));
		result = ioctl(made.producer, EVENTLOG_IOC_MISSED, &request);
		injected = failed_by_injection();
		CHECK(!result || (injected && errno == EFAULT));
		CHECK_EQ(stat_event_lost(made.consumer.fd, made.descriptor), before + !result);
	}
	CHECK(number > 3);
	unmake();
}

/* Of a batch whose write fails or stops, no event is lost, and none is delivered twice. */
TEST(batches)
{
	struct {
		__u32 batch;
		struct {
			__u32 bytes, index, value;
		} events[4];
	} message = { EVENTLOG_WRITE_BATCH, {} };
	unsigned int number, i;
	bool injected = true;

	fail_prepare();
	make();
	for (i = 0; i < ARRAY_SIZE(message.events); i++) {
		message.events[i].bytes = 8;
		message.events[i].index = made.index;
	}
	for (number = 1; injected; number++) {
		ssize_t written;

		test_note("failure %u", number);
		CHECK(fail_at(number));
		written = write(made.producer, &message, sizeof(message));
		injected = failed_by_injection();
		CHECK(written > 0 || (injected && fail_error(errno)));
		CHECK_EQ(consumer_skip(&made.consumer),
			 written < 0 ? 0 : (written - 4) / sizeof(message.events[0]));
		CHECK(injected || written == sizeof(message));
	}
	CHECK(number > 3);
	unmake();
}
