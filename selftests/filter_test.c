// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of rules with filters: errors of hostile filters, what is delivered for every
 * operation and type, what STAT counts, and filters in interrupts and NMIs.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter_common.h"

#define RING_BYTES (16 * page_size())
#define MODULE "eventlog_filter_test"
#define PARAMETERS "/sys/module/" MODULE "/parameters/"

static int try_filter(int fd, const char *event, __u64 filter, __u32 *rule_id)
{
	struct eventlog_rule rule = rule_request(NULL, event);
	int result;

	rule.filter = filter;
	result = ioctl(fd, EVENTLOG_IOC_RULE_ADD, &rule);
	if (rule_id)
		*rule_id = rule.rule_id;
	return result;
}

static __u32 filter_add(int fd, const char *event, const struct filter_term *terms,
			unsigned int count)
{
	struct filter filter;
	__u32 rule_id;

	CHECK_OK(try_filter(fd, event, filter_fill(&filter, terms, count, NULL), &rule_id));
	return rule_id;
}

static struct eventlog_stat stat_rule(int fd, __u32 rule_id)
{
	struct eventlog_stat request = {
		.size = sizeof(request), .ring = EVENTLOG_RINGS_ALL, .rule_id = rule_id,
	};

	CHECK_OK(ioctl(fd, EVENTLOG_IOC_STAT, &request));
	return request;
}

static struct filter_term number_term(const char *name, __u16 operation, __u64 number)
{
	return (struct filter_term){
		.name = name, .operation = operation, .flags = EVENTLOG_TERM_NUMBER,
		.number = number,
	};
}

static struct filter_term string_term(const char *name, __u16 operation, const char *string)
{
	return (struct filter_term){
		.name = name, .operation = operation, .flags = EVENTLOG_TERM_STRING,
		.string = string,
	};
}

/* ------------------------------------------------------------------------
 * Errors
 */

/* A consumer, an event that no rule of it matches yet, and a filter that is valid. */
struct errors {
	struct consumer consumer;
	struct status_map map;
	struct eventlog_register event;
	struct filter filter;
	int producer;
};

static void errors_begin(struct errors *errors)
{
	errors->producer = device_open();
	errors->event = register_event(errors->producer, "filtered u32 value");
	errors->map = status_map(errors->producer, &errors->event);
	consumer_open(&errors->consumer, RING_BYTES);
}

/* Nothing was changed: the event is disabled, and the first rule gets the first id. */
static void errors_end(struct errors *errors)
{
	const struct filter_term good = number_term("value", EVENTLOG_TERM_OP_EQUAL, 1);
	__u32 rule_id;

	CHECK(!status_enabled(&errors->map, &errors->event));
	rule_id = filter_add(errors->consumer.fd, "filtered", &good, 1);
	CHECK_EQ(rule_id, 1);
	CHECK(status_enabled(&errors->map, &errors->event));
	consumer_close(&errors->consumer);
	munmap((void *)errors->map.bytes, errors->map.size);
	close(errors->producer);
}

static void good_filter(struct errors *errors)
{
	const struct filter_term good = number_term("value", EVENTLOG_TERM_OP_EQUAL, 1);

	filter_fill(&errors->filter, &good, 1, "value == 1");
}

#define REJECTED(error)								\
	do {									\
		CHECK_ERRNO(try_filter(errors.consumer.fd, "filtered",		\
				       PTR(&errors.filter.filter), NULL), error); \
		good_filter(&errors);						\
	} while (0)

TEST(filter_errors)
{
	unsigned char *edge = edge_buffer(sizeof(struct eventlog_filter));
	const char *unmapped = pages_unmapped();
	struct errors errors;
	struct eventlog_filter *filter = &errors.filter.filter;
	unsigned int i;

	errors_begin(&errors);
	CHECK_ERRNO(try_filter(errors.consumer.fd, "filtered", 1, NULL), EFAULT);
	CHECK_ERRNO(try_filter(errors.consumer.fd, "filtered", PTR(unmapped), NULL), EFAULT);
	good_filter(&errors);
	/* The last byte is not mapped. */
	memcpy(edge + 1, filter, sizeof(*filter) - 1);
	CHECK_ERRNO(try_filter(errors.consumer.fd, "filtered", PTR(edge + 1), NULL), EFAULT);

	/* Sizes of the struct. */
	filter->size = 0;
	REJECTED(EINVAL);
	filter->size = 4;
	REJECTED(EINVAL);
	/* Without the members at the end there is no pool. */
	filter->size = 32;
	REJECTED(EINVAL);
	filter->size = page_size() + 8;
	REJECTED(E2BIG);
	filter->size = 0xffffffff;
	REJECTED(E2BIG);
	for (i = 0; i < 32; i++) {
		filter->flags = 1U << i;
		REJECTED(EINVAL);
	}

	/* Numbers of terms. */
	filter->term_count = 0;
	REJECTED(EINVAL);
	filter->term_count = EVENTLOG_TERMS_MAX + 1;
	REJECTED(E2BIG);
	filter->term_count = 0xffffffff;
	REJECTED(E2BIG);
	/* The second term is zeroed: a name at offset 0, and targets that go back. */
	filter->term_count = 2;
	REJECTED(EINVAL);

	/* Strides. */
	filter->term_size = 0;
	REJECTED(EINVAL);
	filter->term_size = EVENTLOG_TERM_SIZE_MIN - 1;
	REJECTED(EINVAL);
	filter->term_size = page_size() + 1;
	REJECTED(E2BIG);
	filter->term_size = 0xffffffff;
	REJECTED(E2BIG);
	/* The byte behind the kernel's struct must be 0. */
	filter->term_size = sizeof(struct eventlog_term) + 1;
	*(char *)&errors.filter.terms[1] = 1;
	REJECTED(E2BIG);

	/* Pointers and sizes of what the struct points to. */
	filter->terms = 0;
	REJECTED(EFAULT);
	filter->terms = PTR(unmapped);
	REJECTED(EFAULT);
	filter->terms = PTR(unmapped) - sizeof(struct eventlog_term) + 1;
	REJECTED(EFAULT);
	if (!user_mode_linux()) {
		filter->terms = ~0ULL - 7;
		REJECTED(EFAULT);
		filter->pool = ~0ULL - 1;
		REJECTED(EFAULT);
	}
	filter->pool = 0;
	REJECTED(EFAULT);
	filter->pool = PTR(unmapped);
	REJECTED(EFAULT);
	filter->pool_size = 0;
	REJECTED(EINVAL);
	filter->pool_size = EVENTLOG_FILTER_POOL_MAX + 1;
	REJECTED(E2BIG);
	filter->pool_size = 0xffffffff;
	REJECTED(E2BIG);
	filter->text = PTR(unmapped);
	REJECTED(EFAULT);
	filter->text = 0;
	REJECTED(EINVAL);
	filter->text_size = 0;
	REJECTED(EINVAL);
	filter->text_size = EVENTLOG_FILTER_TEXT_MAX + 1;
	REJECTED(E2BIG);
	filter->text_size = 0xffffffff;
	REJECTED(E2BIG);
	errors_end(&errors);
}

TEST(filter_text_errors)
{
	struct errors errors;
	char *text = errors.filter.text;
	unsigned int i;

	errors_begin(&errors);
	good_filter(&errors);
	/* Not terminated; a NUL in the middle; empty. */
	errors.filter.filter.text_size--;
	REJECTED(EINVAL);
	errors.filter.filter.text_size++;
	REJECTED(EINVAL);
	text[3] = '\0';
	REJECTED(EINVAL);
	text[0] = '\0';
	errors.filter.filter.text_size = 1;
	REJECTED(EINVAL);
	for (i = 1; i < 32; i++) {
		text[2] = i;
		REJECTED(EINVAL);
	}
	text[2] = 0x7f;
	REJECTED(EINVAL);
	errors_end(&errors);
}

TEST(filter_text_limit)
{
	struct errors errors;

	errors_begin(&errors);
	good_filter(&errors);
	memset(errors.filter.text, 'x', EVENTLOG_FILTER_TEXT_MAX - 1);
	errors.filter.text[EVENTLOG_FILTER_TEXT_MAX - 1] = '\0';
	errors.filter.filter.text_size = EVENTLOG_FILTER_TEXT_MAX;
	CHECK_OK(try_filter(errors.consumer.fd, "filtered", PTR(&errors.filter.filter), NULL));
	consumer_close(&errors.consumer);
	close(errors.producer);
}

/* The kernel rejects a filter of this term. */
static void reject_term(struct errors *errors, struct filter_term term, int error)
{
	__u64 filter = filter_fill(&errors->filter, &term, 1, NULL);

	CHECK_ERRNO(try_filter(errors->consumer.fd, "filtered", filter, NULL), error);
}

static void reject_flags(struct errors *errors, __u16 operation, __u32 flags, __u64 number)
{
	struct filter_term term = {
		.name = "value", .operation = operation, .flags = flags, .number = number,
	};

	test_note("operation %u, flags 0x%x, number %llu", operation, flags, number);
	if (flags & EVENTLOG_TERM_STRING)
		term.string = "x";
	if (flags & (EVENTLOG_TERM_IPV4 | EVENTLOG_TERM_IPV6)) {
		term.address = flags & EVENTLOG_TERM_IPV4 ? "10.0.0.0" : "fd00::";
		term.mask = flags & EVENTLOG_TERM_IPV4 ? "255.0.0.0" : "ff00::";
	}
	reject_term(errors, term, EINVAL);
}

