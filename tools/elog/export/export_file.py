#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes .elog files for export_test.sh: export_file.py KIND FILE [COUNT]

spans    requests with nested, crossing, restarted, lost and unpaired spans
wide     40 events with long names, and with fields that differ
types    an event with a field of each type, with unusual values; an unknown definition
decoded  an event with an eventheader, which has fields of other types
instances a session of the root and of two instances, with equal names and numbers, and losses
names    events and fields with names that SQLite or other columns have
own      events with names of tables that elog sql has, two definitions of an event, and 100 events
empty    no event
twins    events whose names differ only in case or in a slash, or are those of missing ones
floats   numbers that lose digits easily, and those that are not finite
equal    spans that begin and end at the same times
ties     spans that take the same time, then one that takes longer
renamed  threads whose id is used again, or whose name changes
reused   numbers of processes that are used again while a span of the first one is open
boots    two boots, a day apart, whose sessions have equal numbers
escapes  a thread whose name has an escape sequence
hours    an event every five minutes, from COUNT seconds since 1970 on
paired   events whose attributes say which are a pair, with names that say otherwise
nested   spans that are inside others of their session or thread, and some that are not
traces   a span whose events carry ids of a trace
bounds   each type at its bounds; the first letters of a field's name say what it is
odd      texts, and names of providers, events and fields, that are hard to keep as they are
early    an event before 1970, and two in 1970
late     an event in 2262, and two that are later than 64 bits can say
sessions sessions with small and large numbers
crowd    more sessions than elog stat has rows; a provider is called (others)
many     COUNT sessions, of which 100 are open at a time
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python/tests"))
from elogfile import ElogFile, c  # noqa: E402

EVENTS = {
    1: ("shop", 1, "request_start", "\tu64 id\n\tstring path\n"),
    2: ("shop", 2, "request_end", "\tu32 status\n\tu64 bytes\n\tstring note\n"),
    3: ("shop", 3, "query_begin", ""),
    4: ("shop", 4, "query_end", "\ts32 rows\n"),
    5: ("shop", 5, "door_open", ""),
    6: ("shop", 6, "door_close", ""),
    7: ("shop", 7, "note", "\tstring text\n"),
}
LONG = "x" * 200


def schema(provider, number, name, fields, words="-"):
    return f"eventlog 1\nprovider {provider}\nevent {number} {name} info {words}\n{fields}"


def string(fixed, at, text):
    """A payload of fixed bytes, whose reference to text is at this offset."""
    text = text.encode() + b"\0"
    reference = struct.pack("<I", len(text) << 16 | len(fixed))
    return fixed[:at] + reference + fixed[at + 4:] + text


def start(file, session, number, path, **members):
    file.event(1, string(struct.pack("<QI", number, 0), 8, path), session=session, **members)


def end(file, session, status, size, note="", **members):
    file.event(2, string(struct.pack("<IQI", status, size, 0), 12, note),
               session=session, **members)


def spans(path):
    with ElogFile(path, {number: schema(*event) for number, event in EVENTS.items()}) as file:
        start(file, 1, 10, "/a")
        file.event(3, session=1)
        file.event(4, struct.pack("<i", -5), session=1)
        end(file, 1, 200, 1000)
        # Two sessions at once; a crossing span: the query ends after its request.
        start(file, 2, 20, "/b", cpu=0, stream=0)
        start(file, 3, 30, "/c")
        file.event(3, session=3)
        end(file, 3, 200, 2000)
        end(file, 2, 404, 3000, "caf\u00e9 \"x\", \n", cpu=0, stream=0)
        file.event(4, struct.pack("<i", 7), session=3)
        file.event(5, session=9)
        file.event(6, session=9)
        # The same session starts twice; one has no session; an END has no START.
        start(file, 4, 40, "/first")
        start(file, 4, 41, "/second")
        end(file, 4, 500, 4000)
        file.event(7, string(b"\0\0\0\0", 0, "no session"))
        end(file, 0, 200, 1)
        end(file, 5, 200, 2)
        # What is pending when events are lost is no span.
        start(file, 6, 60, "/lost")
        file.sync()
        file.loss({1: 3, 2: 4})
        end(file, 6, 200, 5000)
        start(file, 7, 70, "/after", tid=102)
        # Invalid records of programs end no span.
        file.sync()
        file.loss({5: 9})
        end(file, 7, 200, 6000, tid=103)
        start(file, 8, 80, "/pending")


