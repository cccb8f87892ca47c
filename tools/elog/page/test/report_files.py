#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""report_files.py DIR - writes files for report_test.sh into DIR."""
import os
import random
import struct
import sys

from elogfile import ElogFile, c


ABORTED = 5  # EVENTLOG_LOST_ABORTED: an invalid record of a producer


def schema(provider, event, fields, level="info"):
    return f"eventlog 1\nprovider {provider}\nevent 1 {event} {level} -\n" + "".join(
        f"\t{kind} {name}\n" for name, kind in fields.items())


def payload(text, numbers=b""):
    """A string behind numbers of fixed size."""
    text = text if isinstance(text, bytes) else text.encode()
    return struct.pack("=I", (len(text) + 1) << 16 | (4 + len(numbers))) + numbers + text + b"\0"


def put(file, time, *arguments, **members):
    file.time = time - 1000
    file.event(*arguments, **members)


SCHEMAS = {
    1: schema("web", "request_start", {"path": "string", "size": "u32"}),
    2: schema("web", "request_end", {"status": "u16"}),
    3: schema("web", "query_begin", {"sql": "string"}),
    4: schema("web", "query_end", {"rows": "u32"}),
    5: schema("web", "retry", {"reason": "string"}, "warning"),
    6: schema("disk", "flush", {"bytes": "u64"}),
}


