#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares answers of elog sql with what other verbs find.

sql_truth.py ELOG FILE events|percentiles

events: the table of all events is what elog show --format json prints.
percentiles: those of spans are those of elog latency.
"""
import decimal
import json
import subprocess
import sys

elog, path, how = sys.argv[1:4]


def run(*arguments):
    done = subprocess.run([elog, *arguments], stdout=subprocess.PIPE, check=False)
    assert done.returncode in (0, 2), arguments
    # Other characters may end a line elsewhere.
    return [json.loads(line, parse_float=decimal.Decimal)
            for line in done.stdout.decode("utf-8").split("\n") if line]


def sql(*query):
    return run("sql", "-q", "--format", "json", path, *query)


def events():
    shown = [line for line in run("show", "-q", "--format", "json", path) if "event" in line]
    answers = sql("select * from events order by rowid")
    assert len(shown) == len(answers) and len(shown) > 0
    for line, answer in zip(shown, answers):
        assert answer["mono"] == int(line.pop("time") * 10 ** 9), answer
        assert json.loads(answer["fields"], parse_float=decimal.Decimal) == line.pop("fields"), line
        for name in "cpu", "pid", "tid", "provider", "session", "event", "level":
            assert answer[name] == line.pop(name), (name, answer)
        assert answer["instance"] == line.pop("instance", None)
        assert (answer["comm"] or "?") == line.pop("comm") or answer["tid"] == 0, answer
        assert not line and answer["host"], line


def middle(value, least, most):
    """What elog latency prints for a value of which it keeps three digits."""
    unit = 10 ** max(len(str(value)) - 3, 0)
    return min(max(value // unit * unit + (unit - 1) // 2, least), most)


def percentiles():
    latency = run("latency", "-q", "--format", "json", "request_start", "request_end", path)[0]
    for name in "p50", "p90", "p99", "p99.9":
        answer = sql(f"select percentile(duration, {name[1:]}) p, percentile(duration, 0) least,"
                     "percentile(duration, 100) most from spans where name = 'request'")[0]
        assert middle(answer["p"], answer["least"], answer["most"]) == latency[name], (name, answer)
        assert (answer["least"], answer["most"]) == (latency["min"], latency["max"])


globals()[how]()
