// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of .elog files that need no kernel module: records from simulated rings are
 * read back in order, and reading any other file terminates and returns no record that
 * was not written. Prints TAP. Sanitizers find more errors.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "file/file_source.h"
#include "unexported/writer.h"

/* How many random files each test reads: ELOG_RANDOM_FILES, or few. */
static size_t random_files(void)
{
	const char *given = getenv("ELOG_RANDOM_FILES");

	return given ? strtoul(given, NULL, 10) : 20000;
}

static void test_crc(void)
{
	unsigned char zeroes[32] = { 0 }, bytes[600];
	size_t from, size, i;

	check_equal(elog_crc32c(0, "123456789", 9), 0xe3069283);
	check_equal(elog_crc32c_tables(0, "123456789", 9), 0xe3069283);
	/* RFC 3720, B.4 */
	check_equal(elog_crc32c(0, zeroes, 32), 0x8a9136aa);
	check_equal(elog_crc32c_tables(0, zeroes, 32), 0x8a9136aa);
	check_equal(elog_crc32c(0, "", 0), 0);
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)random_number(256);
	for (i = 0; i < 2000; i++) {
		from = random_number(sizeof(bytes));
		size = random_number(sizeof(bytes) - from + 1);
		check_equal(elog_crc32c(0, bytes + from, size),
			    elog_crc32c_tables(0, bytes + from, size));
		check_equal(elog_crc32c(elog_crc32c(0, bytes, from), bytes + from,
					size),
			    elog_crc32c_tables(0, bytes, from + size));
	}
}

static void test_span(void)
{
	struct source source;
	struct elog_ring_reader *ring = &source.rings[0];
	unsigned char payload[152] = { 0 };
	int fd = new_file();

	open_source(&source, fd, 1024);
	check_equal(elog_ring_span(ring), 0);
	put_record(&source, 0, EVENTLOG_RECORD_EVENT, payload, 152);
	put_record(&source, 0, EVENTLOG_RECORD_EVENT, payload, 152);
	check_equal(elog_ring_span(ring), 368);
	ring->end = ring->position + 1024 + 184;
	check_equal(elog_ring_span(ring), 1024);
	ring->end = ring->position + RING_BYTES + 8;
	check_equal(elog_ring_span(ring), -EBADMSG);
	ring->end = ring->position + 12;
	check_equal(elog_ring_span(ring), -EBADMSG);
	close_source(&source, false);
	close(fd);
}

static void test_round_trip(void)
{
	static const uint64_t positions[] = { 0, 1024, 0xffffff00, 1ULL << 40 };
	const struct elog_schema_event *event = NULL;
	const char *text = "";
	struct elog_reader *reader;
	struct source source;
	struct elog_item item;
	struct result result;
	size_t i;
	int fd;

	for (i = 0; i < ELOG_ARRAY_SIZE(positions); i++) {
		fd = new_file();
		write_part(&source, fd, 1000, positions[i], true);
		lseek(fd, 0, SEEK_SET);
		read_all(fd, &result);
		check_whole(&result, 1000);
		check_equal(result.parts, 1);
		check_equal(result.lost, 15);
		close(fd);
	}

	fd = new_file();
	write_part(&source, fd, 10, 0, true);
	lseek(fd, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, fd), 0);
	memset(&item, 0xff, sizeof(item));
	check_equal(elog_reader_next(reader, &item), 1);
	check_equal(item.type, ELOG_ITEM_PART);
	for (i = 0; i < ELOG_ARRAY_SIZE(item.reserved); i++)
		check_equal(item.reserved[i], 0);
	check_string(elog_reader_info(reader, "version"), "2");
	check_string(elog_reader_info(reader, "elog"), "test 1");
	check_string(elog_reader_info(reader, "command"), "make it up");
	check_string(elog_reader_info(reader, "cpus"), "3");
	check(!elog_reader_info(reader, "cpu"));
	check(elog_reader_wall_offset(reader) > 0);
	check_equal(elog_reader_next(reader, &item), 1);
	check_equal(item.type, ELOG_ITEM_EVENT);
	check_equal(elog_reader_describe(reader, 2, &event), -ENOENT);
	check_equal(elog_reader_describe(reader, 1, &event), 0);
	check_string(event ? event->name : "", "numbered");
	check_equal(elog_reader_definition(reader, 2, &text), -ENOENT);
	check_equal(elog_reader_definition(reader, 1, &text), 0);
	check_string(text, schema);
	check_string(elog_processes_name(elog_reader_processes(reader), 100, 200),
		     "main");
	check_string(elog_processes_name(elog_reader_processes(reader), 102, 202),
		     "worker");
	check_string(elog_processes_name(elog_reader_processes(reader), 1, 1), ":1");
	elog_reader_close(reader);
	elog_reader_close(NULL);
	elog_writer_close(NULL);
	close(fd);
}

