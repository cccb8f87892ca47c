// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of filters with the kernel module: random expressions and random events. A
 * consumer without a filter gets all events. The others have a filter each, and must get
 * exactly the events for which user space has the same result. Prints TAP.
 *
 * Needs root and the module; for the types of kernel providers, its path in EVENTLOG_KO,
 * with the test modules beside it. With a number as argument, random numbers begin with
 * it: each run prints its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "elog.h"
#include "util/tap.h"
#include "util/test_filter.h"
#include "util/test_random.h"
#include "util/random_expression.h"
#include "util/util.h"

static uint64_t seed;

#define FILTERS		12
#define EVENTS		150	/* fit in a ring */
#define ROUNDS		40
#define RING_BYTES	131072

#define NUMBERS "0 1 -1 5 127 128 -128 255 256 65535 0xffffffff 2147483648 -2147483648 " \
	"9223372036854775807 9223372036854775808 -9223372036854775808 18446744073709551615 " \
	"1|4 64K \"1\" \"5\""
#define TEXTS "\"\" a ab abc \"abcd\" abcde b \"^a\" \"^ab$\" \"b$\" \"a.c\" \"^\" \"^$\" 1 "\
	"\"A\" \"abcdefghijklmnopqrstuvwxyz\" \"\xc3\xa4\""
#define OCTETS "00 0000 0100 \"00ff\" 00FF 0 \"\" 0g"
#define NAME "some (comm)"

static const char command[] =
	"e u8 byte;u16 half;u32 word;u64 whole;s8 sbyte;s16 shalf;s32 sword;"
	"s64 swhole;char[4] chars;unsigned char[2] octets;struct key key 2;"
	"__data_loc char[] path;__data_loc unsigned char[] raw;__rel_loc char[] relative;"
	"__rel_loc unsigned char[] none;u32 tid";

static char pids[32], cpus[16];
static const struct random_field fields[] = {
	{ "byte", NUMBERS }, { "half", NUMBERS }, { "word", NUMBERS }, { "whole", NUMBERS },
	{ "sbyte", NUMBERS }, { "shalf", NUMBERS }, { "sword", NUMBERS },
	{ "swhole", NUMBERS },
	{ "chars", TEXTS }, { "octets", OCTETS }, { "key", OCTETS },
	{ "path", TEXTS }, { "raw", OCTETS }, { "relative", TEXTS }, { "none", OCTETS },
	{ "tid", "7 8 100" }, { "pid", pids }, { "@pid", pids }, { "@tid", pids },
	{ "cpu", "0 1 2" }, { "@cpu", cpus }, { "session", "0 9223372036854775809 5" },
	{ "comm", "some \"" NAME "\" \"^some\" some.*" }, { "@comm", "\"" NAME "\"" },
	{ "missing", NUMBERS }, { "time", "1s 8s" }, { "level", "info 5 error" },
	{ "@keywords", "1 x" }, { "event", "e f" }, { "provider", "\"filter_test\" x" },
	/* Values of types that processes cannot register. */
	{ "path", "1.2.3.4 ::/0 true FIN|1 00:11:22:aa:bb:cc" },
	{ "byte", "1.2.3.4 true FIN|1 00:11:22:aa:bb:cc" },
};

static uint64_t likely_number(void)
{
	static const uint64_t numbers[] = {
		0, 1, 2, 5, 127, 128, 255, 256, 1000, 65535, 65536, 0x7fffffff, 0x80000000,
		0xffffffff, INT64_MAX, 1ULL << 63, UINT64_MAX, UINT64_MAX - 1,
	};

	return random_number(4) ? numbers[random_number(ELOG_ARRAY_SIZE(numbers))] :
				  random_number(UINT64_MAX);
}

static const char *likely_text(void)
{
	static const char *const texts[] = {
		"", "a", "ab", "abc", "abcd", "abcde", "b", "1", "A",
		"abcdefghijklmnopqrstuvwxyz", "\xc3\xa4", "true", "1.2.3.4",
	};

	return texts[random_number(ELOG_ARRAY_SIZE(texts))];
}

/* ------------------------------------------------------------------------
 * Events of this process
 */

static struct elog_producer *producer;
static struct elog_event *event;

static void open_producer(void)
{
	check_equal(elog_producer_open(&producer, NULL), 0);
	check_equal(elog_producer_connect(producer), 0);
	check_equal(elog_event_register(producer, "filter_test", command, 0, 0, 0, &event), 0);
}

