"""Our own `log` and `exp`, so that a run gives the same bits on every platform.

Only `+ - * /`, comparisons and exact scaling by powers of two are used, all of which IEEE 754 prescribes to the bit.
Both are good to about one unit in the last place. The text keeps to plain ints and floats, so that it can be compiled.
"""

from math import frexp, ldexp

_LN2_HIGH = float.fromhex("0x1.62e42feep-1")
"""The first 32 bits of ln 2: times any exponent of a double it is exact."""
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
"""ln 2 less `_LN2_HIGH`, to the nearest double."""
_INVERSE_LN2 = float.fromhex("0x1.71547652b82fep+0")
_ROOT_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")

_INF = float("inf")
_LARGEST_EXPONENT = 709.782712893384
_SMALLEST_EXPONENT = -745.1332191019412


def log(x: float) -> float:
    """The natural logarithm; -inf at 0 and NaN below.

    x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt 2). With s = f / (2 + f), log(1 + f) = 2 artanh s = 2s + s r, where
    r = 2 s^2/3 + 2 s^4/5 + ... The leading 2s is written f - f^2/2 + s f^2/2, whose first term is exact.
    """
    if not 0.0 < x < _INF:
        return _log_outside(x)
    m, k = frexp(x)
    if m < _ROOT_HALF:
        m = m + m
        k = k - 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    r = z * (2 / 3 + z * (2 / 5 + z * (2 / 7 + z * (2 / 9 + z * (2 / 11 + z * (2 / 13 + z * (2 / 15
        + z * (2 / 17 + z * (2 / 19 + z * (2 / 21))))))))))  # fmt: skip
    half_square = 0.5 * f * f
    small = s * (half_square + r) + k * _LN2_LOW
    return k * _LN2_HIGH - ((half_square - small) - f)


def _log_outside(x: float) -> float:
    if x == 0.0:
        return -_INF
    return x if x > 0.0 else _INF - _INF


def log1p(x: float) -> float:
    """log(1 + x), accurate for small x: the rounding of 1 + x is divided out again (W. Kahan's form)."""
    u = 1.0 + x
    if u == 1.0:
        return x
    return log(u) * (x / (u - 1.0))


def exp(x: float) -> float:
    """The exponential; 0 and inf beyond the range of doubles.

    x = k ln 2 + r with |r| <= ln(2)/2, and the power series of exp r - 1 - r; r carries its rounding error along.
    """
    if not _SMALLEST_EXPONENT <= x <= _LARGEST_EXPONENT:
        return _exp_outside(x)
    k = int(x * _INVERSE_LN2 + (0.5 if x >= 0.0 else -0.5))
    high = x - k * _LN2_HIGH
    low = k * _LN2_LOW
    r = high - low
    error = (high - r) - low
    tail = r * r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * (1 / 40320
        + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600
        + r * (1 / 6227020800))))))))))))  # fmt: skip
    return ldexp(1.0 + (r + (tail + error)), k)


def _exp_outside(x: float) -> float:
    if x < 0.0:
        return 0.0
    return _INF if x > 0.0 else x
