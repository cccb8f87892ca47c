// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of kernel stacks in the events of eventlog_sched.ko: the stack of an interval is where its
 * thread was blocked, with names and no address; each capture gets what it looks like; and what is
 * short, or beyond the size of the table, has none.
 *
 * Which features meet:
 *	captures	two, the second one later; one of the numbers only; switched on and off,
 *			and the module unloaded, while threads are blocked
 *	rules		for a process, and a session
 *	users		one with many stacks, and others
 *	instances	one with many stacks; its owner, and the owner's other instance
 *	modules		loaded while stacks are kept, and when a user has many; loaded and unloaded
 *			by a thread with a session
 *	faults		within a system call
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "instance_common.h"
#include "mapped_common.h"
#include "module_common.h"
#include "sched_common.h"

#define RING_BYTES (1 << 20)
#define STACKS_MAX 64
#define TEXT_MAX 4096

enum cause { PIPE = 8, SLEEP = 10 };

/* A stack as a subscriber knows it. */
struct stack {
	__u32 number;
	char text[TEXT_MAX];
};

/* A producer whose only thread is this one, and what subscribers know. */
struct watch {
	int fd;
	struct eventlog_register event;
	struct mapped ring;
};

struct listener {
	struct consumer consumer;
	struct off last;		/* of the cause that was looked for */
	bool any;
	struct stack stacks[STACKS_MAX];
	unsigned int count;
};

static void watch_open(struct watch *watch, const char *parameters)
{
	memset(watch, 0, sizeof(*watch));
	sched_load(parameters);
	watch->fd = device_open();
	watch->event = register_event(watch->fd, "request u32 id");
	mapped_attach(&watch->ring, watch->fd, mapped_least_bytes());
}

static void watch_close(struct watch *watch)
{
	mapped_unmap(&watch->ring);
	close(watch->fd);
	sched_unload();
}

static void session_enter(struct watch *watch)
{
	session_set(&watch->ring, watch->event.descriptor, SESSION);
}

static void session_leave(struct watch *watch)
{
	session_set(&watch->ring, 0, 0);
}

static void listen_to(struct listener *listener, const char *event)
{
	memset(listener, 0, sizeof(*listener));
	mapped_consumer_open(&listener->consumer, RING_BYTES);
	rule_add(listener->consumer.fd, "sched", event);
}

static void stack_add(struct listener *listener, const struct record *record)
{
	struct stack *stack = &listener->stacks[listener->count];
	const unsigned char *payload = record->payload;
	__u32 word;

	CHECK(listener->count < STACKS_MAX);
	memcpy(&stack->number, payload, sizeof(stack->number));
	/* Offset and size of the string. */
	memcpy(&word, payload + sizeof(stack->number), sizeof(word));
	CHECK((word >> 16) <= TEXT_MAX && (word & 0xffff) + (word >> 16) <= record->bytes);
	memcpy(stack->text, payload + (word & 0xffff), word >> 16);
	CHECK_EQ(strlen(stack->text) + 1, word >> 16);
	CHECK_EQ(record->header->session, 0);
	listener->count++;
}

/* Takes what there is: keeps the stacks, and the last interval of a cause. */
static void take(struct listener *listener, enum cause cause)
{
	struct record record;
	struct off off;

	flush(listener->consumer.fd);
	while (consumer_next(&listener->consumer, &record)) {
		/* An event off has a session. */
		if (!record.header->session) {
			stack_add(listener, &record);
			continue;
		}
		if (record.bytes < sizeof(off) || record.bytes > sizeof(off) + 7)
			continue;
		memcpy(&off, record.payload, sizeof(off));
		if (off.cause != cause)
			continue;
		listener->last = off;
		listener->any = true;
	}
}

static const char *stack_find(const struct listener *listener, __u32 number)
{
	unsigned int i;

	for (i = 0; i < listener->count; i++)
		if (listener->stacks[i].number == number)
			return listener->stacks[i].text;
	return NULL;
}

