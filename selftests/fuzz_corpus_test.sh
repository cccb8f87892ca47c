#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# fuzz_corpus_test - runs the programs that make fuzz-kernel has kept, and those that a kernel has
# failed on before, without coverage. The module must be loaded; it stays usable. Prints TAP.
set -eu

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
fuzz=$top/selftests/fuzz

runs()
{
	chmod 0666 /dev/eventlog
	"$top/build/selftests/kernel_fuzz" --replay "$@"
}

# Root and the other user both use the device, and a program of a user's threads ends.
is_parsed()
{
	printf '%s\n' 'program race' 'open' 'register command=0x1' 'write thread=3' > "$work/good"
	printf '%s\n' 'program' 'open' 'regsiter' > "$work/bad"
	runs "$work/good" || return 1
	if runs "$work/bad" 2> "$work/out"; then
		return 1
	fi
	grep -q 'bad:3: not a call' "$work/out"
}

check "a program with a misspelled call is refused" is_parsed
check "the programs of the corpus do no harm" runs "$fuzz"/corpus/*
if [ -d "$fuzz/found" ]; then
	check "programs that failed before do no harm" runs "$fuzz"/found/*
fi
end_checks
