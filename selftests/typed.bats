#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Typed events of programs: what their schemas say reaches text, JSON, filters, listings and
# trace events. memcached is built by scripts/build-memcached into MEMCACHED (default:
# build/memcached). Needs root.

load elog.bash

setup_file()
{
	find_built
	export KIOSK=$EVENTLOG_TOOLS/examples/kiosk
	export MEMCACHED=${MEMCACHED:-$EVENTLOG_BUILD/memcached}
}

teardown()
{
	end_background
}

@test "typed: names, units and sessions reach text and JSON" {
	run_apart "$ELOG" capture -q -e kiosk -o "$work/kiosk.elog" -- "$KIOSK" 4
	[ "$status" = 0 ]
	[ "$output" = "0 apples are left" ]
	run_elog show -q --fields session,level,keywords,event,name,fruit,count,extra,price \
		"$work/kiosk.elog"
	[ "$status" = 0 ]
	[ "$output" = 'session=0x1 level=info keywords=sale event=arrived name="Alice"
session=0x1 level=notice keywords=sale event=sold fruit=APPLE count=2 extra=BAG|RECEIPT price=240
session=0x2 level=info keywords=sale event=arrived name="Bob"
session=0x2 level=notice keywords=sale event=sold fruit=APPLE count=3 extra=BAG|RECEIPT price=360
session=0x3 level=info keywords=sale event=arrived name="Alice"
session=0x3 level=notice keywords=sale event=sold fruit=DURIAN count=1 extra=BAG|RECEIPT price=120
session=0x4 level=info keywords=sale event=arrived name="Bob"
session=0x4 level=error keywords=stock event=empty fruit=APPLE' ]
	run_elog show -q -e kiosk/sold -s 3 "$work/kiosk.elog"
	[[ $output =~ \ kiosk\ +0x3\ sold\ +fruit=DURIAN\ count=1\ extra=BAG\|RECEIPT\ price=120 ]]
	[[ $output =~ \ took=[0-9.]+(ns|us|ms|s)$ ]]
	run_elog show -q --format json -e kiosk/sold -s 1 "$work/kiosk.elog"
	contains "$output" '"fields":{"fruit":"APPLE","count":2,"extra":["BAG","RECEIPT"],"price":240,'
	[[ $output =~ '"took":'[0-9]+'}' ]]
}

@test "typed: filters compare names, in the kernel and in files" {
	run_apart "$ELOG" capture -q -e kiosk/sold -f 'fruit == DURIAN && extra & RECEIPT && took < 100s' \
		-o "$work/kiosk.elog" -- "$KIOSK" 4
	[ "$status" = 0 ]
	run_elog show -q --fields event,fruit "$work/kiosk.elog"
	[ "$output" = "event=sold fruit=DURIAN" ]
	run_apart "$ELOG" capture -q -e kiosk -o "$work/all.elog" -- "$KIOSK" 4
	run_elog show -q -k stock --fields event,fruit "$work/all.elog"
	[ "$output" = "event=empty fruit=APPLE" ]
	run_elog show -q -f 'fruit == APPLE && count == 3' --fields session "$work/all.elog"
	[ "$output" = "session=0x2" ]
}

@test "typed: memcached with the events of tools/doc/programs.md" {
	[ -x "$MEMCACHED/memcached" ] || skip "$(cat "$MEMCACHED/reason" 2> /dev/null || echo "not built")"
	"$MEMCACHED/memcached" -u root -t 1 -s "$work/socket" 3>&- &
	background+=($!)
	wait_for [ -S "$work/socket" ]
	run_elog list --tree memcached
	contains "$output" "cache of keys and values" "a client reads an item" \
		"bytes of the value" NOT_STORED
	start_elog capture -e memcached --fields level,event,transport,key,size,hit,result
	python3 - "$work/socket" <<'CLIENT'
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
def ask(request, end):
    client.sendall(request)
    answer = b""
    while not answer.endswith(end):
        answer += client.recv(1000)
ask(b"set answer 0 0 2\r\n42\r\n", b"STORED\r\n")
ask(b"get answer\r\n", b"END\r\n")
ask(b"get question\r\n", b"END\r\n")
ask(b"add answer 0 0 2\r\n43\r\n", b"NOT_STORED\r\n")
client.close()
CLIENT
	wait_for grep -q closed "$work/out"
	[ "$(< "$work/out")" = 'level=info event=opened transport=LOCAL
level=debug event=set key="answer" size=2 result=STORED
level=debug event=get key="answer" size=2 hit=true
level=debug event=get key="question" size=0 hit=false
level=debug event=set key="answer" size=2 result=NOT_STORED
level=info event=closed' ]
	trace_events_exist || skip "this kernel has no trace events for modules"
	wait_for [ -e /sys/kernel/tracing/events/eventlog_memcached/set/format ]
	run cat /sys/kernel/tracing/events/eventlog_memcached/set/format
	contains "$output" '{ 0x0, "NOT_STORED" }' '{ 0x1, "STORED" }' 'u8 result'
}
