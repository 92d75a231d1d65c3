"""Program text and positions in it.

A serQ program is one file, so a position needs no file: a `Span` is four numbers, and whoever renders it has the
`SourceFile` at hand.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of text: first and last position, lines and columns counted from 1, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def to(self, other: "Span") -> "Span":
        """The span from the start of this one to the end of the other."""
        return Span(self.line, self.column, other.end_line, other.end_column)


NOWHERE = Span(0, 0, 0, 0)
"""The span of what no text stands for: defaults, and programs built in memory."""


@dataclass(frozen=True)
class SourceFile:
    """The name a user gave a program by, and its text."""

    name: str
    text: str

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The text by lines, without line ends."""
        return tuple(line.rstrip("\r") for line in self.text.split("\n"))

    def line(self, number: int) -> str:
        """Line `number`, counted from 1; empty when there is none."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""
