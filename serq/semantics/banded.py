"""Stationary vectors in doubles by state elimination in a band: no subtraction, so stiffness does no harm.

The relative error of every single probability stays near the rounding error times the size, whatever the rates are
(O'Cinneide, Numerische Mathematik 65, 1993). A full matrix is a band as wide as the chain.
"""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from serq.semantics.compiled_sweeps import compiled

Vector = NDArray[np.float64]

_FAR = 1e150
"""Weights are rescaled when they leave [1/_FAR, _FAR]: a long chain spans more than the range of a double."""


_COMPILED = 64
"""Half bandwidth up to which the compiled loops beat NumPy's."""


def cost(size: int, width: int) -> float:
    """Roughly the seconds that `solve` takes: a step per state, each over a square of the band's width."""
    return size * (2e-8 + 1e-9 * width * width if width <= _COMPILED else 2e-5 + 2e-9 * width * width)


def memory(size: int, width: int) -> float:
    """The bytes that `solve` needs."""
    return 8.0 * size * (2 * width + 1)


def solve(rates: Any, width: int) -> Vector:
    """The stationary vector of an irreducible chain from its CSR rates, whose half bandwidth is `width`.

    Grassmann, Taksar and Heyman, Operations Research 33 (1985). Raises ZeroDivisionError when a state cannot go
    to an earlier one directly or through later ones: the chain is reducible, or a rate has underflowed.
    """
    n = rates.shape[0]
    if n == 1:
        return np.ones(1)
    band = _Band(rates, width)
    if width <= _COMPILED:
        return _compiled(band, n, width)
    for k in range(n - 1, 0, -1):
        low = max(0, k - width)
        down = band.row(k, low)
        total = down.sum()
        if not total > 0:
            raise ZeroDivisionError(f"state {k} has no way down")
        share = band.column(k, low)
        share /= total
        band.square(low, k)[...] += np.multiply.outer(share, down)
    return _back(band, n, width)


def _compiled(band: "_Band", n: int, width: int) -> Vector:
    loops = compiled()
    stuck = loops.call("eliminate", band.flat, n, width)
    if stuck:
        raise ZeroDivisionError(f"state {stuck} has no way down")
    weights, powers = np.zeros(n), np.zeros(n, dtype=np.int64)
    loops.call("weights", band.flat, n, width, weights, powers, _FAR)
    return _normalised(weights, powers)


def _normalised(weights: Vector, powers: NDArray[np.int64]) -> Vector:
    vector: Vector = np.ldexp(weights, np.maximum(powers - powers.max(), -5000))
    vector /= vector.sum()
    return vector


class _Band:
    """The entries (i, j) with |i - j| <= width of a matrix, as one flat array in which every block is a view."""

    def __init__(self, rates: Any, width: int) -> None:
        n = rates.shape[0]
        self.width = width
        self.flat = np.zeros(n * (2 * width + 1))
        coo = rates.tocoo()
        np.add.at(self.flat, self._at(coo.row.astype(np.int64), coo.col.astype(np.int64)), coo.data)

    def _at(self, i: Any, j: Any) -> Any:
        return i * 2 * self.width + j + self.width

    def row(self, k: int, low: int) -> Vector:
        """Entries (k, low..k-1), a view."""
        return self.flat[self._at(k, low) : self._at(k, k)]

    def column(self, k: int, low: int) -> Vector:
        """Entries (low..k-1, k), a view."""
        return self.flat[self._at(low, k) : self._at(k, k) : 2 * self.width]

    def square(self, low: int, k: int) -> Vector:
        """Entries (low..k-1, low..k-1), a view; the diagonal gathers what nobody reads."""
        step = self.flat.itemsize
        start = self.flat[self._at(low, low) :]
        return as_strided(start, shape=(k - low, k - low), strides=(2 * self.width * step, step))


def _back(band: _Band, n: int, width: int) -> Vector:
    """The weights from the shares: each state's weight from the earlier ones, rescaled by powers of two as needed."""
    weights = np.zeros(n)
    powers = np.zeros(n, dtype=np.int64)
    weights[0] = 1.0
    power = 0
    for k in range(1, n):
        low = max(0, k - width)
        weight = float(weights[low:k] @ band.column(k, low))
        weights[k] = weight
        powers[k] = power
        if not 1 / _FAR < weight < _FAR:
            still_read = slice(max(0, k + 1 - width), k + 1)
            top = int(np.frexp(weights[still_read].max())[1])
            weights[still_read] = np.ldexp(weights[still_read], -top)
            powers[still_read] += top
            power += top
    return _normalised(weights, powers)
