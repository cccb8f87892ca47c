// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of subscribers: their ioctls and errors, the events that their rules
 * match, sampling, and when poll() reports data.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventlog_common.h"

#define RING_BYTES (16 * page_size())

static int try_subscribe_with(const struct eventlog_subscribe *given)
{
	struct eventlog_subscribe request = *given;
	int fd = device_open();
	int result = ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request);
	int error = errno;

	close(fd);
	errno = error;
	return result;
}

static int try_rule(int fd, const struct eventlog_rule *given)
{
	struct eventlog_rule rule = *given;

	return ioctl(fd, EVENTLOG_IOC_RULE_ADD, &rule);
}

/* ------------------------------------------------------------------------
 * SUBSCRIBE
 */
TEST(subscribe_rejects_bad_values)
{
	const __u64 page = page_size();
	const struct {
		int error;
		struct eventlog_subscribe request;
	} cases[] = {
#define RING(error, ...) { error, { .size = sizeof(struct eventlog_subscribe), __VA_ARGS__ } }
		RING(EINVAL, .ring_bytes = 1),
		RING(EINVAL, .ring_bytes = 3 * page),
		RING(EINVAL, .ring_bytes = 4 * page + 1),
		RING(EINVAL, .ring_bytes = 4 * page - 1),
		RING(EINVAL, .ring_bytes = page),		/* two sub-buffers of half a page */
		RING(EINVAL, .ring_bytes = 8),
		RING(EINVAL, .ring_bytes = 4 * page, .sub_buffers = 1),
		RING(EINVAL, .ring_bytes = 4 * page, .sub_buffers = 3),
		RING(EINVAL, .ring_bytes = 4 * page, .sub_buffers = 8),
		RING(EINVAL, .ring_bytes = 1024 * page, .sub_buffers = 512),
		RING(EINVAL, .ring_bytes = 1024 * page, .sub_buffers = 255),
		RING(EINVAL, .ring_bytes = 1024 * page, .sub_buffers = 0x80000000),
		RING(EINVAL, .ring_bytes = 1024 * page, .sub_buffers = 0xffffffff),
		RING(EINVAL, .ring_bytes = 4 * page, .watermark = 4 * page + 1),
		RING(EINVAL, .ring_bytes = 4 * page, .watermark = ~0ULL),
		RING(EINVAL, .ring_bytes = 4 * page, .watermark = 1ULL << 32),
		RING(EINVAL, .sub_buffers = 2),
		RING(EINVAL, .watermark = 1),
		RING(EINVAL, .flags = EVENTLOG_SUBSCRIBE_OVERWRITE),
		RING(E2BIG, .ring_bytes = 2ULL * EVENTLOG_RING_BYTES_MAX),
		RING(E2BIG, .ring_bytes = 1ULL << 32),
		RING(E2BIG, .ring_bytes = 1ULL << 63),
#undef RING
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		test_note("ring_bytes %llu, sub_buffers %u, watermark %llu, flags %u",
			  cases[i].request.ring_bytes, cases[i].request.sub_buffers,
			  cases[i].request.watermark, cases[i].request.flags);
		CHECK_ERRNO(try_subscribe_with(&cases[i].request), cases[i].error);
	}
}

TEST(subscribe_accepts_good_values)
{
	const __u64 page = page_size();
	const struct eventlog_subscribe cases[] = {
#define RING(...) { .size = sizeof(struct eventlog_subscribe), __VA_ARGS__ }
		RING(.ring_bytes = 2 * page),
		RING(.ring_bytes = 2 * page, .sub_buffers = 2),
		RING(.ring_bytes = 4 * page, .sub_buffers = 4),
		RING(.ring_bytes = 256 * page, .sub_buffers = 256),
		RING(.ring_bytes = 256 * page, .sub_buffers = 32),
		RING(.ring_bytes = 4 * page, .watermark = 4 * page),
		RING(.ring_bytes = 4 * page, .watermark = 1),
		RING(.ring_bytes = 1 << 20, .watermark = 12345),
#undef RING
	};
	struct consumer consumer;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		test_note("case %u", i);
		consumer_open_with(&consumer, &cases[i]);
		consumer_close(&consumer);
	}
}

/* SUBSCRIBE either fails or gets the memory; it never triggers the OOM killer. */
TEST(subscribe_huge_rings)
{
	struct eventlog_subscribe request;
	unsigned int round, rejected = 0, i;
	int fds[16];

	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(fds); i++) {
			fds[i] = device_open();
			request = subscribe_request(round ? EVENTLOG_RING_BYTES_MAX :
						    EVENTLOG_RING_BYTES_MAX / 16);
			if (!ioctl(fds[i], EVENTLOG_IOC_SUBSCRIBE, &request))
				continue;
			CHECK_EQ(errno, ENOMEM);
			rejected++;
			/* The file still has no role and can subscribe. */
			request = subscribe_request(RING_BYTES);
			if (i && !round)
				continue;
			CHECK_OK(ioctl(fds[i], EVENTLOG_IOC_SUBSCRIBE, &request));
		}
		for (i = 0; i < ARRAY_SIZE(fds); i++)
			close(fds[i]);
	}
	test_print("%u of %zu rejected", rejected, 3 * ARRAY_SIZE(fds));
}

TEST(subscribers_are_limited)
{
	const __u32 max = device_info().subscribers_max;
	struct eventlog_subscribe request;
	int *fds = calloc(max + 1, sizeof(*fds));
	__u32 i;

	CHECK(fds);
	for (i = 0; i <= max; i++) {
		fds[i] = device_open();
		request = subscribe_request(i % 2 ? 2 * page_size() : 0);
		if (i < max)
			CHECK_OK(ioctl(fds[i], EVENTLOG_IOC_SUBSCRIBE, &request));
		else
			CHECK_ERRNO(ioctl(fds[i], EVENTLOG_IOC_SUBSCRIBE, &request), EMFILE);
	}
	close(fds[max / 2]);
	request = subscribe_request(RING_BYTES);
	CHECK_OK(ioctl(fds[max], EVENTLOG_IOC_SUBSCRIBE, &request));
	for (i = 0; i <= max; i++)
		if (i != max / 2)
			close(fds[i]);
	free(fds);
}

/* ------------------------------------------------------------------------
 * RULE_ADD and RULE_DEL
 */
TEST(rule_add_rejects_bad_values)
{
	char long_glob[EVENTLOG_GLOB_MAX + 1];
	const char *unmapped = pages_unmapped();
	struct consumer consumer;
	struct eventlog_rule rule;
	__u32 level;

	memset(long_glob, '*', EVENTLOG_GLOB_MAX);
	long_glob[EVENTLOG_GLOB_MAX] = '\0';
	consumer_open(&consumer, RING_BYTES);

#define REJECTED(error, ...)							\
	do {									\
		rule = (struct eventlog_rule){ .size = sizeof(rule), __VA_ARGS__ };	\
		CHECK_ERRNO(try_rule(consumer.fd, &rule), error);		\
	} while (0)
	REJECTED(EINVAL, .session = 1);
	REJECTED(EINVAL, .pid = 1);
	REJECTED(EINVAL, .flags = EVENTLOG_RULE_PID);
	REJECTED(EINVAL, .flags = EVENTLOG_RULE_PID, .session = 1, .pid = 1);
	REJECTED(EINVAL, .flags = EVENTLOG_RULE_SESSION, .session = 1, .pid = 1);
	REJECTED(EINVAL, .flags = 8);
	REJECTED(EFAULT, .filter = 1);
	REJECTED(EFAULT, .filter = PTR(unmapped));
	REJECTED(E2BIG, .filter = PTR(long_glob));
	for (level = EVENTLOG_LEVEL_VERBOSE + 1; level < 20; level++)
		REJECTED(EINVAL, .level = level);
	REJECTED(EINVAL, .level = 0xffffffff);
	REJECTED(EINVAL, .event = PTR(""));
	REJECTED(EINVAL, .provider = PTR(""));
	REJECTED(E2BIG, .event = PTR(long_glob));
	REJECTED(E2BIG, .provider = PTR(long_glob));
	REJECTED(EFAULT, .event = PTR(unmapped));
	REJECTED(EFAULT, .provider = PTR(unmapped));
	/* On User Mode Linux this address works: see register_rejects_bad_pointers. */
	if (!user_mode_linux())
		REJECTED(EFAULT, .provider = ~0ULL);
	REJECTED(EFAULT, .event = 1);
#undef REJECTED

	/* The longest glob that is accepted. */
	long_glob[EVENTLOG_GLOB_MAX - 1] = '\0';
	rule = rule_request(long_glob, long_glob);
	CHECK_OK(try_rule(consumer.fd, &rule));
	consumer_close(&consumer);
}

