"""Aggregation over levels, and the bound on its error."""

from fractions import Fraction
from pathlib import Path

import hand_chains
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serq.pipeline import load, load_text
from serq.semantics import aggregation, banded, error_bound, sparse
from serq.semantics.explore import ExploreOptions, explore
from serq.semantics.generator import sparse_rates
from serq.semantics.levels import sessions_away
from serq.semantics.rational import lift
from serq.semantics.solve import double_rates, integer_generator, stationary
from serq.semantics.steady import recurrent_class

VALUES = Path(__file__).parents[2] / "data" / "values" / "programs"


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(3, 30), st.integers(1, 4))
def test_random_chains_with_random_levels(seed, size, width):
    """Whatever the levels, the vector is right and the bound is true."""
    rows = tuple(hand_chains.random_rows(seed, size))
    levels = np.unique(np.arange(size) // width, return_inverse=True)[1]
    rates = sparse_rates(rows)
    vector, _ = aggregation.solve(rates, levels)
    generator = integer_generator(rows)
    exact = generator.probabilities(lift(generator))
    error = sum(abs(Fraction(float(p)) - x) for p, x in zip(vector, exact, strict=True))
    target = int(np.argmax(vector))
    times = aggregation.hitting_times(rates, levels, vector, target)
    assert times is not None
    bound = error_bound.bound(rates, vector, times, target)
    assert bound is not None
    assert error <= Fraction(bound) < 1e-11


def test_levels_too_rare_for_a_double():
    """From one end of a long queue to the other probabilities span more than the range of doubles."""
    n = 1500
    rates = sparse_rates(tuple(hand_chains.birth_death([Fraction(1)] * n, [Fraction(4)] * n)))
    vector, _ = aggregation.solve(rates, np.arange(n + 1))
    assert vector[:3] == pytest.approx([0.75, 0.1875, 0.046875], rel=1e-12)
    assert vector[-1] == pytest.approx(0, abs=1e-190)


def test_a_metastable_chain():
    """An active session holds three units and leaves one cached: two modes, and 2355 units of time between them, where
    sweeps without aggregation are wrong by percents.
    """
    program = load(VALUES / "amp_ps.sq", {"N": "48", "C": "48", "Z": "129.75", "s_miss": "5", "a": "3"}).program
    chain = explore(program, ExploreOptions(explorer="compiled"))
    levels = sessions_away(chain, program)
    solutions = [stationary(chain, exact=False, method=m, levels=levels) for m in ("levels", "gth", "lu")]
    vectors = [np.array(s.probabilities) for s in solutions]
    for solution, vector in zip(solutions, vectors, strict=True):
        assert solution.bound is not None
        assert solution.bound < 2e-10
        assert np.abs(vector - vectors[1]).sum() <= solution.bound + (solutions[1].bound or 0)
    mass = np.bincount(levels, weights=vectors[0])
    peaks = [n for n in range(1, 48) if mass[n - 1] < mass[n] > mass[n + 1]]
    assert mass[0] > mass[1]
    assert peaks == [23]
    assert mass[:11].sum() == pytest.approx(0.479, abs=5e-3)


def test_without_levels_there_is_no_aggregation():
    chain = hand_chains.finite_source(40)
    with pytest.raises(Exception, match="no levels"):
        stationary(chain, exact=False, method="levels")


def test_levels_are_the_sessions_that_do_not_think():
    text = """let N = 3; stage svc : fifo; stage think : delay; workload { arrive closed(N); }
    session { loop { run svc (~exp(1)); run think (~exp(4)); } }"""
    program = load_text(text).program
    for explorer in ("reference", "compiled"):
        chain = explore(program, ExploreOptions(explorer=explorer))
        levels = sessions_away(chain, program)
        assert sorted(levels) == [0, 1, 2, 3]
        assert [s.count("think") for s in chain.states] == [int(n < 3) for n in levels]


def test_times_that_prove_nothing_give_no_bound():
    rates = sparse_rates(tuple(hand_chains.birth_death([Fraction(1)] * 9, [Fraction(2)] * 9)))
    vector = banded.solve(rates, 1)
    right = sparse.hitting_times(rates, 0)
    assert right is not None
    assert error_bound.bound(rates, vector, right, 0) is not None
    assert error_bound.bound(rates, vector, np.zeros(10), 0) is None
    assert error_bound.bound(rates, vector, right * np.nan, 0) is None


def test_the_bound_grows_with_the_error():
    rates = sparse_rates(tuple(hand_chains.birth_death([Fraction(1)] * 9, [Fraction(2)] * 9)))
    vector, times = banded.solve(rates, 1), sparse.hitting_times(rates, 0)
    assert times is not None
    wrong = vector.copy()
    wrong[3] += 1e-6
    wrong /= wrong.sum()
    bound = error_bound.bound(rates, wrong, times, 0)
    assert bound is not None
    assert np.abs(wrong - vector).sum() <= bound < 1e-4


def test_a_packed_chain_gives_the_rates_of_a_plain_one():
    program = load(VALUES / "lru.sq", {"N": "5", "C": "3"}).program
    answers = []
    for explorer in ("reference", "compiled"):
        chain = explore(program, ExploreOptions(explorer=explorer))
        states = recurrent_class(chain)
        rates = double_rates(chain, states)
        order = sorted(range(len(states)), key=lambda i: chain.states[states[i]])
        answers.append(rates.toarray()[np.ix_(order, order)])
    assert answers[0] == pytest.approx(answers[1], rel=1e-15)