TYPES = """eventlog 1
provider all
keyword fast 0x2
enum state
	-2 LOW
	1 OPEN
flags bits
	0x1 FIRST
	0x2 SECOND
event 1 typed warning fast,0x100
	u8 a as hex
	u64 b
	s16 c
	bool d
	char[5] e
	u8[3] f
	string g
	bytes:rel h
	ipv4 i
	ipv6 j
	port k
	mac l
	time m
	duration n
	ptr o
	enum:state:s32 p
	flags:bits:u16 q
	struct:opaque:2 r
	s64 s
	u32 time
"""


def typed(text):
    fixed = struct.pack("<BQhB5s3sII4s16s2s6sQQQiH2sqI", 0xab, 2 ** 64 - 1, -300, 1, b"four",
                        b"\1\2\3", 0, 0, bytes((192, 0, 2, 1)), bytes(15) + b"\1",
                        b"\x1f\x90", bytes(range(6)), 1_500_000_000, 2_000, 2 ** 63 + 1, -2, 3,
                        b"\1\2", -2 ** 63, 7)
    fixed = fixed[:20] + struct.pack("<I", len(text) << 16 | len(fixed)) + fixed[24:]
    behind = len(fixed) - 28 + len(text)
    return fixed[:24] + struct.pack("<I", 4 << 16 | behind) + fixed[28:] + text + b"\0\xff\x7f\n"


def types(path):
    with ElogFile(path, {1: TYPES}) as file:
        file.event(1, typed("caf\u00e9\0".encode()), session=2 ** 64 - 1)
        file.event(1, typed(b"\xff\xc3(\x01\0"), cpu=c.EVENTLOG_CPU_UNKNOWN)
        # The payload ends within a field; the definition is missing.
        file.event(1, typed(b"\0")[:13], pid=0, tid=0)
        file.event(99, b"\1\2")


def decoded(path):
    fields = "\tu8 eventheader_flags\n\tu8 version\n\tu16 id\n\tu16 tag\n\tu8 opcode\n\tu8 level\n"
    metadata = b"Order\0price\0\x85\x08at\0\x84\x06"
    header = struct.pack("<BBHHBBHH", 6, 0, 0, 0, 0, 4, len(metadata), 1)
    with ElogFile(path, {1: schema("user_events", 1, "Shop_L4K1", fields)}) as file:
        file.event(1, header + metadata + struct.pack("<di", 2.5, -1000))


def equal(path):
    """Of each session: the events, by number, and their times."""
    both = (1, 0), (3, 0), (4, 0), (2, 0)
    sessions = [both, ((1, 0), (3, 0), (4, 9), (2, 9)), ((1, 0), (2, 0), (1, 0), (2, 5)),
                ((1, 0), (3, 5), (4, 5), (3, 5), (4, 9), (2, 9)),
                ((1, 0), (3, 0), (4, 5), (3, 5), (4, 7), (2, 9)), both[:3]]
    with ElogFile(path, {n: schema(*event[:3], "") for n, event in EVENTS.items()}) as file:
        for number, events in enumerate(sessions, 1):
            for event, time in events:
                file.event(event, session=number, time=10000 * number + time)
        # More than are held while a span is open.
        file.event(1, session=100, time=100000)
        for number in range(300):
            file.event(3, session=100, time=100000 + number)
            file.event(4, session=100, time=100000 + number + 1)
        file.event(2, session=100, time=100300)


def ties(path):
    with ElogFile(path, {n: schema(*event[:3], "") for n, event in EVENTS.items()}) as file:
        for session in range(1, 42):
            first = 3 if session % 2 else 1
            file.event(first, session=session)
            file.time += 1000 * (session >= 40)
            file.event(first + 1, session=session)


def crc(data):
    """CRC-32C."""
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ 0x82f63b78 * (value & 1)
    return value ^ 0xffffffff


