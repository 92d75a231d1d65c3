"""The chain of a program: every state that it can reach, found by firing every event from every state.

The transition function is the machine's, the same that the interpreter samples. An event is the end of a phase of a job
in service, or an arrival; the finite choices that follow are replayed from a script.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

from serq.base.errors import OutsideFragmentError
from serq.base.source import NOWHERE
from serq.ir import program as p
from serq.ir.chain import Chain, Transition
from serq.ir.expr import Num
from serq.semantics.canonical import WAITING, Codec
from serq.semantics.control import control_of
from serq.semantics.describe import Describer
from serq.semantics.enumerated import EnumeratedWorld, Impulses
from serq.semantics.fragment import unlimited_arrivals, violations
from serq.semantics.fragment_errors import PopulationGrows, RealNumberAsked
from serq.semantics.growth import too_many_states
from serq.semantics.machine import Limits, Machine
from serq.semantics.mapping import map_measures, without
from serq.semantics.phases import WorkLaws
from serq.semantics.records import DEAD, Quotients, Record, State
from serq.semantics.rewards import state_rewards
from serq.semantics.symbols import RealNumberError, constant_text, rational

Progress = Callable[[int], None]
"""Told how many states were found, every thousand states."""


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """How far to explore and what to put in for what no chain can hold.

    `states`: stop beyond that many. `limit`: an arrival that finds so many sessions present is lost, whatever the
    program says. `population`: sessions present at once in an open program without a limit beyond which it is taken
    to grow without bound. `phase_type`: phases of the Erlang laws that stand for fixed amounts of work; None admits
    no fixed amounts. `quotients` are all exact.
    """

    states: int = 200_000
    limit: int | None = None
    population: int = 200
    phase_type: int | None = None
    quotients: Quotients = field(default_factory=Quotients)
    progress: Progress | None = None


def explore(program: p.Program, options: ExploreOptions | None = None) -> Chain:
    """The chain of the program.

    Raises `OutsideFragmentError` with every reason why there is none, `LimitError` beyond `options.states`, and
    `RunError` for what the program does wrong in a state that it can reach.
    """
    return _Explorer(program, options or ExploreOptions()).chain()


def with_limit(program: p.Program, limit: int | None) -> p.Program:
    """The program, an arrival that finds `limit` sessions present being lost."""
    if limit is None or not isinstance(program.arrivals, p.Poisson | p.Renewal):
        return program
    folded = p.Folded(Num(Fraction(limit)), Fraction(limit), float(limit))
    return replace(program, arrivals=replace(program.arrivals, limit=folded))


Impulse = tuple[tuple[str, Fraction], ...]
Arc = tuple[int, int, Impulse]
"""Target, rate symbol, what is earned."""


class _Explorer:
    def __init__(self, program: p.Program, options: ExploreOptions) -> None:
        self.program = program = with_limit(program, options.limit)
        self.options = options
        found = violations(program, fixed_work=options.phase_type is not None)
        if found:
            raise OutsideFragmentError(program.source, found)
        self.control = control_of(program)
        self.mapping = map_measures(self.control)
        self.laws = WorkLaws(options.phase_type)
        self.world = EnumeratedWorld(self.control.sliced, self.laws)
        self.impulses = Impulses(program)
        limits = Limits(commands=100_000, preemptions=1_000_000_000)
        self.machine = Machine(self.control.sliced, self.world, self.impulses, limits)
        self.codec = Codec(self.control, self.laws, options.quotients, self.machine.fresh)
        self.guard = None if unlimited_arrivals(program) is None else options.population
        self.arrival = self._arrival_symbol()
        self.places: dict[State, int] = {}
        self.states: list[State] = []
        self.gauges: list[list[Fraction]] = [[] for _ in self.mapping.gauges]
        self.capacities: dict[tuple[int, int], Fraction | int] = {}
        self.transitions: list[Transition] = []
        self.rates: dict[tuple[int, Fraction | int], tuple[Fraction, Fraction]] = {}

    def _arrival_symbol(self) -> int | None:
        match self.program.arrivals:
            case p.Poisson(rate=rate):
                value = rational(rate.exact)
                return self.laws.symbol(constant_text(rate.expr) or str(value), value) if value > 0 else None
            case p.Renewal(gap=gap):
                law = self.laws.laws[self.laws.code(self.world.arrival_gap(gap))]
                return law.symbols[0]
            case _:
                return None

    # -- the states --------------------------------------------------------------------------------------------------

    def chain(self) -> Chain:
        """Explore, and put the chain together."""
        try:
            initial = self._initial()
            done = 0
            while done < len(self.states):
                self._expand(done)
                done += 1
                if self.options.progress is not None and done % 1000 == 0:
                    self.options.progress(len(self.states))
        except RealNumberError as reason:
            session = self.machine.frame.scene.session
            span = NOWHERE if session is None else self.program.code[session.pc].span
            raise OutsideFragmentError(self.program.source, [RealNumberAsked(span=span, what=str(reason))]) from None
        return self._assemble(initial)

    def _place(self, state: State) -> int:
        place = self.places.get(state)
        if place is None:
            place = self.places[state] = len(self.states)
            self.states.append(state)
            if place >= self.options.states:
                raise too_many_states(self.program, self.codec, self.states, self.options.states)
            if self.guard is not None and len(state) > self.guard:
                self._check_population(state, self.guard)
        return place

    def _check_population(self, state: State, bound: int) -> None:
        span = unlimited_arrivals(self.program)
        if span is not None and sum(self.codec.records[code].pc != DEAD for code in state) > bound:
            raise OutsideFragmentError(self.program.source, [PopulationGrows(span=span, bound=bound)])

    def _initial(self) -> tuple[tuple[int, Fraction], ...]:
        """Time 0: a closed population and a batch arrive, and so does the first session of a Poisson stream."""

        def begin() -> State:
            self.machine.configuration = self.machine.fresh()
            self.world.phases = {}
            self.machine.begin()
            if isinstance(self.program.arrivals, p.Poisson) and self.arrival is not None:
                self.machine.arrive()
            return self._settle()

        found: dict[int, Fraction] = {}
        for probability, state, _ in self._every_script(begin):
            place = self._place(state)
            found[place] = found.get(place, Fraction(0)) + probability
        return tuple(found.items())

    # -- the events --------------------------------------------------------------------------------------------------

    def _expand(self, source: int) -> None:
        """All transitions out of a state, those that are alike added up."""
        state = self.states[source]
        if self.gauges:
            self._read_gauges(state)
        arcs: dict[Arc, Fraction | int] = {}
        for coefficient, symbol, target, earned in self._events(state):
            arc = (self._place(target), symbol, earned)
            known = arcs.get(arc)
            arcs[arc] = coefficient if known is None else known + coefficient
        for (target_place, symbol, earned), coefficient in arcs.items():
            rate, factor = self._rate(symbol, coefficient)
            self.transitions.append(Transition(source, target_place, rate, factor, symbol, earned))

    def _rate(self, symbol: int, coefficient: Fraction | int) -> tuple[Fraction, Fraction]:
        """The rate of a transition and its coefficient; equal ones are one object."""
        key = symbol, coefficient
        known = self.rates.get(key)
        if known is None:
            known = self.rates[key] = coefficient * self.laws.symbols[symbol].value, Fraction(coefficient)
        return known

    def _events(self, state: State) -> Iterator[tuple[Fraction | int, int, State, Impulse]]:
        """Coefficient, symbol, target and earnings of everything that can happen next."""
        records = self.codec.records
        present = self._in_service(state)
        for i, code in enumerate(state):
            record = records[code]
            if not self._is_in_service(record) or (self.options.quotients.symmetry and i and state[i - 1] == code):
                continue
            stage, law_code, phase, _ = record.place
            many = state.count(code) if self.options.quotients.symmetry else 1
            coefficient = many * self._speed(stage, present[stage])
            law = self.laws.laws[law_code]
            following = law.phases.after[phase]
            if coefficient == 0:
                continue
            if following is not None:
                yield coefficient, law.symbols[phase], self._next_phase(state, i, record, following), ()
                continue
            for probability, target, earned in self._every_script(partial(self._complete, state, i)):
                yield coefficient * probability, law.symbols[phase], target, earned
        if self.arrival is not None:
            for probability, target, earned in self._every_script(partial(self._arrive, state)):
                yield probability, self.arrival, target, earned

    def _is_in_service(self, record: Record) -> bool:
        return isinstance(self.program.code[record.pc], p.Run) and record.pc != DEAD and record.place[2] != WAITING

    def _in_service(self, state: State) -> dict[int, int]:
        counts: dict[int, int] = {}
        for code in state:
            record = self.codec.records[code]
            if self._is_in_service(record):
                counts[record.place[0]] = counts.get(record.place[0], 0) + 1
        return counts

    def _next_phase(self, state: State, i: int, record: Record, phase: int) -> State:
        stage, law, _, rank = record.place
        code = self.codec.code(record._replace(place=(stage, law, phase, rank)))
        changed = [*state]
        changed[i] = code
        return self.codec.ordered(changed)

    def _speed(self, stage: int, present: int) -> Fraction | int:
        """The rate at which each of the jobs in service at a stage is served."""
        if not isinstance(self.program.stages[stage].kind, p.ProcessorSharing):
            return 1
        speed = self.capacities.get((stage, present))
        if speed is None:
            speed = self.capacities[stage, present] = rational(self.world.capacity(stage, present)) / present
        return speed

    def _complete(self, state: State, i: int) -> State:
        self.machine.configuration, jobs, self.world.phases = self.codec.decode(state)
        job = jobs[i]
        assert job is not None
        del self.world.phases[job.number]
        self.machine.complete(job)
        return self._settle()

    def _arrive(self, state: State) -> State:
        self.machine.configuration, _, self.world.phases = self.codec.decode(state)
        self.machine.arrive()
        return self._settle()

    def _settle(self) -> State:
        self.machine.new_instant()
        self.machine.settle()
        return self.codec.encode(self.machine.configuration, self.world.phases)

    def _every_script(self, event: Callable[[], State]) -> Iterator[tuple[Fraction | int, State, Impulse]]:
        """The event under every script of finite choices, with its probability and what is earned."""
        script = self.world.script
        while True:
            script.begin()
            self.impulses.take()
            target = event()
            yield script.probability, target, self.impulses.take()
            if not script.advance():
                return

    def _read_gauges(self, state: State) -> None:
        self.machine.configuration, _, _ = self.codec.decode(state)
        values = self.machine.gauges()
        for kept, place in zip(self.gauges, self.mapping.gauges, strict=True):
            kept.append(rational(values[place]))

    # -- the chain ---------------------------------------------------------------------------------------------------

    def _assemble(self, initial: tuple[tuple[int, Fraction], ...]) -> Chain:
        describer = Describer(self.program, self.codec, self.laws)
        rewards = state_rewards(self.program, self.codec.records, self.states, self.mapping.regions)
        for place, values in zip(self.mapping.gauges, self.gauges, strict=True):
            rewards[f"gauge.{self.program.gauges[place].name}.mean"] = tuple(values)
        moving = {t.source for t in self.transitions}
        stopped = [i for i in range(len(self.states)) if i not in moving]
        empty = {i for i in stopped if not any(self.codec.records[code].pc != DEAD for code in self.states[i])}
        lines: dict[tuple[int, ...], tuple[int, ...]] = {}
        return Chain(
            name=self.program.name,
            states=tuple(describer.state(state) for state in self.states),
            initial=initial,
            symbols=tuple(self.laws.symbols),
            transitions=tuple(self.transitions),
            state_rewards=rewards,
            labels={"ended": frozenset(empty), "deadlock": frozenset(stopped) - empty},
            ratios=without(self.mapping.ratios, self.impulses.broken),
            lumped=self.options.quotients.words(),
            truncated=self._truncated(),
            approximated=self._approximated(),
            lines={i: lines.setdefault(x, x) for i, x in enumerate(map(describer.lines, self.states))},
        )

    def _truncated(self) -> tuple[str, ...]:
        limit = self.options.limit
        if limit is None or with_limit(self.program, limit) is self.program:
            return ()
        return (f"an arrival that finds {limit} sessions present is lost; sessions.losses is their rate",)

    def _approximated(self) -> tuple[str, ...]:
        out = [f"{text}; a rational next to it was taken" for text in dict.fromkeys(self.laws.rounded)]
        if self.laws.stood_in:
            out.append(f"an Erlang law of {self.options.phase_type} phases and the same mean stands for fixed work")
        return tuple(out)
