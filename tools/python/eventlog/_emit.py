# SPDX-License-Identifier: LGPL-2.1-only
"""Emitting events and spans. The process has one producer, which any thread may use; libelog
connects it again after a fork() and when the kernel module is loaded.

A call that emits never raises an exception, so that a program runs in the same way whether it
is recorded or not: an event whose values are wrong is dropped and counted. With ELOG_STRICT=1
in the environment each wrong call raises, also while the event is disabled."""
import contextlib
import contextvars
import ctypes
import errno
import functools
import inspect
import operator
import os
import re
import struct
import sys
import threading
from typing import (Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple,
                    TypeVar, Union)

from . import _libelog as c
from ._libelog import lib
from ._records import Level

_lock = threading.Lock()
_producer: Any = None
_session: "contextvars.ContextVar[int]" = contextvars.ContextVar("session", default=0)
_strict = os.environ.get("ELOG_STRICT", "") not in ("", "0")
# Bits of a status byte: it is enabled, or not known to be disabled.
_MAY_BE_ENABLED = c.EVENTLOG_STATUS_ENABLED | c.ELOG_STATUS_UNKNOWN
# What elog_event_write() returns if the kernel does not accept the payload.
_REJECTED = (-errno.EINVAL, -errno.EBADMSG, -errno.E2BIG)

# Formats for struct.pack() of the types of integers, in the schema language and in C.
_INTEGERS = {
    "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "s8": "b", "s16": "h", "s32": "i", "s64": "q",
    "char": "b", "unsigned char": "B", "short": "h", "unsigned short": "H", "int": "i",
    "unsigned int": "I",
}
_FIELD = re.compile(r"""
    (?: (?P<dynamic> __data_loc | __rel_loc) \s+ (?P<kind> (?:unsigned\s+)?char) \[\]
      | (?P<short> string | bytes)
      | (?P<array> (?:unsigned\s+)?char) \[ (?P<count> \d+) \]
      | (?P<integer> (?:unsigned\s+)? \w+)
      | struct \s+ (?P<tag> \w+)
    ) \s+ (?P<name> [A-Za-z_]\w*) (?: \s+ (?P<size> \d+))?""", re.VERBOSE)


def _get_producer() -> Any:
    global _producer
    if _producer is not None:  # without the lock: a signal handler may be in this call, too
        return _producer
    with _lock:
        if _producer is None:
            producer = c.Producer()
            c.check(lib.elog_producer_open(ctypes.byref(producer), None))
            _producer = producer
        return _producer


def connect() -> None:
    """Connects to the kernel now. OSError says why that is not possible.

    Without a connection all events are disabled. The library tries to connect by itself.
    """
    c.check(lib.elog_producer_connect(_get_producer()), "/dev/eventlog")


def release(seconds: Optional[int] = None) -> None:
    """Closes the device for so many seconds (None: until connect()): see elog_producer(3)."""
    lib.elog_producer_release(_get_producer(), 0xffffffff if seconds is None else seconds)


def current_session() -> int:
    """Returns the session of the running span or session(), 0 if there is none."""
    return _session.get()


def new_session() -> int:
    """Returns a number that no other session on this machine has: elog_session_new(3)."""
    return lib.elog_session_new()


@contextlib.contextmanager
def session(number: Optional[int] = None) -> Iterator[int]:
    """Events that are emitted inside have this session; None: a new one."""
    before = _session.get()
    number = new_session() if number is None else number
    _session.set(number)
    try:
        yield number
    finally:
        _session.set(before)


@contextlib.contextmanager
def running(event: "Event", number: Optional[int] = None) -> Iterator[int]:
    """The calling thread works on this session inside; None: on current_session(). 0: on none.

    The event is any one of the session's provider. With the kernel module eventlog_sched,
    "elog why" then tells when and why the thread did not run: see elog_session_enter(3). Do
    not await inside: the thread would go on with something else.
    """
    number = _session.get() if number is None else number
    if not 0 <= operator.index(number) < 1 << 64:
        raise ValueError("a session has 64 bits")
    before = lib.elog_session_enter(event._event, number)
    try:
        yield number
    finally:
        lib.elog_session_leave(event._event, before)


class _Field(NamedTuple):
    name: str
    declaration: str	# for the kernel
    format: str		# of struct.pack()
    is_text: bool
    relative: bool
    dynamic: bool

    def encode(self, value: Any) -> Any:
        if self.is_text:
            if not isinstance(value, bytes):
                value = os.fspath(value).encode("utf-8", "surrogateescape")
            # Readers take what follows a NUL for no part of the text. Those of char[N] may end
            # with NULs.
            if b"\0" in (value if self.dynamic else value.rstrip(b"\0")):
                raise ValueError(f"{self.name}: a text cannot contain a NUL; "
                                 "declare the field as bytes")
            return value + b"\0" if self.dynamic else value
        if self.dynamic or self.format.endswith("s"):
            return bytes(memoryview(value))
        return value


