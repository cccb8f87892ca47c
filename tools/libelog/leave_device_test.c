// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of libelog with the kernel module: programs give the device up when the kernel asks for
 * it, the module can then be removed, and each event is delivered or counted, once. Prints TAP.
 *
 * Needs root, and the path of eventlog.ko in EVENTLOG_KO: the tests load and remove it.
 *
 * Giving up meets:	where
 *	threads with rings	test_threads
 *	signal handlers		test_signals
 *	fork()			test_fork
 *	registration		test_register
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "util/test_device.h"
#include "util/util.h"

#define RING_BYTES	(4ULL << 20)
#define THREADS		4

static struct elog_producer *producer;
static struct elog_event *event;

/* Emissions that the program has begun. */
static uint64_t emitted;
static bool is_over;

/* What consumers have seen. */
static uint64_t delivered, away, otherwise_lost;
static int failed;
/* Emissions while the program was connected, and nobody listened. */
static uint64_t unheard;

/* Asks for the device with a new file, which it returns. */
static int ask(uint32_t flags)
{
	struct eventlog_leave request = { .size = sizeof(request), .flags = flags };
	int fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC);

	check(fd >= 0 && !ioctl(fd, EVENTLOG_IOC_LEAVE, &request));
	return fd;
}

static uint32_t live_events(int fd)
{
	struct eventlog_info info = { .size = sizeof(info) };

	check(!ioctl(fd, EVENTLOG_IOC_INFO, &info));
	return info.events;
}

/* Waits until no program has an event. */
static bool all_have_left(int fd)
{
	unsigned int pauses;

	for (pauses = 0; pauses < PAUSES_MAX && live_events(fd); pauses++)
		pause_shortly();
	return !live_events(fd);
}

/* Programs look from time to time whether the device is back, and hold it for a moment. */
static bool can_remove_module(void)
{
	unsigned int pauses;
	int ret = remove_module();

	for (pauses = 0; ret && pauses < PAUSES_MAX; pauses++) {
		pause_shortly();
		ret = remove_module();
	}
	return !ret;
}

static void read_all(struct elog_consumer *consumer)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	struct elog_item item;
	uint32_t i;

	check_equal(elog_consumer_flush(consumer), 0);
	while (elog_consumer_next(consumer, &item) > 0)
		delivered += item.type == ELOG_ITEM_EVENT;
	check_equal(elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat), 0);
	away += stat.lost[EVENTLOG_LOST_AWAY];
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		otherwise_lost += i == EVENTLOG_LOST_AWAY ? 0 : stat.lost[i];
}

static void begin(const char *command)
{
	delivered = 0;
	away = 0;
	otherwise_lost = 0;
	emitted = 0;
	is_over = false;
	check_equal(elog_producer_open(&producer, NULL), 0);
	event = add_event(producer, command);
}

static void emit_one(void)
{
	int ret;

	__atomic_fetch_add(&emitted, 1, __ATOMIC_RELAXED);
	ret = write_number(event, 0, 1);
	if (ret && ret != -EBADF)
		__atomic_store_n(&failed, ret, __ATOMIC_RELAXED);
	if (ret == -EBADF && !elog_event_error(event))
		__atomic_fetch_add(&unheard, 1, __ATOMIC_RELAXED);
}

/* Everything that was emitted was delivered, or counted because the device was away. */
static void check_sum(void)
{
	check_equal(failed, 0);
	check_equal(otherwise_lost, 0);
	check_equal(delivered + away, emitted);
	if (delivered + away != emitted)
		printf("# %llu delivered, %llu away, %llu emitted\n",
		       (unsigned long long)delivered, (unsigned long long)away,
		       (unsigned long long)emitted);
}

/* No one listens: a test of the event has to suffice. */
static void test_disabled(void)
{
	unsigned int i;
	int fd;

	begin("event u32 number");
	check(!elog_event_enabled(event));
	check_equal(remove_module(), -EAGAIN);
	fd = ask(EVENTLOG_LEAVE_PRODUCERS);
	check_equal(live_events(fd), 1);
	/* The program does what it always does. */
	for (i = 0; i < 3; i++)
		if (elog_event_enabled(event))
			check_equal(write_number(event, 0, 1), -EBADF);
	check_equal(live_events(fd), 0);
	check_equal(elog_event_error(event), -ENOTCONN);
	close(fd);
	check(can_remove_module());
	check(!elog_event_enabled(event));
	check_equal(load_module(""), 0);
	while (elog_producer_connect(producer))
		pause_shortly();
	check(!elog_event_enabled(event));
	check_equal(elog_event_error(event), 0);
	elog_producer_close(producer);
}

