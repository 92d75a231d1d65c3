"""Release ranks that can never matter: those of prefixes that are consumed before they could be evicted.

Under `pin waiting` nothing is evicted from an owner that waits. The rank of such an entry is dead if its owner, once
admitted, consumes the entry before anybody can evict it: at once, when the hold it waits for has the pool itself; or
when it goes on, without time passing, to a hold that has the pool, and nobody evicts in between.
"""

from fractions import Fraction

from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p
from serq.semantics.graph import is_preemptible, members


def dropped_ranks(program: p.Program) -> dict[int, frozenset[int]]:
    """Per hold, the pools in which the release rank of a session that waits there is dead."""
    pinned = [place for place, pool in enumerate(program.pools) if pool.pin_waiting]
    holds = [pc for pc, step in enumerate(program.code) if isinstance(step, p.Hold)]
    ranks = {pc: frozenset(m for m in pinned if _Fate(program, m).is_consumed(pc)) for pc in holds}
    return {pc: pools for pc, pools in ranks.items() if pools}


class _Fate:
    """What becomes of an entry in one pool when its owner is admitted."""

    def __init__(self, program: p.Program, pool: int) -> None:
        self.program = program
        self.pool = pool
        self.enclosing = flow.enclosing_holds(program)
        self.grows = any(isinstance(s, p.Grow) and pool in members(s.pool) for s in program.code)

    def is_consumed(self, pc: int) -> bool:
        """Whether the entry is consumed before anybody can evict it, whatever happens after the admission at `pc`."""
        if any(is_preemptible(self.program, self._hold(hold)) for hold in self.enclosing[pc]):
            return False
        return self._from_hold(pc, frozenset())

    def _hold(self, pc: int) -> p.Hold:
        hold = self.program.code[pc]
        assert isinstance(hold, p.Hold)
        return hold

    def _from_hold(self, pc: int, seen: frozenset[int]) -> bool:
        hold = self._hold(pc)
        if any(_is(part.pool, self.pool) for part in hold.parts):
            return hold.reuse is None
        if any(self.pool in members(part.pool) for part in hold.parts):
            return False
        if pc in seen:
            return True
        return self._undisturbed(hold) and self._from_step(pc + 1, seen | {pc})

    def _from_step(self, pc: int, seen: frozenset[int]) -> bool:
        match self.program.code[pc]:
            case p.Run() | p.Grow() | p.End():
                return False
            case p.Release(hold=opened) if any(self.pool in members(x.pool) for x in self._hold(opened).parts):
                return False
            case p.Drop(pool=ref) if self.pool in members(ref):
                return _is(ref, self.pool)
            case p.Hold():
                return self._from_hold(pc, seen)
        if pc in seen:
            return True
        return all(self._from_step(t, seen | {pc}) for t in flow.successors(self.program, pc))

    def _undisturbed(self, hold: p.Hold) -> bool:
        """Whether nobody evicts in the pool between the admission to another hold and the session's next step.

        Admissions go pool by pool in the order of declaration, and then the admitted run. So nobody does when the
        queue in question comes after the pool's own, or when the hold excludes all other users of the pool.
        """
        if self.grows:
            return False
        queue = hold.parts[0].pool
        return all(i > self.pool for i in members(queue)) or self._excludes(queue)

    def _excludes(self, queue: e.Ref) -> bool:
        """Whether every hold that has the pool stands inside of a hold on `queue`, which only one session can have."""
        if queue.size != 1:
            return False
        users = [
            pc
            for pc, step in enumerate(self.program.code)
            if isinstance(step, p.Hold) and any(self.pool in members(part.pool) for part in step.parts)
        ]
        return all(any(self._is_alone(outer, queue.base) for outer in self.enclosing[pc]) for pc in users)

    def _is_alone(self, pc: int, queue: int) -> bool:
        cap = self.program.pools[queue].cap.exact
        first = self._hold(pc).parts[0]
        if not _is(first.pool, queue):
            return False
        units = _constant(self.program, first.units)
        return units is not None and 2 * units > cap


def _is(ref: e.Ref, pool: int) -> bool:
    return ref.size == 1 and ref.base == pool


def _constant(program: p.Program, x: e.Expr) -> Fraction | None:
    match x:
        case e.Num(value=value):
            pass
        case e.Const(name=name):
            value = program.constant(name).folded.exact
        case _:
            return None
    return value if isinstance(value, Fraction) else None
