// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that wait for known causes, and say so, for elog why.
 *
 *	cc -o waits waits.c $(pkg-config --cflags --libs libelog)
 *	modprobe eventlog_sched
 *	elog capture -e sched -e waits -o waits.elog -- ./waits
 *	elog why waits:0x3e9 waits.elog
 *
 * Serves this number of rounds (default: 1) of requests, one of each cause. For each, prints
 *
 *	SESSION CAUSE TID SESSION_OF_TID
 *
 * the thread that must have ended the wait and its session; 0: another one, or none.
 *
 *	waits ROUNDS [DISK [FILE [CGROUP]]]
 *
 * Some requests wait for a DISK, a slow block device; for a FILE on a slow disk to be written;
 * or for CPU time, in a CGROUP whose parent has this process: then the program says on standard
 * error for how long the kernel has throttled them: at least, and at most, because it cannot read
 * that at the same time as it emits START and END. An empty word: there is none.
 *
 * The thread that serves has helpers: a chain of holders of mutexes, each of which needs what
 * the next one has; a hog that takes its CPU; and a peer that answers late.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <elog.h>

#define MS		1000000ULL
#define LENGTH		(20 * MS)
#define BLOCK		4096
#define DISK_BYTES	(8L << 20)

/* Sessions of the helpers. */
enum { KEEPER = 75, MIDDLE, HOLDER, HOG, PEER };

static struct elog_event *start_event, *end_event;
static uint64_t last_session = 1000;
static int disk = -1, slow_file = -1;
static const char *cgroup;
static unsigned long long throttled_least, throttled_most;
static unsigned char *disk_map;

static struct holder {
	const char *name;
	uint64_t session;
	sem_t start;
	pthread_mutex_t lock;
	pid_t tid;
} chain[] = {
	{ .name = "holder", .session = HOLDER, .lock = PTHREAD_MUTEX_INITIALIZER },
	{ .name = "middle", .session = MIDDLE, .lock = PTHREAD_MUTEX_INITIALIZER },
	{ .name = "keeper", .session = KEEPER, .lock = PTHREAD_MUTEX_INITIALIZER },
};

#define LAST		(sizeof(chain) / sizeof(chain[0]) - 1)

static sem_t ready;
static int hog_pipe[2], socket_pair[2], answers[2];
static pid_t server_tid, hog_tid, peer_tid;
static bool asked;			/* atomic: the next wait is that of the request */

static void check(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "waits: %s: %s\n", what, strerror(result < 0 ? errno : result));
	exit(1);
}

