"""Answers where a parameter is irrational: doubles with a bound that holds, and no rationals."""

from fractions import Fraction
from math import sqrt

import pytest
from running import program_of

from serq import loads
from serq.base.errors import UsageError
from serq.compare.laws import with_distributions
from serq.ir.laws import Law, h2_probability, phase_type
from serq.pipeline import SolveOptions, solve
from serq.studies.event import price_of_event
from serq.studies.passing import passing

QUEUE = """
stage s : fifo ({servers});
workload {{ arrive poisson({rate}); }}
session {{ set begun = now; run s (~h2(1, {cv2})); observe stay = now - begun; }}
run {{ horizon 100; }}
"""
CLOSED = "stage s : fifo; stage t : delay; workload { arrive closed(3); } "
CLOSED += "session { loop { run s (~exp(MEAN)); run t (~exp(2)); } } run { horizon 100; }"


def answers(text):
    return {e.measure: e for e in solve(program_of(text)).estimates}


@pytest.mark.parametrize("cv2", [Fraction(4), Fraction(100), Fraction(3, 2), 2.5])
def test_both_branches_are_right_to_many_digits(cv2):
    p, rounded = h2_probability(cv2)
    square = (Fraction(cv2) - 1) / (Fraction(cv2) + 1)
    assert rounded
    assert abs((2 * p - 1) ** 2 - square) < Fraction(1, 10**33)
    assert p == pytest.approx((1 + sqrt(square)) / 2)


def test_a_rational_probability_stays_one():
    assert h2_probability(Fraction(5, 3)) == (Fraction(3, 4), False)
    assert not phase_type(Law("h2", (Fraction(1), Fraction(5, 3)))).rounded


def test_the_formula_of_pollaczek_and_khinchine_within_the_bound():
    """M/G/1 with load 1/2: L = rho + rho^2 (1 + cv2) / (2 (1 - rho)), whatever else the law is."""
    number = answers(QUEUE.format(servers=1, rate=0.5, cv2=4))["stage.s.number"]
    assert not number.is_exact
    assert abs(Fraction(number.value) - Fraction(7, 4)) <= number.bound < 1e-15


def test_the_bound_holds_where_one_branch_is_rare():
    """M/H2/2 at load 0.9, cv2 = 100, against matrix-geometric iteration in 80 digits."""
    number = answers(QUEUE.format(servers=2, rate=1.8, cv2=100))["stage.s.number"]
    assert abs(Fraction(number.value) - Fraction("372.273882422004069")) <= number.bound < 1e-12


def test_a_double_that_stands_for_a_constant_gives_no_bound():
    number = answers(CLOSED.replace("MEAN", "sqrt(2)"))["stage.s.number"]
    assert not number.is_exact
    assert number.bound is None
    assert number.value == pytest.approx(answers(CLOSED.replace("MEAN", "1.4142135623730951"))["stage.s.number"].value)


@pytest.mark.parametrize("limit", ["", " limit(2)"])
def test_rationals_are_refused_where_they_would_be_of_another_program(limit):
    program = program_of(QUEUE.format(servers=1, rate="0.5", cv2=4).replace("(0.5)", f"(0.5){limit}"))
    with pytest.raises(UsageError, match=r"no rational solution: the probability of a branch of ~h2 .* is irrational"):
        solve(program, SolveOptions(exact=True))
    assert solve(program, SolveOptions(exact=False)).solution.bound


@pytest.mark.parametrize("limit", ["", " limit(2)"])
def test_the_bound_on_the_vector_is_one_for_the_program(limit):
    solved = solve(program_of(QUEUE.format(servers=1, rate="0.5", cv2=4).replace("(0.5)", f"(0.5){limit}")))
    assert isinstance(solved.solution.probabilities[0], Fraction)
    assert 0 < solved.solution.bound < 1e-15


def test_numbers_in_doubles_have_bounds_for_the_program_too():
    text = CLOSED.replace("MEAN", "sqrt(2)")
    solved = solve(program_of(text), SolveOptions(exact=False))
    assert {e.bound for e in solved.estimates if e.value is not None} == {None}
    assert solved.solution.bound is None
    passed = passing(program_of(text), 2.0, None, "stage.s.number >= 2", SolveOptions())
    assert isinstance(passed.mean_time, float)
    assert passed.chance_bound is None


def test_no_state_has_an_exact_probability():
    result = loads(QUEUE.format(servers=1, rate="0.5", cv2=4).replace("(0.5)", "(0.5) limit(2)")).solve()
    assert {type(p) for p in result.distribution().values()} == {float}
    assert not [row for row in result.to_dict(states=True)["distribution"] if "exact" in row]


def test_moments_of_a_law_are_near_too():
    text = QUEUE.format(servers=1, rate="0.5", cv2=4).replace("(0.5)", "(0.5) limit(3)")
    program, options = program_of(text), SolveOptions(distributions=True)
    found = {e.measure: e for e in with_distributions(solve(program, options), program, options).estimates}
    assert isinstance(found["observe.stay.second"].value, Fraction)
    assert not found["observe.stay.second"].is_exact


def test_rational_parameters_give_rationals():
    assert answers(QUEUE.format(servers=1, rate=0.5, cv2="5 / 3"))["stage.s.number"].value == Fraction(7, 6)


def test_no_rational_of_another_program_is_called_exact():
    """The slope in the rate of arrivals, and the formulas, say what stands next to the program."""
    text = "let r = 1 / 2; " + QUEUE.format(servers=1, rate="r", cv2=4).replace("(r)", "(r) limit(3)")
    model = loads(text)
    (slopes,) = model.solve(derivative=("r",)).derivatives
    assert {type(s.derivative) for s in slopes.slopes} == {float}
    assert "irrational" in model.symbolic().to_dict()["approximated"][0]
    priced = price_of_event(model.program, {}, "work := 0", None, SolveOptions())
    assert isinstance(priced.present, float)


def test_the_price_of_a_change_is_a_double():
    """By Pollaczek and Khinchine 2.85 - 1.75 sessions."""
    changed = loads("let r = 1 / 2; " + QUEUE.format(servers=1, rate="r", cv2=4)).price({"r": "3 / 5"})
    assert {type(c.difference) for c in changed.exact} == {float}
    assert changed.prices["s"] == pytest.approx(1.1, rel=1e-13)
