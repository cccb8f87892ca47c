#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads files with the Python bindings of babeltrace2, for babeltrace2_test.sh.

same FILE LINES PATH...  PATHs have the events and losses of LINES, from elog export
decoded LINES PATH       PATH has the events of LINES, whose records have their definitions
count PATH [FILTER [SINCE]]  print the numbers of events and of losses
lttng DIRECTORY TIME STEP COUNT  write a trace in CTF 1.8 as LTTng does
cut FILE COPY            each truncated COPY has events of FILE, more and more of them
change FILE COPY         changed bytes do no harm
leave FILE               stop in the middle, and seek
write KIND FILE          write a small file, or a hostile one
"""
import json
import os
import re
import struct
import sys
from datetime import datetime, timezone

import bt2

LEVELS = {2: "critical", 3: "error", 4: "warning", 5: "notice", 6: "info", 14: "debug",
          13: "verbose"}
elog_class = bt2.find_plugin("elog").source_component_classes["file"]
ctf_class = bt2.find_plugin("ctf").source_component_classes["fs"]


def messages(paths, **parameters):
    """All messages of .elog files, or of directories in CTF, in the order of time."""
    specs = []
    for path in paths:
        kind = elog_class
        if os.path.isdir(path):
            kind, path = ctf_class, os.path.join(path, *os.listdir(path))
        specs.append(bt2.ComponentSpec(kind, {"inputs": [path], **parameters}))
    return bt2.TraceCollectionMessageIterator(specs)


def value(field):
    """A field as JSON has it. The reader of CTF keeps an old text in empty strings."""
    if isinstance(field, bt2._StringFieldConst):
        return str(field)[:len(field)]
    if isinstance(field, bt2._ArrayFieldConst):
        return "".join(f"{int(byte):02x}" for byte in field)
    if isinstance(field, bt2._EnumerationFieldConst):
        names = [name for name, ranges in field.cls.items()
                 if any(part.lower == part.upper and
                        (part.lower == field if isinstance(field, bt2._SignedIntegerFieldConst)
                         else part.lower & int(field)) for part in ranges.ranges)]
        if isinstance(field, bt2._UnsignedIntegerFieldConst):
            return names
        return names[0] if names else None
    return int(field)


def expected_value(found, wanted):
    """Numbers in hexadecimal are texts in JSON, and so is true."""
    if isinstance(found, int) and isinstance(wanted, str):
        return int(wanted, 0)
    return wanted


def nanoseconds(text):
    second, rest = text.rstrip("Z").split(".")
    time = datetime.fromisoformat(second).replace(tzinfo=timezone.utc)
    return int(time.timestamp()) * 10 ** 9 + int(rest)


def check_time(snapshot, line, offset):
    """Return: the offset of the clock. elog adjusts it in each SYNC block, the plugin does not."""
    assert snapshot.value == line["mono"], (snapshot.value, line)
    if offset is None:
        offset = nanoseconds(line["time"]) - line["mono"]
    assert snapshot.ns_from_origin == snapshot.value + offset, (snapshot.ns_from_origin, offset)
    return offset


def check_event(message, line):
    event, fields = message.event, line["fields"]
    packet = event.packet.context_field
    session = line["session"]
    found = {
        "cpu": int(packet["cpu_id"]) if packet is not None and "cpu_id" in packet else None,
        "pid": int(event["pid"]), "tid": int(event["tid"]), "comm": value(event["procname"]),
        "instance": value(event["instance"]) or None,
        "name": event.name, "session": int(event["session"]),
        "level": LEVELS.get(event.cls.log_level),
    }
    wanted = {key: line[key] for key in ("cpu", "pid", "tid", "comm", "instance", "level")}
    # Events without a definition are of one class.
    name = "?" if line["provider"] == "?" else line["event"]
    wanted.update(name=f"{line['provider']}:{name}",
                  session=int(session, 0) if session else 0)
    assert found == wanted, f"{found}\n{wanted}"
    payload = {name: value(field) for name, field in event.payload_field.items()
               if not (name.startswith("__") and name.endswith("_len"))}
    if line["provider"] == "?":
        assert payload == {"payload": "0102"}, payload
        return
    assert list(payload) == list(fields), f"{payload}\n{fields}"
    for name, found in payload.items():
        wanted = expected_value(found, fields[name])
        # JSON has null where the payload has ended; here this is 0.
        missing = wanted is None and found in (0, "<truncated>", "", "000000", "0000", [])
        assert found == wanted or missing or is_first_of(found, wanted), (name, found, wanted)


def is_first_of(found, wanted):
    """An enumeration of 0 has no name."""
    return isinstance(found, list) and not found and wanted in (None, [])


def same(_, lines, *paths):
    with open(lines) as file:
        wanted = [json.loads(line) for line in file]
    wanted = [line for line in wanted
              if line["provider"] != "eventlog" or line["fields"]["count"]]
    offset = None
    for message in messages(paths):
        if type(message) is bt2._EventMessageConst:
            offset = check_time(message.default_clock_snapshot, wanted[0], offset)
            check_event(message, wanted.pop(0))
        elif type(message) is bt2._DiscardedEventsMessageConst:
            line = wanted.pop(0)
            assert line["event"] == "lost", line
            assert message.count == line["fields"]["count"], message.count
            for snapshot in (message.beginning_default_clock_snapshot,
                             message.end_default_clock_snapshot):
                check_time(snapshot, line, offset)
    assert not wanted, wanted


def decoded_value(field):
    """A field as JSON has it. CTF 1.8 has no optional fields: they are variants."""
    if isinstance(field, bt2._OptionFieldConst):
        return decoded_value(field.field) if field.has_field else None
    if isinstance(field, bt2._VariantFieldConst):
        field = field.selected_option
        return None if isinstance(field, bt2._StructureFieldConst) else decoded_value(field)
    if isinstance(field, bt2._EnumerationFieldConst):
        names = [name for name, ranges in field.cls.items()
                 if any(part.lower == field for part in ranges.ranges)]
        return names[0] if names else int(field)
    return float(field) if isinstance(field, bt2._RealFieldConst) else value(field)


def decoded_wanted(found, wanted):
    """In CTF, arrays are the text of JSON, and NULs are escapes. Bools are names."""
    if isinstance(wanted, bool):
        return str(wanted).lower()
    if isinstance(wanted, float) and struct.unpack("f", struct.pack("f", wanted))[0] == found:
        return found
    if isinstance(wanted, list):
        return json.dumps(wanted, separators=(",", ":"))
    if isinstance(wanted, str) and isinstance(found, str):
        return wanted.replace("\0", "\\x00")
    return expected_value(found, wanted)


def decoded(lines, path):
    with open(lines) as file:
        wanted = [json.loads(line) for line in file]
    names = set()
    for message in messages([path]):
        if type(message) is not bt2._EventMessageConst:
            continue
        line, event = wanted.pop(0), message.event
        names.add(event.name)
        assert event.name == f"{line['provider']}:{line['event']}", (event.name, line)
        assert LEVELS[event.cls.log_level] == line["level"], line
        payload = {name: decoded_value(field) for name, field in event.payload_field.items()
                   if not name.startswith("__")}
        assert len(payload) == len(line["fields"]), f"{payload}\n{line}"
        for (name, found), (label, value) in zip(payload.items(), line["fields"].items()):
            # Names in JSON may be longer, and these have underscores at the end.
            label = re.sub("[^A-Za-z0-9_]", "_", label)
            assert name.rstrip("_")[:200] == label.rstrip("_")[:200], (name, label)
            value = decoded_wanted(found, value)
            # A number of a size that its type does not have is absent, and the last one is cut.
            assert found == value or name == "odd" and found is None or \
                name == "e" and found == 0 and value is None, (name, found, value)
    assert not wanted and len(names) == 3, (wanted, names)


def read(path, **parameters):
    events, lost, last = [], 0, 0
    for message in messages([path], **parameters):
        if type(message) is bt2._EventMessageConst:
            now = message.default_clock_snapshot.ns_from_origin
            assert now >= last, (now, last)
            last = now
            events.append((message.default_clock_snapshot.value, message.event.name,
                           int(message.event["session"])))
        elif type(message) is bt2._DiscardedEventsMessageConst:
            lost += message.count
    return events, lost


def count(path, filter="", since=""):
    parameters = {}
    if filter:
        parameters["filter"] = filter
    if since:
        parameters["since"] = int(since)
    events, lost = read(path, **parameters)
    print(len(events), lost)


METADATA = """/* CTF 1.8 */
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
trace {{
	major = 1; minor = 8; byte_order = le;
	packet.header := struct {{ uint32_t magic; uint32_t stream_id; }};
}};
env {{ hostname = "other"; domain = "kernel"; tracer_name = "lttng-modules"; }};
clock {{ name = "monotonic"; uuid = "{uuid}"; freq = 1000000000;
	offset_s = {seconds}; offset = {rest}; }};
typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }}
	:= clock_t;
stream {{
	id = 0;
	packet.context := struct {{ clock_t timestamp_begin; clock_t timestamp_end;
		uint64_t content_size; uint64_t packet_size; uint64_t events_discarded;
		uint32_t cpu_id; }};
	event.header := struct {{ uint32_t id; clock_t timestamp; }};
}};
event {{ name = "sched_switch"; id = 0; stream_id = 0; fields := struct {{ uint32_t next; }}; }};
"""


def lttng(directory, time, step, number):
    """time: ns since 1970, of the first event."""
    os.makedirs(directory)
    time, step, number = int(time), int(step), int(number)
    with open("/proc/sys/kernel/random/boot_id") as file:
        uuid = file.read().strip()
    with open(f"{directory}/metadata", "w") as file:
        file.write(METADATA.format(uuid=uuid, seconds=(time - 1000) // 10 ** 9,
                                   rest=(time - 1000) % 10 ** 9))
    body = b"".join(struct.pack("<IQI", 0, 1000 + step * i, i) for i in range(number))
    size = 8 * (8 + 44 + len(body))
    with open(f"{directory}/channel0_0", "wb") as file:
        file.write(struct.pack("<II", 0xC1FC1FC1, 0) +
                   struct.pack("<QQQQQI", 1000, 1000 + step * number, size, size, 0, 0) + body)


def cut(path, copy):
    with open(path, "rb") as file:
        data = file.read()
    whole, lost = read(path)
    before = 0
    for size in range(len(data) + 1):
        with open(copy, "wb") as file:
            file.write(data[:size])
        try:
            events, _ = read(copy)
        except bt2._Error:
            # It ends within the first block.
            assert not before, size
            continue
        assert set(events) <= set(whole) and len(events) >= before, (size, len(events), before)
        before = len(events)
    assert before == len(whole) and lost


def change(path, copy):
    with open(path, "rb") as file:
        data = file.read()
    for offset in range(0, len(data) - 4, 17):
        for changed in (b"\xff\xff\xff\xff", bytes(byte ^ 0x11 for byte in data[offset:offset + 3])):
            with open(copy, "wb") as file:
                file.write(data[:offset] + changed + data[offset + len(changed):])
            try:
                read(copy)
            except bt2._Error as error:
                assert any("not a file of" in cause.message or "cannot read its" in cause.message
                           for cause in error), error


def leave(path):
    """Messages that wait in the iterator are released, and a reader may begin again."""
    for number in (1, 2, 3, 20):
        iterator = messages([path])
        for _ in range(number):
            next(iterator)
        del iterator
    graph = bt2.Graph()
    source = graph.add_component(elog_class, "source", {"inputs": [path]})
    seen = []

    class Sink(bt2._UserSinkComponent):
        def __init__(self, config, params, obj):
            self._port = self._add_input_port("in")

        def _user_graph_is_configured(self):
            self._iterator = self._create_message_iterator(self._port)

        def _user_consume(self):
            first = [type(next(self._iterator)) for _ in range(10)]
            assert self._iterator.can_seek_beginning()
            self._iterator.seek_beginning()
            assert first == [type(next(self._iterator)) for _ in range(10)]
            rest = [message for message in self._iterator
                    if type(message) is bt2._EventMessageConst]
            middle = rest[len(rest) // 2].default_clock_snapshot.ns_from_origin
            assert self._iterator.can_seek_ns_from_origin(middle)
            self._iterator.seek_ns_from_origin(middle)
            later = [message for message in self._iterator
                     if type(message) is bt2._EventMessageConst]
            assert later[0].default_clock_snapshot.ns_from_origin == middle
            assert len(later) == len(rest) - len(rest) // 2
            seen.append(len(rest))
            raise bt2.Stop

    sink = graph.add_component(Sink, "sink")
    graph.connect_ports(source.output_ports["out0"], sink.input_ports["in"])
    graph.run()
    assert seen


def decoded_records():
    """Each type, with values and without; equal names; a record that is cut."""
    def record(metadata, data, order="<"):
        flags = 6 if order == "<" else 4
        return struct.pack(order + "BBHHBBHH", flags, 0, 7, 0, 1, 4, len(metadata), 1) + \
            metadata + data

    types = (b"Order\0price\0\x85\x08at\0\x84\x06item\0\x81\2a b\0\x07x\0\x82\7"
             b"f\0\x84\x08l\0\x43s\0\x0ae\0\x84\4")
    plain = struct.pack("<di", 2.5, -1000) + b"tea\0%c" + \
        struct.pack("<fHHHH3sI", 0.1, 2, 1, 2, 3, b"a\0b", 2)
    for flag in (0, 1, 255):
        yield 1, record(types, plain % flag)
    yield 1, record(b"Order\0n\0\x04", struct.pack(">I", 7), ">")
    optional = (b"Maybe\0n\0\x8d\1s\0\x8d\2x\0\x8d\3e\0\x8a\4t\0\x8a\6b\0\x8d\7"
                b"d\0\x8d\x08u\0\x8d\x0fp\0\x8d\x10a\0\x8d\x11odd\0\x8d\1list\0\xcd\2")
    yield 1, record(optional, struct.pack("<HB", 1, 200) + struct.pack("<Hh", 2, -2) +
                    struct.pack("<HI", 4, 0xabcd) + struct.pack("<HI", 4, 2) +
                    struct.pack("<Hq", 8, 86400) + struct.pack("<HB", 1, 1) +
                    struct.pack("<Hf", 4, 0.1) + struct.pack("<H16s", 16, bytes(range(16))) +
                    struct.pack(">BBH", 2, 0, 8080) + struct.pack("<HI", 4, 0x0100007f) +
                    struct.pack("<H3s", 3, b"abc") + struct.pack("<HHbH", 2, 1, -1, 0))
    yield 1, record(optional, bytes(2 * 12))
    # Names that are too long to differ, and ones that only points distinguish.
    yield 2, record(b"Names\0" + 3 * (300 * b"n" + b"\0\2") + b"a_b\0\2a\0\x81\1b\0\2",
                    bytes(range(5)))
    yield 1, record(types, plain % 1)[:-3]


def write(kind, path):
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:0] = [os.path.join(here, "../python"), os.path.join(here, "../python/tests")]
    from elogfile import ElogFile, c
    definition = "eventlog 1\nprovider {}\nevent 1 {} info -\n\tu32 a\n\tbytes b\n{}"
    if kind == "times":
        with ElogFile(path, {1: definition.format("shop", "late", "")}) as file:
            for time in (5, 2 ** 62, 2 ** 63, 2 ** 64 - 3):
                file.event(1, struct.pack("<II", 1, 0), time=time)
            file.sync = lambda: c.lib.elog_writer_sync(file.writer, 2 ** 64 - 2, None, 0)
    elif kind == "small":
        with ElogFile(path, {1: definition.format("shop", "small", "")}) as file:
            for number in range(8):
                file.event(1, struct.pack("<II", number, 4 << 16 | 8) + b"abcd", cpu=number % 2,
                           stream=number % 2)
                if number == 3:
                    file.sync()
                    file.loss({1: 3})
    elif kind == "decoded":
        fields = "u8 eventheader_flags", "u8 version", "u16 id", "u16 tag", "u8 opcode", "u8 level"
        schema = "eventlog 1\nprovider user_events\nevent {} {} info -\n\t" + "\n\t".join(fields)
        with ElogFile(path, {1: schema.format(1, "Shop_L4K1") + "\n",
                             2: schema.format(2, "Bank_L2K0Ggroup") + "\n"}) as file:
            for descriptor, record in decoded_records():
                file.event(descriptor, record)
    elif kind == "kinds":
        # Each definition is another kind; the second half of the events has the same again.
        half = {number: definition.format("shop", f"e{number}", "") for number in range(1, 5001)}
        with ElogFile(path, half) as file:
            for number in half:
                file.event(number, struct.pack("<II", number, 0))
    elif kind == "large":
        # A payload of the largest size, in each event.
        with ElogFile(path, {1: definition.format("shop", "large", "")}) as file:
            body = os.urandom(64000)
            for number in range(200):
                file.event(1, struct.pack("<II", number, 64000 << 16 | 8) + body)
                if number % 10 == 9:
                    file.sync()
    elif kind == "names":
        names = {1: definition.format('"a b\\"c"', '"x/y:z"', "\tu8 int\n\tu8 struct\n\tu8 _a\n"),
                 2: "eventlog 1\nprovider shop\nenum none\nenum few\n\t300 BIG\n\t1 ONE\n"
                    "event 1 empty verbose -\n\tenum:few:u32 e\n"}
        with ElogFile(path, names) as file:
            file.event(1, struct.pack("<IIBBB", 1, 0, 2, 3, 4))
            file.event(2, struct.pack("<I", 300), cpu=c.EVENTLOG_CPU_UNKNOWN)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
