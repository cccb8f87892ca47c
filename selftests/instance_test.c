// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of instances: bad requests, device nodes, owners, limits, and two instances that
 * neither see nor disturb each other or the root; deletion while producers and subscribers
 * use the instance.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "instance_common.h"
#include "mapped_common.h"
#include "module_common.h"
#include "system_common.h"

#define RING_BYTES 65536

/* An instance and its name. */
struct listed {
	struct eventlog_instance_info info;
	char name[EVENTLOG_INSTANCE_NAME_MAX];
};

/* Gets the instance after @id; returns 1, 0 if there is none, or as ioctl(2). */
static int next_instance(int fd, __u32 id, struct listed *next)
{
	struct eventlog_list list = list_request(EVENTLOG_LIST_INSTANCES, next, sizeof(*next));
	int ret;

	list.cursor = id;
	ret = ioctl(fd, EVENTLOG_IOC_LIST, &list);
	return ret ? ret : (int)list.count;
}

/* Number of instances, all of which are deleted if @remove. */
static unsigned int count_instances(bool remove)
{
	unsigned int count = 0;
	int fd = device_open();
	struct listed next;
	__u32 id = 0;

	while (CHECK_OK(next_instance(fd, id, &next))) {
		CHECK(next.info.id > id);
		id = next.info.id;
		count++;
		if (remove)
			CHECK_OK(try_delete_instance(fd, id));
	}
	close(fd);
	return count;
}

static void subscribe_all(struct consumer *consumer, int fd)
{
	struct eventlog_subscribe request = subscribe_request(RING_BYTES);

	consumer_open_file(consumer, fd, &request);
	rule_add(consumer->fd, NULL, NULL);
}

TEST(bad_requests)
{
	static const char *const names[] = {
		"", "a/b", "-a", ".a", "_a", "a b", "a!", "a\n", "\xc3\xa4", "..",
	};
	char name[EVENTLOG_INSTANCE_NAME_MAX + 1];
	struct eventlog_instance_create request;
	int fd = device_open();
	unsigned int i;

	CHECK(info_of(fd).features & EVENTLOG_FEATURE_INSTANCES);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		test_note("name '%s'", names[i]);
		request = create_request(names[i]);
		CHECK_ERRNO(try_create(fd, &request), EINVAL);
	}
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	request = create_request(name);
	CHECK_ERRNO(try_create(fd, &request), EINVAL);
	request = create_request(NULL);
	CHECK_ERRNO(try_create(fd, &request), EFAULT);

	test_note("members");
#define REFUSE(member, value)							\
	do {									\
		request = create_request("bad");				\
		request.member = (value);					\
		CHECK_ERRNO(try_create(fd, &request), EINVAL);			\
	} while (0)
	REFUSE(flags, EVENTLOG_INSTANCE_TRACE << 1);
	REFUSE(mode, 0);
	REFUSE(mode, 01600);
	REFUSE(owner, -1);
	REFUSE(group, -1);
	for (i = 0; i < 32; i++)
		REFUSE(limits_set, 1U << i);
	for (i = 0; i < EVENTLOG_QUOTAS_MAX; i++)
		REFUSE(limits[i], 1);
#undef REFUSE
#define REFUSE_LIMIT(quota, value)						\
	do {									\
		request = create_request("bad");				\
		request.limits_set = 1 << (quota);				\
		request.limits[quota] = (value);				\
		CHECK_ERRNO(try_create(fd, &request), EINVAL);			\
	} while (0)
	REFUSE_LIMIT(EVENTLOG_QUOTA_EVENTS, info_of(fd).events_max + 1);
	REFUSE_LIMIT(EVENTLOG_QUOTA_DEFINITIONS, 1ULL << 32);
	REFUSE_LIMIT(EVENTLOG_QUOTA_REGISTRATIONS, ~0ULL);
	REFUSE_LIMIT(EVENTLOG_QUOTA_TRACE_BYTES, 1);
	REFUSE_LIMIT(EVENTLOG_QUOTA_RING_BYTES, 1ULL << 63);
	REFUSE_LIMIT(EVENTLOG_QUOTAS, 1);
#undef REFUSE_LIMIT
	CHECK_ERRNO(try_delete_instance(fd, 0), ENOENT);
	CHECK_ERRNO(try_delete_instance(fd, ~0U), ENOENT);
	CHECK_ERRNO(try_open_instance(fd, 1), ENOENT);
	CHECK_EQ(count_instances(false), 0);
	close(fd);
}

