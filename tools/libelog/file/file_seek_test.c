// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of reading .elog files from a time on: no item is missing that a full read
 * finds, even in damaged files. They need no kernel module. Prints TAP.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "file/file_source.h"
#include "unexported/reader.h"

#define TIMES	60

static bool same(const struct seen *one, const struct seen *other)
{
	return one->wall == other->wall && one->number == other->number &&
	       one->cpu == other->cpu && one->loss == other->loss;
}

/* Items before @from are optional. Return: true if all others are the same. */
static bool same_from(const struct sequence *all, const struct sequence *some,
		      int64_t from)
{
	size_t i, j = 0;

	for (i = 0; i < all->count; i++) {
		if (all->seen[i].wall < from)
			continue;
		while (j < some->count && some->seen[j].wall < from)
			j++;
		if (j == some->count || !same(&all->seen[i], &some->seen[j++]))
			return false;
	}
	while (j < some->count && some->seen[j].wall < from)
		j++;
	return j == some->count;
}

/* A time near that of some item in the file. */
static int64_t some_time(const struct sequence *all)
{
	size_t at = random_number(all->count);

	return all->seen[at].wall + (int64_t)(random_number(2) * tick *
					      random_number(21)) - 10;
}

struct totals {
	uint64_t read;		/* bytes read by all seeks */
	uint64_t least;		/* minimum of one seek */
	uint64_t size;		/* bytes of as many full reads */
};

/* Seek to many times. A seek must not report damage in an intact file. */
static void check_seeks(int fd, unsigned int times, struct totals *totals)
{
	struct sequence all, some;
	unsigned int i;
	int64_t from;

	memset(totals, 0, sizeof(*totals));
	lseek(fd, 0, SEEK_SET);
	read_sequence(fd, 0, &all);
	check(all.count > 0);
	totals->least = UINT64_MAX;
	for (i = 0; all.count && i < times + 2; i++) {
		from = i == 0 ? all.seen[all.count - 1].wall :
		       i == 1 ? all.seen[all.count - 1].wall + 1000000 :
				some_time(&all);
		lseek(fd, 0, SEEK_SET);
		read_sequence(fd, (uint64_t)from, &some);
		check(same_from(&all, &some, from));
		check(some.damages <= all.damages);
		check(some.unnamed <= all.unnamed);
		totals->read += some.bytes_read;
		totals->size += all.bytes_read;
		if (some.bytes_read < totals->least)
			totals->least = some.bytes_read;
		free(some.seen);
	}
	free(all.seen);
}

static int indexed_file(unsigned int events, unsigned int parts, bool end)
{
	struct source source;
	unsigned int part;
	int fd = new_file();

	interval = 3000;
	for (part = 1; part <= parts; part++) {
		write_part(&source, fd, events, 1024 * part, end || part < parts);
		first_time += 3 * events + 10;
	}
	interval = 0;
	first_time = 1000;
	return fd;
}

static void check_shape(unsigned int events, unsigned int parts, bool end)
{
	int fd = indexed_file(events, parts, end);
	struct totals totals;

	check_seeks(fd, TIMES, &totals);
	/* Without END blocks all headers are read, and blocks are small here. */
	if (end) {
		check(totals.read < totals.size * 4 / 5);
		check(totals.least < totals.size / (TIMES + 2) / 4);
	} else {
		check(totals.read < totals.size * 7 / 4);
	}
	close(fd);
}

static void test_whole(void)
{
	check_shape(3000, 1, true);
	check_shape(1000, 3, true);
	/* Too small for an index, but with END blocks. */
	interval = 1 << 20;
	check_shape(30, 40, true);
}

static void test_without_end(void)
{
	check_shape(3000, 1, false);
	check_shape(1000, 3, false);
}

static void test_compressed(void)
{
	struct elog_compressor *compressor;

	if (!elog_compressor_new(&compressor, 1)) {
		elog_compressor_free(compressor);
		compression = 1;
	}
	check_shape(3000, 1, true);
	check_shape(1000, 2, false);
	compression = 0;
}

