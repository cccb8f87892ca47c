#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog with events from producer rings, which programs emit without a system call. Needs
# root and the module.

load files.bash

# Emits number/step through a ring: see produce_mapped.c.
mapped()
{
	"$EVENTLOG_BUILD/selftests/produce_mapped" "$@" > /dev/null
}
export -f mapped

# in_sequence COUNT: stdin has the numbers from 0 on, in this order.
in_sequence()
{
	awk -v count="$1" '
		$0 != NR - 1 && wrong++ < 5 { print "line " NR ": " $0 }
		END { if (NR != count) { print NR " numbers, not " count; wrong++ } exit wrong > 0 }'
}

# has_emitted FILE COUNT: the producer has counted at least so many events in the file.
has_emitted()
{
	[ -s "$1" ] && [ "$(od -A n -t u8 "$1")" -ge "$2" ]
}

# shows_at_least COUNT FILE: a file that may be incomplete has so many events.
shows_at_least()
{
	[ "$(numbers "$2" 2> /dev/null | wc -l)" -ge "$1" ]
}

@test "libelog: threads emit through rings, and -C makes them write" {
	unset ELOG_RINGS
	run_elog capture -o "$work/file" --per-cpu-bytes 4M -e 'ring/*' -- bash -c '
		for session in 1 2 3; do
			"$ELOG" emit -s $session -n 2000 ring/event "u32 x" x=7 &
		done
		wait'
	[ "$status" = 0 ]
	contains "$stderr" "6000 events in" "lost 0"
	run_elog show -q --fields cpu,session "$work/file"
	awk '
		{ events[$2]++; mapped[$2] += $1 ~ /-$/ }
		END {
			for (session in events) {
				print session, events[session], mapped[session]
				bad += events[session] != 2000 || !mapped[session]
				sessions++
			}
			exit bad || sessions != 3
		}' <<< "$output"
	run_elog capture -C 0 -C 1 -e 'ring/*' -- "$ELOG" emit -n 2000 ring/event "u32 x" x=7
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 2000 ]
	contains "$stderr" "2000 events in" "lost 0"
	run ! grep -q '^ *- ' <<< "$output"
}

