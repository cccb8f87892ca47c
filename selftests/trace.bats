#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Events of processes and of the kernel with perf and trace-cmd. Needs root, the module,
# and a kernel that lets modules create trace events.

load elog.bash

setup_file()
{
	find_built
	export PROVIDERS=${EVENTLOG_KO%/*}/module/providers
	export TRACEFS=/sys/kernel/tracing
	[ -d $TRACEFS/events ] || mount -t tracefs tracefs $TRACEFS
	# Otherwise ftrace patches the scheduler for each event, which crashes old emulators.
	echo 0 > $TRACEFS/options/record-cmd
	# A missing tool is a failure, not a reason to skip: the tools are tested.
	command -v perf trace-cmd
}

setup()
{
	begin
	trace_events_exist || skip "this kernel has no trace events for modules"
	group=eventlog_user
}

teardown()
{
	end_background
	# After a failure trace-cmd leaves tracing off.
	echo 1 > $TRACEFS/tracing_on
	"$ELOG" delete request 2> /dev/null || true
	[ ! -d /sys/module/eventlog_proc ] || rmmod eventlog_proc
	[ ! -d /sys/module/eventlog_tcp ] || rmmod eventlog_tcp
}

request='u32 id; char[16] path; __data_loc char[] agent; s16 delta; unsigned char[4] tag;
	__data_loc unsigned char[] body; u64 bytes'

# Creates the event, as an administrator does before a program runs, so that a tracer can
# attach before anything is emitted.
create_request()
{
	"$ELOG" create "request $request"
	wait_for test -e "$TRACEFS/events/$group/request/format"
	# Run by a tracer: emits $1 events.
	cat > "$work/job" <<-SCRIPT
		exec "$ELOG" emit -v -n \$1 request '$request' id=42 path=/api/x 'agent=curl 7' \\
			delta=-5 tag=01020304 body=cafe bytes=5000000000
	SCRIPT
}

delete_request()
{
	wait_for "$ELOG" delete request
	trace_events_stay || wait_for test ! -e "$TRACEFS/events/$group/request"
}

@test "perf records and prints events of a process" {
	create_request
	perf list "$group:*" 2> /dev/null | grep -q "$group:request"
	perf record -q -a -o "$work/perf.data" -e "$group:request" -- sh "$work/job" 3 \
		> "$work/log" 2>&1 3>&-
	run -0 --separate-stderr perf script -i "$work/perf.data"
	printf '%s\n' "$output"
	[ "${#lines[@]}" = 3 ]
	contains "$output" "$group:request: id=42 path=/api/x agent=curl 7 delta=-5" \
		"bytes=5000000000"
	delete_request
}

@test "perf filters and counts" {
	create_request
	perf record -q -a -o "$work/perf.data" -e "$group:request" --filter 'id == 43' -- \
		sh "$work/job" 3 > "$work/log" 2>&1 3>&-
	run -0 --separate-stderr perf script -i "$work/perf.data"
	[ -z "$output" ]
	perf stat -x, -o "$work/stat" -a -e "$group:request" -- sh "$work/job" 5 \
		> "$work/log" 2>&1 3>&-
	contains "$(< "$work/stat")" "5,,$group:request,"
	delete_request
}

@test "trace-cmd records and reports events of a process" {
	create_request
	trace-cmd record -q -o "$work/trace.dat" -e "$group:request" -f 'path ~ "/api*"' \
		sh "$work/job" 2 > "$work/log" 2>&1 3>&-
	run -0 --separate-stderr trace-cmd report "$work/trace.dat"
	printf '%s\n' "$output"
	[ "$(grep -c 'request:' <<< "$output")" = 2 ]
	contains "$output" 'id=42 path=/api/x agent=curl 7 delta=-5' 'bytes=5000000000'
	[[ $output != *FAILED* ]]
	delete_request
}

# For commands of trace-cmd: a CPU's buffer has an event, or had one that trace-cmd has read.
is_recorded()
{
	grep -qE '^(entries|read events): [1-9]' $TRACEFS/per_cpu/cpu*/stats
}
export -f is_recorded

exec_is_traced()
{
	/bin/true
	grep -q 'exec: file=/bin/true' $TRACEFS/trace
}

@test "events of the kernel are recorded with names of values and flags" {
	insmod "$PROVIDERS/eventlog_proc.ko"
	insmod "$PROVIDERS/eventlog_tcp.ko"
	ip link set lo up
	wait_for test -e $TRACEFS/events/eventlog_tcp/existing/format
	wait_for test -e $TRACEFS/events/eventlog_proc/existing/format
	# A worker enables a provider of the kernel, a moment after the tracer is attached.
	trace-cmd record -q -o "$work/trace.dat" -e eventlog_proc:exec -e eventlog_proc:exit \
		bash -c 'until is_recorded; do /bin/true; done; /bin/true' > "$work/log" 2>&1 3>&-
	trace-cmd record -q -o "$work/net.dat" -e eventlog_tcp:opening -e eventlog_tcp:state_change \
		bash -c 'until is_recorded; do (exec 3<> /dev/tcp/127.0.0.1/1); done; true' \
		> "$work/log" 2>&1 3>&-
	run -0 --separate-stderr trace-cmd report "$work/trace.dat"
	[[ $output != *FAILED* ]]
	contains "$output" 'exec:' 'file=/bin/true' 'exit:' 'code=0'
	run -0 --separate-stderr trace-cmd report "$work/net.dat"
	[[ $output != *FAILED* ]]
	contains "$output" 'opening:' 'remote=::ffff:127.0.0.1 remote_port=1 ' 'SYN_SENT'
	# The session is recorded, and ftrace prints the same.
	grep -q 'field:u64 session;' $TRACEFS/events/eventlog_proc/exec/format
	echo 1 > $TRACEFS/events/eventlog_proc/exec/enable
	wait_for exec_is_traced
	echo 0 > $TRACEFS/events/eventlog_proc/exec/enable
	grep -q 'exec: file=/bin/true comm=.* session=[1-9]' $TRACEFS/trace
	echo > $TRACEFS/trace
}

@test "a kernel provider may unload and load again while it is traced" {
	insmod "$PROVIDERS/eventlog_proc.ko"
	wait_for test -e $TRACEFS/events/eventlog_proc/exec/format
	echo 1 > $TRACEFS/events/eventlog_proc/exec/enable
	rmmod eventlog_proc
	run rmmod eventlog
	[ "$status" != 0 ]
	/bin/true
	insmod "$PROVIDERS/eventlog_proc.ko"
	wait_for exec_is_traced
	echo 0 > $TRACEFS/events/eventlog_proc/exec/enable
	rmmod eventlog_proc
	trace_events_stay || wait_for test ! -e $TRACEFS/events/eventlog_proc
	echo > $TRACEFS/trace
}
