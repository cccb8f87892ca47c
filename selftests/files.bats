#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog capture into files, elog stop, and what elog show makes of them, with the
# kernel module. Needs root and python3.
#
# EVENTLOG_KO		eventlog.ko, which tests remove and load again
# EVENTLOG_TOOLS	what make -C tools built (default: build/tools)
# ELOG			the command (default: that in EVENTLOG_TOOLS)

bats_require_minimum_version 1.5.0

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

# Waits for a condition, 150 tries; fails with what it was.
wait_for()
{
	local tries=0

	until "$@"; do
		tries=$((tries + 1))
		if [ $tries -gt 150 ]; then
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

@test "capture -o: --compress, -t, -C and -f leave the same events" {
	big=(--per-cpu-bytes 4M -q)
	"$ELOG" capture "${big[@]}" -o "$work/plain" -- \
		"$ELOG" capture "${big[@]}" -o "$work/fast" --compress=1 -- \
		"$ELOG" capture "${big[@]}" -o "$work/zstd" --compress -- \
		"$ELOG" capture "${big[@]}" -o "$work/filter" -f 'number >= 500 && word ~ "^wo"' -- \
		"$ELOG" capture "${big[@]}" -o "$work/cpu" -C 0 --compress -- \
		"$ELOG" capture "${big[@]}" -o "$work/none" -t 1 -- \
		sh -c '"$PYTHON" "$PRODUCER" 0 2000 3 > /dev/null; taskset -c 0 "$ELOG" emit -n 10 other/one' \
		3>&-
	columns=cpu,pid,tid,session,provider,event,fields
	shown()
	{
		"$ELOG" show -q --fields $columns "$@"
	}
	shown "$work/plain" > "$work/all"
	[ "$(wc -l < "$work/all")" = 2010 ]
	for file in fast zstd; do
		shown "$work/$file" | diff -q - "$work/all"
		[ "$(stat -c %s "$work/$file")" -lt $(($(stat -c %s "$work/plain") / 2)) ]
	done
	shown -f 'number >= 500 && word ~ "^wo"' "$work/plain" | diff -q - <(shown "$work/filter")
	numbers "$work/filter" | are_numbers 500 1500
	shown -C 0 "$work/plain" | diff -q - <(shown "$work/cpu")
	[ "$(shown "$work/cpu" | wc -l)" -ge 10 ]
	shows 0 "$work/none"
	run_elog show "$work/none"
	[ "$status" = 0 ]
	contains "$stderr" "0 events, lost 0"
	# A thread of its own.
	start_capture -o "$work/mine" -t $$ -t 1
	produce 0 5 0
	stop_capture INT
	[ "$status" = 0 ]
	contains "$(cat "$work/err")" "0 events in"
	tid=$(sed -n 's/.* tid=\([0-9]*\) .*provider=other.*/\1/p' "$work/all" | head -n 1)
	[ "$(shown -t "$tid" "$work/plain" | wc -l)" = 10 ]

	# Losses are told by files that were picked from, too.
	run_elog capture --per-cpu-bytes 8K -o "$work/lossy" -f 'a == 1' --compress -- \
		taskset -c 0 "$ELOG" emit -n 20000 loss/much 'u64 a' a=1
	[ "$status" = 2 ]
	lost=$(sed -n 's/.*lost \([0-9]*\): no room.*/\1/p' <<< "$stderr")
	[ "$lost" -gt 0 ]
	run_elog show "$work/lossy"
	[ "$status" = 2 ]
	contains "$stderr" "lost $lost: no room $lost"
	[ $(($(grep -c 'loss - much' <<< "$output") + lost)) = 20000 ]
}

@test "capture --overwrite -o: snapshots, one behind the other" {
	start_capture --overwrite -o "$work/file" --trigger trigger/now
	produce 0 100 0
	kill -USR1 "$capture"
	wait_for shows 100 "$work/file"
	produce 100 100 0
	elog_emit trigger/now
	wait_for shows 201 "$work/file"
	produce 200 100 0
	stop_capture TERM
	[ "$status" = 0 ]
	contains "$(cat "$work/err")" "301 events in" "$(stat -c %s "$work/file") bytes"
	run_elog show "$work/file"
	[ "$status" = 0 ]
	numbers "$work/file" | are_numbers 0 300

	# More than the rings hold: the newest are there. And added to, and rotated.
	start_capture --overwrite -o "$work/file" --per-cpu-bytes 8K --append --rotate 64K,3
	taskset -c 0 "$PYTHON" "$PRODUCER" 1000 1000 0
	kill -HUP "$capture"
	wait_for exists "$work/file.1"
	kill -USR1 "$capture"
	newest_is_there()
	{
		[ "$(numbers "$work/file" | tail -n 1)" = 1999 ]
	}
	wait_for newest_is_there
	stop_capture INT
	[ "$status" = 0 ]
	numbers "$work/file.1" | are_numbers 0 300
	count=$(numbers "$work/file" | wc -l)
	[ "$count" -gt 10 ]
	[ "$count" -lt 1000 ]
	numbers "$work/file" | are_numbers $((2000 - count)) "$count"
}

elog_emit()
{
	"$ELOG" emit "$@"
}

@test "capture --rotate: nothing is lost, nothing doubled, KEEP are kept" {
	start_capture -o "$work/file" --rotate 64K,100 --per-cpu-bytes 4M
	"$ELOG" show --follow --fields number "$work/file" > "$work/followed" 2> "$work/followed.err" 3>&- &
	follower=$!
	background+=("$follower")
	produce 0 0 4 "$work/enough" > "$work/one" 3>&- &
	background+=("$!")
	one=$!
	produce 1000000000 0 0 "$work/enough" > "$work/two" 3>&- &
	background+=("$!")
	wait_for exists "$work/file.1"
	kill -HUP "$capture"
	wait_for exists "$work/file.3"
	touch "$work/enough"
	wait "$one" "$!"
	one=$(cat "$work/one")
	two=$(cat "$work/two")
	stop_capture INT
	[ "$status" = 0 ]
	contains "$(cat "$work/err")" "$((one + two)) events in" "lost 0"
	files=("$work"/file*)
	sizes=$(stat -c %s "${files[@]}" | awk '{ sum += $1 } END { print sum }')
	contains "$(cat "$work/err")" ", $sizes bytes,"
	"$ELOG" show -q --fields number "${files[@]}" > "$work/shown"
	sort "$work/shown" > "$work/all"
	sed -n 's/^number=\(.\{1,9\}\)$/\1/p' "$work/all" | are_numbers 0 "$one"
	sed -n 's/^number=\(.\{10\}\)$/\1/p' "$work/all" | are_numbers 1000000000 "$two"
	# Each is complete.
	for file in "${files[@]}"; do
		"$ELOG" show -q "$file" > /dev/null
	done
	wait_for has_lines "$work/followed" $((one + two))
	kill -TERM "$follower"
	status=0
	wait "$follower" || status=$?
	cat "$work/followed.err"
	[ "$status" = 0 ]
	sort "$work/followed" | diff - "$work/all" > "$work/difference" ||
		{ head -n 20 "$work/difference"; false; }

	# No more than KEEP, the newest.
	start_capture -o "$work/kept" --rotate 64K,2
	turn()
	{
		inode=$(stat -c %i "$work/kept")
		kill -HUP "$capture"
		wait_for renamed
	}
	renamed()
	{
		[ "$(stat -c %i "$work/kept" 2> /dev/null || echo "$inode")" != "$inode" ]
	}
	for i in 0 1 2 3; do
		produce $((10 * i)) 10 0
		turn
	done
	produce 40 10 0
	stop_capture TERM
	[ "$status" = 0 ]
	files=("$work"/kept*)
	[ "${#files[@]}" = 3 ]
	numbers "${files[@]}" | are_numbers 20 30
	numbers "$work/kept.1" | are_numbers 30 10

	# Added to; what is no file is left alone.
	run_elog capture -q -o "$work/kept" --append --rotate 64K,2 -- \
		"$PYTHON" "$PRODUCER" 50 10 0
	[ "$status" = 0 ]
	numbers "$work/kept" | are_numbers 40 20
	mknod "$work/null" c 1 3
	fails_with "--rotate is for a regular file" capture -o "$work/null" --rotate 64K
	[ -c "$work/null" ]
	mkdir "$work/kept.1.d"
	rm "$work/kept.1"
	mv "$work/kept.1.d" "$work/kept.1"
	mv "$work/kept.2" "$work/kept.2.old"
	mkdir "$work/kept.2"
	touch "$work/kept.2/full"
	start_capture -o "$work/kept" --rotate 64K,2
	produce 0 10 0
	kill -HUP "$capture"
	status=0
	wait "$capture" || status=$?
	[ "$status" = 1 ]
	contains "$(cat "$work/err")" "$work/kept: "
	numbers "$work/kept" | are_numbers 0 10
}

@test "capture --rotate: losses are told once" {
	# With -f each record is looked at, without they are written as they are.
	for filter in "a == 1" ""; do
		rm -f "$work"/file*
		start_capture -o "$work/file" --rotate 64K,99 --per-cpu-bytes 8K \
			-e loss ${filter:+-f "$filter"}
		for i in 1 2 3; do
			taskset -c 0 "$ELOG" emit -n 20000 loss/much 'u64 a' a=1
			kill -HUP "$capture"
			wait_for exists "$work/file.$i"
		done
		taskset -c 1 "$ELOG" emit -n 20000 loss/much 'u64 a' a=1
		stop_capture INT
		[ "$status" = 2 ]
		lost=$(sed -n 's/.* lost \([0-9]*\): no room.*/\1/p' "$work/err")
		shown=$(sed -n 's/^elog: \([0-9]*\) events in.*/\1/p' "$work/err")
		[ "$lost" -gt 0 ]
		[ $((lost + shown)) = 80000 ]
		run_elog show "$work"/file*
		[ "$status" = 2 ]
		contains "$stderr" "$shown events, lost $lost: no room $lost"
		# The last one has been told what CPU 0 had lost, and tells only the rest.
		run_elog show "$work/file"
		[ -z "$(grep '^# lost.* on CPU 0' <<< "$output")" ]
	done
}

@test "show --follow: where a file was renamed, cut or is a pipe" {
	"$ELOG" capture -q -o "$work/file" -- "$PYTHON" "$PRODUCER" 0 10 0 > /dev/null
	"$ELOG" show --follow --fields number "$work/file" > "$work/followed" 2> "$work/show.err" 3>&- &
	follower=$!
	background+=("$follower")
	wait_for has_lines "$work/followed" 10
	# Behind its end, by another capture.
	"$ELOG" capture -q -o "$work/file" --append -- "$PYTHON" "$PRODUCER" 10 10 0 > /dev/null
	wait_for has_lines "$work/followed" 20
	mv "$work/file" "$work/elsewhere"
	"$ELOG" capture -q -o "$work/file" -- "$PYTHON" "$PRODUCER" 20 5 0 > /dev/null
	wait_for has_lines "$work/followed" 25
	# Begun anew, shorter than it was.
	"$ELOG" capture -q -o "$work/file" -- "$ELOG" emit number/step 'u64 number' number=25
	wait_for has_lines "$work/followed" 26
	# It goes on while we sleep: many files later each was seen.
	kill -STOP "$follower"
	start_capture -o "$work/file" --append --rotate 64K,9
	for i in 1 2 3 4; do
		produce $((16 + 10 * i)) 10 0
		kill -HUP "$capture"
		wait_for exists "$work/file.$i"
	done
	stop_capture INT
	kill -CONT "$follower"
	wait_for has_lines "$work/followed" 66
	kill -INT "$follower"
	status=0
	wait "$follower" || status=$?
	cat "$work/show.err"
	[ "$status" = 0 ]
	contains "$(cat "$work/show.err")" "66 events"
	sed 's/number=//' "$work/followed" | are_numbers 0 66

	run_elog show -q --fields number --follow - < <(cat "$work/file.4")
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 11 ]
	# With nothing to read it ends all the same.
	mkfifo "$work/fifo"
	exec {out}<> "$work/fifo"
	"$ELOG" show --follow "$work/fifo" > "$work/out" 2> "$work/show.err" 3>&- &
	follower=$!
	background+=("$follower")
	kill -TERM "$follower"
	wait "$follower" || true
}

