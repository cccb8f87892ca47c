#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes .elog files for why_test.sh: why_file.py KIND FILE [ARGUMENT...]

chain    session 1 waits for eleven holders of locks, each of which waits for the next one
wrong    events of sched with values that are no times, causes or names, and cut off
sums     short intervals, in events that come late
late     sums after the END of their span, in the next span of their session, and before their END
lost     losses
other    a schema of sched with other fields
machine  HOST BOOT CAUSE: session 1 waits for a thread, and this one for the cause; session 2 waits
         for a thread with the same number, only if the cause is 5
crowd    each wait is longer than the one before, and all are at the same time
idle     session 1 waits for a thread with a session, and this one for one without
silent   [SCHED]: three spans without waits; with SCHED, one in the last one
stacks   waits with stacks, some of which are not in the file, or wrong
spans    two spans: in one of them, a thread waits for the thread of the other one
threads  two threads of a session wait at the same time, in an inner span, for each other and for a
         session whose span has ended; and a span in an instance, one that is open at the end, lies
         and a loss
deep     COUNT [EARLY]: two sessions with so many open spans each; one waits for the other, of
         whose spans all but the first one have begun since the wait ended. The first one also
         waits when it has EARLY spans
kinds    requests and flushes, which have the attributes start and end, with the same sessions; a
         request without END; three of one session; and waits in all of them, and between them
