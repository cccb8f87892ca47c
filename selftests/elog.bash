# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Functions for tests of the elog command.
#
# EVENTLOG_MODULE	eventlog.ko, which tests unload and load again
# EVENTLOG_TOOLS	what make -C tools built (default: build/tools)
# ELOG			the command (default: that in EVENTLOG_TOOLS)
#
# The DEBUG trap of bats takes longer than most commands. After "local -; set +T" functions
# run without it. If such a function fails, bats reports the line of its caller.

bats_require_minimum_version 1.5.0

# shellcheck source=selftests/slowness.bash
. "$BATS_TEST_DIRNAME/slowness.bash"
# shellcheck source=selftests/recover.bash
. "$BATS_TEST_DIRNAME/recover.bash"

# For setup_file: sets the paths.
find_built()
{
	TREE=$(cd "$BATS_TEST_DIRNAME/.." && pwd -P)
	export TREE
	export EVENTLOG_BUILD=${EVENTLOG_BUILD:-$TREE/build}
	export EVENTLOG_TOOLS=${EVENTLOG_TOOLS:-$EVENTLOG_BUILD/tools}
	export EVENTLOG_KO=${EVENTLOG_KO:-${EVENTLOG_MODULE:-$EVENTLOG_BUILD/$(uname -r)/eventlog.ko}}
	export ELOG=${ELOG:-$EVENTLOG_TOOLS/elog}
	# A command that takes longer hangs.
	export HANG_SECONDS=$((300 * $(slowness)))
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# For setup: sets $work to a directory, and background to the processes to end.
begin()
{
	# A test that failed may have left it unloaded.
	[ -d /sys/module/eventlog ] || insmod "$EVENTLOG_KO"
	work=$BATS_TEST_TMPDIR
	background=()
	# Tests know the CPUs of events and the rings that fill up. Only mapped.bats lets
	# programs emit through rings of their threads.
	export ELOG_RINGS=0
}

# Loads the module that makes user_events_data; skips the test if the kernel has user_events.
load_user_events()
{
	[ ! -e /sys/kernel/tracing/user_events_data ] || return 0
	insmod "${EVENTLOG_KO%/*}/eventlog_user_events.ko" ||
		skip "the module makes no user_events_data"
}

# For teardown, when no process uses it any more.
unload_user_events()
{
	[ ! -d /sys/module/eventlog_user_events ] || wait_for rmmod eventlog_user_events
}

# For teardown: kills processes; after a failure, all that the test has started.
end_background()
{
	local pid

	for pid in "${background[@]}"; do
		kill -KILL "$pid" 2> /dev/null || true
		wait "$pid" 2> /dev/null || true
	done
	if [ -n "${BATS_TEARDOWN_STARTED-}" ] && [ -z "${BATS_TEST_COMPLETED-}" ]; then
		kill_all processes_of_case
	fi
}

# Its descendants, and those that have lost their parents but not their environment.
processes_of_case()
{
	descendants_of $$
	processes_with "BATS_TEST_TMPDIR=$BATS_TEST_TMPDIR"
}

# Files that need more define these functions themselves.
setup_file()
{
	find_built
}

setup()
{
	begin
}

teardown()
{
	end_background
}

elog()
{
	"$ELOG" "$@"
}

# Runs elog: sets $status, $output (stdout), $stderr, ${lines[@]}. Verbs that may wait have
# a time limit.
run_elog()
{
	local -

	set +T
	case $1 in
	show|list|info|create|delete)
		[[ " $* " == *" --follow "* ]] || set -- "$ELOG" "$@"
		;;
	esac
	[ "$1" = "$ELOG" ] || set -- timeout "$HANG_SECONDS" "$ELOG" "$@"
	keep_output "$@"
}

# The same for any command.
run_apart()
{
	local -

	set +T
	keep_output "$@"
}

# Like run --separate-stderr of bats, which takes forty commands.
keep_output()
{
	status=0
	output=$("$@" 2> "$BATS_TEST_TMPDIR/.stderr" 3>&-) || status=$?
	read -r -d '' stderr < "$BATS_TEST_TMPDIR/.stderr" || true
	lines=()
	IFS=$'\n' read -r -d '' -a lines <<< "$output" || true
}