/* Results that cannot be copied out leave nothing behind. */
TEST(results_not_writable)
{
	struct eventlog_instance_create *request = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
							MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = device_open(), next;

	CHECK(request != MAP_FAILED);
	*request = create_request("lost");
	CHECK_OK(mprotect(request, page_size(), PROT_READ));
	CHECK_ERRNO(try_create(fd, request), EFAULT);
	CHECK_EQ(count_instances(false), 0);
	CHECK_ERRNO(access("/dev/eventlog-lost", F_OK), ENOENT);
	/* The descriptor was not used. */
	next = CHECK_OK(dup(fd));
	CHECK_EQ(next, fd + 1);
	close(next);
	close(fd);
	munmap(request, page_size());
}

static void refused_to_manage(void)
{
	struct eventlog_instance_create request = create_request("mine");
	struct listed next;
	int fd;

	CHECK_OK(fd = device_open());
	CHECK_ERRNO(try_create(fd, &request), EPERM);
	CHECK_ERRNO(try_delete_instance(fd, 1), EPERM);
	CHECK_ERRNO(next_instance(fd, 0, &next), EPERM);
	CHECK_ERRNO(try_open_instance(fd, 1), EPERM);
	close(fd);
}

/* Who has a file of the root gets more of them, with rights of its own. */
static int root_file;

static void gets_file_of_root(void)
{
	struct eventlog_subscribe setup = subscribe_request(0);
	int fd;

	fd = open_instance(root_file);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &setup), EPERM);
	CHECK_OK(try_register(fd, "worker u32 value"));
	CHECK_EQ(info_of(fd).instance, 0);
	CHECK_EQ(info_of(fd).restricted, 1);
	close(fd);
}

TEST(file_of_root)
{
	int fd;

	root_file = device_open();
	fd = open_instance(root_file);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(root_file);
	root_file = fd;
	as_user(OTHER, gets_file_of_root);
	close(root_file);
	root_file = CHECK_OK(open("/dev/eventlog", O_RDONLY));
	CHECK_ERRNO(try_open_instance(root_file, 0), EBADF);
	close(root_file);
}

TEST(no_capability)
{
	pid_t child = test_fork();
	struct eventlog_instance_create request = create_request("mine");
	int fd;

	if (!child) {
		capabilities_keep(CAPABILITY_ALL & ~(CAPABILITY_SYS_ADMIN | CAPABILITY_PERFMON));
		refused_to_manage();
		_exit(0);
	}
	test_join(child);
	child = test_fork();
	if (!child) {
		capabilities_keep(CAPABILITY_ALL & ~CAPABILITY_SYS_ADMIN);
		fd = device_open();
		CHECK_ERRNO(try_create(fd, &request), EPERM);
		CHECK_ERRNO(try_delete_instance(fd, 1), EPERM);
		CHECK_ERRNO(try_open_instance(fd, 1), ENOENT);
		_exit(0);
	}
	test_join(child);
}

TEST(node)
{
	struct eventlog_instance_create request = create_request("web-1.a_B");
	struct eventlog_list list;
	struct listed next;
	static const char device[] = "/dev/eventlog-web-1.a_B", copy[] = "/dev/eventlog_copy";
	struct stat status;
	__u32 id, other;
	int fd, root;

	request.owner = USER;
	request.group = OTHER;
	request.mode = 0640;
	fd = create_with(&request, &id);
	CHECK_OK(stat(device, &status));
	CHECK(S_ISCHR(status.st_mode));
	CHECK_EQ(status.st_mode & 07777, 0640);
	CHECK_EQ(status.st_uid, USER);
	CHECK_EQ(status.st_gid, OTHER);
	root = device_open();
	CHECK_ERRNO(try_create(root, &request), EEXIST);
	CHECK_EQ(next_instance(root, 0, &next), 1);
	CHECK(!strcmp(next.name, "web-1.a_B"));
	CHECK_EQ(next.info.text_offset, sizeof(next.info));
	CHECK_EQ(next.info.id, id);
	CHECK_EQ(next.info.owner, USER);
	CHECK_EQ(next.info.group, OTHER);
	CHECK_EQ(next.info.mode, 0640);
	CHECK_EQ(next.info.files, 1);
	CHECK_EQ(next_instance(root, id, &next), 0);
	list = list_request(EVENTLOG_LIST_INSTANCES, &next, sizeof(next.info) + 8);
	CHECK_ERRNO(ioctl(root, EVENTLOG_IOC_LIST, &list), EMSGSIZE);
	CHECK_EQ(list.buffer_size, sizeof(next.info) + 16);

	/* A node that someone has copied outlives the instance. */
	unlink(copy);
	CHECK_OK(mknod(copy, S_IFCHR | 0600, status.st_rdev));
	close(fd);
	fd = CHECK_OK(open(device, O_RDWR));
	close(fd);
	CHECK_OK(try_delete_instance(root, id));
	CHECK_ERRNO(access(device, F_OK), ENOENT);
	CHECK_ERRNO(open(copy, O_RDWR), ENODEV);
	CHECK_ERRNO(try_delete_instance(root, id), ENOENT);

	/* The name is free, and neither the id nor the device number is used again. */
	fd = create_with(&request, &other);
	CHECK(other > id);
	CHECK_ERRNO(open(copy, O_RDWR), ENODEV);
	CHECK_OK(unlink(copy));
	CHECK_OK(try_delete_instance(root, other));
	close(fd);
	close(root);
}

