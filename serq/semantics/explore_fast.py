"""The compiled explorer from outside: it is called, given rules and memory as it asks for them, and read out.

The chain is that of `serq.semantics.explore`, state for state, and lives in arrays.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serq.base.errors import LimitError
from serq.codegen import Compiled, compile_module
from serq.ir import program as p
from serq.ir.packed import Arcs
from serq.semantics import frontier_state as f
from serq.semantics.events import Events
from serq.semantics.frontier_lone import Alone, why_not
from serq.semantics.frontier_tables import NotCompiledError, Tables, wholes
from serq.semantics.growth import too_many_beginnings

Progress = Callable[[int, int], None]
_STATES_A_CALL = 20_000
"""Some tens of milliseconds of machine code: so often an interrupt is noticed."""
_ARCS = 1 << 18
_MOST_ARCS_OF_A_STATE = 1 << 26
_MOST_WAYS = 1 << 21
"""Ways to begin: a few hundred megabytes, and some seconds."""
_PER_NODE = ("loose_kind", "loose_count", "node_kind", "node_count", "node_in", "node_link", "free_node", "ready")
_NO_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far to go: states, sessions present (None: any number), bytes of memory (None: all there is)."""

    states: int
    population: int | None
    memory: int | None


class TooManyStatesError(Exception):
    """There are more states than asked for."""


class TooManySessionsError(Exception):
    """More sessions are present than asked for."""


@cache
def compiled(backend: Any = "auto", *, checked: bool = False) -> Compiled:
    """The explorer, compiled; the same for every program."""
    text = files("serq.semantics").joinpath("frontier.py").read_text(encoding="utf-8")
    return compile_module(text, backend, exports=("start", "search", "rehash"), checked=checked)


