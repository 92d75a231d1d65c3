"""What all verbs share: the options, loading a program, and where output goes."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from serq.base.errors import InputError, UsageError
from serq.base.render import render_all
from serq.ir.program import Program


@dataclass(frozen=True, slots=True)
class Common:
    """The options that every verb takes."""

    file: str
    sets: tuple[str, ...]
    as_json: bool
    out: str | None
    quiet: bool

    def load(self) -> Program:
        """The linked program; warnings go to stderr unless `--quiet`."""
        return load(self.file, self.sets, self.quiet)

    def emit(self, text: str, data: Mapping[str, object]) -> None:
        """Print the report: strict JSON or text, to stdout or to the file of `--out`."""
        content = json.dumps(data, indent=2, allow_nan=False) + "\n" if self.as_json else text
        if self.out is None:
            sys.stdout.write(content)
        else:
            write_text(Path(self.out), content)


def common_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb FILE, `--set`, `--json`, `--out` and `--quiet`, handed over as one `Common`."""

    def verb(*, file: str, sets: tuple[str, ...], as_json: bool, out: str | None, quiet: bool, **rest: Any) -> Any:
        return function(Common(file, sets, as_json, out, quiet), **rest)

    verb.__doc__ = function.__doc__
    verb.__name__ = function.__name__
    verb.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    options = [
        click.argument("file", metavar="FILE"),
        click.option("--set", "sets", multiple=True, metavar="NAME=EXPR", help="Override a let (repeatable)."),
        click.option("--json", "as_json", is_flag=True, help="Print strict JSON on stdout and nothing else there."),
        click.option("--out", metavar="PATH", help="Write to PATH instead of stdout."),
        click.option("--quiet", is_flag=True, help="No warnings and no progress."),
    ]
    decorated: Callable[..., Any] = verb
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def load(file: str, sets: tuple[str, ...] = (), quiet: bool = False) -> Program:
    """Read, parse and link FILE, a path or the name of a shipped model."""
    from serq import pipeline

    linked = pipeline.load(find_file(file), parse_sets(sets))
    if linked.warnings and not quiet:
        print(render_all(linked.program.source, linked.warnings), file=sys.stderr)
    return linked.program


def find_file(file: str) -> Path:
    """The path of FILE: itself when it exists or looks like a path, else the shipped model of that name."""
    path = Path(file)
    if path.exists() or path.suffix or os.sep in file:
        return path
    from serq.models import find, shipped

    model = find(file)
    if model is not None:
        return model.path
    names = ", ".join(m.name for m in shipped())
    raise InputError("SQ701", f"there is no file {file!r}, nor a shipped model of that name", f"shipped are: {names}")


def parse_sets(sets: tuple[str, ...]) -> dict[str, str]:
    """`NAME=EXPR` pairs as a mapping; the last of a name counts."""
    out = {}
    for pair in sets:
        name, equals, expr = pair.partition("=")
        if not equals or not name.strip() or not expr.strip():
            raise UsageError(f"--set takes NAME=EXPR, not {pair!r}")
        out[name.strip()] = expr.strip()
    return out


def write_text(path: Path, content: str) -> None:
    """Write a file whole or not at all."""
    try:
        if path.is_dir():
            raise InputError("SQ702", f"{path} is a directory")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(content)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise InputError("SQ703", f"cannot write {path}: {error.strerror}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
