# SPDX-License-Identifier: GPL-2.0-only
#
# tools-guest.sh - starts and ends tools that write the benchmark's events to a file in a
# guest: elog, trace-cmd, perf and LTTng. Sourced. The caller sets built, output, elog,
# lttng and why as in lttng-guest.sh, and has sourced rows.sh.
# shellcheck shell=bash disable=SC2154,SC2034
#
# Each tool has these functions; if one fails, reason has the reason:
#
#	start_TOOL KIB [OPTION...]	waits until it records, into buffers of KIB for each
#					CPU; sets process
#	stop_TOOL			ends it, and waits until its file is complete
#	lost_TOOL			sets lost, after stop_TOOL, from what the tool or the
#					kernel counts
#	recorded_TOOL			sets recorded, by reading the file
#
# written has the name of the file or directory, and event the event of drain_bench.

scratch=/tmp/tools
tracing=/sys/kernel/tracing
process=
written=
event=
lost=
recorded=
reason=

# Loads the modules; the caller calls it once.
prepare_tools()
{
	mkdir -p $scratch
	insmod "$built/eventlog.ko" &&
		insmod "$built/module/bench/eventlog_bench_events.ko" || return
	mountpoint -q $tracing || mount -t tracefs tracefs $tracing
}

# The last line that a tool printed is the reason.
give_up()
{
	reason="$1: $(tail -n 1 $scratch/log)"
	return 1
}

# Sets reason if the tool is not installed.
has_tool()
{
	case $1 in
	trace_cmd) command -v trace-cmd > /dev/null || reason='trace-cmd is not installed' ;;
	perf) perf --version > /dev/null 2>&1 || reason='perf is not installed' ;;
	lttng) has_lttng ;;
	esac
	[ -z "$reason" ]
}

lttng_loaded=
has_lttng()
{
	[ -z "$lttng_loaded" ] || return 0
	if [ -z "$lttng" ]; then
		reason=$why
	elif load_lttng > $scratch/log 2>&1; then
		lttng_loaded=yes
	else
		reason="lttng: $(tail -n 1 $scratch/log)"
	fi
}

# ---- elog ----

start_elog()
{
	local kib=$1

	shift
	event=wide written=$scratch/elog
	"$elog" capture -v --per-cpu-bytes "${kib}K" -e event_bench/wide -o "$written" "$@" \
		2> $scratch/log &
	process=$!
	bench_await 1200 grep -qs capturing $scratch/log || give_up 'elog did not start'
}

stop_elog()
{
	kill -TERM "$process"
	wait "$process" || :
	grep -q '^elog: .* lost [0-9]' $scratch/log || give_up 'elog has no summary'
}

lost_elog()
{
	lost=$(sed -n 's/^elog: [0-9]* events* in .*, lost \([0-9]*\).*/\1/p' $scratch/log)
	[ -n "$lost" ] || give_up 'elog has no summary'
}

recorded_elog()
{
	recorded=$("$elog" show -q "$written" | wc -l)
}

# ---- trace-cmd ----

tracepoint_is()
{
	[ "$(cat $tracing/events/eventlog_bench/eventlog_bench_wide/enable)" = "$1" ]
}

recorders=
has_recorders()
{
	tracepoint_is 1 && recorders=$(pgrep -P "$process")
}

# Its clock is the one of the other tools. At its end it compresses, unless an option says
# not to.
start_trace_cmd()
{
	local kib=$1

	shift
	event=trace_wide written=$scratch/trace.dat
	(cd $scratch && exec trace-cmd record -q -b "$kib" -C mono "$@" \
		-e eventlog_bench:eventlog_bench_wide -o "$written") > $scratch/log 2>&1 &
	process=$!
	bench_await 1200 has_recorders || give_up 'trace-cmd did not start'
}

stop_trace_cmd()
{
	cat $tracing/per_cpu/cpu*/stats > $scratch/stats
	kill -INT "$process"
	wait "$process" || give_up 'trace-cmd failed'
}

lost_trace_cmd()
{
	lost=$(awk '/^overrun:|^dropped events:/ { lost += $NF } END { print lost + 0 }' \
		$scratch/stats)
}

recorded_trace_cmd()
{
	recorded=$(trace-cmd report -q "$written" 2> /dev/null | grep -c eventlog_bench_wide) || :
}

# ---- perf ----

# Without -B and -N it reads all events again at its end, to look for build IDs.
start_perf()
{
	local answer=''

	event=trace_wide written=$scratch/perf.data
	rm -f $scratch/control $scratch/answer
	mkfifo $scratch/control $scratch/answer
	exec {control}<> $scratch/control {answers}<> $scratch/answer
	perf record -q -a -B -N -k mono -m $(($1 / 4)) -D -1 \
		--control "fifo:$scratch/control,$scratch/answer" \
		-e eventlog_bench:eventlog_bench_wide -o "$written" > $scratch/log 2>&1 &
	process=$!
	echo enable >&"$control"
	if bench_await 1200 read -r -t 0 -u "$answers"; then
		read -r -u "$answers" answer
	fi
	[ "$answer" = ack ] || give_up 'perf did not start'
}

stop_perf()
{
	kill -INT "$process"
	wait "$process" || :
	exec {control}>&- {answers}>&-
	[ -s "$written" ] || give_up 'perf failed'
}

# It counts records of losses, not lost events.
lost_perf()
{
	recorded_perf
	lost=$((emitted - recorded))
}

recorded_perf()
{
	recorded=$(perf report -i "$written" --stats 2> $scratch/log |
		awk '$1 == "SAMPLE" && $2 == "events:" { print $3; exit }')
	recorded=${recorded:-0}
}

# ---- LTTng ----

# The number of its sub-buffers, and whether records have pid and tid, as those of eventlog.
lttng_subbufs=4
lttng_context=

start_lttng()
{
	local kib=$1

	shift
	event=trace_wide written=$scratch/lttng
	process=''
	{
		lttng create bench --output "$written" &&
			lttng enable-channel --kernel --session bench --discard \
				--subbuf-size "$((kib / lttng_subbufs))K" \
				--num-subbuf $lttng_subbufs "$@" all &&
			lttng enable-event --kernel --session bench --channel all \
				eventlog_bench_wide &&
			{ [ -z "$lttng_context" ] ||
				lttng add-context --kernel --session bench --channel all \
					-t pid -t tid; } &&
			lttng start bench
	} > $scratch/log 2>&1 || give_up 'lttng did not start'
}

stop_lttng()
{
	lttng stop bench > $scratch/log 2>&1 &&
		lttng list bench > $scratch/list 2>> $scratch/log || give_up 'lttng failed' || return
	lttng destroy bench >> $scratch/log 2>&1 || give_up 'lttng failed'
}

lost_lttng()
{
	lost=$(awk '/Discarded events:/ { lost += $NF } END { print lost + 0 }' $scratch/list)
}

recorded_lttng()
{
	recorded=$(babeltrace2 "$written" 2> $scratch/log | grep -c eventlog_bench_wide) || :
}

# ---- all ----

# Ends what a failed step may have left, and removes the files.
clean_up()
{
	if [ -n "$process" ] && kill -0 "$process" 2> /dev/null; then
		kill -CONT "$process" 2> /dev/null || :
		kill -KILL "$process" 2> /dev/null || :
		wait "$process" 2> /dev/null || :
	fi
	[ -z "$lttng_loaded" ] || lttng destroy --all > /dev/null 2>&1 || :
	process=''
	reason=''
	rm -rf $scratch
	mkdir -p $scratch
}
