"""Numbers as a person reads them: no more digits than are known."""

import math
from decimal import Decimal
from fractions import Fraction

from serq.ir.expr import Number, double
from serq.ir.results import Estimate

LONGEST_RATIONAL = 44


def short(value: Number | None, digits: int = 7) -> str:
    """A value with that many significant digits; a whole number as such; a dash for none."""
    if value is None:
        return "-"
    if isinstance(value, Fraction) and value.denominator == 1 and abs(value) < 10**digits:
        return str(value.numerator)
    number = double(value)
    if isinstance(value, Fraction) and value and (number == 0 or math.isinf(number)):  # doubles do not reach so far
        quotient = Decimal(value.numerator) / Decimal(value.denominator)
        return f"{quotient.normalize():.{digits}g}"
    if math.isinf(number) or math.isnan(number):
        return str(number)
    return f"{number:.{digits}g}"


def holding(value: float | None, bound: float | None, digits: int) -> str:
    """Of so many significant digits those that hold where the value may be off by `bound`: half a unit of the last."""
    if value is None or not value or not bound:
        return short(value, digits)
    held = math.floor(math.log10(abs(value))) + 1 + math.floor(-math.log10(2 * bound))
    return short(value, max(1, min(digits, held)))


def near_one(value: Number) -> str:
    """A factor with ten digits, or, where these do not tell how far it is from 1, with all of its double."""
    away = abs(1 - Fraction(value))
    return short(value, 10) if not away or away > Fraction(1, 100_000) else repr(double(value))


def as_given(value: float) -> str:
    """A number that somebody gave, in the digits that he needs for it: `3`, `2.9999999`."""
    return text if float(text := f"{value:g}") == value else repr(value).removesuffix(".0")


def rational(value: Number | None) -> str:
    """The rational itself; nothing for a double."""
    return str(value) if isinstance(value, Fraction) else ""


def cut(text: str, width: int = LONGEST_RATIONAL) -> str:
    """A text that is too long, with its middle left out."""
    if len(text) <= width:
        return text
    half = (width - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


def with_interval(estimate: Estimate) -> str:
    """`4.25 +- 0.03`: the value to the digits that its half width supports."""
    if estimate.value is None:
        return "-"
    half = estimate.half_width
    if half is None or not math.isfinite(half):
        return short(estimate.value)
    if half == 0:
        return f"{short(estimate.value)} +- 0"
    places = max(0, 1 - math.floor(math.log10(half)))
    if places > 12:
        return f"{float(estimate.value):.6g} +- {half:.1g}"
    return f"{float(estimate.value):.{places}f} +- {half:.{places}f}"


def as_json(value: Number | None) -> object:
    """A number for JSON: a finite double, or null."""
    if value is None:
        return None
    number = double(value)
    return number if math.isfinite(number) else None


def estimate_json(estimate: Estimate) -> dict[str, object]:
    """An answer as JSON: the value as a double and, when it is exact, as a rational."""
    out: dict[str, object] = {"value": as_json(estimate.value), "method": estimate.method}
    if estimate.is_exact:
        out["exact"] = str(estimate.value)
    for name in ("half_width", "confidence", "standard_error", "degrees", "bound"):
        number = getattr(estimate, name)
        if number is not None:
            out[name] = as_json(number)
    if estimate.reason:
        out["reason"] = estimate.reason
    return out
