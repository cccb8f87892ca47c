# SPDX-License-Identifier: LGPL-2.1-only
"""A handler for Python's logging, whose records become events:

    import logging
    import eventlog.logging

    logging.getLogger().addHandler(eventlog.logging.Handler("shop"))

The event is shop/log, with the level, the session of the span around it, and the fields logger and
message. The keys of extra become fields of their own; if a record does not allow this, they are in
the field fields, as JSON.

Any thread may use a handler, also in a signal handler and after a fork. It has no lock, no queue
and no thread, and never raises, except with ELOG_STRICT=1: see _emit.py."""
import bisect
import functools
import json
import logging
import os
import re
import sys
import threading
import traceback
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _emit
from ._emit import Event, describe, lib
from ._records import Level

# Levels of logging below these numbers have the Level before them.
_BOUNDS = (logging.DEBUG, logging.INFO, logging.INFO + 1, logging.WARNING, logging.ERROR,
           logging.CRITICAL)
_LEVELS = (Level.VERBOSE, Level.DEBUG, Level.INFO, Level.NOTICE, Level.WARNING, Level.ERROR,
           Level.CRITICAL)
# What each record has, and what formatters and newer versions of Python add.
_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_RESERVED = {"logger", "message", "fields"}
_ID_BYTES = {"trace_id": 16, "span_id": 8}
# So many different sets of fields become events of their own; further ones become JSON.
_SHAPES_OF_LOGGER = 64
_SHAPES = 512
_FIELDS = 128
# Bytes, which leave room for the descriptions of the fields in EVENTLOG_PAYLOAD_MAX.
_LOGGER_BYTES = 256
_MESSAGE_BYTES = 32768
_EXTRA_BYTES = 20480


def _cut(text: str, limit: int) -> bytes:
    """Encodes any text, and says at its end how many bytes it was too long."""
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "backslashreplace")
    if b"\0" in data:
        data = data.replace(b"\0", b"\\x00")
    if len(data) <= limit:
        return data
    end = limit
    while end > limit - 4 and data[end] & 0xc0 == 0x80:  # inside of a character
        end -= 1
    return data[:end] + b" ... (%d bytes more)" % (len(data) - end)


def _str(value: Any) -> str:
    """str() of any value: a record is worth more than one of its extra values."""
    if type(value) is str:
        return value
    try:
        return value.hex() if isinstance(value, bytes) else str(value)
    except Exception as error:
        return f"<{type(value).__name__}: {type(error).__name__}>"


def _json(value: Any) -> str:
    try:
        return json.dumps(value, default=_str, allow_nan=False)
    except Exception:  # a cycle, too deep, no finite number, a key of a wrong type
        return json.dumps(_str(value))


def _text(value: Any) -> str:
    """The value as a field of its own: JSON, without quotes around a text."""
    return _json(value) if value is None or isinstance(value, (dict, list, tuple)) else _str(value)


