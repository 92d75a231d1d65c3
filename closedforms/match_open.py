"""Open programs with Poisson arrivals, without a limit or with one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from serq.closedforms.amounts import ONE, ZERO, Named
from serq.closedforms.compose import Answer
from serq.closedforms.flows import reachable
from serq.closedforms.formula import Formula, Values, evaluate_formula
from serq.closedforms.match_closed import Part, parts_of
from serq.closedforms.matches import Binding, Match, NearMiss, attempt, bind, bind_list
from serq.closedforms.mg1 import MG1, MG1PS, MGINF
from serq.closedforms.networks import LIMITED, OPEN
from serq.closedforms.single import MM1, MM1K, MMC, MMCK
from serq.closedforms.system import Station, System
from serq.ir import program as p
from serq.ir.expr import Number


@dataclass(frozen=True)
class _Piece:
    """One station by its own formula. `alone`: its stays are the wait plus the work, not a multiple of the work."""

    station: Station
    formula: Formula
    bindings: tuple[Binding, ...]
    alone: bool = False


def match_open(system: System) -> list[Match | NearMiss]:
    """What fits an open program without a limit."""
    rate = system.source.rate
    assert rate is not None
    passes = system.passes(0)
    parts, problems = parts_of(system, (passes,), None)
    full = _overloaded(system, passes, parts, problems)
    if full:
        return list(full)
    general, misses = _general(system, problems)
    spoilt = _after(system, [station for station, _ in problems])
    pieces = [_general_piece(system, passes, station) for station in general]
    for part in parts:
        if not part.speed.delay and any(stay.node in spoilt for stay in part.station.stays):
            misses.append(
                NearMiss(
                    _formula(part).name,
                    f"the arrivals at {part.station.name} must be Poisson (they come through a queue that is no M/M/c)",
                    part.station.stays[0].span,
                )
            )
        else:
            pieces.append(_piece(part, rate))
    return [*_put_together(system, passes, parts, pieces), *misses]


def _overloaded(
    system: System, passes: tuple[Named, ...], parts: list[Part], problems: list[tuple[Station, str]]
) -> list[NearMiss]:
    """The stations that keep the network from a steady state, or may do so: then nothing is known of any station."""
    rate = system.source.rate
    assert rate is not None
    misses = []
    for part in parts:
        load = rate.value * part.demands[0].value
        if part.speed.servers is not None and load >= part.speed.servers.value:
            misses.append(_too_much(_formula(part).name, part.station, load / part.speed.servers.value))
    for station, problem in problems:
        if not isinstance(station.kind, p.Fifo):
            misses.append(NearMiss(MG1PS.name, problem, station.stays[0].span))
            continue
        load = sum(rate.value * passes[s.node].value * s.work.mean.value for s in station.stays)
        if load >= station.kind.servers.exact:
            misses.append(_too_much(MG1.name, station, load / station.kind.servers.exact))
    return misses


def _too_much(formula: str, station: Station, use: Number) -> NearMiss:
    return NearMiss(formula, f"the utilisation of {station.name} must be below 1 (it is {use})", station.stays[0].span)


def _general(system: System, problems: list[tuple[Station, str]]) -> tuple[list[Station], list[NearMiss]]:
    """Which of the stations without product form are M/G/1, and what keeps the others from it."""
    good, misses = [], []
    stations = [station for station, _ in problems]
    for station, problem in problems:
        own = {stay.node for stay in station.stays}
        others = _after(system, [s for s in stations if s is not station])
        span = station.stays[0].span
        if not isinstance(station.kind, p.Fifo) or station.kind.servers.exact != 1:
            misses.append(NearMiss(MMC.name, problem, span))
        elif own & _after(system, [station]):
            misses.append(NearMiss(MG1.name, f"a session can come back to {station.name}, and {problem}", span))
        elif own & others:
            misses.append(NearMiss(MG1.name, f"the arrivals at {station.name} must be Poisson", span))
        else:
            good.append(station)
    return good, misses


def _after(system: System, stations: Iterable[Station]) -> frozenset[int]:
    """The nodes that a session can come to after one of these stations."""
    return reachable(system.kinds[0].graph, [stay.node for station in stations for stay in station.stays])


def _formula(part: Part) -> Formula:
    if part.speed.delay:
        return MGINF
    if part.speed.servers is not None and part.speed.servers.value != 1:
        return MMC
    return MM1 if isinstance(part.station.kind, p.Fifo) else MG1PS


def _piece(part: Part, rate: Named) -> _Piece:
    formula, visits = _formula(part), part.visits[0]
    lam, mean = bind("lam", rate * visits), part.demands[0] / visits
    mu = bind("mu", visits / part.demands[0])
    if formula is MM1:
        return _Piece(part.station, formula, (lam, mu))
    if formula is MMC:
        assert part.speed.servers is not None
        return _Piece(part.station, formula, (lam, mu, bind("c", part.speed.servers)))
    return _Piece(part.station, formula, (lam, bind("m", mean)))


def _general_piece(system: System, passes: tuple[Named, ...], station: Station) -> _Piece:
    """M/G/1: the law of the work is the mixture over the stays."""
    rate = system.source.rate
    assert rate is not None
    visits, first, second = ZERO, ZERO, ZERO
    for stay in station.stays:
        times = passes[stay.node]
        visits = visits + times
        first = first + times * stay.work.mean
        second = second + times * stay.work.second
    bindings = (bind("lam", rate * visits), bind("m", first / visits), bind("m2", second / visits))
    return _Piece(station, MG1, bindings, alone=True)


def _put_together(
    system: System, passes: tuple[Named, ...], parts: list[Part], pieces: list[_Piece]
) -> list[Match | NearMiss]:
    """One match by station that has a formula, and the whole network where it has a product form."""
    values = {piece.station.place: _values(piece) for piece in pieces}
    queues = [piece for piece in pieces if piece.formula is not MGINF]
    shown = queues or pieces
    method = ", ".join(dict.fromkeys(piece.formula.name for piece in shown))
    whole = _answer(system, passes, pieces, values)
    out = [attempt(x.formula, (x.station.name,), x.bindings, lambda _: whole, method) for x in shown]
    if len(queues) > 1 and len(parts) == len(system.stations):
        return [_network(system, passes, parts, pieces), *out]
    if len(queues) == 1 and queues[0].formula is MM1:
        out += _general_as_well(system, passes, queues[0], pieces)
    return out


def _values(piece: _Piece) -> Values:
    evaluation = evaluate_formula(piece.formula, {b.name: b.value for b in piece.bindings})
    assert not evaluation.failed, "that the load fits was looked at before"
    return evaluation.values


def _general_as_well(
    system: System, passes: tuple[Named, ...], queue: _Piece, pieces: list[_Piece]
) -> list[Match | NearMiss]:
    """M/M/1 is an M/G/1 too, when nobody comes back to it."""
    if {s.node for s in queue.station.stays} & _after(system, [queue.station]):
        return []
    piece = _general_piece(system, passes, queue.station)
    others = [piece if x is queue else x for x in pieces]
    whole = _answer(system, passes, others, {x.station.place: _values(x) for x in others})
    return [attempt(MG1, (piece.station.name,), piece.bindings, lambda _: whole)]


def _answer(system: System, passes: tuple[Named, ...], pieces: list[_Piece], values: dict[int, Values]) -> Answer:
    rate = system.source.rate
    assert rate is not None
    sojourns: dict[tuple[int, int], Number] = {}
    nonempty: dict[int, Number] = {}
    for piece in pieces:
        found: Any = values[piece.station.place]
        nonempty[piece.station.place] = 1 - found["p0"]
        stays = piece.station.stays
        load = sum(rate.value * passes[s.node].value * s.work.mean.value for s in stays)
        for stay in stays:
            mean = stay.work.mean.value
            sojourns[0, stay.node] = found["Wq"] + mean if piece.alone else found["L"] / load * mean
    plain = (tuple(x.value for x in passes),)
    return Answer(system, plain, (rate.value,), sojourns, nonempty)


def _network(system: System, passes: tuple[Named, ...], parts: list[Part], pieces: list[_Piece]) -> Match | NearMiss:
    rate = system.source.rate
    assert rate is not None

    def answer(values: Values) -> Answer:
        by_station = zip(parts, values["L"], values["p0"], strict=True)
        return _answer(system, passes, pieces, {x.station.place: {"L": n, "p0": p0} for x, n, p0 in by_station})

    return attempt(OPEN, tuple(x.station.name for x in parts), (bind("lam", rate), *_lists(parts)), answer)


def _lists(parts: list[Part]) -> tuple[Binding, ...]:
    return (
        bind_list("V", [part.visits[0] for part in parts]),
        bind_list("S", [part.demands[0] / part.visits[0] for part in parts]),
        bind_list("c", [part.servers for part in parts]),
    )


# -- with a limit ----------------------------------------------------------------------------------------------------


def match_limited(system: System) -> list[Match | NearMiss]:
    """What fits an open program whose arrivals are lost while `limit` sessions are inside."""
    source = system.source
    assert source.rate is not None
    assert source.limit is not None
    passes = system.passes(0)
    parts, problems = parts_of(system, (passes,), source.most)
    tables = [part for part in parts if part.speed.table is not None]
    misses = [NearMiss(LIMITED.name, problem, s.stays[0].span) for s, problem in problems]
    misses += [
        NearMiss(LIMITED.name, f"the rate of {part.station.name} must be constant or min(n, c)") for part in tables
    ]
    if misses:
        return list(misses)
    limited = _Limited(system, tuple(x.value for x in passes), parts)
    return [*limited.one_station(source.rate, source.limit), limited.network(source.rate, source.limit)]


@dataclass(frozen=True)
class _Limited:
    system: System
    passes: tuple[Number, ...]
    parts: list[Part]

    def one_station(self, rate: Named, limit: Named) -> list[Match | NearMiss]:
        """M/M/1/K or M/M/c/K, when there is one station: coming back to it is longer work."""
        if len(self.parts) != 1:
            return []
        (part,) = self.parts
        servers = part.servers if part.servers.value < limit.value else limit
        bindings = [bind("lam", rate), bind("mu", ONE / part.demands[0]), bind("K", limit)]
        if servers.value != 1:
            bindings.insert(2, bind("c", servers))

        def answer(values: Values) -> Answer:
            return self._answer(values["X"], (values["L"],), (values["p0"],))

        formula = MM1K if servers.value == 1 else MMCK
        return [attempt(formula, (part.station.name,), tuple(bindings), answer)]

    def network(self, rate: Named, limit: Named) -> Match | NearMiss:
        """The product form, cut off at the limit."""
        names = tuple(part.station.name for part in self.parts)
        bindings = (bind("lam", rate), bind("K", limit), *_lists(self.parts))
        return attempt(LIMITED, names, bindings, lambda v: self._answer(v["entered"], v["L"], v["p0"]))

    def _answer(self, entered: Number, numbers: tuple[Number, ...], empty: tuple[Number, ...]) -> Answer:
        rate = self.system.source.rate
        assert rate is not None
        sojourns = {}
        for part, present in zip(self.parts, numbers, strict=True):
            stretch = present / (entered * part.demands[0].value)
            for stay in part.station.stays:
                sojourns[0, stay.node] = stretch * stay.work.mean.value / part.speed.unit.value
        nonempty = {part.station.place: 1 - p0 for part, p0 in zip(self.parts, empty, strict=True)}
        losses = rate.value - entered
        return Answer(self.system, (self.passes,), (entered,), sojourns, nonempty, losses=losses)
