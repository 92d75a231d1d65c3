"""Closed programs: one queue and think times, and networks of queues with one or several kinds of session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from serq.closedforms.amounts import ZERO, Named, number
from serq.closedforms.compose import Answer
from serq.closedforms.finite_source import MM1N, MMCN
from serq.closedforms.formula import Formula, Values
from serq.closedforms.match_takacs import match_takacs
from serq.closedforms.matches import Binding, Match, NearMiss, attempt, bind, bind_list, bind_table
from serq.closedforms.networks import CLOSED, CLOSED_CLASSES, CLOSED_RATES
from serq.closedforms.speeds import Speed, speed, work_problem
from serq.closedforms.system import Station, System
from serq.ir.expr import Number


@dataclass(frozen=True)
class Part:
    """A station, its speed, and what every kind of session asks of it per cycle."""

    station: Station
    speed: Speed
    visits: tuple[Named, ...]
    demands: tuple[Named, ...]

    @property
    def servers(self) -> Named:
        """The number of servers, infinite for a delay."""
        return number(inf) if self.speed.servers is None else self.speed.servers


def parts_of(
    system: System, passes: Sequence[Sequence[Named]], most: int | None
) -> tuple[list[Part], list[tuple[Station, str]]]:
    """The stations that a formula can have, and the others with the reason."""
    parts, problems = [], []
    for station in system.stations:
        found = speed(station, system.constants, most)
        problem = found if isinstance(found, str) else "" if found.delay else work_problem(station)
        if problem or isinstance(found, str):
            problems.append((station, problem))
            continue
        visits, demands = [ZERO] * len(passes), [ZERO] * len(passes)
        for stay in station.stays:
            times = passes[stay.kind][stay.node]
            visits[stay.kind] = visits[stay.kind] + times
            demands[stay.kind] = demands[stay.kind] + times * stay.work.mean / found.unit
        parts.append(Part(station, found, tuple(visits), tuple(demands)))
    return parts, problems


def match_closed(system: System) -> list[Match | NearMiss]:
    """What fits a closed program without tests for room."""
    passes = tuple(system.passes(k) for k in range(len(system.kinds)))
    parts, problems = parts_of(system, passes, system.source.most)
    if problems:
        formulas = _candidates(system, parts, problems)
        found = match_takacs(system, passes)
        return [*found, *(NearMiss(f.name, reason, s.stays[0].span) for f in formulas for s, reason in problems)]
    plain = tuple(tuple(x.value for x in row) for row in passes)
    closed = _Closed(system, plain, parts)
    return [*closed.one_queue(), closed.network()]


def _candidates(system: System, parts: list[Part], problems: list[tuple[Station, str]]) -> list[Formula]:
    """The formulas that would have fitted."""
    if len(system.kinds) > 1:
        return [CLOSED_CLASSES]
    queues = [part for part in parts if not part.speed.delay]
    return [MM1N, CLOSED] if len(problems) == 1 and not queues and parts else [CLOSED]


@dataclass(frozen=True)
class _Closed:
    system: System
    passes: tuple[tuple[Number, ...], ...]
    parts: list[Part]

    def one_queue(self) -> list[Match | NearMiss]:
        """M/M/1//N or M/M/c//N, when one station queues and the others are delays."""
        queues = [part for part in self.parts if not part.speed.delay]
        delays = [part for part in self.parts if part.speed.delay]
        if len(self.system.kinds) > 1 or len(queues) != 1 or not delays or queues[0].speed.table is not None:
            return []
        (queue,) = queues
        population, servers = self.system.source.population, queue.speed.servers
        assert population is not None
        assert servers is not None
        visits, demand = queue.visits[0], queue.demands[0]
        think = ZERO
        for delay in delays:
            think = think + delay.demands[0]
        bindings = [bind("N", population), bind("mu", visits / demand), bind("Z", think / visits)]
        if servers.value != 1:
            bindings.insert(1, bind("c", servers))

        def answer(values: Values) -> Answer:
            cycles = values["X"] / visits.value
            stretch = {queue.station.place: (values["L"] / (cycles * demand.value),)}
            nonempty = {queue.station.place: 1 - values["p0"]}
            if len(delays) == 1:
                nonempty[delays[0].station.place] = 1 - values["pN"]
            return self._answer((cycles,), stretch, nonempty)

        formula = MM1N if servers.value == 1 else MMCN
        return [attempt(formula, (queue.station.name,), tuple(bindings), answer)]

    def network(self) -> Match | NearMiss:
        """The product form over all the stations."""
        names = tuple(part.station.name for part in self.parts)
        if any(part.speed.table is not None for part in self.parts):
            return attempt(CLOSED_RATES, names, self._tables(self._rates()), self._by_kind)
        servers = bind_list("c", [part.servers for part in self.parts])
        if len(self.system.kinds) > 1:
            return attempt(CLOSED_CLASSES, names, self._tables(servers), self._by_kind)
        population = self.system.source.population
        assert population is not None
        bindings = (
            bind("N", population),
            bind_list("V", [part.visits[0] for part in self.parts]),
            bind_list("S", [part.demands[0] / part.visits[0] for part in self.parts]),
            servers,
        )
        return attempt(CLOSED, names, bindings, self._one_kind)

    def _tables(self, last: Binding) -> tuple[Binding, ...]:
        kinds = range(len(self.system.kinds))
        visits = [[part.visits[k] for part in self.parts] for k in kinds]
        works = [
            [part.demands[k] / part.visits[k] if part.visits[k].value else ZERO for part in self.parts] for k in kinds
        ]
        return (self._populations(), bind_table("V", visits), bind_table("S", works), last)

    def _populations(self) -> Binding:
        whole = self.system.source.population
        if len(self.system.kinds) == 1 and whole is not None:
            return bind_list("N", [whole])
        return bind_list("N", [number(kind.population or 0) for kind in self.system.kinds])

    def _rates(self) -> Binding:
        rows: list[list[Named]] = []
        for part in self.parts:
            if part.speed.table is not None:
                rows.append([number(rate) for rate in part.speed.table])
            elif part.speed.servers is None:
                rows.append([number(inf)])
            else:
                rows.append([number(n) for n in range(1, int(part.speed.servers.value) + 1)])
        return bind_table("rates", rows)

    def _one_kind(self, values: Values) -> Answer:
        return self._network((values["cycles"],), (values["L"],), values["p0"])

    def _by_kind(self, values: Values) -> Answer:
        return self._network(values["cycles"], values["L"], values["p0"])

    def _network(self, cycles: Sequence[Number], numbers: Sequence[Sequence[Number]], empty: Any) -> Answer:
        stretch, nonempty = {}, {}
        for i, part in enumerate(self.parts):
            by_kind = zip(numbers, cycles, part.demands, strict=True)
            stretch[part.station.place] = tuple(
                row[i] / (rate * demand.value) if demand.value else rate for row, rate, demand in by_kind
            )
            nonempty[part.station.place] = 1 - empty[i]
        return self._answer(tuple(cycles), stretch, nonempty)

    def _answer(
        self, cycles: tuple[Number, ...], stretch: Mapping[int, tuple[Number, ...]], nonempty: Mapping[int, Number]
    ) -> Answer:
        """Stays are `stretch` times the work at the station's speed; at a delay they are the work."""
        sojourns = {}
        for part in self.parts:
            unit = part.speed.unit.value
            for stay in part.station.stays:
                factor = stretch[part.station.place][stay.kind] if part.station.place in stretch else 1
                sojourns[stay.kind, stay.node] = factor * stay.work.mean.value / unit
        return Answer(self.system, self.passes, cycles, sojourns, nonempty)