def _parse_field(text: str) -> _Field:
    match = _FIELD.fullmatch(" ".join(text.split()))
    parts = match.groupdict() if match else {}
    name, size = parts.get("name"), parts.get("size")
    if not match or (size is not None) != (parts["tag"] is not None):
        raise ValueError(f"'{text.strip()}' is not a field: write TYPE NAME")
    if parts["integer"]:
        if parts["integer"] not in _INTEGERS:
            raise ValueError(f"unknown type '{parts['integer']}': use u8 to s64, bool as u8, "
                             "char[N], string, bytes, or struct NAME FIELD SIZE")
        return _Field(name, text, _INTEGERS[parts["integer"]], False, False, False)
    if parts["array"] or parts["tag"]:
        return _Field(name, text, f"{parts['count'] or size}s", parts["array"] == "char", False,
                      False)
    kind = parts["kind"] or ("char" if parts["short"] == "string" else "unsigned char")
    where = parts["dynamic"] or "__data_loc"
    return _Field(name, f"{where} {kind}[] {name}", "I", kind == "char", where == "__rel_loc",
                  True)


def _caller() -> str:
    """Returns the place of the innermost call that does not belong to this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "") == __name__:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def describe(error: Exception) -> str:
    """Returns the type and the text of an exception of the caller, which may have no text."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


class Event:
    """Emits an event: Event("web/request u32 id; string path")(id=7, path="/").

    The text is "[PROVIDER/]NAME [FIELD; ...]" with the types of elog-emit(1). "string NAME"
    means "__data_loc char[] NAME", "bytes NAME" means "__data_loc unsigned char[] NAME".

    A text that is wrong raises ValueError. A call whose values are wrong does not raise: while
    the event is enabled, it counts as invalid in "elog stat", and invalid says where the first
    such call was. With ELOG_STRICT=1 in the environment it always raises.
    """

    invalid: Optional[str] = None
    """The first call with wrong values while the event was enabled: "FILE:LINE: ERROR"."""

    def __init__(self, text: str, level: Union[Level, int, str] = Level.INFO, keywords: int = 0,
                 persist: bool = False) -> None:
        name, _, fields = text.strip().partition(" ")
        provider, slash, self.name = name.partition("/")
        if not slash:
            provider, self.name = "", name
        self.provider = provider or "user"
        self.level = Level.of(level)
        self._event: Any = None
        self._fields = [_parse_field(field) for field in fields.split(";") if field.strip()]
        self.fields: Tuple[str, ...] = tuple(field.name for field in self._fields)
        self._names = frozenset(self.fields)
        if len(self._names) != len(self.fields):
            raise ValueError(f"two fields of {name} have the same name")
        formats = ["=" + "".join(field.format for field in self._fields[:count + 1])
                   for count in range(len(self._fields))]
        self._ends = [struct.calcsize(each) for each in formats]
        self._struct = struct.Struct(formats[-1] if formats else "=")
        command = f"{self.name} " + "; ".join(field.declaration for field in self._fields)
        event = ctypes.POINTER(c.Event)()
        ret = lib.elog_event_register(
            _get_producer(), self.provider.encode(), command.strip().encode(),
            int(self.level), keywords, c.EVENTLOG_REGISTER_PERSIST if persist else 0,
            ctypes.byref(event))
        if ret == -errno.EINVAL:
            raise ValueError(f"the kernel rejects the event '{text}'")
        c.check(ret, name)
        self._event = event
        self._state = event.contents

    def __del__(self) -> None:
        if getattr(self, "_event", None):
            lib.elog_event_unregister(self._event)

    def __repr__(self) -> str:
        return f"<Event {self.provider}/{self.name}>"

    @property
    def enabled(self) -> bool:
        """Is the event enabled? Test this before you compute expensive values."""
        status = self._state.status[0]
        return bool(status & _MAY_BE_ENABLED) and lib.elog_event_enabled_slow(self._event)

    @property
    def error(self) -> int:
        """0: registered; ENOTCONN: there is no connection; or the errno of the kernel.

        EDQUOT, ENOSPC: a limit is reached; the library tries again at most once a second.
        """
        return -lib.elog_event_error(self._event)

    def __call__(self, *values: Any, **named: Any) -> bool:
        """Emits the event, with a value for each field, in order or by name.

        Returns whether the kernel took it. It does not if the event has no subscriber, or if
        a value is wrong.
        """
        return self.emit(_session.get(), values, named)

    def emit(self, session: int, values: Iterable[Any] = (),
             named: Optional[Dict[str, Any]] = None) -> bool:
        """Emits the event in a session; 0: none."""
        if not self.enabled:
            if _strict:
                self._compose(session, values, named)
            return False
        try:
            number, payload = self._compose(session, values, named)
        except Exception as error:
            if _strict:
                raise
            # The kernel counts it, as it counts what elog_event_write() cannot deliver.
            lib.elog_event_invalid(self._event)
            self._note(error)
            return False
        vector = c.Iovec(payload, len(payload))
        ret = lib.elog_event_write(self._event, number, ctypes.byref(vector),
                                   1 if payload else 0)
        if ret in _REJECTED:
            error = OSError(-ret, os.strerror(-ret), self.name)
            if _strict:
                raise error
            self._note(error)
        return ret == 0

    def _note(self, error: Exception) -> None:
        if self.invalid is None:
            self.invalid = f"{_caller()}: {describe(error)}"

    def _compose(self, session: int, values: Iterable[Any],
                 named: Optional[Dict[str, Any]]) -> Tuple[int, bytes]:
        """Returns the session and the payload. Any exception says that an argument is wrong."""
        values, named = tuple(values), named or {}
        missing = self.fields[len(values):]
        if len(values) > len(self.fields) or len(named) != len(missing) or \
                (named and named.keys() != self._names.difference(self.fields[:len(values)])):
            raise TypeError(f"{self.name} takes the fields {', '.join(self.fields) or '(none)'}")
        number = operator.index(session)
        if not 0 <= number < 1 << 64:
            raise ValueError(f"{self.name}: a session has 64 bits")
        return number, self._pack(values + tuple(named[name] for name in missing))

    def _pack(self, values: Tuple[Any, ...]) -> bytes:
        fixed: List[Any] = []
        tail = b""
        for field, end, value in zip(self._fields, self._ends, values):
            try:
                value = field.encode(value)
            except TypeError as error:
                raise TypeError(f"{field.name}: {error}") from None
            if field.dynamic:
                start = self._struct.size + len(tail) - (end if field.relative else 0)
                tail += value
                if self._struct.size + len(tail) >= c.EVENTLOG_PAYLOAD_MAX:
                    raise OSError(errno.E2BIG, f"{field.name}: the event is too large")
                value = len(value) << 16 | start
            fixed.append(value)
        try:
            return self._struct.pack(*fixed) + tail
        except struct.error as error:
            raise ValueError(f"{self.name}: {error}") from None


