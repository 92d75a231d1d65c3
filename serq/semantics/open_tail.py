"""The steady state of an open program without a limit, by levels that repeat for ever.

It is rational where the first passages to the level below are, and small. Otherwise every number is a ball
(`serq.semantics.balls`): what is reported of it is a double and a bound on its error, proved from the rates on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from serq.base.diagnostics import Note
from serq.base.errors import LimitError, NoRationalsError, NoSteadyStateError, OutsideFragmentError, UsageError
from serq.ir import program as p
from serq.ir.chain import Chain, Solution
from serq.ir.expr import Number, double
from serq.ir.results import Estimate
from serq.semantics.answers import Rate, answers_from, names_in
from serq.semantics.balls import Entry, enclosure, rationals, working_bits
from serq.semantics.chain_errors import Unstable
from serq.semantics.exploration import ExploreOptions
from serq.semantics.fragment import unlimited_arrivals
from serq.semantics.fragment_errors import OpenWithoutLimit
from serq.semantics.level_passage import Passage
from serq.semantics.level_search import Levels, NoLevelsError
from serq.semantics.mapping import without
from serq.semantics.matrix_geometric import decay
from serq.semantics.near_values import near_bound, near_number, no_rationals_of
from serq.semantics.open_front import METHODS, Front, Vector
from serq.semantics.open_gauges import curved_gauges
from serq.semantics.open_quantiles import Excess, number_quantiles
from serq.semantics.unbounded import levels_of

LARGEST_RATIONAL = 400
"""States below the first level that repeats, it included, up to which answers are rational unless somebody asks."""
_LARGEST_ASKED = 2000
_BITS = (128, 256, 512, 1024, 2048)
_ENOUGH = Fraction(1, 1 << 60)
"""Relative width of a ball that is of no account beside the rounding to a double."""
_UP = 1 + 2**-50
"""Makes a double that was rounded to the nearest a bound."""


@dataclass(frozen=True)
class OpenTail:
    """What is known of the number of sessions present, which nothing limits.

    `decay`: the factor by which the probability falls from level to level, far up, and `decay_bound` a bound on its
    error, None where none is proved. `quantiles`: by name, the number that is not exceeded for such a share of the
    time. From level `first` on levels of `step` sessions repeat, each of so many `phases`; there are `below` states
    below.
    """

    decay: Number
    quantiles: Mapping[str, int]
    first: int
    phases: int
    below: int
    decay_bound: float | None = None
    step: int = 1


@dataclass(frozen=True)
class Unlimited:
    """The front of the chain, its part of the stationary vector, all measures, and what is known of the tail."""

    chain: Chain
    solution: Solution
    estimates: tuple[Estimate, ...]
    tail: OpenTail


def solve_unlimited(
    program: p.Program, options: ExploreOptions, exact: bool | None = None, method: str = "auto"
) -> Unlimited:
    """The steady state of a program for which `serq.semantics.unbounded.is_unlimited` holds.

    `options.states`: the most states in which levels are looked for. `method`: one of METHODS.

    Raises OutsideFragmentError, with the reason, when its states are no levels; NoSteadyStateError when the queue grows
    without bound; UsageError when rationals are asked for and there are none, and for a method that does not apply;
    LimitError when they are too many.
    """
    span = unlimited_arrivals(program)
    assert span is not None
    if method not in METHODS:
        raise UsageError(
            f"the method '{method}' is for finite chains: give a --limit, or solve the queue without one by "
            f"{', '.join(METHODS)}"
        )
    try:
        levels = levels_of(program, options)
        above, below = _flows(program, levels)
    except (NoLevelsError, LimitError) as reason:
        note = Note(message=f"no matrix-geometric solution either: {reason}")
        raise OutsideFragmentError(program.source, [OpenWithoutLimit(span=span, notes=(note,))]) from None
    if above >= below:
        raise NoSteadyStateError(program.source, [Unstable.at(span, above, below)])
    return _Solver(program, levels, method).solved(exact)


class _Solver:
    """What is reported of a vector."""

    def __init__(self, program: p.Program, levels: Levels, method: str) -> None:
        self.program = program
        self.levels = levels
        curved = curved_gauges(program, levels.grows)
        self.chain = replace(levels.chain, ratios=without(levels.chain.ratios, curved))
        self.front = Front(levels, method)
        self.rewards = self.chain.reward_table(sorted(names_in(self.chain) | {"sessions.number"}))

    def solved(self, exact: bool | None) -> Unlimited:
        if exact:
            no_rationals_of(self.chain)
        size, known = self.front.size, self.front.known is not None
        if exact and not known:
            raise NoRationalsError(
                "there is no rational solution: the matrix of the levels is no rational one; solve in doubles"
            )
        if exact and size > _LARGEST_ASKED:
            raise LimitError(f"{size} states are too many for a rational solution, which goes to {_LARGEST_ASKED}")
        if known and (size <= LARGEST_RATIONAL if exact is None else exact):
            vector = self.front.rational_vector()
            with working_bits(_BITS[0]):
                return self._answers(vector, self._rates(vector), None, "matrix-geometric, rational")
        return self._enclosed()

    def _enclosed(self) -> Unlimited:
        """In balls of more and more bits, until they are narrow."""
        for bits in _BITS:
            with working_bits(bits):
                try:
                    vector, g = self.front.enclosed_vector()
                    rates = self._rates(vector)
                    if all(_is_narrow(rate) for rate in rates.values()):
                        return self._answers(vector, rates, g, f"matrix-geometric, in balls of {bits} bits")
                except ZeroDivisionError:
                    continue
        raise LimitError(
            f"the bounds are too far apart with numbers of {_BITS[-1]} bits: the queue is all but critically loaded"
        )

    def _answers(self, vector: Vector, rates: Mapping[str, Rate], g: Passage | None, method: str) -> Unlimited:
        chain = replace(self.chain, truncated=(), explored=f"the front of a queue without a limit: {self.levels.text}")
        tail = self._tail(vector)
        solution = self._solution(vector, g, method, self._checks(tail, g))
        return Unlimited(chain, solution, answers_from(chain, rates, solution), tail)

    def _rates(self, vector: Vector) -> dict[str, Rate]:
        return {name: self._rate(name, vector) for name in names_in(self.chain)}

    def _rate(self, name: str, vector: Vector) -> Rate:
        """The long-run rate of a reward, which is linear in the level from the first one that repeats on."""
        earned = self.rewards[name]
        here, next_one, then = ([earned[i] for i in self.levels.states(self.levels.first + k)] for k in (0, 1, 2))
        slope = [b - a for a, b in zip(here, next_one, strict=True)]
        assert [b - a for a, b in zip(next_one, then, strict=True)] == slope, f"{name} is not linear in the level"
        below = [earned[i] for i in self.front.boundary]
        middle, radius = enclosure(vector.mean(below, here, slope))
        return Rate(middle, radius, any(here) or any(slope) or any(below))

    def _solution(self, vector: Vector, g: Passage | None, method: str, checks: tuple[str, ...]) -> Solution:
        """The vector over the front; the rest of the mass is further up."""
        known = [(Fraction(0), Fraction(0))] * self.chain.size
        for state, x in zip(self.front.boundary, vector.below, strict=True):
            known[state] = enclosure(x)
        level = vector.tail.first
        for m in range(self.levels.first, self.levels.highest + 1):
            for phase, x in zip(self.levels.phases, level.entries(), strict=True):
                if m in self.levels.place[phase]:
                    known[self.levels.place[phase][m]] = enclosure(x)
            level = level * vector.tail.rate
        if g is None:
            return Solution(tuple(x for x, _ in known), method, 0.0, 0.0, checks)
        doubles = tuple(float(x) for x, _ in known)
        off = sum((abs(Fraction(y) - x) + r for y, (x, r) in zip(doubles, known, strict=True)), Fraction(0))
        return Solution(doubles, method, float(g.residual), float(off) * _UP, checks)

    def _checks(self, tail: OpenTail, g: Passage | None) -> tuple[str, ...]:
        up, down = _apart(*_flows(self.program, self.levels))
        within = "" if not tail.decay_bound else f" within {tail.decay_bound:.1e}"
        found = (
            f"stable: with an endless queue sessions come at rate {up} and leave at rate {down}",
            f"levels {self.levels.first} to {self.levels.top} are alike, states and rates",
            f"the probability falls by the factor {double(tail.decay)!r}{within} from level to level, far up",
        )
        if g is None:
            return found
        return (*found, f"the first passages to the level below lie between bounds {float(g.width):.1e} apart")

    def _tail(self, vector: Vector) -> OpenTail:
        number = [int(x) for x in self.rewards["sessions.number"]]
        mass: dict[int, Entry] = {}
        for state, x in zip(self.front.boundary, vector.below, strict=True):
            mass[number[state]] = mass[number[state]] + x if number[state] in mass else x
        quantiles = number_quantiles(Excess(mass, [number[i] for i in self.front.first], vector.tail, self.levels.step))
        shape = self.levels.first, len(self.front.first), len(self.front.boundary)
        rate = vector.tail.rate
        if rate.nrows() == 1 and vector.tail.matrices is rationals:
            known: tuple[Number, float | None] = near_number(self.chain, enclosure(rate[0, 0])[0]), 0.0
        else:
            known = decay(rate)
        return OpenTail(known[0], quantiles, *shape, near_bound(self.chain, known[1], 1.0), self.levels.step)


def _flows(program: p.Program, levels: Levels) -> tuple[Fraction, Fraction]:
    """The rates at which sessions arrive and leave while many wait: those that are preempted do neither.

    Raises LimitError as `Blocks.drift` does.
    """
    above, below = levels.drift()
    match program.arrivals:
        case p.Poisson(rate=p.Folded(exact=Fraction() as rate)):
            return rate, rate + below - above
        case _:
            return above, below


def _is_narrow(rate: Rate) -> bool:
    return rate.error is not None and rate.error <= _ENOUGH * abs(Fraction(rate.value))


def _apart(x: Fraction, y: Fraction) -> tuple[str, str]:
    """Two different numbers in as many digits, six at least, as tell them apart."""
    texts = ((f"{float(x):.{digits}g}", f"{float(y):.{digits}g}") for digits in (6, 9, 12, 17))
    return next((pair for pair in texts if pair[0] != pair[1]), (str(x), str(y)))
