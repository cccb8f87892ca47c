// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of markers in kernel modules: listing, switching, tracing, printing,
 * probing and predicates.  They load the modules of module/ktest/, which are
 * beside $EVENTLOG_KO.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter_common.h"
#include "steps_common.h"

#define EXAMPLE "eventlog_marker_example"
#define MANY "eventlog_marker_many"
#define PREDICATE "eventlog_marker_predicate"
#define COLLIDE "eventlog_marker_collide_"
#define SOURCE "module/ktest/marker_example.c"
#define HEADER "module/ktest/marker_example.h"

#define ALL (EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_TRACE | EVENTLOG_MARKER_PROBE)

/* ------------------------------------------------------------------------
 * Modules
 */
/* Unload it first: an earlier case may have failed and left it loaded. */
static void load(const char *name)
{
	if (user_mode_linux())
		SKIP("this kernel lacks jump labels, which markers need");
	module_unload(name);
	CHECK_OK(module_load(name));
}

static void unload(const char *name)
{
	CHECK_OK(module_unload(name));
}

/* Runs every marker of the example. */
static void serve(unsigned int cups)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", cups);
	CHECK_OK(file_write("/sys/module/" EXAMPLE "/parameters/serve", text));
}

static long evaluated(void)
{
	return file_number("/sys/module/" EXAMPLE "/parameters/evaluated");
}

/* ------------------------------------------------------------------------
 * Calls
 */
static __u64 place_hash(const char *place)
{
	__u64 hash = 0xcbf29ce484222325ULL;

	for (; *place; place++)
		hash = (hash ^ (unsigned char)*place) * 0x100000001b3ULL;
	return hash;
}

struct marker {
	struct eventlog_marker_info next;
	char text[4096];
	const char *module;
	const char *tag;
	const char *predicate;
	char place[2200];
};

/* The first marker with a descriptor above @descriptor; -1 and ENOENT: there is none. */
static int marker_next(int fd, __u32 descriptor, struct marker *marker)
{
	struct eventlog_list list = list_request(EVENTLOG_LIST_MARKERS, marker,
						 offsetof(struct marker, module));
	const char *path, *function;

	list.cursor = descriptor;
	do {
		list.buffer_size = offsetof(struct marker, module);
		if (ioctl(fd, EVENTLOG_IOC_LIST, &list))
			return -1;
	} while (!list.count && list.cursor);
	if (!list.count) {
		errno = ENOENT;
		return -1;
	}
	CHECK_EQ(marker->next.text_offset, offsetof(struct marker, text));
	marker->module = marker->text;
	marker->tag = marker->module + strlen(marker->module) + 1;
	path = marker->tag + strlen(marker->tag) + 1;
	function = path + strlen(path) + 1;
	marker->predicate = function + strlen(function) + 1;
	snprintf(marker->place, sizeof(marker->place), "%s:%s:%u", path, function,
		 marker->next.ordinal);
	CHECK_EQ(marker->next.id, place_hash(marker->place));
	CHECK(marker->next.filtered || !*marker->predicate);
	CHECK(marker->next.descriptor > descriptor);
	return 0;
}

static unsigned int count_markers(int fd)
{
	return list_count(fd, EVENTLOG_LIST_MARKERS);
}

/* The first marker with a tag; fails if there is none. */
static void marker_find(int fd, const char *tag, struct marker *marker)
{
	__u32 descriptor = 0;

	do {
		test_note("marker %s", tag);
		CHECK_OK(marker_next(fd, descriptor, marker));
		descriptor = marker->next.descriptor;
	} while (strcmp(marker->tag, tag));
}

static __u32 handlers_of(int fd, const char *tag)
{
	struct marker marker;

	marker_find(fd, tag, &marker);
	return marker.next.handlers;
}

static struct eventlog_marker_set set_request(const char *marker, __u32 operation, __u32 handlers)
{
	return (struct eventlog_marker_set){
		.size = sizeof(struct eventlog_marker_set),
		.marker = PTR(marker), .operation = operation, .handlers = handlers,
	};
}

static int try_set(int fd, struct eventlog_marker_set *request)
{
	return ioctl(fd, EVENTLOG_IOC_MARKER_SET, request);
}

/* Returns the number of changed markers. */
static unsigned int switch_markers(int fd, const char *marker, __u32 operation, __u32 handlers)
{
	struct eventlog_marker_set request = set_request(marker, operation, handlers);

	test_note("switching %s", marker);
	CHECK_OK(try_set(fd, &request));
	CHECK(request.matched >= request.changed + request.denied);
	return request.changed;
}

static struct filter_term term(const char *name, __u16 operation, __u32 flags, __u64 number,
			       const char *string)
{
	return (struct filter_term){
		.name = name, .operation = operation, .flags = flags, .number = number,
		.string = string,
	};
}

static struct filter_term number_term(const char *name, __u16 operation, __u64 number)
{
	return term(name, operation, EVENTLOG_TERM_NUMBER, number, NULL);
}

static struct filter_term text_term(const char *name, __u16 operation, const char *text)
{
	return term(name, operation, EVENTLOG_TERM_STRING, 0, text);
}

/* The filter of the last predicate_request(). */
static struct filter sent;

static struct eventlog_marker_set predicate_request(const char *marker, __u32 handlers,
						    const struct filter_term *terms, __u32 count)
{
	struct eventlog_marker_set request = set_request(marker, EVENTLOG_MARKER_OP_ADD, handlers);

	request.filter = filter_fill(&sent, terms, count, "written so");
	return request;
}

/* ------------------------------------------------------------------------
 * Listing
 */
TEST(markers_are_listed)
{
	static const struct {
		const char *tag, *place;
		__u32 handlers, allowed;
	} expected[] = {
		{ "drink", SOURCE ":drink:0", EVENTLOG_MARKER_TRACE, ALL },
		{ "drink", SOURCE ":drink:1", EVENTLOG_MARKER_TRACE, ALL },
		{ "order", SOURCE ":serve:0", EVENTLOG_MARKER_TRACE, ALL },
		{ "nothing", SOURCE ":serve:1", 0, ALL },
		{ "evaluated", SOURCE ":serve:2", 0, ALL },
		{ "only_traced", SOURCE ":serve:3", EVENTLOG_MARKER_TRACE, EVENTLOG_MARKER_TRACE },
		{ "served", SOURCE ":serve:4", EVENTLOG_MARKER_TRACE, ALL },
		{ "pour", HEADER ":marker_example_pour:0", EVENTLOG_MARKER_TRACE, ALL },
		{ "pour", HEADER ":marker_example_pour:0",
		  EVENTLOG_MARKER_TRACE | EVENTLOG_MARKER_PRINT, ALL },
		{ "forced", "module/ktest/marker_forced.c:marker_example_forced:0",
		  EVENTLOG_MARKER_TRACE | EVENTLOG_MARKER_PRINT, ALL },
		{ "overridden", "module/ktest/marker_overridden.c:marker_example_overridden:0",
		  EVENTLOG_MARKER_TRACE, ALL },
	};
	bool seen[ARRAY_SIZE(expected)] = { false };
	struct marker marker;
	unsigned int i, count = 0;
	__u32 descriptor = 0;
	int fd = device_open();

	CHECK_ERRNO(marker_next(fd, 0, &marker), ENOENT);
	load(EXAMPLE);
	while (!marker_next(fd, descriptor, &marker)) {
		descriptor = marker.next.descriptor;
		CHECK(!strcmp(marker.module, EXAMPLE));
		for (i = 0; i < ARRAY_SIZE(expected); i++)
			if (!seen[i] && !strcmp(expected[i].place, marker.place) &&
			    marker.next.handlers == expected[i].handlers)
				break;
		test_note("%s %s", marker.tag, marker.place);
		CHECK(i < ARRAY_SIZE(expected));
		seen[i] = true;
		CHECK(!strcmp(marker.tag, expected[i].tag));
		CHECK_EQ(marker.next.defaults, expected[i].handlers);
		CHECK_EQ(marker.next.allowed, expected[i].allowed);
		/* Without a subscriber only printing is active. */
		CHECK_EQ(marker.next.active, expected[i].handlers & EVENTLOG_MARKER_PRINT);
		CHECK(marker.next.line);
		count++;
	}
	CHECK_EQ(errno, ENOENT);
	CHECK_EQ(count, ARRAY_SIZE(expected));
	unload(EXAMPLE);
	CHECK_ERRNO(marker_next(fd, 0, &marker), ENOENT);
}

