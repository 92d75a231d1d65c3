"""Formulas in the constants: those of the literature, and the values of the chain at other constants."""

import importlib.metadata
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
import sympy

from serq.base.errors import LimitError, UsageError
from serq.compare import symbolic
from serq.compare.symbolic import Formulas, formulas
from serq.ir.program import Program
from serq.pipeline import SolveOptions, load, load_text, solve

PROGRAMS = Path(__file__).parents[2] / "data" / "values" / "programs"


def found(name: str, wanted: list[str] | None = None, **sets: object) -> Formulas:
    def reload(values: Mapping[str, object]) -> Program:
        return load(PROGRAMS / f"{name}.sq", {k: str(v) for k, v in {**sets, **values}.items()}).program

    return formulas(reload({}), reload, SolveOptions(), wanted)


def test_the_number_of_a_finite_source_queue() -> None:
    answer = found("mm1n", N=3)
    mu, z = sympy.symbols("mu Z")
    number = {f.measure: f for f in answer.formulas}["stage.svc.number"]
    right = 3 * (mu**2 * z**2 + 4 * mu * z + 6) / (mu**3 * z**3 + 3 * mu**2 * z**2 + 6 * mu * z + 6)
    assert sympy.simplify(number.expression - right) == 0
    assert number.text == "3*(Z^2*mu^2 + 4*Z*mu + 6)/(Z^3*mu^3 + 3*Z^2*mu^2 + 6*Z*mu + 6)"
    assert number.latex.startswith(r"\frac{3 ")
    assert answer.opened == ("mu", "Z")
    assert answer.kept == {"N": "no rate is made of it"}


CASES = [
    ("lru", {"N": 3, "C": 2}, {"s_hit": "1", "s_miss": "3", "Z": "4"}),
    ("lru", {"N": 3, "C": 2}, {"s_hit": "2/3", "s_miss": "5", "Z": "7/2"}),
    ("tandem", {"N": 2}, {"m1": "1/3", "m2": "5", "Z": "2"}),
    ("lru_ps", {"N": 3, "C": 1}, {"s_hit": "3", "s_miss": "1/2", "Z": "9"}),
    ("mgn", {"N": 2}, {"m": "3/7", "Z": "2"}),
]


@pytest.mark.parametrize(("name", "shape", "values"), CASES)
def test_the_formulas_give_the_values_of_other_chains(name: str, shape: dict[str, int], values: dict[str, str]) -> None:
    answer = found(name, **shape)
    assert set(answer.opened) == set(values)
    program = load(PROGRAMS / f"{name}.sq", {**{k: str(v) for k, v in shape.items()}, **values}).program
    right = {e.measure: e.value for e in solve(program, SolveOptions(exact=True)).estimates}
    at = {k: Fraction(v) for k, v in values.items()}
    assert answer.formulas
    for formula in answer.formulas:
        assert formula.at(at) == right[formula.measure], formula.measure


def test_the_cached_queue_at_its_own_constants() -> None:
    number = {f.measure: f for f in found("lru", N=3, C=2).formulas}["stage.think.number"]
    at = {"s_hit": Fraction(1), "s_miss": Fraction(3), "Z": Fraction(4)}
    assert 3 - number.at(at) == Fraction(131395, 88901)
    slope = sympy.diff(3 - number.expression, sympy.Symbol("s_miss"))
    assert slope.subs({k: sympy.Rational(str(v)) for k, v in at.items()}) == sympy.Rational(2373324156, 7903387801)


def test_only_what_is_asked_for_is_open() -> None:
    answer = found("lru", ["Z"], N=2, C=1)
    assert answer.opened == ("Z",)
    assert answer.kept["s_hit"] == "it was not asked for"
    assert {f.measure: f.text for f in answer.formulas}["observe.hit.mean"] == "Z*(Z + 1)/(2*(Z^2 + 3*Z + 3))"
    with pytest.raises(UsageError, match="`C` cannot be left open: no rate is made of it; open can be"):
        found("lru", ["C"], N=2, C=1)


