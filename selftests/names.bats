#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Misspelled names: elog says which names are near, and fails where it can. Needs root.

load elog.bash

setup_file()
{
	find_built
	[ -d /sys/module/eventlog ] || insmod "$EVENTLOG_KO"
	insmod "${EVENTLOG_KO%/*}/module/providers/eventlog_proc.ko"
	export FILE=$BATS_FILE_TMPDIR/file EMPTY=$BATS_FILE_TMPDIR/empty
	"$ELOG" capture -q -o "$FILE" -e shop -e proc/fork -- sh -c \
		'"$ELOG" emit -k 1 -l error shop/order "u32 bytes; u16 port" bytes=5 port=80
		"$ELOG" emit shop/close "u8 code" code=1' 2> /dev/null
	"$ELOG" capture -q -o "$EMPTY" -e shop -- true
}

teardown_file()
{
	rmmod eventlog_proc
}

setup()
{
	begin
}

teardown()
{
	end_background
}

# is_error MESSAGE ARGUMENT...: elog fails, and the message is a whole line of stderr, behind
# "elog VERB: ".
is_error()
{
	local -

	set +T
	keep_output "$ELOG" "${@:2}"
	has_line "$1" "${@:2}"
	[ "$status" = 1 ] || { echo "elog ${*:2}: status $status"; return 1; }
}

has_line()
{
	[[ $'\n'$stderr$'\n' == *$'\nelog'*": $1"$'\n'* ]] ||
		{ printf 'elog %s: no "%s" in: %s\n' "${*:2}" "$1" "$stderr"; return 1; }
}

# warns MESSAGE ARGUMENT...: a live run prints the line once and succeeds.
warns()
{
	local -

	set +T
	keep_output timeout 300 "$ELOG" "${@:2}"
	has_line "$1" "${@:2}"
	[ "$(grep -cF "$1" <<< "$stderr")" = 1 ]
	[ "$status" = 0 ] || { echo "elog ${*:2}: status $status"; return 1; }
}

@test "names: files: an event, field, keyword or provider that no event has" {
	is_error "no event 'shop/odrer'; did you mean 'shop/order'?" show -e shop/odrer "$FILE"
	[ -z "$output" ]
	contains "$stderr" "elog: 0 events, lost 0"
	is_error "no event 'Shop/clsoe'; did you mean 'shop/close'?" show -e Shop/clsoe "$FILE"
	is_error "no event 'proc/order'; did you mean 'shop/order'?" show -e proc/order "$FILE"
	is_error "no event 'shop/x*'" show -e 'shop/x*' "$FILE"
	is_error "no provider 'shpo'; did you mean 'shop'?" show -e shpo "$FILE"
	is_error "no provider 'order'; did you mean 'shop/order'?" show -e order "$FILE"
	# One name is right, the other one is not.
	is_error "no event 'shop/ordre'; did you mean 'shop/order'?" \
		show -e shop/close -e shop/ordre "$FILE"
	contains "$output" "code=1"
	is_error "no event 'shop/ordre'; did you mean 'shop/order'?" show -e shop/ordre - < "$FILE"
	is_error "no event 'shop/ordre'; did you mean 'shop/order'?" stat -e shop/ordre "$FILE"

	is_error "-f 'byts > 1': column 1: no field 'byts'; did you mean 'bytes'?" \
		show -f 'byts > 1' "$FILE"
	is_error "-f 'bytes > 1 || prot == 80': column 14: no field 'prot'; did you mean 'port'?" \
		show -f 'bytes > 1 || prot == 80' "$FILE"
	contains "$output" "bytes=5"
	# Only the events that -e, -k and -l select count.
	is_error "-f 'bytes > 1': column 1: no field 'bytes'" show -e shop/close -f 'bytes > 1' "$FILE"
	is_error "-f 'code': column 1: no field 'code'" show -l error -f code "$FILE"
	is_error "-f 'provider == shpo': column 13: no provider 'shpo'; did you mean 'shop'?" \
		show -f 'provider == shpo' "$FILE"
	is_error "-f 'event != ordr': column 10: no event 'ordr'; did you mean 'order'?" \
		show -f 'event != ordr' "$FILE"
	is_error "-f 'keywords & lief': column 12: no keyword 'lief'; did you mean 'life'?" \
		show -f 'keywords & lief' "$FILE"
	is_error "-f 'bytes > 1 && byte < 9': column 14: no field 'byte'; did you mean 'bytes'?" \
		stat -f 'bytes > 1 && byte < 9' "$FILE"

	is_error "-k: no keyword 'lief'; did you mean 'life'?" show -k lief "$FILE"
	is_error "-k: no keyword 'bogus'" show -q -k life,bogus "$FILE"
	contains "$output" fork
	is_error "--fields: no field 'tiem'; did you mean 'time'?" show -q --fields tiem,bytes "$FILE"
	contains "$output" "bytes=5"
	is_error "--fields: no field 'prot'; did you mean 'port'?" \
		show -q --format csv --fields time,prot "$FILE"

	is_error "no event 'odrer'; did you mean 'shop/order'?" latency odrer close "$FILE"
	is_error "--by: no START has a field 'prot'; did you mean 'port'?" \
		latency --by prot order close "$FILE"
	is_error "--group: no END has a field 'cod'; did you mean 'code'?" \
		latency --group cod order close "$FILE"
}