TEST(schema_of_a_marker)
{
	static const char expected[] =
		"eventlog 1\n"
		"provider markers_" EXAMPLE " \"markers, eventlog_marker(9)\"\n"
		"event 3 order debug - \"" SOURCE ":serve:0\"\n"
		"\tstring order_guest \"order.guest\"\n"
		"\tu32 order_number \"order.number\"\n"
		"\tu8 order_cups \"order.cups\"\n"
		"\tbool order_milk \"order.milk\"\n"
		"\ts16 order_celsius \"order.celsius\"\n"
		"\ttime order_ordered_at \"order.ordered_at\"\n"
		"\tptr order \"&order\"\n";
	struct marker marker;
	int fd = device_open();
	char *text;

	load(EXAMPLE);
	marker_find(fd, "order", &marker);
	text = describe(fd, marker.next.descriptor, NULL);
	CHECK(text);
	test_note("%s", text);
	CHECK(!strcmp(text, expected));
	unload(EXAMPLE);
}

/* ------------------------------------------------------------------------
 * Errors
 */
TEST(list_errors)
{
	struct marker marker, small;
	struct eventlog_list list;
	int fd = device_open_for(O_RDONLY);
	__u32 size;

	load(EXAMPLE);
	CHECK_OK(marker_next(fd, 0, &marker));
	CHECK_ERRNO(marker_next(fd, 0xffffffff, &small), ENOENT);

	/* The call returns the size and touches nothing else. */
	memset(small.text, 0xa5, sizeof(small.text));
	for (size = 0; size < marker.next.size; size++) {
		list = list_request(EVENTLOG_LIST_MARKERS, small.text, size);
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &list), EMSGSIZE);
		CHECK_EQ(list.buffer_size, marker.next.size);
		CHECK_EQ(list.cursor, 0);
		CHECK_EQ(list.count, 0);
		CHECK_EQ((unsigned char)small.text[0], 0xa5);
	}
	list = list_request(EVENTLOG_LIST_MARKERS, pages_unmapped(), 1024);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &list), EFAULT);

	/* The file was opened without the capability. */
	close(fd);
	capabilities_keep(CAPABILITY_ALL & ~(CAPABILITY_PERFMON | CAPABILITY_SYS_ADMIN));
	fd = device_open();
	CHECK_ERRNO(marker_next(fd, 0, &small), EPERM);
	unload(EXAMPLE);
}

TEST(marker_set_errors)
{
	struct eventlog_marker_set request;
	unsigned char *memory = pages_map(page_size());
	char *long_name = malloc(EVENTLOG_GLOB_MAX + 1);
	int fd = device_open_for(O_RDONLY);
	unsigned int bit;

	load(EXAMPLE);
	for (bit = 2; bit < 32; bit++) {
		request = set_request("*", 0, EVENTLOG_MARKER_PRINT);
		request.flags = 1U << bit;
		CHECK_ERRNO(try_set(fd, &request), EINVAL);
	}
	for (bit = 3; bit < 32; bit++) {
		request = set_request("*", 0, 1U << bit);
		CHECK_ERRNO(try_set(fd, &request), EINVAL);
	}
	request = set_request("*", EVENTLOG_MARKER_OP_REPLACE + 1, EVENTLOG_MARKER_PRINT);
	CHECK_ERRNO(try_set(fd, &request), EINVAL);
	request = set_request("*", 0, EVENTLOG_MARKER_PRINT);
	request.descriptor = 0xffffffff;
	CHECK_ERRNO(try_set(fd, &request), ENOENT);
	request = set_request("*", 0, EVENTLOG_MARKER_PRINT);
	request.id = 1;
	CHECK_ERRNO(try_set(fd, &request), EINVAL);
	request.flags = EVENTLOG_MARKER_SET_ID;
	CHECK_ERRNO(try_set(fd, &request), ENOENT);

	request = set_request("no such marker", 0, EVENTLOG_MARKER_PRINT);
	CHECK_ERRNO(try_set(fd, &request), ENOENT);
	request = set_request("*", 0, EVENTLOG_MARKER_PRINT);
	request.owner = PTR("no such module");
	CHECK_ERRNO(try_set(fd, &request), ENOENT);
	request.owner = PTR(pages_unmapped());
	CHECK_ERRNO(try_set(fd, &request), EFAULT);
	request.owner = 0;
	request.marker = PTR(pages_unmapped());
	CHECK_ERRNO(try_set(fd, &request), EFAULT);
	memset(long_name, 'x', EVENTLOG_GLOB_MAX);
	long_name[EVENTLOG_GLOB_MAX] = '\0';
	request.marker = PTR(long_name);
	CHECK_ERRNO(try_set(fd, &request), E2BIG);
	request.marker = 0;
	request.owner = PTR(long_name);
	CHECK_ERRNO(try_set(fd, &request), E2BIG);
	long_name[EVENTLOG_GLOB_MAX - 1] = '\0';
	CHECK_ERRNO(try_set(fd, &request), ENOENT);

	/* The result cannot be stored or the caller lacks the capability: no effect. */
	request = set_request("nothing", 0, EVENTLOG_MARKER_PRINT);
	memcpy(memory, &request, sizeof(request));
	CHECK_OK(mprotect(memory, page_size(), PROT_READ));
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, memory), EFAULT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, NULL), EFAULT);
	CHECK_EQ(handlers_of(fd, "nothing"), 0);
	close(fd);
	capabilities_keep(CAPABILITY_ALL & ~(CAPABILITY_PERFMON | CAPABILITY_SYS_ADMIN));
	fd = device_open();
	CHECK_ERRNO(try_set(fd, &request), EPERM);
	unload(EXAMPLE);
	free(long_name);
}

/* ------------------------------------------------------------------------
 * Switching
 */
TEST(handlers_are_switched)
{
	struct eventlog_marker_set request;
	struct marker marker;
	int fd = device_open();

	load(EXAMPLE);
	CHECK_EQ(switch_markers(fd, "nothing", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PRINT), 1);
	CHECK_EQ(switch_markers(fd, "nothing", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PRINT), 0);
	CHECK_EQ(handlers_of(fd, "nothing"), EVENTLOG_MARKER_PRINT);
	CHECK_EQ(switch_markers(fd, "nothing", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PROBE), 1);
	CHECK_EQ(handlers_of(fd, "nothing"), EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_PROBE);
	CHECK_EQ(switch_markers(fd, "nothing", EVENTLOG_MARKER_OP_REMOVE,
				EVENTLOG_MARKER_PRINT), 1);
	CHECK_EQ(handlers_of(fd, "nothing"), EVENTLOG_MARKER_PROBE);
	CHECK_EQ(switch_markers(fd, "nothing", EVENTLOG_MARKER_OP_REPLACE,
				EVENTLOG_MARKER_TRACE), 1);
	CHECK_EQ(handlers_of(fd, "nothing"), EVENTLOG_MARKER_TRACE);

	/* Select by place, by id and by module. */
	CHECK_EQ(switch_markers(fd, "*:serve:1", EVENTLOG_MARKER_OP_REPLACE, 0), 1);
	CHECK_EQ(handlers_of(fd, "nothing"), 0);
	marker_find(fd, "nothing", &marker);
	request = set_request("*", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_TRACE);
	request.flags = EVENTLOG_MARKER_SET_ID;
	request.id = marker.next.id;
	request.owner = PTR("*_example");
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.matched, 1);
	CHECK_EQ(request.changed, 1);
	CHECK_EQ(handlers_of(fd, "nothing"), EVENTLOG_MARKER_TRACE);

	/* A handler that a marker does not allow is denied there and set elsewhere. */
	request = set_request("*_example.c:serve:*", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PRINT);
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.matched, 5);
	CHECK_EQ(request.changed, 4);
	CHECK_EQ(request.denied, 1);
	CHECK_EQ(handlers_of(fd, "only_traced"), EVENTLOG_MARKER_TRACE);

	/* Two markers have one identity. */
	request = set_request("pour", EVENTLOG_MARKER_OP_REPLACE, EVENTLOG_MARKER_PROBE);
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.matched, 2);

	/* The descriptor selects one of them. */
	marker_find(fd, "pour", &marker);
	request = set_request("*", EVENTLOG_MARKER_OP_REPLACE, EVENTLOG_MARKER_TRACE);
	request.descriptor = marker.next.descriptor;
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.matched, 1);
	CHECK_EQ(handlers_of(fd, "pour"), EVENTLOG_MARKER_TRACE);
	CHECK_OK(marker_next(fd, marker.next.descriptor, &marker));
	CHECK(!strcmp(marker.tag, "pour"));
	CHECK_EQ(marker.next.handlers, EVENTLOG_MARKER_PROBE);
	unload(EXAMPLE);
}

