from fractions import Fraction

import hand_chains
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.base.errors import LimitError
from serq.semantics import classes
from serq.semantics.classes import absorption, classify

make = hand_chains.make_chain


def gambler(size, up, down, start):
    """States 0..size, absorbed at both ends."""
    rows = [{}, *({i - 1: down, i + 1: up} for i in range(1, size)), {}]
    return make(rows, initial=start)


def test_an_irreducible_chain_is_one_closed_class():
    found = classify(make(hand_chains.tandem(3)))
    assert found.transient == ()
    assert [c.kind for c in found.closed] == ["recurrent"]
    assert found.closed[0].states == tuple(range(10))


def test_transient_states_come_in_the_order_of_passage():
    found = classify(make([{3: 1}, {2: 1}, {1: 1}, {4: 1, 0: 1}, {1: 2}]))
    assert found.transient == ((0, 3), (4,))
    assert found.closed[0].states == (1, 2)


def test_states_that_are_not_reached_do_not_count():
    found = classify(make([{1: 1}, {0: 1}, {0: 1}, {}]))
    assert found.transient == ()
    assert [c.states for c in found.closed] == [(0, 1)]


def test_an_initial_state_of_probability_zero_is_not_reached():
    found = classify(make([{1: 1}, {0: 1}, {}], initial={0: 1, 2: 0}))
    assert [c.states for c in found.closed] == [(0, 1)]


def test_a_state_that_only_renews_itself_is_recurrent_and_one_without_a_rate_is_not():
    assert classify(make([{0: 2}])).closed[0].kind == "recurrent"
    assert classify(make([{}])).closed[0].kind == "ended"
    assert classify(make([{}], lines={0: (4,)})).closed[0].kind == "deadlock"


def test_a_rate_too_small_for_a_double_still_joins_two_states():
    tiny = Fraction(1, 10**400)
    assert len(classify(make([{1: tiny}, {0: 1}])).closed[0].states) == 2


@pytest.mark.parametrize(
    ("up", "down"), [(Fraction(1), Fraction(1)), (Fraction(3), Fraction(2)), (Fraction(1, 7), Fraction(5))]
)
@pytest.mark.parametrize("start", [1, 3, 5])
def test_ruin_and_duration_of_a_gamblers_game(up, down, start):
    """Feller, volume 1, XIV.2-3: probability of ruin and expected number of rounds, each lasting 1/(up + down)."""
    size = 6
    chain = gambler(size, up, down, start)
    got = absorption(chain, classify(chain))
    r = down / up
    if r == 1:
        ruin, rounds = 1 - Fraction(start, size), Fraction(start * (size - start))
    else:
        ruin = (r**size - r**start) / (r**size - 1)
        p, q = up / (up + down), down / (up + down)
        rounds = start / (q - p) - size / (q - p) * (1 - r**start) / (1 - r**size)
    assert got.probabilities == (ruin, 1 - ruin)
    assert got.mean_time == rounds / (up + down)


def test_a_batch_of_three_drains_in_eleven_sixths_on_a_delay_and_in_three_on_one_server():
    on_delay = make([{1: 3}, {2: 2}, {3: 1}, {}])
    on_fifo = make([{1: 1}, {2: 1}, {3: 1}, {}])
    assert absorption(on_delay, classify(on_delay)).mean_time == Fraction(11, 6)
    assert absorption(on_fifo, classify(on_fifo)).mean_time == 3


def test_a_random_start_weighs_where_the_chain_ends():
    chain = make([{2: 1}, {3: 1}, {}, {3: 1}], initial={0: Fraction(1, 3), 1: Fraction(2, 3)})
    got = absorption(chain, classify(chain))
    assert got.probabilities == (Fraction(1, 3), Fraction(2, 3))
    assert got.mean_time == 1


@given(st.integers(0, 10**6), st.integers(2, 7))
def test_the_probabilities_of_where_a_chain_ends_add_up_to_one(seed, size):
    rows = [*hand_chains.random_rows(seed, size), {}, {size + 2: 1}, {size + 1: Fraction(1, 2)}]
    rows[0][size] = Fraction(1, 3)
    rows[size - 1][size + 1] = Fraction(2)
    chain = make(rows)
    found = classify(chain)
    got = absorption(chain, found)
    assert [c.states for c in found.closed] == [(size,), (size + 1, size + 2)]
    assert sum(got.probabilities) == 1
    assert min(got.probabilities) > 0


def test_a_large_transient_class_is_a_limit_that_says_how_large(monkeypatch):
    monkeypatch.setattr(classes, "LARGEST_TRANSIENT_CLASS", 4)
    chain = gambler(6, Fraction(1), Fraction(1), 2)
    with pytest.raises(LimitError, match="5 transient states"):
        absorption(chain, classify(chain))
