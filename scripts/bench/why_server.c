// SPDX-License-Identifier: GPL-2.0-only
/*
 * A web server that blocks while it works on a request, for scripts/bench/why-server.
 *
 *	why_server PORT [session]
 *
 * Each connection has a thread, and that one a backend: another thread, as a database would be,
 * which it asks for each answer. With "session", a thread says which request it works on.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <elog.h>

#define BODY 1000

static struct elog_event *event;	/* NULL: threads say nothing */
static uint64_t last_session;		/* atomic */

static void check(int result, const char *what)
{
	if (!result)
		return;
	perror(what);
	exit(1);
}

static void *run_backend(void *argument)
{
	const int fd = (int)(intptr_t)argument;
	char bytes[BODY];

	while (read(fd, bytes, 1) == 1) {
		memset(bytes, 'x', sizeof(bytes));
		if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
			break;
	}
	close(fd);
	return NULL;
}

static int answer(int fd, int backend)
{
	static const char header[] = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
	char bytes[sizeof(header) - 1 + BODY];

	memcpy(bytes, header, sizeof(header) - 1);
	if (write(backend, "x", 1) != 1 ||
	    recv(backend, bytes + sizeof(header) - 1, BODY, MSG_WAITALL) != BODY)
		return -1;
	return write(fd, bytes, sizeof(bytes)) == sizeof(bytes) ? 0 : -1;
}

/* A request of wrk comes in one piece. */
static void *serve(void *argument)
{
	const int fd = (int)(intptr_t)argument;
	struct elog_running before;
	char request[4096];
	int backend[2], failed = 0;
	pthread_t thread;

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, backend), "socketpair");
	check(pthread_create(&thread, NULL, run_backend, (void *)(intptr_t)backend[1]),
	      "pthread_create");
	while (!failed && recv(fd, request, sizeof(request), 0) > 0) {
		before = elog_session_enter(event, __atomic_add_fetch(&last_session, 1,
								      __ATOMIC_RELAXED));
		failed = answer(fd, backend[0]);
		elog_session_leave(event, before);
	}
	close(backend[0]);
	pthread_join(thread, NULL);
	close(fd);
	return NULL;
}

static int listen_at(uint16_t port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	check(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	      bind(fd, (const void *)&address, sizeof(address)) || listen(fd, 128), "listen");
	return fd;
}

int main(int count, char **arguments)
{
	struct elog_producer *producer;
	const int one = 1;
	pthread_t thread;
	int listener, fd;

	if (count < 2)
		return 2;
	if (count > 2)
		check(elog_producer_open(&producer, NULL) ||
		      elog_event_register(producer, "why_server", "request", 0, 0, 0, &event),
		      "libelog");
	listener = listen_at((uint16_t)atoi(arguments[1]));
	for (;;) {
		fd = accept(listener, NULL, NULL);
		check(fd < 0 ? -1 : 0, "accept");
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		check(pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd),
		      "pthread_create");
		pthread_detach(thread);
	}
}
