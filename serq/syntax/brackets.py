"""Matching brackets before the parse: a bracket that is missing is named where it was opened.

Round and square brackets are mended (in this language they never enclose `;` or `{`), so that the parse can go on
and find other faults. Braces are mended too, but after a missing brace everything stands in a wrong place, so the
parse's own findings would mislead.
"""

from dataclasses import dataclass, field

from lark import Token

from serq.base.diagnostics import Diagnostic, Note
from serq.base.source import SourceFile
from serq.syntax import text_errors as errors
from serq.syntax.build import token_span
from serq.syntax.limits import MAX_DEPTH, MAX_FAULTS

_CLOSER = {"LPAR": ("RPAR", ")"), "LSQB": ("RSQB", "]"), "LBRACE": ("RBRACE", "}")}
_OPENER = {closer: opener for opener, (closer, _) in _CLOSER.items()}
_CONCERNED = frozenset({*_CLOSER, *_OPENER, "SEMICOLON"})


@dataclass
class Balanced:
    """The tokens with every bracket matched, the faults, and whether all braces matched as written."""

    tokens: list[Token] = field(default_factory=list)
    faults: list[Diagnostic] = field(default_factory=list)
    sound: bool = True


@dataclass
class _Matcher:
    source: SourceFile
    out: Balanced = field(default_factory=Balanced)
    open: list[Token] = field(default_factory=list)
    suspect: Token | None = None

    def take(self, token: Token) -> bool:
        """Read one token; False when the nesting is too deep, or too much is wrong, to go on."""
        kind = token.type
        if kind in ("LBRACE", "RBRACE", "SEMICOLON"):
            self._close_round(token)
        if kind in _CLOSER:
            self.open.append(token)
        elif kind in _OPENER and not self._close(token):
            return len(self.out.faults) < MAX_FAULTS
        self.out.tokens.append(token)
        return len(self.open) <= MAX_DEPTH or self._refuse(token)

    def _refuse(self, token: Token) -> bool:
        self.out.faults.append(errors.TooDeep(span=token_span(token), limit=MAX_DEPTH))
        return False

    def _close_round(self, before: Token) -> None:
        """Round and square brackets end where a `;` or a brace stands."""
        while self.open and self.open[-1].type != "LBRACE":
            self._unclosed(self.open.pop(), before)

    def _close(self, token: Token) -> bool:
        """Match a closing bracket; False when it closes nothing, and is left out."""
        wanted = _OPENER[token.type]
        while self.open and self.open[-1].type != wanted and self._deeper(wanted):
            self._unclosed(self.open.pop(), token)
        if not self.open or self.open[-1].type != wanted:
            self.out.faults.append(errors.Unopened(span=token_span(token), bracket=token.value))
            self.out.sound = self.out.sound and token.type != "RBRACE"
            return False
        opener = self.open.pop()
        if token.type == "RBRACE" and self.suspect is None and self._out_of_line(opener, token):
            self.suspect = opener
        return True

    def _deeper(self, wanted: str) -> bool:
        """Whether the bracket is open further out, before any brace."""
        for token in reversed(self.open):
            if token.type == wanted:
                return True
            if token.type == "LBRACE":
                return False
        return False

    def _out_of_line(self, opener: Token, closer: Token) -> bool:
        """Whether `}` begins its line at another indentation than the line of its `{`."""
        if opener.line == closer.line:
            return False
        line = self.source.line(closer.line or 0)
        first = self.source.line(opener.line or 0)
        indentation = len(line) - len(line.lstrip())
        return closer.column == indentation + 1 and indentation != len(first) - len(first.lstrip())

    def _unclosed(self, opener: Token, before: Token) -> None:
        terminal, text = _CLOSER[opener.type]
        self.out.faults.append(errors.Unclosed(span=token_span(opener), bracket=opener.value, closer=text))
        self.out.tokens.append(_at_start(terminal, text, before))

    def finish(self) -> None:
        """Close what is open at the end of the text."""
        if not self.open:
            return
        last = self.out.tokens[-1]
        end = Token("RBRACE", "}", last.end_pos, last.end_line, last.end_column, last.end_line, last.end_column)
        self._close_round(end)
        if self.open:
            self.out.sound = False
            outer = self.open[0]
            opener = self.suspect or self.open[-1]
            notes = (
                () if opener is outer else (Note(message="the file ends inside of this block", span=token_span(outer)),)
            )
            self.out.faults.append(errors.Unclosed(span=token_span(opener), bracket="{", closer="}", notes=notes))


def _at_start(terminal: str, text: str, of: Token) -> Token:
    """An empty token where another one starts."""
    return Token(terminal, text, of.start_pos, of.line, of.column, of.line, of.column, of.start_pos)


def balance(source: SourceFile, tokens: list[Token]) -> Balanced:
    """Match every bracket; stops at the first that is nested too deep, and after too many faults."""
    matcher = _Matcher(source)
    for token in tokens:
        if token.type not in _CONCERNED:
            matcher.out.tokens.append(token)
        elif not matcher.take(token):
            matcher.out.sound = False
            return matcher.out
    matcher.finish()
    return matcher.out