static int emit_own(void)
{
	static const uint64_t sessions[] = { 0, 5, 0x8000000000000001 };
	static const unsigned char sizes[] = { 1, 2, 4, 8, 1, 2, 4, 8 };
	struct elog_payload payload;
	unsigned char buffer[512];
	unsigned int i;

	elog_payload_init(&payload, buffer, sizeof(buffer));
	for (i = 0; i < ELOG_ARRAY_SIZE(sizes); i++)
		elog_payload_integer(&payload, likely_number(), sizes[i]);
	elog_payload_chars(&payload, likely_text(), 4);
	elog_payload_raw(&payload, random_number(2) ? "\0\xff" : "\0", 2);
	elog_payload_raw(&payload, random_number(2) ? "\1" : "\0", 2);
	elog_payload_string(&payload, likely_text());
	elog_payload_bytes(&payload, "\0\xff", random_number(3));
	elog_payload_string_rel(&payload, likely_text());
	elog_payload_bytes_rel(&payload, "\1", random_number(3));
	elog_payload_u32(&payload, 7);
	return elog_event_emit(event, sessions[random_number(3)], &payload);
}

/* ------------------------------------------------------------------------
 * Events of the kernel provider filter_test, which has the other types
 */

#define KERNEL_MODULE "eventlog_filter_test"

static const struct random_field kernel_fields[] = {
	{ "flag", "true false 1 0 2" }, { "pointer", NUMBERS },
	{ "v4", "10.1.2.3 10.0.0.0/8 0.0.0.0/0 ::/0 ::ffff:10.1.2.3 ::ffff:0:0/96 ::a01:203 "
	  "0.0.0.1 0.0.0.5/31" },
	{ "v6", "10.1.2.3 10.0.0.0/8 ::ffff:10.1.2.3 fd00::a01:203 fd00::/8 ::/0 fc00::/7 "
	  "0.0.0.0/0 fd00::1 fd00::/127" },
	{ "mac", "02:00:0a:01:02:03 02:00:0A:01:02:03 02:00:00:00:00:00 1:2" },
	{ "port", "443 0 65535 5 515" },
	{ "colour", "RED BLUE NONE 1 -2 5 \"RED\" GREEN" },
	{ "bits", "ONE SIXTEEN ONE|SIXTEEN ONE|0x10 1|0x8000 5 \"ONE|4\" ONE|1K ONE|" },
	{ "chars", TEXTS }, { "text", TEXTS " \"(null)\"" },
	{ "time", "1s 5 0" }, { "duration", "1s 5 0 4294967296" },
	{ "data", OCTETS " 61 6162 616263" },
	{ "octets", "05050505050505050505050505050505 00 "
	  "00000000000000000000000000000000" },
	{ "raw", "0a010203 00000005 00 00000000" },
	{ "@pid", pids }, { "pid", pids }, { "session", "5 4294967296 0" },
	{ "comm", "\"" NAME "\"" }, { "missing", NUMBERS }, { "level", "info 5 error" },
	{ "event", "types x" },
};

static int kernel_emit = -1;

static bool load_kernel_provider(void)
{
	const char *path = getenv("EVENTLOG_KO");
	char name[PATH_MAX];
	int fd, ret;

	if (!path)
		return false;
	snprintf(name, sizeof(name), "%.*smodule/ktest/" KERNEL_MODULE ".ko",
		 strrchr(path, '/') ? (int)(strrchr(path, '/') + 1 - path) : 0, path);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ret = (int)syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	if (ret)
		return false;
	kernel_emit = open("/sys/module/" KERNEL_MODULE "/parameters/emit", O_WRONLY | O_CLOEXEC);
	return kernel_emit >= 0;
}

static void unload_kernel_provider(void)
{
	close(kernel_emit);
	check_equal(syscall(SYS_delete_module, KERNEL_MODULE, O_NONBLOCK), 0);
}

static int emit_kernel(void)
{
	static const uint64_t numbers[] = {
		0, 1, 2, 3, 5, 16, 17, 254, 0x101, 443, 515, 0x8000, 0x8001, 0x0a010203,
		0x10a010203, 0x100000000, 1000000000,
	};
	uint64_t number = random_number(3) ? numbers[random_number(ELOG_ARRAY_SIZE(numbers))] :
					     likely_number();
	char line[128];
	int size;

	/* Without text the string is NULL. */
	size = random_number(8) ? snprintf(line, sizeof(line), "%llu %s",
					   (unsigned long long)number, likely_text()) :
				  snprintf(line, sizeof(line), "%llu",
					   (unsigned long long)number);
	return write(kernel_emit, line, (size_t)size) == size ? 0 : -errno;
}