/* Write and read through a pipe, byte by byte. */
static void test_pipe(void)
{
	struct source source;
	struct result result;
	int ends[2], status;
	pid_t child;

	check_equal(pipe2(ends, O_CLOEXEC), 0);
	fflush(stdout);
	child = fork();
	if (!child) {
		close(ends[0]);
		write_part(&source, ends[1], 2000, 0, true);
		fflush(stdout);
		_exit(failures != 0);
	}
	close(ends[1]);
	read_all(ends[0], &result);
	check_whole(&result, 2000);
	check_equal(result.lost, 15);
	close(ends[0]);
	check_equal(waitpid(child, &status, 0), child);
	check_equal(status, 0);
}

static void test_appended(void)
{
	struct source source;
	struct result result;
	uint64_t whole;
	int fd = new_file();

	write_part(&source, fd, 300, 4096, true);
	write_part(&source, fd, 200, 0, true);
	lseek(fd, 0, SEEK_SET);
	read_all(fd, &result);
	check_whole(&result, 500);
	check_equal(result.parts, 2);
	check_equal(result.lost, 30);

	/* A capture was killed within a block, and another one appended. */
	whole = (uint64_t)lseek(fd, 0, SEEK_END);
	write_part(&source, fd, 300, 0, true);
	check_equal(ftruncate(fd, (off_t)whole + 5001), 0);
	lseek(fd, 0, SEEK_END);
	write_part(&source, fd, 100, 0, true);
	lseek(fd, 0, SEEK_SET);
	read_all(fd, &result);
	check_equal(result.end, 0);
	check_equal(result.parts, 4);
	check(result.events > 600 && result.events < 900);
	check_equal(result.wrong, 0);
	check_equal(result.disordered, 0);
	check_equal(result.damage[ELOG_DAMAGE_BYTES], 1);
	check_equal(result.damage[ELOG_DAMAGE_NO_END], 1);
	check_equal(result.damages, 2);
	close(fd);
}

static void test_cut(void)
{
	struct source source;
	struct result result;
	size_t size, cut, block;
	unsigned char *bytes;
	uint64_t least, before = 0;
	int fd = new_file();

	write_part(&source, fd, 90, 0, true);
	bytes = load(fd, &size);
	for (cut = 0; cut < size; cut++) {
		store(fd, bytes, cut);
		read_all(fd, &result);
		check_equal(result.wrong, 0);
		check_equal(result.disordered, 0);
		if (result.end) {
			/* The first block is incomplete. */
			check_equal(result.end, -EBADMSG);
			check(cut < 1024);
			continue;
		}
		for (least = 0, block = 0; block < source.blocks; block++)
			if (source.block[block].end <= cut)
				least = source.block[block].stored;
		check(result.events >= least);
		check(result.events >= before);
		before = result.events;
		check_equal(result.damages, 1);
		check_equal(result.damage[ELOG_DAMAGE_CUT] +
			    result.damage[ELOG_DAMAGE_NO_END], 1);
	}
	check_equal(before, 90);
	store(fd, bytes, size);
	read_all(fd, &result);
	check_whole(&result, 90);
	free(bytes);
	close(fd);
}

static size_t mutate(unsigned char *bytes, size_t size, size_t room)
{
	size_t at = random_number(size), from = random_number(size), i;
	size_t length = 1 + random_number(random_number(8) ? 16 : 2000);

	if (length > size - at)
		length = size - at;
	switch (random_number(6)) {
	case 0:
		bytes[at] ^= (unsigned char)(1U << random_number(8));
		break;
	case 1:
		for (i = 0; i < length; i++)
			bytes[at + i] = (unsigned char)random_number(256);
		break;
	case 2:
		if (size + length > room)
			break;
		memmove(bytes + at + length, bytes + at, size - at);
		for (i = 0; i < length; i++)
			bytes[at + i] = (unsigned char)random_number(256);
		size += length;
		break;
	case 3:
		memmove(bytes + at, bytes + at + length, size - at - length);
		size -= length;
		break;
	case 4:
		if (length > size - from)
			length = size - from;
		memmove(bytes + at, bytes + from, length);
		break;
	default:
		size = at + 1;
		break;
	}
	return size ? size : 1;
}

