#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Demonstrates eventlog and checks the results. elog captures the events of a server with
# several threads, where each request is a session, of a client, of a shell script, and of
# a download, where each TCP connection is a session.
#
# Needs root and a kernel that the module was built for. make demo runs it in a guest.
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
build=${EVENTLOG_BUILD:-$here/../../build}
module=${EVENTLOG_KO:-$build/$(uname -r)/eventlog.ko}
tools=$build/tools
export ELOG=${ELOG:-$tools/elog}
connections=20
requests=25

work=$(mktemp -d)
loaded=
http=
namespaces=

die()
{
	echo "demo: FAILED: $*" >&2
	[ ! -s "$work/summary" ] || cat "$work/summary" >&2
	exit 1
}

cleanup()
{
	local status=$? namespace

	trap - EXIT
	[ -z "$http" ] || kill "$http" || true
	for namespace in $namespaces; do
		ip netns del "$namespace" || true
	done
	[ ! -d /sys/module/eventlog_tcp ] || rmmod eventlog_tcp || true
	if [ -n "$loaded" ] && ! rmmod eventlog; then
		echo "demo: FAILED: rmmod eventlog failed" >&2
		status=1
	fi
	rm -rf "$work"
	exit "$status"
}
trap cleanup EXIT

say()
{
	printf '\n== %s\n' "$*"
}

[ "$(id -u)" = 0 ] || die "needs root"
for file in "$module" "$ELOG" "$tools/examples/request_server" \
	"$tools/examples/request_client"; do
	[ -e "$file" ] || die "$file is missing: run make"
done
ip link set lo up 2> "$work/ip" || ifconfig lo up 2>> "$work/ip" || true

say "the kernel module"
if [ ! -d /sys/module/eventlog ]; then
	insmod "$module" || die "insmod $module"
	loaded=yes
fi
"$ELOG" info

say "a program that emits an event without libelog"
"$ELOG" capture -e hello -- "$tools/examples/hello" > "$work/hello" \
	2> "$work/summary" || die "hello"
cat "$work/hello" "$work/summary"
grep -q 'hello *- *greeting number=42 text="hello, world"$' "$work/hello" ||
	die "the event of hello is missing"

# The scenario to capture. The server is ready when its port is in the file.
cat > "$work/scenario" <<'SCENARIO'
set -euo pipefail
"$1/request_server" -t 4 > "$2/port" &
server=$!
until [ -s "$2/port" ]; do
	kill -0 "$server"
	sleep 0.05
done
"$1/request_client" -t 6 -c "$3" -r "$4" "$(cat "$2/port")" > "$2/client"
"$5/job.sh"
"$ELOG" list 'request_*' > "$2/list"
kill "$server"
wait "$server"
SCENARIO

say "$connections connections of $requests requests each, and a shell script"
"$ELOG" capture -e request_server -e 'job/*' -- bash "$work/scenario" \
	"$tools/examples" "$work" "$connections" "$requests" "$here" \
	> "$work/events" 2> "$work/summary" || die "elog capture: status $?"
head -n 5 "$work/events"
echo ...
tail -n 9 "$work/events"
cat "$work/list" "$work/summary"
read -r _ got_connections _ got_requests _ bytes _ missing < "$work/client"
echo "the client counted $got_requests answers with $bytes bytes; $missing of them were 404, because" \
	"it asks for some paths that do not exist"

[ "$got_connections $got_requests" = \
	"$connections $((connections * requests))" ] || die "the client did not make all requests"

