#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The providers of eventlog, with real connections and processes. Needs root and a
# machine of its own, because it creates network namespaces.

load elog.bash

setup_file()
{
	find_built
	export PROVIDERS=${EVENTLOG_KO%/*}/module/providers
	ip link set lo up
	head -c 300000 /dev/urandom > "$BATS_FILE_TMPDIR/body"
}

setup()
{
	begin
	insmod "$PROVIDERS/eventlog_tcp.ko"
	insmod "$PROVIDERS/eventlog_proc.ko"
	namespaces=()
}

teardown()
{
	local namespace

	end_background
	for namespace in "${namespaces[@]}"; do
		ip netns del "$namespace"
	done
	rmmod eventlog_tcp eventlog_proc
}

# Starts an HTTP server for $BATS_FILE_TMPDIR at an address; its port is $port.
start_server()
{
	local address=$1

	shift
	# Remove the output of an earlier server.
	rm -f "$work/server"
	"$@" python3 -u -m http.server --bind "$address" --directory "$BATS_FILE_TMPDIR" 0 \
		> "$work/server" 2>&1 3>&- &
	background+=($!)
	wait_for grep -qs '^Serving HTTP on' "$work/server"
	port=$(sed -n 's/^Serving HTTP on .* port \([0-9]*\) .*/\1/p' "$work/server")
}

# Starts elog capture with output in $work/out and $work/err.
start_capture()
{
	: > "$work/err"
	# The capture must not inherit sockets of a test: closing them must end them.
	"$ELOG" capture -v "$@" > "$work/out" 2> "$work/err" 3>&- 7>&- 8>&- &
	capture=$!
	background+=("$capture")
	wait_for has_begun "$work/err" 'elog: capturing'
}

stop_capture()
{
	status=0
	kill -INT "$capture"
	wait "$capture" || status=$?
	[ $status = 0 ] || { cat "$work/err"; return 1; }
}

# Prints the sessions that have an event with this name and these words.
sessions_with()
{
	local file=$1 event=$2

	shift 2
	awk -v event="$event" -v words="$*" '
		$7 == event {
			count = split(words, word, " ")
			for (i = 1; i <= count; i++)
				if (index($0 " ", " " word[i] " ") == 0)
					next
			print $6
		}' "$file" | sort -u
}

# Prints the names of a session's events, in the order of the file.
life_of()
{
	awk -v session="$2" '$6 == session { printf "%s%s", separator, $7; separator = " " }' "$1"
}

# Succeeds if both ends of a connection are closed. The server may close later than the
# client's process ends.
closed_both()
{
	[ "$(sessions_with "$work/out" closed | wc -l)" = 2 ]
}

# Prints a field of a session's event.
field_of()
{
	awk -v session="$2" -v event="$3" -v field="$4" '
		$6 == session && $7 == event {
			for (i = 8; i <= NF; i++)
				if (index($i, field "=") == 1)
					print substr($i, length(field) + 2)
		}' "$1"
}

# Fails, and prints the file, unless the argument is a single line.
one()
{
	[ "$(printf '%s' "$1" | grep -c .)" = 1 ] && return
	echo "not one but: $1"
	cat "$work/out"
	return 1
}

@test "tcp: events of both ends of a connection, IPv4 and IPv6" {
	local address client server size=300000

	for address in 127.0.0.1 ::1; do
		background=()
		start_server "$address"
		start_capture -e 'tcp/[oac]*'
		curl -s -g -o "$work/got" \
			"http://$([ "$address" = ::1 ] && echo '[::1]' || echo $address):$port/body"
		wait_for closed_both
		stop_capture
		cmp "$work/got" "$BATS_FILE_TMPDIR/body"
		grep -q 'lost 0$' "$work/err"
		client=$(sessions_with "$work/out" opened "remote=$address" "remote_port=$port")
		one "$client"
		server=$(sessions_with "$work/out" accepted "local=$address" "local_port=$port")
		one "$server"
		[ "$client" != "$server" ]
		[ "$(life_of "$work/out" "$client")" = "opening opened closed" ]
		[ "$(life_of "$work/out" "$server")" = "accepted closed" ]
		# The local address of each end is the remote address of the other.
		[ "$(field_of "$work/out" "$client" opened local_port)" = \
			"$(field_of "$work/out" "$server" accepted remote_port)" ]
		[ "$(field_of "$work/out" "$client" closed received)" -ge $size ]
		[ "$(field_of "$work/out" "$server" closed sent)" -ge $size ]
		[ "$(field_of "$work/out" "$client" closed error)" = NONE ]
		[ "$(field_of "$work/out" "$client" opened took)" != 0ns ]
		[ "$(field_of "$work/out" "$client" closed lasted)" != 0ns ]
		end_background
	done
}

@test "tcp: a refused connection, and a reset" {
	local session

	# A port that was in use a moment ago.
	start_server 127.0.0.1
	kill "${background[@]}"
	wait "${background[@]}" || true
	background=()
	"$ELOG" capture -e tcp -l info -- sh -c "curl -s http://127.0.0.1:$port/ || true" \
		> "$work/out"
	session=$(sessions_with "$work/out" opening "remote_port=$port")
	one "$session"
	[ "$(life_of "$work/out" "$session")" = "opening reset_received closed" ]
	[ "$(field_of "$work/out" "$session" closed error)" = ECONNREFUSED ]
	[ "$(field_of "$work/out" "$session" closed from)" = SYN_SENT ]
	[ "$(field_of "$work/out" "$session" closed lasted)" = 0ns ]
	[ "$(field_of "$work/out" "$session" reset_received state)" = SYN_SENT ]

	# Closing with unread bytes sends a reset, which the other end receives.
	start_server 127.0.0.1
	start_capture -e tcp -l info
	bash -c "
		exec 7<> /dev/tcp/127.0.0.1/$port
		printf 'GET /body HTTP/1.0\r\n\r\n' >&7
		read -r -n 1 <&7"
	wait_for grep -q ' reset_received ' "$work/out"
	stop_capture
	session=$(sessions_with "$work/out" opened "remote_port=$port")
	one "$session"
	grep -q " $session *reset_sent .* remote_port=$port " "$work/out"
	session=$(sessions_with "$work/out" accepted "local_port=$port")
	one "$session"
	grep -q " $session *reset_received .* local_port=$port " "$work/out"
}

# Creates two network namespaces and a link that loses packets.
make_lossy_link()
{
	local host

	for host in client server; do
		ip netns add "elog-$host"
		namespaces+=("elog-$host")
	done
	ip link add elog-c netns elog-client type veth peer name elog-s netns elog-server
	# Disable segmentation offload: one retransmission is one segment.
	ip -n elog-client link set elog-c gso_max_segs 1 up
	ip -n elog-server link set elog-s gso_max_segs 1 up
	ip -n elog-client addr add 10.66.0.1/24 dev elog-c
	ip -n elog-server addr add 10.66.0.2/24 dev elog-s
	ip netns exec elog-server tc qdisc add dev elog-s root netem loss "$1"
	ip netns exec elog-client tc qdisc add dev elog-c root netem loss "$1"
}

# Prints the number of segments that a namespace has retransmitted.
retransmitted()
{
	ip netns exec "$1" nstat -asz TcpRetransSegs | awk '$1 == "TcpRetransSegs" { print $2 }'
}

@test "tcp: each retransmission on a lossy link is an event" {
	local before after session told counted

	make_lossy_link 10%
	start_server 10.66.0.2 ip netns exec elog-server
	before=$(($(retransmitted elog-client) + $(retransmitted elog-server)))
	start_capture -e 'tcp/*' -l info
	ip netns exec elog-client curl -s -o "$work/got" "http://10.66.0.2:$port/body"
	cmp "$work/got" "$BATS_FILE_TMPDIR/body"
	# Wait until both ends are closed, including retransmissions of the last FIN.
	wait_for closed_both
	stop_capture
	after=$(($(retransmitted elog-client) + $(retransmitted elog-server)))
	counted=$(grep -c ' retransmit ' "$work/out")
	echo "$counted events; $((after - before)) segments"
	[ "$counted" -gt 0 ]
	[ "$counted" = $((after - before)) ]
	for session in $(sessions_with "$work/out" closed); do
		told=$(field_of "$work/out" "$session" closed retransmits)
		counted=$(grep -c " $session *retransmit " "$work/out" || true)
		echo "session $session: $told told, $counted counted"
		[ "$told" = "$counted" ]
	done
	grep -q 'lost 0$' "$work/err"
}

@test "tcp: counts of bytes do not include SYN and FIN" {
	cat > "$work/exchange" <<'EXCHANGE'
import socket
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
for i in range(10):
    client.sendall(bytes(100))
    server.recv(100, socket.MSG_WAITALL)
client.shutdown(socket.SHUT_WR)
server.recv(1)
server.close()
client.recv(1)
client.close()
EXCHANGE
	echo 0 > /sys/module/eventlog_tcp/parameters/sample_ms
	start_capture -e tcp/closed -e tcp/sample
	python3 "$work/exchange"
	wait_for closed_both
	stop_capture
	[ "$(sed -n 's/.* closed .* \(sent=[0-9]* received=[0-9]*\) .*/\1/p' "$work/out" | sort)" = \
		"sent=0 received=1000
sent=1000 received=0" ]
	grep -q ' sample .* sent=1000 ' "$work/out"
	[ -z "$(sed -n 's/.* sample .* sent=\([0-9]*\) received=\([0-9]*\)$/\1 \2/p' "$work/out" |
		awk '$1 % 100 || $2 % 100')" ]
}

@test "tcp: a reset without a socket is an event" {
	cat > "$work/refused" <<'REFUSED'
import socket
for host, family in ("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6):
    taken = socket.create_server((host, 0), family=family)
    port = taken.getsockname()[1]
    taken.close()
    client = socket.socket(family)
    assert client.connect_ex((host, port))
    print(host, port)
REFUSED
	"$ELOG" capture -q -e tcp/reset_sent -- sh -c "python3 '$work/refused' > '$work/ports'" \
		> "$work/out"
	cat "$work/out"
	[ "$(sed -n 's/.* tcp - reset_sent local=\([^ ]*\) local_port=\([0-9]*\) .*=CLOSE$/\1 \2/p' \
		"$work/out")" = "$(< "$work/ports")" ]
}

@test "tcp: a connection that was never established has no end" {
	make_lossy_link 0%
	# The SYN arrives with data, and the server never gets an answer to its SYN|ACK.
	ip netns exec elog-server tc qdisc change dev elog-s root netem loss 100%
	ip -n elog-client neigh replace 10.66.0.2 dev elog-c lladdr \
		"$(ip netns exec elog-server cat /sys/class/net/elog-s/address)"
	ip netns exec elog-server sysctl -q net.ipv4.tcp_fastopen=0x202
	ip netns exec elog-client sysctl -q net.ipv4.tcp_fastopen=0x5
	cat > "$work/server" <<'SERVER'
import socket, time
listener = socket.socket()
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
listener.bind(("10.66.0.2", 7777))
listener.listen()
# 7777 is 1E61, and SYN_RECV is 03.
while not any(":1E61" in line.split()[1] and line.split()[3] == "03"
              for line in open("/proc/net/tcp")):
    time.sleep(0.05)
SERVER
	cat > "$work/client" <<'CLIENT'
import socket
client = socket.socket()
client.setblocking(False)
try:
    client.sendto(b"data", socket.MSG_FASTOPEN, ("10.66.0.2", 7777))
except BlockingIOError:
    pass
CLIENT
	start_capture -e tcp
	ip netns exec elog-server python3 "$work/server" 3>&- &
	background+=($!)
	wait_for server_listens
	ip netns exec elog-client python3 "$work/client"
	wait "${background[-1]}"
	wait_for grep -q ' state_change local=10.66.0.2 .*from=SYN_RECV to=CLOSE$' "$work/out"
	stop_capture
	# Only the client, which called connect(), has an end.
	[ "$(grep -c ' closed ' "$work/out")" = 1 ]
	grep -q ' closed .*remote_port=7777 .* from=SYN_SENT ' "$work/out"
}

server_listens()
{
	ip netns exec elog-server ss -tlnH | grep -q ':7777 '
}

@test "tcp: a new subscriber gets existing connections, and can follow one" {
	local session shown other

	start_server 127.0.0.1
	exec 7<> "/dev/tcp/127.0.0.1/$port"
	exec 8<> "/dev/tcp/127.0.0.1/$port"
	wait_for established 4
	"$ELOG" capture -e tcp/existing -- true > "$work/out"
	shown=$(ss -tneH state established "dport = :$port" | grep -o 'sk:[0-9a-f]*' | sort)
	session=$(sessions_with "$work/out" existing "remote_port=$port" | sed 's/0x/sk:/' | sort)
	echo "ss: $shown; elog: $session"
	[ -n "$shown" ]
	[ "$shown" = "$session" ]
	# Only the two ends of two connections, no later ones.
	[ "$(grep -c " state=ESTABLISHED " "$work/out")" -ge 4 ]

	session=$(sessions_with "$work/out" existing "remote_port=$port" | head -n 1)
	other=$(sessions_with "$work/out" existing "remote_port=$port" | tail -n 1)
	start_capture -e tcp -s "$session"
	printf 'GET /body HTTP/1.0\r\n\r\n' >&7
	printf 'GET /body HTTP/1.0\r\n\r\n' >&8
	cat <&7 > /dev/null
	cat <&8 > /dev/null
	exec 7>&- 8>&-
	wait_for grep -q " $session *closed " "$work/out"
	stop_capture
	[ "$(awk '{ print $6 }' "$work/out" | sort -u)" = "$session" ]
	[ "$session" != "$other" ]
	# It began earlier: its duration is unknown.
	[ "$(field_of "$work/out" "$session" closed lasted)" = 0ns ]
}

established()
{
	[ "$(ss -tnH state established "sport = :$port or dport = :$port" | wc -l)" = "$1" ]
}

@test "tcp: keywords by name" {
	local names

	start_server 127.0.0.1
	# Wait until both ends are closed: the next capture must not see them.
	start_capture -k conn,rundown
	curl -s -o /dev/null "http://127.0.0.1:$port/"
	wait_for closed_both
	stop_capture
	# proc has a state dump as well; samples have another keyword.
	names=$(awk '{ print $5 "/" $7 }' "$work/out" | sort -u)
	echo "$names"
	grep -qx tcp/opened <<< "$names"
	grep -qx proc/existing <<< "$names"
	run ! grep -E '^(tcp/sample|proc/exec)$' <<< "$names"
	start_capture -e 'tcp/[oc]*' -k conn,0x4
	curl -s -o /dev/null "http://127.0.0.1:$port/"
	wait_for closed_both
	stop_capture
	[ "$(awk '{ print $5 "/" $7 }' "$work/out" | sort -u | xargs)" = \
		"tcp/closed tcp/opened tcp/opening" ]
	"$ELOG" list tcp > "$work/list"
	grep -q ' info *conn *tcp/opened ' "$work/list"
}

@test "tcp: samples at the requested interval" {
	local few many

	start_server 127.0.0.1
	echo 3600000 > /sys/module/eventlog_tcp/parameters/sample_ms
	"$ELOG" capture -e tcp/sample -- curl -s -o /dev/null "http://127.0.0.1:$port/body" \
		> "$work/out"
	few=$(grep -c ' sample ' "$work/out")
	echo 0 > /sys/module/eventlog_tcp/parameters/sample_ms
	"$ELOG" capture -e tcp/sample -- curl -s -o /dev/null "http://127.0.0.1:$port/body" \
		> "$work/out"
	many=$(grep -c ' sample ' "$work/out")
	echo "$few, $many"
	[ "$few" -le 2 ]
	[ "$many" -gt 4 ]
	grep -q 'rtt=[1-9][0-9]* .*cwnd=[1-9]' "$work/out"
}

@test "proc: events of a process" {
	local session

	"$ELOG" capture -e proc -l info -- sh -c '(exit 3); (kill -9 $BASHPID 2> /dev/null || kill -9 $(sh -c "echo \$PPID")); sleep 0; true' \
		> "$work/out"
	session=$(sessions_with "$work/out" exit code=3 signal=0)
	one "$session"
	[ "$(life_of "$work/out" "$session")" = "fork exit" ]
	session=$(sessions_with "$work/out" exit code=0 signal=9)
	one "$session"
	session=$(sessions_with "$work/out" exec 'comm="sleep"')
	one "$session"
	[ "$(life_of "$work/out" "$session")" = "fork exec exit" ]
	grep " $session " "$work/out"
	grep -q " $session *exec *file=\"[^\"]*/sleep\" comm=\"sleep\"" "$work/out"
	[ "$(field_of "$work/out" "$session" exit code)" = 0 ]
	[ "$(field_of "$work/out" "$session" exit cpu)" != 0ns ]
	# The state dump has this process and init.
	grep -q " $(printf '0x%x' $$) *existing " "$work/out"
	grep -q ' 0x1 *existing parent=0 ' "$work/out"
}

@test "proc: events of threads are optional" {
	"$ELOG" capture -e 'proc/thread_*' -- python3 -c '
import threading
threads = [threading.Thread(target=print) for i in range(5)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]' > "$work/out"
	[ "$(grep -c ' thread_start ' "$work/out")" = 5 ]
	[ "$(grep -c ' thread_exit ' "$work/out")" = 5 ]
}

@test "providers: unload and load again during a capture" {
	local turn

	start_server 127.0.0.1
	start_capture -e tcp -l info
	while :; do
		curl -s -o /dev/null "http://127.0.0.1:$port/" || true
	done 3>&- &
	background+=($!)
	for turn in 1 2 3; do
		lines=$(wc -l < "$work/out")
		wait_for has_more closed "$lines"
		rmmod eventlog_tcp
		run rmmod eventlog
		[ "$status" != 0 ]
		insmod "$PROVIDERS/eventlog_tcp.ko"
	done
	kill "${background[2]}"
	stop_capture
	grep -q 'lost 0$' "$work/err"
	# Every record was decoded.
	[ -z "$(grep -vE '^ *[0-9]+ +[0-9a-f]+ .* tcp +0x[0-9a-f]+ +[a-z_]+ +local=' "$work/out")" ]
}

# Succeeds if the capture has printed an event with this name after so many lines.
has_more()
{
	tail -n "+$(($2 + 1))" "$work/out" | grep -q " $1 "
}

@test "providers: eventlog.ko cannot be unloaded while a provider uses it" {
	run rmmod eventlog
	[ "$status" != 0 ]
	rmmod eventlog_tcp
	run rmmod eventlog
	[ "$status" != 0 ]
	rmmod eventlog_proc
	rmmod eventlog
	insmod "$EVENTLOG_KO"
	insmod "$PROVIDERS/eventlog_tcp.ko"
	insmod "$PROVIDERS/eventlog_proc.ko"
}

@test "providers: the example of tools/doc/providers.md" {
	insmod "${EVENTLOG_KO%/*}/doc/source/door.ko"
	"$ELOG" capture -e door -- sh -c 'echo 1 > /sys/module/door/parameters/open' \
		> "$work/out" 2> "$work/err"
	"$ELOG" capture -e door -l info -- sh -c 'echo 1 > /sys/module/door/parameters/open' \
		>> "$work/out" 2>> "$work/err"
	rmmod door
	[ "$(life_of "$work/out" 0x1)" = "opened closed" ]
	[ "$(life_of "$work/out" 0x2)" = "opened" ]
	[ "$(field_of "$work/out" 0x2 opened times)" = 2 ]
	[ "$(field_of "$work/out" 0x1 opened who)" = '"sh"' ]
	[ "$(grep -c 'lost 0$' "$work/err")" = 2 ]
}
