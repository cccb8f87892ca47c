// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of expressions: their meaning, error messages with positions, and that no text
 * and no payload does harm. Random expressions are compared with an evaluator of
 * expression trees that shares no code with the library. Prints TAP. Buffers have
 * exactly the given size, so that sanitizers find overruns.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "util/tap.h"
#include "util/text.h"
#include "util/test_random.h"
#include "util/util.h"

static const char schema_text[] =
	"eventlog 1\n"
	"provider tcp.v-2\n"
	"keyword conn 0x1\n"
	"keyword data 0x6\n"
	"enum state\n"
	"	1 ESTABLISHED\n"
	"	8 CLOSE_WAIT\n"
	"	-2 BROKEN\n"
	"flags tcpflags\n"
	"	0 NONE\n"
	"	1 FIN\n"
	"	2 SYN\n"
	"	0x30 ECN\n"
	"event 1 all notice conn\n"
	"	u8 byte\n"
	"	u16 half\n"
	"	u32 word\n"
	"	u64 whole\n"
	"	s8 sbyte\n"
	"	s16 shalf\n"
	"	s32 sword\n"
	"	s64 swhole\n"
	"	bool yes\n"
	"	bool no\n"
	"	enum:state:s8 state\n"
	"	flags:tcpflags:u16 flags\n"
	"	ipv4 source\n"
	"	ipv6 mapped\n"
	"	ipv6 six\n"
	"	port port\n"
	"	mac mac\n"
	"	duration took\n"
	"	time when\n"
	"	ptr sk\n"
	"	char[4] chars\n"
	"	u8[3] octets\n"
	"	struct:key:2 key\n"
	"	string path\n"
	"	bytes raw\n"
	"	string:rel empty\n"
	"	bytes:rel none\n"
	"	char[3] zero\n"
	"	u8[2] zeroes\n"
	"	u8 level\n"
	"event 2 bare error -\n"
	"event 3 other info 0x100\n"
	"	string word\n";

static struct elog_schema *schema;
static const struct elog_schema_event *all, *bare, *other;
static unsigned char payload[1024];
static size_t payload_size;
static struct elog_item item;

