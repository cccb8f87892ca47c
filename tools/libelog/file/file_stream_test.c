// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of streams in .elog files: several of one CPU, those of an unknown CPU, losses
 * with any number of causes, and what the header says. They need no kernel module.
 * Prints TAP.
 */
#include <sys/timex.h>

#include "file/file_source.h"
#include "unexported/writer.h"

#define EVENTS	200

static size_t put(unsigned char *to, uint32_t type, uint64_t time, const void *payload,
		  size_t size)
{
	const struct eventlog_record record = {
		.size_flags = (uint32_t)(sizeof(record) + size) |
			      type << EVENTLOG_RECORD_TYPE_SHIFT,
		.descriptor = 1,
		.time = time,
	};

	memcpy(to, &record, sizeof(record));
	memcpy(to + sizeof(record), payload, size);
	return sizeof(record) + size;
}

static struct elog_writer *open_writer(int fd)
{
	const struct elog_writer_options options = { .size = sizeof(options) };
	struct elog_writer *writer = NULL;

	check_equal(elog_writer_open(&writer, fd, &options), 0);
	return writer;
}

static struct elog_reader *open_reader(int fd)
{
	struct elog_reader *reader = NULL;

	lseek(fd, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, fd), 0);
	return reader;
}

/* Get the next event or loss. Return: false if there is none. */
static bool next(struct elog_reader *reader, struct elog_item *item)
{
	int ret;

	while ((ret = elog_reader_next(reader, item)) > 0) {
		check(item->type != ELOG_ITEM_DAMAGE);
		if (item->type == ELOG_ITEM_EVENT || item->type == ELOG_ITEM_LOST)
			return true;
	}
	check_equal(ret, 0);
	return false;
}

/* Streams and their CPUs: two share a CPU, two have none, one changes its CPU. */
static const struct {
	uint32_t stream;
	unsigned int cpu[2];
} streams[] = {
	{ 0, { 0, 0 } },
	{ 9, { 0, 0 } },
	{ 5, { EVENTLOG_CPU_UNKNOWN, EVENTLOG_CPU_UNKNOWN } },
	{ ELOG_FILE_STREAMS_MAX - 1, { EVENTLOG_CPU_UNKNOWN, EVENTLOG_CPU_UNKNOWN } },
	{ 1, { 4095, 3 } },
};

#define STREAMS	ELOG_ARRAY_SIZE(streams)

static unsigned int find(uint32_t number)
{
	unsigned int i;

	for (i = 0; i < STREAMS; i++)
		if (streams[i].stream == number)
			return i;
	check(false);
	return 0;
}

static void write_streams(struct elog_writer *writer)
{
	uint64_t position[STREAMS] = { 0 };
	unsigned char data[64];
	size_t size;
	uint64_t i;
	unsigned int at;

	for (i = 0; i < EVENTS; i++) {
		at = (unsigned int)random_number(STREAMS);
		/* Pairs of equal times: streams of no CPU are first, then the lower stream. */
		size = put(data, EVENTLOG_RECORD_EVENT, 1000 + i / 2, &i, sizeof(i));
		check_equal(store_records(writer, streams[at].cpu[i > EVENTS / 2],
						streams[at].stream, data, size,
						position[at]), 0);
		position[at] += size;
		if (i % 50 == 49)
			check_equal(elog_writer_sync(writer, 1000 + i / 2, NULL, 0),
				    0);
	}
	check_equal(elog_writer_sync(writer, 1000 + EVENTS, NULL, 0), 0);
	check_equal(elog_writer_end(writer, 0), 0);
}

/* The place of an item among those of its time. */
static uint64_t rank(const struct elog_item *item)
{
	return item->stream + (item->cpu == EVENTLOG_CPU_UNKNOWN ? 0 : 1ULL << 32);
}

static void test_shared(void)
{
	struct elog_writer *writer;
	struct elog_reader *reader;
	uint64_t number, last[STREAMS] = { 0 }, previous = 0, place = 0, count = 0;
	struct elog_item item;
	unsigned int at;
	int fd = new_file();

	writer = open_writer(fd);
	write_streams(writer);
	elog_writer_close(writer);
	reader = open_reader(fd);
	while (next(reader, &item)) {
		at = find(item.stream);
		memcpy(&number, item.payload, sizeof(number));
		check_equal(item.cpu, streams[at].cpu[number > EVENTS / 2]);
		check(item.time > previous ||
		      (item.time == previous && rank(&item) >= place));
		check(!count || number >= last[at]);
		check(!item.lost && !item.lost_count);
		last[at] = number;
		previous = item.time;
		place = rank(&item);
		count++;
	}
	check_equal(count, EVENTS);
	elog_reader_close(reader);
	close(fd);
}

