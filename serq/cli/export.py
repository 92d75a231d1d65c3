"""`serq export`: the program's Markov chain for other tools."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from serq.api.exported import TARGETS, export_program
from serq.base.errors import UsageError
from serq.base.output import check_directory
from serq.base.render import render_all
from serq.cli.common import Common, common_options
from serq.cli.options import Verb, chain_options, with_options
from serq.cli.progress import exploring
from serq.cli.streams import to_stderr
from serq.pipeline import SolveOptions


def _target_option(function: Verb) -> Verb:
    """A flag for each target, of which exactly one must be given; it is handed over as `target`."""

    def verb(*args: Any, **given: Any) -> Any:
        asked = [name for name in TARGETS if given.pop(name)]
        if not asked:
            *most, last = (f"--{name}" for name in TARGETS)
            raise UsageError(f"say what to export: {', '.join(most)} or {last}")
        if len(asked) > 1:
            raise UsageError(f"one export at a time: {' or '.join(f'--{name}' for name in asked)}")
        return function(*args, target=asked[0], **given)

    return with_options([click.option(f"--{n}", is_flag=True, help=h) for n, h in TARGETS.items()], verb, function)


@click.command("export")
@common_options
@_target_option
@click.option("--const-open", metavar="N,mu", help="Leave only these constants open in PRISM text or JANI.")
@chain_options()
def command(common: Common, solving: SolveOptions, target: str, const_open: str | None) -> None:
    """Write a program's Markov chain for other tools.

    The files go into the directory --out (default: here). PRISM text and JANI are symbolic where counters can express
    the program; otherwise the explored chain is written, in explicit files or (of a program in slots) as PRISM text,
    and the construct that forced it is named.
    """
    directory = check_directory(Path(common.out or "."))
    report = replace(common, out=None)
    program = report.load()
    with exploring(common.quiet) as progress:
        result = export_program(program, target, solving, _names(const_open), progress)
    files = [str(path) for path in result.write(directory)]
    if result.differences and not common.quiet:
        to_stderr("\n".join(result.differences))
    if result.not_symbolic and not common.quiet:
        to_stderr(f"{render_all(program.source, result.not_symbolic)}\n\nwritten {result.instead} instead")
    report.emit("\n".join([*files, *result.commands]) + "\n", result.to_dict(directory))


def _names(const_open: str | None) -> frozenset[str] | None:
    if const_open is None:
        return None
    return frozenset(n.strip() for n in const_open.split(",") if n.strip())