static void rest(void)
{
	const struct timespec time = { .tv_nsec = (long)LENGTH };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static uint64_t cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void spin(void)
{
	const uint64_t end = cpu_time() + LENGTH;

	while (cpu_time() < end)
		;
}

/* How long threads of the group were throttled, us. */
static unsigned long long throttled_time(void)
{
	unsigned long long time = 0;
	char path[512], line[128];
	FILE *numbers;

	snprintf(path, sizeof(path), "%s/cpu.stat", cgroup);
	numbers = fopen(path, "re");
	check(numbers ? 0 : -1, path);
	while (fgets(line, sizeof(line), numbers) && sscanf(line, "throttled_usec %llu", &time) != 1)
		;
	fclose(numbers);
	return time;
}

static void put(int fd)
{
	check(write(fd, "x", 1) != 1, "write");
}

/* Return: false at the end of the program. */
static bool get(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

static bool is_server_blocked(void)
{
	char path[64], state = 'R';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", server_tid);
	file = fopen(path, "re");
	/* The name of the program has no blanks. */
	if (file && fscanf(file, "%*d %*s %c", &state) != 1)
		state = 'R';
	if (file)
		fclose(file);
	return state == 'S';
}

/* On a busy machine, the request may begin to wait late: it does so for LENGTH in any case. */
static void rest_when_asked(void)
{
	const struct timespec time = { .tv_nsec = MS };

	while (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE) || !is_server_blocked())
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	__atomic_store_n(&asked, false, __ATOMIC_RELAXED);
	rest();
}

static void wait_next(void)
{
	__atomic_store_n(&asked, true, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------------
 * Helpers
 */

static void *run_holder(void *argument)
{
	struct holder *own = argument;
	struct elog_running before;

	own->tid = gettid();
	pthread_setname_np(pthread_self(), own->name);
	for (;;) {
		sem_wait(&own->start);
		before = elog_session_enter(start_event, own->session);
		pthread_mutex_lock(&own->lock);
		sem_post(&ready);
		if (own == &chain[LAST]) {
			rest_when_asked();
		} else {
			pthread_mutex_lock(&own[1].lock);
			pthread_mutex_unlock(&own[1].lock);
		}
		pthread_mutex_unlock(&own->lock);
		elog_session_leave(start_event, before);
	}
	return NULL;
}

/* It has a higher priority than the thread that serves, and the same CPU. */
static void *run_hog(void *unused)
{
	const struct sched_param priority = { .sched_priority = 10 };

	hog_tid = gettid();
	pthread_setname_np(pthread_self(), "hog");
	check(sched_setscheduler(0, SCHED_FIFO, &priority), "SCHED_FIFO");
	elog_session_enter(start_event, HOG);
	while (get(hog_pipe[0]))
		spin();
	return unused;
}

/* Answers through the socket, or through the pipe, whose turn it is. */
static void *run_peer(void *unused)
{
	struct elog_running before;
	char how;

	peer_tid = gettid();
	pthread_setname_np(pthread_self(), "peer");
	while (read(socket_pair[1], &how, 1) == 1) {
		before = elog_session_enter(start_event, PEER);
		rest_when_asked();
		put(how == 's' ? socket_pair[1] : answers[1]);
		elog_session_leave(start_event, before);
	}
	return unused;
}

static void ask_peer(char how)
{
	check(write(socket_pair[0], &how, 1) != 1, "write");
}

/* ------------------------------------------------------------------------
 * Requests
 */

/* Each one has its lock before the request begins. */
static void prepare_futex(void)
{
	size_t i;

	for (i = LAST + 1; i-- > 0;) {
		sem_post(&chain[i].start);
		sem_wait(&ready);
	}
}

static void wait_futex(void)
{
	wait_next();
	pthread_mutex_lock(&chain[0].lock);
	pthread_mutex_unlock(&chain[0].lock);
}

static void wait_preempted(void)
{
	put(hog_pipe[1]);
}

static void wait_socket(void)
{
	ask_peer('s');
	wait_next();
	get(socket_pair[0]);
}

static void wait_pipe(void)
{
	ask_peer('p');
	wait_next();
	get(answers[0]);
}

static void wait_poll(void)
{
	struct pollfd fd = { .fd = answers[0], .events = POLLIN };

	ask_peer('p');
	wait_next();
	poll(&fd, 1, -1);
	get(answers[0]);
}

static void change(int fd)
{
	static unsigned char block[BLOCK];

	block[0]++;
	check(pwrite(fd, block, BLOCK, 0) != BLOCK, "pwrite");
}

static void prepare_disk(void)
{
	change(disk);
}

static void wait_disk(void)
{
	check(fsync(disk), "fsync");
}

static void prepare_file(void)
{
	change(slow_file);
}

static void wait_file(void)
{
	check(fsync(slow_file), "fsync");
}

static void move_to(const char *directory)
{
	FILE *processes;
	char path[512];

	snprintf(path, sizeof(path), "%s%s/cgroup.procs", cgroup, directory);
	processes = fopen(path, "we");
	check(!processes || fputs("0", processes) < 0 || fclose(processes) ? -1 : 0, path);
}

static void prepare_throttled(void)
{
	move_to("");
	throttled_most -= throttled_time();
}

static void wait_throttled(void)
{
	throttled_least -= throttled_time();
	spin();
	throttled_least += throttled_time();
}

static void end_throttled(void)
{
	throttled_most += throttled_time();
	move_to("/..");
}

static void prepare_fault(void)
{
	posix_fadvise(disk, 0, 0, POSIX_FADV_DONTNEED);
	madvise(disk_map, DISK_BYTES, MADV_RANDOM);
}

static void wait_fault(void)
{
	static long at = DISK_BYTES / 2;
	volatile unsigned char byte;

	byte = disk_map[at];
	(void)byte;
	at = (at + 16 * BLOCK) % DISK_BYTES;
}

static const struct request {
	const char *cause;
	void (*prepare)(void);		/* or NULL */
	void (*wait)(void);
	void (*end)(void);		/* or NULL */
	const pid_t *tid;		/* who ends the wait; or NULL */
	uint64_t session;
	enum { NOTHING, DISK, FILE_SYSTEM, CGROUP } needs;
} requests[] = {
	{ "futex", prepare_futex, wait_futex, NULL, &chain[0].tid, HOLDER, NOTHING },
	{ "preempted", NULL, wait_preempted, NULL, &hog_tid, HOG, NOTHING },
	{ "socket", NULL, wait_socket, NULL, &peer_tid, PEER, NOTHING },
	{ "pipe", NULL, wait_pipe, NULL, &peer_tid, PEER, NOTHING },
	{ "poll", NULL, wait_poll, NULL, &peer_tid, PEER, NOTHING },
	{ "sleep", NULL, rest, NULL, NULL, 0, NOTHING },
	{ "disk", prepare_disk, wait_disk, NULL, NULL, 0, DISK },
	{ "fault", prepare_fault, wait_fault, NULL, NULL, 0, DISK },
	{ "disk", prepare_file, wait_file, NULL, NULL, 0, FILE_SYSTEM },
	{ "throttled", prepare_throttled, wait_throttled, end_throttled, NULL, 0, CGROUP },
	{ "on CPU", NULL, spin, NULL, NULL, 0, NOTHING },
};

static void emit_text(const struct elog_event *event, uint64_t session, const char *text)
{
	struct elog_payload payload;
	char buffer[64];

	elog_payload_init(&payload, buffer, sizeof(buffer));
	elog_payload_string(&payload, text);
	elog_event_emit(event, session, &payload);
}

static void serve(const struct request *request)
{
	const uint64_t session = ++last_session;
	struct elog_running before;

	if (request->prepare)
		request->prepare();
	before = elog_session_enter(start_event, session);
	emit_text(start_event, session, request->cause);
	request->wait();
	emit_text(end_event, session, request->cause);
	elog_session_leave(start_event, before);
	if (request->end)
		request->end();
	printf("0x%llx\t%s\t%d\t0x%llx\n", (unsigned long long)session, request->cause,
	       request->tid ? *request->tid : 0, (unsigned long long)request->session);
}

/* ------------------------------------------------------------------------
 * The beginning
 */

static void open_disk(const char *path)
{
	disk = open(path, O_RDWR | O_CLOEXEC);
	check(disk < 0 ? -1 : 0, path);
	disk_map = mmap(NULL, DISK_BYTES, PROT_READ, MAP_SHARED, disk, 0);
	check(disk_map == MAP_FAILED ? -1 : 0, path);
}

static void open_file(const char *path)
{
	slow_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	check(slow_file < 0 ? -1 : 0, path);
}

static bool has(const struct request *request)
{
	switch (request->needs) {
	case DISK:
		return disk >= 0;
	case FILE_SYSTEM:
		return slow_file >= 0;
	case CGROUP:
		return cgroup;
	default:
		return true;
	}
}

static void pin(void)
{
	cpu_set_t set;
	int cpu = 0;

	check(sched_getaffinity(0, sizeof(set), &set), "sched_getaffinity");
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	check(sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

static void start(void *(*helper)(void *), void *argument)
{
	pthread_t thread;

	check(pthread_create(&thread, NULL, helper, argument), "pthread_create");
}

static void start_helpers(void)
{
	size_t i;

	check(sem_init(&ready, 0, 0) || pipe(hog_pipe) || pipe(answers) ||
	      socketpair(AF_UNIX, SOCK_STREAM, 0, socket_pair) ? -1 : 0, "pipe");
	server_tid = gettid();
	/* All on one CPU, which they inherit: whoever runs has it alone. */
	pin();
	for (i = 0; i <= LAST; i++) {
		check(sem_init(&chain[i].start, 0, 0), "sem_init");
		start(run_holder, &chain[i]);
	}
	start(run_hog, NULL);
	start(run_peer, NULL);
	/* Each has said who it is, and waits. */
	rest();
}

int main(int count, char **arguments)
{
	int rounds = count > 1 ? atoi(arguments[1]) : 1;
	struct elog_producer *producer;
	size_t i;

	/* No request waits for the program to be read. The disk's pages are not meant. */
	mlockall(MCL_CURRENT);
	if (count > 2 && *arguments[2])
		open_disk(arguments[2]);
	if (count > 3 && *arguments[3])
		open_file(arguments[3]);
	if (count > 4)
		cgroup = arguments[4];
	check(-elog_producer_open(&producer, NULL), "libelog");
	check(-elog_event_register(producer, "waits", "request_start __data_loc char[] cause", 0,
				   0, 0, &start_event), "request_start");
	check(-elog_event_register(producer, "waits", "request_end __data_loc char[] cause", 0,
				   0, 0, &end_event), "request_end");
	start_helpers();
	while (rounds-- > 0)
		for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
			if (has(&requests[i]))
				serve(&requests[i]);
	if (cgroup)
		fprintf(stderr, "waits: throttled for %llu to %llu us\n", throttled_least,
			throttled_most);
	return 0;
}
