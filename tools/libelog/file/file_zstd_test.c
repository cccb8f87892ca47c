// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of compressed .elog files: files of each level are read back, and reading takes
 * a bounded amount of memory and time, whatever size a body claims. Without zstd such
 * files can be neither written nor read. They need no kernel module. Prints TAP.
 */
#include <sys/resource.h>

#include "file/file_source.h"
#include "unexported/writer.h"

#ifdef ELOG_ZSTD

#include <zstd.h>

#define BIG	(256U << 10)

static void test_levels(void)
{
	static const uint32_t levels[] = { 1, 3, 9, 19 };
	struct elog_writer_options options = { .size = sizeof(options) };
	struct elog_writer *writer;
	struct source source;
	struct result result;
	uint64_t plain, compressed;
	size_t i;
	int fd = new_file();

	compression = 0;
	write_part(&source, fd, 1000, 0, true);
	plain = (uint64_t)lseek(fd, 0, SEEK_CUR);
	close(fd);
	for (i = 0; i < ELOG_ARRAY_SIZE(levels); i++) {
		fd = new_file();
		compression = levels[i];
		write_part(&source, fd, 1000, 1ULL << 40, true);
		compressed = (uint64_t)lseek(fd, 0, SEEK_CUR);
		/* The blocks are small and the payloads random. */
		check(compressed < plain * 9 / 10);
		write_part(&source, fd, 500, 0, true);
		compression = 0;
		write_part(&source, fd, 500, 0, true);
		lseek(fd, 0, SEEK_SET);
		read_all(fd, &result);
		check_whole(&result, 2000);
		check_equal(result.parts, 3);
		check_equal(result.lost, 45);
		close(fd);
	}
	options.compression = 20;
	check_equal(elog_writer_open(&writer, fd, &options), -EINVAL);
}

/* Return the types of compressed blocks as a mask, and their sizes. */
static uint32_t compressed_types(int fd, size_t *stored)
{
	struct elog_block_header header;
	unsigned char *bytes;
	uint32_t types = 0;
	size_t size, at;

	*stored = 0;
	bytes = load(fd, &size);
	for (at = 0; at < size; at += block_size(bytes + at)) {
		memcpy(&header, bytes + at, sizeof(header));
		if (!(le32toh(header.flags) & ELOG_BLOCK_ZSTD)) {
			check_equal(header.size, header.raw_size);
			continue;
		}
		types |= 1U << le32toh(header.type);
		*stored += le32toh(header.size);
		check(le32toh(header.size) < le32toh(header.raw_size));
	}
	free(bytes);
	return types;
}

/* Random records are stored uncompressed; the ratio of zeroes is limited. */
static void test_extremes(void)
{
	struct elog_writer_options options = {
		.size = sizeof(options),
		.compression = 3,
	};
	struct eventlog_record record = { .size_flags = BIG / 4 };
	unsigned char *data = malloc(BIG);
	struct elog_writer *writer;
	struct result result;
	size_t i, stored;
	int fd, noise;

	for (noise = 0; noise < 2; noise++) {
		for (i = 0; i < BIG; i++)
			data[i] = noise ? (unsigned char)random_number(256) : 0;
		for (i = 0; i < BIG; i += BIG / 4)
			memcpy(data + i, &record, sizeof(record));
		fd = new_file();
		check_equal(elog_writer_open(&writer, fd, &options), 0);
		check_equal(store_records(writer, 0, 0, data, BIG, 0), 0);
		check_equal(elog_writer_sync(writer, 1, NULL, 0), 0);
		check_equal(elog_writer_end(writer, 0), 0);
		check_equal(elog_writer_size(writer),
			    lseek(fd, 0, SEEK_CUR));
		elog_writer_close(writer);
		check_equal(compressed_types(fd, &stored),
			    noise ? 0 : 1U << ELOG_BLOCK_DATA);
		if (!noise)
			check(stored >= BIG / ELOG_ZSTD_RATIO && stored < 1000);
		read_and_close(fd, &result);
		check_equal(result.end, 0);
		check_equal(result.events, 4);
		check_equal(result.damages, 0);
	}
	free(data);
}

static void put_packed(int fd, uint32_t type, uint32_t flags, uint32_t claimed,
		       const void *stored, size_t size)
{
	struct elog_block_header header = {
		.type = htole32(type),
		.flags = htole32(flags | ELOG_BLOCK_ZSTD),
		.size = htole32((uint32_t)size),
		.raw_size = htole32(claimed),
		.body_crc = htole32(elog_crc32c(0, stored, size)),
	};

	memcpy(header.magic, ELOG_FILE_MAGIC, 8);
	header.header_crc = htole32(elog_crc32c(0, &header, 28));
	check_equal(write(fd, &header, sizeof(header)), sizeof(header));
	check_equal(write(fd, stored, size), size);
	check_equal(write(fd, "\0\0\0\0\0\0\0", -size & 7), -size & 7);
}

