// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of what one user may make the module keep: a user without capabilities reaches
 * each limit and gets the documented error; other users are not affected.
 */
#include <sched.h>
#include <unistd.h>

#include "module_common.h"

TEST(no_limits_for_root)
{
	struct eventlog_user_quota request = { .size = sizeof(request) };
	int fd;
	__u32 i;

	load("");
	fd = device_open();
	register_event(fd, "quota u32 x");
	for (i = 0; i < EVENTLOG_QUOTAS; i++) {
		CHECK_EQ(quota(fd, i).limit, ~0ULL);
		CHECK_EQ(quota(fd, i).use, 0);
		CHECK_EQ(quota(fd, i).denied, 0);
	}
	request.quota = EVENTLOG_QUOTAS;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_QUOTA, &request), EINVAL);
	request.quota = 0;
	request.size--;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_QUOTA, &request), EINVAL);
	close(fd);
}

static void reach_events(void)
{
	int fd = device_open(), other = device_open();
	__u64 denied = quota(fd, EVENTLOG_QUOTA_EVENTS).denied;

	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).limit, 8);
	CHECK_EQ(register_many(fd, "mine", EDQUOT), 8);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).use, 8);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).denied, denied + 1);
	/* Another file of the user has the same limit; what exists can be shared. */
	CHECK_ERRNO(try_register(other, "one_more"), EDQUOT);
	CHECK_OK(try_register(other, "mine_0 u32 x"));
	CHECK_EQ(quota(other, EVENTLOG_QUOTA_EVENTS).use, 8);
	CHECK_EQ(quota(other, EVENTLOG_QUOTA_REGISTRATIONS).use, 9);
	close(fd);
	CHECK_EQ(quota(other, EVENTLOG_QUOTA_EVENTS).use, 1);
	CHECK_EQ(quota(other, EVENTLOG_QUOTA_REGISTRATIONS).use, 1);
	CHECK_EQ(register_many(other, "others", EDQUOT), 7);
	close(other);
}

TEST(events)
{
	int fd;

	load_open("user_events_max=8");
	as_user(USER, reach_events);
	as_user(USER, reach_events);
	as_user(OTHER, reach_events);
	fd = device_open();
	CHECK_OK(try_register(fd, "of_root"));
	CHECK_EQ(status_now("Active: "), 1);
	close(fd);
}

static void hold_events(void)
{
	int fd = device_open();

	CHECK_EQ(register_many(fd, "held", ENOSPC), 60);
	close(fd);
}

/* One in 16 events is kept for root. */
TEST(reserve_of_root)
{
	int fd;

	load_open("events_max=64 user_events_max=1000");
	as_user(USER, hold_events);
	fd = device_open();
	CHECK_EQ(register_many(fd, "of_root", ENOSPC), 64);
	close(fd);
}

static void define_quickly(void)
{
	int fd = device_open();
	unsigned int count = register_many(fd, "quick", EDQUOT);

	/* Four seconds' worth at once, and what came meanwhile. */
	CHECK(count >= 40);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_DEFINITIONS).limit, 10);
	CHECK(quota(fd, EVENTLOG_QUOTA_DEFINITIONS).denied >= 1);
	/* What exists is no new definition. */
	CHECK_OK(try_register(fd, "quick_0 u32 x"));
	close(fd);
	/* Closing everything does not help, waiting does. */
	fd = device_open();
	CHECK(register_many(fd, "again", EDQUOT) < 40);
	WAIT_FOR(!try_register(fd, "later"));
	close(fd);
}

TEST(definitions_in_a_second)
{
	int fd;

	load_open("user_definitions_max=10");
	as_user(USER, define_quickly);
	as_user(OTHER, define_quickly);
	fd = device_open();
	CHECK_OK(try_register(fd, "of_root"));
	close(fd);
}

static void reach_registrations(void)
{
	int fd = device_open(), other = device_open();
	unsigned int i;

	for (i = 0; i < 20; i++)
		CHECK_OK(try_register(i % 2 ? fd : other, "same u32 x"));
	CHECK_ERRNO(try_register(fd, "same u32 x"), EDQUOT);
	CHECK_ERRNO(try_register(other, "same u32 x"), EDQUOT);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_REGISTRATIONS).use, 20);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).use, 1);
	close(other);
	CHECK_OK(try_register(fd, "same u32 x"));
	close(fd);
}

TEST(registrations)
{
	load_open("user_registrations_max=20");
	as_user(USER, reach_registrations);
	as_user(OTHER, reach_registrations);
}

static void churn(void)
{
	unsigned int i;
	int fd;

	for (i = 0; i < 100; i++) {
		fd = device_open();
		CHECK_OK(try_register_number(fd, "churned", i));
		close(fd);
	}
	fd = device_open();
	CHECK(quota(fd, EVENTLOG_QUOTA_RETAINED_BYTES).use <= 8192);
	CHECK(quota(fd, EVENTLOG_QUOTA_RETAINED_BYTES).use > 4096);
	close(fd);
}

/* The texts of ended events go, the user's own and the oldest first. */
TEST(retained_bytes)
{
	struct eventlog_counts counts = { .size = sizeof(counts) };
	struct consumer consumer;
	int fd;

	load_open("user_retained_bytes_max=8192");
	consumer_open(&consumer, 1 << 16);
	fd = device_open();
	register_event(fd, "of_root u32 x");
	close(fd);
	as_user(USER, churn);
	CHECK_OK(ioctl(consumer.fd, EVENTLOG_IOC_COUNTS, &counts));
	CHECK(counts.retained > 8 && counts.retained < 50);
	consumer_close(&consumer);
	fd = device_open();
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_COUNTS, &counts));
	CHECK_EQ(counts.retained, 0);
	close(fd);
}

static void reach_trace_events(void)
{
	int fd = device_open();
	unsigned int i;

	for (i = 0; i < 10; i++)
		CHECK_OK(try_register_number(fd, "traced", i));
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_TRACE_EVENTS).use, 3);
	CHECK_EQ(status_now("Not in tracefs: "), 7);
	close(fd);
	/* The room comes back when tracefs has forgotten the events. */
	fd = device_open();
	WAIT_FOR(!quota(fd, EVENTLOG_QUOTA_TRACE_EVENTS).use);
	close(fd);
}

TEST(trace_events)
{
	load_open("user_trace_events_max=3");
	as_user(USER, reach_trace_events);
	as_user(OTHER, reach_trace_events);
}

/* All uids of a user namespace count for its owner. */
static void reach_events_in_namespace(void)
{
	int fd = device_open();

	CHECK_EQ(register_many(fd, "outside", EDQUOT), 8);
	CHECK_OK(unshare(CLONE_NEWUSER));
	CHECK_ERRNO(try_register(fd, "inside"), EDQUOT);
	close(fd);
	fd = device_open();
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).limit, 8);
	CHECK_EQ(register_many(fd, "inside", EDQUOT), 8);
	close(fd);
}

TEST(user_namespaces)
{
	if (access("/proc/self/ns/user", F_OK))
		SKIP("no user namespaces");
	load_open("user_events_max=8");
	as_user(USER, reach_events_in_namespace);
}
