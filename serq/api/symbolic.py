"""The measures of a small chain as formulas, as an answer."""

from collections.abc import Mapping
from dataclasses import dataclass

from serq.api.tabular import Tabular, html_table
from serq.compare.symbolic import Formula, Formulas
from serq.ir.program import Program
from serq.ir.provenance import provenance


@dataclass(frozen=True, repr=False)
class SymbolicResult(Tabular):
    """A program with its measures as formulas in the constants of its rates."""

    program: Program
    found: Formulas

    @property
    def opened(self) -> tuple[str, ...]:
        """The constants in the formulas."""
        return self.found.opened

    @property
    def formulas(self) -> Mapping[str, Formula]:
        """The formulas by measure; each has `text`, `latex`, a SymPy `expression` and values `at` constants."""
        return {formula.measure: formula for formula in self.found.formulas}

    def rows(self) -> list[dict[str, object]]:
        """A row per measure that has a formula."""
        return [{"measure": f.measure, "formula": f.text, "latex": f.latex} for f in self.found.formulas]

    def to_dict(self) -> dict[str, object]:
        """What `serq solve --symbolic --json` prints."""
        return provenance(self.program, "symbolic", "sympy", "python-flint") | {
            "method": self.found.method,
            "approximated": list(self.found.approximated),
            "open": list(self.found.opened),
            "kept": dict(self.found.kept),
            "formulas": {f.measure: {"text": f.text, "latex": f.latex} for f in self.found.formulas},
            "missing": dict(self.found.missing),
        }

    def _repr_html_(self) -> str:
        title = f"{self.program.name}: formulas in {', '.join(self.opened) or 'no constant'}"
        return html_table(title, ("measure", "formula"), [(f.measure, f.text) for f in self.found.formulas])
