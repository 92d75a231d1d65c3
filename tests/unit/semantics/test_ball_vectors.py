"""Vectors of generators in balls: the rational ones lie in them, however the states are eliminated."""

import random
from fractions import Fraction

import pytest
from flint import arb

from serq.semantics.ball_vectors import ball_vector
from serq.semantics.balls import enclosure, flint, working_bits
from serq.semantics.generator import Rows, integer_generator
from serq.semantics.rational import lift


def banded(states: int, width: int, stiff: int) -> Rows:
    """An irreducible generator whose rates stay within a band, their sizes apart by up to 10^stiff."""
    rng = random.Random(5)
    rows: Rows = tuple({} for _ in range(states))
    for i in range(states):
        for j in {(i + step) % states for step in (1, rng.randint(1, width), -rng.randint(1, width))} - {i}:
            if abs(i - j) <= width:
                rows[i][j] = Fraction(rng.randint(1, 99), 10 ** rng.randint(0, stiff))
        rows[i].setdefault(max(i - 1, 0), Fraction(1, 7))
        rows[i].setdefault(min(i + 1, states - 1), Fraction(1, 9))
        rows[i].pop(i, None)
    return rows


@pytest.mark.parametrize("method", ["auto", "gth"])
@pytest.mark.parametrize(("states", "width", "stiff"), [(2, 1, 0), (5, 1, 3), (30, 4, 6), (41, 7, 12)])
def test_the_rational_vector_lies_in_the_balls(states: int, width: int, stiff: int, method: str) -> None:
    rows = banded(states, width, stiff)
    generator = integer_generator(rows)
    true = generator.probabilities(lift(generator))
    with working_bits(256):
        found = ball_vector([{j: arb(flint(x)) for j, x in row.items()} for row in rows], method)
        mass = sum(found, arb(0))
        for x, y in zip(found, true, strict=True):
            middle, radius = enclosure(x / mass)
            assert abs(middle - y) <= radius < y / 10**40


def test_a_state_alone() -> None:
    assert [float(x) for x in ball_vector([{}], "auto")] == [1]
    assert [float(x) for x in ball_vector([{}], "gth")] == [1]
