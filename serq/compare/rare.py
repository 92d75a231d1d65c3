"""Samples that hardly vary: a usual value that a measure leaves only on rare excursions.

A server that is idle once in ten thousand events is idle in few batches or in none. The spread of such a sample says
little about its error, and a t-test of it cries wolf. What is known without the sample: if a mean of r lies away from
the usual value u only by excursions, Poisson in number and exponential in length, then its variance over a total of T
is 2 |r - u| w / T, with w what one excursion adds on average (a compound Poisson sum: S. Asmussen, Applied Probability
and Queues, 2nd ed., chapter III).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from serq.semantics.estimate import Batches
from serq.semantics.reference import RunResult
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
    """The usual value of a measure, how much of the denominator of its ratio an excursion takes (`length`), and the
    whole denominator (`total`). An excursion is one head more or less where the measure counts `heads`; elsewhere it
    may be as large as the value itself.
    """

    value: float
    length: float
    total: float
    heads: bool = False

    def error_at(self, reference: float) -> float:
        """The standard error that the sample has if the truth is `reference`."""
        return math.sqrt(2 * abs(reference - self.value) * self._step(reference))

    def found(self, reference: float, errors: float) -> float:
        """The smallest distance of the truth from `reference` that is `errors` standard errors at the truth."""
        step = errors**2 * self._step(reference)
        return step + math.sqrt(step**2 + 2 * step * abs(reference - self.value))

    def _step(self, reference: float) -> float:
        """What one excursion adds to the ratio."""
        size = 1.0 if self.heads else max(1.0, abs(self.value), abs(reference))
        return size * self.length / self.total


def usual_values(results: Sequence[RunResult], horizon: float) -> dict[str, Usual]:
    """The measures, by name, that have a usual value in these replications, each of which ran to `horizon`."""
    pace = horizon * len(results) / max(1, sum(result.events for result in results))
    widths = tuple(results[0].counts.widths)
    out = {}
    for name, batches in batches_of([result.series for result in results]).items():
        value = _usual(batches)
        if value is not None:
            over_time = batches.denominator[0] == widths and not batches.counts
            total = math.fsum(x for row in batches.denominator for x in row)
            heads = batches.counts or name.rpartition(".")[2] in _HEADS
            out[name] = Usual(value, _LENGTH * pace if over_time else 1.0, total, heads)
    return out


def _usual(batches: Batches) -> float | None:
    """The value that most batches have, if they are many enough."""
    pairs = zip(batches.numerator, batches.denominator, strict=True)
    ratios = [n / d for top, below in pairs for n, d in zip(top, below, strict=True) if d > 0]
    counted = Counter(float(f"{ratio:.{_DIGITS}g}") for ratio in ratios)
    if not counted:
        return None
    value, times = counted.most_common(1)[0]
    return value if times >= _SHARE * len(ratios) else None
