// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of json_object.c. Prints TAP.
 */
#include <stdlib.h>

#include "libelog/util/tap.h"
#include "util/json_object.h"

/* Read a copy that ends where the memory ends. Return: members, or -1. */
static int read_object(const char *text, size_t size, struct elog_text *values)
{
	char *copy = malloc(size ? size : 1);
	struct json_object object = { .at = copy, .end = copy + size };
	int count = 0, ret;

	memcpy(copy, text, size);
	while ((ret = json_object_next(&object)) > 0) {
		count++;
		elog_text_put(values, object.name, object.name_size);
		elog_text_character(values, '=');
		json_put_string(values, object.value, object.value_size);
		elog_text_character(values, ';');
	}
	free(copy);
	return ret < 0 ? -1 : count;
}

static void test_objects(void)
{
	static const struct {
		const char *text;
		int count;
		const char *values;
	} cases[] = {
		{ "{}", 0, "" },
		{ " \t{ } \r", 0, "" },
		{ "{\"a\":1}", 1, "a=1;" },
		{ " { \"a\" : \"x\" , \"\":null}", 2, "a=x;=null;" },
		{ "{\"a\":{\"b\":[1, {}, []]},\"c\":[true,false]}", 2,
		  "a={\"b\":[1, {}, []]};c=[true,false];" },
		{ "{\"a\":-0.5e+10,\"a\":0E1}", 2, "a=-0.5e+10;a=0E1;" },
		{ "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", 1, "a=\"\\/\b\f\n\r\t;" },
		{ "{\"a\":\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"}", 1, "a=A\u00e9\u20ac\U0001f600;" },
		{ "{\"a\":\"\\ud83d\\u0041\\ude00\\ud83d\"}", 1, "a=\\ud83dA\\ude00\\ud83d;" },
		{ "{\"a\\u0041\\\"\":\"\u00e9\"}", 1, "a\\u0041\\\"=\u00e9;" },
	};
	static const char *const wrong[] = {
		"", " ", "{", "}", "[]", "1", "{}x", "{} {}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
		"{,}", "{\"a\":1 \"b\":2}", "{a:1}", "{'a':1}", "{\"a\":01}", "{\"a\":+1}",
		"{\"a\":1.}", "{\"a\":.5}", "{\"a\":-}", "{\"a\":1e}", "{\"a\":nul}",
		"{\"a\":True}", "{\"a\":\"x}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}",
		"{\"a\":\"\\u12", "{\"a\":\"\\", "{\"a\":\"\t\"}", "{\"a\":[1,]}", "{\"a\":[1}}",
		"{\"a\":{\"b\"}}", "{\"a\":\"\xff\"}", "{\"a\":\"\xc3\"}", "{\"a\":1}\v", "nul",
	};
	struct elog_text values = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		values.size = 0;
		elog_text_string(&values, "");
		check_equal(read_object(cases[i].text, strlen(cases[i].text), &values),
			    cases[i].count);
		check_string(values.size ? values.data : "", cases[i].values);
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		if (read_object(wrong[i], strlen(wrong[i]), &values) != -1)
			fail(__FILE__, __LINE__, "'%s' is an object", wrong[i]);
	check_equal(read_object("{\"a\":\"\0\"}", 9, &values), -1);
	values.size = 0;
	check_equal(read_object("{\"a\":\"\\u0000\"}", 14, &values), 1);
	check_equal(values.size, 4);
	elog_text_free(&values);
}

/* Brackets do not fill the stack. */
static void test_depth(void)
{
	static const size_t depths[] = { 1, 63, 64, 65, 1000000 };
	struct elog_text values = { 0 };
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		struct elog_text text = { 0 };

		elog_text_string(&text, "{\"a\":");
		for (k = 0; k < depths[i]; k++)
			elog_text_character(&text, '[');
		for (k = 0; k < depths[i]; k++)
			elog_text_character(&text, ']');
		elog_text_character(&text, '}');
		check_equal(read_object(text.data, text.size, &values), depths[i] <= 64 ? 1 : -1);
		elog_text_free(&text);
	}
	elog_text_free(&values);
}

/* Nothing is read behind the end, whatever is cut or changed. */
static void test_damage(void)
{
	static const char text[] = "{\"a\\u00e9\":\"\\ud83d\\ude00\",\"b\":[-1.5e3,{\"c\":null}],"
				   "\"d\":\"\u20ac\"}";
	static const char characters[] = "{}[]\",:\\u0aef-+.eE \xc3\xff";
	struct elog_text values = { 0 };
	char changed[sizeof(text)];
	size_t size, i, k;

	for (size = 0; size + 1 < sizeof(text); size++) {
		values.size = 0;
		check_equal(read_object(text, size, &values), -1);
	}
	for (i = 0; i + 1 < sizeof(text); i++) {
		for (k = 0; k < sizeof(characters); k++) {
			memcpy(changed, text, sizeof(text));
			changed[i] = characters[k];
			values.size = 0;
			read_object(changed, sizeof(text) - 1, &values);
		}
	}
	elog_text_free(&values);
}

int main(void)
{
	static const struct test tests[] = {
		{ "objects, and texts that are none", test_objects },
		{ "arrays in arrays", test_depth },
		{ "damaged texts", test_damage },
	};

	return run_tests(tests, ARRAY_SIZE(tests), NULL);
}
