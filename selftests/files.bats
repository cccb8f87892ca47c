#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog capture to files, elog stop, and elog show with these files, with the kernel
# module. Needs root and python3.

load files.bash

@test "capture -o: --compress, -t, -C and -f keep the same events" {
	big=(--per-cpu-bytes 4M -q)
	"$ELOG" capture "${big[@]}" -o "$work/plain" -- \
		"$ELOG" capture "${big[@]}" -o "$work/fast" --compress=1 -- \
		"$ELOG" capture "${big[@]}" -o "$work/zstd" --compress -- \
		"$ELOG" capture "${big[@]}" -o "$work/filter" -f 'number >= 500 && word ~ "^wo"' -- \
		"$ELOG" capture "${big[@]}" -o "$work/cpu" -C 0 --compress -- \
		"$ELOG" capture "${big[@]}" -o "$work/none" -t 1 -- \
		sh -c '"$PRODUCER" 0 2000 3 > /dev/null; taskset -c 0 "$ELOG" emit -n 10 other/one' \
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
	# It compresses in a thread of its own.
	start_capture -o "$work/mine" -t $$ -t 1
	produce 0 5 0
	stop_capture INT
	[ "$status" = 0 ]
	contains "$(< "$work/err")" "0 events in"
	tid=$(sed -n 's/.* tid=\([0-9]*\) .*provider=other.*/\1/p' "$work/all" | head -n 1)
	[ "$(shown -t "$tid" "$work/plain" | wc -l)" = 10 ]

	# Filtered files report losses as well.
	run_elog capture --per-cpu-bytes 8K -o "$work/lossy" -f 'a == 1' --compress -- bash -c \
		'while_stopped $PPID taskset -c 0 "$ELOG" emit -n 2000 loss/much "u64 a" a=1'
	[ "$status" = 2 ]
	lost=$(sed -n 's/.*lost \([0-9]*\): no room.*/\1/p' <<< "$stderr")
	[ "$lost" -gt 0 ]
	run_elog show "$work/lossy"
	[ "$status" = 2 ]
	contains "$stderr" "lost $lost: no room $lost"
	[ $(($(grep -c 'loss - much' <<< "$output") + lost)) = 2000 ]
}

@test "show: a file that is still written is no error" {
	start_capture -o "$work/file"
	produce 0 10 0
	wait_for shows 10 "$work/file"
	for verb in "show -e number" "stat -e number" "latency number/step number/step"; do
		# shellcheck disable=SC2086 # an option is two words
		run_elog $verb "$work/file"
		[ "$status" = 0 ]
		contains "$stderr" "elog: $work/file: the capture is still running: read up to byte "
	done
	run_elog show -q "$work/file"
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	[ "${#lines[@]}" = 10 ]
	run_elog show -e number/later "$work/file"
	[ "$status" = 0 ]
	contains "$stderr" "no event 'number/later' yet"
	# A copy has no lock.
	cp "$work/file" "$work/copy"
	run_elog show "$work/copy"
	[ "$status" = 1 ]
	contains "$stderr" "the capture was cut off"
	[[ $stderr != *"still running"* ]]
	stop_capture INT
	run_elog show "$work/file"
	[ "$status" = 0 ]
	[ "$stderr" = "elog: 10 events, lost 0" ]
}

