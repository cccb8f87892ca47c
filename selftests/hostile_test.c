// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests with hostile users: a consumer that overwrites its page, random calls,
 * payloads and mappings, and races on one file.  A correct user beside them is not
 * disturbed, and all resources are released.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hostile_common.h"

#define RING_BYTES (16 * page_size())

/* ------------------------------------------------------------------------
 * The consumer's page
 */
#define WRITERS 4
#define WRITES 4000

struct hostile_users {
	struct consumer good;
	struct consumer bad[2];
	int fd;
	__u32 index;
	__u64 attempted;
	__u64 taken;
	bool stop;
	__u64 seed;
};

struct user_writer {
	struct hostile_users *users;
	__u64 number;
};

static size_t correct_bytes(__u64 number)
{
	return 16 + number * 37 % 1500;
}

static void *write_correctly(void *argument)
{
	struct user_writer *writer = argument;
	struct hostile_users *users = writer->users;
	unsigned char payload[16 + 1500];
	__u64 i, number;

	for (i = 0; i < WRITES; i++) {
		number = writer->number << 32 | i;
		memset(payload, (int)(number * 131 >> 3), sizeof(payload));
		memcpy(payload, &number, sizeof(number));
		CHECK_EQ(emit(users->fd, users->index, payload, correct_bytes(i)),
			 4 + correct_bytes(i));
		/* Wait from time to time, so that the correct consumer loses nothing. */
		if (__atomic_add_fetch(&users->attempted, 1, __ATOMIC_ACQ_REL) % 8)
			continue;
		while (__atomic_load_n(&users->attempted, __ATOMIC_ACQUIRE) >
		       __atomic_load_n(&users->taken, __ATOMIC_ACQUIRE) + 40)
			sched_yield();
	}
	return NULL;
}

static void *overwrite_pages(void *argument)
{
	struct hostile_users *users = argument;
	__u64 seed = users->seed;
	unsigned int i, cpu;

	while (!__atomic_load_n(&users->stop, __ATOMIC_ACQUIRE)) {
		for (i = 0; i < ARRAY_SIZE(users->bad); i++)
			for (cpu = 0; cpu < users->bad[i].setup.rings; cpu++) {
				struct ring *ring = &users->bad[i].rings[cpu];
				__u32 word = test_random(&seed);

				if (!ring->header)
					continue;
				switch (word % 8) {
				case 0:
					ring->consumer->position = word;
					break;
				case 1:
					ring->consumer->position = ring->header->head + word % 64;
					break;
				case 2:
					ring->consumer->position = ring->header->head -
						word % (2 * ring->header->data_bytes);
					break;
				case 3:
					ring->consumer->position = ring->header->head + (1U << 31);
					break;
				case 4:
					ring->consumer->position = ring->header->committed;
					break;
				case 5:
					ring->consumer->lost_seen = word;
					break;
				case 6:
					ring->consumer->lost_seen = ring->header->lost_total;
					break;
				default:
					memset(ring->consumer, word >> 8, page_size());
				}
			}
	}
	return NULL;
}

/* Calls everything that a subscriber can call, on the hostile files. */
static void *call_on(void *argument)
{
	struct hostile_users *users = argument;
	struct pollfd requests[ARRAY_SIZE(users->bad)];
	unsigned int i;

	while (!__atomic_load_n(&users->stop, __ATOMIC_ACQUIRE)) {
		for (i = 0; i < ARRAY_SIZE(users->bad); i++) {
			requests[i] = (struct pollfd){ users->bad[i].fd, POLLIN, 0 };
			stat_all(users->bad[i].fd);
			flush(users->bad[i].fd);
		}
		CHECK_OK(poll(requests, ARRAY_SIZE(requests), 1));
	}
	return NULL;
}

