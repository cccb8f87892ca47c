// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of producer rings: events that a thread emits without a system call.  All of
 * them arrive once, whole, in order, with the identity of the thread; whatever a
 * producer writes to its ring, its neighbours lose nothing.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter_common.h"
#include "mapped_common.h"

#define RING_BYTES (1 << 20)
#define HOUR (3600 * 1000000000ULL)
/* A user without rights. */
#define USER 1000
/* What the kernel asks for in a ring that has ended. */
#define MAPPED_ENDED (EVENTLOG_MAPPED_ASK_LEAVE | EVENTLOG_MAPPED_ASK_ENDED)

/* A producer of numbered events with one ring, and a subscriber to them. */
struct pair {
	int fd;
	struct eventlog_register event;
	struct status_map map;
	struct mapped ring;
	struct consumer consumer;
	__u64 sent;		/* the next number */
	__u64 received;
};

static void pair_open(struct pair *pair)
{
	memset(pair, 0, sizeof(*pair));
	pair->fd = device_open();
	pair->event = register_event(pair->fd, "number u64 number");
	pair->map = status_map(pair->fd, &pair->event);
	mapped_attach(&pair->ring, pair->fd, mapped_least_bytes());
	mapped_consumer_open(&pair->consumer, RING_BYTES);
	rule_add(pair->consumer.fd, NULL, "number");
	CHECK_EQ(status_get(&pair->map, &pair->event), EVENTLOG_STATUS_ENABLED);
}

static void pair_close(struct pair *pair)
{
	if (pair->ring.header)
		mapped_unmap(&pair->ring);
	consumer_close(&pair->consumer);
	close(pair->fd);
}

/* Puts the next event into a ring; nothing is drained by that. */
static void pair_put_in(struct pair *pair, struct mapped *ring)
{
	const struct eventlog_mapped_record record = {
		.write_index = pair->event.write_index, .time = mapped_time(ring),
	};

	CHECK(mapped_put(ring, record, &pair->sent, sizeof(pair->sent)));
	pair->sent++;
}

static void pair_put(struct pair *pair)
{
	pair_put_in(pair, &pair->ring);
}

/* The same, for a ring that may have gone to sleep. */
static void pair_emit(struct pair *pair)
{
	pair_put(pair);
	if (mapped_ask(&pair->ring) & EVENTLOG_MAPPED_ASK_KICK)
		CHECK_EQ(mapped_kick(&pair->ring), 8);
}

static void check_number(const struct record *record, __u64 number)
{
	__u64 value;

	CHECK_EQ(record->bytes, sizeof(value));
	memcpy(&value, record->payload, sizeof(value));
	CHECK_EQ(value, number);
}

/* Takes one record, which is from the ring and has the time that it was given. */
static bool pair_next(struct pair *pair, struct record *record)
{
	if (!consumer_next(&pair->consumer, record))
		return false;
	check_number(record, pair->received);
	CHECK_EQ(record->cpu, EVENTLOG_CPU_UNKNOWN);
	CHECK_EQ(record->header->size_flags & ~EVENTLOG_RECORD_SIZE_MASK,
		 EVENTLOG_RECORD_FLAG_MAPPED);
	CHECK_EQ(record->header->descriptor, pair->event.descriptor);
	pair->received++;
	return true;
}

/* All events have arrived, from this thread. */
static void pair_check(struct pair *pair, pid_t pid, pid_t tid)
{
	struct record record;

	while (pair_next(pair, &record)) {
		CHECK_EQ(record.header->pid, pid);
		CHECK_EQ(record.header->tid, tid);
	}
	CHECK_EQ(pair->received, pair->sent);
}

static void pair_wait(struct pair *pair)
{
	struct record record;

	WAIT_FOR((pair_next(pair, &record), pair->received == pair->sent));
}

/* ---- calls that are refused ---- */

TEST(attach_rejects_bad_values)
{
	const __u32 sizes[] = { 0, 1, 4096 - 1, 4096, 12288, 8192 + 8, 2 << 20, 1U << 31, ~0U };
	struct eventlog_attach attach = attach_request(mapped_least_bytes());
	struct consumer consumer;
	int fd = device_open(), reader;
	unsigned int i;

	/* The file has no role yet. */
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach), EINVAL);
	CHECK_ERRNO(try_detach(fd, 1), ENOENT);
	register_event(fd, "event");
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		attach = attach_request(sizes[i]);
		if (sizes[i] >= mapped_least_bytes() && !(sizes[i] & (sizes[i] - 1)) &&
		    sizes[i] <= EVENTLOG_MAPPED_BYTES_MAX)
			continue;
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach), EINVAL);
	}
	for (i = 0; i < 32; i++) {
		attach = attach_request(mapped_least_bytes());
		attach.flags = 1U << i;
		if (attach.flags != EVENTLOG_ATTACH_CYCLES)
			CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach), EINVAL);
	}
	/* There is no ring to take over or to end. */
	for (i = 0; i < 3; i++) {
		attach = attach_request(mapped_least_bytes());
		attach.ring = i == 2 ? ~0U : i + 1;
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach), ENOENT);
		CHECK_ERRNO(try_detach(fd, i == 2 ? ~0U : i), ENOENT);
	}
	reader = device_open_for(O_RDONLY);
	attach = attach_request(mapped_least_bytes());
	CHECK_ERRNO(ioctl(reader, EVENTLOG_IOC_ATTACH, &attach), EBADF);
	close(reader);
	consumer_open(&consumer, RING_BYTES);
	CHECK_EQ(consumer.setup.shards, 0);
	CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_ATTACH, &attach), EBUSY);
	CHECK_ERRNO(try_detach(consumer.fd, 1), EBUSY);
	consumer_close(&consumer);
	close(fd);
}

TEST(rings_of_a_file_are_limited)
{
	struct eventlog_attach attach;
	unsigned int count = 0;
	int fd = device_open();

	register_event(fd, "event");
	do
		attach = attach_request(mapped_least_bytes());
	while (!ioctl(fd, EVENTLOG_IOC_ATTACH, &attach) && ++count <= EVENTLOG_MAPPED_RINGS_MAX);
	CHECK(errno == EMFILE || errno == ENOMEM);
	if (errno == EMFILE)
		CHECK_EQ(count, EVENTLOG_MAPPED_RINGS_MAX);
	/* A number is used again. */
	CHECK_OK(try_detach(fd, 7));
	CHECK_ERRNO(try_detach(fd, 7), ENOENT);
	attach = attach_request(mapped_least_bytes());
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach));
	CHECK_EQ(attach.ring, 7);
	close(fd);
}

TEST(mmap_rejects_what_is_not_a_ring)
{
	const int both = PROT_READ | PROT_WRITE;
	struct eventlog_attach attach = attach_request(2 * mapped_least_bytes());
	unsigned char *ring;
	int fd = device_open();
	pid_t child;

	register_event(fd, "event");
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach));
	CHECK_ERRNO(mmap(NULL, attach.length - page_size(), both, MAP_SHARED, fd, attach.offset),
		    EINVAL);
	CHECK_ERRNO(mmap(NULL, attach.length + page_size(), both, MAP_SHARED, fd, attach.offset),
		    EINVAL);
	CHECK_ERRNO(mmap(NULL, attach.length, both, MAP_SHARED, fd, attach.offset + page_size()),
		    EINVAL);
	CHECK_ERRNO(mmap(NULL, attach.length, both, MAP_SHARED, fd, 2 * attach.offset), ENXIO);
	CHECK_ERRNO(mmap(NULL, attach.length, both, MAP_SHARED, fd,
			 EVENTLOG_MAPPED_RINGS_MAX * attach.offset), ENXIO);
	/* 32-bit kernels do not ask the module. */
	CHECK_ERRNO2(mmap(NULL, attach.length, both, MAP_SHARED, fd, 5000 * attach.offset),
		     ENXIO, EOVERFLOW);
	CHECK_ERRNO(mmap(NULL, attach.length, PROT_READ, MAP_SHARED, fd, attach.offset), EINVAL);
	CHECK_ERRNO(mmap(NULL, attach.length, PROT_WRITE, MAP_SHARED, fd, attach.offset), EINVAL);
	CHECK_ERRNO(mmap(NULL, attach.length, both, MAP_PRIVATE, fd, attach.offset), EINVAL);
	CHECK_ERRNO(mmap(NULL, attach.length, both | PROT_EXEC, MAP_SHARED, fd, attach.offset),
		    EPERM);
	/* Another process, which has the file. */
	child = test_fork();
	if (!child) {
		CHECK_ERRNO(try_map(fd, &attach), EPERM);
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach), EPERM);
		_exit(0);
	}
	test_join(child);
	ring = try_map(fd, &attach);
	CHECK(ring != MAP_FAILED);
	CHECK_ERRNO(try_map(fd, &attach), EBUSY);
	/* It can neither be split, nor moved, nor grow or shrink. */
	CHECK_ERRNO(munmap(ring, page_size()), EINVAL);
	CHECK_ERRNO(munmap(ring + page_size(), attach.length - page_size()), EINVAL);
	CHECK_ERRNO(mprotect(ring, page_size(), PROT_READ), EINVAL);
	CHECK(mremap(ring, attach.length, attach.length + page_size(), MREMAP_MAYMOVE) ==
	      MAP_FAILED);
	CHECK(mremap(ring, attach.length, page_size(), 0) == MAP_FAILED);
	CHECK(mremap(ring, attach.length, attach.length, MREMAP_MAYMOVE | MREMAP_FIXED,
		     ring + 64 * attach.length) == MAP_FAILED);
	/* All of that has not ended it. */
	CHECK_ERRNO(try_map(fd, &attach), EBUSY);
	CHECK_OK(munmap(ring, attach.length));
	CHECK_ERRNO(try_map(fd, &attach), ENXIO);
	CHECK_ERRNO(try_detach(fd, attach.ring), ENOENT);
	close(fd);
}

