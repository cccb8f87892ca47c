// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of JSON and CSV output: tables of expected texts, and random payloads that a
 * Python program decodes itself and compares with what its json and csv modules read.
 * Prints TAP. Buffers have exactly the given size.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "util/tap.h"
#include "util/text.h"
#include "util/test_random.h"
#include "util/util.h"

/* Format a payload of exactly @size bytes, so that sanitizers find overruns. */
static const char *format(struct elog_text *text, const char *data, size_t size,
			  void (*put)(struct elog_text *, const char *, size_t))
{
	char *exact = malloc(size + !size);

	memcpy(exact, data, size);
	text->size = 0;
	put(text, exact, size);
	free(exact);
	elog_text_put(text, "", 0);
	return text->data;
}

static void test_strings(void)
{
	static const struct {
		const char *data;
		size_t size;
		const char *json;
	} cases[] = {
		{ "", 0, "\"\"" },
		{ "plain text of more than a word", 30, "\"plain text of more than a word\"" },
		{ "\"\\/", 3, "\"\\\"\\\\/\"" },
		{ "\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"" },
		{ "\0\1\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\"" },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9,
		  "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "\xc2\x80\xc2\x9f\xc2\xa0", 6, "\"\\u0080\\u009f\xc2\xa0\"" },
		{ "\xd8\x9b\xd8\x9c\xd8\x9d", 6, "\"\xd8\x9b\\u061c\xd8\x9d\"" },
		{ "\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90", 12,
		  "\"\xe2\x80\x8d\\u200e\\u200f\xe2\x80\x90\"" },
		{ "\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf", 12,
		  "\"\xe2\x80\xa9\\u202a\\u202e\xe2\x80\xaf\"" },
		{ "\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", 12,
		  "\"\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa\"" },
		{ "\xe2\x80", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xff", 1, "\"\xef\xbf\xbd\"" },
		{ "\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xc2", 1, "\"\xef\xbf\xbd\"" },
		{ "1234567\"12345678\\1234567\x7f" "123\xff", 29,
		  "\"1234567\\\"12345678\\\\1234567\\u007f123\xef\xbf\xbd\"" },
	}, visible[] = {
		{ "", 0, "" },
		{ "a \"b\", \\", 8, "a \"b\", \\" },
		{ "a\x1b[2J\n\0b", 8, "a\\x1b[2J\\n\\x00b" },
		{ "\xc3\xa4\xc2\x9b\xff", 5, "\xc3\xa4\\xc2\\x9b\\xff" },
		{ "x\xe2\x80\xaez", 5, "x\\xe2\\x80\\xaez" },
	}, quoted[] = {
		{ "x\xe2\x80\xaez", 5, "\"x\\xe2\\x80\\xaez\"" },
		{ "\xd8\x9c\xe2\x81\xa7", 5, "\"\\xd8\\x9c\\xe2\\x81\\xa7\"" },
	}, cells[] = {
		{ "x\xe2\x80\xae\x1b", 5, "x\xe2\x80\xae\x1b" },
		{ "", 0, "" },
		{ "plain text", 10, "plain text" },
		{ " =1+1;\t'", 8, " =1+1;\t'" },
		{ "a,b", 3, "\"a,b\"" },
		{ "\"", 1, "\"\"\"\"" },
		{ "a\"b\"\"", 5, "\"a\"\"b\"\"\"\"\"" },
		{ "a\n", 2, "\"a\n\"" },
		{ "\r", 1, "\"\r\"" },
	};
	struct elog_text text = { 0 };
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(cases); i++)
		check_string(format(&text, cases[i].data, cases[i].size,
				    elog_text_json_string), cases[i].json);
	for (i = 0; i < ELOG_ARRAY_SIZE(cells); i++)
		check_string(format(&text, cells[i].data, cells[i].size,
				    elog_text_csv), cells[i].json);
	for (i = 0; i < ELOG_ARRAY_SIZE(visible); i++)
		check_string(format(&text, visible[i].data, visible[i].size,
				    elog_text_visible), visible[i].json);
	for (i = 0; i < ELOG_ARRAY_SIZE(quoted); i++)
		check_string(format(&text, quoted[i].data, quoted[i].size,
				    elog_text_quoted), quoted[i].json);
	elog_text_free(&text);
}

static struct elog_schema *parse(const char *text)
{
	struct elog_schema_error error = { 0 };
	struct elog_schema *schema = NULL;

