# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# tap.sh - TAP for tests that are shell scripts and need no module. Sourced.
#
#	check NAME COMMAND...	one test, which passes if COMMAND succeeds; the output of
#				COMMAND is printed if it fails. set -e has no effect in
#				COMMAND: a function must return its result
#	skip NAME REASON	one test that cannot run here
#	end_checks		prints the plan; fails if a test has failed
#
# $work is a directory for files of the test. It is removed at the end.

checks=0
failed_checks=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

check()
{
	check_name=$1
	shift
	checks=$((checks + 1))
	if "$@" > "$work/why" 2>&1; then
		echo "ok $checks $check_name"
	else
		echo "not ok $checks $check_name"
		sed 's/^/# /' "$work/why" | head -n 60
		failed_checks=$((failed_checks + 1))
	fi
}

skip()
{
	checks=$((checks + 1))
	echo "ok $checks $1 # SKIP $2"
}

end_checks()
{
	echo "1..$checks"
	[ "$failed_checks" = 0 ]
}
