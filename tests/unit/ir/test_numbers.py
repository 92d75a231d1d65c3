"""Numbers for people and for JSON, at the ends of what doubles can hold."""

from fractions import Fraction

import pytest

from serq.ir.numbers import as_json, short

HUGE = Fraction(10) ** 400


@pytest.mark.parametrize(
    ("value", "text", "double"),
    [
        (HUGE / 3, "3.333333e+399", None),
        (-HUGE, "-1e+400", None),
        (1 / (3 * HUGE), "3.333333e-401", 0.0),
        (Fraction(1, 3), "0.3333333", 1 / 3),
        (Fraction(7), "7", 7.0),
        (Fraction(0), "0", 0.0),
        (float("inf"), "inf", None),
    ],
)
def test_a_rational_is_shown_even_where_doubles_do_not_reach(value, text, double):
    assert short(value) == text
    assert as_json(value) == double
