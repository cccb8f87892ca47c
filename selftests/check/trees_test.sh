#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# trees_test - a tree that was copied or moved together with build/ builds its own sources,
# and never those of the tree that it came from. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
export MAKEFLAGS=
one=$work/one two=$work/two

# All that making the links needs of a kernel is its release.
mkdir -p "$work/kernel/include/generated" "$one"
echo '#define UTS_RELEASE "test"' > "$work/kernel/include/generated/utsrelease.h"
(cd "$top" && tar -c Makefile Kbuild dkms.conf scripts module uapi include tools) |
	tar -x -C "$one"

link_sources()
{
	make -s -C "$1" sources KDIR="$work/kernel"
}

# Each source below build/ is that of the same tree.
has_own_sources()
(
	local file count=0

	cd "$1"
	while read -r file; do
		[ "build/test/$file" -ef "$file" ] ||
			{ echo "$file is $(readlink -f "build/test/$file")"; return 1; }
		count=$((count + 1))
	done < <(find Kbuild module -name '*.[chS]' -o -name Kbuild)
	[ $count -gt 100 ]
	for file in uapi include tools; do
		[ "build/test/$file" -ef "$file" ] || { echo "$file"; return 1; }
	done
)

links_lead_to_the_tree()
{
	link_sources "$one" && has_own_sources "$one"
}

# The first tree is still there.
copy_has_its_own()
{
	cp -a "$one" "$two" && has_own_sources "$two" && link_sources "$two" &&
		has_own_sources "$two"
}

foreign_links_are_replaced()
{
	ln -sfn "$one/module/memory.c" "$two/build/test/module/memory.c" &&
		link_sources "$two" && has_own_sources "$two"
}

new_and_old_files()
{
	mv "$two/module/memory.c" "$two/module/new.c" &&
		link_sources "$two" && has_own_sources "$two" &&
		[ ! -L "$two/build/test/module/memory.c" ]
}

moved_tree_has_its_own()
{
	mv "$two" "$work/three" && has_own_sources "$work/three" &&
		link_sources "$work/three" && has_own_sources "$work/three"
}

# build_object TREE: one object of libelog.
build_object()
{
	make -s -C "$1/tools" OUTPUT="$1/build/tools" "$1/build/tools/obj/libelog/format/number.o"
}

has_symbol()
{
	nm "$1/build/tools/obj/libelog/format/number.o" | grep -q " $2\$"
}

# The lists of headers in build/ have the other tree's paths.
tools_are_built_from_the_copy()
{
	local header

	build_object "$one" || return 1
	header=$(sed -n "s|^.*\($one/tools/libelog/[^ ]*[.]h\).*|\1|p" \
		"$one/build/tools/obj/libelog/format/number.d" | head -n 1)
	[ -f "$header" ] || return 1
	rm -rf "$two"
	cp -a "$one" "$two"
	echo 'int of_the_copy;' >> "$two${header#"$one"}"
	build_object "$two" && has_symbol "$two" of_the_copy || return 1
	echo 'int of_the_first;' >> "$header"
	build_object "$two" && ! has_symbol "$two" of_the_first
}

check "links in build/ lead to the sources of the tree" links_lead_to_the_tree
check "those of a copy lead to the copy" copy_has_its_own
check "links to another tree are replaced" foreign_links_are_replaced
check "links follow files that are new or gone" new_and_old_files
check "a moved tree has its own sources" moved_tree_has_its_own
check "the tools of a copy are built from the copy" tools_are_built_from_the_copy
end_checks
