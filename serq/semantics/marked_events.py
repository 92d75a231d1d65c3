"""Events that tell who did what: the transition function of the explorer, with one session told from the others.

Sessions are interchangeable, so a state in which one of them is marked is that one's record and the sorted records of
the others. What a session sets and observes while an event settles is written down, in order.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from serq.ir import program as p
from serq.ir.evaluate import Value
from serq.semantics.configuration import Claim, Job, Session, Status
from serq.semantics.control import Control
from serq.semantics.enumerated import EnumeratedWorld
from serq.semantics.events import Events
from serq.semantics.graph import Origin
from serq.semantics.impulses import Impulses
from serq.semantics.records import Quotients, State

WENT_ON = ""
"""No name of an attribute: a session has left a stage or a queue."""


class Deed(NamedTuple):
    """One session's `set` of a name, or (name None) its observe that stands at `origin`, with its finite part; or (name
    WENT_ON) that it has left a stage or a queue.
    """

    session: Session
    name: str | None
    origin: Origin | None
    value: Value


class Step(NamedTuple):
    """One outcome of an event: its rate is `coefficient` times that of the rate symbol.

    `state`: the records in the order of `sessions`, dead entries after them. `deeds`: what was done on the way.
    `before`: the sessions in the order of the state that the event left (empty at the beginning).
    """

    coefficient: Fraction | int
    symbol: int
    state: State
    sessions: tuple[Session, ...]
    deeds: tuple[Deed, ...]
    before: tuple[Session, ...]


class Diary(Impulses):
    """What the sessions did since the last `take`; `deeds` are those before it."""

    def __init__(self, control: Control) -> None:
        super().__init__(control.program)
        sliced = control.sliced
        blocks = (("code", sliced.code), ("init", sliced.init), ("turn", sliced.turn))
        self._origins: dict[int, Origin] = {
            id(step): (block, i) for block, steps in blocks for i, step in enumerate(steps)
        }
        self.deeds: list[Deed] = []
        self._going_on: list[Deed] = []

    def take(self) -> tuple[tuple[str, Fraction], ...]:
        """What was earned; the deeds on the way are kept."""
        self.deeds, self._going_on = self._going_on, []
        return super().take()

    def observed(self, session: Session, observe: p.Observe, value: Value) -> None:
        """An observe."""
        self._going_on.append(Deed(session, None, self._origins[id(observe)], value))
        super().observed(session, observe, value)

    def stored(self, session: Session, name: str) -> None:
        """A `set`."""
        self._going_on.append(Deed(session, name, None, 0))

    def completed(self, stage: int, job: Job) -> None:
        """A job is done."""
        if job.session is not None:
            self._going_on.append(Deed(job.session, WENT_ON, None, 0))
        super().completed(stage, job)

    def admitted(self, pool: int, claim: Claim) -> None:
        """A hold was admitted."""
        self._going_on.append(Deed(claim.session, WENT_ON, None, 0))
        super().admitted(pool, claim)


class TellingWorld(EnumeratedWorld):
    """The explorer's world, which also tells of every `set`."""

    diary: Diary

    def store(self, session: Session, name: str, value: Value) -> Value:
        """An attribute keeps the value itself."""
        self.diary.stored(session, name)
        return value


class Telling(Events):
    """Events of which it is told who did what."""

    def __init__(self, control: Control, quotients: Quotients, phase_type: int | None) -> None:
        self._diary = Diary(control)
        super().__init__(control, replace(quotients, symmetry=False), phase_type, self._diary)
        assert isinstance(self._world, TellingWorld)
        self._world.diary = self._diary
        self._before: tuple[Session, ...] = ()

    def beginnings(self) -> Iterator[Step]:
        """Time 0; the coefficient is the probability."""
        self._before = ()
        yield from self._steps(1, -1, self._begin)

    def _steps(self, coefficient: Fraction | int, symbol: int, event: Callable[[], State]) -> Iterator[Step]:
        for probability, target, _ in self._every_script(event):
            sessions = tuple(self._machine.configuration.sessions.values())
            yield Step(coefficient * probability, symbol, target, sessions, tuple(self._diary.deeds), self._before)

    def _exponential(self, state: State, marked: bool) -> Iterator[Step]:
        """Every exponential event of a state: the marked session's record first, the others sorted."""
        records = self.codec.records
        present = self._in_service(state)
        first = int(marked)
        others = state[first:]
        for i, code in enumerate(state):
            record = records[code]
            if not self._is_in_service(record) or (i > first and state[i - 1] == code):
                continue
            stage, law_code, phase, _ = record.place
            coefficient = self._speed(stage, present[stage]) * (others.count(code) if i >= first else 1)
            if coefficient == 0:
                continue
            law = self.laws.laws[law_code]
            following = law.phases.after[phase]
            if following is not None:
                target = self._next_phase(state, i, record, following)
                yield Step(coefficient, law.symbols[phase], target, (), (), ())
                continue
            yield from self._steps(coefficient, law.symbols[phase], partial(self._fire, state, i))
        if self.arrival is not None:
            yield from self._steps(1, self.arrival, partial(self._fire, state, None))

    def _fire(self, state: State, i: int | None) -> State:
        """A job is done, or (None) a session arrives."""
        machine = self._machine
        machine.configuration, jobs, self._world.phases = self.codec.decode(state)
        self._before = tuple(machine.configuration.sessions.values())
        machine.new_instant()
        if i is None:
            machine.arrive()
        else:
            job = jobs[i]
            assert job is not None
            del self._world.phases[job.number]
            machine.complete(job)
        return self._settle()


class MarkedEvents(Telling):
    """The events of a program in continuous time, session by session."""

    world_type = TellingWorld

    def steps(self, state: State, marked: bool) -> Iterator[Step]:
        """Everything that can happen next in a state: the marked session's record first, the others sorted."""
        return self._exponential(state, marked)

    def everything(self, state: State, marked: bool) -> Iterator[Step]:
        """The same."""
        return self._exponential(state, marked)


def sorted_state(state: State) -> State:
    """The state in which nobody is marked."""
    return tuple(sorted(state))


def marked_state(state: State, place: int) -> State:
    """The state in which the session of the record at that place is marked."""
    return (state[place], *sorted(state[:place] + state[place + 1 :]))


def is_present(session: Session) -> bool:
    """Whether the session has not ended."""
    return session.status is not Status.ENDED