TEST(kick_rejects_bad_messages)
{
	__u32 message[5] = { EVENTLOG_WRITE_KICK };
	struct eventlog_register event;
	struct mapped ring;
	int fd = device_open();
	unsigned int bytes;
	char *large;

	CHECK_ERRNO(write(fd, message, 8), EINVAL);
	event = register_event(fd, "event u32 value");
	CHECK_ERRNO(write(fd, message, 8), ENOENT);
	mapped_attach(&ring, fd, mapped_least_bytes());
	message[1] = ring.attach.ring + 1;
	CHECK_ERRNO(write(fd, message, 8), ENOENT);
	message[1] = ring.attach.ring;
	for (bytes = 4; bytes < 12; bytes++) {
		if (bytes == 8)
			CHECK_EQ(write(fd, message, 8), 8);
		else
			CHECK_ERRNO(write(fd, message, bytes), EINVAL);
	}
	/* The message is refused as it would be alone. */
	message[2] = EVENTLOG_WRITE_KICK;
	message[3] = ring.attach.ring;
	CHECK_ERRNO(write(fd, message, 16), EINVAL);
	message[2] = event.write_index + 1;
	CHECK_ERRNO(write(fd, message, 16), ENOENT);
	message[2] = event.write_index;
	CHECK_ERRNO(write(fd, message, 16), EBADF);
	large = calloc(1, EVENTLOG_PAYLOAD_MAX + 1000);
	CHECK(large);
	memcpy(large, message, 12);
	CHECK_ERRNO(write(fd, large, EVENTLOG_PAYLOAD_MAX + 1000), E2BIG);
	CHECK_ERRNO(write(fd, large, EVENTLOG_PAYLOAD_MAX + 12), EBADF);
	free(large);
	mapped_unmap(&ring);
	CHECK_ERRNO(write(fd, message, 8), ENOENT);
	close(fd);
}

/* ---- delivery ---- */

TEST(kick_delivers)
{
	struct pair pair;
	__u64 before, after;
	struct record record;

	pair_open(&pair);
	before = clock_now();
	pair_put(&pair);
	after = clock_now();
	CHECK(!mapped_taken(&pair.ring));
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	CHECK(mapped_taken(&pair.ring));
	CHECK_EQ(mapped_ask(&pair.ring), 0);
	CHECK(pair_next(&pair, &record));
	CHECK(record.header->time >= before && record.header->time <= after);
	CHECK_EQ(record.header->session, 0);
	pair_check(&pair, getpid(), thread_id());
	pair_close(&pair);
}

/* Once it was kicked, the worker looks, until it finds nothing for a while. */
TEST(worker_delivers)
{
	struct pair pair;
	unsigned int round;

	pair_open(&pair);
	for (round = 0; round < 3; round++) {
		pair_put(&pair);
		CHECK_EQ(mapped_ask(&pair.ring), EVENTLOG_MAPPED_ASK_KICK);
		CHECK_EQ(mapped_kick(&pair.ring), 8);
		/* If the worker asks again now, it looks once more. */
		pair_put(&pair);
		if (mapped_ask(&pair.ring))
			CHECK_EQ(mapped_kick(&pair.ring), 8);
		pair_wait(&pair);
		WAIT_FOR(mapped_ask(&pair.ring) == EVENTLOG_MAPPED_ASK_KICK);
		/* pause: sometimes before, sometimes after the worker's last look. */
		usleep(round * 10000);
	}
	pair_close(&pair);
}

TEST(flush_delivers)
{
	struct pair pair;
	unsigned int round;

	pair_open(&pair);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	for (round = 0; round < 100; round++) {
		pair_emit(&pair);
		flush(pair.consumer.fd);
		CHECK(mapped_taken(&pair.ring));
		pair_check(&pair, getpid(), thread_id());
	}
	pair_close(&pair);
}

/*
 * Rings that nothing looks at: one was never kicked, one went to sleep.  Their thread has
 * committed records, and was stopped before it could answer the kernel's request.
 */
static void put_in_sleeping_rings(struct pair *pair, struct mapped *other)
{
	struct eventlog_mapped_record record = { .write_index = pair->event.write_index };

	pair_emit(pair);
	pair_wait(pair);
	/* It sleeps one look of the worker after that; before, the worker takes the records. */
	WAIT_FOR(mapped_ask(&pair->ring) == EVENTLOG_MAPPED_ASK_KICK);
	/* pause: the last look is not visible. */
	usleep(30000);
	mapped_attach(other, pair->fd, mapped_least_bytes());
	pair_put(pair);
	pair_put(pair);
	record.time = mapped_time(other);
	CHECK(mapped_put(other, record, &pair->sent, sizeof(pair->sent)));
	pair->sent++;
	CHECK(!mapped_taken(other));
}

TEST(flush_looks_at_sleeping_rings)
{
	struct mapped other;
	struct pair pair;

	pair_open(&pair);
	put_in_sleeping_rings(&pair, &other);
	flush(pair.consumer.fd);
	CHECK(mapped_taken(&pair.ring) && mapped_taken(&other));
	pair_check(&pair, getpid(), thread_id());
	CHECK_EQ(lost_sum(stat_all(pair.consumer.fd).lost), 0);
	/* They are awake: what comes now is delivered without a KICK. */
	pair_emit(&pair);
	pair_wait(&pair);
	mapped_unmap(&other);
	pair_close(&pair);
}

TEST(unregister_looks_at_sleeping_rings)
{
	struct eventlog_unregister request = { .size = sizeof(request) };
	struct eventlog_register next;
	struct mapped other;
	struct pair pair;

	pair_open(&pair);
	put_in_sleeping_rings(&pair, &other);
	request.write_index = pair.event.write_index;
	CHECK_OK(ioctl(pair.fd, EVENTLOG_IOC_UNREGISTER, &request));
	CHECK(mapped_taken(&pair.ring) && mapped_taken(&other));
	/* The next event has the number; it gets none of the records. */
	next = register_event(pair.fd, "next u64 number");
	CHECK_EQ(next.write_index, pair.event.write_index);
	pair_check(&pair, getpid(), thread_id());
	CHECK_EQ(lost_sum(stat_all(pair.consumer.fd).lost), 0);
	mapped_unmap(&other);
	pair_close(&pair);
}

/* A program that lets its children have the mapping: they would emit as the parent. */
TEST(child_does_not_emit_as_its_parent)
{
	struct pair pair;
	pid_t child;

	pair_open(&pair);
	if (madvise(pair.ring.header, pair.ring.attach.length, MADV_DOFORK))
		SKIP("the kernel refuses MADV_DOFORK: %s", test_errno_name(errno));
	pair_put(&pair);
	pair_put(&pair);
	child = test_fork();
	if (!child) {
		CHECK_EQ(mapped_ask(&pair.ring), MAPPED_ENDED);
		pair_put(&pair);
		CHECK_ERRNO(mapped_kick(&pair.ring), ENOENT);
		CHECK_ERRNO(try_detach(pair.fd, pair.ring.attach.ring), ENOENT);
		mapped_unmap(&pair.ring);
		_exit(0);
	}
	test_join(child);
	flush(pair.consumer.fd);
	pair_check(&pair, getpid(), thread_id());
	/* The parent sees that its ring has ended, and gets another one. */
	CHECK_EQ(mapped_ask(&pair.ring), MAPPED_ENDED);
	mapped_unmap(&pair.ring);
	mapped_attach(&pair.ring, pair.fd, mapped_least_bytes());
	pair_emit(&pair);
	flush(pair.consumer.fd);
	pair_check(&pair, getpid(), thread_id());
	CHECK_EQ(lost_sum(stat_all(pair.consumer.fd).lost), 0);
	pair_close(&pair);
}

/* The events of a process are there, whatever ends it. */
static void check_end(void (*end)(struct pair *pair))
{
	struct pair pair;
	int ready[2];
	pid_t child;
	char byte;

	memset(&pair, 0, sizeof(pair));
	CHECK_OK(pipe(ready));
	mapped_consumer_open(&pair.consumer, RING_BYTES);
	rule_add(pair.consumer.fd, NULL, "number");
	child = test_fork();
	if (!child) {
		struct consumer outer = pair.consumer;

		pair.fd = device_open();
		pair.event = register_event(pair.fd, "number u64 number");
		mapped_attach(&pair.ring, pair.fd, mapped_least_bytes());
		CHECK_EQ(write(ready[1], &pair.event, sizeof(pair.event)), sizeof(pair.event));
		while (pair.sent < 100)
			pair_put(&pair);
		pair.consumer = outer;
		CHECK_EQ(write(ready[1], "", 1), 1);
		end(&pair);
		_exit(0);
	}
	CHECK_EQ(read(ready[0], &pair.event, sizeof(pair.event)), sizeof(pair.event));
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	if (end == (void *)pause)
		CHECK_OK(kill(child, SIGKILL));
	CHECK_EQ(waitpid(child, NULL, 0), child);
	pair.sent = 100;
	pair_check(&pair, child, child);
	CHECK_EQ(lost_sum(stat_all(pair.consumer.fd).lost), 0);
	consumer_close(&pair.consumer);
}

