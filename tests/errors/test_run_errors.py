"""What stops a run: a program for each way, the places of the diagnostics, and their golden rendering.

A case is `run/NAME.sq`, whose first line says where the fault must be reported, with the rendering in `run/NAME.txt`.
Set `SERQ_UPDATE_GOLDENS=1` to write the renderings anew, there and on the pages.
"""

import re
from pathlib import Path

import pytest
from goldens import assert_page, assert_rendering, cases, page_of

from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic
from serq.base.errors import RunError
from serq.base.source import SourceFile
from serq.check.link import link
from serq.semantics import errors
from serq.semantics.options import options_of
from serq.semantics.reference import simulate
from serq.syntax.parser import parse

CASES = cases("run")
OWN = [cls for cls in diagnostic_classes() if cls.__module__ == errors.__name__ and cls.code <= "SQ515"]
"""What stops a run; the codes behind these are reported when it is over."""


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
    assert_rendering(case, (source, diagnostics))


def test_every_code_has_a_case() -> None:
    assert [case.stem[:5] for case in CASES] == [cls.code for cls in OWN]


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_the_page_shows_the_fault_and_a_program_without_it(cls: type[Diagnostic]) -> None:
    bad, _, mended = page_of(cls)
    assert_page(cls, stopped(bad, "example.sq"))
    program = link(parse(SourceFile("mended.sq", mended))).program
    assert simulate(program, options_of(program)).waiting == ()
