// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of other uses of .elog files: reading several as one, reading a file that is
 * still written, progress, and the lifetime of descriptions. They need no kernel
 * module. Prints TAP.
 */
#include <fcntl.h>

#include "file/file_source.h"
#include "unexported/reader.h"
#include "unexported/writer.h"

#define FILES	4

/* Open the file again, with a position of its own. */
static int reopen(int fd)
{
	char path[32];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	check(again >= 0);
	return again;
}

/* Set the file's boot id. */
static void set_boot(int fd, char boot)
{
	unsigned char *bytes, *id;
	size_t size;

	bytes = load(fd, &size);
	id = memmem(bytes, block_size(bytes), "boot_id ", 8);
	check(id != NULL);
	if (id) {
		id[8] = (unsigned char)boot;
		seal(bytes);
		store(fd, bytes, size);
	}
	free(bytes);
}

/* Set the time of day at each SYNC; add @more from one on. */
static void set_clocks(int fd, uint64_t offset, unsigned int from, uint64_t more)
{
	struct elog_block_header header;
	struct elog_block_sync sync;
	unsigned int count = 0;
	unsigned char *bytes;
	size_t size, at;

	bytes = load(fd, &size);
	for (at = 0; at < size; at += block_size(bytes + at)) {
		memcpy(&header, bytes + at, sizeof(header));
		if (le32toh(header.type) != ELOG_BLOCK_SYNC)
			continue;
		memcpy(&sync, bytes + at + sizeof(header), sizeof(sync));
		if (++count == from)
			offset += more;
		sync.realtime = htole64(le64toh(sync.monotonic) + offset);
		memcpy(bytes + at + sizeof(header), &sync, sizeof(sync));
		seal(bytes + at);
	}
	check(count > from);
	store(fd, bytes, size);
	free(bytes);
}

/* Slow reference for the merge: compare all. */
static size_t next_of(struct sequence *files, size_t count)
{
	size_t best = count, i;

	for (i = 0; i < count; i++) {
		if (files[i].next == files[i].count)
			continue;
		if (best == count || files[i].seen[files[i].next].wall <
				     files[best].seen[files[best].next].wall)
			best = i;
	}
	return best;
}

static void test_set(void)
{
	struct elog_reader *readers[FILES], *reader, *broken;
	struct sequence files[FILES], merged = { 0 };
	struct source source;
	struct elog_reader_set *set;
	struct elog_item item;
	unsigned int errors = 0, parts = 0, syncs = 0;
	size_t i, from;
	int fds[FILES], garbage = new_file(), ret;

	check_equal(write(garbage, "no file", 7), 7);
	lseek(garbage, 0, SEEK_SET);
	check_equal(elog_reader_set_open(&set), 0);
	for (i = 0; i < FILES; i++) {
		fds[i] = new_file();
		write_part(&source, fds[i], 400 + 200 * (unsigned int)i, 0, true);
		/* Equal times, later times, and clocks that are set forward and back. */
		set_clocks(fds[i], i < 2 ? 5000 : 4000 + 700 * i, 5,
			   i == 2 ? 3000000 : i == 3 ? (uint64_t)-2500000 : 0);
		set_boot(fds[i], (char)('w' + i));
		read_sequence(fds[i], 0, &files[i]);
		lseek(fds[i], 0, SEEK_SET);
		if (i == 2)
			check_equal(elog_reader_set_add(set, garbage, &broken), 0);
		check_equal(elog_reader_set_add(set, fds[i], &readers[i]), 0);
	}
	while ((ret = elog_reader_set_next(set, &item, &reader))) {
		if (ret < 0) {
			check_equal(ret, -EBADMSG);
			check(reader == broken);
			if (++errors > 1)
				break;
			continue;
		}
		parts += item.type == ELOG_ITEM_PART;
		syncs += item.type == ELOG_ITEM_SYNC;
		check(item.type != ELOG_ITEM_DAMAGE);
		if (item.type != ELOG_ITEM_EVENT && item.type != ELOG_ITEM_LOST)
			continue;
		see(&merged, &item, reader);
		from = next_of(files, FILES);
		if (from == FILES) {
			fail(__FILE__, __LINE__, "read more than was written");
			break;
		}
		check(reader == readers[from]);
		check(!memcmp(&merged.seen[merged.count - 1],
			      &files[from].seen[files[from].next++],
			      sizeof(struct seen)));
	}
	check_equal(next_of(files, FILES), FILES);
	check_equal(errors, 1);
	check_equal(parts, FILES);
	check(syncs > 10 * FILES);
	check(!reader);
	check_equal(elog_reader_set_next(set, &item, &reader), 0);
	elog_reader_set_close(set);
	elog_reader_set_close(NULL);
	for (i = 0; i < FILES; i++) {
		free(files[i].seen);
		close(fds[i]);
	}
	free(merged.seen);
	close(garbage);
}