/* What a loss of @count causes must be. */
static void check_loss(const struct elog_item *item, uint32_t count, uint64_t factor)
{
	uint32_t i;

	check_equal(item->type, ELOG_ITEM_LOST);
	check_equal(item->lost_count, count);
	for (i = 0; i < item->lost_count; i++)
		check_equal(item->lost[i], factor * (i + 1));
}

static void fill(uint64_t *lost, uint32_t count, uint64_t factor)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		lost[i] = factor * (i + 1);
}

static void test_causes(void)
{
	static const uint32_t counts[] = { 1, 8, 16, 20, ELOG_LOST_CAUSES_MAX };
	uint64_t lost[ELOG_LOST_CAUSES_MAX];
	struct elog_writer_loss losses[] = {
		{ .cpu = 2, .stream = 2, .lost = lost },
		{ .cpu = EVENTLOG_CPU_UNKNOWN, .stream = 7, .lost = lost },
		{ .cpu = EVENTLOG_CPU_UNKNOWN, .stream = ELOG_STREAM_NONE, .lost = lost },
	};
	unsigned char data[64 + sizeof(lost)];
	struct elog_writer *writer;
	struct elog_reader *reader;
	struct elog_item item;
	unsigned int i, j;
	size_t size;
	int fd;

	for (i = 0; i < ELOG_ARRAY_SIZE(counts); i++) {
		fd = new_file();
		writer = open_writer(fd);
		fill(lost, counts[i], 1);
		size = put(data, EVENTLOG_RECORD_LOST, 5, lost, counts[i] * sizeof(lost[0]));
		check_equal(store_records(writer, 2, 2, data, size, 0), 0);
		fill(lost, counts[i], 3);
		for (j = 0; j < ELOG_ARRAY_SIZE(losses); j++)
			losses[j].lost_count = counts[i];
		check_equal(elog_writer_sync(writer, 10, losses, 3), 0);
		check_equal(elog_writer_end(writer, 0), 0);
		elog_writer_close(writer);

		reader = open_reader(fd);
		check(next(reader, &item));
		check_loss(&item, counts[i], 1);
		check_equal(item.cpu, 2);
		for (j = 0; j < ELOG_ARRAY_SIZE(losses) && next(reader, &item); j++) {
			check_loss(&item, counts[i], j ? 3 : 2);
			check_equal(item.cpu, losses[j].cpu);
			check_equal(item.stream, losses[j].stream);
		}
		check_equal(j, ELOG_ARRAY_SIZE(losses));
		check(!next(reader, &item));
		elog_reader_close(reader);
		close(fd);
	}
}

/* Each stream may know another number of causes. */
static void test_mixed_causes(void)
{
	const uint64_t few[] = { 1 }, many[16] = { [15] = 7 };
	const struct elog_writer_loss losses[] = {
		{ .cpu = 0, .stream = 0, .lost = few, .lost_count = 1 },
		{ .cpu = 0, .stream = 1, .lost = many, .lost_count = 16 },
	};
	struct elog_writer *writer;
	struct elog_reader *reader;
	struct elog_item item;
	int fd = new_file();

	writer = open_writer(fd);
	check_equal(elog_writer_sync(writer, 10, losses, 2), 0);
	check_equal(elog_writer_end(writer, 8), 0);
	elog_writer_close(writer);
	reader = open_reader(fd);
	check(next(reader, &item));
	check_equal(item.stream, 0);
	check_equal(item.lost_count, 16);
	check_equal(item.lost ? item.lost[0] : 0, 1);
	check_equal(item.lost ? item.lost[15] : 1, 0);
	check(next(reader, &item));
	check_equal(item.stream, 1);
	check_equal(item.lost ? item.lost[15] : 0, 7);
	check(!next(reader, &item));
	elog_reader_close(reader);
	close(fd);
}