TEST(term_errors)
{
	static const char *const names[] = { "", "1st", "a b", "a.b", "a-b", "\303\244", "*" };
	static const struct filter_term addresses[2] = {
		{ .name = "value", .operation = EVENTLOG_TERM_OP_EQUAL, .flags = EVENTLOG_TERM_IPV4,
		  .address = "10.0.0.0", .mask = "255.0.0.0" },
		{ .name = "value", .operation = EVENTLOG_TERM_OP_EQUAL, .flags = EVENTLOG_TERM_IPV6,
		  .address = "fd00::", .mask = "ff00::" },
	};
	const struct filter_term text = string_term("value", EVENTLOG_TERM_OP_EQUAL, "some");
	struct errors errors;
	struct eventlog_term *term = errors.filter.terms;
	char longest[EVENTLOG_TERM_STRING_MAX + 1], name[EVENTLOG_FIELD_NAME_MAX + 1];
	unsigned int i;

	errors_begin(&errors);
	good_filter(&errors);
	for (i = EVENTLOG_TERM_OP_BEGINS_NOT + 1; i < 65536; i += i < 300 ? 1 : 997) {
		term->operation = i;
		REJECTED(EINVAL);
	}
	for (i = 7; i < 32; i++) {
		term->flags |= 1U << i;
		REJECTED(EINVAL);
	}
	term->reserved = 1;
	REJECTED(EINVAL);
	term->reserved2 = 1ULL << 63;
	REJECTED(EINVAL);

	/* Names. */
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		test_note("name '%s'", names[i]);
		reject_term(&errors, number_term(names[i], EVENTLOG_TERM_OP_EQUAL, 1), EINVAL);
	}
	memset(name, 'x', sizeof(name));
	name[EVENTLOG_FIELD_NAME_MAX] = '\0';
	reject_term(&errors, number_term(name, EVENTLOG_TERM_OP_EQUAL, 1), EINVAL);
	good_filter(&errors);
	term->flags |= EVENTLOG_TERM_COMMON;
	REJECTED(EINVAL);
	term->name = errors.filter.filter.pool_size;
	REJECTED(EINVAL);
	term->name = 0xffffffff;
	REJECTED(EINVAL);
	/* The pool ends within the name. */
	errors.filter.filter.pool_size--;
	REJECTED(EINVAL);
	errors.filter.filter.pool_size = 2;
	REJECTED(EINVAL);

	/* Strings: outside of the pool, not terminated, too long, not named by flags. */
	filter_fill(&errors.filter, &text, 1, NULL);
	term->string = errors.filter.filter.pool_size;
	REJECTED(EINVAL);
	filter_fill(&errors.filter, &text, 1, NULL);
	term->string = 0xffffffff;
	REJECTED(EINVAL);
	filter_fill(&errors.filter, &text, 1, NULL);
	errors.filter.filter.pool_size--;
	REJECTED(EINVAL);
	memset(longest, 'x', sizeof(longest));
	longest[EVENTLOG_TERM_STRING_MAX] = '\0';
	reject_term(&errors, string_term("value", EVENTLOG_TERM_OP_EQUAL, longest), E2BIG);
	good_filter(&errors);
	term->string = 1;
	REJECTED(EINVAL);

	/* Addresses: outside of the pool, bits outside the mask, not named by flags. */
	for (i = 0; i < 2; i++) {
		filter_fill(&errors.filter, &addresses[i], 1, NULL);
		term->address = errors.filter.filter.pool_size + 1;
		REJECTED(EINVAL);
		filter_fill(&errors.filter, &addresses[i], 1, NULL);
		term->address = 0xffffffff;
		REJECTED(EINVAL);
		filter_fill(&errors.filter, &addresses[i], 1, NULL);
		errors.filter.filter.pool_size--;
		REJECTED(EINVAL);
		filter_fill(&errors.filter, &addresses[i], 1, NULL);
		errors.filter.pool[term->address + (i ? 15 : 3)] = 1;
		REJECTED(EINVAL);
		filter_fill(&errors.filter, &addresses[i], 1, NULL);
		term->flags |= EVENTLOG_TERM_IPV4 | EVENTLOG_TERM_IPV6;
		REJECTED(EINVAL);
	}
	good_filter(&errors);
	term->address = 1;
	REJECTED(EINVAL);

	/* Values that the operation lacks or should not have. */
	for (i = EVENTLOG_TERM_OP_EQUAL; i <= EVENTLOG_TERM_OP_BEGINS_NOT; i++) {
		reject_flags(&errors, i, 0, 0);
		reject_flags(&errors, i, EVENTLOG_TERM_NEGATIVE, 1);
		reject_flags(&errors, i, EVENTLOG_TERM_STRING, 1);
		reject_flags(&errors, i, EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_NEGATIVE, 0);
		reject_flags(&errors, i, EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_NEGATIVE,
			     (1ULL << 63) + 1);
		reject_flags(&errors, i, EVENTLOG_TERM_BOOL, 2);
		reject_flags(&errors, i, EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_BOOL, 2);
		reject_flags(&errors, i, EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_BOOL |
			     EVENTLOG_TERM_NEGATIVE, 1);
	}
	for (i = 1; i < 7; i++)
		reject_flags(&errors, EVENTLOG_TERM_OP_SET, 1U << i, 0);
	reject_flags(&errors, EVENTLOG_TERM_OP_SET, 0, 1);
	for (i = EVENTLOG_TERM_OP_LESS; i <= EVENTLOG_TERM_OP_BEGINS_NOT; i++) {
		reject_flags(&errors, i, EVENTLOG_TERM_BOOL, 1);
		reject_flags(&errors, i, EVENTLOG_TERM_IPV4, 0);
		reject_flags(&errors, i, EVENTLOG_TERM_IPV6, 0);
		reject_flags(&errors, i, EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_IPV4, 1);
	}
	reject_flags(&errors, EVENTLOG_TERM_OP_BITS, EVENTLOG_TERM_NUMBER, 0);
	reject_flags(&errors, EVENTLOG_TERM_OP_BITS,
		     EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_NEGATIVE, 1);
	for (i = EVENTLOG_TERM_OP_BEGINS; i <= EVENTLOG_TERM_OP_BEGINS_NOT; i++) {
		reject_flags(&errors, i, EVENTLOG_TERM_NUMBER, 1);
		reject_flags(&errors, i, EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_STRING, 1);
	}
	errors_end(&errors);
}

/* A term may not lead back, to itself or past the last term. */
TEST(target_errors)
{
	struct filter_term terms[3];
	struct errors errors;
	unsigned int i, j;

	errors_begin(&errors);
	for (i = 0; i < 3; i++) {
		terms[i] = number_term("value", EVENTLOG_TERM_OP_EQUAL, i);
		terms[i].on_true = i < 2 ? i + 1 : EVENTLOG_FILTER_ACCEPT;
	}
	for (i = 0; i < 3; i++) {
		for (j = 0; j < EVENTLOG_FILTER_REJECT; j += j < 300 ? 1 : 1009) {
			if (j > i && j < 3)
				continue;
			test_note("term %u, target %u", i, j);
			filter_fill(&errors.filter, terms, 3, NULL);
			errors.filter.terms[i].on_true = j;
			REJECTED(EINVAL);
			filter_fill(&errors.filter, terms, 3, NULL);
			errors.filter.terms[i].on_false = j;
			REJECTED(EINVAL);
		}
	}
	errors_end(&errors);
}

/* Another thread changes the filter while the kernel copies it: only the copy counts. */
static struct filter changing;
static volatile bool changing_over;

static void *change_filter(void *unused)
{
	__u64 seed = test_seed();

	while (!changing_over) {
		struct eventlog_term *term = &changing.terms[test_random(&seed) % 3];

		switch (test_random(&seed) % 8) {
		case 0:
			changing.filter.term_count = test_random(&seed) % 5;
			break;
		case 1:
			changing.filter.pool_size = test_random(&seed) % 64;
			break;
		case 2:
			term->name = test_random(&seed) % 64;
			break;
		case 3:
			term->on_true = test_random(&seed) % 4;
			break;
		case 4:
			term->flags = test_random(&seed) % 128;
			break;
		case 5:
			term->string = test_random(&seed) % 64;
			break;
		case 6:
			changing.pool[test_random(&seed) % 64] = test_random(&seed) % 128;
			break;
		default:
			changing.filter.text_size = test_random(&seed) % 16;
			break;
		}
	}
	return unused;
}

