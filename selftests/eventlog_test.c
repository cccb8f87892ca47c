// SPDX-License-Identifier: GPL-2.0-only
/*
 * The harness of the selftests: see eventlog_test.h.
 *
 * The runner is single-threaded and owns the list of cases and the TAP output.
 * A case and the runner share a page for what the exit status cannot carry: the
 * reason of a skip.
 */
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "eventlog_test.h"

enum {
	EXIT_PASSED = 0,
	EXIT_FAILED = 1,
	EXIT_SKIPPED = 4,	/* as kselftest expects */
};

/* A killed process that is still there after this time hangs in the kernel. */
#define SECONDS_TO_DIE 30

static struct test_case *first_case;
static struct test_case **last_case = &first_case;
static char *skip_reason;
static __thread char note[256];

void test_enlist(struct test_case *test)
{
	*last_case = test;
	last_case = &test->next;
}

static void print_line(const char *prefix, const char *format, va_list arguments)
{
	char line[1024];
	int bytes = snprintf(line, sizeof(line), "%s", prefix);

	bytes += vsnprintf(line + bytes, sizeof(line) - bytes, format, arguments);
	if (bytes > (int)sizeof(line) - 2)
		bytes = sizeof(line) - 2;
	line[bytes++] = '\n';
	if (write(STDOUT_FILENO, line, bytes) != bytes)
		_exit(EXIT_FAILED);
}

static void __attribute__((format(printf, 1, 2))) print_tap(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line("", format, arguments);
	va_end(arguments);
}

void test_print(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line("# ", format, arguments);
	va_end(arguments);
}

void test_note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(note, sizeof(note), format, arguments);
	va_end(arguments);
}

void test_fail(const char *file, int line, const char *format, ...)
{
	const char *name = strrchr(file, '/');
	char text[768];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	test_print("%s:%d: %s%s%s%s", name ? name + 1 : file, line, text,
		   note[0] ? " [" : "", note, note[0] ? "]" : "");
	_exit(EXIT_FAILED);
}

void test_skip(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(skip_reason, 256, format, arguments);
	va_end(arguments);
	_exit(EXIT_SKIPPED);
}

const char *test_errno_name(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
#define NAME(symbol) { symbol, #symbol }
		NAME(EPERM), NAME(ENOENT), NAME(ESRCH), NAME(EINTR), NAME(EIO),
		NAME(ENXIO), NAME(E2BIG), NAME(ENOEXEC), NAME(EBADF), NAME(ECHILD),
		NAME(EAGAIN), NAME(ENOMEM), NAME(EACCES), NAME(EFAULT), NAME(EBUSY),
		NAME(EEXIST), NAME(ENODEV), NAME(EINVAL), NAME(ENFILE), NAME(EMFILE),
		NAME(ENOTTY), NAME(ENOSPC), NAME(ESPIPE), NAME(EROFS), NAME(EPIPE),
		NAME(ERANGE), NAME(EDEADLK), NAME(ENOSYS), NAME(EBADMSG),
		NAME(EOVERFLOW), NAME(EMSGSIZE), NAME(EOPNOTSUPP), NAME(ETIMEDOUT),
		NAME(ECANCELED),
#undef NAME
	};
	size_t i;

	if (!error)
		return "success";
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].error == error)
			return names[i].name;
	return strerror(error);
}

pid_t test_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		test_fail(__FILE__, __LINE__, "fork: %s", test_errno_name(errno));
	return pid;
}

static int join(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			test_fail(__FILE__, __LINE__, "waitpid: %s", test_errno_name(errno));
	return status;
}

static void print_end(const char *who, int status)
{
	if (WIFSIGNALED(status))
		test_print("%s ended by signal %d (%s)", who, WTERMSIG(status),
			   strsignal(WTERMSIG(status)));
	else
		test_print("%s exited with %d", who, WEXITSTATUS(status));
}

void test_join(pid_t pid)
{
	int status = join(pid);

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	print_end("child", status);
	_exit(EXIT_FAILED);
}

void test_join_signal(pid_t pid, int number)
{
	int status = join(pid);

	if (WIFSIGNALED(status) && WTERMSIG(status) == number)
		return;
	print_end("child", status);
	test_fail(__FILE__, __LINE__, "child not ended by signal %d", number);
}

