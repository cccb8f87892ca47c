/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the module's sources need of the kernel, for a process with one thread. It is included
 * before everything else; the kernel's headers are empty files then.
 *
 * The engine runs each call to its end before it looks at the next one. So locks are flags that
 * are checked, RCU is a list of functions to call between two calls, a work item is a function to
 * call later, and there is one CPU. The memory of callers is what came with the current call.
 */
#ifndef KLINUX_H
#define KLINUX_H

#include "kernel/klinux/types.h"
#include "kernel/klinux/text.h"
#include "kernel/klinux/locks.h"
#include "kernel/klinux/list.h"
#include "kernel/klinux/numbers.h"
#include "kernel/klinux/later.h"
#include "kernel/klinux/task.h"
#include "kernel/klinux/file.h"
#include "kernel/klinux/module.h"

#endif /* KLINUX_H */