/* Two instances and the root have the same names, and see only their own. */
TEST(neighbours)
{
	const char *const names[] = { "one", "two", NULL };
	struct eventlog_register registrations[3];
	struct consumer consumers[3];
	struct record record;
	__u32 ids[3] = { 0 }, value;
	int fds[3], i, j;

	for (i = 0; i < 3; i++) {
		fds[i] = names[i] ? create(names[i], &ids[i]) : device_open();
		subscribe_all(&consumers[i], names[i] ? open_instance(fds[i]) : device_open());
		registrations[i] = register_event(fds[i], "same u32 value");
	}
	for (i = 0; i < 3; i++) {
		value = i;
		CHECK_EQ(emit(fds[i], registrations[i].write_index, &value, sizeof(value)), 8);
	}
	for (i = 0; i < 3; i++) {
		struct eventlog_describe request = {
			.size = sizeof(request), .descriptor = registrations[i].descriptor,
		};
		char text[256];
		char *other;

		test_note("number %d", i);
		consumer_one(&consumers[i], &record);
		CHECK(!memcmp(record.payload, &(__u32){ i }, sizeof(__u32)));
		CHECK_EQ(record.header->descriptor, registrations[i].descriptor);
		request.text = PTR(text);
		request.text_size = sizeof(text);
		CHECK_OK(ioctl(consumers[i].fd, EVENTLOG_IOC_DESCRIBE, &request));
		CHECK_EQ(request.instance, ids[i]);
		CHECK_EQ(info_of(fds[i]).subscribers, 1);
		for (j = 0; j < 3; j++) {
			other = describe(consumers[i].fd, registrations[j].descriptor, NULL);
			CHECK_EQ(!other, i != j);
			free(other);
		}
		if (ids[i])
			CHECK_EQ(info_of(fds[i]).events, 1);
		if (ids[i])
			CHECK_EQ(info_of(fds[i]).providers, 0);
	}
	for (i = 0; i < 3; i++) {
		consumer_close(&consumers[i]);
		close(fds[i]);
		if (ids[i])
			delete_instance(ids[i]);
	}
}

static const char *shared_device;
static __u32 shared_id;

static void owner_uses(void)
{
	struct eventlog_instance_create request = create_request("of_owner");
	struct eventlog_subscribe setup = subscribe_request(0);
	struct eventlog_marker_set policy = {
		.size = sizeof(policy), .flags = EVENTLOG_MARKER_SET_PROGRAMS,
		.handlers = EVENTLOG_MARKER_PRINT,
	};
	struct eventlog_marker_set set = {
		.size = sizeof(set), .handlers = EVENTLOG_MARKER_PRINT,
	};
	struct listed next;
	struct consumer consumer;
	int fd, root = device_open();

	CHECK_ERRNO(ioctl(root, EVENTLOG_IOC_SUBSCRIBE, &setup), EPERM);
	CHECK_ERRNO(ioctl(root, EVENTLOG_IOC_MARKER_SET, &policy), EPERM);
	CHECK_ERRNO(next_instance(root, 0, &next), EPERM);
	CHECK_ERRNO(try_open_instance(root, shared_id), EPERM);
	fd = CHECK_OK(open(shared_device, O_RDWR));
	CHECK_EQ(info_of(fd).restricted, 0);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &policy));
	CHECK_EQ(info_of(fd).policies, 1);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &set), ENOENT);
	/* It sees this instance, and manages none. */
	CHECK_EQ(next_instance(fd, 0, &next), 1);
	CHECK_EQ(next.info.id, shared_id);
	CHECK_EQ(next_instance(fd, shared_id, &next), 0);
	CHECK_ERRNO(try_open_instance(fd, shared_id + 1), ENOENT);
	CHECK_ERRNO(try_create(fd, &request), EPERM);
	CHECK_ERRNO(try_delete_instance(fd, shared_id), EPERM);
	subscribe_all(&consumer, CHECK_OK(try_open_instance(fd, shared_id)));
	register_persistent(fd, "owned", "stays u32 value");
	close(fd);
	CHECK_OK(try_delete(consumer.fd, "owned", "stays"));
	consumer_close(&consumer);
	close(root);
}

