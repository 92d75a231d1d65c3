"""What can happen to the counters: every transition as guards, a rate, updates, and what it passes on its way.

A transition is a completion of a phase of work at a station, or an arrival. It takes one job out of its place, lets the
next waiting job begin, carries the session along a passage of the automaton, and puts it where the passage leads. Then
the pools admit who fits, and those that are admitted are carried along in turn (`serq.exporters.admissions`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from serq.exporters.admissions import Admissions, Way
from serq.exporters.automaton import Automaton
from serq.exporters.facts import ContradictionError, Facts
from serq.exporters.layout import Layout, Line, Slot, Station
from serq.exporters.observables import observing
from serq.exporters.partial import number
from serq.exporters.passages import Passage, Place, Rest
from serq.exporters.situation import Passed, Passing, Situation
from serq.exporters.stores import Store
from serq.exporters.text import ATOM, NOT, PRODUCT, SUM, Piece, Printer, multiply, shifted
from serq.ir import program as p


@dataclass(frozen=True)
class Move:
    """One transition: `guards` as texts, `rate` as text, the new values of variables, and what it passes."""

    guards: tuple[str, ...]
    rate: Piece
    updates: tuple[tuple[str, str], ...]
    seen: tuple[Passed, ...]
    completes: int | None = None
    """The stage that a job leaves, its work done."""
    admitted: tuple[int, ...] = ()
    """The pools from whose queues a hold is admitted."""
    evicted: tuple[tuple[int, int], ...] = ()
    """The pools in which a prefix is evicted, with its units."""
    immediate: bool = False
    """Whether it happens at once; then the rate is a probability."""
    alternatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of a guard: it, and those of which one holds where it does not."""


