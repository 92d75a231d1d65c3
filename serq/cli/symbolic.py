"""The answer of `serq solve --symbolic`: the measures as formulas."""

from collections.abc import Mapping
from fractions import Fraction

from serq.cli.common import Common, load
from serq.ir.program import Program
from serq.pipeline import SolveOptions


def symbolic_answer(
    common: Common, program: Program, options: SolveOptions, wanted: str | None
) -> tuple[str, dict[str, object]]:
    """The answer for a person, and for JSON; `wanted` names the constants to leave open, None all that can be."""
    from serq.api.symbolic import SymbolicResult
    from serq.compare.symbolic import formulas

    def reload(values: Mapping[str, Fraction]) -> Program:
        return load(common.file, (*common.sets, *(f"{name}={x}" for name, x in values.items())), quiet=True)

    names = None if wanted is None else [name.strip() for name in wanted.split(",") if name.strip()]
    found = formulas(program, reload, options, names)
    by = "" if found.method == "state elimination" else f", by {found.method}"
    out = [f"{program.name}: formulas in {', '.join(found.opened) or 'no constant'}{by}"]
    out += [f"  {name} = {program.constant(name).folded.exact}: {why}" for name, why in found.kept.items()]
    out += [f"approximated: {text}" for text in found.approximated]
    out += ["", *(f"{f.measure} = {f.text}" for f in found.formulas)]
    if found.missing:
        out += ["", "no formula:", *(f"  {measure}: {why}" for measure, why in found.missing.items())]
    return "\n".join(out) + "\n", SymbolicResult(program, found).to_dict()
