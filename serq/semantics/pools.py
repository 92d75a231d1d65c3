"""Pools: who waits, who is admitted, how holds grow, what a release and a preemption do.

The invariant of every pool is allocated + cached <= cap. Allocations may need the room of cached prefixes, which are
then evicted; cached prefixes never make anybody wait (except under `pin waiting`).
"""

from bisect import insort
from collections.abc import Callable
from typing import Literal

from serq.base.source import NOWHERE, Span
from serq.ir import expr as e
from serq.ir.evaluate import Compiled, Value
from serq.semantics import errors
from serq.semantics.cache import Caches
from serq.semantics.configuration import Allocation, Claim, Grower, PoolState, Scope, Session, Status
from serq.semantics.progress import Progress
from serq.semantics.rules import HoldRule, PoolRule
from serq.semantics.scene import Frame, shown
from serq.semantics.stages import Stages
from serq.semantics.world import Recorder

Outcome = Literal["admitted", "rejected", "blocked"]


class Pools:
    """Claims, allocations and growth in the pools of a configuration. `holds` has the hold statements by their pc."""

    def __init__(
        self, frame: Frame, rules: list[PoolRule], holds: dict[int, HoldRule], stages: Stages, caches: Caches,
        progress: Progress, recorder: Recorder, end: Callable[[Session], None],
    ) -> None:  # fmt: skip
        self._scene = frame.scene
        self._world = frame.world
        self._rules = rules
        self._holds = holds
        self._stages = stages
        self._caches = caches
        self._progress = progress
        self._recorder = recorder
        self._end = end
        self._keys_alone = frozenset(pool for hold in holds.values() for pool in _queues_by_keys_alone(hold, rules))
        self.preemptions = 0
        """How many there were so far: a step stage notices by it that it preempted."""

    def state(self, pool: int) -> PoolState:
        """The pool's part of the configuration."""
        return self._scene.configuration.pools[pool]

    # -- waiting and admission ---------------------------------------------------------------------------------------

    def claim(self, session: Session, pools: tuple[int, ...]) -> None:
        """The session's hold joins the queue of its first pool, at the end; one that can never fit is rejected."""
        hold = self._holds[session.pc]
        if len(set(pools)) < len(pools):
            twice = next(pool for pool in pools if pools.count(pool) > 1)
            name = self._rules[twice].name
            raise self._scene.error(errors.PoolTwice(span=hold.span, session=session.serial, pool=name))
        session.computed = self._scene.zero
        claim = self._enqueue(session, pools, self._scene.configuration.number())
        if self._progress.limits.rejects and self._exceeds(claim, self._needs(hold, claim)[1]):
            self._reject(claim)

    def head(self, pool: int) -> Claim | None:
        """Whom an admission tries: a preempted session first, else the smallest keys, else the first to have joined.

        Where `preempt by` chose the victims the keys come first: a preempted session stands before its equals only.
        """
        queue, keys = self.state(pool).queue, self._rules[pool].queue
        if not queue:
            return None
        if not keys or (queue[0].number < 0 and pool not in self._keys_alone):
            return queue[0]
        return min(queue, key=lambda claim: (self._queue_keys(pool, claim), claim.number))

    def attempt(self, claim: Claim) -> Outcome:
        """Try to admit a waiting hold: on all its pools at once, or not at all."""
        session = claim.session
        self._scene.session = session
        hold = self._holds[session.pc]
        units, needs = self._needs(hold, claim)
        if self._progress.limits.rejects and self._exceeds(claim, needs):
            self._reject(claim)
            return "rejected"
        if not all(self._fits(pool, need, session) for pool, need in zip(claim.pools, needs, strict=True)):
            return "blocked"
        self._admit(claim, hold, units)
        return "admitted"

    def _needs(self, hold: HoldRule, claim: Claim) -> tuple[list[Value], list[Value]]:
        """What the hold would allocate of each pool now, and what must fit there."""
        units = self._amounts(claim, hold.units, [part.units for part in hold.parts], "units")
        reserves = self._amounts(claim, hold.reserves, [part.reserve for part in hold.parts], "reserve")
        return units, [max(u, r) for u, r in zip(units, reserves, strict=True)]

    def needs(self, claim: Claim) -> list[Value]:
        """What must fit in each of the pools that a waiting hold asks for, as things stand."""
        self._scene.session = claim.session
        return self._needs(self._holds[claim.session.pc], claim)[1]

    def _exceeds(self, claim: Claim, needs: list[Value]) -> bool:
        return any(need > self._rules[pool].cap for pool, need in zip(claim.pools, needs, strict=True))

    def _reject(self, claim: Claim) -> None:
        self._leave(claim)
        self._recorder.rejected(claim.pools[0], claim)
        self._end(claim.session)

    def _admit(self, claim: Claim, hold: HoldRule, units: list[Value]) -> None:
        session = claim.session
        reuse = self._amount(hold.reuse, hold.reuse_span, "reuse", session, claim.pools[0])
        self._leave(claim)
        consumed = [self._caches.consume(pool, session, reuse) for pool in claim.pools]
        scope = Scope(session.pc, self._scene.configuration.number(), session.computed)
        for pool, amount, own in zip(claim.pools, units, consumed, strict=True):
            self._caches.make_room(pool, amount)
            allocation = Allocation(session, scope, pool, amount, own)
            scope.allocations.append(allocation)
            self.state(pool).allocations.append(allocation)
            self.state(pool).used += amount
        session.scopes.append(scope)
        session.cached = max(consumed)
        session.admitted = scope.number
        session.pc += 1
        session.status = Status.READY
        self._recorder.admitted(claim.pools[0], claim)

    def _amounts(
        self, claim: Claim, compiled: tuple[Compiled | None, ...], exprs: list[e.Expr | None], what: str
    ) -> list[Value]:
        """Units or reserves of the hold's pools, in whole blocks."""
        amounts = []
        for value, expr, pool in zip(compiled, exprs, claim.pools, strict=True):
            span = NOWHERE if expr is None else expr.span
            amount = self._amount(value, span, what, claim.session, pool)
            amounts.append(self._scene.zero if amount is None else self._rules[pool].up(amount))
        return amounts

    def _amount(self, expr: Compiled | None, span: Span, what: str, session: Session, pool: int) -> Value | None:
        """The value of an optional expression of the session on stage; NaN stops the run."""
        if expr is None:
            return None
        value = expr(self._scene)
        if value != value:
            name = self._rules[pool].name
            raise self._scene.error(errors.BadUnits(span=span, what=what, session=session.serial, pool=name))
        return value

    def _fits(self, pool: int, units: Value, session: Session) -> bool:
        pinned = self._caches.pinned(pool, session)
        return bool(self.state(pool).used + pinned + units <= self._rules[pool].cap)

    def _enqueue(self, session: Session, pools: tuple[int, ...], number: int) -> Claim:
        claim = Claim(session, pools, self._world.now(), number)
        session.status = Status.QUEUED
        session.place = pools[0]
        insort(self.state(pools[0]).queue, claim, key=lambda other: other.number)
        self._recorder.queued(pools[0], claim)
        return claim

    def _leave(self, claim: Claim) -> None:
        self.state(claim.pools[0]).queue.remove(claim)

    def queue_keys(self, claim: Claim) -> tuple[Value, ...]:
        """The values of the `queue by` of the pool in whose queue a hold stands."""
        return self._queue_keys(claim.pools[0], claim)

    def _queue_keys(self, pool: int, claim: Claim) -> tuple[Value, ...]:
        rule = self._rules[pool].queue
        context = {"waited": self._world.now() - claim.since} if rule.names else {}
        with self._scene.reading(rule.exprs, claim.session, context) as scene:
            return rule.values(scene)

    # -- release -----------------------------------------------------------------------------------------------------

    def release(self, session: Session) -> None:
        """The end of the body of the innermost hold: its units are free, and its prefix stays cached."""
        self._close(session)
        self._progress.made()

    def _close(self, session: Session) -> Scope:
        """Free the units of the innermost hold, keep of its prefix what the cache clause says, and leave its scope."""
        scope = session.scopes[-1]
        for allocation in scope.allocations:
            state = self.state(allocation.pool)
            state.allocations.remove(allocation)
            state.used -= allocation.units
        length = self._cache_length(session, scope)
        if length is not None:
            for allocation in scope.allocations:
                units = self._rules[allocation.pool].down(min(length, computed(allocation)))
                self._caches.keep(allocation.pool, session, units)
        session.scopes.pop()
        session.computed = session.scopes[-1].computed if session.scopes else self._scene.zero
        return scope

    def _cache_length(self, session: Session, scope: Scope) -> Value | None:
        """The value of the hold's cache clause; the session need not be the one on stage."""
        hold = self._holds[scope.pc]
        pool = scope.allocations[0].pool
        with self._scene.reading((), session, {}):
            return self._amount(hold.cache, hold.cache_span, "cache length", session, pool)

    # -- growth ------------------------------------------------------------------------------------------------------

    def innermost(self, session: Session, pool: int, span: Span) -> Allocation:
        """The allocation of the session's innermost open hold on a pool."""
        for scope in reversed(session.scopes):
            for allocation in scope.allocations:
                if allocation.pool == pool:
                    return allocation
        name = self._rules[pool].name
        raise self._scene.error(errors.NotHeld(span=span, session=session.serial, pool=name))

    def grow(self, allocation: Allocation, more: Value, span: Span) -> None:
        """`grow`: enlarge by so many units, to whole blocks; the session is then ready, stalled, or preempted."""
        if not self._enlarge(allocation, allocation.units + more, span):
            session = allocation.session
            if session.status is Status.READY:
                self._stall(allocation, more)

    def grow_to(self, allocation: Allocation, position: Value, span: Span) -> bool:
        """Make room for a computed position; False when there is none, the grower having been preempted or not."""
        return self._enlarge(allocation, position, span)

    def _enlarge(self, allocation: Allocation, target: Value, span: Span) -> bool:
        pool, session = allocation.pool, allocation.session
        rule = self._rules[pool]
        more = rule.up(target) - allocation.units
        if more <= 0:
            return True
        if self._progress.limits.rejects:
            self._check_possible(allocation, more, span)
        while not self._fits(pool, more, session):
            victim = self._victim(rule) if rule.preempts else None
            if victim is None:
                return False
            self._preempt(victim)
            if victim.session is session:
                return False
        self._caches.make_room(pool, more)
        allocation.units += more
        self.state(pool).used += more
        return True

    def _check_possible(self, allocation: Allocation, more: Value, span: Span) -> None:
        """A session whose own holds outgrow the cap can neither wait for room nor be helped by preemption."""
        pool, session = allocation.pool, allocation.session
        own = (a.units for scope in session.scopes for a in scope.allocations if a.pool == pool)
        needed = sum(own, more)
        rule = self._rules[pool]
        if needed > rule.cap:
            raise self._scene.error(
                errors.NeverFits(
                    span=span, session=session.serial, pool=rule.name, needed=shown(needed), cap=shown(rule.cap)
                )
            )

    def _stall(self, allocation: Allocation, more: Value) -> None:
        session = allocation.session
        session.status = Status.GROWING
        session.place = allocation.pool
        number = self._scene.configuration.number()
        self.state(allocation.pool).growers.append(Grower(session, allocation, more, number))

    def retry_growers(self, pool: int) -> bool:
        """Let stalled growths go on that fit now, in the order in which they stalled; whether any did."""
        state, rule = self.state(pool), self._rules[pool]
        went_on = False
        while state.growers:
            grower = state.growers[0]
            more = rule.up(grower.allocation.units + grower.units) - grower.allocation.units
            if not self._fits(pool, more, grower.session):
                break
            state.growers.pop(0)
            self._caches.make_room(pool, more)
            grower.allocation.units += more
            state.used += more
            grower.session.pc += 1
            self._make_ready(grower.session)
            went_on = True
        return went_on

    # -- preemption --------------------------------------------------------------------------------------------------

    def _victim(self, rule: PoolRule) -> Allocation | None:
        """The holder that was admitted last; where the pool is a step stage's memory, the last of its residents.

        The residents of a step stage are as old as their session's latest admission, on whatever pool. Under
        `preempt by` it is the holder or resident with the smallest keys, the first of equals.
        """
        holders = self.state(rule.place).allocations
        if rule.memory_of:
            residents = [a for a in holders if a.session.job is not None and a.session.job.stage in rule.memory_of]
            holders = sorted(residents, key=lambda a: (a.session.admitted, a.scope.number))
        if rule.victims:
            return min(holders, key=lambda a: self._victim_keys(rule, a.session), default=None)
        return holders[-1] if holders else None

    def _victim_keys(self, rule: PoolRule, session: Session) -> tuple[Value, ...]:
        with self._scene.reading(rule.victims.exprs, session, {}) as scene:
            return rule.victims.values(scene)

    def _preempt(self, victim: Allocation) -> None:
        """Abort the victim's hold and all within it: it waits at the head of its queue, to execute it again.

        As in vLLM, tokens that the iteration which is being put together has given it already are among those whose
        prefix stays cached, although nothing will compute them; they do not count as `computed`.
        """
        session, scope = victim.session, victim.scope
        positions = [a.position for a in scope.allocations if a.position is not None]
        reached = max(positions, default=self._scene.zero)
        growing = None if session.job is None else session.job.growing
        if session.job is not None and growing is not None:
            growing.position = self._stages.marked(session.job, position(growing))
        self._remove_from_its_place(session)
        while self._close(session) is not scope:
            pass
        session.pc = scope.pc
        session.computed = max(scope.computed, reached)
        self.preemptions += 1
        self._recorder.preempted(victim.pool, session)
        pools = tuple(allocation.pool for allocation in scope.allocations)
        self._enqueue(session, pools, self._head_number(pools[0]))
        hold = self._holds[scope.pc]
        self._progress.preempted(session, self._rules[victim.pool].name, hold.span, reached > scope.computed)

    def _head_number(self, pool: int) -> int:
        queue = self.state(pool).queue
        return min(queue[0].number if queue else 0, 0) - 1

    def _remove_from_its_place(self, session: Session) -> None:
        match session.status:
            case Status.AT_STAGE:
                assert session.job is not None
                self._stages.withdraw(session.job)
            case Status.QUEUED:
                claim = next(c for c in self.state(session.place).queue if c.session is session)
                self._leave(claim)
                self._recorder.unqueued(session.place, claim)
            case Status.GROWING:
                state = self.state(session.place)
                state.growers = [grower for grower in state.growers if grower.session is not session]
            case Status.LEAVING:
                self._stages.state(session.place).leaving.remove(session)
            case _:
                ready = self._scene.configuration.ready
                if session in ready:
                    ready.remove(session)

    def _make_ready(self, session: Session) -> None:
        session.status = Status.READY
        self._scene.configuration.ready.append(session)


def _queues_by_keys_alone(hold: HoldRule, rules: list[PoolRule]) -> range:
    """The queues that the hold may join, if any of its pools preempts by keys."""
    members = [range(part.pool.base, part.pool.base + part.pool.size) for part in hold.parts]
    return members[0] if any(rules[pool].victims for pools in members for pool in pools) else range(0)


def computed(allocation: Allocation) -> Value:
    """How long a prefix an allocation can leave behind.

    Where runs of the body have grown pools of the hold it is the computed position of these and nothing of the others;
    otherwise it is the allocation. It is never more than the allocation: a hold that consumed an entry larger than its
    units and was preempted before it grew has room for its units only.
    """
    grown = any(a.position is not None for a in allocation.scope.allocations)
    if not grown:
        return allocation.units
    return allocation.units * 0 if allocation.position is None else min(allocation.position, allocation.units)


def position(allocation: Allocation) -> Value:
    """How far the body has computed: its own prefix that went in, and the tokens of growing runs so far."""
    return allocation.consumed if allocation.position is None else allocation.position
