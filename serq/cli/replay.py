"""`serq replay`: a trace, request for request."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Literal

import click

from serq.api.replayed import ReplayResult, check_requests
from serq.base.output import cannot_write, check_target, make_directory
from serq.base.render import render_all
from serq.cli.common import Common, common_options
from serq.cli.options import TIME
from serq.cli.progress import replaying
from serq.cli.streams import to_stderr, to_stdout
from serq.ir.numbers import short
from serq.ir.program import Program
from serq.pipeline import replay
from serq.semantics.replay import Replayed, ReplayOptions
from serq.semantics.replay_tables import STEP_COLUMNS, request_lines, step_line, write_requests
from serq.semantics.step_log import Step

_LINES_AT_A_TIME = 1000
_ENGINE = "Compile the program, or interpret it; auto compiles what can be, and interprets for --checked."


@click.command("replay")
@common_options
@click.option("--trace", metavar="F", help="Replay this trace (CSV or Parquet) instead of the program's own.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Seed of what the program draws.")
@click.option(
    "--horizon", type=TIME, metavar="TIME", help="Stop at this time; a finite trace otherwise runs to its end."
)
@click.option("--strict-vllm", is_flag=True, help="Never reject: what can never fit blocks its queue, as in vLLM.")
@click.option("--dump", metavar="DIR", help="Write requests.csv and steps.csv into DIR.")
@click.option(
    "--engine", type=click.Choice(["auto", "compiled", "reference"]), default="auto", show_default=True, help=_ENGINE
)
@click.option("--checked", is_flag=True, help="Assert the invariants of the semantics after every transition (slow).")
def command(
    common: Common,
    trace: str | None,
    seed: int | None,
    horizon: float | None,
    strict_vllm: bool,
    dump: str | None,
    engine: Literal["auto", "compiled", "reference"],
    checked: bool,
) -> None:
    """Replay a trace, request for request.

    FILE gets the sessions of the trace, and every request a row: when it was sent, reached the engine, had its first
    and its last token, what it hit, how often it was preempted.

    The table goes to stdout or, as CSV or Parquet, to the file of --out; a summary goes to stderr.
    """
    program = common.load()
    check_requests(program)
    options = ReplayOptions(seed, horizon, strict_vllm, checked)
    with ExitStack() as stack:
        sink = None if dump is None else stack.enter_context(_step_file(make_directory(Path(dump)) / "steps.csv"))
        progress = stack.enter_context(replaying(common.quiet))
        result = replay(program, trace, options, sink, progress, engine)
    if dump is not None:
        write_requests(Path(dump) / "requests.csv", result.requests)
    _emit(common, program, result)
    if result.stuck is None:
        return
    if not common.as_json:
        raise result.stuck
    to_stderr(render_all(program.source, result.stuck.diagnostics))  # the report says it, and is the only one
    raise click.exceptions.Exit(result.stuck.exit_status)


@contextmanager
def _step_file(path: Path) -> Iterator[Callable[[Step], object]]:
    """Every step is written when it is over: what there is of a run that fails can be looked at."""
    check_target(path)
    try:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write(",".join(STEP_COLUMNS) + "\n")
            yield lambda step: file.write(step_line(step))
    except OSError as error:
        raise cannot_write(path, error) from error


def _emit(common: Common, program: Program, result: Replayed) -> None:
    if common.as_json:
        common.emit("", ReplayResult(program, result).to_dict())
    elif common.out is not None:
        write_requests(Path(common.out), result.requests)
    else:
        lines = request_lines(result.requests)
        while chunk := "".join(islice(lines, _LINES_AT_A_TIME)):
            to_stdout(chunk)
    if not common.quiet:
        to_stderr("\n".join(_summary(program, result)))


def _summary(program: Program, result: Replayed) -> list[str]:
    summary = result.summary()
    lines = [
        f"{program.name}: {summary['requests']} requests, {summary['done']} of them done, until time {result.time:g}; "
        f"{summary['preemptions']} preemptions, {result.events} events"
    ]
    if summary["mean_first"] is not None:
        lines.append(
            f"mean seconds from sending to the first token {short(summary['mean_first'], 12)}, "
            f"to the last {short(summary['mean_done'], 12)}"
        )
    if summary["rejected"]:
        lines.append(f"rejected, as they ask for more than there is: {summary['rejected']}")
    if summary["unsent"]:
        lines.append(f"turns of the trace that were never sent: {summary['unsent']}")
    lines.append(f"engine: {result.engine}" + (f" ({result.why})" if result.why else ""))
    return lines