@test "names: files: names that are known, or may be" {
	run_elog show -e shop/order -e 'pr*/fo*' -k life,1 -f 'bytes > 1 || event == fork' \
		-f '@keywords & life || @provider == shop || tid' --fields time,fields,bytes "$FILE"
	[ "$status" = 0 ]
	[[ $stderr =~ ^elog:\ [0-9]+\ events?,\ lost\ 0$ ]]
	# A file without events proves nothing.
	run_elog show -e shop/ordre -f 'byts > 1' --fields tiem -k lief "$EMPTY"
	[ "$status" = 0 ]
	[ "$stderr" = "elog: 0 events, lost 0" ]
	# Of several files, one is enough.
	run_elog show -q -e shop/order "$EMPTY" "$FILE"
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	# What was not read may have the name.
	run_elog show -q -n 1 -e shop -e shop/ordre "$FILE"
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	run_elog show -q --since 1970-01-01 -e shop/ordre "$FILE"
	[ "$status" = 0 ]
	[ "$stderr" = "elog show: no event 'shop/ordre' since then; did you mean 'shop/order'?" ]
	# The rest of a file that was cut off may have it, but a damaged file is an error.
	head -c -40 "$FILE" > "$work/cut"
	is_error "no event 'shop/ordre'; did you mean 'shop/order'?" show -e shop/ordre "$work/cut"
	# A file that grows may get it.
	"$ELOG" show --follow -e shop/ordre "$FILE" > "$work/out" 2> "$work/err" 3>&- &
	started=$!
	background+=("$started")
	wait_for has_begun "$work/err" "elog show: no event 'shop/ordre' yet; did you mean 'shop/order'[?]"
	stop_elog INT
	[ "$status" = 0 ]
	[ "$(grep -c "no event" "$work/err")" = 1 ]
}

@test "names: live: a warning at the start" {
	"$ELOG" create shop/kept 'u32 bytes'
	warns "no event 'shop/kpet' yet; did you mean 'shop/kept'?" capture -e shop/kpet -- true
	warns "no event 'proc/exce' yet; did you mean 'proc/exec'?" stat -e proc/exce -- true
	warns "-f 'byts > 1': column 1: no field 'byts' yet; did you mean 'bytes'?" \
		capture -e shop -f 'byts > 1' -- true
	warns "--fields: no field 'tiem' yet; did you mean 'time'?" capture --fields tiem -- true
	warns "-k: no keyword 'rnudown' yet; did you mean 'rundown'?" capture -k life,rnudown -- true
	warns "--trigger: no event 'proc/exti' yet; did you mean 'proc/exit'?" \
		capture --overwrite --trigger proc/exti -- true
	warns "no event 'kpet' yet; did you mean 'shop/kept'?" latency kpet fork -- true
	warns "--group: no END has a field 'byets' yet; did you mean 'bytes'?" \
		latency --group byets fork shop/kept -- sh -c '"$ELOG" emit shop/kept "u32 bytes; u8 byets"'
	warns "no event 'shop/kpet' yet; did you mean 'shop/kept'?" \
		capture -o "$work/out" -e shop/kpet -- true
	# The bits of a keyword cannot be known before its provider is.
	is_error "-k: no keyword 'lief'; did you mean 'life'?" capture -q -k lief -- true
	# The event comes later: one warning at the start.
	warns "no event 'shop/later' yet" capture -e shop/later -- "$ELOG" emit shop/later
	contains "$output" later
	run_elog capture -q -e shop/kpet -f 'byts > 1' -- true
	[ -z "$stderr" ]
	run_elog capture -e shop/kept -e 'proc/*' -f 'bytes > 1 || event == exit' -k life,1 -n 1 -- true
	[[ $stderr != *" no "* ]]
	is_error "no event 'shop/kpet'; did you mean 'shop/kept'?" list shop/kpet
	[ -z "$output" ]
	is_error "no provider 'shpo'; did you mean 'shop'?" list --tree shpo
	is_error "no persistent event 'shop/kpet'; did you mean 'shop/kept'?" delete shop/kpet
	is_error "no field 'byets'; did you mean 'bytes'?" emit shop/kept 'u32 bytes' byets=1
	"$ELOG" delete shop/kept
}