/* The stack of the last interval of a cause, which a worker may emit a moment later. */
static const char *stack_of(struct listener *listener, enum cause cause)
{
	const char *text;

	WAIT_FOR((take(listener, cause), listener->any));
	CHECK(listener->last.stack);
	WAIT_FOR((take(listener, cause), text = stack_find(listener, listener->last.stack)));
	return text;
}

/* "a+0x1c/0x80 [module];b+..." or "?" */
static void check_text(const char *text)
{
	char copy[TEXT_MAX], *rest = copy, *frame;
	unsigned int offset, size, count = 0;
	int end;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((frame = strsep(&rest, ";"))) {
		count++;
		if (!strcmp(frame, "?"))
			continue;
		end = 0;
		CHECK(frame[0] != '0');
		CHECK_EQ(sscanf(frame, "%*[^+ ;]+0x%x/0x%x%n", &offset, &size, &end), 2);
		CHECK(offset <= size);
		CHECK(!frame[end] || frame[end] == ' ');
	}
	CHECK(count >= 2);
}

/* ---- a thread that ends a wait ---- */

struct helper {
	pthread_t thread;
	pid_t waits;
	struct watch *watch;
	void (*end)(void *argument);
	void *argument;
};

static void *helper_run(void *argument)
{
	struct helper *helper = argument;

	/* Once it works on the session, it sleeps in one place only. */
	WAIT_FOR(__atomic_load_n(&helper->watch->ring.header->session_of, __ATOMIC_ACQUIRE));
	WAIT_FOR(thread_sleeps(helper->waits));
	helper->end(helper->argument);
	return NULL;
}

static void helper_start(struct helper *helper, struct watch *watch, void (*end)(void *),
			 void *argument)
{
	*helper = (struct helper){
		.waits = thread_id(), .watch = watch, .end = end, .argument = argument,
	};
	CHECK_EQ(pthread_create(&helper->thread, NULL, helper_run, helper), 0);
}

static void byte_write(void *fd)
{
	CHECK_EQ(write(*(int *)fd, "x", 1), 1);
}

/* Waits for a byte from a pipe by a call. */
static void read_once_by(struct watch *watch, ssize_t (*call)(int fd, const struct iovec *to))
{
	struct helper helper;
	struct iovec to;
	int ends[2];
	char byte;

	CHECK_OK(pipe(ends));
	to = (struct iovec){ &byte, 1 };
	helper_start(&helper, watch, byte_write, &ends[1]);
	session_enter(watch);
	CHECK_EQ(call(ends[0], &to), 1);
	session_leave(watch);
	CHECK_EQ(pthread_join(helper.thread, NULL), 0);
	close(ends[0]);
	close(ends[1]);
}

static ssize_t by_read(int fd, const struct iovec *to)
{
	return read(fd, to->iov_base, to->iov_len);
}

static ssize_t by_readv(int fd, const struct iovec *to)
{
	return readv(fd, to, 1);
}

static void read_once(struct watch *watch)
{
	read_once_by(watch, by_read);
}

static void sleep_in_session(struct watch *watch)
{
	session_enter(watch);
	sleep_once();
	session_leave(watch);
}

/* ---- what a stack looks like ---- */

TEST(read_from_a_pipe_is_in_the_stack)
{
	static struct listener listener;
	struct watch watch;
	const char *text;

	watch_open(&watch, "min_us=10 stack_us=10");
	listen_to(&listener, NULL);
	read_once(&watch);
	text = stack_of(&listener, PIPE);
	check_text(text);
	CHECK(strstr(text, "pipe_read+"));
	CHECK(!strstr(text, "pipe_write+"));
	/* It says the same of the same place, and something else of another one. */
	sleep_in_session(&watch);
	text = stack_of(&listener, SLEEP);
	check_text(text);
	CHECK(strstr(text, "nanosleep"));
	CHECK(!strstr(text, "pipe_read+"));
	CHECK_EQ(file_number("/sys/module/eventlog_sched/parameters/stacks_lost"), 0);
	consumer_close(&listener.consumer);
	watch_close(&watch);
}

struct fault {
	int fd;
	char *page;
	size_t size;
};

