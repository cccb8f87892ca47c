#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The examples in Rust, Go and JavaScript, with real events, and wrong values in these
# languages and in Python. Needs the module. Where a language's compiler was not installed
# when make -C tools ran, its test is skipped.
#
# What a text that is too long does:
#
#			disabled		captured
#	by default	nothing			the event counts as invalid
#	ELOG_STRICT=1	an error		an error
#
#	language	tested in
#	Rust, Go	"a text that is too long", below
#	Python		the same, and tools/python/tests/test_device.py: all wrong arguments
#	C		tools/libelog/libelog_device_test.c: each error, and rings. C has no
#			exceptions: functions return the errors that their pages list
#	JavaScript	no binding: follow.js only reads, elog emit checks before it emits

load elog.bash

setup_file()
{
	find_built
	PATH=$EVENTLOG_TOOLS:$PATH
	export PYTHONPATH=$TREE/tools/python
	export LD_LIBRARY_PATH=$EVENTLOG_TOOLS${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# Captures what an example emits, with these fields, and checks that it says so while the event is disabled.
emits()
{
	local example=$EVENTLOG_TOOLS/examples/$1

	[ -x "$example" ] || skip "no compiler for $1"
	run_apart "$example"
	[ "$status" = 0 ]
	[ "$output" = "the event is disabled; try: elog capture -e hello -- ./hello" ]
	run_elog capture -q --fields "$2" -e hello -- "$example"
	[ "$status" = 0 ]
}

@test "examples: hello.rs emits an event with libelog" {
	emits hello_rs event,session,number,text
	[[ $output =~ ^event=rust\ session=0x[0-9a-f]{16}\ number=42\ text=\"hello,\ world\"$ ]]
}

@test "examples: hello.go emits an event without a library" {
	emits hello_go event,number,text
	[ "$output" = 'event=go number=42 text="hello, world"' ]
}

@test "examples: follow.js prints events as they happen" {
	command -v node > /dev/null || skip "node is not installed"
	run_apart timeout "$HANG_SECONDS" node "$TREE/tools/examples/follow.js" -e js -- \
		"$ELOG" emit -n 2 js/step 'u32 number; __data_loc char[] text' number=3 'text=a "b"'
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 3 ]
	[[ ${lines[0]} == *" js/step { number: 3, text: 'a \"b\"' }" ]]
	[ "${lines[2]}" = "2 js/step" ]
	run_apart timeout "$HANG_SECONDS" node "$TREE/tools/examples/follow.js" --nonsense
	[ "$status" = 1 ]
}

# too_long COMMAND...: a program that emits an event of provider hello with a text of 70000
# bytes. Without ELOG_STRICT it succeeds silently, except that it may hint at elog capture.
too_long()
{
	local text strict

	printf -v text '%070000d' 0
	for strict in '' 0; do
		run_apart env ELOG_STRICT="$strict" "$@" "$text"
		[ "$status" = 0 ]
		[ -z "$stderr" ]
		run_elog stat -e hello -- env ELOG_STRICT="$strict" "$@" "$text"
		[ "$status" = 0 ]
		[ "$(awk '$NF == "total" { print $2, $6, $7 }' <<< "$output")" = "0 0 1" ]
		contains "$stderr" "lost 0; 1 invalid record"
	done
	run_apart env ELOG_STRICT=1 "$@" "$text"
	[ "$status" = 1 ]
	contains "$stderr" text
	run_elog stat -e hello -- env ELOG_STRICT=1 "$@" "$text"
	[ "$status" = 1 ]
	contains "$stderr" text "lost 0"
	[ "$(awk '$NF == "total" { print $2, $6, $7 }' <<< "$output")" = "0 0 0" ]
}

@test "wrong values: a text that is too long does the same, captured or not: Rust" {
	[ -x "$EVENTLOG_TOOLS/examples/hello_rs" ] || skip "no compiler for Rust"
	too_long "$EVENTLOG_TOOLS/examples/hello_rs"
}

@test "wrong values: a text that is too long does the same, captured or not: Go" {
	[ -x "$EVENTLOG_TOOLS/examples/hello_go" ] || skip "no compiler for Go"
	too_long "$EVENTLOG_TOOLS/examples/hello_go"
}

@test "wrong values: a text that is too long does the same, captured or not: Python" {
	too_long python3 -c 'import sys, eventlog
eventlog.Event("hello/python u32 number; string text")(42, sys.argv[1])'
}

# Emits right and wrong events for each line that it reads, and says so.
steps='import eventlog
step = eventlog.Event("steps/step u8 number; string path")
span = eventlog.Span("steps/span u8 number", stop="u16 status")

@eventlog.traced("steps/call u8 path")
def call(path):
    return len(path)

try:
    while True:
        number = int(input())
        for i in range(100):
            step(i, "/"), step(i, i), step(i + 256, "/"), step(i), step(i, "/", 0)
            step(i, "x" * 65536), step.emit("session", (i, "/")), step(wrong=i)
            with span(str(i)) as running:
                running.set(status="200", other=1)
            call("path")
        try:
            call()
        except TypeError as error:
            print(number, error, flush=True)
except EOFError:
    print("end")
'

# Starts the program with input from a pipe and output in a file.
start_steps()
{
	mkfifo "$work/$1.in"
	python3 -c "$steps" < "$work/$1.in" > "$work/$1.out" 2> "$work/$1.err" 3>&- &
	program=$!
	background+=("$program")
	exec 8> "$work/$1.in"
}

step()
{
	echo "$2" >&8
	wait_for has_lines "$work/$1.out" "$2"
}

@test "wrong values: captures start and are killed, and a program does not notice" {
	local i

	start_steps quiet
	for i in 1 2 3 4 5; do
		step quiet $i
	done
	exec 8>&-
	status=0
	wait "$program" || status=$?
	[ "$status" = 0 ]
	[ ! -s "$work/quiet.err" ]
	has_lines "$work/quiet.out" 6

	for ELOG_RINGS in 0 1; do
		rm -f "$work"/observed.*
		start_steps observed
		step observed 1
		start_capture -e steps -o "$work/first"
		step observed 2
		stop_capture KILL
		step observed 3
		start_capture -e steps -o "$work/second"
		step observed 4
		stop_capture INT
		[ "$status" = 0 ]
		contains "$(< "$work/err")" "lost 0; " "invalid records" "of steps/step"
		step observed 5
		exec 8>&-
		status=0
		wait "$program" || status=$?
		[ "$status" = 0 ]
		cmp "$work/quiet.out" "$work/observed.out"
		[ ! -s "$work/observed.err" ]
		# One of the calls in a step is right.
		run_elog stat -q -e steps/step --by provider "$work/second"
		[ "$(awk '{ print $2; exit }' <<< "$output")" = 100 ]
	done
}
