"""The counters in the middle of an instant: what has been added to them, what is known of them, who is on the way.

Everything is relative to the state before the instant, because that is what guards and updates are written in.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from serq.exporters.facts import Bound, ContradictionError, Facts
from serq.exporters.layout import Line, Station
from serq.exporters.memory import NOTHING, Memory
from serq.exporters.partial import number, times
from serq.exporters.passages import Passage, Rest, Seen
from serq.exporters.text import Printer
from serq.ir import expr as e


@dataclass(frozen=True, slots=True)
class Passing:
    """A session on its way: the passages that it may take, and its memory."""

    passages: tuple[Passage, ...]
    memory: Memory = NOTHING


@dataclass(frozen=True, slots=True)
class Passed:
    """Something that was passed, and the printer for its value: the observables as they were then."""

    seen: Seen
    printer: Printer


@dataclass(frozen=True, slots=True)
class Queue:
    """A line now: so many of the oldest are gone from what it was, and these have joined."""

    popped: int = 0
    joined: tuple[Rest, ...] = ()

    @property
    def more(self) -> int:
        """By how much it is longer than it was."""
        return len(self.joined) - self.popped


@dataclass
class Situation:
    """One way in which an instant may go on. `ready` are the sessions that have still to run, the next one first."""

    facts: Facts
    guards: tuple[str, ...] = ()
    probability: e.Expr = field(default_factory=lambda: number(1))
    add: dict[str, int] = field(default_factory=dict)
    queues: dict[str, Queue] = field(default_factory=dict)
    """By the key of the line."""
    gone: tuple[tuple[Rest, Line], ...] = ()
    """Those who stood in a line before and have been taken out."""
    ready: tuple[Passing, ...] = ()
    seen: tuple[Passed, ...] = ()
    admitted: tuple[int, ...] = ()
    evicted: tuple[tuple[int, int], ...] = ()
    """Pools and units of the prefixes that were evicted."""
    serving: int = -1
    """The pool whose queue comes next; -1 while sessions run."""
    alternatives: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of a guard: it, and those of which one holds where it does not."""
    happened: bool = False
    """Whether anybody was admitted since all pools were tried."""

    def copy(self) -> "Situation":
        """A copy that may go another way."""
        return Situation(
            self.facts.copy(), self.guards, self.probability, dict(self.add), dict(self.queues), self.gone, self.ready,
            self.seen, self.admitted, self.evicted, self.serving, dict(self.alternatives), self.happened,
        )  # fmt: skip

    def shift(self, variable: str, by: int) -> None:
        """Add to a counter."""
        self.add[variable] = self.add.get(variable, 0) + by

    def require(self, guard: str) -> None:
        """Go on under that test only."""
        if guard != "true" and guard not in self.guards:
            self.guards = (*self.guards, guard)

    def decide(self, guard: str, alternatives: tuple[str, ...]) -> None:
        """Go on under one of several tests, of which one holds."""
        self.require(guard)
        self.alternatives[guard] = alternatives

    def chance(self, probability: e.Expr) -> None:
        """Go on with that probability only."""
        self.probability = times(self.probability, probability)

    def known(self, of: Hashable, threshold: Bound, yes: str, no: str) -> "list[tuple[bool, Situation]]":
        """Whether a quantity was at least so large: both ways where both are possible, with their guards."""
        low, high = self.facts.span(of)
        if low >= threshold:
            return [(True, self)]
        if high < threshold:
            return [(False, self)]
        ways = []
        for answer, guard in ((True, yes), (False, no)):
            way = self.copy()
            try:
                way.facts.learn(of, *((threshold,) if answer else (0, threshold - 1)))
                way.facts.conclude()
            except ContradictionError:
                continue
            ways.append((answer, way, guard))
        if len(ways) > 1:
            for _, way, guard in ways:
                way.decide(guard, (yes, no))
        return [(answer, way) for answer, way, _ in ways]

    # -- lines -----------------------------------------------------------------------------------------------------

    def queue(self, line: Line) -> Queue:
        """How a line stands."""
        return self.queues.get(line.key, Queue())

    def join(self, line: Line, rest: Rest) -> None:
        """Somebody joins a line."""
        now = self.queue(line)
        self.queues[line.key] = Queue(now.popped, (*now.joined, rest))

    def occupied(self, line: Line) -> "list[tuple[bool, Situation]]":
        """Whether somebody stands in the line."""
        now, length = self.queue(line), line.length()
        if now.joined:
            return [(True, self)]
        return self.longer(length.text, now.popped)

    def longer(self, length: str, than: int) -> "list[tuple[bool, Situation]]":
        """Whether a line was longer than that before this instant."""
        least = self.facts.span(length)[0]
        no = f"{length} = {than}" if least >= than else f"{length} <= {than}"
        return self.known(length, than + 1, f"{length} > {than}", no)

    def old_heads(self, line: Line, at: int) -> "list[tuple[Rest, Situation]]":
        """Who stood at a place of the line before this instant, in which somebody stood there."""
        if line.word is None:
            return [(line.classes[0], self)]
        read = self.facts.digits.get(line.word, {})
        if at in read:
            return [(line.classes[read[at]], self)]
        digits = line.word if at == 0 else f"floor({line.word} / {line.base**at})"
        out = []
        for code, rest in enumerate(line.classes):
            way = self.copy()
            try:
                way.facts.read(line, at, code)
                way.facts.conclude()
            except ContradictionError:
                continue
            every = tuple(f"mod({digits}, {line.base}) = {c}" for c in range(line.base))
            way.decide(every[code], every)
            out.append((rest, way))
        return out

    def pop(self, line: Line, rest: Rest) -> None:
        """The first of a line, who is known, leaves it."""
        now = self.queue(line)
        exhausted = self.facts.span(line.length().text)[1] <= now.popped
        if exhausted:
            self.queues[line.key] = Queue(now.popped, now.joined[1:])
        else:
            self.queues[line.key] = Queue(now.popped + 1, now.joined)
            self.gone = (*self.gone, (rest, line))

    # -- sums ------------------------------------------------------------------------------------------------------

    def joined(self) -> tuple[Rest, ...]:
        """Who stands in lines and did not before."""
        return tuple(rest for queue in self.queues.values() for rest in queue.joined)

    def more_present(self, station: Station) -> int:
        """How many more jobs are at a stage than before."""
        inside = sum(self.add.get(slot.variable, 0) for slot in station.slots)
        return inside + (self.queue(station.line).more if station.line else 0)

    def more_serving(self, station: Station) -> int:
        """How many more jobs of a stage are in the counters of those in service."""
        return sum(self.add.get(slot.variable, 0) for slot in station.slots)
