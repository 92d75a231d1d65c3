"""`serq models`: the programs that ship with serQ."""

import shutil
from pathlib import Path
from textwrap import wrap

import click

from serq.api.errors import NoSuchModel
from serq.base.errors import InputError, OutputError
from serq.base.output import OutputExists, cannot_write
from serq.base.source import NOWHERE
from serq.cli.common import emit
from serq.ir.provenance import versions
from serq.models import ShippedModel, find, shipped
from serq.pipeline import load


@click.group("models", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List, show or copy what ships with serQ."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_models, as_json=as_json)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON.")
def list_models(as_json: bool) -> None:
    """List them with their opening words."""
    models = shipped()
    found = [{"name": m.name, "group": m.group, "title": m.title, "file": str(m.path)} for m in models]
    width = max(len(m.name) for m in models)
    lines = []
    for group in sorted({m.group for m in models}, reverse=True):
        lines.append(f"{group}:")
        for m in models:
            if m.group == group:
                name = f"  {m.name:<{width}}  "
                lines += wrap(m.title, 100, initial_indent=name, subsequent_indent=" " * len(name))
    emit("\n".join(lines) + "\n", versions("models") | {"models": found}, as_json)


@command.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON.")
def show(name: str, as_json: bool) -> None:
    """Print one."""
    model = _known(name)
    text = model.path.read_text(encoding="utf-8")
    emit(text, versions("models") | {"name": model.name, "file": str(model.path), "text": text}, as_json)


@command.command("copy")
@click.argument("name")
@click.argument("to", default=".")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON.")
def copy(name: str, to: str, as_json: bool) -> None:
    """Copy one to a place of yours.

    TO is a directory or a file that does not exist yet; the trace that the program replays is copied beside it.
    """
    model = _known(name)
    target = Path(to)
    if target.is_dir():
        target = target / model.path.name
    trace = load(model.path).program.trace
    data = [] if trace is None else [model.path.parent / trace.path]
    pairs = [(model.path, target), *((path, target.parent / path.name) for path in data)]
    for _, to_be in pairs:
        if to_be.exists():
            raise OutputError.of(OutputExists(span=NOWHERE, path=str(to_be)))
    for source, to_be in pairs:
        try:
            shutil.copyfile(source, to_be)
        except OSError as error:
            raise cannot_write(to_be, error) from error
    files = [str(to_be) for _, to_be in pairs]
    emit("".join(f"{f}\n" for f in files), versions("models") | {"files": files}, as_json)


def _known(name: str) -> ShippedModel:
    model = find(name)
    if model is None:
        raise InputError.of(NoSuchModel.like(name, [m.name for m in shipped()]))
    return model
