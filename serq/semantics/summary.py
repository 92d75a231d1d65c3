"""What the values of an `observe` look like: moments, ends and quantiles, over all replications together."""

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """A sample in a few numbers. What does not exist is None, and `reason` says why.

    `variance` is the unbiased one, `cv2` the squared coefficient of variation; quantiles interpolate linearly between
    order statistics (R. Hyndman, Y. Fan, Sample quantiles in statistical packages, Am. Stat. 50 (1996), type 7).
    """

    count: int
    mean: float | None = None
    variance: float | None = None
    cv2: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    reason: str = ""


def summarise(parts: Iterable["array[float]"]) -> Summary:
    """The summary of several samples taken as one."""
    values = sorted(x for part in parts for x in part)
    count = len(values)
    if count == 0:
        return Summary(0, reason="nothing was observed in the window")
    if any(math.isnan(x) for x in values):
        return Summary(count, reason="NaN was observed")
    ends = {"minimum": values[0], "maximum": values[-1]}
    quantiles = {"p50": quantile(values, 0.5), "p90": quantile(values, 0.9), "p99": quantile(values, 0.99)}
    if not math.isfinite(values[0]) or not math.isfinite(values[-1]):
        return Summary(count, **ends, **quantiles, reason="an infinite value was observed")
    mean = math.fsum(values) / count
    if count == 1:
        return Summary(count, mean, **ends, **quantiles, reason="one observation has no variance")
    variance = math.fsum((x - mean) ** 2 for x in values) / (count - 1)
    cv2 = variance / mean**2 if mean else None
    return Summary(count, mean, variance, cv2, **ends, **quantiles, reason="" if mean else "the mean is 0")


def quantile(ordered: Sequence[float], level: float) -> float:
    """The quantile of an ordered sample that is not empty."""
    place = level * (len(ordered) - 1)
    below = math.floor(place)
    part = place - below
    if part == 0.0:
        return ordered[below]
    return ordered[below] + part * (ordered[below + 1] - ordered[below])
