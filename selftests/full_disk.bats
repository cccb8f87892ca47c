#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog capture on a disk that is full or fails, and works again later: recording goes on, and
# each event is read or counted. Needs root. tools/libelog/file/file_full_test.c tests the
# writer of libelog with the same errors.
#
# What fails, and where: F fills and frees; E another error (EIO, EDQUOT, EROFS, EFBIG); L
# loses events; X ends on a full disk; -: this combination does not exist.
#
#			plain	--rotate	--background	--follow reads it
#	rings		F E L X	F		F E L		F
#	--compress	F E	F		F E
#	--writers	F E X	F		F E		-
#	single events	F E X	F		F E
#	--split		F E	-		F E		-
#	--instances	F E	F		F E
#	--overwrite	L	 		L
#	a pipe		writers.bats, elog.bats: an error ends the capture, as ever
#
# With EVENTLOG_FULL_DISK_EVENTS=1000000 the last test takes minutes.

load files.bash

setup_file()
{
	find_built
	export PRODUCER=$EVENTLOG_BUILD/selftests/produce
	export SHIM=$EVENTLOG_BUILD/selftests/fail_write.so
	export LC_ALL=C.UTF-8
}

kinds=(rings compressed single split instances writers)

# Starts captures of all kinds in the background, in a directory.
start_kinds()
{
	local capture=("$ELOG" capture -q --background -e 'number/*')

	"${capture[@]}" -o "$1/rings" "${@:2}"
	"${capture[@]}" -o "$1/compressed" --compress "${@:2}"
	"${capture[@]}" -o "$1/single" -f 'number >= 0' "${@:2}"
	"${capture[@]}" -o "$1/instances" --instances '*' "${@:2}"
	"${capture[@]}" -o "$1/writers" --writers 2 "${@:2}"
	[ $# != 1 ] || "${capture[@]}" --split "$1/split"
} 2> /dev/null

# states ERRNO: all captures in the background state this errno.
states()
{
	local file

	for file in /run/eventlog/*.capture; do
		grep -q "^state *$1 " "$file" || return 1
	done
}

# Files of a kind: the newest and its segments.
files_of()
{
	local file

	if [ -d "$1" ]; then
		echo "$1"/*
		return
	fi
	for file in "$1" "$1".*; do
		if [[ -e $file && ${file##*/} != *-w* ]]; then
			echo "$file"
		fi
	done
}

emit_more()
{
	produce "$emitted" "$1" 3 > /dev/null
	emitted=$((emitted + $1))
}

# Emits until the disk is full for all captures, also for the compressed one.
emits_until_full()
{
	states 28 || { emit_more 300; return 1; }
}

# Fills a tmpfs to its last page, or gives it a size. A capture may write meanwhile.
fill()
{
	wait_for try_to_fill "$1"
}

try_to_fill()
{
	resize "$1" $(($(stat -f -c '(%b - %f) * %S' "$1"))) 2> /dev/null
}

# In a user namespace the owner, which mount(8) would set again, cannot be set.
resize()
{
	mount --options-mode ignore -t tmpfs -o "remount,size=$2" none "$1"
}

@test "a disk that fills and frees twice: no event is lost, in any kind of file" {
	local disk=$work/disk round kind waited

	small_disk "$disk" 64M
	start_kinds "$disk"
	emitted=0
	for round in 1 2; do
		emit_more 100
		wait_for shows "$emitted" "$disk/rings"
		fill "$disk"
		wait_for emits_until_full
		resize "$disk" 64M
		wait_for states 0
	done
	emit_more 100
	"$ELOG" stat -q -d 0.1 --format prometheus > "$work/metrics"
	grep -q "^eventlog_capture_waiting{target=\"$disk/rings\"} 0$" "$work/metrics"
	grep -q "^eventlog_capture_write_errors_total{target=\"$disk/rings\"} [1-9]" \
		"$work/metrics"
	run_elog stop
	[ "$status" = 0 ]
	for kind in "${kinds[@]}"; do
		# Once more in the second round, if that is 10 seconds later.
		waited=$(grep -c "/$kind: No space left on device: events wait in memory; " <<< "$stderr")
		[[ $waited == [12] ]]
		[ "$(grep -c "/$kind: written again after [0-9.]* s; 0 events were lost meanwhile$" \
			<<< "$stderr")" = "$waited" ]
		numbers $(files_of "$disk/$kind") | are_numbers 0 "$emitted"
	done
}