@test "names: a malformed glob is an error" {
	malformed="'[' has no ']'; \\[ is the character"
	for option in '-e proc/[' '-e [' '-e a[/b]' '-e [!]' '-e a/[]'; do
		glob=${option#* }
		is_error "-e: invalid PROVIDER[/EVENT] '$glob': $malformed" show -e "$glob" "$FILE"
	done
	is_error "--trigger: invalid PROVIDER[/EVENT] 'x/[': $malformed" \
		capture --overwrite --trigger 'x/['
	is_error "-e: invalid PROVIDER[/EVENT] 'x\\': nothing follows the last \\" show -e 'x\' "$FILE"
	is_error "invalid PROVIDER[/EVENT] 'proc/[': $malformed" list 'proc/['
	is_error "invalid [PROVIDER/]EVENT 'a[': $malformed" latency 'a[' b "$FILE"
	is_error "invalid PATTERN 'a[': $malformed" marker list 'a['
	is_error "--module: invalid glob '[': $malformed" marker list --module '['
	run_elog show -q -e '[s]hop/[!o]*' -e 'proc/[]f]*' "$FILE"
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	contains "$output" "code=1" fork
}

@test "names: options, arguments, verbs and actions" {
	is_error "no option '--sesion'; did you mean '--session'?" show --sesion 1 "$FILE"
	is_error "no option '--sesion'; did you mean '--session'?" show --sesion=1 "$FILE"
	is_error "no option '-E'; did you mean '-e'?" show -E shop "$FILE"
	is_error "the option '--sessio' is ambiguous: --session, --session-summary" show --sessio 1
	is_error "--per-cpu-bytes: invalid size '3M': must be a power of two, at most 1G" \
		capture --per-cpu-bytes 3M
	is_error "-l: invalid level 'wran': must be one of critical, error, warning, notice, info, debug, verbose, warn, or a number from 1 to 7; did you mean 'warn'?" show -l wran "$FILE"
	is_error "--format: invalid format 'jsn': must be one of text, json, csv; did you mean 'json'?" \
		show --format jsn "$FILE"
	is_error "--by: invalid name 'evnt': must be one of event, provider, session, pid, cpu; did you mean 'event'?" stat --by evnt
	is_error "--sort: invalid name 'byts': must be one of events, bytes, rate, lost, name; did you mean 'bytes'?" stat --sort byts
	run_elog show -q -l warn -e shop "$FILE"
	[ "${#lines[@]}" = 1 ]
	run_elog show -q -f 'provider == shop && level <= warn' "$FILE"
	[ "${#lines[@]}" = 1 ]

	# One line, not the whole usage.
	fails_with "elog: no verb 'caputre'; did you mean 'capture'?" caputre
	[ "$stderr" = "elog: no verb 'caputre'; did you mean 'capture'?" ]
	fails_with "elog: no verb 'x': must be one of capture, show, stop, stat, top, latency, list, marker, info, emit, create, delete, help" x
	[[ $stderr != *$'\n'* ]]
	fails_with "elog: the verb 'st' is ambiguous: stop, stat" st
	run_elog sho -q -e shop/order "$FILE"
	[ "$status" = 0 ]
	contains "$output" "bytes=5"
	fails_with "elog marker: no action 'enabel'; did you mean 'enable'?" marker enabel x
	fails_with "elog marker: no marker 'x'" marker en x
	fails_with "--handler: invalid handler 'prnt': must be one of print, trace, probe; did you mean 'print'?" \
		marker enable --handler trace,prnt x
}

@test "names: elog help prints the help of a verb" {
	fails_with "no verb 'caputre'; did you mean 'capture'?" help caputre
	fails_with "unexpected argument 'show'" help stat show
	"$ELOG" help > "$work/usage"
	cmp "$work/usage" <("$ELOG" --help)
	cmp "$work/usage" <("$ELOG" help help)
	cmp <("$ELOG" help latency) <("$ELOG" latency --help)
	cmp <("$ELOG" hel lat) <("$ELOG" latency --help)
	# shellcheck source=tools/elog/elog.bash-completion
	. "$TREE/tools/elog/elog.bash-completion"
	COMP_WORDS=("$ELOG" help la) COMP_CWORD=2
	_elog "$ELOG" la help
	[ "${COMPREPLY[*]}" = latency ]
	COMP_WORDS=("$ELOG" hel) COMP_CWORD=1
	_elog "$ELOG" hel elog
	[ "${COMPREPLY[*]}" = help ]
}
