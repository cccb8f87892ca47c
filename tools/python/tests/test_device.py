# SPDX-License-Identifier: GPL-2.0-only
"""Emitting and receiving events. Needs the kernel module, and root."""
import asyncio
import errno
import os
import threading
import warnings

import pytest

import eventlog

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/eventlog"),
                                reason="the kernel module is not loaded")
ALL = ("every u8 a; u64 b; s16 c; int d; char[5] e; unsigned char[3] f; __data_loc char[] g; "
       "__rel_loc char[] h; __rel_loc unsigned char[] i; struct thing j 2; string k; bytes l")


def listen(events="pytest", **options):
    return eventlog.open("/dev/eventlog", events=events, **options)


@pytest.fixture(autouse=True)
def one_cpu_and_no_misspelled_names():
    """One ring. Events are registered after the consumer, which warns of unknown names."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eventlog.NoMatchWarning)
        yield


def test_values_arrive_as_they_were_sent():
    event = eventlog.Event("pytest/" + ALL, level="notice", keywords=6)
    assert not event.enabled
    values = {"a": 255, "b": 2 ** 64 - 1, "c": -2, "d": -70000, "e": "abcde", "f": b"\x01\x02\x03",
              "g": "café", "h": "", "i": b"\0\xff", "j": b"\x0a\x0b", "k": "x" * 1000, "l": b""}
    with listen() as consumer:
        assert event.enabled and event.error == 0
        assert event(**values) and event(*values.values())
        assert event(1, 2, 3, 4, "too long", b"\x01", b"\xff", "", b"", b"", "",
                     b"")
        records = list(consumer)
        assert [record.name for record in records] == ["pytest/every"] * 3
        assert dict(records[0]) == values == dict(records[1])
        assert records[2]["e"] == "too l" and records[2]["f"] == b"\x01\0\0"
        assert records[2].raw("g") == b"\xff"
        assert records[0].level is eventlog.Level.NOTICE and records[0].type.keywords == 6
        assert records[0].pid == os.getpid() and records[0].comm and records[0].session == 0
        assert records[0].time < records[1].time < records[2].time
        assert not list(consumer)
        assert consumer.lost == {} and consumer.stat().records == 3
    assert not event.enabled and event(**values) is False


def test_wrong_definitions_raise():
    for text in ("pytest/x u9 number", "pytest/x u8", "pytest/x u8 a; u8 a", "pytest/x u8 a 3",
                 "pytest/x char[] a", "pytest/x struct a b"):
        with pytest.raises(ValueError):
            eventlog.Event(text)
    with pytest.raises(ValueError, match="critical, error"):
        eventlog.Event("pytest/x", level="warn!")


class Broken(Exception):
    """A path that cannot be made, and an error whose text cannot be made."""

    def __init__(self, error):
        self.error = error

    def __fspath__(self):
        raise self.error

    def __str__(self):
        raise self.error


# Wrong arguments of Event("pytest/wrong u8 number; string word; char[4] four"), with the error
# that each raises if ELOG_STRICT=1. None raises otherwise, enabled or not; but while the event
# is enabled, each counts as invalid.
WRONG = {
    "too few": (0, (1, "a"), {}, TypeError),
    "too many": (0, (1, "a", "b", 2), {}, TypeError),
    "no field": (0, (1, "a"), {"fuor": "b"}, TypeError),
    "twice": (0, (1, "a", "b"), {"four": "b"}, TypeError),
    "a number as text": (0, (1, 5, "b"), {}, TypeError),
    "a text as number": (0, ("1", "a", "b"), {}, ValueError),
    "None": (0, (None, "a", "b"), {}, ValueError),
    "above the range": (0, (256, "a", "b"), {}, ValueError),
    "below the range": (0, (-1, "a", "b"), {}, ValueError),
    "too long": (0, (1, "x" * 65536, "b"), {}, OSError),
    "a text with a NUL": (0, (1, "/ok\0/etc/shadow", "b"), {}, ValueError),
    "a text of a fixed size with a NUL": (0, (1, "a", "b\0c"), {}, ValueError),
    "half a surrogate pair": (0, (1, "\ud800", "b"), {}, UnicodeEncodeError),
    "an error of an argument": (0, (1, Broken(KeyError("broken")), "b"), {}, KeyError),
    "values that are no sequence": (0, 1, {}, TypeError),
    "names that are no dictionary": (0, (1, "a"), "f", AttributeError),
    "a session that is no number": ("7", (1, "a", "b"), {}, TypeError),
    "a session of 65 bits": (1 << 64, (1, "a", "b"), {}, ValueError),
}


@pytest.mark.parametrize("strict", [False, True])
def test_wrong_arguments_do_the_same_whether_recorded_or_not(strict, monkeypatch):
    monkeypatch.setattr(eventlog._emit, "_strict", strict)
    event = eventlog.Event("pytest/wrong u8 number; string word; char[4] four")

    def emit_all():
        for what, (number, values, named, error) in WRONG.items():
            if strict:
                with pytest.raises(error):
                    event.emit(number, values, named)
            else:
                assert event.emit(number, values, named) is False, what

    emit_all()
    assert event.invalid is None
    with warnings.catch_warnings():
        warnings.simplefilter("error", eventlog.LossWarning)
        with listen() as consumer:
            emit_all()
            assert event(1, "a", "b") is True
            invalid = 0 if strict else len(WRONG)
            assert consumer.stat().invalid == invalid and consumer.lost == {}
            assert [record["word"] for record in consumer] == ["a"]
    emit_all()
    if strict:
        assert event.invalid is None
    else:
        place, line, error = event.invalid.split(":", 2)
        assert place == __file__ and error.startswith(" TypeError: wrong takes the fields")
        assert "event.emit" in open(__file__).read().splitlines()[int(line) - 1]


def test_an_error_without_a_text_can_be_noted():
    event = eventlog.Event("pytest/broken string word")
    with listen():
        assert event(Broken(Broken(KeyError()))) is False
    assert event.invalid.endswith(": Broken")


def test_an_event_without_fields_can_be_invalid():
    event = eventlog.Event("pytest/bare")
    with listen() as consumer:
        assert event(1) is False and event() is True
        assert consumer.stat().invalid == 1 and len(list(consumer)) == 1


def test_spans_with_wrong_values(monkeypatch):
    span = eventlog.Span("pytest/span u8 number", stop="u8 status")

    @eventlog.traced("pytest/traced u8 number")
    def traced(number):
        return number

    def run():
        for number, results in (("x", {}), (1, {"statsu": 1}), (1, {"status": "x"})):
            with span(number) as running:
                running.set(**results)
        assert traced("text") == "text"
        with pytest.raises(TypeError) as caught:
            traced()
        return str(caught.value)

    quiet = run()
    with listen() as consumer:
        assert run() == quiet
        assert consumer.stat().invalid == 4
        assert sorted(record.event for record in consumer) == \
            ["span_start"] * 2 + ["span_stop", "traced_stop"]
    monkeypatch.setattr(eventlog._emit, "_strict", True)
    for _ in range(2):
        for action in (lambda: span("x").__enter__(), lambda: span(1).set(statsu=1),
                       lambda: traced("text")):
            with pytest.raises((TypeError, ValueError)):
                action()


def test_rules_and_filters_of_the_kernel():
    info = eventlog.Event("pytest/rule u32 number; string word")
    error = eventlog.Event("pytest/rule u32 number; string word", level="error")

    def emit():
        for number in range(4):
            info(number, "info")
            error.emit(7, (number, "error"))

    cases = [
        ({"level": "warning"}, [(n, "error") for n in range(4)], 0),
        ({"session": 7}, [(n, "error") for n in range(4)], 0),
        ({"filter": "number >= 2"}, [(2, "info"), (2, "error"), (3, "info"), (3, "error")], 4),
        ({"filter": 'number == 1 && word ~ "r+o"'}, [(1, "error")], 6),
        ({"filter": "event == rule && word != info"}, [(n, "error") for n in range(4)], 4),
        ({"pid": 1}, [], 0),
        ({"events": ["pytest/r?le", "pytest/rule"], "filter": "number == 3"},
         [(3, "info"), (3, "error")], 12),  # each rule counts
    ]
    for options, expected, rejected in cases:
        with listen(**{"events": "pytest/rule", **options}) as consumer:
            emit()
            assert [tuple(record.values()) for record in consumer] == expected, options
            assert consumer.stat().rejected == rejected, options
    with pytest.raises(eventlog.FilterError, match="column"):
        listen(filter="word < 3", events="pytest/rule")


def test_a_name_that_no_event_has_warns():
    event = eventlog.Event("pytest/misspelled u32 number")
    with pytest.warns(eventlog.NoMatchWarning, match="'pytest/mispelled'; did you mean "
                                                     "pytest/misspelled"):
        listen(events="pytest/mispelled").close()
    with pytest.warns(eventlog.NoMatchWarning, match="numbr"):
        listen(events="pytest/misspelled", filter="numbr == 1").close()
    assert [each.name for each in eventlog.definitions()
            if each.provider == "pytest" and each.event == event.name] == ["pytest/misspelled"]


def test_losses_are_visible_and_records_stay():
    event = eventlog.Event("pytest/many u32 number; char[100] word")
    with listen(ring_bytes=16384, backlog_bytes=0) as consumer:
        for number in range(1000):
            assert event(number, "word")
        with pytest.warns(eventlog.LossWarning, match="no room"):
            first = list(consumer)
        lost = consumer.lost
        assert len(first) + sum(lost.values()) == 1000 and set(lost) == {"no room"}
        # The ring is written again; the records are copies.
        for number in range(1000, 1050):
            event(number, "again")
        second = list(consumer)
        # A thread's events go to two rings, of its CPU and of a shard, which fill up apart.
        numbers = [record["number"] for record in first]
        assert numbers[0] == 0 and numbers == sorted(set(numbers))
        assert {record["word"] for record in first} == {"word"}
        assert [record["number"] for record in second] == list(range(1000, 1050))
    assert consumer.lost == lost


def test_a_backlog_holds_what_a_ring_cannot():
    event = eventlog.Event("pytest/backlog u32 number; char[100] word")
    with listen(ring_bytes=65536) as consumer:
        for number in range(2000):
            assert event(number, "word")
        numbers = [record["number"] for record in consumer]
        assert len(numbers) + sum(consumer.lost.values()) == 2000
        assert numbers == sorted(set(numbers))


def test_overwriting_keeps_the_newest():
    event = eventlog.Event("pytest/overwritten u32 number; char[100] word")
    with listen(ring_bytes=16384, overwrite=True) as consumer:
        for number in range(1000):
            assert event(number, "word")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", eventlog.LossWarning)
            numbers = [record["number"] for record in consumer]
        # A thread's events go to two rings, each of which keeps its own newest ones.
        assert numbers[-1] == 999 and numbers == sorted(set(numbers)) and len(numbers) < 1000


def test_follow_returns_events_as_they_come():
    event = eventlog.Event("pytest/followed u32 number")
    arrived = threading.Event()

    def emit():
        assert event(0)
        assert arrived.wait(60)
        assert event(1) and event(2)

    with listen() as consumer:
        thread = threading.Thread(target=emit)
        thread.start()
        numbers = []
        for record in consumer.follow(timeout=60):
            numbers.append(record["number"])
            arrived.set()
            if len(numbers) == 3:
                break
        thread.join()
        assert numbers == [0, 1, 2]
        assert list(consumer.follow(timeout=0)) == []


def test_spans_have_sessions():
    request = eventlog.Span("pytest/request u32 id; string path", stop="u16 status")
    step = eventlog.Event("pytest/step u32 number")
    with listen() as consumer:
        with request(id=1, path="/") as outer:
            step(1)
            with request(2, "/inner") as inner:
                inner.set(status=404)
                step(2)
            step(3)
        with pytest.raises(ZeroDivisionError):
            with request(3, ""):
                1 / 0
        with eventlog.session(5):
            step(4)
        step(5)
        records = list(consumer)
    assert outer.session and inner.session and outer.session != inner.session
    summary = [(record.event, record.session, tuple(record.values())) for record in records]
    assert summary[:7] == [
        ("request_start", outer.session, (1, "/", 0)),
        ("step", outer.session, (1,)),
        ("request_start", inner.session, (2, "/inner", outer.session)),
        ("step", inner.session, (2,)),
        ("request_stop", inner.session, (404, "")),
        ("step", outer.session, (3,)),
        ("request_stop", outer.session, (0, "")),
    ]
    assert summary[8][0] == "request_stop" and summary[8][2] == (0, "ZeroDivisionError")
    assert summary[9:11] == [("step", 5, (4,)), ("step", 0, (5,))]
    assert eventlog.current_session() == 0


def test_decorated_functions_are_spans():
    @eventlog.traced("pytest/work u32 number", level="debug")
    def work(word, number=7):
        return word * number

    @eventlog.traced("pytest/wait u32 number")
    async def wait(number):
        await asyncio.sleep(0)
        return eventlog.current_session()

    async def both():
        return await asyncio.gather(wait(1), wait(2))

    assert work("a", 2) == "aa" and work.__name__ == "work"
    with listen() as consumer:
        assert work("a") == "aaaaaaa"
        sessions = asyncio.run(both())
        records = list(consumer)
    assert [(record.event, record.get("number")) for record in records[:2]] == \
        [("work_start", 7), ("work_stop", None)]
    assert records[0].session == records[1].session and records[0].level == eventlog.Level.DEBUG
    starts = {record["number"]: record.session for record in records
              if record.event == "wait_start"}
    assert sessions == [starts[1], starts[2]] and starts[1] != starts[2]
    with pytest.raises(TypeError, match="no parameter number"):
        eventlog.traced("pytest/wrong u32 number")(lambda: 1)
    with pytest.raises(TypeError, match="generator"):
        @eventlog.traced()
        def generate():
            yield 1


def test_a_child_emits_but_does_not_read():
    event = eventlog.Event("pytest/forked u32 pid")
    with listen() as consumer:
        child = os.fork()
        if not child:
            status = 1
            try:
                list(consumer)
            except ValueError:
                status = 0 if event(os.getpid()) else 2
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert [(record["pid"], record.pid) for record in consumer] == [(child, child)]


def test_release_lets_the_module_go_and_connect_comes_back():
    event = eventlog.Event("pytest/released u32 number")
    with listen() as consumer:
        assert event(1)
        eventlog.release()
        assert not event.enabled and event(2) is False and event.error == errno.ENOTCONN
        eventlog.connect()
        assert event(3)
        assert [record["number"] for record in consumer] == [1, 3]


def test_many_threads_emit():
    event = eventlog.Event("pytest/threads u32 number")
    with listen() as consumer:
        threads = [threading.Thread(target=lambda: [event(i) for i in range(100)])
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        numbers = sorted(record["number"] for record in consumer)
        assert numbers == sorted(list(range(100)) * 4)


def test_a_device_that_is_none_raises():
    with pytest.raises(OSError) as caught:
        eventlog.open("/dev/null")
    assert caught.value.errno == errno.ENOTTY
    with pytest.raises(OSError) as caught:
        listen(ring_bytes=3)
    assert caught.value.errno == errno.EINVAL
