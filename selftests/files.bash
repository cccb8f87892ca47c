# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Functions for tests of elog's files, which also need python3.

load elog.bash

setup_file()
{
	find_built
	export PRODUCER=$EVENTLOG_BUILD/selftests/produce
	# python3 in PATH may be a wrapper, which is slow.
	PYTHON=$(python3 -c 'import sys; print(sys.executable)')
	export PYTHON TZ=UTC LC_ALL=C.UTF-8
	unset NO_COLOR PAGER ELOG_PAGER LESS
}

setup()
{
	begin
	mounted=()
}

teardown()
{
	"$ELOG" stop -q 2> /dev/null || true
	end_background
	for directory in "${mounted[@]}"; do
		umount "$directory" 2> /dev/null || true
	done
}

# Emits number/step: see produce.c.
produce()
{
	"$PRODUCER" "$@"
}

# Prints the numbers of number/step in files, in the order of elog show.
numbers()
{
	"$ELOG" show -q --fields number "$@" | sed -n 's/^number=//p'
}

# are_numbers FIRST COUNT: stdin has COUNT numbers from FIRST on, each once, in any order.
are_numbers()
{
	awk -v first="$1" -v count="$2" '
		!/^(0|[1-9][0-9]*)$/ || $0 < first || $0 >= first + count || seen[$0]++ {
			if (wrong++ < 5) print "wrong, or a duplicate: " $0
		}
		END {
			if (NR != count) { print NR " numbers, not " count; wrong++ }
			exit wrong > 0
		}'
}

shows()
{
	[ "$("$ELOG" show -q "${@:2}" 2> /dev/null | grep -vc '^#')" = "$1" ]
}

exists()
{
	[ -e "$1" ]
}

small_disk()
{
	mkdir "$1"
	mount -t tmpfs -o "size=$2" none "$1"
	mounted+=("$1")
}