class Moves:
    """The moves of an automaton over a layout. `unplaced` collects where a session would come to rest that has no place
    in the layout: then the moves are not complete.
    """

    def __init__(
        self, automaton: Automaton, layout: Layout, stores: Mapping[int, Store], printer: Printer, *, one: bool = False
    ) -> None:
        """`one`: a transition admits one session at most, and `admitted_at_once` has the rest."""
        self.automaton = automaton
        self.layout = layout
        self.stores = stores
        self.printer = printer
        self.unplaced: set[Rest] = set()
        self.admissions = Admissions(automaton, layout, stores, self.unplaced, one=one)

    def completions(self) -> Iterator[Move]:
        """Every completion of a phase, station by station."""
        for station in self.layout.stations:
            for slot in station.slots:
                phase = self.layout.phases[slot.place][slot.phase]
                rate = multiply(self.speed(station, slot), self.printer.number(phase.rate))
                if phase.after is None:
                    yield from self._departures(station, slot, rate)
                else:
                    following = self.layout.slots_of(slot.place)[phase.after].variable
                    updates = ((slot.variable, f"{slot.variable} - 1"), (following, f"{following} + 1"))
                    yield Move((f"{slot.variable} > 0",), rate, updates, ())

    def arrivals(self, rate: Piece, room: str, limited: bool) -> Iterator[Move]:
        """Every way in which a new session can begin. `limited`: without room it is lost before it does anything;
        otherwise one that leaves at once needs none.
        """
        for passage in self.automaton.start:
            start = Situation(Facts(self.layout, self.stores))
            if limited or passage.target is not None:
                start.require(room)
            start.ready = (Passing((passage,)),)
            yield from self._moves(start, rate, None)

    def admitted_at_once(self) -> Iterator[Move]:
        """Every way in which the head of a queue can be admitted that a transition has left there."""
        for line in self.layout.queues.values():
            if not line.classes:
                continue
            start = Situation(Facts(self.layout, self.stores, at_rest=False))
            start.facts.learn(line.length().text, least=1)
            start.require(f"{line.length().at(SUM)} > 0")
            start.serving = 0
            moves = [replace(m, immediate=True) for m in self._moves(start, Piece("1"), None) if m.admitted]
            yield from refined(moves)

    def speed(self, station: Station, slot: Slot) -> Piece:
        """How much work the jobs of a counter are given per unit of time, together."""
        own = Piece(slot.variable)
        match station.kind:
            case p.Fifo(servers=servers) if slot.simple:
                count = self.printer.number(servers.expr)
                return Piece("1") if count.text == "1" else Piece(f"min({own}, {count})")
            case p.ProcessorSharing():
                return self._share(station, own)
            case _:
                return own

    def _share(self, station: Station, own: Piece) -> Piece:
        assert station.speed is not None
        if len(station.slots) == 1:
            return Piece(station.speed)
        return Piece(f"{station.speed} * {own} / {station.present().at(ATOM)}", PRODUCT)

    # -- one instant -----------------------------------------------------------------------------------------------

    def _departures(self, station: Station, slot: Slot, rate: Piece) -> Iterator[Move]:
        start = Situation(Facts(self.layout, self.stores))
        try:
            start.facts.learn(slot.variable, least=1)
            start.facts.conclude()
        except ContradictionError:
            return
        start.require(f"{slot.variable} > 0")
        start.shift(slot.variable, -1)
        passing = Passing(tuple(self.automaton.after[slot.place]), slot.place.memory)
        for way in self._promoted(start, station):
            way.ready = (passing,)
            yield from self._moves(way, rate, station.stage)

    def _promoted(self, start: Situation, station: Station) -> Iterator[Situation]:
        """The server that has become free takes the oldest waiting job, if there is one."""
        if station.line is None:
            yield start
            return
        for occupied, way in reversed(start.occupied(station.line)):
            if not occupied:
                yield way
                continue
            for place, headed in way.old_heads(station.line, 0):
                assert isinstance(place, Place)
                headed.pop(station.line, place)
                yield from self._begin(headed, place)

    def _begin(self, start: Situation, place: Place) -> Iterator[Situation]:
        """The ways to begin the work of a place."""
        slots = self.layout.slots_of(place)
        if not slots:
            self.unplaced.add(place)
            return
        for phase, slot in zip(self.layout.phases[place], slots, strict=True):
            if phase.start != number(0):
                way = start.copy()
                way.chance(phase.start)
                way.shift(slot.variable, 1)
                yield way

    def _moves(self, start: Situation, rate: Piece, completes: int | None) -> Iterator[Move]:
        todo = [start]
        while todo:
            now = todo.pop()
            if now.serving < 0 and now.ready:
                ways: list[Situation] | None = list(self._run(now))
            else:
                ways = self.admissions.step(now)
            if ways is None:
                yield from self._settled(now, rate, completes)
            else:
                todo += reversed(ways)

    def _run(self, now: Situation) -> Iterator[Situation]:
        """The first of the ready sessions goes on to where it rests."""
        printer = observing(self.printer, self.layout, self.stores, now.copy())
        passing = now.ready[0]
        for passage in passing.passages:
            way = now.copy()
            way.ready = now.ready[1:]
            for test in passage.guards:
                way.require(printer.test(test).at(NOT))
            way.chance(passage.probability)
            way.seen += tuple(Passed(seen, printer) for seen in passage.seen)
            yield from self._entered(way, passage)

    def _entered(self, way: Situation, passage: Passage) -> Iterator[Situation]:
        target = passage.target
        if target is None:
            yield way
            return
        if not isinstance(target, Place):
            way.join(self.layout.queues[target.pool], target)
            yield way
            return
        station = self.layout.station_of.get(target.stage)
        if station is None:
            self.unplaced.add(target)
        elif station.line is None:
            yield from self._begin(way, target)
        else:
            yield from self._queued(way, target, station, station.line)

    def _queued(self, way: Situation, target: Place, station: Station, line: Line) -> Iterator[Situation]:
        """A job joins a fifo stage: a server takes it, or it waits."""
        assert isinstance(station.kind, p.Fifo)
        servers = self.printer.number(station.kind.servers.expr).at(SUM)
        more = way.more_serving(station)
        busy = shifted(station.in_service(), more).at(SUM)
        idle = way.known(("idle", station.stage), 1 + more, f"{busy} < {servers}", f"{busy} >= {servers}")
        for free, now in idle:
            if free:
                yield from self._begin(now, target)
            else:
                now.join(line, target)
                yield now

    # -- the outcome -----------------------------------------------------------------------------------------------

    def _settled(self, now: Situation, rate: Piece, completes: int | None) -> Iterator[Move]:
        missing = [rest for line in self.layout.lines() for rest in now.queue(line).joined if rest not in line.classes]
        if missing:
            self.unplaced |= set(missing)
            return
        updates = tuple(self._updates(now))
        share = self.printer.number(now.probability)
        yield Move(
            now.guards, multiply(rate, share), updates, now.seen, completes, now.admitted, now.evicted,
            alternatives=now.alternatives,
        )  # fmt: skip

    def _updates(self, now: Situation) -> Iterator[tuple[str, str]]:
        sums = dict(now.add)
        for line in self.layout.lines():
            for rest in now.queue(line).joined:
                sums[line.counter(rest)] = sums.get(line.counter(rest), 0) + 1
        for rest, line in now.gone:
            sums[line.counter(rest)] = sums.get(line.counter(rest), 0) - 1
        for variable, amount in sums.items():
            if amount:
                yield variable, f"{variable} {'+' if amount > 0 else '-'} {abs(amount)}"
        for line in self.layout.lines():
            text = Way(now, line).word()
            if line.word and text != line.word:
                yield line.word, text


def refined(moves: Sequence[Move], under: tuple[str, ...] = ()) -> Iterator[Move]:
    """The moves under guards that are equal or exclude each other: rates of different commands add up, but of several
    distributions only one may apply.
    """
    for move in moves:
        for guard in move.guards:
            if guard not in under:
                for one in move.alternatives.get(guard, (guard,)):
                    others = set(move.alternatives.get(guard, ())) - {one}
                    yield from refined([m for m in moves if not others & set(m.guards)], (*under, one))
                return
    yield from (replace(move, guards=under) for move in moves)
