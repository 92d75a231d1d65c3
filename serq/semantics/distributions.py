"""The laws of a program's observes, and what is reported of them: moments and quantiles.

An observe of an interval, `now - t`, has a law that its tagged-session chain gives (`serq.semantics.tagged`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from serq.base.errors import LimitError
from serq.ir import program as p
from serq.ir.measures import QUANTILES, distribution_measures_of
from serq.ir.results import Estimate
from serq.semantics.clocked_law import ClockedLaw
from serq.semantics.explore import ExploreOptions
from serq.semantics.interval_law import IntervalLaw
from serq.semantics.intervals import NO_TIME
from serq.semantics.passages import Passage
from serq.semantics.tagged import Solve, Tagging

_NEVER = "in the long run no session sets its clock and then observes"


@dataclass(frozen=True)
class Distributions:
    """The laws by observe, and why the others have none."""

    laws: Mapping[str, IntervalLaw]
    refused: Mapping[str, str]


def distributions_of(program: p.Program, options: ExploreOptions, solve: Solve) -> Distributions:
    """The law of every observe that has one; `solve` is given the stationary chain.

    Raises what exploring raises: OutsideFragmentError, LimitError, RunError.
    """
    tagging = Tagging(program, options)
    laws = {name: _law(passage) for name, passage in tagging.passages(solve).items()}
    silent = {
        name: "in the long run no session sets its clock and then observes" for name, x in laws.items() if not x.rate
    }
    return Distributions({name: x for name, x in laws.items() if x.rate}, {**tagging.refused, **silent})


def _law(passage: Passage) -> IntervalLaw:
    return ClockedLaw(passage) if passage.clocked else IntervalLaw(passage)


def distribution_estimates(program: p.Program, found: Distributions) -> tuple[Estimate, ...]:
    """One estimate per measure of `distribution_measures_of`, in its order; one without a value says why.

    Observes that have nothing to do with time are passed over. Before the others stands the mean of every observe that
    has a law: Little's law gives it only where every interval is observed.
    """
    out = [_estimate(f"observe.{name}.mean", "mean", law) for name, law in found.laws.items()]
    for measure in distribution_measures_of(program):
        law = found.laws.get(measure.subject)
        if found.refused.get(measure.subject) == NO_TIME:
            continue
        if law is None:
            out.append(Estimate(measure.name, "exact", None, "", reason=found.refused[measure.subject]))
        else:
            out.append(_estimate(measure.name, measure.statistic, law))
    return tuple(out)


def _estimate(measure: str, statistic: str, law: IntervalLaw) -> Estimate:
    size = len(law.passage.start)
    if statistic not in QUANTILES:
        method = f"tagged session, {size} states, {'rational' if law.is_exact else 'doubles'}; {law.passage.method}"
        return Estimate(measure, "exact", law.moment(1 if statistic == "mean" else 2), method)
    way = "from instant to instant" if law.passage.clocked else "uniformisation"
    method = f"tagged session, {size} states, {way}; {law.passage.method}"
    try:
        point = law.quantile(QUANTILES[statistic])
    except LimitError as error:
        return Estimate(measure, "exact", None, method, reason=str(error))
    return Estimate(measure, "exact", point.value, method, bound=point.bound)
