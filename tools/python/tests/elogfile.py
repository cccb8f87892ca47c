# SPDX-License-Identifier: GPL-2.0-only
"""Writes .elog files for tests, with libelog's writer. See elog_writer(3)."""
import ctypes
import os
from ctypes import POINTER, c_char_p, c_int, c_uint32, c_uint64, c_void_p

from eventlog import _libelog as c

WriterOptions = c._struct(
    "elog_writer_options", ("size", c_uint32), ("flags", c_uint32), ("program", c_char_p),
    ("command", c_char_p), ("capture", c_char_p), ("cpus", c_uint32),
    ("compression", c_uint32), ("interrupted", c_void_p), ("context", c_void_p),
    ("start", c_uint64), ("definition", c_void_p), ("processes", c.Processes),
    ("threads_max", c_uint32), ("files", c_uint32), ("continues", c_void_p))
Writer = c._opaque("elog_writer")
PROTOTYPES = {
    "elog_writer_open": (c_int, POINTER(Writer), c_int, POINTER(WriterOptions)),
    "elog_writer_close": (None, Writer),
    "elog_writer_add": (c_int, Writer, POINTER(c.Item)),
    "elog_writer_schema": (c_int, Writer, c_uint32, c_uint32, c_char_p),
    "elog_writer_process": (c_int, Writer, c_uint32, c_uint32, c_char_p),
    "elog_writer_sync": (c_int, Writer, c_uint64, c_void_p, ctypes.c_size_t),
    "elog_writer_end": (c_int, Writer, c_uint64),
}
for name, (result, *parameters) in PROTOTYPES.items():
    getattr(c.lib, name).restype = result
    getattr(c.lib, name).argtypes = parameters


class ElogFile:
    """A file that is being written: with ElogFile(path, schemas) as file: file.event(1, ...)"""

    def __init__(self, path, schemas, append=False):
        how = os.O_APPEND if append else os.O_TRUNC
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | how, 0o644)
        self.writer, self.time = Writer(), 1000
        options = WriterOptions(size=ctypes.sizeof(WriterOptions), program=b"test 1",
                                command=b"make it up", cpus=2, start=1000)
        c.check(c.lib.elog_writer_open(ctypes.byref(self.writer), self.fd,
                                       ctypes.byref(options)))
        for descriptor, schema in schemas.items():
            c.check(c.lib.elog_writer_schema(self.writer, descriptor, 1, schema.encode()))
        c.check(c.lib.elog_writer_process(self.writer, 100, 101, b"worker"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sync()
        c.check(c.lib.elog_writer_end(self.writer, 2 ** 64 - 1))
        self.close()

    def close(self):
        c.lib.elog_writer_close(self.writer)
        os.close(self.fd)

    def add(self, **members):
        self.time += 1000
        members = {"time": self.time, "cpu": 1, "stream": 1, "pid": 100, "tid": 101, **members}
        c.check(c.lib.elog_writer_add(self.writer, ctypes.byref(c.Item(**members))))

    def event(self, descriptor, payload=b"", **members):
        memory = ctypes.create_string_buffer(payload, max(len(payload), 1))
        self.add(type=c.ELOG_ITEM_EVENT, descriptor=descriptor, payload_size=len(payload),
                 payload=ctypes.cast(memory, c_void_p), **members)

    def loss(self, causes, **members):
        lost = (c_uint64 * 16)()
        for cause, count in causes.items():
            lost[cause] = count
        self.add(type=c.ELOG_ITEM_LOST, lost=lost, lost_count=16, **members)

    def sync(self):
        self.time += 1000
        c.check(c.lib.elog_writer_sync(self.writer, self.time, None, 0))
