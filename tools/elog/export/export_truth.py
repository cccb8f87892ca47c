#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares what readers find in exports with elog show --format json.

export_truth.py ELOG FILE lines|csv|sql|prometheus|tables|slices|attributes [READ]

lines, csv, sql and prometheus read what ELOG writes. READ has what readers of other formats have
found: a line of JSON for each event, {"provider", "event", "session", "fields": {...}}, in any
order. The first letter of a field's name says what it is: see export_file.py bounds.
"""
import csv
import io
import json
import math
import re
import struct
import subprocess
import sys
from collections import Counter

elog, path, how = sys.argv[1:4]
csv.field_size_limit(1 << 20)


def run(*arguments):
    done = subprocess.run([elog, *arguments], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode("utf-8")


def lines(text):
    # Other characters may end a line elsewhere.
    return [json.loads(line) for line in text.split("\n") if line]


def number(value):
    """An integer, of 64 bits without a sign."""
    return (int(value, 0) if isinstance(value, str) else int(value)) % 2 ** 64


def real(value, single=False):
    value = float(value)
    if single and math.isfinite(value):
        value, = struct.unpack("<f", struct.pack("<f", value))
    return "nan" if value != value else value.hex()


def blob(value):
    """Bytes as DuckDB prints them, as hexadecimal digits."""
    return re.sub(r"\\x(..)|(.)", lambda m: (m[1] or f"{ord(m[2]):02x}").lower(), value, flags=re.S)


def named(value):
    """A list of flags, or flags with bars; the number of an enum."""
    if isinstance(value, list):
        return "|".join(value) or "0"
    return str(value)


def seconds(value):
    """A date, or seconds since 1970 where a date is not possible."""
    match = re.fullmatch(r"(-?\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z", str(value))
    if not match:
        return int(value)
    year, month, day, hour, minute, second = map(int, match.groups())
    year -= month <= 2
    month = (month + 9) % 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 719469
    return days * 86400 + hour * 3600 + minute * 60 + second


def truth(value):
    # A column of bools has nothing else.
    return bool(number(value)) if how == "tables" else number(value)


def of_byte(value):
    """A signed integer that is shown as hexadecimal has the bits of its type."""
    return number(value) % 256


KINDS = {"i": number, "h": of_byte, "p": number, "b": truth, "x": str, "e": named, "g": named, "s": seconds,
         "d": real, "f": lambda value: real(value, True)}


def normal(name, value):
    if value is None:
        # SQLite has no number that is none.
        return "nan" if how == "sql" and name[:2] in ("d_", "f_") else None
    kind = KINDS.get(name[0]) if name[1:2] == "_" and name != "a_" else None
    return kind(value) if kind else str(value)


def event(provider, name, session, fields):
    """What all formats have in common, for a comparison."""
    return json.dumps([provider, name, session, sorted((key, normal(key, value))
                                                       for key, value in fields.items())])


def shown():
    return lines(run("show", "-q", "--format", "json", path))


def plain(event, fields):
    """Only in JSON, odd names of fields are as a program gave them."""
    if event != "header":
        return fields
    text = run("show", "-q", "-e", f"*/{event}", path)
    return dict(zip(re.findall(r" (\S+)=\d+(?= |\n)", text), fields.values()))


def renamed(fields, taken):
    """Fields that have the name of a column get underscores, and no name of another field."""
    names, others, result = set(taken), {name.lower() for name in fields}, {}
    for field, value in fields.items():
        name = field
        while name.lower() in names or (name != field and name.lower() in others):
            name += "_"
        names.add(name.lower())
        result[name] = value
    return result


def of_perfetto(fields):
    """Points are underscores, and fields that have the name of an argument get underscores."""
    result = {}
    for key, value in fields.items():
        name = key.replace(".", "_")
        if name in ("session", "instance", "host", "machine_id"):
            name += "_"
        while name != key and name in fields:
            name += "_"
        result[name] = value
    return result


def attributes(rows):
    """Log records of OpenTelemetry, as otlp_read.cjs prints them."""
    ours = ("thread.id", "thread.name", "cpu.logical_number", "eventlog.session")
    for row in rows:
        fields = row["attributes"]
        replaced = row["log"] == "header"
        yield {"provider": row["resource"]["service.name"], "event": row["log"],
               "session": None if replaced else fields.get("eventlog.session"),
               "fields": {key: value for key, value in fields.items()
                          if key not in ours or (replaced and isinstance(value, int)
                                                 and value < 100 and key != "cpu.logical_number")}}


def from_sql():
    for provider, name in dict.fromkeys((row["provider"], row["event"]) for row in shown()):
        quoted = ["'" + text.replace("'", "''") + "'" for text in (provider, name, path)]
        rows = lines(run("sql", "-q", "--format", "json", path,
                         f"create virtual table temp.t using elog({','.join(quoted)}); select * from t"))
        for row in rows:
            fields = dict(list(row.items())[COLUMNS_SQL:])
            yield {"provider": provider, "event": name, "session": row["session"],
                   "fields": fields}


COMMON = ["time", "mono", "session", "session_number", "cpu", "pid", "tid", "comm", "instance",
          "host", "machine_id", "boot_id"]
COLUMNS_SQL = len(COMMON)
TABLES = COMMON + ["provider", "event", "level", "keywords"]


def compare(wanted, found):
    wanted, found = Counter(wanted), Counter(found)
    for what, rows in ("missing", wanted - found), ("not in the file", found - wanted):
        for row in list(rows)[:5]:
            print(f"{what}: {row[:600]}")
    if wanted != found:
        sys.exit(1)
    print(f"{sum(found.values())} events")


def prometheus():
    wanted = Counter((row["provider"], row["event"]) for row in shown())
    found = Counter()
    label = r'[a-z_]+="((?:[^"\\\n]|\\["\\n])*)"'
    for line in run("stat", "-q", "--format", "prometheus", path).split("\n"):
        match = re.fullmatch(rf"eventlog_events_total\{{{label},{label},{label}\}} (\d+)", line)
        if match:
            key = tuple(re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)
                        for text in match.groups()[:2])
            assert key not in found, f"twice: {line}"
            found[key] = int(match[4])
        else:
            assert not line.startswith("eventlog_events_total"), line
    compare([repr(key) for key in wanted.elements()], [repr(key) for key in found.elements()])


def main():
    if how == "prometheus":
        return prometheus()
    rows = [(row["provider"], row["event"], row["session"], row["fields"]) for row in shown()]
    if how == "lines":
        found = lines(run("export", "-q", "--format", "jsonl", path))
    elif how == "csv":
        text = run("export", "-q", "--format", "csv", path)
        found = list(csv.DictReader(io.StringIO(text, newline="")))
        for row in found:
            row["fields"] = json.loads(row["fields"])
            row["session"] = row["session"] or None
    elif how == "sql":
        found = list(from_sql())
    else:
        with open(sys.argv[4], encoding="utf-8") as file:
            found = lines(file.read())
        if how == "attributes":
            found = list(attributes(found))
        for row in found if how == "tables" else ():
            row["fields"].update({name: blob(value) for name, value in row["fields"].items()
                                  if name.startswith("x_")})
    if how not in ("lines", "csv"):
        change = {"sql": lambda fields: renamed(fields, COMMON), "slices": of_perfetto,
                  "tables": lambda fields: renamed(fields, TABLES)}.get(how, dict)
        rows = [(*row[:3], change(plain(row[1], row[3]))) for row in rows]
    compare([event(*row) for row in rows],
            [event(row["provider"], row["event"], row["session"], row["fields"]) for row in found])


main()
