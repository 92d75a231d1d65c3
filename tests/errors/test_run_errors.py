"""What stops a run: a program for each way, the places of the diagnostics, and their golden rendering.

A case is `run/NAME.sq`, whose first line says where the fault must be reported, with the rendering in `run/NAME.txt`.
Set `SERQ_UPDATE_GOLDENS=1` to write the renderings anew, there and on the pages.
"""

import os
import re
from pathlib import Path

import pytest

from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic
from serq.base.errors import RunError
from serq.base.render import render_all
from serq.base.source import SourceFile
from serq.check.link import link
from serq.semantics import errors
from serq.semantics.options import options_of
from serq.semantics.reference import simulate
from serq.syntax.parser import parse

FOLDER = Path(__file__).parent / "run"
CASES = sorted(FOLDER.glob("*.sq"))
PAGES = Path(__file__).parents[2] / "docs" / "reference" / "errors"
OWN = [cls for cls in diagnostic_classes() if cls.__module__ == errors.__name__ and cls.code <= "SQ515"]
"""What stops a run; the codes behind these are reported when it is over."""
BLOCK = re.compile(r"```(serq|text)\n(.*?)```", re.DOTALL)
UPDATE = bool(os.environ.get("SERQ_UPDATE_GOLDENS"))


def stopped(text: str, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    """The source and the diagnostics with which its run ends."""
    source = SourceFile(name, text)
    program = link(parse(source)).program
    with pytest.raises(RunError) as caught:
        simulate(program, options_of(program))
    return source, caught.value.diagnostics


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_codes_places_and_golden_rendering(case: Path) -> None:
    text = case.read_text("utf-8")
    source, diagnostics = stopped(text, case.name)
    (found,) = diagnostics
    place = re.fullmatch(r"// at (\d+):(\d+)", text.splitlines()[0])
    assert place is not None
    assert (found.code, found.span.line, found.span.column) == (case.stem[:5], int(place[1]), int(place[2]))
    rendered = render_all(source, diagnostics) + "\n"
    golden = case.with_suffix(".txt")
    if UPDATE:
        golden.write_text(rendered, "utf-8")
    assert rendered == golden.read_text("utf-8")


def test_every_code_has_a_case() -> None:
    assert [case.stem[:5] for case in CASES] == [cls.code for cls in OWN]


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_the_page_shows_the_fault_and_a_program_without_it(cls: type[Diagnostic]) -> None:
    path = PAGES / f"{cls.code}.md"
    page = path.read_text("utf-8")
    assert page.startswith(f"# {cls.code}: ")
    (_, bad), (_, shown), (_, mended) = BLOCK.findall(page)
    source, diagnostics = stopped(bad, "example.sq")
    text = render_all(source, diagnostics) + "\n"
    if UPDATE:
        path.write_text(page.replace(f"```text\n{shown}```", f"```text\n{text}```"), "utf-8")
        shown = text
    assert {d.code for d in diagnostics} == {cls.code}
    assert text == shown
    program = link(parse(SourceFile("mended.sq", mended))).program
    assert simulate(program, options_of(program)).waiting == ()
