"""Pools and holds as declared, with their expressions compiled once."""

import math
from collections.abc import Callable

from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import Compiled, Value
from serq.semantics.scene import Frame, Scene, context_names


class PoolRule:
    """A pool as declared. Units are rounded to whole blocks before anything is compared or allocated."""

    def __init__(self, frame: Frame, place: int) -> None:
        pool = frame.program.pools[place]
        self.place = place
        self.name = pool.name
        self.span = pool.span
        self.cap: Value = frame.world.number(pool.cap)
        self.block: Value | None = None if pool.block is None else frame.world.number(pool.block)
        self.zero = frame.scene.zero
        self.preempts = pool.preempt != "none"
        self.victims = KeyRule(frame, pool.victims)
        self.via = pool.admit_via
        self.pin_waiting = pool.pin_waiting
        self.evict = KeyRule(frame, pool.evict)
        self.queue = KeyRule(frame, pool.queue)
        self.spill = None if pool.spill is None else SpillRule(frame, pool.spill)
        self.memory_of = frozenset(
            s
            for s, stage in enumerate(frame.program.stages)
            if isinstance(stage.kind, p.Step) and stage.kind.memory == place
        )

    def up(self, units: Value) -> Value:
        """The units that are allocated for so many: whole blocks, and nothing for a negative number."""
        if not units > 0:
            return self.zero
        if self.block is None or units == math.inf:
            return units
        return math.ceil(units / self.block) * self.block

    def down(self, units: Value) -> Value:
        """The units of a prefix of this length that whole blocks hold; a prefix is never negative."""
        if not units > 0:
            return self.zero
        if self.block is None:
            return units
        return math.floor(units / self.block) * self.block


class KeyRule:
    """The keys of a `queue by`, an `evict by` or a `preempt by`; empty where the default order holds."""

    def __init__(self, frame: Frame, exprs: tuple[e.Expr, ...]) -> None:
        self.exprs = exprs
        self.names = context_names(*exprs)
        self.compiled = tuple(frame.compile(x) for x in exprs)

    def __bool__(self) -> bool:
        return bool(self.exprs)

    def values(self, scene: Scene) -> tuple[Value, ...]:
        """The keys as they stand now."""
        return tuple(key(scene) for key in self.compiled)


class SpillRule:
    """Where evicted units go, with what work, and when."""

    def __init__(self, frame: Frame, spill: p.Spill) -> None:
        self.tier = spill.tier
        self.via = spill.via
        self.exprs = (spill.when, spill.work)
        self.names = context_names(*self.exprs)
        self.when = frame.compile(spill.when)
        self.work = frame.compile(spill.work)
        self.work_span = spill.work.span


class HoldRule:
    """A hold statement: its pools, units, reserves, reuse, and the cache clause of its end."""

    def __init__(self, frame: Frame, pc: int, hold: p.Hold) -> None:
        release = frame.program.code[hold.release]
        assert isinstance(release, p.Release)
        self.pc = pc
        self.span = hold.span
        self.parts = hold.parts
        self.places: tuple[Callable[[Scene], int], ...] = tuple(frame.place(part.pool) for part in hold.parts)
        self.units: tuple[Compiled, ...] = tuple(frame.compile(part.units) for part in hold.parts)
        self.reserves: tuple[Compiled | None, ...] = tuple(
            None if part.reserve is None else frame.compile(part.reserve) for part in hold.parts
        )
        self.reuse = None if hold.reuse is None else frame.compile(hold.reuse)
        self.reuse_span = hold.span if hold.reuse is None else hold.reuse.span
        self.cache = None if release.cache is None else frame.compile(release.cache)
        self.cache_span = release.span if release.cache is None else release.cache.span


class StepRule:
    """A step stage as declared; `names` are the context variables that its expressions read."""

    def __init__(self, frame: Frame, place: int, step: p.Step) -> None:
        self.place = place
        self.name = frame.program.stages[place].name
        self.budget_expr, self.cost_expr, self.chunk_expr = step.budget, step.cost, step.chunk
        self.budget = frame.compile(step.budget)
        self.cost = frame.compile(step.cost)
        self.chunk = None if step.chunk is None else frame.compile(step.chunk)
        self.before_names = context_names(step.budget, step.chunk)
        self.cost_names = context_names(step.cost)
        self.exclusive_prefill = step.exclusive_prefill
        self.decode_first = step.decode_first
        self.memory = step.memory
        self.serves = tuple(i for i, pool in enumerate(frame.program.pools) if pool.admit_via == place)
