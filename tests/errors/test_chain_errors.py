"""Chains without a steady state: a program for each way, the places of the diagnostics, and their golden rendering.

A case is `chain/NAME.sq`, whose first line says what must be reported and where, with the rendering in
`chain/NAME.txt`. Set `SERQ_UPDATE_GOLDENS=1` to write the renderings anew, there and on the pages.
"""

import re
from pathlib import Path

import pytest
from goldens import assert_page, assert_rendering, cases, page_of

from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic
from serq.base.errors import NoSteadyStateError
from serq.base.source import SourceFile
from serq.check.link import link
from serq.ir.program import Program
from serq.pipeline import solve, unlimited
from serq.semantics import chain_errors
from serq.semantics.explore import explore
from serq.semantics.steady import recurrent_class
from serq.syntax.parser import parse

CASES = cases("chain")
OWN = [cls for cls in diagnostic_classes() if cls.__module__ == chain_errors.__name__]


def refused(text: str, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    source = SourceFile(name, text)
    program = link(parse(source)).program
    with pytest.raises(NoSteadyStateError) as caught:
        look_for_a_steady_state(program, source)
    return source, caught.value.diagnostics


def look_for_a_steady_state(program: Program, source: SourceFile) -> None:
    if unlimited(program):
        solve(program)
    else:
        recurrent_class(explore(program), source)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_codes_lines_and_columns(case: Path) -> None:
    text = case.read_text("utf-8")
    _, diagnostics = refused(text, case.name)
    places = [(int(line), int(column)) for line, column in re.findall(r"at (\d+):(\d+)", text.splitlines()[0])]
    assert [d.code for d in diagnostics] == [case.stem[:5]]
    (found,) = diagnostics
    spans = [found.span, *(note.span for note in found.notes if note.span.line)]
    assert [(span.line, span.column) for span in spans] == places


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden_rendering(case: Path) -> None:
    assert_rendering(case, refused(case.read_text("utf-8"), case.name))


def test_every_code_has_a_case() -> None:
    assert sorted(case.stem[:5] for case in CASES) == [cls.code for cls in OWN] == ["SQ650", "SQ651", "SQ652", "SQ653"]


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_the_page_shows_the_fault_and_a_program_without_it(cls: type[Diagnostic]) -> None:
    bad, _, mended = page_of(cls)
    assert_page(cls, refused(bad, "example.sq"))
    source = SourceFile("mended.sq", mended)
    look_for_a_steady_state(link(parse(source)).program, source)
