"""`serq closed-form`: the formulas that fit a program, or one formula by its name."""

from collections.abc import Sequence

import click

from serq.api.files import find_file
from serq.api.matched import ClosedFormResult, plain
from serq.base.errors import InputError, UsageError
from serq.cli.common import Common
from serq.cli.tables import table
from serq.closedforms.arguments import Argument
from serq.closedforms.formula import Formula
from serq.closedforms.matches import Matches
from serq.closedforms.registry import FAMILIES, describe, evaluate, find, read_arguments, to_latex
from serq.ir.numbers import cut, rational, short
from serq.ir.provenance import versions


@click.command("closed-form")
@click.argument("what", required=False, metavar="[FILE|NAME]")
@click.argument("arguments", nargs=-1, metavar="[k=v ...]")
@click.option("--list", "list_all", is_flag=True, help="List the formulas.")
@click.option("--latex", is_flag=True, help="Print LaTeX.")
@click.option("--set", "sets", multiple=True, metavar="NAME=EXPR", help="Override a let of FILE (repeatable).")
@click.option("--json", "as_json_text", is_flag=True, help="Print strict JSON on stdout and nothing else there.")
@click.option("--out", metavar="PATH", help="Write to PATH instead of stdout.")
@click.option("--quiet", is_flag=True, help="No warnings.")
@click.pass_context
def command(
    ctx: click.Context,
    what: str | None,
    arguments: tuple[str, ...],
    list_all: bool,
    latex: bool,
    sets: tuple[str, ...],
    as_json_text: bool,
    out: str | None,
    quiet: bool,
) -> None:
    """Find or evaluate closed forms.

    With FILE: the known formulas that fit the program, their values, and why others do not fit; the exit status is 1
    when none fits. With NAME: what the formula says; with k=v ... too, its values. With --list: all formulas.
    """
    common = Common(what or "", sets, as_json_text, out, quiet)
    if list_all:
        _list(common)
        return
    if what is None:
        raise UsageError("give a program, a formula's name, or --list")
    if arguments or (_is_formula(what) and (latex or not _is_program(what))):
        _by_name(find(what), arguments, latex, common)
        return
    if not _program(common, latex):
        ctx.exit(1)


def _is_formula(name: str) -> bool:
    return any(f.name == name for f in FAMILIES)


def _is_program(name: str) -> bool:
    try:
        return find_file(name).exists()
    except InputError:
        return False


def _list(common: Common) -> None:
    families = [{"name": f.name, "title": f.title, "source": f.source} for f in FAMILIES]
    text = table([(f.name, f.title) for f in FAMILIES], ("name", "family"))
    common.emit(text, versions("closed-form", "sympy") | {"formulas": families})


def _by_name(formula: Formula, arguments: Sequence[str], latex: bool, common: Common) -> None:
    data = versions("closed-form", "sympy") | {"formula": formula.name, "source": formula.source}
    if latex or not arguments:
        formulas = dict(to_latex(formula))
        text = "".join(f"{name}: {line}\n" for name, line in formulas.items()) if latex else describe(formula) + "\n"
        common.emit(text, data | {"latex": formulas})
        return
    result = evaluate(formula.name, read_arguments(formula.name, _pairs(arguments)))
    if result.failed:
        raise UsageError(f"{formula.name} does not apply: {'; '.join(result.failed)}")
    meanings = {q.name: q.meaning for q in formula.measures}
    rows = [(name, _short(v), _exact(v), meanings.get(name, "")) for name, v in result.values.items()]
    text = f"{formula.title} ({result.method})\n\n" + table(rows, ("", "value", "exact", "meaning"), right=(1,))
    values = {name: plain(v) for name, v in result.values.items()}
    common.emit(text, data | {"method": result.method, "values": values})


def _pairs(arguments: Sequence[str]) -> dict[str, str]:
    pairs = [a.partition("=") for a in arguments]
    wrong = [a for a, (_, equals, value) in zip(arguments, pairs, strict=True) if not equals or not value]
    if wrong:
        raise UsageError(f"a formula takes k=v, not {wrong[0]!r}")
    return {k: v for k, _, v in pairs}


def _program(common: Common, latex: bool) -> bool:
    """Print what fits a program; whether anything does."""
    from serq.pipeline import closed_forms

    program = common.load()
    found = closed_forms(program)
    common.emit(_text(found, latex), ClosedFormResult(found).to_dict())
    return bool(found.matches)


def _text(found: Matches, latex: bool) -> str:
    out = []
    for match in found.matches:
        bindings = ", ".join(f"{b.name} = {b.text}" for b in match.bindings)
        out.append(f"{match.formula.title}\n  with {bindings}\n  source: {match.formula.source}\n")
        if latex:
            out.append("".join(f"  {name}: {text}\n" for name, text in to_latex(match.formula).items()))
        known = [e for e in match.estimates if e.value is not None]
        rows = [(e.measure, short(e.value, 10), cut(rational(e.value))) for e in known]
        out.append(table(rows, ("measure", "value", "exact"), right=(1,)))
    if not found.matches:
        out.append(f"no formula fits: {found.why_not}\n")
    elif found.near_misses:
        out.append("does not fit:\n" + "".join(f"  {m.formula}: {m.reason}\n" for m in found.near_misses))
    return "\n".join(out)


def _short(value: Argument) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_short(v) for v in value) + "]"
    return short(value, 10)


def _exact(value: Argument) -> str:
    return "" if isinstance(value, tuple) else cut(rational(value))