TEST(rules_are_limited)
{
	const __u32 max = device_info().rules_max;
	__u32 *rules = calloc(max, sizeof(*rules)), i, j;
	struct eventlog_rule rule = rule_request(NULL, "nothing");
	struct consumer consumer, other;

	CHECK(rules);
	consumer_open(&consumer, RING_BYTES);
	consumer_open(&other, 0);
	for (i = 0; i < max; i++) {
		rules[i] = rule_add(consumer.fd, NULL, "nothing");
		for (j = 0; j < i; j++)
			CHECK(rules[i] != rules[j]);
	}
	CHECK_ERRNO(try_rule(consumer.fd, &rule), EMFILE);
	rule_add(other.fd, NULL, "nothing");
	CHECK_OK(try_rule_delete(consumer.fd, rules[max / 2]));
	CHECK_ERRNO(try_rule_delete(consumer.fd, rules[max / 2]), ENOENT);
	CHECK_OK(try_rule(consumer.fd, &rule));
	CHECK_ERRNO(try_rule(consumer.fd, &rule), EMFILE);
	consumer_close(&consumer);
	consumer_close(&other);
	free(rules);
}

TEST(rule_delete_rejects_wrong_ids)
{
	struct consumer consumer, other;
	__u32 mine, theirs;

	consumer_open(&consumer, RING_BYTES);
	consumer_open(&other, RING_BYTES);
	CHECK_ERRNO(try_rule_delete(consumer.fd, 0), ENOENT);
	CHECK_ERRNO(try_rule_delete(consumer.fd, 1), ENOENT);
	mine = rule_add(consumer.fd, NULL, NULL);
	do
		theirs = rule_add(other.fd, NULL, NULL);
	while (theirs == mine);
	CHECK_ERRNO(try_rule_delete(consumer.fd, theirs), ENOENT);
	CHECK_ERRNO(try_rule_delete(consumer.fd, 0xffffffff), ENOENT);
	CHECK_OK(try_rule_delete(consumer.fd, mine));
	CHECK_ERRNO(try_rule_delete(consumer.fd, mine), ENOENT);
	consumer_close(&consumer);
	consumer_close(&other);
}

/* ------------------------------------------------------------------------
 * FLUSH and STAT
 */
TEST(flush_returns_a_time)
{
	struct eventlog_flush request = { .size = sizeof(request) };
	struct consumer consumer, ringless;
	__u64 before, after;
	unsigned int i;

	consumer_open(&consumer, RING_BYTES);
	consumer_open(&ringless, 0);
	for (i = 0; i < 20; i++) {
		before = clock_now();
		CHECK_OK(ioctl(i % 2 ? consumer.fd : ringless.fd, EVENTLOG_IOC_FLUSH, &request));
		after = clock_now();
		CHECK(request.time >= before);
		CHECK(request.time <= after);
		if (i % 2)
			CHECK_EQ(request.generation, consumer.setup.generation);
	}
	consumer_close(&consumer);
	consumer_close(&ringless);
}

TEST(stat_rejects_bad_values)
{
	struct eventlog_stat request;
	struct eventlog_register enabled, disabled;
	struct consumer consumer, ringless;
	int fd = device_open();

	enabled = register_event(fd, "enabled");
	disabled = register_event(fd, "disabled");
	consumer_open(&consumer, RING_BYTES);
	consumer_open(&ringless, 0);

#define STAT(on, ...) ({							\
	request = (struct eventlog_stat){ .size = sizeof(request), __VA_ARGS__ };	\
	ioctl((on).fd, EVENTLOG_IOC_STAT, &request); })
	CHECK_ERRNO(STAT(consumer, .ring = consumer.setup.rings), ENXIO);
	CHECK_ERRNO(STAT(consumer, .ring = 0xfffffffe), ENXIO);
	CHECK_ERRNO(STAT(consumer, .ring = 0x80000000), ENXIO);
	CHECK_ERRNO(STAT(consumer, .ring = 0, .descriptor = enabled.descriptor), EINVAL);
	CHECK_ERRNO(STAT(consumer, .ring = EVENTLOG_RINGS_ALL, .descriptor = enabled.descriptor),
		    ENOENT);
	CHECK_ERRNO(STAT(consumer, .ring = EVENTLOG_RINGS_ALL, .descriptor = 0xffffffff), ENOENT);
	CHECK_ERRNO(STAT(ringless, .ring = 0), ENXIO);
	CHECK_OK(STAT(ringless, .ring = EVENTLOG_RINGS_ALL));
	CHECK_EQ(request.records, 0);

	rule_add(consumer.fd, NULL, "enabled");
	CHECK_OK(STAT(consumer, .ring = EVENTLOG_RINGS_ALL, .descriptor = enabled.descriptor));
	CHECK_EQ(request.event_lost, 0);
	CHECK_ERRNO(STAT(consumer, .ring = EVENTLOG_RINGS_ALL, .descriptor = disabled.descriptor),
		    ENOENT);
	CHECK_ERRNO(STAT(ringless, .ring = EVENTLOG_RINGS_ALL, .descriptor = enabled.descriptor),
		    ENOENT);
#undef STAT
	consumer_close(&consumer);
	consumer_close(&ringless);
	close(fd);
}

