// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a failed case leaves in the kernel when its processes have ended: enabled trace events,
 * modules that use eventlog.ko, and definitions, instances and policies that outlive processes. It
 * is removed, so that the next case starts with the module as the runner has loaded it.  Only the
 * harness calls this, outside of all cases; a failure here is one of the next case.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventlog_common.h"

/* What closes files may do so a moment after their process has ended. */
#define TRIES_MAX 1000

static void write_each(const char *pattern, const char *text)
{
	glob_t found;
	size_t i;

	if (glob(pattern, 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		file_write(found.gl_pathv[i], text);
	globfree(&found);
}

/* Deletes the persistent events: the module cannot be unloaded while one has a trace event. */
static void persistent_delete(void)
{
	char *text = status_read(), *line, *rest = text, provider[256], event[256];
	int fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC);

	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "%*u:%255[^/]/%255s", provider, event) == 2)
			try_delete(fd, provider, event);
	close(fd);
	free(text);
}

/* Unloads what can be unloaded now; returns whether nothing is left. */
static bool modules_unload_some(void)
{
	bool none = true;
	glob_t found = { 0 };
	size_t i;

	glob("/sys/module/eventlog*/holders/*", 0, NULL, &found);
	glob("/sys/module/eventlog*/initstate", GLOB_APPEND, NULL, &found);
	for (i = 0; i < found.gl_pathc; i++) {
		char *name = found.gl_pathv[i], *end = strstr(name, "/initstate");

		if (end)
			*end = '\0';
		if (module_unload(strrchr(name, '/') + 1))
			none = false;
	}
	globfree(&found);
	return none;
}

void test_recover(void)
{
	const char *parameters = getenv("EVENTLOG_PARAMETERS");
	unsigned int tries;
	int fd;

	if (!module_path())
		return;
	write_each(TRACE_EVENTS "/eventlog*/enable", "0");
	write_each(TRACE_EVENTS "/user_events/enable", "0");
	write_each(TRACEFS "/instances/*/events/eventlog*/enable", "0");
	persistent_delete();
	for (tries = 0; !modules_unload_some() && tries < TRIES_MAX; tries++)
		test_wait(tries);
	fd = open(module_path(), O_RDONLY | O_CLOEXEC);
	if (fd < 0 || module_insert(fd, parameters ? parameters : ""))
		test_print("cannot load the module again: %s", test_errno_name(errno));
	for (tries = 0; access(EVENTLOG_DEVICE, F_OK) && tries < TRIES_MAX; tries++)
		test_wait(tries);
}
