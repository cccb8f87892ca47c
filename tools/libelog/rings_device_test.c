// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of libelog with the kernel module: threads that emit in rings of their own. Each event
 * has a source and a number, and the numbers of a source start with 0. So a test sees whether
 * each event that was emitted is delivered or counted as lost, once and in order, whatever
 * happens to the thread. Prints TAP.
 *
 * Needs root, and the module.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "elog.h"
#include "util/tap.h"
#include "util/util.h"

#define SOURCES_MAX	64
#define RING_BYTES	(4ULL << 20)
/* A thread emits with write(2) before it gets a ring. */
#define BEFORE_RING	16
#define PAUSE_NS	1000000
#define PAUSES_MAX	60000	/* 60 s; then a wait fails */

struct body {
	uint32_t source;
	uint32_t number;
	unsigned char rest[248];
};

static struct elog_producer *producer;
static struct elog_event *event;
static struct elog_consumer *consumer;

/* What the consumer has seen. */
static uint32_t next_number[SOURCES_MAX];
static uint64_t delivered, from_rings, lost, adjusted;
static uint64_t earliest, latest;
static uint64_t from_ring_of[SOURCES_MAX];
static uint32_t pid_of[SOURCES_MAX];

static void open_consumer(uint64_t ring_bytes)
{
	const struct elog_consumer_options options = {
		.size = sizeof(options), .ring_bytes = ring_bytes,
	};
	const struct elog_rule rule = { .size = sizeof(rule), .provider = "rings_test" };

	check_equal(elog_consumer_open(&consumer, &options), 0);
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), 0);
	memset(next_number, 0, sizeof(next_number));
	memset(pid_of, 0, sizeof(pid_of));
	memset(from_ring_of, 0, sizeof(from_ring_of));
	delivered = 0;
	from_rings = 0;
	lost = 0;
	adjusted = 0;
	earliest = UINT64_MAX;
	latest = 0;
}

static struct elog_event *add_event(const char *command)
{
	struct elog_event *added = NULL;

	check_equal(elog_event_register(producer, "rings_test", command, 0, 0, 0, &added), 0);
	return added;
}

static void open_producer(unsigned int flags)
{
	const struct elog_producer_options options = { .size = sizeof(options), .flags = flags };

	check_equal(elog_producer_open(&producer, &options), 0);
	event = add_event("event u32 source; u32 number");
	check(elog_event_enabled(event));
}

static void open_both(uint64_t ring_bytes)
{
	open_consumer(ring_bytes);
	open_producer(0);
}

static void close_both(void)
{
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

static void see(const struct elog_item *item)
{
	struct body body;
	uint32_t i;

	for (i = 0; item->type == ELOG_ITEM_LOST && i < item->lost_count; i++)
		lost += item->lost[i];
	if (item->type != ELOG_ITEM_EVENT)
		return;
	memcpy(&body, item->payload, offsetof(struct body, rest));
	delivered++;
	from_rings += (item->flags & EVENTLOG_RECORD_FLAG_MAPPED) != 0;
	adjusted += (item->flags & EVENTLOG_RECORD_FLAG_ADJUSTED) != 0;
	earliest = item->time < earliest ? item->time : earliest;
	latest = item->time > latest ? item->time : latest;
	if (body.source >= SOURCES_MAX) {
		check(body.source < SOURCES_MAX);
		return;
	}
	if (body.number < next_number[body.source])
		fail(__FILE__, __LINE__, "source %u: %u after %u", body.source, body.number,
		     next_number[body.source] - 1);
	next_number[body.source] = body.number + 1;
	pid_of[body.source] = item->pid;
	from_ring_of[body.source] += (item->flags & EVENTLOG_RECORD_FLAG_MAPPED) != 0;
}

static void read_all(void)
{
	struct elog_item item;

	check_equal(elog_consumer_flush(consumer), 0);
	while (elog_consumer_next(consumer, &item) > 0)
		see(&item);
}

/* Returns 1 if the kernel took the event. */
static int emit_sized(uint32_t source, uint32_t number, size_t size)
{
	struct body body = { .source = source, .number = number };
	struct iovec part = { &body, size };

	return elog_event_write(event, source, &part, 1) == 0;
}

static int emit(uint32_t source, uint32_t number)
{
	return emit_sized(source, number, 8);
}

static void emit_many(uint32_t source, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		check(emit(source, from));
}

/* How many rings are mapped, how many bytes they have, and where the last one is. */
static unsigned int mapped_rings_at(size_t *bytes, void **last)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long begin, end;
	unsigned int count = 0;
	char line[512];

	*bytes = 0;
	while (fgets(line, sizeof(line), maps)) {
		/* The status map is not writable; the consumer's pages are single. */
		if (!strstr(line, "eventlog") || !strstr(line, " rw-s ") ||
		    sscanf(line, "%lx-%lx", &begin, &end) != 2 ||
		    end - begin == (unsigned long)sysconf(_SC_PAGESIZE))
			continue;
		*bytes += end - begin;
		*last = (void *)(uintptr_t)begin;
		count++;
	}
	fclose(maps);
	return count;
}