/* The counts of each CPU, of all CPUs, and in the rings' header pages agree. */
TEST(stat_counts_agree)
{
	enum { EVENTS = 3000 };
	struct eventlog_stat all, one, sum = { 0 };
	struct eventlog_register small, large;
	struct consumer consumer;
	unsigned int cpus[64], count, i, cause, cpu, sent_small = 0, sent_large = 0;
	unsigned char *payload = pages_map(EVENTLOG_PAYLOAD_MAX);
	__u64 seed = test_seed(), lost_small, lost_large, bytes = 0;
	int fd = device_open();

	count = cpus_allowed(cpus, ARRAY_SIZE(cpus));
	small = register_event(fd, "small");
	large = register_event(fd, "large");
	consumer_open(&consumer, 2 * page_size());
	rule_add(consumer.fd, NULL, NULL);
	for (i = 0; i < EVENTS; i++) {
		if (i % 500 == 0)
			cpu_pin(cpus[i / 500 % count]);
		if (i % 100 == 0)
			consumer_skip(&consumer);
		if (test_random(&seed) & 1) {
			CHECK_OK(emit(fd, small.write_index, payload, test_random(&seed) % 64));
			sent_small++;
		} else {
			CHECK_OK(emit(fd, large.write_index, payload,
				      test_random(&seed) % (2 * page_size())));
			sent_large++;
		}
	}
	for (cpu = 0; cpu < consumer.setup.rings; cpu++) {
		const struct eventlog_ring_header *header = consumer.rings[cpu].header;

		if (!header)
			continue;
		one = (struct eventlog_stat){ .size = sizeof(one), .ring = cpu };
		CHECK_OK(ioctl(consumer.fd, EVENTLOG_IOC_STAT, &one));
		CHECK_EQ(one.records, header->records);
		CHECK_EQ(one.bytes, header->head);
		CHECK_EQ(header->head, header->committed);
		CHECK_EQ(lost_sum(one.lost), header->lost_total);
		for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++) {
			CHECK_EQ(one.lost[cause], header->lost[cause]);
			sum.lost[cause] += one.lost[cause];
		}
		sum.records += one.records;
		bytes += one.bytes;
	}
	all = stat_all(consumer.fd);
	CHECK_EQ(all.records, sum.records);
	CHECK_EQ(all.bytes, bytes);
	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
		CHECK_EQ(all.lost[cause], sum.lost[cause]);
	CHECK(all.lost[EVENTLOG_LOST_NO_ROOM]);
	CHECK(all.lost[EVENTLOG_LOST_TOO_LARGE]);
	CHECK_EQ(all.records + lost_sum(all.lost), EVENTS);
	lost_small = stat_event_lost(consumer.fd, small.descriptor);
	lost_large = stat_event_lost(consumer.fd, large.descriptor);
	CHECK_EQ(lost_small + lost_large, lost_sum(all.lost));
	CHECK(lost_small && lost_small < sent_small);
	CHECK(lost_large && lost_large < sent_large);
	consumer_close(&consumer);
	close(fd);
}

/* A record with its lost record must fit in a sub-buffer; a larger one is counted as lost. */
TEST(record_too_large_for_a_sub_buffer)
{
	const size_t most = page_size() - sizeof(struct eventlog_record) -
		sizeof(struct eventlog_record) - sizeof(struct eventlog_lost_counts);
	unsigned char *payload = pages_map(EVENTLOG_PAYLOAD_MAX);
	struct eventlog_register event;
	struct consumer consumer, large;
	struct record record;
	int fd = device_open();
	unsigned int i;

	event = register_event(fd, "event");
	consumer_open(&consumer, 2 * page_size());
	consumer_open(&large, 8 * EVENTLOG_PAYLOAD_MAX);
	rule_add(consumer.fd, NULL, NULL);
	rule_add(large.fd, NULL, NULL);
	for (i = 1; i <= 10; i++) {
		CHECK_EQ(emit(fd, event.write_index, payload, most), most + 4);
		consumer_one(&consumer, &record);
		CHECK_EQ(record.bytes, most);
		/* The writer succeeds: another subscriber may have the event. */
		CHECK_EQ(emit(fd, event.write_index, payload, most + 1), most + 5);
		CHECK_EQ(consumer_skip(&consumer), 0);
		CHECK_EQ(stat_all(consumer.fd).lost[EVENTLOG_LOST_TOO_LARGE], 2 * i - 1);
		CHECK_EQ(emit(fd, event.write_index, payload, EVENTLOG_PAYLOAD_MAX),
			 EVENTLOG_PAYLOAD_MAX + 4);
		CHECK_EQ(stat_all(consumer.fd).lost[EVENTLOG_LOST_TOO_LARGE], 2 * i);
		CHECK_EQ(consumer_skip(&consumer), 0);
		CHECK_EQ(consumer_skip(&large), 3);
	}
	CHECK_EQ(lost_sum(stat_all(large.fd).lost), 0);
	consumer_close(&consumer);
	consumer_close(&large);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Which events rules match
 */
struct definition {
	const char *provider;
	const char *event;
	__u32 level;
	__u64 keywords;
	struct eventlog_register registration;
};

static void register_all(int fd, struct definition *definitions, size_t count)
{
	for (; count; count--, definitions++) {
		definitions->registration = register_request(definitions->event);
		definitions->registration.provider = PTR(definitions->provider);
		definitions->registration.level = definitions->level;
		definitions->registration.keywords = definitions->keywords;
		register_with(fd, &definitions->registration);
	}
}

/*
 * Adds the rule to a new subscriber: it must get exactly the events whose bit is set
 * in the mask.
 */
static void expect_through(int fd, struct definition *definitions, size_t count,
			   struct eventlog_rule *rule, __u64 mask)
{
	struct consumer consumer;
	struct record record;
	size_t i;

	consumer_open(&consumer, RING_BYTES);
	rule_add_with(consumer.fd, rule);
	for (i = 0; i < count; i++) {
		const struct eventlog_register *event = &definitions[i].registration;

		test_note("rule %.40s/%.40s, event %zu of mask 0x%llx",
			  rule->provider ? (char *)(unsigned long)rule->provider : "(all)",
			  rule->event ? (char *)(unsigned long)rule->event : "(all)",
			  i, (unsigned long long)mask);
		if (!(mask & 1ULL << i)) {
			CHECK_ERRNO(emit(fd, event->write_index, "", 0), EBADF);
			CHECK_EQ(consumer_skip(&consumer), 0);
			continue;
		}
		CHECK_EQ(emit(fd, event->write_index, "", 0), 4);
		consumer_one(&consumer, &record);
		CHECK_EQ(record.header->descriptor, event->descriptor);
	}
	consumer_close(&consumer);
}

TEST(rules_match_globs)
{
	struct definition definitions[] = {
		{ "net", "open", 0, 0, { 0 } },		/* bit 0 */
		{ "net", "close", 0, 0, { 0 } },
		{ "net.tcp", "open", 0, 0, { 0 } },
		{ "net-2", "Open", 0, 0, { 0 } },
		{ "disk", "open_2", 0, 0, { 0 } },		/* bit 4 */
		{ "disk", "o", 0, 0, { 0 } },
		{ NULL, "op3n", 0, 0, { 0 } },
	};
	static const struct {
		const char *provider;
		const char *event;
		__u64 mask;
	} cases[] = {
		{ NULL, NULL, 0x7f },
		{ "*", "*", 0x7f },
		{ "**", "***", 0x7f },
		{ "net", NULL, 0x03 },
		{ "net*", NULL, 0x0f },
		{ "net?*", NULL, 0x0c },
		{ "net.*", NULL, 0x04 },
		{ "*t", NULL, 0x03 },
		{ "n?t", NULL, 0x03 },
		{ "???", NULL, 0x03 },
		{ "????", NULL, 0x70 },
		{ "ne", NULL, 0x00 },
		{ "nett", NULL, 0x00 },
		{ "Net", NULL, 0x00 },
		{ "user", NULL, 0x40 },
		{ NULL, "open", 0x05 },
		{ NULL, "open*", 0x15 },
		{ NULL, "*open", 0x05 },
		{ NULL, "[oO]pen", 0x0d },
		{ NULL, "[!o]*", 0x0a },
		{ NULL, "[a-n]*", 0x02 },
		{ NULL, "op[0-9]n", 0x40 },
		{ NULL, "op[a-z0-9]n", 0x45 },
		{ NULL, "o?*", 0x55 },
		{ NULL, "o", 0x20 },
		{ NULL, "?", 0x20 },
		{ NULL, "*e*", 0x1f },
		{ NULL, "*o*e*", 0x17 },
		{ NULL, "*_*", 0x10 },
		{ NULL, "\\o", 0x20 },
		{ NULL, "\\*", 0x00 },
		{ NULL, "ope\\?", 0x00 },
		{ "net*", "[oO]*", 0x0d },
		{ "disk", "open", 0x00 },
		{ "net-[0-9]", "*", 0x08 },
		{ "net[-.]*", "*", 0x0c },
	};
	struct eventlog_rule rule;
	int fd = device_open();
	unsigned int i;

	register_all(fd, definitions, ARRAY_SIZE(definitions));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		rule = rule_request(cases[i].provider, cases[i].event);
		expect_through(fd, definitions, ARRAY_SIZE(definitions), &rule, cases[i].mask);
	}
	close(fd);
}

