#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dmesg_test - scripts/dmesg-check finds reports in a kernel log, except for data races of the
# kernel itself. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
# shellcheck source=scripts/dmesg-check
. "$top/scripts/dmesg-check"

border="[    9.1] =================================================================="

# race FUNCTION FUNCTION [TRACE...]: a report of KCSAN about two functions, as a kernel prints it;
# a line of the trace names one more each
race()
{
	local name

	echo "$border"
	echo "[    9.2] BUG: KCSAN: data-race in $1 / $2"
	echo "[    9.2] "
	echo "[    9.3] write to 0xffff888001234567 of 8 bytes by task 7 on cpu 0:"
	for name in "${@:3}"; do
		echo "[    9.3]  ${name%% *}+0x12/0x340${name#"${name%% *}"}"
	done
	echo "[    9.3] "
	echo "[    9.3] value changed: 0x0000000000000000 -> 0x0000000000000001"
	echo "[    9.3] "
	echo "[    9.3] Reported by Kernel Concurrency Sanitizer on:"
	echo "[    9.3] CPU: 0 UID: 0 PID: 7 Comm: elog Tainted: G           O       6.12.0 #1"
	echo "$border"
}

# finds LINES: a log that is read from stdin has so many lines with reports.
finds()
{
	[ "$(find_kernel_bugs | wc -l)" = "$1" ]
}

# One function each, because a pipe cannot be an argument.
nothing() { echo "[    1.0] eventlog: loading out-of-tree module" | finds 0; }
a_warning() { echo "[    1.0] WARNING: CPU: 0 PID: 1 at x.c:1" | finds 1; }
a_race() { race 'eventlog_emit [eventlog]' 'eventlog_rule [eventlog]' | finds 3; }
other_writev() { race do_writev eventlog_emit | finds 3; }
# The title of a kernel may be without modules, and not each function begins with eventlog_.
short_title() { race publish do_writev 'publish [eventlog]' vfs_write | finds 3; }
with_suffix() { race publish.isra.0 do_writev 'publish.isra.0 [eventlog_sched]' | finds 3; }
of_the_kernel() { race dput find_inode dput path_openat | finds 0; }
called_by_us() { race dput find_inode dput 'read_name [eventlog]' | finds 3; }
known_race()
{
	race do_writev do_writev do_writev 'write_all [eventlog]' | finds 0 &&
		race do_nanosleep hrtimer_wakeup hrtimer_wakeup 'sched_exit [eventlog_sched]' |
			finds 0 &&
		race __hrtimer_run_queues hrtimer_active hrtimer_active 'ring_write [eventlog]' |
			finds 0 &&
		race tick_nohz_idle_enter tmigr_cpu_activate a 'ring_write [eventlog]' | finds 0 &&
		race __queue_work.part.0 kick_pool.constprop.0 a 'put_later [eventlog]' | finds 0 &&
		race mod_tree_remove __mod_tree_val a 'find_caller [eventlog]' | finds 0
}
known_clock()
{
	race ktime_get_mono_fast_ns timekeeping_update a 'eventlog_emit [eventlog]' | finds 0 &&
		race my_ktime_get_mono_fast_ns2 a b 'eventlog_emit [eventlog]' | finds 3
}
between() { { race do_writev do_writev; race a eventlog_b; race c d; } | finds 3; }
inside()
{
	race do_writev do_writev | sed '3i [    9.2] BUG: KASAN: use-after-free in x' | finds 1
}
# The rest of it may name a function of the module.
cut_off()
{
	race a b | head -n 1 | finds 1 && race a b | head -n 4 | finds 2 &&
		{ race a b | head -n 4; race c d; race e eventlog_f; } | finds 5
}
# The borders of other reports do not hide it.
after_another()
{
	{ echo "$border"; echo "[    9.1] BUG: KASAN: use-after-free in x"; echo "$border"
		race c d; race a eventlog_b; } | finds 6
}

check "nothing in an ordinary log" nothing
check "a warning" a_warning
check "a data race" a_race
check "a race of a known function with one of the module" other_writev
check "a function whose module only the trace names" short_title
check "a function with a suffix of the compiler" with_suffix
check "not a race of the kernel alone" of_the_kernel
check "an unknown race of the kernel that the module causes" called_by_us
check "not known races in a trace of the module" known_race
check "not the race of the clock, but one with a similar name" known_clock
check "a data race between known ones" between
check "another report inside a known one" inside
check "a report that is cut off" cut_off
check "a report after another one" after_another
end_checks
