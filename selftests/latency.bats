#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog latency, with the kernel module. Needs root.

load elog.bash

# Emits events from lines "PROVIDER start|end SESSION ID STATUS NAME", in one process.
# start has an id of 32 bits and char[8] name, end has an id of 64 bits and a string.
emit_lines()
{
	LD_LIBRARY_PATH=$EVENTLOG_TOOLS python3 -c '
import ctypes, struct, sys
class Part(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]
elog = ctypes.CDLL("libelog.so.0")
producer, events = ctypes.c_void_p(), {}
commands = {"start": b"start s32 id; char[8] name",
            "end": b"end s64 id; u16 status; __data_loc char[] name"}
assert not elog.elog_producer_open(ctypes.byref(producer), None)
for line in sys.stdin:
    provider, kind, session, number, status, name = line.split()
    name = name.encode()
    if (provider, kind) not in events:
        event = ctypes.c_void_p()
        assert not elog.elog_event_register(producer, provider.encode(), commands[kind],
            0, ctypes.c_uint64(0), 0, ctypes.byref(event))
        events[provider, kind] = event
    if kind == "start":
        payload = struct.pack("=i8s", int(number), name)
    else:
        payload = struct.pack("=qHI", int(number), int(status),
                              len(name) + 1 << 16 | 14) + name + b"\0"
    part = Part(payload, len(payload))
    ret = elog.elog_event_write(events[provider, kind], ctypes.c_uint64(int(session, 0)),
                                ctypes.byref(part), 1)
    assert ret in (0, -9), ret
'
}

# Captures these events to $work/events.elog.
capture_lines()
{
	cat > "$work/lines"
	export -f emit_lines
	# shellcheck disable=SC2016 # for the other shell
	"$ELOG" capture -q -o "$work/events.elog" -- \
		bash -c 'emit_lines < "$1"' bash "$work/lines"
}

