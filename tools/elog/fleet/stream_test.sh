#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# stream_test - elog show and other verbs with nats://SERVER: captures of several hosts are
# merged, whatever the order of the messages; gaps, wrong messages and a killed server are
# reported. Prints TAP. order_test.c has more about the order.
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

ship()
{
	"$elog" ship -q --once "$url" "$@"
}

# labelled HOST FILE...: the lines of elog show, with the host before them
labelled()
{
	local host=$1

	shift
	"$elog" show -q "$@" | sed "s/^/$host /"
}

arguments()
{
	runs 1 show nats:// && says "must be nats://HOST" &&
		runs 1 show nats://me:secret@localhost && ! says secret &&
		runs 1 show nats://localhost x.elog && says "must be the only argument" &&
		runs 1 show 'nats://localhost/A.B' && says "not the name of a stream" &&
		events a x.elog 0 1 &&
		runs 1 show --host a x.elog && says "--host needs the URL of a stream"
}

without_plugin()
{
	mkdir -p bin && cp "$elog" bin/elog && elog=$work/bin/elog &&
		LD_LIBRARY_PATH='' runs 1 show nats://localhost && says "the package elog-fleet"
}

check "wrong arguments" arguments
if compgen -G '/usr/lib*/elog_nats.so' > why || compgen -G '/usr/lib/*/elog_nats.so' > why; then
	skip "the package that is missing is named" "elog_nats.so is installed"
else
	(without_plugin) > why 2>&1
	check "the package that is missing is named" test $? = 0
fi
if [ ! -e "${elog%/*}/elog_nats.so" ] || ! PATH=$PATH:/usr/sbin command -v nats-server > why; then
	skip "reading streams" "libnats or nats-server is missing"
	end_checks
	exit
fi

refused()
{
	servers_config 1
	runs 1 show "$url" && says "cannot connect: No server available" || return 1
	servers_config 1 'authorization { user: elog, password: secret }'
	server_start 0 || return 1
	NATS_USER=elog NATS_PASSWORD=wrong runs 1 show "$url" &&
		says "cannot connect: Authorization Violation" || says "cannot connect: " || return 1
	NATS_USER=elog NATS_PASSWORD=secret runs 1 show "$url" && says "there is no stream ELOG" &&
		NATS_USER=elog NATS_PASSWORD=secret runs 1 show "$url/OTHER" &&
		says "there is no stream OTHER"
}

check "why a connection is refused, or a stream is not there" refused
servers_stop
rm -rf n0
servers_config 1
server_start 0

# Two rotated files of each host; the files of --writers would be captures of their own.
merges()
{
	local host

	for host in a b c; do
		mkdir -p "$host"
		events "$host" "$host/x.elog.1" 0 1500 && events "$host" "$host/x.elog" 1500 500 &&
			"$elog" ship -q --once --replicas 1 "$url" "$host/x.elog" || return 1
		labelled "web-$host" "$host/x.elog.1" "$host/x.elog" > "$host.txt"
	done
	# Events of the same time are in the order of the hosts.
	paste -d '\n' a.txt b.txt c.txt > expected
	runs 0 show "$url" && cmp expected stdout && says "6000 events, lost 0" &&
		says "events of web-a, web-b and 1 other host within 0.300 ms may be in another"
}

selects_hosts()
{
	runs 0 show --host 'web-b' "$url" && cmp b.txt stdout && ! says "another order" &&
		runs 0 show --host "$(machine c)" "$url/ELOG" && cmp c.txt stdout &&
		runs 0 show --host 'web-[ab]' "$url" && says "4000 events" &&
		says "events of web-a and web-b within" &&
		runs 1 show --host 'web-[x-z]' "$url" && says "0 events" &&
		says "--host: no host 'web-[x-z]'; the stream has web-a, web-b, web-c" &&
		runs 1 export --format csv --host none "$url" && says "no host 'none'" &&
		runs 0 show --since -1h --host none "$url" && says "no host 'none' since then"
}

formats()
{
	runs 0 show -n 2 --format json "$url" && says '{"host":"web-a","time":0.000000000,' &&
		says '{"host":"web-b","time":' && runs 0 show -n 1 --format csv "$url" &&
		says "host,time,cpu" && says "web-a,0.000000000" &&
		runs 0 show -n 1 --fields number,host "$url" && says "number=0 host=" &&
		runs 0 stat "$url" && says "6000" && runs 0 stat --host web-a "$url" && says "2000"
}

