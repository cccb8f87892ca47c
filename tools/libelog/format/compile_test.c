// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of filters for the kernel: what expressions are translated to, what is left of
 * those that the kernel cannot decide, and the evaluator of user space. Random
 * expressions are compared with libelog's evaluator of expressions. Prints TAP.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/filter.h"
#include "elog.h"
#include "elog_marker.h"
#include "producer/marker_filter.h"
#include "util/tap.h"
#include "util/test_filter.h"
#include "util/test_random.h"
#include "util/random_expression.h"
#include "util/util.h"

static int check_filter(const struct eventlog_filter *filter)
{
	const struct eventlog_terms terms = terms_of_filter(filter);

	return eventlog_terms_check(&terms);
}

static int compile(const char *text, unsigned int flags, struct elog_filter **filter,
		   struct elog_expression_error *error)
{
	const struct elog_expression *expressions[1];
	struct elog_expression *expression;
	int ret;

	check(!elog_expression_parse(text, &expression, NULL));
	expressions[0] = expression;
	ret = elog_expression_compile(expressions, 1, flags, filter, error);
	check(!ret == (*filter != NULL));
	if (!ret)
		check_equal(check_filter((*filter)->filter), 0);
	elog_expression_free(expression);
	return ret;
}

static const struct eventlog_term *terms_of(const struct elog_filter *filter)
{
	return (const void *)(uintptr_t)filter->filter->terms;
}

static const char *pool_of(const struct elog_filter *filter)
{
	return (const void *)(uintptr_t)filter->filter->pool;
}

/* ------------------------------------------------------------------------
 * Terms
 */

static void put_address(struct elog_text *text, const struct eventlog_term *term,
			const char *pool)
{
	int family = term->flags & EVENTLOG_TERM_IPV4 ? AF_INET : AF_INET6;
	size_t size = family == AF_INET ? 4 : 16;
	char address[INET6_ADDRSTRLEN], mask[INET6_ADDRSTRLEN];

	inet_ntop(family, pool + term->address, address, sizeof(address));
	inet_ntop(family, pool + term->address + size, mask, sizeof(mask));
	elog_text_printf(text, " a%s/%s", address, mask);
}

static void put_term(struct elog_text *text, const struct eventlog_term *term, const char *pool)
{
	static const char *const operations[] = {
		"", "==", "!=", "<", "<=", ">", ">=", "&", "^", "!^",
	};

	elog_text_printf(text, "%s%s%s", term->flags & EVENTLOG_TERM_COMMON ? "@" : "",
			 pool + term->name, operations[term->operation]);
	if (term->flags & EVENTLOG_TERM_NUMBER)
		elog_text_printf(text, " n%s%llu",
				 term->flags & EVENTLOG_TERM_NEGATIVE ? "-" : "",
				 (unsigned long long)term->number);
	if (term->flags & EVENTLOG_TERM_BOOL)
		elog_text_printf(text, " b%u", (unsigned int)term->number);
	if (term->flags & (EVENTLOG_TERM_IPV4 | EVENTLOG_TERM_IPV6))
		put_address(text, term, pool);
	if (term->flags & EVENTLOG_TERM_STRING)
		elog_text_printf(text, " s%s", pool + term->string);
	elog_text_printf(text, " %x %x", term->on_true, term->on_false);
}

/* Writes the terms on one line. */
static void put_terms(struct elog_text *text, const char *expression, unsigned int flags)
{
	struct elog_expression_error error = { 0 };
	struct elog_filter *filter;
	uint32_t i;
	int ret;

	ret = compile(expression, flags, &filter, &error);
	if (ret == -EINVAL) {
		elog_text_printf(text, "%u %s", error.column, error.message);
		/* The error is optional. */
		check_equal(compile(expression, flags, &filter, NULL), -EINVAL);
	} else if (ret) {
		elog_text_printf(text, "%s", strerror(-ret));
	}
	for (i = 0; !ret && i < filter->filter->term_count; i++) {
		elog_text_string(text, i ? "; " : "");
		put_term(text, &terms_of(filter)[i], pool_of(filter));
	}
	if (!ret && flags) {
		check(filter->exact);
		check_equal(filter->filter->text, (uintptr_t)filter->text);
		check_equal(filter->filter->text_size, strlen(filter->text) + 1);
	}
	elog_filter_free(filter);
}

struct term_case {
	const char *expression, *terms;
};

static void check_terms(const struct term_case *cases, size_t count, unsigned int flags)
{
	struct elog_text text = { 0 };
	size_t i;

	for (i = 0; i < count; i++) {
		text.size = 0;
		put_terms(&text, cases[i].expression, flags);
		check_string(text.data, cases[i].terms);
	}
	elog_text_free(&text);
}

