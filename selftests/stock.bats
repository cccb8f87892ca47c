#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog where a test needs a stock kernel: several CPUs, which go offline and online, and files
# of /proc that say where a thread sleeps. User Mode Linux has none of these, so the other
# files of this directory do without them, and scripts/lanes runs them there. Needs root and
# python3.

load files.bash

@test "capture: prints events in order of time, with several producers" {
	cat > "$work/producers" <<'PRODUCERS'
for i in 0 1 2 3; do
	taskset -c $((i % 2)) "$ELOG" emit -s $((i + 1)) -n 3000 order/tick &
done
wait
PRODUCERS
	run_elog capture -e order/tick --per-cpu-bytes 4M -- bash "$work/producers"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 12000 ]
	awk '{
		split($4, time, ".")
		now = sprintf("%012d%s", time[1], time[2])
		if (now < before) { print "steps back at line " NR ": " $0; bad = 1 }
		before = now
		cpu[$1]++
		session[$6]++
		if ($5 != "order" || $7 != "tick") { print; bad = 1 }
	}
	END {
		for (i = 1; i <= 4; i++)
			if (session["0x" i] != 3000) { print "session " i ": " session["0x" i]; bad = 1 }
		if (cpu[0] != 6000 || cpu[1] != 6000) { print "CPUs: " cpu[0], cpu[1]; bad = 1 }
		exit bad
	}' <<< "$output"
	contains "$stderr" "12000 events" "lost 0"
}

# Starts a capture with these options and output to a file with that name.
start_selection()
{
	local name=$1

	shift
	: > "$work/$name.err"
	"$ELOG" capture -v "$@" > "$work/$name" 2> "$work/$name.err" 3>&- &
	background+=($!)
	wait_for has_begun "$work/$name.err" 'elog: capturing'
}

# Prints the selected events as "EVENT SESSION" words.
selected()
{
	awk 'NF { printf "%s%s %s", between, $7, $6; between = ", " }' "$work/$1"
}

@test "capture: -e, -k, -l, -s, -C, --sample select" {
	start_selection all
	start_selection any -e '*'
	start_selection events -e one -e two/gamma
	start_selection twice -e one -e '*/alpha' -e 'o?e/[a-b]*'
	start_selection none -e three -e one/x
	start_selection keywords -k 0x5
	start_selection last-keyword -k 0x8000000000000000
	start_selection level -l info
	start_selection level-number -l 2
	start_selection session -s 1
	start_selection sessions -s 0x2 -s 3
	start_selection several -e one -e two -s 1 -s 3 -l info
	start_selection cpu -C 1
	taskset -c 0 "$ELOG" emit -s 1 -l error -k 0x1 one/alpha
	taskset -c 0 "$ELOG" emit -s 2 -l debug -k 0x6 one/beta
	taskset -c 1 "$ELOG" emit -s 1 -l info two/alpha
	taskset -c 1 "$ELOG" emit -s 3 -l verbose -k 0x8000000000000000 two/gamma
	kill -INT "${background[@]}"
	for pid in "${background[@]}"; do
		wait "$pid"
	done
	background=()
	[ "$(selected all)" = 'alpha 0x1, beta 0x2, alpha 0x1, gamma 0x3' ]
	[ "$(selected any)" = "$(selected all)" ]
	[ "$(selected events)" = 'alpha 0x1, beta 0x2, gamma 0x3' ]
	# An event that matches two rules is printed once.
	[ "$(selected twice)" = 'alpha 0x1, beta 0x2, alpha 0x1' ]
	[ -z "$(selected none)" ]
	[ "$(selected keywords)" = 'alpha 0x1, beta 0x2' ]
	[ "$(selected last-keyword)" = 'gamma 0x3' ]
	[ "$(selected level)" = 'alpha 0x1, alpha 0x1' ]
	[ "$(selected level-number)" = 'alpha 0x1' ]
	[ "$(selected session)" = 'alpha 0x1, alpha 0x1' ]
	[ "$(selected sessions)" = 'beta 0x2, gamma 0x3' ]
	[ "$(selected several)" = 'alpha 0x1, alpha 0x1' ]
	[ "$(selected cpu)" = 'alpha 0x1, gamma 0x3' ]

	run_elog capture --sample 10 -- "$ELOG" emit -n 100 one/alpha
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 10 ]
}

