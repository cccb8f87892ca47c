#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# fleet_test - elog info FILE; elog ship with one server: what it says about servers that
# refuse, what arrives when it or the server are killed, and when files are rotated, damaged
# or removed. Prints TAP. cluster_test.sh has the tests with a cluster.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"
# shellcheck source=tools/elog/fleet/servers.sh
. "$here/servers.sh"
shipper=
trap '[ -z "$shipper" ] || kill -9 "$shipper"; servers_stop; rm -rf "$work"' EXIT

make_file="python3 $here/fleet_file.py"
a=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa

prints_header()
{
	$make_file make x.elog 100 "$a" && runs 0 info x.elog &&
		says "host                        test" && ! says "machine id" &&
		runs 0 info -v x.elog && says "machine id                  $a" &&
		says "clock error, ns             1500" &&
		runs 0 info --format json x.elog && says "\"machine_id\":\"$a\""
}

prints_header_without()
{
	$make_file make x.elog 100 "$a" && $make_file strip x.elog machine_id clock_error &&
		runs 0 info -v x.elog && says "clock error, ns             not known" &&
		! says "machine id" && runs 0 show -q x.elog
}

refuses_other_files()
{
	echo text > text.elog
	runs 1 info text.elog && says "text.elog: not a file of elog"
}

check "info: prints the header of a file" prints_header
check "info: reads files without machine id and clock error" prints_header_without
check "info: refuses what is no file of elog" refuses_other_files

# The plugin is not beside this copy.
without_plugin()
{
	mkdir -p bin && cp "$elog" bin/elog && elog=$work/bin/elog &&
		LD_LIBRARY_PATH='' runs 1 ship nats://localhost x.elog &&
		says "the package elog-fleet"
}

if compgen -G '/usr/lib*/elog_nats.so' > why || compgen -G '/usr/lib/*/elog_nats.so' > why; then
	skip "ship: names the package that is missing" "elog_nats.so is installed"
else
	(without_plugin) > why 2>&1
	check "ship: names the package that is missing" test $? = 0
fi
if [ ! -e "${elog%/*}/elog_nats.so" ] || ! PATH=$PATH:/usr/sbin command -v nats-server > why; then
	skip "ship" "libnats or nats-server is missing"
	end_checks
	exit
fi

arguments()
{
	runs 1 ship && says "the URL of a server is missing" &&
		runs 1 ship http://localhost x.elog && says "must be nats://HOST" &&
		runs 1 ship nats:// x.elog && says "must be nats://HOST" &&
		runs 1 ship nats://elog:secret@localhost x.elog && ! says secret &&
		says "must not contain a password" &&
		runs 1 ship --state . nats://localhost a/x.elog b/x.elog &&
		says "./x.elog.shipped: two files cannot" &&
		runs 1 ship nats://localhost "$work" && says "$work: not a regular file" &&
		runs 1 ship --from +5 nats://localhost x.elog && says "--from: invalid time '+5': column 1: must be like" &&
		runs 1 ship nats://localhost/OTHER x.elog && says "the stream is always ELOG" &&
		runs 1 ship --create-stream nats://localhost/OTHER && says "always ELOG" &&
		runs 1 ship --format json nats://localhost x.elog && says "is for --status" &&
		runs 1 ship --create-stream --once nats://localhost && says "without FILE" &&
		runs 1 ship --create-stream --state . nats://localhost && says "without FILE" &&
		runs 1 ship --create-stream -o x nats://localhost && says "without FILE" &&
		runs 1 ship --create-stream --from -1h nats://localhost && says "without FILE" &&
		runs 1 ship --replicas 6 nats://localhost x.elog && says "from 1 to 5" &&
		runs 1 ship --create-stream --max-age 7x nats://localhost && says "a span from 1s" &&
		runs 1 ship --create-stream --max-bytes 0 nats://localhost && says "must be a size"
}

unreachable()
{
	servers_config 1
	runs 1 ship --once "$url" x.elog && says "cannot connect: No server available" &&
		! says "not known"
}