void test_wait(unsigned int tries)
{
	const struct timespec instant = { .tv_nsec = tries < 100 ? 1000000 : 20000000 };

	/* pause: callers wait for a state with it. */
	nanosleep(&instant, NULL);
}

void test_pause(void)
{
	test_wait(0);
}

static __u64 seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static unsigned int stress_seconds(void)
{
	const char *given = getenv("EVENTLOG_STRESS_SECONDS");

	return given ? strtoul(given, NULL, 0) : 0;
}

/* Start time of the running case. */
static __u64 case_start;

bool test_has_time(void)
{
	return seconds_now() < case_start + stress_seconds();
}

bool test_is_long(void)
{
	return stress_seconds();
}

__u64 test_seed(void)
{
	const char *given = getenv("EVENTLOG_SEED");
	__u64 seed;

	if (given)
		seed = strtoull(given, NULL, 0);
	else if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (__u64)getpid() << 32 | time(NULL);
	test_print("EVENTLOG_SEED=0x%llx", (unsigned long long)seed);
	return seed;
}

/* Any state is valid; neighbouring seeds give unrelated numbers. */
__u64 test_random(__u64 *state)
{
	__u64 number = *state += 0x9e3779b97f4a7c15ULL;

	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9ULL;
	number = (number ^ number >> 27) * 0x94d049bb133111ebULL;
	return number ^ number >> 31;
}

/* ------------------------------------------------------------------------
 * The kernel's log, watched during each case
 */
static int kernel_log = -1;

static void kernel_log_skip(void)
{
	if (kernel_log >= 0)
		lseek(kernel_log, 0, SEEK_END);
}

