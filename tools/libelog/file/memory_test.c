// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Each allocation of memory fails once, while files are written and read, schemas and filters are
 * parsed, and filters are compiled for the kernel. What is called must return -ENOMEM, or give the
 * right result; the sanitizers notice what is not freed. Needs no kernel module. Prints TAP.
 *
 * The linker puts the functions __wrap_*() in front of those of the C library.
 */
#include "file/file_source.h"
#include "unexported/consumer.h"
#include "util/process.h"

static unsigned long fail_at, calls;
static bool failed;

static bool fails(void)
{
	if (!fail_at || ++calls != fail_at)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
char *__wrap_strndup(const char *text, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, count, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
	return fails() ? NULL : __real_strndup(text, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(align, size);
}

#ifdef ELOG_ZSTD
void *__real_ZSTD_createCCtx(void);
void *__wrap_ZSTD_createCCtx(void);
void *__real_ZSTD_createDCtx(void);
void *__wrap_ZSTD_createDCtx(void);

void *__wrap_ZSTD_createCCtx(void)
{
	return fails() ? NULL : __real_ZSTD_createCCtx();
}

void *__wrap_ZSTD_createDCtx(void)
{
	return fails() ? NULL : __real_ZSTD_createDCtx();
}
#endif

/* ---- schemas and filters ---- */

static const char rich[] =
	"eventlog 1\n"
	"provider shop\n"
	"keyword fast 0x2\n"
	"enum state\n"
	"	-2 LOW\n"
	"	1 OPEN\n"
	"flags bits\n"
	"	0x1 FIRST\n"
	"event 1 sold info fast,0x100\n"
	"	u32 count as hex\n"
	"	u64 price\n"
	"	enum:state:s32 state\n"
	"	flags:bits:u16 bits\n"
	"	char[8] kind\n"
	"	ipv4 peer\n"
	"	struct:opaque:2 rest\n"
	"	string note\n";

static int use_schema(void)
{
	const struct elog_schema_event *event;
	struct elog_schema *schema_of = NULL;
	int ret;

	ret = elog_schema_parse(rich, strlen(rich), &schema_of, NULL);
	if (ret)
		return ret;
	check_equal(schema_of->providers[0]->event_count, 1);
	event = schema_of->providers[0]->events[0];
	check_string(event->name, "sold");
	check_equal(event->field_count, 8);
	check_string(event->fields[7]->name, "note");
	elog_schema_free(schema_of);
	return 0;
}

static int use_filter_on(const struct elog_schema_event *event)
{
	static const char text[] = "count > 5 && (kind ~ \"^a(b|c)\" || state == OPEN) && "
		"!(peer == 10.0.0.0/8) && comm != \"x\" && note ~ \"y\" || price >= 3";
	struct elog_expression *expression = NULL;
	struct elog_predicate *predicate = NULL;
	struct elog_filter *filter = NULL;
	struct elog_expression_error error;
	int ret;

	ret = elog_expression_parse(text, &expression, &error);
	if (ret) {
		if (ret != -ENOMEM)
			printf("# column %u: %s\n", error.column, error.message);
		return ret;
	}
	ret = elog_expression_bind(expression, event, &predicate, &error);
	if (!ret)
		ret = elog_expression_compile((const struct elog_expression *const *)&expression, 1,
					      0, &filter, &error);
	if (!ret)
		check(filter->text != NULL);
	else if (ret != -ENOMEM)
		printf("# column %u: %s\n", error.column, error.message);
	elog_filter_free(filter);
	elog_predicate_free(predicate);
	elog_expression_free(expression);
	return ret;
}

static int use_filter(void)
{
	struct elog_schema *schema_of = NULL;
	int ret;

	ret = elog_schema_parse(rich, strlen(rich), &schema_of, NULL);
	if (ret)
		return ret;
	ret = use_filter_on(schema_of->providers[0]->events[0]);
	elog_schema_free(schema_of);
	return ret;
}

/* ---- files ---- */

#define EVENTS	200

static int get_definition(void *context, struct eventlog_describe *request, char **text)
{
	(void)context;
	if (request->descriptor > 2)
		return -ENOENT;
	request->provider_id = 9;
	/* Nothing of the library. */
	*text = __real_strdup(rich);
	return 0;
}

static int add_items(struct elog_writer *writer, uint64_t first)
{
	const uint64_t lost[] = { 3, 0, 4 };
	struct elog_item item = {
		.context = EVENTLOG_CONTEXT_SOFTIRQ, .session = 5, .pid = 50,
		.payload = "payload!", .payload_size = 8,
	};
	const struct elog_writer_loss loss = {
		.cpu = EVENTLOG_CPU_UNKNOWN, .stream = ELOG_STREAM_NONE,
		.lost = lost, .lost_count = 3,
	};
	uint64_t time;
	int ret;

	for (time = first; time < first + EVENTS; time++) {
		item.type = time % 50 ? ELOG_ITEM_EVENT : ELOG_ITEM_LOST;
		item.cpu = item.stream = time % 3;
		item.instance = item.stream == 2 ? "web" : NULL;
		item.descriptor = 1 + time % 3;
		item.time = time;
		item.tid = 60 + time % 7;
		item.lost = lost;
		item.lost_count = 3;
		ret = elog_writer_add(writer, &item);
		if (!ret && time % 60 == 0)
			ret = elog_writer_sync(writer, time, &loss, 1);
		if (ret)
			return ret;
	}
	ret = elog_writer_sync(writer, time, NULL, 0);
	return ret ? ret : elog_writer_end(writer, UINT64_MAX);
}

static int write_files(const int *fds, uint32_t level, struct elog_processes *processes)
{
	struct elog_writer_options options = {
		.size = sizeof(options), .program = "test 1", .command = "make\nit up", .cpus = 3,
		.compression = level, .definition = get_definition, .processes = processes,
		.threads_max = 4,
	};
	struct elog_writer *first = NULL, *second = NULL;
	int ret;

	ret = elog_writer_open(&first, fds[0], &options);
	if (ret)
		return ret;
	elog_writer_interval(first, 1);
	ret = add_items(first, 1000);
	options.continues = first;
	if (!ret)
		ret = elog_writer_open(&second, fds[1], &options);
	if (!ret)
		ret = add_items(second, 2000);
	elog_writer_close(second);
	elog_writer_close(first);
	return ret;
}

static int open_files(struct elog_reader_set *set, const int *fds, uint64_t from)
{
	struct elog_reader *reader;
	int i, ret;

	for (i = 0; i < 2; i++) {
		lseek(fds[i], 0, SEEK_SET);
		ret = elog_reader_set_add(set, fds[i], &reader);
		if (!ret && from)
			ret = elog_reader_seek(reader, from);
		if (ret)
			return ret;
	}
	return 0;
}

/* One file could not be read on: the other one continues. Adds to @events. */
static void read_other(struct elog_reader_set *set, const struct elog_reader *broken,
		       uint64_t *events)
{
	struct elog_reader *reader;
	struct elog_item item;
	int ret;

	while ((ret = elog_reader_set_next(set, &item, &reader)) > 0) {
		check(reader != broken);
		*events += item.type == ELOG_ITEM_EVENT;
	}
	check_equal(ret, 0);
}

/* Return: 0 or a negative errno. @events: those that are not earlier than @from, and others. */
static int read_files(const int *fds, uint64_t from, uint64_t *events)
{
	const struct elog_schema_event *event;
	struct elog_reader_set *set = NULL;
	struct elog_reader *reader;
	struct elog_item item;
	int ret, described = 0;

	*events = 0;
	ret = elog_reader_set_open(&set);
	if (ret)
		return ret;
	ret = open_files(set, fds, from);
	reader = NULL;
	while (!ret && (ret = elog_reader_set_next(set, &item, &reader)) > 0) {
		check(item.type != ELOG_ITEM_DAMAGE);
		ret = 0;
		if (item.type != ELOG_ITEM_EVENT)
			continue;
		++*events;
		described = elog_reader_describe(reader, item.descriptor, &event);
		if (described == -ENOMEM)
			ret = described;
		else
			check_equal(described, item.descriptor == 3 ? -ENOENT : 0);
	}
	if (ret == -ENOMEM && described != -ENOMEM && reader) {
		read_other(set, reader, events);
		check(from || *events >= EVENTS - EVENTS / 50);
	}
	elog_reader_set_close(set);
	return ret;
}

static uint32_t level;

/* What could not be written is reported; what is there can be read. */
static int use_writer(void)
{
	const int fds[] = { new_file(), new_file() };
	struct elog_processes *processes = elog_processes_new_offline();
	uint64_t events;
	int i, ret = processes ? 0 : -ENOMEM;

	for (i = 0; processes && i < 7; i++)
		elog_processes_learn(processes, 50, 60 + i, "sixty");
	if (!ret)
		ret = write_files(fds, level, processes);
	elog_processes_free(processes);
	fail_at = 0;
	if (!ret) {
		check_equal(read_files(fds, 0, &events), 0);
		check_equal(events, 2 * (EVENTS - EVENTS / 50));
	}
	close(fds[0]);
	close(fds[1]);
	return ret;
}

static int written[2];
static uint64_t from;

static int use_reader(void)
{
	uint64_t events;
	int ret;

	ret = read_files(written, from, &events);
	if (!ret)
		check(from ? events != 0 : events == 2 * (EVENTS - EVENTS / 50));
	return ret;
}

static int use_source(void)
{
	int fd = new_file(), i, ret;
	struct elog_writer_options options = {
		.size = sizeof(options), .definition = get_definition, .threads_max = 4,
	};
	struct eventlog_record records[100];
	struct elog_writer *writer = NULL;
	ssize_t stored = 0;
	size_t at;

	for (i = 0; i < 100; i++)
		records[i] = (struct eventlog_record){
			.size_flags = sizeof(records[0]), .descriptor = 1 + i % 4,
			.time = 1000 + i, .pid = 50, .tid = 60 + i % 9,
		};
	ret = elog_writer_open(&writer, fd, &options);
	for (at = 0; !ret && at < sizeof(records); at += (size_t)stored) {
		stored = elog_writer_raw(writer, 1, 1, (const char *)records + at,
					 sizeof(records) - at, at);
		if (stored < 0)
			ret = (int)stored;
	}
	if (!ret)
		ret = elog_writer_clock_set(writer, 5000, 77);
	if (!ret)
		ret = elog_writer_end(writer, 3);
	if (!ret)
		check_equal(elog_writer_events(writer), 100);
	elog_writer_close(writer);
	close(fd);
	return ret;
}

/* Lets the first call fail, then the second one, until a use has fewer. */
static void fail_each(int (*use)(void))
{
	unsigned long n;
	int ret;

	for (n = 1; n < 100000; n++) {
		fail_at = n;
		calls = 0;
		failed = false;
		ret = use();
		fail_at = 0;
		if (!failed || (ret && ret != -ENOMEM) || failures)
			break;
	}
	check_equal(ret, 0);
	check(!failed);
	check(n > 3);
}

static void test_schema(void)
{
	fail_each(use_schema);
}

static void test_filter(void)
{
	fail_each(use_filter);
}

static void test_writer(void)
{
	level = 0;
	fail_each(use_writer);
}

static void test_raw(void)
{
	fail_each(use_source);
}

static void test_compressed(void)
{
#ifdef ELOG_ZSTD
	level = 1;
	fail_each(use_writer);
#endif
}

static void read_of(uint32_t compressed, uint64_t since)
{
	struct elog_processes *processes = elog_processes_new_offline();

	written[0] = new_file();
	written[1] = new_file();
	check_equal(write_files(written, compressed, processes), 0);
	elog_processes_free(processes);
	from = since;
	fail_each(use_reader);
	close(written[0]);
	close(written[1]);
}

static void test_reader(void)
{
	read_of(0, 0);
#ifdef ELOG_ZSTD
	read_of(1, 0);
#endif
}

static void test_seek(void)
{
	read_of(0, 1);
}

static const struct test tests[] = {
	{ "memory is short: a schema is parsed", test_schema },
	{ "memory is short: a filter is parsed, bound and compiled", test_filter },
	{ "memory is short: items are written", test_writer },
	{ "memory is short: records are written", test_raw },
	{ "memory is short: compressed items are written", test_compressed },
	{ "memory is short: files are read as one", test_reader },
	{ "memory is short: files are read from a time on", test_seek },
};

int main(void)
{
	return run_tests(tests, ELOG_ARRAY_SIZE(tests), NULL);
}
