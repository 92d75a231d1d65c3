import random
from fractions import Fraction

import hand_chains
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from serq.base.errors import LimitError, NoSteadyStateError, UsageError
from serq.semantics import banded, doubles, rational, solve
from serq.semantics.solve import balance_residual, stationary

make = hand_chains.make_chain


def total_error(solution, exact):
    pairs = zip(solution.probabilities, exact.probabilities, strict=True)
    return sum((abs(Fraction(p) - x) for p, x in pairs), Fraction(0))


# -- rationals --------------------------------------------------------------------------------------------------------


def test_the_finite_source_queue_as_a_rational():
    solution = stationary(hand_chains.finite_source(8), exact=True)
    assert sum(i * p for i, p in enumerate(solution.probabilities)) == Fraction(69372, 16831)
    assert all(isinstance(p, Fraction) for p in solution.probabilities)
    assert (solution.residual, solution.bound) == (0.0, 0.0)
    assert "rational" in solution.method
    assert "whole numbers" in solution.checks[0]


def test_a_nearly_decomposable_chain_with_a_rare_slow_state():
    """Visits 1, 1, 1e-6 with means 1, 1, 1e6: each place has a third of the time."""
    rare = Fraction(1, 10**6)
    rows = [{1: 1}, {0: 1 - rare, 2: rare}, {0: rare}]
    assert stationary(make(rows), exact=True).probabilities == (Fraction(1, 3),) * 3
    for method in ("gth", "lu"):
        solution = stationary(make(rows), exact=False, method=method)
        assert solution.probabilities == pytest.approx([1 / 3] * 3, rel=1e-9)
        assert solution.bound is not None
        assert total_error(solution, stationary(make(rows), exact=True)) <= Fraction(solution.bound)


def test_the_method_is_chosen_by_the_band_and_can_be_forced():
    narrow, wide = hand_chains.finite_source(20), make(hand_chains.tandem(6))
    assert "elimination" in stationary(narrow, exact=True).method
    assert "lifting" in stationary(wide, exact=True).method
    for chain in (narrow, wide):
        answers = {stationary(chain, exact=True, method=m).probabilities for m in ("auto", "direct", "gth", "dixon")}
        assert len(answers) == 1


def test_transient_states_have_probability_zero():
    for exact in (True, False):
        solution = stationary(make([{1: 1}, {2: 1}, {1: 3}]), exact=exact)
        assert solution.probabilities[0] == 0
        assert solution.probabilities[1:] == pytest.approx((0.75, 0.25))
        assert solution.checks[-1] == "1 of 3 states are transient or not reached"
        assert solution.transient == 1


def test_a_probability_below_the_smallest_double_does_not_make_a_state_transient():
    """300 states, each a thousandth as likely as the one before: the last is 1e-900."""
    up = [{1: 1}, *({i - 1: 1000, i + 1: 1} for i in range(1, 299)), {298: 1000}]
    solution = stationary(make(up), exact=False)
    assert solution.transient == 0
    assert solution.probabilities[-1] == 0
    assert "probabilities are below the smallest double" in solution.checks[-1]


@pytest.mark.parametrize("exact", [True, False])
def test_one_state(exact):
    assert stationary(make([{}]), exact=exact).probabilities == (1,)
    assert stationary(make([{0: 3}]), exact=exact).probabilities == (1,)


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 10**9))
def test_time_scaling_changes_nothing(seed, size, factor):
    rows = hand_chains.random_rows(seed, size)
    scaled = [{j: rate * factor for j, rate in row.items()} for row in rows]
    assert stationary(make(rows), exact=True).probabilities == stationary(make(scaled), exact=True).probabilities


@given(st.integers(0, 10**6), st.integers(2, 9), st.randoms(use_true_random=False))
def test_the_order_of_the_states_changes_nothing(seed, size, rng):
    rows = hand_chains.random_rows(seed, size)
    order = list(range(size))
    rng.shuffle(order)
    place = {state: i for i, state in enumerate(order)}
    moved = [{place[j]: rate for j, rate in rows[state].items()} for state in order]
    straight, shuffled = (stationary(make(r), exact=True).probabilities for r in (rows, moved))
    assert tuple(shuffled[place[state]] for state in range(size)) == straight


