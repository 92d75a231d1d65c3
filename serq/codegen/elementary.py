"""Our own `log` and `exp` in restricted Python, so that a run gives the same bits on every platform.

Only `+ - * /`, comparisons and exact scaling by powers of two are used, all of which IEEE 754 prescribes to the bit.
Both are good to about one unit in the last place.
"""

from serq.codegen.lang import bits_of, cold, f64, float_of, i64

LN2_HIGH = float.fromhex("0x1.62e42feep-1")
"""The first 32 bits of ln 2: times any exponent of a double it is exact."""
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
"""ln 2 less `LN2_HIGH`, to the nearest double."""
INVERSE_LN2 = float.fromhex("0x1.71547652b82fep+0")
ROOT_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")

INF = float("inf")
LARGEST_EXPONENT = 709.782712893384
SMALLEST_EXPONENT = -745.1332191019412

FRACTION = 2**52 - 1
"""The bits of a double below its exponent."""
HALF = 1022 << 52
"""The bits of 0.5."""
MASK = 2**64 - 1


def log(x: f64) -> f64:
    """The natural logarithm; -inf at 0 and NaN below.

    x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt 2). With s = f / (2 + f), log(1 + f) = 2 artanh s = 2s + s r, where
    r = 2 s^2/3 + 2 s^4/5 + ... The leading 2s is written f - f^2/2 + s f^2/2, whose first term is exact.
    """
    if not 0.0 < x < INF:
        return log_outside(x)
    bits = bits_of(x)
    k = int(bits >> 52) - 1022
    if k == -1022:
        bits = bits_of(x * 2.0**54)  # the smallest doubles have no exponent of their own
        k = int(bits >> 52) - 1076
    m = float_of((bits & FRACTION) | HALF)
    if m < ROOT_HALF:
        m = m + m
        k = k - 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    r = z * (2 / 3 + z * (2 / 5 + z * (2 / 7 + z * (2 / 9 + z * (2 / 11 + z * (2 / 13 + z * (2 / 15
        + z * (2 / 17 + z * (2 / 19 + z * (2 / 21))))))))))  # fmt: skip
    half_square = 0.5 * f * f
    small = s * (half_square + r) + k * LN2_LOW
    return k * LN2_HIGH - ((half_square - small) - f)


@cold
def log_outside(x: f64) -> f64:
    """The logarithm of what is not a positive double."""
    if x == 0.0:
        return -INF
    return x if x > 0.0 else INF - INF


def log1p(x: f64) -> f64:
    """log(1 + x), accurate for small x: the rounding of 1 + x is divided out again (W. Kahan's form)."""
    u = 1.0 + x
    if u == 1.0:
        return x
    return log(u) * (x / (u - 1.0))


def exp(x: f64) -> f64:
    """The exponential; 0 and inf beyond the range of doubles.

    x = k ln 2 + r with |r| <= ln(2)/2, and the power series of exp r - 1 - r; r carries its rounding error along.
    """
    if not SMALLEST_EXPONENT <= x <= LARGEST_EXPONENT:
        return exp_outside(x)
    k = int(x * INVERSE_LN2 + (0.5 if x >= 0.0 else -0.5))
    high = x - k * LN2_HIGH
    low = k * LN2_LOW
    r = high - low
    error = (high - r) - low
    tail = r * r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * (1 / 40320
        + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600
        + r * (1 / 6227020800))))))))))))  # fmt: skip
    return scaled(1.0 + (r + (tail + error)), k)


@cold
def exp_outside(x: f64) -> f64:
    """The exponential of what is too small, too large or NaN."""
    if x < 0.0:
        return 0.0
    return INF if x > 0.0 else x


def scaled(y: f64, k: i64) -> f64:
    """Y 2^k, rounded once, for y in [1/2, 2) and k in -1075..1024."""
    if k < -1021:
        return y * power_of_two(k + 128) * 2.0**-128
    if k > 1022:
        return y * power_of_two(k - 1) * 2.0
    return y * power_of_two(k)


def power_of_two(k: i64) -> f64:
    """2^k for k in -1022..1023."""
    return float_of(((k + 1023) << 52) & MASK)
