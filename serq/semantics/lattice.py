"""Intervals that are followed from instant to instant, where all that happens to them happens at multiples of a unit.

A state lasts just so long, and at its end the interval may observe and goes on to another state, or is over. Masses are
only added, so that rounding makes a small relative error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from serq.ir.expr import Number
from serq.semantics.generator import Rows, sparse_rates

Vector = NDArray[np.float64]

_UNIT = 2.0**-53
_MOST_BITS = 20_000
_MOST_PRODUCTS = 1_000_000
"""Length of whole numbers, and products of them, up to which masses are found exactly."""


@dataclass(frozen=True)
class Lattice:
    """What is followed. `start`: mass that begins in each state; `chances`: probabilities from state to state; `stays`:
    how long a state lasts; `observed`: per kind of observation, how many are made on average at leaving a state.
    """

    start: Sequence[Number]
    chances: Rows
    stays: Sequence[Fraction]
    observed: Sequence[Sequence[Fraction]]
    _walk: "_Walk" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_walk", _Walk(self))

    @property
    def unit(self) -> Fraction:
        """The largest time of which all stays are multiples."""
        return self._walk.unit

    def by(self, kind: int, instants: int) -> tuple[float, float]:
        """The mass of observations of a kind at no more than so many units of time, and a bound on its relative error
        by rounding.
        """
        return self._walk.by(kind, instants)

    def exactly(self, instants: Sequence[int]) -> Fraction | None:
        """The mass of all observations, of each kind at no more than so many units; None where that is too much work.

        The masses that begin must be rational.
        """
        last = max(instants, default=0)
        if last <= 0:
            return Fraction(0)
        numbers = [q for row in self.chances for q in row.values()] + [q for kind in self.observed for q in kind]
        base = lcm(*(q.denominator for q in numbers))
        if last * base.bit_length() > _MOST_BITS or last * len(numbers) > _MOST_PRODUCTS:
            return None
        return _whole(self, base, [int(stay / self.unit) for stay in self.stays], instants)


def _whole(lattice: Lattice, base: int, steps: Sequence[int], instants: Sequence[int]) -> Fraction:
    """Masses after t units as whole multiples of 1 / base^t: nothing is rounded."""
    start = [Fraction(x) for x in lattice.start]
    scale = lcm(*(x.denominator for x in start))
    last = max(instants)
    coming: list[dict[int, int]] = [{} for _ in range(last + 1)]
    coming[0] = {x: int(mass * scale) for x, mass in enumerate(start) if mass}
    rows = [{y: int(q * base) for y, q in row.items()} for row in lattice.chances]
    seen = 0
    for now, here in enumerate(coming):
        for x, mass in here.items():
            then = now + steps[x]
            longer = mass * base ** (steps[x] - 1)
            for kind, until in zip(lattice.observed, instants, strict=True):
                if kind[x] and then <= until:
                    seen += longer * int(kind[x] * base) * base ** (last - then)
            if then <= last:
                there = coming[then]
                for y, q in rows[x].items():
                    there[y] = there.get(y, 0) + longer * q
    return Fraction(seen, scale * base**last)


class _Walk:
    """The same in doubles, made as far as it is asked for."""

    def __init__(self, lattice: Lattice) -> None:
        stays = lattice.stays or [Fraction(1)]
        below = lcm(*(x.denominator for x in stays))
        self.unit = Fraction(gcd(*(int(x * below) for x in stays)), below)
        steps = np.array([int(x / self.unit) for x in lattice.stays], dtype=np.int64)
        size = len(lattice.stays)
        chances = sparse_rates(lattice.chances) if size else sparse.csr_matrix((0, 0))
        observed = np.array([[float(q) for q in kind] for kind in lattice.observed]).reshape(-1, max(size, 1))
        self._groups: list[tuple[int, Any, Any, Vector]] = []
        for step in np.unique(steps):
            members = np.flatnonzero(steps == step)
            self._groups.append((int(step), members, sparse.csr_matrix(chances[members].T), observed[:, members]))
        longest = int(steps.max(initial=1))
        self._coming = [np.zeros(size) for _ in range(longest + 1)]
        self._seen = [np.zeros(len(observed)) for _ in range(longest + 1)]
        self._coming[0] = np.array([float(x) for x in lattice.start])
        self._by: list[Vector] = []
        self._per_instant = (int(np.diff(sparse.csr_matrix(chances.T).indptr).max(initial=0)) + 4) * _UNIT
        self._at_first = (size + 8) * _UNIT

    def by(self, kind: int, instants: int) -> tuple[float, float]:
        if instants < 0:
            return 0.0, 0.0
        while len(self._by) <= instants:
            self._go_on()
        return float(self._by[instants][kind]), instants * self._per_instant + self._at_first

    def _go_on(self) -> None:
        """Everybody who enters a state at this instant will leave it when its time is over."""
        now = len(self._by)
        around = len(self._coming)
        here, seen = self._coming[now % around], self._seen[now % around]
        self._by.append(seen if now == 0 else self._by[-1] + seen)
        self._coming[now % around] = np.zeros(len(here))
        self._seen[now % around] = np.zeros(len(seen))
        if here.any():
            for step, members, chances, observed in self._groups:
                mass = here[members]
                self._coming[(now + step) % around] += chances @ mass
                self._seen[(now + step) % around] += observed @ mass
