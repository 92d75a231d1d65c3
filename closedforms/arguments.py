"""The parameters of a formula, the values that they may take, and how they are read."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import sympy

from serq.base.errors import UsageError
from serq.ir.expr import Number, is_finite

Argument: TypeAlias = "Number | tuple[Argument, ...]"
"""A number, a list of numbers (by station), or a table (by class and station)."""

Real = Any
"""A number while a formula is computed: a `Fraction`, or a `Decimal` where a recursion is too long to be exact."""


@dataclass(frozen=True)
class Domain:
    """The numbers that a parameter may be."""

    text: str
    contains: Callable[[Number], bool]


LARGEST_COUNT = 1_000_000
"""The longest recursion that is begun."""

NUMBER = Domain("a finite number", is_finite)
POSITIVE = Domain("a positive number", lambda v: v > 0 and is_finite(v))
NON_NEGATIVE = Domain("a number that is not negative", lambda v: v >= 0 and is_finite(v))
PROBABILITY = Domain("a number in [0, 1]", lambda v: 0 <= v <= 1)


def _is_count(value: Number) -> bool:
    return 1 <= value <= LARGEST_COUNT and value == int(value)


COUNT = Domain(f"a whole number from 1 to {LARGEST_COUNT}", _is_count)
SERVERS = Domain("a whole number of servers, or inf for a delay", lambda v: v == math.inf or _is_count(v))

_EXPONENT = re.compile(r"[eE][+-]?\d{4}")
"""An exponent beyond those of doubles: the rational would have more digits than fit anywhere."""

Shape = Literal["number", "list", "table"]


@dataclass(frozen=True)
class Parameter:
    """One parameter; a `list` has an entry by station (or class), a `table` a list by class."""

    name: str
    symbol: sympy.Symbol
    meaning: str
    unit: str = ""
    domain: Domain = POSITIVE
    shape: Shape = "number"

    def problem(self, value: Argument) -> str:
        """Why the value is none for this parameter; empty when it is one."""
        if _depth(value) != ("number", "list", "table").index(self.shape):
            return f"{self.name} is a {self.shape}"
        outside = [v for v in numbers(value) if not self.domain.contains(v)]
        return f"{self.name} must be {self.domain.text}, not {_shown(outside[0])}" if outside else ""

    def read(self, text: str) -> Argument:
        """The value from `8`, `0.8`, `1/3`, `inf`; lists with commas, the rows of a table with semicolons."""
        if self.shape == "number":
            return self._number(text)
        if self.shape == "list":
            return tuple(self._number(t) for t in text.split(","))
        return tuple(tuple(self._number(t) for t in row.split(",")) for row in text.split(";"))

    def _number(self, text: str) -> Number:
        if text.strip() == "inf":
            return math.inf
        try:
            if _EXPONENT.search(text):
                raise ValueError
            return Fraction(text.strip())
        except (ValueError, ZeroDivisionError):
            raise UsageError(f"{self.name}={text.strip()}: not a number (write 8, 0.8, 1/3 or inf)") from None


@dataclass(frozen=True)
class Arguments:
    """Values for all parameters of a formula, read by shape. `long`: numbers are read as decimals."""

    values: Mapping[str, Argument]
    long: bool = False

    @staticmethod
    def complete(parameters: tuple[Parameter, ...], given: Mapping[str, Argument]) -> "Arguments":
        """The given values, once it is sure that they are those of all the parameters and no more."""
        names = [p.name for p in parameters]
        unknown = sorted(set(given) - set(names))
        missing = [name for name in names if name not in given]
        if unknown or missing:
            wrong = [f"unknown: {', '.join(unknown)}"] * bool(unknown) + [f"missing: {', '.join(missing)}"] * bool(
                missing
            )
            raise UsageError(f"the parameters are {', '.join(names)} ({'; '.join(wrong)})")
        return Arguments({name: given[name] for name in names})

    def __getitem__(self, name: str) -> Argument:
        return self.values[name]

    def number(self, name: str) -> Real:
        """A number; a double is taken at its exact binary value."""
        return self._real(self.values[name])

    def whole(self, name: str) -> int:
        """A whole number."""
        value = self.values[name]
        assert not isinstance(value, tuple)
        return int(value)

    def series(self, name: str) -> tuple[Real, ...]:
        """A list of numbers."""
        return tuple(self._real(v) for v in self.row(name))

    def row(self, name: str) -> tuple[Argument, ...]:
        """The entries of a list, or the rows of a table, as they were given."""
        value = self.values[name]
        assert isinstance(value, tuple)
        return value

    def wholes(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        return tuple(int(v) for v in self.series(name))

    def servers(self, name: str) -> tuple[int | None, ...]:
        """A list of numbers of servers; None stands for a delay."""
        return tuple(None if v == math.inf else int(v) for v in self.series(name))

    def table(self, name: str) -> tuple[tuple[Real, ...], ...]:
        """A table of numbers, by rows."""
        return tuple(tuple(self._real(v) for v in numbers(row)) for row in self.row(name))

    def decimals(self) -> "Arguments":
        """The same arguments, read as decimals in the context in force."""
        return replace(self, long=True)

    @property
    def rational(self) -> bool:
        """Whether every finite number is a rational."""
        return all(isinstance(v, Fraction) or v == math.inf for value in self.values.values() for v in numbers(value))

    def _real(self, value: Argument) -> Real:
        assert not isinstance(value, tuple)
        if value == math.inf:
            return value
        exact = Fraction(value)
        return Decimal(exact.numerator) / Decimal(exact.denominator) if self.long else exact


def numbers(value: Argument) -> Iterator[Number]:
    """The numbers in a value, whatever its shape."""
    if isinstance(value, tuple):
        for part in value:
            yield from numbers(part)
    else:
        yield value


def _depth(value: Argument) -> int:
    return 1 + max((_depth(v) for v in value), default=0) if isinstance(value, tuple) else 0


def _shown(value: Number) -> str:
    return str(value) if isinstance(value, Fraction) else repr(value)
