"""Constants: in which order they are calculated, and their values in both arithmetics."""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from serq.ir import expr as e
from serq.ir.evaluate import Doubles, NoScope, Rationals, compile_expr
from serq.ir.program import Folded

_WIDEST = 1 << 14
"""Bits of a numerator or denominator beyond which the exact value is given up for the double: nobody meant it."""


def is_constant(expr: e.Expr) -> bool:
    """Whether the expression is made of numbers and lets alone."""
    return all(isinstance(x, e.Num | e.Const | e.Unary | e.Binary | e.Cond | e.Call) for x in e.walk(expr))


def is_nan(number: e.Number) -> bool:
    """Whether the number is none."""
    return isinstance(number, float) and math.isnan(number)


def is_out_of_range(folded: Folded) -> bool:
    """Whether doubles do not reach as far as the number, or what it is calculated from: runs would take `inf` or 0."""
    if isinstance(folded.exact, float):
        return False
    return math.isinf(folded.value) or not e.is_finite(folded.exact)


class Constants:
    """The values of the lets that have one, as exact numbers and as doubles."""

    def __init__(self) -> None:
        self.exact: dict[str, e.Number] = {}
        self.doubles: dict[str, float] = {}

    def define(self, name: str, folded: Folded) -> None:
        """Enters the value of a let."""
        self.exact[name] = folded.exact
        self.doubles[name] = folded.value

    def of(self, name: str, expr: e.Expr) -> Folded | None:
        """The value of a let with the expression that it came from, or None when it has none."""
        return Folded(expr, self.exact[name], self.doubles[name]) if name in self.exact else None

    def fold(self, expr: e.Expr) -> Folded | None:
        """The value of a constant expression; None when it is not constant, or reads a let that has no value."""
        if not is_constant(expr) or any(isinstance(x, e.Const) and x.name not in self.exact for x in e.walk(expr)):
            return None
        value = float(compile_expr(expr, Doubles(), self.doubles)(NoScope()))
        return Folded(expr, self._exact(expr, value), value)

    def number(self, expr: e.Expr) -> e.Number | None:
        """The exact value of a constant expression, or None as in `fold`."""
        folded = self.fold(expr)
        return None if folded is None else folded.exact

    def _exact(self, expr: e.Expr, value: float) -> e.Number:
        try:
            exact: e.Number = compile_expr(expr, Rationals(), self.exact)(NoScope())
        except OverflowError:  # a rational beyond the range of doubles met a double
            return value
        if isinstance(exact, float):
            return exact
        wide = max(exact.numerator.bit_length(), exact.denominator.bit_length()) > _WIDEST
        return value if wide and e.is_finite(exact) else Fraction(exact)


def order(reads: Mapping[str, Iterable[str]]) -> tuple[list[str], list[list[str]]]:
    """An order in which each name follows those that it reads, and the cycles that have none.

    A name that only reads a cycle is in the order. Names that read nothing of their own kind need not be keys.
    """
    done: dict[str, bool] = {}  # False while the name is on the path, True behind it
    out: list[str] = []
    cycles: list[list[str]] = []
    for start in reads:
        if start in done:
            continue
        done[start] = False
        path = [(start, iter(reads[start]))]
        while path:
            name, rest = path[-1]
            following = next(rest, None)
            if following is None:
                path.pop()
                done[name] = True
                out.append(name)
            elif following not in done:
                done[following] = False
                path.append((following, iter(reads.get(following, ()))))
            elif not done[following]:
                names = [n for n, _ in path]
                cycles.append(names[names.index(following) :])
    return out, cycles


def lets_read(expr: e.Expr) -> tuple[str, ...]:
    """The names of the lets that an expression reads, each once, in order."""
    return tuple(dict.fromkeys(x.name for x in e.walk(expr) if isinstance(x, e.Const)))


def shown(number: e.Number) -> str:
    """A number for a message: whole and decimal numbers as such, at most six digits of others."""
    if isinstance(number, Fraction) and number.denominator == 1:
        return str(number.numerator) if number.numerator.bit_length() < 64 else f"{float(number):.6g}"
    return f"{float(number):.6g}"
