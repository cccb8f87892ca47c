#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog show, of files that are captured with the kernel module. Needs root and
# python3.

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
	# The same in another zone.
	times+=("$(TZ=EET-2 date -d "${plain}Z" +%FT%T).${plain#*.}+02:00")
	for time in "${times[@]}"; do
		echo "$time"
		[ "$(show --since "$time")" = 23 ]
		[ "$(show --until "$time")" = 1 ]
		[ "$(show --since "$time" --until "$time")" = "" ]
		[ "$(show --around "$time+-1us")" = 2 ]
		[ "$(show --around "$time±1h2m")" = 123 ]
	done
	# Two hours east, that time of day was two hours ago.
	[ "$(TZ=EET-2 show --since "$plain")" = 123 ]
	# What counts from the beginning is as good as two clocks are read at once.
	for time in "+$after" "+${after}s"; do
		[ "$(show --around "$time+-5ms")" = 2 ]
		[ "$(show --since "$time" --around "$time±1h")" = 123 ]
	done
	for time in -1d -1h30m yesterday +0 0 @0 1970-01-01 "2020-02-29 12:00" 2020-02-29T12:00Z; do
		[ "$(show --since "$time")" = 123 ]
		[ "$(show --until "$time")" = "" ]
	done
	for time in now +1d 2100-01-01 @4000000000 -0s -1ns; do
		[ "$(show --until "$time")" = 123 ]
		[ "$(show --since "$time")" = "" ]
	done
	for time in "" someday 2026-02-30 2026-13-01 2026-1-01 +2026-01-01 2026-01-01x 24:00 \
		12:60 12:00:60 12:-5 12:5 " 12:00" 1e9 @ @x - -5x + "12:00+15:00" \
		"12:00 UTC" 99999999999 @99999999999 -99999999999999999999ns 2200-01-01 "now "; do
		fails_with "is not right for TIME" show --since "$time" "$work/file"
	done
	fails_with "is not right for TIME+-SPAN" show --around "+-5" "$work/file"
	fails_with "is not right for TIME+-SPAN" show --around "now+-" "$work/file"

	# The beginning is that of the earliest, whatever their order; pipes do, too.
	"$ELOG" capture -q -o "$work/later" -- "$ELOG" emit when/step 'u32 i' i=4
	for files in "file later" "later file"; do
		cd "$work"
		# shellcheck disable=SC2086 # several words
		[ "$("$ELOG" show -q --around "+$after+-5ms" $files | wc -l)" = 1 ]
	done
	[ "$("$ELOG" show -q --since "$wall" - < <(cat "$work/file") | wc -l)" = 2 ]
	[ "$("$ELOG" show -q --since "$wall" - "$work/later" < <(cat "$work/file") | wc -l)" = 3 ]
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
assert one["fields"]["big"] == 18446744073709551615 and one["fields"]["less"] == -5
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
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 3 ]
	fails_with "a name is missing" show --fields a,,b "$work/file"
	fails_with "a name is missing" show --fields a, "$work/file"

	# Losses, as objects, and beside a table.
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

	# Sessions, summed up.
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

@test "show: several files are merged by time" {
	"$ELOG" capture -q -o "$work/one" -s 1 -- "$ELOG" capture -q -o "$work/two" -s 2 -- \
		"$ELOG" capture -q -o "$work/three" -s 3 --compress -- \
		"$PRODUCER" 0 600 3 3>&-
	"$ELOG" show --format json --time wall "$work/one" - "$work/two" \
		< <(cat "$work/three") > "$work/merged" 2> "$work/err"
	contains "$(< "$work/err")" "600 events, lost 0"
	# A file's times of day are as good as the two clocks were read at once.
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
	# One that is not there, and one that is nothing, are told; the others shown.
	run_elog show "$work/one" "$work/nosuch" /dev/null "$work/two"
	[ "$status" = 1 ]
	contains "$stderr" "nosuch: No such file" "/dev/null: not a file of elog capture" "400 events"
	run_elog show -v -n 1 "$work/one" "$work/two" "$work/three"
	[ "${#lines[@]}" = 1 ]
	[ "$(grep -c 'kernel=' <<< "$stderr")" = 3 ]
}

@test "show: colours, pager, progress" {
	"$ELOG" capture -q -o "$work/file" -- "$ELOG" emit -l error -n 3 color/x 'u32 a' a=1
	export FILE=$work/file TERM=xterm
	escape=$'\e['
	on_terminal()
	{
		run timeout 60 script -qec "$*" /dev/null 3>&- < /dev/null
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
	# The summary is behind what the pager shows, not in it.
	contains "${lines[-1]}" "elog: 3 events"
	PAGER=false ELOG_PAGER="sed s/^/mine:/" on_terminal '"$ELOG" show "$FILE"'
	[ "$(grep -c '^mine:' <<< "$output")" = 3 ]
	PAGER="sed s/^/paged:/" ELOG_PAGER='' on_terminal '"$ELOG" show "$FILE"'
	[[ $output != *paged:* ]]
	PAGER="sed s/^/paged:/" on_terminal '"$ELOG" show --no-pager "$FILE"'
	[[ $output != *paged:* ]]
	PAGER="sed s/^/paged:/" on_terminal '"$ELOG" show "$FILE" | cat'
	[[ $output != *paged:* ]]
	# One that does not read to the end, one that is not there, and none at all.
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

	# Progress is where somebody sees it.
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