# A name is never found below .invalid.
unknown_host()
{
	servers_config 1
	runs 1 ship --once "$url,no-such.invalid:4222" x.elog &&
		says "; the host 'no-such.invalid' is not known: " && ! says "the host '127" &&
		runs 1 ship --once "$url,nats://no-such.invalid/ELOG" x.elog &&
		says "; the host 'no-such.invalid' is not known: "
}

wrong_password()
{
	servers_config 1 'authorization { user: elog, password: secret }'
	server_start 0 || return 1
	NATS_USER=elog NATS_PASSWORD=wrong runs 1 ship --once "$url" x.elog &&
		says "cannot connect: " || return 1
	rm -f .x.elog.shipped
	NATS_USER=elog NATS_PASSWORD=secret runs 0 ship --once --replicas 1 "$url" x.elog &&
		says "gaps 0, not sent 0 bytes"
}

check "ship: wrong arguments" arguments
check "ship: a server that cannot be reached" unreachable
check "ship: a host that has no address is named" unknown_host
check "ship: a wrong password, and the right one" wrong_password
servers_stop

# The drained files have the same contents as these, and there are as many.
same_files()
{
	rm -rf drained
	"$EVENTLOG_TOOLS/fleet_drain" "$url" drained || return 1
	sha256sum "$@" | cut -d' ' -f1 | sort > expected
	find drained -type f -exec sha256sum {} + | cut -d' ' -f1 | sort > found
	diff expected found
}

start_shipper()
{
	"$elog" ship "$@" "$url" spool/x.elog > ship.out 2>&1 &
	shipper=$!
}

# stop_shipper [STATUS]: it ends with this status.
stop_shipper()
{
	local status=0

	kill -TERM "$shipper"
	wait "$shipper" || status=$?
	shipper=
	cat ship.out
	! grep -q 'runtime error\|Sanitizer' ship.out && [ "$status" = "${1:-0}" ]
}

kill_shipper()
{
	kill -9 "$shipper"
	wait "$shipper" 2> why
	shipper=
}

rm -rf n0
servers_config 1
server_start 0

no_stream()
{
	local status=0

	mkdir -p spool && $make_file make spool/x.elog 3000000 "$a" || return 1
	start_shipper
	wait_for 60 grep -q "no stream stores the subjects elog" ship.out || status=1
	kill_shipper
	return "$status"
}

# created SAYS OPTION...: a stream that does not exist is created, once.
created()
{
	servers_stop
	rm -rf n0
	server_start 0 || return 1
	runs 0 ship --create-stream "${@:2}" "$url" && says "created the stream ELOG: $1" &&
		runs 0 ship --create-stream "${@:2}" "$url" && says "did not change it: $1" &&
		runs 0 ship -q --create-stream "${@:2}" "$url" && [ ! -s stderr ]
}

# What differs from the limits that were chosen is an error, but not for a host that ships.
other_limits()
{
	created "replicas 1, max age 90m, max bytes 100M" --max-age 1h30m --max-bytes 100M &&
		runs 1 ship --create-stream --max-age 7d --max-bytes none "$url" &&
		says "not changed: max age 90m, not 7d; max bytes 100M, not none" &&
		runs 0 ship --create-stream "$url" && says "max age 90m, max bytes 100M" &&
		$make_file make y.elog 100 "$a" &&
		runs 0 ship --once --create-stream --replicas 2 "$url" y.elog &&
		says "not changed: replicas 1, not 2" && says "elog: 2 messages"
}

refused_limits()
{
	rm -rf n0
	servers_stop
	server_start 0 && runs 1 ship --create-stream --replicas 3 "$url" &&
		says "cannot create the stream: replicas > 1 not supported" &&
		runs 1 ship --create-stream --max-bytes 100G "$url" && says "insufficient storage"
}

# The servers may store less than the stream may have.
full_server()
{
	local status=0

	servers_stop
	rm -rf n0 full && mkdir full
	sed -i 's/max_file: 2G/max_file: 1M/' n0.conf
	server_start 0 && runs 0 ship -q --create-stream "$url" &&
		$make_file make full/x.elog 3000000 "$a" || return 1
	"$elog" ship "$url" full/x.elog > ship.out 2>&1 &
	shipper=$!
	wait_for 60 grep -q "the server's disk is full, or it stores as much as" ship.out || status=1
	kill_shipper
	cat ship.out
	sed -i 's/max_file: 1M/max_file: 2G/' n0.conf
	return "$status"
}

