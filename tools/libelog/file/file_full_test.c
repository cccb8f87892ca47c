// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of a writer whose disk is full or fails, and works again later: the file then has
 * each event once, and no damage. And of one whose file another program changes. Prints TAP.
 *
 * writev(), statx() and ftruncate() below are those that libelog calls. They act as a disk with a
 * limit: what exceeds it fails with the error that a test chooses.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "file/file_source.h"
#include "unexported/writer.h"
#include "util/process.h"

#define EVENTS		20000
#define SPARE_MAX	(4096 + 512)	/* that a shortened block may leave free */

static struct {
	int fd;			/* of the file; -1: no limits */
	off_t limit;		/* bytes of the file */
	int error;		/* behind the limit */
	bool keeps_torn;	/* ftruncate() fails, too */
	unsigned int failures;
	bool truncates;		/* right before the next block is written */
	bool is_sandbox;	/* there is no statx() */
} disk = { .fd = -1 };

ssize_t writev(int fd, const struct iovec *iov, int count)
{
	off_t room = disk.limit - lseek(fd, 0, SEEK_CUR);
	struct iovec some[8];
	size_t size = 0;
	int i;

	if (disk.truncates) {
		disk.truncates = false;
		check_equal(ftruncate(fd, 0), 0);
	}
	if (fd != disk.fd || count > 8)
		return syscall(SYS_writev, fd, iov, count);
	for (i = 0; i < count && size < (size_t)(room > 0 ? room : 0); i++) {
		some[i] = iov[i];
		if (some[i].iov_len > (size_t)room - size)
			some[i].iov_len = (size_t)room - size;
		size += some[i].iov_len;
	}
	if (size)
		return syscall(SYS_writev, fd, some, i);
	disk.failures++;
	errno = disk.error;
	return -1;
}

int statx(int fd, const char *path, int flags, unsigned int mask, struct statx *result)
{
	if (disk.is_sandbox) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_statx, fd, path, flags, mask, result);
}

int ftruncate(int fd, off_t size)
{
	if (fd == disk.fd && disk.keeps_torn) {
		errno = disk.error;
		return -1;
	}
	return (int)syscall(SYS_ftruncate, fd, size);
}

static int get_definition(void *context, struct eventlog_describe *request, char **text)
{
	(void)context;
	request->provider_id = 9;
	return asprintf(text, "eventlog 1\nprovider p\nevent 1 e%u info -\n",
			request->descriptor) < 0 ? -ENOMEM : 0;
}

/* Events of many definitions and threads, so that the disk is also full before those. */
static struct eventlog_record make_record(uint64_t number)
{
	return (struct eventlog_record){
		.size_flags = sizeof(struct eventlog_record),
		.descriptor = 1 + (uint32_t)(number / 64), .time = 1000 + number,
		.session = number, .pid = 50, .tid = (uint32_t)(60 + number / 7 % 500),
	};
}

/* Does the file have the events from @first up to @end, in their order, each with its schema? */
static void check_events(int fd, uint64_t first, uint64_t end, bool whole)
{
	const struct elog_schema_event *event;
	struct elog_reader *reader;
	struct elog_item item;
	uint64_t next = first;
	int ret;

	lseek(fd, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, fd), 0);
	while ((ret = elog_reader_next(reader, &item)) > 0) {
		check(!whole || item.type != ELOG_ITEM_DAMAGE);
		check(item.type != ELOG_ITEM_LOST);
		if (item.type != ELOG_ITEM_EVENT)
			continue;
		if (item.session != next)
			check_equal(item.session, next);
		check_equal(elog_reader_describe(reader, item.descriptor, &event), 0);
		next = item.session + 1;
	}
	check_equal(ret, 0);
	check_equal(next, end);
	elog_reader_close(reader);
}

static void check_file(int fd, uint64_t events)
{
	check_events(fd, 0, events, true);
}

/* Make room on the disk, sometimes only a little. Return: false: @ret was not expected. */
static bool make_space(struct elog_writer *writer, int ret)
{
	const bool full = disk.error == ENOSPC || disk.error == EDQUOT || disk.error == EFBIG;
	off_t size = lseek(disk.fd, 0, SEEK_END);

	check_equal(ret, -disk.error);
	/* Until it is retried, nothing is written. */
	check_equal(elog_writer_sync(writer, 1, NULL, 0), -disk.error);
	check_equal(elog_writer_retry(writer), 1);
	if (!disk.keeps_torn)
		check_equal(size, elog_writer_size(writer));
	/* A block that did not fit was shortened. */
	if (full && !compression)
		check(disk.limit - size <= SPARE_MAX + 500 * 24);
	disk.limit += (off_t)(random_number(3) ? 1 + random_number(compression ? 6000 : 60000) :
			      random_number(200));
	return ret == -disk.error;
}

