#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# faults_test - the verbs of elog that read files, the plugin of babeltrace2, and elog ship, where
# one call of the C library after the other fails: see faults.py. selftests/faults.bats does so
# with elog capture. Prints TAP.
#
# EVENTLOG_FAULTS=all: each call, not only some of them.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"
# shellcheck source=tools/elog/fleet/servers.sh
. "$top/tools/elog/fleet/servers.sh"
receiver=
trap 'servers_stop; [ -z "$receiver" ] || kill "$receiver"; rm -rf "$work"' EXIT
export FAULTS=$top/build/selftests/faults.so ELOG=$elog

mkdir export ship files
for file in spans types decoded instances traces nested 'wide 20' 'many 300'; do
	# shellcheck disable=SC2086 # with its COUNT
	set -- $file
	python3 "$top/tools/elog/export/export_file.py" "$1" "files/$1.elog" "${@:2}" || exit 1
done
for file in threads chain stacks 'machine one boot-1 5' 'machine two boot-2 10'; do
	# shellcheck disable=SC2086 # with its arguments
	set -- $file
	python3 "$top/tools/elog/output/why_file.py" "$1" "files/${2-$1}.elog" "${@:2}" || exit 1
done

python3 "$top/tools/elog/output/why_file.py" spans files/waits.elog || exit 1
if [ -e "$EVENTLOG_TOOLS/babeltrace2-plugin-elog.so" ]; then
	# babeltrace2 looks at all files in the directory.
	mkdir plugins
	cp "$EVENTLOG_TOOLS/babeltrace2-plugin-elog.so" plugins
	export BABELTRACE_PLUGIN_PATH=$work/plugins
fi
if ! "$elog" export --otlp http://127.0.0.1:1 none 2>&1 | grep -q 'built without libcurl'; then
	mkdir got
	python3 "$top/tools/elog/export/otlp_receiver.py" got > receiver.log 2>&1 &
	receiver=$!
	until [ -s got/port ]; do
		kill -0 "$receiver" || exit 1
		sleep 0.05
	done
	RECEIVER=http://127.0.0.1:$(cat got/port)
	export RECEIVER
fi

exports()
{
	(cd export && python3 "$here/export_faults.py" ../files)
}

# FAULT_AT=0: a library that breaks nothing, and counts, is no fault.
harmless()
{
	FAULT_KIND=memory FAULT_AT=0 FAULT_ERRNO=12 FAULT_LOG=log LD_PRELOAD=$FAULTS \
		"$elog" show -q files/spans.elog > shown
	"$elog" show -q files/spans.elog | cmp - shown && [ ! -e log ]
}

ships()
{
	servers_config 1
	server_start 0 &&
		(cd ship && python3 "$here/ship_faults.py" "$url" "$EVENTLOG_TOOLS/fleet_drain")
}

check "the library alone changes nothing" harmless
check "verbs that read files: each call that fails is named, or changes nothing" exports
if [ ! -e "$EVENTLOG_TOOLS/elog_nats.so" ] || ! PATH=$PATH:/usr/sbin command -v nats-server > why
then
	skip "ship" "libnats or nats-server is missing"
else
	check "ship: each call that fails is named, or changes nothing" ships
fi
end_checks
