"""States back to configurations, in which the machine can go on."""

from typing import Any, NamedTuple

from serq.semantics.configuration import Allocation, Claim, Configuration, Entry, Grower, Job, Scope, Session, Status
from serq.semantics.records import DEAD, WAITING, Phases, Record


class Decoded(NamedTuple):
    """A configuration, the jobs of its sessions in the order of the state's records, and the phases of the jobs."""

    configuration: Configuration
    jobs: list[Job | None]
    phases: Phases


FIRST_NUMBER = 1_000_000
"""Where new running numbers begin in a decoded configuration: above every rank, and above every serial kept."""


class Plan(NamedTuple):
    """What a record becomes, worked out once. `work`: that of the job, None where there is none."""

    record: Record
    attributes: dict[str, Any]
    built_in: tuple[tuple[str, Any], ...]
    holds: tuple[int, ...]
    work: Any
    is_hold: bool


_RANKED = FIRST_NUMBER // 2
"""Above this are the numbers of holds whose order of admission is kept."""
_DEPTH = 64
"""Numbers left free for the holds within a hold."""


class Decoder:
    """Builds one configuration, record by record; `first_serial` numbers the sessions whose serials are not kept."""

    def __init__(self, configuration: Configuration, first_serial: int) -> None:
        self.configuration = configuration
        self.first_serial = first_serial
        self.phases: Phases = {}
        self.entries: list[tuple[int, int, Entry]] = []  # pool, rank, entry
        self.claims: list[tuple[int, int, Claim]] = []
        self.waiting: list[tuple[int, int, Job]] = []
        self.serving: list[tuple[int, int, Job]] = []
        self.growers: list[tuple[int, int, Grower]] = []
        self.allocations: list[Allocation] = []

    def decode(self, plans: list[Plan]) -> Decoded:
        """The configuration in which the sessions are as planned."""
        configuration = self.configuration
        jobs: list[Job | None] = []
        for place, plan in enumerate(plans):
            if plan.record.pc < 0:
                self._apart(plan)
                jobs.append(None)
            else:
                session = self._session(self.first_serial + place, plan)
                configuration.sessions[session.serial] = session
                jobs.append(session.job)
        configuration.next_serial = self.first_serial + len(plans)
        configuration.next_number = FIRST_NUMBER
        self._arrange()
        return Decoded(configuration, jobs, self.phases)

    def _session(self, serial: int, plan: Plan) -> Session:
        record = plan.record
        session = Session(serial, 0)
        session.pc = record.pc
        _remember(session, plan)
        for packed, hold in zip(record.scopes, plan.holds, strict=True):
            self._scope(session, packed, hold)
        if plan.work is not None:
            self._job(session, plan.work, record.place)
        elif plan.is_hold:
            pool, rank, *pools = record.place
            session.status, session.place = Status.QUEUED, pool
            self.claims.append((pool, rank, Claim(session, tuple(pools), 0, rank)))
        else:
            pool, rank, scope_place, part, units = record.place
            session.status, session.place = Status.GROWING, pool
            allocation = session.scopes[scope_place].allocations[part]
            self.growers.append((pool, rank, Grower(session, allocation, units, rank)))
        for pool, units, rank in record.entries:
            self.entries.append((pool, rank, Entry(session, units, 0, rank)))
        return session

    def _scope(self, session: Session, packed: tuple[Any, ...], hold: int) -> None:
        scope = Scope(hold, self._admission(session, packed[0]), 0)
        for i in range(1, len(packed), 2):
            allocation = Allocation(session, scope, packed[i], packed[i + 1], 0)
            scope.allocations.append(allocation)
            self.allocations.append(allocation)
        session.scopes.append(scope)

    def _admission(self, session: Session, rank: int) -> int:
        """A number of admission: in the order of the ranks, and where none is kept after the hold around it."""
        if rank:
            return _RANKED + rank * _DEPTH
        return session.scopes[-1].number + 1 if session.scopes else (len(self.allocations) + 1) * _DEPTH

    def _apart(self, plan: Plan) -> None:
        """What is no session's: a dead entry."""
        assert plan.record.pc == DEAD
        self._dead(plan)

    def _job(self, session: Session, work: Any, place: tuple[Any, ...]) -> None:
        stage, _, phase, rank = place
        job = Job(session.serial + 1, stage, work, session)
        session.status, session.place, session.job = Status.AT_STAGE, stage, job
        if phase == WAITING:
            self.waiting.append((stage, rank, job))
        else:
            self.serving.append((stage, rank, job))
            self.phases[job.number] = phase

    def _dead(self, plan: Plan) -> None:
        ((pool, units, rank),) = plan.record.entries
        owner = Session(-1 - len(self.entries), 0)
        owner.status = Status.ENDED
        _remember(owner, plan)
        self.entries.append((pool, rank, Entry(owner, units, 0, rank, dead=True)))

    def _arrange(self) -> None:
        """Put everything into its order."""
        pools, stages = self.configuration.pools, self.configuration.stages
        for pool, _, entry in sorted(self.entries, key=_order):
            state = pools[pool]
            state.cached += entry.units
            if entry.dead:
                state.dead.append(entry)
            else:
                state.entries[entry.owner.serial] = entry
        for allocation in sorted(self.allocations, key=_admission):
            holds = pools[allocation.pool]
            holds.used += allocation.units
            holds.allocations.append(allocation)
        for pool, _, claim in sorted(self.claims, key=_order):
            pools[pool].queue.append(claim)
        for pool, _, grower in sorted(self.growers, key=_order):
            pools[pool].growers.append(grower)
        for stage, _, job in sorted(self.waiting, key=_order):
            stages[stage].waiting.append(job)
        for stage, _, job in sorted(self.serving, key=_order):
            stages[stage].serving[job.number] = job


def _remember(session: Session, plan: Plan) -> None:
    if plan.attributes:
        session.attributes = plan.attributes.copy()
    for name, value in plan.built_in:
        setattr(session, name, value)


def _order(item: tuple[int, int, Any]) -> tuple[int, int]:
    return item[0], item[1]


def _admission(allocation: Allocation) -> int:
    return allocation.scope.number
