"""The control slice of a program: the same program without what the chain need not know.

Times are taken out of observes and sets (`serq.semantics.linear`), and a set whose value is never used becomes
`set x = 0`. What is left is finite, and runs on the same machine: instruction numbers do not change.
"""

from dataclasses import dataclass, replace

from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p
from serq.semantics.graph import Graph, Node, Origin, backward, graph_of, is_preemptible, members
from serq.semantics.kinds import Kinds
from serq.semantics.linear import NONE, Linear, NotLinear, linear_of

Names = frozenset[str]
EMPTY: Names = frozenset()


@dataclass(frozen=True)
class Control:
    """A program prepared for enumeration.

    `linear` gives the parts of every set and observe by node, or the reason why it has none. `kept` maps an
    instruction at which time may pass to the attributes (and built-in ones) whose values matter afterwards; `always`
    are those that eviction keys read.
    """

    program: p.Program
    sliced: p.Program
    graph: Graph
    kinds: Kinds
    linear: dict[int, Linear | str]
    kept: dict[int, Names]
    always: Names


def control_of(program: p.Program) -> Control:
    """The control slice. The program need not lie in the fragment; then the slice means nothing."""
    graph = graph_of(program)
    kinds = Kinds(program, graph)
    linear = _take_apart(graph, kinds)
    slicer = _Slicer(program, graph, linear)
    slicer.solve()
    # a gauge that no state determines is not asked for: its measure is not mapped
    gauges = (g if kinds.of(g.expr, {}).is_finite else replace(g, expr=NONE) for g in program.gauges)
    sliced = replace(slicer.sliced(), gauges=tuple(gauges))
    return Control(program, sliced, graph, kinds, linear, slicer.kept(), slicer.always)


def _take_apart(graph: Graph, kinds: Kinds) -> dict[int, Linear | str]:
    out: dict[int, Linear | str] = {}
    for place, node in enumerate(graph.nodes):
        if isinstance(node.step, p.Set | p.Observe):
            try:
                out[place] = linear_of(kinds, place, node.step.expr)
            except NotLinear as reason:
                out[place] = str(reason)
    return out


def control_liveness(control: Control) -> tuple[list[Names], set[Origin]]:
    """What is used from every node on by anything but observes, and the sets that are needed for it."""
    slicer = _Slicer(control.program, control.graph, control.linear, observes=False)
    slicer.solve()
    return slicer.live_in, slicer.needed


def names_read(expr: e.Expr | None) -> Names:
    """Attributes and built-in attributes that the expression reads; the time is none."""
    if expr is None:
        return EMPTY
    nodes = e.walk(expr)
    return frozenset(n.name for n in nodes if isinstance(n, e.Attr | e.Builtin) and n.name != "now")


