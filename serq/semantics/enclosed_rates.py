"""The slow eigenvalues of a generator of rationals, proved: each in an interval that leaves a double no choice.

Where a chain falls into parts that are almost on their own, the eigenvalue next to 0 is far below the rounding error of
the others, and what doubles say of it is noise. Here all eigenvalues are enclosed in balls (J. van der Hoeven,
B. Mourrain, Efficient certification of numeric solutions to eigenproblems, MACIS 2017), with ever more bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import acb_mat, arb, arb_mat
from numpy.typing import NDArray

from serq.base.errors import LimitError
from serq.semantics.balls import balls, enclosure, flint, working_bits
from serq.semantics.generator import Rows

_BITS = (128, 256, 512)
_ENOUGH = Fraction(1, 2**54)
"""Relative width of an interval that leaves next to no choice of a double."""
_BESIDE = 1 + Fraction(1, 2**40)
"""Where to look for an eigenvector: so near to the eigenvalue that nothing else is left after two steps."""


@dataclass(frozen=True, slots=True)
class EnclosedRates:
    """The smallest eigenvalues of -Q after 0, real parts, ascending, and by how much each double may be off at most.

    `vector`: a right eigenvector of the first of them (approximate); None where that is not real.
    """

    rates: tuple[float, ...]
    bounds: tuple[float, ...]
    vector: NDArray[np.float64] | None


def enclosed_rates(rows: Rows, wanted: int) -> EnclosedRates | None:
    """The `wanted` slowest rates of an irreducible chain; None where they are not told apart from 0 and narrow."""
    table = _generator(rows)
    for bits in _BITS:
        with working_bits(bits):
            matrix = balls(table)
            values = acb_mat(matrix).eig(multiple=True, nonstop=True)
            intervals = _intervals(values)
            if intervals is None or not _narrow(intervals[: wanted + 1]):
                continue
            middles = [(low + high) / 2 for low, high in intervals[1 : wanted + 1]]
            rates = tuple(float(middle) for middle in middles)
            ends = zip(rates, intervals[1 : wanted + 1], strict=True)
            bounds = tuple(_up(max(abs(Fraction(rate) - end) for end in interval)) for rate, interval in ends)
            return EnclosedRates(rates, bounds, _vector(matrix, middles[0]) if _is_real(values, intervals[1]) else None)
    return None


def inverted(rows: Rows) -> NDArray[np.float64]:
    """(-Q + c)^-1 in doubles, each entry right to its last digits; every entry of c is 4 / n of the largest exit rate.

    A rate of Q is the inverse of an eigenvalue of this, but for 0, which has become the largest of all; the left
    eigenvectors are those of Q, whose entries add up to 0. LimitError where the bits do not suffice.
    """
    table = _generator(rows)
    size = len(table)
    constant = -4 * min(table[i][i] for i in range(size)) / size
    for bits in _BITS:
        with working_bits(bits):
            try:
                inverse = balls([[constant - x for x in row] for row in table]).inv()
            except ZeroDivisionError:
                continue
            if all(x.rel_accuracy_bits() >= 53 or abs(x) < 2.0**-bits for x in inverse.entries()):
                return np.array([[float(x) for x in row] for row in inverse.tolist()])
    raise LimitError("the chain falls apart almost completely: its slowest rate was not found from its rationals")


def _generator(rows: Rows) -> list[list[Fraction]]:
    table = [[row.get(j, Fraction(0)) for j in range(len(rows))] for row in rows]
    for i, row in enumerate(rows):
        table[i][i] = -sum(row.values(), Fraction(0))
    return table


def _intervals(values: Sequence[Any]) -> list[tuple[Fraction, Fraction]] | None:
    """Where the k-th smallest real part of an eigenvalue of -Q lies: between the k-th lower and the k-th upper end."""
    try:
        ends = [(-middle - radius, -middle + radius) for middle, radius in (enclosure(v.real) for v in values)]
    except ZeroDivisionError:
        return None
    return list(zip(sorted(low for low, _ in ends), sorted(high for _, high in ends), strict=True))


def _narrow(intervals: Sequence[tuple[Fraction, Fraction]]) -> bool:
    """Whether the first is that of 0 alone, and all others leave no choice."""
    return all(low > 0 and high - low <= _ENOUGH * low for low, high in intervals[1:])


def _is_real(values: Sequence[Any], interval: tuple[Fraction, Fraction]) -> bool:
    """Whether every eigenvalue that may be in the interval may be real."""
    low, high = (arb(flint(end)) for end in interval)
    return all(v.imag.contains(0) for v in values if not (-v.real > high or -v.real < low))


def _vector(matrix: arb_mat, rate: Fraction) -> NDArray[np.float64]:
    """A right eigenvector by two steps of inverse iteration, which always begin with the same vector."""
    size = matrix.nrows()
    shifted = matrix + arb_mat(
        size, size, [arb(flint(rate * _BESIDE)) * int(i % (size + 1) == 0) for i in range(size**2)]
    )
    start = np.random.default_rng(1).standard_normal(size)
    x = arb_mat(size, 1, [arb(float(entry)) for entry in start])
    for _ in range(2):
        x = shifted.solve(x, algorithm="approx")
        largest = max((abs(entry).mid() for entry in x.entries()), key=float)
        x = arb_mat(size, 1, [(entry / largest).mid() for entry in x.entries()])
    return np.array([float(entry) for entry in x.entries()])


def _up(bound: Fraction) -> float:
    """A double that is no smaller."""
    near = float(bound)
    return near if Fraction(near) >= bound else float(np.nextafter(near, np.inf))
