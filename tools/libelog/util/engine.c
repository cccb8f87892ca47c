// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Where engines are: see engine.h and port.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/engine.h"
#include "util/own_file.h"
#include "util/port.h"

/* As when the program has started: signal handlers look for engines, too. */
static char runtime_directory[ELOG_ENGINE_PATH_BYTES];

__attribute__((constructor)) static void read_runtime_directory(void)
{
	const char *path = secure_getenv("XDG_RUNTIME_DIR");

	if (path && *path == '/' && strlen(path) < sizeof(runtime_directory))
		strcpy(runtime_directory, path);
}

/* Puts @text at the end of @path; what does not fit makes it empty. */
static void append(char path[ELOG_ENGINE_PATH_BYTES], const char *text)
{
	if (strlen(path) + strlen(text) < ELOG_ENGINE_PATH_BYTES)
		strcat(path, text);
	else
		*path = '\0';
}

static void append_number(char path[ELOG_ENGINE_PATH_BYTES], unsigned int number)
{
	char digits[16];
	char *at = digits + sizeof(digits);

	*--at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	append(path, at);
}

bool elog_engine_directory(enum elog_engine_place place, char path[ELOG_ENGINE_PATH_BYTES])
{
	/* Neither its environment nor its user chooses for a program with additional privileges. */
	if (place != ELOG_ENGINE_SYSTEM && getauxval(AT_SECURE))
		return false;
	*path = '\0';
	switch (place) {
	case ELOG_ENGINE_RUNTIME:
		if (!*runtime_directory)
			return false;
		append(path, runtime_directory);
		append(path, "/eventlog");
		break;
	case ELOG_ENGINE_USER:
		append(path, "/run/user/");
		append_number(path, geteuid());
		append(path, "/eventlog");
		break;
	case ELOG_ENGINE_SYSTEM:
		append(path, "/run/eventlog");
		break;
	case ELOG_ENGINE_MEMORY:
		append(path, "/dev/shm/eventlog-");
		append_number(path, geteuid());
		break;
	default:
		return false;
	}
	return *path;
}

int elog_engine_find(char path[ELOG_ENGINE_PATH_BYTES])
{
	unsigned int place;
	int fd;

	for (place = 0; place < ELOG_ENGINE_PLACES; place++) {
		if (!elog_engine_directory(place, path))
			continue;
		/* Everyone may make a directory there. */
		if (place == ELOG_ENGINE_MEMORY && !elog_is_own_directory(path))
			continue;
		append(path, "/" ELOG_ENGINE_SOCKET);
		fd = *path ? elog_engine_connect(path) : -ENOENT;
		if (fd >= 0 || fd == -ETIMEDOUT)
			return fd;
	}
	return -ENOENT;
}

static bool is_trusted(int fd)
{
	uid_t real, effective, saved;
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
	    getresuid(&real, &effective, &saved))
		return false;
	/* A process that is another user for a while does not trust that user. */
	return !peer.uid ||
	       (peer.uid == real && peer.uid == effective && peer.uid == saved);
}

int elog_engine_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	/* A program does not wait until an engine takes it. */
	fd = elog_file_raise(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		ret = errno == ECONNREFUSED || errno == ENOTSOCK || errno == EPROTOTYPE ? -ENXIO :
		      -errno;
	else if (!is_trusted(fd))
		ret = -EPERM;
	else if (fcntl(fd, F_SETFL, 0))
		ret = -errno;
	else
		ret = elog_engine_take(fd);
	if (!ret)
		return fd;
	elog_port_close(fd);
	return ret;
}