#define NAME_51 "a01234567890123456789012345678901234567890123456789"
#define NAME_255 NAME_51 NAME_51 NAME_51 NAME_51 NAME_51

/* What the kernel decides is the same for rules and for markers. */
static void test_terms(void)
{
	static const struct term_case cases[] = {
		{ "a", "a ffff fffe" },
		{ "!a", "a fffe ffff" },
		{ "a == 5", "a== n5 s5 ffff fffe" },
		{ "a != -5", "a!= n-5 s-5 ffff fffe" },
		{ "a == -0", "a== n0 s-0 ffff fffe" },
		{ "a == \"5\"", "a== s5 ffff fffe" },
		{ "a == \"\"", "a== s ffff fffe" },
		{ "a == 1", "a== n1 b1 s1 ffff fffe" },
		{ "a == false", "a== b0 sfalse ffff fffe" },
		{ "a == true", "a== b1 strue ffff fffe" },
		{ "a == 0x10", "a== n16 s0x10 ffff fffe" },
		{ "a < 1.5ms", "a< n1500000 ffff fffe" },
		{ "a < 1h30m", "a< n5400000000000 ffff fffe" },
		{ "a >= 18446744073709551615", "a>= n18446744073709551615 ffff fffe" },
		{ "a <= -9223372036854775808", "a<= n-9223372036854775808 ffff fffe" },
		{ "a & 1|0x10", "a& n17 ffff fffe" },
		{ "a == 10.1.2.3", "a== a10.1.2.3/255.255.255.255 s10.1.2.3 ffff fffe" },
		{ "a != 10.1.2.3/16", "a!= a10.1.0.0/255.255.0.0 s10.1.2.3/16 ffff fffe" },
		{ "a == 0.0.0.0/0", "a== a0.0.0.0/0.0.0.0 s0.0.0.0/0 ffff fffe" },
		{ "a == ::ffff:10.1.2.3",
		  "a== a10.1.2.3/255.255.255.255 s::ffff:10.1.2.3 ffff fffe" },
		{ "a == ::/0", "a== a::/:: s::/0 ffff fffe" },
		{ "a == ::ffff:0:0/95", "a== a::fffe:0:0/ffff:ffff:ffff:ffff:ffff:fffe:: "
		  "s::ffff:0:0/95 ffff fffe" },
		{ "a == fe80::1",
		  "a== afe80::1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff sfe80::1 ffff fffe" },
		{ "a ~ \"^abc\"", "a^ sabc ffff fffe" },
		{ "a ~ \"^\"", "a^ s ffff fffe" },
		{ "a !~ \"^abc\"", "a!^ sabc ffff fffe" },
		{ "a ~ \"^abc$\"", "a== sabc ffff fffe" },
		{ "a !~ \"^abc$\"", "a!= sabc ffff fffe" },
		{ "@pid == 7", "@pid== n7 s7 ffff fffe" },
		{ "comm == x", "comm== sx ffff fffe" },
		{ "session != 0", "session!= n0 b0 s0 ffff fffe" },
		{ "@session", "@session ffff fffe" },
		{ "a && (b || !c) || d > 1",
		  "a 1 3; b ffff 2; c 3 ffff; d> n1 ffff fffe" },
	};
	static const struct term_case whole[] = {
		{ "a ~ abc", "5 the kernel matches only plain text behind '^'" },
		{ "a ~ \"b$\"", "5 the kernel matches only plain text behind '^'" },
		{ "a ~ \"^a.c\"", "5 the kernel matches only plain text behind '^'" },
		{ "b || @time > 5",
		  "6 the kernel compares @cpu, @pid, @tid, @comm and @session, not @time" },
		{ "time == 5", "time== n5 s5 ffff fffe" },
		{ "a > tea", "5 'tea' is not a number" },
		{ "a & 1|x", "5 '1|x' is not a mask of bits" },
		{ "a & 0", "5 '0' is not a mask of bits" },
		{ NAME_255 "a", "1 the name is too long for a field" },
		{ NAME_255, NAME_255 " ffff fffe" },
	};
	static const struct term_case split[] = {
		{ "a ~ abc", "No such file or directory" },
		{ "time == 5", "No such file or directory" },
		{ "level < 3", "No such file or directory" },
		{ "a > tea", "a> stea ffff fffe" },
		{ "a & x|y", "a& sx|y ffff fffe" },
		{ "a == x|y", "a== sx|y ffff fffe" },
		{ "a == \"1|y\"", "a== s1|y ffff fffe" },
		{ "a == y|1", "a== sy|1 ffff fffe" },
		{ "a & y|0x1F", "a& sy|0x1F ffff fffe" },
		{ "a == y|1K", "No such file or directory" },
		{ "a & y|0x1G", "No such file or directory" },
		{ "a > y|000000000000000000000001", "No such file or directory" },
		{ "a & 0", "No such file or directory" },
	};

	check_terms(cases, ELOG_ARRAY_SIZE(cases), 0);
	check_terms(cases, ELOG_ARRAY_SIZE(cases), ELOG_FILTER_WHOLE);
	check_terms(whole, ELOG_ARRAY_SIZE(whole), ELOG_FILTER_WHOLE);
	check_terms(split, ELOG_ARRAY_SIZE(split), 0);
}

