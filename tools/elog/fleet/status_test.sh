#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# status_test - elog ship --status: what a stream has of each host, and what is missing.
# Prints TAP. It meets: captures of several hosts and boots, messages in another order, twice,
# missing or not valid, compressed files, streams with limits, another stream of the URL, a
# server that is killed, and permissions.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"
# shellcheck source=tools/elog/fleet/servers.sh
. "$here/servers.sh"
# shellcheck source=tools/elog/fleet/hosts.sh
. "$here/hosts.sh"
clock_error=1500
trap 'servers_stop; rm -rf "$work"' EXIT

# has HOST JQ...: each expression is true for the row of this host.
has()
{
	local host=$1 expression

	shift
	for expression; do
		jq -se "map(select(.host == \"$host\" or .machine_id == \"$host\")) |
			length == 1 and (.[0] | $expression)" stdout > truth && continue
		echo "not true of $host: $expression"
		return 1
	done
}

arguments()
{
	runs 1 ship --status && says "the URL of a server is missing" &&
		runs 1 ship --status nats://localhost x.elog && says "sends nothing" &&
		runs 1 ship --status --once nats://localhost && says "sends nothing" &&
		runs 1 ship --status --create-stream nats://localhost && says "sends nothing" &&
		runs 1 ship --status --from +1 nats://localhost && says "--from: invalid time" &&
		runs 1 ship --status --format parquet nats://localhost && says "text, json"
}

check "wrong arguments" arguments
if [ ! -e "${elog%/*}/elog_nats.so" ] || ! PATH=$PATH:/usr/sbin command -v nats-server > why ||
	! command -v jq > why; then
	skip "the status of a stream" "libnats, nats-server or jq is missing"
	end_checks
	exit
fi

empty()
{
	servers_config 1 && runs 1 ship --status "$url" && says "cannot connect" &&
		server_start 0 && runs 1 ship --status "$url" && says "there is no stream ELOG" &&
		runs 0 ship -q --create-stream --max-bytes 100M "$url" &&
		runs 0 ship --status "$url" && says "HOST" &&
		says "elog: the stream ELOG: 0 messages, 0 bytes in each server; replicas 1," &&
		runs 0 ship --status --format json -q "$url" && [ ! -s stdout ]
}

# All files of a host, of both captures.
hosts()
{
	local host

	for host in a b; do
		mkdir -p "$host"
		events "$host" "$host/x.elog.1" 0 1500 && events "$host" "$host/x.elog" 1500 500 &&
			events "$host" "$host/y.elog" 0 3000 &&
			runs 0 ship -q --once "$url" "$host/x.elog" "$host/y.elog" || return 1
	done
	runs 0 ship --status --format json "$url" && [ "$(wc -l < stdout)" = 2 ] &&
		has web-a ".machine_id == \"$(machine a)\"" ".captures == 2" ".gaps == 0" \
			".bytes == $(cat a/* | wc -c)" ".invalid == 0" &&
		has web-b ".bytes == $(cat b/* | wc -c)" ".last_event == 1700000003" \
			".stored > $(date +%s) - 600" ".lag > 1" &&
		[ "$(jq -s 'map(.messages) | add' stdout)" = "$(messages)" ] &&
		runs 0 ship --status "$url" && says "web-b " && says "$(date -d @1700000003 +%FT%T)" &&
		runs 0 ship --status --format csv "$url" &&
		grep -q "^host,machine_id,captures," stdout && grep -q "^web-a,$(machine a),2," stdout
}

# What the summary says.
messages()
{
	sed -n 's/^elog: the stream ELOG: \([0-9]*\) messages.*/\1/p' stderr
}

# Nothing was stored since then, but the hosts are there.
since()
{
	runs 0 ship --status --format json --from @1900000000 "$url" &&
		has "$(machine a)" ".messages == 0" ".host == null" ".captures == 2" \
			".stored > $(date +%s) - 600" &&
		runs 0 ship --status --format json --from -1h "$url" && has web-a ".gaps == 0"
}

# Each part is 1000 bytes, and the file has 41.
resends()
{
	events d d.elog 0 1000 || return 1
	send "elog.$(machine d).b.late" d.elog 1 20,0-5,7,6,7,8-19,21-40,0-10 &&
		runs 0 ship --status --format json "$url" &&
		has web-d ".gaps == 0" ".messages == 53" ".bytes == $(wc -c < d.elog)"
}

