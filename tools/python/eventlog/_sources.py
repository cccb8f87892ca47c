# SPDX-License-Identifier: LGPL-2.1-only
"""Sources of records: files (Reader) and the kernel (Consumer).

A lock makes a source safe for several threads, one at a time. An item of libelog is valid
until the next call, so it is copied into a Record under the lock.
"""
import ctypes
import datetime
import errno
import os
import stat
import threading
import time
import warnings
from typing import (Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple, Type,
                    Union)

from . import _libelog as c
from ._libelog import lib
from ._records import (Context, Damage, DamageWarning, EventType, Level, Loss, LossWarning,
                       Record, copy_string, cpu_of, damage_of, loss_of, parse_definition)
from ._select import Selection

DEVICE = "/dev/eventlog"
_POLL = 0.05  # seconds between two looks at a file that is followed
_VERSION = "2"  # of files, see elog(5)
_HEAD = 32  # the first bytes of a file, with the checksum of its first block
_NUMBERS = 10000  # limit of the numbers of elog capture --rotate
_TRIES = 20  # attempts to open the next file while files are renamed, one a millisecond
_TYPES_MAX = 4096  # definitions that a consumer remembers
_WAIT = 100  # ms between two looks at the rings, as elog_consumer_wait(3) says

Item = Union[Record, Loss, Damage]
Path = Union[str, "os.PathLike[str]"]
Time = Union[int, datetime.datetime]


