/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The harness of the selftests: it declares cases, runs each in a process group
 * of its own with a time limit, and prints TAP.
 *
 * A case that fails a check, crashes, hangs, triggers a warning in the kernel's
 * log or leaves definitions behind in the module is one "not ok" line; the other
 * cases still run, and start clean: all processes of a case end with it, and what a
 * failed case has left in the kernel is removed.  All threads and child processes of a case may use checks: a
 * failed check in a thread ends the case; one in a child ends the child, and
 * test_join() in its parent then ends the case.
 */
#ifndef EVENTLOG_TEST_H
#define EVENTLOG_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/* The limit detects hangs.  It is generous because emulated machines are slow. */
#define TEST_SECONDS 600

/**
 * struct test_case - one case, defined by TEST()
 * @name: as printed and as given on the command line
 * @run: returns if the case passes
 * @seconds: time limit
 * @next: next case in the list
 */
struct test_case {
	const char *name;
	void (*run)(void);
	unsigned int seconds;
	struct test_case *next;
};

/* Defines a case and adds it to the list; cases run in the order of definition. */
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

/* Fails unless two integers are equal and shows both. */
#define CHECK_EQ(got, want)							\
	do {									\
		long long got_ = (long long)(got), want_ = (long long)(want);	\
		if (got_ != want_)						\
			test_fail(__FILE__, __LINE__,				\
				  "%s is %lld (0x%llx), not %s: %lld (0x%llx)",	\
				  #got, got_, got_, #want, want_, want_);	\
	} while (0)

/* Fails if the call returns a negative number; evaluates to the returned value. */
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

/* The same, with two permitted errnos. */
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

/* Ends the case as skipped; only in the case's own process. */
#define SKIP(...) test_skip(__VA_ARGS__)

/*
 * Waits until the condition holds; only the time limit of the case ends the wait.  After about a
 * minute, the output says what the case waits for.
 */
#define WAIT_FOR(condition)							\
	do {									\
		unsigned int tries_ = 0;					\
		while (!(condition)) {						\
			test_wait(tries_++);					\
			if (tries_ == 3000)					\
				test_print("%s:%d: waiting for %s",		\
					   __FILE__, __LINE__, #condition);	\
		}								\
	} while (0)

/**
 * test_enlist() - add a case; TEST() calls it
 * @test: must exist until the program ends
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
 * test_skip() - end the case as skipped; only in the case's own process
 * @format: the reason
 */
void test_skip(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/**
 * test_note() - note what the calling thread tries next; a failed check prints it
 * @format: replaces the previous note
 */
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * test_print() - print a line of diagnostics in a single write
 * @format: without the leading "# " and the newline
 */
void test_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * test_errno_name() - the symbol of an error
 * @error: an errno; 0 is "success"
 */
const char *test_errno_name(int error);

/**
 * test_fork() - fork a child that belongs to the case
 *
 * Return: 0 in the child, which must end with _exit(0) or a failed check; its pid
 * in the parent.
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

/**
 * test_wait() - sleep between two looks at a condition: a millisecond, later 20
 * @tries: how often the caller has looked before.  Many processes that look all the time would
 * leave an emulated CPU nothing for what they wait for.
 */
void test_wait(unsigned int tries);

/** test_pause() - sleep for a millisecond */
void test_pause(void);

/**
 * test_seed() - the seed of the case's random numbers
 *
 * It is printed and can be set with EVENTLOG_SEED in the environment, to repeat a run.
 */
__u64 test_seed(void);

/**
 * test_has_time() - whether a case with a variable duration runs another round
 *
 * Return: true until the case has run for EVENTLOG_STRESS_SECONDS of the environment
 * (default 0).  The case's time limit grows by the same number.
 */
bool test_has_time(void);

/** test_is_long() - whether EVENTLOG_STRESS_SECONDS of the environment is not 0 */
bool test_is_long(void);

/**
 * test_random() - the next random number
 * @state: any initial value; each thread needs its own
 */
__u64 test_random(__u64 *state);

/*
 * Hooks in the common code of the tests.  They run in the harness's own process,
 * outside of all cases.
 *
 * test_before_all() returns NULL, or a reason why no test can run.
 * test_after_each() returns false and a description if the case left something behind.
 * test_recover() removes what a failed case left behind; a test program may do without.
 * test_after_all() runs at the end; a test program may define it.
 */
const char *test_before_all(void);
bool test_after_each(char *text, size_t bytes);
void test_recover(void);
void test_after_all(void);

#endif /* EVENTLOG_TEST_H */