class FastExploration:
    """A search in progress. It can be taken up again after an interrupt: `run` goes on where it was."""

    def __init__(
        self, events: Events, sliced: p.Program, bounds: Bounds, progress: Progress | None, code: Compiled | None = None
    ) -> None:
        """Raises NotCompiledError when this program has to be explored in another way."""
        reason = why_not(sliced)
        if reason is not None:
            raise NotCompiledError(reason)
        self.program = sliced
        self.bounds = bounds
        self.progress = progress
        self._code = code or compiled()
        if self._code.backend == "cpython":
            raise NotCompiledError("there is no compiler (llvmlite)")
        self.x = self._code.record("Frontier")
        self.alone = Alone(events, sliced)
        self.tables = Tables(self.x, self.alone, sliced)
        self.initial: dict[int, Fraction] = {}
        self._chunks: list[tuple[NDArray[Any], ...]] = []
        self._stuck = (-1, -1)
        self._shape(events.arrival)
        self._memory()

    # -- the record --------------------------------------------------------------------------------------------------

    def _shape(self, arrival: int | None) -> None:
        x, program = self.x, self.program
        lines = [s for s, stage in enumerate(program.stages) if isinstance(stage.kind, p.Fifo)]
        x.pools, x.stages = len(program.pools), len(program.stages)
        x.lists = len(lines) + 2 * x.pools
        if x.lists > f.MOST_LISTS:
            raise NotCompiledError("it has too many stages and pools")
        x.servers = _array([p.whole(s.kind.servers) if isinstance(s.kind, p.Fifo) else 0 for s in program.stages])
        x.line = _array([lines.index(s) if s in lines else -1 for s in range(x.stages)])
        x.caps = _array([_capacity(pool.cap) for pool in program.pools])
        x.pins = _array([int(pool.pin_waiting) for pool in program.pools])
        x.evicts_by = _array([int(bool(pool.evict)) for pool in program.pools])
        x.queues_by = _array([int(bool(pool.queue)) for pool in program.pools])
        x.arrival_symbol = -1 if arrival is None else arrival
        x.arrival_limit, x.arrival_rule, x.lost = -1, f.UNKNOWN, 0
        match program.arrivals:
            case p.Closed(population=size) | p.Batch(size=size):
                x.population = p.whole(size)
            case p.Poisson(limit=limit) | p.Renewal(limit=limit):
                x.first_arrival = int(isinstance(program.arrivals, p.Poisson) and arrival is not None)
                if limit is not None:
                    x.arrival_limit = p.whole(limit)
                    x.lost = self.tables.impulse(self.alone.lost())
        if x.arrival_limit == 0:
            raise NotCompiledError("nobody may arrive")
        if x.population >= 1 << f.COUNT_BITS:
            raise NotCompiledError("its population is too large")
        x.crowd = _NO_LIMIT if self.bounds.population is None else self.bounds.population
        x.most = min(self.bounds.states, _NO_LIMIT)

    def _memory(self) -> None:
        x = self.x
        size = max(x.population, x.arrival_limit, 0 if x.crowd == _NO_LIMIT else x.crowd)
        self._set_room(size + 16)
        for name in ("used", "cached", "pinned"):
            setattr(x, name, wholes(x.pools))
        x.serving, x.size, x.node_of_link = wholes(x.stages), wholes(x.lists), wholes(f.MOST_LINKS + 1)
        x.states_room = x.words_room = 4096
        x.begin, x.words = wholes(x.states_room), wholes(x.words_room)
        x.table, x.table_mask = wholes(16384, -1), 16383
        self._set_arcs(_ARCS)

    def _set_room(self, room: int) -> None:
        x = self.x
        x.room = room
        for name in _PER_NODE:
            setattr(x, name, wholes(room))
        x.item, x.packed = wholes(x.lists * room), wholes((x.lists + 1) * room + 1)
        x.speeds = wholes(x.stages * (room + 1), f.UNKNOWN)
        for place, stage in enumerate(self.program.stages):
            if not isinstance(stage.kind, p.ProcessorSharing):
                x.speeds[place * (room + 1) : (place + 1) * (room + 1)] = 0
        x.script_room = room + 64
        x.script, x.script_ways = wholes(x.script_room), wholes(x.script_room)

    def _set_arcs(self, room: int) -> None:
        x = self.x
        x.arcs_room = x.event_room = room
        for name in ("arc_source", "arc_target", "arc_tells", "arc_count", "event_target", "event_tells"):
            setattr(x, name, wholes(room))

    # -- searching ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Find every state."""
        if not self.initial:
            self._call("start")
            self._take_initial()
        status = f.WORKING
        while status != f.FINISHED:
            status = self._call("search")
            if self.progress is not None:
                self.progress(self.x.found, self.x.done)
        self._flush()

    def _call(self, name: str) -> int:
        """Call until it has no more questions."""
        end = self.x.done + _STATES_A_CALL
        while True:
            arguments = (end - self.x.done,) if name == "search" else ()
            status = self._code.call(name, self.x, *arguments)
            match status:
                case f.FINISHED | f.WORKING:
                    if self.x.arcs > _ARCS // 2 and name == "search":
                        self._flush()
                    return int(status)
                case f.RULE:
                    self.tables.answer(self.x.asked, self.x.asked_a, self.x.asked_b)
                case f.SPACE:
                    self._make_space(name)
                case f.ROOM:
                    self._set_room(2 * self.x.room)
                    self._within_memory()
                case f.LIMIT:
                    raise TooManyStatesError
                case f.CROWDED:
                    raise TooManySessionsError
                case _:
                    raise NotCompiledError("its sessions may go on for ever at one instant")

    def _take_initial(self) -> None:
        x = self.x
        for i in range(x.arcs):
            factor = self.tables.factors[x.arc_tells[i] & ((1 << f.FACTOR_BITS) - 1)] * int(x.arc_count[i])
            target = int(x.arc_target[i])
            self.initial[target] = self.initial.get(target, Fraction(0)) + factor
        x.arcs = x.split = 0

    def _flush(self) -> None:
        """Take the arcs over, in as few bytes as they need."""
        x, n = self.x, self.x.arcs
        if n:
            self._chunks.append(
                (x.arc_source[:n].astype(np.int32), x.arc_target[:n].astype(np.int32), x.arc_tells[:n].copy(),
                 x.arc_count[:n].astype(np.int32))
            )  # fmt: skip
            x.arcs = 0

    def _make_space(self, name: str) -> None:
        x = self.x
        if name == "start" and x.arcs_room >= _MOST_WAYS:
            raise too_many_beginnings(_MOST_WAYS)
        at = (x.done, x.found)
        if name == "search" and x.arcs:
            self._flush()
        elif self._stuck == at:
            if x.arcs_room > _MOST_ARCS_OF_A_STATE:
                raise NotCompiledError("a state has too many ways out")
            self._set_arcs(2 * x.arcs_room)
        self._stuck = at
        if 4 * (x.found + 2) > 3 * x.states_room:
            x.states_room *= 2
            x.begin = _grown(x.begin, x.states_room)
        if 4 * x.words_end > 3 * x.words_room or x.words_room - x.words_end < len(x.packed):
            x.words_room = 2 * x.words_room + len(x.packed)
            x.words = _grown(x.words, x.words_room)
        if 2 * (x.found + 1) > x.table_mask:
            x.table, x.table_mask = wholes(4 * (x.table_mask + 1), -1), 4 * (x.table_mask + 1) - 1
            self._code.call("rehash", x)
        self._within_memory()

    @property
    def bytes_used(self) -> int:
        """The memory of states and arcs."""
        x = self.x
        arrays = (x.begin, x.words, x.table, x.item, x.arc_target, *(a for chunk in self._chunks for a in chunk))
        return sum(a.nbytes for a in arrays)

    def _within_memory(self) -> None:
        most = self.bounds.memory
        if most is not None and self.bytes_used > most:
            raise LimitError(
                f"the chain does not fit into {most / 1e6:.0f} MB: {self.x.found} states were found, {self.x.done} of "
                f"them with all their transitions"
            )

    # -- what was found ----------------------------------------------------------------------------------------------

    @property
    def found(self) -> int:
        """Number of states."""
        return int(self.x.found)

    def words(self, state: int) -> list[int]:
        """The words of a state."""
        return [int(w) for w in self.x.words[self.x.begin[state] : self.x.begin[state + 1]]]

    def arcs(self) -> Arcs:
        """All arcs, those that differ in their factor only added up."""
        empty = [np.zeros(0, dtype=np.int64)] * 4
        parts = [np.concatenate(part) for part in zip(*self._chunks, strict=True)] if self._chunks else empty
        sources, targets, tells, counts = parts
        arcs = Arcs(
            sources, targets, tells >> f.SYMBOL_AT, (tells >> f.IMPULSE_AT) & ((1 << f.IMPULSE_BITS) - 1),
            tells & ((1 << f.FACTOR_BITS) - 1), counts,
        )  # fmt: skip
        return self._merged(arcs) if self.x.split else arcs

    def _merged(self, arcs: Arcs) -> Arcs:
        """Add up arcs of the same source, target, symbol and impulse whose factors differ."""
        order = np.lexsort((arcs.factors, arcs.impulses, arcs.symbols, arcs.targets, arcs.sources))
        s, t, y, i, k, c = (
            a[order] for a in (arcs.sources, arcs.targets, arcs.symbols, arcs.impulses, arcs.factors, arcs.counts)
        )
        fresh = np.ones(len(s), dtype=bool)
        fresh[1:] = (s[1:] != s[:-1]) | (t[1:] != t[:-1]) | (y[1:] != y[:-1]) | (i[1:] != i[:-1])
        first = np.nonzero(fresh)[0]
        size = np.diff(np.append(first, len(s)))
        factors, counts = k[first].copy(), c[first].copy()
        known: dict[bytes, int] = {}
        for g in np.nonzero(size > 1)[0]:
            pairs = np.stack((k[first[g] : first[g] + size[g]], c[first[g] : first[g] + size[g]]))
            key = pairs.tobytes()
            if key not in known:
                total = sum((self.tables.factors[a] * int(b) for a, b in pairs.T), Fraction(0))
                known[key] = self.tables.factor(total)
            factors[g], counts[g] = known[key], 1
        return Arcs(s[first], t[first], y[first], i[first], factors, counts)


def _array(values: list[int]) -> Any:
    return np.array(values or [0], dtype=np.int64)


def _grown(old: Any, size: int) -> Any:
    fresh = np.empty(size, dtype=np.int64)
    fresh[: len(old)] = old
    return fresh


def _capacity(cap: p.Folded) -> int:
    """The whole units of a pool: what is used is whole."""
    return 1 << 61 if cap.exact >= 1 << 61 else int(cap.exact // 1)
