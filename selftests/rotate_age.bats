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

# start_kind FILE KIND OPTION...: a capture, with the options of the kind. Several run at once,
# because each waits for seconds.
start_kind()
{
	local -a options

	read -ra options <<< "$2"
	start_capture -o "$1" "${@:3}" "${options[@]:1}"
	captures[$1]=$capture
}

# stop_kind FILE: its capture
stop_kind()
{
	capture=${captures[$1]}
	stop_capture INT
	[ "$status" = 0 ]
}

@test "--rotate: words in their order, and what they must be" {
	local words

	for words in 1K 1M,0 1M,10000 1M, , "" 1M,1,1 1M,1d,1d 0.5s 1M,0s 7dayz 5,1M 1M,2M 1d,1M 1M,1.5; do
		fails_with "--rotate: invalid SIZE[,KEEP][,AGE] '$words': column " \
			capture -o "$work/file" --rotate "$words"
		[ ! -e "$work/file" ]
	done
	for words in 64K 64K,1 64K,1h 64K,1,1h 64K,1h,1 7d 7days 7d,5 1h30min 1.5s; do
		run_elog capture -q -o "$work/file" --rotate "$words" -- true
		[ "$status" = 0 ]
	done
}

@test "--rotate AGE: old segments go, oldest first, while no event arrives" {
	local -A captures
	local kind name number

	for kind in "${kinds[@]}"; do
		start_kind "$work/${kind%% *}" "$kind" --rotate 5min
	done
	for number in 0 1 2; do
		produce "$((number * 10))" 10 0
		for kind in "${kinds[@]}"; do
			name=$work/${kind%% *}
			capture=${captures[$name]}
			turn "$name"
		done
	done
	produce 30 10 0
	for kind in "${kinds[@]}"; do
		name=$work/${kind%% *}
		for number in 2 3; do
			make_old "$name.$number" 8
			[ ! -e "$name.$number-w1" ] || make_old "$name.$number-w1" 8
		done
		# It is no segment.
		make_old "$name" 8
	done
	for kind in "${kinds[@]}"; do
		name=$work/${kind%% *}
		wait_for has_segments "$name" 1
		[ -e "$name.1" ]
		[ -e "$name" ]
		for number in "$name".[23]*; do
			[ ! -e "$number" ]
		done
		stop_kind "$name"
		numbers "$name" "$name.1" | are_numbers 20 20
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
	local -A captures inodes
	local all=("${kinds[@]}" "overwrite --overwrite") kind name age

	# What follows must be done before the segments go.
	age=$((21 * $(slowness)))
	for kind in "${all[@]}"; do
		start_kind "$work/${kind%% *}" "$kind" --rotate 64K,${age}s
	done
	produce 0 10 0
	kill -USR1 "${captures[$work/overwrite]}"
	for kind in "${all[@]}"; do
		name=$work/${kind%% *}
		# A seventh of the age later, without any event. Then that goes, too.
		wait_for all_exist "$name" "$name.1"
		numbers "$name.1" | are_numbers 0 10
		inodes[$name]=$(stat -c %i "$name")
		make_old "$name.1" 1
		[ ! -e "$name.1-w1" ] || make_old "$name.1-w1" 1
	done
	for kind in "${all[@]}"; do
		name=$work/${kind%% *}
		wait_for has_segments "$name" 0
		[ "$(stat -c %i "$name")" = "${inodes[$name]}" ]
		stop_kind "$name"
	done
}

@test "--rotate AGE --append: the age of what the file held counts" {
	local -A captures
	local number age

	# The segment of the second file must still be there when the first one has been seen.
	age=$((21 * $(slowness)))
	"$ELOG" capture -q -o "$work/file1" -- "$PRODUCER" 0 10 0 > /dev/null
	cp -p "$work/file1" "$work/file2"
	start_kind "$work/file1" rings --append --rotate ${age}s
	start_kind "$work/file2" "single -f number>=0" --append --rotate ${age}s
	for number in 1 2; do
		wait_for has_segments "$work/file$number" 1
		stop_kind "$work/file$number"
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
