#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# cluster_test - elog ship with a cluster of three servers on the loopback interface and
# three hosts that capture, rotate and ship: every byte of every file arrives, whatever is
# killed with SIGKILL meanwhile. Prints TAP. Started by make check-fleet.
set -u

[ -n "${EVENTLOG_FLEET_NAMESPACE:-}" ] ||
	EVENTLOG_FLEET_NAMESPACE=1 exec unshare --map-root-user --net --mount "$0" "$@"
ip link set lo up || exit 1

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"
# shellcheck source=tools/elog/fleet/servers.sh
. "$here/servers.sh"
# shellcheck source=tools/elog/fleet/network.sh
. "$here/network.sh"
declare -A pids=()
pid=
disks=
trap 'for pid in "${pids[@]}"; do kill -9 "$pid"; done; servers_stop; network_stop; leave_disks; rm -rf "$work"' EXIT

# start_capture HOST FILES; as many files are kept: none is removed before it is sent.
start_capture()
{
	mkdir -p "$1"
	python3 "$here/fleet_file.py" capture "$1" 1500000 "$2" 99 \
		"$(printf "$1%.0s" {1..32})" 5000 &
	pids[capture$1]=$!
}

start_shipper()
{
	"$elog" ship --replicas 3 "$url" "$1/x.elog" >> "$1.out" 2>&1 &
	pids[ship$1]=$!
}

kill_one()
{
	kill -9 "${pids[$1]}"
	wait "${pids[$1]}" 2> why
	unset "pids[$1]"
}

# Ends the shippers, and lets others send the rest.
ship_rest()
{
	local host

	for host in a b c; do
		kill -TERM "${pids[ship$host]}"
		wait "${pids[ship$host]}"
		unset "pids[ship$host]"
	done
	for host in a b c; do
		timeout 300 "$elog" ship --once "$url" "$host/x.elog" >> "$host.out" 2>&1 ||
			{ cat "$host.out"; return 1; }
	done
}

