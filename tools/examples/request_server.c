// SPDX-License-Identifier: GPL-2.0-only
/*
 * A server that emits events; each request is a session.
 *
 *	request_server [-p PORT] [-t THREADS]
 *
 * Listens on 127.0.0.1, prints the port, and serves "GET /PATH" lines until
 * SIGTERM or SIGINT: "/bytes/N" gets "200 N" and N bytes, anything else
 * "404 0". Provider request_server:
 *	accept		a client has connected
 *	request_start	a request was read; it starts a session
 *	request_end	the response was sent; the session ends
 * Meanwhile the thread says that it works on the session, for elog why.
 *
 * Each thread accepts a connection and serves it until it is closed. The threads share
 * the listening socket, the number of connections, and, under a lock, the connection
 * that each thread serves. So the server can exit without waiting for idle clients.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <elog.h>

#define PROVIDER	"request_server"
#define THREADS_MAX	64
#define LINE_MAX_BYTES	256
#define BODY_MAX	(1 << 20)

static struct elog_event *event_accept, *event_start, *event_end;
static int listener;
static unsigned int connections;	/* atomic */

static pthread_mutex_t serving_lock = PTHREAD_MUTEX_INITIALIZER;
static int serving[THREADS_MAX];	/* the socket of each thread, or 0 */
static bool ending;

/* Sets the socket that a thread serves; 0: none. Returns false if the server is exiting. */
static bool set_serving(size_t thread, int fd)
{
	bool running;

	pthread_mutex_lock(&serving_lock);
	serving[thread] = fd;
	running = !ending;
	pthread_mutex_unlock(&serving_lock);
	return running;
}

