"""Queues without a limit: levels that repeat for ever, one more session in each, solved by the matrix-geometric method.

Let the chain go up a level with the rates `up`, stay with `local`, and come down with `down`, from some level on always
the same. G(i, j) is the probability that it first comes to the level below in phase j when it begins in phase i. With D
the rates out of the phases, R = up (D - local - up G)^-1, and pi of the next level is pi R: M. F. Neuts,
Matrix-Geometric Solutions in Stochastic Models (1981), chapter 3.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from serq.base.errors import LimitError
from serq.semantics.balls import Entry, Matrices, Matrix, balls, enclosure, in_balls, is_zero, part, working_bits
from serq.semantics.generator import integer_generator
from serq.semantics.rational import lift

Table = list[list[Fraction]]

_DECAY_BITS = 128
_NUDGE = 1e-9
"""So far above the eigenvalue, relatively, is the shift of the inverse iteration: all stays positive."""


@dataclass(frozen=True)
class Blocks:
    """Rates among the phases of a level that repeats: to the level above, within it (no diagonal), to that below."""

    up: Table
    local: Table
    down: Table

    @property
    def size(self) -> int:
        """Number of phases."""
        return len(self.up)

    @cached_property
    def exits(self) -> list[Fraction]:
        """The rate out of every phase."""
        return [total((*a, *b, *c)) for a, b, c in zip(self.up, self.local, self.down, strict=True)]

    @cached_property
    def inner(self) -> Table:
        """The rates out of the phases, on the diagonal, without what stays in the level."""
        rows = [[-x if x else x for x in row] for row in self.local]
        for i, rate in enumerate(self.exits):
            rows[i][i] += rate
        return rows

    def drift(self) -> tuple[Fraction, Fraction]:
        """The mean rates up and down with an endless queue: it is stable when the first is less than the second.

        Raises LimitError where the phases of an endless queue are no single class.
        """
        rows = tuple(
            {
                j: self.up[i][j] + self.local[i][j] + self.down[i][j]
                for j in range(self.size)
                if j != i and self.up[i][j] + self.local[i][j] + self.down[i][j]
            }
            for i in range(self.size)
        )
        generator = integer_generator(rows)
        try:
            weights = lift(generator) if self.size > 1 else [1]
        except ZeroDivisionError:
            raise LimitError(_SEVERAL) from None
        if not generator.balanced(weights) or min(weights) <= 0:
            raise LimitError(_SEVERAL)
        phases = generator.probabilities(weights)
        totals = (
            sum((p * total(row) for p, row in zip(phases, m, strict=True)), Fraction(0)) for m in (self.up, self.down)
        )
        above, below = totals
        return above, below


def total(row: Iterable[Fraction]) -> Fraction:
    """The sum of a row that is mostly 0."""
    return sum(filter(None, row), Fraction(0))


_SEVERAL = "with an endless queue its phases fall into several classes"


@dataclass(frozen=True)
class Tail:
    """The levels from the first one that repeats on: pi there is `first`, a row, and `rate` (R) leads from each to the
    next. Both are rational or both in balls; `matrices` makes more of the kind.
    """

    first: Matrix
    rate: Matrix
    matrices: Matrices

    def scaled(self, mass: Entry) -> "Tail":
        """The same over a total of `mass`."""
        return Tail(self.first * (1 / mass), self.rate, self.matrices)

    @cached_property
    def levels(self) -> Matrix:
        """The sum of pi over all levels, by phase."""
        return self._summed(self.first)

    @cached_property
    def _above(self) -> Matrix:
        """The same with every level counted as often as it is above the first."""
        return self._summed(self.levels * self.rate)

    def _summed(self, row: Matrix) -> Matrix:
        """A row times (1 - R)^-1."""
        n = self.rate.nrows()
        one = self.matrices([[Fraction(int(i == j)) for j in range(n)] for i in range(n)])
        return (one - self.rate).transpose().solve(row.transpose()).transpose()

    def total(self, here: Sequence[Fraction], slope: Sequence[Fraction]) -> Entry:
        """The sum over all levels and phases of pi times (here + slope * levels above the first)."""
        values, slopes = (self.matrices([[x] for x in column]) for column in (here, slope))
        return (self.levels * values)[0, 0] + (self._above * slopes)[0, 0]


def next_level(blocks: Blocks, g: Matrix, matrices: Matrices) -> Matrix:
    """R, rational or in balls like G."""
    up = matrices(blocks.up)
    return up * (matrices(blocks.inner) - up * g).inv()


def decay(rate: Matrix) -> tuple[float, float | None]:
    """The spectral radius of R, by which levels far up lose probability, and a bound on its error.

    For every positive v it lies between the least and the largest (R v)_i / v_i (L. Collatz, Math. Z. 48, 1942, and
    H. Wielandt, ibid. 52, 1950), over the phases in which the chain may go up; without the others R has it too. None
    where no positive v was found.
    """
    ups = [i for i, row in enumerate(rate.tolist()) if not all(map(is_zero, row))]
    inside = part(rate, ups, ups)
    doubles = np.array([[float(enclosure(x)[0]) for x in row] for row in inside.tolist()])
    values, vectors = np.linalg.eig(doubles)
    largest = int(np.argmax(values.real))
    guess, v = float(values.real[largest]), np.abs(vectors[:, largest].real)
    with working_bits(_DECAY_BITS):
        try:
            low, high = _quotients(inside, guess, v.tolist())
        except ZeroDivisionError:
            return guess, None
    value = float((low + high) / 2)
    return value, float(max(high - Fraction(value), Fraction(value) - low)) * (1 + 2**-50)


def _quotients(rate: Matrix, guess: float, start: list[float]) -> tuple[Fraction, Fraction]:
    """Bounds on the spectral radius from a vector near the one that belongs to it.

    ZeroDivisionError where the vector is not positive.
    """
    n = rate.nrows()
    rate = in_balls(rate)
    middles = balls([[enclosure(x)[0] for x in row] for row in rate.tolist()])
    shift = Fraction(guess) * Fraction(1 + _NUDGE)
    shifted = balls([[shift * (i == j) for j in range(n)] for i in range(n)]) - middles
    v = balls([[Fraction(x)] for x in start])
    for _ in range(2):
        v = shifted.solve(v)
        size = max(abs(enclosure(x)[0]) for x in v.entries())
        v = balls([[enclosure(x)[0] / size] for x in v.entries()])
    if min(enclosure(x)[0] for x in v.entries()) <= 0:
        raise ZeroDivisionError
    bounds = [enclosure(x / y) for x, y in zip((rate * v).entries(), v.entries(), strict=True)]
    return min(a - r for a, r in bounds), max(a + r for a, r in bounds)
