"""The session as a Markov chain over its instructions: what a matcher reads instead of the text.

A node is a place in the code together with what the session knows there; at some nodes it is being served, the others
take no time. Two programs that do the same give the same graph, whatever their names and their order. Time, queues
and other sessions are left out: what depends on them stops the walk with `NotFollowedError`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from serq.base.source import Span
from serq.closedforms.amounts import (
    ONE,
    ZERO,
    Amount,
    Atom,
    Mark,
    Named,
    Now,
    Sample,
    Unclear,
    Value,
    Work,
    as_work,
    plain,
)
from serq.closedforms.evaluation import Knowledge, evaluate
from serq.closedforms.flatcode import FlatCode
from serq.closedforms.rooms import Answers, Crowd, Room, split
from serq.ir import expr as e
from serq.ir import program as p

MOST_NODES = 2000
GONE = -1
"""The target of an edge by which a session leaves for good."""


class NotFollowedError(Exception):
    """The session does something that no closed form knows; says what, and where."""

    def __init__(self, reason: str, span: Span) -> None:
        self.reason = reason
        self.span = span
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Visit:
    """A stay at a stage."""

    stage: int
    work: Work


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the code, what the session knows there, and the stay it is at (None: it takes no time).

    `seen`: what tests for room have said at this very instant; at a stay, what the test before it said of its stage.
    """

    pc: int
    known: tuple[tuple[str, Value], ...]
    visit: Visit | None = None
    seen: Answers = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A way on. `chance` is its probability, but where `room` is set: there it is that of finding room, or none.

    `observed` are the observes passed, `created` the atoms that begin here.
    """

    target: int
    chance: Named = ONE
    room: Room | None = None
    observed: tuple[tuple[str, Value], ...] = ()
    created: frozenset[Atom] = frozenset()


@dataclass(frozen=True)
class Graph:
    """Nodes and edges; a session begins at node 0."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[Edge, ...], ...]
    spans: tuple[Span, ...]
    ends: frozenset[int]
    """The nodes at which a session ends."""

    @cached_property
    def rooms(self) -> frozenset[Room]:
        """The tests for room, by their positive answers."""
        return frozenset(edge.room for row in self.edges for edge in row if edge.room and not edge.room.full)


def explore(code: FlatCode, constants: Mapping[str, Named], crowd: Crowd, serial: Named | None = None) -> Graph:
    """The graph of a session; `serial` is its serial number where that is fixed. Raises `NotFollowedError`."""
    return _Walk(code, constants, crowd, serial).graph()


