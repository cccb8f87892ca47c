/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Checks and TAP output for libelog's tests. Each test program includes it once.
 */
#ifndef LIBELOG_TAP_H
#define LIBELOG_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned int failures;	/* of the current test */

static void __attribute__((format(printf, 3, 4)))
fail(const char *file, int line, const char *format, ...)
{
	va_list arguments;

	/* Print only the first ones. */
	if (++failures > 10)
		return;
	printf("# %s:%d: ", file, line);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
}

#define check(condition) do {						\
	if (!(condition))						\
		fail(__FILE__, __LINE__, "%s", #condition);		\
} while (0)

#define check_equal(actual, expected) do {				\
	long long check_actual = (long long)(actual);			\
	long long check_expected = (long long)(expected);		\
									\
	if (check_actual != check_expected)				\
		fail(__FILE__, __LINE__, "%s is %lld, not %lld",	\
		     #actual, check_actual, check_expected);		\
} while (0)

#define check_string(actual, expected) do {				\
	const char *check_actual = (actual);				\
									\
	if (!check_actual || strcmp(check_actual, expected))		\
		fail(__FILE__, __LINE__, "%s is '%s', not '%s'",	\
		     #actual, check_actual, expected);			\
} while (0)

struct test {
	const char *name;
	void (*run)(void);
};

/* Run all tests; returns the exit status for main(). */
static inline int run_tests(const struct test *tests, size_t count,
			    void (*before)(void))
{
	bool failed = false;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%zu\n", count);
	for (i = 0; i < count; i++) {
		failures = 0;
		if (before)
			before();
		tests[i].run();
		printf("%sok %zu %s\n", failures ? "not " : "", i + 1,
		       tests[i].name);
		failed |= failures != 0;
	}
	return failed;
}

#endif /* LIBELOG_TAP_H */