static void other_uses(void)
{
	struct eventlog_subscribe setup = subscribe_request(0);
	struct eventlog_register request = register_request("other u32 value");
	int fd = CHECK_OK(open(shared_device, O_RDWR)), again;

	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &setup), EPERM);
	request.flags = EVENTLOG_REGISTER_PERSIST;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EPERM);
	CHECK_OK(try_register(fd, "other u32 value"));
	CHECK_EQ(info_of(fd).restricted, 1);
	/* A file that is made from another one has the rights of its maker. */
	again = open_instance(fd);
	CHECK_ERRNO(ioctl(again, EVENTLOG_IOC_SUBSCRIBE, &setup), EPERM);
	close(again);
	close(fd);
}

TEST(owner)
{
	struct eventlog_instance_create request = create_request("owned");
	__u32 other;
	int fd, root;

	load_open("");
	request.owner = USER;
	request.mode = 0666;
	fd = create_with(&request, &shared_id);
	shared_device = "/dev/eventlog-owned";
	close(create("neighbour", &other));
	as_user(USER, owner_uses);
	as_user(OTHER, other_uses);
	/* Managing is for files of the root. */
	CHECK_ERRNO(try_create(fd, &request), EPERM);
	CHECK_ERRNO(try_delete_instance(fd, shared_id), EPERM);
	root = CHECK_OK(open("/dev/eventlog-owned", O_RDONLY));
	CHECK_ERRNO(try_open_instance(root, 0), EBADF);
	close(root);
	close(fd);
	CHECK_EQ(count_instances(true), 2);
}

#define GROUP 1002

/* Opens a node with these ids and, for root, without the capabilities to trace. */
static void check_open(const char *path, uid_t uid, gid_t gid, int flags, int error)
{
	pid_t child = test_fork();

	if (!child) {
		if (!uid)
			capabilities_keep(CAPABILITY_ALL &
					  ~(CAPABILITY_SYS_ADMIN | CAPABILITY_PERFMON));
		else
			CHECK_OK(setresgid(gid, gid, gid));
		CHECK_OK(uid ? setresuid(uid, uid, uid) : 0);
		if (error)
			CHECK_ERRNO(open(path, flags), error);
		else
			CHECK_OK(open(path, flags));
		_exit(0);
	}
	test_join(child);
}

/* A node that someone has kept or made does not say who may open the instance. */
TEST(permissions_of_the_instance)
{
	struct eventlog_instance_create request = create_request("permitted");
	static const char copy[] = "/dev/eventlog_copy";
	struct stat status;
	__u32 id;

	request.owner = USER;
	request.group = GROUP;
	request.mode = 0640;
	close(create_with(&request, &id));
	CHECK_OK(stat("/dev/eventlog-permitted", &status));
	unlink(copy);
	CHECK_OK(mknod(copy, S_IFCHR, status.st_rdev));
	CHECK_OK(chmod(copy, 0666));
	check_open(copy, USER, USER, O_RDWR, 0);
	check_open(copy, OTHER, GROUP, O_RDONLY, 0);
	check_open(copy, OTHER, GROUP, O_RDWR, EACCES);
	check_open(copy, OTHER, OTHER, O_RDONLY, EACCES);
	check_open(copy, 0, 0, O_RDONLY, EACCES);
	close(CHECK_OK(open(copy, O_RDWR)));
	delete_instance(id);
	request.mode = 0602;
	close(create_with(&request, &id));
	CHECK_OK(stat("/dev/eventlog-permitted", &status));
	CHECK_OK(unlink(copy));
	CHECK_OK(mknod(copy, S_IFCHR, status.st_rdev));
	CHECK_OK(chmod(copy, 0666));
	check_open(copy, OTHER, OTHER, O_WRONLY, 0);
	check_open(copy, OTHER, OTHER, O_RDWR, EACCES);
	check_open(copy, OTHER, GROUP, O_WRONLY, EACCES);
	check_open(copy, 0, 0, O_WRONLY, 0);
	check_open(copy, 0, 0, O_RDWR, EACCES);
	/* The permissions of the node count as well. */
	CHECK_OK(chmod(copy, 0600));
	check_open(copy, OTHER, OTHER, O_WRONLY, EACCES);
	CHECK_OK(unlink(copy));
	delete_instance(id);
}

/* Neither ids nor device numbers of an earlier load mean another instance. */
TEST(numbers_after_a_reload)
{
	struct stat before, after;
	__u32 id, other;

	load("");
	close(create("first", &id));
	CHECK_OK(stat("/dev/eventlog-first", &before));
	delete_instance(id);
	load("");
	close(create("second", &other));
	CHECK_OK(stat("/dev/eventlog-second", &after));
	CHECK(id != other);
	CHECK(minor(before.st_rdev) != minor(after.st_rdev));
	delete_instance(other);
}

static int created_fd;

