#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# --cgroup and --unit, with the kernel module. Needs root and cgroups of version 2.
#
# There is no systemd: directories with the names that it uses are units. What meets what:
#
#			-e -s -p	a file	--background	--instances	COMMAND
#	--cgroup	capture		all	capture		capture		capture
#	--unit		stat		all	-		-		-
# selftests/cgroup_test.c tests the rules in the kernel.

load files.bash

setup()
{
	begin
	mounted=()
	made=()
	TOP=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
	if [ -z "$TOP" ]; then
		TOP=/sys/fs/cgroup
		mount -t cgroup2 none "$TOP" || skip "no cgroup2"
		mounted+=("$TOP")
	fi
	make system.slice
}

teardown()
{
	local i

	"$ELOG" stop -q 2> /dev/null || true
	end_background
	for ((i = ${#made[@]} - 1; i >= 0; i--)); do
		wait_for rmdir "${made[i]}"
	done
	[ "${#mounted[@]}" = 0 ] || umount "${mounted[0]}"
}

# make CGROUP: below the top; an existing one is left there at the end.
make()
{
	[ ! -d "$TOP/$1" ] || return 0
	mkdir "$TOP/$1"
	made+=("$TOP/$1")
}

# inside CGROUP COMMAND...
inside()
{
	# shellcheck disable=SC2016 # for the other shell
	bash -c 'echo 0 > "$0/cgroup.procs" && "$@"' "$TOP/$1" "${@:2}"
}

emit_three()
{
	inside system.slice "$ELOG" emit where/at 'u32 i' i=1
	inside system.slice/web.service "$ELOG" emit where/at 'u32 i' i=2
	inside system.slice/web.service/worker "$ELOG" emit where/at 'u32 i' i=3
}

@test "--cgroup, --unit: a process that lives shortly, and those below" {
	local spelling

	make system.slice/web.service
	make system.slice/web.service/worker
	for spelling in "--unit web" "--unit web.service" "--cgroup system.slice/web.service" \
		"--cgroup /system.slice/web.service" "--cgroup $TOP/system.slice/web.service/"; do
		# shellcheck disable=SC2086 # an option is two words
		start_capture --fields i $spelling
		emit_three
		stop_capture INT
		[ "$status" = 0 ]
		[ "$(< "$work/out")" = $'i=2\ni=3' ]
	done
	start_capture --fields i --cgroup system.slice/web.service/worker --cgroup system.slice -e where
	emit_three
	stop_capture INT
	[ "$(< "$work/out")" = $'i=1\ni=2\ni=3' ]
	# Also into a file, in the background, and counted.
	"$ELOG" capture --background -q -o "$work/file" --cgroup system.slice/web.service/worker 2> /dev/null
	emit_three
	run_elog stop
	[ "$status" = 0 ]
	[ "$("$ELOG" show -q --fields i "$work/file")" = i=3 ]
	start_elog stat --unit web --format csv -q
	emit_three
	stop_elog INT
	[ "$status" = 0 ]
	grep -q '^where/at,info,2,' "$work/out" || { cat "$work/out"; false; }
}

@test "--cgroup: with -e, -s, -p, --instances and COMMAND" {
	make system.slice/web.service
	run_elog capture -q --fields i --cgroup system.slice/web.service -e where/at -s 7 -- bash -c '
		echo 0 > "$0/system.slice/web.service/cgroup.procs"
		"$ELOG" emit -s 7 where/at "u32 i" i=1
		"$ELOG" emit -s 8 where/at "u32 i" i=2
		"$ELOG" emit -s 7 where/not "u32 i" i=3
		echo 0 > "$0/system.slice/cgroup.procs"
		"$ELOG" emit -s 7 where/at "u32 i" i=4' "$TOP"
	[ "$status" = 0 ]
	[ "$output" = i=1 ]
	run_elog capture -q --cgroup system.slice/web.service -p 1 -- "$ELOG" emit where/at
	[ "$status" = 0 ]
	[ -z "$output" ]
	"$ELOG" create --instance unit.test
	run_elog capture -q --fields instance,i --instances 'unit.*' --cgroup system.slice -- bash -c '
		echo 0 > "$0/system.slice/cgroup.procs"
		"$ELOG" emit -D /dev/eventlog-unit.test where/at "u32 i" i=5
		echo 0 > "$0/cgroup.procs"
		"$ELOG" emit -D /dev/eventlog-unit.test where/at "u32 i" i=6' "$TOP"
	"$ELOG" delete --instance unit.test
	contains "$output" i=5
	[[ $output != *i=6* ]]
}

@test "--unit: where it runs, and where it does not" {
	make user.slice
	make user.slice/user-1.slice
	make user.slice/user-1.slice/player.service
	start_capture --fields i --unit player
	inside user.slice/user-1.slice/player.service "$ELOG" emit where/at 'u32 i' i=1
	stop_capture INT
	[ "$(< "$work/out")" = i=1 ]
	make user.slice/user-2.slice
	make user.slice/user-2.slice/player.service
	fails_with "2 units are called 'player.service': choose with --cgroup" capture --unit player
	contains "$stderr" "--cgroup $TOP/user.slice/user-2.slice/player.service"
	fails_with "the unit 'absent.service' does not run: no cgroup has this name" \
		capture --unit absent
	fails_with "the unit 'absent.slice' does not run" stat --unit absent.slice
	fails_with "no cgroup 'absent' in $TOP" stat --cgroup absent
	fails_with "$TOP/system.slice/cgroup.procs: " capture --cgroup system.slice/cgroup.procs
	fails_with "--unit: invalid unit ''" capture --unit ""
	# Files do not state cgroups.
	"$ELOG" capture -q -o "$work/file" -- "$ELOG" emit where/at
	for verb in stat "latency a b"; do
		# shellcheck disable=SC2086
		fails_with "--cgroup and --unit are for live events: files do not state cgroups" \
			$verb --unit web "$work/file"
	done
}
