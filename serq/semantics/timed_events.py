"""What happens in a program with clocks: the exponential events of every chain, and the instants at which clocks ring.

All clocks of an instant ring one after the other, in the order in which they were set, and the machine settles after
each, as in a run. Before the first of them the geometric ones among them have their trials.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from math import comb
from typing import Any, ClassVar, TypeVar

from serq.base.errors import LimitError
from serq.ir import program as p
from serq.semantics.configuration import Job, StageState
from serq.semantics.control import Control
from serq.semantics.decoding import Decoded
from serq.semantics.events import Event, Events, Outcome
from serq.semantics.impulses import Impulses
from serq.semantics.kinds import Shape
from serq.semantics.phases import WorkLaws
from serq.semantics.records import CLOCK, Quotients, Record, State
from serq.semantics.symbols import Amount, RealNumberError, rational
from serq.semantics.timed_codec import TimedCodec
from serq.semantics.timed_laws import Lasting, TimedLaws
from serq.semantics.timed_world import Clock, Key, TimedWorld

Item = TypeVar("Item")

_MOST_AT_ONE_INSTANT = 10_000
"""Clocks that ring at one instant beyond which no time passes any more."""


class TimedEvents(Events):
    """The events of one program with clocks."""

    clocked_world_type: ClassVar[type[TimedWorld]] = TimedWorld
    laws: TimedLaws
    codec: TimedCodec
    _world: TimedWorld

    def __init__(
        self, control: Control, quotients: Quotients, phase_type: int | None, impulses: Impulses | None = None
    ) -> None:
        super().__init__(control, quotients, phase_type, impulses)
        self._alike: dict[int, Record] = {}
        """By the number of a session of the state in hand, its record without ranks."""

    def _new_laws(self, phase_type: int | None) -> WorkLaws:
        return TimedLaws(phase_type)

    def _new_world(self, control: Control) -> TimedWorld:
        arrivals = control.program.arrivals
        shapes = control.kinds.of(arrivals.gap, {}).shapes if isinstance(arrivals, p.Renewal) else frozenset()
        self._gap_is_clocked = bool(shapes) and shapes != {Shape.PHASE}
        return self.clocked_world_type(control.sliced, self.laws)

    def _new_codec(self, control: Control, quotients: Quotients) -> TimedCodec:
        return TimedCodec(control, self.laws, quotients, self._machine.fresh, self._world)

    def _arrival_symbol(self) -> int | None:
        return None if self._gap_is_clocked else super()._arrival_symbol()

    # -- clocks ------------------------------------------------------------------------------------------------------

    def clocks(self, state: State) -> tuple[Clock, ...]:
        """The clocks that are set in a state."""
        records = (self.codec.records[code] for code in state)
        return tuple(clock for record in records if (clock := self._clock(record)) is not None)

    def _clock(self, record: Record) -> Clock | None:
        is_job = record.pc >= 0 and isinstance(self.program.code[record.pc], p.Run) and len(record.place) == 5
        if record.pc != CLOCK and not is_job:
            return None
        place: tuple[Any, ...] = record.place
        return Clock(place[2], place[1])

    def _is_in_service(self, record: Record) -> bool:
        return super()._is_in_service(record) and len(record.place) == 4

    def of(self, state: State) -> Iterator[Event]:
        """The exponential events, which may happen while clocks run."""
        self._world.between = bool(self.clocks(state))
        yield from super().of(state)
        self._world.between = False

    def ring(self, state: State) -> Iterator[Outcome]:
        """What may come of the next instant at which clocks ring, with its probability."""
        self._world.between = False
        return self._every_script(partial(self._ring, state))

    # -- the machine -------------------------------------------------------------------------------------------------

    def _begin(self) -> State:
        self._world.clocks = {}
        self._alike = {}
        if self._gap_is_clocked:
            self._set_arrival()
        return super()._begin()

    def _settle(self) -> State:
        """Behind an exponential event: an iteration that costs nothing is over at the instant at which it begins."""
        self._alike.clear()
        self._machine.settle()
        return self._strike_all()

    def _ring(self, state: State) -> State:
        decoded = self._enter(state)
        self._alike = self._likeness(decoded, state)
        self._machine.new_instant()
        clocks = self._world.clocks
        passed = min(clock.left for clock in clocks.values())
        for key, clock in clocks.items():
            clocks[key] = clock._replace(left=clock.left - passed)
        self._try_all()
        return self._strike_all()

    def _enter(self, state: State) -> Decoded:
        """Set up the machine in a state."""
        decoded = self.codec.decode(state)
        self._machine.configuration, self._world.phases = decoded.configuration, decoded.phases
        return decoded

    def _likeness(self, decoded: Decoded, state: State) -> dict[int, Record]:
        """By number of a session at a stage, what it has in common with those that are like it."""
        return {
            job.session.serial: self.codec.counted_alike(code)
            for job, code in zip(decoded.jobs, state, strict=True)
            if job is not None and job.session is not None
        }

    def _strike_all(self) -> State:
        """Ring the clocks without any time left, those that are set for this very instant among them.

        The state has settled after each, and is not to settle again: what joins a queue while an iteration is put
        together waits for the next clock.
        """
        clocks = self._world.clocks
        due = {key for key, clock in clocks.items() if clock.left == 0}
        for _ in range(_MOST_AT_ONE_INSTANT):
            key = next((key for key, clock in clocks.items() if clock.left == 0), None)
            if key is None:
                return self.codec.encode(self._machine.configuration, self._world.phases)
            if key not in due:
                self._alike.clear()  # its sessions have moved since the instant began
            due.discard(key)
            del clocks[key]
            self._strike(key)
            self._machine.settle()
        raise LimitError(f"{_MOST_AT_ONE_INSTANT} clocks ring at one instant: no time passes in some iteration")

    def _strike(self, key: Key) -> None:
        if key == "arrival":
            self._set_arrival()
            self._machine.arrive()
        elif isinstance(key, int):
            stages = self._machine.configuration.stages
            self._machine.complete(next(s.serving[key] for s in stages if key in s.serving))
        else:
            self._end_iteration(key[1])

    def _set_arrival(self) -> None:
        assert isinstance(self.program.arrivals, p.Renewal)
        gap = self._world.gap(self.program.arrivals.gap)
        if isinstance(gap, Amount):
            code = self.laws.code(gap)
            self._world.set_clock("arrival", self.laws.trials[code].period, code)
        else:
            self._world.set_clock("arrival", rational(gap), -1)

    # -- trials ------------------------------------------------------------------------------------------------------

    def _try_all(self) -> None:
        """The geometric clocks of this instant: each is done, or is set again and keeps its place among the clocks."""
        clocks = self._world.clocks
        for group in self._groups(list(clocks), self._clocked_alike):
            trial = self.laws.trials.get(clocks[group[0]].law)
            if clocks[group[0]].left or trial is None or trial.chance == 1:
                continue
            done = self._how_many(len(group), trial.chance)
            for key in group[done:]:
                clocks[key] = clocks[key]._replace(left=trial.period)

    def _clocked_alike(self, key: Key) -> object:
        """What clocks have in common of which it makes no difference which goes on."""
        if not isinstance(key, int):
            return key
        job = next(s.serving[key] for s in self._machine.configuration.stages if key in s.serving)
        assert job.session is not None
        return self._alike[job.session.serial]

    def _end_iteration(self, stage: int) -> None:
        """Geometric numbers of tokens have their trials, one for each token that counts now."""
        state = self._machine.configuration.stages[stage]
        lasting = [job for job, _ in state.batch or () if isinstance(job.work, Lasting)]
        if not all(tokens == 1 for job, tokens in state.batch or () if isinstance(job.work, Lasting)):
            raise RealNumberError("an iteration takes part of a token of a number that is geometric")
        going_on: dict[int, Lasting] = {}
        for group in self._groups(lasting, partial(self._resident_alike, state)):
            law = group[0].work
            done = self._how_many(len(group), law.chance)
            for i, job in enumerate(group):
                job.work = 1 if i < done else 2
            going_on |= {job.number: law for job in group[done:]}
        self._machine.end_iteration(stage)
        for job in state.residents:
            if job.number in going_on:
                job.work = going_on[job.number]

    def _resident_alike(self, state: StageState, job: Job) -> object:
        """What jobs have in common of which it makes no difference who goes on: they stand together in both orders."""
        assert job.session is not None
        alike = self._alike.get(job.session.serial)
        if alike is None:
            return job.number
        batch = [other for other, _ in state.batch or ()]
        return alike, state.residents.index(job) - batch.index(job)

    def _groups(self, items: Sequence[Item], alike: Callable[[Item], object]) -> list[list[Item]]:
        """Neighbours that are alike; everybody alone where sessions are told apart."""
        groups: list[list[Item]] = []
        before: object = None
        for item in items:
            mark = alike(item)
            if self._symmetry and groups and mark == before:
                groups[-1].append(item)
            else:
                groups.append([item])
            before = mark
        return groups

    def _how_many(self, n: int, chance: Fraction) -> int:
        """How many of n trials succeed."""
        law = [(k, comb(n, k) * chance**k * (1 - chance) ** (n - k)) for k in range(n + 1)]
        return int(self._world.script.choose(tuple((k, rational(q)) for k, q in law if q)))
