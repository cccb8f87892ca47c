// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failing allocations and accesses to user memory in loading and unloading the modules, and in
 * what belongs to them: trace events of tracefs, the files of user_events, and the scheduler's
 * probes.  A load that fails leaves nothing behind; a call that fails changes nothing.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fail_common.h"
#include "filter_common.h"
#include "hostile_common.h"
#include "mapped_common.h"
#include "module_common.h"
#include "user_events_common.h"

#define EXAMPLE "eventlog_marker_example"
#define TRACED TRACE_EVENTS "/eventlog_" EVENTLOG_DEFAULT_PROVIDER "/scarce"

static void no_witness(void)
{
}

/* ------------------------------------------------------------------------
 * Loading
 */

/* Failures between parsing a module's parameters and its own code are of the loader. */
#define LOADER_SLACK 40

/*
 * The first failure of a module that must not fail while its trace events are made: ftrace
 * warns about that, also when it unloads the module.  The loader makes them before it parses
 * the parameters.  A wrong one ends it there.
 */
static unsigned int first_after_trace_events(int file, const char *wrong_parameter)
{
	long left;

	CHECK(fail_at(FAILURES_MAX));
	CHECK_ERRNO(syscall(SYS_finit_module, file, wrong_parameter, 0), EINVAL);
	left = fail_left();
	fail_at(0);
	CHECK(left > 0 && left < FAILURES_MAX);
	/* The number of allocations varies a little. */
	return FAILURES_MAX - (unsigned int)left + LOADER_SLACK;
}

/*
 * Loads and unloads a module until no failure is injected into loading any more.  Without
 * EVENTLOG_STRESS_SECONDS, each run tries some of the failures, chosen at random: most are
 * in the kernel's own loader, and each attempt takes long.
 */
static void fail_module(int file, unsigned int first, const char *name)
{
	const bool all = test_is_long();
	const unsigned int step = user_mode_linux() ? 20 : 60;
	unsigned int number, tried = 0, failed = 0;
	__u64 seed = test_seed();
	bool injected = true;

	for (number = first; injected; number += all ? 1 : 1 + test_random(&seed) % step) {
		int result, error;

		CHECK(number < FAILURES_MAX);
		test_note("%s, failure %u", name, number);
		CHECK(fail_at(number));
		result = syscall(SYS_finit_module, file, "", 0);
		error = errno;
		injected = failed_by_injection();
		tried++;
		if (result) {
			test_note("%s, failure %u: %s", name, number, test_errno_name(error));
			CHECK(injected);
			failed++;
			continue;
		}
		/* Unloading fails only if the name cannot be read, not if memory is short. */
		CHECK(fail_at(1 + number % 8));
		result = module_unload(name);
		error = errno;
		failed_by_injection();
		if (result) {
			CHECK_EQ(error, EFAULT);
			CHECK_OK(module_unload(name));
		}
	}
	test_print("%s: %u of %u attempts to load failed, of failures %u to %u", name, failed,
		   tried, first, number);
}

TEST(load_of_a_module_with_markers)
{
	int file = module_open(EXAMPLE);

	fail_prepare();
	fail_module(file, 1, EXAMPLE);
	close(file);
	check_working();
}

TEST(load_of_eventlog)
{
	int file;

	fail_prepare();
	load("");
	CHECK_OK(try_unload());
	file = CHECK_OK(open(module_path(), O_RDONLY | O_CLOEXEC));
	fail_module(file, first_after_trace_events(file, "events_max=x"), "eventlog");
	close(file);
	load("");
	check_working();
}