@test "capture --overwrite -o: one snapshot after the other" {
	start_capture --overwrite -o "$work/file" --trigger trigger/now
	produce 0 100 0
	kill -USR1 "$capture"
	# The file has the events before the rings take new ones.
	wait_for has_begun "$work/err" 'elog: snapshot 1: requested'
	shows 100 "$work/file"
	produce 100 100 0
	"$ELOG" emit trigger/now
	wait_for has_begun "$work/err" 'elog: snapshot 2: triggered'
	shows 201 "$work/file"
	produce 200 100 0
	stop_capture TERM
	[ "$status" = 0 ]
	contains "$(< "$work/err")" "301 events in" "$(stat -c %s "$work/file") bytes"
	run_elog show "$work/file"
	[ "$status" = 0 ]
	numbers "$work/file" | are_numbers 0 300

	# More events than fit in the rings: the newest are kept. Append, and rotate.
	start_capture --overwrite -o "$work/file" --per-cpu-bytes 8K --append --rotate 64K,3
	taskset -c 0 "$PRODUCER" 1000 1000 0
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

@test "capture --rotate: each event once, and no more than KEEP segments" {
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
	one=$(< "$work/one")
	two=$(< "$work/two")
	stop_capture INT
	[ "$status" = 0 ]
	contains "$(< "$work/err")" "$((one + two)) events in" "lost 0"
	files=("$work"/file*)
	sizes=$(stat -c %s "${files[@]}" | awk '{ sum += $1 } END { print sum }')
	contains "$(< "$work/err")" ", $sizes bytes,"
	"$ELOG" show -q --fields number "${files[@]}" > "$work/shown"
	sort "$work/shown" > "$work/all"
	sed -n 's/^number=\(.\{1,9\}\)$/\1/p' "$work/all" | are_numbers 0 "$one"
	sed -n 's/^number=\(.\{10\}\)$/\1/p' "$work/all" | are_numbers 1000000000 "$two"
	# Each segment is complete.
	for file in "${files[@]}"; do
		"$ELOG" show -q "$file" > /dev/null
	done
	wait_for has_lines "$work/followed" $((one + two)) ||
		{ wc -l "$work/followed"; cat "$work/followed.err"; ls -l "$work"; false; }
	kill -TERM "$follower"
	status=0
	wait "$follower" || status=$?
	cat "$work/followed.err"
	[ "$status" = 0 ]
	sort "$work/followed" | diff - "$work/all" > "$work/difference" ||
		{ head -n 20 "$work/difference"; false; }

	# At most KEEP segments, the newest ones.
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

	# Append to a file; a directory or device is not touched.
	run_elog capture -q -o "$work/kept" --append --rotate 64K,2 -- \
		"$PRODUCER" 50 10 0
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
	# They keep a recording from becoming a segment: it stays, and recording waits.
	fails_with "$work/kept: Directory not empty" capture -o "$work/kept" --rotate 64K,2
	numbers "$work/kept" | are_numbers 40 20
	rm "$work/kept" "$work/err"
	start_capture -o "$work/kept" --rotate 64K,2
	produce 0 10 0
	kill -HUP "$capture"
	wait_for grep -q "$work/kept: Directory not empty: events wait in memory" "$work/err"
	rm -r "$work/kept.1" "$work/kept.2"
	produce 10 10 0
	wait_for grep -q "$work/kept: written again after" "$work/err"
	stop_capture INT
	[ "$status" = 0 ]
	numbers "$work/kept" "$work/kept.1" | are_numbers 0 20
	# If no new file can be created, the oldest segment goes.
	small_disk "$work/few" 1M,nr_inodes=2
	rm "$work/err"
	start_capture -o "$work/few/file" --rotate 64K,2
	produce 0 10 0
	kill -HUP "$capture"
	wait_for grep -q "$work/few/file: the disk is full: 1 old segment was removed" "$work/err"
	produce 10 10 0
	stop_capture INT
	[ "$status" = 0 ]
	numbers "$work/few/file" | are_numbers 10 10
	rm "$work/few"/* "$work/err"
	# Without segments the capture waits, and an error at the end names the file.
	start_capture --split "$work/few"
	"$ELOG" emit one/event
	wait_for grep -q "$work/few: No space left on device: events wait" "$work/err"
	stop_capture INT
	[ "$status" = 1 ]
	[ "$(grep -c "$work/few/one.elog: No space left on device" "$work/err")" = 1 ]
}

@test "show --follow: a file that is renamed or truncated, and a pipe" {
	"$ELOG" capture -q -o "$work/file" -- "$PRODUCER" 0 10 0 > /dev/null
	"$ELOG" show --follow --fields number "$work/file" > "$work/followed" 2> "$work/show.err" 3>&- &
	follower=$!
	background+=("$follower")
	wait_for has_lines "$work/followed" 10
	# Another capture appends to the file.
	"$ELOG" capture -q -o "$work/file" --append -- "$PRODUCER" 10 10 0 > /dev/null
	wait_for has_lines "$work/followed" 20
	mv "$work/file" "$work/elsewhere"
	"$ELOG" capture -q -o "$work/file" -- "$PRODUCER" 20 5 0 > /dev/null
	wait_for has_lines "$work/followed" 25
	# A new file that is shorter than the old one.
	"$ELOG" capture -q -o "$work/file" -- "$ELOG" emit number/step 'u64 number' number=25
	wait_for has_lines "$work/followed" 26
	# Many rotations while show sleeps: it reads each segment.
	kill -STOP "$follower"
	start_capture -o "$work/file" --append --rotate 64K,9
	for i in 1 2 3 4; do
		produce $((16 + 10 * i)) 10 0
		kill -HUP "$capture"
		wait_for exists "$work/file.$i"
	done
	stop_capture INT
	# While the capture renames them, a number has no file.
	mv "$work/file.4" "$work/file.5"
	kill -CONT "$follower"
	wait_for has_lines "$work/followed" 66
	# A pipe of this name does not follow.
	mv "$work/file" "$work/moved"
	mkfifo "$work/file"
	"$ELOG" capture -q -o "$work/moved" --append -- "$PRODUCER" 66 10 0 > /dev/null
	wait_for has_lines "$work/followed" 76
	kill -INT "$follower"
	status=0
	wait "$follower" || status=$?
	cat "$work/show.err"
	[ "$status" = 0 ]
	contains "$(< "$work/show.err")" "76 events"
	sed 's/number=//' "$work/followed" | are_numbers 0 76

	run_elog show -q --fields number --follow - < <(cat "$work/file.5")
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 11 ]
	# A signal ends it even if there is nothing to read.
	mkfifo "$work/fifo"
	exec {out}<> "$work/fifo"
	"$ELOG" show --follow "$work/fifo" > "$work/out" 2> "$work/show.err" 3>&- &
	follower=$!
	background+=("$follower")
	# bash may forget a signal that arrives before it executes elog.
	runs_elog()
	{
		[ "/proc/$follower/exe" -ef "$ELOG" ]
	}
	wait_for runs_elog
	kill -TERM "$follower"
	wait "$follower" || true
}

@test "capture --split: a file for each provider" {
	start_capture --split "$work/dir"
	for provider in a.b a_b a-0x5 a; do
		"$ELOG" emit "$provider/step" 'u64 number' number=1
	done
	"$ELOG" emit -s 5 a/step 'u64 number' number=1
	stop_capture INT
	[ "$status" = 0 ]
	[ "$(cd "$work/dir" && LC_ALL=C ls -A | xargs)" = \
		"a%2d0x5.elog a-0x5.elog a.b.elog a.elog a_b.elog losses.elog" ]
	for file in "$work/dir"/*; do
		"$ELOG" show -q "$file" > "$work/shown"
		[ "$(wc -l < "$work/shown")" = "$([ "${file##*/}" = losses.elog ] && echo 0 || echo 1)" ]
	done
	# The owner of the directory could redirect its files to other places.
	mkdir "$work/others"
	chown 65534 "$work/others"
	run_elog capture --split "$work/others"
	[ "$status" = 1 ]
	contains "$stderr" "belongs to another user"
}

