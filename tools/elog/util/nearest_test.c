// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of nearest.c. Prints TAP.
 */
#include <stdlib.h>
#include <string.h>

#include "libelog/util/tap.h"
#include "util/nearest.h"

static void test_typing_errors(void)
{
	static const struct {
		const char *sought;
		const char *name;
		unsigned int distance;
	} cases[] = {
		{ "exec", "exec", 0 },
		{ "EXEC", "exec", 0 },
		{ "exce", "exec", 1 },
		{ "exe", "exec", 1 },
		{ "execs", "exec", 1 },
		{ "exac", "exec", 1 },
		{ "caputre", "capture", 1 },
		{ "cpautre", "capture", 2 },
		{ "retransmitt", "retransmit", 1 },
		{ "rtarnsmit", "retransmit", 2 },
		{ "xretrnasmti", "retransmit", 3 },
		{ "xretrnasmtii", "retransmit", NEAREST_FAR },
		/* A short name may have fewer errors. */
		{ "exxx", "exec", NEAREST_FAR },
		{ "ex", "ey", NEAREST_FAR },
		{ "x", "y", NEAREST_FAR },
		{ "Z", "z", 0 },
		/* The beginning of a name is worse than a typing error. */
		{ "re", "retransmit", 1 },
		{ "retr", "retransmit", 2 },
		{ "retransmit", "retr", NEAREST_FAR },
		{ "r", "retransmit", NEAREST_FAR },
		{ "", "a", NEAREST_FAR },
		{ "abc", "", NEAREST_FAR },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (name_distance(cases[i].sought, cases[i].name) != cases[i].distance)
			fail(__FILE__, __LINE__, "%s, %s: %u", cases[i].sought, cases[i].name,
			     name_distance(cases[i].sought, cases[i].name));
}

/* Files may have names of any length. */
static void test_long_names(void)
{
	char a[512], b[512];
	size_t size;

	for (size = 250; size < sizeof(a); size++) {
		memset(a, 'a', size);
		memset(b, 'a', size);
		a[size] = b[size] = '\0';
		b[size / 2] = 'b';
		check_equal(name_distance(a, b), size <= 255 ? 1 : NEAREST_FAR);
		check_equal(name_distance("aaaa", b), size <= 255 ? 2 : NEAREST_FAR);
		check_equal(name_distance(a, "aaaa"), NEAREST_FAR);
	}
}

static void test_nearest(void)
{
	struct nearest nearest = { .sought = "bytes" };

	nearest_offer(&nearest, "port");
	check_equal(nearest.count, 0);
	nearest_offer(&nearest, "bytes_sent");
	check_equal(nearest.count, 1);
	/* A nearer name replaces it, a farther one does not. */
	nearest_offer(&nearest, "byte");
	nearest_offer(&nearest, "bytes_received");
	nearest_offer(&nearest, "byte");
	check_equal(nearest.count, 1);
	check_string(nearest.names[0], "byte");
	nearest_offer(&nearest, "bites");
	nearest_offer(&nearest, "ytes");
	nearest_offer(&nearest, "bytess");
	check_equal(nearest.count, NEAREST_MAX);
	check_string(nearest.names[2], "ytes");
	nearest_offer_at(&nearest, "other", NEAREST_FAR);
	check_equal(nearest.count, NEAREST_MAX);
	nearest_offer_at(&nearest, "other", 0);
	check_equal(nearest.count, 1);
	check_string(nearest.names[0], "other");
	nearest_free(&nearest);
	check_equal(nearest.count, 0);
}

/* Run with stderr in @text, which has @size bytes. */
static void print_error(struct nearest *nearest, char *text, size_t size)
{
	FILE *file = fmemopen(text, size, "w"), *stderr_before = stderr;

	stderr = file;
	nearest_error(nearest, "no %s '%s'", "event", nearest->sought);
	stderr = stderr_before;
	fclose(file);
}

static void test_messages(void)
{
	static const char *const names[] = { "aac", "abb", "acb" };
	static const char *const messages[] = {
		"elog: no event 'aab'\n",
		"elog: no event 'aab'; did you mean 'aac'?\n",
		"elog: no event 'aab'; did you mean 'aac' or 'abb'?\n",
		"elog: no event 'aab'; did you mean 'aac', 'abb' or 'acb'?\n",
	};
	char text[128];
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(messages); i++) {
		struct nearest nearest = { .sought = "aab" };

		for (k = 0; k < i; k++)
			nearest_offer_at(&nearest, names[k], 1);
		print_error(&nearest, text, sizeof(text));
		check_string(text, messages[i]);
		nearest_free(&nearest);
	}
}

static void test_choices(void)
{
	static const char *const choices[] = { "show", NULL, "stop", "stat" };

	check_equal(choice_find(choices, ARRAY_SIZE(choices), "stop"), 2);
	check_equal(choice_find(choices, ARRAY_SIZE(choices), "sto"), -1);
	check_equal(choice_abbreviated(choices, ARRAY_SIZE(choices), "sto", "verb"), 2);
	check_equal(choice_abbreviated(choices, ARRAY_SIZE(choices), "stat", "verb"), 3);
	check_equal(choice_abbreviated(choices, ARRAY_SIZE(choices), "st", "verb"), -1);
	check_equal(choice_abbreviated(choices, ARRAY_SIZE(choices), "", "verb"), -1);
	check_equal(choice_abbreviated(choices, ARRAY_SIZE(choices), "stpo", "verb"), -1);
	check_equal(choice_abbreviated(choices, ARRAY_SIZE(choices), "x", "verb"), -1);
}

int main(void)
{
	static const struct test tests[] = {
		{ "typing errors", test_typing_errors },
		{ "long names", test_long_names },
		{ "only the nearest names are kept", test_nearest },
		{ "messages", test_messages },
		{ "choices and abbreviations", test_choices },
	};

	return run_tests(tests, ARRAY_SIZE(tests), NULL);
}
