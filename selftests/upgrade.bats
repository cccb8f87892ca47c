#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog upgrade: the module is replaced while programs emit and captures run. Needs root and the
# module.
#
# An upgrade meets:		test
#	busy programs with rings	busy programs and a recorder, in both directions (20: upgrade_busy.bats)
#	a recorder			the same
#	modules that depend on it	the same
#	a program without libelog	a program that stays is named
#	a capture with a limit		the same
#	a COMMAND of a capture		a COMMAND goes on, and its status counts
#	a script that emits		the same
#	signals				a signal waits until the modules are loaded
#	a module that cannot be loaded	a load that fails has a way back
#	a tracer			modules that were unloaded come back
#	instances, persistent events	what would be lost prevents it
#	a build tree			modules are found where the build puts them

load upgrade.bash

@test "busy programs and a recorder, in both directions" {
	upgrade_and_back 5
}

# has_event EVENT: a program has registered it
has_event()
{
	elog list "$1" 2> /dev/null | grep -q "$1"
}

@test "a program that maps another file is no reader" {
	local library=$work/dev/eventlog/libelog.so

	mkdir -p "${library%/*}"
	cp "$EVENTLOG_TOOLS/libelog.so" "$library"
	LD_PRELOAD=$library sleep 1000 3>&- &
	background+=("$!")
	wait_for grep -q "$library" "/proc/$!/maps"
	run_elog upgrade --dry-run "$work/new/eventlog.ko"
	[ "$status" = 0 ]
	run ! grep sleep <<< "$output"
}

@test "a program that stays is named, and nothing changes" {
	local emitters=()

	start_elog capture -e 'libelog_test/*' -n 100000000 -o "$work/file"
	emit_in_background 1
	"$EVENTLOG_BUILD/selftests/produce_mapped" 0 0 mapped > /dev/null 3>&- &
	background+=("$!")
	stranger=$!
	wait_for has_event number/step
	wait_for holds_events 100 "$work/file"
	run_elog upgrade --timeout 1 "$work/new/eventlog.ko"
	[ "$status" = 1 ]
	contains "$stderr" "1 process has not given the device up; nothing was changed" \
		"produce_mapped[$stranger]"
	version_is "$release"
	# The others go on.
	kill "$stranger"
	wait_for holds_programs 1
	kill -TERM "${emitters[0]}"
	wait "${emitters[0]}"
	stop_elog INT
}

# start_command VERB...: elog with a COMMAND that writes a file after $work/go exists
start_command()
{
	local name=$1

	# shellcheck disable=SC2016
	"$ELOG" "$@" -- bash -c 'trap "exit 9" TERM
		echo $$ > "$1.started"
		until [ -e "$0/go" ]; do read -r -t 0.05 <> "$0/never"; done
		echo done > "$1.done"; exit 3' "$work" "$work/$name" > "$work/$name.out" \
		2> "$work/$name.err" 3>&- &
	background+=("$!")
	wrapped+=("$!")
	wait_for exists "$work/$name.started"
}

@test "a COMMAND goes on, and its status counts" {
	local wrapped=() ended name pid script

	mkfifo "$work/never"
	# A script that emits goes on without a message.
	# shellcheck disable=SC2016
	sh -euc 'until [ -e "$1/upgraded" ]; do "$0" emit script/goes "u32 i" i=1; done' \
		"$ELOG" "$work" 2> "$work/script.err" 3>&- &
	background+=("$!")
	script=$!
	start_command stat -o "$work/counts"
	start_command capture -e 'libelog_test/*'
	start_command latency libelog_test/a libelog_test/b
	run_elog upgrade "$work/new/eventlog.ko"
	echo "$output" "$stderr"
	[ "$status" = 0 ]
	version_is "$next"
	touch "$work/upgraded"
	wait "$script"
	[ ! -s "$work/script.err" ]
	# The results are complete before COMMAND ends.
	[ -s "$work/counts" ]
	for name in stat capture latency; do
		[ ! -e "$work/$name.done" ]
		contains "$(< "$work/$name.err")" "the kernel module is being replaced" \
			"bash goes on, its later events are missing"
	done
	touch "$work/go"
	for pid in "${wrapped[@]}"; do
		ended=0
		wait "$pid" || ended=$?
		[ "$ended" = 3 ]
	done
	[ "$(cat "$work"/{stat,capture,latency}.done)" = $'done\ndone\ndone' ]
}

# A signal goes to COMMAND, and -d ends it, as if the capture had not ended.
@test "a COMMAND without its capture still ends by a signal, or by -d" {
	local wrapped=() ended=0

	mkfifo "$work/never"
	start_command stat
	start_command capture -d 3 -e 'libelog_test/*'
	run_elog upgrade "$work/new/eventlog.ko"
	[ "$status" = 0 ]
	kill -TERM "${wrapped[0]}"
	wait "${wrapped[0]}" || ended=$?
	[ "$ended" = 9 ]
	wait "${wrapped[1]}" || true
	[ ! -e "$work/capture.done" ]
}

@test "what would be lost prevents it" {
	elog create upgrade_event 'u32 x'
	run_elog upgrade "$work/new/eventlog.ko"
	[ "$status" = 1 ]
	contains "$stderr" "there is 1 persistent event"
	elog delete upgrade_event
	elog create --instance upgrade
	run_elog upgrade "$work/new/eventlog.ko"
	[ "$status" = 1 ]
	contains "$stderr" "instances would be deleted: upgrade"
	run_elog upgrade "$work/none.ko"
	[ "$status" = 1 ]
	contains "$stderr" "there is no module $work/none.ko"
	version_is "$release"
	run_elog upgrade --force "$work/new/eventlog.ko"
	echo "$stderr"
	[ "$status" = 0 ]
	version_is "$next"
}

