"""What can happen to the counters: every transition as guards, a rate, updates, and what it passes on its way.

A transition is a completion of a phase of work at a station, or an arrival. It takes one job out of its place, lets the
next waiting job begin, carries the session along a passage of the automaton, and puts it where the passage leads.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from serq.exporters.automaton import Automaton
from serq.exporters.layout import Layout, Slot, Station
from serq.exporters.partial import number, times
from serq.exporters.passages import Passage, Place, Seen
from serq.exporters.text import ATOM, NOT, PRODUCT, SUM, NoTextError, Piece, Printer, multiply, shifted
from serq.ir import expr as e
from serq.ir import program as p


@dataclass(frozen=True)
class Change:
    """Updates of the counters: additions, and what happens to fifo words (pop comes before push)."""

    add: tuple[tuple[str, int], ...] = ()
    pop: Station | None = None
    push: tuple[tuple[Station, int], ...] = ()

    def plus(self, variable: str, amount: int) -> "Change":
        """The change with that much more added to a counter."""
        sums = dict(self.add)
        sums[variable] = sums.get(variable, 0) + amount
        return replace(self, add=tuple((v, a) for v, a in sums.items() if a))

    def amount(self, variable: str) -> int:
        """How much is added to a counter."""
        return dict(self.add).get(variable, 0)


@dataclass(frozen=True)
class Move:
    """One transition: `guards` as texts, `rate` as text, what it changes and what it passes.

    `printer` writes observables as they are while the session is on its way (its old stage has let it go).
    """

    guards: tuple[str, ...]
    rate: Piece
    change: Change
    seen: tuple[Seen, ...]
    printer: Printer
    completes: int | None = None
    """The stage that a job leaves, its work done."""


@dataclass(frozen=True)
class _Way:
    """A part of a move: a condition, a probability, a change."""

    guards: tuple[str, ...] = ()
    probability: e.Expr = field(default_factory=lambda: number(1))
    change: Change = field(default_factory=Change)
    promoted: bool | None = None
    """On leaving a fifo stage with a word: whether a waiting job took the server."""


class Moves:
    """The moves of an automaton over a layout."""

    def __init__(self, automaton: Automaton, layout: Layout, printer: Printer) -> None:
        self.automaton = automaton
        self.layout = layout
        self.printer = printer

    def completions(self) -> Iterator[Move]:
        """Every completion of a phase, station by station."""
        for station in self.layout.stations:
            for slot in station.slots:
                phase = self.layout.phases[slot.place][slot.phase]
                rate = multiply(self.speed(station, slot), self.printer.number(phase.rate))
                if phase.after is None:
                    yield from self._departures(station, slot, rate)
                else:
                    following = self.layout.slots_of(slot.place)[phase.after]
                    change = Change().plus(slot.variable, -1).plus(following.variable, 1)
                    yield Move((f"{slot.variable} > 0",), rate, change, (), self.printer)

    def arrivals(self, rate: Piece, room: str, limited: bool) -> Iterator[Move]:
        """Every way in which a new session can begin. `limited`: without room it is lost before it does anything;
        otherwise one that leaves at once needs none.
        """
        for passage in self.automaton.start:
            guards = (room,) if limited or passage.target is not None else ()
            yield from self._carried(passage, _Way(guards), None, rate, self.printer)

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

    def _departures(self, station: Station, slot: Slot, rate: Piece) -> Iterator[Move]:
        printer = leaving(self.printer, self.layout, station)
        for way in self._leave(station, slot):
            for passage in self.automaton.after[slot.place]:
                yield from self._carried(passage, way, station, rate, printer)

    def _leave(self, station: Station, slot: Slot) -> Iterator[_Way]:
        gone = Change().plus(slot.variable, -1)
        guard = f"{slot.variable} > 0"
        if station.waiting is None:
            yield _Way((guard,), change=gone)
            return
        yield _Way((guard, f"{station.waiting} = 0"), change=gone, promoted=False)
        for code, place in enumerate(station.places):
            head = (f"mod({station.word}, {station.base}) = {code}",) if station.word else ()
            for way in self._begin(place, gone.plus(station.waiting, -1)):
                change = replace(way.change, pop=station if station.word else None)
                guards = (guard, f"{station.waiting} > 0", *head)
                yield _Way(guards, way.probability, change, promoted=True)

    def _begin(self, place: Place, change: Change) -> Iterator[_Way]:
        """The ways to begin the work of a place."""
        for phase, slot in zip(self.layout.phases[place], self.layout.slots_of(place), strict=True):
            if phase.start != number(0):
                yield _Way(probability=phase.start, change=change.plus(slot.variable, 1))

    def _carried(
        self, passage: Passage, way: _Way, left: Station | None, rate: Piece, printer: Printer
    ) -> Iterator[Move]:
        tests = tuple(printer.test(g).at(NOT) for g in passage.guards)
        for entry in self._enter(passage.target, way, left):
            probability = times(times(passage.probability, way.probability), entry.probability)
            guards = (*way.guards, *tests, *entry.guards)
            share = self.printer.number(probability)
            stage = left.stage if left else None
            yield Move(_unique(guards), multiply(rate, share), entry.change, passage.seen, printer, stage)

    def _enter(self, target: Place | None, way: _Way, left: Station | None) -> Iterator[_Way]:
        """The ways to arrive at a place, the change so far included."""
        if target is None:
            yield _Way(change=way.change)
            return
        station = self.layout.station_of[target.stage]
        if station.waiting is None:
            yield from self._begin(target, way.change)
            return
        pushed = replace(
            way.change.plus(station.waiting, 1),
            push=((station, station.places.index(target)),) if station.word else (),
        )
        if left is station:
            # The job has just left a server of this stage: it is free again unless a waiting job took it.
            yield from [_Way(change=pushed)] if way.promoted else self._begin(target, way.change)
            return
        assert isinstance(station.kind, p.Fifo)
        servers = self.printer.number(station.kind.servers.expr).at(SUM)
        busy = station.in_service().at(SUM)
        for begun in self._begin(target, way.change):
            yield replace(begun, guards=(f"{busy} < {servers}",))
        yield _Way((f"{busy} >= {servers}",), change=pushed)


def leaving(printer: Printer, layout: Layout, station: Station) -> Printer:
    """The printer for a session that has just left a station: it is no longer counted there."""

    def state(node: e.StageState | e.Context) -> Piece:
        return observable(node, layout, printer, station)

    return Printer(printer.names, state)


def observable(node: e.StageState | e.Context, layout: Layout, printer: Printer, left: Station | None) -> Piece:
    """The text of an observable of a stage, one job fewer at the station that the session has just left."""
    if isinstance(node, e.Context):
        raise NoTextError(f"the context variable {node.name}")
    if node.fact not in ("queue", "busy"):
        raise NoTextError(f"{node.fact}({node.stage.name})")
    station = layout.station_of.get(node.stage.base)
    if station is None:
        return Piece("0")
    present = shifted(station.present(), -1 if station is left else 0)
    if not isinstance(station.kind, p.Fifo):
        return Piece("0") if node.fact == "queue" else present
    servers = printer.number(station.kind.servers.expr)
    if node.fact == "queue":
        return Piece(f"max({present.at(SUM)} - {servers.at(PRODUCT)}, 0)")
    return Piece(f"min({present}, {servers})")


def _unique(guards: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(g for g in guards if g != "true"))