# Each file of each host has arrived, byte by byte, and nothing else has.
arrived()
{
	rm -rf drained
	"$EVENTLOG_TOOLS/fleet_drain" "$url" drained > drain.out 2>&1 || return 1
	sha256sum ./[abc]/all/* | cut -d' ' -f1 | sort > expected
	find drained -type f -exec sha256sum {} + | cut -d' ' -f1 | sort > found
	cmp expected found
}

has_leader()
{
	[ -n "$(stream_leader)" ]
}

# run_with FILES DISTURB...: while three hosts write and ship this number of files, call a
# function.
run_with()
{
	local files=$1 host status=0

	shift
	leave_disks
	rm -rf a b c ./*.out n0 n1 n2
	[ -z "$disks" ] || make_disks || return 1
	servers_config 3
	server_start 0 && server_start 1 && server_start 2 || return 1
	for host in a b c; do
		start_capture "$host" "$files"
		start_shipper "$host"
	done
	wait_for 300 test -e a/.x.elog.shipped || status=1
	wait_for 300 has_leader || status=1
	"$@" || status=1
	for host in a b c; do
		wait "${pids[capture$host]}" || status=1
		unset "pids[capture$host]"
	done
	ship_rest || status=1
	# A server that was away may not have all yet.
	wait_for 300 arrived || { cat drain.out ./[abc].out; status=1; }
	cat drain.out
	servers_stop
	return "$status"
}

nothing()
{
	true
}

leader_is_killed()
{
	local leader

	leader=$(stream_leader)
	server_kill "$leader"
	wait_for 300 has_other_leader "$leader" && server_start "$leader"
}

all_servers_are_killed()
{
	server_kill 0
	server_kill 1
	server_kill 2
	wait_for 300 test -e a/x.elog.4
	server_start 0 && server_start 1 && server_start 2
}

shippers_are_killed()
{
	local host number

	for number in 1 3 5; do
		wait_for 300 test -e "a/x.elog.$number" || return 1
		for host in a b c; do
			kill_one "ship$host"
			start_shipper "$host"
		done
	done
}

captures_are_killed()
{
	local host number

	for number in 1 2; do
		wait_for 300 test -e "a/x.elog.$number" || return 1
		for host in a b c; do
			kill_one "capture$host"
			start_capture "$host" 6
		done
	done
}

# cut_leader NETWORK...: cuts off the leader until there is another one.
cut_leader()
{
	local leader

	leader=$(stream_leader)
	network_cut "$leader" "$@"
	wait_for 300 has_other_leader "$leader" && wait_for 300 test -e a/x.elog.12 || return 1
	network_join "$leader" "$@"
}

# Servers name the one that was killed for a while; one that is cut off still names itself.
has_other_leader()
{
	local leader

	leader=$(stream_leader "$1")
	[ -n "$leader" ] && [ "$leader" != "$1" ]
}

run_in_network()
{
	local status=0

	network_start 3 && run_with "$@" || status=1
	network_stop
	return "$status"
}

# Each server has a disk of its own.
make_disks()
{
	local number

	for number in 0 1 2; do
		mkdir -p "n$number" && mount -t tmpfs -o size=300M none "n$number" || return 1
	done
}

leave_disks()
{
	local number

	for number in 0 1 2; do
		! mountpoint -q "$work/n$number" || umount -l "$work/n$number"
	done
}

# is_left_behind NUMBER: as another server sees it, it leads the stream no more, and does not
# store what the others store. It writes no line about its disk.
is_left_behind()
{
	local number

	for number in "${!server_pids[@]}"; do
		[ "$number" != "$1" ] || continue
		curl -s -m 2 "http://${monitors[number]}/jsz?streams=true" |
			jq -e ".account_details[]?.stream_detail[]?.cluster |
				any(.replicas[]?; .name == \"n$1\" and
					((.current | not) or (.lag // 0) > 0))" > why && return
	done
	return 1
}

# fill_disk NUMBER: the server cannot write any more, until it has space and is started again.
fill_disk()
{
	dd if=/dev/zero of="n$1/other" bs=64k 2> why
	wait_for 300 is_left_behind "$1" || return 1
	wait_for 300 test -e a/x.elog.12 || return 1
	rm "n$1/other"
	server_kill "$1"
	server_start "$1"
}

disk_of_a_follower_is_full()
{
	local leader meta

	leader=$(stream_leader)
	meta=$(meta_leader)
	echo "the stream's leader is $leader, the cluster's $meta"
	fill_disk $((leader == meta ? (leader + 1) % 3 : 3 - leader - meta))
}

disk_of_the_leader_is_full()
{
	fill_disk "$(stream_leader)"
}

disk_of_the_meta_leader_is_full()
{
	fill_disk "$(meta_leader)"
}

# elog ship says why nothing is stored, and sends it when the server has space again.
disk_of_the_only_server_is_full()
{
	local status=0

	leave_disks
	rm -rf a b c n0 && mkdir a && make_disks && servers_config 1 && server_start 0 &&
		"$elog" ship -q --create-stream --replicas 1 "$url" &&
		python3 "$here/fleet_file.py" make a/x.elog 6000000 "$(printf "a%.0s" {1..32})" &&
		mkdir a/all && cp a/x.elog a/all || return 1
	dd if=/dev/zero of=n0/other bs=64k 2> why
	"$elog" ship "$url" a/x.elog > a.out 2>&1 &
	pids[shipa]=$!
	wait_for 120 grep -q "the server's disk is full$" a.out || status=1
	rm n0/other
	server_kill 0
	server_start 0 || status=1
	wait_for 120 arrived || status=1
	kill_one shipa
	cat a.out
	servers_stop
	return "$status"
}

# has_read COUNT: the reader has printed so many events.
has_read()
{
	[ "$(wc -l < read.out)" -ge "$1" ]
}

# The reader goes on while servers are killed and cut off from clients.
disturb_reader()
{
	local leader

	wait_for 120 has_read 2000 || return 1
	leader=$(stream_leader)
	server_kill "$leader"
	wait_for 120 has_other_leader "$leader" &&
		wait_for 120 has_read $(($(wc -l < read.out) + 2000)) &&
		server_start "$leader" || return 1
	server_kill 0
	server_kill 1
	server_kill 2
	server_start 0 && server_start 1 && server_start 2 &&
		wait_for 120 has_read $(($(wc -l < read.out) + 2000)) || return 1
	leader=$(stream_leader)
	network_cut "$leader" clients routes
	wait_for 300 has_other_leader "$leader" &&
		wait_for 120 has_read $(($(wc -l < read.out) + 2000)) || return 1
	network_join "$leader" clients routes
}

# What it has printed of each host is what its files have, in the same order.
has_read_files()
{
	local host file

	for host in a b c; do
		for file in "$host"/all/*; do
			"$elog" show -q "$file"
		done > expected
		sed -n "s/^web-$host //p" read.out | cmp - expected || return 1
	done
}

# elog show --follow prints each event of three hosts once, whatever happens to the servers.
reader_follows()
{
	local host status=0

	rm -rf a b c n0 n1 n2 ./*.out
	network_start 3 && servers_config 3 && server_start 0 && server_start 1 &&
		server_start 2 && "$elog" ship -q --create-stream "$url" || return 1
	for host in a b c; do
		python3 "$here/fleet_file.py" record "$host" "web-$host" \
			"$(printf "$host%.0s" {1..32})" &
		pids[record$host]=$!
		start_shipper "$host"
	done
	"$elog" show --follow "$url" > read.out 2> read.err &
	pids[reader]=$!
	disturb_reader || status=1
	touch a/stop b/stop c/stop
	for host in a b c; do
		wait "${pids[record$host]}" || status=1
		unset "pids[record$host]"
	done
	ship_rest || status=1
	wait_for 120 has_read_files || status=1
	kill -INT "${pids[reader]}"
	wait "${pids[reader]}" || status=1
	unset "pids[reader]"
	cat read.err ./[abc].out
	! grep -q ": gap:" read.err || status=1
	servers_stop
	network_stop
	return "$status"
}

# The configuration of tools/dist is that of a cluster.
secure_cluster()
{
	local status=0

	rm -rf a n0 n1 n2
	servers_certificates && servers_secure 3 "s/0*1\\.>/$(printf "a%.0s" {1..32}).>/" || return 1
	server_start 0 && server_start 1 && server_start 2 || status=1
	start_capture a 4
	wait "${pids[capturea]}" || status=1
	unset "pids[capturea]"
	as admin -- timeout 60 "$elog" ship --once --replicas 3 "$url" absent.elog || status=1
	as web1 -- timeout 60 "$elog" ship --once "$url" a/x.elog || status=1
	as reader -- wait_for 60 arrived || { cat drain.out; status=1; }
	servers_stop
	return "$status"
}

check "three servers with TLS and permissions" secure_cluster
check "three hosts and three servers" run_with 4 nothing
check "kill -9 of the server that leads" run_with 8 leader_is_killed
check "kill -9 of all servers" run_with 8 all_servers_are_killed
check "kill -9 of elog ship" run_with 8 shippers_are_killed
check "kill -9 of the captures" run_with 6 captures_are_killed
check "the leader is cut off from all" run_in_network 16 cut_leader clients routes
check "the leader is cut off from the other servers only" run_in_network 16 cut_leader routes
check "a reader that follows" reader_follows
disks=yes
check "the disk of the only server is full" disk_of_the_only_server_is_full
check "the disk of a server is full" run_with 16 disk_of_a_follower_is_full
check "the disk of the leader is full" run_with 16 disk_of_the_leader_is_full
check "the disk of the cluster's leader is full" run_with 16 disk_of_the_meta_leader_is_full
end_checks
