// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failing allocations and accesses to user memory in calls that make, use and delete instances,
 * as fail_test does for the root.  Neither the root nor the instance keeps anything of a call that
 * fails.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail_common.h"
#include "hostile_common.h"
#include "instance_common.h"
#include "mapped_common.h"

#define NAME "scarce"

/* Made before failures are injected: an instance, and in it a producer and its subscriber. */
static struct {
	bool traced;		/* instances can have trace events */
	int root;
	int instance;		/* a producer of the instance "kept" */
	__u32 id;
	__u32 index;
	struct consumer consumer;
	struct mapped ring;
	struct filter filter;
	char text[4096];
} made;

/* ------------------------------------------------------------------------
 * Calls.  Each returns 0, or a negative number and errno.
 */

/* Deletes an instance whose file is closed. */
static int end_instance(const struct eventlog_instance_create *created)
{
	struct eventlog_instance_delete request = { .size = sizeof(request), .id = created->id };

	close(created->fd);
	return fail_undo(made.root, EVENTLOG_IOC_INSTANCE_DELETE, &request);
}

static int call_create(void)
{
	struct eventlog_instance_create request = create_request(NAME);

	return try_create(made.root, &request) ? -1 : end_instance(&request);
}

static int call_create_limited(void)
{
	struct eventlog_instance_create request = create_request(NAME);
	unsigned int i;

	request.owner = 1000;
	request.group = 1000;
	request.mode = 0660;
	for (i = EVENTLOG_QUOTA_EVENTS; i <= EVENTLOG_QUOTA_RING_BYTES; i++) {
		if (i == EVENTLOG_QUOTA_TRACE_BYTES && !made.traced)
			continue;
		request.limits_set |= 1U << i;
		request.limits[i] = i < EVENTLOG_QUOTA_TRACE_BYTES ? 100 : 1 << 20;
	}
	if (made.traced)
		request.flags = EVENTLOG_INSTANCE_TRACE;
	return try_create(made.root, &request) ? -1 : end_instance(&request);
}

/* A file of an instance that was deleted: its definition and its ring stay until it is closed. */
static int call_use_deleted(void)
{
	struct eventlog_instance_create created = create_request(NAME);
	struct eventlog_instance_delete delete = { .size = sizeof(delete) };
	struct eventlog_register event = register_request("scarce u32 value");
	struct eventlog_info info = { .size = sizeof(info) };
	int result, error;

	if (try_create(made.root, &created))
		return -1;
	result = ioctl(created.fd, EVENTLOG_IOC_REGISTER, &event);
	error = errno;
	delete.id = created.id;
	if (fail_undo(made.root, EVENTLOG_IOC_INSTANCE_DELETE, &delete)) {
		result = -1;
		error = errno;
	}
	if (!result) {
		result = ioctl(created.fd, EVENTLOG_IOC_INFO, &info);
		error = errno;
	}
	close(created.fd);
	errno = error;
	return result;
}

static int call_open_by_root(void)
{
	int fd = try_open_instance(made.root, made.id);

	return fd < 0 ? -1 : close(fd);
}

static int call_open_by_file(void)
{
	int fd = try_open_instance(made.instance, 0);

	return fd < 0 ? -1 : close(fd);
}

static int call_open_node(void)
{
	int fd = open(EVENTLOG_DEVICE "-kept", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -1 : close(fd);
}

static int call_register(void)
{
	struct eventlog_register event = register_request("scarce_new u32 value; char[4] text");
	int fd = try_open_instance(made.instance, 0), result;

	if (fd < 0)
		return -1;
	result = ioctl(fd, EVENTLOG_IOC_REGISTER, &event);
	close(fd);
	return result;
}

/* The memory for the rule is the owner's. */
static int call_subscribe(void)
{
	struct eventlog_subscribe request = subscribe_request(2 * page_size());
	struct eventlog_rule rule = rule_request("user*", "scarce*");
	int fd = try_open_instance(made.instance, 0), result;

	if (fd < 0)
		return -1;
	rule.filter = PTR(&made.filter.filter);
	request.flags = EVENTLOG_SUBSCRIBE_MAPPED;
	result = ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request);
	if (!result)
		result = ioctl(fd, EVENTLOG_IOC_RULE_ADD, &rule);
	close(fd);
	return result;
}

/* The definition is matched with the rule of the subscriber. */
static int call_attach(void)
{
	struct eventlog_register event = register_request("scarce u32 value");
	struct eventlog_attach attach = attach_request(mapped_least_bytes());
	int fd = try_open_instance(made.instance, 0), result;
	void *address;

	if (fd < 0)
		return -1;
	result = ioctl(fd, EVENTLOG_IOC_REGISTER, &event);
	if (!result)
		result = ioctl(fd, EVENTLOG_IOC_ATTACH, &attach);
	if (!result) {
		address = try_map(fd, &attach);
		result = address == MAP_FAILED ? -1 : munmap(address, attach.length);
	}
	close(fd);
	return result;
}

