#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog why, with the causes that tools/examples/waits.c plants, and elog latency --why. Needs the
# module, eventlog_sched.ko and root.
#
# What a session may be		tested in
#	of one provider		each cause is named
#	of two providers	sessions of several providers
#	without an interval	a session without intervals
#	on two threads		threads of one session
#	of two producers	a thread with rings of two producers
#	in a damaged file, lost	tools/elog/output/why_test.sh

load elog.bash

setup_file()
{
	find_built
	export WAITS=$EVENTLOG_TOOLS/examples/waits
}

setup()
{
	begin
	unset ELOG_RINGS
}

load_sched()
{
	[ -d /sys/module/eventlog_sched ] ||
		insmod "$(dirname "$EVENTLOG_KO")/module/sched/eventlog_sched.ko"
}

teardown()
{
	end_background
	[ ! -d /sys/module/eventlog_sched ] || rmmod eventlog_sched
}

# A device that answers each read and write 20 ms late; sets disk, or leaves it empty.
slow_disk()
{
	local loop

	disk=
	command -v dmsetup > /dev/null || return 0
	modprobe -aq loop dm-mod dm-delay || return 0
	truncate -s 64M "$work/disk"
	loop=$(losetup -f --show "$work/disk") || return 0
	DM_DISABLE_UDEV=1 dmsetup create slow --table "0 131072 delay $loop 0 20" --noudevsync ||
		return 0
	disk=/dev/dm-0
	[ ! -e /dev/mapper/slow ] || disk=/dev/mapper/slow
}

# Captures rounds of all requests.
capture_waits()
{
	load_sched
	slow_disk
	run_elog capture -q -e sched -e waits -o "$work/waits" -- "$WAITS" 2 ${disk:+"$disk"}
	[ "$status" = 0 ]
	printf '%s\n' "$output" > "$work/truth"
}