static void compose(void)
{
	struct elog_payload composed;
	ssize_t size;

	elog_payload_init(&composed, payload, sizeof(payload));
	elog_payload_u8(&composed, 200);
	elog_payload_u16(&composed, 0);
	elog_payload_u32(&composed, 65536);
	elog_payload_u64(&composed, UINT64_MAX);
	elog_payload_u8(&composed, (uint8_t)-100);
	elog_payload_u16(&composed, 1000);
	elog_payload_u32(&composed, (uint32_t)-1);
	elog_payload_u64(&composed, (uint64_t)INT64_MIN);
	elog_payload_u8(&composed, 2);
	elog_payload_u8(&composed, 0);
	elog_payload_u8(&composed, 8);
	elog_payload_u16(&composed, 0x22);
	elog_payload_raw(&composed, "\x0a\x01\x02\x03", 4);
	elog_payload_raw(&composed, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16);
	elog_payload_raw(&composed, "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	elog_payload_raw(&composed, "\x01\xbb", 2);
	elog_payload_raw(&composed, "\0\x11\x22\xaa\xbb\xcc", 6);
	elog_payload_u64(&composed, 1500000);
	elog_payload_u64(&composed, 5000000000);
	elog_payload_u64(&composed, 0xffff888000000000);
	elog_payload_chars(&composed, "abcd", 4);
	elog_payload_raw(&composed, "\x0a\0\xff", 3);
	elog_payload_raw(&composed, "\0\1", 2);
	elog_payload_string(&composed, "/api/v1 \"x\"\n");
	elog_payload_bytes(&composed, "\xde\xad", 2);
	elog_payload_string_rel(&composed, "");
	elog_payload_bytes_rel(&composed, NULL, 0);
	elog_payload_chars(&composed, "", 3);
	elog_payload_raw(&composed, "\0\0", 2);
	elog_payload_u8(&composed, 77);
	size = elog_payload_end(&composed);
	payload_size = (size_t)size;
	memset(&item, 0, sizeof(item));
	item.cpu = 3;
	item.pid = 100;
	item.tid = 101;
	item.session = 0x8000000000000001;
	item.time = 7000000001;
}

/* The result of an expression: a match or not, or an error. */
enum answer {
	NO,
	YES,
	NEVER,		/* -ENOENT: it cannot match this event */
	INCOMPATIBLE,	/* -EINVAL of elog_expression_bind() */
	MALFORMED,	/* -EINVAL of elog_expression_parse() */
};

static enum answer evaluate(const char *text, const struct elog_schema_event *event,
			    const void *data, size_t size,
			    struct elog_expression_error *error)
{
	struct elog_expression *expression;
	struct elog_predicate *predicate;
	void *exact = malloc(size + !size);
	enum answer answer;
	int ret;

	memset(error, 0, sizeof(*error));
	ret = elog_expression_parse(text, &expression, error);
	if (ret) {
		check_equal(ret, -EINVAL);
		check(!expression);
		free(exact);
		return MALFORMED;
	}
	ret = elog_expression_bind(expression, event, &predicate, error);
	if (ret) {
		check(ret == -EINVAL || ret == -ENOENT);
		check(!predicate);
		answer = ret == -EINVAL ? INCOMPATIBLE : NEVER;
	} else {
		memcpy(exact, data, size);
		item.payload = exact;
		item.payload_size = size;
		answer = elog_predicate_match(predicate, &item, "some (comm)") ?
			 YES : NO;
		if (!elog_predicate_needs_comm(predicate))
			check_equal(elog_predicate_match(predicate, &item, NULL),
				    answer);
		elog_predicate_free(predicate);
	}
	elog_expression_free(expression);
	free(exact);
	return answer;
}

struct question {
	const char *text;
	enum answer answer;
};

static void check_answers(const struct elog_schema_event *event,
			  const struct question *questions, size_t count)
{
	struct elog_expression_error error;
	enum answer answer;
	size_t i;

	for (i = 0; i < count; i++) {
		answer = evaluate(questions[i].text, event, payload, payload_size,
				  &error);
		if (answer != questions[i].answer)
			fail(__FILE__, __LINE__, "%s: %d, not %d: column %u: %s",
			     questions[i].text, answer, questions[i].answer,
			     error.column, error.message);
	}
}

static void test_operators(void)
{
	static const struct question questions[] = {
		/* A field alone: true if not 0 or not empty. */
		{ "byte", YES }, { "half", NO }, { "sbyte", YES },
		{ "yes", YES }, { "no", NO }, { "state", YES },
		{ "flags", YES }, { "source", YES }, { "six", YES },
		{ "mac", YES }, { "took", YES }, { "sk", YES }, { "port", YES },
		{ "chars", YES }, { "octets", YES }, { "key", YES },
		{ "path", YES }, { "raw", YES }, { "empty", NO },
		{ "none", NO }, { "zero", NO }, { "zeroes", NO },
		/* Integers. */
		{ "byte == 200", YES }, { "byte != 200", NO },
		{ "byte < 200", NO }, { "byte <= 200", YES },
		{ "byte > 199", YES }, { "byte >= 201", NO },
		{ "byte == 0xc8", YES }, { "byte == 0200", YES },
		{ "byte & 0x8", YES }, { "byte & 0x7", NO }, { "byte & 7|8", YES },
		{ "byte < 256", YES }, { "byte > 256", NO }, { "byte != 456", YES },
		{ "byte > -1", YES }, { "byte >= -1", YES }, { "byte == -1", NEVER },
		{ "byte != -1", YES }, { "byte < -1", NEVER }, { "byte < 0", NEVER },
		{ "whole == 18446744073709551615", YES },
		{ "whole > 18446744073709551615", NEVER },
		{ "whole >= 0xffffffffffffffff", YES }, { "whole > -5", YES },
		{ "whole == -1", NEVER }, { "whole <= 18446744073709551614", NO },
		{ "sbyte == -100", YES }, { "sbyte < -99", YES },
		{ "sbyte >= -100", YES }, { "sbyte > 0", NO }, { "sbyte < 156", YES },
		{ "sbyte == 156", NO }, { "shalf == 1000", YES },
		{ "sword == -1", YES }, { "sword == 4294967295", NO },
		{ "swhole == -9223372036854775808", YES },
		{ "swhole < -9223372036854775808", NEVER },
		{ "swhole < 9223372036854775808", YES },
		{ "swhole <= 18446744073709551615", YES },
		{ "swhole > 9223372036854775808", NEVER },
		{ "swhole >= 9223372036854775808", NEVER },
		{ "swhole != 9223372036854775808", YES },
		{ "swhole == 9223372036854775808", NEVER },
		{ "swhole < 0", YES }, { "swhole <= -0", YES },
		/* Units. */
		{ "word == 64K", YES }, { "word < 1M", YES }, { "word < 1G", YES },
		{ "word == 0.0625M", YES }, { "took == 1500us", YES },
		{ "took == 1.5ms", YES }, { "took == 1500000ns", YES },
		{ "took < 1s", YES }, { "when == 5s", YES }, { "took == 0.0015s", YES },
		{ "took == 1.500000000000ms", YES },
		{ "took < 1h30m", YES }, { "took > 5minutes", NO }, { "took < 1.5d", YES },
		{ "took == 1ms500us", YES }, { "took < 0.00149999s", NO }, { "sbyte > -1K", YES },
		/* Names. */
		{ "yes == true", YES }, { "yes == 1", YES }, { "yes != false", YES },
		{ "no == false", YES }, { "no != 0", NO }, { "no != true", YES },
		{ "state == CLOSE_WAIT", YES }, { "state != CLOSE_WAIT", NO },
		{ "state == \"CLOSE_WAIT\"", YES }, { "state == 8", YES },
		{ "state > BROKEN", YES }, { "state < ESTABLISHED", NO },
		{ "state == -2", NO }, { "state & ESTABLISHED", NO },
		{ "state & CLOSE_WAIT", YES },
		{ "flags & SYN", YES }, { "flags & FIN", NO }, { "flags & ECN", YES },
		{ "flags & FIN|SYN", YES }, { "flags & 0x3", YES },
		{ "flags & FIN|0x20", YES }, { "flags == SYN", NO },
		{ "flags == SYN|0x20", YES }, { "flags == 34", YES },
		{ "flags != SYN|ECN", YES }, { "flags != NONE", YES },
		{ "flags > SYN", YES }, { "flags & \"SYN\"", MALFORMED },
		/* Addresses. */
		{ "source == 10.1.2.3", YES }, { "source == \"10.1.2.3\"", YES },
		{ "source == 10.0.0.0/8", YES }, { "source == 10.9.9.9/8", YES },
		{ "source == 11.0.0.0/8", NO }, { "source != 11.0.0.0/8", YES },
		{ "source == 10.1.2.2/31", YES }, { "source == 10.1.2.2/32", NO },
		{ "source == 0.0.0.0/0", YES }, { "source == ::ffff:10.1.2.3", YES },
		{ "source == ::1", NO }, { "source != ::1", YES },
		{ "mapped == 127.0.0.1", YES }, { "mapped == 127.0.0.0/8", YES },
		{ "mapped == ::ffff:127.0.0.1", YES }, { "mapped == 0.0.0.0/0", YES },
		{ "six == 2001:db8::1", YES }, { "six == 2001:db8::/32", YES },
		{ "six == 2001:db9::/32", NO }, { "six == 2001:db8::/31", YES },
		{ "six == ::/0", YES }, { "six == 0.0.0.0/0", NO },
		{ "six != 1.2.3.4", YES }, { "six == 2001:db8::/127", YES },
		{ "six==2001:db8::1&&source==10.0.0.0/8", YES },
		{ "mac == 00:11:22:aa:bb:cc", YES }, { "mac == 00:11:22:AA:BB:CC", YES },
		{ "mac != 00:11:22:aa:bb:cd", YES }, { "mac == \"00:11:22:aa:bb:cc\"", YES },
		{ "port == 443", YES }, { "port < 1024", YES }, { "port & 1", YES },
		{ "sk > 0xffff880000000000", YES },
		/* Text and bytes. */
		{ "chars == abcd", YES }, { "chars == \"abcd\"", YES },
		{ "chars != abc", YES }, { "chars ~ bc", YES }, { "chars ~ \"^b\"", NO },
		{ "chars ~ \"^a\"", YES }, { "chars ~ \"d$\"", YES },
		{ "chars ~ \"^abcd$\"", YES }, { "chars ~ \"^abc$\"", NO },
		{ "chars ~ \"[x-z]|b.d\"", YES }, { "chars !~ \"b.d$\"", NO },
		{ "chars !~ \"c.d$\"", YES }, { "chars ~ \"\"", YES },
		{ "path ~ \"/api\"", YES }, { "path ~ /api", YES },
		{ "path == \"/api/v1 \\\"x\\\"\\n\"", YES },
		{ "path == \"/api/v1 \\x22\\x78\\\"\\x0A\"", YES },
		{ "path ~ \"^/[a-z]+/v[0-9]{1,2} \"", YES }, { "path ~ \"\\\\.\"", NO },
		{ "path ~ \"(^|x)/api\"", YES }, { "path !~ nothing", YES },
		{ "path ~ \"^$\"", NO }, { "empty ~ \"^$\"", YES },
		{ "empty == \"\"", YES }, { "empty ~ \"x*\"", YES },
		{ "path ~ \"[[:alpha:]]/v\"", YES },
		{ "path ~ \"[[:alpha:]{99}{99}]\"", YES }, { "path ~ \"[]a]pi\"", YES },
		{ "raw == dead", YES }, { "raw == \"DEAD\"", YES }, { "raw != de", YES },
		{ "raw == deadde", NO }, { "none == \"\"", YES }, { "none != \"\"", NO },
		{ "octets == 0a00ff", YES }, { "key == 0001", YES }, { "key != 0001", NO },
		/* Metadata; a field hides metadata of the same name. */
		{ "cpu == 3", YES }, { "pid == 100 && tid == 101", YES },
		{ "session > 9223372036854775807", YES }, { "session & 1", YES },
		{ "session", YES }, { "time >= 7s && time < 7.1s", YES },
		{ "comm == \"some (comm)\"", YES }, { "comm ~ some", YES },
		{ "comm !~ \"^s.me\"", NO }, { "comm", YES }, { "@comm != x", YES },
		{ "level == 77", YES }, { "@level == notice", YES },
		{ "@level == 4", YES }, { "@level <= warning", NEVER },
		{ "@level > warning", YES }, { "@level", YES },
		{ "keywords & conn", YES }, { "keywords & data", NEVER },
		{ "keywords & conn|data", YES }, { "keywords & data|0x1", YES },
		{ "keywords == conn", YES }, { "keywords != 1", NEVER },
		{ "keywords & elsewhere", NEVER }, { "keywords", YES },
		{ "!(keywords & elsewhere)", YES },
		{ "provider == tcp.v-2", YES }, { "provider ~ \"^tcp\"", YES },
		{ "provider == \"tcp*\"", NEVER }, { "provider != tcp", YES },
		{ "event == all", YES }, { "event ~ ^", MALFORMED },
		{ "@event !~ \"a.l\"", NEVER }, { "provider", YES },
		/* Missing fields. */
		{ "nothing", NEVER }, { "!nothing", YES }, { "nothing == 1", NEVER },
		{ "nothing != 1", NEVER }, { "nothing !~ x", NEVER },
		{ "!(nothing != 1)", YES }, { "nothing || byte == 200", YES },
		{ "nothing && byte < \"x\"", MALFORMED },
		{ "nothing && chars < 3", NEVER }, { "chars < 3 && nothing", NEVER },
		{ "provider == udp && state == LISTEN", NEVER },
		{ "state == LISTEN && provider == udp", NEVER },
		{ "provider == tcp.v-2 || state == LISTEN", YES },
		{ "provider == tcp.v-2 && state == LISTEN", INCOMPATIBLE },
		/* Logic. */
		{ "byte == 200 && half == 0 && word", YES },
		{ "half || no || byte", YES }, { "half || no && byte", NO },
		{ "byte || no && half", YES }, { "(byte || no) && half", NO },
		{ "half && byte || word", YES }, { "half && (byte || word)", NO },
		{ "!half", YES }, { "!!half", NO }, { "!(!byte || half)", YES },
		{ "!(byte && half)", YES }, { "!byte && half", NO },
		{ "!(byte==200)||!(half)", YES }, { " \t( (byte)\n)\r\n", YES },
		{ "byte==200&&half!=1||no", YES },
		{ "byte&8&&byte&64", YES },
	};

	check_answers(all, questions, ELOG_ARRAY_SIZE(questions));
}

static void test_other_events(void)
{
	static const struct question on_bare[] = {
		{ "level == error", YES }, { "level <= warning", YES },
		{ "level > error", NEVER }, { "keywords", NEVER },
		{ "keywords == 0", YES }, { "event == bare", YES },
		{ "byte != 1", NEVER }, { "cpu < 4", YES }, { "comm ~ some", YES },
	}, on_other[] = {
		{ "word == 64K", NO }, { "word == x", NO }, { "word > 3", INCOMPATIBLE },
		{ "word > 3 && event == all", NEVER }, { "event == all && word > 3", NEVER },
		{ "event == other && word > 3", INCOMPATIBLE }, { "keywords & 256", YES },
		{ "keywords & conn", NEVER },
	};
	struct elog_expression_error error;

	check_answers(bare, on_bare, ELOG_ARRAY_SIZE(on_bare));
	/* The only field of this event: 2 bytes at offset 4, "x". */
	check_equal(evaluate("word == x", other, "\4\0\2\0x", 6, &error), YES);
	check_equal(evaluate("word ~ \"^x$\"", other, "\4\0\2\0x", 6, &error), YES);
	check_equal(evaluate("word != x", other, "\4\0\2\0x", 6, &error), NO);
	/* Outside the payload, unterminated or truncated: it counts as missing. */
	check_equal(evaluate("word != x", other, "\4\0\3\0x", 6, &error), NO);
	check_equal(evaluate("!(word != x)", other, "\4\0\3\0x", 6, &error), YES);
	check_equal(evaluate("word !~ y || word", other, "\4\0\1\0x", 6, &error), NO);
	check_equal(evaluate("word !~ y.* || word", other, "\4\0", 2, &error), MALFORMED);
	check_equal(evaluate("word !~ \"y.*\" || word", other, "\4\0", 2, &error), NO);
	check_equal(evaluate("byte > -1", all, "", 0, &error), NO);
	check_equal(evaluate("byte > -1 && half == 0", all, payload, 2, &error), NO);
	check_equal(evaluate("byte > -1 && half == 0", all, payload, 3, &error), YES);
	check_equal(evaluate("mac != 00:00:00:00:00:00", all, payload, 50, &error), NO);
	check_equal(evaluate("!(six == ::1)", all, payload, 50, &error), YES);
	check_answers(other, on_other, ELOG_ARRAY_SIZE(on_other));
}

static void test_errors(void)
{
	static const struct {
		const char *text;
		unsigned int column;
		const char *message;
	} malformed[] = {
		{ "", 1, "the expression is empty" },
		{ "  ", 1, "the expression is empty" },
		{ "a ==", 5, "the end, expected a value behind ==" },
		{ "a == )", 6, "')', expected a value behind ==" },
		{ "a == == 1", 6, "'==', expected a value behind ==" },
		{ "a &&", 5, "the end, expected a field's name" },
		{ "a && && b", 6, "'&&', expected a field's name" },
		{ "a || || b", 6, "'||', expected a field's name" },
		{ "|| a", 1, "'||', expected a field's name" },
		{ "1 < a", 1, "'1', expected a field's name" },
		{ "a-b", 1, "'a-b', expected a field's name" },
		{ "\"a\" == b", 1, "a string, expected a field's name" },
		{ "10.0.0.1", 1, "'10.0.0.1', expected a field's name" },
		{ "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeee-", 1,
		  "'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...', expected" },
		{ "@nothing == 1", 1, "'@nothing', expected the name of metadata" },
		{ "@ == 1", 1, "'@', expected the name of metadata" },
		{ "a b", 3, "'b', expected an operator or the end" },
		{ "a == 1 2", 8, "'2', expected an operator or the end" },
		{ "a == 1 \"x\"", 8, "a string, expected an operator or the end" },
		{ "(a", 3, "the end, expected an operator or ')'" },
		{ "(a b)", 4, "'b', expected an operator or ')'" },
		{ "a)", 2, "')', expected an operator or the end" },
		{ "()", 2, "')', expected a field's name" },
		{ "a < 3 < 4", 7, "'<', expected an operator or the end" },
		{ "a = 1", 3, "'=' is not an operator, use '=='" },
		{ "a | b", 3, "'|' is not an operator, use '||'" },
		{ "a == 1 | 2", 8, "'|' is not an operator, use '||'" },
		{ "a == $x", 6, "'$' is unexpected" },
		{ "a == 'x'", 6, "''' is unexpected" },
		{ "a == \033", 6, "the byte 0x1b is unexpected" },
		{ "a == \303\244", 6, "the byte 0xc3 is unexpected" },
		{ "!a == 1", 4, "'!' before a comparison needs parentheses: !(... == ...)" },
		{ "a && !b ~ c", 9, "'!' before a comparison needs parentheses" },
		{ "a == \"x", 6, "the string is not terminated" },
		{ "a == \"x\\\"", 6, "the string is not terminated" },
		{ "a == \"x\\", 8, "may follow a backslash" },
		{ "a == \"x\\q\"", 8, "only \\\", \\\\, \\n, \\t and \\xNN may follow" },
		{ "a == \"\\x4\"", 7, "\\x needs two hexadecimal digits" },
		{ "a == \"\\xg0\"", 7, "\\x needs two hexadecimal digits" },
		{ "a == \"\\x", 7, "\\x needs two hexadecimal digits" },
		{ "a == \"b\\x00\"", 8, "strings cannot contain a NUL" },
		{ "a < \"x\"", 5, "< is not for strings" },
		{ "a >= \"x\"", 6, ">= is not for strings" },
		{ "a & \"x\"", 5, "& is not for strings" },
		{ "a < 5x", 5, "'5x' is not a number" },
		{ "a < 0x", 5, "'0x' is not a number" },
		{ "a < 0x1K", 5, "'0x1K' is not a number" },
		{ "a < 0.3K", 5, "'0.3K' is not a number" },
		{ "a < 1.0000000001s", 5, "'1.0000000001s' is not a number" },
		{ "a < -", 5, "'-' is not a number" },
		{ "a < 5mm", 5, "'5mm' is not a number" },
		{ "a < 1h30", 5, "'1h30' is not a number" },
		{ "a < 30501w", 5, "'30501w' is not a number" },
		{ "a < 10.0.0.1", 5, "'10.0.0.1' is not a number" },
		{ "a < --1", 5, "'--1' is not a number" },
		{ "a < 18446744073709551616", 5, "'18446744073709551616' is not a number" },
		{ "a < -9223372036854775809", 5, "is not a number" },
		{ "a < 17179869184G", 5, "'17179869184G' is not a number" },
		{ "a < 18446744073709551615.5s", 5, "is not a number" },
		{ "a ~ \"(\"", 5, "the regular expression is wrong: " },
		{ "a ~ \"[\"", 5, "the regular expression is wrong: " },
		{ "a ~ \"[[:x\"", 5, "the regular expression is wrong: " },
		{ "a ~ \"x\\\\\"", 5, "the regular expression is wrong: " },
		{ "a ~ \"(a)\\\\1\"", 5, "back-references are not supported" },
		{ "a ~ \"(x{99}){99}\"", 5, "the regular expression repeats too much" },
		{ "a ~ \"x{99}{99}\"", 5, "the regular expression repeats too much" },
		{ "a ~ \"x{2,}{2,}{2,}{2,}{2,}{2,}{2,}\"", 5,
		  "the regular expression repeats too much" },
		{ "a ~ \"((((((((((x+)+)+)+)+)+)+)+)+)+)+\"", 5,
		  "the regular expression repeats too much" },
		{ "a ~ \"((((((((((((((((((((((((((((((((((x\"", 5,
		  "the regular expression is nested too deep" },
	}, incompatible[] = {
		{ "byte == x", 9, "byte is u8: 'x' is not a number" },
		{ "byte == \"1\"", 9, "byte is u8: the string is not a number" },
		{ "byte == true", 9, "byte is u8: 'true' is not a number" },
		{ "byte < 1.5", 8, "byte is u8: '1.5' is not a number" },
		{ "byte == 1.5", 9, "byte is u8: '1.5' is not a number" },
		{ "byte < ESTABLISHED", 8, "byte is u8: 'ESTABLISHED' is not a number" },
		{ "word == 18446744073709551616", 9,
		  "word is u32: '18446744073709551616' is not a 64-bit number" },
		{ "byte ~ 2", 8, "byte is u8: ~ is not supported" },
		{ "byte & x", 8, "byte is u8: 'x' is not a mask" },
		{ "byte & -1", 8, "byte is u8: '-1' is not a mask" },
		{ "byte & 1|", 8, "byte is u8: '1|' is not a mask" },
		{ "byte & 0", 8, "byte is u8: '0' has no bits" },
		{ "yes == 2", 8, "yes is bool: '2' is not true or false" },
		{ "yes < 1", 7, "yes is bool: < is not supported" },
		{ "yes & 1", 7, "yes is bool: & is not supported" },
		{ "state == LISTEN", 10, "state is enum:state:s8: 'LISTEN' is not one of its names" },
		{ "state == \"x\ny\"", 10, "state is enum:state:s8: the string is not one of its names" },
		{ "state == 8x", 10, "state is enum:state:s8: '8x' is not a number" },
		{ "state ~ CLOSE", 9, "state is enum:state:s8: ~ is not supported" },
		{ "state & 1|BROKEN", 9, "state is enum:state:s8: '1|BROKEN' is not one of its names" },
		{ "flags & SYN|RST", 9, "flags is flags:tcpflags:u16: 'RST' is not one of its names" },
		{ "flags & NONE", 9, "'NONE' has no bits" },
		{ "flags & SY", 9, "'SY' is not one of its names" },
		{ "state == CLOSE_", 10, "'CLOSE_' is not one of its names" },
		{ "state == CLOSE_WAITS", 10, "is not one of its names" },
		{ "flags == \"34\"", 10, "the string is not a number" },
		{ "flags == \"x\"", 10, "the string is not a list of its names" },
		{ "flags & 1x", 9, "flags is flags:tcpflags:u16: '1x' is not a mask" },
		{ "flags !~ SYN", 10, "!~ is not supported" },
		{ "source == 10.0.0", 11, "source is ipv4: '10.0.0' is not an address or a prefix" },
		{ "source == 10.0.0.0/33", 11, "is not an address or a prefix" },
		{ "source == 10.0.0.0/", 11, "is not an address or a prefix" },
		{ "source == 10.0.0.0/-1", 11, "is not an address or a prefix" },
		{ "source == 10.0.0.0/0x1", 11, "is not an address or a prefix" },
		{ "source == 10.0.0.0/1K", 11, "is not an address or a prefix" },
		{ "source < LOW", 10, "source is ipv4: < is not supported" },
		{ "six == ::/129", 8, "is not an address or a prefix" },
		{ "six == 0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0", 8,
		  "is not an address or a prefix" },
		{ "mac == 00:11:22:aa:bb", 8, "'00:11:22:aa:bb' is not an address like 00:11" },
		{ "mac == 00:11:22:aa:bb:cc:dd", 8, "is not an address like" },
		{ "mac == 0:11:22:aa:bb:cc", 8, "is not an address like" },
		{ "mac ~ 00", 7, "mac is mac: ~ is not supported" },
		{ "chars < abc", 9, "chars is char[4]: < is not supported" },
		{ "path & abc", 8, "path is string: & is not supported" },
		{ "path >= abc", 9, "path is string: >= is not supported" },
		{ "raw == abc", 8, "raw is bytes: 'abc' is not pairs of hexadecimal digits" },
		{ "raw == 0x0a", 8, "is not pairs of hexadecimal digits" },
		{ "octets ~ aa", 10, "octets is u8[3]: ~ is not supported" },
		{ "key < aa", 7, "key is struct:key:2: < is not supported" },
		{ "@level == loud", 11, "level is a level: 'loud' is not a level" },
		{ "@level ~ info", 10, "level is a level: ~ is not supported" },
		{ "keywords & 1x", 12, "keywords is a mask of keywords: '1x' is not a mask" },
		{ "keywords & 0", 12, "'0' has no bits" },
		{ "provider < tcp", 12, "provider is a name: < is not supported" },
		{ "comm & x", 8, "comm is a name: & is not supported" },
		{ "time == x", 9, "time is a time: 'x' is not a number" },
		{ "cpu == first", 8, "cpu is a number: 'first' is not a number" },
		/* The first error is reported, but none in parts that have no effect. */
		{ "byte && path < a && word < b", 16, "path is string" },
		{ "(nothing && path < a) || word < b", 33,
		  "word is u32: 'b' is not a number" },
	};
	struct elog_expression_error error;
	struct elog_expression *expression;
	enum answer answer;
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(malformed); i++) {
		answer = evaluate(malformed[i].text, all, payload, payload_size, &error);
		if (answer != MALFORMED || error.column != malformed[i].column ||
		    !strstr(error.message, malformed[i].message))
			fail(__FILE__, __LINE__, "%s: %d, column %u: %s",
			     malformed[i].text, answer, error.column,
			     error.message);
	}
	for (i = 0; i < ELOG_ARRAY_SIZE(incompatible); i++) {
		answer = evaluate(incompatible[i].text, all, payload, payload_size, &error);
		if (answer != INCOMPATIBLE || error.column != incompatible[i].column ||
		    !strstr(error.message, incompatible[i].message))
			fail(__FILE__, __LINE__, "%s: %d, column %u: %s",
			     incompatible[i].text, answer, error.column, error.message);
	}
	/* The error is optional. */
	check_equal(elog_expression_parse("a ==", &expression, NULL), -EINVAL);
	elog_expression_free(NULL);
	elog_predicate_free(NULL);
}

