"""What matching answers: the formulas that fit, with their parameters and values, and those that nearly do."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import sympy

from serq.base.source import NOWHERE, Span
from serq.closedforms.amounts import Named, is_named, trimmed
from serq.closedforms.arguments import Argument
from serq.closedforms.compose import Answer, estimates
from serq.closedforms.formula import Evaluation, Formula, Values, evaluate_formula
from serq.closedforms.latex import equations
from serq.ir.measures import measures_of
from serq.ir.program import Program
from serq.ir.results import Estimate


@dataclass(frozen=True)
class Binding:
    """A parameter of a formula: its value, and what it is in the program's constants, as text and for SymPy (numbers
    only).
    """

    name: str
    value: Argument
    text: str
    symbol: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Match:
    """A formula that fits. `stages` are those whose queueing it describes; `estimates` the measures of the program."""

    formula: Formula
    stages: tuple[str, ...]
    bindings: tuple[Binding, ...]
    evaluation: Evaluation
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True)
class NearMiss:
    """A formula that would fit but for one thing."""

    formula: str
    reason: str
    span: Span = NOWHERE


@dataclass(frozen=True)
class Matches:
    """Everything that matching has to say of a program; the first match is the most specific.

    `reason` says why nothing fits, when the session itself cannot be followed.
    """

    program: Program
    matches: tuple[Match, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    reason: str = ""
    span: Span = NOWHERE

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """One estimate by measure of the program: that of the first match which has a value, else the reason."""
        return tuple(self._estimate(i, m.name) for i, m in enumerate(measures_of(self.program)))

    def _estimate(self, place: int, measure: str) -> Estimate:
        answers = [match.estimates[place] for match in self.matches]
        for answer in answers:
            if answer.value is not None:
                return answer
        return answers[0] if answers else Estimate(measure, "closed form", None, "none", reason=self.why_not)

    @property
    def why_not(self) -> str:
        """Why no formula fits, in a line; empty when one does."""
        if self.matches:
            return ""
        near = "; ".join(dict.fromkeys(f"{miss.formula}: {miss.reason}" for miss in self.near_misses))
        return self.reason or near or "no known formula has this form"


def bind(name: str, value: Named) -> Binding:
    """A number as a parameter."""
    return Binding(name, value.value, text(value), value.symbol if is_named(value.symbol) else None)


def bind_list(name: str, values: list[Named]) -> Binding:
    """A list as a parameter."""
    return Binding(name, tuple(v.value for v in values), _row(values))


def bind_table(name: str, rows: list[list[Named]]) -> Binding:
    """A table as a parameter."""
    value = tuple(tuple(v.value for v in row) for row in rows)
    return Binding(name, value, "; ".join(_row(row) for row in rows))


def _row(values: list[Named]) -> str:
    return ", ".join(text(v) for v in values)


def text(value: Named) -> str:
    """The number in the program's constants, or as a number where it has no name there that could be read."""
    symbol: Any = value.symbol
    if symbol == sympy.oo:
        return "inf"
    if not symbol.is_number:
        symbol = trimmed(Named(value.value, sympy.cancel(trimmed(value).symbol))).symbol
    return str(symbol) if is_named(symbol) else str(value.value)


def attempt(
    formula: Formula,
    stages: tuple[str, ...],
    bindings: tuple[Binding, ...],
    answer: Callable[[Values], Answer],
    method: str = "",
) -> Match | NearMiss:
    """The formula at these parameters, as a match; a near miss when a precondition fails."""
    evaluation = evaluate_formula(formula, {b.name: b.value for b in bindings})
    if evaluation.failed:
        numbers = ", ".join(f"{b.name} = {b.value}" for b in bindings if not isinstance(b.value, tuple))
        return NearMiss(formula.name, "; ".join(evaluation.failed) + (f" ({numbers})" if numbers else ""))
    found = estimates(answer(evaluation.values), method or formula.name)
    return Match(formula, stages, bindings, evaluation, found)


def latex_of(match: Match) -> dict[str, str]:
    """LaTeX equations of the formula's measures in the constants of the program; none where a parameter is a list."""
    symbols = {p.name: p.symbol for p in match.formula.parameters}
    places = {symbols[b.name]: b.symbol for b in match.bindings if b.symbol is not None}
    return equations(match.formula, places) if len(places) == len(symbols) else {}