# Each event says which host and machine it is from.
origins()
{
	local host

	runs 0 export --format jsonl "$url" || return 1
	for host in a b c; do
		[ "$(jq -c "select(.host == \"web-$host\") | .machine_id" stdout | sort -u)" = \
			"\"$(machine "$host")\"" ] &&
			[ "$(grep -c "\"host\":\"web-$host\"" stdout)" = 2000 ] || return 1
	done
	runs 0 export --format csv "$url" && [ "$(grep -c "web-b,$(machine b)," stdout)" = 2000 ] &&
		runs 0 export --format parquet -o tables "$url" && [ -s tables/test.numbered.parquet ] &&
		runs 0 export --format perfetto -o out.trace "$url" && grep -aq web-c out.trace &&
		runs 1 sql "$url" 'select 1' && says "a stream cannot be read several times"
}

other_verbs()
{
	runs 0 report -o page.html "$url" && grep -q "<html" page.html &&
		runs 0 latency test/numbered test/numbered "$url" &&
		runs 0 export --format jsonl -o out.jsonl "$url" &&
		[ "$(wc -l < out.jsonl)" -ge 6000 ] &&
		runs 0 export --format perfetto -o out.trace "$url" && [ -s out.trace ]
}

# A stream that does not allow direct requests answers in base64.
without_direct()
{
	python3 - "${url##*:}" <<'PYTHON' || return 1
import socket
import sys
text = b'{"name":"OLD","subjects":["old.>"],"storage":"file","sources":[{"name":"ELOG"}]}'
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
replies = connection.makefile("rb")
replies.readline()
connection.sendall(b'CONNECT {"verbose":false}\r\nSUB r 1\r\nPUB $JS.API.STREAM.CREATE.OLD r %d\r\n'
                   b'%s\r\n' % (len(text), text))
while not replies.readline().startswith(b"MSG"):
    pass
sys.exit(b'"error"' in replies.readline())
PYTHON
	wait_for 60 has_copied && runs 0 show "$url/OLD" && cmp expected stdout
}

has_copied()
{
	runs 0 show -q "$url/OLD" && [ "$(wc -l < stdout)" = 6000 ]
}

check "captures are merged, and labelled" merges
check "--host selects hosts" selects_hosts
check "JSON, CSV, columns and counts" formats
check "report, latency and export" other_verbs
check "host and machine id in exports" origins
check "a stream that only its leader can read" without_direct

# Each part is 1000 bytes, and the file has 41.
resends()
{
	events d d.elog 0 1000 0 || return 1
	send elog.dddd.b.late d.elog 1 20,0-5,7,6,7,8-19,21-40,0-10 &&
		runs 0 show --host web-d "$url" && labelled web-d d.elog | cmp - stdout
}

missing()
{
	events e e.elog.1 0 1000 && events e e.elog 1000 1000 || return 1
	send elog.eeee.b.gap e.elog.1 2 0-9,12-38 &&
		send elog.eeee.b.gap e.elog 3 0-40 "Elog-Previous: $(machine 2)" \
			"Elog-Previous-Size: $(stat -c %s e.elog.1)" &&
		runs 1 show --host web-e "$url" &&
		says "web-e/gap: gap: bytes 10000 to 11999 of file $(machine 2) are missing" &&
		says "web-e/gap: gap: bytes 39000 to " && says "number=1999"
}

unknown_before()
{
	events f f.elog 0 100 &&
		send elog.ffff.b.gap f.elog 4 0-40 &&
		send elog.ffff.b.gap f.elog 5 0-40 "Elog-Previous: ?" &&
		runs 1 show --host web-f "$url" && says "gap: files may be missing behind byte"
}

begins_late()
{
	events 1 1.elog 0 1000 && send elog.1111.b.old 1.elog 6 5-40 &&
		runs 1 show --host "1111" "$url" && says "1111/old: gap: bytes 0 to " &&
		says "0 events"
}

wrong_messages()
{
	send elog.2222.b.wrong d.elog 7 wrong && runs 1 show "$url" &&
		says "2222/wrong: gap: 12 messages of the stream, from " && says "number=1999"
}

# The server appends its headers to those of a message, which may have the same names.
forged_headers()
{
	local header digit=1

	events 3 3.elog 0 1000 || return 1
	for header in "Status: 404" "Status: 503" "Nats-Sequence: 99999999" \
		"Nats-Subject: elog.other.b.x" "Nats-Time-Stamp: x"; do
		send "elog.3333.b.forged$((++digit))" 3.elog "$digit" 0-40 "$header" || return 1
	done
	runs 1 show --host web-3 "$url" && [ "$(wc -l < stdout)" = 5000 ] && ! says forged
}

