"""Resolved expressions: every name has become the one thing it stands for.

The linker makes these; nothing here can fail. Numbers are kept as written (exact rationals), so that each back end may
evaluate in the arithmetic it needs; `Const` keeps the name of a `let`, so that exports can leave it open.
"""

import math
from dataclasses import field
from fractions import Fraction
from typing import Literal

from serq.base.frozen import Frozen
from serq.base.source import NOWHERE, Span

Number = Fraction | float
"""An exact rational, or a double where there is no rational (inf, or the value of sqrt, exp, ln)."""


def double(value: Number) -> float:
    """The nearest double; infinite for a rational beyond the range of doubles."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def is_finite(value: Number) -> bool:
    """Whether it is a finite number that a double comes near to: no rational beyond their range either."""
    return math.isfinite(double(value)) and (value == 0 or double(value) != 0)


ContextName = Literal[
    "size", "age", "last", "queued", "waited", "n", "nres", "ndec", "kvb", "kvp", "ntok", "npre", "attn"
]
BuiltinName = Literal["now", "serial", "turn_no", "cached", "computed"]
StageFact = Literal["queue", "busy", "work", "budget_left", "est_lambda", "est_rho", "est_wait"]
PoolFact = Literal["used", "free", "cachedin", "holders", "queued"]
FunctionName = Literal["min", "max", "abs", "floor", "ceil", "sqrt", "exp", "ln", "pow"]
LawName = Literal["exp", "det", "uniform", "erlang", "h2", "bernoulli", "geometric", "choice"]
UnaryOp = Literal["-", "!"]
BinaryOp = Literal["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]


class Num(Frozen):
    """A literal, or `inf`."""

    value: Number
    span: Span = field(default=NOWHERE, compare=False)


class Const(Frozen):
    """A `let`, by name."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


class Attr(Frozen):
    """A session attribute: assigned by `set`, by `choose`, or by a trace's `turn`."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


class Builtin(Frozen):
    """The time, or a built-in attribute of the session."""

    name: BuiltinName
    span: Span = field(default=NOWHERE, compare=False)


class Context(Frozen):
    """A context variable, by its short name, standing where it is readable."""

    name: ContextName
    span: Span = field(default=NOWHERE, compare=False)


class Ref(Frozen):
    """A pool or a stage, or a member of an array of them.

    `base` is the place of the (first) member in `Program.pools` or `Program.stages`. `index` is None for a plain
    name; otherwise it chooses among `size` members and is checked at run time.
    """

    name: str
    base: int
    size: int = 1
    index: "Expr | None" = None
    span: Span = field(default=NOWHERE, compare=False)


class StageState(Frozen):
    """An observable of a stage."""

    fact: StageFact
    stage: Ref
    span: Span = field(default=NOWHERE, compare=False)


class PoolState(Frozen):
    """An observable of a pool; `cachedin` is about the session's own entry."""

    fact: PoolFact
    pool: Ref
    span: Span = field(default=NOWHERE, compare=False)


class Price(Frozen):
    """`price(stage, s_hit, ds)`: the M/G/1 price of a miss at the stage's estimates."""

    stage: Ref
    hit: "Expr"
    extra: "Expr"
    span: Span = field(default=NOWHERE, compare=False)


class Unary(Frozen):
    """`-x` or `!x`."""

    op: UnaryOp
    operand: "Expr"
    span: Span = field(default=NOWHERE, compare=False)


class Binary(Frozen):
    """Two operands; `&&` and `||` are lazy."""

    op: BinaryOp
    left: "Expr"
    right: "Expr"
    span: Span = field(default=NOWHERE, compare=False)


class Cond(Frozen):
    """`test ? then : otherwise`, lazy."""

    test: "Expr"
    then: "Expr"
    otherwise: "Expr"
    span: Span = field(default=NOWHERE, compare=False)


class Call(Frozen):
    """A function of numbers."""

    function: FunctionName
    args: "tuple[Expr, ...]"
    span: Span = field(default=NOWHERE, compare=False)


class Draw(Frozen):
    """A random draw. For `choice` the arguments are value, weight, value, weight, ..."""

    law: LawName
    args: "tuple[Expr, ...]"
    span: Span = field(default=NOWHERE, compare=False)


Expr = Num | Const | Attr | Builtin | Context | StageState | PoolState | Price | Unary | Binary | Cond | Call | Draw


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct sub-expressions, array indices included, in the order of evaluation."""
    match expr:
        case Unary(operand=a):
            return (a,)
        case Binary(left=a, right=b):
            return (a, b)
        case Cond(test=a, then=b, otherwise=c):
            return (a, b, c)
        case Call(args=args) | Draw(args=args):
            return args
        case Price(stage=ref, hit=a, extra=b):
            return (*_index(ref), a, b)
        case StageState(stage=ref) | PoolState(pool=ref):
            return _index(ref)
        case _:
            return ()


def _index(ref: Ref) -> tuple[Expr, ...]:
    return () if ref.index is None else (ref.index,)


def walk(expr: Expr) -> "list[Expr]":
    """The expression and everything in it, outermost first."""
    out: list[Expr] = []
    todo = [expr]
    while todo:
        node = todo.pop()
        out.append(node)
        todo.extend(reversed(children(node)))
    return out


def attributes_read(expr: Expr) -> frozenset[str]:
    """The names of the session attributes that the expression may read."""
    return frozenset(node.name for node in walk(expr) if isinstance(node, Attr))


def reads_time(expr: Expr) -> bool:
    """Whether the expression reads `now` itself."""
    return any(isinstance(node, Builtin) and node.name == "now" for node in walk(expr))


def draws(expr: Expr) -> tuple[Draw, ...]:
    """The draws in the expression, in order."""
    return tuple(node for node in walk(expr) if isinstance(node, Draw))
