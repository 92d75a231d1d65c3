"""How the probabilities of levels fall, between bounds."""

from fractions import Fraction

import pytest

from serq.semantics.balls import balls, rationals, working_bits
from serq.semantics.level_passage import enclosed_passage
from serq.semantics.matrix_geometric import Blocks, Tail, decay, next_level

ZERO, ONE = Fraction(0), Fraction(1)


def erlang(phases: int, lam: Fraction) -> Blocks:
    """M/E_k/1 with a mean work of 1, by the phase in service."""
    here = range(phases)
    return Blocks(
        [[lam * (i == j) for j in here] for i in here],
        [[Fraction(phases) * (j == i + 1) for j in here] for i in here],
        [[Fraction(phases) * (i == phases - 1 and j == 0) for j in here] for i in here],
    )


@pytest.mark.parametrize("lam", [Fraction(1, 2), Fraction(99, 100), 1 - Fraction(1, 10**9)])
def test_the_decay_lies_within_its_bound(lam: Fraction) -> None:
    """It is 1 / z for the least z > 1 with z = B(lam (1 - z)), B the transform of the work: a sign that changes."""
    blocks = erlang(4, lam)
    g = [[ONE, ZERO, ZERO, ZERO]] * 4
    value, bound = decay(next_level(blocks, rationals(g), rationals))
    assert bound is not None
    assert 0 < bound < 1e-15
    signs = []
    for eta in (Fraction(value) - Fraction(bound), Fraction(value) + Fraction(bound)):
        signs.append((1 + lam * (1 - 1 / eta) / 4) ** 4 / eta - 1 > 0)
    assert signs[0] != signs[1]
    with working_bits(128):
        again, width = decay(next_level(blocks, balls(g), balls))
    assert width is not None
    assert abs(again - value) <= bound + width


def test_levels_of_a_queue_that_is_known() -> None:
    """M/M/1 with a coin turned over now and then: halves from level to level, whatever the coin shows."""
    half = Fraction(1, 2)
    blocks = Blocks([[half, ZERO], [ZERO, half]], [[ZERO, ONE], [ONE, ZERO]], [[ONE, ZERO], [ZERO, ONE]])
    with working_bits(128):
        rate = next_level(blocks, enclosed_passage(blocks).matrix, balls)
        value, bound = decay(rate)
        assert abs(value - half) <= (bound or 0) < 1e-16
        tail = Tail(balls([[Fraction(1, 4), Fraction(1, 4)]]), rate, balls)
        assert tail.total([ONE, ONE], [ZERO, ZERO]).contains(1)
        assert tail.total([ZERO, ZERO], [ONE, ONE]).contains(1)
        assert tail.scaled(rate[0, 0] * 0 + 2).total([ONE, ONE], [ZERO, ZERO]).contains(0.5)