class Source:
    """What Reader and Consumer have in common."""

    def __init__(self, selection: Selection) -> None:
        self._lock = threading.RLock()
        self._selection = selection
        self._item = c.Item()
        self._lost: Dict[str, int] = {}
        self._warned: set = set()
        self._closed = False
        self._decided = False  # the kernel has evaluated the filter

    def __enter__(self) -> "Any":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_closed"):
            self.close()

    def close(self) -> None:
        """Frees what the source has; its records stay valid."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._close()

    def _close(self) -> None:
        raise NotImplementedError

    def _read(self) -> Optional[Item]:
        """Returns the next item that is selected, or None at the end."""
        raise NotImplementedError

    def _sleep(self) -> None:
        """Waits until there may be more to read."""
        raise NotImplementedError

    def _begin(self, follow: bool) -> None:
        """Prepares for reading to the end, or beyond it."""

    def _get(self) -> Optional[Item]:
        with self._lock:
            if self._closed:
                raise ValueError("the source is closed")
            return self._read()

    @property
    def lost(self) -> Dict[str, int]:
        """How many events were lost so far, by cause."""
        return dict(self._lost)

    def _warn(self, category: Type[Warning], text: str) -> None:
        if category not in self._warned:
            self._warned.add(category)
            warnings.warn(text, category, 5)

    def _note(self, item: Item) -> None:
        if isinstance(item, Loss):
            for cause, count in item.causes.items():
                self._lost[cause] = self._lost.get(cause, 0) + count
            if item.causes:
                self._warn(LossWarning, f"{item}; see lost")

    def _record(self, event: Optional[EventType], processes: Any,
                wall_offset: int) -> Optional[Record]:
        """Copies the item, if it is selected."""
        item, selection = self._item, self._selection
        comm = lib.elog_processes_name(processes, item.pid, item.tid)
        if selection.expression is not None:
            predicate = selection.predicate(event) if event is not None else None
            if predicate is None or (
                    not self._decided and
                    not lib.elog_predicate_match(predicate, ctypes.byref(item), comm)):
                return None
        record = Record()
        record.type = event
        record.descriptor = item.descriptor
        record.time = item.time
        record.wall_time = item.time + wall_offset
        record.cpu = cpu_of(item)
        record.pid = item.pid
        record.tid = item.tid
        record.comm = copy_string(comm)
        record.context = _CONTEXTS.get(item.context, item.context)
        record.session = item.session
        record.stream = item.stream
        record.payload = ctypes.string_at(item.payload, item.payload_size)
        return record

    def items(self) -> Iterator[Item]:
        """Returns everything up to the present end: records, losses, damage."""
        self._begin(False)
        return iter(self._get, None)

    def __iter__(self) -> Iterator[Record]:
        """Returns the records up to the present end. A loss or damage makes a warning."""
        for item in self.items():
            if isinstance(item, Record):
                yield item

    def follow(self, timeout: Optional[float] = None) -> Iterator[Record]:
        """Returns records as they come, for ever, or until none comes for so many seconds."""
        self._begin(True)
        last = time.monotonic()
        while True:
            item = self._get()
            if isinstance(item, Record):
                yield item
                last = time.monotonic()
            elif item is None:
                if timeout is not None and time.monotonic() - last >= timeout:
                    return
                self._sleep()


_CONTEXTS = {int(context): context for context in Context}


def _is(path: str, file: os.stat_result) -> bool:
    """Is this the path of the file? Raises OSError if there is no such path."""
    now = os.stat(path)
    return (now.st_dev, now.st_ino) == (file.st_dev, file.st_ino)


def _numbered(path: str, number: int) -> str:
    return f"{path}.{number}" if number else path


def _find_number(path: str, file: os.stat_result) -> int:
    """Returns the number that elog capture --rotate has given to the file, 0: none."""
    for number in range(1, _NUMBERS):
        try:
            if _is(_numbered(path, number), file):
                return number
        except OSError:
            break
    return 0


def _open(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _open_next(path: str, file: os.stat_result) -> int:
    """Opens the file that follows one that was renamed: NAME.2, then NAME.1, then NAME."""
    for _ in range(_TRIES):
        number = _find_number(path, file)
        if number:
            fd = _open(_numbered(path, number - 1))
            # Another rotation may have renamed both in the meantime.
            if _find_number(path, file) == number:
                return fd
            os.close(fd)
        time.sleep(0.001)
    return _open(path)


class _File(NamedTuple):
    path: str
    fd: int
    reader: Any
    types: Dict[int, Optional[EventType]]
    generation: List[int]


class Reader(Source):
    """Reads .elog files, several as one, in the order of times. Made by eventlog.open()."""

    def __init__(self, paths: Iterable[Path], since: Optional[Time] = None,
                 until: Optional[Time] = None, **conditions: Any) -> None:
        super().__init__(Selection(**conditions))
        self._set, self._reader = c.ReaderSet(), c.Reader()
        self._since, self._until = _nanoseconds(since), _nanoseconds(until)
        self._files: Dict[int, _File] = {}
        self._known: Dict[EventType, bool] = {}
        self._at_end = False
        self._following = False
        self._head = b""  # of the file that is followed
        self._rotated = ""  # the path, if its file was replaced: read the old one to its end
        self.damage: List[Damage] = []
        """Where the files are damaged, as far as they were read."""
        c.check(lib.elog_reader_set_open(ctypes.byref(self._set)))
        try:
            for path in paths:
                self._add(os.fspath(path), _open(os.fspath(path)))
        except BaseException:
            self.close()
            raise

    def _add(self, path: str, fd: int) -> None:
        reader = c.Reader()
        ret = lib.elog_reader_set_add(self._set, fd, ctypes.byref(reader))
        if ret:
            os.close(fd)
        c.check(ret, path)
        self._files[reader.value] = _File(path, fd, reader, {}, [-1])
        if self._since is not None:
            c.check(lib.elog_reader_seek(reader, max(self._since, 0)), path)

    def _close(self) -> None:
        lib.elog_reader_set_close(self._set)
        self._set = c.ReaderSet()
        for file in self._files.values():
            os.close(file.fd)
        self._files = {}

    def info(self, key: str, path: Optional[Path] = None) -> Optional[str]:
        """Returns a property of a file, or the first one: host, kernel, command, ...; elog(5)

        A file has properties once something was read from it.
        """
        with self._lock:
            for file in self._files.values():
                if path is None or file.path == os.fspath(path):
                    value = lib.elog_reader_info(file.reader, key.encode())
                    return None if value is None else copy_string(value)
        raise ValueError(f"the file {path} is not open")

    def _begin(self, follow: bool) -> None:
        with self._lock:
            if follow:
                if self._at_end:
                    raise ValueError("call follow() before the end of the file was read")
                self._follow()

    def _follow(self) -> None:
        self._following = True
        for file in self._files.values():
            lib.elog_reader_follow(file.reader, True)

    def _is_rotated(self) -> bool:
        """Was the only file that is followed replaced? Then it is read to its end."""
        if not self._following or len(self._files) != 1:
            return False
        file = next(iter(self._files.values()))
        now = os.fstat(file.fd)
        head = os.pread(file.fd, _HEAD, 0)
        truncated = now.st_size < os.lseek(file.fd, 0, os.SEEK_CUR) or \
            (len(self._head) == _HEAD and head != self._head)
        self._head = head
        try:
            if not truncated and _is(file.path, now):
                return False
        except FileNotFoundError:
            return False  # it has been renamed, the next one comes
        if truncated:
            os.lseek(file.fd, 0, os.SEEK_END)  # this does not continue what was read
        lib.elog_reader_follow(file.reader, False)
        self._rotated = file.path
        return True

    def _open_replacement(self) -> bool:
        """Continues with the next file. Returns False if there is none yet."""
        path, file = self._rotated, next(iter(self._files.values()), None)
        try:
            fd = _open(path)
            if file is not None:
                then = os.fstat(file.fd)
                if not then.st_nlink:
                    # Files between them may be gone, too.
                    self._note_damage(Damage(path, "missing", 0, 0))
                elif not _is(path, then):
                    os.close(fd)
                    fd = _open_next(path, then)
        except FileNotFoundError:
            return False
        self._close()
        self._rotated, self._head = "", b""
        try:
            c.check(lib.elog_reader_set_open(ctypes.byref(self._set)))
        except BaseException:
            os.close(fd)
            raise
        self._add(path, fd)
        self._follow()
        return True

    def _sleep(self) -> None:
        time.sleep(_POLL)

    def _type(self, file: _File, descriptor: int) -> Optional[EventType]:
        """Returns the definition, None if there is none or it has an error."""
        generation = lib.elog_reader_generation(file.reader)
        if generation != file.generation[0]:
            file.types.clear()
            file.generation[0] = generation
        if descriptor not in file.types:
            text = ctypes.c_char_p()
            if lib.elog_reader_definition(file.reader, descriptor, ctypes.byref(text)):
                return None
            file.types[descriptor] = parse_event(text.value)
        return file.types[descriptor]

    def _selected(self, event: Optional[EventType]) -> bool:
        if event is None:
            return self._selection.selects(None)
        if event not in self._known:
            self._known[event] = self._selection.selects(event)
        return self._known[event]

    def _event(self, file: _File) -> Optional[Record]:
        item, selection = self._item, self._selection
        event = self._type(file, item.descriptor)
        if not self._selected(event) or \
                (selection.session is not None and item.session != selection.session) or \
                (selection.pid is not None and item.pid != selection.pid):
            return None
        offset = lib.elog_reader_wall_offset(file.reader)
        wall_time = item.time + offset
        if (self._since is not None and wall_time < self._since) or \
                (self._until is not None and wall_time >= self._until):
            return None
        return self._record(event, lib.elog_reader_processes(file.reader), offset)

    @staticmethod
    def _refusal(file: _File) -> str:
        version, program, flags = (copy_string(lib.elog_reader_info(file.reader, key) or b"?")
                                   for key in (b"version", b"elog", b"flags"))
        if version == _VERSION:
            return f"a file with features that this libelog does not know: flags {flags}"
        return (f"a file of version {version}, which elog {program} wrote and reads; "
                f"this libelog reads version {_VERSION}")

    def _read(self) -> Optional[Item]:
        while True:
            ret = lib.elog_reader_set_next(self._set, ctypes.byref(self._item),
                                           ctypes.byref(self._reader))
            file = self._files.get(self._reader.value or 0)
            if ret == -errno.EAGAIN:
                if self._is_rotated():
                    continue
                return None
            if ret == -errno.EPROTONOSUPPORT and file is not None:
                raise OSError(-ret, self._refusal(file), file.path)
            if ret < 0:
                c.check(ret, file.path if file else None)
            if ret == 0 and self._rotated:
                if self._open_replacement():
                    continue
                return None
            if ret == 0 or file is None:
                self._end()
                return None
            result: Optional[Item] = None
            if self._item.type == c.ELOG_ITEM_EVENT:
                result = self._event(file)
            elif self._item.type == c.ELOG_ITEM_LOST:
                result = loss_of(self._item)
                self._note(result)
            elif self._item.type == c.ELOG_ITEM_DAMAGE:
                result = damage_of(self._item, file.path)
                self._note_damage(result)
            if result is not None:
                return result

    def _note_damage(self, damage: Damage) -> None:
        self.damage.append(damage)
        self._warn(DamageWarning, str(damage))

    def _end(self) -> None:
        if self._at_end:
            return
        self._at_end = True
        if self._known and self._since is None:
            error = self._selection.explain(list(self._known), "in the file")
            if error:
                raise error


class Stat(NamedTuple):
    """What a consumer has received so far."""
    records: int
    bytes: int
    lost: Dict[str, int]
    rejected: int
    """by filters"""
    invalid: int = 0
    """emitted with a wrong payload"""


class Consumer(Source):
    """Receives events from the kernel. Made by eventlog.open().

    A thread of the library empties the rings while Python is busy.
    """

    def __init__(self, device: Path = DEVICE, ring_bytes: int = 0,
                 backlog_bytes: int = 16 << 20, overwrite: bool = False,
                 **conditions: Any) -> None:
        super().__init__(Selection(**conditions))
        self._consumer = c.Consumer()
        self._processes = lib.elog_processes_new()
        self._types: Dict[int, Optional[EventType]] = {}
        self._batch = False
        self._overwrite = overwrite
        self._pid = os.getpid()
        if not self._processes:
            raise MemoryError
        options = c.ConsumerOptions(size=ctypes.sizeof(c.ConsumerOptions),
                                    ring_bytes=ring_bytes, device=os.fsencode(device),
                                    processes=self._processes)
        if overwrite:
            options.flags = c.ELOG_CONSUMER_OVERWRITE
        else:
            options.backlog_bytes = backlog_bytes
        try:
            c.check(lib.elog_consumer_open(ctypes.byref(self._consumer), ctypes.byref(options)),
                    os.fspath(device))
            self._add_rules()
            known = definitions(device)
        except BaseException:
            self.close()
            raise
        for event in known:
            if self._selection.selects(event) and self._selection.expression is not None:
                self._selection.predicate(event)
        error = self._selection.explain(known, "exists yet that")
        if error:
            self.close()
            raise error

    def _add_rules(self) -> None:
        selection = self._selection
        compiled = selection.compile()
        try:
            for provider, event in selection.globs or [("*", None)]:
                rule = c.Rule(size=ctypes.sizeof(c.Rule), level=int(selection.level),
                              provider=provider.encode(), keywords_any=selection.keywords)
                if event is not None:
                    rule.event = event.encode()
                if selection.session is not None:
                    rule.flags |= c.EVENTLOG_RULE_SESSION
                    rule.session = selection.session
                if selection.pid is not None:
                    rule.flags |= c.EVENTLOG_RULE_PID
                    rule.pid = selection.pid
                if compiled:
                    self._decided = compiled.contents.exact
                    rule.filter = compiled.contents.filter
                c.check(lib.elog_consumer_rule_add(self._consumer, ctypes.byref(rule), None))
        finally:
            if compiled:
                lib.elog_filter_free(compiled)

    def _close(self) -> None:
        if self._consumer and os.getpid() == self._pid:
            self._lost = self._counts().lost
        lib.elog_consumer_close(self._consumer)
        lib.elog_processes_free(self._processes)

    def _counts(self) -> Stat:
        stat_ = c.Stat(size=ctypes.sizeof(c.Stat))
        c.check(lib.elog_consumer_stat(self._consumer, c.EVENTLOG_RINGS_ALL, 0,
                                       ctypes.byref(stat_)))
        lost = {lib.elog_lost_name(i).decode(): count for i, count in enumerate(stat_.lost)
                if count and i != c.EVENTLOG_LOST_ABORTED}
        return Stat(stat_.records, stat_.bytes, lost, stat_.rejected,
                    stat_.lost[c.EVENTLOG_LOST_ABORTED])

    def stat(self) -> Stat:
        """Returns how many events were received, lost and rejected so far."""
        with self._lock:
            if self._closed:
                raise ValueError("the source is closed")
            return self._counts()

    @property
    def lost(self) -> Dict[str, int]:
        """How many events were lost so far, by cause."""
        with self._lock:
            return dict(self._lost) if self._closed else self._counts().lost

    def _begin(self, follow: bool) -> None:
        with self._lock:
            if not self._closed:
                self._flush()

    def _flush(self) -> None:
        """Starts a batch with all that is older than now."""
        if os.getpid() != self._pid:
            raise ValueError("the source belongs to the parent process")
        name = "elog_consumer_pause" if self._overwrite else "elog_consumer_flush"
        while True:
            ret = getattr(lib, name)(self._consumer)
            if ret != -errno.EINTR:
                break
        c.check(ret)
        self._batch = True
        monotonic = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - lib.elog_time_offset()
        self._wall_offset = time.time_ns() - monotonic

    def _sleep(self) -> None:
        with self._lock:
            if self._closed:
                return
            ret = lib.elog_consumer_wait(self._consumer, _WAIT, None)
            if ret != -errno.EINTR:
                c.check(ret)
            if c.check(lib.elog_consumer_pending(self._consumer)):
                self._flush()

    def _type(self, descriptor: int) -> Optional[EventType]:
        if descriptor not in self._types:
            event = _describe(lib.elog_consumer_definition, self._consumer,
                              c.Describe(size=ctypes.sizeof(c.Describe), descriptor=descriptor))
            if event is None:
                return None
            if len(self._types) >= _TYPES_MAX:
                self._types.clear()
                self._selection.forget()
            self._types[descriptor] = event
        return self._types[descriptor]

    def _read(self) -> Optional[Item]:
        while self._batch:
            ret = lib.elog_consumer_next(self._consumer, ctypes.byref(self._item))
            if ret == 0:
                self._batch = False
                if self._overwrite:
                    c.check(lib.elog_consumer_resume(self._consumer))
                break
            c.check(ret)
            if self._item.type == c.ELOG_ITEM_LOST:
                loss = loss_of(self._item)
                if loss.causes:
                    self._warn(LossWarning, f"{loss}; see lost")
                return loss
            if self._item.type == c.ELOG_ITEM_EVENT:
                record = self._record(self._type(self._item.descriptor), self._processes,
                                      self._wall_offset)
                if record is not None:
                    return record
        return None


def parse_event(text: Optional[bytes]) -> Optional[EventType]:
    """Returns a definition, or None if it has an error."""
    try:
        return parse_definition(text or b"")
    except ValueError:
        return None


def _describe(function: Any, source: Any, request: Any) -> Optional[EventType]:
    text = c.OwnedString()
    ret = function(source, ctypes.byref(request), ctypes.byref(text))
    if ret == -errno.ENOENT:
        return None
    c.check(ret)
    return parse_event(c.take_string(text))


def definitions(device: Path = DEVICE) -> List[EventType]:
    """Returns the events that exist now, as elog list does."""
    fd = c.check(lib.elog_device_open(os.fsencode(device)), os.fspath(device))
    result = []
    try:
        found = c.Listing()
        definition = c.Definition(size=ctypes.sizeof(c.Definition))
        text = ctypes.c_char_p()
        c.check(lib.elog_list_open(fd, c.EVENTLOG_LIST_DEFINITIONS, 0, ctypes.byref(found)))
        try:
            while True:
                ret = lib.elog_list_next(found, ctypes.byref(definition), ctypes.byref(text))
                if ret == -errno.ENOENT:
                    return result
                c.check(ret)
                event = parse_event(text.value)
                if event is not None:
                    result.append(event)
        finally:
            lib.elog_list_close(found)
    finally:
        os.close(fd)


def _nanoseconds(when: Optional[Time]) -> Optional[int]:
    if isinstance(when, datetime.datetime):
        return round(when.timestamp() * 1000000) * 1000
    return when


def open(*paths: Path, **options: Any) -> Any:
    """Opens .elog files, or the device.

    events: globs "PROVIDER/EVENT" or "PROVIDER"; a string, or several
    level: this level and all more severe ones, a name or a number
    keywords: a mask; the event has one of these bits
    session, pid: only this session, only this process
    filter: an expression, see elog_filter(7)
    since, until: files only; ns since 1970, or datetime.datetime

    Returns a Reader, or a Consumer if the path is a device; without a path, EVENTLOG's device.
    """
    if not paths:
        return Consumer(**options)
    if len(paths) == 1 and stat.S_ISCHR(os.stat(paths[0]).st_mode):
        return Consumer(paths[0], **options)
    return Reader(paths, **options)
