"""Loss stations: programs that look whether there is room at a stage before they go there, and go elsewhere if not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from serq.closedforms.amounts import ONE, ZERO, Named, number
from serq.closedforms.compose import Answer
from serq.closedforms.finite_source import ENGSET, MMCKN
from serq.closedforms.flows import reachable
from serq.closedforms.formula import Values
from serq.closedforms.match_closed import Part, parts_of
from serq.closedforms.matches import Match, NearMiss, attempt, bind
from serq.closedforms.sessiongraph import GONE, Graph
from serq.closedforms.single import MM1K, MMCK
from serq.closedforms.system import System
from serq.ir.expr import Number

WRONG_SHAPE = "one test for room, with every way to the stage through it and only delays elsewhere"


def match_loss(system: System) -> list[Match | NearMiss]:
    """What fits a program whose sessions test for room."""
    formula = MMCK if system.source.population is None else MMCKN
    problem = _shape_problem(system)
    if problem:
        return [NearMiss(formula.name, problem)]
    (test,) = system.kinds[0].graph.rooms
    place = test.stage
    passes = system.passes(0)
    parts, problems = parts_of(system, (passes,), test.room)
    queue = next((part for part in parts if part.station.place == place), None)
    others = [part for part in parts if part.station.place != place]
    if problems or queue is None or queue.speed.table is not None:
        reasons = [(problem, station.stays[0].span) for station, problem in problems]
        return [NearMiss(formula.name, reason, span) for reason, span in reasons] or [
            NearMiss(formula.name, "it needs a constant rate or min(n, c)")
        ]
    if any(not part.speed.delay for part in others):
        return [NearMiss(formula.name, f"it needs {WRONG_SHAPE}")]
    loss = _Loss(system, queue, others, test.named)
    return [loss.open()] if system.source.population is None else loss.closed()


def _shape_problem(system: System) -> str:
    """What keeps the session from being that of a loss station; empty when it is one."""
    if len(system.kinds) > 1:
        return "sessions are told apart by serial"
    if system.source.limit is not None:
        return "arrivals are lost at a limit as well"
    graph = system.kinds[0].graph
    if len(graph.rooms) != 1:
        return f"it needs {WRONG_SHAPE}"
    (test,) = graph.rooms
    stays = [i for i, node in enumerate(graph.nodes) if node.visit is not None and node.visit.stage == test.stage]
    if not stays or any(test not in graph.nodes[i].seen for i in stays):
        return f"it needs {WRONG_SHAPE}"
    tests = _tests(graph)
    if system.source.population is None:
        after = [edge.target for i in tests for edge in graph.edges[i] if edge.target != GONE]
        back = (reachable(graph, after) | set(after)) & tests
        return "a session that found no room must not come back" if back else ""
    refused = [edge.target for i in tests for edge in graph.edges[i] if edge.room and edge.room.full]
    served = [edge.target for i in stays for edge in graph.edges[i]]
    landings = [_landing(graph, target) for target in (*refused, *served)]
    if any(landing != landings[0] for landing in landings) or any(tests & set(x) for x in landings):
        return "a session that found no room must think as one that was served does"
    return ""


def _tests(graph: Graph) -> frozenset[int]:
    return frozenset(i for i, row in enumerate(graph.edges) if any(edge.room for edge in row))


def _landing(graph: Graph, start: int) -> Mapping[int, Number]:
    """The stays (or tests for room) that a session comes to first, with their probabilities."""
    tests = _tests(graph)
    landed: dict[int, Number] = {}
    todo: list[tuple[int, Number]] = [(start, ONE.value)]
    while todo:
        node, p = todo.pop()
        if graph.nodes[node].visit is not None or node in tests:
            landed[node] = landed.get(node, 0 * p) + p
        else:
            todo += [(edge.target, p * edge.chance.value) for edge in graph.edges[node]]
    return landed


@dataclass(frozen=True)
class _Loss:
    system: System
    queue: Part
    delays: list[Part]
    room: Named

    @property
    def servers(self) -> Named:
        """Servers that can be busy at once."""
        servers = self.queue.servers
        return servers if servers.value <= self.room.value else self.room

    def _mean(self) -> Named:
        """The mean work of a visit, at the station's speed."""
        return self.queue.demands[0] / self.queue.visits[0]

    def _tested(self, passes: tuple[Named, ...]) -> Named:
        """Tests for room per cycle, or by a session."""
        total = ZERO
        for i in _tests(self.system.kinds[0].graph) & self.system.kinds[0].members:
            total = total + passes[i]
        return total

    def open(self) -> Match | NearMiss:
        """M/M/c/K: Poisson arrivals stay Poisson through delays and splits."""
        rate = self.system.source.rate
        assert rate is not None
        formula, servers = (MM1K, []) if self.servers.value == 1 else (MMCK, [bind("c", self.servers)])
        lam = rate * self._tested(self.system.passes(0))
        bindings = (bind("lam", lam), bind("mu", ONE / self._mean()), *servers, bind("K", self.room))

        def answer(values: Values) -> Answer:
            return self._answer(values, 1 - values["pK"], lambda _: rate.value)

        return attempt(formula, (self.queue.station.name,), bindings, answer)

    def closed(self) -> list[Match | NearMiss]:
        """M/M/c/K//N, and Engset's formula where nobody waits."""
        population = self.system.source.population
        assert population is not None
        passes = self.system.passes(0)
        think = ZERO
        for delay in self.delays:
            think = think + delay.demands[0]
        think = think / self._tested(passes)
        bindings = (
            bind("N", population),
            bind("c", self.servers),
            bind("K", self.room),
            bind("mu", ONE / self._mean()),
            bind("Z", think),
        )
        names = (self.queue.station.name,)

        def answer(values: Values) -> Answer:
            return self._answer(values, 1 - values["call_congestion"], lambda visits: values["X"] / visits)

        out = [attempt(MMCKN, names, bindings, answer)]
        if self.servers.value == self.room.value:
            load = self._mean() / think
            engset = (bindings[0], bind("c", self.servers), bind("alpha", load))

            def carried(values: Values) -> Answer:
                found = {"L": values["carried"], "X": values["carried"] / self._mean().value}
                return self._answer(found, 1 - values["call_congestion"], lambda visits: found["X"] / visits)

            out.append(attempt(ENGSET, names, engset, carried))
        return out

    def _answer(self, values: Values, room: Number, rate: Callable[[Number], Number]) -> Answer:
        """`rate` gives the cycles (or sessions) per unit of time from the visits to the queue that each makes."""
        passes = tuple(x.value for x in self.system.passes(0, number(room)))
        visits = sum((passes[stay.node] for stay in self.queue.station.stays), ZERO.value)
        stretch = values["L"] / values["X"] / self._mean().value
        sojourns = {(0, s.node): s.work.mean.value for part in self.delays for s in part.station.stays}
        for stay in self.queue.station.stays:
            sojourns[0, stay.node] = stretch * stay.work.mean.value / self.queue.speed.unit.value
        nonempty = {self.queue.station.place: 1 - values["p0"]} if "p0" in values else {}
        return Answer(self.system, (passes,), (rate(visits),), sojourns, nonempty, room)
