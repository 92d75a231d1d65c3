"""The steady state of an open program without a limit, by levels that repeat for ever."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from serq.base.diagnostics import Note
from serq.base.errors import LimitError, NoSteadyStateError, OutsideFragmentError, UsageError
from serq.ir import program as p
from serq.ir.chain import Chain, Solution
from serq.ir.expr import Number
from serq.ir.measures import QUANTILES
from serq.ir.results import Estimate
from serq.semantics.answers import Rate, answers_from, names_in
from serq.semantics.chain_errors import Unstable
from serq.semantics.doubles import find_vector
from serq.semantics.exploration import ExploreOptions
from serq.semantics.fragment import unlimited_arrivals
from serq.semantics.fragment_errors import OpenWithoutLimit
from serq.semantics.generator import Rows, band_order, integer_generator, merged_rates, sparse_rates
from serq.semantics.matrix_geometric import Passage, Tail, next_level, passage
from serq.semantics.rational import eliminate, lift
from serq.semantics.unbounded import Levels, NoLevelsError, levels_of

LARGEST_RATIONAL = 400
"""States below the first level that repeats, it included, up to which answers are rational unless somebody asks."""
_NARROW = 3
_MOST_LEVELS = 1_000_000


@dataclass(frozen=True)
class OpenTail:
    """What is known of the number of sessions present, which nothing limits.

    `decay`: the factor by which the probability falls from level to level, far up. `quantiles`: by name, the number
    that is not exceeded for such a share of the time.
    """

    decay: Number
    quantiles: Mapping[str, int]


@dataclass(frozen=True)
class Unlimited:
    """The front of the chain, its part of the stationary vector, all measures, and what is known of the tail."""

    chain: Chain
    solution: Solution
    estimates: tuple[Estimate, ...]
    tail: OpenTail


def solve_unlimited(program: p.Program, options: ExploreOptions, exact: bool | None = None) -> Unlimited:
    """The steady state of a program for which `serq.semantics.unbounded.is_unlimited` holds.

    Raises OutsideFragmentError, with the reason, when its states are no levels; NoSteadyStateError when the queue grows
    without bound; UsageError when rationals are asked for and there are none.
    """
    span = unlimited_arrivals(program)
    assert span is not None
    try:
        levels = levels_of(program, options)
        blocks = levels.blocks()
        above, below = blocks.drift()
    except (NoLevelsError, LimitError) as reason:
        note = Note(message=f"no matrix-geometric solution either: {reason}")
        raise OutsideFragmentError(program.source, [OpenWithoutLimit(span=span, notes=(note,))]) from None
    if above >= below:
        raise NoSteadyStateError(program.source, [Unstable(span=span, up=str(above), down=str(below))])
    return _Solver(levels, passage(blocks), exact).unlimited()


class _Solver:
    """Puts boundary and levels together."""

    def __init__(self, levels: Levels, g: Passage, exact: bool | None) -> None:
        self.levels = levels
        self.chain = levels.chain
        self.blocks = levels.blocks()
        self.boundary = levels.boundary()
        self.first = levels.states(levels.first)
        small = len(self.boundary) + len(self.first) <= LARGEST_RATIONAL
        if exact and not g.exact:
            raise UsageError(
                "there is no rational solution: the matrix of the levels is no rational one; solve in doubles"
            )
        self.rewards = self.chain.reward_table(sorted(names_in(self.chain) | {"sessions.number"}))
        self.exact = g.exact and (small if exact is None else exact)
        self.g = g if self.exact else replace(g, matrix=[[float(x) for x in row] for row in g.matrix], exact=False)

    def unlimited(self) -> Unlimited:
        rows = self._censored()
        weights = _rationals(rows) if self.exact else find_vector(sparse_rates(rows), "auto", None).vector.tolist()
        below, first = weights[: len(self.boundary)], weights[len(self.boundary) :]
        tail = Tail(first, next_level(self.blocks, self.g))
        ones, zeros = [Fraction(1)] * len(first), [Fraction(0)] * len(first)
        mass = sum(below, Fraction(0)) + tail.total(ones, zeros)
        below, tail = [x / mass for x in below], replace(tail, first=[x / mass for x in first])
        chain = replace(self.chain, truncated=(), explored=self._explored())
        solution = self._solution(below, tail)
        rates = {name: self._rate(name, below, tail) for name in names_in(chain)}
        estimates = answers_from(chain, rates, solution)
        return Unlimited(chain, solution, estimates, OpenTail(tail.decay, self._quantiles(below, tail)))

    def _explored(self) -> str:
        n = len(self.first)
        return (
            f"the front of a queue without a limit: from level {self.levels.first} on its levels repeat for ever, with "
            f"{n} phase{'s' if n > 1 else ''} each"
        )

    def _censored(self) -> Rows:
        """The rates among the boundary and the first level, watched only while the chain is there."""
        places = {state: i for i, state in enumerate([*self.boundary, *self.first])}
        merged = merged_rates(self.chain)
        rows: list[dict[int, Fraction]] = [
            {places[j]: rate for j, rate in merged[state].items() if j in places} for state in places
        ]
        base = len(self.boundary)
        for i, row in enumerate(self.blocks.up):
            here = rows[base + i]
            for j in range(len(row)):
                back = sum((rate * Fraction(self.g.matrix[k][j]) for k, rate in enumerate(row) if rate), Fraction(0))
                if back and i != j:
                    here[base + j] = here.get(base + j, Fraction(0)) + back
        return tuple(rows)

    def _rate(self, name: str, below: Sequence[Number], tail: Tail) -> Rate:
        """The long-run rate of a reward, which is linear in the level from the first one that repeats on."""
        vector = self.rewards[name]
        here, next_one, then = ([vector[i] for i in self.levels.states(self.levels.first + k)] for k in (0, 1, 2))
        slope = [b - a for a, b in zip(here, next_one, strict=True)]
        assert [b - a for a, b in zip(next_one, then, strict=True)] == slope, f"{name} is not linear in the level"
        value = sum((x * vector[i] for x, i in zip(below, self.boundary, strict=True)), Fraction(0))
        value = value + tail.total(here, slope)
        return Rate(value, None, any(here) or any(slope) or any(vector[i] for i in self.boundary))

    def _solution(self, below: Sequence[Number], tail: Tail) -> Solution:
        """The vector over the front; the rest of the mass is further up."""
        zero: Number = Fraction(0) if self.exact else 0.0
        probabilities = [zero] * self.chain.size
        for state, x in zip(self.boundary, below, strict=True):
            probabilities[state] = x
        level = tail.first
        for m in range(self.levels.first, self.levels.highest + 1):
            for phase, x in zip(self.levels.phases, level, strict=True):
                if m in self.levels.place[phase]:
                    probabilities[self.levels.place[phase][m]] = x
            level = tail.next(level)
        up, down = self.blocks.drift()
        kind = "rational" if self.exact else "doubles"
        checks = (
            f"stable: with an endless queue sessions come at rate {float(up):.6g} and leave at rate {float(down):.6g}",
            f"levels {self.levels.first} to {self.levels.top} are alike, states and rates",
            f"the probability falls by the factor {float(tail.decay):.10g} from level to level, far up",
        )
        return Solution(tuple(probabilities), f"matrix-geometric, {kind}", self.g.residual, None, checks)

    def _quantiles(self, below: Sequence[Number], tail: Tail) -> dict[str, int]:
        """Of the number of sessions present."""
        number = [int(x) for x in self.rewards["sessions.number"]]
        mass: dict[int, float] = {}
        for state, x in zip(self.boundary, below, strict=True):
            mass[number[state]] = mass.get(number[state], 0.0) + float(x)
        present = [number[i] for i in self.first]
        level = replace(tail, first=[float(x) for x in tail.first], rate=[[float(x) for x in r] for r in tail.rate])
        here, out, total, n = list(level.first), {}, 0.0, 0
        wanted = sorted(QUANTILES.items(), key=lambda pair: pair[1])
        for k in range(_MOST_LEVELS):
            for start, x in zip(present, here, strict=True):
                mass[start + k] = mass.get(start + k, 0.0) + float(x)
            here = level.next(here)
            while wanted and n <= min(present) + k:
                total += mass.get(n, 0.0)
                n += 1
                while wanted and total >= wanted[0][1]:
                    out[wanted.pop(0)[0]] = n - 1
            if not wanted:
                break
        return out


def _rationals(rows: Rows) -> list[Number]:
    generator = integer_generator(rows)
    order, width = band_order(rows)
    weights = eliminate(generator, order) if width <= _NARROW else lift(generator)
    if not generator.balanced(weights):
        raise AssertionError("a rational solution fails the balance equations")
    return list(generator.probabilities(weights))
