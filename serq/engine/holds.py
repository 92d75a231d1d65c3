"""What can be said of a program's pools and holds before it runs."""

from dataclasses import dataclass
from functools import cached_property

from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p

_FIXED = (e.Num, e.Const, e.Attr, e.Unary, e.Binary, e.Cond, e.Call)


@dataclass(frozen=True, slots=True)
class Statement:
    """A hold statement: its number, its place, the statement around it (-1: none), the number of its first part."""

    number: int
    pc: int
    hold: p.Hold
    release: p.Release
    outer: int
    first: int


@dataclass(frozen=True, slots=True)
class Group:
    """A pool, or an array of pools, which are declared together: `base` is the place of the first."""

    base: int
    size: int
    pool: p.Pool

    @property
    def cap(self) -> float:
        """The units of each member."""
        return self.pool.cap.value

    @property
    def block(self) -> float:
        """The units of a block; 0 where there are no blocks."""
        return 0.0 if self.pool.block is None else self.pool.block.value

    @property
    def members(self) -> range:
        """The places of its members."""
        return range(self.base, self.base + self.size)


class Holds:
    """The pools of a program in groups, and its hold statements.

    `replays`: what becomes of every request is written down, and in a journal what every iteration of a step stage did
    where `tells` says so; `rejects`: what can never fit does not wait for ever.
    """

    def __init__(self, program: p.Program, replays: bool = False, rejects: bool = True, tells: bool = False) -> None:
        self.program = program
        self.replays = replays
        self.rejects = rejects
        self.tells = tells
        self.groups = _groups(program)
        self.statements = _statements(program)
        self.parts = sum(len(s.hold.parts) for s in self.statements)
        self.by_pc = {s.pc: s for s in self.statements}

    def group(self, pool: e.Ref | int) -> Group:
        """The group of a pool."""
        place = pool.base if isinstance(pool, e.Ref) else pool
        return next(group for group in self.groups if place in group.members)

    def waiting_at(self, group: Group) -> list[Statement]:
        """The statements that queue at a pool of the group."""
        return [s for s in self.statements if s.hold.parts[0].pool.base in group.members]

    def caches(self, group: Group) -> bool:
        """Whether something can be cached in a pool of the group."""
        return group.base in self.caching

    @cached_property
    def caching(self) -> frozenset[int]:
        """The groups, by base, in which something can be cached."""
        kept = [part.pool.base for s in self.statements if s.release.cache is not None for part in s.hold.parts]
        tiers = [pool.spill.tier for pool in self.program.pools if pool.spill is not None]
        return frozenset(self.group(place).base for place in (*kept, *tiers))

    def dying(self, group: Group) -> bool:
        """Whether what is left of an entry can be dead in a pool of the group."""
        reusing = (s for s in self.statements if s.hold.reuse is not None)
        return any(part.pool.base in group.members for s in reusing for part in s.hold.parts)

    @cached_property
    def engine_pools(self) -> frozenset[int]:
        """The pools that a request of a step stage asks for, as `serq.semantics.request_log` has them."""
        memories = {stage.kind.memory for stage in self.program.stages if isinstance(stage.kind, p.Step)}
        served = {place for place, pool in enumerate(self.program.pools) if pool.admit_via is not None}
        found = served | {memory for memory in memories if memory is not None}
        return frozenset(found or range(len(self.program.pools)))

    @cached_property
    def lengths(self) -> frozenset[str]:
        """The attributes that are taken for the lengths of a request where no trace says them."""
        found = {"new", "out"} if self.replays and self.program.trace is None else set()
        return frozenset(found & set(self.program.attributes))

    @cached_property
    def stage_of(self) -> dict[int, int]:
        """The step stage whose memory a pool is, or that serves its queue, as `serq.semantics.step_log` has it."""
        out = {place: pool.admit_via for place, pool in enumerate(self.program.pools) if pool.admit_via is not None}
        for place, stage in enumerate(self.program.stages):
            if isinstance(stage.kind, p.Step) and stage.kind.memory is not None:
                out.setdefault(stage.kind.memory, place)
        return out

    def is_request(self, statement: Statement) -> bool:
        """Whether a replay writes down what becomes of the hold."""
        members = (m for part in statement.hold.parts for m in self.group(part.pool).members)
        return self.replays and not self.engine_pools.isdisjoint(members)

    @cached_property
    def grown(self) -> frozenset[int]:
        """The statements, by number, of whose pools one may grow along with a run."""
        around, found = flow.enclosing_holds(self.program), set()
        for pc, run in enumerate(self.program.code):
            if isinstance(run, p.Run) and run.growing is not None:
                statements = (self.by_pc[hold] for hold in around[pc])
                base = run.growing.base
                found |= {s.number for s in statements if any(part.pool.base == base for part in s.hold.parts)}
        return frozenset(found)

    @cached_property
    def spills(self) -> bool:
        """Whether something evicted goes on to a tier."""
        return any(pool.spill is not None for pool in self.program.pools)

    @cached_property
    def memory(self) -> frozenset[int]:
        """The places of pools that are the memory of a step stage: only its residents are preempted there."""
        kinds = (stage.kind for stage in self.program.stages)
        return frozenset(kind.memory for kind in kinds if isinstance(kind, p.Step) and kind.memory is not None)

    @cached_property
    def growing(self) -> tuple[Group, ...]:
        """The groups in which something can grow."""
        refs = [
            x.pool if isinstance(x, p.Grow) else x.growing for x in self.program.code if isinstance(x, p.Grow | p.Run)
        ]
        bases = {self.group(ref).base for ref in refs if ref is not None}
        return tuple(group for group in self.groups if group.base in bases)

    def grows(self, group: Group) -> bool:
        """Whether a statement grows holds in a pool of the group: such a growth can wait."""
        return any(isinstance(x, p.Grow) and x.pool.base in group.members for x in self.program.code)

    def is_memory(self, group: Group) -> bool:
        """Whether the members of the group are the memory of step stages."""
        return group.base in self.memory

    def lists_holders(self, group: Group) -> bool:
        """Whether it must be known in which order the holders of a pool of the group were admitted."""
        return group.pool.preempt != "none" and group in self.growing and not self.is_memory(group)

    @cached_property
    def ghosts(self) -> bool:
        """Whether an owner may be asked for something after it has ended."""
        keys = [key for group in self.groups for key in group.pool.evict]
        return self.spills or (self.tells and bool(self.caching)) or any(_asks(key) for key in keys)

    @cached_property
    def steady(self) -> bool:
        """Whether a hold that waits can fit only after something has changed in the pools.

        Not so where what it asks for, or who is asked next, depends on more than attributes of the session.
        """
        asked = [x for s in self.statements for x in _asked(s.hold)]
        keys = [key for group in self.groups for key in group.pool.queue]
        return all(_is_fixed(x) for x in (*asked, *keys))


