#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# python_test - runs the tests of the Python package with pytest. Prints TAP. Without
# arguments it runs those that need no kernel module, otherwise those in the given files.
#
# EVENTLOG_TOOLS is the output of make -C tools (default: build/tools).
set -eu

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../.." && pwd -P)
export EVENTLOG_TOOLS="${EVENTLOG_TOOLS:-$top/build/tools}"
export LD_LIBRARY_PATH="$EVENTLOG_TOOLS${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export PYTHONPATH="$here/tests${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1

# The first python3 in PATH may come from elsewhere, and have no pytest.
for python in /usr/bin/python3 python3; do
	if "$python" -c 'import pytest' 2> /dev/null; then
		[ $# -gt 0 ] || set -- "$here"/tests/test_layout.py "$here"/tests/test_files.py \
			"$here"/tests/test_build.py "$here"/tests/test_readme.py
		exec "$python" -m pytest -p no:cacheprovider -p tap \
			-c /dev/null --rootdir "$here/tests" "$@"
	fi
done
echo "1..0 # SKIP there is no pytest"
