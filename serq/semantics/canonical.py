"""Configurations to canonical states and back.

Equal up to a renaming of sessions means: the same records, counted. The records are numbered as they are met, and a
state is the sorted tuple of their numbers. Sorting is the whole canonical form, since no record names a session:
Kemeny and Snell, Finite Markov Chains, section 6.3 (lumpability); `docs/explanation/markov-chain.md` has the argument.
"""

from collections.abc import Callable
from math import isnan, nan
from typing import Any

from serq.ir import flow
from serq.ir import program as p
from serq.semantics.configuration import Configuration, Job, Session, Status
from serq.semantics.control import Control
from serq.semantics.decoding import FIRST_NUMBER, Decoded, Decoder, Plan
from serq.semantics.phases import WorkLaws
from serq.semantics.pinned import dropped_ranks
from serq.semantics.records import CLOCK, DEAD, WAITING, Phases, Quotients, Record, State
from serq.semantics.symbols import Amount


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
        self._first_serial = FIRST_NUMBER if any("serial" in names for names in self.names.values()) else 0

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
            more = self._more(session, configuration)
            record = Record(session.pc, values, places[serial], scopes, tuple(entries.get(serial, ())), more)
            live.append(self.code(record))
        dead += self._apart()
        if self._quotients.symmetry:
            return tuple(sorted([*live, *(self.code(record) for record in dead)]))
        return (*live, *sorted(self.code(record) for record in dead))

    def _more(self, session: Session, configuration: Configuration) -> tuple[Any, ...]:
        """What a record keeps beyond what every chain needs."""
        return ()

    def _apart(self) -> list[Record]:
        """Records of what is no session's, dead entries aside."""
        return []

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

    def remembered(self, session: Session) -> tuple[tuple[str, Any], ...]:
        """All attributes of a session, by name, as a record keeps them."""
        return tuple((name, self._value(session, name)) for name in sorted(session.attributes))

    def restored(self, value: Any) -> Any:
        """The value that a record keeps in this form."""
        return self._number(value)

    def forgets_rank(self, pc: int, pool: int) -> bool:
        """Whether the release rank of an entry in the pool is dropped while its owner waits at the hold."""
        return pool in self._dropped.get(pc, ())

    def _amount_code(self, amount: Amount) -> int:
        code = self._amount_codes.setdefault(amount.key, len(self.amounts))
        if code == len(self.amounts):
            self.amounts.append(amount)
        return code

    def _places(self, configuration: Configuration, phases: Phases) -> dict[int, tuple[Any, ...]]:
        """Per session what it is doing, with its rank in whatever order it stands in."""
        out = self._at_stages(configuration, phases)
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

    def _at_stages(self, configuration: Configuration, phases: Phases) -> dict[int, tuple[Any, ...]]:
        """The places of the sessions at stages."""
        out: dict[int, tuple[Any, ...]] = {}
        code = self._laws.code
        for stage, state in enumerate(configuration.stages):
            for rank, job in enumerate(state.waiting):
                out[serial_of(job)] = (stage, code(job.work), WAITING, rank)
            for rank, job in enumerate(state.serving.values()):
                order = WAITING if self._quotients.service_order else rank
                out[serial_of(job)] = (stage, *self._in_service(job, phases, order))
        return out

    def _in_service(self, job: Job, phases: Phases, order: int) -> tuple[Any, ...]:
        """How far the service of a job is."""
        return self._laws.code(job.work), phases[job.number], order

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

    def decode(self, state: State) -> Decoded:
        """A configuration in that state."""
        return self._decoder().decode([self._plans[code] for code in state])

    def _decoder(self) -> Decoder:
        return Decoder(self._fresh(), self._first_serial)

    def _plan(self, record: Record) -> Plan:
        if record.pc == CLOCK:
            return Plan(record, {}, (), (), None, False)
        names = self._keys if record.pc == DEAD else self.names[record.pc]
        values = dict(zip(names, map(self._number, record.values), strict=True))
        built_in = tuple((name, value) for name, value in values.items() if name in _BUILT_IN)
        attributes = {n: v for n, v in values.items() if n not in _BUILT_IN and v is not None}
        holds = () if record.pc == DEAD else self._holds[record.pc]
        is_run = record.pc != DEAD and isinstance(self._program.code[record.pc], p.Run)
        is_hold = record.pc != DEAD and isinstance(self._program.code[record.pc], p.Hold)
        work = self._work(record) if is_run else None
        return Plan(record, attributes, built_in, holds, work, is_hold)

    def _work(self, record: Record) -> Any:
        """The work of the job of a session at a stage."""
        return self._laws.laws[record.place[1]].amount

    def _number(self, value: Any) -> Any:
        return self.amounts[value[1]] if isinstance(value, tuple) else value

    @property
    def owner_names(self) -> tuple[str, ...]:
        """The attributes that a dead entry keeps of its owner: what eviction keys read."""
        return self._keys


_BUILT_IN = ("cached", "serial", "turn_no")


def serial_of(job: Job) -> int:
    """The number of the session whose job it is."""
    assert job.session is not None, "a transfer between tiers is no part of a chain"
    return job.session.serial
