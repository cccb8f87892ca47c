#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog bpf and elog stat --bpf, with the kernel module: an elog built with libbpf,
# clang and bpftool. Needs root, clang, libbpf's headers, and python3.

load elog.bash

setup_file()
{
	find_built
	export OBJECTS=$BATS_FILE_TMPDIR
	local source name

	for source in "$TREE"/selftests/bpf/*.bpf.c; do
		name=$(basename "$source" .c)
		clang -target bpf -O2 -g -Wall -Werror -I"$TREE/uapi" \
			-idirafter "/usr/include/$(gcc -print-multiarch)" \
			-c -o "$OBJECTS/$name.o" "$source"
	done
	# The example of the manual page.
	awk '/^\.Ed/ { literal = 0 } literal { gsub("\\\\e", "\\"); print }
		/^\.Bd -literal/ { literal = 1 }' "$TREE/tools/man/elog-bpf.1" \
		> "$OBJECTS/count.bpf.c"
	clang -target bpf -O2 -g -Wall -Werror -I"$TREE/uapi" \
		-idirafter "/usr/include/$(gcc -print-multiarch)" \
		-c -o "$OBJECTS/count.bpf.o" "$OBJECTS/count.bpf.c"
}

setup()
{
	begin
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
}

# Prints NAME EVENTS BYTES LOST of each row of a table of text.
rows()
{
	awk '$1 != "#" && $3 != "EVENTS" { print $1, $3, $5, $7 }'
}

removed()
{
	rmmod eventlog 2> "$work/rmmod"
}

@test "stat --bpf: counts what stat counts" {
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

@test "stat --bpf: counts what is asked for, whoever else wants more" {
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

	# Nobody else wants anything: what is not asked for is not emitted.
	echo '"$ELOG" emit -v a/one "u32 x" x=1; "$ELOG" emit -v b/two' > "$work/job"
	run_elog stat -q --bpf -e b -- bash "$work/job"
	[ "$(rows <<< "$output")" = "b/two 1 0 -
total 1 0 0" ]
	contains "$stderr" "nobody listens to a/one" "emitted 1 of b/two"
}

@test "stat --bpf: by CPU, and of some CPUs" {
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

@test "stat --bpf: definitions of one name are one row, those that are gone have theirs" {
	cat > "$work/job" <<'JOB'
"$ELOG" emit -n 3 a/one 'u32 x' x=1
"$ELOG" emit -n 4 -l error a/one 'u64 x' x=1
JOB
	run_elog stat -q --bpf -- bash "$work/job"
	[ "$(rows <<< "$output")" = "a/one 7 56 -
total 7 56 0" ]
	contains "$output" "a/one                    error"
}

@test "stat --bpf: JSON has sizes; so has text with -v" {
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

@test "stat --bpf: nothing is lost that many processes emit at once" {
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

@test "stat --bpf: prints in intervals, and ends by a signal" {
	start_elog stat --bpf --interval 0.1 -e a
	"$ELOG" emit -n 5 a/one
	# It was in a table before the last one.
	tables() { [ "$(grep -c '^total .* 5 ' "$work/out")" -ge 3 ]; }
	wait_for tables
	stop_elog TERM
	[ "$status" = 0 ]
	grep -q '^# .* in all$' "$work/out"
	grep '^total' "$work/out" | tail -n 1 | grep ' 5 '
	contains "$(< "$work/err")" "5 events in"
}

@test "stat --bpf: counts for Prometheus" {
	start_elog stat -q --bpf --interval 0.1 --format prometheus -o "$work/file.prom"
	"$ELOG" emit -n 5 a/one 'u32 x' x=1
	wait_for grep -qs 'eventlog_events_total{provider="a",event="one",level="info"} 5' \
		"$work/file.prom"
	grep 'eventlog_bytes_total{provider="a",event="one"} 40' "$work/file.prom"
	grep 'eventlog_lost_total{cause="nested"} 0' "$work/file.prom"
	stop_elog INT
	[ "$status" = 0 ]
}

@test "stat --bpf: errors" {
	fails_with "--by session or pid does not go with --bpf" stat --bpf --by pid
	fails_with "--by session or pid does not go with --bpf" stat --bpf --by session
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

# Records are printed as they come, maps at the end.
@test "bpf attach: records while it runs, and maps at the end" {
	start_elog bpf attach "$OBJECTS/emit.bpf.o" -e a
	"$ELOG" emit -s 9 -k 5 -l warning a/one 'u32 x; char[20] t' x=77 t='hel"lo'
	wait_for has_lines "$work/out" 2
	[ "$(sort "$work/out" | sed 's/pid=[0-9]*/pid=PID/')" = \
		'records: {session=9, keywords=5, pid=PID, bytes=24, read=24, negative=-2, level=2, is_task=true, size=LARGE, first=77, octets=[77,0,0,0], low=3, high=12, text="hel\"lo"}
untyped: 18000000' ]
	# Not asked for.
	"$ELOG" emit b/two
	"$ELOG" emit -n 2 a/two 'u8 y' y=3
	wait_for has_lines "$work/out" 6
	stop_elog INT
	[ "$status" = 0 ]
	[ "$(< "$work/err")" = "elog: attached" ] || grep -v libbpf "$work/err"
	grep -Fx 'places[{pid=7, level=2}]: 1' "$work/out"
	grep -Fx 'places[{pid=7, level=4}]: 2' "$work/out"
	grep -E '^levels\[2\]: \[([0,]*,)?1(,[0,]*)?\]$' "$work/out"
	grep -Fx 'untold[0]: 000000' "$work/out"
	grep -Fx 'emit.data: {share=0.5}' "$work/out"
	grep -Fx 'emit.bss: {events=3}' "$work/out"
	[ "$(grep -c '^levels' "$work/out")" = 2 ]
	run ! grep constant "$work/out"
}

