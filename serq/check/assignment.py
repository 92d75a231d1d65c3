"""Attributes that are read before any path has set them.

A forward data-flow analysis over the flat code: which attributes may be set when control reaches an instruction. What
is set on some paths only is left to the run. It is done twice. First on all paths: an attribute that none of them has
set is a fault, even where `?:`, `&&` or `||` might pass it over. Then without the paths that go on behind a read that
certainly fails: a loop that sets an attribute at its end does not help the read at its start.

Sets of attributes are bits of a number, kept at the starts of straight stretches of code only, so that long programs
stay cheap.
"""

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush

from serq.base.diagnostics import Diagnostic
from serq.check.scope_errors import UnsetAttribute
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.flow import expressions, successors, writes

Nodes = Callable[[e.Expr], Iterable[e.Expr]]
"""The parts of an expression to look at: all of them, or those that are certainly evaluated."""


def unset_attributes(program: p.Program) -> list[Diagnostic]:
    """A fault for each attribute that is read where no path has set it, at its first such place."""
    reads = [*_Analysis(program, e.walk, stops=False).unset_reads()]
    reads += _Analysis(program, _certain, stops=True).unset_reads()
    first: dict[str, e.Attr] = {}
    for attr in sorted(reads, key=lambda x: x.span):
        first.setdefault(attr.name, attr)
    return [UnsetAttribute(span=x.span, name=x.name, advice=_advice(program, x.name)) for x in first.values()]


def _certain(expr: e.Expr) -> Iterator[e.Expr]:
    """What is evaluated whenever the expression is."""
    yield expr
    match expr:
        case e.Cond(test=test):
            yield from _certain(test)
        case e.Binary(op="&&" | "||", left=left):
            yield from _certain(left)
        case _:
            for part in e.children(expr):
                yield from _certain(part)


class _Analysis:
    """One analysis of one program. `stops`: control does not go on behind a read that fails."""

    def __init__(self, program: p.Program, nodes: Nodes, stops: bool) -> None:
        self.program = program
        self.nodes = nodes
        self.stops = stops
        self.bit = {name: 1 << i for i, name in enumerate(program.attributes)}
        self.joins = {t for pc in range(len(program.code)) for t in successors(program, pc) if t != pc + 1}
        self.traced = self.bits(program.traced)

    def bits(self, names: Iterable[str]) -> int:
        """The set of the attributes among the names."""
        return sum({self.bit.get(name, 0) for name in names})

    def unset_reads(self) -> Iterator[e.Attr]:
        """Every read of an attribute that no path has set."""
        yield from self.block_reads(self.program.init, 0)
        for start, known in self.known_at_starts().items():
            for _, reads, _ in self.stretch(start, known):
                yield from reads

    def known_at_starts(self) -> dict[int, int]:
        """Per start of a reachable stretch, what some path has set before it; earlier code is settled first."""
        before = {0: self.bits(s.name for s in self.program.init if isinstance(s, p.Set))}
        todo = [0]
        while todo:
            start = heappop(todo)
            *_, (last, reads, known) = self.stretch(start, before[start])
            if reads and self.stops:
                continue
            for following in successors(self.program, last):
                merged = before.get(following, 0) | known
                if merged != before.get(following):
                    before[following] = merged
                    heappush(todo, following)
        return before

    def stretch(self, start: int, known: int) -> Iterator[tuple[int, list[e.Attr], int]]:
        """The instructions from `start` on that are only reached one from the other.

        Each with its unset reads and with what is set behind it.
        """
        pc = start
        while True:
            reads = [*self.reads(self.program.code[pc], known)]
            known |= self.bits(writes(self.program, pc))
            yield pc, reads, known
            straight = successors(self.program, pc) == (pc + 1,) and pc + 1 not in self.joins
            if not straight or (reads and self.stops):
                return
            pc += 1

    def reads(self, instruction: p.Instruction, known: int) -> Iterator[e.Attr]:
        """What the instruction reads although it is not known to be set anywhere before."""
        match instruction:
            case p.Choose():  # its own name is bound in the keys
                yield from self.unset(instruction.count, known)
                known |= self.bits((instruction.name,))
                for key in instruction.keys:
                    yield from self.unset(key, known)
            case p.Turn():
                yield from self.block_reads(self.program.turn, known | self.traced)
            case _:
                for expr in expressions(instruction):
                    yield from self.unset(expr, known)

    def block_reads(self, block: Iterable[p.Set | p.Observe], known: int) -> Iterator[e.Attr]:
        """The same for the statements of a workload block."""
        for statement in block:
            yield from self.unset(statement.expr, known)
            if isinstance(statement, p.Set):
                known |= self.bits((statement.name,))

    def unset(self, expr: e.Expr, known: int) -> Iterator[e.Attr]:
        """The same for one expression."""
        return (x for x in self.nodes(expr) if isinstance(x, e.Attr) and not self.bit.get(x.name, 0) & known)


def _advice(program: p.Program, name: str) -> str:
    if name in program.traced:
        return "the trace sets it at each `turn;`: put one before"
    if any(isinstance(s, p.Set) and s.name == name for s in program.turn):
        return "the workload's `turn` block sets it at each `turn;`: put one before"
    return f"assign it before, with `set {name} = ...;` or in the workload's `init` block"
