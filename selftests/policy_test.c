// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of marker policies for programs: which requests are rejected, which bits
 * they set for existing and later events, how they combine, and what
 * MARKER_ASK returns for a marker with a predicate.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter_common.h"

#define PRINT EVENTLOG_MARKER_PRINT
#define PROBE EVENTLOG_MARKER_PROBE
#define ADD EVENTLOG_MARKER_ADD
#define REMOVE EVENTLOG_MARKER_REMOVE

static struct eventlog_marker_wish policy_request(const char *program, const char *marker,
						  __u32 handlers)
{
	return (struct eventlog_marker_wish){
		.size = sizeof(struct eventlog_marker_wish),
		.program = PTR(program),
		.marker = PTR(marker),
		.handlers = handlers,
	};
}

static struct eventlog_marker_wish add_policy(int fd, const char *program, const char *marker,
					      __u32 handlers)
{
	struct eventlog_marker_wish request = policy_request(program, marker, handlers);

	test_note("add policy %s %s %u", program, marker, handlers);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request));
	return request;
}

static struct eventlog_marker_wish remove_policy(int fd, const char *program, const char *marker,
						 __u32 handlers)
{
	struct eventlog_marker_wish request = policy_request(program, marker, handlers);

	test_note("remove policy %s %s %u", program, marker, handlers);
	request.operation = REMOVE;
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request));
	return request;
}

/* A term that compares a field with a number. */
static struct filter_term term(const char *name, int operation, __u64 number)
{
	return (struct filter_term){
		.name = name,
		.number = number,
		.flags = operation == EVENTLOG_TERM_SET ? 0 : EVENTLOG_TERM_NUMBER,
		.operation = operation,
	};
}

static struct filter_term text_term(const char *name, int operation, const char *text)
{
	return (struct filter_term){
		.name = name, .flags = EVENTLOG_TERM_STRING, .operation = operation, .string = text,
	};
}

static struct eventlog_marker_wish add_policy_if(int fd, const char *marker, __u32 handlers,
						 const struct filter_term *terms, __u32 count,
						 const char *text)
{
	struct eventlog_marker_wish request = policy_request("if", marker, handlers);
	struct filter filter;

	test_note("add policy %s %u if %s", marker, handlers, text);
	request.filter = filter_fill(&filter, terms, count, text);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request));
	return request;
}

struct found {
	struct eventlog_marker_wish_next next;
	char text[2 * EVENTLOG_GLOB_MAX + EVENTLOG_FILTER_TEXT_MAX];
	const char *marker;
	const char *predicate;
};

static int policy_next(int fd, __u32 index, struct found *found)
{
	found->next = (struct eventlog_marker_wish_next){
		.size = sizeof(found->next),
		.index = index,
		.text = PTR(found->text),
		.text_size = sizeof(found->text),
	};
	if (ioctl(fd, EVENTLOG_IOC_MARKER_WISH_NEXT, &found->next))
		return -1;
	found->marker = found->text + strlen(found->text) + 1;
	found->predicate = found->marker + strlen(found->marker) + 1;
	CHECK_EQ(found->predicate + strlen(found->predicate) + 1 - found->text,
		 found->next.text_size);
	CHECK_EQ(found->next.reserved, 0);
	return 0;
}