/* @before, @count times @part, @behind. */
static char *repeat(const char *before, const char *part, size_t count,
		    const char *behind)
{
	struct elog_text text = { 0 };

	elog_text_string(&text, before);
	for (; count; count--)
		elog_text_string(&text, part);
	elog_text_string(&text, behind);
	return text.data;
}

static void check_repeated(const char *before, const char *part, size_t count,
			   const char *behind, enum answer expected,
			   const char *message)
{
	struct elog_expression_error error;
	char *text = repeat(before, part, count, behind);
	enum answer answer;

	answer = evaluate(text, all, payload, payload_size, &error);
	if (answer != expected || !strstr(error.message, message))
		fail(__FILE__, __LINE__, "%zu times %s: %d, not %d: %s", count,
		     part, answer, expected, error.message);
	free(text);
}

static void test_limits(void)
{
	struct elog_text text = { 0 };
	struct elog_expression_error error;
	unsigned int i;

	check_repeated("", "!", 64, "byte", YES, "");
	check_repeated("", "!", 65, "byte", MALFORMED, "more than 64 '(' and '!'");
	check_repeated("", "!", 65535, "b", MALFORMED, "more than 64 '(' and '!'");
	check_repeated("", "(", 65536, "", MALFORMED, "more than 64 '(' and '!'");
	check_repeated("", "(", 65, "byte", MALFORMED, "more than 64 '(' and '!'");
	check_repeated("", "!(", 32, "byte))))))))))))))))))))))))))))))))", YES, "");
	/* A sequence is not nesting. */
	check_repeated("", "(!(half))&&", 5000, "byte", YES, "");
	check_repeated("", "no||", 16000, "byte", YES, "");
	check_repeated("", "byte&&", 10000, "half", NO, "");
	check_repeated("", "no||", 16000, "half<x", INCOMPATIBLE, "half is u16");
	check_repeated("", " ", 65532, "byte", YES, "");
	check_repeated("", " ", 65533, "byte", MALFORMED, "longer than 65536 bytes");
	check_repeated("", "x", 65536, "", NEVER, "");
	check_repeated("path==\"", "\\x41", 16382, "\"", NO, "");
	check_repeated("path==\"", "\\x41", 16382, "", MALFORMED, "not terminated");
	check_repeated("byte==", "9", 65000, "", INCOMPATIBLE, "not a 64-bit number");
	check_repeated("six==", "0:", 30000, "", INCOMPATIBLE, "not an address");
	check_repeated("flags==SYN", "|SYN", 16000, "", NO, "");
	check_repeated("path~\"", "(", 1024, "\"", MALFORMED, "nested too deep");
	check_repeated("path~\"", "a", 1025, "\"", MALFORMED, "longer than 1024");
	check_repeated("path~\".", "a", 1023, "\"", MALFORMED, "too large");
	check_repeated("path~\"", "a|", 512, "\"", MALFORMED, "too large");
	check_repeated("path~\"", "a|", 400, "x\"", YES, "");
	check_repeated("path~\"a", "*", 900, "\"", YES, "");
	check_repeated("path~\"", "[", 900, "\"", MALFORMED, "is wrong");
	check_repeated("no", "||path~\"^x\"", 63, "||path~api", YES, "");
	check_repeated("no", "||path~\"^x\"", 64, "||path~api", MALFORMED,
		       "more than 64 regular expressions");
	check_repeated("no", "||path~\"x.{900}\"", 4, "||byte", YES, "");
	check_repeated("no", "||path~\"x.{900}\"", 5, "||byte", MALFORMED,
		       "too large together");

	/* Both kinds of nesting at their maximum depth, many times. */
	for (i = 0; i < 300; i++) {
		elog_text_string(&text, i ? "||" : "");
		elog_text_string(&text, "((((((((((((((((((((((((((((((((((((((((((((((((("
				 "(((((((((((((((byte==0))))))))))))))))))))))))))))))))))))))))))))"
				 "))))))))))))))))))))");
	}
	check_equal(evaluate(text.data, all, payload, payload_size, &error), NO);
	elog_text_free(&text);
}

