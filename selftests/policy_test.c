// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of marker policies for programs: which requests are rejected, which bits
 * they set for existing and later events, how they combine, and what
 * FILTER_GET returns for a marker with a filter.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter_common.h"

#define PRINT EVENTLOG_MARKER_PRINT
#define PROBE EVENTLOG_MARKER_PROBE
#define ADD EVENTLOG_MARKER_OP_ADD
#define REMOVE EVENTLOG_MARKER_OP_REMOVE

static struct eventlog_marker_set policy_request(const char *program, const char *marker,
						  __u32 handlers)
{
	return (struct eventlog_marker_set){
		.size = sizeof(struct eventlog_marker_set),
		.flags = EVENTLOG_MARKER_SET_PROGRAMS,
		.owner = PTR(program),
		.marker = PTR(marker),
		.handlers = handlers,
	};
}

static struct eventlog_marker_set add_policy(int fd, const char *program, const char *marker,
					      __u32 handlers)
{
	struct eventlog_marker_set request = policy_request(program, marker, handlers);

	test_note("add policy %s %s %u", program, marker, handlers);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request));
	return request;
}

static struct eventlog_marker_set remove_policy(int fd, const char *program, const char *marker,
						 __u32 handlers)
{
	struct eventlog_marker_set request = policy_request(program, marker, handlers);

	test_note("remove policy %s %s %u", program, marker, handlers);
	request.operation = REMOVE;
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request));
	return request;
}

/* A term that compares a field with a number. */
static struct filter_term term(const char *name, int operation, __u64 number)
{
	return (struct filter_term){
		.name = name,
		.number = number,
		.flags = operation == EVENTLOG_TERM_OP_SET ? 0 : EVENTLOG_TERM_NUMBER,
		.operation = operation,
	};
}

static struct filter_term text_term(const char *name, int operation, const char *text)
{
	return (struct filter_term){
		.name = name, .flags = EVENTLOG_TERM_STRING, .operation = operation, .string = text,
	};
}

static struct eventlog_marker_set add_policy_if(int fd, const char *marker, __u32 handlers,
						 const struct filter_term *terms, __u32 count,
						 const char *text)
{
	struct eventlog_marker_set request = policy_request("if", marker, handlers);
	struct filter filter;

	test_note("add policy %s %u if %s", marker, handlers, text);
	request.filter = filter_fill(&filter, terms, count, text);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request));
	return request;
}

struct found {
	struct eventlog_policy_info next;
	char text[2 * EVENTLOG_GLOB_MAX + EVENTLOG_FILTER_TEXT_MAX];
	const char *marker;
	const char *predicate;
};

/* The first policy with a greater id; -1 and ENOENT: there is none. */
static int policy_next(int fd, __u32 id, struct found *found)
{
	struct eventlog_list list = list_request(EVENTLOG_LIST_POLICIES, found,
						 offsetof(struct found, marker));

	list.cursor = id;
	if (ioctl(fd, EVENTLOG_IOC_LIST, &list))
		return -1;
	if (!list.count) {
		CHECK_EQ(list.cursor, 0);
		errno = ENOENT;
		return -1;
	}
	CHECK_EQ(found->next.text_offset, offsetof(struct found, text));
	found->marker = found->text + strlen(found->text) + 1;
	found->predicate = found->marker + strlen(found->marker) + 1;
	CHECK_EQ(found->next.reserved, 0);
	CHECK(found->next.id > id);
	return 0;
}

/* The policy of this index. */
static int policy_at(int fd, unsigned int index, struct found *found)
{
	__u32 id = 0;
	int ret;

	do {
		ret = policy_next(fd, id, found);
		id = found->next.id;
	} while (!ret && index--);
	return ret;
}

/* All policies, as "program/marker+handlers " or "program/marker-handlers?predicate ". */
static void check_policies(int fd, const char *expected)
{
	struct found found;
	char all[1024] = "";
	size_t length = 0;

	for (found.next.id = 0; !policy_next(fd, found.next.id, &found);)
		length += snprintf(all + length, sizeof(all) - length, "%s/%s%c%u%s%s ",
				   found.text, found.marker,
				   found.next.operation == ADD ? '+' : '-', found.next.handlers,
				   *found.predicate ? "?" : "", found.predicate);
	CHECK_EQ(errno, ENOENT);
	test_note("policies '%s', not '%s'", all, expected);
	CHECK(!strcmp(all, expected));
}

static void remove_all_policies(int fd)
{
	remove_policy(fd, NULL, NULL, PRINT | PROBE);
	check_policies(fd, "");
}

/* A marker of a program: its registration and the enable bits. */
struct marker {
	int fd;
	struct eventlog_register registration;
	struct status_map map;
};

static void marker_open(struct marker *marker, const char *provider, const char *command)
{
	marker->fd = device_open();
	marker->registration = register_request(command);
	marker->registration.provider = PTR(provider);
	register_with(marker->fd, &marker->registration);
	marker->map = status_map(marker->fd, &marker->registration);
}

static void marker_close(struct marker *marker)
{
	munmap((void *)marker->map.bytes, marker->map.size);
	close(marker->fd);
}

static __u32 handlers_of(const struct marker *marker)
{
	__u8 status = status_get(&marker->map, &marker->registration);
	__u32 state, handlers;

	CHECK(!(status & EVENTLOG_STATUS_FILTER));
	handlers = (status & EVENTLOG_STATUS_PRINT ? PRINT : 0) |
		   (status & EVENTLOG_STATUS_PROBE ? PROBE : 0);
	free(describe(marker->fd, marker->registration.descriptor, &state));
	CHECK_EQ(!!(state & EVENTLOG_DESCRIBED_PRINT), !!(handlers & PRINT));
	CHECK_EQ(!!(state & EVENTLOG_DESCRIBED_PROBE), !!(handlers & PROBE));
	return handlers;
}

