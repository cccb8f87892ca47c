#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog capture --writers, and elog show with its files, with the kernel module. Needs root
# and two CPUs.

load files.bash

blocked=
cpu1=/sys/devices/system/cpu/cpu1/online

# Another test needs the CPU that a failed one has left offline.
teardown()
{
	end_background
	[ ! -w $cpu1 ] || echo 1 > $cpu1
	[ -z "$blocked" ] || fsfreeze -u "$blocked"
	for directory in "${mounted[@]}"; do
		umount "$directory" 2> /dev/null || true
	done
}

# nproc would only count the CPUs that the test may use.
two_cpus()
{
	[ "$(getconf _NPROCESSORS_ONLN)" -ge 2 ] || skip "one CPU"
}

# Emits COUNT numbers from FIRST on, on a CPU.
produce_on()
{
	taskset -c "$1" "$PRODUCER" "$2" "$3" 0 > /dev/null
}

# The times that elog show prints do not decrease.
in_order()
{
	"$ELOG" show -q --fields time "$@" | sed 's/^time=//' | sort -c -n
}

# shown FILE...: the number of events.
shown()
{
	"$ELOG" show -q --fields number "$@" | awk '/^number=/ { count++ } END { print count + 0 }'
}

# all_show COUNT: the files of a capture that goes on have so many events.
all_show()
{
	[ "$(shown "$work"/file* 2> /dev/null)" = "$1" ]
}

@test "capture --writers: all files together have each event once, in order" {
	two_cpus
	run_elog capture -o "$work/file" --writers 2 --per-cpu-bytes 4M -- bash -c \
		'taskset -c 0 "$PRODUCER" 0 3000 2 & taskset -c 1 "$PRODUCER" 3000 3000 2; wait'
	[ "$status" = 0 ]
	contains "$stderr" "6000 events in" "lost 0" \
		"$(cat "$work"/file* | wc -c) bytes"
	[ "$(cd "$work" && echo file*)" = "file file-w1" ]
	numbers "$work/file" | are_numbers 0 6000
	in_order "$work/file"
	"$ELOG" show -C 1 -q --fields number "$work/file" | diff -q - <(
		"$ELOG" show -C 1 -q --fields number "$work/file-w1")
	run_elog show "$work/file"
	[ "$status" = 0 ]
	contains "$stderr" "6000 events, lost 0"
	# Files that are given twice are read once; other verbs read all files as well.
	[ "$(shown "$work"/file*)" = 6000 ]
	[ "$(shown "$work/file-w1" "$work/file")" = 6000 ]
	[ "$(shown "$work/file-w1")" = 3000 ]
	run_elog stat "$work/file"
	contains "$output" 6000

	# Another capture with one writer keeps all files, with other names.
	"$ELOG" capture -q -o "$work/file" -- "$PRODUCER" 0 10 0 > /dev/null
	[ "$(cd "$work" && echo file*)" = "file file.old file.old-w1" ]
	numbers "$work/file" | are_numbers 0 10
	numbers "$work/file.old" | are_numbers 0 6000

	# Compressed.
	run_elog capture -o "$work/zstd" --writers auto --compress --per-cpu-bytes 4M -- bash -c \
		'taskset -c 0 "$PRODUCER" 0 1000 2 & taskset -c 1 "$PRODUCER" 1000 1000 2; wait'
	[ "$status" = 0 ]
	numbers "$work/zstd" | are_numbers 0 2000
	[ -e "$work/zstd-w1" ]

	# A pipe has one writer.
	"$ELOG" capture -q -o - --writers 2 -- "$PRODUCER" 0 100 0 2> /dev/null > "$work/one"
	numbers "$work/one" | are_numbers 0 100
	mkfifo "$work/pipe"
	cat "$work/pipe" > "$work/copy" 3>&- &
	background+=("$!")
	"$ELOG" capture -q -o "$work/pipe" --writers 2 -- "$PRODUCER" 0 100 0 > /dev/null
	wait "$!"
	numbers "$work/copy" | are_numbers 0 100
	[ ! -e "$work/pipe-w1" ]
}

