"""The control flow of a session: successors, rest points, what is read and written, liveness.

Pure graph facts about `Program.code`; what they are used for is the business of the reader.
"""

from collections.abc import Callable, Collection, Iterable

from serq.ir import expr as e
from serq.ir import program as p

Uses = Callable[[int], frozenset[str]]


def successors(program: p.Program, pc: int) -> tuple[int, ...]:
    """Where control may go from instruction `pc`; nothing follows an `End` (see `restarts`)."""
    match program.code[pc]:
        case p.End():
            return ()
        case p.Jump(target=t):
            return (t,)
        case p.Branch(otherwise=t):
            return (pc + 1, t)
        case _:
            return (pc + 1,)


def is_rest(program: p.Program, pc: int) -> bool:
    """Whether a session may stay at this instruction while time passes."""
    return isinstance(program.code[pc], p.Run | p.Hold | p.Grow)


def expressions(instruction: p.Instruction) -> tuple[e.Expr, ...]:
    """Every expression that the instruction evaluates, array indices included as part of what holds them."""
    match instruction:
        case p.Set(expr=x) | p.Observe(expr=x):
            return (x,)
        case p.Hold(parts=parts, reuse=reuse):
            inner = [x for part in parts for x in (*_index(part.pool), part.units, part.reserve)]
            return tuple(x for x in (*inner, reuse) if x is not None)
        case p.Release(cache=x):
            return () if x is None else (x,)
        case p.Grow(pool=ref, units=x):
            return (*_index(ref), x)
        case p.Drop(pool=ref):
            return _index(ref)
        case p.Run(stage=ref, work=x, growing=growing):
            return (*_index(ref), x, *(() if growing is None else _index(growing)))
        case p.Branch(probability=x):
            return (x,)
        case p.Choose(count=x, keys=keys):
            return (x, *keys)
        case _:
            return ()


def _index(ref: e.Ref) -> tuple[e.Expr, ...]:
    return () if ref.index is None else (ref.index,)


def reads(program: p.Program, pc: int) -> frozenset[str]:
    """Attributes (and `cached`, `computed`) that the instruction may read. `choose` binds its own name in its keys."""
    names: set[str] = set()
    for expr in expressions(program.code[pc]):
        for node in e.walk(expr):
            if isinstance(node, e.Attr) or (isinstance(node, e.Builtin) and node.name in ("cached", "computed")):
                names.add(node.name)
    instruction = program.code[pc]
    if isinstance(instruction, p.Choose):
        names.discard(instruction.name)
    if isinstance(instruction, p.Turn):
        names |= _block_reads(program.turn)
    return frozenset(names)


def _block_reads(block: Iterable[p.Set | p.Observe]) -> set[str]:
    read: set[str] = set()
    written: set[str] = set()
    for statement in block:
        read |= e.attributes_read(statement.expr) - written
        if isinstance(statement, p.Set):
            written.add(statement.name)
    return read


def writes(program: p.Program, pc: int) -> frozenset[str]:
    """Attributes that the instruction certainly overwrites."""
    match program.code[pc]:
        case p.Set(name=name) | p.Choose(name=name):
            return frozenset({name})
        case p.Hold():
            return frozenset({"cached", "computed"})
        case p.Turn():
            block = {s.name for s in program.turn if isinstance(s, p.Set)}
            return frozenset(block.union(program.traced))
        case _:
            return frozenset()


def observes_of_time(program: p.Program) -> frozenset[str]:
    """The names of the observes whose value is computed from the clock, itself or through attributes."""
    statements = [s for s in (*program.init, *program.turn, *program.code) if isinstance(s, p.Set | p.Observe)]
    sets = [s for s in statements if isinstance(s, p.Set)]
    timed: set[str] = set()
    while more := {s.name for s in sets if _of_time(s.expr, timed)} - timed:
        timed |= more
    return frozenset(s.name for s in statements if isinstance(s, p.Observe) and _of_time(s.expr, timed))


_TRUTHS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})


def _of_time(expr: e.Expr, timed: Collection[str]) -> bool:
    """Whether the clock, or an attribute that is `timed`, is in the value, and not only in what decides about it."""
    match expr:
        case e.Builtin(name=name):
            return name == "now"
        case e.Attr(name=name):
            return name in timed
        case e.Binary(op=op) if op in _TRUTHS:
            return False
        case e.Cond(then=then, otherwise=otherwise):
            return _of_time(then, timed) or _of_time(otherwise, timed)
        case _:
            return any(_of_time(child, timed) for child in e.children(expr))


def enclosing_holds(program: p.Program) -> tuple[tuple[int, ...], ...]:
    """Per instruction, the holds whose body it stands in, outermost first (a `Hold` is outside its own body)."""
    out: list[tuple[int, ...]] = []
    open_holds: list[int] = []
    for pc, instruction in enumerate(program.code):
        if isinstance(instruction, p.Release):
            out.append(tuple(open_holds))
            open_holds.pop()
            continue
        out.append(tuple(open_holds))
        if isinstance(instruction, p.Hold):
            open_holds.append(pc)
    return tuple(out)


def liveness(
    program: p.Program, uses: Uses, kills: Uses, edges: Callable[[int], Iterable[int]]
) -> tuple[tuple[frozenset[str], ...], tuple[frozenset[str], ...]]:
    """(live-in, live-out) names per instruction, the least fixed point of the backward data-flow equations."""
    size = len(program.code)
    live_in: list[frozenset[str]] = [frozenset()] * size
    live_out: list[frozenset[str]] = [frozenset()] * size
    changed = True
    while changed:
        changed = False
        for pc in reversed(range(size)):
            out = frozenset().union(*(live_in[t] for t in edges(pc)))
            into = uses(pc) | (out - kills(pc))
            if (into, out) != (live_in[pc], live_out[pc]):
                live_in[pc], live_out[pc] = into, out
                changed = True
    return tuple(live_in), tuple(live_out)