check "ship: a server that is full" full_server
check "ship: --create-stream has a limit of age" \
	created "replicas 1, max age 7d, max bytes none"
check "ship: --create-stream without limits" \
	created "replicas 1, max age none, max bytes none" --max-age none --max-bytes none
check "ship: --create-stream does not change a stream" other_limits
check "ship: --create-stream with limits that the servers refuse" refused_limits
servers_stop
rm -rf n0
server_start 0

# The older files, then the newest one; elog show must not take the positions for a capture.
older_files()
{
	mv spool/x.elog spool/x.elog.2
	$make_file make spool/x.elog.1 300000 "$a" && $make_file make spool/x.elog 1000 "$a" &&
		runs 0 ship --once --replicas 1 -o ship.prom "$url" spool/x.elog || return 1
	grep -q '^eventlog_ship_lag_bytes 0$' ship.prom &&
		grep -q '^eventlog_ship_resent_total 0$' ship.prom &&
		grep -q '^eventlog_ship_connected 1$' ship.prom &&
		same_files spool/x.elog* &&
		runs 0 ship --once "$url" spool/x.elog && says "elog: 0 messages"
}

# The stream has all of it.
sends_again()
{
	runs 0 ship --once --from -1h "$url" spool/x.elog && says "elog: 0 messages, 0 bytes" &&
		! says "duplicates 0" && same_files spool/x.elog*
}

# Only one process uses a position: while the other one has stored none yet, and later.
# second_is_refused STATE: a shipper is running
second_is_refused()
{
	until [ -e both/.x.elog.shipped ] && { [ "$1" = new ] || [ -s both/.x.elog.shipped ]; } &&
		grep -qs lock: "/proc/$shipper/fdinfo/"*; do
		kill -0 "$shipper" || return 1
		sleep 0.05
	done
	runs 1 ship --once "$url" both/x.elog &&
		says "both/.x.elog.shipped: process $shipper (elog ship) writes to it" || return 1
	until [ -s both/.x.elog.shipped ]; do
		kill -0 "$shipper" || return 1
		sleep 0.05
	done
	runs 1 ship --once --from -1h "$url" both/x.elog && says "(elog ship) writes to it"
}

one_at_a_time()
{
	local state refused

	mkdir -p both && cp spool/x.elog both/x.elog || return 1
	for state in new stored; do
		"$elog" ship "$url" both/x.elog > ship.out 2>&1 &
		shipper=$!
		refused=1
		second_is_refused $state || refused=0
		stop_shipper && [ $refused = 1 ] || return 1
	done
	# The name may be that of another file by now, or that of none.
	rm both/.x.elog.shipped && runs 0 ship --once "$url" both/x.elog && says "not sent 0 bytes"
}

# Then another process can lock a new one, and the first one must not replace that.
removed_position()
{
	local first status=0

	mkdir -p gone && $make_file make gone/x.elog 50000 "$a" || return 1
	"$elog" ship "$url" gone/x.elog > first.out 2>&1 &
	first=$!
	wait_for 120 test -s gone/.x.elog.shipped && rm gone/.x.elog.shipped || return 1
	"$elog" ship "$url" gone/x.elog > ship.out 2>&1 &
	shipper=$!
	wait_for 120 test -s gone/.x.elog.shipped && mv gone/x.elog gone/x.elog.1 &&
		$make_file make gone/x.elog 50000 "$a" || return 1
	wait $first || status=$?
	cat first.out
	[ $status = 1 ] &&
		grep -q "gone/.x.elog.shipped: process $shipper (elog ship) writes to it" first.out &&
		stop_shipper
}

# All files are sent again; the stream drops what it has.
damaged_positions()
{
	echo nonsense > spool/.x.elog.shipped
	runs 0 ship --once "$url" spool/x.elog && says ".x.elog.shipped: damaged" &&
		same_files spool/x.elog*
}