/* Stops reading requests; those already read get a response. */
static void end_serving(void)
{
	size_t i;

	pthread_mutex_lock(&serving_lock);
	ending = true;
	for (i = 0; i < THREADS_MAX; i++)
		if (serving[i])
			shutdown(serving[i], SHUT_RD);
	pthread_mutex_unlock(&serving_lock);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void emit_accept(unsigned int connection, uint16_t port)
{
	struct elog_payload payload;
	unsigned char buffer[16];

	if (!elog_event_enabled(event_accept))
		return;
	elog_payload_init(&payload, buffer, sizeof(buffer));
	elog_payload_u32(&payload, connection);
	elog_payload_u16(&payload, port);
	elog_event_emit(event_accept, 0, &payload);
}

static void emit_start(uint64_t session, unsigned int connection,
		       const char *path)
{
	unsigned char buffer[LINE_MAX_BYTES + 32];
	struct elog_payload payload;

	if (!elog_event_enabled(event_start))
		return;
	elog_payload_init(&payload, buffer, sizeof(buffer));
	elog_payload_u32(&payload, connection);
	elog_payload_string(&payload, path);
	elog_event_emit(event_start, session, &payload);
}

static void emit_end(uint64_t session, unsigned int status, size_t bytes,
		     uint64_t duration)
{
	struct elog_payload payload;
	unsigned char buffer[16];

	if (!elog_event_enabled(event_end))
		return;
	elog_payload_init(&payload, buffer, sizeof(buffer));
	elog_payload_u16(&payload, (uint16_t)status);
	elog_payload_u32(&payload, (uint32_t)bytes);
	elog_payload_u64(&payload, duration);
	elog_event_emit(event_end, session, &payload);
}

static bool send_all(int fd, const char *data, size_t size)
{
	ssize_t sent;

	while (size) {
		sent = send(fd, data, size, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		data += sent;
		size -= (size_t)sent;
	}
	return true;
}

/* Returns false if the response cannot be sent. */
static bool answer(FILE *client, const char *path, unsigned int *status,
		   size_t *bytes)
{
	static const char body[BODY_MAX];
	unsigned long wanted = 0;
	char head[32], *end;
	int size;

	*status = 404;
	if (!strncmp(path, "/bytes/", 7)) {
		wanted = strtoul(path + 7, &end, 10);
		if (end != path + 7 && !*end && wanted <= BODY_MAX)
			*status = 200;
	}
	*bytes = *status == 200 ? wanted : 0;
	size = snprintf(head, sizeof(head), "%u %zu\n", *status, *bytes);
	return send_all(fileno(client), head, (size_t)size) &&
	       send_all(fileno(client), body, *bytes);
}

static void serve(FILE *client, unsigned int connection)
{
	struct elog_running before;
	unsigned int status;
	char line[LINE_MAX_BYTES];
	uint64_t session, start;
	const char *path;
	bool good = true;
	size_t bytes;

	while (good && fgets(line, sizeof(line), client)) {
		start = now();
		session = elog_session_new();
		line[strcspn(line, "\r\n")] = '\0';
		path = strncmp(line, "GET ", 4) ? line : line + 4;
		before = elog_session_enter(event_start, session);
		emit_start(session, connection, path);
		good = answer(client, path, &status, &bytes);
		emit_end(session, status, bytes, now() - start);
		elog_session_leave(event_start, before);
	}
}

static void *work(void *argument)
{
	const size_t thread = (size_t)argument;
	struct sockaddr_in address;
	unsigned int connection;
	const int one = 1;
	socklen_t size;
	FILE *client;
	int fd;

	pthread_setname_np(pthread_self(), "request_worker");
	for (;;) {
		size = sizeof(address);
		fd = accept4(listener, (struct sockaddr *)&address, &size,
			     SOCK_CLOEXEC);
		if (fd < 0) {
			/* shutdown() of the listening socket ends the threads here. */
			if (errno == EINVAL)
				return NULL;
			if (errno != EINTR && errno != ECONNABORTED)
				usleep(1000);
			continue;
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		connection = __atomic_add_fetch(&connections, 1,
						__ATOMIC_RELAXED);
		emit_accept(connection, ntohs(address.sin_port));
		client = fdopen(fd, "r");
		if (!client) {
			close(fd);
			continue;
		}
		if (set_serving(thread, fd))
			serve(client, connection);
		/* Close the socket when no other thread can shut it down. */
		set_serving(thread, 0);
		fclose(client);
	}
}

/* Returns the port, or -1. */
static int start_listening(unsigned int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	const int one = 1;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0)
		return -1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 128) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		return -1;
	return ntohs(address.sin_port);
}

static int register_events(struct elog_producer *producer)
{
	int ret;

	ret = elog_event_register(producer, PROVIDER,
				  "accept u32 connection; u16 port",
				  EVENTLOG_LEVEL_NOTICE, 1, 0, &event_accept);
	if (!ret)
		ret = elog_event_register(producer, PROVIDER,
					  "request_start u32 connection; __data_loc char[] path",
					  EVENTLOG_LEVEL_INFO, 2, 0, &event_start);
	if (!ret)
		ret = elog_event_register(producer, PROVIDER,
					  "request_end u16 status; u32 bytes; u64 duration",
					  EVENTLOG_LEVEL_INFO, 2, 0, &event_end);
	return ret;
}

int main(int count, char **arguments)
{
	unsigned int thread_count = 4, port_wanted = 0, i;
	pthread_t threads[THREADS_MAX];
	struct elog_producer *producer;
	int option, port, ret, signal;
	sigset_t signals;

	while ((option = getopt(count, arguments, "p:t:")) != -1) {
		if (option == 'p')
			port_wanted = (unsigned int)strtoul(optarg, NULL, 10);
		else if (option == 't')
			thread_count = (unsigned int)strtoul(optarg, NULL, 10);
		else
			return 1;
	}
	if (!thread_count || thread_count > THREADS_MAX || port_wanted > 65535) {
		fprintf(stderr, "request_server: 1 to %d threads, ports to 65535\n",
			THREADS_MAX);
		return 1;
	}
	/* Succeeds without the kernel module; the events are then disabled. */
	ret = elog_producer_open(&producer, NULL);
	if (!ret)
		ret = register_events(producer);
	if (ret) {
		fprintf(stderr, "request_server: events: %s\n", strerror(-ret));
		return 1;
	}
	port = start_listening(port_wanted);
	if (port < 0) {
		perror("request_server: listen");
		return 1;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	for (i = 0; i < thread_count; i++) {
		ret = pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
		if (ret) {
			fprintf(stderr, "request_server: thread: %s\n",
				strerror(ret));
			return 1;
		}
	}
	printf("%d\n", port);
	fflush(stdout);

	sigwait(&signals, &signal);
	shutdown(listener, SHUT_RDWR);
	end_serving();
	for (i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	close(listener);
	elog_producer_close(producer);
	return 0;
}
