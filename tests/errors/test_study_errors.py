"""Every page of an error of studies shows a command and what it prints. `SERQ_UPDATE_GOLDENS=1` writes it anew."""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from studies import held

from serq.cli.failures import run_and_report
from serq.cli.main import cli

PAGES = Path(__file__).parents[2] / "docs" / "reference" / "errors"
CODES = ("SQ820", "SQ821", "SQ822", "SQ823", "SQ824", "SQ825", "SQ826")
_BLOCK = re.compile(r"```text\n\$ (serq .*)\n((?:.*\n)*?)```")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a study of mm1n, one that somebody works on, and one that holds something else."""
    at = tmp_path_factory.mktemp("studies")
    for name in ("mine", "busy"):
        words = ["study", "mm1n", "--vary", "N=1:2", "--methods", "closed", "--quiet", "--resume", str(at / name)]
        assert run_and_report(cli, words) == 0
    (at / "thesis").mkdir()
    (at / "thesis" / "chapter.tex").write_text("x")
    with held(at / "busy"):
        yield at


@pytest.mark.parametrize("code", CODES)
def test_the_page_shows_what_is_printed(code: str, folder: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    path = PAGES / f"{code}.md"
    page = path.read_text("utf-8")
    (found,) = _BLOCK.finditer(page)
    capsys.readouterr()
    assert run_and_report(cli, shlex.split(found[1])[1:]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"error[{code}]: " in err
    if os.environ.get("SERQ_UPDATE_GOLDENS"):
        path.write_text(page.replace(found[0], f"```text\n$ {found[1]}\n{err}```"), "utf-8")
        return
    assert err == found[2]
