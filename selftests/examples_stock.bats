#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the commands in the EXAMPLES sections of manual pages as examples.bats does: those that
# need markers of the kernel, or BPF.

load examples.bash

@test "examples: elog-marker(1)" {
	run_page elog-marker.1
}

@test "examples: elog-stat(1)" {
	start_server
	run_page elog-stat.1
}
