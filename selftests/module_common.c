// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading of the module: see module_common.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module_common.h"

static bool with_user_events;

static bool user_events_loaded(void)
{
	return !access("/sys/module/" USER_EVENTS_MODULE "/initstate", F_OK);
}

int user_events_try_load(const char *parameters)
{
	return module_insert(CHECK_OK(module_built(USER_EVENTS_MODULE ".ko")), parameters);
}

void user_events_load(void)
{
	if (!module_path())
		SKIP("EVENTLOG_KO does not name the module's file");
	with_user_events = true;
	if (user_events_loaded())
		return;
	if (!user_events_try_load(""))
		return;
	CHECK_EQ(errno, EOPNOTSUPP);
	SKIP("this kernel has user_events, or no trace events for modules");
}

int try_load(const char *parameters)
{
	int result = module_insert(CHECK_OK(open(module_path(), O_RDONLY | O_CLOEXEC)),
				   parameters);

	return result || !with_user_events ? result : user_events_try_load("");
}

int try_unload(void)
{
	if (user_events_loaded() && module_unload(USER_EVENTS_MODULE))
		return -1;
	return module_unload("eventlog");
}

bool is_loaded(void)
{
	return !access("/sys/module/eventlog/initstate", F_OK);
}

void load(const char *parameters)
{
	if (!module_path())
		SKIP("EVENTLOG_KO does not name the module's file");
	if (is_loaded())
		CHECK_OK(try_unload());
	CHECK_OK(try_load(parameters));
	WAIT_FOR(!access(EVENTLOG_DEVICE, F_OK));
}

void load_open(const char *parameters)
{
	load(parameters);
	CHECK_OK(chmod(EVENTLOG_DEVICE, 0666));
}

pid_t fork_user(uid_t uid, void (*function)(void))
{
	pid_t child = test_fork();

	if (child)
		return child;
	CHECK_OK(setgid(uid));
	CHECK_OK(setuid(uid));
	function();
	_exit(0);
}

void as_user(uid_t uid, void (*function)(void))
{
	test_join(fork_user(uid, function));
}

struct eventlog_user_quota quota(int fd, __u32 number)
{
	return info_of(fd).quotas[number];
}

int try_register_number(int fd, const char *prefix, unsigned int number)
{
	char command[64];

	snprintf(command, sizeof(command), "%s_%u u32 x", prefix, number);
	return try_register(fd, command);
}

unsigned int register_many(int fd, const char *prefix, int error)
{
	unsigned int i = 0;

	while (!try_register_number(fd, prefix, i)) {
		i++;
		CHECK(i < 10000);
	}
	CHECK_EQ(errno, error);
	return i;
}

/* Loads the module as the runner did, for the next tests. */
void test_after_all(void)
{
	test_recover();
}
