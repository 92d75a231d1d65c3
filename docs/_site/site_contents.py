"""The navigation of the site, from the folders: the pages themselves stay plain Markdown that reads well anywhere."""

from pathlib import Path

from sphinx.application import Sphinx

SECTIONS = {"Tutorial": "tutorial", "How to": "howto", "Reference": "reference", "Explanation": "explanation"}
FIRST = ("first-model",)
FOLDERS = ("reference/errors", "decisions")


def contents(docs: Path, page: str) -> str:
    """The tables of contents to put at the end of a page; empty for most."""
    if page == "index":
        trees = [_tree(docs, folder, title) for title, folder in SECTIONS.items()]
        return "".join([*trees, _tree_of("Decisions", ["decisions/index"])])
    for folder in FOLDERS:
        if page == f"{folder}/index":
            return _tree_of("", [path.stem for path in sorted((docs / folder).glob("*.md")) if path.stem != "index"])
    return ""


def _tree(docs: Path, folder: str, title: str) -> str:
    stems = sorted((path.stem for path in (docs / folder).glob("*.md")), key=lambda stem: (stem not in FIRST, stem))
    pages = [f"{folder}/{stem}" for stem in stems]
    return _tree_of(title, pages + [f"{f}/index" for f in FOLDERS if f.startswith(f"{folder}/")])


def _tree_of(title: str, pages: list[str]) -> str:
    caption = f":caption: {title}\n" if title else ""
    return "\n```{toctree}\n:hidden:\n:maxdepth: 1\n" + caption + "\n" + "\n".join(pages) + "\n```\n"


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the contents to the sources while they are read."""

    def add(app: Sphinx, page: str, source: list[str]) -> None:
        source[0] += contents(Path(app.srcdir), page)

    app.connect("source-read", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
