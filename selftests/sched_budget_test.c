// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of limits of eventlog_sched.ko: of the budget that a user without rights has for events,
 * beyond which intervals are in sums and no time is missing; and of the terms that rules have the
 * kernel test in a context switch.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter_common.h"
#include "mapped_common.h"
#include "module_common.h"
#include "sched_common.h"

#define RING_BYTES (4 << 20)
#define RUNNERS 5
#define ROUNDS 4000
#define MIN_NS 10000

/* A thread that hands a byte on; in memory that the test shares with its process. */
struct runner {
	unsigned int index;
	int from, to;
	long switches;
	__u64 begin, end;
	unsigned int offs, summed;
	__u64 time;
};

static struct runner *runners;

static long switches_of_thread(void)
{
	struct rusage usage;

	CHECK_OK(getrusage(RUSAGE_THREAD, &usage));
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static int runners_fd;
static __u32 runners_of;

static void *runner_run(void *argument)
{
	struct runner *runner = argument;
	struct mapped ring;
	unsigned int i;
	char byte;

	mapped_attach(&ring, runners_fd, mapped_least_bytes());
	runner->switches = -switches_of_thread();
	session_set(&ring, runners_of, SESSION + runner->index);
	runner->begin = mapped_time(&ring);
	for (i = 0; i < ROUNDS; i++) {
		CHECK_EQ(read(runner->from, &byte, 1), 1);
		CHECK_EQ(write(runner->to, &byte, 1), 1);
	}
	runner->end = mapped_time(&ring);
	session_set(&ring, 0, 0);
	runner->switches += switches_of_thread();
	/* The last sum is emitted when the thread stops running. */
	sleep_once();
	mapped_unmap(&ring);
	return NULL;
}

static void runners_run(void)
{
	pthread_t threads[RUNNERS];
	int ends[RUNNERS][2];
	unsigned int i;

	runners_fd = device_open();
	runners_of = register_event(runners_fd, "run u32 x").descriptor;
	for (i = 0; i < RUNNERS; i++)
		CHECK_OK(pipe(ends[i]));
	for (i = 0; i < RUNNERS; i++) {
		runners[i].index = i;
		runners[i].from = ends[i][0];
		runners[i].to = ends[(i + 1) % RUNNERS][1];
		CHECK_EQ(pthread_create(&threads[i], NULL, runner_run, &runners[i]), 0);
	}
	CHECK_EQ(write(ends[0][1], "x", 1), 1);
	for (i = 0; i < RUNNERS; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	close(runners_fd);
}

static void runner_count(const struct record *record)
{
	struct runner *runner = &runners[record->header->session - SESSION];
	struct off off;
	struct sum sum;
	unsigned int i;

	if (record->bytes >= sizeof(sum)) {
		memcpy(&sum, record->payload, sizeof(sum));
		runner->summed += sum.count;
		runner->time += sum.runnable;
		for (i = 0; i < ARRAY_SIZE(sum.causes); i++)
			runner->time += sum.causes[i];
	} else {
		memcpy(&off, record->payload, sizeof(off));
		runner->offs++;
		runner->time += off.blocked + off.runnable;
	}
}

/*
 * A user has a thousand events for each CPU in a tenth of a second.  What is beyond is in sums:
 * no interval is missing.  Sums are rare enough for their own budget: those of five threads are
 * at most 800 in that time.
 */
TEST(intervals_beyond_the_budget_are_summed)
{
	const __u64 budget = 1000 * sysconf(_SC_NPROCESSORS_ONLN);
	__u64 begin = ~0ULL, end = 0, whole = 0, time = 0;
	unsigned int cpu, offs = 0, summed = 0, i;
	struct consumer consumer;
	struct record record;
	struct stat node;

	runners = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(runners != MAP_FAILED);
	CHECK(cpus_allowed(&cpu, 1) >= 1);
	cpu_pin(cpu);
	sched_load("min_us=10");
	CHECK_OK(stat(EVENTLOG_DEVICE, &node));
	CHECK_OK(chmod(EVENTLOG_DEVICE, 0666));
	mapped_consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, "sched", NULL);
	as_user(1000, runners_run);
	CHECK_OK(chmod(EVENTLOG_DEVICE, node.st_mode & 0777));
	flush(consumer.fd);
	while (consumer_next(&consumer, &record))
		if (record.header->session - SESSION < RUNNERS && record.bytes >= sizeof(struct off))
			runner_count(&record);
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
	for (i = 0; i < RUNNERS; i++) {
		const struct runner *runner = &runners[i];
		long counted = runner->offs + runner->summed;

		test_note("thread %u: %u events, %u in sums, %ld switches", i, runner->offs,
			  runner->summed, runner->switches);
		/* Only the last sum may be missing, if it is shorter than min_us. */
		CHECK(counted <= runner->switches && counted + 10 >= runner->switches);
		begin = runner->begin < begin ? runner->begin : begin;
		end = runner->end > end ? runner->end : end;
		whole += runner->end - runner->begin;
		time += runner->time;
		offs += runner->offs;
		summed += runner->summed;
	}
	test_print("%u events, %u intervals in sums", offs, summed);
	if (!summed)
		test_print("this machine is too slow to exceed the budget");
	/* One of them runs at a time, at most. */
	CHECK(time + RUNNERS * MIN_NS >= whole - (end - begin));
	/* The first and the last tenth are not whole. */
	CHECK(offs <= budget * ((end - begin) / 100000000 + 2));
	consumer_close(&consumer);
	munmap(runners, page_size());
	sched_unload();
}

/* Adds a rule for an event of sched, with a filter of @terms terms; returns as ioctl(2). */
static int try_terms(int fd, const char *event, unsigned int count, __u32 *id)
{
	struct eventlog_rule request = rule_request(NULL, event);
	struct filter_term terms[EVENTLOG_TERMS_MAX] = {};
	static struct filter filter;
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++)
		terms[i] = (struct filter_term){
			.name = "blocked", .flags = EVENTLOG_TERM_NUMBER,
			.operation = EVENTLOG_TERM_OP_EQUAL, .number = i,
			.on_true = EVENTLOG_FILTER_ACCEPT,
			.on_false = i + 1 < count ? i + 1 : EVENTLOG_FILTER_REJECT,
		};
	if (count) {
		request.filter = filter_fill(&filter, terms, count, NULL);
	} else {
		request.flags = EVENTLOG_RULE_PID;
		request.pid = getpid();
	}
	ret = ioctl(fd, EVENTLOG_IOC_RULE_ADD, &request);
	*id = request.rule_id;
	return ret;
}

