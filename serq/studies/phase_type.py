"""What becomes of an approximation by phases as their number grows.

Erlang laws of k phases that stand for fixed work make an error in proportion to 1 / k (that of the wait in M/D/1 is
exactly W / k), so twice the phases have half of it: the answer at 2 k is off by about its difference from that at k,
and twice the second minus the first is much nearer (L. F. Richardson, Phil. Trans. R. Soc. A 226 (1927)). The
difference is an estimate of the error, not a bound. A quantile at which the law has an atom, as where most work is done
at once and takes the fixed time, moves in proportion to 1 / sqrt(k): then twice the second minus the first is off by
sqrt(2) times the difference. Where a measure rises with the variability of the work (the wait at
a fifo stage), the answers are bounds from above (A. Mueller, D. Stoyan, Comparison Methods for Stochastic Models and
Risks (2002), chapter 6).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from serq.ir.chain import Chain, Nearness
from serq.ir.expr import Number, double
from serq.ir.measures import QUANTILES
from serq.ir.results import Estimate


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """A measure with k and with 2 k phases, what they tend to, and how far that may be off (an estimate)."""

    measure: str
    coarse: Number
    fine: Number

    @property
    def value(self) -> Number:
        """The value for ever more phases, if the error is in proportion to 1 / k."""
        return 2 * self.fine - self.coarse

    @property
    def error(self) -> float:
        """The difference of the two answers; twice that for quantiles, which may move in proportion to 1 / sqrt(k)."""
        slow = 2.0 if self.measure.rpartition(".")[2] in QUANTILES else 1.0
        return slow * abs(double(self.fine) - double(self.coarse))


def stands_in(chain: Chain) -> bool:
    """Whether phases stand in the chain for work that is not phase-type."""
    return chain.has(Nearness.PHASES)


def extrapolate(coarse: Sequence[Estimate], fine: Sequence[Estimate]) -> tuple[Extrapolation, ...]:
    """The measures that have a value with k phases and with 2 k, in the order of the first."""
    finer = {e.measure: e.value for e in fine}
    out = []
    for estimate in coarse:
        value = finer.get(estimate.measure)
        if estimate.value is not None and value is not None:
            out.append(Extrapolation(estimate.measure, estimate.value, value))
    return tuple(out)
