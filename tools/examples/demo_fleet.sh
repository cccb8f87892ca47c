#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Demonstrates a fleet and checks the results: two guests capture the events of a server, three
# servers of NATS on this machine store them, and one of the servers is killed with SIGKILL
# meanwhile. At the end the stream has each event that was emitted and not counted as lost.
#
# The guests are kernels of User Mode Linux with the module. They have no network, so elog ship
# runs on this machine, and reads the files that they write to a directory that they share.
# make demo-fleet runs this.
#
#	demo_fleet.sh			all of it
#	demo_fleet.sh guest NAME DIR	what a guest runs: capture to DIR until there is DIR/stop
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
tree=$(cd "$here/../.." && pwd -P)
build=${EVENTLOG_BUILD:-$tree/build}
tools=$build/tools
elog=$tools/elog
requests=25
connections=20

die()
{
	echo "demo-fleet: FAILED: $*" >&2
	exit 1
}

# ------------------------------------------------------------------------
# A guest
#

# Prints how many events the server emits, as its client counts them.
run_client()
{
	"$tools/examples/request_client" -t 4 -c "$connections" -r "$requests" "$1" |
		awk '{ print $2 + 2 * $4 }'
}

# The files are renamed often, so that there is something to see.
run_guest()
{
	local name=$1 dir=$2 capture server emitted=0

	hostname "$name"
	# Each machine has an id of its own.
	printf '%s' "$name" | md5sum | cut -d' ' -f1 > "/run/$name.id"
	mount --bind "/run/$name.id" /etc/machine-id
	insmod "$build/$(uname -r)/eventlog.ko" || die "insmod"
	"$elog" capture -e request_server -o "$dir/host.elog" --rotate 128K,999 \
		2> "$dir/capture" &
	capture=$!
	"$tools/examples/request_server" -t 4 > "$dir/port" &
	server=$!
	until [ -s "$dir/port" ] && "$elog" list request_server | grep -q 'enabled'; do
		kill -0 "$server" "$capture" || die "$name: the server or elog capture ended"
		sleep 0.1
	done
	# The number is also there while it runs, in whole lines.
	while [ ! -e "$dir/stop" ]; do
		emitted=$((emitted + $(run_client "$(cat "$dir/port")")))
		echo "$emitted" > "$dir/emitted"
		sleep 0.2
	done
	kill "$server"
	wait "$server" || true
	kill -INT "$capture"
	wait "$capture" || die "$name: elog capture: $(cat "$dir/capture")"
}

if [ "${1:-}" = guest ]; then
	run_guest "$2" "$3"
	exit
fi

# ------------------------------------------------------------------------
# This machine
#

# A guest sees it with the tree.
work=$(mktemp -d "$build/demo-fleet.XXXXXX")
# shellcheck source=tools/elog/fleet/servers.sh
. "$tree/tools/elog/fleet/servers.sh"
hosts=(web1 web2)
declare -A pids=()
started=$SECONDS

