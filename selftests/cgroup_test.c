// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules that select a cgroup.  The tests mount the unified hierarchy at a place of their own and
 * move themselves between its cgroups.
 *
 * What meets what: hierarchy (selects_a_cgroup_and_what_is_below), removal and a new cgroup of the
 * same name (a_removed_cgroup_is_not_another), session, pid and --sample (with_other_conditions),
 * producer rings (producer_rings_are_not_used, another_process_drains_the_ring), a program that
 * was away (missed_events_are_of_a_cgroup), wrong arguments (rejects_bad_values).  A user's
 * instance takes rules by the same code.  Callbacks in the kernel have no cgroups.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mapped_common.h"

#define RING_BYTES (16 * page_size())

static char top[] = "/tmp/cgroup.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static void enter(const char *cgroup)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/cgroup.procs", cgroup);
	CHECK_OK(file_write(path_of(name), "0"));
}

static int open_cgroup(const char *cgroup)
{
	int fd = open(path_of(cgroup), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

/* Makes a, a/b and other, and enters other. */
static void hierarchy_make(void)
{
	if (!(device_info().features & EVENTLOG_FEATURE_CGROUP))
		SKIP("the kernel has no cgroups");
	CHECK(mkdtemp(top));
	if (mount("none", top, "cgroup2", 0, NULL)) {
		rmdir(top);
		SKIP("no cgroup2: %s", test_errno_name(errno));
	}
	CHECK_OK(mkdir(path_of("test"), 0755));
	CHECK_OK(mkdir(path_of("test/a"), 0755));
	CHECK_OK(mkdir(path_of("test/a/b"), 0755));
	CHECK_OK(mkdir(path_of("test/other"), 0755));
	enter("test/other");
}

static void hierarchy_remove(void)
{
	CHECK_OK(file_write(path_of("cgroup.procs"), "0"));
	rmdir(path_of("test/a/b"));
	rmdir(path_of("test/a"));
	CHECK_OK(rmdir(path_of("test/other")));
	CHECK_OK(rmdir(path_of("test")));
	CHECK_OK(umount(top));
	CHECK_OK(rmdir(top));
}

static struct eventlog_rule rule_of(const char *cgroup, int *fd)
{
	struct eventlog_rule rule = rule_request(NULL, "in");

	*fd = open_cgroup(cgroup);
	rule.flags = EVENTLOG_RULE_CGROUP;
	rule.cgroup = (__u32)*fd;
	return rule;
}

/* The rule needs the directory only while it is added. */
static void add_rule_of(struct consumer *consumer, const char *cgroup)
{
	struct eventlog_rule rule;
	int fd;

	rule = rule_of(cgroup, &fd);
	rule_add_with(consumer->fd, &rule);
	close(fd);
}

static void emit_in(int fd, const struct eventlog_register *event, const char *cgroup)
{
	enter(cgroup);
	CHECK_OK(emit(fd, event->write_index, "", 0));
}

TEST(selects_a_cgroup_and_what_is_below)
{
	struct consumer whole, a, b, both;
	struct eventlog_register event;
	int fd = device_open();

	hierarchy_make();
	event = register_event(fd, "in");
	consumer_open(&whole, RING_BYTES);
	consumer_open(&a, RING_BYTES);
	consumer_open(&b, RING_BYTES);
	consumer_open(&both, RING_BYTES);
	add_rule_of(&whole, ".");
	add_rule_of(&a, "test/a");
	add_rule_of(&b, "test/a/b");
	add_rule_of(&both, "test/a/b");
	add_rule_of(&both, "test/other");

	emit_in(fd, &event, "test/other");
	CHECK_EQ(consumer_skip(&whole), 1);
	CHECK_EQ(consumer_skip(&a), 0);
	CHECK_EQ(consumer_skip(&b), 0);
	CHECK_EQ(consumer_skip(&both), 1);
	emit_in(fd, &event, "test/a");
	CHECK_EQ(consumer_skip(&whole), 1);
	CHECK_EQ(consumer_skip(&a), 1);
	CHECK_EQ(consumer_skip(&b), 0);
	CHECK_EQ(consumer_skip(&both), 0);
	emit_in(fd, &event, "test/a/b");
	CHECK_EQ(consumer_skip(&whole), 1);
	CHECK_EQ(consumer_skip(&a), 1);
	CHECK_EQ(consumer_skip(&b), 1);
	CHECK_EQ(consumer_skip(&both), 1);
	emit_in(fd, &event, ".");
	CHECK_EQ(consumer_skip(&whole), 1);
	CHECK_EQ(consumer_skip(&a), 0);
	CHECK_EQ(consumer_skip(&b), 0);
	CHECK_EQ(consumer_skip(&both), 0);

	consumer_close(&whole);
	consumer_close(&a);
	consumer_close(&b);
	consumer_close(&both);
	close(fd);
	hierarchy_remove();
}

TEST(a_removed_cgroup_is_not_another)
{
	struct eventlog_register event;
	struct consumer a, b;
	int fd = device_open();

	hierarchy_make();
	event = register_event(fd, "in");
	consumer_open(&a, RING_BYTES);
	consumer_open(&b, RING_BYTES);
	add_rule_of(&a, "test/a");
	add_rule_of(&b, "test/a/b");
	/* The rule does not keep it. */
	CHECK_OK(rmdir(path_of("test/a/b")));
	CHECK_OK(mkdir(path_of("test/a/b"), 0755));
	emit_in(fd, &event, "test/a/b");
	CHECK_EQ(consumer_skip(&a), 1);
	CHECK_EQ(consumer_skip(&b), 0);
	add_rule_of(&b, "test/a/b");
	emit_in(fd, &event, "test/a/b");
	CHECK_EQ(consumer_skip(&b), 1);
	consumer_close(&a);
	consumer_close(&b);
	close(fd);
	hierarchy_remove();
}

TEST(with_other_conditions)
{
	struct consumer sampled, theirs;
	struct eventlog_register event;
	struct eventlog_rule rule;
	int fd = device_open(), cgroup;
	unsigned int i;

	hierarchy_make();
	event = register_event(fd, "in");
	consumer_open(&sampled, RING_BYTES);
	consumer_open(&theirs, RING_BYTES);
	rule = rule_of("test/a", &cgroup);
	rule.sample = 3;
	rule_add_with(sampled.fd, &rule);
	rule.sample = 0;
	rule.flags |= EVENTLOG_RULE_PID;
	rule.pid = 1;
	rule_add_with(theirs.fd, &rule);
	rule.flags = EVENTLOG_RULE_CGROUP | EVENTLOG_RULE_SESSION;
	rule.pid = 0;
	rule.session = 77;
	rule_add_with(theirs.fd, &rule);
	close(cgroup);
	/* Events of others are not counted. */
	for (i = 0; i < 10; i++) {
		emit_in(fd, &event, "test/other");
		emit_in(fd, &event, "test/a");
	}
	CHECK_EQ(consumer_skip(&sampled), 4);
	CHECK_EQ(consumer_skip(&theirs), 0);
	consumer_close(&sampled);
	consumer_close(&theirs);
	close(fd);
	hierarchy_remove();
}

/* Such an event is delivered later, when its thread may have ended. */
TEST(producer_rings_are_not_used)
{
	const __u8 sync = EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_SYNC;
	struct eventlog_register event;
	struct status_map map;
	struct consumer consumer;
	int fd = device_open();

	hierarchy_make();
	event = register_event(fd, "in");
	map = status_map(fd, &event);
	mapped_consumer_open(&consumer, RING_BYTES);
	add_rule_of(&consumer, "test/a");
	CHECK_EQ(status_get(&map, &event), sync);
	emit_in(fd, &event, "test/a");
	emit_in(fd, &event, "test/other");
	CHECK_EQ(consumer_skip(&consumer), 1);
	consumer_close(&consumer);
	close(fd);
	hierarchy_remove();
}

/* A producer that has not seen this yet: its events are of the cgroup of the living thread. */
TEST(events_in_a_producer_ring)
{
	struct eventlog_register event;
	struct mapped ring;
	struct eventlog_mapped_record record = { 0 };
	struct consumer consumer, other;
	int fd = device_open();

	hierarchy_make();
	event = register_event(fd, "in");
	mapped_attach(&ring, fd, mapped_least_bytes());
	mapped_consumer_open(&consumer, RING_BYTES);
	mapped_consumer_open(&other, RING_BYTES);
	add_rule_of(&consumer, "test/a");
	add_rule_of(&other, "test/other");
	enter("test/a/b");
	record.write_index = event.write_index;
	record.time = mapped_time(&ring);
	CHECK(mapped_put(&ring, record, "", 0));
	CHECK_EQ(mapped_kick(&ring), 8);
	CHECK_EQ(consumer_skip(&consumer), 1);
	CHECK_EQ(consumer_skip(&other), 0);
	mapped_unmap(&ring);
	consumer_close(&consumer);
	consumer_close(&other);
	close(fd);
	hierarchy_remove();
}

/* The cgroup of whoever drains the ring says nothing. */
TEST(another_process_drains_the_ring)
{
	struct eventlog_mapped_record record = { 0 };
	struct consumer consumer, other;
	struct eventlog_register event;
	int fd = device_open(), pipes[2];
	struct mapped ring;
	char byte = 0;
	pid_t child;

	hierarchy_make();
	event = register_event(fd, "in");
	mapped_consumer_open(&consumer, RING_BYTES);
	mapped_consumer_open(&other, RING_BYTES);
	add_rule_of(&consumer, "test/a");
	add_rule_of(&other, "test/other");
	CHECK_OK(pipe(pipes));
	child = test_fork();
	if (!child) {
		enter("test/a/b");
		mapped_attach(&ring, fd, mapped_least_bytes());
		record.write_index = event.write_index;
		record.time = mapped_time(&ring);
		CHECK(mapped_put(&ring, record, "", 0));
		CHECK_EQ(write(pipes[1], &byte, 1), 1);
		for (;;)
			pause();
	}
	CHECK_EQ(read(pipes[0], &byte, 1), 1);
	flush(consumer.fd);
	CHECK_EQ(consumer_skip(&consumer), 1);
	CHECK_EQ(consumer_skip(&other), 0);
	kill(child, SIGKILL);
	test_join_signal(child, SIGKILL);
	close(pipes[0]);
	close(pipes[1]);
	consumer_close(&consumer);
	consumer_close(&other);
	close(fd);
	hierarchy_remove();
}

/* What a program could not emit, because it had given the device up. */
TEST(missed_events_are_of_a_cgroup)
{
	struct eventlog_missed request = { .size = sizeof(request), .count = 5 };
	struct consumer consumer, other, whole;
	struct eventlog_register event;
	int fd = device_open();

	hierarchy_make();
	event = register_event(fd, "in");
	consumer_open(&consumer, RING_BYTES);
	consumer_open(&other, RING_BYTES);
	consumer_open(&whole, RING_BYTES);
	add_rule_of(&consumer, "test/a");
	add_rule_of(&other, "test/other");
	add_rule_of(&whole, ".");
	enter("test/a/b");
	request.write_index = event.write_index;
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MISSED, &request));
	CHECK_EQ(request.subscribers, 2);
	CHECK_EQ(stat_all(consumer.fd).lost[EVENTLOG_LOST_AWAY], 5);
	CHECK_EQ(lost_sum(stat_all(other.fd).lost), 0);
	CHECK_EQ(stat_all(whole.fd).lost[EVENTLOG_LOST_AWAY], 5);
	consumer_close(&consumer);
	consumer_close(&other);
	consumer_close(&whole);
	close(fd);
	hierarchy_remove();
}

