"""The pages do what they say: every command runs, every output is the real one, every link leads somewhere."""

import os
import re
import shutil
from pathlib import Path

import pytest
from pages import blocks, follow, matches

from serq.base.errors import SerqError
from serq.pipeline import load_text

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
UPDATE = bool(os.environ.get("SERQ_UPDATE_GOLDENS"))
"""Write outputs and pictures anew."""
PRACTICAL = ("tutorial", "howto")
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
MATPLOTLIB = re.compile(r"<dc:title>(Matplotlib [^<]+)</dc:title>")
HASHED = re.compile(r"\b[a-z][0-9a-f]{10}\b")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
KINDS = ("serq", "sh", "python", "text", "csv", "json", "{eval-rst}")
"""Kinds of blocks: those of the site's generator are run when it is built, `text`, `csv` and `json` are shown."""
PARTIAL = ("errors",)
"""Pages whose programs are wrong on purpose, and have tests of their own."""


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name not in PARTIAL], ids=name)
def test_commands_and_outputs(page: Path, run, tmp_path: Path) -> None:
    mended: dict[str, str] = {}
    done = follow(page.read_text("utf-8"), tmp_path, run, mended if UPDATE else None)
    for before, after in mended.items():
        page.write_text(page.read_text("utf-8").replace(before, after), "utf-8")
    assert done or page.parent.name not in PRACTICAL, "a page that shows how to do something shows a command"
    for picture in IMAGE.findall(page.read_text("utf-8")):
        if picture.endswith(".svg"):
            assert_picture(page.parent / picture, tmp_path / Path(picture).name)
        else:  # of a window, which looks otherwise where other letters are installed
            assert (page.parent / picture).is_file()


def assert_picture(shown: Path, made: Path) -> None:
    """A picture of a page is the one that the page makes; another version of matplotlib may draw another."""
    if UPDATE:
        shown.parent.mkdir(exist_ok=True)
        shutil.copyfile(made, shown)
    before, after = shown.read_text("utf-8"), made.read_text("utf-8")
    if MATPLOTLIB.findall(before) == MATPLOTLIB.findall(after):
        assert _numbered(after) == _numbered(before), shown


def _numbered(picture: str) -> str:
    """The picture with its inner names in their order: they are hashes of doubles, to the last bit of a layout."""
    names = list(dict.fromkeys(HASHED.findall(picture)))
    return HASHED.sub(lambda found: f"name{names.index(found[0])}", picture)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_are_of_a_kind_that_is_run(page: Path) -> None:
    for block in blocks(page.read_text("utf-8")):
        assert block.kind in KINDS, f"``` {block.kind}"
        if block.kind == "text" and page.parent.name in PRACTICAL:
            assert block.argument == "output"


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name not in PARTIAL], ids=name)
def test_programs_are_programs(page: Path) -> None:
    for block in blocks(page.read_text("utf-8")):
        if block.kind == "serq" and not block.argument.endswith(("broken", "earlier")):
            try:
                load_text(block.text, page.name)
            except SerqError as error:
                pytest.fail(f"{error}\n{block.text}")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CHANGELOG.md"], ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(re.sub(r"```.*?```|`[^`]*`", "", page.read_text("utf-8"), flags=re.DOTALL)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), target


def anchors(page: Path) -> set[str]:
    """The anchors that headings get: small letters, hyphens for spaces, no punctuation."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_can_be_reached() -> None:
    seen: set[Path] = set()
    todo = [ROOT / "docs" / "index.md"]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            text = at.read_text("utf-8") if at.is_file() else ""
            if at.parent.name == "decisions":
                seen.add(at.parent)  # the site lists them on their index
            links = (target.partition("#")[0] for target in LINK.findall(text) if "://" not in target)
            todo += [(at.parent / link).resolve() for link in links if link.endswith((".md", "/"))]
    assert [name(page) for page in PAGES if not seen & {page, page.parent}] == []


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ("a\nb\n", "a  \nb\n", True), ("a\n", "b\n", False), ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\n", "a\nb\n", True), ("a\n...\nd\n", "a\nb\n", False), ("...\nd\n", "d\n", True),
        ("a b ...\nc\n", "a b x y\nc\n", True), ("a b ...\n", "a x\n", False), ("a.b\n", "axb\n", False),
    ],
)  # fmt: skip
def test_outputs_may_be_shown_in_part(expected: str, found: str, same: bool) -> None:
    assert matches(expected, found) is same
