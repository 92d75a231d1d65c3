"""Does a chain stay in one of two conditions for a time that is long against everything else that it does?

The eigenvalue of the generator next to 0 is the rate at which the slowest difference dies out; if the one after it is
far away, there are two conditions between which the chain rarely switches, and the signs of the eigenvector tell them
apart (P. Deuflhard, W. Huisinga, A. Fischer, C. Schuette, Lin. Alg. Appl. 315 (2000); E. B. Davies, Proc. London Math.
Soc. 45 (1982)). Two modes of a histogram prove nothing: the chain may wander freely between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from serq.ir.expr import Number, double
from serq.semantics.first_passage import mean_times, weighted
from serq.semantics.generator import Rows
from serq.semantics.spectrum import Vector, slowest

GAP = 8.0
"""How much faster than the slowest difference the next one must die out: what counts as two conditions is a choice."""
LIGHTEST = 0.01
"""The stationary probability that each condition must have."""
_TIE = 1e-9
"""Relative: two probabilities of the marginal that are no farther apart may be equal."""

Verdict = Literal["bistable", "bimodal, not bistable", "one condition"]


@dataclass(frozen=True, slots=True)
class Metastability:
    """The verdict and what it rests on.

    `rates`: the smallest eigenvalues of -Q after 0, real parts; each is off by its entry of `bounds` at most, which is
    `proved`, or else an estimate. `basins`: the stationary probabilities of the two sign
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
    bounds: tuple[float, ...]
    proved: bool

    @property
    def relaxation(self) -> float:
        """The time after which the slowest difference has died out to 1/e."""
        return 1 / self.rates[0] if self.rates else 0.0

    @property
    def gap(self) -> float | None:
        """How much faster the second slowest difference dies out than the slowest; None when there is no second."""
        return self.rates[1] / self.rates[0] if len(self.rates) > 1 else None

    @property
    def relaxation_bound(self) -> float:
        """By how much `relaxation` may be off, as the bounds of the rates have it."""
        return self.relaxation * _relative(self.rates[:1], self.bounds)

    @property
    def gap_bound(self) -> float | None:
        """By how much `gap` may be off; None when there is no gap."""
        return None if self.gap is None else self.gap * _relative(self.rates[:2], self.bounds)


def _relative(rates: Sequence[float], bounds: Sequence[float]) -> float:
    """By what part of itself a quotient of rates may be off: x / (1 - x), x the sum of what each of them may be."""
    each = sum(bound / rate for rate, bound in zip(rates, bounds, strict=False))
    return each / (1 - each)


def metastability(rows: Rows, probabilities: Sequence[Number], number: Sequence[int]) -> Metastability:
    """The verdict on an irreducible chain with this stationary vector; `number` is looked at in every state."""
    pi, n = np.array([double(p) for p in probabilities]), np.array(number)
    found = slowest(rows, pi)
    rates, side = found.rates, found.vector > 0
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
    return Metastability(verdict, rates, basins, modes, tuple(marginal.tolist()), switching, found.bounds, found.proved)


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
