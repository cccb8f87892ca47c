#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog stat and elog top, with the kernel module. Needs root, and python3.

load elog.bash

setup()
{
	begin
	cat > "$work/job" <<'JOB'
"$ELOG" emit -n 300 -s 7 -l warning a/one 'u32 x' x=1
"$ELOG" emit -n 200 b/two
"$ELOG" emit -n 100 -s 8 b/three 'char[40] t' t=x
JOB
}

teardown()
{
	end_background
	"$ELOG" stop -q 2> /dev/null || true
}

# Fails unless stdin is valid Prometheus text, with each series once.
is_exposition()
{
	python3 -c '
import re, sys
label = r"[a-z_]+=\"(?:[^\"\\\n]|\\\\|\\\"|\\n)*\""
series = set()
types = {}
text = sys.stdin.buffer.read().decode("utf-8")
assert text.endswith("\n"), "no line end"
for line in text.split("\n")[:-1]:
    found = re.fullmatch(r"# HELP (eventlog_[a-z_]+) [^\\]+", line)
    if found:
        name = found[1]
        assert name not in types, line
        continue
    found = re.fullmatch(r"# TYPE (eventlog_[a-z_]+) (counter|gauge)", line)
    if found:
        assert found[1] == name, line
        assert (found[2] == "counter") == name.endswith("_total"), line
        types[name] = found[2]
        continue
    found = re.fullmatch(r"((eventlog_[a-z_]+)(\{%s(,%s)*\})?) [0-9]+" % (label, label), line)
    assert found, line
    assert found[2] == name and name in types, line
    assert found[1] not in series, line
    series.add(found[1])
'
}

@test "stat, top: wrong usage gives the reason" {
	fails_with "--by: invalid name 'node': must be one of event, provider, session, pid, cpu" stat --by node
	fails_with "--sort: invalid name 'size': must be one of events, bytes, rate, lost, name" stat --sort size
	fails_with "--format: invalid format 'xml': must be one of text, json, csv, prometheus" stat --format xml
	fails_with "--interval: invalid span '0'" stat --interval 0
	fails_with "--interval must be at least 10ms" stat --interval 0.001
	fails_with "needs a file: add -o FILE" stat --format prometheus --interval 1
	fails_with "needs a file: add -o FILE" stat --format prometheus --interval 1 -o -
	fails_with "--time must be mono, wall or utc" stat --time delta
	fails_with "no command follows --" stat --
	fails_with "FILE and COMMAND exclude each other" stat file -- true
	fails_with "FILE and COMMAND exclude each other" stat -q file -d 1 -- true
	fails_with "no option '-Z'" stat -Z
	fails_with "-f 'x ==': column" stat -f 'x ==' -d 0.01
	fails_with "$work/none: No such file" stat "$work/none"
	for option in "-d 1" "--interval 1" "--sample 2" "--per-cpu-bytes 8K"; do
		# shellcheck disable=SC2086 # several words
		fails_with "${option% *} does not go with a FILE" stat $option file
	done
	fails_with "$work/none/file: No such file" stat -d 0.01 -o "$work/none/file"
	fails_with "$work/none/file: No such file" stat -d 60 --interval 1 \
		--format prometheus -o "$work/none/file"
	fails_with "$work: Is a directory" stat -d 0.01 --format prometheus -o "$work"
	echo noise > "$work/noise"
	run_elog stat "$work/noise"
	[ "$status" = 1 ]
	contains "$stderr" "not a file of elog capture -o"

	fails_with "--by: invalid name 'node': must be one of" top --by node
	fails_with "--sort: invalid name 'size': must be one of events, bytes, rate, lost, name" top --sort size
	fails_with "--interval must be at least 100ms" top --interval 0.01
	fails_with "elog top runs no COMMAND" top -- true
	fails_with "unexpected argument 'file'" top file
	fails_with "no option '--format'" top --format json
	for verb in stat top; do
		run_elog $verb --help
		[ "$status" = 0 ]
		contains "$output" "usage: elog $verb" "Exit status" --by --sort --interval
	done
}

@test "stat, top: without the module, an error tells how to load it" {
	rmmod eventlog
	fails_with "the kernel module eventlog is not loaded" stat
	run terminal 24x80 exit:1 --
	contains "$output" "the kernel module eventlog is not loaded"
	insmod "$EVENTLOG_KO"
	run_apart setpriv --reuid=65534 --clear-groups "$ELOG" stat
	[ "$status" = 1 ]
	contains "$stderr" "permission denied"
}

