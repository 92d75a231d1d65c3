"""Numbers of an enumeration: rationals, and amounts that are not drawn yet.

An `Amount` goes from a draw through attributes into one `run`, which spends it phase by phase, and into observes, which
count its mean. Whoever needs its value, to compare it or to multiply two, gets `RealNumberError`.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from serq.ir import expr as e
from serq.ir.evaluate import Rationals
from serq.ir.laws import Law, mean


class RealNumberError(Exception):
    """The value of a real-valued draw was asked for."""


class ComposedWorkError(RealNumberError):
    """The work of a run is a sum that no clock counts down; the message names its draws."""


@dataclass(frozen=True, slots=True)
class Undrawn:
    """A draw that was not made: its law, and the law in the program's constants where it reads nothing else."""

    law: Law
    text: str | None


Term = tuple[Undrawn, Fraction]


class Amount:
    """constant + sum of factor * draw, every term a draw of its own."""

    __slots__ = ("code", "constant", "terms")

    def __init__(self, terms: tuple[Term, ...], constant: Fraction = Fraction(0)) -> None:
        self.terms = terms
        self.constant = constant
        self.code = -1  # the number of its law among the laws of work, once it has one

    @property
    def key(self) -> tuple[tuple[Term, ...], Fraction]:
        """What tells amounts apart; `==` asks for the value."""
        return self.terms, self.constant

    @property
    def mean(self) -> Fraction:
        """The mean."""
        return self.constant + sum((factor * rational(mean(draw.law)) for draw, factor in self.terms), Fraction(0))

    def __repr__(self) -> str:
        return " + ".join([f"{factor} ~{draw.law.name}{draw.law.args}" for draw, factor in self.terms])

    def __add__(self, other: Any) -> "Amount":
        if isinstance(other, Amount):
            return Amount(self.terms + other.terms, self.constant + other.constant)
        return Amount(self.terms, self.constant + rational(other)) if other else self

    __radd__ = __add__

    def __neg__(self) -> "Amount":
        return self.scaled(Fraction(-1))

    def __sub__(self, other: Any) -> "Amount":
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> "Amount":
        return (-self).__add__(other)

    def scaled(self, factor: Fraction) -> "Amount":
        """A multiple of it."""
        return Amount(tuple((draw, f * factor) for draw, f in self.terms), self.constant * factor)

    def __mul__(self, other: Any) -> "Amount | int":
        if isinstance(other, Amount):
            raise RealNumberError("the product of two draws is no linear function of them")
        if isinstance(other, float) and not isfinite(other):
            raise RealNumberError(f"a real-valued draw is multiplied by {other}")
        factor = rational(other)
        return self.scaled(factor) if factor else 0

    __rmul__ = __mul__

    def _refuse(self, _other: Any) -> bool:
        raise RealNumberError("a real-valued draw is compared with something")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = object.__hash__


def rational(value: e.Number) -> Fraction:
    """The number as a rational: a double stands for itself."""
    return value if isinstance(value, Fraction) else Fraction(value)


class Symbolic(Rationals):
    """Rationals among which amounts may stand. Whole numbers are ints: a chain counts much and divides little."""

    def literal(self, value: e.Number) -> Any:
        """The literal, as an int where it is whole."""
        return slim(value)

    def divide(self, a: Any, b: Any) -> Any:
        """An exact quotient; an amount may be divided by a number."""
        if isinstance(b, Amount):
            raise RealNumberError("something is divided by a real-valued draw")
        if isinstance(a, Amount):
            if b == 0 or isinstance(b, float):
                raise RealNumberError(f"a real-valued draw is divided by {b}")
            return a.scaled(1 / rational(b))
        return slim(super().divide(a, b))

    def modulo(self, a: Any, b: Any) -> Any:
        """An exact remainder."""
        _refuse_amounts("%", (a, b))
        return slim(super().modulo(a, b))

    def function(self, name: e.FunctionName, args: tuple[Any, ...]) -> Any:
        """A function of numbers, none of them an amount."""
        _refuse_amounts(name, args)
        return slim(super().function(name, args))


def _refuse_amounts(name: str, args: tuple[Any, ...]) -> None:
    if any(isinstance(a, Amount) for a in args):
        raise RealNumberError(f"`{name}` is applied to a real-valued draw")


def slim(value: Any) -> Any:
    """An int in place of a whole rational."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def constant_text(expr: e.Expr) -> str | None:
    """The expression as text when it is arithmetic of constants and literals alone, else None."""
    return _text(expr, 0)


_LEVEL = {"+": 1, "-": 1, "*": 2, "/": 2}


def _text(expr: e.Expr, level: int) -> str | None:
    match expr:
        case e.Num(value=value):
            return str(value) if not isinstance(value, Fraction) or value.denominator == 1 else _decimal(value, level)
        case e.Const(name=name):
            return name
        case e.Unary(op="-", operand=operand):
            inner = _text(operand, 3)
            return None if inner is None else f"-{inner}" if level < 2 else f"(-{inner})"
        case e.Binary(op=op) if op in _LEVEL:
            mine = _LEVEL[op]
            left, right = _text(expr.left, mine), _text(expr.right, mine + 1)
            if left is None or right is None:
                return None
            return f"{left} {op} {right}" if mine >= level else f"({left} {op} {right})"
        case _:
            return None


def _decimal(value: Fraction, level: int) -> str:
    """A literal as it can be read back: 0.8, or 1/3 in parentheses."""
    text = repr(float(value))
    if Fraction(text) == value:
        return text
    return str(value) if level < 2 else f"({value})"


def rate_text(draw: e.Draw, phases: int) -> str | None:
    """The rate of a phase of an exponential or Erlang law in the program's constants: `mu` for `~exp(1 / mu)`."""
    average = draw.args[0] if draw.law == "exp" else draw.args[1] if draw.law == "erlang" else None
    if average is None:
        return None
    match average:
        case e.Binary(op="/", left=e.Num(value=one), right=e.Const(name=name)) if one == 1:
            return name if phases == 1 else f"{phases} * {name}"
    text = _text(average, 3)
    return None if text is None else f"{phases} / {text}"
