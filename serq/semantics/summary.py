"""What the values of an `observe` look like: moments, ends and quantiles, over all replications together."""

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from serq.ir.measures import QUANTILES


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
    p95: float | None = None
    p99: float | None = None
    reason: str = ""


def summarise(parts: Iterable["array[float]"]) -> Summary:
    """The summary of several samples taken as one."""
    return summary_of(sorted(x for part in parts for x in part))


def summary_of(values: Sequence[float]) -> Summary:
    """The summary of an ordered sample; wherever a NaN stands in it."""
    count = len(values)
    if count == 0:
        return Summary(0, reason="nothing was observed in the window")
    if any(math.isnan(x) for x in values):
        return Summary(count, reason="NaN was observed")
    ends = {"minimum": values[0], "maximum": values[-1]}
    quantiles = {name: quantile(values, level) for name, level in QUANTILES.items()}
    if not math.isfinite(values[0]) or not math.isfinite(values[-1]):
        return Summary(count, **ends, **quantiles, reason="an infinite value was observed")
    exponent = math.frexp(max(-values[0], values[-1]))[1]
    scaled = [math.ldexp(x, -exponent) for x in values]  # so that no sum and no square leaves the range of doubles
    centre = math.fsum(scaled) / count
    mean = math.ldexp(centre, exponent)
    if count == 1:
        return Summary(count, mean, **ends, **quantiles, reason="one observation has no variance")
    spread = math.fsum((x - centre) ** 2 for x in scaled) / (count - 1)
    cv2 = spread / centre / centre if centre else None
    variance = scaled_up(spread, 2 * exponent)
    return Summary(count, mean, variance, cv2, **ends, **quantiles, reason="" if centre else "the mean is 0")


def scaled_up(value: float, exponent: int) -> float:
    """`value` times a power of 2; infinite beyond the range of doubles."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)


def quantile(ordered: Sequence[float], level: float) -> float:
    """The quantile of an ordered sample that is not empty."""
    place = level * (len(ordered) - 1)
    below = math.floor(place)
    part = place - below
    low = ordered[below]
    if part == 0.0 or low == ordered[below + 1] or low == -math.inf:  # infinite ones have no difference
        return low
    return low + part * (ordered[below + 1] - low)