/* All policies, as "program/marker+handlers " or "program/marker-handlers?predicate ". */
static void check_policies(int fd, const char *expected)
{
	struct found found;
	char all[1024] = "";
	size_t length = 0;
	__u32 i;

	for (i = 0; !policy_next(fd, i, &found); i++)
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

static int try_evaluate(const struct marker *marker, const __u64 *values, __u32 count,
			__u32 *handlers)
{
	struct eventlog_marker_ask request = {
		.size = sizeof(request),
		.write_index = marker->registration.write_index,
		.values = PTR(values),
		.value_count = count,
		.handlers = ~0U,
	};
	int ret = ioctl(marker->fd, EVENTLOG_IOC_MARKER_ASK, &request);

	*handlers = request.handlers;
	return ret;
}

static __u32 evaluate(const struct marker *marker, const __u64 *values, __u32 count)
{
	__u32 handlers;

	CHECK_OK(try_evaluate(marker, values, count, &handlers));
	return handlers;
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
	struct eventlog_marker_wish request;
	unsigned char longer[sizeof(request) + 8] = { 0 };
	char glob[EVENTLOG_GLOB_MAX + 1];
	struct marker marker;
	struct found found;
	int fd = device_open(), other;
	unsigned int bit;

	marker_open(&marker, "markers_rejected", "rejected");
	for (bit = 0; bit < 32; bit++) {
		test_note("bit %u", bit);
		request = policy_request("*", "*", PRINT);
		request.flags = 1U << bit;
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EINVAL);
		request = policy_request("*", "*", PRINT);
		request.operation = 1U << bit;
		if (request.operation != REMOVE)
			CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EINVAL);
		request = policy_request("*", "*", 1U << bit);
		if (!(1U << bit & (PRINT | PROBE)))
			CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EINVAL);
		found.next = (struct eventlog_marker_wish_next){
			.size = sizeof(found.next),
			.reserved = 1U << bit,
		};
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH_NEXT, &found.next), EINVAL);
	}
	request = policy_request("*", "*", 0);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EINVAL);
	memset(glob, 'x', sizeof(glob));
	glob[EVENTLOG_GLOB_MAX] = '\0';
	request = policy_request(glob, "*", PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), E2BIG);
	request = policy_request("*", glob, PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), E2BIG);
	request = policy_request(pages_unmapped(), "*", PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EFAULT);
	request = policy_request("*", pages_unmapped(), PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EFAULT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, pages_unmapped()), EFAULT);
	request = policy_request("*", "*", PRINT);
	memcpy(longer, &request, sizeof(request));
	longer[0] = sizeof(longer);
	longer[sizeof(longer) - 1] = 1;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, longer), E2BIG);
	CHECK_EQ(handlers_of(&marker), 0);
	check_policies(fd, "");

	add_policy(fd, "program", "marker", PRINT);
	CHECK_OK(policy_next(fd, 0, &found));
	CHECK_ERRNO(policy_next(fd, 1, &found), ENOENT);
	CHECK_ERRNO(policy_next(fd, ~0U, &found), ENOENT);
	CHECK_OK(policy_next(fd, 0, &found));
	CHECK_EQ(found.next.text_size, sizeof("program") + sizeof("marker") + 1);
	found.next.text_size--;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH_NEXT, &found.next), EMSGSIZE);
	CHECK_EQ(found.next.text_size, sizeof("program") + sizeof("marker") + 1);
	found.next.text = PTR(pages_unmapped());
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH_NEXT, &found.next), EFAULT);
	remove_all_policies(fd);

	/* The capabilities of the process that opened the file count. */
	capabilities_keep(CAPABILITY_ALL & ~(CAPABILITY_SYS_ADMIN | CAPABILITY_PERFMON));
	other = device_open();
	request = policy_request("*", "*", PRINT);
	CHECK_ERRNO(ioctl(other, EVENTLOG_IOC_MARKER_WISH, &request), EPERM);
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
	struct eventlog_marker_wish request;
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

/* Older callers pass a shorter struct without room for these bits. */
TEST(older_callers_get_no_bits)
{
	struct eventlog_register request = register_request("older");
	struct status_map map;
	int fd = device_open();

	request.provider = PTR("markers_older");
	request.size = offsetof(struct eventlog_register, status_offset);
	request.status_offset = request.map_size = 0xa5a5a5a5;
	request.map_offset = 0xa5a5a5a5a5a5a5a5;
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_REGISTER, &request));
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
	const struct filter_term greater[] = { term("value", EVENTLOG_TERM_GREATER, 1) };
	const struct filter_term less[] = { term("value", EVENTLOG_TERM_LESS, 1) };
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
	for (i = 0; i < 2 * EVENTLOG_WISHES_MAX; i++) {
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
	const struct filter_term good = term("value", EVENTLOG_TERM_GREATER, 1);
	struct eventlog_marker_wish request, right;
	int fd = device_open();
	struct filter filter;

	right = policy_request("*", "*", PRINT);
	right.filter = filter_fill(&filter, &good, 1, "value > 1");
	request = right;
	request.operation = REMOVE;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EINVAL);
	request = right;
	request.handlers = 0;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EINVAL);
	request = right;
	request.filter = PTR(pages_unmapped());
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EFAULT);
	request = right;
	filter.filter.term_count = 0;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EINVAL);
	filter.filter.term_count = EVENTLOG_TERMS_MAX + 1;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), E2BIG);
	filter.filter.term_count = 1;
	filter.terms[0].on_false = 0;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EINVAL);
	check_policies(fd, "");
	filter_fill(&filter, &good, 1, "value > 1");
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &right));
	check_policies(fd, "*/*+1?value > 1 ");
	remove_all_policies(fd);
	close(fd);
}

