#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the time, the name and the fields of each event in a .elog file. Needs only the
# installed libelog.so.0.
#
#	elog capture -o job.elog -- ./job; ./reader.py job.elog
from ctypes import (CDLL, POINTER, Structure, byref, c_char_p, c_int, c_size_t,
                    c_uint, c_uint32, c_uint64, c_void_p)
import os
import sys


class Item(Structure):		# struct elog_item
    _fields_ = [("type", c_int), ("cpu", c_uint), ("context", c_int),
                ("descriptor", c_uint32), ("time", c_uint64), ("session", c_uint64),
                ("pid", c_uint32), ("tid", c_uint32), ("payload", c_void_p),
                ("payload_size", c_size_t), ("lost", POINTER(c_uint64)),
                ("lost_count", c_uint32), ("stream", c_uint32), ("damage", c_int),
                ("offset", c_uint64), ("size", c_uint64), ("reserved", c_uint64 * 4)]


class Provider(Structure):	# only the first members of structs that the library allocates
    _fields_ = [("name", c_char_p)]


class Event(Structure):
    _fields_ = [("provider", POINTER(Provider)), ("name", c_char_p)]


class Text(Structure):
    _fields_ = [("data", c_char_p), ("size", c_size_t), ("capacity", c_size_t),
                ("error", c_int), ("reserved", c_uint64 * 2)]


elog = CDLL("libelog.so.0")
elog.elog_format_fields.argtypes = c_void_p, POINTER(Event), c_void_p, c_size_t
elog.elog_format_fields.restype = elog.elog_text_free.restype = None

file = os.open(sys.argv[1], os.O_RDONLY)
reader, item, event, text = c_void_p(), Item(), POINTER(Event)(), Text()
if elog.elog_reader_open(byref(reader), file):
    sys.exit("out of memory")
while (ret := elog.elog_reader_next(reader, byref(item))) > 0:
    if item.type or elog.elog_reader_describe(reader, item.descriptor, byref(event)):
        continue
    text.size = 0
    elog.elog_format_fields(byref(text), event, item.payload, item.payload_size)
    names = event.contents.provider.contents.name, event.contents.name
    print("%d.%09d" % divmod(item.time, 10**9), b"/".join(names).decode(),
          text.data.decode() if text.size else "")
if ret:
    sys.exit(f"{sys.argv[1]}: {os.strerror(-ret)}")
