# SPDX-License-Identifier: LGPL-2.1-only
"""libelog.so.0 for ctypes: structs, constants and prototypes. tests/test_layout.py lets the
C compiler compare all of them with elog.h, so write them here exactly as they are there."""
import ctypes
import os
from ctypes import (POINTER, Structure, c_bool, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t,
                    c_ssize_t, c_ubyte, c_uint, c_uint32, c_uint64, c_void_p)
from typing import Any, Callable, Dict, Tuple

INTERFACE = b"LIBELOG_0.2"  # the symbol version, see tools/libelog/libelog.map

ELOG_ITEM_EVENT = 0
ELOG_ITEM_LOST = 1
ELOG_ITEM_PART = 2
ELOG_ITEM_DAMAGE = 4
ELOG_DAMAGE_BYTES = 0
ELOG_DAMAGE_CUT = 1
ELOG_DAMAGE_NO_END = 2
ELOG_DAMAGE_RECORDS = 3
ELOG_DAMAGE_MISSING = 4
ELOG_DAMAGE_ORDER = 5
ELOG_DAMAGE_UNKNOWN = 6
ELOG_DAMAGES = 7
ELOG_TYPE_BOOL = 2
ELOG_TYPE_CHARS = 3
ELOG_TYPE_OCTETS = 4
ELOG_TYPE_STRING = 5
ELOG_TYPE_BYTES = 6
ELOG_TYPE_IPV4 = 7
ELOG_TYPE_IPV6 = 8
ELOG_TYPE_MAC = 10
ELOG_TYPE_DURATION = 12
ELOG_TYPE_ENUM = 14
ELOG_TYPE_FLAGS = 15
ELOG_TYPE_STRUCT = 16
ELOG_CONSUMER_OVERWRITE = 1
EVENTLOG_RULE_SESSION = 1
EVENTLOG_RULE_PID = 2
EVENTLOG_REGISTER_PERSIST = 1
EVENTLOG_LIST_DEFINITIONS = 0
EVENTLOG_CPU_UNKNOWN = 0xffffffff
EVENTLOG_RINGS_ALL = 0xffffffff
EVENTLOG_LOST_CAUSES = 16
EVENTLOG_LOST_ABORTED = 5
EVENTLOG_PAYLOAD_MAX = 65536
EVENTLOG_STATUS_ENABLED = 1
ELOG_STATUS_UNKNOWN = 0x80
EVENTLOG_LEVEL_CRITICAL = 1
EVENTLOG_LEVEL_ERROR = 2
EVENTLOG_LEVEL_WARNING = 3
EVENTLOG_LEVEL_NOTICE = 4
EVENTLOG_LEVEL_INFO = 5
EVENTLOG_LEVEL_DEBUG = 6
EVENTLOG_LEVEL_VERBOSE = 7
EVENTLOG_CONTEXT_TASK = 0
EVENTLOG_CONTEXT_SOFTIRQ = 1
EVENTLOG_CONTEXT_HARDIRQ = 2
EVENTLOG_CONTEXT_NMI = 3


class CStruct(Structure):
    c_name = ""


class Opaque(c_void_p):
    """A pointer to a struct whose members only the library knows."""
    c_name = ""


class OwnedString(c_void_p):
    """A char * that the caller frees with take_string()."""


def _struct(c_name: str, *members: Tuple[str, Any]) -> Any:
    name = "".join(word.capitalize() for word in c_name.split("_"))
    return type(name, (CStruct,), {"c_name": c_name, "_fields_": list(members)})


def _opaque(c_name: str) -> Any:
    return type(c_name, (Opaque,), {"c_name": c_name})


Consumer = _opaque("elog_consumer")
KernelFilter = _opaque("eventlog_filter")
Expression = _opaque("elog_expression")
Predicate = _opaque("elog_predicate")
Listing = _opaque("elog_list")
Processes = _opaque("elog_processes")
Producer = _opaque("elog_producer")
Reader = _opaque("elog_reader")
ReaderSet = _opaque("elog_reader_set")