@test "capture: losses on a CPU without ring are reported in the output" {
	cpu=/sys/devices/system/cpu/cpu1/online
	[ -w $cpu ] || skip "CPU 1 cannot go offline"
	rmmod eventlog
	# There is memory for one ring, but not for two.
	insmod "$EVENTLOG_KO" ring_memory_max=$((20 * $(getconf PAGESIZE)))
	echo 0 > $cpu
	cat > "$work/scenario" <<SCENARIO
"$ELOG" emit less/first
echo 1 > $cpu
taskset -c 1 "$ELOG" emit -n 3 less/second
taskset -c 0 "$ELOG" emit less/third
SCENARIO
	for arguments in "" "-C 0"; do
		echo 0 > $cpu
		# shellcheck disable=SC2086 # several words
		run_elog capture --per-cpu-bytes $((16 * $(getconf PAGESIZE))) -e less \
			$arguments -- sh "$work/scenario"
		[ "$status" = 2 ]
		contains "$output" "less - first" "less - third" \
			"# lost 3 events on CPUs without ring: no memory 3"
		[ "$(grep -c '^#' <<< "$output")" = 1 ]
		contains "$stderr" "2 events in" "lost 3: no memory 3" "lost 3 of less/second"
	done
	rmmod eventlog
	insmod "$EVENTLOG_KO"
}

