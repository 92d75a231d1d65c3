"""The state in which an export starts: where the sessions of a closed or batch program are once all have begun."""

from collections.abc import Mapping
from fractions import Fraction

from serq.exporters.automaton import Automaton
from serq.exporters.layout import Layout, Station
from serq.exporters.partial import number
from serq.exporters.passages import Passage, Place
from serq.exporters.text import ATOM, PRODUCT, SUM, NoTextError, Piece, Printer, literal
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import NoScope, Rationals, compile_expr


def initial_values(automaton: Automaton, layout: Layout, printer: Printer, population: Piece) -> Mapping[str, Piece]:
    """Initial values by variable; what is missing starts at 0.

    Where the first step is random, all sessions take the first way: long-run values do not depend on it where all come
    to one place (`serq.exporters.gathering`). NoTextError for a batch, which drains from where it starts.
    """
    arrivals = automaton.program.arrivals
    if not isinstance(arrivals, p.Closed | p.Batch):
        return {}
    depends = _depends(automaton)
    if isinstance(arrivals, p.Batch) and not depends and len(automaton.start) > 1:
        raise NoTextError("a first step that is not random, since a batch drains from where it starts")
    if depends:
        return _OneByOne(automaton, layout).values()
    return _all_at(automaton.start[0], layout, printer, population)


def chosen_at_random(automaton: Automaton, layout: Layout) -> bool:
    """Whether a closed population begins at random places, and the export has chosen for each."""
    if not isinstance(automaton.program.arrivals, p.Closed):
        return False
    if not _depends(automaton):
        return len(automaton.start) > 1
    return _OneByOne(automaton, layout).chosen()


def _depends(automaton: Automaton) -> bool:
    """Whether the first step depends on where the other sessions are."""
    return any(passage.guards for passage in automaton.start)


def _all_at(first: Passage, layout: Layout, printer: Printer, population: Piece) -> Mapping[str, Piece]:
    place = first.target
    if not isinstance(place, Place):
        return {}
    counter = _first_counter(layout, place)
    station = layout.station_of[place.stage]
    if station.line is None:
        return {counter: population}
    assert isinstance(station.kind, p.Fifo)
    servers = printer.number(station.kind.servers.expr)
    waiting = Piece(f"max({population.at(SUM)} - {servers.at(PRODUCT)}, 0)")
    out = {counter: Piece(f"min({population}, {servers})"), station.line.counter(place): waiting}
    code = station.line.classes.index(place)
    if station.line.word and code:
        base = station.line.base
        ones = f"(pow({base}, {waiting}) - 1)"
        text = ones if base == 2 else f"{ones} / {base - 1}"
        out[station.line.word] = Piece(text if code == 1 else f"{code} * {Piece(ones).at(ATOM)} / {base - 1}", PRODUCT)
    return out


def _first_counter(layout: Layout, place: Place) -> str:
    begun = next(i for i, phase in enumerate(layout.phases[place]) if phase.start != number(0))
    return layout.slots_of(place)[begun].variable


class _OneByOne:
    """Sessions begin one after the other, each seeing where those before it are: the population must be fixed."""

    def __init__(self, automaton: Automaton, layout: Layout) -> None:
        self.automaton = automaton
        self.layout = layout
        self.count: dict[str, int] = {}
        self.constants = automaton.program.exact_constants()

    def values(self) -> Mapping[str, Piece]:
        """Initial values by variable."""
        self.chosen()
        return {variable: literal(Fraction(n)) for variable, n in self.count.items()}

    def chosen(self) -> bool:
        """Begin all sessions; whether one of them could have begun in another way."""
        chosen = False
        arrivals = self.automaton.program.arrivals
        assert isinstance(arrivals, p.Closed | p.Batch)
        folded = arrivals.population if isinstance(arrivals, p.Closed) else arrivals.size
        self.automaton.partial.number(folded.expr)
        for _ in range(p.whole(folded)):
            ways = [w for w in self.automaton.start if all(self._holds(g) for g in w.guards)]
            chosen = chosen or len(ways) > 1
            if isinstance(arrivals, p.Batch) and chosen:
                raise NoTextError("a first step that is not random, since a batch drains from where it starts")
            if ways and isinstance(ways[0].target, Place):
                self._enter(ways[0].target)
        return chosen

    def _holds(self, guard: e.Expr) -> bool:
        self.automaton.partial.shaping |= {n.name for n in e.walk(guard) if isinstance(n, e.Const)}
        return bool(compile_expr(guard, Rationals(), self.constants)(_Counts(self)) != 0)

    def _enter(self, place: Place) -> None:
        station = self.layout.station_of[place.stage]
        counter = _first_counter(self.layout, place)
        line = station.line
        if line is not None and self.servers(station) <= sum(self.count.get(s.variable, 0) for s in station.slots):
            length = sum(self.count.get(name, 0) for name in line.counts)
            if line.word:
                code = line.classes.index(place)
                self.count[line.word] = self.count.get(line.word, 0) + code * line.base**length
            counter = line.counter(place)
        self.count[counter] = self.count.get(counter, 0) + 1

    @staticmethod
    def servers(station: Station) -> int:
        """Number of servers of a fifo station."""
        assert isinstance(station.kind, p.Fifo)
        return p.whole(station.kind.servers)

    def present(self, station: Station) -> int:
        """Number of jobs at a station so far."""
        return sum(self.count.get(c, 0) for c in station.variables())


class _Counts(NoScope):
    """Observables of stages while sessions begin."""

    def __init__(self, begun: _OneByOne) -> None:
        self.begun = begun

    def stage_state(self, fact: e.StageFact, stage: int) -> Fraction:
        """Jobs waiting or in service at a stage."""
        station = self.begun.layout.station_of.get(stage)
        if station is None:
            return Fraction(0)
        present = self.begun.present(station)
        served = min(present, self.begun.servers(station)) if isinstance(station.kind, p.Fifo) else present
        return Fraction(served if fact == "busy" else present - served)