/* Blocks that claim more causes than there are, or than bytes. */
static void test_wrong_causes(void)
{
	unsigned char body[sizeof(struct elog_block_sync) + 8 + 65 * 8] = { 0 };
	struct elog_block_sync head = {
		.count = htole32(1), .offset = htole32(sizeof(head)),
		.fixed_size = htole32(ELOG_BLOCK_LOSS_MIN),
	};
	struct elog_block_end end = { 0 };
	struct result result;
	unsigned int i;
	static const struct {
		uint32_t causes;
		size_t size;
		bool fine;
	} cases[] = {
		{ 0, sizeof(head) + 8, true },
		{ 0, sizeof(head) + 7, false },
		{ 8, sizeof(head) + 8 + 64, true },
		{ 8, sizeof(head) + 8 + 63, false },
		{ 64, sizeof(head) + 8 + 64 * 8, true },
		{ 65, sizeof(head) + 8 + 65 * 8, false },
		{ 1U << 29, sizeof(head) + 8, false },
		{ UINT32_MAX, sizeof(body), false },
	};
	int fd;

	for (i = 0; i < ELOG_ARRAY_SIZE(cases); i++) {
		fd = begin_file(INFO_HERE);
		head.causes = htole32(cases[i].causes);
		memcpy(body, &head, sizeof(head));
		put_block(fd, ELOG_BLOCK_SYNC, 0, (uint32_t)cases[i].size, body,
			  cases[i].size);
		put_block(fd, ELOG_BLOCK_END, 0, sizeof(end), &end, sizeof(end));
		read_and_close(fd, &result);
		check_equal(result.end, 0);
		check_equal(result.damage[ELOG_DAMAGE_BYTES], !cases[i].fine);
		check_equal(result.damages, !cases[i].fine);
	}
}

/* Append a number of the file, and @room bytes that this library does not know. */
static size_t put_grown(unsigned char *to, const void *from, size_t size, size_t room)
{
	memcpy(to, from, size);
	memset(to + size, 0xee, room);
	return size + room;
}

/* Write the block as a later version may: 8 bytes more in each struct. */
static void put_grown_block(int fd, const unsigned char *block)
{
	const unsigned char *body = block + sizeof(struct elog_block_header), *end;
	struct elog_block_processes processes;
	struct elog_block_header header;
	struct elog_block_schema text;
	static unsigned char grown[65536];
	struct elog_block_data data;
	struct elog_block_sync sync;
	size_t size;

	memcpy(&header, block, sizeof(header));
	end = body + le32toh(header.size);
	switch (le32toh(header.type)) {
	case ELOG_BLOCK_SCHEMA:
		memcpy(&text, body, sizeof(text));
		text.instance = htole32(7);
		text.offset = htole32(sizeof(text) + 8);
		size = put_grown(grown, &text, sizeof(text), 8);
		body += sizeof(text);
		break;
	case ELOG_BLOCK_DATA:
		memcpy(&data, body, sizeof(data));
		data.instance = htole32(7);
		data.offset = htole32(sizeof(data) + 8);
		size = put_grown(grown, &data, sizeof(data), 8);
		body += sizeof(data);
		break;
	case ELOG_BLOCK_PROCESSES:
		processes.offset = htole32(sizeof(processes) + 8);
		processes.entry_size = htole32(sizeof(struct elog_block_process) + 8);
		size = put_grown(grown, &processes, sizeof(processes), 8);
		for (body += sizeof(processes); body < end;
		     body += sizeof(struct elog_block_process))
			size += put_grown(grown + size, body,
					  sizeof(struct elog_block_process), 8);
		break;
	case ELOG_BLOCK_SYNC:
		memcpy(&sync, body, sizeof(sync));
		sync.offset = htole32(sizeof(sync) + 8);
		sync.fixed_size = htole32(sizeof(struct elog_block_loss) + 8);
		size = put_grown(grown, &sync, sizeof(sync), 8);
		for (body += sizeof(sync); body < end; body += le32toh(sync.causes) * 8) {
			size += put_grown(grown + size, body,
					  sizeof(struct elog_block_loss), 8);
			body += sizeof(struct elog_block_loss);
			size += put_grown(grown + size, body, le32toh(sync.causes) * 8, 0);
		}
		break;
	default:
		size = 0;
		break;
	}
	size += put_grown(grown + size, body, (size_t)(end - body), 0);
	put_block(fd, le32toh(header.type), le32toh(header.flags), (uint32_t)size, grown, size);
}

