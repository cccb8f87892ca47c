#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Loads eventlog_test.ko, which writes to the ring from every context, and prints its
# results.  In a guest that can request NMIs (vm-nmi) the NMI writer must have run.
set -u

module=${EVENTLOG_MODULE:-${EVENTLOG_KO:-}}
module=$(dirname "${module:-./eventlog.ko}")/module/ktest/eventlog_test.ko
if [ ! -f "$module" ]; then
	echo "1..1"
	echo "not ok 1 eventlog_test.ko: $module is missing"
	exit 1
fi

mark="ring_module_test $$"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the kernel log after the latest mark, without times.
results()
{
	dmesg | awk -v mark="$mark" 'found; index($0, mark) { found = 1 }' |
		sed 's/^\[ *[0-9.]*\] //' | grep -E '^(KTAP|1\.\.|ok |not ok |# )'
}

# Requests NMIs, a few at a time, until the module is loaded.
inject()
{
	while [ ! -e "$work/done" ]; do
		vm-nmi 10 || return
	done
}

run()
{
	rm -f "$work/done"
	echo "$mark" > /dev/kmsg
	injector=
	if command -v vm-nmi > /dev/null; then
		inject > /dev/null 2>&1 &
		injector=$!
	fi
	insmod "$module" "events=$1"
	status=$?
	: > "$work/done"
	[ -z "$injector" ] || wait "$injector"
	results > "$work/results"
	rmmod eventlog_test 2> /dev/null
	return $status
}

# The duration depends on the machine: if no NMI came during the tests, run longer.
events=100000
while :; do
	run $events
	status=$?
	grep -q '^# 0 events were written in NMI context' "$work/results" || break
	[ -n "$injector" ] && [ $events -lt 3000000 ] || break
	events=$((events * 4))
done
plan=$(sed -n 's/^1\.\.//p' "$work/results")
grep -v '^1\.\.' "$work/results"
echo "1..$((${plan:-0} + 1))"
if [ -z "$injector" ]; then
	echo "ok $((${plan:-0} + 1)) writers in NMI context # SKIP vm-nmi is missing"
elif grep -q '^# [1-9][0-9]* events were written in NMI context' "$work/results"; then
	echo "ok $((${plan:-0} + 1)) writers in NMI context"
else
	echo "not ok $((${plan:-0} + 1)) writers in NMI context"
	status=1
fi
exit $status