static struct elog_writer *open_writer(struct elog_processes *processes)
{
	const struct elog_writer_options options = {
		.size = sizeof(options), .definition = get_definition,
		.processes = processes, .compression = compression,
	};
	struct elog_writer *writer = NULL;

	disk.fd = new_file();
	disk.limit = 2000;
	disk.failures = 0;
	check_equal(elog_writer_open(&writer, disk.fd, &options), 0);
	elog_writer_interval(writer, 5000);
	return writer;
}

static void close_writer(struct elog_writer *writer, uint64_t time)
{
	int ret;

	while ((ret = elog_writer_sync(writer, time, NULL, 0)))
		if (!make_space(writer, ret))
			return;
	check_equal(elog_writer_events(writer), EVENTS);
	while ((ret = elog_writer_end(writer, 0)))
		if (!make_space(writer, ret))
			return;
	elog_writer_close(writer);
	check(disk.failures > 10);
	disk.keeps_torn = false;
	check_file(disk.fd, EVENTS);
	close(disk.fd);
	disk.fd = -1;
}

static void write_ring(void)
{
	struct elog_processes *processes = elog_processes_new_offline();
	struct eventlog_record *records = calloc(EVENTS, sizeof(*records));
	const size_t size = EVENTS * sizeof(*records);
	struct elog_writer *writer;
	size_t at = 0, i;
	ssize_t some;

	for (i = 0; i < EVENTS; i++)
		records[i] = make_record(i);
	writer = open_writer(processes);
	while (at < size) {
		some = elog_writer_raw(writer, 0, 0, (char *)records + at,
				       size - at < 200000 ? size - at : 200000, at);
		if (some >= 0)
			at += (size_t)some;
		else if (!make_space(writer, (int)some))
			break;
	}
	close_writer(writer, 1000 + EVENTS);
	elog_processes_free(processes);
	free(records);
}

static void write_items(void)
{
	struct elog_processes *processes = elog_processes_new_offline();
	struct elog_writer *writer = open_writer(processes);
	struct eventlog_record record;
	struct elog_item item;
	uint64_t i;
	int ret;

	for (i = 0; i < EVENTS; i++) {
		record = make_record(i);
		item = (struct elog_item){
			.type = ELOG_ITEM_EVENT, .descriptor = record.descriptor,
			.time = record.time, .session = record.session, .pid = record.pid,
			.tid = record.tid,
		};
		while ((ret = elog_writer_add(writer, &item)))
			if (!make_space(writer, ret))
				break;
	}
	close_writer(writer, 1000 + EVENTS);
	elog_processes_free(processes);
}

static void with_errors(void (*write_all)(void))
{
	static const int errors[] = { ENOSPC, EDQUOT, EFBIG, EIO, EROFS };
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(errors); i++) {
		disk.error = errors[i];
		write_all();
	}
}

/* Compressed, or uncompressed without zstd. */
static void compressed(void (*write_all)(void))
{
	struct elog_compressor *compressor;

	if (!elog_compressor_new(&compressor, 3)) {
		elog_compressor_free(compressor);
		compression = 3;
	}
	with_errors(write_all);
	compression = 0;
}

static void test_ring(void)
{
	with_errors(write_ring);
}

static void test_items(void)
{
	with_errors(write_items);
}

static void test_ring_compressed(void)
{
	compressed(write_ring);
}

static void test_items_compressed(void)
{
	compressed(write_items);
}

/* Records of one definition and thread: only the DATA block fails. */
static void test_shortened(void)
{
	const struct elog_writer_options options = { .size = sizeof(options) };
	struct eventlog_record records[4000];
	struct elog_writer *writer;
	uint64_t i;
	ssize_t some, rest;

	for (i = 0; i < 4000; i++) {
		records[i] = make_record(i);
		records[i].descriptor = 0;
	}
	disk.error = ENOSPC;
	disk.fd = new_file();
	disk.limit = 60000;
	check_equal(elog_writer_open(&writer, disk.fd, &options), 0);
	some = elog_writer_raw(writer, 0, 0, records, sizeof(records), 0);
	check(some > 50000 && some < 60000);
	check_equal((size_t)some % sizeof(records[0]), 0);
	check_equal(elog_writer_events(writer), (size_t)some / sizeof(records[0]));
	rest = (ssize_t)sizeof(records) - some;
	check_equal(elog_writer_raw(writer, 0, 0, (char *)records + some, (size_t)rest,
				    (uint64_t)some), -ENOSPC);
	/* What completes the file still fits. */
	check_equal(elog_writer_retry(writer), 1);
	check_equal(elog_writer_sync(writer, 10000, NULL, 0), 0);
	check_equal(elog_writer_end(writer, 0), 0);
	check_equal(elog_writer_retry(writer), 0);
	elog_writer_close(writer);
	close(disk.fd);
	disk.fd = -1;
}

