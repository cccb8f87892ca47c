# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# servers.sh - servers of NATS for tests, on free ports of the loopback interface, below those
# that the kernel gives to other programs, or in networks of network.sh. Their files are in
# $work. runs and says, at the end, run elog with them. Sourced after scripts/elog_tap.sh.
#
#	servers_config COUNT [LINE]	makes the settings of COUNT servers, and sets $url. LINE
#					is a further line of these
#	servers_certificates		makes certificates in $work/tls, as tools/doc/fleet.md
#					does; those in tls/other are of another CA
#	servers_secure COUNT SED	makes the settings of COUNT servers of
#					tools/dist/nats-server.conf, with further commands of
#					sed, and sets $url
#	as USER [VARIABLE=VALUE...] -- COMMAND...
#					runs a command as a user of these servers
#	server_start NUMBER		starts one, and waits until it answers
#	stream_leader [NUMBER]		prints the number of the server that leads the stream,
#					without asking this one
#	meta_leader			prints the number of the server that creates streams
#	server_kill NUMBER		kills it with SIGKILL
#	servers_stop			ends all that run

declare -A server_pids=()
listens=() clusters=() monitors=()
# If they are not set: the loopback interface, and no command.
server_addresses=() route_addresses=() server_commands=()
: "${work:?}"
url=

dist=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../dist" && pwd -P)

free_ports()
{
	python3 - "$1" <<'PYTHON'
import random
import socket
import sys
with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
    first = int(file.read().split()[0])
sockets = []
while len(sockets) < int(sys.argv[1]):
    each = socket.socket()
    try:
        each.bind(("127.0.0.1", random.randrange(10000, first) if first > 20000 else 0))
        sockets.append(each)
    except OSError:
        each.close()
print(*[each.getsockname()[1] for each in sockets])
PYTHON
}

# Sets listens, clusters, monitors, routes and url.
servers_ports()
{
	local count=$1 ports number

	read -ra ports <<< "$(free_ports $((3 * count)))"
	routes=
	url=
	for ((number = 0; number < count; number++)); do
		listens[number]=${server_addresses[number]:-127.0.0.1}:${ports[3 * number]}
		clusters[number]=${route_addresses[number]:-127.0.0.1}:${ports[3 * number + 1]}
		monitors[number]=${server_addresses[number]:-127.0.0.1}:${ports[3 * number + 2]}
		routes+="${routes:+,}nats://${clusters[number]}"
		url+=${url:+,}${listens[number]}
	done
	url=nats://$url
}

servers_config()
{
	local count=$1 line=${2:-} routes number

	servers_ports "$count"
	for ((number = 0; number < count; number++)); do
		{
			echo "server_name: n$number"
			echo "listen: ${listens[number]}"
			echo "http: ${monitors[number]}"
			echo "jetstream { store_dir: \"$work/n$number\", max_mem: 64M, max_file: 2G }"
			echo "$line"
			[ "$count" = 1 ] || echo "cluster { name: test," \
				"listen: ${clusters[number]}, routes: [$routes] }"
		} > "$work/n$number.conf"
	done
}

servers_certificates()
{
	local ca

	mkdir -p "$work/tls"
	(cd "$work/tls" && "$dist/../../scripts/doc-files" "$dist/../doc/fleet.md" . &&
		sh certificates.sh localhost && mv localhost.key server.key &&
		mv localhost.pem server.pem || exit 1
	for ca in other clients; do
		mkdir "$ca" && cd "$ca" && sh ../certificates.sh client && cd .. || exit 1
	done
	cp clients/ca.pem clients-ca.pem)
}

servers_secure()
{
	local count=$1 commands=${2:-} routes number
	local server_addresses=(localhost localhost localhost)
	local route_addresses=("${server_addresses[@]}")

	servers_ports "$count"
	for ((number = 0; number < count; number++)); do
		sed -e "s|^server_name:.*|server_name: n$number|" \
			-e "s|0\.0\.0\.0:4222|${listens[number]}|" \
			-e "s|127\.0\.0\.1:8222|${monitors[number]}|" \
			-e "s|0\.0\.0\.0:6222|${clusters[number]}|" \
			-e "s|routes: .*|routes: [ $routes ]|" \
			-e "s|nats://localhost:|tls://localhost:|g; s|/var/lib/nats|$work/n$number|; s|max_file: .*|max_file: 2G|" \
			-e "s|/etc/nats/|$work/tls/|" -e "$commands" \
			"$dist/nats-server.conf" > "$work/n$number.conf"
		# A server alone has no cluster.
		[ "$count" != 1 ] || sed -i '/^cluster {/,/^}/d' "$work/n$number.conf"
	done
}

as()
{
	local settings=(NATS_CA="$work/tls/ca.pem" NATS_USER="$1" NATS_PASSWORD="${1^^}_PASSWORD")

	[ "$1" != reader ] || settings+=(NATS_INBOX_PREFIX=_READER)
	while shift && [ "$1" != -- ]; do
		settings+=("$1")
	done
	shift
	(export "${settings[@]}" && "$@")
}

# wait_for SECONDS COMMAND...
wait_for()
{
	local end=$((SECONDS + $1))

	shift
	while ! "$@"; do
		[ "$SECONDS" -le "$end" ] || { echo "waited too long: $*"; return 1; }
		sleep 0.1
	done
}

answers()
{
	(exec 3<> "/dev/tcp/${1%:*}/${1#*:}") 2> /dev/null
}

server_start()
{
	# shellcheck disable=SC2086 # several words
	PATH=$PATH:/usr/sbin ${server_commands[$1]:-} nats-server -c "$work/n$1.conf" -l "$work/n$1.log" \
		> /dev/null 2>&1 &
	server_pids[$1]=$!
	wait_for 120 answers "${listens[$1]}"
}

stream_leader()
{
	local number

	for number in "${!server_pids[@]}"; do
		[ "$number" != "${1:-}" ] || continue
		curl -s -m 2 "http://${monitors[number]}/jsz?streams=true" |
			jq -r '.account_details[]?.stream_detail[]?.cluster.leader // empty'
	done | sed -n '1s/^n//p'
}

meta_leader()
{
	local number

	for number in "${!server_pids[@]}"; do
		curl -s -m 2 "http://${monitors[number]}/jsz" | jq -r '.meta_cluster.leader // empty'
	done | sed -n '1s/^n//p'
}

server_kill()
{
	kill -9 "${server_pids[$1]}"
	wait "${server_pids[$1]}" 2> /dev/null || :
	unset "server_pids[$1]"
}

servers_stop()
{
	local number

	for number in "${!server_pids[@]}"; do
		server_kill "$number"
	done
}

# runs STATUS ARGUMENT...: elog ends with this status.
runs()
{
	local expected=$1 status=0

	shift
	# shellcheck disable=SC2154 # $elog: of elog_tap.sh
	timeout 120 "$elog" "$@" > stdout 2> stderr || status=$?
	head -20 stdout stderr
	[ "$status" = "$expected" ] && ! grep -q 'runtime error\|Sanitizer' stderr && return
	echo "status $status, not $expected"
	return 1
}

# says TEXT: the last elog has printed it.
says()
{
	grep -qF -- "$1" stdout stderr
}
