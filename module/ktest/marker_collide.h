/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two markers with different places but the same id, shared by the modules that
 * contain one or both of them.  The names of the functions were found by search.  The
 * place begins with the file name: a #line directive sets it to "collide.c".
 */
#ifndef EVENTLOG_MARKER_COLLIDE_H
#define EVENTLOG_MARKER_COLLIDE_H

#include <linux/eventlog_marker.h>
#include <linux/module.h>

#define COLLIDE_ONE	f_00krlwmr0rixk
#define COLLIDE_TWO	f_szzkeel0gbvtl

/* A function with the marker in it. */
#define COLLIDE_FUNCTION(name)							\
static noinline void name(unsigned int value)					\
{										\
	eventlog_marker(collide, EVENTLOG_MARKER_TRACE, FIELD(u32, value));	\
}

/* The rest of the module: parameters to fire the markers and to read their status. */
#define COLLIDE_MODULE(function)						\
static int collide_status;							\
module_param_named(status, collide_status, int, 0444);				\
										\
static int pass_set(const char *text, const struct kernel_param *parameter)	\
{										\
	unsigned int value;							\
	int ret = kstrtouint(text, 0, &value);					\
										\
	if (!ret)								\
		function(value);						\
	return ret;								\
}										\
										\
static const struct kernel_param_ops pass_ops = { .set = pass_set };		\
module_param_cb(pass, &pass_ops, NULL, 0200);					\
										\
static int __init collide_init(void)						\
{										\
	/* The module loads even if its markers are not registered. */		\
	collide_status = eventlog_module_markers();				\
	return 0;								\
}										\
										\
static void __exit collide_exit(void)						\
{										\
}										\
										\
module_init(collide_init);							\
module_exit(collide_exit);							\
MODULE_LICENSE("GPL");								\
MODULE_DESCRIPTION("eventlog markers with the same id")

#endif /* EVENTLOG_MARKER_COLLIDE_H */
