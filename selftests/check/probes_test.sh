#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# probes_test - what module/compat.h asks about the kernel, Kbuild looks for, with a part of
# module/probe.c. A name that one of them lacks would be taken for "no", or fail far away.
# Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
cd "$top"

sed -n 's/^#ifdef PROBE_//p' module/probe.c | sort > "$work/parts"
grep -o 'EVENTLOG_HAS_[A-Z_]*[A-Z]' module/compat.h | sed 's/EVENTLOG_HAS_//' | sort -u \
	> "$work/asked"
awk '/^probes :=/ { found = 1; sub(/^probes :=/, "") }
	found { more = sub(/\\$/, ""); print; if (!more) exit }' Kbuild |
	tr -s ' \t' '\n' | grep . | sort > "$work/looked"

same() { diff "$1" "$2" && [ -s "$1" ]; }

check "each part is looked for" same "$work/parts" "$work/looked"
check "each answer is used, and each question answered" same "$work/looked" "$work/asked"
end_checks