/* The asker changes its mind: nothing is unloaded, and what was missed meanwhile is counted. */
static void test_change_of_mind(void)
{
	struct elog_consumer *consumer = subscribe(RING_BYTES);
	int fd, i;

	begin("event u32 number");
	for (i = 0; i < 100; i++)
		emit_one();
	fd = ask(EVENTLOG_LEAVE_PRODUCERS);
	for (i = 0; i < 50; i++)
		emit_one();
	check_equal(live_events(fd), 0);
	check_equal(elog_producer_connect(producer), -ESHUTDOWN);
	check_equal(live_events(fd), 0);
	close(fd);
	check_equal(elog_producer_connect(producer), 0);
	for (i = 0; i < 100; i++)
		emit_one();
	read_all(consumer);
	check_equal(away, 50);
	check_sum();
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

/* Threads hold it while they emit. Who waits to write comes first. */
static pthread_rwlock_t emitting = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void *emit_until_over(void *context)
{
	(void)context;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		pthread_rwlock_rdlock(&emitting);
		emit_one();
		pthread_rwlock_unlock(&emitting);
		if (__atomic_load_n(&emitted, __ATOMIC_RELAXED) % 64 == 0)
			sched_yield();
	}
	return NULL;
}

/* Waits until so many more were emitted. */
static void emit_more(uint64_t more)
{
	const uint64_t until = __atomic_load_n(&emitted, __ATOMIC_RELAXED) + more;

	while (__atomic_load_n(&emitted, __ATOMIC_RELAXED) < until)
		pause_shortly();
}

static void on_alarm(int number)
{
	(void)number;
	emit_one();
}

/* Microseconds between alarms; 0: there are none. */
static suseconds_t interval;

