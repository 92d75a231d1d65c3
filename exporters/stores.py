"""Pools over a layout: how much of each is taken, by which counters, and whose prefixes may be evicted.

Where all that own an evictable prefix are alike (at one place without order, memoryless, equal prefixes) it does not
matter which of them was last released: only their number does. That is what makes a least-recently-used cache a
counter.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from serq.exporters.automaton import Automaton, evicted
from serq.exporters.constants import Constants
from serq.exporters.layout import Layout, Line, Slot
from serq.exporters.memory import Claim, Memory
from serq.exporters.names import NameMap
from serq.exporters.passages import Rest
from serq.exporters.text import PRODUCT, Piece, total
from serq.ir import program as p


@dataclass(frozen=True)
class Store:
    """A pool. `cap` None: unlimited. `held`, `taken` and `cached` are formulas; `taken` is what nobody can
    have: what is held, and under `pin waiting` what those who wait have cached.
    """

    pool: int
    name: str
    cap: Piece | None
    size: int
    """The cap of the program; a number that an open `cap` may differ from."""
    pinned: bool
    held: str
    taken: str
    cached: str
    line: Line | None
    owner: Slot | None
    """The counter of those whose prefixes are evicted, where there is one."""
    loser: Slot | None
    """Where they go when they lose them."""
    several: bool
    """Whether owners are of several kinds: then nobody can say whose prefix is the oldest."""
    entry: int
    """Units of a prefix of an owner."""
    step: int
    """What all that is taken is a multiple of."""
    least: int
    """What the largest claim needs: no cap is smaller."""
    weights: tuple[tuple[int, str], ...]
    """The counters of those who take of it, with how much each takes."""
    exact: bool
    """Whether the cap is `size` for good."""
    full: bool = False
    """Whether what is not held is always cached: then the owners need no counter."""

    @property
    def residue(self) -> int:
        """What is left of the cap beside multiples of the step."""
        return self.size % self.step

    def takes(self, memory: Memory, *, waiting: bool) -> int:
        """What a session takes of the pool."""
        return memory.held(self.pool) + (memory.entry(self.pool) if waiting and self.pinned else 0)

    def wants(self, claim: Claim) -> int:
        """How much must be left for the claim, which stands in this pool's queue, as far as this pool is concerned."""
        (need,) = (part.need for part in claim.parts if part.pool == self.pool)
        return need - (claim.memory.entry(self.pool) if self.pinned else 0)


def weighted(terms: Iterable[tuple[int, str]]) -> Piece:
    """The text of a sum of counters."""
    pieces = [Piece(name) if weight == 1 else Piece(f"{weight} * {name}", PRODUCT) for weight, name in terms if weight]
    return total(pieces)


def summed(layout: Layout, share: Callable[[Memory, bool], int]) -> Piece:
    """The text of a sum over all sessions; `share` is called with a memory, and whether it waits for a pool."""
    waiting = layout.waiting()
    return weighted([(share(memory, name in waiting), name) for name, memory in layout.memory_of.items()])


def stores(automaton: Automaton, layout: Layout, names: NameMap, constants: Constants) -> Mapping[int, Store]:
    """The pools of which something is held or cached, or for which somebody waits."""
    out = {}
    for index, pool in enumerate(automaton.program.pools):
        rests: list[Rest] = [*automaton.places, *automaton.claims]
        if any(r.memory.held(index) or r.memory.entry(index) for r in rests) or any(
            part.pool == index for claim in automaton.claims for part in claim.parts
        ):
            out[index] = _store(index, pool, automaton, layout, names, constants)
    return out


def _store(
    index: int, pool: p.Pool, automaton: Automaton, layout: Layout, names: NameMap, constants: Constants
) -> Store:
    unlimited = math.isinf(float(pool.cap.value))
    size = 0 if unlimited else math.floor(Fraction(pool.cap.exact))
    cap = None if unlimited else constants.whole(pool.cap)
    if cap is not None and size != pool.cap.exact:
        cap = Piece(str(size))
    owners = [s for station in layout.stations for s in station.slots if s.place.memory.entry(index)]
    unordered = all(not isinstance(layout.station_of[s.place.stage].kind, p.Fifo) for s in owners)
    waiting = [r for line in layout.lines() for r in line.classes if r.memory.entry(index)]
    loose = [r for r in waiting if not (pool.pin_waiting and isinstance(r, Claim))]
    owner = owners[0] if len(owners) == 1 and unordered and not loose else None
    lost = layout.slots_of(evicted(owner.place, index)) if owner else ()
    parts = [part for claim in automaton.claims for part in claim.parts if part.pool == index]
    amounts = {part.units for part in parts}
    even = len(amounts) == 1 and amounts != {0} and not waiting and owner is not None
    held, taken, cached = (_formula(kind, pool, names) for kind in ("held", "taken", "stored"))
    store = Store(
        pool=index,
        name=pool.name,
        cap=cap,
        size=size,
        pinned=pool.pin_waiting,
        held=held(),
        taken=taken() if waiting and pool.pin_waiting else held(),
        cached=cached(),
        line=layout.queues.get(index),
        owner=owner,
        loser=lost[0] if lost else None,
        several=owner is None and bool(owners or loose),
        entry=owner.place.memory.entry(index) if owner else 0,
        step=max(amounts) if even else 1,
        least=max((part.need for part in parts), default=0),
        weights=(),
        exact=not constants.is_open(pool.cap),
    )
    queued = layout.waiting()
    shares = [(store.takes(memory, waiting=name in queued), name) for name, memory in layout.memory_of.items()]
    store = replace(store, weights=tuple((share, name) for share, name in shares if share))
    return replace(store, full=cap is not None and even and store.entry == store.step and _full(automaton, store))


def _formula(kind: str, pool: p.Pool, names: NameMap) -> Callable[[], str]:
    return lambda: names.identifier(f"{kind}.{pool.name}", "formula", (pool.span.line,))


def _full(automaton: Automaton, store: Store) -> bool:
    """Whether memory is full for good once it is: there are more sessions than fit, and none gives back what it holds
    without leaving as much cached, or drops what it has cached.
    """
    arrivals = automaton.program.arrivals
    if not isinstance(arrivals, p.Closed) or p.whole(arrivals.population) <= store.size // store.step:
        return False

    def has(memory: Memory) -> int:
        return memory.held(store.pool) + memory.entry(store.pool)

    for rest, passages in automaton.after.items():
        before = has(rest.admitted() if isinstance(rest, Claim) else rest.memory)
        if any(passage.target is None or has(passage.target.memory) != before for passage in passages):
            return False
    return True