check "messages in another order and twice" resends
check "gaps in a file and at its end" missing
check "files that may be missing" unknown_before
check "a capture whose beginning is missing" begins_late
check "messages that are not valid" wrong_messages
check "messages with headers of the server" forged_headers
servers_stop

rm -rf n0 a b c
server_start 0

# Old files, and a file whose events are now: read from this file's beginning.
since()
{
	mkdir -p a b
	events a a/x.elog.2 0 1000 && events a a/x.elog.1 1000 1000 && events a a/x.elog 2000 1000 &&
		events b b/x.elog 0 1000 &&
		"$elog" ship -q --once --replicas 1 "$url" a/x.elog && ship b/x.elog || return 1
	runs 0 show --since @1700000002 "$url" &&
		[ "$(wc -l < stdout)" = 1000 ] && says "number=2999" && ! says "number=1999" &&
		runs 0 show --since -1h "$url" && says "0 events"
}

check "--since" since

start_reader()
{
	"$elog" show --follow "$url" > follow.out 2> follow.err &
	reader=$!
}

has_lines()
{
	[ "$(wc -l < follow.out)" = "$1" ]
}

follows()
{
	local status=0

	start_reader
	wait_for 60 has_lines 4000 || status=1
	# This is no subject of elog ship.
	send 'elog.aaaa.b.x"y' a/x.elog 9 1 "Elog-Offset: 5" || status=1
	mv a/x.elog.2 a/x.elog.3 && mv a/x.elog.1 a/x.elog.2 && mv a/x.elog a/x.elog.1 &&
		events a a/x.elog 3000 500 && ship a/x.elog || status=1
	wait_for 60 has_lines 4500 || status=1
	mkdir -p c && events c c/x.elog 0 500 && ship c/x.elog || status=1
	wait_for 60 has_lines 5000 || status=1
	server_kill 0
	wait_for 60 grep -q "lost the connection" follow.err || status=1
	server_start 0
	mkdir -p d && events d d/x.elog 0 500 && ship d/x.elog || status=1
	wait_for 60 has_lines 5500 || status=1
	kill -INT "$reader"
	wait "$reader" || status=1
	reader=
	cat follow.err
	grep -q "connected again" follow.err && ! grep -q gap follow.err &&
		[ "$(sort follow.out | uniq -d | wc -l)" = 0 ] && return "$status"
}

# The reader goes on when the server is back.
killed_while_reading()
{
	local status=0

	rm -rf a && mkdir a && events a a/y.elog 0 400000 && ship a/y.elog || return 1
	rm follow.out
	"$elog" show --host web-a "$url" > follow.out 2> follow.err &
	reader=$!
	wait_for 60 test -s follow.out || status=1
	server_kill 0
	server_start 0
	wait "$reader" || status=1
	reader=
	cat follow.err
	grep number=399999 follow.out > last && ! grep -q gap follow.err && return "$status"
}

check "--follow: another file, another host, and a server that is killed" follows
check "a server that is killed while it is read" killed_while_reading
servers_stop

# The stream has no capture when reading begins.
follows_from_nothing()
{
	local status=0

	rm -rf n0 a follow.out && mkdir a && server_start 0 && events a a/x.elog 0 1000 &&
		runs 0 ship -q --create-stream "$url" || return 1
	start_reader
	wait_for 60 has_followed || status=1
	ship a/x.elog || status=1
	wait_for 60 has_lines 1000 || status=1
	kill -INT "$reader" && wait "$reader" || status=1
	reader=
	cat follow.err
	return "$status"
}

# It has asked for the messages of the stream.
has_followed()
{
	[ -e follow.out ] &&
		curl -s -m 2 "http://${monitors[0]}/connz?subs=1" | grep -q '"num_connections": 1'
}

if command -v curl > why; then
	check "--follow: a stream that has no capture yet" follows_from_nothing
	servers_stop
else
	skip "--follow: a stream that has no capture yet" "curl is missing"
fi

