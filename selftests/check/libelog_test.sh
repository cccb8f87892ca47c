#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# libelog_test - scripts/check-libelog passes for libelog.so, and finds each kind of
# difference from a changed description of it. Prints TAP.
#
# EVENTLOG_TOOLS is the output of make -C tools (default: build/tools).
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
library=${EVENTLOG_TOOLS:-$top/build/tools}/libelog.so
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"

if ! command -v abidiff > /dev/null; then
	echo "1..0 # SKIP abidiff is missing"
	exit
fi

passes()
{
	"$top/scripts/check-libelog" "$library" "${1:-$top/tools/libelog/libelog.abi}"
}

# finds LINE SCRIPT: with a description that sed SCRIPT has changed, the check shows the line.
finds()
{
	sed "$2" "$top/tools/libelog/libelog.abi" > "$work/changed.abi"
	cmp "$work/changed.abi" "$top/tools/libelog/libelog.abi" && return 1
	if passes "$work/changed.abi" > "$work/out" 2>&1; then
		return 1
	fi
	cat "$work/out"
	grep -qF -e "$1" "$work/out"
}

check "this library" passes
check "a function that is gone" finds "elog_level_gone" 's/elog_level_name/elog_level_gone/g'
check "a function that was added" finds "1 Added function" \
	"/elf-symbol name='elog_level_name'/d
	/function-decl name='elog_level_name'/,/\/function-decl/d"
check "a member that moved" finds "'uint32_t flags' offset changed" \
	"/class-decl name='elog_rule'/,/\/class-decl/s/in-bits='32'/in-bits='48'/"
check "a struct that grew" finds "type size changed from 1088 to 1024" \
	"/class-decl name='elog_item'/s/size-in-bits='1024'/size-in-bits='1088'/"
check "a result of another type" finds "return type changed" \
	"/function-decl name='elog_level_parse'/,/\/function-decl/{
		s/return type-id='[0-9a-f]*'/return type-id='48b5725f'/
	}"
check "another symbol version" finds "elog_level_name@@LIBELOG_OTHER" \
	"s/\(elog_level_name' version='LIBELOG_\)[0-9.]*/\1OTHER/
	s/\(elog_level_name@@LIBELOG_\)[0-9.]*/\1OTHER/"
end_checks
