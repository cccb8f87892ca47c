#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Markers of programs and of modules, from the command line. Needs root.

load elog.bash

setup_file()
{
	find_built
	export TEAHOUSE=$EVENTLOG_TOOLS/examples/teahouse
	export MODULES=${EVENTLOG_KO%/*}/module/ktest
}

setup()
{
	begin
}

teardown()
{
	end_background
	rmmod eventlog_marker_example 2> /dev/null || true
}

@test "programs: every marker that is passed is an event" {
	run_elog capture -e 'markers_teahouse' -o "$work/file" -- "$TEAHOUSE" 2
	[ "$status" = 0 ]
	contains "$output" "2 evaluated"
	run_elog show --fields event,fields "$work/file"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 15 ]
	contains "${lines[0]}" "event=opened fields={\"guests\":2,\"argv_0\":\"$TEAHOUSE\"}"
	contains "$output" 'event=serve fields={"order_guest":"Alice","order_number":1,"order_cups":2,"order_milk":1,"order_celsius":-5,"order":'
	contains "$output" 'event=drink_2 fields={"order_guest":"Alice","with_milk":1}'
	contains "$output" 'event=numbers fields={"signed_char_1":-1,"_0xffffU":65535,"_1L":-1,"_0x1ffff":65535,"_1ULL_40":1099511627776}'
	contains "${lines[14]}" 'event=closed fields={"guests":2}'
}

@test "programs: what nobody wants is not evaluated" {
	run "$TEAHOUSE" 5
	[ "$output" = "0 evaluated" ]
	run_elog capture -e 'markers_teahouse/served' -- "$TEAHOUSE" 3
	[ "$status" = 0 ]
	contains "$output" "0 evaluated"
	[ "$(grep -c 'markers_teahouse - served' <<< "$output")" = 3 ]
}

@test "programs: without the module, and when it comes later" {
	rmmod eventlog
	run "$TEAHOUSE" 3
	[ "$output" = "0 evaluated" ]
	ELOG_MARKERS='served=print' run "$TEAHOUSE" 2
	contains "$output" "served examples/teahouse.c:serve:3:"
	insmod "$EVENTLOG_KO"
}

# Starts a program that has its markers registered and goes on; $started is its process.
start_teahouse()
{
	"$@" 4000000000 > /dev/null 2> "$work/printed" 3>&- &
	started=$!
	background+=("$started")
	wait_for "$ELOG" marker list -q --module "${1##*/}" opened
}

@test "programs: listed with their places while they run" {
	cp "$TEAHOUSE" "$work/kettle"
	export LD_LIBRARY_PATH=$EVENTLOG_TOOLS
	start_teahouse "$work/kettle"
	# Whatever becomes of the file.
	rm "$work/kettle"
	ELOG_MARKERS='drink=trace+print,serve=' start_teahouse "$TEAHOUSE"
	run_elog marker list
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	[ "${#lines[@]}" = 19 ]
	contains "$output" " kettle/drink            examples/teahouse.c:drink:1  string order_guest; u8 with_milk"
	[ "$(grep -c '^print,trace  *print  *teahouse/drink ' <<< "$output")" = 2 ]
	[ "$(grep -c '^-  *-  *teahouse/serve ' <<< "$output")" = 1 ]
	run_elog marker list --tree --module 'k*' 'drink*' opened
	[ "$status" = 0 ]
	[ "$output" = "kettle
  examples/teahouse.c
    drink
      drink (0, trace)
      drink (1, trace)
    main
      opened (0, trace)" ]
	elog marker list --format json --module teahouse > "$work/json"
	elog marker list --format json "$TEAHOUSE" > "$work/file"
	python3 -c '
import json, sys
live, file = ([json.loads(line) for line in open(name)] for name in sys.argv[2:])
assert len(live) == len(file) == 9
for a, b in zip(live, file):
    assert a["program"] == "teahouse" and b["file"] == "teahouse", (a, b)
    assert a["pids"] == [int(sys.argv[1])] and a["descriptor"] > 0, a
    for name in "tag", "event", "path", "function", "ordinal", "line", "id", "fields":
        assert a[name] == b[name], (a, b)
' "$started" "$work/json" "$work/file"
	# What somebody subscribes to is at work.
	start_elog capture -e 'markers_kettle/served' -o "$work/captured"
	[ "$(elog marker list -q --module kettle | grep -c '^trace  *trace ')" = 1 ]
	[ "$(elog marker list -q --module teahouse | grep -c '^trace  *trace ')" = 0 ]
}

@test "programs: those of other users, of other file systems" {
	# shellcheck disable=SC2016 # for the other shell
	unshare -m sh -c 'mount -t tmpfs none /mnt && mkdir /mnt/own &&
		cp "$1" /mnt/own/kettle && LD_LIBRARY_PATH=$2 exec /mnt/own/kettle 4000000000' \
		sh "$TEAHOUSE" "$EVENTLOG_TOOLS" > /dev/null 3>&- &
	started=$!
	background+=("$started")
	wait_for "$ELOG" marker list -q --module kettle opened
	[ ! -e /mnt/own ]
	run_elog marker list -q
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 9 ]
	contains "$output" "kettle/opened           examples/teahouse.c:main:0"
	chmod 666 /dev/eventlog
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps=-all,+perfmon --ambient-caps=-all,+perfmon "$ELOG" marker list
	chmod 600 /dev/eventlog
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 10 ]
	contains "$output" "kettle/opened           -  u32 guests; string argv_0"
	contains "$stderr" "may not be looked into"
}