/* The answer of FILTER_GET, with room for the largest filter. */
struct fetched {
	struct eventlog_filter_get get;
	struct eventlog_term terms[EVENTLOG_TERMS_MAX];
	char pool[EVENTLOG_FILTER_POOL_MAX];
};

static struct eventlog_filter_get filter_request(const struct marker *marker,
						 struct fetched *fetched)
{
	return (struct eventlog_filter_get){
		.size = sizeof(struct eventlog_filter_get),
		.write_index = marker->registration.write_index,
		.term_size = sizeof(struct eventlog_term),
		.terms_size = sizeof(fetched->terms),
		.terms = PTR(fetched->terms),
		.pool_size = sizeof(fetched->pool),
		.pool = PTR(fetched->pool),
	};
}

static int try_fetch(const struct marker *marker, struct fetched *fetched)
{
	fetched->get = filter_request(marker, fetched);
	return ioctl(marker->fd, EVENTLOG_IOC_FILTER_GET, &fetched->get);
}

static __u32 generation_of(const struct marker *marker)
{
	return __atomic_load_n((const __u32 *)(const void *)marker->map.bytes, __ATOMIC_RELAXED);
}

static struct fetched fetch(const struct marker *marker)
{
	struct fetched fetched;

	CHECK_OK(try_fetch(marker, &fetched));
	CHECK_EQ(!fetched.get.version, !fetched.get.term_count);
	CHECK_EQ(fetched.get.term_size, sizeof(struct eventlog_term));
	CHECK_EQ(fetched.get.terms_size, fetched.get.term_count * sizeof(struct eventlog_term));
	return fetched;
}

/* The marker has these handlers, and no filter. */
static void check_no_filter(const struct marker *marker, __u32 handlers)
{
	struct fetched fetched = fetch(marker);

	CHECK_EQ(fetched.get.generation, generation_of(marker));
	CHECK_EQ(fetched.get.term_count, 0);
	CHECK_EQ(fetched.get.pool_size, 0);
	CHECK_EQ(fetched.get.handlers, handlers);
}

/* The marker has this filter, as it was passed to MARKER_SET; returns its version. */
static __u32 check_filter(const struct marker *marker, __u32 handlers,
			  const struct filter_term *terms, __u32 count)
{
	struct fetched fetched = fetch(marker);
	struct filter filter;

	filter_fill(&filter, terms, count, NULL);
	CHECK_EQ(fetched.get.generation, generation_of(marker));
	CHECK_EQ(fetched.get.handlers, handlers);
	CHECK_EQ(fetched.get.term_count, count);
	CHECK_EQ(fetched.get.pool_size, filter.filter.pool_size);
	CHECK(!memcmp(fetched.terms, filter.terms, count * sizeof(*filter.terms)));
	CHECK(!memcmp(fetched.pool, filter.pool, filter.filter.pool_size));
	return fetched.get.version;
}

static __u32 state_of(const struct marker *marker)
{
	__u32 state;

	free(describe(marker->fd, marker->registration.descriptor, &state));
	return state;
}

/* An event with a predicate has the filter bit set and the handlers' bits clear. */
static void check_has_filter(const struct marker *marker, __u32 handlers)
{
	__u8 status = status_get(&marker->map, &marker->registration);
	__u32 state;

	CHECK(status & EVENTLOG_STATUS_FILTER);
	CHECK(!(status & (EVENTLOG_STATUS_PRINT | EVENTLOG_STATUS_PROBE)));
	free(describe(marker->fd, marker->registration.descriptor, &state));
	CHECK_EQ(!!(state & EVENTLOG_DESCRIBED_PRINT), !!(handlers & PRINT));
	CHECK_EQ(!!(state & EVENTLOG_DESCRIBED_PROBE), !!(handlers & PROBE));
}

