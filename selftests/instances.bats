#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Instances with elog: creation, lists, -D and ELOG_DEVICE, captures of an instance
# that is deleted, and two containers. Needs root and the module.

load elog.bash

teardown()
{
	end_background
	delete_instances
}

@test "instances: what is wrong is refused, and nothing is created" {
	while read -r message; do
		read -r arguments
		# shellcheck disable=SC2086
		run_elog $arguments
		[ "$status" = 1 ] || { echo "$arguments: status $status"; return 1; }
		contains "$stderr" "$message" || { echo "$arguments"; return 1; }
	done <<-'END'
		invalid name of an instance 'a/b'
		create --instance a/b
		invalid name of an instance '-a'
		create --instance=-a
		no user 'nobody_at_all'
		create --instance a --owner nobody_at_all
		no group 'none_at_all'
		create --instance a --owner 1:none_at_all
		invalid mode '8'
		create --instance a --mode 8
		invalid mode '1777'
		create --instance a --mode 1777
		'event': must be one of events, definitions
		create --instance a --quota event=1
		invalid value of events
		create --instance a --quota events=0
		invalid value of ring_bytes
		create --instance a --quota events=1,ring_bytes
		'trace_bytes': must be one of
		create --instance a --quota trace_bytes=1
		the owner or a quota is not valid
		create --instance a --quota events=1G
		--trace needs --instance
		create --trace made/one
		--quota needs --instance
		create --quota events=1 made/one
		-l does not go with --instance
		create --instance a -l 1
		unexpected argument 'made/one'
		create --instance a made/one
		no instance 'a'
		delete --instance a
		an event does not go with --instance
		delete --instance a made/one
		a GLOB does not go with --instances
		list --instances made
		--tree does not go with --instances
		list --instances --tree
		there is no /dev/eventlog-a
		list -D /dev/eventlog-a
		not the device of eventlog
		list -D /dev/null
	END
	[ -z "$("$ELOG" list --instances -q)" ]
}

