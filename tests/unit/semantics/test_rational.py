from fractions import Fraction

import hand_chains
from hypothesis import given
from hypothesis import strategies as st

from serq.semantics.generator import band_order, integer_generator
from serq.semantics.rational import eliminate, lift, solve_transient


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(0, 4))
def test_elimination_and_lifting_agree(seed, size, extra):
    rows = tuple(hand_chains.random_rows(seed, size, extra))
    generator = integer_generator(rows)
    order, _ = band_order(rows)
    expected = generator.probabilities(lift(generator))
    assert generator.probabilities(eliminate(generator, order)) == expected
    assert generator.probabilities(eliminate(generator, range(size))) == expected


def test_a_product_form_comes_out():
    """Gordon and Newell: p(a, b) proportional to (think/(N-a-b)!) and the demands' powers."""
    n, think, first, second = 4, Fraction(4), Fraction(1), Fraction(2)
    rows = tuple(hand_chains.tandem(n, think, first, second))
    states = [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]
    factorial = [1, 1, 2, 6, 24]
    weights = [first**a * second**b * think ** (n - a - b) / factorial[n - a - b] for a, b in states]
    generator = integer_generator(rows)
    assert generator.probabilities(lift(generator)) == tuple(w / sum(weights) for w in weights)


def test_one_state_needs_no_equations():
    generator = integer_generator(({},))
    assert generator.probabilities(eliminate(generator, [0])) == (Fraction(1),)


def test_expected_times_in_a_transient_class():
    """Two states that swap at rates 1 and 2, the second left at rate 3: y0 = 1 + 2 y1, y1 (2 + 3) = y0."""
    times = solve_transient(
        ({1: Fraction(1)}, {0: Fraction(2)}), [Fraction(1), Fraction(5)], [Fraction(1), Fraction(0)]
    )
    assert times == [Fraction(5, 3), Fraction(1, 3)]


def test_expected_time_in_a_single_transient_state():
    assert solve_transient(({},), [Fraction(1, 3)], [Fraction(1, 2)]) == [Fraction(3, 2)]
