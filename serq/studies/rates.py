"""How a number depends on a constant, from its exact values at a few nearby constants.

Rates of a program are mostly rational functions of low degree of each constant (mu, 1/Z, p(1-q)/m). Such a function
through the points is found exactly and its derivative is exact; any other is replaced by the polynomial through the
points, whose derivative is right to many more digits than a double has, since nothing is rounded and the points are
near (G. M. Phillips, Interpolation and Approximation by Polynomials (2003), section 1.1).
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

POINTS = 7
_NEAR = Fraction(1, 2**16)
_ROUGH = Fraction(1, 10**6)


def points_at(value: Fraction) -> tuple[Fraction, ...]:
    """The value itself and others next to it, as large as it or smaller, so that a probability of 1 stays one."""
    step = abs(value) * _NEAR or _NEAR
    return tuple(value - step * k if value > 0 else value + step * k for k in range(POINTS))


class Slopes:
    """The derivatives at the first of the points of functions known at all of them."""

    def __init__(self, points: Sequence[Fraction]) -> None:
        self._points = tuple(points)
        self._known: dict[tuple[Fraction, ...], tuple[Fraction, bool]] = {}
        self.is_exact = True
        """Whether every function so far was rational of low degree."""
        self.is_rough = False
        """Whether some function is known so roughly that fewer points say something else."""

    def of(self, values: Sequence[Fraction]) -> Fraction:
        """The derivative of the function with these values."""
        key = tuple(values)
        if key.count(key[0]) == len(key):
            return Fraction(0)
        if key not in self._known:
            self._known[key] = _slope(self._points, key)
        slope, exact = self._known[key]
        self.is_exact = self.is_exact and exact
        self.is_rough = self.is_rough or (not exact and self._wavers(key, slope))
        return slope

    def _wavers(self, values: tuple[Fraction, ...], slope: Fraction) -> bool:
        fewer = slice(0, POINTS - 2)
        other = _polynomial_slope(self._points[fewer], _differences(self._points[fewer], values[fewer]))
        return abs(other - slope) > _ROUGH * abs(slope)


def _slope(points: tuple[Fraction, ...], values: tuple[Fraction, ...]) -> tuple[Fraction, bool]:
    """The derivative, and whether the function is certainly the one that was found."""
    differences = _differences(points, values)
    if not any(differences[-2:]):
        return _polynomial_slope(points, differences), True
    if all(values):
        inverse = _differences(points, tuple(1 / v for v in values))
        if not any(inverse[-2:]):
            return -_polynomial_slope(points, inverse) * values[0] ** 2, True
    found = _quotient(points, values)
    return (_polynomial_slope(points, differences), False) if found is None else (found, True)


def _differences(points: tuple[Fraction, ...], values: tuple[Fraction, ...]) -> list[Fraction]:
    """Newton's divided differences."""
    column, out = list(values), [values[0]]
    for order in range(1, len(points)):
        column = [(b - a) / (points[i + order] - points[i]) for i, (a, b) in enumerate(pairwise(column))]
        out.append(column[0])
    return out


def _polynomial_slope(points: tuple[Fraction, ...], differences: list[Fraction]) -> Fraction:
    """The derivative of Newton's polynomial at the first point."""
    slope, product = Fraction(0), Fraction(1)
    for order in range(1, len(points)):
        slope += differences[order] * product
        product *= points[0] - points[order]
    return slope


_DEGREE = 2


def _quotient(points: tuple[Fraction, ...], values: tuple[Fraction, ...]) -> Fraction | None:
    """The derivative of p/q of degrees up to 2 that goes through all points; None when there is none.

    With t = x - x_0: p_0 + p_1 t + p_2 t^2 - v (q_1 t + q_2 t^2) = v, more equations than unknowns.
    """
    rows = []
    for x, v in zip(points, values, strict=True):
        t = x - points[0]
        rows.append([*(t**k for k in range(_DEGREE + 1)), *(-v * t**k for k in range(1, _DEGREE + 1)), v])
    solution = _solved(rows)
    if solution is None:
        return None
    return solution[1] - values[0] * solution[_DEGREE + 1]


def _solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """A solution of the equations, free unknowns 0; None when they contradict each other."""
    unknowns = len(rows[0]) - 1
    done = 0
    pivots = []
    for column in range(unknowns):
        pivot = next((i for i in range(done, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        rows[done] = [x / rows[done][column] for x in rows[done]]
        for i, row in enumerate(rows):
            if i != done and row[column]:
                rows[i] = [x - row[column] * y for x, y in zip(row, rows[done], strict=True)]
        pivots.append(column)
        done += 1
    if any(row[-1] for row in rows[done:]):
        return None
    out = [Fraction(0)] * unknowns
    for i, column in enumerate(pivots):
        out[column] = rows[i][-1]
    return out
