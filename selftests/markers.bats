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
