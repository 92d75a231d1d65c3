"""Chains of programs with clocks against chains written down by hand, and against themselves without lumping."""

from fractions import Fraction
from math import comb, exp

import numpy as np
import pytest
from timed_programs import PROGRAMS, SEMI_MARKOV, SLOTTED

from serq.base.errors import LimitError, OutsideFragmentError, UsageError
from serq.ir.expr import Number
from serq.pipeline import SimulateOptions, Solved, SolveOptions, load_text, run_options, solve
from serq.semantics.between import spread
from serq.semantics.reference import simulate

UNLUMPED = SolveOptions(unlumped=("symmetry", "dead_values", "service_order", "pinned_ranks"))


def solved(text: str, options: SolveOptions = SolveOptions(), **sets: object) -> Solved:
    return solve(load_text(text, "t.sq", {name: str(x) for name, x in sets.items()}).program, options)


def values(found: Solved) -> dict[str, Number]:
    return {e.measure: e.value for e in found.estimates if e.value is not None}


def binomial(n: int, p: Fraction | float) -> list[Fraction | float]:
    return [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


# -- slots -----------------------------------------------------------------------------------------------------------


def by_hand(n: int, b: int, q: Fraction, p: Fraction) -> tuple[Fraction, Fraction]:
    """X and L of N sessions and a batch cap B: the chain of the number at the engine, tick by tick."""
    rows = []
    for here in range(n + 1):
        row = [Fraction(0)] * (n + 1)
        for ended, x in enumerate(binomial(min(here, b), q)):
            for returned, y in enumerate(binomial(n - here, p)):
                row[here - ended + returned] += Fraction(x) * Fraction(y)
        rows.append(row)
    pi = stationary_by_elimination(rows)
    ends = sum((pi[k] * min(k, b) * q for k in range(n + 1)), Fraction(0))
    return ends, sum((pi[k] * k for k in range(n + 1)), Fraction(0))


def stationary_by_elimination(rows: list[list[Fraction]]) -> list[Fraction]:
    """Gauss on pi (P - I) = 0, sum pi = 1."""
    size = len(rows)
    a = [[rows[j][i] - (i == j) for j in range(size)] + [Fraction(0)] for i in range(size - 1)]
    a.append([Fraction(1)] * (size + 1))
    for i in range(size):
        pivot = next(k for k in range(i, size) if a[k][i])
        a[i], a[pivot] = a[pivot], a[i]
        a[i] = [x / a[i][i] for x in a[i]]
        for k in range(size):
            if k != i and a[k][i]:
                a[k] = [x - a[k][i] * y for x, y in zip(a[k], a[i], strict=True)]
    return [row[-1] for row in a]


@pytest.mark.parametrize(("n", "b"), [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 2), (5, 3), (6, 6)])
def test_slots_by_hand(n: int, b: int) -> None:
    for q, p in ((Fraction(1, 4), Fraction(1, 8)), (Fraction(2, 3), Fraction(1, 2)), (Fraction(1), Fraction(1, 3))):
        found = solved(SLOTTED, SolveOptions(exact=True), N=n, B=b, q=q, p=p)
        throughput, number = by_hand(n, b, q, p)
        assert values(found)["observe.response.rate"] == throughput
        assert values(found)["stage.engine.number"] == number
        assert values(found)["observe.response.mean"] == number / throughput
        assert found.chain.size <= n + 1
        assert found.chain.embedded is not None
        assert found.chain.embedded.slot == 1


def test_slots_of_another_length_only_stretch_the_time() -> None:
    text = SLOTTED.replace("cost 1", "cost 1/3").replace("(~geometric(p))", "(~geometric(p) / 3)")
    one, third = values(solved(SLOTTED, N=3, B=2)), values(solved(text, N=3, B=2))
    assert third["observe.response.rate"] == 3 * one["observe.response.rate"]
    assert third["stage.engine.number"] == one["stage.engine.number"]


