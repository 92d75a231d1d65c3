"""The sessions of a trace as columns of numbers: compact enough for millions of rows, read one turn at a time."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from serq.ir.program import TRACE_ATTRIBUTES

STANDARD = tuple(name for name in TRACE_ATTRIBUTES if name != "more")
"""The columns that every corpus has; `more` follows from the number of turns."""


@dataclass(frozen=True)
class Corpus:
    """Recorded sessions. Session i has the rows `first[i]` to `first[i + 1]` (exclusive) of every column.

    `columns` are `new out think forced` and what the program asked for beside them. `names` are the sessions' names,
    `start` the seconds at which each began, 0 where the trace does not say.
    """

    path: str
    first: "array[int]"
    columns: Mapping[str, "array[float]"]
    names: Sequence[str]
    start: "array[float]"

    def __len__(self) -> int:
        return len(self.first) - 1

    def turns(self, session: int) -> int:
        """The number of turns of a session."""
        return self.first[session + 1] - self.first[session]

    def turn(self, session: int, number: int) -> Mapping[str, float]:
        """What turn `number` (from 1) sets. Past the last turn its row stays, and `more` is 0."""
        turns = self.turns(session)
        row = self.first[session] + min(max(number, 1), turns) - 1
        values = {name: column[row] for name, column in self.columns.items()}
        values["more"] = 1.0 if number < turns else 0.0
        return values

    def by_start(self) -> Sequence[int]:
        """The sessions in the order in which they began, those of one instant in the order of the file."""
        sessions = range(len(self))
        start = self.start
        if all(start[i] <= start[i + 1] for i in range(len(self) - 1)):
            return sessions
        return array("q", sorted(sessions, key=start.__getitem__))

    def arrivals(self) -> Iterator[tuple[float, int]]:
        """Instants at which sessions began, and how many did, in the order of time."""
        for time, together in groupby(self.by_start(), key=self.start.__getitem__):
            yield time, sum(1 for _ in together)


class CorpusBuilder:
    """Takes rows in the order of a file. `extra` are further columns to keep."""

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self._columns = {name: array("d") for name in (*STANDARD, *extra)}
        self._places = array("q")  # the session of each row, numbered by first appearance
        self._numbers: dict[str, int] = {}
        self._last_turn = array("q")
        self._start = array("d")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that a row has values for."""
        return tuple(self._columns)

    def add(self, session: str, turn: int, start: float, values: Sequence[float]) -> int | None:
        """One row more. Where its turn does not follow the session's last one, that turn's number comes back."""
        numbers = self._numbers
        number = numbers.setdefault(session, len(numbers))
        if number == len(self._last_turn):
            self._last_turn.append(-1)
            self._start.append(start)
        before = self._last_turn[number]
        self._last_turn[number] = turn
        self._places.append(number)
        for column, value in zip(self._columns.values(), values, strict=True):
            column.append(value)
        return before if turn <= before else None

    def __len__(self) -> int:
        return len(self._places)

    def corpus(self, path: str) -> Corpus:
        """The rows of each session together, sessions in the order of their first rows."""
        places, sessions = self._places, len(self._numbers)
        first = array("q", bytes(8 * (sessions + 1)))
        for place in places:
            first[place + 1] += 1
        for session in range(sessions):
            first[session + 1] += first[session]
        columns: dict[str, array[float]] = self._columns
        if any(places[row] > places[row + 1] for row in range(len(places) - 1)):
            order = array("q", sorted(range(len(places)), key=places.__getitem__))  # stable
            columns = {name: array("d", map(column.__getitem__, order)) for name, column in columns.items()}
        return Corpus(path, first, columns, list(self._numbers), self._start)
