"""`serq fmt`: the canonical layout of programs."""

import sys
from pathlib import Path

import click

from serq.cli.common import write_text
from serq.syntax.parser import parse
from serq.syntax.printer import format_module
from serq.syntax.reader import read_source


@click.command("fmt")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--check", is_flag=True, help="Change nothing; the exit status is 1 when a file is not laid out so.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the result instead of writing it back.")
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], check: bool, to_stdout: bool) -> None:
    """Lay out programs in the canonical way; comments are kept."""
    changed = 0
    for file in files:
        source = read_source(Path(file))
        text = format_module(parse(source))
        if to_stdout:
            sys.stdout.write(text)
        elif text != source.text:
            changed += 1
            print(f"{'would change' if check else 'changed'} {file}", file=sys.stderr)
            if not check:
                write_text(Path(file), text)
    if check and changed:
        ctx.exit(1)
