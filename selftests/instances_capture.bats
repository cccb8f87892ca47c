#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog with --instances: events of the root and of several instances, in one order and with
# the name of their instance, in text, JSON, files and exports. Needs root and the module.
#
# What meets instances, and where that is tested:
#
#	live text, JSON, --fields, -f	here
#	files, --rotate, --overwrite	here
#	--trigger			here: one of the root, and one of an instance
#	show, stat, info -v, losses	here
#	export csv, jsonl, perfetto	here; spans and parents in tools/elog/export/export_test.sh
#	export parquet, --otlp		tools/elog/export: export_test.sh, otlp_test.sh
#	latency, report			tools/elog: export/export_test.sh, page/test/report_test.sh
#	babeltrace2			tools/babeltrace2/babeltrace2_test.sh
#	--writers, --bpf, -D, -k NAME	refused, here

load elog.bash

teardown()
{
	end_background
	delete_instances
}

# emit INSTANCE NUMBER: emits an event with the same name in each instance; empty: the root.
emit()
{
	"$ELOG" emit -D "/dev/eventlog${1:+-$1}" same/name 'u32 number' "number=$2"
}

# Emits seven events, alternately in the root and in two instances.
emit_alternately()
{
	local i

	for i in 0 1 2 3 4 5 6; do
		case $((i % 3)) in
		0)
			emit web $i
			;;
		1)
			emit '' $i
			;;
		2)
			emit db $i
			;;
		esac
	done
}

# What emit_alternately emits: provider and number, with the instance before the provider.
alternate='web:same 0
same 1
db:same 2
web:same 3
same 4
db:same 5
web:same 6'

# Prints provider and number of the events in text.
events_of()
{
	grep -v '^#' "$1" | awk '{ sub(/.*=/, "", $NF); print $5, $NF }'
}

@test "instances: what is wrong is refused" {
	"$ELOG" create --instance web
	while read -r message; do
		read -r arguments
		# shellcheck disable=SC2086
		run_elog $arguments
		[ "$status" = 1 ] || { echo "$arguments: status $status"; return 1; }
		contains "$stderr" "$message" || { echo "$arguments: $stderr"; return 1; }
	done <<-END
		/dev/eventlog-web is the device of an instance
		capture -D /dev/eventlog-web --instances web
		--writers does not go with --instances
		capture --instances web -o $work/file --writers 2
		-k must be a mask
		capture --instances web -k conn
		does not go with --bpf
		stat --instances web --bpf
		--instances does not go with a FILE
		stat --instances web $work/file
		--instances is for live events
		latency --instances web a/b a/c $work/file
	END
	run_apart setpriv --bounding-set=-sys_admin,-perfmon "$ELOG" capture --instances '*'
	[ "$status" = 1 ]
	contains "$stderr" 'needs the capability CAP_PERFMON'
}