static unsigned int mapped_rings(size_t *bytes)
{
	void *last;

	return mapped_rings_at(bytes, &last);
}

static unsigned int rings(void)
{
	size_t bytes;

	return mapped_rings(&bytes);
}

static int wait_for(pid_t child)
{
	int status = -1;

	check_equal(waitpid(child, &status, 0), child);
	return status;
}

/* ---- threads ---- */

#define THREADS 4
#define THREAD_EVENTS 2500

static uint32_t running;	/* atomic */

static void *emit_in_thread(void *argument)
{
	const uint32_t source = (uint32_t)(uintptr_t)argument;
	uint32_t i;

	for (i = 0; i < THREAD_EVENTS; i++)
		check(emit_sized(source, i, 8 + i * 7 % 64));
	__atomic_fetch_sub(&running, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void run_threads(uint64_t ring_bytes)
{
	pthread_t threads[THREADS];
	uintptr_t i;

	open_both(ring_bytes);
	running = THREADS;
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, emit_in_thread, (void *)i);
	while (__atomic_load_n(&running, __ATOMIC_SEQ_CST))
		read_all();
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	read_all();
	check_equal(delivered + lost, THREADS * THREAD_EVENTS);
	for (i = 0; i < THREADS && !lost; i++)
		check_equal(next_number[i], THREAD_EVENTS);
	check(lost || from_rings);
	check(rings() <= THREADS);
	close_both();
	check_equal(rings(), 0);
}

static void test_threads(void)
{
	run_threads(RING_BYTES);
}

static void test_losses(void)
{
	run_threads(8192);
}

static void *emit_few(void *argument)
{
	const uint32_t *from = argument;

	emit_many(0, *from, *from + 2 * BEFORE_RING);
	return NULL;
}

static void test_thread_exit(void)
{
	uint32_t i, number = 0;
	pthread_t thread;

	open_both(RING_BYTES);
	for (i = 0; i < 40; i++, number += 2 * BEFORE_RING) {
		pthread_create(&thread, NULL, emit_few, &number);
		pthread_join(thread, NULL);
	}
	/* Each thread got the ring of the one before it. */
	check_equal(rings(), 1);
	read_all();
	check_equal(delivered, number);
	check_equal(next_number[0], number);
	check_equal(from_rings, number / 2);
	close_both();
}

#define MANY 1000

static pthread_barrier_t barrier;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* A thread that finds the producer's lock taken emits with write(2) and tries again later. */
static void *emit_and_wait(void *argument)
{
	uint32_t i;

	(void)argument;
	pthread_mutex_lock(&one_at_a_time);
	for (i = 0; i <= BEFORE_RING; i++)
		emit(0, i);
	pthread_mutex_unlock(&one_at_a_time);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void test_many_threads(void)
{
	static pthread_t threads[MANY];
	pthread_attr_t attributes;
	unsigned int i;
	size_t bytes;

	open_both(8192);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	pthread_barrier_init(&barrier, NULL, MANY + 1);
	for (i = 0; i < MANY; i++)
		check_equal(pthread_create(&threads[i], &attributes, emit_and_wait, NULL), 0);
	pthread_barrier_wait(&barrier);
	check_equal(mapped_rings(&bytes), MANY);
	check(bytes <= 16 << 20);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	check(rings() <= 20);
	close_both();
}

/* ---- sessions ---- */

/* What the kernel reads of this thread, which has the only ring. */
static const struct eventlog_mapped_header *only_header(void)
{
	void *last = NULL;
	size_t bytes;

	check_equal(mapped_rings_at(&bytes, &last), 1);
	return last;
}

static void check_session(uint64_t session)
{
	const struct eventlog_mapped_header *header = only_header();

	check_equal(header->session_of, session ? elog_event_descriptor(event) : 0);
	if (session)
		check_equal(header->session, session);
}

/* Without a listener to the provider sched, no thread gets a ring for its session. */
static void test_sessions(void)
{
	struct elog_running outer, inner, none;

	open_both(RING_BYTES);
	outer = elog_session_enter(event, 1);
	check_equal(rings(), 0);
	inner = elog_session_enter(event, 2);
	emit_many(0, 0, BEFORE_RING);
	/* The ring finds the session that the thread works on. */
	check_session(2);
	none = elog_session_enter(event, 0);
	check_session(0);
	elog_session_leave(event, none);
	check_session(2);
	check_equal(elog_session_enter(NULL, 3).session, 2);
	elog_session_leave(NULL, none);
	check_session(2);
	elog_session_leave(event, inner);
	check_session(1);
	elog_session_leave(event, outer);
	check_session(0);
	read_all();
	close_both();
}

static void test_session_resize(void)
{
	size_t bytes, small;
	uint32_t i;

	open_both(RING_BYTES);
	emit_many(0, 0, BEFORE_RING);
	mapped_rings(&small);
	elog_session_enter(event, 7);
	for (i = BEFORE_RING; i < 4000; i++)
		check(emit_sized(0, i, 200));
	mapped_rings(&bytes);
	check(bytes > small);
	check_session(7);
	close_both();
	/* Descriptors may be others now. */
	open_both(RING_BYTES);
	emit_many(0, 0, BEFORE_RING);
	check_session(0);
	close_both();
}

/* A child works on no session, and leaving that of its parent changes nothing. */
static void test_session_fork(void)
{
	struct elog_running before, outer;
	pid_t child;

	open_both(RING_BYTES);
	emit_many(0, 0, BEFORE_RING);
	outer = elog_session_enter(event, 1);
	before = elog_session_enter(event, 2);
	child = fork();
	if (!child) {
		emit_many(1, 0, BEFORE_RING);
		check_session(0);
		elog_session_leave(event, before);
		check_session(0);
		before = elog_session_enter(event, 3);
		check_session(3);
		elog_session_leave(event, before);
		check_session(0);
		_exit(failures != 0);
	}
	check_equal(wait_for(child), 0);
	check_session(2);
	elog_session_leave(event, before);
	check_session(1);
	elog_session_leave(event, outer);
	close_both();
}

static void test_session_release(void)
{
	struct elog_running before;

	open_both(RING_BYTES);
	emit_many(0, 0, BEFORE_RING);
	before = elog_session_enter(event, 1);
	elog_session_enter(event, 2);
	elog_producer_release(producer, UINT32_MAX);
	elog_session_leave(event, before);
	elog_session_enter(event, 3);
	check_equal(elog_producer_connect(producer), 0);
	emit_many(0, BEFORE_RING, 2 * BEFORE_RING);
	check_session(0);
	elog_session_leave(event, before);
	check_session(0);
	elog_session_enter(event, 4);
	check_session(4);
	close_both();
}

/* ---- sizes ---- */

static void test_resize(void)
{
	size_t bytes, small;
	unsigned int i;

	open_both(RING_BYTES);
	emit_many(0, 0, BEFORE_RING + 1);
	check_equal(mapped_rings(&small), 1);
	/* No drain runs in between, except when the ring is full. */
	for (i = BEFORE_RING + 1; i < 4000; i++)
		check(emit_sized(0, i, 200));
	check_equal(mapped_rings(&bytes), 1);
	check(bytes > small);
	read_all();
	check_equal(delivered + lost, 4000);
	check_equal(lost, 0);
	/* The kernel asks for a KICK after two of its periods without events. */
	for (; bytes > small && i < 4000 + PAUSES_MAX / 20; i++) {
		/* pause: the kernel's periods go by. */
		nanosleep(&(struct timespec){ .tv_nsec = 20 * PAUSE_NS }, NULL);
		check(emit(0, i));
		check_equal(mapped_rings(&bytes), 1);
	}
	check_equal(bytes, small);
	read_all();
	check_equal(delivered, i);
	close_both();
}

static void test_large(void)
{
	static unsigned char payload[40000];
	struct iovec parts[3] = {
		{ payload, 8 }, { payload, 0 }, { payload, sizeof(payload) - 8 },
	};
	struct elog_item item;
	uint32_t i, count = 0;

	open_both(RING_BYTES);
	for (i = 0; i < sizeof(payload); i++)
		payload[i] = (unsigned char)(i * 7);
	memset(payload, 0, 8);
	emit_many(1, 0, BEFORE_RING + 1);
	for (i = 0; i < 20; i++) {
		memcpy(payload + 4, &i, sizeof(i));
		parts[2].iov_base = payload + 8;
		check_equal(elog_event_write(event, 0, parts, 3), 0);
	}
	parts[1].iov_len = 1 << 16;
	check_equal(elog_event_write(event, 0, parts, 3), -E2BIG);
	parts[1] = (struct iovec){ NULL, 8 };
	check_equal(elog_event_write(event, 0, parts, 2), -EFAULT);
	check_equal(elog_consumer_flush(consumer), 0);
	while (elog_consumer_next(consumer, &item) > 0) {
		if (item.payload_size < sizeof(payload))
			continue;
		memcpy(payload + 4, &count, sizeof(count));
		check(!memcmp(item.payload, payload, sizeof(payload)));
		count++;
	}
	check_equal(count, 20);
	close_both();
}

/* ---- signals ---- */

static volatile uint32_t handled;
static volatile bool leaves;
static volatile bool enters;
static sigjmp_buf main_loop;

static timer_t timer;

/* Once: a handler that takes long would not let the thread go on. */
static void set_timer(void)
{
	const struct itimerspec once = { .it_value = { .tv_nsec = 300000 } };

	timer_settime(timer, 0, &once, NULL);
}

static void on_alarm(int signal)
{
	(void)signal;
	set_timer();
	if (leaves)
		siglongjmp(main_loop, 1);
	if (enters) {
		elog_session_leave(event, elog_session_enter(event, UINT64_MAX));
		handled++;
		return;
	}
	emit(1, handled++);
	emit(1, handled++);
}

static void start_timer(void (*handler)(int signal))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct sigevent to_thread = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };

	sigaction(SIGALRM, &action, NULL);
	to_thread._sigev_un._tid = gettid();
	check_equal(timer_create(CLOCK_MONOTONIC, &to_thread, &timer), 0);
	set_timer();
}

