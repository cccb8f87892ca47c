// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog upgrade: replace the kernel module while programs run.
 *
 * The steps: look for what would prevent it; ask producers, then subscribers to give the device
 * up; unload the modules; load them; hold producers off until subscribers are back. Until modules
 * are unloaded, closing the device takes everything back.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "input/live.h"
#include "input/names.h"
#include "libelog/util/port.h"
#include "upgrade/modules.h"
#include "upgrade/tracers.h"
#include "upgrade/users.h"

#define TIMEOUT_NS	10000000000ULL
#define LOOK_NS		20000000	/* between looks */
#define UNLOAD_NS	900000000ULL	/* EVENTLOG_LEAVE_LINGER lasts for a second */
#define UNLOAD_TRIES	5
#define RETURN_NS	5000000000ULL	/* for subscribers to come back */
#define RULES_NS	250000000ULL	/* and at least for their rules */

/**
 * struct upgrade - an upgrade
 * @options: the command line
 * @fd: the device; negative: closed
 * @file: of the module, as the user named it; NULL: what modprobe finds
 * @modules: what is unloaded and loaded
 * @info: of the module that is loaded at first
 * @version: of the one that replaces it, or NULL
 * @producers: how many processes had events
 * @others: how many others had the device open
 * @begun: modules may have been unloaded
 */
struct upgrade {
	const struct options *options;
	int fd;
	const char *file;
	struct modules modules;
	struct eventlog_info info;
	char *version;
	size_t producers;
	size_t others;
	bool begun;
};

static void look_later(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
}

static int ask(const struct upgrade *upgrade, uint32_t flags)
{
	struct eventlog_leave request = { .size = sizeof(request), .flags = flags };

	return elog_port_call(upgrade->fd, EVENTLOG_IOC_LEAVE, &request);
}

/* ------------------------------------------------------------------------
 * What would prevent it
 */

static bool count_persistent(void *context, const struct eventlog_definition *definition,
			     const struct elog_schema_event *event)
{
	(void)event;
	*(unsigned int *)context += (definition->state & EVENTLOG_DESCRIBED_PERSIST) != 0;
	return true;
}

static bool has_persistent(const struct upgrade *upgrade)
{
	unsigned int count = 0;

	definitions_each(upgrade->fd, count_persistent, &count);
	if (!count)
		return false;
	elog_error("there %s %u persistent event%s, which would be lost", count == 1 ? "is" : "are",
		   count, count == 1 ? "" : "s");
	elog_hint("elog list shows them; delete them with elog delete, and create them later");
	return true;
}

static bool has_instances(const struct upgrade *upgrade)
{
	struct eventlog_instance_info info = { .size = sizeof(info) };
	struct elog_text names = { 0 };
	struct elog_list *list;
	const char *name;

	if (elog_list_open(upgrade->fd, EVENTLOG_LIST_INSTANCES, 0, &list))
		return false;
	while (!elog_list_next(list, &info, &name)) {
		elog_text_printf(&names, "%s%s", names.data ? ", " : "", name);
		info.size = sizeof(info);
	}
	elog_list_close(list);
	if (!names.data)
		return false;
	elog_error("instances would be deleted: %s", names.data);
	elog_hint("with --force they are; then create them again, and restart their containers");
	elog_text_free(&names);
	return true;
}

/* The reason why a module that depends on eventlog cannot be unloaded. */
static bool is_in_use(const struct module *module, const struct users *users)
{
	const int uses = module->references - (int)module->holders;
	size_t i;

	if (uses <= 0 || !strcmp(module->name, EVENTLOG_MODULE))
		return false;
	elog_error("the module %s is in use, and cannot be unloaded", module->name);
	for (i = 0; i < users->count && !strcmp(module->name, "eventlog_user_events"); i++)
		if (users->users[i].by_user_events)
			elog_hint("%s[%d] uses user_events, which cannot be given up: stop it",
				  users->users[i].name, (int)users->users[i].pid);
	return true;
}

