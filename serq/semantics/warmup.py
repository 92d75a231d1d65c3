"""How long a run takes to forget its start: the warm-up by MSER-5.

A series is averaged in fives, and the first d of these averages are dropped, for the d at which the standard error of
the mean of the rest is least (K. P. White, An effective truncation heuristic for bias reduction in simulation output,
Simulation 69 (1997); K. P. White, M. J. Cobb, S. C. Spratt, A comparison of five steady-state truncation heuristics for
simulation, Winter Simulation Conference 2000). A d in the last half says that the run is too short to tell.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from serq.semantics.run_result import RunResult
from serq.semantics.stability import states_of

PARTS = 1000
"""A run is cut into so many parts, 200 averages of five."""
_FIVE = 5
_LEAST = 5
"""Of fewer averages than this, or than an eighth of them, the standard error says nothing."""


@dataclass(frozen=True, slots=True)
class Warmup:
    """What to cut off: a time, decided by one series; `short` when even half of the run was not enough for it."""

    time: float
    measure: str
    short: bool

    def text(self, horizon: float) -> str:
        """In words, for a report."""
        by = f", by {self.measure}" if self.measure else ""
        said = f"warm-up by MSER-5: {self.time:g}, {self.time / horizon:.1%} of the run{by}"
        return said + ("; the cut hits half of the run, which is too short" if self.short else "")


def mser(values: Sequence[float]) -> int:
    """How many values to drop from the front by MSER-5; more than half of them when the series is too short."""
    means = [math.fsum(values[i : i + _FIVE]) / _FIVE for i in range(0, len(values) - _FIVE + 1, _FIVE)]
    if len(means) <= _LEAST:
        return 0
    least, best, total, squares = math.inf, 0, 0.0, 0.0
    shift, fewest = means[-1], max(_LEAST, len(means) // 8)
    for count, x in enumerate(reversed(means), start=1):
        total += x - shift
        squares += (x - shift) ** 2
        error = max(squares - total * total / count, 0.0) / (count * count)
        if count >= fewest and error <= least:
            least, best = error, len(means) - count
    return best * _FIVE


def warmup_of(results: Sequence[RunResult]) -> Warmup:
    """The warm-up that is enough for everything that is present, from runs without one.

    Replications are averaged first: the more of them, the clearer the transient.
    """
    starts = [0.0]
    for width in results[0].counts.widths:
        starts.append(starts[-1] + width)
    found = Warmup(0.0, "", False)
    for name in states_of(results[0]):
        values = _averaged([_values(r, name) for r in results])
        if max(values) - min(values) <= 1e-9 * max(map(abs, values)):
            continue
        dropped, half = mser(values), len(values) // 2
        cut = Warmup(starts[min(dropped, half)], name, dropped > half)
        found = max(found, cut, key=lambda w: (w.short, w.time))
    return found


def _values(result: RunResult, name: str) -> list[float]:
    series = result.series[name]
    return [n / d for n, d in zip(series.numerator, series.denominator, strict=True)]


def _averaged(rows: Sequence[Sequence[float]]) -> list[float]:
    return [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
