"""Every fault of a program in the earlier form: a bad program, its places, its golden rendering, and a page."""

from pathlib import Path

import pytest
from goldens import assert_page, assert_places, assert_rendering, cases, page_of

from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic
from serq.base.errors import LoadError
from serq.base.source import SourceFile
from serq.lift.lift import lift

CASES = cases("lift")
OWN = [cls for cls in diagnostic_classes() if cls.__module__ == "serq.lift.errors"]


def found_in(text: str, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    source = SourceFile(name, text)
    try:
        lift(source)
    except LoadError as error:
        return error.source, error.diagnostics
    return source, ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_codes_lines_and_columns(case: Path) -> None:
    assert_places(case, found_in(case.read_text("utf-8"), case.name)[1])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_renderings(case: Path) -> None:
    assert_rendering(case, found_in(case.read_text("utf-8"), case.name))


def test_every_fault_has_a_case() -> None:
    assert {case.stem[:5] for case in CASES} == {cls.code for cls in OWN}


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.code)
def test_pages(cls: type[Diagnostic]) -> None:
    bad, _, mended = page_of(cls)
    assert_page(cls, found_in(bad, "example.sq"))
    assert lift(SourceFile("mended.sq", mended))