Text = _struct("elog_text", ("data", c_void_p), ("size", c_size_t), ("capacity", c_size_t),
               ("error", c_int), ("reserved", c_uint64 * 2))
Item = _struct(
    "elog_item", ("type", c_int), ("cpu", c_uint), ("context", c_int),
    ("descriptor", c_uint32), ("time", c_uint64), ("session", c_uint64), ("pid", c_uint32),
    ("tid", c_uint32), ("payload", c_void_p), ("payload_size", c_size_t),
    ("lost", POINTER(c_uint64)), ("lost_count", c_uint32), ("stream", c_uint32),
    ("damage", c_int), ("flags", c_uint32), ("offset", c_uint64), ("size", c_uint64),
    ("instance", c_char_p), ("reserved", c_uint64 * 3))
Value = _struct(
    "elog_value", ("error", c_int), ("integer", c_uint64), ("data", c_void_p),
    ("size", c_size_t), ("claimed_offset", c_size_t), ("claimed_size", c_size_t),
    ("reserved", c_uint64 * 2))

# The library allocates these: it may append members that are not here.
SchemaName = _struct("elog_schema_name", ("value", c_uint64), ("name", c_char_p),
                     ("description", c_char_p))
SchemaSet = _struct(
    "elog_schema_set", ("name", c_char_p), ("description", c_char_p), ("flags", c_bool),
    ("count", c_size_t), ("names", POINTER(POINTER(SchemaName))))
SchemaField = _struct(
    "elog_schema_field", ("name", c_char_p), ("type_name", c_char_p),
    ("description", c_char_p), ("type", c_int), ("display", c_int), ("offset", c_size_t),
    ("size", c_size_t), ("is_signed", c_bool), ("relative", c_bool),
    ("optional", c_bool), ("set", POINTER(SchemaSet)), ("json_name", c_char_p))


class SchemaProvider(CStruct):
    c_name = "elog_schema_provider"


SchemaEvent = _struct(
    "elog_schema_event", ("provider", POINTER(SchemaProvider)), ("name", c_char_p),
    ("description", c_char_p), ("id", c_uint32), ("level", c_uint), ("keywords", c_uint64),
    ("fixed_size", c_size_t), ("field_count", c_size_t),
    ("fields", POINTER(POINTER(SchemaField))), ("attribute", c_uint))
SchemaProvider._fields_ = [
    ("name", c_char_p), ("description", c_char_p), ("keyword_count", c_size_t),
    ("keywords", POINTER(POINTER(SchemaName))), ("set_count", c_size_t),
    ("sets", POINTER(POINTER(SchemaSet))), ("event_count", c_size_t),
    ("events", POINTER(POINTER(SchemaEvent)))]
Schema = _struct("elog_schema", ("provider_count", c_size_t),
                 ("providers", POINTER(POINTER(SchemaProvider))))
SchemaError = _struct("elog_schema_error", ("line", c_uint), ("message", c_char * 160),
                      ("reserved", c_uint * 3))

ExpressionError = _struct("elog_expression_error", ("column", c_uint),
                          ("message", c_char * 160), ("reserved", c_uint * 3))
Filter = _struct("elog_filter", ("filter", KernelFilter), ("text", c_char_p),
                 ("exact", c_bool))

ConsumerOptions = _struct(
    "elog_consumer_options", ("size", c_uint32), ("flags", c_uint32),
    ("ring_bytes", c_uint64), ("watermark", c_uint64), ("sub_buffers", c_uint32),
    ("file", c_int32), ("device", c_char_p), ("backlog_bytes", c_uint64),
    ("processes", Processes))
Rule = _struct(
    "elog_rule", ("size", c_uint32), ("flags", c_uint32), ("provider", c_char_p),
    ("event", c_char_p), ("keywords_any", c_uint64), ("keywords_all", c_uint64),
    ("session", c_uint64), ("pid", c_uint32), ("level", c_uint32), ("sample", c_uint32),
    ("cgroup", c_int), ("filter", KernelFilter))