/* A disabled marker does not evaluate its expressions. */
TEST(disabled_marker_evaluates_nothing)
{
	int fd = device_open();

	load(EXAMPLE);
	serve(1);
	CHECK_EQ(evaluated(), 0);
	switch_markers(fd, "evaluated", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PROBE);
	serve(1);
	CHECK_EQ(evaluated(), 1);
	/* With tracing alone and no subscriber the marker is disabled too. */
	switch_markers(fd, "evaluated", EVENTLOG_MARKER_OP_REPLACE, EVENTLOG_MARKER_TRACE);
	serve(1);
	CHECK_EQ(evaluated(), 1);
	switch_markers(fd, "evaluated", EVENTLOG_MARKER_OP_REPLACE, 0);
	serve(1);
	CHECK_EQ(evaluated(), 1);
	unload(EXAMPLE);
}

/* ------------------------------------------------------------------------
 * Tracing
 */
TEST(subscriber_gets_fired_markers)
{
	struct consumer consumer;
	struct record record;
	struct marker marker;
	const unsigned char *payload;
	__u32 order, word, number;
	__s16 celsius;
	char name[16];

	load(EXAMPLE);
	consumer_open(&consumer, 16 * page_size());
	marker_find(consumer.fd, "order", &marker);
	order = marker.next.descriptor;
	rule_add(consumer.fd, "markers_" EXAMPLE, "order");
	marker_find(consumer.fd, "order", &marker);
	CHECK_EQ(marker.next.active, EVENTLOG_MARKER_TRACE);
	serve(3);
	consumer_one(&consumer, &record);
	CHECK_EQ(record.header->descriptor, order);
	CHECK_EQ(record.header->session, 0);
	payload = record.payload;
	memcpy(&word, payload, 4);
	memcpy(&number, payload + 4, 4);
	memcpy(&celsius, payload + 10, 2);
	CHECK_EQ(number, 1);
	CHECK_EQ(payload[8], 3);
	CHECK_EQ(payload[9], 1);
	CHECK_EQ(celsius, -5);
	CHECK_EQ(word & 0xffff, 28);
	snprintf(name, sizeof(name), "%s", (const char *)payload + (word & 0xffff));
	CHECK_EQ(word >> 16, strlen(name) + 1);
	CHECK(!strncmp(name, "marker_test", strlen(name)));

	/* The subscriber gets events only while the trace handler is on. */
	switch_markers(consumer.fd, "order", EVENTLOG_MARKER_OP_REMOVE, EVENTLOG_MARKER_TRACE);
	serve(4);
	CHECK_EQ(consumer_skip(&consumer), 0);
	switch_markers(consumer.fd, "order", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_TRACE);
	serve(5);
	CHECK_EQ(consumer_skip(&consumer), 1);

	/* Each marker that traces fires once, those in the header more often. */
	rule_add(consumer.fd, "markers_*", NULL);
	serve(7);
	CHECK_EQ(consumer_skip(&consumer), 8);
	consumer_close(&consumer);
	marker_find(device_open(), "order", &marker);
	CHECK_EQ(marker.next.active, 0);
	unload(EXAMPLE);
}

/* The rule exists before the module is loaded. */
TEST(subscribed_before_loading)
{
	struct consumer consumer;

	consumer_open(&consumer, 16 * page_size());
	rule_add(consumer.fd, "markers_*", "served");
	load(EXAMPLE);
	serve(1);
	CHECK_EQ(consumer_skip(&consumer), 1);
	unload(EXAMPLE);
	load(EXAMPLE);
	serve(1);
	CHECK_EQ(consumer_skip(&consumer), 1);
	unload(EXAMPLE);
	consumer_close(&consumer);
}

/* ------------------------------------------------------------------------
 * Printing and overrides
 */
static unsigned int log_count(const char *needle)
{
	int size = klogctl(10, NULL, 0);
	char *text = calloc(1, size + 1), *at;
	unsigned int count = 0;

	CHECK_OK(klogctl(3, text, size));
	for (at = text; (at = strstr(at, needle)); at++)
		count++;
	free(text);
	return count;
}

TEST(printing_is_rate_limited)
{
	const char *line = "drink_2 " SOURCE ":drink:1: order_guest=\"marker_test\" with_milk=1";
	unsigned int before, i;
	int fd = device_open();

	load(EXAMPLE);
	before = log_count(line);
	serve(1);
	CHECK_EQ(log_count(line), before);
	switch_markers(fd, "*:drink:1", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PRINT);
	serve(1);
	CHECK_EQ(log_count(line), before + 1);
	/* Printing is rate-limited: fewer lines than the marker fired. */
	for (i = 0; i < 1000; i++)
		serve(1);
	CHECK(log_count(line) < before + 1000);
	unload(EXAMPLE);
}

TEST(markers_forced_on_in_a_file)
{
	unsigned int before;

	load(EXAMPLE);
	before = log_count("forced module/ktest/marker_forced.c:marker_example_forced:0: number=");
	serve(1);
	CHECK_EQ(log_count("forced module/ktest/marker_forced.c:marker_example_forced:0: number="),
		 before + 1);
	unload(EXAMPLE);
}

TEST(handler_overridden_in_a_file)
{
	int fd = device_open();

	load(EXAMPLE);
	serve(1);
	CHECK_EQ(file_number("/sys/module/" EXAMPLE "/parameters/seen"), 0);
	switch_markers(fd, "overridden", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PROBE);
	serve(1);
	CHECK_EQ(file_number("/sys/module/" EXAMPLE "/parameters/seen"), 2);
	unload(EXAMPLE);
}

/* ------------------------------------------------------------------------
 * The static tracepoint
 */
TEST(probe_calls_the_tracepoint)
{
	char text[65536], place[256];
	struct marker marker;
	int fd = device_open(), trace;
	ssize_t length;

	if (access(TRACEFS "/events", F_OK))
		SKIP("tracefs is not available");
	load(EXAMPLE);
	CHECK_OK(file_write(TRACEFS "/trace", ""));
	CHECK_OK(file_write(TRACEFS "/events/eventlog/eventlog_marker/enable", "1"));
	serve(1);
	switch_markers(fd, "served", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PROBE);
	marker_find(fd, "served", &marker);
	serve(1);
	CHECK_OK(file_write(TRACEFS "/events/eventlog/eventlog_marker/enable", "0"));
	trace = CHECK_OK(open(TRACEFS "/trace", O_RDONLY));
	length = CHECK_OK(read(trace, text, sizeof(text) - 1));
	text[length] = '\0';
	snprintf(place, sizeof(place), "id=%016" PRIx64 " place=" SOURCE ":serve:4",
		 (uint64_t)marker.next.id);
	test_note("%s", text);
	CHECK(strstr(text, place));
	/* Only once: the marker was disabled during the first call. */
	CHECK(!strstr(strstr(text, place) + 1, "eventlog_marker:"));
	close(trace);
	unload(EXAMPLE);
}

/* ------------------------------------------------------------------------
 * Many markers and concurrent use
 */
TEST(ten_thousand_markers)
{
	struct eventlog_subscribe request = subscribe_request(1 << 20);
	struct eventlog_marker_set set;
	struct filter_term value;
	struct consumer consumer;
	struct marker marker;
	__u64 begin;

	load(MANY);
	consumer_open_with(&consumer, &request);
	CHECK_EQ(count_markers(consumer.fd), 10000);
	rule_add(consumer.fd, "markers_" MANY, "many_3_*");
	CHECK_OK(file_write("/sys/module/" MANY "/parameters/pass", "1"));
	CHECK_EQ(consumer_skip(&consumer), 1000);

	set = set_request("many_*", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PROBE);
	begin = clock_now();
	CHECK_OK(try_set(consumer.fd, &set));
	test_print("%u markers switched on in %llu ms", set.changed,
		   (clock_now() - begin) / 1000000);
	CHECK_EQ(set.changed, 10000);
	CHECK_OK(file_write("/sys/module/" MANY "/parameters/pass", "1"));
	CHECK_EQ(consumer_skip(&consumer), 1000);

	value = number_term("value", EVENTLOG_TERM_OP_EQUAL, 2);
	set = predicate_request("many_*", EVENTLOG_MARKER_PROBE, &value, 1);
	begin = clock_now();
	CHECK_OK(try_set(consumer.fd, &set));
	test_print("%u predicates in %llu ms", set.changed, (clock_now() - begin) / 1000000);
	CHECK_EQ(set.changed, 10000);
	CHECK_OK(file_write("/sys/module/" MANY "/parameters/pass", "1"));
	CHECK_EQ(consumer_skip(&consumer), 0);
	CHECK_OK(file_write("/sys/module/" MANY "/parameters/pass", "2"));
	CHECK_EQ(consumer_skip(&consumer), 1000);
	unload(MANY);
	CHECK_ERRNO(marker_next(consumer.fd, 0, &marker), ENOENT);
	consumer_close(&consumer);
}