/* A rule with 64 terms counts 65. */
#define FULL_RULES (EVENTLOG_LOCKED_TERMS_MAX / (EVENTLOG_TERMS_MAX + 1))
#define REST_TERMS (EVENTLOG_LOCKED_TERMS_MAX % (EVENTLOG_TERMS_MAX + 1))

TEST(terms_of_all_rules_are_limited)
{
	struct consumer consumers[2];
	__u32 ids[FULL_RULES], id;
	struct sched_watch watch;
	unsigned int i;

	sched_watch_open(&watch, "min_us=10");
	for (i = 0; i < 2; i++)
		consumer_open(&consumers[i], 1 << 16);
	for (i = 0; i < FULL_RULES; i++)
		CHECK_OK(try_terms(consumers[i % 2].fd, "off", EVENTLOG_TERMS_MAX, &ids[i]));
	CHECK_ERRNO(try_terms(consumers[0].fd, "off", EVENTLOG_TERMS_MAX, &id), EDQUOT);
	CHECK_ERRNO(try_terms(watch.consumer.fd, "o*", EVENTLOG_TERMS_MAX, &id), EDQUOT);
	CHECK_ERRNO(try_terms(consumers[0].fd, "off", REST_TERMS, &id), EDQUOT);
	CHECK_OK(try_terms(consumers[0].fd, "off", REST_TERMS - 1, &id));
	CHECK_ERRNO(try_terms(consumers[1].fd, "off", 0, &id), EDQUOT);
	/* A rule without conditions is not tested; other events have limits of their own, or none. */
	rule_add(consumers[1].fd, "sched", "off");
	CHECK_OK(try_terms(consumers[1].fd, "sum", EVENTLOG_TERMS_MAX, &id));
	for (i = 0; i < FULL_RULES + 2; i++)
		CHECK_OK(try_terms(consumers[1].fd, "request", EVENTLOG_TERMS_MAX, &id));
	/* What goes makes room. */
	CHECK_OK(try_rule_delete(consumers[0].fd, ids[0]));
	CHECK_OK(try_terms(watch.consumer.fd, "off", EVENTLOG_TERMS_MAX, &id));
	consumer_close(&consumers[1]);
	for (i = 0; i < FULL_RULES / 2; i++)
		CHECK_OK(try_terms(consumers[0].fd, "off", EVENTLOG_TERMS_MAX, &id));
	CHECK_EQ(lost_sum(stat_all(watch.consumer.fd).lost), 0);
	consumer_close(&consumers[0]);
	sched_watch_close(&watch);
}

/*
 * Rules that were there before the module was loaded: who gets nothing by one of them knows it.  A
 * rule that does not fit does not keep others of the subscriber from delivering.
 */
TEST(terms_of_rules_before_the_module)
{
	struct consumer fits, misses, all;
	struct sched_watch watch;
	struct mapped ring;
	unsigned int i;
	__u32 id;

	sched_watch_open(&watch, "");
	sched_unload();
	consumer_open(&fits, 1 << 16);
	consumer_open(&misses, 1 << 16);
	for (i = 0; i < FULL_RULES; i++)
		CHECK_OK(try_terms(fits.fd, "off", EVENTLOG_TERMS_MAX, &id));
	consumer_open(&all, 1 << 16);
	for (i = 0; i < 2; i++) {
		CHECK_OK(try_terms(misses.fd, "off", EVENTLOG_TERMS_MAX, &id));
		CHECK_OK(try_terms(all.fd, "off", EVENTLOG_TERMS_MAX, &id));
	}
	CHECK_OK(try_terms(misses.fd, "off", REST_TERMS - 1, &id));
	rule_add(all.fd, "sched", "off");
	sched_load("");
	CHECK_EQ(lost_sum(stat_all(fits.fd).lost), 0);
	CHECK_EQ(lost_sum(stat_all(watch.consumer.fd).lost), 0);
	CHECK_EQ(stat_all(misses.fd).lost[EVENTLOG_LOST_NO_MEMORY], 1);
	CHECK_EQ(lost_sum(stat_all(misses.fd).lost), 1);
	/* The shorter rule fits, and nothing is left. */
	CHECK_ERRNO(try_terms(fits.fd, "off", 0, &id), EDQUOT);
	/* A rule without conditions delivers everything. */
	CHECK_EQ(lost_sum(stat_all(all.fd).lost), 0);
	mapped_attach(&ring, watch.fd, mapped_least_bytes());
	session_set(&ring, watch.event.descriptor, SESSION);
	sleep_once();
	session_set(&ring, 0, 0);
	CHECK(consumer_skip(&all));
	mapped_unmap(&ring);
	consumer_close(&all);
	consumer_close(&fits);
	consumer_close(&misses);
	sched_watch_close(&watch);
}
