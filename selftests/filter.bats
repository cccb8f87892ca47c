#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Filters of live captures: what the kernel decides, what elog decides, and what they say
# about it. Needs root and python3.

load elog.bash

fields='u32 bytes; char[8] word'

# flood SMALL LARGE: makes the script $work/flood, which emits so many small and large events.
flood()
{
	cat > "$work/flood" <<-END
		for i in 1 2 3 4; do
			"$ELOG" emit -n $(($1 / 4)) flood/one '$fields' bytes=10 word=abc
			"$ELOG" emit -n $(($2 / 4)) flood/one '$fields' bytes=2000 word=adc
		done
	END
}

@test "capture -f: a flood does not use the rings if the kernel rejects it" {
	flood 8000 20
	# Nothing reads the rings. Without the filter, they are too small.
	run_elog capture -q -o "$work/file" --per-cpu-bytes 8K -- \
		bash -c 'while_stopped $PPID sh "$0"' "$work/flood"
	[ "$status" = 2 ]
	run_elog capture -v --per-cpu-bytes 8K --fields fields -f 'bytes > 1000' -- \
		bash -c 'while_stopped $PPID sh "$0"' "$work/flood"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 20 ]
	[ "$(sort -u <<< "$output")" = 'fields={"bytes":2000,"word":"adc"}' ]
	[[ $'\n'$stderr$'\n' == *$'\nelog: filter in the kernel: bytes > 1000\n'* ]]
	[[ $stderr == *"elog: 20 events in "*", lost 0"* ]]
	[[ $stderr == *"elog: 20 records, "*" bytes placed in the rings"* ]]
	[[ $'\n'$stderr$'\n' == *$'\nelog: 8000 events rejected by the filter in the kernel\n'* ]]
}

@test "capture -f: what the kernel cannot decide is left to elog" {
	flood 400 20
	run_elog capture -v --fields fields -f 'bytes > 1000 && word ~ "a.c"' -f 'level == info' \
		-- sh "$work/flood"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 20 ]
	[[ $'\n'$stderr == *$'\nelog: filter in the kernel: bytes > 1000; in elog: '* ]]
	[[ $stderr == *'; in elog: (bytes > 1000 && word ~ "a.c") && (level == info)'$'\n'* ]]
	[[ $stderr == *"elog: 20 records, "* ]]
	[[ $stderr == *"elog: 400 events rejected by the filter in the kernel"* ]]
	# elog rejects what has passed.
	run_elog capture -v --fields fields -f 'bytes > 1000 && word ~ "a[bx]c"' -- sh "$work/flood"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 0 ]
	[[ $stderr == *"elog: 0 events in "* ]]
	[[ $stderr == *"elog: 20 records, "* ]]
}

@test "capture -f: the kernel can decide nothing" {
	flood 400 20
	for filter in 'word ~ "a[bx]c"' 'bytes < 100 || @provider == x' 'event == one && level < 3 || bytes < 100'; do
		run_elog capture -v --fields fields -f "$filter" -- sh "$work/flood"
		[ "$status" = 0 ]
		[ "$(sort -u <<< "$output")" = 'fields={"bytes":10,"word":"abc"}' ]
		[[ $'\n'$stderr == *$'\nelog: filter in elog: '"$filter"$'\n'* ]]
		[[ $stderr == *"elog: 400 events in "* ]]
		[[ $stderr == *"elog: 420 records, "* ]]
		[[ $stderr != *rejected* ]]
	done
	# Without -v, and with -q, nothing is said.
	run_elog capture -f 'bytes > 1000' -- sh "$work/flood"
	[[ $stderr != *filter* ]]
	run_elog capture -qv -f 'bytes > 1000' -- sh "$work/flood"
	[ -z "$stderr" ]
}

