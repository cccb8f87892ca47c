// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of exact accounting under load: every event is delivered whole, once and in
 * its writer's order, or it is counted as lost, however slow the consumer is and
 * whatever else happens in the module.
 *
 * A record's session holds the writer's number and a sequence number.  These two
 * determine the event, its size and every byte.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mapped_common.h"

#define WRITERS 8
#define EVENTS 3
#define CONSUMERS_MAX 3
#define CHURNERS_MAX 4

struct trial;

/* The parameters of a trial. */
struct plan {
	__u64 ring_bytes;
	__u32 sub_buffers;
	size_t payload_max;
	unsigned int writes;		/* per writer */
	unsigned int consumers;
	bool slow;			/* consumers lag behind and lose events */
	unsigned int ahead;		/* limit of unread events: writers wait, nothing is lost */
	bool cpu_bound;			/* writers stay on their CPU */
	bool mapped;			/* writers also use producer rings */
	void (*churn[CHURNERS_MAX])(struct trial *trial);
};

struct writer {
	struct trial *trial;
	unsigned int number;
	int fd;
	__u32 index[EVENTS];
	pid_t tid;
	__u64 attempted[EVENTS];	/* exact when the writer has finished */
	struct mapped ring;
	pthread_t thread;
};

struct checker {
	struct trial *trial;
	struct consumer consumer;
	__u64 delivered[EVENTS];
	__u64 taken;			/* sum over the events, read by the writers */
	__u64 *last[WRITERS][EVENTS];	/* by ring: 1 + sequence of the last record */
	unsigned char *seen[WRITERS];	/* bitmap of sequences */
	pthread_t thread;
};

struct churner {
	struct trial *trial;
	void (*run)(struct trial *trial);
	pthread_t thread;
};

struct trial {
	const struct plan *plan;
	__u64 seed;
	__u32 descriptor[EVENTS];
	struct writer writers[WRITERS];
	struct checker checkers[CONSUMERS_MAX];
	struct churner churners[CHURNERS_MAX];
	unsigned int done;		/* number of finished writers */
	bool stop;			/* ends the churners */
};

static const char *const commands[EVENTS] = { "steady_0", "steady_1", "steady_2" };

/* Seed of the event, size and payload of a writer's next write. */
static __u64 event_state(const struct trial *trial, unsigned int writer, __u64 sequence)
{
	return trial->seed ^ ((__u64)writer << 48 | sequence) * 0x9e3779b97f4a7c15ULL;
}

static void event_plan(const struct trial *trial, unsigned int writer, __u64 sequence,
		       unsigned int *event, size_t *bytes, __u64 *state)
{
	size_t limit = trial->plan->payload_max;

	*state = event_state(trial, writer, sequence);
	*event = test_random(state) % EVENTS;
	/* Mostly small ones, sometimes the largest. */
	switch (test_random(state) % 8) {
	case 0:
		break;
	case 1:
		limit /= 8;
		break;
	default:
		if (limit > 200)
			limit = 200;
	}
	*bytes = test_random(state) % (limit + 1);
}

static void event_fill(unsigned char *payload, size_t bytes, __u64 state)
{
	__u64 word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), payload += sizeof(word)) {
		word = test_random(&state);
		memcpy(payload, &word, sizeof(word));
	}
	word = test_random(&state);
	memcpy(payload, &word, bytes);
}

static __u64 attempted(const struct trial *trial, unsigned int event)
{
	__u64 sum = 0;
	unsigned int i;

	for (i = 0; i < WRITERS; i++)
		sum += __atomic_load_n(&trial->writers[i].attempted[event], __ATOMIC_ACQUIRE);
	return sum;
}

static __u64 attempted_all(const struct trial *trial)
{
	__u64 sum = 0;
	unsigned int event;

	for (event = 0; event < EVENTS; event++)
		sum += attempted(trial, event);
	return sum;
}

static void wait_for_consumers(const struct trial *trial)
{
	unsigned int i;

	for (i = 0; i < trial->plan->consumers; i++)
		while (attempted_all(trial) > trial->plan->ahead +
		       __atomic_load_n(&trial->checkers[i].taken, __ATOMIC_ACQUIRE))
			sched_yield();
}

