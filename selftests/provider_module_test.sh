#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Loads eventlog_provider_test.ko, which registers providers and callbacks in the kernel,
# and prints its results. Compares the kernel's messages about malformed tables with the
# expected ones.
set -u

eventlog=${EVENTLOG_MODULE:-${EVENTLOG_KO:-./eventlog.ko}}
module=$(dirname "$eventlog")/module/ktest/eventlog_provider_test.ko
if [ ! -f "$module" ]; then
	echo "1..1"
	echo "not ok 1 eventlog_provider_test.ko: $module is missing"
	exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
done=0

# Runs the tests with these parameters. The numbers of results continue.
run()
{
	mark="provider_module_test $$ $done"
	echo "$mark" > /dev/kmsg
	insmod "$module" "$@" || status=1
	dmesg | awk -v mark="$mark" 'found; index($0, mark) { found = 1 }' |
		sed 's/^\[ *[0-9.]*\] //' > "$work/log"
	rmmod eventlog_provider_test 2> /dev/null
	users=$(cat /sys/module/eventlog/refcnt)
	grep -E '^(ok |not ok |# )' "$work/log" | grep -v '^# expected:' |
		awk -v done="$done" '{ sub(/ok [0-9]+/, "ok " done + ++n) } /^#/ { n-- } 1'
	done=$((done + $(grep -cE '^(not )?ok ' "$work/log")))
}

# Requests NMIs, a few at a time, until the tests are done.
inject()
{
	while [ ! -e "$work/done" ]; do
		vm-nmi 10 || return
	done
}

if command -v vm-nmi > /dev/null; then
	inject > /dev/null 2>&1 &
	run nmi=1
	: > "$work/done"
	wait
else
	run
fi
done=$((done + 1))
grep '^eventlog: .*provider' "$work/log" > "$work/messages"
sed -n 's/^# expected: //p' "$work/log" > "$work/expected"
if [ -s "$work/expected" ] && cmp -s "$work/messages" "$work/expected"; then
	echo "ok $done errors of malformed tables are logged"
else
	diff "$work/messages" "$work/expected" | sed 's/^/# /'
	echo "not ok $done errors of malformed tables are logged"
	status=1
fi

# Immediately, not only when the kernel's tracing has looked at it again.
done=$((done + 1))
if [ "$users" = 0 ]; then
	echo "ok $done unregistered providers hold no reference"
else
	echo "# $users users of eventlog.ko"
	echo "not ok $done unregistered providers hold no reference"
	status=1
fi

# The maximum number of events needs a module parameter. A provider may have more events.
for most in 1 65535; do
	if rmmod eventlog && insmod "$eventlog" events_max=$most; then
		run many=$most
	else
		echo "# eventlog.ko cannot be loaded again"
		status=1
	fi
done
echo "1..$done"
exit $status
