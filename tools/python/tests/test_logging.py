# SPDX-License-Identifier: GPL-2.0-only
"""eventlog.logging.Handler. Needs the kernel module, and root."""
import asyncio
import gc
import io
import itertools
import json
import logging
import logging.config
import os
import sys
import threading
import types

import pytest

import eventlog
import eventlog.logging
from test_device import listen, one_cpu_and_no_misspelled_names, pytestmark  # noqa: F401
from test_readme import BLOCKS

NAMES = ("critical", "error", "warning", "notice", "info", "debug", "verbose")


@pytest.fixture
def log():
    """A logger with our handler, and one that prints as usual, to log.printed."""
    logger = logging.Logger("shop.cart", 1)
    logger.printed = io.StringIO()
    logger.ours = eventlog.logging.Handler("pytest")
    for handler in (logging.StreamHandler(logger.printed), logger.ours):
        logger.addHandler(handler)
    return logger


def received(consumer):
    """The records and, as in elog stat, how many were invalid; nothing is lost."""
    records = list(consumer)
    assert consumer.lost == {}
    return records, consumer.stat().invalid


def test_levels_have_the_nearest_level_of_events(log):
    numbers = {1: "verbose", 9: "verbose", 10: "debug", 15: "debug", 20: "info", 21: "notice",
               25: "notice", 30: "warning", 35: "warning", 40: "error", 50: "critical",
               99: "critical"}
    with listen() as consumer:
        for number in numbers:
            log.log(number, "level %d", number)
        records, _ = received(consumer)
    assert [(record.level.name.lower(), record["message"]) for record in records] == \
        [(name, f"level {number}") for number, name in numbers.items()]
    assert {(record.name, record["logger"], record["fields"]) for record in records} == \
        {("pytest/log", "shop.cart", "")}
    with listen(level="warning") as consumer:
        log.info("no")
        log.error("yes")
        assert [record["message"] for record in received(consumer)[0]] == ["yes"]


def test_extra_values_are_fields_with_types(log):
    with listen(filter="user == 7") as consumer:
        for user in (7, 8):
            log.info("added", extra={"user": user, "path": "/caf\xe9", "admin": True, "cost": 1.5,
                                     "tags": ["a", {"b": None}], "none": None,
                                     "big": 1 << 63, "key": b"\x01\xff"})
        [record], invalid = received(consumer)
    assert dict(record) == {
        "logger": "shop.cart", "message": "added", "user": 7, "path": "/caf\xe9", "admin": 1,
        "cost": "1.5", "tags": '["a", {"b": null}]', "none": "null", "big": str(1 << 63),
        "key": "01ff"}
    assert repr(record.type.fields["user"]) == "s64 user" and invalid == 0


def test_values_that_cannot_be_fields_are_json(log):
    cycle = []
    cycle.append(cycle)
    deep = []
    for _ in range(100000):
        deep = [deep]
    extra = {"user-id": 7, "fields": "\ud800\0", "cycle": cycle, "nan": float("nan"),
             "bytes": b"\xff", "odd": {(1, 2): 3}, "path": ["x"], "deep": deep}
    with listen() as consumer:
        log.info("", extra=extra)
        [record], invalid = received(consumer)
    fields = json.loads(record["fields"])
    assert fields.pop("deep").startswith(("[[[[", "<list: RecursionError"))
    assert fields == {"user-id": 7, "fields": "\ud800\0", "cycle": "[[...]]", "nan": "nan",
                      "bytes": "ff", "odd": "{(1, 2): 3}", "path": ["x"]}
    assert list(record) == ["logger", "message", "fields"] and invalid == 0
    while deep:  # not recursively
        deep = deep.pop()


def test_many_sets_of_fields_become_json(log):
    with listen() as consumer:
        for number in range(70):
            log.info("", extra={f"number{number}": number})
        for count in (128, 129):
            logging.Logger.info(log, "", extra={f"field{i}": "x" * i for i in range(count)})
        records, invalid = received(consumer)
    for number, record in enumerate(records[:70]):
        assert (record["fields"] == f'{{"number{number}": {number}}}') if number >= 64 else \
            (record[f"number{number}"] == number)
    assert len(json.loads(records[71]["fields"])) == 129 and invalid == 0


