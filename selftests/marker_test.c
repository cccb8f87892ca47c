// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers of kernel modules: browsed, switched, traced, printed, probed.  Loads
 * the modules that have them, which are beside $EVENTLOG_KO: module/ktest/.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "eventlog_common.h"

#define EXAMPLE "eventlog_marker_example"
#define MANY "eventlog_marker_many"
#define COLLIDE "eventlog_marker_collide_"
#define SOURCE "module/ktest/marker_example.c"
#define HEADER "module/ktest/marker_example.h"

#define ALL (EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_TRACE | EVENTLOG_MARKER_PROBE)

/* ------------------------------------------------------------------------
 * Modules
 */
static int try_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK);
}

static int try_load(const char *name)
{
	const char *eventlog = getenv("EVENTLOG_KO");
	const char *slash;
	char path[4096];
	int fd, result;

	if (!eventlog)
		eventlog = getenv("EVENTLOG_MODULE");
	if (!eventlog)
		SKIP("EVENTLOG_KO does not say which file the module is");
	slash = strrchr(eventlog, '/');
	snprintf(path, sizeof(path), "%.*smodule/ktest/%s.ko",
		 slash ? (int)(slash + 1 - eventlog) : 0, eventlog, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		SKIP("there is no %s", path);
	result = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return result;
}

/* Anew: another case may have failed and left it. */
static void load(const char *name)
{
	try_unload(name);
	CHECK_OK(try_load(name));
}

static void unload(const char *name)
{
	CHECK_OK(try_unload(name));
}

/* Passes every marker of the example. */
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
	struct eventlog_marker_next next;
	char text[1024];
	const char *module;
	const char *tag;
	char place[2200];
};

/* The one behind @descriptor; returns as ioctl(2). */
static int marker_next(int fd, __u32 descriptor, struct marker *marker)
{
	const char *path, *function;

	memset(&marker->next, 0, sizeof(marker->next));
	marker->next.size = sizeof(marker->next);
	marker->next.descriptor = descriptor;
	marker->next.text = PTR(marker->text);
	marker->next.text_size = sizeof(marker->text);
	if (ioctl(fd, EVENTLOG_IOC_MARKER_NEXT, &marker->next))
		return -1;
	marker->module = marker->text;
	marker->tag = marker->module + strlen(marker->module) + 1;
	path = marker->tag + strlen(marker->tag) + 1;
	function = path + strlen(path) + 1;
	CHECK_EQ(function + strlen(function) + 1 - marker->text, marker->next.text_size);
	snprintf(marker->place, sizeof(marker->place), "%s:%s:%u", path, function,
		 marker->next.ordinal);
	CHECK_EQ(marker->next.id, place_hash(marker->place));
	CHECK(marker->next.descriptor > descriptor);
	return 0;
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

/* Returns how many were changed. */
static unsigned int switch_markers(int fd, const char *marker, __u32 operation, __u32 handlers)
{
	struct eventlog_marker_set request = set_request(marker, operation, handlers);

	test_note("switching %s", marker);
	CHECK_OK(try_set(fd, &request));
	CHECK(request.matched >= request.changed + request.refused);
	return request.changed;
}

/* ------------------------------------------------------------------------
 * Browsing
 */
TEST(listed)
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
		{ "redirected", "module/ktest/marker_redirected.c:marker_example_redirected:0",
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
		/* Nobody subscribes. */
		CHECK_EQ(marker.next.active, expected[i].handlers & EVENTLOG_MARKER_PRINT);
		CHECK(marker.next.line);
		count++;
	}
	CHECK_EQ(errno, ENOENT);
	CHECK_EQ(count, ARRAY_SIZE(expected));
	unload(EXAMPLE);
	CHECK_ERRNO(marker_next(fd, 0, &marker), ENOENT);
}

TEST(schema)
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
 * Refusals
 */
