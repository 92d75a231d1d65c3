"""The documentation site builds without a warning, and what is made while it is built is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from serq.base.codes import diagnostic_classes
from serq.closedforms.registry import FAMILIES

pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without its theme, which takes twice as long as all the rest."""
    out = tmp_path_factory.mktemp("site")
    words = ["-n", "-W", "--keep-going", "-q", "-b", "html", "-D", "html_theme=basic", str(DOCS), str(out)]
    done = subprocess.run([sys.executable, "-m", "sphinx", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def page(site: Path, name: str) -> str:
    return (site / f"{name}.html").read_text("utf-8")


def test_every_page_is_there(site: Path) -> None:
    for source in DOCS.rglob("*.md"):
        assert (site / source.relative_to(DOCS)).with_suffix(".html").exists()


def test_programs_have_colours(site: Path) -> None:
    assert re.search(r'<span class="kd">session</span>', page(site, "tutorial/first-model"))


def test_every_family_with_its_formulas(site: Path) -> None:
    text = page(site, "reference/closed-forms")
    for family in FAMILIES:
        assert f'id="{family.name}"' in text
    assert text.count("<math") > len(FAMILIES)


def test_the_python_interface(site: Path) -> None:
    text = page(site, "reference/python")
    for name in ("model.load", "model.Model.simulate", "solved.SolveResult", "tabular.Tabular.to_frame"):
        assert f'id="serq.api.{name}"' in text


def test_errors_are_in_the_navigation(site: Path) -> None:
    text = page(site, "reference/errors/index")
    assert all(f"{cls.code}.html" in text for cls in diagnostic_classes())


def test_pages_ask_nothing_of_the_network(site: Path) -> None:
    for file in site.rglob("*.html"):
        assert not re.search(r'<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?//', file.read_text("utf-8")), file