/* The first rule with a filter makes what all such rules share: for each failure, a new load. */
TEST(first_filter)
{
	static const struct filter_term term = {
		"value", EVENTLOG_TERM_NUMBER, .operation = EVENTLOG_TERM_OP_EQUAL, .number = 1,
	};
	struct eventlog_rule rule = rule_request(NULL, "scarce");
	static struct filter filter;
	bool injected = true;
	unsigned int number;

	fail_prepare();
	rule.filter = filter_fill(&filter, &term, 1, "value == 1");
	for (number = 1; injected; number++) {
		struct consumer consumer;
		int result, error;

		test_note("failure %u", number);
		load("");
		consumer_open(&consumer, 0);
		CHECK(fail_at(number));
		result = ioctl(consumer.fd, EVENTLOG_IOC_RULE_ADD, &rule);
		error = errno;
		injected = failed_by_injection();
		CHECK(!result || (injected && fail_error(error)));
		if (result)
			CHECK_OK(ioctl(consumer.fd, EVENTLOG_IOC_RULE_ADD, &rule));
		consumer_close(&consumer);
	}
	CHECK(number > 3);
	check_working();
}

/* Modules that need eventlog.ko.  Some kernels lack what one of them is made for. */
static void fail_dependent(const char *path, const char *name)
{
	int file;

	fail_prepare();
	load("");
	file = module_built(path);
	if (file < 0)
		SKIP("%s was not built", path);
	if (syscall(SYS_finit_module, file, "", 0)) {
		const int error = errno;

		/* What it hooks, or user_events of its own. */
		CHECK(error == EOPNOTSUPP || error == ENOENT);
		SKIP("this kernel does not suit %s", name);
	}
	CHECK_OK(module_unload(name));
	fail_module(file, 1, name);
	close(file);
	check_working();
}

TEST(load_of_user_events)
{
	fail_dependent(USER_EVENTS_MODULE ".ko", USER_EVENTS_MODULE);
}

TEST(load_of_sched)
{
	fail_dependent("module/sched/eventlog_sched.ko", "eventlog_sched");
}

TEST(load_of_tcp)
{
	fail_dependent("module/providers/eventlog_tcp.ko", "eventlog_tcp");
}

TEST(load_of_proc)
{
	fail_dependent("module/providers/eventlog_proc.ko", "eventlog_proc");
}

/* ------------------------------------------------------------------------
 * Trace events
 */

/* Writes to a file of tracefs; returns 0, or -1 and errno. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error;
	ssize_t written;

	if (fd < 0)
		return -1;
	written = write(fd, text, strlen(text));
	error = errno;
	close(fd);
	errno = error;
	return written < 0 ? -1 : 0;
}

/* An event that could not be enabled is off.  Disabling needs memory to open the file. */
static int call_enable(void)
{
	int error;

	if (put(TRACED "/enable", "1")) {
		error = errno;
		CHECK_EQ(file_number(TRACED "/enable"), 0);
		errno = error;
		return -1;
	}
	if (!put(TRACED "/enable", "0"))
		return 0;
	error = errno;
	CHECK_OK(put(TRACED "/enable", "0"));
	errno = error;
	return -1;
}

static int call_format(void)
{
	char text[4096];
	int fd = open(TRACED "/format", O_RDONLY | O_CLOEXEC), error;
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, text, sizeof(text));
	error = errno;
	close(fd);
	errno = error;
	return got < 0 ? -1 : 0;
}

/*
 * Not in the worker that makes trace events: in some kernels, ftrace frees the event's file if it
 * has no memory for a field, and once more when it lets go of the directory.  No caller can prevent
 * that.
 */
TEST(trace_events)
{
	static const struct fail_call calls[] = {
		{ "enable", call_enable }, { "format", call_format },
	};
	unsigned int i;
	int fd;

	fail_prepare();
	if (!trace_events_exist())
		SKIP("this kernel has no trace events for modules");
	fd = device_open();
	register_event(fd, "scarce u32 value");
	WAIT_FOR(!access(TRACED "/enable", F_OK));
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		fail_each(&calls[i], &fd, 1, no_witness);
	close(fd);
}

/* ------------------------------------------------------------------------
 * user_events
 */

