// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of eventlog_sched.ko: what others can do to the session of a thread.  A process that
 * shares the memory of a thread cannot state a session for the program that the thread executes;
 * who ends a thread's ring takes away its sum, which is counted as lost for those who would have
 * got it.  And tracers get the times of these events, which are delivered for another thread than
 * the current one.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mapped_common.h"
#include "sched_common.h"

#define RING_BYTES (1 << 20)
/* A user without rights. */
#define USER 1000

/* ---- a process that shares its memory ---- */

struct sharer {
	struct sched_watch *watch;
	struct mapped rings[2];
	const char *program;	/* a setuid program that it executes; NULL: another one */
	int hold[2];
	char stack[65536] __attribute__((aligned(16)));
};

static int share_and_execute(void *argument)
{
	struct sharer *sharer = argument;
	unsigned int i;

	for (i = 0; i < 2; i++)
		mapped_attach(&sharer->rings[i], sharer->watch->fd, mapped_least_bytes());
	CHECK_OK(dup2(sharer->hold[0], STDIN_FILENO));
	close(sharer->hold[1]);
	CHECK_OK(dup2(CHECK_OK(open("/dev/null", O_WRONLY)), STDOUT_FILENO));
	if (sharer->program) {
		/* The function of the C library would change the threads of the parent. */
		CHECK_OK(syscall(SYS_setresuid, USER, USER, USER));
		execl(sharer->program, SETUID_NAME, NULL);
	}
	execl("/bin/sh", "sh", "-c", "read line; sleep 0.01; sleep 0.01", NULL);
	_exit(1);
}

/*
 * The parent states sessions for it, also in the ring that was not the last one.  A session counts
 * from the next time that the thread stops running.
 */
static void state_sessions_of(bool setuid)
{
	static struct sharer sharer;
	struct sched_watch watch;
	unsigned int i;
	pid_t child;
	int unread;

	sched_watch_open(&watch, "min_us=10");
	sharer.watch = &watch;
	sharer.program = setuid ? setuid_copy() : NULL;
	CHECK_OK(pipe(sharer.hold));
	/* The parent goes on when the child has another memory. */
	child = CHECK_OK(clone(share_and_execute, sharer.stack + sizeof(sharer.stack),
			       CLONE_VM | CLONE_VFORK | SIGCHLD, &sharer));
	if (setuid)
		setuid_copy_remove();
	WAIT_FOR(thread_sleeps(child));
	for (i = 0; i < 2; i++)
		session_set(&sharer.rings[i], watch.event.descriptor, SESSION);
	close(sharer.hold[0]);
	CHECK_EQ(write(sharer.hold[1], "", 1), 1);
	WAIT_FOR(!ioctl(sharer.hold[1], FIONREAD, &unread) && !unread);
	WAIT_FOR(thread_sleeps(child));
	/* With an end of file the program goes on. */
	close(sharer.hold[1]);
	test_join(child);
	flush(watch.consumer.fd);
	CHECK_EQ(consumer_skip(&watch.consumer), 0);
	CHECK_EQ(lost_sum(stat_all(watch.consumer.fd).lost), 0);
	for (i = 0; i < 2; i++)
		mapped_unmap(&sharer.rings[i]);
	sched_watch_close(&watch);
}

TEST(program_whose_parent_has_its_rings)
{
	state_sessions_of(false);
}

TEST(setuid_program_whose_parent_has_its_rings)
{
	state_sessions_of(true);
}

/* ---- a ring that another thread ends ---- */

struct waiter {
	struct sched_watch *watch;
	struct mapped ring;
	int hold[2];
	pid_t tid;
};

static void *wait_with_sum(void *argument)
{
	struct waiter *waiter = argument;
	unsigned int i;
	char byte;

	mapped_attach(&waiter->ring, waiter->watch->fd, mapped_least_bytes());
	session_set(&waiter->ring, waiter->watch->event.descriptor, SESSION);
	/* More than min_us in all; an emulated machine may make some of them longer than that. */
	for (i = 0; i < 20; i++)
		sleep_once();
	__atomic_store_n(&waiter->tid, thread_id(), __ATOMIC_RELEASE);
	CHECK_EQ(read(waiter->hold[0], &byte, 1), 0);
	return NULL;
}

static __u64 unmapped_losses(const struct consumer *consumer)
{
	return stat_all(consumer->fd).lost[EVENTLOG_LOST_UNMAPPED];
}