/* A file with one event, of this CPU and of the stream of this number. */
static int write_event(unsigned int cpu, uint32_t stream, uint32_t flags)
{
	const struct elog_writer_options options = { .size = sizeof(options) };
	const struct elog_item item = {
		.type = ELOG_ITEM_EVENT, .time = 1000, .cpu = cpu, .stream = stream,
		.flags = flags,
	};
	struct elog_writer *writer = NULL;
	int fd = new_file();

	check_equal(elog_writer_open(&writer, fd, &options), 0);
	check_equal(elog_writer_add(writer, &item), 0);
	check_equal(elog_writer_sync(writer, 2000, NULL, 0), 0);
	check_equal(elog_writer_end(writer, 0), 0);
	elog_writer_close(writer);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* At equal times, what has no CPU is first: it is from a producer ring, as its flags say. */
static void test_set_equal(void)
{
	const uint32_t flags = EVENTLOG_RECORD_FLAG_MAPPED | EVENTLOG_RECORD_FLAG_ADJUSTED;
	const int fds[] = {
		write_event(0, 0, 0), write_event(EVENTLOG_CPU_UNKNOWN, 4, ~0U),
		write_event(EVENTLOG_CPU_UNKNOWN, 3, EVENTLOG_RECORD_FLAG_MAPPED),
	};
	static const uint32_t streams[] = { 4, 3, 0 };
	struct elog_reader *reader;
	struct elog_reader_set *set;
	struct elog_item item;
	size_t i, count = 0;

	check_equal(elog_reader_set_open(&set), 0);
	for (i = 0; i < ELOG_ARRAY_SIZE(fds); i++)
		check_equal(elog_reader_set_add(set, fds[i], &reader), 0);
	while (elog_reader_set_next(set, &item, &reader) == 1) {
		if (item.type != ELOG_ITEM_EVENT || count == ELOG_ARRAY_SIZE(streams))
			continue;
		check_equal(item.stream, streams[count]);
		check_equal(item.flags, count == 0 ? flags :
			    count == 1 ? EVENTLOG_RECORD_FLAG_MAPPED : 0);
		count++;
	}
	check_equal(count, ELOG_ARRAY_SIZE(streams));
	elog_reader_set_close(set);
	for (i = 0; i < ELOG_ARRAY_SIZE(fds); i++)
		close(fds[i]);
}

/*
 * Files of one boot are ordered by its clock; their times of day differ a little, or are
 * set in between.
 */
static void test_set_boot(void)
{
	static const uint64_t more[] = { 0, 700, (uint64_t)-900, 3000000000 };
	struct elog_reader *reader;
	struct source source;
	struct elog_reader_set *set;
	struct elog_item item;
	uint64_t last = 0, events = 0;
	int fds[FILES], ret;
	size_t i;

	check_equal(elog_reader_set_open(&set), 0);
	for (i = 0; i < FILES; i++) {
		fds[i] = new_file();
		write_part(&source, fds[i], 500, 0, true);
		set_clocks(fds[i], 5000000 + 400 * i, 5, more[i]);
		lseek(fds[i], 0, SEEK_SET);
		check_equal(elog_reader_set_add(set, fds[i], &reader), 0);
	}
	while ((ret = elog_reader_set_next(set, &item, &reader)) == 1) {
		if (item.type != ELOG_ITEM_EVENT)
			continue;
		check(item.time >= last);
		last = item.time;
		events++;
	}
	check_equal(ret, 0);
	check(events > 1000);
	elog_reader_set_close(set);
	for (i = 0; i < FILES; i++)
		close(fds[i]);
}

/* Returns the bytes of a file, a few at a time, and says between them that there are none. */
struct trickle {
	int fd;
	bool pause;
};

static ssize_t trickle_read(void *context, void *data, size_t size)
{
	struct trickle *trickle = context;

	trickle->pause = !trickle->pause;
	return trickle->pause ? -EAGAIN : read(trickle->fd, data, size < 100 ? size : 100);
}

static void test_set_callback(void)
{
	struct elog_reader_callback callback = { .read = trickle_read };
	struct trickle trickles[FILES] = { 0 };
	struct elog_reader *reader;
	struct elog_reader_set *set;
	uint64_t expected = 0, events = 0;
	struct source source;
	struct elog_item item;
	int ret = 0;
	size_t i;

	check_equal(elog_reader_set_open(&set), 0);
	for (i = 0; i < FILES; i++) {
		trickles[i].fd = new_file();
		write_part(&source, trickles[i].fd, 100, 0, true);
		expected += source.events;
		lseek(trickles[i].fd, 0, SEEK_SET);
		callback.context = &trickles[i];
		check_equal(elog_reader_set_add_callback(set, &callback, &reader), 0);
		check_equal(elog_reader_seek(reader, 5), 0);
	}
	while ((ret = elog_reader_set_next(set, &item, &reader)) == 1 || ret == -EAGAIN) {
		if (ret == 1)
			check(item.type != ELOG_ITEM_DAMAGE);
		events += ret == 1 && item.type == ELOG_ITEM_EVENT;
	}
	check_equal(ret, 0);
	check_equal(events, expected);
	elog_reader_set_close(set);
	for (i = 0; i < FILES; i++)
		close(trickles[i].fd);
}

/* A callback's error is the reader's. */
static ssize_t failing_read(void *context, void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return -EIO;
}

static void test_callback_error(void)
{
	const struct elog_reader_callback callback = { .read = failing_read };
	struct elog_reader *reader;
	struct elog_item item;
	uint64_t done, total;

	check_equal(elog_reader_open_callback(&reader, &callback), 0);
	check_equal(elog_reader_progress(reader, &done, &total), 0);
	check_equal(elog_reader_next(reader, &item), -EIO);
	check_equal(elog_reader_next(reader, &item), -EIO);
	elog_reader_close(reader);
}

/* One file grows, one is complete: neither blocks the other forever. */
static void test_set_follow(void)
{
	struct elog_reader *followed, *whole, *reader;
	uint64_t of_followed = 0, of_whole = 0;
	struct elog_reader_set *set;
	struct elog_item item;
	struct source source;
	unsigned char *bytes;
	int fd = new_file(), other = new_file(), again, ret, empty = 0;
	size_t size, half;

	write_part(&source, fd, 300, 0, true);
	bytes = load(fd, &size);
	half = size / 2;
	check_equal(ftruncate(fd, (off_t)half), 0);
	write_part(&source, other, 300, 0, true);
	lseek(other, 0, SEEK_SET);
	again = reopen(fd);
	check_equal(elog_reader_set_open(&set), 0);
	check_equal(elog_reader_set_add(set, again, &followed), 0);
	check_equal(elog_reader_set_add(set, other, &whole), 0);
	check_equal(elog_reader_follow(followed, true), 0);
	while ((ret = elog_reader_set_next(set, &item, &reader))) {
		if (ret == -EAGAIN) {
			check(!reader);
			check_equal(of_whole, 300);
			empty++;
			if (empty == 2)
				check_equal(pwrite(fd, bytes + half, size - half,
						   (off_t)half), size - half);
			if (empty == 4)
				check_equal(elog_reader_follow(followed, false), 0);
			if (empty > 4)
				break;
			continue;
		}
		check_equal(ret, 1);
		check(item.type != ELOG_ITEM_DAMAGE);
		if (item.type == ELOG_ITEM_EVENT)
			*(reader == whole ? &of_whole : &of_followed) += 1;
	}
	check_equal(ret, 0);
	check_equal(empty, 4);
	check_equal(of_followed, 300);
	elog_reader_set_close(set);
	free(bytes);
	close(again);
	close(other);
	close(fd);
}

/* The file grows by this many bytes at a time; all events are read in the end. */
static void follow_by(size_t step)
{
	struct elog_reader *reader;
	uint64_t events = 0, parts = 0, least;
	struct source source;
	struct elog_item item;
	size_t size, at, more, block;
	unsigned char *bytes;
	int fd = new_file(), again, ret;

	write_part(&source, fd, 200, 0, true);
	bytes = load(fd, &size);
	check_equal(ftruncate(fd, 0), 0);
	again = reopen(fd);
	check_equal(elog_reader_open(&reader, again), 0);
	check_equal(elog_reader_follow(reader, true), 0);
	check_equal(elog_reader_next(reader, &item), -EAGAIN);
	for (at = 0; at < size; at += more) {
		more = step < size - at ? step : size - at;
		check_equal(pwrite(fd, bytes + at, more, (off_t)at), more);
		while ((ret = elog_reader_next(reader, &item)) > 0) {
			events += item.type == ELOG_ITEM_EVENT;
			parts += item.type == ELOG_ITEM_PART;
			check(item.type != ELOG_ITEM_DAMAGE);
			if (item.type == ELOG_ITEM_EVENT)
				check(is_right(&item));
		}
		check_equal(ret, -EAGAIN);
		/* Events up to a SYNC are not delayed. */
		for (least = 0, block = 0; block < source.blocks; block++)
			if (source.block[block].end <= at + more &&
			    block + 1 < source.blocks &&
			    source.block[block].stored > 20)
				least = source.block[block].stored - 20;
		check(events >= least);
	}
	check_equal(events, 200);
	check_equal(parts, 1);
	check_equal(elog_reader_follow(reader, false), 0);
	check_equal(elog_reader_next(reader, &item), 0);
	check_equal(elog_reader_follow(reader, true), -EINVAL);
	check_equal(elog_reader_next(reader, &item), 0);
	elog_reader_close(reader);
	free(bytes);
	close(again);
	close(fd);
}

static void test_follow(void)
{
	static const size_t steps[] = { 1, 7, 33, 500, 100000 };
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(steps); i++)
		follow_by(steps[i]);
}

