/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loading and unloading; what module/compat.h and module/core/trace_point.h declare, in their
 * place.
 */
#ifndef KLINUX_MODULE_H
#define KLINUX_MODULE_H

typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

struct module {
	const char *name;
};

#define __stringify_1(text) #text
#define __stringify(text) __stringify_1(text)
#define EXPORT_SYMBOL_GPL(symbol)
#define IS_ENABLED(option) 0

/* Parameters have their defaults. */
#define module_param(name, type, mode)
#define module_param_named(name, variable, type, mode)
#define MODULE_PARM_DESC(name, text)
#define MODULE_LICENSE(text)
#define MODULE_AUTHOR(text)
#define MODULE_DESCRIPTION(text)
#define MODULE_VERSION(text)

/** klinux_load(), klinux_unload() - what the kernel calls when it loads and unloads the module */
int klinux_load(void);
void klinux_unload(void);

#define module_init(function)							\
	int klinux_load(void)							\
	{									\
		return function();						\
	}
#define module_exit(function)							\
	void klinux_unload(void)						\
	{									\
		function();							\
	}

struct ratelimit_state {
	int unused;
};

/* ---- compat.h ---- */

#define EVENTLOG_COMPAT_H
#define EVENTLOG_EXPORT(symbol)
#define EVENTLOG_EXPORT_TO(symbol, namespace)
#define EVENTLOG_IMPORT()
#define EVENTLOG_IMPORT_FROM(namespace)
#define EVENTLOG_TRACE_EVENTS 0
#define EVENTLOG_KFUNCS 0
#define EVENTLOG_UNWIND 0

/* ---- core/trace_point.h: no one traces the engine ---- */

#define EVENTLOG_TRACE_POINT_H
#define trace_eventlog_emit_enabled() false
#define eventlog_trace_point_emit(emission) ((void)(emission))

#endif /* KLINUX_MODULE_H */
