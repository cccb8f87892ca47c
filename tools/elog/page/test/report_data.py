#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""report_data.py PAGE - checks the data of a page of elog report against the commands in it.

Runs them with a shell, where elog must be in PATH, and prints what is different.
"""
import json
import re
import subprocess
import sys

failures = 0


def equal(what, one, other):
    global failures
    if one != other:
        failures += 1
        print(f"{what}: {str(one)[:300]} is not {str(other)[:300]}")


def page_data(path):
    with open(path, "rb") as file:
        text = file.read().decode("utf-8")
    parts = re.findall(r'<script type="application/json" id="data">\n(.*?)\n</script>', text, re.S)
    equal("scripts with data", len(parts), 1)
    equal("scripts", text.count("<script"), 2)
    return json.loads(parts[0])


def lines(command):
    """The objects that a command of the page prints. Losses and damage are no failure."""
    result = subprocess.run(["bash", "-c", command + " --format json -q 2> /dev/null"],
                            stdout=subprocess.PIPE, check=False)
    return [json.loads(line) for line in result.stdout.splitlines()]


def check_events(data):
    rows = {row["name"]: row for row in data["event_rows"]}
    counted = [row for row in lines(data["commands"]["events"]) if "provider" in row]
    plain = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*$")
    for row in counted:
        name = row["provider"] + "/" + row["event"]
        if not plain.match(row["provider"]) or not plain.match(row["event"]):
            continue
        equal(name, [rows[name][key] for key in ("events", "bytes", "level")],
              [row[key] for key in ("events", "bytes", "worst_level")])
    equal("kinds", len(rows) + data["more_events"], len(counted))
    equal("events", data["events"], sum(row["events"] for row in counted))
    equal("rates", sum(sum(rate["bins"]) for rate in data["rates"]), data["events"])
    for rate in data["rates"]:
        equal("bins", len(rate["bins"]), data["time"]["bins"])
        if not rate.get("others"):
            equal("rate of " + rate["name"], sum(rate["bins"]), rows[rate["name"]]["events"])


def check_processes(data):
    counted = [row for row in lines(data["commands"]["processes"]) if "pid" in row]
    equal("processes", sorted((row["pid"], row["name"], row["events"], row["bytes"])
                              for row in data["processes"]),
          sorted((row["pid"], row["comm"] or "", row["events"], row["bytes"]) for row in counted))


def check_losses(data):
    lost = [line for line in lines(data["commands"]["losses"]) if "lost" in line]
    equal("lost", data["lost"], sum(line["lost"] for line in lost))
    equal("causes", sum(data["causes"].values()), data["lost"])
    equal("losses over time", sum(loss["lost"] for loss in data["losses"]), data["lost"])
    for loss in data["losses"]:
        equal("causes over time", sum(loss["causes"].values()), loss["lost"])


def check_session(slow):
    events = [line for line in lines(slow["command"]) if "event" in line]
    equal("events of " + slow["session"], len(slow["events"]) + slow["before"] + slow["after"],
          len(events))
    if not slow["before"] and not slow["after"]:
        equal("names", [event[4] for event in slow["events"]],
              [event["level"] for event in events])
    at = [event[0] for event in slow["events"]]
    equal("order", at, sorted(at))
    equal("START and END are listed", 0 in at and slow["latency"] in at or slow["after"] > 0, True)


def check_span(data, span):
    what = span["name"] + ": "
    total, *slowest = lines(span["command"] + " --slowest 15")
    for key in ("pairs", "min", "p50", "p90", "p99", "p99.9", "max"):
        equal(what + key, span[key], total[key] if span["pairs"] else total[key] or 0)
    if not span["pairs"]:
        return
    equal(what + "mean", abs(span["mean"] - total["mean"]) < 1, True)
    equal(what + "starts", span["starts"] - span["pairs"],
          sum(total[key] for key in ("unpaired_starts", "restarted", "forgotten")))
    equal(what + "ends", span["ends"] - span["pairs"], total["unpaired_ends"])
    equal(what + "slowest", [(slow["latency"], int(slow["session"], 16)) for slow in span["slowest"]],
          [(slow["latency"], int(slow["session"] or "0", 16)) for slow in slowest])
    rows = span["rows"]
    for low, high, pairs in zip(rows, rows[1:], span["hist"]):
        equal(what + f"row {low}", pairs, sum(bucket["pairs"] for bucket in total["histogram"]
                                              if low <= bucket["from"] < high))
    heat = [0] * len(span["hist"])
    for _, first, *counts in span["heat"]:
        for row, number in enumerate(counts, first):
            heat[row] += number
    equal(what + "heat", heat, span["hist"])
    groups = -(-data["time"]["bins"] // span["group"])
    for name in ("p50_groups", "p99_groups"):
        equal(what + name, len(span[name]), groups)
        equal(what + name, all(value is None or span["min"] * 0.8 <= value <= span["max"] * 1.25 + 1
                               for value in span[name]), True)


def main(path, *checks):
    data = page_data(path)
    if data["listed"]:
        check_events(data)
        check_processes(data)
        check_losses(data)
        for span in data["spans"]:
            check_span(data, span)
            for slow in span["slowest"][:2]:
                check_session(slow)
    for check in checks:
        # An expression about the data, which must be true.
        equal(check, bool(eval(check, {"sum": sum, "len": len}, data)), True)
    sys.exit(failures > 0)


main(*sys.argv[1:])
