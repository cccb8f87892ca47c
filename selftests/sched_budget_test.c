// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the budget that a user without rights has for events of eventlog_sched.ko: intervals
 * beyond it are in sums, and no time is missing.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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
