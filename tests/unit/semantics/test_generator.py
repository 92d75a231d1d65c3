from fractions import Fraction

import hand_chains
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from serq.semantics import rational
from serq.semantics.generator import (
    band_order,
    bandwidth,
    integer_generator,
    merged_rates,
    restrict,
    sparse_rates,
)

SEEDS = st.integers(0, 10**6)


def test_parallel_transitions_add_up_and_self_loops_vanish():
    chain = hand_chains.make_chain([{0: 7, 1: Fraction(1, 2)}, {0: 3}])
    doubled = hand_chains.make_chain([{1: 1}, {0: 6}])
    both = type(chain)(**{**vars(chain), "transitions": chain.transitions + doubled.transitions})
    assert merged_rates(both) == ({1: Fraction(3, 2)}, {0: Fraction(9)})


def test_zero_rates_are_no_edges():
    assert merged_rates(hand_chains.make_chain([{1: 0}, {0: 3}])) == ({}, {0: Fraction(3)})


def test_restriction_renumbers():
    rows = ({1: Fraction(1), 2: Fraction(2)}, {0: Fraction(3)}, {0: Fraction(4), 1: Fraction(5)})
    assert restrict(rows, (2, 0)) == ({1: Fraction(4)}, {0: Fraction(2)})


def test_the_sparse_matrix_holds_the_rates():
    matrix = sparse_rates(({2: Fraction(1, 2), 1: Fraction(3)}, {}, {0: Fraction(1, 4)}))
    assert np.array_equal(matrix.toarray(), [[0, 3, 0.5], [0, 0, 0], [0.25, 0, 0]])


def test_each_row_gets_the_shortest_whole_numbers():
    made = integer_generator(
        ({1: Fraction(1, 10**6), 2: Fraction(3, 10**6)}, {0: Fraction(4), 2: Fraction(6)}, {0: Fraction(1, 3)})
    )
    assert made.rows == ({1: 1, 2: 3}, {0: 2, 2: 3}, {0: 1})
    assert made.scale == (Fraction(1, 10**6), Fraction(2), Fraction(1, 3))
    assert made.exits == (4, 5, 1)


@given(SEEDS, st.integers(2, 9))
def test_balance_in_whole_numbers_is_balance_of_the_chain(seed, size):
    rows = tuple(hand_chains.random_rows(seed, size))
    generator = integer_generator(rows)
    probabilities = generator.probabilities(rational.lift(generator))
    for j in range(size):
        inflow = sum(probabilities[i] * row.get(j, Fraction(0)) for i, row in enumerate(rows))
        assert inflow == probabilities[j] * sum(rows[j].values())
    assert sum(probabilities) == 1
    assert generator.solved_by(probabilities)


@given(SEEDS, st.integers(2, 9), st.data())
def test_no_other_vector_balances(seed, size, data):
    generator = integer_generator(tuple(hand_chains.random_rows(seed, size)))
    weights = rational.lift(generator)
    wrong = list(weights)
    wrong[data.draw(st.integers(0, size - 1))] += 1
    assert generator.balanced(weights)
    assert not generator.balanced(wrong)


def test_a_shuffled_birth_death_chain_is_found_to_be_narrow():
    straight = hand_chains.birth_death([1] * 30, [2] * 30)
    shuffle = [(7 * i) % 31 for i in range(31)]
    rows = restrict(tuple(straight), shuffle)
    assert bandwidth(rows, range(31)) > 5
    order, width = band_order(rows)
    assert width == 1
    assert sorted(order) == list(range(31))
    assert bandwidth(rows, order) == 1


def test_a_good_order_is_kept():
    assert band_order(tuple(hand_chains.birth_death([1] * 5, [1] * 5))) == ([0, 1, 2, 3, 4, 5], 1)