TEST(policy_errors)
{
	struct eventlog_marker_set request;
	unsigned char longer[sizeof(request) + 8] = { 0 };
	char glob[EVENTLOG_GLOB_MAX + 1];
	struct eventlog_list list;
	struct marker marker;
	struct found found;
	int fd = device_open(), other;
	unsigned int bit;
	__u32 size;

	marker_open(&marker, "markers_rejected", "rejected");
	for (bit = 0; bit < 32; bit++) {
		test_note("bit %u", bit);
		request = policy_request("*", "*", PRINT);
		request.flags |= 1U << bit;
		if (request.flags != EVENTLOG_MARKER_SET_PROGRAMS)
			CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EINVAL);
		request = policy_request("*", "*", PRINT);
		request.descriptor = 1U << bit;
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EINVAL);
		request = policy_request("*", "*", PRINT);
		request.operation = 1U << bit;
		if (request.operation != REMOVE)
			CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EINVAL);
		request = policy_request("*", "*", 1U << bit);
		if (!(1U << bit & (PRINT | PROBE)))
			CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EINVAL);
	}
	for (bit = 0; bit < 64; bit++) {
		request = policy_request("*", "*", PRINT);
		request.id = 1ULL << bit;
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EINVAL);
	}
	request = policy_request("*", "*", 0);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EINVAL);
	memset(glob, 'x', sizeof(glob));
	glob[EVENTLOG_GLOB_MAX] = '\0';
	request = policy_request(glob, "*", PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), E2BIG);
	request = policy_request("*", glob, PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), E2BIG);
	request = policy_request(pages_unmapped(), "*", PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EFAULT);
	request = policy_request("*", pages_unmapped(), PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EFAULT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, pages_unmapped()), EFAULT);
	request = policy_request("*", "*", PRINT);
	memcpy(longer, &request, sizeof(request));
	longer[0] = sizeof(longer);
	longer[sizeof(longer) - 1] = 1;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, longer), E2BIG);
	CHECK_EQ(handlers_of(&marker), 0);
	check_policies(fd, "");

	add_policy(fd, "program", "marker", PRINT);
	CHECK_OK(policy_next(fd, 0, &found));
	CHECK_ERRNO(policy_next(fd, found.next.id, &found), ENOENT);
	CHECK_ERRNO(policy_next(fd, ~0U, &found), ENOENT);
	CHECK_OK(policy_next(fd, 0, &found));
	size = found.next.size;
	CHECK_EQ(size, (sizeof(found.next) + sizeof("program") + sizeof("marker") + 1 + 7) & ~7);
	list = list_request(EVENTLOG_LIST_POLICIES, &found, size - 1);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &list), EMSGSIZE);
	CHECK_EQ(list.buffer_size, size);
	/* Another try with more room gets the same policy. */
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_LIST, &list));
	CHECK_EQ(list.count, 1);
	list = list_request(EVENTLOG_LIST_POLICIES, pages_unmapped(), size);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &list), EFAULT);
	remove_all_policies(fd);

	/* The capabilities of the process that opened the file count. */
	capabilities_keep(CAPABILITY_ALL & ~(CAPABILITY_SYS_ADMIN | CAPABILITY_PERFMON));
	other = device_open();
	request = policy_request("*", "*", PRINT);
	CHECK_ERRNO(ioctl(other, EVENTLOG_IOC_MARKER_SET, &request), EPERM);
	CHECK_ERRNO(policy_next(other, 0, &found), EPERM);
	close(other);
	check_policies(fd, "");
	marker_close(&marker);
	close(fd);
}

/* A policy matches the program's markers and no other event with the same name. */
TEST(policy_matches_markers_of_the_program)
{
	struct marker first, second, other, no_marker;
	struct eventlog_marker_set request;
	struct consumer consumer;
	int fd = device_open();

	marker_open(&first, "markers_one", "first u32 value");
	marker_open(&second, "markers_one", "second");
	marker_open(&other, "markers_other", "first u32 value");
	marker_open(&no_marker, "one", "first u32 value");
	request = add_policy(fd, "one", "first", PRINT);
	CHECK_EQ(request.matched, 1);
	CHECK_EQ(request.changed, 1);
	CHECK_EQ(handlers_of(&first), PRINT);
	CHECK_EQ(handlers_of(&second), 0);
	CHECK_EQ(handlers_of(&other), 0);
	CHECK_EQ(handlers_of(&no_marker), 0);
	request = add_policy(fd, NULL, "f*", PRINT | PROBE);
	CHECK_EQ(request.matched, 2);
	CHECK_EQ(request.changed, 2);
	CHECK_EQ(handlers_of(&first), PRINT | PROBE);
	CHECK_EQ(handlers_of(&other), PRINT | PROBE);
	request = add_policy(fd, NULL, "f*", PRINT | PROBE);
	CHECK_EQ(request.matched, 2);
	CHECK_EQ(request.changed, 0);
	/* The policy does not enable the event for subscribers and does not disturb them. */
	CHECK(!status_enabled(&first.map, &first.registration));
	CHECK(!(status_get(&first.map, &first.registration) & EVENTLOG_STATUS_SYNC));
	CHECK_ERRNO(emit(first.fd, first.registration.write_index, "1234", 4), EBADF);
	consumer_open(&consumer, 65536);
	rule_add(consumer.fd, NULL, NULL);
	CHECK(status_enabled(&first.map, &first.registration));
	CHECK_EQ(handlers_of(&first), PRINT | PROBE);
	CHECK_EQ(handlers_of(&second), 0);
	consumer_close(&consumer);
	CHECK_EQ(handlers_of(&first), PRINT | PROBE);
	CHECK_EQ(status_now("Busy: "), 0);
	remove_all_policies(fd);
	CHECK_EQ(handlers_of(&first), 0);
	CHECK_EQ(handlers_of(&other), 0);
	marker_close(&first);
	marker_close(&second);
	marker_close(&other);
	marker_close(&no_marker);
	close(fd);
}

/* A policy applies to events registered later, and again. */
TEST(policy_applies_to_later_events)
{
	struct marker marker, again;
	struct consumer consumer;
	int fd = device_open();

	add_policy(fd, "later", "mark*", PROBE);
	close(fd);
	marker_open(&marker, "markers_later", "marker");
	CHECK_EQ(handlers_of(&marker), PROBE);
	marker_open(&again, "markers_later", "marker");
	CHECK_EQ(again.registration.descriptor, marker.registration.descriptor);
	CHECK_EQ(handlers_of(&again), PROBE);
	marker_close(&again);
	CHECK_EQ(handlers_of(&marker), PROBE);
	marker_close(&marker);
	/* Another event in the same slot is not affected; the same event gets its policy back. */
	consumer_open(&consumer, 65536);
	marker_open(&marker, "markers_later", "marker");
	CHECK_EQ(handlers_of(&marker), PROBE);
	again = marker;
	marker_close(&marker);
	marker_open(&marker, "markers_later", "other");
	CHECK_EQ(marker.registration.status_offset, again.registration.status_offset);
	CHECK_EQ(handlers_of(&marker), 0);
	marker_close(&marker);
	marker_open(&marker, "markers_later", "marker");
	CHECK_EQ(marker.registration.descriptor, again.registration.descriptor);
	CHECK_EQ(handlers_of(&marker), PROBE);
	consumer_close(&consumer);
	remove_all_policies(marker.fd);
	CHECK_EQ(handlers_of(&marker), 0);
	marker_close(&marker);
}

