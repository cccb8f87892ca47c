# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# network.sh - networks for the servers of a test, which can be cut. Sourced after servers.sh,
# in a network namespace that belongs to the test: see cluster_test.sh.
#
# Each server has a namespace with two interfaces: one is in the network of clients, the
# other one in the network of the servers.
#
#	network_start COUNT		makes the networks; servers_config then uses them
#	network_cut NUMBER NETWORK...	cuts a server off from a network, clients or routes: its
#					packets are lost, and no connection is closed
#	network_join NUMBER NETWORK...	reverses this
#	network_stop			removes the networks

network_pids=()

network_has_namespace()
{
	! [ "/proc/$1/ns/net" -ef /proc/self/ns/net ]
}

# network_plug NUMBER NETWORK ADDRESS
network_plug()
{
	local inside=(nsenter --net="/proc/${network_pids[$1]}/ns/net")

	ip link add "$2$1" type veth peer name "$2" netns "${network_pids[$1]}" &&
		ip link set "$2$1" master "$2" up &&
		"${inside[@]}" ip address add "$3/24" dev "$2" &&
		"${inside[@]}" ip link set "$2" up
}

network_start()
{
	local number

	ip link add clients type bridge && ip address add 10.0.1.254/24 dev clients &&
		ip link add routes type bridge && ip link set clients up &&
		ip link set routes up || return 1
	for ((number = 0; number < $1; number++)); do
		unshare --net sleep infinity &
		network_pids[number]=$!
		wait_for 60 network_has_namespace "${network_pids[number]}" &&
			network_plug "$number" clients "10.0.1.$((number + 1))" &&
			network_plug "$number" routes "10.0.2.$((number + 1))" || return 1
		server_addresses[number]=10.0.1.$((number + 1))
		route_addresses[number]=10.0.2.$((number + 1))
		server_commands[number]="nsenter --net=/proc/${network_pids[number]}/ns/net"
	done
}

network_set()
{
	local number=$1 state=$2 network

	shift 2
	for network; do
		ip link set "$network$number" "$state" || return 1
	done
}

network_cut()
{
	network_set "$1" down "${@:2}"
}

network_join()
{
	network_set "$1" up "${@:2}"
}

# shellcheck disable=SC2034 # servers.sh uses these
network_stop()
{
	local pid

	for pid in "${network_pids[@]}"; do
		kill -9 "$pid"
		wait "$pid" 2> /dev/null
	done
	[ ${#network_pids[@]} = 0 ] || { ip link del clients; ip link del routes; }
	network_pids=() server_addresses=() route_addresses=() server_commands=()
}
