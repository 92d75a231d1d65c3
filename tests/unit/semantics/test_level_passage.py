"""Bounds on first passages to the level below: against what is known, and against iteration in whole numbers."""

from fractions import Fraction

import pytest
from flint import arb

from serq.semantics.balls import balls, enclosure, working_bits
from serq.semantics.level_passage import as_balls, enclosed_passage, known_passage
from serq.semantics.matrix_geometric import Blocks, Table

HALF, ONE, ZERO = Fraction(1, 2), Fraction(1), Fraction(0)
TWICE = Blocks([[HALF, ZERO], [ZERO, HALF]], [[ZERO, ONE], [ONE, ZERO]], [[ONE, ZERO], [ZERO, ONE]])
"""M/M/1 with a coin that is turned over now and then and shows nowhere."""


def hyperexponential(lam: Fraction) -> Blocks:
    """M/H2/2 with mean works of 1/2 and 3, 4/5 of them short: phases by how many long ones are in service."""
    short, long, p = Fraction(2), Fraction(1, 3), Fraction(4, 5)
    down = [[2 * short * p, 2 * short * (1 - p), ZERO]]
    down += [[long * p, short * p + long * (1 - p), short * (1 - p)], [ZERO, 2 * long * p, 2 * long * (1 - p)]]
    return Blocks([[lam * (i == j) for j in range(3)] for i in range(3)], [[ZERO] * 3 for _ in range(3)], down)


def test_a_coin_that_shows_nowhere() -> None:
    """The coin shows the same side again with probability (1 + g) / 2, where 1 - 7/2 g + g^2 / 2 = 0."""
    assert TWICE.drift() == (HALF, 1)
    assert known_passage(TWICE) is None
    with working_bits(128):
        found = enclosed_passage(TWICE)
        g = (7 - arb(41).sqrt()) / 2
        for (i, j), true in {(0, 0): (1 + g) / 2, (0, 1): (1 - g) / 2, (1, 0): (1 - g) / 2}.items():
            assert found.matrix[i, j].overlaps(true)
            assert enclosure(found.matrix[i, j])[1] < 1e-35
        assert found.width < 1e-35
        assert found.residual < 1e-35


@pytest.mark.parametrize("lam", [Fraction(9, 10), Fraction(5, 4)])
def test_iteration_from_below_comes_up_to_it(lam: Fraction) -> None:
    """X -> (exits - local)^-1 (down + up X^2) from 0 rises to G; rounded down, it stays below."""
    blocks = hyperexponential(lam)
    with working_bits(128):
        found = enclosed_passage(blocks).matrix.tolist()
    below = _risen(blocks, 1500)
    for row, lower in zip(found, below, strict=True):
        for entry, x in zip(row, lower, strict=True):
            middle, radius = enclosure(entry)
            assert x <= middle + radius
            assert x == pytest.approx(middle, rel=1e-12)


def _risen(blocks: Blocks, steps: int) -> Table:
    """That iteration in whole multiples of 2^-100, rounded down."""
    unit = 1 << 100
    exits, n = blocks.exits, blocks.size
    assert not any(any(row) for row in blocks.local)
    x = [[0] * n for _ in range(n)]
    for _ in range(steps):
        square = [[sum(x[i][k] * x[k][j] for k in range(n)) // unit for j in range(n)] for i in range(n)]
        x = [
            [
                int((blocks.down[i][j] * unit + sum(blocks.up[i][k] * square[k][j] for k in range(n))) / exits[i])
                for j in range(n)
            ]
            for i in range(n)
        ]
    return [[Fraction(entry, unit) for entry in row] for row in x]


@pytest.mark.parametrize("gap", [Fraction(1, 10), Fraction(1, 10**6), Fraction(1, 10**15)])
def test_it_is_no_more_than_what_its_equation_maps_below_itself(gap: Fraction) -> None:
    """G is the least solution: X >= 0 with down + up X^2 <= exits X is nowhere below it. Rows add up to 1."""
    blocks = hyperexponential(Fraction(5, 4) * (1 - gap))
    with working_bits(256):
        found = enclosed_passage(blocks)
        rows = [[sum(enclosure(entry), ZERO) for entry in row] for row in found.matrix.tolist()]
        for row in found.matrix.tolist():
            assert sum(row, arb(0)).contains(1)
    # raised by as much as leads down again: the mean time of a passage in each phase, roughly, by a left vector of G
    assert found.width < Fraction(1, 10**40)
    times, left = _times(blocks, rows), _left(rows)
    more = Fraction(1, 10**40)
    upper = [[g + more * t * y for g, y in zip(row, left, strict=True)] for row, t in zip(rows, times, strict=True)]
    square = _product(upper, upper)
    rise = _product(blocks.up, square)
    for i, rate in enumerate(blocks.exits):
        for j in range(blocks.size):
            assert blocks.down[i][j] + rise[i][j] < rate * upper[i][j]


def _times(blocks: Blocks, g: Table) -> list[Fraction]:
    """What solves (exits - up (1 + G)) t = 1: the mean times of first passage."""
    n = blocks.size
    back = _product(blocks.up, g)
    with working_bits(256):
        away = [[blocks.exits[i] * (i == j) - blocks.up[i][j] - back[i][j] for j in range(n)] for i in range(n)]
        return [enclosure(x)[0] for x in balls(away).solve(balls([[ONE]] * n)).entries()]


def _left(g: Table) -> list[Fraction]:
    """y with y G = y, by iteration; all phases come up again and again."""
    y = [ONE] * len(g)
    for _ in range(200):
        y = [Fraction(int(sum(y[i] * g[i][j] for i in range(len(g))) * (1 << 300)), 1 << 300) for j in range(len(g))]
    return y


def _product(a: Table, b: Table) -> Table:
    columns = list(zip(*b, strict=True))
    return [[sum((x * y for x, y in zip(row, column, strict=True)), ZERO) for column in columns] for row in a]


def test_ways_down_to_the_same_phases_need_no_bounds() -> None:
    blocks = Blocks([[HALF, ZERO], [ZERO, HALF]], [[ZERO, ONE], [ZERO, ZERO]], [[ZERO, ZERO], [ONE, Fraction(3)]])
    g = known_passage(blocks)
    assert g == [[Fraction(1, 4), Fraction(3, 4)]] * 2
    with working_bits(128):
        (here, found) = (as_balls(g), enclosed_passage(blocks))
        assert here.residual == here.width == 0
        for a, b in zip(here.matrix.entries(), found.matrix.entries(), strict=True):
            assert a.overlaps(b)


def test_too_few_bits_for_any_bounds() -> None:
    with working_bits(2), pytest.raises(ZeroDivisionError):
        enclosed_passage(hyperexponential(Fraction(5, 4) * (1 - Fraction(1, 10**9))))