/* Read and verify the file of test_grown(). */
static void check_grown(int fd)
{
	const struct elog_schema_event *event;
	struct elog_reader *reader;
	struct elog_item item;

	reader = open_reader(fd);
	check(next(reader, &item));
	check_equal(item.type, ELOG_ITEM_EVENT);
	check_equal(item.stream, 4);
	check_equal(item.time, 5);
	check_string(item.instance ? item.instance : "#7", "#7");
	check_equal(elog_reader_describe(reader, 7, &event), 0);
	check_string(elog_processes_name(elog_reader_processes(reader), 1, 3), "second");
	check(next(reader, &item));
	check_loss(&item, 3, 1);
	check_equal(item.stream, 4);
	check(next(reader, &item));
	check_loss(&item, 3, 2);
	check_equal(item.stream, 5);
	check(!next(reader, &item));
	elog_reader_close(reader);
	close(fd);
}

static void test_grown(void)
{
	uint64_t first[3], second[3];
	const struct elog_writer_loss losses[] = {
		{ .cpu = 0, .stream = 4, .lost = first, .lost_count = 3 },
		{ .cpu = 0, .stream = 5, .lost = second, .lost_count = 3 },
	};
	int fd = new_file(), grown = new_file();
	unsigned char data[64], *bytes;
	struct elog_writer *writer;
	size_t size, at;

	fill(first, 3, 1);
	fill(second, 3, 2);
	writer = open_writer(fd);
	check_equal(elog_writer_schema(writer, 7, 1, "eventlog 1\nprovider p\nevent 1 e info -\n"),
		    0);
	check_equal(elog_writer_process(writer, 1, 2, "first"), 0);
	check_equal(elog_writer_process(writer, 1, 3, "second"), 0);
	size = put(data, EVENTLOG_RECORD_EVENT, 5, first, sizeof(first));
	check_equal(store_records(writer, 0, 4, data, size, 0), 0);
	check_equal(elog_writer_sync(writer, 10, losses, 2), 0);
	check_equal(elog_writer_end(writer, 9), 0);
	elog_writer_close(writer);
	bytes = load(fd, &size);
	for (at = 0; at < size; at += block_size(bytes + at))
		put_grown_block(grown, bytes + at);
	free(bytes);
	check_grown(fd);
	check_grown(grown);
}

/* Losses and positions of all streams are known when reading starts in the middle. */
static void test_seek(void)
{
	uint64_t lost[16] = { 0 }, position[2] = { 0 }, before, whole = 0, late = 0;
	struct elog_writer_loss loss = {
		.cpu = EVENTLOG_CPU_UNKNOWN, .stream = 3, .lost = lost, .lost_count = 16,
	};
	const struct elog_writer_options options = { .size = sizeof(options), .start = 1 };
	struct elog_writer *writer;
	struct elog_reader *reader;
	unsigned char data[64];
	struct elog_item item;
	int64_t wall = 0;
	uint64_t i;
	size_t size;
	int fd = new_file();

	check_equal(elog_writer_open(&writer, fd, &options), 0);
	elog_writer_interval(writer, 2000);
	for (i = 0; i < EVENTS; i++) {
		size = put(data, EVENTLOG_RECORD_EVENT, 1000000 * (i + 1), &i, sizeof(i));
		check_equal(store_records(writer, EVENTLOG_CPU_UNKNOWN, 3 + (i & 1), data,
						size, position[i & 1]), 0);
		position[i & 1] += size;
		lost[15] += i == EVENTS / 4 || i == EVENTS - 1;
		check_equal(elog_writer_sync(writer, 1000000 * (i + 1) + 1, &loss, 1), 0);
	}
	check_equal(elog_writer_end(writer, 2), 0);
	elog_writer_close(writer);

	reader = open_reader(fd);
	while (next(reader, &item)) {
		whole += item.type == ELOG_ITEM_LOST ? item.lost[15] : 0;
		wall = (int64_t)item.time + elog_reader_wall_offset(reader);
	}
	check_equal(whole, 2);
	elog_reader_close(reader);

	reader = open_reader(fd);
	check_equal(elog_reader_seek(reader, (uint64_t)wall - 20000000), 0);
	for (before = 0; next(reader, &item); before++) {
		check_equal(item.cpu, EVENTLOG_CPU_UNKNOWN);
		late += item.type == ELOG_ITEM_LOST ? item.lost[15] : 0;
	}
	check(before > 20 && before < EVENTS / 2);
	check_equal(late, 1);
	elog_reader_close(reader);
	close(fd);
}