static void end_by_exit(struct pair *pair)
{
	(void)pair;
}

static void end_by_exec(struct pair *pair)
{
	int null = open("/dev/null", O_WRONLY);

	(void)pair;
	CHECK_OK(dup2(null, STDOUT_FILENO));
	execl("/proc/self/exe", "mapped_test", "-h", NULL);
	_exit(1);
}

TEST(exit_delivers)
{
	check_end(end_by_exit);
}

TEST(sigkill_delivers)
{
	check_end((void *)pause);
}

TEST(exec_delivers)
{
	check_end(end_by_exec);
}

TEST(munmap_and_detach_deliver)
{
	struct pair pair;
	unsigned int i;

	pair_open(&pair);
	for (i = 0; i < 10; i++)
		pair_put(&pair);
	/* munmap() leaves that to the worker, and FLUSH does not wait for it. */
	mapped_unmap(&pair.ring);
	pair_wait(&pair);
	mapped_attach(&pair.ring, pair.fd, mapped_least_bytes());
	pair_put(&pair);
	mapped_unmap(&pair.ring);
	flush(pair.consumer.fd);
	pair_check(&pair, getpid(), thread_id());
	mapped_attach(&pair.ring, pair.fd, mapped_least_bytes());
	for (i = 0; i < 10; i++)
		pair_put(&pair);
	CHECK_OK(try_detach(pair.fd, pair.ring.attach.ring));
	pair_check(&pair, getpid(), thread_id());
	CHECK_EQ(mapped_ask(&pair.ring), MAPPED_ENDED);
	/* The mapping is still there, but nothing looks at it. */
	pair_put(&pair);
	CHECK_ERRNO(mapped_kick(&pair.ring), ENOENT);
	flush(pair.consumer.fd);
	pair.sent--;
	pair_check(&pair, getpid(), thread_id());
	pair_close(&pair);
}

/* Does the name that the kernel has kept of a thread equal @name? */
static bool is_named(const struct consumer *consumer, pid_t tid, const char *name)
{
	struct eventlog_name names[EVENTLOG_NAMES_MAX];
	struct eventlog_list request = list_request(EVENTLOG_LIST_NAMES, names, 0);
	bool found = false;

	for (request.ring = consumer->setup.rings - consumer->setup.shards;
	     request.ring < consumer->setup.rings; request.ring++) {
		request.buffer_size = sizeof(names);
		CHECK_OK(ioctl(consumer->fd, EVENTLOG_IOC_LIST, &request));
		while (request.count--)
			found |= names[request.count].tid == (__u32)tid &&
				 !strcmp(names[request.count].comm, name);
	}
	return found;
}

static void *take_over(void *argument)
{
	struct pair *pair = argument;
	struct eventlog_attach attach = attach_request(0);

	CHECK_OK(prctl(PR_SET_NAME, "heir"));
	attach.ring = pair->ring.attach.ring;
	CHECK_OK(ioctl(pair->fd, EVENTLOG_IOC_ATTACH, &attach));
	CHECK_EQ(attach.ring, pair->ring.attach.ring);
	CHECK_EQ(attach.data_bytes, pair->ring.attach.data_bytes);
	CHECK_EQ(attach.length, pair->ring.attach.length);
	/* What was there has the old thread's identity. */
	pair_check(pair, getpid(), getpid());
	pair_put(pair);
	return (void *)(long)thread_id();
}

TEST(ring_is_taken_over)
{
	pthread_t thread;
	struct pair pair;
	void *tid;

	pair_open(&pair);
	pair_put(&pair);
	CHECK_EQ(pthread_create(&thread, NULL, take_over, &pair), 0);
	CHECK_EQ(pthread_join(thread, &tid), 0);
	/* A thread can be joined just before its exit ends the ring. */
	WAIT_FOR(mapped_kick(&pair.ring) < 0);
	CHECK_EQ(errno, ENOENT);
	/* The thread is gone: its id and its name are known. */
	pair_check(&pair, getpid(), (long)tid);
	CHECK(is_named(&pair.consumer, (long)tid, "heir"));
	pair_close(&pair);
}

/* ---- processes that share their memory ---- */

#define SHARER_STACK 65536

/* A child that shares the memory of its parent, and has two rings. */
struct sharer {
	struct pair *pair;
	struct mapped older;
	void (*end)(struct sharer *sharer);
	const char *program;	/* a setuid program that it executes; NULL: another one */
	bool by_thread;		/* the rings are those of another thread of the child */
	bool held;		/* execve() has to wait for the first thread of the child */
	int ready[2], hold[2];
	pid_t tid;
	char stacks[2][SHARER_STACK] __attribute__((aligned(16)));
};

static int sharer_run(void *argument)
{
	struct sharer *sharer = argument;
	struct pair *pair = sharer->pair;

	sharer->tid = thread_id();
	mapped_attach(&sharer->older, pair->fd, mapped_least_bytes());
	mapped_attach(&pair->ring, pair->fd, mapped_least_bytes());
	pair_put_in(pair, &sharer->older);
	pair_put(pair);
	sharer->end(sharer);
	_exit(1);
}

static int sharer_start(void *argument)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
	struct sharer *sharer = argument;

	if (!sharer->by_thread)
		return sharer_run(sharer);
	CHECK_OK(clone(sharer_run, sharer->stacks[1] + SHARER_STACK, flags, sharer));
	for (;;)
		syscall(SYS_pause);
}

/* The parent waits in the kernel until it can read, since a child has its thread-local storage. */
static void sharer_exits(struct sharer *sharer)
{
	CHECK_EQ(write(sharer->ready[1], "", 1), 1);
	_exit(0);
}

static void sharer_is_killed(struct sharer *sharer)
{
	CHECK_EQ(write(sharer->ready[1], "", 1), 1);
	for (;;)
		syscall(SYS_pause);
}

static void sharer_executes(struct sharer *sharer)
{
	char byte;

	if (sharer->held) {
		CHECK_EQ(write(sharer->ready[1], "", 1), 1);
		CHECK_EQ(read(sharer->hold[0], &byte, 1), 1);
	}
	CHECK_OK(dup2(sharer->hold[0], STDIN_FILENO));
	CHECK_OK(dup2(sharer->ready[1], STDOUT_FILENO));
	close(sharer->hold[1]);
	if (sharer->program) {
		/* The function of the C library would change the threads of the parent. */
		CHECK_OK(syscall(SYS_setresuid, USER, USER, USER));
		execl(sharer->program, SETUID_NAME, NULL);
	}
	execl("/bin/sh", "sh", "-c", "echo; read line", NULL);
}

static pid_t sharer_open(struct sharer *sharer, struct pair *pair)
{
	pid_t child;
	char byte;

	pair_open(pair);
	mapped_unmap(&pair->ring);
	sharer->pair = pair;
	CHECK_OK(pipe(sharer->ready));
	CHECK_OK(pipe(sharer->hold));
	child = CHECK_OK(clone(sharer_start, sharer->stacks[0] + SHARER_STACK, CLONE_VM | SIGCHLD,
			       sharer));
	CHECK_EQ(read(sharer->ready[0], &byte, 1), 1);
	if (sharer->end == sharer_is_killed)
		CHECK_OK(kill(child, SIGKILL));
	if (sharer->end != sharer_executes)
		CHECK_EQ(waitpid(child, NULL, 0), child);
	return child;
}

static void sharer_close(struct sharer *sharer, pid_t child)
{
	unsigned int i;

	close(sharer->hold[1]);
	if (sharer->end == sharer_executes)
		CHECK_EQ(waitpid(child, NULL, 0), child);
	close(sharer->hold[0]);
	for (i = 0; i < 2; i++)
		close(sharer->ready[i]);
	mapped_unmap(&sharer->older);
	pair_close(sharer->pair);
}

/* The parent goes on with the rings: no record is the child's, or that of its new program. */
static void forge(struct sharer *sharer)
{
	const __u64 sent = sharer->pair->sent;

	pair_put_in(sharer->pair, &sharer->older);
	pair_put(sharer->pair);
	flush(sharer->pair->consumer.fd);
	CHECK_ERRNO(mapped_kick(&sharer->older), ENOENT);
	CHECK_ERRNO(mapped_kick(&sharer->pair->ring), ENOENT);
	CHECK_EQ(mapped_ask(&sharer->older), MAPPED_ENDED);
	CHECK_EQ(mapped_ask(&sharer->pair->ring), MAPPED_ENDED);
	sharer->pair->sent = sent;
}

/* Lets the thread execute a program, with the first one stopped in its exit. */
static void forge_in_execve(struct sharer *sharer, pid_t child)
{
	int status;
	char byte;

	CHECK_OK(ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_TRACEEXIT));
	CHECK_EQ(write(sharer->hold[1], "", 1), 1);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status >> 8, SIGTRAP | PTRACE_EVENT_EXIT << 8);
	forge(sharer);
	CHECK_OK(ptrace(PTRACE_DETACH, child, NULL, NULL));
	CHECK_EQ(read(sharer->ready[0], &byte, 1), 1);
}

