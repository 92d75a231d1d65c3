"""From what a formula says of the stations to the measures of the program.

Everything else follows by flow and by Little's law: throughputs are flows, a number present is a flow times a stay, and
an observed time is a sum of stays.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from serq.closedforms.amounts import Amount, Atom, Mark, Now, Sample, Unclear, Value
from serq.closedforms.evaluation import Knowledge, evaluate
from serq.closedforms.flows import ages
from serq.closedforms.sessiongraph import Edge
from serq.closedforms.system import Station, System
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.expr import Number
from serq.ir.measures import Measure, measures_of
from serq.ir.results import Estimate

Reason: TypeAlias = str


@dataclass(frozen=True)
class Answer:
    """What is known of the steady state.

    `rates`: cycles (or sessions) per unit of time, by kind. `sojourns`: mean stay by kind and node, where it is known.
    `nonempty`: the fraction of time non-empty, by stage, where it is known. `room`: the probability that a test for
    room succeeds. `losses`: arrivals lost at the limit per unit of time.
    """

    system: System
    passes: tuple[tuple[Number, ...], ...]
    rates: tuple[Number, ...]
    sojourns: Mapping[tuple[int, int], Number]
    nonempty: Mapping[int, Number]
    room: Number = Fraction(1)
    losses: Number = Fraction(0)

    def flow(self, kind: int, node: int) -> Number:
        """Passes of the node per unit of time."""
        return self.rates[kind] * self.passes[kind][node]

    @cached_property
    def chances(self) -> tuple[tuple[tuple[tuple[int, Number], ...], ...], ...]:
        """(target, probability) by kind, node and edge."""
        return tuple(
            tuple(tuple((edge.target, self._chance(edge)) for edge in row) for row in kind.graph.edges)
            for kind in self.system.kinds
        )

    def _chance(self, edge: Edge) -> Number:
        if edge.room is None:
            return edge.chance.value
        return edge.chance.value * (1 - self.room if edge.room.full else self.room)


def estimates(answer: Answer, method: str) -> tuple[Estimate, ...]:
    """An estimate of every measure of the program; those that cannot be given say why."""
    values = _Composer(answer)
    out = []
    for measure in measures_of(answer.system.program):
        value = values.of(measure)
        if isinstance(value, str):
            out.append(Estimate(measure.name, "closed form", None, method, reason=value))
        else:
            out.append(Estimate(measure.name, "closed form", _number(value), method))
    return tuple(out)


def _number(value: Number | int) -> Number:
    return Fraction(value) if isinstance(value, int) else value


class _Composer:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.system = answer.system
        self.stations = {station.place: station for station in answer.system.stations}
        self.known_ages: dict[tuple[int, Atom], Mapping[int, Number]] = {}

    def of(self, measure: Measure) -> Number | Reason:
        match measure.kind:
            case "stage":
                place = next(i for i, s in enumerate(self.system.program.stages) if s.name == measure.subject)
                return self.stage(place, measure.statistic)
            case "observe":
                return self.rate(measure.subject) if measure.statistic == "rate" else self.mean(measure.subject)
            case "gauge":
                gauge = next(g for g in self.system.program.gauges if g.name == measure.subject)
                return self.gauge(gauge.expr)
            case "sessions":
                return self.sessions(measure.statistic)
            case "pool":
                return "no closed form covers pools"

    # -- stages ------------------------------------------------------------------------------------------------------

    def stage(self, place: int, statistic: str) -> Number | Reason:
        if place not in self.stations:
            return Fraction(0) if statistic not in ("wait", "sojourn") else "nobody comes here"
        station = self.stations[place]
        flow = sum((self.answer.flow(s.kind, s.node) for s in station.stays), Fraction(0))
        busy = sum((self.answer.flow(s.kind, s.node) * s.work.mean.value for s in station.stays), Fraction(0))
        if statistic == "throughput":
            return flow
        if statistic == "busy":
            return busy
        if statistic == "utilisation":
            return self._utilisation(station, busy)
        number = self._number(station)
        if number is None:
            return f"{station.name} has no formula here"
        match statistic:
            case "number":
                return number
            case "waiting":
                return number - busy
            case "wait":
                return (number - busy) / flow
            case _:
                return number / flow

    def _utilisation(self, station: Station, busy: Number) -> Number | Reason:
        if isinstance(station.kind, p.Fifo):
            return busy / station.kind.servers.exact
        return self.answer.nonempty.get(station.place, f"how often {station.name} is empty is not part of this formula")

    def _number(self, station: Station) -> Number | None:
        total: Number = Fraction(0)
        for stay in station.stays:
            sojourn = self.answer.sojourns.get((stay.kind, stay.node))
            if sojourn is None:
                return None
            total += self.answer.flow(stay.kind, stay.node) * sojourn
        return total

    # -- observes ----------------------------------------------------------------------------------------------------

    def _passed(self, name: str) -> Iterator[tuple[int, int, Number, Value]]:
        """(kind, node, rate, value) of every edge on which the observe is made."""
        for k, kind in enumerate(self.system.kinds):
            for i in sorted(kind.members):
                for edge, (_, chance) in zip(kind.graph.edges[i], self.answer.chances[k][i], strict=True):
                    for observed, value in edge.observed:
                        if observed == name:
                            yield k, i, self.answer.flow(k, i) * chance, value

    def rate(self, name: str) -> Number:
        return sum((rate for _, _, rate, _ in self._passed(name)), Fraction(0))

    def mean(self, name: str) -> Number | Reason:
        total: Number = Fraction(0)
        for kind, node, rate, value in self._passed(name):
            if rate == 0:
                continue
            mean = self._expected(kind, node, value)
            if isinstance(mean, str):
                return mean
            total += rate * mean
        whole = self.rate(name)
        return total / whole if whole else "it is never observed"

    def _expected(self, kind: int, node: int, value: Value) -> Number | Reason:
        if isinstance(value, Unclear):
            return value.reason
        mean = value.constant.value
        clocks: Number = Fraction(0)
        for atom, factor in value.terms:
            match atom:
                case Sample():
                    mean += factor.value * atom.mean.value
                case Now():
                    clocks += factor.value
                case Mark():
                    age = self._ages(kind, atom).get(node)
                    if age is None:
                        return "it spans a stay that no formula here gives"
                    clocks += factor.value
                    mean -= factor.value * age
        return mean if clocks == 0 else "it is a time of day, not an interval"

    def _ages(self, kind: int, atom: Atom) -> Mapping[int, Number]:
        if (kind, atom) not in self.known_ages:
            sojourns = {node: s for (k, node), s in self.answer.sojourns.items() if k == kind}
            graph, passes = self.system.kinds[kind].graph, self.answer.passes[kind]
            self.known_ages[kind, atom] = ages(graph, atom, self.answer.chances[kind], passes, sojourns)
        return self.known_ages[kind, atom]

    # -- gauges and sessions -----------------------------------------------------------------------------------------

    def gauge(self, expr: e.Expr) -> Number | Reason:
        """The mean of a gauge that is linear in `busy` and `queue`: the gauge of the means."""
        constant = self._constant(expr)
        if constant is not None:
            return constant
        match expr:
            case e.Binary(op="+" | "-", left=left, right=right):
                a, b = self.gauge(left), self.gauge(right)
                if isinstance(a, str) or isinstance(b, str):
                    return a if isinstance(a, str) else b
                return a + b if expr.op == "+" else a - b
            case e.Binary(op="*" | "/", left=left, right=right):
                return self._multiple(expr.op == "/", left, right)
            case e.StageState(fact="busy" | "queue", stage=ref) if ref.index is None:
                return self._present(ref.base, expr.fact)
            case _:
                return "a gauge is mapped when it is a sum of multiples of busy(s) and queue(s)"

    def _multiple(self, divided: bool, left: e.Expr, right: e.Expr) -> Number | Reason:
        first, second = self._constant(left), self._constant(right)
        if second is not None and second != 0:
            mean = self.gauge(left)
            return mean if isinstance(mean, str) else (mean / second if divided else mean * second)
        if first is not None and not divided:
            mean = self.gauge(right)
            return mean if isinstance(mean, str) else first * mean
        return "a gauge is mapped when it is a sum of multiples of busy(s) and queue(s)"

    def _constant(self, expr: e.Expr) -> Number | None:
        ((_, value), *others) = evaluate(expr, Knowledge(self.system.constants))
        return value.constant.value if not others and isinstance(value, Amount) and value.known else None

    def _present(self, place: int, fact: str) -> Number | Reason:
        fifo = isinstance(self.system.program.stages[place].kind, p.Fifo)
        if not fifo:
            return self.stage(place, "number") if fact == "busy" else Fraction(0)
        return self.stage(place, "busy" if fact == "busy" else "waiting")

    def sessions(self, statistic: str) -> Number | Reason:
        if statistic == "losses":
            return self.answer.losses
        if statistic == "throughput":
            return self._ended()
        population = self.system.source.population
        if population is not None:
            return population.value
        numbers = [self._number(station) for station in self.system.stations]
        known = [n for n in numbers if n is not None]
        return sum(known, Fraction(0)) if len(known) == len(numbers) else "a station has no formula here"

    def _ended(self) -> Number:
        ends = ((k, i) for k, kind in enumerate(self.system.kinds) for i in kind.graph.ends & kind.members)
        return sum((self.answer.flow(k, i) for k, i in ends), Fraction(0))
