"""`serq editor` and `serq lsp` on the command line."""

import json
import sys
from pathlib import Path

import pytest
from command_line import serq

from serq.editors import textmate, vim


@pytest.mark.parametrize(("name", "files"), [("vscode", textmate.files()), ("vim", vim.files())])
def test_the_files_are_written(name: str, files: dict[str, str], tmp_path: Path, capsys) -> None:
    done = serq(capsys, "editor", name, "--out", tmp_path)
    assert done.status == 0
    assert [Path(line).relative_to(tmp_path).as_posix() for line in done.out.splitlines()] == list(files)
    assert {file: (tmp_path / file).read_text("utf-8") for file in files} == files


def test_the_grammar_is_printed(capsys) -> None:
    assert json.loads(serq(capsys, "editor", "vscode").out) == textmate.grammar()
    assert json.loads(serq(capsys, "editor", "vim", "--json").out)["text"] == vim.syntax()


def test_an_unknown_editor(capsys) -> None:
    assert serq(capsys, "editor", "emacs").status == 2


def test_a_file_in_the_way(tmp_path: Path, capsys) -> None:
    (tmp_path / "syntax").write_text("")
    done = serq(capsys, "editor", "vim", "--out", tmp_path)
    assert done.status == 2
    assert "syntax" in done.err


def test_a_server_without_its_library(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "serq.editors.server", None)
    monkeypatch.setitem(sys.modules, "pygls", None)
    done = serq(capsys, "lsp")
    assert done.status == 2
    assert "serq[lsp]" in done.err