/* Has a child load MANY, and kills it once the module's markers are matched with rules. */
static void kill_loader(void)
{
	pid_t child;

	steps_reset();
	child = test_fork();
	if (!child) {
		module_load(MANY);
		_exit(0);
	}
	while (steps_most(STEPS_DOMAIN) < 500 && !waitpid(child, NULL, WNOHANG))
		;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* A module whose loading is killed has its markers, or is not loaded. */
TEST(killed_while_loading)
{
	const __u32 providers = device_info().providers;
	bool is_there = true;
	unsigned int i, j;
	int subscribers[6];

	steps_need();
	load(MANY);
	unload(MANY);
	for (i = 0; i < ARRAY_SIZE(subscribers); i++) {
		struct eventlog_subscribe request = subscribe_request(0);

		subscribers[i] = device_open();
		CHECK_OK(ioctl(subscribers[i], EVENTLOG_IOC_SUBSCRIBE, &request));
		for (j = 0; j < 256; j++)
			rule_add(subscribers[i], "no_such_provider", NULL);
	}
	while (is_there) {
		kill_loader();
		is_there = !access("/sys/module/" MANY, F_OK);
		CHECK_EQ(device_info().providers, providers + is_there);
		if (is_there)
			unload(MANY);
	}
	for (i = 0; i < ARRAY_SIZE(subscribers); i++)
		close(subscribers[i]);
	load(MANY);
	CHECK_EQ(device_info().providers, providers + 1);
	unload(MANY);
}

static volatile bool listing_over;

static void *list_all(void *unused)
{
	int fd = device_open();
	struct eventlog_marker_set set;
	unsigned long rounds = 0;
	struct marker marker;
	__u32 descriptor;

	(void)unused;
	while (!listing_over) {
		for (descriptor = 0; !marker_next(fd, descriptor, &marker);)
			descriptor = marker.next.descriptor;
		CHECK_EQ(errno, ENOENT);
		set = set_request("*", rounds & 1 ? EVENTLOG_MARKER_OP_ADD :
						    EVENTLOG_MARKER_OP_REMOVE,
				  EVENTLOG_MARKER_PROBE);
		if (try_set(fd, &set))
			CHECK_EQ(errno, ENOENT);
		rounds++;
	}
	close(fd);
	return (void *)rounds;
}

/* A module is loaded and unloaded while its markers are listed, switched and fired. */
TEST(listed_while_modules_load)
{
	struct consumer consumer;
	pthread_t lister;
	unsigned int i;
	void *rounds;

	consumer_open(&consumer, 16 * page_size());
	rule_add(consumer.fd, "markers_*", NULL);
	listing_over = false;
	CHECK_EQ(pthread_create(&lister, NULL, list_all, NULL), 0);
	for (i = 0; i < 50; i++) {
		load(EXAMPLE);
		serve(i);
		CHECK(consumer_skip(&consumer) >= 7);
		unload(EXAMPLE);
	}
	listing_over = true;
	CHECK_EQ(pthread_join(lister, &rounds), 0);
	test_print("listed %lu times", (unsigned long)rounds);
	CHECK(rounds);
	consumer_close(&consumer);
}

/* eventlog.ko cannot be unloaded before the last module with markers. */
TEST(markers_hold_the_module)
{
	load(EXAMPLE);
	CHECK_ERRNO2(module_unload("eventlog"), EWOULDBLOCK, EBUSY);
	unload(EXAMPLE);
}

/* ------------------------------------------------------------------------
 * Predicates
 */
/* Sets a predicate of one term; returns the number of changed markers. */
static unsigned int set_predicate(int fd, const char *marker, __u32 handlers,
				  struct filter_term term)
{
	struct eventlog_marker_set request = predicate_request(marker, handlers, &term, 1);

	CHECK_OK(try_set(fd, &request));
	return request.changed;
}

static void fire(__u64 number, const char *text)
{
	char line[256];

	snprintf(line, sizeof(line), "%llu%s%s", number, text ? " " : "", text ? text : "");
	CHECK_OK(file_write("/sys/module/" PREDICATE "/parameters/fire", line));
}

static __u64 rejected_of(int fd, const char *tag)
{
	struct marker marker;

	marker_find(fd, tag, &marker);
	return marker.next.rejected;
}

/* filter_test provokes the errors of filters themselves. */
TEST(predicate_errors)
{
	struct filter_term good = number_term("as_u8", EVENTLOG_TERM_OP_EQUAL, 1);
	struct eventlog_marker_set request;
	unsigned char *memory = pages_map(page_size());
	int fd = device_open_for(O_RDONLY);
	struct marker marker;

	load(PREDICATE);
	/* Bad members of the request. */
	request = predicate_request("*", ALL, &good, 1);
	request.operation = EVENTLOG_MARKER_OP_REMOVE;
	CHECK_ERRNO(try_set(fd, &request), EINVAL);
	request = predicate_request("*", 0, &good, 1);
	request.operation = EVENTLOG_MARKER_OP_REPLACE;
	CHECK_ERRNO(try_set(fd, &request), EINVAL);

	/* Bad filters. */
	request = predicate_request("*", ALL, &good, 1);
	request.filter = PTR(pages_unmapped());
	CHECK_ERRNO(try_set(fd, &request), EFAULT);
	request = predicate_request("*", ALL, &good, 1);
	sent.filter.term_count = 0;
	CHECK_ERRNO(try_set(fd, &request), EINVAL);
	sent.filter.term_count = EVENTLOG_TERMS_MAX + 1;
	CHECK_ERRNO(try_set(fd, &request), E2BIG);
	sent.filter.term_count = 1;
	sent.terms[0].operation = EVENTLOG_TERM_OP_BEGINS_NOT + 1;
	CHECK_ERRNO(try_set(fd, &request), EINVAL);
	sent.terms[0].operation = EVENTLOG_TERM_OP_EQUAL;
	sent.terms[0].on_true = 0;
	CHECK_ERRNO(try_set(fd, &request), EINVAL);

	/* None of these calls changed a marker. */
	CHECK_EQ(handlers_of(fd, "types"), 0);
	marker_find(fd, "types", &marker);
	CHECK_EQ(marker.next.filtered, 0);
	/* The result of SET cannot be stored. */
	request = predicate_request("*", ALL, &good, 1);
	memcpy(memory, &request, sizeof(request));
	CHECK_OK(mprotect(memory, page_size(), PROT_READ));
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, memory), EFAULT);
	CHECK_EQ(handlers_of(fd, "types"), 0);
	close(fd);
	capabilities_keep(CAPABILITY_ALL & ~(CAPABILITY_PERFMON | CAPABILITY_SYS_ADMIN));
	fd = device_open();
	request = predicate_request("*", ALL, &good, 1);
	CHECK_ERRNO(try_set(fd, &request), EPERM);
	unload(PREDICATE);
}

/* A marker with a filter needs more room, by the text of the filter. */
TEST(filter_texts)
{
	struct filter_term one = number_term("as_u8", EVENTLOG_TERM_OP_EQUAL, 1);
	struct eventlog_marker_set request;
	int fd = device_open();
	struct eventlog_list list;
	struct marker marker;

	load(PREDICATE);
	CHECK_EQ(set_predicate(fd, "types", EVENTLOG_MARKER_PROBE, one), 1);
	marker_find(fd, "types", &marker);
	CHECK(!strcmp(marker.predicate, "written so"));
	list = list_request(EVENTLOG_LIST_MARKERS, &marker,
			    marker.next.text_offset + marker.predicate - marker.text);
	list.cursor = marker.next.descriptor - 1;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &list), EMSGSIZE);
	CHECK_EQ(list.buffer_size, marker.next.size);
	CHECK_EQ(list.cursor, marker.next.descriptor - 1);

	/* A filter need not have a text. */
	request = predicate_request("types", EVENTLOG_MARKER_PROBE, &one, 1);
	sent.filter.text = 0;
	sent.filter.text_size = 0;
	CHECK_OK(try_set(fd, &request));
	marker_find(fd, "types", &marker);
	CHECK_EQ(marker.next.filtered, 1);
	CHECK(!strcmp(marker.predicate, ""));
	switch_markers(fd, "types", EVENTLOG_MARKER_OP_REMOVE, ALL);
	marker_find(fd, "types", &marker);
	CHECK_EQ(marker.next.filtered, 0);
	unload(PREDICATE);
}

