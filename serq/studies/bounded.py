"""The bounds of a measure along a line of a study."""

from collections.abc import Sequence

from serq.ir.expr import double
from serq.studies.encoding import Outcome
from serq.studies.results import PointResult

Band = list[tuple[float, float, float]]
"""x, and between what the measure lies there; x ascending."""


def bounds_of(points: Sequence[PointResult], axis: str, measure: str) -> dict[str, Band]:
    """By kind of bound. What is observed has the bounds of the stage whose mean sojourn it equals by formula."""
    name = _same(points, measure)
    out: dict[str, Band] = {}
    for point in points:
        x, closed = point.planned.numbers.get(axis), point.outcome("closed")
        for bound in () if closed is None else closed.bounds:
            if bound.measure == name and x is not None and bound.low is not None and bound.high is not None:
                out.setdefault(bound.kind, []).append((double(x), double(bound.low), double(bound.high)))
    return {kind: sorted(band) for kind, band in out.items()}


def _same(points: Sequence[PointResult], measure: str) -> str:
    """The bounded measure that has the same value at every point: itself, if it is bounded."""
    closed = [c for point in points if (c := point.outcome("closed")) is not None and c.bounds]
    names = dict.fromkeys(b.measure for c in closed for b in c.bounds)
    if measure in names:
        return measure
    return next((n for n in names if n.endswith(".sojourn") and all(_equal(c, n, measure) for c in closed)), measure)


def _equal(outcome: Outcome, name: str, other: str) -> bool:
    a, b = outcome.answer(name), outcome.answer(other)
    return a is not None and b is not None and a.value is not None and a.value == b.value