/* Read a compressed body that claims the size @claimed. */
static void check_claim(const void *stored, size_t size, uint32_t claimed,
			uint64_t events, bool fine)
{
	const struct elog_block_end end = { .records = htole64(events) };
	int fd = begin_file(INFO_HERE);
	struct result result;

	put_packed(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, claimed, stored, size);
	put_block(fd, ELOG_BLOCK_END, 0, sizeof(end), &end, sizeof(end));
	read_and_close(fd, &result);
	check_equal(result.end, 0);
	check_equal(result.events, fine ? events : 0);
	check_equal(result.damages, !fine);
	check_equal(result.bytes[ELOG_DAMAGE_BYTES],
		    fine ? 0 : sizeof(struct elog_block_header) + size);
}

static void test_claims(void)
{
	struct eventlog_record record = { .size_flags = sizeof(record) };
	unsigned char body[24 + 8 * sizeof(record)] = { [20] = 24 }, stored[1000];
	size_t size, i, cut;

	for (i = 0; i < 8; i++)
		memcpy(body + 24 + i * sizeof(record), &record, sizeof(record));
	size = ZSTD_compress(stored, sizeof(stored), body, sizeof(body), 3);
	check(!ZSTD_isError(size));
	check_claim(stored, size, sizeof(body), 8, true);
	check_claim(stored, size, sizeof(body) - 1, 8, false);
	check_claim(stored, size, sizeof(body) + 1, 8, false);
	check_claim(stored, size, 0, 8, false);
	check_claim(stored, size, ELOG_BLOCK_MAX, 8, false);
	check_claim(stored, size, ELOG_BLOCK_MAX + 1, 8, false);
	check_claim(stored, size, UINT32_MAX, 8, false);
	for (cut = 0; cut < size; cut++)
		check_claim(stored, cut, sizeof(body), 8, false);
	for (i = 0; i < 20000; i++) {
		unsigned char mutated[1000];
		struct result result;
		int fd = begin_file(INFO_HERE);

		memcpy(mutated, stored, size);
		mutated[random_number(size)] ^= (unsigned char)(1 + random_number(255));
		put_packed(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, sizeof(body),
			   mutated, size);
		read_and_close(fd, &result);
		check_equal(result.end, 0);
	}
	/* A block of unknown type is not decompressed. */
	{
		struct result result;
		int fd = begin_file(INFO_HERE);

		put_packed(fd, 99, 0, UINT32_MAX, "hello", 5);
		read_and_close(fd, &result);
		check_equal(result.damage[ELOG_DAMAGE_BYTES], 0);
	}
}

/* Bodies that grow to a thousand times the limit, with various claimed sizes. */
static void test_bombs(void)
{
	unsigned char *zeroes = calloc(1, ELOG_BLOCK_MAX), *stored;
	size_t room = ZSTD_compressBound(ELOG_BLOCK_MAX), size, i;
	struct rlimit before, limit;
	struct result result;
	int fd = begin_file(INFO_HERE);

	stored = malloc(room);
	size = ZSTD_compress(stored, room, zeroes, ELOG_BLOCK_MAX, 3);
	check(size * ELOG_ZSTD_RATIO < ELOG_BLOCK_MAX);
	free(zeroes);
	for (i = 0; i < 3000; i++)
		put_packed(fd, ELOG_BLOCK_SCHEMA, 0,
			   i & 1 ? ELOG_BLOCK_MAX :
				   (uint32_t)size * ELOG_ZSTD_RATIO, stored, size);
	free(stored);
	/* Decompressing them all would give 187 GiB. */
	check_equal(getrlimit(RLIMIT_CPU, &before), 0);
	limit = before;
	limit.rlim_cur = 300;
	check_equal(setrlimit(RLIMIT_CPU, &limit), 0);
	read_and_close(fd, &result);
	check_equal(setrlimit(RLIMIT_CPU, &before), 0);
	check_equal(result.end, 0);
	check_equal(result.bytes[ELOG_DAMAGE_BYTES],
		    3000 * (sizeof(struct elog_block_header) + size));
}

int main(void)
{
	static const struct test tests[] = {
		{ "files of each level are read back", test_levels },
		{ "incompressible data, and a ratio beyond the limit", test_extremes },
		{ "a body with a wrong claimed size is damaged", test_claims },
		{ "bodies that are too large are not decompressed", test_bombs },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}

#else /* !ELOG_ZSTD */

static void test_without(void)
{
	const struct elog_writer_options options = {
		.size = sizeof(options),
		.compression = 1,
	};
	struct elog_writer *writer;
	struct result result;
	int fd = new_file();

	check_equal(elog_writer_open(&writer, fd, &options), -EOPNOTSUPP);
	check_equal(lseek(fd, 0, SEEK_END), 0);
	close(fd);
	fd = begin_file(INFO_HERE);
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE | ELOG_BLOCK_ZSTD, 5,
		  "hello", 5);
	read_and_close(fd, &result);
	check_equal(result.end, 0);
	check_equal(result.damage[ELOG_DAMAGE_UNKNOWN], 1);
}

int main(void)
{
	static const struct test tests[] = {
		{ "without zstd compression is an error", test_without },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}

#endif /* !ELOG_ZSTD */
