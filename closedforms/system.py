"""What a program is to a matcher: arrivals, kinds of session, and stations with the stays at them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from serq.base.source import NOWHERE, Span
from serq.closedforms.amounts import ONE, UNNAMED, Amount, Named, Sample, Unclear, Work, number
from serq.closedforms.evaluation import Knowledge, evaluate
from serq.closedforms.flatcode import FlatCode, flatten
from serq.closedforms.flows import closed_classes, passes_of_a_cycle, passes_of_one_session
from serq.closedforms.rooms import Crowd
from serq.closedforms.sessiongraph import Graph, NotFollowedError, explore
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.flow import expressions

MOST_KINDS = 200
"""The largest population whose sessions are told apart by `serial`."""

MOST_SYMBOLIC, MOST_SYMBOLS = 200, 12
"""The largest graph, and the largest number of constants in its branches, for which visits are worked out in the
program's constants as well as in numbers.
"""


@dataclass(frozen=True)
class Source:
    """Where sessions come from: a fixed population, or Poisson arrivals, `limit` of them inside at most."""

    population: Named | None = None
    rate: Named | None = None
    limit: Named | None = None

    @property
    def most(self) -> int | None:
        """The largest number of sessions, None when there is none."""
        bound = self.population or self.limit
        return None if bound is None else int(bound.value)


@dataclass(frozen=True)
class Kind:
    """Sessions that behave alike. `members`: the nodes passed for ever (closed), or by a session (open)."""

    graph: Graph
    members: frozenset[int]
    population: int | None


@dataclass(frozen=True)
class Stay:
    """A node at which sessions of a kind are at a stage."""

    kind: int
    node: int
    work: Work
    span: Span


@dataclass(frozen=True)
class Station:
    """A stage that is visited. `stays` is not empty."""

    place: int
    name: str
    kind: p.StageKind
    stays: tuple[Stay, ...]


@dataclass(frozen=True)
class System:
    """The whole program as a network of stations."""

    program: p.Program
    constants: dict[str, Named]
    source: Source
    kinds: tuple[Kind, ...]
    stations: tuple[Station, ...]

    @property
    def periodic(self) -> bool:
        """Whether some sessions of a closed program spend no time that has a density: where the others are then depends
        on how all began, for ever.
        """
        dense = {stay.kind for station in self.stations for stay in station.stays if stay.work.dense}
        return self.source.population is not None and len(dense) < len(self.kinds)

    def passes(self, kind: int, room: Named | None = None) -> tuple[Named, ...]:
        """How often a session of the kind passes each node, per cycle of its loop or in its life.

        `room` is the probability that a test for room succeeds.
        """
        which = self.kinds[kind]
        chances = [[(edge.target, _chance(edge, room)) for edge in row] for row in which.graph.edges]
        values = _solve(which, [[(j, p.value) for j, p in row] for row in chances], ONE.value)
        names = _named_passes(which, [[(j, p.symbol) for j, p in row] for row in chances])
        return tuple(Named(v, number(v).symbol if n is None else n) for v, n in zip(values, names, strict=True))


def _named_passes(kind: Kind, chances: list[list[tuple[int, Any]]]) -> list[Any]:
    """The passes as rational functions of the program's constants; None by node where that is too much, or nothing new.

    In a field of fractions every step is reduced to lowest terms: expressions would double at every branch.
    """
    symbols = sorted({s for row in chances for _, p in row for s in p.free_symbols}, key=str)
    nothing: list[Any] = [None] * len(chances)
    if not 0 < len(symbols) <= MOST_SYMBOLS or len(chances) > MOST_SYMBOLIC or UNNAMED in symbols:
        return nothing
    field = sympy.QQ.frac_field(*symbols)
    try:
        fractions = [[(j, field.from_sympy(p)) for j, p in row] for row in chances]
    except sympy.polys.polyerrors.CoercionFailed:
        return nothing  # a constant is a square root, a minimum, ...
    return [field.to_sympy(x) for x in _solve(kind, fractions, field.one)]


def _chance(edge: Any, room: Named | None) -> Named:
    if edge.room is None:
        chance: Named = edge.chance
        return chance
    found = room or number(1) / number(2)
    product: Named = edge.chance * (ONE - found if edge.room.full else found)
    return product


def _solve(kind: Kind, chances: list[list[tuple[int, Any]]], one: Any) -> list[Any]:
    if kind.population is None:
        return passes_of_one_session(chances, one)
    return passes_of_a_cycle(chances, kind.members, one)


def read(program: p.Program, tests: bool = True) -> System:
    """The program as a network; raises `NotFollowedError` with the first thing that makes it none.

    `tests`: what a session asks about others is taken as a test for room, where it can be one.
    """
    _refuse(program)
    constants = {c.name: Named(c.folded.exact, sympy.Symbol(c.name)) for c in program.constants}
    source = _source(program, constants)
    code = flatten(program)
    crowd = Crowd(tuple(stage.kind for stage in program.stages), source.most and source.most - 1, tests)
    kinds = _closed(code, constants, source, crowd) if source.population else (_open(code, constants, crowd),)
    return System(program, constants, source, kinds, tuple(_stations(program, kinds)))


def _refuse(program: p.Program) -> None:
    if program.pools:
        raise NotFollowedError("no closed form covers pools and caches", program.pools[0].span)
    if program.trace is not None:
        raise NotFollowedError("no closed form covers a trace", program.trace.span)
    for stage in program.stages:
        if isinstance(stage.kind, p.Step):
            raise NotFollowedError("no closed form covers step stages", stage.span)


def named(expr: e.Expr, constants: Mapping[str, Named], **context: Named) -> Named:
    """A constant expression, and what it is in the constants."""
    ((_, value), *others) = evaluate(expr, Knowledge(constants, context=context))
    if others or isinstance(value, Unclear) or not value.known:
        raise NotFollowedError("no closed form covers what depends on the state", expr.span)
    return value.constant


def _source(program: p.Program, constants: dict[str, Named]) -> Source:
    arrivals = program.arrivals
    match arrivals:
        case p.Closed(population=n):
            return Source(population=named(n.expr, constants))
        case p.Poisson(rate=rate, limit=limit):
            return Source(rate=named(rate.expr, constants), limit=_limit(limit, constants))
        case p.Renewal(gap=gap, limit=limit):
            return Source(rate=_renewal_rate(gap, constants), limit=_limit(limit, constants))
        case p.Batch():
            raise NotFollowedError("a batch drains: there is no steady state", NOWHERE)
        case p.FromTrace():
            raise NotFollowedError("no closed form covers a trace", NOWHERE)
        case p.NoArrivals():
            raise NotFollowedError("nothing arrives", NOWHERE)


def _limit(limit: p.Folded | None, constants: dict[str, Named]) -> Named | None:
    if limit is None or limit.exact == float("inf"):
        return None
    return named(limit.expr, constants)


def _renewal_rate(gap: e.Expr, constants: dict[str, Named]) -> Named:
    outcomes = evaluate(gap, Knowledge(constants))
    value = outcomes[0][1]
    if len(outcomes) == 1 and isinstance(value, Amount) and value.constant.value == 0 and len(value.terms) == 1:
        ((atom, factor),) = value.terms
        if isinstance(atom, Sample) and atom.law.name == "exp" and factor.value > 0:
            return ONE / (factor * atom.mean)
    raise NotFollowedError("the gaps between arrivals are not exponential", gap.span)


def _closed(code: FlatCode, constants: dict[str, Named], source: Source, crowd: Crowd) -> tuple[Kind, ...]:
    assert source.population is not None
    size = int(source.population.value)
    if not _tells_apart(code):
        graph = explore(code, constants, crowd)
        return (Kind(graph, _members(graph), size),)
    if size > MOST_KINDS:
        raise NotFollowedError(f"more than {MOST_KINDS} sessions are told apart by serial", NOWHERE)
    counted: dict[Graph, int] = {}
    for serial in range(size):
        graph = explore(code, constants, crowd, number(serial))
        counted[graph] = counted.get(graph, 0) + 1
    kinds = tuple(Kind(graph, _members(graph), count) for graph, count in counted.items())
    for kind in kinds:
        if kind.graph.ends:
            raise NotFollowedError("sessions are told apart by serial, and end", NOWHERE)
    return kinds


def _tells_apart(code: FlatCode) -> bool:
    nodes = (node for instruction in code.instructions for x in expressions(instruction) for node in e.walk(x))
    return any(isinstance(node, e.Builtin) and node.name == "serial" for node in nodes)


def _members(graph: Graph) -> frozenset[int]:
    classes = closed_classes(graph)
    if len(classes) != 1:
        raise NotFollowedError("chance decides for ever which of several loops a session is in", graph.spans[0])
    return classes[0]


def _open(code: FlatCode, constants: dict[str, Named], crowd: Crowd) -> Kind:
    graph = explore(code, constants, crowd)
    if closed_classes(graph):
        raise NotFollowedError("sessions arrive and do not leave: there is no steady state", graph.spans[0])
    return Kind(graph, frozenset(range(len(graph.nodes))), None)


def _stations(program: p.Program, kinds: Iterable[Kind]) -> Iterable[Station]:
    stays: dict[int, list[Stay]] = {}
    for index, kind in enumerate(kinds):
        for i in sorted(kind.members):
            visit = kind.graph.nodes[i].visit
            if visit is not None:
                stays.setdefault(visit.stage, []).append(Stay(index, i, visit.work, kind.graph.spans[i]))
    for place, stage in enumerate(program.stages):
        if place in stays:
            yield Station(place, stage.name, stage.kind, tuple(stays[place]))
