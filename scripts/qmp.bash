# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# qmp.bash - commands for QEMU, for scripts that start guests. Sourced. The caller sets qemu, the
# process; qmp_in and qmp_out, file descriptors of its monitor; nmi_in, which the guest reads.

# Sends a QMP command. Events may come before its answer.
monitor()
{
	local answer tries=0

	echo "{\"execute\":\"$1\"${2:+,\"arguments\":$2}}" >&"$qmp_in"
	while [ $tries -lt 20 ]; do
		if ! IFS= read -r -t 0.5 -u "$qmp_out" answer; then
			kill -0 "$qemu" 2> /dev/null || return 1
			tries=$((tries + 1))
			continue
		fi
		case $answer in
		'{"return":'*) return 0 ;;
		'{"error":'*) return 1 ;;
		esac
	done
	return 1
}

send_nmis()
{
	local count=$1 sent=0

	while [ $sent -lt "$count" ] && monitor inject-nmi; do
		sent=$((sent + 1))
	done
	echo "done $sent" >&"$nmi_in"
}
