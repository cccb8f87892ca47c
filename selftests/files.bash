# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What files.bats and show.bats share: see there.

setup_file()
{
	local tree

	tree=$(cd "$BATS_TEST_DIRNAME/.." && pwd -P)
	export EVENTLOG_BUILD=${EVENTLOG_BUILD:-$tree/build}
	export EVENTLOG_TOOLS=${EVENTLOG_TOOLS:-$EVENTLOG_BUILD/tools}
	export EVENTLOG_KO=${EVENTLOG_KO:-${EVENTLOG_MODULE:-$EVENTLOG_BUILD/$(uname -r)/eventlog.ko}}
	export ELOG=${ELOG:-$EVENTLOG_TOOLS/elog}
	[ "$(id -u)" = 0 ] || skip "needs root"
	export PRODUCER=$BATS_FILE_TMPDIR/producer.py
	write_producer > "$PRODUCER"
	# Not the wrapper that may be in PATH, which takes its time.
	PYTHON=$(python3 -c 'import sys; print(sys.executable)')
	export PYTHON TZ=UTC LC_ALL=C.UTF-8
	unset NO_COLOR PAGER ELOG_PAGER LESS
}

# producer.py FIRST COUNT SESSIONS [STOP]: emits number/step, numbered from FIRST,
# COUNT times, or in hundreds until there is a file STOP; of SESSIONS sessions in
# turn, 0: of none. Prints how many that were.
write_producer()
{
	cat <<'PRODUCER'
import ctypes, fcntl, os, struct, sys

first, count, sessions = (int(argument) for argument in sys.argv[1:4])
stop = sys.argv[4] if len(sys.argv) > 4 else None
REGISTER, WITH_SESSION = 3 << 30 | 64 << 16 | 0xe7 << 8 | 1, 2
device = os.open("/dev/eventlog", os.O_RDWR)
command = ctypes.create_string_buffer(b"step u64 number; char[16] word")
provider = ctypes.create_string_buffer(b"number")
request = bytearray(struct.pack("=IIQQQIIIIIIQ", 64, WITH_SESSION,
                                ctypes.addressof(command), ctypes.addressof(provider),
                                0, 0, 0, 0, 0, 0, 0, 0))
fcntl.ioctl(device, REGISTER, request)
index = struct.unpack_from("=I", request, 36)[0]
event = struct.Struct("=IQQ16s")
done = 0
while done < count if stop is None else done % 100 or not os.path.exists(stop):
    session = done % sessions + 1 if sessions else 0
    os.write(device, event.pack(index, session, first + done, b"word"))
    done += 1
print(done)
PRODUCER
}

setup()
{
	# A test that failed half-way may have left it out.
	[ -d /sys/module/eventlog ] || insmod "$EVENTLOG_KO"
	work=$BATS_TEST_TMPDIR
	background=()
	mounted=()
}

teardown()
{
	local pid

	"$ELOG" stop -q 2> /dev/null || true
	for pid in "${background[@]}"; do
		kill -KILL "$pid" 2> /dev/null || true
		wait "$pid" 2> /dev/null || true
	done
	for directory in "${mounted[@]}"; do
		umount "$directory" 2> /dev/null || true
	done
}

produce()
{
	"$PYTHON" "$PRODUCER" "$@"
}

# Runs elog: $status, $output (stdout), $stderr, ${lines[@]}.
run_elog()
{
	run --separate-stderr timeout 120 "$ELOG" "$@" 3>&-
}

# Waits for a condition, two minutes and more; fails with what it was.
wait_for()
{
	local tries=0

	until "$@"; do
		tries=$((tries + 1))
		if [ $tries -gt 1200 ]; then
			echo "never: $*"
			return 1
		fi
		sleep 0.1
	done
}

has_lines()
{
	[ "$(wc -l < "$1")" -ge "$2" ]
}

# Starts elog capture with output in $work/out and $work/err; returns when it
# captures; its process is $capture.
start_capture()
{
	"$ELOG" capture -v "$@" > "$work/out" 2> "$work/err" 3>&- &
	capture=$!
	background+=("$capture")
	wait_for grep -q '^elog: capturing' "$work/err"
}

# Ends it, by a signal; its exit status is $status.
stop_capture()
{
	status=0
	kill "-$1" "$capture"
	wait "$capture" || status=$?
}

# Fails, with what there is, unless all words are in a string.
contains()
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

fails_with()
{
	local words=$1

	shift
	run_elog "$@"
	[ "$status" = 1 ] || { echo "elog $*: status $status"; return 1; }
	[ -z "$output" ] || { echo "elog $*: printed $output"; return 1; }
	contains "$stderr" "$words" || { echo "elog $*"; return 1; }
}

# The numbers of number/step in files, as they are shown.
numbers()
{
	"$ELOG" show -q --fields number "$@" | sed -n 's/^number=//p'
}

# Fails unless stdin has the numbers from FIRST on, COUNT of them, each once, in
# whatever order.
are_numbers()
{
	diff <(sort -n) <(seq "$1" $(($1 + $2 - 1))) | head -n 5
	[ "${PIPESTATUS[0]}" = 0 ]
}

shows()
{
	[ "$("$ELOG" show -q "${@:2}" 2> /dev/null | grep -vc '^#')" = "$1" ]
}

exists()
{
	[ -e "$1" ]
}

small_disk()
{
	mkdir "$1"
	mount -t tmpfs -o "size=$2" none "$1"
	mounted+=("$1")
}
