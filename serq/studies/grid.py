"""Grids: `N=1:20`, `N=1:20:3`, `mu=0.5,1,2`, `Z=2*pi,N/2`; several axes make their product.

A value is the text of an expression, as after `--set`, so it may name other constants. The ends of a range are numbers;
they are counted in rationals, so that `0.1:0.5:0.1` has five values and the last one is 1/2.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from serq.base.errors import LoadError, PlacelessError
from serq.base.source import NOWHERE, SourceFile
from serq.studies.errors import BadGrid
from serq.syntax.parser import parse_expression

MOST_VALUES = 100_000
"""Values of one axis, and points of a grid: more is a typo."""


class GridError(PlacelessError):
    """A grid that is none."""

    exit_status = 2


@dataclass(frozen=True, slots=True)
class Axis:
    """One constant and the expressions that stand for it, in their order. `whole`: all were written as whole numbers
    (`1`, not `1.0`), so that values between them must be whole too.
    """

    name: str
    values: tuple[str, ...]
    whole: bool = False


Values = tuple[tuple[str, str], ...]
"""The varied constants of one point, with their expressions."""


def parse_axis(text: str) -> Axis:
    """The axis of a `--vary`. GridError where it is none."""
    name, equals, spec = text.partition("=")
    name = name.strip()
    if not equals or not name.isidentifier():
        raise _wrong(text, "it takes NAME=VALUES")
    values: list[str] = []
    whole = True
    for item in split(spec, ","):
        parts = [part.strip() for part in split(item, ":")]
        whole = whole and all(map(_is_whole, parts))
        values += _values(text, parts)
        if len(values) > MOST_VALUES:
            raise _wrong(text, f"that is more than {MOST_VALUES} values")
    return replace(axis(name, values), whole=whole)


def axis(name: str, values: Iterable[object]) -> Axis:
    """The axis of these values: numbers or texts of expressions. What is there twice counts once."""
    texts = tuple(dict.fromkeys(_text(value) for value in values))
    return Axis(name, texts, all(map(_is_whole, texts)))


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdigit()


def points(axes: Sequence[Axis]) -> tuple[Values, ...]:
    """The product of the axes, the last one varying fastest. GridError for two axes of one name or too many points."""
    names = [a.name for a in axes]
    for name in names:
        if names.count(name) > 1:
            raise _wrong(f"{name}=...", "the constant is varied twice; put all its values into one --vary")
    size = 1
    for a in axes:
        size *= len(a.values)
    if size > MOST_VALUES:
        raise _wrong(" ".join(f"{a.name}=..." for a in axes), f"the grid has {size} points, more than {MOST_VALUES}")
    return tuple(tuple(zip(names, values, strict=True)) for values in product(*(a.values for a in axes)))


def number_text(number: Fraction) -> str:
    """A rational as an expression: a whole number, a decimal that ends, or a quotient."""
    if number.denominator == 1:
        return str(number.numerator)
    digits = number.denominator
    for prime in (2, 5):
        while digits % prime == 0:
            digits //= prime
    decimal = repr(float(number))
    return decimal if digits == 1 and "e" not in decimal and Fraction(decimal) == number else f"({number})"


def _text(value: object) -> str:
    if isinstance(value, Fraction):
        return number_text(value)
    return str(value).strip()


def _wrong(text: str, problem: str) -> GridError:
    return GridError.of(BadGrid(span=NOWHERE, text=text, problem=problem))


def split(text: str, mark: str) -> list[str]:
    """The parts between marks that stand in no parentheses."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == mark and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def _values(text: str, parts: list[str]) -> list[str]:
    """The values of one item: an expression, FIRST:LAST or FIRST:LAST:STEP."""
    if len(parts) > 3:
        raise _wrong(text, "a range is FIRST:LAST or FIRST:LAST:STEP")
    if not all(parts):
        raise _wrong(text, "a value is missing")
    if len(parts) == 1:
        _check_expression(text, parts[0])
        return parts
    first, last, step = (_number(text, part) for part in (*parts, "1")[:3])
    if step == 0:
        raise _wrong(text, "a step of 0 leads nowhere")
    count = (last - first) // step + 1
    if count < 1:
        raise _wrong(text, f"there is no value from {parts[0]} to {parts[1]} in steps of {number_text(step)}")
    if count > MOST_VALUES:
        raise _wrong(text, f"that is {count} values, more than {MOST_VALUES}")
    return [number_text(first + k * step) for k in range(int(count))]


def _number(text: str, part: str) -> Fraction:
    try:
        return Fraction(part)
    except (ValueError, ZeroDivisionError):
        raise _wrong(text, f"the ends and the step of a range are numbers, and {part!r} is none") from None


def _check_expression(text: str, part: str) -> None:
    try:
        parse_expression(SourceFile(f"--vary {text}", part))
    except LoadError as error:
        first = error.diagnostics[0]
        raise _wrong(text, f"{part!r} is no expression: {first.message}") from None
