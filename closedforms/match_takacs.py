"""M/G/1//N in a closed program: one queue in order of arrival, exponential think times, work of any law.

What a session asks of the queue must not depend on its past: whatever it did before, the next visit has the same law.
Then nobody's wait depends on his own work, and all wait alike.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from serq.closedforms.amounts import Named, Work, number
from serq.closedforms.compose import Answer
from serq.closedforms.formula import Values
from serq.closedforms.matches import Match, NearMiss, attempt, bind, bind_list
from serq.closedforms.sessiongraph import GONE, Graph
from serq.closedforms.system import Station, Stay, System
from serq.closedforms.takacs import MG1N
from serq.closedforms.transforms import transform
from serq.ir import program as p
from serq.ir.expr import Number

MOST_SOURCES = 200
_MOST_STEPS = 10_000
_Ahead = Mapping[int, Number]
"""The stay that comes next, by its node, with its probability."""


def match_takacs(system: System, passes: Sequence[Sequence[Named]]) -> list[Match | NearMiss]:
    """The formula, where the program has this form; nothing where it has not."""
    queue = _queue(system)
    population = system.source.population
    if queue is None or population is None or not 1 <= population.value <= MOST_SOURCES or len(system.kinds) != 1:
        return []
    delays = [s for station in system.stations if station is not queue for s in station.stays]
    law = _law_of_the_next(system.kinds[0].graph, queue.stays, delays)
    think = delays[0].work if delays else None
    if law is None or think is None or not think.exponential or any(s.work.mean != think.mean for s in delays):
        return []
    sources = int(population.value)
    points = [Fraction(n) / think.mean.value for n in range(1, max(sources, 2))]
    phi = [_mixed([(chance, transform(work, s)) for work, chance in law]) for s in points]
    if any(value is None for value in phi):
        return []
    mean = sum((chance * work.mean.value for work, chance in law), Fraction(0))
    bindings = (
        bind("N", population),
        bind("m", number(mean)),
        bind("Z", think.mean),
        bind_list("phi", [number(value) for value in phi if value is not None]),
    )
    plain = tuple(tuple(x.value for x in row) for row in passes)

    def answer(values: Values) -> Answer:
        visits = sum((plain[0][s.node] for s in queue.stays), Fraction(0))
        sojourns = {(s.kind, s.node): values["Wq"] + s.work.mean.value for s in queue.stays}
        sojourns |= {(s.kind, s.node): s.work.mean.value for s in delays}
        return Answer(system, plain, (values["X"] / visits,), sojourns, {queue.place: values["U"]})

    return [attempt(MG1N, (queue.name,), bindings, answer)]


def _queue(system: System) -> Station | None:
    """The only station that is no delay, if it is one server in order of arrival."""
    queues = [s for s in system.stations if not isinstance(s.kind, p.Delay)]
    if len(queues) != 1 or not isinstance(queues[0].kind, p.Fifo) or queues[0].kind.servers.exact != 1:
        return None
    return queues[0]


def _mixed(parts: Sequence[tuple[Number, Number | None]]) -> Number | None:
    total: Number = Fraction(0)
    for chance, value in parts:
        if value is None:
            return None
        total = total + chance * value
    return total


def _law_of_the_next(graph: Graph, queue: Sequence[Stay], delays: Sequence[Stay]) -> list[tuple[Work, Number]] | None:
    """The works of the next visit with their probabilities, the same after every think time; None where it is not so,
    or where thinking and asking do not take turns.
    """
    works, thinks = {s.node: s.work for s in queue}, {s.node for s in delays}
    for node in works:
        ahead = _ahead(graph, node)
        if ahead is None or not set(ahead) <= thinks:
            return None
    found: list[dict[Work, Number]] = []
    for node in thinks:
        ahead = _ahead(graph, node)
        if ahead is None or not set(ahead) <= set(works):
            return None
        by_law: dict[Work, Number] = {}
        for target, chance in ahead.items():
            by_law[works[target]] = by_law.get(works[target], Fraction(0)) + chance
        found.append(by_law)
    return list(found[0].items()) if found and all(other == found[0] for other in found) else None


def _ahead(graph: Graph, start: int) -> _Ahead | None:
    """Where a session stays next after a stay; None where that has no end, or where it may leave."""
    out: dict[int, Number] = {}
    todo: list[tuple[int, Number]] = [(start, Fraction(1))]
    for _ in range(_MOST_STEPS):
        if not todo:
            return out
        node, weight = todo.pop()
        for edge in graph.edges[node]:
            if edge.target == GONE or edge.room is not None:
                return None
            chance = weight * edge.chance.value
            if not chance:
                continue
            if graph.nodes[edge.target].visit is not None:
                out[edge.target] = out.get(edge.target, Fraction(0)) + chance
            else:
                todo.append((edge.target, chance))
    return None
