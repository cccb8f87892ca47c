#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# grammar_test - selftests/fuzz/abi.grammar describes all of linux/eventlog.h: every request,
# struct, member and constant, with the same offsets and sizes; and eventlog.txt is what
# grammar.awk makes of it. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
fuzz=$top/selftests/fuzz
cc=${CC:-gcc}

# make_of FORM [GRAMMAR]
make_of()
{
	awk -v output="$1" -f "$fuzz/grammar.awk" "${2:-$fuzz/abi.grammar}"
}

# Prints what of the table of the header, uapi/eventlog.layout, the grammar lacks.
missing()
{
	make_of names "$1" | awk '
		FNR == NR && $1 == "struct" { bytes[$2] = $3 }
		FNR == NR && $1 == "member" { member[$2, $3] = $4 " " $5 }
		FNR == NR && $1 == "constant" { constant[$2] = 1 }
		FNR == NR && $1 == "other" { gsub(/\*/, ".*", $2); others[++count] = "^" $2 "$" }
		FNR == NR && $1 == "result" { result[$2] = 1 }
		FNR == NR { next }
		/^struct / {
			struct = $2
			if (!(struct in bytes) && !(struct in result))
				print "struct", struct
			else if (struct in bytes && bytes[struct] != $3)
				print "struct", struct, "has", $3, "bytes"
			next
		}
		/^\t/ {
			name = $1
			if (struct in bytes && member[struct, name] != $2 " " $3)
				print "member", struct "." name, $2, $3
			next
		}
		/^EVENTLOG_/ {
			if ($1 in constant)
				next
			for (i = 1; i <= count; i++)
				if ($1 ~ others[i])
					next
			print "constant", $1
		}
	' - "$top/uapi/eventlog.layout"
}

complete()
{
	missing "$fuzz/abi.grammar" > "$work/missing"
	cat "$work/missing"
	[ ! -s "$work/missing" ]
}

# The compiler knows the structs of user_events as well, which have no table.
compiles()
{
	{
		echo '#include <stddef.h>'
		echo '#include <linux/types.h>'
		echo 'typedef __u8 u8; typedef __u16 u16; typedef __u32 u32; typedef __u64 u64;'
		echo '#define __packed __attribute__((packed))'
		echo '#include <linux/eventlog.h>'
		echo '#include "user_events/abi.h"'
		make_of claims
	} > "$work/claims.c"
	"$cc" -std=gnu11 -fsyntax-only -I"$top/uapi" -I"$top/module" "$work/claims.c"
}

# Other constants must not hide what a call takes: no request matches a pattern of "other".
requests_have_calls()
{
	grep -o '^EVENTLOG_IOC_[A-Z_]*' "$top/uapi/eventlog.layout" |
		grep -vx EVENTLOG_IOC_TYPE > "$work/requests"
	make_of names | sed -n 's/^constant //p' > "$work/constants"
	! grep -vxFf "$work/constants" "$work/requests"
}

# finds LINE SCRIPT: after sed SCRIPT on the grammar, LINE is missing.
finds()
{
	sed "$2" "$fuzz/abi.grammar" > "$work/grammar"
	! cmp -s "$work/grammar" "$fuzz/abi.grammar" || return 1
	missing "$work/grammar" > "$work/missing"
	cat "$work/missing"
	grep -qx -e "$1" "$work/missing"
}

is_not_understood()
{
	sed '/^struct eventlog_stat/,/^$/s/4 size/4 szie/' "$fuzz/abi.grammar" > "$work/grammar"
	if make_of tables "$work/grammar" > /dev/null 2> "$work/out"; then
		return 1
	fi
	cat "$work/out"
	grep -q 'no kind szie' "$work/out"
}

is_committed()
{
	make_of syz | diff -u "$fuzz/eventlog.txt" -
}

check "the grammar has all of linux/eventlog.h" complete
check "the compiler finds the same structs" compiles
check "each request has a call" requests_have_calls
check "a member that is missing" finds 'member eventlog_rule.sample 56 4' \
	'/^struct eventlog_rule /,/^$/{ /^	sample/d }'
check "a member that has moved" finds 'member eventlog_attach.ring 8 4' \
	'/^struct eventlog_attach /,/^$/s/ring 8 4/ring 12 4/'
check "a struct that is missing" finds 'struct eventlog_missed' \
	'/^call missed/d; /^struct eventlog_missed/,/^$/d'
check "a flag that is missing" finds 'constant EVENTLOG_RULE_CGROUP' 's/ EVENTLOG_RULE_CGROUP//'
check "a kind that does not exist" is_not_understood
check "eventlog.txt was made of the grammar" is_committed
end_checks