static void check_sharer(void (*end)(struct sharer *sharer), bool by_thread, bool setuid, bool held)
{
	static struct sharer sharer;
	char uids[64] = "";
	struct record record;
	struct pair pair;
	pid_t child;

	memset(&sharer, 0, sizeof(sharer));
	sharer.end = end;
	sharer.by_thread = by_thread;
	sharer.held = held;
	sharer.program = setuid ? setuid_copy() : NULL;
	child = sharer_open(&sharer, &pair);
	CHECK(by_thread == (child != sharer.tid));
	if (held)
		forge_in_execve(&sharer, child);
	if (setuid) {
		setuid_copy_remove();
		CHECK(read(sharer.ready[0], uids, sizeof(uids) - 1) > 0);
		CHECK(!strcmp(uids, "uids 1000 0 0\n"));
	}
	forge(&sharer);
	pair_check(&pair, child, sharer.tid);
	CHECK(is_named(&pair.consumer, sharer.tid, "mapped_test"));
	forge(&sharer);
	CHECK(!consumer_next(&pair.consumer, &record));
	/* Who takes a ring over emits as itself: what was forged, one event each time. */
	sharer.older.attach.flags = 0;
	CHECK_OK(ioctl(pair.fd, EVENTLOG_IOC_ATTACH, &sharer.older.attach));
	CHECK(!(mapped_ask(&sharer.older) & MAPPED_ENDED));
	flush(pair.consumer.fd);
	while (consumer_next(&pair.consumer, &record)) {
		CHECK_EQ(record.header->pid, getpid());
		CHECK_EQ(record.header->tid, thread_id());
		pair.sent++;
	}
	CHECK_EQ(pair.sent, pair.received + (held ? 3 : 2));
	CHECK_EQ(lost_sum(stat_all(pair.consumer.fd).lost), 0);
	sharer_close(&sharer, child);
}

TEST(process_that_shares_memory_exits)
{
	check_sharer(sharer_exits, false, false, false);
	check_sharer(sharer_exits, true, false, false);
}

TEST(process_that_shares_memory_is_killed)
{
	check_sharer(sharer_is_killed, false, false, false);
}

TEST(process_that_shares_memory_executes_a_program)
{
	check_sharer(sharer_executes, false, false, false);
	check_sharer(sharer_executes, true, false, false);
}

/* The new program has rights that the parent does not have. */
TEST(process_that_shares_memory_executes_a_setuid_program)
{
	check_sharer(sharer_executes, false, true, false);
	check_sharer(sharer_executes, true, true, false);
}

/* The rings end before that: the parent could go on with them in the meantime. */
TEST(execve_waits_for_another_thread)
{
	if (kernel_before(6, 10))
		SKIP("the kernel tells too late that a thread executes a program");
	check_sharer(sharer_executes, true, false, true);
	check_sharer(sharer_executes, true, true, true);
}

/* posix_spawn() does it so: the rings of the parent stay its own. */
static int spawn(void *argument)
{
	struct pair *pair = argument;

	pair_put(pair);
	execl("/bin/true", "true", NULL);
	_exit(1);
}

TEST(spawning_a_program_leaves_rings_alone)
{
	static char stack[SHARER_STACK] __attribute__((aligned(16)));
	struct pair pair;
	pid_t child;

	pair_open(&pair);
	pair_put(&pair);
	child = CHECK_OK(clone(spawn, stack + SHARER_STACK, CLONE_VM | CLONE_VFORK | SIGCHLD,
			       &pair));
	CHECK_EQ(waitpid(child, NULL, 0), child);
	CHECK_EQ(pair.sent, 2);
	pair_put(&pair);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	flush(pair.consumer.fd);
	pair_check(&pair, getpid(), thread_id());
	pair_close(&pair);
}

/* Makes a process with an id that is free; -1: the kernel cannot. */
static pid_t process_with_id(pid_t id)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = PTR(&id), .set_tid_size = 1,
	};
	pid_t child = syscall(SYS_clone3, &args, sizeof(args));

	if (child)
		return child;
	for (;;)
		syscall(SYS_pause);
}

TEST(id_that_is_used_again)
{
	static struct sharer sharer = { .end = sharer_exits };
	struct eventlog_rule rule = rule_request(NULL, "number");
	struct consumer consumer;
	struct record record;
	pid_t child, victim;
	struct pair pair;

	child = sharer_open(&sharer, &pair);
	flush(pair.consumer.fd);
	pair_check(&pair, child, child);
	victim = process_with_id(child);
	if (victim < 0)
		SKIP("clone3() cannot choose an id: %s", test_errno_name(errno));
	CHECK_EQ(victim, child);
	rule.flags = EVENTLOG_RULE_PID;
	rule.pid = victim;
	mapped_consumer_open(&consumer, RING_BYTES);
	rule_add_with(consumer.fd, &rule);
	forge(&sharer);
	CHECK(!consumer_next(&consumer, &record));
	CHECK(!consumer_next(&pair.consumer, &record));
	CHECK_OK(kill(victim, SIGKILL));
	CHECK_EQ(waitpid(victim, NULL, 0), victim);
	consumer_close(&consumer);
	sharer_close(&sharer, child);
}

/* A ring that is full: the event is emitted by KICK, and nothing is lost. */
TEST(full_ring)
{
	struct pair pair;
	struct record record;
	unsigned int kicks = 0, i;
	__u64 number = 0;

	pair_open(&pair);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	for (i = 0; i < 3000; i++, pair.sent++) {
		const struct eventlog_mapped_record header = {
			.write_index = pair.event.write_index, .time = mapped_time(&pair.ring),
		};

		if (mapped_put(&pair.ring, header, &pair.sent, sizeof(pair.sent))) {
			if (mapped_ask(&pair.ring))
				CHECK_EQ(mapped_kick(&pair.ring), 8);
			continue;
		}
		CHECK_EQ(mapped_kick_with(&pair.ring, pair.event.write_index, &pair.sent,
					  sizeof(pair.sent)), 20);
		CHECK(mapped_taken(&pair.ring));
		kicks++;
	}
	flush(pair.consumer.fd);
	/* In order within each kind. */
	for (i = 0; consumer_next(&pair.consumer, &record); i++) {
		__u64 value;

		memcpy(&value, record.payload, sizeof(value));
		if (record.cpu != EVENTLOG_CPU_UNKNOWN) {
			kicks--;
			continue;
		}
		CHECK(value >= number);
		number = value + 1;
	}
	CHECK_EQ(i, pair.sent);
	CHECK_EQ(kicks, 0);
	pair_close(&pair);
}

/* ---- rules ---- */

TEST(rules_apply_to_what_is_emitted_while_they_exist)
{
	struct pair pair;
	__u32 rule;

	pair_open(&pair);
	rule = rule_add(pair.consumer.fd, NULL, "no_such");
	CHECK_OK(try_rule_delete(pair.consumer.fd, rule));
	CHECK_OK(try_rule_delete(pair.consumer.fd, 1));
	/* Kick it awake without a listener. */
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	pair_emit(&pair);
	rule = rule_add(pair.consumer.fd, NULL, "number");
	pair.received = 1;
	pair_emit(&pair);
	CHECK_OK(try_rule_delete(pair.consumer.fd, rule));
	pair_check(&pair, getpid(), thread_id());
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	pair_check(&pair, getpid(), thread_id());
	rule_add(pair.consumer.fd, NULL, "number");
	pair_emit(&pair);
	CHECK_OK(try_unregister(pair.fd, pair.event.write_index));
	pair_check(&pair, getpid(), thread_id());
	/* The index is not known any more. */
	pair_emit(&pair);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	pair.sent--;
	pair_check(&pair, getpid(), thread_id());
	CHECK_EQ(lost_sum(stat_all(pair.consumer.fd).lost), 0);
	pair_close(&pair);
}

TEST(pause_delivers_what_came_before)
{
	struct eventlog_pause pause = { .size = sizeof(pause), .paused = 1 };
	struct pair pair;

	pair_open(&pair);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	pair_emit(&pair);
	CHECK_OK(ioctl(pair.consumer.fd, EVENTLOG_IOC_PAUSE, &pause));
	pair_check(&pair, getpid(), thread_id());
	pair_emit(&pair);
	pause.paused = 0;
	CHECK_OK(ioctl(pair.consumer.fd, EVENTLOG_IOC_PAUSE, &pause));
	CHECK_EQ(stat_all(pair.consumer.fd).lost[EVENTLOG_LOST_PAUSED], 1);
	CHECK_EQ(stat_event_lost(pair.consumer.fd, pair.event.descriptor), 1);
	pair.received++;
	pair_emit(&pair);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	pair_check(&pair, getpid(), thread_id());
	pair_close(&pair);
}

