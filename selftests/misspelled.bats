#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Misspelled names in live runs: elog warns, and says which names are near. Needs root.
# tools/elog/misspelled_test.c tests what needs no device.

load elog.bash

setup_file()
{
	find_built
	[ -d /sys/module/eventlog ] || insmod "$EVENTLOG_KO"
	insmod "${EVENTLOG_KO%/*}/module/providers/eventlog_proc.ko"
	"$ELOG" create -k 1 shop/kept 'u32 bytes'
}

teardown_file()
{
	"$ELOG" delete shop/kept
	rmmod eventlog_proc
}

# has_message MESSAGE: it is a whole line of stderr, without "elog VERB: ". No other name is
# unknown yet.
has_message()
{
	[[ $'\n'$stderr$'\n' == *$'\nelog'*": $1"$'\n'* && ${stderr#*": $1"} != *" yet"* ]] ||
		{ printf 'no "%s", or more, in: %s\n' "$1" "$stderr"; return 1; }
}

# warns MESSAGE ARGUMENT...: a live run prints the message and succeeds.
warns()
{
	local -

	set +T
	keep_output timeout 300 "$ELOG" "${@:2}"
	has_message "$1"
	[ "$status" = 0 ]
}

is_error()
{
	local -

	set +T
	keep_output timeout 300 "$ELOG" "${@:2}"
	has_message "$1"
	[ "$status" = 1 ]
	[ -z "$output" ]
}

@test "misspelled: a live run warns once, at the start" {
	# The bits of a keyword cannot be known before its provider is.
	is_error "-k: no keyword 'lief'; did you mean 'life'?" capture -q -k lief -- true
	is_error "no event 'shop/kpet'; did you mean 'shop/kept'?" list -q shop/kpet
	is_error "no provider 'shpo'; did you mean 'shop'?" list --tree shpo
	is_error "no persistent event 'shop/kpet'; did you mean 'shop/kept'?" delete shop/kpet
	is_error "no field 'byets'; did you mean 'bytes'?" emit shop/kept 'u32 bytes' bytes=1 byets=1
	is_error "no marker 'kept'" marker en kept
	is_error "--handler: invalid handler 'prnt': must be one of print, trace, probe; did you mean 'print'?" \
		marker enable --handler trace,prnt x

	warns "no event 'proc/exce' yet; did you mean 'proc/exec'?" capture -e proc/exce -- true
	warns "-f 'byts > 1': column 1: no field 'byts' yet; did you mean 'bytes'?" \
		stat -e shop -f 'byts > 1' -- true
	warns "--fields: no field 'tiem' yet; did you mean 'time'?" capture --fields tiem -- true
	warns "-k: no keyword 'rnudown' yet; did you mean 'rundown'?" \
		capture -o "$work/file" -k life,rnudown -- true
	warns "--trigger: no event 'proc/exti' yet; did you mean 'proc/exit'?" \
		capture --overwrite --trigger proc/exti -e shop -- true
	warns "no event 'kpet' yet; did you mean 'shop/kept'?" latency kpet kept -- true
	warns "--group: no END has a field 'byets' yet; did you mean 'bytes'?" \
		latency --group byets fork shop/kept -- \
		"$ELOG" emit shop/kept "u32 bytes; u8 byets" bytes=1 byets=1
	# The event comes later: it is captured, and there is no second message.
	warns "no event 'shop/later' yet" capture -e shop/later -- "$ELOG" emit shop/later
	contains "$output" later

	run_elog capture -q -e shop/kpet -f 'byts > 1' -- true
	[ -z "$stderr" ]
	run_elog capture -e shop/kept -e 'proc/*' -f 'bytes > 1 || event == exit' -k life,1 -- true
	[ "$status" = 0 ]
	[[ $stderr != *" no "* ]]
}

@test "misspelled: a file that grows may get the name" {
	"$ELOG" capture -q -o "$work/file" -e shop -- "$ELOG" emit shop/kept 'u32 bytes' bytes=1
	"$ELOG" show --follow -e shop/kpet "$work/file" > "$work/out" 2> "$work/err" 3>&- &
	started=$!
	background+=("$started")
	wait_for has_begun "$work/err" "elog show: no event 'shop/kpet' yet; did you mean 'shop/kept'[?]"
	stop_elog INT
	[ "$status" = 0 ]
	[ "$(grep -c "no event" "$work/err")" = 1 ]
}
