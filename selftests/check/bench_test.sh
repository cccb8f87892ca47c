#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bench_test - the benchmarks' rows, JSON and exit status (scripts/bench/rows.sh), and
# scripts/bench/compare. Prints TAP.
set -eu
export LC_ALL=C

tree=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$tree/scripts/tap.sh"
output=$work/out
# shellcheck source=scripts/bench/rows.sh
. "$tree/scripts/bench/rows.sh"

# In these functions set -e has no effect: tests are joined by &&.

# A benchmark of four rows and two bars; a command for each row gives it a result.
bench()
{
	bench_start sample 'a method' > /dev/null || return
	bench_row fast ns less 'the fast one'
	bench_row slow ns less 'the slow "one" \ ümlaut'
	bench_row absent ns less 'one that is not installed'
	bench_row rate events/s more 'a rate'
	eval "$1"
	bench_finish
}
all='bench_value fast 2; bench_value slow 8.5 9; bench_not_run absent "no package"
	bench_value rate 100'

holds()
{
	jq -e "$1" "$output/sample.json" > /dev/null || { cat "$output/sample.json"; return 1; }
}

writes_json()
{
	bench "$all" &&
		holds '.schema == "eventlog-bench/1" and .bench == "sample"' &&
		holds '.about.method == "a method" and (.about.kernel | length > 0)' &&
		holds '[.rows[].row] == ["fast", "slow", "absent", "rate"]' &&
		holds '.rows[1] == { row: "slow", text: "the slow \"one\" \\ ümlaut", unit: "ns",
			better: "less", value: 8.5, median: 9 }' &&
		holds '.rows[2].not_run == "no package" and (.rows[2] | has("value") | not)' &&
		[ ! -e "$output/sample.rows" ]
}

names_missing_rows()
{
	bench "$all" > "$work/text" &&
		grep -q '^the fast one .* 2 ns$' "$work/text" &&
		grep -q '^one that is not installed .*not run: no package$' "$work/text"
}

# fails COMMANDS PATTERN FILTER: the benchmark fails and says so.
fails()
{
	local status=0

	bench "$1" > "$work/text" || status=$?
	cat "$work/text"
	[ $status = 1 ] && grep -q "$2" "$work/text" && holds "$3"
}

strict_fails()
{
	local status=0

	bench_strict=true
	fails "$@" || status=$?
	bench_strict=false
	return $status
}

# shellcheck disable=SC2016 # bench() expands it
bars='bench_bar good below 0.5 "fast against slow" "$(bench_ratio fast slow)"
	bench_bar bad at-least 200 "rate" "$(bench_get rate)"
	bench_bar open at-most 1 "absent" "$(bench_get absent)"'

prints_bars()
{
	bench "$all; $bars" > "$work/text" &&
		grep -q '^bar: fast against slow: 0.235, below 0.5: met$' "$work/text" &&
		grep -q '^bar: rate: 100, at least 200: MISSED$' "$work/text" &&
		grep -q '^bar: absent: not checked: ' "$work/text" &&
		holds '[.bars[].met] == [true, false, null]' &&
		holds '.bars[2].not_checked != null'
}

unchecked_bar_is_no_miss()
{
	bench_strict=true
	bench "$all; bench_bar open at-most 1 absent \"\$(bench_get absent)\""
	local status=$?
	bench_strict=false
	return $status
}

why=ours
ends()
{
	bench_value fast 1
	[ "$why" = ours ] || return 3
	return "$1"
}

no_bad_json()
{
	local status=0

	bench "$all; bench_line value unknown 1" || status=$?
	[ $status = 2 ] && [ ! -e "$output/sample.json" ]
}

check "JSON has rows, values, reasons, and what was measured how" writes_json
check "rows without a value are named with the reason" names_missing_rows
check "a row that has no result fails the benchmark" \
	fails 'bench_value fast 2' '^a rate .*failed: no result$' \
	'.rows[3].failed == "no result" and .rows[0].value == 2'
check "so does one that failed" fails "bench_failed slow broken; ${all/bench_value slow 8.5 9/:}" \
	'failed: broken' \
	'.rows[0].value == 2'
check "so does a value that is not a number" \
	fails "${all/bench_value fast 2/bench_value fast nan}" 'the fast one' \
	'.rows[0].failed == "not a number: nan"'
