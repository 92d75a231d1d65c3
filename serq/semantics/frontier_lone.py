"""What one session does by itself, worked out by the machine with nobody else about.

The compiled explorer knows how sessions meet; whatever a session decides alone (its commands, its choices, what it asks
for and leaves behind) comes from here, and so from the reference interpreter.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p
from serq.semantics.configuration import Allocation, Claim, Configuration, Entry, Job, Scope, Session, Status
from serq.semantics.enumerated import EnumeratedWorld
from serq.semantics.events import Events, Impulse, real_number
from serq.semantics.limits import Limits
from serq.semantics.machine import Machine
from serq.semantics.records import DEAD, WAITING, Record
from serq.semantics.symbols import RealNumberError

Happened = TypeVar("Happened")


class Ready(NamedTuple):
    """A session that can go on: where, with what, holding what. `scopes`: per hold its instruction, then pool and units
    of each part; `entries`: pool and units.
    """

    pc: int
    values: tuple[tuple[str, Any], ...]
    cached: Any
    turn_no: int
    scopes: tuple[tuple[Any, ...], ...]
    entries: tuple[tuple[int, Any], ...]


Kind = Record | Ready
"""A session in a situation; a record has its ranks blanked out (0, and -1 where none is kept)."""


class Way(NamedTuple):
    """One way in which a session goes on. `next` None: it has ended; `spawned`: who takes its place.

    Per pool, `held` is the change of what it has allocated, `renewed` whether its entry there is a new one, `left` the
    entry that it leaves behind when it ends.
    """

    probability: Fraction | int
    earned: Impulse
    next: Kind | None
    spawned: Ready | None
    held: tuple[Any, ...]
    renewed: tuple[bool, ...]
    left: tuple[Record | None, ...]


class Admission(NamedTuple):
    """What an admission makes of a waiting session, what it earns, and what it allocates in each pool."""

    earned: Impulse
    next: Ready
    taken: tuple[Any, ...]


def why_not(program: p.Program) -> str | None:
    """Why sessions of a sliced program cannot be looked at one by one, in a few words; None where they can."""
    for pool in program.pools:
        if pool.preempt != "none" or pool.admit_via is not None or pool.spill is not None:
            return f"pool {pool.name} preempts, spills or admits with a stage"
    for step in program.code:
        if isinstance(step, p.Grow):
            return "a hold grows"
        if isinstance(step, p.Hold) and step.reuse is not None:
            return "a hold reuses part of a prefix"
    exprs = [x for step in (*program.code, *program.init, *program.turn) for x in flow.expressions(step)]
    exprs += [x for pool in program.pools for x in (*pool.evict, *pool.queue)]
    return next((why for x in exprs for node in e.walk(x) if (why := _reads(node)) is not None), None)


def _reads(node: e.Expr) -> str | None:
    match node:
        case e.StageState() | e.Price():
            return "a session looks at a stage"
        case e.PoolState(fact=fact) if fact != "cachedin":
            return "a session looks at a pool"
        case e.Builtin(name="serial"):
            return "a session looks at its serial number"
        case _:
            return None


class _World(EnumeratedWorld):
    """The world of a session alone: jobs that come to a stage do not enter service yet."""

    def start(self, stage: int, job: Job) -> None:
        self.phases[job.number] = WAITING


class Alone:
    """A machine for one session at a time."""

    def __init__(self, events: Events, sliced: p.Program) -> None:
        self.program = sliced
        self.codec = events.codec
        self.laws = events.laws
        self.impulses = events.impulses
        self.pools = range(len(sliced.pools))
        self._world = _World(sliced, events.laws)
        limits = Limits(commands=100_000, preemptions=1_000_000_000)
        self._machine = Machine(sliced, self._world, self.impulses, limits)

    # -- setting up --------------------------------------------------------------------------------------------------

    def _place(self, kind: Kind) -> Session:
        """Put the session, or the owner of a dead entry, into a configuration of its own."""
        if isinstance(kind, Record):
            decoded = self.codec.decode((self.codec.code(kind),))
            self._machine.configuration, _, self._world.phases = decoded
            sessions = list(decoded.configuration.sessions.values())
            if sessions:
                return sessions[0]
            return next(entry.owner for pool in decoded.configuration.pools for entry in pool.dead)
        self._world.phases = {}
        configuration = self._machine.configuration = self._machine.fresh()
        session = Session(0, 0)
        session.pc, session.cached, session.turn_no = kind.pc, kind.cached, kind.turn_no
        session.attributes = {name: self.codec.restored(value) for name, value in kind.values}
        configuration.sessions[0] = session
        configuration.next_serial = 1
        for pc, *parts in kind.scopes:
            self._open(configuration, session, pc, parts)
        for pool, units in kind.entries:
            state = configuration.pools[pool]
            state.entries[0] = Entry(session, units, 0, configuration.number())
            state.cached += units
        configuration.ready.append(session)
        return session

    @staticmethod
    def _open(configuration: Configuration, session: Session, pc: int, parts: list[Any]) -> None:
        scope = Scope(pc, configuration.number(), 0)
        for pool, units in zip(parts[::2], parts[1::2], strict=True):
            allocation = Allocation(session, scope, pool, units, 0)
            scope.allocations.append(allocation)
            configuration.pools[pool].allocations.append(allocation)
            configuration.pools[pool].used += units
        session.scopes.append(scope)

    def _ready(self, session: Session) -> Ready:
        """The kind of a session that can go on."""
        scopes = tuple(
            (scope.pc, *(x for allocation in scope.allocations for x in (allocation.pool, allocation.units)))
            for scope in session.scopes
        )
        entries = tuple((pool, entry.units) for pool in self.pools if (entry := self._entry(pool, session)) is not None)
        values = self.codec.remembered(session)
        return Ready(session.pc, values, session.cached, session.turn_no, scopes, entries)

    def _entry(self, pool: int, session: Session) -> Entry | None:
        return self._machine.configuration.pools[pool].entries.get(session.serial)

    # -- what it does ------------------------------------------------------------------------------------------------

    def run(self, kind: Kind) -> Iterator[Way]:
        """Completion of its work if it is served, and then its commands until it rests or ends."""
        for probability, way, earned in self._every_script(lambda: self._run(kind)):
            yield way._replace(probability=probability, earned=earned)

    def _run(self, kind: Kind) -> Way:
        session = self._place(kind)
        before = [self._entry(pool, session) for pool in self.pools]
        used = [pool.used for pool in self._machine.configuration.pools]
        if session.job is not None:
            del self._world.phases[session.job.number]
            self._machine.complete(session.job)
        self._machine.new_instant()
        self._machine.run_first()
        pools = self._machine.configuration.pools
        held = tuple(pool.used - u for pool, u in zip(pools, used, strict=True))
        after = [self._entry(pool, session) for pool in self.pools]
        renewed = tuple(b is not None and b is not a for a, b in zip(before, after, strict=True))
        if session.status is not Status.ENDED:
            return Way(1, (), self._at_rest(), None, held, renewed, (None,) * len(pools))
        ready = self._machine.configuration.ready
        spawned = self._ready(ready[0]) if ready else None
        left = tuple(self._left(pool, entry) for pool, entry in enumerate(after))
        return Way(1, (), None, spawned, held, renewed, left)

    def _left(self, pool: int, entry: Entry | None) -> Record | None:
        if entry is None:
            return None
        names = self.codec.owner_names
        kept = dict(self.codec.remembered(entry.owner))
        return Record(DEAD, tuple(kept.get(name) for name in names), (), (), ((pool, entry.units, 0),))

    def _at_rest(self) -> Record:
        """The kind of the one session there is."""
        (code,) = self.codec.encode(self._machine.configuration, self._world.phases)
        return self.codec.records[code]

    def arrive(self) -> Iterator[tuple[Fraction | int, Ready, Impulse]]:
        """The kinds that may arrive."""
        yield from self._every_script(self._arrive)

    def _arrive(self) -> Ready:
        self._machine.configuration = self._machine.fresh()
        session = self._machine.arrive()
        assert session is not None
        return self._ready(session)

    def lost(self) -> Impulse:
        """What a lost arrival earns."""
        self.impulses.take()
        self.impulses.lost()
        return self.impulses.take()

    def admit(self, kind: Kind) -> Admission:
        """Admit a session that waits in a queue."""
        session = self._place(kind)
        self.impulses.take()
        if not self._machine.admit_head(session.place):
            raise AssertionError("a hold that fits among others does not fit alone")
        taken = [0] * len(self.pools)
        for allocation in session.scopes[-1].allocations:
            taken[allocation.pool] += allocation.units
        return Admission(self.impulses.take(), self._ready(session), tuple(taken))

    def needs(self, kind: Record) -> dict[int, Any]:
        """What must fit in each pool that a waiting session asks for."""
        self._place(kind)
        ((claim, needs),) = self._machine.waiting()
        return dict(zip(claim.pools, needs, strict=True))

    def evict(self, kind: Kind, pool: int) -> tuple[Kind | None, Impulse]:
        """Take one block off its entry, or the whole of it; None when nothing is left of a dead entry."""
        units = dict((m, u) for m, u, *_ in kind.entries)[pool]
        block = self.program.pools[pool].block
        taken = units if block is None else min(units, p.whole(block))
        self.impulses.take()
        self.impulses.evicted(pool, Entry(Session(0, 0), units, 0, 0), taken, taken == units)
        entries: list[Any] = []
        for entry in kind.entries:
            if entry[0] != pool:
                entries.append(entry)
            elif taken < units:
                entries.append((pool, units - taken, *entry[2:]))
        left: Any = kind._replace(entries=tuple(entries))
        gone = isinstance(kind, Record) and kind.pc == DEAD and taken == units
        return None if gone else left, self.impulses.take()

    def eviction_keys(self, kind: Kind, pool: int) -> tuple[Any, ...]:
        """What decides when its entry in a pool is evicted."""
        session = self._place(kind)
        state = self._machine.configuration.pools[pool]
        entry = self._entry(pool, session) or next(dead for dead in state.dead)
        return self._machine.eviction_keys(pool, entry)

    def queue_keys(self, kind: Record) -> tuple[Any, ...]:
        """What decides when a waiting session is admitted."""
        self._place(kind)
        ((claim, _),) = self._machine.waiting()
        assert isinstance(claim, Claim)
        return self._machine.queue_keys(claim)

    def speed(self, stage: int, present: int) -> Fraction:
        """The speed of each job in service at a ps stage with so many."""
        return Fraction(self._world.capacity(stage, present)) / present

    def _every_script(self, event: Callable[[], Happened]) -> Iterator[tuple[Fraction | int, Happened, Impulse]]:
        script = self._world.script
        while True:
            script.begin()
            self.impulses.take()
            try:
                happened = event()
            except RealNumberError as reason:
                raise real_number(self.program, self._machine, reason) from None
            yield script.probability, happened, self.impulses.take()
            if not script.advance():
                return
