"""Rational numbers as the texts that other tools read."""

from fractions import Fraction
from typing import Literal

Numerals = Literal["rational", "decimal"]
"""`rational`: `1/3`, exact, for Storm and for `prism -exact`. `decimal`: what PRISM reads by default; exact where the
number has a decimal of at most 17 digits, otherwise the nearest double.
"""

_DIGITS = 17


def numeral(x: Fraction, style: Numerals) -> str:
    """The number as a text in that style; whole numbers look the same in both."""
    if x.denominator == 1 and abs(x) < 10**_DIGITS:
        return str(x.numerator)
    return str(x) if style == "rational" else decimal(x)


def decimal(x: Fraction) -> str:
    """The exact decimal where it has at most 17 digits, otherwise the shortest one that gives the nearest double."""
    exact = _finite_decimal(x)
    return exact if exact is not None else repr(float(x))


def is_exact_decimal(x: Fraction) -> bool:
    """Whether `decimal` loses nothing."""
    return Fraction(decimal(x)) == x


def _finite_decimal(x: Fraction) -> str | None:
    rest, places = x.denominator, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        places = max(places, power)
    if rest != 1:
        return None
    digits = str(abs(x.numerator) * 10**places // x.denominator).rjust(places + 1, "0")
    if len(digits.lstrip("0")) > _DIGITS:
        return None
    whole, fraction = digits[: len(digits) - places], digits[len(digits) - places :]
    return ("-" if x < 0 else "") + whole + ("." + fraction if fraction else "")
