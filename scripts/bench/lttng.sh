# SPDX-License-Identifier: GPL-2.0-only
#
# lttng.sh - an LTTng session for benchmarks that compare with it. Sourced. The caller
# sets scratch to a directory, and calls lttng_finish at its end.
# shellcheck shell=sh disable=SC2154

session=eventlog-bench-$$
daemon=
created=false

# The directory of its configuration and default output.
LTTNG_HOME=$scratch
export LTTNG_HOME
# A program's events are off until the daemon has answered it.
LTTNG_UST_REGISTER_TIMEOUT=${LTTNG_UST_REGISTER_TIMEOUT:-5000}
export LTTNG_UST_REGISTER_TIMEOUT

lttng_finish()
{
	if $created; then
		lttng destroy --no-wait "$session" > "$scratch/destroy" 2>&1 || :
	fi
	if [ -n "$daemon" ]; then
		kill "$daemon" 2> /dev/null || :
		wait "$daemon" 2> /dev/null || :
	fi
}

# Runs a setup step; if it fails, prints the last line of its output.
attempt()
{
	"$@" > "$scratch/log" 2>&1 || {
		printf '%s: %s\n' "$1 $2" "$(tail -n 1 "$scratch/log")"
		return 1
	}
}

# Starts the daemon. Fails after ten seconds without an answer; then $scratch/reason has
# the reason.
lttng_daemon()
{
	if ! command -v lttng-sessiond > /dev/null || ! command -v lttng > /dev/null; then
		echo 'lttng-tools is not installed' > "$scratch/reason"
		return 1
	fi
	if lttng list > "$scratch/log" 2>&1; then
		return 0
	fi
	lttng-sessiond --no-kernel > "$scratch/daemon" 2>&1 &
	daemon=$!
	tries=100
	until lttng list > "$scratch/log" 2>&1; do
		tries=$((tries - 1))
		if [ "$tries" -eq 0 ] || ! kill -0 "$daemon" 2> /dev/null; then
			printf 'lttng-sessiond cannot run: %s\n' \
				"$(cat "$scratch/daemon" "$scratch/log" | tail -n 1)" \
				> "$scratch/reason"
			return 1
		fi
		sleep 0.1
	done
}

# lttng_discard EVENTS: records events of processes to large buffers, keeping the oldest. If it
# fails, $scratch/reason has the reason.
lttng_discard()
{
	lttng_daemon || return 1
	attempt lttng create "$session" --output="$scratch/trace" > "$scratch/reason" || return 1
	created=true
	attempt lttng enable-channel --userspace --session="$session" --discard \
		--subbuf-size=2M --num-subbuf=8 --buffers-uid ring \
		> "$scratch/reason" || return 1
	attempt lttng enable-event --userspace --session="$session" --channel=ring \
		"$1" > "$scratch/reason" || return 1
	attempt lttng start "$session" > "$scratch/reason"
}

# lttng_overwrite EVENTS: records events of processes to small buffers in overwrite mode,
# so that its consumer does nothing meanwhile. If it fails, $scratch/reason has the reason.
lttng_overwrite()
{
	lttng_daemon || return 1
	attempt lttng create "$session" --snapshot --output="$scratch/trace" \
		> "$scratch/reason" || return 1
	created=true
	attempt lttng enable-channel --userspace --session="$session" --overwrite \
		--subbuf-size=128K --num-subbuf=2 --buffers-uid ring \
		> "$scratch/reason" || return 1
	attempt lttng enable-event --userspace --session="$session" --channel=ring \
		"$1" > "$scratch/reason" || return 1
	attempt lttng start "$session" > "$scratch/reason"
}
