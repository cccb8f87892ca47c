#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# follow_test - verbs that go on with what a stream or a file gets later: elog top nats://SERVER,
# elog stat and elog latency with --follow. Prints TAP.
#
# What is tried with each verb (N: refused, with the reason):
#
#	                          show  stat  latency  top   export report  sql
#	the stream as it is       s     s     s        (1)   s      s       N s
#	--follow, more arrives    s     f     f        f     (2)    N f     N f
#	a server goes, and is back s    f     f        f
#	--interval, -d            (3)   f     f        f
#	--host, --since           s     f     f        f     s
#	--by host                       f              f
#	a file that grows         (4)   f     f        N f
#
# f: here; s: stream_test.sh. (1) top begins with the events of now, or of --since; (2) OTLP only:
# otlp_test.sh; (3) show has neither; (4) show.bats.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"
# shellcheck source=tools/elog/fleet/servers.sh
. "$here/servers.sh"
# shellcheck source=tools/elog/fleet/hosts.sh
. "$here/hosts.sh"
reader=
trap '[ -z "$reader" ] || kill -9 "$reader"; servers_stop; rm -rf "$work"' EXIT

# ship_new DIGIT FIRST COUNT: the host has another capture, which is sent
ship_new()
{
	mkdir -p "$1"
	events "$1" "$1/x$2.elog" "$2" "$3" && "$elog" ship -q --once --replicas 1 "$url" "$1/x$2.elog"
}

# starts ARGUMENT...: elog, in the background; its output is in out and err.
starts()
{
	[ -z "$reader" ] || { kill -9 "$reader"; wait "$reader" 2> why; }
	"$elog" "$@" > out 2> err &
	reader=$!
}

# ends STATUS [SIGNAL]: it ends with this status.
ends()
{
	local status=0

	[ -z "${2:-}" ] || kill "-$2" "$reader"
	wait "$reader" || status=$?
	reader=
	tail -5 out
	cat err
	[ "$status" = "$1" ] && ! grep -q 'runtime error\|Sanitizer' err
}

has()
{
	grep -qE -- "$1" out err
}

arguments()
{
	events a x.elog 0 1 && runs 1 stat --follow x.elog x.elog && says "exactly one FILE" &&
		runs 1 stat --follow && says "exactly one FILE" &&
		runs 1 stat --follow -- true && says "exactly one FILE" &&
		runs 1 stat --interval 1 x.elog && says "--interval does not go with a FILE" &&
		says "add --follow" && runs 1 stat -d 1 x.elog && says "add --follow" &&
		runs 1 latency --follow a b && says "exactly one FILE" &&
		runs 1 latency --interval 1 a b x.elog && says "add --follow" &&
		runs 1 latency --follow --per-cpu-bytes 8K a b x.elog && says "is for live events" &&
		runs 1 stat --by host && says "--by host needs a FILE" &&
		runs 1 top --by host && says "--by host needs the URL of a stream" &&
		runs 1 top --since -1h && says "--since needs the URL of a stream" &&
		runs 1 top --sample 2 nats://localhost && says "--sample does not go with" &&
		runs 1 top x.elog && says "unexpected argument 'x.elog'" &&
		runs 1 top nats://localhost nats://localhost && says "unexpected argument" &&
		runs 0 stat -q --by host --format json x.elog && says '{"host":"web-a","events":1,'
}

# A capture writes the file: it grows by whole blocks, and has its end only at the end.
stat_of_a_file()
{
	local size part

	events a whole.elog 0 2000 && size=$(stat -c %s whole.elog) && part=$((size / 2)) &&
		head -c $part whole.elog > grows.elog || return 1
	starts stat --follow --interval 0.1 --format json grows.elog
	wait_for 60 has '"summary":true.*"events":500,' || return 1
	tail -c +$((part + 1)) whole.elog >> grows.elog
	wait_for 60 has '"summary":true.*"interval".*"events":2000,' && ends 0 INT || return 1
	# The last table is that of the file.
	runs 0 stat -q --format json whole.elog && tail -1 out | diff - <(tail -1 stdout)
}

# These wait for their -d while the checks go on.
start_durations()
{
	"$elog" stat --follow -d 1 whole.elog > stat.out 2>&1 &
	stat_pid=$!
	"$elog" latency --by cpu --follow -d 3 numbered numbered whole.elog > latency.out 2>&1 &
	latency_pid=$!
}

