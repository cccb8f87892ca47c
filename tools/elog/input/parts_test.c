// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of finding the files of a capture with several writers, without a device: missing
 * files, files of other captures, hostile files. Prints TAP.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elog.h"
#include "libelog/util/tap.h"
#include "input/parts.h"

static char directory[] = "/tmp/parts_test.XXXXXX";

/* Write a file with one block. @start: of the capture, not 0 */
static void write_file(const char *name, const char *capture, uint64_t start, uint32_t files)
{
	const struct elog_writer_options options = {
		.size = sizeof(options), .capture = capture, .start = start, .files = files,
	};
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct elog_writer *writer;

	check_equal(elog_writer_open(&writer, fd, &options), 0);
	elog_writer_close(writer);
	close(fd);
}

/* Find the files of @names, separated by spaces, and compare them with @expected. */
static void check_files(const char *names, const char *expected, bool incomplete)
{
	struct file_list list = { 0 };
	char text[256], found[256] = "";
	char *given[8], *name;
	int count = 0;
	size_t i;

	snprintf(text, sizeof(text), "%s", names);
	for (name = strtok(text, " "); name; name = strtok(NULL, " "))
		given[count++] = name;
	check_equal(parts_find(&list, given, count), 0);
	for (i = 0; i < list.count; i++) {
		if (i)
			strcat(found, " ");
		strcat(found, list.names[i]);
	}
	check_string(found, expected);
	check_equal(list.incomplete, incomplete);
	parts_free(&list);
}

static void clean_up(void)
{
	static const char *const names[] = { "a", "a-w1", "a-w2", "a-w3", "a.1", "a.1-w1", "b", "p" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
}

static void test_found(void)
{
	write_file("a", "one", 100, 3);
	write_file("a-w1", "one", 100, 0);
	write_file("a-w2", "one", 100, 0);
	write_file("a.1", "one", 50, 2);
	write_file("a.1-w1", "one", 50, 0);
	write_file("b", NULL, 100, 0);
	check_files("a", "a a-w1 a-w2", false);
	check_files("a.1 a", "a.1 a.1-w1 a a-w1 a-w2", false);
	check_files("b a", "b a a-w1 a-w2", false);
	/* Each once, where it was given. */
	check_files("a-w2 a ./a-w1", "a-w2 a ./a-w1", false);
	check_files("a-w1", "a-w1", false);
	/* Other names are left to the caller. */
	check_files("- none /dev/null", "- none /dev/null", false);
}

static void test_missing(void)
{
	write_file("a", "one", 100, 4);
	write_file("a-w2", "one", 100, 0);
	check_files("a", "a a-w2", true);
	/* Another capture, another segment, no file of elog. */
	write_file("a-w1", "two", 100, 0);
	write_file("a-w3", "one", 101, 0);
	check_files("a", "a a-w2", true);
	check_equal(truncate("a-w2", 10), 0);
	check_files("a", "a", true);
	/* A pipe is not opened, which would block. */
	unlink("a-w2");
	check_equal(mkfifo("a-w2", 0600), 0);
	check_files("a", "a", true);
	check_equal(mkfifo("p", 0600), 0);
	check_files("p", "p", false);
	/* A file may claim any number. */
	write_file("a", "one", 100, ELOG_WRITER_FILES_MAX);
	check_files("a", "a", true);
}

static void test_removed(void)
{
	write_file("a", "one", 100, 4);
	write_file("a-w1", "one", 100, 0);
	write_file("a-w2", "two", 100, 0);
	write_file("a-w3", "one", 100, 0);
	parts_remove("a", 4);
	check(!access("a-w3", F_OK));
	parts_remove("a", 2);
	check(!access("a-w1", F_OK) && access("a-w3", F_OK));
	write_file("a-w3", "one", 100, 0);
	parts_remove("a", 1);
	check(!access("a", F_OK) && !access("a-w2", F_OK));
	check(access("a-w1", F_OK) && access("a-w3", F_OK));
	write_file("a-w1", "one", 100, 0);
	parts_remove("a-w1", 1);
	parts_remove("none", 1);
	parts_remove("/dev/null", 1);
	check(!access("a-w1", F_OK));
	/* Root may write all files. */
	if (!geteuid())
		return;
	check_equal(chmod("a", 0400), 0);
	parts_remove("a", 1);
	check(!access("a-w1", F_OK));
	check_equal(chmod("a", 0600), 0);
	parts_remove("a", 1);
	check(access("a-w1", F_OK));
}

int main(void)
{
	static const struct test tests[] = {
		{ "files of a capture are found, each once", test_found },
		{ "missing and foreign files are reported", test_missing },
		{ "the files of a replaced capture are removed", test_removed },
	};
	int ret;

	if (!mkdtemp(directory) || chdir(directory)) {
		perror(directory);
		return 1;
	}
	ret = run_tests(tests, sizeof(tests) / sizeof(tests[0]), clean_up);
	clean_up();
	rmdir(directory);
	return ret;
}
