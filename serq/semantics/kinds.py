"""What kind of number every expression of a session may be: finite, a draw, a time, or something else.

A forward data-flow analysis over the session's graph. A program is a finite Markov chain when only finite numbers steer
it; the shapes below are just fine enough to decide that, and to say why not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Literal

from serq.base.source import Span
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import NoScope, Rationals, compile_expr
from serq.semantics.graph import Graph, Origin


class Shape(Enum):
    """What an expression may give."""

    ZERO = "zero"  # the number 0, always
    NUMBER = "number"  # a number out of finitely many
    PHASE = "phase"  # a finite factor times one phase-type draw
    SUM = "sum"  # a linear combination of draws: its mean is known
    CLOCK = "clock"  # the time now
    SPAN = "span"  # a linear combination of times, and of all that is above
    OPAQUE = "opaque"  # any other real number


FINITE = frozenset({Shape.ZERO, Shape.NUMBER})
DRAWN = frozenset({Shape.PHASE, Shape.SUM})
TIMED = frozenset({Shape.CLOCK, Shape.SPAN})

Reason = Literal["time", "draw", "endless", "estimate", "real key"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a number that is not finite comes from: its text in the program and its place."""

    reason: Reason
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Kind:
    """The shapes that a value may have, and the sources of what is not finite in it."""

    shapes: frozenset[Shape]
    sources: frozenset[Source] = frozenset()

    def __or__(self, other: "Kind") -> "Kind":
        return Kind(self.shapes | other.shapes, self.sources | other.sources)

    @property
    def is_finite(self) -> bool:
        """Whether the value is certainly out of finitely many."""
        return self.shapes <= FINITE

    def only(self, shape: Shape) -> "Kind":
        """The same sources in one shape."""
        return Kind(frozenset({shape}), self.sources)


NOTHING = Kind(frozenset())
ZERO = Kind(frozenset({Shape.ZERO}))
NUMBER = Kind(frozenset({Shape.NUMBER}))

Environment = Mapping[str, Kind]
"""The kinds of the attributes that may have been set, at one node."""

_PHASE_TYPE = ("exp", "erlang", "h2")
_FINITE_LAWS = ("bernoulli", "choice")
_REAL_CONTEXT = ("age", "last", "waited")