TEST(consumer_overwrites_its_page)
{
	struct eventlog_subscribe request = subscribe_request(4 * page_size());
	struct user_writer writers[WRITERS];
	pthread_t threads[WRITERS], overwriter, caller;
	struct hostile_users users = { .seed = test_seed() };
	struct eventlog_stat counts;
	__u64 numbers[WRITERS] = { 0 }, number;
	struct record record;
	unsigned char byte;
	size_t at, bytes;
	unsigned int i;

	users.fd = device_open();
	users.index = register_event(users.fd, "event u64 number").write_index;
	consumer_open(&users.good, 1 << 18);
	consumer_open(&users.bad[0], 2 * page_size());
	request.flags = EVENTLOG_SUBSCRIBE_OVERWRITE;
	consumer_open_with(&users.bad[1], &request);
	rule_add(users.good.fd, NULL, NULL);
	rule_add(users.bad[0].fd, NULL, NULL);
	rule_add(users.bad[1].fd, NULL, NULL);
	CHECK_EQ(pthread_create(&overwriter, NULL, overwrite_pages, &users), 0);
	CHECK_EQ(pthread_create(&caller, NULL, call_on, &users), 0);
	for (i = 0; i < WRITERS; i++) {
		writers[i] = (struct user_writer){ &users, i };
		CHECK_EQ(pthread_create(&threads[i], NULL, write_correctly, &writers[i]), 0);
	}
	while (users.taken < WRITERS * WRITES) {
		if (!consumer_next(&users.good, &record)) {
			sched_yield();
			continue;
		}
		memcpy(&number, record.payload, sizeof(number));
		CHECK(number >> 32 < WRITERS);
		bytes = correct_bytes((__u32)number);
		byte = number * 131 >> 3;
		CHECK_EQ(record.bytes, ALIGN_UP(bytes, 8));
		for (at = sizeof(number); at < bytes; at++)
			CHECK_EQ(record.payload[at], byte);
		for (; at < record.bytes; at++)
			CHECK_EQ(record.payload[at], 0);
		numbers[number >> 32]++;
		__atomic_store_n(&users.taken, users.taken + 1, __ATOMIC_RELEASE);
	}
	for (i = 0; i < WRITERS; i++) {
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
		CHECK_EQ(numbers[i], WRITES);
	}
	__atomic_store_n(&users.stop, true, __ATOMIC_RELEASE);
	CHECK_EQ(pthread_join(overwriter, NULL), 0);
	CHECK_EQ(pthread_join(caller, NULL), 0);
	CHECK_EQ(lost_sum(stat_all(users.good.fd).lost), 0);

	/* Every event is either delivered to the hostile consumers or counted as lost. */
	for (i = 0; i < ARRAY_SIZE(users.bad); i++) {
		counts = stat_all(users.bad[i].fd);
		CHECK_EQ(counts.records + lost_sum(counts.lost), WRITERS * WRITES);
		consumer_close(&users.bad[i]);
	}
	consumer_close(&users.good);
	close(users.fd);
}

