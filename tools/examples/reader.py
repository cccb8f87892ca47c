#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the time, the name and the fields of each event in .elog files. Needs the Python
# package of tools/python.
#
#	elog capture -o job.elog -- ./job; ./reader.py job.elog
import sys

import eventlog

try:
    for event in eventlog.open(*sys.argv[1:]):
        print("%d.%09d" % divmod(event.time, 10**9), event.name, event)
except OSError as error:
    sys.exit(f"{error.filename}: {error.strerror}")
