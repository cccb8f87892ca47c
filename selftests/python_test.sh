#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# python_test - runs the tests of the Python package that need the kernel module. Prints TAP.
set -eu

package=$(cd "$(dirname "$(readlink -f "$0")")/../tools/python" && pwd -P)
exec "$package/python_test.sh" "$package/tests/test_device.py" "$package/tests/test_logging.py"