static void stop_timer(void)
{
	timer_delete(timer);
	signal(SIGALRM, SIG_IGN);
}

static void test_signals(void)
{
	uint32_t i = 0;

	open_both(RING_BYTES);
	handled = 0;
	leaves = false;
	start_timer(on_alarm);
	while (i < 1500 || handled < 60)
		check(emit(0, i++));
	stop_timer();
	read_all();
	check_equal(delivered + lost, i + handled);
	check_equal(lost, 0);
	check(from_rings > delivered / 2);
	close_both();
}

/* A handler that enters and leaves at any point changes nothing. */
static void test_session_signals(void)
{
	const volatile struct eventlog_mapped_header *header;
	struct elog_running before;
	uint64_t i = 0, wrong = 0;

	open_both(RING_BYTES);
	emit_many(0, 0, BEFORE_RING);
	header = only_header();
	handled = 0;
	leaves = false;
	enters = true;
	start_timer(on_alarm);
	while (handled < 200) {
		before = elog_session_enter(event, ++i);
		wrong += header->session != i || !header->session_of;
		elog_session_leave(event, before);
		wrong += header->session_of != 0;
	}
	stop_timer();
	enters = false;
	check_equal(wrong, 0);
	close_both();
}

/* What is left is at most one event each time; then the ring is used again. */
static void test_siglongjmp(void)
{
	static volatile uint32_t *number, jumps;
	pid_t child;
	uint32_t i;

	open_both(RING_BYTES);
	number = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/*
	 * The child is connected before, and does not close the producer: it may have left a
	 * write(2), too.
	 */
	child = fork();
	if (!child) {
		emit_many(2, 0, 2 * BEFORE_RING);
		leaves = true;
		if (sigsetjmp(main_loop, 1))
			jumps++;
		else
			start_timer(on_alarm);
		while (jumps < 30) {
			++*number;
			emit(0, *number - 1);
		}
		signal(SIGALRM, SIG_IGN);
		for (i = 0; i < 100; i++)
			emit(1, i);
		_exit(failures != 0);
	}
	check_equal(wait_for(child), 0);
	read_all();
	check_equal(lost, 0);
	delivered -= 100 + 2 * BEFORE_RING;
	check(delivered <= *number && delivered + 30 >= *number);
	check_equal(next_number[1], 100);
	/* The ring may have been full, so that the next event was written. */
	check(from_ring_of[1] >= 90);
	munmap((void *)number, 4096);
	close_both();
}

