"""What one policy has more than another at the same point, with common random numbers.

Streams are keyed by seed, replication and purpose, so two policies meet the same draws. What a batch adds to the error
of one measure it mostly adds to that of the other too, and the error of the difference is that of the differences batch
by batch (A. M. Law, Simulation Modeling and Analysis, 5th ed., section 11.2).
"""

from math import hypot, isfinite

from serq.compare.rare import Usual
from serq.ir.expr import Number, double
from serq.ir.results import Estimate
from serq.semantics.estimate import error_of, student_quantile
from serq.studies.encoding import Outcome

PAIRED = "paired batches, common random numbers"
_ROUNDING = 1e-12


def difference(name: str, before: Outcome | None, after: Outcome | None, confidence: float) -> Estimate | None:
    """After minus before of one measure by one method; None where one of them has no value."""
    if before is None or after is None:
        return None
    a, b = before.answer(name), after.answer(name)
    if a is None or b is None or a.value is None or b.value is None:
        return None
    value = b.value - a.value
    if a.witness != "simulation":
        bounds = [e.bound for e in (a, b) if e.bound is not None]
        return Estimate(name, a.witness, value, a.method, bound=sum(bounds) if bounds else None)
    return _simulated(name, value, a, b, before, after, confidence)


def usual_difference(name: str, before: Outcome | None, after: Outcome | None) -> Usual | None:
    """What a difference is but for rare excursions, where that is known of both values; the longer excursion and the
    shorter run count. Two runs that met no excursion at all show no difference, however different their rates are.
    """
    if before is None or after is None:
        return None
    a, b = before.usual.get(name), after.usual.get(name)
    if a is None or b is None:
        return None
    length = max(a.length, b.length)
    excursion = max(a.excursion, b.excursion, length * max(abs(a.value), abs(b.value)))
    return Usual(b.value - a.value, excursion, min(a.total, b.total), length, max(a.rounding, b.rounding))


def _simulated(
    name: str, value: Number, a: Estimate, b: Estimate, before: Outcome, after: Outcome, confidence: float
) -> Estimate:
    found: tuple[float, float] | None
    rows, others = before.shares.get(name, ()), after.shares.get(name, ())
    if rows and [len(row) for row in rows] == [len(row) for row in others]:
        pairs = zip(rows, others, strict=True)
        found = error_of(tuple(tuple(y - x for x, y in zip(row, other, strict=True)) for row, other in pairs))
        method = PAIRED
    else:  # quantiles, and windows that differ
        found, method = _unpaired(a, b), "as if independent"
    if found is None or not isfinite(double(value)):
        return Estimate(name, "simulation", value, method, reason="there is no interval")
    error, degrees = found
    if error <= _ROUNDING * max(abs(double(x.value)) for x in (a, b) if x.value is not None):
        error = 0.0
    half = student_quantile(confidence, degrees) * error
    return Estimate(name, "simulation", value, method, half, confidence, error, degrees)


def _unpaired(a: Estimate, b: Estimate) -> tuple[float, float] | None:
    if a.standard_error is None or b.standard_error is None or a.degrees is None or b.degrees is None:
        return None
    return hypot(a.standard_error, b.standard_error), min(a.degrees, b.degrees)
