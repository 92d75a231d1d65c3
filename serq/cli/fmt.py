"""`serq fmt`: the canonical layout of programs."""

from pathlib import Path

import click

from serq.base.errors import UsageError
from serq.base.output import write_text
from serq.cli.common import emit
from serq.cli.streams import to_stderr
from serq.ir.provenance import versions
from serq.syntax.parser import parse
from serq.syntax.printer import format_module
from serq.syntax.reader import read_source


@click.command("fmt")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--check", is_flag=True, help="Change nothing; the exit status is 1 when a file is not laid out so.")
@click.option("--stdout", "to_print", is_flag=True, help="Print the result instead of writing it back.")
@click.option("--out", metavar="PATH", help="Write the result of the one FILE to PATH instead of writing it back.")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON on stdout and nothing else there.")
@click.option("--quiet", is_flag=True, help="Do not say which files change.")
@click.pass_context
def command(
    ctx: click.Context, files: tuple[str, ...], check: bool, to_print: bool, out: str | None, as_json: bool, quiet: bool
) -> None:
    """Lay out programs in the canonical way.

    Each FILE is written back; comments are kept, and the meaning is the same.
    """
    if out is not None and (len(files) > 1 or check or to_print):
        raise UsageError("--out takes one FILE, and neither --check nor --stdout")
    sources = [read_source(Path(file)) for file in files]
    texts = [format_module(parse(source)) for source in sources]
    changed = [file for file, source, text in zip(files, sources, texts, strict=True) if text != source.text]
    if out is not None:
        write_text(Path(out), texts[0])
    elif not check and not to_print:
        for file, text in zip(files, texts, strict=True):
            if file in changed:
                write_text(Path(file), text)
    if not quiet and not to_print and out is None:
        for file in changed:
            to_stderr(f"{'would change' if check else 'changed'} {file}")
    data: dict[str, object] = {"files": list(files), "changed": changed}
    if to_print:
        data["texts"] = texts
    emit("".join(texts) if to_print else "", versions("fmt") | data, as_json)
    if check and changed:
        ctx.exit(1)