/* Every record read from a damaged file was written. */
static void test_mutations(void)
{
	size_t size, room, mutated, i, count;
	unsigned char *bytes, *copy;
	uint64_t yielded = 0, unnoticed = 0;
	struct source source;
	const size_t files = random_files();
	struct result result;
	int fd = new_file();

	write_part(&source, fd, 30, 0, true);
	bytes = load(fd, &size);
	room = size + 8000;
	copy = malloc(room);
	for (i = 0; i < files && failures < 10; i++) {
		memcpy(copy, bytes, size);
		mutated = size;
		for (count = 1 + random_number(3); count; count--)
			mutated = mutate(copy, mutated, room);
		store(fd, copy, mutated);
		read_all(fd, &result);
		check(result.end == 0 || result.end == -EBADMSG);
		check_equal(result.wrong, 0);
		yielded += result.events;
		/* Checksums do not cover padding and bytes after the end. */
		if (result.end == 0 && !result.damages)
			unnoticed++;
		if (!result.damages && !result.end)
			check_equal(result.events, 30);
	}
	printf("# %zu files with %llu events; damage in %llu was not detected\n", i,
	       (unsigned long long)yielded, (unsigned long long)unnoticed);
	check(yielded > files);
	check(unnoticed < files / 20);
	free(copy);
	free(bytes);
	close(fd);
}

/* Random bytes with valid checksums: reading terminates and stays in bounds. */
static void test_sealed(void)
{
	size_t size, at, body, i, count, offset;
	unsigned char *bytes, *copy;
	struct source source;
	struct result result;
	const size_t files = random_files() / 3;
	uint64_t yielded = 0;
	int fd = new_file();

	write_part(&source, fd, 30, 0, true);
	bytes = load(fd, &size);
	copy = malloc(size);
	for (i = 0; i < files; i++) {
		memcpy(copy, bytes, size);
		for (count = 1 + random_number(4); count; count--) {
			offset = random_number(size);
			for (at = 0; at + block_size(copy + at) <= offset;)
				at += block_size(copy + at);
			body = at + sizeof(struct elog_block_header);
			if (offset < body)
				offset = at + 8 + random_number(8);
			else if (!random_number(2))
				offset = body + random_number(40);
			if (offset < at + block_size(copy + at))
				copy[offset] = (unsigned char)
					(random_number(2) ? random_number(256) :
					 255 * random_number(2));
			seal(copy + at);
		}
		store(fd, copy, size);
		read_all(fd, &result);
		yielded += result.events;
	}
	check(yielded > files);
	free(copy);
	free(bytes);
	close(fd);
}

