/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The harness of the selftests: declares cases, runs each in a process group
 * of its own under a time limit, and prints TAP.
 *
 * A case that fails a check, crashes, hangs, makes the kernel complain in its
 * log or leaves something behind in the module is one "not ok" line; the others
 * run all the same.  Checks may be used in any thread and any child process of
 * a case: in a thread they end the case; in a child they end that child, and
 * test_join() in its parent then fails in turn.
 */
#ifndef EVENTLOG_TEST_H
#define EVENTLOG_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/* Emulated machines are slow and shared: this is for hangs, not for speed. */
#define TEST_SECONDS 600

/**
 * struct test_case - one case, made by TEST()
 * @name: as printed and as given on the command line
 * @run: returns when all is well
 * @seconds: after these it counts as hung
 * @next: the following one
 */
struct test_case {
	const char *name;
	void (*run)(void);
	unsigned int seconds;
	struct test_case *next;
};

/* Defines and enlists a case; they run in the order of their definition. */
#define TEST(title) TEST_WITHIN(title, TEST_SECONDS)
#define TEST_WITHIN(title, limit)						\
	static void test_##title(void);						\
	static struct test_case case_##title = {				\
		.name = #title, .run = test_##title, .seconds = (limit),	\
	};									\
	static void __attribute__((constructor)) enlist_##title(void)		\
	{									\
		test_enlist(&case_##title);					\
	}									\
	static void test_##title(void)

/* Fails unless the condition holds. */
#define CHECK(condition)							\
	do {									\
		if (!(condition))						\
			test_fail(__FILE__, __LINE__, "%s", #condition);	\
	} while (0)

/* Fails unless two integers are equal; shows both. */
#define CHECK_EQ(got, want)							\
	do {									\
		long long got_ = (long long)(got), want_ = (long long)(want);	\
		if (got_ != want_)						\
			test_fail(__FILE__, __LINE__,				\
				  "%s is %lld (0x%llx), not %s: %lld (0x%llx)",	\
				  #got, got_, got_, #want, want_, want_);	\
	} while (0)

/* Fails if the call returns a negative number; has the value it returned. */
#define CHECK_OK(call)								\
	({									\
		long value_ = (long)(call);					\
		if (value_ < 0)							\
			test_fail(__FILE__, __LINE__, "%s: %s", #call,		\
				  test_errno_name(errno));			\
		value_;								\
	})

/* Fails unless the call returns -1 (or MAP_FAILED) and leaves this errno. */
#define CHECK_ERRNO(call, want)							\
	do {									\
		long value_;							\
		int error_;							\
		errno = 0;							\
		value_ = (long)(call);						\
		error_ = value_ == -1 ? errno : 0;				\
		if (error_ != (want))						\
			test_fail(__FILE__, __LINE__, "%s: %ld, %s instead of %s", \
				  #call, value_, test_errno_name(error_),	\
				  test_errno_name(want));			\
	} while (0)

/* Likewise with two errnos that are both right. */
#define CHECK_ERRNO2(call, want, or)						\
	do {									\
		long value_;							\
		int error_;							\
		errno = 0;							\
		value_ = (long)(call);						\
		error_ = value_ == -1 ? errno : 0;				\
		if (error_ != (want) && error_ != (or))				\
			test_fail(__FILE__, __LINE__, "%s: %ld, %s instead of %s or %s", \
				  #call, value_, test_errno_name(error_),	\
				  test_errno_name(want), test_errno_name(or));	\
	} while (0)

/* Ends the case as skipped. */
#define SKIP(...) test_skip(__VA_ARGS__)

/* Waits until the condition holds, by the time limit of the case at most. */
#define WAIT_FOR(condition)							\
	do {									\
		while (!(condition))						\
			test_pause();						\
	} while (0)

/**
 * test_enlist() - add a case; TEST() calls it
 * @test: lives as long as the program
 */
void test_enlist(struct test_case *test);

/**
 * test_fail() - print a diagnostic and end the process as failed
 * @file: of the check
 * @line: of the check
 * @format: what went wrong
 */
void test_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/**
 * test_skip() - end the case as skipped; in the case's own process only
 * @format: why
 */
void test_skip(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/**
 * test_note() - what the calling thread is about to try, shown if a check fails
 * @format: nothing ends the previous note
 */
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * test_print() - print a line of diagnostics, whole even between processes
 * @format: without the leading "# " and the newline
 */
void test_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * test_errno_name() - the symbol of an error
 * @error: positive; 0 is "success"
 */
const char *test_errno_name(int error);

/**
 * test_fork() - fork a child that belongs to the case
 *
 * Return: 0 in the child, which ends by _exit(0) or a failing check; its pid in
 * the parent.
 */
pid_t test_fork(void);

/**
 * test_join() - wait for a child and fail unless it exited with 0
 * @pid: from test_fork()
 */
void test_join(pid_t pid);

/**
 * test_join_signal() - wait for a child and fail unless a signal ended it
 * @pid: from test_fork()
 * @number: the signal
 */
void test_join_signal(pid_t pid, int number);

/** test_pause() - give the processor away for an instant */
void test_pause(void);

/**
 * test_seed() - where the case's random numbers start
 *
 * Printed, so that EVENTLOG_SEED in the environment can repeat a run.
 */
__u64 test_seed(void);

/**
 * test_goes_on() - is a case that may take longer to begin another round
 *
 * Return: true until it has run for EVENTLOG_STRESS_SECONDS of the environment,
 * none unless given, which its time limit is longer by.
 */
bool test_goes_on(void);

/**
 * test_random() - the next random number
 * @state: seeded with anything; a thread has its own
 */
__u64 test_random(__u64 *state);

/*
 * What the harness asks of the subject's common code.  They run in the
 * harness's own process, outside of all cases.
 *
 * test_before_all() returns NULL, or why nothing can be tested.
 * test_after_each() puts into text what the case left behind; false if so.
 * test_after_all() runs at the end; a test program may define its own.
 */
const char *test_before_all(void);
bool test_after_each(char *text, size_t bytes);
void test_after_all(void);

#endif /* EVENTLOG_TEST_H */
