"""Where sessions are counted: the counters and first-come-first-served words that stand for all sessions of a program.

Jobs in service and jobs at a delay or a shared stage have no order, so that a number per (place, phase) is enough. Jobs
waiting at a fifo stage, and claims waiting for a pool, have one: with a single class their number is enough, with
several the word of their classes is kept as one number in base b, the oldest in the lowest digit.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from serq.exporters.automaton import Automaton
from serq.exporters.memory import Memory
from serq.exporters.names import NameMap
from serq.exporters.partial import Partial, complement, inverse, number, times
from serq.exporters.passages import Place, Rest
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
class Line:
    """Who waits, the oldest first: one counter for all classes, or one for each where their memory differs; and the
    word of their classes where there are several.
    """

    key: str
    """What tells it from all other lines."""
    classes: tuple[Rest, ...]
    counts: tuple[str, ...]
    word: str | None = None

    @property
    def base(self) -> int:
        """Number of classes, the base of the word."""
        return len(self.classes)

    def length(self) -> Piece:
        """The text of the number that waits."""
        return total([Piece(name) for name in self.counts])

    def counter(self, rest: Rest) -> str:
        """The counter of a class."""
        return self.counts[self.classes.index(rest) if len(self.counts) > 1 else 0]


@dataclass(frozen=True)
class Station:
    """A stage that sessions visit. A `line` exists on a fifo stage with several classes or phases."""

    stage: int
    name: str
    kind: p.Fifo | p.ProcessorSharing | p.Delay
    slots: tuple[Slot, ...]
    line: Line | None = None
    speed: str | None = None
    """On a shared stage: the formula of its total speed."""

    def in_service(self) -> Piece:
        """The text of the number of jobs whose counters are in service (all jobs when there is no line)."""
        return total([Piece(slot.variable) for slot in self.slots])

    def present(self) -> Piece:
        """The text of the number of jobs present."""
        return total([Piece(name) for name in self.variables()])

    def variables(self) -> list[str]:
        """All counters of the stage."""
        return [slot.variable for slot in self.slots] + list(self.line.counts if self.line else ())


@dataclass
class Layout:
    """All stations, the queues of the pools, and the phases of each place."""

    stations: list[Station] = field(default_factory=list)
    phases: dict[Place, tuple[Phase, ...]] = field(default_factory=dict)
    station_of: dict[int, Station] = field(default_factory=dict)
    queues: dict[int, Line] = field(default_factory=dict)
    """By pool, of all that are ever claimed; without a class where nobody ever has to wait."""
    memory_of: dict[str, Memory] = field(default_factory=dict)
    """What the sessions of a counter hold and have cached, each of them."""
    dropped: str | None = None
    """The counter that is written as what is left of the population."""

    def slots_of(self, place: Place) -> tuple[Slot, ...]:
        """The counters of a place, by phase; none where it is not laid out."""
        station = self.station_of.get(place.stage)
        return () if station is None else tuple(s for s in station.slots if s.place == place)

    def lines(self) -> Iterator[Line]:
        """Everywhere where an order is kept."""
        yield from (station.line for station in self.stations if station.line)
        yield from self.queues.values()

    def variables(self) -> list[str]:
        """All counters of sessions (not the words)."""
        at_stages = [name for station in self.stations for name in station.variables()]
        return at_stages + [name for line in self.queues.values() for name in line.counts]

    def waiting(self) -> set[str]:
        """The counters of sessions in queues of pools."""
        return {name for line in self.queues.values() for name in line.counts}

    def present(self) -> Piece:
        """The text of the number of sessions present."""
        return total([Piece(name) for name in self.variables()])


def layout(automaton: Automaton, names: NameMap, reached: Container[Rest] | None = None) -> Layout:
    """The counters of the automaton's places and claims (of those that are `reached`), named after stages and pools."""
    out = Layout()
    for place in automaton.places:
        out.phases[place] = phases(place.work, automaton.partial)
    program = automaton.program
    for index, stage in enumerate(program.stages):
        places = tuple(x for x in automaton.places if x.stage == index and (reached is None or x in reached))
        if places:
            station = _station(program, index, stage, places, out.phases, names)
            out.stations.append(station)
            out.station_of[index] = station
    for pool, about in enumerate(program.pools):
        claims = tuple(c for c in automaton.claims if c.pool == pool)
        if claims:
            waiting = tuple(c for c in claims if reached is None or c in reached)
            out.queues[pool] = _line(program, "pool", about.name, waiting, names)
    for station in out.stations:
        out.memory_of |= {slot.variable: slot.place.memory for slot in station.slots}
    for line in out.lines():
        out.memory_of |= {line.counter(rest): rest.memory for rest in line.classes}
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
    for place in places:
        line = program.code[place.pc].span.line
        for phase in range(len(of[place])):
            text = f"n.{stage.name}{_mark(place, places)}"
            text += f".phase{phase + 1}" if len(of[place]) > 1 else ""
            slots.append(Slot(place, phase, names.identifier(text, "variable", (line,)), simple))
    if simple:
        shared = isinstance(kind, p.ProcessorSharing)
        speed = names.identifier(f"speed.{stage.name}", "formula", (stage.span.line,)) if shared else None
        return Station(index, stage.name, kind, tuple(slots), speed=speed)
    return Station(index, stage.name, kind, tuple(slots), _line(program, "stage", stage.name, places, names))


def _mark(rest: Rest, among: tuple[Rest, ...]) -> str:
    """What tells a class from the others of its stage or queue: `.cached`, and a number where there are several."""
    caching = bool(rest.memory.entries)
    mates = [other for other in among if bool(other.memory.entries) == caching]
    return (".cached" if caching else "") + (f".{mates.index(rest) + 1}" if len(mates) > 1 else "")


def _line(program: p.Program, kind: str, name: str, classes: tuple[Rest, ...], names: NameMap) -> Line:
    if not classes:
        return Line(f"{kind}.{name}", (), ())
    places = [program.code[rest.pc].span.line for rest in classes]
    if len({rest.memory for rest in classes}) == 1:
        counts = [names.identifier(f"q.{name}", "variable", places)]
    else:
        marks = [f"q.{name}{_mark(rest, classes)}" for rest in classes]
        counts = [names.identifier(mark, "variable", (at,)) for mark, at in zip(marks, places, strict=True)]
    word = names.identifier(f"x.{name}", "variable", places) if len(classes) > 1 else None
    return Line(f"{kind}.{name}", classes, tuple(counts), word)


def _dropped(out: Layout) -> str | None:
    """The counter of a place without memory, at a delay if there is one, alone there or but for those with something
    cached: it need not be a variable.
    """
    for kind in (p.Delay, p.ProcessorSharing):
        for station in out.stations:
            plain = [slot for slot in station.slots if slot.place.memory.empty]
            others = [slot for slot in station.slots if slot.place.memory.scopes]
            if isinstance(station.kind, kind) and len(plain) == 1 and not others and len(out.variables()) > 1:
                return plain[0].variable
    return None


def irrational_branches(program: p.Program, partial: Partial) -> list[str]:
    """What the text says of hyperexponential draws whose branches have irrational probabilities."""
    draws = [d for step in program.code if isinstance(step, p.Run) for d in e.draws(step.work) if d.law == "h2"]
    values = dict.fromkeys(partial.number(d.args[1]) for d in draws)
    what = "have irrational probabilities: rationals next to them are here."
    return [f"With cv2 = {x} the branches of ~h2 {what}" for x in values if h2_probability(x)[1]]


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
