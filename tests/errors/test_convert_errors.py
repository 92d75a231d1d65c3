"""Files of other formats that have faults: every place, and its golden rendering.

A case is `convert/CODE_FORMAT_WORDS.*` with the rendering beside it. Set `SERQ_UPDATE_GOLDENS=1` to write the
renderings anew, there and on the pages; the places stand here.
"""

import os
import re
from pathlib import Path

import pytest

from serq.base.diagnostics import Diagnostic
from serq.base.errors import LoadError
from serq.base.render import render_all
from serq.base.source import SourceFile
from serq.traces.convert import Conversion, convert

FOLDER = Path(__file__).parent / "convert"
CASES = sorted(path for path in FOLDER.iterdir() if path.suffix != ".txt")
PAGES = Path(__file__).parents[2] / "docs" / "reference" / "errors"
BLOCK = re.compile(r"```(csv|json|text)\n(.*?)```", re.DOTALL)
UPDATE = bool(os.environ.get("SERQ_UPDATE_GOLDENS"))

PLACES = {
    "SQ711_azure_cells": [(3, 1), (4, 29), (5, 33), (6, 1)],
    "SQ711_burstgpt_elapsed": [(2, 5)],
    "SQ711_mooncake_members": [(1, 18), (2, 2), (3, 1), (4, 18)],
    "SQ711_tracelab_rounds": [(3, 3), (4, 7)],
    "SQ712_vidur_short_row": [(2, 1)],
    "SQ715_azure_lacks_output": [(1, 1)],
    "SQ716_mooncake_lines": [(2, 1), (3, 1)],
}


def refused(path: Path, form: str, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    with pytest.raises(LoadError) as caught:
        list(convert(path, form, False, False, Conversion()))
    return SourceFile(name, caught.value.source.text), caught.value.diagnostics


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_places_and_golden_rendering(case: Path) -> None:
    source, diagnostics = refused(case, case.stem.split("_")[1], case.name)
    assert {d.code for d in diagnostics} == {case.stem[:5]}
    assert [(d.span.line, d.span.column) for d in diagnostics] == PLACES[case.stem]
    text = render_all(source, diagnostics) + "\n"
    golden = case.with_suffix(".txt")
    if UPDATE:
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


@pytest.mark.parametrize(("code", "form"), [("SQ715", "azure"), ("SQ716", "mooncake")])
def test_the_page_shows_the_fault_and_a_file_without_it(code: str, form: str, tmp_path: Path) -> None:
    path = PAGES / f"{code}.md"
    page = path.read_text("utf-8")
    assert page.startswith(f"# {code}: ")
    (_, bad), (_, shown), (_, mended) = BLOCK.findall(page)
    file = tmp_path / "file"
    file.write_text(bad)
    source, diagnostics = refused(file, form, "day.csv" if form == "azure" else "day.jsonl")
    text = render_all(source, diagnostics) + "\n"
    if UPDATE:
        path.write_text(page.replace(f"```text\n{shown}```", f"```text\n{text}```"), "utf-8")
        shown = text
    assert text == shown
    file.write_text(mended)
    assert len(list(convert(file, form, False, False, Conversion()))) > 0