static bool is_warning(const char *line)
{
	static const char *const words[] = {
		"BUG: ", "WARNING: ", "Oops", "general protection fault", "UBSAN: ",
		"KASAN: ", "new suspected memory leaks", "INFO: task ", "rcu_preempt self-detected",
		"rcu_sched self-detected", "allocations left", "Bad page state",
	};
	size_t i;

	/* scripts/dmesg-check finds out whether a data race is of the kernel itself. */
	if (strstr(line, "BUG: KCSAN: "))
		return false;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

/* Prints the warnings since the last call; returns true if there were none. */
static bool kernel_log_clean(void)
{
	char line[8192];
	bool clean = true;
	ssize_t bytes;

	if (kernel_log < 0)
		return true;
	for (;;) {
		bytes = read(kernel_log, line, sizeof(line) - 1);
		if (bytes < 0) {
			if (errno == EPIPE || errno == EINTR)
				continue;
			return clean;
		}
		line[bytes] = '\0';
		line[strcspn(line, "\n")] = '\0';
		if (is_warning(line)) {
			test_print("kernel: %.200s", line);
			clean = false;
		}
	}
}

/* ------------------------------------------------------------------------
 * The runner
 */

/*
 * How many times as slow as a quiet emulated guest, for which time limits are made, is this
 * machine now?  Forks are measured, because they need the scheduler and page faults too.
 */
static unsigned int slowness(void)
{
	const unsigned int forks = 10, usual_us = 20000, most = 20;
	struct timespec begin, end;
	unsigned int i, us;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (i = 0; i < forks; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	us = (end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000;
	us /= usual_us;
	return us < 1 ? 1 : us > most ? most : us;
}

/*
 * Waits for a child (-1: any); returns false if the time limit expires first.  The limit is
 * longer on a slow machine, whose speed is measured when the limit is reached.
 */
static bool reap(pid_t pid, unsigned int seconds, int *status, pid_t *reaped)
{
	const __u64 begin = seconds_now();
	__u64 until = begin + seconds;
	const struct timespec second = { .tv_sec = 1 };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		*reaped = waitpid(pid, status, WNOHANG);
		if (*reaped)
			return true;
		if (seconds_now() >= until) {
			until = begin + (__u64)seconds * slowness();
			if (seconds_now() >= until)
				return false;
		}
		sigtimedwait(&child, NULL, &second);
	}
}

/* Kills the children of this process. */
static void kill_children(void)
{
	const pid_t self = getpid();
	char text[512], *end;
	glob_t found;
	FILE *file;
	size_t i;
	int parent;

	if (glob("/proc/[0-9]*/stat", 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++) {
		file = fopen(found.gl_pathv[i], "re");
		if (!file)
			continue;
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
		fclose(file);
		/* The name may have any character. */
		end = strrchr(text, ')');
		if (end && sscanf(end, ") %*c %d", &parent) == 1 && parent == self)
			kill(atoi(text), SIGKILL);
	}
	globfree(&found);
}

/*
 * Ends all processes of a case, also those with a process group of their own; returns false if one
 * does not end.  The runner is their subreaper: who loses its parent becomes its child.
 */
static bool end_processes(pid_t group)
{
	pid_t reaped;
	int status;

	kill(-group, SIGKILL);
	do {
		reaped = waitpid(-1, &status, WNOHANG);
		if (reaped)
			continue;
		kill_children();
		if (!reap(-1, SECONDS_TO_DIE, &status, &reaped))
			return false;
	} while (reaped > 0);
	return true;
}

/* Runs a case; returns one of EXIT_*. */
static int run_case(const struct test_case *test)
{
	const unsigned int limit = test->seconds + stress_seconds();
	char text[512];
	sigset_t child;
	pid_t pid, reaped;
	int status, result;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	skip_reason[0] = '\0';
	case_start = seconds_now();
	kernel_log_skip();

	pid = fork();
	if (pid < 0) {
		test_print("fork: %s", strerror(errno));
		return EXIT_FAILED;
	}
	if (!pid) {
		setpgid(0, 0);
		sigprocmask(SIG_UNBLOCK, &child, NULL);
		test->run();
		_exit(EXIT_PASSED);
	}
	setpgid(pid, pid);

	result = EXIT_FAILED;
	if (!reap(pid, limit, &status, &reaped))
		test_print("still running after %u seconds", limit);
	else if (WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_PASSED ||
				       WEXITSTATUS(status) == EXIT_SKIPPED))
		result = WEXITSTATUS(status);
	else if (WIFSIGNALED(status))
		print_end(test->name, status);

	if (!end_processes(pid)) {
		print_tap("Bail out! %s: a killed process does not end", test->name);
		_exit(EXIT_FAILED);
	}
	if (result != EXIT_FAILED && !test_after_each(text, sizeof(text))) {
		test_print("left behind: %s", text);
		result = EXIT_FAILED;
	}
	if (result == EXIT_FAILED)
		test_recover();
	if (!kernel_log_clean())
		result = EXIT_FAILED;
	return result;
}

static bool is_chosen(const struct test_case *test, char **patterns)
{
	if (!*patterns)
		return true;
	for (; *patterns; patterns++)
		if (!fnmatch(*patterns, test->name, 0))
			return true;
	return false;
}

void __attribute__((weak)) test_after_all(void)
{
}

void __attribute__((weak)) test_recover(void)
{
}

/* A program without cases, which uses only the checks, has its own. */
int __attribute__((weak)) main(int argc, char **argv)
{
	unsigned int count = 0, passed = 0, skipped = 0;
	struct test_case *test;
	const char *reason;
	sigset_t child;

	(void)argc;
	if (argv[1] && !strcmp(argv[1], "-l")) {
		for (test = first_case; test; test = test->next)
			print_tap("%s", test->name);
		return EXIT_PASSED;
	}

	print_tap("TAP version 13");
	reason = test_before_all();
	if (reason) {
		print_tap("1..0 # SKIP %s", reason);
		return EXIT_SKIPPED;
	}
	for (test = first_case; test; test = test->next)
		count += is_chosen(test, argv + 1);
	print_tap("1..%u", count);

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	skip_reason = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skip_reason == MAP_FAILED) {
		print_tap("Bail out! mmap: %s", strerror(errno));
		return EXIT_FAILED;
	}

	count = 0;
	for (test = first_case; test; test = test->next) {
		if (!is_chosen(test, argv + 1))
			continue;
		count++;
		switch (run_case(test)) {
		case EXIT_PASSED:
			print_tap("ok %u %s", count, test->name);
			passed++;
			break;
		case EXIT_SKIPPED:
			print_tap("ok %u %s # SKIP %s", count, test->name, skip_reason);
			skipped++;
			break;
		default:
			print_tap("not ok %u %s", count, test->name);
		}
	}
	test_after_all();
	test_print("passed %u, failed %u, skipped %u", passed, count - passed - skipped, skipped);
	if (passed + skipped != count)
		return EXIT_FAILED;
	return passed ? EXIT_PASSED : EXIT_SKIPPED;
}