/* Gives the writer another producer ring, of any kind. */
static void writer_attach(struct writer *writer, __u64 *seed)
{
	const __u32 bytes = mapped_least_bytes() << test_random(seed) % 2;

	if (writer->ring.header) {
		/* The mapping ends it, or finds that it has ended. */
		if (test_random(seed) % 2)
			CHECK_OK(try_detach(writer->fd, writer->ring.attach.ring));
		mapped_unmap(&writer->ring);
	}
	if (test_random(seed) % 2 || !mapped_attach_cycles(&writer->ring, writer->fd, bytes))
		mapped_attach(&writer->ring, writer->fd, bytes);
}

static void write_mapped(struct writer *writer, __u32 index, __u64 session, const void *payload,
			 size_t bytes, __u64 *seed)
{
	const struct eventlog_mapped_record record = {
		.write_index = index, .time = mapped_time(&writer->ring), .session = session,
	};

	if (test_random(seed) % 8 && mapped_put(&writer->ring, record, payload, bytes)) {
		if (mapped_ask(&writer->ring) & EVENTLOG_MAPPED_ASK_KICK)
			CHECK_EQ(mapped_kick(&writer->ring), 8);
	} else {
		CHECK_EQ(mapped_kick_session(&writer->ring, index, session, payload, bytes),
			 20 + bytes);
	}
}

/* Writes an event as one of a batch, or alone. */
static void write_alone(struct writer *writer, __u32 index, __u64 session, const void *payload,
			size_t bytes, bool batch)
{
	const __u32 head[3] = { EVENTLOG_WRITE_BATCH, 12 + bytes, index };
	const struct iovec parts[3] = {
		{ (void *)head, sizeof(head) }, { &session, sizeof(session) },
		{ (void *)payload, bytes },
	};

	if (batch)
		CHECK_EQ(writev(writer->fd, parts, 3), 20 + bytes);
	else
		CHECK_EQ(emit_session(writer->fd, index, session, payload, bytes), 12 + bytes);
}