TEST(filter_changes_while_it_is_copied)
{
	static const int errors[] = { EINVAL, E2BIG, EFAULT };
	struct filter_term terms[3] = {
		number_term("value", EVENTLOG_TERM_OP_EQUAL, 1),
		string_term("value", EVENTLOG_TERM_OP_EQUAL, "x"),
		string_term("comm", EVENTLOG_TERM_OP_BEGINS, "y"),
	};
	unsigned int i, j, accepted = 0;
	struct eventlog_register event;
	struct consumer consumer;
	int fd = device_open();
	pthread_t thread;
	__u32 rule_id;

	event = register_event(fd, "changing u32 value");
	consumer_open(&consumer, RING_BYTES);
	filter_fill(&changing, terms, 3, "some text");
	changing_over = false;
	CHECK(!pthread_create(&thread, NULL, change_filter, NULL));
	for (i = 0; i < 5000; i++) {
		if (i % 16 == 0)
			filter_fill(&changing, terms, 3, "some text");
		if (!try_filter(consumer.fd, "changing", PTR(&changing.filter), &rule_id)) {
			accepted++;
			CHECK_EQ(emit(fd, event.write_index, "\1\0\0", 4), 8);
			CHECK_OK(try_rule_delete(consumer.fd, rule_id));
			consumer_skip(&consumer);
			continue;
		}
		for (j = 0; j < ARRAY_SIZE(errors) && errno != errors[j]; j++)
			;
		CHECK(j < ARRAY_SIZE(errors));
	}
	changing_over = true;
	CHECK(!pthread_join(thread, NULL));
	test_print("%u of %u accepted", accepted, i);
	consumer_close(&consumer);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Operations and types
 */

/* An event, and a subscriber that has one rule at a time. */
struct bench {
	struct consumer consumer;
	struct eventlog_register event;
	int producer;
	__u32 rule_id;
};

static void bench_open(struct bench *bench, const char *command)
{
	memset(bench, 0, sizeof(*bench));
	bench->producer = device_open();
	bench->event = register_event(bench->producer, command);
	consumer_open(&bench->consumer, RING_BYTES);
}

static void bench_close(struct bench *bench)
{
	consumer_close(&bench->consumer);
	close(bench->producer);
}

/* Replaces the rule. */
static void bench_filter(struct bench *bench, const struct filter_term *terms, unsigned int count)
{
	if (bench->rule_id)
		CHECK_OK(try_rule_delete(bench->consumer.fd, bench->rule_id));
	bench->rule_id = filter_add(bench->consumer.fd, NULL, terms, count);
}

/* Emits a payload; returns whether the filter let it pass, and checks the counts. */
static bool bench_passes(struct bench *bench, const void *payload, size_t bytes)
{
	const struct eventlog_stat before = stat_rule(bench->consumer.fd, bench->rule_id);
	struct eventlog_stat after;
	unsigned int count;

	CHECK_EQ(emit(bench->producer, bench->event.write_index, payload, bytes), bytes + 4);
	count = consumer_skip(&bench->consumer);
	CHECK(count <= 1);
	after = stat_rule(bench->consumer.fd, bench->rule_id);
	CHECK_EQ(after.rejected - before.rejected, !count);
	return count;
}

/* Did the last event lack a field, or have another type? */
static __u64 bench_incompatible(const struct bench *bench)
{
	return stat_rule(bench->consumer.fd, bench->rule_id).incompatible;
}

static int order_of(bool is_negative, __u64 value, bool term_is_negative, __u64 number)
{
	if (is_negative != term_is_negative)
		return is_negative ? -1 : 1;
	if (term_is_negative)
		number = -number;
	return (value > number) - (value < number);
}

static bool order_holds(__u16 operation, int order, bool bits)
{
	switch (operation) {
	case EVENTLOG_TERM_OP_EQUAL:
		return order == 0;
	case EVENTLOG_TERM_OP_NOT_EQUAL:
		return order != 0;
	case EVENTLOG_TERM_OP_LESS:
		return order < 0;
	case EVENTLOG_TERM_OP_LESS_EQUAL:
		return order <= 0;
	case EVENTLOG_TERM_OP_GREATER:
		return order > 0;
	case EVENTLOG_TERM_OP_GREATER_EQUAL:
		return order >= 0;
	default:
		return bits;
	}
}

static const __u64 limits[] = {
	0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65535, 2147483647, 2147483648,
	4294967295, 9223372036854775807ULL, 9223372036854775808ULL, 18446744073709551615ULL,
};

/* All integer types and operations, with numbers at all limits, against C arithmetic. */
TEST(integers)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	unsigned int field, operation, i, j, compared = 0, position;
	struct filter_term term;
	unsigned char payload[30];
	struct bench bench;

	bench_open(&bench, "integers u8 a;u16 b;u32 c;u64 d;s8 e;s16 f;s32 g;s64 h");
	for (field = 0; field < ARRAY_SIZE(names); field++) {
		const unsigned int bytes = 1U << field % 4, shift = 64 - 8 * bytes;
		const bool is_signed = field >= 4;

		position = (field / 4) * 15 + bytes - 1;
		for (i = 0; i < 2 * ARRAY_SIZE(limits); i++) {
			/* One operation for each, or the test would take minutes. */
			operation = EVENTLOG_TERM_OP_EQUAL + (i + field) % 7;
			term = number_term(names[field], operation, limits[i / 2]);
			if (operation == EVENTLOG_TERM_OP_BITS && !term.number)
				continue;
			if (i & 1 && term.number && term.number <= 1ULL << 63 &&
			    operation != EVENTLOG_TERM_OP_BITS)
				term.flags |= EVENTLOG_TERM_NEGATIVE;
			bench_filter(&bench, &term, 1);
			for (j = 0; j < ARRAY_SIZE(limits); j++) {
				__u64 value = limits[j] << shift;
				int order;

				value = is_signed ? (__u64)((__s64)value >> shift) : value >> shift;
				order = order_of(is_signed && value >> 63, value,
						 term.flags & EVENTLOG_TERM_NEGATIVE, term.number);
				memset(payload, 0xa5, sizeof(payload));
				memcpy(payload + position, &limits[j], bytes);
				test_note("%s: %llu, operation %u, flags %x, %llu", names[field],
					  limits[j], operation, term.flags, term.number);
				CHECK_EQ(bench_passes(&bench, payload, sizeof(payload)),
					 order_holds(operation, order, value & term.number));
				compared++;
			}
		}
		term = (struct filter_term){
			.name = names[field], .operation = EVENTLOG_TERM_OP_SET,
		};
		bench_filter(&bench, &term, 1);
		memset(payload, 0xff, sizeof(payload));
		CHECK(bench_passes(&bench, payload, sizeof(payload)));
		memset(payload + position, 0, bytes);
		CHECK(!bench_passes(&bench, payload, sizeof(payload)));
	}
	CHECK_EQ(stat_all(bench.consumer.fd).incompatible, 0);
	test_print("%u comparisons", compared);
	bench_close(&bench);
}

/* A payload with one dynamic field behind 4 other bytes. */
static size_t dynamic_payload(unsigned char *payload, bool relative, const void *data, __u32 size)
{
	__u32 word = size << 16 | (relative ? 0 : 8);

	memset(payload, 0x5a, 4);
	memcpy(payload + 4, &word, sizeof(word));
	memcpy(payload + 8, data, size);
	return 8 + size;
}

static const struct {
	__u16 operation;
	const char *string, *value;
	bool passes;
} strings[] = {
	{ EVENTLOG_TERM_OP_EQUAL, "tea", "tea", true },
	{ EVENTLOG_TERM_OP_EQUAL, "tea", "teapot", false },
	{ EVENTLOG_TERM_OP_EQUAL, "tea", "te", false },
	{ EVENTLOG_TERM_OP_EQUAL, "tea", "", false },
	{ EVENTLOG_TERM_OP_EQUAL, "", "", true },
	{ EVENTLOG_TERM_OP_EQUAL, "", "x", false },
	{ EVENTLOG_TERM_OP_NOT_EQUAL, "tea", "tea", false },
	{ EVENTLOG_TERM_OP_NOT_EQUAL, "tea", "teapot", true },
	{ EVENTLOG_TERM_OP_NOT_EQUAL, "", "", false },
	{ EVENTLOG_TERM_OP_BEGINS, "tea", "tea", true },
	{ EVENTLOG_TERM_OP_BEGINS, "tea", "teapot", true },
	{ EVENTLOG_TERM_OP_BEGINS, "tea", "te", false },
	{ EVENTLOG_TERM_OP_BEGINS, "tea", "a tea", false },
	{ EVENTLOG_TERM_OP_BEGINS, "", "", true },
	{ EVENTLOG_TERM_OP_BEGINS_NOT, "tea", "teapot", false },
	{ EVENTLOG_TERM_OP_BEGINS_NOT, "tea", "te", true },
	{ EVENTLOG_TERM_OP_BEGINS_NOT, "", "", false },
};

