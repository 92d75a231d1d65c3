"""Stationary vectors in doubles: which method suits a matrix, and a bound on the error of what it gives."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serq.base.errors import LimitError
from serq.semantics import aggregation, banded, sparse
from serq.semantics.error_bound import bound
from serq.semantics.generator import matrix_order

Vector = NDArray[np.float64]
Levels = NDArray[np.int64]

LARGEST_LU = 1_000_000
WIDEST_LU = 15_000
"""Half bandwidth up to which a factorisation ends within minutes: its work grows with the cube of the fill."""
_BAND_SECONDS = 3.0
_BAND_BYTES = 1e9
_LATTICE = 4
"""Width^2 / states up to which a factorisation is quick: that of a lattice of two dimensions is 2."""


@dataclass(frozen=True)
class Found:
    """A vector of mass 1, and what found it. `times`: the mean times until the state `target` is hit, roughly, where
    the method has them.
    """

    vector: Vector
    method: str
    times: Vector | None = None
    target: int = 0


def find_vector(rates: Any, method: str, levels: Levels | None) -> Found:
    """The stationary vector of an irreducible chain from its CSR rates, by the method or by the one that suits best.

    Raises LimitError where the method is not affordable, ArithmeticError when the vector is beyond double precision.
    """
    order, width = matrix_order(rates)
    size = rates.shape[0]
    affordable = banded.cost(size, width) <= _BAND_SECONDS and banded.memory(size, width) <= _BAND_BYTES
    if method == "gth" and not affordable:
        raise LimitError(f"{size} recurrent states of half bandwidth {width} are too many for state elimination")
    if affordable and method in ("auto", "direct", "gth"):
        return _in_band(rates, order, width)
    steps = None if levels is None else np.unique(levels, return_inverse=True)
    usable = steps is not None and 1 < len(steps[0]) <= aggregation.MOST_LEVELS
    if method == "levels" and not usable:
        raise LimitError("the chain has no levels to aggregate, or too many")
    if steps is not None and usable and (method == "levels" or (method == "auto" and width**2 > _LATTICE * size)):
        return _by_levels(rates, np.asarray(steps[1], dtype=np.int64).ravel())
    if size > LARGEST_LU or width > WIDEST_LU:
        raise LimitError(
            f"the chain has {size} recurrent states of half bandwidth {width}; the factorisation goes to {LARGEST_LU} "
            f"states and a half bandwidth of {WIDEST_LU}, state elimination further where the band is narrow"
        )
    vector, times, target = sparse.solve(rates)
    return Found(vector, "sparse LU with one refinement, doubles", times, target)


def _in_band(rates: Any, order: NDArray[np.int64], width: int) -> Found:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    coo = rates.tocoo()
    moved = type(coo)((coo.data, (place[coo.row], place[coo.col])), shape=coo.shape)
    vector = np.empty(len(order))
    vector[order] = banded.solve(moved, width)
    return Found(vector, f"state elimination in a band of {width} (GTH), doubles")


def _by_levels(rates: Any, levels: Levels) -> Found:
    vector, rounds = aggregation.solve(rates, levels)
    target = int(np.argmax(vector))
    times = aggregation.hitting_times(rates, levels, vector, target)
    size = int(levels.max()) + 1
    return Found(vector, f"aggregation over {size} levels, {rounds} rounds, doubles", times, target)


def error_of(rates: Any, vector: Vector, found: Found) -> float | None:
    """A bound on the sum of the absolute errors of the vector, None where none is proved."""
    size = len(vector)
    if size == 1:
        return 0.0
    if found.times is not None:
        return bound(rates, vector, found.times, found.target)
    target = int(np.argmax(vector))
    times = sparse.hitting_times(rates, target)
    return None if times is None else bound(rates, vector, times, target)