@test "a disk that fails with other errors: no event is lost" {
	local kind error first=0

	export FAIL_WRITE=$work/error
	LD_PRELOAD=$SHIM start_kinds "$work"
	# EIO, EFBIG, EROFS, EDQUOT
	for error in 5 27 30 122; do
		echo "$error" > "$work/new"
		mv "$work/new" "$work/error"
		produce "$first" 100 3
		wait_for states "$error"
		rm "$work/error"
		wait_for states 0
		first=$((first + 100))
	done
	run_elog stop
	[ "$status" = 0 ]
	contains "$stderr" "rings: Input/output error: events wait in memory"
	for kind in "${kinds[@]}"; do
		numbers $(files_of "$work/$kind") | are_numbers 0 400
	done
}

# before FILE: how many events of its capture are in files that precede it.
before()
{
	local number

	number=$("$ELOG" info --format json "$1" | sed -n 's/.*"events_before":\([0-9]*\).*/\1/p')
	echo "${number:-0}"
}

# oldest FILE: its segment with the largest number.
oldest()
{
	local number=0

	while [ -e "$1.$((number + 1))" ]; do
		number=$((number + 1))
	done
	[ "$number" = 0 ] && echo "$1" || echo "$1.$number"
}

# account FILE EMITTED: what the files of a capture have, and what preceded them, was emitted.
account()
{
	local read

	numbers $(files_of "$1") > "$work/numbers"
	read=$(wc -l < "$work/numbers")
	[ "$(sort "$work/numbers" | uniq | wc -l)" = "$read" ]
	echo "$1: $read read, before $(oldest "$1"): $(before "$(oldest "$1")")"
	[ $((read + $(before "$(oldest "$1")"))) = "$2" ]
}

# shown_last NUMBER FILE...: the newest event of each file, or of the segment before, is this.
shown_last()
{
	local file

	for file in "${@:2}"; do
		[ "$(numbers "$file" "$file.1" 2> /dev/null | tail -n 1)" = "$1" ] || return 1
	done
}

@test "--rotate on a disk that is too small: the oldest segments go first" {
	local kind whole

	for kind in rings compressed single instances; do
		small_disk "$work/$kind" 192K
	done
	# Several writers remove the files of all of them.
	small_disk "$work/writers" 320K
	"$ELOG" capture -q --background -o "$work/writers/file" --rotate 64K,5 --writers 2 2> /dev/null
	for kind in rings "compressed --compress" "single -f number>=0" "instances --instances *"; do
		set -f
		# shellcheck disable=SC2086
		"$ELOG" capture -q --background -o "$work/${kind%% *}/file" --rotate 64K,5 \
			$([[ $kind != *" "* ]] || echo "${kind#* }") 2> /dev/null
		set +f
	done
	for ((first = 0; first < 12000; first += 2000)); do
		produce "$first" 2000 0
	done
	wait_for shown_last 11999 "$work"/{rings,compressed,single,instances}/file
	# The files of several writers may fill the disk alone at the end: that is a loss, and said.
	run_elog stop "$work/writers/file"
	echo "$stderr"
	[ "$status" = 0 ] || contains "$stderr" "writers/file: No space left on device"
	whole=$status
	run_elog stop
	echo "$stderr"
	[ "$status" = 0 ]
	contains "$stderr" "rings/file: the disk is full: "
	for kind in rings compressed single instances; do
		account "$work/$kind/file" 12000
	done
	# The parts keep their numbers in common.
	(cd "$work/writers" && ls) > "$work/names"
	[ "$(grep -c -- '-w1$' "$work/names")" = "$(grep -vc -- '-w1$' "$work/names")" ]
	run_elog show -q "$(oldest "$work/writers/file")"
	if [ "$whole" = 0 ]; then
		[ -z "$stderr" ]
		numbers "$work/writers/file" "$work/writers/file.1" > "$work/numbers"
		[ "$(sort -n "$work/numbers" | tail -n 1)" = 11999 ]
	fi
}

