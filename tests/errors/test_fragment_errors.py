"""Every reason why a program is no finite Markov chain: a program, the places of the diagnostics, a golden rendering.

A case is `fragment/NAME.sq`, whose first line says what must be reported and where (`// SQ601 at 4:27`), with the
rendering in `fragment/NAME.txt`. Set `SERQ_UPDATE_GOLDENS=1` to write the renderings anew; the places stay.
"""

from pathlib import Path

import pytest
from goldens import assert_page, assert_places, assert_rendering, cases, page_of

from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic
from serq.base.errors import OutsideFragmentError
from serq.base.source import SourceFile
from serq.check.link import link
from serq.semantics import fragment_errors
from serq.semantics.explore import explore
from serq.syntax.parser import parse

CASES = cases("fragment")
OWN = [cls for cls in diagnostic_classes() if cls.__module__ == fragment_errors.__name__]


def found_in(text: str, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    source = SourceFile(name, text)
    try:
        explore(link(parse(source)).program)
    except OutsideFragmentError as error:
        return source, error.diagnostics
    return source, ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_codes_lines_and_columns(case: Path) -> None:
    assert_places(case, found_in(case.read_text("utf-8"), case.name)[1])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden_rendering(case: Path) -> None:
    assert_rendering(case, found_in(case.read_text("utf-8"), case.name))


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_the_page_shows_the_reason_and_a_program_without_it(cls: type[Diagnostic]) -> None:
    assert any(case.stem.startswith(cls.code) for case in CASES)
    bad, _, mended = page_of(cls)
    assert_page(cls, found_in(bad, "example.sq"))
    assert found_in(mended, "example.sq")[1] == ()


def test_codes_are_in_their_range_and_unique() -> None:
    codes = [cls.code for cls in OWN]
    assert len(codes) == len(set(codes))
    assert all("SQ600" < code < "SQ650" for code in codes)