missing()
{
	events e e.elog.1 0 1000 && events e e.elog 1000 1000 || return 1
	send "elog.$(machine e).b.gap" e.elog.1 2 0-9,12-40 &&
		send "elog.$(machine e).b.gap" e.elog 3 0-40 "Elog-Previous: ?" &&
		runs 2 ship --status --format json "$url" &&
		has web-e ".gaps == 2" ".missing_bytes == 2000" \
			".bytes == $(cat e.elog.1 e.elog | wc -c) - 2000" && has web-a ".gaps == 0"
}

# The reader finds the same gaps.
as_reader()
{
	runs 1 show --host web-e "$url" && [ "$(cat stdout stderr | grep -c ": gap: ")" = 2 ]
}

# Two of them look as if a server had answered: libnats hides them.
wrong_messages()
{
	send elog.2222.b.wrong d.elog 7 wrong && runs 2 ship --status --format json "$url" &&
		has 2222 ".invalid == 11" ".host == null" && has web-d ".invalid == 0" &&
		says "2 messages of the stream could not be read"
}

# The last time of the file is before 1970: as an unsigned number, more than 2^63 ns.
wrong_time()
{
	events 8 e.elog 7523372036855 1 && runs 0 ship -q --once "$url" e.elog &&
		runs 2 ship --status --format json "$url" &&
		has web-8 ".messages > 0" ".last_event == null" ".lag == null"
}

# A part of the stream that is gone is none of the gaps.
removed()
{
	local number

	servers_stop
	rm -rf n0 a && mkdir a && server_start 0 &&
		runs 0 ship -q --create-stream --max-bytes 300K "$url" || return 1
	for number in 4 3 2 1; do
		$make_file events "a/x.elog.$number" web-a "$(machine a)" \
			$((2000 * (4 - number))) 2000 1000000 1500 50 || return 1
	done
	events a a/x.elog 8000 100 && runs 0 ship -q --once "$url" a/x.elog &&
		runs 0 ship --status --format json "$url" &&
		has web-a ".gaps == 0" ".bytes < 300000" ".bytes > 100000" \
			".last_event == 1700000008.1"
}

check "a stream without messages" empty
check "hosts with several captures" hosts
check "--from" since
check "messages in another order and twice" resends
check "gaps in a file and between files" missing
check "gaps: as a reader finds them" as_reader
check "messages that are not valid" wrong_messages
check "a time that is not valid" wrong_time
check "a limit of size" removed
servers_stop

has_meta_leader()
{
	[ -n "$(meta_leader)" ]
}

# The status of three servers, one of which was killed. Requests to servers without a leader time
# out, and are repeated.
killed_server()
{
	rm -rf n? a/.x*
	servers_config 3 && server_start 0 && server_start 1 && server_start 2 &&
		wait_for 60 has_meta_leader && runs 0 ship --create-stream "$url" && says "replicas 3" &&
		runs 0 ship -q --once "$url" a/x.elog && server_kill 1 || return 1
	wait_for 60 says_offline
}

says_offline()
{
	runs 0 ship --status --format json "$url" > why && has web-a ".gaps == 0" > why &&
		{ says "n1 not current" || says "n1 offline"; }
}

# A reader may do this, and a host may not.
permissions()
{
	servers_secure 1 "s/00000000000000000000000000000001/$(machine a)/" &&
		server_start 0 && as admin -- runs 0 ship -q --create-stream "$url" &&
		as web1 -- runs 0 ship -q --once "$url" a/x.elog &&
		as reader -- runs 0 ship --status --format json "$url" && has web-a ".gaps == 0" &&
		as web1 -- runs 1 ship --status "$url" && says "Permissions Violation"
}

# permissions, in a directory of its own, at the same time as the killed server.
start_permissions()
{
	(
		mkdir secure && cp -r a secure && rm -rf secure/a/.x* && cd secure || exit 1
		work=$PWD
		servers_certificates > why 2>&1
		permissions
		status=$?
		servers_stop
		exit "$status"
	) > permissions.out 2>&1 &
	permissions_pid=$!
}

permissions_end()
{
	wait "$permissions_pid" || { cat permissions.out; return 1; }
}

! command -v openssl > why || start_permissions
check "a server that was killed" killed_server
servers_stop
if command -v openssl > why; then
	check "permissions" permissions_end
else
	skip "permissions" "openssl is missing"
fi
end_checks
