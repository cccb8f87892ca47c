#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shows all of it at work, and verifies it: a server with several threads whose
# requests are sessions, a client, a shell script, and elog capturing them.
#
# Needs root, and a kernel that takes the module: in a guest, make demo.
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

die()
{
	echo "demo: FAILED: $*" >&2
	[ ! -s "$work/summary" ] || cat "$work/summary" >&2
	exit 1
}

cleanup()
{
	local status=$?

	trap - EXIT
	if [ -n "$loaded" ] && ! rmmod eventlog; then
		echo "demo: FAILED: the module cannot be removed" >&2
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

say "an event without a library"
"$ELOG" capture -e hello -- "$tools/examples/hello" > "$work/hello" \
	2> "$work/summary" || die "hello"
cat "$work/hello" "$work/summary"
grep -q 'hello *- *greeting number=42 text="hello, world"$' "$work/hello" ||
	die "hello's event is not there"

# All that is captured: the server is up when its port is in the file.
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
cat "$work/list" "$work/client" "$work/summary"

read -r _ got_connections _ got_requests _ bytes _ missing < "$work/client"
[ "$got_connections $got_requests" = \
	"$connections $((connections * requests))" ] || die "the client's counts"

# Times never step back; each request's session has a start, then an end; the
# sums are what the client has seen; nothing else is there.
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
			fail("time steps back")
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
			print "demo: " name ": " count[name] + 0 ", not " \
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
			print "demo: " total " events, not " known "; " got_bytes \
				" bytes, not " bytes "; " got_missing \
				" missing, not " missing > "/dev/stderr"
			failed = 1
		}
		exit failed
	}' "$work/events" || die "the events are not what happened"
grep -q 'lost 0$' "$work/summary" || die "events were lost"
grep -q 'enabled .*request_server/request_end' "$work/list" ||
	die "elog list does not show request_end as enabled"

say "one session of all"
session=$(awk '$7 == "request_end" { print $6; exit }' "$work/events")
awk -v session="$session" '$6 == session' "$work/events"

printf '\ndemo: all %s events are there, in order; nothing was lost\n' \
	"$(wc -l < "$work/events")"
