"""The comparison finds what is wrong, and seldom cries wolf."""

import random
from fractions import Fraction

import pytest

from serq.compare.agree import Agreement, compare
from serq.ir.measures import Measure
from serq.ir.results import Estimate

L = Measure("stage", "svc", "number", "mean number")


def _simulated(value: float, error: float | None, degrees: float = 120, measure: str = L.name) -> Estimate:
    return Estimate(measure, "simulation", value, "batch means", standard_error=error, degrees=degrees)


def _known(value: Fraction | float, witness: str = "exact", measure: str = L.name) -> Estimate:
    return Estimate(measure, witness, value, "test")  # type: ignore[arg-type]


def _one(simulated: list[Estimate], exact: list[Estimate], closed: list[Estimate]) -> Agreement:
    return compare([L], simulated, exact, closed)


def test_equal_rationals_agree_and_different_ones_do_not() -> None:
    third = Fraction(1, 3)
    assert _one([], [_known(third)], [_known(third, "closed form")]).rows[0].verdict == "agrees"
    wrong = _one([], [_known(third)], [_known(third + Fraction(1, 10**12), "closed form")])
    assert wrong.rows[0].verdict == "disagrees"
    assert "different rationals" in wrong.rows[0].why
    assert not wrong.agrees


def test_floats_may_differ_by_their_bounds_only() -> None:
    assert _one([], [_known(1.0)], [_known(1.0 + 1e-12, "closed form")]).agrees
    assert not _one([], [_known(1.0)], [_known(1.0 + 1e-6, "closed form")]).agrees


def test_a_simulated_value_far_off_disagrees() -> None:
    table = _one([_simulated(1.1, 0.01)], [_known(Fraction(1))], [])
    assert table.rows[0].verdict == "disagrees"
    assert table.rows[0].z == pytest.approx(10.0)


def test_a_constant_must_be_equal() -> None:
    assert _one([_simulated(1.0, 0.0)], [_known(Fraction(1))], []).agrees
    assert not _one([_simulated(1.01, 0.0)], [_known(Fraction(1))], []).agrees


def test_without_an_interval_nothing_is_claimed() -> None:
    assert _one([_simulated(5.0, None)], [_known(Fraction(1))], []).rows[0].verdict == "one witness"


def test_one_witness_is_no_comparison() -> None:
    table = _one([_simulated(1.0, 0.1)], [], [])
    assert table.rows[0].verdict == "one witness"
    assert table.compared == 0


def test_a_measure_with_a_reason_but_no_value_has_no_answer() -> None:
    silent = Estimate(L.name, "exact", None, "chain", reason="needs the tagged-session chain")
    assert _one([], [silent], []).rows[0].verdict == "no answer"


def test_the_closed_form_stands_in_for_the_chain() -> None:
    assert not _one([_simulated(2.0, 0.01)], [], [_known(Fraction(1), "closed form")]).agrees


def test_false_alarms_are_as_rare_as_stated() -> None:
    # 4000 tables of eight true nulls at a family-wise rate of 5 %: the count is binomial(4000, <= 0.05). Beyond
    # 200 + 4.5 standard deviations = 262 the statement is false; a correct method gets there with p < 1e-5.
    rng = random.Random(7)
    measures = [Measure("stage", f"s{i}", "number", "") for i in range(8)]
    exact = [_known(0.0, measure=m.name) for m in measures]
    alarms = 0
    for _ in range(4000):
        simulated = [_simulated(rng.gauss(0, 1), 1.0, 1e9, m.name) for m in measures]
        alarms += not compare(measures, simulated, exact, [], false_alarm=0.05).agrees
    assert 100 < alarms <= 262


def test_power_is_as_stated() -> None:
    # An error of exactly the size `finds` must be found in about 95 % of the tables: 1000 trials, four standard
    # deviations (0.007 each) below is 0.92.
    rng = random.Random(8)
    reference = [_known(Fraction(1))]
    size = _one([_simulated(1.0, 0.01)], reference, []).rows[0].finds
    assert size is not None
    found = sum(not _one([_simulated(rng.gauss(1 + size, 0.01), 0.01, 1e9)], reference, []).agrees for _ in range(1000))
    assert found / 1000 > 0.92