/* ---- processes ---- */

static void test_fork(void)
{
	uint32_t i;
	pid_t child;

	open_both(RING_BYTES);
	emit_many(0, 0, 50);
	for (i = 1; i <= 5; i++) {
		child = fork();
		if (!child) {
			/* Not the parent's ring: what is in it is not the child's. */
			_exit(rings() || !elog_event_enabled(event) || !emit(i, 0) ||
			      (emit_many(i, 1, 50), failures) || rings() != 1);
		}
		emit_many(0, 50 * i, 50 * i + 50);
		check_equal(wait_for(child), 0);
	}
	check_equal(rings(), 1);
	read_all();
	check_equal(delivered, 50 * 11);
	for (i = 1; i <= 5; i++)
		check(pid_of[i] && pid_of[i] != pid_of[0]);
	check_equal(pid_of[0], getpid());
	close_both();
}

static volatile uint32_t forks;

static void on_alarm_fork(int signal)
{
	pid_t child = fork();

	(void)signal;
	if (!child)
		return;		/* goes on with the emission, if there is one */
	wait_for(child);
	forks++;
	set_timer();
}

/* The child leaves the handler in the middle of what the parent does. */
static void test_fork_in_handler(void)
{
	const pid_t self = getpid();
	struct elog_item item;
	uint32_t number = 50;
	uint64_t own = 0;

	open_both(RING_BYTES);
	forks = 0;
	emit_many(0, 0, 50);
	start_timer(on_alarm_fork);
	while (forks < 12) {
		emit(0, number++);
		if (getpid() != self) {
			/* It has its own file and, after some events, its own ring. */
			uint32_t i;

			for (i = 0; i < 40; i++)
				emit(1, i);
			_exit(!(elog_event_enabled(event) && rings() == 1));
		}
	}
	stop_timer();
	check_equal(elog_consumer_flush(consumer), 0);
	while (elog_consumer_next(consumer, &item) > 0)
		own += item.type == ELOG_ITEM_EVENT && item.pid == (uint32_t)self;
	check_equal(own, number);
	close_both();
}

