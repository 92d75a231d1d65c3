"""Who waits for ever at the end of a replay: the pages show it, and a program in which nobody does."""

import os
import re
from pathlib import Path

import pytest

from serq.base.render import render_all
from serq.pipeline import load_text
from serq.semantics.replay import ReplayOptions, replay

PAGES = Path(__file__).parents[2] / "docs" / "reference" / "errors"
BLOCK = re.compile(r"```(serq|text)\n(.*?)```", re.DOTALL)
UPDATE = bool(os.environ.get("SERQ_UPDATE_GOLDENS"))


@pytest.mark.parametrize("code", ["SQ516", "SQ517"])
def test_the_page_shows_who_waits_and_a_program_in_which_nobody_does(code: str) -> None:
    path = PAGES / f"{code}.md"
    page = path.read_text("utf-8")
    assert page.startswith(f"# {code}: ")
    (_, bad), (_, shown), (_, mended) = BLOCK.findall(page)
    program = load_text(bad, "example.sq").program
    stuck = replay(program, None, ReplayOptions(strict=True)).stuck
    assert stuck is not None
    text = render_all(program.source, stuck.diagnostics) + "\n"
    if UPDATE:
        path.write_text(page.replace(f"```text\n{shown}```", f"```text\n{text}```"), "utf-8")
        shown = text
    assert {d.code for d in stuck.diagnostics} == {code}
    assert text == shown
    assert replay(load_text(mended, "mended.sq").program, None, ReplayOptions(strict=True)).stuck is None
