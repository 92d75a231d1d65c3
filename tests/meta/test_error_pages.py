"""Every diagnostic has its page in the reference, and every page a diagnostic."""

import importlib
import pkgutil
from pathlib import Path

import pytest

import serq
from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic

PAGES = Path(__file__).parents[2] / "docs" / "reference" / "errors"

for module in pkgutil.walk_packages(serq.__path__, "serq."):
    if module.name != "serq.__main__":
        importlib.import_module(module.name)
CLASSES = diagnostic_classes()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: f"{cls.code}-{cls.__name__}")
def test_a_page_that_names_its_code(cls: type[Diagnostic]) -> None:
    page = (PAGES / f"{cls.code}.md").read_text("utf-8")
    title, rest = page.split("\n", 1)
    assert title.startswith(f"# {cls.code}: ")
    assert len(rest.split()) > 20


def test_no_page_without_a_diagnostic() -> None:
    assert {page.stem for page in PAGES.glob("SQ*.md")} == {cls.code for cls in CLASSES}