TEST(next_errors)
{
	struct marker marker, small;
	struct eventlog_marker_next request;
	int fd = device_open_for(O_RDONLY);
	__u32 size;

	load(EXAMPLE);
	CHECK_OK(marker_next(fd, 0, &marker));
	CHECK_ERRNO(marker_next(fd, 0xffffffff, &small), ENOENT);

	request = marker.next;
	request.flags = 1;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_NEXT, &request), EINVAL);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_NEXT, NULL), EFAULT);
	request = marker.next;
	request.size = 4;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_NEXT, &request), EINVAL);

	/* The size is told, and nothing else is touched. */
	memset(small.text, 0xa5, sizeof(small.text));
	for (size = 0; size < marker.next.text_size; size++) {
		memset(&request, 0, sizeof(request));
		request.size = sizeof(request);
		request.text = PTR(small.text);
		request.text_size = size;
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_NEXT, &request), EMSGSIZE);
		CHECK_EQ(request.text_size, marker.next.text_size);
		CHECK_EQ(request.descriptor, 0);
		CHECK_EQ(request.id, 0);
		CHECK_EQ((unsigned char)small.text[0], 0xa5);
	}
	memset(&request, 0, sizeof(request));
	request.size = sizeof(request);
	request.text_size = 1024;
	request.text = PTR(pages_unmapped());
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_NEXT, &request), EFAULT);

	/* Opened without the right to. */
	close(fd);
	capabilities_keep(CAPABILITY_ALL & ~(CAPABILITY_PERFMON | CAPABILITY_SYS_ADMIN));
	fd = device_open();
	CHECK_ERRNO(marker_next(fd, 0, &small), EPERM);
	unload(EXAMPLE);
}

TEST(set_errors)
{
	struct eventlog_marker_set request;
	unsigned char *memory = pages_map(page_size());
	char *long_name = malloc(EVENTLOG_GLOB_MAX + 1);
	int fd = device_open_for(O_RDONLY);
	unsigned int bit;

	load(EXAMPLE);
	for (bit = 1; bit < 32; bit++) {
		request = set_request("*", 0, EVENTLOG_MARKER_PRINT);
		request.flags = 1U << bit;
		CHECK_ERRNO(try_set(fd, &request), EINVAL);
	}
	for (bit = 3; bit < 32; bit++) {
		request = set_request("*", 0, 1U << bit);
		CHECK_ERRNO(try_set(fd, &request), EINVAL);
	}
	request = set_request("*", EVENTLOG_MARKER_REPLACE + 1, EVENTLOG_MARKER_PRINT);
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
	request.module = PTR("no such module");
	CHECK_ERRNO(try_set(fd, &request), ENOENT);
	request.module = PTR(pages_unmapped());
	CHECK_ERRNO(try_set(fd, &request), EFAULT);
	request.module = 0;
	request.marker = PTR(pages_unmapped());
	CHECK_ERRNO(try_set(fd, &request), EFAULT);
	memset(long_name, 'x', EVENTLOG_GLOB_MAX);
	long_name[EVENTLOG_GLOB_MAX] = '\0';
	request.marker = PTR(long_name);
	CHECK_ERRNO(try_set(fd, &request), E2BIG);
	request.marker = 0;
	request.module = PTR(long_name);
	CHECK_ERRNO(try_set(fd, &request), E2BIG);
	long_name[EVENTLOG_GLOB_MAX - 1] = '\0';
	CHECK_ERRNO(try_set(fd, &request), ENOENT);

	/* A caller that cannot be told, or may not: nothing has happened. */
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
TEST(switched)
{
	struct eventlog_marker_set request;
	struct marker marker;
	int fd = device_open();

	load(EXAMPLE);
	CHECK_EQ(switch_markers(fd, "nothing", EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_PRINT), 1);
	CHECK_EQ(switch_markers(fd, "nothing", EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_PRINT), 0);
	CHECK_EQ(handlers_of(fd, "nothing"), EVENTLOG_MARKER_PRINT);
	CHECK_EQ(switch_markers(fd, "nothing", EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_PROBE), 1);
	CHECK_EQ(handlers_of(fd, "nothing"), EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_PROBE);
	CHECK_EQ(switch_markers(fd, "nothing", EVENTLOG_MARKER_REMOVE, EVENTLOG_MARKER_PRINT), 1);
	CHECK_EQ(handlers_of(fd, "nothing"), EVENTLOG_MARKER_PROBE);
	CHECK_EQ(switch_markers(fd, "nothing", EVENTLOG_MARKER_REPLACE, EVENTLOG_MARKER_TRACE), 1);
	CHECK_EQ(handlers_of(fd, "nothing"), EVENTLOG_MARKER_TRACE);

	/* By place, by id, by module. */
	CHECK_EQ(switch_markers(fd, "*:serve:1", EVENTLOG_MARKER_REPLACE, 0), 1);
	CHECK_EQ(handlers_of(fd, "nothing"), 0);
	marker_find(fd, "nothing", &marker);
	request = set_request("*", EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_TRACE);
	request.flags = EVENTLOG_MARKER_SET_ID;
	request.id = marker.next.id;
	request.module = PTR("*_example");
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.matched, 1);
	CHECK_EQ(request.changed, 1);
	CHECK_EQ(handlers_of(fd, "nothing"), EVENTLOG_MARKER_TRACE);

	/* What a marker does not allow it does not do, and others do. */
	request = set_request("*_example.c:serve:*", EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_PRINT);
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.matched, 5);
	CHECK_EQ(request.changed, 4);
	CHECK_EQ(request.refused, 1);
	CHECK_EQ(handlers_of(fd, "only_traced"), EVENTLOG_MARKER_TRACE);

	/* Two markers, one identity. */
	request = set_request("pour", EVENTLOG_MARKER_REPLACE, EVENTLOG_MARKER_PROBE);
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.matched, 2);

	/* One of them. */
	marker_find(fd, "pour", &marker);
	request = set_request("*", EVENTLOG_MARKER_REPLACE, EVENTLOG_MARKER_TRACE);
	request.descriptor = marker.next.descriptor;
	CHECK_OK(try_set(fd, &request));
	CHECK_EQ(request.matched, 1);
	CHECK_EQ(handlers_of(fd, "pour"), EVENTLOG_MARKER_TRACE);
	CHECK_OK(marker_next(fd, marker.next.descriptor, &marker));
	CHECK(!strcmp(marker.tag, "pour"));
	CHECK_EQ(marker.next.handlers, EVENTLOG_MARKER_PROBE);
	unload(EXAMPLE);
}

