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
 * the thread that must have ended the wait and its session; 0: another one, or none. With the
 * path of a slow block device as a second argument, some requests wait for that, too.
 *
 * The thread that serves has helpers: a keeper and a holder of mutexes, where the holder needs
 * what the keeper has; a hog that takes its CPU; and a peer that answers late.
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
enum { KEEPER = 76, HOLDER, HOG, PEER };

static struct elog_event *start_event, *end_event;
static uint64_t last_session = 1000;
static int disk = -1;
static unsigned char *disk_map;

static sem_t keep, hold, ready;
static pthread_mutex_t keeper_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t holder_lock = PTHREAD_MUTEX_INITIALIZER;
static int hog_pipe[2], socket_pair[2], answers[2];
static pid_t server_tid, holder_tid, hog_tid, peer_tid;
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

static void *run_keeper(void *unused)
{
	struct elog_running before;

	pthread_setname_np(pthread_self(), "keeper");
	for (;;) {
		sem_wait(&keep);
		before = elog_session_enter(start_event, KEEPER);
		pthread_mutex_lock(&keeper_lock);
		sem_post(&ready);
		rest_when_asked();
		pthread_mutex_unlock(&keeper_lock);
		elog_session_leave(start_event, before);
	}
	return unused;
}

static void *run_holder(void *unused)
{
	struct elog_running before;

	holder_tid = gettid();
	pthread_setname_np(pthread_self(), "holder");
	for (;;) {
		sem_wait(&hold);
		before = elog_session_enter(start_event, HOLDER);
		pthread_mutex_lock(&holder_lock);
		sem_post(&ready);
		pthread_mutex_lock(&keeper_lock);
		pthread_mutex_unlock(&keeper_lock);
		pthread_mutex_unlock(&holder_lock);
		elog_session_leave(start_event, before);
	}
	return unused;
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

/* Both have what they need before the request begins. */
static void prepare_futex(void)
{
	sem_post(&keep);
	sem_wait(&ready);
	sem_post(&hold);
	sem_wait(&ready);
}

static void wait_futex(void)
{
	wait_next();
	pthread_mutex_lock(&holder_lock);
	pthread_mutex_unlock(&holder_lock);
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

static void prepare_disk(void)
{
	static unsigned char block[BLOCK];

	block[0]++;
	check(pwrite(disk, block, BLOCK, 0) != BLOCK, "pwrite");
}

static void wait_disk(void)
{
	check(fsync(disk), "fsync");
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
	const pid_t *tid;		/* who ends the wait; or NULL */
	uint64_t session;
	bool needs_disk;
} requests[] = {
	{ "futex", prepare_futex, wait_futex, &holder_tid, HOLDER, false },
	{ "preempted", NULL, wait_preempted, &hog_tid, HOG, false },
	{ "socket", NULL, wait_socket, &peer_tid, PEER, false },
	{ "pipe", NULL, wait_pipe, &peer_tid, PEER, false },
	{ "poll", NULL, wait_poll, &peer_tid, PEER, false },
	{ "sleep", NULL, rest, NULL, 0, false },
	{ "disk", prepare_disk, wait_disk, NULL, 0, true },
	{ "fault", prepare_fault, wait_fault, NULL, 0, true },
	{ "on CPU", NULL, spin, NULL, 0, false },
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

static void start_helpers(void)
{
	void *(*const helpers[])(void *) = { run_keeper, run_holder, run_hog, run_peer };
	pthread_t thread;
	size_t i;

	check(sem_init(&keep, 0, 0) || sem_init(&hold, 0, 0) || sem_init(&ready, 0, 0) ||
	      pipe(hog_pipe) || pipe(answers) ||
	      socketpair(AF_UNIX, SOCK_STREAM, 0, socket_pair) ? -1 : 0, "pipe");
	server_tid = gettid();
	/* All on one CPU, which they inherit: whoever runs has it alone. */
	pin();
	for (i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		check(pthread_create(&thread, NULL, helpers[i], NULL), "pthread_create");
	/* Each has said who it is, and waits. */
	rest();
}

int main(int count, char **arguments)
{
	int rounds = count > 1 ? atoi(arguments[1]) : 1;
	struct elog_producer *producer;
	size_t i;

	if (count > 2)
		open_disk(arguments[2]);
	check(-elog_producer_open(&producer, NULL), "libelog");
	check(-elog_event_register(producer, "waits", "request_start __data_loc char[] cause", 0,
				   0, 0, &start_event), "request_start");
	check(-elog_event_register(producer, "waits", "request_end __data_loc char[] cause", 0,
				   0, 0, &end_event), "request_end");
	start_helpers();
	while (rounds-- > 0)
		for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
			if (disk >= 0 || !requests[i].needs_disk)
				serve(&requests[i]);
	return 0;
}