# -- clocks beside exponential events ----------------------------------------------------------------------------------


def renewal_reward(n: int, b: int, q: float, z: float) -> tuple[float, float]:
    """X and L by the chain embedded at the ends of iterations, with binomial arrivals."""
    p = np.zeros((n + 1, n + 1))
    held, ended, present = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    p[0, 1], held[0] = 1.0, z / n
    for here in range(1, n + 1):
        running = min(here, b)
        time = 0.5 + 0.25 * running
        held[here], ended[here] = time, running * q
        present[here] = here * time + (n - here) * (time - z * (1 - exp(-time / z)))
        for gone, x in enumerate(binomial(running, q)):
            for come, y in enumerate(binomial(n - here, 1 - exp(-time / z))):
                p[here, here - gone + come] += float(x) * float(y)
    a = np.vstack([(p.T - np.eye(n + 1))[:-1], np.ones(n + 1)])
    nu = np.linalg.solve(a, np.append(np.zeros(n), 1.0))
    return float(nu @ ended / (nu @ held)), float(nu @ present / (nu @ held))


@pytest.mark.parametrize(("n", "b"), [(2, 1), (3, 2), (6, 3), (8, 4)])
def test_iterations_under_exponential_thinking(n: int, b: int) -> None:
    found = solved(SEMI_MARKOV, N=n, B=b)
    throughput, number = renewal_reward(n, b, 0.25, 12)
    by_measure = {e.measure: e for e in found.estimates}
    for measure, right in (("observe.response.rate", throughput), ("stage.engine.number", number)):
        estimate = by_measure[measure]
        assert estimate.value == pytest.approx(right, rel=1e-12)
        assert estimate.bound is not None
        assert estimate.bound < 1e-11
    assert found.chain.size == n + 1
    assert found.chain.embedded is not None
    assert found.chain.embedded.rounded
    assert found.chain.embedded.slot is None


def test_an_iteration_that_costs_nothing_is_over_at_once() -> None:
    """Behind an exponential event, while another clock runs or none: the program is the one without it."""
    first = "stage free : step { budget inf; cost 0; }" + SEMI_MARKOV
    before = "run engine decode"
    assert first.count(before) == 1
    right = values(solved(SEMI_MARKOV, N=3, B=2))
    found = values(solved(first.replace(before, f"run free prefill (2); {before}"), N=3, B=2))
    for measure, value in right.items():
        assert found[measure] == pytest.approx(value, rel=1e-12), measure
    assert found["stage.free.throughput"] == pytest.approx(right["stage.engine.throughput"], rel=1e-12)
    assert found["stage.free.sojourn"] == 0


def test_irrational_probabilities_have_no_rational_solution() -> None:
    with pytest.raises(UsageError, match="exponentials"):
        solved(SEMI_MARKOV, SolveOptions(exact=True))


def test_a_spread_is_an_exponential() -> None:
    found = spread([{1: Fraction(2)}, {0: Fraction(3)}], Fraction(1, 2))
    here = 0.6 + 0.4 * exp(-2.5)
    assert float(found.at_end[0]) == pytest.approx(here, rel=1e-15)
    assert float(sum(found.at_end)) == pytest.approx(1, rel=1e-15)
    assert float(found.stayed[0]) == pytest.approx(0.3 + 0.4 * (1 - exp(-2.5)) / 5, rel=1e-15)
    assert spread([{}], Fraction(3)).stayed == (3,)
    with pytest.raises(LimitError, match="too many to follow"):
        spread([{1: Fraction(10**6)}, {0: Fraction(1)}], Fraction(1))


# -- what waits for the next clock -------------------------------------------------------------------------------------

NESTED = """
    let first = 0;
    pool reqs { cap 2; admit via engine; }
    pool kv { cap 8; }
    stage engine : step { budget 8; cost 1; }
    stage think : delay;
    workload { arrive closed(2); }
    session {
      run think (first * (serial + 1) / 2);
      loop { hold reqs (1) { hold kv (1) { run engine decode (2); } } run think (%s); }
    }
"""