check "a guest that ends early fails only its missing rows" \
	fails "bench_value slow 1; bench_guest all '*' ends 124" 'a rate .*failed: no result in time' \
	'.rows[0].value == 1 and .rows[1].value == 1 and .rows[3].failed == "no result in time"'
check "a guest that ends with an error fails even with all rows" \
	fails "$all; bench_guest rates 'rate*' ends 99" 'failed: the kernel printed a warning' \
	'[.rows[] | select(has("value"))] | length == 3'
check "bars are met, missed or not checked" prints_bars
check "a missed bar fails a strict benchmark" strict_fails "$all; $bars" MISSED '.bars | length == 3'
check "a bar that cannot be checked does not" unchecked_bar_is_no_miss
check "a result without a row writes no JSON" no_bad_json

compare()
{
	"$tree/scripts/bench/compare" "$@"
}

# Makes $work/old and $work/new once.
samples()
{
	[ ! -d "$work/new" ] || return 0
	mkdir -p "$work/old" "$work/new"
	bench "$all" && cp "$output/sample.json" "$work/old" &&
		bench 'bench_value fast 4; bench_value slow 8.6; bench_value absent 3
			bench_not_run rate "no tool"' &&
		cp "$output/sample.json" "$work/new"
}

compares()
{
	samples > /dev/null && compare "$1" "$2" > "$work/text" || return
	cat "$work/text"
	grep -q '^the fast one, ns  *2  *4  *100 %  worse$' "$work/text" &&
		grep -q '^the slow .* 8.5  *8.6  *1.2 % *$' "$work/text" &&
		grep -q '^one that is not installed, ns  *not run  *3 .*new$' "$work/text" &&
		grep -q '^a rate, events/s  *100  *not run .*lost$' "$work/text" &&
		grep -q '^  new: not run: no tool$' "$work/text"
}

more_is_better()
{
	samples > /dev/null &&
		bench "${all/rate 100/rate 150}" > /dev/null &&
		compare --strict "$work/old/sample.json" "$output/sample.json" > "$work/text" &&
		grep -q '^a rate, .* 50 %  better$' "$work/text"
}

strict_compare()
{
	! compare --strict "$work/old" "$work/new" > /dev/null &&
		! compare --strict --tolerance 200 "$work/old" "$work/new" > "$work/text" &&
		run_without_worse && compare --strict "$work/old" "$work/old" > /dev/null
}

# Within the tolerance nothing is worse, but a row is still lost.
run_without_worse()
{
	! grep worse "$work/text" && grep -q lost "$work/text"
}

warns_of_other_machine()
{
	jq '.about.kernel = "other"' "$work/old/sample.json" > "$work/other.json" &&
		compare "$work/old/sample.json" "$work/other.json" > "$work/text" &&
		grep -q '^different kernel: .* and other$' "$work/text"
}

# refuses WORD ARGUMENT...
refuses()
{
	local status=0 word=$1

	shift
	compare "$@" > "$work/text" 2>&1 || status=$?
	cat "$work/text"
	[ $status = 2 ] && grep -q -- "$word" "$work/text"
}

check "compare prints values, changes and reasons" compares "$work/old/sample.json" \
	"$work/new/sample.json"
check "also of directories" compares "$work/old" "$work/new"
check "compare knows rows of which more is better" more_is_better
check "a strict compare fails for worse and lost rows" strict_compare
check "compare names a different kernel" warns_of_other_machine
echo '{"schema": "eventlog-bench/1"' > "$work/broken.json"
jq '.bench = "second"' "$work/old/sample.json" > "$work/second.json"
mkdir "$work/empty"
check "compare refuses a file that is no result" refuses 'no results' "$work/old/sample.json" \
	"$work/broken.json"
check "compare refuses another benchmark" refuses 'different benchmarks' \
	"$work/old/sample.json" "$work/second.json"
check "compare refuses a missing file" refuses 'no such file' "$work/old" "$work/nothing"
check "compare refuses directories without a common benchmark" refuses 'in common' \
	"$work/old" "$work/empty"
check "compare refuses a file and a directory" refuses 'a directory' "$work/old" \
	"$work/old/sample.json"
check "compare needs two names" refuses usage "$work/old"
end_checks
