#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# recover_test - what a failed case or a failed file leaves in the kernel does not fail the next
# one: loaded modules, enabled trace events, open files, persistent events. Prints TAP. Needs root,
# and the module, which it unloads and loads.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
objects=${EVENTLOG_BUILD:-$top/build}/selftests/obj

cat > "$work/cases.c" <<'SOURCE'
#include <unistd.h>
#include "eventlog_common.h"

TEST(fails)
{
	module_insert_built("module/providers/eventlog_proc.ko", "");
	register_persistent(device_open(), "left", "behind u32 x");
	file_write(TRACEFS "/events/eventlog_proc/enable", "1");
	CHECK(false);
}

TEST(next)
{
	int fd = device_open();

	CHECK(access("/sys/module/eventlog_proc", F_OK));
	CHECK_EQ(try_delete(fd, "left", "behind"), -1);
	module_insert_built("module/providers/eventlog_proc.ko", "");
	CHECK_OK(module_unload("eventlog_proc"));
}
SOURCE

cases_run()
{
	gcc -O1 -std=gnu11 -D_GNU_SOURCE= -I"$top/selftests" -I"$top/uapi" -o "$work/cases" \
		"$work/cases.c" "$objects"/{eventlog_test,system_common,eventlog_common}.o \
		"$objects/recover_common.o" || return
	"$work/cases" > "$work/out" || true
	cat "$work/out"
	grep -qx "not ok 1 fails" "$work/out" && grep -qx "ok 2 next" "$work/out"
}

# Uses the module in each way that outlives the file, and fails.
cat > "$work/fails_test" <<'SOURCE'
#!/bin/bash
directory=$(dirname "$EVENTLOG_KO")
insmod "$directory/module/sched/eventlog_sched.ko"
insmod "$directory/module/providers/eventlog_proc.ko"
tracefs=/sys/kernel/tracing
if [ -d $tracefs/events/eventlog_proc ]; then
	mkdir $tracefs/instances/left
	echo 1 > $tracefs/events/eventlog_proc/enable
	echo 1 > $tracefs/instances/left/events/eventlog_proc/enable
fi
elog create left/behind
setsid env -i sleep 1000 9< /dev/eventlog &
echo "not ok 1 one"
echo "1..1"
SOURCE
cat > "$work/next_test" <<'SOURCE'
#!/bin/bash
echo "ok 1 one"
echo "1..1"
SOURCE
chmod 755 "$work/fails_test" "$work/next_test"

files_run()
{
	local status=0

	rmmod eventlog || return
	"$top/scripts/run-tests" --module "$EVENTLOG_KO" --results "$work/results" \
		"$work/fails_test" "$work/next_test" || status=$?
	insmod "$EVENTLOG_KO" || return
	cat "$work/results"
	[ $status = 1 ] && grep -q "^1 0 0 next_test" "$work/results"
}

check "the case after a failed one starts with a clean module" cases_run
check "the file after a failed one runs, whatever that has left behind" files_run
end_checks
