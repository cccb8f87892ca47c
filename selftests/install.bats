#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs that use libelog.so from C, C++ and Python, with real events. Needs the
# module.
#
# EVENTLOG_MODULE	eventlog.ko, loaded if it is not
# EVENTLOG_TOOLS	what make -C tools built (default: build/tools)

bats_require_minimum_version 1.5.0

setup_file()
{
	local tree

	tree=$(cd "$BATS_TEST_DIRNAME/.." && pwd -P)
	export TREE=$tree
	export EVENTLOG_TOOLS=${EVENTLOG_TOOLS:-$tree/build/tools}
	export EVENTLOG_KO=${EVENTLOG_KO:-${EVENTLOG_MODULE:-$tree/build/$(uname -r)/eventlog.ko}}
	[ "$(id -u)" = 0 ] || skip "needs root"
}

setup()
{
	[ -d /sys/module/eventlog ] || insmod "$EVENTLOG_KO"
	work=$BATS_TEST_TMPDIR
	elog=$EVENTLOG_TOOLS/elog
	watcher=
}

teardown()
{
	[ -z "$watcher" ] || kill -KILL "$watcher" 2> /dev/null || true
}

# Captures three events with types that a reader could decode wrongly.
capture()
{
	cat > "$work/job" <<'SCRIPT'
"$1" emit -s 7 install/step 'u32 number; __data_loc char[] name; s16 delta' \
	number=1 'name=a "b"' delta=-5
"$1" emit install/nothing
"$1" emit install/step 'u32 number; __data_loc char[] name; s16 delta' \
	number=2 name= delta=32767
SCRIPT
	"$elog" capture -q -e install -o "$work/file.elog" -- sh "$work/job" "$elog"
}

# Prints all except the time as elog show does: the expected output of a reader.
expected()
{
	"$elog" show -q "$work/file.elog" |
		awk '{ $1 = $2 = $3 = $4 = $6 = ""; sub("^ +", ""); sub(" +", "/")
			gsub("  +", " "); print }'
}

# Checks that times increase and equal those of elog show, and removes them.
without_times()
{
	"$elog" show -q "$work/file.elog" | awk '{ print $4 }' > "$work/times"
	awk '{ print $1 }' "$1" | diff "$work/times" - >&2
	sed -e 's/^[^ ]* //' -e 's/ *$//' "$1"
}

@test "examples: reader prints a file like elog show" {
	capture
	"$EVENTLOG_TOOLS/examples/reader" "$work/file.elog" > "$work/out"
	cat "$work/out"
	[ "$(wc -l < "$work/out")" = 3 ]
	without_times "$work/out" > "$work/got"
	expected | diff - "$work/got"
	grep -F 'install/step number=1 name="a \"b\"" delta=-5' "$work/got"
}

@test "examples: reader reports a damaged file" {
	run --separate-stderr "$EVENTLOG_TOOLS/examples/reader" "$work/missing"
	[ "$status" = 1 ]
	[[ $stderr == *"No such file"* ]]
	head -c 100 /dev/urandom > "$work/noise"
	run --separate-stderr "$EVENTLOG_TOOLS/examples/reader" "$work/noise"
	[ "$status" = 1 ]
	[ -z "$output" ]
	capture
	head -c -30 "$work/file.elog" > "$work/cut"
	run --separate-stderr "$EVENTLOG_TOOLS/examples/reader" "$work/cut"
	[ "$status" = 1 ]
	[[ $stderr == *"is damaged"* ]]
}

@test "examples: reader.py prints a file like elog show" {
	capture
	export LD_LIBRARY_PATH=$EVENTLOG_TOOLS PYTHONPATH=$TREE/tools/python
	export PYTHONDONTWRITEBYTECODE=1
	"$TREE/tools/examples/reader.py" \
		"$work/file.elog" > "$work/out"
	cat "$work/out"
	[ "$(wc -l < "$work/out")" = 3 ]
	without_times "$work/out" > "$work/got"
	expected | diff - "$work/got"
	head -c 100 /dev/urandom > "$work/noise"
	run --separate-stderr "$TREE/tools/examples/reader.py" "$work/noise"
	[ "$status" = 1 ]
	[[ $stderr == *noise* ]]
}