TEST(rejects_bad_values)
{
	struct eventlog_rule rule, good;
	struct consumer consumer;
	int cgroup, file, pipes[2];

	hierarchy_make();
	consumer_open(&consumer, RING_BYTES);
	good = rule_of("test/a", &cgroup);
#define REJECTED(error, change)							\
	do {									\
		rule = good;							\
		change;								\
		CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_RULE_ADD, &rule), error);	\
	} while (0)
	REJECTED(EINVAL, rule.flags = 0);
	REJECTED(EINVAL, rule.reserved = 1);
	REJECTED(EBADF, rule.cgroup = 0xffffffff);
	REJECTED(EBADF, rule.cgroup = 0x80000000);
	REJECTED(EBADF, rule.cgroup = 0x7fffffff);
	REJECTED(EBADF, rule.cgroup = (__u32)consumer.fd);
	file = open("/tmp", O_RDONLY | O_DIRECTORY);
	REJECTED(EBADF, rule.cgroup = (__u32)file);
	close(file);
	REJECTED(EBADF, rule.cgroup = (__u32)file);
	file = open(path_of("test/a/cgroup.procs"), O_RDONLY);
	REJECTED(EBADF, rule.cgroup = (__u32)file);
	close(file);
	CHECK_OK(pipe(pipes));
	REJECTED(EBADF, rule.cgroup = (__u32)pipes[0]);
	close(pipes[0]);
	close(pipes[1]);
	/* One that was removed while it is open. */
	CHECK_OK(rmdir(path_of("test/a/b")));
	CHECK_OK(rmdir(path_of("test/a")));
	rule = good;
	CHECK(ioctl(consumer.fd, EVENTLOG_IOC_RULE_ADD, &rule));
	CHECK(errno == EBADF || errno == ENOENT);
#undef REJECTED
	close(cgroup);
	consumer_close(&consumer);
	hierarchy_remove();
}
