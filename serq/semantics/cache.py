"""Cached prefixes: kept at a release, hit at an admission, evicted to make room, spilled to another tier.

Entries that can be hit and dead ones are both kept in the order of their release numbers, so that the oldest of a pool
is the first of one or the other.
"""

from bisect import insort
from collections.abc import Callable, Iterator
from itertools import chain

from serq.ir.evaluate import Value, total
from serq.semantics import errors
from serq.semantics.configuration import Entry, PoolState, Session, Status, Transfer
from serq.semantics.rules import PoolRule, SpillRule
from serq.semantics.scene import Frame
from serq.semantics.stages import Stages
from serq.semantics.world import Recorder


class Caches:
    """The caches of all pools of a configuration."""

    def __init__(self, frame: Frame, rules: list[PoolRule], stages: Stages, recorder: Recorder) -> None:
        self._scene = frame.scene
        self._world = frame.world
        self._rules = rules
        self._stages = stages
        self._recorder = recorder
        self._landed: list[Transfer] = []  # spills of no work, which arrive at once

    def state(self, pool: int) -> PoolState:
        """The pool's part of the configuration."""
        return self._scene.configuration.pools[pool]

    # -- keeping and hitting -----------------------------------------------------------------------------------------

    def keep(self, pool: int, owner: Session, units: Value) -> None:
        """A prefix stays cached. It replaces the owner's older one; with nothing to keep the older one stays."""
        if units > 0:
            self.drop(pool, owner)
            self._add(pool, owner, units)

    def drop(self, pool: int, owner: Session) -> None:
        """The owner's entry is gone; what is dead of it stays."""
        state = self.state(pool)
        entry = state.entries.pop(owner.serial, None)
        if entry is not None:
            state.cached -= entry.units

    def consume(self, pool: int, owner: Session, most: Value | None) -> Value:
        """Take the owner's entry for an allocation, at most so many units of it, and return how many.

        What is left stays as a dead entry of the same age. `most` None: the whole entry.
        """
        state = self.state(pool)
        entry = state.entries.pop(owner.serial, None)
        if entry is None:
            return self._scene.zero
        taken = entry.units if most is None else self._rules[pool].down(min(most, entry.units))
        state.cached -= taken
        if taken < entry.units:
            rest = Entry(owner, entry.units - taken, entry.time, entry.number, dead=True)
            insort(state.dead, rest, key=_number)
        return taken

    def _add(self, pool: int, owner: Session, units: Value) -> None:
        state = self.state(pool)
        number = self._scene.configuration.number()
        state.entries[owner.serial] = Entry(owner, units, self._world.now(), number)
        state.cached += units

    # -- making room -------------------------------------------------------------------------------------------------

    def pinned(self, pool: int, own: Session | None) -> Value:
        """Cached units that may not be evicted: under `pin waiting`, what others that wait can still hit."""
        if not self._rules[pool].pin_waiting:
            return self._scene.zero
        entries = self.state(pool).entries.values()
        units = (entry.units for entry in entries if entry.owner is not own and _waits(entry.owner))
        return total(units, self._scene.zero)

    def make_room(self, pool: int, units: Value) -> None:
        """Evict in the pool's order until so many units more fit: from the tail, whole blocks, or whole entries."""
        state, rule = self.state(pool), self._rules[pool]
        while (excess := state.used + state.cached + units - rule.cap) > 0:
            victim = self._victim(state, rule)
            if victim is None:
                return
            self._evict(state, rule, victim, excess)

    def _victim(self, state: PoolState, rule: PoolRule) -> Entry | None:
        """The entry with the smallest keys, by default the one released first; ties by release number."""
        if not rule.evict and not rule.pin_waiting:
            heads = [*state.dead[:1], *_first(state)]
            return min(heads, key=_number, default=None)
        candidates = [
            entry
            for entry in chain(state.dead, state.entries.values())
            if not (rule.pin_waiting and not entry.dead and _waits(entry.owner))
        ]
        return min(candidates, key=lambda entry: (self._keys(rule, entry), entry.number), default=None)

    def keys(self, pool: int, entry: Entry) -> tuple[Value, ...]:
        """The values of the pool's `evict by` for an entry."""
        return self._keys(self._rules[pool], entry)

    def _keys(self, rule: PoolRule, entry: Entry) -> tuple[Value, ...]:
        if not rule.evict:
            return ()
        with self._scene.reading(
            rule.evict.exprs, entry.owner, self._context(rule.evict.names, entry, entry.units)
        ) as scene:
            return rule.evict.values(scene)

    def _context(self, names: frozenset[str], entry: Entry, units: Value) -> dict[str, Value]:
        """What the keys or the condition read of the entry, and no more than they read."""
        facts: dict[str, Callable[[], Value]] = {
            "size": lambda: units,
            "age": lambda: self._world.now() - entry.time,
            "last": lambda: entry.time,
            "queued": lambda: self._scene.zero + (not entry.dead and _waits(entry.owner)),
        }
        return {name: facts[name]() for name in names}

    def _evict(self, state: PoolState, rule: PoolRule, entry: Entry, excess: Value) -> None:
        units = entry.units if rule.block is None else min(entry.units, rule.block)
        if rule.block is not None and not rule.evict and rule.spill is None:
            units = min(entry.units, rule.up(excess))  # the victim stays the same until it is gone
        whole = units == entry.units
        state.cached -= units
        entry.units -= units
        if whole and entry.dead:
            state.dead.remove(entry)
        elif whole:
            del state.entries[entry.owner.serial]
        self._recorder.evicted(rule.place, entry, units, whole)
        if rule.spill is not None:
            self._spill(rule, rule.spill, entry, units)

    # -- spilling ----------------------------------------------------------------------------------------------------

    def _spill(self, rule: PoolRule, spill: SpillRule, entry: Entry, units: Value) -> None:
        """Send evicted units to the tier. Their memory is free already."""
        with self._scene.reading(spill.exprs, entry.owner, self._context(spill.names, entry, units)) as scene:
            if spill.when(scene) == 0:
                return
            work = spill.work(scene)
        problem = self._world.work_problem(work)
        if problem is not None:
            stage = self._scene.program.stages[spill.via].name
            serial = entry.owner.serial
            raise self._scene.error(errors.BadWork(span=spill.work_span, session=serial, stage=stage, problem=problem))
        self._recorder.spilled(rule.place, entry, units)
        transfer = Transfer(entry.owner, spill.tier, units)
        if self._world.is_zero(work):
            self._landed.append(transfer)
        else:
            self._stages.send(transfer, spill.via, work)

    def land_all(self) -> bool:
        """Let the spills of no work arrive; whether there were any."""
        landed, self._landed = self._landed, []
        for transfer in landed:
            self.land(transfer)
        return bool(landed)

    def land(self, transfer: Transfer) -> None:
        """Spilled units arrive: they become, or extend, the owner's entry in the tier, as much as fits there."""
        pool, owner = transfer.tier, transfer.owner
        state, rule = self.state(pool), self._rules[pool]
        older = state.entries.get(owner.serial)
        before = self._scene.zero if older is None else older.units
        units = transfer.units + before
        self.drop(pool, owner)
        units = rule.down(min(units, rule.cap - state.used - self.pinned(pool, owner)))
        self.make_room(pool, units)
        if units > 0:
            self._add(pool, owner, units)
        self._recorder.landed(pool, transfer, max(units - before, self._scene.zero))


def _number(entry: Entry) -> int:
    return entry.number


def _first(state: PoolState) -> Iterator[Entry]:
    for entry in state.entries.values():
        yield entry
        return


def _waits(session: Session) -> bool:
    return session.status is Status.QUEUED
