"""serQ for Pygments (documentation, LaTeX, notebooks): `serq` among its lexers."""

from collections.abc import Iterable
from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

from serq.editors import words as w

_NAME = r"[A-Za-z_]\w*"


def _words(listed: Iterable[str], suffix: str = r"\b") -> words:
    return words(tuple(listed), prefix=r"\b", suffix=suffix)


class SerqLexer(RegexLexer):
    """Programs in the serQ language."""

    name: ClassVar[str] = "serQ"
    aliases: ClassVar[list[str]] = ["serq"]
    filenames: ClassVar[list[str]] = ["*.sq"]

    tokens: ClassVar[dict[str, list[object]]] = {
        "root": [
            (r"\s+", Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r'"[^"\n]*"?', String),
            (r"(?:\d(?:_?\d)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", Number),
            (rf"\b(let)(\s+)({_NAME})", bygroups(Keyword.Declaration, Whitespace, Name.Constant)),
            (rf"\b(pool|stage|gauge)(\s+)({_NAME})", bygroups(Keyword.Declaration, Whitespace, Name.Class)),
            (rf"\b(set|observe|choose)(\s+)({_NAME})", bygroups(Keyword, Whitespace, Name.Variable)),
            (rf"\b(run|hold|grow|drop|growing|via|memory)(\s+)({_NAME})", bygroups(Keyword, Whitespace, Name.Class)),
            (rf"(~)(\s*)({_NAME})", bygroups(Operator, Whitespace, Name.Function)),
            (_words({**w.FUNCTIONS, **w.OBSERVABLES}, r"(?=\s*\()"), Name.Builtin),
            (_words(w.ITEMS), Keyword.Declaration),
            (_words(w.KINDS), Keyword.Type),
            (_words({**w.STATEMENTS, **w.CLAUSES, **w.OPTIONS}), Keyword),
            (_words(w.ATTRIBUTES), Name.Builtin.Pseudo),
            (_NAME, Name),
            (r"&&|\|\||[=!<>]=|[-+*/%<>=!?~]", Operator),
            (r"[{}()\[\],;:]", Punctuation),
            (r".", Text),  # what is no serQ is shown as it is: the pages on errors are full of it
        ]
    }