/* ------------------------------------------------------------------------
 * What is left of expressions
 */

static void check_left(const char *expression, const char *expected)
{
	struct elog_filter *filter, *again;
	int ret;

	ret = compile(expression, 0, &filter, NULL);
	if (ret) {
		check_equal(ret, -ENOENT);
		if (*expected)
			fail(__FILE__, __LINE__, "nothing is left of %s", expression);
		return;
	}
	check_string(filter->text, expected);
	check_equal(filter->exact, !strcmp(expression, expected));
	/* The text means the same. */
	check_equal(compile(filter->text, 0, &again, NULL), 0);
	if (again) {
		check(again->exact);
		check_equal(again->filter->term_count, filter->filter->term_count);
		check(!memcmp(terms_of(again), terms_of(filter),
			      filter->filter->term_count * sizeof(struct eventlog_term)));
	}
	elog_filter_free(again);
	elog_filter_free(filter);
}

static void test_splitting(void)
{
	static const char *const cases[][2] = {
		{ "a > 1", "a > 1" },
		{ "a > 1 && b ~ x", "a > 1" },
		{ "b ~ x && a > 1", "a > 1" },
		{ "a > 1 || b ~ x", "" },
		{ "b ~ x || a > 1", "" },
		{ "b ~ x", "" }, { "!(b ~ x)", "" }, { "b !~ x", "" },
		{ "a > 1 && (b ~ x || c)", "a > 1" },
		{ "a > 1 && (b ~ x && c || d)", "a > 1 && (c || d)" },
		{ "(b ~ x || c) && a", "a" },
		{ "(b ~ x && c) || a", "c || a" },
		{ "!(b ~ x || c) && a", "!c && a" },
		{ "!(b ~ x && c) && a", "a" },
		{ "!(b ~ x || c == 2)", "!(c == 2)" },
		{ "!(!(b ~ x) && c) && a", "a" },
		{ "!!(a && b ~ x)", "!!a" },
		{ "a && (b || c) && level == 3", "a && (b || c)" },
		{ "(a || b) && (c ~ x || d) && !e", "(a || b) && !e" },
		{ "(a && time > 3 || b && c) && d", "(a || b && c) && d" },
		{ "  a>1   &&\tb ~ x ", "a>1" },
		{ "a == \"x \\\" \\n\" && b ~ x", "a == \"x \\\" \\n\"" },
		{ "a == \"x\ty\" && b ~ x", "a == \"x\\x09y\"" },
		{ "provider == tcp && bytes > 10", "bytes > 10" },
		{ "@level == error || pid == 3", "" },
	};
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(cases); i++)
		check_left(cases[i][0], cases[i][1]);
}

/* Several expressions are one filter. */
static void test_several(void)
{
	static const char *const texts[] = { "a || b", "time > 1", "c ~ x || d", "e && f ~ x" };
	const struct elog_expression *expressions[ELOG_ARRAY_SIZE(texts)];
	struct elog_expression *parsed[ELOG_ARRAY_SIZE(texts)];
	struct elog_text text = { 0 };
	struct elog_filter *filter;
	uint32_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(texts); i++) {
		check(!elog_expression_parse(texts[i], &parsed[i], NULL));
		expressions[i] = parsed[i];
	}
	check_equal(elog_expression_compile(expressions, 4, 0, &filter, NULL), 0);
	check_string(filter->text, "(a || b) && e");
	check(!filter->exact);
	for (i = 0; i < filter->filter->term_count; i++) {
		elog_text_string(&text, i ? "; " : "");
		put_term(&text, &terms_of(filter)[i], pool_of(filter));
	}
	check_string(text.data, "a 2 1; b 2 fffe; e ffff fffe");
	elog_filter_free(filter);
	check_equal(elog_expression_compile(expressions + 1, 2, 0, &filter, NULL), -ENOENT);
	check_equal(elog_expression_compile(expressions, 0, 0, &filter, NULL), -EINVAL);
	check_equal(elog_expression_compile(expressions, 1, 2, &filter, NULL), -EINVAL);
	check(!filter);
	elog_filter_free(NULL);
	for (i = 0; i < ELOG_ARRAY_SIZE(texts); i++)
		elog_expression_free(parsed[i]);
	elog_text_free(&text);
}