@test "bpf attach: JSON" {
	echo '"$ELOG" emit -s 0x1000000000000009 a/one "u32 x; char[20] t" x=77 t=$'"'hel\"lo\\n'" \
		> "$work/job"
	run_elog bpf attach --format json "$OBJECTS/emit.bpf.o" -e a -- bash "$work/job"
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
record = [line["record"] for line in lines if line["map"] == "records"]
assert len(record) == 1
record = record[0]
assert record["session"] == 0x1000000000000009, record
assert record["negative"] == -2 and record["is_task"] is True, record
assert record["size"] == "LARGE" and record["octets"] == [77, 0, 0, 0], record
assert record["low"] == 3 and record["high"] == 12 and record["first"] == 77, record
assert record["text"] == "hel\"lo\n", record
def entries(name):
    return [line for line in lines if line["map"] == name]
assert entries("untyped")[0]["record"] == "18000000"
assert entries("places") == [{"map": "places", "key": {"pid": 7, "level": 4}, "value": 1}]
levels = entries("levels")
assert [line["key"] for line in levels] == [4] and sum(levels[0]["values"]) == 1, levels
assert entries("untold") == [{"map": "untold", "key": 0, "value": "000000"}]
assert entries("emit.bss") == [{"map": "emit.bss", "value": {"events": 1}}]
assert entries("emit.data") == [{"map": "emit.data", "value": {"share": 0.5}}]
' <<< "$output"
}

@test "bpf attach: without --event it sees what others want, and makes nothing wanted" {
	echo '"$ELOG" emit -v a/one' > "$work/job"
	run_elog bpf attach "$OBJECTS/emit.bpf.o" -- bash "$work/job"
	[ "$status" = 0 ]
	contains "$output" 'emit.bss: {events=0}'
	contains "$stderr" "nobody listens to a/one"
	start_capture -q -e a
	run_elog bpf attach "$OBJECTS/emit.bpf.o" -- bash "$work/job"
	contains "$output" 'emit.bss: {events=1}'
	stop_capture INT
}