/* Random sequences of tokens are valid or rejected, and do no harm. */
static void test_random_texts(void)
{
	static const char *const tokens[] = {
		"byte", "sbyte", "whole", "swhole", "state", "flags", "path",
		"chars", "raw", "six", "source", "mac", "yes", "took", "octets",
		"nothing", "level", "@level", "keywords", "comm", "provider",
		"event", "cpu", "@pid", "@", "==", "!=", "<", "<=", ">", ">=",
		"~", "!~", "&", "==", "!=", "~", "!~", "&&", "||", "&&", "||",
		"!", "(", ")", "(", ")", "1", "-1", "0x7f", "5K", "1.5ms",
		"18446744073709551616", "CLOSE_WAIT", "SYN", "SYN|ECN", "warning",
		"conn", "true", "10.0.0.0/8", "::1", "::ffff:1.2.3.4/97",
		"00:11:22:aa:bb:cc", "dead", "\"\"", "\"a\\x41\"", "\"^a\"",
		"\"a.*b|c\"", "\"(\"", "\"x{2,3}\"", "\"[^a]$\"", "\"", "\\", "|",
		"=", "\033", "\377", " ", "\n",
	};
	struct elog_expression_error error;
	struct elog_text text = { 0 };
	unsigned int counts[MALFORMED + 1] = { 0 }, i, k;
	enum answer answer;
	size_t size;

	for (i = 0; i < 100000; i++) {
		text.size = 0;
		elog_text_string(&text, "");
		/* Half of them resemble comparisons. */
		for (k = 1 + (unsigned int)random_number(9); k; k--) {
			if (random_number(2)) {
				elog_text_string(&text, tokens[random_number(24)]);
				elog_text_string(&text, tokens[25 + random_number(13)]);
				elog_text_string(&text, tokens[47 + random_number(24)]);
				elog_text_string(&text, k > 1 ? tokens[38 + random_number(4)] : "");
			} else {
				elog_text_string(&text, tokens[random_number(ELOG_ARRAY_SIZE(tokens))]);
				elog_text_string(&text, random_number(3) ? " " : "");
			}
		}
		size = random_number(2) ? payload_size : random_number(payload_size);
		answer = evaluate(text.data, random_number(8) ? all : other, payload,
				  size, &error);
		counts[answer]++;
		if (answer == MALFORMED || answer == INCOMPATIBLE)
			check(error.column && error.column <= text.size + 1 &&
			      error.message[0]);
		for (size = 0; size < strlen(error.message); size++)
			check(error.message[size] >= ' ' && error.message[size] <= '~');
	}
	for (i = 0; i < ELOG_ARRAY_SIZE(counts); i++)
		check(counts[i] > 100);
	elog_text_free(&text);
}