/* Files of megabytes, like captures: a seek reads little. */
static void test_large(void)
{
	struct totals totals;
	struct source source;
	int fd = new_file();

	write_part(&source, fd, 60000, 0, true);
	check_seeks(fd, 3, &totals);
	check(totals.size / 5 > 8 << 20);
	/* The data since a checkpoint, one per MiB, and what the search read. */
	check(totals.least < (1 << 20) + (64 << 10));
	close(fd);
}

/* Blocks as large as in captures, in a truncated file. */
static void test_large_blocks(void)
{
	enum { BLOCKS = 300, BYTES = 128 << 10 };
	const struct elog_writer_options options = { .size = sizeof(options) };
	struct eventlog_record record = { .size_flags = BYTES / 4 };
	unsigned char *data = calloc(1, BYTES);
	uint64_t block, i, events = 0, done, total;
	struct elog_writer *writer;
	struct elog_reader *reader;
	struct elog_item item;
	int fd = new_file();
	int64_t from = 0;

	check_equal(elog_writer_open(&writer, fd, &options), 0);
	for (block = 0; block < BLOCKS; block++) {
		for (i = 0; i < 4; i++) {
			record.time = (4 * block + i + 1) * 1000000;
			memcpy(data + i * (BYTES / 4), &record, sizeof(record));
		}
		check_equal(store_records(writer, 0, 0, data, BYTES,
						block * BYTES), 0);
		check_equal(elog_writer_sync(writer, record.time + 1, NULL, 0),
			    0);
	}
	elog_writer_close(writer);
	free(data);
	lseek(fd, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, fd), 0);
	while (elog_reader_next(reader, &item) > 0)
		if (item.time == 1100 * 1000000)
			from = (int64_t)item.time + elog_reader_wall_offset(reader);
	elog_reader_close(reader);
	lseek(fd, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, fd), 0);
	check_equal(elog_reader_seek(reader, (uint64_t)from), 0);
	check_equal(elog_reader_progress(reader, &done, &total), 0);
	/* A small read for each header. */
	check(done < 2 * BLOCKS * 5000);
	while (elog_reader_next(reader, &item) > 0)
		events += item.type == ELOG_ITEM_EVENT &&
			  (int64_t)item.time + elog_reader_wall_offset(reader) >= from;
	check_equal(events, 101);
	check_equal(elog_reader_progress(reader, &done, &total), 0);
	check_equal(done, total);
	check(done < BLOCKS * BYTES / 4);
	elog_reader_close(reader);
	close(fd);
}

static void test_cut(void)
{
	int fd = indexed_file(300, 2, true), copy = new_file();
	struct totals totals;
	unsigned char *bytes;
	size_t size, cut;

	bytes = load(fd, &size);
	for (cut = 2000; cut < size; cut += 1 + random_number(60)) {
		store(copy, bytes, cut);
		check_seeks(copy, 2, &totals);
	}
	free(bytes);
	close(copy);
	close(fd);
}

/*
 * Damaged bytes: a seek finds everything that a full read finds. If a schema or an
 * INDEX is damaged, it reads more. A full read may report damage in data that the seek
 * skips and start a new part after it; the seek must not find less.
 */
static void test_damaged(void)
{
	int fd = indexed_file(400, 2, true), copy = new_file();
	struct totals totals;
	unsigned char *bytes, *damaged;
	size_t size, i, count, at;

	bytes = load(fd, &size);
	damaged = malloc(size);
	for (i = 0; i < 1500; i++) {
		memcpy(damaged, bytes, size);
		for (count = 1 + random_number(3); count; count--) {
			at = random_number(size);
			damaged[at] ^= (unsigned char)(1 + random_number(255));
		}
		store(copy, damaged, size);
		check_seeks(copy, 2, &totals);
	}
	free(damaged);
	free(bytes);
	close(copy);
	close(fd);
}