TEST(strings_of_all_kinds)
{
	static const char *const commands[] = {
		"text u32 number;__data_loc char[] text", "text u32 number;__rel_loc char[] text",
		"text u32 number;char[300] text",
	};
	unsigned char payload[700];
	char longest[EVENTLOG_TERM_STRING_MAX], value[600];
	struct filter_term term;
	struct bench bench;
	unsigned int i, kind, size;
	size_t bytes;

	memset(longest, 'x', sizeof(longest));
	longest[EVENTLOG_TERM_STRING_MAX - 1] = '\0';
	for (kind = 0; kind < ARRAY_SIZE(commands); kind++) {
		bench_open(&bench, commands[kind]);
		for (i = 0; i < ARRAY_SIZE(strings); i++) {
			test_note("%s, string %u", commands[kind], i);
			term = string_term("text", strings[i].operation, strings[i].string);
			bench_filter(&bench, &term, 1);
			memset(payload, 0, sizeof(payload));
			strcpy((char *)payload + 4, strings[i].value);
			bytes = 304;
			if (kind < 2)
				bytes = dynamic_payload(payload, kind, strings[i].value,
							strlen(strings[i].value) + 1);
			CHECK_EQ(bench_passes(&bench, payload, bytes), strings[i].passes);
		}
		/* The longest string of a term, and values of about that length. */
		term = string_term("text", EVENTLOG_TERM_OP_EQUAL, longest);
		bench_filter(&bench, &term, 1);
		for (size = 250; size < (kind < 2 ? 600U : 300U); size++) {
			test_note("%s, size %u", commands[kind], size);
			memset(value, 'x', size);
			value[size] = '\0';
			memset(payload, 0, sizeof(payload));
			strcpy((char *)payload + 4, value);
			bytes = kind < 2 ? dynamic_payload(payload, kind, value, size + 1) : 304;
			CHECK_EQ(bench_passes(&bench, payload, bytes),
				 size == EVENTLOG_TERM_STRING_MAX - 1);
		}
		/* char[N] without a NUL. */
		term = string_term("text", EVENTLOG_TERM_OP_BEGINS, longest);
		bench_filter(&bench, &term, 1);
		memset(payload, 'x', sizeof(payload));
		bytes = 304;
		if (kind < 2) {
			memset(value, 'x', 300);
			value[300] = '\0';
			bytes = dynamic_payload(payload, kind, value, 301);
		}
		CHECK(bench_passes(&bench, payload, bytes));
		term = (struct filter_term){ .name = "text", .operation = EVENTLOG_TERM_OP_SET };
		bench_filter(&bench, &term, 1);
		CHECK(bench_passes(&bench, payload, bytes));
		memset(payload, 0, sizeof(payload));
		bytes = kind < 2 ? dynamic_payload(payload, kind, "", 1) : 304;
		CHECK(!bench_passes(&bench, payload, bytes));
		/* A string ends at the first NUL. */
		term = string_term("text", EVENTLOG_TERM_OP_EQUAL, "ab");
		bench_filter(&bench, &term, 1);
		memcpy(payload + 4, "ab\0cd", 6);
		if (kind < 2)
			bytes = dynamic_payload(payload, kind, "ab\0cd", 6);
		CHECK(bench_passes(&bench, payload, bytes));
		CHECK_EQ(stat_all(bench.consumer.fd).incompatible, 0);
		bench_close(&bench);
	}
}

TEST(bytes_of_all_kinds)
{
	static const struct {
		const char *command;
		bool dynamic, relative;
	} kinds[] = {
		{ "octets u32 number;unsigned char[4] data", false, false },
		{ "octets u32 number;struct some data 4", false, false },
		{ "octets u32 number;__data_loc unsigned char[] data", true, false },
		{ "octets u32 number;__rel_loc unsigned char[] data", true, true },
	};
	static const struct {
		__u16 operation;
		const char *digits;
		bool passes;
	} cases[] = {
		{ EVENTLOG_TERM_OP_EQUAL, "0aB1ff00", true },
		{ EVENTLOG_TERM_OP_EQUAL, "0ab1ff01", false },
		{ EVENTLOG_TERM_OP_EQUAL, "0ab1ff", false },
		{ EVENTLOG_TERM_OP_EQUAL, "0ab1ff0000", false },
		{ EVENTLOG_TERM_OP_EQUAL, "", false },
		{ EVENTLOG_TERM_OP_NOT_EQUAL, "0ab1ff00", false },
		{ EVENTLOG_TERM_OP_NOT_EQUAL, "0ab1ff", true },
	};
	static const unsigned char data[4] = { 0x0a, 0xb1, 0xff, 0 };
	unsigned char payload[16];
	struct filter_term term;
	unsigned int kind, i;
	struct bench bench;
	size_t bytes;

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		bench_open(&bench, kinds[kind].command);
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			test_note("%s, case %u", kinds[kind].command, i);
			term = string_term("data", cases[i].operation, cases[i].digits);
			bench_filter(&bench, &term, 1);
			memcpy(payload + 4, data, sizeof(data));
			bytes = 8;
			if (kinds[kind].dynamic)
				bytes = dynamic_payload(payload, kinds[kind].relative, data, 4);
			CHECK_EQ(bench_passes(&bench, payload, bytes), cases[i].passes);
		}
		CHECK_EQ(stat_all(bench.consumer.fd).incompatible, 0);
		term = (struct filter_term){ .name = "data", .operation = EVENTLOG_TERM_OP_SET };
		bench_filter(&bench, &term, 1);
		CHECK(bench_passes(&bench, payload, bytes));
		memset(payload + 4, 0, 4);
		if (kinds[kind].dynamic)
			bytes = dynamic_payload(payload, kinds[kind].relative, "", 0);
		CHECK(!bench_passes(&bench, payload, bytes));
		/* No digits, or half a byte: the term is incompatible. */
		term = string_term("data", EVENTLOG_TERM_OP_NOT_EQUAL, "0ab");
		bench_filter(&bench, &term, 1);
		CHECK(!bench_passes(&bench, payload, bytes));
		CHECK_EQ(bench_incompatible(&bench), 1);
		term.string = "xy";
		bench_filter(&bench, &term, 1);
		CHECK(!bench_passes(&bench, payload, bytes));
		CHECK_EQ(bench_incompatible(&bench), 1);
		bench_close(&bench);
	}
}

TEST(values_of_every_event)
{
	struct filter_term term;
	struct bench bench;
	unsigned int i;

	bench_open(&bench, "common u32 value;u32 tid");
	CHECK_OK(prctl(PR_SET_NAME, "filter_emitter"));
	for (i = 0; i < 2; i++) {
		const __u32 common = i ? EVENTLOG_TERM_COMMON : 0;

		term = number_term("pid", EVENTLOG_TERM_OP_EQUAL, getpid());
		term.flags |= common;
		bench_filter(&bench, &term, 1);
		CHECK(bench_passes(&bench, "12345678", 8));
		term.number++;
		bench_filter(&bench, &term, 1);
		CHECK(!bench_passes(&bench, "12345678", 8));
		term = number_term("cpu", EVENTLOG_TERM_OP_LESS, 1000000);
		term.flags |= common;
		bench_filter(&bench, &term, 1);
		CHECK(bench_passes(&bench, "12345678", 8));
		term.operation = EVENTLOG_TERM_OP_GREATER;
		bench_filter(&bench, &term, 1);
		CHECK(!bench_passes(&bench, "12345678", 8));
		term = string_term("comm", EVENTLOG_TERM_OP_EQUAL, "filter_emitter");
		term.flags |= common;
		bench_filter(&bench, &term, 1);
		CHECK(bench_passes(&bench, "12345678", 8));
		term.operation = EVENTLOG_TERM_OP_NOT_EQUAL;
		bench_filter(&bench, &term, 1);
		CHECK(!bench_passes(&bench, "12345678", 8));
		term = string_term("comm", EVENTLOG_TERM_OP_BEGINS, "filter_");
		term.flags |= common;
		bench_filter(&bench, &term, 1);
		CHECK(bench_passes(&bench, "12345678", 8));
		term = number_term("session", EVENTLOG_TERM_OP_EQUAL, 0);
		term.flags |= common;
		bench_filter(&bench, &term, 1);
		CHECK(bench_passes(&bench, "12345678", 8));
	}
	CHECK_EQ(stat_all(bench.consumer.fd).incompatible, 0);
	/* A field hides the common value of the same name. */
	term = number_term("tid", EVENTLOG_TERM_OP_EQUAL, 0x38373635);
	bench_filter(&bench, &term, 1);
	CHECK(bench_passes(&bench, "12345678", 8));
	term.flags |= EVENTLOG_TERM_COMMON;
	bench_filter(&bench, &term, 1);
	CHECK(!bench_passes(&bench, "12345678", 8));
	term.number = thread_id();
	bench_filter(&bench, &term, 1);
	CHECK(bench_passes(&bench, "12345678", 8));
	bench_close(&bench);
}

TEST(sessions)
{
	struct eventlog_register request = register_request("sessions u32 value");
	const struct filter_term term =
		number_term("session", EVENTLOG_TERM_OP_GREATER, 1ULL << 40);
	struct consumer consumer;
	int fd = device_open();

	request.flags = EVENTLOG_REGISTER_SESSION;
	register_with(fd, &request);
	consumer_open(&consumer, RING_BYTES);
	filter_add(consumer.fd, "sessions", &term, 1);
	CHECK_EQ(emit_session(fd, request.write_index, 1ULL << 40, "1234", 4), 16);
	CHECK_EQ(consumer_skip(&consumer), 0);
	CHECK_EQ(emit_session(fd, request.write_index, (1ULL << 40) + 1, "1234", 4), 16);
	CHECK_EQ(consumer_skip(&consumer), 1);
	consumer_close(&consumer);
	close(fd);
}

/* pid and tid are those of the subscriber's pid namespace. */
TEST(pid_namespaces)
{
	struct filter_term term = number_term("pid", EVENTLOG_TERM_OP_EQUAL, 1);
	struct consumer outside;
	struct bench bench;
	pid_t pid;

	consumer_open(&outside, RING_BYTES);
	filter_add(outside.fd, "inside", &term, 1);
	if (unshare(CLONE_NEWPID))
		SKIP("no pid namespaces: %s", test_errno_name(errno));
	pid = test_fork();
	if (!pid) {
		CHECK_EQ(getpid(), 1);
		bench_open(&bench, "inside u32 value");
		bench_filter(&bench, &term, 1);
		CHECK(bench_passes(&bench, "1234", 4));
		term.name = "tid";
		bench_filter(&bench, &term, 1);
		CHECK(bench_passes(&bench, "1234", 4));
		term.number = 2;
		bench_filter(&bench, &term, 1);
		CHECK(!bench_passes(&bench, "1234", 4));
		bench_close(&bench);
		_exit(0);
	}
	test_join(pid);
	CHECK_EQ(consumer_skip(&outside), 0);
	CHECK_EQ(stat_all(outside.fd).rejected, 3);
	consumer_close(&outside);
}

