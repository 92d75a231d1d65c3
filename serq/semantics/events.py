"""What can happen in a state of a chain: the machine is set up in that state, one clock fires, and it settles.

An event is the end of a phase of a job in service, or an arrival. The finite choices that follow are replayed from a
script, so an event has as many outcomes as there are scripts.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from serq.base.errors import OutsideFragmentError
from serq.base.source import NOWHERE, Span
from serq.ir import expr as e
from serq.ir import program as p
from serq.semantics.canonical import Codec
from serq.semantics.control import Control
from serq.semantics.enumerated import EnumeratedWorld
from serq.semantics.fragment_errors import CompositeWork, NoAmount
from serq.semantics.impulses import Impulses
from serq.semantics.limits import Limits
from serq.semantics.machine import Machine
from serq.semantics.phases import WorkLaws
from serq.semantics.records import WAITING, Quotients, Record, State
from serq.semantics.symbols import ComposedWorkError, RealNumberError, constant_text, rational

Impulse = tuple[tuple[str, Fraction], ...]
"""What a transition earns, by the name of the reward."""


class Outcome(NamedTuple):
    """A state and what is earned on the way to it, with a probability."""

    probability: Fraction | int
    state: State
    earned: Impulse


class Event(NamedTuple):
    """One way out of a state. Its rate is `coefficient` times that of the rate symbol."""

    coefficient: Fraction | int
    symbol: int
    state: State
    earned: Impulse


class Events:
    """The events of one program. `laws` and `codec` know the laws of work and the records met so far."""

    world_type: type[EnumeratedWorld] = EnumeratedWorld
    """What the machine asks; somebody who wants to know more than a chain may answer through a world of his own."""

    def __init__(
        self, control: Control, quotients: Quotients, phase_type: int | None, impulses: Impulses | None = None
    ) -> None:
        self.program = control.program
        self.laws = self._new_laws(phase_type)
        self.impulses = impulses or Impulses(control.program)
        self._world = self._new_world(control)
        limits = Limits(commands=100_000, preemptions=1_000_000_000)
        self._machine = Machine(control.sliced, self._world, self.impulses, limits)
        self.codec = self._new_codec(control, quotients)
        self._symmetry = quotients.symmetry
        self.arrival = self._arrival_symbol()
        """The rate symbol of arrivals, None where nobody arrives."""
        self._speeds: dict[tuple[int, int], Fraction | int] = {}

    def _new_laws(self, phase_type: int | None) -> WorkLaws:
        return WorkLaws(phase_type)

    def _new_world(self, control: Control) -> EnumeratedWorld:
        return self.world_type(control.sliced, self.laws)

    def _new_codec(self, control: Control, quotients: Quotients) -> Codec:
        return Codec(control, self.laws, quotients, self._machine.fresh)

    def _arrival_symbol(self) -> int | None:
        match self.program.arrivals:
            case p.Poisson(rate=rate):
                value = rational(rate.exact)
                return self.laws.symbol(constant_text(rate.expr) or str(value), value) if value > 0 else None
            case p.Renewal(gap=gap):
                return self.laws.laws[self.laws.code(self._world.arrival_gap(gap))].symbols[0]
            case _:
                return None

    def initial(self) -> Iterator[Outcome]:
        """Time 0: a closed population and a batch arrive, and so does the first session of a Poisson stream."""
        return self._every_script(self._begin)

    def give_up(self) -> None:
        """Outcomes that were not asked for yet are not wanted."""
        self._world.script.clear()

    def of(self, state: State) -> Iterator[Event]:
        """Everything that can happen next."""
        records = self.codec.records
        present = self._in_service(state)
        for i, code in enumerate(state):
            record = records[code]
            if not self._is_in_service(record) or (self._symmetry and i and state[i - 1] == code):
                continue
            stage, law_code, phase, _ = record.place
            coefficient = self._speed(stage, present[stage]) * (state.count(code) if self._symmetry else 1)
            if coefficient == 0:
                continue
            law = self.laws.laws[law_code]
            following = law.phases.after[phase]
            if following is not None:
                yield Event(coefficient, law.symbols[phase], self._next_phase(state, i, record, following), ())
                continue
            for probability, target, earned in self._every_script(partial(self._complete, state, i)):
                yield Event(coefficient * probability, law.symbols[phase], target, earned)
        if self.arrival is not None:
            for probability, target, earned in self._every_script(partial(self._arrive, state)):
                yield Event(probability, self.arrival, target, earned)

    def gauges(self, state: State) -> list[Fraction | float | int]:
        """The values of the program's gauges in a state."""
        self._machine.configuration, _, _ = self.codec.decode(state)
        try:
            return self._machine.gauges()
        except RealNumberError as reason:
            raise OutsideFragmentError(self.program.source, [NoAmount(span=self._asking(), what=str(reason))]) from None

    def _asking(self) -> Span:
        """The gauge that asks for the value of a draw: what is left of a budget hangs on the tokens of residents."""
        parts = ((gauge.expr.span, part) for gauge in self.program.gauges for part in e.walk(gauge.expr))
        found = (span for span, part in parts if isinstance(part, e.StageState) and part.fact == "budget_left")
        return next(found, NOWHERE)

    # -- who is served, and how fast ---------------------------------------------------------------------------------

    def _is_in_service(self, record: Record) -> bool:
        return record.pc >= 0 and isinstance(self.program.code[record.pc], p.Run) and record.place[2] != WAITING

    def _in_service(self, state: State) -> dict[int, int]:
        counts: dict[int, int] = {}
        for code in state:
            record = self.codec.records[code]
            if self._is_in_service(record):
                counts[record.place[0]] = counts.get(record.place[0], 0) + 1
        return counts

    def _speed(self, stage: int, present: int) -> Fraction | int:
        """The speed at which each of the jobs in service at a stage is served."""
        if not isinstance(self.program.stages[stage].kind, p.ProcessorSharing):
            return 1
        speed = self._speeds.get((stage, present))
        if speed is None:
            speed = self._speeds[stage, present] = self._world.capacity(stage, present) / present
        return speed

    def _next_phase(self, state: State, i: int, record: Record, phase: int) -> State:
        stage, law, _, rank = record.place
        changed = [*state]
        changed[i] = self.codec.code(record._replace(place=(stage, law, phase, rank)))
        return self.codec.ordered(changed)

    # -- the machine -------------------------------------------------------------------------------------------------

    def _begin(self) -> State:
        self._machine.configuration = self._machine.fresh()
        self._world.phases = {}
        self._machine.begin()
        if isinstance(self.program.arrivals, p.Poisson) and self.arrival is not None:
            self._machine.arrive()
        return self._settle()

    def _complete(self, state: State, i: int) -> State:
        self._machine.configuration, jobs, self._world.phases = self.codec.decode(state)
        job = jobs[i]
        assert job is not None
        del self._world.phases[job.number]
        self._machine.new_instant()
        self._machine.complete(job)
        return self._settle()

    def _arrive(self, state: State) -> State:
        self._machine.configuration, _, self._world.phases = self.codec.decode(state)
        self._machine.new_instant()
        self._machine.arrive()
        return self._settle()

    def _settle(self) -> State:
        self._machine.settle()
        return self.codec.encode(self._machine.configuration, self._world.phases)

    def _every_script(self, event: Callable[[], State]) -> Iterator[Outcome]:
        """The event under every script of finite choices."""
        script = self._world.script
        while True:
            script.begin()
            self.impulses.take()
            try:
                target = event()
            except RealNumberError as reason:
                raise real_number(self.program, self._machine, reason) from None
            yield Outcome(script.probability, target, self.impulses.take())
            if not script.advance():
                return


def real_number(program: p.Program, machine: Machine, reason: RealNumberError) -> OutsideFragmentError:
    """What to raise when a session of the machine asks for the value of a draw that is not made."""
    session = machine.frame.scene.session
    step = None if session is None else program.code[session.pc]
    if isinstance(reason, ComposedWorkError) and isinstance(step, p.Run):
        return OutsideFragmentError(program.source, [CompositeWork(span=step.work.span, what=str(reason))])
    span = NOWHERE if step is None else step.span
    return OutsideFragmentError(program.source, [NoAmount(span=span, what=str(reason))])
