# SPDX-License-Identifier: LGPL-2.1-only
"""What sources return: records, losses and damage, and the values of fields.

A record is a copy: it stays valid when its source goes on or is closed. Fields are decoded
by libelog when they are used. For that, a record keeps its EventType, which owns a parsed
schema.
"""
import ctypes
import datetime
import enum
import functools
import ipaddress
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from . import _libelog as c
from ._libelog import lib

COMMON = ("time", "wall_time", "cpu", "pid", "tid", "comm", "provider", "event", "level",
          "session")


class Level(enum.IntEnum):
    """Severity: a smaller number is more severe."""
    CRITICAL = c.EVENTLOG_LEVEL_CRITICAL
    ERROR = c.EVENTLOG_LEVEL_ERROR
    WARNING = c.EVENTLOG_LEVEL_WARNING
    NOTICE = c.EVENTLOG_LEVEL_NOTICE
    INFO = c.EVENTLOG_LEVEL_INFO
    DEBUG = c.EVENTLOG_LEVEL_DEBUG
    VERBOSE = c.EVENTLOG_LEVEL_VERBOSE

    @classmethod
    def of(cls, level: "Level | int | str") -> "Level":
        """Returns a level by its number or its name; ValueError lists the names."""
        if isinstance(level, str):
            level = lib.elog_level_parse(level.encode())
        try:
            return cls(level)
        except ValueError:
            names = ", ".join(each.name.lower() for each in cls)
            raise ValueError(f"there is no such level: use one of {names}") from None


class Context(enum.IntEnum):
    """Where the kernel was when it emitted the event."""
    TASK = c.EVENTLOG_CONTEXT_TASK
    SOFTIRQ = c.EVENTLOG_CONTEXT_SOFTIRQ
    HARDIRQ = c.EVENTLOG_CONTEXT_HARDIRQ
    NMI = c.EVENTLOG_CONTEXT_NMI


class EnumValue(int):
    """An integer of an enum field. name is None if the enum does not name the value."""
    name: Optional[str]

    def __new__(cls, value: int, name: Optional[str]) -> "EnumValue":
        self = super().__new__(cls, value)
        self.name = name
        return self

    def __str__(self) -> str:
        return self.name or int.__repr__(self)

    def __repr__(self) -> str:
        return f"<{self.name}: {int(self)}>" if self.name else int.__repr__(self)

    def __reduce__(self) -> Tuple[Any, ...]:
        return EnumValue, (int(self), self.name)


