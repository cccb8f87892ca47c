#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# everything_test - check-everything runs the rows that it should, ends those that take too long,
# and writes the page of proofs; make coverage replaces its page only if all tests passed. With rows
# of its own, in trees of its own. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
unset "${!EVENTLOG_@}" "${!GIT_@}"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test
tree=$work/tree
page=$tree/tools/doc/proofs.md
everything=$tree/scripts/check-everything

# A tree with these rows, and nothing else.
make_tree()
{
	rm -rf "$tree"
	mkdir -p "$tree/scripts" "$tree/tools/doc"
	cp "$top"/scripts/{check-everything,coverage,part,tree-commit} "$tree/scripts"
	{
		echo "row_seconds=${limit:-2400}"
		cat
	} > "$tree/scripts/rows"
	# Without its lines.
	sed '/^| [^r]/d' "$top/tools/doc/proofs.md" > "$page"
	printf '/build/\n/ran\n' > "$tree/.gitignore"
	git -C "$tree" init -q
	commit one
}

commit()
{
	git -C "$tree" add -A && git -C "$tree" commit -q --allow-empty -m "$1"
}

# cell ROW COLUMN: of the page.
cell()
{
	awk -F ' *[|] *' -v row="$1" -v column="$2" '
		/^[|] row / { for (i = 1; i <= NF; i++) if ($i == column) found = i }
		$2 == row { print $found }' "$page"
}

# entry ROW DATE WALL: as if the row had run then.
entry()
{
	echo "| $1 | passed | abc | $2 | machine | 1 | 0 | 0 | 1 | $3 |" >> "$page"
}

# Each row adds its name to this file.
ran()
{
	tr '\n' ' ' < "$tree/ran"
}

equal()
{
	[ "$1" = "$2" ] || { echo "'$1' instead of '$2'"; return 1; }
}

three_rows()
{
	make_tree <<-'ROWS'
	row a 1 sh -c 'echo a >> ran; echo "ok 1 - x"; echo "ok 2 # SKIP y"'
	row b/one 1 sh -c 'echo b >> ran; echo "not ok 1"; exit 3'
	row b/two 2 sh -c 'echo "$EVENTLOG_PART" >> ran; echo "7 passed, 0 failed, 2 skipped"'
	ROWS
}

all_rows_run()
{
	local status=0

	three_rows
	"$everything" || status=$?
	equal "$status" 1 && equal "$(ran)" 'a b 1/2 2/2 ' &&
		equal "$(cell a result) $(cell a passed) $(cell a failed) $(cell a skipped)" \
			'passed 1 0 1' &&
		equal "$(cell b/one result) $(cell b/one failed)" 'failed (3) 1' &&
		equal "$(cell b/two-2 result) $(cell b/two-2 passed)" 'passed 7' &&
		equal "$(cell a commit)" "$(git -C "$tree" rev-parse --short=8 HEAD)" &&
		[ "$(grep -c '^| [ab]' "$page")" = 4 ] &&
		grep -q '^# What was proved' "$page" &&
		grep -q 'ok 1 - x' "$tree/build/everything/a/log"
}

rows_are_chosen()
{
	three_rows
	"$everything" --only b/two && equal "$(ran)" '1/2 2/2 ' &&
		equal "$(cell a result)" 'not run' || return 1
	rm "$tree/ran"
	"$everything" --only b && return 1
	equal "$(ran)" 'b 1/2 2/2 ' || return 1
	rm "$tree/ran"
	"$everything" --from b/two-1 && equal "$(ran)" '1/2 2/2 '
}

unknown_rows_are_refused()
{
	local option

	three_rows
	for option in '--only c' '--from b/two-3' '--for x' '--for 0' --only --for --never; do
		# shellcheck disable=SC2086 # two words
		! "$everything" $option && [ ! -e "$tree/ran" ] || return 1
	done
	git -C "$tree" diff --exit-code
}

# Rows that never ran come first, then the oldest one.
oldest_rows_are_first()
{
	make_tree <<-'ROWS'
	row new 1 sh -c 'echo new >> ran'
	row old 1 sh -c 'echo old >> ran'
	row never 1 sh -c 'echo never >> ran'
	row older 1 sh -c 'echo older >> ran'
	row long 1 sh -c 'echo long >> ran'
	ROWS
	entry new '2026-01-03 10:00' 5
	entry old '2026-01-02 10:01' 5
	entry older '2026-01-02 10:00' 5
	entry long '2026-01-01 10:00' 2300
	"$everything" --for 30 > "$work/out" && equal "$(ran)" 'never older old new ' &&
		grep -q 'did not fit into 30 minutes: 1 ' "$work/out" || return 1
	# Its line stays.
	equal "$(cell long 'date (UTC)')" '2026-01-01 10:00' &&
		! grep -q '2026-01-0[23]' "$page"
}