/* Globs that would take a naive matcher exponential time, and malformed globs. */
TEST(hostile_globs)
{
	static const char *const odd[] = {
		"[", "[a", "[!", "[]", "[!]", "[a-", "[a-]", "[z-a]", "[]a]", "\\", "a\\", "[\\",
		"[a-z", "*[", "\xff", "\n", "[[:alpha:]]", "{a,b}", "***************[",
	};
	char name[EVENTLOG_NAME_MAX], glob[EVENTLOG_GLOB_MAX];
	struct consumer consumer;
	struct eventlog_rule rule;
	int fd = device_open();
	unsigned int i;

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	register_event(fd, name);
	for (i = 0; i + 3 < sizeof(glob); i += 2)
		memcpy(glob + i, "a*", 2);
	strcpy(glob + i, "b");
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, glob);
	for (i = 0; i + 3 < sizeof(glob); i += 2)
		memcpy(glob + i, "*?", 2);
	rule_add(consumer.fd, NULL, glob);
	CHECK_EQ(status_now("Busy: "), 0);

	/* Each is rejected or does not match this name. */
	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		test_note("\"%s\"", odd[i]);
		rule = rule_request(NULL, odd[i]);
		if (try_rule(consumer.fd, &rule))
			CHECK_EQ(errno, EINVAL);
	}
	CHECK_EQ(status_now("Busy: "), 0);
	consumer_close(&consumer);
	close(fd);
}

TEST(rules_match_keywords)
{
	struct definition definitions[] = {
		{ NULL, "none", 0, 0, { 0 } },
		{ NULL, "one", 0, 0x1, { 0 } },
		{ NULL, "two", 0, 0x2, { 0 } },
		{ NULL, "both", 0, 0x3, { 0 } },
		{ NULL, "high", 0, 1ULL << 63, { 0 } },
		{ NULL, "all", 0, ~0ULL, { 0 } },
	};
	static const struct {
		__u64 any;
		__u64 all;
		__u64 mask;
	} cases[] = {
		{ 0, 0, 0x3f },
		{ 0x1, 0, 0x2a },
		{ 0x3, 0, 0x2e },
		{ 1ULL << 63, 0, 0x30 },
		{ 0x4, 0, 0x20 },
		{ ~0ULL, 0, 0x3e },
		{ 0, 0x1, 0x2a },
		{ 0, 0x3, 0x28 },
		{ 0, 0x7, 0x20 },
		{ 0, 1ULL << 63 | 1, 0x20 },
		{ 0, ~0ULL, 0x20 },
		{ 0x2, 0x1, 0x28 },
		{ 1ULL << 63, 0x1, 0x20 },
	};
	struct eventlog_rule rule;
	int fd = device_open();
	unsigned int i;

	register_all(fd, definitions, ARRAY_SIZE(definitions));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		rule = rule_request(NULL, NULL);
		rule.keywords_any = cases[i].any;
		rule.keywords_all = cases[i].all;
		expect_through(fd, definitions, ARRAY_SIZE(definitions), &rule, cases[i].mask);
	}
	close(fd);
}

TEST(rules_match_levels)
{
	struct definition definitions[] = {
		{ NULL, "given_none", 0, 0, { 0 } },	/* counts as info */
		{ NULL, "critical", EVENTLOG_LEVEL_CRITICAL, 0, { 0 } },
		{ NULL, "error", EVENTLOG_LEVEL_ERROR, 0, { 0 } },
		{ NULL, "warning", EVENTLOG_LEVEL_WARNING, 0, { 0 } },
		{ NULL, "notice", EVENTLOG_LEVEL_NOTICE, 0, { 0 } },
		{ NULL, "info", EVENTLOG_LEVEL_INFO, 0, { 0 } },
		{ NULL, "debug", EVENTLOG_LEVEL_DEBUG, 0, { 0 } },
		{ NULL, "verbose", EVENTLOG_LEVEL_VERBOSE, 0, { 0 } },
	};
	static const __u64 masks[] = {
		0xff, 0x02, 0x06, 0x0e, 0x1e, 0x3f, 0x7f, 0xff,
	};
	struct eventlog_rule rule;
	int fd = device_open();
	unsigned int level;

	register_all(fd, definitions, ARRAY_SIZE(definitions));
	for (level = 0; level < ARRAY_SIZE(masks); level++) {
		rule = rule_request(NULL, NULL);
		rule.level = level;
		expect_through(fd, definitions, ARRAY_SIZE(definitions), &rule, masks[level]);
	}
	close(fd);
}

TEST(rules_match_sessions)
{
	struct eventlog_register with, without;
	struct eventlog_rule rule;
	struct consumer consumer;
	struct record record;
	int fd = device_open();

	with = register_request("with");
	with.flags = EVENTLOG_REGISTER_SESSION;
	register_with(fd, &with);
	without = register_event(fd, "without");
	consumer_open(&consumer, RING_BYTES);
	rule = rule_request(NULL, NULL);
	rule.flags = EVENTLOG_RULE_SESSION;
	rule.session = 1ULL << 40;
	rule_add_with(consumer.fd, &rule);

	/* The event is enabled; the session is tested for each event. */
	CHECK_OK(emit_session(fd, with.write_index, 1, "", 0));
	CHECK_OK(emit_session(fd, with.write_index, 0, "", 0));
	CHECK_OK(emit(fd, without.write_index, "", 0));
	CHECK_EQ(consumer_skip(&consumer), 0);
	CHECK_OK(emit_session(fd, with.write_index, 1ULL << 40, "", 0));
	consumer_one(&consumer, &record);
	CHECK_EQ(record.header->session, 1ULL << 40);

	/* Session 0 matches events without a session. */
	rule = rule_request(NULL, NULL);
	rule.flags = EVENTLOG_RULE_SESSION;
	rule_add_with(consumer.fd, &rule);
	CHECK_OK(emit(fd, without.write_index, "", 0));
	consumer_one(&consumer, &record);
	CHECK_EQ(record.header->descriptor, without.descriptor);
	CHECK_OK(emit_session(fd, with.write_index, 0, "", 0));
	consumer_one(&consumer, &record);
	CHECK_OK(emit_session(fd, with.write_index, 1, "", 0));
	CHECK_EQ(consumer_skip(&consumer), 0);
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
	consumer_close(&consumer);
	close(fd);
}

static void *emit_in_thread(void *argument)
{
	const struct eventlog_register *event = argument;

	CHECK_OK(emit(event->size, event->write_index, "", 0));
	return NULL;
}

