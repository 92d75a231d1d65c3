"""What all verbs share: the options, loading a program, and where output goes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from serq.api.files import find_file
from serq.base.errors import UsageError
from serq.base.output import check_target, write_text
from serq.base.render import render_all
from serq.cli.options import Verb, with_options
from serq.cli.streams import to_stderr, to_stdout
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
        """The linked program; warnings go to stderr unless `--quiet`. An `--out` that cannot be written is refused."""
        if self.out is not None:
            check_target(Path(self.out))
        return load(self.file, self.sets, self.quiet)

    def emit(self, text: str, data: Mapping[str, object]) -> None:
        """Print the report: strict JSON or text, to stdout or to the file of `--out`."""
        emit(text, data, self.as_json, self.out)


def emit(text: str, data: Mapping[str, object] | Sequence[object], as_json: bool, out: str | None = None) -> None:
    """Print text, or the data as strict JSON, to stdout or to the file `out`."""
    content = json.dumps(data, indent=2, allow_nan=False) + "\n" if as_json else text
    if out is None:
        to_stdout(content)
    else:
        write_text(Path(out), content)


def _well_formed(_: click.Context, __: click.Parameter, sets: tuple[str, ...]) -> tuple[str, ...]:
    """The same, refused before anything else that is wrong because of them."""
    parse_sets(sets)
    return sets


set_option = click.option(
    "--set", "sets", multiple=True, metavar="NAME=EXPR", callback=_well_formed, help="Override a let (repeatable)."
)


def common_options(function: Verb) -> Verb:
    """Give a verb FILE, `--set`, `--json`, `--out` and `--quiet`, handed over as one `Common`."""

    def verb(*, file: str, sets: tuple[str, ...], as_json: bool, out: str | None, quiet: bool, **rest: Any) -> Any:
        return function(Common(file, sets, as_json, out, quiet), **rest)

    options = [
        click.argument("file", metavar="FILE"),
        set_option,
        click.option("--json", "as_json", is_flag=True, help="Print strict JSON on stdout and nothing else there."),
        click.option("--out", metavar="PATH", help="Write to PATH instead of stdout."),
        click.option("--quiet", is_flag=True, help="No warnings and no progress."),
    ]
    return with_options(options, verb, function)


def load(file: str, sets: tuple[str, ...] = (), quiet: bool = False) -> Program:
    """Read, parse and link FILE, a path or the name of a shipped model."""
    from serq import pipeline

    linked = pipeline.load(find_file(file), parse_sets(sets))
    if linked.warnings and not quiet:
        to_stderr(render_all(linked.program.source, linked.warnings))
    return linked.program


def parse_sets(sets: tuple[str, ...]) -> dict[str, str]:
    """`NAME=EXPR` pairs as a mapping; the last of a name counts."""
    out = {}
    for pair in sets:
        name, equals, expr = pair.partition("=")
        if not equals or not name.strip() or not expr.strip():
            raise UsageError(f"--set takes NAME=EXPR, not {pair!r}")
        out[name.strip()] = expr.strip()
    return out