def describe(path, boot, wall):
    """Let a file be of another boot, whose wall clock says this at its start, in ns."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    at = 0
    while at < len(data):
        kind, _, size = struct.unpack_from("<III", data, at + 8)
        body = data[at + 32:at + 32 + size]
        if kind == 1:
            lines = body.decode().split("\n")
            for i, line in enumerate(lines):
                words = line.split(" ")
                if words[0] == "boot_id":
                    lines[i] = "boot_id " + boot * len(words[1])
                elif words[0] == "start":
                    start = int(words[1])
                    lines[i] = " ".join([*words[:3], str(wall).zfill(len(words[3]))])
            body = "\n".join(lines).encode()
        elif kind == 5:
            clock, = struct.unpack_from("<Q", body, 8)
            struct.pack_into("<Q", body, 24, wall + clock - start)
        assert len(body) == size
        struct.pack_into("<I", data, at + 24, crc(body))
        struct.pack_into("<I", data, at + 28, crc(data[at:at + 28]))
        data[at + 32:at + 32 + size] = body
        at += 32 + (size + 7) // 8 * 8
    with open(path, "wb") as file:
        file.write(data)


def boots(path):
    for number in range(2):
        with ElogFile(path + str(number), {1: schema("shop", 1, "note", "")}) as file:
            file.event(1, session=1, time=50000 + number)
            file.event(1, session=1, time=60000 + number)
        describe(path + str(number), str(number + 1), (1_800_000_000 + 86400 * number) * 10 ** 9)


def escapes(path):
    with ElogFile(path, {1: schema("shop", 1, "note", "")}) as file:
        c.check(c.lib.elog_writer_process(file.writer, 100, 102, b"\x1b[31mred"))
        file.event(1, tid=102)


def hours(path, start):
    with ElogFile(path, {1: schema("shop", 1, "note", "")}) as file:
        for number in range(49):
            file.event(1, time=1000 + number * 300 * 10 ** 9)
    describe(path, "1", start * 10 ** 9)


def renamed(path):
    names = [(90, 100, b"worker"), (90, 90, b"old"), (200, 200, b"bash"), (300, 301, b"pool"),
             (300, 300, b"java"), (100, 100, b"new"), (200, 200, b"server"), (300, 301, b"http")]
    with ElogFile(path, {1: schema("shop", 1, "note", "\tu32 n\n")}) as file:
        for n, (pid, tid) in enumerate(((90, 100), (200, 200), (300, 301)) * 2):
            if n % 3 == 0:
                file.sync()
                for name in names[5 * (n // 3):5 + n]:
                    c.check(c.lib.elog_writer_process(file.writer, *name))
            file.event(1, struct.pack("<I", n + 1), pid=pid + 10 * (n == 3), tid=tid)
        file.event(1, struct.pack("<I", 7), pid=90, tid=100)


def reused(path):
    """Process 300 gets its name later, and then another one."""
    with ElogFile(path, {n: schema(*event[:3], "") for n, event in EVENTS.items()}) as file:
        def process(pid, tid, name):
            c.check(c.lib.elog_writer_process(file.writer, pid, tid, name))

        process(90, 100, b"worker")
        process(90, 90, b"old")
        file.event(1, session=1, pid=90, tid=100)
        file.event(7, pid=300, tid=301)
        file.sync()
        process(100, 100, b"new")
        process(90, 90, b"a\x01")
        process(300, 300, b"java")
        for _ in range(2):
            file.event(3, session=2, pid=100, tid=100)
            file.event(4, session=2, pid=100, tid=100)
        for _ in range(3):
            file.event(7, pid=90, tid=90)
        file.event(7, pid=300, tid=301)
        file.event(2, session=1, pid=100, tid=100)
        file.event(7, pid=100, tid=100)
        file.sync()
        process(90, 90, b"a\x02")
        process(300, 300, b"perl")
        file.event(7, pid=90, tid=90)
        file.event(7, pid=300, tid=301)


def floats(path):
    fields = "\tu8 eventheader_flags\n\tu8 version\n\tu16 id\n\tu16 tag\n\tu8 opcode\n\tu8 level\n"
    numbers = {"third": 1 / 3, "most": sys.float_info.max, "least": 5e-324, "inf": float("inf"),
               "ninf": float("-inf"), "nan": float("nan")}
    bools = {f"b{number}": number for number in (0, 1, 2, 255)}
    metadata = b"Odd\0" + b"".join(name.encode() + b"\0\x85\x08" for name in numbers)
    metadata += b"".join(name.encode() + b"\0\x82\x07" for name in bools)
    header = struct.pack("<BBHHBBHH", 6, 0, 0, 0, 0, 4, len(metadata), 1)
    with ElogFile(path, {1: schema("user_events", 1, "Shop_L4K1", fields)}) as file:
        file.event(1, header + metadata + struct.pack("<6d", *numbers.values()) +
                   bytes(bools.values()))


def twins(path):
    events = [("shop", "sale"), ("SHOP", "Sale"), ('"a/b"', "c"), ("a", '"b/c"'), ('"?"', '"?"'),
              ("sqlite_x", "sqlite_y"), ("shop", '"se\\"ll"'), ("shop", "select")]
    definitions = {number: schema(*event[:1], number, event[1], "\tu32 time\n\tu32 time_\n")
                   for number, event in enumerate(events, 1)}
    with ElogFile(path, definitions) as file:
        for number in definitions:
            for _ in range(number):
                file.event(number, struct.pack("<II", number, 50 + number))
        file.event(99)


def names(path):
    definitions = {
        1: schema("shop", 1, "sqlite_names", "\tu32 time_\n\tu32 time\n\tu32 TIME\n"),
        2: schema("shop", 2, '"a/b"', ""),
        3: schema("sqlite_shop", 3, "c", ""),
        4: schema("shop", 4, "c", ""),
    }
    with ElogFile(path, definitions) as file:
        file.event(1, struct.pack("<III", 1, 2, 3))
        for number in (2, 3, 4):
            file.event(number)


def own(path):
    events = [("events", "events"), ("shop", "EVENTS"), ("events", "item"), ("events", "item"),
              ("lost", "spans"), *(("shelf", f"book_{number}") for number in range(100))]
    with ElogFile(path, {number: schema(provider, number, name, f"\tu32 f_{number}\n")
                         for number, (provider, name) in enumerate(events, 1)}) as file:
        for number in range(1, len(events) + 1):
            file.event(number, struct.pack("<I", number))


def empty(path):
    with ElogFile(path, {}):
        pass


BOUNDS = """eventlog 1
provider all
enum state
	-128 LOW
	0 NONE
	127 HIGH
