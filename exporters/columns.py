"""Exact numbers of large chains: few of them differ, so that a table of rationals and places in it hold them all.

Sums are taken in whole numbers over a common denominator, in machine words where they fit.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import NDArray

_LARGEST = 2**62
Places = NDArray[np.int64]


class Column(Sequence[Fraction]):
    """Rationals, one per place; equal to any sequence of the same numbers."""

    def __init__(self, table: Sequence[Fraction], ids: Places) -> None:
        self.table = tuple(table)
        self.ids = ids

    @classmethod
    def of(cls, values: Iterable[Fraction]) -> "Column":
        """The column of these numbers."""
        known: dict[Fraction, int] = {}
        ids = [known.setdefault(value, len(known)) for value in values]
        return cls(tuple(known), np.array(ids, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> Fraction: ...
    @overload
    def __getitem__(self, at: slice | Places) -> "Column": ...
    def __getitem__(self, at: int | slice | Places) -> "Fraction | Column":
        if isinstance(at, int):
            return self.table[int(self.ids[at])]
        return Column(self.table, self.ids[at])

    def __iter__(self) -> Iterator[Fraction]:
        return (self.table[i] for i in self.ids.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def any(self) -> bool:
        """Whether one of them is not 0."""
        return len(self.nonzero()) > 0

    def nonzero(self) -> Places:
        """The places of those that are not 0."""
        some = np.array([value != 0 for value in self.table], dtype=bool)
        return np.nonzero(some[self.ids])[0] if len(some) else np.zeros(0, dtype=np.int64)

    def texts(self, write: Callable[[Fraction], str] = str) -> list[str]:
        """The numbers as texts."""
        words = np.array([write(value) for value in self.table], dtype=object)
        return list(words[self.ids]) if len(words) else []

    def extended(self, value: Fraction) -> "Column":
        """The column with one number more."""
        return Column((*self.table, value), np.append(self.ids, len(self.table)))

    def combined(self, other: "Column", operation: Callable[[Fraction, Fraction], Fraction]) -> "Column":
        """The operation place by place."""
        kinds = self.ids.astype(np.int64) * len(other.table) + other.ids
        pairs, ids = np.unique(kinds, return_inverse=True)
        split = (divmod(pair, len(other.table)) for pair in pairs.tolist())
        return Column([operation(self.table[a], other.table[b]) for a, b in split], ids.reshape(-1))

    def sums(self, begin: Places) -> "Column":
        """The sums of the stretches from `begin[i]` to `begin[i + 1]`."""
        below = math.lcm(*(value.denominator for value in self.table))
        scaled = [value.numerator * (below // value.denominator) for value in self.table]
        small = max(map(abs, scaled), default=0) * max(1, int(np.diff(begin).max(initial=0))) < _LARGEST
        whole = np.array(scaled, dtype=np.int64 if small else object)
        items = whole[self.ids] if len(whole) else np.zeros(0, dtype=np.int64)
        # A sum of machine words may wrap around on the way: the differences, which fit, are right all the same.
        running = np.concatenate([np.zeros(1, dtype=items.dtype), np.cumsum(items)])
        values, ids = np.unique(running[begin[1:]] - running[begin[:-1]], return_inverse=True)
        return Column([Fraction(int(value), below) for value in values], ids.reshape(-1))


class Rows(Sequence[dict[int, Fraction]]):
    """A sparse matrix by rows: row i has the targets (ascending) and numbers from `begin[i]` to `begin[i + 1]`."""

    def __init__(self, begin: Places, targets: Places, numbers: Column) -> None:
        self.begin = begin
        self.targets = targets
        self.numbers = numbers

    @classmethod
    def of(cls, rows: Sequence[dict[int, Fraction]]) -> "Rows":
        """The matrix of these rows."""
        begin = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64)
        targets = np.array([target for row in rows for target in sorted(row)], dtype=np.int64)
        return cls(begin, targets, Column.of(row[target] for row in rows for target in sorted(row)))

    def __len__(self) -> int:
        return len(self.begin) - 1

    @overload
    def __getitem__(self, at: int) -> dict[int, Fraction]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[dict[int, Fraction]]: ...
    def __getitem__(self, at: int | slice) -> dict[int, Fraction] | Sequence[dict[int, Fraction]]:
        if isinstance(at, slice):
            return tuple(self[i] for i in range(len(self))[at])
        i = range(len(self))[at]
        inside = slice(int(self.begin[i]), int(self.begin[i + 1]))
        return dict(zip(self.targets[inside].tolist(), self.numbers[inside], strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash((self.begin.tobytes(), self.targets.tobytes(), self.numbers))

    def empty(self) -> Places:
        """The rows with nothing in them."""
        return np.nonzero(np.diff(self.begin) == 0)[0]

    def sources(self) -> Places:
        """The row of every number."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.begin))

    def sums(self) -> Column:
        """The sum of every row."""
        return self.numbers.sums(self.begin)

    def looped(self) -> "Rows":
        """The matrix with a 1 on the diagonal of every empty row."""
        empty = self.empty()
        if not len(empty):
            return self
        begin = self.begin + np.concatenate([[0], np.cumsum(np.diff(self.begin) == 0)])
        at = self.begin[empty]
        numbers = Column((*self.numbers.table, Fraction(1)), np.insert(self.numbers.ids, at, len(self.numbers.table)))
        return Rows(begin, np.insert(self.targets, at, empty), numbers)

    def extended(self, row: dict[int, Fraction]) -> "Rows":
        """The matrix with one row more."""
        last = Rows.of([row])
        table = (*self.numbers.table, *last.numbers.table)
        ids = np.concatenate([self.numbers.ids, last.numbers.ids + len(self.numbers.table)])
        begin = np.append(self.begin, self.begin[-1] + len(row))
        return Rows(begin, np.concatenate([self.targets, last.targets]), Column(table, ids))
