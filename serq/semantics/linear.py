"""Observes and sets taken apart: how often they count which time, and the rest that the chain evaluates itself.

`now - t0 - s` counts the present once and `t0` minus once; its rest is `-s`, of which the chain knows the mean. The
times are accounted for by Little's law (`serq.semantics.passes`), so that no state ever holds a real number.
"""

from dataclasses import dataclass
from fractions import Fraction

from serq.ir import expr as e
from serq.semantics.kinds import TIMED, Kind, Kinds, Shape

NOW = "now"
"""The name under which the present is counted; no attribute is called so."""

NONE = e.Num(Fraction(0))


@dataclass(frozen=True, slots=True)
class Linear:
    """sum of coefficient * time + rest; a time is `now` or what an attribute has of times. Zero terms are left out."""

    times: tuple[tuple[str, Fraction], ...]
    rest: e.Expr


class NotLinear(Exception):  # noqa: N818 - a fact about an expression, not a fault
    """The expression cannot be taken apart; the message says why."""


def linear_of(kinds: Kinds, node: int, expr: e.Expr) -> Linear:
    """The expression at that node as a linear function of times. Raises NotLinear."""
    kind = kinds.at(node, expr)
    if not kind.shapes & (TIMED | {Shape.OPAQUE}):
        return Linear((), expr)
    if Shape.OPAQUE in kind.shapes:
        raise NotLinear(_why(kind))
    times, rest = _Parts(kinds, node).of(expr)
    return Linear(tuple(sorted((name, c) for name, c in times.items() if c)), rest)


def _why(kind: Kind) -> str:
    reasons = {source.reason for source in kind.sources}
    if "estimate" in reasons:
        return "it reads an online estimate or unfinished work"
    if any(source.text == "serial" for source in kind.sources):
        return "it reads `serial`, which grows for ever where sessions keep arriving"
    if reasons == {"time"}:
        return "it is not linear in the time, so its mean needs the law of the time: the tagged-session chain"
    if "time" in reasons:
        return "it multiplies, divides or compares a time and a draw, which no chain gives"
    return "it is not linear in its draws"


Times = dict[str, Fraction]


class _Parts:
    def __init__(self, kinds: Kinds, node: int) -> None:
        self.kinds = kinds
        self.node = node

    def of(self, expr: e.Expr) -> tuple[Times, e.Expr]:
        kind = self.kinds.at(self.node, expr)
        if not kind.shapes & TIMED:
            return {}, expr
        match expr:
            case e.Builtin(name="now"):
                return {NOW: Fraction(1)}, NONE
            case e.Attr(name=name):
                return {name: Fraction(1)}, NONE if kind.shapes == {Shape.CLOCK} else expr
            case e.Unary(operand=operand):
                times, rest = self.of(operand)
                return _scaled(times, Fraction(-1)), _negative(rest)
            case e.Cond():
                return self._cond(expr)
            case e.Binary(op="+" | "-", left=left, right=right):
                a, b = self.of(left), self.of(right)
                sign = Fraction(1 if expr.op == "+" else -1)
                return _sum(a[0], _scaled(b[0], sign)), _join(expr, a[1], b[1])
            case e.Binary():
                return self._multiple(expr)
        raise NotLinear(_why(kind))

    def _cond(self, expr: e.Cond) -> tuple[Times, e.Expr]:
        a, b = self.of(expr.then), self.of(expr.otherwise)
        if a[0] != b[0]:
            raise NotLinear("which times it counts depends on the state")
        return a[0], NONE if a[1] == b[1] == NONE else e.Cond(expr.test, a[1], b[1], expr.span)

    def _multiple(self, expr: e.Binary) -> tuple[Times, e.Expr]:
        factor = self.kinds.constant(expr.right)
        if factor is not None:
            times, rest = self.of(expr.left)
            return _scaled(times, 1 / factor if expr.op == "/" else factor), _join(expr, rest, expr.right)
        factor = self.kinds.constant(expr.left)
        if factor is None or expr.op != "*":
            raise NotLinear("how often it counts a time depends on the state")
        times, rest = self.of(expr.right)
        return _scaled(times, factor), _join(expr, expr.left, rest)


def _scaled(times: Times, factor: Fraction) -> Times:
    return {name: c * factor for name, c in times.items()}


def _sum(a: Times, b: Times) -> Times:
    return {name: a.get(name, Fraction(0)) + b.get(name, Fraction(0)) for name in {**a, **b}}


def _negative(rest: e.Expr) -> e.Expr:
    return NONE if rest == NONE else e.Unary("-", rest)


def _join(expr: e.Binary, left: e.Expr, right: e.Expr) -> e.Expr:
    """The operation on the rests, without the zeros that it would only carry along."""
    if expr.op in ("*", "/"):
        return NONE if NONE in (left, right) else e.Binary(expr.op, left, right, expr.span)
    if right == NONE:
        return left
    if left == NONE:
        return right if expr.op == "+" else _negative(right)
    return e.Binary(expr.op, left, right, expr.span)
