// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of what a writer stores by itself: schemas, names of threads, single items, and
 * losses that continue in the next file. They need no kernel module. Prints TAP.
 */
#include "file/file_source.h"
#include "file/instances.h"
#include "unexported/consumer.h"
#include "unexported/writer.h"
#include "util/process.h"

struct asked {
	unsigned int count[8];	/* by descriptor */
	int error;		/* for descriptor 3 */
};

/* Descriptors 1 and 2 are events, 3 fails, all others were deleted. */
static int get_definition(void *context, struct eventlog_describe *request, char **text)
{
	struct asked *asked = context;

	asked->count[request->descriptor % 8]++;
	if (request->descriptor == 3 && asked->error)
		return asked->error;
	if (request->descriptor != 1 && request->descriptor != 2)
		return -ENOENT;
	request->provider_id = 9;
	*text = strdup(request->descriptor == 1 ? "eventlog 1\nprovider p\nevent 1 one info -\n" :
		       "eventlog 1\nprovider p\nevent 1 two info -\n");
	return 0;
}

static struct elog_writer *open_writer(int fd, struct asked *asked,
				       struct elog_processes *processes,
				       const struct elog_writer *continues)
{
	const struct elog_writer_options options = {
		.size = sizeof(options),
		.context = asked,
		.definition = get_definition,
		.processes = processes,
		.threads_max = 4,
		.continues = continues,
	};
	struct elog_writer *writer = NULL;

	check_equal(elog_writer_open(&writer, fd, &options), 0);
	return writer;
}

static struct elog_item make_event(uint32_t descriptor, uint64_t time, uint32_t tid)
{
	return (struct elog_item){
		.type = ELOG_ITEM_EVENT, .cpu = time % 3, .stream = time % 3,
		.context = EVENTLOG_CONTEXT_SOFTIRQ, .descriptor = descriptor, .time = time,
		.session = 5, .pid = 50, .tid = tid, .payload = "payload!", .payload_size = 8,
	};
}

static unsigned int count_blocks(int fd, uint32_t type)
{
	struct elog_block_header header;
	unsigned int count = 0;
	unsigned char *bytes;
	size_t size, at;

	bytes = load(fd, &size);
	for (at = 0; at < size; at += block_size(bytes + at)) {
		memcpy(&header, bytes + at, sizeof(header));
		count += le32toh(header.type) == type;
	}
	free(bytes);
	return count;
}

/* Items are stored with schemas and names, each once, and are read as they were. */
static void test_items(void)
{
	struct elog_processes *processes = elog_processes_new_offline();
	static const char *const names[] = { "one", "two" };
	const struct elog_schema_event *event;
	struct asked asked = { .error = 0 };
	struct elog_item item, expected;
	struct elog_writer *writer;
	struct elog_reader *reader;
	uint64_t time = 1000;
	int fd = new_file();

	elog_processes_learn(processes, 50, 60, "sixty");
	elog_processes_learn(processes, 50, 61, "sixtyone");
	writer = open_writer(fd, &asked, processes, NULL);
	for (time = 1000; time < 1100; time++) {
		item = make_event(1 + time % 2, time, 60 + time % 2);
		check_equal(elog_writer_add(writer, &item), 0);
		if (time % 30 == 0)
			check_equal(elog_writer_sync(writer, time, NULL, 0), 0);
	}
	item = make_event(4, time, 60);
	check_equal(elog_writer_add(writer, &item), 0);
	check_equal(elog_writer_add(writer, &item), 0);
	check_equal(elog_writer_sync(writer, time + 1, NULL, 0), 0);
	check_equal(elog_writer_events(writer), 102);
	check_equal(elog_writer_end(writer, UINT64_MAX), 0);
	elog_writer_close(writer);
	check_equal(asked.count[1], 1);
	check_equal(asked.count[2], 1);
	check_equal(asked.count[4], 1);
	check_equal(count_blocks(fd, ELOG_BLOCK_SCHEMA), 2);
	check_equal(count_blocks(fd, ELOG_BLOCK_PROCESSES), 1);

	lseek(fd, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, fd), 0);
	for (time = 1000; elog_reader_next(reader, &item) > 0; ) {
		check(item.type != ELOG_ITEM_DAMAGE && item.type != ELOG_ITEM_LOST);
		if (item.type != ELOG_ITEM_EVENT || time == 1100)
			continue;
		expected = make_event(1 + time % 2, time, 60 + time % 2);
		check_equal(item.cpu, expected.cpu);
		check_equal(item.context, expected.context);
		check_equal(item.descriptor, expected.descriptor);
		check_equal(item.time, time);
		check_equal(item.session, 5);
		check_equal(item.tid, expected.tid);
		check_equal(item.payload_size, 8);
		check(!memcmp(item.payload, "payload!", 8));
		check_equal(elog_reader_describe(reader, item.descriptor, &event), 0);
		check_string(event ? event->name : "", names[time % 2]);
		check_string(elog_processes_name(elog_reader_processes(reader), 50, item.tid),
			     item.tid == 60 ? "sixty" : "sixtyone");
		time++;
	}
	check_equal(time, 1100);
	elog_reader_close(reader);
	elog_processes_free(processes);
	close(fd);
}

