"""Traces that are none: a file for each way, the places of the diagnostics, and their golden rendering.

A case is `trace/NAME.csv` with the rendering in `trace/NAME.txt`. Set `SERQ_UPDATE_GOLDENS=1` to write the renderings
anew, there and on the pages; the places stand here.
"""

from pathlib import Path

import pytest
from goldens import assert_page, assert_rendering, cases, page_of

from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic
from serq.base.errors import LoadError
from serq.base.source import SourceFile
from serq.traces import errors as trace_errors
from serq.traces.reader import read_trace

CASES = cases("trace", ".csv")
OWN = [cls for cls in diagnostic_classes() if cls.__module__ == trace_errors.__name__]

PLACES = {
    "SQ710_another_format": [(1, 1), (1, 1)],
    "SQ710_unknown_column": [(1, 1)],
    "SQ711_bad_cells": [(3, 5), (4, 5), (4, 12)],
    "SQ712_short_row": [(3, 1)],
    "SQ713_turns": [(4, 3)],
    "SQ714_no_rows": [(1, 1)],
}


def refused(path: Path, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    with pytest.raises(LoadError) as caught:
        read_trace(path)
    return SourceFile(name, caught.value.source.text), caught.value.diagnostics


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_codes_lines_and_columns(case: Path) -> None:
    _, diagnostics = refused(case, case.name)
    assert {d.code for d in diagnostics} == {case.stem[:5]}
    assert [(d.span.line, d.span.column) for d in diagnostics] == PLACES[case.stem]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden_rendering(case: Path) -> None:
    assert_rendering(case, refused(case, case.name))


def test_every_code_has_a_case() -> None:
    assert sorted({case.stem[:5] for case in CASES}) == [cls.code for cls in OWN]


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_the_page_shows_the_fault_and_a_trace_without_it(cls: type[Diagnostic], tmp_path: Path) -> None:
    bad, _, mended = page_of(cls)
    trace = tmp_path / "trace.csv"
    trace.write_text(bad)
    assert_page(cls, refused(trace, "trace.csv"))
    trace.write_text(mended)
    assert len(read_trace(trace)) > 0