TEST(evaluate_errors)
{
	const struct filter_term terms[] = { term("b", EVENTLOG_TERM_GREATER, 1) };
	const struct filter_term texts[] = { text_term("s", EVENTLOG_TERM_EQUAL, "x") };
	__u64 values[EVENTLOG_ASK_VALUES_MAX + 1] = { 0 };
	struct marker marker, none, text;
	struct eventlog_marker_ask request;
	struct consumer consumer;
	__u32 handlers;

	marker_open(&marker, "markers_if", "m u32 a;u32 b");
	marker_open(&text, "markers_if", "t __data_loc char[] s");
	none = marker;
	CHECK_ERRNO(try_evaluate(&marker, values, EVENTLOG_ASK_VALUES_MAX + 1, &handlers), EINVAL);
	CHECK_ERRNO(try_evaluate(&marker, pages_unmapped(), 1, &handlers), EFAULT);
	CHECK_EQ(handlers, ~0U);
	/* Without a predicate no value is needed. */
	CHECK_EQ(evaluate(&marker, pages_unmapped(), 0), 0);
	none.registration.write_index = 99;
	CHECK_ERRNO(try_evaluate(&none, values, 2, &handlers), ENOENT);
	none.registration.write_index = 0;
	CHECK_ERRNO(try_evaluate(&none, values, 2, &handlers), ENOENT);
	none.registration.write_index = ~0U;
	CHECK_ERRNO(try_evaluate(&none, values, 2, &handlers), ENOENT);
	none = marker;
	none.fd = device_open();
	CHECK_ERRNO(try_evaluate(&none, values, 2, &handlers), ENOENT);
	add_policy_if(marker.fd, "m", PRINT, terms, 1, "b > 1");
	CHECK_ERRNO(try_evaluate(&marker, values, 1, &handlers), EINVAL);
	CHECK_EQ(evaluate(&marker, values, 2), 0);
	add_policy_if(marker.fd, "t", PRINT, texts, 1, "s == x");
	values[0] = PTR(pages_unmapped());
	CHECK_ERRNO(try_evaluate(&text, values, 1, &handlers), EFAULT);
	values[0] = ~0ULL;
	CHECK_ERRNO(try_evaluate(&text, values, 1, &handlers), EFAULT);
	CHECK_ERRNO(try_evaluate(&text, values, 0, &handlers), EINVAL);
	request = (struct eventlog_marker_ask){
		.size = 0, .write_index = marker.registration.write_index,
	};
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_MARKER_ASK, &request), EINVAL);
	CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_MARKER_ASK, pages_unmapped()), EFAULT);
	consumer_open(&consumer, 65536);
	none.fd = consumer.fd;
	CHECK_ERRNO(try_evaluate(&none, values, 2, &handlers), EBUSY);
	consumer_close(&consumer);
	remove_all_policies(marker.fd);
	marker_close(&text);
	marker_close(&marker);
}