/* Damage is reported when a whole block follows it, or at the end. */
static void test_follow_damage(void)
{
	struct elog_reader *reader;
	struct source source;
	struct elog_item item;
	unsigned char *bytes;
	int fd = new_file(), again;
	size_t size, last;

	write_part(&source, fd, 20, 0, true);
	bytes = load(fd, &size);
	for (last = 0; last + block_size(bytes + last) < size;)
		last += block_size(bytes + last);
	again = reopen(fd);
	check_equal(ftruncate(fd, (off_t)size - 10), 0);
	check_equal(elog_reader_open(&reader, again), 0);
	check_equal(elog_reader_follow(reader, true), 0);
	while (elog_reader_next(reader, &item) > 0)
		check(item.type != ELOG_ITEM_DAMAGE);
	check_equal(elog_reader_next(reader, &item), -EAGAIN);
	check_equal(elog_reader_follow(reader, false), 0);
	check_equal(elog_reader_next(reader, &item), 1);
	check_equal(item.type, ELOG_ITEM_DAMAGE);
	check_equal(item.damage, ELOG_DAMAGE_CUT);
	check_equal(item.size, size - 10 - last);
	check_equal(elog_reader_next(reader, &item), 0);
	elog_reader_close(reader);
	free(bytes);
	close(again);
	close(fd);
}