static void fault_end(void *argument)
{
	struct fault *fault = argument;
	struct uffdio_zeropage zero = {
		.range = { .start = (unsigned long)fault->page, .len = fault->size },
	};
	struct uffd_msg message;

	CHECK_EQ(read(fault->fd, &message, sizeof(message)), sizeof(message));
	CHECK_OK(ioctl(fault->fd, UFFDIO_ZEROPAGE, &zero));
}

/* The call alone would say that it waits for the pipe. */
TEST(fault_within_a_write_is_in_the_stack)
{
	struct fault fault = { .size = sysconf(_SC_PAGESIZE) };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	static struct listener listener;
	struct helper helper;
	struct watch watch;
	const char *text;
	int ends[2];

	fault.fd = syscall(__NR_userfaultfd, O_CLOEXEC);
	if (fault.fd < 0 && errno == ENOSYS)
		SKIP("no userfaultfd");
	CHECK_OK(fault.fd);
	CHECK_OK(ioctl(fault.fd, UFFDIO_API, &api));
	fault.page = mmap(NULL, fault.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	CHECK(fault.page != MAP_FAILED);
	range.range.start = (unsigned long)fault.page;
	range.range.len = fault.size;
	CHECK_OK(ioctl(fault.fd, UFFDIO_REGISTER, &range));
	CHECK_OK(pipe(ends));

	watch_open(&watch, "min_us=10 stack_us=10");
	listen_to(&listener, NULL);
	helper_start(&helper, &watch, fault_end, &fault);
	session_enter(&watch);
	CHECK_EQ(write(ends[1], fault.page, 1), 1);
	session_leave(&watch);
	CHECK_EQ(pthread_join(helper.thread, NULL), 0);
	text = stack_of(&listener, PIPE);
	check_text(text);
	CHECK(strstr(text, "handle_userfault+"));
	CHECK(strstr(text, "pipe_write+"));
	consumer_close(&listener.consumer);
	watch_close(&watch);
	close(fault.fd);
	close(ends[0]);
	close(ends[1]);
}

/* ---- who has none ---- */

static void check_none(const char *parameters, const char *event)
{
	static struct listener listener;
	struct watch watch;

	watch_open(&watch, parameters);
	listen_to(&listener, event);
	sleep_in_session(&watch);
	WAIT_FOR((take(&listener, SLEEP), listener.any));
	CHECK_EQ(listener.last.stack, 0);
	CHECK_EQ(listener.count, 0);
	consumer_close(&listener.consumer);
	watch_close(&watch);
}

TEST(short_intervals_have_none)
{
	check_none("min_us=10 stack_us=1000000", NULL);
}

TEST(parameter_switches_stacks_off)
{
	check_none("min_us=10 stack_us=0", NULL);
}

TEST(listener_to_intervals_only_has_none)
{
	check_none("min_us=10 stack_us=10", "off");
}

TEST(parameters_have_limits)
{
	sched_load("");
	CHECK_EQ(file_number("/sys/module/eventlog_sched/parameters/stack_us"), 1000);
	CHECK_ERRNO(file_write("/sys/module/eventlog_sched/parameters/stack_us", "1000001"),
		    EINVAL);
	CHECK_ERRNO(file_write("/sys/module/eventlog_sched/parameters/stack_us", "-1"), EINVAL);
	CHECK_EQ(file_number("/sys/module/eventlog_sched/parameters/stack_us"), 1000);
	CHECK_EQ(file_number("/sys/module/eventlog_sched/parameters/stacks_max"), 4096);
	CHECK_EQ(file_number("/sys/module/eventlog_sched/parameters/stacks_lost"), 0);
	sched_unload();
	/* It is no setting, but may be given, as each parameter. */
	sched_load("stacks_lost=7");
	CHECK_EQ(file_number("/sys/module/eventlog_sched/parameters/stacks_lost"), 7);
	sched_unload();
}

/* Waits once in each of many places in the kernel; none is a pipe. */
static void wait_everywhere(void)
{
	const struct timespec time = { .tv_nsec = 5000000 };
	const struct timeval timeout = { .tv_usec = 5000 };
	struct itimerspec timer = { .it_value = time };
	struct epoll_event event;
	__u64 expirations;
	sigset_t signals;
	unsigned int word = 0;
	int ends[2], fd;
	char byte;

	/* pause: these are what the test is about */
	nanosleep(&time, NULL);
	clock_nanosleep(CLOCK_REALTIME, 0, &time, NULL);
	poll(NULL, 0, 5);
	ppoll(NULL, 0, &time, NULL);
	select(0, NULL, NULL, NULL, &(struct timeval){ .tv_usec = 5000 });
	fd = CHECK_OK(epoll_create1(0));
	epoll_wait(fd, &event, 1, 5);
	close(fd);
	syscall(__NR_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0);
	sigemptyset(&signals);
	sigtimedwait(&signals, NULL, &time);
	fd = CHECK_OK(timerfd_create(CLOCK_MONOTONIC, 0));
	CHECK_OK(timerfd_settime(fd, 0, &timer, NULL));
	CHECK_EQ(read(fd, &expirations, sizeof(expirations)), sizeof(expirations));
	close(fd);
	CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	CHECK_OK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)));
	CHECK_ERRNO(recv(ends[0], &byte, 1, 0), EAGAIN);
	CHECK_ERRNO(read(ends[0], &byte, 1), EAGAIN);
	close(ends[0]);
	close(ends[1]);
}

