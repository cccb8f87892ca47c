#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# header_test - compiles elog.h and elog_marker.h alone, in every supported language. Prints
# TAP.
#
# CC and CXX are the compilers; clang and clang++ are used too if they are installed.
set -eu
export LC_ALL=C

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
strict="-Wall -Wextra -Werror -fsyntax-only -I$here -I$top/uapi"

# Not as a system header, whose warnings the compiler suppresses. Included twice, as
# happens in programs.
{
	printf '#include <%s.h>\n' elog elog elog_marker elog_marker
	echo 'void passes(int value, const char *text);'
	echo 'void passes(int value, const char *text)'
	echo '{'
	echo '	ELOG_MARKER(nothing);'
	echo '	ELOG_MARKER(two, FIELD(auto, value), FIELD(string, text));'
	echo '	ELOG_MARKER(all, FIELD(u8, value), FIELD(u16, value), FIELD(u32, value),'
	echo '		FIELD(u64, value), FIELD(s8, value), FIELD(s16, value), FIELD(s32, value),'
	echo '		FIELD(s64, value), FIELD(bool, value), FIELD(ptr, &value),'
	echo '		FIELD(auto, text), FIELD(auto, 1L), FIELD_NAMED(auto, name, 2ULL),'
	echo '		FIELD(auto, &value), FIELD(auto, value > 1), FIELD(auto, text[0]));'
	echo '}'
} > "$work/header.c"
cp "$work/header.c" "$work/header.cc"

# compile COMPILER FLAGS SUFFIX
compile()
{
	name=$(basename "${1%% *}")
	if command -v "${1%% *}" > /dev/null; then
		# shellcheck disable=SC2086 # several words
		check "$name $2" $1 $2 $strict "$work/header.$3"
	else
		skip "$name $2" "$1 is not installed"
	fi
}

for compiler in "${CC:-gcc}" clang; do
	compile "$compiler" "-std=c11 -Wpedantic" c
	compile "$compiler" "-std=c17 -Wpedantic" c
	compile "$compiler" "-std=gnu11" c
	compile "$compiler" "-std=c99" c
	compile "$compiler" "-std=gnu89" c
done
for compiler in "${CXX:-g++}" clang++; do
	compile "$compiler" "-std=c++11 -Wpedantic" cc
	compile "$compiler" "-std=c++17 -Wpedantic -Wold-style-cast" cc
done

# Each part of elog.h includes what it needs.
part_alone()
{
	echo "#include <elog/$1.h>" > "$work/part.c"
	cp "$work/part.c" "$work/part.cc"
	# shellcheck disable=SC2086 # several words
	${CC:-gcc} -std=c11 -Wpedantic $strict "$work/part.c" &&
	{ ! command -v "${CXX:-g++}" ||
	  ${CXX:-g++} -std=c++11 -Wpedantic $strict "$work/part.cc"; }
}

for part in "$here"/elog/*.h; do
	part=$(basename "$part" .h)
	check "elog/$part.h alone" part_alone "$part"
done

end_checks
