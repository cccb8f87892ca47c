#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# sleeps_test - scripts/check-sleeps finds tests that wait for a fixed time, and nothing else.
# Prints TAP.
# shellcheck disable=SC2016 # lines of tests
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"

# checks NAME LINE FOUND: stdin has lines; LINE is the number of the only one that is found.
checks()
{
	cat > "$work/$1"
	status=0
	"$top/scripts/check-sleeps" "$work/$1" > "$work/out" || status=$?
	cat "$work/out"
	if [ "$2" = 0 ]; then
		[ "$status" = 0 ] && [ ! -s "$work/out" ]
	else
		[ "$status" = 1 ] && [ "$(wc -l < "$work/out")" = 1 ] &&
			grep -q "^$work/$1:$2: " "$work/out"
	fi
}

# finds NAME LINE TEXT...: a file of this name has the lines TEXT.
finds()
{
	name=$1
	number=$2
	shift 2
	printf '%s\n' "$@" > "$work/lines"
	check "$name: $*" checks "$name" "$number" < "$work/lines"
}

finds one.bats 2 '@test "one" {' '	sleep 1' '}'
finds one.bats 1 '	sleep 0.2'
finds one.bats 1 '	sleep "$seconds"'
finds one.bats 1 '	run_elog capture -- sh -c "elog emit a/b; sleep 5"'
finds one.bats 1 '	for i in 1 2 3; do sleep 1; done'
finds one.bats 4 '	while ! has_ended; do' '		true' '	done' '	sleep 1'
finds one.bats 5 'one()' '{' '	while :; do' '}' '	sleep 1'
finds one.bats 2 '@test "what to do while nothing happens" {' '	sleep 1'
finds one.c 1 '	usleep(1000);'
finds one.c 4 '	while (!seen)' '		test_pause();' '' '	sleep(1);'
finds one.c 2 '	for (i = 0; i < 3; i++)' '		nanosleep(&tick, NULL);'

finds one.bats 0 '	until grep -q word file; do sleep 0.1; done'
finds one.bats 0 '	while ! has_ended; do' '		sleep 0.1' '	done'
finds one.bats 0 '	while ! has_ended && sleep 1; do true; done'
finds one.bats 0 '	run_elog capture -n 1 -- sh -c "elog emit a/b; exec sleep 1000"'
finds one.bats 0 '	# pause: the time is what is tested' '	sleep 1'
finds one.bats 0 '	# sleep 1'
finds one.bats 0 '	elog capture -e sleep 2> "$work/err" &'
finds one.bats 0 '	elog emit sleep/1'
finds one.c 0 '	while (!seen)' '		usleep(1000);'
finds one.c 0 '	do {' '		/* pause: it has no state. */' '		usleep(1000);'
end_checks