/* Return: whether one of the modules could not be unloaded, or not be loaded again. */
static bool is_stuck(struct upgrade *upgrade, const struct users *users)
{
	const struct module *module;
	bool stuck = false;
	char *path;
	size_t i;

	for (i = 0; i < upgrade->modules.count; i++) {
		module = &upgrade->modules.modules[i];
		path = module_path(module->name, upgrade->file);
		stuck |= is_in_use(module, users);
		stuck |= module_check(module->name, path,
				      strcmp(module->name, EVENTLOG_MODULE) ? NULL :
				      &upgrade->version) != 0;
		free(path);
	}
	return stuck;
}

/* Is it the version that the user wants? */
static bool is_other_version(const struct upgrade *upgrade)
{
	const char *wanted = upgrade->options->arguments[0];

	if (!wanted || upgrade->file || (upgrade->version && !strcmp(upgrade->version, wanted)))
		return false;
	elog_error("the module that modprobe would load is version %s, not %s",
		   upgrade->version ? upgrade->version : "unknown", wanted);
	return true;
}

/* Looks at everything, so that one run shows all reasons. */
static bool is_prevented(struct upgrade *upgrade, const struct users *users)
{
	bool prevented = false;

	if (!(upgrade->info.features & EVENTLOG_FEATURE_LEAVE)) {
		elog_error("this version of the module, %s, cannot ask programs to give it up",
			   upgrade->info.release);
		elog_hint("stop the programs that elog upgrade --dry-run names, then use "
			  "modprobe -r");
		prevented = true;
	}
	prevented |= tracers_enabled();
	prevented |= tracers_eprobes();
	prevented |= is_stuck(upgrade, users);
	prevented |= is_other_version(upgrade);
	prevented |= has_persistent(upgrade);
	if (!upgrade->options->force)
		prevented |= has_instances(upgrade);
	return prevented;
}

/* ------------------------------------------------------------------------
 * Who would have to leave
 */

static int find_users(struct upgrade *upgrade, struct users *users)
{
	int ret = users_of_events(users, upgrade->fd);
	size_t i;

	upgrade->producers = users->count;
	ret = ret ? ret : users_of_device(users);
	upgrade->others = 0;
	for (i = 0; i < users->count; i++)
		upgrade->others += users->users[i].holds && !users->users[i].registers;
	return ret;
}

static const char *kind_of(const struct user *user)
{
	if (!user->registers)
		return user->holds ? "reader" : "user_events";
	return user->has_library ? "libelog" : "program";
}

static void print_plan(const struct upgrade *upgrade, const struct users *users)
{
	size_t i;

	for (i = 0; i < users->count; i++)
		printf("%-12s %s[%d]\n", kind_of(&users->users[i]), users->users[i].name,
		       (int)users->users[i].pid);
	for (i = 0; i < upgrade->modules.count; i++)
		printf("%-12s %s\n", "module", upgrade->modules.modules[i].name);
	printf("%-12s %s -> %s\n", "version", upgrade->info.release,
	       upgrade->version ? upgrade->version : "?");
}

/* ------------------------------------------------------------------------
 * Asking
 */

static void name_those_who_stay(const struct users *users, bool producers)
{
	const struct user *user;
	size_t i;

	for (i = 0; i < users->count; i++) {
		user = &users->users[i];
		if (producers ? !user->registers : !user->holds)
			continue;
		if (!producers)
			elog_hint("%s[%d] has the device open", user->name, (int)user->pid);
		else if (user->has_library)
			elog_hint("%s[%d] uses libelog, but has tested no event since", user->name,
				  (int)user->pid);
		else
			elog_hint("%s[%d] does not map libelog.so: it may have to be restarted",
				  user->name, (int)user->pid);
	}
}