@test "examples: watch, in C++, prints events as they happen" {
	local tries=0

	"$EVENTLOG_TOOLS/examples/watch" 'install*' 2 > "$work/out" 2>&1 3>&- &
	watcher=$!
	# It ends after two events.
	while kill -0 "$watcher" 2> /dev/null; do
		"$elog" emit install/step 'u32 number' number=$tries
		tries=$((tries + 1))
		[ $tries -lt 600 ]
		sleep 0.05
	done
	wait "$watcher"
	watcher=
	cat "$work/out"
	[ "$(wc -l < "$work/out")" = 2 ]
	[ "$(grep -c '^install/step number=[0-9]*$' "$work/out")" = 2 ]
}

@test "eventlog-metrics: writes counts to a file for node_exporter" {
	mkdir "$work/metrics"
	echo old > "$work/metrics/eventlog.prom"
	ELOG=$elog "$TREE/tools/dist/eventlog-metrics" "$work/metrics" -d 0.1
	cat "$work/metrics/eventlog.prom"
	grep -E '^# TYPE eventlog_[a-z_]+ (counter|gauge)$' "$work/metrics/eventlog.prom"
	[ "$(ls "$work/metrics")" = eventlog.prom ]
	[ "$(stat -c %a "$work/metrics/eventlog.prom")" = 644 ]
}

@test "eventlog-metrics: keeps the file if elog fails" {
	mkdir "$work/metrics"
	echo old > "$work/metrics/eventlog.prom"
	ELOG=false run "$TREE/tools/dist/eventlog-metrics" "$work/metrics"
	[ "$status" != 0 ]
	[ "$(cat "$work/metrics/eventlog.prom")" = old ]
	[ "$(ls "$work/metrics")" = eventlog.prom ]
	ELOG=$elog run "$TREE/tools/dist/eventlog-metrics" "$work/metrics" -e /
	[ "$status" = 1 ]
	[ "$(cat "$work/metrics/eventlog.prom")" = old ]
	run "$TREE/tools/dist/eventlog-metrics"
	[ "$status" = 1 ]
	[[ $output == usage:* ]]
}

# Runs the command of the unit, in another directory.
@test "eventlog-recorder.service: records, starts a new file, and ends" {
	local command tries=0 status=0

	command=$(sed -n 's/^ExecStart=//p' "$TREE/tools/dist/eventlog-recorder.service")
	command=${command/#\/usr\/bin\/elog/$elog}
	command=${command//\/var\/log\/eventlog\/%H/$work/host}
	[[ $command != */var/* && $command != *%* ]]
	$command 2> "$work/err" 3>&- &
	watcher=$!
	# The recording has started when the event is enabled.
	"$elog" emit --wait -d 600 install/recorded 'u32 number' number=1
	grep -qx 'ExecReload=kill -HUP $MAINPID' "$TREE/tools/dist/eventlog-recorder.service"
	kill -HUP "$watcher"
	until [ -e "$work/host.elog.1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || { cat "$work/err"; false; }
		sleep 0.05
	done
	"$elog" emit install/recorded 'u32 number' number=2
	kill "$watcher"
	wait "$watcher" || status=$?
	watcher=
	cat "$work/err"
	[ "$status" = 0 ]
	"$elog" show -q "$work/host.elog.1" | grep 'recorded number=1$'
	"$elog" show -q "$work/host.elog" | grep 'recorded number=2$'
	# A second run appends to the file.
	$command 2> "$work/err" 3>&- &
	watcher=$!
	"$elog" emit --wait -d 600 install/recorded 'u32 number' number=3
	kill "$watcher"
	wait "$watcher"
	watcher=
	[ "$("$elog" show -q "$work/host.elog" | grep -c 'recorded number=[23]$')" = 2 ]
}