/* A capture was killed within a block, and the next one appends less than is missing. */
static void test_follow_torn(void)
{
	const struct elog_writer_options options = { .size = sizeof(options) };
	static char text[100000];
	struct elog_reader *reader;
	struct elog_writer *writer;
	size_t size, small, last;
	uint64_t events = 0, damage = 0;
	struct source source;
	struct elog_item item;
	unsigned char *bytes, *more;
	int fd = new_file(), again, ret;

	write_part(&source, fd, 20, 0, true);
	more = load(fd, &small);
	check_equal(ftruncate(fd, 0), 0);
	lseek(fd, 0, SEEK_SET);
	memset(text, '#', sizeof(text) - 1);
	check_equal(elog_writer_open(&writer, fd, &options), 0);
	last = (size_t)elog_writer_size(writer);
	check_equal(elog_writer_schema(writer, 1, 1, text), 0);
	elog_writer_close(writer);
	bytes = load(fd, &size);
	check(small < size - last - 50);
	check_equal(ftruncate(fd, (off_t)last + 50), 0);

	again = reopen(fd);
	check_equal(elog_reader_open(&reader, again), 0);
	check_equal(elog_reader_follow(reader, true), 0);
	while ((ret = elog_reader_next(reader, &item)) > 0)
		check(item.type == ELOG_ITEM_PART);
	check_equal(ret, -EAGAIN);
	check_equal(pwrite(fd, more, small, (off_t)last + 50), small);
	/* At first the new bytes could belong to the torn block. */
	check_equal(elog_reader_next(reader, &item), -EAGAIN);
	while (events < 20 && (ret > 0 || ret == -EAGAIN)) {
		ret = elog_reader_next(reader, &item);
		if (ret == -EAGAIN)
			usleep(10000);
		else if (item.type == ELOG_ITEM_DAMAGE && item.damage == ELOG_DAMAGE_BYTES)
			damage += item.size;
		else
			events += item.type == ELOG_ITEM_EVENT;
	}
	check_equal(events, 20);
	check_equal(damage, 50);
	check_equal(elog_reader_follow(reader, false), 0);
	while ((ret = elog_reader_next(reader, &item)) > 0)
		check(item.type != ELOG_ITEM_EVENT);
	check_equal(ret, 0);
	elog_reader_close(reader);
	free(bytes);
	free(more);
	close(again);
	close(fd);
}

