# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# elog_tap.sh - what tests of elog that need no module have in common. Sourced by a script in
# bash, which sets $top, the top of the tree. Sources tap.sh, and makes $work the current
# directory.
#
# EVENTLOG_TOOLS is the build directory of make -C tools (default: build/tools); $elog is the
# program in it.

: "${top:?}"
export LC_ALL=C.UTF-8 TZ=UTC PYTHONDONTWRITEBYTECODE=1
export EVENTLOG_TOOLS=${EVENTLOG_TOOLS:-$top/build/tools}
export LD_LIBRARY_PATH="$EVENTLOG_TOOLS${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
elog=$EVENTLOG_TOOLS/elog
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
cd "$work" || exit 1
