# SPDX-License-Identifier: GPL-2.0-only
"""Reading files, on any machine: they are written by elogfile.py."""
import errno
import gc
import ipaddress
import json
import os
import pickle
import struct
import subprocess
import threading
import warnings

import pytest

import eventlog
from elogfile import ElogFile

TYPES = """eventlog 1
provider all "every type"
keyword some 0x6
enum state
	-2 LOW
	1 OPEN "described"
flags bits
	0 NONE
	0x1 FIRST
	0x2 SECOND
event 1 typed warning some "an event"
	u8 a as hex
	u64 b
	s16 c
	bool d
	char[5] e
	u8[3] f
	string g "a name"
	bytes:rel h
	ipv4 i
	ipv6 j
	port k
	mac l
	time m
	duration n
	ptr o
	enum:state:s32 p
	enum:state:s8 q
	flags:bits:u16 r
	struct:opaque:2 s
	u32 cpu
"""
FIXED = "=BQhB5s3sII4s16sH6sQQQibH2sI"
STEP = """eventlog 1
provider web
event 1 step {level} -
	u32 number
	char[8] word
"""


def typed(flags=3, text=b"caf\xc3\xa9\0", number=2 ** 64 - 1):
    tail = text + b"\x01\x02\x03"
    size = struct.calcsize(FIXED)
    return struct.pack(
        FIXED, 255, number, -5, 1, b"abc\0d", b"\x0a\0\xff", len(text) << 16 | size,
        3 << 16 | (size + len(text) - struct.calcsize("=BQhB5s3sII")),
        bytes([10, 0, 0, 1]), b"\xfe\x80" + bytes(13) + b"\x01", 0x5000, bytes(range(6)), 5,
        1500000, 0xffff888000000000, 1, -2, flags, b"\xab\xcd", 77) + tail


def step(number, word=b"word"):
    return struct.pack("=I8s", number, word)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "job.elog")


