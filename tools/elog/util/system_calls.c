// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of system calls: see system_calls.h. The tables are made of the kernel's headers.
 */
#include <fnmatch.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>
#include <system_calls_table.h>

#include "util/system_calls.h"
#include "util/tool.h"

struct table {
	const char *machine;		/* a glob; NULL: the one that elog runs on */
	const char *const *names;
	size_t count;
};

#define TABLE(machine, names) { machine, names, ARRAY_SIZE(names) }

static const struct table tables[] = {
#ifdef SYSTEM_CALLS_x86_64
	TABLE("x86_64", system_calls_x86_64),
#endif
#ifdef SYSTEM_CALLS_i386
	TABLE("i[3-6]86", system_calls_i386),
#endif
#ifdef SYSTEM_CALLS_generic
	TABLE("aarch64", system_calls_generic),
	TABLE("riscv64", system_calls_generic),
	TABLE("loongarch64", system_calls_generic),
#endif
#ifdef SYSTEM_CALLS_native
	TABLE(NULL, system_calls_native),
#endif
	{ "", NULL, 0 },
};

static bool is_this(const char *machine)
{
	struct utsname system;

	return !uname(&system) && !strcmp(system.machine, machine);
}

const char *system_call_name(const char *machine, int number)
{
	const struct table *table;

	if (!machine || number < 0)
		return NULL;
	for (table = tables; table->names; table++)
		if (table->machine ? !fnmatch(table->machine, machine, 0) : is_this(machine))
			return (size_t)number < table->count ? table->names[number] : NULL;
	return NULL;
}
