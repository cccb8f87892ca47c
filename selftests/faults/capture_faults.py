# SPDX-License-Identifier: GPL-2.0-only
"""capture_faults.py PRODUCE [NAME...] - elog capture with faults: see faults.py.

Each run records numbered events. At the end each of them is in the files, or counted as lost, if
elog has ended without an error; otherwise what is there is readable.
"""
import os
import re
import subprocess
import sys

from faults import ELOG, Scenario, Wrong, main

produce = sys.argv[1]
names = sys.argv[2:]
EVENTS = 3000


class Capture(Scenario):
    kinds = ["memory", "map", "thread", "open", "read", "write", "poll", "sync", "truncate",
             "rename", "ioctl"]
    # /dev/eventlog is what most calls of ioctl() and mmap() are about.
    files = ("x.elog", "/dev/eventlog", "subscribers")
    words = ("too many subscribers",)

    def __init__(self, name, *options):
        self.name = name
        self.command = [ELOG, "capture", "-q", "-e", "number", "-o", "x.elog", *options, "--",
                        produce, "0", str(EVENTS), "1"]
        self.few_kinds = None if name == "plain" else ["write", "rename"]

    def show(self, run):
        """Returns the number of events and of lost ones, and the exit status."""
        files = sorted(name for name in os.listdir(run.directory) if name.startswith("x.elog"))
        if not files:
            return 0, 0, 0
        done = subprocess.run([ELOG, "show", *files], cwd=run.directory, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.said = done.stderr.decode()
        summary = re.search(r"elog: (\d+) events?, lost (\d+)", self.said)
        if not summary:
            raise Wrong(f"the files are not readable: {self.said}")
        return int(summary[1]), int(summary[2]), done.returncode

    def look(self, run):
        events, lost, status = self.show(run)
        # On a full disk, old files make room.
        if re.search("the disk is full: .* removed", run.stderr):
            return True
        if status or lost or events != EVENTS:
            raise Wrong(f"{events} events, {lost} lost, status {status}")
        return True

    def after_error(self, run):
        events, lost, status = self.show(run)
        if run.status == 2 and (events + lost != EVENTS or status != 2):
            raise Wrong(f"{events} events and {lost} lost, which are not {EVENTS}")
        # The end is missing, or even the beginning, which could not be written.
        said = "cut off" in self.said or "not a file of elog" in self.said and not events
        if status == 1 and not said and not run.where.startswith("ftruncate"):
            raise Wrong(f"a file is damaged: {self.said}")


main([
    Capture("plain"),
    Capture("rotate", "--rotate", "64K,9"),
    Capture("compress", "--compress"),
    Capture("writers", "--writers", "2"),
], os.getcwd(), names)