@test "instances: an instance is created, listed and deleted" {
	run_elog create -v --instance web --owner 1:2 --quota events=3,ring_bytes=1M,rings=5
	[ "$status" = 0 ]
	contains "$stderr" '/dev/eventlog-web is instance #'
	[ "$(stat -c '%u %g %a' /dev/eventlog-web)" = "1 2 660" ]
	run_elog create --instance web
	[ "$status" = 1 ]
	contains "$stderr" "there is an instance 'web' already"
	"$ELOG" create --instance other --mode 644
	[ "$(stat -c '%u %g %a' /dev/eventlog-other)" = "0 0 644" ]

	[ "$("$ELOG" list --instances -q | awk '{ print $2, $3, $4, $5, $6, $8 }')" = \
		"1 2 0660 0 0 web
0 0 0644 0 0 other" ]
	run_elog list --instances --format json
	contains "${lines[0]}" '"name":"web","owner":1,"group":2,"mode":"0660","events":0,'

	# The instance sees itself only, and creates none.
	[ "$("$ELOG" list -D /dev/eventlog-web --instances -q | awk '{ print $8 }')" = web ]
	run_elog create -D /dev/eventlog-web --instance third
	[ "$status" = 1 ]
	contains "$stderr" 'not that of an instance'
	[ "$("$ELOG" info -D /dev/eventlog-web --format json |
		sed 's/.*"events":{"limit":\([0-9]*\).*"rings":{"limit":\([0-9]*\).*/\1 \2/')" = "3 5" ]
	contains "$("$ELOG" info -D /dev/eventlog-web)" 'your producer rings         0 of 5, denied 0'

	run_elog delete --instance wob
	contains "$stderr" "no instance 'wob'; did you mean 'web'?"
	"$ELOG" delete --instance web
	"$ELOG" delete --instance other
	[ -z "$("$ELOG" list --instances -q)" ]
	[ ! -e /dev/eventlog-web ]
}

@test "instances: with --trace, the events are trace events" {
	grep -q ' tracefs ' /proc/mounts || mount -t tracefs tracefs /sys/kernel/tracing
	[ "$(cat /sys/module/eventlog/parameters/trace_events_max)" != 0 ]
	run_elog create --instance web-1 --trace --quota trace_bytes=1M
	[ "$status" = 0 ] || skip "this kernel has no trace events for modules"
	"$ELOG" create --instance other
	"$ELOG" create -D /dev/eventlog-web-1 shop/sold 'u32 number'
	"$ELOG" create -D /dev/eventlog-other shop/sold 'u32 number'
	wait_for [ -e /sys/kernel/tracing/events/eventlog_web_1_shop/sold/format ]
	[ ! -e /sys/kernel/tracing/events/eventlog_other_shop ]
	run_elog create --instance web_1 --trace
	[ "$status" = 1 ]
	contains "$stderr" 'the same groups'
	"$ELOG" delete --instance web-1
	trace_events_stay || wait_for [ ! -e /sys/kernel/tracing/events/eventlog_web_1_shop ]
}

@test "instances: creating one needs a capability" {
	run_apart setpriv --bounding-set=-sys_admin "$ELOG" create --instance web
	[ "$status" = 1 ]
	contains "$stderr" 'needs the capability CAP_SYS_ADMIN'
}

@test "instances: -D and ELOG_DEVICE choose the instance, also for COMMAND" {
	"$ELOG" create --instance web
	run_elog capture -q -D /dev/eventlog-web -- "$ELOG" emit a/one 'u32 number' number=7
	[ "$status" = 0 ]
	contains "$output" 'one number=7'
	# -D is stronger than ELOG_DEVICE, and the root sees nothing.
	export ELOG_DEVICE=/dev/eventlog-web
	run_elog capture -q -D /dev/eventlog -- \
		env ELOG_DEVICE=/dev/eventlog-web "$ELOG" emit a/one 'u32 number' number=8
	[ "$status" = 0 ]
	[ -z "$output" ]
	run_elog capture -q -- "$ELOG" emit a/one 'u32 number' number=9
	contains "$output" 'one number=9'
	"$ELOG" create a/kept
	[ "$("$ELOG" list -q a/kept | wc -l)" = 1 ]
	unset ELOG_DEVICE
	run_elog list -q a/kept
	[ "$status" = 1 ]
}

# Starts a capture of the instance, emits two events, deletes the instance, and waits.
capture_deleted()
{
	"$ELOG" create --instance web
	start_elog capture -D /dev/eventlog-web "$@"
	"$ELOG" emit -D /dev/eventlog-web a/one 'u32 number' number=1
	"$ELOG" emit -D /dev/eventlog-web a/one 'u32 number' number=2
	"$ELOG" delete --instance web
	wait_elog
	[ "$status" = 1 ]
	contains "$(< "$work/err")" '/dev/eventlog-web: the instance was deleted'
	contains "$(< "$work/err")" 'elog: 2 events in'
}

@test "instances: a capture gets the rest of a deleted instance and ends" {
	capture_deleted
	contains "$(< "$work/out")" 'one number=1'
	contains "$(< "$work/out")" 'one number=2'
	capture_deleted --overwrite
	contains "$(< "$work/out")" 'one number=2'
}

@test "instances: files have the rest of a deleted instance" {
	capture_deleted -o "$work/raw.elog"
	[ "$("$ELOG" show -q "$work/raw.elog" | grep -c 'one number=')" = 2 ]
	capture_deleted -o "$work/filtered.elog" -f 'number > 0'
	[ "$("$ELOG" show -q "$work/filtered.elog" | grep -c 'one number=')" = 2 ]
	capture_deleted -o "$work/two.elog" --writers 2
	[ "$("$ELOG" show -q "$work"/two*.elog | grep -c 'one number=')" = 2 ]
}

# in_mounts SCRIPT NAME COMMAND...: runs a command with user, mount, pid and network namespaces
# of its own, as user 1000. Before that, SCRIPT makes mounts as root, as runtimes do.
in_mounts()
{
	# shellcheck disable=SC2016
	unshare --mount --propagation private sh -ec '
		eval "$1"
		shift 2
		exec setpriv --reuid=1000 --regid=1000 --clear-groups \
			unshare --user --map-root-user --mount --pid --net --fork "$@"' sh "$@"
}

# container NAME COMMAND...: the same, with a /dev that has the instance as /dev/eventlog.
container()
{
	# shellcheck disable=SC2016
	in_mounts '
		mount -t tmpfs -o mode=755 dev /mnt
		for node in full null random tty urandom zero; do
			touch "/mnt/$node" && mount --bind "/dev/$node" "/mnt/$node"
		done
		touch /mnt/eventlog && mount --bind "/dev/eventlog-$2" /mnt/eventlog
		mount --move /mnt /dev' "$@"
}

# open_container NAME COMMAND...: the same, with the /dev of the host.
open_container()
{
	# shellcheck disable=SC2016
	in_mounts 'mount --bind "/dev/eventlog-$2" /dev/eventlog' "$@"
}

@test "instances: two containers with the same names do not see each other" {
	local name

	for name in web db; do
		"$ELOG" create --instance "$name" --owner 1000
		# Each container captures its own events, without a capability of the host.
		container "$name" "$ELOG" capture -q -- \
			"$ELOG" emit same/name '__data_loc char[] where' "where=$name" \
			> "$work/$name.out" 2> "$work/$name.err" &
		background+=($!)
	done
	wait_for is_done
	for name in web db; do
		[ -z "$(< "$work/$name.err")" ] || { cat "$work/$name.err"; return 1; }
		[ "$(grep -c 'name where=' "$work/$name.out")" = 1 ]
		contains "$(< "$work/$name.out")" "name where=\"$name\""
	done
	# A definition that stays in one is not in the other, nor in the root.
	container web "$ELOG" create same/kept
	[ "$(container web "$ELOG" list -q same/kept | wc -l)" = 1 ]
	run_apart container db "$ELOG" list -q same/kept
	[ "$status" = 1 ]
	run_elog list -q same/kept
	[ "$status" = 1 ]
	[ "$(container db "$ELOG" list --instances -q | awk '{ print $8 }')" = db ]
}

@test "instances: a container cannot capture another one of its owner" {
	local name

	for name in web db; do
		"$ELOG" create --instance "$name" --owner 1000
	done
	# A /dev of its own does not have the other one's device.
	run_apart container web "$ELOG" capture -q -D /dev/eventlog-db -- true
	[ "$status" = 1 ]
	contains "$stderr" 'there is no /dev/eventlog-db'
	# With the /dev of the host, it has, but not while the other one uses it.
	open_container db "$ELOG" capture -q > "$work/db.out" 2> "$work/db.err" &
	background+=($!)
	wait_for subscribes db
	run_apart open_container web "$ELOG" capture -q -D /dev/eventlog-db -- true
	[ "$status" = 1 ]
	contains "$stderr" 'needs'
	run_apart open_container web "$ELOG" capture -q -- true
	[ "$status" = 0 ]
}

# subscribes NAME: is there a capture of the instance?
subscribes()
{
	[ "$("$ELOG" list --instances -q | awk -v name="$1" '$8 == name { print $6 }')" = 1 ]
}

@test "instances: the mounted device of a deleted instance says so" {
	"$ELOG" create --instance web --owner 1000
	mkfifo "$work/go"
	# shellcheck disable=SC2016
	container web sh -c 'echo started; read -r _; exec "$0" list' "$ELOG" \
		< "$work/go" > "$work/out" 2> "$work/err" &
	background+=($!)
	exec 5> "$work/go"
	wait_for grep -q started "$work/out"
	"$ELOG" delete --instance web
	echo >&5
	exec 5>&-
	wait_for is_done
	contains "$(< "$work/err")" '/dev/eventlog: its instance was deleted'
}

# Have both containers ended?
is_done()
{
	local pid

	for pid in "${background[@]}"; do
		if kill -0 "$pid" 2> /dev/null; then
			return 1
		fi
	done
}
