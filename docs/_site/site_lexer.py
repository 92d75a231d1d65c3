"""The colours of serQ, also where the package is used from its checkout and Pygments does not know of it."""

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from serq.editors.highlight import SerqLexer


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the lexer."""
    app.add_lexer("serq", SerqLexer)
    app.add_lexer("csv", TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