# Prints a member of the first object of a kind in $output.
member()
{
	local kind=$'\n''{"kind":"'$1'"' line

	[[ $'\n'$output == *"$kind"* ]] || return 1
	line=$'\n'$output
	line=${line#*"$kind"}
	line=${line%%$'\n'*}
	[[ $line =~ \"$2\":\"?([^,\"}]*) ]] || return 1
	echo "${BASH_REMATCH[1]}"
}

# Prints numbers of $output, JSON: pairs, unpaired starts and ends, restarted, forgotten,
# without key.
counts()
{
	sed -n 's/^{"kind":"total".*"pairs":\([0-9]*\),"unpaired_starts":\([0-9]*\),"unpaired_ends":\([0-9]*\),"restarted":\([0-9]*\),"forgotten":\([0-9]*\),"unkeyed":\([0-9]*\),.*/\1 \2 \3 \4 \5 \6/p' <<< "$output"
}

@test "latency: wrong usage gives the reason" {
	fails_with "START is missing" latency
	contains "$stderr" "try: elog latency --help"
	fails_with "END is missing" latency start
	fails_with "END is missing" latency start -- true
	fails_with "no command follows --" latency start end --
	fails_with "'file': FILE and COMMAND exclude each other" \
		latency start end file -- true
	for name in / a/ /b a/b/c '' "$(printf '%01024d' 0)"; do
		fails_with "invalid [PROVIDER/]EVENT '$name'" latency start "$name"
	done
	fails_with "-d is for live events, not for those of a FILE" latency -d 1 start end file
	fails_with "--interval is for live events, not for those of a FILE" latency --interval 1 start end file
	fails_with "--per-cpu-bytes is for live events, not for those of a FILE" \
		latency --per-cpu-bytes 64K start end file
	for option in --since --until; do
		fails_with "are for the events of a FILE" latency $option 0 start end
	done
	fails_with "--time must be mono, wall or utc" latency --time delta start end
	fails_with "--slowest: 10000 at most" latency --slowest 10001 start end
	fails_with "--slowest: invalid N '0'" latency --slowest 0 start end
	fails_with "--pending: 134217728 at most" latency --pending 134217729 start end
	fails_with "--pending: invalid N '0'" latency --pending 0 start end
	fails_with "--slowest does not go with --format csv" \
		latency --slowest 1 --format csv start end
	fails_with "--format: invalid format 'prometheus': must be one of text, json, csv" latency --format prometheus start end
	fails_with "--by: 'id,' has an empty name" latency --by id, start end
	fails_with "--by: 16 at most" latency --by a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q start end
	fails_with "--by: invalid name ''" latency --by '' start end
	fails_with "--group: invalid field ''" latency --group '' start end
	fails_with "$work/none: No such file" latency start end "$work/none"
	run -127 --separate-stderr "$ELOG" latency start end -- /nonexistent/command 3>&-
	contains "$stderr" "No such file"
	echo text > "$work/text"
	run_elog latency start end "$work/text"
	[ "$status" = 1 ]
	contains "$stderr" "not a file of elog capture -o"
	[ -z "$output" ]
	run bash -c '"$ELOG" latency --format csv start end "$1" > /dev/full' bash "$work/text"
	[ "$status" = 1 ]
	[[ $output == *"cannot write to stdout"* ]]
}

@test "latency: prints durations that equal those of the events" {
	# Overlapping sessions with one event to thousands of events.
	python3 -c '
import random
random.seed(1)
waiting, number = [], 0
for step in range(3000):
    if waiting and random.random() < 0.5:
        which = waiting.pop(int(len(waiting) * random.random() ** 4))
        print("server end", which, which, 200 + which % 3 * 100, "name%d" % (which % 7))
    else:
        number += 1
        waiting.append(number)
        print("server start", number, number, 0, "name%d" % (number % 7))' |
		capture_lines
	"$ELOG" show -q --format json "$work/events.elog" > "$work/events.json"
	[ "$(wc -l < "$work/events.json")" = 3000 ]
	"$ELOG" latency --group status --slowest 5 --format json server/start server/end \
		"$work/events.elog" > "$work/report.json"
	"$ELOG" latency --by id,name --group status --slowest 5 --format json start end \
		"$work/events.elog" > "$work/report_by.json"
	"$ELOG" latency --group status --format csv start end \
		"$work/events.elog" > "$work/report.csv"
	cat > "$work/check.py" <<'CHECK'
import bisect, csv, json, sys
work = sys.argv[1]
starts, pairs = {}, []
for line in open(work + "/events.json"):
    event = json.loads(line, parse_float=lambda text: int(text.replace(".", "")))
    if event["event"] == "start":
        starts[event["session"]] = event
    else:
        start = starts.pop(event["session"])
        pairs.append((event["time"] - start["time"], start, event["fields"]["status"]))

def same_numbers(numbers, latencies):
    latencies = sorted(latencies)
    count = len(latencies)
    assert int(numbers["pairs"]) == count, numbers
    assert int(numbers["min"]) == latencies[0], numbers
    assert int(numbers["max"]) == latencies[-1], numbers
    assert abs(float(numbers["mean"]) - sum(latencies) / count) < 0.1, numbers
    for name, share in (("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999)):
        exact = latencies[-(-count * share // 1000) - 1]
        assert abs(int(numbers[name]) - exact) <= exact / 200, (name, exact, numbers)

groups = {}
for latency, start, status in pairs:
    groups.setdefault(status, []).append(latency)
assert len(groups) == 3
for name in "report.json", "report_by.json":
    reports = [json.loads(line) for line in open(work + "/" + name)]
    total, told, slowest = reports[0], reports[1:4], reports[4:]
    assert [report["kind"] for report in reports] == \
        ["total"] + ["group"] * 3 + ["slowest"] * 5
    same_numbers(total, [pair[0] for pair in pairs])
    assert total["unpaired_starts"] == len(starts), total
    assert total["unpaired_ends"] == total["restarted"] == total["lost"] == 0
    # Every pair is in the right bucket.
    latencies = sorted(pair[0] for pair in pairs)
    for bucket in total["histogram"]:
        assert bucket["pairs"] == bisect.bisect_right(latencies, bucket["to"]) - \
            bisect.bisect_left(latencies, bucket["from"]), bucket
    assert sum(bucket["pairs"] for bucket in total["histogram"]) == len(pairs)
    for group in told:
        assert group["group"] == "status"
        same_numbers(group, groups[group["value"]])
    expected = sorted(pairs, key=lambda pair: -pair[0])[:5]
    assert [report["latency"] for report in slowest] == [pair[0] for pair in expected]
    for report, (latency, start, status) in zip(slowest, expected):
        assert report["session"] == start["session"]
        assert round(report["time"] * 1e9) - start["time"] in range(-1000, 1000)
        assert report["tid"] == start["tid"] and report["pid"] == start["pid"]
        if "by" in name:
            assert report["by"]["id"] == start["fields"]["id"], report
            assert report["by"]["name"] == start["fields"]["name"], report
rows = list(csv.DictReader(open(work + "/report.csv")))
assert [row["kind"] for row in rows] == ["total"] + ["group"] * 3
same_numbers(rows[0], [pair[0] for pair in pairs])
assert int(rows[0]["unpaired_starts"]) == len(starts)
for row in rows[1:]:
    same_numbers(row, groups[int(row["group"])])
print(len(pairs))
CHECK
	python3 "$work/check.py" "$work" > "$work/pairs"
	pairs=$(< "$work/pairs")
	[ "$pairs" -gt 1000 ]

	# The same as text.
	run_elog latency --group status --slowest 2 start end "$work/events.elog"
	[ "$status" = 0 ]
	[[ $stderr =~ ^elog:\ next:\ elog\ why\ 0x[0-9a-f]+\ $work/events.elog$ ]]
	contains "${lines[0]}" "from start to end, by provider,session"
	contains "${lines[1]}" "$pairs pairs in " "unpaired: " "restarted: 0"
	contains "$output" "P99.9" "LATENCY"
	[ "$(awk '$2 == ".." { sum += $4 } END { print sum }' <<< "$output")" = "$pairs" ]
	[ "$(awk '$1 ~ /^[2345]00$/ { sum += $2 } END { print sum }' <<< "$output")" = "$pairs" ]
	[[ ${lines[-2]} =~ ^\ *[0-9.]+[num]?s\ [0-9]+\.[0-9]{9}\ +0x[0-9a-f]+\ +[0-9]+\ +[0-9]+\ \ server/start\ id=[0-9]+\ name=\"name[0-6]\"$ ]]
	LC_ALL=C.UTF-8 run_elog latency start end "$work/events.elog"
	contains "$output" $'\xe2\x96\x88'
	LC_ALL=C run_elog latency start end "$work/events.elog"
	[[ $output != *[^[:ascii:]]* ]]
	run_elog latency -q start end "$work/events.elog"
	[[ $output != *"%"* ]]
	contains "$output" "P99.9"
	run_elog latency -q --slowest 1 --time wall start end "$work/events.elog"
	[ -z "$stderr" ]
	[[ ${lines[-1]} =~ s\ $(date +%Y)-[0-9]{2}-[0-9]{2}T ]]
	# Fewer rows and columns.
	run_elog latency -n 10 --format json start end "$work/events.elog"
	[ "$(member total pairs)" = 10 ]
	run_elog latency -s 5 --format json start end - < "$work/events.elog"
	[ "$status" = 0 ]
	[ "$(member total pairs)" -le 1 ]
	# Expressions apply to both events.
	run_elog latency --format json -f 'event == "start" || status == 300' start end \
		"$work/events.elog"
	[ "$status" = 0 ]
	[ "$(member total pairs)" = "$(grep -c '"status":300' "$work/events.json")" ]
}

@test "latency: events without a partner are not paired, but reported" {
	capture_lines <<'LINES'
a end 1 1 0 before
a start 2 2 0 x
a start 2 2 0 again
a end 2 2 0 x
a end 2 2 0 twice
a start 2 2 0 reused
a end 2 2 0 reused
a start 3 3 0 open
a start 0 4 0 none
a end 0 4 0 none
b start 5 5 0 other
a end 5 5 0 other
b start 6 -6 0 far
b end 6 -6 0 far
c start 7 7 0 x
c start 0 7 0 x
c end 7 7 0 x
LINES
	run_elog latency --format json start end "$work/events.elog"
	[ "$status" = 0 ]
	[ "$(counts)" = "4 2 3 1 0 3" ]
	[ "$stderr" = "elog: 3 events have no session; use --by to pair by something else" ]
	run_elog latency --format json c/start c/end "$work/events.elog"
	[ "$(counts)" = "1 0 0 0 0 1" ]
	[ "$stderr" = "elog: 1 event has no session; use --by to pair by something else" ]
	run_elog latency start end "$work/events.elog"
	contains "${lines[1]}" "4 pairs" "unpaired: 2 starts, 3 ends; restarted: 1; without key: 3"
	run_elog latency --format json a/start a/end "$work/events.elog"
	[ "$(counts)" = "2 1 3 1 0 2" ]

	# The session connects events of two providers.
	run_elog latency --format json b/start a/end "$work/events.elog"
	[ "$(counts)" = "1 1 4 0 0 1" ]
	contains "$output" '"by":"session"'

	# Keys compare by value, whatever the types of their fields.
	run_elog latency --format json --by id --group name start end "$work/events.elog"
	[ "$(counts)" = "5 2 3 2 0 0" ]
	contains "$output" '"by":"provider,id"' '"value":"none","pairs":1'
	run_elog latency --format json --by id,name,session,pid,tid start end "$work/events.elog"
	[ "$(counts)" = "4 3 3 0 0 3" ]
	run_elog latency --slowest 1 --by name,id b/start b/end "$work/events.elog"
	contains "${lines[-1]}" 'name="far" id=-6  b/start id=-6 name="far"'

	# From each event to the next one of the same name.
	run_elog latency --format json --by tid a/start a/start "$work/events.elog"
	[ "$(counts)" = "4 1 0 0 0 0" ]

	# Unknown fields, and unknown events.
	run_elog latency --by idd start end "$work/events.elog"
	[ "$status" = 1 ]
	contains "$stderr" "--by: no START has a field 'idd'" "--by: no END has a field 'idd'"
	run_elog latency --by status start end "$work/events.elog"
	[ "$status" = 1 ]
	[ "$stderr" = "elog latency: --by: no START has a field 'status'" ]
	run_elog latency --group idd start end "$work/events.elog"
	[ "$status" = 1 ]
	contains "$stderr" "--group: no END has a field 'idd'"
	run_elog latency strat end "$work/events.elog"
	[ "$status" = 1 ]
	contains "$stderr" "no event matched START 'strat'" "no event 'strat'; did you mean"
	[[ $output != *LATENCY* ]]
	run_elog latency -f 'idd == 3' start end "$work/events.elog"
	[ "$status" = 1 ]
	contains "$stderr" "-f 'idd == 3': column 1: no field 'idd'; did you mean 'id'?"
}

@test "latency: starts beyond the limit are dropped, oldest first, and reported" {
	capture_lines <<'LINES'
a start 1 1 0 x
a start 2 2 0 x
a start 3 3 0 x
a start 2 2 0 restarted
a start 4 4 0 x
a end 1 1 0 dropped
a end 2 2 0 x
a end 3 3 0 x
a end 4 4 0 x
LINES
	run_elog latency --pending 3 --format json start end "$work/events.elog"
	[ "$status" = 0 ]
	[ "$(counts)" = "3 0 1 1 0 0" ]
	[ "$(member total dropped)" = 1 ]
	[ "$stderr" = "elog: dropped 1 START, as more than 3 were pending: pairs may be missing; see --pending" ]
	run_elog latency --pending 2 --slowest 4 start end "$work/events.elog"
	contains "${lines[1]}" "2 pairs" "unpaired: 0 starts, 2 ends; restarted: 1; dropped: 2"
	contains "$stderr" "dropped 2 STARTs, as more than 2 were pending"
	run_elog latency -q --pending 1 --format csv start end "$work/events.elog"
	contains "${lines[0]}" ",unkeyed,dropped,lost,min,"
	[[ ${lines[1]} == total,,*,1,0,3,0,0,0,4,0,* ]]
	[ -z "$stderr" ]
	run_elog latency --pending 4 --format json start end "$work/events.elog"
	[ "$(counts)" = "4 0 0 1 0 0" ]
	[ "$(member total dropped)" = 0 ]
	[ -z "$stderr" ]
}

@test "latency: values of --group beyond the limit are one row" {
	awk 'BEGIN {
		for (i = 1; i <= 300; i++)
			printf "a start %d %d 0 x\na end %d %d %d x\n", i, i, i, i, i
	}' | capture_lines
	run_elog latency --format json --group status start end "$work/events.elog"
	[ "$(grep -c '"kind":"group"' <<< "$output")" = 256 ]
	contains "$output" '"value":null,"others":true,"pairs":45'
	run_elog latency --group status start end "$work/events.elog"
	[[ $output == *"(others)"*" 45 "* ]]
	run_elog latency --format json --group provider start end "$work/events.elog"
	contains "$output" '"group":"provider","value":"a","pairs":300'
	for name in session pid tid cpu event comm; do
		run_elog latency --group $name start end "$work/events.elog"
		[ "$status" = 0 ]
		contains "$output" $'\n'"$name "
	done
}

@test "latency: live" {
	cat > "$work/lines" <<'LINES'
a start 1 1 0 x
a end 1 1 200 x
a start 2 2 0 x
LINES
	export -f emit_lines
	export lines_file=$work/lines
	# shellcheck disable=SC2016 # for the other shell
	command='emit_lines < "$lines_file"'
	run_elog latency --format json --slowest 1 start end -- bash -c "$command"
	[ "$status" = 0 ]
	[ "$(counts)" = "1 1 0 0 0 0" ]
	[ "$(member slowest session)" = 0x1 ]
	# No other event was enabled.
	run_elog latency start end -- bash -c '"$ELOG" emit -v a/other; exit 3'
	[ "$status" = 3 ]
	contains "$stderr" "a/other has no listeners" "bash ended with status 3" \
		"no event matched START 'start'"
	# Options may be anywhere before "--"; words after it belong to the command.
	run_elog latency start --by id end --format json -- bash -c "$command" -- --by
	[ "$(counts)" = "1 1 0 0 0 0" ]

	# It ends at Ctrl-C, after a number of pairs, or after a time.
	start_elog latency --interval 0.1 a/start a/end
	emit_lines < "$work/lines"
	wait_for grep -q '^[0-9.]* *1 .*[mun]s ' "$work/out"
	stop_elog INT
	[ "$status" = 0 ]
	contains "$(< "$work/out")" "TIME " "LOST" "1 pair in" "1 start, 0 ends" LATENCY
	[ "$(grep -c '^TIME' "$work/out")" = 1 ]
	start_elog latency --interval 0.1 --format json a/start a/end
	emit_lines < "$work/lines"
	wait_for grep -q '"kind":"interval",.*"pairs":1,' "$work/out"
	emit_lines < "$work/lines"
	wait_for eval '[ $(grep -c "\"pairs\":1," "$work/out") = 2 ]'
	stop_elog TERM
	[ "$status" = 0 ]
	output=$(< "$work/out")
	[ "$(counts)" = "2 1 0 1 0 0" ]
	start_elog latency -n 1 start end
	emit_lines < "$work/lines"
	wait_elog
	[ "$status" = 0 ]
	contains "$(< "$work/out")" "1 pair in"
	run_elog latency -d 0.1 --format csv --interval 10 start end
	[ "$status" = 0 ]
	contains "${lines[0]}" "kind,group,time,seconds,pairs"
	[[ ${lines[1]} =~ ^total,,[0-9.]+,[0-9.]+,0,0,0,0,0,0,0,0,,,,,,,$ ]]
}

@test "latency: reports have the time, without events and in a time namespace" {
	local elsewhere=(unshare --time --fork --monotonic 86400 --boottime 86400)

	"${elsewhere[@]}" true || elsewhere=()
	before=$(date +%s)
	for format in text json; do
		"$ELOG" latency -d 0.1 --interval 0.02 --time wall --format $format start end
		"${elsewhere[@]}" "$ELOG" latency -d 0.1 --interval 0.02 --time wall \
			--format $format start end -- "$ELOG" emit a/start
	done > "$work/reports"
	after=$(date +%s)
	cat "$work/reports"
	grep -Eo '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}' "$work/reports" | sort -u > "$work/times"
	[ -s "$work/times" ]
	while read -r time; do
		[ "$(date -d "$time" +%s)" -ge "$before" ]
		[ "$(date -d "$time" +%s)" -le "$after" ]
	done < "$work/times"
}

@test "latency: losses make no wrong pairs" {
	# A loss drops pending starts: their end may be among the lost events.
	start_elog latency --per-cpu-bytes 8K --format json -n 2 start end
	echo 'a start 1 1 0 waits' | emit_lines
	{ echo 'a start 9 9 0 x'; echo 'a end 9 9 0 x'; } | emit_lines
	printf 'a start %s 1 0 lost\n' {101..2100} | while_stopped "$started" \
		taskset -c 0 bash -c "$(declare -f emit_lines); emit_lines"
	# The next event on that CPU reports the loss.
	wait_for eval 'echo "a end 1 1 0 wrong" |
		taskset -c 0 bash -c "$(declare -f emit_lines); emit_lines"
		{ echo "a start 8 8 0 x"; echo "a end 8 8 0 x"; } | emit_lines
		! kill -0 "$started" 2> "$work/ended"'
	wait_elog
	[ "$status" = 2 ]
	output=$(< "$work/out")
	[ "$(member total pairs)" = 2 ]
	[ "$(member total forgotten)" -ge 1 ]
	[ "$(member total unpaired_ends)" -ge 1 ]
	lost=$(member total lost)
	[ "$lost" -gt 0 ]
	contains "$(< "$work/err")" "elog: lost $lost events: no room $lost; pairs may be missing" \
		"lost $lost of a/start"

	# The same from a file.
	run_elog capture -q --per-cpu-bytes 8K -o "$work/lossy.elog" -- bash -c \
		'while_stopped $PPID taskset -c 0 "$ELOG" emit -n 2000 -s 1 a/start
		"$ELOG" emit -s 2 a/end'
	[ "$status" = 2 ]
	run_elog latency start end "$work/lossy.elog"
	[ "$status" = 2 ]
	contains "$stderr" "pairs may be missing"
	contains "$output" "forgotten: "
}

@test "latency: several files, and several segments of one" {
	{ echo 'a start 1 1 0 x'; echo 'a start 2 2 0 x'; } | capture_lines
	mv "$work/events.elog" "$work/first.elog"
	{ echo 'a end 1 1 0 x'; echo 'a start 3 3 0 x'; echo 'a end 3 3 0 x'; } | capture_lines
	# No capture has run between them.
	run_elog latency --format json start end "$work/events.elog" "$work/first.elog"
	[ "$status" = 0 ]
	[ "$(counts)" = "1 0 1 0 2 0" ]
	cat "$work/first.elog" "$work/events.elog" > "$work/both.elog"
	run_elog latency --format json start end "$work/both.elog"
	[ "$(counts)" = "1 0 1 0 2 0" ]

	# A rotated capture has run all the time.
	start_elog capture -o "$work/rotated.elog" --rotate 64K
	echo 'a start 1 1 0 x' | emit_lines
	kill -HUP "$started"
	wait_for [ -e "$work/rotated.elog.1" ]
	echo 'a end 1 1 0 x' | emit_lines
	stop_elog INT
	[ "$status" = 0 ]
	run_elog latency --format json start end "$work/rotated.elog" "$work/rotated.elog.1"
	[ "$(counts)" = "1 0 0 0 0 0" ]

	# So has a capture with a file for each session: it started before the first event.
	start_elog capture --split "$work/split"
	echo 'a start 0x1 1 0 x' | emit_lines
	wait_for [ -e "$work/split/a-0x1.elog" ]
	{ echo 'a start 0x2 2 0 x'; echo 'a end 0x2 2 0 x'; } | emit_lines
	wait_for [ -e "$work/split/a-0x2.elog" ]
	echo 'a end 0x1 1 0 x' | emit_lines
	stop_elog INT
	[ "$status" = 0 ]
	run_elog latency --format json start end "$work/split"/*
	[ "$(counts)" = "2 0 0 0 0 0" ]
	run_elog show -q --since +0 "$work/split/a-0x2.elog"
	[ "${#lines[@]}" = 2 ]

	# A truncated file is reported, and makes no pairs across the gap.
	size=$(stat -c %s "$work/both.elog")
	head -c $((size - 40)) "$work/both.elog" > "$work/cut.elog"
	run_elog latency start end "$work/cut.elog"
	[ "$status" = 1 ]
	contains "$stderr" "cut.elog"
}