TEST(rules_match_pids)
{
	struct eventlog_register event, in_thread;
	struct consumer mine, theirs;
	struct eventlog_rule rule;
	struct record record;
	int fd = device_open(), go[2];
	pthread_t thread;
	pid_t child;
	char byte;

	event = register_event(fd, "event");
	CHECK_OK(pipe(go));
	child = test_fork();
	if (!child) {
		CHECK_EQ(read(go[0], &byte, 1), 1);
		CHECK_OK(emit(fd, event.write_index, "", 0));
		_exit(0);
	}
	consumer_open(&mine, RING_BYTES);
	rule = rule_request(NULL, NULL);
	rule.flags = EVENTLOG_RULE_PID;
	rule.pid = getpid();
	rule_add_with(mine.fd, &rule);
	consumer_open(&theirs, RING_BYTES);
	rule.pid = child;
	rule_add_with(theirs.fd, &rule);

	CHECK_OK(emit(fd, event.write_index, "", 0));
	consumer_one(&mine, &record);
	CHECK_EQ(record.header->pid, getpid());
	CHECK_EQ(consumer_skip(&theirs), 0);

	/* The pid matches all threads of the process. */
	in_thread = event;
	in_thread.size = fd;
	CHECK_EQ(pthread_create(&thread, NULL, emit_in_thread, &in_thread), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	consumer_one(&mine, &record);
	CHECK(record.header->tid != record.header->pid);
	CHECK_EQ(consumer_skip(&theirs), 0);

	CHECK_EQ(write(go[1], "", 1), 1);
	test_join(child);
	consumer_one(&theirs, &record);
	CHECK_EQ(record.header->pid, child);
	CHECK_EQ(consumer_skip(&mine), 0);
	consumer_close(&mine);
	consumer_close(&theirs);
	close(fd);
}

/* A subscriber sees process ids as in its own pid namespace. */
TEST(pids_are_of_the_subscribers_namespace)
{
	struct eventlog_register event;
	struct consumer outside, inside;
	struct eventlog_rule rule;
	struct record record;
	int fd = device_open(), to_child[2], to_parent[2];
	pid_t child;
	char byte;

	event = register_event(fd, "event");
	consumer_open(&outside, RING_BYTES);
	rule_add(outside.fd, NULL, "event");
	CHECK_OK(pipe(to_child));
	CHECK_OK(pipe(to_parent));
	if (unshare(CLONE_NEWPID))
		SKIP("unshare: %s", test_errno_name(errno));
	child = test_fork();
	if (!child) {
		CHECK_EQ(getpid(), 1);
		consumer_open(&inside, RING_BYTES);
		rule = rule_request(NULL, NULL);
		rule.flags = EVENTLOG_RULE_PID;
		rule.pid = 1;
		rule_add_with(inside.fd, &rule);
		CHECK_OK(emit(fd, event.write_index, "", 0));
		consumer_one(&inside, &record);
		CHECK_EQ(record.header->pid, 1);
		CHECK_EQ(record.header->tid, 1);

		/* The parent is outside: its pid shows as 0, and a rule for pid 1 skips it. */
		CHECK_EQ(write(to_parent[1], "", 1), 1);
		CHECK_EQ(read(to_child[0], &byte, 1), 1);
		CHECK_EQ(consumer_skip(&inside), 0);
		rule_add(inside.fd, NULL, NULL);
		CHECK_EQ(write(to_parent[1], "", 1), 1);
		CHECK_EQ(read(to_child[0], &byte, 1), 1);
		consumer_one(&inside, &record);
		CHECK_EQ(record.header->pid, 0);
		CHECK_EQ(record.header->tid, 0);
		consumer_close(&inside);
		_exit(0);
	}
	CHECK_EQ(read(to_parent[0], &byte, 1), 1);
	consumer_one(&outside, &record);
	CHECK_EQ(record.header->pid, child);
	CHECK_EQ(record.header->tid, child);
	CHECK_OK(emit(fd, event.write_index, "", 0));
	consumer_one(&outside, &record);
	CHECK_EQ(record.header->pid, getpid());
	CHECK_EQ(write(to_child[1], "", 1), 1);
	CHECK_EQ(read(to_parent[0], &byte, 1), 1);
	CHECK_OK(emit(fd, event.write_index, "", 0));
	CHECK_EQ(write(to_child[1], "", 1), 1);
	test_join(child);
	consumer_close(&outside);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Sampling
 */
TEST(sampling_delivers_one_in_n)
{
	static const __u32 samples[] = { 0, 1, 2, 3, 7, 100, 0xffffffff };
	struct eventlog_register event;
	struct eventlog_rule rule;
	struct consumer consumer;
	unsigned int i, number;
	int fd = device_open();

	event = register_event(fd, "event");
	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		consumer_open(&consumer, RING_BYTES);
		rule = rule_request(NULL, NULL);
		rule.sample = samples[i];
		rule_add_with(consumer.fd, &rule);
		for (number = 0; number < 250; number++) {
			const bool due = samples[i] < 2 || number % samples[i] == 0;

			test_note("1 in %u, number %u", samples[i], number);
			CHECK_EQ(emit(fd, event.write_index, "", 0), 4);
			CHECK_EQ(consumer_skip(&consumer), due);
		}
		/* Events that sampling skips do not count as lost. */
		CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
		consumer_close(&consumer);
	}
	close(fd);
}

/* Sampling counts only events that match the rest of the rule. */
TEST(sampling_of_a_session)
{
	struct eventlog_register event = register_request("event");
	struct eventlog_rule rule = rule_request(NULL, NULL);
	struct consumer consumer;
	unsigned int number;
	int fd = device_open();

	event.flags = EVENTLOG_REGISTER_SESSION;
	register_with(fd, &event);
	consumer_open(&consumer, RING_BYTES);
	rule.flags = EVENTLOG_RULE_SESSION;
	rule.session = 5;
	rule.sample = 3;
	rule_add_with(consumer.fd, &rule);
	for (number = 0; number < 60; number++) {
		CHECK_OK(emit_session(fd, event.write_index, 4, "", 0));
		CHECK_EQ(consumer_skip(&consumer), 0);
		CHECK_OK(emit_session(fd, event.write_index, 5, "", 0));
		CHECK_EQ(consumer_skip(&consumer), number % 3 == 0);
	}
	consumer_close(&consumer);
	close(fd);
}

struct sampled_writer {
	int fd;
	__u32 index;
	unsigned int count;
};

static void *write_sampled(void *argument)
{
	const struct sampled_writer *writer = argument;
	unsigned int i;

	for (i = 0; i < writer->count; i++)
		CHECK_EQ(emit(writer->fd, writer->index, "", 0), 4);
	return NULL;
}

/* Sampling is exact when several CPUs emit at once. */
TEST(sampling_from_several_cpus)
{
	struct sampled_writer writer = { .fd = device_open(), .count = 1000 };
	struct eventlog_rule rule = rule_request(NULL, NULL);
	struct consumer consumer;
	pthread_t threads[4];
	unsigned int i;

	writer.index = register_event(writer.fd, "event").write_index;
	consumer_open(&consumer, 1 << 18);
	rule.sample = 7;
	rule_add_with(consumer.fd, &rule);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, write_sampled, &writer), 0);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	CHECK_EQ(consumer_skip(&consumer), (ARRAY_SIZE(threads) * writer.count + 6) / 7);
	consumer_close(&consumer);
	close(writer.fd);
}

/* ------------------------------------------------------------------------
 * Several rules, several subscribers
 */
TEST(event_is_delivered_once)
{
	struct eventlog_register event;
	struct eventlog_rule rule;
	struct consumer consumer;
	unsigned int i;
	int fd = device_open();

	event = register_event(fd, "event");
	consumer_open(&consumer, RING_BYTES);
	rule = rule_request(NULL, NULL);
	rule.sample = 5;
	rule_add_with(consumer.fd, &rule);
	rule = rule_request(NULL, "e*");
	rule.flags = EVENTLOG_RULE_PID;
	rule.pid = getpid();
	rule_add_with(consumer.fd, &rule);
	for (i = 0; i < 20; i++)
		rule_add(consumer.fd, NULL, i % 2 ? "event" : NULL);
	for (i = 0; i < 100; i++) {
		CHECK_OK(emit(fd, event.write_index, "", 0));
		CHECK_EQ(consumer_skip(&consumer), 1);
	}
	CHECK_EQ(stat_all(consumer.fd).records, 100);
	consumer_close(&consumer);
	close(fd);
}

