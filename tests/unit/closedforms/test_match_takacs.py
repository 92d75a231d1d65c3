"""M/G/1//N is found in programs: the chain has the same rationals; and not where works depend on the past."""

from fractions import Fraction

import pytest
from matching import matched, names

from serq.closedforms.matches import Match
from serq.engines import run_replications
from serq.pipeline import SimulateOptions, SolveOptions, load_text, pooled_estimates, run_options, solve

HEAD = "let N = 4; stage svc : fifo; stage think : delay; workload { arrive closed(N); }\n"
LOOP = HEAD + "session { loop { set t0 = now; %s observe response = now - t0; run think (~exp(4)); } }"
MIXED = "branch (0.25) { run svc (~exp(3)); } else { run svc (~exp(1)); }"
TWO = (
    "session { loop { run svc (~erlang(2, 1)); branch (0.5) { run think (~exp(4)); } else { run think (~exp(%d)); } } }"
)
RATIONAL = {
    "two exponentials": LOOP % MIXED,
    "erlang": LOOP % "run svc (~erlang(3, 2));",
    "hyperexponential": LOOP % "run svc (~h2(1, 17/8));",
    "two places of thinking": HEAD + TWO % 4,
}


def values(found: Match) -> dict[str, object]:
    return {e.measure: e.value for e in found.estimates if e.value is not None}


@pytest.mark.parametrize("text", RATIONAL.values(), ids=RATIONAL)
def test_the_chain_has_the_same_rationals(text: str) -> None:
    found = matched(text)
    assert names(found) == ["mg1n"]
    exact = {e.measure: e.value for e in solve(load_text(text).program, SolveOptions(exact=True)).estimates}
    formula = values(found.matches[0])
    assert len(formula) > 10
    assert all(isinstance(value, Fraction) for value in formula.values())
    assert formula == {name: exact[name] for name in formula}


@pytest.mark.parametrize(
    "work", ["1", "~uniform(0.5, 1.5)", "0.5 + ~exp(0.5)", "~geometric(0.8)", "~exp(0.5) + 2 * ~exp(0.2)"]
)
def test_other_laws_agree_with_simulation(work: str) -> None:
    """At 4.5 standard errors: one false alarm in 150 000 tests each."""
    text = LOOP % f"run svc ({work});" + " run { horizon 20000; warmup 500; seed 4; }"
    program = load_text(text).program
    formula = values(matched(text).matches[0])
    run = run_replications(program, run_options(program, SimulateOptions()), 2)
    simulated = {e.measure: e for e in pooled_estimates(program, run.results)}
    for name in ("stage.svc.number", "stage.svc.wait", "observe.response.mean", "stage.svc.throughput"):
        gap = simulated[name].value - float(formula[name])
        assert abs(gap) < 4.5 * simulated[name].standard_error, name


NOT = {
    "works that take turns": HEAD
    + "session { loop { run svc (~exp(1)); run think (~exp(4)); run svc (~exp(3)); run think (~exp(4)); } }",
    "a work that is remembered": HEAD
    + "session { set k = 0; loop { branch (k) { run svc (~exp(3)); } else { run svc (~exp(1)); } "
    "set k = ~bernoulli(0.5) * (1 - k); run think (~exp(4)); } }",
    "thinking that is not exponential": (LOOP % MIXED).replace("~exp(4)", "~erlang(2, 4)"),
    "thinking of two lengths": HEAD + TWO % 5,
    "twice in a row": HEAD + "session { loop { run svc (~erlang(2, 1)); branch (0.5) { run think (~exp(4)); } } }",
    "two servers": (LOOP % MIXED).replace("svc : fifo", "svc : fifo(2)"),
}


@pytest.mark.parametrize("text", NOT.values(), ids=NOT)
def test_where_it_does_not_fit(text: str) -> None:
    assert not matched(text).matches