static void *write_events(void *argument)
{
	struct writer *writer = argument;
	const struct plan *plan = writer->trial->plan;
	unsigned char *payload = malloc(plan->payload_max + 16);
	unsigned int cpus[64], count, event;
	__u64 sequence, state, session, seed = event_state(writer->trial, writer->number, ~0ULL);
	size_t bytes;

	CHECK(payload);
	__atomic_store_n(&writer->tid, thread_id(), __ATOMIC_RELEASE);
	if (plan->cpu_bound) {
		count = cpus_allowed(cpus, ARRAY_SIZE(cpus));
		cpu_pin(cpus[writer->number % count]);
	}
	for (sequence = 0; sequence < plan->writes; sequence++) {
		event_plan(writer->trial, writer->number, sequence, &event, &bytes, &state);
		event_fill(payload + sequence % 8, bytes, state);
		if (plan->ahead)
			wait_for_consumers(writer->trial);
		__atomic_store_n(&writer->attempted[event], writer->attempted[event] + 1,
				 __ATOMIC_RELEASE);
		session = (__u64)writer->number << 48 | sequence;
		if (plan->mapped && test_random(&seed) % 512 == 0)
			writer_attach(writer, &seed);
		if (writer->ring.header)
			write_mapped(writer, writer->index[event], session, payload + sequence % 8,
				     bytes, &seed);
		else
			write_alone(writer, writer->index[event], session, payload + sequence % 8,
				    bytes, plan->mapped);
	}
	if (writer->ring.header)
		mapped_unmap(&writer->ring);
	free(payload);
	__atomic_fetch_add(&writer->trial->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void check_record(struct checker *checker, const struct record *record,
			 unsigned char *expected)
{
	const struct trial *trial = checker->trial;
	const unsigned int number = record->header->session >> 48;
	const __u64 sequence = record->header->session & ((1ULL << 48) - 1);
	unsigned int event;
	__u64 state, *last;
	size_t bytes;

	test_note("session 0x%llx, cpu %u, %zu bytes",
		  (unsigned long long)record->header->session, record->cpu, record->bytes);
	CHECK(number < WRITERS);
	CHECK(sequence < trial->plan->writes);
	event_plan(trial, number, sequence, &event, &bytes, &state);
	CHECK_EQ(record->header->descriptor, trial->descriptor[event]);
	CHECK_EQ(record->header->pid, getpid());
	CHECK_EQ(record->header->tid, trial->writers[number].tid);
	CHECK_EQ(record->bytes, ALIGN_UP(bytes, 8));
	memset(expected + bytes, 0, 8);
	event_fill(expected, bytes, state);
	CHECK(!memcmp(record->payload, expected, record->bytes));

	/* Delivered once, and in the writer's order in each ring. */
	CHECK(!(checker->seen[number][sequence / 8] & 1 << sequence % 8));
	checker->seen[number][sequence / 8] |= 1 << sequence % 8;
	last = &checker->last[number][event][checker->consumer.turn];
	CHECK(sequence + 1 > *last);
	*last = sequence + 1;
	checker->delivered[event]++;
}

static void check_all(struct checker *checker, unsigned char *expected)
{
	struct record record;

	while (consumer_next(&checker->consumer, &record)) {
		check_record(checker, &record, expected);
		/* Writers that wait for the consumer need the room at once. */
		if (checker->trial->plan->ahead)
			consumer_release(&checker->consumer);
		__atomic_store_n(&checker->taken, checker->taken + 1, __ATOMIC_RELEASE);
	}
	test_note("%s", "");
}

static void *consume_events(void *argument)
{
	struct checker *checker = argument;
	struct trial *trial = checker->trial;
	unsigned char *expected = malloc(trial->plan->payload_max + 16);
	struct pollfd request = { .fd = checker->consumer.fd, .events = POLLIN };
	__u64 before;

	CHECK(expected);
	while (__atomic_load_n(&trial->done, __ATOMIC_ACQUIRE) < WRITERS) {
		check_all(checker, expected);
		if (!trial->plan->slow) {
			poll(&request, 1, 1);
			continue;
		}

		before = attempted_all(trial);
		WAIT_FOR(attempted_all(trial) >= before + 500 ||
			 __atomic_load_n(&trial->done, __ATOMIC_ACQUIRE) == WRITERS);
	}
	/* munmap() leaves the records of a ring to the worker. */
	flush(checker->consumer.fd);
	check_all(checker, expected);
	free(expected);
	return NULL;
}

/* The sums match, and all sources of counts agree. */
static void check_accounts(struct checker *checker)
{
	struct trial *trial = checker->trial;
	struct consumer *consumer = &checker->consumer;
	struct eventlog_stat counts = stat_all(consumer->fd);
	__u64 delivered = 0, lost = 0, in_rings[EVENTLOG_LOST_CAUSES] = { 0 };
	unsigned int event, cpu, cause;

	for (event = 0; event < EVENTS; event++) {
		const __u64 event_lost = stat_event_lost(consumer->fd, trial->descriptor[event]);

		test_note("event %u: %llu attempted, %llu delivered, %llu lost", event,
			  (unsigned long long)attempted(trial, event),
			  (unsigned long long)checker->delivered[event],
			  (unsigned long long)event_lost);
		CHECK_EQ(checker->delivered[event] + event_lost, attempted(trial, event));
		delivered += checker->delivered[event];
		lost += event_lost;
	}
	test_note("%s", "");
	CHECK_EQ(counts.records, delivered);
	CHECK_EQ(lost_sum(counts.lost), lost);
	CHECK_EQ(attempted_all(trial), (__u64)WRITERS * trial->plan->writes);
	CHECK_EQ(counts.lost[EVENTLOG_LOST_ABORTED], 0);
	CHECK_EQ(counts.lost[EVENTLOG_LOST_NO_MEMORY], 0);
	CHECK_EQ(counts.lost[EVENTLOG_LOST_DEPTH], 0);
	for (cpu = 0; cpu < consumer->setup.rings; cpu++) {
		const struct ring *ring = &consumer->rings[cpu];

		if (!ring->header)
			continue;
		CHECK_EQ(ring->records, ring->header->records);
		CHECK_EQ(ring->header->head, ring->header->committed);
		CHECK_EQ(ring->position, ring->header->committed);
		CHECK_EQ(ring->header->lost_total, lost_sum(ring->header->lost));
		for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++) {
			in_rings[cause] += ring->header->lost[cause];
			CHECK(ring->lost[cause] <= ring->header->lost[cause]);
		}
	}
	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
		CHECK_EQ(in_rings[cause], counts.lost[cause]);

	if (trial->plan->slow)
		CHECK(lost);
	if (trial->plan->ahead)
		CHECK_EQ(lost, 0);
	CHECK(delivered);
	test_print("%llu delivered, %llu lost", (unsigned long long)delivered,
		   (unsigned long long)lost);
}

/* After one more event on each CPU, lost records and ring headers show the same counts. */
static void check_lost_records(struct trial *trial, int fd, __u32 closing_index)
{
	unsigned int cpus[64], count, cause, i, j;
	struct record record;

	count = cpus_allowed(cpus, ARRAY_SIZE(cpus));
	for (i = 0; i < count; i++) {
		cpu_pin(cpus[i]);
		CHECK_EQ(emit(fd, closing_index, "", 0), 4);
		for (j = 0; j < trial->plan->consumers; j++) {
			struct consumer *consumer = &trial->checkers[j].consumer;
			const struct ring *ring = &consumer->rings[cpus[i]];

			consumer_one(consumer, &record);
			CHECK_EQ(record.cpu, cpus[i]);
			for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
				CHECK_EQ(ring->lost[cause], ring->header->lost[cause]);
		}
	}
}

static void *churn(void *argument)
{
	struct churner *churner = argument;

	while (!__atomic_load_n(&churner->trial->stop, __ATOMIC_ACQUIRE))
		churner->run(churner->trial);
	return NULL;
}

static void checker_open(struct checker *checker, struct trial *trial)
{
	struct eventlog_subscribe request = subscribe_request(trial->plan->ring_bytes);
	unsigned int writer, event;

	checker->trial = trial;
	request.sub_buffers = trial->plan->sub_buffers;
	request.flags = trial->plan->mapped ? EVENTLOG_SUBSCRIBE_MAPPED : 0;
	consumer_open_with(&checker->consumer, &request);
	rule_add(checker->consumer.fd, "user", "steady_*");
	for (writer = 0; writer < WRITERS; writer++) {
		checker->seen[writer] = calloc(1, trial->plan->writes / 8 + 1);
		CHECK(checker->seen[writer]);
		for (event = 0; event < EVENTS; event++) {
			checker->last[writer][event] = calloc(checker->consumer.setup.rings,
							      sizeof(__u64));
			CHECK(checker->last[writer][event]);
		}
	}
}

static void run_trial(const struct plan *plan)
{
	struct trial *trial = calloc(1, sizeof(*trial));
	struct eventlog_register closing, request;
	unsigned int i, event;
	int fd = device_open();

	CHECK(trial);
	trial->plan = plan;
	trial->seed = test_seed();
	closing = register_event(fd, "steady_closing");
	for (i = 0; i < WRITERS; i++) {
		struct writer *writer = &trial->writers[i];

		writer->trial = trial;
		writer->number = i;
		writer->fd = i % 2 ? fd : device_open();
		for (event = 0; event < EVENTS; event++) {
			request = register_request(commands[event]);
			request.flags = EVENTLOG_REGISTER_SESSION;
			register_with(writer->fd, &request);
			writer->index[event] = request.write_index;
			trial->descriptor[event] = request.descriptor;
		}
	}
	for (i = 0; i < plan->consumers; i++)
		checker_open(&trial->checkers[i], trial);
	for (i = 0; i < CHURNERS_MAX && plan->churn[i]; i++) {
		trial->churners[i] = (struct churner){ .trial = trial, .run = plan->churn[i] };
		CHECK_EQ(pthread_create(&trial->churners[i].thread, NULL, churn,
					&trial->churners[i]), 0);
	}
	for (i = 0; i < plan->consumers; i++)
		CHECK_EQ(pthread_create(&trial->checkers[i].thread, NULL, consume_events,
					&trial->checkers[i]), 0);
	for (i = 0; i < WRITERS; i++)
		CHECK_EQ(pthread_create(&trial->writers[i].thread, NULL, write_events,
					&trial->writers[i]), 0);

	for (i = 0; i < WRITERS; i++)
		CHECK_EQ(pthread_join(trial->writers[i].thread, NULL), 0);
	__atomic_store_n(&trial->stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < plan->consumers; i++)
		CHECK_EQ(pthread_join(trial->checkers[i].thread, NULL), 0);
	for (i = 0; i < CHURNERS_MAX && plan->churn[i]; i++)
		CHECK_EQ(pthread_join(trial->churners[i].thread, NULL), 0);
	for (i = 0; i < plan->consumers; i++)
		check_accounts(&trial->checkers[i]);
	check_lost_records(trial, fd, closing.write_index);
	for (i = 0; i < plan->consumers; i++)
		consumer_close(&trial->checkers[i].consumer);
	for (i = 0; i < WRITERS; i++)
		if (trial->writers[i].fd != fd)
			close(trial->writers[i].fd);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Concurrent changes
 */

/* Registers and unregisters the writers' definitions and others, on another file. */
static void churn_registrations(struct trial *trial)
{
	int fd = device_open();
	__u32 indexes[32];
	char command[64];
	unsigned int i;

	(void)trial;
	for (i = 0; i < ARRAY_SIZE(indexes); i++) {
		struct eventlog_register request;

		if (i % 2)
			snprintf(command, sizeof(command), "steady_%u", i % EVENTS);
		else
			snprintf(command, sizeof(command), "passing_%u u32 value", i);
		request = register_event(fd, command);
		indexes[i] = request.write_index;
	}
	for (i = 0; i < ARRAY_SIZE(indexes); i += 3)
		CHECK_OK(try_unregister(fd, indexes[i]));
	close(fd);
}

/* Adds and deletes more rules of the subscribers, which match nothing new. */
static void churn_rules(struct trial *trial)
{
	static const char *const globs[] = { "steady_0", "steady_[12]", "*", "passing_*x", NULL };
	__u32 rules[ARRAY_SIZE(globs)];
	unsigned int i, j;

	for (j = 0; j < trial->plan->consumers; j++) {
		const int fd = trial->checkers[j].consumer.fd;

		for (i = 0; i < ARRAY_SIZE(globs); i++) {
			struct eventlog_rule rule = rule_request("user", globs[i]);

			/* Do not match the passing events, which the checkers do not know. */
			rule.flags = EVENTLOG_RULE_SESSION | (i % 2 ? EVENTLOG_RULE_PID : 0);
			rule.session = 7;
			rule.pid = i % 2 ? (__u32)getpid() : 0;
			rule.sample = i;
			rules[i] = rule_add_with(fd, &rule);
		}
		for (i = 0; i < ARRAY_SIZE(globs); i++)
			CHECK_OK(try_rule_delete(fd, rules[i]));
	}
}

/* Opens and closes other subscribers, with and without rings. */
static void churn_subscribers(struct trial *trial)
{
	struct consumer consumers[3];
	unsigned int i;

	(void)trial;
	for (i = 0; i < ARRAY_SIZE(consumers); i++) {
		consumer_open(&consumers[i], i ? 2 * page_size() << i : 0);
		rule_add(consumers[i].fd, NULL, i % 2 ? NULL : "steady_*");
	}
	sched_yield();
	if (consumers[1].rings)
		consumer_skip(&consumers[1]);
	for (i = 0; i < ARRAY_SIZE(consumers); i++)
		consumer_close(&consumers[i]);
}

/* Forks processes that inherit the files, write events of their own and are killed. */
static void churn_processes(struct trial *trial)
{
	pid_t child;
	int ready[2];
	char byte;

	(void)trial;
	CHECK_OK(pipe(ready));
	child = test_fork();
	if (!child) {
		int fd = device_open();
		struct eventlog_register event = register_event(fd, "passing_child u64 value");
		bool reported = false;

		for (;;) {
			if (emit(fd, event.write_index, "12345678", 8) < 0)
				CHECK_EQ(errno, EBADF);
			if (!reported)
				reported = write(ready[1], "", 1) == 1;
		}
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK_OK(kill(child, SIGKILL));
	test_join_signal(child, SIGKILL);
	close(ready[0]);
	close(ready[1]);
}

/* Threads that write anything into producer rings, beside those of the writers. */
static void churn_hostile_rings(struct trial *trial)
{
	int fd = device_open();
	const __u32 index = register_event(fd, "passing_hostile u64 value").write_index;
	static __u64 count;
	__u64 seed = trial->seed + __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED), random;
	struct mapped ring;
	unsigned int i;

	mapped_attach(&ring, fd, mapped_least_bytes());
	for (i = 0; i < 300 && !(mapped_ask(&ring) & EVENTLOG_MAPPED_ASK_LEAVE); i++) {
		const struct eventlog_mapped_record record = {
			.write_index = index, .time = test_random(&seed) % 2 * ~0ULL,
		};

		random = test_random(&seed);
		mapped_put(&ring, record, &random, sizeof(random));
		if (random % 16 == 0)
			CHECK(mapped_kick(&ring) == 8);
		if (random % 256 == 1)
			memcpy(ring.data + (random >> 8) % ring.attach.data_bytes / 8 * 8, &random,
			       sizeof(random));
		if (random % 1024 == 2)
			ring.header->committed = random >> 32;
	}
	mapped_unmap(&ring);
	close(fd);
}

/* A process with a producer ring, which is killed, executes a program, or exits. */
static void churn_mapped_processes(struct trial *trial)
{
	static unsigned int count;
	const unsigned int end = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % 3;
	struct mapped ring;
	pid_t child;
	int ready[2];
	char byte;

	(void)trial;
	CHECK_OK(pipe(ready));
	child = test_fork();
	if (!child) {
		int fd = device_open();
		__u32 index = register_event(fd, "passing_mapped u64 value").write_index;
		__u64 i;

		mapped_attach(&ring, fd, mapped_least_bytes());
		for (i = 0; i < 200 || !end; i++) {
			const struct eventlog_mapped_record record = { .write_index = index };

			if (!mapped_put(&ring, record, &i, sizeof(i)))
				mapped_kick(&ring);
			if (i == 100)
				CHECK_EQ(write(ready[1], "", 1), 1);
		}
		if (end == 1)
			_exit(0);
		CHECK_OK(dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO));
		execl("/proc/self/exe", "stress_test", "-h", NULL);
		_exit(1);
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	if (!end)
		CHECK_OK(kill(child, SIGKILL));
	CHECK_EQ(waitpid(child, NULL, 0), child);
	close(ready[0]);
	close(ready[1]);
}

static void churn_flush(struct trial *trial)
{
	unsigned int i;

	for (i = 0; i < trial->plan->consumers; i++) {
		const int fd = trial->checkers[i].consumer.fd;
		struct eventlog_pause request = { .size = sizeof(request), .paused = 1 };

		flush(fd);
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_PAUSE, &request));
		request.paused = 0;
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_PAUSE, &request));
	}
}

