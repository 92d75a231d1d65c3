"""`serq editor`: highlighting for editors."""

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from serq.base.output import check_directory, write_text
from serq.cli.common import emit
from serq.editors import textmate, vim
from serq.ir.provenance import versions

_EDITORS: Mapping[str, tuple[Callable[[], Mapping[str, str]], str]] = {
    "vscode": (textmate.files, "syntaxes/serq.tmLanguage.json"),
    "vim": (vim.files, "syntax/serq.vim"),
}
"""The files for each editor, and the one that is shown."""


@click.command("editor")
@click.argument("name", type=click.Choice(list(_EDITORS)), metavar="vscode|vim")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON on stdout and nothing else there.")
@click.option("--out", metavar="DIR", help="Write all files there, such as ~/.vscode/extensions/serq or ~/.vim.")
def command(name: str, as_json: bool, out: str | None) -> None:
    """Give an editor the colours of programs.

    Without --out the grammar is printed: TextMate's for vscode, a syntax file for vim.
    """
    make, shown = _EDITORS[name]
    files = make()
    data: dict[str, object] = versions("editor") | {"editor": name}
    if out is None:
        emit(files[shown], data | {"files": [shown], "text": files[shown]}, as_json)
        return
    written = [Path(out) / file for file in files]
    for path, text in zip(written, files.values(), strict=True):
        check_directory(path.parent)
        write_text(path, text)
    paths = [str(path) for path in written]
    emit("".join(f"{path}\n" for path in paths), data | {"files": paths}, as_json)