@test "stat: counts by CPU" {
	run_elog stat -q --by cpu --sort name -- sh -c '
		taskset -c 0 "$ELOG" emit -n 3 a/b; taskset -c 1 "$ELOG" emit -n 9 a/b'
	[ "$(rows <<< "$output")" = "0 3 0 0
1 9 0 0
total 12 0 0" ]
}

@test "stat: losses are counted by event and cause, and set the status" {
	start_elog stat -e 'loss/*' --per-cpu-bytes 8K
	while_stopped "$started" taskset -c 0 "$ELOG" emit -n 500 loss/much 'char[200] s' s=x
	taskset -c 0 "$ELOG" emit -n 3 loss/large 'char[8000] s' s=x
	stop_elog INT
	[ "$status" = 2 ]
	[ "$(rows < "$work/out" | awk '{ print $2 + $4 }' | xargs)" = "500 3 503" ]
	[ "$(rows < "$work/out" | awk '$1 == "loss/large" { print $2, $4 }')" = "0 3" ]
	contains "$(< "$work/err")" "no room " "too large 3"

	start_elog stat -q --by cpu --format json --per-cpu-bytes 8K
	while_stopped "$started" taskset -c 1 "$ELOG" emit -n 500 loss/much 'char[200] s' s=x
	stop_elog INT
	[ "$status" = 2 ]
	python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert rows[0]["cpu"] == 1 and rows[0]["events"] + rows[0]["lost"] == 500
assert rows[1]["lost"] == rows[1]["causes"]["no room"] == rows[0]["lost"] > 0
' < "$work/out"

	# A file has the losses of its capture.
	start_elog capture -o "$work/file" --per-cpu-bytes 8K
	while_stopped "$started" taskset -c 1 "$ELOG" emit -n 500 loss/much 'char[200] s' s=x
	stop_elog INT
	run_elog stat --by cpu "$work/file"
	[ "$status" = 2 ]
	[ "$(rows <<< "$output" | awk '{ print $2 + $4 }' | xargs)" = "500 500" ]
	contains "$stderr" "no room "
}

@test "capture -f: cpu, pid, tid, comm and session are those of the event" {
	run_elog capture -v --fields fields -f 'comm == elog && @session == 5 && pid != 1 && cpu == 0' \
		-- sh -c 'taskset -c 0 "$ELOG" emit -n 2 -s 5 who/one "u32 a" a=1
		taskset -c 0 "$ELOG" emit -n 2 who/one "u32 a" a=2
		taskset -c 1 "$ELOG" emit -n 2 -s 5 who/one "u32 a" a=3'
	[ "$status" = 0 ]
	[ "$output" = $'fields={"a":1}\nfields={"a":1}' ]
	[[ $stderr == *"elog: 4 events rejected by the filter in the kernel"* ]]
	[[ $stderr == *"elog: 2 records, "* ]]
}

@test "capture --rotate: losses are reported once" {
	# With -f the capture decodes each record, without it writes them unchanged.
	for filter in "a == 1" ""; do
		rm -f "$work"/file*
		start_capture -o "$work/file" --rotate 64K,99 --per-cpu-bytes 8K \
			-e loss ${filter:+-f "$filter"}
		for i in 1 2 3; do
			while_stopped "$capture" \
				taskset -c 0 "$ELOG" emit -n 2000 loss/much 'u64 a' a=1
			kill -HUP "$capture"
			wait_for exists "$work/file.$i"
		done
		while_stopped "$capture" taskset -c 1 "$ELOG" emit -n 2000 loss/much 'u64 a' a=1
		stop_capture INT
		[ "$status" = 2 ]
		lost=$(sed -n 's/.* lost \([0-9]*\): no room.*/\1/p' "$work/err")
		shown=$(sed -n 's/^elog: \([0-9]*\) events in.*/\1/p' "$work/err")
		[ "$lost" -gt 0 ]
		[ $((lost + shown)) = 8000 ]
		run_elog show "$work"/file*
		[ "$status" = 2 ]
		contains "$stderr" "$shown events, lost $lost: no room $lost"
		# The last segment knows earlier losses of CPU 0, and reports only later ones.
		run_elog show "$work/file"
		[ -z "$(grep '^# lost.* on CPU 0' <<< "$output")" ]
	done
}

@test "capture -o: CPU hotplug, and providers that load and unload" {
	cpu=/sys/devices/system/cpu/cpu1/online
	[ -w $cpu ] || skip "CPU 1 cannot go offline"
	for arguments in "-o FILE" "-o FILE --rotate 64K,99" "-o FILE -f number>=0" "--split FILE"; do
		rm -rf "$work"/file*
		# shellcheck disable=SC2086 # several words
		start_capture ${arguments//FILE/$work/file} --per-cpu-bytes 4M
		taskset -c 1 "$PRODUCER" 0 500 0
		echo 0 > $cpu
		produce 500 500 0
		[[ $arguments != *--rotate* ]] || kill -HUP "$capture"
		echo 1 > $cpu
		taskset -c 1 "$PRODUCER" 1000 500 0
		stop_capture INT
		cat "$work/err"
		[ "$status" = 0 ]
		contains "$(< "$work/err")" "1500 events in" "lost 0"
		files=("$work"/file*)
		[ ! -d "$work/file" ] || files=("$work/file"/*)
		numbers "${files[@]}" | are_numbers 0 1500
	done

	proc=${EVENTLOG_KO%/*}/module/providers/eventlog_proc.ko
	[ -e "$proc" ] || skip "there is no eventlog_proc.ko"
	for arguments in "-o FILE" "-o FILE --rotate 64K,99" "-o FILE -f code!=77" "--split FILE"; do
		rm -rf "$work"/file*
		# shellcheck disable=SC2086 # several words
		start_capture ${arguments//FILE/$work/file} --per-cpu-bytes 4M -e 'proc/exit'
		for i in 1 2; do
			insmod "$proc"
			(exit 9) || true
			rmmod eventlog_proc
		done
		stop_capture INT
		[ "$status" = 0 ]
		files=("$work"/file*)
		[ ! -d "$work/file" ] || files=("$work/file"/*)
		run_elog show -f 'code == 9' "${files[@]}"
		[ "$status" = 0 ]
		[ "${#lines[@]}" = 2 ]
	done
}

# Sets $turns to the number of times the other thread of the capture has slept.
count_turns()
{
	local task text

	for task in "/proc/$capture/task"/*; do
		[ "${task##*/}" != "$capture" ] || continue
		read -r -d '' text < "$task/status" || true
		[[ $text =~ $'\n'voluntary_ctxt_switches:[[:blank:]]*([0-9]+) ]]
		turns=${BASH_REMATCH[1]}
	done
}

has_turned()
{
	count_turns
	[ "$turns" -ge "$1" ]
}

# Waits until that thread has emptied the rings, which it does after each sleep.
wait_taken()
{
	local turns

	count_turns
	wait_for has_turned $((turns + 2))
}

# Emits these numbers on CPU 0 while the capture empties its rings.
produce_slowly()
{
	local first

	for ((first = $1; first < $1 + $2; first += 500)); do
		[ "$(taskset -c 0 "$PRODUCER" $first 500 0)" = 500 ]
		wait_taken
	done
}

# Creates a pipe, $pipe, with a reader that does not read.
make_pipe()
{
	rm -f "$work/pipe"
	mkfifo "$work/pipe"
	exec {pipe}<> "$work/pipe"
}

# Starts reading it to $work/read, without the zeroes that filled it.
read_pipe()
{
	cat "$work/pipe" > "$work/read" 3>&- {pipe}>&- &
	reader=$!
	background+=("$reader")
	exec {pipe}>&-
}

# Starts a capture with these options and the full pipe as output.
start_stalled()
{
	make_pipe
	# dd leaves the pipe non-blocking.
	dd if=/dev/zero bs=4096 oflag=nonblock >&"$pipe" 2> "$work/dd" || true
	: > "$work/err"
	"$ELOG" capture -v "$@" >&"$pipe" 2> "$work/err" 3>&- &
	capture=$!
	background+=("$capture")
	wait_for has_begun "$work/err" 'elog: capturing'
}

# Prints the state of the capture's first thread, and how often it has slept.
first_thread()
{
	sed -nE 's/^(State|(non)?voluntary_ctxt_switches)://p' "/proc/$capture/task/$capture/status"
}

# Emits events. Succeeds if they do not wake the thread that prints them: it waits for the reader.
stall()
{
	local before

	before=$(first_thread)
	"$ELOG" emit -n 400 stall/event
	wait_taken
	[[ $before == *sleeping* && $(first_thread) == "$before" ]]
}

@test "capture: events wait in memory for the output, and keep their names" {
	rmmod eventlog
	insmod "$EVENTLOG_KO" events_max=64
	for arguments in "" "--format json -f level<=info" "-o $work/pipe -f level<=info"; do
		case $arguments in
		-o*)
			make_pipe
			# shellcheck disable=SC2086 # several words
			start_capture --per-cpu-bytes 64K $arguments
			;;
		*)
			# shellcheck disable=SC2086 # several words
			start_stalled --per-cpu-bytes 64K $arguments
			;;
		esac
		# The following events are not printed before the pipe is read.
		wait_for stall
		# A new process, and more events than fit in a ring.
		rm -f "$work/seen"
		produce 0 100 0 "$work/seen" > "$work/done" 3>&- &
		brief=$!
		background+=("$brief")
		wait_for has_lines "$work/done" 1
		wait_taken
		touch "$work/seen"
		wait "$brief"
		produce_slowly 500 2000
		forget_events
		[[ $("$ELOG" list) != *number* ]]
		read_pipe
		stop_capture INT
		wait "$reader"
		echo "$arguments: $(< "$work/err")"
		[ "$status" = 0 ]
		contains "$(< "$work/err")" "lost 0"
		case $arguments in
		-o*)
			run_elog show "$work/read"
			[ "$status" = 0 ]
			echo "$output" > "$work/all"
			;;
		*json*)
			tr -d '\0' < "$work/read" > "$work/json"
			"$PYTHON" -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