flags bits
	0x1 FIRST
	0x2 SECOND
	0x8000000000000000 LAST
event 1 bounds info -
""" + "".join(f"\t{kind} {name}\n" for kind, name in (
    *((f"{letter}{bits}", f"i_{letter}{bits}") for letter in "us" for bits in (8, 16, 32, 64)),
    ("u64", "i_hex as hex"), ("s8", "h_s8 as hex"), ("bool", "b_bool"), ("char[4]", "t_chars"),
    ("u8[4]", "x_octets"), ("string", "t_string"), ("bytes", "x_bytes"), ("string:rel", "t_rel"),
    ("ipv4", "a_four"), ("ipv6", "a_six"), ("port", "p_port"), ("mac", "a_mac"),
    ("time", "i_time"), ("duration", "i_duration"), ("ptr", "i_pointer"),
    ("enum:state:s8", "e_state"), ("flags:bits:u64", "g_bits"), ("struct:opaque:2", "x_struct")))
NUMBERS = "<BHIQbhiqQbB"
BEHIND = "<4s16sHsssssQQQbQ2s".replace("sssss", "6s")


def bound(numbers, state, bits, fill, texts):
    """A payload: all integers, the time and so on; a byte for arrays; three dynamic fields."""
    fixed = struct.pack(NUMBERS, *numbers) + fill * 8
    size = len(fixed) + 12 + struct.calcsize(BEHIND)
    words, tail = b"", b""
    for position, text in enumerate(texts):
        offset = size + len(tail)
        if position == 2:
            offset -= len(fixed) + 12
        words += struct.pack("<I", len(text) << 16 | offset)
        tail += text
    wide = int.from_bytes(fill * 8, "little")
    return fixed + words + struct.pack(
        BEHIND, fill * 4, fill * 16, wide & 0xffff, fill * 6, wide, wide, wide, state, bits,
        fill * 2) + tail


def bounds(path):
    with ElogFile(path, {1: BOUNDS}) as file:
        least = (0, 0, 0, 0, -2 ** 7, -2 ** 15, -2 ** 31, -2 ** 63, 0, -2 ** 7, 0)
        most = tuple(2 ** n - 1 for n in (8, 16, 32, 64, 7, 15, 31, 63, 64, 7, 0))
        file.event(1, bound(least, -128, 0, b"\0", (b"\0", b"", b"\0")))
        file.event(1, bound(most, 127, 2 ** 64 - 1, b"\xff",
                            (b"x" * 20000 + b"\0", bytes(range(256)) * 80, b"\0")),
                   session=2 ** 64 - 1, cpu=c.EVENTLOG_CPU_UNKNOWN)
        # Numbers beyond those that a double has, without a name, and other bools.
        file.event(1, bound((1, 2, 2 ** 31, 2 ** 53 + 1, -1, -1, -1, -2 ** 53 - 1, 2 ** 63, -1, 2),
                            5, 0x8000000000000004, b"\x80", (b"a\0", b"\0", b"b\0")),
                   session=2 ** 63, pid=0, tid=0)
        file.event(1, bound((0,) * 10 + (1,), 0, 3, b"A", (b"a\0", b"\0", b"b\0")), session=1)
        file.event(1, bound((0,) * 10 + (255,), -1, 1, b"1", (b"a\0", b"\0", b"b\0")))


def eventheader(name, fields, values):
    """A record that describes its fields: their names and encodings."""
    metadata = name + b"\0" + b"".join(field + b"\0" + kind for field, kind in fields)
    return struct.pack("<BBHHBBHH", 6, 0, 0, 0, 0, 4, len(metadata), 1) + metadata + values


HEADER_FIELDS = "\tu8 eventheader_flags\n\tu8 version\n\tu16 id\n\tu16 tag\n" \
                "\tu8 opcode\n\tu8 level\n"
TEXTS = [
    b"", b"plain", b'"', b"'", b"\\", b"a,b;c\td", b"line\nline\r\nline", bytes(range(1, 32)) + b"\x7f",
    b"\xff\xfe", b"\xc3(", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf8\x88\x80\x80\x80", b"\xe2\x82",
    "caf\u00e9 \U0001f600 \u2028 \u202e \ufffd \ufffe \ufeff".encode(), b"=1+1", b"NULL", b"null",
    b"\\n", b"'; drop table x; --", b"</script>", b"%s%n", b" padded ", b"0x41", b"x" * 65000,
    b"\xc3\xa9" * 30000,
]
ODD = ["a b", "a.b", "a_b", 'a"b', "a'b", "a\\b", "select", "?", "x,y", "x;y", "[x]", "%s", "{x}",
       "$1", "=x", "-", "0", "#1", "a/b", ":", "*", "a b ", ".", "..", "<b>", "&amp;", "\\n",
       "lost", "spans", "(others)"]
ODD_FIELDS = ["a", "A", "a_", "A_", "select", "time", "Time", "time_", "session", "session_", "fields",
              "payload", "provider", "event", "count", "name", "_", "__", "rowid", "mono", "host",
              "host_", "machine_id", "boot_id", "instance", "duration", "span", "cpu", "pid", "tid",
              "comm", "level", "keywords", "trace_id", "span_id", "true", "null"]


def odd(path):
    quoted = ['"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in ODD]
    definitions = {1: schema("texts", 1, "text", "\tstring t_string\n"),
                   2: schema("texts", 2, "chars", "\tchar[8] t_chars\n\tbytes x_bytes\n"),
                   3: schema("shop", 3, "fields",
                             "".join(f"\tu8 {name}\n" for name in ODD_FIELDS)),
                   4: schema("user_events", 4, "Shop_L4K1", HEADER_FIELDS)}
    first = len(definitions) + 1
    definitions.update((number, schema(name, number, name, "\tu8 v\n"))
                       for number, name in enumerate(quoted, first))
    alike = [("shop", "Fields"), ("SHOP", "fields"), ("shop", "FIELDS")]
    definitions.update((number, schema(provider, number, name, "\tu8 v\n"))
                       for number, (provider, name) in enumerate(alike, 100))
    with ElogFile(path, definitions) as file:
        for text in TEXTS:
            file.event(1, struct.pack("<I", (len(text) + 1) << 16 | 4) + text + b"\0", session=1)
            file.event(2, text[:8].ljust(8, b"\0") +
                       struct.pack("<I", len(text[:60]) << 16 | 12) + text[:60])
        # What is behind a NUL is no text.
        file.event(1, struct.pack("<I", 8 << 16 | 4) + b"ok\0/etc\0")
        file.event(2, b"ok\0/etc\0" + struct.pack("<I", 4 << 16 | 12) + b"\0a\0b")
        file.event(3, bytes(range(len(ODD_FIELDS))), session=5)
        for number in range(first, first + len(ODD)):
            file.event(number, b"\7", session=number)
        for number in range(len(alike)):
            file.event(100 + number, bytes([number]))
        names = (b"plain", b"a b", b"a.b", b"a_b", b"a\xff", b"a\xfe", b"same", b"same", b"Same", b"",
                 b"\x1b[31m", "caf\u00e9".encode(), b"eventlog.session", b"thread.id", b"line\nbreak")
        file.event(4, eventheader(b"header", [(name, b"\x02") for name in names],
                                  bytes(range(len(names)))))
        doubles = (0.0, -0.0, 1 / 3, 5e-324, sys.float_info.max, -sys.float_info.max, float("inf"),
                   float("-inf"), float("nan"), 2.0 ** 53 + 2, 1e22, 0.1)
        file.event(4, eventheader(b"doubles", [(b"d_%d" % n, b"\x85\x08") for n in range(len(doubles))],
                                  struct.pack(f"<{len(doubles)}d", *doubles)))
        floats = (0.0, -0.0, 1 / 3, 1e-45, 3.4028234663852886e38, float("inf"), float("nan"), 0.1)
        file.event(4, eventheader(b"floats", [(b"f_%d" % n, b"\x84\x08") for n in range(len(floats))],
                                  struct.pack(f"<{len(floats)}f", *floats)))
        file.event(4, eventheader(b"others", [(b"b_0", b"\x82\x07"), (b"b_1", b"\x82\x07"),
                                              (b"b_2", b"\x82\x07"), (b"b_255", b"\x82\x07"),
                                              (b"b_wide", b"\x84\x07"), (b"s_low", b"\x84\x06"),
                                              (b"s_high", b"\x85\x06"), (b"s_most", b"\x85\x06")],
                                  bytes((0, 1, 2, 255)) + struct.pack("<Iiqq", 256, -2 ** 31, 2 ** 40,
                                                                      2 ** 63 - 1)))


def at_times(path, wall, times):
    """Events at these CLOCK_MONOTONIC ns, in a capture that began at 1000."""
    with ElogFile(path, {1: schema("shop", 1, "note", "")}) as file:
        for time in times:
            file.event(1, time=time, session=7, stream=2)
    describe(path, "1", wall)


def early(path):
    at_times(path, 100, (1, 900, 5000))


def late(path):
    at_times(path, 2 ** 63 - 100000, (5000, 2 ** 62, 2 ** 63))


def paired(path):
    events = [("request_open", "- start"), ("request_close", "-"), ("reply", "0x1 end \"it ends\""),
              ("query_begin", "-"), ("query_end", "-"), ("job_end", "- start"), ("job_start", "- end")]
    with ElogFile(path, {number: schema("shop", number, name, "", words)
                         for number, (name, words) in enumerate(events, 1)}) as file:
        # A microsecond each.
        for number in 1, 4, 2, 5, 3:
            file.event(number, session=1)
        for number in 6, 2, 2, 7:
            file.event(number, session=2)
        # An attribute is for a session: whichever ends it.
        file.event(6, session=3)
        file.event(3, session=3)


def nested(path):
    definitions = {number: schema(*event) for number, event in EVENTS.items()}
    names = "statement_start", "statement_end", "lock_begin", "lock_end"
    definitions.update((number, schema("db", number, name, ""))
                       for number, name in enumerate(names, 11))
    rows = struct.pack("<i", 1)
    with ElogFile(path, definitions) as file:
        # The database has sessions of its own, in the thread of the request.
        start(file, 1, 1, "/a")
        file.event(3, session=1)
        file.event(11, session=77)
        file.event(13, session=77, tid=102)
        file.event(7, string(b"\0\0\0\0", 0, "inside"), session=1)
        file.event(14, session=77, tid=102)
        file.event(12, session=77)
        file.event(4, rows, session=1)
        end(file, 1, 200, 1)
        # A query that ends after its request.
        start(file, 2, 2, "/b")
        file.event(3, session=2)
        end(file, 2, 200, 1)
        file.event(4, rows, session=2)
        # A thread that works on two requests at once: whose is the statement?
        start(file, 3, 3, "/c")
        start(file, 4, 4, "/d")
        file.event(11, session=78)
        file.event(12, session=78)
        file.event(3, session=3)
        file.event(4, rows, session=3)
        end(file, 3, 200, 1)
        end(file, 4, 200, 1)
        # Another thread; and a request that ended before.
        start(file, 5, 5, "/e")
        file.event(11, session=79, tid=103)
        file.event(12, session=79, tid=103)
        end(file, 5, 200, 1)
        file.event(11, session=80)
        file.event(12, session=80)


def instances(path):
    # The root and each instance have their own descriptors, streams and losses.
    domains = None, b"web", b"db"
    definitions = {10 * domain + number: schema(*EVENTS[number])
                   for domain in range(3) for number in (3, 4, 5)}
    with ElogFile(path, definitions) as file:
        for number in 3, 5, 4:
            payload = struct.pack("<i", 1) if number == 4 else b""
            # Whose query started last ends first.
            order = (0, 1, 2) if number == 3 else (2, 1, 0)
            for domain in order:
                file.event(10 * domain + number, payload, session=1, stream=1 + domain,
                           instance=domains[domain])
            file.sync()
        for domain, count in enumerate((0, 3, 4)):
            if count:
                file.loss({1: count}, stream=1 + domain, instance=domains[domain])
            file.sync()


def traces(path):
    fields = "\tu8[16] trace_id\n\tu8[8] span_id\n\tu32 bytes\n\tchar[8] note\n"
    definitions = {1: schema("shop", 1, "work_start", fields),
                   2: schema("shop", 2, "work_end", fields)}
    trace = bytes(range(16))
    with ElogFile(path, definitions) as file:
        file.event(1, trace + bytes(range(0xa0, 0xa8)) + struct.pack("<I8s", 5, b"first"),
                   session=1)
        file.event(2, trace + bytes(range(0xb0, 0xb8)) + struct.pack("<I8s", 7, b"second"),
                   session=1)


def wide(path, count):
    """Each definition fills the memory of its table before the next one comes."""
    definitions = {number: schema(LONG, number, LONG, f"\tchar[{number}] a\n\tchar[200] b\n")
                   for number in range(1, 41)}
    with ElogFile(path, definitions) as file:
        for number in range(1, 41):
            for _ in range(count):
                file.event(number, b"a" * number + b"b" * 200)
            file.sync()


def sessions(path):
    with ElogFile(path, {number: schema(*EVENTS[number]) for number in (1, 2)}) as file:
        for session in 0x8000000000000001, 1, 16, 2 ** 64 - 1:
            start(file, session, 1, "/a")
            end(file, session, 200, 1)
        end(file, 0, 200, 1)


def crowd(path):
    definitions = {1: schema("shop", 1, "note", ""), 2: schema('"(others)"', 1, '"(others)"', "")}
    with ElogFile(path, definitions) as file:
        for number in (*range(66000), *range(100)):
            file.event(1, session=number + 1)
            if not number % 1000:
                file.event(2, session=9)


def many(path, count):
    with ElogFile(path, {number: schema(*EVENTS[number]) for number in (1, 2)}) as file:
        for number in range(count + 100):
            if number < count:
                start(file, number + 1, number, f"/item/{number % 1000}")
            if number >= 100:
                end(file, number - 99, 200 + number % 3, number)
            if number % 1000 == 999:
                file.sync()


if __name__ == "__main__":
    kind, path = sys.argv[1:3]
    globals()[kind](path, *map(int, sys.argv[3:]))