/* A program of the instance that was given the file of INSTANCE_CREATE. */
static void uses_created_file(void)
{
	struct eventlog_subscribe setup = subscribe_request(RING_BYTES);
	struct eventlog_marker_set policy = {
		.size = sizeof(policy), .flags = EVENTLOG_MARKER_SET_PROGRAMS,
		.handlers = EVENTLOG_MARKER_PRINT,
	};
	struct eventlog_register request = register_request("stays u32 value");
	struct mapped ring;
	int again;

	CHECK_ERRNO(ioctl(created_fd, EVENTLOG_IOC_SUBSCRIBE, &setup), EPERM);
	CHECK_ERRNO(ioctl(created_fd, EVENTLOG_IOC_MARKER_SET, &policy), EPERM);
	CHECK_EQ(info_of(created_fd).restricted, 1);
	request.flags = EVENTLOG_REGISTER_PERSIST;
	CHECK_ERRNO(ioctl(created_fd, EVENTLOG_IOC_REGISTER, &request), EPERM);
	/* A file of its own has the rights of its user. */
	again = open_instance(created_fd);
	if (geteuid() == USER)
		CHECK_OK(ioctl(again, EVENTLOG_IOC_SUBSCRIBE, &setup));
	else
		CHECK_ERRNO(ioctl(again, EVENTLOG_IOC_SUBSCRIBE, &setup), EPERM);
	close(again);
	CHECK_OK(try_register(created_fd, "event u32 value"));
	mapped_attach(&ring, created_fd, mapped_least_bytes());
	CHECK_EQ(quota(created_fd, EVENTLOG_QUOTA_RING_BYTES).use, ring.attach.length);
	mapped_unmap(&ring);
}

TEST(file_that_is_passed_on)
{
	struct eventlog_instance_create request = create_request("passed");
	struct eventlog_subscribe setup = subscribe_request(64 * RING_BYTES);
	__u32 id;

	request.owner = USER;
	request.limits_set = 1 << EVENTLOG_QUOTA_RING_BYTES;
	request.limits[EVENTLOG_QUOTA_RING_BYTES] = 64 * RING_BYTES;
	created_fd = create_with(&request, &id);
	as_user(OTHER, uses_created_file);
	close(created_fd);
	delete_instance(id);
	created_fd = create_with(&request, &id);
	as_user(USER, uses_created_file);
	close(created_fd);
	delete_instance(id);
	/* With the capability its rings count for the instance all the same. */
	created_fd = create_with(&request, &id);
	CHECK_ERRNO(ioctl(created_fd, EVENTLOG_IOC_SUBSCRIBE, &setup), EDQUOT);
	CHECK_EQ(quota(created_fd, EVENTLOG_QUOTA_RING_BYTES).denied, 1);
	setup = subscribe_request(RING_BYTES);
	CHECK_OK(ioctl(created_fd, EVENTLOG_IOC_SUBSCRIBE, &setup));
	CHECK(quota(created_fd, EVENTLOG_QUOTA_RING_BYTES).use >= RING_BYTES);
	close(created_fd);
	delete_instance(id);
}

/* All openers of an instance share its limits, also those with capabilities. */
TEST(limits)
{
	struct eventlog_instance_create request = create_request("limited");
	struct eventlog_subscribe setup = subscribe_request(RING_BYTES);
	int fd, other, root;
	__u32 id;

	request.limits_set = 1 << EVENTLOG_QUOTA_EVENTS | 1 << EVENTLOG_QUOTA_RING_BYTES |
			     1 << EVENTLOG_QUOTA_REGISTRATIONS;
	request.limits[EVENTLOG_QUOTA_EVENTS] = 4;
	request.limits[EVENTLOG_QUOTA_RING_BYTES] = RING_BYTES;
	request.limits[EVENTLOG_QUOTA_REGISTRATIONS] = 6;
	fd = create_with(&request, &id);
	other = open_instance(fd);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).limit, 4);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).limit, 0);
	CHECK(quota(fd, EVENTLOG_QUOTA_RETAINED_BYTES).limit);
	CHECK_EQ(register_many(fd, "mine", EDQUOT), 4);
	CHECK_ERRNO(try_register(other, "one_more"), EDQUOT);
	CHECK_OK(try_register_number(other, "mine", 0));
	CHECK_OK(try_register_number(other, "mine", 1));
	CHECK_ERRNO(try_register_number(other, "mine", 2), EDQUOT);
	CHECK_EQ(quota(other, EVENTLOG_QUOTA_EVENTS).use, 4);
	CHECK_EQ(quota(other, EVENTLOG_QUOTA_EVENTS).denied, 2);
	close(other);
	other = open_instance(fd);
	CHECK_ERRNO(ioctl(other, EVENTLOG_IOC_SUBSCRIBE, &setup), EDQUOT);
	close(other);
	root = device_open();
	CHECK_OK(try_register(root, "of_root"));
	CHECK_EQ(quota(root, EVENTLOG_QUOTA_EVENTS).limit, ~0ULL);
	close(root);
	close(fd);
	delete_instance(id);
}

