#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# layers_test - scripts/check-layers passes on this tree, and fails on a copy of it with an
# include that goes up, a file that is too long, or a folder without a short README. The
# picture of the folders in tools/doc is up to date. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
tree=$work/tree

passes()
{
	"$top/scripts/check-layers" "$tree"
}

# finds LINE: nothing but this line is new.
finds()
{
	passes > "$work/after" && return 1
	diff "$work/before" "$work/after" | tee "$work/new" | sed -n 's/^> //p' > "$work/added"
	cat "$work/new"
	[ "$(grep -c '^[<>]' "$work/new")" = 1 ] && grep -F "$1" "$work/added"
}

finds_nothing_new()
{
	passes > "$work/after" || true
	diff "$work/before" "$work/after"
}

# include_fails NAME FILE HEADER PATH: a new file with one include, of the new file PATH.
include_fails()
{
	printf '\n#include %s\n' "$3" > "$tree/$2"
	[ "$4" = missing ] || touch "$tree/$4"
	message="${2%/*} may not include $4, only: "
	case $4 in
	missing) message="not found in this tree" ;;
	*/test_new.h) message="$4 belongs to tests" ;;
	esac
	check "$1" finds "$2:2: #include $3: "
	check "$1: the reason" grep -F "$message" "$work/added"
	rm -f "$tree/$2" "$tree/$4"
}

mkdir "$tree"
for folder in uapi include module tools; do
	cp -r "$top/$folder" "$tree"
done

check "this tree" passes
passes > "$work/before" || true

cases='
module/core       "user/new.h"                  module/user/new.h
module/core       <user/new.h>                  module/user/new.h
module/core       "new_up.h"                    module/new_up.h
module/ring       "../core/new.h"               module/core/new.h
module/trace      "marker/new.h"                module/marker/new.h
module/user       "trace/new.h"                 module/trace/new.h
module/providers  "core/new.h"                  module/core/new.h
module            "../tools/elog/util/new.h"    tools/elog/util/new.h
tools/libelog/util      "format/new.h"          tools/libelog/format/new.h
tools/libelog/format    "consumer/new.h"        tools/libelog/consumer/new.h
tools/libelog/consumer  "producer/new.h"        tools/libelog/producer/new.h
tools/libelog/format    "../../elog/util/new.h" tools/elog/util/new.h
tools/elog/util         "cmd/new.h"             tools/elog/cmd/new.h
tools/elog/record       "cmd/new.h"             tools/elog/cmd/new.h
tools/elog/record       "bpf/new.h"             tools/elog/bpf/new.h
tools/elog/input        "output/new.h"          tools/elog/output/new.h
tools/elog/input        "cmd/new.h"             tools/elog/cmd/new.h
tools/elog/export       "cmd/new.h"             tools/elog/cmd/new.h
tools/elog/cmd          "libelog/format/new.h"  tools/libelog/format/new.h
tools/libelog/format    "util/test_new.h"       tools/libelog/util/test_new.h
module/core             "core/new.h"            missing
'
echo "$cases" | sed '/^$/d' > "$work/cases"
while read -r folder header found; do
	include_fails "$folder includes $header" "$folder/new.c" "$header" "$found"
done < "$work/cases"

printf '#include "core/new.h"\n' > "$tree/module/compat.h"
touch "$tree/module/core/new.h"
check "compat.h includes core" finds 'module/compat.h:1: #include "core/new.h"'
cp "$top/module/compat.h" "$tree/module/compat.h"
check "a header that no file includes" finds_nothing_new

mkdir "$tree/module/new"
echo "int x;" > "$tree/module/new/new.c"
echo "New." > "$tree/module/new/README"
check "a folder without a rule" finds 'module/new/new.c: no line for module/new '
rm -r "$tree/module/new"

# lines COUNT [COMMENT]
lines()
{
	awk -v count="$1" -v comment="${2:-}" 'BEGIN {
		printf "/* SPDX-License-Identifier: GPL-2.0-only */\n/*\n * First.\n%s */\n", comment
		for (i = comment == "" ? 4 : 6; i < count; i++)
			print "int x" i ";"
	}' > "$tree/module/core/new.c"
}

lines 900
check "a file of 900 lines" finds_nothing_new
lines 901
check "a file of 901 lines" finds 'module/core/new.c: 901 lines'
lines 901 ' * Longer than 900\n * lines because the test needs it.\n'
check "a file of 901 lines with a reason" finds_nothing_new
lines 901
echo '/* Longer than 900 lines because this comment is not the first. */' >> \
	"$tree/module/core/new.c"
check "a reason in another comment" finds 'module/core/new.c: 902 lines'
rm "$tree/module/core/new.c"

rm "$tree/module/core/README"
check "a folder without a README" finds 'module/core/README: missing'
seq 10 > "$tree/module/core/README"
check "a README of 10 lines" finds_nothing_new
seq 11 > "$tree/module/core/README"
check "a README of 11 lines" finds 'module/core/README: 11 lines'
cp "$top/module/core/README" "$tree/module/core/README"

cp -r "$top/scripts" "$tree"
drawn()
{
	"$tree/scripts/draw-house" --check
}
not_drawn()
{
	! drawn
}
check "the picture of the folders" drawn
printf '#include "nats/stream.h"\n' > "$tree/tools/elog/sql/new.c"
check "the picture without an include" not_drawn
end_checks
