"""Every fault of a program's text: a bad program, its places, its golden rendering, and a page.

A case is `syntax/NAME.sq`, whose first lines say what must be reported and where (`// SQ030 at 5:53`), with the
rendering in `syntax/NAME.txt`. Set `SERQ_UPDATE_GOLDENS=1` to write the renderings anew; the places stay as they are.
"""

from pathlib import Path

import pytest
from goldens import assert_page, assert_places, assert_rendering, cases, page_of

from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic
from serq.base.errors import LoadError
from serq.base.source import SourceFile
from serq.syntax.parser import parse

CASES = cases("syntax")

OWN = [cls for cls in diagnostic_classes() if cls.__module__.startswith("serq.syntax.")]
OF_FILES = {"SQ001", "SQ002", "SQ003", "SQ004", "SQ005", "SQ006"}
"""What is wrong before there is a text; `tests/unit/syntax/test_reader.py` shows each."""
OF_TEXTS = [cls for cls in OWN if cls.code not in OF_FILES and cls.code != "SQ049"]
"""SQ049 is the fault of a single expression, not of a program."""


def found_in(text: str, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    source = SourceFile(name, text)
    try:
        parse(source)
    except LoadError as error:
        return source, error.diagnostics
    return source, ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_codes_lines_and_columns(case: Path) -> None:
    assert_places(case, found_in(case.read_text("utf-8"), case.name)[1])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden_rendering(case: Path) -> None:
    assert_rendering(case, found_in(case.read_text("utf-8"), case.name))


@pytest.mark.parametrize("cls", OF_TEXTS, ids=lambda cls: cls.__name__)
def test_every_code_has_a_case(cls: type[Diagnostic]) -> None:
    assert any(case.stem.startswith(cls.code) for case in CASES)


@pytest.mark.parametrize("cls", OF_TEXTS, ids=lambda cls: cls.__name__)
def test_the_page_shows_the_fault_and_a_program_without_it(cls: type[Diagnostic]) -> None:
    bad, _, mended = page_of(cls)
    assert_page(cls, found_in(bad, "example.sq"))
    assert found_in(mended, "example.sq")[1] == ()


def test_one_class_for_each_code_in_its_range() -> None:
    codes = [cls.code for cls in OWN]
    assert len(codes) == len(set(codes))
    assert all("SQ000" < code < "SQ100" for code in codes)
    assert {code for code in codes if code < "SQ010"} == OF_FILES
