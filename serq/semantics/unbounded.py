"""Open programs without a limit whose states repeat, level by level, as a queue grows.

The program is explored with a limit far enough up. One kind of session must be the only one of which there come to be
more and more: those that wait in one line, or share one server. The *level* is their number, the *phase* all the rest.
From some level on, states and transitions must be the same up to the level. That they go on being the same is known
because the program reads no number of jobs anywhere: a line is looked at from its head only.
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p
from serq.ir.chain import Chain, Transition
from serq.semantics.control import control_of
from serq.semantics.exploration import Exploration, ExploreOptions
from serq.semantics.fragment import unlimited_arrivals, violations
from serq.semantics.fragment_errors import OpenWithoutLimit
from serq.semantics.matrix_geometric import Blocks
from serq.semantics.records import WAITING, Record
from serq.semantics.steady import recurrent_class
from serq.semantics.timing import has_clocks

Phase = Hashable

Profiles = dict[int, dict[Phase, dict[tuple[Phase, int, int, object], Fraction]]]
"""By level and phase the coefficients of transitions, by phase and levels up that they lead to, symbol and impulses."""

_LIMITS = (8, 16, 32, 64, 128, 256)
_LARGEST = 1_000
"""States up to which levels are looked for."""
_REPEATED = 4
"""Levels that must be alike before they are taken to repeat."""


class NoLevelsError(Exception):
    """The program is no queue of one level; the message says why."""


def is_unlimited(program: p.Program, *, fixed_work: bool = False) -> bool:
    """Whether all that keeps the program from being a finite chain is that nobody is turned away.

    `fixed_work`: phases are to stand for fixed amounts of work.
    """
    if unlimited_arrivals(program) is None:
        return False
    found = violations(program, fixed_work=fixed_work)
    return bool(found) and all(isinstance(d, OpenWithoutLimit) for d in found)


@dataclass(frozen=True)
class Levels:
    """An explored front of the chain with its levels.

    `place[phase][level]` is the number of a recurrent state. From `first` on phases and rates repeat; up to `top` the
    limit of the exploration changes nothing.
    """

    chain: Chain
    place: dict[Phase, dict[int, int]]
    phases: tuple[Phase, ...]
    first: int
    top: int

    def boundary(self) -> list[int]:
        """The states below the first level that repeats."""
        return sorted(i for levels in self.place.values() for level, i in levels.items() if level < self.first)

    @property
    def highest(self) -> int:
        """The highest level that was explored, partly beyond the reach of what repeats."""
        return max(level for levels in self.place.values() for level in levels)

    def states(self, level: int) -> list[int]:
        """The states of a level that repeats, by phase."""
        return [self.place[phase][level] for phase in self.phases]

    def blocks(self) -> Blocks:
        """The rates of the levels that repeat."""
        here = {self.place[phase][self.first + 1]: i for i, phase in enumerate(self.phases)}
        above, below = (
            {self.place[phase][level]: i for i, phase in enumerate(self.phases)}
            for level in (self.first + 2, self.first)
        )
        n = len(self.phases)
        up, local, down = ([[Fraction(0)] * n for _ in range(n)] for _ in range(3))
        for t in self.chain.transitions:
            i = here.get(t.source)
            if i is None or t.source == t.target:
                continue
            for table, places in ((up, above), (local, here), (down, below)):
                if t.target in places:
                    table[i][places[t.target]] += t.rate
        return Blocks(up, local, down)


def levels_of(program: p.Program, options: ExploreOptions) -> Levels:
    """The levels of a program for which `is_unlimited` holds. NoLevelsError says why there are none."""
    why = _reads_numbers(program)
    if why:
        raise NoLevelsError(why)
    reason = NoLevelsError("no levels were found")
    for limit in _LIMITS:
        exploration = Exploration(program, replace(options, limit=limit, states=_LARGEST + 1, explorer="reference"))
        if not exploration.run(_LARGEST):
            break
        try:
            return _Search(exploration, limit).levels()
        except NoLevelsError as found:
            reason = found
    raise reason


def _reads_numbers(program: p.Program) -> str:
    """Why no depth of the queue is known to be like the one before it; empty where nothing looks at it."""
    if has_clocks(control_of(program)):
        return "it runs in slots or is semi-Markov; levels are looked for in continuous time only"
    for x in _expressions(program):
        for part in e.walk(x):
            if isinstance(part, e.StageState) or (isinstance(part, e.PoolState) and part.fact != "cachedin"):
                return (
                    f"line {part.span.line}: the program reads how many jobs there are, which may matter at any depth"
                )
    for stage in program.stages:
        if isinstance(stage.kind, p.ProcessorSharing) and any(
            isinstance(x, e.Context) for x in e.walk(stage.kind.rate)
        ):
            return f"the rate of stage {stage.name} depends on the number of jobs there"
    return ""


def _expressions(program: p.Program) -> Iterator[e.Expr]:
    for step in program.code:
        yield from flow.expressions(step)
    for statement in (*program.init, *program.turn):
        yield statement.expr
    for pool in program.pools:
        yield from (*pool.evict, *pool.queue, *pool.victims)


class _Search:
    """Levels in what was explored up to a limit."""

    def __init__(self, exploration: Exploration, limit: int) -> None:
        self.chain = exploration.chain()
        self.limit = limit
        records = exploration.events.codec.records
        kinds = [_kind(exploration.program, record) for record in records]
        self.contents = [Counter(kinds[code] for code in state) for state in exploration.states]
        self.present = [int(x) for x in self.chain.state_rewards["sessions.number"]]
        self.names = {
            kinds[code]: exploration.program.code[r.pc].span.line for code, r in enumerate(records) if r.pc >= 0
        }

    def levels(self) -> Levels:
        grows = self._growing()
        place: dict[Phase, dict[int, int]] = {}
        where: dict[int, tuple[Phase, int]] = {}
        for i in recurrent_class(self.chain):
            level = self.contents[i][grows]
            phase = frozenset((kind, n) for kind, n in self.contents[i].items() if kind != grows)
            if level in place.setdefault(phase, {}):
                raise NoLevelsError("in the line whose length grows, sessions of several kinds stand in many orders")
            place[phase][level] = i
            where[i] = phase, level
        return self._repeating(place, where)

    def _growing(self) -> Record:
        """The one kind of session of which there are more, the higher the limit is."""
        most: Counter[Record] = Counter()
        most_below: Counter[Record] = Counter()
        for content, present in zip(self.contents, self.present, strict=True):
            most |= content
            if present <= self.limit // 2:
                most_below |= content
        growing = [kind for kind, n in most.items() if n > most_below[kind]]
        if len(growing) != 1:
            lines = sorted({self.names[kind] for kind in growing if kind in self.names})
            many = f"{len(growing)} kinds of sessions pile up (lines {', '.join(map(str, lines))})"
            raise NoLevelsError(f"{many}, and a matrix-geometric solution has a single level")
        return growing[0]

    def _repeating(self, place: dict[Phase, dict[int, int]], where: dict[int, tuple[Phase, int]]) -> Levels:
        """The highest levels that no limit touches, as far down as they are alike."""
        cut = min(where[i][1] for i in where if self.present[i] == self.limit)
        top = cut - 1
        profiles = self._profiles(where, top)
        first = top
        while first > 0 and profiles[first - 1] == profiles[top]:
            first -= 1
        if top - first < _REPEATED:
            raise NoLevelsError("its levels are not alike: rates or phases go on changing as the queue grows")
        jumps = {dm for arcs in profiles[top].values() for (_, dm, _, _) in arcs}
        if jumps - {-1, 0, 1}:
            raise NoLevelsError("several sessions of the line may come or go at once")
        return Levels(self.chain, place, tuple(profiles[top]), first, top)

    def _profiles(self, where: dict[int, tuple[Phase, int]], top: int) -> Profiles:
        out: Profiles = {m: {} for m in range(top + 1)}
        for phase, level in where.values():
            if level <= top:
                out[level][phase] = {}
        for t in self.chain.transitions:
            self._add(out, where, t)
        return out

    @staticmethod
    def _add(out: Profiles, where: dict[int, tuple[Phase, int]], t: Transition) -> None:
        if t.source not in where:
            return
        phase, level = where[t.source]
        if level in out:
            target, above = where[t.target]
            key = target, above - level, t.symbol, t.impulses
            arcs = out[level][phase]
            arcs[key] = arcs.get(key, Fraction(0)) + t.coefficient


def _kind(program: p.Program, record: Record) -> Record:
    """A record without its rank in a line."""
    if record.pc < 0:
        return record
    place = record.place
    match program.code[record.pc]:
        case p.Run() if place[2] == WAITING:
            return record._replace(place=place[:3])
        case p.Hold():
            return record._replace(place=(place[0], *place[2:]))
    return record