/* One matching rule is enough: a rule that does not match does not hide another. */
TEST(one_matching_rule_is_enough)
{
	struct eventlog_register event = register_request("event");
	struct eventlog_rule rule;
	struct consumer consumer;
	struct record record;
	unsigned int session;
	__u32 ids[3];
	int fd = device_open();

	event.flags = EVENTLOG_REGISTER_SESSION;
	register_with(fd, &event);
	consumer_open(&consumer, RING_BYTES);
	for (session = 0; session < 3; session++) {
		rule = rule_request(NULL, NULL);
		rule.flags = EVENTLOG_RULE_SESSION;
		rule.session = 10 + session;
		ids[session] = rule_add_with(consumer.fd, &rule);
	}
	for (session = 9; session < 14; session++) {
		CHECK_OK(emit_session(fd, event.write_index, session, "", 0));
		if (session >= 10 && session < 13) {
			consumer_one(&consumer, &record);
			CHECK_EQ(record.header->session, session);
		} else {
			CHECK_EQ(consumer_skip(&consumer), 0);
		}
	}
	CHECK_OK(try_rule_delete(consumer.fd, ids[1]));
	for (session = 10; session < 13; session++) {
		CHECK_OK(emit_session(fd, event.write_index, session, "", 0));
		CHECK_EQ(consumer_skip(&consumer), session != 11);
	}
	consumer_close(&consumer);
	close(fd);
}

/* Other subscribers do not widen what a subscriber's rules match. */
TEST(other_subscribers_do_not_widen_rules)
{
	enum { BYSTANDERS = 6, SESSIONS = 5 };
	struct eventlog_register event = register_request("event");
	struct consumer consumer, bystanders[BYSTANDERS];
	struct eventlog_rule rule;
	unsigned int count, i, session;
	int fd = device_open();

	event.flags = EVENTLOG_REGISTER_SESSION;
	register_with(fd, &event);
	consumer_open(&consumer, RING_BYTES);
	for (count = 0; count <= BYSTANDERS; count++) {
		for (i = 0; i < SESSIONS; i++) {
			rule = rule_request(NULL, i % 2 ? "event" : NULL);
			rule.flags = EVENTLOG_RULE_SESSION;
			rule.session = 100 * count + i;
			rule_add_with(consumer.fd, &rule);
		}
		for (session = 0; session < 100 * (BYSTANDERS + 1); session++) {
			const bool matches = session / 100 <= count && session % 100 < SESSIONS;

			test_note("%u bystanders, session %u", count, session);
			CHECK_EQ(emit_session(fd, event.write_index, session, "", 0), 12);
			CHECK_EQ(consumer_skip(&consumer), matches);
		}
		if (count == BYSTANDERS)
			break;
		consumer_open(&bystanders[count], count % 2 ? 0 : RING_BYTES);
		if (count % 3)
			rule_add(bystanders[count].fd, NULL, "other");
	}
	for (i = 0; i < BYSTANDERS; i++) {
		CHECK_EQ(stat_all(bystanders[i].fd).records, 0);
		consumer_close(&bystanders[i]);
	}
	consumer_close(&consumer);
	close(fd);
}

TEST(every_subscriber_gets_all)
{
	enum { SUBSCRIBERS = 8, EVENTS = 500 };
	unsigned char payload[64];
	struct consumer consumers[SUBSCRIBERS];
	struct eventlog_register event;
	struct record record;
	__u64 seed = test_seed();
	unsigned int i, j;
	int fd = device_open();

	event = register_event(fd, "event");
	for (j = 0; j < SUBSCRIBERS; j++) {
		consumer_open(&consumers[j], RING_BYTES << j % 3);
		rule_add(consumers[j].fd, NULL, j % 2 ? "event" : NULL);
	}
	for (i = 0; i < EVENTS; i++) {
		const size_t bytes = test_random(&seed) % sizeof(payload);

		memset(payload, 1 + i, sizeof(payload));
		CHECK_OK(emit(fd, event.write_index, payload, bytes));
		for (j = 0; j < SUBSCRIBERS; j++) {
			/* Some consumers read after every event, some less often. */
			if (i % (j + 1))
				continue;
			while (consumer_next(&consumers[j], &record))
				CHECK_EQ(record.header->descriptor, event.descriptor);
		}
	}
	for (j = 0; j < SUBSCRIBERS; j++) {
		consumer_skip(&consumers[j]);
		CHECK_EQ(stat_all(consumers[j].fd).records, EVENTS);
		CHECK_EQ(lost_sum(stat_all(consumers[j].fd).lost), 0);
		consumer_close(&consumers[j]);
	}
	close(fd);
}

/* A subscriber without rings sets the enable bit; nothing is stored. */
TEST(subscriber_without_rings)
{
	struct eventlog_register event;
	struct consumer ringless, other;
	struct eventlog_stat counts;
	struct status_map map;
	unsigned int i;
	int fd = device_open();

	event = register_event(fd, "event u64 value");
	map = status_map(fd, &event);
	consumer_open(&ringless, 0);
	rule_add(ringless.fd, NULL, "event");
	CHECK(status_enabled(&map, &event));
	for (i = 0; i < 10; i++)
		CHECK_EQ(emit(fd, event.write_index, "12345678", 8), 12);
	CHECK_ERRNO(emit(fd, event.write_index, "1234567", 7), EINVAL);
	counts = stat_all(ringless.fd);
	CHECK_EQ(counts.records, 0);
	CHECK_EQ(lost_sum(counts.lost), 0);
	consumer_open(&other, RING_BYTES);
	rule_add(other.fd, NULL, "event");
	CHECK_OK(emit(fd, event.write_index, "12345678", 8));
	CHECK_EQ(consumer_skip(&other), 1);
	consumer_close(&other);
	CHECK(status_enabled(&map, &event));
	consumer_close(&ringless);
	CHECK(!status_enabled(&map, &event));
	CHECK_OK(munmap((void *)map.bytes, map.size));
	close(fd);
}

/* ------------------------------------------------------------------------
 * Deleting a rule
 */
struct busy_writer {
	int fd;
	__u32 index;
	bool stop;
	__u64 written;
};

