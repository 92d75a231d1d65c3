import itertools
from fractions import Fraction

import hand_chains
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serq.semantics import banded
from serq.semantics.generator import band_order, integer_generator, restrict, sparse_rates
from serq.semantics.rational import lift


def solved(rows):
    order, width = band_order(rows)
    vector = np.empty(len(rows))
    vector[order] = banded.solve(sparse_rates(restrict(rows, order)), width)
    return vector


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(0, 4))
def test_every_single_probability_is_good_to_rounding(seed, size, extra):
    rows = tuple(hand_chains.random_rows(seed, size, extra))
    generator = integer_generator(rows)
    exact = generator.probabilities(lift(generator))
    for got, want in zip(solved(rows), exact, strict=True):
        assert abs(Fraction(float(got)) / want - 1) < 1e-13


@pytest.mark.parametrize("compiled", [64, 0], ids=["compiled", "numpy"])
def test_stiffness_does_no_harm(monkeypatch, compiled):
    """Rates over 24 decades: still good to rounding, entry by entry."""
    monkeypatch.setattr(banded, "_COMPILED", compiled)
    rows = tuple(hand_chains.random_rows(5, 12))
    stiff = tuple({j: rate * Fraction(10) ** (2 * i - 12) for j, rate in row.items()} for i, row in enumerate(rows))
    generator = integer_generator(stiff)
    exact = generator.probabilities(lift(generator))
    for got, want in zip(solved(stiff), exact, strict=True):
        assert abs(Fraction(float(got)) / want - 1) < 1e-14


@pytest.mark.parametrize("load", [Fraction(9, 10), Fraction(999, 1000), Fraction(1), Fraction(2)])
def test_ten_thousand_states_of_a_birth_death_chain(load):
    n = 10_000
    vector = solved(tuple(hand_chains.birth_death([load] * n, [1] * n)))
    r = float(load)
    assert abs(vector.sum() - 1) < 1e-12
    for i, j in itertools.pairwise((0, 1, 10, 100, n // 2, n - 1, n)):
        if vector[i] > 1e-280 and vector[j] > 1e-280:
            assert vector[j] / vector[i] == pytest.approx(r ** (j - i), rel=1e-10)


def test_a_valley_deeper_than_a_double_between_two_peaks():
    """Down by a factor of 10**-400 and up again: both ends carry the same weight, the middle underflows to 0."""
    down, up = [Fraction(1, 10)] * 400, [Fraction(10)] * 400
    vector = solved(tuple(hand_chains.birth_death(down + up, [1] * 800)))
    assert vector[0] == pytest.approx(0.45, rel=1e-12)
    assert vector[800] == pytest.approx(0.45, rel=1e-12)
    assert vector[400] == 0


def test_one_state():
    assert banded.solve(sparse_rates(({},)), 0).tolist() == [1.0]


def test_a_reducible_chain_is_refused():
    with pytest.raises(ZeroDivisionError):
        banded.solve(sparse_rates(({1: Fraction(1)}, {})), 1)


def test_the_cost_grows_with_the_band():
    assert banded.cost(1000, 500) > 10 * banded.cost(1000, 10)
    assert banded.memory(1000, 10) == 8 * 1000 * 21