@test "programs: markers are static probes" {
	local sdt='#include <sys/sdt.h>'

	# shellcheck disable=SC2086 # maybe several words
	${CC:-gcc} -E - <<< "$sdt" > /dev/null 2>&1 || skip "there is no <sys/sdt.h>"
	command -v perf > /dev/null || skip "there is no perf"
	[ -e /sys/kernel/tracing/uprobe_events ] || mount -t tracefs none /sys/kernel/tracing
	[ -e /sys/kernel/tracing/uprobe_events ] || skip "the kernel has no uprobes"
	# shellcheck disable=SC2086 # maybe several words
	${CC:-gcc} -O2 -DELOG_MARKER_USDT -I"$TREE/tools/libelog" -I"$TREE/uapi" \
		-o "$work/teapot" "$TREE/tools/examples/teahouse.c" -L"$EVENTLOG_TOOLS" -lelog \
		-Wl,-rpath,"$EVENTLOG_TOOLS"
	export HOME=$work
	cd "$work"
	[ "$(./teapot 3)" = "0 evaluated" ]
	perf buildid-cache --add ./teapot
	perf list sdt | grep -q sdt_elog:opened
	perf probe -q sdt_elog:evaluated
	run perf record -q -o data -e 'sdt_elog:evaluated' ./teapot 3
	[ "$output" = "3 evaluated" ]
	run --separate-stderr perf script -i data
	perf probe -q -d 'sdt_elog:*'
	[ "${#lines[@]}" = 3 ]
	contains "${lines[2]}" "arg1=2"
	# And nobody is attached any more.
	[ "$(./teapot 3)" = "0 evaluated" ]
}

@test "programs: switched from outside, now and later" {
	run_elog marker enable --program kettle --handler print served
	[ "$status" = 0 ]
	contains "$stderr" "0 markers, 0 changed"
	cp "$TEAHOUSE" "$work/kettle"
	export LD_LIBRARY_PATH=$EVENTLOG_TOOLS
	run --separate-stderr "$work/kettle" 2
	[ "$output" = "0 evaluated" ]
	[ "$(grep -c '^served examples/teahouse.c:serve:3:' <<< "$stderr")" = 2 ]
	run --separate-stderr "$TEAHOUSE" 2
	[ -z "$stderr" ]
	start_teahouse "$TEAHOUSE"
	[ ! -s "$work/printed" ]
	run_elog marker enable --program 'tea*' evaluated 'drink*'
	[ "$status" = 0 ]
	contains "$stderr" "3 markers, 3 changed"
	wait_for grep -q '^evaluated .* evaluate_order_number=' "$work/printed"
	run_elog marker list evaluated served
	[ "$(grep -c '^print,trace  *print  *teahouse/evaluated ' <<< "$output")" = 1 ]
	[ "$(grep -c '^trace  *-  *teahouse/served ' <<< "$output")" = 1 ]
	run_elog marker disable --program teahouse 'drink*'
	[ "$status" = 0 ]
	[ "$(elog marker list -q drink | grep -c '^trace ')" = 2 ]
	run_elog marker wishes -q
	[ "$status" = 0 ]
	[ "$(sed 's/  */ /g' <<< "$output")" = "print kettle/served
print tea*/evaluated
print tea*/drink*
- teahouse/drink*" ]
	# Kept in a set, as at boot: before the programs start.
	elog marker save -q "$work/set"
	elog marker disable -q --program '*' '*'
	run_elog marker wishes --format json
	[ "$status" = 0 ]
	[ -z "$output" ]
	[ "$(elog marker list -q evaluated | grep -c '^trace ')" = 1 ]
	end_background
	background=()
	run_elog marker restore "$work/set"
	[ "$status" = 0 ]
	elog marker save -q "$work/again"
	cmp "$work/set" "$work/again"
	run --separate-stderr "$TEAHOUSE" 1
	[ "$(grep -c '^evaluated ' <<< "$stderr")" = 1 ]
	[ "$(grep -c '^drink ' <<< "$stderr")" = 0 ]
	[ "$output" = "1 evaluated" ]
	head -n -2 "$work/set" > "$work/short"
	printf 'elog markers 1\nwish\ttrace\tx\ty\n1 markers\n' > "$work/bad"
	printf 'elog markers 1\nwish\tprint\tx\n1 markers\n' > "$work/torn"
	elog marker disable -q --program '*' '*'
	for file in short bad torn; do
		run_elog marker restore "$work/$file"
		[ "$status" = 1 ]
		[ -z "$(elog marker wishes -q)" ]
	done
	run_elog marker enable --program x --handler trace y
	fails_with 1 "whenever somebody subscribes"
	run_elog marker enable --program x --module y z
	fails_with 1 "do not go together"
	run_elog marker enable --program x
	fails_with 1 "pattern"
}

@test "files: what a module says when it is loaded is in its file" {
	insmod "$MODULES/eventlog_marker_example.ko"
	elog marker list --format json > "$work/loaded"
	elog marker list --format json "$MODULES/eventlog_marker_example.ko" > "$work/file"
	python3 -c '
import json, sys
loaded, file = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
key = lambda marker: [marker[name] for name in ("path", "function", "ordinal", "tag",
    "line", "id", "defaults", "allowed")]
assert len(loaded) == len(file) == 11
assert sorted(map(key, loaded)) == sorted(map(key, file)), (loaded, file)
' "$work/loaded" "$work/file"
}

@test "modules: listed, as a tree, as JSON" {
	fails_with "no marker" marker list
	insmod "$MODULES/eventlog_marker_example.ko"
	run_elog marker list
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 12 ]
	contains "$output" "eventlog_marker_example/only_traced"
	contains "$output" "module/ktest/marker_example.c:serve:3"
	run_elog marker list -q 'only_*' '*:drink:1'
	[ "${#lines[@]}" = 2 ]
	fails_with "no marker" marker list --module 'no*'
	run_elog marker list --tree
	[ "$status" = 0 ]
	contains "$output" "eventlog_marker_example
  module/ktest/marker_example.c
    drink
      drink (0, trace)
      drink (1, trace)
    serve
      order (0, trace)"
	run_elog marker list --format json order
	python3 -c '
import json, sys
marker = json.loads(sys.argv[1])
assert marker["module"] == "eventlog_marker_example", marker
assert marker["tag"] == "order" and marker["ordinal"] == 0, marker
assert marker["path"] == "module/ktest/marker_example.c", marker
assert marker["function"] == "serve" and marker["line"] > 0, marker
assert marker["handlers"] == ["trace"] and marker["active"] == [], marker
assert marker["allowed"] == ["print", "trace", "probe"], marker
value = 0xcbf29ce484222325
for byte in b"module/ktest/marker_example.c:serve:0":
    value = (value ^ byte) * 0x100000001b3 % 2**64
assert int(marker["id"], 16) == value, marker
' "$output"
}