/* Made before failures are injected. */
static struct {
	int file;		/* has a registration of "scarce_kept" */
	__u32 index;
	__u32 kept;		/* its word */
	__u32 word;		/* of other registrations */
	bool lines;		/* the kernel has dynamic_events */
	struct switcher switcher;
} made;

static int call_open(void)
{
	int fd = user_events_try_open();

	return fd < 0 ? -1 : close(fd);
}

/* The limits of a user without rights need memory and outlive the file: each time a new user. */
static int call_open_of_user(void)
{
	static uid_t user = USER;
	int fd, error;

	if (seteuid(++user))
		return -1;
	fd = user_events_try_open();
	error = errno;
	if (seteuid(0))
		CHECK_OK(seteuid(0));
	errno = error;
	return fd < 0 ? -1 : close(fd);
}

/* The word is no longer written to, whatever failed. */
static int unreg(int fd)
{
	struct user_unreg request = {
		.size = sizeof(request), .disable_bit = 3, .disable_addr = PTR(&made.word),
	};

	return fail_undo(fd, USER_EVENTS_UNREG, &request);
}

static int call_reg(void)
{
	int fd = user_events_try_open(), result, error;

	if (fd < 0)
		return -1;
	result = try_reg(fd, "scarce_new u32 value; __rel_loc char[] text", &made.word, 4, 3);
	if (!result)
		result = unreg(fd);
	error = errno;
	close(fd);
	errno = error;
	return result;
}

static int call_reg_again(void)
{
	return try_reg(made.file, "scarce_kept u32 value", &made.word, 4, 3) ? -1 :
	       unreg(made.file);
}

/* A persistent event. */
static int call_del(void)
{
	struct user_reg request = reg_request("scarce_long u32 value", &made.word, 4, 3);
	int fd = user_events_try_open(), result, error;

	if (fd < 0)
		return -1;
	request.flags = USER_EVENTS_PERSIST;
	result = ioctl(fd, USER_EVENTS_REG, &request);
	error = errno;
	if (!result) {
		result = unreg(fd);
		error = errno;
	}
	close(fd);
	if (!result) {
		result = ioctl(made.file, USER_EVENTS_DEL, "scarce_long");
		error = errno;
	}
	/* It may exist after a failure of one of the later calls only. */
	if (result)
		ioctl(made.file, USER_EVENTS_DEL, "scarce_long");
	errno = error;
	return result;
}

static int call_write(void)
{
	__u32 message[2] = { made.index, 0x34333231 };

	/* Checked by the event of the witness: a write that fails emits nothing. */
	if (write(made.file, message, sizeof(message)) < 0)
		return -1;
	CHECK_EQ(consumer_skip(&made.switcher.consumer), 1);
	return 0;
}

static int call_status(void)
{
	char text[256];
	int fd = open(USER_EVENTS_STATUS, O_RDONLY | O_CLOEXEC), error;
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, text, sizeof(text));
	error = errno;
	close(fd);
	errno = error;
	return got < 0 ? -1 : 0;
}

/* A child has the words of its parent: without memory for that, it is not made, or has none. */
static int call_fork(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(0);
	if (child < 0)
		return -1;
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	return 0;
}

static int call_line(void)
{
	int error;

	if (!made.lines)
		return 0;
	if (put(TRACEFS "/dynamic_events", "u:scarce_line u32 value\n"))
		return -1;
	if (!put(TRACEFS "/dynamic_events", "-:scarce_line\n"))
		return 0;
	error = errno;
	CHECK_OK(put(TRACEFS "/dynamic_events", "-:scarce_line\n"));
	errno = error;
	return -1;
}

/* The words of others are right, and the event arrives. */
static void check_user_events(void)
{
	__u32 message[2] = { made.index, 0x34333231 };

	CHECK_EQ(made.word, 0);
	CHECK_EQ(made.kept, 1);
	CHECK_EQ(write(made.file, message, sizeof(message)), sizeof(message));
	CHECK_EQ(consumer_skip(&made.switcher.consumer), 1);
}

