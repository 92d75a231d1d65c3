"""The law of an interval in which nothing but clocks happens: its values lie on a lattice.

A state lasts just so long, w(x). If a_n(x) is the n-th moment of the ages of all intervals that enter the state x, with
P the probabilities from state to state,

    a_n(y) = [n = 0] start(y) + sum over x of P(x, y) sum over k of C(n, k) w(x)^(n - k) a_k(x),

which is one linear system with several right sides. The distribution function comes from following the intervals from
instant to instant: all w are multiples of one unit. Where a level lies at a step of the function to all digits of the
doubles, whole numbers decide.
"""

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import comb

import numpy as np

from serq.base.errors import LimitError, UsageError
from serq.ir.expr import Number
from serq.semantics.generator import Rows
from serq.semantics.interval_law import IntervalLaw, Point
from serq.semantics.lattice import Lattice
from serq.semantics.passages import Passage

MOST_INSTANTS = 200_000
"""Instants to which the intervals are followed at most."""
_UNIT = 2.0**-53


class ClockedLaw(IntervalLaw):
    """The law of the observed values of a clocked passage over all observations in the long run."""

    def __init__(self, passage: Passage, exact: bool | None = None) -> None:
        self._all_rows = passage.rows
        self._stays = [1 / x for x in passage.exits]
        exits = [x - row.get(i, 0) for i, (x, row) in enumerate(zip(passage.exits, passage.rows, strict=True))]
        rows: Rows = tuple({j: rate for j, rate in row.items() if j != i} for i, row in enumerate(passage.rows))
        super().__init__(replace(passage, rows=rows, exits=tuple(exits)), exact)
        self._entries: list[list[Number]] = []

    # -- moments -----------------------------------------------------------------------------------------------------

    def _raw(self, n: int) -> Number:
        total: Number = Fraction(0) if self.is_exact else 0.0
        for rest, rates in self.passage.observed.items():
            for k in range(n + 1):
                if k == n or rest != 0:
                    factor = comb(n, k) * self.passage.factor**k * rest ** (n - k)
                    total += self._times(factor, self._dot(self._left(k), rates))
        for rest, rate in self.passage.at_once.items():
            total += self._times(rest**n, rate)
        return total

    def _left(self, n: int) -> list[Number]:
        """Per state the n-th moment of the ages at which it is left, times its stay: rates become probabilities."""
        moments = [self._entered(k) for k in range(n + 1)]
        out = []
        for x, stay in enumerate(self._stays):
            terms = (self._times(comb(n, k) * stay ** (n - k + 1), moments[k][x]) for k in range(n + 1))
            out.append(sum(terms, Fraction(0) if self.is_exact else 0.0))
        return out

    def _entered(self, n: int) -> list[Number]:
        """Per state the n-th moment of the ages at which it is entered."""
        while len(self._entries) <= n:
            k = len(self._entries)
            right = self._pushed(k) if k else list(self.passage.start)
            lasting = zip(self._solved(right), self._stays, strict=True)
            self._entries.append([self._times(1 / stay, y) for y, stay in lasting])
        return self._entries[n]

    def _pushed(self, n: int) -> list[Number]:
        """Per state what lower moments bring to the n-th."""
        zero: Number = Fraction(0) if self.is_exact else 0.0
        out = [zero] * len(self._stays)
        for x, (stay, row) in enumerate(zip(self._stays, self._all_rows, strict=True)):
            lower = sum((self._times(comb(n, k) * stay ** (n - k), self._entries[k][x]) for k in range(n)), zero)
            for y, rate in row.items():
                out[y] += self._times(rate * stay, lower)
        return out

    # -- the distribution function -----------------------------------------------------------------------------------

    @cached_property
    def _lattice(self) -> Lattice:
        chances: Rows = tuple(
            {y: rate * stay for y, rate in row.items()} for row, stay in zip(self._all_rows, self._stays, strict=True)
        )
        kinds = [
            [rate * stay for rate, stay in zip(rates, self._stays, strict=True)]
            for rates in self.passage.observed.values()
        ]
        return Lattice(self.passage.start, chances, self._stays, kinds)

    @cached_property
    def _masses(self) -> list[float]:
        """By rest, the rate of observing after all ages."""
        return [float(self._dot(self._left(0), rates)) for rates in self.passage.observed.values()]

    def tail(self, x: float) -> Point:
        """P(value > x), with a bound on its error."""
        return self._tail(Fraction(x))

    def _tail(self, x: Fraction) -> Point:
        rate = float(self.rate)
        total = error = 0.0
        for kind, (mass, instants) in enumerate(zip(self._masses, self._instants(x), strict=True)):
            seen, doubt = self._lattice.by(kind, instants)
            total += max(mass - seen, 0.0)
            error += doubt * mass
        total += float(sum((r for rest, r in self.passage.at_once.items() if rest > x), Fraction(0)))
        known = self.passage.error
        bound = None if known is None else min(1.0, (error + 2 * known * self._most_seen) / rate + 32 * _UNIT)
        return Point(min(total / rate, 1.0), bound)

    def _instants(self, x: Fraction) -> list[int]:
        """By rest, the units of time that an interval may last whose value is no more than x."""
        return [(x - rest) / self.passage.factor // self._lattice.unit for rest in self.passage.observed]

    @cached_property
    def _most_seen(self) -> float:
        """The most observations that one interval may make on average."""
        rates = [sum(here, Fraction(0)) for here in zip(*self.passage.observed.values(), strict=True)]
        ahead = self._factors.solve(np.array([float(x) for x in rates])) if rates else np.ones(1)
        return float(ahead.max(initial=0.0)) or 1.0

    def quantile(self, level: float) -> Point:
        """The least value with P(value <= x) >= level; the bound is 0, or the way to the next value where the error of
        the distribution function leaves both.
        """
        if not 0 < level < 1:
            raise UsageError(f"a quantile is at a level between 0 and 1, not {level}")
        wanted = 1 - Fraction(str(level))
        values = self._values_to(wanted)
        place = bisect_left(values, True, key=lambda x: self._at_most(x, wanted) is not False)
        if self._at_most(values[place], wanted):
            return Point(float(values[place]), 0.0)
        after = next(x for x in values[place:] if self._at_most(x, wanted))
        return Point(float(values[place]), None if self.passage.error is None else float(after - values[place]))

    def _at_most(self, x: Fraction, wanted: Fraction) -> bool | None:
        """Whether P(value > x) is at most so much; None where that cannot be told."""
        point = self._tail(x)
        doubt = 64 * _UNIT if point.bound is None else point.bound
        if abs(Fraction(point.value) - wanted) > Fraction(doubt):
            return point.value < wanted
        found = self._lattice.exactly(self._instants(x)) if self.is_exact and self.passage.error == 0 else None
        if found is not None:
            at_once = sum((Fraction(r) for rest, r in self.passage.at_once.items() if rest <= x), Fraction(0))
            return found + at_once >= (1 - wanted) * Fraction(self.rate)
        return None

    def _values_to(self, wanted: Fraction) -> list[Fraction]:
        """The values of the lattice in order, as far as the tail is larger than this and a little further."""
        factor, unit = self.passage.factor, self._lattice.unit
        rests = sorted({*self.passage.observed, *self.passage.at_once})
        steps = 1
        while self._at_most(rests[0] + factor * unit * steps, wanted) is not True:
            steps *= 2
            if steps > MOST_INSTANTS:
                raise LimitError(f"an interval may last longer than {MOST_INSTANTS} instants {float(unit):.3g} apart")
        last = rests[0] + factor * unit * steps
        ages = {rest + factor * unit * k for rest in self.passage.observed for k in range(1, steps + 1)}
        return sorted(x for x in {*ages, *self.passage.at_once} if x <= last)
