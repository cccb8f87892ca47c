// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of eventlog_sched.ko: each interval in which a thread with a session does not run is
 * one event with the right cause and waker, or is in a sum; threads without a session emit
 * nothing, whatever is in their ring's header; and no state of one capture, thread or ring
 * reaches the next one.
 *
 * Which features meet:
 *	rings		unmapped, taken over, two of one thread, ended by a bad record
 *	threads		exit (also with sums), fork, execve
 *	captures	none, a second one after a pause, unloading while threads are blocked
 *	rules		session, pid, filter by cause, by comm
 *	instances	see sched_instance_test.c
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_common.h"
#include "filter_common.h"
#include "mapped_common.h"
#include "sched_common.h"

#define RING_BYTES (1 << 20)
#define OTHER_SESSION 0x07e2ULL

enum cause { PREEMPTED = 1, THROTTLED, YIELD, FUTEX, DISK, FILE_, SOCKET, PIPE, FAULT, SLEEP,
	     POLL, STOPPED, OTHER };
#define HOW_IRQ 2
#define HOW_SOFTIRQ 4

/* A producer, and a subscriber to the provider sched. */
struct watch {
	int fd;
	struct eventlog_register event;
	struct mapped ring;
	struct consumer consumer;
};

static void watch_open_with(struct watch *watch, const char *parameters)
{
	memset(watch, 0, sizeof(*watch));
	sched_load(parameters);
	watch->fd = device_open();
	watch->event = register_event(watch->fd, "request u32 id");
	mapped_attach(&watch->ring, watch->fd, mapped_least_bytes());
	mapped_consumer_open(&watch->consumer, RING_BYTES);
	rule_add(watch->consumer.fd, "sched", NULL);
}

static void watch_open(struct watch *watch)
{
	watch_open_with(watch, "min_us=10");
}

static void watch_close(struct watch *watch)
{
	consumer_close(&watch->consumer);
	if (watch->ring.header)
		mapped_unmap(&watch->ring);
	close(watch->fd);
	sched_unload();
}

static void min_us_set(const char *value)
{
	CHECK_OK(file_write("/sys/module/eventlog_sched/parameters/min_us", value));
}

static void session_enter(struct watch *watch)
{
	session_set(&watch->ring, watch->event.descriptor, SESSION);
}

static void session_leave(struct watch *watch)
{
	session_set(&watch->ring, 0, 0);
}

/*
 * The next event off; sums are skipped.  The thread may have been preempted besides, so callers
 * look for the event that they expect.
 */
static bool off_next(struct watch *watch, struct record *record, struct off *off)
{
	while (consumer_next(&watch->consumer, record)) {
		if (record->bytes < sizeof(*off) || record->bytes > sizeof(*off) + 7)
			continue;
		memcpy(off, record->payload, sizeof(*off));
		CHECK_EQ(off->of, watch->event.descriptor);
		return true;
	}
	return false;
}

/* Finds the next event of this thread with a cause; false: there is none. */
static bool off_try_find(struct watch *watch, enum cause cause, struct off *off)
{
	struct record record;

	flush(watch->consumer.fd);
	while (off_next(watch, &record, off)) {
		CHECK_EQ(record.header->pid, getpid());
		if (record.header->tid != (__u32)thread_id())
			continue;
		CHECK_EQ(record.header->session, SESSION);
		if (off->cause == cause)
			return true;
		test_note("found cause %u, how %u, call %d, by %u", off->cause, off->how, off->call,
			  off->by_tid);
	}
	return false;
}

static struct off off_find(struct watch *watch, enum cause cause)
{
	struct off off;

	CHECK(off_try_find(watch, cause, &off));
	return off;
}

static unsigned int off_count(struct watch *watch)
{
	flush(watch->consumer.fd);
	return consumer_skip(&watch->consumer);
}

/* A thread that ends the wait of another one when that is blocked. */
struct helper {
	pthread_t thread;
	pid_t waits;
	pid_t tid;
	struct watch *watch;
	void (*end)(void *argument);
	void *argument;
};