# Check that times never decrease, that each session has a start and then an end, that the
# sums match the client's, and that there are no other events.
awk -v connections="$connections" -v requests="$got_requests" \
	-v bytes="$bytes" -v missing="$missing" '
	function fail(text) {
		print "demo: line " NR ": " text ": " $0 > "/dev/stderr"
		failed = 1
	}
	function value(name,	i) {
		for (i = 8; i <= NF; i++)
			if (index($i, name "=") == 1)
				return substr($i, length(name) + 2)
		fail("no " name)
	}
	/^#/ { fail("loss"); next }
	{
		split($4, time, ".")
		if (time[1] < seconds ||
		    (time[1] == seconds && time[2] < nanoseconds))
			fail("time decreased")
		seconds = time[1] + 0
		nanoseconds = time[2] + 0
		count[$5 "/" $7]++
		total++
	}
	$5 == "request_server" && $7 == "request_start" {
		if ($6 in started)
			fail("started twice")
		started[$6] = 1
	}
	$5 == "request_server" && $7 == "request_end" {
		if (!($6 in started) || $6 in ended)
			fail("ended without start")
		ended[$6] = 1
		got_bytes += value("bytes")
		got_missing += value("status") == 404
		if (value("duration") + 0 <= 0)
			fail("no duration")
	}
	$5 == "job" {
		if ($6 == "-" || (job && job != $6))
			fail("session of the job")
		job = $6
		if ($7 == "step")
			lines += value("lines")
		if ($7 == "end" && (value("lines") != lines || value("files") != 3))
			fail("counts of the job")
	}
	function expect(name, wanted) {
		if (count[name] != wanted) {
			print "demo: " name ": found " count[name] + 0 ", expected " \
				wanted > "/dev/stderr"
			failed = 1
		}
		known += wanted
	}
	END {
		expect("request_server/accept", connections)
		expect("request_server/request_start", requests)
		expect("request_server/request_end", requests)
		expect("job/start", 1)
		expect("job/step", 3)
		expect("job/end", 1)
		if (total != known || got_bytes != bytes || got_missing != missing) {
			print "demo: found " total " events, expected " known "; found " \
				got_bytes " bytes, expected " bytes "; found " \
				got_missing " missing, expected " missing > "/dev/stderr"
			failed = 1
		}
		exit failed
	}' "$work/events" || die "the captured events do not match the scenario"
grep -q 'lost 0$' "$work/summary" || die "events were lost"
grep -q 'enabled .*request_server/request_end' "$work/list" ||
	die "elog list does not show request_end as enabled"

say "the events of one session"
session=$(awk '$7 == "request_end" { print $6; exit }' "$work/events")
awk -v session="$session" '$6 == session' "$work/events"

counted=$(wc -l < "$work/events")

say "a download between two network namespaces; the link drops 10 % of the packets"
insmod "$(dirname "$module")/module/providers/eventlog_tcp.ko" || die "eventlog_tcp.ko"
for host in client server; do
	ip netns add "demo-$host" || die "ip netns"
	namespaces+=" demo-$host"
done
ip link add demo-c netns demo-client type veth peer name demo-s netns demo-server
ip -n demo-client link set demo-c up
ip -n demo-server link set demo-s up
ip -n demo-client addr add 10.77.0.1/24 dev demo-c
ip -n demo-server addr add 10.77.0.2/24 dev demo-s
ip netns exec demo-server tc qdisc add dev demo-s root netem loss 10%
mkdir "$work/www"
head -c 200000 /dev/urandom > "$work/www/file"
ip netns exec demo-server python3 -u -m http.server --bind 10.77.0.2 \
	--directory "$work/www" 8080 > "$work/http" 2>&1 &
http=$!
until grep -q '^Serving' "$work/http"; do
	kill -0 "$http" || die "the HTTP server does not run"
	sleep 0.05
done
# Capture a moment longer than the download: the last segments may be retransmitted.
"$ELOG" capture -e tcp -l info -- ip netns exec demo-client sh -c \
	"curl -s -o '$work/file' http://10.77.0.2:8080/file; sleep 1" \
	> "$work/events" 2> "$work/summary" || die "elog capture: status $?"
cmp "$work/file" "$work/www/file" || die "the downloaded file differs"
cut -c 1-200 "$work/events"
cat "$work/summary"
session=$(awk '$7 == "opening" && /remote=10.77.0.2 / { print $6 }' "$work/events")
say "the events of the client's end of the connection: session $session"
awk -v session="$session" '$6 == session' "$work/events" | cut -c 1-200
awk -v session="$session" '
	$6 == session { life = life " " $7 }
	END { exit life !~ /^ opening( retransmit)* opened( retransmit)*( closed)?$/ }' \
	"$work/events" || die "unexpected events of the connection"
grep -q 'lost 0$' "$work/summary" || die "events were lost"

printf '\ndemo: all %s events were captured in order; no events were lost\n' \
	"$((counted + $(wc -l < "$work/events")))"