class _Slicer:
    """Strong liveness: what a set reads is used only if what it sets is used."""

    def __init__(
        self, program: p.Program, graph: Graph, linear: dict[int, Linear | str], observes: bool = True
    ) -> None:
        self.program = program
        self.graph = graph
        self.observes = observes
        self.rest: dict[Origin, e.Expr] = {}
        for place, parts in linear.items():
            self.rest[graph.nodes[place].origin] = NONE if isinstance(parts, str) else parts.rest
        self.needed: set[Origin] = set()
        # an eviction key is asked about an owner wherever that session is, and after it has gone; so is a victim's key
        self.always: Names = EMPTY.union(
            *(names_read(key) for pool in program.pools for key in (*pool.evict, *pool.victims)),
            *(names_read(x) for pool in program.pools if pool.spill for x in (pool.spill.work, pool.spill.when)),
        )
        self.live_in: list[Names] = []
        self.resting = self._read_at_a_preemption()

    def _read_at_a_preemption(self) -> dict[int, Names]:
        """By node where time may pass: what a preemption before the next step reads, keys of victims and cache clauses.

        Those of a hold that waits are among them: it may be admitted and preempted at one instant.
        """
        code, enclosing = self.program.code, flow.enclosing_holds(self.program)
        out = {}
        for place, node in enumerate(self.graph.nodes):
            if not node.is_rest or node.pc is None:
                continue
            opened = (*enclosing[node.pc], node.pc)
            holds = [hold for pc in opened if isinstance(hold := code[pc], p.Hold)]
            if any(is_preemptible(self.program, hold) for hold in holds):
                releases = [code[hold.release] for hold in holds]
                caches = [r.cache for r in releases if isinstance(r, p.Release)]
                pools = (self.program.pools[i] for hold in holds for part in hold.parts for i in members(part.pool))
                victims = [key for pool in pools for key in pool.victims]
                out[place] = EMPTY.union(*(names_read(x) for x in (*caches, *victims)))
        return out

    def solve(self) -> None:
        """The least fixed point; copies of a turn block are needed when one of them is."""
        before = -1
        while before != len(self.needed):
            before = len(self.needed)
            self.live_in = backward(self.graph, EMPTY, self._transfer)

    def _transfer(self, place: int, after: list[Names]) -> Names:
        node = self.graph.nodes[place]
        out = self.always.union(self.resting.get(place, EMPTY), *after)
        match node.step:
            case p.Set(name=name) | p.Choose(name=name):
                if name in out:
                    self.needed.add(node.origin)
                reads = self._reads(node) if node.origin in self.needed else EMPTY
                return reads | (out - {name})
            case _:
                return self._reads(node) | (out - self._kills(node))

    def _kills(self, node: Node) -> Names:
        match node.step:
            case p.Hold():
                return frozenset({"cached", "computed"})
            case p.Turn():
                return frozenset(self.program.traced)
            case _:
                return EMPTY

    def _reads(self, node: Node) -> Names:
        match node.step:
            case p.Observe() if not self.observes:
                return EMPTY
            case p.Set() | p.Observe():
                return names_read(self.rest[node.origin])
            case p.Choose(name=name, count=count, keys=keys):
                return names_read(count).union(*(names_read(k) for k in keys)) - {name}
            case p.Hold(parts=parts):
                queue = self.program.pools
                keys = tuple(k for i in members(parts[0].pool) for k in queue[i].queue)
                assert node.pc is not None
                return EMPTY.union(*(names_read(x) for x in (*flow.expressions(node.step), *keys)))
            case step:
                return EMPTY.union(*(names_read(x) for x in flow.expressions(step)))

    def kept(self) -> dict[int, Names]:
        """What must be remembered while time passes at an instruction."""
        out: dict[int, Names] = {}
        for place, node in enumerate(self.graph.nodes):
            if node.is_rest and node.pc is not None:
                after = self.always.union(*(self.live_in[t] for t in self.graph.edges(place)))
                kept = self.live_in[place] if isinstance(node.step, p.Hold) else after
                out[node.pc] = kept | self.resting.get(place, EMPTY)
        return out

    def sliced(self) -> p.Program:
        """The program with rests in place of observed times, and zeros in place of what is not used."""
        return replace(
            self.program,
            code=tuple(self._step(step, ("code", i)) for i, step in enumerate(self.program.code)),
            init=tuple(self._statement(step, ("init", i)) for i, step in enumerate(self.program.init)),
            turn=tuple(self._statement(step, ("turn", i)) for i, step in enumerate(self.program.turn)),
        )

    def _step(self, step: p.Instruction, origin: Origin) -> p.Instruction:
        match step:
            case p.Set() | p.Observe():
                return self._statement(step, origin)
            case p.Choose(name=name, span=span) if origin not in self.needed:
                return p.Set(name, NONE, span)
            case _:
                return step

    def _statement(self, step: p.Set | p.Observe, origin: Origin) -> p.Set | p.Observe:
        unused = isinstance(step, p.Set) and origin not in self.needed
        return replace(step, expr=NONE if unused else self.rest[origin])