/* An open file of the instance, as the user that owns it. */
static int owner_opens(const char *device)
{
	int fd;

	CHECK_OK(seteuid(USER));
	fd = CHECK_OK(open(device, O_RDWR | O_CLOEXEC));
	CHECK_OK(seteuid(0));
	return fd;
}

/*
 * The rings of those that capture an instance from outside do not take the room of its
 * programs.  Those of the owner do.
 */
TEST(captured_from_outside)
{
	struct eventlog_instance_create request = create_request("captured");
	struct eventlog_subscribe setup = subscribe_request(16 * RING_BYTES);
	struct consumer captures[2];
	int root = device_open(), fd;
	struct mapped ring;
	unsigned int i;
	__u32 id;

	request.owner = USER;
	request.limits_set = 1 << EVENTLOG_QUOTA_RING_BYTES;
	request.limits[EVENTLOG_QUOTA_RING_BYTES] = RING_BYTES + page_size();
	close(create_with(&request, &id));
	consumer_open_file(&captures[0], CHECK_OK(try_open_instance(root, id)), &setup);
	consumer_open_file(&captures[1],
			   CHECK_OK(open("/dev/eventlog-captured", O_RDWR | O_CLOEXEC)), &setup);
	fd = owner_opens("/dev/eventlog-captured");
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RING_BYTES).use, 0);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &setup), EDQUOT);
	CHECK_EQ(quota(captures[0].fd, EVENTLOG_QUOTA_RING_BYTES).denied, 1);

	register_event(fd, "of_owner u32 x");
	mapped_attach(&ring, fd, RING_BYTES);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RING_BYTES).use, RING_BYTES + page_size());
	for (i = 0; i < 2; i++)
		consumer_close(&captures[i]);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RING_BYTES).use, RING_BYTES + page_size());
	mapped_unmap(&ring);
	close(fd);
	close(root);
	delete_instance(id);
}

/* Every user of a deleted instance learns of it, and what was emitted before is not lost. */
TEST(deletion)
{
	struct eventlog_marker_set policy = {
		.size = sizeof(policy), .flags = EVENTLOG_MARKER_SET_PROGRAMS,
		.handlers = EVENTLOG_MARKER_PRINT,
	};
	struct eventlog_subscribe setup = subscribe_request(RING_BYTES);
	struct eventlog_rule rule = rule_request(NULL, NULL);
	struct eventlog_register written, mapped_event;
	struct consumer consumer;
	struct pollfd poller;
	struct eventlog_attach attach;
	struct status_map map;
	struct mapped mapped;
	struct record record;
	int fd, root = device_open();
	__u32 id, value = 1;
	pid_t child;
	char *text;

	fd = create("doomed", &id);
	setup.flags = EVENTLOG_SUBSCRIBE_MAPPED;
	consumer_open_file(&consumer, open_instance(fd), &setup);
	rule_add(consumer.fd, NULL, NULL);
	written = register_event(fd, "written u32 value");
	mapped_event = register_event(fd, "mapped u32 value");
	map = status_map(fd, &written);
	CHECK_EQ(status_get(&map, &written), EVENTLOG_STATUS_ENABLED);
	mapped_attach(&mapped, fd, mapped_least_bytes());
	poller = (struct pollfd){ .fd = consumer.fd };
	CHECK_EQ(poll(&poller, 1, 0), 0);
	child = test_fork();
	if (!child) {
		/* Only POLLHUP can end this. */
		CHECK_EQ(poll(&poller, 1, -1), 1);
		CHECK_EQ(poller.revents, POLLHUP);
		_exit(0);
	}
	WAIT_FOR(thread_sleeps(child));
	CHECK_EQ(emit(fd, written.write_index, &value, sizeof(value)), 8);
	value = 2;
	CHECK(mapped_put(&mapped, (struct eventlog_mapped_record){
		.write_index = mapped_event.write_index, .time = mapped_time(&mapped),
	}, &value, sizeof(value)));

	CHECK_OK(try_delete_instance(root, id));
	test_join(child);
	CHECK_ERRNO(emit(fd, written.write_index, &value, sizeof(value)), ENODEV);
	CHECK_ERRNO(mapped_kick_with(&mapped, mapped_event.write_index, &value, sizeof(value)),
		    ENODEV);
	CHECK_EQ(status_get(&map, &written), EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_SYNC);
	CHECK_ERRNO(try_register(fd, "late u32 value"), ENODEV);
	CHECK_ERRNO(try_register(fd, "written u32 value"), ENODEV);
	attach = attach_request(mapped_least_bytes());
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach), ENODEV);
	CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_RULE_ADD, &rule), ENODEV);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &policy), ENODEV);
	CHECK_ERRNO(try_open_instance(fd, 0), ENODEV);

	/* The records that are left can be read and described. */
	poller = (struct pollfd){ .fd = consumer.fd, .events = POLLIN };
	CHECK_EQ(poll(&poller, 1, -1), 1);
	CHECK_EQ(poller.revents, POLLIN | POLLHUP);
	flush(consumer.fd);
	CHECK(consumer_next(&consumer, &record));
	CHECK(consumer_next(&consumer, &record));
	CHECK(!consumer_next(&consumer, &record));
	text = describe(consumer.fd, mapped_event.descriptor, NULL);
	CHECK(text);
	free(text);
	CHECK_EQ(stat_all(consumer.fd).records, 2);
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
	mapped_unmap(&mapped);
	CHECK_OK(try_unregister(fd, written.write_index));
	CHECK_EQ(info_of(fd).subscribers, 1);
	consumer_close(&consumer);
	/* A producer that emits for the first time now learns of it, too. */
	CHECK_EQ(status_get(&map, &mapped_event), EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_SYNC);
	CHECK_ERRNO(emit(fd, mapped_event.write_index, &value, sizeof(value)), ENODEV);
	close(fd);
	close(root);
}