def test_a_wrong_rational_solution_is_never_returned(monkeypatch):
    right = rational.lift

    def wrong(generator):
        first, *others = right(generator)
        return [first + 1, *others]

    monkeypatch.setattr(rational, "lift", wrong)
    with pytest.raises(AssertionError, match="balance"):
        stationary(make(hand_chains.tandem(6)), exact=True)


# -- doubles ----------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30), st.sampled_from(["auto", "gth", "lu"]))
def test_doubles_agree_with_rationals_and_their_bound_is_true(seed, size, method):
    chain = make(hand_chains.random_rows(seed, size))
    exact = stationary(chain, exact=True)
    solution = stationary(chain, exact=False, method=method)
    assert all(isinstance(p, float) for p in solution.probabilities)
    assert "doubles" in solution.method
    assert solution.bound is not None
    assert total_error(solution, exact) <= Fraction(solution.bound) < 1e-12
    assert solution.residual < 1e-12


@pytest.mark.parametrize("coupling", [Fraction(1, 10**3), Fraction(1, 10**6), Fraction(1, 10**9), Fraction(1, 10**12)])
def test_two_clusters_hardly_coupled(coupling):
    """The mass of each cluster hangs on the coupling alone, where a small residual proves nothing."""
    first, second = hand_chains.random_rows(1, 10), hand_chains.random_rows(2, 10)
    rows = first + [{j + 10: rate for j, rate in row.items()} for row in second]
    rows[3][14] = coupling
    rows[17][6] = 2 * coupling
    exact = stationary(make(rows), exact=True)
    solution = stationary(make(rows), exact=False)
    assert total_error(solution, exact) < 1e-14
    for p, x in zip(solution.probabilities, exact.probabilities, strict=True):
        assert abs(Fraction(p) / x - 1) < 1e-13


def test_the_bound_shows_an_error_that_the_residual_hides(monkeypatch):
    """Half the mass moved between two clusters that hardly talk: the balance equations do not notice."""
    pair = [
        {1: Fraction(1)},
        {0: Fraction(1), 2: Fraction(1, 10**12)},
        {3: Fraction(1), 1: Fraction(1, 10**12)},
        {2: Fraction(1)},
    ]
    monkeypatch.setattr(doubles.banded, "solve", lambda rates, width: np.array([0.4, 0.4, 0.1, 0.1]))
    solution = stationary(make(pair), exact=False)
    assert solution.residual < 1e-11
    assert solution.bound == pytest.approx(0.6)


