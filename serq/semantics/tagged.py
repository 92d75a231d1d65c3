"""The chain of one tagged session: from the moment that its clock is set to the moment that it observes.

The law of `now - t` over all observations, in the long run, is that of an absorbing chain. It begins where the
stationary chain sets clocks: `start` has the rate at which a session sets `t` and rests in each state with that session
marked. It moves as the stationary chain does, with the marked session told from the others, until that session sets `t`
anew or can observe no more; on the way it observes at the rates `observed`. So the n-th moments y_n(x) of the ages of
the intervals that are in state x solve

    y_0 M = start,   y_n M = n y_{n-1},   M = diag(exits) - rows,

and the n-th moment of the observed values is y_n observed / y_0 observed (M. F. Neuts, Matrix-Geometric Solutions in
Stochastic Models (1981), section 2.2; the tagged customer is in B. Melamed, M. Yadin, Oper. Res. 32 (1984)). No
stationary vector of the larger, marked chain is needed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from serq.base.errors import LimitError, OutsideFragmentError
from serq.ir import program as p
from serq.ir.chain import Chain, Solution, Transition
from serq.ir.evaluate import Value
from serq.ir.expr import Number
from serq.semantics.control import control_of
from serq.semantics.explore import ExploreOptions, with_limit
from serq.semantics.fragment import violations
from serq.semantics.intervals import Interval, NoInterval, interval_of
from serq.semantics.marked_clocks import MarkedClocks
from serq.semantics.marked_events import MarkedEvents, Step, is_present, marked_state, sorted_state
from serq.semantics.passages import Passage
from serq.semantics.paused import without
from serq.semantics.records import WAITING, State
from serq.semantics.symbols import rational
from serq.semantics.timing import has_clocks

Solve = Callable[[Chain], Solution]
"""What finds the stationary vector of a chain."""


@dataclass
class _Growing:
    """The states of one interval as they are found."""

    interval: Interval
    places: dict[State, int] = field(default_factory=dict)
    states: list[State] = field(default_factory=list)
    starts: list[tuple[int, Fraction, int]] = field(default_factory=list)  # lumped state, rate, marked state
    at_once: list[tuple[int, Fraction, Fraction]] = field(default_factory=list)  # lumped state, rate, rest
    rows: list[dict[int, Fraction]] = field(default_factory=list)
    exits: list[Fraction] = field(default_factory=list)
    observed: list[dict[Fraction, Fraction]] = field(default_factory=list)

    def place(self, state: State, limit: int) -> int:
        place = self.places.get(state)
        if place is None:
            place = self.places[state] = len(self.states)
            self.states.append(state)
            if place >= limit:
                raise LimitError(f"the tagged-session chain of {self.interval.observe} has more than {limit} states")
        return place


class Tagging:
    """The stationary chain of a program, explored so that it is known who sets which clock where."""

    def __init__(self, program: p.Program, options: ExploreOptions, observes: tuple[str, ...] | None = None) -> None:
        self.program = program = with_limit(program, options.limit)
        self.options = options
        found = violations(program, fixed_work=options.phase_type is not None)
        if found:
            raise OutsideFragmentError(program.source, found)
        control = control_of(program)
        self.clocked = has_clocks(control)
        made = MarkedClocks if self.clocked else MarkedEvents
        self.events: MarkedClocks | MarkedEvents = made(control, options.quotients, options.phase_type)
        intervals = [interval_of(control, name) for name in (program.observes if observes is None else observes)]
        self.refused = {x.observe: x.reason for x in intervals if isinstance(x, NoInterval)}
        self._growing = [_Growing(x) for x in intervals if isinstance(x, Interval)]
        self._places: dict[State, int] = {}
        self._states: list[State] = []
        self._transitions: list[Transition] = []
        self._initial: dict[int, Fraction] = {}

    # -- the stationary chain ----------------------------------------------------------------------------------------

    def passages(self, solve: Solve) -> dict[str, Passage]:
        """The passage of every observe that is an interval; `solve` is given the stationary chain."""
        if not self._growing:
            return {}
        self._explore()
        solution = solve(self._chain())
        for growing in self._growing:
            self._follow(growing)
        return {growing.interval.observe: self._passage(growing, solution) for growing in self._growing}

    def _passage(self, growing: _Growing, solution: Solution) -> Passage:
        """The chain of what happens in the long run, without the states in which the clock stands still."""
        reached = _reached(growing, solution)
        marks = (self.events.codec.records[growing.states[i][0]] for i in reached)
        still = growing.interval.paused
        paused = [k for k, mark in enumerate(marks) if mark.pc in still and mark.place[2] != WAITING]
        return without(replace(_passage(growing, solution, reached), clocked=self.clocked), paused)

    def _explore(self) -> None:
        for step in self.events.beginnings():
            place = self._place(sorted_state(step.state))
            self._initial[place] = self._initial.get(place, Fraction(0)) + step.coefficient
        done = 0
        while done < len(self._states):
            for step in self.events.steps(self._states[done], marked=False):
                target = self._place(sorted_state(step.state))
                rate = self._rate(step)
                self._transitions.append(Transition(done, target, rate, Fraction(step.coefficient), step.symbol))
                if step.deeds:
                    for growing in self._growing:
                        self._begin(growing, done, step, rate)
            done += 1
            if self.options.progress is not None and done % 1000 == 0:
                self.options.progress(len(self._states), done)

    def _place(self, state: State) -> int:
        place = self._places.get(state)
        if place is None:
            place = self._places[state] = len(self._states)
            self._states.append(state)
            if place >= self.options.most_by_reference:
                raise LimitError(f"the chain has more than {self.options.most_by_reference} states")
        return place

    def _rate(self, step: Step) -> Fraction:
        return step.coefficient * self.events.laws.symbols[step.symbol].value

    def _chain(self) -> Chain:
        size = len(self._states)
        symbols = tuple(self.events.laws.symbols)
        texts = tuple(map(str, range(size)))
        lines = {i: (0,) if state else () for i, state in enumerate(self._states)}
        initial = tuple(self._initial.items())
        return Chain(self.program.name, texts, initial, symbols, tuple(self._transitions), {}, {}, (), lines=lines)

    def _begin(self, growing: _Growing, source: int, step: Step, rate: Fraction) -> None:
        """Whose clock this step sets: they set out, and observe at once what they observe at once."""
        interval = growing.interval
        for session in dict.fromkeys(deed.session for deed in step.deeds if deed.name == interval.clock):
            running, rests = _since_last_set(step, session, interval)
            for rest in rests:
                growing.at_once.append((source, rate, rest))
            if running and is_present(session):
                place = step.sessions.index(session)
                if self._is_live(interval, step.state[place]):
                    target = growing.place(marked_state(step.state, place), self.options.most_by_reference)
                    growing.starts.append((source, rate, target))

    def _is_live(self, interval: Interval, code: int) -> bool:
        return self.events.codec.records[code].pc in interval.live

    # -- the marked session ------------------------------------------------------------------------------------------

    def _follow(self, growing: _Growing) -> None:
        """Explore where the marked sessions go, until their clock is set anew or nobody reads it any more."""
        interval = growing.interval
        done = 0
        while done < len(growing.states):
            row: dict[int, Fraction] = {}
            observed: dict[Fraction, Fraction] = {}
            gone = Fraction(0)
            for step in self.events.steps(growing.states[done], marked=True):
                rate = self._rate(step)
                mark = step.before[0] if step.before else None
                again = False
                if mark is not None:
                    rests, again = _before_set(step, mark, interval)
                    for rest in rests:
                        observed[rest] = observed.get(rest, Fraction(0)) + rate
                if again or (mark is not None and not is_present(mark)) or not self._is_live(interval, step.state[0]):
                    gone += rate
                    continue
                target = growing.place(marked_state(step.state, 0), self.options.most_by_reference)
                row[target] = row.get(target, Fraction(0)) + rate
            if not self.clocked:
                row.pop(done, None)
            growing.rows.append(row)
            growing.exits.append(sum(row.values(), gone))
            growing.observed.append(observed)
            done += 1


def _since_last_set(step: Step, session: object, interval: Interval) -> tuple[bool, list[Fraction]]:
    """Whether the session has set the clock, and the rests of what it observed of it at that instant."""
    running, rests = False, []
    for deed in step.deeds:
        if deed.session is not session:
            continue
        if deed.name == interval.clock:
            running = True
        elif running and deed.origin in interval.observers:
            rests.append(_rest(deed.value, interval))
    return running, rests


def _before_set(step: Step, mark: object, interval: Interval) -> tuple[list[Fraction], bool]:
    """The rests of what the marked session observed of the clock that runs, and whether it then set it anew."""
    rests: list[Fraction] = []
    for deed in step.deeds:
        if deed.session is not mark:
            continue
        if deed.name == interval.clock:
            return rests, True
        if deed.origin in interval.observers:
            rests.append(_rest(deed.value, interval))
    return rests, False


def _rest(value: Value, interval: Interval) -> Fraction:
    """What is added to the time: nothing where it is the draw during whose service the clock stands still."""
    if interval.paused:
        return Fraction(0)
    if isinstance(value, float) and not abs(value) < float("inf"):
        raise LimitError(f"an observation is {value}")
    return rational(value)


def _reached(growing: _Growing, solution: Solution) -> list[int]:
    """The states that intervals come to in the long run; from the others there may be no way out."""
    todo = list({target for source, _, target in growing.starts if solution.probabilities[source]})
    seen = set(todo)
    while todo:
        new = growing.rows[todo.pop()].keys() - seen
        seen |= new
        todo += new
    return sorted(seen)


def _passage(growing: _Growing, solution: Solution, reached: list[int]) -> Passage:
    """The rates among the states that are reached, from how likely the states are in which the intervals begin."""
    exact = all(isinstance(x, Fraction) for x in solution.probabilities)
    zero: Number = Fraction(0) if exact else 0.0
    place = {state: i for i, state in enumerate(reached)}
    start = [zero] * len(reached)
    leaving: dict[int, Fraction] = {}  # by the state that is left, the rate of all that is counted
    for source, rate, target in growing.starts:
        if target in place:
            start[place[target]] += solution.probabilities[source] * (rate if exact else float(rate))
        leaving[source] = leaving.get(source, Fraction(0)) + rate
    at_once: dict[Fraction, Number] = {}
    for source, rate, rest in growing.at_once:
        at_once[rest] = at_once.get(rest, zero) + solution.probabilities[source] * (rate if exact else float(rate))
        leaving[source] = leaving.get(source, Fraction(0)) + rate
    observed = [growing.observed[i] for i in reached]
    rests = sorted({rest for here in observed for rest in here})
    return Passage(
        growing.interval.observe,
        growing.interval.factor,
        tuple(start),
        tuple({place[j]: rate for j, rate in growing.rows[i].items()} for i in reached),
        tuple(growing.exits[i] for i in reached),
        {rest: tuple(here.get(rest, Fraction(0)) for here in observed) for rest in rests},
        at_once,
        solution.method,
        None if solution.bound is None else solution.bound * float(max(leaving.values(), default=Fraction(0))),
    )