TEST(sum_of_a_ring_that_another_thread_ends)
{
	struct eventlog_rule rules[4];
	struct consumer consumers[4];
	struct waiter waiter = { 0 };
	struct sched_watch watch;
	pthread_t thread;
	unsigned int i;

	sched_watch_open(&watch, "min_us=15000");
	for (i = 0; i < 4; i++)
		rules[i] = rule_request("sched", "sum");
	rules[0].flags = EVENTLOG_RULE_PID;
	rules[0].pid = getpid();
	rules[1].flags = EVENTLOG_RULE_PID;
	rules[1].pid = getppid();
	rules[2].flags = EVENTLOG_RULE_SESSION;
	rules[2].session = SESSION;
	rules[3].flags = EVENTLOG_RULE_SESSION;
	rules[3].session = SESSION + 1;
	for (i = 0; i < 4; i++) {
		consumer_open(&consumers[i], RING_BYTES);
		rule_add_with(consumers[i].fd, &rules[i]);
	}
	waiter.watch = &watch;
	CHECK_OK(pipe(waiter.hold));
	CHECK_EQ(pthread_create(&thread, NULL, wait_with_sum, &waiter), 0);
	WAIT_FOR(__atomic_load_n(&waiter.tid, __ATOMIC_ACQUIRE));
	WAIT_FOR(thread_sleeps(waiter.tid));
	mapped_unmap(&waiter.ring);
	CHECK_EQ(unmapped_losses(&consumers[0]), 1);
	CHECK_EQ(unmapped_losses(&consumers[1]), 0);
	CHECK_EQ(unmapped_losses(&consumers[2]), 1);
	CHECK_EQ(unmapped_losses(&consumers[3]), 0);
	for (i = 0; i < 4; i++) {
		CHECK_EQ(lost_sum(stat_all(consumers[i].fd).lost), unmapped_losses(&consumers[i]));
		consumer_close(&consumers[i]);
	}
	close(waiter.hold[1]);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	close(waiter.hold[0]);
	sched_watch_close(&watch);
}

/* ---- the tracepoint eventlog_emit ---- */

static int bpf(int command, union bpf_attr *attribute)
{
	return syscall(SYS_bpf, command, attribute, sizeof(*attribute));
}

#define INSTRUCTION(operation, to, from, offset, value) \
	((struct bpf_insn){ .code = operation, .dst_reg = to, .src_reg = from, \
			    .off = offset, .imm = value })

/* A map with the number of events whose time is 0, and that of the others; -1: no BPF. */
static int count_times(int *program)
{
	union bpf_attr attribute = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 2,
	};
	int map = bpf(BPF_MAP_CREATE, &attribute);
	const struct bpf_insn code[] = {
		/* The first argument is a struct eventlog_emitted, which begins with the time. */
		INSTRUCTION(BPF_LDX | BPF_MEM | BPF_DW, 6, 1, 0, 0),
		INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_X, 1, 10, 0, 0),
		INSTRUCTION(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, -16),
		INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 8),
		INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_X, 3, 6, 0, 0),
		INSTRUCTION(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_probe_read_kernel),
		INSTRUCTION(BPF_LDX | BPF_MEM | BPF_DW, 7, 10, -16, 0),
		INSTRUCTION(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		INSTRUCTION(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1, 0),
		INSTRUCTION(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 1),
		INSTRUCTION(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSTRUCTION(0, 0, 0, 0, 0),
		INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSTRUCTION(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSTRUCTION(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSTRUCTION(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2, 0),
		INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
		/* Adds it to the value; BPF_XADD and BPF_ATOMIC | BPF_ADD are the same. */
		INSTRUCTION(BPF_STX | 0xc0 | BPF_DW, 0, 1, 0, 0),
		INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSTRUCTION(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	if (map < 0)
		return -1;
	attribute = (union bpf_attr){
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT, .insns = PTR(code),
		.insn_cnt = ARRAY_SIZE(code), .license = PTR("GPL"),
	};
	*program = bpf(BPF_PROG_LOAD, &attribute);
	return *program < 0 ? -1 : map;
}

static __u64 counted(int map, __u32 key)
{
	__u64 value = 0;
	union bpf_attr attribute = { .map_fd = map, .key = PTR(&key), .value = PTR(&value) };

	CHECK_OK(bpf(BPF_MAP_LOOKUP_ELEM, &attribute));
	return value;
}

TEST(tracers_get_the_time)
{
	union bpf_attr attribute;
	struct mapped ring;
	struct sched_watch watch;
	int map, program, link;
	unsigned int i;

	map = count_times(&program);
	if (map < 0)
		SKIP("no BPF: %s", test_errno_name(errno));
	sched_watch_open(&watch, "min_us=100");
	attribute = (union bpf_attr){
		.raw_tracepoint = { .name = PTR("eventlog_emit"), .prog_fd = program },
	};
	link = bpf(BPF_RAW_TRACEPOINT_OPEN, &attribute);
	if (link < 0) {
		const int error = errno;

		sched_watch_close(&watch);
		errno = error;
		SKIP("BPF programs cannot attach to tracepoints: %s", test_errno_name(errno));
	}
	mapped_attach(&ring, watch.fd, mapped_least_bytes());
	session_set(&ring, watch.event.descriptor, SESSION);
	for (i = 0; i < 20; i++)
		sleep_once();
	session_set(&ring, 0, 0);
	sleep_once();
	mapped_unmap(&ring);
	CHECK(counted(map, 1) >= 20);
	CHECK_EQ(counted(map, 0), 0);
	close(link);
	close(program);
	close(map);
	sched_watch_close(&watch);
}
