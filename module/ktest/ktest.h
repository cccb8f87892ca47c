/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test framework of the test modules: cases run one after the other when a module is
 * loaded, and print KTAP to the kernel log.  Exactly one file of a module includes this
 * header.  There are no locks: only the loading task and threads that the case stops
 * before it returns may report failures.
 */
#ifndef EVENTLOG_KTEST_H
#define EVENTLOG_KTEST_H

#include <linux/kernel.h>

/* The first failure of the running case. */
static char ktest_failure[160];

#define ktest_fail(format, ...) do {						\
	if (!*ktest_failure)							\
		snprintf(ktest_failure, sizeof(ktest_failure), "%s:%d: " format,	\
			 __func__, __LINE__, ##__VA_ARGS__);			\
} while (0)

/* A case continues after a failure, so that it cleans up. */
#define EXPECT(condition) ({							\
	bool expect_met = (condition);						\
										\
	if (!expect_met)							\
		ktest_fail("false: %s", #condition);				\
	expect_met;								\
})

#define EXPECT_EQ(is, should) ({						\
	s64 expect_is = (s64)(is), expect_should = (s64)(should);		\
										\
	if (expect_is != expect_should)						\
		ktest_fail("%s is %lld, expected %lld", #is, expect_is, expect_should); \
	expect_is == expect_should;						\
})

struct ktest_case {
	const char *name;
	void (*run)(void);
};

/* Runs the cases and returns the number of failed cases. */
static unsigned int ktest_run(const struct ktest_case *cases, unsigned int count)
{
	unsigned int i, failed = 0;

	pr_info("KTAP version 1\n");
	pr_info("1..%u\n", count);
	for (i = 0; i < count; i++) {
		*ktest_failure = '\0';
		cases[i].run();
		if (*ktest_failure)
			pr_info("# %s\n", ktest_failure);
		failed += *ktest_failure != '\0';
		pr_info("%sok %u %s\n", *ktest_failure ? "not " : "", i + 1, cases[i].name);
	}
	return failed;
}

#endif /* EVENTLOG_KTEST_H */
