// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of libelog with the kernel module: programs give the device up when the kernel asks for
 * it, the module can then be removed, and each event is delivered or counted, once. Prints TAP.
 *
 * Needs root, and the path of eventlog.ko in EVENTLOG_KO: the tests load and remove it.
 *
 * Giving up meets:	where
 *	threads with rings	test_threads
 *	signal handlers		test_signals, test_emission
 *	siglongjmp()		test_stuck_emission
 *	cancellation		test_cancellation
 *	threads in the kernel	test_stuck_writer
 *	fork()			test_fork
 *	vfork()			test_vfork
 *	registration		test_register
 *	sessions		test_session
 *	a thread that is late	test_late_write, test_return_during_write
 *	coming back too early	test_refused
 *
 * The last tests look into the producer, to stop where a thread rarely is.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "producer/state.h"
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
/* Emissions while the program was connected, and no one listened. */
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
	unheard = 0;
	is_over = false;
	check_equal(elog_producer_open(&producer, NULL), 0);
	event = add_event(producer, command);
}

/* The registration while the program is connected; 0: it is not. */
static uint32_t incarnation(void)
{
	const struct registered_event *registration = registered(event);

	return is_connected(producer) && !elog_event_error(event) ?
	       __atomic_load_n(&registration->incarnation, __ATOMIC_ACQUIRE) : 0;
}

static void emit_one(void)
{
	const uint32_t before = incarnation();
	int ret;

	__atomic_fetch_add(&emitted, 1, __ATOMIC_RELAXED);
	ret = write_number(event, 0, 1);
	if (ret && ret != -EBADF)
		__atomic_store_n(&failed, ret, __ATOMIC_RELAXED);
	/* If the program has left or come back meanwhile, the library has counted it. */
	if (ret == -EBADF && before && incarnation() == before)
		__atomic_fetch_add(&unheard, 1, __ATOMIC_RELAXED);
}