Stat = _struct(
    "eventlog_stat", ("size", c_uint32), ("flags", c_uint32), ("ring", c_uint32),
    ("descriptor", c_uint32), ("rule_id", c_uint32), ("generation", c_uint32),
    ("records", c_uint64), ("bytes", c_uint64), ("event_lost", c_uint64),
    ("rejected", c_uint64), ("incompatible", c_uint64), ("reserved", c_uint64),
    ("lost", c_uint64 * 16))
Describe = _struct(
    "eventlog_describe", ("size", c_uint32), ("flags", c_uint32), ("descriptor", c_uint32),
    ("text_size", c_uint32), ("text", c_uint64), ("state", c_uint32),
    ("provider_id", c_uint32), ("instance", c_uint32), ("reserved", c_uint32),
    ("sync", c_uint32), ("sync_pid", c_uint32))

Definition = _struct(
    "eventlog_definition", ("size", c_uint32), ("text_offset", c_uint32),
    ("descriptor", c_uint32), ("state", c_uint32), ("provider_id", c_uint32),
    ("instance", c_uint32), ("sync", c_uint32), ("sync_pid", c_uint32))

Event = _struct("elog_event", ("status", POINTER(c_ubyte)), ("reserved", c_uint * 2))
Running = _struct("elog_running", ("session", c_uint64), ("of", c_uint32), ("epoch", c_uint32))
Iovec = _struct("iovec", ("iov_base", c_char_p), ("iov_len", c_size_t))

STRUCTS = [Text, Item, Value, SchemaName, SchemaSet, SchemaField, SchemaProvider, SchemaEvent,
           Schema, SchemaError, ExpressionError, Filter, ConsumerOptions, Rule,
           Stat, Describe, Definition, Event, Running, Iovec]