@pytest.fixture
def steps(path):
    """A file with number 0 to 9: 0 to 4 of step, 5 to 9 of another, more severe step."""
    with ElogFile(path, {1: STEP.format(level="info"), 2: STEP.format(level="error")}) as file:
        for number in range(10):
            file.event(1 + number // 5, step(number), session=number % 2, pid=100 + number)
    return path


def numbers(*args, **options):
    with eventlog.open(*args, **options) as reader:
        return [record["number"] for record in reader]


def test_attributes_say_what_starts_and_ends_a_session(path):
    head = "eventlog 1\nprovider shop\nevent "
    with ElogFile(path, {1: head + "1 a info - start\n", 2: head + "2 b info - end\n",
                         3: head + "3 start info -\n"}) as file:
        for number in 1, 2, 3:
            file.event(number)
    with eventlog.open(path) as reader:
        assert [record.type.attribute for record in reader] == ["start", "end", None]


def test_fields_have_types(path):
    with ElogFile(path, {1: TYPES}) as file:
        file.event(1, typed(), session=9)
    [record] = eventlog.open(path)
    values = dict(record)
    assert values == {
        "a": 255, "b": 2 ** 64 - 1, "c": -5, "d": True, "e": "abc", "f": b"\x0a\0\xff",
        "g": "café", "h": b"\x01\x02\x03", "i": ipaddress.ip_address("10.0.0.1"),
        "j": ipaddress.ip_address("fe80::1"), "k": 80, "l": "00:01:02:03:04:05", "m": 5,
        "n": 1500000, "o": 0xffff888000000000, "p": 1, "q": -2, "r": 3, "s": b"\xab\xcd",
        "cpu": 77}
    assert type(record["d"]) is bool
    assert record["n"].seconds == 0.0015 and record["n"].timedelta.microseconds == 1500
    assert str(record["p"]) == record["p"].name == "OPEN" and str(record["q"]) == "LOW"
    assert list(record["r"]) == ["FIRST", "SECOND"]
    assert "SECOND" in record["r"] and "NONE" not in record["r"] and record["r"] & 2
    assert (record.name, record.provider, record.event) == ("all/typed", "all", "typed")
    assert record.level is eventlog.Level.WARNING and record.type.keywords == 6
    assert (record.pid, record.tid, record.cpu, record.session) == (100, 101, 1, 9)
    assert record.comm == "worker" and record.context is eventlog.Context.TASK
    assert record.time == 2000 and record.datetime.timestamp() == record.wall_time // 1000 / 1e6
    assert record.type.description == "an event"
    assert record.type.fields["g"].description == "a name"
    assert record.type.fields["p"].type == "enum:state:s32"
    with pytest.raises(KeyError):
        record["nothing"]
    assert record.get("nothing") is None and "a" in record and len(record) == 20


def test_text_is_that_of_elog_show(path, elog):
    with ElogFile(path, {1: TYPES}) as file:
        for flags in (0, 3, 9):
            file.event(1, typed(flags, b"a \"b\"\x1b\0"))
    shown = subprocess.run([elog, "show", "-q", "--fields",
                            ",".join("@cpu" if name == "cpu" else name
                                     for name in eventlog_names()), path],
                           stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    records = list(eventlog.open(path))
    assert [" ".join(f"{name}={record.text(name)}" for name in eventlog_names())
            for record in records] == shown
    assert [str(record) for record in records] == [f"{line} cpu=77" for line in shown]
    assert str(records[0]["r"]) == "NONE" and str(records[2]["r"]) == "FIRST|0x8"


def eventlog_names():
    return [line.split()[1] for line in TYPES.partition("an event")[2].splitlines()[1:]
            if not line.endswith("cpu")]


def test_values_are_those_of_elogs_json(path, elog):
    with ElogFile(path, {1: TYPES}) as file:
        file.event(1, typed())
    output = subprocess.run([elog, "show", "-q", "--format", "json", path],
                            stdout=subprocess.PIPE, check=True).stdout
    fields = json.loads(output)["fields"]
    [record] = eventlog.open(path)
    for name, value in record.items():
        if isinstance(value, bytes):
            value = value.hex()
        elif name == "r":
            value = list(value)
        elif name in "ao":
            value = hex(value)
        elif not isinstance(value, int) or name in "pq" or abs(value) > 2 ** 53:
            value = str(value)
        assert fields[name] == value


def test_a_damaged_payload_raises_for_the_field(path):
    size = struct.calcsize(FIXED)
    with ElogFile(path, {1: TYPES}) as file:
        file.event(1, typed()[:40])
        file.event(1, typed()[:size])
    short, outside = eventlog.open(path)
    assert short["a"] == 255 and short["f"] == b"\x0a\0\xff"
    with pytest.raises(eventlog.FieldError) as caught:
        short["l"]
    assert caught.value.errno == errno.ENODATA
    with pytest.raises(eventlog.FieldError) as caught:
        outside["g"]
    assert caught.value.errno == errno.EBADMSG and "g" in str(caught.value)
    assert outside.as_dict()["g"] is None and outside.as_dict()["b"] == 2 ** 64 - 1


def test_text_that_is_not_utf8_can_be_printed(path):
    with ElogFile(path, {1: TYPES}) as file:
        file.event(1, typed(text=b"\xff\xfea\0"))
    [record] = eventlog.open(path)
    assert record["g"] == "\\xff\\xfea"
    assert record.raw("g") == b"\xff\xfea"


def test_an_event_without_definition_has_its_payload(path):
    with ElogFile(path, {1: STEP.format(level="info"), 3: "no schema"}) as file:
        file.event(2, b"\x01\x02\x03\x04\x05\x06\x07\x08")
        file.event(3)
        file.event(1, step(1))
    records = list(eventlog.open(path))
    assert [record.name for record in records] == ["#2", "#3", "web/step"]
    assert records[0].payload == bytes(range(1, 9)) and str(records[0]) == "0102030405060708"
    assert not list(records[0]) and records[0].level is None and records[0]
    assert [record.name for record in eventlog.open(path, events="web")] == ["web/step"]


def test_records_outlive_their_reader(steps):
    records = list(eventlog.open(steps))
    gc.collect()
    assert [record["number"] for record in records] == list(range(10))
    assert str(records[9]) == 'number=9 word="word"'
    again = pickle.loads(pickle.dumps(records))
    assert [dict(record) for record in again] == [dict(record) for record in records]
    assert again[3].as_dict() == records[3].as_dict()


def test_rows_for_pandas(path):
    with ElogFile(path, {1: TYPES}) as file:
        file.event(1, typed())
    [record] = eventlog.open(path)
    row = record.as_dict()
    assert list(row)[:10] == ["time", "wall_time", "cpu", "pid", "tid", "comm", "provider",
                              "event", "level", "session"]
    assert row["cpu"] == 1 and row["fields.cpu"] == 77 and row["level"] == "warning"
    assert (row["p"], row["r"], row["i"]) == ("OPEN", "FIRST|SECOND", "10.0.0.1")
    assert type(row["n"]) is int and row["n"] == 1500000
    assert {type(value) for value in row.values()} == {int, bool, str, bytes}


def test_rules_select(steps):
    assert numbers(steps) == list(range(10))
    assert numbers(steps, level="warning") == [5, 6, 7, 8, 9]
    assert numbers(steps, level=eventlog.Level.INFO, session=1) == [1, 3, 5, 7, 9]
    assert numbers(steps, pid=104) == [4]
    assert numbers(steps, events="w*") == list(range(10))
    assert numbers(steps, events=["web/s[a-z]ep"], filter="number < 2") == [0, 1]
    assert numbers(steps, filter='word ~ "^wo" && number & 8') == [8, 9]
    assert numbers(steps, filter="comm == worker || @pid > 107") == [0, 8, 9]
    assert numbers(steps, keywords=1) == []
    with eventlog.open(steps) as reader:
        middle = list(reader)[4]
    assert numbers(steps, since=middle.wall_time) == [4, 5, 6, 7, 8, 9]
    assert numbers(steps, until=middle.wall_time) == [0, 1, 2, 3]
    assert numbers(steps, until=middle.datetime.replace(year=2000)) == []


@pytest.mark.parametrize("options, text", [
    ({"filter": "number >"}, "column 9"),
    ({"filter": "word < 5"}, "column"),
    ({"level": "warn!"}, "critical, error, warning, notice, info, debug, verbose"),
], ids=["syntax", "type", "level"])
def test_wrong_conditions_raise(steps, options, text):
    with pytest.raises(ValueError) as caught:
        numbers(steps, **options)
    assert text in str(caught.value)
    if "filter" in options:
        assert caught.value.errno == errno.EINVAL and caught.value.column > 0


@pytest.mark.parametrize("options, text", [
    ({"events": "web/stpe"}, "'web/stpe'; did you mean web/step?"),
    ({"events": ["web/step", "wbe"]}, "'wbe'; did you mean web?"),
    ({"filter": "numbr == 1"}, "filter 'numbr == 1'"),
], ids=["event", "provider", "filter"])
def test_names_that_match_nothing_warn(steps, options, text):
    with pytest.warns(eventlog.NoMatchWarning) as caught:
        numbers(steps, **options)
    assert len(caught) == 1 and text in str(caught[0].message)


def test_losses_are_visible(path):
    with ElogFile(path, {1: STEP.format(level="info")}) as file:
        file.event(1, step(1))
        file.loss({0: 5, 3: 2})
        file.event(1, step(2))
        file.loss({0: 1})
        file.event(1, step(3))
    with pytest.warns(eventlog.LossWarning, match="7 events lost: no room 5") as caught:
        reader = eventlog.open(path)
        items = list(reader.items())
    assert len(caught) == 1
    losses = [item for item in items if isinstance(item, eventlog.Loss)]
    assert [loss.count for loss in losses] == [7, 1] and losses[0].cpu == 1
    assert sum(reader.lost.values()) == 8 and reader.lost["no room"] == 6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert numbers(path) == [1, 2, 3]


def test_damage_is_visible(steps):
    with open(steps, "r+b") as file:
        file.truncate(os.path.getsize(steps) - 11)
    with pytest.warns(eventlog.DamageWarning, match="job.elog is damaged at byte"):
        reader = eventlog.open(steps)
        assert [record["number"] for record in reader] == list(range(10))
    assert "cut" in [damage.kind for damage in reader.damage]
    with warnings.catch_warnings():
        warnings.simplefilter("error", eventlog.DamageWarning)
        with pytest.raises(eventlog.DamageWarning):
            numbers(steps)


def test_errors_have_an_errno(path, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        eventlog.open(path)
    assert caught.value.errno == errno.ENOENT and caught.value.filename == path
    (tmp_path / "noise").write_bytes(b"noise" * 100)
    with pytest.raises(OSError) as caught:
        numbers(tmp_path / "noise")
    assert caught.value.errno == errno.EBADMSG and "noise" in str(caught.value)
    with pytest.raises(OSError) as caught:
        numbers(tmp_path)
    assert caught.value.errno == errno.EISDIR
    with pytest.raises(TypeError):
        eventlog.open(tmp_path / "noise", nonsense=1)


def test_a_closed_reader_says_so(steps):
    reader = eventlog.open(steps)
    with reader:
        records = iter(reader)
        assert next(records)["number"] == 0
    with pytest.raises(ValueError, match="closed"):
        next(records)
    reader.close()


def test_several_files_are_one(tmp_path):
    for index in range(2):
        with ElogFile(tmp_path / f"{index}.elog", {1: STEP.format(level="info")}) as file:
            for number in range(3):
                file.event(1, step(index + 2 * number), time=10000 * (2 * number + index + 1))
    paths = [tmp_path / "0.elog", tmp_path / "1.elog"]
    with eventlog.open(*paths) as reader:
        assert [record["number"] for record in reader] == list(range(6))
        assert reader.info("command", paths[1]) == "make it up"
        assert reader.info("nonsense") is None


def test_parts_have_their_own_definitions(path):
    for word in ("first", "second"):
        with ElogFile(path, {1: STEP.format(level="info").replace("word", word)},
                      append=word == "second") as file:
            file.event(1, step(1, b"x"))
    records = list(eventlog.open(path))
    assert [list(record) for record in records] == [["number", "first"], ["number", "second"]]
    assert records[0]["first"] == records[1]["second"] == "x"


def test_follow_waits_for_a_file_that_grows(path):
    file = ElogFile(path, {1: STEP.format(level="info")})
    file.event(1, step(0))
    file.sync()
    seen, first, more = [], threading.Event(), threading.Event()

    def follow():
        for record in eventlog.open(path).follow():
            seen.append(record["number"])
            first.set()
            if record["number"] == 2:
                return

    thread = threading.Thread(target=follow)
    thread.start()
    assert first.wait(60) and seen == [0]
    for number in (1, 2):
        file.event(1, step(number))
        file.sync()
    thread.join(60)
    assert seen == [0, 1, 2]
    more.set()
    file.close()
    with eventlog.open(path) as reader:
        assert [record["number"] for record in reader.follow(timeout=0)] == [0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with eventlog.open(path) as reader:
            list(reader)
            with pytest.raises(ValueError, match="before the end"):
                next(reader.follow())


def test_follow_goes_on_with_the_next_file(path):
    """As elog capture --rotate renames files; also twice, before they are read."""
    def rotate(kept):
        for number in range(kept, 0, -1):
            os.rename(f"{path}.{number - 1}" if number > 1 else path, f"{path}.{number}")

    def new_file(*numbers):
        file = ElogFile(path, {1: STEP.format(level="info")})
        for number in numbers:
            file.event(1, step(number))
        file.sync()
        return file

    def take(count):
        return [record["number"] for _, record in zip(range(count), records)]

    files = [new_file(0)]
    with eventlog.open(path) as reader:
        records = reader.follow(timeout=60)
        assert take(1) == [0]
        files[0].event(1, step(1))
        files[0].__exit__()
        rotate(1)
        new_file(2).__exit__()
        rotate(2)
        files.append(new_file(3, 4, 5))
        assert take(4) == [1, 2, 3, 4]
        assert take(1) == [5] and reader.damage == []
        # A file without END that is truncated, and one that is removed.
        with pytest.warns(eventlog.DamageWarning):
            files.append(new_file(6))
            assert take(1) == [6]
            assert [damage.kind for damage in reader.damage] == ["no_end"]
        os.unlink(path)
        files.append(new_file(7))
        assert take(1) == [7]
        assert [damage.kind for damage in reader.damage] == ["no_end", "no_end", "missing"]
        assert reader.info("command") == "make it up"
    for file in files[1:]:
        file.close()


def test_threads_share_a_reader(path):
    count = 2000
    with ElogFile(path, {1: STEP.format(level="info")}) as file:
        for number in range(count):
            file.event(1, step(number))
    reader, seen = eventlog.open(path), []
    threads = [threading.Thread(target=lambda: seen.extend(
        record["number"] for record in reader)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(count))


def test_garbage_is_no_reason_to_crash(steps):
    """Any byte may be wrong: reading ends, and all that it returns can be used."""
    with open(steps, "rb") as file:
        good = file.read()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for at in range(0, len(good), max(len(good) // 200, 1)):
            with open(steps, "wb") as file:
                file.write(good[:at] + bytes([good[at] ^ 0xff]) + good[at + 1:])
            try:
                for record in eventlog.open(steps):
                    record.as_dict(), str(record)
            except OSError as error:
                assert error.errno


def test_events_are_disabled_without_a_kernel_module():
    if os.path.exists("/dev/eventlog"):
        pytest.skip("the kernel module is loaded")
    event = eventlog.Event("python_test/nothing u32 number")
    assert not event.enabled and event(1) is False and event.error == errno.ENOTCONN
    with pytest.raises(FileNotFoundError):
        eventlog.connect()
    with pytest.raises(FileNotFoundError):
        eventlog.open()
    with eventlog.Span("python_test/span")() as span:
        assert span.session == eventlog.current_session() == 0
