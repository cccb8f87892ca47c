#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# uapi_test - scripts/check-uapi passes on this tree, and fails on a copy whose
# linux/eventlog.h has another layout, also one that differs only for 32-bit programs.
# Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
tree=$work/tree
header=$tree/uapi/linux/eventlog.h

passes()
{
	"$top/scripts/check-uapi" "$tree"
}

# finds LINE SCRIPT: after sed SCRIPT on the header, the check shows the line.
finds()
{
	sed -i "$2" "$header"
	cmp "$header" "$top/uapi/linux/eventlog.h" && return 1
	if passes > "$work/out" 2>&1; then
		return 1
	fi
	cat "$work/out"
	cp "$top/uapi/linux/eventlog.h" "$header"
	grep -qF -e "$1" "$work/out"
}

# The new struct has no padding on 64-bit machines only because the compiler adds it.
differs_for_32_bits()
{
	printf '%s\n' 'struct eventlog_new {' '	__u32 one;' '	unsigned long two;' '};' \
		> "$work/struct"
	sed -i "/^struct eventlog_unregister/{
		e cat '$work/struct'
	}" "$header"
	"$top/scripts/check-uapi" --update "$tree"
	grep '^struct eventlog_new 16$' "$tree/uapi/eventlog.layout"
	if passes > "$work/out" 2>&1; then
		return 1
	fi
	cat "$work/out"
	grep 'layout for 32-bit programs differs' "$work/out"
}

mkdir "$tree"
cp -r "$top/uapi" "$tree"

check "this tree" passes
check "a member that moves" finds '+	bytes 24 8 __u64' \
	'/^struct eventlog_stat {/,/^};/{
		s/64 records;/64 moved;/; s/64 bytes;/64 records;/; s/64 moved;/64 bytes;/
	}'
check "a member of another type" finds '+	pid 48 4 __s32' \
	's/^	__u32 pid;\(.*RULE_PID\)/	__s32 pid;\1/'
check "a struct that grows" finds '+	new_member ' \
	'/^struct eventlog_flush {/,/^};/s/__u32 reserved;/&\n	__u64 new_member;/
	/ASSERT_SIZE(eventlog_flush/d'
check "a request with another number" finds '+EVENTLOG_IOC_STAT 0xc004e70f' \
	's/\(EVENTLOG_IOC_STAT.*\)EVENTLOG_IOC(12)/\1EVENTLOG_IOC(15)/'
check "a flag with another value" finds '+EVENTLOG_RULE_PID 0x4' \
	's/\(EVENTLOG_RULE_PID.*\)1U << 1/\11U << 2/'
check "an enum with a new value" finds '+EVENTLOG_LOST_NEW 0x9' \
	's/^	EVENTLOG_LOST_AWAY.*/&\n	EVENTLOG_LOST_NEW = 9,/'
if echo 'int x;' | ${CC:-gcc} -m32 -fsyntax-only -x c - 2> /dev/null; then
	check "a struct with another layout for 32-bit programs" differs_for_32_bits
else
	skip "a struct with another layout for 32-bit programs" "the compiler makes none"
fi
end_checks