# Functions: type of the result, and of the parameters.
PROTOTYPES: Dict[str, Tuple[Any, ...]] = {
    "elog_device_open": (c_int, c_char_p),
    "elog_list_open": (c_int, c_int, c_uint32, c_uint64, POINTER(Listing)),
    "elog_list_next": (c_int, Listing, POINTER(Definition), POINTER(c_char_p)),
    "elog_list_close": (None, Listing),
    "elog_time_offset": (c_int64,),
    "elog_producer_open": (c_int, POINTER(Producer), c_void_p),
    "elog_producer_connect": (c_int, Producer),
    "elog_producer_release": (None, Producer, c_uint),
    "elog_event_register": (c_int, Producer, c_char_p, c_char_p, c_uint, c_uint64, c_uint,
                            POINTER(POINTER(Event))),
    "elog_event_unregister": (None, POINTER(Event)),
    "elog_event_error": (c_int, POINTER(Event)),
    "elog_event_enabled_slow": (c_bool, POINTER(Event)),
    "elog_event_write": (c_int, POINTER(Event), c_uint64, POINTER(Iovec), c_uint),
    "elog_event_invalid": (None, POINTER(Event)),
    "elog_session_new": (c_uint64,),
    "elog_session_enter": (Running, POINTER(Event), c_uint64),
    "elog_session_leave": (None, POINTER(Event), Running),
    "elog_text_free": (None, POINTER(Text)),
    "elog_schema_parse": (c_int, c_char_p, c_size_t, POINTER(POINTER(Schema)),
                          POINTER(SchemaError)),
    "elog_schema_free": (None, POINTER(Schema)),
    "elog_level_parse": (c_uint, c_char_p),
    "elog_decode": (c_int, POINTER(SchemaField), c_char_p, c_size_t, POINTER(Value)),
    "elog_format_value": (None, POINTER(Text), POINTER(SchemaField), POINTER(Value)),
    "elog_format_fields": (None, POINTER(Text), POINTER(SchemaEvent), c_char_p, c_size_t),
    "elog_expression_parse": (c_int, c_char_p, POINTER(Expression), POINTER(ExpressionError)),
    "elog_expression_free": (None, Expression),
    "elog_expression_bind": (c_int, Expression, POINTER(SchemaEvent), POINTER(Predicate),
                             POINTER(ExpressionError)),
    "elog_expression_compile": (c_int, POINTER(Expression), c_size_t, c_uint,
                                POINTER(POINTER(Filter)), POINTER(ExpressionError)),
    "elog_filter_free": (None, POINTER(Filter)),
    "elog_predicate_free": (None, Predicate),
    "elog_predicate_match": (c_bool, Predicate, POINTER(Item), c_char_p),
    "elog_processes_new": (Processes,),
    "elog_processes_free": (None, Processes),
    "elog_processes_name": (c_char_p, Processes, c_uint32, c_uint32),
    "elog_consumer_open": (c_int, POINTER(Consumer), POINTER(ConsumerOptions)),
    "elog_consumer_close": (None, Consumer),
    "elog_consumer_rule_add": (c_int, Consumer, POINTER(Rule), POINTER(c_uint32)),
    "elog_consumer_wait": (c_int, Consumer, c_int, c_void_p),
    "elog_consumer_pending": (c_int, Consumer),
    "elog_consumer_flush": (c_int, Consumer),
    "elog_consumer_pause": (c_int, Consumer),
    "elog_consumer_resume": (c_int, Consumer),
    "elog_consumer_next": (c_int, Consumer, POINTER(Item)),
    "elog_consumer_definition": (c_int, Consumer, POINTER(Describe), POINTER(OwnedString)),
    "elog_consumer_stat": (c_int, Consumer, c_uint32, c_uint32, POINTER(Stat)),
    "elog_lost_name": (c_char_p, c_uint),
    "elog_reader_definition": (c_int, Reader, c_uint32, POINTER(c_char_p)),
    "elog_reader_generation": (c_uint64, Reader),
    "elog_reader_follow": (c_int, Reader, c_bool),
    "elog_reader_seek": (c_int, Reader, c_uint64),
    "elog_reader_processes": (Processes, Reader),
    "elog_reader_info": (c_char_p, Reader, c_char_p),
    "elog_reader_wall_offset": (c_int64, Reader),
    "elog_reader_set_open": (c_int, POINTER(ReaderSet)),
    "elog_reader_set_close": (None, ReaderSet),
    "elog_reader_set_add": (c_int, ReaderSet, c_int, POINTER(Reader)),
    "elog_reader_set_next": (c_int, ReaderSet, POINTER(Item), POINTER(Reader)),
}


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libelog.so.0")
    except OSError as error:
        raise ImportError(f"cannot load eventlog's library: {error}; install it, or set "
                          "LD_LIBRARY_PATH to its directory") from error
    dlvsym = ctypes.CDLL(None).dlvsym
    dlvsym.argtypes = c_void_p, c_char_p, c_char_p
    dlvsym.restype = c_void_p
    for name, (result, *parameters) in PROTOTYPES.items():
        if not dlvsym(library._handle, name.encode(), INTERFACE):
            raise ImportError(f"libelog.so.0 has no {name} of interface {INTERFACE.decode()}: "
                              "use the library and the package of the same version")
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    return library


lib = _load()
_libc = ctypes.CDLL(None)
_libc.free.argtypes = (c_void_p,)
_libc.free.restype = None


def check(result: int, what: Any = None) -> int:
    """Raises OSError, or its subclass for the errno, if a function of the library failed."""
    if result >= 0:
        return result
    raise OSError(-result, os.strerror(-result), *(() if what is None else (what,)))


def take_string(pointer: OwnedString) -> bytes:
    """Copies a string that the caller must free, and frees it."""
    try:
        return ctypes.string_at(pointer)
    finally:
        _libc.free(pointer)


def fnmatch(glob: str, name: str) -> bool:
    """fnmatch(3), as elog uses it: the module of this name has no backslashes."""
    return _libc.fnmatch(glob.encode(), name.encode(), 0) == 0


def text_of(append: Callable[[Any], None]) -> str:
    """Returns what a function appends to a struct elog_text."""
    text = Text()
    append(ctypes.byref(text))
    try:
        check(text.error)
        return ctypes.string_at(text.data, text.size).decode(errors="replace") \
            if text.size else ""
    finally:
        lib.elog_text_free(ctypes.byref(text))
