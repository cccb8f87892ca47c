/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers whose places are different and have one id: what the modules that have
 * one of them, or both, share.  The names were found by search; both are hashed
 * behind "collide.c:", which has to be the file's name by a #line.
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

/* The rest of the module: the markers can be passed, and what became of them asked. */
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
	/* It does without markers. */						\
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
MODULE_DESCRIPTION("Eventlog markers whose ids are the same")

#endif /* EVENTLOG_MARKER_COLLIDE_H */