def test_any_text_arrives_and_says_what_was_cut(log):
    texts = {"\0": "\\x00", "a\ud800b": "a\\ud800b", os.fsdecode(b"\xff!"): None, "": "",
             "\u20ac" * 350000: "\u20ac" * 10922 + " ... (1017234 bytes more)",
             "x" * 32768: "x" * 32768, "x" * 32769: "x" * 32768 + " ... (1 bytes more)"}
    with listen() as consumer:
        for text in texts:
            log.error("%s", text, extra={"text": text})
            log.error(text, extra={"fields": text})
        records, invalid = received(consumer)
    assert invalid == 0 and len(records) == 2 * len(texts)
    for number, expected in enumerate(texts.values()):
        for record in records[2 * number:2 * number + 2]:
            if expected is None:
                assert record.raw("message") == b"\xff!"
            else:
                assert record["message"] == expected
    assert records[8]["text"].endswith("bytes more)") and len(records[8]["text"]) < 8000
    cut = json.loads(records[9]["fields"])
    assert cut["fields"].startswith('"\\u20ac') and cut["fields"].endswith("bytes more)")
    with listen() as consumer:
        log.error("", extra={f"-{number}": "x" * 1000 for number in range(100)})
        log.error("", extra={f"f{number}": "x" * 1000 for number in range(100)})
        (first, second), invalid = received(consumer)
    fields = json.loads(first["fields"])
    assert fields["truncated"] + len(fields) == 101 and invalid == 0
    assert second["f0"] == "x" * 1000 and second["f99"] == " ... (1000 bytes more)"


def test_exceptions_and_stacks_are_text(log):
    with listen() as consumer:
        try:
            1 / 0
        except ZeroDivisionError:
            log.exception("failed", extra={"user": 7}, stack_info=True)
        log.error("no exception", exc_info=True)
        log.handle(logging.makeLogRecord({"name": "far", "levelno": 20, "msg": "pickled",
                                          "exc_text": "Traceback\nFarError"}))
        (failed, bare, far), invalid = received(consumer)
    assert failed["user"] == 7 and failed["exception"].startswith("Traceback (most recent call")
    assert failed["exception"].endswith("ZeroDivisionError: division by zero")
    assert "test_logging.py" in failed["stack"] and bare["fields"] == "" and invalid == 0
    assert (far["logger"], far["exception"]) == ("far", "Traceback\nFarError")


class Broken(Exception):
    def __str__(self):
        raise Broken


class Logs:
    """Logs while it is formatted; counts how often it is."""
    def __init__(self, log):
        self.log, self.count = log, 0

    def __str__(self):
        self.count += 1
        if self.log:
            self.log.info("inside")
        return "text"


def all_wrong(log):
    log.info("%d", "x")
    log.info("too few %s %s", 1)
    log.info("%s", Broken())
    log.ours.handle(logging.makeLogRecord({"levelno": "high"}))
    log.ours.handle(logging.makeLogRecord({"levelno": 20, "exc_info": 7}))
    log.info("good", extra={"broken": Broken()})
    log.info("also", extra={"broken-": Broken()})


def test_wrong_records_are_counted_and_nothing_is_raised(log, capsys, monkeypatch):
    log.removeHandler(log.handlers[0])  # it prints these errors
    assert logging.raiseExceptions
    all_wrong(log)
    assert log.ours.invalid is None
    with listen() as consumer:
        all_wrong(log)
        records, invalid = received(consumer)
    assert [record["message"] for record in records] == ["good", "also"]
    assert records[0]["broken"] == "<Broken: Broken>" and invalid == 5
    place, line, error = log.ours.invalid.split(":", 2)
    assert place == __file__ and error.startswith(" TypeError: %d format")
    assert 'log.info("%d", "x")' in open(__file__).read().splitlines()[int(line) - 1]
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(eventlog._emit, "_strict", True)
    for _ in range(2):
        with pytest.raises(TypeError):
            log.info("%d", "x")
        with pytest.raises(Broken):
            log.info("%s", Broken())