# -n and -d end it, and without --interval there is one table.
ends_of_stat()
{
	start_durations
	runs 0 stat --follow -n 700 whole.elog && says "700 events in" && wait "$stat_pid" &&
		[ "$(grep -c EVENTS stat.out)" = 1 ] && grep -q "events in" stat.out
}

# has_pairs COUNT: the lines of the intervals have so many pairs
has_pairs()
{
	[ "$(sed -n 's/.*"kind":"interval".*"pairs":\([0-9]*\).*/\1/p' out |
		awk '{ sum += $1 } END { print sum + 0 }')" = "$1" ]
}

latency_of_a_file()
{
	local size part

	size=$(stat -c %s whole.elog) && part=$((size / 2)) && head -c $part whole.elog > grows.elog
	starts latency --by cpu --follow --interval 0.1 --format json numbered numbered grows.elog
	wait_for 60 has_pairs 499 || return 1
	tail -c +$((part + 1)) whole.elog >> grows.elog
	wait_for 60 has_pairs 1999 && ends 0 INT &&
		has '"kind":"total".*"pairs":1999,' &&
		wait "$latency_pid" && grep -q 1999 latency.out
}

check "wrong arguments" arguments
check "stat --follow: a file that grows" stat_of_a_file
check "stat --follow: -d and -n" ends_of_stat
check "latency --follow: a file that grows" latency_of_a_file

if [ ! -e "${elog%/*}/elog_nats.so" ] || ! PATH=$PATH:/usr/sbin command -v nats-server > why; then
	skip "streams" "libnats or nats-server is missing"
	end_checks
	exit
fi

# restart: the server goes, the reader says so, and goes on when it is back.
restart()
{
	server_kill 0
	wait_for 60 has "lost the connection" || return 1
	server_start 0
	wait_for 60 has "connected again"
}

stat_of_a_stream()
{
	ship_new a 0 1000 && ship_new b 0 500 || return 1
	starts stat --follow --by host --sort name --interval 0.1 --format csv "$url"
	wait_for 60 has ',web-a,info,1000,' && wait_for 60 has ',web-b,info,500,' &&
		ship_new b 500 500 && wait_for 60 has ',web-b,info,1000,' && restart &&
		ship_new c 0 300 && wait_for 60 has ',web-c,info,300,' && ends 0 INT &&
		[ "$(tail -3 out | cut -d , -f 2-4 | xargs)" = \
			"web-a,info,1000 web-b,info,1000 web-c,info,300" ] &&
		has "2300 events in" &&
		runs 0 stat --follow -n 1000 --host 'web-[ab]' --since @1700000000.5 "$url" &&
		says "1000 events in"
}

latency_of_a_stream()
{
	starts latency --by cpu --follow --interval 0.1 --format json --host web-c numbered \
		numbered "$url"
	wait_for 60 has_pairs 299 && restart && ship_new c 300 100 &&
		wait_for 60 has_pairs 398 && ends 0 TERM && has '"kind":"total".*"pairs":398,'
}

# terminal SIZE STEP... -- ARGUMENT...: elog top on a terminal, then the steps.
terminal()
{
	local steps=()

	while [ "$1" != -- ]; do
		steps+=("$1")
		shift
	done
	shift
	# The terminal has stderr, too.
	TERM=xterm timeout 300 python3 "$top/selftests/terminal.py" "${steps[@]}" -- \
		sh -c 'exec "$0" top --interval 0.2 "$@" 2>&0' "$elog" "$@"
}

# Functions that the steps call.
export_functions()
{
	export elog url here work make_file clock_error LD_LIBRARY_PATH
	cat > ship_new <<-SCRIPT
		#!$BASH
		set -u
		$(declare -f machine events ship_new)
		ship_new "\$@"
	SCRIPT
	chmod +x ship_new
}

