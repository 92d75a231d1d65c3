"""`serq price`: what a change of constants costs, exactly and by formula, or one event."""

from dataclasses import dataclass, replace
from typing import Any

import click

from serq.api.priced import EventPriceResult, PriceResult, price_change
from serq.base.errors import OutsideFragmentError, UsageError
from serq.cli.common import Common, common_options, load, parse_sets
from serq.cli.event import event_text
from serq.cli.options import TIME, chain_options, simulation_options
from serq.cli.progress import simulating
from serq.cli.streams import to_stderr
from serq.cli.study import methods_of
from serq.cli.tables import table
from serq.ir.numbers import cut, rational, short
from serq.pipeline import SimulateOptions, SolveOptions
from serq.studies.change import from_before
from serq.studies.event_price import EventQuestion, answer_event
from serq.studies.twins import PAIRS

_DO = "One event that goes another way: 'work := EXPR' at a `run`, 'entry lost' at a `hold`."
_METHODS = "Which of exact, sim, closed. Default: exact; with --vary all three."
_PAIRS = "With --do: pairs of runs that differ in the one event."
_FOLLOW = "With --do: how long a pair is followed after the event (default: until more time adds nothing)."
_VARY = "Price the change at every point of a grid, as in serq study (repeatable)."


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the command line asks for, option by option."""

    common: Common
    before: tuple[str, ...]
    after: tuple[str, ...]
    event: str | None
    place: str | None
    vary: tuple[str, ...]
    methods: str | None
    pairs: int
    follow: float | None
    simulation: SimulateOptions
    solving: SolveOptions


@click.command("price")
@common_options
@click.option("--from", "before", multiple=True, metavar="NAME=EXPR", help="Constants before the change (repeatable).")
@click.option("--to", "after", multiple=True, metavar="NAME=EXPR", help="Constants after it (repeatable).")
@click.option("--do", "event", metavar="EVENT", help=_DO)
@click.option("--at", "place", metavar="LINE[:COLUMN]", help="The `run` or `hold` that --do is about.")
@click.option("--vary", multiple=True, metavar="NAME=VALUES", help=_VARY)
@click.option("--methods", "--method", metavar="LIST", help=_METHODS)
@click.option("--pairs", type=click.IntRange(min=2), metavar="N", default=PAIRS, show_default=True, help=_PAIRS)
@click.option("--follow", type=TIME, metavar="TIME", help=_FOLLOW)
@simulation_options(replications=4, jobs_help="Tasks or pairs at a time (default: as many as there are processors).")
@chain_options(phase_type=False)
@click.pass_context
def command(ctx: click.Context, /, common: Common, **given: Any) -> None:
    """Say what a change of constants costs, or one event.

    The finite-source price of a change: the difference of every measure of FILE between two sets of constants. With
    --do: the price of one event that goes another way, once, such as one miss instead of a hit; by simulation of any
    program, from pairs of runs that differ in that event alone, beside what formulas say and assume.

    With --vary or --methods: the price of the change at every point of a grid, exact, by formula, and simulated with
    common random numbers. The exit status is 1 when methods disagree.

    The headline is the mean number of jobs at each stage that sessions share: what longer work for all costs in
    sessions waiting, all of them together.
    """
    asked = Asked(common=common, **given)
    if asked.event is not None:
        if asked.before or asked.after or asked.vary:
            raise UsageError("--do prices one event; --from, --to and --vary price a change of constants")
        agrees = _price_event(asked, asked.event)
    elif not asked.after:
        common.load()  # what is wrong with the file is said first, as by every verb
        raise UsageError("say what changes: --from NAME=EXPR --to NAME=EXPR, or --do EVENT")
    elif asked.vary or asked.methods is not None:
        agrees = _price_study(asked)
    else:
        agrees = _price_change(asked)
    if not agrees:
        ctx.exit(1)


def _price_event(asked: Asked, event: str) -> bool:
    common = asked.common
    program = common.load()
    methods = ("exact",) if asked.methods is None else methods_of(asked.methods)
    simulation = replace(asked.simulation, replications=asked.pairs)
    question = EventQuestion(event, asked.place, methods, asked.solving, simulation, asked.follow)
    with simulating(common.quiet) as progress:
        try:
            answer = answer_event(program, parse_sets(common.sets), question, progress)
        except OutsideFragmentError:
            if asked.methods is None and not common.quiet:
                to_stderr("the event has no exact price; --methods sim,closed prices it by simulation and formulas")
            raise
    result = EventPriceResult(program, answer)
    common.emit(event_text(result), result.to_dict())
    return answer.agrees


def _price_study(asked: Asked) -> bool:
    from serq.cli.price_study import price_study

    change = (asked.before, asked.after)
    return price_study(asked.common, change, asked.vary, asked.methods, asked.solving, asked.simulation)


def _price_change(asked: Asked) -> bool:
    common, changes = asked.common, (asked.before, asked.after)
    program = load(common.file, common.sets, common.quiet)
    new = (tuple(f"{k}={v}" for k, v in from_before(program, parse_sets(sets)).items()) for sets in changes)
    first, second = (load(common.file, common.sets + sets, quiet=True) for sets in new)
    result = price_change(first, second, asked.before, asked.after, asked.solving)
    common.emit(_text(result), result.to_dict())
    return True


def _text(result: PriceResult) -> str:
    by_formula = {c.measure.name for c in result.by_formula}
    given = f"{', '.join(result.before) or 'as written'} -> {', '.join(result.after)}"
    out = [f"{result.program.name}: {given}"]
    for stage, price in result.prices.items():
        exact, agreed = rational(price), f"stage.{stage}.number" in by_formula
        said = "; ".join(text for text, holds in (("exact", exact), ("the closed form agrees", agreed)) if holds)
        value = f"{exact} = {short(price, 10)}" if exact else short(price, 10)
        out.append(f"price at {stage}: {value} jobs present" + (f" ({said})" if said else ""))
    rows = [
        (c.measure.name, short(c.before, 8), short(c.after, 8), short(c.difference, 8), cut(rational(c.difference)))
        for c in result.exact
        if c.before or c.after
    ]
    header = ("measure", "before", "after", "difference", "exact difference")
    return "\n".join(out) + "\n\n" + table(rows, header, right=(1, 2, 3))
