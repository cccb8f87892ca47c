#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog create and elog delete, with the kernel module. Needs root.

load elog.bash

teardown()
{
	end_background
	chmod 0600 /dev/eventlog
	delete_persistent
}

# Prints STATE, LEVEL, KEYWORDS and FIELDS of the definitions with a name.
listed()
{
	"$ELOG" list -q "$1" 2> /dev/null |
		sed -E 's/^ *[0-9]+ +([^ ]+) +([^ ]+) +([^ ]+) +[^ ]+ */\1 \2 \3 /; s/ *$//'
}

is_listed()
{
	[ -n "$(listed "$1")" ]
}

# Fails with a message if only the capability is missing.
without_capability()
{
	chmod 0666 /dev/eventlog
	run_apart setpriv --reuid=65534 --clear-groups "$ELOG" "$@"
	chmod 0600 /dev/eventlog
	[ "$status" = 1 ] || { echo "elog $*: status $status"; return 1; }
	contains "$stderr" "persistent events need the capability CAP_PERFMON"
}

@test "create: an event lasts without a registration, and is captured" {
	run_elog create made/one 'u32 number; string name'
	[ "$status" = 0 ]
	[ -z "$output$stderr" ]
	[ "$(listed made/one)" = "persistent info - u32 number; string name" ]

	# A program registers it: there is one definition before and after.
	id=$("$ELOG" list -q made/one | awk '{ print $1 }')
	run_elog capture -q -e made -- "$ELOG" emit made/one \
		'u32 number; __data_loc char[] name' number=7 name=x
	[ "$status" = 0 ]
	contains "$output" 'one number=7 name="x"'
	[ "$("$ELOG" list -q made/one | awk '{ print $1 }')" = "$id" ]
	[[ $(listed made/one) == persistent* ]]
}

@test "create: options or the event's name set its properties" {
	run_elog create -v --provider made -l warning -k 0x6 two
	[ "$status" = 0 ]
	[ "$(listed made/two)" = "persistent warning 0x6" ]
	contains "$stderr" "made/two is #$("$ELOG" list -q made/two | awk '{ print $1 }')"
	# The name and the fields in one argument.
	run_elog create ' three  u64 bytes; s8 sign'
	[ "$status" = 0 ]
	[ "$(listed user/three)" = "persistent info - u64 bytes; s8 sign" ]
}

@test "create: twice is no error; other fields make another definition" {
	for _ in 1 2; do
		run_elog create made/one 'u32 x'
		[ "$status" = 0 ]
		[ "$(listed made/one | wc -l)" = 1 ]
	done
	run_elog create made/one 'u64 x'
	[ "$status" = 0 ]
	[ "$(listed made/one | wc -l)" = 2 ]
	# An event that a program has registered becomes persistent.
	"$ELOG" emit --wait -d 600 made/live 'u8 x' x=1 3>&- &
	background+=("$!")
	wait_for is_listed made/live
	[[ $(listed made/live) == live* ]]
	run_elog create made/live 'u8 x'
	[ "$status" = 0 ]
	end_background
	[ "$(listed made/live)" = "persistent info - u8 x" ]
	# All definitions with a name are deleted together.
	run_elog delete made/one made/live
	[ "$status" = 0 ]
	[ -z "$output$stderr" ]
	[ -z "$(listed 'made/*')" ]
}

@test "create, delete: names may contain slashes and backslashes" {
	run_elog create -v 'net\/ipv4/tcp/open' 'u32 a'
	[ "$status" = 0 ]
	run_elog create -v 'dos\\dir/file\a'
	[ "$status" = 0 ]
	run_elog list --format json
	contains "$output" '"provider":"net/ipv4"'
	contains "$output" '"tcp/open"'
	contains "$output" '"provider":"dos\\dir"'
	contains "$output" '"file\\a"'
	fails_with "no persistent event" delete net/ipv4/tcp/open
	run_elog delete 'net\/ipv4/tcp/open' 'dos\\dir/file\a'
	[ "$status" = 0 ]
	run_elog list --format json
	[[ $output != *tcp/open* && $output != *dir* ]]
}