/* Waits until no process has events, or, with @producers false, the device. */
static int wait_for_users(struct upgrade *upgrade, bool producers)
{
	const uint64_t start = monotonic(), timeout = upgrade->options->timeout ?
			       upgrade->options->timeout : TIMEOUT_NS;
	struct users users = { 0 };
	size_t i, left;
	bool over;
	int ret;

	for (;;) {
		over = monotonic() - start >= timeout;
		ret = producers ? users_of_events(&users, upgrade->fd) : 0;
		if (!ret && (!producers || over))
			ret = users_of_device(&users);
		for (i = 0, left = 0; i < users.count; i++)
			left += producers ? users.users[i].registers : users.users[i].holds;
		if (ret || !left || over)
			break;
		/* The next look at the device has to know who has left. */
		if (producers)
			users_free(&users);
		look_later();
	}
	if (!ret && left) {
		elog_error("%zu process%s not given the device up%s", left,
			   left == 1 ? " has" : "es have",
			   upgrade->begun ? "" : producers ? "; nothing was changed" :
			   "; the module was not replaced, and captures go on");
		name_those_who_stay(&users, producers);
		ret = -EBUSY;
	} else if (ret) {
		elog_error("cannot find the processes that use the device: %s", strerror(-ret));
	}
	users_free(&users);
	return ret;
}

static int ask_all(struct upgrade *upgrade)
{
	const uint32_t first = EVENTLOG_LEAVE_PRODUCERS;
	int ret = ask(upgrade, first);

	if (!ret)
		ret = wait_for_users(upgrade, true) ? 1 :
		      ask(upgrade, first | EVENTLOG_LEAVE_SUBSCRIBERS | EVENTLOG_LEAVE_LINGER);
	if (!ret && wait_for_users(upgrade, false)) {
		/* Do not linger. The kernel lets captures come back first. */
		ask(upgrade, 0);
		ret = 1;
	}
	if (ret == -EPERM)
		elog_error("CAP_SYS_MODULE is needed");
	else if (ret == -EBUSY)
		elog_error("another elog upgrade runs");
	else if (ret < 0)
		elog_error("%s: %s", EVENTLOG_DEVICE, strerror(-ret));
	return ret;
}

/* ------------------------------------------------------------------------
 * Replacing
 */

/*
 * Loads those modules again that were unloaded before module @end failed. eventlog is the old one,
 * so they are never taken from the file that should have replaced it.
 */
static void load_again(const struct upgrade *upgrade, size_t end)
{
	const struct module *module;

	while (end--) {
		module = &upgrade->modules.modules[end];
		if (module_restore(module))
			elog_hint("%s was unloaded: load it again", module->name);
	}
	elog_hint("version %s of the module still runs", upgrade->info.release);
}

/* Unloads a module, which someone may still use for a moment. */
static int unload_one(const char *name)
{
	const uint64_t start = monotonic();
	int ret;

	while ((ret = module_unload(name)) == -EAGAIN && monotonic() - start < UNLOAD_NS)
		look_later();
	return ret == -ENOENT ? 0 : ret;
}

/* Asks everyone again, once the last request no longer lingers. */
static int ask_again(struct upgrade *upgrade)
{
	const uint64_t start = monotonic();

	while ((upgrade->fd = elog_device_open(EVENTLOG_DEVICE)) == -ESHUTDOWN &&
	       monotonic() - start < 10 * UNLOAD_NS)
		look_later();
	return upgrade->fd < 0 ? upgrade->fd : ask_all(upgrade);
}

/*
 * Unloads eventlog itself. The own file keeps it, too. On a busy machine, a process that was
 * opening the device when it was closed may keep it for longer than the request lingers.
 */
static int unload_last(struct upgrade *upgrade)
{
	unsigned int tries;
	int ret = 0;

	for (tries = 0; tries < UNLOAD_TRIES; tries++) {
		if (tries && ask_again(upgrade))
			return -EAGAIN;
		close(upgrade->fd);
		upgrade->fd = -1;
		ret = unload_one(EVENTLOG_MODULE);
		if (ret != -EAGAIN)
			break;
	}
	return ret;
}

