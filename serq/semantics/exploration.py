"""The reference explorer: every state that a program can reach, found by firing every event from every state.

It is the executable specification of the compiled one (`serq.semantics.explore_fast`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, ClassVar, Literal

from serq.base.errors import OutsideFragmentError
from serq.base.source import Span
from serq.ir import program as p
from serq.ir.chain import Approximation, Chain, Transition
from serq.ir.expr import Num
from serq.semantics.control import control_of
from serq.semantics.describe import Describer
from serq.semantics.events import Events, Impulse
from serq.semantics.fragment import unlimited_arrivals, violations
from serq.semantics.fragment_errors import PopulationGrows
from serq.semantics.growth import too_many_beginnings, too_many_states
from serq.semantics.mapping import map_measures, without
from serq.semantics.memory import check_population
from serq.semantics.pinned import dropped_ranks
from serq.semantics.records import Quotients, State
from serq.semantics.rewards import state_rewards
from serq.semantics.symbols import rational

if TYPE_CHECKING:
    from serq.semantics.explore_fast import FastExploration  # needs NumPy, which small chains do without

Explorer = Literal["auto", "reference", "compiled"]
"""`reference` fires every event with the interpreter's machine; `compiled` is some hundred times faster and gives the
same chain; `auto` begins with the one and goes over to the other where the chain turns out to be large.
"""

Progress = Callable[[int, int], None]
"""Told every thousand states how many were found, and how many of them are done."""


REFERENCE_STATES = 200_000
COMPILED_STATES = 4_000_000
"""States beyond which an explorer stops unless somebody says otherwise."""


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """How far to explore and what to put in for what no chain can hold.

    `states`: stop beyond that many; None: as many as the explorer at work does in a minute. `limit`: an arrival that
    finds so many sessions present is lost, whatever the program says. `population`: sessions present at once in an open
    program without a limit beyond which it is taken to grow without bound. `phase_type`: phases of the Erlang laws
    that stand for fixed amounts of work; None admits no fixed amounts. `quotients` are all exact. `memory`: bytes that
    states and transitions may take in the compiled explorer; None: a quarter of the machine's.
    """

    states: int | None = None
    limit: int | None = None
    population: int = 200
    phase_type: int | None = None
    quotients: Quotients = field(default_factory=Quotients)
    progress: Progress | None = None
    explorer: Explorer = "auto"
    memory: int | None = None

    @property
    def most_by_reference(self) -> int:
        """States beyond which the reference explorer stops."""
        return REFERENCE_STATES if self.states is None else self.states

    @property
    def most_compiled(self) -> int:
        """States beyond which the compiled explorer stops."""
        return COMPILED_STATES if self.states is None else self.states


def with_limit(program: p.Program, limit: int | None) -> p.Program:
    """The program, an arrival that finds `limit` sessions present being lost."""
    if limit is None or not isinstance(program.arrivals, p.Poisson | p.Renewal):
        return program
    folded = p.Folded(Num(Fraction(limit)), Fraction(limit), float(limit))
    return replace(program, arrivals=replace(program.arrivals, limit=folded))


_WAYS = 100_000
"""Ways to begin beyond which the reference explorer does not wait for the end."""
_FEW_WAYS = 1000
"""Ways to begin beyond which the compiled explorer takes over."""
_SESSION_BYTES = 512
"""What a session of the first state takes at least until the state is packed."""
_LEAST_MEMORY = 64 << 20
"""Bytes that are there for the first state, however little the chain may take."""

Arc = tuple[int, int, Impulse]
"""Target, rate symbol, what is earned."""


class Exploration:
    """A breadth-first search in progress: `states` in the order found, `initial` and `transitions` by their places."""

    events_type: ClassVar[type[Events]] = Events

    def __init__(self, program: p.Program, options: ExploreOptions) -> None:
        self.program = program = with_limit(program, options.limit)
        self.options = options
        found = violations(program, fixed_work=options.phase_type is not None)
        if found:
            raise OutsideFragmentError(program.source, found)
        memory = None if options.memory is None else max(options.memory, _LEAST_MEMORY)
        check_population(program, memory, _SESSION_BYTES)
        self.control = control = control_of(program)
        self.mapping = map_measures(control)
        self.events = self.events_type(control, options.quotients, options.phase_type)
        self.states: list[State] = []
        self.initial: tuple[tuple[int, Fraction], ...] = ()
        self.transitions: list[Transition] = []
        self.open = unlimited_arrivals(program)
        """Where the sessions of an open program without a limit arrive."""
        self.searching: FastExploration | None = None
        """The compiled search, once it has begun: after an interrupt it goes on where it was."""
        self._done = 0
        self._places: dict[State, int] = {}
        self._gauges: list[list[Fraction]] = [[] for _ in self.mapping.gauges]
        self._rates: dict[tuple[int, Fraction | int], tuple[Fraction, Fraction]] = {}

    # -- searching ---------------------------------------------------------------------------------------------------

    def run(self, most: int | None = None) -> bool:
        """Find every state, or so many at least; whether all were found. It goes on where it was."""
        if most == 0:
            return False
        if not self.initial and not self._begin(_WAYS if most is None else _FEW_WAYS):
            if most is not None:
                return False
            raise too_many_beginnings(_WAYS)
        while self._done < len(self.states):
            if most is not None and len(self.states) > most:
                return False
            self._expand(self._done)
            self._done += 1
            if self.options.progress is not None and self._done % 1000 == 0:
                self.options.progress(len(self.states), self._done)
        return True

    def _begin(self, most: int) -> bool:
        """Find the initial states; whether so many ways to begin are enough. If not, nothing is found."""
        found: dict[int, Fraction] = {}
        for way, (probability, state, _) in enumerate(self.events.initial()):
            if way == most:
                self.events.give_up()
                self.states.clear()
                self._places.clear()
                return False
            place = self._place(state)
            found[place] = found.get(place, Fraction(0)) + probability
        self.initial = tuple(found.items())
        return True

    def _place(self, state: State) -> int:
        place = self._places.get(state)
        if place is None:
            place = self._places[state] = len(self.states)
            self.states.append(state)
            if place >= self.options.most_by_reference:
                raise too_many_states(self.program, self.events.codec, self.states, self.options.most_by_reference)
            if self.open is not None and self._population(state) > self.options.population:
                raise self.grows(self.open)
        return place

    def grows(self, arrivals: Span) -> OutsideFragmentError:
        """What to raise when more sessions are present than a chain can have."""
        fault = PopulationGrows(span=arrivals, bound=self.options.population)
        return OutsideFragmentError(self.program.source, [fault])

    def _population(self, state: State) -> int:
        records = self.events.codec.records
        return sum(records[code].pc >= 0 for code in state)

    def _expand(self, source: int) -> None:
        """All transitions out of a state, those that are alike added up."""
        state = self.states[source]
        if self._gauges:
            self._read_gauges(state)
        arcs: dict[Arc, Fraction | int] = {}
        for coefficient, symbol, target, earned in self.events.of(state):
            arc = (self._place(target), symbol, earned)
            known = arcs.get(arc)
            arcs[arc] = coefficient if known is None else known + coefficient
        for (target_place, symbol, earned), coefficient in arcs.items():
            rate, factor = self._rate(symbol, coefficient)
            self.transitions.append(Transition(source, target_place, rate, factor, symbol, earned))

    def _read_gauges(self, state: State) -> None:
        for kept, value in zip(self._gauges, self._gauge_values(state), strict=True):
            kept.append(value)

    def _gauge_values(self, state: State) -> list[Fraction]:
        """The gauges that the states determine; a value that is not finite leaves the measure without one."""
        values = self.events.gauges(state)
        out = []
        for place in self.mapping.gauges:
            value = values[place]
            if isinstance(value, float) and not isfinite(value):
                measure = f"gauge.{self.program.gauges[place].name}.mean"
                self.events.impulses.broken[measure] = f"it is {value} in a state that can be reached"
                value = 0
            out.append(rational(value))
        return out

    def _rate(self, symbol: int, coefficient: Fraction | int) -> tuple[Fraction, Fraction]:
        """The rate of a transition and its coefficient; equal ones are one object."""
        key = symbol, coefficient
        known = self._rates.get(key)
        if known is None:
            value = self.events.laws.symbols[symbol].value
            known = self._rates[key] = coefficient * value, Fraction(coefficient)
        return known

    # -- the chain ---------------------------------------------------------------------------------------------------

    def chain(self) -> Chain:
        """What was found, as plain data."""
        codec, laws = self.events.codec, self.events.laws
        describer = Describer(self.program, codec, laws)
        lines: dict[tuple[int, ...], tuple[int, ...]] = {}
        return Chain(
            name=self.program.name,
            states=tuple(map(describer.state, self.states)),
            initial=self.initial,
            symbols=tuple(laws.symbols),
            transitions=tuple(self.transitions),
            state_rewards=self._state_rewards(),
            labels=self._labels(),
            ratios=without(self.mapping.ratios, self.events.impulses.broken),
            lumped=self.lumped(),
            truncated=self.truncated(),
            approximated=self.approximated(),
            lines={i: lines.setdefault(x, x) for i, x in enumerate(map(describer.lines, self.states))},
        )

    def _state_rewards(self) -> dict[str, tuple[Fraction, ...]]:
        rewards = state_rewards(self.program, self.events.codec.records, self.states, self.mapping.regions)
        for place, values in zip(self.mapping.gauges, self._gauges, strict=True):
            rewards[f"gauge.{self.program.gauges[place].name}.mean"] = tuple(values)
        return rewards

    def lumped(self) -> tuple[str, ...]:
        """Those of the quotients that this program gives something to do, in words."""
        asked = self.options.quotients
        taken = replace(
            asked,
            dead_values=asked.dead_values and bool(self.program.attributes),
            pinned_ranks=asked.pinned_ranks and bool(dropped_ranks(self.program)),
        )
        return taken.words()

    def _labels(self) -> dict[str, frozenset[int]]:
        """The states in which everything has stopped: with nobody left, and with sessions that wait for ever."""
        moving = {t.source for t in self.transitions}
        stopped = frozenset(i for i in range(len(self.states)) if i not in moving)
        ended = frozenset(i for i in stopped if not self._population(self.states[i]))
        return {"ended": ended, "deadlock": stopped - ended}

    def truncated(self) -> tuple[str, ...]:
        """What was cut off, in words."""
        limit = self.options.limit
        if limit is None or with_limit(self.program, limit) is self.program:
            return ()
        return (f"an arrival that finds {limit} sessions present is lost; sessions.losses is their rate",)

    def approximated(self) -> tuple[Approximation, ...]:
        """What was put in the place of what."""
        return tuple(self.events.laws.approximations())
