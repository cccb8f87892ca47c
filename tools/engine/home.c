// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine of a user: see ../elog/util/engine_run.h.
 *
 * The directory has the socket, the status map, and a file to lock: who begins or ends holds the
 * lock, so there is one engine, and one that ends takes no connection with it. A socket that
 * refuses is what a killed engine has left.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "elog/util/engine_run.h"
#include "pages.h"
#include "server.h"
#include "util/engine.h"

#define UNUSED_MS 2000

static char socket_path[ELOG_ENGINE_PATH_BYTES];
static char status_path[ELOG_ENGINE_PATH_BYTES];
static struct stat own_socket;
static int lock = -1;

static bool set_path(char path[ELOG_ENGINE_PATH_BYTES], const char *directory, const char *name)
{
	return snprintf(path, ELOG_ENGINE_PATH_BYTES, "%s/%s", directory, name) <
	       ELOG_ENGINE_PATH_BYTES;
}

/* Return: 0 or a negative errno. */
static int take_lock(const char *directory)
{
	char path[ELOG_ENGINE_PATH_BYTES];

	if (!elog_is_own_directory(directory))
		return -EPERM;
	if (!set_path(path, directory, "lock") ||
	    !set_path(socket_path, directory, ELOG_ENGINE_SOCKET) ||
	    !set_path(status_path, directory, "status"))
		return -ENAMETOOLONG;
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return lock < 0 || flock(lock, LOCK_EX) ? -errno : 0;
}

/* Return: 0: no engine serves the socket; -EEXIST: one does; another negative errno: not known. */
static int find_other(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret = -EEXIST;

	if (fd < 0)
		return -errno;
	memcpy(address.sun_path, socket_path, sizeof(address.sun_path));
	/* One that is busy is one, too. */
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) && errno != EAGAIN)
		ret = errno == ENOENT || errno == ECONNREFUSED ? 0 : -errno;
	close(fd);
	return ret;
}

/* Not that of another one, if someone has removed this one's. */
static void remove_socket(void)
{
	struct stat found;

	if (!lstat(socket_path, &found) && found.st_ino == own_socket.st_ino &&
	    found.st_dev == own_socket.st_dev)
		unlink(socket_path);
}

static int begin_to_listen(void)
{
	const int ret = server_listen(socket_path);

	if (!ret)
		lstat(socket_path, &own_socket);
	return ret;
}

/* The lock is held. Return: 0 or a negative errno. */
static int begin(void)
{
	int ret = find_other();

	if (ret)
		return ret;
	unlink(socket_path);
	pages_status_at(status_path);
	ret = server_load();
	return ret ? ret : begin_to_listen();
}

/* Who connects while it ends is served. */
static bool may_end(void)
{
	if (flock(lock, LOCK_EX | LOCK_NB))
		return false;
	remove_socket();
	if (server_stop_listening())
		return true;
	if (begin_to_listen())
		return true;
	flock(lock, LOCK_UN);
	return false;
}

int elog_engine_run(const char *directory, bool once, void (*ready)(const char *socket))
{
	int ret = take_lock(directory);

	if (!ret)
		ret = begin();
	if (ret)
		return ret;
	flock(lock, LOCK_UN);
	ready(socket_path);
	server_run(UNUSED_MS, once ? may_end : NULL);
	flock(lock, LOCK_EX);
	remove_socket();
	server_unload();
	return 0;
}