/* Until it ends, the child has the parent's memory, and thus its ring and its identity. */
static __attribute__((noinline)) void emit_in_vfork(uint32_t source, uint32_t count, size_t size)
{
	pid_t child = vfork();
	uint32_t i;

	if (!child) {
		for (i = 0; i < count; i++)
			check(emit_sized(source, i, size));
		_exit(failures != 0);
	}
	check_equal(wait_for(child), 0);
}

static void test_vfork(void)
{
	size_t bytes, before;
	uint32_t i;

	open_both(RING_BYTES);
	emit_many(0, 0, 50);
	check_equal(mapped_rings(&before), 1);
	for (i = 1; i <= 3; i++) {
		emit_in_vfork(i, 50, 8);
		emit_many(0, 50 * i, 50 * i + 50);
	}
	/* The ring is too small. But a larger one that the child gets would be the child's. */
	emit_in_vfork(4, 500, 200);
	check_equal(mapped_rings(&bytes), 1);
	check_equal(bytes, before);
	emit_many(0, 200, 250);
	read_all();
	check_equal(delivered, 250 + 3 * 50 + 500);
	for (i = 0; i <= 3; i++) {
		check_equal(next_number[i], i ? 50 : 250);
		check_equal(pid_of[i], getpid());
	}
	check_equal(next_number[4], 500);
	close_both();
}