def test_a_claim_that_joins_while_an_iteration_is_put_together_waits_for_the_next_clock() -> None:
    """Whoever decodes is there from the start of an iteration on, so that two tokens take two of them, never more.

    Sessions that decode for three iterations and think for one are never both away: each is admitted while an
    iteration of the other is put together, and waits for memory until that one is over.
    """
    found = solved(NESTED % "~geometric(0.5)", SolveOptions(exact=True))
    assert values(found)["stage.engine.sojourn"] == 2
    text = (NESTED % "1").replace("decode (2)", "decode (3)")
    program = load_text(text, "t.sq", {"first": "1"}).program
    assert values(solve(program, SolveOptions(exact=True)))["pool.kv.queue_wait"] == 1
    run = simulate(program, run_options(program, SimulateOptions(horizon=500.0, warmup=100.0)))
    waits = run.series["pool.kv.queue_wait"]
    assert sum(waits.numerator) == sum(waits.denominator) > 100


# -- lumping -----------------------------------------------------------------------------------------------------------

HEAVY = {"costs", "semi-Markov", "two step stages", "no step stage", "a queue beside", "slots of a pool"}
"""Without lumping they are large, and are tried with fewer sessions."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_lumping_changes_no_answer(name: str) -> None:
    text = PROGRAMS[name]
    if name in HEAVY:
        text = text.replace("closed(4)", "closed(2)").replace("closed(3)", "closed(2)").replace("N = 6", "N = 3")
    small, large = solved(text), solved(text, UNLUMPED)
    assert large.chain.size >= small.chain.size
    for measure, value in values(small).items():
        if isinstance(value, Fraction) and isinstance(values(large)[measure], Fraction):
            assert values(large)[measure] == value, measure
        else:
            assert float(values(large)[measure]) == pytest.approx(float(value), rel=1e-10, abs=1e-12), measure
    assert not any("FAIL" in check for check in small.solution.checks)


# -- refused -----------------------------------------------------------------------------------------------------------


def codes(text: str) -> set[str]:
    with pytest.raises(OutsideFragmentError) as refused:
        solved(text)
    return {d.code for d in refused.value.diagnostics}


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("cost 1;", "cost 1; plan ahead;", "SQ609"),
        ("stage think", "pool kv { cap 4; preempt lifo; } stage think", "SQ609"),
        ("cost 1;", "cost 1 + now;", "SQ606"),
        ("~geometric(q)", "~uniform(1, 4)", "SQ604"),
        ("~geometric(q)", "2 * ~geometric(q)", "SQ615"),
        ("~geometric(q)", "1 + ~geometric(q)", "SQ603"),
        ("run think (~geometric(p))", "run think (~geometric(p) + ~geometric(q))", "SQ603"),
        ("run think (~geometric(p))", "run think (~uniform(1, 4))", "SQ602"),
        ("run think (~geometric(p))", "run think (~exp(1)); run think (2)", "SQ617"),
        ("run engine decode (~geometric(q))", "set u = ~geometric(q); run engine prefill (u)", "SQ615"),
        ("stage think : delay", "stage think : ps(1)", "SQ602"),
    ],
)
def test_what_is_outside(before: str, after: str, code: str) -> None:
    assert SLOTTED.count(before) == 1
    assert code in codes(SLOTTED.replace(before, after).replace("N = 2", "N = 3").replace("B = 1", "B = 2"))


def test_a_gauge_that_asks_for_tokens_nobody_has_drawn() -> None:
    """Whoever prefills a geometric number waits for the budget, and what is left of it for him is not known."""
    text = SLOTTED.replace("run engine decode", "run engine decode (2); run engine prefill")
    assert codes(text) == {"SQ615"}
    assert codes(text.replace("stage think", "gauge left = budget_left(engine); stage think")) == {"SQ615"}
