// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_stack_test.ko: who loads or unloads it is blocked in one of its functions, whose name is
 * known only until the call returns.  For selftests/sched_stack_test.c.
 */
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/module.h>

static int __init eventlog_stack_test_init(void)
{
	msleep(2);
	return 0;
}

static void __exit eventlog_stack_test_exit(void)
{
	msleep(2);
	/* Not a tail call, which is not in the stack. */
	barrier();
}

module_init(eventlog_stack_test_init);
module_exit(eventlog_stack_test_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The eventlog developers");
MODULE_DESCRIPTION("eventlog: a module whose functions block, for tests of stacks");
