// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of --rotate: their numbers, files that only look like them, and how many system calls
 * it takes. Prints TAP.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libelog/util/tap.h"
#include "record/segments.h"

#define MANY	9999	/* segments are kept */
#define NOBODY	65534

static char directory[] = "/tmp/segments_test.XXXXXX";
static unsigned int calls;
static unsigned int entries_left = ~0U;	/* until readdir() fails with EIO */
static const char *unknown;		/* access() cannot find out whether this file is there */

/* These replace those of the C library. */
int rename(const char *from, const char *to)
{
	calls++;
	return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int access(const char *path, int mode)
{
	calls++;
	if (unknown && !strcmp(path, unknown)) {
		errno = EIO;
		return -1;
	}
	return faccessat(AT_FDCWD, path, mode, 0);
}

/* The kernel's entries are like those of the C library. One directory at a time. */
struct dirent *readdir(DIR *open_directory)
{
	static _Alignas(struct dirent) char entries[4096];
	static long at, end;
	struct dirent *entry;

	if (!entries_left) {
		at = end = 0;
		errno = EIO;
		return NULL;
	}
	if (at == end) {
		at = 0;
		end = syscall(SYS_getdents64, dirfd(open_directory), entries, sizeof(entries));
		if (end <= 0) {
			end = 0;
			return NULL;
		}
	}
	entries_left--;
	entry = (struct dirent *)(entries + at);
	at += entry->d_reclen;
	return entry;
}

static void write_file(const char *name)
{
	close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* Are there these files, and no others? @names: separated by blanks; removes them. */
static void check_files(const char *names)
{
	char copy[1024], *name, *rest;

	snprintf(copy, sizeof(copy), "%s", names);
	for (name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
		check_equal(unlink(name), 0);
	check_equal(chdir("/"), 0);
	check_equal(rmdir(directory), 0);
	check_equal(mkdir(directory, 0700), 0);
	check_equal(chdir(directory), 0);
}

static void test_rotate(void)
{
	struct segments *segments = segments_new("file", 1, 3);
	int i;

	for (i = 0; i < 5; i++) {
		write_file("file");
		check_equal(segments_rotate(segments, 0), 0);
	}
	segments_free(segments);
	check_files("file.1 file.2 file.3");
}

/* A gap stays, and what is no segment keeps its name. */
static void test_names(void)
{
	struct segments *segments = segments_new("./file", 1, 100);

	write_file("file");
	write_file("file.1");
	write_file("file.7");
	write_file("file.08");
	write_file("file.9x");
	write_file("file.101");
	write_file("file.99999999999999999999");
	write_file("file.-5");
	write_file("fileX.5");
	check_equal(segments_rotate(segments, 0), 0);
	segments_free(segments);
	check_files("file.1 file.2 file.8 file.08 file.9x file.101 file.99999999999999999999 "
		    "file.-5 fileX.5");
}

/* Those of an earlier capture with more parts keep their numbers, too. */
static void test_parts(void)
{
	struct segments *segments = segments_new("file", 1, 3);

	write_file("file");
	write_file("file.1");
	write_file("file.1-w1");
	write_file("file.3-w1");
	write_file("file.2-w2");
	check_equal(segments_rotate(segments, 0), 0);
	segments_free(segments);
	check_files("file.1 file.2 file.2-w1 file.3-w2");
}

static void test_few_calls(void)
{
	struct segments *segments = segments_new("file", 2, MANY);

	write_file("file");
	write_file("file-w1");
	write_file("file.1");
	write_file("file.1-w1");
	calls = 0;
	check_equal(segments_rotate(segments, 0), 0);
	check_equal(segments_rotate(segments, 1), 0);
	check_equal(segments_expire(segments, 0), 0);
	check_equal(calls < 20, true);
	segments_free(segments);
	check_files("file.1 file.2 file.1-w1 file.2-w1");
}

/* A directory may allow everything but to be read. */
static void test_secret_directory(void)
{
	struct segments *segments = segments_new("file", 1, 20);

	write_file("file");
	write_file("file.4");
	check_equal(chmod(directory, 0300), 0);
	/* Root may read it. */
	if (!getuid())
		check_equal(chown(directory, NOBODY, 0) || seteuid(NOBODY), 0);
	check_equal(segments_rotate(segments, 0), 0);
	check_equal(segments_expire(segments, 0), 0);
	if (!getuid())
		check_equal(seteuid(0), 0);
	segments_free(segments);
	check_files("file.1 file.5");
}

/* What is not read of a directory may be a file that the rotation would overwrite. */
static void test_unreadable_entries(void)
{
	struct segments *segments;
	unsigned int entries;

	for (entries = 0; entries < 4; entries++) {
		segments = segments_new("file", 1, 20);
		write_file("file");
		write_file("file.1");
		entries_left = entries;
		check_equal(segments_rotate(segments, 0), 0);
		entries_left = ~0U;
		segments_free(segments);
		check_files("file.1 file.2");
	}
}

/* It is no proof that a file is missing if that cannot be found out: nothing is renamed. */
static void test_unknown(void)
{
	struct segments *segments = segments_new("file", 1, 20);

	write_file("file");
	write_file("file.1");
	write_file("file.2");
	entries_left = 0;
	unknown = "file.2";
	check_equal(segments_rotate(segments, 0), -EIO);
	check_equal(segments_remove(segments), -EIO);
	check_equal(segments_expire(segments, INT64_MAX), -EIO);
	check_equal(access("file", F_OK), 0);
	/* The next call succeeds as if nothing had happened. */
	unknown = NULL;
	check_equal(segments_rotate(segments, 0), 0);
	entries_left = ~0U;
	segments_free(segments);
	check_files("file.1 file.2 file.3");
}

/* A file whose time cannot be read is kept, and so are younger ones; the caller gets the reason. */
static void test_unknown_time(void)
{
	struct segments *segments = segments_new("file", 1, 20);

	write_file("file.1");
	check_equal(symlink("file.2", "file.2"), 0);
	write_file("file.3");
	/* What was removed is counted first. */
	check_equal(segments_expire(segments, INT64_MAX), 1);
	check_equal(segments_expire(segments, INT64_MAX), -ELOOP);
	segments_free(segments);
	check_files("file.1 file.2");
}

/* A name that is too long is the name of no file. */
static void test_long_name(void)
{
	char base[NAME_MAX - 1], names[2 * NAME_MAX + 2];
	struct segments *segments;

	memset(base, 'x', sizeof(base) - 1);
	base[sizeof(base) - 1] = '\0';
	segments = segments_new(base, 1, 20);
	write_file(base);
	entries_left = 0;
	check_equal(segments_rotate(segments, 0), 0);
	write_file(base);
	check_equal(segments_rotate(segments, 0), 0);
	entries_left = ~0U;
	segments_free(segments);
	snprintf(names, sizeof(names), "%s.1 %s.2", base, base);
	check_files(names);
}

/* Files of an earlier capture that keep their numbers are reported, once. */
static void test_unknown_old(void)
{
	static const char want[] = "elog: file: files of an earlier capture keep their numbers: "
				   "Input/output error\n";
	struct segments *segments = segments_new("file", 1, 20);
	const int saved = dup(STDERR_FILENO);
	char said[256] = "";
	int ends[2], i;

	check_equal(pipe2(ends, O_NONBLOCK), 0);
	dup2(ends[1], STDERR_FILENO);
	entries_left = 0;
	unknown = "file.2-w1";
	for (i = 0; i < 2; i++) {
		write_file("file");
		check_equal(segments_rotate(segments, 0), 0);
	}
	unknown = NULL;
	entries_left = ~0U;
	dup2(saved, STDERR_FILENO);
	check_equal(read(ends[0], said, sizeof(said) - 1), (ssize_t)sizeof(want) - 1);
	check_equal(strcmp(said, want), 0);
	for (i = 0; i < 2; i++)
		close(ends[i]);
	close(saved);
	segments_free(segments);
	check_files("file.1 file.2");
}

int main(void)
{
	static const struct test tests[] = {
		{ "segments get the next number, up to a limit", test_rotate },
		{ "files with other names keep them", test_names },
		{ "parts of an earlier capture", test_parts },
		{ "a rotation takes few system calls", test_few_calls },
		{ "a directory that cannot be read", test_secret_directory },
		{ "a directory that is read in part", test_unreadable_entries },
		{ "a file of which nothing is known", test_unknown },
		{ "a file whose time cannot be read", test_unknown_time },
		{ "names that are too long", test_long_name },
		{ "old files of which nothing is known", test_unknown_old },
	};
	int ret;

	if (!mkdtemp(directory) || chdir(directory))
		return 1;
	ret = run_tests(tests, sizeof(tests) / sizeof(tests[0]), NULL);
	rmdir(directory);
	return ret;
}
