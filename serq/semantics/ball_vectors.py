"""Vectors that a generator in balls leaves as they are: the chain below the levels that repeat, solved with bounds.

The states stand in an order in which rates stay within a band, and blocks as wide as the band make the generator block
tridiagonal. Blocks leave from the last to the first, and what is left is the chain watched while it is in those before
(D. P. Gaver, P. A. Jacobs and G. Latouche, Adv. Appl. Prob. 16, 1984).
"""

from collections.abc import Mapping, Sequence

from flint import arb, arb_mat

from serq.semantics.balls import Entry, Matrix, part
from serq.semantics.generator import band_order
from serq.semantics.rational import eliminated

Rows = Sequence[Mapping[int, Entry]]
"""By state, the rates to other states."""


def ball_vector(rows: Rows, method: str) -> list[arb]:
    """A positive vector y with y Q = 0, of whatever mass, each entry in a ball of the precision at work.

    `method`: `gth` lets one state leave after the other, without a subtraction; others let blocks of them leave.
    ZeroDivisionError where the precision is too low.
    """
    order, width = band_order(rows)
    if method == "gth":
        weights = eliminated([dict(row) for row in rows], order, arb(1))
        return [weights[i] for i in _places(order)]
    blocks = [order[at : at + max(width, 1)] for at in range(0, len(order), max(width, 1))]
    found = [entry for row in _by_blocks(rows, blocks) for entry in row.entries()]
    return [found[i] for i in _places(order)]


def _places(order: Sequence[int]) -> list[int]:
    places = [0] * len(order)
    for place, state in enumerate(order):
        places[state] = place
    return places


def _by_blocks(rows: Rows, blocks: Sequence[Sequence[int]]) -> list[Matrix]:
    """The vector as a row per block."""
    last = len(blocks) - 1
    here = _block(rows, blocks[last], blocks[last])
    steps: list[Matrix] = []
    for k in range(last, 0, -1):
        ways = _block(rows, blocks[k - 1], blocks[k]) * (-1 * here).inv()
        steps.append(ways)
        here = _block(rows, blocks[k - 1], blocks[k - 1]) + ways * _block(rows, blocks[k], blocks[k - 1])
    found = [_alone(here)]
    for ways in reversed(steps):
        found.append(found[-1] * ways)
    return found


def _block(rows: Rows, sources: Sequence[int], targets: Sequence[int]) -> Matrix:
    """Part of the generator."""
    entries = [-sum(rows[i].values(), arb(0)) if i == j else rows[i].get(j, arb(0)) for i in sources for j in targets]
    return arb_mat(len(sources), len(targets), entries)


def _alone(generator: Matrix) -> Matrix:
    """The y with y Q = 0 for a small irreducible Q, the first entry 1: its equation follows from the others."""
    n = generator.nrows()
    others = range(1, n)
    if n == 1:
        return arb_mat(1, 1, [1])
    inside, into = part(generator, others, others), part(generator, [0], others)
    rest = (-1 * inside).transpose().solve(into.transpose())
    return arb_mat(1, n, [1, *rest.entries()])
