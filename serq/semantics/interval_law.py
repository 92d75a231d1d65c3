"""The law of an interval from the chain of its tagged session: moments, distribution function, quantiles.

The distribution function is a sum of non-negative terms (`serq.semantics.uniformisation`) and comes with a bound on its
error; a quantile comes with what that error may move it.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, inf, lcm

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg
from numpy.typing import NDArray
from scipy.optimize import brentq

from serq.base.errors import UsageError
from serq.ir.expr import Number
from serq.semantics.generator import sparse_rates
from serq.semantics.passages import Passage
from serq.semantics.rational import solve_transient
from serq.semantics.uniformisation import Steps

Vector = NDArray[np.float64]

LARGEST_RATIONAL = 300
"""States of a passage up to which moments are rational, given rational starting rates."""
_CLOSE = 4.5e-16


@dataclass(frozen=True, slots=True)
class Point:
    """A value in doubles, and a bound on its error (None where nothing is known of the starting rates)."""

    value: float
    bound: float | None


class IntervalLaw:
    """The law of the observed values of a passage over all observations in the long run.

    `rate`: observations per unit of time; 0 when nothing is ever observed, and then there is no law.
    """

    def __init__(self, passage: Passage, exact: bool | None = None) -> None:
        self.passage = passage
        rational = all(isinstance(x, Fraction) for x in (*passage.start, *passage.at_once.values()))
        small = len(passage.start) <= LARGEST_RATIONAL
        self.is_exact = rational and (small if exact is None else exact)
        self._ages: list[list[Number]] = []

    # -- moments -----------------------------------------------------------------------------------------------------

    @cached_property
    def rate(self) -> Number:
        """Observations per unit of time."""
        return self._raw(0)

    def moment(self, n: int) -> Number:
        """The mean of the n-th power of the observed value; a Fraction when the law is exact."""
        return self._raw(n) / self.rate

    def _raw(self, n: int) -> Number:
        """The moment times the rate of observing."""
        passage, zero = self.passage, Fraction(0) if self.is_exact else 0.0
        total: Number = zero
        for rest, rates in passage.observed.items():
            for k in range(n + 1):
                if k < n and rest == 0:
                    continue
                factor = comb(n, k) * passage.factor**k * rest ** (n - k)
                total += self._times(factor, self._dot(self._age(k), rates))
        for rest, rate in passage.at_once.items():
            total += self._times(rest**n, rate)
        return total

    def _times(self, factor: Fraction, value: Number) -> Number:
        return factor * value if self.is_exact else float(factor) * float(value)

    def _dot(self, ages: list[Number], rates: tuple[Fraction, ...]) -> Number:
        if self.is_exact:
            return sum((a * r for a, r in zip(ages, rates, strict=True) if r), Fraction(0))
        return float(sum(float(a) * float(r) for a, r in zip(ages, rates, strict=True) if r))

    def _age(self, n: int) -> list[Number]:
        """Per state the n-th moment of the ages there: y_0 M = start, y_n M = n y_{n-1}."""
        while len(self._ages) <= n:
            k = len(self._ages)
            before: list[Number] = [k * y for y in self._ages[-1]] if k else list(self.passage.start)
            self._ages.append(self._solved(before))
        return self._ages[n]

    def _solved(self, right: list[Number]) -> list[Number]:
        if not right:
            return []
        if not self.is_exact:
            return [float(y) for y in self._factors.solve(np.array([float(x) for x in right]), "T")]
        fractions = [Fraction(x) for x in right]
        scale = lcm(*(x.denominator for x in fractions))
        whole = [x * scale for x in fractions]
        return [y / scale for y in solve_transient(self.passage.rows, self.passage.exits, whole)]

    @cached_property
    def _factors(self) -> linalg.SuperLU:
        """Factors of M in doubles."""
        exits = np.array([float(x) for x in self.passage.exits])
        matrix = sparse.diags(exits) - sparse_rates(self.passage.rows)
        return linalg.splu(sparse.csc_matrix(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)

    # -- the distribution function -----------------------------------------------------------------------------------

    @cached_property
    def _speed(self) -> float:
        """The rate of uniformisation."""
        return float(max(self.passage.exits, default=Fraction(1)))

    @cached_property
    def _tails(self) -> dict[Fraction, Steps]:
        """By rest, the steps whose mixture is the rate of observing later than a given age."""
        passage = self.passage
        start = np.array([float(x) for x in passage.start])
        exits = np.array([float(x) for x in passage.exits])
        stay = sparse.diags(1.0 - exits / self._speed)
        matrix = sparse.csr_matrix((sparse_rates(passage.rows) / self._speed + stay).T)
        return {rest: Steps(start, matrix, self._yet_to_come(rates)) for rest, rates in passage.observed.items()}

    def _yet_to_come(self, rates: tuple[Fraction, ...]) -> Vector:
        """Per state how many observations at these rates lie ahead: the solution v of M v = rates."""
        leaving = (
            x - sum(row.values(), Fraction(0)) for x, row in zip(self.passage.exits, self.passage.rows, strict=True)
        )
        if all(a == b for a, b in zip(leaving, rates, strict=True)):
            return np.ones(len(rates))
        ahead: Vector = np.maximum(self._factors.solve(np.array([float(x) for x in rates])), 0.0)
        return ahead

    def tail(self, x: float) -> Point:
        """P(value > x), with a bound on its error."""
        rate = float(self.rate)
        total, error = 0.0, 0.0
        for rest, steps in self._tails.items():
            age = (x - float(rest)) / float(self.passage.factor)
            value, doubt = steps.mixed(self._speed * max(age, 0.0))
            total += value
            error += doubt
        total += float(sum((r for rest, r in self.passage.at_once.items() if rest > x), Fraction(0)))
        known = self.passage.error
        bound = None if known is None else min(1.0, (error + 2 * known * self._most) / rate + 8 * _CLOSE)
        return Point(min(total / rate, 1.0), bound)

    @cached_property
    def _most(self) -> float:
        """The most observations that one interval may make on average."""
        return max((float(s.values(0).max(initial=0.0)) for s in self._tails.values()), default=0.0) or 1.0

    def cdf(self, x: float) -> Point:
        """P(value <= x), with a bound on its error."""
        tail = self.tail(x)
        return Point(1.0 - tail.value, tail.bound)

    def quantile(self, level: float) -> Point:
        """The least x with P(value <= x) >= level, with a bound on its error."""
        if not 0 < level < 1:
            raise UsageError(f"a quantile is at a level between 0 and 1, not {level}")
        wanted = 1.0 - level
        atoms = [float(rest) for rest in (*self.passage.observed, *self.passage.at_once)]
        lowest = min(atoms)
        beyond = self.tail(lowest)
        doubt = 8 * _CLOSE if beyond.bound is None else beyond.bound
        if beyond.value <= wanted - doubt:
            return Point(lowest, 0.0)
        if beyond.value <= wanted + doubt:  # as much as the level may lie at the lowest value itself
            known = beyond.bound is not None and wanted > 2 * doubt
            return Point(lowest, self._where(wanted - 2 * doubt, lowest) - lowest if known else None)
        x = self._where(wanted, lowest)
        return Point(x, self._doubt(x, wanted))

    def _where(self, wanted: float, lowest: float) -> float:
        """The least x with P(value > x) <= wanted, which lies above the lowest value."""
        low, high = lowest, lowest + float(self.passage.factor) / self._speed
        while self.tail(high).value > wanted:
            low, high = high, lowest + 2 * (high - lowest)
        if self.tail(low).value <= wanted:
            return low
        return float(brentq(lambda at: self.tail(at).value - wanted, low, high, xtol=1e-300, rtol=4 * _CLOSE))

    def _doubt(self, x: float, wanted: float) -> float | None:
        """How far the quantile at x may be off: a step beyond which the tail is certainly on the other side."""
        bound = self.tail(x).bound
        if bound is None:
            return None
        step = max(abs(x), 1e-300) * 4 * _CLOSE
        while step < inf:
            left, right = self.tail(x - step), self.tail(x + step)
            if left.value - (left.bound or 0.0) >= wanted >= right.value + (right.bound or 0.0):
                return step
            step *= 2
        return None