/* The memory for events that wait is limited, and only then an event is not taken. */
static void test_memory(void)
{
	const struct elog_writer_options options = { .size = sizeof(options) };
	struct elog_writer *writer;
	struct elog_item item = {
		.type = ELOG_ITEM_EVENT, .payload = "12345678", .payload_size = 8,
	};
	uint64_t taken;
	int fd = new_file();

	disk.error = ENOSPC;
	disk.fd = fd;
	disk.limit = 1000;
	check_equal(elog_writer_open(&writer, fd, &options), 0);
	for (taken = 0; taken < 100000; taken++) {
		item.time = taken + 1;
		item.session = taken;
		if (elog_writer_add(writer, &item))
			break;
	}
	check(taken > 1000 && taken * 40 < 600000);
	check_equal(elog_writer_retry(writer), 1);
	check_equal(elog_writer_add(writer, &item), -ENOSPC);
	check_equal(elog_writer_retry(writer), 1);
	disk.fd = -1;
	check_equal(elog_writer_add(writer, &item), 0);
	check_equal(elog_writer_sync(writer, taken + 2, NULL, 0), 0);
	check_equal(elog_writer_events(writer), taken + 1);
	elog_writer_close(writer);
	close(fd);
}

/* What the file before has no room for is in the next one, losses included. */
static void test_carried(void)
{
	const struct elog_writer_options options = {
		.size = sizeof(options), .definition = get_definition,
	};
	struct elog_writer_options next = options;
	struct elog_writer *writer, *before;
	const uint64_t lost[] = { 7 };
	struct elog_reader *reader;
	uint64_t events = 0, losses = 0, i;
	struct elog_item item;
	int fd = new_file();

	disk.error = ENOSPC;
	disk.fd = fd;
	disk.limit = 1000;
	check_equal(elog_writer_open(&before, fd, &options), 0);
	for (i = 0; i < 100; i++) {
		item = (struct elog_item){
			.type = i == 50 ? ELOG_ITEM_LOST : ELOG_ITEM_EVENT, .time = i + 1,
			.descriptor = i != 50, .lost = lost, .lost_count = i == 50,
		};
		check_equal(elog_writer_add(before, &item), 0);
	}
	check_equal(elog_writer_sync(before, 200, NULL, 0), -ENOSPC);
	check_equal(elog_writer_retry(before), 1);
	next.continues = before;
	close(fd);
	fd = new_file();
	disk.fd = -1;
	check_equal(elog_writer_open(&writer, fd, &next), 0);
	elog_writer_close(before);
	check_equal(elog_writer_sync(writer, 200, NULL, 0), 0);
	check_equal(elog_writer_events(writer), 99);
	check_equal(elog_writer_end(writer, UINT64_MAX), 0);
	elog_writer_close(writer);
	lseek(fd, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, fd), 0);
	while (elog_reader_next(reader, &item) > 0) {
		check(item.type != ELOG_ITEM_DAMAGE);
		events += item.type == ELOG_ITEM_EVENT;
		losses += item.type == ELOG_ITEM_LOST ? item.lost[0] : 0;
	}
	check_equal(events, 99);
	check_equal(losses, 7);
	elog_reader_close(reader);
	close(fd);
}

/* The torn block remains until the disk works again, as after a remount as read-only. */
static void test_torn(void)
{
	struct elog_processes *processes = elog_processes_new_offline();
	struct eventlog_record records[EVENTS / 10];
	struct elog_writer *writer;
	uint64_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(records); i++)
		records[i] = make_record(i);
	disk.error = EIO;
	writer = open_writer(processes);
	disk.keeps_torn = true;
	disk.limit = 3000;
	check_equal(elog_writer_raw(writer, 0, 0, records, sizeof(records), 0), -EIO);
	check_equal(lseek(disk.fd, 0, SEEK_END), 3000);
	check_equal(elog_writer_retry(writer), 1);
	disk.limit = 1000000;
	check_equal(elog_writer_raw(writer, 0, 0, records, sizeof(records), 0), -EIO);
	check_equal(elog_writer_retry(writer), 1);
	disk.keeps_torn = false;
	check_equal(elog_writer_raw(writer, 0, 0, records, sizeof(records), 0), sizeof(records));
	check_equal(elog_writer_sync(writer, EVENTS, NULL, 0), 0);
	check_equal(elog_writer_end(writer, 0), 0);
	elog_writer_close(writer);
	check_file(disk.fd, ELOG_ARRAY_SIZE(records));
	close(disk.fd);
	disk.fd = -1;
	elog_processes_free(processes);
}