# elog ship that continues at the beginning of a file tells which file is before it, although
# it does not send that one. Here it is stored last.
continues_at_a_beginning()
{
	rm -rf n0 a && mkdir a && server_start 0 &&
		events a a/x.elog.1 0 1000 && events a a/x.elog 1000 1000 &&
		ship --replicas 1 a/x.elog && servers_stop && rm -rf n0 && server_start 0 &&
		sed -i 's/^offset .*/offset 0/' a/.x.elog.shipped &&
		ship --replicas 1 a/x.elog && rm a/.x.elog.shipped || return 1
	runs 0 show "$url" && [ "$(wc -l < stdout)" = 1000 ] && ship a/x.elog &&
		runs 0 show "$url" && labelled web-a a/x.elog.1 a/x.elog | cmp - stdout
}

check "elog ship that continues at the beginning of a file" continues_at_a_beginning
servers_stop

# ------------------------------------------------------------------------
# Rounds of kill -9 of servers and of all shippers, while three hosts write. The stream must
# have the events of each host in order, without a gap. EVENTLOG_STREAM_ROUNDS: the number.
#

rounds=${EVENTLOG_STREAM_ROUNDS:-2}

start_shipper()
{
	"$elog" ship -q --replicas 3 "$url" "$1/x.elog" >> "$1.out" 2>&1 &
	shippers[$1]=$!
}

kill_shippers()
{
	local host

	for host in "${!shippers[@]}"; do
		kill -9 "${shippers[$host]}"
		wait "${shippers[$host]}" 2> why
		unset "shippers[$host]"
	done
}

has_leader()
{
	[ -n "$(stream_leader)" ]
}

# has_files HOST COUNT: it has written as many.
has_files()
{
	[ "$(find "$1/all" -type f | wc -l)" -ge "$2" ]
}

# In odd rounds the leader is killed, in even ones all servers are.
kill_round()
{
	local number killed=() count host

	if [ $(($1 % 2)) = 1 ]; then
		killed=("$(stream_leader)")
	else
		killed=(0 1 2)
	fi
	for number in "${killed[@]}"; do
		server_kill "$number"
	done
	kill_shippers
	for host in a b c; do
		start_shipper "$host"
	done
	# They have something to send when the servers are back.
	count=$(find a/all -type f | wc -l)
	wait_for 60 has_files a $((count + 3)) || return 1
	for number in "${killed[@]}"; do
		server_start "$number" || return 1
	done
	wait_for 120 has_leader
}

equals_spools()
{
	local host file

	runs 0 show "$url" || return 1
	for host in a b c; do
		grep "^web-$host " stdout > "$host.stream"
		for file in "$host"/all/*; do
			labelled "web-$host" "$file"
		done | cmp - "$host.stream" || return 1
	done
}

rounds_of_kills()
{
	local -A recorders=() shippers=()
	local host round status=0

	rm -rf n? a b c ./*.out
	servers_config 3
	server_start 0 && server_start 1 && server_start 2 || return 1
	for host in a b c; do
		mkdir -p "$host"
		$make_file record "$host" "web-$host" "$(machine "$host")" &
		recorders[$host]=$!
		start_shipper "$host"
	done
	wait_for 120 has_leader || status=1
	for ((round = 1; round <= rounds && !status; round++)); do
		wait_for 120 has_files a $((8 * round)) && kill_round "$round" || status=1
	done
	for host in a b c; do
		touch "$host/stop"
		wait "${recorders[$host]}" || status=1
	done
	kill_shippers
	for host in a b c; do
		timeout 120 "$elog" ship --once "$url" "$host/x.elog" >> "$host.out" 2>&1 || status=1
	done
	cat ./?.out
	equals_spools || status=1
	servers_stop
	return "$status"
}

if command -v curl jq > why; then
	check "$rounds rounds of kill -9 of servers and shippers" rounds_of_kills
else
	skip "rounds of kill -9" "curl or jq is missing"
fi

# With tools/dist/nats-server.conf, a reader reads, and a host cannot.
permissions()
{
	rm -rf n0 a && mkdir a && events a a/x.elog 0 100 &&
		servers_secure 1 "s/00000000000000000000000000000001/$(machine a)/" &&
		server_start 0 &&
		as admin -- runs 0 ship --once --replicas 1 "$url" absent.elog &&
		as web1 -- runs 0 ship --once "$url" a/x.elog &&
		as reader -- runs 0 show "$url" && says "100 events" &&
		as web1 -- runs 1 show "$url" && says "Permissions Violation"
}

if command -v openssl > why; then
	servers_certificates > why 2>&1
	check "permissions" permissions
else
	skip "permissions" "openssl is missing"
fi
end_checks
