"""PRISM text of programs with clocks, read by Storm: the same rationals, and what the file says of its results."""

from fractions import Fraction
from itertools import pairwise

import pytest
from timed_programs import PROGRAMS, SEMI_MARKOV

from serq.api.exported import export_program
from serq.compare.storm import long_run, prism_job, run_storm, succeeded
from serq.exporters.explored import explored
from serq.ir.chain import Ratio
from serq.pipeline import explore_chain, load_text, solve_chain

RATIONAL = ["slotted", "two step stages", "arrivals in slots", "arrivals by the clock", "costs", "no step stage"]


@pytest.mark.parametrize("name", RATIONAL)
def test_storm_gives_the_same_rationals(name: str) -> None:
    program = load_text(PROGRAMS[name], "p.sq").program
    done = export_program(program, "prism")
    assert set(done.texts) == {"p.prism", "p.props", "p.map.json"}
    chain = explore_chain(program)
    right = {e.measure: e.value for e in solve_chain(chain, program).estimates}
    ready = explored(chain)
    text = str(done.texts["p.prism"])
    assert "\ndtmc\n" in text
    answer = succeeded(run_storm([prism_job(text, {}, [long_run(reward) for reward in ready.rewards])])[0])
    found = dict(zip(ready.rewards, map(Fraction, answer.values), strict=True))
    assert results(str(done.texts["p.props"])) == found
    compared = 0
    for ratio in chain.ratios:
        if isinstance(ratio, Ratio) and right[ratio.measure] is not None:
            names = [(weight, ready.names.identifier(reward, "reward")) for weight, reward in ratio.terms]
            above = sum((weight * found.get(reward, Fraction(0)) for weight, reward in names), Fraction(0))
            assert above / found[ready.names.identifier(ratio.per or "time", "reward")] == right[ratio.measure]
            compared += 1
    assert compared >= 8


def results(properties: str) -> dict[str, Fraction]:
    """What the property file says, by reward."""
    lines = properties.splitlines()
    pairs = [(a, b) for a, b in pairwise(lines) if a.startswith("// RESULT: ")]
    return {b.split('"')[1]: Fraction(a.removeprefix("// RESULT: ")) for a, b in pairs}


def test_irrational_probabilities_go_into_explicit_files() -> None:
    done = export_program(load_text(SEMI_MARKOV, "p.sq", {"N": "2"}).program, "prism")
    assert "p.tra" in done.texts
    assert done.instead == "as explicit files"
    assert {d.code for d in done.not_symbolic} == {"SQ801"}


def test_jani_has_explicit_files_in_its_place() -> None:
    done = export_program(load_text(PROGRAMS["slotted"], "p.sq").program, "jani")
    assert "p.tra" in done.texts


def test_everything_that_is_refused_is_said_once() -> None:
    """Also where a session goes round again and again with different numbers of tokens."""
    done = export_program(load_text(PROGRAMS["two step stages"], "p.sq").program, "prism")
    assert [d.construct for d in done.not_symbolic] == ["a run on a step stage", "a run on a step stage", "this work"]
