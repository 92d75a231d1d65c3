"""A bound on the error of a stationary vector in doubles: proved from the vector, whoever computed it.

Let r be a state, A the generator without r, negated. If v >= 0 satisfies A v >= c > 0 everywhere, then the rows of the
inverse of A have sums at most v / c, because A is an M-matrix; and if x balances up to the flows d, it differs from the
stationary vector by at most 2 |d| v / c in total (the factor 2 is for the normalisation). v is any approximation of the
mean times until r is hit: the inequality is checked, not believed. (Rump, Acta Numerica 19, 2010, section 10, for the
M-matrix argument.)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_UNIT = 2.0**-53
_ROUNDINGS_OF_A_RATE = 6
"""Roundings between a rational rate and its double, parallel transitions added up included."""


def imbalance(rates: Any, vector: Vector) -> Vector:
    """Per state, the most by which inflow and outflow can differ, for the rational rates behind these doubles."""
    exits = np.asarray(rates.sum(axis=1)).ravel()
    inflow = rates.T.tocsr()
    into, out = inflow @ vector, exits * vector
    terms = np.maximum(np.diff(inflow.indptr), np.diff(rates.indptr))
    rounding = (terms + 4 + _ROUNDINGS_OF_A_RATE) * _UNIT * (into + out)
    return np.asarray(np.abs(into - out) + rounding)


def bound(rates: Any, vector: Vector, times: Vector, target: int) -> float | None:
    """A bound on the sum of the absolute errors of a vector of mass 1; None when the times prove nothing."""
    exits = np.asarray(rates.sum(axis=1)).ravel()
    times = np.maximum(times, 0.0)
    times[target] = 0.0
    away = rates @ times
    terms = np.diff(rates.indptr) + 4 + _ROUNDINGS_OF_A_RATE
    drift = exits * times - away - 2 * terms * _UNIT * (exits * times + away)
    drift[target] = np.inf
    least = float(drift.min())
    if not least > 0 or not np.isfinite(times).all():
        return None
    total = 2.0 * float(imbalance(rates, vector) @ times) / least
    slack = 2.0 * abs(float(vector.sum()) - 1.0) + 8 * _UNIT
    return float(np.nextafter(total * (1 + 1e-9) + slack, np.inf))