static void test_hostile(void)
{
	struct eventlog_record latest = {
		.size_flags = sizeof(latest),
		.time = UINT64_MAX,
	};
	unsigned char data[24 + sizeof(latest)] = { 0 };
	struct elog_block_end end = { 0 };
	struct result result;
	unsigned int i;
	int fd;

	read_and_close(new_file(), &result);
	check_equal(result.end, -EBADMSG);
	fd = new_file();
	check_equal(write(fd, schema, sizeof(schema)), sizeof(schema));
	read_and_close(fd, &result);
	check_equal(result.end, -EBADMSG);

	read_and_close(begin_file("version 1\nbyte_order little\n"), &result);
	check_equal(result.end, -EPROTONOSUPPORT);
	read_and_close(begin_file("version 3\nbyte_order little\n"), &result);
	check_equal(result.end, -EPROTONOSUPPORT);
	read_and_close(begin_file("version 2\nflags 0x1\nbyte_order little\n"), &result);
	check_equal(result.end, -EPROTONOSUPPORT);
	read_and_close(begin_file("byte_order little\n"), &result);
	check_equal(result.end, -EPROTONOSUPPORT);
	read_and_close(begin_file("version 2\nbyte_order middle\n"), &result);
	check_equal(result.end, -EOPNOTSUPP);

	/* Huge sizes, and sizes that do not match the contents. */
	fd = begin_file(INFO_HERE);
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, UINT32_MAX, data, 16);
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, ELOG_BLOCK_MAX + 1,
		  data, 16);
	for (i = 0; i < 2000; i++)
		put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, ELOG_BLOCK_MAX,
			  data, 16);
	put_block(fd, ELOG_BLOCK_END, 0, sizeof(end), &end, sizeof(end));
	read_and_close(fd, &result);
	check_equal(result.end, 0);
	check_equal(result.damages, 1);
	check_equal(result.bytes[ELOG_DAMAGE_BYTES], 2002 * 48);

	/* Unknown types of blocks are skipped, unknown flags are errors. */
	fd = begin_file(INFO_HERE);
	put_block(fd, 99, 0, 5, "hello", 5);
	put_block(fd, ELOG_BLOCK_INDEX, 0, 0, "", 0);
	put_block(fd, ELOG_BLOCK_SCHEMA, 1U << 2, 5, "hello", 5);
	put_block(fd, ELOG_BLOCK_SCHEMA, 0, 5, "hello", 5);
	put_block(fd, ELOG_BLOCK_END, 0, sizeof(end), &end, sizeof(end));
	read_and_close(fd, &result);
	check_equal(result.damage[ELOG_DAMAGE_UNKNOWN], 1);
	check_equal(result.damage[ELOG_DAMAGE_BYTES], 1);
	check_equal(result.damages, 2);

	/* The maximum time, a size of 0, a CPU and a stream beyond the limits. */
	fd = begin_file(INFO_HERE);
	data[20] = 24;
	memcpy(data + 24, &latest, sizeof(latest));
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, sizeof(data), data,
		  sizeof(data));
	memset(data + 24, 0, sizeof(data) - 24);
	data[0] = 1;
	data[4] = 1;
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, sizeof(data), data,
		  sizeof(data));
	data[1] = 0x10;
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, sizeof(data), data,
		  sizeof(data));
	data[1] = 0;
	data[4] = 2;
	data[5] = 0x20;
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, sizeof(data), data,
		  sizeof(data));
	put_block(fd, ELOG_BLOCK_END, 0, sizeof(end), &end, sizeof(end));
	read_and_close(fd, &result);
	check_equal(result.end, 0);
	check_equal(result.events, 0);
	check_equal(result.bytes[ELOG_DAMAGE_RECORDS], 64);
	check_equal(result.damage[ELOG_DAMAGE_UNKNOWN], 2);
	check_equal(result.damages - result.damage[ELOG_DAMAGE_RECORDS], 2);
}

/* A block is missing, another one is there twice. */
static void test_missing(void)
{
	size_t size, at, length, found = 0;
	struct elog_block_header header;
	unsigned char *bytes, *copy;
	struct source source;
	struct result result;
	int fd = new_file();

	write_part(&source, fd, 100, 0, true);
	bytes = load(fd, &size);
	copy = malloc(2 * size);
	for (at = 0; at < size; at += length) {
		length = block_size(bytes + at);
		memcpy(&header, bytes + at, sizeof(header));
		if (le32toh(header.type) != ELOG_BLOCK_DATA)
			continue;
		found++;
		memcpy(copy, bytes, at);
		memcpy(copy + at, bytes + at + length, size - at - length);
		store(fd, copy, size - length);
		read_all(fd, &result);
		check(result.events <= 100);
		check_equal(result.damage[ELOG_DAMAGE_MISSING], 1);

		memcpy(copy, bytes, at + length);
		memcpy(copy + at + length, bytes + at, size - at);
		store(fd, copy, size + length);
		read_all(fd, &result);
		check_equal(result.events, 100);
		check_equal(result.damages, 1);
		check_equal(result.disordered, 0);
	}
	check(found > CPUS);
	free(copy);
	free(bytes);
	close(fd);
}