def _groups(program: p.Program) -> tuple[Group, ...]:
    groups: list[Group] = []
    for place, pool in enumerate(program.pools):
        _name, _, index = pool.name.partition("[")
        if groups and index and index != "0]":
            last = groups.pop()
            groups.append(Group(last.base, last.size + 1, last.pool))
        else:
            groups.append(Group(place, 1, pool))
    return tuple(groups)


def _statements(program: p.Program) -> tuple[Statement, ...]:
    around = flow.enclosing_holds(program)
    statements: dict[int, Statement] = {}
    first = 0
    for pc, hold in enumerate(program.code):
        if isinstance(hold, p.Hold):
            release = program.code[hold.release]
            assert isinstance(release, p.Release)
            outer = statements[around[pc][-1]].number if around[pc] else -1
            statements[pc] = Statement(len(statements), pc, hold, release, outer, first)
            first += len(hold.parts)
    return tuple(statements.values())


def _asked(hold: p.Hold) -> tuple[e.Expr, ...]:
    """What decides whether a hold fits."""
    return tuple(x for part in hold.parts for x in (part.units, part.reserve) if x is not None)


def _is_fixed(expr: e.Expr) -> bool:
    """Whether the value cannot change while the session waits."""
    return all(isinstance(x, _FIXED) or (isinstance(x, e.Builtin) and x.name != "now") for x in e.walk(expr))


def _asks(expr: e.Expr) -> bool:
    """Whether the value depends on the session that it is about."""
    return any(
        isinstance(x, e.Attr)
        or (isinstance(x, e.Builtin) and x.name != "now")
        or (isinstance(x, e.PoolState) and x.fact == "cachedin")
        for x in e.walk(expr)
    )