@test "bpf attach: programs on trace events, named and by --event" {
	"$ELOG" create made/one 'u32 number'
	"$ELOG" create made/one 'u32 number; u8 more'
	"$ELOG" create ma-d.e/two 'u32 number'
	"$ELOG" create made/two 'u32 number'
	cat > "$work/job" <<'JOB'
"$ELOG" emit -s 9 made/one 'u32 number' number=77
"$ELOG" emit -s 10 -n 5 made/one 'u32 number; u8 more' number=1 more=2
"$ELOG" emit -s 11 -n 5 ma-d.e/two 'u32 number' number=2
"$ELOG" emit -s 12 -n 5 made/two 'u32 number' number=3
"$ELOG" delete made/one
JOB
	run_elog bpf attach "$OBJECTS/trace.bpf.o" -e 'm*/one' -e 'ma-d.e' -- bash "$work/job"
	# Of elog delete: what is attached to is in use.
	[ "$status" = 1 ]
	contains "$stderr" "'made/one' is in use" "ended with status 1"
	[ "$(grep '^sessions' <<< "$output" | sort)" = 'sessions[10]: 5
sessions[11]: 10
sessions[9]: 77' ]
	contains "$output" 'any=11'
	# Either definition of the name may be the one that has it.
	[[ $output == *named=77* || $output == *named=5* ]]
	run_elog delete made/one
	[ "$status" = 0 ]
}

@test "bpf attach: what the kernel traces itself" {
	cat > "$OBJECTS/exec.bpf.c" <<'SOURCE'
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
__u64 executed;
SEC("tp/sched/sched_process_exec")
int on_exec(void *event)
{
	__sync_fetch_and_add(&executed, 1);
	return 0;
}
char program_license[] SEC("license") = "GPL";
SOURCE
	clang -target bpf -O2 -g -idirafter "/usr/include/$(gcc -print-multiarch)" \
		-c -o "$OBJECTS/exec.bpf.o" "$OBJECTS/exec.bpf.c"
	run_elog bpf attach "$OBJECTS/exec.bpf.o" -- sh -c 'true; env true'
	[ "$status" = 0 ]
	[[ $output =~ executed=([0-9]+) ]]
	[ "${BASH_REMATCH[1]}" -ge 2 ]
}

@test "bpf attach: the example of elog-bpf(1)" {
	run_elog bpf attach -e a "$OBJECTS/count.bpf.o" -- sh -c \
		'exec "$ELOG" emit -n 7 a/one'
	[ "$status" = 0 ]
	[[ $output =~ ^processes\[[0-9]+\]:\ 7$ ]]
}

@test "bpf attach: the module stays while a program is attached, and goes then" {
	"$ELOG" create made/one 'u32 number'
	start_elog bpf attach "$OBJECTS/trace.bpf.o" -e made/one
	fails_with "is in use" delete made/one
	run ! rmmod eventlog
	stop_elog TERM
	[ "$status" = 0 ]
	run_elog delete made/one
	[ "$status" = 0 ]
	start_elog bpf attach "$OBJECTS/emit.bpf.o"
	run ! rmmod eventlog
	stop_elog TERM
	wait_for removed
}

@test "bpf attach: ends after a while, or with the status of its command" {
	run_elog bpf attach -d 0.1 "$OBJECTS/emit.bpf.o"
	[ "$status" = 0 ]
	run_elog bpf attach "$OBJECTS/emit.bpf.o" -- sh -c 'exit 7'
	[ "$status" = 7 ]
	contains "$stderr" "sh ended with status 7"
	contains "$output" "emit.bss:"
	run_elog bpf attach -q "$OBJECTS/emit.bpf.o" -- sh -c 'exit 7'
	[ "$status" = 7 ]
	[ -z "$stderr" ]
	run -127 --separate-stderr "$ELOG" bpf attach "$OBJECTS/emit.bpf.o" -- /nonexistent 3>&-
	# The reader is gone.
	run bash -c '"$ELOG" bpf attach -d 0.1 "$OBJECTS/emit.bpf.o" | true; echo ${PIPESTATUS[0]}'
	[[ $output == [01] ]]
	run bash -c '"$ELOG" bpf attach -d 0.1 "$OBJECTS/emit.bpf.o" > /dev/full'
	[ "$status" = 1 ]
}

@test "bpf attach: errors" {
	fails_with "attach is missing" bpf
	fails_with "there is no 'load', only attach" bpf load x
	fails_with "FILE is missing" bpf attach
	fails_with "FILE is missing" bpf attach -- true
	fails_with "'b' is too much" bpf attach a b
	fails_with "the command behind -- is missing" bpf attach a --
	fails_with "No such file" bpf attach "$work/none"
	fails_with "format" bpf attach "$work/job"
	: > "$work/empty"
	fails_with "$work/empty" bpf attach "$work/empty"
	head -c 2000 "$OBJECTS/emit.bpf.o" > "$work/cut.o"
	fails_with "$work/cut.o" bpf attach "$work/cut.o"
	# Those will be emitted once there are any.
	run_elog bpf attach -d 0.1 "$OBJECTS/count.bpf.o" -e none/none
	[ "$status" = 0 ]
	"$ELOG" create made/one 'u32 number'
	fails_with "names no event: add --event" bpf attach "$OBJECTS/trace.bpf.o"
	fails_with "no event matches 'none/none'" bpf attach "$OBJECTS/trace.bpf.o" \
		-e none/none
	# It has fewer fields than the program reads.
	"$ELOG" create made/small
	fails_with "reads beyond the event's fields" bpf attach "$OBJECTS/trace.bpf.o" \
		-e made/small
	"$ELOG" delete made/small made/one
	chmod 0666 /dev/eventlog
	chmod 755 "$OBJECTS"
	cp "$OBJECTS/emit.bpf.o" /tmp/emit.bpf.o
	run_apart setpriv --reuid=65534 --clear-groups "$ELOG" bpf attach \
		/tmp/emit.bpf.o
	chmod 0600 /dev/eventlog
	[ "$status" = 1 ]
	contains "$stderr" CAP_BPF
	wait_for removed
	fails_with "is not loaded, or older" bpf attach "$OBJECTS/count.bpf.o"
}

@test "bpf attach: tp_btf, by the types of the module" {
	[ -e /sys/kernel/btf/eventlog ]
	echo '"$ELOG" emit -n 3 a/one' > "$work/job"
	run_elog bpf attach -e a "$OBJECTS/typed.bpf.o" -- bash "$work/job"
	[ "$status" = 0 ]
	contains "$output" 'events=3'

	# A module built without the tools.
	objcopy --remove-section .BTF "$EVENTLOG_KO" "$work/eventlog.ko"
	wait_for removed
	insmod "$work/eventlog.ko"
	fails_with "raw_tp does not" bpf attach "$OBJECTS/typed.bpf.o"
	wait_for removed
}

@test "programs emit events of their own" {
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

		__u64 wanted, unwanted, wrong;

		SEC("tp_btf/sched_process_fork")
		int forked(__u64 *arguments)
		{
			struct { __u32 number; __u64 more; } __attribute__((packed)) payload = { 7, 8 };
			int ret = bpf_eventlog_emit($descriptor, 99, &payload, sizeof(payload));

			__sync_fetch_and_add(ret ? &unwanted : &wanted, 1);
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
	run_elog bpf attach "$OBJECTS/producer.bpf.o" -- sh -c '/bin/true; /bin/true
		"$0" capture -q -n 1 -e made -- sh -c "/bin/true; /bin/true"' "$ELOG"
	printf '%s\n' "$output" "$stderr"
	[ "$status" = 0 ]
	contains "$output" '0x63 forked number=7 more=8' wrong=0
	[[ $output =~ (^|[^n])wanted=[1-9] ]]
	[[ $output =~ unwanted=[1-9] ]]
}
