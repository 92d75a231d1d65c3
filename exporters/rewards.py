"""The measures of a program as reward structures over the counters, impulse rewards lowered to rates.

What is earned at a transition is written as (rate of the transition) * (what it earns) per unit of time in the state:
the only form of reward that PRISM and Storm read alike in every format and property. A measure is one long-run reward,
or the quotient of two.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from serq.exporters.automaton import Automaton
from serq.exporters.counters import Reward
from serq.exporters.layout import Layout, Line, Station
from serq.exporters.linear import drawn_attributes, linear_form, region
from serq.exporters.moves import Move
from serq.exporters.names import NameMap
from serq.exporters.stores import Store, summed
from serq.exporters.text import ATOM, PRODUCT, SUM, NoTextError, Piece, Printer, conjunction, literal, multiply, total
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.measures import Measure, measures_of


@dataclass(frozen=True, slots=True)
class ExportedMeasure:
    """A measure as long-run rewards: numerator / denominator, or the numerator alone."""

    measure: Measure
    numerator: str
    denominator: str | None = None


@dataclass(frozen=True, slots=True)
class NotExported:
    """A measure that has no form with these rewards, and why."""

    measure: Measure
    reason: str


class Rewards:
    """Builds the rewards that the measures of a program need, each once."""

    def __init__(
        self, automaton: Automaton, layout: Layout, stores: Mapping[int, Store], moves: Iterable[Move], names: NameMap,
        printer: Printer,
    ):  # fmt: skip
        self.automaton = automaton
        self.program = automaton.program
        self.layout = layout
        self.stores = stores
        self.moves = tuple(moves)
        self.names = names
        self.printer = printer
        self.structures: dict[str, Reward] = {}
        self.lost: tuple[str, Piece] | None = None
        """Guard and rate of the arrivals that are lost, where there is a limit."""

    def measures(self) -> tuple[ExportedMeasure | NotExported, ...]:
        """Every measure of the program that counters can give; the rewards are in `structures`."""
        out: list[ExportedMeasure | NotExported] = []
        for measure in measures_of(self.program):
            try:
                out.append(self._measure(measure))
            except NoTextError as error:
                out.append(NotExported(measure, str(error)))
        return tuple(out)

    def _measure(self, measure: Measure) -> ExportedMeasure:
        match measure.kind:
            case "stage":
                return self._stage(measure)
            case "pool":
                return self._pool(measure)
            case "observe":
                count = self._counted(
                    f"count.{measure.subject}", f"observations of {measure.subject}", "observe", measure
                )
                if measure.statistic == "rate":
                    return ExportedMeasure(measure, count)
                return ExportedMeasure(measure, self._observed_sum(measure), count)
            case "gauge":
                gauge = next(g for g in self.program.gauges if g.name == measure.subject)
                value = self.printer.number(self.automaton.partial.reduce(gauge.expr, {}))
                return ExportedMeasure(measure, self._state(f"gauge.{gauge.name}", measure.meaning, value))
            case _:
                return self._sessions(measure)

    # -- sessions and stages -------------------------------------------------------------------------------------------

    def _sessions(self, measure: Measure) -> ExportedMeasure:
        if measure.statistic == "number":
            present = self.layout.present()
            return ExportedMeasure(measure, self._state("sessions", measure.meaning, present))
        if measure.statistic == "throughput":
            return ExportedMeasure(measure, self._counted("ended", measure.meaning, "ended", measure))
        items = [self.lost] if self.lost else []
        return ExportedMeasure(measure, self._add("lost", measure.meaning, items))

    def _stage(self, measure: Measure) -> ExportedMeasure:
        index = next(i for i, s in enumerate(self.program.stages) if s.name == measure.subject)
        station = self.layout.station_of.get(index)
        name = measure.subject
        match measure.statistic:
            case "number":
                return ExportedMeasure(measure, self._number(station, name))
            case "waiting":
                return ExportedMeasure(measure, self._waiting(station, name))
            case "busy":
                value = self._fact("busy", index)
                return ExportedMeasure(measure, self._state(f"busy.{name}", measure.meaning, value))
            case "utilisation":
                return ExportedMeasure(measure, self._utilisation(station, index, measure))
            case "throughput":
                return ExportedMeasure(measure, self._throughput(index, name))
            case "wait":
                return ExportedMeasure(measure, self._waiting(station, name), self._throughput(index, name))
            case _:
                return ExportedMeasure(measure, self._number(station, name), self._throughput(index, name))

    def _fact(self, fact: e.StageFact, index: int) -> Piece:
        return self.printer.state(e.StageState(fact, e.Ref(self.program.stages[index].name, index)))

    def _number(self, station: Station | None, name: str) -> str:
        value = station.present() if station else Piece("0")
        return self._state(f"number.{name}", f"jobs present at {name}", value)

    def _waiting(self, station: Station | None, name: str) -> str:
        if station is None:
            value = Piece("0")
        else:
            value = station.line.length() if station.line else self._fact("queue", station.stage)
        return self._state(f"waiting.{name}", f"jobs waiting at {name}", value)

    def _utilisation(self, station: Station | None, index: int, measure: Measure) -> str:
        kind = self.program.stages[index].kind
        if station is None:
            return self._add(f"utilisation.{measure.subject}", measure.meaning, [])
        if isinstance(kind, p.Fifo):
            servers = self.printer.number(kind.servers.expr)
            busy = self._fact("busy", index)
            value = busy if servers.text == "1" else Piece(f"{busy.at(PRODUCT)} / {servers.at(ATOM)}", PRODUCT)
            return self._state(f"utilisation.{measure.subject}", measure.meaning, value)
        guard = f"{station.present().at(SUM)} > 0"
        return self._add(f"utilisation.{measure.subject}", measure.meaning, [(guard, Piece("1"))])

    def _throughput(self, index: int, name: str) -> str:
        items = [(m, m.rate) for m in self.moves if m.completes == index]
        return self._add(f"completed.{name}", f"jobs completed at {name}", _items(items))

    # -- pools -----------------------------------------------------------------------------------------------------

    def _pool(self, measure: Measure) -> ExportedMeasure:
        index = next(i for i, pool in enumerate(self.program.pools) if pool.name == measure.subject)
        name, store = measure.subject, self.stores.get(index)
        match measure.statistic:
            case "used" | "cached" if store is not None:
                value = Piece(store.held if measure.statistic == "used" else store.cached)
                return ExportedMeasure(measure, self._state(f"{measure.statistic}.{name}", measure.meaning, value))
            case "holders":
                value = summed(self.layout, lambda memory, _: memory.holders(index))
                return ExportedMeasure(measure, self._state(f"holders.{name}", measure.meaning, value))
            case "queue":
                return ExportedMeasure(measure, self._waiting_holds(index, name))
            case "queue_wait":
                return ExportedMeasure(measure, self._waiting_holds(index, name), self._admissions(index, name))
            case "admissions":
                return ExportedMeasure(measure, self._admissions(index, name))
            case "evictions" | "evicted_units":
                return ExportedMeasure(measure, self._evictions(index, measure))
            case _:  # nothing is preempted or rejected by what counters express
                return ExportedMeasure(measure, self._add(f"{measure.statistic}.{name}", measure.meaning, []))

    def _waiting_holds(self, index: int, name: str) -> str:
        line = self.layout.queues.get(index)
        value = line.length() if line else Piece("0")
        return self._state(f"waiting.{name}", f"holds waiting for {name}", value)

    def _admissions(self, index: int, name: str) -> str:
        items = [(m, multiply(m.rate, literal(Fraction(m.admitted.count(index))))) for m in self.moves if m.admitted]
        items = [(m, value) for m, value in items if index in m.admitted]
        return self._add(f"admitted.{name}", f"holds admitted to {name}", _items(items))

    def _evictions(self, index: int, measure: Measure) -> str:
        items = []
        for move in self.moves:
            units = [u for pool, u in move.evicted if pool == index]
            if units:
                worth = len(units) if measure.statistic == "evictions" else sum(units)
                items.append((move, multiply(move.rate, literal(Fraction(worth)))))
        return self._add(f"{measure.statistic}.{measure.subject}", measure.meaning, _items(items))

    # -- observes --------------------------------------------------------------------------------------------------

    def _counted(self, name: str, meaning: str, kind: str, measure: Measure) -> str:
        items = []
        for move in self.moves:
            seen = (passed.seen for passed in move.seen)
            n = sum(1 for s in seen if s.kind == kind and (kind != "observe" or s.name == measure.subject))
            if n:
                items.append((move, multiply(move.rate, literal(Fraction(n)))))
        return self._add(name, meaning, _items(items))

    def _observed_sum(self, measure: Measure) -> str:
        """The sum of the observed values: finite parts and mean draws at transitions, intervals by the number of
        sessions that are within them (Little's law).
        """
        for statement in self.program.code:
            if isinstance(statement, p.Observe) and statement.name == measure.subject:
                for name in drawn_attributes(self.program, statement.expr):
                    region(self.program, measure.subject, name)
        items: list[tuple[Move, Piece]] = []
        forms: set[tuple[tuple[str, Fraction], ...]] = set()
        for move in self.moves:
            for passed in move.seen:
                seen = passed.seen
                if seen.kind == "observe" and seen.name == measure.subject:
                    assert seen.value is not None
                    form = linear_form(seen.value)
                    forms.add(form.clocks)
                    if form.rest != e.Num(Fraction(0)):
                        items.append((move, multiply(move.rate, passed.printer.number(form.rest))))
        if len(forms) > 1:
            raise NoTextError("intervals of one form in all its observe statements")
        rewards = _items(items)
        for clock, weight in next(iter(forms), ()):
            rewards += self._region(measure.subject, clock, weight)
        return self._add(f"sum.{measure.subject}", f"sum of the observed values of {measure.subject}", rewards)

    def _region(self, observe: str, clock: str, weight: Fraction) -> list[tuple[str, Piece]]:
        """Sessions that have set the clock and have yet to observe it, weighted."""
        live = region(self.program, observe, clock)
        inside = [s for st in self.layout.stations for s in st.slots if s.place.pc in live]
        pieces = [Piece(slot.variable) for slot in inside]
        for line in self.layout.lines():
            pieces += _waiting_inside(line, live)
        return [("true", multiply(literal(weight), total(pieces)))] if pieces else []

    # -- structures ------------------------------------------------------------------------------------------------

    def _state(self, name: str, meaning: str, value: Piece) -> str:
        return self._add(name, meaning, [] if value.text == "0" else [("true", value)])

    def _add(self, name: str, meaning: str, items: list[tuple[str, Piece]]) -> str:
        identifier = self.names.identifier(name, "reward")
        self.structures.setdefault(identifier, Reward(identifier, meaning, items))
        return identifier


def _items(items: Sequence[tuple[Move, Piece]]) -> list[tuple[str, Piece]]:
    """What is earned, by guard: transitions with the same guards share a line."""
    by_guard: dict[str, list[Piece]] = {}
    for move, value in items:
        guard = conjunction(list(move.guards))
        # What happens at once is no rate: it is earned when it happens.
        by_guard.setdefault(f"[] {guard}" if move.immediate else guard, []).append(value)
    return [(guard, total(pieces)) for guard, pieces in by_guard.items()]


def _waiting_inside(line: Line, live: frozenset[int]) -> list[Piece]:
    """The counters of those who wait at one of these instructions."""
    inside = [rest.pc in live for rest in line.classes]
    if len(line.counts) > 1:
        return [Piece(name) for name, here in zip(line.counts, inside, strict=True) if here]
    if not any(inside):
        return []
    if not all(inside):
        raise NoTextError(f"the number of those of one class who wait at {line.key.partition('.')[2]}")
    return [line.length()]
