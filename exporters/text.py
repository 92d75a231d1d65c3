"""Expressions as PRISM text, with as few parentheses as its precedence allows.

PRISM tells numbers from truth values; serQ does not. The printer therefore knows which of the two a place wants.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from serq.ir import expr as e

ATOM, PRODUCT, SUM, COMPARISON, NOT, AND, OR, CONDITIONAL = 8, 7, 6, 5, 4, 3, 2, 1

_LEVEL = {"*": PRODUCT, "/": PRODUCT, "+": SUM, "-": SUM}
_COMPARISON = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "!="}
_LONGEST_DECIMAL = 12


class NoTextError(Exception):
    """PRISM has no text for the expression that both tools read alike; the message says for what."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text and how tightly its outermost operator binds."""

    text: str
    level: int = ATOM

    def at(self, level: int) -> str:
        """The text, in parentheses when its operator binds less tightly than `level`."""
        return self.text if self.level >= level else f"({self.text})"

    def __str__(self) -> str:
        return self.text


def literal(value: e.Number) -> Piece:
    """A number: a short decimal where it has one, else a fraction."""
    if isinstance(value, float):
        raise NoTextError("a number that is not rational")
    if value < 0:
        return Piece(f"-{literal(-value).at(PRODUCT)}", SUM)
    if value.denominator == 1:
        return Piece(str(value.numerator))
    decimal = _decimal(value)
    return Piece(decimal) if decimal else Piece(f"{value.numerator} / {value.denominator}", PRODUCT)


def _decimal(value: Fraction) -> str:
    for places in range(1, _LONGEST_DECIMAL + 1):
        scaled = value * 10**places
        if scaled.denominator == 1:
            digits = str(scaled.numerator).rjust(places + 1, "0")
            return f"{digits[:-places]}.{digits[-places:]}"
    return ""


def multiply(a: Piece, b: Piece) -> Piece:
    """A * b, with factors of 1 left out."""
    if a.text == "1":
        return b
    if b.text == "1":
        return a
    if b.text.startswith("1 / "):
        return Piece(f"{a.at(PRODUCT)} / {b.text.removeprefix('1 / ')}", PRODUCT)
    return Piece(f"{a.at(PRODUCT)} * {b.at(PRODUCT)}", PRODUCT)


def add(a: Piece, b: Piece) -> Piece:
    """A + b."""
    return Piece(f"{a.at(SUM)} + {b.at(SUM)}", SUM)


def total(pieces: list[Piece]) -> Piece:
    """The sum of the pieces; 0 when there are none."""
    if not pieces:
        return Piece("0")
    out = pieces[0]
    for piece in pieces[1:]:
        out = add(out, piece)
    return out


def shifted(piece: Piece, by: int) -> Piece:
    """Piece + by."""
    if by == 0:
        return piece
    return Piece(f"{piece.at(SUM)} {'+' if by > 0 else '-'} {abs(by)}", SUM)


def conjunction(tests: list[str]) -> str:
    """The tests joined by `&`; `true` when there are none."""
    return " & ".join(tests) or "true"


@dataclass(frozen=True)
class Printer:
    """`names` gives the identifier of a constant; `state` the text of an observable or of `n`."""

    names: Callable[[str], str]
    state: Callable[[e.StageState | e.PoolState | e.Context], Piece]

    def number(self, expr: e.Expr) -> Piece:
        """The expression where a number is wanted."""
        match expr:
            case e.Num(value=v):
                return literal(v)
            case e.Const(name=name):
                return Piece(self.names(name))
            case e.StageState() | e.PoolState() | e.Context():
                return self.state(expr)
            case e.Binary(op=op) if op in _LEVEL:
                return self._arithmetic(expr)
            case e.Binary(op="%"):
                raise NoTextError("the operator %")
            case e.Binary() | e.Unary(op="!"):
                return Piece(f"{self.test(expr).at(OR)} ? 1 : 0", CONDITIONAL)
            case e.Unary(operand=a):
                return Piece(f"-{self.number(a).at(PRODUCT)}", SUM)
            case e.Cond(test=c, then=a, otherwise=b):
                text = f"{self.test(c).at(OR)} ? {self.number(a).at(OR)} : {self.number(b).at(OR)}"
                return Piece(text, CONDITIONAL)
            case e.Call(function=f, args=args):
                return self._call(f, [self.number(a) for a in args])
            case _:
                raise NoTextError("a value that is no function of the counters")

    def _arithmetic(self, expr: e.Binary) -> Piece:
        level = _LEVEL[expr.op]
        left, right = self.number(expr.left), self.number(expr.right)
        if expr.op == "*":
            return multiply(left, right)
        # The right operand of - and / needs parentheses already at the same level.
        tight = level + 1 if expr.op in "-/" else level
        return Piece(f"{left.at(level)} {expr.op} {right.at(tight)}", level)

    def _call(self, function: e.FunctionName, args: list[Piece]) -> Piece:
        if function in ("min", "max", "floor", "ceil"):
            return Piece(f"{function}({', '.join(a.text for a in args)})")
        if function == "abs":
            return Piece(f"max({args[0].text}, -{args[0].at(PRODUCT)})")
        raise NoTextError(f"the function {function}")

    def test(self, expr: e.Expr) -> Piece:
        """The expression where a truth value is wanted."""
        match expr:
            case e.Num(value=v):
                return Piece("true" if v != 0 else "false")
            case e.Binary(op="&&", left=a, right=b):
                return Piece(f"{self.test(a).at(AND)} & {self.test(b).at(AND)}", AND)
            case e.Binary(op="||", left=a, right=b):
                return Piece(f"{self.test(a).at(OR)} | {self.test(b).at(OR)}", OR)
            case e.Unary(op="!", operand=a):
                return self._negation(a)
            case e.Binary(op=op, left=a, right=b) if op in _COMPARISON:
                return Piece(f"{self.number(a).at(SUM)} {_COMPARISON[op]} {self.number(b).at(SUM)}", COMPARISON)
            case _:
                return Piece(f"{self.number(expr).at(SUM)} != 0", COMPARISON)

    def _negation(self, expr: e.Expr) -> Piece:
        opposite: Mapping[str, e.BinaryOp] = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
        if isinstance(expr, e.Binary) and expr.op in opposite:
            return self.test(e.Binary(opposite[expr.op], expr.left, expr.right))
        if isinstance(expr, e.Unary) and expr.op == "!":
            return self.test(expr.operand)
        return Piece(f"!({self.test(expr).text})", NOT)