/* Texts with random bytes, and almost valid texts. */
static void test_mutations(void)
{
	static const char good[] =
		"bytes > 1000 && (state == CLOSE_WAIT || !(flags & SYN|FIN)) && "
		"path ~ \"^/[a-z]{1,3}/\\x41\" && daddr == 10.0.0.0/8 || took < 1.5ms";
	struct elog_expression_error error;
	unsigned int i, malformed = 0;
	char copy[sizeof(good)];

	for (i = 0; i < 30000; i++) {
		memcpy(copy, good, sizeof(good));
		copy[random_number(sizeof(good) - 1)] = (char)random_number(256);
		if (random_number(2))
			copy[random_number(sizeof(good) - 1)] =
				"()!&|\"\\~<=>{}[]"[random_number(15)];
		malformed += evaluate(copy, all, payload, payload_size, &error) ==
			     MALFORMED;
	}
	check(malformed > 1000 && malformed < 29000);
}

/* ------------------------------------------------------------------------
 * The reference evaluator: it walks a tree and knows the offsets of one event's fields
 */

/* A number as sign and magnitude. */
struct plain {
	bool negative;
	uint64_t magnitude;
};

static int plain_compare(struct plain one, struct plain two)
{
	if (one.negative != two.negative)
		return one.negative ? -1 : 1;
	if (one.magnitude == two.magnitude)
		return 0;
	return (one.magnitude < two.magnitude) != one.negative ? -1 : 1;
}

