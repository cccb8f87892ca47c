#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog show with files that are captured with the kernel module. Needs root and python3.

load files.bash

@test "show: --since, --until, --around" {
	"$ELOG" capture -q -o "$work/file" -- sh -c \
		'for i in 1 2 3; do "$ELOG" emit when/step "u32 i" i=$i; done'
	sed='s/^time=\([^ ]*\) .*/\1/p'
	show()
	{
		"$ELOG" show -q "$@" "$work/file" | sed -n 's/.* i=//p' | tr -d '\n'
	}
	read -r _ mono _ <<< "$("$ELOG" show -q --fields time,i "$work/file" | sed -n 's/time=\([^ ]*\).*/\1/p' | tr '\n' ' ')"
	read -r _ wall _ <<< "$("$ELOG" show -q --time wall --fields time,i "$work/file" | sed -n "$sed" | tr '\n' ' ')"
	[[ $wall == ????-??-??T??:??:??.?????????+00:00 ]]
	plain=${wall%+00:00}
	seconds=$(date -d "$plain" +%s).${plain#*.}
	start=$(grep -a '^start ' "$work/file" | head -n 1 | cut -d ' ' -f 2)
	number=${mono/./}
	after=$((10#$number - start))
	after=$((after / 1000000000)).$(printf %09d $((after % 1000000000)))
	times=("$wall" "$plain" "${plain/T/ }" "${plain}Z" "${plain}+0000" "@$seconds"
		"$mono")
	[ "$(date +%F)" != "${plain%T*}" ] || times+=("${plain#*T}" "${plain#*T}Z")
	# The same in another time zone.
	times+=("$(TZ=EET-2 date -d "${plain}Z" +%FT%T).${plain#*.}+02:00")
	for time in "${times[@]}"; do
		echo "$time"
		[ "$(show --since "$time")" = 23 ]
		[ "$(show --until "$time")" = 1 ]
		[ "$(show --since "$time" --until "$time")" = "" ]
		[ "$(show --around "$time+-1us")" = 2 ]
		[ "$(show --around "$time±1h2m")" = 123 ]
	done
	# Universal time is the same in every zone, and an argument of --since.
	for zone in UTC EET-2 NZST-12NZDT; do
		[ "$(TZ=$zone "$ELOG" show -q -n 2 --time utc "$work/file" | grep -c " ${plain}Z when")" = 1 ]
		TZ=$zone "$ELOG" show -q --time utc --format json "$work/file" | grep -q "\"time\":\"${plain}Z\""
		TZ=$zone "$ELOG" show -q --time utc --format csv "$work/file" | grep -q "^${plain}Z,"
		TZ=$zone "$ELOG" show -q --time utc --session-summary "$work/file" | grep -q "^[-0-9]*T[0-9:.]*Z "
		TZ=$zone "$ELOG" stat -q --time utc "$work/file" | grep -q " [-0-9]*T[0-9:.]*Z"
		[ "$(TZ=$zone "$ELOG" export -q --format csv "$work/file" | cut -d , -f 1)" = \
			"$(TZ=$zone "$ELOG" show -q --time utc --format csv "$work/file" | cut -d , -f 1)" ]
	done
	fails_with "--time: invalid argument 'gmt': must be one of mono, wall, delta, utc" \
		show --time gmt "$work/file"
	# Two hours east, that time of day is two hours earlier.
	[ "$(TZ=EET-2 show --since "$plain")" = 123 ]
	# Relative times differ by the time between reading two clocks. The other events may be as near.
	for time in "+$after" "+${after}s"; do
		contains "$(show --around "$time+-5ms")" 2
		[ "$(show --since "$time" --around "$time±1h")" = 123 ]
	done
	for time in -1d -1h30m "1 hour 30 minutes ago" yesterday "yesterday 00:00" +0 0 @0 1970-01-01 \
		1900-01-01 "2020-02-29 12:00" 2020-02-29T12:00Z; do
		[ "$(show --since "$time")" = 123 ]
		[ "$(show --until "$time")" = "" ]
	done
	for time in now +1d 2100-01-01 @4000000000 -0s -1ns; do
		[ "$(show --until "$time")" = 123 ]
		[ "$(show --since "$time")" = "" ]
	done
	for time in "" someday 2026-02-30 2026-13-01 2026-1-01 +2026-01-01 2026-01-01x 24:00 \
		12:60 12:00:60 12:-5 12:5 " 12:00" 1e9 @ @x - -5x + "12:00+15:00" \
		"12:00 UTC" 5m "5 parsecs ago" 99999999999 @99999999999 -99999999999999999999ns 2200-01-01 "now "; do
		fails_with "--since: invalid time '$time': column " show --since "$time" "$work/file"
	done
	fails_with "--around: invalid TIME+-SPAN '+-5'" show --around "+-5" "$work/file"
	fails_with "--around: invalid TIME+-SPAN 'now+-'" show --around "now+-" "$work/file"

	# Times are relative to the earliest file, in any order; also with pipes.
	"$ELOG" capture -q -o "$work/later" -- "$ELOG" emit when/step 'u32 i' i=4
	for files in "file later" "later file"; do
		cd "$work"
		# shellcheck disable=SC2086 # several words
		contains "$("$ELOG" show -q --around "+$after+-5ms" $files)" " i=2"
	done
	[ "$("$ELOG" show -q --since "$wall" - < <(cat "$work/file") | wc -l)" = 2 ]
	[ "$("$ELOG" show -q --since "$wall" - "$work/later" < <(cat "$work/file") | wc -l)" = 3 ]
}

@test "show: --tail prints the last events, then those that follow" {
	"$ELOG" capture -q -o "$work/one" -- sh -c \
		'for i in 1 2 3 4 5; do "$ELOG" emit -s $((i % 2 + 1)) end/step "u32 i" i=$i; done'
	"$ELOG" capture -q -o "$work/two" --compress -- "$ELOG" emit -n 2 end/more 'u32 i' i=6
	cd "$work"
	for options in "" "--format json" "-s 1 -f i>1"; do
		# shellcheck disable=SC2086 # several words
		"$ELOG" show $options two one > all 2> err
		for n in 0 2 18446744073709551614; do
			# shellcheck disable=SC2086
			run_elog show $options --tail $n two one
			[ "$status" = 0 ]
			[ "$stderr" = "$(< err)" ]
			[ "$output" = "$(tail -n $n all)" ]
		done
	done
	[ "$("$ELOG" show -q --tail 2 --fields i - < <(cat one))" = $'i=4\ni=5' ]
	fails_with "-n does not go with --tail" show -n 1 --tail 1 one
	fails_with "--tail does not go with --session-summary" show --session-summary --tail 1 one
	for n in -1 x "" 1.5 18446744073709551615; do
		fails_with "--tail: invalid N '$n': must be a number" show --tail "$n" one
	done
	for n in 2 0; do
		cp one grows
		"$ELOG" show -q --follow --tail $n --fields i grows > out 2> err 3>&- &
		started=$!
		background+=("$started")
		if [ $n = 2 ]; then
			wait_for grep -q i=5 out
		else
			wait_for has_read "$started" grows
		fi
		"$ELOG" capture -q -o grows --append -- "$ELOG" emit end/step 'u32 i' i=6
		wait_for grep -q i=6 out
		stop_elog INT
		[ "$status" = 0 ]
		[ "$(< out)" = "$(seq -f i=%g $((6 - n)) 6)" ]
	done
}

# has_read PID FILE: has the process read all of the file?
has_read()
{
	local link

	for link in /proc/"$1"/fd/*; do
		[ "$(readlink "$link")" != "$(readlink -f "$2")" ] ||
			[ "$(sed -n 's/^pos:[^0-9]*//p' "/proc/$1/fdinfo/${link##*/}")" -ge \
				"$(stat -c %s "$2")" ] && return
	done
	return 1
}

@test "show: -f, --format, --fields, --session-summary" {
	string=$'quote " comma, back\\slash\ttab \xc3\xa9 \xff newline\nend'
	export string
	"$ELOG" capture -q -o "$work/file" -- sh -c '
		"$ELOG" emit -s 0x1f -l warning -k 3 form/one "u64 big; s32 less; __data_loc char[] text; char[8] word; __data_loc unsigned char[] data" \
			big=18446744073709551615 less=-5 "text=$string" word=w data=00ff
		"$ELOG" emit -s 0x1f form/two "u8 less" less=7
		"$ELOG" emit other/three'
	run_elog show -q -f 'less < 0' "$work/file"
	[ "${#lines[@]}" = 1 ]
	run_elog show -q -f 'less > -10' -f 'less < 100' -f 'event == "two"' "$work/file"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 1 ]
	contains "$output" "form 0x1f two"
	fails_with "-f 'less == word': column 9" show -q -f 'less == word' "$work/file"

	"$ELOG" show -q --format json "$work/file" > "$work/json"
	"$ELOG" show -q --format json --time wall "$work/file" > "$work/wall"
	"$ELOG" show -q --format json --time delta "$work/file" > "$work/delta"
	"$ELOG" show -q --format csv "$work/file" > "$work/csv"
	"$ELOG" show -q --format csv --time wall --fields time,event,text,less,data,big,comm "$work/file" > "$work/csv2"
	"$ELOG" show -q --format json --fields event,less,fields,keywords,session "$work/file" > "$work/json2"
	"$PYTHON" - "$work" <<'CHECK'
import csv, datetime, json, os, sys

def lines(name):
    with open(f"{sys.argv[1]}/{name}", encoding="utf-8", errors="surrogateescape") as file:
        return [json.loads(line) for line in file]

def table(name):
    with open(f"{sys.argv[1]}/{name}", encoding="utf-8", errors="surrogateescape",
              newline="") as file:
        return list(csv.DictReader(file))

events = lines("json")
assert len(events) == 3, events
one, two, three = events
assert (one["provider"], one["event"], one["level"]) == ("form", "one", "warning"), one
assert one["session"] == "0x1f" and three["session"] is None
assert one["fields"]["big"] == "18446744073709551615" and one["fields"]["less"] == -5
expected = os.environb[b"string"]
assert one["fields"]["text"].replace("\ufffd", "?") == \
    expected.replace(b"\xff", b"?").decode(), one
assert one["fields"]["word"] == "w"
assert all(isinstance(event[key], int) for event in events for key in ("pid", "tid", "cpu"))
assert one["time"] < two["time"] < three["time"]
walls = [datetime.datetime.fromisoformat(event["time"][:26] + event["time"][29:])
         for event in lines("wall")]
assert walls == sorted(walls) and walls[0].utcoffset() == datetime.timedelta(0)
deltas = [event["time"] for event in lines("delta")]
assert deltas[0] == 0 and abs(deltas[1] - (two["time"] - one["time"])) < 1e-6, deltas
chosen = lines("json2")
assert chosen[0]["less"] == -5 and chosen[1]["less"] == 7 and "less" not in chosen[2]
assert list(chosen[0]) == ["event", "less", "fields", "keywords", "session"]
rows = table("csv")
assert [row["event"] for row in rows] == ["one", "two", "three"]
assert [json.loads(row["fields"]) for row in rows] == [event["fields"] for event in events]
assert [int(row["tid"]) for row in rows] == [event["tid"] for event in events]
rows = table("csv2")
assert rows[0]["text"].encode("utf-8", "surrogateescape") == expected, rows[0]
assert rows[0]["big"] == "18446744073709551615" and rows[2]["text"] == rows[2]["less"] == ""
CHECK
	run_elog show -q --fields time,nosuch "$work/file"
	[ "$status" = 1 ]
	[ "$stderr" = "elog show: --fields: no field 'nosuch'" ]
	[ "${#lines[@]}" = 3 ]
	fails_with "a name is missing" show --fields a,,b "$work/file"
	fails_with "a name is missing" show --fields a, "$work/file"

	# Losses in JSON and with CSV.
	run_elog capture -q -o "$work/lossy" --per-cpu-bytes 8K -- bash -c \
		'while_stopped $PPID taskset -c 0 "$ELOG" emit -n 2000 loss/much'
	run_elog show -q --format json "$work/lossy"
	[ "$status" = 2 ]
	echo "$output" > "$work/json"
	"$PYTHON" - "$work/json" <<'CHECK'
import json, sys
lost = shown = 0
for line in open(sys.argv[1]):
    event = json.loads(line)
    if "lost" in event:
        assert event["cpu"] == 0 and event["causes"] == {"no room": event["lost"]}, event
        lost += event["lost"]
    else:
        shown += 1
assert lost and lost + shown == 2000, (lost, shown)
CHECK
	run_elog show -q --format csv "$work/lossy"
	[ "$status" = 2 ]
	contains "$stderr" "no room"
	"$PYTHON" -c 'import csv, sys; assert {len(row) for row in csv.reader(sys.stdin)} == {10}' <<< "$output"

	# --session-summary.
	"$ELOG" capture -q -o "$work/sessions" -- "$PRODUCER" 0 30 3 > /dev/null
	run_elog show --session-summary "$work/sessions" "$work/file"
	[ "$status" = 0 ]
	contains "$stderr" "33 events, lost 0"
	[ "${#lines[@]}" = 6 ]
	contains "${lines[0]}" START PROVIDER SESSION
	[ "$(grep -cE '^[0-9.]+ +number +0x[123] +[0-9.]+ +10 +240 info +step \.\. step$' <<< "$output")" = 3 ]
	[ "$(grep -cE ' form +0x1f +[0-9.]+ +2 +[0-9]+ warning one \.\. two$' <<< "$output")" = 1 ]
	[ "$(grep -cE ' other +- ' <<< "$output")" = 1 ]
	"$ELOG" show -q --session-summary --format json "$work/sessions" > "$work/json"
	"$ELOG" show -q --session-summary --format csv "$work/sessions" > "$work/csv"
	run_elog show -q --session-summary --time wall "$work/sessions"
	[ "${#lines[@]}" = 4 ]
	"$PYTHON" - "$work" <<'CHECK'
import csv, json, sys
rows = [json.loads(line) for line in open(sys.argv[1] + "/json")]
assert [row["session"] for row in rows] == ["0x1", "0x2", "0x3"], rows
assert all(row["events"] == 10 and row["bytes"] == 240 and row["worst_level"] == "info" and
           row["first_event"] == row["last_event"] == "step" for row in rows), rows
table = list(csv.DictReader(open(sys.argv[1] + "/csv", newline="")))
assert [{key: str(value) for key, value in row.items()
         if key not in ("start", "start_wall", "duration")} for row in rows] == \
       [{key: value for key, value in row.items()
         if key not in ("start", "start_wall", "duration")} for row in table], table
assert all(abs(float(one[key]) - float(other[key])) < 1e-6 for one, other in zip(rows, table)
           for key in ("start", "duration"))
CHECK
}

@test "show: merges several files by time" {
	"$ELOG" capture -q -o "$work/one" -s 1 -- "$ELOG" capture -q -o "$work/two" -s 2 -- \
		"$ELOG" capture -q -o "$work/three" -s 3 --compress -- \
		"$PRODUCER" 0 600 3 3>&-
	"$ELOG" show --format json --time wall "$work/one" - "$work/two" \
		< <(cat "$work/three") > "$work/merged" 2> "$work/err"
	contains "$(< "$work/err")" "600 events, lost 0"
	# Times of day of two files differ by the time between reading two clocks.
	"$PYTHON" - "$work/merged" <<'CHECK'
import datetime, json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
numbers = [event["fields"]["number"] for event in events]
assert sorted(numbers) == list(range(600)), numbers
for session in range(3):
    of_one = [number for number in numbers if number % 3 == session]
    assert of_one == sorted(of_one), of_one
seconds = [datetime.datetime.fromisoformat(event["time"][:26] + event["time"][29:]).timestamp()
           for event in events]
assert all(later > earlier - 0.01 for earlier, later in zip(seconds, seconds[1:]))
assert numbers[:200] != list(range(0, 600, 3))
CHECK
	# A missing and an empty file are reported; the others are shown.
	run_elog show "$work/one" "$work/nosuch" /dev/null "$work/two"
	[ "$status" = 1 ]
	contains "$stderr" "nosuch: No such file" "/dev/null: not a file of elog capture" "400 events"
	run_elog show -v -n 1 "$work/one" "$work/two" "$work/three"
	[ "${#lines[@]}" = 1 ]
	[ "$(grep -c 'kernel=' <<< "$stderr")" = 3 ]
}

@test "show: colors, pager, progress" {
	"$ELOG" capture -q -o "$work/file" -- "$ELOG" emit -l error -n 3 color/x 'u32 a' a=1
	export FILE=$work/file TERM=xterm
	escape=$'\e['
	on_terminal()
	{
		run timeout "$HANG_SECONDS" script -qec "$*" /dev/null 3>&- < /dev/null
	}
	run_elog show -q --color always "$work/file"
	contains "$output" "$escape"
	run_elog show -q "$work/file"
	[[ $output != *$'\e'* ]]
	on_terminal '"$ELOG" show -q --no-pager "$FILE"'
	contains "$output" "$escape" "a=1"
	on_terminal '"$ELOG" show -q --no-pager --color never "$FILE"'
	[[ $output != *$'\e'* ]]
	NO_COLOR=1 on_terminal '"$ELOG" show -q --no-pager "$FILE"'
	[[ $output != *$'\e'* ]]
	NO_COLOR='' on_terminal '"$ELOG" show -q --no-pager "$FILE"'
	contains "$output" "$escape"
	NO_COLOR=1 on_terminal '"$ELOG" show -q --no-pager --color always "$FILE"'
	contains "$output" "$escape"
	TERM=dumb on_terminal '"$ELOG" show -q --no-pager "$FILE"'
	[[ $output != *$'\e'* ]]
	for format in json csv; do
		on_terminal '"$ELOG" show -q --no-pager --color always --format' $format '"$FILE"'
		[[ $output != *$'\e'* ]]
	done

	PAGER="sed s/^/paged:/" on_terminal '"$ELOG" show "$FILE"'
	[ "$(grep -c '^paged:.*a=1' <<< "$output")" = 3 ]
	# The summary follows the pager, it is not in it.
	contains "${lines[-1]}" "elog: 3 events"
	PAGER=false ELOG_PAGER="sed s/^/mine:/" on_terminal '"$ELOG" show "$FILE"'
	[ "$(grep -c '^mine:' <<< "$output")" = 3 ]
	PAGER="sed s/^/paged:/" ELOG_PAGER='' on_terminal '"$ELOG" show "$FILE"'
	[[ $output != *paged:* ]]
	PAGER="sed s/^/paged:/" on_terminal '"$ELOG" show --no-pager "$FILE"'
	[[ $output != *paged:* ]]
	PAGER="sed s/^/paged:/" on_terminal '"$ELOG" show "$FILE" | cat'
	[[ $output != *paged:* ]]
	# A pager that quits early, a missing one, and none.
	PAGER="head -n 1" on_terminal '"$ELOG" show "$FILE"'
	[ "$status" = 0 ]
	PAGER=/no/such on_terminal '"$ELOG" show -q "$FILE"'
	[ "$status" = 1 ]
	contains "$output" "there is no such pager"
	mkdir "$work/bin"
	ln -s "$(command -v cat)" "$work/bin"
	on_terminal 'PATH="'"$work/bin"'" "$ELOG" show -q "$FILE"'
	[ "$status" = 0 ]
	[ "$(grep -c a=1 <<< "$output")" = 3 ]
	fails_with "No such file" show "$work/nosuch"

	# Progress is printed only to a terminal.
	mkfifo "$work/fifo"
	export FIFO=$work/fifo OUT=$work/shown
	script -qefc '"$ELOG" show - < "$FIFO" > "$OUT"' "$work/typescript" > /dev/null 3>&- < /dev/null &
	background+=("$!")
	tries=0
	until grep -q ' MiB, [0-9]* events' "$work/typescript" 2> /dev/null; do
		cat "$work/file"
		sleep 0.1
		[ $((tries += 1)) -lt 300 ]
	done > "$work/fifo"
	wait "$!"
	[[ $(< "$work/typescript") == *$'\r\e[K'"elog: "*" events, lost 0"* ]]
	[ "$(grep -vc a=1 "$work/shown")" = 0 ]
	run_elog show "$work/file"
	[[ $stderr != *MiB* ]]
}

@test "show: unknown CPUs, unknown causes of loss, files of other versions" {
	"$PYTHON" - "$work" <<'WRITE'
import struct, sys

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff

def block(type, body, flags=0):
    head = b"\x89ELOG\r\n\x1a" + struct.pack("<5I", type, flags, len(body), len(body),
                                              crc32c(body))
    return head + struct.pack("<I", crc32c(head)) + body + bytes(-len(body) % 8)

def record(time, value):
    return struct.pack("<2I2Q3I4x", 36, 1, time, 0, 11, 12, value)

def data(cpu, stream, *records):
    body = b"".join(records)
    return block(4, struct.pack("<2IQ2I", cpu, stream, 0, 0, 24) + body)

def losses(time, causes, *each):
    body = struct.pack("<4Q4I", time, time, time, time + 10**9, len(each), causes, 48, 8)
    for cpu, stream, lost in each:
        body += struct.pack("<2I", cpu, stream)
        body += b"".join(struct.pack("<Q", lost.get(i, 0)) for i in range(causes))
    return block(5, body)

def header(version, more=b""):
    return block(1, b"version %d\nbyte_order little\nstart 0 0 1000000000\n" % version + more)

ALL = 0xffffffff
schema = b"eventlog 1\nprovider p\nevent 1 e info -\n\tu32 n\n"
with open(f"{sys.argv[1]}/newer", "wb") as file:
    file.write(header(3, b"elog 7.1\n"))
for version in 1, 2, 3:
    with open(f"{sys.argv[1]}/v{version}", "wb") as file:
        file.write(header(version) + block(2, struct.pack("<4I", 1, 1, 0, 16) + schema))
        file.write(data(ALL, 7, record(10, 1), record(40, 4)))
        file.write(data(0, 0, record(20, 2)) + data(0, 8, record(30, 3)))
        file.write(losses(50, 20, (0, 0, {0: 2, 19: 3}), (ALL, 7, {18: 4}), (ALL, ALL, {6: 5})))
        file.write(block(7, struct.pack("<5Q", 4, 14, 0, 0, 0)))
with open(f"{sys.argv[1]}/between", "wb") as file:
    file.write(header(2) + block(2, struct.pack("<4I", 1, 1, 0, 16) + schema))
    for n in 1, 2, 3:
        file.write(data(n, n, record(10 * n, n)) + losses(10 * n + 5, 20, (n, n, {0: n})))
    file.write(block(7, struct.pack("<5Q", 3, 6, 0, 0, 0)))
with open(f"{sys.argv[1]}/many", "wb") as file:
    file.write(header(2) + block(2, struct.pack("<4I", 1, 1, 0, 16) + schema))
    file.write(data(1, 1, record(10, 1)))
    file.write(b"".join(losses(20 + n, 20, (1, 1, {0: n})) for n in range(1, 501)))
    file.write(block(7, struct.pack("<5Q", 1, 500, 0, 0, 0)))
WRITE
	# Losses are where they are. Of very many, the first ones are shown.
	run_elog show --fields n "$work/between"
	[ "$output" = $'n=1\n# lost 1 event on CPU 1: no room 1\nn=2\n# lost 2 events on CPU 2: no room 2
n=3\n# lost 3 events on CPU 3: no room 3' ]
	all=$output said=$stderr
	for n in 0 1 2 3 4; do
		run_elog show --fields n --tail $n "$work/between"
		[ "$status" = 2 ]
		[ "$stderr" = "$said" ]
		[ "$output" = "$(tail -n $((2 * n)) <<< "$all")" ]
	done
	run_elog show --fields n --tail 5 "$work/many"
	[ "${lines[0]} ${lines[1]}" = "n=1 # lost 1 event on CPU 1: no room 1" ]
	[ "${#lines[@]}" -lt 150 ]
	[ "$stderr" = "elog: 1 event, lost 500: no room 500" ]
	run_elog show --fields cpu,n --tail 2 "$work/v2"
	[ "$output" = "$("$ELOG" show -q --fields cpu,n "$work/v2" | sed 1,2d)" ]
	run_elog show -q --format csv --fields cpu,n --tail 1 "$work/v2"
	[ "$output" = $'cpu,n\n,4' ]
	run_elog show --fields cpu,n "$work/v2"
	[ "$status" = 2 ]
	[ "$(head -n 4 <<< "$output")" = $'cpu=- n=1\ncpu=0 n=2\ncpu=0 n=3\ncpu=- n=4' ]
	contains "$output" "# lost 5 events on CPU 0: no room 2, cause 19 3" \
		"# lost 4 events on an unknown CPU: cause 18 4" \
		"# lost 5 events on CPUs without ring: no memory 5"
	contains "$stderr" "4 events, lost 14: no room 2, no memory 5, cause 18 4, cause 19 3"
	run_elog show "$work/v2"
	[ "$(grep -c ' - 000c ' <<< "$output")" = 2 ]
	run_elog show --format json "$work/v2"
	[ "$(grep -c '"cpu":null' <<< "$output")" = 4 ]
	[ "$(grep -c '"cpu":0' <<< "$output")" = 3 ]
	contains "$output" '"causes":{"no room":2,"cause 19":3}' '"causes":{"cause 18":4}'
	run_elog show -q --format csv --fields cpu,n "$work/v2"
	[ "${lines[1]}" = ",1" ]
	# No -C and no filter select an event whose CPU is not known.
	[ "$("$ELOG" show -q -C 0 --fields n "$work/v2" | grep -v '^#')" = $'n=2\nn=3' ]
	[ "$("$ELOG" show -q -f 'cpu != 1' --fields n "$work/v2" | grep -v '^#')" = $'n=2\nn=3' ]
	[ "$("$ELOG" show -q -f 'cpu == 4294967295' "$work/v2" | grep -vc '^#')" = 0 ]
	run_elog stat -q "$work/v2" --by cpu --format json
	[ "$(grep -c '"cpu":null' <<< "$output")" = 1 ]
	fails_with "v1: a file of version 1, but this elog reads version 2" show "$work/v1"
	fails_with "v3: a file of version 3, but this elog reads version 2" show "$work/v3"
	# Every verb says which elog reads it.
	local sentence="newer: a file of version 3, which elog 7.1 wrote and reads; this elog reads version 2"
	for verb in show "show --session-summary" stat info "export --format csv" \
		"export --format perfetto" "export --format parquet -o $work/tables" \
		"report -o $work/page" "latency a b"; do
		# shellcheck disable=SC2086
		run_elog $verb "$work/newer"
		[ "$status" = 1 ]
		contains "$stderr" "$sentence"
	done
	fails_with "$sentence" sql "$work/newer" "select 1"
	[ ! -e "$work/page" ]
	LD_LIBRARY_PATH=$EVENTLOG_TOOLS PYTHONPATH=$TREE/tools/python "$PYTHON" -c '
import sys, eventlog
list(eventlog.Reader([sys.argv[1]]))' "$work/newer" 2> "$work/said" || true
	contains "$(tail -n 1 "$work/said")" "a file of version 3, which elog 7.1 wrote and reads; this"
}

@test "show: a reader that has gone gets no wrong count" {
	"$ELOG" capture -q -o "$work/file" -- "$ELOG" emit -n 5000 many/x 'u32 a' a=1
	for format in text json csv; do
		run bash -c '"$ELOG" show --format '$format' "$1" 2>&1 > >(head -n 2 > /dev/null)' - "$work/file"
		[ "$status" = 0 ]
		[ -z "$output" ]
	done
	run bash -c '"$ELOG" show "$1" 2>&1 > >(cat > /dev/null)' - "$work/file"
	[ "$output" = "elog: 5000 events, lost 0" ]
}

@test "info: numbers in the header of a file are numbers in JSON" {
	"$ELOG" capture -q -o "$work/file" -- "$ELOG" emit number/x
	"$ELOG" info --format json "$work/file" | "$PYTHON" -c '
import json, sys
info = json.load(sys.stdin)
for key in "cpus", "version", "page_size", "start":
    assert type(info[key]) is int and info[key] > 0, info
assert type(info.get("clock_error", 0)) is int
for key in "host", "flags", "byte_order", "machine_id":
    assert type(info[key]) is str, info'
}
