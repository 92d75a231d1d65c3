"""The steps of a session as a graph: its instructions, with the workload's blocks written out where they run.

`serq.ir.flow` speaks of instructions; the analyses of the Markov fragment also need the statements of the `init` and
`turn` blocks, and the way back that a preemption opens.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p

Origin = tuple[str, int]
"""Where a step stands in the program: ("code", pc), ("init", i) or ("turn", i)."""


@dataclass(frozen=True, slots=True)
class Node:
    """One step. `next` are the steps that may follow; `restarts` the holds that a preemption may lead back to."""

    step: p.Instruction
    origin: Origin
    next: tuple[int, ...]
    restarts: tuple[int, ...] = ()

    @property
    def pc(self) -> int | None:
        """The instruction, or None inside a workload block."""
        return self.origin[1] if self.origin[0] == "code" else None

    @property
    def is_rest(self) -> bool:
        """Whether time may pass here."""
        return isinstance(self.step, p.Run | p.Hold | p.Grow)


@dataclass(frozen=True)
class Graph:
    """All steps; a session begins at `entry`. `place` maps an instruction to its node."""

    nodes: tuple[Node, ...]
    entry: int
    place: tuple[int, ...]

    def edges(self, node: int) -> tuple[int, ...]:
        """Every step that may come next, restarts included."""
        return self.nodes[node].next + self.nodes[node].restarts

    def reachable(self, sources: tuple[int, ...]) -> frozenset[int]:
        """The nodes that can be reached from any of the sources, these included."""
        seen = set(sources)
        todo = list(sources)
        while todo:
            for after in self.edges(todo.pop()):
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        return frozenset(seen)


def graph_of(program: p.Program) -> Graph:
    """The session's graph: `init` block first, then the code, each `turn` followed by a copy of the turn block."""
    block = len(program.turn)
    place, at = [], len(program.init)
    for instruction in program.code:
        place.append(at)
        at += 1 + (block if isinstance(instruction, p.Turn) else 0)
    nodes = [Node(s, ("init", i), (i + 1,)) for i, s in enumerate(program.init)]
    enclosing = flow.enclosing_holds(program)
    for pc, instruction in enumerate(program.code):
        after = tuple(place[t] for t in flow.successors(program, pc))
        if isinstance(instruction, p.Turn) and block:
            first = place[pc] + 1
            nodes.append(Node(instruction, ("code", pc), (first,)))
            for i, statement in enumerate(program.turn):
                nodes.append(Node(statement, ("turn", i), (first + i + 1,) if i + 1 < block else after))
            continue
        restarts: tuple[int, ...] = ()
        if flow.is_rest(program, pc):
            holds = ((h, program.code[h]) for h in enclosing[pc])
            restarts = tuple(place[h] for h, x in holds if isinstance(x, p.Hold) and is_preemptible(program, x))
        nodes.append(Node(instruction, ("code", pc), after, restarts))
    return Graph(tuple(nodes), 0, tuple(place))


def is_preemptible(program: p.Program, hold: p.Hold) -> bool:
    """Whether a growth of somebody else may take the hold away."""
    return any(program.pools[i].preempt != "none" for part in hold.parts for i in members(part.pool))


def members(ref: e.Ref) -> range:
    """The places that a reference, perhaps into an array, may mean."""
    return range(ref.base, ref.base + ref.size)


Fact = TypeVar("Fact")


def backward(graph: Graph, bottom: Fact, transfer: Callable[[int, list[Fact]], Fact]) -> list[Fact]:
    """The least solution of fact(node) = transfer(node, facts of what may follow)."""
    facts = [bottom] * len(graph.nodes)
    changed = True
    while changed:
        changed = False
        for node in reversed(range(len(graph.nodes))):
            new = transfer(node, [facts[t] for t in graph.edges(node)])
            if new != facts[node]:
                facts[node] = new
                changed = True
    return facts
