#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# install_test - make install into an empty directory: that what is there works
# from there, and that make uninstall removes it. Prints TAP.
#
# The module is built apart from build/RELEASE, and the tools are those that are in
# build/tools, whatever git says of the tree by now: guests may be using them.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
kdir=$("$top/scripts/kernel" headers)
release=$("$top/scripts/kernel" release)
root=$work/root
PATH=$PATH:/usr/sbin:/sbin

# run_make PREFIX GOAL...
run_make()
{
	prefix=$1
	shift
	if [ -f "$top/build/tools/version" ]; then
		set -- "$@" VERSION="$(cat "$top/build/tools/version")"
	fi
	make -s -C "$top" --no-print-directory "$@" KDIR="$kdir" variant=.install \
		DESTDIR="$root" PREFIX="$prefix"
}

has()
{
	for name; do
		[ -e "$root$name" ] || { echo "there is no $name"; return 1; }
	done
}

everything_is_there()
{
	has "$1/bin/elog" "$1/bin/eventlog-gen" "$1/lib/libelog.so.1" \
		"$1/lib/libelog.so" "$1/lib/libelog.a" "$1/include/elog.h" \
		"$1/include/elog_marker.h" "$1/include/linux/eventlog.h" "$1/lib/sysusers.d/eventlog.conf" \
		"$1/lib/tmpfiles.d/eventlog.conf" \
		"$1/lib/modules-load.d/eventlog.conf" \
		"$1/share/bash-completion/completions/elog" \
		/usr/lib/udev/rules.d/60-eventlog.rules || return 1
	for page in "$top"/tools/man/*.[1-9]; do
		has "$1/share/man/man${page##*.}/${page##*/}" || return 1
	done
	for unit in "$top"/tools/dist/*.service; do
		has "$1/lib/systemd/system/${unit##*/}" || return 1
	done
	for name in eventlog eventlog_tcp eventlog_proc; do
		find "$root/lib/modules/$release" -name "$name.ko*" | grep -q . ||
			{ echo "there is no module $name"; return 1; }
	done
}

# Nothing may know of the directory it was put together in.
nothing_knows()
{
	! grep -rlF "$root" "$root"
}

# As a program elsewhere would be built, and started: builds_with PREFIX FLAG.
builds_with()
{
	flags=$(PKG_CONFIG_LIBDIR="$root$1/lib/pkgconfig" PKG_CONFIG_PATH='' \
		PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
		PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
		pkg-config --cflags --libs ${2:+--static} libelog) || return 1
	# shellcheck disable=SC2086 # several words
	"${CC:-gcc}" -Wall -Werror $2 -o "$work/reader" \
		"$top/tools/examples/reader.c" $flags || return 1
	: > "$work/empty"
	LD_LIBRARY_PATH="$root$1/lib" "$work/reader" "$work/empty" \
		2> "$work/said" && return 1
	cat "$work/said"
	grep -q "$work/empty: Bad message" "$work/said"
}

python_reads()
{
	: > "$work/empty"
	LD_LIBRARY_PATH="$root$1/lib" "$top/tools/examples/reader.py" \
		"$work/empty" 2> "$work/said" && return 1
	cat "$work/said"
	grep -q "Bad message" "$work/said"
}

elog_runs()
{
	"$root$1/bin/elog" --version | grep '^elog '
}

# With the programs where they have been put: whether they exist is asked, too.
units_are_right()
{
	mkdir -p "$work/units"
	for unit in "$root$1"/lib/systemd/system/*; do
		grep '^ExecStart=' "$unit" | grep -v "^ExecStart=$1/" && return 1
		sed "s|^ExecStart=$1/|ExecStart=$root$1/|" "$unit" \
			> "$work/units/${unit##*/}"
	done
	systemd-analyze verify --man=no "$work"/units/* > "$work/verified" 2>&1 || {
		cat "$work/verified"
		return 1
	}
	# Of others' units it may say what it likes.
	! grep eventlog "$work/verified"
}

# The verbs and options in the units are those that elog has.
units_name_what_is_there()
{
	elog=$root$1/bin/elog
	cat "$root$1"/lib/systemd/system/*.service "$root$1/libexec/eventlog-metrics" |
		sed -n -e 's/^exec .*elog}\{0,1\}" \([a-z].*\) \\$/\1/p' \
			-e 's/^ExecStart=.*\/elog \([a-z].*\)/\1/p' > "$work/lines"
	[ "$(wc -l < "$work/lines")" = 3 ] || { cat "$work/lines"; return 1; }
	while read -r verb options; do
		"$elog" "$verb" --help > "$work/help" || return 1
		for option in $options; do
			case $option in
			-*) ;;
			*) continue ;;
			esac
			option=${option%%=*}
			grep -q -e "^  *\(-., \)\{0,1\}$option\([[ ].*\)\{0,1\}$" \
				-e "^  $option, " "$work/help" ||
				{ echo "elog $verb has no $option"; return 1; }
		done
	done < "$work/lines"
}

group_and_directory()
{
	mkdir -p "$root/etc" "$root/var/log"
	systemd-sysusers --root="$root" "$root$1/lib/sysusers.d/eventlog.conf" &&
	grep '^eventlog:' "$root/etc/group" &&
	systemd-tmpfiles --root="$root" --create \
		"$root$1/lib/tmpfiles.d/eventlog.conf" &&
	[ "$(stat -c %a "$root/var/log/eventlog")" = 750 ] || return 1
	rm -r "${root:?}/etc" "${root:?}/var"
}

nothing_is_left()
{
	find "$root" ! -type d | tee "$work/left"
	[ ! -s "$work/left" ]
}

for prefix in /usr/local /usr; do
	check "$prefix: make install" run_make "$prefix" install
	check "$prefix: everything is there" everything_is_there "$prefix"
	check "$prefix: nothing knows DESTDIR" nothing_knows
	check "$prefix: elog runs" elog_runs "$prefix"
	check "$prefix: a program builds with libelog.so" builds_with "$prefix" ""
	check "$prefix: a program builds with libelog.a" builds_with "$prefix" -static
	check "$prefix: Python finds libelog.so.1" python_reads "$prefix"
	if command -v systemd-analyze > /dev/null; then
		check "$prefix: the units are right" units_are_right "$prefix"
	else
		skip "$prefix: the units are right" "there is no systemd-analyze"
	fi
	if command -v systemd-tmpfiles > /dev/null && [ "$(id -u)" = 0 ]; then
		check "$prefix: group and directory" group_and_directory "$prefix"
	else
		skip "$prefix: group and directory" "no systemd-tmpfiles, or not root"
	fi
	# The units are made for an elog that has what they ask for.
	if "$root$prefix/bin/elog" --help | grep -q '^  stat '; then
		check "$prefix: the units name what elog has" \
			units_name_what_is_there "$prefix"
	else
		skip "$prefix: the units name what elog has" "elog has no verb stat"
	fi
	check "$prefix: make uninstall" run_make "$prefix" uninstall
	check "$prefix: nothing is left" nothing_is_left
done
end_checks