TEST(rules_are_tested_with_the_emitter)
{
	const struct filter_term term = {
		.name = "number", .flags = EVENTLOG_TERM_NUMBER,
		.operation = EVENTLOG_TERM_OP_LESS, .number = 3,
	};
	const struct filter_term tid_term = {
		.name = "tid", .flags = EVENTLOG_TERM_COMMON | EVENTLOG_TERM_NUMBER,
		.operation = EVENTLOG_TERM_OP_EQUAL, .number = thread_id(),
	};
	struct consumer mine, others, filtered, sampled, of_session, of_thread;
	struct eventlog_register event = register_request("number u64 number");
	struct eventlog_mapped_record record = { 0 };
	struct filter *filter = malloc(sizeof(*filter));
	struct eventlog_rule rule;
	int fd = device_open();
	struct mapped ring;
	pid_t child;
	__u64 i;

	CHECK(filter);
	event.flags = EVENTLOG_REGISTER_SESSION;
	register_with(fd, &event);
	mapped_attach(&ring, fd, mapped_least_bytes());
	rule = rule_request(NULL, "number");
	rule.flags = EVENTLOG_RULE_PID;
	rule.pid = getpid();
	mapped_consumer_open(&mine, RING_BYTES);
	rule_add_with(mine.fd, &rule);
	rule.pid = getppid();
	mapped_consumer_open(&others, RING_BYTES);
	rule_add_with(others.fd, &rule);
	rule = rule_request(NULL, "number");
	rule.filter = filter_fill(filter, &term, 1, NULL);
	mapped_consumer_open(&filtered, RING_BYTES);
	rule_add_with(filtered.fd, &rule);
	rule.filter = filter_fill(filter, &tid_term, 1, NULL);
	mapped_consumer_open(&of_thread, RING_BYTES);
	rule_add_with(of_thread.fd, &rule);
	rule = rule_request(NULL, "number");
	rule.sample = 5;
	mapped_consumer_open(&sampled, RING_BYTES);
	rule_add_with(sampled.fd, &rule);
	rule = rule_request(NULL, "number");
	rule.flags = EVENTLOG_RULE_SESSION;
	rule.session = 4;
	mapped_consumer_open(&of_session, RING_BYTES);
	rule_add_with(of_session.fd, &rule);
	for (i = 0; i < 10; i++) {
		record.write_index = event.write_index;
		record.time = mapped_time(&ring);
		record.session = i;
		CHECK(mapped_put(&ring, record, &i, sizeof(i)));
	}
	/* Another process drains. */
	child = test_fork();
	if (!child) {
		CHECK_EQ(mapped_kick(&ring), 8);
		_exit(0);
	}
	test_join(child);
	CHECK_EQ(consumer_skip(&mine), 10);
	CHECK_EQ(consumer_skip(&others), 0);
	CHECK_EQ(consumer_skip(&filtered), 3);
	CHECK_EQ(stat_all(filtered.fd).rejected, 7);
	CHECK_EQ(consumer_skip(&of_thread), 10);
	CHECK_EQ(consumer_skip(&sampled), 2);
	CHECK_EQ(consumer_skip(&of_session), 1);
	consumer_close(&mine);
	consumer_close(&others);
	consumer_close(&filtered);
	consumer_close(&of_thread);
	consumer_close(&sampled);
	consumer_close(&of_session);
	mapped_unmap(&ring);
	free(filter);
	close(fd);
}

/* Those who need an event at once get it by write(): the status says so. */
TEST(status_says_who_needs_write)
{
	const struct filter_term term = {
		.name = "cpu", .flags = EVENTLOG_TERM_COMMON | EVENTLOG_TERM_NUMBER,
		.operation = EVENTLOG_TERM_OP_EQUAL,
	};
	struct filter *filter = malloc(sizeof(*filter));
	struct eventlog_subscribe passive = subscribe_request(0);
	struct eventlog_rule rule = rule_request(NULL, "number");
	const __u8 sync = EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_SYNC;
	struct consumer old;
	struct pair pair;
	struct record record;
	__u32 rule_id;
	int fd;

	CHECK(filter);
	pair_open(&pair);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	consumer_open(&old, RING_BYTES);
	CHECK_EQ(status_get(&pair.map, &pair.event), EVENTLOG_STATUS_ENABLED);
	pair_put(&pair);
	rule_id = rule_add(old.fd, NULL, "number");
	CHECK_EQ(status_get(&pair.map, &pair.event), sync);
	/* A producer that has not seen the status yet: nothing is lost. */
	pair_put(&pair);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	pair_check(&pair, getpid(), thread_id());
	/* As if it were emitted now. */
	while (!consumer_next(&old, &record))
		test_fail(__FILE__, __LINE__, "the old subscriber gets nothing");
	consumer_close(&old);
	CHECK_EQ(status_get(&pair.map, &pair.event), EVENTLOG_STATUS_ENABLED);
	(void)rule_id;

	fd = device_open();
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &passive));
	rule_add(fd, NULL, "number");
	CHECK_EQ(status_get(&pair.map, &pair.event), EVENTLOG_STATUS_ENABLED);
	close(fd);

	rule.filter = filter_fill(filter, &term, 1, NULL);
	mapped_consumer_open(&old, RING_BYTES);
	rule_id = rule_add_with(old.fd, &rule);
	CHECK_EQ(status_get(&pair.map, &pair.event), sync);
	/* A rule without a filter makes the other one needless. */
	rule_add(old.fd, NULL, NULL);
	CHECK_EQ(status_get(&pair.map, &pair.event), EVENTLOG_STATUS_ENABLED);
	consumer_close(&old);
	free(filter);
	pair_close(&pair);
}

/* ---- time ---- */

static void check_time(struct pair *pair, __u64 claimed, __u64 from, __u64 to, bool adjusted)
{
	const struct eventlog_mapped_record header = {
		.write_index = pair->event.write_index, .time = claimed,
	};
	struct record record;

	CHECK(mapped_put(&pair->ring, header, &pair->sent, sizeof(pair->sent)));
	CHECK_EQ(mapped_kick(&pair->ring), 8);
	CHECK(mapped_taken(&pair->ring));
	to = to ? to : clock_now();
	consumer_one(&pair->consumer, &record);
	CHECK(record.header->time >= from && record.header->time <= to);
	CHECK_EQ(record.header->size_flags & ~EVENTLOG_RECORD_SIZE_MASK,
		 EVENTLOG_RECORD_FLAG_MAPPED |
		 (adjusted ? EVENTLOG_RECORD_FLAG_ADJUSTED : 0));
}

TEST(forged_times_are_adjusted)
{
	struct pair pair;
	__u64 now, floor;

	pair_open(&pair);
	now = clock_now();
	check_time(&pair, now, now, now, false);
	/* In the past, and order is kept. */
	check_time(&pair, 0, now, now, true);
	check_time(&pair, now - 1, now, now, true);
	/* In the future. */
	now = clock_now();
	check_time(&pair, now + HOUR, now, 0, true);
	check_time(&pair, ~0ULL, now, 0, true);
	floor = flush(pair.consumer.fd);
	check_time(&pair, now, floor, floor, true);
	now = clock_now();
	check_time(&pair, now, now, now, false);
	pair_close(&pair);
}

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static void clocksource_get(char *name, size_t room)
{
	ssize_t bytes;
	int fd = open(CLOCKSOURCE, O_RDONLY | O_CLOEXEC);

	name[0] = '\0';
	if (fd < 0)
		return;
	bytes = read(fd, name, room - 1);
	close(fd);
	if (bytes > 0)
		name[bytes - 1] = '\0';
}

/* Like pair_open(), with a ring whose times are cycles. */
static void pair_open_cycles(struct pair *pair)
{
	char name[32];

	pair_open(pair);
	mapped_unmap(&pair->ring);
	if (mapped_attach_cycles(&pair->ring, pair->fd, mapped_least_bytes()))
		return;
	clocksource_get(name, sizeof(name));
	/* Only 64-bit kernels convert cycles. */
	CHECK(strcmp(name, "tsc") || sizeof(long) == 4);
	SKIP("the cycle counter is not the kernel's clock");
}

/* The largest error of a time: a correct conversion has a far smaller one. */
#define CYCLES_ERROR 1000000

TEST(cycles_are_converted)
{
	const unsigned int rounds = 100, events = 10;
	__u64 before[10], after, last = 0;
	struct record record;
	struct pair pair;
	unsigned int i, j;

	pair_open_cycles(&pair);
	for (i = 0; i < rounds; i++) {
		for (j = 0; j < events; j++) {
			before[j] = clock_now();
			pair_put(&pair);
		}
		after = clock_now();
		CHECK_EQ(mapped_kick(&pair.ring), 8);
		for (j = 0; j < events; j++) {
			CHECK(consumer_next(&pair.consumer, &record));
			check_number(&record, pair.received++);
			CHECK(record.header->time >= last);
			CHECK(record.header->time + CYCLES_ERROR >= before[j]);
			CHECK(record.header->time <= after + CYCLES_ERROR);
			CHECK(record.header->size_flags & EVENTLOG_RECORD_FLAG_MAPPED);
			last = record.header->time;
		}
		/* Now and then, the ring goes to sleep. */
		if (i % 25 == 24)
			WAIT_FOR(mapped_ask(&pair.ring) == EVENTLOG_MAPPED_ASK_KICK);
	}
	pair_check(&pair, getpid(), thread_id());
	pair_close(&pair);
}

TEST(forged_cycles_are_adjusted)
{
	struct eventlog_attach attach = attach_request(0);
	struct pair pair;
	__u64 now;

	pair_open_cycles(&pair);
	now = clock_now();
	check_time(&pair, 0, 1, 0, true);
	check_time(&pair, 1, 1, 0, true);
	check_time(&pair, ~0ULL, now - CYCLES_ERROR, 0, true);
	check_time(&pair, cycles_now() + (1ULL << 40), now - CYCLES_ERROR, 0, true);
	now = flush(pair.consumer.fd);
	check_time(&pair, 5, now, now, true);
	/* A thread that takes over the ring must know its clock. */
	attach.ring = pair.ring.attach.ring;
	CHECK_ERRNO(ioctl(pair.fd, EVENTLOG_IOC_ATTACH, &attach), EINVAL);
	attach.flags = EVENTLOG_ATTACH_CYCLES;
	CHECK_OK(ioctl(pair.fd, EVENTLOG_IOC_ATTACH, &attach));
	pair_close(&pair);
}

