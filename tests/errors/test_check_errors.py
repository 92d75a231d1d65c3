"""Every diagnostic of the linker: a bad program, its places, and its golden rendering.

A case is `check/NAME.sq`, whose first lines say what must be reported and where (`// SQ101 at 5:53`), with the
rendering in `check/NAME.txt`. Set `SERQ_UPDATE_GOLDENS=1` to write the renderings anew; the places stay as they are.
"""

import os
import re
from pathlib import Path

import pytest

from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic
from serq.base.errors import LoadError
from serq.base.render import render_all
from serq.base.source import SourceFile
from serq.check.link import link
from serq.syntax.parser import parse

FOLDER = Path(__file__).parent / "check"
CASES = sorted(FOLDER.glob("*.sq"))
EXPECTED = re.compile(r"// (SQ\d{3}) at (\d+):(\d+)")
PAGES = Path(__file__).parents[2] / "docs" / "reference" / "errors"


def found_in(text: str, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    source = SourceFile(name, text)
    try:
        return source, link(parse(source)).warnings
    except LoadError as error:
        return source, error.diagnostics


def diagnose(case: Path) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    return found_in(case.read_text("utf-8"), case.name)


def expected(case: Path) -> list[tuple[str, int, int]]:
    return [(code, int(line), int(column)) for code, line, column in EXPECTED.findall(case.read_text("utf-8"))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_codes_lines_and_columns(case: Path) -> None:
    _, diagnostics = diagnose(case)
    assert [(d.code, d.span.line, d.span.column) for d in diagnostics] == expected(case)
    assert {d.code for d in diagnostics} == {case.stem[:5]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden_rendering(case: Path) -> None:
    text = render_all(*diagnose(case)) + "\n"
    golden = case.with_suffix(".txt")
    if os.environ.get("SERQ_UPDATE_GOLDENS"):
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


OWN = [cls for cls in diagnostic_classes() if cls.__module__.startswith("serq.check.")]


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_every_code_has_a_case_and_a_page(cls: type[Diagnostic]) -> None:
    assert any(case.stem.startswith(cls.code) for case in CASES)
    page = (PAGES / f"{cls.code}.md").read_text("utf-8")
    assert page.startswith(f"# {cls.code}: ")


BLOCK = re.compile(r"```(serq|text)\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_the_page_shows_the_fault_and_a_program_without_it(cls: type[Diagnostic]) -> None:
    page = (PAGES / f"{cls.code}.md").read_text("utf-8")
    (_, bad), (_, shown), (_, mended) = BLOCK.findall(page)
    source, diagnostics = found_in(bad, "example.sq")
    assert {d.code for d in diagnostics} == {cls.code}
    assert render_all(source, diagnostics) + "\n" == shown
    assert found_in(mended, "example.sq")[1] == ()


def test_one_class_for_each_code_in_its_range() -> None:
    codes = [cls.code for cls in OWN]
    assert len(codes) == len(set(codes))
    assert all("SQ100" < code < "SQ500" for code in codes)
    assert all((cls.severity == "warning") == (cls.code >= "SQ400") for cls in OWN)