static void *helper_run(void *argument)
{
	struct helper *helper = argument;
	struct mapped ring;

	mapped_attach(&ring, helper->watch->fd, mapped_least_bytes());
	session_set(&ring, helper->watch->event.descriptor, OTHER_SESSION);
	__atomic_store_n(&helper->tid, thread_id(), __ATOMIC_RELEASE);
	/* Once it works on the session, it sleeps in one place only. */
	WAIT_FOR(__atomic_load_n(&helper->watch->ring.header->session_of, __ATOMIC_ACQUIRE));
	WAIT_FOR(thread_sleeps(helper->waits));
	helper->end(helper->argument);
	session_set(&ring, 0, 0);
	mapped_unmap(&ring);
	return NULL;
}

static void helper_start(struct helper *helper, struct watch *watch, void (*end)(void *),
			 void *argument)
{
	*helper = (struct helper){
		.waits = thread_id(), .watch = watch, .end = end, .argument = argument,
	};
	CHECK_EQ(pthread_create(&helper->thread, NULL, helper_run, helper), 0);
	/* It is ready. */
	WAIT_FOR(__atomic_load_n(&helper->tid, __ATOMIC_ACQUIRE));
}

static void check_helper(const struct helper *helper, const struct off *off)
{
	CHECK_EQ(off->by_tid, helper->tid);
	CHECK_EQ(off->by_session, OTHER_SESSION);
	CHECK_EQ(off->by_of, helper->watch->event.descriptor);
	CHECK(!strcmp(off->by, "sched_test"));
	CHECK(off->blocked > 0);
}

/* ---- nothing without a session or a listener ---- */

TEST(threads_without_session_emit_nothing)
{
	struct watch watch;

	watch_open(&watch);
	sleep_once();
	session_set(&watch.ring, 0, SESSION);
	sleep_once();
	CHECK_EQ(off_count(&watch), 0);
	watch_close(&watch);
}

TEST(status_tells_whether_sessions_are_of_interest)
{
	struct status_map map;
	struct eventlog_register event, late;
	int fd = device_open();
	struct watch watch;

	event = register_event(fd, "early u32 x");
	map = status_map(fd, &event);
	CHECK_EQ(status_get(&map, &event), 0);
	watch_open(&watch);
	CHECK_EQ(status_get(&map, &event), EVENTLOG_STATUS_SESSION);
	late = register_event(fd, "late u32 x");
	CHECK_EQ(status_get(&map, &late), EVENTLOG_STATUS_SESSION);
	watch_close(&watch);
	CHECK_EQ(status_get(&map, &event), 0);
	CHECK_EQ(status_get(&map, &late), 0);
	close(fd);
}

TEST(parameter_has_limits)
{
	sched_load("");
	CHECK_EQ(file_number("/sys/module/eventlog_sched/parameters/min_us"), 100);
	CHECK_ERRNO(file_write("/sys/module/eventlog_sched/parameters/min_us", "9"), EINVAL);
	CHECK_ERRNO(file_write("/sys/module/eventlog_sched/parameters/min_us", "1000001"), EINVAL);
	CHECK_ERRNO(file_write("/sys/module/eventlog_sched/parameters/min_us", "x"), EINVAL);
	CHECK_EQ(file_number("/sys/module/eventlog_sched/parameters/min_us"), 100);
	min_us_set("10");
	CHECK_EQ(file_number("/sys/module/eventlog_sched/parameters/min_us"), 10);
	sched_unload();
}

/* ---- causes ---- */

TEST(sleep_is_ended_by_an_interrupt)
{
	struct watch watch;
	struct off off;

	watch_open(&watch);
	session_enter(&watch);
	sleep_once();
	session_leave(&watch);
	off = off_find(&watch, SLEEP);
	CHECK(off.call == __NR_nanosleep || off.call == __NR_clock_nanosleep);
	CHECK(off.blocked > 0);
	CHECK_EQ(off.by_session, 0);
	/* With PREEMPT_RT a thread of the kernel handles the timers of most threads. */
	if (access("/sys/kernel/realtime", F_OK)) {
		CHECK_EQ(off.by_tid, 0);
		CHECK_EQ(off.by[0], 0);
		CHECK(off.how & HOW_IRQ);
	} else {
		CHECK(off.by_tid > 0);
		CHECK(off.how & HOW_SOFTIRQ);
	}
	watch_close(&watch);
}