/* The kernel takes another clocksource, as it does when it finds the counter unstable. */
TEST(rings_with_cycles_end_when_the_clocksource_changes)
{
	char before[32], now[32], others[128];
	struct pair pair;
	int fd;

	pair_open_cycles(&pair);
	clocksource_get(before, sizeof(before));
	fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY);
	memset(others, 0, sizeof(others));
	CHECK(read(fd, others, sizeof(others) - 1) > 0);
	close(fd);
	if (!strstr(others, "acpi_pm"))
		SKIP("there is no other clocksource");
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	pair_put(&pair);
	file_write(CLOCKSOURCE, "acpi_pm");
	WAIT_FOR((clocksource_get(now, sizeof(now)), !strcmp(now, "acpi_pm")));
	/* The worker finds out, if it runs. */
	WAIT_FOR((mapped_kick(&pair.ring), mapped_ask(&pair.ring) & EVENTLOG_MAPPED_ASK_LEAVE));
	CHECK(!(mapped_ask(&pair.ring) & EVENTLOG_MAPPED_ASK_ENDED));
	CHECK(!mapped_attach_cycles(&(struct mapped){ 0 }, pair.fd, mapped_least_bytes()));
	pair_put(&pair);
	mapped_unmap(&pair.ring);
	file_write(CLOCKSOURCE, before);
	WAIT_FOR((clocksource_get(now, sizeof(now)), !strcmp(now, before)));
	/* Nothing is lost. */
	flush(pair.consumer.fd);
	CHECK_EQ(consumer_skip(&pair.consumer), 2);
	pair_close(&pair);
}

/* A thread in a time namespace of its own: records have the initial namespace's time. */
TEST(time_namespace)
{
	struct record record;
	struct pair pair;
	__u64 now;
	pid_t child;

	if (unshare(CLONE_NEWTIME))
		SKIP("no time namespaces: %s", test_errno_name(errno));
	now = clock_now();
	CHECK_OK(file_write("/proc/self/timens_offsets", "monotonic 1000000 5"));
	/* Only children are in the namespace. */
	child = test_fork();
	if (!child) {
		CHECK(clock_now() >= now + 1000000 * 1000000000ULL);
		pair_open(&pair);
		CHECK_EQ(pair.ring.attach.time_offset, -1000000 * 1000000000LL - 5);
		pair_put(&pair);
		CHECK_EQ(mapped_kick(&pair.ring), 8);
		CHECK(pair_next(&pair, &record));
		CHECK(record.header->time >= now);
		CHECK(record.header->time <= mapped_time(&pair.ring));
		/* Without the offset, the time is in the future. */
		check_time(&pair, clock_now(), now, mapped_time(&pair.ring) + HOUR, true);
		pair_close(&pair);
		_exit(0);
	}
	test_join(child);
}

/* ---- hostile pages ---- */

static void store(struct mapped *ring, __u32 offset, __u32 size, __u32 index, __u32 committed)
{
	const __u32 words[2] = { size, index };

	memcpy(ring->data + offset, words, sizeof(words));
	__atomic_store_n(&ring->header->committed, committed, __ATOMIC_RELEASE);
}

TEST(invalid_records_end_the_ring)
{
	const __u32 bytes = mapped_least_bytes();
	const struct {
		__u32 size;
		__u32 index;
		__u32 committed;
	} cases[] = {
		{ 32, 1, 1 }, { 32, 1, 33 }, { 32, 1, 36 },	/* not a multiple of 8 */
		{ 32, 1, bytes + 8 }, { 32, 1, -8 }, { 32, 1, 1U << 31 },	/* too far */
		{ 0, 1, 32 }, { 8, 1, 32 }, { 23, 1, 32 },	/* no header */
		{ 33, 1, 32 }, { 40, 1, 32 }, { -1, 1, 32 }, { 1U << 31, 1, 32 },
		{ bytes + 8, 1, bytes }, { -8, 1, bytes }, { 0xfffffff9, 1, bytes },
		{ 32, 0, 32 }, { 0, 0, 32 }, { bytes, 0, 32 }, { -1, 0, 32 },	/* padding */
		{ 16, 0, bytes },
	};
	struct mapped ring;
	struct pair pair;
	unsigned int i;

	pair_open(&pair);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		test_note("case %u", i);
		mapped_attach(&ring, pair.fd, bytes);
		store(&ring, 0, cases[i].size, cases[i].index, cases[i].committed);
		CHECK_EQ(mapped_kick(&ring), 8);
		CHECK_EQ(mapped_ask(&ring), MAPPED_ENDED);
		CHECK_EQ(mapped_kick(&ring), 8);
		CHECK_EQ(mapped_ask(&ring), MAPPED_ENDED);
		CHECK_ERRNO(ioctl(pair.fd, EVENTLOG_IOC_ATTACH, &ring.attach), ENOENT);
		pair_put(&pair);
		CHECK_EQ(mapped_kick(&pair.ring), 8);
		if (i % 2)
			CHECK_OK(try_detach(pair.fd, ring.attach.ring));
		mapped_unmap(&ring);
		pair_check(&pair, getpid(), thread_id());
		/* What it contained is lost, and that is counted once, not again at its end. */
		CHECK_EQ(stat_all(pair.consumer.fd).lost[EVENTLOG_LOST_ABORTED], i + 1);
		CHECK_EQ(lost_sum(stat_all(pair.consumer.fd).lost), i + 1);
	}
	/* The last record that fits, and padding of 8 bytes. */
	mapped_attach(&ring, pair.fd, bytes);
	store(&ring, 0, bytes - 8, ~0U, bytes - 8);
	CHECK_EQ(mapped_kick(&ring), 8);
	store(&ring, bytes - 8, 8, 0, bytes);
	CHECK_EQ(mapped_kick(&ring), 8);
	CHECK_EQ(mapped_ask(&ring), 0);
	CHECK_EQ(ring.header->position, bytes);
	mapped_unmap(&ring);
	pair_close(&pair);
}

TEST(invalid_payloads_are_counted)
{
	struct eventlog_mapped_record record = { 0 };
	unsigned char *large = pages_map(EVENTLOG_PAYLOAD_MAX + 8);
	struct mapped ring;
	struct pair pair;
	__u32 i;

	pair_open(&pair);
	for (i = 0; i < 8; i++) {
		record.write_index = pair.event.write_index;
		record.time = mapped_time(&pair.ring);
		CHECK(mapped_put(&pair.ring, record, "1234567", i));
	}
	/* These are of no event. */
	for (i = 0; i < 6; i++) {
		const __u32 indices[] = {
			pair.event.write_index + 1, 1U << 31, EVENTLOG_WRITE_KICK,
			EVENTLOG_WRITE_BATCH, EVENTLOG_WRITE_SESSION, ~0U,
		};

		record.write_index = indices[i];
		CHECK(mapped_put(&pair.ring, record, "12345678", 8));
	}
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	CHECK_EQ(stat_all(pair.consumer.fd).lost[EVENTLOG_LOST_ABORTED], 8);
	CHECK_EQ(lost_sum(stat_all(pair.consumer.fd).lost), 8);
	CHECK_EQ(stat_event_lost(pair.consumer.fd, pair.event.descriptor), 8);
	/* A payload that write() would not take. */
	mapped_attach(&ring, pair.fd, 4 * EVENTLOG_PAYLOAD_MAX);
	record.write_index = pair.event.write_index;
	CHECK(mapped_put(&ring, record, large, EVENTLOG_PAYLOAD_MAX + 1));
	CHECK_EQ(mapped_kick(&ring), 8);
	CHECK(mapped_taken(&ring));
	CHECK_EQ(stat_event_lost(pair.consumer.fd, pair.event.descriptor), 9);
	mapped_unmap(&ring);
	pair_put(&pair);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	pair_check(&pair, getpid(), thread_id());
	pair_close(&pair);
}

/* A thread that scribbles on its ring all the time. */
struct scribbler {
	int fd;
	__u32 index;
	bool stop;
	unsigned int rings;
};

static void *scribble(void *argument)
{
	struct scribbler *scribbler = argument;
	__u64 seed = test_seed();
	struct mapped ring;
	unsigned int i;

	while (!__atomic_load_n(&scribbler->stop, __ATOMIC_ACQUIRE)) {
		mapped_attach(&ring, scribbler->fd, mapped_least_bytes());
		__atomic_fetch_add(&scribbler->rings, 1, __ATOMIC_RELEASE);
		for (i = 0; i < 200 && mapped_ask(&ring) != MAPPED_ENDED; i++) {
			__u32 offset = test_random(&seed) % ring.attach.data_bytes & ~7U;
			__u64 random = test_random(&seed);

			/* Mostly valid records, whose lengths change at any time. */
			if (random % 4)
				mapped_emit(&ring, scribbler->index, &random, 8);
			if (random % 64 == 1)
				memcpy(ring.data + offset, &random, 8);
			if (random % 64 == 2)
				ring.header->position = random >> 32;
			if (random % 512 == 3)
				ring.header->committed = random >> 32;
			if (random % 64 == 4)
				memset(ring.data + offset, random >> 8, 8);
			if (random % 128 == 5)
				ring.header->ask = random >> 32;
			ring.head = ring.header->committed & ~7U;
		}
		mapped_unmap(&ring);
	}
	return NULL;
}