# @1700000000: all events are older than now.
top_of_hosts()
{
	terminal 24x80 'wait:^elog top' 'wait:bytes/s  lost 0 .*hosts 3' \
		'wait:^HOST  NAME +EVENTS/S' 'wait:^web-a test/numbered .* 1000 ' \
		'wait:^web-b test/numbered .* 1000 ' 'wait:^web-c test/numbered .* 400 ' \
		'wait:e/p/s/h by' 'run:./ship_new a 1000 500' 'wait:^web-a test/numbered .* 1500 ' \
		'key:h' 'wait:each host' 'wait:no events so far' 'run:./ship_new a 1500 500' \
		'run:./ship_new d 0 70' 'wait:^web-a .* 500 +0' 'wait:^web-d .* 70 +0' \
		'hasnt:HOST ' 'wait:hosts 4' 'key:?' 'wait:count by host' 'key: ' 'gone:count by host' \
		'key:\r' 'wait:events of web-' 'key:q' 'key:c' 'wait:each cpu' \
		'run:./ship_new d 70 7' 'wait:^web-d 0 .* 7 +0' 'key:q' exit:0 \
		-- --since @1699999999 "$url"
}

# One host has no column of its own, and neither has one that --host selects.
top_of_one_host()
{
	terminal 24x80 'wait:^NAME +EVENTS/S' 'wait:^test/numbered .* 77 ' 'wait:hosts 1' \
		'key:\r' 'wait:events of test/numbered of web-d' 'run:./ship_new d 77 3' \
		'wait:^number=79 ' 'key:qq' exit:0 \
		-- --since @1699999999 --host web-d "$url"
}

# Without --since, it begins now.
top_of_now()
{
	terminal 24x80 'wait:no events so far' 'run:./ship_new a 2000 500' wakes:8 \
		'wait:no events so far' "run:$make_file events now.elog web-n $(machine e) \
			\$((\$(date +%s) - 1700000000 + 60)) 9 1000000000 1000" \
		"run:\"$elog\" ship -q --once \"$url\" now.elog" 'wait:^test/numbered .* 9 ' \
		'wait:hosts 1' 'key:q' exit:0 -- "$url"
}

# The screen says that the server is gone, keys work meanwhile, and it goes on.
top_without_server()
{
	cat > kill <<-SCRIPT
		kill -9 ${server_pids[0]}
	SCRIPT
	cat > start <<-SCRIPT
		PATH=$PATH:/usr/sbin nats-server -c $work/n0.conf -l $work/n0.log > /dev/null 2>&1 &
		echo \$! > pid
	SCRIPT
	terminal 24x80 'wait:^web-a test/numbered .* 2500 ' 'run:sh ./kill' \
		'wait:^elog top \[no connection\]' 'wait:lost the connection' \
		'key:p' 'wait:each provider' 'gone:lost the connection' 'wakes:8' \
		'wait:no connection' 'run:sh ./start' 'gone:no connection' 'wait:connected again' \
		'run:./ship_new b 1000 321' 'wait:^web-b|^test  ' 'wait: 321 ' 'key:q' exit:0 \
		-- --since @1699999999 "$url"
	status=$?
	wait "${server_pids[0]}" 2> why
	server_pids[0]=$(cat pid)
	return $status
}

# A signal ends it while there is no server, and the messages are printed afterwards.
top_is_ended()
{
	starts stat --follow --interval 0.1 -d 8 "$url"
	wait_for 60 has '[0-9] .* total' || return 1
	cat > kill <<-SCRIPT
		kill -9 ${server_pids[0]}
		grep -c total out > before
	SCRIPT
	terminal 24x80 'wait:^web-a test/numbered .* 2500 ' 'run:sh ./kill' \
		'wait:no connection' 'signal:INT' exit:0 'wait:^elog top: lost the connection' \
		'wait:events in ' -- --since @1699999999 "$url" || return 1
	wait "${server_pids[0]}" 2> why
	unset "server_pids[0]"
}

# Tables are printed while there is no server, and -d ends it. top_is_ended has begun this.
without_server()
{
	wait_for 60 has "lost the connection" &&
		wait_for 60 eval '[ "$(grep -c total out)" -gt $(($(cat before) + 2)) ]' && ends 0
}

servers_config 1
server_start 0
export_functions
check "stat --follow nats://: hosts, a server that goes and returns" stat_of_a_stream
check "latency --follow nats://: likewise" latency_of_a_stream
check "top nats://: several hosts" top_of_hosts
check "top nats://: one host" top_of_one_host
check "top nats://: begins now" top_of_now
check "top nats://: a server that goes and returns" top_without_server
check "top nats://: a signal while there is no server" top_is_ended
check "stat --follow nats://: --interval and -d without a server" without_server
servers_stop
end_checks