def requests(count):
    random.seed(24)
    time, events = 10 ** 9, []
    for i in range(count):
        time += int(random.expovariate(1 / 5e6)) + 1
        took = int(random.lognormvariate(11.5, 0.5)) * (40 if random.random() < 0.02 else 1)
        who = {"session": 0x1000 + i, "pid": 400 + i % 3, "tid": 400 + i % 3, "cpu": i % 2,
               "stream": i % 2}
        events.append((time, 1, payload(f"/item/{i}", struct.pack("=I", i)), who))
        if i % 3 == 0:
            events.append((time + took // 9, 3, payload("SELECT"), who))
            events.append((time + took // 2, 4, struct.pack("=I", i), who))
        if took > 2000000:
            events.append((time + took * 3 // 4, 5, payload("timeout"), who))
        events.append((time + took, 2, struct.pack("=H", 200), who))
        if i % 20 == 0:
            events.append((time, 6, struct.pack("=Q", i), {"pid": 77, "tid": 78}))
    return sorted(events, key=lambda event: event[0])


def write_normal(path, count=600):
    events = requests(count)
    lost = {len(events) // 7: {1: 17, 2: 3}, len(events) // 2: {1: 40}}
    with ElogFile(path, SCHEMAS) as file:
        for pid, name in ((400, b"nginx"), (401, b"nginx"), (77, b"flusher")):
            c.check(c.lib.elog_writer_process(file.writer, pid, pid, name))
        for number, (time, descriptor, data, members) in enumerate(events):
            put(file, time, descriptor, data, **members)
            if number in lost:
                file.loss(lost[number])
            if number % 500 == 0:
                file.sync()


def write_hostile(path):
    """Whatever ends an element, a string or a line, or turns the text."""
    evil = b'</script><script>window.owned=1</script><!--<img src=x onerror="owned=1">'
    names = {
        1: schema('"</script><b>"', '"<!-- x_start"', {"text": "string"}),
        2: schema('"</script><b>"', '"<!-- x_end"', {"text": "string"}),
        3: schema('"*?[x]"', '"a/b\'$(touch owned)_start"', {"text": "string"}),
        4: schema('"*?[x]"', '"a/b\'$(touch owned)_end"', {"text": "string"}),
    }
    with ElogFile(path, names) as file:
        c.check(c.lib.elog_writer_process(file.writer, 1, 1, b"<b>\x1b[31m\xff\xfe"))
        for i in range(20):
            for number, event in enumerate((1, 3, 2, 4)):
                put(file, 10 ** 9 + i * 1000000 + number * 1000, event,
                    payload(evil + b"\xff\x00\x1b]0;x\x07\xe2\x80\xae" + bytes(range(1, 32))),
                    session=5 + i, pid=1, tid=1)


def write_small(directory):
    with ElogFile(directory + "/none.elog", SCHEMAS):
        pass
    with ElogFile(directory + "/one.elog", SCHEMAS) as file:
        file.event(6, struct.pack("=Q", 1))
    with ElogFile(directory + "/loss.elog", SCHEMAS) as file:
        file.loss({1: 2 ** 40})
    with ElogFile(directory + "/invalid.elog", SCHEMAS) as file:
        put(file, 10 ** 9, 1, payload("x", bytes(4)), session=1)
        file.loss({ABORTED: 3})
        put(file, 10 ** 9 + 5000, 2, bytes(2), session=1)
    with ElogFile(directory + "/nospan.elog", SCHEMAS) as file:
        for i in range(50):
            put(file, 10 ** 9 + i, 6, struct.pack("=Q", i))
    # The second part is of the same clock, but begins before the first one.
    for times in (range(3, 6), range(1, 3)):
        with ElogFile(directory + "/steps.elog", SCHEMAS, append=times[0] == 1) as file:
            for time in times:
                put(file, time * 10 ** 12, 1, payload("x", bytes(4)), session=time)
                put(file, time * 10 ** 12 + 5, 2, bytes(2), session=time)
    # One event at the earliest time, one at the latest.
    with ElogFile(directory + "/wide.elog", SCHEMAS) as file:
        put(file, 1001, 1, payload("x", bytes(4)), session=1)
        put(file, 2 ** 63 - 10 ** 19 // 3, 2, bytes(2), session=1)
    # All spans take nothing, or more than a day.
    with ElogFile(directory + "/extreme.elog", SCHEMAS) as file:
        for i in range(5):
            put(file, 10 ** 9 + i, 1, payload("x", bytes(4)), session=1 + i)
            put(file, 10 ** 9 + i, 2, bytes(2), session=1 + i)
        put(file, 10 ** 9 + 9, 3, payload("x"), session=1)
        put(file, 10 ** 14, 4, bytes(4), session=1)


def write_kinds(path):
    """One provider with several pairs by attribute, which say nothing about whose END it is; jobs
    have two ENDs. Some STARTs and ENDs of each are alone."""
    names = (("request_start", "start"), ("request_end", "end"), ("flush_start", "start"),
             ("flush_end", "end"), ("job", "start"), ("job_done", "end"), ("job_failed", "end"),
             ("alone_start", "start"), ("alone_end", "end"))
    schemas = {i: f"eventlog 1\nprovider cpp\nevent {i} {name} info - {attribute}\n"
               for i, (name, attribute) in enumerate(names, 1)}
    with ElogFile(path, schemas) as file:
        session = 0
        for start, end, count, took in ((3, 4, 22, 100), (1, 2, 60, 7000), (5, 6, 9, 50),
                                        (5, 7, 5, 900)):
            for i in range(count + 3):
                session += 1
                time = 10 ** 9 + session * 10 ** 6
                if i < count + 2:
                    put(file, time, start, session=session)
                if i < count or i == count + 2:
                    put(file, time + took * (10 + i), end, session=session)
        put(file, 10 ** 10, 8, session=session + 1)
        put(file, 10 ** 10 + 1, 9, session=session + 2)


def write_long_session(path):
    """One session with more events than are listed, before and behind its slowest request."""
    with ElogFile(path, SCHEMAS) as file:
        for i in range(300):
            put(file, 10 ** 9 + i * 1000, 5, payload("before " + "x" * 1000), session=9)
        put(file, 2 * 10 ** 9, 1, payload("/", bytes(4)), session=9)
        for i in range(300):
            put(file, 2 * 10 ** 9 + 1 + i * 1000, 5, payload("behind"), session=9)
        put(file, 3 * 10 ** 9, 2, bytes(2), session=9)


def write_waits(path):
    """Four requests; the first one waits from before its START until behind its END, the second
    one has a sum after it, the third one has two threads, and the last one has no waits."""
    with open(os.path.join(os.path.dirname(__file__), "../../../..",
                           "module/sched/sched_eventlog_schema.src")) as file:
        sched = file.read().split("\nevent ")
    schemas = {**SCHEMAS, **{19 + i: sched[0] + "\nevent " + sched[i] + "\n" for i in (1, 2)}}

    def off(file, time, session, cause, blocked, runnable, tid=101):
        put(file, time, 20, struct.pack("<IQQBBhI16sIQQI", 1, blocked, runnable, cause, 0, -1, 0,
                                        b"", 0, 0, 0, 0), session=session, tid=tid)

    with ElogFile(path, schemas) as file:
        start = 10 ** 9
        put(file, start, 1, payload("/", bytes(4)), session=1)
        off(file, start + 30 * 10 ** 6, 1, 5, 40 * 10 ** 6, 10 ** 6)
        off(file, start + 50 * 10 ** 6, 1, 1, 0, 7 * 10 ** 6)
        put(file, start + 50 * 10 ** 6, 2, bytes(2), session=1)
        off(file, start + 60 * 10 ** 6, 1, 4, 15 * 10 ** 6, 0)
        put(file, start + 70 * 10 ** 6, 1, payload("/", bytes(4)), session=2)
        put(file, start + 71 * 10 ** 6, 2, bytes(2), session=2)
        times = [0] * 14
        times[4] = 400000
        put(file, start + 72 * 10 ** 6, 21, struct.pack("<II14Q", 1, 9, *times), session=2)
        # Nothing of this one was in the span.
        put(file, start + 1073 * 10 ** 6, 21, struct.pack("<II14Q", 1, 9, *times), session=2)
        put(file, start + 1080 * 10 ** 6, 1, payload("/", bytes(4)), session=3)
        off(file, start + 1088 * 10 ** 6, 3, 4, 6 * 10 ** 6, 0)
        off(file, start + 1089 * 10 ** 6, 3, 5, 8 * 10 ** 6, 0, tid=102)
        put(file, start + 1090 * 10 ** 6, 2, bytes(2), session=3)
        put(file, start + 1091 * 10 ** 6, 1, payload("/", bytes(4)), session=4)
        put(file, start + 1091 * 10 ** 6 + 9000, 2, bytes(2), session=4)


def main(directory):
    normal = directory + "/normal.elog"
    write_normal(normal)
    write_normal(directory + "/more.elog", 100)
    write_hostile(directory + "/hostile.elog")
    write_small(directory)
    write_long_session(directory + "/long.elog")
    write_waits(directory + "/waits.elog")
    write_kinds(directory + "/kinds.elog")
    with open(normal, "rb") as file:
        data = file.read()
    with open(directory + "/torn.elog", "wb") as file:
        file.write(data[:len(data) * 2 // 3])
    damaged = bytearray(data)
    middle = len(data) // 2
    damaged[middle:middle + 64] = os.urandom(64)
    with open(directory + "/damaged.elog", "wb") as file:
        file.write(damaged)
    with open(directory + "/x'<b>\n$(touch owned).elog", "wb") as file:
        file.write(data)


main(sys.argv[1])
