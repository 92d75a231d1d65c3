"""What a session holds of the pools and what it leaves cached in them, while it moves from place to place.

A hold is a claim first: it waits at the pool of its first part, and is admitted by whoever makes room. Everything here
is a number (units), so that sessions at the same point of the program with the same memory are alike.
"""

from dataclasses import dataclass, replace

from serq.ir import expr as e

Scope = tuple[tuple[int, int], ...]
"""One open hold: pools with the units that are allocated of each."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The open holds, outermost first, and the session's own cached prefixes as pairs of a pool and units."""

    scopes: tuple[Scope, ...] = ()
    entries: tuple[tuple[int, int], ...] = ()

    def held(self, pool: int) -> int:
        """Units allocated of a pool."""
        return sum(units for scope in self.scopes for place, units in scope if place == pool)

    def holders(self, pool: int) -> int:
        """Holds that are open on a pool."""
        return sum(1 for scope in self.scopes for place, _ in scope if place == pool)

    def entry(self, pool: int) -> int:
        """Units that the session has cached in a pool."""
        return dict(self.entries).get(pool, 0)

    def caching(self, pool: int, units: int) -> "Memory":
        """The memory with that many units cached in a pool."""
        others = {m: u for m, u in self.entries if m != pool}
        kept = others | ({pool: units} if units else {})
        return replace(self, entries=tuple(sorted(kept.items())))

    def opening(self, scope: Scope) -> "Memory":
        """The memory with one more hold open."""
        return replace(self, scopes=(*self.scopes, scope))

    def closing(self) -> tuple["Memory", Scope]:
        """The memory without the innermost hold, and that hold."""
        return replace(self, scopes=self.scopes[:-1]), self.scopes[-1]

    @property
    def empty(self) -> bool:
        """Whether nothing is held and nothing cached."""
        return not self.scopes and not self.entries


NOTHING = Memory()


@dataclass(frozen=True, slots=True)
class Part:
    """One pool of a claim: what it will allocate, and what must fit there before it is admitted."""

    pool: int
    units: int
    need: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A session that waits at the hold statement `pc`, with the values and the memory that it carries."""

    pc: int
    parts: tuple[Part, ...]
    values: tuple[tuple[str, e.Expr], ...]
    memory: Memory = NOTHING

    @property
    def pool(self) -> int:
        """The pool in whose queue it stands."""
        return self.parts[0].pool

    @property
    def cached(self) -> int:
        """The largest prefix that an admission consumes: what `cached` will be."""
        return max(self.memory.entry(part.pool) for part in self.parts)

    def admitted(self) -> Memory:
        """The memory once the hold is open; all of its entries in the pools are consumed."""
        memory = self.memory
        for part in self.parts:
            memory = memory.caching(part.pool, 0)
        return memory.opening(tuple((part.pool, part.units) for part in self.parts))