/* A name is looked up again after a second, and stored again only if it has changed. */
static void test_names(void)
{
	static const struct {
		uint64_t time;
		const char *name;
		unsigned int blocks;
	} steps[] = {
		{ 0, "first", 1 }, { 900000000, "second", 1 }, { 1000000000, "second", 2 },
		{ 3000000000, "second", 2 }, { 4000000000, "third", 3 },
		{ 10, "fourth", 3 },
	};
	struct elog_processes *processes = elog_processes_new_offline();
	struct asked asked = { .error = 0 };
	struct elog_writer *writer;
	struct elog_item item;
	unsigned int i, j;
	int fd = new_file();

	writer = open_writer(fd, &asked, processes, NULL);
	for (i = 0; i < ELOG_ARRAY_SIZE(steps); i++) {
		elog_processes_learn(processes, 50, 60, steps[i].name);
		item = make_event(1, steps[i].time, 60);
		check_equal(elog_writer_add(writer, &item), 0);
		check_equal(elog_writer_sync(writer, 0, NULL, 0), 0);
		check_equal(count_blocks(fd, ELOG_BLOCK_PROCESSES), steps[i].blocks);
	}
	/* Only four names are remembered: five threads in turns are stored each time. */
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 5; j++) {
			item = make_event(1, 5000000000, 70 + j);
			check_equal(elog_writer_add(writer, &item), 0);
		}
		check_equal(elog_writer_sync(writer, 0, NULL, 0), 0);
		check_equal(count_blocks(fd, ELOG_BLOCK_PROCESSES), 4 + i);
	}
	elog_writer_close(writer);
	elog_processes_free(processes);
	close(fd);
}

/* A definition that cannot be read now is asked for again; the writer can go on. */
static void test_failed_definition(void)
{
	struct asked asked = { .error = -EIO };
	struct elog_item item = make_event(3, 1, 60);
	struct elog_writer *writer;
	int fd = new_file();

	writer = open_writer(fd, &asked, NULL, NULL);
	check_equal(elog_writer_add(writer, &item), -EIO);
	check_equal(elog_writer_add(writer, &item), -EIO);
	check_equal(asked.count[3], 2);
	asked.error = 0;
	check_equal(elog_writer_add(writer, &item), 0);
	check_equal(elog_writer_add(writer, &item), 0);
	check_equal(asked.count[3], 3);
	check_equal(elog_writer_sync(writer, 2, NULL, 0), 0);
	check_equal(elog_writer_events(writer), 1 + 1);
	elog_writer_close(writer);
	close(fd);
}

/* A file has names of so many instances; what has one of them is still stored after that. */
static void test_too_many_instances(void)
{
	struct elog_item item = make_event(1, 1, 60);
	struct asked asked = { .error = 0 };
	struct elog_writer *writer;
	int fd = new_file(), i;
	char name[16];

	writer = open_writer(fd, &asked, NULL, NULL);
	item.instance = name;
	for (i = 0; i <= ELOG_FILE_INSTANCES_MAX; i++) {
		snprintf(name, sizeof(name), "i%d", i);
		check_equal(elog_writer_add(writer, &item),
			    i < ELOG_FILE_INSTANCES_MAX ? 0 : -ENOSPC);
	}
	snprintf(name, sizeof(name), "i5");
	check_equal(elog_writer_add(writer, &item), 0);
	check_equal(elog_writer_sync(writer, 2, NULL, 0), 0);
	check_equal(elog_writer_events(writer), ELOG_FILE_INSTANCES_MAX + 1);
	elog_writer_close(writer);
	close(fd);
}