/* A struct without the last member is refused, and nothing is changed. */
TEST(shorter_struct)
{
	struct filter_term one = number_term("as_u8", EVENTLOG_TERM_OP_EQUAL, 1);
	struct eventlog_marker_set set;
	int fd = device_open();
	struct marker marker;

	load(PREDICATE);
	CHECK_EQ(set_predicate(fd, "types", EVENTLOG_MARKER_PROBE, one), 1);
	set = set_request("types", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PROBE);
	set.incompatible = 0xa5;
	set.size = offsetof(struct eventlog_marker_set, policy);
	CHECK_ERRNO(try_set(fd, &set), EINVAL);
	CHECK_EQ(set.incompatible, 0xa5);
	marker_find(fd, "types", &marker);
	CHECK(marker.next.filtered);
	set.size = sizeof(set);
	CHECK_OK(try_set(fd, &set));
	CHECK_EQ(set.changed, 1);
	CHECK_EQ(set.incompatible, 0);
	CHECK_EQ(set.policy, 0);
	marker_find(fd, "types", &marker);
	CHECK_EQ(marker.next.filtered, 0);
	unload(PREDICATE);
}

/* When a marker gets a predicate, keeps it and loses it. */
TEST(predicate_follows_the_handlers)
{
	struct filter_term one = number_term("as_u8", EVENTLOG_TERM_OP_EQUAL, 1);
	struct eventlog_marker_set request;
	int fd = device_open();
	struct marker marker;

	load(PREDICATE);
	/* Markers without the field are not changed. */
	request = predicate_request("*", EVENTLOG_MARKER_PROBE, &one, 1);
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.matched, 4);
	CHECK_EQ(request.changed, 1);
	CHECK_EQ(request.incompatible, 3);
	CHECK_EQ(request.denied, 0);
	CHECK_EQ(handlers_of(fd, "fieldless"), 0);
	marker_find(fd, "types", &marker);
	CHECK_EQ(marker.next.handlers, EVENTLOG_MARKER_PROBE);
	CHECK_EQ(marker.next.active, EVENTLOG_MARKER_PROBE);
	CHECK(!strcmp(marker.predicate, "written so"));
	CHECK_EQ(marker.next.rejected, 0);
	fire(2, NULL);
	fire(1, NULL);
	fire(3, NULL);
	CHECK_EQ(rejected_of(fd, "types"), 2);

	/* Another predicate replaces it; the count starts at zero again. */
	request = predicate_request("types", EVENTLOG_MARKER_PRINT, &one, 1);
	sent.filter.text = PTR("otherwise");
	sent.filter.text_size = sizeof("otherwise");
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.changed, 1);
	marker_find(fd, "types", &marker);
	CHECK(!strcmp(marker.predicate, "otherwise"));
	CHECK_EQ(marker.next.rejected, 0);
	/* Removing some handlers keeps the predicate. */
	switch_markers(fd, "types", EVENTLOG_MARKER_OP_REMOVE, EVENTLOG_MARKER_PROBE);
	marker_find(fd, "types", &marker);
	CHECK(!strcmp(marker.predicate, "otherwise"));
	/* A predicate of the wrong type changes nothing. */
	one.operation = EVENTLOG_TERM_OP_BITS;
	one.name = "as_bool";
	request = predicate_request("types", EVENTLOG_MARKER_PROBE, &one, 1);
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.incompatible, 1);
	marker_find(fd, "types", &marker);
	CHECK_EQ(marker.next.handlers, EVENTLOG_MARKER_PRINT);
	CHECK(!strcmp(marker.predicate, "otherwise"));
	/* Adding a handler without a predicate removes the predicate. */
	CHECK_EQ(switch_markers(fd, "types", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PRINT), 1);
	marker_find(fd, "types", &marker);
	CHECK_EQ(marker.next.filtered, 0);
	CHECK_EQ(marker.next.rejected, 0);
	CHECK_EQ(marker.next.handlers, EVENTLOG_MARKER_PRINT);
	CHECK_EQ(switch_markers(fd, "types", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PRINT), 0);

	/* Without a new handler an enabled marker gets the predicate, a disabled one does not. */
	one = number_term("as_u8", EVENTLOG_TERM_OP_EQUAL, 1);
	CHECK_EQ(set_predicate(fd, "types", 0, one), 1);
	marker_find(fd, "types", &marker);
	CHECK(marker.next.filtered);
	switch_markers(fd, "types", EVENTLOG_MARKER_OP_REMOVE, ALL);
	marker_find(fd, "types", &marker);
	CHECK_EQ(marker.next.filtered, 0);
	CHECK_EQ(set_predicate(fd, "types", 0, one), 0);
	marker_find(fd, "types", &marker);
	CHECK_EQ(marker.next.filtered, 0);
	request = predicate_request("types", EVENTLOG_MARKER_TRACE, &one, 1);
	request.operation = EVENTLOG_MARKER_OP_REPLACE;
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.changed, 1);
	/* The predicate is gone when the module is unloaded. */
	unload(PREDICATE);
	load(PREDICATE);
	marker_find(fd, "types", &marker);
	CHECK_EQ(marker.next.filtered, 0);

	/* A field hides the common field of the same name. */
	CHECK_EQ(set_predicate(fd, "shadowing", EVENTLOG_MARKER_PROBE,
			       number_term("pid", EVENTLOG_TERM_OP_EQUAL, 7)), 1);
	fire(7, NULL);
	CHECK_EQ(rejected_of(fd, "shadowing"), 0);
	fire(8, NULL);
	CHECK_EQ(rejected_of(fd, "shadowing"), 1);
	one = number_term("pid", EVENTLOG_TERM_OP_EQUAL, getpid());
	one.flags |= EVENTLOG_TERM_COMMON;
	CHECK_EQ(set_predicate(fd, "shadowing", EVENTLOG_MARKER_PROBE, one), 1);
	fire(8, NULL);
	CHECK_EQ(rejected_of(fd, "shadowing"), 0);

	/* A predicate for a handler that the marker does not allow is denied. */
	load(EXAMPLE);
	request = predicate_request("only_traced", ALL, &one, 1);
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.denied, 1);
	CHECK_EQ(request.incompatible, 0);
	marker_find(fd, "only_traced", &marker);
	CHECK_EQ(marker.next.filtered, 0);
	unload(EXAMPLE);
	unload(PREDICATE);
}

/* Fires the marker "types"; returns whether its predicate let the event pass. */
static bool passes(struct consumer *consumer, __u64 number, const char *text)
{
	unsigned int count;

	fire(number, text);
	count = consumer_skip(consumer);
	CHECK(count <= 1);
	return count;
}

/*
 * Compares a field's value with a term's number: -1, 0 or 1.  A negative value is in
 * two's complement; a negative number of a term is its absolute value.
 */
static int order_of(bool is_negative, __u64 value, bool term_is_negative, __u64 number)
{
	if (is_negative != term_is_negative)
		return is_negative ? -1 : 1;
	if (term_is_negative)
		number = -number;
	return (value > number) - (value < number);
}

