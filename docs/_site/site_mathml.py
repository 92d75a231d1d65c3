"""Formulas as MathML, which browsers draw themselves: no script, and no network."""

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _display(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    self.body.append(tex2mathml(node.astext(), as_block=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
