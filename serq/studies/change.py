"""`--price NAME=EXPR`: at every point of a study, what a change of one constant would cost there.

The finite-source price of a change is the difference of the mean numbers at a station (see the page on closed forms);
with `N=N+1` it is the price of a session more, L_{N+1} - L_N. Both programs meet the same random numbers.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

from serq.base.errors import LoadError, UsageError
from serq.base.source import SourceFile
from serq.check.overrides import OverrideValue
from serq.ir.expr import Number
from serq.ir.measures import Measure, measures_of
from serq.ir.program import Delay, Program
from serq.studies.differences import difference, usual_difference
from serq.studies.encoding import Outcome
from serq.studies.grid import number_text
from serq.syntax.parser import parse_expression

PREFIX = "price"
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Change:
    """The constant that changes, and its value after the change: an expression of the constants before it."""

    name: str
    expression: str

    def __str__(self) -> str:
        return f"{self.name}={self.expression}"

    def at(self, program: Program) -> tuple[str, str]:
        """The constant with an expression in which the constants of the program have become numbers."""
        values = {c.name: c.folded.exact for c in program.constants}

        def number(found: re.Match[str]) -> str:
            value = values.get(found[0])
            return found[0] if value is None else f"({_text(value)})"

        return self.name, _NAME.sub(number, self.expression)


def parse_change(text: str) -> Change:
    """The change of a `--price`. UsageError where it is none."""
    name, equals, expression = (part.strip() for part in text.partition("="))
    if not equals or not name.isidentifier() or not expression:
        raise UsageError(f"--price {text}: it takes NAME=EXPR, such as N=N+1")
    try:
        parse_expression(SourceFile(f"--price {text}", expression))
    except LoadError as error:
        raise UsageError(f"--price {text}: {expression!r} is no expression: {error.diagnostics[0].message}") from None
    return Change(name, expression)


def from_before(program: Program, sets: Mapping[str, OverrideValue]) -> dict[str, OverrideValue]:
    """New values of constants; where one is an expression of the constant itself (`N+1` for `N`), its value in the
    program stands for it.
    """
    values = {c.name: c.folded.exact for c in program.constants}

    def value(name: str, given: OverrideValue) -> OverrideValue:
        if not isinstance(given, str) or name not in values:
            return given
        return _NAME.sub(lambda found: f"({_text(values[name])})" if found[0] == name else found[0], given)

    return {name: value(name, given) for name, given in sets.items()}


def of_itself(sets: Mapping[str, OverrideValue]) -> str | None:
    """The name of a constant whose new value is an expression of itself, or None."""
    return next((n for n, given in sets.items() if isinstance(given, str) and n in _NAME.findall(given)), None)


def price_measures(program: Program, change: Change) -> tuple[Measure, ...]:
    """What the change adds to the numbers at the stages that sessions share, and to the means that are observed."""
    return tuple(
        replace(m, meaning=f"what {change} adds to the {m.meaning}", prefix=PREFIX) for m in _headline(program)
    )


def priced(program: Program, before: Outcome, after: Outcome | str, confidence: float) -> Outcome:
    """The outcome with the prices by its method; with a remark where there are none. `after`: what the method said
    after the change, or why the program does not load then.
    """
    if before.status != "done":
        return before
    reason = after if isinstance(after, str) else after.reason
    if isinstance(after, str) or after.status != "done":
        return replace(before, remark="; ".join(x for x in (before.remark, f"no price: {reason}") if x))
    prices, usual = [], dict(before.usual)
    for m in _headline(program):
        name = replace(m, prefix=PREFIX).name
        found, rare = difference(m.name, before, after, confidence), usual_difference(m.name, before, after)
        if found is not None:
            prices.append(replace(found, measure=name))
        if rare is not None:
            usual[name] = rare
    return replace(before, estimates=(*before.estimates, *prices), usual=usual)


def _headline(program: Program) -> Iterable[Measure]:
    delays = {stage.name for stage in program.stages if isinstance(stage.kind, Delay)}
    for m in measures_of(program):
        number = m.kind == "stage" and m.statistic == "number" and m.subject not in delays
        if number or (m.kind == "observe" and m.statistic == "mean"):
            yield m


def _text(value: Number) -> str:
    if isinstance(value, Fraction):
        return number_text(value)
    return repr(value) if isfinite(value) else "inf"
