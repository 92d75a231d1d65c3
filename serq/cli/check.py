"""`serq check`: simulated, exact and closed form side by side."""

import click

from serq.api.checked import CheckResult, share
from serq.cli.common import Common, common_options, load
from serq.cli.options import CHANCE, chain_options, simulation_options
from serq.cli.progress import simulating
from serq.cli.tables import table
from serq.compare.agree import FALSE_ALARM, POWER, Row
from serq.compare.three_way import CheckOptions, ThreeWay, three_way
from serq.ir.numbers import as_given, cut, short, with_interval
from serq.ir.results import Estimate
from serq.pipeline import SimulateOptions, SolveOptions
from serq.studies.words import percentage

_FALSE_ALARM_HELP = "Probability that witnesses which agree are said to disagree anywhere."


@click.command("check")
@common_options
@simulation_options(replications=4)
@click.option("--false-alarm", type=CHANCE, metavar="P", default=FALSE_ALARM, show_default=True, help=_FALSE_ALARM_HELP)
@click.option("--until-power", metavar="0.5%", help="Run on until an error of this size would be found everywhere.")
@chain_options(phase_type=False)
@click.option("--simulate-with", multiple=True, hidden=True, metavar="NAME=EXPR")
@click.pass_context
def command(
    ctx: click.Context,
    common: Common,
    solving: SolveOptions,
    simulation: SimulateOptions,
    false_alarm: float,
    until_power: str | None,
    simulate_with: tuple[str, ...],
) -> None:
    """Compare simulation, exact solution and closed form.

    Every measure of FILE that two of the three can answer gets a row and a verdict; the table gets one verdict, with
    the error that it would have found.

    The exit status is 1 when anything disagrees, when there is nothing to compare the simulation with, and when it is
    too short to find anything.
    """
    program = common.load()
    simulated = load(common.file, common.sets + simulate_with, quiet=True) if simulate_with else None
    options = CheckOptions(simulation, solving, false_alarm, simulated, share(until_power, "--until-power"))
    with simulating(common.quiet) as progress:
        result = three_way(program, options, progress)
    answer = CheckResult(result)
    common.emit(_text(result), answer.to_dict())
    if not answer.agrees:
        ctx.exit(1)


def _text(result: ThreeWay) -> str:
    agreement = result.agreement
    span = f"time {as_given(result.warmup)} to {as_given(result.horizon)}"
    lines = [
        f"{result.program.name}: simulated over {result.replications} x {span} (seed {result.seed}, "
        f"{result.events} events)",
        *(f"  {remark}" for remark in result.remarks),
    ]
    lines.append(f"exact: {result.chain}" if result.chain else "exact: no answer")
    lines += [f"  {reason}" for reason in result.no_chain]
    lines.append(f"closed form: {'; '.join(result.formulas) or result.no_formula}")
    shown = [row for row in agreement.rows if row.verdict in ("agrees", "disagrees") and not _is_nothing(row)]
    out = "\n".join(lines) + "\n\n"
    if shown:
        header = ("measure", "simulated", "exact", "closed form", "z", "finds", "verdict")
        out += table([_cells(row) for row in shown], header, right=(4, 5)) + "\n"
    return out + _not_compared(result) + _verdict(result)


def _not_compared(result: ThreeWay) -> str:
    """The measures that only the simulation has though others speak of the program, by the reason why; and those that
    others have too, but that the simulation knows too little of for a test.
    """
    if not result.agreement.compared:
        return ""
    alone: dict[str, list[str]] = {}
    untested: dict[str, list[str]] = {}
    for row in result.agreement.rows:
        others = [e for e in (row.exact, row.closed if result.formulas else None) if e is not None]
        reason = row.why or next((e.reason for e in others if e.reason), "")
        if row.verdict == "one witness" and row.simulated is not None and reason:
            kind = untested if any(e.value is not None for e in others) else alone
            kind.setdefault(reason, []).append(row.measure.name)
    return _listed("only simulated:", alone) + _listed("not tested:", untested)


def _listed(heading: str, reasons: dict[str, list[str]]) -> str:
    lines = [f"  {', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return "\n".join([heading, *lines, "", ""]) if lines else ""


def _is_nothing(row: Row) -> bool:
    """Whether every witness says zero: an event that the program does not have."""
    answers = [e.value for e in (row.simulated, row.exact, row.closed) if e is not None and e.value is not None]
    return not any(answers)


def _cells(row: Row) -> tuple[str, ...]:
    z = "" if row.z is None else f"{row.z:+.1f}"
    finds = "" if row.finds is None else percentage(row.finds)
    simulated = "" if row.simulated is None else with_interval(row.simulated)
    verdict = row.verdict.upper() if row.verdict == "disagrees" else row.verdict
    return (row.measure.name, simulated, _known(row.exact), _known(row.closed), z, finds, verdict)


def _known(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return ""
    if estimate.is_exact and len(str(estimate.value)) <= 16:
        return str(estimate.value)
    return cut(short(estimate.value, 10), 24)


def _verdict(result: ThreeWay) -> str:
    agreement = result.agreement
    if not agreement.compared:
        return "NOTHING TO COMPARE: only the simulation has answers\n"
    wrong = [row for row in agreement.rows if row.verdict == "disagrees"]
    if agreement.is_blind and not wrong:
        return "NOTHING TO COMPARE: the simulation is too short to find any error below 100%\n"
    power = ""
    if agreement.finds is not None:
        found = f"{percentage(agreement.finds)} in some measure would have been found"
        power = f"; an error of {found} with probability {POWER:.0%}"
    rate = f"false alarm in the whole table: at most {agreement.false_alarm:g} (Holm, {agreement.tests} tests)"
    if wrong:
        first = wrong[0]
        return (
            f"DISAGREES in {len(wrong)} of {agreement.compared} measures; {first.measure.name}: {first.why}\n{rate}\n"
        )
    return f"AGREES in {agreement.compared} measures{power}\n{rate}\n"