@test "modules: switched by pattern" {
	insmod "$MODULES/eventlog_marker_example.ko"
	run_elog marker enable --handler print,probe evaluated '*:drink:*'
	[ "$status" = 0 ]
	contains "$stderr" "3 markers, 3 changed"
	run_elog marker list -q evaluated drink
	[ "$(grep -c '^print,trace,probe ' <<< "$output")" = 2 ]
	[ "$(grep -c '^print,probe ' <<< "$output")" = 1 ]
	echo 3 > /sys/module/eventlog_marker_example/parameters/serve
	[ "$(cat /sys/module/eventlog_marker_example/parameters/evaluated)" = 1 ]
	dmesg | grep -q 'eventlog: evaluated module/ktest/marker_example.c:serve:2: evaluate_order_number=1'
	run_elog marker disable evaluated
	[ "$status" = 0 ]
	echo 3 > /sys/module/eventlog_marker_example/parameters/serve
	[ "$(cat /sys/module/eventlog_marker_example/parameters/evaluated)" = 1 ]
	fails_with "do not allow" marker enable --handler print only_traced
	fails_with "no marker" marker enable 'no such'
	fails_with "pattern" marker enable
	fails_with "nonsense" marker enable --handler nonsense '*'
	fails_with "nonsense" marker nonsense
	run_elog marker
	[ "$status" = 1 ]
}

@test "modules: a set is saved and restored" {
	insmod "$MODULES/eventlog_marker_example.ko"
	elog marker enable -q --handler print 'serve*' nothing
	elog marker disable -q 'drink'
	run_elog marker save "$work/set"
	[ "$status" = 0 ]
	elog marker list > "$work/before"
	elog marker disable -q '*'
	! elog marker list | cmp -s - "$work/before"
	run_elog marker restore "$work/set"
	[ "$status" = 0 ]
	elog marker list | diff "$work/before" -
	# Of a module that is not there.
	rmmod eventlog_marker_example
	run_elog marker restore "$work/set"
	[ "$status" = 0 ]
	contains "$stderr" "11 are not there"
	insmod "$MODULES/eventlog_marker_example.ko"
	elog marker restore "$work/set"
	elog marker list | diff "$work/before" -
	# A file that is none, or is cut off, changes nothing.
	head -c 30 "$work/set" > "$work/short"
	printf 'nonsense\n' > "$work/nonsense"
	{ cat "$work/set"; printf 'shout\t*\t1\tx\tx\n'; } > "$work/bad"
	elog marker disable -q '*'
	elog marker list > "$work/off"
	for file in short nonsense bad missing; do
		run_elog marker restore "$work/$file"
		[ "$status" = 1 ]
		elog marker list | diff "$work/off" -
	done
	run_elog marker save /no/such/directory/file
	[ "$status" = 1 ]
}
