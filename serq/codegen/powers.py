"""Our own power function in restricted Python, so that a run gives the same bits on every platform.

A power is exp(y ln x), computed with twice the digits: numbers are sums of a high and a low double (T. J. Dekker, A
floating-point technique for extending the available precision, Numerische Mathematik 18 (1971)). What is a double, such
as a whole power of a small whole number, comes out exact; all else is good to about one unit in the last place.
"""

from fractions import Fraction
from math import factorial

from serq.codegen.elementary import (
    FRACTION,
    HALF,
    INF,
    INVERSE_LN2,
    LARGEST_EXPONENT,
    LN2_HIGH,
    LN2_LOW,
    ROOT_HALF,
    SMALLEST_EXPONENT,
    power_of_two,
    scaled,
)  # fmt: skip
from serq.codegen.lang import bits_of, cold, f64, fabs, float_of, floor, i64

LN2_LOWEST = float.fromhex("0x1.cc01f97b57a08p-87")
"""ln 2 less `LN2_HIGH` and `LN2_LOW`, to the nearest double."""
SPLITTER = 2.0**27 + 1.0
HALVINGS = 8
"""The power series of exp is taken at a 2^8th of its argument, and squared so often."""


def _rest(value: Fraction) -> float:
    return float(value - Fraction(float(value)))


_ARTANH = [Fraction(2, 2 * n + 1) for n in range(20)]
_EXP = [Fraction(1, factorial(n)) for n in range(11)]
ARTANH_HIGH, ARTANH_LOW = tuple(map(float, _ARTANH)), tuple(map(_rest, _ARTANH))
EXP_HIGH, EXP_LOW = tuple(map(float, _EXP)), tuple(map(_rest, _EXP))


def power(x: f64, y: f64) -> f64:
    """Raise x to the power of y, as IEEE 754 has it."""
    if 0.0 < x < INF and fabs(y) < INF:
        return positive_power(x, y)
    return power_outside(x, y)


@cold
def power_outside(x: f64, y: f64) -> f64:
    """The power where one of the two is not finite, or the base not positive."""
    if y == 0.0 or x == 1.0:
        return 1.0
    if x != x or y != y:
        return INF - INF
    if fabs(y) == INF:
        if fabs(x) == 1.0:
            return 1.0
        grows = fabs(x) > 1.0 if y > 0.0 else fabs(x) < 1.0
        return INF if grows else 0.0
    odd = fabs(y) < 2.0**53 and floor(y) == y and floor(0.5 * y) != 0.5 * y
    if x == 0.0:
        if y < 0.0:
            return -INF if odd and bits_of(x) >> 63 == 1 else INF
        return x if odd else 0.0
    if fabs(x) < INF and floor(y) != y:
        return INF - INF
    size = positive_power(-x, y) if fabs(x) < INF else INF if y > 0.0 else 0.0
    return -size if x < 0.0 and odd else size


@cold
def positive_power(x: f64, y: f64) -> f64:
    """The power of a positive number."""
    high = logarithm(x, False)
    about = high * y
    if not SMALLEST_EXPONENT <= about <= LARGEST_EXPONENT:
        return INF if about > 0.0 else 0.0
    return exponential_of(about, product_error(high, y, about) + logarithm(x, True) * y)


def logarithm(x: f64, low: bool) -> f64:
    """The high or the low part of ln x = k ln 2 + 2 artanh s, s = (m - 1) / (m + 1), where x = 2^k m."""
    k = exponent_of(x)
    m = x * power_of_two(-k // 2) * power_of_two(-k - (-k // 2))
    f = m - 1.0
    g = m + 1.0
    s = f / g
    p = s * g
    s_low = (((f - p) - product_error(s, g, p)) - s * (m - (g - 1.0))) / g
    z = s * s
    z_low = product_error(s, s, z) + 2.0 * s * s_low
    r = 0.0
    r_low = 0.0
    for i in range(20):
        p = r * z
        e = product_error(r, z, p) + (r * z_low + r_low * z)
        r = p + ARTANH_HIGH[19 - i]
        r_low = sum_error(p, ARTANH_HIGH[19 - i], r) + (e + ARTANH_LOW[19 - i])
    h = s * r
    h_low = product_error(s, r, h) + (s * r_low + s_low * r)
    a = k * LN2_HIGH
    b = k * LN2_LOW
    first = a + h
    second = first + b
    rest = sum_error(a, h, first) + sum_error(first, b, second)
    rest = rest + (product_error(float(k), LN2_LOW, b) + k * LN2_LOWEST) + h_low
    return rest - ((second + rest) - second) if low else second + rest


def exponent_of(x: f64) -> i64:
    """The k for which x = 2^k m, where m lies in [sqrt(1/2), sqrt 2)."""
    bits = bits_of(x)
    k = int(bits >> 52) - 1022
    if k == -1022:
        bits = bits_of(x * 2.0**54)
        k = int(bits >> 52) - 1076
    return k - 1 if float_of((bits & FRACTION) | HALF) < ROOT_HALF else k


def exponential_of(high: f64, low: f64) -> f64:
    """The exponential of a sum of two: exp(k ln 2 + r), where exp(r / 256) is a power series."""
    k = int(floor(high * INVERSE_LN2 + 0.5))
    a = high - k * LN2_HIGH
    b = k * LN2_LOW
    r = a - b
    r_low = (sum_error(a, -b, r) - (product_error(float(k), LN2_LOW, b) + k * LN2_LOWEST)) + low
    r = r * 2.0**-HALVINGS
    r_low = r_low * 2.0**-HALVINGS
    s = 0.0
    s_low = 0.0
    for i in range(11):
        p = s * r
        e = product_error(s, r, p) + (s * r_low + s_low * r)
        s = p + EXP_HIGH[10 - i]
        s_low = sum_error(p, EXP_HIGH[10 - i], s) + (e + EXP_LOW[10 - i])
    for _ in range(HALVINGS):
        p = s * s
        e = product_error(s, s, p) + 2.0 * s * s_low
        s = p + e
        s_low = e - (s - p)
    return scaled(s + s_low, k)


def product_error(a: f64, b: f64, p: f64) -> f64:
    """What a b is more than its rounded value p, exactly."""
    c = SPLITTER * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = SPLITTER * b
    b_high = c - (c - b)
    b_low = b - b_high
    return ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


def sum_error(a: f64, b: f64, s: f64) -> f64:
    """What a + b is more than its rounded value s, exactly."""
    of_b = s - a
    return (a - (s - of_b)) + (b - of_b)
