"""Holds, releases and drops on the way of a session: what they make of its memory, and what has no form with counters.

Counters know how many sessions are where, not in which order they came by what they have cached. So a pool must admit
first come first served, and allocate, keep and evict whole numbers of units in one piece.
"""

from collections.abc import Mapping
from fractions import Fraction

from serq.exporters.memory import Claim, Memory, Part
from serq.exporters.partial import Partial, UnknownValueError, number, rewritten
from serq.ir import expr as e
from serq.ir import program as p


class NoHoldError(Exception):
    """A construct of a hold that counters do not hold: what, and why."""

    def __init__(self, construct: str, reason: str) -> None:
        super().__init__(construct, reason)
        self.construct = construct
        self.reason = reason


class Holding:
    """The memory statements of a program, executed with numbers."""

    def __init__(self, program: p.Program, partial: Partial) -> None:
        self.program = program
        self.partial = partial

    def claim(self, pc: int, hold: p.Hold, values: Mapping[str, e.Expr], kept: frozenset[str], memory: Memory) -> Claim:
        """The claim of a hold statement; `kept` are the attributes that are needed behind it."""
        parts = []
        for part in hold.parts:
            pool = self._pool(part.pool, values)
            units = self._amount(part.units, values, pool)
            reserve = 0 if part.reserve is None else self._amount(part.reserve, values, pool)
            parts.append(Part(pool, units, max(units, reserve)))
        if len({part.pool for part in parts}) < len(parts):
            raise NoHoldError("this `hold`", "it asks for one pool twice")
        if hold.reuse is not None:
            self._check_reuse(hold.reuse, values, [memory.entry(part.pool) for part in parts])
        carried = tuple(sorted(((name, values[name]) for name in kept if name in values), key=lambda item: item[0]))
        return Claim(pc, tuple(parts), carried, memory)

    def release(self, cache: e.Expr | None, values: Mapping[str, e.Expr], memory: Memory) -> Memory:
        """The memory behind the end of a hold's body: units free, a prefix cached."""
        rest, scope = memory.closing()
        if cache is None:
            return rest
        length = self._number(cache, values, "the length of the cached prefix")
        for pool, units in scope:
            kept = self._down(pool, min(length, units))
            if kept > 0:
                self._check_whole(pool, kept)
                rest = rest.caching(pool, kept)
        return rest

    def drop(self, statement: p.Drop, values: Mapping[str, e.Expr], memory: Memory) -> Memory:
        """The memory without the entry that is dropped."""
        return memory.caching(self._pool(statement.pool, values), 0)

    def _pool(self, ref: e.Ref, values: Mapping[str, e.Expr]) -> int:
        place = self.partial.place(ref, values).base
        pool = self.program.pools[place]
        if pool.queue:
            raise NoHoldError(f"`queue by` of {pool.name}", "a line keeps the order of arrival")
        if pool.admit_via is not None:
            raise NoHoldError(f"`admit via` of {pool.name}", "a step stage has no form with counters")
        if pool.spill is not None:
            raise NoHoldError(f"`spill` of {pool.name}", "what is on its way to another pool has an owner")
        return place

    def _check_whole(self, place: int, kept: int) -> None:
        pool = self.program.pools[place]
        if pool.block is not None and kept > self._block(place):
            raise NoHoldError(f"`block` of {pool.name}", "a prefix of several blocks is evicted block by block")

    def _amount(self, expr: e.Expr, values: Mapping[str, e.Expr], pool: int) -> int:
        amount = self._number(expr, values, "an amount of units")
        if amount < 0 or amount != int(amount):
            raise NoHoldError("this `hold`", "its units are no whole number")
        block = self._block(pool)
        return -(-int(amount) // block) * block

    def _down(self, pool: int, amount: e.Number) -> int:
        block = self._block(pool)
        return max(0, int(amount // block) * block)

    def _block(self, pool: int) -> int:
        block = self.program.pools[pool].block
        if block is None:
            return 1
        self.partial.number(block.expr)
        if Fraction(block.exact).denominator != 1:
            raise NoHoldError("this `hold`", "its blocks are no whole number of units")
        return int(Fraction(block.exact))

    def _check_reuse(self, expr: e.Expr, values: Mapping[str, e.Expr], entries: list[int]) -> None:
        most = self._number(expr, values, "what may be reused")
        if any(entry > 0 and most < entry for entry in entries):
            raise NoHoldError("`reuse`", "what is left of a prefix lies in the cache without an owner")

    def _number(self, expr: e.Expr, values: Mapping[str, e.Expr], what: str) -> e.Number:
        if e.draws(expr):
            raise NoHoldError(f"a draw in {what}", "it is drawn anew at every attempt to admit")
        try:
            return self.partial.number(self.partial.reduce(expr, values))
        except UnknownValueError:
            raise NoHoldError(what, "it depends on the state") from None


def own_view(expr: e.Expr, start: Memory, now: Memory) -> e.Expr:
    """The expression of a session on its way, its observables of pools as they were when it set out, and what it has
    changed since. `cachedin` is its own entry.
    """

    def changed(node: e.Expr) -> e.Expr | None:
        if not isinstance(node, e.PoolState):
            return None
        pool = node.pool.base
        match node.fact:
            case "cachedin":
                return number(now.entry(pool))
            case "used" | "free":
                more = now.held(pool) - start.held(pool)
                return _plus(node, more if node.fact == "used" else -more)
            case "holders":
                return _plus(node, now.holders(pool) - start.holders(pool))
            case _:
                return None

    return rewritten(expr, changed)


def _plus(node: e.Expr, more: int) -> e.Expr | None:
    return e.Binary("+", node, number(more)) if more else None
