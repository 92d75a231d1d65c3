"""Golden renderings of diagnostics, and the pages that show them.

A case is a file with the rendering in a `.txt` beside it; a page shows a bad text, its rendering, and a mended text.
Set `SERQ_UPDATE_GOLDENS=1` to write the renderings anew, in both; where a diagnostic must stand is never updated.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from serq.base.diagnostics import Diagnostic
from serq.base.render import render_all
from serq.base.source import SourceFile

Found = tuple[SourceFile, Sequence[Diagnostic]]

PAGES = Path(__file__).parents[2] / "docs" / "reference" / "errors"
_UPDATE = bool(os.environ.get("SERQ_UPDATE_GOLDENS"))
_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
_EXPECTED = re.compile(r"(SQ\d{3}) at (\d+):(\d+)")


def cases(name: str, ending: str = ".sq") -> list[Path]:
    """The cases of a kind of diagnostic."""
    found = sorted((Path(__file__).parents[1] / "errors" / name).glob(f"*{ending}"))
    assert found, name
    return found


def expected(text: str) -> list[tuple[str, int, int]]:
    """What the comments at the head of a case promise: code, line and column of each diagnostic."""
    head = [line for line in text.splitlines() if line.startswith("//")]
    return [(code, int(line), int(column)) for line in head for code, line, column in _EXPECTED.findall(line)]


def assert_places(case: Path, diagnostics: Sequence[Diagnostic]) -> None:
    """The diagnostics are those that the case promises, where it promises them."""
    assert [(d.code, d.span.line, d.span.column) for d in diagnostics] == expected(case.read_text("utf-8"))
    assert {d.code for d in diagnostics} == {case.stem[:5]}


def assert_rendering(case: Path, found: Found) -> None:
    """The rendering is the golden one."""
    text = render_all(*found) + "\n"
    golden = case.with_suffix(".txt")
    if _UPDATE:
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


def page_of(cls: type[Diagnostic]) -> tuple[str, str, str]:
    """The bad text, the rendering and the mended text that the page of a diagnostic shows."""
    page = (PAGES / f"{cls.code}.md").read_text("utf-8")
    assert page.startswith(f"# {cls.code}: ")
    (_, bad), (kind, shown), (_, mended) = _BLOCK.findall(page)
    assert kind == "text"
    return bad, shown, mended


def assert_page(cls: type[Diagnostic], found: Found) -> None:
    """What is found in the page's bad text is that diagnostic alone, rendered as the page shows it."""
    source, diagnostics = found
    text = render_all(source, diagnostics) + "\n"
    shown = page_of(cls)[1]
    if _UPDATE:
        path = PAGES / f"{cls.code}.md"
        path.write_text(path.read_text("utf-8").replace(f"```text\n{shown}```", f"```text\n{text}```"), "utf-8")
        shown = text
    assert {d.code for d in diagnostics} == {cls.code}
    assert text == shown
