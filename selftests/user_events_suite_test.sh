#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the kernel's own tests of user_events, which scripts/build-user-events-suite has built,
# and prints their results under one plan. The modules are loaded as by modprobe, except that
# one of the programs needs dynamic=1. On a kernel that has user_events the tests use the
# kernel's, and eventlog_user_events.ko cannot be loaded, and says so.
set -u

here=$(cd "$(dirname "$0")" && pwd -P)
suite=$here/../build/user_events
eventlog=${EVENTLOG_MODULE:-${EVENTLOG_KO:-./eventlog.ko}}
module=$(dirname "$eventlog")/eventlog_user_events.ko
tracefs=/sys/kernel/tracing

if [ -e "$suite/reason" ]; then
	echo "1..0 # SKIP $(cat "$suite/reason")"
	exit 4
fi
[ -d "$tracefs/events" ] || mount -t tracefs tracefs "$tracefs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the number of the file's inode, or nothing.
file()
{
	stat -c %i "$tracefs/user_events_data" 2> /dev/null
}

[ -d /sys/module/eventlog ] || insmod "$eventlog" || exit 1
before=$(file)
mark="user_events_suite_test $$"
echo "$mark" > /dev/kmsg
if ! insmod "$module" dynamic=1 2> "$work/output" && [ -z "$before" ]; then
	cat "$work/output"
	exit 1
fi
loaded=$(file)

status=0
done=0
for name in abi dyn ftrace perf; do
	"$suite/${name}_test" > "$work/output" 2>&1 || status=1
	sed -n 's/^# *\(.*\)/# \1/p' "$work/output"
	grep -E '^(not )?ok ' "$work/output" |
		awk -v done="$done" -v name="$name" '
			{ sub(/ok [0-9]+/, "ok " done + ++n " " name) } 1'
	done=$((done + $(grep -cE '^(not )?ok ' "$work/output")))
	! grep -q '^ok .*SKIP' "$work/output" || status=1
done

# Bits of processes that have just exited do not keep the module, but their work items may.
tries=0
until [ ! -d /sys/module/eventlog_user_events ] || rmmod eventlog_user_events 2> /dev/null ||
      [ $((tries += 1)) = 100 ]; do
	sleep 0.1
done
done=$((done + 1))
if [ -n "$loaded" ] && [ "$(file)" = "$before" ] && [ "$loaded" = "${before:-$loaded}" ]; then
	echo "ok $done the file is the kernel's, or is there while the module is loaded"
else
	echo "not ok $done the file is the kernel's, or is there while the module is loaded"
	status=1
fi

# A kernel that has user_events is named as the reason, once.
said=$(dmesg | awk -v mark="$mark" '
	found && /eventlog_user_events: not needed: this kernel has user_events/ { said++ }
	index($0, mark) { found = 1 }
	END { print said + 0 }')
done=$((done + 1))
if [ "$said" = "$([ -n "$before" ] && echo 1 || echo 0)" ]; then
	echo "ok $done the module says why it is not loaded"
else
	echo "# said $said times"
	echo "not ok $done the module says why it is not loaded"
	status=1
fi
echo "1..$done"
[ "$done" = 20 ] || status=1
exit $status