static void put_many(struct elog_text *text, const char *item, const char *separator,
		     unsigned int count)
{
	unsigned int i;

	text->size = 0;
	for (i = 0; i < count; i++) {
		elog_text_string(text, i ? separator : "");
		elog_text_printf(text, item, i);
	}
}

static void test_limits(void)
{
	struct elog_expression_error error;
	struct elog_text text = { 0 };
	struct elog_filter *filter;
	char longest[600], buffer[300];
	clock_t start = clock();

	put_many(&text, "f%u", " || ", EVENTLOG_TERMS_MAX);
	check_equal(compile(text.data, ELOG_FILTER_WHOLE, &filter, NULL), 0);
	check_equal(filter->filter->term_count, EVENTLOG_TERMS_MAX);
	elog_filter_free(filter);
	put_many(&text, "f%u", " || ", EVENTLOG_TERMS_MAX + 1);
	check_equal(compile(text.data, ELOG_FILTER_WHOLE, &filter, &error), -EINVAL);
	check_string(error.message, "the kernel supports at most 64 comparisons");
	check_equal(error.column, strstr(text.data, "f64") - text.data + 1);
	check_equal(compile(text.data, 0, &filter, NULL), -ENOENT);
	/* Of a conjunction the first ones are left. */
	put_many(&text, "f%u", " && ", EVENTLOG_TERMS_MAX + 1);
	check_equal(compile(text.data, 0, &filter, NULL), 0);
	check_equal(filter->filter->term_count, EVENTLOG_TERMS_MAX);
	check(!filter->exact);
	check(!strncmp(filter->text, "f0 && f1 &&", 11) && !strstr(filter->text, "f64"));
	elog_filter_free(filter);
	put_many(&text, "f%u", "&&", 9000);
	check_equal(compile(text.data, 0, &filter, NULL), 0);
	check_equal(filter->filter->term_count, EVENTLOG_TERMS_MAX);
	elog_filter_free(filter);
	/* Strings. */
	memset(buffer, 'x', sizeof(buffer));
	snprintf(longest, sizeof(longest), "f == %.255s", buffer);
	check_equal(compile(longest, ELOG_FILTER_WHOLE, &filter, NULL), 0);
	elog_filter_free(filter);
	snprintf(longest, sizeof(longest), "f == %.256s", buffer);
	check_equal(compile(longest, ELOG_FILTER_WHOLE, &filter, &error), -EINVAL);
	check_string(error.message, "the kernel compares at most 255 bytes of text");
	check_equal(error.column, 6);
	check_equal(compile(longest, 0, &filter, NULL), -ENOENT);
	snprintf(longest, sizeof(longest), "f ~ \"^%.256s\" && a", buffer);
	check_left(longest, "a");
	/* The text. */
	text.size = 0;
	elog_text_printf(&text, "f == \"%.255s\" || f == \"%.254s\" || f == \"%.253s\"", buffer,
			 buffer, buffer);
	elog_text_printf(&text, " || f == \"%.*s\"", (int)(1023 - text.size - 11), buffer);
	check_equal(text.size, EVENTLOG_FILTER_TEXT_MAX - 1);
	check_equal(compile(text.data, ELOG_FILTER_WHOLE, &filter, NULL), 0);
	check_equal(filter->filter->text_size, EVENTLOG_FILTER_TEXT_MAX);
	elog_filter_free(filter);
	elog_text_string(&text, "||g");
	check_equal(compile(text.data, ELOG_FILTER_WHOLE, &filter, &error), -EINVAL);
	check_string(error.message, "the kernel stores at most 1023 bytes of a filter");
	check_equal(compile(text.data, 0, &filter, NULL), 0);
	check_equal(filter->filter->text_size, 0);
	check_equal(filter->filter->text, 0);
	check_string(filter->text, text.data);
	elog_filter_free(filter);
	/* The pool: strings of 255 bytes that share nothing. */
	text.size = 0;
	while (text.size < 16000)
		elog_text_printf(&text, "%sf == \"%04zu%.251s\"", text.size ? " && " : "",
				 text.size, buffer);
	check_equal(compile(text.data, 0, &filter, NULL), 0);
	check(filter->filter->term_count > 25 && filter->filter->term_count < 32);
	check(filter->filter->pool_size > 7900 &&
	      filter->filter->pool_size <= EVENTLOG_FILTER_POOL_MAX);
	check(!filter->exact);
	elog_filter_free(filter);
	elog_text_free(&text);
	check((clock() - start) / CLOCKS_PER_SEC < 20);
}