/* ------------------------------------------------------------------------
 * Comparing
 */

/* Events of one kind. */
struct generator {
	const struct random_field *fields;
	size_t field_count;
	int (*emit)(void);
};

/* The payloads of a round. */
static struct {
	unsigned char data[512];
	size_t size;
} payloads[EVENTS];

/* A consumer with a filter, and what it must get. */
struct filtered {
	struct elog_consumer *consumer;
	struct elog_expression *expression;
	struct elog_predicate *predicate;
	struct elog_filter *filter;
	int bound;
	uint32_t rule_id;
	struct elog_text text;
	unsigned int expected[EVENTS];	/* indexes of payloads */
	unsigned int count;
	unsigned int incompatible;
	uint64_t records;		/* before this round */
};

static struct elog_consumer *open_consumer(void)
{
	const struct elog_consumer_options options = {
		.size = sizeof(options), .ring_bytes = RING_BYTES,
	};
	struct elog_consumer *consumer = NULL;

	check_equal(elog_consumer_open(&consumer, &options), 0);
	return consumer;
}

static int add_rule(struct elog_consumer *consumer, const struct elog_filter *filter,
		    uint32_t sample, uint32_t *rule_id)
{
	const struct elog_rule rule = {
		.size = sizeof(rule), .provider = "filter_test", .sample = sample,
		.filter = filter ? filter->filter : NULL,
	};

	return elog_consumer_rule_add(consumer, &rule, rule_id);
}

/* Repeat until the kernel can decide something. */
static void begin_filter(struct filtered *filtered, const struct generator *generator,
			 const struct elog_schema_event *schema)
{
	const struct elog_expression *expressions[1];
	int ret;

	do {
		filtered->text.size = 0;
		put_random_expression(&filtered->text, (unsigned int)random_number(5),
				      generator->fields, generator->field_count);
		check_equal(elog_expression_parse(filtered->text.data, &filtered->expression,
						  NULL), 0);
		expressions[0] = filtered->expression;
		ret = elog_expression_compile(expressions, 1, 0, &filtered->filter, NULL);
		if (ret)
			elog_expression_free(filtered->expression);
	} while (ret == -ENOENT);
	check_equal(ret, 0);
	filtered->bound = elog_expression_bind(filtered->expression, schema,
					       &filtered->predicate, NULL);
	filtered->count = 0;
	filtered->incompatible = 0;
	ret = add_rule(filtered->consumer, filtered->filter, 0, &filtered->rule_id);
	if (ret)
		fail(__FILE__, __LINE__, "%s: %s", filtered->filter->text, strerror(-ret));
}

static void end_filter(struct filtered *filtered)
{
	check_equal(elog_consumer_rule_delete(filtered->consumer, filtered->rule_id), 0);
	elog_predicate_free(filtered->predicate);
	elog_filter_free(filtered->filter);
	elog_expression_free(filtered->expression);
}

/* Evaluate all filters on an event that the kernel has delivered to everyone. */
static void expect(struct filtered *all, const struct elog_schema_event *schema,
		   const struct elog_item *item, unsigned int index)
{
	struct filtered *filtered;
	bool whole, passes, incompatible;

	for (filtered = all; filtered < all + FILTERS; filtered++) {
		incompatible = false;
		passes = record_filter_holds(filtered->filter->filter, schema, item, NAME,
					     &incompatible);
		whole = !filtered->bound &&
			elog_predicate_match(filtered->predicate, item, NAME);
		if (whole && !passes)
			fail(__FILE__, __LINE__, "%s is true, but not %s",
			     filtered->text.data, filtered->filter->text);
		if (filtered->filter->exact && filtered->bound != -EINVAL && whole != passes)
			fail(__FILE__, __LINE__, "%s is %d, and %d for the filter",
			     filtered->text.data, whole, passes);
		if (passes)
			filtered->expected[filtered->count++] = index;
		else
			filtered->incompatible += incompatible;
	}
}