static long stacks_lost(void)
{
	return file_number("/sys/module/eventlog_sched/parameters/stacks_lost");
}

/* More places than the table has entries; those beyond the user's part are left out. */
static void use_up(void)
{
	int fd = device_open();

	CHECK_EQ(session_write(fd, register_event(fd, "many").descriptor, SESSION), 16);
	WAIT_FOR((wait_everywhere(), stacks_lost()));
	close(fd);
}

/* A small table, and users who have not added stacks. */
static void watch_open_small(struct watch *watch)
{
	/* Unloads eventlog.ko. */
	if (!access("/sys/module/eventlog_sched/initstate", F_OK))
		sched_unload();
	load_open("");
	watch_open(watch, "min_us=10 stack_us=10 stacks_max=8");
}

TEST(user_with_many_stacks_denies_none_to_others)
{
	static struct listener listener;
	struct watch watch;
	__u32 first;

	watch_open_small(&watch);
	listen_to(&listener, NULL);
	read_once(&watch);
	stack_of(&listener, PIPE);
	first = listener.last.stack;
	CHECK_EQ(stacks_lost(), 0);
	as_user(USER, use_up);
	CHECK(stacks_lost());
	listener.any = false;
	read_once_by(&watch, by_readv);
	CHECK(strstr(stack_of(&listener, PIPE), "pipe_read+"));
	CHECK(listener.last.stack > first);
	/* The user's stacks have taken its place meanwhile, so it is a new one. */
	first = listener.last.stack;
	listener.any = false;
	read_once(&watch);
	CHECK(strstr(stack_of(&listener, PIPE), "pipe_read+"));
	CHECK(listener.last.stack > first);
	consumer_close(&listener.consumer);
	watch_close(&watch);
}

/* Reads from a pipe as the user of the process; in an instance if @fd is a file of it. */
static void read_with(int fd, ssize_t (*call)(int fd, const struct iovec *to))
{
	struct watch watch = { .fd = fd };

	watch.event = register_event(fd, "reader u32 id");
	mapped_attach(&watch.ring, fd, mapped_least_bytes());
	read_once_by(&watch, call);
	mapped_unmap(&watch.ring);
	close(fd);
}

static void read_in_root(void)
{
	read_with(device_open(), by_readv);
}

/* Does what was read have a stack? */
static bool has_stack(struct listener *listener)
{
	WAIT_FOR((take(listener, PIPE), listener->any));
	listener->any = false;
	return listener->last.stack;
}

static int instance_of_user(const char *name, __u32 *id)
{
	struct eventlog_instance_create request = create_request(name);

	request.owner = USER;
	return create_with(&request, id);
}