@test "show --follow --since: prints each event once" {
	"$ELOG" capture -q -o "$work/file" -- "$PRODUCER" 0 30 0 > /dev/null
	"$ELOG" show -q --follow --since=-1h --fields number "$work/file" > "$work/followed" 3>&- &
	follower=$!
	background+=("$follower")
	wait_for has_lines "$work/followed" 30
	"$ELOG" capture -q -o "$work/file" --append -- "$PRODUCER" 30 10 0 > /dev/null
	wait_for has_lines "$work/followed" 40
	# A new file that is at once longer than the part already read.
	"$ELOG" capture -q -o "$work/other" -- "$PRODUCER" 40 1000 0 > /dev/null
	cat "$work/other" > "$work/file"
	wait_for has_lines "$work/followed" 1040
	kill -TERM "$follower"
	wait "$follower"
	sed 's/^number=//' "$work/followed" | are_numbers 0 1040
}

@test "capture --split: each file has the name of a thread once" {
	# Thread ids differ by 64, the size of the cache of names for each file.
	start_capture --split "$work/dir"
	# Threads wait until the capture has read their names.
	taskset -c 0,1 "$PYTHON" -c '
import ctypes, fcntl, os, struct, threading
device = os.open("/dev/eventlog", os.O_RDWR)
command = ctypes.create_string_buffer(b"step u64 number")
provider = ctypes.create_string_buffer(b"number")
request = bytearray(struct.pack("=IIQQQIIIIIIQ", 64, 0, ctypes.addressof(command),
                                ctypes.addressof(provider), 0, 0, 0, 0, 0, 0, 0, 0))
fcntl.ioctl(device, 3 << 30 | 4 << 16 | 0xe7 << 8 | 1, request)
index = struct.unpack_from("=I", request, 36)[0]
event = struct.Struct("=IQ")
open("/proc/self/comm", "w").write("turner")
turns = [threading.Event() for i in range(65)]
def take_turns(me, other):
    for i in range(100):
        turns[me].wait()
        turns[me].clear()
        os.write(device, event.pack(index, i))
        turns[other].set()
others = {1: 64, 64: 1}
threads = [threading.Thread(target=take_turns, args=(i, others[i])) if i in others else
           threading.Thread(target=turns[0].wait) for i in range(65)]
for thread in threads:
    thread.start()
ids = [thread.native_id for thread in threads]
turns[1].set()
for i in others:
    threads[i].join()
turns[0].set()
print(abs(ids[64] - ids[1]))
'
	stop_capture INT
	[ "$status" = 0 ]
	contains "$(< "$work/err")" "200 events in"
	numbers "$work/dir/number.elog" | sort -n | diff - <(seq 0 99 | sed p)
	named=$(grep -ao turner "$work/dir/number.elog" | wc -l)
	echo "named $named times"
	[ "$named" -ge 2 ]
	[ "$named" -le 4 ]
}

