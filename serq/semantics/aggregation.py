"""Stationary vectors of large chains by iterative aggregation and disaggregation.

Gauss-Seidel sweeps even out what is near; what they are slow at is the mass of far apart levels, which the chain
aggregated over levels gives at once, by state elimination and so without regard to stiffness (Takahashi 1975; Koury,
McAllister and Stewart, SIAM J. Alg. Disc. Meth. 5, 1984).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as dense
import scipy.sparse as sparse
from numpy.typing import NDArray

from serq.semantics.compiled_sweeps import Sweeper

Vector = NDArray[np.float64]
Levels = NDArray[np.int64]

MOST_LEVELS = 2000
_ROUNDS = 5000
_SWEEPS = 2
_STILL = 3e-15
"""Change of the vector in one round, relative to it, at which nothing is left but rounding."""
_STUCK = 40
"""Rounds without a smaller change after which rounding is all that is left."""
_CONVERGED = 1e-11
_LEAST = 1e-200
"""Mass that a level is left with: what is within it must not be lost where it is too rare for a double."""


@dataclass(frozen=True)
class Aggregation:
    """A chain and a level for each of its states, numbered from 0, none left out."""

    rates: Any
    levels: Levels

    @property
    def size(self) -> int:
        """Number of levels."""
        return int(self.levels.max()) + 1

    def aggregated(self, vector: Vector) -> Vector:
        """The rates between levels, dense, when the states within each level are as likely as the vector says."""
        mass = np.bincount(self.levels, weights=vector, minlength=self.size)
        coo = self.rates.tocoo()
        above, below = self.levels[coo.row], self.levels[coo.col]
        other = above != below
        flow = vector[coo.row[other]] * coo.data[other]
        shape = (self.size, self.size)
        matrix = sparse.coo_matrix((flow, (above[other], below[other])), shape=shape).toarray()
        return np.asarray(matrix / mass[:, None])


def solve(rates: Any, levels: Levels) -> tuple[Vector, int]:
    """The stationary vector of an irreducible chain from its CSR rates, and the number of rounds it took.

    Raises ArithmeticError when the rounds do not converge.
    """
    n = rates.shape[0]
    exits = np.asarray(rates.sum(axis=1)).ravel()
    sweeper = Sweeper(rates.T.tocsr(), exits)
    aggregation = _Repeated(Aggregation(rates, levels))
    vector = np.full(n, 1.0 / n)
    least, since = np.inf, 0
    for round_ in range(1, _ROUNDS + 1):
        vector = aggregation.rescaled(vector)
        before = vector.copy()
        for _ in range(_SWEEPS):
            sweeper.sweep(vector)
        vector /= vector.sum()
        change = float(np.abs(vector - before).sum())
        if not np.isfinite(change):
            break
        since = 0 if change < 0.9 * least else since + 1
        least = min(least, change)
        if change <= _STILL or (since >= _STUCK and change <= _CONVERGED):
            return vector, round_
    raise ArithmeticError(f"{_ROUNDS} rounds of aggregation do not converge")


class _Repeated:
    """The aggregation step, with what does not change from round to round worked out once."""

    def __init__(self, aggregation: Aggregation) -> None:
        coo = aggregation.rates.tocoo()
        above, below = aggregation.levels[coo.row], aggregation.levels[coo.col]
        other = above != below
        self._size = aggregation.size
        self._levels = aggregation.levels
        self._rows, self._data = coo.row[other], coo.data[other]
        self._cells = above[other] * self._size + below[other]

    def rescaled(self, vector: Vector) -> Vector:
        """The vector, its levels given the masses that the aggregated chain has."""
        size = self._size
        mass = np.bincount(self._levels, weights=vector, minlength=size)
        flow = np.bincount(self._cells, weights=vector[self._rows] * self._data, minlength=size * size)
        right = np.maximum(_eliminated(flow.reshape(size, size) / mass[:, None]), _LEAST)
        out: Vector = vector * (right / mass)[self._levels]
        return out


def _eliminated(rates: Vector) -> Vector:
    """The stationary vector of a small dense chain by state elimination."""
    n = len(rates)
    rates = rates.copy()
    np.fill_diagonal(rates, 0.0)
    for k in range(n - 1, 0, -1):
        total = rates[k, :k].sum()
        if not total > 0:
            raise ZeroDivisionError(f"level {k} has no way down")
        rates[:k, k] /= total
        some = np.nonzero(rates[:k, k])[0]
        rates[some, :k] += np.multiply.outer(rates[some, k], rates[k, :k])
    out = np.zeros(n)
    out[0] = 1.0
    for k in range(1, n):
        out[k] = out[:k] @ rates[:k, k]
        if out[k] > 1e200:
            out /= out[k]
    result: Vector = out / out.sum()
    return result


def hitting_times(rates: Any, levels: Levels, vector: Vector, target: int, accuracy: float = 0.25) -> Vector | None:
    """Times that are at least (1 - accuracy) times, and near, the mean times until the target is hit.

    Gauss-Seidel with a coarse correction by levels, the adjoint of `solve`. None when it does not converge.
    """
    n = rates.shape[0]
    free = np.arange(n) != target
    exits = np.asarray(rates.sum(axis=1)).ravel()
    sweeper = Sweeper(rates, np.where(free, exits, 0.0))
    weight = np.where(free, np.maximum(vector, 1e-300), 0.0)
    used, coarse_levels = np.unique(levels[free], return_inverse=True)
    coarse = _Coarse(rates, exits, weight, free, coarse_levels, len(used))
    times = np.zeros(n)
    for _ in range(_ROUNDS // 10):
        left = np.where(free, 1.0 - (exits * times - rates @ times), 0.0)
        if float(np.abs(left).max()) <= accuracy:
            return times
        times[free] += coarse.correction(left)
        times[target] = 0.0
        for _ in range(_SWEEPS):
            sweeper.sweep(times, 1.0)
        if not np.isfinite(times).all():
            return None
    return None


class _Coarse:
    """Hitting times of the aggregated chain, for what is left of the equations."""

    def __init__(
        self, rates: Any, exits: Vector, weight: Vector, free: NDArray[np.bool_], levels: Levels, size: int
    ) -> None:
        coo = rates.tocoo()
        inner = free[coo.row] & free[coo.col]
        place = np.cumsum(free) - 1
        rows, columns = levels[place[coo.row[inner]]], levels[place[coo.col[inner]]]
        matrix = np.diag(np.bincount(levels, weights=(weight * exits)[free], minlength=size))
        np.add.at(matrix, (rows, columns), -weight[coo.row[inner]] * coo.data[inner])
        scale = matrix.diagonal().copy()
        self._scale = np.where(scale > 0, scale, 1.0)
        self._factors = dense.lu_factor(matrix / self._scale[:, None])
        self._weight, self._free, self._levels, self._size = weight[free], free, levels, size

    def correction(self, left: Vector) -> Vector:
        """What to add in each free state."""
        sums = np.bincount(self._levels, weights=self._weight * left[self._free], minlength=self._size)
        out: Vector = dense.lu_solve(self._factors, sums / self._scale)[self._levels]
        return out
