#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog capture --otlp, with the kernel module. otlp_test.sh tests what records contain, and
# receivers that refuse or lie. Needs root.

load elog.bash

setup()
{
	begin
	unset "${!OTEL_@}" http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
	# The guest has its own network.
	ip link set lo up
	mkdir "$work/got"
	python3 "$TREE/tools/elog/export/otlp_receiver.py" "$work/got" > "$work/log" 2>&1 3>&- &
	background+=($!)
	wait_for test -s "$work/got/port"
	url=http://127.0.0.1:$(cat "$work/got/port")
	if "$ELOG" capture --otlp "$url/ok" -d 0.01 2>&1 | grep -q 'built without'; then
		skip "elog was built without libcurl"
	fi
}

# emit_blobs COUNT: events blob/big of 30,000 bytes, from one process.
emit_blobs()
{
	LD_LIBRARY_PATH=$EVENTLOG_TOOLS python3 -c '
import ctypes, sys
class Part(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]
elog = ctypes.CDLL("libelog.so.0")
producer, event = ctypes.c_void_p(), ctypes.c_void_p()
assert not elog.elog_producer_open(ctypes.byref(producer), None)
assert not elog.elog_event_register(producer, b"blob", b"big char[30000] text", 0,
                                    ctypes.c_uint64(0), 0, ctypes.byref(event))
part = Part(bytes(65 + i % 26 for i in range(30000)), 30000)
for i in range(int(sys.argv[1])):
    assert not elog.elog_event_write(event, ctypes.c_uint64(0), ctypes.byref(part), 1)
' "$1"
}

# count_received FOLDER: sets logs, spans, unsent to what the receiver has.
count_received()
{
	read -r logs spans unsent < <(python3 -c '
import os, sys
def fields(data):
    at = 0
    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            size = varint() if tag & 7 == 2 else 8
            yield tag >> 3, data[at:at + size]
            at += size
def get(data, *path):
    if not path:
        yield data
        return
    for number, value in fields(data):
        if number == path[0]:
            yield from get(value, *path[1:])
count, unsent = {"logs": 0, "traces": 0}, 0
for name in os.listdir(sys.argv[1]):
    with open(sys.argv[1] + "/" + name, "rb") as file:
        data = file.read()
    kind = name.split(".")[1]
    for record in get(data, 1, 2, 2):
        attributes = get(record, 6) if kind == "logs" else ()
        losses = [loss for attribute in attributes if b"unsent" in get(attribute, 1)
                  for loss in get(attribute, 2, 3)]
        unsent += sum(losses)
        count[kind] += not losses
print(count["logs"], count["traces"], unsent)
' "$1")
}

@test "capture: --otlp goes with neither files nor formats" {
	fails_with "-o does not go with --otlp" capture --otlp "$url/ok" -o "$work/file"
	fails_with "--split does not go with --otlp" capture --otlp "$url/ok" --split "$work/dir"
	fails_with "--overwrite does not go with --otlp" capture --otlp "$url/ok" --overwrite
	fails_with "--format does not go with --otlp" capture --otlp "$url/ok" --format json
	fails_with "--span needs --otlp" capture --span a:b
	fails_with "must be http://HOST" capture --otlp localhost
}

@test "capture: --otlp sends log records and spans" {
	run_elog capture -e job --otlp "$url/ok" --span start:end -- sh -c '
		"$ELOG" emit -s 0x5 job/start "u32 id" id=1
		"$ELOG" emit -s 0x5 job/end "u32 id" id=1
		"$ELOG" emit job/note'
	[ "$status" = 0 ]
	contains "$stderr" "sent 3 log records and 1 span in " "3 events in" "lost 0"
	count_received "$work/got/ok"
	[ "$logs $spans $unsent" = "3 1 0" ]
	grep -qaF "$(cat /proc/sys/kernel/random/boot_id)" "$work/got/ok/000001.logs"
}

@test "capture: --otlp sends while the capture runs" {
	start_capture -e job --otlp "$url/ok"
	elog emit job/note
	wait_for test -s "$work/got/ok/000001.logs"
	stop_capture INT
	[ "$status" = 0 ]
	contains "$(< "$work/err")" "sent 1 log record and 0 spans in 1 request"
}

# Only what does not fit in the queue is dropped.
@test "capture: a receiver that hangs delays nothing, and what it lacks is counted" {
	export OTEL_EXPORTER_OTLP_TIMEOUT=1000
	start_capture -e blob --per-cpu-bytes 32M --otlp "$url/hang"
	emit_blobs 800
	stop_capture INT
	[ "$status" = 2 ]
	contains "$(< "$work/err")" "800 events in" "lost 0" "sent 0 log records and 0 spans" \
		"800 log records and 0 spans were not sent"
	# Two signals that arrive together end it at once.
	OTEL_EXPORTER_OTLP_TIMEOUT=3600000 start_capture -e job --otlp "$url/hang"
	elog emit -n 10 job/note
	while_stopped "$capture" bash -c "kill -INT $capture; kill -TERM $capture"
	started=$capture
	wait_elog
	[ "$status" = 2 ]
	contains "$(< "$work/err")" "10 events in" "10 log records and 0 spans were not sent"
}

@test "capture: a log record reports what could not be sent" {
	export OTEL_EXPORTER_OTLP_TIMEOUT=600000
	start_capture -e blob --per-cpu-bytes 32M --otlp "$url/late"
	emit_blobs 800
	wait_for grep -q "the receiver is too slow" "$work/err"
	kill -INT "$capture"
	touch "$work/got/go"
	started=$capture
	wait_elog
	[ "$status" = 2 ]
	count_received "$work/got/late"
	[ $((logs + unsent)) = 800 ]
	[ "$unsent" -gt 0 ]
	contains "$(< "$work/err")" "sent $logs log records and 0 spans" \
		"$unsent log records and 0 spans were not sent"
}