@test "capture --split: a file for each session" {
	# More files than may be open: they are closed, and appended to later.
	start_capture --split "$work/dir" --per-cpu-bytes 4M
	produce 0 1800 600
	produce 1800 10 0
	"$ELOG" emit -s 5 losses/mine 'u64 number' number=1810
	"$ELOG" emit losses/mine 'u64 number' number=1811
	stop_capture INT
	[ "$status" = 0 ]
	contains "$(< "$work/err")" "1812 events in" "lost 0"
	files=("$work/dir"/*)
	[ "${#files[@]}" = 604 ]
	bytes=$(stat -c %s "${files[@]}" | awk '{ sum += $1 } END { print sum }')
	contains "$(< "$work/err")" ", $bytes bytes,"
	for name in losses number number-0x1 number-0x258 losses-0x5 losses-0x0; do
		[ -e "$work/dir/$name.elog" ]
	done
	[ "$(stat -c %a "$work/dir")" = 700 ]
	numbers "$work/dir/number-0x7.elog" > "$work/seven"
	diff -q "$work/seven" <(printf '%s\n' 6 606 1206)
	run_elog show "$work/dir/number-0x7.elog"
	[ "$status" = 0 ]
	numbers "$work/dir/number.elog" | are_numbers 1800 10
	# Also if the limit of open files is lower.
	(
		ulimit -Sn 256
		numbers "$work/dir"/* > "$work/numbers"
		"$ELOG" show "$work/dir"/* > /dev/null
	)
	are_numbers 0 1812 < "$work/numbers"
	run_elog show --session-summary --format csv "$work/dir"/*
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 604 ]

	# Again to the same directory: few open files, a filter, compression.
	run_elog capture --split "$work/dir" -f 'number < 1020' --compress -- \
		bash -c 'ulimit -Sn 16; exec "$ELOG" capture -q --split "$1" -- "$PRODUCER" 1000 40 20' \
		- "$work/few"
	[ "$status" = 0 ]
	contains "$stderr" "20 events in"
	numbers "$work/few"/* | are_numbers 1000 40
	diff -q <(numbers "$work/dir/number-0x7.elog") <(printf '%s\n' 6 606 1206 1006)

	# All open files report a loss, and so does losses.elog.
	start_capture --split "$work/lossy" --per-cpu-bytes 8K
	"$ELOG" emit -s 1 loss/little
	wait_for exists "$work/lossy/loss-0x1.elog"
	while_stopped "$capture" taskset -c 0 "$ELOG" emit -s 2 -n 2000 loss/much
	stop_capture TERM
	[ "$status" = 2 ]
	lost=$(sed -n 's/.* lost \([0-9]*\): no room.*/\1/p' "$work/err")
	[ "$lost" -gt 0 ]
	for file in loss-0x1 losses; do
		run_elog show "$work/lossy/$file.elog"
		[ "$status" = 2 ]
		contains "$stderr" "lost $lost: no room $lost"
	done
	# show reports it once for all of them together.
	run_elog show "$work/lossy"/*
	[ "$status" = 2 ]
	contains "$stderr" "lost $lost: no room $lost"
	told=$(sed -n 's/^# lost \([0-9]*\) events* on CPU 0: no room \1$/\1/p' <<< "$output" |
		awk '{ sum += $1 } END { print sum }')
	[ "$told" = "$lost" ]

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
	contains "$stderr" "a background capture writes to it"
	run_elog capture --background --split "$work/dir/"
	[ "$status" = 0 ]
	produce 100 100 2
	fails_with "no background capture writes to it" stop "$work/other"
	cd "$work"
	run_elog stop file
	[ "$status" = 0 ]
	contains "$stderr" "200 events in" "lost 0"
	numbers file | are_numbers 0 200
	fails_with "no background capture writes to it" stop file
	run_elog stop -q dir
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	numbers dir/number-0x* | are_numbers 100 100

	# Status 2; of several captures the worst status.
	run_elog capture --background -o lossy --per-cpu-bytes 8K
	run_elog capture --background --overwrite -o recorder
	while_stopped "$(head -n 1 "$(grep -l '/lossy$' /run/eventlog/*.capture)")" \
		taskset -c 0 "$ELOG" emit -n 2000 loss/much
	run_elog stop
	[ "$status" = 2 ]
	contains "$stderr" " of loss/much"
	[ "$("$ELOG" show -q recorder | grep -c 'loss - much$')" -gt 1000 ]
	fails_with "there is no background capture" stop

	# It also reports captures that have ended: normally,
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
	# by SIGKILL,
	run_elog capture --background -o file
	kill -KILL "$(head -n 1 /run/eventlog/*.capture)"
	wait_for has_ended /run/eventlog/*.capture
	run_elog stop
	[ "$status" = 1 ]
	contains "$stderr" "$work/file: process" "ended without an exit status"
	fails_with "there is no background capture" stop
	# On a full disk it waits, and ends with an error if that stays full.
	small_disk "$work/small" 64K
	run_elog capture --background -o small/file
	"$ELOG" emit -n 5000 full/x
	wait_for grep -q "small/file: No space left on device: events wait" /run/eventlog/*.log
	run_elog stop small/file
	[ "$status" = 1 ]
	contains "$stderr" "small/file: No space left on device"
	# A killed capture does not block its file.
	run_elog capture --background -o file
	kill -KILL "$(head -n 1 /run/eventlog/*.capture)"
	wait_for has_ended /run/eventlog/*.capture
	run_elog capture --background -o file
	[ "$status" = 0 ]
	run_elog stop file
	[ "$status" = 0 ]
	[ -z "$(ls /run/eventlog)" ]

	# An error at the start is reported at once, and leaves no capture.
	fails_with "No such file" capture --background -o "$work/none/file"
	fails_with "Is a directory" capture --background -o "$work"
	fails_with "column 4" capture --background -o "$work/file" -f "a >"
	fails_with "the minimum is two pages" capture --background -o "$work/file" --per-cpu-bytes 4K
	fails_with "Invalid argument" capture --background -o $'a\nb'
	[ -z "$(ls /run/eventlog)" ]

	# The capture does not hold the terminal, and survives its end.
	run timeout "$HANG_SECONDS" script -qec '"$ELOG" capture --background -o "'"$work"'/file"' /dev/null 3>&-
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
	# Other users must be able to reach the directory.
	chmod a+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$work"
	chmod 0666 /dev/eventlog
	as()
	{
		local number=$1

		shift
		run_apart timeout "$HANG_SECONDS" setpriv --reuid=$((65532 + number)) \
			--clear-groups --inh-caps=+perfmon --ambient-caps=+perfmon \
			env XDG_RUNTIME_DIR="$work/run.$number" "$ELOG" "$@" 3>&-
	}
	as 1 capture --background -o "$work/shared/one"
	[ "$status" = 0 ]
	as 2 capture --background -o "$work/shared/two"
	[ "$status" = 0 ]
	produce 0 10 0
	fails_with "there is no background capture" stop
	as 2 stop "$work/shared/one"
	[ "$status" = 1 ]
	as 2 stop
	[ "$status" = 0 ]
	contains "$stderr" "10 events"
	as 2 stop
	[ "$status" = 1 ]
	# Files in the directory of another user are not believed.
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

@test "capture -o: full disks, signals and SIGKILL leave readable files" {
	for arguments in "-o FILE" "-o FILE --compress" "-o FILE --rotate 64K,99" \
		"-o FILE -f a==1" "--split FILE"; do
		rm -rf "$work/small"
		# Equal events are compressed well.
		[[ $arguments == *compress ]] && size=16K || size=64K
		small_disk "$work/small" "$size"
		# shellcheck disable=SC2086 # several words
		run_elog capture ${arguments//FILE/$work/small/file} -e full -- \
			"$ELOG" emit -n 20000 full/x 'u64 a' a=1
		echo "$arguments: $stderr"
		[ "$status" = 1 ]
		contains "$stderr" "small/file" "No space left on device" "elog show can print"
		written=$(sed -n 's/^elog: \([0-9]*\) events in.*/\1/p' <<< "$stderr")
		unwritten=$(sed -n 's/^elog: .* \([0-9]*\) not written, .*/\1/p' <<< "$stderr")
		[ $((written + unwritten)) = 20000 ]
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

	ends=INT
	for arguments in "-o FILE --compress" "-o FILE --rotate 64K" "-o FILE -f number>=0" \
		"--split FILE" "-o FILE --overwrite"; do
		# SIGINT and SIGTERM do the same (see elog.bats): test one of them.
		[ $ends = INT ] && ends=TERM || ends=INT
		for signal in $ends KILL; do
			rm -rf "$work"/file*
			# shellcheck disable=SC2086 # several words
			start_capture ${arguments//FILE/$work/file}
			produce 0 100 0
			file=$work/file
			[[ $arguments != --split* ]] || file=$work/file/number.elog
			[[ $arguments:$signal != *--overwrite:KILL ]] || kill -USR1 "$capture"
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

	# A pipe without a reader that reads: a second signal ends the capture.
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

@test "capture: -f, --format, --fields, --color with live output" {
	start_capture -f 'number >= 3 && number < 6' -f 'word == "word"'
	produce 0 10 0
	wait_for has_lines "$work/out" 3
	stop_capture INT
	[ "$status" = 0 ]
	[ "$(sed -n 's/.* number=\([0-9]*\) .*/\1/p' "$work/out" | tr -d '\n')" = 345 ]
	contains "$(< "$work/err")" "3 events in"
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
	# A filtered snapshot of a flight recorder, as JSON.
	run_elog capture -q --overwrite --format json -f 'number == 7' -- "$PRODUCER" 0 10 0
	[ "$status" = 0 ]
	contains "$output" '"number":7'
	[ "$(grep -c '"provider"' <<< "$output")" = 1 ]
}

@test "capture: times of day are right in a time namespace" {
	local elsewhere=(unshare --time --fork --monotonic 86400 --boottime 86400)

	"${elsewhere[@]}" true || skip "there are no time namespaces"
	before=$(date +%s)
	"${elsewhere[@]}" "$ELOG" capture -q -o "$work/file" -- "$ELOG" emit a/b
	"${elsewhere[@]}" "$ELOG" capture -q -o "$work/picked" -C 0 -C 1 -- "$ELOG" emit a/b
	"${elsewhere[@]}" "$ELOG" capture -q --overwrite -o "$work/recorded" -- "$ELOG" emit a/b
	"${elsewhere[@]}" "$ELOG" capture -q --time wall -- "$ELOG" emit a/b > "$work/text"
	after=$(date +%s)
	"$ELOG" show -q --time wall "$work/file" "$work/picked" "$work/recorded" >> "$work/text"
	[ "$(wc -l < "$work/text")" = 4 ]
	while read -r line; do
		[[ $line =~ ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8})\.[0-9]{9}\ a\ -\ b$ ]]
		stamp=$(date -d "${BASH_REMATCH[1]}" +%s)
		echo "$before $stamp $after"
		[ "$before" -le "$stamp" ]
		[ "$stamp" -le "$after" ]
	done < "$work/text"
	# Timestamps are those of the initial namespace.
	read -r now _ < /proc/uptime
	"$ELOG" show -q --format csv --fields time "$work/file" | awk -v now="$now" '
		NR == 2 { time = $1 }
		END { exit !(time > 0 && time < now + 1) }'
	# The time of a snapshot is in the same clock, so the next snapshot is later.
	: > "$work/err"
	"${elsewhere[@]}" "$ELOG" capture -v --overwrite -o "$work/two" 2> "$work/err" 3>&- &
	started=$!
	background+=("$started")
	wait_for has_begun "$work/err" 'elog: capturing'
	capture=$(pgrep -P "$started" -x elog)
	"$ELOG" emit c/one
	kill -USR1 "$capture"
	wait_for has_begun "$work/err" 'elog: snapshot 1: requested'
	[ "$("$ELOG" show -q "$work/two" 2> /dev/null | wc -l)" = 1 ]
	"$ELOG" emit c/two
	kill -INT "$capture"
	wait_elog
	[ "$status" = 0 ]
	"$ELOG" show -q "$work/two" > "$work/text"
	contains "$(< "$work/text")" "c - one" "c - two"
}

@test "capture: prints its summary when the terminal is gone" {
	# Writing to that terminal fails with EIO.
	"$PYTHON" -c '
import os, subprocess, sys
elog = sys.argv[1]
master, slave = os.openpty()
capture = subprocess.Popen([elog, "capture", "-v"], stdout=slave,
                           stderr=subprocess.PIPE, text=True)
os.close(slave)
assert capture.stderr.readline() == "elog: capturing\n"
subprocess.run([elog, "emit", "a/b"], check=True)
assert b" a - b" in os.read(master, 4096)
os.close(master)
subprocess.run([elog, "emit", "a/b"], check=True)
summary = capture.stderr.read()
assert "1 event in" in summary and ", 1 not written, lost 0" in summary, summary
assert "Input/output error" in summary, summary
assert capture.wait() == 1
' "$ELOG"
}

# The inner capture has a filter, so it looks at each event. The rings hold all events.
@test "capture -o: events, threads and names that are new in the middle are decoded" {
	cp "$PRODUCER" "$work/renamed"
	run_elog capture -o "$work/raw" --per-cpu-bytes 4M -e 'number/*' -e 'late/*' -- \
		"$ELOG" capture -q -C 0 -o "$work/looked" --per-cpu-bytes 4M -e 'number/*' \
		-e 'late/*' -- taskset -c 0 bash -c '
			"$PRODUCER" 0 10000 0
			"$ELOG" emit -n 20 late/one "u32 x" x=7
			"$PRODUCER" 10000 10000 0
			"$1" 20000 10000 0
			"$ELOG" emit -n 20 late/two "u32 y" y=8
			"$PRODUCER" 30000 10000 0' bash "$work/renamed"
	[ "$status" = 0 ]
	contains "$stderr" "40040 events in" "lost 0"
	numbers "$work/raw" | are_numbers 0 40000
	# Each subscriber has its own FLUSH, which may change times.
	for file in raw looked; do
		"$ELOG" show -q "$work/$file" | awk '{ $3 = $4 = ""; print }' > "$work/$file.txt"
	done
	cmp "$work/raw.txt" "$work/looked.txt"
	"$ELOG" show -q "$work/raw" > "$work/raw.txt"
	[ "$(grep -c ' elog .* one .*x=7' "$work/raw.txt")" = 20 ]
	[ "$(grep -c ' elog .* two .*y=8' "$work/raw.txt")" = 20 ]
	[ "$(grep -c ' produce ' "$work/raw.txt")" = 30000 ]
	[ "$(grep -c ' renamed ' "$work/raw.txt")" = 10000 ]
	# Files that continue others have what was new in those.
	run_elog capture -o "$work/parts" --writers 2 --per-cpu-bytes 4M --rotate 256K,40 -- bash -c '
		taskset -c 0 "$PRODUCER" 0 10000 0
		kill -HUP $PPID
		taskset -c 0 "$1" 10000 10000 0' bash "$work/renamed"
	[ "$status" = 0 ]
	for file in "$work"/parts*; do
		run_elog show -q "$file"
		[ "$status" = 0 ]
		[[ $stderr != *damage* ]]
	done
	numbers "$work"/parts* | are_numbers 0 20000
	"$ELOG" show -q "$work"/parts* > "$work/parts.txt"
	[ "$(grep -c ' renamed ' "$work/parts.txt")" = 10000 ]
}

@test "a file may follow --" {
	elog capture -q -e dash -o "$work/dash.elog" -- "$ELOG" emit dash/x
	[ "$(elog show --fields event -- "$work/dash.elog")" = "event=x" ]
	[ "$(elog export --format jsonl -- "$work/dash.elog" | grep -c '"event":"x"')" = 1 ]
	[ "$(elog sql -- "$work/dash.elog" 'SELECT count(*) FROM x' | tail -n 1)" = 1 ]
	elog report -o "$work/dash.html" -- "$work/dash.elog"
	grep -q dash "$work/dash.html"
}

@test "capture -o: only one process writes a file" {
	local option

	"$ELOG" capture -q -o "$work/other" -- "$PRODUCER" 0 10 0
	for option in --quiet --append --rotate=64K --writers=2 "--filter=number >= 0"; do
		rm -f "$work"/file*
		start_capture -o "$work/file" $([ "$option" = --writers=2 ] && echo "$option")
		produce 0 1000 0
		fails_with "$work/file: process $capture (elog capture) writes to it" \
			capture -o "$work/file" -d 5 "$option"
		contains "$stderr" "kill -INT $capture"
		# By each of its names.
		ln "$work/file" "$work/hard"
		ln -s file "$work/soft"
		fails_with "writes to it" capture -o "$work/hard" -d 5
		fails_with "writes to it" capture -o "$work/soft" -d 5
		fails_with "writes to it" capture -o /dev/fd/9 -d 5 9>> "$work/file"
		status=0
		"$ELOG" capture -o - -d 5 >> "$work/file" 2> "$work/refused" || status=$?
		[ "$status" = 1 ]
		contains "$(< "$work/refused")" "process $capture (elog capture) writes to it"
		fails_with "writes to it" export --format jsonl -o "$work/file" "$work/other"
		fails_with "$work/file: process $capture (elog capture) writes to it" \
			stop "$work/file"
		produce 1000 1000 0
		stop_capture INT
		[ "$status" = 0 ]
		numbers "$work/file" | are_numbers 0 2000
		rm "$work/hard" "$work/soft"
	done
	"$ELOG" capture -q --background -o "$work/file" --append
	fails_with "elog stop $work/file" capture -o "$work/file" -d 5
	"$ELOG" stop -q "$work/file"
	# A split file, and that of losses.
	start_capture --split "$work/split"
	fails_with "writes to it" capture --split "$work/split" -d 5
	stop_capture INT
}

@test "capture -o: what is there is kept" {
	local record=("$ELOG" capture -o) stop=(-- "$PRODUCER")

	cd "$work"
	"${record[@]}" file "${stop[@]}" 0 10 0
	"${record[@]}" file "${stop[@]}" 10 10 0 2> err
	contains "$(< err)" "elog: file: the recording that was there is file.old now"
	numbers file.old | are_numbers 0 10
	numbers file | are_numbers 10 10
	"${record[@]}" file --writers 2 "${stop[@]}" 20 10 0
	numbers file.old | are_numbers 10 10
	"${record[@]}" file "${stop[@]}" 30 10 0
	[ ! -e file-w1 ]
	[ -e file.old-w1 ]
	numbers file.old | are_numbers 20 10
	"${record[@]}" file "${stop[@]}" 40 10 0
	[ ! -e file.old-w1 ]
	"${record[@]}" file --rotate 64K "${stop[@]}" 50 10 0
	numbers file.1 | are_numbers 40 10
	numbers file | are_numbers 50 10
	# A symbolic link stays one.
	ln -s file link
	"${record[@]}" link "${stop[@]}" 60 10 0
	[ -L link ]
	numbers link | are_numbers 60 10
	numbers file.old | are_numbers 50 10
	# The standard output is appended to.
	"${record[@]}" - "${stop[@]}" 0 10 0 > out
	"${record[@]}" /dev/stdout "${stop[@]}" 10 10 0 >> out
	numbers out | are_numbers 0 20

	# What elog has not written stays, byte by byte.
	echo text > text
	for option in --quiet --append --rotate=64K; do
		fails_with "text: holds something that elog capture has not written" \
			capture -o text "$option" -d 5
	done
	status=0
	"${record[@]}" - -d 5 >> text 2> err || status=$?
	[ "$status" = 1 ]
	mv link link.elog
	cp text file.old
	fails_with "file.old, but that cannot be replaced: it is no recording" capture -o file -d 5
	for verb in "report" "stat" "stat --format prometheus" "export --format jsonl"; do
		# shellcheck disable=SC2086 # an option is two words
		fails_with "file: is a recording, and would be overwritten" $verb -o file out
	done
	[ "$(cat text file.old)" = $'text\ntext' ]
	numbers file | are_numbers 60 10
	rm file.old
	for what in "mkfifo file.old" "mkdir file.old" "ln -s nowhere file.old"; do
		$what
		fails_with "file.old, but that cannot be replaced: it is no regular file" \
			capture -o file -d 5
		[ -p file.old ] || [ -d file.old ] || [ -L file.old ]
		rm -r file.old
	done
	numbers file | are_numbers 60 10
	# After a crash of the machine there are zeros, which the recorder of a host survives.
	head -c 4096 /dev/zero > zeros
	cp zeros zeros.elog
	fails_with "cannot be appended to" capture -o zeros --append -d 5
	cmp zeros zeros.elog
	"${record[@]}" zeros --append --rotate 64K "${stop[@]}" 0 10 0
	cmp zeros.1 zeros.elog
	numbers zeros | are_numbers 0 10
	: > empty
	"${record[@]}" empty "${stop[@]}" 0 10 0
	[ ! -e empty.old ]
	"${record[@]}" /dev/null "${stop[@]}" 0 10 0
}

# numbers_follow FILE FIRST END: those before FIRST may be there, those up to END are
numbers_follow()
{
	numbers "$1" | awk -v first="$2" -v end="$3" '
		$0 != next_number && next_number > first { exit 1 }
		{ next_number = $0 + 1 }
		END { exit next_number != end }'
}

@test "capture -o: others truncate, write to, remove or rename the file" {
	local option

	for option in --quiet "--filter=number >= 0" --append --compress --rotate=1M --writers=2; do
		rm -rf "$work/d"
		mkdir "$work/d"
		start_capture -o "$work/d/file" "$option"
		produce 0 1000 0
		wait_for shows 1000 "$work/d/file"
		truncate -s 0 "$work/d/file"
		produce 1000 1000 0
		stop_capture INT
		[ "$status" = 2 ]
		contains "$(< "$work/err")" "another program has truncated it"
		run_elog show "$work/d/file"
		contains "$output" "number=1999"
		[ "$option" = --writers=2 ] || numbers "$work/d/file" | are_numbers 1000 1000
	done
	for option in --quiet "--filter=number >= 0"; do
		start_capture -o "$work/file" "$option"
		produce 0 1000 0
		wait_for shows 1000 "$work/file"
		truncate -s 50 "$work/file"
		produce 1000 1000 0
		wait_for shows 1000 "$work/file"
		# What was left of the first block is gone, too.
		run_elog show -q "$work/file"
		[ -z "$stderr" ]
		echo others >> "$work/file"
		produce 2000 1000 0
		wait_for shows 2000 "$work/file"
		rm "$work/file"
		produce 3000 1000 0
		wait_for shows 1000 "$work/file"
		mv "$work/file" "$work/renamed"
		produce 4000 1000 0
		stop_capture INT
		[ "$status" = 2 ]
		contains "$(< "$work/err")" "has truncated it: up to 1000 events are gone" \
			"has written to it: 0 events are gone" "has removed it: up to 2000 events" \
			"the events are in $work/renamed"
		numbers "$work/renamed" | are_numbers 3000 2000
	done
	contains "$(< "$work/err")" "elog: 2000 events in" "3000 removed by others"
	# A file that cannot be read now was not overwritten.
	rm "$work/renamed" "$work/err"
	start_capture -o "$work/file"
	produce 0 1000 0
	wait_for shows 1000 "$work/file"
	prlimit --pid "$capture" --nofile=3:
	echo others >> "$work/file"
	produce 1000 1000 0
	wait_for grep -q "has written to it: 0 events are gone" "$work/err"
	wait_for grep -q "Too many open files: events wait in memory" "$work/err"
	prlimit --pid "$capture" --nofile=1024:
	wait_for shows 2000 "$work/file"
	stop_capture INT
	[ "$status" = 0 ]
}

@test "capture -o: others overwrite the file in place" {
	local option size number

	shows_all()
	{
		shows 1000 file*
	}
	cd "$work"
	echo others > small
	yes others | head -c 300000 > large
	for option in --quiet --rotate=64K,9; do
		for size in small large; do
			rm -f file* moved err
			start_capture -o file "$option"
			produce 0 1000 0
			wait_for shows 1000 file
			# cp truncates the file before it writes.
			while_stopped "$capture" cp $size file
			[ "$option" = --quiet ] || kill -HUP "$capture"
			produce 1000 1000 0
			wait_for grep -Eq "has (truncated|overwritten) it: up to 1000 events are gone; when" err
			# What is no recording stays until it is moved, and becomes no segment.
			cmp $size file
			mv file moved
			# The capture may begin a new file first, which the rotation makes a segment.
			wait_for shows_all
			stop_capture INT
			[ "$status" = 2 ]
			cmp $size moved
			numbers file* | are_numbers 1000 1000
		done
	done
	# A part of a capture that waits keeps the numbers of its segments.
	rm -f file* moved err
	start_capture -o file --rotate=64K,9 --writers=2
	for number in 1 2 3; do
		produce "${number}000" 1000 0
		[ $number != 3 ] || while_stopped "$capture" cp small file-w1
		kill -HUP "$capture"
		wait_for exists file.$number
		[ $number = 3 ] || wait_for exists file.$number-w1
	done
	wait_for grep -q "file-w1: another program has" err
	mv file-w1 moved
	wait_for exists file.3-w1
	stop_capture INT
	for number in 2 3; do
		run_elog show -q file.$number
		[ "$status" = 0 ]
		[ -z "$stderr" ]
	done
}

@test "capture -o: a file system without locks, and a sandbox without statx" {
	for what in locks statx; do
		run_apart "$PYTHON" "$BATS_TEST_DIRNAME/deny.py" $what \
			"$ELOG" capture -o "$work/$what" -- "$PRODUCER" 0 100 0
		[ "$status" != 77 ] || skip "there is no seccomp"
		[ "$status" = 0 ]
		[[ $stderr != *lock* ]]
		numbers "$work/$what" | are_numbers 0 100
	done
}

# directory_waits ERRNO: the capture in the background states it
directory_waits()
{
	grep -q "^state *$1 " /run/eventlog/*.capture
}

@test "capture --rotate: its directory goes, and comes back" {
	local away=$work/away directory=$work/d

	mkdir "$directory"
	"$ELOG" capture -q --background -e number -o "$directory/file" --rotate 64K,50
	produce 0 1000 0
	mv "$directory" "$away"
	produce 1000 3000 0
	wait_for directory_waits 2
	mkdir "$directory"
	wait_for directory_waits 0
	produce 4000 1000 0
	# What was read while the directory was away may be there, too.
	newest_is_there()
	{
		[ "$(numbers "$directory"/file* | tail -n 1)" = 4999 ]
	}
	wait_for newest_is_there
	# The next file cannot be opened, and then the directory is back.
	mv "$directory" "$work/again"
	produce 5000 3000 0
	wait_for directory_waits 2
	mv "$work/again" "$directory"
	wait_for directory_waits 0
	# Another file has the name: it stays.
	mv "$directory/file" "$work/last"
	echo others > "$directory/file"
	produce 8000 3000 0
	wait_for directory_waits 17
	[ "$(< "$directory/file")" = others ]
	rm "$directory/file"
	wait_for directory_waits 0
	run_elog stop "$directory/file"
	[ "$status" = 0 ]
	contains "$stderr" "No such file or directory: events wait in memory" \
		"written again after" "has renamed it: the events are in $away/file"
	numbers "$work/last" "$away"/file* "$directory"/file* | are_numbers 0 11000
	# What cannot be written until the end is counted.
	"$ELOG" capture --background -e number -o "$directory/file"
	produce 0 1000 0
	wait_for shows 1000 "$directory/file"
	rm -r "$directory"
	produce 1000 1000 0
	run_elog stop "$directory/file"
	[ "$status" = 1 ]
	contains "$stderr" "has removed it: up to 1000 events are gone" "No such file or directory" \
		"1000 not written, 1000 removed by others, lost 0"
}