@test "capture -f: a field that no event has, and one of another type" {
	flood 40 20
	run_elog capture -v -f 'nosuch != 1' -- sh "$work/flood"
	[ "$status" = 0 ]
	[ -z "$output" ]
	[[ $stderr == *"elog: 0 records, "* ]]
	[[ $stderr == *"elog: 60 events rejected by the filter in the kernel, 60 of them without the fields that it compares"* ]]
	# The kernel has rejected all events, but elog says why.
	run_elog capture -v -f 'bytes > 1000 && word > 5' -- sh "$work/flood"
	[ "$status" = 1 ]
	[[ $stderr == *"-f 'bytes > 1000 && word > 5': column 24: word is char[8]: > is not supported"* ]]
	[[ $stderr == *"elog: 60 events rejected by the filter in the kernel, 20 of them without the fields that it compares"* ]]
	# Some other event has the right type.
	run_elog capture -q --fields fields -f 'word > 5' -- sh -c \
		'sh "$0"; "$ELOG" emit flood/two "u32 word" word=6' "$work/flood"
	[ "$status" = 0 ]
	[ "$output" = 'fields={"word":6}' ]
}

@test "capture -f with -n, --sample, -s, -p and several -e" {
	flood 400 20
	run_elog capture -q -n 3 --fields fields -f 'bytes > 1000' -- sh "$work/flood"
	[ "${#lines[@]}" = 3 ]
	# The sample is of the events that pass the kernel's filter.
	run_elog capture -v --sample 4 --fields fields -f 'bytes > 1000' -- sh "$work/flood"
	[ "${#lines[@]}" = 5 ]
	[[ $stderr == *"elog: 400 events rejected by the filter in the kernel"* ]]
	run_elog capture -v --sample 4 --fields fields -f 'word ~ "a.c" && bytes > 1000' \
		-f 'word ~ "[b-z]d"' -- sh "$work/flood"
	[ "${#lines[@]}" = 0 ]
	[[ $stderr == *"elog: 5 records, "* ]]
	# Events of other sessions and processes do not reach the filter.
	run_elog capture -v -s 7 --fields session,fields -f 'bytes > 1000' -- sh -c '
		sh "$0"; "$ELOG" emit -n 2 -s 7 flood/one "$1" bytes=1001 word=x
		"$ELOG" emit -n 3 -s 7 flood/one "$1" bytes=1 word=x' "$work/flood" "$fields"
	[ "${#lines[@]}" = 2 ]
	[[ $stderr == *"elog: 3 events rejected by the filter in the kernel"$'\n'* || \
	   $stderr == *"elog: 3 events rejected by the filter in the kernel" ]]
	run_elog capture -v -p 1 -f 'bytes > 1000' -- sh "$work/flood"
	[ -z "$output" ]
	[[ $stderr == *"elog: 0 events rejected by the filter in the kernel"* ]]
	# Each rule has a count.
	run_elog capture -v -e flood -e 'flood/one' -e other -f 'bytes > 1000' -- sh "$work/flood"
	[[ $stderr == *"400 events of flood rejected by the filter in the kernel"* ]]
	[[ $stderr == *"400 events of flood/one rejected by the filter in the kernel"* ]]
	[[ $stderr != *"of other"* ]]
}

@test "stat, latency: the kernel decides -f, and rejected events are counted" {
	flood 400 20
	run_elog stat -v -f 'bytes > 1000' -- sh "$work/flood"
	[ "$status" = 0 ]
	[ "$(awk '$NF == "total" { print $2 }' <<< "$output")" = 20 ]
	[[ $'\n'$stderr == *$'\nelog: filter in the kernel: bytes > 1000\n'* ]]
	[[ $stderr == *"elog: 400 events rejected by the filter in the kernel"* ]]
	run_elog stat -q --format json -f 'bytes > 1000 && word ~ "a.c"' -- sh "$work/flood"
	python3 -c '
import json, sys
summary = [json.loads(line) for line in sys.stdin][-1]
assert summary["events"] == 20 and summary["rejected"] == 400, summary' <<< "$output"
	run_elog latency -v --by pid -f 'bytes > 1000' one two -- sh "$work/flood"
	[[ $'\n'$stderr == *$'\nelog: filter in the kernel: bytes > 1000\n'* ]]
	[[ $stderr == *"elog: 400 events"*" rejected by the filter in the kernel"* ]]
}
