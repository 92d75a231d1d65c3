"""States of programs with clocks: what is left of every clock, the orders of setting, and what step stages ask.

Beyond what every chain keeps (`serq.semantics.canonical`) a record has, for a job that a clock counts down, (stage,
law, time left, rank of service, rank of the clock); for a resident of a step stage, (stage, tokens left, prefill or
decode, kind of order, rank in it, tokens of the running iteration, rank in it, what grows along). In `more` are the
rank of the latest admission where a step stage may still ask for it, and the computed positions of the session's holds.
"""

from collections.abc import Callable
from typing import Any

from serq.ir import program as p
from serq.semantics.canonical import Codec, serial_of
from serq.semantics.configuration import Configuration, Job, Session
from serq.semantics.control import Control
from serq.semantics.decoding import Decoder, Plan
from serq.semantics.graph import Node, backward, members
from serq.semantics.records import CLOCK, WAITING, Phases, Quotients, Record
from serq.semantics.timed_laws import TimedLaws
from serq.semantics.timed_world import Clock, Key, TimedWorld

ARRIVAL = -1
"""What stands for the stage in the record of the clock of the next arrival."""

IDLE = -1
"""The rank in an iteration of a resident that is not in it."""


class TimedCodec(Codec):
    """Encodes the machine's configuration together with the clocks of the world, and sets them when it decodes."""

    _laws: TimedLaws

    def __init__(
        self,
        control: Control,
        laws: TimedLaws,
        quotients: Quotients,
        fresh: Callable[[], Configuration],
        world: TimedWorld,
    ) -> None:
        super().__init__(control, laws, quotients, fresh)
        self._world = world
        self._steps = frozenset(s for s, x in enumerate(control.program.stages) if isinstance(x.kind, p.Step))
        self._asked = _asked(control, self._steps)
        self._positions = any(isinstance(x, p.Run) and x.growing is not None for x in control.program.code)
        self._admissions: dict[int, int] = {}
        self._ranks: dict[object, int] = {}

    # -- encoding ----------------------------------------------------------------------------------------------------

    def _at_stages(self, configuration: Configuration, phases: Phases) -> dict[int, tuple[Any, ...]]:
        self._admissions = self._latest_admissions(configuration)
        self._ranks = {key: rank for rank, key in enumerate(self._world.clocks)}
        out = super()._at_stages(configuration, phases)
        for stage, state in enumerate(configuration.stages):
            given = {job.number: (rank, tokens) for rank, (job, tokens) in enumerate(state.batch or ())}
            strangers = (job for job in state.residents if job.order[0])
            joined = {job.number: rank for rank, job in enumerate(strangers)}
            for job in state.residents:
                out[serial_of(job)] = self._resident(stage, job, given.get(job.number, (IDLE, 0)), joined)
        return out

    def _in_service(self, job: Job, phases: Phases, order: int) -> tuple[Any, ...]:
        clock = self._world.clocks.get(job.number)
        if clock is None:
            return super()._in_service(job, phases, order)
        return clock.law, clock.left, order, self._ranks[job.number]

    def _resident(self, stage: int, job: Job, given: tuple[int, Any], joined: dict[int, int]) -> tuple[Any, ...]:
        assert job.session is not None
        order = joined[job.number] if job.order[0] else self._admissions[job.session.serial]
        grows: tuple[int, ...] = ()
        if job.growing is not None:
            scope = job.growing.scope
            grows = job.session.scopes.index(scope), scope.allocations.index(job.growing)
        return (stage, job.work, job.phase, job.order[0], order, given[1], given[0], grows)

    def _latest_admissions(self, configuration: Configuration) -> dict[int, int]:
        """By serial, ranks of the latest admissions that a step stage has asked or may ask for."""
        numbers = {}
        for session in configuration.sessions.values():
            job = session.job
            ordered = job is not None and job.stage in self._steps and not job.order[0]
            if session.admitted and (ordered or self._asked[session.pc]):
                numbers[session.admitted] = session.serial
        return {numbers[number]: rank + 1 for rank, number in enumerate(sorted(numbers))}

    def _more(self, session: Session, configuration: Configuration) -> tuple[Any, ...]:
        admission = self._admissions.get(session.serial, 0) if self._asked[session.pc] else 0
        positions: tuple[Any, ...] = ()
        if self._positions:
            positions = tuple(
                (i, j, a.position, a.consumed)
                for i, scope in enumerate(session.scopes)
                for j, a in enumerate(scope.allocations)
                if a.position is not None or a.consumed
            )
        return (admission, positions) if admission or positions else ()

    def _apart(self) -> list[Record]:
        out = []
        for rank, (key, clock) in enumerate(self._world.clocks.items()):
            if isinstance(key, int):
                continue
            stage = ARRIVAL if key == "arrival" else key[1]
            out.append(Record(CLOCK, (), (stage, clock.law, clock.left, rank), (), ()))
        return out

    # -- decoding ----------------------------------------------------------------------------------------------------

    def _decoder(self) -> Decoder:
        return _TimedDecoder(self._fresh(), self._first_serial, self._steps, self._world)

    def _work(self, record: Record) -> Any:
        return record.place[1] if record.place[0] in self._steps else super()._work(record)

    def counted_alike(self, code: int) -> Record:
        """The record without its ranks among clocks, in service, among residents and in the iteration.

        Of sessions with equal ones that stand one behind the other in these orders, it makes no difference to the
        state which of them goes on.
        """
        record = self.records[code]
        place = record.place
        if record.pc < 0 or not isinstance(self._program.code[record.pc], p.Run):
            return record
        if place[0] in self._steps:
            return record._replace(place=(*place[:4], 0, place[5], 0, place[7]))
        return record._replace(place=place[:3]) if len(place) == 5 else record