TEST(neighbours_of_hostile_rings_lose_nothing)
{
	struct scribbler scribbler = { .fd = device_open() };
	struct pair pair;
	struct record record;
	pthread_t thread;

	pair_open(&pair);
	scribbler.index = register_event(scribbler.fd, "scribbled u64 value").write_index;
	rule_add(pair.consumer.fd, NULL, "scribbled");
	CHECK_EQ(pthread_create(&thread, NULL, scribble, &scribbler), 0);
	while (__atomic_load_n(&scribbler.rings, __ATOMIC_ACQUIRE) < 50) {
		mapped_emit(&pair.ring, pair.event.write_index, &pair.sent, 8);
		pair.sent++;
		if (pair.sent % 64)
			continue;
		flush(pair.consumer.fd);
		while (consumer_next(&pair.consumer, &record)) {
			if (record.header->descriptor != pair.event.descriptor)
				continue;
			/* Only the own records of the event count. */
			check_number(&record, pair.received);
			pair.received++;
		}
		CHECK_EQ(pair.received, pair.sent);
	}
	__atomic_store_n(&scribbler.stop, true, __ATOMIC_RELEASE);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(stat_event_lost(pair.consumer.fd, pair.event.descriptor), 0);
	close(scribbler.fd);
	pair_close(&pair);
}

/* ---- all at once ---- */

/* A thread that emits into rings and by write(), and uses several rings. */
struct emitter {
	int fd;
	__u32 index;
	unsigned int number;
	unsigned int *running;
};

#define EMITTERS 4
#define STAMPS 60000

struct stamped {
	__u32 emitter;
	__u32 fill;
	__u64 number;
};