static int unload_all(struct upgrade *upgrade)
{
	const size_t last = upgrade->modules.count - 1;
	const char *name = EVENTLOG_MODULE;
	int ret = 0;
	size_t i;

	for (i = 0; i < last && !ret; i++) {
		name = upgrade->modules.modules[i].name;
		ret = unload_one(name);
	}
	if (!ret) {
		name = EVENTLOG_MODULE;
		ret = unload_last(upgrade);
	} else {
		i--;
	}
	if (!ret)
		return 0;
	elog_error("cannot unload %s: %s", name, ret == -EAGAIN ?
		   "something in the kernel uses it, for example a tracer" : strerror(-ret));
	load_again(upgrade, i);
	return ret;
}

/* Waits until there are as many subscribers as before, while producers wait. */
static void let_subscribers_return(const struct upgrade *upgrade)
{
	struct eventlog_info info = { .size = sizeof(info) };
	const uint64_t start = monotonic();
	uint64_t rules;

	while (!elog_device_info(upgrade->fd, &info) &&
	       info.subscribers < upgrade->info.subscribers &&
	       monotonic() - start < RETURN_NS) {
		info.size = sizeof(info);
		look_later();
	}
	/* They add their rules now, which may take as long again. */
	rules = monotonic() - start < RULES_NS ? RULES_NS : monotonic() - start;
	nanosleep(&(struct timespec){ .tv_sec = (time_t)(rules / 1000000000),
				      .tv_nsec = (long)(rules % 1000000000) }, NULL);
}

/* @back: after the new module could not be loaded: the installed one, as the old one was */
static int load_one(const struct upgrade *upgrade, size_t index, bool back)
{
	const struct module *module = &upgrade->modules.modules[index];
	char *path;
	int ret;

	if (back)
		return module_restore(module);
	path = module_path(module->name, upgrade->file);
	ret = module_load(module, path);
	free(path);
	return ret;
}

/* Loads eventlog itself, and lets producers wait. */
static int load_first(struct upgrade *upgrade, bool back)
{
	int ret = load_one(upgrade, upgrade->modules.count - 1, back);

	if (ret)
		return ret;
	upgrade->fd = elog_device_open(EVENTLOG_DEVICE);
	if (upgrade->fd < 0) {
		elog_error("%s: %s", EVENTLOG_DEVICE, strerror(-upgrade->fd));
		return upgrade->fd;
	}
	/* An older module may not know it. */
	ask(upgrade, EVENTLOG_LEAVE_PRODUCERS);
	return 0;
}

static int load_all(struct upgrade *upgrade)
{
	int ret = load_first(upgrade, false), error;
	size_t i = upgrade->modules.count - 1;
	const bool back = ret;

	if (back) {
		/* It was loaded, but has no device. */
		unload_one(EVENTLOG_MODULE);
		if (load_first(upgrade, true)) {
			elog_hint("no version of the module is loaded: programs go on without "
				  "it, and wait for the device");
			return ret;
		}
	}
	while (i--) {
		error = load_one(upgrade, i, back);
		ret = ret ? ret : error;
	}
	if (upgrade->others)
		let_subscribers_return(upgrade);
	return ret;
}

/*
 * Signals that would end or stop this process, or a modprobe, while the modules are away: they
 * wait. A signal to the process group, as from a terminal, reaches modprobe, too.
 */
static void hold_signals(sigset_t *before)
{
	static const int held[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(held); i++)
		sigaddset(&set, held[i]);
	sigprocmask(SIG_BLOCK, &set, before);
	signal(SIGPIPE, SIG_IGN);
}

static int replace_asked(struct upgrade *upgrade, uint64_t start)
{
	struct eventlog_info info = { .size = sizeof(info) };
	int ret;

	if (unload_all(upgrade))
		return STATUS_ERROR;
	ret = load_all(upgrade);
	if (upgrade->fd >= 0 && !elog_device_info(upgrade->fd, &info)) {
		if (ret)
			elog_hint("version %s of the module runs now", info.release);
		else if (!upgrade->options->quiet)
			printf("%zu program%s and %zu reader%s gave the device up; %s was replaced "
			       "by %s in %.1f s\n", upgrade->producers,
			       upgrade->producers == 1 ? "" : "s", upgrade->others,
			       upgrade->others == 1 ? "" : "s", upgrade->info.release,
			       info.release, (double)(monotonic() - start) / 1e9);
	}
	if (upgrade->info.policies)
		elog_hint("marker policies are gone: set them again, or restart "
			  "eventlog-markers.service");
	return ret ? STATUS_ERROR : STATUS_OK;
}

