# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# rows.sh - rows, bars and JSON of the benchmarks. Sourced by the benchmarks and by their
# parts that run in a guest. The caller sets tree and output; output is the directory of
# the results.
#
# A benchmark declares all its rows first. Then it gives each row a value, or the reason why
# the row did not run or failed. So no row disappears if a guest ends early. Guests and
# programs (bench_rows.c) append these lines to a file; tabs separate the words. rows.jq
# converts the file to JSON, build/bench/NAME.json:
#
#	about KEY TEXT
#	row KEY UNIT less|more TEXT		what is better, less or more
#	value KEY NUMBER [MEDIAN]
#	not_run KEY REASON
#	failed KEY REASON
#	bar KEY RELATION LIMIT NUMBER|- TEXT	-: the value is not known

bench_strict=false

bench_line()
{
	local word line=$1

	shift
	for word in "$@"; do
		line+=$'\t'${word//[$'\t\n\r']/ }
	done
	printf '%s\n' "$line" >> "$bench_rows"
}

# bench_start NAME METHOD: starts the results of a benchmark on the host.
bench_start()
{
	bench_name=$1
	bench_rows=$output/$1.rows
	mkdir -p "$output"
	if ! command -v jq > /dev/null; then
		echo "$1: jq is missing: run scripts/setup bench" >&2
		exit 2
	fi
	rm -f "$output/$1.json"
	: > "$bench_rows"
	bench_line about bench "$1"
	bench_line about method "$2"
	bench_line about machine "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo |
		head -n 1), $(nproc) CPUs"
	bench_line about kernel "$(uname -sr)"
	bench_line about version "$(git -C "$tree" describe --always --dirty 2> /dev/null ||
		echo unknown)"
}

# bench_join FILE: continues these results in a guest.
bench_join()
{
	bench_rows=$1
}

bench_about()
{
	bench_line about "$@"
}

# bench_row KEY UNIT less|more TEXT: declares a row.
bench_row()
{
	bench_line row "$@"
}

# Prints the keys of the declared rows that match a pattern; with a second argument, only
# those without a result.
bench_keys()
{
	local key

	awk -F '\t' -v open="${2:-}" '
		$1 == "row" { keys[++count] = $2 }
		$1 == "value" || $1 == "not_run" || $1 == "failed" { done[$2] = 1 }
		END { for (i = 1; i <= count; i++)
			if (!open || !done[keys[i]])
				print keys[i] }' "$bench_rows" |
	while read -r key; do
		# shellcheck disable=SC2053 # a pattern
		[[ $key != $1 ]] || echo "$key"
	done
}

# Prints a member of a declared row: 3 the unit, 5 the text.
bench_member()
{
	awk -F '\t' -v key="$1" -v member="$2" \
		'$1 == "row" && $2 == key { print $member; exit }' "$bench_rows"
}

# bench_value KEY NUMBER [MEDIAN]: the result of a row.
bench_value()
{
	bench_line value "$@"
	printf '%-58s %12s %s\n' "$(bench_member "$1" 5)" "$2" "$(bench_member "$1" 3)"
}

# bench_without KIND PATTERN REASON
bench_without()
{
	local key

	for key in $(bench_keys "$2" open); do
		bench_line "$1" "$key" "$3"
		printf '%-58s %s: %s\n' "$(bench_member "$key" 5)" "${1/_/ }" "$3"
	done
}

# bench_not_run PATTERN REASON: the rows that match and have no result cannot run here.
bench_not_run()
{
	bench_without not_run "$@"
}

# bench_failed PATTERN REASON: the same, but they should have run.
bench_failed()
{
	bench_without failed "$@"
}

# bench_get KEY: prints the value of a row, or nothing.
bench_get()
{
	awk -F '\t' -v key="$1" '$1 == "value" && $2 == key { value = $3 }
		END { if (value != "") print value }' "$bench_rows"
}

# bench_bar KEY below|at-most|at-least LIMIT TEXT [NUMBER]: a goal. Without a number it
# cannot be checked, which is not a miss.
bench_bar()
{
	bench_line bar "$1" "$2" "$3" "${5:--}" "$4"
}

# bench_ratio ROW ROW: prints the first row's value divided by the second's, or nothing.
bench_ratio()
{
	awk -v one="$(bench_get "$1")" -v other="$(bench_get "$2")" \
		'BEGIN { if (one != "" && other > 0) printf "%.3f\n", one / other }'
}

# bench_guest NAME PATTERN COMMAND...: runs a guest or a program, which gives the rows that
# match their results. If it ends early, the rows without a result have failed.
bench_guest()
{
	# If the command is a function, these must not hide its variables.
	local bench_run=$1 bench_pattern=$2 bench_status=0 bench_why

	shift 2
	"$@" || bench_status=$?
	case $bench_status in
	0) bench_why='no result' ;;
	98) bench_why='the guest crashed' ;;
	99) bench_why='the kernel printed a warning' ;;
	124) bench_why='no result in time' ;;
	*) bench_why="ended with status $bench_status" ;;
	esac
	bench_failed "$bench_pattern" "$bench_why"
	[ $bench_status != 0 ] || return 0
	# Its results may be wrong, even if there are all of them.
	bench_row "end_of_$bench_run" - less "the whole run of $bench_run"
	bench_failed "end_of_$bench_run" "$bench_why"
}

# bench_finish: writes the JSON, prints the bars. Its status is that of the benchmark: 1 if
# a row failed, or if a bar was missed and --strict was given.
bench_finish()
{
	local result=$output/$bench_name.json

	bench_failed '*' 'no result'
	jq -R -n -f "$tree/scripts/bench/rows.jq" "$bench_rows" > "$result.new" || return 2
	mv "$result.new" "$result"
	rm -f "$bench_rows"
	jq -r '.bars[] | "bar: \(.text): " + if has("value") then
		"\(.value), \(.relation | sub("-"; " ")) \(.limit): " +
			if .met then "met" else "MISSED" end
		else "not checked: a row has no value" end' "$result"
	jq -e --argjson strict $bench_strict '(any(.rows[]; has("failed")) or
		$strict and any(.bars[]; .met == false)) | not' "$result" > /dev/null
}

# bench_await TRIES COMMAND...: waits until the command succeeds, 20 times a second. Fails
# if $process has ended, or after so many tries: time runs ahead in a guest that counts
# instructions and waits for its files.
bench_await()
{
	local tries=$1

	shift
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] && kill -0 "${process:-$$}" 2> /dev/null || return 1
		sleep 0.05
	done
}

# Succeeds if the row is not left out by EVENTLOG_BENCH_ONLY, a pattern, which scripts/vm
# also gives to guests.
bench_chosen()
{
	# shellcheck disable=SC2053 # a pattern
	[[ $1 == ${EVENTLOG_BENCH_ONLY:-*} ]]
}

# bench_arguments ARGUMENT...: handles those of all benchmarks; usage() prints the help.
# Others stay in bench_rest.
bench_arguments()
{
	bench_rest=()
	while [ $# -gt 0 ]; do
		case $1 in
		-h|--help) usage; exit 0 ;;
		--strict) bench_strict=true ;;
		*) bench_rest+=("$1") ;;
		esac
		shift
	done
}
