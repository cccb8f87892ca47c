# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Functions for examples.bats and examples_stock.bats, which run the commands in the EXAMPLES
# sections of the manual pages of elog's verbs.
#
# In a page, each line of a literal display (.Dl, .Bd -literal) is a command, as mandoc shows
# it. It must exit with status 0, unless a comment in the line before it says something else:
#
#	.\" Test: not run, because REASON
#	.\" Test: status N, because REASON
#	.\" Test: until interrupted		SIGTERM ends it, with status 0
#	.\" Test: on a terminal			the key q ends it, with status 0
#
# The commands of a page run in one directory, which has the programs "job" and "teahouse".
# The module eventlog_tcp and a module with markers are loaded, and the events job/start,
# job/end and job/failed exist, and so does the file /var/log/eventlog/host.elog. A receiver of
# OpenTelemetry listens on port 4318.

load elog.bash

setup_file()
{
	local end

	find_built
	export TOOLS=$EVENTLOG_TOOLS MODULES=${EVENTLOG_KO%/*}/module
	export DIRECTORY=$BATS_FILE_TMPDIR/work
	insmod "$MODULES/providers/eventlog_tcp.ko"
	insmod "$MODULES/ktest/eventlog_marker_example.ko"
	mkdir "$DIRECTORY"
	ln -s "$TOOLS/examples/teahouse" "$DIRECTORY/teahouse"
	end='u32 status; u64 bytes; u64 duration; __data_loc char[] path'
	cat > "$DIRECTORY/job" <<-SCRIPT
		#!/bin/sh
		elog emit -s 0x1007 job/start '__data_loc char[] path' path=/etc
		elog emit -s 0x1007 -l warning job/end '$end' \\
			status=0 bytes=2000000 duration=2000000000 path=/etc
	SCRIPT
	chmod +x "$DIRECTORY/job"
	"$ELOG" create job/start '__data_loc char[] path'
	"$ELOG" create -l warning job/end "$end"
	"$ELOG" create -l error job/failed
	mkdir -p /var/log/eventlog
	[ -e /var/log/eventlog/host.elog ] ||
		"$ELOG" capture -q -o /var/log/eventlog/host.elog -- true
	mkdir "$BATS_FILE_TMPDIR/bin"
	ln -s "$ELOG" "$BATS_FILE_TMPDIR/bin/elog"
	"$TREE/scripts/doc-commands" --examples "$TREE"/tools/man/elog{,-*}.1 \
		> "$BATS_FILE_TMPDIR/commands"
	export PATH=$BATS_FILE_TMPDIR/bin:$PATH
	# The guest has its own network.
	ip link set lo up
	OTLP_PORT=4318 python3 "$TREE/tools/elog/export/otlp_receiver.py" "$BATS_FILE_TMPDIR" \
		3>&- > /dev/null 2>&1 &
	echo $! > "$BATS_FILE_TMPDIR/receiver"
	until [ -s "$BATS_FILE_TMPDIR/port" ]; do
		kill -0 $!
		sleep 0.1
	done
}

setup()
{
	begin
	cd "$DIRECTORY"
}

teardown_file()
{
	local name

	kill "$(cat "$BATS_FILE_TMPDIR/receiver")" || true
	"$ELOG" stop -q 2> /dev/null || true
	"$ELOG" delete --provider job start end failed
	rmmod eventlog_tcp eventlog_marker_example
	for name in proc sched; do
		[ ! -d "/sys/module/eventlog_$name" ] || rmmod "eventlog_$name"
	done
}

# Prints the commands of a page with what to do with them, "KIND<tab>COMMAND". KIND is not-run,
# interrupt, terminal, or the expected exit status.
commands_of()
{
	local page rest

	while IFS=$'\t' read -r page rest; do
		if [ "$page" = "$1" ]; then
			printf '%s\n' "$rest"
		fi
	done < "$BATS_FILE_TMPDIR/commands"
}

# elog has set its signal handlers.
catches_signals()
{
	local name value caught=0 comm

	read -r comm < "/proc/$1/comm" && [ "$comm" = elog ] || return 1
	while read -r name value; do
		[ "$name" != SigCgt: ] || caught=$((0x${value: -8}))
	done < "/proc/$1/status"
	[ $((caught & 1 << 14)) != 0 ]
}

# Runs a command as its kind says. Its output is in out. Fails unless its status is expected.
run_command()
{
	local status=0 expected=0

	case $1 in
	[0-9]*)
		expected=$1
		(set -o pipefail; eval "$2") < /dev/null > out 2>&1 3>&- || status=$?
		;;
	interrupt)
		eval "exec $2" < /dev/null > out 2>&1 3>&- &
		background+=($!)
		wait_for catches_signals $!
		kill $!
		wait $! || status=$?
		;;
	terminal)
		TERM=xterm timeout "$HANG_SECONDS" python3 "$TREE/selftests/terminal.py" 24x80 \
			'wait:^q quit' key:q exit:0 -- bash -c "$2" > out 2>&1 3>&- || status=$?
		;;
	esac
	[ "$status" = "$expected" ] && ! grep 'did you mean' out ||
		{ echo "$2: status $status"; cat out; return 1; }
}

# Runs the commands of a page.
run_page()
{
	local - kind command count=0

	set +T
	while IFS=$'\t' read -r -u 8 kind command; do
		[ "$kind" != not-run ] || continue
		run_command "$kind" "$command"
		count=$((count + 1))
	done 8< <(commands_of "$1")
	[ $count -gt 0 ]
}

server_listens()
{
	(: < /dev/tcp/127.0.0.1/4222) 2> /dev/null
}

# One server with three names, and a stream.
start_server()
{
	command -v nats-server > /dev/null || skip "there is no nats-server"
	echo "127.0.0.1 one two three" >> /etc/hosts
	rm -rf "$DIRECTORY/store"
	echo "jetstream { store_dir: \"$DIRECTORY/store\", max_file: 1TB }" > server.conf
	nats-server -a 127.0.0.1 -c server.conf > server.log 2>&1 3>&- &
	background+=($!)
	wait_for server_listens
	elog ship -q --create-stream --replicas 1 --max-age 7d --max-bytes 800G nats://one
	elog ship -q --once nats://one /var/log/eventlog/host.elog
}