class FlagsValue(int):
    """An integer of a flags field: "SYN" in value, list(value), value & 2."""
    names: Tuple[str, ...]
    text: str

    def __new__(cls, value: int, names: Tuple[str, ...], text: str) -> "FlagsValue":
        self = super().__new__(cls, value)
        self.names, self.text = names, text
        return self

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.text}: {int(self):#x}>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return FlagsValue, (int(self), self.names, self.text)


class Duration(int):
    """Nanoseconds."""

    @property
    def seconds(self) -> float:
        return self / 1e9

    @property
    def timedelta(self) -> datetime.timedelta:
        return datetime.timedelta(microseconds=self / 1000)


class Field:
    """A field of an event type: name, type as the schema has it, description."""
    __slots__ = ("name", "type", "description", "_schema", "_kind", "_sign", "_names", "_flags")

    def __init__(self, schema: Any) -> None:
        field = schema.contents
        self.name: str = field.name.decode()
        self.type: str = field.type_name.decode()
        self.description: str = field.description.decode()
        self._schema, self._kind = schema, field.type
        self._sign = 1 << 63 if field.is_signed else 0
        self._names: Dict[int, str] = {}
        self._flags: List[Tuple[int, str]] = []
        if field.set:
            names = field.set.contents
            members = [names.names[i].contents for i in range(names.count)]
            self._flags = [(each.value, each.name.decode()) for each in members]
            self._names = dict(self._flags)

    def __repr__(self) -> str:
        return f"{self.type} {self.name}"

    def read(self, payload: bytes) -> Any:
        value = c.Value()
        error = lib.elog_decode(self._schema, payload, len(payload), ctypes.byref(value))
        if error:
            raise FieldError(-error, "the payload is damaged" if value.claimed_size else
                             "the payload ends before the field does", self.name)
        return value

    def text(self, payload: bytes) -> str:
        value = self.read(payload)
        return c.text_of(lambda text: lib.elog_format_value(text, self._schema,
                                                            ctypes.byref(value)))

    def decode(self, payload: bytes) -> Any:
        """Returns the value as a Python object."""
        value, kind = self.read(payload), self._kind
        if kind in _BYTES:
            return _BYTES[kind](ctypes.string_at(value.data, value.size))
        number = value.integer
        signed = (number ^ self._sign) - self._sign
        if kind == c.ELOG_TYPE_BOOL:
            return number != 0
        if kind == c.ELOG_TYPE_ENUM:
            return EnumValue(signed, self._names.get(number))
        if kind == c.ELOG_TYPE_FLAGS:
            names = tuple(name for mask, name in self._flags
                          if (number & mask == mask if mask else not number))
            return FlagsValue(number, names, self.text(payload))
        return Duration(number) if kind == c.ELOG_TYPE_DURATION else signed


def _decode_text(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


_BYTES = {
    c.ELOG_TYPE_CHARS: _decode_text,
    c.ELOG_TYPE_STRING: _decode_text,
    c.ELOG_TYPE_OCTETS: bytes,
    c.ELOG_TYPE_BYTES: bytes,
    c.ELOG_TYPE_STRUCT: bytes,
    c.ELOG_TYPE_IPV4: ipaddress.IPv4Address,
    c.ELOG_TYPE_IPV6: ipaddress.IPv6Address,
    c.ELOG_TYPE_MAC: lambda data: data.hex(":"),
}


class FieldError(OSError, LookupError):
    """A field of a record cannot be decoded, because its payload is damaged."""


class EventType:
    """The definition of an event. Records of one definition have the same EventType."""

    def __init__(self, text: bytes) -> None:
        self._schema = ctypes.POINTER(c.Schema)()
        error = c.SchemaError()
        ret = lib.elog_schema_parse(text, len(text), ctypes.byref(self._schema),
                                    ctypes.byref(error))
        if ret:
            raise ValueError(f"line {error.line}: {error.message.decode(errors='replace')}")
        schema = self._schema.contents
        if schema.provider_count != 1 or schema.providers[0].contents.event_count != 1:
            raise ValueError("a definition has exactly one event")
        self._event = schema.providers[0].contents.events[0]
        event = self._event.contents
        self.provider: str = event.provider.contents.name.decode()
        self.event: str = event.name.decode()
        self.name = f"{self.provider}/{self.event}"
        self.description: str = event.description.decode()
        self.level = Level(event.level)
        self.keywords: int = event.keywords
        self.attribute: Optional[str] = (None, "start", "end")[event.attribute]
        """Whether the event starts or ends its session, see elog_schema(5)."""
        self.schema = text.decode()
        """The text, see elog_schema(5)."""
        self.fields: Dict[str, Field] = {}
        for i in range(event.field_count):
            field = Field(event.fields[i])
            self.fields[field.name] = field

    def __del__(self) -> None:
        if self._schema:
            lib.elog_schema_free(self._schema)

    def __repr__(self) -> str:
        fields = "; ".join(map(repr, self.fields.values()))
        return f"<EventType {self.name} {fields}>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return parse_definition, (self.schema.encode(),)


@functools.lru_cache(maxsize=256)
def parse_definition(text: bytes) -> EventType:
    """Files of one capture, and their parts, have the same definitions."""
    return EventType(text)


class Record(Mapping[str, Any]):
    """An event that happened: a mapping from the names of its fields to their values."""
    __slots__ = ("type", "descriptor", "time", "wall_time", "cpu", "pid", "tid", "comm",
                 "context", "session", "stream", "payload")

    type: Optional[EventType]
    """None if the source has no definition of the event: then there is only the payload."""
    time: int
    """ns of CLOCK_MONOTONIC"""
    wall_time: int
    """ns since 1970"""
    cpu: Optional[int]
    session: int
    """0: none"""
    payload: bytes

    @property
    def provider(self) -> Optional[str]:
        return self.type.provider if self.type else None

    @property
    def event(self) -> str:
        return self.type.event if self.type else f"#{self.descriptor}"

    @property
    def name(self) -> str:
        """PROVIDER/EVENT"""
        return self.type.name if self.type else self.event

    @property
    def level(self) -> Optional[Level]:
        return self.type.level if self.type else None

    @property
    def datetime(self) -> datetime.datetime:
        """The local time, in microseconds."""
        return (_EPOCH + datetime.timedelta(microseconds=self.wall_time // 1000)).astimezone()

    def __getitem__(self, name: str) -> Any:
        return self._field(name).decode(self.payload)

    def _field(self, name: str) -> Field:
        if self.type is None:
            raise KeyError(name)
        return self.type.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.type.fields if self.type else ())

    def __len__(self) -> int:
        return len(self.type.fields) if self.type else 0

    def __contains__(self, name: object) -> bool:
        return self.type is not None and name in self.type.fields

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def text(self, name: str) -> str:
        """Returns a field as elog show prints it."""
        return self._field(name).text(self.payload)

    def raw(self, name: str) -> bytes:
        """Returns the bytes of a field that is text, bytes, an address or a struct."""
        value = self._field(name).read(self.payload)
        return ctypes.string_at(value.data, value.size) if value.data else b""

    def __str__(self) -> str:
        """The fields as elog show prints them."""
        if self.type is None:
            return self.payload.hex()
        event = self.type._event
        return c.text_of(lambda text: lib.elog_format_fields(text, event, self.payload,
                                                             len(self.payload)))

    def __repr__(self) -> str:
        return f"<{self.name} {self}>" if len(self) else f"<{self.name}>"

    def as_dict(self) -> Dict[str, Any]:
        """Returns a flat dict of numbers, text and bytes, as pandas.DataFrame() takes it.

        Enums, flags and addresses are text, durations ns. A field that cannot be decoded is
        None. A field that has the name of a common member is called "fields.NAME".
        """
        row = {name: getattr(self, name) for name in COMMON}
        row["level"] = self.level.name.lower() if self.level else None
        for name in self:
            try:
                value = self[name]
            except FieldError:
                value = None
            if isinstance(value, Duration):
                value = int(value)
            elif isinstance(value, (EnumValue, FlagsValue, ipaddress.IPv4Address,
                                    ipaddress.IPv6Address)):
                value = str(value)
            row["fields." + name if name in COMMON else name] = value
        return row

    def __getstate__(self) -> Dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class Loss(NamedTuple):
    """Events that were lost: not later than time, since the previous loss of the stream."""
    time: int
    cpu: Optional[int]
    causes: Dict[str, int]
    invalid: int = 0
    """events that programs emitted with a wrong payload, which is no loss"""

    @property
    def count(self) -> int:
        return sum(self.causes.values())

    def __str__(self) -> str:
        causes = ", ".join(f"{cause} {count}" for cause, count in self.causes.items())
        return f"{self.count} events lost: {causes}" if causes else \
            f"{self.invalid} invalid events"


class Damage(NamedTuple):
    """A place where a file is damaged; reading continues behind it."""
    path: str
    kind: str
    offset: int
    size: int

    def __str__(self) -> str:
        return f"{self.path} is damaged at byte {self.offset}: {_DAMAGE[self.kind]}"


_DAMAGE = {
    "bytes": "bytes are not blocks, or have changed",
    "cut": "the file ends inside a block",
    "no_end": "the capture was not ended",
    "records": "bytes of a ring are not records",
    "missing": "records are missing",
    "order": "there is too much data to sort",
    "unknown": "this library cannot read a block of this kind",
}


class LossWarning(UserWarning):
    """A source has lost events."""


class DamageWarning(UserWarning):
    """A file is damaged."""


class NoMatchWarning(UserWarning):
    """A name in events or in the filter belongs to no event: perhaps it is misspelled."""


def copy_string(value: Optional[bytes]) -> str:
    return (value or b"").decode(errors="backslashreplace")


def loss_of(item: Any) -> Loss:
    causes = {}
    for cause in range(item.lost_count):
        if item.lost[cause] and cause != c.EVENTLOG_LOST_ABORTED:
            name = lib.elog_lost_name(cause)
            causes[name.decode() if name else f"cause {cause}"] = item.lost[cause]
    invalid = item.lost[c.EVENTLOG_LOST_ABORTED] \
        if item.lost_count > c.EVENTLOG_LOST_ABORTED else 0
    return Loss(item.time, cpu_of(item), causes, invalid)


def damage_of(item: Any, path: str) -> Damage:
    kinds = list(_DAMAGE)
    kind = kinds[item.damage] if item.damage < len(kinds) else "unknown"
    return Damage(path, kind, item.offset, item.size)


def cpu_of(item: Any) -> Optional[int]:
    return None if item.cpu == c.EVENTLOG_CPU_UNKNOWN else item.cpu
