# SPDX-License-Identifier: GPL-2.0-only
#
# lttng-modules.sh - builds LTTng's modules for the test kernel, with a probe for the
# benchmark's tracepoints. Sourced by benchmarks that count instructions. The caller
# sets tree, output, kernel and, before it builds, headers.
# shellcheck shell=bash disable=SC2154

cache=${EVENTLOG_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/eventlog}
suite=bookworm

# Builds lttng-modules for the kernel, without its own probes, and prints the directory.
# If it fails, prints the reason.
lttng_modules()
{
	local package=lttng-modules-dkms final work release

	release=$("$tree/scripts/kernel" release "$kernel")
	final=$cache/lttng-1/$release
	if [ -f "$final/src/lttng-tracer.ko" ]; then
		echo "$final"
		return
	fi
	mkdir -p "$cache/lttng-1"
	work=$(mktemp -d "$final.new.XXXXXX")
	if build_lttng_modules "$package" "$work" > "$work/log" 2>&1 < /dev/null; then
		rm -rf "$final"
		mv -T "$work/source" "$final"
		echo "$final"
		rm -rf "$work"
		return
	fi
	tail -n 20 "$work/log" >&2
	echo "lttng-modules cannot be built: $(tail -n 1 "$work/log")"
	rm -rf "$work"
	return 1
}

build_lttng_modules()
{
	local package=$1 work=$2

	APT_CONFIG=$("$tree/scripts/kernel" apt "$work/apt" "$suite")
	export APT_CONFIG
	apt-get -qq update &&
		(cd "$work" && apt-get -qq download "$package") &&
		dpkg -x "$work"/*.deb "$work/package" &&
		mv "$work"/package/usr/src/lttng-modules-* "$work/source" || return 1
	# shellcheck disable=SC2016 # for make to expand
	echo 'obj-m := $(filter-out lttng-probe-%,$(obj-m))' >> "$work/source/src/probes/Kbuild"
	: > "$work/source/src/tests/Kbuild"
	make -s -j "$(nproc)" -C "$headers" M="$work/source/src" CONFIG_LTTNG=m modules
}

# Sets lttng to the directory of the modules, or to nothing and why to the reason.
find_lttng_modules()
{
	why=
	if ! command -v lttng-sessiond > /dev/null || ! command -v babeltrace2 > /dev/null; then
		why='lttng-tools or babeltrace2 is not installed'
		lttng=
	elif ! lttng=$(lttng_modules); then
		why=$lttng
		lttng=
	fi
}

# Builds eventlog.ko, the benchmark's module and the probe. Output goes to a file.
build_bench_modules()
{
	if ! make -s -C "$tree" module KDIR="$headers" EVENTLOG_BENCH_MODULE=1 \
		${lttng:+LTTNG_MODULES="$lttng"} > "$1" 2>&1; then
		cat "$1" >&2
		exit 1
	fi
}
