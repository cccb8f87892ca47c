# SPDX-License-Identifier: GPL-2.0-only
"""export_faults.py FOLDER [NAME...] - the verbs of elog that read files, with faults: see faults.py.

FOLDER has the files: see faults_test.sh.
"""
import os
import sys

from faults import ELOG, Scenario, Wrong, main

folder = os.path.abspath(sys.argv[1])
names = sys.argv[2:]
SPAN = ["--span", "request_start:request_end", "--span", "quer*:*", "--by", "session,tid"]
# What chooses events.
CHOICE = ["-e", "shop/request_*", "-e", "shop/query*", "-l", "verbose", "-s", "1", "-s", "3",
          "-f", '(session == 1 || session == 3) && comm ~ "work"', "--since", "+0"]


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Export(Scenario):
    kinds = ["memory", "map", "thread", "open", "read", "write", "sync", "rename"]

    def __init__(self, verb, *arguments, file="spans", few_kinds=None):
        self.name = f"{verb} {' '.join(arguments)}, {file}"
        self.output = "out" in arguments
        self.few_kinds = few_kinds
        files = [f"{folder}/{name}.elog" for name in file.split()]
        query = [arguments[-1]] if verb == "sql" else []
        self.command = [ELOG, verb, *arguments[:len(arguments) - len(query)], *files, *query]
        self.files = ("out", *files, "stdout")

    def look(self, run):
        if not self.output:
            return run.stdout
        path = run.directory + "/out"
        if not os.path.exists(path):
            raise Wrong("there is no output")
        if not os.path.isdir(path):
            return read(path)
        return {name: read(path + "/" + name) for name in sorted(os.listdir(path))}


class Memory(Export):
    """In make check, only memory."""

    def __init__(self, verb, *arguments, file="spans"):
        super().__init__(verb, *arguments, file=file, few_kinds=["memory"])


main([
    Export("show"),
    Memory("show", *CHOICE, "--time", "wall", "--fields", "time,comm,id,fields"),
    Memory("stat", "--by", "session", file="many"),
    Memory("show", "--format", "json", file="types decoded instances"),
    Export("export", "--format", "jsonl"),
    Memory("export", "--format", "jsonl", *SPAN, file="instances traces"),
    Export("export", "--format", "csv", "-o", "out"),
    Export("export", "--format", "perfetto", "-o", "out"),
    Memory("export", "--format", "perfetto", "-o", "out", file="nested instances decoded"),
    Export("export", "--format", "parquet", "-o", "out"),
    Memory("export", "--format", "parquet", "-o", "out", *SPAN, file="types decoded wide"),
    Export("report", "-o", "out"),
    Memory("report", "-o", "out", *CHOICE, file="nested instances spans"),
    Memory("report", "-o", "out", file="threads"),
    Memory("latency", "-q", "--group", "status", "--slowest", "2", "request_start", "request_end"),
    Memory("latency", "--why", "--format", "json", "request_start", "request_end",
           file="threads"),
    Memory("latency", "-q", "--by", "tid,cpu", "-f", "session > 0", "request_*", "request_end"),
    Memory("why", "shop:1", file="chain"),
    Memory("why", "--format", "json", "shop:1", file="stacks"),
    Memory("stat", "--by", "session", "--format", "json", file="instances spans"),
    Memory("stat", "--by", "host", file="one two"),
    Memory("stat", *CHOICE, "--format", "prometheus", "-o", "out"),
    Memory("info", "-v", file="instances spans"),
    Memory("sql", "select count(*), max(bytes), min(session) from request_end"),
    Memory("sql", "--format", "json", *SPAN, "select * from spans, lost limit 3"),
], os.getcwd(), names)
