#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog and programs where there is no module: with an engine, as a user without privileges. Runs on
# any machine; as root, the tests run as the user 65534.

load elog.bash

setup_file()
{
	TREE=$(cd "$BATS_TEST_DIRNAME/.." && pwd -P)
	export TREE
	export EVENTLOG_TOOLS=${EVENTLOG_TOOLS:-$TREE/build/tools}
	export ELOG=${ELOG:-$EVENTLOG_TOOLS/elog}
	export LD_LIBRARY_PATH=$EVENTLOG_TOOLS PYTHONPATH=$TREE/tools/python PYTHONDONTWRITEBYTECODE=1
	HANG_SECONDS=$((60 * $(slowness)))
	export HANG_SECONDS
	unset ELOG_DEVICE
}

setup()
{
	[ ! -e /dev/eventlog ] || skip "there is a device"
	# The directories of bats are of root only.
	work=$(mktemp -d)
	background=()
	export XDG_RUNTIME_DIR=$work/run
	socket=$XDG_RUNTIME_DIR/eventlog/engine
	mkdir "$XDG_RUNTIME_DIR"
	as_user=()
	[ "$(id -u)" != 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	[ "$(id -u)" != 0 ] || chown 65534:65534 "$work" "$XDG_RUNTIME_DIR"
	user test -x "$ELOG" || skip "$ELOG: the user cannot execute it"
}

teardown()
{
	end_background
	[ -z "${work-}" ] || kill_all engines
	rm -rf "${work-}"
}

user()
{
	"${as_user[@]}" "$@"
}

# Prints the processes of the engines of this test.
engines()
{
	comm -12 <(pgrep -x elog-engine | sort) \
		<(processes_with "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" | sort)
}

# Starts elog in the background, with output in $work/NAME.out and .err; sets $started.
start()
{
	: > "$work/$1.err"
	"${as_user[@]}" "$ELOG" "${@:2}" > "$work/$1.out" 2> "$work/$1.err" 3>&- &
	started=$!
	background+=("$started")
}

# Starts a capture; returns when it captures.
start_capture_of()
{
	start "$1" capture -v "${@:2}"
	wait_for has_begun "$work/$1.err" 'elog: capturing'
}

# Starts a program that emits an event for each number that it reads, and prints how; sets $program.
start_program()
{
	local python

	# One in a home directory is not for others.
	for python in "${PYTHON:-python3}" /usr/bin/python3 ''; do
		[ -n "$python" ] || skip "there is no python3 for the user"
		if user "$python" --version > /dev/null 2>&1; then
			break
		fi
	done
	mkfifo -m 666 "$work/lines"
	: > "$work/program"
	"${as_user[@]}" "$python" -u -c '
import eventlog, sys
tick = eventlog.Event("program/tick u32 number")
print("ready")
for line in sys.stdin:
    for word in line.split():
        first, _, last = word.partition("-")
        for number in range(int(first), int(last or first) + 1):
            tick(number=number)
    print("did", line.strip())
' < "$work/lines" >> "$work/program" 2>&1 3>&- &
	program=$!
	background+=("$program")
	exec 8> "$work/lines"
	wait_for has_begun "$work/program" ready
}

# Lets it emit, and waits until it has.
emit()
{
	: > "$work/program"
	echo "$*" >&8
	wait_for grep -qxF "did $*" "$work/program"
}

numbers()
{
	"$ELOG" show -q "$@" | sed -n 's/.* tick.* number=//p' | tr '\n' ' '
}

nothing_is_left()
{
	[ ! -e "$socket" ] && [ -z "$(engines)" ]
}

@test "engine: the first capture starts it, and it ends by itself" {
	run_apart user "$ELOG" capture -- "$EVENTLOG_TOOLS/examples/kiosk" 1
	[ "$status" = 0 ]
	contains "$stderr" "elog: /dev/eventlog: " " records the events of your programs" \
		"need the module eventlog" "elog: 2 events in " "lost 0"
	# CPU TID COMM TIMESTAMP PROVIDER SESSION EVENT FIELD=VALUE...
	columns='^ *[0-9-]+ [0-9a-f]+ kiosk +[0-9]+\.[0-9]{9} kiosk 0x1 '
	[[ ${lines[1]} =~ ${columns}arrived\ name=\"Alice\"$ ]]
	[[ ${lines[2]} =~ ${columns}sold\ +fruit=APPLE\ count=2 ]]
	wait_for nothing_is_left

	# The same from a file.
	run_apart user "$ELOG" capture -q -o "$work/file" -- "$EVENTLOG_TOOLS/examples/kiosk" 1
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	run_apart "$ELOG" show "$work/file"
	[ "$status" = 0 ]
	[[ ${lines[0]} =~ ${columns}arrived\ name=\"Alice\"$ ]]
	[ ${#lines[@]} = 2 ]
	# COMMAND decides on the status.
	run_apart user "$ELOG" capture -q -- sh -c 'echo "$ELOG_DEVICE"; exit 7'
	[ "$status" = 7 ]
	[ "$output" = "$socket" ]
	wait_for nothing_is_left
}

@test "engine: two captures, list, stat and info at once; one capture is killed" {
	start_program
	# What the program emits before anyone listens is not recorded, and does not wait.
	emit 1
	start_capture_of first -o "$work/first"
	first=$started
	start_capture_of second -o "$work/second" -f 'number > 3'
	second=$started
	[ "$(engines | wc -l)" = 1 ]
	# The program looks for an engine once a second.
	wait_for sees_program
	emit 2 3 4
	run_apart user "$ELOG" list
	[ "$status" = 0 ]
	contains "$output" "enabled" "program/tick" "u32 number"
	run_apart user "$ELOG" info
	[ "$status" = 0 ]
	contains "$output" "engine " ", process $(engines)" "device                      $socket" \
		"weaker than the module" "subscribers                 2"
	run_apart user "$ELOG" info --format json -v
	[ "$status" = 0 ]
	contains "$output" "\"engine\":$(engines)," "\"device\":\"$socket\"" "program/tick"
	run_apart user "$ELOG" stat -d 0.1
	[ "$status" = 0 ]
	kill -KILL "$first"
	wait_for has_subscribers 1
	emit 5
	kill -INT "$second"
	started=$second
	wait_elog
	[ "$status" = 0 ]
	[[ $(numbers "$work/second") == "4 5 " ]]
	exec 8>&-
	wait "$program"
	wait_for nothing_is_left
}

# Has the program registered its event with the engine?
sees_program()
{
	emit 0
	user "$ELOG" list -q | grep -q program/tick
}

has_subscribers()
{
	user "$ELOG" info | grep -qE "^subscribers +$1$"
}

@test "engine: if it is killed, captures keep their files, and programs find the next one" {
	start_program
	start_capture_of first -o "$work/first"
	wait_for sees_program
	emit 1 2 3
	wait_for has_number 3
	kill -KILL "$(engines)"
	wait_elog
	[ "$status" = 1 ]
	contains "$(< "$work/first.err")" "$socket: the engine was ended"
	[[ $(numbers "$work/first") == *"1 2 3 " ]]
	run_apart "$ELOG" info "$work/first"
	[ "$status" = 0 ]
	emit 4
	# Of a dead engine is left a socket that refuses.
	[ -S "$socket" ]
	run_apart user "$ELOG" list
	[ "$status" = 1 ]
	contains "$stderr" "the kernel module eventlog is not loaded" "elog capture -- COMMAND"
	start_capture_of second -o "$work/second"
	# Until the program has found the new engine, its events are counted.
	wait_for sees_program
	emit 5 6
	kill -INT "$started"
	wait_elog
	[ "$status" = 2 ]
	[[ $(< "$work/second.err") =~ lost\ [0-9]+:\ away ]]
	[[ $(numbers "$work/second") == *"5 6 " ]]
	exec 8>&-
	wait "$program"
	wait_for nothing_is_left
}

# How many events does the capture say that it has lost?
counted()
{
	sed -n 's/.*, lost \([0-9]*\).*/\1/p' "$work/first.err"
}

# Ends the capture, which must have each number up to $1, or have counted it as late.
check_late()
{
	kill -INT "$started"
	wait_elog
	# Events were lost, and counted.
	[ "$status" = 2 ]
	contains "$(< "$work/first.err")" "lost $(counted): late $(counted)" "of program/tick"
	[[ $(numbers "$work/first") == *"1 2 3 4 5 "* ]]
	kept=$(numbers "$work/first" | tr ' ' '\n' | grep -c '[1-9]')
	[ $((kept + $(counted))) = "$1" ]
}

# Starts a program and a capture, and stops their engine; sets $engine.
stop_engine()
{
	start_program
	start_capture_of first -o "$work/first"
	wait_for sees_program
	emit 1 2 3
	wait_for has_number 3
	engine=$(engines)
	kill -STOP "$engine"
}

@test "engine: programs do not wait while it is stopped, and each event is kept or counted" {
	stop_engine
	# More than fits in a ring.
	emit 4-30000
	kill -CONT "$engine"
	wait_for has_number 4
	emit 30001
	wait_for has_number 30001
	check_late 30001
	exec 8>&-
	wait "$program"
	wait_for nothing_is_left
}

@test "engine: what a program has counted is not forgotten when it is killed" {
	stop_engine
	emit 4-30000
	kill -KILL "$program"
	exec 8>&-
	wait "$program" || :
	kill -CONT "$engine"
	check_late 30000
	wait_for nothing_is_left
}

# Has the capture written this event of the program?
has_number()
{
	"$ELOG" show -q "$work/first" 2> /dev/null | grep -q "number=$1\$"
}

@test "engine: with COMMAND, a killed engine is an error, and COMMAND goes on" {
	mkfifo -m 666 "$work/lines"
	start capture capture -o "$work/file" -- sh -c 'echo begun; read -r line < "$0/lines"' "$work"
	wait_for has_begun "$work/capture.out" begun
	kill -KILL "$(engines)"
	wait_for grep -q "goes on" "$work/capture.err"
	echo > "$work/lines"
	wait_elog
	[ "$status" = 1 ]
	contains "$(< "$work/capture.err")" "$socket: the engine was ended" "sh goes on"
}

@test "engine: elog engine stays until a signal, and one serves a directory" {
	start engine engine "$work/run/own"
	engine=$started
	wait_for has_begun "$work/engine.out" "$work/run/own/engine"
	run_apart user "$ELOG" engine "$work/run/own"
	[ "$status" = 1 ]
	contains "$stderr" "an engine serves it already"
	export ELOG_DEVICE=$work/run/own/engine
	run_apart user "$ELOG" capture -q -- "$EVENTLOG_TOOLS/examples/kiosk" 1
	[ "$status" = 0 ]
	contains "$output" "kiosk 0x1 arrived"
	kill "$engine"
	started=$engine
	wait_elog
	[ "$status" = 0 ]
	[ ! -e "$ELOG_DEVICE" ]
	# One that the user has named is the one to use.
	run_apart user "$ELOG" capture
	[ "$status" = 1 ]
	contains "$stderr" "the kernel module eventlog is not loaded"
	unset ELOG_DEVICE
	mkdir -m 777 "$work/run/open"
	run_apart user "$ELOG" engine "$work/run/open"
	[ "$status" = 1 ]
	contains "$stderr" "$work/run/open: not a directory that only this user can write to"
}

@test "engine: what needs the module says so" {
	start_capture_of first -o "$work/first"
	for arguments in "list --instances" "create --instance web" "delete --instance web" \
		"capture --instances *"; do
		set -f
		# shellcheck disable=SC2086 # several words
		run_apart user "$ELOG" $arguments
		set +f
		[ "$status" = 1 ]
		contains "$stderr" "instances need the kernel module"
	done
	run_apart user "$ELOG" marker enable --module tcp any
	[ "$status" = 1 ]
	contains "$stderr" "markers of kernel modules need the kernel module"
	run_apart user timeout "$HANG_SECONDS" "$ELOG" capture -e sched -- true
	[ "$status" = 0 ]
	contains "$stderr" "events of the kernel, such as those of sched, proc and tcp, need the kernel"
}

@test "engine: programs and captures of other users are not served" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	start_capture_of first -o "$work/first"
	# Not through the directory; and not if the socket is let through, either.
	run_apart setpriv --reuid=65533 --clear-groups "$ELOG" capture -D "$socket" -- true
	[ "$status" = 1 ]
	chmod 755 "$XDG_RUNTIME_DIR/eventlog"
	chmod 777 "$socket"
	run_apart setpriv --reuid=65533 --clear-groups "$ELOG" capture -D "$socket" -- true
	[ "$status" = 1 ]
}