for row in rows:
    print(row["cpu"], row["tid"], row["comm"], row["time"], row["provider"], "-",
          row["event"], *("%s=%s" % field for field in row["fields"].items()))
' < "$work/json" > "$work/all"
			;;
		*)
			tr -d '\0' < "$work/read" > "$work/all"
			;;
		esac
		grep -v ' stall - event' "$work/all" > "$work/text"
		[ "$(wc -l < "$work/text")" = 2100 ]
		sed -n 's/.* number - step  *number=\([0-9]*\) .*/\1/p' "$work/text" |
			diff -q - <(seq 0 99; seq 500 2499)
		# Its name was read while it existed.
		[ "$(head -n 100 "$work/text" | awk '$3 !~ /^:/' | wc -l)" = 100 ]
	done
	rmmod eventlog
	insmod "$EVENTLOG_KO"
}

# Emits one more event, which may be lost; succeeds if it is captured.
emit_another()
{
	taskset -c 0 "$PRODUCER" "$emitted" 1 0 > "$work/another"
	emitted=$((emitted + 1))
	wait_taken
	grep -qa "number=$((emitted - 1)) " "$work/read"
}

@test "capture: events that find no memory are lost, and counted at their place" {
	start_stalled --per-cpu-bytes 8K
	[ "$(taskset -c 0 "$PRODUCER" 0 20000 0)" = 20000 ]
	read_pipe
	wait_for grep -qa '^# lost' "$work/read"
	emitted=20000
	wait_for emit_another
	stop_capture INT
	wait "$reader"
	[ "$status" = 2 ]
	tr -d '\0' < "$work/read" > "$work/text"
	lost=$(sed -n 's/^# lost \([0-9]*\) events* on CPU 0: no room .*/\1/p' "$work/text" |
		awk '{ sum += $1 } END { print sum }')
	[ "$lost" -gt 0 ]
	contains "$(< "$work/err")" "lost $lost: no room $lost" "lost $lost of number/step"
	sed -n 's/.* number=\([0-9]*\) .*/\1/p' "$work/text" > "$work/numbers"
	[ $(($(wc -l < "$work/numbers") + lost)) = $emitted ]
	sort -c -n -u "$work/numbers"
	[ "$(tail -n 1 "$work/numbers")" = $((emitted - 1)) ]
	# The number of missing events equals the reported loss.
	awk '/^#/ { lost += $3; next }
		{
			match($0, /number=[0-9]*/)
			number = substr($0, RSTART + 7, RLENGTH - 7)
			if (number != seen + lost) {
				print "at " number ": " seen " and " lost " lost"
				exit 1
			}
			seen++
		}' "$work/text"
}

@test "libelog: producers and consumers with the module" {
	# Its tests load and unload the module.
	for name in libelog_device_test consumer_device_test; do
		run "$EVENTLOG_TOOLS/$name" 3>&-
		echo "$output"
		[ "$status" = 0 ]
	done
}