/* A page with an unmapped page after it. */
static char *page_at_an_edge(void)
{
	char *pages = mmap(NULL, 2 * page_size(), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	CHECK_OK(munmap(pages + page_size(), page_size()));
	return pages;
}

/* What MARKER_ASK returns, for fields of all types. */
TEST(evaluate_applies_predicates)
{
	const struct filter_term greater[] = { term("value", EVENTLOG_TERM_GREATER, 10) };
	const struct filter_term equal[] = { text_term("name", EVENTLOG_TERM_EQUAL, "tea") };
	struct filter_term both[] = {
		text_term("name", EVENTLOG_TERM_BEGINS, "te"), term("value", EVENTLOG_TERM_LESS, 5),
	};
	struct filter_term mine[] = { term("tid", EVENTLOG_TERM_EQUAL, getpid()) };
	struct filter_term longest[1];
	char filling[EVENTLOG_TERM_STRING_MAX], *edge = page_at_an_edge();
	struct eventlog_marker_wish request;
	struct marker marker, other, odd;
	__u64 values[2] = { 11, PTR("tea") };
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
	CHECK_EQ(evaluate(&marker, values, 2), PRINT);
	/* Bits above the field's type are ignored. */
	values[0] = 0x10000 + 10;
	CHECK_EQ(evaluate(&marker, values, 2), 0);
	values[0] = 0xffff;
	CHECK_EQ(evaluate(&marker, values, 2), 0);
	values[0] = 0x10000 + 0x7fff;
	CHECK_EQ(evaluate(&marker, values, 2), PRINT);
	/* A string that the predicate does not use may be a bad pointer. */
	values[1] = 1;
	CHECK_EQ(evaluate(&marker, values, 2), PRINT);
	CHECK_EQ(evaluate(&marker, values, 1), PRINT);
	CHECK_EQ(evaluate(&other, values, 1), PROBE);

	request = add_policy_if(fd, "m*", PRINT, equal, 1, "name == tea");
	CHECK_EQ(request.changed, 1);
	/* Only a predicate with the same fields and operations would replace the first. */
	check_policies(fd, "if/m2+4 if/m*+1?value > 10 if/m*+1?name == tea ");
	values[1] = PTR("tea");
	CHECK_EQ(evaluate(&marker, values, 2), PRINT);
	values[1] = PTR("teas");
	CHECK_EQ(evaluate(&marker, values, 2), 0);
	values[1] = PTR("te");
	CHECK_EQ(evaluate(&marker, values, 2), 0);
	values[1] = 0;
	CHECK_EQ(evaluate(&marker, values, 2), 0);
	/* The kernel does not read beyond the end of the string. */
	values[1] = PTR(strcpy(edge + page_size() - sizeof("tea"), "tea"));
	CHECK_EQ(evaluate(&marker, values, 2), PRINT);
	memset(filling, 'x', sizeof(filling));
	filling[sizeof(filling) - 1] = '\0';
	longest[0] = text_term("name", EVENTLOG_TERM_EQUAL, filling);
	add_policy_if(fd, "m*", PRINT, longest, 1, "name == xxx");
	memset(edge, 'x', page_size());
	values[1] = PTR(edge);
	CHECK_EQ(evaluate(&marker, values, 2), 0);
	values[1] = PTR(filling);
	CHECK_EQ(evaluate(&marker, values, 2), PRINT);

	/* A null pointer is traced as "(null)". */
	both[0].on_true = 1;
	add_policy_if(fd, "m*", PRINT | PROBE, both, 2, "name ~ te && value < 5");
	check_has_filter(&marker, PRINT | PROBE);
	values[0] = (__u64)-3;
	values[1] = PTR("tent");
	CHECK_EQ(evaluate(&marker, values, 2), PRINT | PROBE);
	values[0] = 5;
	CHECK_EQ(evaluate(&marker, values, 2), 0);
	values[0] = 4;
	values[1] = PTR("ten");
	CHECK_EQ(evaluate(&marker, values, 2), PRINT | PROBE);
	values[1] = PTR("T");
	CHECK_EQ(evaluate(&marker, values, 2), 0);

	/* REMOVE of one handler keeps the predicate, ADD without one removes it. */
	remove_policy(fd, "if", "m", PRINT);
	check_has_filter(&marker, PROBE);
	values[1] = PTR("ten");
	CHECK_EQ(evaluate(&marker, values, 2), PROBE);
	add_policy(fd, "if", "m", PRINT);
	CHECK_EQ(handlers_of(&marker), PRINT | PROBE);
	CHECK_EQ(evaluate(&marker, values, 2), PRINT | PROBE);

	/* A field hides the common field of the same name. */
	mine[0].flags |= EVENTLOG_TERM_COMMON;
	add_policy_if(fd, "m*", PRINT, mine, 1, "tid == us");
	check_has_filter(&odd, PRINT);
	CHECK_EQ(evaluate(&odd, values, 0), PRINT);
	remove_all_policies(fd);
	mine[0].flags &= ~EVENTLOG_TERM_COMMON;
	request = add_policy_if(fd, "m*", PRINT, mine, 1, "tid == us");
	CHECK_EQ(request.incompatible, 1);
	CHECK_EQ(handlers_of(&odd), 0);
	CHECK_EQ(evaluate(&marker, values, 0), PRINT);
	mine[0].number++;
	add_policy_if(fd, "m*", PRINT, mine, 1, "tid == other");
	CHECK_EQ(evaluate(&marker, values, 0), 0);

	/* The predicate applies to later and returning events too. */
	consumer_open(&consumer, 65536);
	add_policy_if(fd, "m", PROBE, greater, 1, "value > 10");
	marker_close(&marker);
	marker_open(&marker, "markers_if", "m s16 value;__data_loc char[] name");
	check_has_filter(&marker, PRINT | PROBE);
	values[0] = 11;
	CHECK_EQ(evaluate(&marker, values, 2), PRINT | PROBE);
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

TEST(policies_are_limited)
{
	struct eventlog_marker_wish request;
	int fd = device_open();
	struct found found;
	char name[16];
	unsigned int i;

	for (i = 0; i < EVENTLOG_WISHES_MAX; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		add_policy(fd, name, "m", PRINT);
	}
	request = policy_request("one", "more", PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), ENOSPC);
	CHECK_OK(policy_next(fd, EVENTLOG_WISHES_MAX - 1, &found));
	CHECK(!strcmp(found.text, name));
	CHECK_ERRNO(policy_next(fd, EVENTLOG_WISHES_MAX, &found), ENOENT);
	/* A policy that replaces another one fits in a full list. */
	add_policy(fd, "p0", "m", PRINT | PROBE);
	CHECK_OK(policy_next(fd, EVENTLOG_WISHES_MAX - 1, &found));
	CHECK(!strcmp(found.text, "p0"));
	CHECK_ERRNO(policy_next(fd, EVENTLOG_WISHES_MAX, &found), ENOENT);
	remove_all_policies(fd);
	close(fd);
}

/* Set to end the threads that register markers while others change policies. */
static bool over;

static void *come_and_go(void *unused)
{
	__u64 values[2] = { 7, PTR("x") };
	struct marker marker;
	unsigned int i;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		marker_open(&marker, "markers_busy", "m u32 value;__data_loc char[] name");
		for (i = 0; i < 8; i++)
			CHECK(!(evaluate(&marker, values, 2) & ~(PRINT | PROBE)));
		marker_close(&marker);
	}
	return unused;
}

static void *change(void *unused)
{
	const struct filter_term terms[] = {
		term("value", EVENTLOG_TERM_EQUAL, 7), text_term("name", EVENTLOG_TERM_EQUAL, "x"),
	};
	struct eventlog_marker_wish request;
	int fd = device_open();
	struct filter filter;
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		add_policy(fd, i % 3 ? "busy" : "b*", i % 5 ? "m" : "*", i % 2 ? PRINT : PROBE);
		request = policy_request("busy", "m", PRINT);
		request.filter = filter_fill(&filter, &terms[i % 2], 1, "predicate");
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request));
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
		CHECK(!pthread_create(&threads[i], NULL, i < 2 ? come_and_go : change, NULL));
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
	struct eventlog_marker_wish request = policy_request("*", "*", PRINT | PROBE);
	int fd = device_open();

	request.operation = REMOVE;
	/* A failed case may have left policies behind. */
	(void)!ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request);
	close(fd);
}
