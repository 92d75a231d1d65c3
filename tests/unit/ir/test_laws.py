"""Which parameters make a law."""

import math
from fractions import Fraction

import pytest

from serq.base.errors import LoadError, RunError
from serq.closedforms.arguments import NON_NEGATIVE, NUMBER, POSITIVE
from serq.ir.expr import Number, is_finite
from serq.ir.laws import Law, problem_of
from serq.pipeline import load_text, solve

HUGE, TINY = Fraction(10) ** 400, Fraction(1, 10**400)


@pytest.mark.parametrize("value", [HUGE, -HUGE, TINY, -TINY])
def test_no_law_beyond_the_range_of_doubles(value: Number) -> None:
    assert not is_finite(value)
    assert problem_of(Law("det", (value,))) == "its arguments must lie in the range of doubles"
    assert not any(domain.contains(value) for domain in (NUMBER, POSITIVE, NON_NEGATIVE))


@pytest.mark.parametrize("value", [Fraction(0), Fraction(1, 10**300), 5e-324, -1e308])
def test_all_within_it(value: Number) -> None:
    assert is_finite(value)
    assert problem_of(Law("det", (value,))) is None


SESSION = """stage s : fifo; stage d : delay; workload { arrive closed(2); }
session { loop { run s (~exp(WORK)); run d (~exp(1)); } }"""


def test_a_constant_law_is_refused_where_it_stands() -> None:
    with pytest.raises(LoadError, match="its arguments must lie in the range of doubles"):
        load_text("let mu = 1e-320; " + SESSION.replace("WORK", "1 / mu"))


def test_one_that_depends_on_the_state_is_refused_where_it_is_met() -> None:
    program = load_text(SESSION.replace("WORK", "pow(10, -400 * busy(d))")).program
    with pytest.raises(RunError, match="cannot be drawn: its arguments must lie in the range of doubles"):
        solve(program)


@pytest.mark.parametrize(("mean", "number"), [("1 / inf", 0), ("1 / ln(0)", 0), ("1 / (5 % inf)", Fraction(1, 6))])
def test_what_is_made_of_an_infinity_may_be_rational(mean: str, number: Number) -> None:
    solved = solve(load_text(SESSION.replace("WORK", mean).replace("closed(2)", "closed(1)")).program)
    assert solved.chain.approximated == ()
    values = {e.measure: e.value for e in solved.estimates}
    assert values["stage.s.number"] == number
    assert math.isinf(load_text("let x = 1 / 0; " + SESSION.replace("WORK", "1 / x")).program.constants[0].folded.value)


@pytest.mark.parametrize(
    ("law", "problem"),
    [
        (Law("choice", (1.0, 1e308, 2.0, 1e308)), "add up to more"),
        (Law("choice", (Fraction(1), Fraction(10**308), Fraction(2), Fraction(10**308))), "add up to more"),
        (Law("choice", (1.0, 5e307, 2.0, 5e307)), None),
        (Law("erlang", (1e9, 1.0)), "1000000 phases at most"),
        (Law("erlang", (Fraction(10**6), Fraction(1))), None),
    ],
)
def test_laws_that_nobody_can_draw(law, problem):
    found = problem_of(law)
    assert found is None if problem is None else problem in found
