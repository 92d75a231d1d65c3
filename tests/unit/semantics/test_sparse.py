from fractions import Fraction

import hand_chains
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serq.semantics import banded, sparse
from serq.semantics.generator import integer_generator, sparse_rates
from serq.semantics.rational import lift


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(0, 4))
def test_random_chains_agree_with_rationals(seed, size, extra):
    rows = tuple(hand_chains.random_rows(seed, size, extra))
    generator = integer_generator(rows)
    exact = generator.probabilities(lift(generator))
    got, _, _ = sparse.solve(sparse_rates(rows))
    assert sum(abs(Fraction(float(p)) - x) for p, x in zip(got, exact, strict=True)) < 1e-12


def test_a_lattice_agrees_with_state_elimination():
    rows = tuple(hand_chains.tandem(40))
    rates = sparse_rates(rows)
    assert np.abs(sparse.solve(rates)[0] - banded.solve(rates, 41)).sum() < 1e-13


@pytest.mark.parametrize("load", [Fraction(9, 10), Fraction(3, 2)])
def test_a_long_queue_needs_a_likely_reference(load):
    """With the last state as reference a load of 0.9 overflows, with the first one a load of 1.5 does."""
    n = 10_000
    got, _, _ = sparse.solve(sparse_rates(tuple(hand_chains.birth_death([load] * n, [1] * n))))
    mean = float(got @ np.arange(n + 1))
    r = float(load)
    assert mean == pytest.approx(r / (1 - r) if r < 1 else n - 1 / (r - 1), rel=1e-9)


def test_a_reference_that_proves_unlikely_is_exchanged(monkeypatch):
    monkeypatch.setattr(sparse, "_guess", lambda rates: np.eye(1, rates.shape[0], 60)[0])
    got, _, _ = sparse.solve(sparse_rates(tuple(hand_chains.birth_death([Fraction(1, 2)] * 60, [1] * 60))))
    assert got[0] == pytest.approx(0.5, rel=1e-14)


def test_a_zero_pivot_is_an_arithmetic_error():
    with pytest.raises(ArithmeticError, match="zero pivot"):
        sparse.solve(sparse_rates(({1: Fraction(1)}, {0: Fraction(1)}, {3: Fraction(1)}, {2: Fraction(1)})))


def test_the_times_until_a_likely_state_is_hit():
    """A queue that grows by 1 and shrinks by 2 per unit of time goes down one place in 1 unit."""
    rates = sparse_rates(tuple(hand_chains.birth_death([Fraction(1)] * 50, [Fraction(2)] * 50)))
    _, times, target = sparse.solve(rates)
    assert target == 0
    assert times[:6] == pytest.approx([0, 1, 2, 3, 4, 5], rel=1e-9)
    assert sparse.hitting_times(rates, 0) == pytest.approx(times, rel=1e-12)