def _asked(control: Control, steps: frozenset[int]) -> dict[int, bool]:
    """Per instruction at which time may pass, whether a step stage may ask for the session's latest admission later on.

    A resident's order is its own; an admission to come replaces the latest one.
    """
    graph = control.graph

    def transfer(place: int, after: list[bool]) -> bool:
        match graph.nodes[place].step:
            case p.Hold():
                return False
            case p.Run(stage=ref) if not steps.isdisjoint(members(ref)):
                return True
        return any(after)

    before = backward(graph, False, transfer)
    rests: list[tuple[int, Node]] = [(i, node) for i, node in enumerate(graph.nodes) if node.is_rest]
    return {
        node.pc: not isinstance(node.step, p.Hold) and any(before[t] for t in graph.edges(i))
        for i, node in rests
        if node.pc is not None
    }


class _TimedDecoder(Decoder):
    """Sets the clocks of the world, too."""

    def __init__(
        self, configuration: Configuration, first_serial: int, steps: frozenset[int], world: TimedWorld
    ) -> None:
        super().__init__(configuration, first_serial)
        self.steps = steps
        self.world = world
        self.clocks: list[tuple[int, Key, Clock]] = []  # rank, whose, what
        self.batches: dict[int, list[tuple[int, Job, Any]]] = {}  # by stage: rank, job, tokens

    def _apart(self, plan: Plan) -> None:
        if plan.record.pc != CLOCK:
            super()._apart(plan)
            return
        place: tuple[Any, ...] = plan.record.place
        stage, law, left, rank = place
        key: Key = "arrival" if stage == ARRIVAL else ("iteration", stage)
        self.clocks.append((rank, key, Clock(left, law)))
        if stage != ARRIVAL:
            self.batches.setdefault(stage, [])

    def _session(self, serial: int, plan: Plan) -> Session:
        session = super()._session(serial, plan)
        if plan.record.more:
            admission, positions = plan.record.more
            if admission:
                session.admitted = admission
            for i, j, position, consumed in positions:
                allocation = session.scopes[i].allocations[j]
                allocation.position, allocation.consumed = position, consumed
        return session

    def _job(self, session: Session, work: Any, place: tuple[Any, ...]) -> None:
        if place[0] in self.steps:
            self._join(session, place)
        elif len(place) == 5:
            stage, law, left, order, rank = place
            super()._job(session, work, (stage, law, 0, order))
            assert session.job is not None
            del self.phases[session.job.number]
            self.clocks.append((rank, session.job.number, Clock(left, law)))
        else:
            super()._job(session, work, place)

    def _join(self, session: Session, place: tuple[Any, ...]) -> None:
        """A resident of a step stage."""
        stage, work, phase, kind, order, tokens, rank, grows = place
        super()._job(session, work, (stage, 0, 0, WAITING))
        job = session.job
        assert job is not None
        self.serving.pop()
        del self.phases[job.number]
        job.phase, job.order = phase, (kind, order)
        if not kind:
            session.admitted = order
        if grows:
            job.growing = session.scopes[grows[0]].allocations[grows[1]]
        self.configuration.stages[stage].residents.append(job)
        if rank != IDLE:
            self.batches.setdefault(stage, []).append((rank, job, tokens))

    def _arrange(self) -> None:
        super()._arrange()
        for stage in self.configuration.stages:
            stage.residents.sort(key=lambda job: job.order)
        for place, batch in self.batches.items():
            self.configuration.stages[place].batch = [(job, tokens) for _, job, tokens in sorted(batch, key=_rank)]
        self.world.clocks = {key: clock for _, key, clock in sorted(self.clocks, key=_place)}


def _rank(item: tuple[int, Job, Any]) -> int:
    return item[0]


def _place(item: tuple[int, Key, Clock]) -> int:
    return item[0]