@test "show: missing and foreign files of --writers" {
	two_cpus
	for name in file other; do
		"$ELOG" capture -q -o "$work/$name" --writers 2 -- bash -c \
			'taskset -c 0 "$PRODUCER" 0 10 0; taskset -c 1 "$PRODUCER" 10 20 0'
	done
	fails_with "--follow reads one file, but this capture has 2" show --follow "$work/file"
	mv "$work/file-w1" "$work/away"
	run_elog show -q "$work/file"
	[ "$status" = 1 ]
	contains "$stderr" "file-w1: missing: it has a part of the events of"
	numbers "$work/file" 2> /dev/null | are_numbers 0 10
	cp "$work/other-w1" "$work/file-w1"
	run_elog show -q "$work/file"
	[ "$status" = 1 ]
	contains "$stderr" "file-w1: not read: it does not belong to"
	numbers "$work/file" 2> /dev/null | are_numbers 0 10
	head -c -40 "$work/away" > "$work/file-w1"
	run_elog show -q "$work/file"
	[ "$status" = 1 ]
	contains "$stderr" "file-w1: ends within a block"
	numbers "$work/file" 2> /dev/null | are_numbers 0 30
	rm "$work/file-w1"
	# It can be read under another name.
	numbers "$work/file" "$work/away" 2> /dev/null | are_numbers 0 30

	fails_with "--writers: invalid N '0': must be a number from 1 to 1024, or auto" \
		capture -o "$work/new" --writers 0
	fails_with "--writers: invalid N 'many'" capture -o "$work/new" --writers many
	fails_with "--writers needs a file: add -o FILE" capture --writers 2
	fails_with "--append does not go with --writers" capture -o "$work/new" --writers 2 --append
	fails_with "--split does not go with --writers" capture --split "$work/new" --writers 2
	fails_with "--overwrite does not go with --writers" \
		capture -o "$work/new" --writers 2 --overwrite
	[ ! -e "$work/new" ]
	# A pipe could block a thread.
	mkfifo "$work/new-w1"
	fails_with "new-w1: No such device or address" capture -o "$work/new" --writers 2
	exec 9<> "$work/new-w1"
	fails_with "new-w1: --writers is for a regular file" capture -o "$work/new" --writers 2
	exec 9>&-
}

@test "capture --writers --rotate: the files rotate together, also when a CPU goes offline and online" {
	two_cpus
	online=$cpu1
	# If a CPU cannot be taken offline, the rest is tested.
	[ -w "$online" ] || online=/dev/null
	echo 0 > "$online"
	start_capture -o "$work/file" --writers 2 --rotate 64K,50 --per-cpu-bytes 4M
	produce_on 0 0 1000
	echo 1 > "$online"
	# The new ring is read although there are no events in the others.
	wait_for all_show 1000
	produce_on 1 1000 1000
	wait_for all_show 2000
	kill -HUP "$capture"
	wait_for exists "$work/file.1"
	produce_on 0 2000 1000
	produce_on 1 3000 1000
	wait_for exists "$work/file.2"
	echo 0 > "$online"
	produce_on 0 4000 10
	echo 1 > "$online"
	produce_on 1 4010 10
	stop_capture INT
	[ "$status" = 0 ]
	contains "$(< "$work/err")" "4020 events in" "lost 0"
	numbers "$work"/file* | are_numbers 0 4020
	in_order "$work"/file*
	count=0
	for segment in "$work/file" "$work"/file.*[0-9]; do
		[[ $segment != *-w1 ]] || continue
		[ -e "$segment-w1" ]
		in_order "$segment"
		count=$((count + $(shown "$segment")))
	done
	[ "$count" = 4020 ]

	# The files of an earlier capture with more writers stay together.
	last=1
	while [ -e "$work/file.$((last + 1))" ]; do
		last=$((last + 1))
	done
	count=$(shown "$work/file.1")
	start_capture -o "$work/file" --rotate 64K,50
	kill -HUP "$capture"
	# Its start has moved them, too.
	wait_for exists "$work/file.$((last + 2))"
	stop_capture INT
	[ "$(shown "$work/file.3")" = "$count" ]
	[ -e "$work/file.2-w1" ]
	[ ! -e "$work/file.1-w1" ]
}

@test "capture --writers: a full disk, a loss and SIGKILL" {
	two_cpus
	small_disk "$work/disk" 128K
	status=0
	"$ELOG" capture -e 'number/*' --per-cpu-bytes 4M -o "$work/disk/file" --writers 2 -- \
		bash -c "while_stopped \$PPID bash -c 'taskset -c 0 \"\$PRODUCER\" 0 3000 0
			taskset -c 1 \"\$PRODUCER\" 3000 10 0'" > /dev/null 2> "$work/err" || status=$?
	cat "$work/err"
	[ "$status" = 1 ]
	contains "$(< "$work/err")" "No space left on device" ", lost 0"
	written=$(sed -n 's/^elog: \([0-9]*\) events* in .*/\1/p' "$work/err")
	unwritten=$(sed -n 's/^elog: .* \([0-9]*\) not written, lost 0$/\1/p' "$work/err")
	[ $((written + unwritten)) = 3010 ]
	[ "$(shown "$work/disk/file" 2> /dev/null)" = "$written" ]

	# A loss is in the file of its CPU, and reported once.
	run_elog capture -o "$work/lossy" --writers 2 --per-cpu-bytes 8K -- bash -c \
		'while_stopped $PPID taskset -c 1 "$PRODUCER" 0 2000 0'
	[ "$status" = 2 ]
	lost=$(sed -n 's/.*lost \([0-9]*\): no room.*/\1/p' <<< "$stderr")
	[ "$lost" -gt 0 ]
	run_elog show "$work"/lossy*
	[ "$status" = 2 ]
	contains "$stderr" "lost $lost: no room $lost"
	[ $(($(shown "$work/lossy") + lost)) = 2000 ]
	run_elog show "$work/lossy-w1"
	contains "$stderr" "lost $lost: no room $lost"

	start_capture -o "$work/killed" --writers 2
	produce_on 0 0 500
	produce_on 1 500 500
	wait_for shows 1000 "$work/killed"
	kill -KILL "$capture"
	wait "$capture" || true
	run_elog show "$work/killed"
	[ "$status" = 1 ]
	contains "$stderr" "killed: the capture was cut off at byte" \
		"killed-w1: the capture was cut off at byte"
	numbers "$work/killed" 2> /dev/null | are_numbers 0 1000
}