	if (elog_schema_parse(text, strlen(text), &schema, &error)) {
		printf("Bail out! line %u: %s\n", error.line, error.message);
		exit(1);
	}
	return schema;
}

static const char random_schema[] =
	"eventlog 1\n"
	"provider p\n"
	"enum state\n\t1 ONE\n\t-2 TWO\n"
	"flags bits\n\t0 NONE\n\t1 A\n\t6 BC\n"
	"flags nameless\n\t1 A\n"
	"event 1 e info -\n"
	"	u8 u8\n"
	"	u16 u16\n"
	"	u32 u32\n"
	"	u64 u64\n"
	"	s8 s8\n"
	"	s16 s16\n"
	"	s32 s32\n"
	"	s64 s64\n"
	"	s8 s8x as hex\n"
	"	u32 u32x as hex\n"
	"	s64 s64x as hex\n"
	"	bool bool\n"
	"	bool boold as dec\n"
	"	enum:state:s8 state\n"
	"	enum:state:s16 stated as dec\n"
	"	enum:state:s16 statex as hex\n"
	"	flags:bits:u8 bits\n"
	"	flags:bits:u16 bitsd as dec\n"
	"	flags:bits:u16 bitsx as hex\n"
	"	flags:nameless:u8 nameless\n"
	"	ipv4 ipv4\n"
	"	ipv6 ipv6\n"
	"	port port\n"
	"	port portx as hex\n"
	"	mac mac\n"
	"	time time\n"
	"	duration duration\n"
	"	duration durationx as hex\n"
	"	ptr ptr\n"
	"	ptr ptrd as dec\n"
	"	char[5] chars\n"
	"	u8[3] octets\n"
	"	struct:x:2 struct\n"
	"	string string\n"
	"	bytes:rel bytes\n";

