# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Functions for tests of elog upgrade.

load files.bash

# Copies of the module, which differ only in their version.
setup()
{
	begin
	mkdir "$work/old" "$work/new"
	for version in old new; do
		cp "${EVENTLOG_KO%/*}"/*.ko "$work/$version"
		cp "${EVENTLOG_KO%/*}"/module/{providers,sched}/*.ko "$work/$version" 2> /dev/null || true
	done
	release=$(modinfo -F version "$EVENTLOG_KO")
	next=${release%?}9
	LC_ALL=C sed -i "s/version=${release//./\\.}\x00/version=$next\x00/
		s/\x00${release//./\\.}\x00/\x00$next\x00/g" "$work/new/eventlog.ko"
	[ "$(modinfo -F version "$work/new/eventlog.ko")" = "$next" ]
	unset ELOG_RINGS
}

# Other tests want the module that was loaded before.
teardown()
{
	"$ELOG" stop -q 2> /dev/null || true
	end_background
	untrace 2> /dev/null || true
	rmmod eventlog_proc eventlog_sched eventlog_user_events 2> /dev/null || true
	! [ -d /sys/module/eventlog ] || wait_for rmmod eventlog
	insmod "$EVENTLOG_KO"
	# What the busy programs emitted takes much of a guest's memory.
	rm -rf "$work"
}

# emit_in_background COUNT: so many busy programs more.
emit_in_background()
{
	local i number

	for ((i = 0; i < $1; i++)); do
		number=${#emitters[@]}
		"$EVENTLOG_TOOLS/leave_device_test" emit "$work/emitted.$number" \
			> "$work/emit.$number" 3>&- &
		background+=("$!")
		emitters+=("$!")
	done
}

# sum FILE...: of the numbers on their first lines
sum()
{
	awk 'FNR == 1 { sum += $1 } FNR > 1 { print FILENAME ": " $0 } END { print sum }' "$@"
}

# version_is VERSION: of the loaded module
version_is()
{
	elog info | grep -q "\b${1//./\\.}\b"
}

# holds_events COUNT FILE
holds_events()
{
	[ "$(elog show -q -n "$1" --fields cpu "$2" 2> /dev/null | wc -l)" -ge "$1" ]
}

# holds_programs COUNT: so many have registered events
holds_programs()
{
	[ "$(elog upgrade --dry-run "$work/new/eventlog.ko" 2> /dev/null |
		grep -c 'leave_device_te\[')" = "$1" ]
}

# upgrade_and_back COUNT: so many busy programs and a recorder, in both directions.
upgrade_and_back()
{
	local programs=$1 emitters=() pid path

	rmmod eventlog
	insmod "$work/old/eventlog.ko" rules_max=77
	[ ! -f "$work/old/eventlog_proc.ko" ] || insmod "$work/old/eventlog_proc.ko"
	elog capture --background -o "$work/file" --per-cpu-bytes 16M -e 'libelog_test/*'
	emit_in_background "$programs"
	wait_for holds_events 2000 "$work/file"

	run_elog upgrade --dry-run "$work/new/eventlog.ko"
	[ "$status" = 0 ]
	[ "$(grep -c 'leave_device_te\[' <<< "$output")" = "$programs" ]
	contains "$output" "reader       elog[" "version      $release -> $next"
	version_is "$release"
	for path in new old; do
		run_elog upgrade --timeout "$HANG_SECONDS" "$work/$path/eventlog.ko"
		echo "$output" "$stderr"
		[ "$status" = 0 ]
		contains "$output" "$programs programs and 1 reader gave the device up"
		[ "$(cat /sys/module/eventlog/parameters/rules_max)" = 77 ]
		[ ! -f "$work/old/eventlog_proc.ko" ] || [ -d /sys/module/eventlog_proc ]
		# All are back.
		wait_for holds_programs "$programs"
	done
	version_is "$release"
	contains "$output" "$next was replaced by $release"

	for pid in "${emitters[@]}"; do
		kill -TERM "$pid"
		wait "$pid"
	done
	run_elog stop
	echo "$stderr"
	[ "$status" = 2 ]
	# Each event is in the file, or was counted.
	[[ $(elog show "$work/file" 2>&1 > /dev/null | tail -n 1) =~ \
		"elog: "([0-9]+)" events, lost "([0-9]+)": away "([0-9]+) ]]
	emitted=$(sum "$work"/emitted.*)
	echo "emitted $emitted, ${BASH_REMATCH[0]}"
	[ "${BASH_REMATCH[2]}" -gt 0 ]
	[ "${BASH_REMATCH[2]}" = "${BASH_REMATCH[3]}" ]
	[ $((BASH_REMATCH[1] + BASH_REMATCH[2])) = "$emitted" ]
}
