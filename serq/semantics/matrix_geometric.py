"""Queues without a limit: levels that repeat for ever, one more session in each, solved by the matrix-geometric method.

Let the chain go up a level with the rates `up`, stay with `local`, and come down with `down`, from some level on always
the same. G(i, j) is the probability that it first comes to the level below in phase j when it begins in phase i. With D
the rates out of the phases, R = up (D - local - up G)^-1, and pi of the next level is pi R: M. F. Neuts,
Matrix-Geometric Solutions in Stochastic Models (1981), chapter 3. Where all ways down lead to the same phases, as
behind one server, G is known at once and all is rational; otherwise it comes from logarithmic reduction: G. Latouche
and V. Ramaswami, J. Appl. Prob. 30 (1993).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from serq.base.errors import LimitError
from serq.ir.expr import Number
from serq.semantics.generator import integer_generator
from serq.semantics.rational import lift

Matrix = NDArray[np.float64]
Table = list[list[Fraction]]

_ROUNDS = 60
"""The level reached doubles with every round of the reduction."""
_ACCURACY = 1e-11


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
            sum((p * sum(row) for p, row in zip(phases, m, strict=True)), Fraction(0)) for m in (self.up, self.down)
        )
        above, below = totals
        return above, below


_SEVERAL = "with an endless queue its phases fall into several classes"


@dataclass(frozen=True)
class Passage:
    """G, rational or in doubles, and the largest violation of down + local G + up G^2 = 0."""

    matrix: list[list[Number]]
    exact: bool
    residual: float


def passage(blocks: Blocks) -> Passage:
    """How the chain first comes to the level below, by phase."""
    rows = [row for row in blocks.down if any(row)]
    shares = [[x / sum(row) for x in row] for row in rows]
    if all(row == shares[0] for row in shares):
        return Passage([list(shares[0]) for _ in range(blocks.size)], True, 0.0)
    return _reduced(blocks)


def _reduced(blocks: Blocks) -> Passage:
    """Logarithmic reduction."""
    up, down = (_doubles(m) for m in (blocks.up, blocks.down))
    local = _doubles(blocks.local)
    inner = np.diag(up.sum(axis=1) + local.sum(axis=1) + down.sum(axis=1)) - local
    high, low = np.linalg.solve(inner, up), np.linalg.solve(inner, down)
    g, reach = low.copy(), high.copy()
    for _ in range(_ROUNDS):
        both = high @ low + low @ high
        rest = np.eye(blocks.size) - both
        high, low = np.linalg.solve(rest, high @ high), np.linalg.solve(rest, low @ low)
        step = reach @ low
        g = g + step
        reach = reach @ high
        if np.abs(step).max() < 1e-17 or np.abs(1 - g.sum(axis=1)).max() < 1e-16:
            break
    g = g / g.sum(axis=1, keepdims=True)
    wrong = np.abs(down - inner @ g + up @ g @ g).max() / np.abs(inner).max()
    if not wrong <= _ACCURACY:
        raise LimitError(f"the first passage to the level below was not found to enough digits ({wrong:.1e})")
    return Passage(g.tolist(), False, float(wrong))


def _doubles(table: Sequence[Sequence[Number]]) -> Matrix:
    return np.array([[float(x) for x in row] for row in table])


@dataclass(frozen=True)
class Tail:
    """The levels from the first one that repeats on: pi there is `first`, and R leads from each to the next."""

    first: list[Number]
    rate: list[list[Number]]

    @property
    def exact(self) -> bool:
        """Whether all is rational."""
        return isinstance(self.rate[0][0], Fraction)

    def total(self, here: Sequence[Fraction], slope: Sequence[Fraction]) -> Number:
        """The sum over all levels and phases of pi times (here + slope * levels above the first)."""
        if self.exact:
            return self._exact_total(here, slope)
        first, rest = np.array(self.first, dtype=float), np.eye(len(self.first)) - _doubles(self.rate)
        levels = np.linalg.solve(rest.T, first)
        above = np.linalg.solve(rest.T, levels @ _doubles(self.rate))
        return float(levels @ np.array(here, dtype=float) + above @ np.array(slope, dtype=float))

    def _exact_total(self, here: Sequence[Fraction], slope: Sequence[Fraction]) -> Fraction:
        rate = _rationals(self.rate)
        n = len(self.first)
        inverse = (fmpq_mat(n, n, [fmpq(int(i == j)) for i in range(n) for j in range(n)]) - rate).inv()
        levels = _rationals([self.first]) * inverse
        value = levels * _column(here) + levels * rate * inverse * _column(slope)
        return _fraction(value[0, 0])

    def next(self, level: Sequence[Number]) -> list[Number]:
        """The probabilities of the level above one with these."""
        columns = zip(*self.rate, strict=True)
        zero = Fraction(0) if self.exact else 0.0
        return [sum((p * r for p, r in zip(level, column, strict=True)), zero) for column in columns]

    @property
    def decay(self) -> Number:
        """The factor by which levels far up lose probability: the spectral radius of R."""
        if len(self.rate) == 1:
            return self.rate[0][0]
        return float(np.abs(np.linalg.eigvals(_doubles(self.rate))).max())


def next_level(blocks: Blocks, g: Passage) -> list[list[Number]]:
    """R, rational where G is."""
    n = blocks.size
    exits = [sum(blocks.up[i]) + sum(blocks.local[i]) + sum(blocks.down[i]) for i in range(n)]
    if not g.exact:
        inner = np.diag([float(x) for x in exits]) - _doubles(blocks.local) - _doubles(blocks.up) @ _doubles(g.matrix)
        return [[float(x) for x in row] for row in np.linalg.solve(inner.T, _doubles(blocks.up).T).T]
    diagonal = fmpq_mat(n, n, [_flint(exits[i]) if i == j else fmpq(0) for i in range(n) for j in range(n)])
    up = _rationals(blocks.up)
    found = up * (diagonal - _rationals(blocks.local) - up * _rationals(g.matrix)).inv()
    return [[_fraction(found[i, j]) for j in range(n)] for i in range(n)]


def _flint(x: Any) -> fmpq:
    exact = Fraction(x)
    return fmpq(exact.numerator, exact.denominator)


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def _rationals(table: Sequence[Sequence[Number]]) -> fmpq_mat:
    return fmpq_mat(len(table), len(table[0]), [_flint(x) for row in table for x in row])


def _column(values: Sequence[Fraction]) -> fmpq_mat:
    return fmpq_mat(len(values), 1, [_flint(x) for x in values])
