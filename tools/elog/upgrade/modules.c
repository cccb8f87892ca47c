// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel modules: see modules.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "upgrade/modules.h"
#include "util/array.h"
#include "util/tool.h"

/* Parameters that are no settings. */
static bool is_setting(const char *name)
{
	return *name != '.' && strcmp(name, "steps") != 0 && strcmp(name, "leaving") != 0 &&
	       strcmp(name, "hold") != 0 && strcmp(name, "descriptors") != 0 &&
	       strcmp(name, "stacks_lost") != 0;
}

/* Reads the first line of a file. Return: NULL: there is none. */
static char *read_line(const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return NULL;
	if (getline(&line, &room, file) <= 0) {
		free(line);
		line = NULL;
	} else {
		line[strcspn(line, "\n")] = '\0';
	}
	fclose(file);
	return line;
}

int module_references(const char *name)
{
	char path[128], *line;
	int references;

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", name);
	line = read_line(path);
	if (!line)
		return -ENOENT;
	references = atoi(line);
	free(line);
	return references;
}

/* ------------------------------------------------------------------------
 * What is loaded
 */

static int add_parameter(struct module *module, const char *name, const char *value)
{
	char **larger = array_grow(module->parameters, module->parameter_count, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	module->parameters = larger;
	if (asprintf(&larger[module->parameter_count], "%s=%s", name, value) < 0)
		return -ENOMEM;
	module->parameter_count++;
	return 0;
}

static int read_parameters(struct module *module)
{
	struct dirent *entry;
	char path[512], *value;
	DIR *directory;
	int ret = 0;

	snprintf(path, sizeof(path), "/sys/module/%s/parameters", module->name);
	directory = opendir(path);
	while (!ret && directory && (entry = readdir(directory))) {
		if (!is_setting(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", module->name,
			 entry->d_name);
		value = read_line(path);
		if (value && *value)
			ret = add_parameter(module, entry->d_name, value);
		free(value);
	}
	if (directory)
		closedir(directory);
	return ret;
}

static void module_free(struct module *module)
{
	while (module->parameter_count)
		free(module->parameters[--module->parameter_count]);
	free(module->parameters);
	free(module->name);
}

static bool is_known(const struct modules *modules, const char *name)
{
	size_t i;

	for (i = 0; i < modules->count; i++)
		if (!strcmp(modules->modules[i].name, name))
			return true;
	return false;
}

/* Adds the modules that depend on one, and then that one. */
static int add_module(struct modules *modules, const char *name)
{
	struct module module = { .references = module_references(name) }, *larger;
	struct dirent *entry;
	DIR *directory;
	char path[512];
	int ret = 0;

	if (module.references < 0)
		return module.references;
	snprintf(path, sizeof(path), "/sys/module/%s/holders", name);
	directory = opendir(path);
	while (!ret && directory && (entry = readdir(directory))) {
		if (*entry->d_name == '.')
			continue;
		module.holders++;
		if (!is_known(modules, entry->d_name))
			ret = add_module(modules, entry->d_name);
	}
	if (directory)
		closedir(directory);
	if (ret)
		return ret;
	larger = array_grow(modules->modules, modules->count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	modules->modules = larger;
	module.name = strdup(name);
	ret = module.name ? read_parameters(&module) : -ENOMEM;
	if (ret)
		module_free(&module);
	else
		larger[modules->count++] = module;
	return ret;
}

int modules_find(struct modules *modules)
{
	*modules = (struct modules){ 0 };
	return add_module(modules, EVENTLOG_MODULE);
}

void modules_free(struct modules *modules)
{
	size_t i;

	for (i = 0; i < modules->count; i++)
		module_free(&modules->modules[i]);
	free(modules->modules);
}

/* ------------------------------------------------------------------------
 * Loading and unloading
 */

char *module_path(const char *name, const char *file)
{
	/* An installed module may be beside it; the build has directories, see Kbuild. */
	static const char *const places[] = { "", "module/providers/", "module/sched/" };
	const char *slash = file ? strrchr(file, '/') : NULL;
	const int length = slash ? (int)(slash - file) : 1;
	char *path;
	size_t i;

	if (!file)
		return NULL;
	if (!strcmp(name, EVENTLOG_MODULE))
		return strdup(file);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (asprintf(&path, "%.*s/%s%s.ko", length, slash ? file : ".", places[i],
			     name) < 0)
			return NULL;
		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

/*
 * Runs a program and returns the first line that it prints, or NULL. @silent: what it prints on
 * standard error is not seen.
 */
static char *first_line(const char *const *arguments, bool silent, int *status)
{
	int pipes[2], null;
	char *line = NULL;
	size_t room = 0;
	FILE *output;
	pid_t child;

	*status = -1;
	if (pipe2(pipes, O_CLOEXEC))
		return NULL;
	child = fork();
	if (!child) {
		dup2(pipes[1], STDOUT_FILENO);
		null = silent ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
		if (null >= 0)
			dup2(null, STDERR_FILENO);
		execvp(arguments[0], (char *const *)arguments);
		_exit(STATUS_NO_COMMAND);
	}
	close(pipes[1]);
	output = fdopen(pipes[0], "r");
	if (output && getline(&line, &room, output) > 0) {
		line[strcspn(line, "\n")] = '\0';
	} else {
		free(line);
		line = NULL;
	}
	if (output)
		fclose(output);
	else
		close(pipes[0]);
	if (child > 0)
		waitpid(child, status, 0);
	return line;
}

static char *module_info(const char *module, const char *field, int *status)
{
	const char *const arguments[] = { "modinfo", "-F", field, module, NULL };

	/* It names what it does not find in its own way. */
	return first_line(arguments, true, status);
}

int module_check(const char *name, const char *path, char **version)
{
	const char *module = path ? path : name;
	struct utsname kernel;
	size_t length;
	char *magic;
	int status;

	magic = module_info(module, "vermagic", &status);
	if (!magic || status) {
		free(magic);
		elog_error(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NO_COMMAND ?
			   "modinfo is needed to look at the module %s" :
			   path && !access(path, R_OK) ? "%s is not a kernel module" :
			   "there is no module %s, so it could not be loaded again", module);
		return -ENOENT;
	}
	uname(&kernel);
	length = strlen(kernel.release);
	if (strncmp(magic, kernel.release, length) != 0 ||
	    (magic[length] && magic[length] != ' ')) {
		elog_error("%s is for the kernel %.*s, and this one is %s", module,
			   (int)strcspn(magic, " "), magic, kernel.release);
		free(magic);
		return -ENOEXEC;
	}
	free(magic);
	if (version)
		*version = module_info(module, "version", &status);
	return 0;
}

/* Producers wait until captures are back. An older module ignores it. */
static const char *leaving(const struct module *module)
{
	return strcmp(module->name, EVENTLOG_MODULE) ? NULL : "leaving=1";
}

/* @count: how many of its parameters it gets */
static int load_installed(const struct module *module, size_t count)
{
	const char **arguments = calloc(count + 4, sizeof(*arguments));
	size_t i;
	int status;

	if (!arguments)
		return -ENOMEM;
	arguments[0] = "modprobe";
	arguments[1] = module->name;
	for (i = 0; i < count; i++)
		arguments[2 + i] = module->parameters[i];
	arguments[2 + i] = leaving(module);
	free(first_line(arguments, false, &status));
	free(arguments);
	if (status)
		elog_error("modprobe %s has failed", module->name);
	return status ? -ENOEXEC : 0;
}

/* Return: the parameters in the form that the kernel reads, or NULL. */
static char *join_parameters(const struct module *module)
{
	const char *last = leaving(module), *parameter, *value;
	struct elog_text text = { 0 };
	size_t i;

	for (i = 0; i < module->parameter_count; i++) {
		parameter = module->parameters[i];
		value = strchr(parameter, '=') + 1;
		if (strpbrk(value, " \t"))
			elog_text_printf(&text, "%.*s\"%s\" ", (int)(value - parameter),
					 parameter, value);
		else
			elog_text_printf(&text, "%s ", parameter);
	}
	elog_text_printf(&text, "%s", last ? last : "");
	if (!text.error)
		return text.data;
	elog_text_free(&text);
	return NULL;
}

static int load_file(const struct module *module, const char *path)
{
	char *parameters = join_parameters(module);
	int fd, ret = 0;

	if (!parameters)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		ret = -errno;
	if (fd >= 0)
		close(fd);
	free(parameters);
	/* A module that eventlog.ko asks for may have been loaded by modprobe. */
	return ret == -EEXIST ? 0 : ret;
}

int module_load(const struct module *module, const char *path)
{
	int ret;

	if (!path)
		return load_installed(module, 0);
	ret = load_file(module, path);
	if (ret)
		elog_error("cannot load %s: %s", path, strerror(-ret));
	return ret;
}

int module_restore(const struct module *module)
{
	/* modprobe may have loaded it without them: eventlog has a softdep on a module. */
	if (module->parameter_count)
		module_unload(module->name);
	return load_installed(module, module->parameter_count);
}

int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}
