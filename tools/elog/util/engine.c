// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding and starting the engine of this user: see engine.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libelog/util/abi.h"
#include "libelog/util/engine.h"
#include "util/engine.h"
#include "util/tool.h"

/* One that has just begun may have ended again, if this process stood still meanwhile. */
#define STARTS 3
/* An engine has a second to answer, and may have no CPU. */
#define FIND_TRIES 60

static bool used;

pid_t engine_of(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (!elog_engine_is(fd) || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return 0;
	return peer.pid;
}

void engine_path(int fd, char *path, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);

	if (getpeername(fd, (struct sockaddr *)&address, &length))
		address.sun_path[0] = '\0';
	snprintf(path, size, "%.*s", (int)sizeof(address.sun_path), address.sun_path);
}

bool engine_lacks(int fd, const char *what)
{
	const pid_t pid = engine_of(fd);

	if (pid)
		elog_error("%s need the kernel module; this is engine %d, which has the events of "
			   "programs", what, pid);
	return pid;
}

static bool is_absent(int error)
{
	return error == -ENOENT || error == -ENXIO || error == -ENODEV;
}

static int find(char path[ELOG_ENGINE_PATH_BYTES])
{
	int tries = FIND_TRIES, fd;

	do
		fd = elog_engine_find(path);
	while (fd == -ETIMEDOUT && --tries);
	return fd;
}

#ifdef ELOG_ENGINE

/* Becomes the engine, which has nothing of this process: no file, no terminal, no signals. */
static void execute(int output)
{
	const int nothing = open("/dev/null", O_RDWR);
	sigset_t none;
	int signal;

	setsid();
	dup2(nothing, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	for (signal = 1; signal < SIGRTMIN; signal++)
		if (signal != SIGKILL && signal != SIGSTOP)
			sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!chdir("/"))
		execl("/proc/self/exe", "elog", "engine", "--once", NULL);
	dprintf(STDOUT_FILENO, "/proc/self/exe: %s\n", strerror(errno));
	_exit(STATUS_ERROR);
}

/* Reads what the engine prints: its socket, or why there is none. */
static bool read_answer(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;

	do {
		got = read(fd, text + length, size - 1 - length);
		if (got > 0)
			length += (size_t)got;
	} while ((got > 0 && length < size - 1 && !memchr(text, '\n', length)) ||
		 (got < 0 && errno == EINTR));
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return *text == '/';
}

/* It is the child of a child that ends at once: no one waits for it. */
static bool start(void)
{
	char text[256];
	bool started;
	pid_t child;
	int pair[2];

	if (pipe2(pair, O_CLOEXEC)) {
		elog_error("pipe: %s", strerror(errno));
		return false;
	}
	child = fork();
	if (!child) {
		if (!fork())
			execute(pair[1]);
		_exit(STATUS_OK);
	}
	close(pair[1]);
	started = child > 0 && read_answer(pair[0], text, sizeof(text));
	if (child > 0)
		waitpid(child, NULL, 0);
	close(pair[0]);
	if (!started)
		elog_error("the engine cannot be started: %s", child < 0 ? strerror(errno) :
			   strncmp(text, "elog engine: ", 13) ? text : text + 13);
	return started;
}

/*
 * Who may not use the device wants its events, so nothing is started then.
 *
 * Return: a connection, or a negative errno; @error: of the device.
 */
static int find_or_start(char path[ELOG_ENGINE_PATH_BYTES], int error)
{
	int fd = find(path), i;

	if (fd < 0 && fd != -ETIMEDOUT && !is_absent(error))
		return error;
	for (i = 0; i < STARTS && fd < 0 && fd != -ETIMEDOUT; i++) {
		if (!i && getauxval(AT_SECURE))
			return error;
		if (!start())
			return -ECANCELED;
		fd = find(path);
	}
	return fd;
}

#else

static int find_or_start(char path[ELOG_ENGINE_PATH_BYTES], int error)
{
	int fd = find(path);

	return fd < 0 && fd != -ETIMEDOUT ? error : fd;
}

#endif

bool engine_used(void)
{
	return used;
}

bool engine_use(bool quiet)
{
	char path[ELOG_ENGINE_PATH_BYTES];
	int device, fd;

	if (elog_device_chosen(NULL))
		return true;
	device = elog_port_open(EVENTLOG_DEVICE);
	if (device >= 0)
		elog_port_close(device);
	if (!is_absent(device) && device != -EACCES && device != -EPERM)
		return true;
	fd = find_or_start(path, device);
	if (fd < 0) {
		if (fd != -ECANCELED)
			explain_device_error(fd, PURPOSE_CONSUME);
		return false;
	}
	if (!quiet)
		fprintf(stderr, "elog: %s: %s: engine %d records the events of your programs; "
			"events of the kernel need the module eventlog\n",
			EVENTLOG_DEVICE, strerror(-device), engine_of(fd));
	elog_port_close(fd);
	used = true;
	if (!setenv("ELOG_DEVICE", path, 1))
		return true;
	elog_error("out of memory");
	return false;
}
