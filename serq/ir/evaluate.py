"""Expressions turned into Python functions, in the arithmetic and the surroundings that a back end supplies.

One compiler serves the constant folder, the interpreter (doubles) and the explorer (rationals): they differ in the
`Arithmetic` and in the `Scope`, not in the meaning of an operator.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, Protocol, TypeVar

from serq.ir import expr as e

Value = Any
"""A number of the arithmetic in use (the explorer also lets an undrawn amount pass through)."""


Summand = TypeVar("Summand")


def total(values: Iterable[Summand], zero: Summand) -> Summand:
    """The sum, one after the other: `sum` of Python 3.12 and later adds doubles in another way."""
    return reduce(add, values, zero)


class Scope(Protocol):
    """What an expression may ask of its surroundings when it is evaluated."""

    def attr(self, name: str) -> Value:
        """A session attribute."""

    def builtin(self, name: e.BuiltinName) -> Value:
        """The time or a built-in attribute."""

    def context(self, name: e.ContextName) -> Value:
        """A context variable."""

    def stage_state(self, fact: e.StageFact, stage: int) -> Value:
        """An observable of the stage at that place."""

    def pool_state(self, fact: e.PoolFact, pool: int) -> Value:
        """An observable of the pool at that place."""

    def price(self, stage: int, hit: Value, extra: Value) -> Value:
        """The M/G/1 price of a miss."""

    def draw(self, draw: e.Draw, args: tuple[Value, ...]) -> Value:
        """A draw from a law; the arguments are evaluated already."""

    def bad_index(self, ref: e.Ref, value: Value) -> Exception:
        """The error to raise for an index out of range."""


class Arithmetic(Protocol):
    """Numbers: how a literal is read, and the operations that need care."""

    def literal(self, value: e.Number) -> Value:
        """A literal as a number of this arithmetic."""

    def divide(self, a: Value, b: Value) -> Value:
        """A / b, IEEE rules where there are doubles."""

    def modulo(self, a: Value, b: Value) -> Value:
        """A % b with the sign of the divisor."""

    def function(self, name: e.FunctionName, args: tuple[Value, ...]) -> Value:
        """A function of the language."""


Compiled = Callable[[Scope], Value]


class Doubles:
    """IEEE double arithmetic: nothing traps, 1/0 is inf and 0/0 is NaN."""

    def literal(self, value: e.Number) -> float:
        """The nearest double; an infinity beyond their range."""
        return e.double(value)

    def divide(self, a: float, b: float) -> float:
        """IEEE division."""
        try:
            return a / b
        except ZeroDivisionError:
            if a == 0 or math.isnan(a):
                return math.nan
            return math.copysign(math.inf, a) * math.copysign(1.0, b)

    def modulo(self, a: float, b: float) -> float:
        """Remainder with the sign of the divisor; NaN for a zero divisor or an infinite dividend."""
        if b == 0 or math.isinf(a):
            return math.nan
        return a % b

    def function(self, name: e.FunctionName, args: tuple[float, ...]) -> float:
        """The functions of the language on doubles; out of the domain they give NaN or an infinity."""
        try:
            return _DOUBLE_FUNCTIONS[name](*args)
        except OverflowError:
            return -math.inf if name == "pow" and args[0] < 0 and args[1] % 2 == 1 else math.inf
        except ValueError:
            return _at_zero(name, args) if args[0] == 0 else math.nan


def _at_zero(name: e.FunctionName, args: tuple[float, ...]) -> float:
    """The infinite value of a logarithm or a negative power of zero, with the sign that IEEE 754 gives it."""
    if name == "ln":
        return -math.inf
    return math.copysign(math.inf, args[0]) if args[1] % 2 == 1 else math.inf


def _smallest(*args: float) -> float:
    return math.nan if any(x != x for x in args) else min(args)


def _largest(*args: float) -> float:
    return math.nan if any(x != x for x in args) else max(args)


def _whole(rounding: Callable[[float], int]) -> Callable[[float], float]:
    return lambda x: float(rounding(x)) if math.isfinite(x) else x


_DOUBLE_FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": _smallest,
    "max": _largest,
    "abs": abs,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "sqrt": math.sqrt,
    "exp": math.exp,
    "ln": math.log,
    "pow": math.pow,
}


class Rationals:
    """Exact rationals as far as they go; sqrt, exp and ln give a double where the value is irrational.

    A division by zero is IEEE's, since an unreached part of a program may contain one.
    """

    _doubles = Doubles()

    def literal(self, value: e.Number) -> e.Number:
        """The literal as written."""
        return value

    def divide(self, a: e.Number, b: e.Number) -> e.Number:
        """An exact quotient, or IEEE's answer for a zero divisor; a share of infinity is 0, a rational."""
        if isinstance(b, float) and math.isinf(b) and not isinstance(a, float):
            return Fraction(0)
        if isinstance(a, float) or isinstance(b, float) or b == 0:
            return self._doubles.divide(e.double(a), e.double(b))
        return Fraction(a) / b

    def modulo(self, a: e.Number, b: e.Number) -> e.Number:
        """An exact remainder with the sign of the divisor; of an infinite one the dividend itself."""
        if b == math.inf and not isinstance(a, float) and a >= 0:
            return a
        if isinstance(a, float) or isinstance(b, float) or b == 0:
            return self._doubles.modulo(e.double(a), e.double(b))
        return a % b

    def function(self, name: e.FunctionName, args: tuple[e.Number, ...]) -> e.Number:
        """Exact for min, max, abs, floor, ceil, whole powers and perfect squares."""
        exact = _exact_function(name, args)
        return self._doubles.function(name, tuple(e.double(a) for a in args)) if exact is None else exact