@test "mapped events: files, show, stat and Python show that the CPU is unknown" {
	run_elog capture -o "$work/file" -- bash -c 'mapped 0 1000 mapped'
	[ "$status" = 0 ]
	contains "$stderr" "1000 events in" "lost 0"
	numbers "$work/file" | in_sequence 1000
	run_elog show "$work/file"
	[ "$status" = 0 ]
	contains "$stderr" "1000 events, lost 0"
	[[ ${lines[0]} =~ ^\ -\ [0-9a-f]{4}\ produce_mapped\ .*\ step\ number=0\ word=\"word\"$ ]]
	[ ${#lines[@]} = 1000 ]
	run_elog show -q --format json "$work/file"
	[ "$(grep -c '"cpu":null,"pid":[1-9]' <<< "$output")" = 1000 ]
	run_elog show -q --fields cpu,record_flags,number "$work/file"
	[ "${lines[7]}" = "cpu=- record_flags=mapped number=7" ]
	run_elog show -q --format csv --fields cpu,record_flags,number "$work/file"
	[ "${lines[8]}" = ",mapped,7" ]
	# No CPU matches.
	run_elog show -q -C 0-4095 "$work/file"
	[ -z "$output" ]
	run_elog show -q -f '@cpu >= 0' "$work/file"
	[ -z "$output" ]
	run_elog show -q -f 'number < 3' "$work/file"
	[ ${#lines[@]} = 3 ]
	run_elog stat --by cpu "$work/file"
	[ "$status" = 0 ]
	[[ ${lines[1]} =~ ^info\ +1000\ .*\ -$ ]]
	contains "$stderr" "1000 events in" "lost 0"
	LD_LIBRARY_PATH=$EVENTLOG_TOOLS PYTHONPATH=$TREE/tools/python "$PYTHON" -c '
import eventlog, sys
events = list(eventlog.open(sys.argv[1]))
assert [event["number"] for event in events] == list(range(1000))
assert {event.cpu for event in events} == {None}' "$work/file"
}

@test "mapped events: live output, filtered files, --split, --rotate, --writers and --overwrite" {
	run_elog capture -- bash -c 'mapped 0 500 mapped'
	[ "$status" = 0 ]
	[[ ${lines[0]} =~ ^\ -\ [0-9a-f]{4}\ (produce_mapped|:[0-9]+)\  ]]
	[ ${#lines[@]} = 500 ]
	contains "$stderr" "500 events in" "lost 0"
	# Its name is known while it runs: this one runs until the capture ends.
	run_elog capture -n 100 -- "$EVENTLOG_BUILD/selftests/produce_mapped" 0 0 mapped
	[ "$status" = 0 ]
	[[ ${lines[0]} =~ ^\ -\ [0-9a-f]{4}\ produce_mapped\  ]]
	[ ${#lines[@]} = 100 ]
	run_elog capture -q --format json --fields cpu,record_flags,number -- \
		bash -c 'mapped 0 100 mapped'
	[ "${lines[99]}" = '{"cpu":null,"record_flags":"mapped","number":99}' ]
	# With records of other streams, a file of single events keeps the flags.
	run_elog capture -o "$work/filtered" -f 'number != 3' -- bash -c 'mapped 0 100 mapped'
	contains "$stderr" "99 events in"
	run_elog show -q --fields cpu,record_flags,number "$work/filtered"
	[ "${lines[3]}" = "cpu=- record_flags=mapped number=4" ]
	"$ELOG" capture -q -o - -- bash -c 'mapped 0 300 mapped' 2> /dev/null > "$work/pipe"
	numbers "$work/pipe" | in_sequence 300
	run_elog capture --split "$work/split" -- bash -c 'mapped 0 100 mapped'
	[ "$status" = 0 ]
	numbers "$work/split/number.elog" | in_sequence 100
	run_elog capture -o "$work/rotated" --rotate 64K,9 -- bash -c 'mapped 0 3000 mapped'
	[ "$status" = 0 ]
	[ -e "$work/rotated.1" ]
	numbers "$work"/rotated* | in_sequence 3000
	# The rings of shards are divided, too: a file each for the CPUs and for the shards.
	run_elog capture -o "$work/parts" --writers 1024 -- bash -c 'mapped 0 1000 both'
	[ "$status" = 0 ]
	contains "$stderr" "1000 events in" "lost 0"
	numbers "$work/parts" | in_sequence 1000
	[ -e "$work/parts-w1" ]
	run_elog capture --overwrite -- bash -c 'mapped 0 200 mapped'
	[ "$status" = 0 ]
	contains "$stderr" "200 events in"
	run_elog stat -- bash -c 'mapped 0 500 mapped'
	[ "$status" = 0 ]
	contains "$stderr" "500 events in" "lost 0"
}

@test "mapped events: a thread's events by the ring and by write() keep their order" {
	run_elog capture -- bash -c 'mapped 0 2000 both'
	[ "$status" = 0 ]
	sed -n 's/.* number=\([0-9]*\) .*/\1/p' <<< "$output" | in_sequence 2000
	[[ ${lines[0]} == " - "* && ${lines[1]} != " - "* ]]
	run_elog capture -o "$work/file" -- bash -c 'mapped 0 2000 both'
	[ "$status" = 0 ]
	numbers "$work/file" | in_sequence 2000
	[ "$("$ELOG" show -q --fields record_flags "$work/file" | sort | uniq -c |
		tr -s ' \n' ' ')" = " 1000 record_flags= 1000 record_flags=mapped " ]
}

@test "mapped events: latency pairs events of both kinds" {
	run_elog capture -o "$work/file" -- bash -c 'mapped 0 200 pairs'
	[ "$status" = 0 ]
	run_elog latency --by number --format json number/step number/done "$work/file"
	[ "$status" = 0 ]
	contains "$output" '"pairs":200,"unpaired_starts":0,"unpaired_ends":0,'
	run_elog latency --by number --format json number/step number/done -- \
		bash -c 'mapped 0 200 pairs'
	[ "$status" = 0 ]
	contains "$output" '"pairs":200,"unpaired_starts":0,"unpaired_ends":0,'
}

@test "mapped events: invalid records are shown apart, and change no exit status" {
	run_elog capture -o "$work/file" -- bash -c 'mapped 0 100 invalid'
	[ "$status" = 0 ]
	contains "$stderr" "100 events in" "lost 0; 100 invalid records" "invalid: 100 of number/step"
	numbers "$work/file" | in_sequence 100
	run_elog show "$work/file"
	[ "$status" = 0 ]
	contains "$stderr" "100 events, lost 0; 100 invalid records"
	run_elog show -q --format json "$work/file"
	[ "$status" = 0 ]
	[ "$(grep '"lost":' <<< "$output" | sed 's/.*"causes":{},"invalid":\([0-9]*\)}/\1/' |
		awk '{ sum += $0 } END { print sum }')" = 100 ]
	run_elog stat "$work/file"
	[ "$status" = 0 ]
	contains "$stderr" "lost 0; 100 invalid records"
	run_elog stat --format json -- bash -c 'mapped 0 100 invalid'
	[ "$status" = 0 ]
	contains "$output" '"lost":0,"invalid":100' '"causes":{}'
	run_elog stat --format prometheus "$work/file"
	contains "$output" $'\neventlog_invalid_total 100'
	run ! grep aborted <<< "$output"
	# Pairs that are pending stay so.
	run_elog latency number/step number/step "$work/file"
	[ "$status" = 0 ]
	# In live output, too.
	run_elog capture -- bash -c 'mapped 0 100 invalid'
	[ "$status" = 0 ]
	contains "$output" "# lost 0 events on an unknown CPU; "
	contains "$stderr" "100 events in" "lost 0; 100 invalid records"
	# A loss is one nevertheless.
	run_elog capture -o "$work/lossy" --per-cpu-bytes 8K -- bash -c '
		while_stopped $PPID mapped 0 500 invalid'
	[ "$status" = 2 ]
	contains "$stderr" "no room " "; 500 invalid records"
}

@test "mapped events: SIGKILL of a producer loses at most the event in flight" {
	start_capture -o "$work/file" -e number
	"$EVENTLOG_BUILD/selftests/produce_mapped" 0 0 mapped "$work/emitted" 3>&- &
	producer=$!
	background+=("$producer")
	wait_for has_emitted "$work/emitted" 500
	kill -KILL "$producer"
	wait "$producer" || true
	emitted=$(od -A n -t u8 "$work/emitted")
	stop_capture INT
	[ "$status" = 0 ]
	contains "$(cat "$work/err")" "lost 0"
	count=$(numbers "$work/file" | wc -l)
	[ "$count" -eq "$((emitted))" ] || [ "$count" -eq "$((emitted + 1))" ]
	numbers "$work/file" | in_sequence "$count"
}

@test "mapped events: SIGKILL of a capture leaves a file that can be read" {
	start_capture -o "$work/file" -e number
	"$EVENTLOG_BUILD/selftests/produce_mapped" 0 0 mapped "$work/emitted" 3>&- &
	background+=("$!")
	wait_for shows_at_least 300 "$work/file"
	kill -KILL "$capture"
	wait "$capture" || true
	count=$(numbers "$work/file" 2> /dev/null | wc -l)
	[ "$count" -ge 300 ]
	numbers "$work/file" 2> /dev/null | in_sequence "$count"
}

# The state of number/step.
state()
{
	"$ELOG" list -q number | awk '{ print $2 }'
}

@test "mapped events: list says who makes programs write events" {
	"$EVENTLOG_BUILD/selftests/produce_mapped" 0 0 mapped "$work/emitted" 3>&- &
	background+=("$!")
	wait_for has_emitted "$work/emitted" 1
	start_capture -o "$work/file" -e number
	[ "$(state)" = live,enabled ]
	run_elog list --format json number
	contains "$output" '"enabled":true,"sync":[],"sync_pid":null,'
	start_elog stat -e number -f '@cpu == 4095'
	[ "$(state)" = "live,enabled,sync:filter=elog[$started]" ]
	run_elog list --tree number
	contains "$output" " live,enabled,sync:filter=elog[$started] info "
	run_elog list --format json number
	contains "$output" "\"enabled\":true,\"sync\":[\"filter\"],\"sync_pid\":$started,"
	contains "$(cat /dev/eventlog)" "number/step # Used by elog[$capture] elog[$started](sync)"
	stop_elog INT
	if trace_events_exist; then
		echo 1 > /sys/kernel/tracing/events/eventlog_number/step/enable
		[ "$(state)" = live,enabled,sync:tracer ]
		run_elog list --format json number
		contains "$output" '"enabled":true,"sync":["tracer"],"sync_pid":null,'
		echo 0 > /sys/kernel/tracing/events/eventlog_number/step/enable
	fi
	[ "$(state)" = live,enabled ]
	stop_capture INT
	[ "$status" = 0 ]
}
