"""Differences between policies with common random numbers."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from studies import plan, policy

from serq.studies.differences import PAIRED, difference
from serq.studies.encoding import Outcome
from serq.studies.grid import points
from serq.studies.plan import planned
from serq.studies.tasks import work

NUMBER = "stage.svc.number"


@cache
def outcomes(mu: str, seed: int | None = None) -> dict[str, Outcome]:
    p = plan(policies=(policy(mu=mu),))
    p = replace(p, simulation=replace(p.simulation, seed=seed, horizon=4000.0, replications=2))
    (point,) = planned(p, points(()))
    return {method: Outcome.of_data(work(task)) for method, task in point.tasks.items()}


def test_the_difference_of_exact_answers_is_exact() -> None:
    a, b = outcomes("1"), outcomes("0.8")
    found = difference(NUMBER, a["exact"], b["exact"], 0.95)
    assert isinstance(found.value, Fraction)
    assert found.value == b["exact"].answer(NUMBER).value - a["exact"].answer(NUMBER).value


def test_common_random_numbers_narrow_the_interval() -> None:
    a, b, other = outcomes("1")["sim"], outcomes("0.98")["sim"], outcomes("0.98", seed=77)["sim"]
    common, independent = difference(NUMBER, a, b, 0.95), difference(NUMBER, a, other, 0.95)
    assert common.method == independent.method == PAIRED
    assert common.half_width < independent.half_width / 2


def test_a_policy_does_not_differ_from_itself() -> None:
    a = outcomes("1")["sim"]
    found = difference(NUMBER, a, a, 0.95)
    assert (found.value, found.standard_error, found.half_width) == (0, 0, 0)


def test_quantiles_are_compared_as_if_independent() -> None:
    a, b = outcomes("1")["sim"], outcomes("0.5")["sim"]
    found = difference("observe.response.p50", a, b, 0.95)
    assert found.method == "as if independent"
    assert found.value > found.half_width > 0


def test_no_answer_no_difference() -> None:
    a = outcomes("1")["sim"]
    assert difference(NUMBER, a, None, 0.95) is None
    assert difference("stage.none.number", a, a, 0.95) is None


@pytest.mark.parametrize("name", [NUMBER, "observe.response.mean", "stage.svc.throughput"])
def test_the_error_of_a_difference_covers_the_truth(name: str) -> None:
    a, b = outcomes("1"), outcomes("0.9")
    simulated, exact = (difference(name, a[m], b[m], 0.95) for m in ("sim", "exact"))
    assert abs(float(simulated.value) - float(exact.value)) < 4 * simulated.standard_error
