"""Ways to link a text in one line."""

from collections.abc import Callable

import pytest

from serq.base.errors import LoadError
from serq.base.source import SourceFile
from serq.check.link import Linked, link
from serq.syntax.parser import parse

Link = Callable[..., Linked]
Faults = Callable[[str], list[tuple[str, str]]]


@pytest.fixture
def linked() -> Link:
    """Links a text; keyword arguments are overrides."""

    def run(text: str, **overrides: object) -> Linked:
        return link(parse(SourceFile("folder/program.sq", text)), overrides)  # type: ignore[arg-type]

    return run


@pytest.fixture
def faults() -> Faults:
    """The faults of a text, each as (code, the source text under its span)."""

    def run(text: str) -> list[tuple[str, str]]:
        source = SourceFile("program.sq", text)
        with pytest.raises(LoadError) as caught:
            link(parse(source))
        return [
            (d.code, source.line(d.span.line)[d.span.column - 1 : d.span.end_column - 1])
            for d in caught.value.diagnostics
        ]

    return run