static int replace(struct upgrade *upgrade)
{
	const uint64_t start = monotonic();
	sigset_t before;
	int ret;

	if (ask_all(upgrade))
		return STATUS_ERROR;
	/* Unloading would wait until an eprobe that was made meanwhile is removed. */
	if (tracers_eprobes()) {
		ask(upgrade, 0);
		return STATUS_ERROR;
	}
	hold_signals(&before);
	upgrade->begun = true;
	ret = replace_asked(upgrade, start);
	fflush(stdout);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

/* ------------------------------------------------------------------------
 * The verb
 */

static int open_device(struct upgrade *upgrade)
{
	int ret;

	if (geteuid()) {
		elog_error("only root can replace the kernel module");
		return -EPERM;
	}
	upgrade->fd = elog_device_open(EVENTLOG_DEVICE);
	if (upgrade->fd < 0) {
		explain_device_error(upgrade->fd, PURPOSE_ADMINISTER);
		return upgrade->fd;
	}
	upgrade->info.size = sizeof(upgrade->info);
	ret = elog_device_info(upgrade->fd, &upgrade->info);
	ret = ret ? ret : modules_find(&upgrade->modules);
	if (ret)
		elog_error("cannot look at the modules: %s", strerror(-ret));
	return ret;
}

static int run_upgrade(const struct options *options)
{
	const char *argument = options->arguments[0];
	struct upgrade upgrade = { .options = options, .fd = -1 };
	struct users users = { 0 };
	int ret = STATUS_ERROR;

	if (options->argument_count > 1) {
		elog_error("unexpected argument '%s'", options->arguments[1]);
		return STATUS_ERROR;
	}
	if (argument && (strchr(argument, '/') || strstr(argument, ".ko")))
		upgrade.file = argument;
	if (open_device(&upgrade))
		goto out;
	if (find_users(&upgrade, &users)) {
		elog_error("cannot find the processes that use the device");
		goto out;
	}
	ret = is_prevented(&upgrade, &users) ? STATUS_ERROR : STATUS_OK;
	if (options->dry_run)
		print_plan(&upgrade, &users);
	else if (!ret)
		ret = replace(&upgrade);
out:
	if (upgrade.fd >= 0)
		close(upgrade.fd);
	users_free(&users);
	modules_free(&upgrade.modules);
	free(upgrade.version);
	return ret;
}

static const struct verb_option upgrade_options[] = {
	{ OPTION_DRY_RUN, NULL },
	{ OPTION_TIMEOUT, NULL },
	{ OPTION_FORCE, NULL },
	{ 'q', "do not print the result" },
	{ 0, NULL },
};

const struct verb verb_upgrade = {
	.name = "upgrade",
	.summary = "replace the kernel module while programs run",
	.usage = "[OPTION...] [FILE.ko|VERSION]",
	.description =
	"Asks programs that use libelog, and captures, to give the device up; unloads the\n"
	"module, and those that depend on it; and loads FILE.ko with the same parameters, or\n"
	"what modprobe finds, which must be VERSION if that is given. Programs go on\n"
	"meanwhile, and count the events that they cannot emit. Captures to a file go on in\n"
	"the same file. If a process does not give the device up, it is named, and the module\n"
	"stays. For root only.\n"
	"\n"
	"  elog upgrade --dry-run\n"
	"  elog upgrade ./eventlog.ko\n"
	"\n"
	"Exit status: 0 success; 1 an error.\n",
	.options = upgrade_options,
	.run = run_upgrade,
};