# grown FILE BYTES
grown()
{
	[ "$(stat -c %s "$1")" -gt "$2" ]
}

# A file system on which writes wait while it is frozen.
frozen_disk()
{
	modprobe -a loop ext4 2> /dev/null || true
	truncate -s 8M "$1.image"
	mkdir "$1"
	mkfs.ext4 -q -O ^has_journal "$1.image" && mount -o loop "$1.image" "$1" ||
		skip "no ext4 on a loop device"
	mounted+=("$1")
	fsfreeze -f "$1" || skip "no fsfreeze"
	fsfreeze -u "$1"
}

@test "capture --writers: a disk that blocks one writer does not stop the others" {
	two_cpus
	frozen_disk "$work/disk"
	: > "$work/disk/part"
	ln -s disk/part "$work/file-w1"
	start_capture -o "$work/file" --writers 2 --per-cpu-bytes 8K
	produce_on 1 0 10
	wait_for all_show 10
	fsfreeze -f "$work/disk"
	blocked=$work/disk
	# More than a ring holds.
	produce_on 1 10 2000
	# Rings of the other writer are smaller than this, too.
	for first in 10000 10100 10200 10300 10400 10500; do
		size=$(stat -c %s "$work/file")
		produce_on 0 "$first" 100
		wait_for grown "$work/file" "$size"
	done
	[ "$(stat -c %s "$work/disk/part")" -lt 8192 ]
	fsfreeze -u "$work/disk"
	blocked=
	stop_capture INT
	[ "$status" = 2 ]
	lost=$(sed -n 's/.*lost \([0-9]*\): no room.*/\1/p' "$work/err")
	[ "$lost" -gt 0 ]
	# All losses are those of the blocked writer.
	run_elog show -q --fields number -C 0 "$work/file"
	sed -n 's/^number=//p' <<< "$output" | are_numbers 10000 600
	run_elog show "$work/file-w1"
	contains "$stderr" "lost $lost: no room $lost"
	[ $(($(shown "$work/file") + lost)) = 2610 ]
}

@test "capture --writers: too few open files leave the old capture; messages are whole lines" {
	two_cpus
	"$ELOG" capture -q -o "$work/file" --writers 2 -- bash -c \
		'taskset -c 0 "$PRODUCER" 0 10 0; taskset -c 1 "$PRODUCER" 10 20 0'
	# Some of these limits are too low for the device, others for the parts, the last one
	# only for the command, which is started when the new files exist.
	for limit in 8 10 12 14 16 18 20 24 28 32; do
		status=0
		(ulimit -n "$limit" && exec "$ELOG" capture -o "$work/file" --writers 2 -- true) \
			2> "$work/err" || status=$?
		cat "$work/err"
		[ "$status" = 1 ] && ! grep -q ': pipe: ' "$work/err" || break
		cat "$work/err" >> "$work/errors"
		numbers "$work/file" | are_numbers 0 30
	done
	contains "$(< "$work/errors")" "Too many open files"

	# Both parts fail.
	small_disk "$work/disk" 64K
	status=0
	"$ELOG" capture -e 'number/*' --per-cpu-bytes 4M -o "$work/disk/file" --writers 2 -- \
		bash -c "while_stopped \$PPID bash -c 'taskset -c 0 \"\$PRODUCER\" 0 3000 0
			taskset -c 1 \"\$PRODUCER\" 3000 3000 0'" > /dev/null 2> "$work/err" || status=$?
	cat "$work/err"
	[ "$status" = 1 ]
	contains "$(< "$work/err")" "No space left on device"
	[ -z "$(grep -v '^elog\( capture\)\?: .' "$work/err" | grep -v '^  .')" ]
}

@test "capture -o PIPE: a slow reader loses events, which are counted, and gets none twice" {
	mkfifo "$work/pipe"
	cat "$work/pipe" > "$work/copy" 3>&- &
	reader=$!
	background+=("$reader")
	start_capture -o "$work/pipe" --per-cpu-bytes 8K
	# More than the pipe and a ring hold.
	while_stopped "$reader" taskset -c 0 "$PRODUCER" 0 4000 0
	stop_capture INT
	[ "$status" = 2 ]
	wait "$reader"
	lost=$(sed -n 's/.*lost \([0-9]*\): no room.*/\1/p' "$work/err")
	[ "$lost" -gt 0 ]
	run_elog show "$work/copy"
	[ "$status" = 2 ]
	contains "$stderr" "lost $lost: no room $lost"
	numbers "$work/copy" > "$work/numbers"
	[ $(($(wc -l < "$work/numbers") + lost)) = 4000 ]
	[ -z "$(sort "$work/numbers" | uniq -d)" ]
}
