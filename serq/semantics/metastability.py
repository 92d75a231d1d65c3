"""Does a chain stay in one of two conditions for a time that is long against everything else that it does?

The eigenvalue of the generator next to 0 is the rate at which the slowest difference dies out; if the one after it is
far away, there are two conditions between which the chain rarely switches, and the signs of the eigenvector tell them
apart (P. Deuflhard, W. Huisinga, A. Fischer, C. Schuette, Lin. Alg. Appl. 315 (2000); E. B. Davies, Proc. London Math.
Soc. 45 (1982)). Two modes of a histogram prove nothing: the chain may wander freely between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg
from numpy.typing import NDArray

from serq.base.errors import LimitError
from serq.ir.expr import Number, double
from serq.semantics.first_passage import mean_times, weighted
from serq.semantics.generator import Rows, sparse_rates

Vector = NDArray[np.float64]

GAP = 8.0
"""How much faster than the slowest difference the next one must die out: what counts as two conditions is a choice."""
LIGHTEST = 0.01
"""The stationary probability that each condition must have."""
_DENSE = 300
_WANTED = 6
_ACCURACY = 1e-8
_TIE = 1e-9
"""Relative: two probabilities of the marginal that are no farther apart may be equal."""

Verdict = Literal["bistable", "bimodal, not bistable", "one condition"]


@dataclass(frozen=True, slots=True)
class Metastability:
    """The verdict and what it rests on.

    `rates`: the smallest eigenvalues of -Q after 0, real parts. `basins`: the stationary probabilities of the two sign
    classes of the second eigenvector, that of the smaller numbers first. `modes` of the marginal of the number, the
    lowest number of each plateau.
    `switching`: mean times from the lowest mode (and below) to the highest (and above), and back; None with one mode.
    """

    verdict: Verdict
    rates: tuple[float, ...]
    basins: tuple[float, float]
    modes: tuple[int, ...]
    marginal: tuple[float, ...]
    switching: tuple[float, float] | None

    @property
    def relaxation(self) -> float:
        """The time after which the slowest difference has died out to 1/e."""
        return 1 / self.rates[0] if self.rates else 0.0

    @property
    def gap(self) -> float | None:
        """How much faster the second slowest difference dies out than the slowest; None when there is no second."""
        return self.rates[1] / self.rates[0] if len(self.rates) > 1 else None


def metastability(rows: Rows, probabilities: Sequence[Number], number: Sequence[int]) -> Metastability:
    """The verdict on an irreducible chain with this stationary vector; `number` is looked at in every state."""
    pi, n = np.array([double(p) for p in probabilities]), np.array(number)
    rates, vector = slowest(rows, pi)
    side = vector > 0
    fewer, more = sorted((side, ~side), key=lambda s: float((pi * n)[s].sum() / max(pi[s].sum(), 1e-300)))
    basins = float(pi[fewer].sum()), float(pi[more].sum())
    marginal: Vector = np.bincount(n, weights=pi).astype(float)
    modes = _modes(marginal)
    switching = None
    if len(modes) > 1:
        low, high = (np.flatnonzero(n <= modes[0]).tolist(), np.flatnonzero(n >= modes[-1]).tolist())
        there, back = ((low, high), (high, low))
        switching = (_switching(rows, probabilities, *there), _switching(rows, probabilities, *back))
    gap = rates[1] / rates[0] if len(rates) > 1 else 0.0
    bistable = gap >= GAP and min(basins) >= LIGHTEST
    verdict: Verdict = "bistable" if bistable else "bimodal, not bistable" if len(modes) > 1 else "one condition"
    return Metastability(verdict, rates, basins, modes, tuple(marginal.tolist()), switching)


def _switching(rows: Rows, probabilities: Sequence[Number], source: list[int], target: list[int]) -> float:
    """The mean time from one set of states, as likely as they are, to another."""
    return double(weighted(mean_times(rows, target), probabilities, source))


def _modes(marginal: Vector) -> tuple[int, ...]:
    """The local maxima: of neighbours that are equal, and higher than what is on both their sides, the lowest."""
    tops: list[float] = []
    starts: list[int] = []
    for i, x in enumerate(marginal.tolist()):
        if not tops or abs(x - tops[-1]) > _TIE * max(x, tops[-1]):
            tops.append(x)
            starts.append(i)
    padded = [-1.0, *tops, -1.0]
    return tuple(i for k, i in enumerate(starts) if padded[k] < padded[k + 1] > padded[k + 2])


def slowest(rows: Rows, pi: Vector) -> tuple[tuple[float, ...], Vector]:
    """The smallest eigenvalues of -Q after 0 (real parts, ascending), and the right eigenvector of the first of them.

    LimitError when they are not found to _ACCURACY.
    """
    rates = sparse_rates(rows)
    generator = (rates - sparse.diags(np.asarray(rates.sum(axis=1)).ravel())).tocsc()
    size = len(rows)
    if size == 1:
        return (), np.ones(1)
    values, vectors = _dense(generator) if size <= _DENSE else _near_zero(generator, pi)
    order = np.argsort(-values.real)[1:]
    first = order[0]
    vector: Vector = np.ascontiguousarray(vectors[:, first].real)
    off = np.abs(generator @ vectors[:, first] - values[first] * vectors[:, first]).max()
    if off > _ACCURACY * np.abs(generator.diagonal()).max() * np.abs(vectors[:, first]).max():
        raise LimitError("the eigenvalues next to 0 were not found to enough digits")
    return tuple(float(-values[i].real) for i in order[: _WANTED - 1]), vector


def _dense(generator: Any) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    values, vectors = np.linalg.eig(generator.toarray())
    return values.astype(complex), vectors.astype(complex)


def _near_zero(generator: Any, pi: Vector) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """By Arnoldi iteration on the deviation matrix, whose eigenvalues are 0 and the -1 / lambda.

    The wanted ones are the largest, and 0 is in nobody's way. It always begins with the same vector.
    """
    size = generator.shape[0]
    reference = int(np.argmax(pi))
    others = np.delete(np.arange(size), reference)
    try:
        factors = linalg.splu(-generator[others][:, others].tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)
    except RuntimeError as error:
        raise LimitError(f"the deviation matrix is beyond double precision: {error}") from error

    def bias(reward: Vector) -> Vector:
        g = np.zeros(size)
        g[others] = factors.solve((reward - pi @ reward)[others])
        return np.asarray(g - pi @ g)

    operator = linalg.LinearOperator((size, size), matvec=bias, dtype=float)
    start = np.random.default_rng(1).standard_normal(size)
    try:
        inverse, vectors = linalg.eigs(operator, k=_WANTED - 1, which="LM", v0=start)
    except linalg.ArpackError as error:
        raise LimitError(f"the eigenvalues next to 0 were not found: {error}") from error
    values = np.concatenate(([0.0], -1 / inverse))
    return values, np.column_stack((np.ones(size), vectors))