/* ------------------------------------------------------------------------
 * Random expressions
 */

static const char schema_text[] =
	"eventlog 1\n"
	"provider p\n"
	"enum state\n\t1 ESTABLISHED\n\t8 CLOSE_WAIT\n\t-2 BROKEN\n\t0 NOTHING\n"
	"flags bits\n\t0 NONE\n\t1 FIN\n\t2 SYN\n\t0x30 ECN\n"
	"event 1 e info -\n"
	"	u8 byte\n	u16 half\n	u32 word\n	u64 whole\n"
	"	s8 sbyte\n	s16 shalf\n	s32 sword\n	s64 swhole\n"
	"	bool yes\n	enum:state:s8 state\n	flags:bits:u16 flags\n"
	"	ipv4 source\n	ipv6 six\n	port port\n	mac mac\n"
	"	duration took\n	ptr sk\n	char[4] chars\n	u8[2] octets\n"
	"	struct:key:2 key\n	string path\n	bytes raw\n"
	"	string:rel relative\n	bytes:rel none\n	u32 pid\n";

#define NUMBERS "0 1 -1 5 127 128 -128 255 256 65535 0xffffffff 2147483648 -2147483648 " \
	"9223372036854775807 9223372036854775808 -9223372036854775808 18446744073709551615 " \
	"1|4 64K \"1\" \"5\""
#define ADDRESSES "1.2.3.4 1.2.0.0/16 0.0.0.0/0 1.2.3.5/31 ::/0 ::ffff:1.2.3.4 ::/8 " \
	"::ffff:0:0/96 1::2 1::/17 \"1.2.3.4\" ::"
#define TEXTS "\"\" a ab abc \"abcd\" abcde b \"^a\" \"^ab$\" \"b$\" \"a.c\" \"^\" \"^$\" 1 "\
	"\"A\" \"abcdefghijklmnopqrstuvwxyz\""
#define OCTETS "00 0000 0100 \"00ff\" 00FF 0 \"\" 0g"

static const struct random_field fields[] = {
	{ "byte", NUMBERS }, { "half", NUMBERS }, { "word", NUMBERS }, { "whole", NUMBERS },
	{ "sbyte", NUMBERS }, { "shalf", NUMBERS }, { "sword", NUMBERS },
	{ "swhole", NUMBERS },
	{ "yes", "true false 1 0 2 \"true\"" },
	{ "state", "ESTABLISHED CLOSE_WAIT BROKEN NOTHING 1 8 -2 5 \"BROKEN\" OTHER" },
	{ "flags", "NONE FIN SYN ECN FIN|SYN ECN|FIN 3 FIN|0x20 1|2 \"FIN\" \"FIN|1\" FIN| "
	  "FIN|1K FIN|0x0x1 SYN|010 FIN|99999999999999999999" },
	{ "source", ADDRESSES }, { "six", ADDRESSES }, { "port", "443 0 65535 80" },
	{ "mac", "00:11:22:aa:bb:cc 00:11:22:AA:BB:CC 00:00:00:00:00:00 \"1:2\"" },
	{ "took", "1s 1ms 1.5us 0 1000000" }, { "sk", NUMBERS },
	{ "chars", TEXTS }, { "octets", OCTETS }, { "key", OCTETS },
	{ "path", TEXTS }, { "raw", OCTETS }, { "relative", TEXTS }, { "none", OCTETS },
	{ "pid", "7 8 100" }, { "@pid", "100 7" }, { "tid", "101 0" }, { "@tid", "101" },
	{ "cpu", "3 4" }, { "session", "0 9223372036854775809" },
	{ "comm", "some \"some (comm)\" \"^some\" some.*" }, { "@comm", "\"some (comm)\"" },
	{ "missing", NUMBERS }, { "time", "7s 8s" }, { "level", "info 4 error" },
	{ "@keywords", "1 x" }, { "event", "e f" }, { "provider", "p \"^p\"" },
};

static uint64_t likely_number(void)
{
	static const uint64_t numbers[] = {
		0, 1, 2, 5, 127, 128, 255, 256, 443, 1000, 65535, 65536, 1000000, 0x7fffffff,
		0x80000000, 0xffffffff, INT64_MAX, 1ULL << 63, UINT64_MAX, UINT64_MAX - 1,
	};

	return random_number(4) ? numbers[random_number(ELOG_ARRAY_SIZE(numbers))] :
				  random_number(UINT64_MAX);
}

static const char *likely_text(void)
{
	static const char *const texts[] = {
		"", "a", "ab", "abc", "abcd", "abcde", "b", "1", "A",
		"abcdefghijklmnopqrstuvwxyz",
	};

	return texts[random_number(ELOG_ARRAY_SIZE(texts))];
}

