// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the instructions of a context switch and of a request over TCP, for scripts/bench/why,
 * in a guest where the time stamp counter goes up by one for each instruction.  Prints the
 * fewest and the median of the batches:
 *
 *	switch: two threads wake each other by futexes; half of a round trip, which is one switch
 *		and one wake-up.  Each one computes in between, so that its peer's interval is long
 *		enough for an event
 *	tcp: a request of 100 bytes and an answer of 1000 over loopback; only the server's thread
 *		has a session
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel_common.h"

#define ROUNDS 100
/* Instructions between two switches: longer than the shortest min_us. */
#define WORK 20000

static const char help[] =
	"usage: why_bench [--batches N] MODE\n\n"
	"MODE: none (threads have no ring), ring (no session), session, listen (nothing is\n"
	"measured; subscribes to the events of sched until standard input ends)\n";

static unsigned int batches = 60;
static const char *mode;
static int device = -1;
static uint32_t descriptor;

/* Gives this thread a ring, and perhaps a session. */
static void attach(uint64_t session)
{
	struct eventlog_attach request = { .size = sizeof(request), .data_bytes = 8192 };
	struct eventlog_mapped_header *header;

	if (!strcmp(mode, "none"))
		return;
	ioctl_or_fail(device, EVENTLOG_IOC_ATTACH, &request, "ATTACH");
	header = mmap(NULL, request.length, PROT_READ | PROT_WRITE, MAP_SHARED, device,
		      (off_t)request.offset);
	if (header == MAP_FAILED)
		fail("cannot map a ring");
	if (strcmp(mode, "session"))
		return;
	header->session = session;
	header->session_of = descriptor;
}

static void register_event(void)
{
	struct eventlog_register request = {
		.size = sizeof(request), .command = (uint64_t)(uintptr_t)"why_bench u32 x",
	};

	if (!strcmp(mode, "none"))
		return;
	device = open_or_fail("/dev/eventlog", O_RDWR | O_CLOEXEC);
	ioctl_or_fail(device, EVENTLOG_IOC_REGISTER, &request, "REGISTER");
	descriptor = request.descriptor;
}

static void work(void)
{
	unsigned int i;

	for (i = 0; i < WORK / 2; i++)
		__asm__ __volatile__("");
}

/* ---- futexes ---- */

static int words[2];

static void wait_word(int *word)
{
	while (!__atomic_exchange_n(word, 0, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void post_word(int *word)
{
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *futex_peer(void *unused)
{
	attach(2);
	for (;;) {
		wait_word(&words[0]);
		work();
		post_word(&words[1]);
	}
	return unused;
}

static void futex_round(void)
{
	work();
	post_word(&words[0]);
	wait_word(&words[1]);
}

/* ---- TCP ---- */

static int client;

static void *tcp_peer(void *argument)
{
	int fd = accept((int)(intptr_t)argument, NULL, NULL), one = 1, epoll;
	struct epoll_event event = { .events = EPOLLIN };
	char buffer[4096] = { 0 };

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	attach(3);
	epoll = epoll_create1(0);
	event.data.fd = fd;
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	for (;;) {
		if (epoll_wait(epoll, &event, 1, -1) != 1 ||
		    read(fd, buffer, sizeof(buffer)) <= 0 || write(fd, buffer, 1000) != 1000)
			fail("the connection failed");
	}
	return NULL;
}

static void tcp_round(void)
{
	static char buffer[4096];
	ssize_t got = 0, bytes;

	if (write(client, buffer, 100) != 100)
		fail("cannot send");
	for (; got < 1000; got += bytes) {
		bytes = read(client, buffer, sizeof(buffer));
		if (bytes <= 0)
			fail("cannot receive");
	}
}

static void tcp_connect(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	pthread_t thread;

	if (bind(listener, (void *)&address, length) || listen(listener, 1) ||
	    getsockname(listener, (void *)&address, &length))
		fail("cannot listen");
	if (pthread_create(&thread, NULL, tcp_peer, (void *)(intptr_t)listener))
		fail("cannot create a thread");
	client = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(client, (void *)&address, length))
		fail("cannot connect: is lo up?");
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* ---- all ---- */

static void measure(const char *name, void (*round)(void), unsigned int per)
{
	double *results = calloc(batches, sizeof(*results));
	unsigned int batch, i;
	uint64_t start;

	if (!results)
		fail("there is no memory");
	for (batch = 0; batch < batches; batch++) {
		start = __builtin_ia32_rdtsc();
		for (i = 0; i < ROUNDS; i++)
			round();
		results[batch] = (double)(__builtin_ia32_rdtsc() - start) / ROUNDS / per;
	}
	qsort(results, batches, sizeof(*results), compare_doubles);
	printf("%s %.1f %.1f\n", name, results[0], results[batches / 2]);
	free(results);
}

/* Nothing is read: in overwrite mode a ring that is full takes as many instructions. */
static void listen_to_sched(void)
{
	struct subscriber subscriber;

	subscriber_open(&subscriber, EVENTLOG_SUBSCRIBE_OVERWRITE, "sched", "*");
	puts("listening");
	fflush(stdout);
	while (getchar() != EOF)
		;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { ROWS_OPTIONS, {} };
	pthread_t thread;
	int option;

	while ((option = getopt_long(argc, argv, ROWS_LETTERS, options, NULL)) != -1)
		rows_option(option, help, &batches);
	if (optind + 1 != argc)
		fail("expected a mode: try --help");
	mode = argv[optind];
	if (!strcmp(mode, "listen")) {
		listen_to_sched();
		return 0;
	}
	register_event();
	attach(1);
	if (pthread_create(&thread, NULL, futex_peer, NULL))
		fail("cannot create a thread");
	measure("switch", futex_round, 2);
	tcp_connect();
	measure("tcp", tcp_round, 1);
	return 0;
}
