// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of what a writer stores by itself: schemas, names of threads, single items, and
 * losses that continue in the next file. They need no kernel module. Prints TAP.
 */
#include "file/file_source.h"
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
		{ "losses continue in the next file", test_continues },
		{ "a file is copied item by item", test_copy },
		{ "several files of a capture", test_files },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