@test "modules are found where the build puts them" {
	local build=$work/build

	mkdir -p "$build"/module/{providers,sched}
	cp "$work/new/eventlog.ko" "$build"
	rmmod eventlog
	insmod "$work/old/eventlog.ko"
	insmod "$work/old/eventlog_proc.ko"
	insmod "$work/old/eventlog_sched.ko"
	echo > "$build/module/sched/eventlog_sched.ko"
	run_elog upgrade "$build/eventlog.ko"
	echo "$stderr"
	[ "$status" = 1 ]
	# All reasons, in elog's words only.
	contains "$stderr" "there is no module eventlog_proc" \
		"$build/module/sched/eventlog_sched.ko is not a kernel module"
	run ! grep -v '^elog' <<< "$stderr"
	version_is "$release"

	cp "$work/old/eventlog_proc.ko" "$build/module/providers"
	cp "$work/old/eventlog_sched.ko" "$build/module/sched"
	run_elog upgrade "$build/eventlog.ko"
	echo "$output" "$stderr"
	[ "$status" = 0 ]
	version_is "$next"
	[ -d /sys/module/eventlog_proc ]
	[ -d /sys/module/eventlog_sched ]
}

# install_modules DIRECTORY: modprobe and modinfo find its modules. The real programs are called,
# with another directory than /lib/modules; before, modprobe gets signals as from a terminal.
install_modules()
{
	local path program root=$work/root

	mkdir -p "$root/lib/modules/$(uname -r)" "$work/bin"
	cp "$1"/*.ko "$root/lib/modules/$(uname -r)"
	depmod -b "$root" 2> /dev/null
	for program in modprobe:-d modinfo:-b; do
		path=$(type -P "${program%:*}")
		cat > "$work/bin/${program%:*}" <<- END
			#!/bin/bash
			if [ -e "$work/signals.\${0##*/}" ]; then
				kill -s INT "\$PPID" "\$\$"
				kill -s TERM "\$PPID" "\$\$"
				kill -s HUP "\$PPID" "\$\$"
			fi
			exec "$path" ${program#*:} "$root" "\$@"
		END
		chmod +x "$work/bin/${program%:*}"
	done
	PATH=$work/bin:$PATH
}

# load_old: with parameters, and a module that depends on it
load_old()
{
	rmmod eventlog
	insmod "$work/old/eventlog.ko" rules_max=77
	insmod "$work/old/eventlog_user_events.ko" dynamic=1
}

is_loaded_as_before()
{
	[ "$(cat /sys/module/eventlog/parameters/rules_max)" = 77 ] &&
		[ "$(cat /sys/module/eventlog_user_events/parameters/dynamic)" = Y ]
}

@test "a signal waits until the modules are loaded" {
	install_modules "$work/new"
	load_old
	touch "$work/signals.modprobe"
	run_elog upgrade
	echo "$status: $output" "$stderr"
	[ "$status" -gt 128 ]
	contains "$output" "$release was replaced by $next"
	[ -d /sys/module/eventlog_user_events ]
	version_is "$next"
}

@test "a load that fails has a way back" {
	# It needs a symbol that the kernel does not have.
	LC_ALL=C sed -i 's/\x00misc_register\x00/\x00misc_registex\x00/g' "$work/new/eventlog.ko"
	load_old
	run_elog upgrade "$work/new/eventlog.ko"
	echo "$stderr"
	[ "$status" = 1 ]
	contains "$stderr" "cannot load $work/new/eventlog.ko" "modprobe eventlog has failed" \
		"no version of the module is loaded"
	[ ! -d /sys/module/eventlog ]

	insmod "$work/old/eventlog.ko" rules_max=77
	insmod "$work/old/eventlog_user_events.ko" dynamic=1
	install_modules "$work/old"
	run_elog upgrade "$work/new/eventlog.ko"
	echo "$stderr"
	[ "$status" = 1 ]
	contains "$stderr" "cannot load $work/new/eventlog.ko" \
		"version $release of the module runs now"
	is_loaded_as_before
	version_is "$release"
}

# A trigger that enables an event of eventlog.ko keeps that module.
trigger=/sys/kernel/tracing/events/sched/sched_process_exec/trigger
action=enable_event:eventlog:eventlog_emit

untrace()
{
	echo "!$action" > "$trigger"
}

@test "modules that were unloaded come back" {
	[ -e "$trigger" ] || mount -t tracefs none /sys/kernel/tracing
	load_old
	install_modules "$work/old"
	# It comes from there, not from beside the new file.
	LC_ALL=C sed -i 's/\x00dynamic\x00/\x00dynamik\x00/g' "$work/new/eventlog_user_events.ko"
	echo "$action" > "$trigger"
	run_elog upgrade "$work/new/eventlog.ko"
	echo "$stderr"
	[ "$status" = 1 ]
	contains "$stderr" "cannot unload eventlog" "version $release of the module still runs"
	run ! grep "nothing was changed" <<< "$stderr"
	is_loaded_as_before
	version_is "$release"
}

@test "only root" {
	run_apart setpriv --reuid 65534 --regid 65534 --clear-groups "$ELOG" upgrade
	[ "$status" = 1 ]
	contains "$stderr" "only root"
}
