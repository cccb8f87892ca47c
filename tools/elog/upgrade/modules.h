/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel modules: which ones depend on eventlog.ko, and unloading and loading them.
 */
#ifndef MODULES_H
#define MODULES_H

#include <stdbool.h>
#include <stddef.h>

#define EVENTLOG_MODULE "eventlog"

/**
 * struct module - a loaded module
 * @name: its name
 * @parameters: "NAME=VALUE" each
 * @parameter_count: of @parameters
 * @holders: how many other modules use it
 * @references: how many uses it has, those of @holders included
 */
struct module {
	char *name;
	char **parameters;
	size_t parameter_count;
	unsigned int holders;
	int references;
};

/* In the order in which they can be unloaded; eventlog is the last one. */
struct modules {
	struct module *modules;
	size_t count;
};

/**
 * modules_find() - find eventlog and all modules that depend on it
 * @modules: filled in; free with modules_free()
 *
 * Return: 0; -ENOENT: eventlog is not loaded; or another negative errno.
 */
int modules_find(struct modules *modules);

/** modules_free() - free what modules_find() found */
void modules_free(struct modules *modules);

/** module_references() - how many uses a module has now; negative: it is not loaded */
int module_references(const char *name);

/**
 * module_path() - where a module is to be loaded from
 * @name: of the module
 * @file: what the user named for eventlog; NULL: what modprobe finds
 *
 * Return: an allocated path, of a file beside @file or where the build puts it below that directory;
 * NULL: modprobe finds it.
 */
char *module_path(const char *name, const char *file);

/**
 * module_check() - can a module be loaded into this kernel?
 * @name: of the module
 * @path: of its file; NULL: what modprobe finds
 * @version: set to its version, allocated; may be NULL
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int module_check(const char *name, const char *path, char **version);

/**
 * module_load() - load a module
 * @module: with its parameters, which apply to a file. modprobe has a configuration for them
 * @path: as for module_check()
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int module_load(const struct module *module, const char *path);

/**
 * module_restore() - load an installed module with the parameters that it had
 * @module: which was unloaded
 *
 * Return: as module_load().
 */
int module_restore(const struct module *module);

/** module_unload() - unload a module; return 0 or a negative errno */
int module_unload(const char *name);

#endif /* MODULES_H */