static void test_values(void)
{
	struct elog_schema *schema = parse(random_schema);
	const struct elog_schema_event *event = schema->providers[0]->events[0];
	struct elog_payload payload;
	struct elog_text text = { 0 };
	unsigned char buffer[512];
	ssize_t size;

	elog_payload_init(&payload, buffer, sizeof(buffer));
	elog_payload_u8(&payload, 255);
	elog_payload_u16(&payload, 10);
	elog_payload_u32(&payload, 0);
	elog_payload_u64(&payload, UINT64_MAX);
	elog_payload_u8(&payload, (uint8_t)-128);
	elog_payload_u16(&payload, (uint16_t)-9);
	elog_payload_u32(&payload, (uint32_t)-100);
	elog_payload_u64(&payload, (uint64_t)INT64_MIN);
	elog_payload_u8(&payload, 0xfe);
	elog_payload_u32(&payload, 0xabc);
	elog_payload_u64(&payload, UINT64_MAX);
	elog_payload_u8(&payload, 2);
	elog_payload_u8(&payload, 2);
	elog_payload_u8(&payload, (uint8_t)-2);
	elog_payload_u16(&payload, 1);
	elog_payload_u16(&payload, (uint16_t)-2);
	elog_payload_u8(&payload, 0x87);
	elog_payload_u16(&payload, 7);
	elog_payload_u16(&payload, 7);
	elog_payload_u8(&payload, 0);
	elog_payload_raw(&payload, "\x7f\0\0\1", 4);
	elog_payload_raw(&payload, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	elog_payload_raw(&payload, "\x01\xbb\x01\xbb", 4);
	elog_payload_raw(&payload, "\0\x11\x22\xaa\xbb\xcc", 6);
	elog_payload_u64(&payload, 1234567890123456789);
	elog_payload_u64(&payload, 1500000);
	elog_payload_u64(&payload, 1500000);
	elog_payload_u64(&payload, 0xdeadbeef);
	elog_payload_u64(&payload, 15);
	elog_payload_chars(&payload, "ab\"\n", 5);
	elog_payload_raw(&payload, "\1\2\xff", 3);
	elog_payload_raw(&payload, "\0\x10", 2);
	elog_payload_string(&payload, "text");
	elog_payload_bytes_rel(&payload, "\xde\xad", 2);
	size = elog_payload_end(&payload);
	check(size > 0);
	elog_format_json_fields(&text, event, buffer, (size_t)size);
	check_string(text.data,
		     "\"u8\":255,\"u16\":10,\"u32\":0,\"u64\":\"18446744073709551615\","
		     "\"s8\":-128,\"s16\":-9,\"s32\":-100,\"s64\":\"-9223372036854775808\","
		     "\"s8x\":\"0xfe\",\"u32x\":\"0xabc\",\"s64x\":\"0xffffffffffffffff\","
		     "\"bool\":2,\"boold\":2,\"state\":\"TWO\",\"stated\":1,"
		     "\"statex\":\"0xfffe\",\"bits\":[\"A\",\"BC\",\"0x80\"],\"bitsd\":7,"
		     "\"bitsx\":\"0x7\",\"nameless\":[],\"ipv4\":\"127.0.0.1\","
		     "\"ipv6\":\"::1\",\"port\":443,\"portx\":\"0x1bb\","
		     "\"mac\":\"00:11:22:aa:bb:cc\",\"time\":1234567890123456789,"
		     "\"duration\":1500000,\"durationx\":\"0x16e360\","
		     "\"ptr\":\"0xdeadbeef\",\"ptrd\":15,\"chars\":\"ab\\\"\\n\","
		     "\"octets\":\"0102ff\",\"struct\":\"0010\",\"string\":\"text\","
		     "\"bytes\":\"dead\"");
	text.size = 0;
	elog_format_json_fields(&text, event, buffer, 2);
	check(strstr(text.data, "\"u8\":255,\"u16\":null,\"u32\":null,"));
	elog_text_free(&text);
	elog_schema_free(schema);
}

/* Numbers are those that every program can keep; times stay numbers. */
static void test_exact_integers(void)
{
	static const char head[] = "eventlog 1\nprovider p\nenum e\n\t1 ONE\nevent 1 e info -\n\t";
	static const struct {
		const char *type;
		uint64_t value;
		const char *text;
	} cases[] = {
		{ "u64", 1ULL << 53, "9007199254740992" },
		{ "u64", (1ULL << 53) + 1, "\"9007199254740993\"" },
		{ "u64", UINT64_MAX, "\"18446744073709551615\"" },
		{ "s64", -(1ULL << 53), "-9007199254740992" },
		{ "s64", -(1ULL << 53) - 1, "\"-9007199254740993\"" },
		{ "s64", INT64_MIN, "\"-9223372036854775808\"" },
		{ "s64", UINT64_MAX, "-1" },
		{ "enum:e:u64", UINT64_MAX, "\"18446744073709551615\"" },
		{ "time", UINT64_MAX, "18446744073709551615" },
		{ "duration", 1ULL << 60, "1152921504606846976" },
	};
	struct elog_text text = { 0 };
	struct elog_schema *schema;
	struct elog_value value;
	char line[160];
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(cases); i++) {
		snprintf(line, sizeof(line), "%s%s f\n", head, cases[i].type);
		schema = parse(line);
		elog_decode(schema->providers[0]->events[0]->fields[0], &cases[i].value, 8, &value);
		text.size = 0;
		elog_format_json_value(&text, schema->providers[0]->events[0]->fields[0], &value);
		check_string(text.data, cases[i].text);
		elog_schema_free(schema);
	}
	elog_text_free(&text);
}

/*
 * Reads lines: a kind, bytes in hexadecimal and the formatted text, which is in
 * hexadecimal for CSV cells. The argument is the expected number of lines.
 */
