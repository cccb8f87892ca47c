// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one file of the provider that defines it.
 */
#include <linux/init.h>
#include <linux/module.h>

#define EVENTLOG_TCP_DEFINE
#include "tcp_eventlog.h"
#include "tcp_eventlog.h"

static int __init everything_init(void)
{
	return eventlog_provider_register(&eventlog_tcp);
}
module_init(everything_init);

static void __exit everything_exit(void)
{
	eventlog_provider_unregister(&eventlog_tcp);
}
module_exit(everything_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Provider of every type of field");
