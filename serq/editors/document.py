"""What can be said of a text that somebody is writing: diagnostics, names, and what may come next.

Nothing here needs a text that parses: names are found among its words, and completion looks at what stands in front.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from serq.base.diagnostics import Diagnostic
from serq.base.errors import LoadError
from serq.base.source import SourceFile, Span
from serq.check.link import link
from serq.editors import words as w
from serq.syntax.expected import expected
from serq.syntax.parser import parse
from serq.syntax.scan import tokens_of

_DECLARING = {
    "let": "constant", "pool": "pool", "stage": "stage", "gauge": "gauge", "set": "attribute", "choose": "attribute",
}  # fmt: skip
_BEFORE_STAGES = ("run", "via")
_BEFORE_POOLS = ("hold", "grow", "drop", "growing", "memory", "spill")


@dataclass(frozen=True, slots=True)
class Declaration:
    """Where a name of the program is given, and what it is."""

    name: str
    kind: str
    span: Span


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something that may stand at a place, and a line about it."""

    text: str
    kind: str
    about: str


@dataclass(frozen=True)
class Document:
    """A text as an editor has it."""

    source: SourceFile

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every fault, or every warning where there is no fault."""
        try:
            return link(parse(self.source)).warnings
        except LoadError as error:
            return error.diagnostics

    @cached_property
    def declarations(self) -> Mapping[str, Declaration]:
        """The names of the program, each where it stands first."""
        found: dict[str, Declaration] = {}
        tokens = tokens_of(self.source)
        for token, name in pairwise(tokens):
            if str(token) in _DECLARING and name.type == "NAME":
                span = Span(name.line or 1, name.column or 1, name.end_line or 1, name.end_column or 1)
                found.setdefault(str(name), Declaration(str(name), _DECLARING[str(token)], span))
        return found

    def word_at(self, line: int, column: int) -> tuple[str, Span]:
        """The word at a place (from 1), with its span; empty where there is none."""
        for token in tokens_of(self.source):
            inside = token.line == line and (token.column or 0) <= column <= (token.end_column or 0)
            if inside and str(token).isidentifier():
                return str(token), Span(line, token.column or 1, line, token.end_column or 1)
        return "", Span(line, column, line, column)

    def about(self, word: str) -> str:
        """What a word means here: a name of the program, else a word of the language; empty for any other."""
        declared = self.declarations.get(word)
        if declared is not None:
            written = self.source.line(declared.span.line).strip()
            return f"{declared.kind} `{word}`, line {declared.span.line}\n\n```serq\n{written}\n```"
        for title, listed in _VOCABULARY:
            if word in listed:
                return f"{title} `{word}`: {listed[word]}"
        return ""

    def suggestions(self, line: int, column: int) -> list[Suggestion]:
        """What may stand at a place, the names of the program first; the word that is being written is left out."""
        before = "\n".join([*self.source.lines[: line - 1], self.source.line(line)[: column - 1]])
        while before and (before[-1].isalnum() or before[-1] == "_"):
            before = before[:-1]
        source = SourceFile(self.source.name, before)
        tokens = [str(token) for token in tokens_of(source)]
        last = tokens[-1] if tokens else ""
        if last == "~":
            return _listed(w.DRAWS, "draw")
        fitting = expected(source)
        out = [] if fitting is not None and "NAME" not in fitting else self._names(last)
        if last in _DECLARING:
            out = []
        keywords = w.KEYWORDS if fitting is None else {k: about for k, about in w.KEYWORDS.items() if k in fitting}
        return out + _listed(keywords, "keyword")

    def _names(self, last: str) -> list[Suggestion]:
        wanted = {"stage"} if last in _BEFORE_STAGES else {"pool"} if last in _BEFORE_POOLS else set()
        names = [
            Suggestion(d.name, d.kind, self.source.line(d.span.line).strip())
            for d in self.declarations.values()
            if not wanted or d.kind in wanted
        ]
        if wanted:
            return names
        built_in = [(w.FUNCTIONS, "function"), (w.OBSERVABLES, "function"), (w.ATTRIBUTES, "attribute")]
        return names + [s for listed, kind in built_in for s in _listed(listed, kind)]


_VOCABULARY: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("keyword", w.KEYWORDS),
    ("function", {**w.FUNCTIONS, **w.OBSERVABLES}),
    ("attribute", w.ATTRIBUTES),
    ("draw", w.DRAWS),
    ("context variable", w.CONTEXT),
)


def _listed(words: Mapping[str, str], kind: str) -> list[Suggestion]:
    return [Suggestion(word, kind, about) for word, about in words.items()]