cleanup()
{
	local status=$? pid

	trap - EXIT
	[ "$status" = 0 ] || tail -n 20 "$work"/*.out >&2 || true
	for pid in "${pids[@]}"; do
		kill -TERM "$pid" 2> "$work/why" || true
	done
	servers_stop
	rm -rf "$work"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say()
{
	printf '\n== %s (after %s s)\n' "$*" "$((SECONDS - started))"
}

for program in nats-server curl jq; do
	PATH=$PATH:/usr/sbin command -v "$program" > "$work/why" || die "$program is missing"
done
[ -e "$tools/elog_nats.so" ] || die "libnats is missing: elog ship was not built"

start_guest()
{
	mkdir "$work/$1"
	(cd "$tree" && exec scripts/uml --test run --share "$tree" --timeout 170 --mem 256 -- \
		"$here/demo_fleet.sh" guest "$1" "$work/$1") > "$work/$1.out" 2>&1 &
	pids[$1]=$!
}

start_shipper()
{
	"$elog" ship -q "$url" "$work/$1/host.elog" > "$work/ship-$1.out" 2>&1 &
	pids[ship-$1]=$!
}

# stop NAME SIGNAL
stop()
{
	local status=0

	[ "$2" = 0 ] || kill "-$2" "${pids[$1]}"
	wait "${pids[$1]}" || status=$?
	unset "pids[$1]"
	return "$status"
}

# stored HOST: number of its events that the reader has printed so far
stored()
{
	grep -c "^$1 " "$work/followed" || true
}

# has_more HOST COUNT
# shellcheck disable=SC2317 # called by wait_for
has_more()
{
	[ "$(stored "$1")" -ge "$2" ]
}

# each_has_more COUNT: each host gets so many further events into the stream.
each_has_more()
{
	local host wanted

	for host in "${hosts[@]}"; do
		wanted=$(($(stored "$host") + $1))
		wait_for 60 has_more "$host" "$wanted" || die "the stream gets no events of $host"
	done
}

# One screen with both hosts: counts, and the latest events.
show_screen()
{
	local host

	"$elog" ship --status "$url" || die "elog ship --status: $?"
	for host in "${hosts[@]}"; do
		grep "^$host " "$work/followed" | tail -n 3 | cut -c 1-110
	done
}

has_other_leader()
{
	local leader

	leader=$(stream_leader)
	[ -n "$leader" ] && [ "$leader" != "$1" ]
}

say "three servers of NATS on this machine, and a stream with three replicas"
servers_config 3
for number in 0 1 2; do
	server_start "$number" || die "a server does not start"
done
"$elog" ship --create-stream --max-age 1h --max-bytes 500M "$url" || die "no stream"

say "two guests capture the events of a server, and elog ship sends them"
for host in "${hosts[@]}"; do
	start_guest "$host"
	start_shipper "$host"
done
"$elog" show --follow "$url" > "$work/followed" 2> "$work/follow.out" &
pids[follow]=$!
each_has_more 2000
show_screen

leader=$(stream_leader)
[ -n "$leader" ] || die "the stream has no leader"
say "kill -9 of the server that leads the stream: n$leader"
server_kill "$leader"
wait_for 60 has_other_leader "$leader" || die "no other server leads the stream"
each_has_more 2000
show_screen

say "the guests end, and elog ship sends the rest"
for host in "${hosts[@]}"; do
	touch "$work/$host/stop"
done
for host in "${hosts[@]}"; do
	stop "$host" 0 || die "the guest $host: status $?"
	stop "ship-$host" TERM || die "elog ship of $host: status $?"
	"$elog" ship -q --once "$url" "$work/$host/host.elog" || die "elog ship --once: $?"
done

# The numbers of a line of elog: "N events, lost N"
say "what was emitted is in the stream, or was counted as lost"
printf '%-6s %10s %10s %10s %10s\n' HOST EMITTED STORED LOST FOLLOWED
for host in "${hosts[@]}"; do
	"$elog" show --host "$host" "$url" > "$work/events" 2> "$work/show.out" ||
		[ $? = 2 ] || die "elog show: $(cat "$work/show.out")"
	read -r _ count _ _ lost < <(grep ' events, lost ' "$work/show.out")
	emitted=$(cat "$work/$host/emitted")
	wait_for 60 has_more "$host" "$count" || die "elog show --follow has not printed all events"
	printf '%-6s %10s %10s %10s %10s\n' "$host" "$emitted" "$count" "$lost" "$(stored "$host")"
	[ "$emitted" = $((count + lost)) ] || die "$host: $((emitted - count - lost)) are missing"
	[ "$(stored "$host")" = "$count" ] || die "elog show --follow printed other events"
done
"$elog" ship --status --format json -q "$url" > "$work/status" || die "elog ship --status: $?"
jq -se "length == ${#hosts[@]} and all(.gaps == 0 and .invalid == 0)" "$work/status" \
	> "$work/why" || die "the stream has gaps: $(cat "$work/status")"
stop follow INT || die "elog show --follow: status $?"

printf '\ndemo-fleet: no event was lost without being counted; it took %s s\n' \
	"$((SECONDS - started))"
