"""Formulas as LaTeX equations that a person can read."""

from collections.abc import Mapping
from typing import Any

import sympy

from serq.closedforms.formula import Formula

LETTERS: Mapping[str, str] = {
    "p0": "p_0",
    "pK": "p_K",
    "pN": "p_N",
    "L0": "L_0",
    "L1": "L_1",
    "Lq": "L_q",
    "Wq": "W_q",
    "Pw": "P_w",
}


def equations(formula: Formula, places: Mapping[Any, Any] | None = None) -> dict[str, str]:
    """An equation by measure that has an expression. `places` puts other symbols for those of the parameters.

    A sum that is a measure of its own stands as that measure's letter in the longer ones.
    """
    expressions = {q.name: q.expression for q in formula.measures if q.expression is not None}
    sums = sorted((e.count_ops(), name) for name, e in expressions.items() if e.has(sympy.Sum))
    out = {}
    for name, expression in expressions.items():
        for size, other in reversed(sums):
            if other != name and size < expression.count_ops():
                expression = expression.subs(expressions[other], sympy.Symbol(letter(other)))
        shown = expression.subs(places, simultaneous=True) if places else expression
        out[name] = f"{letter(name)} = {sympy.latex(shown)}"
    return out


def letter(name: str) -> str:
    """The measure's name in mathematics."""
    return LETTERS.get(name) or (name if len(name) == 1 else rf"\mathrm{{{name.replace('_', ' ')}}}")
