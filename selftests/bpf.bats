#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog stat --bpf, with the kernel module: an elog built with libbpf, clang and
# bpftool. Needs root, and python3.

load elog.bash

setup_file()
{
	find_built
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
	"$ELOG" list -q 2> /dev/null | awk '$2 ~ /^persistent/ { print $5 }' |
		sort -u | xargs -r "$ELOG" delete
}

# Starts elog with output in $work/out and $work/err; returns when it says a word;
# its process is $started.
start()
{
	local word=$1

	shift
	"$ELOG" "$@" -v > "$work/out" 2> "$work/err" 3>&- &
	started=$!
	background+=("$started")
	wait_for grep -q "^elog: $word" "$work/err"
}

# Ends it, by a signal; its exit status is $status.
stop()
{
	status=0
	kill "-$1" "$started"
	wait "$started" || status=$?
	background=()
}

# Prints NAME EVENTS BYTES LOST of each row of a table of text.
rows()
{
	awk '$1 != "#" && $3 != "EVENTS" { print $1, $3, $5, $7 }'
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
	start counting stat --bpf --interval 0.1 -e a
	"$ELOG" emit -n 5 a/one
	# It was in a table before the last one.
	tables() { [ "$(grep -c '^total .* 5 ' "$work/out")" -ge 3 ]; }
	wait_for tables
	stop TERM
	[ "$status" = 0 ]
	grep -q '^# .* in all$' "$work/out"
	grep '^total' "$work/out" | tail -n 1 | grep ' 5 '
	contains "$(cat "$work/err")" "5 events in"
}

@test "stat --bpf: counts for Prometheus" {
	start counting stat -q --bpf --interval 0.1 --format prometheus -o "$work/file.prom"
	"$ELOG" emit -n 5 a/one 'u32 x' x=1
	wait_for grep -qs 'eventlog_events_total{provider="a",event="one",level="info"} 5' \
		"$work/file.prom"
	grep 'eventlog_bytes_total{provider="a",event="one"} 40' "$work/file.prom"
	grep 'eventlog_lost_total{cause="nested"} 0' "$work/file.prom"
	stop INT
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
	run --separate-stderr setpriv --reuid=65534 --clear-groups --inh-caps=+perfmon \
		--ambient-caps=+perfmon --bounding-set=+perfmon "$ELOG" stat --bpf
	chmod 0600 /dev/eventlog
	[ "$status" = 1 ]
	contains "$stderr" CAP_BPF
}
