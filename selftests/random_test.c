// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random hostile programs: processes of root and of uid 1000 make random calls, fork,
 * pass their files to each other, and are killed.  After each round nothing is left:
 * the module can be unloaded, and is loaded again for the next round.
 *
 * With EVENTLOG_STRESS_SECONDS, another process at the same time takes CPUs offline,
 * uses the trace events and tries to unload the module.  This changes the whole system
 * and takes long, so run it only on a machine that does nothing else.
 */
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile_common.h"
#include "module_common.h"

#define PROGRAMS 4
#define UID 1000

static __u64 pick(__u64 *seed, __u64 count)
{
	return test_random(seed) % count;
}

/* ------------------------------------------------------------------------
 * One program: two threads, which use and close each other's files
 */

struct program {
	struct hostile hostile;
	unsigned int calls;
	int socket;
};

/* Sends a file to another program, or takes one that was sent. */
static void pass_file(struct program *program)
{
	__u64 *seed = &program->hostile.seed;
	int *fd = &program->hostile.fds[pick(seed, HOSTILE_FILES)], received;
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	if (pick(seed, 2)) {
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), fd, sizeof(int));
		sendmsg(program->socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
		return;
	}
	if (recvmsg(program->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
		return;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return;
	memcpy(&received, CMSG_DATA(header), sizeof(int));
	close(*fd);
	*fd = received;
}

/* A child that uses the files of its parent. */
static void fork_child(struct program *program)
{
	__u64 *seed = &program->hostile.seed;
	unsigned int calls = pick(seed, 30);
	pid_t pid = fork();

	if (pid > 0) {
		if (pick(seed, 4) == 0)
			kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	if (pid)
		return;
	while (calls--)
		hostile_call(&program->hostile);
	_exit(0);
}

static void *make_calls(void *argument)
{
	struct program *program = argument;
	unsigned int i;

	for (i = 0; i < program->calls; i++)
		switch (pick(&program->hostile.seed, 200)) {
		case 0:
			fork_child(program);
			break;
		case 1 ... 6:
			pass_file(program);
			break;
		default:
			hostile_call(&program->hostile);
		}
	return NULL;
}

/*
 * Makes the rest of the process run in a child that is root in namespaces of its own.  After
 * unshare(CLONE_NEWPID), a process cannot start threads, but its children can.
 */
static void enter_namespaces(void)
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
		return;
	pid = test_fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return;
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* A program of root, or of another user, which may become root in a user namespace. */
static void run_program(__u64 seed, bool is_root, unsigned int calls, int socket)
{
	struct program *programs = calloc(2, sizeof(*programs));
	pthread_t thread;
	unsigned int i;

	CHECK(programs);
	if (!is_root) {
		CHECK_OK(setgroups(0, NULL));
		CHECK_OK(setgid(UID));
		CHECK_OK(setuid(UID));
		if (pick(&seed, 3) == 0)
			enter_namespaces();
	}
	for (i = 0; i < 2; i++) {
		hostile_begin(&programs[i].hostile, test_random(&seed));
		programs[i].calls = calls;
		programs[i].socket = socket;
	}
	for (i = 0; i < HOSTILE_FILES; i += 2)
		programs[1].hostile.fds[i] = programs[0].hostile.fds[i];
	CHECK_EQ(pthread_create(&thread, NULL, make_calls, &programs[1]), 0);
	make_calls(&programs[0]);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	for (i = 0; i < 2; i++)
		hostile_end(&programs[i].hostile);
	free(programs);
	_exit(0);
}

/* ------------------------------------------------------------------------
 * The rest of the system
 */

/*
 * Before 6.11 the kernel uses an event after it was freed if a file of the event is
 * opened while the event ends.
 */
static bool trace_files_safe(void)
{
	return trace_events_exist() && !kernel_before(6, 11);
}

/* Events of the programs, groups, and an event of the module. */
static const char *const trace_paths[] = {
	"eventlog_user/name", "eventlog_user/other", "eventlog_user/c", "eventlog_hostile/name",
	"eventlog_hostile/other", "eventlog_markers_hostile/name", "eventlog_user",
	"eventlog_hostile", "eventlog", "eventlog/eventlog_lock",
};

/* A trigger holds an event until it is removed, with "!" in front. */
static const char *const triggers[] = {
	"!hist:keys=common_pid", "!hist:keys=x:vals=hitcount", "!stacktrace",
};

static void trace_write(const char *instance, const char *path, const char *file,
			const char *text)
{
	char name[128];

	snprintf(name, sizeof(name), TRACEFS "%s/events/%s/%s", instance, path, file);
	file_write(name, text);
}

static void trace_read(const char *instance, const char *path, const char *file)
{
	char name[128], buffer[512];
	int fd;

	snprintf(name, sizeof(name), TRACEFS "%s/events/%s/%s", instance, path, file);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	close(fd);
}

static void use_trace_events(__u64 *seed)
{
	static const char *const filters[] = { "x == 1", "text ~ \"a*\"", "common_pid != 1", "0" };
	static const char *const reads[] = { "hist", "format", "id", "enable", "filter", "trigger" };
	const char *instance = pick(seed, 4) ? "" : "/instances/hostile";
	const char *path = trace_paths[pick(seed, ARRAY_SIZE(trace_paths))];

	switch (pick(seed, 12)) {
	case 0:
		if (mkdir(TRACEFS "/instances/hostile", 0700))
			rmdir(TRACEFS "/instances/hostile");
		break;
	case 1 ... 4:
		trace_write(instance, path, "enable", pick(seed, 2) ? "1" : "0");
		break;
	case 5 ... 6:
		trace_write(instance, path, "filter", filters[pick(seed, ARRAY_SIZE(filters))]);
		break;
	case 7 ... 8:
		trace_write(instance, path, "trigger",
			    triggers[pick(seed, ARRAY_SIZE(triggers))] + pick(seed, 2));
		break;
	default:
		trace_read(instance, path, reads[pick(seed, ARRAY_SIZE(reads))]);
	}
}

static void trace_nothing(void)
{
	unsigned int i, j;

	rmdir(TRACEFS "/instances/hostile");
	for (i = 0; i < ARRAY_SIZE(trace_paths); i++)
		for (j = 0; j < ARRAY_SIZE(triggers); j++)
			trace_write("", trace_paths[i], "trigger", triggers[j]);
	file_write(TRACEFS "/events/enable", "0");
	file_write(TRACEFS "/trace", "0");
}

static char parameters[128];

/* Loads the module again as it was, with the device open to everyone. */
static void load_again(void)
{
	CHECK_OK(try_load(parameters));
	WAIT_FOR(!access(EVENTLOG_DEVICE, F_OK));
}

static void load_open_to_all(void)
{
	const long bytes = file_number("/sys/module/eventlog/parameters/ring_memory_max");
	char spinlock = 'N';
	int fd;

	fd = open("/sys/module/eventlog/parameters/spinlock", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &spinlock, 1) != 1)
		SKIP("the module has no parameter spinlock");
	close(fd);
	snprintf(parameters, sizeof(parameters), "mode=0666 ring_memory_max=%ld spinlock=%c",
		 bytes, spinlock);
	load(parameters);
}

struct system_user {
	__u64 seed;
	bool stop;
};

static void *use_system(void *argument)
{
	struct system_user *user = argument;
	const bool trace = trace_files_safe();

	while (!__atomic_load_n(&user->stop, __ATOMIC_ACQUIRE)) {
		switch (pick(&user->seed, 40)) {
		case 0:
			file_write("/sys/devices/system/cpu/cpu1/online",
				   pick(&user->seed, 3) ? "1" : "0");
			break;
		case 1:
			/* Succeeds if no program has the device open just now. */
			if (!try_unload())
				load_again();
			break;
		default:
			if (trace)
				use_trace_events(&user->seed);
		}
		test_pause();
	}
	file_write("/sys/devices/system/cpu/cpu1/online", "1");
	trace_nothing();
	return NULL;
}

/* ------------------------------------------------------------------------
 * Rounds
 */

/* Runs programs until they end, or kills them. */
static void run_programs(__u64 *seed, unsigned int calls)
{
	pid_t programs[PROGRAMS];
	int sockets[2], status;
	unsigned int i;

	CHECK_OK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sockets));
	for (i = 0; i < PROGRAMS; i++) {
		const __u64 own = test_random(seed);

		programs[i] = test_fork();
		if (!programs[i])
			run_program(own, i % 2, calls, sockets[i / 2 % 2]);
	}
	if (pick(seed, 3) == 0) {
		for (i = pick(seed, 300); i; i--)
			test_pause();
		for (i = 0; i < PROGRAMS; i++)
			kill(programs[i], SIGKILL);
	}
	for (i = 0; i < PROGRAMS; i++) {
		CHECK_EQ(waitpid(programs[i], &status, 0), programs[i]);
		CHECK(WIFEXITED(status) ? !WEXITSTATUS(status) : WTERMSIG(status) == SIGKILL);
	}
	close(sockets[0]);
	close(sockets[1]);
}

/* Everything is released as soon as the last file is closed. */
static void check_released(void)
{
	/* Trace events of persistent events pin the module. */
	do {
		test_pause();
		delete_persistent();
	} while (try_unload());
	load_again();
	check_working();
}

TEST(random_programs)
{
	__u64 seed = test_seed();

	load_open_to_all();
	run_programs(&seed, 1000);
	check_released();
}

TEST(random_programs_in_a_random_system)
{
	struct system_user user;
	__u64 seed = test_seed();
	unsigned int rounds = 0;
	pthread_t thread;

	if (!test_has_time())
		SKIP("runs for EVENTLOG_STRESS_SECONDS");
	load_open_to_all();
	while (test_has_time()) {
		user = (struct system_user){ .seed = test_random(&seed) };
		CHECK_EQ(pthread_create(&thread, NULL, use_system, &user), 0);
		run_programs(&seed, 1000);
		__atomic_store_n(&user.stop, true, __ATOMIC_RELEASE);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		check_released();
		rounds++;
	}
	test_print("%u rounds", rounds);
}
