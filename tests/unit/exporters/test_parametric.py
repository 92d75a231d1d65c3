"""DRN with parameters: Storm answers with a formula, which has our exact values whatever the constants are."""

import re
from fractions import Fraction

import pytest

from serq import loads, models
from serq.compare.storm import long_run_functions
from serq.exporters.parametric import Parametric
from serq.ir.chain import Ratio
from serq.ir.program import Program
from serq.pipeline import SolveOptions, explore_chain, load, load_text, solve


def program(name: str, **sets: object) -> Program:
    model = models.find(name)
    assert model is not None
    return load(model.path, {k: str(v) for k, v in sets.items()}).program


def value(formula: str, constants: dict[str, Fraction]) -> Fraction:
    """The formula at these constants, in rationals."""
    text = re.sub(r"(?<![\w.])(\d+)", r"F(\1)", formula.replace("^", "**"))
    return Fraction(eval(text, {"F": Fraction, **constants}))


CASES = {
    "mm1n": ({"N": 3}, {"mu": Fraction(5, 3), "Z": Fraction(2)}),
    "twoclass": ({"N": 3}, {"sh": Fraction(1, 7), "sm": Fraction(5), "Z": Fraction(9, 2)}),
    "lru": ({"N": 3, "C": 2}, {"s_hit": Fraction(2), "s_miss": Fraction(7, 2), "Z": Fraction(3)}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_formulas_hold_at_constants_that_nobody_had_in_mind(name: str) -> None:
    structure, other = CASES[name]
    chain = explore_chain(program(name, **structure), SolveOptions())
    files = Parametric().emit(chain, name)
    rewards = re.findall(r'^R{"(\w+)"}', files[f"{name}.props"], re.MULTILINE)
    formulas = dict(zip(rewards, long_run_functions(files[f"{name}.drn"], rewards), strict=True))
    exact = {e.measure: e.value for e in solve(program(name, **structure, **other), SolveOptions(exact=True)).estimates}
    compared = 0
    for ratio in chain.ratios:
        if isinstance(ratio, Ratio) and ratio.per is None and len(ratio.terms) == 1 and exact[ratio.measure]:
            ((weight, reward),) = ratio.terms
            identifier = re.sub(r"\W+", "_", reward)
            assert weight * value(formulas[identifier], other) == exact[ratio.measure], ratio.measure
            compared += 1
    assert compared > 5


def test_a_rate_that_is_no_rational_function_is_a_number_and_named() -> None:
    text = """let m = 2; stage svc : fifo; stage think : delay; workload { arrive closed(1); }
    session { loop { run svc (~exp(max(m, 1))); run think (~exp(m)); } } run { horizon 1; }"""
    chain = explore_chain(load_text(text).program, SolveOptions())
    files = Parametric().emit(chain, "q")
    assert "@parameters\nm\n" in files["q.drn"]
    assert ": (1/2)\n" in files["q.drn"]
    assert ": (1/m)\n" in files["q.drn"]
    assert '"fixed_rates": [\n  "1/2"\n ]' in files["q.map.json"]


def test_a_constant_that_is_made_of_others_is_no_parameter() -> None:
    text = """let mu = 2; let Z = 3 / mu; stage svc : fifo; stage think : delay; workload { arrive closed(1); }
    session { loop { run svc (~exp(1 / mu)); run think (~exp(Z)); } } run { horizon 1; }"""
    files = loads(text).export("parametric").texts
    (drn,) = (content for name, content in files.items() if name.endswith(".drn"))
    assert "@parameters\nmu\n" in drn
    assert "1/(3/mu)" in drn
