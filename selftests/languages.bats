#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The examples in Rust, Go and JavaScript, with real events, wrong values in these
# languages and in Python, and lines of any program, with emit --stdin. Needs the module.
# Where a language's compiler was not installed when make -C tools ran, its test is skipped.
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

# Captures what emit --stdin makes of $work/input; sets $lines, $emit_status and $messages.
emits_lines()
{
	run_elog capture -q -o "$work/lines" -e lines -- bash -c '
		"$ELOG" emit --stdin"$1" "${@:2}" lines/log < "$0" 2> "$0.err"
		echo $? > "$0.status"' "$work/input" "$@"
	[ "$status" = 0 ]
	emit_status=$(< "$work/input.status")
	messages=$(< "$work/input.err")
	run_elog show --fields level,session,fields "$work/lines"
	[ "$status" = 0 ]
	mapfile -t lines <<< "$output"
}

@test "emit: lines of text become events" {
	printf 'one\r\ntwo "q"\n\nnul\0x\n\xff\n%032768d\n%01048577d\nlast' 0 0 > "$work/input"
	emits_lines "" -v -l warning -s 7
	[ "$emit_status" = 0 ]
	[ "$messages" = "  emitted 8 of 8 lines as lines/log" ]
	[ "${lines[0]}" = 'level=warning session=0x7 fields={"logger":"","message":"one","fields":""}' ]
	contains "${lines[1]}" '"message":"two \"q\""'
	contains "${lines[2]}" '"message":""'
	contains "${lines[3]}" '"message":"nul\\x00x"'
	contains "${lines[4]}" $'"message":"\uFFFD"'
	contains "${lines[5]}" '00","fields"'
	contains "${lines[6]}" '00 ... (1015809 bytes more)","fields"'
	contains "${lines[7]}" '"message":"last"'

	fails_with "--stdin: invalid argument 'xml': must be one of text, json" emit --stdin=xml a/b
	fails_with "--stdin takes only PROVIDER/EVENT" emit --stdin a/b 'u8 x' x=1
	fails_with "--stdin goes without --wait and -n" emit --stdin -n 2 a/b
	fails_with "invalid name of an event" emit --stdin $'o\033ne' < /dev/null
	fails_with "stdin: Is a directory" emit --stdin a/b < /
	run_apart bash -c '"$ELOG" emit --stdin a/b <&-'
	[ "$status" = 1 ]
	contains "$stderr" "stdin: Bad file descriptor"
}

@test "emit: JSON objects become events, and other lines too" {
	local levels level

	cat <<-'LINES' > "$work/input"
	{"level":30,"time":1,"msg":"caf\u00e9\u0000","a":{"b":[1.5,null]},"name":"shop"}
	{"severity":"ERROR","logger":7,"message":{"a":[]},"msg":"x"}

	{"level":"odd"}
	plain
	{"message":"x",}
	LINES
	emits_lines =json -v
	[ "$emit_status" = 0 ]
	contains "$messages" "emitted 5 of 6 lines" \
		"2 of 6 lines are no JSON objects, first line 5"
	contains "${lines[0]}" 'level=info session=- fields={"logger":"shop","message":"café\\x00",' \
		'"fields":"{\"time\": 1, \"a\": {\"b\":[1.5,null]}}"}'
	contains "${lines[1]}" 'level=error session=- fields={"logger":"","message":"{\"a\":[]}",' \
		'"fields":"{\"logger\": 7, \"msg\": \"x\"}"}'
	contains "${lines[2]}" '"message":"","fields":"{\"level\": \"odd\"}"'
	contains "${lines[3]}" '"message":"plain"'
	contains "${lines[4]}" '"message":"{\"message\":\"x\",}"'
	emits_lines =json --strict
	[ "$emit_status" = 1 ]

	# Levels of pino, of syslog, and words.
	for level in 10 20 30 40 50 60 0 3 4 5 6 7 '"trace"' '"Warn"' '"FATAL"' '"notice"' '"3"'; do
		echo "{\"level\":$level}"
	done > "$work/input"
	emits_lines =json
	levels=$(sed 's/level=\(....\).*/\1/' <<< "$output" | paste -sd ' ')
	[ "$levels" = "verb debu info warn erro crit $(
		)crit erro warn noti info debu verb warn crit noti erro" ]

	# Too large, or too deep. The event may be disabled.
	{ printf '{"msg":"%010000000d"}\n' 0
	  printf '{"msg":"%040000d","a":"%030000d","b":1}\n' 0 0
	  printf '{"a":%0100d}\n' 0 | tr 0 '['
	} > "$work/input"
	emits_lines =json
	contains "$messages" "2 of 3 lines are no JSON objects, first line 1"
	contains "${lines[0]}" '"message":"{\"msg\":\"00' ' ... (9967242 bytes more)"'
	contains "${lines[1]}" '00 ... (7232 bytes more)","fields":"{\"b\": 1, \"truncated\": 1}"'
	contains "${lines[2]}" '"message":"{\"a\":[['
	run_apart "$ELOG" emit --stdin=json lines/log < "$work/input"
	[ "$status" = 0 ]
	contains "$stderr" "2 of 3 lines are no JSON objects"
}

@test "emit: a signal ends the lines with a count" {
	local signal emitter

	for signal in INT TERM; do
		rm -f "$work/pipe"
		mkfifo "$work/pipe"
		start_capture -e lines
		"$ELOG" emit --stdin -v lines/log < "$work/pipe" 2> "$work/emit" 3>&- &
		emitter=$!
		background+=("$emitter")
		exec 8> "$work/pipe"
		printf 'whole\nhalf' >&8
		wait_for grep -q 'message="whole"' "$work/out"
		kill "-$signal" "$emitter"
		status=0
		wait "$emitter" || status=$?
		exec 8>&-
		[ "$status" = 0 ]
		[ "$(< "$work/emit")" = "  emitted 1 of 1 lines as lines/log" ]
		stop_capture INT
	done
}

# A program that writes its last line when it gets the key.
last_line='import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print("first", flush=True)
signal.sigwait([signal.SIGINT])
print("last")'

# Runs a command on a terminal, and types Ctrl-C when the file has a writer.
type_interrupt='import os, pty, sys
child, terminal = pty.fork()
if not child:
    os.execvp(sys.argv[2], sys.argv[2:])
open(sys.argv[1]).close()
os.write(terminal, b"\3")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))'

@test "emit: the key that ends a pipeline leaves its last lines" {
	mkfifo "$work/key"
	start_capture -e lines
	last_line=$last_line python3 -c "$type_interrupt" "$work/key" bash -o pipefail -c '
		python3 -c "$last_line" | "$ELOG" emit --stdin -v lines/log 2> "$0"' \
		"$work/emit" 3>&- &
	started=$!
	background+=("$started")
	wait_for grep -q 'message="first"' "$work/out"
	: > "$work/key"
	wait_elog
	[ "$status" = 0 ]
	[ "$(< "$work/emit")" = "  emitted 2 of 2 lines as lines/log" ]
	stop_capture INT
	contains "$(< "$work/out")" 'message="last"'
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