static void *write_busily(void *argument)
{
	struct busy_writer *writer = argument;
	__u64 number = 0;

	while (!__atomic_load_n(&writer->stop, __ATOMIC_ACQUIRE)) {
		CHECK_EQ(emit(writer->fd, writer->index, &number, sizeof(number)),
			 4 + sizeof(number));
		__atomic_store_n(&writer->written, ++number, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* No event is delivered after RULE_DEL has returned. */
TEST(nothing_after_rule_delete)
{
	struct busy_writer writers[2];
	pthread_t threads[ARRAY_SIZE(writers)];
	struct consumer consumer, keeper;
	struct eventlog_stat before, after;
	unsigned int round, i;
	__u64 written;
	__u32 rule;

	consumer_open(&keeper, 0);
	rule_add(keeper.fd, NULL, "event");
	consumer_open(&consumer, RING_BYTES);
	for (i = 0; i < ARRAY_SIZE(writers); i++) {
		writers[i] = (struct busy_writer){ .fd = device_open() };
		writers[i].index = register_event(writers[i].fd, "event u64 number").write_index;
		CHECK_EQ(pthread_create(&threads[i], NULL, write_busily, &writers[i]), 0);
	}
	for (round = 0; round < 40; round++) {
		before = stat_all(consumer.fd);
		rule = rule_add(consumer.fd, NULL, "event");
		do {
			consumer_skip(&consumer);
			after = stat_all(consumer.fd);
		} while (after.records + lost_sum(after.lost) < before.records +
			 lost_sum(before.lost) + 10);
		CHECK_OK(try_rule_delete(consumer.fd, rule));
		before = stat_all(consumer.fd);
		for (i = 0; i < ARRAY_SIZE(writers); i++) {
			written = __atomic_load_n(&writers[i].written, __ATOMIC_ACQUIRE);
			WAIT_FOR(__atomic_load_n(&writers[i].written, __ATOMIC_ACQUIRE) >=
				 written + 5);
		}
		after = stat_all(consumer.fd);
		CHECK_EQ(before.records, after.records);
		CHECK_EQ(lost_sum(before.lost), lost_sum(after.lost));
		consumer_skip(&consumer);
	}
	for (i = 0; i < ARRAY_SIZE(writers); i++) {
		__atomic_store_n(&writers[i].stop, true, __ATOMIC_RELEASE);
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
		close(writers[i].fd);
	}
	consumer_close(&consumer);
	consumer_close(&keeper);
}

/* ------------------------------------------------------------------------
 * poll()
 */
static int poll_now(int fd)
{
	struct pollfd request = { .fd = fd, .events = POLLIN | POLLRDNORM | POLLOUT | POLLPRI };
	int count = CHECK_OK(poll(&request, 1, 0));

	CHECK_EQ(count, !!request.revents);
	CHECK(!request.revents || request.revents == (POLLIN | POLLRDNORM));
	return count;
}

static __u64 unread_most(const struct consumer *consumer)
{
	__u64 most = 0, unread;
	unsigned int cpu;

	for (cpu = 0; cpu < consumer->setup.rings; cpu++) {
		const struct ring *ring = &consumer->rings[cpu];

		if (!ring->header)
			continue;
		unread = (__u32)ring->header->committed - ring->consumer->position;
		if (unread > most)
			most = unread;
	}
	return most;
}

TEST(poll_reports_the_watermark)
{
	const __u64 watermarks[] = { 0, 1, 100, page_size(), RING_BYTES / 2 };
	struct eventlog_subscribe request;
	struct eventlog_register event;
	struct consumer consumer;
	unsigned int i, round, seen_ready, seen_quiet;
	__u64 seed = test_seed();
	char payload[256] = { 0 };
	int fd = device_open();

	event = register_event(fd, "event");
	for (i = 0; i < ARRAY_SIZE(watermarks); i++) {
		const __u64 least = watermarks[i] ?: 1;

		request = subscribe_request(RING_BYTES);
		request.watermark = watermarks[i];
		consumer_open_with(&consumer, &request);
		CHECK_EQ(poll_now(consumer.fd), 0);
		rule_add(consumer.fd, NULL, NULL);
		CHECK_EQ(poll_now(consumer.fd), 0);
		seen_ready = seen_quiet = 0;
		for (round = 0; round < 1500; round++) {
			bool ready;

			test_note("watermark %llu, %llu unread", watermarks[i],
				  unread_most(&consumer));
			ready = unread_most(&consumer) >= least;
			CHECK_EQ(poll_now(consumer.fd), ready);
			seen_ready += ready;
			seen_quiet += !ready;
			if (ready && test_random(&seed) % 4 == 0)
				consumer_skip(&consumer);
			else if (unread_most(&consumer) < RING_BYTES * 3 / 4)
				CHECK_OK(emit(fd, event.write_index, payload,
					      test_random(&seed) % sizeof(payload)));
		}
		CHECK(seen_ready && seen_quiet);
		CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
		consumer_close(&consumer);
	}
	close(fd);
}

static void acknowledge_losses(struct consumer *consumer)
{
	unsigned int cpu;

	for (cpu = 0; cpu < consumer->setup.rings; cpu++)
		if (consumer->rings[cpu].header)
			consumer->rings[cpu].consumer->lost_seen =
				consumer->rings[cpu].header->lost_total;
}

TEST(poll_reports_loss)
{
	struct eventlog_subscribe request = subscribe_request(2 * page_size());
	unsigned char *payload = pages_map(EVENTLOG_PAYLOAD_MAX);
	struct eventlog_register event;
	struct consumer consumer;
	unsigned int round;
	int fd = device_open();

	event = register_event(fd, "event");
	request.watermark = request.ring_bytes;
	consumer_open_with(&consumer, &request);
	rule_add(consumer.fd, NULL, NULL);
	for (round = 0; round < 10; round++) {
		CHECK_EQ(poll_now(consumer.fd), 0);
		/* A loss alone, with an empty ring. */
		CHECK_OK(emit(fd, event.write_index, payload, 2 * page_size()));
		CHECK_EQ(poll_now(consumer.fd), 1);
		CHECK_EQ(consumer_skip(&consumer), 0);
		CHECK_EQ(poll_now(consumer.fd), 1);
		acknowledge_losses(&consumer);
		CHECK_EQ(poll_now(consumer.fd), 0);
		/* Fill the ring until an event is lost. */
		while (lost_sum(stat_all(consumer.fd).lost) < 2 * round + 2)
			CHECK_OK(emit(fd, event.write_index, payload, 100));
		CHECK_EQ(poll_now(consumer.fd), 1);
		consumer_skip(&consumer);
		CHECK_EQ(poll_now(consumer.fd), 1);
		acknowledge_losses(&consumer);
		CHECK_EQ(poll_now(consumer.fd), 0);
	}
	consumer_close(&consumer);
	close(fd);
}

TEST(poll_without_rings)
{
	struct eventlog_register event;
	struct consumer consumer;
	int fd = device_open();

	event = register_event(fd, "event");
	consumer_open(&consumer, 0);
	rule_add(consumer.fd, NULL, NULL);
	CHECK_OK(emit(fd, event.write_index, "", 0));
	CHECK_EQ(poll_now(consumer.fd), 0);
	consumer_close(&consumer);
	close(fd);
}

/* A thread that sleeps in poll() while another one writes; they alternate. */
struct sleeper {
	struct consumer consumer;
	bool with_epoll;
	unsigned int rounds;
	unsigned int each;		/* events in a round */
	unsigned int taken;		/* finished rounds */
	pid_t tid;
};

static void *sleep_and_take(void *argument)
{
	struct sleeper *sleeper = argument;
	struct pollfd request = { .fd = sleeper->consumer.fd, .events = POLLIN };
	struct epoll_event event = { .events = EPOLLIN };
	unsigned int round, got;
	int set = -1;

	if (sleeper->with_epoll) {
		set = CHECK_OK(epoll_create1(EPOLL_CLOEXEC));
		CHECK_OK(epoll_ctl(set, EPOLL_CTL_ADD, sleeper->consumer.fd, &event));
	}
	__atomic_store_n(&sleeper->tid, thread_id(), __ATOMIC_RELEASE);
	for (round = 0; round < sleeper->rounds; round++) {
		for (got = 0; got < sleeper->each; got += consumer_skip(&sleeper->consumer)) {
			if (sleeper->with_epoll)
				CHECK_EQ(epoll_wait(set, &event, 1, -1), 1);
			else
				CHECK_EQ(poll(&request, 1, -1), 1);
		}
		CHECK_EQ(got, sleeper->each);
		__atomic_store_n(&sleeper->taken, round + 1, __ATOMIC_RELEASE);
	}
	if (set >= 0)
		close(set);
	return NULL;
}

static void wake_sleeper(bool with_epoll, __u64 watermark, unsigned int each, bool asleep,
			 unsigned int rounds)
{
	struct eventlog_subscribe request = subscribe_request(RING_BYTES);
	struct sleeper sleeper = { .with_epoll = with_epoll, .rounds = rounds, .each = each };
	struct eventlog_register event;
	unsigned int cpus[64], count, round, i;
	pthread_t thread;
	int fd = device_open();

	count = cpus_allowed(cpus, ARRAY_SIZE(cpus));
	event = register_event(fd, "event u64 value");
	request.watermark = watermark;
	consumer_open_with(&sleeper.consumer, &request);
	rule_add(sleeper.consumer.fd, NULL, NULL);
	CHECK_EQ(pthread_create(&thread, NULL, sleep_and_take, &sleeper), 0);
	WAIT_FOR(__atomic_load_n(&sleeper.tid, __ATOMIC_ACQUIRE));
	for (round = 0; round < rounds; round++) {
		test_note("round %u", round);
		while (__atomic_load_n(&sleeper.taken, __ATOMIC_ACQUIRE) != round)
			sched_yield();
		if (asleep)
			WAIT_FOR(thread_sleeps(sleeper.tid));
		cpu_pin(cpus[round % count]);
		for (i = 0; i < each; i++)
			CHECK_OK(emit(fd, event.write_index, "12345678", 8));
	}
	CHECK_EQ(pthread_join(thread, NULL), 0);
	consumer_close(&sleeper.consumer);
	close(fd);
}

TEST(poll_wakes_a_sleeper)
{
	wake_sleeper(false, 0, 1, true, 100);
}

TEST(epoll_wakes_a_sleeper)
{
	wake_sleeper(true, 0, 1, true, 100);
}

/* The event is written while the reader is about to sleep, when a wake-up could be missed. */
TEST(poll_misses_no_wakeup)
{
	wake_sleeper(false, 0, 1, false, 1000);
}

TEST(epoll_misses_no_wakeup)
{
	wake_sleeper(true, 0, 1, false, 1000);
}

/* Records of 40 bytes: the 25th reaches the watermark. */
TEST(poll_wakes_at_the_watermark)
{
	wake_sleeper(false, 1000, 25, true, 50);
}

TEST(epoll_wakes_at_the_watermark)
{
	wake_sleeper(true, 1000, 25, false, 100);
}

/* Several threads that sleep on one file are all woken. */
static void *poll_once(void *argument)
{
	struct sleeper *sleeper = argument;
	struct pollfd request = { .fd = sleeper->consumer.fd, .events = POLLIN };

	__atomic_store_n(&sleeper->tid, thread_id(), __ATOMIC_RELEASE);
	CHECK_EQ(poll(&request, 1, -1), 1);
	return NULL;
}

TEST(poll_wakes_all_sleepers)
{
	struct sleeper sleepers[4];
	pthread_t threads[ARRAY_SIZE(sleepers)];
	struct eventlog_register event;
	struct consumer consumer;
	unsigned int round, i;
	int fd = device_open();

	event = register_event(fd, "event");
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < ARRAY_SIZE(sleepers); i++) {
			sleepers[i] = (struct sleeper){ .consumer = consumer };
			CHECK_EQ(pthread_create(&threads[i], NULL, poll_once, &sleepers[i]), 0);
		}
		for (i = 0; i < ARRAY_SIZE(sleepers); i++) {
			WAIT_FOR(__atomic_load_n(&sleepers[i].tid, __ATOMIC_ACQUIRE));
			WAIT_FOR(thread_sleeps(sleepers[i].tid));
		}
		CHECK_OK(emit(fd, event.write_index, "", 0));
		for (i = 0; i < ARRAY_SIZE(sleepers); i++)
			CHECK_EQ(pthread_join(threads[i], NULL), 0);
		CHECK_EQ(consumer_skip(&consumer), 1);
	}
	consumer_close(&consumer);
	close(fd);
}

/* A loss also wakes a sleeping reader. */
TEST(poll_wakes_after_loss)
{
	struct eventlog_subscribe request = subscribe_request(2 * page_size());
	unsigned char *payload = pages_map(4 * page_size());
	struct sleeper sleeper = { .rounds = 0 };
	struct eventlog_register event;
	pthread_t thread;
	unsigned int round;
	int fd = device_open();

	event = register_event(fd, "event");
	request.watermark = request.ring_bytes;
	consumer_open_with(&sleeper.consumer, &request);
	rule_add(sleeper.consumer.fd, NULL, NULL);
	for (round = 0; round < 20; round++) {
		sleeper.tid = 0;
		CHECK_EQ(pthread_create(&thread, NULL, poll_once, &sleeper), 0);
		WAIT_FOR(__atomic_load_n(&sleeper.tid, __ATOMIC_ACQUIRE));
		WAIT_FOR(thread_sleeps(sleeper.tid));
		CHECK_OK(emit(fd, event.write_index, payload, 3 * page_size()));
		CHECK_EQ(pthread_join(thread, NULL), 0);
		acknowledge_losses(&sleeper.consumer);
	}
	consumer_close(&sleeper.consumer);
	close(fd);
}

/* A process that sleeps in poll() can be killed. */
TEST(poll_can_be_killed)
{
	struct consumer consumer;
	unsigned int round;
	pid_t child;
	int ready[2];
	char byte;

	CHECK_OK(pipe(ready));
	for (round = 0; round < 10; round++) {
		child = test_fork();
		if (!child) {
			struct pollfd request = { .events = POLLIN };

			consumer_open(&consumer, RING_BYTES);
			rule_add(consumer.fd, NULL, NULL);
			request.fd = consumer.fd;
			CHECK_EQ(write(ready[1], "", 1), 1);
			poll(&request, 1, -1);
			_exit(1);
		}
		CHECK_EQ(read(ready[0], &byte, 1), 1);
		WAIT_FOR(thread_sleeps(child));
		CHECK_OK(kill(child, SIGKILL));
		test_join_signal(child, SIGKILL);
	}
}

/* ------------------------------------------------------------------------
 * Overwrite mode
 */

/* The newest records can be copied when the reader checks its bounds. */
TEST(overwrite_keeps_the_newest)
{
	struct eventlog_subscribe request = subscribe_request(4 * page_size());
	unsigned char *payload = pages_map(page_size());
	const struct eventlog_ring_header *header;
	struct eventlog_register event;
	struct consumer consumer;
	__u64 i, position, expected = 0, newest = 0;
	unsigned int cpus[1], found;
	int fd = device_open();

	request.flags = EVENTLOG_SUBSCRIBE_OVERWRITE;
	CHECK(cpus_allowed(cpus, 1));
	cpu_pin(cpus[0]);
	event = register_event(fd, "event u64 number");
	consumer_open_with(&consumer, &request);
	rule_add(consumer.fd, NULL, NULL);
	header = consumer.rings[cpus[0]].header;
	for (i = 1; i < 2000; i++) {
		memcpy(payload, &i, sizeof(i));
		CHECK_OK(emit(fd, event.write_index, payload, 8 + i % 300));
		newest = i;

		/* No writer runs now: every sub-buffer from the oldest whole one on is valid. */
		if (i % 100)
			continue;
		position = header->head < header->data_bytes ? 0 :
			ALIGN_UP(header->head - header->data_bytes, header->sub_buffer_bytes);
		for (expected = 0, found = 0; position < header->committed;) {
			const __u64 at = position & (header->data_bytes - 1);
			const struct eventlog_record *record =
				(const void *)(consumer.rings[cpus[0]].data + at);
			const __u32 size = record->size_flags & EVENTLOG_RECORD_SIZE_MASK;
			__u64 number;

			CHECK(size >= 8 && size % 8 == 0);
			position += size;
			if (record->size_flags >> EVENTLOG_RECORD_TYPE_SHIFT ==
			    EVENTLOG_RECORD_PADDING)
				continue;
			CHECK_EQ(record->size_flags >> EVENTLOG_RECORD_TYPE_SHIFT,
				 EVENTLOG_RECORD_EVENT);
			CHECK_EQ(record->descriptor, event.descriptor);
			memcpy(&number, record + 1, sizeof(number));
			CHECK(!expected || number == expected);
			expected = number + 1;
			found++;
		}
		CHECK_EQ(position, header->committed);
		CHECK_EQ(expected, newest + 1);
		CHECK(found);
	}
	CHECK_EQ(header->records, newest);
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
	consumer_close(&consumer);
	close(fd);
}
