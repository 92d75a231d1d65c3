"""The lets of a program with their values, and the constants of other places with what each may be."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from serq.base.diagnostics import Diagnostic
from serq.base.errors import UsageError
from serq.base.source import Span
from serq.check import name_errors as n
from serq.check import scopes
from serq.check.fold import is_nan, is_out_of_range, lets_read, order, shown
from serq.check.resolve import Resolver
from serq.check.symbols import Symbols
from serq.ir import expr as e
from serq.ir import program as p
from serq.syntax import ast as a


@dataclass(frozen=True, slots=True)
class Need:
    """What a constant must be, in words and as a test; `advice` is what to write instead."""

    words: str
    holds: Callable[[e.Number], bool]
    advice: str = ""


def _whole(value: e.Number, least: int) -> bool:
    return e.is_finite(value) and value >= least and value == int(value)


NOT_NEGATIVE = Need("a number that is not negative", lambda x: x >= 0)
POSITIVE = Need("a positive number", lambda x: x > 0)
FINITE_POSITIVE = Need("a positive finite number", lambda x: 0 < x < math.inf)
FINITE_NOT_NEGATIVE = Need("a finite number that is not negative", lambda x: 0 <= x < math.inf)
WHOLE = Need("a whole number that is not negative", lambda x: _whole(x, 0))
COUNT = Need("a whole number that is at least 1", lambda x: _whole(x, 1))


def define_lets(symbols: Symbols, resolver: Resolver, overrides: Mapping[str, e.Expr]) -> tuple[p.Constant, ...]:
    """Every let with its value, in the order of the text; those with a fault are left out.

    A let may read lets that stand behind it. Fills `resolver.constants`. Raises `UsageError` when an override is what
    leaves a let without a value.
    """
    expressions = {
        name: overrides[name]
        if name in overrides
        else resolver.expr(let.value, scopes.constant(f"the constant `{name}`"))
        for name, let in symbols.lets.items()
    }
    sequence, cycles = order({name: lets_read(expr) for name, expr in expressions.items()})
    for cycle in cycles:
        _report(resolver, overrides, cycle, _cyclic(symbols, cycle))
    in_cycles = {name for cycle in cycles for name in cycle}
    for name in sequence:
        folded = None if name in in_cycles else resolver.constants.fold(expressions[name])
        if folded is None:
            continue
        fault = _fault(folded, symbols.lets[name].value.span, f"the constant `{name}`")
        if fault is not None:
            _report(resolver, overrides, [name], fault)
        else:
            resolver.constants.define(name, folded)
    return tuple(
        p.Constant(name, folded, name in overrides, symbols.lets[name].span)
        for name in symbols.lets
        if (folded := resolver.constants.of(name, expressions[name])) is not None
    )


def _fault(folded: p.Folded, span: Span, what: str) -> Diagnostic | None:
    """Why it is no number that one may calculate with."""
    if is_nan(folded.value) or is_nan(folded.exact):
        return n.ConstantIsNaN(span=span, what=what)
    return n.ConstantOutOfRange(span=span, what=what) if is_out_of_range(folded) else None


def _report(resolver: Resolver, overrides: Mapping[str, e.Expr], names: list[str], fault: Diagnostic) -> None:
    guilty = [name for name in names if name in overrides]
    if guilty:
        raise UsageError(f"--set {guilty[0]}: {fault.message} ({fault.hint})")
    resolver.report(fault)


def _cyclic(symbols: Symbols, cycle: list[str]) -> Diagnostic:
    first = cycle[0]
    path = " -> ".join(f"`{x}`" for x in (*cycle, first))
    return n.CyclicLet(span=symbols.lets[first].name_span, name=first, cycle=path)


def number(value: e.Number | int) -> p.Folded:
    """A constant that no text stands for."""
    exact = Fraction(value) if isinstance(value, int) else value
    return p.Folded(e.Num(exact), exact, float(exact))


STAND_IN = number(math.pi)
"""Stands for a constant with a fault, and is no number that anybody writes."""


def fold_place(resolver: Resolver, node: a.Expr, what: str, need: Need) -> p.Folded:
    """The constant that stands in a place, checked; `STAND_IN` after a fault."""
    folded = resolver.constants.fold(resolver.expr(node, scopes.constant(what)))
    if folded is None:
        return STAND_IN
    fault = _fault(folded, node.span, what)
    if fault is not None:
        resolver.report(fault)
        return STAND_IN
    if not need.holds(folded.exact):
        wrong = n.WrongConstant(
            span=node.span, what=what, need=need.words, value=shown(folded.exact), advice=need.advice
        )
        resolver.report(wrong)
        return STAND_IN
    return folded


def check_if_constant(resolver: Resolver, expr: e.Expr, what: str, need: Need) -> e.Expr:
    """The expression itself; when it happens to be constant, its value must suit its place too."""
    folded = resolver.constants.fold(expr)
    if folded is None:
        return expr
    value, fault = folded.exact, _fault(folded, expr.span, what)
    if fault is not None:
        resolver.report(fault)
    elif not need.holds(value):
        resolver.report(
            n.WrongConstant(span=expr.span, what=what, need=need.words, value=shown(value), advice=need.advice)
        )
    return expr
