#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dmesg_test - scripts/dmesg-check finds reports in a kernel log, except for the known data
# races of the kernel itself. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
# shellcheck source=scripts/dmesg-check
. "$top/scripts/dmesg-check"

border="[    9.1] =================================================================="

# Prints a report of KCSAN about these two functions.
race()
{
	echo "$border"
	echo "[    9.2] BUG: KCSAN: data-race in $1 / $2"
	echo "[    9.3] write to 0xffff888001234567 of 8 bytes by task 7 on cpu 0:"
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
a_race() { race eventlog_emit eventlog_rule | finds 3; }
known_race() { race do_writev do_writev | finds 0; }
known_clock() { race ktime_get_mono_fast_ns timekeeping_update | finds 0; }
other_writev() { race do_writev eventlog_emit | finds 3; }
between() { { race do_writev do_writev; race a b; race do_writev do_writev; } | finds 3; }
inside()
{
	race do_writev do_writev | sed '3i [    9.2] BUG: KASAN: use-after-free in x' | finds 1
}
cut_off() { race a b | head -n 1 | finds 1; }

check "nothing in an ordinary log" nothing
check "a warning" a_warning
check "a data race" a_race
check "not the race of writev with itself" known_race
check "not the race of the clock" known_clock
check "a race of writev with something else" other_writev
check "a data race between known ones" between
check "another report inside a known one" inside
check "the beginning of a report at the end" cut_off
end_checks
