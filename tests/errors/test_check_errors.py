"""Every diagnostic of the linker: a bad program, its places, and its golden rendering.

A case is `check/NAME.sq`, whose first lines say what must be reported and where (`// SQ101 at 5:53`), with the
rendering in `check/NAME.txt`. Set `SERQ_UPDATE_GOLDENS=1` to write the renderings anew; the places stay as they are.
"""

from pathlib import Path

import pytest
from goldens import assert_page, assert_places, assert_rendering, cases, page_of

from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic
from serq.base.errors import LoadError
from serq.base.source import SourceFile
from serq.check.link import link
from serq.syntax.parser import parse

CASES = cases("check")


def found_in(text: str, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    source = SourceFile(name, text)
    try:
        return source, link(parse(source)).warnings
    except LoadError as error:
        return source, error.diagnostics


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_codes_lines_and_columns(case: Path) -> None:
    assert_places(case, found_in(case.read_text("utf-8"), case.name)[1])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden_rendering(case: Path) -> None:
    assert_rendering(case, found_in(case.read_text("utf-8"), case.name))


OWN = [cls for cls in diagnostic_classes() if cls.__module__.startswith("serq.check.")]


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_every_code_has_a_case(cls: type[Diagnostic]) -> None:
    assert any(case.stem.startswith(cls.code) for case in CASES)


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_the_page_shows_the_fault_and_a_program_without_it(cls: type[Diagnostic]) -> None:
    bad, _, mended = page_of(cls)
    assert_page(cls, found_in(bad, "example.sq"))
    assert found_in(mended, "example.sq")[1] == ()


def test_one_class_for_each_code_in_its_range() -> None:
    codes = [cls.code for cls in OWN]
    assert len(codes) == len(set(codes))
    assert all("SQ100" < code < "SQ500" for code in codes)
    assert all((cls.severity == "warning") == (cls.code >= "SQ400") for cls in OWN)
