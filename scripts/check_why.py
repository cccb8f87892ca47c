# SPDX-License-Identifier: GPL-2.0-only
#
# check_why.py - compares what elog why says about each request of tools/examples/waits.c with
# what the program says: see scripts/check-why.
#
#	check_why.py ELOG RESULTS ROUNDS KERNEL
import json
import re
import subprocess
import sys

elog, results, rounds, kernel = sys.argv[1:]
capture = results + "/waits.elog"
failed = False


def text(*arguments):
    return subprocess.run([elog, *arguments], check=True, stdout=subprocess.PIPE).stdout.decode()


def run(*arguments):
    return [json.loads(line) for line in text(*arguments).splitlines()]


class Cause:
    """The requests that wait for one thing."""

    def __init__(self):
        self.requests = self.right = self.wakers = self.whole = 0
        self.least = 1.0
        self.longest = 0
        self.time = 0
        self.wrong = []


def take(cause, name, request, tid, by_session):
    session, parts = request[0], request[1:]
    times = {part["part"]: part["time"] for part in parts}
    largest = max(parts, key=lambda part: part["time"])
    cause.requests += 1
    cause.time += times.get(name, 0)
    if largest["part"] == name:
        cause.right += 1
    else:
        cause.wrong.append(times)
    # A request that is throttled also runs.
    share = times.get(name, 0) + (times.get("on CPU", 0) if name == "throttled" else 0)
    cause.least = min(cause.least, share / session["wall"])
    cause.whole += (session["threads"] == 1 and session["lost"] == 0 and
                    min(times.values()) >= 0 and sum(times.values()) == session["wall"])
    cause.wakers += tid == 0 or any(
        waker["tid"] == tid and waker["provider"] == "waits" and waker["session"] == by_session
        for waker in largest.get("wakers", []))


def holders(request, tid):
    """The threads of the chain that the request waited for."""
    for part in request[1:]:
        for waker in part.get("wakers", []):
            if part["part"] == "futex" and waker["tid"] == tid:
                return [holder["name"] for holder in waker["holders"]]
    return []


def demand(what, met, why=""):
    global failed
    print(f"{'ok' if met else 'not ok'} - {kernel}: {what}{'' if met else ': ' + str(why)}")
    failed = failed or not met


causes, chains, requests, blanks = {}, 0, {}, []
with open(results + "/truth") as truth:
    for line in truth:
        number, name, tid, by_session = line.rstrip("\n").split("\t")
        request = run("why", "-q", "--format", "json", "waits:" + number, capture)
        take(causes.setdefault(name, Cause()), name, request, int(tid), by_session)
        requests[number] = name
        lines = text("why", "-q", "waits:" + number, capture).splitlines()
        blanks += [line for line in lines if line.endswith(" ")]
        if name == "futex":
            chains += holders(request, int(tid)) == ["holder", "middle", "keeper"]

print(f"{kernel + ': cause':<20} {'right':>9} {'waker':>9} {'parts = wall':>13} {'least share':>12}")
for name, cause in causes.items():
    print(f"{name:<20} {cause.right:>4}/{cause.requests:<4} {cause.wakers:>4}/{cause.requests:<4} "
          f"{cause.whole:>8}/{cause.requests:<4} {100 * cause.least:>10.2f} %")

for name, cause in causes.items():
    good = cause.right == cause.wakers == cause.whole == cause.requests >= int(rounds)
    demand(f"{name}: cause, waker and sum are right", good, cause.wrong[:1])
    demand(f"{name}: at least 95 % of the time", cause.least >= 0.95, f"{cause.least:.4f}")
demand("no line of text ends with a blank", not blanks, blanks[:1])
demand("the three holders of mutexes have their names", chains == int(rounds), chains)

# elog may say more there. Without this line nothing is between the numbers.
with open(results + "/errors") as said:
    line = re.search(r"^waits: throttled for (\d+) to (\d+) us$", said.read(), re.M)
least, most = [1000 * int(number) for number in line.groups()] if line else [1, 0]
found = causes["throttled"].time
demand(f"throttled for {found / 1e6:.2f} ms, the kernel counts {least / 1e6:.2f} to "
       f"{most / 1e6:.2f} ms", 0.99 * least <= found <= 1.01 * most, found)

# The helpers have the sessions 75 to 79.
others = [event for event in run("show", "-q", "--format", "json", "-e", "sched/off", "-e",
                               "sched/sum", capture)
          if event["session"] not in requests and not 75 <= int(event["session"], 0) <= 79]
others += run("show", "-q", "--format", "json", results + "/others.elog")
demand("threads without a session emit nothing", not others, others[:1])
sys.exit(failed)