/* Extreme consumer positions, with an event written after each. */
TEST(extreme_consumer_positions)
{
	static const __u32 offsets[] = {
		0, 1, 4, 7, 8, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff8, 0xffffffff,
	};
	struct pollfd request = { .events = POLLIN };
	unsigned char *payload = pages_map(page_size());
	struct consumer consumer, witness;
	struct eventlog_register event;
	struct eventlog_stat before, after;
	unsigned int cpus[1], i, j;
	int fd = device_open();
	struct ring *ring;

	CHECK(cpus_allowed(cpus, 1));
	cpu_pin(cpus[0]);
	event = register_event(fd, "event");
	consumer_open(&consumer, 2 * page_size());
	consumer_open(&witness, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	rule_add(witness.fd, NULL, NULL);
	ring = &consumer.rings[cpus[0]];
	request.fd = consumer.fd;
	for (i = 0; i < 100; i++)
		for (j = 0; j < ARRAY_SIZE(offsets); j++) {
			ring->consumer->position = (i % 2 ? ring->header->head : 0) + offsets[j];
			before = stat_all(consumer.fd);
			CHECK_OK(emit(fd, event.write_index, payload, i * 31 % 3000));
			after = stat_all(consumer.fd);
			CHECK_EQ(after.records + lost_sum(after.lost),
				 before.records + lost_sum(before.lost) + 1);
			CHECK(ring->header->committed == ring->header->head);
			CHECK(ring->header->head % 8 == 0);
			CHECK_OK(poll(&request, 1, 0));
			CHECK_EQ(consumer_skip(&witness), 1);
		}
	consumer_close(&consumer);
	consumer_close(&witness);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Random calls
 */
/* Deletes what the calls made persistent, once nothing uses it any more. */
static bool all_deleted(void)
{
	delete_persistent();
	return !status_now("Active: ");
}

static void make_random_calls(__u64 seed, unsigned int count)
{
	struct hostile *hostile = malloc(sizeof(*hostile));
	unsigned int i;

	CHECK(hostile);
	hostile_begin(hostile, seed);
	for (i = 0; i < count; i++)
		hostile_call(hostile);
	hostile_end(hostile);
	free(hostile);
}

TEST(random_calls)
{
	make_random_calls(test_seed(), 10000);
	WAIT_FOR(all_deleted());
	check_working();
}

static void *make_random_calls_in_thread(void *argument)
{
	make_random_calls(*(__u64 *)argument, 4000);
	return NULL;
}

/* Four threads, which use the same definitions. */
TEST(random_calls_in_four_threads)
{
	pthread_t threads[4];
	__u64 seeds[ARRAY_SIZE(threads)], seed = test_seed();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		seeds[i] = test_random(&seed);
		CHECK_EQ(pthread_create(&threads[i], NULL, make_random_calls_in_thread,
					&seeds[i]), 0);
	}
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	WAIT_FOR(all_deleted());
	check_working();
}

/* Random payloads, checked here by a reference implementation of the module's check. */
struct reference_field {
	size_t word;		/* its offset in the payload */
	bool relative;
	bool string;
};

static int check_reference(const unsigned char *payload, size_t bytes, size_t fixed,
			   const struct reference_field *fields, size_t count)
{
	if (bytes < fixed)
		return EINVAL;
	for (; count; count--, fields++) {
		__u32 word;
		size_t start, size;

		memcpy(&word, payload + fields->word, sizeof(word));
		start = (word & 0xffff) + (fields->relative ? fields->word + 4 : 0);
		size = word >> 16;
		if (start + size > bytes)
			return EBADMSG;
		if (fields->string &&
		    (!size || start + size <= fixed || payload[start + size - 1]))
			return EBADMSG;
	}
	return 0;
}

TEST(random_payloads)
{
	static const struct reference_field fields[] = {
		{ 1, false, true }, { 5, true, true }, { 13, false, false }, { 17, true, false },
	};
	enum { FIXED = 22, ROUNDS = 30000 };
	unsigned int verdicts[3] = { 0 }, round, i;
	unsigned char payload[64];
	struct eventlog_register event;
	struct consumer consumer;
	struct record record;
	__u64 seed = test_seed();
	int fd = device_open();

	event = register_event(fd, "checked u8 a;__data_loc char[] b;__rel_loc char[] c;u32 d;"
			       "__data_loc unsigned char[] e;__rel_loc unsigned char[] f;u8 g");
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	for (round = 0; round < ROUNDS; round++) {
		const size_t bytes = FIXED - 2 + test_random(&seed) % 24;
		ssize_t result;
		int verdict;

		for (i = 0; i < bytes; i++)
			payload[i] = test_random(&seed) % 4 ? 0 : test_random(&seed);
		for (i = 0; i < ARRAY_SIZE(fields); i++) {
			const __u32 base = fields[i].relative ? fields[i].word + 4 : 0;
			const size_t room = bytes > FIXED ? bytes - FIXED : 0;
			const size_t skip = test_random(&seed) % (room + 1);
			__u32 start = FIXED + skip - base;
			__u32 size = test_random(&seed) % (room - skip + 1);
			__u32 word;

			/* Corrupt about one word in eight, some slightly, some completely. */
			if (test_random(&seed) % 8 == 0)
				size += test_random(&seed) % 3;
			else if (test_random(&seed) % 16 == 0)
				size = random_word(&seed);
			else if (test_random(&seed) % 16 == 0)
				start = random_word(&seed);
			word = (size & 0xffff) << 16 | (start & 0xffff);
			memcpy(payload + fields[i].word, &word, sizeof(word));
		}
		verdict = check_reference(payload, bytes, FIXED, fields, ARRAY_SIZE(fields));
		errno = 0;
		result = emit(fd, event.write_index, payload, bytes);
		test_note("round %u: %zu bytes, %zd, %s, expected %s", round, bytes, result,
			  test_errno_name(errno), test_errno_name(verdict));
		if (verdict) {
			CHECK(result == -1 && errno == verdict);
			CHECK_EQ(consumer_skip(&consumer), 0);
		} else {
			CHECK_EQ(result, 4 + bytes);
			consumer_one(&consumer, &record);
			CHECK(!memcmp(record.payload, payload, bytes));
		}
		verdicts[verdict == EINVAL ? 1 : verdict == EBADMSG ? 2 : 0]++;
	}
	test_print("%u valid, %u too short, %u invalid", verdicts[0], verdicts[1], verdicts[2]);
	CHECK(verdicts[0] > 100 && verdicts[1] > 100 && verdicts[2] > 100);
	consumer_close(&consumer);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Random mappings
 */
static __thread sigjmp_buf access_failed;

static void on_access_failed(int number)
{
	siglongjmp(access_failed, number);
}

static void touch(volatile unsigned char *address, bool write)
{
	if (sigsetjmp(access_failed, 1))
		return;
	if (write)
		*address = *address;
	else
		(void)*address;
}

TEST(random_mappings)
{
	const struct sigaction action = { .sa_handler = on_access_failed, .sa_flags = SA_NODEFER };
	static const int advice[] = {
		MADV_DONTNEED, MADV_DOFORK, MADV_DONTFORK, MADV_WILLNEED, MADV_FREE, MADV_COLD,
		MADV_PAGEOUT,
#ifdef MADV_POPULATE_READ
		MADV_POPULATE_READ, MADV_POPULATE_WRITE,
#endif
	};
	const size_t page = page_size();
	struct eventlog_register event;
	struct consumer consumer;
	__u64 seed = test_seed();
	unsigned char *place;
	unsigned int i;
	int fd = device_open();
	size_t whole;

	CHECK_OK(sigaction(SIGSEGV, &action, NULL));
	CHECK_OK(sigaction(SIGBUS, &action, NULL));
	event = register_event(fd, "event");
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	whole = 4 * consumer.setup.ring_stride;
	place = pages_map(whole);
	for (i = 0; i < 10000; i++) {
		unsigned char *at = place + test_random(&seed) % (whole / page) * page;
		size_t bytes = page << test_random(&seed) % 6;
		int protection = test_random(&seed) % 8;
		off_t offset;

		if (at + bytes > place + whole)
			bytes = place + whole - at;
		switch (test_random(&seed) % 8) {
		case 0:
		case 1:
			offset = event.map_offset;
			bytes = event.map_size;
			if (at + bytes > place + whole)
				break;
			mmap(at, bytes, test_random(&seed) % 3 ? PROT_READ : protection,
			     MAP_SHARED | MAP_FIXED, fd, offset);
			break;
		case 2:
		case 3:
			offset = consumer.setup.ring_offset + test_random(&seed) %
				consumer.setup.rings * consumer.setup.ring_stride;
			bytes = consumer.setup.ring_stride;
			if (test_random(&seed) % 2) {
				offset += page;
				bytes = page;
			}
			if (at + bytes > place + whole)
				break;
			mmap(at, bytes, test_random(&seed) % 3 ? PROT_READ : protection,
			     MAP_SHARED | MAP_FIXED, consumer.fd, offset);
			break;
		case 4:
			mprotect(at, bytes, protection);
			break;
		case 5:
			/* Map something else instead of unmapping, so that the range stays ours. */
			mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			break;
		case 6:
			madvise(at, bytes, advice[test_random(&seed) % ARRAY_SIZE(advice)]);
			break;
		case 7:
			mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
			       place + test_random(&seed) % 4 * consumer.setup.ring_stride);
			break;
		}
		touch(at, i % 2);
		touch(place + test_random(&seed) % whole, false);
		if (i % 16 == 0)
			CHECK_OK(emit(fd, event.write_index, "payload", 8));
	}
	CHECK_OK(munmap(place, whole));
	consumer_close(&consumer);
	close(fd);
	check_working();
}

/* ------------------------------------------------------------------------
 * Races on one file
 */
#define RACERS 6

struct race {
	pthread_barrier_t start;
	int fd;
	bool over;
	unsigned int round;
	unsigned int won[RACERS];
	__u32 argument;		/* the index or rule of this round */
	int (*run[RACERS])(struct race *race);
};

struct racer {
	struct race *race;
	unsigned int number;
	pthread_t thread;
};

static void *race_on(void *argument)
{
	struct racer *racer = argument;
	struct race *race = racer->race;

	for (;;) {
		pthread_barrier_wait(&race->start);
		if (race->over)
			return NULL;
		race->won[racer->number] = !race->run[racer->number](race);
		pthread_barrier_wait(&race->start);
	}
}

/* Runs rounds of all racers at once, with calls of before() and after() around each. */
static void run_race(struct race *race, unsigned int rounds, void (*before)(struct race *race),
		     void (*after)(struct race *race))
{
	struct racer racers[RACERS];
	unsigned int i;

	CHECK_EQ(pthread_barrier_init(&race->start, NULL, RACERS + 1), 0);
	for (i = 0; i < RACERS; i++) {
		racers[i] = (struct racer){ .race = race, .number = i };
		CHECK_EQ(pthread_create(&racers[i].thread, NULL, race_on, &racers[i]), 0);
	}
	for (race->round = 0; race->round < rounds; race->round++) {
		before(race);
		pthread_barrier_wait(&race->start);
		pthread_barrier_wait(&race->start);
		after(race);
	}
	race->over = true;
	pthread_barrier_wait(&race->start);
	for (i = 0; i < RACERS; i++)
		CHECK_EQ(pthread_join(racers[i].thread, NULL), 0);
}

static void race_nothing(struct race *race)
{
	(void)race;
}

static void race_open(struct race *race)
{
	race->fd = device_open();
}

static int race_register(struct race *race)
{
	int result = try_register(race->fd, "raced u32 value");

	CHECK(!result || errno == EBUSY);
	return result;
}

static int race_subscribe(struct race *race)
{
	struct eventlog_subscribe request = subscribe_request(2 * page_size());
	int result = ioctl(race->fd, EVENTLOG_IOC_SUBSCRIBE, &request);

	CHECK(!result || errno == EBUSY);
	return result;
}

static int race_rule(struct race *race)
{
	struct eventlog_rule rule = rule_request(NULL, "raced");
	int result = ioctl(race->fd, EVENTLOG_IOC_RULE_ADD, &rule);

	CHECK(!result || errno == EINVAL);
	return result;
}

static int race_other(struct race *race)
{
	struct pollfd request = { race->fd, POLLIN, 0 };
	char buffer[64];

	poll(&request, 1, 0);
	CHECK(read(race->fd, buffer, sizeof(buffer)) >= 0 || errno == EINVAL);
	emit(race->fd, 1, "1234", 4);
	return 0;
}

/* The file got exactly one role, and at most one SUBSCRIBE succeeded. */
static void check_one_role(struct race *race)
{
	const unsigned int registered = race->won[0] + race->won[1];
	const unsigned int subscribed = race->won[2] + race->won[3];

	test_note("round %u: %u registered, %u subscribed", race->round, registered, subscribed);
	CHECK(registered == 0 || registered == 2);
	CHECK(subscribed <= 1);
	CHECK(!registered != !subscribed);
	CHECK(!race->won[4] || subscribed);
	close(race->fd);
}

TEST(race_for_the_role_of_a_file)
{
	struct race race = {
		.run = { race_register, race_register, race_subscribe, race_subscribe, race_rule,
			 race_other },
	};

	run_race(&race, 300, race_open, check_one_role);
}

static int race_unregister(struct race *race)
{
	int result = try_unregister(race->fd, race->argument);

	CHECK(!result || errno == ENOENT);
	return result;
}

static int race_write(struct race *race)
{
	if (emit(race->fd, race->argument, "1234", 4) < 0)
		CHECK(errno == ENOENT || errno == EBADF);
	return -1;
}

static void race_prepare_registration(struct race *race)
{
	race->argument = register_event(race->fd, "raced u32 value").write_index;
}

static unsigned int race_winners(const struct race *race)
{
	unsigned int i, sum = 0;

	for (i = 0; i < RACERS; i++)
		sum += race->won[i];
	return sum;
}

static void check_one_winner(struct race *race)
{
	test_note("round %u: %u winners", race->round, race_winners(race));
	CHECK_EQ(race_winners(race), 1);
}

TEST(race_to_unregister)
{
	struct race race = {
		.run = { race_unregister, race_unregister, race_unregister, race_write, race_write,
			 race_unregister },
	};
	struct consumer consumer;

	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	race.fd = device_open();
	run_race(&race, 500, race_prepare_registration, check_one_winner);
	close(race.fd);
	consumer_close(&consumer);
}

static int race_rule_delete(struct race *race)
{
	int result = try_rule_delete(race->fd, race->argument);

	CHECK(!result || errno == ENOENT);
	return result;
}

static int race_flush(struct race *race)
{
	flush(race->fd);
	return -1;
}

static void race_prepare_rule(struct race *race)
{
	race->argument = rule_add(race->fd, NULL, NULL);
}

TEST(race_to_delete_a_rule)
{
	struct race race = {
		.run = { race_rule_delete, race_rule_delete, race_rule_delete, race_rule_delete,
			 race_flush, race_rule_delete },
	};
	struct consumer consumer;
	int fd = device_open();

	register_event(fd, "event");
	consumer_open(&consumer, RING_BYTES);
	race.fd = consumer.fd;
	run_race(&race, 300, race_prepare_rule, check_one_winner);
	CHECK_EQ(status_now("Busy: "), 0);
	consumer_close(&consumer);
	close(fd);
}

/*
 * REGISTER fails at its end because its result cannot be stored, while another
 * thread uses the write index that it would have returned.
 */
static void *read_only_request;

static int race_register_read_only(struct race *race)
{
	CHECK_ERRNO(ioctl(race->fd, EVENTLOG_IOC_REGISTER, read_only_request), EFAULT);
	return -1;
}

static int race_guess(struct race *race)
{
	__u32 index;

	for (index = 1; index < 4; index++)
		if (try_unregister(race->fd, index))
			CHECK_EQ(errno, ENOENT);
	return -1;
}

/* A registration works until its owner, or a thread that guesses, unregisters it. */
static int race_register_and_write(struct race *race)
{
	struct eventlog_register event = register_request("raced u32 value");
	ssize_t bytes;

	CHECK_OK(ioctl(race->fd, EVENTLOG_IOC_REGISTER, &event));
	bytes = emit(race->fd, event.write_index, "1234", 4);
	if (race->argument)
		CHECK_EQ(bytes, 8);
	else
		CHECK(bytes == 8 || errno == ENOENT);
	if (try_unregister(race->fd, event.write_index))
		CHECK(!race->argument && errno == ENOENT);
	return -1;
}

TEST(race_with_a_failing_register)
{
	struct race race = {
		.run = { race_register_read_only, race_register_read_only,
			 race_register_and_write, race_register_and_write,
			 race_register_read_only, race_register_and_write },
	};
	struct eventlog_register request = register_request("raced u32 value");
	struct consumer consumer;

	read_only_request = pages_map(page_size());
	request.flags = EVENTLOG_REGISTER_PERSIST;
	memcpy(read_only_request, &request, sizeof(request));
	CHECK_OK(mprotect(read_only_request, page_size(), PROT_READ));
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	race.fd = device_open();
	race.argument = true;
	run_race(&race, 300, race_nothing, race_nothing);

	/* The same with a thread that unregisters guessed indexes. */
	race.run[5] = race_guess;
	race.argument = false;
	race.over = false;
	run_race(&race, 300, race_nothing, race_nothing);
	close(race.fd);
	/* The failed registrations did not make the definition persistent. */
	WAIT_FOR(!status_now("Active: "));
	consumer_close(&consumer);
}

/* The size changes while the kernel reads it: the kernel writes only within the struct. */
struct changing_size {
	unsigned char *memory;
	unsigned int cpu;
	bool stop;
};

static void *change_size(void *argument)
{
	struct changing_size *changing = argument;
	volatile __u32 *size = (void *)changing->memory;

	cpu_pin(changing->cpu);
	while (!__atomic_load_n(&changing->stop, __ATOMIC_ACQUIRE)) {
		*size = sizeof(struct eventlog_info);
		*size = 1 << 20;
		*size = 4;
		*size = sizeof(struct eventlog_info);
		*size = 0xffffffff;
	}
	return NULL;
}

TEST(struct_size_changes_during_the_call)
{
	struct changing_size changing = { .memory = pages_map(1 << 20) };
	unsigned int cpus[2], i, succeeded = 0;
	pthread_t thread;
	int fd = device_open();
	size_t at;

	if (cpus_allowed(cpus, 2) < 2)
		SKIP("needs two CPUs");
	changing.cpu = cpus[1];
	cpu_pin(cpus[0]);
	memset(changing.memory, 0, 1 << 20);
	for (at = page_size(); at < 1 << 20; at += page_size())
		changing.memory[at] = 0x5a;
	CHECK_EQ(pthread_create(&thread, NULL, change_size, &changing), 0);
	for (i = 0; i < 100000 || !succeeded; i++) {
		if (ioctl(fd, EVENTLOG_IOC_INFO, changing.memory))
			CHECK(errno == EINVAL || errno == E2BIG);
		else
			succeeded++;
		/* A write beyond the struct would reach this byte. */
		CHECK_EQ(changing.memory[page_size()], 0x5a);
	}
	for (at = page_size(); at < 1 << 20; at += page_size())
		CHECK_EQ(changing.memory[at], 0x5a);
	test_print("%u of %u succeeded", succeeded, i);
	__atomic_store_n(&changing.stop, true, __ATOMIC_RELEASE);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	close(fd);
}

/* close() while other threads use the file descriptor. */
static int race_close(struct race *race)
{
	return close(race->fd);
}

static int race_call(struct race *race)
{
	struct eventlog_subscribe subscribe = subscribe_request(2 * page_size());
	struct eventlog_rule rule = rule_request(NULL, NULL);
	struct eventlog_flush flush_call = { .size = sizeof(flush_call) };

	ioctl(race->fd, EVENTLOG_IOC_SUBSCRIBE, &subscribe);
	ioctl(race->fd, EVENTLOG_IOC_RULE_ADD, &rule);
	ioctl(race->fd, EVENTLOG_IOC_FLUSH, &flush_call);
	return -1;
}

static int race_map(struct race *race)
{
	void *address = mmap(NULL, page_size(), PROT_READ, MAP_SHARED, race->fd, page_size());

	if (address != MAP_FAILED)
		munmap(address, page_size());
	return -1;
}

static int race_register_any(struct race *race)
{
	try_register(race->fd, "raced u32 value");
	return -1;
}

TEST(race_with_close)
{
	struct race race = {
		.run = { race_close, race_call, race_map, race_register_any, race_call,
			 race_register_any },
	};

	run_race(&race, 300, race_open, check_one_winner);
	check_working();
}

static int race_definitions(struct race *race)
{
	__u64 buffer[128];
	struct eventlog_list list = list_request(EVENTLOG_LIST_DEFINITIONS, buffer, 0);
	const struct eventlog_definition *definition = (void *)buffer;
	unsigned int i;

	for (i = 0; i < 30; i++) {
		list.buffer_size = sizeof(buffer);
		CHECK_OK(ioctl(race->fd, EVENTLOG_IOC_LIST, &list));
		CHECK(list.buffer_size <= sizeof(buffer));
		if (!list.count)
			continue;
		CHECK(definition->size <= list.buffer_size);
		CHECK(!strncmp((char *)(definition + 1), "eventlog 1\nprovider ", 20));
	}
	return -1;
}

/* Threads describe, list and delete definitions while others create them. */
static int race_describe(struct race *race)
{
	struct eventlog_describe request = { .size = sizeof(request) };
	char text[512];
	unsigned int i;

	for (i = 0; i < 30; i++) {
		request.descriptor++;
		request.text = PTR(text);
		request.text_size = sizeof(text);
		if (ioctl(race->fd, EVENTLOG_IOC_DESCRIBE, &request)) {
			CHECK_EQ(errno, ENOENT);
			continue;
		}
		CHECK_EQ(strnlen(text, sizeof(text)) + 1, request.text_size);
		CHECK(!strncmp(text, "eventlog 1\nprovider ", 20));
	}
	return race_definitions(race);
}

static int race_list(struct race *race)
{
	char *text = status_read();

	(void)race;
	CHECK(text);
	CHECK(status_number(text, "Active: ") >= 0);
	free(text);
	return -1;
}

static int race_persist(struct race *race)
{
	struct eventlog_register request = register_request("raced u32 value");
	int fd = device_open();

	(void)race;
	request.flags = EVENTLOG_REGISTER_PERSIST;
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_REGISTER, &request));
	try_delete(fd, NULL, "raced");
	close(fd);
	return -1;
}

static int race_delete(struct race *race)
{
	if (try_delete(race->fd, NULL, "raced"))
		CHECK(errno == ENOENT || errno == EBUSY);
	return -1;
}

static int race_reregister(struct race *race)
{
	int fd = device_open();

	(void)race;
	register_event(fd, "raced u32 value");
	register_event(fd, "raced u64 value");
	close(fd);
	return -1;
}

TEST(race_to_create_and_delete_definitions)
{
	struct race race = {
		.run = { race_describe, race_list, race_persist, race_delete, race_reregister,
			 race_persist },
	};
	struct consumer consumer;

	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "raced");
	race.fd = device_open();
	run_race(&race, 200, race_nothing, race_nothing);
	WAIT_FOR(all_deleted());
	close(race.fd);
	consumer_close(&consumer);
	check_working();
}
