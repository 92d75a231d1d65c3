"""Where two recordings of a run part: the first request, step or observation that differs, and what stood around it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from serq.base.errors import UsageError
from serq.compare.recorded import LISTS, Cell, Kind, Row, Table

TOLERANCE = 1e-9
CONTEXT = 3

_KINDS: tuple[Kind, ...] = ("steps", "requests", "observations")
_TIMES = ("time", "sent", "reached", "first", "done", "start", "end")
_BY_ORDER = "requests are matched by the order in which they were first scheduled: the two name them differently"


@dataclass(frozen=True, slots=True)
class Difference:
    """A column in which two rows differ, and both values."""

    column: str
    left: Cell
    right: Cell


@dataclass(frozen=True)
class Divergence:
    """The first difference between two tables.

    `what` names the row, `time` is when the two runs part there. `differences` is empty where one side has no such row.
    `left` and `right` are the rows around it on both sides, and `place` says which of them are the ones that differ
    (None where that side has no such row). `total` rows differ.
    """

    what: str
    time: float
    differences: tuple[Difference, ...]
    left: Sequence[Row]
    right: Sequence[Row]
    place: tuple[int | None, int | None]
    total: int


@dataclass(frozen=True)
class Comparison:
    """Two tables of one kind: how many rows each has, the columns compared, the first divergence if there is one."""

    kind: Kind
    name: str
    rows: tuple[int, int]
    columns: tuple[str, ...]
    remark: str
    divergence: Divergence | None


@dataclass(frozen=True)
class _Pair:
    """A row and the row of the other side that it is compared with, by their places; None where there is none."""

    left: int | None
    right: int | None
    what: str


def compare_recordings(
    left: Sequence[Table], right: Sequence[Table], tolerance: float = TOLERANCE, context: int = CONTEXT
) -> list[Comparison]:
    """Compare the tables that both recordings have, steps first. Numbers may differ by `tolerance`, relatively.

    `context` is how many rows before and after the first difference are shown. Raises `UsageError` when the two have
    nothing that can be compared.
    """
    pairs = [(a, b) for a in left for b in right if (a.kind, a.name) == (b.kind, b.name)]
    if not pairs:
        first, second = (", ".join(sorted({table.name for table in side})) for side in (left, right))
        raise UsageError(f"there is nothing to compare: the first recording has {first}, the second {second}")
    pairs.sort(key=lambda pair: (_KINDS.index(pair[0].kind), pair[0].name))
    return [_Tables(a, b, tolerance, context).compare() for a, b in pairs]


class _Tables:
    """Two tables of one kind."""

    def __init__(self, left: Table, right: Table, tolerance: float, context: int) -> None:
        self.left, self.right = left, right
        self.tolerance, self.context = tolerance, context
        self.columns = tuple(name for name in left.columns if name in right.columns)
        self.labels: tuple[dict[str, str], dict[str, str]] | None = None
        if left.kind == "steps":
            first, second = _first_scheduled(left.rows), _first_scheduled(right.rows)
            if first and second and first.keys().isdisjoint(second):
                self.labels = first, second

    def compare(self) -> Comparison:
        """Go through the pairs of rows."""
        found: list[tuple[float, _Pair, tuple[Difference, ...]]] = []
        for pair in self._pairs():
            differences = self._differences(pair)
            if differences or pair.left is None or pair.right is None:
                found.append((self._time(pair, differences), pair, differences))
        remark = "" if self.labels is None else _BY_ORDER
        rows = len(self.left.rows), len(self.right.rows)
        divergence = None
        if found:
            time, pair, differences = min(found, key=lambda entry: entry[0])  # of one time the first
            divergence = self._divergence(time, pair, differences, len(found))
        return Comparison(self.left.kind, self.left.name, rows, self.columns, remark, divergence)

    def _pairs(self) -> Iterator[_Pair]:
        """Requests by session and turn; steps and observations one after the other."""
        if self.left.kind == "requests":
            places = {(row["session"], row["turn"]): place for place, row in enumerate(self.right.rows)}
            for place, row in enumerate(self.left.rows):
                key = row["session"], row["turn"]
                yield _Pair(place, places.pop(key, None), f"request {_named(row)}")
            for place in places.values():
                yield _Pair(None, place, f"request {_named(self.right.rows[place])}")
            return
        rows = len(self.left.rows), len(self.right.rows)
        word = "step" if self.left.kind == "steps" else f"observation of {self.left.name}"
        for place in range(max(rows)):
            yield _Pair(place if place < rows[0] else None, place if place < rows[1] else None, f"{word} {place + 1}")

    def _differences(self, pair: _Pair) -> tuple[Difference, ...]:
        if pair.left is None or pair.right is None:
            return ()
        one, other = self.left.rows[pair.left], self.right.rows[pair.right]
        different = (name for name in self.columns if not self._same(name, one[name], other[name]))
        return tuple(Difference(name, one[name], other[name]) for name in different)

    def _same(self, column: str, one: Cell, other: Cell) -> bool:
        if column in LISTS and self.labels is not None:
            one, other = (_relabelled(x, labels) for x, labels in zip((one, other), self.labels, strict=True))
        if isinstance(one, float) and isinstance(other, float):
            return math.isclose(one, other, rel_tol=self.tolerance, abs_tol=0.0)
        return one == other

    def _time(self, pair: _Pair, differences: Sequence[Difference]) -> float:
        """When the two part: the earliest time that differs, else the latest that is the same."""
        values = [x for d in differences if d.column in _TIMES for x in (d.left, d.right) if isinstance(x, float)]
        if values:
            return min(values)
        sides = ((self.left.rows, pair.left), (self.right.rows, pair.right))
        rows = [rows[place] for rows, place in sides if place is not None]
        column = "start" if self.left.kind == "steps" else "first"
        times = [x for row in rows if isinstance(x := row.get(column, row.get("time")), float)]
        times = times or [x for row in rows if isinstance(x := row.get("sent"), float)]
        return min(times, default=0.0)

    def _divergence(self, time: float, pair: _Pair, found: tuple[Difference, ...], total: int) -> Divergence:
        left, left_place = self._around(self.left, pair.left, time)
        right, right_place = self._around(self.right, pair.right, time)
        return Divergence(pair.what, time, found, left, right, (left_place, right_place), total)

    def _around(self, table: Table, place: int | None, time: float) -> tuple[Sequence[Row], int | None]:
        """The rows before and after: of requests, those that were under way at that time."""
        if table.kind == "requests":
            shown = [row for at, row in enumerate(table.rows) if at == place or _is_under_way(row, time)]
            chosen = None if place is None else next(i for i, row in enumerate(shown) if row is table.rows[place])
            return shown, chosen
        at = len(table.rows) if place is None else place
        start = max(0, at - self.context)
        return table.rows[start : at + self.context + 1], None if place is None else at - start


def _first_scheduled(rows: Sequence[Row]) -> dict[str, str]:
    """The names of requests in the order in which they were first scheduled, each with its number."""
    labels: dict[str, str] = {}
    for row in rows:
        scheduled: Any = row.get("scheduled") or ()
        for name, _ in scheduled:
            labels.setdefault(name, f"#{len(labels) + 1}")
    return labels


def _relabelled(cell: Cell, labels: dict[str, str]) -> Cell:
    assert isinstance(cell, tuple)
    return tuple(
        labels.get(entry, entry) if isinstance(entry, str) else (labels.get(entry[0], entry[0]), entry[1])
        for entry in cell
    )


def _named(row: Row) -> str:
    turn = row["turn"]
    return f"{row['session']}.{turn:g}" if isinstance(turn, float) else f"{row['session']}.{turn}"


def _is_under_way(row: Row, time: float) -> bool:
    sent, done = row.get("sent"), row.get("done")
    return isinstance(sent, float) and sent <= time and (done is None or (isinstance(done, float) and time <= done))
