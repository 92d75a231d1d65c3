"""`serq lift`: a program of the earlier language in the present one."""

from pathlib import Path

import click

from serq.cli.common import emit
from serq.ir.provenance import versions
from serq.lift.lift import lift
from serq.syntax.reader import read_source


@click.command("lift")
@click.argument("file", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON on stdout and nothing else there.")
@click.option("--out", metavar="PATH", help="Write to PATH instead of stdout.")
def command(file: str, as_json: bool, out: str | None) -> None:
    """Bring an earlier program up to date.

    FILE is in the form with serial, shared and external stages, admit and free, the hit bit H and branch_p; printed is
    the program that it stands for. What does not belong together (an admit without its free) is refused, with both
    lines; the exit status is 3.
    """
    text = lift(read_source(Path(file)))
    emit(text, versions("lift") | {"file": file, "text": text}, as_json, out)