static void futex_release(void *word)
{
	__atomic_store_n((int *)word, 1, __ATOMIC_SEQ_CST);
	CHECK_OK(syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0));
}

TEST(futex_is_released_by_a_thread_with_a_session)
{
	struct helper helper;
	struct watch watch;
	struct off off;
	int word = 0;

	watch_open(&watch);
	helper_start(&helper, &watch, futex_release, &word);
	session_enter(&watch);
	while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	session_leave(&watch);
	pthread_join(helper.thread, NULL);
	off = off_find(&watch, FUTEX);
	check_helper(&helper, &off);
	CHECK_EQ(off.arg, (unsigned long)&word);
	CHECK_EQ(off.call, SYS_futex);
	watch_close(&watch);
}

static void byte_write(void *fd)
{
	CHECK_EQ(write(*(int *)fd, "x", 1), 1);
}

static void check_read(const int ends[2], enum cause cause)
{
	struct helper helper;
	struct watch watch;
	struct stat status;
	struct off off;
	char byte;

	watch_open(&watch);
	helper_start(&helper, &watch, byte_write, (void *)&ends[1]);
	session_enter(&watch);
	CHECK_EQ(read(ends[0], &byte, 1), 1);
	session_leave(&watch);
	pthread_join(helper.thread, NULL);
	off = off_find(&watch, cause);
	check_helper(&helper, &off);
	CHECK_OK(fstat(ends[0], &status));
	CHECK_EQ(off.arg, status.st_ino);
	CHECK_EQ(off.call, SYS_read);
	watch_close(&watch);
	close(ends[0]);
	close(ends[1]);
}

TEST(pipe_is_written_by_a_thread_with_a_session)
{
	int ends[2];

	CHECK_OK(pipe(ends));
	check_read(ends, PIPE);
}

TEST(socket_is_written_by_a_thread_with_a_session)
{
	int ends[2];

	CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	check_read(ends, SOCKET);
}

TEST(poll_waits_for_a_thread_with_a_session)
{
	struct helper helper;
	struct watch watch;
	struct pollfd poll_fd = { .events = POLLIN };
	struct off off;
	int ends[2];

	CHECK_OK(pipe(ends));
	poll_fd.fd = ends[0];
	watch_open(&watch);
	helper_start(&helper, &watch, byte_write, &ends[1]);
	session_enter(&watch);
	CHECK_EQ(poll(&poll_fd, 1, -1), 1);
	session_leave(&watch);
	pthread_join(helper.thread, NULL);
	off = off_find(&watch, POLL);
	check_helper(&helper, &off);
	watch_close(&watch);
}

/* Runs until something else has run for a millisecond in between. */
static void run_until_gap(const struct watch *watch)
{
	__u64 last = mapped_time(&watch->ring), now;

	for (;; last = now) {
		now = mapped_time(&watch->ring);
		if (now - last > 1000000)
			return;
	}
}

static pid_t hog_start(void)
{
	pid_t hog = test_fork();

	if (!hog)
		for (;;)
			__asm__ __volatile__("" ::: "memory");
	return hog;
}

static void hog_end(pid_t hog)
{
	CHECK_OK(kill(hog, SIGKILL));
	test_join_signal(hog, SIGKILL);
}

/* Another process on the same CPU never sleeps. */
TEST(preempted_by_another_process)
{
	struct watch watch;
	unsigned int cpu;
	struct off off;
	bool found;
	pid_t hog;

	CHECK(cpus_allowed(&cpu, 1) >= 1);
	cpu_pin(cpu);
	watch_open(&watch);
	hog = hog_start();
	/* Others may run on this CPU, too. */
	do {
		session_enter(&watch);
		run_until_gap(&watch);
		session_leave(&watch);
		found = off_try_find(&watch, PREEMPTED, &off);
		CHECK(!found || (!off.blocked && off.runnable));
	} while (!found || off.by_tid != (__u32)hog);
	hog_end(hog);
	watch_close(&watch);
}