/* The program lets its children have the memory of the ring, which ends it. */
static void test_dofork(void)
{
	size_t bytes;
	void *ring;
	pid_t child;

	open_both(RING_BYTES);
	emit_many(0, 0, 50);
	check_equal(mapped_rings_at(&bytes, &ring), 1);
	if (madvise(ring, bytes, MADV_DOFORK)) {
		printf("# the kernel refuses MADV_DOFORK\n");
		close_both();
		return;
	}
	child = fork();
	if (!child) {
		emit_many(1, 0, 50);
		_exit(failures != 0);
	}
	check_equal(wait_for(child), 0);
	/* Not even the event is lost with which the thread finds out. */
	emit_many(0, 50, 100);
	check_equal(rings(), 0);
	read_all();
	check_equal(delivered, 150);
	check_equal(next_number[0], 100);
	check_equal(pid_of[0], getpid());
	check_equal(pid_of[1], child);
	close_both();
}

static void forbid(unsigned int call);

static uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A process moves to another time namespace and back, and its ring stays. Returns 0 or 77. */
static int emit_in_namespaces(uint32_t source, bool no_cycles)
{
	static const char offset[] = "monotonic 1000000 0";
	int before = open("/proc/self/ns/time", O_RDONLY | O_CLOEXEC), after, offsets;

	if (no_cycles)
		forbid(SYS_prctl);
	emit_many(source, 0, 50);
	if (before < 0 || unshare(CLONE_NEWTIME))
		return 77;
	offsets = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	check_equal(write(offsets, offset, strlen(offset)), strlen(offset));
	after = open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
	if (setns(after, CLONE_NEWTIME))
		return 77;
	emit_many(source, 50, 100);
	/* This ring has the offset; back in the first namespace, it is wrong. */
	elog_producer_release(producer, UINT32_MAX);
	check_equal(elog_producer_connect(producer), 0);
	emit_many(source, 100, 150);
	check_equal(rings(), 1);
	check_equal(setns(before, CLONE_NEWTIME), 0);
	emit_many(source, 150, 200);
	return failures != 0;
}

/* Without cycles, the library adds an offset to the clock that becomes wrong. */
static void test_time_namespaces(void)
{
	uint64_t begin, end;
	uint32_t i;
	pid_t child;
	int status;

	for (i = 0; i < 2; i++) {
		open_both(RING_BYTES);
		begin = clock_now();
		child = fork();
		if (!child)
			_exit(emit_in_namespaces(i, i));
		status = wait_for(child);
		read_all();
		end = clock_now();
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
			printf("# processes cannot move to time namespaces\n");
		} else {
			check_equal(status, 0);
			check_equal(delivered, 200);
			check_equal(next_number[i], 200);
			check(from_rings >= 100);
			/* No time is that of another namespace. */
			check(earliest >= begin && latest <= end);
			check(!i || adjusted);
		}
		close_both();
	}
}

static void test_exec(void)
{
	pid_t child;

	open_both(RING_BYTES);
	child = fork();
	if (!child) {
		emit_many(0, 0, 500);
		execl("/proc/self/exe", "rings_device_test", "exit", (char *)NULL);
		_exit(1);
	}
	check_equal(wait_for(child), 0);
	read_all();
	check_equal(delivered, 500);
	check(from_rings > 400);
	close_both();
}

static void test_kill(void)
{
	uint32_t *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			      -1, 0);
	uint32_t round;
	pid_t child;

	for (round = 0; round < 5; round++) {
		open_both(RING_BYTES);
		__atomic_store_n(done, 0, __ATOMIC_SEQ_CST);
		child = fork();
		if (!child) {
			uint32_t i;

			for (i = 0; i < 50000; i++) {
				emit(0, i);
				__atomic_store_n(done, i + 1, __ATOMIC_RELEASE);
			}
			pause();
		}
		while (__atomic_load_n(done, __ATOMIC_ACQUIRE) < 100 + round * 131)
			sched_yield();
		kill(child, SIGKILL);
		wait_for(child);
		read_all();
		/* Up to the one in flight. */
		check(delivered + lost == *done || delivered + lost == *done + 1);
		check(from_rings);
		close_both();
	}
	munmap(done, 4096);
}

