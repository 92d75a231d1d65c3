"""`serq models`: the programs that ship with serQ."""

import json
import shutil
import sys
from pathlib import Path

import click

from serq.base.errors import InputError
from serq.models import ShippedModel, find, shipped


@click.group("models", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, show or copy the programs that ship with serQ."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_models)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON.")
def list_models(as_json: bool = False) -> None:
    """List them."""
    if as_json:
        print(json.dumps([{"name": m.name, "group": m.group, "title": m.title} for m in shipped()]))
        return
    width = max(len(m.name) for m in shipped())
    for group in sorted({m.group for m in shipped()}, reverse=True):
        print(f"{group}:")
        for model in shipped():
            if model.group == group:
                print(f"  {model.name:<{width}}  {model.title}")


@command.command("show")
@click.argument("name")
def show(name: str) -> None:
    """Print one."""
    sys.stdout.write(_known(name).path.read_text(encoding="utf-8"))


@command.command("copy")
@click.argument("name")
@click.argument("to", default=".")
def copy(name: str, to: str) -> None:
    """Copy one, and the data it reads, into a directory or to a file that does not exist yet."""
    model = _known(name)
    target = Path(to)
    if target.is_dir():
        target = target / model.path.name
    if target.exists():
        raise InputError("SQ702", f"{target} exists", "name another target, or remove it first")
    try:
        shutil.copyfile(model.path, target)
        for data in model.path.parent.glob(f"{model.name}*.csv"):
            shutil.copyfile(data, target.parent / data.name)
    except OSError as error:
        raise InputError("SQ703", f"cannot write {target}: {error.strerror}") from error
    print(target)


def _known(name: str) -> ShippedModel:
    model = find(name)
    if model is None:
        raise InputError("SQ701", f"no shipped model is called {name!r}", "`serq models` lists them")
    return model