static void *emit_both_ways(void *argument)
{
	struct emitter *emitter = argument;
	struct stamped stamped = { .emitter = emitter->number };
	__u64 seed = emitter->number + 1;
	struct mapped ring = { 0 };

	for (; stamped.number < STAMPS; stamped.number++) {
		if (stamped.number % 5000 == 0) {
			if (ring.header)
				mapped_unmap(&ring);
			mapped_attach(&ring, emitter->fd, mapped_least_bytes());
		}
		if (test_random(&seed) % 8)
			mapped_emit(&ring, emitter->index, &stamped, sizeof(stamped));
		else
			CHECK_OK(emit(emitter->fd, emitter->index, &stamped, sizeof(stamped)));
	}
	mapped_unmap(&ring);
	__atomic_fetch_sub(emitter->running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Takes all records.  Keeps their times by emitter and number. */
static unsigned int take_stamps(struct consumer *consumer, __u64 (*times)[STAMPS])
{
	struct stamped stamped;
	struct record record;
	unsigned int count;

	for (count = 0; consumer_next(consumer, &record); count++) {
		memcpy(&stamped, record.payload, sizeof(stamped));
		CHECK(stamped.emitter < EMITTERS);
		CHECK(stamped.number < STAMPS);
		CHECK(!times[stamped.emitter][stamped.number]);
		times[stamped.emitter][stamped.number] = record.header->time;
	}
	return count;
}

TEST(nothing_is_lost_uncounted_or_late)
{
	__u64 (*times)[STAMPS] = calloc(EMITTERS, sizeof(*times)), received = 0, lost, last;
	struct emitter emitters[EMITTERS];
	pthread_t threads[EMITTERS];
	unsigned int running = EMITTERS, i, number;
	struct consumer consumer;

	CHECK(times);
	mapped_consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "stamped");
	for (i = 0; i < EMITTERS; i++) {
		struct eventlog_register event;

		emitters[i] = (struct emitter){ .fd = device_open(), .number = i,
						.running = &running };
		event = register_event(emitters[i].fd,
				       "stamped u32 emitter; u32 fill; u64 number");
		emitters[i].index = event.write_index;
		CHECK_EQ(pthread_create(&threads[i], NULL, emit_both_ways, &emitters[i]), 0);
	}
	/* What appears after FLUSH is not older than its time. */
	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
		received += take_stamps(&consumer, times);
		consumer_hold(&consumer, flush(consumer.fd));
	}
	for (i = 0; i < EMITTERS; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	received += take_stamps(&consumer, times);
	consumer_hold(&consumer, flush(consumer.fd));
	received += take_stamps(&consumer, times);
	lost = lost_sum(stat_all(consumer.fd).lost);
	CHECK_EQ(received + lost, EMITTERS * STAMPS);
	/* A thread's events are in the order of their times. */
	for (i = 0; i < EMITTERS; i++) {
		for (last = 0, number = 0; number < STAMPS; number++) {
			if (!times[i][number])
				continue;
			CHECK(times[i][number] >= last);
			last = times[i][number];
		}
		close(emitters[i].fd);
	}
	CHECK(received);
	test_print("%llu events, %llu lost", (unsigned long long)received,
		   (unsigned long long)lost);
	free(times);
	consumer_close(&consumer);
}

#define RINGS 1000

/* Many rings have records at once: KICK takes a part of them, FLUSH takes all. */
TEST(a_thousand_rings)
{
	const unsigned int records = 5;
	struct mapped *rings = calloc(RINGS, sizeof(*rings));
	struct eventlog_mapped_record record = { 0 };
	struct record received;
	unsigned int i, j, count[RINGS] = { 0 };
	__u64 value, last[8] = { 0 }, *of_ring;
	struct pair pair;

	CHECK(rings);
	pair_open(&pair);
	record.write_index = pair.event.write_index;
	for (i = 0; i < RINGS; i++) {
		mapped_attach(&rings[i], pair.fd, mapped_least_bytes());
		/* From now on, each pass looks at it, until the worker finds it idle. */
		CHECK_EQ(mapped_kick(&rings[i]), 8);
	}
	for (j = 0; j < records; j++) {
		for (i = 0; i < RINGS; i++) {
			value = (__u64)i << 32 | j;
			record.time = mapped_time(&rings[i]);
			CHECK(mapped_put(&rings[i], record, &value, sizeof(value)));
			if (mapped_ask(&rings[i]))
				CHECK_EQ(mapped_kick(&rings[i]), 8);
		}
	}
	/* Each call goes on. */
	for (i = 0; !mapped_taken(&rings[RINGS - 1]); i++) {
		CHECK(i <= RINGS * records / 4096 + 1);
		CHECK_EQ(mapped_kick(&rings[RINGS - 1]), 8);
	}
	flush(pair.consumer.fd);
	while (consumer_next(&pair.consumer, &received)) {
		memcpy(&value, received.payload, sizeof(value));
		CHECK(value >> 32 < RINGS);
		CHECK_EQ((__u32)value, count[value >> 32]);
		count[value >> 32]++;
		of_ring = &last[pair.consumer.setup.rings - pair.consumer.turn - 1];
		CHECK(received.header->time >= *of_ring);
		*of_ring = received.header->time;
	}
	for (i = 0; i < RINGS; i++) {
		CHECK_EQ(count[i], records);
		CHECK(mapped_taken(&rings[i]));
		mapped_unmap(&rings[i]);
	}
	CHECK_EQ(lost_sum(stat_all(pair.consumer.fd).lost), 0);
	free(rings);
	pair_close(&pair);
}

#define ORDERED 20000

/* The events of the thread, in the order in which it emitted them. */
struct ordered {
	__u64 times[ORDERED];
	bool mapped[ORDERED];
	__u64 received;
};

static void take_ordered(struct consumer *consumer, __u32 descriptor, struct ordered *ordered)
{
	struct record record;
	__u64 number;

	while (consumer_next(consumer, &record)) {
		if (record.header->descriptor != descriptor)
			continue;
		memcpy(&number, record.payload, sizeof(number));
		CHECK(number < ORDERED && !ordered->times[number]);
		ordered->times[number] = record.header->time;
		ordered->mapped[number] = record.cpu == EVENTLOG_CPU_UNKNOWN;
		ordered->received++;
	}
}

struct disturber {
	int subscriber;
	int fd;
	__u32 index;
	bool stop;
};

/* Raises the times of other threads' events, as far as the module lets it. */
static void *disturb(void *argument)
{
	struct disturber *disturber = argument;
	struct eventlog_mapped_record record = { .write_index = disturber->index };
	struct mapped ring;
	__u64 number = 0;

	mapped_attach(&ring, disturber->fd, mapped_least_bytes());
	while (!__atomic_load_n(&disturber->stop, __ATOMIC_ACQUIRE)) {
		record.time = number % 2 ? ~0ULL : mapped_time(&ring);
		mapped_put(&ring, record, &number, sizeof(number));
		if (number++ % 16 == 0)
			CHECK_EQ(mapped_kick_with(&ring, disturber->index, &number, 8), 20);
		if (number % 64 == 0)
			flush(disturber->subscriber);
	}
	mapped_unmap(&ring);
	return NULL;
}

/*
 * A thread puts events into its ring, and emits others with KICK.  In time order, they are
 * in the order in which it emitted them.
 */
TEST(order_of_mapped_and_written_events)
{
	struct ordered *ordered = calloc(1, sizeof(*ordered));
	struct disturber disturber = { .fd = device_open() };
	__u64 seed = test_seed(), i;
	struct pair pair;
	pthread_t thread;

	CHECK(ordered);
	pair_open(&pair);
	disturber.subscriber = pair.consumer.fd;
	disturber.index = register_event(disturber.fd, "disturbing u64 number").write_index;
	rule_add(pair.consumer.fd, NULL, "disturbing");
	CHECK_EQ(pthread_create(&thread, NULL, disturb, &disturber), 0);
	while (pair.sent < ORDERED) {
		if (test_random(&seed) % 4) {
			mapped_emit(&pair.ring, pair.event.write_index, &pair.sent, 8);
		} else {
			CHECK_EQ(mapped_kick_with(&pair.ring, pair.event.write_index, &pair.sent,
						  8), 20);
		}
		pair.sent++;
		if (test_random(&seed) % 4096 == 0) {
			mapped_unmap(&pair.ring);
			if (pair.sent % 2 ||
			    !mapped_attach_cycles(&pair.ring, pair.fd, mapped_least_bytes()))
				mapped_attach(&pair.ring, pair.fd, mapped_least_bytes());
		}
		if (pair.sent % 256 == 0)
			take_ordered(&pair.consumer, pair.event.descriptor, ordered);
	}
	__atomic_store_n(&disturber.stop, true, __ATOMIC_RELEASE);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	flush(pair.consumer.fd);
	take_ordered(&pair.consumer, pair.event.descriptor, ordered);
	CHECK_EQ(stat_event_lost(pair.consumer.fd, pair.event.descriptor), 0);
	CHECK_EQ(ordered->received, ORDERED);
	for (i = 1; i < ORDERED; i++) {
		CHECK(ordered->times[i] >= ordered->times[i - 1]);
		/* Between different rings, a reader sees the order only by the time. */
		if (ordered->mapped[i] != ordered->mapped[i - 1])
			CHECK(ordered->times[i] > ordered->times[i - 1]);
	}
	close(disturber.fd);
	free(ordered);
	pair_close(&pair);
}

/* A process is killed at any time: what it had committed is there, and nothing else. */
TEST(killed_at_any_time)
{
	struct pair pair;
	struct record record;
	volatile __u64 *sent = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int round;
	__u64 seed = test_seed();
	pid_t child;

	CHECK(sent != MAP_FAILED);
	memset(&pair, 0, sizeof(pair));
	mapped_consumer_open(&pair.consumer, RING_BYTES);
	rule_add(pair.consumer.fd, NULL, "number");
	for (round = 0; round < 30; round++) {
		*sent = 0;
		child = test_fork();
		if (!child) {
			int fd = device_open();
			__u32 index = register_event(fd, "number u64 number").write_index;

			mapped_attach(&pair.ring, fd, mapped_least_bytes());
			for (pair.sent = 0; pair.sent < 20000; *sent = ++pair.sent)
				mapped_emit(&pair.ring, index, &pair.sent, 8);
			for (;;)
				pause();
		}
		WAIT_FOR(*sent > 100);
		/* pause: the signal comes at any moment. */
		usleep(test_random(&seed) % 3000);
		CHECK_OK(kill(child, SIGKILL));
		CHECK_EQ(waitpid(child, NULL, 0), child);
		/* At most one event was committed, but not counted yet. */
		for (pair.received = 0; consumer_next(&pair.consumer, &record); pair.received++)
			CHECK_EQ(record.header->pid, child);
		CHECK(pair.received == *sent || pair.received == *sent + 1);
	}
	CHECK_EQ(lost_sum(stat_all(pair.consumer.fd).lost), 0);
	consumer_close(&pair.consumer);
}

/* ---- late events ---- */

/* Counts late events, as a thread does. */
static void count_late(struct mapped *ring, unsigned int place, __u32 write_index, __u32 count)
{
	struct eventlog_mapped_late *late =
		(void *)((char *)ring->header + EVENTLOG_MAPPED_LATE + place * sizeof(*late));

	CHECK(place < ring->header->late_max);
	late->write_index = write_index;
	late->count += count;
	__atomic_store_n(&ring->header->late, ring->header->late + count, __ATOMIC_RELEASE);
}

static __u64 late_of(const struct consumer *consumer)
{
	return stat_all(consumer->fd).lost[EVENTLOG_LOST_LATE];
}

/* Each time that the kernel looks at the ring it counts what is new, by event, and once. */
TEST(late_events_are_lost)
{
	struct eventlog_rule rule = rule_request(NULL, "number");
	struct eventlog_register other;
	struct consumer of_init;
	struct pair pair;

	pair_open(&pair);
	CHECK(EVENTLOG_MAPPED_LATE + pair.ring.header->late_max *
	      sizeof(struct eventlog_mapped_late) <= pair.ring.header->data_offset);
	other = register_event(pair.fd, "other u64 number");
	mapped_consumer_open(&of_init, RING_BYTES);
	rule.flags = EVENTLOG_RULE_PID;
	rule.pid = getppid();
	CHECK_OK(ioctl(of_init.fd, EVENTLOG_IOC_RULE_ADD, &rule));

	count_late(&pair.ring, 0, pair.event.write_index, 3);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	CHECK_EQ(late_of(&pair.consumer), 3);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	/* No one listens to one event, and the file has no other. */
	count_late(&pair.ring, 1, other.write_index, 5);
	count_late(&pair.ring, 2, 0x7fffffff, 5);
	count_late(&pair.ring, 0, pair.event.write_index, 2);
	pair_put(&pair);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	CHECK_EQ(late_of(&pair.consumer), 5);
	pair_check(&pair, getpid(), thread_id());
	/* A rule for another process does not select them. */
	CHECK_EQ(late_of(&of_init), 0);

	/* A ring that sleeps. */
	WAIT_FOR(mapped_ask(&pair.ring) == EVENTLOG_MAPPED_ASK_KICK);
	/* pause: it sleeps a moment later, which no one sees. */
	usleep(50000);
	count_late(&pair.ring, 0, pair.event.write_index, 1);
	flush(pair.consumer.fd);
	CHECK_EQ(late_of(&pair.consumer), 6);
	/* The end of the ring. */
	count_late(&pair.ring, 0, pair.event.write_index, 1);
	mapped_unmap(&pair.ring);
	flush(pair.consumer.fd);
	CHECK_EQ(late_of(&pair.consumer), 7);
	CHECK_EQ(lost_sum(stat_all(pair.consumer.fd).lost), 7);
	consumer_close(&of_init);
	pair_close(&pair);
}

/* Those of a process that was killed count; a program does not make counters wrap. */
TEST(late_events_of_a_hostile_program)
{
	struct eventlog_rule rule = rule_request(NULL, "number");
	struct consumer own;
	struct pair pair;
	unsigned int i;
	pid_t child;

	pair_open(&pair);
	mapped_consumer_open(&own, RING_BYTES);
	rule.flags = EVENTLOG_RULE_PID;
	rule.pid = getpid();
	CHECK_OK(ioctl(own.fd, EVENTLOG_IOC_RULE_ADD, &rule));
	child = test_fork();
	if (!child) {
		int fd = device_open();
		__u32 index = register_event(fd, "number u64 number").write_index;

		mapped_attach(&pair.ring, fd, mapped_least_bytes());
		count_late(&pair.ring, 0, index, 4);
		kill(getpid(), SIGKILL);
	}
	test_join_signal(child, SIGKILL);
	flush(pair.consumer.fd);
	CHECK_EQ(late_of(&pair.consumer), 4);
	/* They are those of the ring's thread, whoever looks at it. */
	CHECK_EQ(late_of(&own), 0);
	count_late(&pair.ring, 0, pair.event.write_index, 2);
	child = test_fork();
	if (!child) {
		CHECK_EQ(mapped_kick(&pair.ring), 8);
		_exit(0);
	}
	test_join(child);
	CHECK_EQ(late_of(&own), 2);
	CHECK_EQ(late_of(&pair.consumer), 6);
	consumer_close(&own);

	for (i = 0; i < pair.ring.header->late_max; i++)
		count_late(&pair.ring, i, pair.event.write_index, ~0U / 2);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	CHECK(late_of(&pair.consumer) >= 6 + 0x7fffffffULL);
	CHECK_EQ((late_of(&pair.consumer) - 6) % 0x7fffffff, 0);
	/* What the kernel writes there, and does not trust. */
	memset((char *)pair.ring.header + EVENTLOG_MAPPED_LATE, 0xa5,
	       page_size() - EVENTLOG_MAPPED_LATE);
	pair.ring.header->late++;
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	pair_put(&pair);
	CHECK_EQ(mapped_kick(&pair.ring), 8);
	pair_check(&pair, getpid(), thread_id());
	pair_close(&pair);
}

TEST(close_while_mapped)
{
	struct pair pair;

	pair_open(&pair);
	pair_put(&pair);
	close(pair.fd);
	CHECK_EQ(pair.received, 0);
	/* The mapping keeps the file. */
	pair_put(&pair);
	mapped_unmap(&pair.ring);
	CHECK_OK(munmap((void *)pair.map.bytes, pair.map.size));
	pair_check(&pair, getpid(), thread_id());
	consumer_close(&pair.consumer);
}
