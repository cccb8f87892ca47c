#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog capture --rotate with an age, with the kernel module. Needs root.
#
# Files are made old by changing the time of their last change. The capture looks for old files
# every second if the age is 5 minutes.
# What meets what (A a file gets old, R old segments are removed, -: does not exist):
#
#			no event arrives	events arrive	--append	--background
#	rings		A R			R		A R		R
#	--writers	A R			R		-		R
#	single events	A R			R		A		R
#	--overwrite	A R			-		-		-

load files.bash

kinds=("rings" "writers --writers 2" "single -f number>=0")

# make_old FILE DAYS: the file was written then.
make_old()
{
	touch -d "$2 days ago" "$1"
}

# segments FILE: how many old segments it has.
segments()
{
	local file count=0

	for file in "$1".*; do
		if [[ -e $file && ${file##*/} != *-w* ]]; then
			count=$((count + 1))
		fi
	done
	echo "$count"
}

has_segments()
{
	[ "$(segments "$1")" = "$2" ]
}

# all_exist FILE...
all_exist()
{
	local file

	for file; do
		[ -e "$file" ] || return 1
	done
}

# Starts a new file, or new ones of all parts, which rotate one after the other.
turn()
{
	local -a files=("$1" "$1.$(($(segments "$1") + 1))")

	[ ! -e "$1-w1" ] || files+=("$1-w1" "${files[1]}-w1")
	kill -HUP "$capture"
	wait_for all_exist "${files[@]}"
}

@test "--rotate: words in their order, and what they must be" {
	local words

	for words in 1K 1M,0 1M,10000 1M, , "" 1M,1,1 1M,1d,1d 0.5s 1M,0s 7days 5,1M 1M,2M 1d,1M 1M,1.5; do
		fails_with "--rotate: invalid SIZE[,KEEP][,AGE] '$words': must be a size from 64K," \
			capture -o "$work/file" --rotate "$words"
		[ ! -e "$work/file" ]
	done
	for words in 64K 64K,1 64K,1h 64K,1,1h 64K,1h,1 7d 7d,5 1h30min 1.5s; do
		run_elog capture -q -o "$work/file" --rotate "$words" -- true
		[ "$status" = 0 ]
	done
}

@test "--rotate AGE: old segments go, oldest first, while no event arrives" {
	local kind name number

	for kind in "${kinds[@]}"; do
		name=$work/${kind%% *}
		# shellcheck disable=SC2046 # options are words
		start_capture -o "$name" --rotate 5min $([[ $kind != *\ * ]] || echo "${kind#* }")
		for number in 0 1 2; do
			produce "$((number * 10))" 10 0
			turn "$name"
		done
		produce 30 10 0
		for number in 2 3; do
			make_old "$name.$number" 8
			[ ! -e "$name.$number-w1" ] || make_old "$name.$number-w1" 8
		done
		# It is no segment.
		make_old "$name" 8
		wait_for has_segments "$name" 1
		[ -e "$name.1" ]
		[ -e "$name" ]
		for number in "$name".[23]*; do
			[ ! -e "$number" ]
		done
		stop_capture INT
		[ "$status" = 0 ]
		numbers "$name" "$name.1" | are_numbers 20 20
		rm "$name"*
	done
}

@test "--rotate AGE: one young file of a segment keeps all of them" {
	start_capture -o "$work/file" --rotate 5min --writers 2
	produce 0 10 0
	turn "$work/file"
	make_old "$work/file.1" 8
	# The next check comes, and removes an older segment that is put there.
	cp "$work/file.1" "$work/file.2"
	make_old "$work/file.2" 9
	wait_for has_segments "$work/file" 1
	[ -e "$work/file.1" ]
	[ -e "$work/file.1-w1" ]
	make_old "$work/file.1-w1" 8
	wait_for has_segments "$work/file" 0
	stop_capture INT
	[ "$status" = 0 ]
	[ ! -e "$work/file.1-w1" ]
}

@test "--rotate AGE: a file with events becomes a segment, an empty one does not" {
	local kind

	for kind in "${kinds[@]}" "overwrite --overwrite"; do
		name=$work/${kind%% *}
		# shellcheck disable=SC2046
		start_capture -o "$name" --rotate 64K,7s $([[ $kind != *\ * ]] || echo "${kind#* }")
		produce 0 10 0
		[[ $kind != overwrite* ]] || kill -USR1 "$capture"
		# A seventh of the age later, without any event. Then that goes, too.
		wait_for all_exist "$name" "$name.1"
		numbers "$name.1" | are_numbers 0 10
		inode=$(stat -c %i "$name")
		make_old "$name.1" 1
		[ ! -e "$name.1-w1" ] || make_old "$name.1-w1" 1
		wait_for has_segments "$name" 0
		[ "$(stat -c %i "$name")" = "$inode" ]
		stop_capture INT
		[ "$status" = 0 ]
	done
}

@test "--rotate AGE --append: the age of what the file held counts" {
	local kind

	for kind in "" "-f number>=0"; do
		"$ELOG" capture -q -o "$work/file" -- "$PRODUCER" 0 10 0 > /dev/null
		# shellcheck disable=SC2086
		start_capture -o "$work/file" --append --rotate 7s $kind
		wait_for has_segments "$work/file" 1
		stop_capture INT
		[ "$status" = 0 ]
		rm "$work"/file*
	done
}

@test "--rotate AGE --background: the metrics count what was removed" {
	local kind name

	for kind in "${kinds[@]}"; do
		name=$work/${kind%% *}
		# Segments of an earlier capture.
		touch -d '8 days ago' "$name.1" "$name.2"
		touch -d '9 days ago' "$name.3"
		# shellcheck disable=SC2046
		"$ELOG" capture -q --background -o "$name" --rotate 64K,5,5min \
			$([[ $kind != *\ * ]] || echo "${kind#* }") 2> /dev/null
		wait_for has_segments "$name" 0
	done
	counts()
	{
		"$ELOG" stat -q -d 0.1 --format prometheus > "$work/metrics"
		for kind in "${kinds[@]}"; do
			grep -q "^eventlog_capture_segments_expired_total{target=\"$work/${kind%% *}\"} 3$" \
				"$work/metrics" || return 1
		done
	}
	wait_for counts
	grep -q "^eventlog_capture_segments_removed_total{.*rings\"} 0$" "$work/metrics"
	run_elog stop
	[ "$status" = 0 ]
	# That is no event worth a message.
	[[ $stderr != *removed* ]]
}

@test "--rotate AGE: a segment that cannot be removed is reported once" {
	start_capture -o "$work/file" --rotate 5min
	produce 0 10 0
	mkdir -p "$work/file.1/full"
	make_old "$work/file.1" 8
	wait_for grep -q "$work/file: old segments are not removed: " "$work/err"
	rmdir "$work/file.1/full" "$work/file.1"
	touch -d '8 days ago' "$work/file.1"
	wait_for has_segments "$work/file" 0
	stop_capture INT
	[ "$status" = 0 ]
	[ "$(grep -c "not removed" "$work/err")" = 1 ]
	numbers "$work/file" | are_numbers 0 10
}