# One that never ran counts as 40 minutes, but one is begun.
new_rows_count_as_40_minutes()
{
	make_tree <<-'ROWS'
	row one 1 sh -c 'echo one >> ran'
	row two 1 sh -c 'echo two >> ran'
	row known 1 sh -c 'echo known >> ran'
	ROWS
	entry known '2026-01-03 10:00' 5
	"$everything" --for 30 && equal "$(ran)" 'one known '
}

# Has all ended that got the variable?
nothing_runs()
{
	for _ in {1..30}; do
		[ -n "$(grep -lzsxF "EVENTLOG_TEST=$work" /proc/[0-9]*/environ)" ] || return 0
		sleep 0.1
	done
	return 1
}

# With what it has started, also in another session and after its parent has ended.
long_rows_are_ended()
{
	limit=1 make_tree <<-'ROWS'
	row long 1 bash -c 'sleep 1234 & (setsid sleep 1234 &); echo "ok 1"; wait'
	ROWS
	! EVENTLOG_TEST=$work "$everything" || return 1
	equal "$(cell long result) $(cell long passed)" 'timed out 1' || return 1
	nothing_runs
}

a_signal_ends_the_row()
{
	local process

	make_tree <<-'ROWS'
	row long 1 bash -c '(setsid sleep 1234 &); touch ran; sleep 1234'
	row other 1 touch other
	ROWS
	EVENTLOG_TEST=$work "$everything" &
	process=$!
	until [ -e "$tree/ran" ]; do sleep 0.1; done
	kill "$process"
	! wait "$process" && nothing_runs && [ ! -e "$tree/other" ] &&
		git -C "$tree" diff --exit-code
}

a_changed_tree_is_told()
{
	local hash

	three_rows
	hash=$(git -C "$tree" rev-parse --short=8 HEAD)
	"$everything" --only a || return 1
	# The pages of results do not count, committed or not.
	equal "$(cell a commit)" "$hash" && "$everything" --only a &&
		equal "$(cell a commit)" "$hash" && commit page && "$everything" --only a &&
		equal "$(cell a commit)" "$hash" || return 1
	touch "$tree/new"
	"$everything" --only a && equal "$(cell a commit)" "$hash+" || return 1
	commit two
	"$everything" --only a &&
		equal "$(cell a commit)" "$(git -C "$tree" rev-parse --short=8 HEAD)"
}

# A row's logs do not replace those of another one.
logs_are_kept()
{
	make_tree <<-'ROWS'
	row a 2 sh -c 'echo "$EVENTLOG_PART" > "$EVENTLOG_LOGS/console"'
	ROWS
	"$everything" && equal "$(cat "$tree"/build/everything/a-[12]/logs/console)" $'1/2\n2/2'
}

# shellcheck disable=SC2016 # for others to expand
# coverage with a host part of one test that ends with STATUS, beside parts that have passed on
# COMMIT.
coverage_of()
{
	local counts=$tree/build/coverage part

	make_tree <<< ''
	echo 'choose_files() { files[host]=x; }' > "$tree/scripts/lanes"
	printf '#!/bin/sh\necho "1 %s 0 x" > "$4"\nexit %s\n' "$1" "$1" > "$tree/scripts/run-tests"
	printf '#!/bin/sh\necho "| total of $2 |"\n' > "$tree/scripts/coverage-table"
	chmod +x "$tree"/scripts/*
	printf 'tests:\n\t@mkdir -p $(OUTPUT)/obj; touch $(OUTPUT)/obj/x.gcno\n' > "$tree/tools/Makefile"
	commit two
	[ "$2" != dirty ] || touch "$tree/new"
	mkdir -p "$counts"
	for part in module tool; do
		"$tree/scripts/tree-commit" > "$counts/$part.commit"
		[ "$2" != old ] || echo old > "$counts/tool.commit"
	done
	"$tree/scripts/coverage" host
}

coverage_is_of_green_runs()
{
	local result=$tree/tools/doc/coverage.md

	coverage_of 0 now && grep -q "total of $("$tree/scripts/tree-commit")" "$result" || return 1
	! coverage_of 1 now && [ ! -e "$result" ] || return 1
	coverage_of 0 old && [ ! -e "$result" ] || return 1
	coverage_of 0 dirty && [ ! -e "$result" ]
}

check "all rows run although one fails, and the page has their results" all_rows_run
check "--only and --from take rows and targets" rows_are_chosen
check "unknown rows and options are refused" unknown_rows_are_refused
check "--for runs what was not run for longest, and nothing that does not fit" oldest_rows_are_first
check "--for counts a row that never ran as 40 minutes" new_rows_count_as_40_minutes
check "a row that takes too long is ended with its processes" long_rows_are_ended
check "a signal ends the run and what the row has started" a_signal_ends_the_row
check "the page says which commit it was, and whether files had changed" a_changed_tree_is_told
check "the logs of each row are kept" logs_are_kept
check "the page of coverage is only written if all parts passed on one commit" coverage_is_of_green_runs
end_checks
