"""The graph of a session: what happens to it, one after the other, with the probabilities of its branches."""

from collections.abc import Iterator

from serq.draw.deployment import cards
from serq.draw.picture import Edge, Node, Picture
from serq.draw.words import Words, shortened
from serq.ir import program as p
from serq.ir.flow import successors
from serq.ir.numbers import short

_SHOWN = (p.Run, p.Hold, p.Release, p.Grow, p.Drop, p.Branch, p.Choose, p.Turn, p.End)


def picture_of(program: p.Program) -> Picture:
    """The picture of a program."""
    nodes, edges = _Flow(program).graph()
    return Picture(program.name, cards(program), nodes, edges)


class _Flow:
    """The walk over the session's instructions."""

    def __init__(self, program: p.Program) -> None:
        self.program = program
        self.words = Words(program)
        self.nodes: list[Node] = [Node("start", ("session",))]
        self.edges: list[Edge] = []
        self.number: dict[int, int] = {}
        self.open: set[int] = set()

    def graph(self) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
        """The nodes in the order in which they are met, and the edges between them."""
        todo = [(0, 0, "", False)]
        # Depth first, with an entry that closes the node again, so that an edge to an open node is one of a loop.
        while todo:
            source, pc, label, closes = todo.pop()
            if closes:
                self.open.discard(source)
                continue
            at, observed = self._shown(pc)
            label, self.nodes[source] = self._with_observes(source, label, observed)
            if at in self.number:
                target = self.number[at]
                self.edges.append(Edge(source, target, label, target in self.open))
                continue
            target = self.number[at] = len(self.nodes)
            self.nodes.append(self._node(at))
            self.edges.append(Edge(source, target, label, False))
            self.open.add(target)
            todo.append((target, 0, "", True))
            todo += [(target, pc, text, False) for pc, text in reversed(list(self._ways(at)))]
        return tuple(self.nodes), tuple(self.edges)

    def _shown(self, pc: int) -> tuple[int, tuple[str, ...]]:
        """The next instruction that is a node, and what is observed on the way to it."""
        observed = []
        while not isinstance(instruction := self.program.code[pc], _SHOWN):
            if isinstance(instruction, p.Observe):
                observed.append(f"observe {instruction.name}")
            (pc,) = successors(self.program, pc)
        return pc, tuple(observed)

    def _with_observes(self, source: int, label: str, observed: tuple[str, ...]) -> tuple[str, Node]:
        node = self.nodes[source]
        if node.kind == "branch":
            return ", ".join([*([label] if label else []), *observed]), node
        return label, Node(node.kind, (*node.lines, *observed), node.resource)

    def _ways(self, pc: int) -> Iterator[tuple[int, str]]:
        instruction = self.program.code[pc]
        if not isinstance(instruction, p.Branch):
            yield from ((after, "") for after in successors(self.program, pc))
            return
        chance = self.words.constant(instruction.probability)
        if chance is None:
            taken, other = ("yes", "no") if self.words.is_test(instruction.probability) else ("then", "else")
        else:
            written, value = self.words.expr(instruction.probability), short(chance, 4)
            taken = value if written in (value, "…") else f"{written} = {value}"
            other = short(1 - chance, 4)
        yield pc + 1, taken
        yield instruction.otherwise, other

    def _node(self, pc: int) -> Node:
        words = self.words
        match self.program.code[pc]:
            case p.Run(stage=stage, phase=phase, work=work, growing=growing):
                name = words.text(stage.span)
                more = () if growing is None else (f"growing {words.text(growing.span)}",)
                return Node("run", (f"{name} {phase}" if phase else name, words.expr(work), *more), stage.name)
            case p.Hold(parts=parts, reuse=reuse):
                lines = [f"hold {words.text(part.pool.span)} ({words.expr(part.units)})" for part in parts]
                more = () if reuse is None else (f"reuse ({words.expr(reuse)})",)
                return Node("hold", tuple(map(shortened, (*lines, *more))), parts[0].pool.name)
            case p.Release(hold=hold, cache=cache):
                pools = ", ".join(words.text(part.pool.span) for part in self._parts(hold))
                more = () if cache is None else (f"cache ({words.expr(cache)})",)
                return Node("release", (shortened(f"release {pools}"), *more), self._parts(hold)[0].pool.name)
            case p.Grow(pool=pool, units=units):
                return Node("pool", (f"grow {words.text(pool.span)} ({words.expr(units)})",), pool.name)
            case p.Drop(pool=pool):
                return Node("pool", (f"drop {words.text(pool.span)}",), pool.name)
            case p.Branch(probability=probability):
                known = words.constant(probability) is not None
                return Node("branch", () if known else (words.expr(probability),))
            case p.Choose(name=name, count=count, keys=keys):
                by = ", ".join(map(words.expr, keys))
                return Node("choose", (f"choose {name} in {words.expr(count)}", shortened(f"by ({by})")))
            case p.Turn():
                return Node("turn", ("turn",))
            case _:
                return Node("end", ("end",))

    def _parts(self, hold: int) -> tuple[p.HoldPart, ...]:
        instruction = self.program.code[hold]
        assert isinstance(instruction, p.Hold)
        return instruction.parts