/* ------------------------------------------------------------------------ */

TEST(smallest_rings)
{
	const struct plan plan = {
		.ring_bytes = 2 * page_size(), .payload_max = page_size() + 500,
		.writes = 10000, .consumers = 1, .slow = true,
	};

	run_trial(&plan);
}

TEST(smallest_rings_with_pinned_writers)
{
	const struct plan plan = {
		.ring_bytes = 2 * page_size(), .payload_max = page_size() / 2,
		.writes = 10000, .consumers = 1, .slow = true, .cpu_bound = true,
	};

	run_trial(&plan);
}

TEST(fast_consumer)
{
	const struct plan plan = {
		.ring_bytes = 4 << 20, .payload_max = EVENTLOG_PAYLOAD_MAX,
		.writes = 3000, .consumers = 1,
	};

	run_trial(&plan);
}

/* Writers wait for the consumer: nothing is lost during hundreds of laps of the ring. */
TEST(nothing_lost_when_writers_wait)
{
	const struct plan plan = {
		.ring_bytes = 16 * page_size(), .payload_max = page_size(),
		.writes = 4000, .consumers = 2, .ahead = 4,
	};

	run_trial(&plan);
}

TEST(nothing_lost_of_large_events)
{
	const struct plan plan = {
		.ring_bytes = 4 << 20, .payload_max = EVENTLOG_PAYLOAD_MAX,
		.writes = 1000, .consumers = 1, .ahead = 40,
	};

	run_trial(&plan);
}