class Span:
    """Something that starts and stops: the events NAME_start and NAME_stop in a new session.

    The start event has the fields of the text and "u64 parent", the session of the span
    around it. The stop event has the fields of stop and "string error", the name of the
    exception that ended the span. elog latency NAME_start NAME_stop measures them.

        request = Span("web/request u32 id", stop="u16 status")
        with request(id=7) as span:
            span.set(status=200)
    """

    def __init__(self, text: str, stop: str = "", level: Union[Level, int, str] = Level.INFO,
                 keywords: int = 0) -> None:
        name, _, fields = text.strip().partition(" ")
        self.start = Event(f"{name}_start {fields}; u64 parent", level, keywords)
        self.stop = Event(f"{name}_stop {stop}; string error", level, keywords)

    def __call__(self, *values: Any, **named: Any) -> "_Running":
        return _Running(self, values, named)


class _Running:
    """A span that was started or can be: a context manager. session is its number."""

    def __init__(self, span: Span, values: Tuple[Any, ...], named: Dict[str, Any]) -> None:
        self._span, self._values, self._named = span, values, named
        self._results: Dict[str, Any] = {field.name: b"" if field.is_text or field.dynamic or
                                         field.format.endswith("s") else 0
                                         for field in span.stop._fields}
        self.session = 0

    def set(self, **results: Any) -> None:
        """Sets fields of the stop event; those that are not set are 0 or empty.

        A name that is no field is like a wrong value: the stop event is dropped as invalid.
        """
        if _strict:
            for name in results:
                if name not in self._results:
                    raise TypeError(f"{self._span.stop.name} has no field {name}")
        self._results.update(results)

    def __enter__(self) -> "_Running":
        span = self._span
        self._before = _session.get()
        self.session = new_session() if span.start.enabled or span.stop.enabled else self._before
        span.start.emit(self.session, self._values, {**self._named, "parent": self._before})
        _session.set(self.session)
        return self

    def __exit__(self, kind: Optional[type], *_: Any) -> None:
        _session.set(self._before)
        if kind is not None:
            self._results["error"] = kind.__name__
        self._span.stop.emit(self.session, (), self._results)


_Function = TypeVar("_Function", bound=Callable[..., Any])


def traced(text: str = "", **options: Any) -> Callable[[_Function], _Function]:
    """A decorator: each call of the function is a span.

    text is that of Span; by default "python/NAME" with the function's name. A field gets the
    value of the argument of the same name. Works for async functions, too.
    """
    def decorate(function: _Function) -> _Function:
        span = Span(text or f"python/{function.__name__}", **options)
        signature = inspect.signature(function)
        fields = span.start.fields[:-1]
        unknown = set(fields) - set(signature.parameters)
        if unknown:
            raise TypeError(f"{function.__name__} has no parameter {', '.join(sorted(unknown))}")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__name__} is a generator: use Span inside of it")

        def run(args: Any, kwargs: Any) -> Any:
            if not _strict and not span.start.enabled and not span.stop.enabled:
                return contextlib.nullcontext()
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                return contextlib.nullcontext()  # the call of the function raises it
            bound.apply_defaults()
            return span(**{name: bound.arguments[name] for name in fields})

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with run(args, kwargs):
                return function(*args, **kwargs)

        @functools.wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            with run(args, kwargs):
                return await function(*args, **kwargs)

        return call_async if inspect.iscoroutinefunction(function) else call  # type: ignore
    return decorate
