"""The rows of a trace: what each column may hold, and every fault with its row, column and value."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from serq.base.diagnostics import Diagnostic
from serq.base.source import Span
from serq.traces.corpus import CorpusBuilder
from serq.traces.errors import BadCell, BadHeader, BadRow, EmptyTrace, TurnOrder

REQUIRED = ("session", "turn", "new", "out", "think")
OPTIONAL = ("forced", "start")

MOST_FAULTS = 20
"""So many are reported; a file of the wrong kind has a fault in every cell."""

Locate = Callable[[int], Span]
"""Where the cell at a place of the row stands in the file."""


@dataclass(frozen=True, slots=True)
class Column:
    """What a column may hold: numbers from `least` to `most`, whole ones or any; in words for who got it wrong."""

    least: float
    most: float
    whole: bool
    words: str

    def holds(self, value: float) -> bool:
        """Whether the column may hold this."""
        return self.least <= value <= self.most and (not self.whole or value == math.floor(value))

    def reads(self, cell: Any) -> bool:
        """Whether the column may hold what stands in the cell."""
        try:
            return self.holds(float(cell))
        except (ValueError, TypeError, OverflowError):
            return False

    def wanted(self, cell: Any) -> str:
        """In words what should stand there instead of what does."""
        try:
            large = self.most == _LARGEST < float(cell)
        except (ValueError, TypeError, OverflowError):
            large = isinstance(cell, int)
        return f"{self.words}, below 2^53" if large else self.words


_LARGEST = 2.0**53 - 1
"""Larger whole numbers are not told from their neighbours in a double."""

COLUMNS = {
    "turn": Column(0, _LARGEST, True, "whole number, 0 or more"),
    "new": Column(1, _LARGEST, True, "whole number of tokens, at least 1"),
    "out": Column(0, _LARGEST, True, "whole number of tokens, 0 or more"),
    "think": Column(0, 1e300, False, "number of seconds, 0 or more"),
    "forced": Column(0, 1, True, "0 or 1"),
    "start": Column(0, 1e300, False, "number of seconds, 0 or more"),
}
_EXTRA = Column(-1e300, 1e300, False, "finite number")


class RowReader:
    """Takes a header and rows, collects them and their faults. `extra`: further columns that the program wants."""

    def __init__(self, header: Sequence[str], extra: Sequence[str] = ()) -> None:
        self.header = tuple(name.strip() for name in header)
        self.faults: list[Diagnostic] = []
        self.builder = CorpusBuilder(extra)
        self._check_header(extra)
        if not self.faults:
            place = {name: self.header.index(name) for name in self.header}
            self._session = place["session"]
            wanted = ("turn", "start", *self.builder.names)
            self._wanted = [(place.get(name), COLUMNS.get(name, _EXTRA)) for name in wanted]

    @property
    def is_full(self) -> bool:
        """Whether there are as many faults as anybody wants to read."""
        return len(self.faults) >= MOST_FAULTS

    def _check_header(self, extra: Sequence[str]) -> None:
        missing = [name for name in (*REQUIRED, *extra) if name not in self.header]
        unknown = [name for name in self.header if name not in (*REQUIRED, *OPTIONAL, *extra)]
        twice = sorted({name for name in self.header if self.header.count(name) > 1})
        for problem, names in (("lacks", missing), ("has an unknown column", unknown), ("repeats", twice)):
            if names:
                text = ", ".join(f"`{name}`" for name in names)
                end = len(",".join(self.header)) + 1
                self.faults.append(BadHeader(span=Span(1, 1, 1, max(end, 2)), problem=f"{problem} {text}"))

    def add(self, row: int, cells: Sequence[Any], locate: Locate) -> None:
        """Row number `row`, counted from 1: texts of a CSV file, or values of another. `locate`: where a cell is."""
        if len(cells) != len(self.header):
            whole = locate(0).to(locate(len(cells) - 1))
            self.faults.append(BadRow(span=whole, row=row, found=len(cells), expected=len(self.header)))
            return
        session = str(cells[self._session]).strip()
        values = []
        try:
            for place, column in self._wanted:
                value = 0.0 if place is None else float(cells[place])
                if not column.holds(value):
                    raise ValueError(value)
                values.append(value)
            if not session or cells[self._session] is None:
                raise ValueError(session)
        except (ValueError, TypeError, OverflowError):
            self._name_faults(row, cells, locate)
            return
        turn, start, *rest = values
        before = self.builder.add(session, int(turn), start, rest)
        if before is not None:
            span = locate(self.header.index("turn"))
            self.faults.append(TurnOrder(span=span, row=row, session=session, turn=int(turn), before=before))

    def _name_faults(self, row: int, cells: Sequence[Any], locate: Locate) -> None:
        """Every cell of the row that its column cannot hold."""
        for place, name in enumerate(self.header):
            cell = cells[place]
            text = "" if cell is None else str(cell).strip()
            if name == "session":
                fine, words = bool(text), "name of a session"
            else:
                column = COLUMNS.get(name, _EXTRA)
                fine, words = column.reads(cell), column.wanted(cell)
            if not fine:
                self.faults.append(BadCell(span=locate(place), row=row, column=name, value=text, expected=words))

    def finish(self) -> None:
        """The file is at its end: there must have been rows."""
        if not len(self.builder) and not self.faults:
            self.faults.append(EmptyTrace(span=Span(1, 1, 1, 2)))