/* Check that a consumer gets exactly what it must. */
static void check_received(struct filtered *filtered)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	struct elog_item item;
	unsigned int count = 0, index;

	check_equal(elog_consumer_flush(filtered->consumer), 0);
	while (elog_consumer_next(filtered->consumer, &item) > 0) {
		if (item.type != ELOG_ITEM_EVENT) {
			fail(__FILE__, __LINE__, "events were lost");
			continue;
		}
		index = count < filtered->count ? filtered->expected[count] : 0;
		if (item.payload_size != payloads[index].size ||
		    memcmp(item.payload, payloads[index].data, item.payload_size))
			fail(__FILE__, __LINE__, "%s: the kernel accepts another event than %u",
			     filtered->filter->text, index);
		count++;
	}
	if (count != filtered->count)
		fail(__FILE__, __LINE__, "%s: the kernel accepts %u events, not %u",
		     filtered->filter->text, count, filtered->count);
	check_equal(elog_consumer_rule_stat(filtered->consumer, filtered->rule_id, &stat), 0);
	check_equal(stat.rejected, EVENTS - filtered->count);
	if (stat.incompatible != filtered->incompatible)
		fail(__FILE__, __LINE__, "%s: %u of %u are incompatible, not %u",
		     filtered->filter->text, (unsigned int)stat.incompatible,
		     (unsigned int)stat.rejected, filtered->incompatible);
	/* Nothing else was written to the rings. */
	check_equal(elog_consumer_stat(filtered->consumer, EVENTLOG_RINGS_ALL, 0, &stat), 0);
	check_equal(stat.records - filtered->records, filtered->count);
	filtered->records = stat.records;
}

/* Get the next event, and with @index keep its payload. */
static const struct elog_schema_event *take_event(struct elog_consumer *consumer,
						  struct elog_item *item, int index)
{
	const struct elog_schema_event *schema = NULL;
	int ret;

	ret = elog_consumer_next(consumer, item);
	check_equal(ret, 1);
	if (ret != 1 || item->type != ELOG_ITEM_EVENT ||
	    item->payload_size > sizeof(payloads[0].data)) {
		fail(__FILE__, __LINE__, "this is not an event");
		return NULL;
	}
	check_equal(elog_consumer_describe(consumer, item->descriptor, &schema), 0);
	if (index >= 0) {
		memcpy(payloads[index].data, item->payload, item->payload_size);
		payloads[index].size = item->payload_size;
	}
	return schema;
}

static void compare(const struct generator *generator)
{
	struct filtered all[FILTERS] = { 0 };
	struct elog_consumer *unfiltered = open_consumer();
	unsigned int round, i, kept = 0, rejected = 0, incompatible = 0;
	const struct elog_schema_event *schema;
	struct elog_item item;

	printf("# the seed is %llu\n", (unsigned long long)seed);
	for (i = 0; i < FILTERS; i++)
		all[i].consumer = open_consumer();
	check_equal(add_rule(unfiltered, NULL, 0, NULL), 0);
	/* One event, for its schema. */
	check_equal(generator->emit(), 0);
	check_equal(elog_consumer_flush(unfiltered), 0);
	schema = take_event(unfiltered, &item, -1);
	for (round = 0; round < ROUNDS && schema && !failures; round++) {
		for (i = 0; i < FILTERS; i++)
			begin_filter(&all[i], generator, schema);
		for (i = 0; i < EVENTS; i++)
			check_equal(generator->emit(), 0);
		check_equal(elog_consumer_flush(unfiltered), 0);
		for (i = 0; i < EVENTS && schema; i++) {
			schema = take_event(unfiltered, &item, (int)i);
			if (schema)
				expect(all, schema, &item, i);
		}
		for (i = 0; i < FILTERS; i++) {
			check_received(&all[i]);
			kept += all[i].count;
			rejected += EVENTS - all[i].count;
			incompatible += all[i].incompatible;
			end_filter(&all[i]);
		}
	}
	printf("# %u kept, %u rejected, %u of them incompatible\n", kept, rejected,
	       incompatible);
	check(kept > 1000 && rejected > 1000 && incompatible > 1000);
	for (i = 0; i < FILTERS; i++) {
		elog_consumer_close(all[i].consumer);
		elog_text_free(&all[i].text);
	}
	elog_consumer_close(unfiltered);
}

