"""The formulas that fit a program as an answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from serq.api.tabular import Answers, estimate_row, estimates_table
from serq.ir.numbers import as_json
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.ir.results import Estimate

if TYPE_CHECKING:
    from serq.closedforms.arguments import Argument
    from serq.closedforms.matches import Matches


@dataclass(frozen=True, repr=False)
class ClosedFormResult(Answers):
    """A program with the known formulas that fit it, their values, and why others do not fit."""

    matches: "Matches"

    @property
    def program(self) -> Program:
        """The program that was matched."""
        return self.matches.program

    @property
    def formulas(self) -> tuple[str, ...]:
        """The titles of the formulas that fit, the most specific first."""
        return tuple(match.formula.title for match in self.matches.matches)

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Every measure, by the first formula that has a value for it."""
        return self.matches.estimates

    def latex(self) -> Mapping[str, Mapping[str, str]]:
        """By formula: LaTeX of its measures in the constants of the program."""
        from serq.closedforms.matches import latex_of

        return {match.formula.name: latex_of(match) for match in self.matches.matches}

    def rows(self) -> list[dict[str, object]]:
        """A row per measure that a formula gives, formula by formula."""
        return [
            {"formula": match.formula.name} | estimate_row(e)
            for match in self.matches.matches
            for e in match.estimates
            if e.value is not None
        ]

    def to_dict(self) -> dict[str, object]:
        """What `serq closed-form FILE --json` prints."""
        found = self.matches
        return provenance(self.program, "closed-form", "sympy") | {
            "matches": [
                {
                    "formula": m.formula.name,
                    "title": m.formula.title,
                    "source": m.formula.source,
                    "parameters": {b.name: {"value": plain(b.value), "text": b.text} for b in m.bindings},
                    "measures": {
                        e.measure: {"value": as_json(e.value)} | ({"exact": str(e.value)} if e.is_exact else {})
                        for e in m.estimates
                        if e.value is not None
                    },
                }
                for m in found.matches
            ],
            "near_misses": [{"formula": m.formula, "reason": m.reason, "line": m.span.line} for m in found.near_misses],
            "reason": found.why_not or None,
        }

    def _repr_html_(self) -> str:
        fits = "; ".join(self.formulas) or f"no formula fits: {self.matches.why_not}"
        return estimates_table(f"{self.program.name}: {fits}", self.estimates)


def plain(value: "Argument") -> object:
    """A parameter or value of a formula as JSON data: rationals as text, lists of them as lists."""
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    return str(value) if isinstance(value, Fraction) else as_json(value)
