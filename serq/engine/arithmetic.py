"""The arithmetic of the language in restricted Python: IEEE doubles, of which nothing traps.

These are the rules of `serq.ir.evaluate.Doubles`, to the bit.
"""

from serq.codegen.lang import bits_of, ceil, cold, f64, fabs, floor, sqrt

INF = float("inf")
NAN = float("nan")


def over(a: f64, b: f64) -> f64:
    """A quotient; by zero an infinity or NaN."""
    if b != 0.0:
        return a / b
    return over_zero(a, b)


@cold
def over_zero(a: f64, b: f64) -> f64:
    """A quotient by zero, or by NaN, which is no number either."""
    if b != b or a == 0.0 or a != a:
        return NAN
    same = bits_of(a) >> 63 == bits_of(b) >> 63
    return INF if same else -INF


def modulo(a: f64, b: f64) -> f64:
    """The remainder with the sign of the divisor; NaN for a zero divisor or an infinite dividend."""
    if 0.0 < a < b:
        return a
    if b == 0.0 or fabs(a) == INF or a != a or b != b:
        return NAN
    rest = remainder(fabs(a), fabs(b))
    if rest == 0.0:
        return 0.0 if b > 0.0 else -0.0
    if a < 0.0:
        rest = -rest
    if (rest < 0.0 and b > 0.0) or (rest > 0.0 and b < 0.0):
        rest = rest + b
    return rest


@cold
def remainder(a: f64, b: f64) -> f64:
    """The exact remainder of a >= 0, finite, by b > 0: every difference is of neighbours, and so is exact."""
    if a < b:
        return a
    rest = a
    part = b
    while part <= a * 0.5:
        part = part * 2.0
    while part >= b:
        if rest >= part:
            rest = rest - part
        part = part * 0.5
    return rest


def smaller(a: f64, b: f64) -> f64:
    """The smaller one; NaN if one is."""
    if a != a or b != b:
        return NAN
    return b if b < a else a


def larger(a: f64, b: f64) -> f64:
    """The larger one; NaN if one is."""
    if a != a or b != b:
        return NAN
    return b if b > a else a


def whole_below(x: f64) -> f64:
    """The largest whole number up to x; a zero has no sign."""
    return floor(x) + 0.0


def whole_above(x: f64) -> f64:
    """The least whole number from x on; a zero has no sign."""
    return ceil(x) + 0.0


def root(x: f64) -> f64:
    """The square root; NaN of what is negative."""
    return sqrt(x) if x >= 0.0 else NAN


def is_finite(x: f64) -> bool:
    """Neither infinite nor NaN."""
    return fabs(x) < INF