/* Everything that was emitted was delivered, or counted because the device was away. */
static void check_sum(void)
{
	check_equal(failed, 0);
	check_equal(otherwise_lost, 0);
	check_equal(delivered + away, emitted);
	if (delivered + away != emitted)
		printf("# %llu delivered, %llu away, %llu emitted, %llu unheard\n",
		       (unsigned long long)delivered, (unsigned long long)away,
		       (unsigned long long)emitted, (unsigned long long)unheard);
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
 * new module and that of the consumer, no one listens, so the program must not emit.
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

/* ---- awkward moments ---- */

static void emit_some(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		emit_one();
}

/* This thread's ring. */
static struct elog_mapped_ring *own_ring(void)
{
	struct elog_mapped_ring *ring;

	emit_some();
	ring = elog_rings_of_thread(producer->rings.place);
	check(ring && ring->header);
	return ring;
}

/* Let the next event try to connect or to register. */
static void try_at_once(void)
{
	__atomic_store_n(&producer->next_try, 0, __ATOMIC_RELAXED);
}

/* After the device was given up: the program gets it again, and nothing is missing. */
static void return_and_check(struct elog_consumer *consumer, int fd)
{
	check_equal(live_events(fd), 0);
	close(fd);
	check_equal(elog_producer_connect(producer), 0);
	emit_one();
	read_all(consumer);
	check_sum();
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

/* How often this thread has waited. */
static long waits(void)
{
	struct rusage usage;

	check_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

static bool has_survived;

static void *emit_with_pending_cancellation(void *context)
{
	int state;

	(void)context;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	emit_one();
	has_survived = true;
	return NULL;
}

static bool survives_cancellation(void)
{
	pthread_t thread;

	has_survived = false;
	check_equal(pthread_create(&thread, NULL, emit_with_pending_cancellation, NULL), 0);
	pthread_join(thread, NULL);
	check(has_survived);
	return has_survived;
}

/* Neither emitting nor testing an event is a cancellation point: that would leave the lock held. */
static void test_cancellation(void)
{
	struct elog_consumer *consumer = subscribe(RING_BYTES);
	int fd;

	begin("event u32 number");
	if (!survives_cancellation())
		return;
	fd = ask(EVENTLOG_LEAVE_PRODUCERS);
	if (!survives_cancellation())
		return;
	check_equal(live_events(fd), 0);
	check(!is_connected(producer));
	try_at_once();
	if (!survives_cancellation())
		return;
	return_and_check(consumer, fd);
}

static struct elog_event *pending;
static void *no_access;
static int asker;
static bool stays_connected;

static void on_fault(int number)
{
	(void)number;
	asker = ask(EVENTLOG_LEAVE_PRODUCERS);
	try_at_once();
	check(!elog_event_enabled(pending));
	stays_connected = is_connected(producer);
	mprotect(no_access, (size_t)sysconf(_SC_PAGESIZE), PROT_READ);
}

/* A handler that has interrupted an emission must not wait until that has ended. */
static void test_emission(void)
{
	struct sigaction action = { .sa_handler = on_fault };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct elog_consumer *consumer;
	struct iovec part = { .iov_len = sizeof(uint32_t) };

	reload_module_with("events_max=1");
	consumer = subscribe(RING_BYTES);
	begin("event u32 number");
	pending = add_event(producer, "pending u32 number");
	check_equal(elog_event_error(pending), -ENOSPC);
	own_ring();
	no_access = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(no_access != MAP_FAILED);
	part.iov_base = no_access;
	check_equal(sigaction(SIGSEGV, &action, NULL), 0);
	emitted++;
	check_equal(elog_event_write(event, 0, &part, 1), 0);
	signal(SIGSEGV, SIG_DFL);
	munmap(no_access, page);
	check_equal(elog_event_error(pending), -ESHUTDOWN);
	check(stays_connected);
	emit_one();
	/* Otherwise it would be registered first, and then there would be no room. */
	elog_event_unregister(pending);
	return_and_check(consumer, asker);
}

/* While a thread stays in the kernel, others try from time to time, not at each event. */
static void test_stuck_writer(void)
{
	const uint64_t start = elog_clock_read(CLOCK_MONOTONIC_COARSE);
	struct elog_consumer *consumer = subscribe(RING_BYTES);
	unsigned int i, tries = 0;
	uint64_t next = 0;
	int fd;

	begin("event u32 number");
	__atomic_fetch_add(&producer->writers[0].count, 1, __ATOMIC_SEQ_CST);
	fd = ask(EVENTLOG_LEAVE_PRODUCERS);
	for (i = 0; i < 50; i++) {
		emit_one();
		tries += producer->next_disconnect != next;
		next = producer->next_disconnect;
	}
	/* One try each 100 ms. */
	check(tries >= 1);
	check(tries <= 1 + (next - start) / 100000000);
	check_equal(live_events(fd), 1);
	__atomic_fetch_sub(&producer->writers[0].count, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < PAUSES_MAX && live_events(fd); i++) {
		emit_one();
		pause_shortly();
	}
	return_and_check(consumer, fd);
}

static pthread_barrier_t barrier;

static void *stay_in_emission(void *context)
{
	struct elog_mapped_ring *ring = own_ring();

	(void)context;
	check(elog_mapped_begin(ring));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	elog_mapped_end(ring);
	return NULL;
}

/* A thread is stopped in an emission, or has left it by siglongjmp(). */
static void test_stuck_emission(void)
{
	struct elog_consumer *consumer = subscribe(RING_BYTES);
	pthread_t thread;
	long before;
	int fd;

	begin("event u32 number");
	pthread_barrier_init(&barrier, NULL, 2);
	check_equal(pthread_create(&thread, NULL, stay_in_emission, NULL), 0);
	pthread_barrier_wait(&barrier);
	fd = ask(EVENTLOG_LEAVE_PRODUCERS);
	before = waits();
	emit_one();
	/* All signals are blocked meanwhile. */
	check(waits() - before < 500);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	return_and_check(consumer, fd);
}

/* The child has the parent's memory, but its own files: it neither leaves nor connects. */
static __attribute__((noinline)) void emit_in_vfork(void)
{
	pid_t child = vfork();
	int status;

	if (!child) {
		emit_one();
		_exit(0);
	}
	check_equal(waitpid(child, &status, 0), child);
	check_equal(status, 0);
}

static void test_vfork(void)
{
	struct elog_consumer *consumer = subscribe(RING_BYTES);
	int fd;

	begin("event u32 number");
	own_ring();
	fd = ask(EVENTLOG_LEAVE_PRODUCERS);
	emit_in_vfork();
	check(is_connected(producer));
	check_equal(live_events(fd), 1);
	emit_one();
	check_equal(live_events(fd), 0);
	close(fd);
	try_at_once();
	emit_in_vfork();
	check(!is_connected(producer));
	fd = ask(EVENTLOG_LEAVE_PRODUCERS);
	return_and_check(consumer, fd);
}

static void *release(void *context)
{
	(void)context;
	elog_producer_release(producer, UINT32_MAX);
	return NULL;
}

/* While another thread waits to disconnect, which may fail, the kernel sees sessions end. */
static void test_session(void)
{
	struct elog_consumer *consumer = subscribe(RING_BYTES);
	struct eventlog_mapped_header *header;
	struct elog_running before;
	pthread_t thread;

	begin("event u32 number");
	header = own_ring()->header;
	before = elog_session_enter(event, 5);
	check_equal(header->session_of, elog_event_descriptor(event));
	__atomic_fetch_add(&producer->writers[0].count, 1, __ATOMIC_SEQ_CST);
	check_equal(pthread_create(&thread, NULL, release, NULL), 0);
	while (is_connected(producer))
		sched_yield();
	elog_session_leave(event, before);
	check_equal(header->session_of, 0);
	__atomic_fetch_sub(&producer->writers[0].count, 1, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	check(!is_connected(producer));
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

/* ---- a thread that has found the event enabled before another one has left ---- */

static const unsigned char enabled_byte = EVENTLOG_STATUS_ENABLED;

/* Leaves; then emissions find what they would have found before. */
static int leave_behind(void)
{
	int fd = ask(EVENTLOG_LEAVE_PRODUCERS);

	emit_one();
	check(!is_connected(producer));
	__atomic_store_n(&event->status, &enabled_byte, __ATOMIC_RELAXED);
	return fd;
}

static void test_late_write(void)
{
	struct elog_consumer *consumer = subscribe(RING_BYTES);
	int fd, i;

	begin("event u32 number");
	emit_one();
	fd = leave_behind();
	/* More than 16 bits count. */
	for (i = 0; i < 70000; i++)
		emit_one();
	return_and_check(consumer, fd);
	check_equal(away, 70001);
}

#ifdef __x86_64__
#define TRAP_FLAG 0x100ULL

/* Begin, or end, to get SIGTRAP after each instruction. */
static inline __attribute__((always_inline)) void step(bool begin)
{
	const unsigned long long flags = __builtin_ia32_readeflags_u64() & ~TRAP_FLAG;

	__builtin_ia32_writeeflags_u64(begin ? flags | TRAP_FLAG : flags);
}

static volatile unsigned int steps_left;
static volatile bool is_stepping;

/* The producer comes back between two instructions of an emission. */
static void on_step(int number, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)number;
	(void)info;
	if (!is_stepping || --steps_left)
		return;
	is_stepping = false;
	*flags &= ~(greg_t)TRAP_FLAG;
	close(asker);
	asker = -1;
	check_equal(elog_producer_connect(producer), 0);
}

/* Return: whether the emission has so many instructions. */
static bool return_after(unsigned int steps)
{
	asker = leave_behind();
	/* Or the emission would report them, with all signals blocked. */
	producer->missed = false;
	steps_left = steps;
	is_stepping = true;
	step(true);
	emit_one();
	step(false);
	producer->missed = true;
	if (asker < 0)
		return true;
	is_stepping = false;
	close(asker);
	check_equal(elog_producer_connect(producer), 0);
	return false;
}

static void test_return_during_write(void)
{
	const struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	struct elog_consumer *consumer = subscribe(RING_BYTES);
	unsigned int steps = 0;

	begin("event u32 number");
	emit_one();
	check_equal(sigaction(SIGTRAP, &action, NULL), 0);
	do {
		steps++;
	} while (return_after(steps));
	signal(SIGTRAP, SIG_DFL);
	emit_one();
	read_all(consumer);
	printf("# %u steps\n", steps);	/* User Mode Linux hardly has any */
	check_sum();
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

static void emit_at_step(int number)
{
	(void)number;
	emit_one();
}

/*
 * The program emits at each instruction of an attempt to come back that the kernel refuses.
 * @is_late: with a status that was read before it left
 */
static void check_refused(bool is_late)
{
	const struct sigaction action = { .sa_handler = emit_at_step };
	struct elog_consumer *consumer = subscribe(RING_BYTES);
	int fd, ret;

	begin("event u32 number");
	emit_one();
	if (is_late) {
		fd = leave_behind();
	} else {
		fd = ask(EVENTLOG_LEAVE_PRODUCERS);
		emit_one();
	}
	check_equal(sigaction(SIGTRAP, &action, NULL), 0);
	step(true);
	ret = elog_producer_connect(producer);
	step(false);
	signal(SIGTRAP, SIG_DFL);
	check_equal(ret, -ESHUTDOWN);
	printf("# %llu emitted\n", (unsigned long long)emitted);
	return_and_check(consumer, fd);
}

static void test_refused(void)
{
	check_refused(false);
	check_refused(true);
}
#endif

static const struct test tests[] = {
	{ "a program whose events are disabled leaves", test_disabled },
	{ "the device is not unloaded after all", test_change_of_mind },
	{ "the module is replaced while threads emit in rings", test_threads },
	{ "the same, while signal handlers emit, too", test_signals },
	{ "a child that is made meanwhile", test_fork },
	{ "events that are registered meanwhile", test_register },
	{ "the subscriber comes back after the program", test_late_subscriber },
	{ "a session ends while a thread waits to disconnect", test_session },
	{ "a child of vfork() neither leaves nor connects", test_vfork },
	{ "a thread writes when another one has left", test_late_write },
#ifdef __x86_64__
	{ "another thread comes back at any instruction of a write", test_return_during_write },
	{ "emissions at any instruction of coming back too early", test_refused },
#endif
	{ "a thread stays in the kernel", test_stuck_writer },
	{ "a thread stays in an emission", test_stuck_emission },
	{ "a handler that has interrupted an emission does not leave", test_emission },
	/* The last one: if it fails, a lock stays held. */
	{ "a thread whose cancellation is pending leaves and comes back", test_cancellation },
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
	/* What no one listened to is not lost. */
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