static const char checker[] =
	"import codecs, csv, io, ipaddress, json, struct, sys\n"
	"codecs.register_error('each', lambda e: ('\\ufffd' * (e.end - e.start), e.end))\n"
	"def text(data):\n"
	"    return data.decode('utf-8', 'each')\n"
	"def names(value, flags):\n"
	"    found = [n for m, n in flags if (value & m == m if m else value == 0)]\n"
	"    for m, n in flags:\n"
	"        if n in found:\n"
	"            value &= ~m\n"
	"    return found + ([hex(value)] if value else [])\n"
	"u = lambda p: int.from_bytes(p, sys.byteorder)\n"
	"s = lambda p: int.from_bytes(p, sys.byteorder, signed=True)\n"
	"x = lambda p: hex(u(p))\n"
	"exact = lambda n: n if abs(n) <= 2 ** 53 else str(n)\n"
	"states = {1: 'ONE', -2: 'TWO'}\n"
	"bits = [(0, 'NONE'), (1, 'A'), (6, 'BC')]\n"
	"fields = [('u8', 1, u), ('u16', 2, u), ('u32', 4, u),\n"
	"    ('u64', 8, lambda p: exact(u(p))), ('s8', 1, s), ('s16', 2, s), ('s32', 4, s),\n"
	"    ('s64', 8, lambda p: exact(s(p))),\n"
	"    ('s8x', 1, x), ('u32x', 4, x), ('s64x', 8, x),\n"
	"    ('bool', 1, lambda p: u(p) if u(p) > 1 else u(p) == 1), ('boold', 1, u),\n"
	"    ('state', 1, lambda p: states.get(s(p), s(p))), ('stated', 2, s),\n"
	"    ('statex', 2, x), ('bits', 1, lambda p: names(u(p), bits)),\n"
	"    ('bitsd', 2, u), ('bitsx', 2, x),\n"
	"    ('nameless', 1, lambda p: names(u(p), [(1, 'A')])),\n"
	"    ('ipv4', 4, lambda p: ipaddress.IPv4Address(p)),\n"
	"    ('ipv6', 16, lambda p: ipaddress.IPv6Address(p)),\n"
	"    ('port', 2, lambda p: int.from_bytes(p, 'big')),\n"
	"    ('portx', 2, lambda p: hex(int.from_bytes(p, 'big'))),\n"
	"    ('mac', 6, lambda p: p.hex(':')), ('time', 8, u), ('duration', 8, u),\n"
	"    ('durationx', 8, x), ('ptr', 8, x), ('ptrd', 8, lambda p: exact(u(p))),\n"
	"    ('chars', 5, lambda p: text(p.split(b'\\0')[0])),\n"
	"    ('octets', 3, bytes.hex), ('struct', 2, bytes.hex),\n"
	"    ('string', 4, None), ('bytes', 4, None)]\n"
	"def event(p):\n"
	"    offset = 0\n"
	"    for name, size, decode in fields:\n"
	"        part = p[offset:offset + size]\n"
	"        offset += size\n"
	"        if len(part) < size:\n"
	"            yield name, None\n"
	"        elif decode:\n"
	"            yield name, decode(part)\n"
	"        else:\n"
	"            start = u(part) & 0xffff\n"
	"            if name == 'bytes':\n"
	"                start += offset\n"
	"            end = start + (u(part) >> 16)\n"
	"            part = p[start:end] if end <= len(p) else None\n"
	"            if part is None or name == 'bytes':\n"
	"                yield name, part if part is None else part.hex()\n"
	"            else:\n"
	"                yield name, text(part.split(b'\\0')[0]) if b'\\0' in part else None\n"
	"def same(found, expected):\n"
	"    if isinstance(expected, (ipaddress.IPv4Address, ipaddress.IPv6Address)):\n"
	"        return ipaddress.ip_address(found) == (\n"
	"            getattr(expected, 'ipv4_mapped', None) or expected)\n"
	"    return found == expected and type(found) == type(expected)\n"
	"lines = 0\n"
	"for line in sys.stdin.buffer:\n"
	"    kind, data, output = line.rstrip(b'\\n').split(b'\\t', 2)\n"
	"    data = bytes.fromhex(data.decode())\n"
	"    if kind == b's':\n"
	"        good = json.loads(output.decode('utf-8')) == text(data)\n"
	"    elif kind == b'c':\n"
	"        cell = bytes.fromhex(output.decode()).decode('latin-1')\n"
	"        rows = list(csv.reader(io.StringIO('x,' + cell + ',y\\r\\nz', newline='')))\n"
	"        good = rows == [['x', data.decode('latin-1'), 'y'], ['z']]\n"
	"    else:\n"
	"        pairs = json.loads(output.decode('utf-8'), object_pairs_hook=list)\n"
	"        expected = list(event(data))\n"
	"        good = len(pairs) == len(expected) and all(n == m and same(v, w)\n"
	"            for (n, v), (m, w) in zip(pairs, expected))\n"
	"    if not good:\n"
	"        print('not the same:', line, file=sys.stderr)\n"
	"        sys.exit(1)\n"
	"    lines += 1\n"
	"sys.exit(0 if lines == int(sys.argv[1]) else 1)\n";

static void put_hex(FILE *file, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (; size; size--)
		fprintf(file, "%02x", *bytes++);
}