/* A process in a cgroup with little CPU time, which works on a session and never sleeps. */
static pid_t throttled_start(void)
{
	struct eventlog_register event;
	struct mapped ring;
	pid_t child = test_fork();
	int fd;

	if (child)
		return child;
	cgroup_enter();
	fd = device_open();
	event = register_event(fd, "throttled u32 x");
	mapped_attach(&ring, fd, mapped_least_bytes());
	session_set(&ring, event.descriptor, OTHER_SESSION);
	for (;;)
		__asm__ __volatile__("" ::: "memory");
}

/* Has the thread had an interval with the cause throttled, in which @by ran? */
static bool throttled_for(struct watch *watch, __u32 tid, __u32 by)
{
	struct record record;
	bool found = false;
	struct off off;

	flush(watch->consumer.fd);
	while (consumer_next(&watch->consumer, &record)) {
		if (record.header->tid != tid || record.bytes < sizeof(off) ||
		    record.bytes > sizeof(off) + 7)
			continue;
		memcpy(&off, record.payload, sizeof(off));
		found |= off.cause == THROTTLED && off.by_tid == by && !off.blocked;
	}
	return found;
}

static void check_throttled(bool has_hog)
{
	struct watch watch;
	pid_t child, hog = 0;
	unsigned int cpu;

	CHECK(cpus_allowed(&cpu, 1) >= 1);
	cgroup_make_cpu("2000 20000");
	cpu_pin(cpu);
	watch_open(&watch);
	child = throttled_start();
	if (has_hog)
		hog = hog_start();
	WAIT_FOR(throttled_for(&watch, child, hog));
	if (has_hog)
		hog_end(hog);
	CHECK_OK(kill(child, SIGKILL));
	test_join_signal(child, SIGKILL);
	cgroup_remove();
	watch_close(&watch);
}

/* While nothing else runs on its CPU. */
TEST(throttled_by_a_cgroup)
{
	check_throttled(false);
}

/* While another process runs.  Older kernels do not say it. */
TEST(throttled_on_a_busy_cpu)
{
	if (kernel_before(6, 18))
		SKIP("threads are marked as throttled since Linux 6.18");
	check_throttled(true);
}

/*
 * With PREEMPT_RT, a process in this state may still have to wait for a lock before it stops; the
 * kernel names the function in which it waits only if it does not run.
 */
static bool is_stopped(pid_t process)
{
	char path[64], function = '0';
	FILE *file;

	if (thread_state(process) != 'T')
		return false;
	if (access("/sys/kernel/realtime", F_OK))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/wchan", process);
	file = fopen(path, "r");
	CHECK(file);
	if (fread(&function, 1, 1, file) != 1)
		function = '0';
	fclose(file);
	return function != '0';
}

static void go_on(void *process)
{
	WAIT_FOR(is_stopped(*(pid_t *)process));
	CHECK_OK(kill(*(pid_t *)process, SIGCONT));
}

/* The process itself is the one that is stopped; its child lets it go on. */
TEST(stopped_by_a_signal)
{
	pid_t process = getpid(), child;
	struct watch watch;
	struct off off;

	watch_open(&watch);
	child = test_fork();
	if (!child) {
		go_on(&process);
		_exit(0);
	}
	session_enter(&watch);
	CHECK_OK(raise(SIGSTOP));
	session_leave(&watch);
	test_join(child);
	off = off_find(&watch, STOPPED);
	CHECK_EQ(off.by_tid, child);
	CHECK(off.blocked > 0);
	watch_close(&watch);
}

/* ---- sums ---- */