static uint64_t read_lost(int fd, uint64_t *events)
{
	struct elog_reader *reader;
	struct elog_item item;
	uint64_t lost = 0;
	uint32_t i;
	int ret;

	*events = 0;
	lseek(fd, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, fd), 0);
	while ((ret = elog_reader_next(reader, &item)) > 0) {
		check(item.type != ELOG_ITEM_DAMAGE);
		*events += item.type == ELOG_ITEM_EVENT;
		for (i = 0; i < item.lost_count; i++)
			lost += item.lost[i];
	}
	check_equal(ret, 0);
	elog_reader_close(reader);
	return lost;
}

/* Each of the files of a rotated capture reports the losses that are new in it. */
static void test_continues(void)
{
	const uint64_t lost[] = { 3, 0, 4 };
	struct elog_item loss = {
		.type = ELOG_ITEM_LOST, .cpu = 1, .stream = 1, .time = 5,
		.lost = lost, .lost_count = 3,
	};
	const uint64_t other[] = { 100 };
	const struct elog_writer_loss without_ring = {
		.cpu = EVENTLOG_CPU_UNKNOWN, .stream = ELOG_STREAM_NONE,
		.lost = other, .lost_count = 1,
	};
	struct elog_writer *writer = NULL, *before;
	struct asked asked = { .error = 0 };
	struct elog_block_end end;
	unsigned char *bytes;
	struct elog_item item;
	uint64_t events;
	unsigned int i;
	size_t size;
	int fd;

	for (i = 0; i < 3; i++) {
		before = writer;
		fd = new_file();
		writer = open_writer(fd, &asked, NULL, before);
		elog_writer_close(before);
		loss.time = 10 * i + 5;
		item = make_event(1, 10 * i + 6, 60);
		check_equal(elog_writer_add(writer, &loss), 0);
		check_equal(elog_writer_add(writer, &item), 0);
		check_equal(elog_writer_sync(writer, 10 * i + 9, &without_ring, i == 1), 0);
		check_equal(elog_writer_end(writer, UINT64_MAX), 0);
		check_equal(read_lost(fd, &events), i == 1 ? 107 : 7);
		check_equal(events, 1);
		bytes = load(fd, &size);
		memcpy(&end, bytes + size - sizeof(end), sizeof(end));
		check_equal(le64toh(end.records), 1);
		check_equal(le64toh(end.lost), 7 * (i + 1) + (i ? 100 : 0));
		free(bytes);
		close(fd);
	}
	elog_writer_close(writer);
	/* A schema is stored in each file. */
	check_equal(asked.count[1], 3);
}

/* A ring of events without payload, 32 bytes each, of one thread. */
struct raw {
	struct eventlog_record records[1000];
};

static void fill_raw(struct raw *raw, uint32_t count, uint32_t descriptor, uint64_t time)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		raw->records[i] = (struct eventlog_record){
			.size_flags = sizeof(raw->records[0]), .descriptor = descriptor,
			.time = time + i, .pid = 50, .tid = 60,
		};
}

static ssize_t store_meta(struct elog_writer *writer, const struct raw *raw, uint32_t count,
			  uint64_t position, uint32_t records, uint64_t look)
{
	const struct elog_raw_meta meta = {
		.size = sizeof(meta), .records = records, .look = look,
		.bytes = count * sizeof(raw->records[0]),
	};

	return elog_writer_raw_meta(writer, 0, 0, raw->records, meta.bytes, position, &meta);
}

/* The writer looks only at what may be new, and counts what it did not look at. */
static void test_meta(void)
{
	struct elog_processes *processes = elog_processes_new_offline();
	struct asked asked = { .error = 0 };
	struct elog_writer *writer;
	struct raw raw;
	uint64_t events;
	int fd = new_file();

	elog_processes_learn(processes, 50, 60, "sixty");
	writer = open_writer(fd, &asked, processes, NULL);
	fill_raw(&raw, 100, 1, 1000);
	raw.records[50].descriptor = 2;
	/* The first record only: one byte of it is enough. */
	check_equal(store_meta(writer, &raw, 100, 0, 100, 1), 3200);
	check_equal(asked.count[1], 1);
	check_equal(asked.count[2], 0);
	/* Up to the last record that is new. */
	check_equal(store_meta(writer, &raw, 100, 3200, 200, 50 * 32 + 1), 3200);
	check_equal(asked.count[2], 1);
	/* The name has changed since, without that a second has passed. */
	elog_processes_learn(processes, 50, 60, "renamed");
	check_equal(store_meta(writer, &raw, 100, 6400, 300, 0), 3200);
	check_equal(count_blocks(fd, ELOG_BLOCK_PROCESSES), 1);
	check_equal(store_meta(writer, &raw, 100, 9600, 400, 1), 3200);
	check_equal(count_blocks(fd, ELOG_BLOCK_PROCESSES), 2);
	/* Both ways of writing can alternate. */
	check_equal(elog_writer_raw(writer, 0, 0, raw.records, 320, 12800), 320);
	check_equal(store_meta(writer, &raw, 90, 13120, 500, 0), 2880);
	check_equal(elog_writer_events(writer), 500);
	check_equal(elog_writer_sync(writer, 5000, NULL, 0), 0);
	check_equal(elog_writer_end(writer, UINT64_MAX), 0);
	elog_writer_close(writer);
	check_equal(read_lost(fd, &events), 0);
	check_equal(events, 500);
	elog_processes_free(processes);
	close(fd);
}