def test_a_constant_that_is_more_than_a_rate_stays_a_number() -> None:
    """`p` is the mean of a work and a probability: a formula that left it open would be wrong."""
    text = """
        let p = 0.5;  let m = 1;
        stage d : fifo;  stage think : delay;
        workload { arrive closed(2); }
        session { loop {
          branch (p) { run d (~exp(p)); } else { run d (~exp(m)); }
          observe work = m;
          run think (~exp(4));
        } }
    """

    def reload(values: Mapping[str, object]) -> Program:
        return load_text(text, overrides={k: str(v) for k, v in values.items()}).program

    answer = formulas(reload({}), reload, SolveOptions())
    assert answer.opened == ("m",)
    assert answer.kept["p"] == "probabilities, shares or states depend on it too"
    # what is observed is m itself: the rate of it is open, the sum is not known
    assert "observe.work.rate" in {f.measure for f in answer.formulas}
    assert answer.missing["observe.work.mean"] == "what is counted depends on the constants too"


@pytest.mark.parametrize(("name", "wanted", "sets"), [("mm1n", None, {"N": 3}), ("lru", ["Z"], {"N": 3, "C": 2})])
def test_storm_finds_the_same_formulas(name: str, wanted: list[str] | None, sets: dict[str, int], monkeypatch) -> None:
    eliminated = found(name, wanted, **sets)
    monkeypatch.setattr(symbolic, "LARGEST", 1)
    by_storm = found(name, wanted, **sets)
    assert (eliminated.method, by_storm.method) == ("state elimination", "Storm's parametric engine")
    assert [f.text for f in by_storm.formulas] == [f.text for f in eliminated.formulas]
    assert by_storm.missing == eliminated.missing


def test_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic, "LARGEST_IN_STORM", 80)
    with pytest.raises(LimitError, match="91 recurrent states are too many for formulas"):
        found("tandem", N=12)
    monkeypatch.setattr(symbolic, "SECONDS", -1.0)
    with pytest.raises(LimitError, match=r"finds no formulas either .* leave fewer constants open"):
        found("tandem", N=2)


def test_without_storm_the_limit_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic, "LARGEST", 1)
    monkeypatch.setattr("serq.compare.storm_process.importlib.metadata.version", _missing)
    with pytest.raises(LimitError, match=r"3 recurrent states are too many to be eliminated .* not installed"):
        found("mm1n", N=2)


def _missing(name: str) -> str:
    raise importlib.metadata.PackageNotFoundError(name)


DERIVED = """let mu = 2; let half = 1 / 2; let Z = half / mu * DRAWN;
stage s : fifo; stage t : delay; workload { arrive closed(2); }
session { loop { run s (~exp(1 / mu)); run t (~exp(Z)); } }"""


def of_derived(text: str, wanted: list[str] | None = None) -> Formulas:
    def reload(values: Mapping[str, object]) -> Program:
        return load_text(text, overrides={k: str(v) for k, v in values.items()}).program

    return formulas(reload({}), reload, SolveOptions(), wanted)


def test_a_constant_that_is_made_of_others_is_no_constant_of_its_own() -> None:
    text = DERIVED.replace("DRAWN", "3")
    answer = of_derived(text)
    assert answer.opened == ("mu", "half")
    assert answer.kept["Z"] == "it is half / mu * 3 in the program"
    numbers = {}
    for name, opened in (("roots", None), ("itself", ["mu", "Z"])):
        answer = of_derived(text, opened)
        numbers[name] = {f.measure: f for f in answer.formulas}["stage.s.number"]
    mu, z, half = sympy.symbols("mu Z half")
    assert sympy.simplify(numbers["roots"].expression - numbers["itself"].expression.subs(z, half * 3 / mu)) == 0
    for values in ({"mu": Fraction(3), "half": Fraction(5)}, {"mu": Fraction(1, 7), "half": Fraction(2)}):
        program = load_text(text, overrides={k: str(v) for k, v in values.items()}).program
        right = {e.measure: e.value for e in solve(program).estimates}["stage.s.number"]
        assert numbers["roots"].at(values) == right
        assert numbers["itself"].at({"mu": values["mu"], "Z": values["half"] * 3 / values["mu"]}) == right


def test_an_irrational_constant_is_a_number() -> None:
    """M/M/1//2 with r = mu Z at mu = 2: the number is 2 (r + 2) / (r^2 + 2 r + 2)."""
    answer = of_derived(DERIVED.replace("half / mu * DRAWN", "sqrt(3)"))
    assert answer.opened == ("mu",)
    assert answer.kept["Z"] == "it is irrational"
    assert "irrational" in answer.approximated[0]
    number = {f.measure: f for f in answer.formulas}["stage.s.number"]
    r = 2 * 3**0.5
    assert float(number.at({"mu": Fraction(2)})) == pytest.approx(2 * (r + 2) / (r * r + 2 * r + 2), rel=1e-15)