static size_t random_payload(unsigned char *payload, size_t capacity)
{
	static const unsigned char sixes[][16] = {
		{ 0 }, { [10] = 0xff, 0xff, 1, 2, 3, 4 }, { [1] = 1, [15] = 2 },
		{ [10] = 0xff, 0xff, 1, 2 },
	};
	static const unsigned char sizes[] = { 1, 2, 4, 8, 1, 2, 4, 8 };
	static const unsigned char macs[][6] = { { 0 }, { 0, 0x11, 0x22, 0xaa, 0xbb, 0xcc } };
	static const unsigned char states[] = { 0, 1, 8, (unsigned char)-2, 5 };
	static const uint16_t bits[] = { 0, 1, 2, 3, 0x20, 0x30, 0x31, 0x33, 0xffff };
	struct elog_payload composed;
	unsigned int i;

	elog_payload_init(&composed, payload, capacity);
	for (i = 0; i < ELOG_ARRAY_SIZE(sizes); i++)
		elog_payload_integer(&composed, likely_number(), sizes[i]);
	elog_payload_u8(&composed, (uint8_t)random_number(3));
	elog_payload_u8(&composed, states[random_number(5)]);
	elog_payload_u16(&composed, bits[random_number(9)]);
	elog_payload_raw(&composed, random_number(3) ? "\1\2\3\4" : "\0\0\0", 4);
	elog_payload_raw(&composed, sixes[random_number(4)], 16);
	elog_payload_raw(&composed, random_number(2) ? "\x01\xbb" : "\0", 2);
	elog_payload_raw(&composed, macs[random_number(2)], 6);
	elog_payload_u64(&composed, likely_number());
	elog_payload_u64(&composed, likely_number());
	elog_payload_chars(&composed, likely_text(), 4);
	elog_payload_raw(&composed, random_number(2) ? "\0\xff" : "\0", 2);
	elog_payload_raw(&composed, random_number(2) ? "\1" : "\0", 2);
	elog_payload_string(&composed, likely_text());
	elog_payload_bytes(&composed, "\0\xff", random_number(3));
	elog_payload_string_rel(&composed, likely_text());
	elog_payload_bytes_rel(&composed, "\1", random_number(3));
	elog_payload_u32(&composed, 7);
	return (size_t)elog_payload_end(&composed);
}

struct outcome_counts {
	unsigned int exact;
	unsigned int whole_true;
	unsigned int filter_true;
	unsigned int filter_false;
	unsigned int nothing;
	unsigned int incompatible;
};

static void check_implied(const char *text, const struct elog_schema_event *event,
			  const struct elog_item *item, struct outcome_counts *counts)
{
	static const char comm[] = "some (comm)";
	struct elog_expression *expression, *left;
	const struct elog_expression *expressions[1];
	struct elog_predicate *predicate;
	struct elog_filter *filter;
	bool whole = false, kernel, incompatible = false;
	int ret, bound;

	check(!elog_expression_parse(text, &expression, NULL));
	expressions[0] = expression;
	bound = elog_expression_bind(expression, event, &predicate, NULL);
	if (!bound)
		whole = elog_predicate_match(predicate, item, comm);
	elog_predicate_free(predicate);
	counts->whole_true += whole;
	ret = elog_expression_compile(expressions, 1, 0, &filter, NULL);
	elog_expression_free(expression);
	if (ret) {
		check_equal(ret, -ENOENT);
		counts->nothing++;
		return;
	}
	check_equal(check_filter(filter->filter), 0);
	kernel = record_filter_holds(filter->filter, event, item, comm, &incompatible);
	counts->filter_true += kernel;
	counts->filter_false += !kernel;
	counts->exact += filter->exact;
	counts->incompatible += incompatible;
	if (whole && !kernel)
		fail(__FILE__, __LINE__, "%s is true, but not %s", text, filter->text);
	if (filter->exact && bound != -EINVAL && whole != kernel)
		fail(__FILE__, __LINE__, "%s is %d, and %d for the filter", text, whole, kernel);
	if (record_filter_fits(filter->filter, event) && incompatible)
		fail(__FILE__, __LINE__, "%s fits, but not always", text);
	/* The filter's text means the same. */
	ret = elog_expression_parse(filter->text, &left, NULL);
	check_equal(ret, 0);
	if (!ret && !elog_expression_bind(left, event, &predicate, NULL)) {
		if (elog_predicate_match(predicate, item, comm) != kernel)
			fail(__FILE__, __LINE__, "%s is left of %s: it is not %d", filter->text,
			     text, kernel);
		elog_predicate_free(predicate);
	}
	elog_expression_free(left);
	elog_filter_free(filter);
}

