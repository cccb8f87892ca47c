#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# words_test - scripts/check-words finds words that must not be used, and allows names of
# the ABI. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
mkdir -p "$work/tree/module/core" "$work/tree/tools"

# finds FILE LINE
finds()
{
	echo "$2" > "$work/tree/$1"
	"$top/scripts/check-words" "$work/tree" > "$work/out" && return 1
	rm "$work/tree/$1"
	cat "$work/out"
	[ "$(wc -l < "$work/out")" = 2 ] && grep -qF "$1:1:$2" "$work/out" &&
		grep -q '^use .* instead of ' "$work/out"
}

# allows FILE LINE
allows()
{
	echo "$2" > "$work/tree/$1"
	"$top/scripts/check-words" "$work/tree"
}

check "a variable" finds module/core/one.c '	struct wish *wish;'
check "the beginning of a name" finds tools/one.h 'int wish_count;'
check "upper case" finds README.md 'Wishes'
check "inside a word" finds tools/one.c '/* a kernel that complains */'
check "a phrase" finds module/core/two.c '/* what becomes of it */'
check "a word with a suffix" finds tools/one.h '/* troubling */'
check "the usual term" allows README.md 'Troubleshooting'
check "other words" allows module/core/told.c '/* told, dishwasher */'
end_checks
