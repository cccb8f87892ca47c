#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Demonstrates elog why: requests that wait for known causes, and what elog finds.
#
# Needs root and a kernel that the modules were built for. make demo-why runs it in a guest.
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
build=${EVENTLOG_BUILD:-$here/../../build}
module=${EVENTLOG_KO:-$build/$(uname -r)/eventlog.ko}
elog=$build/tools/elog
work=$(mktemp -d)

cleanup()
{
	trap - EXIT
	if [ -n "${loop:-}" ]; then
		dmsetup remove --noudevsync why_demo 2> /dev/null || true
		losetup -d "$loop" || true
	fi
	[ ! -d /sys/module/eventlog_sched ] || rmmod eventlog_sched
	rm -rf "$work"
}
trap cleanup EXIT

# A disk that answers 20 ms late, where device-mapper can make one.
slow_disk()
{
	command -v dmsetup > /dev/null && modprobe -aq loop dm-mod dm-delay || return 0
	truncate -s 64M "$work/disk"
	loop=$(losetup -f --show "$work/disk") || return 0
	DM_DISABLE_UDEV=1 dmsetup create why_demo --table "0 131072 delay $loop 0 20" \
		--noudevsync || return 0
	for disk in /dev/mapper/why_demo /dev/dm-0; do
		[ ! -b "$disk" ] || return 0
	done
}

[ -d /sys/module/eventlog ] || insmod "$module"
insmod "$(dirname "$module")/module/sched/eventlog_sched.ko"
disk=
slow_disk
"$elog" capture -q -e sched -e waits -o "$work/waits.elog" -- \
	"$build/tools/examples/waits" 3 ${disk:+"$disk"} > "$work/truth"

# The last round: the first one also reads the program from the disk.
tac "$work/truth" | awk -F '\t' '!seen[$2]++' | tac > "$work/last"
while IFS=$'\t' read -r session cause _; do
	printf '\nA request that waits: %s\n' "$cause"
	"$elog" why -q "waits:$session" "$work/waits.elog"
done < "$work/last"
echo
"$elog" latency -q --why --group cause request_start request_end "$work/waits.elog"
