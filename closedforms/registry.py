"""All families by name, and what the command line asks of them: a list, a description, values, LaTeX."""

from collections.abc import Mapping

import sympy

from serq.base.errors import UsageError
from serq.base.suggestions import did_you_mean
from serq.closedforms import bounds, caches, finite_source, mg1, miss, networks, price, scheduling, single, takacs
from serq.closedforms.arguments import Argument
from serq.closedforms.formula import Evaluation, Formula, evaluate_formula
from serq.closedforms.latex import equations

FAMILIES: tuple[Formula, ...] = (
    *single.FAMILIES,
    *finite_source.FAMILIES,
    *takacs.FAMILIES,
    *price.FAMILIES,
    *miss.FAMILIES,
    *mg1.FAMILIES,
    *scheduling.FAMILIES,
    *networks.FAMILIES,
    *bounds.FAMILIES,
    *caches.FAMILIES,
)


def find(name: str) -> Formula:
    """The family of that name; raises `UsageError` with a suggestion when there is none."""
    for formula in FAMILIES:
        if formula.name == name:
            return formula
    hint = did_you_mean(name, [f.name for f in FAMILIES]) or "serq closed-form --list shows them all"
    raise UsageError(f"no closed form is called {name}; {hint}")


def evaluate(name: str, arguments: Mapping[str, Argument]) -> Evaluation:
    """The family's measures at these arguments. Raises `UsageError` for a wrong name; what the values themselves fail
    is in the evaluation.
    """
    return evaluate_formula(find(name), arguments)


def read_arguments(name: str, texts: Mapping[str, str]) -> dict[str, Argument]:
    """Arguments from texts such as `N=8` or `S=1.25,5/3,2.5`. Raises `UsageError` where a text is no number."""
    parameters = {p.name: p for p in find(name).parameters}
    unknown = sorted(set(texts) - set(parameters))
    if unknown:
        raise UsageError(f"{name} has no parameter {unknown[0]}; its parameters are {', '.join(parameters)}")
    return {key: parameters[key].read(text) for key, text in texts.items()}


def describe(formula: Formula) -> str:
    """What a person wants to know of a family, as lines of text."""
    out = [f"{formula.name}: {formula.title}", f"source: {formula.source}", "parameters:"]
    for p in formula.parameters:
        shape = "" if p.shape == "number" else f", a {p.shape}"
        unit = f" [{p.unit}]" if p.unit else ""
        out.append(f"  {p.name}  {p.meaning}{unit}: {p.domain.text}{shape}")
    if formula.preconditions:
        out += ["needs:", *(f"  {p.text}" for p in formula.preconditions)]
    out.append("gives:" if formula.kind == "exact" else f"gives ({formula.kind}):")
    for q in formula.measures:
        out.append(f"  {q.name}  {q.meaning}" + (f" [{q.unit}]" if q.unit else ""))
    if formula.numerical:
        out.append(f"computed by: {formula.numerical}")
    if formula.stability:
        out.append(f"stability: {formula.stability}")
    return "\n".join(out)


def to_latex(formula: Formula) -> dict[str, str]:
    """LaTeX by measure, for those that have an expression; further laws (a recursion) under `law 1`, `law 2`, ..."""
    return equations(formula) | {f"law {i}": sympy.latex(law) for i, law in enumerate(formula.laws, 1)}
