// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog engine: serve programs and elog of this user where the kernel module cannot be used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "libelog/util/engine.h"
#include "util/engine_run.h"

#ifdef ELOG_ENGINE

static bool once;

/* Prints the path of the socket; who started the engine in the background waits for it. */
static void tell(const char *path)
{
	const int nothing = once ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;

	puts(path);
	fflush(stdout);
	if (nothing < 0)
		return;
	dup2(nothing, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	close(nothing);
}

/* Makes it, unless it is there. Return: false: it is not a directory of this user alone. */
static bool make_directory(const char *path)
{
	return (!mkdir(path, 0700) || errno == EEXIST) && elog_is_own_directory(path);
}

/* Return: false: there is none that this user may use. */
static bool choose_directory(char path[ELOG_ENGINE_PATH_BYTES])
{
	static const enum elog_engine_place places[] = {
		ELOG_ENGINE_RUNTIME, ELOG_ENGINE_USER, ELOG_ENGINE_MEMORY,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (elog_engine_directory(places[i], path) && make_directory(path))
			return true;
	return false;
}

static int run_engine(const struct options *options)
{
	char path[ELOG_ENGINE_PATH_BYTES];
	const char *directory = path;
	int ret;

	if (options->argument_count > 1) {
		elog_error("unexpected argument '%s'", options->arguments[1]);
		return STATUS_ERROR;
	}
	if (options->argument_count)
		directory = options->arguments[0];
	if (options->argument_count ? !make_directory(directory) : !choose_directory(path)) {
		if (options->argument_count)
			elog_error("%s: not a directory that only this user can write to",
				   directory);
		else
			elog_error("there is no directory for the socket: set XDG_RUNTIME_DIR");
		return STATUS_ERROR;
	}
	once = options->once;
	prctl(PR_SET_NAME, "elog-engine");
	ret = elog_engine_run(directory, once, tell);
	/* Another one was quicker, which is as good for who has started this one. */
	if (ret == -EEXIST && once) {
		printf("%s/%s\n", directory, ELOG_ENGINE_SOCKET);
		return STATUS_OK;
	}
	if (ret)
		elog_error("%s: %s", directory, ret == -EEXIST ? "an engine serves it already" :
			   strerror(-ret));
	return ret ? STATUS_ERROR : STATUS_OK;
}

#else

static int run_engine(const struct options *options)
{
	(void)options;
	elog_error("this elog was built without the engine");
	return STATUS_ERROR;
}

#endif

static const struct verb_option engine_options[] = {
	{ OPTION_ONCE, "end when no one has captured for two seconds" },
	{ 0, NULL },
};

const struct verb verb_engine = {
	.name = "engine",
	.summary = "record events of programs where there is no kernel module",
	.usage = "[OPTION...] [DIR]",
	.description =
	"Does for the programs of this user what the kernel module does, in a process: without\n"
	"root, and where no module can be loaded. elog capture starts one when it finds no\n"
	"device, and it ends by itself; this command is for one that stays until a signal ends\n"
	"it. Prints the path of its socket. Programs and elog find it, or get the path in\n"
	"ELOG_DEVICE.\n"
	"\n"
	"DIR is the directory of the socket. The default is the first of these that can be used:\n"
	"$XDG_RUNTIME_DIR/eventlog, /run/user/UID/eventlog, /dev/shm/eventlog-UID.\n"
	"\n"
	"Events of the kernel, elog why and instances need the module.\n"
	"\n"
	"Exit status: 0 a signal has ended it, 1 an error.\n",
	.options = engine_options,
	.run = run_engine,
};