/* More records between two SYNC blocks than the reader buffers: it reports this and goes on. */
static void test_cap(void)
{
	enum { BLOCKS = 300, BYTES = 1 << 20 };
	struct eventlog_record record = { .size_flags = BYTES / 2 };
	unsigned char *data = calloc(1, BYTES);
	struct elog_writer *writer;
	const struct elog_writer_options options = { .size = sizeof(options) };
	struct result result;
	uint64_t block;
	int fd = new_file();

	check_equal(elog_writer_open(&writer, fd, &options), 0);
	for (block = 0; block < BLOCKS; block++) {
		record.time = block;
		memcpy(data, &record, sizeof(record));
		memcpy(data + BYTES / 2, &record, sizeof(record));
		check_equal(store_records(writer, 0, 0, data, BYTES,
						block * BYTES), 0);
	}
	check_equal(elog_writer_end(writer, 0), 0);
	elog_writer_close(writer);
	read_and_close(fd, &result);
	check_equal(result.end, 0);
	check_equal(result.events, 2 * BLOCKS);
	check_equal(result.damage[ELOG_DAMAGE_ORDER], 1);
	check_equal(result.damages, 1);
	free(data);
}

static bool give_up(void *context)
{
	return ++*(unsigned int *)context > 2;
}

/* The writer stores whole records only. */
static void test_wrong_records(struct elog_writer *writer)
{
	static const struct {
		uint32_t size_flags;
		size_t size;
	} cases[] = {
		{ 0, 64 },
		{ 64, 63 },
		{ 64, 4 },
		{ EVENTLOG_RECORD_SIZE_MASK, 64 },
		{ sizeof(struct eventlog_record) - 8, 64 },
		{ 24 | EVENTLOG_RECORD_LOST << EVENTLOG_RECORD_TYPE_SHIFT, 64 },
	};
	const uint64_t before = elog_writer_size(writer);
	struct elog_item item = { .type = ELOG_ITEM_EVENT, .stream = ELOG_STREAM_NONE };
	unsigned char data[64] = { 0 };
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(cases); i++) {
		memcpy(data, &cases[i].size_flags, sizeof(cases[i].size_flags));
		check_equal(elog_writer_raw(writer, 0, 0, data, cases[i].size, 0), -EBADMSG);
	}
	check_equal(elog_writer_add(writer, &item), -EINVAL);
	item.stream = 0;
	item.cpu = ELOG_FILE_CPUS_MAX;
	check_equal(elog_writer_add(writer, &item), -EINVAL);
	item.cpu = 0;
	item.payload_size = EVENTLOG_RECORD_SIZE_MASK;
	check_equal(elog_writer_add(writer, &item), -EINVAL);
	item.type = ELOG_ITEM_LOST;
	item.payload_size = 0;
	item.lost_count = ELOG_LOST_CAUSES_MAX + 1;
	check_equal(elog_writer_add(writer, &item), -EINVAL);
	item.type = ELOG_ITEM_SYNC;
	check_equal(elog_writer_add(writer, &item), 0);
	check_equal(elog_writer_events(writer), 0);
	check_equal(elog_writer_size(writer), before);
}

static void test_write_errors(void)
{
	struct elog_writer_options options = {
		.size = sizeof(options),
		.interrupted = give_up,
	};
	const struct elog_writer_loss loss = { .reserved = 1 };
	const struct elog_writer_loss many_causes = { .lost_count = ELOG_LOST_CAUSES_MAX + 1 };
	const struct elog_writer_loss wrong_cpu = { .cpu = ELOG_FILE_CPUS_MAX };
	const struct elog_writer_loss wrong_stream = { .stream = ELOG_FILE_STREAMS_MAX };
	struct elog_writer *writer;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	check_equal(elog_writer_open(&writer, fd, &options), -ENOSPC);
	close(fd);
	options.flags = 2;
	check_equal(elog_writer_open(&writer, fd, &options), -EINVAL);
	options.flags = 0;
	options.files = ELOG_WRITER_FILES_MAX + 1;
	check_equal(elog_writer_open(&writer, fd, &options), -EINVAL);
	options.files = 0;
	options.size = 7;
	check_equal(elog_writer_open(&writer, fd, &options), -EINVAL);
	options.size = sizeof(options);
	fd = new_file();
	check_equal(elog_writer_open(&writer, fd, &options), 0);
	check_equal(elog_writer_raw(writer, ELOG_FILE_CPUS_MAX, 0, "", 0, 0),
		    -EINVAL);
	check_equal(elog_writer_raw(writer, 0, ELOG_FILE_STREAMS_MAX, "", 0, 0),
		    -EINVAL);
	check_equal(elog_writer_sync(writer, 0, NULL, ELOG_FILE_STREAMS_MAX + 2), -EINVAL);
	check_equal(elog_writer_sync(writer, 0, &loss, 1), -EINVAL);
	check_equal(elog_writer_sync(writer, 0, &many_causes, 1), -EINVAL);
	check_equal(elog_writer_sync(writer, 0, &wrong_cpu, 1), -EINVAL);
	check_equal(elog_writer_sync(writer, 0, &wrong_stream, 1), -EINVAL);
	check_equal(elog_writer_raw(writer, 0, 0, "", 0, 4), -EINVAL);
	check_equal(elog_writer_raw(writer, 0, 0, "", 0, 0), 0);
	test_wrong_records(writer);
	check_equal(elog_writer_end(writer, 0), 0);
	check_equal(elog_writer_size(writer), lseek(fd, 0, SEEK_END));
	elog_writer_close(writer);
	close(fd);
}