/* Terms that lead to one another in all the ways of "(a || b) && !c". */
TEST(targets)
{
	struct filter_term terms[3] = {
		number_term("a", EVENTLOG_TERM_OP_EQUAL, 1),
		number_term("b", EVENTLOG_TERM_OP_EQUAL, 1),
		number_term("c", EVENTLOG_TERM_OP_EQUAL, 1),
	};
	struct bench bench;
	unsigned char payload[3];
	unsigned int i;

	bench_open(&bench, "targets u8 a;u8 b;u8 c");
	terms[0].on_true = 2;
	terms[0].on_false = 1;
	terms[1].on_true = 2;
	terms[2].on_true = EVENTLOG_FILTER_REJECT;
	terms[2].on_false = EVENTLOG_FILTER_ACCEPT;
	bench_filter(&bench, terms, 3);
	for (i = 0; i < 8; i++) {
		payload[0] = i & 1;
		payload[1] = i >> 1 & 1;
		payload[2] = i >> 2 & 1;
		CHECK_EQ(bench_passes(&bench, payload, 3),
			 (payload[0] || payload[1]) && !payload[2]);
	}
	bench_close(&bench);
}

/* As many terms and as large a pool as possible; each term is evaluated. */
TEST(largest_filter)
{
	struct filter_term terms[EVENTLOG_TERMS_MAX];
	char string[EVENTLOG_TERM_STRING_MAX];
	unsigned char payload[600];
	struct filter filter;
	struct bench bench;
	unsigned int i;
	size_t bytes;

	memset(string, 'y', sizeof(string));
	string[100] = '\0';
	bench_open(&bench, "largest u32 number;__data_loc char[] text");
	for (i = 0; i < EVENTLOG_TERMS_MAX; i++) {
		terms[i] = string_term("text", EVENTLOG_TERM_OP_BEGINS, string);
		if (i < EVENTLOG_TERMS_MAX - 1)
			terms[i].on_true = i + 1;
	}
	filter_fill(&filter, terms, EVENTLOG_TERMS_MAX, NULL);
	/* A stride with room for members of later versions. */
	CHECK(filter.filter.pool_size < EVENTLOG_FILTER_POOL_MAX);
	filter.filter.pool_size = EVENTLOG_FILTER_POOL_MAX;
	CHECK_OK(try_filter(bench.consumer.fd, "largest", PTR(&filter.filter), &bench.rule_id));
	bytes = dynamic_payload(payload, false, string, 101);
	CHECK(bench_passes(&bench, payload, bytes));
	payload[107] = 'z';
	CHECK(!bench_passes(&bench, payload, bytes));
	bench_close(&bench);
}

/* A longer struct eventlog_term, whose additional bytes are 0. */
TEST(longer_terms)
{
	struct {
		struct eventlog_term term;
		__u64 more[3];
	} terms[2];
	const struct filter_term parts[2] = {
		{ .name = "value", .operation = EVENTLOG_TERM_OP_GREATER, .number = 4,
		  .flags = EVENTLOG_TERM_NUMBER, .on_true = 1 },
		number_term("value", EVENTLOG_TERM_OP_LESS, 6),
	};
	struct filter filter;
	struct bench bench;
	unsigned int i;

	bench_open(&bench, "longer u32 value");
	filter_fill(&filter, parts, 2, NULL);
	memset(terms, 0, sizeof(terms));
	for (i = 0; i < 2; i++)
		terms[i].term = filter.terms[i];
	filter.filter.terms = PTR(terms);
	filter.filter.term_size = sizeof(terms[0]);
	CHECK_OK(try_filter(bench.consumer.fd, "longer", PTR(&filter.filter), &bench.rule_id));
	for (i = 3; i < 8; i++)
		CHECK_EQ(bench_passes(&bench, &i, 4), i == 5);
	terms[1].more[2] = 1;
	CHECK_ERRNO(try_filter(bench.consumer.fd, "longer", PTR(&filter.filter), NULL), E2BIG);
	bench_close(&bench);
}

/* Terms of a program that was compiled with a shorter struct: the rest counts as zero. */
TEST(shorter_terms_count_as_zero)
{
	/* value && text == x */
	const struct filter_term parts[] = {
		{ .name = "value", .operation = EVENTLOG_TERM_OP_SET, .on_true = 1 },
		string_term("text", EVENTLOG_TERM_OP_EQUAL, "x"),
	};
	struct {
		unsigned char term[EVENTLOG_TERM_SIZE_MIN];
		__u64 other;	/* not 0, and not part of a term */
	} terms[2];
	struct filter filter;
	struct bench bench;
	struct {
		__u32 value;
		char text[4];
	} payload = { 0 };
	unsigned int i;

	bench_open(&bench, "shorter u32 value; char[4] text");
	filter_fill(&filter, parts, 2, NULL);
	memset(terms, 0xff, sizeof(terms));
	for (i = 0; i < 2; i++)
		memcpy((char *)terms + i * EVENTLOG_TERM_SIZE_MIN, &filter.terms[i],
		       EVENTLOG_TERM_SIZE_MIN);
	filter.filter.terms = PTR(terms);
	filter.filter.term_size = EVENTLOG_TERM_SIZE_MIN;
	CHECK_OK(try_filter(bench.consumer.fd, "shorter", PTR(&filter.filter), &bench.rule_id));
	CHECK(!bench_passes(&bench, &payload, sizeof(payload)));
	payload.text[0] = 'x';
	CHECK(!bench_passes(&bench, &payload, sizeof(payload)));
	payload.value = 1;
	CHECK(bench_passes(&bench, &payload, sizeof(payload)));
	payload.text[0] = 'y';
	CHECK(!bench_passes(&bench, &payload, sizeof(payload)));
	filter.filter.term_size = EVENTLOG_TERM_SIZE_MIN - 1;
	CHECK_ERRNO(try_filter(bench.consumer.fd, "shorter", PTR(&filter.filter), NULL), EINVAL);
	bench_close(&bench);
}

/* ------------------------------------------------------------------------
 * Fields that an event lacks, counts, rules
 */
TEST(missing_fields)
{
	const struct filter_term none = number_term("none", EVENTLOG_TERM_OP_NOT_EQUAL, 1);
	struct filter_term terms[2] = {
		number_term("value", EVENTLOG_TERM_OP_EQUAL, 1), none,
	};
	struct bench bench;
	__u32 value = 1;

	bench_open(&bench, "missing u32 value");
	bench_filter(&bench, &none, 1);
	CHECK(!bench_passes(&bench, &value, 4));
	CHECK_EQ(bench_incompatible(&bench), 1);
	/* Another type. */
	terms[0] = string_term("value", EVENTLOG_TERM_OP_NOT_EQUAL, "x");
	bench_filter(&bench, terms, 1);
	CHECK(!bench_passes(&bench, &value, 4));
	CHECK_EQ(bench_incompatible(&bench), 1);
	/* The term is false: its negation as a whole is true, and is not counted. */
	terms[0].on_true = EVENTLOG_FILTER_REJECT;
	terms[0].on_false = EVENTLOG_FILTER_ACCEPT;
	bench_filter(&bench, terms, 1);
	CHECK(bench_passes(&bench, &value, 4));
	CHECK_EQ(bench_incompatible(&bench), 0);
	/* Only a term that is evaluated counts, and an event counts once. */
	terms[0] = number_term("value", EVENTLOG_TERM_OP_EQUAL, 1);
	terms[0].on_false = 1;
	bench_filter(&bench, terms, 2);
	CHECK(bench_passes(&bench, &value, 4));
	value = 2;
	CHECK(!bench_passes(&bench, &value, 4));
	CHECK_EQ(bench_incompatible(&bench), 1);
	terms[0] = none;
	terms[0].on_false = 1;
	bench_filter(&bench, terms, 2);
	CHECK(!bench_passes(&bench, &value, 4));
	CHECK_EQ(bench_incompatible(&bench), 1);
	bench_close(&bench);
}

/* A rejected event leaves no trace in the ring; STAT has both counts. */
TEST(stat_counts)
{
	const struct filter_term less = number_term("value", EVENTLOG_TERM_OP_LESS, 10);
	const struct filter_term text = string_term("value", EVENTLOG_TERM_OP_EQUAL, "x");
	struct eventlog_stat stat = { .size = sizeof(stat) };
	struct eventlog_register event;
	struct consumer consumer;
	int fd = device_open();
	__u32 rules[2], i;

	event = register_event(fd, "counted u32 value");
	consumer_open(&consumer, RING_BYTES);
	rules[0] = filter_add(consumer.fd, "counted", &less, 1);
	for (i = 0; i < 1000; i++)
		CHECK_EQ(emit(fd, event.write_index, &i, 4), 8);
	stat = stat_all(consumer.fd);
	CHECK_EQ(stat.records, 10);
	CHECK_EQ(stat.bytes, 10 * 40);
	CHECK_EQ(stat.rejected, 990);
	CHECK_EQ(stat.incompatible, 0);
	CHECK_EQ(lost_sum(stat.lost), 0);
	CHECK_EQ(consumer_skip(&consumer), 10);

	/* One of two rules is sufficient; the second is tested only if the first rejects. */
	rules[1] = filter_add(consumer.fd, "counted", &text, 1);
	for (i = 9; i < 13; i++)
		CHECK_EQ(emit(fd, event.write_index, &i, 4), 8);
	CHECK_EQ(consumer_skip(&consumer), 1);
	stat = stat_rule(consumer.fd, rules[0]);
	CHECK_EQ(stat.rejected, 993);
	CHECK_EQ(stat.incompatible, 0);
	CHECK_EQ(stat.records, 0);
	stat = stat_rule(consumer.fd, rules[1]);
	CHECK_EQ(stat.rejected, 3);
	CHECK_EQ(stat.incompatible, 3);
	stat = stat_all(consumer.fd);
	CHECK_EQ(stat.rejected, 996);
	CHECK_EQ(stat.incompatible, 3);

	/* The sums keep what deleted rules have rejected. */
	CHECK_OK(try_rule_delete(consumer.fd, rules[0]));
	stat = stat_all(consumer.fd);
	CHECK_EQ(stat.rejected, 996);
	CHECK_OK(try_rule_delete(consumer.fd, rules[1]));
	stat = stat_all(consumer.fd);
	CHECK_EQ(stat.rejected, 996);
	CHECK_EQ(stat.incompatible, 3);
	CHECK_ERRNO(emit(fd, event.write_index, &i, 4), EBADF);
	CHECK_EQ(stat_all(consumer.fd).rejected, 996);

	/* Errors of STAT. */
	stat = (struct eventlog_stat){
		.size = sizeof(stat), .ring = EVENTLOG_RINGS_ALL, .rule_id = rules[0],
	};
	CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_STAT, &stat), ENOENT);
	rules[0] = rule_add(consumer.fd, NULL, "counted");
	stat.rule_id = rules[0];
	CHECK_OK(ioctl(consumer.fd, EVENTLOG_IOC_STAT, &stat));
	CHECK_EQ(stat.rejected, 0);
	stat.ring = 0;
	CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_STAT, &stat), EINVAL);
	stat.ring = EVENTLOG_RINGS_ALL;
	stat.descriptor = event.descriptor;
	CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_STAT, &stat), EINVAL);
	consumer_close(&consumer);
	close(fd);
}