TEST(instance_with_many_stacks_denies_none_to_its_owner)
{
	static struct listener listener;
	struct watch watch, inside;
	__u32 one, other;

	watch_open_small(&watch);
	listen_to(&listener, NULL);
	inside.fd = instance_of_user("one", &one);
	inside.event = register_event(inside.fd, "many u32 id");
	mapped_unmap(&watch.ring);
	mapped_attach(&inside.ring, inside.fd, mapped_least_bytes());
	session_enter(&inside);
	WAIT_FOR((wait_everywhere(), stacks_lost()));
	session_leave(&inside);
	mapped_unmap(&inside.ring);
	close(inside.fd);
	read_with(instance_of_user("other", &other), by_read);
	CHECK(has_stack(&listener));
	as_user(USER, read_in_root);
	CHECK(has_stack(&listener));
	delete_instance(one);
	delete_instance(other);
	consumer_close(&listener.consumer);
	close(watch.fd);
	sched_unload();
}

/* A user who has added many stacks may do so again, and need not wait for half a minute. */
TEST(loading_a_module_denies_no_stacks)
{
	static struct listener listener;
	struct watch watch;
	__u64 used_up;

	watch_open_small(&watch);
	listen_to(&listener, NULL);
	as_user(USER, use_up);
	used_up = clock_now();
	module_insert_built("module/providers/eventlog_proc.ko", "");
	/* The period that a module ends has lasted for a second. */
	WAIT_FOR(clock_now() > used_up + 2 * 1000000000ULL);
	as_user(USER, read_in_root);
	CHECK(has_stack(&listener));
	CHECK_OK(module_unload("eventlog_proc"));
	consumer_close(&listener.consumer);
	watch_close(&watch);
}

/* ---- captures and modules ---- */

TEST(later_capture_gets_the_stacks_that_it_sees)
{
	static struct listener first, second;
	struct watch watch;
	char *text;

	watch_open(&watch, "min_us=10 stack_us=10");
	listen_to(&first, NULL);
	read_once(&watch);
	text = strdup(stack_of(&first, PIPE));
	listen_to(&second, NULL);
	read_once(&watch);
	CHECK(!strcmp(stack_of(&second, PIPE), text));
	/* Both know it by the same number. */
	CHECK(!strcmp(stack_find(&first, second.last.stack), text));
	free(text);
	consumer_close(&second.consumer);
	consumer_close(&first.consumer);
	watch_close(&watch);
}

static void listen_with(struct listener *listener, __u32 flags)
{
	struct eventlog_rule rule = rule_request("sched", "*");

	memset(listener, 0, sizeof(*listener));
	mapped_consumer_open(&listener->consumer, RING_BYTES);
	rule.flags = flags;
	rule.pid = flags & EVENTLOG_RULE_PID ? getpid() : 0;
	rule.session = flags & EVENTLOG_RULE_SESSION ? SESSION : 0;
	rule_add_with(listener->consumer.fd, &rule);
}

/* The worker that emits stacks is no thread of the process, and has no session. */
TEST(rules_for_a_process_or_a_session_get_stacks)
{
	static struct listener process, session;
	struct watch watch;

	watch_open(&watch, "min_us=10 stack_us=10");
	listen_with(&process, EVENTLOG_RULE_PID);
	listen_with(&session, EVENTLOG_RULE_SESSION);
	read_once(&watch);
	CHECK(strstr(stack_of(&process, PIPE), "pipe_read+"));
	CHECK(strstr(stack_of(&session, PIPE), "pipe_read+"));
	consumer_close(&session.consumer);
	consumer_close(&process.consumer);
	watch_close(&watch);
}

/* The addresses of a module that is gone may be those of another one. */
TEST(numbers_change_when_a_module_is_loaded)
{
	static struct listener listener;
	struct watch watch;
	__u32 first;

	watch_open(&watch, "min_us=10 stack_us=10");
	listen_to(&listener, NULL);
	read_once(&watch);
	stack_of(&listener, PIPE);
	first = listener.last.stack;
	listener.any = false;
	module_insert_built("module/providers/eventlog_proc.ko", "");
	read_once(&watch);
	CHECK(strstr(stack_of(&listener, PIPE), "pipe_read+"));
	CHECK(listener.last.stack > first);
	CHECK_OK(module_unload("eventlog_proc"));
	consumer_close(&listener.consumer);
	watch_close(&watch);
}

