"""Sums over a Poisson number of steps: how a chain in continuous time is computed from one in discrete time.

A. Jensen, Skand. Aktuarietidskr. 36 (1953); D. Gross, D. R. Miller, Oper. Res. 32 (1984). Nothing is subtracted, so
rounding makes no more than a small relative error; what is left out is bounded by the Poisson tails.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, pdtr, pdtrc

from serq.base.errors import LimitError

Vector = NDArray[np.float64]

MOST_STEPS = 2_000_000
_LEFT_OUT = 1e-16
"""Probability of the Poisson numbers that are left out at either end."""
_UNIT = 2.0**-53


@dataclass(frozen=True, slots=True)
class Weights:
    """Poisson probabilities of `first`, `first` + 1, ...; `tail` is that of all other numbers together."""

    first: int
    values: Vector
    tail: float


def poisson_weights(mean: float) -> Weights:
    """The Poisson probabilities that matter. LimitError when there are too many of them."""
    if mean == 0.0:
        return Weights(0, np.ones(1), 0.0)
    spread = 9.0 * mean**0.5 + 45.0
    last = mean + spread
    if last > MOST_STEPS:
        raise LimitError(
            f"uniformisation takes {last:.3g} steps, more than {MOST_STEPS}: the chain is too stiff for it; far "
            "beyond what the chain remembers its steady state is the answer (`serq solve`)"
        )
    first = max(0, int(mean - spread))
    numbers = np.arange(first, int(last) + 1)
    values = np.exp(numbers * np.log(mean) - mean - gammaln(numbers + 1))
    values *= 1.0 / max(values.sum(), 1.0)
    below = float(pdtr(first - 1, mean)) if first else 0.0
    return Weights(first, values, below + float(pdtrc(int(last), mean)) + _LEFT_OUT)


class Steps:
    """The numbers alpha P^k v for k = 0, 1, ..., made as far as they are asked for; alpha and v are not negative.

    `matrix` is the transpose of P in CSR form; a row of P adds up to 1 at most. `values(k)` has shape (k + 1,).
    """

    def __init__(self, alpha: Vector, matrix: Any, v: Vector) -> None:
        self._row = np.array(alpha)
        self._matrix = matrix
        self._v = v
        self._known: list[float] = []
        most = int(np.diff(matrix.indptr).max(initial=0))
        self._error_per_step = (most + 2) * _UNIT
        self._error_of_product = (len(v) + 2) * _UNIT

    def values(self, last: int) -> Vector:
        """The numbers up to step `last`."""
        while len(self._known) <= last:
            self._known.append(float(self._row @ self._v))
            self._row = self._matrix @ self._row
        return np.array(self._known[: last + 1])

    def error(self, last: int) -> float:
        """A bound on the relative error by rounding of each of the numbers up to step `last`."""
        return last * self._error_per_step + self._error_of_product

    def mixed(self, mean: float) -> tuple[float, float]:
        """The sum over k of the Poisson probability of k times alpha P^k v, and a bound on its error.

        P v <= v must hold: then the numbers only fall, and the first of them bounds what is left out.
        """
        weights = poisson_weights(mean)
        last = weights.first + len(weights.values) - 1
        numbers = self.values(last)
        value = float(weights.values @ numbers[weights.first :])
        rounding = self.error(last) + (len(weights.values) + 40) * _UNIT
        return value, value * rounding + weights.tail * float(numbers[0])
