from fractions import Fraction

import pytest

from serq.ir import expr as e
from serq.ir.laws import Law
from serq.semantics.symbols import Amount, RealNumberError, Symbolic, Undrawn, constant_text, rate_text, slim

EXP = Amount(((Undrawn(Law("exp", (Fraction(2),)), None), Fraction(1)),))
ERLANG = Amount(((Undrawn(Law("erlang", (Fraction(3), Fraction(5))), None), Fraction(1)),))
ARITHMETIC = Symbolic()


def test_linear_arithmetic_keeps_the_mean() -> None:
    assert EXP.mean == 2
    assert (3 * EXP).mean == (EXP * 3).mean == 6
    assert (EXP + ERLANG + 1).mean == (1 + EXP + ERLANG).mean == 8
    assert (EXP - ERLANG).mean == -3
    assert (10 - EXP).mean == 8
    assert (-EXP).mean == -2
    assert ARITHMETIC.divide(EXP, Fraction(4)).mean == Fraction(1, 2)


def test_draws_are_not_merged() -> None:
    assert len((EXP + EXP).terms) == 2


def test_zero_times_a_draw_is_the_number_zero() -> None:
    assert EXP * 0 == 0
    assert isinstance(EXP * Fraction(0), int)


@pytest.mark.parametrize(
    "operation",
    [
        lambda: EXP * EXP,
        lambda: EXP > 1,
        lambda: EXP == 0,
        lambda: EXP != 0,
        lambda: EXP >= 1,
        lambda: EXP * float("inf"),
        lambda: ARITHMETIC.divide(1, EXP),
        lambda: ARITHMETIC.divide(EXP, 0),
        lambda: ARITHMETIC.modulo(EXP, 2),
        lambda: ARITHMETIC.function("min", (EXP, 2)),
    ],
)
def test_whoever_needs_the_value_is_refused(operation: object) -> None:
    with pytest.raises(RealNumberError):
        operation()


def test_whole_numbers_are_ints() -> None:
    assert isinstance(ARITHMETIC.literal(Fraction(3)), int)
    assert isinstance(ARITHMETIC.divide(6, 3), int)
    assert ARITHMETIC.divide(1, 3) == Fraction(1, 3)
    assert isinstance(ARITHMETIC.function("floor", (Fraction(7, 2),)), int)
    assert slim(Fraction(1, 2)) == Fraction(1, 2)
    assert slim(float("inf")) == float("inf")


A, B, ONE = e.Const("a"), e.Const("b"), e.Num(Fraction(1))


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (e.Binary("+", A, B), "a + b"),
        (e.Binary("*", e.Binary("+", A, B), A), "(a + b) * a"),
        (e.Binary("-", A, e.Binary("-", B, ONE)), "a - (b - 1)"),
        (e.Binary("/", A, e.Binary("*", B, A)), "a / (b * a)"),
        (e.Num(Fraction(4, 5)), "0.8"),
        (e.Binary("*", e.Num(Fraction(1, 3)), A), "(1/3) * a"),
        (e.Binary("*", e.Unary("-", A), B), "(-a) * b"),
        (e.Unary("-", A), "-a"),
        (e.Attr("x"), None),
        (e.Binary("+", A, e.Attr("x")), None),
        (e.Call("sqrt", (A,)), None),
    ],
)
def test_text_in_constants(expr: e.Expr, text: str | None) -> None:
    assert constant_text(expr) == text


@pytest.mark.parametrize(
    ("draw", "phases", "text"),
    [
        (e.Draw("exp", (e.Binary("/", ONE, A),)), 1, "a"),
        (e.Draw("exp", (A,)), 1, "1 / a"),
        (e.Draw("exp", (e.Binary("*", A, B),)), 1, "1 / (a * b)"),
        (e.Draw("erlang", (e.Num(Fraction(3)), e.Binary("/", ONE, A))), 3, "3 * a"),
        (e.Draw("erlang", (e.Num(Fraction(3)), A)), 3, "3 / a"),
        (e.Draw("exp", (e.Attr("x"),)), 1, None),
        (e.Draw("h2", (A, B)), 1, None),
    ],
)
def test_text_of_a_rate(draw: e.Draw, phases: int, text: str | None) -> None:
    assert rate_text(draw, phases) == text
