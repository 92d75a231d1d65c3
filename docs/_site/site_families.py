"""The reference of closed forms, from the registry: every family with its parameters, its needs and its formulas."""

from collections.abc import Iterator

from sphinx.application import Sphinx

from serq.closedforms.formula import Formula
from serq.closedforms.registry import FAMILIES, to_latex

PAGE = "reference/closed-forms"


def section(formula: Formula) -> Iterator[str]:
    """The lines about one family."""
    kind = "" if formula.kind == "exact" else f" ({formula.kind})"
    yield f"\n## {formula.name}\n\n{formula.title}{kind}. Source: {formula.source.rstrip('.')}.\n"
    yield "| parameter | meaning | unit | values |\n|---|---|---|---|"
    for p in formula.parameters:
        shape = "" if p.shape == "number" else f", a {p.shape}"
        yield f"| `{p.name}` | {p.meaning} | {p.unit} | {p.domain.text}{shape} |"
    yield ""
    for heading, items in (("Needs", [p.text for p in formula.preconditions]), ("Stability", [formula.stability])):
        if any(items):
            yield f"{heading}: {'; '.join(items).rstrip('.')}.\n"
    if formula.numerical:
        yield f"Computed by {formula.numerical}.\n"
    latex = to_latex(formula)
    for q in formula.measures:
        yield f"* `{q.name}`: {q.meaning}" + (f" [{q.unit}]" if q.unit else "")
    yield ""
    for text in latex.values():
        yield f"$$\n{text}\n$$\n"


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the families to their page while it is read."""

    def add(app: Sphinx, page: str, source: list[str]) -> None:
        if page == PAGE:
            source[0] += "\n".join(line for formula in FAMILIES for line in section(formula))

    app.connect("source-read", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
