#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# release_test - scripts/release-check passes on this tree, and finds each file that has another
# version; with --tag, a tree that must not become a release. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
unset "${!GIT_@}"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test
tree=$work/tree
files=(CHANGELOG.md dkms.conf tools/dist/containers/{Dockerfile,compose.yaml,device-plugin.yaml}
	tools/doc/{containers,install}.md tools/libelog/libelog.{abi,map} tools/man/libelog.3
	tools/python/pyproject.toml tools/python/eventlog/{__init__,_libelog}.py)

make_tree()
{
	rm -rf "$tree"
	mkdir "$tree"
	(cd "$top" && cp --parents "${files[@]}" "$tree")
}

passes()
{
	"$top/scripts/release-check" "$@" "$tree"
}

# finds TEXT SCRIPT FILE: after sed SCRIPT on the file, the check prints the text.
finds()
{
	make_tree
	sed -i "$2" "$tree/$3"
	! cmp "$tree/$3" "$top/$3" || return 1
	! passes > "$work/out" || return 1
	cat "$work/out"
	grep -qF -e "$1" "$work/out"
}

# Changes the version in dkms.conf alone: each other file is named.
finds_all()
{
	local file

	finds CHANGELOG.md 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="7.8.9"/' dkms.conf || return 1
	for file in "${files[@]}"; do
		[ "$file" = dkms.conf ] || grep -q "^$file: " "$work/out" || return 1
	done
}

git_tree()
{
	make_tree
	sed -i '0,/^## /s/^## \([0-9.]*\),.*/## \1, 2031-02-03/' "$tree/CHANGELOG.md"
	git -C "$tree" init -q && git -C "$tree" add -A && git -C "$tree" commit -q -m one
}

may_become_a_release()
{
	git_tree && passes --tag
}

# refuses TEXT COMMAND...: after the command in the tree.
refuses()
{
	git_tree
	(cd "$tree" && "${@:2}")
	! passes --tag > "$work/out" || return 1
	grep -qF -e "$1" "$work/out"
}

tag_elsewhere()
{
	git tag "v$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)"
	git commit -q --allow-empty -m two
}

make_tree
check "this tree" passes
check "no version" finds "is no version" 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="7.8"/' dkms.conf
check "one version that is new, all others old" finds_all
check "a file that names two versions" finds "tools/doc/install.md" \
	'$adkms install eventlog/0.0.1' tools/doc/install.md
check "a file that names none" finds "''" 's/LIBELOG_[0-9.]*//' tools/man/libelog.3
check "a section of changes without a day" finds CHANGELOG.md '0,/^## /s/,.*//' CHANGELOG.md
check "a release" may_become_a_release
check "a release that has no day" refuses "has no day" \
	sed -i '0,/^## /s/, 20.*/, not released yet/' CHANGELOG.md
check "a release with a file that is not committed" refuses "not committed" touch new
check "a release whose tag is at another commit" refuses "another commit" tag_elsewhere
end_checks