/* Intervals below min_us are in sums, each once, as soon as the session changes. */
TEST(short_intervals_are_summed)
{
	const unsigned int rounds = 200;
	struct watch watch;
	struct record record;
	unsigned int count = 0, i;
	__u64 in_pipes = 0;
	struct sum sum;
	int ends[4];
	pid_t child;
	char byte = 'x';

	CHECK_OK(pipe(ends));
	CHECK_OK(pipe(ends + 2));
	/* A second is longer than any interval here, on a machine that is not overloaded. */
	watch_open_with(&watch, "min_us=1000000");
	min_us_set("10");
	child = test_fork();
	if (!child) {
		/* It may get the CPU before its parent reads, which would not be blocked then. */
		while (read(ends[0], &byte, 1) == 1 && byte == 'x') {
			WAIT_FOR(thread_sleeps(getppid()));
			CHECK_EQ(write(ends[3], &byte, 1), 1);
		}
		_exit(0);
	}
	min_us_set("1000000");
	session_enter(&watch);
	for (i = 0; i < rounds; i++) {
		CHECK_EQ(write(ends[1], &byte, 1), 1);
		CHECK_EQ(read(ends[2], &byte, 1), 1);
	}
	min_us_set("10");
	/* The first switch with another session emits the sum. */
	session_set(&watch.ring, watch.event.descriptor, OTHER_SESSION);
	CHECK_EQ(write(ends[1], &byte, 1), 1);
	CHECK_EQ(read(ends[2], &byte, 1), 1);
	session_leave(&watch);
	byte = 'q';
	CHECK_EQ(write(ends[1], &byte, 1), 1);
	test_join(child);
	flush(watch.consumer.fd);
	while (consumer_next(&watch.consumer, &record)) {
		if (record.header->session != SESSION || record.bytes < sizeof(sum))
			continue;
		memcpy(&sum, record.payload, sizeof(sum));
		CHECK_EQ(sum.of, watch.event.descriptor);
		CHECK_EQ(record.header->tid, thread_id());
		/* One of several sums may be of a thread that was only preempted. */
		in_pipes += sum.causes[PIPE - 1];
		count += sum.count;
	}
	CHECK(in_pipes > 0);
	CHECK(count > 0 && count <= 2 * rounds + 100);
	watch_close(&watch);
}

/* ---- hostile and ordinary ends ---- */

/* A million sessions that no one knows: a neighbour's events and losses stay the same. */
TEST(random_sessions_hurt_no_neighbour)
{
	struct consumer neighbour;
	struct eventlog_register event;
	struct watch watch;
	__u64 number = 88172645463325252ULL;
	unsigned int i;

	watch_open(&watch);
	event = register_event(watch.fd, "neighbour u32 x");
	consumer_open(&neighbour, RING_BYTES);
	rule_add(neighbour.fd, NULL, "neighbour");
	for (i = 0; i < 1000000; i++) {
		number ^= number << 13;
		number ^= number >> 7;
		number ^= number << 17;
		watch.ring.header->session = number;
		watch.ring.header->session_of = number >> 32;
		if (i % 10000 == 0) {
			sched_yield();
			CHECK_EQ(emit(watch.fd, event.write_index, &i, sizeof(i)), 8);
		}
	}
	session_leave(&watch);
	flush(neighbour.fd);
	CHECK_EQ(consumer_skip(&neighbour), 100);
	CHECK_EQ(lost_sum(stat_all(neighbour.fd).lost), 0);
	consumer_close(&neighbour);
	consumer_skip(&watch.consumer);
	watch_close(&watch);
}

/* A thread that takes a ring over works on no session. */
static void *take_over(void *argument)
{
	struct watch *watch = argument;
	struct eventlog_attach attach = watch->ring.attach;

	attach.size = sizeof(attach);
	attach.flags = 0;
	CHECK_OK(ioctl(watch->fd, EVENTLOG_IOC_ATTACH, &attach));
	CHECK_EQ(watch->ring.header->session_of, 0);
	sleep_once();
	session_enter(watch);
	sleep_once();
	session_leave(watch);
	return (void *)(long)thread_id();
}

TEST(ring_that_is_taken_over)
{
	struct watch watch;
	struct record record;
	unsigned int count = 0;
	pthread_t thread;
	struct off off;
	void *tid;

	watch_open(&watch);
	session_enter(&watch);
	CHECK_EQ(pthread_create(&thread, NULL, take_over, &watch), 0);
	CHECK_EQ(pthread_join(thread, &tid), 0);
	sleep_once();
	flush(watch.consumer.fd);
	while (off_next(&watch, &record, &off)) {
		/* This thread had the ring until the other one took it. */
		if (record.header->tid == (__u32)(long)tid)
			count += off.cause == SLEEP;
		else
			CHECK(off.cause != SLEEP);
	}
	CHECK_EQ(count, 1);
	watch_close(&watch);
}