/* The text of a stack with a frame in each of two functions. */
static const char *stack_with(const struct listener *listener, const char *inner,
			      const char *outer)
{
	unsigned int i;

	for (i = 0; i < listener->count; i++)
		if (strstr(listener->stacks[i].text, inner) &&
		    strstr(listener->stacks[i].text, outer))
			return listener->stacks[i].text;
	return NULL;
}

/*
 * A function of a module blocks, and its name goes as soon as it has returned. The only thread that
 * could emit the stack before does not get the CPU from one with a fixed priority.
 */
TEST(names_of_a_module_are_in_the_stack_when_they_go)
{
	static struct listener listener;
	struct sched_param priority = { .sched_priority = 1 };
	struct watch watch;
	const char *text;
	cpu_set_t cpus;

	watch_open(&watch, "min_us=10 stack_us=10");
	listen_to(&listener, NULL);
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	CHECK_OK(sched_setaffinity(0, sizeof(cpus), &cpus));
	CHECK_OK(sched_setscheduler(0, SCHED_FIFO, &priority));
	session_enter(&watch);
	CHECK_OK(module_load("eventlog_stack_test"));
	CHECK_OK(module_unload("eventlog_stack_test"));
	session_leave(&watch);
	priority.sched_priority = 0;
	CHECK_OK(sched_setscheduler(0, SCHED_OTHER, &priority));
	WAIT_FOR((take(&listener, SLEEP), text = stack_with(&listener, "msleep+", "init_module+")));
	check_text(text);
	CHECK(strstr(text, ";eventlog_stack_test_init+"));
	/* Its name may have a suffix that the compiler adds. */
	WAIT_FOR((take(&listener, SLEEP), text = stack_with(&listener, "msleep+",
							    "delete_module")));
	check_text(text);
	CHECK(strstr(text, ";eventlog_stack_test_exit+"));
	consumer_close(&listener.consumer);
	watch_close(&watch);
}

TEST(numbers_are_not_used_again)
{
	static struct listener listener;
	struct watch watch;
	__u32 first;

	watch_open(&watch, "min_us=10 stack_us=10");
	listen_to(&listener, NULL);
	read_once(&watch);
	stack_of(&listener, PIPE);
	first = listener.last.stack;
	mapped_unmap(&watch.ring);
	close(watch.fd);
	sched_unload();
	/* The subscriber stays. */
	watch_open(&watch, "min_us=10 stack_us=10");
	listener.any = false;
	read_once(&watch);
	CHECK(strstr(stack_of(&listener, PIPE), "pipe_read+"));
	CHECK(listener.last.stack > first);
	consumer_close(&listener.consumer);
	watch_close(&watch);
}

static bool stop;

static void *sleep_often(void *argument)
{
	const struct timespec time = { .tv_nsec = 50000 };
	struct watch *watch = argument;
	struct mapped ring;

	mapped_attach(&ring, watch->fd, mapped_least_bytes());
	session_set(&ring, watch->event.descriptor, SESSION);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		nanosleep(&time, NULL);	/* pause: the sleep itself is what the test is about */
	mapped_unmap(&ring);
	return NULL;
}

TEST(switching_on_and_off_while_threads_are_blocked)
{
	static struct listener listener;
	pthread_t threads[4];
	struct watch watch;
	unsigned int i, round;

	watch_open(&watch, "min_us=10 stack_us=10");
	for (i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, sleep_often, &watch), 0);
	for (round = 0; round < 20; round++) {
		listen_to(&listener, NULL);
		check_text(stack_of(&listener, SLEEP));
		if (round % 4 == 3) {
			sched_unload();
			sched_load("min_us=10 stack_us=10");
		}
		consumer_close(&listener.consumer);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	watch_close(&watch);
}
