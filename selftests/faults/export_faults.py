# SPDX-License-Identifier: GPL-2.0-only
"""export_faults.py FILE [NAME...] - elog export, show and report with faults: see faults.py."""
import os
import sys

from faults import ELOG, Scenario, Wrong, main

source = os.path.abspath(sys.argv[1])
names = sys.argv[2:]


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Export(Scenario):
    kinds = ["memory", "map", "thread", "open", "read", "write", "sync", "rename"]

    def __init__(self, name, *arguments):
        self.name = name
        self.output = "out" in arguments
        self.command = [ELOG, *arguments, source]
        self.files = ("out", source, "stdout")

    def look(self, run):
        if not self.output:
            return run.stdout
        path = run.directory + "/out"
        if not os.path.exists(path):
            raise Wrong("there is no output")
        if not os.path.isdir(path):
            return read(path)
        return {name: read(path + "/" + name) for name in sorted(os.listdir(path))}


main([
    Export("show", "show"),
    Export("jsonl", "export", "--format", "jsonl"),
    Export("csv", "export", "--format", "csv", "-o", "out"),
    Export("perfetto", "export", "--format", "perfetto", "-o", "out"),
    Export("parquet", "export", "--format", "parquet", "-o", "out"),
    Export("report", "report", "-o", "out"),
], os.getcwd(), names)
