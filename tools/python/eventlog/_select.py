# SPDX-License-Identifier: LGPL-2.1-only
"""Which records a source returns: globs over names, levels, keywords, sessions, processes and
filter expressions, with the meaning of elog's options -e -l -k -s -p and -f."""
import ctypes
import difflib
import errno
import warnings
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple, Union

from . import _libelog as c
from ._libelog import lib
from ._records import EventType, Level, NoMatchWarning


class FilterError(OSError, ValueError):
    """A filter expression is wrong, or does not fit the types of the fields."""

    def __init__(self, text: str, column: int, message: str) -> None:
        super().__init__(errno.EINVAL, f"filter '{text}': column {column}: {message}")
        self.column = column

    def __str__(self) -> str:
        return str(self.strerror)


class Selection:
    """The conditions, and their results for the definitions that were met.

    Owns the expression and its predicates. One thread at a time may use it.
    """

    def __init__(self, events: Union[str, Iterable[str]] = (),
                 level: Union[Level, int, str, None] = None, keywords: int = 0,
                 session: Optional[int] = None, pid: Optional[int] = None,
                 filter: Optional[str] = None) -> None:
        self.predicates: Dict[EventType, Any] = {}
        self.globs: List[Tuple[str, Optional[str]]] = []
        for glob in [events] if isinstance(events, str) else events:
            provider, slash, event = glob.partition("/")
            self.globs.append((provider, event if slash else None))
        self.level = Level.of(level) if level is not None else 0
        self.keywords, self.session, self.pid, self.filter = keywords, session, pid, filter
        self.expression: Any = None
        self.fitted = False
        self.misfit: Optional[FilterError] = None
        self.unmatched: Set[Tuple[str, Optional[str]]] = set(self.globs)
        if filter is not None:
            expression, error = c.Expression(), c.ExpressionError()
            ret = lib.elog_expression_parse(filter.encode(), ctypes.byref(expression),
                                            ctypes.byref(error))
            if ret == -errno.EINVAL:
                raise self._error(error)
            c.check(ret)
            self.expression = expression

    def _error(self, error: Any) -> FilterError:
        return FilterError(self.filter or "", error.column,
                           error.message.decode(errors="replace"))

    def forget(self) -> None:
        for predicate in self.predicates.values():
            lib.elog_predicate_free(predicate)
        self.predicates.clear()

    def __del__(self) -> None:
        if hasattr(self, "predicates"):
            self.forget()
        if getattr(self, "expression", None):
            lib.elog_expression_free(self.expression)

    def selects(self, event: Optional[EventType]) -> bool:
        """Can records of this definition be selected?"""
        if event is None:
            return not (self.globs or self.level or self.keywords or self.expression)
        matching = {each for each in self.globs if c.fnmatch(each[0], event.provider) and
                    (each[1] is None or c.fnmatch(each[1], event.event))}
        self.unmatched -= matching
        return ((bool(matching) or not self.globs) and
                (not self.level or event.level <= self.level) and
                (not self.keywords or event.keywords & self.keywords != 0))

    def predicate(self, event: EventType) -> Any:
        """Returns the filter for records of a definition; None: none of them matches."""
        if event in self.predicates:
            return self.predicates[event]
        predicate, error = c.Predicate(), c.ExpressionError()
        ret = lib.elog_expression_bind(self.expression, event._event, ctypes.byref(predicate),
                                       ctypes.byref(error))
        if ret == -errno.EINVAL:
            self.misfit = self._error(error)
        elif ret == 0:
            self.fitted = True
        elif ret != -errno.ENOENT:
            c.check(ret)
        self.predicates[event] = predicate if ret == 0 else None
        return self.predicates[event]

    def compile(self) -> Any:
        """Returns what the kernel can decide of the filter, a struct elog_filter, or None."""
        if self.expression is None:
            return None
        result, error = ctypes.POINTER(c.Filter)(), c.ExpressionError()
        ret = lib.elog_expression_compile(ctypes.byref(self.expression), 1, 0,
                                          ctypes.byref(result), ctypes.byref(error))
        if ret == -errno.ENOENT:
            return None
        c.check(ret)
        return result

    def explain(self, known: Sequence[EventType], where: str) -> Optional[FilterError]:
        """Warns of names that none of the known definitions has; returns a misfit."""
        names = sorted({event.name for event in known})
        for provider, event in sorted(self.unmatched, key=str):
            glob = provider if event is None else f"{provider}/{event}"
            among = sorted({name.partition("/")[0] for name in names}) if event is None else names
            near = difflib.get_close_matches(glob, among, 3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            warnings.warn(f"no event {where} matches '{glob}'{hint}", NoMatchWarning, 4)
        if self.expression is None or self.fitted:
            return None
        if self.misfit is None and any(event in self.predicates for event in known):
            warnings.warn(f"no event {where} has the fields and names of the filter "
                          f"'{self.filter}'", NoMatchWarning, 4)
        return self.misfit