@test "instances: the root sees all, with their names and in one order" {
	"$ELOG" create --instance web
	"$ELOG" create --instance db
	"$ELOG" create --instance other
	start_elog capture --instances '[wd]*'
	emit other 9
	emit_alternately
	stop_elog INT
	[ "$status" = 0 ]
	[ "$(events_of "$work/out")" = "$alternate" ]
	awk '{ print $4 }' "$work/out" | sort -c -n

	# The fields, the filter and the options of a rule.
	start_elog capture --instances '*' --fields instance,number -f 'instance != web' \
		-e same/name
	emit_alternately
	emit other 9
	stop_elog INT
	[ "$(grep -v '^#' "$work/out")" = "instance=- number=1
instance=db number=2
instance=- number=4
instance=db number=5
instance=other number=9" ]
	start_elog capture --format json --instances '*' -f 'instance ~ "^[wd]" && number < 3'
	emit_alternately
	stop_elog INT
	[ "$(wc -l < "$work/out")" = 2 ]
	[ "$(sed 's/.*"instance":"\([a-z]*\)".*/\1/' "$work/out" | xargs)" = "web db" ]
}

@test "instances: a file has several of them" {
	"$ELOG" create --instance web
	"$ELOG" create --instance db
	start_elog capture --instances '*' -o "$work/file.elog"
	emit_alternately
	stop_elog INT
	[ "$status" = 0 ]
	"$ELOG" show -q "$work/file.elog" > "$work/shown"
	[ "$(events_of "$work/shown")" = "$alternate" ]
	[ "$("$ELOG" show -q --fields number -f 'instance == db' "$work/file.elog" | xargs)" = \
		"number=2 number=5" ]
	[ "$("$ELOG" show -q --fields number -f '!instance' "$work/file.elog" | xargs)" = \
		"number=1 number=4" ]
	[ "$("$ELOG" stat -q --by instance --sort name --format csv "$work/file.elog" |
		cut -d, -f1,3 | xargs)" = "-,2 db,2 web,3" ]
	# Exports.
	"$ELOG" export -q --format csv -o "$work/file.csv" "$work/file.elog"
	[ "$(grep -c ',web,' "$work/file.csv")" = 3 ]
	"$ELOG" export -q --format jsonl -o "$work/file.jsonl" "$work/file.elog"
	[ "$(grep -c '"instance":"db"' "$work/file.jsonl")" = 2 ]
	[ "$(grep -c '"instance":null' "$work/file.jsonl")" = 2 ]
	"$ELOG" export -q --format perfetto -o "$work/file.perfetto" "$work/file.elog"
	[ "$(grep -a -o 'web' "$work/file.perfetto" | wc -l)" = 3 ]
}

@test "instances: rotated files and a flight recorder have them, too" {
	"$ELOG" create --instance web
	"$ELOG" create --instance db
	start_elog capture --instances '*' -o "$work/file.elog" --rotate 64K
	emit_alternately
	"$ELOG" emit -D /dev/eventlog-web -n 1500 same/text 'char[80] text' text=x
	emit db 7
	stop_elog INT
	[ "$status" = 0 ]
	[ -e "$work/file.elog.1" ]
	"$ELOG" show -q -e same/name "$work"/file.elog* > "$work/shown"
	[ "$(events_of "$work/shown")" = "$alternate
db:same 7" ]

	start_elog capture --instances '*' --overwrite
	emit_alternately
	stop_elog INT
	[ "$status" = 0 ]
	[ "$(events_of "$work/out")" = "$alternate" ]
}

# Floods web while the capture is stopped, and emits one event in db.
flood()
{
	"$ELOG" emit -D /dev/eventlog-web -n 3000 same/name 'u32 number' number=1
	emit db 1
}

@test "instances: losses are counted for each instance" {
	"$ELOG" create --instance web
	"$ELOG" create --instance db
	start_elog capture --instances '*' --per-cpu-bytes 8K
	while_stopped "$started" flood
	wait_for grep -q 'lost .* of instance web' "$work/out"
	emit db 2
	stop_elog INT
	[ "$status" = 2 ]
	[ "$(grep -c 'of instance db' "$work/out")" = 0 ]
	[ "$(grep -c 'db:same' "$work/out")" = 2 ]
	contains "$(< "$work/err")" 'of instance web'
	contains "$(< "$work/err")" 'of web:same/name'
	run ! grep -q 'of instance db' "$work/err"

	start_elog capture --instances '*' --per-cpu-bytes 8K -o "$work/file.elog"
	while_stopped "$started" flood
	stop_elog INT
	[ "$status" = 2 ]
	run_elog show -q "$work/file.elog"
	[ "$status" = 2 ]
	echo "$output" > "$work/shown"
	grep -q 'lost .* of instance web' "$work/shown"
	[ "$(grep -c 'of instance db' "$work/shown")" = 0 ]
	[ "$("$ELOG" stat -q --by instance --format json "$work/file.elog" |
		grep '"instance":"db"' | sed 's/.*"lost":\([0-9]*\).*/\1/')" = 0 ]
	run_elog info -v "$work/file.elog"
	[ "$status" = 0 ]
	grep -q '^lost of instance web  *[1-9]' <<< "$output"
	run ! grep -q '^lost of instance db' <<< "$output"
}

@test "instances: a trigger takes the rings of all, and may be an event of any" {
	"$ELOG" create --instance web
	"$ELOG" create --instance db
	start_elog capture --instances '*' --overwrite --trigger same/failed -e same/name
	emit_alternately
	"$ELOG" emit same/failed
	wait_for grep -q 'db:same .*number=5' "$work/out"
	wait_for grep -q ' same .*number=4' "$work/out"
	wait_for grep -q 'web:same .*number=6' "$work/out"
	grep -qx '# snapshot 1: triggered' "$work/out"
	# An event of this name in an instance, also in a new one.
	emit db 7
	"$ELOG" emit -D /dev/eventlog-web same/failed
	wait_for grep -q 'db:same .*number=7' "$work/out"
	grep -qx '# snapshot 2: triggered' "$work/out"
	"$ELOG" delete --instance web
	"$ELOG" create --instance late
	wait_for is_captured late 2
	emit db 8
	"$ELOG" emit -D /dev/eventlog-late same/failed
	wait_for grep -q 'db:same .*number=8' "$work/out"
	grep -qx '# snapshot 3: triggered' "$work/out"
	stop_elog INT
	[ "$status" = 0 ]
	[ "$(grep -c triggered "$work/out")" = 3 ]
	[ "$(events_of "$work/out" | head -n 7)" = "$alternate" ]
}

@test "instances: one is created, and one is deleted, while a capture runs" {
	"$ELOG" create --instance web
	start_elog capture --instances '*'
	emit web 1
	"$ELOG" delete --instance web
	"$ELOG" create --instance db
	wait_for is_captured db
	emit db 2
	# A new instance of the same name.
	"$ELOG" create --instance web
	wait_for is_captured web
	emit web 3
	emit '' 4
	stop_elog INT
	[ "$status" = 0 ]
	[ "$(events_of "$work/out")" = "web:same 1
db:same 2
web:same 3
same 4" ]
}

# Has the instance a subscriber, or so many?
is_captured()
{
	[ "$("$ELOG" list --instances -q | awk -v name="$1" '$8 == name { print $6 }')" = "${2:-1}" ]
}

@test "instances: stat counts by instance" {
	"$ELOG" create --instance web
	"$ELOG" create --instance db
	start_elog stat --instances '*' --by instance --sort name --format csv
	emit_alternately
	stop_elog INT
	[ "$status" = 0 ]
	[ "$(cut -d, -f1,3 "$work/out" | xargs)" = "instance,events -,2 db,2 web,3" ]
}