TEST(last_ring_of_a_thread_counts)
{
	struct watch watch;
	struct mapped second;

	watch_open(&watch);
	session_enter(&watch);
	mapped_attach(&second, watch.fd, mapped_least_bytes());
	off_count(&watch);
	sleep_once();
	CHECK_EQ(off_count(&watch), 0);
	session_set(&second, watch.event.descriptor, SESSION);
	sleep_once();
	session_set(&second, 0, 0);
	off_find(&watch, SLEEP);
	mapped_unmap(&second);
	sleep_once();
	consumer_skip(&watch.consumer);
	watch_close(&watch);
}

TEST(ring_that_was_unmapped)
{
	struct watch watch;

	watch_open(&watch);
	session_enter(&watch);
	mapped_unmap(&watch.ring);
	watch.ring.header = NULL;
	off_count(&watch);
	sleep_once();
	CHECK_EQ(off_count(&watch), 0);
	watch_close(&watch);
}

/* A child has no ring, and so no session, whatever its parent does. */
TEST(child_has_no_session)
{
	struct watch watch;
	struct record record;
	struct off off;
	pid_t child;

	watch_open(&watch);
	session_enter(&watch);
	child = test_fork();
	if (!child) {
		sleep_once();
		_exit(0);
	}
	test_join(child);
	session_leave(&watch);
	flush(watch.consumer.fd);
	while (off_next(&watch, &record, &off))
		CHECK_EQ(record.header->tid, thread_id());
	watch_close(&watch);
}

static void *sleep_and_exit(void *argument)
{
	struct watch *watch = argument;
	struct mapped ring;

	mapped_attach(&ring, watch->fd, mapped_least_bytes());
	session_set(&ring, watch->event.descriptor, SESSION);
	sleep_once();
	/* With the session and the ring, which stays mapped. */
	return NULL;
}

TEST(threads_that_exit_with_a_session)
{
	struct watch watch;
	struct record record;
	pthread_t thread;
	unsigned int i, count = 0;
	struct off off;

	watch_open(&watch);
	for (i = 0; i < 50; i++) {
		CHECK_EQ(pthread_create(&thread, NULL, sleep_and_exit, &watch), 0);
		CHECK_EQ(pthread_join(thread, NULL), 0);
	}
	flush(watch.consumer.fd);
	while (off_next(&watch, &record, &off)) {
		CHECK(record.header->tid != (__u32)thread_id());
		count += off.cause == SLEEP;
	}
	CHECK_EQ(count, 50);
	watch_close(&watch);
}

struct summed {
	struct watch *watch;
	pid_t tid;
};

static void *sum_and_exit(void *argument)
{
	struct summed *summed = argument;
	struct mapped ring;
	unsigned int i;

	summed->tid = thread_id();
	mapped_attach(&ring, summed->watch->fd, mapped_least_bytes());
	session_set(&ring, summed->watch->event.descriptor, SESSION);
	for (i = 0; i < 5; i++)
		sleep_once();
	/* The sum is not small any more. */
	min_us_set("10");
	return NULL;
}

/* Their rings stay mapped, so it is the exit that ends the sums. */
TEST(sums_of_threads_that_exit)
{
	struct summed summed;
	struct watch watch;
	struct record record;
	pthread_t thread;
	unsigned int i, count = 0;
	struct sum sum;
	struct off off;

	watch_open_with(&watch, "min_us=1000000");
	summed.watch = &watch;
	for (i = 0; i < 10; i++) {
		min_us_set("1000000");
		CHECK_EQ(pthread_create(&thread, NULL, sum_and_exit, &summed), 0);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		/* The kernel wakes who joins before it ends the sum. */
		WAIT_FOR(syscall(SYS_tgkill, getpid(), summed.tid, 0) && errno == ESRCH);
	}
	flush(watch.consumer.fd);
	while (consumer_next(&watch.consumer, &record)) {
		CHECK(record.header->tid != (__u32)thread_id());
		CHECK_EQ(record.header->session, SESSION);
		if (record.bytes >= sizeof(sum)) {
			memcpy(&sum, record.payload, sizeof(sum));
			CHECK(sum.causes[SLEEP - 1] > 0);
			count += sum.count;
		} else if (record.bytes >= sizeof(off)) {
			/* On a busy machine, a thread may sleep for a second. */
			memcpy(&off, record.payload, sizeof(off));
			count += off.cause == SLEEP;
		}
	}
	CHECK(count >= 50);
	watch_close(&watch);
}

