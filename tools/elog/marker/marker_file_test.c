// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of marker_file.c and marker_note.c with files that are truncated at every byte or have some bytes
 * changed. Each argument is a file with markers. Prints TAP.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libelog/util/tap.h"
#include "marker/marker_file.h"

#define CHANGES	6000

static unsigned char *whole;
static size_t size;

static uint64_t next_random(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void read_whole(const char *name)
{
	FILE *file = fopen(name, "rb");
	long end;

	if (!file || fseek(file, 0, SEEK_END) || (end = ftell(file)) <= 0) {
		perror(name);
		exit(1);
	}
	rewind(file);
	size = (size_t)end;
	free(whole);
	whole = malloc(size);
	if (!whole || fread(whole, 1, size, file) != size) {
		perror(name);
		exit(1);
	}
	fclose(file);
}

static void put(int fd, const unsigned char *bytes, size_t count)
{
	check_equal(pwrite(fd, bytes, count, 0), count);
}

/* Every marker that is found is valid, whatever the file contains. */
static void check_found(const struct file_markers *markers, int ret)
{
	size_t i;

	check(ret == 0 || ret == -ENOEXEC || ret == -E2BIG);
	for (i = 0; i < markers->count; i++) {
		const struct file_marker *marker = &markers->markers[i];
		char *expected;

		check(asprintf(&expected, "%s:%s:%u", marker->path, marker->function,
			       marker->ordinal) > 0);
		check_string(marker->place, expected);
		free(expected);
		check(*marker->tag && *marker->event);
		check(!(marker->handlers & ~marker->allowed));
	}
}

static size_t count_found(int fd)
{
	struct file_markers markers;
	int ret = file_markers_read(fd, &markers);
	size_t count = markers.count;

	check_found(&markers, ret);
	file_markers_free(&markers);
	return count;
}

static void test_cut(void)
{
	int fd = memfd_create("marker_file_test", MFD_CLOEXEC);
	size_t length;

	put(fd, whole, size);
	check(count_found(fd) > 0);
	for (length = size; length-- > 0;) {
		check_equal(ftruncate(fd, (off_t)length), 0);
		count_found(fd);
	}
	check_equal(count_found(fd), 0);
	close(fd);
}

static void test_changed(void)
{
	int fd = memfd_create("marker_file_test", MFD_CLOEXEC);
	unsigned char *changed = malloc(size);
	unsigned int i, bytes;

	check(changed);
	for (i = 0; changed && i < CHANGES; i++) {
		memcpy(changed, whole, size);
		for (bytes = 1 + next_random() % 8; bytes; bytes--)
			/* Every other change is in the headers at the start. */
			changed[next_random() % (i % 2 ? size : size < 512 ? size : 512)] =
				next_random() % 4 ? (unsigned char)next_random() : 0xff;
		put(fd, changed, size);
		count_found(fd);
	}
	free(changed);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "truncated", test_cut },
		{ "changed bytes", test_changed },
	};
	int i, status = 0;

	for (i = 1; i < argc; i++) {
		read_whole(argv[i]);
		printf("# %s\n", argv[i]);
		status |= run_tests(tests, sizeof(tests) / sizeof(*tests), NULL);
	}
	free(whole);
	return argc > 1 ? status : 1;
}