/* A struct without room for the place of the bits is refused, and not written to. */
TEST(older_callers_get_no_bits)
{
	struct eventlog_register request = register_request("older");
	struct status_map map;
	int fd = device_open();

	request.provider = PTR("markers_older");
	request.size = offsetof(struct eventlog_register, status_offset);
	request.status_offset = request.map_size = 0xa5a5a5a5;
	request.map_offset = 0xa5a5a5a5a5a5a5a5;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EINVAL);
	CHECK_EQ(request.status_offset, 0xa5a5a5a5);
	CHECK_EQ(request.map_size, 0xa5a5a5a5);
	CHECK_EQ(request.map_offset, 0xa5a5a5a5a5a5a5a5);
	CHECK_EQ(request.size, offsetof(struct eventlog_register, status_offset));
	request = register_request("older");
	request.provider = PTR("markers_older");
	register_with(fd, &request);
	map = status_map(fd, &request);
	add_policy(fd, "older", NULL, PRINT | PROBE);
	CHECK_EQ(status_get(&map, &request), EVENTLOG_STATUS_PRINT | EVENTLOG_STATUS_PROBE);
	remove_all_policies(fd);
	munmap((void *)map.bytes, map.size);
	close(fd);
}

/* Policies apply in the order in which they were added, also to later markers. */
TEST(policies_apply_in_order)
{
	const struct filter_term greater[] = { term("value", EVENTLOG_TERM_OP_GREATER, 1) };
	const struct filter_term less[] = { term("value", EVENTLOG_TERM_OP_LESS, 1) };
	int fd = device_open();
	struct marker marker;
	unsigned int i;

	marker_open(&marker, "markers_p", "m");
	/* A policy that changes nothing is dropped. */
	remove_policy(fd, "p", "m", PRINT);
	check_policies(fd, "");
	add_policy(fd, "p", "m", PRINT);
	add_policy(fd, "p*", "m", PROBE);
	check_policies(fd, "p/m+1 p*/m+4 ");
	CHECK_EQ(handlers_of(&marker), PRINT | PROBE);
	remove_policy(fd, "p", "m", PRINT);
	check_policies(fd, "p/m+1 p*/m+4 p/m-1 ");
	CHECK_EQ(handlers_of(&marker), PROBE);
	/* REMOVE of one handler keeps the policies that add handlers. */
	remove_policy(fd, "*", "m", PROBE);
	check_policies(fd, "p/m+1 p*/m+4 p/m-1 */m-4 ");
	CHECK_EQ(handlers_of(&marker), 0);
	add_policy(fd, "*", "m", PRINT);
	check_policies(fd, "p*/m+4 */m-4 */m+1 ");
	CHECK_EQ(handlers_of(&marker), PRINT);
	add_policy(fd, "p*", "m", PRINT | PROBE);
	check_policies(fd, "*/m-4 */m+1 p*/m+5 ");
	CHECK_EQ(handlers_of(&marker), PRINT | PROBE);
	remove_policy(fd, "p*", "m", PRINT | PROBE);
	check_policies(fd, "*/m-4 */m+1 p*/m-5 ");
	CHECK_EQ(handlers_of(&marker), 0);
	add_policy(fd, "*", "*", PRINT | PROBE);
	check_policies(fd, "*/*+5 ");
	CHECK_EQ(handlers_of(&marker), PRINT | PROBE);
	/* Repeated changes do not make the list grow. */
	for (i = 0; i < 2 * EVENTLOG_POLICIES_MAX; i++) {
		add_policy_if(fd, "x", PRINT, i % 2 ? less : greater, 1, "value");
		remove_policy(fd, "if", "x", PRINT);
		remove_policy(fd, "p", "m", PRINT);
		add_policy(fd, "p", "m", PROBE);
	}
	check_policies(fd, "*/*+5 if/x+1?value if/x+1?value if/x-1 p/m-1 p/m+4 ");
	CHECK_EQ(handlers_of(&marker), PROBE);
	remove_all_policies(fd);
	CHECK_EQ(handlers_of(&marker), 0);
	marker_close(&marker);
	close(fd);
}

/* filter_test provokes the errors of filters themselves. */
TEST(predicate_errors)
{
	const struct filter_term good = term("value", EVENTLOG_TERM_OP_GREATER, 1);
	struct eventlog_marker_set request, right;
	int fd = device_open();
	struct filter filter;

	right = policy_request("*", "*", PRINT);
	right.filter = filter_fill(&filter, &good, 1, "value > 1");
	request = right;
	request.operation = REMOVE;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EINVAL);
	request = right;
	request.handlers = 0;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EINVAL);
	request = right;
	request.filter = PTR(pages_unmapped());
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EFAULT);
	request = right;
	filter.filter.term_count = 0;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EINVAL);
	filter.filter.term_count = EVENTLOG_TERMS_MAX + 1;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), E2BIG);
	filter.filter.term_count = 1;
	filter.terms[0].on_false = 0;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EINVAL);
	check_policies(fd, "");
	filter_fill(&filter, &good, 1, "value > 1");
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &right));
	check_policies(fd, "*/*+1?value > 1 ");
	remove_all_policies(fd);
	close(fd);
}