/* All integer types and operations, with numbers at all limits, against C arithmetic. */
TEST(predicates_on_integers)
{
	static const struct {
		const char *name;
		unsigned int bits;
		bool is_signed;
	} fields[] = {
		{ "as_u8", 8, false }, { "as_u16", 16, false }, { "as_u32", 32, false },
		{ "as_u64", 64, false }, { "as_s8", 8, true }, { "as_s16", 16, true },
		{ "as_s32", 32, true }, { "as_s64", 64, true }, { "as_time", 64, false },
		{ "as_duration", 64, false }, { "as_port", 16, false },
	};
	static const __u64 numbers[] = {
		0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65535, 2147483647, 2147483648,
		4294967295, 9223372036854775807ULL, 9223372036854775808ULL, 18446744073709551615ULL,
	};
	unsigned int field, operation, i, j, negative, compared = 0;
	struct consumer consumer;
	struct filter_term one;

	load(PREDICATE);
	consumer_open(&consumer, 16 * page_size());
	rule_add(consumer.fd, "markers_" PREDICATE, "types");
	for (field = 0; field < ARRAY_SIZE(fields); field++) {
		for (i = 0; i < 2 * ARRAY_SIZE(numbers); i++) {
			/* One operation for each, or the test would take minutes. */
			operation = EVENTLOG_TERM_OP_EQUAL + (i + field) % 7;
			negative = i & 1;
			one = number_term(fields[field].name, operation, numbers[i / 2]);
			if (negative && (!one.number || one.number > 1ULL << 63 ||
					 operation == EVENTLOG_TERM_OP_BITS))
				negative = 0;
			if (negative)
				one.flags |= EVENTLOG_TERM_NEGATIVE;
			if (operation == EVENTLOG_TERM_OP_BITS && !one.number)
				continue;
			CHECK_EQ(set_predicate(consumer.fd, "types", EVENTLOG_MARKER_TRACE, one),
				 1);
			for (j = 0; j < ARRAY_SIZE(numbers); j++) {
				unsigned int shift = 64 - fields[field].bits;
				__u64 value = numbers[j] << shift;
				bool expected;
				int order;

				value = fields[field].is_signed ? (__u64)((__s64)value >> shift) :
								  value >> shift;
				order = order_of(fields[field].is_signed && value >> 63, value,
						 negative, one.number);
				expected =
					operation == EVENTLOG_TERM_OP_EQUAL ? order == 0 :
					operation == EVENTLOG_TERM_OP_NOT_EQUAL ? order != 0 :
					operation == EVENTLOG_TERM_OP_LESS ? order < 0 :
					operation == EVENTLOG_TERM_OP_LESS_EQUAL ? order <= 0 :
					operation == EVENTLOG_TERM_OP_GREATER ? order > 0 :
					operation == EVENTLOG_TERM_OP_GREATER_EQUAL ? order >= 0 :
					(value & one.number) != 0;
				test_note("%s: %llu, operation %u, %s%llu", fields[field].name,
					  numbers[j], operation, negative ? "-" : "", one.number);
				CHECK_EQ(passes(&consumer, numbers[j], NULL), expected);
				compared++;
			}
		}
		one = term(fields[field].name, EVENTLOG_TERM_OP_SET, 0, 0, NULL);
		CHECK_EQ(set_predicate(consumer.fd, "types", EVENTLOG_MARKER_TRACE, one), 1);
		CHECK(!passes(&consumer, 0, NULL));
		CHECK(passes(&consumer, 5, NULL));
	}
	test_print("%u comparisons", compared);
	consumer_close(&consumer);
	unload(PREDICATE);
}

TEST(predicates_on_other_types)
{
	static const struct {
		struct filter_term term;
		__u64 number;
		const char *text;
		bool passes;
	} cases[] = {
#define TERM(field, does, has, ...) { { .name = field, .operation = EVENTLOG_TERM_OP_##does, \
	.flags = has, __VA_ARGS__ }
#define TEXT(does, value) TERM("text", does, EVENTLOG_TERM_STRING, .string = value)
#define BOOL(does, value) TERM("as_bool", does, EVENTLOG_TERM_BOOL, .number = value)
		TEXT(EQUAL, "tea"), 0, "tea", true },
		TEXT(EQUAL, "tea"), 0, "teapot", false },
		TEXT(EQUAL, "tea"), 0, "te", false },
		TEXT(EQUAL, "tea"), 0, "", false },
		TEXT(EQUAL, "tea"), 0, NULL, false },
		TEXT(EQUAL, ""), 0, "", true },
		TEXT(EQUAL, ""), 0, "x", false },
		TEXT(EQUAL, "(null)"), 0, NULL, true },
		TEXT(EQUAL, "(null"), 0, NULL, false },
		TEXT(NOT_EQUAL, "tea"), 0, "tea", false },
		TEXT(NOT_EQUAL, "tea"), 0, "teapot", true },
		TEXT(NOT_EQUAL, "tea"), 0, NULL, true },
		TEXT(BEGINS, "tea"), 0, "tea", true },
		TEXT(BEGINS, "tea"), 0, "teapot", true },
		TEXT(BEGINS, "tea"), 0, "te", false },
		TEXT(BEGINS, "tea"), 0, "a tea", false },
		TEXT(BEGINS, ""), 0, "", true },
		TEXT(BEGINS_NOT, "tea"), 0, "teapot", false },
		TEXT(BEGINS_NOT, "tea"), 0, "te", true },
		TERM("text", SET, 0), 0, "x", true },
		TERM("text", SET, 0), 0, "", false },
		TERM("text", SET, 0), 0, NULL, true },
		TEXT(EQUAL, "012345678901234567890123456789012345678901234567890123456789012"), 0,
		"012345678901234567890123456789012345678901234567890123456789012", true },
		TEXT(EQUAL, "012345678901234567890123456789012345678901234567890123456789012"), 0,
		"0123456789012345678901234567890123456789012345678901234567890123", false },
		BOOL(EQUAL, 1), 1, NULL, true },
		BOOL(EQUAL, 1), 2, NULL, true },
		BOOL(EQUAL, 1), 0, NULL, false },
		BOOL(EQUAL, 0), 1, NULL, false },
		BOOL(EQUAL, 0), 0, NULL, true },
		BOOL(NOT_EQUAL, 1), 0, NULL, true },
		BOOL(NOT_EQUAL, 0), 0, NULL, false },
		TERM("as_bool", SET, 0), 1, NULL, true },
		TERM("as_bool", SET, 0), 0, NULL, false },
		TERM("as_ptr", EQUAL, EVENTLOG_TERM_NUMBER, .number = 4096), 4096, NULL, true },
		TERM("as_ptr", GREATER, EVENTLOG_TERM_NUMBER, .number = 4096), 4096, NULL, false },
		TERM("as_ipv4", SET, 0), 0, NULL, false },
		TERM("as_ipv4", SET, 0), 1, NULL, true },
		/* A term with several meanings: the field's type selects one. */
		TERM("as_u8", EQUAL,
		     EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_BOOL | EVENTLOG_TERM_STRING,
		     .number = 1, .string = "1"), 257, "x", true },
		TERM("as_bool", EQUAL,
		     EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_BOOL | EVENTLOG_TERM_STRING,
		     .number = 1, .string = "1"), 257, "x", true },
		TERM("text", EQUAL,
		     EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_BOOL | EVENTLOG_TERM_STRING,
		     .number = 1, .string = "1"), 257, "x", false },
		TERM("text", EQUAL,
		     EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_BOOL | EVENTLOG_TERM_STRING,
		     .number = 1, .string = "1"), 0, "1", true },
		/* Common fields, which every event has. */
		TERM("cpu", LESS, EVENTLOG_TERM_NUMBER, .number = 1000000), 0, NULL, true },
		TERM("cpu", GREATER, EVENTLOG_TERM_NUMBER, .number = 1000000), 0, NULL, false },
		TERM("comm", EQUAL, EVENTLOG_TERM_STRING, .string = "marker_firer"), 0, NULL,
		true },
		TERM("comm", BEGINS, EVENTLOG_TERM_STRING, .string = "marker_"), 0, NULL, true },
		TERM("comm", NOT_EQUAL, EVENTLOG_TERM_STRING, .string = "marker_firer"), 0, NULL,
		false },
		TERM("comm", EQUAL, EVENTLOG_TERM_STRING | EVENTLOG_TERM_COMMON,
		     .string = "marker_firer_x"), 0, NULL, false },
		TERM("pid", EQUAL, EVENTLOG_TERM_NUMBER, .number = 0), 0, NULL, false },
		TERM("tid", NOT_EQUAL, EVENTLOG_TERM_NUMBER, .number = 0), 0, NULL, true },
	};
	static const struct {
		const char *network, *mask;
		__u8 operation;
		const char *address;
		bool passes;
	} addresses[] = {
		{ "10.1.2.3", "255.255.255.255", EVENTLOG_TERM_OP_EQUAL, "10.1.2.3", true },
		{ "10.1.2.3", "255.255.255.255", EVENTLOG_TERM_OP_EQUAL, "10.1.2.4", false },
		{ "10.1.0.0", "255.255.0.0", EVENTLOG_TERM_OP_EQUAL, "10.1.2.4", true },
		{ "10.1.0.0", "255.255.0.0", EVENTLOG_TERM_OP_EQUAL, "10.2.2.4", false },
		{ "10.1.0.0", "255.255.0.0", EVENTLOG_TERM_OP_NOT_EQUAL, "10.2.2.4", true },
		{ "0.0.0.0", "0.0.0.0", EVENTLOG_TERM_OP_EQUAL, "10.2.2.4", true },
		{ "0.0.0.0", "0.0.0.0", EVENTLOG_TERM_OP_NOT_EQUAL, "10.2.2.4", false },
		/* An IPv4 address is ::ffff:a.b.c.d. */
		{ "::ffff:10.1.0.0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:0", EVENTLOG_TERM_OP_EQUAL,
		  "10.1.2.4", true },
		{ "::ffff:10.1.0.0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:0", EVENTLOG_TERM_OP_EQUAL,
		  "10.2.2.4", false },
		{ "::10.1.0.0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:0", EVENTLOG_TERM_OP_EQUAL,
		  "10.1.2.4", false },
		{ "::10.1.0.0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:0", EVENTLOG_TERM_OP_NOT_EQUAL,
		  "10.1.2.4", true },
		{ "::", "::", EVENTLOG_TERM_OP_EQUAL, "10.1.2.4", true },
	};
	struct eventlog_marker_set request;
	struct consumer consumer;
	struct filter_term one;
	char name[16] = "marker_firer";
	unsigned int i;

	load(PREDICATE);
	CHECK_OK(prctl(PR_SET_NAME, name));
	consumer_open(&consumer, 16 * page_size());
	rule_add(consumer.fd, "markers_" PREDICATE, "types");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		test_note("case %u", i);
		CHECK_EQ(set_predicate(consumer.fd, "types", EVENTLOG_MARKER_TRACE, cases[i].term),
			 1);
		CHECK_EQ(passes(&consumer, cases[i].number, cases[i].text), cases[i].passes);
	}
	for (i = 0; i < ARRAY_SIZE(addresses); i++) {
		test_note("address %u", i);
		one = term("as_ipv4", addresses[i].operation, EVENTLOG_TERM_IPV4, 0, NULL);
		if (strchr(addresses[i].network, ':'))
			one.flags = EVENTLOG_TERM_IPV6;
		one.address = addresses[i].network;
		one.mask = addresses[i].mask;
		CHECK_EQ(set_predicate(consumer.fd, "types", EVENTLOG_MARKER_TRACE, one), 1);
		CHECK_EQ(passes(&consumer, ntohl(inet_addr(addresses[i].address)), NULL),
			 addresses[i].passes);
	}
	one = number_term("pid", EVENTLOG_TERM_OP_EQUAL, getpid());
	CHECK_EQ(set_predicate(consumer.fd, "types", EVENTLOG_MARKER_TRACE, one), 1);
	CHECK(passes(&consumer, 0, NULL));
	one = number_term("tid", EVENTLOG_TERM_OP_EQUAL, gettid());
	CHECK_EQ(set_predicate(consumer.fd, "types", EVENTLOG_MARKER_TRACE, one), 1);
	CHECK(passes(&consumer, 0, NULL));

	/* Operations that do not fit the type of the field. */
	{
		const struct filter_term misfits[] = {
			text_term("as_u8", EVENTLOG_TERM_OP_EQUAL, "x"),
			text_term("as_u8", EVENTLOG_TERM_OP_BEGINS, "x"),
			number_term("text", EVENTLOG_TERM_OP_EQUAL, 1),
			number_term("text", EVENTLOG_TERM_OP_LESS, 1),
			number_term("text", EVENTLOG_TERM_OP_BITS, 1),
			number_term("as_bool", EVENTLOG_TERM_OP_EQUAL, 1),
			number_term("as_bool", EVENTLOG_TERM_OP_LESS, 1),
			number_term("as_ipv4", EVENTLOG_TERM_OP_EQUAL, 1),
			number_term("as_ipv4", EVENTLOG_TERM_OP_GREATER, 1),
			number_term("comm", EVENTLOG_TERM_OP_EQUAL, 1),
			text_term("cpu", EVENTLOG_TERM_OP_EQUAL, "x"),
			number_term("no_such", EVENTLOG_TERM_OP_EQUAL, 1),
			{ .name = "as_u64", .operation = EVENTLOG_TERM_OP_EQUAL,
			  .flags = EVENTLOG_TERM_IPV4, .address = "10.0.0.0", .mask = "255.0.0.0" },
			{ .name = "text", .operation = EVENTLOG_TERM_OP_EQUAL,
			  .flags = EVENTLOG_TERM_IPV6, .address = "fd00::", .mask = "ff00::" },
			term("as_u64", EVENTLOG_TERM_OP_EQUAL, EVENTLOG_TERM_BOOL, 1, NULL),
		};

		for (i = 0; i < ARRAY_SIZE(misfits); i++) {
			test_note("misfit %u", i);
			request = predicate_request("types", ALL, &misfits[i], 1);
			CHECK_OK(try_set(consumer.fd, &request));
			CHECK_EQ(request.incompatible, 1);
			CHECK_EQ(request.changed, 0);
		}
	}
	consumer_close(&consumer);
	unload(PREDICATE);
}

