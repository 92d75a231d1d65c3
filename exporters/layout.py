"""Where sessions are counted: the counters and fifo words that stand for all sessions of a program.

Jobs in service and jobs at a delay or a shared stage have no order, so that a number per (place, phase) is enough. Jobs
waiting at a fifo stage have one: with a single class their number is enough, with several the word of their classes
is kept as one number in base b, the oldest job in the lowest digit.
"""

from dataclasses import dataclass, field

from serq.exporters.automaton import Automaton
from serq.exporters.names import NameMap
from serq.exporters.partial import Partial, complement, inverse, number, times
from serq.exporters.passages import Place
from serq.exporters.text import Piece, total
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.laws import h2_probability


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of an amount of work: the probability to start there, its rate, the phase that follows."""

    start: e.Expr
    rate: e.Expr
    after: int | None


@dataclass(frozen=True, slots=True)
class Slot:
    """A counter: sessions at a place in a phase of their work. `simple`: the waiting ones are counted along."""

    place: Place
    phase: int
    variable: str
    simple: bool


@dataclass(frozen=True)
class Station:
    """A stage that sessions visit. `word` and `waiting` exist on a fifo stage with several classes or phases."""

    stage: int
    name: str
    kind: p.Fifo | p.ProcessorSharing | p.Delay
    places: tuple[Place, ...]
    slots: tuple[Slot, ...]
    waiting: str | None = None
    word: str | None = None
    speed: str | None = None
    """On a shared stage: the formula of its total speed."""

    @property
    def base(self) -> int:
        """Number of classes, the base of the word."""
        return len(self.places)

    def in_service(self) -> Piece:
        """The text of the number of jobs whose counters are in service (all jobs when there is no `waiting`)."""
        return total([Piece(slot.variable) for slot in self.slots])

    def present(self) -> Piece:
        """The text of the number of jobs present."""
        pieces = [Piece(slot.variable) for slot in self.slots]
        return total([*pieces, Piece(self.waiting)] if self.waiting else pieces)


@dataclass
class Layout:
    """All stations, and the phases of each place."""

    stations: list[Station] = field(default_factory=list)
    phases: dict[Place, tuple[Phase, ...]] = field(default_factory=dict)
    station_of: dict[int, Station] = field(default_factory=dict)
    dropped: str | None = None
    """The counter that is written as what is left of the population."""

    def slots_of(self, place: Place) -> tuple[Slot, ...]:
        """The counters of a place, by phase."""
        return tuple(s for s in self.station_of[place.stage].slots if s.place == place)


def layout(automaton: Automaton, names: NameMap) -> Layout:
    """The counters of the automaton's places, named after the stages."""
    out = Layout()
    for place in automaton.places:
        out.phases[place] = phases(place.work, automaton.partial)
    program = automaton.program
    for index, stage in enumerate(program.stages):
        places = tuple(place for place in automaton.places if place.stage == index)
        if places:
            station = _station(program, index, stage, places, out.phases, names)
            out.stations.append(station)
            out.station_of[index] = station
    if isinstance(program.arrivals, p.Closed):
        out.dropped = _dropped(out)
    return out


def _station(
    program: p.Program,
    index: int,
    stage: p.Stage,
    places: tuple[Place, ...],
    of: dict[Place, tuple[Phase, ...]],
    names: NameMap,
) -> Station:
    kind = stage.kind
    assert not isinstance(kind, p.Step)
    several = len(places) > 1 or len(of[places[0]]) > 1
    simple = not (isinstance(kind, p.Fifo) and several)
    slots = []
    for c, place in enumerate(places):
        line = program.code[place.pc].span.line
        for phase in range(len(of[place])):
            text = f"n.{stage.name}" + (f".{c + 1}" if len(places) > 1 else "")
            text += f".phase{phase + 1}" if len(of[place]) > 1 else ""
            slots.append(Slot(place, phase, names.identifier(text, "variable", (line,)), simple))
    if simple:
        shared = isinstance(kind, p.ProcessorSharing)
        speed = names.identifier(f"speed.{stage.name}", "formula", (stage.span.line,)) if shared else None
        return Station(index, stage.name, kind, places, tuple(slots), speed=speed)
    lines = tuple(program.code[place.pc].span.line for place in places)
    waiting = names.identifier(f"q.{stage.name}", "variable", lines)
    word = names.identifier(f"x.{stage.name}", "variable", lines) if len(places) > 1 else None
    return Station(index, stage.name, kind, places, tuple(slots), waiting, word)


def _dropped(out: Layout) -> str | None:
    """The counter of a lone place, at a delay if there is one: it need not be a variable."""
    lone = [s for s in out.stations if len(s.slots) == 1]
    for kind in (p.Delay, p.ProcessorSharing):
        for station in lone:
            if isinstance(station.kind, kind) and len(out.stations) > 1:
                return station.slots[0].variable
    return None


def phases(work: e.Draw, partial: Partial) -> tuple[Phase, ...]:
    """The phases of an exponential, Erlang or hyperexponential draw, rates as expressions in the constants."""
    one = number(1)
    if work.law == "exp":
        return (Phase(one, inverse(work.args[0]), None),)
    if work.law == "erlang":
        count = int(partial.number(work.args[0]))
        rate = times(number(count), inverse(work.args[1]))
        return tuple(Phase(one if i == 0 else number(0), rate, i + 1 if i + 1 < count else None) for i in range(count))
    probability, _ = h2_probability(partial.number(work.args[1]))
    if probability == 1:
        return (Phase(one, inverse(work.args[0]), None),)
    heavy: e.Expr = e.Num(probability)
    light = complement(heavy)
    halves = ((q, times(times(number(2), q), inverse(work.args[0]))) for q in (heavy, light))
    return tuple(Phase(q, rate, None) for q, rate in halves)