static void test_progress(void)
{
	struct elog_reader *reader;
	uint64_t done, total, before = 0;
	struct source source;
	struct elog_item item;
	int fd = new_file(), ends[2];
	off_t size;

	write_part(&source, fd, 2000, 0, true);
	size = lseek(fd, 0, SEEK_END);
	lseek(fd, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, fd), 0);
	check_equal(elog_reader_progress(reader, &done, &total), 0);
	check_equal(done, 0);
	check_equal(total, size);
	while (elog_reader_next(reader, &item) > 0) {
		check_equal(elog_reader_progress(reader, &done, &total), 0);
		check(done >= before && done <= total);
		check_equal(total, size);
		before = done;
	}
	check_equal(done, size);
	check_equal(elog_reader_seek(reader, 0), -EINVAL);
	elog_reader_close(reader);
	close(fd);
	check_equal(pipe2(ends, O_CLOEXEC), 0);
	check_equal(elog_reader_open(&reader, ends[0]), 0);
	check_equal(elog_reader_progress(reader, &done, &total), 0);
	check_equal(total, 0);
	elog_reader_close(reader);
	close(ends[0]);
	check_equal(elog_reader_open(&reader, ends[0]), 0);
	check_equal(elog_reader_progress(reader, &done, &total), -EBADF);
	elog_reader_close(reader);
	close(ends[1]);
}

/* Descriptions stay valid in a generation; a new part, or too many, start the next one. */
static void test_generation(void)
{
	enum { EVENTS = 20000 };
	static const struct elog_schema_event *events[EVENTS + 1];
	const struct elog_writer_options options = { .size = sizeof(options) };
	const struct elog_schema_event *event;
	struct elog_reader *reader;
	struct elog_writer *writer;
	uint64_t generation, parts = 0, changes = 0;
	uint32_t i, kept_from;
	struct elog_item item;
	char text[200];
	int fd = new_file(), part;

	for (part = 0; part < 2; part++) {
		check_equal(elog_writer_open(&writer, fd, &options), 0);
		for (i = 1; i <= EVENTS; i++) {
			snprintf(text, sizeof(text), "eventlog 1\nprovider p%d\n"
				 "event 1 e%u info -\n\tu32 number\n", part, i);
			check_equal(elog_writer_schema(writer, i, 1, text), 0);
		}
		check_equal(elog_writer_sync(writer, 1, NULL, 0), 0);
		check_equal(elog_writer_end(writer, 0), 0);
		elog_writer_close(writer);
	}
	lseek(fd, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, fd), 0);
	generation = elog_reader_generation(reader);
	while (elog_reader_next(reader, &item) > 0) {
		if (item.type == ELOG_ITEM_PART) {
			check(elog_reader_generation(reader) != generation);
			parts++;
		}
		generation = elog_reader_generation(reader);
		if (item.type != ELOG_ITEM_SYNC)
			continue;
		for (i = 1, kept_from = 1; i <= EVENTS; i++) {
			check_equal(elog_reader_describe(reader, i, &events[i]), 0);
			if (elog_reader_generation(reader) == generation)
				continue;
			generation = elog_reader_generation(reader);
			kept_from = i;
			changes++;
		}
		for (i = kept_from; i <= EVENTS; i++) {
			snprintf(text, sizeof(text), "e%u", i);
			check_string(events[i]->name, text);
			check_equal(elog_reader_describe(reader, i, &event), 0);
			check(event == events[i]);
		}
		check_equal(elog_reader_generation(reader), generation);
	}
	check_equal(parts, 2);
	check(changes >= 2);
	elog_reader_close(reader);
	close(fd);
}

int main(void)
{
	static const struct test tests[] = {
		{ "several files in the order of the time of day", test_set },
		{ "files of one boot in the order of its clock", test_set_boot },
		{ "files of events with equal times", test_set_equal },
		{ "a growing file among others", test_set_follow },
		{ "what functions return, with pauses", test_set_callback },
		{ "a function that fails", test_callback_error },
		{ "a growing file is read up to its last whole block", test_follow },
		{ "damage is reported when nothing follows", test_follow_damage },
		{ "a torn block before another part is not waited for",
		  test_follow_torn },
		{ "progress", test_progress },
		{ "descriptions are valid for a generation", test_generation },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