class _Walk:
    def __init__(self, code: FlatCode, constants: Mapping[str, Named], crowd: Crowd, serial: Named | None) -> None:
        self.code = code
        self.constants = constants
        self.crowd = crowd
        self.builtins = {"cached": ZERO, "computed": ZERO} | ({} if serial is None else {"serial": serial})
        self.nodes: list[Node] = []
        self.numbers: dict[Node, int] = {}

    def graph(self) -> Graph:
        self._number(Node(0, ()))
        edges: list[tuple[Edge, ...]] = []
        for node in self.nodes:  # grows as the walk goes on
            edges.append(tuple(self._leave(node)))
            if len(self.nodes) > MOST_NODES:
                raise NotFollowedError(
                    f"its attributes take more than {MOST_NODES} combinations of values", self.code.span(node.pc)
                )
        spans = tuple(self.code.span(node.pc) for node in self.nodes)
        ends = frozenset(i for i, node in enumerate(self.nodes) if isinstance(self.code[node.pc], p.End))
        return Graph(tuple(self.nodes), tuple(edges), spans, ends)

    def _number(self, node: Node) -> int:
        if node not in self.numbers:
            self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self.numbers[node]

    def _to(self, pc: int, known: Mapping[str, Value], seen: Answers) -> int:
        live = self.code.live[pc]
        kept = tuple(sorted((name, value) for name, value in known.items() if name in live))
        return self._number(Node(pc, kept, None, seen))

    def _leave(self, node: Node) -> Iterator[Edge]:
        known = dict(node.known)
        if node.visit is not None:
            yield Edge(self._to(node.pc + 1, known, ()))
            return
        instruction = self.code[node.pc]
        match instruction:
            case p.Set():
                yield from self._set(node, instruction)
            case p.Observe(name=name, expr=expr):
                for room, seen, chance, value in self._outcomes(node, expr):
                    yield Edge(self._to(node.pc + 1, known, seen), chance, room, ((name, value),))
            case p.Branch():
                yield from self._branch(node, instruction)
            case p.Run():
                yield from self._run(node, instruction)
            case p.Jump(target=target):
                yield Edge(self._to(target, known, node.seen))
            case p.Turn():
                yield Edge(self._to(node.pc + 1, known, node.seen))
            case p.End():
                yield Edge(self._to(0, {}, ()) if self.code.restarts else GONE)
            case p.Choose():
                raise NotFollowedError("it chooses by keys that are evaluated as the system runs", instruction.span)
            case _:
                raise NotFollowedError("it uses a pool", instruction.span)

    def _outcomes(self, node: Node, expr: e.Expr) -> Iterator[tuple[Room | None, Answers, Named, Value]]:
        """Outcomes of an expression, and what the session has seen of a stage after each."""
        knowledge = Knowledge(self.constants, dict(node.known), self.builtins, place=node.pc)
        for room, seen, supposed in split(expr, knowledge, node.seen, self.crowd):
            for chance, value in evaluate(expr, supposed):
                yield room, seen, chance, value

    def _set(self, node: Node, instruction: p.Set) -> Iterator[Edge]:
        fresh = replace(node, known=tuple((name, _without(old, node.pc)) for name, old in node.known))
        for room, seen, chance, value in self._outcomes(fresh, instruction.expr):
            kept = _dated(value, node.pc)
            created = frozenset(a for a in kept.atoms if _made_at(a, node.pc)) if isinstance(kept, Amount) else None
            known = {**dict(fresh.known), instruction.name: kept}
            yield Edge(self._to(node.pc + 1, known, seen), chance, room, (), created or frozenset())

    def _branch(self, node: Node, instruction: p.Branch) -> Iterator[Edge]:
        known = dict(node.known)
        for room, seen, chance, value in self._outcomes(node, instruction.probability):
            first = plain(value)
            if first is None:
                reason = value.reason if isinstance(value, Unclear) else "its probability is a time or a draw"
                raise NotFollowedError(f"a branch cannot be followed: {reason}", instruction.span)
            if not 0 <= first.value <= 1:
                raise NotFollowedError("the probability of a branch lies outside [0, 1]", instruction.span)
            for target, share in ((node.pc + 1, first), (instruction.otherwise, ONE - first)):
                if share.value > 0:
                    yield Edge(self._to(target, known, seen), chance * (ONE if share.value == 1 else share), room)

    def _run(self, node: Node, instruction: p.Run) -> Iterator[Edge]:
        stage = self._stage(node, instruction.stage)
        for room, seen, chance, value in self._outcomes(node, instruction.work):
            work = value if isinstance(value, Unclear) else as_work(value)
            if isinstance(work, Unclear):
                raise NotFollowedError(
                    f"the run at {instruction.stage.name} cannot be followed: {work.reason}", instruction.span
                )
            known = dict(node.known)
            if work.mean.value == 0:
                yield Edge(self._to(node.pc + 1, known, seen), chance, room)
                continue
            assert isinstance(value, Amount)
            spent = {name: _spent(old, value.atoms) for name, old in node.known}
            live = self.code.live[node.pc + 1]
            kept = tuple(sorted((name, old) for name, old in spent.items() if name in live))
            told = tuple(answer for answer in seen if answer.stage == stage)
            yield Edge(self._number(Node(node.pc, kept, Visit(stage, work), told)), chance, room)

    def _stage(self, node: Node, ref: e.Ref) -> int:
        if ref.index is None:
            return ref.base
        knowledge = Knowledge(self.constants, dict(node.known), self.builtins, place=node.pc)
        outcomes = evaluate(ref.index, knowledge)
        index = plain(outcomes[0][1]) if len(outcomes) == 1 else None
        if index is None or index.value not in range(ref.size):
            raise NotFollowedError(f"which of the stages {ref.name} it runs at is not fixed", ref.span)
        return ref.base + int(index.value)


def _made_at(atom: Atom, place: int) -> bool:
    return not isinstance(atom, Now) and atom.place == place


def _without(value: Value, place: int) -> Value:
    """An older value that was made here is another one from now on: the two could not be told apart."""
    if isinstance(value, Amount) and any(_made_at(a, place) for a in value.atoms):
        return Unclear("it is kept while the place that made it is passed again")
    return value


def _dated(value: Value, place: int) -> Value:
    """What is stored of a value: the present becomes a past time."""
    if isinstance(value, Unclear):
        return value
    return value.swapped(lambda atom: Mark(place) if isinstance(atom, Now) else atom).trimmed


def _spent(value: Value, atoms: frozenset[Atom]) -> Value:
    if isinstance(value, Unclear):
        return value
    return value.swapped(lambda a: replace(a, spent=True) if isinstance(a, Sample) and a in atoms else a)
