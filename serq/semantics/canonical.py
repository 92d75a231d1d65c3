"""Configurations to canonical states and back.

Equal up to a renaming of sessions means: the same records, counted. The records are numbered as they are met, and a
state is the sorted tuple of their numbers. Sorting is the whole canonical form, since no record names a session:
Kemeny and Snell, Finite Markov Chains, section 6.3 (lumpability); `docs/explanation/markov-chain.md` has the argument.
"""

from collections.abc import Callable
from math import isnan, nan
from typing import Any, NamedTuple

from serq.ir import flow
from serq.ir import program as p
from serq.semantics.configuration import Allocation, Claim, Configuration, Entry, Grower, Job, Scope, Session, Status
from serq.semantics.control import Control
from serq.semantics.phases import WorkLaws
from serq.semantics.pinned import dropped_ranks
from serq.semantics.records import DEAD, Quotients, Record, State
from serq.semantics.symbols import Amount

WAITING = -1
"""The phase of a job that is not in service; also the rank where no order is kept."""

Phases = dict[int, int]
"""The phase of every job in service, by job number."""


class Decoded(NamedTuple):
    """A configuration, the jobs of its sessions in the order of the state's records, and the phases of the jobs."""

    configuration: Configuration
    jobs: list[Job | None]
    phases: Phases


_FIRST_NUMBER = 1_000_000
"""Where new running numbers begin in a decoded configuration: above every rank, and above every serial kept."""


