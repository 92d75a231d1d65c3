"""Student's distribution, without SciPy, whose import takes longer than most runs.

The probability beyond t is half a regularized incomplete beta function: I_x(d/2, 1/2) / 2 with x = d / (d + t^2) (M.
Abramowitz, I. Stegun, Handbook of Mathematical Functions, 26.7.1), which a continued fraction gives (NIST DLMF 8.17.22,
evaluated by the method of Lentz).
"""

import math

_SMALLEST = 1e-300
_PRECISE = 1e-15
_MOST_TERMS = 10_000
_MOST_STEPS = 200


def beyond(t: float, degrees: float) -> float:
    """The probability that T > t, for t >= 0."""
    if math.isinf(t):
        return 0.0
    if math.isinf(degrees):
        return 0.5 * math.erfc(t / math.sqrt(2.0))
    return 0.5 * _incomplete_beta(degrees / (degrees + t * t), t * t / (degrees + t * t), 0.5 * degrees, 0.5)


def two_sided(confidence: float, degrees: float) -> float:
    """The t that |T| stays below with probability `confidence`.

    Newton's method from 0 on: the distribution function is concave there, so that no step goes too far.
    """
    outside = 0.5 * (1.0 - confidence)
    t = 0.0
    for _ in range(_MOST_STEPS):
        step = (beyond(t, degrees) - outside) / _density(t, degrees)
        t += step
        if abs(step) <= _PRECISE * t:
            break
    return t


def _density(t: float, degrees: float) -> float:
    if math.isinf(degrees):
        return math.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)
    scale = math.lgamma(0.5 * (degrees + 1.0)) - math.lgamma(0.5 * degrees) - 0.5 * math.log(degrees * math.pi)
    return math.exp(scale - 0.5 * (degrees + 1.0) * math.log1p(t * t / degrees))


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """I_x(a, b), with `rest` = 1 - x; from the side on which the fraction converges quickly."""
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _incomplete_beta(rest, x, b, a)
    if x <= 0.0:
        return 0.0
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(x) + b * math.log(rest)) / a
    return front * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction."""
    c, d = 1.0, 1.0 / _nonzero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            d = 1.0 / _nonzero(1.0 + term * d)
            c = _nonzero(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) <= _PRECISE:
            break
    return value


def _nonzero(x: float) -> float:
    return x if abs(x) > _SMALLEST else _SMALLEST
