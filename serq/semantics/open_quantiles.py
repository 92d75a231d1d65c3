"""Quantiles of the number of sessions present in a queue without a limit."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from serq.ir.measures import QUANTILES
from serq.semantics.balls import Entry, Matrix, enclosure, in_balls
from serq.semantics.matrix_geometric import Tail

_MOST = 1 << 62
"""Sessions beyond which no quantile is looked for."""


class Excess:
    """How likely it is that more than n sessions are present, for any n: levels are passed by powers of R."""

    def __init__(self, below: Mapping[int, Entry], present: Sequence[int], tail: Tail, step: int = 1) -> None:
        """`below`: the probability of so many sessions below the first level; `present`: by phase, how many there are
        in the first level; every level has `step` more.
        """
        self._step = step
        self._below = below
        self._present = present
        self._levels = in_balls(tail.levels)
        self._powers: list[Matrix] = [in_balls(tail.rate)]
        """R, R^2, R^4, ..."""

    def __call__(self, n: int) -> Entry:
        """The probability of more than n sessions."""
        up = [max(0, -(-(n + 1 - present) // self._step)) for present in self._present]
        total: Entry = sum((x for number, x in self._below.items() if number > n), self._levels[0, 0] * 0)
        done, row = 0, self._levels
        for phase, levels in sorted(enumerate(up), key=lambda pair: pair[1]):
            row, done = self._risen(row, levels - done), levels
            total = total + row[0, phase]
        return total

    def _risen(self, row: Matrix, levels: int) -> Matrix:
        """A row times R^levels."""
        for place in range(levels.bit_length()):
            if place == len(self._powers):
                self._powers.append(self._powers[-1] * self._powers[-1])
            if levels >> place & 1:
                row = row * self._powers[place]
        return row


def number_quantiles(excess: Callable[[int], Entry]) -> dict[str, int]:
    """By name, the least number that is not exceeded for such a share of the time.

    A share that is reached up to the width of a ball is reached: M/M/1 with a load of one half is empty for just half
    of the time.
    """
    return {name: _quantile(excess, 1 - Fraction(str(level))) for name, level in QUANTILES.items()}


def _quantile(excess: Callable[[int], Entry], left: Fraction) -> int:
    def reached(n: int) -> bool:
        middle, radius = enclosure(excess(n))
        return middle - radius <= left

    high = 1
    while not reached(high) and high < _MOST:
        high *= 2
    low = -1
    while high - low > 1:
        between = (low + high) // 2
        low, high = (low, between) if reached(between) else (between, high)
    return high