TEST(fast_consumer_small_rings)
{
	const struct plan plan = {
		.ring_bytes = 4 * page_size(), .sub_buffers = 4, .payload_max = page_size() / 2,
		.writes = 10000, .consumers = 1,
	};

	run_trial(&plan);
}

TEST(many_sub_buffers)
{
	const struct plan plan = {
		.ring_bytes = 256 * page_size(), .sub_buffers = 256, .payload_max = page_size(),
		.writes = 10000, .consumers = 1, .slow = true,
	};
	struct plan smaller = plan;

	/* A ring so small that a slow consumer loses events. */
	smaller.ring_bytes = 8 * page_size();
	smaller.sub_buffers = 8;
	run_trial(&smaller);
	smaller = plan;
	smaller.slow = false;
	run_trial(&smaller);
}

TEST(several_consumers)
{
	const struct plan plan = {
		.ring_bytes = 4 * page_size(), .payload_max = 1000,
		.writes = 5000, .consumers = 3,
	};

	run_trial(&plan);
}

TEST(registrations_change)
{
	const struct plan plan = {
		.ring_bytes = 8 * page_size(), .payload_max = 3000,
		.writes = 6000, .consumers = 1,
		.churn = { churn_registrations, churn_registrations },
	};

	run_trial(&plan);
}