TEST(filter_get_errors)
{
	const struct filter_term terms[] = { text_term("s", EVENTLOG_TERM_OP_EQUAL, "x") };
	unsigned char longer[sizeof(struct eventlog_filter_get) + 8] = { 0 };
	struct marker marker, none;
	struct fetched fetched;
	struct eventlog_filter_get request, right;
	struct consumer consumer;
	unsigned int bit;
	__u32 version;

	marker_open(&marker, "markers_if", "m __data_loc char[] s");
	none = marker;
	none.registration.write_index = 99;
	CHECK_ERRNO(try_fetch(&none, &fetched), ENOENT);
	none.registration.write_index = 0;
	CHECK_ERRNO(try_fetch(&none, &fetched), ENOENT);
	none.registration.write_index = ~0U;
	CHECK_ERRNO(try_fetch(&none, &fetched), ENOENT);
	none = marker;
	none.fd = device_open();
	CHECK_ERRNO(try_fetch(&none, &fetched), ENOENT);
	close(none.fd);
	/* Without a filter, nothing is written. */
	check_no_filter(&marker, 0);
	right = filter_request(&marker, &fetched);
	request = right;
	request.terms = request.pool = PTR(pages_unmapped());
	CHECK_OK(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request));
	add_policy_if(marker.fd, "m", PRINT, terms, 1, "s == x");
	version = check_filter(&marker, PRINT, terms, 1);

	for (bit = 1; bit < 32; bit++) {
		request = right;
		request.flags = 1U << bit;
		CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EINVAL);
	}
	request = right;
	request.term_size = 0;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EINVAL);
	request.term_size = EVENTLOG_TERM_SIZE_MIN - 1;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EINVAL);
	request.term_size = 257;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EINVAL);
	request.term_size = ~0U;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EINVAL);
	request = right;
	request.size = 0;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EINVAL);
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, pages_unmapped()), EFAULT);
	memcpy(longer, &right, sizeof(right));
	longer[0] = sizeof(longer);
	longer[sizeof(longer) - 1] = 1;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, longer), E2BIG);
	request = right;
	request.terms = PTR(pages_unmapped());
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EFAULT);
	request = right;
	request.pool = PTR(pages_unmapped());
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EFAULT);
	request.pool = ~0ULL;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EFAULT);
	/* The sizes needed. */
	request = right;
	request.terms_size = sizeof(struct eventlog_term) - 1;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EMSGSIZE);
	CHECK_EQ(request.terms_size, sizeof(struct eventlog_term));
	CHECK_EQ(request.version, version);
	request.pool_size--;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EMSGSIZE);
	CHECK_EQ(request.terms_size, sizeof(struct eventlog_term));
	CHECK_OK(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request));
	/* Longer terms are filled with zeroes. */
	memset(&fetched.terms, 0xff, sizeof(fetched.terms));
	request = right;
	request.term_size = 2 * sizeof(struct eventlog_term);
	CHECK_OK(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request));
	CHECK_EQ(request.terms_size, 2 * sizeof(struct eventlog_term));
	CHECK_EQ(request.term_size, 2 * sizeof(struct eventlog_term));
	CHECK_EQ(fetched.terms[1].number, 0);
	CHECK_EQ(fetched.terms[2].number, ~0ULL);

	consumer_open(&consumer, 65536);
	CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_FILTER_GET, &right), EBUSY);
	consumer_close(&consumer);
	remove_all_policies(marker.fd);
	marker_close(&marker);
}

/*
 * A program that was compiled with a shorter struct eventlog_term gets its members, or
 * E2BIG if a term uses others.
 */
TEST(filter_for_a_program_with_shorter_terms)
{
	const struct filter_term texts[] = {
		text_term("s", EVENTLOG_TERM_OP_NOT_EQUAL, "x"),
		text_term("s", EVENTLOG_TERM_OP_EQUAL, "y"),
	};
	const struct filter_term numbers[] = {
		text_term("s", EVENTLOG_TERM_OP_EQUAL, "x"), term("n", EVENTLOG_TERM_OP_EQUAL, 1),
	};
	const __u32 size = EVENTLOG_TERM_SIZE_MIN;
	struct eventlog_filter_get request;
	struct fetched full, fetched;
	struct marker marker;
	unsigned int i;

	marker_open(&marker, "markers_if", "m __data_loc char[] s; u32 n");
	add_policy_if(marker.fd, "m", PRINT, texts, 2, "s != x && s == y");
	full = fetch(&marker);
	memset(&fetched, 0xff, sizeof(fetched));
	request = filter_request(&marker, &fetched);
	request.term_size = size;
	request.terms_size = 2 * size;
	CHECK_OK(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request));
	CHECK_EQ(request.term_size, size);
	CHECK_EQ(request.terms_size, 2 * size);
	CHECK_EQ(request.term_count, 2);
	for (i = 0; i < 2; i++)
		CHECK(!memcmp((char *)fetched.terms + i * size, &full.terms[i], size));
	CHECK_EQ(((unsigned char *)fetched.terms)[2 * size], 0xff);
	CHECK(!memcmp(fetched.pool, full.pool, request.pool_size));

	add_policy_if(marker.fd, "m", PRINT, numbers, 2, "s == x && n == 1");
	full = fetch(&marker);
	request = filter_request(&marker, &fetched);
	request.term_size = size;
	request.terms_size = 2 * size - 1;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EMSGSIZE);
	CHECK_EQ(request.terms_size, 2 * size);
	request.pool_size = sizeof(fetched.pool);
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), E2BIG);
	CHECK_EQ(request.version, full.get.version);
	CHECK_EQ(request.generation, full.get.generation);
	CHECK_EQ(request.handlers, PRINT);
	CHECK_EQ(request.term_count, 2);
	CHECK_EQ(request.pool_size, full.get.pool_size);
	/* The version is known, so the program can report that it cannot use the filter. */
	request.flags = EVENTLOG_FILTER_GET_INCOMPATIBLE;
	CHECK_OK(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request));
	CHECK(state_of(&marker) & EVENTLOG_DESCRIBED_INCOMPATIBLE);
	/* A member that is not used may be missing. */
	request = filter_request(&marker, &fetched);
	request.term_size = offsetof(struct eventlog_term, reserved2);
	CHECK_OK(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request));
	remove_all_policies(marker.fd);
	marker_close(&marker);
}

