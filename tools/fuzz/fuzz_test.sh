#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs each fuzzer with the same seed for a fixed number of inputs, so that the inputs do
# not depend on the speed of the machine. Prints TAP. FUZZERS is the directory of the
# built fuzzers.
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
	schema_fuzz) echo 300000 ;;
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
	if "$fuzzers/$name" -seed=1 -runs="$(runs "$name")" -max_len=16384 \
		-timeout=60 -artifact_prefix="$work/$name." \
		"$work/$name" "$work/$name.seeds" > "$work/log" 2>&1; then
		echo "ok $number $name: $(runs "$name") inputs without error"
	else
		tail -n 60 "$work/log" | sed 's/^/# /'
		for input in "$work/$name".crash-* "$work/$name".timeout-* \
			     "$work/$name".leak-* "$work/$name".oom-*; do
			[ -e "$input" ] || continue
			echo "# the input, in base64:"
			base64 "$input" | sed 's/^/# /'
		done
		echo "not ok $number $name: $(runs "$name") inputs without error"
		failed=1
	fi
done
exit $failed
