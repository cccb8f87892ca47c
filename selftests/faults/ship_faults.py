# SPDX-License-Identifier: GPL-2.0-only
"""ship_faults.py URL DRAIN [NAME...] - elog ship with faults: see faults.py.

URL is a server of NATS with an empty stream, DRAIN the program fleet_drain. Each run sends a file
of a machine of its own, and after an error a second one without faults completes it. At the end
the stream has each file, whole.
"""
import hashlib
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../../tools/elog/fleet")
import fleet_file  # noqa: E402
from faults import ELOG, Run, Scenario, Wrong, main  # noqa: E402

url, drain = sys.argv[1:3]
names = sys.argv[3:]


class Ship(Scenario):
    name = "ship"
    kinds = ["memory", "map", "thread", "open", "read", "write", "poll", "sync", "rename",
             "connect", "send", "receive"]
    few_kinds = ["memory", "read", "rename", "send"]
    files = ("x.elog", "elog_nats.so")
    words = ("No Memory", "IO Error", "Protocol Error", "No server available",
             "closed the connection")
    command = [ELOG, "ship", "--once", "--replicas", "1", url, "x.elog"]

    def __init__(self):
        self.machines = 0
        self.sums = set()

    def fill(self, directory):
        self.machines += 1
        fleet_file.make(directory + "/x.elog", 30000, f"{self.machines:032x}")
        with open(directory + "/x.elog", "rb") as file:
            self.sums.add(hashlib.sha256(file.read()).hexdigest())

    def look(self, run):
        if "not sent 0 bytes" not in run.stderr:
            raise Wrong("not all is sent")
        return True

    def after_error(self, run):
        again = Run(self.command, run.directory)
        if again.status:
            raise Wrong(f"it does not go on: {again.stderr}")

    def finish(self, work):
        subprocess.run([drain, url, work + "/drained"], check=True)
        found = set()
        for folder, _, files in os.walk(work + "/drained"):
            for name in files:
                with open(folder + "/" + name, "rb") as file:
                    found.add(hashlib.sha256(file.read()).hexdigest())
        missing = len(self.sums - found)
        if missing or len(found) != self.machines:
            raise Wrong(f"the stream has {len(found)} files of {self.machines}, "
                        f"and {missing} are not whole")


main([Ship()], os.getcwd(), names)
