"""JANI: expressions as trees, edges with their own rates, what stays open. Storm reads it in tests/agree."""

import json
from fractions import Fraction

import pytest

from serq import models
from serq.compare.storm import jani_job, run_storm, succeeded
from serq.exporters.jani import Jani, jani_text
from serq.exporters.jani_expressions import JaniExpressions
from serq.exporters.prism import Prism
from serq.pipeline import load


def tree(text: str, **formulas: str) -> object:
    return JaniExpressions(formulas).tree(text)


def test_products_bind_tighter_than_sums_and_go_left_to_right() -> None:
    product = {"op": "*", "left": "b", "right": "c"}
    assert tree("a - b * c - 1") == {"op": "-", "left": {"op": "-", "left": "a", "right": product}, "right": 1}
    assert tree("a / b / c") == {"op": "/", "left": {"op": "/", "left": "a", "right": "b"}, "right": "c"}
    assert tree("a / (b * c)") == {"op": "/", "left": "a", "right": {"op": "*", "left": "b", "right": "c"}}


def test_tests_and_conditions() -> None:
    both = {"op": "∧", "left": {"op": "≤", "left": "a", "right": 1}, "right": {"op": "≠", "left": "b", "right": 2}}
    assert tree("a <= 1 & b != 2 | c = 3") == {
        "op": "∨",
        "left": both,
        "right": {"op": "=", "left": "c", "right": 3},
    }
    assert tree("a > 0 ? b : c > 0 ? 1 : 0")["else"]["op"] == "ite"  # type: ignore[index]
    assert tree("!(a > 0)") == {"op": "¬", "exp": {"op": ">", "left": "a", "right": 0}}
    assert tree("-a + b") == {"op": "+", "left": {"op": "-", "left": 0, "right": "a"}, "right": "b"}


def test_decimals_are_quotients_so_that_nobody_rounds_them() -> None:
    assert tree("0.1") == {"op": "/", "left": 1, "right": 10}


def test_functions() -> None:
    assert tree("max(a, b, 0)") == {
        "op": "max",
        "left": {"op": "max", "left": "a", "right": "b"},
        "right": 0,
    }
    assert tree("mod(x, 2)") == {"op": "%", "left": "x", "right": 2}
    assert tree("pow(2, n)") == {"op": "floor", "exp": {"op": "pow", "left": 2, "right": "n"}}


def test_formulas_are_put_in() -> None:
    assert tree("rest / Z", rest="N - n") == {"op": "/", "left": {"op": "-", "left": "N", "right": "n"}, "right": "Z"}


@pytest.mark.parametrize("text", ["a b", "(a", "a +", "a ? b", "min(a", "a # b"])
def test_what_is_no_expression_is_an_error_of_ours(text: str) -> None:
    with pytest.raises((AssertionError, IndexError)):
        tree(text)


def test_a_shipped_model_keeps_its_constants_open_and_each_way_out_has_an_edge() -> None:
    model = models.find("twoclass")
    assert model is not None
    program = load(model.path).program
    files = Jani().emit(program, "twoclass")
    assert set(files) == {"twoclass.jani", "twoclass.map.json"}
    document = json.loads(files["twoclass.jani"])
    assert document["type"] == "ctmc"
    assert all("value" not in constant for constant in document["constants"])
    counters = Prism().export(program).counters
    (automaton,) = document["automata"]
    assert len(automaton["edges"]) == sum(len(c.branches) for c in counters.commands) == 10
    assert {p["name"] for p in document["properties"]} == {f"longrun_{r.identifier}" for r in counters.rewards}


def test_storm_refuses_an_update_out_of_range_in_jani_too() -> None:
    """Otherwise it would wrap around without a word."""
    model = models.find("mm1n")
    assert model is not None
    export = Prism().export(load(model.path).program)
    text = jani_text(export.counters, "mm1n")
    document = json.loads(text)
    for edge in document["automata"][0]["edges"]:
        edge["guard"] = {"exp": True}
    values = {"N": 3, "mu": Fraction(1), "Z": Fraction(4)}
    good, bad = run_storm([jani_job(t, values, ["longrun_number_svc"]) for t in (text, json.dumps(document))])
    assert succeeded(good).values == (Fraction(57, 71),)
    assert not hasattr(bad, "values")