def _exact_function(name: e.FunctionName, args: tuple[e.Number, ...]) -> e.Number | None:
    if any(isinstance(a, float) and not math.isinf(a) for a in args):
        return None
    match name:
        case "min":
            return reduce(lambda a, b: a if a <= b else b, args)
        case "max":
            return reduce(lambda a, b: a if a >= b else b, args)
        case "abs":
            return args[0] if args[0] >= 0 else -args[0]
        case _:
            return _exact_rational(name, args)


def _exact_rational(name: e.FunctionName, args: tuple[e.Number, ...]) -> Fraction | None:
    if any(isinstance(a, float) for a in args):
        return None
    first = Fraction(args[0])
    match name:
        case "floor":
            return Fraction(math.floor(first))
        case "ceil":
            return Fraction(math.ceil(first))
        case "sqrt":
            return exact_root(first)
        case "exp":
            return Fraction(1) if first == 0 else None
        case "ln":
            return Fraction(0) if first == 1 else None
        case _:
            return _exact_power(first, Fraction(args[1]))


def exact_root(x: Fraction) -> Fraction | None:
    """The square root when it is rational, else None."""
    if x < 0:
        return None
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    return Fraction(top, bottom) if top * top == x.numerator and bottom * bottom == x.denominator else None


def near_root(x: Fraction) -> Fraction:
    """The square root of a number that is not negative, to forty digits behind the point."""
    return Fraction(math.isqrt(x.numerator * 10**80 // x.denominator), 10**40)


_LARGEST_POWER = 10_000
_WIDEST_POWER = 1 << 17
"""Bits of the numerator and denominator of an exact power: a wider one takes minutes, and nobody meant it."""


def _exact_power(base: Fraction, power: Fraction) -> Fraction | None:
    if power.denominator != 1 or abs(power) > _LARGEST_POWER or (base == 0 and power < 0):
        return None
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    return Fraction(base**power.numerator) if bits * abs(power) <= _WIDEST_POWER else None


def compile_expr(expr: e.Expr, arithmetic: Arithmetic, constants: Mapping[str, Value]) -> Compiled:
    """A function of a scope that evaluates the expression.

    Comparisons and logic give 0 or 1; a non-zero value is true; `&&`, `||` and `?:` evaluate only what they need.
    """
    return _Compiler(arithmetic, constants).compile(expr)


class _Compiler:
    def __init__(self, arithmetic: Arithmetic, constants: Mapping[str, Value]) -> None:
        self.arithmetic = arithmetic
        self.constants = constants
        self.zero = arithmetic.literal(Fraction(0))
        self.one = arithmetic.literal(Fraction(1))

    def compile(self, expr: e.Expr) -> Compiled:
        match expr:
            case e.Num(value=v):
                return self._fixed(self.arithmetic.literal(v))
            case e.Const(name=name):
                return self._fixed(self.constants[name])
            case e.Attr(name=name):
                return lambda s: s.attr(name)
            case e.Builtin(name=builtin):
                return lambda s: s.builtin(builtin)
            case e.Context(name=context):
                return lambda s: s.context(context)
            case e.StageState() | e.PoolState() | e.Price():
                return self._observable(expr)
            case e.Call(function=f, args=args):
                return self._call(f, tuple(self.compile(a) for a in args))
            case e.Draw(args=args):
                compiled = tuple(self.compile(a) for a in args)
                return lambda s: s.draw(expr, tuple(a(s) for a in compiled))
            case e.Cond():
                test, then, otherwise = self.compile(expr.test), self.compile(expr.then), self.compile(expr.otherwise)
                return lambda s: then(s) if test(s) != 0 else otherwise(s)
            case e.Unary(op="-", operand=operand):
                a = self.compile(operand)
                return lambda s: -a(s)
            case e.Unary(operand=operand):
                a = self.compile(operand)
                one, zero = self.one, self.zero
                return lambda s: one if a(s) == 0 else zero
            case e.Binary():
                return self._binary(expr.op, self.compile(expr.left), self.compile(expr.right))

    @staticmethod
    def _fixed(value: Value) -> Compiled:
        return lambda s: value

    def _call(self, name: e.FunctionName, args: tuple[Compiled, ...]) -> Compiled:
        function = self.arithmetic.function
        return lambda s: function(name, tuple(a(s) for a in args))

    def _observable(self, expr: e.StageState | e.PoolState | e.Price) -> Compiled:
        match expr:
            case e.StageState(fact=stage_fact, stage=ref):
                place = self.place(ref)
                return lambda s: s.stage_state(stage_fact, place(s))
            case e.PoolState(fact=pool_fact, pool=ref):
                place = self.place(ref)
                return lambda s: s.pool_state(pool_fact, place(s))
            case e.Price(stage=ref):
                place, hit, extra = self.place(ref), self.compile(expr.hit), self.compile(expr.extra)
                return lambda s: s.price(place(s), hit(s), extra(s))

    def place(self, ref: e.Ref) -> Callable[[Scope], int]:
        """Where the pool or stage stands; an index out of range raises the scope's error."""
        base, size = ref.base, ref.size
        if ref.index is None:
            return lambda s: base
        index = self.compile(ref.index)

        def place(s: Scope) -> int:
            i = index(s)
            if not (0 <= i < size and i == int(i)):
                raise s.bad_index(ref, i)
            return base + int(i)

        return place

    def _binary(self, op: e.BinaryOp, a: Compiled, b: Compiled) -> Compiled:
        one, zero = self.one, self.zero
        divide, modulo = self.arithmetic.divide, self.arithmetic.modulo
        table: dict[str, Compiled] = {
            "+": lambda s: a(s) + b(s),
            "-": lambda s: a(s) - b(s),
            "*": lambda s: a(s) * b(s),
            "/": lambda s: divide(a(s), b(s)),
            "%": lambda s: modulo(a(s), b(s)),
            "<": lambda s: one if a(s) < b(s) else zero,
            "<=": lambda s: one if a(s) <= b(s) else zero,
            ">": lambda s: one if a(s) > b(s) else zero,
            ">=": lambda s: one if a(s) >= b(s) else zero,
            "==": lambda s: one if a(s) == b(s) else zero,
            "!=": lambda s: one if a(s) != b(s) else zero,
            "&&": lambda s: one if a(s) != 0 and b(s) != 0 else zero,
            "||": lambda s: one if a(s) != 0 or b(s) != 0 else zero,
        }
        return table[op]


def compile_place(ref: e.Ref, arithmetic: Arithmetic, constants: Mapping[str, Value]) -> Callable[[Scope], int]:
    """A function of a scope that gives the place of a pool or stage among its kind."""
    return _Compiler(arithmetic, constants).place(ref)


class NoScope:
    """The surroundings of a constant: there are none. The linker has checked that nothing asks."""

    def __getattr__(self, name: str) -> Callable[..., Value]:
        raise LookupError(f"a constant expression asked its surroundings for {name}")
