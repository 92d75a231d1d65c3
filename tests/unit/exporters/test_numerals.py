from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.exporters.numerals import decimal, is_exact_decimal, numeral


@pytest.mark.parametrize(
    ("number", "rational", "decimals"),
    [
        (Fraction(0), "0", "0"),
        (Fraction(-7), "-7", "-7"),
        (Fraction(1, 4), "1/4", "0.25"),
        (Fraction(-1, 8), "-1/8", "-0.125"),
        (Fraction(41, 20), "41/20", "2.05"),
        (Fraction(1, 10**6), "1/1000000", "0.000001"),
        (Fraction(1, 3), "1/3", "0.3333333333333333"),
        (Fraction(10**20), "100000000000000000000", "1e+20"),
    ],
)
def test_by_example(number, rational, decimals):
    assert numeral(number, "rational") == rational
    assert numeral(number, "decimal") == decimals


@given(st.fractions())
def test_a_rational_loses_nothing_and_a_decimal_less_than_a_double(number):
    assert Fraction(numeral(number, "rational")) == number
    read = Fraction(decimal(number))
    assert float(read) == float(number)
    assert is_exact_decimal(number) == (read == number)


@given(st.integers(-(10**8), 10**8), st.integers(0, 8))
def test_short_decimals_stay_exact(digits, places):
    assert is_exact_decimal(Fraction(digits, 10**places))