# kernel_is_from VERSION: the kernel has this version, or a later one.
kernel_is_from()
{
	[ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

# Do trace events stay in tracefs when their events have ended? Before Linux 6.13 they do.
trace_events_stay()
{
	! kernel_is_from 6.13
}

# Must the module create trace events? From Linux 6.1 on, if the kernel has any. The module is not
# asked: one that is broken must fail the tests. Mounts tracefs.
trace_events_exist()
{
	local tracefs=/sys/kernel/tracing

	kernel_is_from 6.1 || return
	[ -d $tracefs/events ] || mount -t tracefs tracefs $tracefs || return
	[ -d $tracefs/events ]
}

# Waits up to two minutes and more until a command succeeds, longer on a slow machine (see
# selftests/slowness.bash); prints it if it fails. Reading from a pipe without a writer sleeps
# without a process, which is slow to start in an emulated guest.
wait_for()
{
	local -

	set +T
	"$@" || wait_longer_for "$@"
}

wait_longer_for()
{
	local tries slow= start=$SECONDS pipe=$BATS_TEST_TMPDIR/.never

	[ -p "$pipe" ] || mkfifo "$pipe"
	exec 9<> "$pipe"
	for ((tries = 1; ; tries++)); do
		read -r -t 0.05 -u 9 || true
		if "$@" 9>&-; then
			exec 9>&-
			return 0
		fi
		((tries >= 600 && SECONDS - start >= 120)) || continue
		slow=${slow:-$(slowness)}
		((SECONDS - start <= 120 * slow)) || break
	done
	exec 9>&-
	echo "timed out: $*"
	return 1
}

# has_lines FILE COUNT: the file has that number of complete lines.
has_lines()
{
	local lines

	mapfile -n "$2" lines < "$1"
	[ "$2" = 0 ] || [[ ${lines[$2 - 1]-} == *$'\n' ]]
}

# has_begun FILE REGEX: a line of the file starts with it. Empty the file before the process starts
# that writes it: it may have the lines of an earlier one.
has_begun()
{
	local text

	read -r -d '' text < "$1" || true
	[[ $'\n'$text =~ $'\n'$2 ]]
}

# Starts elog VERB with output in $work/out and $work/err; returns when it captures or
# counts; its process is $started.
start_elog()
{
	# Not what an earlier one has printed: the new process may open the file later.
	: > "$work/err"
	"$ELOG" "$1" -v "${@:2}" > "$work/out" 2> "$work/err" 3>&- &
	started=$!
	background+=("$started")
	wait_for has_begun "$work/err" 'elog: (capturing|counting)'
}

# Waits for its end; sets $status to its exit status.
wait_elog()
{
	local i

	status=0
	wait "$started" || status=$?
	for i in "${!background[@]}"; do
		[ "${background[i]}" != "$started" ] || unset "background[i]"
	done
}

# Ends it with a signal.
stop_elog()
{
	kill "-$1" "$started"
	wait_elog
}

# The same for elog capture, whose process is $capture.
start_capture()
{
	start_elog capture "$@"
	capture=$started
}

stop_capture()
{
	started=$capture
	stop_elog "$1"
}

# wait_full FD: waits until the pipe of this file descriptor, which is also open for writing, is
# full: what writes to it waits for a reader.
wait_full()
{
	local -

	set +T
	timeout "$HANG_SECONDS" "${PYTHON:-python3}" -c '
import select, time
while select.select([], [0], [], 0)[1]:
    time.sleep(0.02)' <&"$1"
}

# while_stopped PID COMMAND...: runs a command while a process with all its threads is
# stopped. Events of the command stay in the rings, and are lost if the rings are full,
# even if the reader is fast. In a COMMAND of elog, use bash -c; elog is $PPID.
while_stopped()
{
	local process=$1 status=0 file state

	shift
	kill -STOP "$process" || return
	for file in "/proc/$process/task"/*/stat; do
		# The state follows the name in parentheses. The thread may have ended.
		while read -r -d '' state 2> /dev/null < "$file" || [ -n "$state" ] &&
			[[ ${state##*) } != T* ]]; do
			state=
			sleep 0.01
		done
	done
	"$@" || status=$?
	kill -CONT "$process"
	return $status
}
export -f while_stopped

# Makes the kernel drop all ended events, if events_max is 64.
forget_events()
{
	"${PYTHON:-python3}" -c '
import ctypes, fcntl, os, struct
for i in range(200):
    device = os.open("/dev/eventlog", os.O_RDWR)
    command = ctypes.create_string_buffer(b"other%d" % i)
    fcntl.ioctl(device, 3 << 30 | 4 << 16 | 0xe7 << 8 | 1,
                bytearray(struct.pack("=IIQQQIIIIIIQ", 64, 0, ctypes.addressof(command),
                                      0, 0, 0, 0, 0, 0, 0, 0, 0)))
    os.close(device)
'
}

# Prints NAME EVENTS BYTES LOST of each row of a table of elog stat.
rows()
{
	awk '$1 != "#" && $2 != "EVENTS" { print $NF, $2, $4, $6 }'
}

# Fails, and prints the string, unless it contains all words.
contains()
{
	local -

	set +T
	has_words "$@"
}

has_words()
{
	local text=$1 word

	shift
	for word; do
		if [[ $text != *"$word"* ]]; then
			printf 'no "%s" in: %s\n' "$word" "$text"
			return 1
		fi
	done
}

# fails_with WORDS ARGUMENT...: elog fails at once with this error. If the usage has become
# valid, elog may wait.
fails_with()
{
	local -

	set +T
	has_failed_with "$@"
}

has_failed_with()
{
	local words=$1

	shift
	keep_output timeout "$HANG_SECONDS" "$ELOG" "$@"
	[ "$status" = 1 ] || { echo "elog $*: status $status"; return 1; }
	[ -z "$output" ] || { echo "elog $*: printed $output"; return 1; }
	has_words "$stderr" "$words" || { echo "elog $*"; return 1; }
}

# Deletes all instances.
delete_instances()
{
	local name

	for name in $("$ELOG" list --instances -q | awk '{ print $8 }'); do
		"$ELOG" delete --instance "$name"
	done
}
