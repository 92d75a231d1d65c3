"""How the chain of a queue without a limit first comes to the level below: the matrix G, rational or between bounds.

Where all ways down lead to the same phases, as behind one server, G is known at once. Otherwise it is enclosed.
Logarithmic reduction (G. Latouche and V. Ramaswami, J. Appl. Prob. 30, 1993) computes in step k the probabilities of
coming down before the chain is 2^(k + 1) levels up. That is less than G, whatever k is, so the lower ends L of balls
around them are lower bounds. A stable queue comes down for certain: the rows of G add up to 1 (Latouche and Ramaswami,
Introduction to Matrix Analytic Methods in Stochastic Modeling, 1999, chapter 7). No entry of a row can therefore
be above L by more than what the row of L lacks to 1, and L <= G <= L + that is proved. It is also true of the
equation that G solves, which is looked at afterwards.
"""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_mat

from serq.semantics.balls import Matrix, balls, beside, between, bits_now, enclosure, least, most, part
from serq.semantics.matrix_geometric import Blocks, total


@dataclass(frozen=True)
class Passage:
    """G in balls. `width`: how far bounds are apart at most; `residual`: of down + local G + up G^2 - exits G, relative
    to the largest exit.
    """

    matrix: Matrix
    width: Fraction
    residual: Fraction


def known_passage(blocks: Blocks) -> list[list[Fraction]] | None:
    """G as rationals where every way down leads to the same phases; None where it depends."""
    rows = [row for row in blocks.down if any(row)]
    totals = [total(row) for row in rows]
    shares = [x / totals[0] for x in rows[0]]
    if all([x / whole if x else x for x in row] == shares for row, whole in zip(rows, totals, strict=True)):
        return [shares] * blocks.size
    return None


def enclosed_passage(blocks: Blocks) -> Passage:
    """G of a stable queue in balls of the precision at work.

    ZeroDivisionError where it is too low for any bounds.
    """
    below = _lower_bounds(blocks)
    columns = [any(row[j] for row in blocks.down) for j in range(blocks.size)]
    rows, width = [], Fraction(0)
    for row in below:
        lacking = max(1 - total(row), Fraction(0))
        width = max(width, lacking)
        rows += [between(x, x + lacking) if used else arb(0) for x, used in zip(row, columns, strict=True)]
    g = arb_mat(blocks.size, blocks.size, rows)
    inner, up, down = balls(blocks.inner), balls(blocks.up), balls(blocks.down)
    rest = down - inner * g + up * g * g
    if not all(entry.contains(0) for row in rest.tolist() for entry in row):
        raise AssertionError("the bounds of a first passage leave out what solves its equation")
    return Passage(g, width, most(rest) / max(blocks.exits))


def _lower_bounds(blocks: Blocks) -> list[list[Fraction]]:
    """Numbers that G is nowhere below: all of the reduction's terms are positive, and it stops at a sum of some."""
    n = blocks.size
    here = range(n)
    both = balls(blocks.inner).solve(beside(balls(blocks.up), balls(blocks.down)))
    high, low = part(both, here, here), part(both, here, range(n, 2 * n))
    g, reach = low, high
    one = balls([[Fraction(int(i == j)) for j in here] for i in here])
    enough = Fraction(1, 1 << bits_now())
    for _ in range(bits_now()):
        both = (one - high * low - low * high).solve(beside(high * high, low * low))
        high, low = part(both, here, here), part(both, here, range(n, 2 * n))
        step = reach * low
        g, reach = g + step, reach * high
        if most(step) < enough:
            break
    return [[max(least(entry), Fraction(0)) for entry in row] for row in g.tolist()]


def as_balls(rows: list[list[Fraction]]) -> Passage:
    """A rational G in balls."""
    g = balls(rows)
    return Passage(g, 2 * max(enclosure(entry)[1] for row in g.tolist() for entry in row), Fraction(0))