/* Change every byte of the indexes, with valid checksums. */
static void test_wrong_index(void)
{
	int fd = indexed_file(600, 2, true), copy = new_file();
	unsigned char *bytes, *wrong;
	struct elog_block_header header;
	unsigned int indexes = 0;
	struct totals totals;
	size_t size, at, i, believed, end;

	bytes = load(fd, &size);
	wrong = malloc(size);
	for (at = 0; at < size; at += block_size(bytes + at)) {
		memcpy(&header, bytes + at, sizeof(header));
		if (le32toh(header.type) == ELOG_BLOCK_INDEX) {
			believed = offsetof(struct elog_block_index, latest);
			/* Counts of losses are trusted too. */
			end = sizeof(struct elog_block_index);
			indexes++;
		} else if (le32toh(header.type) == ELOG_BLOCK_END) {
			believed = offsetof(struct elog_block_end, latest);
			end = sizeof(struct elog_block_end);
		} else {
			continue;
		}
		for (i = 8; i < sizeof(header) + end; i++) {
			if (i >= sizeof(header) + believed &&
			    i < sizeof(header) + believed + 8)
				continue;
			memcpy(wrong, bytes, size);
			wrong[at + i] ^= (unsigned char)(1 + random_number(255));
			if (i >= sizeof(header))
				seal(wrong + at);
			store(copy, wrong, size);
			check_seeks(copy, 1, &totals);
		}
	}
	check(indexes > 4);
	free(wrong);
	free(bytes);
	close(copy);
	close(fd);
}

/* The file starts in the middle of another file. */
static void test_elsewhere(void)
{
	int fd = indexed_file(500, 1, true), other = new_file(), ends[2], status;
	struct elog_reader *reader;
	struct sequence all, some;
	struct elog_item item;
	struct source source;
	uint64_t from;
	unsigned char *bytes;
	size_t size;
	pid_t child;

	bytes = load(fd, &size);
	check_equal(write(other, "prologue", 8), 8);
	check_equal(write(other, bytes, size), size);
	lseek(fd, 0, SEEK_SET);
	read_sequence(fd, 0, &all);
	from = (uint64_t)all.seen[all.count * 3 / 4].wall;
	lseek(other, 8, SEEK_SET);
	read_sequence(other, from, &some);
	check(same_from(&all, &some, (int64_t)from));
	check(some.bytes_read < size / 2);
	check_equal(some.damages, 0);
	free(some.seen);
	lseek(other, 4, SEEK_SET);
	read_sequence(other, from, &some);
	check(same_from(&all, &some, (int64_t)from));
	check_equal(some.count, all.count);
	free(some.seen);
	free(all.seen);

	store(other, "no file", 7);
	check_equal(elog_reader_open(&reader, other), 0);
	check_equal(elog_reader_seek(reader, 1), 0);
	check_equal(elog_reader_next(reader, &item), -EBADMSG);
	check_equal(elog_reader_seek(reader, 1), -EINVAL);
	elog_reader_close(reader);

	/* A pipe is read from the beginning. */
	check_equal(pipe(ends), 0);
	fflush(stdout);
	child = fork();
	if (!child) {
		close(ends[0]);
		interval = 3000;
		write_part(&source, ends[1], 500, 0, true);
		_exit(failures != 0);
	}
	close(ends[1]);
	read_sequence(ends[0], UINT64_MAX, &some);
	check(some.count >= 500);
	check_equal(some.damages, 0);
	close(ends[0]);
	check_equal(waitpid(child, &status, 0), child);
	check_equal(status, 0);
	free(some.seen);
	free(bytes);
	close(other);
	close(fd);
}

int main(void)
{
	static const struct test tests[] = {
		{ "a seek finds everything from its time on", test_whole },
		{ "a file without END: truncated or still growing", test_without_end },
		{ "a compressed file", test_compressed },
		{ "a seek reads little of a large file", test_large },
		{ "a seek skips the bodies of large blocks", test_large_blocks },
		{ "a file truncated anywhere", test_cut },
		{ "a file with damaged bytes", test_damaged },
		{ "a file with a wrong index", test_wrong_index },
		{ "a file within another file, and pipes", test_elsewhere },
	};

	/* SYNC blocks hold clocks that are read one after the other, so let time pass. */
	tick = 1000000;
	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
