"""Where a curve bends: knees, the saturation point, and where one more point would tell most."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

Curve = Sequence[tuple[float, float]]
"""Points of a curve, x ascending."""

_LEAST_BEND = 0.1
"""A curve that strays less than this part of its range from its chord has no knee."""
_STRAIGHT = 0.01
"""An interval in which the curve strays less than this part of its range from a straight line needs no more points."""


@dataclass(frozen=True, slots=True)
class Knee:
    """Where a curve is farthest from its chord, both axes scaled to 1: `x`, and how far (`bend`)."""

    x: float
    bend: float


def knee(curve: Curve) -> Knee | None:
    """The knee of a curve (V. Satopaa et al., Finding a 'kneedle' in a haystack, ICDCS Workshops 2011); None for one of
    fewer than five points, and for one that is nearly straight.
    """
    scaled = _scaled(curve)
    if scaled is None or len(scaled) < 5:
        return None
    (x0, y0), (x1, y1) = scaled[0], scaled[-1]
    bends = [abs(y - (y0 + (y1 - y0) * (x - x0) / (x1 - x0))) for x, y in scaled]
    largest = max(bends)
    return Knee(curve[bends.index(largest)][0], largest) if largest >= _LEAST_BEND else None


def bent_intervals(curve: Curve, whole: bool) -> list[tuple[float, Fraction]]:
    """The intervals worth a point, the most bent one first: how bent, and the point in the middle.

    A parabola through an end's neighbours tells how far the curve strays from a straight line within an interval. Where
    values must be whole, so is the point, and an interval without a whole number inside needs none.
    """
    scaled = _scaled(curve)
    if scaled is None:
        return []
    second = [0.0] * len(scaled)
    for i in range(1, len(scaled) - 1):
        (xa, ya), (xb, yb), (xc, yc) = scaled[i - 1 : i + 2]
        second[i] = abs((yc - yb) / (xc - xb) - (yb - ya) / (xb - xa)) * 2 / (xc - xa)
    second[0], second[-1] = second[1], second[-2]
    out = []
    for i in range(len(scaled) - 1):
        width = scaled[i + 1][0] - scaled[i][0]
        stray = (second[i] + second[i + 1]) / 2 * width * width / 8
        middle = (Fraction(curve[i][0]) + Fraction(curve[i + 1][0])) / 2
        if whole:
            middle = Fraction(middle.numerator // middle.denominator)
        if stray > _STRAIGHT and curve[i][0] < middle < curve[i + 1][0]:
            out.append((stray, middle))
    return sorted(out, key=lambda pair: (-pair[0], pair[1]))


def meeting_point(curve: Curve) -> float | None:
    """Where the line from the origin through the first point of a throughput curve meets its highest value: the
    population at which a closed system saturates (L. Kleinrock, Queueing Systems II, section 4.12). None where the
    curve has not flattened.
    """
    if len(curve) < 3 or curve[0][1] <= 0 or curve[0][0] <= 0 or not all(isfinite(y) for _, y in curve):
        return None
    slope, highest = curve[0][1] / curve[0][0], max(y for _, y in curve)
    (xa, ya), (xb, yb) = curve[-2:]
    flat = (yb - ya) / (xb - xa) < slope / 10
    return highest / slope if flat else None


def _scaled(curve: Curve) -> list[tuple[float, float]] | None:
    """Both axes to [0, 1]; None for a curve that is too short, flat, or not finite."""
    if len(curve) < 3 or not all(isfinite(x) and isfinite(y) for x, y in curve):
        return None
    xs, ys = [x for x, _ in curve], [y for _, y in curve]
    width, height = xs[-1] - xs[0], max(ys) - min(ys)
    if width <= 0 or height <= 1e-12 * max(map(abs, ys)):
        return None
    return [((x - xs[0]) / width, (y - min(ys)) / height) for x, y in curve]