TEST(program_that_is_replaced)
{
	struct watch watch;
	struct record record;
	struct off off;
	pid_t child;

	watch_open(&watch);
	child = test_fork();
	if (!child) {
		int fd = device_open();
		struct eventlog_register event = register_event(fd, "replaced u32 x");
		struct mapped ring;

		mapped_attach(&ring, fd, mapped_least_bytes());
		session_set(&ring, event.descriptor, SESSION);
		execl("/bin/sleep", "sleep", "0.01", NULL);
		_exit(1);
	}
	test_join(child);
	flush(watch.consumer.fd);
	while (consumer_next(&watch.consumer, &record)) {
		if (record.bytes < sizeof(off) || record.bytes > sizeof(off) + 7)
			continue;
		memcpy(&off, record.payload, sizeof(off));
		CHECK(off.cause != SLEEP);
	}
	watch_close(&watch);
}

/* ---- captures ---- */

/* What was noted in an earlier capture is no event of the next one. */
TEST(interval_is_of_one_capture)
{
	struct watch watch;
	struct record record;
	struct off off;
	unsigned int i;

	watch_open(&watch);
	session_enter(&watch);
	for (i = 0; i < 20; i++) {
		sleep_once();
		consumer_skip(&watch.consumer);
		consumer_close(&watch.consumer);
		sleep_once();
		mapped_consumer_open(&watch.consumer, RING_BYTES);
		rule_add(watch.consumer.fd, "sched", NULL);
		flush(watch.consumer.fd);
		while (off_next(&watch, &record, &off))
			CHECK(off.cause != SLEEP);
	}
	session_leave(&watch);
	watch_close(&watch);
}

static void *block(void *argument)
{
	struct watch *watch = argument;
	struct mapped ring;
	char byte;

	mapped_attach(&ring, watch->fd, mapped_least_bytes());
	session_set(&ring, watch->event.descriptor, SESSION);
	CHECK_EQ(read(watch->ring.fd, &byte, 0), 0);
	sleep_once();
	mapped_unmap(&ring);
	return NULL;
}

/* Load, capture and unload while threads work on sessions. */
TEST(unloading_while_threads_are_blocked)
{
	pthread_t threads[4];
	struct watch watch;
	unsigned int i, round;

	for (round = 0; round < 5; round++) {
		watch_open(&watch);
		watch.ring.fd = CHECK_OK(open("/dev/null", O_RDONLY));
		for (i = 0; i < 4; i++)
			CHECK_EQ(pthread_create(&threads[i], NULL, block, &watch), 0);
		consumer_close(&watch.consumer);
		sched_unload();
		for (i = 0; i < 4; i++)
			CHECK_EQ(pthread_join(threads[i], NULL), 0);
		close(watch.ring.fd);
		mapped_unmap(&watch.ring);
		close(watch.fd);
	}
}

/* ---- rules ---- */

TEST(rules_see_the_thread_that_did_not_run)
{
	struct eventlog_rule rule = rule_request("sched", "off");
	struct consumer other;
	struct watch watch;
	struct record record;

	watch_open(&watch);
	mapped_consumer_open(&other, RING_BYTES);
	rule.flags = EVENTLOG_RULE_PID | EVENTLOG_RULE_SESSION;
	rule.pid = getpid();
	rule.session = SESSION;
	rule_add_with(other.fd, &rule);
	session_enter(&watch);
	sleep_once();
	session_set(&watch.ring, watch.event.descriptor, OTHER_SESSION);
	sleep_once();
	session_leave(&watch);
	flush(other.fd);
	CHECK(consumer_next(&other, &record));
	do {
		CHECK_EQ(record.header->session, SESSION);
		CHECK_EQ(record.header->tid, thread_id());
	} while (consumer_next(&other, &record));
	consumer_close(&other);
	watch_close(&watch);
}