static void test_processes(void)
{
	static const struct generator own = {
		fields, ELOG_ARRAY_SIZE(fields), emit_own,
	};

	open_producer();
	compare(&own);
	elog_producer_close(producer);
}

static void test_kernel(void)
{
	static const struct generator kernel = {
		kernel_fields, ELOG_ARRAY_SIZE(kernel_fields), emit_kernel,
	};

	if (!load_kernel_provider()) {
		fail(__FILE__, __LINE__, KERNEL_MODULE " cannot be loaded");
		return;
	}
	compare(&kernel);
	unload_kernel_provider();
}

/* Of the events that pass the filter, the first of every three. */
static void test_sample(void)
{
	const struct elog_expression *expressions[1];
	struct elog_consumer *consumer = open_consumer();
	struct elog_expression *expression;
	struct elog_filter *filter;
	struct eventlog_stat stat = { .size = sizeof(stat) };
	struct elog_event *numbers;
	struct elog_item item;
	uint32_t number, rule_id, i;
	struct iovec iov = { &i, sizeof(i) };

	check_equal(elog_expression_parse("number >= 10 && number < 20", &expression, NULL), 0);
	expressions[0] = expression;
	check_equal(elog_expression_compile(expressions, 1, 0, &filter, NULL), 0);
	check_equal(add_rule(consumer, filter, 3, &rule_id), 0);
	elog_expression_free(expression);
	elog_filter_free(filter);
	open_producer();
	check_equal(elog_event_register(producer, "filter_test", "numbers u32 number", 0, 0, 0,
					&numbers), 0);
	for (i = 0; i < 100; i++)
		check_equal(elog_event_write(numbers, 0, &iov, 1), 0);
	check_equal(elog_consumer_flush(consumer), 0);
	for (i = 10; i < 20; i += 3) {
		check_equal(elog_consumer_next(consumer, &item), 1);
		memcpy(&number, item.payload, sizeof(number));
		check_equal(number, i);
	}
	check_equal(elog_consumer_next(consumer, &item), 0);
	check_equal(elog_consumer_rule_stat(consumer, rule_id, &stat), 0);
	check_equal(stat.rejected, 90);
	check_equal(stat.incompatible, 0);
	check_equal(elog_consumer_rule_stat(consumer, rule_id + 1, &stat), -ENOENT);
	check_equal(elog_consumer_rule_stat(consumer, 0, &stat), -ENOENT);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

/* A filter that the kernel does not accept: there is no rule. */
static void test_refused(void)
{
	struct eventlog_term term = {
		.operation = EVENTLOG_TERM_OP_BEGINS_NOT + 1, .on_true = EVENTLOG_FILTER_ACCEPT,
		.on_false = EVENTLOG_FILTER_REJECT,
	};
	struct eventlog_filter filter = {
		.size = sizeof(filter), .term_count = 1, .term_size = sizeof(term),
		.terms = (uintptr_t)&term, .pool = (uintptr_t)"a", .pool_size = 2,
	};
	const struct elog_rule rule = {
		.size = sizeof(rule), .provider = "filter_test", .filter = &filter,
	};
	struct elog_consumer *consumer = open_consumer();

	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), -EINVAL);
	term.operation = EVENTLOG_TERM_OP_EQUAL;
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), -EINVAL);
	term.operation = EVENTLOG_TERM_OP_SET;
	filter.term_count = EVENTLOG_TERMS_MAX + 1;
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), -E2BIG);
	filter.term_count = 1;
	filter.pool = 1;
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), -EFAULT);
	filter.pool = (uintptr_t)"a";
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), 0);
	elog_consumer_close(consumer);
}

static void before(void)
{
	random_state = seed;
}

int main(int count, char **arguments)
{
	static const struct test tests[] = {
		{ "random filters of events of processes", test_processes },
		{ "random filters of events of the kernel", test_kernel },
		{ "a sample of the events that pass", test_sample },
		{ "filters that the kernel refuses", test_refused },
	};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	seed = count > 1 ? strtoull(arguments[1], NULL, 0) :
			   (uint64_t)now.tv_sec * 1000000007 + (uint64_t)now.tv_nsec;
	seed += !seed;
	prctl(PR_SET_NAME, NAME);
	snprintf(pids, sizeof(pids), "%d 1", (int)getpid());
	snprintf(cpus, sizeof(cpus), "0 1");
	return run_tests(tests, ELOG_ARRAY_SIZE(tests), before);
}