static void emit_on_alarms(suseconds_t every)
{
	const struct itimerval timer = { { 0, every }, { 0, every } };

	check_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* Not by testing the event, which would count as an emission. */
static bool is_back(void)
{
	unsigned int pauses;

	for (pauses = 0; pauses < PAUSES_MAX && elog_event_error(event); pauses++)
		pause_shortly();
	return !elog_event_error(event);
}

/*
 * Removes the module and loads it again while the program emits. Between the first moment of the
 * new module and that of the consumer, nobody listens, so the program must not emit.
 */
static struct elog_consumer *replace_module(struct elog_consumer *consumer)
{
	int fd = ask(EVENTLOG_LEAVE_PRODUCERS | EVENTLOG_LEAVE_LINGER);

	check(all_have_left(fd));
	emit_more(100);
	read_all(consumer);
	elog_consumer_close(consumer);
	close(fd);
	check(can_remove_module());
	emit_more(100);
	emit_on_alarms(0);
	pthread_rwlock_wrlock(&emitting);
	check_equal(load_module(""), 0);
	fd = ask(EVENTLOG_LEAVE_PRODUCERS);
	pthread_rwlock_unlock(&emitting);
	emit_on_alarms(interval);
	emit_more(100);
	consumer = subscribe(RING_BYTES);
	close(fd);
	check(is_back());
	return consumer;
}

static void check_threads(void)
{
	struct elog_consumer *consumer = subscribe(16 * RING_BYTES);
	pthread_t threads[THREADS];
	unsigned int i, round;

	begin("event u32 number");
	for (i = 0; i < THREADS; i++)
		check_equal(pthread_create(&threads[i], NULL, emit_until_over, NULL), 0);
	emit_on_alarms(interval);
	for (round = 0; round < 3; round++) {
		emit_more(1000);
		consumer = replace_module(consumer);
	}
	emit_more(1000);
	emit_on_alarms(0);
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	read_all(consumer);
	check(delivered >= 4000 && away >= 300);
	check_sum();
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

static void test_threads(void)
{
	interval = 0;
	check_threads();
}

static void test_signals(void)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	check_equal(sigaction(SIGALRM, &action, NULL), 0);
	interval = 1000;
	check_threads();
}

/* A child that is made while the parent is away counts what it misses, and nothing else. */
static void test_fork(void)
{
	struct elog_consumer *consumer = subscribe(RING_BYTES);
	int fd, status, i, pipes[2];
	char byte;
	pid_t child;

	begin("event u32 number");
	emit_one();
	fd = ask(EVENTLOG_LEAVE_PRODUCERS);
	for (i = 0; i < 10; i++)
		emit_one();
	check_equal(live_events(fd), 0);
	check_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		for (i = 0; i < 7; i++)
			emit_one();
		close(fd);
		close(pipes[1]);
		(void)!read(pipes[0], &byte, 1);
		check_equal(elog_producer_connect(producer), 0);
		emit_one();
		_exit(failures != 0);
	}
	close(fd);
	close(pipes[1]);
	check_equal(waitpid(child, &status, 0), child);
	check(WIFEXITED(status) && !WEXITSTATUS(status));
	read_all(consumer);
	check_equal(away, 7);
	check_equal(delivered, 2);
	away = 0;
	delivered = 0;
	check_equal(elog_producer_connect(producer), 0);
	emit_one();
	read_all(consumer);
	check_equal(away, 17);
	check_equal(delivered, 1);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

/* Events, and a program, that come while the kernel asks. */
static void test_register(void)
{
	struct elog_consumer *consumer = subscribe(RING_BYTES);
	struct elog_producer *newcomer;
	struct elog_event *late, *first, *persistent;
	int fd;

	begin("event u32 number");
	emit_one();
	fd = ask(EVENTLOG_LEAVE_PRODUCERS);
	late = add_event(producer, "late u32 number");
	check_equal(live_events(fd), 0);
	check_equal(elog_producer_open(&newcomer, NULL), 0);
	first = add_event(newcomer, "first u32 number");
	check_equal(write_number(first, 0, 1), -EBADF);
	check_equal(live_events(fd), 0);
	/* Who wants to end at once gets the error. */
	check_equal(elog_producer_connect(newcomer), -ESHUTDOWN);
	check_equal(elog_event_register(newcomer, "libelog_test", "persistent u32 number", 0, 0,
					EVENTLOG_REGISTER_PERSIST, &persistent), 0);
	elog_event_unregister(persistent);
	close(fd);
	check(becomes_enabled(late) && becomes_enabled(first));
	check_equal(write_number(late, 0, 1), 0);
	check_equal(write_number(first, 0, 1), 0);
	check(becomes_enabled(event));
	emit_one();
	elog_producer_close(newcomer);
	read_all(consumer);
	check_equal(delivered, 4);
	check_equal(otherwise_lost + away, 0);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

/* What was missed is reported to a subscriber that comes back after the program. */
static void test_late_subscriber(void)
{
	struct elog_consumer *consumer;
	struct elog_event *other;
	int fd, i;

	begin("event u32 number");
	other = add_event(producer, "other u32 number");
	consumer = subscribe(RING_BYTES);
	emit_one();
	fd = ask(EVENTLOG_LEAVE_PRODUCERS);
	for (i = 0; i < 5; i++)
		emit_one();
	check_equal(live_events(fd), 0);
	read_all(consumer);
	elog_consumer_close(consumer);
	close(fd);
	/* The producer is back before its subscriber is. */
	check_equal(elog_producer_connect(producer), 0);
	check(!elog_event_enabled(event));
	consumer = subscribe(RING_BYTES);
	for (i = 0; i < 100; i++) {
		emit_one();
		check_equal(write_number(other, 0, 1), 0);
	}
	read_all(consumer);
	check_equal(away, 5);
	check_equal(delivered, 201);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

static const struct test tests[] = {
	{ "a program whose events are disabled leaves", test_disabled },
	{ "the device is not unloaded after all", test_change_of_mind },
	{ "the module is replaced while threads emit in rings", test_threads },
	{ "the same, while signal handlers emit, too", test_signals },
	{ "a child that is made meanwhile", test_fork },
	{ "events that are registered meanwhile", test_register },
	{ "the subscriber comes back after the program", test_late_subscriber },
};

static void on_stop(int number)
{
	(void)number;
	is_over = true;
}

/*
 * leave_device_test emit FILE: emits until SIGTERM, without asking whether the module is there;
 * then writes to FILE how often. For the test of elog upgrade.
 */
static int emit_for_others(const char *path)
{
	struct sigaction action = { .sa_handler = on_stop };
	FILE *file = fopen(path, "w");

	if (!file)
		return 1;
	sigaction(SIGTERM, &action, NULL);
	begin("event u32 number");
	/* The first event has a listener, or all of them would not be counted. */
	if (!becomes_enabled(event))
		return 1;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		emit_one();
		if (emitted % 64 == 0)
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	/* Nobody has lost what nobody listened to. */
	fprintf(file, "%llu\n", (unsigned long long)(emitted - unheard));
	fprintf(stderr, "%llu emitted, %llu unheard\n", (unsigned long long)emitted,
		(unsigned long long)unheard);
	if (failed)
		fprintf(file, "failed: %d\n", failed);
	return fclose(file) != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "emit"))
		return emit_for_others(argv[2]);
	return run_device_tests(tests, ELOG_ARRAY_SIZE(tests));
}
