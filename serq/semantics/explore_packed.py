"""From what the compiled explorer has found to a chain, and from its words to canonical states."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serq.codegen import Compiled
from serq.ir.chain import Chain
from serq.ir.packed import Lazy, LazyMapping, PackedRewards, PackedTransitions
from serq.semantics import frontier_state as f
from serq.semantics.canonical import Codec
from serq.semantics.describe import Describer
from serq.semantics.exploration import Exploration
from serq.semantics.explore_fast import Bounds, FastExploration, TooManySessionsError, TooManyStatesError
from serq.semantics.frontier_tables import NotCompiledError
from serq.semantics.growth import too_many_states
from serq.semantics.mapping import without
from serq.semantics.memory import memory_of_machine
from serq.semantics.records import DEAD, WAITING, Quotients, Record, State
from serq.semantics.rewards import shares_of


@dataclass
class _Session:
    """A session of a state that is read: its kind, and its ranks by list."""

    record: Record
    ranks: dict[int, int] = field(default_factory=dict)


class Reader:
    """Reads the states of an exploration as the reference explorer would have them."""

    def __init__(self, found: FastExploration, codec: Codec) -> None:
        self._found = found
        self._codec = codec
        self._pools = len(found.program.pools)
        self._entries_at = found.x.lists - self._pools

    def state(self, number: int, most: int | None = None) -> State:
        """The canonical state, or so many of its sessions."""
        sessions = self._sessions(number)
        return tuple(sorted(self._codec.code(self._ranked(session)) for session in sessions[:most]))

    def _sessions(self, number: int) -> list[_Session]:
        out: list[_Session] = []
        linked: dict[int, _Session] = {}
        size: dict[int, int] = {}
        for word in self._found.words(number):
            kind, count, link, again, at = take_apart(word)
            record = self._found.tables.kinds[kind]
            assert isinstance(record, Record)
            for _ in range(count):
                if again:
                    session = linked[link]
                else:
                    session = _Session(record)
                    out.append(session)
                    if link:
                        linked[link] = session
                if at >= 0:
                    session.ranks[at] = size[at] = size.get(at, -1) + 1
        return out

    def _ranked(self, session: _Session) -> Record:
        record, ranks = session.record, session.ranks
        entries = tuple(
            (pool, units, WAITING if rank == WAITING else ranks[self._entries_at + pool])
            for pool, units, rank in record.entries
        )
        place = record.place
        others = [rank for at, rank in ranks.items() if at < self._entries_at]
        if record.pc != DEAD and others:
            (rank,) = others
            at_queue = any(at >= self._entries_at - self._pools for at in ranks if at < self._entries_at)
            place = (place[0], rank, *place[2:]) if at_queue else (*place[:3], rank)
        return record._replace(entries=entries, place=place)


def take_apart(word: int) -> tuple[int, int, int, bool, int]:
    """Kind, count, link, whether the same session had a word before, list (-1: none) of a word."""
    return (
        word & ((1 << f.KIND_BITS) - 1),
        (word >> f.COUNT_AT) & ((1 << f.COUNT_BITS) - 1),
        (word >> f.LINK_AT) & ((1 << f.LINK_BITS) - 1),
        bool((word >> f.AGAIN_AT) & 1),
        (word >> f.LIST_AT) - 1,
    )


@dataclass(frozen=True)
class Parts:
    """The parts of a chain that live in arrays or are made when they are asked for."""

    states: Lazy[str]
    transitions: PackedTransitions
    rewards: PackedRewards
    labels: dict[str, frozenset[int]]
    lines: LazyMapping[tuple[int, ...]]


def compiled_chain(exploration: Exploration, code: Compiled | None = None) -> Chain:
    """The chain of a program, found by the compiled explorer.

    Raises NotCompiledError where it has to be found in another way, and what the reference explorer raises.
    """
    found = search(exploration, code)
    parts = _parts(found, exploration)
    events, mapping = exploration.events, exploration.mapping
    return Chain(
        name=exploration.program.name,
        states=parts.states,
        initial=tuple(found.initial.items()),
        symbols=tuple(events.laws.symbols),
        transitions=parts.transitions,
        state_rewards=parts.rewards,
        labels=parts.labels,
        ratios=without(mapping.ratios, events.impulses.broken),
        lumped=exploration.lumped(),
        truncated=exploration.truncated(),
        approximated=exploration.approximated(),
        lines=parts.lines,
    )


def read_states(exploration: Exploration) -> tuple[Chain, list[State]]:
    """The chain with its canonical states, one by one: for chains of thousands. Raises as `compiled_chain` does."""
    chain = compiled_chain(exploration)
    assert exploration.searching is not None
    reader = Reader(exploration.searching, exploration.events.codec)
    return chain, [reader.state(i) for i in range(chain.size)]


def search(exploration: Exploration, code: Compiled | None = None) -> FastExploration:
    """Every state of a program, found by the compiled explorer; raises as `compiled_chain` does."""
    options = exploration.options
    if options.quotients != Quotients():
        raise NotCompiledError("not every quotient is taken")
    if exploration.mapping.gauges:
        raise NotCompiledError("it has gauges")
    population = options.population if exploration.open is not None else None
    memory = memory_of_machine() // 4 if options.memory is None else options.memory
    bounds = Bounds(options.most_compiled, population, memory)
    if exploration.searching is None:
        sliced = exploration.control.sliced
        exploration.searching = FastExploration(exploration.events, sliced, bounds, options.progress, code)
    found = exploration.searching
    codec = exploration.events.codec
    try:
        found.run()
    except TooManyStatesError:
        states = _looked_at(Reader(found, codec), found.found)
        raise too_many_states(exploration.program, codec, states, options.most_compiled, found.found) from None
    except TooManySessionsError:
        assert exploration.open is not None
        raise exploration.grows(exploration.open) from None
    return found


_LOOKED_AT = 50_000
"""Sessions that are looked at to say what grows."""


def _looked_at(reader: Reader, found: int) -> list[State]:
    """The states found first and last; some may lack sessions."""
    half = found // 2
    return [
        *_read(reader, reversed(range(half, found)), _LOOKED_AT // 2),
        *_read(reader, range(half), _LOOKED_AT // 2),
    ]


def _read(reader: Reader, numbers: Iterable[int], left: int) -> Iterator[State]:
    """States with so many sessions in all."""
    for number in numbers:
        if left <= 0:
            return
        state = reader.state(number, left)
        left -= 1 + len(state)
        yield state


def _parts(found: FastExploration, exploration: Exploration) -> Parts:
    """The parts of the chain that was found."""
    codec, regions, symbols = exploration.events.codec, exploration.mapping.regions, exploration.events.laws.symbols
    reader = Reader(found, codec)
    program = found.program
    describer = Describer(program, codec, found.alone.laws)
    size, tables = found.found, found.tables
    arcs = found.arcs()
    transitions = PackedTransitions(size, arcs, symbols, tables.impulses, tables.factors)
    begin, kinds, counts = _words(found)
    records = [kind if isinstance(kind, Record) else _NOBODY for kind in tables.kinds]
    shares = shares_of(program, records, regions)
    derived = {f"stage.{s.name}.nonempty": f"stage.{s.name}.number" for s in program.stages}
    rewards = PackedRewards(begin, kinds, counts, shares, derived)
    stopped = np.nonzero(np.bincount(arcs.sources, minlength=size) == 0)[0].tolist()
    ended = frozenset(i for i in stopped if all(codec.records[code].pc == DEAD for code in reader.state(i)))
    lines = Lazy(size, lambda i: describer.lines(reader.state(i)))
    return Parts(
        Lazy(size, lambda i: describer.state(reader.state(i))), transitions, rewards,
        {"ended": ended, "deadlock": frozenset(stopped) - ended}, LazyMapping(lines),
    )  # fmt: skip


_NOBODY = Record(DEAD, (), (), (), ())


def _words(found: FastExploration) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Where the words of each state begin, and of every word kind and count (0 where the session had one before)."""
    x = found.x
    begin = np.asarray(x.begin)[: found.found + 1].copy()
    words = np.asarray(x.words)[: x.words_end]
    kinds = (words & ((1 << f.KIND_BITS) - 1)).astype(np.int32)
    counts = ((words >> f.COUNT_AT) & ((1 << f.COUNT_BITS) - 1)).astype(np.int32)
    counts[((words >> f.AGAIN_AT) & 1) == 1] = 0
    return begin, kinds, counts