TEST(subscribers_have_their_own_filters)
{
	const struct filter_term terms[2] = {
		number_term("value", EVENTLOG_TERM_OP_LESS, 5),
		number_term("value", EVENTLOG_TERM_OP_GREATER_EQUAL, 3),
	};
	struct consumer consumers[3];
	struct eventlog_register event;
	int fd = device_open();
	__u32 i;

	event = register_event(fd, "several u32 value");
	for (i = 0; i < 3; i++)
		consumer_open(&consumers[i], RING_BYTES);
	for (i = 0; i < 2; i++)
		filter_add(consumers[i].fd, "several", &terms[i], 1);
	rule_add(consumers[2].fd, NULL, "several");
	for (i = 0; i < 10; i++)
		CHECK_EQ(emit(fd, event.write_index, &i, 4), 8);
	CHECK_EQ(consumer_skip(&consumers[0]), 5);
	CHECK_EQ(consumer_skip(&consumers[1]), 7);
	CHECK_EQ(consumer_skip(&consumers[2]), 10);
	CHECK_EQ(stat_all(consumers[0].fd).rejected, 5);
	CHECK_EQ(stat_all(consumers[1].fd).rejected, 3);
	CHECK_EQ(stat_all(consumers[2].fd).rejected, 0);
	for (i = 0; i < 3; i++)
		consumer_close(&consumers[i]);
	close(fd);
}

/* Filters apply to events that are registered later, and again after they have ended. */
TEST(events_added_and_removed)
{
	const struct filter_term less = number_term("value", EVENTLOG_TERM_OP_LESS, 5);
	struct eventlog_register event;
	struct consumer consumer;
	__u32 i, rule_id, round;
	int fd;

	consumer_open(&consumer, RING_BYTES);
	filter_add(consumer.fd, "late", &less, 1);
	for (round = 0; round < 4; round++) {
		fd = device_open();
		event = register_event(fd, round % 2 ? "late u32 value" : "late s64 value");
		for (i = 0; i < 10; i++)
			CHECK_EQ(emit(fd, event.write_index, (__u64[]){ i }, round % 2 ? 4 : 8),
				 round % 2 ? 8 : 12);
		CHECK_EQ(consumer_skip(&consumer), 5);
		close(fd);
	}
	/* While another rule lets all events pass, an event gets its filter nevertheless. */
	rule_id = rule_add(consumer.fd, NULL, "late");
	fd = device_open();
	event = register_event(fd, "late u16 value");
	for (i = 0; i < 10; i++)
		CHECK_EQ(emit(fd, event.write_index, &i, 2), 6);
	CHECK_EQ(consumer_skip(&consumer), 10);
	CHECK_OK(try_rule_delete(consumer.fd, rule_id));
	for (i = 0; i < 10; i++)
		CHECK_EQ(emit(fd, event.write_index, &i, 2), 6);
	CHECK_EQ(consumer_skip(&consumer), 5);
	CHECK_EQ(stat_all(consumer.fd).rejected, 25);
	close(fd);
	consumer_close(&consumer);
}

/* The sample is taken of what the filter lets pass; session and pid are tested first. */
TEST(filters_beside_other_conditions)
{
	const struct filter_term even = {
		.name = "value", .operation = EVENTLOG_TERM_OP_BITS, .flags = EVENTLOG_TERM_NUMBER,
		.number = 1, .on_true = EVENTLOG_FILTER_REJECT, .on_false = EVENTLOG_FILTER_ACCEPT,
	};
	struct eventlog_rule rule = rule_request(NULL, "sampled");
	struct eventlog_register event;
	struct consumer consumer;
	struct record record;
	struct filter filter;
	int fd = device_open();
	__u32 i, value;

	event = register_event(fd, "sampled u32 value");
	consumer_open(&consumer, RING_BYTES);
	rule.filter = filter_fill(&filter, &even, 1, NULL);
	rule.sample = 3;
	rule_add_with(consumer.fd, &rule);
	for (i = 0; i < 20; i++)
		CHECK_EQ(emit(fd, event.write_index, &i, 4), 8);
	for (i = 0; consumer_next(&consumer, &record); i++) {
		memcpy(&value, record.payload, sizeof(value));
		CHECK_EQ(value, 6 * i);
	}
	consumer_release(&consumer);
	CHECK_EQ(i, 4);
	CHECK_EQ(stat_all(consumer.fd).rejected, 10);
	CHECK_OK(try_rule_delete(consumer.fd, rule.rule_id));
	rule.sample = 0;
	rule.flags = EVENTLOG_RULE_PID;
	rule.pid = getpid() + 1;
	rule_add_with(consumer.fd, &rule);
	CHECK_EQ(emit(fd, event.write_index, "1234", 4), 8);
	CHECK_EQ(stat_all(consumer.fd).rejected, 10);
	consumer_close(&consumer);
	close(fd);
}

static volatile bool rules_over;
static unsigned long rules_rounds;

static void *change_rules(void *consumer_fd)
{
	const struct filter_term terms[2] = {
		number_term("value", EVENTLOG_TERM_OP_LESS, 100),
		number_term("value", EVENTLOG_TERM_OP_GREATER_EQUAL, 200),
	};
	int fd = *(int *)consumer_fd;
	unsigned long i;
	__u32 rules[2];

	for (i = 0; !rules_over; i++) {
		__atomic_store_n(&rules_rounds, i, __ATOMIC_RELAXED);
		rules[0] = filter_add(fd, "stress", &terms[i % 2], 1);
		rules[1] = filter_add(fd, "str*", &terms[!(i % 2)], 1);
		CHECK_OK(try_rule_delete(fd, rules[i / 2 % 2]));
		CHECK_OK(try_rule_delete(fd, rules[!(i / 2 % 2)]));
	}
	return NULL;
}

/* Rules are added and deleted while their events are, too, and are emitted. */
TEST(rules_change_while_events_are_emitted)
{
	struct eventlog_register event;
	struct consumer consumer;
	unsigned int i, count = 0;
	struct record record;
	pthread_t thread;
	__u32 value;
	int fd;

	consumer_open(&consumer, RING_BYTES);
	rules_over = false;
	CHECK(!pthread_create(&thread, NULL, change_rules, &consumer.fd));
	for (i = 0; i < 300 || __atomic_load_n(&rules_rounds, __ATOMIC_RELAXED) < 50; i++) {
		fd = device_open();
		event = register_event(fd, i % 2 ? "stress u32 value" : "stress s32 value");
		/* Between two rules the event is disabled. */
		for (value = 0; value < 300; value += 3)
			CHECK(emit(fd, event.write_index, &value, 4) == 8 || errno == EBADF);
		close(fd);
		while (consumer_next(&consumer, &record)) {
			if (record.bytes < 4)
				continue;
			memcpy(&value, record.payload, sizeof(value));
			CHECK(value < 100 || value >= 200);
			count++;
		}
		consumer_release(&consumer);
	}
	rules_over = true;
	CHECK(!pthread_join(thread, NULL));
	test_print("%u events passed, %lu rounds of rules, %u events", count, rules_rounds, i);
	consumer_close(&consumer);
}

/* ------------------------------------------------------------------------
 * Kernel providers
 */
static void kernel_load(struct consumer *consumer)
{
	module_unload(MODULE);
	CHECK_OK(module_load(MODULE));
	consumer_open(consumer, 16 * RING_BYTES);
}

static void kernel_unload(struct consumer *consumer)
{
	consumer_close(consumer);
	CHECK_OK(module_unload(MODULE));
}

