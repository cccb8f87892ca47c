#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog list and elog info: trees and JSON, with the kernel module; and elog of another ABI
# version. Needs root.

load elog.bash

teardown()
{
	end_background
	"$ELOG" stop -q 2> /dev/null || true
	rmmod eventlog_tcp 2> /dev/null || true
}

# Registers an event that lasts until the end of the test.
register()
{
	"$ELOG" emit --wait "$@" 3>&- &
	background+=($!)
	local name=$1

	while [[ $name != */* ]]; do
		shift
		name=$1
	done
	wait_for eval "'$ELOG' list -q '$name' > /dev/null 2>&1"
}

# Loads the module of a provider with every feature of schemas.
load_tcp()
{
	insmod "${EVENTLOG_KO%/*}/module/providers/eventlog_tcp.ko"
}

# Checks $output, JSON Lines: runs Python code with the list of objects.
check_json()
{
	python3 -c '
import json, sys
objects = [json.loads(line) for line in sys.stdin]
exec(sys.argv[1])' "$1" <<< "$output"
}

@test "list: wrong usage" {
	fails_with "--tree does not go with --format" list --tree --format json
	fails_with "--format: invalid format 'csv': must be one of text, json" list --format csv
	fails_with "no option '--tree'" info --tree
	fails_with "--format: invalid format 'csv': must be one of text, json" info --format csv
	fails_with "no event 'nothing/here'" list --tree nothing/here
	fails_with "no event 'nothing/here'" list --format json nothing/here
	run_elog list --tree
	[ "$status" = 0 ]
	[ -z "$output" ]
	run_elog list --format json
	[ "$status" = 0 ]
	[ -z "$output" ]
}

@test "list: a tree of providers, events and fields" {
	register -k 0x30 -l warning things/thing 'u32 a; __data_loc char[] b' a=1 b=x
	register things/other
	LC_ALL=C run_elog list --tree
	[ "$status" = 0 ]
	[[ ${lines[0]} =~ ^things\ \([0-9]+\)$ ]]
	[[ ${lines[1]} =~ ^\|--\ thing\ #[0-9]+\ live\ warning\ 0x30$ ]]
	[ "${lines[2]}" = "|   |-- u32 a" ]
	[ "${lines[3]}" = "|   \`-- string b" ]
	[[ ${lines[4]} =~ ^\`--\ other\ #[0-9]+\ live\ info\ -$ ]]
	[ ${#lines[@]} = 5 ]
	LC_ALL=C run_elog list --tree -v 'things/th*'
	[ "${lines[2]}" = "    |-- u32 a offset 0 size 4" ]
	[ "${lines[3]}" = "    \`-- string b offset 4 size 4" ]
	LC_ALL=C.UTF-8 run_elog list --tree things/thing
	contains "$output" $'\xe2\x94\x94\xe2\x94\x80\xe2\x94\x80 thing #' \
		$'    \xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80 u32 a'

	# Descriptions and types of a schema.
	load_tcp
	LC_ALL=C run_elog list --tree tcp/state_change
	[ "$status" = 0 ]
	[[ ${lines[0]} =~ ^tcp\ \([0-9]+\)\ \ \"TCP\ connections ]]
	contains "$output" "|-- keyword conn 0x1  \"life cycle of connections\"" \
		"\`-- state_change #" " kernel debug conn  \"a socket changed state\"" \
		"    |-- enum:state:u8 from" "    |   |-- 1 ESTABLISHED" \
		"        \`-- 12 NEW_SYN_RECV"
	# The event is enabled.
	run_elog capture -q -e tcp -- "$ELOG" list --tree tcp
	contains "$output" " kernel,enabled debug conn"
	rmmod eventlog_tcp
}

@test "list: a process cannot take the name of a kernel provider" {
	load_tcp
	for verb in emit create; do
		fails_with "'tcp/mine': the name of this provider belongs to the kernel" $verb tcp/mine
		fails_with "'user_events/mine': the name of this provider belongs to the kernel" \
			$verb user_events/mine
	done
	run_elog list -q tcp
	[ "$(grep -vc ' kernel ' <<< "$output")" = 0 ]
	rmmod eventlog_tcp
	# The name is free after the module was unloaded.
	run_elog create tcp/mine
	[ "$status" = 0 ]
	run_elog list -q tcp
	contains "$output" " persistent "
	# The module gets its name, although a persistent event has the same.
	load_tcp
	fails_with "belongs to the kernel" emit tcp/mine
	[ "$("$ELOG" list -q tcp | grep -c ' persistent .* tcp/mine')" = 1 ]
	[ "$("$ELOG" list -q tcp/state_change | grep -c ' kernel ')" = 1 ]
	"$ELOG" delete tcp/mine
	rmmod eventlog_tcp
}

@test "list: complete as JSON" {
	load_tcp
	register -k 0x30 -l warning things/thing \
		'u32 a; __data_loc char[] b; char[7] c; s64 d' a=1 b=x c=y d=-1
	run_elog list --format json
	[ "$status" = 0 ]
	# The same events as without --format.
	[ "$(wc -l <<< "$output")" = "$("$ELOG" list -q | wc -l)" ]
	check_json '
names = {(o["provider"], o["event"]): o for o in objects}
thing = names["things", "thing"]
assert thing["level"] == "warning" and thing["keyword_mask"] == "0x30"
assert thing["keywords"] == [{"value": "0x30", "name": None}]
assert thing["live"] and not thing["enabled"] and not thing["persistent"] and not thing["kernel"]
assert "schema" not in thing
assert [(f["name"], f["type"], f["size"], f["offset"]) for f in thing["fields"]] == [
    ("a", "u32", 4, 0), ("b", "string", 4, 4), ("c", "char[7]", 7, 8), ("d", "s64", 8, 15)]
assert thing["fixed_size"] == 23
change = names["tcp", "state_change"]
assert change["provider_description"].startswith("TCP connections")
assert change["description"] == "a socket changed state"
assert change["keywords"] == [{"value": "0x1", "name": "conn",
                               "description": "life cycle of connections"}]
assert change["provider_id"] == names["tcp", "opened"]["provider_id"] != thing["provider_id"]
assert len({o["descriptor"] for o in objects}) == len(objects)
assert change["id"] == 4
values = change["fields"][-1]["values"]
assert values[0] == {"value": 1, "name": "ESTABLISHED", "description": ""}, values
assert len(values) == 12'
	run_elog list --format json -v things
	check_json '
assert len(objects) == 1
assert objects[0]["schema"].startswith("eventlog 1\nprovider things\n")'
	run_elog capture -q -e tcp -- "$ELOG" list --format json tcp/opened
	[[ $output == *'"enabled":true'* ]]
	rmmod eventlog_tcp
}

@test "list: a user without rights sees its own events and says so" {
	chmod 0666 /dev/eventlog
	register others/secret
	register mine/other
	setpriv --reuid=65534 --clear-groups "$ELOG" emit --wait mine/thing 3>&- &
	background+=($!)
	wait_for eval "'$ELOG' list -q mine/thing > /dev/null 2>&1"
	unprivileged=(setpriv --reuid=65534 --clear-groups "$ELOG")

	run_apart "${unprivileged[@]}" list
	[ "$status" = 0 ]
	contains "$output" "mine/thing"
	[[ $output != *secret* && $output != *mine/other* ]]
	[ "$stderr" = "elog list: events of other users are not shown: this needs the capability CAP_PERFMON (or CAP_SYS_ADMIN)" ]
	run_apart "${unprivileged[@]}" list -q mine
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 1 ]
	[ -z "$stderr" ]
	run_apart "${unprivileged[@]}" list -q others
	[ "$status" = 1 ]
	contains "$stderr" "no provider 'others'" "events of other users are not shown"
	run_apart "${unprivileged[@]}" info -v
	[ "$status" = 0 ]
	contains "$output" ":mine/thing" "Active: 3" "Not listed: 2"
	[[ $output != *secret* ]]
	contains "$stderr" "elog info: events of other users are not shown"
	run_apart "$ELOG" info -v
	contains "$output" ":others/secret"
	[ -z "$stderr" ]
	chmod 0600 /dev/eventlog
}

@test "info: as JSON, and with captures in the background" {
	register things/thing
	run_elog info
	[ "$status" = 0 ]
	[[ $output != *"background capture"* ]]
	[[ $output =~ features\ +([a-z]+,)*sessions,leave,cgroup$'\n' ]]
	run_elog info --format json
	[ "$status" = 0 ]
	check_json '
info, = objects
assert info["abi"] == 3 and info["device"] == "/dev/eventlog", info
assert info["events"] == 1 and info["events_enabled"] == 0, info
assert "instances" in info["features"] and info["captures"] == []
assert {"sessions", "leave", "cgroup"} <= set(info["features"]), info
assert not [name for name in info["features"] if name.startswith("bit")], info
assert info["events_max"] > 0 and info["ring_bytes_max"] == 1 << 30
assert info["module"] and info["elog"] and "status" not in info'
	run_elog capture --background -o "$work/a file.elog" -e other
	[ "$status" = 0 ]
	run_elog capture --background --split "$work/dir" -e other
	[ "$status" = 0 ]
	run_elog info
	[[ $output =~ background\ capture\ +[0-9]+\ \"$work/a\ file.elog\" ]]
	[[ $output =~ background\ capture\ +[0-9]+\ \"$work/dir\" ]]
	run_elog info --format json -v
	check_json '
info, = objects
assert sorted(c["target"].rsplit("/")[-1] for c in info["captures"]) == ["a file.elog", "dir"]
for c in info["captures"]:
    assert open("/proc/%d/comm" % c["pid"]).read() == "elog\n"
assert "things/thing" in info["status"] and "Active: 1" in info["status"]'
	# A killed capture is not listed.
	pid=$("$ELOG" info | sed -n 's/^background capture *\([0-9]*\).*a file.*/\1/p')
	kill -KILL "$pid"
	wait_for eval '! "$ELOG" info | grep -q "a file.elog"'
	run_elog info
	[ "$(grep -c 'background capture' <<< "$output")" = 1 ]
	run_elog stop
	run_elog info
	[[ $output != *"background capture"* ]]
}

# refused ABI WORDS VERB ARGUMENT...: elog of that ABI version fails; WORDS is its reason, with
# V for each of the two releases.
refused()
{
	run_apart "$EVENTLOG_TOOLS/elog-abi$1" "${@:3}"
	[ "$status" = 1 ]
	[[ ${stderr%%$'\n'*} =~ ^"elog $3: "${2//V/[^ ]+}$ ]]
}

# As when the package of the module is upgraded while elog runs.
@test "elog of another ABI version is refused; a running capture keeps the loaded module" {
	start_capture -e upgrade -n 2
	run_elog emit upgrade/step
	[ "$status" = 0 ]
	run_apart rmmod eventlog
	[ "$status" = 1 ]
	[[ $stderr == *"in use"* ]]
	run_apart insmod "$EVENTLOG_KO"
	[ "$status" = 1 ]
	[[ $stderr == *"File exists"* ]]

	older='this elog V \(ABI 1\) is older than the kernel module V \(ABI 3\): update elog'
	newer='the kernel module V \(ABI 3\) is older than this elog V \(ABI 4\): update the module'
	for arguments in "capture -d 1" list "emit --strict upgrade/step"; do
		# shellcheck disable=SC2086 # several words
		refused 1 "$older" $arguments
		# shellcheck disable=SC2086 # several words
		refused 4 "$newer" $arguments
	done

	run_elog emit upgrade/step
	[ "$status" = 0 ]
	wait_elog
	[ "$status" = 0 ]
	[ "$(grep -cE ' upgrade +- +step' "$work/out")" = 2 ]
	rmmod eventlog
	insmod "$EVENTLOG_KO"
}
