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
	keep_output timeout "$HANG_SECONDS" "$ELOG" "${@:2}"
	has_message "$1"
	[ "$status" = 0 ]
}

is_error()
{
	local -

	set +T
	keep_output timeout "$HANG_SECONDS" "$ELOG" "${@:2}"
	has_message "$1"
	[ "$status" = 1 ]
	[ -z "$output" ]
}

@test "misspelled: a live run with a COMMAND warns once, at its end" {
	# Only COMMAND may define the bits of a keyword.
	is_error "-k: no provider that '*' matches has a keyword of 'lief'" capture -k lief -d 0.1
	is_error "no event 'shop/kpet'; did you mean 'shop/kept'?" list -q shop/kpet
	is_error "no provider 'shpo'; did you mean 'shop'?" list --tree shpo
	is_error "no persistent event 'shop/kpet'; did you mean 'shop/kept'?" delete shop/kpet
	is_error "no field 'byets'; did you mean 'bytes'?" emit shop/kept 'u32 bytes' bytes=1 byets=1
	is_error "no marker 'kept'" marker en kept
	is_error "--handler: invalid handler 'prnt': must be one of print, trace, probe; did you mean 'print'?" \
		marker enable --handler trace,prnt x

	warns "no event 'proc/exce'; did you mean 'proc/exec'?" capture -e proc/exce -- true
	warns "-f 'byts > 1': column 1: no field 'byts'; did you mean 'bytes'?" \
		stat -e shop -f 'byts > 1' -- true
	warns "--fields: no field 'tiem'; did you mean 'time'?" capture --fields tiem -- true
	warns "-k: no keyword 'rnudown'; did you mean 'rundown'?" \
		capture -o "$work/file" -k life,rnudown -- true
	warns "--trigger: no event 'proc/exti'; did you mean 'proc/exit'?" \
		capture --overwrite --trigger proc/exti -e shop -- true
	warns "no event 'kpet'; did you mean 'shop/kept'?" latency kpet kept -- true
	warns "--group: no END has a field 'byets' yet; did you mean 'bytes'?" \
		latency --group byets fork shop/kept -- \
		"$ELOG" emit shop/kept "u32 bytes; u8 byets" bytes=1 byets=1
	warns "-k: no keyword 'lief'; did you mean 'life'?" capture -k lief -- true

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

# The whole stderr of a live run, without the summary.
remarks()
{
	local -

	set +T
	keep_output timeout "$HANG_SECONDS" "$ELOG" "$@"
	[ "$status" = 0 ] || { printf 'status %s: %s\n' "$status" "$stderr"; return 1; }
	remarks=$(sed '/^elog: [0-9]* events\? in /d' <<< "$stderr")
}

@test "names: a COMMAND may bring them; what did not come is reported at the end" {
	# Whether the name is of an event, a provider or a keyword, and where it is used.
	for verb in capture stat; do
		remarks $verb -e shop/later -- "$ELOG" emit shop/later
		[ -z "$remarks" ]
		remarks $verb -e market -f 'price > 2' -- "$ELOG" emit market/sale 'u32 price' price=3
		[ -z "$remarks" ]
		remarks $verb -e market2 -- true
		[ "$remarks" = "elog $verb: no provider 'market2'" ]
		remarks $verb -e market3/sale -f 'price > 2' -- "$ELOG" emit market3/sale 'u32 prize' prize=3
		contains "$remarks" "-f 'price > 2': column 1: no field 'price'; did you mean 'prize'?"
	done
	remarks latency market4/a market4/b -- sh -c '"$ELOG" emit market4/a; "$ELOG" emit market4/b'
	[[ $remarks != *": no "* && $remarks != *" none"* ]] || { echo "$remarks"; false; }
	remarks capture -o "$work/raw" -e market5 -- "$ELOG" emit market5/x
	[ -z "$remarks" ]
	# With -q nothing is said.
	run_elog capture -q -e market2 -- true
	[ -z "$stderr" ]
	# Without COMMAND the names are not known yet.
	remarks capture -e market2 -d 0.1
	[ "$remarks" = "elog capture: no provider 'market2' yet" ]
}

@test "names: -k of a keyword that only COMMAND defines" {
	cat > "$work/market" <<-'PYTHON'
		import ctypes, sys
		lib = ctypes.CDLL("libelog.so.0")
		lib.elog_event_register_schema.argtypes = [ctypes.c_void_p, ctypes.c_char_p,
		                                           ctypes.c_uint, ctypes.c_void_p]
		producer, event = ctypes.c_void_p(), ctypes.c_void_p()
		lib.elog_producer_open(ctypes.byref(producer), None)
		for name, keyword in (b"kept", b"order"), (b"other", b"-"):
		    schema = (b"eventlog 1\nprovider market6\nkeyword order 0x4\n"
		              b"event 1 %s info %s\n" % (name, keyword))
		    assert lib.elog_event_register_schema(producer, schema, 0, ctypes.byref(event)) == 0
		    lib.elog_event_write.argtypes = [ctypes.c_void_p, ctypes.c_uint64,
		                                     ctypes.c_void_p, ctypes.c_uint]
		    lib.elog_event_write(event, 0, None, 0)
	PYTHON
	export LD_LIBRARY_PATH=$EVENTLOG_TOOLS
	remarks capture -k order --fields event -- python3 "$work/market"
	[ -z "$remarks" ]
	[ "$output" = event=kept ]
	remarks stat -k order -- python3 "$work/market"
	[ -z "$remarks" ]
	[ "$(awk '$NF == "total" { print $2 }' <<< "$output")" = 1 ]
	remarks capture -k order -o "$work/file" -- python3 "$work/market"
	[ "$("$ELOG" show -q --fields event "$work/file")" = event=kept ]
	remarks capture -e market6 -k nothing -- python3 "$work/market"
	[ "$remarks" = "elog capture: -k: no keyword 'nothing'
elog: 2 events came, of which the options select none" ]
	# The kernel cannot sample what elog selects.
	is_error "-k: no provider that '*' matches has a keyword of 'order'" \
		capture -k order --sample 2 -- true
}

@test "names: the kernel module that has a provider is named" {
	local file name

	rmmod eventlog_proc
	for file in "$TREE"/module/providers/*_eventlog_schema.src; do
		name=${file##*/}
		name=${name%_eventlog_schema.src}
		remarks capture -e "$name" -- true
		[ "$remarks" = "elog capture: no provider '$name' yet
  the kernel module eventlog_$name has it; run: modprobe eventlog_$name" ]
	done
	insmod "${EVENTLOG_KO%/*}/module/providers/eventlog_proc.ko"
	remarks capture -e proc/nothing -- true
	[[ $remarks != *modprobe* ]]
}

@test "nothing matched: the reason is printed at the end" {
	# A field with a misspelled name, of an event that comes later.
	remarks capture -e shop7 -f 'statu >= 500' -- "$ELOG" emit -n 12 shop7/done 'u32 status' status=500
	contains "$remarks" "-f 'statu >= 500': column 1: no field 'statu'; did you mean 'status'?" \
		"12 events rejected by the filter in the kernel, 12 of them without the fields"
	# The warning is repeated if it has become more useful.
	start_elog capture -f 'statu >= 500'
	"$ELOG" emit -n 12 shop7/done 'u32 status' status=500
	stop_elog INT
	[ "$(grep -c "no field 'statu'" "$work/err")" = 2 ]
	contains "$(< "$work/err")" "did you mean 'status'?" " of them without the fields"
	remarks stat -e shop7 -f 'status > 600' -- "$ELOG" emit -n 12 shop7/done 'u32 status' status=500
	[ "$remarks" = "elog: 12 events rejected by the filter in the kernel" ]
	remarks capture -e shop7 -t 1 -- "$ELOG" emit -n 12 shop7/done 'u32 status' status=500
	[ "$remarks" = "elog: 12 events came, of which the options select none" ]
	remarks capture -e shop -- true
	[ "$remarks" = "elog: 1 registered event matches; none was emitted" ]
	remarks capture -e shop -p 1 -- "$ELOG" emit shop/kept 'u32 bytes' bytes=1
	[[ $remarks == "elog: "?" registered event"*"; none was emitted where -s, -p, -t, -C, --cgroup and --unit select it" ]]
	remarks capture -e shop -l critical -- "$ELOG" emit shop/kept 'u32 bytes' bytes=1
	[ "$remarks" = "elog: no registered event matches" ]
	remarks capture -e shop -- "$ELOG" emit shop/kept 'u32 bytes' bytes=1
	[ -z "$remarks" ]
}
