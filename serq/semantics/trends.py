"""Whether something present changes from the beginning of a window to its end.

The mean over the first quarter is compared with that over the last half, as J. Geweke does (Evaluating the accuracy of
sampling-based approaches to the calculation of posterior moments, Bayesian Statistics 4 (1992), section 3.3): over
replications by a t-test of their differences, in a lone run by its batches, which are merged while they are correlated.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from serq.semantics.estimate import lag_one
from serq.semantics.series import Series
from serq.semantics.student import beyond

_BATCHES = 16
_FEWEST = 8
_DOUBT = 1.645
"""Batches whose lag-1 correlation exceeds chance at this normal quantile are merged."""
_STRONGEST = 0.95
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Trend:
    """Means over the first quarter and the last half, and the chance of so large a difference without a trend.

    `correlation` is that of neighbours among `parts` parts of the window.
    """

    first: float
    last: float
    chance: float
    correlation: float
    parts: int


def trend_of(replications: Sequence[Series]) -> Trend | None:
    """The trend of a time average; None where nothing varies or there are too few batches."""
    rows = [_means(series) for series in replications]
    if any(len(row) < _FEWEST for row in rows):
        return None
    centre = _mean([_mean(row) for row in rows])
    correlation, parts = lag_one([[x - centre for x in row] for row in rows]), len(rows[0])
    differences = [_mean(row[len(row) // 2 :]) - _mean(row[: len(row) // 4]) for row in rows]
    first = _mean([_mean(row[: len(row) // 4]) for row in rows])
    last = _mean([_mean(row[len(row) // 2 :]) for row in rows])
    error, degrees = _over_replications(differences) if len(rows) > 1 else _alone(rows[0])
    least = _ROUNDING * max(max(row) for row in rows)
    if error <= least:
        return None if abs(last - first) <= least else Trend(first, last, 0.0, correlation, parts)
    chance = 2.0 * beyond(abs(last - first) / error, degrees)
    return Trend(first, last, chance, correlation, parts)


def _over_replications(differences: list[float]) -> tuple[float, int]:
    """The standard error of a mean and its degrees of freedom."""
    centre, degrees = _mean(differences), len(differences) - 1
    return math.sqrt(math.fsum((d - centre) ** 2 for d in differences) / degrees / len(differences)), degrees


def _alone(row: list[float]) -> tuple[float, int]:
    """The standard error of the difference in one run and its degrees of freedom."""
    while True:
        quarter, half = len(row) // 4, len(row) // 2
        groups = row[:quarter], row[quarter:half], row[half:]
        residuals = [x - _mean(group) for group in groups for x in group]
        squares = math.fsum(x * x for x in residuals)
        if squares == 0.0:
            return 0.0, 1
        degrees = len(row) - len(groups)
        products = math.fsum(a * b for a, b in pairwise(residuals))
        correlation = products / squares + len(groups) / len(row)
        doubtful = correlation > _DOUBT / math.sqrt(degrees)
        if not (doubtful or len(row) > _BATCHES) or len(row) // 2 < _FEWEST:
            break
        row = [0.5 * (a + b) for a, b in zip(row[::2], row[1::2], strict=False)]
    c = min(max(correlation, 0.0), _STRONGEST)
    variance = squares / degrees * (1 / quarter + 1 / (len(row) - half)) * (1 + c) / (1 - c)
    return math.sqrt(variance), degrees


def _means(series: Series) -> list[float]:
    return [n / d for n, d in zip(series.numerator, series.denominator, strict=True) if d > 0]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