static const char small_schema[] =
	"eventlog 1\n"
	"provider p\n"
	"enum e\n\t0 ZERO\n\t5 FIVE\n\t-3 LOW\n"
	"flags f\n\t1 A\n\t6 BC\n"
	"event 1 e info -\n"
	"	u8 a\n"		/* 0 */
	"	s8 b\n"		/* 1 */
	"	u64 c\n"	/* 2 */
	"	s64 d\n"	/* 10 */
	"	enum:e:s8 e\n"	/* 18 */
	"	flags:f:u8 f\n"	/* 19 */
	"	ipv4 g\n"	/* 20 */
	"	ipv6 h\n"	/* 24 */
	"	char[3] i\n"	/* 40 */
	"	string j\n";	/* 43 */

enum node_type { NODE_AND, NODE_OR, NODE_NOT, NODE_TEST };

struct node {
	enum node_type type;
	struct node *left, *right;
	char field;
	const char *operator;
	const char *value;
	struct plain number;		/* integers: the value */
	unsigned char address[16];	/* addresses: the value */
	unsigned int bits;
};

static const struct {
	const char *text;
	struct plain number;
} numbers[] = {
	{ "0", { false, 0 } }, { "1", { false, 1 } }, { "-1", { true, 1 } },
	{ "5", { false, 5 } }, { "-3", { true, 3 } }, { "127", { false, 127 } },
	{ "128", { false, 128 } }, { "-128", { true, 128 } },
	{ "0xff", { false, 255 } }, { "0x8000000000000000", { false, 1ULL << 63 } },
	{ "9223372036854775807", { false, INT64_MAX } },
	{ "-9223372036854775808", { true, 1ULL << 63 } },
	{ "18446744073709551615", { false, UINT64_MAX } },
}, names[] = {
	{ "ZERO", { false, 0 } }, { "FIVE", { false, 5 } }, { "LOW", { true, 3 } },
}, flags[] = {
	{ "A", { false, 1 } }, { "BC", { false, 6 } }, { "A|BC", { false, 7 } },
	{ "A|0x80", { false, 0x81 } },
};

static const struct {
	const char *text;
	unsigned char address[16];
	unsigned int bits;
} addresses[] = {
	{ "1.2.3.4", { [10] = 0xff, 0xff, 1, 2, 3, 4 }, 128 },
	{ "1.2.0.0/16", { [10] = 0xff, 0xff, 1, 2, 0, 0 }, 112 },
	{ "1.2.3.4/31", { [10] = 0xff, 0xff, 1, 2, 3, 4 }, 127 },
	{ "0.0.0.0/0", { [10] = 0xff, 0xff }, 96 },
	{ "::", { 0 }, 128 },
	{ "::/8", { 0 }, 8 },
	{ "1::2", { [1] = 1, [15] = 2 }, 128 },
	{ "1::/17", { [1] = 1 }, 17 },
};

static const char *const words[] = { "\"\"", "a", "ab", "abc", "b" };
static const char *const patterns[] = {
	"\"\"", "a", "\"^a\"", "\"b$\"", "\"^ab$\"", "\"a.\"", "\"^(a|b)$\"", "\"[^a]\"",
};

static struct node *random_test(void)
{
	static const char *const comparisons[] = { "==", "!=", "<", "<=", ">", ">=" };
	struct node *node = calloc(1, sizeof(*node));
	size_t i;

	node->type = NODE_TEST;
	node->field = (char)('a' + random_number(11));	/* field k does not exist */
	if (!random_number(8)) {
		node->operator = "";
		return node;
	}
	node->operator = comparisons[random_number(node->field >= 'g' ? 2 : 6)];
	switch (node->field) {
	case 'g':
	case 'h':
		i = random_number(ELOG_ARRAY_SIZE(addresses));
		node->value = addresses[i].text;
		node->bits = addresses[i].bits;
		memcpy(node->address, addresses[i].address, 16);
		break;
	case 'i':
	case 'j':
	case 'k':
		if (random_number(2)) {
			node->value = words[random_number(ELOG_ARRAY_SIZE(words))];
			break;
		}
		node->operator = random_number(2) ? "~" : "!~";
		node->value = patterns[random_number(ELOG_ARRAY_SIZE(patterns))];
		break;
	default:
		i = random_number(ELOG_ARRAY_SIZE(numbers));
		node->value = numbers[i].text;
		node->number = numbers[i].number;
		if (node->field == 'e' && random_number(2)) {
			i = random_number(ELOG_ARRAY_SIZE(names));
			node->value = names[i].text;
			node->number = names[i].number;
		} else if (node->field == 'f' && random_number(2)) {
			i = random_number(ELOG_ARRAY_SIZE(flags));
			node->value = flags[i].text;
			node->number = flags[i].number;
		}
		if (!node->number.negative && node->number.magnitude &&
		    (node->field != 'e' || node->value[0] < 'A') &&
		    !random_number(4))
			node->operator = "&";
		break;
	}
	return node;
}

