"""Attributes that are read before any path has set them.

A forward data-flow analysis over the flat code: which attributes may be set when control reaches an instruction. What
is set on some paths only is left to the run.
"""

from collections.abc import Iterable

from serq.base.diagnostics import Diagnostic
from serq.check.scope_errors import UnsetAttribute
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.flow import expressions, successors, writes

Names = frozenset[str]


def unset_attributes(program: p.Program) -> list[Diagnostic]:
    """A fault for each attribute that is read where no path has set it, at its first such place."""
    before = _may_be_set(program)
    reads: list[e.Attr] = [*_block_reads(program.init, frozenset())]
    for pc, instruction in enumerate(program.code):
        if pc not in before:
            continue
        reads += _instruction_reads(instruction, before[pc])
        if isinstance(instruction, p.Turn):
            reads += _block_reads(program.turn, before[pc] | _traced(program))
    first: dict[str, e.Attr] = {}
    for attr in sorted(reads, key=lambda x: x.span):
        first.setdefault(attr.name, attr)
    return [UnsetAttribute(span=x.span, name=x.name, advice=_advice(program, x.name)) for x in first.values()]


def _may_be_set(program: p.Program) -> dict[int, Names]:
    """Per reachable instruction, the attributes that some path from the start has set."""
    start = frozenset(s.name for s in program.init if isinstance(s, p.Set))
    before = {0: start}
    todo = [0]
    while todo:
        pc = todo.pop()
        after = before[pc] | writes(program, pc)
        for following in successors(program, pc):
            merged = before.get(following, frozenset()) | after
            if following not in before or merged != before[following]:
                before[following] = merged
                todo.append(following)
    return before


def _instruction_reads(instruction: p.Instruction, known: Names) -> list[e.Attr]:
    if isinstance(instruction, p.Choose):  # its own name is bound in the keys
        bound = known | {instruction.name}
        return [*_unset(instruction.count, known), *(x for key in instruction.keys for x in _unset(key, bound))]
    return [x for expr in expressions(instruction) for x in _unset(expr, known)]


def _block_reads(block: Iterable[p.Set | p.Observe], known: Names) -> list[e.Attr]:
    out: list[e.Attr] = []
    for statement in block:
        out += _unset(statement.expr, known)
        if isinstance(statement, p.Set):
            known |= {statement.name}
    return out


def _unset(expr: e.Expr, known: Names) -> list[e.Attr]:
    return [x for x in e.walk(expr) if isinstance(x, e.Attr) and x.name not in known]


def _traced(program: p.Program) -> Names:
    return frozenset(p.TRACE_ATTRIBUTES if program.trace else ())


def _advice(program: p.Program, name: str) -> str:
    if name in _traced(program):
        return "the trace sets it at each `turn;`: put one before"
    if any(isinstance(s, p.Set) and s.name == name for s in program.turn):
        return "the workload's `turn` block sets it at each `turn;`: put one before"
    return f"assign it before, with `set {name} = ...;` or in the workload's `init` block"