TEST(program_reports_incompatible_filter)
{
	const struct filter_term first[] = { term("value", EVENTLOG_TERM_OP_GREATER, 1) };
	const struct filter_term second[] = { term("value", EVENTLOG_TERM_OP_GREATER, 2) };
	struct eventlog_filter_get request;
	struct marker marker;
	__u32 version;

	marker_open(&marker, "markers_if", "m u32 value");
	request = (struct eventlog_filter_get){
		.size = sizeof(request),
		.write_index = marker.registration.write_index,
		.flags = EVENTLOG_FILTER_GET_INCOMPATIBLE,
	};
	/* Version 0 is no filter. */
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), EINVAL);
	request.version = 1;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), ESTALE);
	add_policy_if(marker.fd, "m", PRINT, first, 1, "value > 1");
	version = check_filter(&marker, PRINT, first, 1);
	request.version = version + 1;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), ESTALE);
	CHECK(!(state_of(&marker) & EVENTLOG_DESCRIBED_INCOMPATIBLE));
	request.version = version;
	request.write_index = 99;
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), ENOENT);
	request.write_index = marker.registration.write_index;
	CHECK_OK(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request));
	CHECK(state_of(&marker) & EVENTLOG_DESCRIBED_INCOMPATIBLE);
	check_has_filter(&marker, PRINT);
	/* Another filter may be compatible. */
	add_policy_if(marker.fd, "m", PRINT, second, 1, "value > 2");
	CHECK(!(state_of(&marker) & EVENTLOG_DESCRIBED_INCOMPATIBLE));
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), ESTALE);
	CHECK(check_filter(&marker, PRINT, second, 1) != version);
	request.version = check_filter(&marker, PRINT, second, 1);
	CHECK_OK(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request));
	remove_all_policies(marker.fd);
	CHECK(!(state_of(&marker) & EVENTLOG_DESCRIBED_INCOMPATIBLE));
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_FILTER_GET, &request), ESTALE);
	marker_close(&marker);
}

/* The generation changes with every policy, and ids grow. */
TEST(generation_changes_with_policies)
{
	const struct filter_term terms[] = { term("value", EVENTLOG_TERM_OP_GREATER, 1) };
	struct eventlog_marker_set request;
	struct marker marker, other;
	int fd = device_open();
	__u32 generation, version, id;

	marker_open(&marker, "markers_if", "m u32 value");
	generation = generation_of(&marker);
	id = add_policy_if(fd, "m", PRINT, terms, 1, "value > 1").policy;
	CHECK(id);
	CHECK(generation_of(&marker) != generation);
	version = check_filter(&marker, PRINT, terms, 1);
	/* A policy for another event: the filter is the same. */
	generation = generation_of(&marker);
	request = add_policy(fd, "elsewhere", "x", PRINT);
	CHECK(request.policy > id);
	CHECK_EQ(request.matched, 0);
	CHECK(generation_of(&marker) != generation);
	CHECK_EQ(check_filter(&marker, PRINT, terms, 1), version);
	/* An event that comes or goes, a subscriber, or a failed call changes nothing. */
	generation = generation_of(&marker);
	marker_open(&other, "markers_if", "m u64 value");
	check_has_filter(&other, PRINT);
	marker_close(&other);
	request.flags |= EVENTLOG_MARKER_SET_ID;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), EINVAL);
	CHECK_EQ(generation_of(&marker), generation);
	/* A policy without an effect is dropped. */
	remove_all_policies(fd);
	CHECK(generation_of(&marker) != generation);
	generation = generation_of(&marker);
	CHECK_EQ(remove_policy(fd, "*", "*", PRINT | PROBE).id, 0);
	CHECK_EQ(generation_of(&marker), generation);
	check_no_filter(&marker, 0);
	marker_close(&marker);
	close(fd);
}

