"""Quantiles of observes with confidence intervals.

The quantile is that of all observations together. Its interval comes from the shares of observations that do not exceed
it: the share in each batch or replication is a ratio of counts, with an interval as every ratio has
(`serq.semantics.estimate`), and the ends of that interval are carried through the distribution seen (the indirect
method: P. Heidelberger, P. Lewis, Quantile estimation in dependent sequences, Oper. Res. 32 (1984); C. Alexopoulos,
A. Seila, Output data analysis, in J. Banks (ed.), Handbook of Simulation, 1998).
"""

import math
from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Protocol

from serq.ir.measures import QUANTILES
from serq.ir.results import Estimate
from serq.semantics.estimate import Batches, Over, estimate, student_quantile
from serq.semantics.run_result import RunResult
from serq.semantics.summary import Summary, quantile, summary_of


class Observations(Protocol):
    """All observations of one name, over all replications, as far as they are known."""

    @property
    def summary(self) -> Summary:
        """Moments, ends and quantiles."""
        ...

    def quantile(self, level: float) -> float:
        """The quantile of all observations together; none of them may be NaN. NaN where it is not known."""
        ...

    def shares(self, value: float) -> Batches:
        """How many observations do not exceed the value, of how many there are, `[replication][batch]`."""
        ...


@dataclass(frozen=True, slots=True)
class Samples:
    """Observations of which every value is known; `batches` are ordered, `[replication][batch]`, `ordered` all."""

    summary: Summary
    ordered: Sequence[float]
    batches: tuple[tuple[Sequence[float], ...], ...]

    def quantile(self, level: float) -> float:
        """Interpolated between order statistics."""
        return quantile(self.ordered, level)

    def shares(self, value: float) -> Batches:
        """Counted."""
        return Batches(
            tuple(tuple(float(bisect_right(batch, value)) for batch in row) for row in self.batches),
            tuple(tuple(float(len(batch)) for batch in row) for row in self.batches),
        )


def samples_of(name: str, results: Sequence[RunResult]) -> Samples:
    """The observations of runs that kept their values."""
    batches = tuple(_cut(r.samples[name].values, [n for _, n in r.counts.observes[name]]) for r in results)
    ordered = sorted(x for row in batches for batch in row for x in batch)
    return Samples(summary_of(ordered), ordered, batches)


def _cut(values: "array[float]", counts: Sequence[int]) -> tuple[Sequence[float], ...]:
    places = accumulate(counts, initial=0)
    return tuple(sorted(values[a:b]) for a, b in pairwise(places))


_BEYOND = "lie beyond the histogram of a compiled run, 2^-64 to 2^96 (`--engine reference` keeps all values)"
BEYOND = f"observations of that rank {_BEYOND}"


def quantiles_of(name: str, observed: Observations, confidence: float, over: Over) -> dict[str, Estimate]:
    """The quantiles of `serq.ir.measures.QUANTILES` by statistic."""
    summary = observed.summary
    why = "" if summary.minimum is not None else summary.reason
    return {
        statistic: _quantile(f"observe.{name}.{statistic}", level, observed, confidence, over, why)
        for statistic, level in QUANTILES.items()
    }


def unknown_quantiles(name: str, estimates: Mapping[str, Estimate]) -> tuple[str, ...]:
    """A remark on the quantiles of one name that lie beyond the histogram, where there are such."""
    found = [statistic for statistic, estimate in estimates.items() if estimate.reason == BEYOND]
    return (f"no {', '.join(found)} of {name}: {BEYOND}",) if found else ()


def _quantile(measure: str, level: float, observed: Observations, confidence: float, over: Over, why: str) -> Estimate:
    if why:
        return Estimate(measure, "simulation", None, "quantile of all observations", reason=why)
    value = observed.quantile(level)
    if math.isnan(value):
        return Estimate(measure, "simulation", None, "quantile of all observations", reason=BEYOND)
    share = estimate(measure, observed.shares(value), confidence, over)
    method = f"quantile of all observations, {share.method}"
    if not math.isfinite(value) or share.half_width is None or share.degrees is None:
        reason = share.reason if math.isfinite(value) else "an infinite value was observed"
        return Estimate(measure, "simulation", value, method, reason=reason)
    low, high = level - share.half_width, level + share.half_width
    if low < 0.0 or high > 1.0:
        reason = "too few observations lie beyond it for an interval"
        return Estimate(measure, "simulation", value, method, reason=reason)
    half_width = 0.5 * (observed.quantile(high) - observed.quantile(low))
    if math.isnan(half_width):
        return Estimate(measure, "simulation", value, method, reason=f"no interval: its ends {_BEYOND}")
    error = half_width / student_quantile(confidence, share.degrees)
    return Estimate(
        measure, "simulation", value, method, half_width, confidence, error, share.degrees, reason=share.reason
    )
