#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# unstable_test - scripts/check-unstable finds a test whose result differs between runs, and leaves
# no busy loop behind. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"

# What it starts runs in a tree of its own.
mkdir -p "$work/scripts"
cp "$top/scripts/check-unstable" "$work/scripts/"

# Results of a run, whose number is that of the lines in the file runs.
cat > "$work/check" <<'SOURCE'
#!/bin/bash
loops=$(ps -A -o args= | grep -c '[w]hile :; do :; done')
echo "$EVENTLOG_AGAIN ${EVENTLOG_AT_ONCE:-many} $loops" >> "$DIRECTORY/runs"
[ ! -e "$DIRECTORY/hang" ] || exec sleep 1000
mkdir -p "$DIRECTORY/results"
run=$(wc -l < "$DIRECTORY/runs")
{
	echo "# steady_test"
	echo "ok 1 fine"
	echo "# steady_test: 1 passed, 0 failed, 0 skipped (1 s)"
	echo "# shaky_test"
	echo "ok 1 sure"
	[ "$run" != 2 ] || echo "not ok 2 lucky"
	echo "# shaky_test: 1 passed, 1 failed, 0 skipped (1 s)"
} > "$DIRECTORY/results/tool.log"
echo "1 0 0 steady_test 1" > "$DIRECTORY/results/tool.results"
echo "1 $((run == 2)) 0 shaky_test 1" >> "$DIRECTORY/results/tool.results"
[ "$run" = 3 ] || echo "1 0 0 last_test 1" >> "$DIRECTORY/results/tool.results"
SOURCE
chmod 755 "$work/check"
export DIRECTORY=$work EVENTLOG_CHECK=$work/check EVENTLOG_CHECK_RESULTS=$work/results
unset EVENTLOG_AT_ONCE EVENTLOG_AGAIN

differing()
{
	! "$work/scripts/check-unstable" --runs 2 > "$work/out" || return 1
	cat "$work/out" "$work/runs"
}

row()
{
	tr -s ' ' < "$work/out" | sed 's/ *$//' | grep -qxF -- "$1"
}

# A busy loop of another program may run, too.
loops()
{
	awk -v cpus="$(nproc)" '
		$2 == "many" && $3 < cpus { bad = 1 }
		$2 == 1 && $3 < 1 { bad = 1 }
		END { exit bad || NR != 4 }' "$work/runs"
}

no_loop_is_left()
{
	local place

	for place in $(grep -slzxF "DIRECTORY=$work" /proc/[0-9]*/environ); do
		! tr '\0' ' ' < "${place%environ}cmdline" | grep '^bash -c while :' || return 1
	done 2> /dev/null
}

check "it fails if a file has failed" differing
check "a file that failed once is in the table" row "shaky_test tool 2 0 1 1"
check "so is the case" row " lucky"
check "a file that a run has not reached is in the table" row "last_test tool 1 1 2 0"
check "a file that passed always is not" test "$(grep -c steady "$work/out")" = 0
check "the files are counted" row "1 passed, 2 failed"
check "busy loops run beside the tests" loops
check "none of them is left" no_loop_is_left

# Ends it while a test hangs.
interrupted()
{
	local process status=0

	: > "$work/hang"
	: > "$work/runs"
	"$work/scripts/check-unstable" > "$work/out" 2>&1 &
	process=$!
	until [ -s "$work/runs" ]; do
		sleep 0.05
	done
	kill -TERM "$process"
	wait "$process" || status=$?
	[ $status = 143 ]
}

check "it can be ended" interrupted
check "then no busy loop is left, either" no_loop_is_left
# shellcheck disable=SC2016 # for the other shell
check "wrong usage fails" sh -c '"$0" --runs 0; [ $? = 2 ]' "$work/scripts/check-unstable"
end_checks