/* An event has the wall-clock time that was valid when it was emitted. */
static void test_clock_set(void)
{
	static const int64_t expected[] = { 0, 0, 1000000007, 1000000007, -5 };
	const struct elog_writer_options options = { .size = sizeof(options), .start = 1 };
	struct elog_writer *writer;
	struct elog_reader *reader;
	unsigned char data[512];
	struct elog_item item;
	uint64_t i;
	int64_t before = 0;
	size_t size = 0, seen = 0;
	int fd = new_file();

	check_equal(elog_writer_open(&writer, fd, &options), 0);
	for (i = 0; i < ELOG_ARRAY_SIZE(expected); i++)
		size += put(data + size, EVENTLOG_RECORD_EVENT, 10 * (i + 1), &i, sizeof(i));
	check_equal(store_records(writer, 0, 0, data, size, 0), 0);
	/* The first clock is that of the FILE block. */
	check_equal(elog_writer_clock_set(writer, 25, expected[2]), 0);
	check_equal(elog_writer_clock_set(writer, 45, expected[4]), 0);
	check_equal(elog_writer_sync(writer, 60, NULL, 0), 0);
	check_equal(elog_writer_end(writer, 0), 0);
	elog_writer_close(writer);

	reader = open_reader(fd);
	for (; next(reader, &item); seen++) {
		check_equal(item.time, 10 * (seen + 1));
		if (!seen)
			before = elog_reader_wall_offset(reader);
		check_equal(elog_reader_wall_offset(reader),
			    expected[seen] ? expected[seen] : before);
	}
	check_equal(seen, ELOG_ARRAY_SIZE(expected));
	check(before > 1000000007);
	elog_reader_close(reader);
	close(fd);
}

static bool is_id(const char *text)
{
	return text && strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}

/* The events and losses of several instances, which a file repeats after its rotation. */
static void test_instances(void)
{
	const uint64_t lost[] = { 5 };
	struct elog_item items[] = {
		{ .type = ELOG_ITEM_EVENT, .descriptor = 7, .time = 1, .stream = 0 },
		{ .type = ELOG_ITEM_EVENT, .descriptor = 8, .time = 2, .stream = 3,
		  .instance = "web" },
		{ .type = ELOG_ITEM_EVENT, .descriptor = 9, .time = 3, .stream = 6,
		  .instance = "db-1.x" },
		{ .type = ELOG_ITEM_LOST, .time = 4, .stream = 6, .instance = "db-1.x",
		  .lost = lost, .lost_count = 1 },
	};
	struct elog_writer_options options = { .size = sizeof(options), .start = 1 };
	struct elog_item bad = items[1], item;
	struct elog_writer *writer, *next_writer;
	struct elog_reader *reader;
	int fd = new_file(), later = new_file();
	unsigned int i;

	writer = open_writer(fd);
	for (i = 0; i < ELOG_ARRAY_SIZE(items); i++)
		check_equal(elog_writer_add(writer, &items[i]), 0);
	bad.instance = "a\nb";
	check_equal(elog_writer_add(writer, &bad), -EINVAL);
	bad.instance = "";
	check_equal(elog_writer_add(writer, &bad), -EINVAL);
	check_equal(elog_writer_sync(writer, 10, NULL, 0), 0);
	check_equal(elog_writer_end(writer, UINT64_MAX), 0);
	options.continues = writer;
	check_equal(elog_writer_open(&next_writer, later, &options), 0);
	elog_writer_close(writer);
	items[2].time = 20;
	check_equal(elog_writer_add(next_writer, &items[2]), 0);
	items[3].time = 21;
	check_equal(elog_writer_add(next_writer, &items[3]), 0);
	check_equal(elog_writer_sync(next_writer, 30, NULL, 0), 0);
	check_equal(elog_writer_end(next_writer, UINT64_MAX), 0);
	elog_writer_close(next_writer);

	reader = open_reader(fd);
	for (i = 0; i < ELOG_ARRAY_SIZE(items) && next(reader, &item); i++) {
		check_equal(item.type, items[i].type);
		check_string(item.instance ? item.instance : "",
			     items[i].instance ? items[i].instance : "");
	}
	check_equal(i, ELOG_ARRAY_SIZE(items));
	check(!next(reader, &item));
	elog_reader_close(reader);

	lseek(later, 0, SEEK_SET);
	reader = open_reader(later);
	for (i = 2; i < ELOG_ARRAY_SIZE(items) && next(reader, &item); i++) {
		check_equal(item.type, items[i].type);
		check_string(item.instance ? item.instance : "", "db-1.x");
	}
	check_equal(i, ELOG_ARRAY_SIZE(items));
	check(!next(reader, &item));
	elog_reader_close(reader);
	close(fd);
	close(later);
}

