// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends requests to request_server.
 *
 *	request_client [-c CONNECTIONS] [-r REQUESTS] [-t THREADS] PORT
 *
 * Makes CONNECTIONS connections from THREADS threads, with REQUESTS requests each.
 * Every tenth request is for a path that does not exist. Prints
 * "connections N requests N bytes N missing N" for the responses, and fails if a
 * response is wrong.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define THREADS_MAX	64

static unsigned int connection_count = 10, request_count = 10, thread_count = 4;
static unsigned int port;

/* Atomic: the connections started, and the results. */
static unsigned int next_connection;
static unsigned long requests, bytes, missing;

static FILE *connect_to_server(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((unsigned short)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int one = 1;
	FILE *server;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return NULL;
	}
	server = fdopen(fd, "r");
	if (!server)
		close(fd);
	return server;
}

static bool make_request(FILE *server, unsigned int number)
{
	bool exists = number % 10 != 9;
	unsigned int status;
	int sent;
	size_t size, wanted = number * 37 % 2000, i;

	if (exists)
		sent = dprintf(fileno(server), "GET /bytes/%zu\n", wanted);
	else
		sent = dprintf(fileno(server), "GET /missing\n");
	if (sent < 0 || fscanf(server, "%u %zu", &status, &size) != 2 ||
	    fgetc(server) != '\n')
		return false;
	if (status != (exists ? 200 : 404) || size != (exists ? wanted : 0))
		return false;
	for (i = 0; i < size; i++)
		if (fgetc(server) == EOF)
			return false;
	__atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&bytes, size, __ATOMIC_RELAXED);
	__atomic_fetch_add(&missing, !exists, __ATOMIC_RELAXED);
	return true;
}

static void *work(void *argument)
{
	unsigned int number;
	bool good = true;
	FILE *server;

	while (__atomic_fetch_add(&next_connection, 1, __ATOMIC_RELAXED) <
	       connection_count) {
		server = connect_to_server();
		if (!server) {
			perror("request_client: connect");
			return argument;
		}
		for (number = 0; good && number < request_count; number++)
			good = make_request(server, number);
		fclose(server);
		if (!good) {
			fprintf(stderr, "request_client: wrong response\n");
			return argument;
		}
	}
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS_MAX];
	bool failed = false;
	unsigned int i;
	void *result;
	int option;

	while ((option = getopt(count, arguments, "c:r:t:")) != -1) {
		if (option == 'c')
			connection_count = (unsigned int)strtoul(optarg, NULL, 10);
		else if (option == 'r')
			request_count = (unsigned int)strtoul(optarg, NULL, 10);
		else if (option == 't')
			thread_count = (unsigned int)strtoul(optarg, NULL, 10);
		else
			return 1;
	}
	if (optind + 1 != count || !thread_count || thread_count > THREADS_MAX) {
		fprintf(stderr, "usage: request_client [-c CONNECTIONS] [-r REQUESTS] "
			"[-t THREADS (1 to %d)] PORT\n", THREADS_MAX);
		return 1;
	}
	port = (unsigned int)strtoul(arguments[optind], NULL, 10);
	for (i = 0; i < thread_count; i++) {
		/* A thread returns NULL on success. */
		if (pthread_create(&threads[i], NULL, work, &failed)) {
			fprintf(stderr, "request_client: cannot create a thread\n");
			return 1;
		}
	}
	for (i = 0; i < thread_count; i++) {
		pthread_join(threads[i], &result);
		failed |= result != NULL;
	}
	printf("connections %u requests %lu bytes %lu missing %lu\n",
	       connection_count, requests, bytes, missing);
	return failed;
}
