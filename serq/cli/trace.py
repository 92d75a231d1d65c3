"""`serq trace convert`: traces of other people's formats."""

from itertools import islice
from pathlib import Path

import click

from serq.base.output import check_target
from serq.cli.common import emit
from serq.cli.streams import to_stderr, to_stdout
from serq.ir.provenance import versions
from serq.traces import convert as conversion

_LINES_AT_A_TIME = 1000


@click.group("trace")
def command() -> None:
    """Work with traces of sessions."""


@command.command("convert")
@click.argument("source", metavar="IN")
@click.option("--from", "form", type=click.Choice(list(conversion.FORMATS)), required=True, help="The format of IN.")
@click.option("--out", metavar="F", help="Write to F (.csv or .parquet) instead of stdout.")
@click.option("--start", "keep_start", is_flag=True, help="Keep when sessions began, in a column `start` (seconds).")
@click.option("--keep-failed", is_flag=True, help="Keep failed calls of BurstGPT, with an output of 0 tokens.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as strict JSON (needs --out).")
@click.option("--quiet", is_flag=True, help="No remarks.")
def convert(
    source: str, form: str, out: str | None, keep_start: bool, keep_failed: bool, as_json: bool, quiet: bool
) -> None:
    """Make a trace with the columns session,turn,new,out,think,forced from the file (or directory) IN.

    `new` is the whole prompt of a turn, `think` the seconds from its last token to the next turn: never a gap that
    holds the service time, where the source tells them apart. What was done is said on stderr.
    """
    if as_json and out is None:
        raise click.UsageError("--json needs --out: stdout cannot hold both the trace and the report")
    if out is not None:
        check_target(Path(out))
    result = conversion.Conversion()
    turns = conversion.convert(Path(source), form, keep_start, keep_failed, result)
    if out is not None:
        conversion.write(Path(out), turns, keep_start)
    else:
        lines = conversion.lines(turns, keep_start)
        while chunk := "".join(islice(lines, _LINES_AT_A_TIME)):
            to_stdout(chunk)
    if as_json:
        emit("", _data(result, form), as_json=True)
    if not quiet:
        to_stderr("\n".join(_summary(result, form)))


def _summary(result: conversion.Conversion, form: str) -> list[str]:
    first = (
        f"{form}: {result.rows} turns of {result.sessions} sessions, {result.tokens_in:.0f} prompt and "
        f"{result.tokens_out:.0f} output tokens"
    )
    if result.last_start:
        first += f", sessions begin from 0 to {result.last_start:g} s"
    return [first, *result.remarks]


def _data(result: conversion.Conversion, form: str) -> dict[str, object]:
    return versions("trace") | {
        "format": form,
        "turns": result.rows,
        "sessions": result.sessions,
        "prompt_tokens": result.tokens_in,
        "output_tokens": result.tokens_out,
        "last_start": result.last_start,
        "remarks": result.remarks,
    }