@test "capture --split: a file for each session" {
	# More than may be open, in turn: files are ended, and added to.
	start_capture --split "$work/dir" --per-cpu-bytes 4M
	produce 0 1800 600
	produce 1800 10 0
	elog_emit -s 5 losses/mine 'u64 number' number=1810
	elog_emit losses/mine 'u64 number' number=1811
	stop_capture INT
	[ "$status" = 0 ]
	contains "$(cat "$work/err")" "1812 events in" "lost 0"
	files=("$work/dir"/*)
	[ "${#files[@]}" = 604 ]
	bytes=$(stat -c %s "${files[@]}" | awk '{ sum += $1 } END { print sum }')
	contains "$(cat "$work/err")" ", $bytes bytes,"
	for name in losses number number-0x1 number-0x258 losses-0x5 losses-0x0; do
		[ -e "$work/dir/$name.elog" ]
	done
	[ "$(stat -c %a "$work/dir")" = 700 ]
	numbers "$work/dir/number-0x7.elog" > "$work/seven"
	diff -q "$work/seven" <(printf '%s\n' 6 606 1206)
	run_elog show "$work/dir/number-0x7.elog"
	[ "$status" = 0 ]
	numbers "$work/dir/number.elog" | are_numbers 1800 10
	# Also when fewer files may be open than there are.
	(
		ulimit -Sn 256
		numbers "$work/dir"/* > "$work/numbers"
		"$ELOG" show "$work/dir"/* > /dev/null
	)
	are_numbers 0 1812 < "$work/numbers"
	run_elog show --session-summary --format csv "$work/dir"/*
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 604 ]

	# Again, to what is there, with few files; a filter; compressed.
	run_elog capture --split "$work/dir" -f 'number < 1020' --compress -- \
		bash -c 'ulimit -Sn 16; exec "$ELOG" capture -q --split "$1" -- "$PYTHON" "$PRODUCER" 1000 40 20' \
		- "$work/few"
	[ "$status" = 0 ]
	contains "$stderr" "20 events in"
	numbers "$work/few"/* | are_numbers 1000 40
	diff -q <(numbers "$work/dir/number-0x7.elog") <(printf '%s\n' 6 606 1206 1006)

	# A loss is told by all that are open, and by one file of all.
	start_capture --split "$work/lossy" --per-cpu-bytes 8K
	elog_emit -s 1 loss/little
	wait_for exists "$work/lossy/loss-0x1.elog"
	taskset -c 0 "$ELOG" emit -s 2 -n 20000 loss/much
	stop_capture TERM
	[ "$status" = 2 ]
	lost=$(sed -n 's/.* lost \([0-9]*\): no room.*/\1/p' "$work/err")
	for file in loss-0x1 losses; do
		run_elog show "$work/lossy/$file.elog"
		[ "$status" = 2 ]
		contains "$stderr" "lost $lost: no room $lost"
	done

	fails_with "Not a directory" capture --split "$PRODUCER"
	fails_with "No such file" capture --split "$work/no/where"
}

@test "capture --background, stop" {
	run_elog capture --background -o "$work/file"
	[ "$status" = 0 ]
	[ -z "$output" ]
	contains "$stderr" "elog stop $work/file"
	produce 0 100 0
	run_elog capture --background -o "$work/../${work##*/}/file"
	[ "$status" = 1 ]
	contains "$stderr" "a capture in the background writes to it"
	run_elog capture --background --split "$work/dir/"
	[ "$status" = 0 ]
	produce 100 100 2
	fails_with "no capture in the background writes to it" stop "$work/other"
	cd "$work"
	run_elog stop file
	[ "$status" = 0 ]
	contains "$stderr" "200 events in" "lost 0"
	numbers file | are_numbers 0 200
	fails_with "no capture in the background writes to it" stop file
	run_elog stop -q dir
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	numbers dir/number-0x* | are_numbers 100 100

	# Status 2, and the worst of several.
	run_elog capture --background -o lossy --per-cpu-bytes 8K
	run_elog capture --background --overwrite -o recorder
	taskset -c 0 "$ELOG" emit -n 20000 loss/much
	run_elog stop
	[ "$status" = 2 ]
	contains "$stderr" "lost of loss/much" || contains "$stderr" "of loss/much"
	shows "$("$ELOG" show -q recorder | wc -l)" recorder
	fails_with "there is no capture in the background" stop

	# It tells of those that have ended, too: by themselves,
	run_elog capture --background -o file -n 10
	[ "$status" = 0 ]
	produce 0 10 0
	has_ended()
	{
		flock -n -s "$1" true
	}
	info=$(echo /run/eventlog/*.capture)
	wait_for has_ended "$info"
	run_elog stop file
	[ "$status" = 0 ]
	contains "$stderr" "10 events in"
	# by being killed,
	run_elog capture --background -o file
	kill -KILL "$(head -n 1 /run/eventlog/*.capture)"
	wait_for has_ended /run/eventlog/*.capture
	run_elog stop
	[ "$status" = 1 ]
	contains "$stderr" "$work/file: process" "ended without saying why"
	fails_with "there is no capture in the background" stop
	# by an error.
	small_disk "$work/small" 64K
	run_elog capture --background -o small/file
	"$ELOG" emit -n 5000 full/x
	wait_for has_ended /run/eventlog/*.capture
	run_elog stop small/file
	[ "$status" = 1 ]
	contains "$stderr" "small/file: No space left on device"
	# A killed one is not in the way.
	run_elog capture --background -o file
	kill -KILL "$(head -n 1 /run/eventlog/*.capture)"
	wait_for has_ended /run/eventlog/*.capture
	run_elog capture --background -o file
	[ "$status" = 0 ]
	run_elog stop file
	[ "$status" = 0 ]
	[ -z "$(ls /run/eventlog)" ]

	# What goes wrong at once is told at once, and leaves nothing.
	fails_with "No such file" capture --background -o "$work/none/file"
	fails_with "Is a directory" capture --background -o "$work"
	fails_with "column 4" capture --background -o "$work/file" -f "a >"
	fails_with "at least two pages" capture --background -o "$work/file" --per-cpu-bytes 4K
	fails_with "Invalid argument" capture --background -o $'a\nb'
	[ -z "$(ls /run/eventlog)" ]

	# Nothing keeps the terminal, and its end ends nothing.
	run timeout 60 script -qec '"$ELOG" capture --background -o "'"$work"'/file"' /dev/null 3>&-
	[ "$status" = 0 ]
	produce 0 10 0
	run_elog stop
	[ "$status" = 0 ]
	contains "$stderr" "10 events in"
}

@test "capture --background: of several users" {
	mkdir -m 777 "$work/shared"
	mkdir "$work/run.1" "$work/run.2"
	chown 65533 "$work/run.1"
	chown 65534 "$work/run.2"
	chmod a+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/* "$BATS_RUN_TMPDIR"/test/* || true
	chmod 0666 /dev/eventlog
	as()
	{
		local number=$1

		shift
		run --separate-stderr timeout 60 setpriv --reuid=$((65532 + number)) \
			--clear-groups --inh-caps=+perfmon --ambient-caps=+perfmon \
			env XDG_RUNTIME_DIR="$work/run.$number" "$ELOG" "$@" 3>&-
	}
	as 1 capture --background -o "$work/shared/one"
	[ "$status" = 0 ]
	as 2 capture --background -o "$work/shared/two"
	[ "$status" = 0 ]
	produce 0 10 0
	fails_with "there is no capture in the background" stop
	as 2 stop "$work/shared/one"
	[ "$status" = 1 ]
	as 2 stop
	[ "$status" = 0 ]
	contains "$stderr" "10 events"
	as 2 stop
	[ "$status" = 1 ]
	# Somebody else's directory tells nothing.
	mv "$work/run.1" "$work/run.3"
	chown 65534 "$work/run.3/eventlog"
	mkdir "$work/run.1"
	mv "$work/run.3/eventlog" "$work/run.1"
	as 1 stop
	[ "$status" = 1 ]
	contains "$stderr" "Operation not permitted"
	chown 65533 "$work/run.1/eventlog"
	as 1 stop "$work/shared/one"
	[ "$status" = 0 ]
	contains "$stderr" "10 events"
	chmod 0600 /dev/eventlog
}

@test "capture -o: full disks, signals and kills leave what can be shown" {
	for arguments in "-o FILE" "-o FILE --compress" "-o FILE --rotate 128K,99" \
		"-o FILE -f a==1" "--split FILE"; do
		rm -rf "$work/small"
		small_disk "$work/small" 512K
		# shellcheck disable=SC2086 # several words
		run_elog capture ${arguments//FILE/$work/small/file} -e full -- \
			sh -c 'while :; do "$ELOG" emit -n 20000 full/x "u64 a" a=1 || exit; done'
		echo "$arguments: $stderr"
		[ "$status" = 1 ]
		contains "$stderr" "small/file" "No space left on device" "can be shown"
		written=$(sed -n 's/^elog: \([0-9]*\) events in.*/\1/p' <<< "$stderr")
		if [ -d "$work/small/file" ]; then
			run_elog show "$work/small/file"/*
		else
			run_elog show "$work/small/file"*
		fi
		umount "$work/small"
		echo "$stderr"
		[ "$(grep -c 'full - x *a=1$' <<< "$output")" -gt 1000 ]
		[ "$(grep -c 'full - x *a=1$' <<< "$output")" = "$written" ]
	done

	for arguments in "-o FILE --compress" "-o FILE --rotate 64K" "-o FILE -f number>=0" \
		"--split FILE" "-o FILE --overwrite"; do
		for signal in TERM INT KILL; do
			rm -rf "$work"/file*
			# shellcheck disable=SC2086 # several words
			start_capture ${arguments//FILE/$work/file}
			produce 0 100 0
			file=$work/file
			[[ $arguments != --split* ]] || file=$work/file/number.elog
			case $arguments:$signal in
			*--overwrite:KILL) kill -USR1 "$capture" ;;
			esac
			[ $signal != KILL ] || wait_for shows 100 "$file"
			stop_capture $signal
			run_elog show "$file"
			contains "$stderr" "100 events, lost 0"
			if [ $signal = KILL ]; then
				[ "$status" = 1 ]
				contains "$stderr" "the capture was cut off"
			else
				[ "$status" = 0 ]
			fi
		done
	done

	# A pipe that nobody reads: the second signal ends it, without a reader, too.
	for arguments in "" "-f number>=0"; do
		mkfifo "$work/fifo"
		exec {out}<> "$work/fifo"
		dd if=/dev/zero bs=4096 oflag=nonblock >&"$out" 2> /dev/null || true
		# shellcheck disable=SC2086 # several words
		"$ELOG" capture -o "$work/fifo" $arguments --per-cpu-bytes 4M 2> "$work/err" 3>&- &
		capture=$!
		background+=("$capture")
		insist()
		{
			! kill -INT "$capture" 2> /dev/null
		}
		wait_for insist
		exec {out}>&-
		"$ELOG" capture -o "$work/fifo" $arguments 2> "$work/err" 3>&- &
		capture=$!
		background+=("$capture")
		wait_for insist
		rm "$work/fifo"
	done
}

@test "capture -o: CPUs and providers come and go" {
	cpu=/sys/devices/system/cpu/cpu1/online
	[ -w $cpu ] || skip "CPU 1 cannot go offline"
	for arguments in "-o FILE" "-o FILE --rotate 64K,99" "-o FILE -f number>=0" "--split FILE"; do
		rm -rf "$work"/file*
		# shellcheck disable=SC2086 # several words
		start_capture ${arguments//FILE/$work/file} --per-cpu-bytes 4M
		taskset -c 1 "$PYTHON" "$PRODUCER" 0 500 0
		echo 0 > $cpu
		produce 500 500 0
		[[ $arguments != *--rotate* ]] || kill -HUP "$capture"
		echo 1 > $cpu
		taskset -c 1 "$PYTHON" "$PRODUCER" 1000 500 0
		stop_capture INT
		cat "$work/err"
		[ "$status" = 0 ]
		contains "$(cat "$work/err")" "1500 events in" "lost 0"
		files=("$work"/file*)
		[ ! -d "$work/file" ] || files=("$work/file"/*)
		numbers "${files[@]}" | are_numbers 0 1500
	done

	proc=${EVENTLOG_KO%/*}/module/providers/eventlog_proc.ko
	[ -e "$proc" ] || skip "there is no eventlog_proc.ko"
	for arguments in "-o FILE" "-o FILE --rotate 64K,99" "-o FILE -f code!=77" "--split FILE"; do
		rm -rf "$work"/file*
		# shellcheck disable=SC2086 # several words
		start_capture ${arguments//FILE/$work/file} --per-cpu-bytes 4M -e 'proc/exit'
		for i in 1 2; do
			insmod "$proc"
			(exit 9) || true
			rmmod eventlog_proc
		done
		stop_capture INT
		[ "$status" = 0 ]
		files=("$work"/file*)
		[ ! -d "$work/file" ] || files=("$work/file"/*)
		run_elog show -f 'code == 9' "${files[@]}"
		[ "$status" = 0 ]
		[ "${#lines[@]}" = 2 ]
	done
}

@test "show: --since, --until, --around" {
	"$ELOG" capture -q -o "$work/file" -- sh -c \
		'for i in 1 2 3; do "$ELOG" emit when/step "u32 i" i=$i; done'
	sed='s/^time=\([^ ]*\) .*/\1/p'
	show()
	{
		"$ELOG" show -q "$@" "$work/file" | sed -n 's/.* i=//p' | tr -d '\n'
	}
	read -r _ mono _ <<< "$("$ELOG" show -q --fields time,i "$work/file" | sed -n 's/time=\([^ ]*\).*/\1/p' | tr '\n' ' ')"
	read -r _ wall _ <<< "$("$ELOG" show -q --time wall --fields time,i "$work/file" | sed -n "$sed" | tr '\n' ' ')"
	[[ $wall == ????-??-??T??:??:??.?????????+00:00 ]]
	plain=${wall%+00:00}
	seconds=$(date -d "$plain" +%s).${plain#*.}
	start=$(grep -a '^start ' "$work/file" | head -n 1 | cut -d ' ' -f 2)
	number=${mono/./}
	after=$((10#$number - start))
	after=$((after / 1000000000)).$(printf %09d $((after % 1000000000)))
	times=("$wall" "$plain" "${plain/T/ }" "${plain}Z" "${plain}+0000" "@$seconds"
		"$mono")
	[ "$(date +%F)" != "${plain%T*}" ] || times+=("${plain#*T}" "${plain#*T}Z")
	# The same in another zone.
	times+=("$(TZ=EET-2 date -d "${plain}Z" +%FT%T).${plain#*.}+02:00")
	for time in "${times[@]}"; do
		echo "$time"
		[ "$(show --since "$time")" = 23 ]
		[ "$(show --until "$time")" = 1 ]
		[ "$(show --since "$time" --until "$time")" = "" ]
		[ "$(show --around "$time+-1us")" = 2 ]
		[ "$(show --around "$time±1h2m")" = 123 ]
	done
	# Two hours east, that time of day was two hours ago.
	[ "$(TZ=EET-2 show --since "$plain")" = 123 ]
	# What counts from the beginning is as good as two clocks are read at once.
	for time in "+$after" "+${after}s"; do
		[ "$(show --around "$time+-5ms")" = 2 ]
		[ "$(show --since "$time" --around "$time±1h")" = 123 ]
	done
	for time in -1d -1h30m yesterday +0 0 @0 1970-01-01 "2020-02-29 12:00" 2020-02-29T12:00Z; do
		[ "$(show --since "$time")" = 123 ]
		[ "$(show --until "$time")" = "" ]
	done
	for time in now +1d 2100-01-01 @4000000000 -0s -1ns; do
		[ "$(show --until "$time")" = 123 ]
		[ "$(show --since "$time")" = "" ]
	done
	for time in "" someday 2026-02-30 2026-13-01 2026-1-01 +2026-01-01 2026-01-01x 24:00 \
		12:60 12:00:60 12:-5 12:5 " 12:00" 1e9 @ @x - -5x + -1 1. "12:00+15:00" \
		"12:00 UTC" 99999999999 @99999999999 -99999999999999999999ns 2200-01-01 "now "; do
		case $time in
		# Of these it is nothing but the form that is odd.
		-1 | 1. ) continue ;;
		esac
		fails_with "is not right for TIME" show --since "$time" "$work/file"
	done
	fails_with "is not right for TIME+-SPAN" show --around "+-5" "$work/file"
	fails_with "is not right for TIME+-SPAN" show --around "now+-" "$work/file"

	# The beginning is that of the earliest, whatever their order; pipes do, too.
	"$ELOG" capture -q -o "$work/later" -- "$ELOG" emit when/step 'u32 i' i=4
	for files in "file later" "later file"; do
		cd "$work"
		# shellcheck disable=SC2086 # several words
		[ "$("$ELOG" show -q --around "+$after+-5ms" $files | wc -l)" = 1 ]
	done
	[ "$("$ELOG" show -q --since "$wall" - < <(cat "$work/file") | wc -l)" = 2 ]
	[ "$("$ELOG" show -q --since "$wall" - "$work/later" < <(cat "$work/file") | wc -l)" = 3 ]
}

@test "show: -f, --format, --fields, --session-summary" {
	string=$'quote " comma, back\\slash\ttab \xc3\xa9 \xff newline\nend'
	export string
	"$ELOG" capture -q -o "$work/file" -- sh -c '
		"$ELOG" emit -s 0x1f -l warning -k 3 form/one "u64 big; s32 less; __data_loc char[] text; char[8] word; __data_loc unsigned char[] data" \
			big=18446744073709551615 less=-5 "text=$string" word=w data=00ff
		"$ELOG" emit -s 0x1f form/two "u8 less" less=7
		"$ELOG" emit other/three'
	run_elog show -q -f 'less < 0' "$work/file"
	[ "${#lines[@]}" = 1 ]
	run_elog show -q -f 'less > -10' -f 'less < 100' -f 'event == "two"' "$work/file"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 1 ]
	contains "$output" "form 0x1f two"
	fails_with "-f 'less == word': column 9" show -q -f 'less == word' "$work/file"

	"$ELOG" show -q --format json "$work/file" > "$work/json"
	"$ELOG" show -q --format json --time wall "$work/file" > "$work/wall"
	"$ELOG" show -q --format json --time delta "$work/file" > "$work/delta"
	"$ELOG" show -q --format csv "$work/file" > "$work/csv"
	"$ELOG" show -q --format csv --time wall --fields time,event,text,less,data,big,comm "$work/file" > "$work/csv2"
	"$ELOG" show -q --format json --fields event,less,fields,keywords,session "$work/file" > "$work/json2"
	"$PYTHON" - "$work" <<'CHECK'
import csv, datetime, json, os, sys

def lines(name):
    with open(f"{sys.argv[1]}/{name}", encoding="utf-8", errors="surrogateescape") as file:
        return [json.loads(line) for line in file]

def table(name):
    with open(f"{sys.argv[1]}/{name}", encoding="utf-8", errors="surrogateescape",
              newline="") as file:
        return list(csv.DictReader(file))

events = lines("json")
assert len(events) == 3, events
one, two, three = events
assert (one["provider"], one["event"], one["level"]) == ("form", "one", "warning"), one
assert one["session"] == "0x1f" and three["session"] is None
assert one["fields"]["big"] == 18446744073709551615 and one["fields"]["less"] == -5
expected = os.environb[b"string"]
assert one["fields"]["text"].replace("\ufffd", "?") == \
    expected.replace(b"\xff", b"?").decode(), one
assert one["fields"]["word"] == "w"
assert all(isinstance(event[key], int) for event in events for key in ("pid", "tid", "cpu"))
assert one["time"] < two["time"] < three["time"]
walls = [datetime.datetime.fromisoformat(event["time"][:26] + event["time"][29:])
         for event in lines("wall")]
assert walls == sorted(walls) and walls[0].utcoffset() == datetime.timedelta(0)
deltas = [event["time"] for event in lines("delta")]
assert deltas[0] == 0 and abs(deltas[1] - (two["time"] - one["time"])) < 1e-6, deltas
chosen = lines("json2")
assert chosen[0]["less"] == -5 and chosen[1]["less"] == 7 and "less" not in chosen[2]
assert list(chosen[0]) == ["event", "less", "fields", "keywords", "session"]
rows = table("csv")
assert [row["event"] for row in rows] == ["one", "two", "three"]
assert [json.loads(row["fields"]) for row in rows] == [event["fields"] for event in events]
assert [int(row["tid"]) for row in rows] == [event["tid"] for event in events]
rows = table("csv2")
assert rows[0]["text"].encode("utf-8", "surrogateescape") == expected, rows[0]
assert rows[0]["big"] == "18446744073709551615" and rows[2]["text"] == rows[2]["less"] == ""
CHECK
	run_elog show -q --fields time,nosuch "$work/file"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 3 ]
	fails_with "a name is missing" show --fields a,,b "$work/file"
	fails_with "a name is missing" show --fields a, "$work/file"

	# Losses, as objects, and beside a table.
	run_elog capture -q -o "$work/lossy" --per-cpu-bytes 8K -- \
		taskset -c 0 "$ELOG" emit -n 20000 loss/much
	"$ELOG" show -q --format json "$work/lossy" > "$work/json" || true
	"$PYTHON" - "$work/json" <<'CHECK'
import json, sys
lost = shown = 0
for line in open(sys.argv[1]):
    event = json.loads(line)
    if "lost" in event:
        assert event["cpu"] == 0 and event["causes"] == {"no room": event["lost"]}, event
        lost += event["lost"]
    else:
        shown += 1
assert lost and lost + shown == 20000, (lost, shown)
CHECK
	run_elog show -q --format csv "$work/lossy"
	[ "$status" = 2 ]
	contains "$stderr" "no room"
	"$PYTHON" -c 'import csv, sys; assert {len(row) for row in csv.reader(sys.stdin)} == {10}' <<< "$output"

	# Sessions, summed up.
	"$ELOG" capture -q -o "$work/sessions" -- "$PYTHON" "$PRODUCER" 0 30 3 > /dev/null
	run_elog show --session-summary "$work/sessions" "$work/file"
	[ "$status" = 0 ]
	contains "$stderr" "33 events, lost 0"
	[ "${#lines[@]}" = 6 ]
	contains "${lines[0]}" START PROVIDER SESSION
	[ "$(grep -cE '^[0-9.]+ +number +0x[123] +[0-9.]+ +10 +240 info +step \.\. step$' <<< "$output")" = 3 ]
	[ "$(grep -cE ' form +0x1f +[0-9.]+ +2 +[0-9]+ warning one \.\. two$' <<< "$output")" = 1 ]
	[ "$(grep -cE ' other +- ' <<< "$output")" = 1 ]
	"$ELOG" show -q --session-summary --format json "$work/sessions" > "$work/json"
	"$ELOG" show -q --session-summary --format csv "$work/sessions" > "$work/csv"
	run_elog show -q --session-summary --time wall "$work/sessions"
	[ "${#lines[@]}" = 4 ]
	"$PYTHON" - "$work" <<'CHECK'
import csv, json, sys
rows = [json.loads(line) for line in open(sys.argv[1] + "/json")]
assert [row["session"] for row in rows] == ["0x1", "0x2", "0x3"], rows
assert all(row["events"] == 10 and row["bytes"] == 240 and row["worst_level"] == "info" and
           row["first_event"] == row["last_event"] == "step" for row in rows), rows
table = list(csv.DictReader(open(sys.argv[1] + "/csv", newline="")))
assert [{key: str(value) for key, value in row.items()
         if key not in ("start", "start_wall", "duration")} for row in rows] == \
       [{key: value for key, value in row.items()
         if key not in ("start", "start_wall", "duration")} for row in table], table
assert all(abs(float(one[key]) - float(other[key])) < 1e-6 for one, other in zip(rows, table)
           for key in ("start", "duration"))
CHECK
}

@test "show: several files are merged by time" {
	"$ELOG" capture -q -o "$work/one" -s 1 -- "$ELOG" capture -q -o "$work/two" -s 2 -- \
		"$ELOG" capture -q -o "$work/three" -s 3 --compress -- \
		"$PYTHON" "$PRODUCER" 0 600 3 3>&-
	"$ELOG" show --format json --time wall "$work/one" - "$work/two" \
		< <(cat "$work/three") > "$work/merged" 2> "$work/err"
	contains "$(cat "$work/err")" "600 events, lost 0"
	# A file's times of day are as good as the two clocks were read at once.
	"$PYTHON" - "$work/merged" <<'CHECK'
import datetime, json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
numbers = [event["fields"]["number"] for event in events]
assert sorted(numbers) == list(range(600)), numbers
for session in range(3):
    of_one = [number for number in numbers if number % 3 == session]
    assert of_one == sorted(of_one), of_one
seconds = [datetime.datetime.fromisoformat(event["time"][:26] + event["time"][29:]).timestamp()
           for event in events]
assert all(later > earlier - 0.01 for earlier, later in zip(seconds, seconds[1:]))
assert numbers[:200] != list(range(0, 600, 3))
CHECK
	# One that is not there, and one that is nothing, are told; the others shown.
	run_elog show "$work/one" "$work/nosuch" /dev/null "$work/two"
	[ "$status" = 1 ]
	contains "$stderr" "nosuch: No such file" "/dev/null: not a file of elog capture" "400 events"
	run_elog show -v -n 1 "$work/one" "$work/two" "$work/three"
	[ "${#lines[@]}" = 1 ]
	[ "$(grep -c 'kernel=' <<< "$stderr")" = 3 ]
}

@test "show: colours, pager, progress" {
	"$ELOG" capture -q -o "$work/file" -- "$ELOG" emit -l error -n 3 color/x 'u32 a' a=1
	export FILE=$work/file TERM=xterm
	escape=$'\e['
	on_terminal()
	{
		run timeout 60 script -qec "$*" /dev/null 3>&- < /dev/null
	}
	run_elog show -q --color always "$work/file"
	contains "$output" "$escape"
	run_elog show -q "$work/file"
	[[ $output != *$'\e'* ]]
	on_terminal '"$ELOG" show -q --no-pager "$FILE"'
	contains "$output" "$escape" "a=1"
	on_terminal '"$ELOG" show -q --no-pager --color never "$FILE"'
	[[ $output != *$'\e'* ]]
	NO_COLOR=1 on_terminal '"$ELOG" show -q --no-pager "$FILE"'
	[[ $output != *$'\e'* ]]
	NO_COLOR='' on_terminal '"$ELOG" show -q --no-pager "$FILE"'
	contains "$output" "$escape"
	NO_COLOR=1 on_terminal '"$ELOG" show -q --no-pager --color always "$FILE"'
	contains "$output" "$escape"
	TERM=dumb on_terminal '"$ELOG" show -q --no-pager "$FILE"'
	[[ $output != *$'\e'* ]]
	for format in json csv; do
		on_terminal '"$ELOG" show -q --no-pager --color always --format' $format '"$FILE"'
		[[ $output != *$'\e'* ]]
	done

	PAGER="sed s/^/paged:/" on_terminal '"$ELOG" show "$FILE"'
	[ "$(grep -c '^paged:.*a=1' <<< "$output")" = 3 ]
	# The summary is behind what the pager shows, not in it.
	contains "${lines[-1]}" "elog: 3 events"
	PAGER=false ELOG_PAGER="sed s/^/mine:/" on_terminal '"$ELOG" show "$FILE"'
	[ "$(grep -c '^mine:' <<< "$output")" = 3 ]
	PAGER="sed s/^/paged:/" ELOG_PAGER='' on_terminal '"$ELOG" show "$FILE"'
	[[ $output != *paged:* ]]
	PAGER="sed s/^/paged:/" on_terminal '"$ELOG" show --no-pager "$FILE"'
	[[ $output != *paged:* ]]
	PAGER="sed s/^/paged:/" on_terminal '"$ELOG" show "$FILE" | cat'
	[[ $output != *paged:* ]]
	# One that does not read to the end, one that is not there, and none at all.
	PAGER="head -n 1" on_terminal '"$ELOG" show "$FILE"'
	[ "$status" = 0 ]
	PAGER=/no/such on_terminal '"$ELOG" show -q "$FILE"'
	[ "$status" = 1 ]
	contains "$output" "there is no such pager"
	mkdir "$work/bin"
	ln -s "$(command -v cat)" "$work/bin"
	on_terminal 'PATH="'"$work/bin"'" "$ELOG" show -q "$FILE"'
	[ "$status" = 0 ]
	[ "$(grep -c a=1 <<< "$output")" = 3 ]
	fails_with "No such file" show "$work/nosuch"

	# Progress is where somebody sees it.
	mkfifo "$work/fifo"
	export FIFO=$work/fifo OUT=$work/shown
	script -qefc '"$ELOG" show - < "$FIFO" > "$OUT"' "$work/typescript" > /dev/null 3>&- < /dev/null &
	background+=("$!")
	tries=0
	until grep -q ' MiB, [0-9]* events' "$work/typescript" 2> /dev/null; do
		cat "$work/file"
		sleep 0.1
		[ $((tries += 1)) -lt 300 ]
	done > "$work/fifo"
	wait "$!"
	[[ $(cat "$work/typescript") == *$'\r\e[K'"elog: "*" events, lost 0"* ]]
	[ "$(grep -vc a=1 "$work/shown")" = 0 ]
	run_elog show "$work/file"
	[[ $stderr != *MiB* ]]
}

@test "capture: -f, --format, --fields, --color as it happens" {
	start_capture -f 'number >= 3 && number < 6' -f 'word == "word"'
	produce 0 10 0
	wait_for has_lines "$work/out" 3
	stop_capture INT
	[ "$status" = 0 ]
	[ "$(sed -n 's/.* number=\([0-9]*\) .*/\1/p' "$work/out" | tr -d '\n')" = 345 ]
	contains "$(cat "$work/err")" "3 events in"
	start_capture --format json --fields number,session
	produce 0 4 2
	wait_for has_lines "$work/out" 4
	stop_capture INT
	"$PYTHON" -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert [row["number"] for row in rows] == [0, 1, 2, 3], rows
assert [row["session"] for row in rows] == ["0x1", "0x2"] * 2, rows' < "$work/out"
	start_capture --format csv --time wall
	produce 0 4 2
	wait_for has_lines "$work/out" 5
	stop_capture INT
	"$PYTHON" -c '
import csv, json, sys
rows = list(csv.DictReader(sys.stdin))
assert [json.loads(row["fields"])["number"] for row in rows] == [0, 1, 2, 3], rows' < "$work/out"
	run_elog capture -q --color always -- "$ELOG" emit a/b
	contains "$output" $'\e['
	fails_with "column 4" capture -f "a >"
	run_elog capture -q -f 'c == word' -- "$ELOG" emit a/b 'u8 c' c=1
	[ "$status" = 1 ]
	contains "$stderr" "-f 'c == word': column 6"
	# A snapshot of a flight recorder, picked from, as JSON.
	run_elog capture -q --overwrite --format json -f 'number == 7' -- "$PYTHON" "$PRODUCER" 0 10 0
	[ "$status" = 0 ]
	contains "$output" '"number":7'
	[ "$(grep -c '"provider"' <<< "$output")" = 1 ]
}
