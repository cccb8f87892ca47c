// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading the plugin: see transport.h. It is beside elog, where it was built, in ../lib, or
 * where the system looks for libraries.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nats/transport.h"
#include "util/tool.h"

#ifdef ELOG_PLUGINS
#include <dlfcn.h>
#include <limits.h>

/* Load it from a folder relative to elog's. A plugin that is there must be the right one. */
static void *load_from(const char *folder, bool *found)
{
	char path[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
	char *slash;

	if (size <= 0 || size == sizeof(path))
		return NULL;
	path[size] = '\0';
	slash = strrchr(path, '/');
	size = path + sizeof(path) - (slash + 1);
	if (!slash || snprintf(slash + 1, (size_t)size, "%s%s", folder, TRANSPORT_PLUGIN) >= size)
		return NULL;
	*found = !access(path, F_OK);
	return *found ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

const struct transport_ops *transport_load(void)
{
	const struct transport_ops *ops;
	const char *error;
	bool found = false;
	void *plugin;

	plugin = load_from("", &found);
	if (!found)
		plugin = load_from("../lib/", &found);
	if (!found)
		plugin = dlopen(TRANSPORT_PLUGIN, RTLD_NOW | RTLD_LOCAL);
	if (!plugin) {
		error = dlerror();
		elog_error("cannot load %s: %s", TRANSPORT_PLUGIN, error ? error : "");
		elog_hint("it is in the package elog-fleet, or in a build of elog with libnats");
		return NULL;
	}
	ops = dlsym(plugin, TRANSPORT_SYMBOL);
	if (!ops || ops->version != TRANSPORT_VERSION) {
		elog_error("%s belongs to another version of elog", TRANSPORT_PLUGIN);
		elog_hint("update the package elog-fleet together with elog");
		return NULL;
	}
	return ops;
}
#else
const struct transport_ops *transport_load(void)
{
	elog_error("this elog was linked statically: it cannot load %s", TRANSPORT_PLUGIN);
	elog_hint("the packages elog and elog-fleet bring one that can");
	return NULL;
}
#endif