/* What is off does not evaluate its expressions. */
TEST(off_is_off)
{
	int fd = device_open();

	load(EXAMPLE);
	serve(1);
	CHECK_EQ(evaluated(), 0);
	switch_markers(fd, "evaluated", EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_PROBE);
	serve(1);
	CHECK_EQ(evaluated(), 1);
	/* Tracing alone, while nobody subscribes, is off as well. */
	switch_markers(fd, "evaluated", EVENTLOG_MARKER_REPLACE, EVENTLOG_MARKER_TRACE);
	serve(1);
	CHECK_EQ(evaluated(), 1);
	switch_markers(fd, "evaluated", EVENTLOG_MARKER_REPLACE, 0);
	serve(1);
	CHECK_EQ(evaluated(), 1);
	unload(EXAMPLE);
}

/* ------------------------------------------------------------------------
 * Tracing
 */
TEST(traced)
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

	/* With the handler off the subscriber gets nothing; on again, it does. */
	switch_markers(consumer.fd, "order", EVENTLOG_MARKER_REMOVE, EVENTLOG_MARKER_TRACE);
	serve(4);
	CHECK_EQ(consumer_skip(&consumer), 0);
	switch_markers(consumer.fd, "order", EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_TRACE);
	serve(5);
	CHECK_EQ(consumer_skip(&consumer), 1);

	/* Every marker that traces, once each but for those of the header. */
	rule_add(consumer.fd, "markers_*", NULL);
	serve(7);
	CHECK_EQ(consumer_skip(&consumer), 8);
	consumer_close(&consumer);
	marker_find(device_open(), "order", &marker);
	CHECK_EQ(marker.next.active, 0);
	unload(EXAMPLE);
}

/* A module that comes while a subscriber waits for it. */
TEST(subscribed_before)
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
 * Printing, and what replaces it
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

TEST(printed)
{
	const char *line = "drink_2 " SOURCE ":drink:1: order_guest=\"marker_test\" with_milk=1";
	unsigned int before, i;
	int fd = device_open();

	load(EXAMPLE);
	before = log_count(line);
	serve(1);
	CHECK_EQ(log_count(line), before);
	switch_markers(fd, "*:drink:1", EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_PRINT);
	serve(1);
	CHECK_EQ(log_count(line), before + 1);
	/* Rate-limited: fewer than there are hits. */
	for (i = 0; i < 1000; i++)
		serve(1);
	CHECK(log_count(line) < before + 1000);
	unload(EXAMPLE);
}

TEST(forced_in_a_file)
{
	unsigned int before;

	load(EXAMPLE);
	before = log_count("forced module/ktest/marker_forced.c:marker_example_forced:0: number=");
	serve(1);
	CHECK_EQ(log_count("forced module/ktest/marker_forced.c:marker_example_forced:0: number="),
		 before + 1);
	unload(EXAMPLE);
}

TEST(redirected_in_a_file)
{
	int fd = device_open();

	load(EXAMPLE);
	serve(1);
	CHECK_EQ(file_number("/sys/module/" EXAMPLE "/parameters/seen"), 0);
	switch_markers(fd, "redirected", EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_PROBE);
	serve(1);
	CHECK_EQ(file_number("/sys/module/" EXAMPLE "/parameters/seen"), 2);
	unload(EXAMPLE);
}

