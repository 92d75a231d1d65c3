"""`serq price`: what a change of constants costs, exactly and by formula."""

import click

from serq.api.priced import EventPriceResult, PriceResult, price_change
from serq.base.errors import UsageError
from serq.cli.common import Common, common_options, load, parse_sets
from serq.cli.event import event_text
from serq.cli.options import chain_options
from serq.cli.tables import table
from serq.ir.numbers import cut, rational, short
from serq.pipeline import SolveOptions
from serq.studies.event import price_of_event

_DO = "One event that goes another way: 'work := EXPR' at a `run`, 'entry lost' at a `hold`."


_VARY = "Price the change at every point of a grid, as in serq study (repeatable)."


@click.command("price")
@common_options
@click.option("--from", "before", multiple=True, metavar="NAME=EXPR", help="Constants before the change (repeatable).")
@click.option("--to", "after", multiple=True, metavar="NAME=EXPR", help="Constants after it (repeatable).")
@click.option("--do", "event", metavar="EVENT", help=_DO)
@click.option("--at", "place", metavar="LINE[:COLUMN]", help="The `run` or `hold` that --do is about.")
@click.option("--vary", multiple=True, metavar="NAME=VALUES", help=_VARY)
@click.option("--methods", metavar="LIST", help="With --vary: which of exact, sim, closed; by default all three.")
@chain_options(phase_type=False)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    common: Common,
    before: tuple[str, ...],
    after: tuple[str, ...],
    event: str | None,
    place: str | None,
    vary: tuple[str, ...],
    methods: str | None,
    solving: SolveOptions,
) -> None:
    """Say what a change of constants costs, or one event.

    The finite-source price of a change: the difference of every measure of FILE between two sets of constants. With
    --do: the price of one event that goes another way, once, such as one miss instead of a hit.

    With --vary: the price of the change at every point of a grid, exact, by formula, and simulated with common random
    numbers; the exit status is 1 when they disagree.

    The headline is the mean number of jobs at each stage that sessions share: what longer work for all costs in
    sessions waiting, all of them together.
    """
    if event is not None:
        if before or after or vary:
            raise UsageError("--do prices one event; --from, --to and --vary price a change of constants")
        program = common.load()
        priced = price_of_event(program, parse_sets(common.sets), event, place, solving)
        common.emit(event_text(program, priced), EventPriceResult(program, priced).to_dict())
        return
    if not after:
        common.load()  # what is wrong with the file is said first, as by every verb
        raise UsageError("say what changes: --from NAME=EXPR --to NAME=EXPR, or --do EVENT")
    if vary:
        from serq.cli.price_study import price_study

        if not price_study(common, (before, after), vary, methods, solving):
            ctx.exit(1)
        return
    first, second = (load(common.file, common.sets + sets, common.quiet) for sets in (before, after))
    result = price_change(first, second, before, after, solving)
    common.emit(_text(result), result.to_dict())


def _text(result: PriceResult) -> str:
    by_formula = {c.measure.name for c in result.by_formula}
    given = f"{', '.join(result.before) or 'as written'} -> {', '.join(result.after)}"
    out = [f"{result.program.name}: {given}"]
    for stage, price in result.prices.items():
        agreed = " (exact; the closed form agrees)" if f"stage.{stage}.number" in by_formula else " (exact)"
        value = rational(price) or short(price, 10)
        out.append(f"price at {stage}: {value} = {short(price, 10)} jobs present{agreed}")
    rows = [
        (c.measure.name, short(c.before, 8), short(c.after, 8), short(c.difference, 8), cut(rational(c.difference)))
        for c in result.exact
        if c.before or c.after
    ]
    header = ("measure", "before", "after", "difference", "exact difference")
    return "\n".join(out) + "\n\n" + table(rows, header, right=(1, 2, 3))
