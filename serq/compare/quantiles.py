"""Simulated quantiles as they may be tested: with the resolution of a histogram in their errors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import hypot

from serq.ir.expr import double
from serq.ir.measures import QUANTILES
from serq.ir.program import Program
from serq.ir.results import Estimate
from serq.semantics.quantiles import Observations, quantiles_of, samples_of
from serq.semantics.run_result import RunResult

FEWEST_BEYOND = 400
"""Observations beyond a quantile from which on its error is near enough to normal for a test far out in the tail."""
RESOLUTION = 5e-4
"""Relative: how far the histogram of a compiled run may put a quantile."""


def tested_quantiles(
    program: Program, results: Sequence[RunResult], observations: Mapping[str, Observations] | None, confidence: float
) -> list[Estimate]:
    """The quantiles of all that was observed, their errors from all batches of all replications.

    `observations` by observe stand for the samples where the results have none. A quantile that few observations lie
    beyond has no error and says why.
    """
    out: list[Estimate] = []
    for name in program.observes:
        known = samples_of(name, results) if observations is None else observations[name]
        width = 0.0 if observations is None else RESOLUTION
        for statistic, estimate in quantiles_of(name, known, confidence, "batches").items():
            beyond = known.summary.count * min(QUANTILES[statistic], 1 - QUANTILES[statistic])
            out.append(_careful(estimate, width, beyond))
    return out


def _careful(estimate: Estimate, width: float, beyond: float) -> Estimate:
    if estimate.value is None or estimate.standard_error is None or estimate.half_width is None:
        return estimate
    if beyond < FEWEST_BEYOND:
        return replace(estimate, standard_error=None, degrees=None, reason="few observations lie beyond it")
    coarse = width * abs(double(estimate.value))
    return replace(
        estimate,
        standard_error=hypot(estimate.standard_error, coarse),
        half_width=hypot(estimate.half_width, coarse),
    )