removed_files()
{
	mv spool/x.elog spool/x.elog.1 && rm spool/x.elog.2 &&
		$make_file make spool/x.elog 50000 "$a" &&
		sed -i 's/^file .*/file 00000000000000000000000000000000/' spool/.x.elog.shipped &&
		runs 2 ship --once "$url" spool/x.elog && says "gaps 1"
}

# A capture that is killed leaves an incomplete block.
incomplete_file()
{
	rm -rf spool && mkdir spool && $make_file make spool/x.elog 700000 "$a" &&
		truncate -s -1000 spool/x.elog && cp spool/x.elog one &&
		runs 0 ship --once "$url" spool/x.elog || return 1
	$make_file make more 40000 "$a" && cat more >> spool/x.elog &&
		runs 0 ship --once "$url" spool/x.elog && says "gaps 0" || return 1
	"$EVENTLOG_TOOLS/fleet_drain" "$url" drained && has_drained spool/x.elog
}

# drained has a file with the same contents.
has_drained()
{
	find drained -type f -exec cmp -s {} "$1" \; -print | grep -q .
}

# After a crash of the machine, files may be empty or have zeros.
files_without_beginning()
{
	rm -rf spool && mkdir spool && $make_file make spool/x.elog.3 30000 "$a" &&
		head -c 5000 /dev/zero > spool/x.elog.2 && : > spool/x.elog.1 &&
		$make_file make spool/x.elog 20000 "$a" &&
		runs 2 ship --once "$url" spool/x.elog && says "gaps 1" &&
		"$EVENTLOG_TOOLS/fleet_drain" "$url" drained && has_drained spool/x.elog.3 &&
		has_drained spool/x.elog
}

# Reading the newest file fails, but not the one before it, which was not sent to its end.
unreadable_file()
{
	rm -rf spool && mkdir spool && $make_file make spool/x.elog 700000 "$a" &&
		truncate -s -1000 spool/x.elog && runs 0 ship --once "$url" spool/x.elog &&
		$make_file make more 40000 "$a" && cat more >> spool/x.elog &&
		mv spool/x.elog spool/x.elog.1 && ln -s /proc/self/mem spool/x.elog || return 1
	runs 1 ship --once "$url" spool/x.elog && says "Input/output error" &&
		"$EVENTLOG_TOOLS/fleet_drain" "$url" drained && has_drained spool/x.elog.1
}

# The files of --writers may begin with the same block, and have the same size.
files_with_the_same_beginning()
{
	rm -rf spool && mkdir spool && $make_file make spool/x.elog 30000 "$a" &&
		cp spool/x.elog spool/x.elog-w1 &&
		runs 0 ship --once "$url" spool/x.elog && says "duplicates 0"
}

check "ship: a stream that does not exist" no_stream
check "ship: older files and the newest one arrive as they are, and once" older_files
check "ship: --from sends again, and the stream drops it" sends_again
check "ship: a second process for a file is refused" one_at_a_time
check "ship: damaged positions: everything is sent again" damaged_positions
check "ship: removed files are a gap" removed_files
check "ship: an incomplete block, and what is appended behind it" incomplete_file
check "ship: files without a valid beginning are a gap" files_without_beginning
check "ship: a file that cannot be read does not stop the one before it" unreadable_file
check "ship: files with the same beginning all arrive" files_with_the_same_beginning
check "ship: a position that was removed belongs to who makes it again" removed_position
servers_stop