/* (u8 == 1 && u16 == 257) || (s8 == 2 && !(u16 == 2)), then a chain of sixteen terms. */
TEST(predicates_of_several_terms)
{
	struct filter_term terms[16] = {
		number_term("as_u8", EVENTLOG_TERM_OP_EQUAL, 1),
		number_term("as_u16", EVENTLOG_TERM_OP_EQUAL, 257),
		number_term("as_s8", EVENTLOG_TERM_OP_EQUAL, 2),
		number_term("as_u16", EVENTLOG_TERM_OP_EQUAL, 2),
	};
	struct eventlog_marker_set request;
	struct consumer consumer;
	unsigned int i;

	load(PREDICATE);
	consumer_open(&consumer, 16 * page_size());
	rule_add(consumer.fd, "markers_" PREDICATE, "types");
	terms[0].on_true = 1;
	terms[0].on_false = 2;
	terms[1].on_false = 2;
	terms[2].on_true = 3;
	terms[3].on_true = EVENTLOG_FILTER_REJECT;
	terms[3].on_false = EVENTLOG_FILTER_ACCEPT;
	request = predicate_request("types", EVENTLOG_MARKER_TRACE, terms, 4);
	CHECK_OK(try_set(consumer.fd, &request));
	CHECK_EQ(request.changed, 1);
	CHECK(!passes(&consumer, 1, NULL));
	CHECK(passes(&consumer, 257, NULL));
	CHECK(!passes(&consumer, 2, NULL));
	CHECK(passes(&consumer, 258, NULL));
	CHECK(!passes(&consumer, 3, NULL));

	for (i = 0; i < 16; i++) {
		terms[i] = number_term("as_u8", EVENTLOG_TERM_OP_NOT_EQUAL, i);
		if (i < 15)
			terms[i].on_true = i + 1;
	}
	request = predicate_request("types", EVENTLOG_MARKER_TRACE, terms, 16);
	CHECK_OK(try_set(consumer.fd, &request));
	for (i = 0; i < 20; i++)
		CHECK_EQ(passes(&consumer, i, NULL), i >= 16);
	consumer_close(&consumer);
	unload(PREDICATE);
}

/* A predicate applies to all handlers and to a handler override. */
TEST(predicate_applies_to_all_handlers)
{
	const char *line = "nothing " SOURCE ":serve:1:";
	struct filter_term mine, others;
	unsigned int before;
	int fd = device_open();

	mine = number_term("pid", EVENTLOG_TERM_OP_EQUAL, getpid());
	others = number_term("pid", EVENTLOG_TERM_OP_NOT_EQUAL, getpid());
	load(EXAMPLE);
	before = log_count(line);
	CHECK_EQ(set_predicate(fd, "nothing", EVENTLOG_MARKER_PRINT, others), 1);
	serve(1);
	CHECK_EQ(log_count(line), before);
	CHECK_EQ(set_predicate(fd, "nothing", EVENTLOG_MARKER_PRINT, mine), 1);
	serve(1);
	CHECK_EQ(log_count(line), before + 1);
	CHECK_EQ(set_predicate(fd, "overridden", EVENTLOG_MARKER_PROBE, others), 1);
	serve(1);
	CHECK_EQ(file_number("/sys/module/" EXAMPLE "/parameters/seen"), 0);
	CHECK_EQ(rejected_of(fd, "overridden"), 1);
	CHECK_EQ(set_predicate(fd, "overridden", EVENTLOG_MARKER_PROBE, mine), 1);
	serve(1);
	CHECK_EQ(file_number("/sys/module/" EXAMPLE "/parameters/seen"), 4);
	unload(EXAMPLE);
}

static volatile bool switching_over;

/*
 * Alternates between two predicates, below 100 and from 200 on, and sometimes no
 * predicate and no tracing.  The marker stays enabled, so that the kernel does not patch
 * its instruction while it runs: an emulator may keep the old translation.
 */
static void *switch_predicates(void *unused)
{
	int fd = device_open();
	struct filter_term terms[2] = {
		number_term("value", EVENTLOG_TERM_OP_LESS, 100),
		number_term("value", EVENTLOG_TERM_OP_GREATER_EQUAL, 200),
	};
	struct eventlog_marker_set request;
	unsigned long rounds = 0;

	(void)unused;
	while (!switching_over) {
		request = predicate_request("stormed", EVENTLOG_MARKER_TRACE, &terms[rounds & 1],
					    1);
		if (rounds % 4 == 3)
			request = set_request("stormed", EVENTLOG_MARKER_OP_REPLACE,
					      EVENTLOG_MARKER_PROBE);
		if (try_set(fd, &request))
			CHECK_EQ(errno, ENOENT);
		else
			rounds++;
	}
	close(fd);
	return (void *)rounds;
}