def _json_object(extra: Dict[Any, Any]) -> str:
    """Returns an object with as many keys as have room, and says how many have none."""
    members: List[str] = []
    room = _EXTRA_BYTES
    for key, value in extra.items():
        name, text = json.dumps(_cut(_str(key), 256).decode(errors="replace")), _json(value)
        if len(name) + len(text) > room:
            text = json.dumps(_cut(text, max(room // 2, 32)).decode())
        room -= len(name) + len(text) + 4
        if room < 0:
            members.append(f'"truncated": {len(extra) - len(members)}')
            break
        members.append(f"{name}: {text}")
    return f"{{{', '.join(members)}}}" if members else ""


@functools.lru_cache(maxsize=1024)
def _is_name(key: Any) -> bool:
    return isinstance(key, str) and key not in _RESERVED and \
        re.fullmatch(r"[A-Za-z_]\w{,63}", key, re.ASCII) is not None


def _type(key: Any, value: Any) -> Optional[str]:
    """Returns the type of a field for the value, None if it cannot be a field."""
    if not _is_name(key):
        return None
    if type(value) is str:
        return "string"
    if isinstance(value, bool):
        return "u8"
    if isinstance(value, int) and -1 << 63 <= value < 1 << 63:
        return "s64"
    if isinstance(value, bytes) and len(value) == _ID_BYTES.get(key):
        return f"unsigned char[{len(value)}]"
    return "string"


def _trace_context() -> Dict[str, bytes]:
    """The identifiers of OpenTelemetry's current span, if the program has loaded it."""
    trace = sys.modules.get("opentelemetry.trace")
    context = trace.get_current_span().get_span_context() if trace else None
    if context is None or not context.is_valid:
        return {}
    return {"trace_id": context.trace_id.to_bytes(16, "big"),
            "span_id": context.span_id.to_bytes(8, "big")}


def _extra(record: logging.LogRecord) -> Dict[Any, Any]:
    extra = {key: value for key, value in record.__dict__.items() if key not in _STANDARD}
    extra.update(_trace_context())
    if not record.exc_info and record.exc_text:  # of another process
        extra["exception"] = record.exc_text
    elif record.exc_info and record.exc_info[0]:
        extra["exception"] = "".join(traceback.format_exception(*record.exc_info)).rstrip()
    if record.stack_info:
        extra["stack"] = record.stack_info
    return extra


def _program() -> str:
    path = sys.argv[0] if sys.argv else ""
    if os.path.basename(path) == "__main__.py":  # python -m
        path = os.path.dirname(os.path.abspath(path))
    name = os.path.basename(path)
    name = name[:-3] if name.endswith(".py") else name
    return re.sub(r"[^\w.]", "_", name.lstrip("-"), flags=re.ASCII)[:64] or "python"


class Handler(logging.Handler):
    """Emits each record as an event PROVIDER/log; by default the program's name is the provider.

    Nothing is formatted while no capture records the level. A formatter has no effect.
    """

    invalid: Optional[str] = None
    """The first record that was dropped and counted as invalid: "FILE:LINE: ERROR"."""

    def __init__(self, provider: Optional[str] = None, level: Union[int, str] = 0) -> None:
        super().__init__(level)
        provider = _program() if provider is None else provider
        if not provider or re.search(r"[\s/]", provider):
            raise ValueError(f"'{provider}' is not a provider: a name without a space or a slash")
        self.provider = provider
        self._inside = threading.local()
        self._typed: Dict[Tuple[Any, ...], Optional[Event]] = {}
        self._shapes: Dict[str, int] = {}
        self._events = [self._register("string fields", level) for level in _LEVELS]

    def _register(self, fields: str, level: Level) -> Event:
        return Event(f"{self.provider}/log string logger; string message; {fields}", level)

    def createLock(self) -> None:
        self.lock = None  # nothing here waits

    def handle(self, record: logging.LogRecord) -> Any:
        # Filters may change what other handlers see: they run, whether it is recorded or not.
        result: Any = self.filter(record) if self.filters else True
        if result:
            self.emit(result if isinstance(result, logging.LogRecord) else record)
        return result

    def emit(self, record: logging.LogRecord) -> None:
        event = self._events[0]
        try:
            event = self._events[bisect.bisect(_BOUNDS, record.levelno)]
            if event.enabled or _emit._strict:
                self._emit(event, record)
        except Exception as error:
            if _emit._strict:
                raise
            if event.enabled:
                lib.elog_event_invalid(event._event)
                if self.invalid is None:
                    self.invalid = f"{record.pathname}:{record.lineno}: {describe(error)}"

    def _emit(self, event: Event, record: logging.LogRecord) -> None:
        if getattr(self._inside, "inside", False):
            raise RecursionError("a record while this thread handles another one")
        try:
            self._inside.inside = True
            values: List[Any] = [_cut(_str(record.name), _LOGGER_BYTES),
                                 _cut(record.getMessage(), _MESSAGE_BYTES)]
            extra = _extra(record)
            typed = self._find_typed(event, record.name, extra) if extra else None
            if not typed:
                values.append(_json_object(extra) if extra else "")
            else:
                room = _EXTRA_BYTES
                for value, field in zip(extra.values(), typed._fields[2:]):
                    if field.is_text:
                        value = _cut(_text(value), room)
                        room = max(room - len(value), 0)
                    values.append(value)
            (typed or event).emit(_emit.current_session(), values)
        finally:
            self._inside.inside = False

    def _find_typed(self, event: Event, logger: str, extra: Dict[Any, Any]) -> Optional[Event]:
        """Returns the event with a field for each key; None: they must become JSON."""
        types = [_type(key, value) for key, value in extra.items()]
        if None in types or len(types) > _FIELDS:
            return None
        shape = (event, *extra, *types)
        if shape not in self._typed:
            count = self._shapes.get(logger, 0)
            if count >= _SHAPES_OF_LOGGER or len(self._typed) >= _SHAPES:
                return None
            self._shapes[logger] = count + 1
            fields = "; ".join(f"{kind} {key}" for kind, key in zip(types, extra))
            try:
                typed = self._register(fields, event.level)
            except (OSError, ValueError):
                self._typed[shape] = None
            else:
                self._typed[shape] = None if typed.error else typed
        return self._typed[shape]
