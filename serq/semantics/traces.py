"""Reading traces of sessions: CSV with the columns session, turn, new, out, think and (optional) forced.

`new` is the turn's whole prompt in tokens, at least 1; `out` its output tokens, 0 for a call that failed; `think` the
seconds to the next turn; `forced` is 1 where the turn must miss. The rows of a session need not be neighbours, but its
turns stand in their order. The file is read row by row and kept as columns of numbers.
"""

import csv
import math
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from serq.base.diagnostics import Diagnostic
from serq.base.errors import InputError, LoadError
from serq.base.source import SourceFile, Span
from serq.semantics.trace_errors import BadCell, BadHeader, BadRow, EmptyTrace, TurnOrder

REQUIRED = ("session", "turn", "new", "out", "think")
OPTIONAL = ("forced",)

_MOST_FAULTS = 20
"""So many are reported; a file of the wrong kind has a fault in every cell."""


@dataclass(frozen=True)
class Corpus:
    """The sessions of a trace. Session i has the rows `first[i]` to `first[i + 1]` (exclusive) of the columns."""

    path: str
    first: "array[int]"
    new: "array[float]"
    out: "array[float]"
    think: "array[float]"
    forced: "array[float]"

    def __len__(self) -> int:
        return len(self.first) - 1

    def turns(self, session: int) -> int:
        """The number of turns of a session."""
        return self.first[session + 1] - self.first[session]

    def turn(self, session: int, number: int) -> Mapping[str, float]:
        """What turn `number` (from 1) sets. Past the last turn its row stays, and `more` is 0."""
        turns = self.turns(session)
        row = self.first[session] + min(max(number, 1), turns) - 1
        return {
            "new": self.new[row],
            "out": self.out[row],
            "think": self.think[row],
            "more": 1.0 if number < turns else 0.0,
            "forced": self.forced[row],
        }


def read_trace(path: Path) -> Corpus:
    """Read a trace.

    Raises `InputError` (SQ704) for a file that cannot be read, and `LoadError` (SQ710 to SQ714) with every fault, up to
    a screenful, for one that is no trace.
    """
    reader = _Reader(str(path))
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader.read(file)
    except OSError as error:
        raise InputError("SQ704", f"cannot read the trace {path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError("SQ704", f"the trace {path} is not CSV text: {error}") from error
    if reader.faults:
        raise LoadError(SourceFile(str(path), _text(path)), reader.faults)
    return reader.corpus()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig", errors="replace")


def _whole(text: str) -> float:
    value = float(text)
    if not value.is_integer():
        raise ValueError(text)
    return value


def _real(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


_COLUMNS: dict[str, tuple[Callable[[str], float], float, float, str]] = {
    "turn": (_whole, 0, math.inf, "whole number, 0 or more"),
    "new": (_whole, 1, math.inf, "whole number of tokens, at least 1"),
    "out": (_whole, 0, math.inf, "whole number of tokens, 0 or more"),
    "think": (_real, 0, math.inf, "number of seconds, 0 or more"),
    "forced": (_whole, 0, 1, "0 or 1"),
}
"""Per column: how it is read, its least and largest value, and what it is in words."""


class _Reader:
    """Rows as they come, faults as they are found."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.faults: list[Diagnostic] = []
        self.columns = {name: array("d") for name in ("new", "out", "think", "forced")}
        self.places = array("q")  # the session of each row, numbered by first appearance
        self.numbers: dict[str, int] = {}
        self.last_turn: list[int] = []

    def read(self, lines: Iterator[str]) -> None:
        rows = csv.reader(lines, strict=True)
        header = [name.strip() for name in next(rows, [])]
        self._check_header(header)
        if self.faults:
            return
        number = 0
        for cells in rows:
            if not any(cells):
                continue
            number += 1
            self._row(header, number, rows.line_num, cells)
            if len(self.faults) >= _MOST_FAULTS:
                return
        if not number:
            self.faults.append(EmptyTrace(span=Span(1, 1, 1, 2)))

    def _check_header(self, header: list[str]) -> None:
        missing = [name for name in REQUIRED if name not in header]
        unknown = [name for name in header if name not in (*REQUIRED, *OPTIONAL)]
        twice = sorted({name for name in header if header.count(name) > 1})
        for problem, names in (("lacks", missing), ("has an unknown column", unknown), ("repeats", twice)):
            if names:
                text = ", ".join(f"`{name}`" for name in names)
                end = len(",".join(header)) + 1
                self.faults.append(BadHeader(span=Span(1, 1, 1, max(end, 2)), problem=f"{problem} {text}"))

    def _row(self, header: list[str], row: int, line: int, cells: list[str]) -> None:
        if len(cells) != len(header):
            span = Span(line, 1, line, len(",".join(cells)) + 1)
            self.faults.append(BadRow(span=span, row=row, found=len(cells), expected=len(header)))
            return
        found = len(self.faults)
        values = {name: self._cell(name, row, line, cells, place) for place, name in enumerate(header)}
        if len(self.faults) > found:
            return
        session, turn = cells[header.index("session")].strip(), int(values["turn"])
        self._place(session, turn, row, _span(line, cells, header.index("turn")))
        for name, column in self.columns.items():
            column.append(values.get(name, 0.0))

    def _cell(self, name: str, row: int, line: int, cells: list[str], place: int) -> float:
        text = cells[place].strip()
        if name == "session":
            if not text:
                self._bad(name, row, _span(line, cells, place), text, "name of a session")
            return 0.0
        read, least, most, words = _COLUMNS[name]
        try:
            value = read(text)
            if least <= value <= most:
                return value
        except (ValueError, OverflowError):
            pass
        self._bad(name, row, _span(line, cells, place), text, words)
        return 0.0

    def _bad(self, column: str, row: int, span: Span, value: str, expected: str) -> None:
        self.faults.append(BadCell(span=span, row=row, column=column, value=value, expected=expected))

    def _place(self, session: str, turn: int, row: int, span: Span) -> None:
        """Number the session and see that its turns count upwards."""
        number = self.numbers.setdefault(session, len(self.numbers))
        if number == len(self.last_turn):
            self.last_turn.append(-1)
        before = self.last_turn[number]
        if turn <= before:
            self.faults.append(TurnOrder(span=span, row=row, session=session, turn=turn, before=before))
        self.last_turn[number] = turn
        self.places.append(number)

    def corpus(self) -> Corpus:
        """The columns, the rows of each session together, sessions in the order of their first rows."""
        places = self.places
        order = sorted(range(len(places)), key=places.__getitem__)  # stable
        first = array("q", [0] * (len(self.numbers) + 1))
        for place in places:
            first[place + 1] += 1
        for session in range(len(self.numbers)):
            first[session + 1] += first[session]
        columns = {name: array("d", (column[row] for row in order)) for name, column in self.columns.items()}
        return Corpus(self.path, first, **columns)


def _span(line: int, cells: list[str], place: int) -> Span:
    """Where a cell stands in its line, as long as nothing before it is quoted."""
    start = 1 + sum(len(cell) + 1 for cell in cells[:place])
    return Span(line, start, line, start + max(len(cells[place]), 1))
