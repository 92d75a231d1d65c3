"""`--set NAME=EXPR`: other values for the lets of a program."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from numbers import Rational
from typing import Any

from serq.base.diagnostics import Diagnostic
from serq.base.errors import LoadError, UsageError
from serq.base.source import SourceFile, Span
from serq.base.suggestions import did_you_mean
from serq.check import scopes
from serq.check.resolve import Resolver
from serq.check.symbols import Symbols
from serq.ir import expr as e
from serq.syntax import ast as a
from serq.syntax.parser import parse_expression

OverrideValue = str | int | float | Fraction
"""What a caller may give for a let: a number, or the text of an expression."""


def resolve_overrides(symbols: Symbols, overrides: Mapping[str, OverrideValue]) -> dict[str, e.Expr]:
    """The new expressions of lets by name, standing where the old ones stood.

    Raises `UsageError` for a name that no let has and for a value that is no constant expression.
    """
    return {name: _resolve(symbols, name, value) for name, value in overrides.items()}


def _resolve(symbols: Symbols, name: str, value: OverrideValue) -> e.Expr:
    if name not in symbols.lets:
        raise UsageError(_unknown(symbols, name))
    faults: list[Diagnostic] = []
    span = symbols.lets[name].value.span
    expr = Resolver(symbols, faults.append).expr(
        _moved(_parse(name, value), span), scopes.constant(f"the constant `{name}`")
    )
    if faults:
        raise UsageError(
            f"--set {name}={value}: {faults[0].message}" + (f" ({faults[0].hint})" if faults[0].hint else "")
        )
    return expr


def _parse(name: str, value: OverrideValue) -> a.Expr:
    if isinstance(value, str):
        try:
            return parse_expression(SourceFile(f"--set {name}", value))
        except LoadError as error:
            first = error.diagnostics[0]
            raise UsageError(f"--set {name}={value}: {first.message} (column {first.span.column})") from None
    if isinstance(value, float):
        if math.isnan(value):
            raise UsageError(f"--set {name}: the value is not a number (NaN)")
        if math.isinf(value):
            infinite = a.Number(None, "inf")
            return infinite if value > 0 else a.Unary("-", infinite)
        value = Fraction(repr(float(value)))  # the decimal that was written: 0.8 is 4/5
    if not isinstance(value, Rational) or isinstance(value, bool):
        raise UsageError(f"--set {name}: a value is a number or the text of an expression, not {value!r}")
    return a.Number(Fraction(int(value.numerator), int(value.denominator)), str(value))


def _unknown(symbols: Symbols, name: str) -> str:
    lets = ", ".join(f"`{x}`" for x in symbols.lets)
    listed = f"the constants are {lets}" if lets else "the program has no constants"
    guess = did_you_mean(name, symbols.lets)
    return f"--set {name}: the program has no `let {name}`; " + (f"{guess} " if guess else "") + listed


def _moved(node: Any, span: Span) -> Any:
    """The same tree with every span replaced: positions in the text of an override mean nothing in the program."""
    if isinstance(node, Span):
        return span
    if isinstance(node, tuple):
        return tuple(_moved(x, span) for x in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    return replace(node, **{f.name: _moved(getattr(node, f.name), span) for f in fields(node)})
