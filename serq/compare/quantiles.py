"""Simulated quantiles as they may be tested: with the resolution of a histogram in their errors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import hypot, inf

from serq.ir.expr import double
from serq.ir.measures import QUANTILES
from serq.ir.program import Program
from serq.ir.results import Estimate
from serq.semantics.control import control_of
from serq.semantics.estimate import estimate as measured
from serq.semantics.quantiles import Observations, quantiles_of, samples_of
from serq.semantics.run_result import RunResult
from serq.semantics.timing import has_clocks

FEWEST_BEYOND = 400
"""Observations beyond a quantile from which on its error is near enough to normal for a test far out in the tail."""
_FARTHEST = 6.0
"""Standard errors of a share within which a sample may put a quantile."""
_SAME = 1e-9
RESOLUTION = 5e-4
"""Relative: how far the histogram of a compiled run may put a quantile."""


def tested_quantiles(
    program: Program, results: Sequence[RunResult], observations: Mapping[str, Observations] | None, confidence: float
) -> list[Estimate]:
    """The quantiles of all that was observed, their errors from all batches of all replications.

    `observations` by observe stand for the samples where the results have none. A quantile that few observations lie
    beyond has no error and says why; so does one next to a step of the distribution, in a program with clocks.
    """
    out: list[Estimate] = []
    stepped = has_clocks(control_of(program))
    for name in program.observes:
        known = samples_of(name, results) if observations is None else observations[name]
        width = 0.0 if observations is None else RESOLUTION
        for statistic, estimate in quantiles_of(name, known, confidence, "batches").items():
            beyond = known.summary.count * min(QUANTILES[statistic], 1 - QUANTILES[statistic])
            careful = _careful(estimate, width, beyond)
            out.append(_on_a_step(careful, known, QUANTILES[statistic], width) if stepped else careful)
    return out


def _on_a_step(estimate: Estimate, known: Observations, level: float, width: float) -> Estimate:
    """The estimate, without an error where chance may put the quantile of a sample on another value: values that clocks
    make lie apart, and no normal law says how far.
    """
    if estimate.value is None or estimate.standard_error is None:
        return estimate
    value = double(estimate.value)
    same = 4 * max(width, _SAME) * abs(value)
    shares = [measured(estimate.measure, known.shares(x)).standard_error for x in (value - same, value)]
    reach = max(inf if error is None else _FARTHEST * error for error in shares)
    if reach < min(level, 1 - level) and known.quantile(level + reach) - known.quantile(level - reach) <= same:
        return estimate
    return replace(estimate, standard_error=None, degrees=None, reason="the values lie apart, and it is next to a step")


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