def test_a_record_inside_of_another_one_is_cut_and_counted(log):
    value = Logs(log)
    log.removeHandler(log.handlers[0])
    with listen() as consumer:
        log.info("%s", value)
        log.info("next")
        records, invalid = received(consumer)
    assert [record["message"] for record in records] == ["text", "next"] and invalid == 1
    assert "RecursionError" in log.ours.invalid


def test_nothing_is_formatted_unless_it_is_recorded(log):
    value = Logs(None)
    log.removeHandler(log.handlers[0])
    with listen(level="warning") as consumer:
        log.info("%s", value, extra={"value": value})
        assert value.count == 0
        log.warning("%s", value, extra={"value": value})
        assert value.count == 2
        assert len(received(consumer)[0]) == 1
    log.warning("%s", value)
    assert value.count == 2


def test_filters_run_whether_it_is_recorded_or_not(log):
    seen = []
    log.ours.addFilter(lambda record: seen.append(record.msg) or record.msg != "no")
    log.info("no")
    log.info("yes")
    with listen() as consumer:
        log.info("no")
        log.info("yes")
        assert [record["message"] for record in received(consumer)[0]] == ["yes"]
    assert seen == ["no", "yes"] * 2


def test_records_have_the_session_of_the_span(log):
    span = eventlog.Span("pytest/request u32 id")

    async def serve(number):
        with span(number) as running:
            await asyncio.sleep(0)
            log.info("serve", extra={"number": number})
            return running.session

    async def both():
        return await asyncio.gather(serve(1), serve(2))

    with listen("pytest/log") as consumer:
        sessions = asyncio.run(both())
        log.info("outside")
        records, _ = received(consumer)
    assert {record.session: record.get("number") for record in records} == \
        {sessions[0]: 1, sessions[1]: 2, 0: None}


def test_records_have_the_identifiers_of_opentelemetry(log, monkeypatch):
    context = types.SimpleNamespace(is_valid=True, trace_id=0xabc, span_id=0xdef)
    trace = types.ModuleType("opentelemetry.trace")
    trace.get_current_span = lambda: types.SimpleNamespace(get_span_context=lambda: context)
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", trace)
    with listen() as consumer:
        log.info("inside")
        log.info("json", extra={"a-b": 1})
        context.is_valid = False
        log.info("outside", extra={"trace_id": b"123"})
        (inside, as_json, outside), invalid = received(consumer)
    assert inside["trace_id"] == (0xabc).to_bytes(16, "big")
    assert inside["span_id"] == (0xdef).to_bytes(8, "big")
    assert json.loads(as_json["fields"]) == {"a-b": 1, "trace_id": f"{0xabc:032x}",
                                             "span_id": f"{0xdef:016x}"}
    assert outside["trace_id"] == "313233" and invalid == 0


def test_a_child_logs(log):
    with listen() as consumer:
        log.info("parent", extra={"number": 1})
        child = os.fork()
        if not child:
            try:
                log.info("child", extra={"number": 2})
                log.info("child", extra={"new": 3})
            finally:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        records, invalid = received(consumer)
        assert [record.pid for record in records] == [os.getpid(), child, child]
        assert records[2]["new"] == 3 and invalid == 0


def test_a_signal_handler_logs_at_any_line(log):
    """As if the signal came before a line of the handler, or where there is a lock."""
    log.removeHandler(log.handlers[0])
    lines = None

    def run(interrupted):
        nonlocal lines
        log.ours._typed.clear()
        log.ours._shapes.clear()
        lines = 0

        def trace(frame, what, _):
            nonlocal lines
            code = frame.f_code
            if what == "line" and (code.co_name == "_get_producer" or
                                   code.co_filename == eventlog.logging.__file__):
                lines += 1
                if lines == interrupted:
                    log.info("signal", extra={"signal": 1})
            return trace

        sys.settrace(trace)
        log.info("first", extra={"first": 1})
        eventlog.Event("pytest/other u32 number")
        sys.settrace(None)

    def run_all():
        for number in itertools.count(1):
            run(number)
            done.append(number)
            if number > lines:
                return

    done = []
    with listen(backlog_bytes=1 << 24) as consumer:
        thread = threading.Thread(target=run_all, daemon=True)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()
        records, invalid = received(consumer)
    assert len(done) > 50
    assert [record["first"] for record in records if record["message"] == "first"] == \
        [1] * len(done)
    assert len(records) + invalid == 2 * len(done) - 1 and invalid < len(records)


