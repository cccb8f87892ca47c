#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# fuzz_test - runs each fuzzer for a while, with the same seed and a fixed number of
# inputs, so that every machine tries the same inputs. It begins with the seeds, and with
# the inputs that have failed before, tools/fuzz/found/FUZZER/*. Prints TAP. FUZZERS is the
# directory of the fuzzers, which scripts/check builds.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd -P)
fuzzers=${FUZZERS:-$top/build/tools.fuzz}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints a number of inputs that takes about 15 s.
runs()
{
	case $1 in
	file_fuzz) echo 15000 ;;
	eventheader_fuzz) echo 40000 ;;
	marker_fuzz) echo 40000 ;;
	schema_fuzz|nats_fuzz) echo 300000 ;;
	otlp_fuzz|filter_fuzz) echo 1000000 ;;
	*) echo 100000 ;;
	esac
}

set -- "$top"/tools/fuzz/*_fuzz.c
echo "TAP version 13"
echo "1..$#"
failed=0
number=0
for source; do
	number=$((number + 1))
	name=$(basename "$source" .c)
	mkdir -p "$work/$name" "$work/$name.seeds"
	[ ! -d "$fuzzers/seeds/$name" ] ||
		cp -R "$fuzzers/seeds/$name/." "$work/$name.seeds/"
	[ ! -d "$top/tools/fuzz/found/$name" ] ||
		cp -R "$top/tools/fuzz/found/$name/." "$work/$name.seeds/"
	if "$fuzzers/$name" -seed=1 -runs="$(runs "$name")" -max_len=16384 \
		-timeout=60 -artifact_prefix="$work/$name." \
		"$work/$name" "$work/$name.seeds" > "$work/log" 2>&1; then
		echo "ok $number $name: $(runs "$name") inputs do no harm"
	else
		tail -n 60 "$work/log" | sed 's/^/# /'
		for input in "$work/$name".crash-* "$work/$name".timeout-* \
			     "$work/$name".leak-* "$work/$name".oom-*; do
			[ -e "$input" ] || continue
			echo "# input in base64:"
			base64 "$input" | sed 's/^/# /'
		done
		echo "not ok $number $name: $(runs "$name") inputs do no harm"
		failed=1
	fi
done
exit $failed