@test "create: errors give the reason and create nothing" {
	without_capability create made/one 'u32 x'
	fails_with "PROVIDER/]EVENT is missing" create
	fails_with "does not understand the field 'u33 y'" create made/one 'u32 x; u33 y'
	fails_with "have different names" create made/one 'u32 x; u32 x'
	fails_with "invalid name" create $'made/o\033ne'
	fails_with "invalid name" create made/öne
	fails_with "invalid name" create "made/$(printf '%0256d' 1)"
	fails_with "invalid name" create made/ 'u32 x'
	fails_with "invalid name" create /one
	fails_with "invalid name" create ''
	fails_with "invalid name" create --provider $'a\tb' one
	fails_with "--provider: invalid provider ''" create --provider '' one
	fails_with "and so does --provider" create --provider a b/one
	fails_with "unexpected argument 'u8 y'" create made/one 'u32 x' 'u8 y'
	fails_with "unexpected argument 'u8 y'" create 'made/one u32 x' 'u8 y'
	fails_with "-k: 'red': keywords of a new event must be numbers" create -k red made/one
	fails_with "too many or too large" create made/one "char[65537] x"
	fails_with "-l: invalid level '9'" create -l 9 made/one
	[ -z "$(listed '*')" ]

	rmmod eventlog
	insmod "$EVENTLOG_KO" events_max=4
	made=()
	for number in 1 2 3 4; do
		"$ELOG" create "made/event$number" || break
		made+=("made/event$number")
	done
	fails_with "has reached its limit of events" create made/more
	run_elog delete made/event1
	[ "$status" = 0 ]
	run_elog create made/more
	[ "$status" = 0 ]
	"$ELOG" delete made/more "${made[@]:1}"
	rmmod eventlog
	insmod "$EVENTLOG_KO"
}

@test "delete: errors give the reason and delete nothing" {
	# A program has registered one of two definitions.
	"$ELOG" emit --wait -d 600 made/one 'u32 x' x=1 3>&- &
	background+=("$!")
	wait_for is_listed made/one
	"$ELOG" create made/one 'u32 x'
	"$ELOG" create made/one 'u64 x'
	without_capability delete made/one
	fails_with "PROVIDER/]EVENT is missing" delete
	fails_with "no persistent event 'made/on'" delete made/on
	fails_with "no persistent event 'one'" delete one
	fails_with "no persistent event 'mad/one'" delete mad/one
	fails_with "no persistent event 'made/*'" delete 'made/*'
	fails_with "': invalid name" delete $'made/o\033ne'
	fails_with "'made/': invalid name" delete made/
	fails_with "and so does --provider" delete --provider a made/one
	[ "$(listed made/one | wc -l)" = 2 ]

	# One of the two definitions is in use: both stay.
	fails_with "is in use" delete made/one
	[ "$(listed made/one | wc -l)" = 2 ]
	end_background
	run_elog delete --provider made one
	[ "$status" = 0 ]
	[ -z "$(listed '*')" ]
	fails_with "no persistent event" delete made/one

	# If one event cannot be deleted, the others are deleted.
	"$ELOG" create made/two
	run_elog delete made/none made/two
	[ "$status" = 1 ]
	[ -z "$(listed '*')" ]
}

@test "completion: delete completes persistent events" {
	"$ELOG" create made/one
	"$ELOG" emit --wait -d 600 made/live 3>&- &
	background+=("$!")
	wait_for is_listed made/live
	run bash -c 'source "$TREE/tools/elog/elog.bash-completion"
		COMP_WORDS=(elog delete ""); COMP_CWORD=2
		_elog "$ELOG" "" delete; echo "${COMPREPLY[*]}"'
	[ "$output" = made/one ]
}
