# SPDX-License-Identifier: LGPL-2.1-only
"""Events of eventlog: read files, receive events from the kernel, emit events.

    import eventlog

    for event in eventlog.open("job.elog", filter="bytes > 1000"):
        print(event.wall_time, event.comm, event.name, event["bytes"])

    request = eventlog.Event("web/request u32 id; string path")
    request(id=7, path="/index")

README.md has more. A function that fails raises an OSError with its errno.
"""
from ._emit import (Event, Span, connect, current_session, new_session, release, running, session,
                    traced)
from ._records import (Context, Damage, DamageWarning, Duration, EnumValue, EventType, Field,
                       FieldError, FlagsValue, Level, Loss, LossWarning, NoMatchWarning, Record)
from ._select import FilterError
from ._sources import Consumer, Reader, Stat, definitions, open

__version__ = "0.2.0"

__all__ = [
    "Consumer", "Context", "Damage", "DamageWarning", "Duration", "EnumValue", "Event",
    "EventType", "Field", "FieldError", "FilterError", "FlagsValue", "Level", "Loss",
    "LossWarning", "NoMatchWarning", "Reader", "Record", "Span", "Stat", "connect",
    "current_session", "definitions", "new_session", "open", "release", "running", "session",
    "traced",
]
