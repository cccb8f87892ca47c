# SPDX-License-Identifier: GPL-2.0-only
"""export_faults.py FOLDER [NAME...] - verbs of elog that read files, with faults: see faults.py.

FOLDER has the files: see faults_test.sh. RECEIVER is the URL of a receiver of OpenTelemetry, and
BABELTRACE_PLUGIN_PATH has the plugin of babeltrace2, if they are there.
"""
import os
import re
import shutil
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

    later = False

    def __init__(self, verb, *arguments, file="spans"):
        super().__init__(verb, *arguments, file=file, few_kinds=["memory"])


class Markers(Memory):
    """Of a program."""

    def __init__(self, *arguments):
        super().__init__("marker", "list", *arguments, file="")
        self.command.append(os.path.dirname(ELOG) + "/examples/teahouse")
        self.files = (self.command[-1],)


class Otlp(Memory):
    """What is sent is what a run without faults sends."""

    words = ("cannot start a thread",)

    def __init__(self, file):
        super().__init__("export", "--otlp", os.environ["RECEIVER"] + "/ok", file=file)

    def look(self, run):
        # How many requests there are depends on the time.
        return [re.sub(" in [0-9]+ requests?, [0-9]+ bytes?", "", line)
                for line in run.stderr.splitlines() if "sent" in line]


class Babeltrace(Memory):
    words = ("MEMORY_ERROR",)

    def __init__(self, file):
        super().__init__("", file=file)
        self.name = "babeltrace2, " + file
        inputs = ",".join(f'"{name}"' for name in self.files[1:-1])
        self.command = ["babeltrace2", "-c", "source.elog.file", f"--params=inputs=[{inputs}]"]


# What otlp_settings.c reads.
os.environ.update(OTEL_EXPORTER_OTLP_HEADERS="a=b,c=d", OTEL_RESOURCE_ATTRIBUTES="zone=here",
                  OTEL_SERVICE_NAME="test")


def more():
    """Returns what needs other programs."""
    scenarios = []
    if "RECEIVER" in os.environ:
        scenarios += [Otlp(file="spans traces instances waits")]
    if "BABELTRACE_PLUGIN_PATH" in os.environ and shutil.which("babeltrace2"):
        scenarios += [Babeltrace("spans types decoded instances")]
    return scenarios


main([
    Export("show"),
    Memory("show", *CHOICE, "--time", "wall", "--fields", "time,comm,id,fields"),
    Memory("show", "-f", 'comm ~ "(w|x)[a-z]*r[^0-9]"', file="spans"),
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
    Memory("stat", "--by", "cpu", "--format", "csv", file="instances spans"),
    Memory("show", "--session-summary"),
    Memory("stat", *CHOICE, "--format", "prometheus", "-o", "out"),
    Memory("info", "-v", file="instances spans"),
    Memory("sql", "select count(*), max(bytes), min(session) from request_end"),
    Memory("sql", "--format", "json", *SPAN, "select * from spans, lost limit 3"),
    Markers("--format", "json"),
    Markers("--tree", "*:*"),
    *more(),
], os.getcwd(), names)