/* What FILTER_GET returns. */
TEST(filters_apply)
{
	const struct filter_term greater[] = { term("value", EVENTLOG_TERM_OP_GREATER, 10) };
	const struct filter_term equal[] = { text_term("name", EVENTLOG_TERM_OP_EQUAL, "tea") };
	struct filter_term both[] = {
		text_term("name", EVENTLOG_TERM_OP_BEGINS, "te"),
		term("value", EVENTLOG_TERM_OP_LESS, 5),
	};
	struct filter_term mine[] = { term("tid", EVENTLOG_TERM_OP_EQUAL, getpid()) };
	struct filter_term longest[1];
	char filling[EVENTLOG_TERM_STRING_MAX];
	struct eventlog_marker_set request;
	struct marker marker, other, odd;
	struct consumer consumer;
	int fd = device_open();

	marker_open(&marker, "markers_if", "m s16 value;__data_loc char[] name");
	marker_open(&other, "markers_if", "m2 __data_loc char[] value");
	marker_open(&odd, "markers_if", "m3 char[4] value;char[8] tid");
	add_policy(fd, "if", "m2", PROBE);
	request = add_policy_if(fd, "m*", PRINT, greater, 1, "value > 10");
	CHECK_EQ(request.matched, 3);
	CHECK_EQ(request.incompatible, 2);
	CHECK_EQ(request.changed, 1);
	check_policies(fd, "if/m2+4 if/m*+1?value > 10 ");
	/* Markers that the predicate does not fit stay unchanged. */
	CHECK_EQ(handlers_of(&other), PROBE);
	CHECK_EQ(handlers_of(&odd), 0);
	check_has_filter(&marker, PRINT);
	check_filter(&marker, PRINT, greater, 1);
	check_no_filter(&other, PROBE);
	check_no_filter(&odd, 0);

	request = add_policy_if(fd, "m*", PRINT, equal, 1, "name == tea");
	CHECK_EQ(request.changed, 1);
	/* Only a predicate with the same fields and operations would replace the first. */
	check_policies(fd, "if/m2+4 if/m*+1?value > 10 if/m*+1?name == tea ");
	check_filter(&marker, PRINT, equal, 1);
	memset(filling, 'x', sizeof(filling));
	filling[sizeof(filling) - 1] = '\0';
	longest[0] = text_term("name", EVENTLOG_TERM_OP_EQUAL, filling);
	add_policy_if(fd, "m*", PRINT, longest, 1, "name == xxx");
	check_filter(&marker, PRINT, longest, 1);

	both[0].on_true = 1;
	add_policy_if(fd, "m*", PRINT | PROBE, both, 2, "name ~ te && value < 5");
	check_has_filter(&marker, PRINT | PROBE);
	check_filter(&marker, PRINT | PROBE, both, 2);

	/* REMOVE of one handler keeps the predicate, ADD without one removes it. */
	remove_policy(fd, "if", "m", PRINT);
	check_has_filter(&marker, PROBE);
	check_filter(&marker, PROBE, both, 2);
	add_policy(fd, "if", "m", PRINT);
	CHECK_EQ(handlers_of(&marker), PRINT | PROBE);
	check_no_filter(&marker, PRINT | PROBE);

	/* A field hides the common field of the same name. */
	mine[0].flags |= EVENTLOG_TERM_COMMON;
	add_policy_if(fd, "m*", PRINT, mine, 1, "tid == us");
	check_has_filter(&odd, PRINT);
	check_filter(&odd, PRINT, mine, 1);
	remove_all_policies(fd);
	mine[0].flags &= ~EVENTLOG_TERM_COMMON;
	request = add_policy_if(fd, "m*", PRINT, mine, 1, "tid == us");
	CHECK_EQ(request.incompatible, 1);
	CHECK_EQ(handlers_of(&odd), 0);
	check_filter(&marker, PRINT, mine, 1);
	mine[0].number++;
	add_policy_if(fd, "m*", PRINT, mine, 1, "tid == other");
	check_filter(&marker, PRINT, mine, 1);

	/* The predicate applies to later and returning events too. */
	consumer_open(&consumer, 65536);
	add_policy_if(fd, "m", PROBE, greater, 1, "value > 10");
	marker_close(&marker);
	marker_open(&marker, "markers_if", "m s16 value;__data_loc char[] name");
	check_has_filter(&marker, PRINT | PROBE);
	check_filter(&marker, PRINT | PROBE, greater, 1);
	/* Subscribers do not change the bits. */
	rule_add(consumer.fd, NULL, NULL);
	CHECK(status_enabled(&marker.map, &marker.registration));
	check_has_filter(&marker, PRINT | PROBE);
	consumer_close(&consumer);
	remove_all_policies(fd);
	CHECK_EQ(handlers_of(&marker), 0);
	marker_close(&marker);
	marker_close(&other);
	marker_close(&odd);
	close(fd);
}

/* In a pid namespace: its first process, and a process outside of it. */
static int fetch_in_namespace(int ready)
{
	struct fetched fetched;
	struct marker marker;
	char byte;

	marker_open(&marker, "markers_if", "m u32 value");
	if (getpid() != 1 || read(ready, &byte, 1) != 1)
		return 1;
	fetched = fetch(&marker);
	return fetched.get.term_count == 3 && fetched.terms[0].number == 1 &&
	       fetched.terms[1].number == 0xffffffff && fetched.terms[2].number == 7 ? 0 : 2;
}

TEST(pids_are_translated)
{
	struct filter_term terms[] = {
		term("pid", EVENTLOG_TERM_OP_EQUAL, 0),
		term("tid", EVENTLOG_TERM_OP_EQUAL, getpid()),
		term("value", EVENTLOG_TERM_OP_EQUAL, 7),
	};
	int fd = device_open(), ready[2], status;
	struct marker marker;
	pid_t child;

	CHECK_OK(pipe(ready));
	if (unshare(CLONE_NEWPID))
		SKIP("no pid namespaces");
	child = fork();
	CHECK(child >= 0);
	if (!child)
		_exit(fetch_in_namespace(ready[0]));
	terms[0].number = child;
	terms[0].on_true = 2;
	terms[0].on_false = 1;
	terms[1].on_true = 2;
	add_policy_if(fd, "m", PRINT, terms, 3, "(pid == child || tid == us) && value == 7");
	marker_open(&marker, "markers_if", "m u32 value");
	/* In the initial namespace nothing is translated. */
	check_filter(&marker, PRINT, terms, 3);
	CHECK_EQ(write(ready[1], "", 1), 1);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	remove_all_policies(fd);
	marker_close(&marker);
	close(fd);
}

