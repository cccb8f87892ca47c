#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What happens at the edges: output to a terminal, full disks, impatient users, clocks
# that are set, and namespaces. Needs root and a machine of its own, because it sets the
# clock.

load elog.bash

setup_file()
{
	find_built
	export TZ=UTC LC_ALL=C.UTF-8
	unset NO_COLOR PAGER ELOG_PAGER LESS
}

teardown()
{
	end_background
	if mountpoint -q "$work/disk"; then
		umount "$work/disk"
	fi
}

# Starts elog capture with output in $work/out and $work/err.
start_capture()
{
	: > "$work/err"
	"$ELOG" capture -v "$@" > "$work/out" 2> "$work/err" 3>&- &
	capture=$!
	background+=("$capture")
	wait_for has_begun "$work/err" 'elog: capturing'
}

# Waits for the capture: sets $status.
join_capture()
{
	status=0
	wait "$capture" || status=$?
	background=()
}

@test "text for a terminal has no control characters, and no changes of direction" {
	local evil=$'a\e[2J\xe2\x80\xaeb,"\xd8\x9c\xff'

	"$ELOG" capture -q -o "$work/file" -- "$ELOG" emit edge/text '__data_loc char[] s' \
		"s=$evil"
	run_elog show --fields s "$work/file"
	[ "$output" = 's="a\x1b[2J\xe2\x80\xaeb,\"\xd8\x9c\xff"' ]
	run_elog show --format json --fields s "$work/file"
	[ "$output" = '{"s":"a\u001b[2J\u202eb,\"\u061c'$'\xef\xbf\xbd''"}' ]
	# A file or a pipe gets the exact bytes.
	"$ELOG" show --format csv --fields s "$work/file" > "$work/csv"
	printf 's\n"%s"\n' $'a\e[2J\xe2\x80\xaeb,""\xd8\x9c\xff' > "$work/expected"
	cmp "$work/csv" "$work/expected"
	script -qec "'$ELOG' show -q --no-pager --format csv --fields s '$work/file'" /dev/null \
		< /dev/null > "$work/terminal"
	[ "$(tr -d '\r' < "$work/terminal")" = 's
"a\x1b[2J\xe2\x80\xaeb,""\xd8\x9c\xff"' ]
	# Error messages go to a terminal, too.
	fails_with 'x???y??: No such file' show "x"$'\u202e'"y"$'\u061c'
}

@test "events that do not fit on a full disk are counted" {
	local mode emitted=3000 shown unwritten arguments

	mkdir "$work/disk"
	mount -t tmpfs -o size=64k none "$work/disk"
	# A raw capture; one with a filter; and one that prints.
	for mode in "-o $work/disk/file" "-C 0 -C 1 -o $work/disk/file" ""; do
		rm -f "$work/disk/file"
		read -ra arguments <<< "$mode"
		status=0
		"$ELOG" capture -e 'full/*' "${arguments[@]}" -- bash -c \
			"while_stopped \$PPID '$ELOG' emit -n $emitted full/x 'u64 a' a=1" \
			> "$work/disk/out" 2> "$work/err" || status=$?
		cat "$work/err"
		[ "$status" = 1 ]
		contains "$(< "$work/err")" "No space left on device" ", lost 0"
		shown=$(sed -n 's/^elog: \([0-9]*\) events* in .*/\1/p' "$work/err")
		unwritten=$(sed -n 's/^elog: .* \([0-9]*\) not written, lost 0$/\1/p' "$work/err")
		[ $((shown + unwritten)) = $emitted ]
		if [ -n "$mode" ]; then
			[ "$("$ELOG" show -q "$work/disk/file" 2> /dev/null | grep -vc "^#")" = "$shown" ]
		else
			[ "$(wc -l < "$work/disk/out")" = "$shown" ]
		fi
		: > "$work/disk/out"
	done
}

@test "a second signal ends a capture whose command ignores signals" {
	"$ELOG" capture -e edge -- bash -c 'trap "" INT TERM
		"$ELOG" emit edge/ready; while :; do sleep 0.5; done' \
		> "$work/out" 2> "$work/err" 3>&- &
	capture=$!
	background+=("$capture")
	wait_for grep -q ' ready$' "$work/out"
	kill -INT "$capture"
	"$ELOG" emit edge/after
	# The first signal is for the command: the capture continues.
	wait_for grep -q ' after$' "$work/out"
	kill -INT "$capture"
	join_capture
	[ "$status" = 137 ]
	contains "$(< "$work/err")" "2 events in" "bash was ended by signal 9"
}

# Has this process a handler for SIGTERM?
catches_term()
{
	local caught

	caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status")
	[ $((0x$caught & 0x4000)) != 0 ]
}

# Two signals of one kind may become one. The first may end the process.
signal_twice()
{
	kill -TERM "$1"
	kill -INT "$1" 2> /dev/null || true
}

# A number in the summary in $work/err; 0: it is not there. $1: what follows it, or precedes it.
summary()
{
	sed -nE "s/^elog: .*\b([0-9]+) $1.*/\1/p; s/^elog: .*\b$1 ([0-9]+).*/\1/p" "$work/err" |
		head -n 1
}

@test "what is discarded at a second signal, because no one reads it, is counted" {
	local mode emitted=3000 shown arguments

	mkfifo "$work/pipe"
	for mode in "" "-o $work/pipe" "-C 0 -C 1 -o $work/pipe"; do
		exec 5<> "$work/pipe"
		read -ra arguments <<< "$mode"
		: > "$work/err"
		"$ELOG" capture -v -e edge "${arguments[@]}" > "$work/pipe" 2> "$work/err" 3>&- 5>&- &
		capture=$!
		background+=("$capture")
		wait_for has_begun "$work/err" 'elog: capturing'
		"$ELOG" emit -n $emitted edge/x 'char[60] s' s=0123456789
		wait_full 5
		signal_twice "$capture"
		join_capture
		cat "$work/err"
		[ "$status" = 2 ]
		shown=$(summary 'events? in')
		[ "$shown" -lt $emitted ]
		[ $((shown + $(summary 'not written') + $(summary lost))) = $emitted ]
		if [ -z "$mode" ]; then
			# The last line may lack its end.
			dd bs=1M count=1 iflag=nonblock <&5 2> /dev/null > "$work/read" || true
			[ "$(tr '\n' '|' < "$work/read" | grep -o '0123456789"|' | wc -l)" = "$shown" ]
		fi
		exec 5>&-
	done
}

run_limited()
{
	timeout -k 1 60 "$ELOG" "$@"
}

@test "elog ends and prints to no file of its own, if stdin, stdout or stderr are closed" {
	local closed mask prints verb

	# Bits: stdin, stdout, stderr. Who cannot print what it should fails.
	for mask in 2 4 7; do
		prints=$((mask >> 1 & 1))
		closed=
		((!(mask & 1))) || closed='<&-'
		((!(mask & 2))) || closed+=' >&-'
		((!(mask & 4))) || closed+=' 2>&-'
		echo "$closed"
		eval "run_limited capture -e edge -o '$work/file' -- '$ELOG' emit -n 5 edge/x \
			'u32 n' n=1 $closed"
		[ "$("$ELOG" show -q --fields n "$work/file" | grep -c '^n=1$')" = 5 ]
		run ! grep -q "elog:" "$work/file"
		eval "run_limited capture -e edge -d 0.1 $closed"
		for verb in --version "capture -e edge -- '$ELOG' emit edge/x"; do
			status=0
			eval "run_limited $verb $closed" || status=$?
			[ "$status" = "$prints" ]
		done
	done
}

@test "signals end a capture although no one reads its messages" {
	mkfifo "$work/pipe"
	exec 5<> "$work/pipe"
	dd if=/dev/zero bs=4096 count=1000 oflag=nonblock >&5 2> /dev/null || true
	"$ELOG" capture -v -e edge > "$work/out" 2> "$work/pipe" 3>&- 5>&- &
	capture=$!
	background+=("$capture")
	wait_for catches_term "$capture"
	signal_twice "$capture"
	join_capture
	exec 5>&-
	[ "$status" = 0 ]
}

@test "a signal ends a verb that waits for a reader of its output" {
	local verb arguments

	"$ELOG" capture -q -e edge -o "$work/file" -- "$ELOG" emit edge/x
	mkfifo "$work/pipe"
	for verb in "report -q" "export --format csv"; do
		read -ra arguments <<< "$verb"
		"$ELOG" "${arguments[@]}" "$work/file" -o "$work/pipe" 2> "$work/err" 3>&- &
		background+=($!)
		wait_for catches_term $!
		signal_twice $!
		status=0
		wait $! || status=$?
		echo "$verb: $status"
		[ "$status" = 1 ]
		background=()
	done
}

@test "elog stop ends a capture that is stopped, and does not wait for one that cannot end" {
	local process

	run_elog capture --background -e edge -o "$work/file"
	process=$(sed -n 's/^elog: process \([0-9]*\) captures.*/\1/p' <<< "$stderr")
	"$ELOG" emit edge/x
	while_stopped "$process" true
	kill -STOP "$process"
	run_elog stop "$work/file"
	[[ $stderr = *"1 event in"* ]]
	mkfifo "$work/pipe"
	exec 5<> "$work/pipe"
	run_elog capture --background -e edge -C 0 -C 1 -o "$work/pipe" 5>&-
	"$ELOG" emit -n 3000 edge/x 'char[60] s' s=0123456789
	wait_full 5
	fails_with "has written nothing for 15 s" stop "$work/pipe"
	run_apart "$ELOG" stop "$work/pipe"
	exec 5>&-
	[ "$status" = 2 ]
	contains "$stderr" "not written"
}

@test "the output of a command does not get into a line of JSON" {
	mkfifo "$work/pipe"
	exec 5<> "$work/pipe"
	cat > "$work/job" <<'JOB'
"$ELOG" emit -n 3000 edge/long 'char[40] s' s=0123456789 &
for ((i = 0; i < 4000; i++)); do
	echo "the command writes line $i"
done
wait
JOB
	"$ELOG" capture -q -e edge --format json --fields s -- bash "$work/job" \
		> "$work/pipe" 2> "$work/err" 3>&- 5>&- &
	capture=$!
	background+=("$capture")
	# Both wait for a reader.
	wait_full 5
	awk '
		/^the command writes line [0-9]+$/ { lines++; next }
		/^\{"s":"0123456789"\}$/ { events++; next }
		{ print "not a line: " $0; bad = 1 }
		lines == 4000 && events == 3000 { exit }
		END { exit bad || lines != 4000 }' < <(head -n 7000 "$work/pipe")
	exec 5>&-
	join_capture
	[ "$status" = 0 ]
}

# Prints the difference of wall-clock times of two events in a file, in seconds.
apart()
{
	local first second

	first=$(sed -n "s/^time=\([^ ]*\) event=$2\$/\1/p" "$1")
	second=$(sed -n "s/^time=\([^ ]*\) event=$3\$/\1/p" "$1")
	echo $(($(date -d "$second" +%s) - $(date -d "$first" +%s)))
}

@test "each event has the wall-clock time of its emission, if the clock is set" {
	cat > "$work/job" <<'JOB'
"$ELOG" emit clock/before
date -s '+10 hours' > /dev/null
"$ELOG" emit clock/between
date -s '-10 hours' > /dev/null
"$ELOG" emit clock/after
JOB
	"$ELOG" capture -q -e clock -o "$work/raw" -- sh -c \
		"exec '$ELOG' capture -q -e clock -C 0 -C 1 -o '$work/filtered' -- \
			'$ELOG' capture -q -e clock --time wall --fields time,event -- \
			sh '$work/job' > '$work/live'"
	for file in raw filtered; do
		"$ELOG" show --time wall --fields time,event "$work/$file" > "$work/$file.out"
	done
	for file in "$work/live" "$work/raw.out" "$work/filtered.out"; do
		cat "$file"
		between=$(apart "$file" before between)
		after=$(apart "$file" before after)
		[ "$between" -ge 35990 ]
		[ "$between" -lt 36120 ]
		[ "$after" -ge -10 ]
		[ "$after" -lt 120 ]
	done
}

@test "a capture in a pid namespace shows threads outside of it as '?'" {
	run_apart unshare --pid --fork --mount-proc "$ELOG" capture -q -e space \
		--fields pid,comm,event -- "$ELOG" emit space/inside
	[[ $output =~ ^pid=[1-9][0-9]*\ comm=\"elog\"\ event=inside$ ]]
	unshare --pid --fork --mount-proc "$ELOG" capture -v -e space -n 1 \
		--fields pid,comm,event > "$work/out" 2> "$work/err" 3>&- &
	background+=($!)
	wait_for has_begun "$work/err" 'elog: capturing'
	"$ELOG" emit space/outside
	wait "${background[0]}"
	background=()
	[ "$(< "$work/out")" = 'pid=0 comm="?" event=outside' ]
}

@test "elog says what to do between two time namespaces" {
	run_apart unshare -T "$ELOG" capture -d 0.1
	[ "$status" = 1 ]
	contains "$stderr" "cannot create a thread between two time namespaces" \
		"unshare -T -f elog"
	# These need no thread.
	run_apart unshare -T "$ELOG" capture -q -d 0.1 -o "$work/file"
	[ "$status" = 0 ]
	run_apart unshare -T -f "$ELOG" capture -q -- "$ELOG" emit edge/x
	[ "$status" = 0 ]
	contains "$output" "edge - x"
}

@test "markers need a capability, which an error names" {
	chmod 0666 /dev/eventlog
	run_apart setpriv --reuid=65534 --clear-groups "$ELOG" marker policies
	[ "$status" = 1 ]
	contains "$stderr" "markers need the capability CAP_PERFMON"
	[[ $stderr != *subscrib* ]]
	# The user's own programs have no markers.
	run_apart setpriv --reuid=65534 --clear-groups "$ELOG" marker list
	[ "$status" = 1 ]
	contains "$stderr" "markers of modules and of other users are not shown" "CAP_PERFMON" \
		"there are no markers"
	chmod 0600 /dev/eventlog
}

@test "the hint for a missing module depends on how elog was installed" {
	rmmod eventlog
	mkdir -p "$work/tree/build/tools" /usr/local/bin
	for copy in "$work/tree/build/tools/elog" /usr/bin/elog /usr/local/bin/elog; do
		cp "$ELOG" "$copy"
	done
	run_apart "$work/tree/build/tools/elog" list
	contains "$stderr" "make -C $work/tree module && insmod $work/tree/build/$(uname -r)/eventlog.ko"
	mkdir "$work/tree/build/$(uname -r)"
	: > "$work/tree/build/$(uname -r)/eventlog.ko"
	run_apart "$work/tree/build/tools/elog" list
	contains "$stderr" "run: insmod $work/tree/build/$(uname -r)/eventlog.ko"
	run_apart /usr/bin/elog list
	contains "$stderr" "apt install eventlog-dkms linux-headers-$(uname -r)"
	run_apart /usr/local/bin/elog list
	contains "$stderr" "in the source tree run: make module && make install-module && modprobe"
	mkdir /usr/src/eventlog-1
	run_apart /usr/bin/elog list
	contains "$stderr" "apt install linux-headers-$(uname -r) && dkms autoinstall"
	rmdir /usr/src/eventlog-1
	rm /usr/bin/elog /usr/local/bin/elog
	insmod "$EVENTLOG_KO"
}

@test "marker: columns line up, and counts agree with their nouns" {
	local example=${EVENTLOG_KO%/*}/module/ktest/eventlog_marker_example.ko

	[ -e "$example" ] || skip "built without EVENTLOG_TEST_MODULE"
	insmod "$example"
	run_elog marker list --module eventlog_marker_example
	[ "${#lines[@]}" -gt 3 ]
	# Each column starts at the same position in all lines.
	awk 'NR == 1 { owner = index($0, $3); at = index($0, $4) }
		substr($0, owner - 1, 1) != " " || substr($0, owner, 1) == " " ||
		substr($0, at - 1, 1) != " " || substr($0, at, 1) == " " ||
		substr($0, 1, 1) == " " { print "not aligned: " $0; bad = 1 }
		END { exit bad }' <<< "$output"
	run_elog marker enable evaluated
	rmmod eventlog_marker_example
	[ "$stderr" = "elog: 1 marker, 1 changed" ]
	run_elog marker enable --program edge --handler print some
	run_elog marker save "$work/set"
	[ "$stderr" = "elog: 0 markers, 1 policy for programs saved" ]
	run_elog marker disable --program edge some
}