static bool kernel_passes(struct consumer *consumer, const struct filter_term *term, __u64 number,
			  const char *text)
{
	__u32 rule_id = filter_add(consumer->fd, "types", term, 1);
	struct eventlog_stat stat;
	unsigned int count;
	char line[128];

	snprintf(line, sizeof(line), "%llu%s%s", number, text ? " " : "", text ? text : "");
	CHECK_OK(file_write(PARAMETERS "emit", line));
	count = consumer_skip(consumer);
	CHECK(count <= 1);
	stat = stat_rule(consumer->fd, rule_id);
	CHECK_EQ(stat.rejected, !count);
	CHECK_EQ(stat.incompatible, 0);
	CHECK_OK(try_rule_delete(consumer->fd, rule_id));
	return count;
}

#define MAPPED (1ULL << 32)
#define ADDRESS(field, does, what, network, bits) { { .name = field, \
	.operation = EVENTLOG_TERM_OP_##does, .flags = EVENTLOG_TERM_##what, .address = network, \
	.mask = bits }
#define STRING(field, does, value) { { .name = field, .operation = EVENTLOG_TERM_OP_##does, \
	.flags = EVENTLOG_TERM_STRING, .string = value }
#define NUMBER(field, does, value) { { .name = field, .operation = EVENTLOG_TERM_OP_##does, \
	.flags = EVENTLOG_TERM_NUMBER, .number = value }
#define NEGATIVE(field, does, value) { { .name = field, .operation = EVENTLOG_TERM_OP_##does, \
	.flags = EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_NEGATIVE, .number = value }
#define SET(field) { { .name = field, .operation = EVENTLOG_TERM_OP_SET }
#define ALL_BITS "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"

static const struct {
	struct filter_term term;
	__u64 number;
	const char *text;
	bool passes;
} kernel_cases[] = {
	{ { .name = "flag", .operation = EVENTLOG_TERM_OP_EQUAL, .flags = EVENTLOG_TERM_BOOL,
	    .number = 1 }, 1, "", true },
	{ { .name = "flag", .operation = EVENTLOG_TERM_OP_EQUAL, .flags = EVENTLOG_TERM_BOOL,
	    .number = 1 }, 2, "", false },
	{ { .name = "flag", .operation = EVENTLOG_TERM_OP_NOT_EQUAL, .flags = EVENTLOG_TERM_BOOL,
	    .number = 1 }, 2, "", true },
	SET("flag"), 3, "", true },
	SET("flag"), 2, "", false },
	NUMBER("pointer", EQUAL, 77), 77, "", true },
	NUMBER("time", GREATER, 1ULL << 32), (1ULL << 32) + 1, "", true },
	NUMBER("duration", GREATER, 1ULL << 32), 1ULL << 32, "", false },
	NUMBER("session", EQUAL, 12345), 12345, "", true },
	/* 10.1.2.3 */
	ADDRESS("v4", EQUAL, IPV4, "10.1.2.3", "255.255.255.255"), 0x0a010203, "", true },
	ADDRESS("v4", EQUAL, IPV4, "10.1.2.4", "255.255.255.255"), 0x0a010203, "", false },
	ADDRESS("v4", EQUAL, IPV4, "10.0.0.0", "255.0.0.0"), 0x0a010203, "", true },
	ADDRESS("v4", NOT_EQUAL, IPV4, "10.0.0.0", "255.0.0.0"), 0x0a010203, "", false },
	ADDRESS("v4", EQUAL, IPV6, "::ffff:10.1.2.3", ALL_BITS), 0x0a010203, "", true },
	ADDRESS("v4", EQUAL, IPV6, "::10.1.2.3", ALL_BITS), 0x0a010203, "", false },
	ADDRESS("v4", NOT_EQUAL, IPV6, "::10.1.2.3", ALL_BITS), 0x0a010203, "", true },
	ADDRESS("v4", EQUAL, IPV6, "::", "::"), 0x0a010203, "", true },
	SET("v4"), 1, "", true },
	SET("v4"), MAPPED, "", false },
	ADDRESS("v6", EQUAL, IPV6, "fd00::a01:203", ALL_BITS), 0x0a010203, "", true },
	ADDRESS("v6", EQUAL, IPV6, "fd00::a01:204", ALL_BITS), 0x0a010203, "", false },
	ADDRESS("v6", EQUAL, IPV6, "fd00::", "ff00::"), 0x0a010203, "", true },
	ADDRESS("v6", EQUAL, IPV6, "fc00::", "ff00::"), 0x0a010203, "", false },
	ADDRESS("v6", NOT_EQUAL, IPV6, "fc00::", "ff00::"), 0x0a010203, "", true },
	ADDRESS("v6", EQUAL, IPV4, "10.1.0.0", "255.255.0.0"), 0x0a010203, "", false },
	ADDRESS("v6", EQUAL, IPV4, "10.1.0.0", "255.255.0.0"), MAPPED | 0x0a010203, "", true },
	ADDRESS("v6", EQUAL, IPV4, "10.2.0.0", "255.255.0.0"), MAPPED | 0x0a010203, "", false },
	ADDRESS("v6", NOT_EQUAL, IPV4, "10.2.0.0", "255.255.0.0"), 0x0a010203, "", true },
	SET("v6"), 0, "", true },
	STRING("mac", EQUAL, "02:00:0a:01:02:03"), 0x0a010203, "", true },
	STRING("mac", EQUAL, "02:00:0A:01:02:04"), 0x0a010203, "", false },
	STRING("mac", NOT_EQUAL, "02:00:0a:01:02:04"), 0x0a010203, "", true },
	SET("mac"), 0, "", true },
	NUMBER("port", EQUAL, 443), 443, "", true },
	NUMBER("port", LESS, 1024), 443, "", true },
	NUMBER("port", GREATER, 1024), 443, "", false },
	NUMBER("port", BITS, 0x100), 443, "", true },
	STRING("colour", EQUAL, "RED"), 1, "", true },
	STRING("colour", EQUAL, "RED"), 2, "", false },
	STRING("colour", EQUAL, "BLUE"), 254, "", true },
	STRING("colour", NOT_EQUAL, "BLUE"), 254, "", false },
	STRING("colour", LESS, "RED"), 254, "", true },
	STRING("colour", GREATER_EQUAL, "RED"), 254, "", false },
	STRING("colour", BITS, "RED"), 3, "", true },
	STRING("colour", BITS, "RED"), 2, "", false },
	NEGATIVE("colour", EQUAL, 2), 254, "", true },
	NUMBER("colour", EQUAL, 7), 7, "", true },
	SET("colour"), 256, "", false },
	STRING("bits", EQUAL, "ONE"), 1, "", true },
	STRING("bits", EQUAL, "ONE"), 3, "", false },
	STRING("bits", EQUAL, "ONE|SIXTEEN"), 0x8001, "", true },
	STRING("bits", BITS, "ONE|SIXTEEN"), 0x8000, "", true },
	STRING("bits", BITS, "SIXTEEN"), 0x7fff, "", false },
	STRING("bits", EQUAL, "ONE|0x10"), 0x11, "", true },
	NUMBER("bits", BITS, 0x10), 0x10, "", true },
	STRING("chars", EQUAL, "abcde"), 0, "abcdefg", true },
	STRING("chars", EQUAL, "abcdef"), 0, "abcdef", false },
	STRING("chars", BEGINS, "abc"), 0, "abcd", true },
	STRING("chars", EQUAL, ""), 0, NULL, true },
	STRING("text", EQUAL, "abcdef"), 0, "abcdef", true },
	STRING("text", EQUAL, "abcdef"), 0, "abcdefg", false },
	STRING("text", NOT_EQUAL, "abcdef"), 0, "abcdefg", true },
	STRING("text", BEGINS, "abc"), 0, "abcdef", true },
	STRING("text", BEGINS_NOT, "abc"), 0, "abcdef", false },
	STRING("text", EQUAL, "(null)"), 0, NULL, true },
	SET("text"), 0, "", false },
	SET("text"), 0, "x", true },
	STRING("data", EQUAL, "616263"), 0, "abc", true },
	STRING("data", EQUAL, "616264"), 0, "abc", false },
	STRING("data", EQUAL, ""), 0, "", true },
	SET("data"), 0, "", false },
	SET("data"), 0, "x", true },
	STRING("octets", EQUAL, "05050505050505050505050505050505"), 5, "", true },
	STRING("octets", NOT_EQUAL, "05050505050505050505050505050505"), 5, "", false },
	SET("octets"), 256, "", false },
	SET("octets"), 1, "", true },
	STRING("raw", EQUAL, "0a010203"), 0x0a010203, "", true },
};

TEST(types_of_kernel_providers)
{
	struct consumer consumer;
	unsigned int i;

	kernel_load(&consumer);
	for (i = 0; i < ARRAY_SIZE(kernel_cases); i++) {
		test_note("case %u: %s, operation %u", i, kernel_cases[i].term.name,
			  kernel_cases[i].term.operation);
		CHECK_EQ(kernel_passes(&consumer, &kernel_cases[i].term, kernel_cases[i].number,
				       kernel_cases[i].text), kernel_cases[i].passes);
	}
	kernel_unload(&consumer);
}