/* The first process of a pid namespace adds a policy for itself, in its numbers. */
static int set_in_namespace(int added, int over)
{
	struct filter_term one = term("pid", EVENTLOG_TERM_OP_EQUAL, 1);
	struct marker marker;
	char byte;

	if (getpid() != 1)
		return 1;
	marker_open(&marker, "markers_if", "m u32 value");
	add_policy_if(marker.fd, "m", PRINT, &one, 1, "pid == 1");
	/* It reads what it wrote. */
	if (fetch(&marker).terms[0].number != 1 || write(added, "", 1) != 1)
		return 2;
	return read(over, &byte, 1) == 1 ? 0 : 3;
}

TEST(pids_are_those_of_the_setter)
{
	int fd = device_open(), added[2], over[2], status;
	struct marker marker;
	pid_t child;
	char byte;

	CHECK_OK(pipe(added));
	CHECK_OK(pipe(over));
	if (unshare(CLONE_NEWPID))
		SKIP("no pid namespaces");
	child = fork();
	CHECK(child >= 0);
	if (!child)
		_exit(set_in_namespace(added[1], over[0]));
	close(added[1]);
	CHECK_EQ(read(added[0], &byte, 1), 1);
	marker_open(&marker, "markers_if", "m u32 value");
	CHECK_EQ(fetch(&marker).terms[0].number, child);
	CHECK_EQ(write(over[1], "", 1), 1);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	/* The namespace is gone, and the policy is not. */
	CHECK_EQ(fetch(&marker).terms[0].number, 0xffffffff);
	remove_all_policies(fd);
	marker_close(&marker);
	close(fd);
}

TEST(policies_are_limited)
{
	struct eventlog_marker_set request;
	int fd = device_open();
	struct found found;
	char name[16];
	unsigned int i;

	for (i = 0; i < EVENTLOG_POLICIES_MAX; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		add_policy(fd, name, "m", PRINT);
	}
	request = policy_request("one", "more", PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request), ENOSPC);
	CHECK_OK(policy_at(fd, EVENTLOG_POLICIES_MAX - 1, &found));
	CHECK(!strcmp(found.text, name));
	CHECK_ERRNO(policy_at(fd, EVENTLOG_POLICIES_MAX, &found), ENOENT);
	/* A policy that replaces another one fits in a full list. */
	add_policy(fd, "p0", "m", PRINT | PROBE);
	CHECK_OK(policy_at(fd, EVENTLOG_POLICIES_MAX - 1, &found));
	CHECK(!strcmp(found.text, "p0"));
	CHECK_ERRNO(policy_at(fd, EVENTLOG_POLICIES_MAX, &found), ENOENT);
	remove_all_policies(fd);
	close(fd);
}

/* Set to end the threads that register markers while others change policies. */
static bool over;

static void *register_markers(void *unused)
{
	struct fetched fetched;
	struct marker marker;
	unsigned int i;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		marker_open(&marker, "markers_busy", "m u32 value;__data_loc char[] name");
		for (i = 0; i < 8; i++) {
			fetched = fetch(&marker);
			CHECK(!(fetched.get.handlers & ~(PRINT | PROBE)));
			CHECK(fetched.get.term_count <= 1);
		}
		marker_close(&marker);
	}
	return unused;
}

static void *change(void *unused)
{
	const struct filter_term terms[] = {
		term("value", EVENTLOG_TERM_OP_EQUAL, 7),
		text_term("name", EVENTLOG_TERM_OP_EQUAL, "x"),
	};
	struct eventlog_marker_set request;
	int fd = device_open();
	struct filter filter;
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		add_policy(fd, i % 3 ? "busy" : "b*", i % 5 ? "m" : "*", i % 2 ? PRINT : PROBE);
		request = policy_request("busy", "m", PRINT);
		request.filter = filter_fill(&filter, &terms[i % 2], 1, "predicate");
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request));
		if (i % 7 == 0)
			remove_policy(fd, "*", "*", PRINT | PROBE);
	}
	close(fd);
	return unused;
}

TEST(policies_change_while_markers_register)
{
	pthread_t threads[4];
	struct marker marker;
	unsigned int i;

	for (i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, i < 2 ? register_markers : change, NULL));
	for (i = 2; i < 4; i++)
		CHECK(!pthread_join(threads[i], NULL));
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		CHECK(!pthread_join(threads[i], NULL));
	marker_open(&marker, "markers_busy", "m");
	remove_all_policies(marker.fd);
	add_policy(marker.fd, "busy", "m", PROBE);
	CHECK_EQ(handlers_of(&marker), PROBE);
	remove_all_policies(marker.fd);
	CHECK_EQ(handlers_of(&marker), 0);
	marker_close(&marker);
}

void test_after_all(void)
{
	struct eventlog_marker_set request = policy_request("*", "*", PRINT | PROBE);
	int fd = device_open();

	request.operation = REMOVE;
	/* A failed case may have left policies behind. */
	(void)!ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request);
	close(fd);
}