/* ---- registrations ---- */

static void *emit_until_disabled(void *argument)
{
	uint32_t *taken = argument;

	while (__atomic_load_n(&running, __ATOMIC_RELAXED))
		__atomic_fetch_add(taken, emit(0, *taken) ? 1 : 0, __ATOMIC_RELAXED);
	return NULL;
}

static void test_release(void)
{
	uint32_t taken = 0, before, pauses, i;
	pthread_t thread;

	open_both(RING_BYTES);
	running = 1;
	pthread_create(&thread, NULL, emit_until_disabled, &taken);
	for (i = 0; i < 8; i++) {
		before = __atomic_load_n(&taken, __ATOMIC_RELAXED);
		for (pauses = 0; pauses < PAUSES_MAX &&
		     __atomic_load_n(&taken, __ATOMIC_RELAXED) < before + 1000; pauses++)
			/* pause: the loop waits for events. */
			nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
		check(pauses < PAUSES_MAX);
		elog_producer_release(producer, UINT32_MAX);
		check_equal(rings(), 0);
		check_equal(elog_producer_connect(producer), 0);
		read_all();
	}
	__atomic_store_n(&running, 0, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	read_all();
	check_equal(delivered + lost, taken);
	close_both();
}

/* The other event gets the number of the first one. */
static void test_unregister(void)
{
	struct elog_event *other;
	struct elog_item item;
	uint32_t first, i, counts[2] = { 0 };

	open_both(RING_BYTES);
	emit_many(0, 0, 100);
	first = elog_event_descriptor(event);
	elog_event_unregister(event);
	other = add_event("other u32 source; u32 number");
	event = other;
	for (i = 0; i < 100; i++)
		check(emit(1, i));
	check_equal(elog_consumer_flush(consumer), 0);
	while (elog_consumer_next(consumer, &item) > 0)
		if (item.type == ELOG_ITEM_EVENT)
			counts[item.descriptor != first]++;
	check_equal(counts[0], 100);
	check_equal(counts[1], 100);
	close_both();
}

static void test_producers(void)
{
	struct elog_producer *producers[10];
	struct elog_event *events[10];
	uint32_t i, j;

	open_consumer(RING_BYTES);
	for (i = 0; i < 10; i++) {
		open_producer(0);
		producers[i] = producer;
		events[i] = event;
	}
	for (j = 0; j < 30; j++) {
		for (i = 0; i < 10; i++) {
			event = events[i];
			check(emit(i, j));
		}
	}
	/* The last three have no rings. */
	check_equal(rings(), 7);
	for (i = 0; i < 10; i++)
		elog_producer_close(producers[i]);
	check_equal(rings(), 0);
	read_all();
	check_equal(delivered, 300);
	/* A new one gets a place that has become free. */
	open_producer(0);
	emit_many(20, 0, 30);
	check_equal(rings(), 1);
	close_both();
}

#ifdef ELOG_SHARED

/* The library of the test, beside the program. */
static void *load_plugin(int flags)
{
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 32);

	path[size > 0 ? size : 0] = '\0';
	strcpy(strrchr(path, '/') + 1, "rings_plugin.so");
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
}

/* A library with a marker and a typed event is unloaded; the thread and its rings stay. */
static void test_plugin(void)
{
	const struct elog_rule rules[] = {
		{ .size = sizeof(*rules), .provider = "markers_rings_device_test" },
		{ .size = sizeof(*rules), .provider = "kiosk" },
	};
	uint32_t round, i, number = 0, numbers[2] = { 0 }, counts[2] = { 0 };
	void (*emit_number)(uint32_t number), *library;
	struct elog_item item;

	open_both(RING_BYTES);
	for (i = 0; i < 2; i++)
		check_equal(elog_consumer_rule_add(consumer, &rules[i], NULL), 0);
	for (round = 0; round < 10; round++) {
		library = load_plugin(0);
		check(library != NULL);
		if (!library)
			break;
		*(void **)&emit_number = dlsym(library, "plugin_emit");
		for (i = 0; i < 40; i++)
			emit_number(number++);
		check_equal(dlclose(library), 0);
		check(!load_plugin(RTLD_NOLOAD));
		emit_many(0, 40 * round, 40 * round + 40);
	}
	check_equal(elog_consumer_flush(consumer), 0);
	while (elog_consumer_next(consumer, &item) > 0) {
		/* The number is all that the marker has, and the duration of a sale. */
		unsigned int kind = item.payload_size == 16;

		if (item.type == ELOG_ITEM_LOST)
			fail(__FILE__, __LINE__, "events were lost");
		from_rings += (item.flags & EVENTLOG_RECORD_FLAG_MAPPED) != 0;
		if (item.type != ELOG_ITEM_EVENT ||
		    item.descriptor == elog_event_descriptor(event))
			continue;
		memcpy(&i, (const char *)item.payload + (kind ? 8 : 0), sizeof(i));
		check_equal(i, numbers[kind]);
		numbers[kind] = i + 1;
		counts[kind]++;
	}
	check_equal(counts[0], number);
	check_equal(counts[1], number);
	check(from_rings > 2 * number);
	close_both();
}

