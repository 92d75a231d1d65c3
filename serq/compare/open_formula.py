"""Open programs without a limit that are no queue of one level, but that a closed form fits."""

from dataclasses import replace

from serq.base.diagnostics import Note
from serq.base.errors import OutsideFragmentError
from serq.ir.program import Program
from serq.pipeline import closed_forms


def with_formula(refused: OutsideFragmentError, program: Program) -> OutsideFragmentError:
    """The refusal with a note on the closed form that has the measures, where one fits."""
    exact = (match.formula for match in closed_forms(program).matches if match.formula.kind == "exact")
    formula = next(exact, None)
    if formula is None:
        return refused
    note = Note(message=f"a closed form fits, and `serq closed-form` gives its exact answers: {formula.title}")
    first, *others = refused.diagnostics
    return OutsideFragmentError(refused.source, [replace(first, notes=(*first.notes, note)), *others])