static struct node *random_tree(unsigned int depth)
{
	struct node *node;
	uint64_t kind = random_number(4);

	if (!depth || kind == NODE_TEST)
		return random_test();
	node = calloc(1, sizeof(*node));
	node->type = (enum node_type)kind;
	node->left = random_tree(depth - 1);
	if (node->type != NODE_NOT)
		node->right = random_tree(depth - 1);
	return node;
}

static void free_tree(struct node *node)
{
	if (!node)
		return;
	free_tree(node->left);
	free_tree(node->right);
	free(node);
}

/* Writes mostly the necessary parentheses; @within is the enclosing operator. */
static void write_tree(struct elog_text *text, const struct node *node,
		       enum node_type within)
{
	const char *blank = random_number(2) ? " " : "";
	bool parentheses;

	switch (node->type) {
	case NODE_TEST:
		parentheses = within == NODE_NOT && *node->operator;
		break;
	case NODE_NOT:
		parentheses = false;
		break;
	case NODE_AND:
		parentheses = within == NODE_NOT;
		break;
	default:
		parentheses = within == NODE_NOT || within == NODE_AND;
		break;
	}
	parentheses |= !random_number(10);
	if (parentheses)
		elog_text_string(text, "(");
	switch (node->type) {
	case NODE_TEST:
		elog_text_put(text, &node->field, 1);
		elog_text_string(text, blank);
		elog_text_string(text, node->operator);
		elog_text_string(text, blank);
		if (node->value)
			elog_text_string(text, node->value);
		break;
	case NODE_NOT:
		elog_text_string(text, "!");
		elog_text_string(text, blank);
		write_tree(text, node->left, NODE_NOT);
		break;
	default:
		write_tree(text, node->left, node->type);
		elog_text_string(text, blank);
		elog_text_string(text, node->type == NODE_AND ? "&&" : "||");
		write_tree(text, node->right, node->type);
		break;
	}
	if (parentheses)
		elog_text_string(text, ")");
}

static bool naive_number(const struct node *node, struct plain value)
{
	int order = plain_compare(value, node->number);
	const char *operator = node->operator;

	if (!*operator)
		return value.magnitude != 0;
	if (!strcmp(operator, "&"))
		return ((value.negative ? 0 - value.magnitude : value.magnitude) &
			node->number.magnitude) != 0;
	if (!strcmp(operator, "=="))
		return order == 0;
	if (!strcmp(operator, "!="))
		return order != 0;
	if (operator[0] == '<')
		return operator[1] ? order <= 0 : order < 0;
	return operator[1] ? order >= 0 : order > 0;
}

static bool naive_address(const struct node *node, const unsigned char *bytes)
{
	unsigned int i;

	if (!*node->operator)
		return false;
	for (i = 0; i < node->bits; i++)
		if ((bytes[i / 8] ^ node->address[i / 8]) & 0x80 >> i % 8)
			return node->operator[0] == '!';
	return node->operator[0] == '=';
}

static bool naive_text(const struct node *node, const char *value)
{
	char word[16] = "";
	regex_t regex;
	bool result;

	if (!*node->operator)
		return *value != '\0';
	strcpy(word, node->value + (node->value[0] == '"'));
	if (node->value[0] == '"')
		word[strlen(word) - 1] = '\0';
	if (!strchr(node->operator, '~'))
		return !strcmp(value, word) == (node->operator[0] == '=');
	check_equal(regcomp(&regex, word, REG_EXTENDED | REG_NOSUB), 0);
	result = !regexec(&regex, value, 0, NULL, 0) == (node->operator[0] == '~');
	regfree(&regex);
	return result;
}

static struct plain from_signed(int64_t value)
{
	struct plain plain = { value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value };

	return plain;
}

static bool naive_test(const struct node *node, const unsigned char *data,
		       size_t size)
{
	static const unsigned char ends[] = { 1, 2, 10, 18, 19, 20, 24, 40, 43, 47 };
	unsigned char address[16] = { [10] = 0xff, 0xff };
	unsigned int field = (unsigned int)(node->field - 'a'), i, from, length;
	struct plain value = { 0 };
	bool any = false;
	char text[16] = "";
	int64_t whole;

	if (node->field == 'k' || ends[field] > size)
		return false;
	switch (node->field) {
	case 'a':
		value.magnitude = data[0];
		return naive_number(node, value);
	case 'b':
		return naive_number(node, from_signed((signed char)data[1]));
	case 'c':
		memcpy(&value.magnitude, data + 2, 8);
		return naive_number(node, value);
	case 'd':
		memcpy(&whole, data + 10, 8);
		return naive_number(node, from_signed(whole));
	case 'e':
		return naive_number(node, from_signed((signed char)data[18]));
	case 'f':
		value.magnitude = data[19];
		return naive_number(node, value);
	case 'g':
	case 'h':
		if (node->field == 'g')
			memcpy(address + 12, data + 20, 4);
		else
			memcpy(address, data + 24, 16);
		for (i = node->field == 'g' ? 12 : 0; i < 16; i++)
			any |= address[i] != 0;
		return *node->operator ? naive_address(node, address) : any;
	case 'i':
		memcpy(text, data + 40, 3);
		return naive_text(node, text);
	default:
		/* size << 16 | offset, in the byte order of this machine */
		memcpy(&i, data + 43, 4);
		from = i & 0xffff;
		length = i >> 16;
		if (from + length > size || length > sizeof(text))
			return false;
		memcpy(text, data + from, length);
		return memchr(text, '\0', length) && naive_text(node, text);
	}
}

/* Evaluates both sides without short-circuiting. */
static bool naive(const struct node *node, const unsigned char *data, size_t size)
{
	bool left, right;

	switch (node->type) {
	case NODE_AND:
		left = naive(node->left, data, size);
		right = naive(node->right, data, size);
		return left && right;
	case NODE_OR:
		left = naive(node->left, data, size);
		right = naive(node->right, data, size);
		return left || right;
	case NODE_NOT:
		return !naive(node->left, data, size);
	default:
		return naive_test(node, data, size);
	}
}

static size_t random_payload(unsigned char *data)
{
	static const uint64_t wholes[] = {
		0, 1, UINT64_MAX, 5, INT64_MAX, 1ULL << 63, 127, 255,
	};
	uint32_t length = (uint32_t)random_number(5), word;
	unsigned int i;

	data[0] = (unsigned char)wholes[random_number(8)];
	data[1] = (unsigned char)wholes[random_number(8)];
	memcpy(data + 2, &wholes[random_number(8)], 8);
	memcpy(data + 10, &wholes[random_number(8)], 8);
	data[18] = "\0\5\xfd\x01"[random_number(4)];
	data[19] = (unsigned char)random_number(8);
	memcpy(data + 20, random_number(2) ? "\1\2\3\4" : "\0\0\0\0", 4);
	i = (unsigned int)random_number(ELOG_ARRAY_SIZE(addresses));
	memcpy(data + 24, addresses[i].address, 16);
	data[24 + random_number(16)] ^= (unsigned char)random_number(2);
	for (i = 40; i < 43; i++)
		data[i] = (unsigned char)"ab\0"[random_number(3)];
	word = length << 16 | (47 + !random_number(9));
	memcpy(data + 43, &word, 4);
	for (i = 47; i < 52; i++)
		data[i] = (unsigned char)"ab\0\0"[random_number(4)];
	return random_number(6) ? 47 + length : random_number(47 + length);
}

