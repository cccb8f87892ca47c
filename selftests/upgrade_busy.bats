#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog upgrade with more busy programs than upgrade.bats, which takes longer. Needs root and the
# module.

load upgrade.bash

@test "20 busy programs and a recorder, in both directions" {
	upgrade_and_back 20
}
