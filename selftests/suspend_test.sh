#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# elog capture while the machine is suspended: events before and after are captured, in
# order, with right times. Prints TAP.
#
# It uses the kernel's tests of suspend (pm_test), which wake up after some seconds. The
# level "freezer" stops processes, the level "core" also devices, CPUs and clocks. The
# root must not be on a device of the emulator, which does not survive this: run it in
# a guest that has only its initial ramdisk, see scripts/vm-static.
set -u

power=/sys/power
delay=/sys/module/suspend/parameters/pm_test_delay
if [ ! -w $power/pm_test ] || ! grep -qw mem $power/state; then
	echo "1..0 # SKIP the kernel has no pm_test"
	exit 0
fi
if [ -n "$(ls /sys/bus/virtio/devices 2> /dev/null)" ]; then
	echo "1..0 # SKIP virtio devices do not survive a suspend"
	exit 0
fi
work=$(mktemp -d)
background=

finish()
{
	echo none > $power/pm_test
	# shellcheck disable=SC2086 # several words
	[ -z "$background" ] || kill -KILL $background 2> /dev/null
	rm -rf "$work"
}
trap finish EXIT

number=0
failed=0

# check NAME COMMAND...
check()
{
	name=$1
	shift
	number=$((number + 1))
	if "$@" > "$work/output" 2>&1; then
		echo "ok $number $name"
	else
		sed 's/^/# /' "$work/output"
		echo "not ok $number $name"
		failed=1
	fi
}

# Waits up to two minutes and more until a command succeeds.
wait_for()
{
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		if [ $tries -gt 2400 ]; then
			echo "not ok $((number + 1)) timed out: $*"
			exit 1
		fi
		sleep 0.05
	done
}

# suspend LEVEL SECONDS: tries again if processes do not stop in time.
suspend()
{
	echo "$1" > $power/pm_test
	echo "$2" > $delay
	before=$(cat $power/suspend_stats/success)
	for try in 1 2 3; do
		echo mem > $power/state && break
		echo "# suspending failed, try $try"
	done
	[ "$(cat $power/suspend_stats/success)" -gt "$before" ]
}

captures()
{
	grep -qs '^elog: capturing' "$work/$1.err"
}

# Succeeds if the event was printed, and was read from the file.  A reader that follows
# the file sees events after a SYNC block.
is_there()
{
	grep -q " $1 *\$" "$work/printed" && grep -q " $1 *\$" "$work/followed"
}

# Emits an event, and stores the seconds before and after it.
emit_timed()
{
	date +%s > "$work/$1.from"
	elog emit "sleep/$1"
	date +%s > "$work/$1.to"
	wait_for is_there "$1"
}

elog capture -v -o "$work/file" -e sleep 2> "$work/file.err" &
to_file=$!
elog capture -v --time wall -e sleep > "$work/printed" 2> "$work/printed.err" &
to_text=$!
background="$to_file $to_text"
wait_for captures file
wait_for captures printed
elog show --follow --time wall "$work/file" > "$work/followed" 2> "$work/followed.err" &
follower=$!
background="$background $follower"

# Emits numbered events all the time.
{
	tick=0
	while [ ! -e "$work/stop" ]; do
		elog emit sleep/tick 'u32 number' number=$tick
		tick=$((tick + 1))
	done
	echo $tick > "$work/ticks"
} &
ticker=$!
background="$background $ticker"

emit_timed before
check "processes stop and resume" suspend freezer 1
emit_timed between
check "clocks stop and resume" suspend core 3
emit_timed after
touch "$work/stop"
wait $ticker
kill -INT $to_file $to_text
status=0
wait $to_file || status=$?
check "the capture to a file exits with 0" test $status = 0
status=0
wait $to_text || status=$?
check "the capture that prints exits with 0" test $status = 0

follows_all()
{
	[ "$(wc -l < "$work/followed")" -ge $(($(cat "$work/ticks") + 3)) ]
}

wait_for follows_all
kill -TERM $follower
status=0
wait $follower || status=$?
check "elog show --follow exits with 0" test $status = 0
background=

nothing_lost()
{
	cat "$work/file.err" "$work/printed.err"
	[ "$(cat "$work/file.err" "$work/printed.err" | grep -c 'lost 0$')" = 2 ]
}

elog show "$work/file" > "$work/mono" 2> "$work/show.err"
check "the file is complete" test $? = 0
check "nothing was lost" nothing_lost
elog show -q --time wall "$work/file" > "$work/wall"

# Prints the time of the event, which is the column after the thread's name.
time_of()
{
	sed -n "s/.* \([^ ]*\) sleep - $2 *\$/\1/p" "$work/$1"
}

second_of()
{
	time_of "$1" "$2" | sed 's/T/ /; s/\..*//' > "$work/time"
	date -d "$(cat "$work/time")" +%s
}

in_order()
{
	sed 's/.* \([0-9.]*\) sleep - .*/\1/' "$work/mono" > "$work/times"
	sort -n "$work/times" | cmp - "$work/times" || return 1
	sed -n 's/.* sleep - \(before\|between\|after\) *$/\1/p' "$1" | xargs > "$work/order"
	cat "$work/order"
	[ "$(cat "$work/order")" = "before between after" ]
}

all_ticks()
{
	ticks=$(cat "$work/ticks")
	sed -n 's/.* tick number=\([0-9]*\)$/\1/p' "$1" > "$work/numbers"
	seq 0 $((ticks - 1)) | cmp - "$work/numbers"
}

# Before, between and after, the offset from CLOCK_MONOTONIC is different.
times_are_right()
{
	for event in before between after; do
		second=$(second_of "$1" $event)
		echo "$event: $second, not $(cat "$work/$event.from") to $(cat "$work/$event.to")"
		[ "$second" -ge "$(cat "$work/$event.from")" ] || return 1
		[ "$second" -le "$(cat "$work/$event.to")" ] || return 1
	done
}

# Otherwise this was not tested.
clock_stood()
{
	echo "$(time_of mono between) $(time_of mono after)" \
		"$(second_of wall between) $(second_of wall after)" |
		awk '{ print; exit $4 - $3 - ($2 - $1) < 1 }'
}

for kind in mono printed followed; do
	check "events are in order ($kind)" in_order "$work/$kind"
	check "events are complete ($kind)" all_ticks "$work/$kind"
done
check "CLOCK_MONOTONIC stopped" clock_stood
for kind in wall printed followed; do
	check "times of day are right ($kind)" times_are_right $kind
done
echo "1..$number"
exit $failed