/* Values that do not go with the type. */
TEST(types_that_do_not_fit)
{
	static const struct filter_term misfits[] = {
		{ .name = "flag", .operation = EVENTLOG_TERM_OP_LESS,
		  .flags = EVENTLOG_TERM_NUMBER, .number = 1 },
		{ .name = "flag", .operation = EVENTLOG_TERM_OP_EQUAL,
		  .flags = EVENTLOG_TERM_NUMBER, .number = 1 },
		{ .name = "v4", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_NUMBER, .number = 1 },
		{ .name = "v6", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_STRING, .string = "fd00::" },
		{ .name = "mac", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_STRING, .string = "02:00:00:00:00" },
		{ .name = "mac", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_STRING, .string = "02:00:00:00:00:0g" },
		{ .name = "mac", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_STRING, .string = "02:00:00:00:00-00" },
		{ .name = "port", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_STRING, .string = "http" },
		{ .name = "colour", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_STRING, .string = "GREEN" },
		{ .name = "colour", .operation = EVENTLOG_TERM_OP_BITS,
		  .flags = EVENTLOG_TERM_STRING, .string = "NONE" },
		{ .name = "colour", .operation = EVENTLOG_TERM_OP_BEGINS_NOT,
		  .flags = EVENTLOG_TERM_STRING, .string = "R" },
		{ .name = "bits", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_STRING, .string = "ONE|" },
		{ .name = "bits", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_STRING, .string = "ONE|TWO" },
		{ .name = "text", .operation = EVENTLOG_TERM_OP_LESS,
		  .flags = EVENTLOG_TERM_STRING, .string = "x" },
		{ .name = "text", .operation = EVENTLOG_TERM_OP_BITS,
		  .flags = EVENTLOG_TERM_NUMBER, .number = 1 },
		{ .name = "chars", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_NUMBER, .number = 1 },
		{ .name = "data", .operation = EVENTLOG_TERM_OP_BEGINS,
		  .flags = EVENTLOG_TERM_STRING, .string = "61" },
		{ .name = "comm", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_NUMBER, .number = 1 },
		{ .name = "cpu", .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_STRING, .string = "x" },
		{ .name = "none", .operation = EVENTLOG_TERM_OP_SET },
	};
	struct consumer consumer;
	struct eventlog_stat stat;
	unsigned int i;
	__u32 rule_id;

	kernel_load(&consumer);
	for (i = 0; i < ARRAY_SIZE(misfits); i++) {
		test_note("misfit %u: %s", i, misfits[i].name);
		rule_id = filter_add(consumer.fd, "types", &misfits[i], 1);
		CHECK_OK(file_write(PARAMETERS "emit", "1 abc"));
		CHECK_EQ(consumer_skip(&consumer), 0);
		stat = stat_rule(consumer.fd, rule_id);
		CHECK_EQ(stat.rejected, 1);
		CHECK_EQ(stat.incompatible, 1);
		CHECK_OK(try_rule_delete(consumer.fd, rule_id));
	}
	kernel_unload(&consumer);
}

/* A string that changes meanwhile: what is in the ring is what the filter has seen. */
TEST(filters_decide_on_what_is_copied)
{
	char wanted[64] = "";
	struct filter_term term;
	struct consumer consumer;
	unsigned int i, count = 0, rejected;
	struct record record;

	memset(wanted, 'a', 63);
	kernel_load(&consumer);
	term = string_term("text", EVENTLOG_TERM_OP_EQUAL, wanted);
	filter_add(consumer.fd, "torn", &term, 1);
	for (i = 0; i < 20; i++) {
		CHECK_OK(file_write(PARAMETERS "torn", "1000"));
		while (consumer_next(&consumer, &record)) {
			if (record.bytes < 8)
				continue;
			CHECK_EQ(record.bytes, 8 + 64);
			CHECK(!memcmp(record.payload + 8, wanted, 64));
			count++;
		}
		consumer_release(&consumer);
	}
	rejected = stat_all(consumer.fd).rejected;
	CHECK_EQ(count + rejected + lost_sum(stat_all(consumer.fd).lost), 20000);
	test_print("%u passed, %u rejected", count, rejected);
	kernel_unload(&consumer);
}

/* Threads, interrupts and NMIs on all CPUs, with fixed and dynamic fields. */
TEST(filters_in_interrupts_and_nmis)
{
	static const char *const contexts[] = { "task", "softirq", "hardirq", "nmi" };
	struct filter_term terms[3] = {
		number_term("number", EVENTLOG_TERM_OP_LESS, 20),
		string_term("text", EVENTLOG_TERM_OP_EQUAL, "nmi"),
		string_term("text", EVENTLOG_TERM_OP_BEGINS, "hard"),
	};
	unsigned long passed = 0, seen[4] = { 0 }, nmis = 0;
	struct consumer consumer;
	struct eventlog_stat stat;
	struct record record;
	unsigned int context, i;
	bool inject;
	__u32 number;

	kernel_load(&consumer);
	/* number < 20 || text == "nmi" || text ~ "^hard" */
	terms[0].on_false = 1;
	terms[1].on_false = 2;
	filter_add(consumer.fd, "storm", terms, 3);
	CHECK_OK(file_write(PARAMETERS "storm", "1"));
	inject = !system("command -v vm-nmi > /dev/null");
	for (i = 0; i < 100 || (inject && !seen[3] && i < 10000); i++) {
		/* From here on the module has a handler for the NMIs. */
		if (inject && i < 10)
			inject = !system("vm-nmi 10 2> /dev/null");
		/* pause: the loop waits for events of all contexts. */
		usleep(1000);
		while (consumer_next(&consumer, &record)) {
			if (record.bytes < 8)
				continue;
			context = (record.header->size_flags & EVENTLOG_RECORD_CONTEXT_MASK) >>
				  EVENTLOG_RECORD_CONTEXT_SHIFT;
			memcpy(&number, record.payload, sizeof(number));
			CHECK(!strcmp((const char *)record.payload + 8, contexts[context]));
			CHECK(number < 20 || context >= EVENTLOG_CONTEXT_HARDIRQ);
			seen[context]++;
			passed++;
		}
		consumer_release(&consumer);
	}
	CHECK_OK(file_write(PARAMETERS "storm", "0"));
	passed += consumer_skip(&consumer);
	stat = stat_all(consumer.fd);
	CHECK(seen[EVENTLOG_CONTEXT_TASK] && seen[EVENTLOG_CONTEXT_HARDIRQ]);
	CHECK_EQ(passed, stat.records);
	CHECK_EQ(stat.incompatible, 0);
	/* Every event was delivered, lost or rejected. */
	CHECK_EQ(stat.records + lost_sum(stat.lost) + stat.rejected,
		 file_number(PARAMETERS "emitted"));
	if (inject) {
		nmis = file_number(PARAMETERS "nmis");
		CHECK(seen[EVENTLOG_CONTEXT_NMI] && seen[EVENTLOG_CONTEXT_NMI] <= nmis);
	}
	test_print("%lu passed, %llu rejected; %lu in threads, %lu in interrupts, %lu of %lu NMIs",
		   passed, stat.rejected, seen[0], seen[2], seen[3], nmis);
	kernel_unload(&consumer);
}

/* ------------------------------------------------------------------------
 * Failing allocations, if the kernel supports fault injection (fail-nth)
 */
static bool fail_at(unsigned int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	return file_write("/proc/thread-self/fail-nth", text) > 0;
}

TEST(allocation_failures)
{
	const struct filter_term terms[2] = {
		{ .name = "value", .operation = EVENTLOG_TERM_OP_GREATER, .number = 4,
		  .flags = EVENTLOG_TERM_NUMBER, .on_true = 1 },
		string_term("comm", EVENTLOG_TERM_OP_NOT_EQUAL, "x"),
	};
	struct eventlog_register events[3];
	struct consumer consumer;
	struct filter filter;
	int fd = device_open(), result, error, late;
	unsigned int number, i;
	__u64 address;
	__u32 rule_id;
	long left;

	if (access("/proc/thread-self/fail-nth", W_OK))
		SKIP("this kernel does not support fail-nth");
	file_write("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	file_write("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	file_write("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	events[0] = register_event(fd, "scarce u32 value");
	events[1] = register_event(fd, "scarce s64 value");
	events[2] = register_event(fd, "scarce_too u32 other");
	consumer_open(&consumer, RING_BYTES);
	address = filter_fill(&filter, terms, 2, "text");
	/* RULE_ADD: either the rule is there for all events, or for none. */
	for (number = 1; number < 5000; number++) {
		test_note("rule, allocation %u", number);
		CHECK(fail_at(number));
		result = try_filter(consumer.fd, "scarce*", address, &rule_id);
		error = errno;
		left = file_number("/proc/thread-self/fail-nth");
		fail_at(0);
		CHECK(!result || error == ENOMEM || error == EFAULT);
		for (i = 0; i < 3; i++) {
			const ssize_t bytes = i == 1 ? 8 : 4;
			ssize_t written;

			written = emit(fd, events[i].write_index, (__u64[]){ 5 }, bytes);
			CHECK(result ? written == -1 && errno == EBADF : written == bytes + 4);
		}
		CHECK_EQ(consumer_skip(&consumer), result ? 0 : 2);
		if (!result)
			CHECK_OK(try_rule_delete(consumer.fd, rule_id));
		if (left)
			break;
	}
	test_print("RULE_ADD: %u allocations failed", number - 1);
	CHECK(number > 1 && number < 5000);
	/* REGISTER of an event that the rule matches. */
	CHECK_OK(try_filter(consumer.fd, "scarce*", address, &rule_id));
	for (number = 1; number < 5000; number++) {
		test_note("register, allocation %u", number);
		late = device_open();
		CHECK(fail_at(number));
		result = try_register(late, "scarce u16 value");
		error = errno;
		left = file_number("/proc/thread-self/fail-nth");
		fail_at(0);
		CHECK(!result || error == ENOMEM || error == EFAULT);
		close(late);
		if (left)
			break;
	}
	test_print("REGISTER: %u allocations failed", number - 1);
	CHECK(number > 1 && number < 5000);
	consumer_close(&consumer);
	close(fd);
}
