"""Samples that hardly vary: a usual value that a measure leaves only on rare excursions.

A server that is idle once in ten thousand events is idle in few batches or in none. The spread of such a sample says
little about its error, and a t-test of it cries wolf. What is known without the sample: if a mean of r lies away from
the usual value u only by excursions, Poisson in number and exponential in length, then its variance over a total of T
is 2 |r - u| w / T, with w what one excursion adds on average (a compound Poisson sum: S. Asmussen, Applied Probability
and Queues, 2nd ed., chapter III).

How large w is, the batches tell that an excursion was seen in; where none was, it is taken from what the measure is:
one head or one unit for the next few events, one event, a stay of the next few events. All of it has the unit of the
measure, so that no verdict depends on the unit of time.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
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
    as large as the value itself), and the whole denominator (`total`). What is tiny beside `scale` is rounding.
    """

    value: float
    excursion: float
    total: float
    length: float = 0.0
    scale: float = 0.0

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
    timed = observes_of_time(program)
    caps = {pool.name: double(pool.cap.exact) for pool in program.pools}
    out = {}
    for measure in measures_of(program):
        least = _least(measure, few_events, measure.subject in timed, caps.get(measure.subject, 1.0))
        usual = _found(measure, batches[measure.name], least)
        if usual is not None:
            out[measure.name] = usual
    return out


@dataclass(frozen=True, slots=True)
class _Least:
    """An excursion that was not seen: its size, and for how much of the denominator it lasts. Where it is not `bounded`
    it may be as large as the value.
    """

    size: float
    length: float
    bounded: bool = False


def _least(measure: Measure, few_events: float, timed: bool, cap: float) -> _Least:
    """What an excursion of the measure is taken to be that was not seen; `timed`: a time is observed, `cap`: all that
    an eviction may free.
    """
    match measure.unit:
        case "1/time":
            return _Least(1.0, 1.0, bounded=True)
        case "units/time":
            return _Least(cap, 1.0, bounded=True)
        case "time":
            return _Least(few_events, 1.0)
    if measure.kind == "observe":
        return _Least(few_events if timed else 1.0, 1.0)
    return _Least(1.0, few_events, bounded=measure.kind != "gauge" and measure.statistic in _HEADS)


def _found(measure: Measure, batches: Batches, least: _Least) -> Usual | None:
    scale = 0.0 if measure.unit.endswith("/time") else least.size
    value, share = _commonest(_ratios(batches), scale)
    if share < _SHARE:
        return None
    excursion = max(least.size * least.length, _seen(batches, value, share))
    total = math.fsum(x for row in batches.denominator for x in row)
    return Usual(value, excursion, total, 0.0 if least.bounded else least.length, scale)


def _ratios(batches: Batches) -> list[float]:
    return [n / d for n, d in _pairs(batches) if d > 0]


def _pairs(batches: Batches) -> Iterable[tuple[float, float]]:
    for top, below in zip(batches.numerator, batches.denominator, strict=True):
        yield from zip(top, below, strict=True)


def _commonest(ratios: Sequence[float], scale: float) -> tuple[float, float]:
    """The value that most batches have, and the part of them that has it."""
    rounding = scale * 10**-_DIGITS
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