/* A pipe cannot be retried: what was written is gone. */
static void test_pipe(void)
{
	const struct elog_writer_options options = { .size = sizeof(options) };
	struct elog_writer *writer;
	int ends[2];

	check_equal(pipe(ends), 0);
	check_equal(elog_writer_open(&writer, ends[1], &options), 0);
	disk.fd = ends[1];
	disk.error = ENOSPC;
	disk.limit = -1;
	check_equal(elog_writer_sync(writer, 1, NULL, 0), -ENOSPC);
	check_equal(elog_writer_retry(writer), -ENOSPC);
	disk.fd = -1;
	check_equal(elog_writer_sync(writer, 1, NULL, 0), -ENOSPC);
	elog_writer_close(writer);
	close(ends[0]);
	close(ends[1]);
}

static void add_events(struct elog_writer *writer, uint64_t first, uint64_t count)
{
	struct elog_item item;
	uint64_t i;

	for (i = first; i < first + count; i++) {
		item = (struct elog_item){ .type = ELOG_ITEM_EVENT, .time = i + 1,
					   .descriptor = 1 + (uint32_t)i / 50, .session = i };
		check_equal(elog_writer_add(writer, &item), 0);
	}
}

#define REMOVED (-2)

/* How another program changes a file, and whether the capture appends. */
static const struct change {
	int flags;
	off_t size;		/* truncated to it; -1: bytes are appended; REMOVED */
	bool late;		/* right before a block is written */
	uint64_t first;		/* event that the file has then */
} changes[] = {
	{ O_APPEND, 0, false, 100 }, { 0, 0, false, 100 }, { O_APPEND, 0, true, 100 },
	{ O_APPEND, -1, false, 0 }, { 0, -1, false, 0 }, { O_APPEND, REMOVED, false, 0 },
};

/*
 * The writer does not write into a hole, nor over others' bytes, and the one that continues
 * has what it has not written.
 */
static void try_change(const struct change *change)
{
	struct elog_writer_options options = {
		.size = sizeof(options), .definition = get_definition,
	};
	char text[8] = "", path[] = "/tmp/file_full_test.XXXXXX";
	struct elog_writer *before, *writer;
	int fd = mkstemp(path);
	off_t size;

	check_equal(fcntl(fd, F_SETFL, change->flags), 0);
	check_equal(elog_writer_open(&before, fd, &options), 0);
	add_events(before, 0, 100);
	check_equal(elog_writer_sync(before, 100, NULL, 0), 0);
	add_events(before, 100, 100);
	disk.truncates = change->late;
	if (change->size >= 0 && !change->late)
		check_equal(ftruncate(fd, change->size), 0);
	size = lseek(fd, 0, SEEK_END);
	if (change->size == REMOVED)
		check_equal(unlink(path), 0);
	if (change->size == -1) {
		check_equal(pwrite(fd, "others", 6, size), 6);
		size += 6;
		lseek(fd, -6, SEEK_END);
	}
	check_equal(elog_writer_sync(before, 200, NULL, 0), -ESTALE);
	check_equal(elog_writer_retry(before), -ESTALE);
	check_equal(lseek(fd, 0, SEEK_END), change->late ? 0 : size);
	if (change->size == -1) {
		check_equal(pread(fd, text, 6, size - 6), 6);
		check(!strcmp(text, "others"));
		/* A reader skips them as damage. */
		check_equal(ftruncate(fd, size - 6), 0);
		lseek(fd, 0, SEEK_END);
	}
	options.continues = before;
	check_equal(elog_writer_open(&writer, fd, &options), 0);
	elog_writer_close(before);
	check_equal(elog_writer_sync(writer, 200, NULL, 0), 0);
	check_equal(elog_writer_end(writer, 0), 0);
	elog_writer_close(writer);
	/* A part that was cut off has no END. */
	check_events(fd, change->first, 200, change->size >= 0);
	close(fd);
	if (change->size != REMOVED)
		unlink(path);
}

static void test_changed(void)
{
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(changes); i++)
		try_change(&changes[i]);
}

/* As with a seccomp profile that is older than statx(2). */
static void test_sandbox(void)
{
	disk.is_sandbox = true;
	test_changed();
	disk.is_sandbox = false;
}

int main(void)
{
	static const struct test tests[] = {
		{ "a disk that fails now and then: records of rings", test_ring },
		{ "the same, compressed", test_ring_compressed },
		{ "the same: single events", test_items },
		{ "the same, compressed", test_items_compressed },
		{ "a block that does not fit is shortened", test_shortened },
		{ "the memory for events that wait is limited", test_memory },
		{ "the next file has what does not fit", test_carried },
		{ "a torn block that cannot be removed yet", test_torn },
		{ "a pipe is not retried", test_pipe },
		{ "a file that another program changes", test_changed },
		{ "the same, in a sandbox that denies statx", test_sandbox },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