class Kinds:
    """The kinds of all attributes before every node, and of any expression there."""

    def __init__(self, program: p.Program, graph: Graph) -> None:
        self.program = program
        self.constants = program.exact_constants()
        self.traced = program.traced
        self.graph = graph
        self._endless = _has_endless_serials(program)
        # the copies of a statement of the turn block share what is known before them: one slice must serve them all
        known: dict[Origin, dict[str, Kind]] = {}
        self.before = [known.setdefault(node.origin, {}) for node in graph.nodes]
        self.copies: dict[Origin, list[int]] = {}
        for place, node in enumerate(graph.nodes):
            self.copies.setdefault(node.origin, []).append(place)
        self._solve()

    def at(self, node: int, expr: e.Expr) -> Kind:
        """The kind of an expression evaluated at a node; the keys of a choose read the index that is weighed."""
        step, before = self.graph.nodes[node].step, self.before[node]
        return self.of(expr, {**before, step.name: NUMBER} if isinstance(step, p.Choose) else before)

    def _solve(self) -> None:
        todo = [self.graph.entry]
        seen = {self.graph.entry}
        while todo:
            node = todo.pop()
            after = self._after(node)
            for target in self.graph.edges(node):
                if self._join(target, after):
                    todo += [c for c in self.copies[self.graph.nodes[target].origin] if c in seen]
                if target not in seen:
                    todo.append(target)
                seen.add(target)

    def _after(self, node: int) -> dict[str, Kind]:
        step, before = self.graph.nodes[node].step, self.before[node]
        match step:
            case p.Set(name=name, expr=expr):
                return {**before, name: self.of(expr, before)}
            case p.Choose(name=name):
                return {**before, name: NUMBER}
            case p.Turn():
                return {**before, **dict.fromkeys(self.traced, NUMBER)}
            case _:
                return before

    def _join(self, node: int, more: dict[str, Kind]) -> bool:
        """Merge into what is known before the node; whether that says anything new."""
        known = self.before[node]
        new = {name: known.get(name, NOTHING) | kind for name, kind in more.items()}
        changed = any(known.get(name) != kind for name, kind in new.items())
        known.update(new)
        return changed

    def of(self, expr: e.Expr, env: Environment) -> Kind:
        """The kind of an expression where the attributes have these kinds."""
        match expr:
            case e.Num() | e.Const():
                return ZERO if self.constant(expr) == 0 else NUMBER
            case e.Attr(name=name):
                return env.get(name, NOTHING)
            case e.Builtin(name="now"):
                return Kind(frozenset({Shape.CLOCK}), frozenset({Source("time", "now", expr.span)}))
            case e.Builtin(name="serial") if self._endless:
                return _opaque("endless", "serial", expr.span)
            case e.Context(name=name) if name in _REAL_CONTEXT:
                return _opaque("real key", name, expr.span)
            case e.StageState(fact=fact, stage=ref) if fact == "work" or fact.startswith("est_"):
                return _opaque("estimate", f"{fact}({ref.name})", expr.span)
            case e.Price():
                return _opaque("estimate", "price", expr.span)
            case e.Draw():
                return self._draw(expr, env)
            case e.Cond(test=test, then=then, otherwise=otherwise):
                kind = self.of(test, env)
                either = self.of(then, env) | self.of(otherwise, env)
                return either if kind.is_finite else (kind | either).only(Shape.OPAQUE)
            case e.Unary(op="-", operand=a):
                return _negated(self.of(a, env))
            case e.Binary(op=op) if op in ("+", "-", "*", "/"):
                return self._arithmetic(expr, env)
            case _:
                return self._plain(expr, env)

    def _plain(self, expr: e.Expr, env: Environment) -> Kind:
        """Whatever keeps finite numbers finite and anything else nothing in particular."""
        kind = NUMBER
        for child in e.children(expr):
            kind = kind | self.of(child, env)
        return NUMBER if kind.is_finite else kind.only(Shape.OPAQUE)

    def _draw(self, draw: e.Draw, env: Environment) -> Kind:
        args = self._plain(draw, env)
        if draw.law == "det":
            return self.of(draw.args[0], env)
        if draw.law in _FINITE_LAWS:
            return args
        reason: Reason = "endless" if draw.law == "geometric" else "draw"
        source = Source(reason, f"~{draw.law}", draw.span)
        shape = Shape.PHASE if draw.law in _PHASE_TYPE else Shape.SUM
        return Kind(frozenset({shape if args.is_finite else Shape.OPAQUE}), args.sources | {source})

    def _arithmetic(self, expr: e.Binary, env: Environment) -> Kind:
        left, right = self.of(expr.left, env), self.of(expr.right, env)
        if expr.op in ("+", "-"):
            pairs = [_added(a, b, expr.op) for a in left.shapes for b in right.shapes]
        elif expr.op == "*":
            fixed_left, fixed_right = self.constant(expr.left) is not None, self.constant(expr.right) is not None
            pairs = [_multiplied(a, b, fixed_left, fixed_right) for a in left.shapes for b in right.shapes]
        else:
            fixed = self.constant(expr.right) is not None
            pairs = [_divided(a, b, fixed) for a in left.shapes for b in right.shapes]
        return Kind(frozenset(pairs), left.sources | right.sources)

    def constant(self, expr: e.Expr) -> Fraction | None:
        """The value of an expression of literals and constants alone, where it is a rational."""
        if not all(isinstance(n, e.Num | e.Const | e.Unary | e.Binary | e.Call | e.Cond) for n in e.walk(expr)):
            return None
        value = compile_expr(expr, Rationals(), self.constants)(NoScope())
        return value if isinstance(value, Fraction) else Fraction(value) if isinstance(value, int) else None


def _has_endless_serials(program: p.Program) -> bool:
    """Whether `serial` grows for ever: sessions keep arriving, or replace those that end. States have no counter of
    arrivals, so that nothing may be made of it, neither its remainder nor a zero times it.
    """
    match program.arrivals:
        case p.Batch() | p.NoArrivals():
            return False
        case p.Closed():
            return any(isinstance(step, p.End) for step in program.code)
        case _:
            return True


def _opaque(reason: Reason, text: str, span: Span) -> Kind:
    return Kind(frozenset({Shape.OPAQUE}), frozenset({Source(reason, text, span)}))


def _negated(kind: Kind) -> Kind:
    change = {Shape.PHASE: Shape.SUM, Shape.CLOCK: Shape.SPAN}
    return Kind(frozenset(change.get(s, s) for s in kind.shapes), kind.sources)


def _added(a: Shape, b: Shape, op: str) -> Shape:
    if b is Shape.ZERO:
        return a
    if a is Shape.ZERO and op == "+":
        return b
    both = {a, b}
    if Shape.OPAQUE in both:
        return Shape.OPAQUE
    if both & TIMED:
        return Shape.SPAN
    return Shape.SUM if both & DRAWN else Shape.NUMBER


def _multiplied(a: Shape, b: Shape, a_fixed: bool, b_fixed: bool) -> Shape:
    if Shape.OPAQUE in (a, b):
        return Shape.OPAQUE  # a zero times it too: the chain would have to evaluate it
    if Shape.ZERO in (a, b):
        return Shape.ZERO
    if a in FINITE:
        return _scaled(b, a_fixed)
    if b in FINITE:
        return _scaled(a, b_fixed)
    return Shape.OPAQUE


def _divided(a: Shape, b: Shape, b_fixed: bool) -> Shape:
    if b not in FINITE:
        return Shape.OPAQUE
    return a if a in FINITE else _scaled(a, b_fixed)


def _scaled(shape: Shape, fixed: bool) -> Shape:
    """The shape of a finite multiple; of times only fixed multiples stay linear in what the chain knows."""
    if shape in TIMED:
        return Shape.SPAN if fixed else Shape.OPAQUE
    return shape
