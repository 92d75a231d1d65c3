"""`serq price`: what a change of constants costs, exactly and by formula."""

import math
from dataclasses import replace
from fractions import Fraction

import click

from serq.base.errors import UsageError
from serq.cli.common import Common, common_options, load, parse_sets
from serq.cli.event import event_data, event_text
from serq.cli.options import chain_options
from serq.cli.tables import table
from serq.ir.expr import Number, double
from serq.ir.numbers import as_json, cut, rational, short
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.ir.results import Estimate
from serq.pipeline import SolveOptions, closed_forms, limited, solve
from serq.studies.event import price_of_event
from serq.studies.price import Change, changes, prices

_DO = "One event that goes another way: 'work := EXPR' at a `run`, 'entry lost' at a `hold`."


@click.command("price")
@common_options
@click.option("--from", "before", multiple=True, metavar="NAME=EXPR", help="Constants before the change (repeatable).")
@click.option("--to", "after", multiple=True, metavar="NAME=EXPR", help="Constants after it (repeatable).")
@click.option("--do", "event", metavar="EVENT", help=_DO)
@click.option("--at", "place", metavar="LINE[:COLUMN]", help="The `run` or `hold` that --do is about.")
@chain_options(phase_type=False)
def command(
    common: Common,
    before: tuple[str, ...],
    after: tuple[str, ...],
    event: str | None,
    place: str | None,
    solving: SolveOptions,
) -> None:
    """Say what a change of constants costs, or one event.

    The finite-source price of a change: the difference of every measure of FILE between two sets of constants. With
    --do: the price of one event that goes another way, once, such as one miss instead of a hit.

    The headline is the mean number of jobs at each stage that sessions share: what longer work for all costs in
    sessions waiting, all of them together.
    """
    if event is not None:
        if before or after:
            raise UsageError("--do prices one event; --from and --to price a change of constants")
        program = common.load()
        priced = price_of_event(program, parse_sets(common.sets), event, place, solving)
        common.emit(event_text(program, priced), event_data(program, priced))
        return
    if not after:
        raise UsageError("say what changes: --from NAME=EXPR --to NAME=EXPR, or --do EVENT")
    first, second = (
        limited(load(common.file, common.sets + sets, common.quiet), solving.limit) for sets in (before, after)
    )
    options = replace(solving, exact=True)
    found = list(changes(first, "exact", *(_values(solve(p, options).estimates) for p in (first, second))))
    formulas = changes(first, "closed form", *(_values(closed_forms(p).estimates) for p in (first, second)))
    _compare(found, formulas)
    common.emit(
        _text(first, before, after, tuple(found), formulas), _data(first, before, after, tuple(found), formulas)
    )


def _values(estimates: tuple[Estimate, ...]) -> dict[str, Number | None]:
    return {e.measure: e.value for e in estimates}


def _compare(exact: list[Change], formulas: tuple[Change, ...]) -> None:
    """Two witnesses that differ are a defect, not an answer."""
    by_name = {c.measure.name: c for c in formulas}
    for change in exact:
        other = by_name.get(change.measure.name)
        if other is not None and not _same(change.difference, other.difference):
            raise AssertionError(f"chain and formula differ on {change.measure.name}: {change} {other}")


def _same(exact: Number, formula: Number) -> bool:
    if isinstance(exact, Fraction) and isinstance(formula, Fraction):
        return exact == formula
    return math.isclose(double(exact), double(formula), rel_tol=1e-9, abs_tol=1e-9)


def _text(
    program: Program,
    before: tuple[str, ...],
    after: tuple[str, ...],
    found: tuple[Change, ...],
    formulas: tuple[Change, ...],
) -> str:
    by_formula = {c.measure.name for c in formulas}
    given = f"{', '.join(before) or 'as written'} -> {', '.join(after)}"
    out = [f"{program.name}: {given}"]
    for change in prices(program, found):
        agreed = " (exact; the closed form agrees)" if change.measure.name in by_formula else " (exact)"
        value = rational(change.difference) or short(change.difference, 10)
        out.append(f"price at {change.measure.subject}: {value} = {short(change.difference, 10)} jobs present{agreed}")
    rows = [
        (c.measure.name, short(c.before, 8), short(c.after, 8), short(c.difference, 8), cut(rational(c.difference)))
        for c in found
        if c.before or c.after
    ]
    header = ("measure", "before", "after", "difference", "exact difference")
    return "\n".join(out) + "\n\n" + table(rows, header, right=(1, 2, 3))


def _data(
    program: Program,
    before: tuple[str, ...],
    after: tuple[str, ...],
    found: tuple[Change, ...],
    formulas: tuple[Change, ...],
) -> dict[str, object]:
    return provenance(program, "price", "python-flint", "sympy") | {
        "from": list(before),
        "to": list(after),
        "price": {c.measure.subject: _number(c.difference) for c in prices(program, found)},
        "exact": {c.measure.name: _change(c) for c in found},
        "closed_form": {c.measure.name: _change(c) for c in formulas},
    }


def _change(change: Change) -> dict[str, object]:
    return {
        "before": _number(change.before),
        "after": _number(change.after),
        "difference": _number(change.difference),
    }


def _number(value: Number) -> dict[str, object]:
    return {"value": as_json(value)} | ({"exact": rational(value)} if rational(value) else {})