static void test_random(void)
{
	struct elog_item item = {
		.cpu = 3, .pid = 100, .tid = 101, .session = 0x8000000000000001,
		.time = 7000000001,
	};
	struct outcome_counts counts = { 0 };
	struct elog_schema_error error;
	struct elog_text text = { 0 };
	struct elog_schema *schema;
	unsigned char payload[512], *copy;
	unsigned int i;
	size_t size;

	if (elog_schema_parse(schema_text, sizeof(schema_text) - 1, &schema, &error)) {
		fail(__FILE__, __LINE__, "line %u: %s", error.line, error.message);
		return;
	}
	for (i = 0; i < 60000; i++) {
		text.size = 0;
		put_random_expression(&text, (unsigned int)random_number(5), fields,
				      ELOG_ARRAY_SIZE(fields));
		size = random_payload(payload, sizeof(payload));
		/* Some payloads are cut. Sanitizers find reads behind the copy. */
		if (!random_number(10))
			size = random_number(size + 1);
		copy = malloc(size + !size);
		memcpy(copy, payload, size);
		item.payload = copy;
		item.payload_size = size;
		check_implied(text.data, schema->providers[0]->events[0], &item, &counts);
		free(copy);
	}
	printf("# %u exact, %u true, %u kept, %u rejected, %u not for the kernel, "
	       "%u incompatible\n", counts.exact, counts.whole_true, counts.filter_true,
	       counts.filter_false, counts.nothing, counts.incompatible);
	check(counts.exact > 5000 && counts.whole_true > 5000 && counts.filter_true > 5000 &&
	      counts.filter_false > 5000 && counts.nothing > 1000 &&
	      counts.incompatible > 5000);
	elog_schema_free(schema);
	elog_text_free(&text);
}

/* ------------------------------------------------------------------------
 * Markers, and hostile filters
 */

/* A marker that fires. */
static const unsigned char marker_types[] = {
	ELOG_MARKER_U8, ELOG_MARKER_STRING, ELOG_MARKER_STRING, ELOG_MARKER_S64,
	ELOG_MARKER_U32, ELOG_MARKER_S8, ELOG_MARKER_BOOL, ELOG_MARKER_PTR,
};
static char marker_names[][5] = { "a", "text", "null", "d", "e", "g", "yes", "ptr" };
static char *marker_name_list[ELOG_ARRAY_SIZE(marker_types)];

static const struct elog_marker_fields marker_fields = {
	marker_types, marker_name_list, ELOG_ARRAY_SIZE(marker_types),
};
static const struct eventlog_subject marker_subject = { elog_marker_field_find, &marker_fields };

static bool marker_fits(const struct elog_filter *filter)
{
	const struct eventlog_terms terms = terms_of_filter(filter->filter);

	return eventlog_terms_fit(&terms, &marker_subject);
}

static enum eventlog_verdict marker_evaluate(const struct eventlog_filter *filter,
					     const uint64_t *values)
{
	const struct eventlog_identity identity = {
		.cpu = 2, .pid = 10, .tid = 11, .comm = "marker\0\0\0\0\0\0\0\0\0",
	};
	const struct eventlog_operands operands = { .values = values };
	const struct eventlog_terms terms = terms_of_filter(filter);
	struct eventlog_test tests[EVENTLOG_TERMS_MAX] = { 0 };

	eventlog_terms_bind(&terms, &marker_subject, tests);
	return eventlog_tests_evaluate(tests, terms.count, &operands, &identity);
}

static bool marker_holds(const struct elog_filter *filter, const uint64_t *values)
{
	return marker_evaluate(filter->filter, values) == EVENTLOG_VERDICT_TRUE;
}

static void name_marker_fields(void)
{
	unsigned int i;

	for (i = 0; i < ELOG_ARRAY_SIZE(marker_types); i++)
		marker_name_list[i] = marker_names[i];
}