static void *delete_once(void *argument)
{
	__u32 id = *(__u32 *)argument;
	int fd = device_open(), ret = try_delete_instance(fd, id);

	if (ret)
		CHECK_EQ(errno, ENOENT);
	close(fd);
	return (void *)(long)!ret;
}

TEST(deleted_twice_at_once)
{
	pthread_t threads[4];
	unsigned int round, i;

	for (round = 0; round < 8; round++) {
		unsigned long deleted = 0;
		void *result;
		__u32 id;

		close(create("twice", &id));
		for (i = 0; i < ARRAY_SIZE(threads); i++)
			CHECK_EQ(pthread_create(&threads[i], NULL, delete_once, &id), 0);
		for (i = 0; i < ARRAY_SIZE(threads); i++) {
			CHECK_EQ(pthread_join(threads[i], &result), 0);
			deleted += (unsigned long)result;
		}
		CHECK_EQ(deleted, 1);
	}
	CHECK_EQ(count_instances(false), 0);
}

/* Opens the instance again and again, and emits to it, until @stop. */
static bool stop;

static void *use_node(void *unused)
{
	struct eventlog_subscribe setup;
	struct eventlog_rule rule;
	struct eventlog_register request;
	__u32 value = 0;
	int fd, other;

	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		fd = open("/dev/eventlog-churn", O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			CHECK(errno == ENOENT || errno == ENODEV || errno == ENXIO);
			test_pause();
			continue;
		}
		request = register_request("churned u32 value");
		other = try_open_instance(fd, 0);
		if (other < 0)
			CHECK_EQ(errno, ENODEV);
		setup = subscribe_request(page_size() * 2);
		rule = rule_request(NULL, NULL);
		if (ioctl(fd, EVENTLOG_IOC_REGISTER, &request)) {
			CHECK_EQ(errno, ENODEV);
		} else if (other >= 0 && !ioctl(other, EVENTLOG_IOC_SUBSCRIBE, &setup) &&
			   !ioctl(other, EVENTLOG_IOC_RULE_ADD, &rule)) {
			while (emit(fd, request.write_index, &value, sizeof(value)) == 8)
				value++;
			CHECK_EQ(errno, ENODEV);
		} else if (other >= 0) {
			CHECK_EQ(errno, ENODEV);
		}
		if (other >= 0)
			close(other);
		close(fd);
	}
	return NULL;
}

/* Instances are created and deleted under producers and subscribers; the root loses nothing. */
TEST(deletion_in_use)
{
	struct eventlog_register request;
	struct consumer consumer;
	struct record record;
	unsigned int round, i;
	pthread_t threads[2];
	int fd = device_open();
	__u32 id;

	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "of_root");
	request = register_event(fd, "of_root u32 round");
	__atomic_store_n(&stop, false, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, use_node, NULL), 0);
	for (round = 0; round < 16; round++) {
		int instance = create("churn", &id);

		/* Most rounds see it in use. */
		for (i = 0; i < 20 && !info_of(instance).enabled; i++)
			test_pause();
		CHECK_EQ(emit(fd, request.write_index, &round, sizeof(round)), 8);
		delete_instance(id);
		close(instance);
		consumer_one(&consumer, &record);
		CHECK(!memcmp(record.payload, &round, sizeof(round)));
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
	CHECK_EQ(count_instances(false), 0);
	consumer_close(&consumer);
	close(fd);
}