#endif

/* ---- without rings ---- */

static void test_option(void)
{
	open_consumer(RING_BYTES);
	open_producer(ELOG_PRODUCER_NO_RINGS);
	emit_many(0, 0, 50);
	check_equal(rings(), 0);
	elog_producer_close(producer);
	setenv("ELOG_RINGS", "0", 1);
	open_producer(0);
	emit_many(1, 0, 50);
	check_equal(rings(), 0);
	unsetenv("ELOG_RINGS");
	read_all();
	check_equal(delivered, 100);
	check_equal(from_rings, 0);
	close_both();
}

/* Denies one system call, with EPERM. */
static void forbid(unsigned int call)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ELOG_ARRAY_SIZE(filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(3);
}

static void test_seccomp(void)
{
	pid_t child;

	open_both(RING_BYTES);
	child = fork();
	if (!child) {
		/* It connects before. */
		emit(0, 0);
		forbid(SYS_ioctl);
		emit_many(0, 1, 50);
		_exit(failures || rings());
	}
	check_equal(wait_for(child), 0);
	child = fork();
	if (!child) {
		emit(1, 0);
		forbid(SYS_membarrier);
		emit_many(1, 1, 50);
		elog_producer_close(producer);
		_exit(failures != 0);
	}
	check_equal(wait_for(child), 0);
	read_all();
	check_equal(delivered, 100);
	check_equal(from_rings, 50 - BEFORE_RING);
	close_both();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "events of many threads arrive, in order", test_threads },
		{ "what full rings lose is counted", test_losses },
		{ "a thread gets the ring of one that has ended", test_thread_exit },
		{ "1000 threads have at most 16 MiB", test_many_threads },
		{ "a ring has the session of its thread", test_sessions },
		{ "a larger ring takes over the session", test_session_resize },
		{ "a child has no session", test_session_fork },
		{ "a producer is released in a session", test_session_release },
		{ "a signal handler enters a session", test_session_signals },
		{ "a ring grows when it is full, and shrinks when it is idle", test_resize },
		{ "large payloads, in parts", test_large },
		{ "a signal handler emits", test_signals },
		{ "a signal handler leaves an emission by siglongjmp()", test_siglongjmp },
		{ "a child has its own ring", test_fork },
		{ "a signal handler forks", test_fork_in_handler },
		{ "a child of vfork() emits as the parent", test_vfork },
		{ "a child has the memory of the ring", test_dofork },
		{ "a process moves between time namespaces", test_time_namespaces },
		{ "events before execve() arrive", test_exec },
		{ "events before SIGKILL arrive", test_kill },
		{ "a producer is released while a thread emits", test_release },
		{ "an event is unregistered while its events are in a ring", test_unregister },
		{ "several producers have rings", test_producers },
		{ "a producer without rings", test_option },
		{ "a program that must not get a ring", test_seccomp },
#ifdef ELOG_SHARED
		/* The last one: the marker's ring stays. */
		{ "a library with events is loaded and unloaded", test_plugin },
#endif
	};

	/* test_exec() starts it again. */
	if (argc == 2 && !strcmp(argv[1], "exit"))
		return 0;
	return run_tests(tests, ELOG_ARRAY_SIZE(tests), NULL);
}
