"""Formulas as MathML, which browsers draw themselves: no script, and no network."""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

_LOG = logging.getLogger(__name__)


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _display(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="formula") + _mathml(node, as_block=True) + "</div>\n")
    raise nodes.SkipNode


def _mathml(node: nodes.math | nodes.math_block, as_block: bool) -> str:
    """The formula; with a warning, which ends a strict build, where the converter does not know something in it."""
    try:
        text: str = tex2mathml(node.astext(), as_block=as_block)
    except (MathError, SyntaxError) as error:
        _LOG.warning("%s in the formula %s", error, node.astext(), location=node)
        return ""
    return text


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
