#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares answers of elog sql with what other verbs find.

sql_truth.py ELOG FILE tables|events|percentiles

tables: the list of tables has the columns, types and numbers of rows that queries find.
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


def tables():
    listed = sql()
    names = [table["table"] for table in listed]
    assert names[:3] == ["events", "spans", "lost"] and len(set(names)) == len(names), names
    for table in listed:
        name = '"' + table["table"].replace('"', '""') + '"'
        assert sql(f"select count(*) n from {name}") == [{"n": table["rows"]}], table
        # Without a row there are no names of columns.
        row = sql(f"select x.* from (select 1) left join {name} x on true limit 1")[0]
        assert list(row) == list(table["columns"]), table
        for column, value in row.items():
            kind = {int: "INTEGER", str: "TEXT", decimal.Decimal: "REAL"}.get(type(value))
            assert kind in (None, table["columns"][column]) or \
                (kind, table["columns"][column]) in (("TEXT", "BLOB"), ("TEXT", "REAL")), column


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
