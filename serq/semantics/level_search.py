"""Looks for levels in the front of a chain: one number that grows, and from some level on everything else alike.

Whatever is alike in the front stays alike above it, for three reasons. Nothing reads how many sessions there are
(`serq.semantics.unbounded` sees to it). Those whose number grows hold and keep no part of a pool that may be full, as
it might be at a level that the front does not reach. And a line is looked at from its head only, where one is like
the other. So a transition from a level above the front is one from a level in it, moved up.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from serq.ir import program as p
from serq.ir.chain import Chain, Transition
from serq.semantics.matrix_geometric import Blocks
from serq.semantics.records import WAITING, Record, State
from serq.semantics.steady import recurrent_class

Phase = Hashable

Profiles = dict[int, dict[Phase, dict[tuple[Phase, int, int, object], Fraction]]]
"""By level and phase the coefficients of transitions, by phase and levels up that they lead to, symbol and impulses."""

_HIGHEST_STEP = 4
_REPEATED = 4
"""Levels that must be alike before they are taken to repeat."""


class NoLevelsError(Exception):
    """The program is no queue of one level; the message says why. `final`: no more of the chain would change that."""

    def __init__(self, why: str, *, final: bool = False) -> None:
        super().__init__(why)
        self.final = final


@dataclass(frozen=True)
class Levels:
    """An explored front of the chain with its levels: how many sessions there are of the kind that `grows`.

    `place[phase][level]` is the number of a recurrent state. From `first` on phases and rates repeat; up to `top` the
    limit of the exploration changes nothing. Where up to `step` sessions come or go at once, so many of them make a
    level, and the rest is a part of the phase.
    """

    chain: Chain
    grows: Record
    place: dict[Phase, dict[int, int]]
    phases: tuple[Phase, ...]
    first: int
    top: int
    step: int = 1

    def grouped(self, step: int) -> "Levels":
        """Levels of so many sessions from levels of one."""
        place: dict[Phase, dict[int, int]] = {}
        for phase, levels in self.place.items():
            for level, i in levels.items():
                place.setdefault((phase, level % step), {})[level // step] = i
        phases = tuple((phase, rest) for rest in range(step) for phase in self.phases)
        first, top = -(-self.first // step), (self.top + 1) // step - 1
        if top < first + 2:
            raise NoLevelsError(f"levels are as high as {step} sessions, and no three of them alike")
        return Levels(self.chain, self.grows, place, phases, first, top, step)

    def drift(self) -> tuple[Fraction, Fraction]:
        """The mean rates at which sessions come and go with an endless queue. LimitError as for `Blocks.drift`.

        A way up by d of `step` sessions leads to the next level from d of the `step` rests, which are equally likely.
        """
        above, below = self.blocks().drift()
        return above * self.step, below * self.step

    def boundary(self) -> list[int]:
        """The states below the first level that repeats."""
        return sorted(i for levels in self.place.values() for level, i in levels.items() if level < self.first)

    @property
    def text(self) -> str:
        """Their number of states, below and from the first that repeats on."""
        phases, below = len(self.phases), len(self.boundary())
        size = "" if self.step == 1 else f" of {self.step} sessions"
        return (
            f"{below} state{'s' * (below != 1)} below level {self.first}, from which on levels{size} repeat for ever, "
            f"with {phases} phase{'s' * (phases > 1)} each"
        )

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


@dataclass(frozen=True)
class Explored:
    """A chain as far as a limit of so many sessions lets it go, its states, and the records that they are made of."""

    program: p.Program
    chain: Chain
    states: Sequence[State]
    records: Sequence[Record]
    limit: int


class Search:
    """Levels in what was explored up to a limit."""

    def __init__(self, explored: Explored) -> None:
        self.chain = explored.chain
        self.limit = explored.limit
        self.program = explored.program
        kinds = [_kind(explored.program, record) for record in explored.records]
        self.contents = [Counter(kinds[code] for code in state) for state in explored.states]
        self.present = [int(x) for x in self.chain.state_rewards["sessions.number"]]

    def levels(self) -> Levels:
        """NoLevelsError where there are none, up to here at least."""
        grows = self._growing()
        place: dict[Phase, dict[int, int]] = {}
        where: dict[int, tuple[Phase, int]] = {}
        for i in recurrent_class(self.chain):
            level = self.contents[i][grows]
            phase = frozenset((kind, n) for kind, n in self.contents[i].items() if kind != grows)
            if level in place.setdefault(phase, {}):
                raise NoLevelsError(f"sessions of several kinds stand in many orders {_place(self.program, grows)}")
            place[phase][level] = i
            where[i] = phase, level
        return self._repeating(grows, place, where)

    def _growing(self) -> Record:
        """The one kind of session of which there are more, the higher the limit is."""
        most: Counter[Record] = Counter()
        most_below: Counter[Record] = Counter()
        for content, present in zip(self.contents, self.present, strict=True):
            most |= content
            if present <= self.limit - self.limit // 8:
                most_below |= content
        growing = [kind for kind, n in most.items() if n > most_below[kind]]
        endless = [kind for kind in growing if self._is_endless(kind)]
        places = _places(self.program, endless)
        if len(endless) > 1:
            raise NoLevelsError(f"{len(endless)} numbers grow without bound: {places}", final=True)
        if endless and self._is_at_delay(endless[0]):
            raise NoLevelsError(f"the number of {places} grows without bound, and with it their rate", final=True)
        if not endless or len(growing) > 1:
            bounded = [kind for kind in growing if kind not in endless]
            raise NoLevelsError(
                f"there come to be more and more {_places(self.program, bounded)}, until something is full"
            )
        return endless[0]

    def _is_endless(self, kind: Record) -> bool:
        """Whether nothing bounds the number of such sessions: no servers and no pool of which they have a part."""
        runs = kind.pc >= 0 and isinstance(self.program.code[kind.pc], p.Run)
        served = runs and isinstance(self.program.stages[kind.place[0]].kind, p.Fifo) and kind.place[2] != WAITING
        held = {pool for scope in kind.scopes for pool in scope[1::2]} | {pool for pool, *_ in kind.entries}
        return not served and not any(isfinite(self.program.pools[pool].cap.value) for pool in held)

    def _is_at_delay(self, kind: Record) -> bool:
        step = self.program.code[kind.pc]
        return isinstance(step, p.Run) and isinstance(self.program.stages[kind.place[0]].kind, p.Delay)

    def _repeating(
        self, grows: Record, place: dict[Phase, dict[int, int]], where: dict[int, tuple[Phase, int]]
    ) -> Levels:
        """The highest levels that no limit touches, as far down as they are alike."""
        cut = min(where[i][1] for i in where if self.present[i] == self.limit)
        top = cut - 1
        self._check_steps(grows, where, top)
        profiles = self._profiles(where, top)
        if not any(profiles.values()):
            raise NoLevelsError(f"in the long run the {_places(self.program, [grows])} never become fewer", final=True)
        first = top
        while first > 0 and profiles[first - 1] == profiles[top]:
            first -= 1
        if top - first < _REPEATED:
            raise NoLevelsError("its levels are not alike: rates or phases go on changing as the queue grows")
        found = Levels(self.chain, grows, place, tuple(profiles[top]), first, top)
        step = max(abs(dm) for arcs in profiles[top].values() for (_, dm, _, _) in arcs)
        return found if step == 1 else found.grouped(step)

    def _check_steps(self, grows: Record, where: dict[int, tuple[Phase, int]], top: int) -> None:
        """Raise NoLevelsError where in the upper half of the levels very many go at once: any number may, then."""
        upper = {i: level for i, (_, level) in where.items() if top // 2 <= level <= top}
        arcs = ((upper[t.source], where[t.target][1]) for t in self.chain.transitions if t.source in upper)
        if any(abs(after - before) > _HIGHEST_STEP for before, after in arcs):
            raise NoLevelsError(f"of the {_places(self.program, [grows])} any number may leave at once", final=True)

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


def _places(program: p.Program, kinds: Iterable[Record]) -> str:
    """The sessions of those kinds, by where they are."""
    found = sorted(Counter(_place(program, kind) for kind in kinds).items())
    texts = [f"{n} kinds of sessions {at}" if n > 1 else f"sessions {at}" for at, n in found]
    return " and ".join(", ".join(texts).rsplit(", ", 1))


def _place(program: p.Program, kind: Record) -> str:
    """Where a session of that kind is."""
    if kind.pc < 0:
        return "that ended and left something in a pool"
    step = program.code[kind.pc]
    match step:
        case p.Run():
            waiting = isinstance(program.stages[kind.place[0]].kind, p.Fifo) and kind.place[2] == WAITING
            where = f"{'waiting for' if waiting else 'at'} {program.stages[kind.place[0]].name}"
        case _:
            where = f"waiting for {program.pools[kind.place[0]].name}"
    return f"{where} (line {step.span.line})"
