"""What a known formula is: parameters, preconditions, measures, source; and how it is evaluated.

A formula answers with rationals when its parameters are rational and its measures are rational functions of them.
Long recursions go on in decimals of 50 digits, and what is irrational is rounded once, at the end; the evaluation
says which of these happened.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, Literal

import sympy

from serq.closedforms.arguments import COUNT, Argument, Arguments, Parameter, numbers
from serq.ir.expr import Number

Values = Mapping[str, Any]
"""Measures by name while they are computed: a number, a list of numbers by station, or a table by station and class."""

Kind = Literal["exact", "bound", "approximation"]


@dataclass(frozen=True)
class Precondition:
    """Something that must hold for the formula to mean anything; `text` completes 'this formula needs ...'."""

    text: str
    holds: Callable[[Arguments], bool]


@dataclass(frozen=True)
class Quantity:
    """A measure that a formula gives. `expression` is it in the formula's letters, where that can be written."""

    name: str
    meaning: str
    unit: str = ""
    expression: sympy.Expr | None = None


@dataclass(frozen=True)
class Formula:
    """A family of formulas for one model.

    `recursion` computes every measure at once, in whatever numbers the arguments are (`Fraction` or `Decimal`). None:
    the expressions are evaluated. `laws` are equations worth showing that are no measure, such as the recursion
    itself. `numerical` says how a measure that is no rational function is computed; empty where all are rational.
    """

    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    measures: tuple[Quantity, ...]
    preconditions: tuple[Precondition, ...] = ()
    recursion: Callable[[Arguments], Values] | None = None
    laws: tuple[sympy.Basic, ...] = ()
    stability: str = ""
    numerical: str = ""
    kind: Kind = "exact"
    exact_up_to: int = 300
    """The longest recursion done in rationals: the fractions of a longer one have thousands of digits."""

    def length(self, arguments: Arguments) -> int:
        """How long the recursion is: the sum of the parameters that count something."""
        counts = (arguments[p.name] for p in self.parameters if p.domain is COUNT)
        return sum(int(v) for value in counts for v in numbers(value))

    def failures(self, arguments: Arguments) -> tuple[str, ...]:
        """What the arguments fail, in words; the domains first, the preconditions only when every domain is kept."""
        outside = tuple(text for p in self.parameters if (text := p.problem(arguments[p.name])))
        return outside or tuple(f"it needs {p.text}" for p in self.preconditions if not p.holds(arguments))


@dataclass(frozen=True)
class Evaluation:
    """The measures at some arguments. `failed` not empty: a precondition does not hold, and there are no values.

    A value is a `Fraction` where it is exact, else a double; lists and tables are tuples of them. `method` says how.
    """

    formula: str
    arguments: Mapping[str, Argument]
    values: Mapping[str, Argument]
    method: str
    failed: tuple[str, ...] = field(default=())


EXACT = "exact rationals"
ROUNDED = "exact arithmetic, rounded once"
DECIMALS = "decimals of 50 digits, rounded once"

SHOWN_BITS = 10_000
"""A rational with a longer numerator or denominator is of no use to a reader: it is rounded."""


def evaluate_formula(formula: Formula, given: Mapping[str, Argument]) -> Evaluation:
    """The formula at these arguments; raises `UsageError` for a parameter that is unknown or missing."""
    arguments = Arguments.complete(formula.parameters, given)
    failed = formula.failures(arguments)
    if failed:
        return Evaluation(formula.name, arguments.values, {}, "", failed)
    values, method = _symbolic(formula, arguments) if formula.recursion is None else _recursive(formula, arguments)
    if not arguments.rational:
        values, method = {k: _doubles(v) for k, v in values.items()}, ROUNDED if method == EXACT else method
    return Evaluation(formula.name, arguments.values, values, method)


def _recursive(formula: Formula, arguments: Arguments) -> tuple[dict[str, Argument], str]:
    assert formula.recursion is not None
    if formula.numerical:
        return _settle(formula.recursion(arguments)), formula.numerical
    if formula.length(arguments) <= formula.exact_up_to:
        values = _settle(formula.recursion(arguments))
        return values, EXACT if all(isinstance(v, Fraction) for x in values.values() for v in numbers(x)) else ROUNDED
    with localcontext(Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        return _settle(formula.recursion(arguments.decimals())), DECIMALS


def _symbolic(formula: Formula, arguments: Arguments) -> tuple[dict[str, Argument], str]:
    places = {
        p.symbol: sympy.Rational(*Fraction(arguments.number(p.name)).as_integer_ratio()) for p in formula.parameters
    }
    values: dict[str, Argument] = {}
    method = EXACT
    for quantity in formula.measures:
        assert quantity.expression is not None
        result = quantity.expression.subs(places).doit(integrals=False)
        if result.is_Rational:
            values[quantity.name] = Fraction(int(result.p), int(result.q))
        else:
            values[quantity.name] = float(result.evalf(20))
            method = formula.numerical or "20 digits, rounded once"
    return values, method


def _settle(values: Values) -> dict[str, Argument]:
    return {name: _settled(value) for name, value in values.items()}


def _settled(value: Any) -> Argument:
    if isinstance(value, tuple | list):
        return tuple(_settled(v) for v in value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, Fraction) and max(value.numerator.bit_length(), value.denominator.bit_length()) > SHOWN_BITS:
        return float(value)
    number: Number = value
    return number


def _doubles(value: Argument) -> Argument:
    if isinstance(value, tuple):
        return tuple(_doubles(v) for v in value)
    return float(value)