/* If the numbers cannot be true, or records are missing, the writer looks at all. */
static void test_wrong_meta(void)
{
	static const struct {
		uint64_t position;
		uint32_t records;
		uint64_t look;
		uint64_t bytes;
		uint64_t size;
	} wrong[] = {
		{ 8, 10, 0, 320, 320 },		/* a ring begins at 0 */
		{ 0, 11, 0, 320, 320 },		/* more events than fit */
		{ 0, 0xffffffff, 0, 320, 320 },
		{ 0, 10, 321, 320, 320 },
		{ 0, 10, 0, 328, 320 },		/* more bytes than there are */
		{ 0, 10, 0, 0, 320 },
		{ 0, 10, 0, 316, 320 },
		{ 0, 0, 1, 320, 320 },		/* fewer events than those looked at */
	};
	const struct elog_raw_meta small = { .size = 4 };
	struct asked asked = { .error = 0 };
	struct elog_raw_meta meta;
	struct elog_writer *writer;
	struct raw raw;
	ssize_t ret;
	size_t i;
	int fd;

	fill_raw(&raw, 10, 1, 1000);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		fd = new_file();
		writer = open_writer(fd, &asked, NULL, NULL);
		meta = (struct elog_raw_meta){
			.size = sizeof(meta), .records = wrong[i].records,
			.look = wrong[i].look, .bytes = wrong[i].bytes,
		};
		ret = elog_writer_raw_meta(writer, 0, 0, raw.records, wrong[i].size,
					   wrong[i].position, &meta);
		check_equal(asked.count[1], i + 1);
		check(ret > 0);
		check_equal(elog_writer_events(writer), ret / 32);
		elog_writer_close(writer);
		close(fd);
	}
	/* A gap is never forgotten: what was in it may have been new. */
	fd = new_file();
	memset(&asked, 0, sizeof(asked));
	writer = open_writer(fd, &asked, NULL, NULL);
	check_equal(store_meta(writer, &raw, 10, 0, 10, 0), 320);
	check_equal(asked.count[1], 0);
	check_equal(store_meta(writer, &raw, 10, 640, 30, 0), 320);
	check_equal(asked.count[1], 1);
	raw.records[5].descriptor = 2;
	check_equal(store_meta(writer, &raw, 10, 960, 40, 0), 320);
	check_equal(asked.count[2], 1);
	/* What precedes damage is stored; the rest is no record. */
	raw.records[5].size_flags = 0;
	check_equal(store_meta(writer, &raw, 10, 1280, 50, 320), 160);
	check_equal(store_meta(writer, &raw, 5, 1440, 50, 160), 160);
	check_equal(elog_writer_raw_meta(writer, 0, 0, raw.records, 320, 1600, &small), -EINVAL);
	elog_writer_close(writer);
	close(fd);
	fd = new_file();
	writer = open_writer(fd, &asked, NULL, NULL);
	check_equal(store_meta(writer, &raw, 10, 0, 10, 320), 160);
	fill_raw(&raw, 10, 1, 1000);
	raw.records[0].size_flags = 0;
	check_equal(store_meta(writer, &raw, 10, 160, 15, 320), -EBADMSG);
	elog_writer_close(writer);
	close(fd);
}

