#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# elog in a guest that has nothing but a static elog and busybox, as scripts/vm-static boots for
# other architectures: it captures to a file, prints, searches and exports the file, and lists
# events. Prints TAP.
set -u

if ! command -v elog > /dev/null; then
	echo "1..0 # SKIP elog is missing"
	exit 0
fi
work=$(mktemp -d)
background=

finish()
{
	[ -z "$background" ] || kill -KILL "$background" 2> /dev/null
	rm -rf "$work"
}
trap finish EXIT

number=0
failed=0

# check NAME COMMAND...
check()
{
	name=$1
	shift
	number=$((number + 1))
	if "$@" > "$work/output" 2>&1; then
		echo "ok $number $name"
	else
		sed 's/^/# /' "$work/output"
		echo "not ok $number $name"
		failed=1
	fi
}

# Waits up to two minutes until a command succeeds.
wait_for()
{
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		if [ $tries -gt 2400 ]; then
			echo "not ok $((number + 1)) timed out: $*"
			exit 1
		fi
		sleep 0.05
	done
}

captures()
{
	grep -qs '^elog: capturing' "$work/err"
}

in_order()
{
	sed -n 's/.* tick number=\([0-9]*\) wide=-1234567890123 text="tick \1"$/\1/p' \
		"$work/shown" > "$work/numbers"
	seq 0 19 | cmp - "$work/numbers" || { head -n 5 "$work/shown"; return 1; }
}

has_all()
{
	grep -c ' static - many number=7$' "$work/shown" > "$work/count"
	cat "$work/count"
	[ "$(cat "$work/count")" = 5000 ]
}

# The session of the emitter is in its events, and finds them.
finds_session()
{
	elog show -q -s 0x5e55 "$work/file" > "$work/found" && cat "$work/found" &&
		[ "$(wc -l < "$work/found")" = 1 ] && grep -q ' once word="a"$' "$work/found"
}

finds_expression()
{
	elog show -q -f 'wide < 0 && number >= 15' "$work/file" > "$work/found" &&
		cat "$work/found" && [ "$(wc -l < "$work/found")" = 5 ]
}

exports_json()
{
	elog export -q --format jsonl -e static/tick "$work/file" > "$work/json" &&
		head -n 2 "$work/json" &&
		[ "$(grep -c '"wide": *-1234567890123' "$work/json")" = 20 ]
}

# The event of a process that waits for a subscriber.
is_listed()
{
	elog list -q static > "$work/list" 2> /dev/null
	cat "$work/list"
	grep -q stays "$work/list"
}

unknown_option_is_refused()
{
	! elog capture --no-such-option 2> "$work/refused" && [ -s "$work/refused" ]
}

elog capture -v -o "$work/file" -e static 2> "$work/err" &
background=$!
wait_for captures
tick=0
while [ $tick -lt 20 ]; do
	elog emit static/tick 'u32 number; s64 wide; string text' number=$tick \
		wide=-1234567890123 text="tick $tick"
	tick=$((tick + 1))
done
elog emit -n 5000 static/many 'u32 number' number=7
elog emit -s 0x5e55 static/once 'string word' word=a
kill -INT $background
status=0
wait $background || status=$?
background=
check "the capture exits with 0" test $status = 0
check "nothing was lost" grep -q 'lost 0$' "$work/err"
elog show -q "$work/file" > "$work/shown"
check "the file is complete" test $? = 0
check "each event is printed with its fields, in order" in_order
check "a burst is complete" has_all
check "events of a session are found" finds_session
check "an expression finds events" finds_expression
check "events are exported" exports_json
elog emit --wait -d 600 static/stays &
background=$!
wait_for is_listed
check "an event is listed while its process runs" is_listed
check "a wrong option is refused" unknown_option_is_refused
echo "1..$number"
exit $failed
