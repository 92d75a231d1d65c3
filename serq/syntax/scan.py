"""Text to tokens and comments: the faults of single characters, words and brackets are found here.

Which words are keywords is not decided here: that depends on what the parser waits for.
"""

import math
import re
from dataclasses import dataclass, field

from lark import Token

from serq.base.diagnostics import Diagnostic
from serq.base.source import SourceFile, Span
from serq.syntax import ast
from serq.syntax import text_errors as errors
from serq.syntax.automaton import automaton, token_pattern
from serq.syntax.brackets import balance
from serq.syntax.limits import MAX_FAULTS, MAX_LITERAL


@dataclass
class Scan:
    """What was read. `sound` says that the brackets match, so that a parse makes sense."""

    tokens: list[Token]
    comments: tuple[ast.Comment, ...]
    faults: list[Diagnostic]
    sound: bool


@dataclass
class _Scanner:
    source: SourceFile
    tokens: list[Token] = field(default_factory=list)
    comments: list[ast.Comment] = field(default_factory=list)
    faults: list[Diagnostic] = field(default_factory=list)
    line: int = 1
    line_start: int = 0

    def run(self) -> None:
        """Read the whole text, or up to the last fault that is reported."""
        names = automaton().terminals
        for match in token_pattern().finditer(self.source.text):
            kind, text = match.lastgroup or "", match.group()
            if kind == "SPACE":
                self._pass_lines(match)
            elif kind == "NAME" or kind == "STRING":
                self._add(kind, match)
            elif kind == "SYMBOL":
                self._add(names[text], match)
            elif kind == "NUMBER":
                self._number(match)
            elif kind == "COMMENT":
                self._comment(match)
            else:
                self._fault(kind, match)
                if len(self.faults) >= MAX_FAULTS:
                    return

    def _span(self, match: re.Match[str], length: int) -> Span:
        column = match.start() - self.line_start + 1
        return Span(self.line, column, self.line, column + length)

    def _add(self, terminal: str, match: re.Match[str]) -> None:
        start, end = match.span()
        column = start - self.line_start + 1
        self.tokens.append(
            Token(terminal, match.group(), start, self.line, column, self.line, column + end - start, end)
        )

    def _pass_lines(self, match: re.Match[str]) -> None:
        lines = match.group().count("\n")
        if lines:
            self.line += lines
            self.line_start = match.start() + match.group().rindex("\n") + 1

    def _comment(self, match: re.Match[str]) -> None:
        text = match.group().rstrip()
        alone = not self.source.text[self.line_start : match.start()].strip()
        self.comments.append(ast.Comment(text, alone, span=self._span(match, len(text))))

    def _number(self, match: re.Match[str]) -> None:
        text = match.group()
        exponent = re.split("[eE]", text)[1:]
        if len(text) > MAX_LITERAL or (exponent and abs(int(exponent[0])) > MAX_LITERAL) or math.isinf(float(text)):
            self.faults.append(errors.NumberOutOfRange(span=self._span(match, len(text)), text=_short(text)))
            self._add_zero(match)
        else:
            self._add("NUMBER", match)

    def _add_zero(self, match: re.Match[str]) -> None:
        """A stand-in for a number that is none, so that the parse can go on."""
        column = match.start() - self.line_start + 1
        self.tokens.append(Token("NUMBER", "0", match.start(), self.line, column, self.line, column + 1, match.end()))

    def _fault(self, kind: str, match: re.Match[str]) -> None:
        text = match.group()
        match kind:
            case "BAD_NUMBER":
                self.faults.append(errors.BadNumber(span=self._span(match, len(text)), text=_short(text)))
                self._add_zero(match)
            case "OPEN_STRING":
                self.faults.append(errors.UnclosedString(span=self._span(match, len(text))))
                self._add("STRING", match)
            case "BLOCK_COMMENT":
                self.faults.append(errors.BlockComment(span=self._span(match, 2)))
                self._pass_lines(match)
            case _:
                self.faults.append(errors.stray(self._span(match, len(text)), text))


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def scan(source: SourceFile) -> Scan:
    """The tokens of a text, its brackets completed where one is missing, and what is wrong with it so far."""
    scanner = _Scanner(source)
    scanner.run()
    balanced = balance(source, scanner.tokens)
    faults = scanner.faults + balanced.faults
    return Scan(balanced.tokens, tuple(scanner.comments), faults, balanced.sound and len(faults) < MAX_FAULTS)


def tokens_of(source: SourceFile) -> list[Token]:
    """The tokens of a text as they stand, whether its brackets match or not."""
    scanner = _Scanner(source)
    scanner.run()
    return scanner.tokens