/* A number without a name is shown; a name with other characters is damage. */
static void test_wrong_instances(void)
{
	static const struct {
		const char *name;
		uint32_t id;
		bool fine;
	} cases[] = {
		{ "web", 1, true }, { "", 1, false }, { "a b", 1, false }, { "-a", 1, false },
		{ "\033[2J", 1, false }, { "web", 0, false },
	};
	struct elog_block_instance head = { .offset = htole32(sizeof(head)) };
	struct elog_block_end end = { 0 };
	unsigned char body[64];
	struct result result;
	unsigned int i;
	uint32_t size;
	int fd;

	for (i = 0; i < ELOG_ARRAY_SIZE(cases); i++) {
		fd = begin_file(INFO_HERE);
		head.id = htole32(cases[i].id);
		memcpy(body, &head, sizeof(head));
		memcpy(body + sizeof(head), cases[i].name, strlen(cases[i].name));
		size = (uint32_t)(sizeof(head) + strlen(cases[i].name));
		put_block(fd, ELOG_BLOCK_INSTANCE, 0, size, body, size);
		put_block(fd, ELOG_BLOCK_END, 0, sizeof(end), &end, sizeof(end));
		read_and_close(fd, &result);
		check_equal(result.end, 0);
		check_equal(result.damages, !cases[i].fine);
	}
}

static void test_header(void)
{
	static const char zeros[] = "00000000000000000000000000000000";
	struct timex timex = { 0 };
	struct elog_writer *writer;
	struct elog_reader *reader;
	struct elog_item item;
	const char *text;
	char id[64] = "";
	FILE *file;
	int fd = new_file();

	writer = open_writer(fd);
	check_equal(elog_writer_end(writer, 0), 0);
	elog_writer_close(writer);
	reader = open_reader(fd);
	check_equal(elog_reader_next(reader, &item), 1);
	check_equal(item.type, ELOG_ITEM_PART);
	check_string(elog_reader_info(reader, "version"), "2");
	check_string(elog_reader_info(reader, "flags"), "0x0");
	text = elog_reader_info(reader, "machine_id");
	check(is_id(text));
	file = fopen("/etc/machine-id", "re");
	if (!file || fscanf(file, "%63s", id) != 1 || !is_id(id))
		strcpy(id, zeros);
	if (file)
		fclose(file);
	check_string(text ? text : "", id);
	file = fopen("/proc/sys/kernel/random/boot_id", "re");
	check(file && fscanf(file, "%63s", id) == 1);
	if (file)
		fclose(file);
	text = elog_reader_info(reader, "boot_id");
	check_string(text ? text : "", id);
	text = elog_reader_info(reader, "clock_error");
	check(text && strspn(text, "0123456789") == strlen(text));
	if (text && adjtimex(&timex) >= 0 && timex.status & STA_UNSYNC)
		check_string(text, "0");
	elog_reader_close(reader);
	close(fd);
}

int main(void)
{
	static const struct test tests[] = {
		{ "streams that share a CPU, or have none, merge by time", test_shared },
		{ "losses have any number of causes up to 64", test_causes },
		{ "streams with different numbers of causes", test_mixed_causes },
		{ "wrong numbers of causes are damage", test_wrong_causes },
		{ "blocks of later versions may have more members", test_grown },
		{ "seeking knows losses and positions of all streams", test_seek },
		{ "events have the wall-clock time of their emission", test_clock_set },
		{ "events and losses have their instance", test_instances },
		{ "names of instances are checked", test_wrong_instances },
		{ "the header: machine, boot, error of the clock, flags", test_header },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
