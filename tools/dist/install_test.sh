#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# install_test - runs make install into an empty directory, checks that the installed files
# work, and checks that make uninstall removes them, and that make -n creates nothing. Prints TAP.
#
# Guests may be using build/RELEASE and build/tools. So the module is built in another
# directory, and the tools in build/tools are used as they are, even if the version that git
# reports has changed.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
kdir=$("$top/scripts/kernel" headers)
release=$("$top/scripts/kernel" release)
root=$work/root
modules=$(sed -n 's/^BUILT_MODULE_NAME\[[0-9]*\]="\(.*\)"$/\1/p' "$top/dkms.conf")
PATH=$PATH:/usr/sbin:/sbin

# What make install and make deb build before they install.
no_test_is_built()
{
	mkdir -p "$work/tools"
	make -n V=1 -C "$top/tools" OUTPUT="$work/tools" > "$work/commands" || return 1
	grep -q " -o $work/tools/elog " "$work/commands" || return 1
	! grep -oE ' -o [^ ]*(_test|_check|elog-abi[0-9]|fleet_drain|rings_plugin.so|teahouse) ' \
		"$work/commands"
}

# Who signs modules by hand needs all that DKMS builds.
page_names_the_modules()
{
	sed -n '/^## Secure Boot/,/^## Who/p' "$top/tools/doc/install.md" |
		grep -o 'eventlog[a-z_]*\.ko' | sort > "$work/named"
	# shellcheck disable=SC2086 # several words
	[ -n "$modules" ] && printf '%s.ko\n' $modules | sort | diff - "$work/named"
}

# A unit that uses the device loads the module first, and is not skipped without it.
units_load_the_module()
{
	for unit in $(grep -l '^DeviceAllow=/dev/eventlog' "$top"/tools/dist/*.service); do
		grep -q '^Wants=.*modprobe@eventlog.service' "$unit" &&
			grep -q '^After=.*modprobe@eventlog.service' "$unit" &&
			! grep '^Condition.*/dev/eventlog' "$unit" || { echo "$unit"; return 1; }
	done
}

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
		[ -e "$root$name" ] || { echo "$name is missing"; return 1; }
	done
}

everything_is_there()
{
	has "$1/bin/elog" "$1/bin/eventlog-gen" "$1/lib/libelog.so.0" \
		"$1/lib/libelog.so" "$1/lib/libelog.a" "$1/include/elog.h" \
		"$1/include/elog_marker.h" "$1/include/elog/consumer.h" \
		"$1/include/linux/eventlog.h" "$1/lib/sysusers.d/eventlog.conf" \
		"$1/lib/tmpfiles.d/eventlog.conf" \
		"$1/lib/modules-load.d/eventlog.conf" \
		"$1/share/bash-completion/completions/elog" \
		"$1/share/fish/vendor_completions.d/elog.fish" \
		"$1/share/doc/elog-fleet/nats-server.conf" \
		/usr/lib/udev/rules.d/60-eventlog.rules || return 1
	if [ -e "$top/build/tools/babeltrace2-plugin-elog.so" ]; then
		has "$1/lib/babeltrace2/plugins/babeltrace2-plugin-elog.so" || return 1
	fi
	for page in "$top"/tools/man/*.[1-9]; do
		case $page in
		*/babeltrace2-*) [ -e "$top/build/tools/babeltrace2-plugin-elog.so" ] || continue ;;
		esac
		has "$1/share/man/man${page##*.}/${page##*/}" || return 1
	done
	for unit in "$top"/tools/dist/*.service; do
		has "$1/lib/systemd/system/${unit##*/}" || return 1
	done
	for name in $modules; do
		find "$root/lib/modules/$release" -name "$name.ko*" | grep -q . ||
			{ echo "module $name is missing"; return 1; }
	done
}

# No installed file may contain the name of the staging directory.
nothing_knows()
{
	! grep -rlF "$root" "$root"
}

# builds_with PREFIX FLAG: builds and starts a program as a user of the library would.
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
	LD_LIBRARY_PATH="$root$1/lib" PYTHONPATH="$top/tools/python" PYTHONDONTWRITEBYTECODE=1 \
		"$top/tools/examples/reader.py" \
		"$work/empty" 2> "$work/said" && return 1
	cat "$work/said"
	grep -q "Bad message" "$work/said"
}

elog_runs()
{
	"$root$1/bin/elog" --version | grep '^elog '
}

# systemd-analyze also checks that the programs exist, so the units get the paths of the
# staged programs.
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
	# Messages about units of other packages do not matter.
	! grep eventlog "$work/verified"
}

# elog has all verbs and options that the units use.
units_name_what_is_there()
{
	elog=$root$1/bin/elog
	cat "$root$1"/lib/systemd/system/*.service "$root$1/libexec/eventlog-metrics" |
		sed -n -e 's/^exec .*elog}\{0,1\}" \([a-z].*\) \\$/\1/p' \
			-e 's/^ExecStart=.*\/elog \([a-z].*\)/\1/p' > "$work/lines"
	[ "$(wc -l < "$work/lines")" = 4 ] || { cat "$work/lines"; return 1; }
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

# A file with the name of the directory would make each later build fail.
dry_run_creates_nothing()
{
	make -n -C "$top/tools" OUTPUT="$work/none"
	[ ! -e "$work/none" ]
}

check "no program of a test is built for installing" no_test_is_built
check "install.md names the modules of dkms.conf for signing" page_names_the_modules
check "the units load the module that they use" units_load_the_module
check "make -n creates nothing" dry_run_creates_nothing
for prefix in /usr/local /usr; do
	check "$prefix: make install" run_make "$prefix" install
	check "$prefix: all files are installed" everything_is_there "$prefix"
	check "$prefix: no file contains DESTDIR" nothing_knows
	check "$prefix: elog runs" elog_runs "$prefix"
	check "$prefix: a program builds with libelog.so" builds_with "$prefix" ""
	check "$prefix: a program builds with libelog.a" builds_with "$prefix" -static
	check "$prefix: Python finds libelog.so.0" python_reads "$prefix"
	if command -v systemd-analyze > /dev/null; then
		check "$prefix: the units are valid" units_are_right "$prefix"
	else
		skip "$prefix: the units are valid" "systemd-analyze is missing"
	fi
	if command -v systemd-tmpfiles > /dev/null && [ "$(id -u)" = 0 ]; then
		check "$prefix: the group and the directory are created" group_and_directory "$prefix"
	else
		skip "$prefix: the group and the directory are created" "systemd-tmpfiles is missing, or not root"
	fi
	# The units need an elog with the verb stat.
	if "$root$prefix/bin/elog" --help | grep -q '^  stat '; then
		check "$prefix: elog has the verbs and options of the units" \
			units_name_what_is_there "$prefix"
	else
		skip "$prefix: elog has the verbs and options of the units" "elog has no verb stat"
	fi
	check "$prefix: make uninstall" run_make "$prefix" uninstall
	check "$prefix: no file is left" nothing_is_left
done
end_checks