static unsigned int check_stormed(struct consumer *consumer)
{
	struct record record;
	unsigned int count = 0;
	__u32 value;

	while (consumer_next(consumer, &record)) {
		if ((record.header->size_flags & EVENTLOG_RECORD_TYPE_MASK) >>
		    EVENTLOG_RECORD_TYPE_SHIFT != EVENTLOG_RECORD_EVENT)
			continue;
		memcpy(&value, record.payload, sizeof(value));
		CHECK(value < 100 || (value >= 200 && value < 300));
		count++;
	}
	consumer_release(consumer);
	return count;
}

static bool toggled_enough;

/* Adds a predicate with a handler, which flips the static key, and removes both. */
static void *toggle_predicate(void *unused)
{
	struct filter_term one = number_term("as_u8", EVENTLOG_TERM_OP_EQUAL, 1);
	int fd = device_open();
	unsigned int i;

	(void)unused;
	for (i = 0; i < 300; i++) {
		CHECK_EQ(set_predicate(fd, "types", EVENTLOG_MARKER_PROBE, one), 1);
		CHECK_EQ(switch_markers(fd, "types", EVENTLOG_MARKER_OP_REMOVE, ALL), 1);
	}
	close(fd);
	__atomic_store_n(&toggled_enough, true, __ATOMIC_RELEASE);
	return NULL;
}

/* A listing that runs meanwhile shows the predicate and the handler, or neither. */
TEST(predicate_and_handlers_change_at_once)
{
	unsigned long on = 0, off = 0;
	int fd = device_open();
	struct marker marker;
	pthread_t toggler;
	__u32 before;

	load(PREDICATE);
	marker_find(fd, "types", &marker);
	before = marker.next.descriptor - 1;
	toggled_enough = false;
	CHECK_EQ(pthread_create(&toggler, NULL, toggle_predicate, NULL), 0);
	while (!__atomic_load_n(&toggled_enough, __ATOMIC_ACQUIRE)) {
		CHECK_OK(marker_next(fd, before, &marker));
		CHECK_EQ(marker.next.filtered != 0, marker.next.handlers != 0);
		CHECK_EQ(marker.next.active, marker.next.handlers);
		if (marker.next.handlers)
			on++;
		else
			off++;
	}
	CHECK_EQ(pthread_join(toggler, NULL), 0);
	test_print("listed %lu times as on, %lu times as off", on, off);
	unload(PREDICATE);
}

/*
 * Predicates and handlers are set, replaced and removed while a marker fires on all
 * CPUs, in threads and in the interrupts and NMIs above them, and while its module is
 * loaded and unloaded.  The subscriber gets no event that every predicate rejects.
 */
TEST(predicates_change_while_markers_fire)
{
	const char *nmis_file = "/sys/module/" PREDICATE "/parameters/nmis";
	struct consumer consumer;
	unsigned int i, enough, nmis = 0;
	unsigned long count = 0;
	pthread_t switcher;
	bool inject;
	void *rounds;

	consumer_open(&consumer, 256 * page_size());
	rule_add(consumer.fd, "markers_" PREDICATE, "stormed");
	switching_over = false;
	CHECK_EQ(pthread_create(&switcher, NULL, switch_predicates, NULL), 0);
	for (i = 0; i < 10; i++) {
		load(PREDICATE);
		switch_markers(consumer.fd, "stormed", EVENTLOG_MARKER_OP_REPLACE,
			       EVENTLOG_MARKER_PROBE);
		CHECK_OK(file_write("/sys/module/" PREDICATE "/parameters/storm", "1"));
		/* From here on the module has a handler for the NMIs. */
		inject = !system("command -v vm-nmi > /dev/null && vm-nmi 10 2> /dev/null");
		for (enough = 0; enough < 5000;)
			enough += check_stormed(&consumer);
		count += enough;
		if (inject) {
			WAIT_FOR(file_number(nmis_file) > 0);
			nmis += file_number(nmis_file);
		}
		unload(PREDICATE);
		count += check_stormed(&consumer);
	}
	switching_over = true;
	CHECK_EQ(pthread_join(switcher, &rounds), 0);
	test_print("%lu predicates, %lu events passed, %u NMIs", (unsigned long)rounds, count,
		   nmis);
	consumer_close(&consumer);
}

/* Suppressed lines are counted. */
TEST(suppressed_lines_are_counted)
{
	const char *line = "drink " SOURCE ":drink:0: order_guest=";
	unsigned int before, i;
	struct marker marker;
	int fd = device_open();

	load(EXAMPLE);
	switch_markers(fd, "*:drink:0", EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_PRINT);
	marker_find(fd, "drink", &marker);
	CHECK_EQ(marker.next.suppressed, 0);
	before = log_count(line);
	for (i = 0; i < 50; i++)
		serve(1);
	marker_find(fd, "drink", &marker);
	CHECK_EQ(log_count(line) - before + marker.next.suppressed, 50);
	CHECK(marker.next.suppressed);
	unload(EXAMPLE);
}

/* ------------------------------------------------------------------------
 * Colliding ids
 */
static int collide_status(const char *module)
{
	char path[128], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/module/" COLLIDE "%s/parameters/status", module);
	fd = CHECK_OK(open(path, O_RDONLY));
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return atoi(text);
}

static void collide_pass(const char *module, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/" COLLIDE "%s/parameters/pass", module);
	CHECK_OK(file_write(path, value));
}

TEST(colliding_ids_are_rejected)
{
	const char *line = "have the id ";
	struct consumer consumer;
	struct marker one, two;
	struct record record;
	unsigned int before;
	__u32 value;

	consumer_open(&consumer, 16 * page_size());
	rule_add(consumer.fd, "markers_*", NULL);
	load(COLLIDE "one");
	CHECK_EQ(collide_status("one"), 0);
	marker_find(consumer.fd, "collide", &one);
	CHECK(!strcmp(one.place, "collide.c:f_00krlwmr0rixk:0"));
	/* The second module gets an error, the log gets a line, and its markers are missing. */
	before = log_count(line);
	load(COLLIDE "two");
	CHECK_EQ(collide_status("two"), -EEXIST);
	CHECK_EQ(log_count(line), before + 1);
	CHECK(log_count("markers of " COLLIDE "two and " COLLIDE "one: "
			"collide.c:f_szzkeel0gbvtl:0 and collide.c:f_00krlwmr0rixk:0 "));
	CHECK_ERRNO(marker_next(consumer.fd, one.next.descriptor, &two), ENOENT);
	collide_pass("two", "2");
	CHECK_EQ(consumer_skip(&consumer), 0);
	collide_pass("one", "1");
	consumer_one(&consumer, &record);
	CHECK_EQ(record.header->descriptor, one.next.descriptor);
	memcpy(&value, record.payload, sizeof(value));
	CHECK_EQ(value, 1);
	unload(COLLIDE "two");
	collide_pass("one", "1");
	CHECK_EQ(consumer_skip(&consumer), 1);
	/* Loaded alone, the second module has its markers, with the same id. */
	unload(COLLIDE "one");
	load(COLLIDE "two");
	CHECK_EQ(collide_status("two"), 0);
	marker_find(consumer.fd, "collide", &two);
	CHECK(!strcmp(two.place, "collide.c:f_szzkeel0gbvtl:0"));
	CHECK_EQ(two.next.id, one.next.id);
	unload(COLLIDE "two");

	/* Two colliding markers in one module. */
	before = log_count("markers of " COLLIDE "both: collide.c:");
	load(COLLIDE "both");
	CHECK_EQ(collide_status("both"), -EEXIST);
	CHECK_EQ(log_count("markers of " COLLIDE "both: collide.c:"), before + 1);
	CHECK_ERRNO(marker_next(consumer.fd, 0, &two), ENOENT);
	collide_pass("both", "1");
	CHECK_EQ(consumer_skip(&consumer), 0);
	/* That module does not disturb the next one. */
	load(COLLIDE "one");
	CHECK_EQ(collide_status("one"), 0);
	unload(COLLIDE "one");
	unload(COLLIDE "both");
	consumer_close(&consumer);
}

void test_after_all(void)
{
	module_unload(EXAMPLE);
	module_unload(MANY);
	module_unload(PREDICATE);
	module_unload(COLLIDE "one");
	module_unload(COLLIDE "two");
	module_unload(COLLIDE "both");
}
