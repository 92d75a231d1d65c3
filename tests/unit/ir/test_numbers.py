"""Numbers for people and for JSON, at the ends of what doubles can hold."""

from fractions import Fraction

import pytest

from serq.ir.numbers import as_given, as_json, holding, near_one, short

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


@pytest.mark.parametrize(
    ("value", "text"),
    [(Fraction(1, 3), "0.3333333333"), (0.9999999999986667, "0.9999999999986667"), (1 - 1e-6, "0.999999"), (1.0, "1")],
)
def test_a_factor_next_to_one_is_told_from_it(value, text):
    assert near_one(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(3.0, "3"), (2.9999999, "2.9999999"), (1234567.0, "1234567"), (1e6, "1e+06")]
)
def test_what_is_given_is_shown_as_such(value, text):
    assert as_given(value) == text


@pytest.mark.parametrize(
    ("value", "bound", "text"),
    [
        (123456.789, 0.0, "123457"),
        (123456.789, 0.04, "123457"),
        (123456.789, 40.0, "1.235e+05"),
        (0.00123456, 1e-5, "0.0012"),
        (9.99467e11, 2e8, "9.99e+11"),
        (5.0, 4.0, "5"),
        (None, None, "-"),
    ],
)
def test_only_digits_that_hold(value: float | None, bound: float | None, text: str) -> None:
    assert holding(value, bound, 6) == text
