# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests of the elog command share.
#
# EVENTLOG_MODULE	eventlog.ko, which tests remove and load again
# EVENTLOG_TOOLS	what make -C tools built (default: build/tools)
# ELOG			the command (default: that in EVENTLOG_TOOLS)
#
# bats looks at each command of a function before it runs, and takes longer for it than
# bash for most commands. Functions called behind "local -; set +T" are spared that;
# should one of them fail, it is its caller's line that is told.

bats_require_minimum_version 1.5.0

# For setup_file: where everything is.
find_built()
{
	TREE=$(cd "$BATS_TEST_DIRNAME/.." && pwd -P)
	export TREE
	export EVENTLOG_BUILD=${EVENTLOG_BUILD:-$TREE/build}
	export EVENTLOG_TOOLS=${EVENTLOG_TOOLS:-$EVENTLOG_BUILD/tools}
	export EVENTLOG_KO=${EVENTLOG_KO:-${EVENTLOG_MODULE:-$EVENTLOG_BUILD/$(uname -r)/eventlog.ko}}
	export ELOG=${ELOG:-$EVENTLOG_TOOLS/elog}
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# For setup: $work is a directory, and background has processes for end_background.
begin()
{
	# A test that failed half-way may have left it out.
	[ -d /sys/module/eventlog ] || insmod "$EVENTLOG_KO"
	work=$BATS_TEST_TMPDIR
	background=()
}

# For teardown.
end_background()
{
	local pid

	for pid in "${background[@]}"; do
		kill -KILL "$pid" 2> /dev/null || true
		wait "$pid" 2> /dev/null || true
	done
}

elog()
{
	"$ELOG" "$@"
}

# Runs elog: $status, $output (stdout), $stderr, ${lines[@]}. It is ended in time if it
# is one that may wait for something.
run_elog()
{
	local -

	set +T
	case $1 in
	show|list|info|create|delete)
		[[ " $* " == *" --follow "* ]] || set -- "$ELOG" "$@"
		;;
	esac
	[ "$1" = "$ELOG" ] || set -- timeout 300 "$ELOG" "$@"
	keep_output "$@"
}

# The same of any command.
run_apart()
{
	local -

	set +T
	keep_output "$@"
}

# As bats' run --separate-stderr, of which bats would look at forty commands.
keep_output()
{
	status=0
	output=$("$@" 2> "$BATS_TEST_TMPDIR/.stderr" 3>&-) || status=$?
	read -r -d '' stderr < "$BATS_TEST_TMPDIR/.stderr" || true
	lines=()
	IFS=$'\n' read -r -d '' -a lines <<< "$output" || true
}

# Waits for a condition, two minutes and more; fails with what it was. A pipe that
# nobody writes to lets us sleep without a process, which an emulated guest takes its
# time to start.
wait_for()
{
	local -

	set +T
	"$@" || wait_longer_for "$@"
}

wait_longer_for()
{
	local tries pipe=$BATS_TEST_TMPDIR/.never

	[ -p "$pipe" ] || mkfifo "$pipe"
	exec 9<> "$pipe"
	for ((tries = 0; tries < 2400; tries++)); do
		read -r -t 0.05 -u 9 || true
		if "$@" 9>&-; then
			exec 9>&-
			return 0
		fi
	done
	exec 9>&-
	echo "never: $*"
	return 1
}

# So many whole lines are in a file.
has_lines()
{
	local lines

	mapfile -n "$2" lines < "$1"
	[ "$2" = 0 ] || [[ ${lines[$2 - 1]-} == *$'\n' ]]
}

# A line of a file begins so, which is a regular expression.
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
	"$ELOG" "$1" -v "${@:2}" > "$work/out" 2> "$work/err" 3>&- &
	started=$!
	background+=("$started")
	wait_for has_begun "$work/err" 'elog: (capturing|counting)'
}

# Waits for its end; its exit status is $status.
wait_elog()
{
	local i

	status=0
	wait "$started" || status=$?
	for i in "${!background[@]}"; do
		[ "${background[i]}" != "$started" ] || unset "background[i]"
	done
}

# Ends it, by a signal.
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

# Runs a command while a process, with all its threads, is stopped: what the command
# emits stays in the rings, and all that these have no room for is lost, however fast
# who reads them is. In COMMAND of elog, whose process is $PPID, by bash -c.
while_stopped()
{
	local process=$1 status=0 file state

	shift
	kill -STOP "$process" || return
	for file in "/proc/$process/task"/*/stat; do
		# Behind the name in parentheses. It may have ended meanwhile.
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

# Has the kernel forget all events that are gone, if events_max is 64.
forget_events()
{
	"${PYTHON:-python3}" -c '
import ctypes, fcntl, os, struct
for i in range(200):
    device = os.open("/dev/eventlog", os.O_RDWR)
    command = ctypes.create_string_buffer(b"other%d" % i)
    fcntl.ioctl(device, 3 << 30 | 64 << 16 | 0xe7 << 8 | 1,
                bytearray(struct.pack("=IIQQQIIIIIIQ", 64, 0, ctypes.addressof(command),
                                      0, 0, 0, 0, 0, 0, 0, 0, 0)))
    os.close(device)
'
}

# Deletes all persistent events.
delete_persistent()
{
	"$ELOG" list -q 2> /dev/null | awk '$2 ~ /^persistent/ { print $5 }' |
		sort -u | xargs -r "$ELOG" delete
}

# Fails, with what there is, unless all words are in a string.
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

# What is wrong is told at once: there is nothing that a time limit would end.
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
	keep_output "$ELOG" "$@"
	[ "$status" = 1 ] || { echo "elog $*: status $status"; return 1; }
	[ -z "$output" ] || { echo "elog $*: printed $output"; return 1; }
	has_words "$stderr" "$words" || { echo "elog $*"; return 1; }
}