def start_threads(log, stop):
    def work(thread):
        for number in itertools.count():
            if stop(number):
                return
            log.log(10 * (1 + number % 5), "%d %d", thread, number,
                    extra={"number": number} if number % 3 else None)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    return threads


def test_threads_log_the_same_as_to_a_file(log):
    with listen(backlog_bytes=1 << 24) as consumer:
        for thread in start_threads(log, lambda number: number == 500):
            thread.join()
        records, invalid = received(consumer)
    assert sorted(record["message"] for record in records) == \
        sorted(log.printed.getvalue().splitlines())
    assert len(records) == 2000 and invalid == 0


def test_captures_start_and_stop_while_threads_log(log):
    stop = threading.Event()
    threads = start_threads(log, lambda _: stop.is_set())
    try:
        for _ in range(6):
            with listen(backlog_bytes=1 << 24) as consumer:
                seen = {}
                for record in consumer.follow(timeout=60):
                    seen.setdefault(record["message"].split()[0], []).append(record)
                    if len(seen) == 4:
                        break
                assert consumer.lost == {} and consumer.stat().invalid == 0
            for records in seen.values():
                numbers = [int(record["message"].split()[1]) for record in records]
                assert numbers == list(range(numbers[0], numbers[-1] + 1))
                assert all(record.get("number", number) == number
                           for record, number in zip(records, numbers))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    lines = log.printed.getvalue().splitlines()
    assert len(lines) == len(set(lines))
    for thread in range(4):
        numbers = [int(line.split()[1]) for line in lines if line.startswith(f"{thread} ")]
        assert numbers == list(range(len(numbers)))


def test_the_provider_is_the_program(monkeypatch):
    for path, name in (("/srv/shop.py", "shop"), ("", "python"), ("-c", "c"), ("/", "python"),
                       ("/x/__main__.py", "x"), ("my shop", "my_shop"), ("x" * 300, "x" * 64)):
        monkeypatch.setattr(sys, "argv", [path])
        assert eventlog.logging.Handler().provider == name
    for name in ("", "a b", "a/b", "x" * 256):
        with pytest.raises(ValueError):
            eventlog.logging.Handler(name)


def test_a_configuration_makes_the_handler():
    logging.config.dictConfig({
        "version": 1, "disable_existing_loggers": False,
        "handlers": {"events": {"class": "eventlog.logging.Handler", "provider": "pytest",
                                "level": "ERROR"}},
        "loggers": {"configured": {"handlers": ["events"], "propagate": False}}})
    log = logging.getLogger("configured")
    with listen() as consumer:
        log.warning("no")
        log.error("yes")
        assert [record["message"] for record in received(consumer)[0]] == ["yes"]
    log.handlers.clear()


def test_handlers_that_are_gone_leave_no_events(log):
    def events():
        gc.collect()
        return {each.name for each in eventlog.definitions() if each.provider == "pytest_gone"}

    handler = eventlog.logging.Handler("pytest_gone")
    assert events() == {"pytest_gone/log"}
    handler.close()
    del handler
    assert not events()


def test_the_example_of_the_readme_arrives():
    root = logging.getLogger()
    before = list(root.handlers)
    try:
        with listen("shop") as consumer:
            exec(BLOCKS[4], {})
            [record], _ = received(consumer)
    finally:
        root.handlers[:] = before
    assert str(record).endswith('logger="shop.cart" message="book added" user=7')
