"""Every reason why a program is no finite Markov chain: a program, the places of the diagnostics, a golden rendering.

A case is `fragment/NAME.sq`, whose first line says what must be reported and where (`// SQ601 at 4:27`), with the
rendering in `fragment/NAME.txt`. Set `SERQ_UPDATE_GOLDENS=1` to write the renderings anew; the places stay.
"""

import os
import re
from pathlib import Path

import pytest

from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic
from serq.base.errors import OutsideFragmentError
from serq.base.render import render_all
from serq.base.source import SourceFile
from serq.check.link import link
from serq.semantics import fragment_errors
from serq.semantics.explore import explore
from serq.syntax.parser import parse

FOLDER = Path(__file__).parent / "fragment"
CASES = sorted(FOLDER.glob("*.sq"))
EXPECTED = re.compile(r"(SQ\d{3}) at (\d+):(\d+)")
PAGES = Path(__file__).parents[2] / "docs" / "reference" / "errors"
OWN = [cls for cls in diagnostic_classes() if cls.__module__ == fragment_errors.__name__]
BLOCK = re.compile(r"```(serq|text)\n(.*?)```", re.DOTALL)


def found_in(text: str, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    source = SourceFile(name, text)
    try:
        explore(link(parse(source)).program)
    except OutsideFragmentError as error:
        return source, error.diagnostics
    return source, ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_codes_lines_and_columns(case: Path) -> None:
    text = case.read_text("utf-8")
    expected = [(code, int(line), int(column)) for code, line, column in EXPECTED.findall(text.splitlines()[0])]
    _, diagnostics = found_in(text, case.name)
    assert [(d.code, d.span.line, d.span.column) for d in diagnostics] == expected
    assert {d.code for d in diagnostics} == {case.stem[:5]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden_rendering(case: Path) -> None:
    text = render_all(*found_in(case.read_text("utf-8"), case.name)) + "\n"
    golden = case.with_suffix(".txt")
    if os.environ.get("SERQ_UPDATE_GOLDENS"):
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_the_page_shows_the_reason_and_a_program_without_it(cls: type[Diagnostic]) -> None:
    assert any(case.stem.startswith(cls.code) for case in CASES)
    page = (PAGES / f"{cls.code}.md").read_text("utf-8")
    assert page.startswith(f"# {cls.code}: ")
    (_, bad), (_, shown), (_, mended) = BLOCK.findall(page)
    source, diagnostics = found_in(bad, "example.sq")
    assert {d.code for d in diagnostics} == {cls.code}
    assert render_all(source, diagnostics) + "\n" == shown
    assert found_in(mended, "example.sq")[1] == ()


def test_codes_are_in_their_range_and_unique() -> None:
    codes = [cls.code for cls in OWN]
    assert len(codes) == len(set(codes))
    assert all("SQ600" < code < "SQ650" for code in codes)
