"""The formats of a picture by name."""

from collections.abc import Callable, Mapping

from serq.base.errors import UsageError
from serq.draw.flow import picture_of
from serq.draw.graphviz import dot_text
from serq.draw.mermaid import mermaid_text
from serq.draw.picture import Picture
from serq.draw.svg import svg_text
from serq.ir.program import Program

FORMATS: Mapping[str, Callable[[Picture], str]] = {"svg": svg_text, "dot": dot_text, "mermaid": mermaid_text}


def draw(program: Program, form: str = "svg") -> str:
    """The program as a picture in one of the FORMATS; UsageError for any other."""
    if form not in FORMATS:
        raise UsageError(f"there is no picture in {form!r}; there is {', '.join(FORMATS)}")
    return FORMATS[form](picture_of(program))
