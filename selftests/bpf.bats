#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# BPF programs and the kernel module: elog stat --bpf, programs on the tracepoint
# eventlog_emit and on trace events, and programs that emit. Needs root, an elog built
# with libbpf, clang, libbpf's headers, bpftool, and python3.

load elog.bash

setup_file()
{
	find_built
	export OBJECTS=$BATS_FILE_TMPDIR
	export ATTACH=$OBJECTS/attach
	export TRACEFS=/sys/kernel/tracing
	local source name

	[ -d $TRACEFS/events ] || mount -t tracefs tracefs $TRACEFS
	# Without it the tests fail; they are not skipped.
	command -v bpftool
	gcc -O2 -Wall -Wextra -Werror -o "$ATTACH" "$TREE/selftests/bpf/attach.c" -lbpf

	for source in "$TREE"/selftests/bpf/*.bpf.c; do
		name=$(basename "$source" .c)
		clang -target bpf -O2 -g -Wall -Werror -I"$TREE/uapi" \
			-idirafter "/usr/include/$(gcc -print-multiarch)" \
			-c -o "$OBJECTS/$name.o" "$source"
	done
	# The example of the manual page, from its first to its last line.
	sed -n '/^#include/,/^char program_license/{ s/\\e/\\/g; p }' \
		"$TREE/tools/man/eventlog-bpf.7" > "$OBJECTS/count.bpf.c"
	clang -target bpf -O2 -g -Wall -Werror -I"$TREE/uapi" \
		-idirafter "/usr/include/$(gcc -print-multiarch)" \
		-c -o "$OBJECTS/count.bpf.o" "$OBJECTS/count.bpf.c"
}

setup()
{
	begin
	trace_events_exist || skip "this kernel has no kfuncs of modules"
	cat > "$work/job" <<'JOB'
"$ELOG" emit -n 300 -s 7 -l warning -k 6 a/one 'u32 x' x=1
"$ELOG" emit -n 200 b/two
"$ELOG" emit -n 100 -s 8 b/three 'char[40] t' t=x
JOB
}

teardown()
{
	end_background
	delete_persistent
	unload_user_events
}

# Prints NAME EVENTS BYTES LOST of each row of a text table.
rows()
{
	awk '$1 != "#" && $2 != "EVENTS" { print $NF, $2, $4, $6 }'
}

removed()
{
	rmmod eventlog 2> "$work/rmmod"
}

# Attaches the programs of an object; those with section "tp" to each GROUP:EVENT. Sets
# $attached to the process; its output is in $work/maps.
start_attached()
{
	"$ATTACH" "$OBJECTS/$1.bpf.o" "${@:2}" > "$work/maps" 2> "$work/err" 3>&- &
	attached=$!
	background+=("$attached")
	attached_or_ended()
	{
		has_begun "$work/maps" attached || ! kill -0 "$attached" 2> /dev/null
	}
	wait_for attached_or_ended
	has_begun "$work/maps" attached || { cat "$work/err"; return 1; }
}

# Detaches them.
detach()
{
	started=$attached
	stop_elog TERM
	[ "$status" = 143 ]
}

# Attaching fails with this message.
attach_fails_with()
{
	run_apart timeout "$HANG_SECONDS" "$ATTACH" "$OBJECTS/$2.bpf.o" "${@:3}"
	[ "$status" = 1 ]
	contains "$stderr" "$1"
}

# Prints the entries of a map as JSON, "KEY VALUE", sorted.
dump()
{
	bpftool -j map dump id "$(awk -v name="$1" '$1 == name { print $2 }' "$work/maps")" |
		python3 -c '
import json, sys
for entry in json.load(sys.stdin):
    entry = entry.get("formatted", entry)
    print(json.dumps(entry.get("key")), json.dumps(entry["value"]))' | sort
}

# Waits until trace events exist, GROUP/EVENT: a worker of the module creates them.
wait_for_trace_events()
{
	local event

	for event; do
		wait_for test -e "$TRACEFS/events/$event/id"
	done
}

@test "stat --bpf: the same counts as stat" {
	run_elog stat --bpf --sort name -- bash "$work/job"
	[ "$status" = 0 ]
	[ "$(rows <<< "$output")" = "a/one 300 2400 -
b/three 100 4000 -
b/two 200 0 -
total 600 6400 0" ]
	contains "$stderr" "600 events in" "6400 bytes, lost 0"
	run_elog stat --sort name -- bash "$work/job"
	[ "$(rows <<< "$output" | cut -d ' ' -f 1-3)" = "a/one 300 2400
b/three 100 4000
b/two 200 0
total 600 6400" ]
}

@test "stat --bpf: selects events, whatever others subscribe to" {
	start_capture -q
	run_elog stat -q --bpf -e 'b/t*' -- bash "$work/job"
	[ "$(rows <<< "$output")" = "b/two 200 0 -
b/three 100 4000 -
total 300 4000 0" ]
	run_elog stat -q --bpf -l warning -- bash "$work/job"
	[ "$(rows <<< "$output")" = "a/one 300 2400 -
total 300 2400 0" ]
	run_elog stat -q --bpf -k 2 --by provider -- bash "$work/job"
	[ "$(rows <<< "$output")" = "a 300 2400 -
total 300 2400 0" ]
	wait_for has_lines "$work/out" 1800
	stop_capture INT

	# Without other subscribers, only the selected events are emitted.
	echo '"$ELOG" emit -v a/one "u32 x" x=1; "$ELOG" emit -v b/two' > "$work/job"
	run_elog stat -q --bpf -e b -- bash "$work/job"
	[ "$(rows <<< "$output")" = "b/two 1 0 -
total 1 0 0" ]
	contains "$stderr" "a/one has no listeners" "emitted 1 of b/two"
}

@test "stat --bpf: counts by CPU, and on selected CPUs" {
	cat > "$work/job" <<'JOB'
taskset -c 0 "$ELOG" emit -n 30 a/one
taskset -c 1 "$ELOG" emit -n 20 a/one
JOB
	run_elog stat -q --bpf --by cpu -- bash "$work/job"
	[ "$(rows <<< "$output")" = "0 30 0 -
1 20 0 -
total 50 0 0" ]
	run_elog stat -q --bpf --by cpu -C 1 -- bash "$work/job"
	[ "$(rows <<< "$output")" = "1 20 0 -
total 20 0 0" ]
	run_elog stat -q --bpf -C 0 -- bash "$work/job"
	[ "$(rows <<< "$output")" = "a/one 30 0 -
total 30 0 0" ]
}

@test "stat --bpf: one row per name, also for definitions that are gone" {
	cat > "$work/job" <<'JOB'
"$ELOG" emit -n 3 a/one 'u32 x' x=1
"$ELOG" emit -n 4 -l error a/one 'u64 x' x=1
JOB
	run_elog stat -q --bpf -- bash "$work/job"
	[ "$(rows <<< "$output")" = "a/one 7 56 -
total 7 56 0" ]
	grep -qE "^error .* a/one\$" <<< "$output"
}

@test "stat --bpf: sizes in JSON, and in text with -v" {
	cat > "$work/job" <<'JOB'
"$ELOG" emit a/none
for size in 1 2 3 4 65536; do
	"$ELOG" emit a/some "char[$size] t" t=x
done
JOB
	run_elog stat --bpf --format json -- bash "$work/job"
	[ "$status" = 0 ]
	python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
sizes = {row.get("event"): row["sizes"] for row in rows}
assert sizes["none"] == {"0": 1}, sizes
assert sizes["some"] == {"1": 1, "2": 2, "4": 1, "65536": 1}, sizes
assert rows[-1]["summary"] and sizes[None] == {**sizes["none"], **sizes["some"]}, rows
assert rows[-1]["bytes"] == 4 * 8 + 65536, rows
' <<< "$output"
	run_elog stat --bpf -v -- bash "$work/job"
	contains "$output" "#      2 to      3            2" "#  65536 to 131071            1"
}

@test "stat --bpf: nothing is lost when many processes emit at once" {
	cat > "$work/job" <<'JOB'
for n in 1 2 3 4; do
	"$ELOG" emit -n 2500 "load/event$n" 'u32 x' x=1 &
	"$ELOG" emit -n 2500 load/all 'u32 x' x=1 &
done
wait
JOB
	run_elog stat -q --bpf --sort name -- bash "$work/job"
	[ "$status" = 0 ]
	[ "$(rows <<< "$output")" = "load/all 10000 80000 -
load/event1 2500 20000 -
load/event2 2500 20000 -
load/event3 2500 20000 -
load/event4 2500 20000 -
total 20000 160000 0" ]
}

@test "stat --bpf: --interval, and the end by a signal" {
	start_elog stat --bpf --interval 0.1 -e a
	"$ELOG" emit -n 5 a/one
	# Wait until several tables have it, not only the last one.
	tables() { [ "$(grep -c '  *5 .* total$' "$work/out")" -ge 3 ]; }
	wait_for tables
	stop_elog TERM
	[ "$status" = 0 ]
	grep -q '^# .* in all$' "$work/out"
	grep ' total$' "$work/out" | tail -n 1 | grep ' 5 '
	contains "$(< "$work/err")" "5 events in"
}

@test "stat --bpf: --format prometheus" {
	start_elog stat -q --bpf --interval 0.1 --format prometheus -o "$work/file.prom"
	"$ELOG" emit -n 5 a/one 'u32 x' x=1
	wait_for grep -qs 'eventlog_events_total{provider="a",event="one",level="info"} 5' \
		"$work/file.prom"
	grep 'eventlog_bytes_total{provider="a",event="one"} 40' "$work/file.prom"
	grep 'eventlog_lost_total{cause="nested"} 0' "$work/file.prom"
	stop_elog INT
	[ "$status" = 0 ]
}

@test "stat --bpf: messages about wrong usage" {
	fails_with "--by session, pid or instance does not go with --bpf" stat --bpf --by pid
	fails_with "--by session, pid or instance does not go with --bpf" stat --bpf --by session
	fails_with "-s does not go with --bpf" stat --bpf -s 1
	fails_with "-p does not go with --bpf" stat --bpf -p 1
	fails_with "-t does not go with --bpf" stat --bpf -t 1
	fails_with "-f does not go with --bpf" stat --bpf -f 'x == 1'
	fails_with "-n does not go with --bpf" stat --bpf -n 1
	fails_with "--sample does not go with --bpf" stat --bpf --sample 2
	fails_with "--around does not go with --bpf" stat --bpf --since now
	fails_with "--per-cpu-bytes does not go with --bpf" stat --bpf --per-cpu-bytes 64K
	fails_with "--bpf does not go with a FILE" stat --bpf "$work/job"
	chmod 0666 /dev/eventlog
	run_apart setpriv --reuid=65534 --clear-groups --inh-caps=+perfmon \
		--ambient-caps=+perfmon --bounding-set=+perfmon "$ELOG" stat --bpf
	chmod 0600 /dev/eventlog
	[ "$status" = 1 ]
	contains "$stderr" CAP_BPF
}

@test "raw_tp/eventlog_emit: a program gets what is emitted" {
	start_capture -q -e a
	start_attached emit
	sh -c 'echo $$ > "$1"; exec "$ELOG" emit -s 9 -k 5 -l warning a/one "u32 x; char[20] t" \
		x=77 "t=hel\"lo"' - "$work/pid"
	[ "$(dump records)" = '0 {"session": 9, "keywords": 5, "pid": '"$(< "$work/pid")"', "bytes": 24, "read": 24, "level": 3, "context": 0, "first": 77, "text": "hel\"lo"}' ]
	# The capture does not enable this one.
	"$ELOG" emit b/two
	"$ELOG" emit -n 2 a/two 'u8 y' y=3
	[ "$(dump levels)" = '3 1
5 2' ]
	dump emit.bss | grep '"events": 3'
	detach
	stop_capture INT
}

@test "raw_tp/eventlog_emit: attaching enables no event" {
	start_attached emit
	run_elog emit -v a/one
	contains "$stderr" "a/one has no listeners"
	dump emit.bss | grep '"events": 0'
	start_capture -q -e a
	"$ELOG" emit a/one
	dump emit.bss | grep '"events": 1'
	stop_capture INT
	detach
}

@test "raw_tp/eventlog_emit: sessions are 64 bits" {
	start_capture -q -e a
	start_attached emit
	"$ELOG" emit -s 0x1000000000000009 a/one 'u32 x; char[20] t' x=77 t=$'hel"lo\n'
	dump records > "$work/records"
	cat "$work/records"
	contains "$(< "$work/records")" '"session": 1152921504606846985' '"bytes": 24' '"first": 77'
	detach
	stop_capture INT
}

@test "raw_tp/eventlog_emit: the example of eventlog-bpf(7)" {
	start_capture -q -e a
	start_attached count
	sh -c 'echo $$ > "$1"; exec "$ELOG" emit -n 7 a/one' - "$work/pid"
	[ "$(dump processes)" = "$(< "$work/pid") 7" ]
	detach
	stop_capture INT
}

@test "tp/GROUP/EVENT: each definition of an event, and names with other characters" {
	"$ELOG" create made/one 'u32 number'
	"$ELOG" create made/one 'u32 number; u8 more'
	"$ELOG" create ma-d.e/two 'u32 number'
	"$ELOG" create made/two 'u32 number'
	wait_for_trace_events eventlog_made/one eventlog_ma_d_e/two eventlog_made/two
	both_definitions()
	{
		mapfile -t ones < <(grep -E '^eventlog_made:one(\.[0-9a-f]+)?$' "$TRACEFS/available_events")
		[ ${#ones[@]} = 2 ]
	}
	wait_for both_definitions
	start_attached trace "${ones[@]}" eventlog_ma_d_e:two
	"$ELOG" emit -s 9 made/one 'u32 number' number=77
	"$ELOG" emit -s 10 -n 5 made/one 'u32 number; u8 more' number=1 more=2
	"$ELOG" emit -s 11 -n 5 ma-d.e/two 'u32 number' number=2
	run_elog emit -v -s 12 -n 5 made/two 'u32 number' number=3
	contains "$stderr" "made/two has no listeners"
	# It is in use by the program.
	fails_with "'made/one' is in use" delete made/one
	[ "$(dump sessions)" = '10 5
11 10
9 77' ]
	dump trace.bss > "$work/sums"
	cat "$work/sums"
	grep '"any": 11[,}]' "$work/sums"
	# Either definition of the name may be the one that has it.
	grep -E '"named": (77|5)[,}]' "$work/sums"
	detach
	run_elog delete made/one
	[ "$status" = 0 ]
}

@test "user_events: perf, ftrace, BPF and elog see the same event" {
	local group=user_events event=Prov_L2K1

	load_user_events
	"$EVENTLOG_BUILD/selftests/produce_eventheader" hold 3>&- &
	background+=($!)
	wait_for_trace_events $group/$event
	start_attached user_events $group:$event
	start_capture -q -e $group/$event
	echo > $TRACEFS/trace
	echo 1 > $TRACEFS/events/$group/$event/enable
	perf record -q -a -o "$work/perf.data" -e $group:$event -- \
		"$EVENTLOG_BUILD/selftests/produce_eventheader" 3 > "$work/log" 2>&1 3>&-
	echo 0 > $TRACEFS/events/$group/$event/enable
	stop_capture INT
	dump user_eve.bss > "$work/sums"
	detach

	cat "$work/out" "$work/sums"
	[ "$(grep -c ' Failed .*error=ENOENT event_id=7' "$work/out")" = 3 ]
	grep -E '"records": 3[,}]' "$work/sums"
	grep -E '"ids": 21[,}]' "$work/sums"
	grep -E '"levels": 6[,}]' "$work/sums"
	perf script -i "$work/perf.data" > "$work/perf" 2> "$work/log"
	grep " $event: " $TRACEFS/trace > "$work/trace"
	for name in perf trace; do
		cat "$work/$name"
		[ "$(grep -c "$event: .* id=7 tag=0 opcode=0 level=2" "$work/$name")" = 3 ]
		has_lines "$work/$name" 3
	done
}

@test "tp/GROUP/EVENT: a program that reads beyond the fields is not attached" {
	"$ELOG" create made/one 'u32 number'
	"$ELOG" create made/small
	wait_for_trace_events eventlog_made/one eventlog_made/small
	attach_fails_with "Permission denied" trace eventlog_made:small
	"$ELOG" delete made/small made/one
}

@test "the module stays while a program is attached" {
	"$ELOG" create made/one 'u32 number'
	wait_for_trace_events eventlog_made/one
	start_attached trace
	fails_with "is in use" delete made/one
	run ! rmmod eventlog
	detach
	run_elog delete made/one
	[ "$status" = 0 ]
	start_attached emit
	run ! rmmod eventlog
	detach
	wait_for removed
	attach_fails_with "No such file or directory" emit
}

@test "tp_btf/eventlog_emit: by the types of the module" {
	[ -e /sys/kernel/btf/eventlog ]
	start_capture -q -e a
	start_attached typed
	"$ELOG" emit -n 3 a/one
	dump typed.bss | grep '"events": 3'
	detach
	stop_capture INT

	# A module built without the tools has no types; raw_tp works without them.
	objcopy --remove-section .BTF "$EVENTLOG_KO" "$work/eventlog.ko"
	wait_for removed
	insmod "$work/eventlog.ko"
	attach_fails_with "No such process" typed
	start_attached emit
	detach
	wait_for removed
}

@test "kfunc bpf_eventlog_emit: programs emit events of their own" {
	local descriptor

	"$ELOG" create made/forked 'u32 number; u64 more'
	descriptor=$("$ELOG" list --format json | python3 -c '
import json, sys
for line in sys.stdin:
    event = json.loads(line)
    if event.get("name", event.get("event")) == "forked":
        print(event["descriptor"])')
	[ -n "$descriptor" ]
	cat > "$OBJECTS/producer.bpf.c" <<-SOURCE
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>

		extern int bpf_eventlog_emit(__u32 descriptor, __u64 session, const void *payload,
					     __u32 payload__sz) __ksym;

		__u64 emitted, disabled, wrong;

		SEC("tp_btf/sched_process_fork")
		int forked(__u64 *arguments)
		{
			struct { __u32 number; __u64 more; } __attribute__((packed)) payload = { 7, 8 };
			int ret = bpf_eventlog_emit($descriptor, 99, &payload, sizeof(payload));

			__sync_fetch_and_add(ret ? &disabled : &emitted, 1);
			if (bpf_eventlog_emit(0xfffffff0, 0, &payload, sizeof(payload)) != -2 ||
			    (!ret && bpf_eventlog_emit($descriptor, 0, &payload, 4) != -22) ||
			    (ret && ret != -9))
				__sync_fetch_and_add(&wrong, 1);
			return 0;
		}

		char program_license[] SEC("license") = "GPL";
	SOURCE
	clang -target bpf -O2 -g -idirafter "/usr/include/$(gcc -print-multiarch)" \
		-c -o "$OBJECTS/producer.bpf.o" "$OBJECTS/producer.bpf.c"
	start_attached producer
	sh -c '/bin/true; /bin/true'
	run_elog capture -q -n 1 -e made -- sh -c '/bin/true; /bin/true'
	printf '%s\n' "$output" "$stderr"
	[ "$status" = 0 ]
	contains "$output" '0x63 forked number=7 more=8'
	dump producer.bss > "$work/counts"
	cat "$work/counts"
	grep '"wrong": 0' "$work/counts"
	grep '"emitted": [1-9]' "$work/counts"
	grep '"disabled": [1-9]' "$work/counts"
	detach
}
