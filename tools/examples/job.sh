#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A shell script that emits events of the provider job. Each run is a session.
#
#	elog capture -e job -- sh job.sh
set -eu

: "${ELOG:=elog}"
session=$$
lines=0

emit()
{
	event=$1
	shift
	"$ELOG" emit -s "$session" "job/$event" "$@"
}

emit start 'string directory' directory="$PWD"
for file in /proc/cpuinfo /proc/meminfo /proc/version; do
	count=$(wc -l < "$file")
	lines=$((lines + count))
	emit step 'string file; u32 lines' file="$file" lines="$count"
done
emit end 'u32 files; u32 lines; s32 status' files=3 lines="$lines" status=0