static int call_policy(void)
{
	struct eventlog_marker_set request = {
		.size = sizeof(request), .flags = EVENTLOG_MARKER_SET_PROGRAMS,
		.owner = PTR("scarce"), .marker = PTR("scarce"),
		.filter = PTR(&made.filter.filter), .handlers = EVENTLOG_MARKER_PROBE,
		.operation = EVENTLOG_MARKER_OP_ADD,
	};
	int error;

	if (ioctl(made.instance, EVENTLOG_IOC_MARKER_SET, &request))
		return -1;
	request.filter = 0;
	request.operation = EVENTLOG_MARKER_OP_REMOVE;
	if (!ioctl(made.instance, EVENTLOG_IOC_MARKER_SET, &request))
		return 0;
	error = errno;
	CHECK_OK(ioctl(made.instance, EVENTLOG_IOC_MARKER_SET, &request));
	errno = error;
	return -1;
}

static int list(int fd, __u32 kind)
{
	struct eventlog_list request = list_request(kind, made.text, sizeof(made.text));

	return ioctl(fd, EVENTLOG_IOC_LIST, &request);
}

static int call_list_by_root(void)
{
	return list(made.root, EVENTLOG_LIST_INSTANCES);
}

static int call_list_by_file(void)
{
	return list(made.instance, EVENTLOG_LIST_INSTANCES);
}

static int call_definitions(void)
{
	return list(made.instance, EVENTLOG_LIST_DEFINITIONS);
}

static const struct fail_call calls[] = {
	{ "INSTANCE_CREATE and _DELETE", call_create },
	{ "INSTANCE_CREATE with limits", call_create_limited },
	{ "REGISTER and INSTANCE_DELETE", call_use_deleted },
	{ "INSTANCE_OPEN by the root", call_open_by_root },
	{ "INSTANCE_OPEN by a file", call_open_by_file },
	{ "open of the node", call_open_node },
	{ "REGISTER", call_register }, { "SUBSCRIBE and RULE_ADD", call_subscribe },
	{ "ATTACH and mmap", call_attach }, { "MARKER_SET", call_policy },
	{ "LIST of instances by the root", call_list_by_root },
	{ "LIST of instances by a file", call_list_by_file },
	{ "LIST of definitions", call_definitions },
};

static void make(void)
{
	static const struct filter_term term = {
		"value", EVENTLOG_TERM_NUMBER, .operation = EVENTLOG_TERM_OP_EQUAL, .number = 1,
	};
	struct eventlog_subscribe subscribe = subscribe_request(16 * page_size());

	filter_fill(&made.filter, &term, 1, "value == 1");
	made.traced = trace_events_exist();
	made.root = device_open();
	made.instance = create("kept", &made.id);
	made.index = register_event(made.instance, "scarce u32 value").write_index;
	mapped_attach(&made.ring, made.instance, mapped_least_bytes());
	subscribe.flags = EVENTLOG_SUBSCRIBE_MAPPED;
	consumer_open_file(&made.consumer, open_instance(made.instance), &subscribe);
	rule_add(made.consumer.fd, NULL, "scarce*");
}

/* The instance that stays works, and there is no node of another one. */
static void check_witness(void)
{
	CHECK_EQ(emit(made.instance, made.index, "1234", 4), 8);
	CHECK(mapped_put(&made.ring, (struct eventlog_mapped_record){
				 .write_index = made.index, .time = mapped_time(&made.ring),
			 }, "1234", 4));
	CHECK_EQ(mapped_kick(&made.ring), 8);
	CHECK_EQ(consumer_skip(&made.consumer), 2);
	WAIT_FOR(access(EVENTLOG_DEVICE "-" NAME, F_OK));
}

/* The first of a module needs nodes of trees. */
TEST(first_instance)
{
	struct eventlog_instance_create request = create_request(NAME);
	int fd = device_open();

	fail_prepare();
	fail_tree_nodes(true);
	CHECK_ERRNO(try_create(fd, &request), ENOMEM);
	fail_tree_nodes(false);
	CHECK_EQ(list_count(fd, EVENTLOG_LIST_INSTANCES), 0);
	close(create_with(&request, &made.id));
	delete_instance(made.id);
	close(fd);
}

TEST(calls)
{
	unsigned int i;

	fail_prepare();
	make();
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		fail_each(&calls[i], (int []){ made.root, made.instance }, 2, check_witness);
	mapped_unmap(&made.ring);
	consumer_close(&made.consumer);
	close(made.instance);
	delete_instance(made.id);
	close(made.root);
	check_working();
}