/* Random bytes, many of them special: quotes, parts of UTF-8 sequences, ends of lines. */
static size_t random_text(char *data, size_t most)
{
	static const char special[] =
		"\"\\\n\r,\t\x01\x1f\x7f\xc2\x80\x9f\xa0\xc3\xe2\x82\xac\xed\xef\xbf\xbd"
		"\xf0\x9f\x98\x80\xf4\xff=' ";
	size_t size = random_number(most + 1), i;
	unsigned int kind = (unsigned int)random_number(3);

	for (i = 0; i < size; i++) {
		if (kind && random_number(kind == 1 ? 20 : 2))
			data[i] = (char)('a' + random_number(26));
		else
			data[i] = special[random_number(sizeof(special) - 1)];
	}
	return size;
}

static void write_lines(FILE *file, unsigned int count)
{
	struct elog_schema *schema = parse(random_schema);
	const struct elog_schema_event *event = schema->providers[0]->events[0];
	struct elog_text text = { 0 };
	unsigned char *exact;
	uint32_t word;
	unsigned int i;
	char data[64];
	size_t size, k;

	for (i = 0; i < count; i++) {
		size = random_text(data, sizeof(data));
		format(&text, data, size, elog_text_csv);
		fprintf(file, "c\t");
		put_hex(file, data, size);
		fprintf(file, "\t");
		put_hex(file, text.data, text.size);
		/* NUL bytes are valid except in cells. */
		if (size && !random_number(4))
			data[random_number(size)] = '\0';
		format(&text, data, size, elog_text_json_string);
		fprintf(file, "\ns\t");
		put_hex(file, data, size);
		fprintf(file, "\t%s\n", text.data);

		size = event->fixed_size + random_number(16);
		if (!random_number(4))
			size = random_number(size);
		exact = malloc(size + !size);
		for (k = 0; k < size; k++)
			exact[k] = (unsigned char)(random_number(2) ? random_number(256) :
						   random_number(4));
		word = (uint32_t)random_number(8);
		word = word << 16 | (uint32_t)(event->fixed_size + random_number(4));
		if (size >= event->fixed_size && random_number(8))
			memcpy(exact + event->fixed_size - 8, &word, 4);
		word = (uint32_t)random_number(8) << 16 | (uint32_t)random_number(4);
		if (size >= event->fixed_size && random_number(8))
			memcpy(exact + event->fixed_size - 4, &word, 4);
		text.size = 0;
		elog_format_json_fields(&text, event, exact, size);
		fprintf(file, "e\t");
		put_hex(file, exact, size);
		fprintf(file, "\t{%s}\n", text.data);
		free(exact);
	}
	elog_text_free(&text);
	elog_schema_free(schema);
}

static void test_python(void)
{
	static const char path[] = "/tmp/json_test.XXXXXX";
	const unsigned int count = 20000;
	char name[sizeof(path)], command[128];
	FILE *file;
	int fd;

	memcpy(name, path, sizeof(path));
	fd = mkstemp(name);
	check(fd >= 0);
	file = fdopen(fd, "w");
	check(file && fputs(checker, file) >= 0 && !fclose(file));
	snprintf(command, sizeof(command), "python3 %s %u", name, count * 3);
	file = popen(command, "w");
	check(file != NULL);
	if (file) {
		write_lines(file, count);
		check_equal(pclose(file), 0);
	}
	remove(name);
}

/* After a failed allocation nothing more is appended, and there is no other harm. */
static void test_no_memory(void)
{
	struct elog_schema *schema = parse(random_schema);
	const struct elog_schema_event *event = schema->providers[0]->events[0];
	struct elog_text text = { .error = -ENOMEM };
	unsigned char payload[512] = { 0 };

	elog_format_json_fields(&text, event, payload, sizeof(payload));
	elog_format_fields(&text, event, payload, sizeof(payload));
	elog_text_json_string(&text, "a\nb", 3);
	elog_text_quoted(&text, "a\nb", 3);
	elog_text_csv(&text, "a\nb\"", 4);
	elog_text_unsigned(&text, 1, 5, ' ');
	elog_text_hex(&text, 1, 5);
	check(!text.data && !text.size);
	elog_schema_free(schema);
}

int main(void)
{
	static const struct test tests[] = {
		{ "strings are quoted", test_strings },
		{ "values are formatted", test_values },
		{ "integers that doubles cannot hold are text", test_exact_integers },
		{ "Python reads the same values", test_python },
		{ "a failed allocation does no harm", test_no_memory },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