# loss FILE: the loss that elog show reports, with its causes.
loss()
{
	"$ELOG" show "$1" 2>&1 > /dev/null | sed -n 's/^elog: .* lost \(.*\)/\1/p'
}

@test "what the rings cannot hold on a full disk is lost, counted, and reported at once" {
	local disk=$work/disk lost

	small_disk "$disk" 16M
	"$ELOG" capture -q --background -e 'number/*' -o "$disk/rings" --per-cpu-bytes 8K 2> /dev/null
	"$ELOG" capture -q --background -e 'number/*' -o "$disk/single" --per-cpu-bytes 8K \
		-f 'number >= 0' 2> /dev/null
	produce 0 10 0
	wait_for shows 10 "$disk/rings"
	wait_for shows 10 "$disk/single"
	fill "$disk"
	# More than the last page of the file has room for.
	produce 10 300 0
	wait_for states 28
	for kind in rings single; do
		wait_for grep -q "$kind: No space left on device: events wait in memory" \
			/run/eventlog/*.log
	done
	# What is lost from now on is lost because of the disk.
	produce 310 19700 0
	"$ELOG" stat -q -d 0.1 --format prometheus > "$work/metrics"
	grep -q "^eventlog_capture_waiting{target=\"$disk/rings\"} 1$" "$work/metrics"
	resize "$disk" 16M
	wait_for states 0
	produce 20010 10 0
	for kind in rings single; do
		wait_for grep -q "$kind: written again after .* s; [1-9][0-9]* events were lost" \
			/run/eventlog/*.log
	done
	run_elog stop
	[ "$status" = 2 ]
	for kind in rings single; do
		lost=$(loss "$disk/$kind")
		contains "$lost" ": no room "
		[ $((${lost%%:*} + $(numbers "$disk/$kind" | wc -l))) = 20020 ]
		[ "$(numbers "$disk/$kind" | tail -n 1)" = 20019 ]
	done
}

@test "a capture that ends on a full disk: the file says what was not written" {
	local disk=$work/disk kind written unwritten

	for kind in "" "--writers 2" "-f number>=0"; do
		small_disk "$disk" 64K
		# shellcheck disable=SC2086
		run_elog capture -e 'number/*' --per-cpu-bytes 4M -o "$disk/file" $kind -- \
			"$PRODUCER" 0 4000 0
		[ "$status" = 1 ]
		contains "$stderr" "/file: No space left on device" ", lost 0"
		written=$(sed -n 's/^elog: \([0-9]*\) events* in .*/\1/p' <<< "$stderr")
		unwritten=$(sed -n 's/^elog: .* \([0-9]*\) not written, lost 0$/\1/p' <<< "$stderr")
		# A block that did not fit was shortened.
		[ "$written" -gt 500 ]
		[ $((written + unwritten)) = 4000 ]
		[ "$(numbers "$disk"/file 2> /dev/null | wc -l)" = "$written" ]
		if [[ $kind != -f* ]]; then
			contains "$(loss "$disk/file")" "$unwritten: not written $unwritten"
		fi
		umount "$disk"
		rmdir "$disk"
	done
}

