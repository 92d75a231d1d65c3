"""Programs that people wrote link, each for what it is; r33 is refused."""

import json
from pathlib import Path

import pytest

from serq.base.errors import LoadError
from serq.base.source import SourceFile
from serq.check.link import Linked, link
from serq.syntax.parser import parse

ROOT = Path(__file__).parents[3]
SHARED = ROOT.parent / "shared"
FILES = sorted([*(ROOT / "models").rglob("*.sq"), *(SHARED / "values" / "programs").glob("*.sq")])
REPORTS = SHARED / "values" / "field_reports.json"


def reports() -> dict[str, str]:
    if not REPORTS.exists():
        return {}
    entries = json.loads(REPORTS.read_text("utf-8"))
    return {entry["id"]: entry["program"] for entry in entries if entry.get("kind") != "description"}


def example(number: int) -> str:
    """The indented program of a section of the language reference."""
    text = (SHARED / "design" / "language.md").read_text("utf-8")
    section = text.split(f"## {number}. ")[1].split("\n## ")[0]
    return "\n".join(line for line in section.split("\n") if line.startswith("    "))


def load(text: str) -> Linked:
    return link(parse(SourceFile("program.sq", text)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_programs_link(path: Path) -> None:
    linked = load(path.read_text("utf-8"))
    assert {w.code for w in linked.warnings} <= {"SQ401"}


@pytest.mark.parametrize("name", sorted(reports().keys() - {"r33"}))
def test_reported_programs_link(name: str) -> None:
    assert {w.code for w in load(reports()[name]).warnings} <= {"SQ401"}


@pytest.mark.skipif(not REPORTS.exists(), reason="needs the reports beside the checkout")
def test_a_loop_whose_work_is_always_zero_is_refused() -> None:
    with pytest.raises(LoadError) as caught:
        load(reports()["r33"])
    assert [d.code for d in caught.value.diagnostics] == ["SQ301"]


@pytest.mark.skipif(not SHARED.exists(), reason="needs the language reference beside the checkout")
@pytest.mark.parametrize(("section", "instructions"), [(7, 5), (8, 20)])
def test_the_examples_of_the_reference_link_without_a_warning(section: int, instructions: int) -> None:
    linked = load(example(section))
    assert linked.warnings == ()
    assert len(linked.program.code) == instructions