/* An instance that loses most of its events takes nothing from another one. */
TEST(flood)
{
	struct eventlog_subscribe setup = subscribe_request(RING_BYTES);
	const char *const names[] = { "loud", "calm" };
	struct eventlog_register requests[2];
	struct mapped mapped[2];
	struct consumer consumers[2];
	unsigned int i, round, seen = 0;
	struct record record;
	__u32 ids[2], value;
	int fds[2];

	setup.flags = EVENTLOG_SUBSCRIBE_MAPPED;
	for (i = 0; i < 2; i++) {
		fds[i] = create(names[i], &ids[i]);
		consumer_open_file(&consumers[i], open_instance(fds[i]), &setup);
		rule_add(consumers[i].fd, NULL, NULL);
		requests[i] = register_event(fds[i], "flood u32 value");
		mapped_attach(&mapped[i], fds[i], mapped_least_bytes());
	}
	for (round = 0; round < 100; round++) {
		for (i = 0; i < 100; i++) {
			CHECK_EQ(emit(fds[0], requests[0].write_index, &i, sizeof(i)), 8);
			mapped_emit(&mapped[0], requests[0].write_index, &i, sizeof(i));
		}
		value = round;
		CHECK_EQ(emit(fds[1], requests[1].write_index, &value, sizeof(value)), 8);
		mapped_emit(&mapped[1], requests[1].write_index, &value, sizeof(value));
	}
	flush(consumers[0].fd);
	flush(consumers[1].fd);
	while (consumer_next(&consumers[1], &record))
		seen++;
	CHECK_EQ(seen, 200);
	CHECK_EQ(lost_sum(stat_all(consumers[1].fd).lost), 0);
	CHECK(lost_sum(stat_all(consumers[0].fd).lost) > 0);
	CHECK_EQ(stat_all(consumers[0].fd).records + lost_sum(stat_all(consumers[0].fd).lost),
		 20000);
	for (i = 0; i < 2; i++) {
		mapped_unmap(&mapped[i]);
		consumer_close(&consumers[i]);
		close(fds[i]);
		delete_instance(ids[i]);
	}
}

TEST(as_many_as_there_may_be)
{
	char name[EVENTLOG_INSTANCE_NAME_MAX];
	struct eventlog_instance_create request;
	int fd = device_open();
	unsigned int i;

	for (i = 0; i < EVENTLOG_INSTANCES_MAX; i++) {
		sprintf(name, "many%u", i);
		request = create_request(name);
		/* Small: their status maps have one page each. */
		request.limits_set = 1 << EVENTLOG_QUOTA_EVENTS;
		request.limits[EVENTLOG_QUOTA_EVENTS] = 16;
		CHECK_OK(try_create(fd, &request));
		close(request.fd);
	}
	request = create_request("one_more");
	CHECK_ERRNO(try_create(fd, &request), ENOSPC);
	CHECK_OK(access("/dev/eventlog-many1023", F_OK));
	CHECK_EQ(count_instances(true), EVENTLOG_INSTANCES_MAX);
	CHECK_OK(try_create(fd, &request));
	close(request.fd);
	CHECK_OK(try_delete_instance(fd, request.id));
	close(fd);
}

/* The limit of the module parameter, which cannot be changed. */
TEST(parameter_instances_max)
{
	static const char parameter[] = "/sys/module/eventlog/parameters/instances_max";
	struct eventlog_instance_create request = create_request("one_more");
	struct stat status;
	__u32 id;
	int fd;

	load("instances_max=2");
	CHECK_OK(stat(parameter, &status));
	CHECK_EQ(status.st_mode & 0222, 0);
	close(create("first", &id));
	close(create("second", NULL));
	fd = device_open();
	CHECK_ERRNO(try_create(fd, &request), ENOSPC);
	CHECK_ERRNO(access("/dev/eventlog-one_more", F_OK), ENOENT);
	CHECK_OK(try_delete_instance(fd, id));
	CHECK_OK(try_create(fd, &request));
	close(request.fd);
	CHECK_EQ(count_instances(true), 2);
	close(fd);

	load("instances_max=0");
	fd = device_open();
	CHECK_ERRNO(try_create(fd, &request), ENOSPC);
	close(fd);
	CHECK_OK(try_unload());
	CHECK_ERRNO(try_load("instances_max=1025"), EINVAL);
	load("");
}

/* The module can be unloaded with instances, unless one of their files is open. */
TEST(unload)
{
	struct eventlog_register persistent;
	int fd;

	load("");
	close(create("left", NULL));
	fd = create("used", NULL);
	persistent = register_persistent(fd, "some", "stays u32 value");
	CHECK(persistent.descriptor);
	CHECK_ERRNO(try_unload(), EWOULDBLOCK);
	close(fd);
	CHECK_OK(try_unload());
	CHECK_ERRNO(access("/dev/eventlog-left", F_OK), ENOENT);
	CHECK_OK(try_load(""));
	CHECK_EQ(count_instances(false), 0);
}