static void test_naive(void)
{
	struct elog_schema *small;
	const struct elog_schema_event *event;
	struct elog_expression_error error;
	struct elog_text text = { 0 };
	unsigned int i, k, counts[MALFORMED + 1] = { 0 };
	unsigned char data[64];
	enum answer answer;
	struct node *tree;
	bool expected;
	size_t size;

	check_equal(elog_schema_parse(small_schema, sizeof(small_schema) - 1,
				      &small, NULL), 0);
	event = small->providers[0]->events[0];
	for (i = 0; i < 10000; i++) {
		tree = random_tree(1 + (unsigned int)random_number(5));
		text.size = 0;
		write_tree(&text, tree, NODE_OR);
		for (k = 0; k < 5; k++) {
			size = random_payload(data);
			expected = naive(tree, data, size);
			answer = evaluate(text.data, event, data, size, &error);
			counts[answer]++;
			if (answer != (expected ? YES : NO) &&
			    (answer != NEVER || expected))
				fail(__FILE__, __LINE__, "%s: %d, not %d: column %u: %s",
				     text.data, answer, expected, error.column,
				     error.message);
		}
		free_tree(tree);
	}
	check(counts[YES] > 5000 && counts[NO] > 5000 && counts[NEVER] > 500);
	elog_text_free(&text);
	elog_schema_free(small);
}

/* An expression can be bound to any number of events and outlives their schema. */
static void test_lifetimes(void)
{
	static const char *const texts[] = {
		"state == CLOSE_WAIT && flags & SYN && path ~ \"a.i\" && provider ~ tcp",
		"keywords & conn && comm ~ some",
	};
	struct elog_predicate *predicates[2];
	struct elog_expression *expression;
	struct elog_schema *copy;
	unsigned int i;

	for (i = 0; i < ELOG_ARRAY_SIZE(texts); i++) {
		check_equal(elog_expression_parse(texts[i], &expression, NULL), 0);
		check_equal(elog_schema_parse(schema_text, sizeof(schema_text) - 1,
					      &copy, NULL), 0);
		check_equal(elog_expression_bind(expression, copy->providers[0]->events[0],
						 &predicates[0], NULL), 0);
		check_equal(elog_expression_bind(expression, copy->providers[0]->events[0],
						 &predicates[1], NULL), 0);
		elog_schema_free(copy);
		item.payload = payload;
		item.payload_size = payload_size;
		check(elog_predicate_match(predicates[0], &item, "some"));
		elog_predicate_free(predicates[0]);
		check(elog_predicate_match(predicates[1], &item, "some"));
		check_equal(elog_predicate_needs_comm(predicates[1]), i);
		/* Without a thread name the comparison is false. */
		check_equal(elog_predicate_match(predicates[1], &item, NULL), !i);
		elog_predicate_free(predicates[1]);
		elog_expression_free(expression);
	}
}

struct matcher {
	const struct elog_predicate *predicate;
	unsigned int wrong;
};

static void *match_often(void *argument)
{
	struct matcher *matcher = argument;
	struct elog_item record = { 0 };
	char name[32];
	unsigned int i;

	for (i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "thread %u", i);
		matcher->wrong += elog_predicate_match(matcher->predicate, &record,
						       name) != (i % 10 == 7);
	}
	return NULL;
}

/* Threads share the automata of regular expressions, which are dropped several times. */
static void test_threads(void)
{
	struct elog_expression *expression;
	struct elog_predicate *predicate;
	struct matcher matchers[4];
	pthread_t threads[4];
	unsigned int i;

	check_equal(elog_expression_parse("comm ~ \"^t.* [0-9]*7$\"", &expression,
					  NULL), 0);
	check_equal(elog_expression_bind(expression, bare, &predicate, NULL), 0);
	for (i = 0; i < ELOG_ARRAY_SIZE(threads); i++) {
		matchers[i].predicate = predicate;
		matchers[i].wrong = 0;
		check_equal(pthread_create(&threads[i], NULL, match_often,
					   &matchers[i]), 0);
	}
	for (i = 0; i < ELOG_ARRAY_SIZE(threads); i++) {
		pthread_join(threads[i], NULL);
		check_equal(matchers[i].wrong, 0);
	}
	elog_predicate_free(predicate);
	elog_expression_free(expression);
}

/* Names that events may lack, in the order of the comparisons. */
static void test_names(void)
{
	static const struct elog_sought_name expected[] = {
		{ ELOG_NAME_FIELD, 3, "byts", { 0 } },
		{ ELOG_NAME_PROVIDER, 28, "tpc", { 0 } },
		{ ELOG_NAME_EVENT, 44, "a b", { 0 } },
		{ ELOG_NAME_KEYWORDS, 65, "net|0x4", { 0 } },
		{ ELOG_NAME_NONE, 0, NULL, { 0 } },
		{ ELOG_NAME_NONE, 0, NULL, { 0 } },
		{ ELOG_NAME_NONE, 0, NULL, { 0 } },
		{ ELOG_NAME_FIELD, 121, "flag", { 0 } },
	};
	struct elog_expression *expression;
	struct elog_sought_name name;
	size_t i;

	check_equal(elog_expression_parse("!(byts > 1) && provider == tpc || event != \"a b\" && "
					  "@keywords & net|0x4 && level == warn && provider ~ x "
					  "&& pid > 4 || (flag)", &expression, NULL), 0);
	for (i = 0; i < ELOG_ARRAY_SIZE(expected); i++) {
		memset(&name, 0xff, sizeof(name));
		check_equal(elog_expression_name(expression, i, &name), 0);
		check_equal(name.type, expected[i].type);
		check_equal(name.column, expected[i].column);
		check(!name.name == !expected[i].name &&
		      (!name.name || !strcmp(name.name, expected[i].name)));
		check_equal(name.reserved[0], 0);
	}
	check_equal(elog_expression_name(expression, i, &name), -ENOENT);
	check_equal(elog_expression_name(expression, SIZE_MAX, &name), -ENOENT);
	elog_expression_free(expression);
}

static void before(void)
{
	seed_random();
	compose();
}

int main(void)
{
	static const struct test tests[] = {
		{ "operators", test_operators },
		{ "other events and missing fields", test_other_events },
		{ "error messages and their columns", test_errors },
		{ "limits of length and nesting", test_limits },
		{ "random texts do no harm", test_random_texts },
		{ "mutated texts do no harm", test_mutations },
		{ "random expressions against the reference", test_naive },
		{ "lifetimes of expressions and schemas", test_lifetimes },
		{ "threads share an expression", test_threads },
		{ "names that events may lack", test_names },
	};
	struct elog_schema_error error;
	int ret;

	if (elog_schema_parse(schema_text, sizeof(schema_text) - 1, &schema,
			      &error)) {
		printf("Bail out! line %u: %s\n", error.line, error.message);
		return 1;
	}
	all = schema->providers[0]->events[0];
	bare = schema->providers[0]->events[1];
	other = schema->providers[0]->events[2];
	ret = run_tests(tests, ELOG_ARRAY_SIZE(tests), before);
	elog_schema_free(schema);
	return ret;
}
