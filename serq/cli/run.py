"""`serq run`: simulate and report."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from serq.api.simulated import SimulateResult
from serq.base.errors import LimitError, RunError
from serq.base.output import check_directory
from serq.cli.common import Common, common_options
from serq.cli.options import COUNT, simulation_options
from serq.cli.progress import simulating
from serq.cli.stopping import until_options
from serq.cli.streams import to_stderr
from serq.cli.tables import table
from serq.ir.numbers import as_given, short, with_interval
from serq.ir.program import Program
from serq.pipeline import SimulateOptions, simulate
from serq.semantics.report import PartialError, RunReport, Section

if TYPE_CHECKING:
    from serq.semantics.run_result import RunResult
    from serq.studies.precision import Reached, Until

_ENGINE = "Compiled or reference: the same numbers. auto: compiled where possible."

_MEMORY = "Stop at so many MiB of memory (default: a quarter of the machine's)."
_SHOWN = ("p50", "p95", "p99")


@click.command("run")
@common_options
@simulation_options(replications=1)
@click.option(
    "--engine", type=click.Choice(["auto", "compiled", "reference"]), default="auto", show_default=True, help=_ENGINE
)
@click.option("--trace", metavar="F", help="Replay this trace instead of the program's.")
@click.option("--dump", metavar="DIR", help="Write one file per observe with time, session, turn and value.")
@click.option(
    "--format",
    "dump_format",
    type=click.Choice(["csv", "parquet"]),
    default="csv",
    show_default=True,
    help="Of the dump.",
)
@until_options
@click.option("--max-events", type=COUNT, metavar="N", help="Stop a replication at so many events.")
@click.option("--max-memory", type=COUNT, metavar="MIB", help=_MEMORY)
@click.option("--checked", is_flag=True, help="Assert the invariants of the semantics after every transition (slow).")
@click.pass_context
def command(
    ctx: click.Context,
    common: Common,
    simulation: SimulateOptions,
    engine: Literal["auto", "compiled", "reference"],
    trace: str | None,
    dump: str | None,
    dump_format: Literal["csv", "parquet"],
    until: "Until | None",
    max_events: int | None,
    max_memory: int | None,
    checked: bool,
) -> None:
    """Simulate a program.

    Every measure of FILE is reported with its confidence interval: several replications give Student intervals over
    their means, one long run gives batch means.

    --until adds replications, or with --longer time, until the intervals are narrow enough; the report is that of a
    plain run of that size.

    At a limit the exit status is 4, and the report is on what was learned so far. It is 5 when sessions wait for ever.
    """
    if dump is not None:
        check_directory(Path(dump))
    program = common.load()
    options = replace(
        simulation, trace=trace, keep_samples=dump is not None, checked=checked, engine=engine, events=max_events,
        memory=None if max_memory is None else max_memory << 20,
    )  # fmt: skip
    try:
        with simulating(common.quiet) as progress:
            report, results, reached = _simulated(program, options, until, progress)
    except PartialError as partial:
        report, results, reached = partial.report, partial.results, None
    if report.why_reference and not common.quiet:
        to_stderr(f"simulated by the reference interpreter: {report.why_reference}")
    if dump is not None:
        from serq.semantics.dump import write_dump

        write_dump(results, Path(dump), dump_format)
    common.emit(text(report), SimulateResult(program, report, results, reached).to_dict())
    _end(ctx, report, reached)


def _simulated(
    program: Program, options: SimulateOptions, until: "Until | None", progress: Callable[[float], None] | None
) -> "tuple[RunReport, tuple[RunResult, ...], Reached | None]":
    if until is None:
        return *simulate(program, options, progress), None
    from serq.studies.precision import simulate_until

    return simulate_until(program, options, until, progress)


def _end(ctx: click.Context, report: RunReport, reached: "Reached | None") -> None:
    """The exit status of a run that did not do all that it was asked to."""
    if report.stopped:
        to_stderr(f"serq: error: {report.stopped}")
        ctx.exit(LimitError.exit_status)
    if report.stability.kind == "stuck":
        to_stderr(f"serq: error: {report.stability.text}")
        ctx.exit(RunError.exit_status)
    if reached is not None and not reached.enough:
        to_stderr(f"serq: error: {report.remarks[-1]}")
        ctx.exit(LimitError.exit_status)


def text(report: RunReport) -> str:
    """The report for a person."""
    o = report.options
    head = [
        f"{report.program}: time {as_given(o.warmup)} to {as_given(o.horizon)}, seed {o.seed}, {report.events} events, "
        f"{report.replications} replication{'s' if report.replications > 1 else ''}",
        f"{report.confidence:.0%} intervals: {report.method}",
        f"engine: {report.engine}",
    ]
    head += report.remarks
    if report.stopped:
        head.append(f"stopped early: {report.stopped}")
    head.append(f"{report.stability.kind}: {report.stability.text}")
    parts = ["\n".join(head) + "\n"]
    if report.observes:
        parts.append(_observes(report.observes))
    for title, sections in (("stages", report.stages), ("pools", report.pools), ("gauges", report.gauges)):
        if sections:
            parts.append(_sections(title, sections))
    parts.append(_sections("sessions", (report.sessions,)))
    return "\n".join(parts)


def _observes(sections: tuple[Section, ...]) -> str:
    rows: list[tuple[str, ...]] = []
    for section in sections:
        s = section.summary
        if s is None or not s.count:
            rows.append((section.name, "0", *("-" for _ in range(7))))
            continue
        answers = (with_interval(section.estimates[x]) for x in ("mean", *_SHOWN))
        rows.append((section.name, str(s.count), *answers, *(short(x, 5) for x in (s.cv2, s.minimum, s.maximum))))
    header = ("observe", "count", "mean", *_SHOWN, "cv2", "min", "max")
    return table(rows, header, right=range(1, len(header)))


def _sections(title: str, sections: tuple[Section, ...]) -> str:
    rows = []
    for section in sections:
        for statistic, estimate in section.estimates.items():
            rows.append((section.name, statistic, with_interval(estimate)))
        for name, value in section.totals.items():
            if value:
                rows.append((section.name, name, short(value)))
    return table(rows, (title, "", "value"), right=(2,))