/* The next file has what later records do not bring any more. */
static void test_continued_meta(void)
{
	struct elog_processes *processes = elog_processes_new_offline();
	struct elog_writer *writer = NULL, *before;
	struct asked asked = { .error = 0 };
	struct raw raw;
	uint64_t events;
	unsigned int i;
	int fd;

	elog_processes_learn(processes, 50, 60, "sixty");
	fill_raw(&raw, 10, 1, 1000);
	for (i = 0; i < 3; i++) {
		before = writer;
		fd = new_file();
		writer = open_writer(fd, &asked, processes, before);
		elog_writer_close(before);
		check_equal(store_meta(writer, &raw, 10, i * 320, (i + 1) * 10, !i), 320);
		check_equal(elog_writer_end(writer, UINT64_MAX), 0);
		check_equal(count_blocks(fd, ELOG_BLOCK_SCHEMA), 1);
		check_equal(count_blocks(fd, ELOG_BLOCK_PROCESSES), 1);
		check_equal(read_lost(fd, &events), 0);
		check_equal(events, 10);
		close(fd);
	}
	check_equal(asked.count[1], 3);
	elog_writer_close(writer);

	/* If these are too many, the writer of the next file looks at all records. */
	memset(&asked, 0, sizeof(asked));
	fd = new_file();
	writer = open_writer(fd, &asked, NULL, NULL);
	fill_raw(&raw, 1000, 1, 1000);
	for (i = 0; i < 1000; i++)
		raw.records[i].descriptor = 8 * (i + 1);
	check_equal(store_meta(writer, &raw, 1000, 0, 1000, 32000), 32000);
	check_equal(asked.count[0], 1000);
	for (i = 0; i < 2; i++) {
		before = writer;
		writer = open_writer(fd, &asked, NULL, before);
		elog_writer_close(before);
		check_equal(asked.count[0], 1000 + i);
		check_equal(store_meta(writer, &raw, 1, 32000 + 32 * i, 1001 + i, 0), 32);
		check_equal(asked.count[0], 1001 + i);
	}
	elog_writer_close(writer);
	close(fd);
	elog_processes_free(processes);
}

/* What one file holds can be stored in another, with a filter between them. */
static void test_copy(void)
{
	struct sequence first, second;
	struct elog_reader *reader;
	struct elog_writer *writer;
	struct source source;
	struct elog_item item;
	const struct elog_writer_options options = { .size = sizeof(options) };
	int from = new_file(), to = new_file();
	struct result result;

	write_part(&source, from, 500, 0, true);
	lseek(from, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, from), 0);
	check_equal(elog_writer_open(&writer, to, &options), 0);
	check_equal(elog_writer_schema(writer, 1, 7, schema), 0);
	while (elog_reader_next(reader, &item) > 0) {
		check_equal(elog_writer_add(writer, &item), 0);
		if (item.type == ELOG_ITEM_SYNC)
			check_equal(elog_writer_sync(writer, item.time, NULL, 0), 0);
	}
	check_equal(elog_writer_end(writer, UINT64_MAX), 0);
	elog_writer_close(writer);
	elog_reader_close(reader);
	lseek(to, 0, SEEK_SET);
	read_all(to, &result);
	check_whole(&result, 500);
	check_equal(result.lost, 15);
	lseek(from, 0, SEEK_SET);
	lseek(to, 0, SEEK_SET);
	read_sequence(from, 0, &first);
	read_sequence(to, 0, &second);
	check_equal(second.count, first.count);
	free(first.seen);
	free(second.seen);
	close(from);
	close(to);
}

/* Readers find the other files of a capture by its number and id. */
static void test_files(void)
{
	struct elog_writer_options options = { .size = sizeof(options), .capture = "id 7" };
	struct elog_reader *reader;
	struct elog_writer *writer;
	struct elog_item item;
	uint32_t files;
	int fd;

	for (files = 0; files < 4; files++) {
		fd = new_file();
		options.files = files;
		check_equal(elog_writer_open(&writer, fd, &options), 0);
		elog_writer_close(writer);
		lseek(fd, 0, SEEK_SET);
		check_equal(elog_reader_open(&reader, fd), 0);
		check_equal(elog_reader_next(reader, &item), 1);
		check_equal(item.type, ELOG_ITEM_PART);
		check_string(elog_reader_info(reader, "capture"), "id 7");
		if (files > 1)
			check_equal(atoi(elog_reader_info(reader, "files") ?: "0"), files);
		else
			check(!elog_reader_info(reader, "files"));
		elog_reader_close(reader);
		close(fd);
	}
}

int main(void)
{
	static const struct test tests[] = {
		{ "items are stored with schemas and names, each once", test_items },
		{ "names are stored again when they change", test_names },
		{ "a definition that cannot be read is asked for again", test_failed_definition },
		{ "a file has names of a limited number of instances", test_too_many_instances },
		{ "losses continue in the next file", test_continues },
		{ "the kernel's metadata replaces a look at each record", test_meta },
		{ "metadata that cannot be true is ignored", test_wrong_meta },
		{ "the next file repeats schemas and names", test_continued_meta },
		{ "a file is copied item by item", test_copy },
		{ "several files of a capture", test_files },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
