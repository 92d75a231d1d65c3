"""The shipped models: they lint clean, they are formatted, and every value written beside them is found.

Simulated values are compared by z-scores. All of them together give a false alarm with a probability of at most
`FALSE_ALARM` (Bonferroni); the seeds are fixed.
"""

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from expectations import Expectation, expectations, read_toml

from serq import models, pipeline
from serq.base.errors import NoRationalsError, OutsideFragmentError
from serq.base.source import SourceFile
from serq.ir.results import Estimate
from serq.semantics.estimate import student_quantile
from serq.syntax.parser import parse
from serq.syntax.printer import format_module

FALSE_ALARM = 1e-3
KEYS = {"set", "measure", "value", "error", "at_most", "equals", "witness", "source"}
MODELS = models.shipped()
EXPECTATIONS = expectations()
Sets = tuple[tuple[str, str], ...]


def of(witness: str) -> list[Expectation]:
    return [x for x in EXPECTATIONS if witness in x.witnesses]


CONFIDENCE = 1 - FALSE_ALARM / sum(x.value is not None for x in of("simulation"))

# -- the programs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_it_lints_without_a_warning(model: models.ShippedModel) -> None:
    assert pipeline.load(model.path).warnings == ()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_it_is_formatted(model: models.ShippedModel) -> None:
    text = model.path.read_text("utf-8")
    assert format_module(parse(SourceFile(model.name, text))) == text


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_it_says_what_it_shows_and_where_its_values_come_from(model: models.ShippedModel) -> None:
    written = read_toml(model)
    assert {"title", "shows", "horizon", "warmup", "expect"} <= set(written)
    assert all(set(entry) <= KEYS and entry["source"] for entry in written["expect"])
    for entry in written["expect"]:
        assert sum(key in entry for key in ("value", "at_most", "equals")) == 1


def test_every_known_value_stands_beside_a_model() -> None:
    files = {path for path in Path(models.__file__).parent.glob("*/*.toml")}
    assert files == {model.expectations for model in MODELS}


# -- the values ------------------------------------------------------------------------------------------------------


@cache
def solved(path: Path, sets: Sets) -> Mapping[str, Estimate]:
    """In rationals, or with a bound where a parameter is irrational."""
    program = pipeline.load(path, dict(sets)).program
    try:
        answer = pipeline.solve(program, pipeline.SolveOptions(exact=True))
    except NoRationalsError:
        answer = pipeline.solve(program)
    return {estimate.measure: estimate for estimate in answer.estimates}


@cache
def matched(path: Path, sets: Sets) -> Mapping[str, Estimate]:
    found = pipeline.closed_forms(pipeline.load(path, dict(sets)).program)
    return {estimate.measure: estimate for estimate in found.estimates}


@cache
def simulated(path: Path, sets: Sets, horizon: float, warmup: float) -> Mapping[str, Estimate]:
    program = pipeline.load(path, dict(sets)).program
    report, _ = pipeline.simulate(program, pipeline.SimulateOptions(horizon=horizon, warmup=warmup))
    return {estimate.measure: estimate for estimate in report.estimates}


def total(found: Mapping[str, Estimate], x: Expectation) -> Fraction | float:
    values = [found[measure].value for measure in x.measures]
    assert all(value is not None for value in values), [found[measure].reason for measure in x.measures]
    return sum(values)  # type: ignore[arg-type, return-value]


def agrees(value: Fraction | float, right: Fraction | Decimal) -> bool:
    """Equal as rationals, or to the last printed digit."""
    if isinstance(right, Fraction):
        return value == right
    exponent = right.as_tuple().exponent
    assert isinstance(exponent, int)
    return abs(Fraction(value) - Fraction(right)) <= Fraction(10) ** exponent / 2


@pytest.mark.parametrize("x", of("exact"), ids=str)
def test_the_exact_solution(x: Expectation) -> None:
    assert x.value is not None
    found = solved(x.model.path, x.sets)
    bounds = [found[measure].bound for measure in x.measures]
    if any(bounds):
        assert abs(Fraction(total(found, x)) - Fraction(x.value)) <= sum(map(Fraction, bounds)) <= 1e-12
    else:
        assert agrees(total(found, x), x.value)


@pytest.mark.parametrize("x", of("closed form"), ids=str)
def test_the_closed_form(x: Expectation) -> None:
    assert x.value is not None
    assert agrees(total(matched(x.model.path, x.sets), x), x.value)


@pytest.mark.parametrize("x", of("simulation"), ids=str)
def test_the_simulation(x: Expectation) -> None:
    written = read_toml(x.model)
    found = simulated(x.model.path, x.sets, float(written["horizon"]), float(written["warmup"]))
    value = float(total(found, x))
    if x.at_most is not None:
        assert value <= x.at_most
    elif x.equals is not None:
        assert value == pytest.approx(float(found[x.equals].value or 0), rel=1e-9)
    elif len(x.measures) > 1:
        assert x.value is not None
        assert value == pytest.approx(float(x.value), rel=1e-9)
    elif written.get("deterministic"):
        assert x.value is not None
        assert value == float(x.value) or agrees(value, Decimal(x.value) if isinstance(x.value, int) else x.value)
    else:
        check_score(found[x.measures[0]], x)


def check_score(estimate: Estimate, x: Expectation) -> None:
    """|z| stays within the quantile that keeps the false alarms of the whole file below `FALSE_ALARM`."""
    assert estimate.value is not None
    assert x.value is not None
    error = math.hypot(estimate.standard_error or 0.0, x.error)
    score = (float(estimate.value) - float(x.value)) / error
    assert abs(score) < student_quantile(CONFIDENCE, estimate.degrees or math.inf), f"z = {score:.2f}"


# -- what is no chain ------------------------------------------------------------------------------------------------

NO_CHAIN = {
    "agentic", "routing", "two_resource", "session_cap", "offload", "vllm", "vllm_replay", "vllm_request",
    "vllm_priority", "hit_miss", "mg1ps",
}  # fmt: skip


@pytest.mark.parametrize("model", [m for m in MODELS if m.name in NO_CHAIN], ids=lambda m: m.name)
def test_the_solver_refuses_what_is_no_chain(model: models.ShippedModel) -> None:
    with pytest.raises(OutsideFragmentError):
        pipeline.solve(pipeline.load(model.path).program)


def test_every_other_model_has_an_exact_value() -> None:
    assert {x.model.name for x in of("exact")} == {m.name for m in MODELS} - NO_CHAIN