# Text goes to a device that is always full.
@test "a capture, and latency and stat, that fail let COMMAND go on" {
	local kind

	mkfifo "$work/end"
	cat > "$work/command" <<-'CODE'
		trap 'echo TERM >> "$1/said"' TERM
		"$PRODUCER" 0 1000 0
		read -r < "$1/end"
		echo end >> "$1/said"
		exit "$2"
	CODE
	# In a file of events, they would wait until there is room.
	for kind in "capture -q" "capture -q -f number>=0 --format json" \
		    "latency --interval 0.1 a b" "stat -q --interval 0.1"; do
		rm -f "$work/said"
		# shellcheck disable=SC2086
		"$ELOG" $kind -- bash "$work/command" "$work" 3 > /dev/full 2> "$work/err" 3>&- &
		capture=$!
		wait_for grep -q "bash goes on, its later events are missing" "$work/err"
		echo > "$work/end"
		status=0
		wait "$capture" || status=$?
		cat "$work/err"
		[ "$status" = 1 ]
		contains "$(< "$work/err")" "No space left on device"
		[ "$(< "$work/said")" = end ]
	done
}

@test "a flight recorder counts what does not fit, and goes on" {
	local disk=$work/disk lost

	small_disk "$disk" 1M
	"$ELOG" capture --background -e 'number/*' --overwrite --per-cpu-bytes 2M -o "$disk/file" \
		2> /dev/null
	fill "$disk"
	capture=$(head -n 1 /run/eventlog/*.capture)
	produce 0 15000 0
	kill -USR1 "$capture"
	wait_for states 28
	produce 15000 15000 0
	kill -USR1 "$capture"
	wait_for grep -q 'events wait in memory' /run/eventlog/*.log
	resize "$disk" 8M
	wait_for states 0
	produce 30000 10 0
	run_elog stop
	[ "$status" = 2 ]
	lost=$(loss "$disk/file")
	contains "$lost" ": not written "
	contains "$stderr" " ${lost%%:*} not written, "
	[ "$(numbers "$disk/file" | tail -n 1)" = 30009 ]
	[ -z "$(numbers "$disk/file" | sort | uniq -d)" ]
}

@test "show --follow says that a segment was removed, and how many events it misses" {
	local disk=$work/disk

	small_disk "$disk" 192K
	"$ELOG" capture -q --background -e 'number/*' -o "$disk/file" --rotate 64K,5 2> /dev/null
	produce 0 10 0
	wait_for shows 10 "$disk/file"
	"$ELOG" show --follow --fields number "$disk/file" > "$work/out" 2> "$work/err" 3>&- &
	follow=$!
	background+=("$follow")
	wait_for grep -q '^number=9$' "$work/out"
	kill -STOP "$follow"
	for first in 10 2010 4010 6010; do
		produce "$first" 2000 0
		wait_for shown_last "$((first + 1999))" "$disk/file"
	done
	kill -CONT "$follow"
	wait_for grep -q '^number=8009$' "$work/out"
	kill -INT "$follow"
	status=0
	wait "$follow" || status=$?
	cat "$work/err"
	grep -v '^number=' "$work/out"
	# The file ended in the middle, or between two blocks.
	[ "$status" != 0 ]
	contains "$(< "$work/err")" "removed before the next file was read: events are missing"
	lost=$(sed -n 's/^# lost \([0-9]*\) events: removed [0-9]*$/\1/p' "$work/out")
	[ "$lost" -gt 0 ]
	[ $((lost + $(grep -c '^number=' "$work/out"))) = 8010 ]
}

@test "ten full disks under load: what was emitted was read or counted" {
	local disk=$work/disk events=${EVENTLOG_FULL_DISK_EVENTS:-30000} round lost read producer

	small_disk "$disk" 256M
	"$ELOG" capture -q --background -e 'number/*' -o "$disk/file" 2> /dev/null
	for round in {0..9}; do
		fill "$disk"
		produce $((round * (events / 10))) $((events / 20)) 0 > /dev/null &
		producer=$!
		wait_for states 28
		produce $((round * (events / 10) + events / 20)) $((events / 20)) 0 > /dev/null
		wait "$producer"
		resize "$disk" 256M
		wait_for states 0
	done
	run_elog stop
	lost=$(loss "$disk/file")
	read=$(numbers "$disk/file" | wc -l)
	echo "# $events emitted, $read read, lost $lost" >&3
	[ "$(numbers "$disk/file" | sort -n | uniq | wc -l)" = "$read" ]
	[ $((read + ${lost%%:*})) = "$events" ]
}