# A capture writes and rotates files, while the shipper and the server are killed.
kills()
{
	local capture status=0

	rm -rf n0 spool && mkdir spool && server_start 0 || return 1
	$make_file capture spool 1500000 6 9 "$a" 5000 &
	capture=$!
	start_shipper --replicas 1
	wait_for 120 test -e spool/.x.elog.shipped || status=1
	kill_shipper
	start_shipper
	wait_for 120 test -e spool/x.elog.2 || status=1
	server_kill 0
	wait_for 120 test -e spool/x.elog.3 || status=1
	server_start 0 || status=1
	wait "$capture" || status=1
	wait_for 120 grep -q "connected again" ship.out || status=1
	stop_shipper || status=1
	runs 0 ship --once "$url" spool/x.elog || status=1
	same_files spool/all/* && return "$status"
}

check "ship: kill -9 of elog ship and of the server, during rotation" kills
servers_stop

# full_disk DIGIT COUNT: a capture empties and removes its two oldest files, because the disk
# is full. The server stops, so elog ship has read 64 messages of 10 events, and no more. COUNT
# events are in the oldest file; the other files have 300 each.
full_disk()
{
	local machine count=$2 number sent status=0

	machine=$(printf "$1%.0s" {1..32})
	rm -rf spool files ship.prom && mkdir files || return 1
	for number in 4 3 2 1 0; do
		$make_file events "files/x.elog.$number" "web-$1" "$machine" \
			$((10000 * (4 - number))) "$count" 1000000 1500 10 || return 1
		count=$((300 + number))
	done
	mv files/x.elog.0 files/x.elog
	start_shipper --replicas 1 -o ship.prom
	wait_for 60 grep -q '^eventlog_ship_connected 1$' ship.prom || status=1
	kill -STOP "${server_pids[0]}"
	mv files spool
	wait_for 60 test -e spool/.x.elog.shipped || status=1
	for number in 4 3; do
		: > spool/x.elog.$number && rm spool/x.elog.$number
	done
	kill -CONT "${server_pids[0]}"
	if wait_for 60 grep -q "^offset $(stat -c %s spool/x.elog)$" spool/.x.elog.shipped; then
		stop_shipper 2 && grep -q "gaps 1, not sent 0 bytes" ship.out || status=1
	else
		kill_shipper
		status=1
	fi
	sent=$(($2 < 640 ? $2 : 640))
	{ seq 0 $((sent - 1)); seq 20000 20302; seq 30000 30301; seq 40000 40300; } > expected
	runs 1 show --host "web-$1" "$url" && says "gap: files may be missing behind byte" ||
		status=1
	grep -o 'number=[0-9]*' stdout | cut -d= -f2 | diff expected - && return "$status"
}

# Each capture has open files. Where no more are allowed, a message names the limit.
many_files()
{
	local number

	mkdir -p many
	for number in {1..30}; do
		$make_file make "many/$number.elog" 1000 "$a" || return 1
	done
	runs 0 ship --create-stream --replicas 1 "$url"
	(ulimit -n 16; runs 1 ship --once "$url" many/*.elog) && says 'Too many open files' &&
		says 'the limit of open files of a process, RLIMIT_NOFILE (ulimit -n), is 16' &&
		(ulimit -Sn 16; runs 0 ship --once "$url" many/*.elog) || return 1
	# What the first one has sent is not sent again.
	runs 0 ship --once "$url" many/*.elog && says 'elog: 0 messages'
}

rm -rf n0
servers_config 1
server_start 0
check "ship: a full disk removes files, one half read: a gap, and the rest arrives" \
	full_disk c 1000
check "ship: a full disk removes files, one all read: a gap, and the rest arrives" \
	full_disk d 630
check "ship: more files than a process can open" many_files
servers_stop

# ------------------------------------------------------------------------
# Logging in, at a server with tools/dist/nats-server.conf
#

# start_secure SED [VARIABLE=VALUE...]: a host publishes its own captures, and needs no other
# permission for this.
start_secure()
{
	rm -rf n0 spool && mkdir spool && $make_file make spool/x.elog 600000 "$a" &&
		servers_secure 1 "s/00000000000000000000000000000001/$a/; $1" &&
		server_start 0 &&
		as admin "${@:2}" -- runs 0 ship --create-stream "$url" &&
		as web1 "${@:2}" -- runs 0 ship --once "$url" spool/x.elog &&
		says "not sent 0 bytes" && as admin "${@:2}" -- same_files spool/x.elog
}

# refused TEXT VARIABLE=VALUE...: why a host and the server do not connect.
refused()
{
	as web1 "${@:2}" -- runs 1 ship --once "$url" spool/x.elog && says "$1"
}

# publishes_as USER: each message of the file of another host is refused.
publishes_as()
{
	local status=0

	rm -rf other && mkdir other && $make_file make other/x.elog 1000 "${a//a/b}" || return 1
	as "$1" -- timeout 120 "$elog" ship "$url" other/x.elog > ship.out 2>&1 &
	shipper=$!
	wait_for 60 grep -qi "permissions violation for publish to.*elog.${a//a/b}" ship.out ||
		status=1
	kill_shipper
	cat ship.out
	as admin -- same_files spool/x.elog && return "$status"
}

# A host cannot create the stream, and does not wait for long.
creates_as_host()
{
	as web1 -- runs 1 ship --create-stream "$url" && says "Permissions Violation"
}

reader_reads()
{
	as reader -- same_files spool/x.elog
}

# A host cannot receive what the servers send to readers.
host_cannot_read()
{
	as web1 -- same_files spool/x.elog && return 1
	as web1 NATS_INBOX_PREFIX=_READER -- same_files spool/x.elog && return 1
	as web1 NATS_INBOX_PREFIX=_READER -- runs 0 ship --once "$url" spool/x.elog &&
		says "Permissions Violation for Subscription"
}

token()
{
	rm -rf n0 spool/.x.elog.shipped
	servers_config 1 'authorization { token: secret }' && server_start 0 || return 1
	NATS_TOKEN=wrong runs 1 ship --once "$url" spool/x.elog &&
		says "cannot connect: " && says "Authorization Violation" && ! says wrong &&
		NATS_TOKEN=secret runs 0 ship --once --replicas 1 "$url" spool/x.elog &&
		says "not sent 0 bytes"
}

credentials()
{
	rm -rf n0 spool/.x.elog.shipped
	python3 "$here/fleet_jwt.py" "$work" "elog.$a.>" &&
		servers_config 1 "$(cat jwt.conf)" && server_start 0 || return 1
	NATS_CREDS=absent.creds runs 1 ship --once "$url" spool/x.elog &&
		says "absent.creds" || return 1
	NATS_CREDS=other.creds runs 1 ship --once "$url" spool/x.elog &&
		says "Authorization Violation" &&
		NATS_CREDS=host.creds runs 0 ship --once --replicas 1 "$url" spool/x.elog &&
		says "not sent 0 bytes"
}

if command -v openssl > why; then
	servers_certificates > why 2>&1
	check "login: a host with a password and a CA publishes its captures" start_secure ""
	check "login: a wrong password" refused "Authorization Violation" NATS_PASSWORD=wrong
	check "login: a server that another CA has signed" \
		refused "unable to get local issuer certificate" NATS_CA="$work/tls/other/ca.pem"
	check "login: a server with TLS, and no CA" \
		refused "unable to get local issuer certificate" NATS_CA=
	check "login: a CA that is missing" refused "NATS_CA" NATS_CA=absent.pem
	check "login: a host that publishes as another one" publishes_as web1
	check "login: a host that creates a stream" creates_as_host
	check "login: a reader reads" reader_reads
	check "login: a reader that publishes" publishes_as reader
	check "login: a host that reads" host_cannot_read
	servers_stop
	client=(NATS_CERT="$work/tls/clients/client.pem" NATS_KEY="$work/tls/clients/client.key")
	check "login: a server that verifies certificates" start_secure \
		's/# \(verify: true\)/\1/; s/# \(ca_file:\)/\1/' "${client[@]}"
	check "login: no certificate" refused "requires another certificate"
	check "login: a certificate of another CA" refused "requires another certificate" \
		NATS_CERT="$work/tls/other/client.pem" NATS_KEY="$work/tls/other/client.key"
	check "login: a key that does not belong to the certificate" \
		refused "NATS_CERT, NATS_KEY" NATS_CERT="$work/tls/clients/client.pem" \
		NATS_KEY="$work/tls/server.key"
	servers_stop
	check "login: a token" token
	servers_stop
	check "login: a file with credentials" credentials
else
	skip "login" "openssl is missing"
fi
end_checks
