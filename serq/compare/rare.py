"""Samples that hardly vary: a usual value that a measure leaves only on rare excursions.

A server that is idle once in ten thousand events is idle in few batches or in none. The spread of such a sample says
little about its error, and a t-test of it cries wolf. What is known without the sample: if a mean of r lies away from
the usual value u only by excursions, Poisson in number and exponential in length, then its variance over a total of T
is 2 |r - u| w / T, with w what one excursion adds on average (a compound Poisson sum: S. Asmussen, Applied Probability
and Queues, 2nd ed., chapter III).

How large w is, the batches tell that an excursion was seen in; where none was, it is taken from what the measure is:
one head or one unit for the next few events, one event, a wait for a few services. All of it has the unit of the
measure, so that no verdict depends on the unit of time.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from serq.ir.expr import double
from serq.ir.flow import observes_of_time
from serq.ir.measures import Measure, measures_of
from serq.ir.program import Program
from serq.semantics.estimate import Batches
from serq.semantics.run_result import RunResult
from serq.semantics.series import batches_of

_SHARE = 1 / 8
"""A value is usual when at least this part of the batches has it; frequent excursions are in all of them."""
_LENGTH = 4
"""Mean length of an excursion in events: the next few events end it. Longer is safer, and finds less."""
_HEADS = frozenset({"number", "waiting", "busy", "utilisation", "queue", "holders"})
"""Statistics of stages, pools and sessions that change by one at a time."""
_DIGITS = 9
"""Batches are alike when they agree to so many digits: sums of doubles are rounded."""


@dataclass(frozen=True, slots=True)
class Usual:
    """The usual value of a measure, what an excursion adds to the numerator of its ratio at least (`excursion`), how
    much of the denominator it takes (`length`, 0 where its size has nothing to do with the value: elsewhere it may be
    as large as the value itself), and the whole denominator (`total`). In place of 0 there may be a `rounding`.
    """

    value: float
    excursion: float
    total: float
    length: float = 0.0
    rounding: float = 0.0

    def error_at(self, reference: float) -> float:
        """The standard error that the sample has if the truth is `reference`."""
        return math.sqrt(2 * abs(reference - self.value) * self._step(reference))

    def found(self, reference: float, errors: float) -> float:
        """The smallest distance of the truth from `reference` that is `errors` standard errors at the truth."""
        step = errors**2 * self._step(reference)
        return step + math.sqrt(step**2 + 2 * step * abs(reference - self.value))

    def _step(self, reference: float) -> float:
        """What one excursion adds to the ratio."""
        return max(self.excursion, self.length * max(abs(self.value), abs(reference))) / self.total


def usual_values(program: Program, results: Sequence[RunResult], horizon: float) -> dict[str, Usual]:
    """The measures, by name, that have a usual value in these replications, each of which ran to `horizon`."""
    few_events = _LENGTH * horizon * len(results) / max(1, sum(result.events for result in results))
    batches = batches_of([result.series for result in results])
    run = _Run(horizon, few_events, observes_of_time(program), {x.name: double(x.cap.exact) for x in program.pools})
    out = {}
    for measure in measures_of(program):
        busy = batches.get(f"stage.{measure.subject}.busy")
        completed = batches.get(f"stage.{measure.subject}.throughput")
        service = None if busy is None or completed is None else _mean(busy, completed)
        usual = _found(batches[measure.name], _least(measure, run, service))
        if usual is not None:
            out[measure.name] = usual
    return out


@dataclass(frozen=True, slots=True)
class _Run:
    """What is known of all measures: the horizon, the time of a few events, the observes of times, the pools' units."""

    horizon: float
    few_events: float
    timed: frozenset[str]
    caps: Mapping[str, float]

    @property
    def resolution(self) -> float:
        """What the clock cannot tell from nothing near the horizon."""
        return self.horizon * 2**-50


@dataclass(frozen=True, slots=True)
class _Least:
    """An excursion that was not seen: its size, and for how much of the denominator it lasts; `rounding` is nothing
    beside it. Where it is not `bounded` it may be as large as the value.
    """

    size: float
    length: float
    rounding: float = 10**-_DIGITS
    bounded: bool = False


def _least(measure: Measure, run: _Run, service: float | None) -> _Least:
    """What an excursion of the measure is taken to be that was not seen; `service` is the mean of one at its stage."""
    match measure.unit:
        case "1/time":
            return _Least(1.0, 1.0, 0.0, bounded=True)
        case "units/time":
            return _Least(run.caps[measure.subject], 1.0, 0.0, bounded=True)
        case "time":
            return _Least(run.few_events if service is None else _LENGTH * service, 1.0, run.resolution)
    if measure.kind == "observe":
        return _Least(run.few_events, 1.0, run.resolution) if measure.subject in run.timed else _Least(1.0, 1.0)
    return _Least(1.0, run.few_events, bounded=measure.kind != "gauge" and measure.statistic in _HEADS)


def _mean(top: Batches, below: Batches) -> float | None:
    """The quotient of two numerators; None where it is not positive."""
    sums = [math.fsum(x for row in batches.numerator for x in row) for batches in (top, below)]
    return sums[0] / sums[1] if min(sums) > 0 else None


def _found(batches: Batches, least: _Least) -> Usual | None:
    value, share = _commonest(_ratios(batches), least.rounding)
    if share < _SHARE:
        return None
    excursion = max(least.size * least.length, _seen(batches, value, share))
    total = math.fsum(x for row in batches.denominator for x in row)
    return Usual(value, excursion, total, 0.0 if least.bounded else least.length, least.rounding)


def _ratios(batches: Batches) -> list[float]:
    return [n / d for n, d in _pairs(batches) if d > 0]


def _pairs(batches: Batches) -> Iterable[tuple[float, float]]:
    for top, below in zip(batches.numerator, batches.denominator, strict=True):
        yield from zip(top, below, strict=True)


def _commonest(ratios: Sequence[float], rounding: float) -> tuple[float, float]:
    """The value that most batches have, and the part of them that has it."""
    counted = Counter(0.0 if abs(ratio) <= rounding else float(f"{ratio:.{_DIGITS}g}") for ratio in ratios)
    if not counted:
        return 0.0, 0.0
    value, times = counted.most_common(1)[0]
    return value, times / len(ratios)


def _seen(batches: Batches, value: float, share: float) -> float:
    """What an excursion added to the numerator on average, of those that were seen.

    Where a part `share` of the batches has none of them, a Poisson number of mean -ln(share) lies in each batch.
    """
    if share == 1:
        return 0.0
    filled = [(n, d) for n, d in _pairs(batches) if d > 0]
    return math.fsum(abs(n - value * d) for n, d in filled) / (-math.log(share) * len(filled))