TEST(user_events)
{
	static const struct fail_call calls[] = {
		{ "open", call_open }, { "open of a user", call_open_of_user },
		{ "REG", call_reg }, { "REG again", call_reg_again },
		{ "DEL", call_del }, { "write", call_write }, { "status", call_status },
		{ "fork", call_fork }, { "line in dynamic_events", call_line },
	};
	static __u32 word;
	unsigned int i;
	int others[2];

	fail_prepare();
	made.file = user_events_open();
	CHECK_OK(chmod(TRACEFS, 0755));
	CHECK_OK(chmod(USER_EVENTS_DATA, 0666));
	made.lines = !access(TRACEFS "/dynamic_events", F_OK);
	made.index = reg(made.file, "scarce_kept u32 value", &made.kept, 4, 0);
	switcher_open(&made.switcher);
	switch_on(&made.switcher);
	WAIT_FOR(made.kept == 1);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		fail_each(&calls[i], &made.switcher.consumer.fd, 1, check_user_events);
	/* A new event, and the first and the second one of a file. */
	others[0] = user_events_open();
	others[1] = user_events_open();
	reg(others[0], "scarce_other u32 value", &word, 4, 3);
	fail_tree_nodes(true);
	CHECK_ERRNO(call_reg(), ENOMEM);
	CHECK_ERRNO(try_reg(others[1], "scarce_kept u32 value", &made.word, 4, 3), ENOMEM);
	CHECK_ERRNO(try_reg(made.file, "scarce_other u32 value", &made.word, 4, 3), ENOMEM);
	fail_tree_nodes(false);
	check_user_events();
	close(others[0]);
	close(others[1]);
	consumer_close(&made.switcher.consumer);
	close(made.file);
}

/* ------------------------------------------------------------------------
 * eventlog_sched.ko
 */

/* The first listener to its events attaches the probes. */
static int call_listen(void)
{
	struct eventlog_subscribe request = subscribe_request(2 * page_size());
	struct eventlog_rule rule = rule_request("sched", NULL);
	int fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC), result, error;

	if (fd < 0)
		return -1;
	result = ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request);
	if (!result)
		result = ioctl(fd, EVENTLOG_IOC_RULE_ADD, &rule);
	error = errno;
	close(fd);
	errno = error;
	return result;
}

/* A thread that gets a ring gets an entry in the table of threads. */
static int call_enter(void)
{
	struct eventlog_register event = register_request("scarce u32 value");
	struct eventlog_attach attach = attach_request(mapped_least_bytes());
	int fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC), result, error;
	void *address;

	if (fd < 0)
		return -1;
	result = ioctl(fd, EVENTLOG_IOC_REGISTER, &event);
	if (!result)
		result = ioctl(fd, EVENTLOG_IOC_ATTACH, &attach);
	if (!result) {
		address = try_map(fd, &attach);
		result = address == MAP_FAILED ? -1 : munmap(address, attach.length);
	}
	error = errno;
	close(fd);
	errno = error;
	return result;
}

TEST(sched)
{
	static const struct fail_call calls[] = {
		{ "RULE_ADD", call_listen }, { "ATTACH", call_enter },
	};
	struct consumer consumer;
	unsigned int i;
	int fd, file;

	fail_prepare();
	load("");
	file = module_built("module/sched/eventlog_sched.ko");
	CHECK_OK(file);
	CHECK_OK(module_insert(file, ""));
	fd = device_open();
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		fail_each(&calls[i], &fd, 1, no_witness);
	/* With its probes. */
	consumer_open(&consumer, 16 * page_size());
	rule_add(consumer.fd, "sched", NULL);
	fail_each(&calls[1], &fd, 1, no_witness);
	consumer_close(&consumer);
	close(fd);
	CHECK_OK(module_unload("eventlog_sched"));
	check_working();
}