/* Fill a file up to its limit. Return: its size; @whole gets the size of whole blocks. */
static off_t fill_up(int fd, bool others, uint64_t *whole)
{
	const struct elog_writer_options options = { .size = sizeof(options) };
	uint32_t data[250] = {
		sizeof(data) | EVENTLOG_RECORD_PADDING << EVENTLOG_RECORD_TYPE_SHIFT,
	};
	struct elog_writer *writer;
	uint64_t position = 0;
	struct stat stat;
	int ret = 0;

	check_equal(elog_writer_open(&writer, fd, &options), 0);
	if (others)
		check_equal(write(fd, "others", 6), 6);
	for (; !ret && position < 100000; position += sizeof(data))
		ret = store_records(writer, 0, 0, data, sizeof(data), position);
	check_equal(ret, others ? -ESTALE : -EFBIG);
	check_equal(elog_writer_end(writer, 0), ret);
	*whole = elog_writer_size(writer);
	elog_writer_close(writer);
	check_equal(fstat(fd, &stat), 0);
	return stat.st_size;
}

static void test_cut_back(void)
{
	struct rlimit before, limit;
	uint64_t whole;
	int fd;

	signal(SIGXFSZ, SIG_IGN);
	check_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 20000;
	check_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	fd = new_file();
	check_equal(write(fd, "before", 6), 6);
	check_equal(fill_up(fd, false, &whole), 6 + whole);
	check_equal(lseek(fd, 0, SEEK_CUR), 6 + whole);
	close(fd);
	/* Data that others have appended stays, and nothing follows it. */
	fd = new_file();
	check_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
	check_equal(fill_up(fd, false, &whole), whole);
	check_equal(ftruncate(fd, 0), 0);
	check_equal(fill_up(fd, true, &whole), whole + 6);
	close(fd);
	check_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

/* Run a test with compressed files, or uncompressed without zstd. */
static void compress(void (*run)(void))
{
	struct elog_compressor *compressor;

	if (!elog_compressor_new(&compressor, 3)) {
		elog_compressor_free(compressor);
		compression = 3;
	}
	run();
	compression = 0;
}

static void test_cut_compressed(void)
{
	compress(test_cut);
}

static void test_mutations_compressed(void)
{
	compress(test_mutations);
}

static void test_sealed_compressed(void)
{
	compress(test_sealed);
}

static void test_missing_compressed(void)
{
	compress(test_missing);
}

int main(void)
{
	static const struct test tests[] = {
		{ "CRC-32C: known sums; both implementations agree", test_crc },
		{ "spans of a ring are contiguous whole records", test_span },
		{ "records are read back in order", test_round_trip },
		{ "records are read back through a pipe", test_pipe },
		{ "several parts, also after a torn one", test_appended },
		{ "truncated anywhere, all whole blocks are read", test_cut },
		{ "a mutated file contains only written records", test_mutations },
		{ "random bytes with valid checksums do no harm", test_sealed },
		{ "compressed: truncated anywhere", test_cut_compressed },
		{ "compressed: mutations", test_mutations_compressed },
		{ "compressed: random bytes with valid checksums", test_sealed_compressed },
		{ "compressed: missing blocks", test_missing_compressed },
		{ "hostile sizes, times and numbers", test_hostile },
		{ "missing and duplicate blocks", test_missing },
		{ "too many records between two SYNC blocks", test_cap },
		{ "write errors", test_write_errors },
		{ "a full file is truncated, but not data of others", test_cut_back },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
