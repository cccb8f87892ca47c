// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failing allocations: see fail_common.h.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fail_common.h"

#define FAIL_NTH "/proc/thread-self/fail-nth"
#define FAILSLAB "/sys/kernel/debug/failslab/"

/* How often a number is read until it must be what it was before. */
#define TRIES_MAX 1000

#define DOMAINS_MAX 2

/* What a domain keeps. */
struct kept {
	__u64 events;
	__u64 enabled;
	__u64 providers;
	__u64 subscribers;
	__u64 policies;
	__u64 registrations;
	__u64 ring_bytes;
	__u64 rings;
	__u64 instances;
};

bool fail_at(unsigned int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	return file_write(FAIL_NTH, text) > 0;
}

long fail_left(void)
{
	return file_number(FAIL_NTH);
}

bool failed_by_injection(void)
{
	const int error = errno;
	const long left = fail_left();

	fail_at(0);
	errno = error;
	return left == 0;
}

void fail_tree_nodes(bool fail)
{
	/* The first one ends it, before other allocations could fail. */
	CHECK(file_write("/proc/thread-self/make-it-fail", fail ? "1" : "0") > 0);
	CHECK(file_write("/sys/kernel/slab/radix_tree_node/failslab", "1") > 0);
	CHECK(file_write(FAILSLAB "cache-filter", fail ? "Y" : "N") > 0);
	CHECK(file_write(FAILSLAB "task-filter", "Y") > 0);
	CHECK(file_write(FAILSLAB "times", "-1") > 0);
	CHECK(file_write(FAILSLAB "probability", fail ? "100" : "0") > 0);
}

bool fail_error(int error)
{
	return error == ENOMEM || error == EFAULT;
}

void fail_prepare(void)
{
	if (access(FAIL_NTH, W_OK))
		SKIP("this kernel does not support fail-nth");
	file_write(FAILSLAB "ignore-gfp-wait", "N");
	file_write("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	file_write("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	/* A stack for each failure would take most of the time. */
	file_write(FAILSLAB "verbose", "0");
	file_write("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	file_write("/sys/kernel/debug/fail_usercopy/verbose", "0");
}

int fail_undo(int fd, unsigned long request, void *argument)
{
	if (!ioctl(fd, request, argument))
		return 0;
	CHECK_EQ(errno, EFAULT);
	CHECK_OK(ioctl(fd, request, argument));
	errno = EFAULT;
	return -1;
}

static struct kept kept_now(int fd)
{
	const struct eventlog_info info = info_of(fd);

	return (struct kept){
		.events = info.events, .enabled = info.enabled, .providers = info.providers,
		.subscribers = info.subscribers, .policies = info.policies,
		.registrations = info.quotas[EVENTLOG_QUOTA_REGISTRATIONS].use,
		.ring_bytes = info.quotas[EVENTLOG_QUOTA_RING_BYTES].use,
		.rings = info.quotas[EVENTLOG_QUOTA_RINGS].use,
		.instances = list_count(fd, EVENTLOG_LIST_INSTANCES),
	};
}

/* Some of it goes a moment after the call. */
static void check_kept(int fd, const struct kept *before)
{
	struct kept now = kept_now(fd);
	unsigned int tries;

	for (tries = 0; memcmp(&now, before, sizeof(now)) && tries < TRIES_MAX; tries++) {
		test_wait(tries);
		now = kept_now(fd);
	}
	CHECK_EQ(now.events, before->events);
	CHECK_EQ(now.enabled, before->enabled);
	CHECK_EQ(now.providers, before->providers);
	CHECK_EQ(now.subscribers, before->subscribers);
	CHECK_EQ(now.policies, before->policies);
	CHECK_EQ(now.registrations, before->registrations);
	CHECK_EQ(now.ring_bytes, before->ring_bytes);
	CHECK_EQ(now.rings, before->rings);
	CHECK_EQ(now.instances, before->instances);
}

void fail_each(const struct fail_call *call, const int *fds, unsigned int count,
	       void (*witness)(void))
{
	unsigned int number, failed = 0, i;
	struct kept before[DOMAINS_MAX];

	CHECK(count <= DOMAINS_MAX);
	/* What the first call leaves behind, such as a marker policy, does not grow. */
	test_note("%s, no failure", call->name);
	CHECK_OK(call->call());
	for (i = 0; i < count; i++)
		before[i] = kept_now(fds[i]);
	for (number = 1; number < FAILURES_MAX; number++) {
		bool injected;
		int result, error;

		test_note("%s, failure %u", call->name, number);
		CHECK(fail_at(number));
		result = call->call();
		error = errno;
		injected = failed_by_injection();
		if (result)
			test_note("%s, failure %u: %s", call->name, number, test_errno_name(error));
		CHECK(!result || (injected && fail_error(error)));
		failed += !!result;
		for (i = 0; i < count; i++)
			check_kept(fds[i], &before[i]);
		witness();
		if (!injected)
			break;
	}
	CHECK(number < FAILURES_MAX);
	test_print("%s: %u of %u failures made it fail", call->name, failed, number - 1);
}
