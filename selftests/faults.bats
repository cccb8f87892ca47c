#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog capture, where one call of the C library after the other fails: see faults/faults.py.
# Needs root, and the module or the engine. faults/faults_test.sh does so with the verbs that read
# files.
#
# EVENTLOG_FAULTS=all: each call, not only some of them.

load files.bash

@test "elog capture: each call that fails is named, or changes nothing" {
	cd "$work"
	export FAULTS=$EVENTLOG_BUILD/selftests/faults.so
	run "$PYTHON" -B "$TREE/selftests/faults/capture_faults.py" "$PRODUCER"
	echo "$output"
	[ "$status" = 0 ]
}