class Codec:
    """Encodes and decodes the states of one program; `records` lists the records met, by number.

    `amounts` are the undrawn amounts that attributes hold, by the number under which a record keeps them.
    """

    def __init__(
        self, control: Control, laws: WorkLaws, quotients: Quotients, fresh: Callable[[], Configuration]
    ) -> None:
        program = control.program
        self.records: list[Record] = []
        self.amounts: list[Amount] = []
        self.names = {pc: self._names(control, quotients, pc) for pc in control.kept}
        self._codes: dict[Record, int] = {}
        self._plans: list[Plan] = []
        self._amount_codes: dict[object, int] = {}
        self._program = program
        self._laws = laws
        self._quotients = quotients
        self._fresh = fresh
        self._keys = tuple(sorted(control.always))
        self._preempts = [pool.preempt != "none" for pool in program.pools]
        self._keyed = [bool(pool.queue) for pool in program.pools]
        self._dropped = dropped_ranks(program) if quotients.pinned_ranks else {}
        self._holds = flow.enclosing_holds(program)
        # where serials steer something they are kept, and sessions that have done with theirs get others
        self._first_serial = _FIRST_NUMBER if any("serial" in names for names in self.names.values()) else 0

    @staticmethod
    def _names(control: Control, quotients: Quotients, pc: int) -> tuple[str, ...]:
        kept = control.kept[pc]
        if not quotients.dead_values:
            kept = kept | set(control.program.attributes)
        # no hold of a continuous-time program ever has a computed position
        return tuple(sorted(kept - {"computed"}))

    # -- encoding ----------------------------------------------------------------------------------------------------

    def encode(self, configuration: Configuration, phases: Phases) -> State:
        """The canonical state of a configuration at rest."""
        places = self._places(configuration, phases)
        numbers = self._admission_ranks(configuration)
        entries, dead = self._entries(configuration)
        live = []
        names = self.names
        for serial, session in configuration.sessions.items():
            scopes = self._scopes(session, numbers) if session.scopes else ()
            values = self._values(session) if names[session.pc] else ()
            record = Record(session.pc, values, places[serial], scopes, tuple(entries.get(serial, ())))
            live.append(self.code(record))
        if self._quotients.symmetry:
            return tuple(sorted([*live, *(self.code(record) for record in dead)]))
        return (*live, *sorted(self.code(record) for record in dead))

    def ordered(self, codes: list[int]) -> State:
        """The state of these records, given in the order of a state of which one record has changed."""
        return tuple(sorted(codes)) if self._quotients.symmetry else tuple(codes)

    def code(self, record: Record) -> int:
        """The number of a record."""
        code = self._codes.get(record)
        if code is None:
            code = self._codes[record] = len(self.records)
            self.records.append(record)
            self._plans.append(self._plan(record))
        return code

    def _values(self, session: Session) -> tuple[Any, ...]:
        return tuple([self._value(session, name) for name in self.names[session.pc]])

    @staticmethod
    def _scopes(session: Session, numbers: dict[int, int]) -> tuple[tuple[Any, ...], ...]:
        out = []
        for scope in session.scopes:
            packed: list[Any] = [numbers.get(scope.number, 0)]
            for allocation in scope.allocations:
                packed += (allocation.pool, allocation.units)
            out.append(tuple(packed))
        return tuple(out)

    def _value(self, session: Session, name: str) -> Any:
        if name in _BUILT_IN:
            return getattr(session, name)
        value = session.attributes.get(name)
        if isinstance(value, float) and isnan(value):
            return nan  # one and the same, so that equal records are equal
        return ("~", self._amount_code(value)) if isinstance(value, Amount) else value

    def _amount_code(self, amount: Amount) -> int:
        code = self._amount_codes.setdefault(amount.key, len(self.amounts))
        if code == len(self.amounts):
            self.amounts.append(amount)
        return code

    def _places(self, configuration: Configuration, phases: Phases) -> dict[int, tuple[Any, ...]]:
        """Per session what it is doing, with its rank in whatever order it stands in."""
        out: dict[int, tuple[Any, ...]] = {}
        code = self._laws.code
        for stage, state in enumerate(configuration.stages):
            for rank, job in enumerate(state.waiting):
                out[_serial(job)] = (stage, code(job.work), WAITING, rank)
            for rank, job in enumerate(state.serving.values()):
                order = WAITING if self._quotients.service_order else rank
                out[_serial(job)] = (stage, code(job.work), phases[job.number], order)
        for pool, holds in enumerate(configuration.pools):
            # where keys decide, the preempted stand before them: their ranks are negative
            ahead = sum(claim.number < 0 for claim in holds.queue) if self._keyed[pool] else 0
            for rank, claim in enumerate(holds.queue):
                out[claim.session.serial] = (pool, rank - ahead, *claim.pools)
            for rank, grower in enumerate(holds.growers):
                scope = grower.allocation.scope
                where = grower.session.scopes.index(scope), scope.allocations.index(grower.allocation)
                out[grower.session.serial] = (pool, rank, *where, grower.units)
        return out

    def _admission_ranks(self, configuration: Configuration) -> dict[int, int]:
        """Ranks of admission among the holds that a preemption may choose from."""
        if not any(self._preempts):
            return {}
        numbers = {
            allocation.scope.number
            for pool, preempts in zip(configuration.pools, self._preempts, strict=True)
            if preempts
            for allocation in pool.allocations
        }
        return {number: rank + 1 for rank, number in enumerate(sorted(numbers))}

    def _entries(self, configuration: Configuration) -> tuple[dict[int, list[tuple[int, Any, int]]], list[Record]]:
        """The cache entries of live sessions by serial, and records of the dead ones, with ranks of release."""
        mine: dict[int, list[tuple[int, Any, int]]] = {}
        dead: list[Record] = []
        for pool, state in enumerate(configuration.pools):
            if not (state.entries or state.dead):
                continue
            entries = [*state.entries.values(), *state.dead]
            if state.dead:
                entries.sort(key=lambda entry: entry.number)
            rank = 0
            for entry in entries:
                owner = entry.owner
                if entry.dead or owner.status is Status.ENDED:
                    values = tuple(self._value(owner, name) for name in self._keys)
                    dead.append(Record(DEAD, values, (), (), ((pool, entry.units, rank),)))
                elif owner.status is Status.QUEUED and pool in self._dropped.get(owner.pc, ()):
                    mine.setdefault(owner.serial, []).append((pool, entry.units, WAITING))
                    continue
                else:
                    mine.setdefault(owner.serial, []).append((pool, entry.units, rank))
                rank += 1
        return mine, dead

    # -- decoding ----------------------------------------------------------------------------------------------------

    def decode(self, state: State) -> "Decoded":
        """A configuration in that state."""
        return _Decoder(self._fresh(), self._first_serial).decode([self._plans[code] for code in state])

    def _plan(self, record: Record) -> "Plan":
        names = self._keys if record.pc == DEAD else self.names[record.pc]
        values = dict(zip(names, map(self._number, record.values), strict=True))
        built_in = tuple((name, value) for name, value in values.items() if name in _BUILT_IN)
        attributes = {n: v for n, v in values.items() if n not in _BUILT_IN and v is not None}
        holds = () if record.pc == DEAD else self._holds[record.pc]
        is_run = record.pc != DEAD and isinstance(self._program.code[record.pc], p.Run)
        is_hold = record.pc != DEAD and isinstance(self._program.code[record.pc], p.Hold)
        work = self._laws.laws[record.place[1]].amount if is_run else None
        return Plan(record, attributes, built_in, holds, work, is_hold)

    def _number(self, value: Any) -> Any:
        return self.amounts[value[1]] if isinstance(value, tuple) else value

    @property
    def owner_names(self) -> tuple[str, ...]:
        """The attributes that a dead entry keeps of its owner: what eviction keys read."""
        return self._keys


_BUILT_IN = ("cached", "serial", "turn_no")


def _serial(job: Job) -> int:
    assert job.session is not None, "a transfer between tiers is no part of a chain"
    return job.session.serial


class Plan(NamedTuple):
    """What a record becomes, worked out once. `work`: that of the job, None where there is none."""

    record: Record
    attributes: dict[str, Any]
    built_in: tuple[tuple[str, Any], ...]
    holds: tuple[int, ...]
    work: Amount | None
    is_hold: bool


_RANKED = _FIRST_NUMBER // 2
"""Above this are the numbers of holds whose order of admission is kept."""
_DEPTH = 64
"""Numbers left free for the holds within a hold."""


class _Decoder:
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
        configuration = self.configuration
        jobs: list[Job | None] = []
        for place, plan in enumerate(plans):
            if plan.record.pc == DEAD:
                self._dead(plan)
                jobs.append(None)
            else:
                session = self._session(self.first_serial + place, plan)
                configuration.sessions[session.serial] = session
                jobs.append(session.job)
        configuration.next_serial = self.first_serial + len(plans)
        configuration.next_number = _FIRST_NUMBER
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

    def _job(self, session: Session, work: Amount, place: tuple[Any, ...]) -> None:
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
