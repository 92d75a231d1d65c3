"""What becomes of an approximation by phases as their number grows.

Erlang laws of k phases that stand for fixed work make an error in proportion to 1 / k (that of the wait in M/D/1 is
exactly W / k), so twice the phases have half of it: the answer at 2 k is off by about its difference from that at k,
and twice the second minus the first is much nearer (L. F. Richardson, Phil. Trans. R. Soc. A 226 (1927)). The
difference is an estimate of the error, not a bound. The answer at k / 2 tells whether differences do halve: where fixed
times keep sessions in step they shrink more slowly. A quantile at which the law has an atom, as where most work is done
at once and takes the fixed time, moves in proportion to 1 / sqrt(k): then twice the second minus the first is off by
sqrt(2) times the difference. Where a measure rises with the variability of the work (the wait at
a fifo stage), the answers are bounds from above (A. Mueller, D. Stoyan, Comparison Methods for Stochastic Models and
Risks (2002), chapter 6).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from serq.ir.chain import Chain, Nearness
from serq.ir.expr import Number, double
from serq.ir.measures import QUANTILES
from serq.ir.results import Estimate

_HALVED = 0.65
"""Differences that shrink to more than this part of themselves are not taken to halve."""
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """A measure with k and with 2 k phases, what they tend to, and how far that may be off (an estimate)."""

    measure: str
    coarse: Number
    fine: Number
    shrinking: float | None = None
    """The last difference as a part of the one before, from k / 2 to k phases; None where that is not known."""

    @property
    def value(self) -> Number:
        """The value for ever more phases, if the error is in proportion to 1 / k."""
        return 2 * self.fine - self.coarse

    @property
    def regular(self) -> bool:
        """Whether differences halve, as they do where the error is in proportion to 1 / k, as far as that is known."""
        return self.shrinking is None or self.shrinking <= _HALVED

    @property
    def error(self) -> float:
        """The difference of the two answers; twice that for quantiles, which may move in proportion to 1 / sqrt(k).

        Where differences d do not halve but shrink to a part r, what all further ones add up to, d r / (1 - r);
        infinite where they do not shrink.
        """
        slow = 2.0 if self.measure.rpartition(".")[2] in QUANTILES else 1.0
        if self.shrinking is not None and not self.regular:
            slow = max(slow, self.shrinking / (1 - self.shrinking)) if self.shrinking < 1 else math.inf
        return slow * abs(double(self.fine) - double(self.coarse))


def stands_in(chain: Chain) -> bool:
    """Whether phases stand in the chain for work that is not phase-type."""
    return chain.has(Nearness.PHASES)


def extrapolate(
    coarse: Sequence[Estimate], fine: Sequence[Estimate], coarser: Sequence[Estimate] = ()
) -> tuple[Extrapolation, ...]:
    """The measures that have a value with k phases and with 2 k, in the order of the first; `coarser`: with k / 2."""
    before = {e.measure: e.value for e in coarser}
    finer = {e.measure: e.value for e in fine}
    out = []
    for estimate in coarse:
        value = finer.get(estimate.measure)
        if estimate.value is not None and value is not None:
            out.append(
                Extrapolation(
                    estimate.measure,
                    estimate.value,
                    value,
                    _shrinking(before.get(estimate.measure), estimate.value, value),
                )
            )
    return tuple(out)


def _shrinking(coarser: Number | None, coarse: Number, fine: Number) -> float | None:
    """The size of the last difference as a part of the one before; None where they are next to nothing."""
    if coarser is None:
        return None
    first, last = (abs(double(b) - double(a)) for a, b in ((coarser, coarse), (coarse, fine)))
    if last <= _NOTHING * abs(double(fine)):
        return None
    return last / first if first else math.inf