@test "each cause is named, with its waker and that one's session" {
	capture_waits
	[ "$(wc -l < "$work/truth")" -ge 14 ]
	while IFS=$'\t' read -r session cause tid by_session; do
		"$ELOG" why --format json "waits:$session" "$work/waits" > "$work/json"
		python3 - "$work/json" "$cause" "$tid" "$by_session" <<'PYTHON'
import json, sys
path, cause, tid, session = sys.argv[1:]
lines = [json.loads(line) for line in open(path)]
assert lines[0]["kind"] == "session" and lines[0]["provider"] == "waits", lines[0]
assert lines[0]["threads"] == 1 and lines[0]["wall"] == lines[0]["thread_time"], lines[0]
assert lines[0]["lost"] == 0 and lines[0]["events"] == 2, lines[0]
parts = {line["part"]: line for line in lines[1:]}
assert all(line["time"] >= 0 for line in lines[1:])
assert sum(line["time"] for line in lines[1:]) == lines[0]["wall"], lines
# What else takes this CPU is no cause of the request; and when a guest has no CPU of its host, that
# is time on its CPU.
others = ["preempted", "runnable"] + ["on CPU"] * (cause != "on CPU")
own = [line for line in lines[1:] if line["part"] not in others]
longest = max(own, key=lambda line: line["time"])["part"] if cause != "preempted" else \
    max((line for line in parts.values() if line["part"] not in ("on CPU", "runnable")),
        key=lambda line: line["time"])["part"]
# A request that never waited has no event of sched.
assert longest == cause or (cause, longest) == ("on CPU", "unknown"), (cause, lines)
if tid != "0":
    wakers = parts[cause]["wakers"]
    assert any(w["tid"] == int(tid) and w["session"] == session and w["provider"] == "waits"
               for w in wakers), (tid, session, wakers)
if cause == "futex":
    holders = next(w["holders"] for w in parts[cause]["wakers"] if w["tid"] == int(tid))
    assert [h["name"] for h in holders] == ["holder", "middle", "keeper"], holders
    assert holders[0]["futex"] > 0 and holders[2]["sleep"] > 0, holders
if cause in ("sleep", "poll", "pipe", "socket", "disk"):
    names = {"sleep": "clock_nanosleep", "poll": "poll", "pipe": "read", "socket": "read",
             "disk": "fsync"}
    assert names[cause] in [c["name"] for c in parts[cause]["calls"]], parts[cause]
places = {"pipe": "pipe_read", "socket": "unix_stream", "poll": "poll", "sleep": "nanosleep"}
if cause in places:
    frames = [frame for stack in parts[cause]["stacks"] for frame in stack["frames"]]
    assert any(places[cause] in frame for frame in frames), parts[cause]["stacks"]
PYTHON
	done < "$work/truth"
	# In text, the same, on lines that people read.
	session=$(awk -F '\t' '$2 == "futex" { print $1; exit }' "$work/truth")
	run_elog why "$session" "$work/waits"
	[ "$status" = 0 ]
	[[ ${lines[0]} =~ ^waits/request_start\ $session\ cause=\"futex\"\ \ [0-9.]+\ ms$ ]]
	contains "$output" "released by holder " " (waits 0x4d)" " at futex_"
	# A slow machine may keep them on the CPU for longer.
	grep -q 'holder [0-9].* meanwhile: .*futex ' <<< "$output"
	grep -q 'keeper [0-9].* meanwhile: .*sleep ' <<< "$output"
	run_elog why -v "$session" "$work/waits"
	[ "$status" = 0 ]
	contains "$output" "futex_wait" "+0x"
}

@test "elog says which limit is reached by rules for events of sched" {
	local filter='blocked == 0' i
	local -a pids

	load_sched
	for i in {1..63}; do
		filter+=" || blocked == $i"
	done
	# A rule counts one term for its pid and filter, and 64 for the comparisons.
	for i in {1..16}; do
		pids+=(-p "$i")
	done
	run_elog capture -e sched/off -f "$filter" "${pids[@]}" -o "$work/none"
	[ "$status" = 1 ]
	contains "$stderr" "the limit of 1024 terms" "'sched/off' matches sched"
}

@test "a session that is wrong, or not there" {
	"$ELOG" capture -q -o "$work/file" -- "$ELOG" emit -s 7 one/event
	fails_with "FILE is missing" why
	fails_with "FILE is missing" why 7
	fails_with "invalid session 'x': must be [PROVIDER:]NUMBER, for example shop:0x3ea" \
		why x file
	fails_with "invalid session ':7': must be" why :7 file
	fails_with "invalid session 'one:0': must be" why one:0 file
	fails_with "no event has the session 0x8" why 8 "$work/file"
	fails_with "no event has the session two:0x7" why two:7 "$work/file"
	run_elog why 7 "$work/file"
	[ "$status" = 1 ]
	[ "${lines[0]}" = "one 0x7  0.00 ms" ]
	[ "${lines[1]}" = "  unknown         0.00 ms   0.0 %" ]
	contains "$stderr" "no event of the provider sched: load eventlog_sched"
}

@test "sessions of several providers" {
	"$ELOG" capture -q -o "$work/file" -- bash -c '
		"$ELOG" emit -s 7 one/event
		"$ELOG" emit -s 7 "two:x/event"'
	fails_with "session 0x7 is one of several providers: one, \"two:x\"" why 7 "$work/file"
	run_elog why two:x:7 "$work/file"
	[ "$status" = 1 ]
	contains "${lines[0]}" "two:x"
}

@test "a session without intervals" {
	load_sched
	"$ELOG" capture -q -e sched -e one -o "$work/file" -- bash -c '
		"$0" 1 > "$1"
		"$ELOG" emit -s 7 one/event' "$WAITS" "$work/truth"
	run_elog why 7 "$work/file"
	[ "$status" = 0 ]
	[ "${lines[1]}" = "  unknown         0.00 ms   0.0 %" ]
	contains "$stderr" "the session was on a CPU all the time, or no thread said"
	# The events of the program were not captured, so its provider is not known.
	run_elog why 0x3e9 "$work/file"
	[ "$status" = 0 ]
	[[ ${lines[0]} =~ ^\?\ 0x3e9\ \  ]]
}

@test "threads of one session" {
	load_sched
	cat > "$work/two.py" <<-'PYTHON'
		import eventlog, threading, time
		event = eventlog.Event("two/event u32 number")
		both = threading.Barrier(2)
		def work(number):
		    with eventlog.running(event, 9):
		        both.wait()
		        event.emit(9, (number,))
		        time.sleep(0.02)
		        event.emit(9, (number,))
		threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
		[thread.start() for thread in threads]
		[thread.join() for thread in threads]
	PYTHON
	PYTHONPATH=$TREE/tools/python LD_LIBRARY_PATH=$EVENTLOG_TOOLS \
		"$ELOG" capture -q -e sched -e two -o "$work/file" -- python3 "$work/two.py"
	run_elog why two:9 "$work/file"
	[ "$status" = 0 ]
	[[ ${lines[0]} =~ ^two\ 0x9\ \ [0-9.]+\ ms\;\ 2\ threads,\ [0-9.]+\ ms\ in\ all$ ]]
	contains "$output" " sleep "
	"$ELOG" why --format json two:9 "$work/file" > "$work/json"
	python3 - "$work/json" <<-'PYTHON'
		import json, sys
		lines = [json.loads(line) for line in open(sys.argv[1])]
		assert lines[0]["thread_time"] > lines[0]["wall"]
		assert all(line["time"] >= 0 for line in lines[1:])
		assert sum(line["time"] for line in lines[1:]) == lines[0]["thread_time"], lines
	PYTHON
}

# The shares of each group are those of its cause; live, as from a file.
check_shares()
{
	python3 - "$1" <<-'PYTHON'
		import json, sys
		lines = [json.loads(line) for line in open(sys.argv[1])]
		total, groups = lines[0], lines[1:]
		assert total["kind"] == "total"
		assert total["pairs"] == sum(group["pairs"] for group in groups)
		assert 1 <= total["slowest_pairs"] < total["pairs"], total["slowest_pairs"]
		for shares in [total["why"], total["slowest_why"]] + [g["why"] for g in groups]:
		    assert abs(sum(shares.values()) - 1) < 1e-4, shares
		assert len(groups) >= 7
		for group in groups:
		    cause, why = group["value"], group["why"]
		    # What else takes this CPU is no cause of the request.
		    others = ("preempted", "runnable", "on CPU")
		    own = [name for name in why if name == cause or name not in others]
		    best = max(own, key=why.get)
		    # A request that never waited has no event of sched.
		    assert best == cause or (cause, best) == ("on CPU", "unknown"), group
	PYTHON
}

@test "elog latency --why: the shares of each cause, from a file and live" {
	fails_with "--why is for pairs by session, not --by" latency --why --by x start end
	capture_waits
	"$ELOG" latency --why --group cause --format json request_start request_end \
		"$work/waits" > "$work/json"
	check_shares "$work/json"
	"$ELOG" latency --why --group cause --format json waits/request_start waits/request_end \
		-- bash -c '"$0" 2 > /dev/null' "$WAITS" > "$work/json"
	check_shares "$work/json"
	run_elog latency --why --group cause request_start request_end "$work/waits"
	[ "$status" = 0 ]
	contains "$output" "PAIRS  WHERE THE TIME WENT" "slowest 1 %  "
	# Pairs without waits, and no sched at all.
	"$ELOG" capture -q -o "$work/file" -- bash -c '
		"$ELOG" emit -s 7 one/start
		"$ELOG" emit -s 7 one/end'
	run_elog latency --why one/start one/end "$work/file"
	[ "$status" = 1 ]
	contains "$output" "unknown 100.0 %"
	contains "$stderr" "no event 'sched/*'"
}

@test "a thread with rings of two producers" {
	load_sched
	cat > "$work/two.c" <<-'CODE'
		#include <unistd.h>
		#include <elog.h>

		static struct elog_event *make(void)
		{
			struct elog_producer *producer;
			struct elog_event *event;

			if (elog_producer_open(&producer, NULL) ||
			    elog_event_register(producer, "rings", "event", 0, 0, 0, &event))
				_exit(1);
			/* Enough for a ring, which the kernel looks at from then on. */
			for (int i = 0; i < 20; i++)
				elog_event_write(event, 0, NULL, 0);
			return event;
		}

		int main(void)
		{
			struct elog_event *one = make(), *other = make();
			struct elog_running outer, inner;

			outer = elog_session_enter(one, 5);
			usleep(2000);
			inner = elog_session_enter(other, 6);
			usleep(2000);
			elog_session_leave(other, inner);
			usleep(2000);
			elog_session_leave(one, outer);
			usleep(2000);
			return 0;
		}
	CODE
	cc -D_GNU_SOURCE -Wall -Werror -I"$TREE/tools/libelog/include" -I"$TREE/uapi" \
		-o "$work/two" "$work/two.c" -L"$EVENTLOG_TOOLS" -lelog \
		-Wl,-rpath,"$EVENTLOG_TOOLS"
	run_elog capture -q -e sched/off -e rings -o "$work/file" -- "$work/two"
	[ "$status" = 0 ]
	run_elog show -q -e sched/off -f 'cause == sleep' --fields session "$work/file"
	[ "$output" = "$(printf 'session=0x%d\n' 5 6 5)" ]
}