@pytest.mark.parametrize("method", ["gth", "lu", "levels"])
def test_above_three_hundred_states_the_bound_is_proved(method):
    chain = hand_chains.finite_source(400)
    solution = stationary(chain, exact=False, method=method, levels=np.arange(401) // 2)
    assert total_error(solution, stationary(chain, exact=True)) <= Fraction(solution.bound) < 1e-12
    assert solution.residual < 1e-14
    assert "proved from the vector" in solution.checks[3]


def test_the_proof_finds_an_error_that_the_residual_hides(monkeypatch):
    """Two clusters of 200 states hardly coupled, the mass between them wrong by 0.2 of all."""
    first, second = hand_chains.random_rows(1, 200), hand_chains.random_rows(2, 200)
    rows = first + [{j + 200: rate for j, rate in row.items()} for row in second]
    rows[3][204], rows[207][6] = Fraction(1, 10**9), Fraction(1, 10**9)
    chain, right = make(rows), banded.solve

    def wrong(rates, width):
        vector = right(rates, width)
        inside = cluster(rates)
        share = vector[inside].sum()
        return np.where(inside, vector * (share - 0.1) / share, vector * (1 - share + 0.1) / (1 - share))

    monkeypatch.setattr(doubles.banded, "solve", wrong)
    solution = stationary(chain, exact=False, method="gth")
    assert solution.residual < 1e-8
    assert solution.bound >= 0.2


def cluster(rates):
    """The states that one reaches from the first without the rates of 1e-9."""
    matrix = rates.tocsr().copy()
    matrix.data[matrix.data < 1e-8] = 0
    matrix.eliminate_zeros()
    _, label = connected_components(matrix, connection="strong")
    return label == label[0]


def test_a_wide_chain_is_factorised():
    solution = stationary(make(hand_chains.random_rows(3, 4000)), exact=False)
    assert "LU" in solution.method
    assert solution.residual < 1e-12


@pytest.mark.parametrize(
    "vector", [[0.5, 0.5, 0.0], [np.nan, 0.5, 0.5], [1.2, 0.4, -0.6], [1.0, 1.0, 1.0]], ids=["off", "nan", "-", "mass"]
)
def test_a_vector_that_fails_its_checks_is_never_returned(monkeypatch, vector):
    monkeypatch.setattr(doubles.banded, "solve", lambda rates, width: np.array(vector))
    with pytest.raises(LimitError, match="fails its checks"):
        stationary(make([{1: 1}, {2: 1}, {0: 1}]), exact=False)


def test_the_residual_is_relative_to_the_largest_flow():
    rows = ({1: Fraction(2)}, {0: Fraction(2)})
    assert balance_residual(rows, [0.5, 0.5]) == 0
    assert balance_residual(rows, [0.6, 0.4]) == pytest.approx(0.4 / 1.2)


# -- limits and misuse ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("exact", "method"), [(True, "lu"), (False, "dixon"), (True, "magic"), (False, "storm")])
def test_methods_that_do_not_exist(exact, method):
    with pytest.raises(UsageError, match=f"method '{method}'"):
        stationary(hand_chains.finite_source(3), exact=exact, method=method)


def test_a_chain_too_large_for_rationals_says_its_size(monkeypatch):
    monkeypatch.setattr(solve, "LARGEST_RATIONAL", 20)
    with pytest.raises(LimitError, match="28 recurrent states of half bandwidth 7"):
        stationary(make(hand_chains.tandem(6)), exact=True)
    assert stationary(hand_chains.finite_source(28), exact=True)


def test_a_chain_too_large_for_a_factorisation_says_its_size(monkeypatch):
    monkeypatch.setattr(doubles, "LARGEST_LU", 20)
    monkeypatch.setattr(doubles, "_BAND_SECONDS", 0.0)
    with pytest.raises(LimitError, match="28 recurrent states"):
        stationary(make(hand_chains.tandem(6)), exact=False)
    with pytest.raises(LimitError, match="state elimination"):
        stationary(make(hand_chains.tandem(6)), exact=False, method="gth")


def test_a_chain_too_wide_for_a_factorisation_says_its_width(monkeypatch):
    monkeypatch.setattr(doubles, "WIDEST_LU", 6)
    with pytest.raises(LimitError, match="half bandwidth 7"):
        stationary(make(hand_chains.tandem(6)), exact=False, method="lu")


def test_a_failed_factorisation_is_a_limit(monkeypatch):
    def fail(rates):
        raise ArithmeticError("the factorisation overflows")

    monkeypatch.setattr(doubles.sparse, "solve", fail)
    with pytest.raises(LimitError, match="beyond double precision: the factorisation overflows"):
        stationary(hand_chains.finite_source(3), exact=False, method="lu")


def test_no_steady_state_is_not_solved():
    with pytest.raises(NoSteadyStateError):
        stationary(make([{1: 1}, {}]), exact=False)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 25), st.sampled_from(["auto", "gth"]))
def test_rates_over_eighteen_decades(seed, size, method):
    """Every probability is right to ten digits, however small it is."""
    rng = random.Random(seed)
    plain = hand_chains.random_rows(seed, size)
    rows = [{j: rate * Fraction(10) ** rng.randint(-9, 9) for j, rate in row.items()} for row in plain]
    exact = stationary(make(rows), exact=True).probabilities
    for got, want in zip(stationary(make(rows), exact=False, method=method).probabilities, exact, strict=True):
        assert abs(Fraction(got) / want - 1) < Fraction(1, 10**10)