/* ------------------------------------------------------------------------
 * The static tracepoint
 */
TEST(tracepoint)
{
	char text[65536], place[256];
	struct marker marker;
	int fd = device_open(), trace;
	ssize_t length;

	if (access(TRACEFS "/events", F_OK))
		SKIP("there is no tracefs");
	load(EXAMPLE);
	CHECK_OK(file_write(TRACEFS "/trace", ""));
	CHECK_OK(file_write(TRACEFS "/events/eventlog/eventlog_marker/enable", "1"));
	serve(1);
	switch_markers(fd, "served", EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_PROBE);
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
	/* Once: at the first pass it was off. */
	CHECK(!strstr(strstr(text, place) + 1, "eventlog_marker:"));
	close(trace);
	unload(EXAMPLE);
}

/* ------------------------------------------------------------------------
 * Many, and all at once
 */
TEST(ten_thousand)
{
	struct eventlog_subscribe request = subscribe_request(1 << 20);
	struct eventlog_marker_set set;
	struct consumer consumer;
	struct marker marker;
	__u32 descriptor = 0;
	unsigned int count = 0;
	__u64 begin;

	load(MANY);
	consumer_open_with(&consumer, &request);
	while (!marker_next(consumer.fd, descriptor, &marker)) {
		descriptor = marker.next.descriptor;
		count++;
	}
	CHECK_EQ(count, 10000);
	rule_add(consumer.fd, "markers_" MANY, "many_3_*");
	CHECK_OK(file_write("/sys/module/" MANY "/parameters/pass", "1"));
	CHECK_EQ(consumer_skip(&consumer), 1000);

	set = set_request("many_*", EVENTLOG_MARKER_ADD, EVENTLOG_MARKER_PROBE);
	begin = clock_now();
	CHECK_OK(try_set(consumer.fd, &set));
	test_print("%u markers switched on in %llu ms", set.changed,
		   (clock_now() - begin) / 1000000);
	CHECK_EQ(set.changed, 10000);
	CHECK_OK(file_write("/sys/module/" MANY "/parameters/pass", "1"));
	CHECK_EQ(consumer_skip(&consumer), 1000);
	unload(MANY);
	CHECK_ERRNO(marker_next(consumer.fd, 0, &marker), ENOENT);
	consumer_close(&consumer);
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
		set = set_request("*", rounds & 1 ? EVENTLOG_MARKER_ADD : EVENTLOG_MARKER_REMOVE,
				  EVENTLOG_MARKER_PROBE);
		if (try_set(fd, &set))
			CHECK_EQ(errno, ENOENT);
		rounds++;
	}
	close(fd);
	return (void *)rounds;
}

/* A module comes and goes while its markers are listed, switched and passed. */
TEST(listed_while_loading)
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

/* eventlog.ko stays as long as one of its markers does. */
TEST(holds_the_module)
{
	load(EXAMPLE);
	CHECK_ERRNO2(try_unload("eventlog"), EWOULDBLOCK, EBUSY);
	unload(EXAMPLE);
}

/* ------------------------------------------------------------------------
 * Ids that are the same
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

TEST(ids_collide)
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
	/* The second one's module is told, and the log; it has no markers. */
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
	/* Alone it has them: the id is the same indeed. */
	unload(COLLIDE "one");
	load(COLLIDE "two");
	CHECK_EQ(collide_status("two"), 0);
	marker_find(consumer.fd, "collide", &two);
	CHECK(!strcmp(two.place, "collide.c:f_szzkeel0gbvtl:0"));
	CHECK_EQ(two.next.id, one.next.id);
	unload(COLLIDE "two");

	/* Both in one module. */
	before = log_count("markers of " COLLIDE "both: collide.c:");
	load(COLLIDE "both");
	CHECK_EQ(collide_status("both"), -EEXIST);
	CHECK_EQ(log_count("markers of " COLLIDE "both: collide.c:"), before + 1);
	CHECK_ERRNO(marker_next(consumer.fd, 0, &two), ENOENT);
	collide_pass("both", "1");
	CHECK_EQ(consumer_skip(&consumer), 0);
	/* It is in nobody's way. */
	load(COLLIDE "one");
	CHECK_EQ(collide_status("one"), 0);
	unload(COLLIDE "one");
	unload(COLLIDE "both");
	consumer_close(&consumer);
}

void test_after_all(void)
{
	try_unload(EXAMPLE);
	try_unload(MANY);
	try_unload(COLLIDE "one");
	try_unload(COLLIDE "two");
	try_unload(COLLIDE "both");
}
