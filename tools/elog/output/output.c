// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffered output to stdout: see output.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/output.h"
#include "util/output_file.h"
#include "util/signals.h"

#define OUTPUT_BYTES	65536

void output_open(struct output *output, enum color color, bool shared)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct stat stat;

	memset(output, 0, sizeof(*output));
	output->limit = OUTPUT_BYTES;
	output->terminal = isatty(STDOUT_FILENO);
	escape_cells(output->terminal);
	/* A write() to a file or a terminal is never split. */
	output->whole_lines = shared && !fstat(STDOUT_FILENO, &stat) &&
			      S_ISFIFO(stat.st_mode);
	output->colour = color == COLOR_ALWAYS ||
		(color == COLOR_AUTO && output->terminal &&
		 !(no_color && *no_color) && term && strcmp(term, "dumb"));
}

/* In the child. @pager: a shell command; NULL: use the first pager that exists. */
static void run_pager(const char *pager)
{
	static const char *const pagers[] = { "less", "more", "cat" };
	size_t i;

	/* Quit if it fits one screen, keep colours, do not wrap lines or clear the screen. */
	setenv("LESS", "FRSX", 0);
	if (pager)
		execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	for (i = 0; !pager && i < ARRAY_SIZE(pagers); i++)
		execlp(pagers[i], pagers[i], (char *)NULL);
	_exit(STATUS_NO_COMMAND);
}

void output_page(struct output *output)
{
	const char *pager = getenv("ELOG_PAGER");
	int ends[2];

	if (!pager)
		pager = getenv("PAGER");
	if (!output->terminal || (pager && (!*pager || !strcmp(pager, "cat"))))
		return;
	if (pipe2(ends, O_CLOEXEC))
		return;
	output->pager = fork();
	if (output->pager < 0) {
		output->pager = 0;
		close(ends[0]);
		close(ends[1]);
		return;
	}
	if (!output->pager) {
		dup2(ends[0], STDIN_FILENO);
		run_pager(pager);
	}
	dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
	/* Ctrl-C goes to the pager. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

static int write_some(const char *data, size_t size)
{
	struct pollfd poll_fd = { .fd = STDOUT_FILENO, .events = POLLOUT };
	ssize_t ret = signals_write(STDOUT_FILENO, data, size);

	if (ret == -EAGAIN)
		signals_poll(&poll_fd, 1, -1);
	return (int)ret;
}

/* Return: how many bytes of @data to write at once. */
static size_t next_write(const struct output *output, const char *data, size_t size)
{
	const char *end;

	if (!output->whole_lines || size <= PIPE_BUF)
		return size;
	/* The kernel does not split a write of at most PIPE_BUF bytes to a pipe. */
	end = memrchr(data, '\n', PIPE_BUF);
	if (!end)
		end = memchr(data, '\n', size);
	return end ? (size_t)(end + 1 - data) : size;
}

static uint64_t count_lines(const char *data, size_t size)
{
	const char *end = data + size;
	uint64_t count = 0;

	while (data < end && (data = memchr(data, '\n', (size_t)(end - data)))) {
		count++;
		data++;
	}
	return count;
}

void output_flush(struct output *output)
{
	const char *data = output->text.data;
	const size_t size = output->text.size;
	size_t written = 0;
	int ret;

	if (output->text.error && !output->error)
		output->error = output->text.error;
	while (written < size && !output->closed && !output->error) {
		ret = write_some(data + written,
				 next_write(output, data + written, size - written));
		if (ret >= 0)
			written += (size_t)ret;
		else if (ret != -EPIPE && ret != -EINTR && ret != -EAGAIN)
			output->error = ret;
		else if (ret == -EPIPE || signals_stops() > 1)
			output->closed = true;
		if (ret != -EPIPE && output->closed)
			output->given_up = true;
	}
	if (output->error || output->given_up)
		output->unwritten += count_lines(data + written, size - written);
	output->text.size = 0;
}

int output_write(int fd, const char *data, size_t size)
{
	ssize_t ret;

	while (size) {
		ret = signals_write(fd, data, size);
		if (ret == -EINTR && signals_stops() < 2)
			continue;
		if (ret < 0)
			return (int)ret;
		data += ret;
		size -= (size_t)ret;
	}
	return 0;
}

int output_write_file(const char *path, const struct elog_text *text)
{
	int fd = signals_open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY, 0), ret;

	if (fd < 0)
		return fd;
	ret = output_write(fd, text->data, text->size);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

/* @lock: as for output_replace_locked(), or NULL */
static int replace(const char *path, const struct elog_text *text, bool durable, int *lock)
{
	const int directory = (int)(strrchr(path, '/') ? strrchr(path, '/') + 1 - path : 0);
	const int most = directory + NAME_MAX < PATH_MAX ? NAME_MAX : PATH_MAX - 1 - directory;
	mode_t mask = umask(0);
	char *beside;
	int fd, ret;

	umask(mask);
	/* The name may be as long as names and paths can be. */
	if (asprintf(&beside, "%.*s%.*s.XXXXXX", directory, path,
		     most - (int)strlen(".XXXXXX"), path + directory) < 0)
		return -ENOMEM;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		free(beside);
		return ret;
	}
	ret = output_write(fd, text->data, text->size);
	if (!ret && fchmod(fd, 0666 & ~mask))
		ret = -errno;
	if (!ret && durable && fsync(fd))
		ret = -errno;
	if (!ret && lock)
		ret = output_lock(fd, beside);
	if (!lock && close(fd) && !ret)
		ret = -errno;
	if (!ret && rename(beside, path))
		ret = -errno;
	if (ret)
		unlink(beside);
	free(beside);
	if (lock)
		close(ret ? fd : *lock);
	if (lock && !ret)
		*lock = fd;
	return ret;
}

int output_replace(const char *path, const struct elog_text *text, bool durable)
{
	return replace(path, text, durable, NULL);
}

int output_replace_locked(const char *path, const struct elog_text *text, int *lock)
{
	return replace(path, text, true, lock);
}

bool output_is_input(const char *path, char *const *names, int count)
{
	struct stat one, other;
	int i;

	if (stat(path, &one))
		return false;
	for (i = 0; i < count; i++)
		if (!stat(names[i], &other) &&
		    one.st_ino == other.st_ino && one.st_dev == other.st_dev)
			return true;
	return false;
}

void output_check(struct output *output)
{
	if (output->text.size >= output->limit)
		output_flush(output);
}

int output_close(struct output *output)
{
	int null, status = 0;

	output_flush(output);
	elog_text_free(&output->text);
	if (output->given_up && !output->error)
		output->error = -EINTR;
	if (!output->pager)
		return output->error;
	/* Close the pipe so that the pager sees its end, but keep a valid stdout. */
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDOUT_FILENO);
	else
		close(STDOUT_FILENO);
	if (null > STDERR_FILENO)
		close(null);
	while (waitpid(output->pager, &status, 0) < 0 && errno == EINTR)
		;
	output->pager = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NO_COMMAND)
		output->error = -ECHILD;
	return output->error;
}

/* Query the locale without setting it, so that the format of numbers does not change. */
bool output_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (!locale)
		return false;
	utf8 = !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
	freelocale(locale);
	return utf8;
}