@test "stat: counts by event, provider, session and process" {
	run_elog stat -- sh "$work/job"
	[ "$status" = 0 ]
	[ "$(rows <<< "$output")" = "a/one 300 2400 0
b/two 200 0 0
b/three 100 4000 0
total 600 6400 0" ]
	[ "$(xargs <<< "${lines[0]}")" = "LEVEL EVENTS EVENTS/S BYTES BYTES/S LOST INVALID LAST EVENT" ]
	[[ ${lines[1]} == "warning "* && ${lines[4]} == "warning "* ]]
	contains "$stderr" "600 events in " " s, " "6400 bytes, lost 0"
	run_elog stat -q --by provider --sort name -- sh "$work/job"
	[ "$(rows <<< "$output")" = "a 300 2400 0
b 300 4000 0
total 600 6400 0" ]
	[ -z "$stderr" ]
	run_elog stat -q --by session --sort bytes -- sh "$work/job"
	[ "$(rows <<< "$output")" = "b/0x8 100 4000 -
a/0x7 300 2400 -
b/- 200 0 -
total 600 6400 0" ]
	run_elog stat -q --by pid -- sh -c 'for i in 1 2; do "$ELOG" emit a/b; done; exec "$ELOG" emit -n 5 a/b'
	[ "$(rows <<< "$output" | awk '{ print $2 }' | xargs)" = "5 1 1 7" ]
	# Definitions with the same name share a row.
	run_elog stat -q -- sh -c '"$ELOG" emit -n 3 a/b "u32 x" x=1; "$ELOG" emit -n 4 a/b "u64 y" y=1'
	[ "$(rows <<< "$output" | head -1)" = "a/b 7 56 0" ]
	# Only selected events are counted.
	run_elog stat -q -e b -f 'event == "two"' -- sh "$work/job"
	[ "$(rows <<< "$output")" = "b/two 200 0 0
total 200 0 0" ]
	run_elog stat -q -f 'nosuch == 1' -- sh "$work/job"
	[ "$(rows <<< "$output")" = "total 0 0 0" ]
}

@test "stat: counts of a file equal those of the live run" {
	run_elog capture -q -o "$work/file" -- sh "$work/job"
	"$ELOG" capture -q -o "$work/other" -- sh "$work/job"
	run_elog stat "$work/file"
	[ "$status" = 0 ]
	[ "$(rows <<< "$output")" = "a/one 300 2400 -
b/two 200 0 -
b/three 100 4000 -
total 600 6400 0" ]
	run_elog stat -q "$work/file" --by provider -l warning "$work/other"
	[ "$(rows <<< "$output")" = "a 600 4800 -
total 600 4800 0" ]
	"$ELOG" stat -q -s 8 - < "$work/file" > "$work/out"
	[ "$(rows < "$work/out" | head -1)" = "b/three 100 4000 -" ]
	# --since and --until work as with elog show.
	start=$("$ELOG" show -q --fields time "$work/file" | sed -n '301s/time=//p')
	run_elog stat -q --since "$start" --sort name "$work/file"
	[ "$(rows <<< "$output")" = "b/three 100 4000 -
b/two 200 0 -
total 300 4000 0" ]
	run_elog stat -q --until "$start" "$work/file"
	[ "$(rows <<< "$output" | tail -1)" = "total 300 2400 0" ]
	run_elog stat -q --time wall "$work/file"
	[[ ${lines[0]} =~ \ [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{9}\ [^\ ]+$ ]]
	# Monotonic times of several hosts cannot be compared.
	run_elog stat -q --by host "$work/file" "$work/file"
	[[ ${lines[0]} =~ \ [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{9}\ [^\ ]+$ ]]
	for options in "--by host --time mono" "--by event"; do
		# shellcheck disable=SC2086 # several words
		run_elog stat -q $options "$work/file"
		[[ ${lines[0]} =~ \ [0-9]+\.[0-9]{9}\ [^\ ]+$ ]]
	done
	run_elog stat -q -n 350 "$work/file"
	[ "$(rows <<< "$output" | tail -1)" = "total 350 2400 0" ]
	# Damage is reported, and the rest is counted.
	head -c -30 "$work/file" > "$work/cut"
	run_elog stat "$work/cut"
	[ "$status" = 1 ]
	contains "$stderr" "$work/cut: "
	contains "$output" "total"
	run_elog stat -q --format prometheus "$work/file"
	[ "$status" = 0 ]
	is_exposition <<< "$output"
	contains "$output" 'eventlog_events_total{provider="a",event="one",level="warning"} 300'
	[[ $output != *eventlog_lost_by_event* && $output != *eventlog_definitions* ]]
}

@test "stat: JSON, CSV and Prometheus text are valid and complete" {
	for by in event provider session pid cpu; do
		run_elog stat -q --by $by --format json -- sh "$work/job"
		[ "$status" = 0 ]
		python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
by, summary = sys.argv[1], rows.pop()
assert summary["summary"] is True and summary["rows"] == len(rows)
assert summary["events"] == sum(row["events"] for row in rows) == 600
assert summary["bytes"] == sum(row["bytes"] for row in rows) == 6400
assert summary["lost"] == 0 and summary["causes"] == {} and summary["seconds"] > 0
assert len({str(row.get("provider")) + str(row[by]) for row in rows}) == len(rows)
assert all(row["last_wall"] > row["last"] > 0 for row in rows)
if by == "event":
    assert rows[0]["provider"] == "a" and rows[0]["event"] == "one"
    assert rows[0]["worst_level"] == "warning" and rows[0]["lost"] == 0
' $by <<< "$output"
		run_elog stat --by $by --format csv -- sh "$work/job"
		python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert sum(int(row["events"]) for row in rows) == 600
assert sys.argv[1] in rows[0]
' $by <<< "$output"
		run_elog stat -q --by $by --format prometheus -- sh "$work/job"
		is_exposition <<< "$output"
	done
	# Unusual names of processes.
	name=$'q"\\\n\e\xff'
	cp "$(command -v bash)" "$work/$name"
	start_elog stat -q --by pid --format prometheus
	"$work/$name" -c '"$ELOG" emit a/b; exec -a x "$ELOG" emit a/b'
	python3 - "$ELOG" <<'PYTHON'
import ctypes, os, sys
ctypes.CDLL(None).prctl(15, b'q"\\\n\x1b\xff', 0, 0, 0)
os.system(f"{sys.argv[1]} emit a/b")
PYTHON
	stop_elog INT
	is_exposition < "$work/out"
}

@test "stat: -o, COMMAND, and how a run ends" {
	run_elog stat -q -o "$work/table" -- sh -c 'echo out; "$ELOG" emit a/b; exit 7'
	[ "$status" = 7 ]
	[ "$output" = out ]
	[ "$(rows < "$work/table")" = "a/b 1 0 0
total 1 0 0" ]
	# With -o - the standard output has only the table.
	run_elog stat -q -o - -- sh -c 'echo out; "$ELOG" emit a/b'
	[ "$(rows <<< "$output" | head -1)" = "a/b 1 0 0" ]
	[ "$stderr" = out ]
	run -127 --separate-stderr "$ELOG" stat -- /nonexistent/command 3>&-
	contains "$stderr" "No such file"
	run_elog stat -q -n 5 -- sh -c '"$ELOG" emit -n 9 a/b; exec sleep 1000'
	[ "$status" = 0 ]
	[ "$(rows <<< "$output" | tail -1)" = "total 5 0 0" ]
	run_elog stat -d 0.1
	[ "$status" = 0 ]
	contains "$stderr" "0 events in 0."
	for signal in INT TERM HUP; do
		start_elog stat
		"$ELOG" emit -n 4 a/b
		stop_elog $signal
		[ "$status" = 0 ]
		[ "$(rows < "$work/out")" = "a/b 4 0 0
total 4 0 0" ]
	done
	# A reader that has gone, and a file that cannot be written.
	run bash -c '"$ELOG" stat --interval 0.05 -d 50 | head -1'
	[ "$status" = 0 ]
	run bash -c '"$ELOG" stat -d 0.1 > /dev/full'
	[ "$status" = 1 ]
	contains "$output" "No space left"
	run_elog stat -d 0.1 -o /dev/full
	[ "$status" = 1 ]
	contains "$stderr" "/dev/full: No space left"
}

@test "stat: --interval prints tables, the last one with the totals" {
	start_elog stat --interval 0.1 --format json
	"$ELOG" emit -n 30 a/b
	wait_for grep -q '"events":30' "$work/out"
	"$ELOG" emit -n 12 a/b
	wait_for grep -q '"events":42' "$work/out"
	stop_elog INT
	python3 -c '
import json, sys
tables = [row for row in map(json.loads, sys.stdin) if "summary" in row]
assert all("interval" in table for table in tables[:-1])
assert "interval" not in tables[-1] and tables[-1]["events"] == 42
events = [table["events"] for table in tables]
assert events == sorted(events)
seconds = 0
for table, before in zip(tables[1:-1], events):
    rate = (table["events"] - before) / table["interval"]
    assert abs(table["events_per_second"] - rate) < 0.01 * rate + 0.01
    assert table["seconds"] > seconds
    seconds = table["seconds"]
' < "$work/out"
	start_elog stat --interval 0.1 --format csv
	wait_for has_begun "$work/err" 'elog: counting'
	"$ELOG" emit -n 3 a/b
	wait_for grep -q 'a/b,info,3,' "$work/out"
	stop_elog INT
	[ "$(grep -c ^seconds,event, "$work/out")" = 1 ]
}

@test "stat: events with wrong values are counted as invalid, not as lost" {
	# Right and wrong calls, by way of emission, format and --by.
	job="import eventlog
good = eventlog.Event('py/good u8 number; string text')
bad = eventlog.Event('py/bad u8 number; string text')
for number in range(3):
    good(number, 'x')
    bad(256, 'x'), bad('x'), bad(1, 'x' * 70000)
good('wrong', 'x')"
	export LD_LIBRARY_PATH=$EVENTLOG_TOOLS PYTHONPATH=$TREE/tools/python
	for ELOG_RINGS in 0 1; do
		run_elog stat -e py -- python3 -c "$job"
		[ "$status" = 0 ]
		[ "$(awk 'NR > 1 { print $NF, $2, $6, $7 }' <<< "$output")" = "py/good 3 0 1
py/bad 0 0 9
total 3 0 10" ]
		contains "$stderr" "lost 0; 10 invalid records"
	done
	run_elog stat -q -e py --format json -- python3 -c "$job"
	contains "$output" '"event":"good","events":3,' '"lost":0,"invalid":9' '"lost":0,"invalid":10'
	run_elog stat -q -e py --by provider --format csv -- python3 -c "$job"
	[[ $output =~ ^py,info,3,[^,]+,[^,]+,[^,]+,0,10, ]]
	run_elog stat -q -e py --format prometheus -- python3 -c "$job"
	is_exposition <<< "$output"
	contains "$output" 'eventlog_invalid_by_event_total{provider="py",event="bad"} 9' \
		$'\neventlog_invalid_total 10'
	run_elog stat -q -e py --by cpu --format json -- taskset -c 0 python3 -c "$job"
	[[ ${lines[0]} == '{"cpu":0,"events":3,'*'"lost":0,"invalid":10,'* ]]
	run_elog stat -q -e py --by pid --format json -- python3 -c "$job"
	contains "${lines[0]}" '"lost":null,"invalid":null'
	# A capture keeps the counts, and is no less successful for them.
	run_elog capture -e py -o "$work/file" -- python3 -c "$job"
	[ "$status" = 0 ]
	contains "$stderr" "lost 0; 10 invalid records" "invalid: 9 of py/bad" "invalid: 1 of py/good"
	run_elog stat "$work/file"
	[ "$status" = 0 ]
	contains "$stderr" "lost 0; 10 invalid records"
	# Losses and invalid records of the same event.
	start_elog stat -e py --per-cpu-bytes 8K
	while_stopped "$started" taskset -c 0 python3 -c "$job
for i in range(500):
    good(1, 'x' * 200)"
	stop_elog INT
	[ "$status" = 2 ]
	[ "$(awk '$NF == "py/good" { print $2 + $6, $7 }' "$work/out")" = "503 1" ]
}

@test "stat: the Prometheus file is replaced atomically, and has captures" {
	"$ELOG" capture -q --background -o "$work/capture"
	mkdir "$work/dir"
	echo keep > "$work/dir/real"
	ln -s dir/real "$work/link"
	start_elog stat --format prometheus --interval 0.05 -o "$work/link"
	# A symbolic link is replaced: the owner of the directory cannot redirect it.
	wait_for [ ! -L "$work/link" ]
	[ "$(< "$work/dir/real")" = keep ]
	[ "$(stat -c %a "$work/link")" = "$(printf %o $((0666 & ~$(umask))))" ]
	for i in 1 2 3 4 5 6 7 8; do
		"$ELOG" emit -n 10 -l error a/b
		is_exposition < "$work/link"
	done
	wait_for grep -qx 'eventlog_events_total{provider="a",event="b",level="error"} 80' "$work/link"
	contains "$(< "$work/link")" \
		"eventlog_capture_running{target=\"$work/capture\"} 1" \
		"eventlog_info{release=" eventlog_definitions_max \
		'eventlog_lost_by_event_total{provider="a",event="b"} 0' \
		'eventlog_lost_total{cause="no room"} 0'
	wait_for grep -q "eventlog_capture_bytes{target=\"$work/capture\"} [0-9]\{3,\}" "$work/link"
	# Both subscribe to an existing event.
	"$ELOG" emit -n 1 --wait a/b
	kill -KILL "$(head -1 /run/eventlog/*.capture)"
	wait_for grep -qx "eventlog_capture_running{target=\"$work/capture\"} 0" "$work/link"
	run_elog stop -q
	[ "$status" = 1 ]
	wait_for eval '! grep -q "eventlog_capture_running{" "$work/link"'
	stop_elog TERM
	[ "$status" = 0 ]
	[ "$(ls "$work/dir")" = real ]
	is_exposition < "$work/link"
	# A device is not replaced by a file.
	mknod "$work/null" c 1 3
	run_elog stat -d 0.05 --format prometheus -o "$work/null"
	[ "$status" = 0 ]
	[ -c "$work/null" ]
}

@test "stat: a counter does not decrease when the kernel drops an event" {
	rmmod eventlog
	insmod "$EVENTLOG_KO" events_max=64
	lost_of()
	{
		sed -n "s/^eventlog_lost_by_event_total{provider=\"loss\",event=\"$1\"} //p" \
			"$work/file.prom"
	}
	has_lost()
	{
		[ "$(lost_of "$1")" -gt 0 ]
	}
	start_elog stat -e loss --per-cpu-bytes 8K --format prometheus --interval 0.05 \
		-o "$work/file.prom"
	while_stopped "$started" "$ELOG" emit -n 500 loss/gone 'char[200] s' s=x
	wait_for has_lost gone
	gone=$(lost_of gone)
	forget_events
	[[ $("$ELOG" list) != *loss/gone* ]]
	# Losses by event are read when the total has changed.
	while_stopped "$started" "$ELOG" emit -n 500 loss/new 'char[200] s' s=x
	wait_for has_lost new
	[ "$(lost_of gone)" = "$gone" ]
	# An event with the same name continues the counter.
	while_stopped "$started" "$ELOG" emit -n 500 loss/gone 'char[200] s' s=x
	stop_elog INT
	[ "$status" = 2 ]
	[ "$(lost_of gone)" -gt "$gone" ]
	[ $(($(lost_of gone) + $(lost_of new))) = \
		"$(sed -n 's/^eventlog_lost_total{cause="no room"} //p' "$work/file.prom")" ]
	rmmod eventlog
	insmod "$EVENTLOG_KO"
}

@test "stat: a name with a comma does not hide another capture" {
	"$ELOG" create comma/event
	for i in 1 2; do
		cp "$ELOG" "$work/x,$i"
	done
	"$work/x,1" capture -v -e comma > /dev/null 2> "$work/one" 3>&- &
	background+=("$!")
	wait_for has_begun "$work/one" 'elog: capturing'
	start_elog stat --format prometheus --interval 0.05 -o "$work/file.prom"
	"$work/x,2" capture -v -e comma > /dev/null 2> "$work/two" 3>&- &
	background+=("$!")
	wait_for has_begun "$work/two" 'elog: capturing'
	wait_for grep -qx 'eventlog_subscribers 3' "$work/file.prom"
	stop_elog INT
	"$ELOG" delete comma/event
}

# More sessions than rows with one event each, and one session in all blocks.
write_many()
{
	python3 - "$EVENTLOG_TOOLS/libelog.so" "$1" "$2" <<'PYTHON'
import ctypes, os, struct, sys
library = ctypes.CDLL(sys.argv[1])
schema = b'eventlog 1\nprovider many "x"\nevent 1 tick info - "x"\n'
fd = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT, 0o600)
options = struct.pack("=IIQQQIIQQQQQIIQ", 96, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
writer = ctypes.c_void_p()
assert not library.elog_writer_open(ctypes.byref(writer), fd, options)
assert not library.elog_writer_schema(writer, 5, 1, schema)
session, time = 1, 1000
while session <= int(sys.argv[3]):
    for i in range(1000):
        time += 1
        if i:
            session += 1
        item = struct.pack("=IIIIQQII88x", 0, 0, 0, 5, time, session if i else 1, 9, 9)
        assert not library.elog_writer_add(writer, item)
    assert not library.elog_writer_sync(
        writer, ctypes.c_uint64(time + 1), None, ctypes.c_size_t(0))
assert not library.elog_writer_end(writer, ctypes.c_uint64(0))
PYTHON
}

# The columns at which the words of a line end.
ends()
{
	sed 's/  *[^ ]*$//' | python3 -c '
import re, sys
for line in sys.stdin:
    print(*[word.end() for word in re.finditer(r"[^ \n]+", line)][1:])'
}

@test "stat: a long name is printed whole, and moves no column" {
	long=a/$(printf 'x%.0s' {1..200})
	run_elog stat -q -- sh -c '"$ELOG" emit -n 2 a/b; "$ELOG" emit '"$long"
	[ "$status" = 0 ]
	[ "$(rows <<< "$output")" = "a/b 2 0 0
$long 1 0 0
total 3 0 0" ]
	[ "$(ends <<< "$output" | sort -u | wc -l)" = 1 ]
	[ "$(awk '{ print index($0, $NF) }' <<< "$output" | sort -u | wc -l)" = 1 ]
	run_elog stat -q --format csv --time wall -- sh -c '"$ELOG" emit '"$long"
	[[ ${lines[0]} == "$long,info,1,"* ]]
	run_elog stat -q --time wall -- sh -c '"$ELOG" emit a/b; "$ELOG" emit '"$long"
	[ "$(awk '{ print index($0, $NF) }' <<< "$output" | sort -u | wc -l)" = 1 ]
}

@test "stat: limits the number of rows, and counts the rest in one row" {
	write_many "$work/file" 150000
	events=$("$ELOG" stat -q --format json "$work/file" | sed -n 's/.*"summary".*"events":\([0-9]*\).*/\1/p')
	[ "$events" -ge 150000 ]
	"$ELOG" stat --by session --format json "$work/file" > "$work/out" 2> "$work/err"
	contains "$(< "$work/err")" "rows seen longest ago are (others)"
	python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
summary, others = rows.pop(), rows.pop()
assert others["others"] and summary["rows"] == len(rows) <= 65536
assert len(rows) > 50000
assert others["events"] + sum(row["events"] for row in rows) == summary["events"] == int(sys.argv[1])
assert len({row["session"] for row in rows}) == len(rows)
# The session in all blocks has all its events.
assert rows[0]["session"] == "0x1" and rows[0]["events"] >= 150
# The newest sessions have rows.
assert hex(max(int(row["session"], 0) for row in rows)) in {row["session"] for row in rows}
assert max(int(row["session"], 0) for row in rows) >= 150000
' "$events" < "$work/out"
	"$ELOG" stat -q --by session --format prometheus "$work/file" | is_exposition
}

# terminal SIZE STEP... -- OPTION...: runs elog top, then the steps.
terminal()
{
	local -

	set +T
	take_steps "$@"
}

take_steps()
{
	local steps=("$1")

	shift
	[[ $1 == exit:* ]] || steps+=("wait:^elog top")

	while [ "$1" != -- ]; do
		steps+=("$1")
		shift
	done
	shift
	TERM=xterm timeout "$HANG_SECONDS" python3 "$BATS_TEST_DIRNAME/terminal.py" "${steps[@]}" \
		-- "$ELOG" top "$@" 3>&-
}

@test "top: needs a terminal of a known type" {
	fails_with "must be a terminal" top
	contains "$stderr" "elog stat"
	run env TERM=nonesuch python3 "$BATS_TEST_DIRNAME/terminal.py" 24x80 exit:1 -- "$ELOG" top
	[ "$status" = 0 ]
	contains "$output" "TERM=nonesuch: unknown type of terminal"
}

@test "top: shows rows, keys change the order" {
	export LC_ALL=C.UTF-8
	terminal 24x80 'wait:^NAME .*EVENTS/S.*BYTES/S.*TOTAL.*LOST HISTORY' \
		'wait:no events so far' 'wait:^q quit' \
		"run:sh $work/job" \
		'wait:^a/one +\S+ +\S+ +300 +0 .*[▁-█]' 'wait:^b/two .* 200 ' \
		'wait:^b/three .* 100 ' 'wait:^\S+ events/s +\S+ bytes/s  lost 0 .*rings [0-9]+%' \
		'key:t' 'wait:TOTAL\*' 'wait:a/one.*\n.*b/two.*\n.*b/three' \
		'key:n' 'wait:NAME\*' 'wait:a/one.*\n.*b/three.*\n.*b/two' \
		'key:l' 'wait:LOST\*' 'key:b' 'wait:BYTES/S\*' 'key:r' 'wait:EVENTS/S\*' \
		'key:\x1bOD' 'wait:NAME\*' 'key:\x1bOC\x1bOC' 'wait:BYTES/S\*' \
		'key:p' 'wait:each provider' 'wait:no events so far' "run:sh $work/job" \
		'wait:^a .* 300 ' 'wait:^b .* 300 ' 'gone:a/one' \
		'key:s' 'wait:each session' "run:sh $work/job" \
		'wait:^a/0x7 .* 300 +-' 'wait:^b/0x8 .* 100 ' \
		'key:c' 'wait:each cpu' 'key:i' 'wait:each pid' 'key:e' 'wait:each event' \
		'key:h' 'wait:select a row' 'key:x' 'wait:each event' 'key:?' \
		'wait:select a row' 'key: ' 'gone:select a row' \
		'key:q' exit:0 -- --interval 0.2
	terminal 24x80 'wait:each session' "run:sh $work/job" 'wait:^a/0x7 .* 300 ' \
		'key:\x1b' exit:0 -- --interval 0.2 --by session --sort events -l warning
	# Without UTF-8 the history is drawn with letters.
	LC_ALL=C terminal 24x80 "run:sh $work/job" 'wait:^a/one .*@' 'hasnt:[▁-█]' 'key:q' exit:0 \
		-- --interval 0.2
}

@test "top: the screen pauses, counting continues" {
	terminal 24x80 'run:"$ELOG" emit -n 5 a/b' 'wait:^a/b .* 5 ' 'key: ' 'wait:paused' \
		'run:"$ELOG" emit -n 6 a/b; "$ELOG" emit c/d' 'key:h' 'wait:select' 'key:h' \
		'gone:select' 'wait:^a/b .* 5 ' 'hasnt:c/d' \
		'key: ' 'gone:paused' 'wait:^a/b .* 11 ' 'wait:c/d' 'key:q' exit:0 -- --interval 0.2
	# Rows and their history do not change when the paused screen is redrawn.
	terminal 24x80 'run:"$ELOG" emit -n 5 a/b' 'wait:^a/b .*[▁-█@]' 'key: ' 'wait:paused' \
		'keep:^a/b.*' 'wakes:8' 'key:h' 'wait:select' 'key:h' 'gone:select' \
		'wait:^a/b' 'same:^a/b.*' 'key:q' exit:0 -- --interval 0.2
}

@test "top: Enter shows the events of the row" {
	terminal 24x80 'run:"$ELOG" emit -n 9 a/one "u32 x" x=1; "$ELOG" emit b/two' \
		'wait:a/one.*\n.*b/two' 'key:\r' 'wait:events of a/one' 'wait:as they happen' \
		'run:"$ELOG" emit a/one "u32 x" x=77; "$ELOG" emit b/two' 'wait:^x=77 ' \
		'hasnt:two' 'key:q' 'wait:each event' 'key:\x1bOB\r' 'wait:events of b/two' \
		'run:"$ELOG" emit b/two' 'wait:^ +\d+\.\d{9} elog ' 'key:\x1b' 'wait:each event' \
		'key:\x1bOA\r' 'wait:events of a/one' 'gone:two' \
		'run:for i in $(seq 60); do "$ELOG" emit a/one "u32 x" x=$i; done' 'wait:^x=60 ' \
		'gone:^x=2 ' 'key:\x1bOH' 'wait:^x=1 ' 'gone:^x=60 ' \
		'run:"$ELOG" emit a/one "u32 x" x=61' 'wait:^x=1 ' 'key:\x1bOF' 'wait:^x=61 ' \
		'key:\x1b[5~' 'gone:^x=61 ' 'key:\x1b[6~' 'wait:^x=61 ' \
		'key: ' 'wait:paused' 'run:"$ELOG" emit a/one "u32 x" x=62' 'wait:^x=61 ' \
		'key: ' 'wait:^x=62 ' 'key:qq' exit:0 -- --interval 0.2 --sort name
	# Escape sequences of a process do not reach the terminal.
	terminal 24x80 'run:"$ELOG" emit a/one "__data_loc char[] s" s=x' 'wait:a/one' 'key:\r' \
		'wait:events of' $'run:"$ELOG" emit a/one "__data_loc char[] s" s="\e[2J\e[31mä"' \
		'wait:s="\\x1b\[2J\\x1b\[31m' 'key:qq' exit:0 -- --interval 0.2
}

@test "top: 80x24 and 200x50 show what matters" {
	export LC_ALL=C.UTF-8
	long=$(printf 'long_%.0s' {1..18})
	cat > "$work/requests" <<'JOB'
for i in 1 2 3; do
	"$ELOG" emit -s 0x800000000000000$i req/start 'u32 status; __data_loc char[] path' \
		status=200 path=/an/index/of/page
	"$ELOG" emit -n 2 -s 0x800000000000000$i req/end 'u32 status' status=$i
done
JOB
	# Names are not longer than the longest one, and numbers follow them. One long name does
	# not move them away.
	terminal 50x200 "run:sh $work/requests" 'wait:^req/end       +[0-9.]+ ' \
		'wait:^NAME     EVENTS/S\*  BYTES/S    TOTAL     LOST HISTORY$' \
		"run:\"\$ELOG\" emit req/$long" "wait:^req/$long  +[0-9.]+ " \
		'size:24x80' 'wait:^req/(long_)+lon…(g_)?(long_)+ .* 1 +0( |$)' 'wait:^req/end  .* 6 +0' \
		'wait:^NAME.*EVENTS/S.*BYTES/S.*TOTAL.*LOST HISTORY$' 'key:q' exit:0 -- --interval 0.2
	# Sessions differ in their last digits.
	for size in 24x40 24x36; do
		terminal $size 'wait:no events so far' "run:sh $work/requests" \
			'wait:^req/0x8000000000000001 ' 'wait:^req/0x8000000000000003 ' \
			'key:q' exit:0 -- --interval 0.2 --by session
	done
	terminal 24x26 'wait:no events so far' "run:sh $work/requests" \
		'wait:^req/0x80…00000001 ' 'wait:^req/0x80…00000003 ' 'key:q' exit:0 -- --interval 0.2 --by session
	# The fields are first and whole. The provider is in the heading, and an event is not
	# repeated.
	terminal 24x80 'wait:no events so far' "run:sh $work/requests" 'wait:^req  ' 'key:\r' \
		'wait:events of req' "run:sh $work/requests" \
		'wait:^EVENT FIELDS +SESSION +TIME' 'hasnt:PROVIDER|^req' \
		'wait:^start status=200 path="/an/index/of/page" 0x8000000000000003 \d+\.\d{9}' \
		'wait:^end   status=3 +0x8000000000000003 .*\n      status=3 +0x8000000000000003 ' \
		'key:qq' exit:0 -- --interval 0.2 --by provider
	# Where there is no room for both, the fields are whole. The rows are in the order of names:
	# by rate, which of them is the last one depends on how fast the machine is.
	terminal 24x38 'wait:no events so far' "run:sh $work/requests" 'wait:^req/start  ' \
		'key:\x1bOF\r' 'wait:events of req/start' "run:sh $work/requests" 'wait:^FIELDS$' \
		'wait:^status=200 path="/an/index/of/page"$' 'key:qq' exit:0 \
		-- --interval 0.2 --sort name
}

# With each row of the table: --by event, session, pid, cpu, provider; Enter; losses; an instance
# that is made, and one that is deleted, while elog top runs.
@test "top: --instances has a line for each instance" {
	"$ELOG" create --instance web
	"$ELOG" create --instance idle --owner nobody
	"$ELOG" create -D /dev/eventlog-web shop/order 'u32 x'
	"$ELOG" create -D /dev/eventlog-web cart/add 'u32 x'
	cat > "$work/web" <<'JOB'
"$ELOG" emit -D /dev/eventlog-web -n 30 shop/order 'u32 x' x=1
"$ELOG" emit -D /dev/eventlog-web -n 20 cart/add 'u32 x' x=2
"$ELOG" emit -n 7 here/it
JOB
	sed 's/-n [0-9]*//' "$work/web" > "$work/few"
	terminal 24x80 'wait:each instance' \
		'wait:^NAME +EVENTS/S\* +BYTES/S +TOTAL +LOST PROVIDERS USER' \
		'wait:^- +0 +0 +0 +0 +0 root' 'wait:^web +0 +0 +0 +0 +2 root' \
		'wait:^idle +0 +0 +0 +0 +0 nobody' "run:sh $work/web" \
		'wait:^web +\S+ +\S+ +50 +0 +2 root' 'wait:^- +\S+ +\S+ +7 +0 ' \
		'run:"$ELOG" create --instance late; "$ELOG" emit -D /dev/eventlog-late -n 5 x/y' \
		'wait:^late .* root' 'run:"$ELOG" emit -D /dev/eventlog-late -n 5 x/y' \
		'wait:^late +\S+ +\S+ +[1-9]' \
		'run:"$ELOG" delete --instance late' 'wait:^late .*\(deleted\)' \
		'key:n\x1bOF\r' 'wait:events of web' "run:sh $work/few" 'wait:^web:shop +order +x=1 ' \
		'wait:^web:cart +add +x=2 ' 'hasnt:here' 'key:q' 'key:e' 'wait:each event' \
		'wait:no events so far' 'hasnt:USER' "run:sh $work/web" 'wait:^shop/order .* 30 +0' \
		'wait:^here/it .* 7 ' 'key:I' 'wait:each instance' 'wait:^idle +0' "run:sh $work/web" \
		'wait:^web +\S+ +\S+ +50 ' 'key:?' 'wait:I +count by instance' 'key:qq' exit:0 \
		-- --interval 0.2 --instances
	# Only some of them; a narrow screen; losses.
	terminal 24x40 'wait:^idle ' 'hasnt:^web|USER' 'key:q' exit:0 -- --instances='i*'
	terminal 24x80 'wait:^web ' signal:STOP stopped-as-it-is: \
		'run:"$ELOG" emit -D /dev/eventlog-web -n 500 shop/much "char[200] s" s=x' continue: \
		'run:"$ELOG" emit -D /dev/eventlog-web shop/much "char[200] s" s=x' \
		'wait:^web +\S+ +\S+ +[1-9][0-9]* +[1-9][0-9]* +' 'key:q' exit:2 \
		-- --interval 0.2 --per-cpu-bytes 8K --instances
	fails_with "--instances does not go with the URL of a stream" top --instances nats://localhost
	fails_with "unexpected argument 'web'" top --instances web
	run terminal 24x80 exit:1 -- --instances -D /dev/eventlog-web
	contains "$output" "is the device of an instance"
	"$ELOG" delete --instance web
	"$ELOG" delete --instance idle
}

@test "top: works at any size, and restores the terminal" {
	terminal 24x80 'wait:elog top' 'run:for i in 1 2 3 4 5; do "$ELOG" emit a/e$i; done' \
		'wait:^a/e5' 'size:5x20' 'wait:^a/e1' 'gone:a/e5' \
		'key:\x1bOB\x1bOB\x1bOB\x1bOB' 'wait:^a/e5' 'gone:a/e1' \
		'key:\r' 'wait:a/e5|events of' 'key:\x1b' 'wait:^NAME' 'key:h' 'wait:Up Down' \
		'key:h' 'wait:^NAME' 'size:24x80' 'wait:^q quit' 'size:1x1' 'size:2x3' 'size:3x200' \
		'wait:subscribers' 'size:60x200' 'wait:HISTORY' 'wait:a/e1' 'signal:TERM' exit:0 \
		-- --interval 0.2 --sort name
	for signal in INT HUP QUIT; do
		terminal 24x80 'wait:^NAME' "signal:$signal" exit:0 --
	done
	terminal 24x80 'wait:^NAME' 'key:\x03' exit:0 --
	terminal 24x80 'wait:^NAME' 'key:\x1a' stopped: 'hasnt:NAME' continue: 'wait:^NAME' \
		'key:h' 'wait:select' \
		'key:qq' exit:0 --
	terminal 24x80 'wait:^NAME' 'signal:TSTP' stopped: continue: 'wait:^NAME' 'size:10x40' 'wait:^NAME' \
		'key:q' exit:0 --
	terminal 24x80 'wait:^NAME' exit:0 -- -d 0.5
}

@test "top: shows losses, and sets the status" {
	terminal 24x80 'wait:^NAME' signal:STOP stopped-as-it-is: \
		'run:"$ELOG" emit -n 500 loss/much "char[200] s" s=x' continue: \
		'wait:^loss/much +\S+ +\S+ +[1-9][0-9]* +[1-9][0-9]*' 'wait:lost [1-9]' \
		'key:q' exit:2 -- --interval 0.2 --per-cpu-bytes 8K
}