static void test_markers(void)
{
	static const struct {
		const char *text;
		bool fits, holds;
	} cases[] = {
		{ "a == 255", true, true }, { "a == 0x1ff", true, false },
		{ "a > 254", true, true },
		{ "text == abcd", true, true }, { "text ~ \"^abc\"", true, true },
		{ "text", true, true }, { "text != abcd", true, false },
		{ "text !~ \"^abcde\"", true, true }, { "text == 5", true, false },
		{ "null == \"(null)\"", true, true },
		{ "d == -5", true, true }, { "d < 0", true, true }, { "d & 8", true, true },
		{ "e == 0xfffffffb", true, true }, { "e < 0", true, false },
		{ "g == -128", true, true }, { "g < -127", true, true },
		{ "yes == 1", true, true }, { "yes == true", false, false },
		{ "ptr > 4096", true, true }, { "!ptr", true, false },
		{ "cpu == 2 && @pid == 10 && tid == 11", true, true },
		{ "comm == marker", true, true }, { "session == 0", true, true },
		{ "missing == 1", false, false }, { "missing != 1", false, false },
		{ "!(missing == 1)", false, true }, { "text > 5", false, false },
		{ "text & 1", false, false }, { "a ~ \"^x\"", false, false },
		{ "a == x", false, false }, { "a != x", false, false },
		{ "a == 255 || missing", false, true },
	};
	static char longest[300];
	uint64_t values[] = {
		0x1234ff, (uintptr_t)"abcd", 0, (uint64_t)-5, (uint64_t)-5, 0x80, 0x101, 1 << 20,
	};
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE), i;
	enum eventlog_verdict verdict;
	struct elog_filter *filter;
	char text[300];
	char *page;

	name_marker_fields();
	for (i = 0; i < ELOG_ARRAY_SIZE(cases); i++) {
		check_equal(compile(cases[i].text, ELOG_FILTER_WHOLE, &filter, NULL), 0);
		if (marker_fits(filter) != cases[i].fits)
			fail(__FILE__, __LINE__, "%s: it fits: %d", cases[i].text,
			     !cases[i].fits);
		verdict = marker_evaluate(filter->filter, values);
		if ((verdict == EVENTLOG_VERDICT_TRUE) != cases[i].holds)
			fail(__FILE__, __LINE__, "%s is %d", cases[i].text, !cases[i].holds);
		check(verdict != EVENTLOG_VERDICT_INCOMPATIBLE || !cases[i].fits);
		elog_filter_free(filter);
	}
	/* A string without an end, as long as the longest value. */
	memset(longest, 'x', sizeof(longest));
	values[1] = (uintptr_t)longest;
	snprintf(text, sizeof(text), "text == %.255s", longest);
	check_equal(compile(text, ELOG_FILTER_WHOLE, &filter, NULL), 0);
	check(!marker_holds(filter, values));
	longest[255] = '\0';
	check(marker_holds(filter, values));
	elog_filter_free(filter);
	/* The NUL is the last byte of readable memory. */
	page = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(page != MAP_FAILED && !mprotect(page + bytes, bytes, PROT_NONE));
	values[1] = (uintptr_t)strcpy(page + bytes - sizeof("tea"), "tea");
	check_equal(compile("text == tea || text ~ \"^teas\"", ELOG_FILTER_WHOLE, &filter, NULL), 0);
	check(marker_holds(filter, values));
	elog_filter_free(filter);
	munmap(page, 2 * bytes);
}

/* No filter that is accepted does harm. The sizes are exact, for sanitizers. */
static void test_hostile(void)
{
	static const char text[] =
		"a == 10.1.2.3 && (text ~ \"^abc\" || null == 00:11:22:33:44:55) && !(d & 7) && "
		"pid == 1 && e != 1::2 && g < -5";
	const uint64_t values[] = {
		1, (uintptr_t)"abcd", 0, (uint64_t)-5, 77, 0x80, 1, 5,
	};
	unsigned int accepted = 0, tries = 100000, i, changes;
	struct eventlog_filter damaged;
	struct elog_filter *filter;
	size_t terms_size;
	char *terms, *pool;

	name_marker_fields();
	check_equal(compile(text, ELOG_FILTER_WHOLE, &filter, NULL), 0);
	damaged = *filter->filter;
	terms_size = damaged.term_count * sizeof(struct eventlog_term);
	terms = malloc(terms_size);
	pool = malloc(damaged.pool_size);
	damaged.terms = (uintptr_t)terms;
	damaged.pool = (uintptr_t)pool;
	for (i = 0; i < tries; i++) {
		memcpy(terms, terms_of(filter), terms_size);
		memcpy(pool, pool_of(filter), damaged.pool_size);
		for (changes = 1 + (unsigned int)random_number(3); changes; changes--) {
			if (random_number(4))
				terms[random_number(terms_size)] =
					(char)random_number(random_number(2) ? 8 : 256);
			else
				pool[random_number(damaged.pool_size)] =
					(char)random_number(256);
		}
		if (check_filter(&damaged))
			continue;
		accepted++;
		marker_evaluate(&damaged, values);
	}
	check(accepted > tries / 10 && accepted < tries / 10 * 9);
	free(terms);
	free(pool);
	elog_filter_free(filter);
}

int main(void)
{
	static const struct test tests[] = {
		{ "terms", test_terms },
		{ "what is left of expressions", test_splitting },
		{ "several expressions", test_several },
		{ "limits", test_limits },
		{ "random expressions and events", test_random },
		{ "markers", test_markers },
		{ "hostile filters", test_hostile },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