TEST(rules_change)
{
	const struct plan plan = {
		.ring_bytes = 8 * page_size(), .payload_max = 3000,
		.writes = 6000, .consumers = 2,
		.churn = { churn_rules, churn_rules },
	};

	run_trial(&plan);
}

TEST(subscribers_change)
{
	const struct plan plan = {
		.ring_bytes = 8 * page_size(), .payload_max = 3000,
		.writes = 6000, .consumers = 1,
		.churn = { churn_subscribers, churn_subscribers },
	};

	run_trial(&plan);
}

TEST(processes_change)
{
	const struct plan plan = {
		.ring_bytes = 8 * page_size(), .payload_max = 3000,
		.writes = 6000, .consumers = 1,
		.churn = { churn_processes, churn_processes },
	};

	run_trial(&plan);
}

TEST(producer_rings)
{
	const struct plan plan = {
		.ring_bytes = 4 << 20, .payload_max = EVENTLOG_PAYLOAD_MAX,
		.writes = 6000, .consumers = 1, .mapped = true,
	};
	struct plan small = plan;

	run_trial(&plan);
	small.ring_bytes = 2 * page_size();
	small.payload_max = page_size() / 2;
	small.consumers = 2;
	small.slow = true;
	run_trial(&small);
}

TEST_WITHIN(producer_rings_while_everything_changes, 900)
{
	const struct plan plan = {
		.ring_bytes = 8 * page_size(), .payload_max = page_size(),
		.writes = 6000, .consumers = 2, .slow = true, .mapped = true,
		.churn = { churn_hostile_rings, churn_mapped_processes, churn_subscribers,
			   churn_flush },
	};

	do {
		run_trial(&plan);
	} while (test_has_time());
}

TEST_WITHIN(everything_changes, 900)
{
	const struct plan plan = {
		.ring_bytes = 2 * page_size(), .payload_max = page_size(),
		.writes = 3000, .consumers = 2, .slow = true,
		.churn = { churn_registrations, churn_rules, churn_subscribers, churn_processes },
	};

	do {
		run_trial(&plan);
	} while (test_has_time());
}
