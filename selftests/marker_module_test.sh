#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Loads eventlog_marker_test.ko, which tests its own markers in the kernel, and prints
# its results.
set -u

eventlog=${EVENTLOG_MODULE:-${EVENTLOG_KO:-./eventlog.ko}}
module=$(dirname "$eventlog")/module/ktest/eventlog_marker_test.ko
if [ ! -f "$module" ]; then
	echo "1..1"
	echo "not ok 1 eventlog_marker_test.ko: $module is missing"
	exit 1
fi

if grep -q 'User Mode Linux' /proc/cpuinfo; then
	echo "1..0 # SKIP this kernel has no jump labels"
	exit 0
fi
status=0
mark="marker_module_test $$"
echo "$mark" > /dev/kmsg
insmod "$module" || status=1
results=$(dmesg | awk -v mark="$mark" 'found; index($0, mark) { found = 1 }' |
	sed 's/^\[ *[0-9.]*\] //' | grep -E '^(1\.\.|ok |not ok |# )')
rmmod eventlog_marker_test 2> /dev/null
echo "${results:-1..0}"
exit $status
