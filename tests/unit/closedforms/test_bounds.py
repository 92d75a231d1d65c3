"""Bounds bound: every network that hypothesis thinks of lies between them."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies import QUEUE

from serq.closedforms.bounds import ASYMPTOTIC, BALANCED
from serq.closedforms.formula import evaluate_formula
from serq.closedforms.match import match
from serq.closedforms.match_bounds import bounds_of
from serq.models import find
from serq.pipeline import load, load_text

positive = st.fractions(min_value=Fraction(1, 20), max_value=20, max_denominator=20)


def exact(population: int, demands: list[Fraction], think: Fraction) -> tuple[Fraction, Fraction]:
    """Throughput and response by mean value analysis (Reiser and Lavenberg 1980), from its recursion alone."""
    numbers = [Fraction(0)] * len(demands)
    cycles = response = Fraction(0)
    for n in range(1, population + 1):
        times = [d * (1 + q) for d, q in zip(demands, numbers, strict=True)]
        response = sum(times, Fraction(0))
        cycles = n / (response + think)
        numbers = [cycles * t for t in times]
    return cycles, response


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.lists(positive, min_size=1, max_size=4), st.one_of(st.just(Fraction(0)), positive))
def test_every_network_lies_between_its_bounds(population: int, demands: list[Fraction], think: Fraction) -> None:
    cycles, response = exact(population, demands, think)
    given = {"N": Fraction(population), "D": tuple(demands), "Z": think}
    loose, tight = (evaluate_formula(f, given).values for f in (ASYMPTOTIC, BALANCED))
    for bounds in (loose, tight):
        assert bounds["Xmin"] <= cycles <= bounds["Xmax"]
        assert bounds["Rmin"] <= response <= bounds["Rmax"]
    assert loose["Xmin"] <= tight["Xmin"] <= tight["Xmax"] <= loose["Xmax"]


def test_a_balanced_network_without_think_time_has_them_for_its_values() -> None:
    cycles, response = exact(5, [Fraction(2)] * 3, Fraction(0))
    bounds = evaluate_formula(BALANCED, {"N": Fraction(5), "D": (Fraction(2),) * 3, "Z": Fraction(0)}).values
    assert bounds["Xmin"] == bounds["Xmax"] == cycles
    assert bounds["Rmin"] == bounds["Rmax"] == response


def test_the_bounds_of_a_program() -> None:
    matches = match(load_text(QUEUE, overrides={"N": 6}).program)
    values = {e.measure: e.value for e in matches.estimates}
    found = bounds_of(matches)
    assert found.saturation == 3
    assert {b.measure for b in found.bounds} >= {"stage.svc.number", "stage.svc.sojourn", "stage.think.throughput"}
    for bound in found.bounds:
        assert bound.low <= values[bound.measure] <= bound.high, bound


def test_a_network_of_two_queues() -> None:
    program = load(find("tandem").path, {"N": 5}).program
    matches = match(program)
    values = {e.measure: e.value for e in matches.estimates}
    for bound in bounds_of(matches).bounds:
        assert bound.low <= values[bound.measure] <= bound.high, bound


@pytest.mark.parametrize("name", ["mm1", "mmcn", "lru"])
def test_no_bounds_where_none_apply(name: str) -> None:
    assert bounds_of(match(load(find(name).path).program)).bounds == ()