failures one request fails: it has another END
many     COUNT: so many kinds of spans
half     a START without END
wide     COUNT: so many sessions with an open span in which they have waited
"""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python/tests"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../fleet"))
from elogfile import ElogFile  # noqa: E402
from fleet_file import FILE, block  # noqa: E402

TREE = os.path.join(os.path.dirname(__file__), "../../..")
MS = 1000000
MAX = 2 ** 64 - 1
FUTEX, DISK, SLEEP = 4, 5, 10
SHOP = "eventlog 1\nprovider shop\nevent 1 request info -\n"


def sched(number):
    """The schema of one event of the module."""
    with open(os.path.join(TREE, "module/sched/sched_eventlog_schema.src")) as file:
        head, *events = file.read().split("\nevent ")
    return head + "\nevent " + events[number] + "\n"


def off(cause, blocked, runnable=0, call=-1, by=0, name=b"", by_session=0, of=1, how=0, stack=0):
    return struct.pack("<IQQBBhI16sIQQI", of, blocked, runnable, cause, how, call, by, name,
                       1 if by_session else 0, by_session, 0, stack)


def stack_of(number, frames):
    return struct.pack("<II", number, (len(frames) + 1) << 16 | 8) + frames + b"\0"


def sum_of(count, **times):
    names = ("runnable preempted throttled yield futex disk file socket pipe fault sleep poll "
             "stopped other").split()
    return struct.pack("<II14Q", 1, count, *(times.get(name, 0) for name in names))


def open_file(path):
    return ElogFile(path, {1: SHOP, 2: sched(0), 3: sched(1), 4: sched(2)})


def chain(path):
    with open_file(path) as file:
        start = 1000 * MS
        file.event(1, session=1, tid=100, time=start)
        end = start + 20 * MS
        # The last holder waits for the disk; each one before it is released a little later.
        for number in range(11, 0, -1):
            cause = DISK if number == 11 else FUTEX
            file.event(2, off(cause, 15 * MS, by=0 if number == 11 else 100 + number + 1,
                              name=b"holder-%d" % (number + 1), call=202,
                              by_session=0 if number == 11 else 10 + number + 1),
                       session=10 + number, tid=100 + number, time=end + (11 - number) * 1000)
        file.event(2, off(FUTEX, 19 * MS, MS, by=101, name=b"holder-1", by_session=11, call=202),
                   session=1, tid=100, time=end + 20000)
        file.event(1, session=1, tid=100, time=end + MS)


def wrong(path):
    with open_file(path) as file:
        file.event(1, session=1, tid=100, time=1000 * MS)
        file.event(2, off(255, MAX, MAX, by=7, name=b"\x1b[31m\xff\n\"", by_session=MAX, how=255,
                          call=-7), session=1, tid=100, time=1001 * MS)
        file.event(2, off(0, MAX, MAX, of=99), session=1, tid=0, time=1002 * MS)
        file.event(2, off(FUTEX, MS)[:9], session=1, tid=100, time=1003 * MS)
        file.event(2, b"", session=1, tid=100, time=1004 * MS)
        file.event(3, sum_of(2 ** 32 - 1, futex=MAX, runnable=MAX), session=1, tid=100,
                   time=1005 * MS)
        file.event(3, b"\1", session=1, tid=100, time=1006 * MS)
        # Who waits for itself.
        file.event(2, off(FUTEX, 5 * MS, by=100, name=b"self", by_session=1), session=1, tid=100,
                   time=1010 * MS)
        file.event(2, off(FUTEX, 6 * MS, by=100, name=b"self", by_session=1), session=1, tid=100,
                   time=1011 * MS)
        for number in range(300):
            file.event(2, off(SLEEP, MS, by=number + 1, name=b"x", call=number), session=1,
                       tid=100 + number, time=(1012 + number) * MS)


def sums(path):
    with open_file(path) as file:
        file.event(1, session=1, tid=100, time=1000 * MS)
        file.event(1, session=1, tid=100, time=1010 * MS)
        file.event(3, sum_of(50, futex=2 * MS, runnable=MS), session=1, tid=100, time=5000 * MS)
        # Of another session, and of a thread that did nothing else in this one.
        file.event(3, sum_of(50, futex=2 * MS), session=2, tid=100, time=5000 * MS)


def idle(path):
    with open_file(path) as file:
        start = 1000 * MS
        file.event(1, session=1, tid=100, time=start)
        file.event(2, off(FUTEX, 15 * MS, by=102, name=b"compactor"), session=11, tid=101,
                   time=start + 19 * MS)
        file.event(2, off(FUTEX, 19 * MS, by=101, name=b"worker", by_session=11), session=1,
                   tid=100, time=start + 20 * MS)
        # Nothing is known of who ended this one, but its name.
        file.event(2, off(DISK, MS, by=102, name=b"compactor"), session=1, tid=100,
                   time=start + 22 * MS)
        file.event(1, session=1, tid=100, time=start + 22 * MS)


def silent(path, sched_too=""):
    with ElogFile(path, {1: shop(1, "request_start"), 2: sched(0),
                         3: shop(2, "request_end")}) as file:
        for session in (1, 2, 3):
            file.event(1, session=session, tid=100, time=(1000 + 20 * session) * MS)
            if sched_too and session == 3:
                file.event(2, off(FUTEX, 5 * MS), session=3, tid=100, time=1068 * MS)
            file.event(3, session=session, tid=100, time=(1010 + 20 * session) * MS)


def lost(path):
    with open_file(path) as file:
        file.event(1, session=1, tid=100, time=1000 * MS)
        file.event(2, off(FUTEX, MS), session=1, tid=100, time=1002 * MS)
        file.sync()
        file.loss({1: 3})
        file.event(1, session=1, tid=100, time=1010 * MS)


def other(path):
    text = ("eventlog 1\nprovider sched\nevent 1 off info -\n"
            "\tu32 of\n\tstring cause\n\tu8 blocked\n")
    with ElogFile(path, {1: SHOP, 2: text}) as file:
        file.event(1, session=1, tid=100, time=1000 * MS)
        file.event(2, struct.pack("<IIB", 1, 2 << 16 | 9, 9) + b"x\0", session=1, tid=100,
                   time=1001 * MS)


def machine(path, host, boot, cause):
    with open_file(path) as file:
        # The second one is a little later, and its intervals are between those of the first.
        start = 1000 * MS if cause == "5" else 1000 * MS + 100000
        file.event(1, session=1, tid=100, time=start)
        file.event(2, off(int(cause), 15 * MS), session=11, tid=101, time=start + 20 * MS)
        file.event(2, off(FUTEX, 19 * MS, by=101, name=b"holder", by_session=11), session=1,
                   tid=100, time=start + 21 * MS)
        if cause == "5":
            file.event(2, off(FUTEX, 19 * MS, by=101, name=b"holder", by_session=11), session=2,
                       tid=102, time=start + 22 * MS)
            file.event(1, session=2, tid=102, time=start + 22 * MS)
        file.event(1, session=1, tid=100, time=start + 22 * MS)
    with open(path, "rb") as file:
        old = file.read()
    size = struct.unpack_from("<I", old, 16)[0]
    body = re.sub(rb"(?m)^host .*$", b"host " + host.encode(), old[32:32 + size])
    body = re.sub(rb"(?m)^boot_id .*$", b"boot_id " + boot.encode(), body)
    with open(path, "wb") as file:
        file.write(block(FILE, body) + old[32 + (size + 7) // 8 * 8:])


def crowd(path):
    with open_file(path) as file:
        for number in range(1, 10001):
            file.event(2, off(FUTEX, 1000 * MS + 2 * number, by=100, name=b"self", by_session=1),
                       session=1, tid=100, time=1000 * MS + number)


def stacks(path):
    disk = (b"__schedule+0x2a/0x8a0;schedule+0x5a/0xd0;io_schedule+0x42/0x70;"
            b"folio_wait_bit_common+0x13d/0x350;filemap_fault+0x1/0x2;a+0x1/0x2 [ext4];b+0x1/0x2;"
            b"c+0x1/0x2;d+0x1/0x2")
    fault = (b"__switch_to+0x8/0x9;schedule+0x5a/0xd0;handle_userfault+0x1/0x2;handle_mm_fault+0x1/0x2;"
             b"asm_exc_page_fault+0x22/0x30;pipe_write+0x1/0x2")
    with open_file(path) as file:
        file.event(1, session=1, tid=100, time=1000 * MS)
        # Two numbers of the same stack; one that is longer; one that is not in the file.
        for i, (number, cause) in enumerate(((7, DISK), (8, DISK), (9, DISK), (10, DISK),
                                             (12, 8), (13, FUTEX), (14, SLEEP))):
            time = 3 * MS if number == 9 else 2 * MS
            file.event(2, off(cause, time, stack=number), session=1, tid=100,
                       time=(1010 + 10 * i) * MS)
        file.event(4, stack_of(7, disk), time=1100 * MS)
        # Said again, but the first one counts.
        file.event(4, stack_of(7, b"wrong+0x1/0x2"), time=1101 * MS)
        file.event(4, stack_of(8, disk), time=1102 * MS)
        file.event(4, stack_of(9, b"other+0x1/0x2"), time=1103 * MS)
        file.event(4, stack_of(12, fault), time=1104 * MS)
        file.event(4, stack_of(13, b"\x1b[31m;;\xff\n+\"<b>;;"), time=1105 * MS)
        file.event(4, stack_of(14, b""), time=1106 * MS)
        file.event(4, stack_of(0, b"zero"), time=1107 * MS)
        file.event(4, b"\1\0", time=1108 * MS)
        file.event(4, struct.pack("<II", 15, 0xffff << 16 | 8) + b"short\0", time=1109 * MS)


def shop(number, name):
    return f"eventlog 1\nprovider shop\nevent {number} {name} info -\n"


PAIRS = ("request_start", "request_end", "query_start", "query_end")


def spans(path):
    with ElogFile(path, {1: shop(1, "request_start"), 2: sched(0),
                         3: shop(2, "request_end")}) as file:
        file.event(1, session=2, tid=101, time=990 * MS)
        file.event(1, session=1, tid=100, time=1000 * MS)
        # From before the start of the span.
        file.event(2, off(FUTEX, 30 * MS, MS, call=202, by=101, name=b"other", by_session=2),
                   session=1, tid=100, time=1020 * MS)
        file.event(2, off(1, 0, 2 * MS, by=7, name=b"hog"), session=1, tid=100, time=1025 * MS)
        # Of a session without a span.
        file.event(2, off(FUTEX, MS), session=3, tid=102, time=1026 * MS)
        file.event(3, session=1, tid=100, time=1030 * MS)
        file.event(3, session=2, tid=101, time=1040 * MS)


def late(path):
    schemas = {number + 1: shop(number + 1, name) for number, name in enumerate(PAIRS)}
    with ElogFile(path, {**schemas, 5: sched(0), 6: sched(1)}) as file:
        for time, session, number, payload in (
                (1000, 1, 1, b""), (1005, 1, 5, off(DISK, 2 * MS)), (1010, 1, 2, b""),
                (1011, 1, 6, sum_of(9, futex=3 * MS, runnable=MS)),
                (1020, 2, 1, b""), (1025, 2, 6, sum_of(9, pipe=2 * MS)), (1030, 2, 2, b""),
                (1040, 1, 1, b""), (1041, 1, 6, sum_of(9, futex=3 * MS)), (1050, 1, 2, b"")):
            file.event(number, payload, session=session, tid=100, time=time * MS)


def edge(path):
    """Waits that end when a span begins or ends."""
    schemas = {number + 1: shop(number + 1, name) for number, name in enumerate(PAIRS[:2])}
    with ElogFile(path, {**schemas, 5: sched(0)}) as file:
        for time, session, number, payload in (
                (1000, 1, 1, b""), (1020, 1, 5, off(FUTEX, 10 * MS)), (1020, 1, 2, b""),
                (1020, 1, 1, b""), (1025, 1, 5, off(DISK, 4 * MS, MS)), (1025, 1, 2, b""),
                (1100, 2, 5, off(DISK, 30 * MS)), (1100, 2, 1, b""), (1110, 2, 2, b"")):
            file.event(number, payload, session=session, tid=100, time=time * MS)


def threads(path):
    """Each event is at this time, ms."""
    schemas = {10 * domain + number + 1: shop(number + 1, name)
               for domain in range(2) for number, name in enumerate(PAIRS)}
    with ElogFile(path, {**schemas, 5: sched(0), 15: sched(0)}) as file:
        def event(time, number, payload=b"", **members):
            file.event(number, payload, **{"session": 1, "tid": 100, **members}, time=time * MS)

        event(1000, 1)
        event(1000, 1, session=2, tid=102)
        event(1002, 3)
        event(1010, 2, session=2, tid=102)
        # Both wait at once; the first one for what session 2 did before its end.
        event(1011, 5, off(FUTEX, 6 * MS, 2 * MS, by=102, name=b"holder", by_session=2, call=202))
        event(1012, 5, off(DISK, 8 * MS, MS, by=100, name=b"worker", by_session=1), tid=101)
        event(1013, 4)
        event(1016, 5, off(SLEEP, MS, MS))
        # It ends in the span, but began in the one that has ended.
        event(1016, 5, off(FUTEX, 4 * MS, by=7, name=b"kthread", how=8), tid=101)
        event(1020, 2)
        for number, time in ((11, 1021), (15, 1025), (12, 1026)):
            event(time, number, off(FUTEX, 2 * MS, MS) if number == 15 else b"", stream=2,
                  instance=b"web")
        # Without a span; with one that stays open; and a thread that waits twice at once.
        event(1030, 5, off(1, 0, 2 * MS, by=7, name=b"hog"), session=3, tid=103)
        event(1031, 1, session=4, tid=104)
        event(1034, 5, off(DISK, 2 * MS, MS, call=0), session=4, tid=104)
        event(1035, 5, off(DISK, 20 * MS, MS), session=3, tid=103)
        event(1035, 5, off(DISK, 20 * MS, MS), session=3, tid=103)
        # More than the time since the machine started.
        event(1036, 5, off(DISK, MAX, MAX), session=3, tid=105)
        # Whether the span has ended is not known.
        event(1040, 1, session=6, tid=106)
        file.time = 1041 * MS
        file.sync()
        file.loss({1: 1})
        event(1045, 5, off(DISK, 2 * MS), session=6, tid=106)


def deep(path, count, early="0"):
    count, early = int(count), int(early)
    starts = {number + 1: shop(number + 1, f"level{number}_start") for number in range(count)}
    ends = {count + number + 1: shop(count + number + 1, f"level{number}_end")
            for number in range(count)}
    wait = 2 * count + 1
    with ElogFile(path, {**starts, **ends, wait: sched(0)}) as file:
        for level in range(count):
            file.event(level + 1, session=1, tid=100, time=(1000 + (early and level >= early)) * MS)
            if level + 1 == early:
                file.event(wait, off(FUTEX, MS // 2), session=1, tid=100, time=1001 * MS)
        for level in range(count):
            file.event(level + 1, session=2, tid=101, time=(1000 if not level else 1015) * MS)
        file.event(wait, off(FUTEX, 5 * MS, 10 * MS, by=101, name=b"other", by_session=2),
                   session=1, tid=100, time=1020 * MS)
        for session, tid in ((1, 100), (2, 101)):
            for level in range(count - 1, -1, -1):
                file.event(count + level + 1, session=session, tid=tid, time=1030 * MS)


def wide(path, count):
    """
    The last session has further waits when all others have ended, and a sum after its END. A
    session that begins meanwhile has two spans, and a sum in the second one.
    """
    sessions = range(1, int(count) + 1)
    with ElogFile(path, {1: shop(1, "request_start"), 2: sched(0), 3: shop(2, "request_end"),
                         4: sched(1), 5: shop(3, "late_start") + "\tu32 lateness\n",
                         6: shop(4, "late_end")}) as file:
        def event(time, number, session, payload=b""):
            file.event(number, payload, session=session, tid=100, time=time * MS)

        for time, number, payload in ((1000, 1, b""), (1020, 2, off(FUTEX, 5 * MS)),
                                      (1030, 3, b"")):
            if number == 3:
                for late, kind, data in ((1021, 5, bytes(4)), (1022, 6, b""), (1023, 5, bytes(4)),
                                         (1024, 4, sum_of(9, pipe=MS // 2)), (1025, 6, b"")):
                    event(late, kind, len(sessions) + 1, data)
            for session in sessions[:-1] if number == 3 else sessions:
                event(time, number, session, payload)
        event(1040, 2, sessions[-1], off(DISK, 5 * MS))
        event(1050, 3, sessions[-1])
        event(1051, 4, sessions[-1], sum_of(9, pipe=5 * MS))


def kinds(path):
    head = "eventlog 1\nprovider shop\n"
    names = {1: "request_start info - start\n\tstring method\n\tstring path",
             2: "request_end info - end\n\tu16 status", 3: "flush_start info - start\n\tu32 pages",
             4: "flush_end info - end\n\tu16 status", 7: "note info -"}
    texts = {number: f"{head}event {number} {text}\n" for number, text in names.items()}
    with ElogFile(path, {**texts, 5: sched(0), 6: sched(1)}) as file:
        def event(time, number, session, payload=b""):
            file.event(number, payload, session=session, tid=100, time=time * MS)

        def request(method, name):
            return struct.pack("<II", (len(method) + 1) << 16 | 8, (len(name) + 1) << 16 |
                               (9 + len(method))) + method + b"\0" + name + b"\0"

        status, missing = struct.pack("<H", 200), struct.pack("<H", 404)
        for time, number, session, payload in (
                (900, 7, 5, b""),
                # In this order: session 5 is a short request, a long one, and a flush.
                (1000, 1, 5, request(b"GET", b"/item/1")), (1010, 2, 5, status),
                (1020, 5, 5, off(SLEEP, 8 * MS)),
                (1050, 6, 5, sum_of(9, pipe=MS)),
                (1100, 1, 5, request(b"GET", b"/item/312")),
                (1110, 5, 5, off(DISK, 40 * MS)), (1200, 5, 5, off(FUTEX, 80 * MS, 5 * MS)),
                (1300, 2, 5, missing), (1310, 6, 5, sum_of(9, pipe=2 * MS)),
                (1400, 3, 5, struct.pack("<I", 7)), (1450, 5, 5, off(DISK, 45 * MS)),
                (1500, 4, 5, status),
                (1600, 1, 6, request(b"PUT", b"/\x1b[31m'\n" + b"x" * 500)),
                (1650, 2, 6, status), (1700, 1, 7, request(b"GET", b"/open")),
                (1800, 7, 5, b"")):
            event(time, number, session, payload)


def failures(path):
    head = "eventlog 1\nprovider shop\n"
    names = {1: "request_start info - start", 2: "request_end info - end",
             3: "request_failed info - end"}
    texts = {number: f"{head}event {number} {text}\n" for number, text in names.items()}
    with ElogFile(path, texts) as file:
        for time, number, session in ((1000, 3, 9), (1000, 1, 1), (1010, 2, 1), (1020, 1, 2),
                                      (1050, 3, 2), (1060, 1, 3), (1065, 2, 3)):
            file.event(number, session=session, tid=100, time=time * MS)


def many(path, count):
    texts = {}
    for number in range(int(count)):
        texts[2 * number + 1] = shop(2 * number + 1, f"work{number}_start")
        texts[2 * number + 2] = shop(2 * number + 2, f"work{number}_end")
    with ElogFile(path, texts) as file:
        for number in range(int(count)):
            file.event(2 * number + 1, session=1, tid=100, time=(1000 + 20 * number) * MS)
            file.event(2 * number + 2, session=1, tid=100,
                       time=(1000 + 20 * number) * MS + (number + 1) * 1000)


def half(path):
    with ElogFile(path, {1: shop(1, "request_start")}) as file:
        file.event(1, session=1, tid=100, time=1000 * MS)


globals()[sys.argv[1]](*sys.argv[2:])
