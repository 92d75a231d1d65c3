"""Loops that can go round without letting time pass.

The flat code, restricted to instructions at which no time passes, must have no way from a loop's start back to it.
Runs of work that is known to be zero let no time pass; a branch whose probability is known to be 0 or 1 has one way.
"""

from collections.abc import Iterable
from itertools import pairwise

from serq.base.diagnostics import Diagnostic, Note
from serq.base.source import Span
from serq.check.fold import Constants, order
from serq.check.form_errors import TimelessLoop
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import NoScope, Rationals, Value, compile_expr
from serq.ir.flow import successors


def timeless_loops(program: p.Program, constants: Constants) -> list[Diagnostic]:
    """A fault for each loop that has a way round on which no time passes."""
    known = Known(program, constants)
    faults: list[Diagnostic] = []
    for pc, instruction in enumerate(program.code):
        if isinstance(instruction, p.Jump) and instruction.target <= pc:
            path = _way_round(program, known, instruction.target, pc)
            if path is not None:
                faults.append(_fault(program, known, instruction, path))
    return faults


def _way_round(program: p.Program, known: "Known", start: int, back: int) -> list[int] | None:
    """The shortest way from the start of a loop to the jump back on which no time passes, or None."""
    came_from = {start: start}
    todo = [start]
    for pc in todo:
        if pc == back:
            break
        if _time_passes(program.code[pc], known):
            continue
        for following in _ways_on(program, known, pc):
            if following not in came_from:
                came_from[following] = pc
                todo.append(following)
    if back not in came_from:
        return None
    path = [back]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]


def _time_passes(instruction: p.Instruction, known: "Known") -> bool:
    match instruction:
        case p.Hold():
            return True
        case p.Run(work=work):
            value = known.value(work)
            return value is None or value != 0  # negative work stops the run, which is not this fault
        case _:
            return False


def _ways_on(program: p.Program, known: "Known", pc: int) -> Iterable[int]:
    instruction = program.code[pc]
    if isinstance(instruction, p.Branch):
        value = known.value(instruction.probability)
        if value == 0:
            return (instruction.otherwise,)
        if value == 1:
            return (pc + 1,)
    return successors(program, pc)


def _fault(program: p.Program, known: "Known", back: p.Jump, path: list[int]) -> Diagnostic:
    notes = []
    for pc, following in pairwise(path):
        instruction = program.code[pc]
        if isinstance(instruction, p.Branch):
            taken = "is taken" if following == pc + 1 else "is not taken"
            notes.append(Note(message=f"when this branch {taken}", span=_keyword(instruction.span, "branch")))
        elif isinstance(instruction, p.Run):
            notes.append(Note(message="the work of this run is always 0", span=instruction.span))
    return TimelessLoop(span=_keyword(back.span, "loop"), notes=tuple(notes))


def _keyword(span: Span, word: str) -> Span:
    return Span(span.line, span.column, span.line, span.column + len(word))


class Known:
    """Values that can be told without running: constants, and attributes to which one constant is ever assigned."""

    def __init__(self, program: p.Program, constants: Constants) -> None:
        self.constants = constants
        self.attributes: dict[str, e.Number] = {}
        assigned = _assignments(program)
        reads = {name: [y for x in expressions for y in e.attributes_read(x)] for name, expressions in assigned.items()}
        for name in order(reads)[0]:
            value = self._common(assigned.get(name, []))
            if value is not None:
                self.attributes[name] = value

    def value(self, expr: e.Expr) -> e.Number | None:
        """The one value that the expression can have, or None when that cannot be told."""
        if any(isinstance(x, e.Const) and x.name not in self.constants.exact for x in e.walk(expr)):
            return None
        try:
            number: e.Number = compile_expr(expr, Rationals(), self.constants.exact)(_Scope(self.attributes))
        except (LookupError, OverflowError):
            return None
        return number if number == number else None  # NaN tells nothing

    def _common(self, expressions: list[e.Expr]) -> e.Number | None:
        values = {self.value(x) for x in expressions}
        return next(iter(values)) if len(values) == 1 else None


class _Scope(NoScope):
    """Answers for known attributes and for draws that can only give 0; LookupError for the rest."""

    def __init__(self, attributes: dict[str, e.Number]) -> None:
        self.attributes = attributes

    def attr(self, name: str) -> Value:
        return self.attributes[name]

    def draw(self, draw: e.Draw, args: tuple[Value, ...]) -> Value:
        mean = {"exp": 0, "det": 0, "h2": 0, "erlang": 1}.get(draw.law)
        if mean is None or args[mean] != 0:
            raise LookupError(draw.law)
        return args[mean]


def _assignments(program: p.Program) -> dict[str, list[e.Expr]]:
    """Everything that is ever assigned to each attribute; attributes of `choose` and of a trace are left out."""
    out: dict[str, list[e.Expr]] = {}
    chosen = set(program.traced)
    for instruction in (*program.init, *program.turn, *program.code):
        if isinstance(instruction, p.Set):
            out.setdefault(instruction.name, []).append(instruction.expr)
        elif isinstance(instruction, p.Choose):
            chosen.add(instruction.name)
    return {name: expressions for name, expressions in out.items() if name not in chosen}
