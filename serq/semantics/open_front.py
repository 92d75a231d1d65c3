"""The stationary vector of a queue without a limit: the levels below the first that repeats, and from there on.

The chain watched below that level and in it is a finite one. Its vector is rational where the first passages to the
level below are, and otherwise in balls, of as many bits as make them narrow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from serq.semantics.ball_vectors import ball_vector
from serq.semantics.balls import Entry, Matrices, Matrix, balls, enclosure, flint, is_zero, rationals
from serq.semantics.generator import band_order, integer_generator, merged_rates
from serq.semantics.level_passage import Passage, as_balls, enclosed_passage, known_passage
from serq.semantics.level_search import Levels
from serq.semantics.matrix_geometric import Tail, next_level
from serq.semantics.rational import eliminate, lift

METHODS = ("auto", "direct", "gth", "dixon", "lu")
"""How the finite chain is solved: one state after the other (`gth`), in rationals by p-adic lifting (`dixon`), in balls
by blocks (`lu`).
"""
_NARROW = 3
"""Half bandwidth up to which rational elimination beats the dense p-adic solver."""


@dataclass(frozen=True)
class Vector:
    """The probabilities of the states below the first level that repeats, and of the levels from there on."""

    below: Sequence[Entry]
    tail: Tail

    def normalised(self) -> "Vector":
        """The same of mass 1."""
        n = self.tail.rate.nrows()
        mass = sum(self.below, self.tail.total([Fraction(1)] * n, [Fraction(0)] * n))
        return Vector([x / mass for x in self.below], self.tail.scaled(mass))

    def mean(self, below: Sequence[Fraction], here: Sequence[Fraction], slope: Sequence[Fraction]) -> Entry:
        """The mean of a reward: below the first level, in it, and what every level more adds to it."""
        value = self.tail.total(here, slope)
        for x, earned in zip(self.below, below, strict=True):
            if earned:
                value = value + x * flint(earned)
        return value


class Front:
    """The boundary and the levels of a chain, put together."""

    def __init__(self, levels: Levels, method: str = "auto") -> None:
        """`method`: one of METHODS."""
        self.boundary = levels.boundary()
        self.first = levels.states(levels.first)
        self.blocks = levels.blocks()
        self.known = known_passage(self.blocks)
        """G where it is rational."""
        self._chain = levels.chain
        self._method = method

    @property
    def size(self) -> int:
        """States of the finite chain."""
        return len(self.boundary) + len(self.first)

    def rational_vector(self) -> Vector:
        """Where G is known."""
        assert self.known is not None
        return self._vector(rationals(self.known), rationals)

    def enclosed_vector(self) -> tuple[Vector, Passage]:
        """In balls of the precision at work, with G. ZeroDivisionError where it is too low for any bounds."""
        g = enclosed_passage(self.blocks) if self.known is None else as_balls(self.known)
        return self._vector(g.matrix, balls), g

    def _vector(self, g: Matrix, matrices: Matrices) -> Vector:
        rows = self._censored(g, matrices)
        weights = _in_rationals(rows, self._method) if matrices is rationals else ball_vector(rows, self._method)
        n = len(self.boundary)
        first = type(g)(1, len(self.first), weights[n:])
        return Vector(weights[:n], Tail(first, next_level(self.blocks, g, matrices), matrices)).normalised()

    def _censored(self, g: Matrix, matrices: Matrices) -> list[dict[int, Entry]]:
        """The rates among the boundary and the first level, watched only while the chain is there."""
        places = {state: i for i, state in enumerate([*self.boundary, *self.first])}
        merged = merged_rates(self._chain)
        kept = [{places[j]: rate for j, rate in merged[state].items() if j in places} for state in places]
        rows = [{j: matrices([[rate]])[0, 0] for j, rate in row.items()} for row in kept]
        base = len(self.boundary)
        back = (matrices(self.blocks.up) * g).tolist()
        for i, row in enumerate(back):
            here = rows[base + i]
            for j, rate in enumerate(row):
                if i != j and not is_zero(rate):
                    here[base + j] = here[base + j] + rate if base + j in here else rate
        return rows


def _in_rationals(rows: Sequence[Mapping[int, Entry]], method: str) -> list[Entry]:
    generator = integer_generator(tuple({j: enclosure(rate)[0] for j, rate in row.items()} for row in rows))
    order, width = band_order(generator.rows)
    one_by_one = method == "gth" or (method != "dixon" and width <= _NARROW)
    weights = eliminate(generator, order) if one_by_one else lift(generator)
    if not generator.balanced(weights):
        raise AssertionError("a rational solution fails the balance equations")
    return [flint(x) for x in generator.probabilities(weights)]
